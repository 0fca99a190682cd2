//! What whoever leads is told.

use std::sync::Arc;

use pacing::Nanos;

use crate::protocol::{Checkpoint, News, Refusal};

/// What is told.
#[derive(Clone, Debug, PartialEq)]
pub enum LeaderUpdate {
    /// We lead from now on.
    Leads,
    /// Somebody else does.
    Deposed,
    /// Somebody else has taken over what we led.
    Replaced,
    /// The run that was to be taken over is over.
    Elsewhere,
    /// Nobody leads a run that could be taken over.
    NoRun,
    /// So many workers are there that could take part.
    Workers(usize),
    /// The run starts at this instant of our clock.
    Starts(Nanos),
    /// A run that goes on was taken over: it started at this instant of our clock, or a little earlier.
    Resumes(Nanos),
    /// It does not begin: somebody does not take part.
    Refused {
        /// What it is called.
        worker: String,
        /// Why.
        refusal: Refusal,
    },
    /// It does not begin: too few are there.
    TooFew {
        /// So many.
        there: usize,
        /// So many did not say in time that they are ready.
        unready: usize,
    },
    /// Somebody has told this.
    News {
        /// The number of the member.
        member: u16,
        /// What it told.
        news: Box<News>,
    },
    /// Somebody is silent, and was given up.
    Lost {
        /// The number of the member.
        member: u16,
        /// Its connection is closed, so it is gone.
        is_gone: bool,
        /// It has started nothing since, whatever it did: counted from the beginning of the measured load.
        until: Nanos,
    },
    /// So many of them fell silent at the same time that it may be the bus: nobody is given up for a while.
    Frozen,
    /// The bus does not take what somebody has to tell.
    NoRoom {
        /// The number of the member.
        member: u16,
    },
    /// All that was heard of workers for a while was so old.
    Behind(Nanos),
    /// What was heard by now is to be put together: see [`Leader::keep`](super::Leader::keep).
    WantsCheckpoint,
    /// A run that was taken over begins with what was heard before.
    Recalled(Arc<Checkpoint>),
    /// What somebody told is gone from the bus, and nobody has read it.
    Gap,
    /// Too few are left, or one was lost that must not be: the run ends.
    Fails {
        /// So many are left.
        left: usize,
    },
    /// All of it is over, and everything was told.
    Over,
}
