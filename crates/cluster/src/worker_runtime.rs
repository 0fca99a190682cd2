//! A worker process at work: the machine, a bus, and the runs of this process that carry out its parts. Held
//! connections are parts that never change hands (`worker_runtime/held.rs`).

mod held;
mod issue_log;
mod journal;
mod part;
mod steer;
mod work;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use driver::Clock;
use engine::{Control, HoldEnding, HoldOptions, Partition, RunError, RunOptions, StopHandle};
use feed::Feed;
use pacing::change::Change;
use pacing::{Nanos, RevokedSlots, Segment};
use plan::{Hold, Plan};

use crate::bus::{Bus, BusEvent, Inbox};
use crate::journal::Journals;
use crate::protocol::{BarrierRelease, Hello, News, Refusal};
use crate::worker::{Act, PartLease, PartOf, Worker};
use held::HoldWorker;
use issue_log::IssueLog;
use journal::{JournalHeader, Keeper};
use part::PartWorker;
use work::{WorkerTask, prepare, share_of_budget};

/// The environment of a worker: checks a plan before a part of it is carried out.
pub trait WorkerEnvironment: Send + Sync {
    /// What is needed to carry out this plan: resolved targets and other resources.
    ///
    /// # Errors
    /// It may not load a target, or cannot.
    fn prepare(&self, plan: Plan, feeds: Vec<Feed>, slowest: usize) -> Result<(Plan, RunOptions), Refusal>;

    /// The same for held connections.
    ///
    /// # Errors
    /// As [`WorkerEnvironment::prepare`].
    fn prepare_to_hold(&self, plan: Hold) -> Result<(Hold, HoldOptions), Refusal>;

    /// Shows a notice to the user.
    fn report(&self, notice: &WorkerEvent);
}

/// A notice to the user of a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkerEvent {
    /// It connects to the bus, and waits there for a leader.
    Joins,
    /// It is on the bus.
    Joined,
    /// The bus is gone.
    Cut,
    /// It takes part in a run.
    Ready,
    /// It does not take part in a run.
    Refused(Refusal),
    /// A part begins: its number of slots, of 4,096.
    Began(u32),
    /// A part is over.
    Ended,
    /// Its parts were no longer counted on; it begins anew.
    GivenUp,
    /// A part cannot be carried out.
    Broken(String),
    /// The bus does not take its reports.
    Full,
    /// Without a response of the leader, nothing more is started.
    Unanswered,
    /// Its reports are no longer journaled.
    NotKept {
        /// The path of the journal.
        path: String,
        /// The error of the system; `None`: the disk does not keep up.
        reason: Option<String>,
    },
}

/// The identity of a worker.
#[derive(Clone, Debug)]
pub struct WorkerIdentity {
    /// Its id: random at start.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Its version of onrush.
    pub version: String,
    /// Its capacity relative to others: its number of threads.
    pub weight: u32,
    /// Whether it ends when the leader has closed, or is gone for good.
    pub goes_with_leader: bool,
    /// The folder for files of rows.
    pub folder: PathBuf,
    /// Where its reports are journaled, if at all.
    pub journals: Option<Journals>,
}

enum Input {
    BusEvent(BusEvent),
    Prepared(u64, Box<Result<(WorkerTask, Nanos), Refusal>>, Option<JournalHeader>),
    /// A part can be controlled.
    Control(PartOf, Control),
    /// Held connections can be controlled.
    Ending(PartOf, HoldEnding),
    News(PartOf, News),
    Stop,
}

/// The reporter of a part to the worker. The worker may be gone: then reports are dropped.
#[derive(Clone)]
struct PartReporter {
    of: PartOf,
    sender: Sender<Input>,
}

impl PartReporter {
    fn send(&self, input: Input) {
        let _ = self.sender.send(input);
    }

    fn report(&self, news: News) {
        self.send(Input::News(self.of, news));
    }

    /// Reports that the part is over, or cannot go on.
    fn end(&self, result: Result<News, RunError>) {
        self.report(result.unwrap_or_else(|error| News::Broken { reason: error.to_string() }));
    }
}

/// A handle that stops a worker from another thread.
#[derive(Clone)]
pub struct WorkerStopHandle(Sender<Input>);

