//! What workers tell: in batches, each of which counts once.

use pacing::{Nanos, SLOT_COUNT};
use serde::{Deserialize, Serialize};

use super::{WorkerId, can_be, read};

/// No run has more rows: some days of a hundred each second.
const ROWS_MAX: u64 = 1 << 26;
/// Users that arrive between two tellings.
const ARRIVED_MAX: u64 = 1 << 20;

/// What a worker saw, as it stands in the stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// The run.
    pub run: u64,
    /// Which worker.
    pub id: WorkerId,
    /// In which of its lives.
    pub incarnation: u32,
    /// The first is 1, and none is left out.
    pub number: u64,
    /// The revision of what is to be done that it knows.
    pub revision: u64,
    /// Time since the start of the run when it was sent.
    pub sent_at: Nanos,
    /// What there is to tell, in its order.
    pub news: Vec<News>,
}

/// What something to tell takes beside what it carries.
const NEWS_BYTES: usize = 32;

/// News of a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum News {
    /// Connections of a part that are held: all of them were tried, or are to be closed now.
    Held {
        /// Which.
        part: u16,
        /// They are closed.
        is_closing: bool,
        /// How things stand: on their way, open, waiting, and messages that are owed.
        now: [u64; 4],
        /// Since the start.
        since: Nanos,
    },
    /// A part of it begins.
    Began {
        /// Which: it counts its parts from 0.
        part: u16,
        /// The number of the tenure that gave it to it.
        slot_grant: u16,
        /// Its slots.
        slots: Vec<u16>,
        /// It has what is intended from then on, counted from the beginning of the measured load; `None`: from the start.
        from: Option<Nanos>,
        /// How much later than that its threads began.
        late: Nanos,
    },
    /// What a part saw in an interval.
    Row(Row),
    /// All users of a scenario wait for those of others, since then, counted from the start of the run.
    Gathered {
        /// Which part.
        part: u16,
        /// Which scenario.
        scenario: u16,
        /// Since then.
        at: Nanos,
    },
    /// Users have arrived at a meeting.
    Arrived {
        /// Of which part.
        part: u16,
        /// Which meeting.
        barrier: u16,
        /// So many.
        count: u64,
        /// The first of them at this instant, counted from the start of the run.
        at: Nanos,
    },
    /// A user waits at a meeting no longer.
    Withdrawn {
        /// Of which part.
        part: u16,
        /// Which meeting.
        barrier: u16,
        /// Which of those that arrived.
        ticket: u64,
    },
    /// All users of a part wait, and no more of them will come.
    Stuck {
        /// Which part.
        part: u16,
        /// So it was after so many times that some went on.
        received: u64,
    },
    /// A scenario whose users wait for each other is over in a part.
    Left {
        /// Which part.
        part: u16,
        /// Which scenario.
        scenario: u16,
    },
    /// Whether every user of a part has failed to connect, and none ever did.
    TooManyFailures {
        /// Which part.
        part: u16,
        /// Whether it is so.
        is_hopeless: bool,
    },
    /// A part is over.
    Ended {
        /// Which part.
        part: u16,
        /// What it had until then is told; what is due later nobody had. Counted from the beginning of the measured load.
        until: Nanos,
        /// How it ended, for who leads.
        end: Vec<u8>,
    },
    /// Slots of its own go to others: it has them until then, counted from the beginning of the measured load. That is when it was to give
    /// them, or later, when it learned of it late.
    Gave {
        /// The number of the tenure that took them.
        slot_grant: u16,
        /// From then on it has them no more.
        at: Nanos,
    },
    /// It cannot go on.
    Broken {
        /// Why.
        reason: String,
    },
    /// It takes no further part in this run, in this life.
    Gone {
        /// The load is over, as far as it is its own; else nobody counted on it any more.
        is_over: bool,
    },
    /// A change of the load has reached it.
    Follows {
        /// Which change.
        revision: u32,
        /// Its parts follow it from then on, counted from the beginning of the measured load: from its instant, or later where that is past.
        at: Nanos,
    },
}

impl Batch {
    /// Reads it; `None` when it is none, or says what cannot be.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        read(bytes).filter(|batch: &Self| {
            [batch.number, batch.sent_at.0].into_iter().all(can_be) && batch.news.iter().all(News::is_sound)
        })
    }
}

impl News {
    /// It names nothing that is not there.
    pub(crate) fn is_sound(&self) -> bool {
        let instants = match self {
            Self::Began { slots, from, late, .. } => {
                if slots.iter().any(|slot| u32::from(*slot) >= SLOT_COUNT) {
                    return false;
                }
                [from.unwrap_or_default(), *late]
            }
            // Each of them is looked at.
            Self::Arrived { count, .. } if *count > ARRIVED_MAX => return false,
            Self::Row(Row { number, first, upto, .. }) if *number.max(upto) > ROWS_MAX || first > number => {
                return false;
            }
            Self::Row(Row { covered: at, .. })
            | Self::Gathered { at, .. }
            | Self::Arrived { at, .. }
            | Self::Held { since: at, .. }
            | Self::Ended { until: at, .. }
            | Self::Gave { at, .. }
            | Self::Follows { at, .. } => [*at, Nanos::ZERO],
            Self::Withdrawn { .. }
            | Self::Stuck { .. }
            | Self::Left { .. }
            | Self::TooManyFailures { .. }
            | Self::Broken { .. }
            | Self::Gone { .. } => return true,
        };
        instants.into_iter().all(|at| can_be(at.0))
    }

    /// Its bytes, about.
    pub(crate) fn bytes(&self) -> usize {
        let own = match self {
            Self::Began { slots, .. } => 3 * slots.len(),
            Self::Row(row) => row.seen.iter().map(Vec::len).sum(),
            Self::Ended { end, .. } => end.len(),
            Self::Broken { reason } => reason.len(),
            Self::Gathered { .. }
            | Self::Arrived { .. }
            | Self::Withdrawn { .. }
            | Self::Stuck { .. }
            | Self::Held { .. }
            | Self::Left { .. }
            | Self::TooManyFailures { .. }
            | Self::Gave { .. }
            | Self::Follows { .. }
            | Self::Gone { .. } => 0,
        };
        own + NEWS_BYTES
    }
}

/// What a part saw in an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Which part.
    pub part: u16,
    /// The interval of the plan; the first is 1. Where several were put together, the last of them.
    pub number: u64,
    /// The first of those.
    pub first: u64,
    /// It has told all up to the end of this interval.
    pub upto: u64,
    /// It has told all that was intended before, counted from the beginning of the measured load.
    pub covered: Nanos,
    /// Scenario by scenario, as bytes; of several rows in one, again and again.
    pub seen: Vec<Vec<u8>>,
}
