//! The workers of a run as its engine sees them: the leader, on its own thread, between the bus and the run.

mod account;
mod held;
mod journal;
mod order;
pub mod replay;
mod results;
mod run_loop;
mod seed;

use std::fmt;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use driver::Clock;
use engine::{
    AGO_MAX, BackendFault, DataSources, HoldBackend, HoldBegun, HoldOrder, RemoteBackend, RemoteRun, RunError,
    RunReporter, StopHandle,
};
use pacing::Nanos;
use plan::{EncodedPlan, Hold, Plan};

use crate::bus::{Bus, BusEvent, Inbox};
use crate::encoding::pack;
use crate::leader::{Leader, LeaderSettings, RunOrder};
use held::OwnHold;
pub use journal::{Complain, Keeping};
pub use order::undivided;
use order::{hold_order, run_order};
use run_loop::Coordinator;
pub use seed::seed_of_run;

/// The interval at which the run is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The time within which all workers receive a message: on one machine this, elsewhere the next constant.
const RECEIVED_HERE: Nanos = Nanos::from_millis(50);
const RECEIVED_REMOTE: Nanos = Nanos::from_millis(500);

enum Input {
    BusEvent(BusEvent),
    Begin(Box<PendingRun>),
    PendingHold(RunOrder, Box<OwnHold>),
    Cancel,
    Close,
}

/// A run that is to begin.
struct PendingRun {
    order: RunOrder,
    plan: Arc<Plan>,
    address: SocketAddr,
    reporter: RunReporter,
    response: SyncSender<Result<Nanos, BackendFault>>,
}

/// Returns why a run waits in vain for workers, if it does.
pub type FindEndedWorker = Box<dyn Fn() -> Option<BackendFault> + Send + Sync>;

/// Workers that are led from this process.
pub struct Workers {
    inputs: Mutex<Sender<Input>>,
    clock: Clock,
    thread: Mutex<Option<JoinHandle<()>>>,
    received_within: Nanos,
    /// No other leader may lead them.
    is_alone: bool,
    find_ended_worker: FindEndedWorker,
    /// The thresholds of runs.
    thresholds: Vec<String>,
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").finish_non_exhaustive()
    }
}

impl Workers {
    /// Leads workers on a bus. `join` joins the bus: it subscribes to these subjects, and events go into the inbox.
    /// What is received of loads is also written to a journal where `keeping` says so.
    ///
    /// # Errors
    /// There is no bus, or no thread.
    pub fn lead<E: From<std::io::Error>>(
        setting: LeaderSettings,
        find_ended_worker: FindEndedWorker,
        keeping: Option<Keeping>,
        join: impl FnOnce(Vec<String>, Inbox) -> Result<Box<dyn Bus>, E>,
    ) -> Result<Self, E> {
        let clock = Clock::at(AGO_MAX);
        let is_alone = setting.is_alone && keeping.is_none();
        let received_within = if setting.closed_is_gone { RECEIVED_HERE } else { RECEIVED_REMOTE };
        let (sender, inputs) = channel();
        let leader = Leader::new(setting.clone(), clock.now());
        let received = sender.clone();
        let bus = join(leader.subjects(), Box::new(move |what| received.send(Input::BusEvent(what)).is_ok()))?;
        let coordinator = Coordinator::new(leader, bus, clock, inputs, setting, keeping);
        let thread = std::thread::Builder::new().name("workers".to_owned()).spawn(move || coordinator.work())?;
        Ok(Self {
            inputs: Mutex::new(sender),
            clock,
            thread: Mutex::new(Some(thread)),
            received_within,
            is_alone,
            find_ended_worker,
            thresholds: Vec::new(),
        })
    }

    /// Sets the thresholds of runs, as typed; they are also kept with the run.
    pub fn judge_by(&mut self, thresholds: Vec<String>) {
        self.thresholds = thresholds;
    }

    fn send(&self, input: Input) {
        // The thread may be gone: then no response comes.
        let _ = self.inputs.lock().expect("no holder of the lock panics").send(input);
    }

    /// Whether it begins; or why it waits in vain.
    fn wait_for<T>(&self, answered: &Receiver<Result<T, BackendFault>>, stop: &StopHandle) -> Result<T, RunError> {
        loop {
            match answered.recv_timeout(POLL_INTERVAL) {
                Ok(response) => return Ok(response?),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let reason = "it is gone".to_owned();
                    return Err(BackendFault::Bus { reason }.into());
                }
            }
            // A stopped run gets its response from the leader.
            if let Some(fault) = (self.find_ended_worker)().filter(|_| !stop.is_stopped()) {
                self.send(Input::Cancel);
                return Err(fault.into());
            }
        }
    }

    /// Converts an instant of our clock to another clock.
    fn on(&self, clock: Clock, at: Nanos) -> Nanos {
        let (ours, theirs) = (self.clock.now(), clock.now());
        (theirs + at.since(ours)).since(ours.since(at))
    }

    /// Ends the leadership: there will be no further run. Waits until workers know.
    pub fn close(&self) {
        self.send(Input::Close);
        if let Some(thread) = self.thread.lock().expect("no holder of the lock panics").take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.close();
    }
}

impl RemoteBackend for Workers {
    fn begin(&self, order: RemoteRun) -> Result<Nanos, RunError> {
        let RemoteRun { plan, data_sources, address, slowest, clock, stop, reporter } = order;
        if let Some(fault) = undivided(&plan, false) {
            return Err(fault.into());
        }
        let packet = pack(&EncodedPlan::Load(Box::new(Plan::clone(&plan))), &data_sources, slowest, &self.thresholds)
            .map_err(|error| BackendFault::Bus { reason: error.to_string() })?;
        let order = run_order(&plan, &data_sources, packet);
        let (response, answered) = sync_channel(1);
        self.send(Input::Begin(Box::new(PendingRun { order, plan, address, reporter, response })));
        let started = self.wait_for(&answered, &stop)?;
        Ok(self.on(clock, started))
    }

    fn goes_on_alone(&self) -> bool {
        self.is_alone
    }

    fn received_within(&self) -> Nanos {
        self.received_within
    }
}

impl HoldBackend for Workers {
    fn begin_to_hold(&self, order: HoldOrder) -> Result<HoldBegun, RunError> {
        let HoldOrder { plan, clock, stop, reporter } = order;
        let packet =
            pack(&EncodedPlan::Hold(Box::new(Hold::clone(&plan))), &DataSources::default(), 0, &self.thresholds)
                .map_err(|error| BackendFault::Bus { reason: error.to_string() })?;
        let (response, answered) = sync_channel(1);
        let own = OwnHold::new(clock, reporter, plan.connections, response);
        self.send(Input::PendingHold(hold_order(&plan, packet), Box::new(own)));
        let (started, parts) = self.wait_for(&answered, &stop)?;
        Ok(HoldBegun { started: self.on(clock, started), parts })
    }
}
