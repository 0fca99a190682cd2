//! Actions of a worker on the load, as data.

use pacing::change::Change;
use pacing::{Nanos, Segment};

use crate::bus::Bytes;
use crate::protocol::{BarrierRelease, Refusal};

/// An action on the load.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// The packet of a run has come; [`crate::Worker::prepared`] takes the result of the preparation.
    Prepare {
        /// The run.
        run: u64,
        /// Its name, which contains its hash.
        plan: String,
        /// The packet.
        packet: Bytes,
    },
    /// A part begins.
    Begin {
        /// The part.
        part: PartOf,
        /// The number of the slot grant.
        slot_grant: u16,
        /// Its slots.
        segment: Segment,
        /// The instant from which it owns starts, counted from the beginning of the measured load.
        from: Option<Nanos>,
        /// When the run started, by our clock.
        started: Nanos,
        /// The error bound of that.
        error: Nanos,
    },
    /// Slots go to others at an instant.
    Lose {
        /// The run and the incarnation.
        run_incarnation: (u64, u32),
        /// The number of the slot grant that takes them: from parts of earlier ones, begun or not.
        slot_grant: u16,
        /// The slots.
        slots: Vec<u16>,
        /// The instant, counted from the beginning of the measured load.
        at: Nanos,
    },
    /// Nothing is started from this instant of our clock on, unless another one is set before.
    Lease(Nanos),
    /// The load is changed.
    Change(Change),
    /// Users of a scenario that wait for each other start, at this instant counted from the start of the run.
    Release {
        /// The scenario.
        scenario: usize,
        /// The instant.
        at: Nanos,
    },
    /// Users that wait at a barrier go on.
    LetGo {
        /// The run.
        run: u64,
        /// The released users, and when.
        met: BarrierRelease,
    },
    /// Nothing more starts in this run and incarnation; exchanges in flight may finish.
    Stop {
        /// The run and the incarnation.
        run_incarnation: (u64, u32),
    },
    /// All of this run ends at once.
    Abort {
        /// The run.
        run: u64,
    },
    /// The worker does not take part in the run that it got ready for; reported locally only.
    Refuse(Refusal),
    /// Nothing is needed of this run any more.
    Forget {
        /// The run.
        run: u64,
    },
    /// There is nothing more to do: the leader has closed, or is gone for good.
    Close,
}

/// The id of a part of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PartOf {
    /// The run.
    pub run: u64,
    /// The incarnation of the worker.
    pub incarnation: u32,
    /// The number of the part.
    pub part: u16,
}
