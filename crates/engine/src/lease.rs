//! Until when starts are allowed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pacing::Nanos;

/// Until when a partition of a load may start something, on the clock of the run. The coordinator extends it again and
/// again; a partition that receives no extension starts nothing more. All partitions of an incarnation of a worker
/// share one.
#[derive(Clone, Debug)]
pub struct Lease(Arc<AtomicU64>);

impl Default for Lease {
    /// A lease that never ends.
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(u64::MAX)))
    }
}

impl Lease {
    /// A lease that ends at this instant.
    pub fn until(at: Nanos) -> Self {
        Self(Arc::new(AtomicU64::new(at.0)))
    }

    /// Extends it to then, unless a later instant was named before.
    pub fn extend(&self, until: Nanos) {
        self.0.fetch_max(until.0, Ordering::Relaxed);
    }

    /// Ends it at this instant, unless it ends before.
    pub fn cut(&self, at: Nanos) {
        self.0.fetch_min(at.0, Ordering::Relaxed);
    }

    /// The current end of the lease.
    pub fn end(&self) -> Nanos {
        Nanos(self.0.load(Ordering::Relaxed))
    }
}
