//! The loads of a run, and what becomes of them while it goes on: changes, slots that go elsewhere, who has the rest.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use driver::Clock;
use pacing::change::{Change, ChangeKind, LoadProfile, Timeline, followed};
use pacing::{Nanos, RevokedSlots};

use super::Refused;
use super::workers::Workers;
use crate::barriers::Release;
use crate::lease::Lease;
use crate::times::longest;

/// From the instant of a change to the instant from which on it holds: time for all shards to hear of it. One that hears later
/// is late, and starts what the others start.
const LEAD: Nanos = Nanos::from_millis(100);
/// From the last arrival of users that wait for each other to the instant at which they start: time for all shards to wake up.
const ROUND_LEAD: Nanos = Nanos::from_millis(2);

/// The loads of a run over time as they were planned, and what was changed of them.
pub(crate) struct Changes {
    clock: Clock,
    loads: Vec<Changing>,
    folded: Mutex<Folded>,
    /// Those who have to hear of changes are elsewhere, and hear of them within this time.
    received_within: Option<Nanos>,
    /// Until when something may be started.
    lease: Lease,
    /// Those who have parts of it elsewhere, as far as is known.
    workers: Workers,
    /// What they told, and was not taken yet.
    unheard: AtomicUsize,
    /// Users of meetings that go on.
    released: Mutex<Vec<Release>>,
}

/// The load of a scenario, which may be changed.
struct Changing {
    /// Why the number of users stays as it is, if it does.
    fixed: Option<Refused>,
    /// When users that wait for each other start; 0 before the first round.
    round_at: AtomicU64,
}

pub(super) struct Folded {
    /// As they were planned.
    planned: Vec<Arc<Timeline>>,
    /// When the measured load begins; never, before the run has started.
    pub(super) measured_from: Nanos,
    pub(super) all: Vec<Change>,
    /// Scenario by scenario.
    timelines: Vec<Arc<Timeline>>,
    /// Slots that went to other runs, once some did.
    lost: Option<RevokedSlots>,
}

impl Folded {
    /// From when on a change holds that is made `now`.
    pub(super) fn instant(&self, now: Nanos, lead: Nanos) -> Nanos {
        let last = self.all.last().map_or(Nanos::ZERO, |change| change.effective_at);
        (now + lead).since(self.measured_from).max(last)
    }
}

impl Changes {
    /// Of loads that nobody has changed, each with the reason why its number of users stays as it is, if it does.
    pub(crate) fn new(loads: Vec<(Timeline, Option<Refused>)>, clock: Clock) -> Self {
        let (timelines, fixed): (Vec<_>, Vec<_>) = loads.into_iter().unzip();
        let timelines: Vec<_> = timelines.into_iter().map(Arc::new).collect();
        let planned = timelines.clone();
        let loads = fixed.into_iter().map(|fixed| Changing { fixed, round_at: AtomicU64::new(0) }).collect();
        let folded = Folded { planned, measured_from: Nanos::NEVER, all: Vec::new(), timelines, lost: None };
        let (received_within, lease, workers) = (None, Lease::default(), Workers::default());
        let unheard = AtomicUsize::new(0);
        Self {
            clock,
            loads,
            folded: Mutex::new(folded),
            received_within,
            lease,
            workers,
            unheard,
            released: Mutex::default(),
        }
    }

    pub(super) fn folded(&self) -> MutexGuard<'_, Folded> {
        self.folded.lock().expect("no holder of the lock panics")
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// Users of meetings go on who are elsewhere.
    pub(crate) fn let_go(&self, released: impl IntoIterator<Item = Release>) {
        self.released.lock().expect("no holder of the lock panics").extend(released);
    }

    /// Those behind so many releases; those before are needed no more.
    pub(crate) fn released_after(&self, total: u64) -> Vec<Release> {
        let mut released = self.released.lock().expect("no holder of the lock panics");
        released.retain(|release| release.total > total);
        released.clone()
    }

    /// All of those who are elsewhere hear within this time; nothing, of a run that is over.
    pub(crate) fn received_within(&self) -> Nanos {
        self.received_within.unwrap_or_default()
    }

    /// Something is told from elsewhere.
    pub(crate) fn reported_from_afar(&self) {
        self.unheard.fetch_add(1, Ordering::Relaxed);
    }

    /// It was taken.
    pub(crate) fn received_from_afar(&self) {
        self.unheard.fetch_sub(1, Ordering::Relaxed);
    }

    /// So much of what was told elsewhere was not taken yet.
    pub(crate) fn unheard(&self) -> usize {
        self.unheard.load(Ordering::Relaxed)
    }

    /// Those who have parts of it elsewhere.
    pub(crate) fn workers(&self) -> &Workers {
        &self.workers
    }

    /// Of a run that others carry out, on other machines.
    #[must_use]
    pub(crate) fn remote(self, received_within: Nanos) -> Self {
        Self { received_within: Some(received_within), ..self }
    }

    /// Of a part that may start something while a lease lasts, and has given slots away before it began.
    #[must_use]
    pub(crate) fn of_part(mut self, lease: Lease, lost: Option<RevokedSlots>) -> Self {
        self.lease = lease;
        self.folded().lost = lost;
        self
    }