impl WorkerStopHandle {
    /// Stops the worker: its parts are released, and that is reported.
    pub fn stop(&self) {
        let _ = self.0.send(Input::Stop);
    }
}

/// A part of this process.
struct RunningPart {
    of: PartOf,
    slot_grant: u16,
    stop: StopHandle,
    control: Option<Control>,
    ending: Option<HoldEnding>,
    /// It is of an older incarnation: later changes of the load are not its own.
    leaves: bool,
    thread: Option<JoinHandle<()>>,
    is_over: bool,
}

/// Slots that go to others: the run and incarnation, the slot grant, the slots, and the instant.
type Loss = ((u64, u32), u16, Vec<u16>, Nanos);

/// What is known of a run.
struct ActiveRun {
    work: WorkerTask,
    /// The header of its journal.
    journal_header: Option<JournalHeader>,
    changes: Vec<Change>,
    lost: Vec<Loss>,
    /// Past barrier releases.
    met: Vec<BarrierRelease>,
    /// When held connections end, counted from the start.
    ends_at: Option<Nanos>,
}

/// The runtime of a worker.
pub struct WorkerRuntime<'a> {
    worker: Worker,
    place: &'a Arc<dyn WorkerEnvironment>,
    setting: WorkerIdentity,
    clock: Clock,
    lease: PartLease,
    inputs: Receiver<Input>,
    sender: Sender<Input>,
    runs: HashMap<u64, ActiveRun>,
    parts: Vec<RunningPart>,
    is_closed: bool,
    is_alone: bool,
    issue_log: IssueLog,
    keeper: Keeper,
    stopping_since: Option<Nanos>,
}

/// How long a stopped worker waits for exchanges in flight, and for the bus to take its reports.
const STOPS_WITHIN: Nanos = Nanos::from_millis(15_000);

impl<'a> WorkerRuntime<'a> {
    /// A worker that is ready to join a bus.
    pub fn new(setting: WorkerIdentity, place: &'a Arc<dyn WorkerEnvironment>) -> Self {
        let clock = Clock::start();
        let hello = Hello::new(setting.id, setting.name.clone(), setting.version.clone(), setting.weight);
        let (sender, inputs) = channel();
        let mut worker = Worker::new(hello, setting.goes_with_leader, clock.now());
        if setting.journals.is_some() {
            worker.keep_all();
        }
        Self {
            worker,
            place,
            setting,
            clock,
            lease: PartLease::default(),
            inputs,
            sender,
            runs: HashMap::new(),
            parts: Vec::new(),
            is_closed: false,
            is_alone: false,
            issue_log: IssueLog::default(),
            keeper: Keeper::default(),
            stopping_since: None,
        }
    }

    /// The subjects that it subscribes to.
    pub fn subjects(&self) -> Vec<String> {
        self.worker.subjects()
    }

    /// The sink of bus events.
    pub fn inbox(&self) -> Inbox {
        let sender = self.sender.clone();
        Box::new(move |received| sender.send(Input::BusEvent(received)).is_ok())
    }

    /// The handle that stops it from another thread.
    pub fn stop_handle(&self) -> WorkerStopHandle {
        WorkerStopHandle(self.sender.clone())
    }

