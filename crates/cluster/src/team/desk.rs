//! Whoever leads, between the bus and the run: on a thread of its own.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError};
use std::time::Duration;

use driver::Clock;
use engine::{Books, Muster, TeamFault, Teller, Wanted, WorkerResult, starts_between};
use host::CpuTime;
use pacing::{Nanos, Segment};
use plan::Plan;

use super::held::OwnHold;
use super::results::{in_order, introduce};
use super::{Begin, Input, LOOKS_EVERY};
use crate::books::{Due, Ledger};
use crate::bus::{Bus, Heard};
use crate::carried::{end_of_bytes, snapshots_of_bytes};
use crate::leader::{Leader, PartId, Setting, Told};
use crate::words::{News, Phase, Refusal, Wish};

/// What is known of workers is told so often, when there is more.
const TELLS_OF_WORKERS: Nanos = Nanos::from_millis(500);
/// Workers hear within this time that they may go.
const CLOSES_WITHIN: Nanos = Nanos::from_millis(3_000);
/// A bus that is gone for so long is given up: the run ends with what was heard.
const GONE_MAX: Nanos = Nanos::from_millis(120_000);
/// The same when somebody wants the end.
const STOPS_ALONE: Nanos = Nanos::from_millis(5_000);

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
    heard_late: Nanos,
    /// When it was told last what is known of workers, and whether there is more.
    introduced: (Nanos, bool),
    /// When the load was over, as far as it was ended.
    until: Option<Nanos>,
    /// When a part ended before its time by itself: its rows or its budget were used up.
    early: Option<Nanos>,
}

/// Whoever leads, and the run that it leads.
pub(super) struct Desk {
    pub(super) leader: Leader,
    pub(super) bus: Box<dyn Bus>,
    pub(super) clock: Clock,
    pub(super) inputs: Receiver<Input>,
    pub(super) setting: Setting,
    /// What workers told, and is yet to be read.
    unread: VecDeque<Heard>,
    run: Option<OwnRun>,
    hold: Option<OwnHold>,
    pub(super) closing_since: Option<Nanos>,
    /// Since when the bus cannot be reached.
    cut_since: Option<Nanos>,
    /// Since when somebody wants the end.
    wished_since: Option<Nanos>,
}

impl Desk {
    pub(super) fn new(
        leader: Leader,
        bus: Box<dyn Bus>,
        clock: Clock,
        inputs: Receiver<Input>,
        setting: Setting,
    ) -> Self {
        let (unread, run, hold, closing_since) = (VecDeque::new(), None, None, None);
        let (cut_since, wished_since) = (None, None);
        Self { leader, bus, clock, inputs, setting, unread, run, hold, closing_since, cut_since, wished_since }
    }

