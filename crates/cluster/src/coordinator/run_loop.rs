//! The run loop of the leader, between the bus and the run, on a thread of its own.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError};
use std::time::Duration;

use driver::Clock;
use engine::{BackendFault, Intent};
use pacing::Nanos;

use super::account::{Account, goes_on_until, slots_of};
use super::held::OwnHold;
use super::journal::{Keeper, Keeping};
use super::results::{Introduction, WorkerResults};
use super::{Input, POLL_INTERVAL, PendingRun};
use crate::bus::{Bus, BusEvent};
use crate::leader::{Leader, LeaderSettings, LeaderUpdate};
use crate::protocol::{News, Phase, Refusal, RunIntent};

/// The time within which workers learn that they may leave.
const CLOSES_WITHIN: Nanos = Nanos::from_millis(3_000);
/// How long the bus may be gone before the run ends with what was received.
const GONE_MAX: Nanos = Nanos::from_millis(120_000);
/// The same after a requested stop.
const STOPS_ALONE: Nanos = Nanos::from_millis(5_000);

/// The current run.
struct ActiveRun {
    account: Account,
    response: Option<SyncSender<Result<Nanos, BackendFault>>>,
    started: Nanos,
    revision: u32,
    rounds: Vec<Nanos>,
    /// The number of barrier releases that were reported to all.
    met: u64,
}

/// The leader, and its current run.
pub(super) struct Coordinator {
    pub(super) leader: Leader,
    pub(super) bus: Box<dyn Bus>,
    pub(super) clock: Clock,
    pub(super) inputs: Receiver<Input>,
    pub(super) setting: LeaderSettings,
    /// Worker reports that are yet to be processed.
    unread: VecDeque<BusEvent>,
    run: Option<ActiveRun>,
    hold: Option<OwnHold>,
    pub(super) closing_since: Option<Nanos>,
    keeper: Keeper,
    /// Since when the bus cannot be reached.
    cut_since: Option<Nanos>,
    /// Since when a stop is requested.
    wished_since: Option<Nanos>,
}

impl Coordinator {
    pub(super) fn new(
        leader: Leader,
        bus: Box<dyn Bus>,
        clock: Clock,
        inputs: Receiver<Input>,
        setting: LeaderSettings,
        keeping: Option<Keeping>,
    ) -> Self {
        let keeper = Keeper::new(keeping);
        let (unread, run, hold, closing_since) = (VecDeque::new(), None, None, None);
        let (cut_since, wished_since) = (None, None);
        Self { leader, bus, clock, inputs, setting, unread, run, hold, closing_since, keeper, cut_since, wished_since }
    }

