//! What time it is where the load is led from: of several questions the one with the shortest round trip counts, and it is wrong by half
//! of that at most.

use pacing::Nanos;

/// So many of them are under way at a time.
pub(super) const AT_A_TIME: u32 = 4;
/// They follow each other so fast, when none is answered; twice as long each time, but not more often than this.
const AGAIN_AFTER: Nanos = Nanos::from_millis(250);
const DOUBLED_MAX: u32 = 4;

/// An instant of one clock on another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offset {
    /// The shortest round trip.
    pub round_trip: Nanos,
    /// Theirs, at `ours`.
    theirs: Nanos,
    ours: Nanos,
}

impl Offset {
    /// Our instant of one of theirs; zero for one before our clock began.
    pub(super) fn ours(&self, theirs: Nanos) -> Nanos {
        Nanos((self.ours.0 + theirs.0).saturating_sub(self.theirs.0))
    }
}

/// Questions, and what came of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Probes {
    answered: u32,
    /// Questions since the last answer.
    in_vain: u32,
    best: Option<Offset>,
}

impl Probes {
    /// A question was sent and answered at these instants of ours; they said `theirs`.
    pub(super) fn received(&mut self, sent: Nanos, answered: Nanos, theirs: Nanos) {
        self.answered += 1;
        self.in_vain = 0;
        let round_trip = answered.since(sent);
        if self.best.is_none_or(|best| round_trip < best.round_trip) {
            self.best = Some(Offset { round_trip, theirs, ours: sent + Nanos(round_trip.0 / 2) });
        }
    }

    /// One more is asked.
    pub(super) fn ask(&mut self) {
        self.in_vain += 1;
    }

    /// An answer is waited for so long before more are asked: longer each time that none comes, since whoever answers may have many to
    /// answer.
    pub(super) fn patience(&self) -> Nanos {
        Nanos(AGAIN_AFTER.0 << (self.in_vain / AT_A_TIME).min(DOUBLED_MAX))
    }

    /// How many were answered.
    pub(super) fn answered(&self) -> u32 {
        self.answered
    }

    /// The best of them.
    pub(super) fn best(&self) -> Option<Offset> {
        self.best
    }
}