    /// Until all is closed.
    pub(super) fn work(mut self) {
        loop {
            let now = self.clock.now();
            self.hear();
            self.look_at_run(now);
            self.look_at_hold(now);
            self.look_whether_gone(now);
            while let Some(verb) = self.leader.next_verb() {
                self.bus.ask(verb);
            }
            let is_late = self.closing_since.is_some_and(|since| now.since(since) >= CLOSES_WITHIN);
            if is_late || (self.closing_since.is_some() && (self.leader.is_closed() || self.cut_since.is_some())) {
                return;
            }
            let left = self.leader.wake_at(now).since(now).as_duration().clamp(Duration::from_millis(1), LOOKS_EVERY);
            // Whoever asks is answered first: who reads slowly leads all the same.
            let next = match self.inputs.try_recv() {
                // That somebody is gone comes behind the last that it told.
                Ok(Input::Heard(told @ (Heard::Entry { .. } | Heard::Follows { .. } | Heard::Answered { .. }))) => {
                    self.unread.push_back(told);
                    continue;
                }
                Ok(input) => Ok(input),
                Err(TryRecvError::Empty) => match self.unread.pop_front() {
                    Some(told) => Ok(Input::Heard(told)),
                    None => self.inputs.recv_timeout(left),
                },
                Err(TryRecvError::Disconnected) => return,
            };
            match next {
                Ok(Input::Heard(heard)) => {
                    let is_cut = heard == Heard::Disconnected;
                    self.cut_since = is_cut.then(|| self.cut_since.unwrap_or(now));
                    self.leader.hear(heard, self.clock.now());
                }
                Ok(Input::Begin(begin)) => self.begin(*begin),
                Ok(Input::BeginToHold(begin)) => {
                    let (own, order) = OwnHold::new(*begin);
                    self.hold = Some(own);
                    self.leader.begin(order, self.clock.now());
                }
                Ok(Input::Cancel) => {
                    (self.run, self.hold) = (None, None);
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
            heard_late: Nanos::ZERO,
            introduced: (Nanos::ZERO, false),
            until: None,
            early: None,
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
        if run.introduced.1 && now.since(run.introduced.0) >= TELLS_OF_WORKERS {
            run.introduced = (now, false);
            run.teller.workers(in_order(run.seen.clone()));
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

    /// A bus that is gone for long does not come back, and whoever wants the end does not wait for it.
    fn look_whether_gone(&mut self, now: Nanos) {
        let wanted = self.run.as_ref().map(|run| run.teller.wanted());
        let wanted = wanted.or_else(|| self.hold.as_ref().map(OwnHold::wanted));
        let is_wished = wanted.is_some_and(|wanted| wanted > Wanted::Run);
        self.wished_since = is_wished.then(|| self.wished_since.unwrap_or(now));
        let Some(since) = self.cut_since.filter(|_| wanted.is_some()) else { return };
        let is_left = self.wished_since.is_some_and(|wished| now.since(wished.max(since)) >= STOPS_ALONE);
        if !is_left && now.since(since) < GONE_MAX {
            return;
        }
        let has_begun = self
            .run
            .as_ref()
            .map_or_else(|| self.hold.as_ref().is_some_and(OwnHold::has_begun), |run| run.answer.is_none());
        match (has_begun, is_left) {
            (true, _) => self.leader.abandon(now),
            (false, true) => self.fail(TeamFault::Stopped),
            (false, false) => self.fail(TeamFault::Bus { reason: "it is gone, and did not come back".to_owned() }),
        }
    }

    /// It does not begin.
    fn fail(&mut self, fault: TeamFault) {
        if let Some(answer) = self.run.take().and_then(|run| run.answer) {
            // Whoever asked may be gone.
            let _ = answer.send(Err(fault));
        } else if let Some(hold) = self.hold.take() {
            hold.fail(fault);
        }
        self.leader.cancel();
    }

    /// What is wanted of connections that are held goes to all.
    fn look_at_hold(&mut self, now: Nanos) {
        let Some(hold) = &mut self.hold else { return };
        match hold.wanted() {
            Wanted::Run => {}
            Wanted::Stop => self.leader.wish(Wish::Stop, now),
            Wanted::Abort => self.leader.wish(Wish::Abort, now),
        }
        if !hold.has_begun() {
            if hold.wanted() > Wanted::Run && self.leader.state().phase != Phase::Preparing {
                self.fail(TeamFault::Stopped);
            }
        } else if let Some(at) = hold.ends_at(now) {
            self.leader.release(0, at);
        }
    }

    fn hear(&mut self) {
        while let Some(told) = self.leader.next_told() {
            match told {
                Told::Starts(at) => {
                    if let Some(hold) = &mut self.hold {
                        hold.begins(at, self.leader.state());
                    }
                    if let Some(run) = &mut self.run {
                        run.started = at;
                        if let Some(answer) = run.answer.take() {
                            let _ = answer.send(Ok(at));
                        }
                    }
                }
                Told::Resumes(at) => self.resumes(at),
                Told::Replaced => {
                    self.breaks(|| TeamFault::Replaced);
                    (self.run, self.hold) = (None, None);
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
                    if let Some(hold) = &mut self.hold {
                        hold.seen(member).had_no_room = true;
                    }
                    if let Some(run) = &mut self.run {
                        run.seen.entry(member).or_default().had_no_room = true;
                    }
                }
                Told::Behind(behind) => {
                    if let Some(hold) = &mut self.hold {
                        hold.heard_late = hold.heard_late.max(behind);
                    }
                    if let Some(run) = &mut self.run {
                        run.heard_late = run.heard_late.max(behind);
                    }
                }
                Told::Gap => self.breaks(|| TeamFault::Bus {
                    reason: "what workers told is gone there before it was read".to_owned(),
                }),
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

    /// What goes on cannot go on.
    fn breaks(&self, fault: impl Fn() -> TeamFault) {
        if let Some(run) = &self.run {
            run.teller.broken(fault().into());
        }
        if let Some(hold) = &self.hold {
            hold.breaks(fault());
        }
    }

    fn fault_of(&self, worker: String, refusal: Refusal) -> TeamFault {
        match refusal {
            Refusal::Version { worker: theirs, leader: ours } => TeamFault::Version { worker, theirs, ours },
            Refusal::Plan { reason } => TeamFault::Plan { worker, reason },
            Refusal::Missing => TeamFault::Missing { worker },
            Refusal::Damaged => TeamFault::Damaged { worker },
            Refusal::Target { target, allowed } => TeamFault::Target { worker, target, allowed },
            Refusal::Clock => TeamFault::Clock { worker },
            Refusal::System { reason } => TeamFault::System { worker, reason },
        }
    }

    fn news(&mut self, member: u16, news: News) {
        let known = self.leader.member(member);
        if let Some(hold) = &mut self.hold {
            return hold.news(member, known.as_ref(), news);
        }
        let Some(run) = &mut self.run else { return };
        run.ledger.news(member, &news);
        run.introduced.1 = true;
        let seen = run.seen.entry(member).or_default();
        if let Some(known) = known {
            introduce(seen, &known);
        }
        let place_of = |part: u16| run.parts.get(&PartId { member, part }).copied();
        match news {
            News::Began { part, slots, late, from, .. } => {
                let place = run.parts.len();
                run.parts.insert(PartId { member, part }, place);
                // With what it has already.
                let has = self.leader.state().owners(usize::MAX).into_iter().filter(|owner| *owner == member).count();
                seen.slots = seen.slots.max(has.max(slots.len()) as u32);
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
                    let is_early = end.scenarios.iter().any(|scene| scene.spent.is_some())
                        || end.used_up.iter().any(|file| !file.is_again);
                    if is_early {
                        run.early = Some(run.early.map_or(until, |known| known.min(until)));
                    }
                    run.ended.push(place);
                    run.teller.ended(place, end);
                }
            }
            News::Broken { reason } => {
                let worker = seen.name.clone();
                run.teller.broken(TeamFault::System { worker, reason }.into());
            }
            News::Gave { .. } | News::Gone { .. } | News::Held { .. } => {}
        }
    }

    /// Nobody waits for what somebody tells who was given up.
    fn lost(&mut self, member: u16, until: Nanos) {
        let name = self.leader.member(member).map(|known| known.hello.name).unwrap_or_default();
        let all = self.leader.state().tenures.iter().flat_map(|tenure| &tenure.moves);
        let slots = all.filter(|(_, to)| *to == member).count() as u32;
        if let Some(hold) = &mut self.hold {
            return hold.lost(member, name, slots);
        }
        let Some(run) = &mut self.run else { return };
        run.ledger.lost(member, until);
        run.introduced.1 = true;
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
        if let Some(hold) = self.hold.take() {
            return hold.over();
        }
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
        // What is behind that was planned for nobody.
        let end = run.early.map_or(end, |early| end.min(early));
        let due = PlanDue { plan: &run.plan, teller: &run.teller };
        let balance = run.ledger.balance(self.leader.state(), end, &due);
        let workers = in_order(std::mem::take(&mut run.seen));
        let books = Books {
            undelivered: if is_stopped { 0 } else { balance.undelivered },
            unknown: balance.unknown,
            stood_still: balance.stood_still.as_duration(),
            unknown_answers: 0,
        };
        let heard_late = run.heard_late.as_duration();
        run.teller.over(Muster { workers, books, heard_late });
    }
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
