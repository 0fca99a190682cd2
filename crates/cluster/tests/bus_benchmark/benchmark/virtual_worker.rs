//! A virtual worker of a bus benchmark, from join to end: the state machine of a real worker, on a connection of its
//! own.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use metrics::Distribution;
use pacing::Nanos;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::{LocalSet, spawn_local};

use super::made::IdlePart;
use super::{BenchmarkOrder, FAULTS_MAX, Made, SharedFacts};
use cluster::bus::{Bus, Inbox};
use cluster::nats::join_here;
use cluster::protocol::{Hello, News};
use cluster::{Act, Worker};

/// The most workers that join at a time.
const COME_AT_A_TIME: usize = 64;
/// The interval at which due work is polled when nothing else wakes the worker.
const POLL_INTERVAL: Duration = Duration::from_millis(300);
/// The interval at which the end of the benchmark is polled.
const LOOKS_WHETHER_OVER: Duration = Duration::from_millis(20);
/// Worker ids are random in production; these are multiples of this number, which lie as far apart.
const IDS_APART: u64 = 0x9e37_79b9_7f4a_7c15;

/// What all virtual workers share.
pub(super) struct WorkerShared {
    order: BenchmarkOrder,
    known: SharedFacts,
    /// Starts that they would have made, the times that they would have recorded, and their faults, all merged.
    made: Cell<u64>,
    times: RefCell<Distribution>,
    fault_count: Cell<usize>,
    faults: RefCell<Vec<String>>,
    coming: Semaphore,
}

impl WorkerShared {
    pub(super) fn new(order: &BenchmarkOrder, known: SharedFacts) -> Self {
        Self {
            order: order.clone(),
            known,
            made: Cell::new(0),
            times: RefCell::default(),
            fault_count: Cell::new(0),
            faults: RefCell::default(),
            coming: Semaphore::new(COME_AT_A_TIME),
        }
    }

    fn fault(&self, fault: String) {
        self.known.has_fault.store(true, Ordering::Relaxed);
        self.fault_count.set(self.fault_count.get() + 1);
        let mut faults = self.faults.borrow_mut();
        if faults.len() < FAULTS_MAX {
            faults.push(fault);
        }
    }

    fn is_over(&self) -> bool {
        self.known.is_over.load(Ordering::Relaxed)
    }
}

/// Runs all workers until the benchmark is over.
pub(super) fn all(count: u64, shared: WorkerShared, runtime: &Runtime) -> Made {
    let shared = Rc::new(shared);
    LocalSet::new().block_on(runtime, async {
        (0..count).for_each(|number| drop(spawn_local(one(number, shared.clone()))));
        while !shared.is_over() {
            tokio::time::sleep(LOOKS_WHETHER_OVER).await;
        }
    });
    Made {
        starts: shared.made.get(),
        times: shared.times.take(),
        fault_count: shared.fault_count.get(),
        faults: shared.faults.take(),
    }
}

async fn one(number: u64, shared: Rc<WorkerShared>) {
    let id = (number + 1).wrapping_mul(IDS_APART) ^ shared.order.who;
    let clock = shared.known.clock;
    let hello = Hello::new(id, format!("virtual-{number:05}"), shared.order.version.clone(), 1);
    let mut worker = Worker::new(hello, false, clock.now());
    let (sender, mut received) = unbounded_channel();
    let joined = {
        // The semaphore is never closed.
        let _turn = shared.coming.acquire().await;
        let inbox: Inbox = Box::new(move |what| sender.send(what).is_ok());
        join_here(&shared.order.bus_url, worker.subjects(), inbox).await
    };
    let (mut bus, served) = match joined {
        Ok(joined) => joined,
        Err(error) => return shared.fault(error.to_string()),
    };
    spawn_local(served);
    shared.known.there.fetch_add(1, Ordering::Relaxed);
    let (mut parts, mut incarnation) = (Vec::<IdlePart>::new(), worker.incarnation());
    while !shared.is_over() {
        let now = clock.now();
        acts(&mut worker, &mut parts, &shared, now);
        tells(&mut worker, &mut parts, &shared, now);
        if std::mem::replace(&mut incarnation, worker.incarnation()) != worker.incarnation() && !parts.is_empty() {
            shared.fault("a worker did not reach the leader in time".to_owned());
        }
        asks(&mut worker, &mut *bus);
        let next = parts.iter().map(IdlePart::next_at).min().unwrap_or(Nanos::NEVER);
        let wake = worker.wake_at(now).min(next);
        let left = wake.since(now).as_duration().clamp(Duration::from_millis(1), POLL_INTERVAL);
        match tokio::time::timeout(left, received.recv()).await {
            Ok(Some(what)) => worker.handle(what, clock.now()),
            Ok(None) => return,
            Err(_) => worker.tick(clock.now()),
        }
    }
}

fn acts(worker: &mut Worker, parts: &mut Vec<IdlePart>, shared: &WorkerShared, now: Nanos) {
    while let Some(act) = worker.next_act() {
        match act {
            Act::Prepare { run, .. } => worker.prepared(run, Ok(Nanos::ZERO), now),
            Act::Begin { part, slot_grant, segment, from, started, .. } => {
                shared.known.started.store(started.0, Ordering::Relaxed);
                let (slots, late) = (segment.slots().collect(), Nanos::ZERO);
                worker.report(part, News::Began { part: part.part, slot_grant, slots, from, late }, now);
                parts.push(IdlePart::new(part, segment, started));
            }
            Act::Stop { run_incarnation } => {
                parts
                    .iter_mut()
                    .filter(|part| (part.of.run, part.of.incarnation) == run_incarnation)
                    .for_each(IdlePart::stop);
            }
            Act::Abort { run } => parts.iter_mut().filter(|part| part.of.run == run).for_each(IdlePart::stop),
            _ => {}
        }
    }
}

fn tells(worker: &mut Worker, parts: &mut [IdlePart], shared: &WorkerShared, now: Nanos) {
    let seconds = shared.order.seconds;
    for part in parts.iter_mut().filter(|part| !part.is_over) {
        while !part.is_reported(seconds) && now >= part.next_at() {
            let mut made = shared.made.get();
            let row = part.row(&mut made, &mut shared.times.borrow_mut());
            shared.made.set(made);
            worker.report(part.of, row, now);
        }
        if part.is_reported(seconds) {
            part.is_over = true;
            worker.report(part.of, part.end(), now);
            worker.all_over(part.of.run, part.of.incarnation, now);
        }
    }
}

fn asks(worker: &mut Worker, bus: &mut dyn Bus) {
    while let Some(verb) = worker.next_verb() {
        bus.ask(verb);
    }
}