    /// Runs until all is closed.
    pub(super) fn work(mut self) {
        loop {
            let now = self.clock.now();
            self.keeper.update(&mut self.leader, self.setting.who, now);
            self.handle(now);
            self.update_run(now);
            self.check_bus(now);
            while let Some(verb) = self.leader.next_verb() {
                self.bus.ask(verb);
            }
            let is_late = self.closing_since.is_some_and(|since| now.since(since) >= CLOSES_WITHIN);
            if is_late || (self.closing_since.is_some() && (self.leader.is_closed() || self.cut_since.is_some())) {
                return;
            }
            let left = self.leader.wake_at(now).since(now).as_duration().clamp(Duration::from_millis(1), POLL_INTERVAL);
            // Requests are handled before queued worker data: a slow consumer of data still leads in time.
            let next = match self.inputs.try_recv() {
                // A disconnect is queued after the last received data.
                Ok(Input::BusEvent(
                    reported @ (BusEvent::Entry { .. } | BusEvent::Follows { .. } | BusEvent::Answered { .. }),
                )) => {
                    self.unread.push_back(reported);
                    continue;
                }
                Ok(input) => Ok(input),
                Err(TryRecvError::Empty) => match self.unread.pop_front() {
                    Some(reported) => Ok(Input::BusEvent(reported)),
                    None => self.inputs.recv_timeout(left),
                },
                Err(TryRecvError::Disconnected) => return,
            };
            match next {
                Ok(Input::BusEvent(received)) => {
                    // Queued data says nothing of whether the bus is reachable now.
                    match received {
                        BusEvent::Disconnected => self.cut_since = Some(self.cut_since.unwrap_or(now)),
                        BusEvent::Connected => self.cut_since = None,
                        _ => {}
                    }
                    let entry = match &received {
                        BusEvent::Entry { place, payload } => Some((*place, payload.clone())),
                        _ => None,
                    };
                    self.leader.handle(received, self.clock.now());
                    if let Some((place, payload)) = entry {
                        self.keeper.received(&self.leader, place, &payload);
                    }
                }
                Ok(Input::Begin(begin)) => self.begin(*begin),
                Ok(Input::PendingHold(order, own)) => {
                    self.hold = Some(*own);
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

    fn begin(&mut self, begin: PendingRun) {
        let PendingRun { order, plan, address, reporter, response } = begin;
        self.keeper.expect(&order, address);
        let rounds = vec![Nanos::ZERO; plan.scenarios.len()];
        self.leader.begin(order, self.clock.now());
        self.run = Some(ActiveRun {
            account: Account::new(plan, reporter),
            response: Some(response),
            started: Nanos::NEVER,
            revision: 0,
            rounds,
            met: 0,
        });
    }

    /// The intent for the current run or the held connections.
    fn wanted(&self) -> Option<Intent> {
        let wanted = self.run.as_ref().map(|run| run.account.reporter.wanted());
        wanted.or_else(|| self.hold.as_ref().map(|hold| hold.reporter.wanted()))
    }

    fn has_begun(&self) -> bool {
        let has_run_begun = self.run.as_ref().is_some_and(|run| run.response.is_none());
        has_run_begun || self.hold.as_ref().is_some_and(|hold| hold.response.is_none())
    }

    /// What is known of the workers of the current run.
    fn workers(&mut self) -> Option<&mut WorkerResults> {
        let of_hold = self.hold.as_mut().map(|hold| &mut hold.workers);
        of_hold.or_else(|| self.run.as_mut().map(|run| &mut run.account.workers))
    }

    /// Sends the intent to all workers, and what is to change at them.
    fn update_run(&mut self, now: Nanos) {
        let Some(wanted) = self.wanted() else { return };
        match wanted {
            Intent::Run => {}
            Intent::Stop => self.leader.intent(RunIntent::Stop, now),
            Intent::Abort => self.leader.intent(RunIntent::Abort, now),
        }
        if !self.has_begun() {
            if wanted > Intent::Run && self.leader.state().phase != Phase::Preparing {
                self.fail(BackendFault::Stopped);
            }
            return;
        }
        let workers = self.workers().and_then(|workers| workers.due(now));
        if let Some(hold) = &mut self.hold {
            workers.into_iter().for_each(|workers| hold.reporter.workers(workers));
            if let Some(at) = hold.ends_at(now) {
                self.leader.release(0, at);
            }
            return;
        }
        let Some(run) = &mut self.run else { return };
        workers.into_iter().for_each(|workers| run.account.reporter.workers(workers));
        while let Some(change) = run.account.reporter.change_after(run.revision) {
            run.revision = change.revision;
            let ends_at = goes_on_until(&run.account.reporter);
            self.leader.change(change, ends_at);
        }
        for met in run.account.met_after(run.met) {
            run.met = met.total;
            self.leader.let_go(met);
        }
        for (scenario, known) in run.rounds.iter_mut().enumerate() {
            let at = run.account.reporter.round_at(scenario);
            if std::mem::replace(known, at) != at {
                self.leader.release(scenario, run.account.reporter.since_start(at));
            }
        }
    }

    /// Ends the run when the bus is gone for too long; a requested stop waits less.
    fn check_bus(&mut self, now: Nanos) {
        let wanted = self.wanted();
        let is_wished = wanted.is_some_and(|wanted| wanted > Intent::Run);
        self.wished_since = is_wished.then(|| self.wished_since.unwrap_or(now));
        let Some(since) = self.cut_since.filter(|_| wanted.is_some()) else { return };
        let is_left = self.wished_since.is_some_and(|wished| now.since(wished.max(since)) >= STOPS_ALONE);
        if !is_left && now.since(since) < GONE_MAX {
            return;
        }
        match (self.has_begun(), is_left) {
            (true, _) => self.leader.abandon(now),
            (false, true) => self.fail(BackendFault::Stopped),
            (false, false) => self.fail(BackendFault::Bus { reason: "it is gone, and did not come back".to_owned() }),
        }
    }

    /// Fails the run that was to begin.
    fn fail(&mut self, fault: BackendFault) {
        self.refuse(fault);
        self.leader.cancel();
    }

    fn refuse(&mut self, fault: BackendFault) {
        if let Some(response) = self.run.take().and_then(|run| run.response) {
            // The requester may be gone.
            let _ = response.send(Err(fault));
        } else if let Some(response) = self.hold.take().and_then(|hold| hold.response) {
            let _ = response.send(Err(fault));
        }
    }

    fn handle(&mut self, now: Nanos) {
        while let Some(reported) = self.leader.next_reported() {
            match reported {
                LeaderUpdate::Starts(at) => self.starts(at, now),
                LeaderUpdate::Resumes(at) => {
                    self.keeper.started(at, now);
                    self.resumes(at);
                }
                LeaderUpdate::WantsCheckpoint => {
                    if !self.keeper.draft() {
                        self.leader.lacks_checkpoint();
                    }
                }
                LeaderUpdate::Recalled(checkpoint) => self.keeper.recalled(checkpoint),
                LeaderUpdate::Replaced => {
                    self.breaks(|| BackendFault::Replaced);
                    (self.run, self.hold) = (None, None);
                    self.leader.withdraw();
                }
                LeaderUpdate::Elsewhere => self.fail(BackendFault::Elsewhere),
                LeaderUpdate::NoRun => {
                    self.fail(BackendFault::NoRun { waited_s: self.setting.patience.0 / 1_000_000_000 })
                }
                LeaderUpdate::Refused { worker, refusal } => {
                    let fault = self.fault_of(worker, refusal);
                    self.fail(fault);
                }
                LeaderUpdate::TooFew { there, unready: 0 } => {
                    let waited_s = self.setting.patience.0 / 1_000_000_000;
                    self.fail(BackendFault::TooFew { there, wanted: self.setting.workers, waited_s });
                }
                LeaderUpdate::TooFew { there, unready } => {
                    self.fail(BackendFault::Unready { unready, of: there + unready })
                }
                LeaderUpdate::News { member, news } => self.news(member, *news),
                LeaderUpdate::Lost { member, until, .. } => self.lost(member, until),
                LeaderUpdate::Over => self.over(),
                LeaderUpdate::NoRoom { member } => {
                    if let Some(workers) = self.workers() {
                        workers.of(member).bus_was_full = true;
                    }
                }
                LeaderUpdate::Behind(behind) => {
                    if let Some(workers) = self.workers() {
                        workers.received_late = workers.received_late.max(behind);
                    }
                }
                LeaderUpdate::Gap => self.breaks(|| BackendFault::Bus {
                    reason: "what workers told is gone there before it was read".to_owned(),
                }),
                LeaderUpdate::Fails { .. }
                | LeaderUpdate::Frozen
                | LeaderUpdate::Leads
                | LeaderUpdate::LostLeadership
                | LeaderUpdate::Workers(_) => {}
            }
        }
    }

    /// The run starts at this instant.
    fn starts(&mut self, at: Nanos, now: Nanos) {
        self.keeper.started(at, now);
        if let Some(hold) = &mut self.hold {
            hold.begins(at, self.leader.state());
        }
        if let Some(run) = &mut self.run {
            run.started = at;
            run.account.expect(self.leader.state());
            if let Some(response) = run.response.take() {
                let _ = response.send(Ok(at));
            }
        }
    }

    /// Resumes a run of another leader: earlier changes are known.
    fn resumes(&mut self, at: Nanos) {
        let Some(run) = &mut self.run else { return };
        let Some(response) = run.response.take() else { return };
        for change in &self.leader.state().changes {
            run.account.reporter.learn(change.clone());
            run.revision = run.revision.max(change.revision);
        }
        let ends_at = goes_on_until(&run.account.reporter);
        run.started = at;
        let _ = response.send(Ok(at));
        self.leader.ends(ends_at);
    }

    /// Breaks the current run.
    fn breaks(&self, fault: impl Fn() -> BackendFault) {
        if let Some(run) = &self.run {
            run.account.reporter.broken(fault().into());
        }
        if let Some(hold) = &self.hold {
            hold.reporter.broken(fault().into());
        }
    }

    fn fault_of(&self, worker: String, refusal: Refusal) -> BackendFault {
        match refusal {
            Refusal::Version { worker: theirs, leader: ours } => BackendFault::Version { worker, theirs, ours },
            Refusal::Plan { reason } => BackendFault::Plan { worker, reason },
            Refusal::Missing => BackendFault::Missing { worker },
            Refusal::Damaged => BackendFault::Damaged { worker },
            Refusal::Target { target, allowed } => BackendFault::Target { worker, target, allowed },
            Refusal::Clock => BackendFault::Clock { worker },
            Refusal::System { reason } => BackendFault::System { worker, reason },
        }
    }

    fn news(&mut self, member: u16, news: News) {
        let known = self.leader.member(member).map(|known| Introduction::new(&known));
        self.keeper.who(&self.leader, member);
        if let Some(hold) = &mut self.hold {
            return hold.news(member, known, news);
        }
        if let Some(run) = &mut self.run {
            run.account.news(self.leader.state(), member, known, news);
        }
    }

    /// Handles a lost member, whose reports are no longer awaited.
    fn lost(&mut self, member: u16, until: Nanos) {
        self.keeper.lost(&self.leader, member, until);
        let name = self.leader.member(member).map(|known| known.hello.name).unwrap_or_default();
        if let Some(hold) = &mut self.hold {
            return hold.lost(member, name, slots_of(self.leader.state(), member));
        }
        if let Some(run) = &mut self.run {
            run.account.lost(self.leader.state(), member, name, until);
            run.account.expect(self.leader.state());
        }
    }

    fn over(&mut self) {
        self.keeper.end();
        if !self.has_begun() {
            return self.refuse(BackendFault::Stopped);
        }
        if let Some(hold) = self.hold.take() {
            return hold.over();
        }
        let Some(run) = self.run.take() else { return };
        // A stopped run was planned until then.
        let is_stopped = run.account.reporter.wanted() > Intent::Run;
        run.account.over(self.leader.state(), is_stopped);
    }
}
