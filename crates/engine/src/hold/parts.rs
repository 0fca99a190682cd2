//! What partitions of held connections report.

use host::CpuTime;

use super::{MemoryUse, StoppedOpening};

/// Memory use of a partition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartMemory {
    /// Reported memory use.
    pub memory: MemoryUse,
    /// Identity of the machine: the kernel memory of one machine counts once.
    pub machine: String,
}

/// The end of a partition.
#[derive(Clone, Debug)]
pub struct HoldEnd {
    /// Number of threads.
    pub threads: usize,
    /// CPU time of its process.
    pub cpu: CpuTime,
    /// Counts of source addresses and of target endpoints.
    pub places: (usize, usize),
    /// Opening ended early.
    pub stopped_opening: Option<StoppedOpening>,
    /// The target requested a client certificate, and there was none.
    pub lacked_certificate: bool,
}