    /// Runs until the leader has closed, or it is stopped.
    pub fn work(mut self, mut bus: Box<dyn Bus>) {
        loop {
            let now = self.clock.now();
            self.act(now);
            self.report_issues(now);
            self.keep(now);
            while let Some(verb) = self.worker.next_verb() {
                bus.ask(verb);
            }
            if self.is_done(now) {
                break;
            }
            let left = self.worker.wake_at(now).since(now).as_duration().clamp(Duration::from_millis(1), WAITS_MAX);
            match self.inputs.recv_timeout(left) {
                Ok(input) => self.take(input),
                Err(RecvTimeoutError::Timeout) => self.worker.tick(self.clock.now()),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        for part in &mut self.parts {
            part.stop.abort();
            part.thread.take().map(JoinHandle::join);
        }
    }

    fn is_done(&self, now: Nanos) -> bool {
        let is_quiet = self.parts.is_empty() && self.worker.has_reported_all();
        let is_late = self.stopping_since.is_some_and(|since| now.since(since) >= STOPS_WITHIN);
        self.is_alone || is_late || ((self.is_closed || self.stopping_since.is_some()) && is_quiet)
    }

    fn take(&mut self, input: Input) {
        let now = self.clock.now();
        match input {
            Input::BusEvent(received) => {
                match received {
                    BusEvent::Connected => self.place.report(&WorkerEvent::Joined),
                    BusEvent::Disconnected => {
                        self.place.report(&WorkerEvent::Cut);
                        // There is no receiver left for reports.
                        self.is_alone |= self.setting.goes_with_leader;
                    }
                    _ => {}
                }
                self.worker.handle(received, now);
            }
            Input::Prepared(run, result, journal_header) => self.prepared(run, *result, journal_header, now),
            Input::Control(of, control) => self.steer(of, control),
            Input::Ending(of, ending) => self.end_later(of, ending),
            Input::News(of, news) => {
                let is_end = matches!(news, News::Ended { .. } | News::Broken { .. });
                if let News::Broken { reason } = &news {
                    self.place.report(&WorkerEvent::Broken(reason.clone()));
                }
                self.worker.report(of, news, now);
                if is_end {
                    self.end(of, now);
                }
            }
            Input::Stop => {
                self.stopping_since = Some(now);
                self.worker.leave(now);
            }
        }
    }

    fn prepared(
        &mut self,
        run: u64,
        result: Result<(WorkerTask, Nanos), Refusal>,
        journal_header: Option<JournalHeader>,
        now: Nanos,
    ) {
        match result {
            Ok((work, warmup)) => {
                // Held connections have no journal.
                let journal_header = journal_header.filter(|_| matches!(work, WorkerTask::Load(..)));
                let own = ActiveRun {
                    work,
                    journal_header,
                    changes: Vec::new(),
                    lost: Vec::new(),
                    met: Vec::new(),
                    ends_at: None,
                };
                self.runs.insert(run, own);
                self.place.report(&WorkerEvent::Ready);
                self.worker.prepared(run, Ok(warmup), now);
            }
            Err(refusal) => {
                self.place.report(&WorkerEvent::Refused(refusal.clone()));
                self.worker.prepared(run, Err(refusal), now);
            }
        }
    }

    /// Carries out the actions of the state machine.
    fn act(&mut self, now: Nanos) {
        while let Some(act) = self.worker.next_act() {
            match act {
                Act::Prepare { run, plan, packet } => {
                    let (place, sender, folder) =
                        (self.place.clone(), self.sender.clone(), self.setting.folder.clone());
                    let is_kept = self.setting.journals.is_some();
                    let get_ready = move || {
                        let result = prepare(&*place, &plan, &packet, &folder);
                        let journal_header = is_kept.then(|| JournalHeader::new(plan, &packet)).flatten();
                        let _ = sender.send(Input::Prepared(run, Box::new(result), journal_header));
                    };
                    if std::thread::Builder::new().name("prepare".to_owned()).spawn(get_ready).is_err() {
                        let reason = "the system gives no thread; raise its limits (ulimit -u)".to_owned();
                        self.worker.prepared(run, Err(Refusal::System { reason }), now);
                    }
                }
                Act::Begin { part, slot_grant, segment, from, started, error } => {
                    self.begin(part, slot_grant, segment, (from, started, error));
                }
                Act::Lose { run_incarnation, slot_grant, slots, at } => {
                    self.lose(run_incarnation, slot_grant, slots, at)
                }
                Act::Lease(until) => self.lease.extend(until),
                Act::Change(change) => self.change(&change),
                Act::Release { scenario, at } => {
                    self.release_held(at);
                    for part in &self.parts {
                        if let (Some(control), Some(started)) = (&part.control, self.worker.started()) {
                            control.release(scenario, started + at);
                        }
                    }
                }
                Act::LetGo { run, met } => self.let_go(run, met),
                Act::Stop { run_incarnation } => self.stop(run_incarnation, now),
                Act::Abort { run } => {
                    let own: Vec<&RunningPart> = self.parts.iter().filter(|part| part.of.run == run).collect();
                    own.iter().for_each(|part| part.stop.abort());
                }
                Act::Refuse(refusal) => self.place.report(&WorkerEvent::Refused(refusal)),
                Act::Forget { run } => drop(self.runs.remove(&run)),
                Act::Close => self.is_closed = true,
            }
        }
    }

    fn begin(&mut self, of: PartOf, slot_grant: u16, segment: Segment, times: (Option<Nanos>, Nanos, Nanos)) {
        let Some(work) = self.runs.get(&of.run).map(|run| run.work.clone()) else { return };
        self.begin_journal(of.run);
        self.place.report(&WorkerEvent::Began(segment.slot_count()));
        let stop = StopHandle::default();
        let name = format!("part-{}", of.part);
        let thread = std::thread::Builder::new().name(name);
        let thread = match work {
            WorkerTask::Load(plan, options, pieces) => {
                let worker = self.load_worker(of, slot_grant, segment, times, (plan, *options, pieces, stop.clone()));
                thread.spawn(move || worker.work())
            }
            WorkerTask::Hold(plan, options) => {
                let (_, started, _) = times;
                let (clock, post, stop, options) = (self.clock, self.post(of), stop.clone(), *options);
                let worker = HoldWorker { slot_grant, plan, options, segment, stop, clock, started, post };
                thread.spawn(move || worker.work())
            }
        };
        let thread = match thread {
            Ok(thread) => Some(thread),
            Err(error) => {
                let _ = self.sender.send(Input::News(of, News::Broken { reason: error.to_string() }));
                None
            }
        };
        self.parts.push(RunningPart {
            of,
            slot_grant,
            stop,
            control: None,
            ending: None,
            leaves: false,
            thread,
            is_over: false,
        });
    }

    fn post(&self, of: PartOf) -> PartReporter {
        PartReporter { of, sender: self.sender.clone() }
    }

    fn load_worker(
        &self,
        of: PartOf,
        slot_grant: u16,
        segment: Segment,
        (from, started, _): (Option<Nanos>, Nanos, Nanos),
        (plan, options, pieces, stop): (Arc<Plan>, RunOptions, u64, StopHandle),
    ) -> PartWorker {
        let run_incarnation = (of.run, of.incarnation);
        let mut lost: Option<RevokedSlots> = None;
        let run = self.runs.get(&of.run);
        for (of, later, slots, at) in run.iter().flat_map(|run| &run.lost) {
            if *of == run_incarnation && *later > slot_grant {
                lost.get_or_insert_default().lose(slots.iter().copied(), *at);
            }
        }
        let part = Partition {
            segment: segment.clone(),
            from,
            begins: Some((self.clock, started)),
            lease: self.lease.of_part(),
            lost,
            changes: run.map(|run| run.changes.clone()).unwrap_or_default(),
            worker: self.worker.number().map_or(1, |number| u32::from(number) + 1),
        };
        PartWorker {
            slot_grant,
            plan: share_of_budget(&plan, &segment),
            options,
            part,
            pieces,
            stop,
            clock: self.clock,
            started,
            post: self.post(of),
        }
    }

    fn end(&mut self, of: PartOf, now: Nanos) {
        if let Some(part) = self.parts.iter_mut().find(|part| part.of == of) {
            part.is_over = true;
        }
        self.check_completion((of.run, of.incarnation), now);
    }

    /// Checks whether all parts of an incarnation are over: then there is nothing more to report of it.
    fn check_completion(&mut self, run_incarnation: (u64, u32), now: Nanos) {
        let is_of = |part: &RunningPart| (part.of.run, part.of.incarnation) == run_incarnation;
        if self.parts.iter().filter(|part| is_of(part)).any(|part| !part.is_over) {
            return;
        }
        for part in self.parts.iter_mut().filter(|part| is_of(part)) {
            part.thread.take().map(JoinHandle::join);
        }
        let before = self.parts.len();
        self.parts.retain(|part| !is_of(part));
        if self.parts.len() < before {
            self.place.report(&WorkerEvent::Ended);
        }
        self.worker.all_over(run_incarnation.0, run_incarnation.1, now);
    }
}

/// The longest wait without anything to do.
const WAITS_MAX: Duration = Duration::from_millis(300);
