//! Usage of threads: CPU time, and time without a core.

use metrics::{Distribution, Snapshot};
use pacing::Nanos;

/// Usage of the thread of one shard.
#[derive(Clone, Debug, Default)]
pub struct ThreadUsage {
    /// CPU time.
    pub cpu_ns: u64,
    /// Run delay: time that it was ready to run and had no core.
    pub run_delay_ns: u64,
    /// Time in which it was active.
    pub span_ns: u64,
    /// Time in intervals in which it needed a whole core, or nearly.
    pub saturated_ns: u64,
    /// Time in which its loop was stalled though something was due.
    pub stalled_ns: u64,
    /// Lag of its loop at evenly spaced ticks.
    pub lag: Distribution,
}

/// A thread that needs this share of a core has no time left for bursts.
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

    /// The share of a core that it needed, had or not.
    pub fn wanted_share(&self) -> f64 {
        self.share_of_span(self.cpu_ns + self.run_delay_ns)
    }

    /// The share of its time in which it was ready and had no core.
    pub fn run_delay_share(&self) -> f64 {
        self.share_of_span(self.run_delay_ns)
    }

    /// The share of its time in which its loop was stalled though something was due.
    pub fn stalled_share(&self) -> f64 {
        self.share_of_span(self.stalled_ns)
    }

    /// The share of its time in which it needed a whole core, or nearly.
    pub fn saturated_share(&self) -> f64 {
        self.share_of_span(self.saturated_ns)
    }

    fn share_of_span(&self, part_ns: u64) -> f64 {
        part_ns as f64 / self.span_ns.max(1) as f64
    }
}
