//! What parts of held connections tell.

use host::CpuTime;
use metrics::Held;

use super::{MemoryUse, StoppedOpening};

/// What a part takes of the memory of its machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartMemory {
    /// What it says.
    pub memory: MemoryUse,
    /// Which machine that is: what the kernel of one takes counts once.
    pub machine: String,
}

/// How a part ended.
#[derive(Clone, Debug)]
pub struct HoldEnd {
    /// What it saw and has not told.
    pub seen: Held,
    /// Threads that worked.
    pub threads: usize,
    /// CPU time of its process.
    pub cpu: CpuTime,
    /// Where its connections came from, and where they went: how many of each.
    pub places: (usize, usize),
    /// Opening ended early.
    pub stopped_opening: Option<StoppedOpening>,
    /// The target asked for a certificate of ours, and there was none.
    pub lacked_certificate: bool,
}
