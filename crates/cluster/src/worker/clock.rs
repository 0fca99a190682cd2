//! The clock offset to the leader: of several probes the one with the shortest round trip counts, and its error is at
//! most half of that.

use pacing::Nanos;

/// The most probes in flight.
pub(super) const AT_A_TIME: u32 = 4;
/// The delay between unanswered probes; doubled each time, up to the second constant.
const AGAIN_AFTER: Nanos = Nanos::from_millis(250);
const DOUBLED_MAX: u32 = 4;

/// The offset of another clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offset {
    /// The shortest round trip.
    pub round_trip: Nanos,
    /// Their time, at `ours`.
    theirs: Nanos,
    ours: Nanos,
}

impl Offset {
    /// Our instant for one of theirs; zero for one before our clock began.
    pub(super) fn ours(&self, theirs: Nanos) -> Nanos {
        Nanos((self.ours.0 + theirs.0).saturating_sub(self.theirs.0))
    }
}

/// The clock probes and their results.
#[derive(Clone, Debug, Default)]
pub(super) struct Probes {
    answered: u32,
    /// Probes since the last response.
    in_vain: u32,
    best: Option<Offset>,
}

impl Probes {
    /// Adds a probe that was sent and answered at these instants of ours; the response was `theirs`.
    pub(super) fn received(&mut self, sent: Nanos, answered: Nanos, theirs: Nanos) {
        self.answered += 1;
        self.in_vain = 0;
        let round_trip = answered.since(sent);
        if self.best.is_none_or(|best| round_trip < best.round_trip) {
            self.best = Some(Offset { round_trip, theirs, ours: sent + Nanos(round_trip.0 / 2) });
        }
    }

    /// Notes that one more probe is sent.
    pub(super) fn ask(&mut self) {
        self.in_vain += 1;
    }

    /// How long a response is awaited before more probes are sent: longer each time without one, since the leader may
    /// have many workers to answer.
    pub(super) fn patience(&self) -> Nanos {
        Nanos(AGAIN_AFTER.0 << (self.in_vain / AT_A_TIME).min(DOUBLED_MAX))
    }

    /// The number of responses.
    pub(super) fn answered(&self) -> u32 {
        self.answered
    }

    /// The best offset.
    pub(super) fn best(&self) -> Option<Offset> {
        self.best
    }
}