    /// When nothing more may be started.
    pub(crate) fn lease_end(&self) -> Nanos {
        self.lease.end()
    }

    pub(super) fn lead(&self) -> Nanos {
        self.received_within.map_or(LEAD, |within| LEAD.max(Nanos(4 * within.0)))
    }

    /// From the last arrival of users that wait for each other to the instant at which they start.
    pub(crate) fn round_lead(&self) -> Nanos {
        self.received_within.unwrap_or(ROUND_LEAD)
    }

    /// A change that was made elsewhere, in the order of the changes: it holds from its instant on, which may be past.
    pub(crate) fn follow(&self, change: Change) {
        let mut folded = self.folded();
        if change.revision as usize != folded.all.len() + 1 || change.scenario >= folded.timelines.len() {
            return;
        }
        Arc::make_mut(&mut folded.timelines[change.scenario]).change(&change);
        folded.all.push(change);
    }

    /// The measured load begins at this instant.
    pub(crate) fn begin(&self, measured_from: Nanos) {
        self.folded().measured_from = measured_from;
    }

    /// Slots go to other runs.
    pub(super) fn lose(&self, slots: impl IntoIterator<Item = u16>, at: Nanos) {
        self.folded().lost.get_or_insert_default().lose(slots, at);
    }

    /// Those that went; `None` when all are there.
    pub(crate) fn lost(&self) -> Option<RevokedSlots> {
        self.folded().lost.clone()
    }

    /// When the measured load begins; never, before the run has started.
    pub(crate) fn measured_from(&self) -> Nanos {
        self.folded().measured_from
    }

    /// The load of a scenario as it is by all changes so far.
    pub(crate) fn timeline(&self, scenario: usize) -> Arc<Timeline> {
        self.folded().timelines[scenario].clone()
    }

    /// The same of all scenarios.
    pub(crate) fn timelines(&self) -> Vec<Arc<Timeline>> {
        self.folded().timelines.clone()
    }

    /// The same as somebody has them whom some changes reached later, or never: by their revisions, from which instant on.
    pub(crate) fn timelines_of_late(&self, late: &[(u32, Nanos)]) -> Vec<Arc<Timeline>> {
        let folded = self.folded();
        let mut timelines = folded.planned.clone();
        for change in followed(&folded.all, late) {
            Arc::make_mut(&mut timelines[change.scenario]).change(&change);
        }
        timelines
    }

    /// When all of them are over; `None` when no time ends one.
    pub(crate) fn end(&self) -> Option<Nanos> {
        longest(self.folded().timelines.iter().map(|timeline| timeline.end()))
    }

    /// The next round of users that wait for each other starts at `at`, later than the one before.
    pub(crate) fn release(&self, scenario: usize, at: Nanos) {
        self.loads[scenario].round_at.store(at.0, Ordering::Relaxed);
    }

    pub(crate) fn round_at(&self, scenario: usize) -> Nanos {
        Nanos(self.loads[scenario].round_at.load(Ordering::Relaxed))
    }

    /// The first change behind a revision.
    pub(crate) fn after(&self, revision: u32) -> Option<Change> {
        self.folded().all.get(revision as usize).cloned()
    }

    pub(super) fn add(
        &self,
        seen: Option<u32>,
        changes: Vec<(usize, ChangeKind)>,
        now: Nanos,
    ) -> Result<Vec<Change>, Refused> {
        let mut folded = self.folded();
        let (before, effective_at) = (folded.all.len(), folded.instant(now, self.lead()));
        if now < folded.measured_from && changes.iter().any(|(_, what)| *what == ChangeKind::End) {
            return Err(Refused::WarmingUp);
        }
        if seen.is_some_and(|seen| seen as usize != before) {
            return Err(Refused::Behind { now: before as u32 });
        }
        let timelines = folded.timelines.clone();
        for (scenario, what) in changes {
            if let Err(refused) = self.fold(&mut folded, scenario, what, effective_at) {
                folded.timelines = timelines;
                folded.all.truncate(before);
                return Err(refused);
            }
        }
        Ok(folded.all[before..].to_vec())
    }

    fn fold(&self, folded: &mut Folded, scenario: usize, what: ChangeKind, effective_at: Nanos) -> Result<(), Refused> {
        let Some(timeline) = folded.timelines.get(scenario) else { return Err(Refused::NoScenario) };
        match (&what, timeline.course()) {
            (ChangeKind::Rate(_), LoadProfile::Users(..)) => return Err(Refused::NoRate),
            (ChangeKind::Users(_), LoadProfile::Rate(_)) => return Err(Refused::NoUsers),
            (ChangeKind::Users(_), LoadProfile::Users(..)) => self.loads[scenario].fixed.map_or(Ok(()), Err)?,
            (ChangeKind::Pause, _) if timeline.is_paused() => return Err(Refused::IsPaused),
            (ChangeKind::Resume, _) if !timeline.is_paused() => return Err(Refused::NotPaused),
            _ => {}
        }
        if timeline.end().is_some_and(|end| effective_at >= end) {
            return Err(Refused::Over);
        }
        let change = Change { revision: folded.all.len() as u32 + 1, scenario, effective_at, what };
        Arc::make_mut(&mut folded.timelines[scenario]).change(&change);
        folded.all.push(change);
        Ok(())
    }
}
