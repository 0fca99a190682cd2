//! The known workers, and how long they have been silent.

use pacing::Nanos;

use super::ByWorker;
use crate::pace::Pace;
use crate::protocol::{Hello, NAME_CHARS_MAX, WorkerId};

/// The silence after which a worker is doubtful.
const DOUBTFUL_AFTER: Nanos = Nanos::from_millis(3_000);
/// The interval at which a silent worker is pinged.
const REQUESTED_AFTER: Nanos = Nanos::from_millis(1_200);
const REQUESTED_EVERY: Nanos = Nanos::from_millis(300);
/// The most workers pinged at a time: when very many are silent, the bus or the leader is the likely cause.
const REQUESTED_AT_ONCE: usize = 64;
/// The silence after which a worker without a part is forgotten.
const FORGOTTEN_AFTER: Nanos = Nanos::from_millis(120_000);
/// The most workers known at a time.
const WORKERS_MAX: usize = 65_536;

/// A worker, as far as it is known.
#[derive(Clone, Debug)]
pub struct KnownWorker {
    /// Its last hello.
    pub hello: Hello,
    /// Whether it has our version.
    pub is_fit: bool,
    /// When its last message was received.
    pub received_at: Nanos,
    /// Since when its connection is closed, at the latest.
    pub gone_at: Option<Nanos>,
    /// Since when the bus does not take its reports.
    pub no_room_since: Option<Nanos>,
    /// The last incarnation that was declared lost.
    pub lost_incarnation: Option<u32>,
    requested_at: Nanos,
    /// The last revision of the state that it knew.
    revision: u64,
}

impl KnownWorker {
    fn new(hello: Hello, is_fit: bool, now: Nanos) -> Self {
        Self {
            hello,
            is_fit,
            received_at: now,
            gone_at: None,
            no_room_since: None,
            lost_incarnation: None,
            requested_at: Nanos::ZERO,
            revision: 0,
        }
    }

    /// Whether it could take part in a run.
    fn is_there(&self, doubtful_after: Nanos, now: Nanos) -> bool {
        self.is_fit
            && self.gone_at.is_none()
            && self.is_current(self.hello.incarnation)
            && now.since(self.received_at) < doubtful_after
    }

    /// Whether this incarnation was not declared lost.
    pub fn is_current(&self, incarnation: u32) -> bool {
        self.hello.incarnation == incarnation && self.lost_incarnation.is_none_or(|lost| lost < incarnation)
    }
}

/// The known workers.
#[derive(Debug, Default)]
pub(super) struct Members {
    known: ByWorker<KnownWorker>,
}

impl Members {
    /// Handles a hello. Returns whether the worker may go on: a lost incarnation may not.
    pub(super) fn hello(&mut self, mut hello: Hello, is_fit: bool, now: Nanos) -> bool {
        hello.name = hello.name.chars().filter(|each| !each.is_control()).take(NAME_CHARS_MAX).collect();
        if self.known.len() >= WORKERS_MAX && !self.known.contains_key(&hello.id) {
            return false;
        }
        let id = hello.id;
        let known = self.known.entry(id).or_insert_with(|| KnownWorker::new(hello.clone(), is_fit, now));
        if hello.incarnation < known.hello.incarnation
            || known.lost_incarnation.is_some_and(|lost| hello.incarnation <= lost)
        {
            return false;
        }
        if hello.incarnation > known.hello.incarnation {
            known.revision = 0;
        }
        known.no_room_since = hello.has_no_room.then(|| known.no_room_since.unwrap_or(now));
        (known.hello, known.is_fit, known.received_at, known.gone_at) = (hello, is_fit, now, None);
        true
    }

    /// Whether a worker has reported since then that the bus has no room for its reports.
    pub(super) fn lack_room(&self, since: Nanos) -> bool {
        self.known.values().any(|known| known.no_room_since.is_some() && known.received_at >= since)
    }

    /// Notes that it knows this revision of the state.
    pub(super) fn knows(&mut self, id: WorkerId, incarnation: u32, revision: u64) {
        if let Some(known) = self.known.get_mut(&id).filter(|known| known.hello.incarnation == incarnation) {
            known.revision = known.revision.max(revision);
        }
    }

    /// The revision that it knows.
    pub(super) fn revision(&self, id: WorkerId, incarnation: u32) -> u64 {
        self.known.get(&id).filter(|known| known.hello.incarnation == incarnation).map_or(0, |known| known.revision)
    }

    /// Handles the response to a ping.
    pub(super) fn answered(&mut self, id: WorkerId, incarnation: u32, is_there: bool, now: Nanos) {
        if let Some(known) = self.known.get_mut(&id).filter(|known| known.hello.incarnation == incarnation) {
            known.gone_at = if is_there { None } else { known.gone_at.or(Some(now)) };
        }
    }

