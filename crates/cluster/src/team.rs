//! The workers of a run as its engine sees them: whoever leads, on a thread of its own, between the bus and the run.

mod order;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use driver::Clock;
use engine::{AGO_MAX, Books, Muster, Order, RunError, Team, TeamFault, Teller, Wanted, WorkerResult, starts_between};
use host::CpuTime;
use pacing::{Nanos, Segment};
use plan::{Carried, Plan};

use order::run_order;
pub use order::undivided;

use crate::books::{Due, Ledger};
use crate::bus::{Bus, Heard, Inbox};
use crate::carried::{end_of_bytes, pack, snapshots_of_bytes};
use crate::leader::{Known, Leader, PartId, RunOrder, Setting, Told};
use crate::words::{News, Phase, Refusal, Wish};

/// The run is looked at so often.
const LOOKS_EVERY: Duration = Duration::from_millis(20);
/// On one machine all have heard within this time; elsewhere within that.
const HEARD_HERE: Nanos = Nanos::from_millis(50);
const HEARD_AFAR: Nanos = Nanos::from_millis(500);
/// Workers hear within this time that they may go.
const CLOSES_WITHIN: Nanos = Nanos::from_millis(3_000);

enum Input {
    Heard(Heard),
    Begin(Box<Begin>),
    Cancel,
    Close,
}

/// A run that is to begin.
struct Begin {
    order: RunOrder,
    plan: Arc<Plan>,
    teller: Teller,
    answer: SyncSender<Result<Nanos, TeamFault>>,
}

/// Says why a run waits in vain for workers, if it does.
pub type Look = Box<dyn Fn() -> Option<TeamFault> + Send + Sync>;

/// Workers that are led from this process.
pub struct Workers {
    inputs: Mutex<Sender<Input>>,
    clock: Clock,
    thread: Mutex<Option<JoinHandle<()>>>,
    heard_within: Nanos,
    look: Look,
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").finish_non_exhaustive()
    }
}

impl Workers {
    /// Leads workers on a bus, which `join` joins: it listens to these subjects, and what comes goes into the inbox.
    ///
    /// # Errors
    /// There is no bus, or no thread.
    pub fn lead<E: From<std::io::Error>>(
        setting: Setting,
        look: Look,
        join: impl FnOnce(Vec<String>, Inbox) -> Result<Box<dyn Bus>, E>,
    ) -> Result<Self, E> {
        let clock = Clock::at(AGO_MAX);
        let heard_within = if setting.closed_is_gone { HEARD_HERE } else { HEARD_AFAR };
        let (sender, inputs) = channel();
        let leader = Leader::new(setting.clone(), clock.now());
        let heard = sender.clone();
        let bus = join(leader.subjects(), Box::new(move |what| heard.send(Input::Heard(what)).is_ok()))?;
        let desk = Desk { leader, bus, clock, inputs, setting, run: None, closing_since: None, is_cut: false };
        let thread = std::thread::Builder::new().name("workers".to_owned()).spawn(move || desk.work())?;
        Ok(Self { inputs: Mutex::new(sender), clock, thread: Mutex::new(Some(thread)), heard_within, look })
    }

    fn send(&self, input: Input) {
        // The thread may be gone: then no answer comes.
        let _ = self.inputs.lock().expect("no holder of the lock panics").send(input);
    }

    /// There will be no further run. Waits until workers know.
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

impl Team for Workers {
    fn begin(&self, order: Order) -> Result<Nanos, RunError> {
        let Order { plan, supplies, slowest, clock, stop, teller } = order;
        if let Some(fault) = undivided(&plan, false) {
            return Err(fault.into());
        }
        let packet = pack(&Carried::Load(Box::new(Plan::clone(&plan))), &supplies, slowest)
            .map_err(|error| TeamFault::Bus { reason: error.to_string() })?;
        let order = run_order(&plan, &supplies, packet);
        let (answer, answered) = sync_channel(1);
        self.send(Input::Begin(Box::new(Begin { order, plan, teller, answer })));
        let started = loop {
            match answered.recv_timeout(LOOKS_EVERY) {
                Ok(answer) => break answer?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    let reason = "it is gone".to_owned();
                    return Err(TeamFault::Bus { reason }.into());
                }
            }
            // One that is stopped is answered by whoever leads.
            if let Some(fault) = (self.look)().filter(|_| !stop.is_stopped()) {
                self.send(Input::Cancel);
                return Err(fault.into());
            }
        };
        // The same instant on the clock of the run.
        let (ours, theirs) = (self.clock.now(), clock.now());
        Ok((theirs + started.since(ours)).since(ours.since(started)))
    }

