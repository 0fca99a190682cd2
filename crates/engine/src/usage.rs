//! What threads spend, and what they wanted.

use metrics::{Distribution, Snapshot};
use pacing::Nanos;

/// What the thread of one shard spent.
#[derive(Clone, Debug, Default)]
pub struct ThreadUsage {
    /// CPU time.
    pub cpu_ns: u64,
    /// Time that it was ready to run and had no core.
    pub run_delay_ns: u64,
    /// Time in which it worked.
    pub span_ns: u64,
    /// Time in intervals in which it wanted a whole core, or nearly.
    pub saturated_ns: u64,
    /// Time in which its loop stood still though something was due.
    pub stalled_ns: u64,
    /// How late its loop came to ticks that are evenly spaced.
    pub lag: Distribution,
}

/// A thread that wants this share of a core has no time left for what comes unevenly.
const SATURATED_SHARE: f64 = 0.95;

impl ThreadUsage {
    pub(crate) fn add(&mut self, span: Nanos, seen: &Snapshot) {
        let wanted = seen.cpu_ns + seen.run_delay_ns;
        let is_saturated = wanted as f64 >= SATURATED_SHARE * span.0 as f64;
        self.cpu_ns += seen.cpu_ns;
        self.run_delay_ns += seen.run_delay_ns;
        self.span_ns += span.0;
        self.saturated_ns += if is_saturated { span.0 } else { 0 };
        self.stalled_ns += seen.stalled_ns;
        self.lag.merge(&seen.lag);
    }

    /// CPU time as a share of a core.
    pub fn cpu_share(&self) -> f64 {
        self.share_of_span(self.cpu_ns)
    }

    /// What it wanted of a core, had or not.
    pub fn wanted_share(&self) -> f64 {
        self.share_of_span(self.cpu_ns + self.run_delay_ns)
    }

    /// The share of its time in which it was ready and had no core.
    pub fn run_delay_share(&self) -> f64 {
        self.share_of_span(self.run_delay_ns)
    }

    /// The share of its time in which its loop stood still though something was due.
    pub fn stalled_share(&self) -> f64 {
        self.share_of_span(self.stalled_ns)
    }

    /// The share of its time in which it wanted a whole core, or nearly.
    pub fn saturated_share(&self) -> f64 {
        self.share_of_span(self.saturated_ns)
    }

    fn share_of_span(&self, part_ns: u64) -> f64 {
        part_ns as f64 / self.span_ns.max(1) as f64
    }
}
