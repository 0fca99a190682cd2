//! Updates from the leader.

use std::sync::Arc;

use pacing::Nanos;

use crate::protocol::{Checkpoint, News, Refusal};

/// An update from the leader.
#[derive(Clone, Debug, PartialEq)]
pub enum LeaderUpdate {
    /// We lead from now on.
    Leads,
    /// Another leader does.
    LostLeadership,
    /// Another leader has taken over our run.
    Replaced,
    /// The run that was to be taken over is over.
    Elsewhere,
    /// There is no leader with a run that could be taken over.
    NoRun,
    /// The number of present workers that could take part.
    Workers(usize),
    /// The run starts at this instant of our clock.
    Starts(Nanos),
    /// A running run was taken over: it started at this instant of our clock, or a little earlier.
    Resumes(Nanos),
    /// The run does not begin: a worker does not take part.
    Refused {
        /// Its name.
        worker: String,
        /// The reason.
        refusal: Refusal,
    },
    /// The run does not begin: too few workers are present.
    TooFew {
        /// The number of present workers.
        there: usize,
        /// The number of workers that did not report in time that they are ready.
        unready: usize,
    },
    /// A report of a member.
    News {
        /// The number of the member.
        member: u16,
        /// The report.
        news: Box<News>,
    },
    /// A member is silent, and was declared lost.
    Lost {
        /// The number of the member.
        member: u16,
        /// Whether its connection is closed, so it is gone.
        is_gone: bool,
        /// It has started nothing since then, counted from the beginning of the measured load.
        until: Nanos,
    },
    /// Many members fell silent at the same time, maybe because of the bus: none is declared lost for a while.
    Frozen,
    /// The bus does not take the reports of a member.
    NoRoom {
        /// The number of the member.
        member: u16,
    },
    /// All reports of a while were received this late.
    Behind(Nanos),
    /// Received reports are to be merged: see [`Leader::keep`](super::Leader::keep).
    WantsCheckpoint,
    /// A taken-over run begins with what was received before.
    Recalled(Arc<Checkpoint>),
    /// Entries are gone from the bus unread.
    Gap,
    /// Too few members are left, or an indispensable one was lost: the run ends.
    Fails {
        /// The number of members left.
        left: usize,
    },
    /// The run is over, and everything was reported.
    Over,
}
