//! Worker reports: they come in batches, each of which counts once.

use pacing::{Nanos, SLOT_COUNT};
use serde::{Deserialize, Serialize};

use super::{WorkerId, can_be, read};

/// No run has more rows: some days of a hundred each second.
const ROWS_MAX: u64 = 1 << 26;
/// The most users that arrive at a barrier between two reports.
const ARRIVED_MAX: u64 = 1 << 20;

/// The longest reason for which a user stops the run, in bytes.
const REASON_BYTES_MAX: usize = 64 * 1024;

/// A batch of worker reports, as stored in the stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// The run.
    pub run: u64,
    /// The id of the worker.
    pub id: WorkerId,
    /// Its incarnation.
    pub incarnation: u32,
    /// The number of the batch; the first is 1, and none is left out.
    pub number: u64,
    /// The revision of the state that the worker knows.
    pub revision: u64,
    /// Time since the start of the run when it was sent.
    pub sent_at: Nanos,
    /// The reports, in order.
    pub news: Vec<News>,
}

/// The overhead of a report, besides its payload.
const NEWS_BYTES: usize = 32;

/// A report of a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum News {
    /// All held connections of a part were tried, or are to be closed now.
    Held {
        /// The part.
        part: u16,
        /// Whether they are being closed.
        is_closing: bool,
        /// The gauges: connecting, open, waiting, and owed messages.
        now: [u64; 4],
        /// The instant, since the start.
        since: Nanos,
    },
    /// A part begins.
    Began {
        /// Its number: a worker counts its parts from 0.
        part: u16,
        /// The number of the slot grant that it belongs to.
        slot_grant: u16,
        /// Its slots.
        slots: Vec<u16>,
        /// The instant from which it owns starts, counted from the beginning of the measured load; `None`: from the
        /// start.
        from: Option<Nanos>,
        /// How much later than that its threads began.
        late: Nanos,
    },
    /// The results of a part in an interval.
    Row(Row),
    /// All users of a scenario wait for those of others, since then, counted from the start of the run.
    Gathered {
        /// The part.
        part: u16,
        /// The scenario.
        scenario: u16,
        /// Since then.
        at: Nanos,
    },
    /// Users have arrived at a barrier.
    Arrived {
        /// The part.
        part: u16,
        /// The barrier.
        barrier: u16,
        /// The number of users.
        count: u64,
        /// When the first of them arrived, counted from the start of the run.
        at: Nanos,
    },
    /// A user waits at a barrier no longer.
    Withdrawn {
        /// The part.
        part: u16,
        /// The barrier.
        barrier: u16,
        /// The ticket of the arrival.
        ticket: u64,
    },
    /// All users of a part wait, and no more of them will come.
    Stuck {
        /// The part.
        part: u16,
        /// The number of releases before that.
        received: u64,
    },
    /// A scenario whose users wait for each other is over in a part.
    Left {
        /// The part.
        part: u16,
        /// The scenario.
        scenario: u16,
    },
    /// Whether every user of a part has failed to connect, and none ever did.
    Unreachable {
        /// The part.
        part: u16,
        /// Whether it is so.
        is_failing: bool,
    },
    /// A user of a part stops the run.
    StopRun {
        /// The part.
        part: u16,
        /// The reason.
        reason: String,
    },
    /// A part is over.
    Ended {
        /// The part.
        part: u16,
        /// All its results up to then are reported; it did not own later starts. Counted from the beginning of the
        /// measured load.
        until: Nanos,
        /// Starts that were due before then, and that it left: its lease was over.
        left: u64,
        /// How it ended, for the leader.
        end: Vec<u8>,
    },
    /// Slots of this worker go to others: it owns them until then, counted from the beginning of the measured load.
    /// That is the planned instant, or later if it learned of it late.
    Gave {
        /// The number of the slot grant that took them.
        slot_grant: u16,
        /// The instant from which it no longer owns them.
        at: Nanos,
    },
    /// The worker cannot go on.
    Broken {
        /// The reason.
        reason: String,
    },
    /// This incarnation takes no further part in this run.
    Gone {
        /// Whether its share of the load is over; else it was no longer counted on.
        is_over: bool,
    },
    /// A change of the load has reached the worker.
    Follows {
        /// The revision of the change.
        revision: u32,
        /// The instant from which its parts follow it, counted from the beginning of the measured load: that of the
        /// change, or later if that is past.
        at: Nanos,
    },
}

