//! What a worker does with the load, as data.

use pacing::change::Change;
use pacing::{Nanos, Segment};

use crate::bus::Bytes;
use crate::protocol::{BarrierRelease, Refusal};

/// What is to be done with the load.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// The packet of a run has come. What came of getting ready is told with [`crate::Worker::prepared`].
    Prepare {
        /// The run.
        run: u64,
        /// Its name, which says its hash.
        plan: String,
        /// What is in it.
        packet: Bytes,
    },
    /// A part begins.
    Begin {
        /// Which.
        part: PartOf,
        /// The number of the tenure that gives it.
        slot_grant: u16,
        /// Its slots.
        segment: Segment,
        /// It has what is intended from then on, counted from the beginning of the measured load.
        from: Option<Nanos>,
        /// When the run started, by our clock.
        started: Nanos,
        /// How wrong that may be.
        error: Nanos,
    },
    /// Slots go to others at an instant.
    Lose {
        /// Of this run, in this life.
        life: (u64, u32),
        /// The number of the tenure that takes them: from parts of earlier ones, begun or not.
        slot_grant: u16,
        /// Which.
        slots: Vec<u16>,
        /// From then on, counted from the beginning of the measured load.
        at: Nanos,
    },
    /// Nothing is started from this instant of our clock on, unless another one is named before.
    Lease(Nanos),
    /// The load is changed.
    Change(Change),
    /// Users of a scenario that wait for each other start, at this instant counted from the start of the run.
    Release {
        /// Which scenario.
        scenario: usize,
        /// When.
        at: Nanos,
    },
    /// Users that wait at a meeting go on.
    LetGo {
        /// The run.
        run: u64,
        /// Who does, and when.
        met: BarrierRelease,
    },
    /// Nothing more starts in this run, in this life; what is in flight has its time.
    Stop {
        /// Of this run, in this life.
        life: (u64, u32),
    },
    /// All of this run ends at once.
    Abort {
        /// The run.
        run: u64,
    },
    /// It does not take part in the run that it got ready for, which is known nowhere else.
    Refuse(Refusal),
    /// Nothing is needed of this run any more.
    Forget {
        /// The run.
        run: u64,
    },
    /// There is nothing more to do: whoever led has closed, or is gone for good.
    Close,
}

/// A part that a worker has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PartOf {
    /// Of this run.
    pub run: u64,
    /// In this life of the worker.
    pub incarnation: u32,
    /// Which of its parts.
    pub part: u16,
}
