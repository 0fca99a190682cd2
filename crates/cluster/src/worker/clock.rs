//! What time it is where the load is led from: of several questions the one with the shortest round trip counts, and it is wrong by half
//! of that at most.

use pacing::Nanos;

/// So many questions are asked.
pub(super) const PROBES: u32 = 32;
/// So many answers are enough when others were lost.
pub(super) const PROBES_MIN: u32 = 8;

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
    best: Option<Offset>,
}

impl Probes {
    /// A question was sent and answered at these instants of ours; they said `theirs`.
    pub(super) fn heard(&mut self, sent: Nanos, answered: Nanos, theirs: Nanos) {
        self.answered += 1;
        let round_trip = answered.since(sent);
        if self.best.is_none_or(|best| round_trip < best.round_trip) {
            self.best = Some(Offset { round_trip, theirs, ours: sent + Nanos(round_trip.0 / 2) });
        }
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