    /// Declares a worker lost.
    pub(super) fn lose(&mut self, id: WorkerId, incarnation: u32) {
        if let Some(known) = self.known.get_mut(&id) {
            known.lost_incarnation = Some(known.lost_incarnation.map_or(incarnation, |lost| lost.max(incarnation)));
        }
    }

    /// Resets contacts: a new leader has received nothing yet.
    pub(super) fn take_over(&mut self, now: Nanos) {
        self.known.values_mut().for_each(|known| known.received_at = now);
    }

    /// A worker incarnation; an unknown one has no name.
    pub(super) fn in_incarnation(&self, id: WorkerId, incarnation: u32) -> KnownWorker {
        self.known.get(&id).cloned().unwrap_or_else(|| {
            let hello = Hello {
                id,
                incarnation,
                name: format!("{id:016x}"),
                protocol: 0,
                version: String::new(),
                weight: 0,
                run: 0,
                run_now: None,
                revision: 0,
                standing: None,
                has_no_room: false,
            };
            KnownWorker::new(hello, false, Nanos::ZERO)
        })
    }

    /// How long an incarnation has been silent; for ever if it never sent anything.
    pub(super) fn silent_for(&self, id: WorkerId, incarnation: u32, now: Nanos) -> Nanos {
        match self.known.get(&id) {
            Some(known) if known.hello.incarnation == incarnation => now.since(known.received_at),
            // It has begun another incarnation.
            _ => Nanos::NEVER,
        }
    }

    /// Sets the last contact of a member to now: nothing could be received before.
    pub(super) fn begin_listening(&mut self, id: WorkerId, incarnation: u32, now: Nanos) {
        let known = self.in_incarnation(id, incarnation);
        let known = self.known.entry(id).or_insert(known);
        if known.hello.incarnation < incarnation {
            // Another leader knew this incarnation.
            (known.hello.incarnation, known.revision, known.gone_at) = (incarnation, 0, None);
        }
        if known.hello.incarnation == incarnation {
            known.received_at = known.received_at.max(now);
        }
    }

    /// The silence after which a worker is doubtful: with very many, each sends less.
    pub(super) fn doubtful_after(&self) -> Nanos {
        DOUBTFUL_AFTER + self.pace().slack()
    }

    /// The pace of messages for this many workers.
    pub(super) fn pace(&self) -> Pace {
        Pace::for_workers(self.known.len())
    }

    /// The number of known workers.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// A known worker.
    pub(super) fn known(&self, id: WorkerId) -> Option<&KnownWorker> {
        self.known.get(&id)
    }

    /// The number of workers that could take part in a run.
    pub(super) fn fit_count(&self, now: Nanos) -> usize {
        let doubtful_after = self.doubtful_after();
        self.known.values().filter(|known| known.is_there(doubtful_after, now)).count()
    }

    /// The workers that could take part in a run, by name.
    pub(super) fn fit(&self, now: Nanos) -> Vec<&KnownWorker> {
        let doubtful_after = self.doubtful_after();
        let mut fit: Vec<&KnownWorker> =
            self.known.values().filter(|known| known.is_there(doubtful_after, now)).collect();
        fit.sort_by(|one, other| (&one.hello.name, one.hello.id).cmp(&(&other.hello.name, other.hello.id)));
        fit
    }

    /// A worker of another version.
    pub(super) fn unfit(&self, now: Nanos) -> Option<&KnownWorker> {
        let doubtful_after = self.doubtful_after();
        self.known.values().find(|known| !known.is_fit && now.since(known.received_at) < doubtful_after)
    }

    /// The workers that are to be pinged now.
    pub(super) fn doubtful(&mut self, now: Nanos) -> Vec<(WorkerId, u32)> {
        self.known
            .retain(|_, known| now.since(known.received_at) < FORGOTTEN_AFTER || known.lost_incarnation.is_some());
        let requested_after = REQUESTED_AFTER + self.pace().slack();
        let mut all = Vec::new();
        for (id, known) in &self.known {
            let silent = now.since(known.received_at);
            let is_doubtful = silent >= requested_after && silent < FORGOTTEN_AFTER && known.gone_at.is_none();
            if is_doubtful && now.since(known.requested_at) >= REQUESTED_EVERY {
                all.push((known.requested_at, *id, known.hello.incarnation));
            }
        }
        // Those that were pinged longest ago come first.
        all.sort_unstable();
        all.truncate(REQUESTED_AT_ONCE);
        for (_, id, _) in &all {
            if let Some(known) = self.known.get_mut(id) {
                known.requested_at = now;
            }
        }
        all.into_iter().map(|(_, id, incarnation)| (id, incarnation)).collect()
    }
}