impl Batch {
    /// Decodes a batch; `None` if invalid.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        read(bytes).filter(|batch: &Self| {
            [batch.number, batch.sent_at.0].into_iter().all(can_be) && batch.news.iter().all(News::is_sound)
        })
    }
}

impl News {
    /// Whether it refers only to existing things.
    pub(crate) fn is_sound(&self) -> bool {
        let instants = match self {
            Self::Began { slots, from, late, .. } => {
                if slots.iter().any(|slot| u32::from(*slot) >= SLOT_COUNT) {
                    return false;
                }
                [from.unwrap_or_default(), *late]
            }
            Self::StopRun { reason, .. } if reason.len() > REASON_BYTES_MAX => return false,
            // Each arrival costs work.
            Self::Arrived { count, .. } if *count > ARRIVED_MAX => return false,
            Self::Row(Row { number, first, upto, .. }) if *number.max(upto) > ROWS_MAX || first > number => {
                return false;
            }
            Self::Row(Row { reported_until, behind, .. }) => [*reported_until, Nanos(*behind)],
            Self::Ended { until, left, .. } => [*until, Nanos(*left)],
            Self::Gathered { at, .. }
            | Self::Arrived { at, .. }
            | Self::Held { since: at, .. }
            | Self::Gave { at, .. }
            | Self::Follows { at, .. } => [*at, Nanos::ZERO],
            Self::Withdrawn { .. }
            | Self::Stuck { .. }
            | Self::Left { .. }
            | Self::Unreachable { .. }
            | Self::StopRun { .. }
            | Self::Broken { .. }
            | Self::Gone { .. } => return true,
        };
        instants.into_iter().all(|at| can_be(at.0))
    }

    /// The approximate size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let own = match self {
            Self::Began { slots, .. } => 3 * slots.len(),
            Self::Row(row) => row.seen.iter().map(Vec::len).sum(),
            Self::Ended { end, .. } => end.len(),
            Self::Broken { reason } | Self::StopRun { reason, .. } => reason.len(),
            Self::Gathered { .. }
            | Self::Arrived { .. }
            | Self::Withdrawn { .. }
            | Self::Stuck { .. }
            | Self::Held { .. }
            | Self::Left { .. }
            | Self::Unreachable { .. }
            | Self::Gave { .. }
            | Self::Follows { .. }
            | Self::Gone { .. } => 0,
        };
        own + NEWS_BYTES
    }
}

/// The results of a part in an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The part.
    pub part: u16,
    /// The interval of the plan; the first is 1. For merged intervals, the last.
    pub number: u64,
    /// The first of the merged intervals.
    pub first: u64,
    /// All results up to the end of this interval are reported.
    pub upto: u64,
    /// All starts intended before this instant are reported, but for those of `behind`; counted from the beginning of
    /// the measured load.
    pub reported_until: Nanos,
    /// Starts that were due by then, and had not been taken up: a row is written before that is done.
    pub behind: u64,
    /// One snapshot per scenario, as bytes; for merged rows, the sequence repeats.
    pub seen: Vec<Vec<u8>>,
}

impl Row {
    /// The row of these two that reports later starts.
    pub(crate) fn latest<'a>(&'a self, other: &'a Self) -> &'a Self {
        if other.reported_until < self.reported_until { self } else { other }
    }

    /// The row of a part that owns nothing that is due from this instant on.
    pub(crate) fn owned_until(self, at: Nanos) -> Self {
        #[cfg(test)]
        let at = if crate::sim::fault_injected(crate::sim::Bug::RowsPassTheLease) { Nanos::NEVER } else { at };
        Self { reported_until: self.reported_until.min(at), ..self }
    }
}