    fn heard_within(&self) -> Nanos {
        self.heard_within
    }
}

/// A run that goes on.
struct OwnRun {
    plan: Arc<Plan>,
    teller: Teller,
    answer: Option<SyncSender<Result<Nanos, TeamFault>>>,
    started: Nanos,
    ledger: Ledger,
    parts: BTreeMap<PartId, usize>,
    ended: Vec<usize>,
    seen: HashMap<u16, WorkerResult>,
    revision: u32,
    rounds: Vec<Nanos>,
    /// When the load was over, as far as it was ended.
    until: Option<Nanos>,
}

struct Desk {
    leader: Leader,
    bus: Box<dyn Bus>,
    clock: Clock,
    inputs: Receiver<Input>,
    setting: Setting,
    run: Option<OwnRun>,
    closing_since: Option<Nanos>,
    is_cut: bool,
}

impl Desk {
    fn work(mut self) {
        loop {
            let now = self.clock.now();
            self.hear();
            self.look_at_run(now);
            while let Some(verb) = self.leader.next_verb() {
                self.bus.ask(verb);
            }
            let is_late = self.closing_since.is_some_and(|since| now.since(since) >= CLOSES_WITHIN);
            if is_late || (self.closing_since.is_some() && (self.leader.is_closed() || self.is_cut)) {
                return;
            }
            let left = self.leader.wake_at(now).since(now).as_duration().clamp(Duration::from_millis(1), LOOKS_EVERY);
            match self.inputs.recv_timeout(left) {
                Ok(Input::Heard(heard)) => {
                    self.is_cut = heard == Heard::Disconnected;
                    self.leader.hear(heard, self.clock.now());
                }
                Ok(Input::Begin(begin)) => self.begin(*begin),
                Ok(Input::Cancel) => {
                    self.run = None;
                    self.leader.cancel();
                }
                Ok(Input::Close) => {
                    self.closing_since = Some(now);
                    self.leader.close();
                    self.leader.tick(now);
                }
                Err(RecvTimeoutError::Timeout) => self.leader.tick(self.clock.now()),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn begin(&mut self, begin: Begin) {
        let Begin { order, plan, teller, answer } = begin;
        let rounds = vec![Nanos::ZERO; plan.scenarios.len()];
        self.leader.begin(order, self.clock.now());
        self.run = Some(OwnRun {
            plan,
            teller,
            answer: Some(answer),
            started: Nanos::NEVER,
            ledger: Ledger::default(),
            parts: BTreeMap::new(),
            ended: Vec::new(),
            seen: HashMap::new(),
            revision: 0,
            rounds,
            until: None,
        });
    }

    /// What is wanted of the run goes to all.
    fn look_at_run(&mut self, now: Nanos) {
        let Some(run) = &mut self.run else { return };
        match run.teller.wanted() {
            Wanted::Run => {}
            Wanted::Stop => self.leader.wish(Wish::Stop, now),
            Wanted::Abort => self.leader.wish(Wish::Abort, now),
        }
        if run.answer.is_some() {
            if run.teller.wanted() > Wanted::Run && self.leader.state().phase != Phase::Preparing {
                self.fail(TeamFault::Stopped);
            }
            return;
        }
        while let Some(change) = run.teller.change_after(run.revision) {
            run.revision = change.revision;
            let ends_at = end_of(&run.teller);
            self.leader.change(change, ends_at);
        }
        for (scenario, known) in run.rounds.iter_mut().enumerate() {
            let at = run.teller.round_at(scenario);
            if std::mem::replace(known, at) != at {
                self.leader.release(scenario, run.teller.since_start(at));
            }
        }
    }

    /// It does not begin.
    fn fail(&mut self, fault: TeamFault) {
        if let Some(answer) = self.run.take().and_then(|run| run.answer) {
            // Whoever asked may be gone.
            let _ = answer.send(Err(fault));
        }
        self.leader.cancel();
    }

    fn hear(&mut self) {
        while let Some(told) = self.leader.next_told() {
            match told {
                Told::Starts(at) => {
                    if let Some(run) = &mut self.run {
                        run.started = at;
                        if let Some(answer) = run.answer.take() {
                            let _ = answer.send(Ok(at));
                        }
                    }
                }
                Told::Resumes(at) => self.resumes(at),
                Told::Replaced => {
                    if let Some(run) = self.run.take() {
                        run.teller.broken(TeamFault::Replaced.into());
                    }
                    self.leader.withdraw();
                }
                Told::Elsewhere => self.fail(TeamFault::Elsewhere),
                Told::NoRun => self.fail(TeamFault::NoRun { waited_s: self.setting.patience.0 / 1_000_000_000 }),
                Told::Refused { worker, refusal } => {
                    let fault = self.fault_of(worker, refusal);
                    self.fail(fault);
                }
                Told::TooFew { there, unready: 0 } => {
                    let waited_s = self.setting.patience.0 / 1_000_000_000;
                    self.fail(TeamFault::TooFew { there, wanted: self.setting.workers, waited_s });
                }
                Told::TooFew { there, unready } => self.fail(TeamFault::Unready { unready, of: there + unready }),
                Told::News { member, news } => self.news(member, *news),
                Told::Lost { member, until, .. } => self.lost(member, until),
                Told::Over => self.over(),
                Told::NoRoom { member } => {
                    if let Some(run) = &mut self.run {
                        run.seen.entry(member).or_default().had_no_room = true;
                    }
                }
                Told::Gap => {
                    if let Some(run) = &mut self.run {
                        let reason = "what workers told is gone there before it was read".to_owned();
                        run.teller.broken(TeamFault::Bus { reason }.into());
                    }
                }
                Told::Fails { .. } | Told::Frozen | Told::Leads | Told::Deposed | Told::Workers(_) => {}
            }
        }
    }

    /// A run goes on that somebody else has led: what was changed before is known.
    fn resumes(&mut self, at: Nanos) {
        let Some(run) = &mut self.run else { return };
        let Some(answer) = run.answer.take() else { return };
        for change in &self.leader.state().changes {
            run.teller.learn(change.clone());
            run.revision = run.revision.max(change.revision);
        }
        let ends_at = end_of(&run.teller);
        run.started = at;
        let _ = answer.send(Ok(at));
        self.leader.ends(ends_at);
    }

    fn fault_of(&self, worker: String, refusal: Refusal) -> TeamFault {
        match refusal {
            Refusal::Version { worker: theirs, leader: ours } => TeamFault::Version { worker, theirs, ours },
            Refusal::Plan { reason } => TeamFault::Plan { worker, reason },
            Refusal::Target { target, allowed } => TeamFault::Target { worker, target, allowed },
            Refusal::Clock => TeamFault::Clock { worker },
            Refusal::System { reason } => TeamFault::System { worker, reason },
        }
    }

    fn news(&mut self, member: u16, news: News) {
        let known = self.leader.member(member);
        let Some(run) = &mut self.run else { return };
        run.ledger.news(member, &news);
        let seen = run.seen.entry(member).or_default();
        if let Some(known) = known {
            seen.clock_error = seen.clock_error.or(clock_error_of(&known));
            seen.name = known.hello.name;
        }
        let place_of = |part: u16| run.parts.get(&PartId { member, part }).copied();
        match news {
            News::Began { part, slots, late, from, .. } => {
                let place = run.parts.len();
                run.parts.insert(PartId { member, part }, place);
                seen.slots = seen.slots.max(slots.len() as u32);
                if from.is_none() {
                    seen.began_late = Some(late.as_duration());
                }
                run.teller.joined(place);
            }
            News::Row(row) => {
                if let (Some(place), Some(all)) =
                    (place_of(row.part), snapshots_of_bytes(&row.seen, run.plan.scenarios.len()))
                {
                    for one in &all {
                        seen.started += one.counts.started();
                        seen.failed += one.counts.failed();
                    }
                    run.teller.seen(place, row.number, row.upto, all);
                }
            }
            News::Gathered { part, scenario, at } => {
                if let Some(place) = place_of(part) {
                    run.teller.gathered(place, usize::from(scenario), run.teller.instant(at));
                }
            }
            News::Left { part, scenario } => {
                if let Some(place) = place_of(part) {
                    run.teller.left(place, usize::from(scenario));
                }
            }
            News::Hopeless { part, is_hopeless } => {
                if let Some(place) = place_of(part) {
                    run.teller.hopeless(place, is_hopeless);
                }
            }
            News::Ended { part, until, end } => {
                if let (Some(place), Some(end)) = (place_of(part), end_of_bytes(&end)) {
                    seen.threads = seen.threads.max(end.shards.len());
                    seen.cpu = CpuTime::plus(seen.cpu, end.cpu);
                    run.until = Some(run.until.map_or(until, |known| known.max(until)));
                    run.ended.push(place);
                    run.teller.ended(place, end);
                }
            }
            News::Broken { reason } => {
                let worker = seen.name.clone();
                run.teller.broken(TeamFault::System { worker, reason }.into());
            }
            News::Gave { .. } | News::Gone { .. } => {}
        }
    }

    /// Nobody waits for what somebody tells who was given up.
    fn lost(&mut self, member: u16, until: Nanos) {
        let name = self.leader.member(member).map(|known| known.hello.name).unwrap_or_default();
        let all = self.leader.state().tenures.iter().flat_map(|tenure| &tenure.moves);
        let slots = all.filter(|(_, to)| *to == member).count() as u32;
        let Some(run) = &mut self.run else { return };
        run.ledger.lost(member, until);
        let seen = run.seen.entry(member).or_default();
        seen.losses += 1;
        if seen.name.is_empty() {
            seen.name = name;
        }
        seen.slots = seen.slots.max(slots);
        for (id, place) in &run.parts {
            if id.member == member && !run.ended.contains(place) {
                run.teller.silent(*place);
            }
        }
    }

    fn over(&mut self) {
        let Some(mut run) = self.run.take() else { return };
        if let Some(answer) = run.answer.take() {
            let _ = answer.send(Err(TeamFault::Stopped));
            return;
        }
        let planned = end_of(&run.teller);
        // One that was stopped was planned until then.
        let is_stopped = run.teller.wanted() > Wanted::Run;
        let end = match (planned, run.until) {
            (Some(planned), Some(until)) if is_stopped => planned.min(until),
            (Some(planned), _) => planned,
            (None, until) => until.unwrap_or_default(),
        };
        let due = PlanDue { plan: &run.plan, teller: &run.teller };
        let balance = run.ledger.balance(self.leader.state(), end, &due);
        let mut workers: Vec<(u16, WorkerResult)> = run.seen.drain().collect();
        workers.sort_by_key(|(member, _)| *member);
        let workers: Vec<WorkerResult> = workers.into_iter().map(|(_, result)| result).collect();
        let books = Books {
            undelivered: if is_stopped { 0 } else { balance.undelivered },
            unknown: balance.unknown,
            stood_still: balance.stood_still.as_duration(),
        };
        run.teller.over(Muster { workers, books });
    }
}

/// How wrong the clock of a worker may be, as it said when it got ready.
fn clock_error_of(known: &Known) -> Option<Duration> {
    let ready = known.hello.standing.as_ref()?.ready.as_ref().ok()?;
    Some(Nanos(ready.round_trip.0 / 2).as_duration())
}

/// When the load is over as it was changed, counted from the beginning of the measured load; `None` when no time says so.
fn end_of(teller: &Teller) -> Option<Nanos> {
    let ends: Option<Vec<Nanos>> = teller.timelines().iter().map(|timeline| timeline.end()).collect();
    ends.and_then(|ends| ends.into_iter().max())
}

/// What is due of the open loads of a plan, as they were changed.
struct PlanDue<'a> {
    plan: &'a Plan,
    teller: &'a Teller,
}

impl Due for PlanDue<'_> {
    fn count(&self, slots: &Segment, from: Nanos, to: Nanos) -> u64 {
        starts_between(self.plan, &self.teller.timelines(), slots, (from, to))
    }
}
