//! The loads of a run and what happens to them during the run: changes, revoked slots, remote workers.

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

/// Delay from a change to the instant at which it takes effect: time for all shards to receive it. A shard that
/// receives it later is late, and starts what the others start.
const LEAD: Nanos = Nanos::from_millis(100);
/// Delay from the last arrival of users that wait for each other to the instant at which they start: time for all
/// shards to wake up.
const ROUND_LEAD: Nanos = Nanos::from_millis(2);

/// The planned loads of a run over time, and their changes.
pub(crate) struct Changes {
    clock: Clock,
    loads: Vec<Changing>,
    folded: Mutex<Folded>,
    /// Set where changes go to remote workers: they receive them within this time.
    received_within: Option<Nanos>,
    /// Until when starts are allowed.
    lease: Lease,
    /// The remote workers, as far as is known.
    workers: Workers,
    /// Reports of remote workers that were not processed yet.
    unacknowledged: AtomicUsize,
    /// Releases of users at barriers.
    released: Mutex<Vec<Release>>,
}

/// The load of a scenario, which may be changed.
struct Changing {
    /// Why the number of users is fixed, if it is.
    fixed: Option<Refused>,
    /// Start of the next round of users that wait for each other; 0 before the first round.
    round_at: AtomicU64,
}

pub(super) struct Folded {
    /// The planned timelines.
    planned: Vec<Arc<Timeline>>,
    /// Beginning of the measured load; never, before the run has started.
    pub(super) measured_from: Nanos,
    pub(super) all: Vec<Change>,
    /// The current timelines, scenario by scenario.
    timelines: Vec<Arc<Timeline>>,
    /// Slots that went to other runs, once some did.
    lost: Option<RevokedSlots>,
}

impl Folded {
    /// From when a change made `now` takes effect.
    pub(super) fn instant(&self, now: Nanos, lead: Nanos) -> Nanos {
        let last = self.all.last().map_or(Nanos::ZERO, |change| change.effective_at);
        (now + lead).since(self.measured_from).max(last)
    }
}

impl Changes {
    /// Changes of unchanged loads, each with the reason why its number of users is fixed, if it is.
    pub(crate) fn new(loads: Vec<(Timeline, Option<Refused>)>, clock: Clock) -> Self {
        let (timelines, fixed): (Vec<_>, Vec<_>) = loads.into_iter().unzip();
        let timelines: Vec<_> = timelines.into_iter().map(Arc::new).collect();
        let planned = timelines.clone();
        let loads = fixed.into_iter().map(|fixed| Changing { fixed, round_at: AtomicU64::new(0) }).collect();
        let folded = Folded { planned, measured_from: Nanos::NEVER, all: Vec::new(), timelines, lost: None };
        let (received_within, lease, workers) = (None, Lease::default(), Workers::default());
        let unacknowledged = AtomicUsize::new(0);
        Self {
            clock,
            loads,
            folded: Mutex::new(folded),
            received_within,
            lease,
            workers,
            unacknowledged,
            released: Mutex::default(),
        }
    }

    pub(super) fn folded(&self) -> MutexGuard<'_, Folded> {
        self.folded.lock().expect("no holder of the lock panics")
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// Users of remote barriers go on.
    pub(crate) fn let_go(&self, released: impl IntoIterator<Item = Release>) {
        self.released.lock().expect("no holder of the lock panics").extend(released);
    }

    /// The releases after the first `total`; earlier ones are dropped.
    pub(crate) fn released_after(&self, total: u64) -> Vec<Release> {
        let mut released = self.released.lock().expect("no holder of the lock panics");
        released.retain(|release| release.total > total);
        released.clone()
    }

    /// The time within which all remote workers receive a change; zero once the run is over.
    pub(crate) fn received_within(&self) -> Nanos {
        self.received_within.unwrap_or_default()
    }

    /// Counts one more report from a remote worker.
    pub(crate) fn reported_from_remote(&self) {
        self.unacknowledged.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts one such report as processed.
    pub(crate) fn received_from_remote(&self) {
        self.unacknowledged.fetch_sub(1, Ordering::Relaxed);
    }

    /// Reports of remote workers not processed yet.
    pub(crate) fn unacknowledged(&self) -> usize {
        self.unacknowledged.load(Ordering::Relaxed)
    }

    /// The remote workers.
    pub(crate) fn workers(&self) -> &Workers {
        &self.workers
    }

    /// Changes of a run that workers on other machines carry out.
    #[must_use]
    pub(crate) fn remote(self, received_within: Nanos) -> Self {
        Self { received_within: Some(received_within), ..self }
    }

    /// Changes of a partition that may start something while a lease lasts, and has given away slots before it began.
    #[must_use]
    pub(crate) fn for_part(mut self, lease: Lease, lost: Option<RevokedSlots>) -> Self {
        self.lease = lease;
        self.folded().lost = lost;
        self
    }

    /// When the lease ends.
    pub(crate) fn lease_end(&self) -> Nanos {
        self.lease.end()
    }

    pub(super) fn lead(&self) -> Nanos {
        self.received_within.map_or(LEAD, |within| LEAD.max(Nanos(4 * within.0)))
    }

    /// Delay from the last arrival of users that wait for each other to the instant at which they start.
    pub(crate) fn round_lead(&self) -> Nanos {
        self.received_within.unwrap_or(ROUND_LEAD)
    }

    /// Applies a change made elsewhere, in the order of the changes, from its instant on, which may be past.
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

    /// Revoked slots; `None` when none were.
    pub(crate) fn lost(&self) -> Option<RevokedSlots> {
        self.folded().lost.clone()
    }

    /// Beginning of the measured load; never, before the run has started.
    pub(crate) fn measured_from(&self) -> Nanos {
        self.folded().measured_from
    }

    /// The timeline of a scenario with all changes so far.
    pub(crate) fn timeline(&self, scenario: usize) -> Arc<Timeline> {
        self.folded().timelines[scenario].clone()
    }

    /// The timelines of all scenarios.
    pub(crate) fn timelines(&self) -> Vec<Arc<Timeline>> {
        self.folded().timelines.clone()
    }

    /// The timelines as a worker has them that received some changes late, or never: by their revisions, each with the
    /// instant from which it had it.
    pub(crate) fn timelines_of_late(&self, late: &[(u32, Nanos)]) -> Vec<Arc<Timeline>> {
        let folded = self.folded();
        let mut timelines = folded.planned.clone();
        for change in followed(&folded.all, late) {
            Arc::make_mut(&mut timelines[change.scenario]).change(&change);
        }
        timelines
    }

    /// When all timelines are over; `None` when no time ends one.
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

    /// The first change after a revision.
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
            return Err(Refused::StaleRevision { now: before as u32 });
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
