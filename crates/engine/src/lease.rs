//! Until when something may be started.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pacing::Nanos;

/// Until when a part of a load may start something, on the clock of the run: whoever has it says so again and again, and who hears nothing
/// more starts nothing more. All parts of a worker share one.
#[derive(Clone, Debug)]
pub struct Lease(Arc<AtomicU64>);

impl Default for Lease {
    /// One that never ends.
    fn default() -> Self {
        Self(Arc::new(AtomicU64::new(u64::MAX)))
    }
}

impl Lease {
    /// One that ends at this instant.
    pub fn until(at: Nanos) -> Self {
        Self(Arc::new(AtomicU64::new(at.0)))
    }

    /// It ends then, unless a later instant was named before.
    pub fn extend(&self, until: Nanos) {
        self.0.fetch_max(until.0, Ordering::Relaxed);
    }

    /// When it ends.
    pub fn end(&self) -> Nanos {
        Nanos(self.0.load(Ordering::Relaxed))
    }
}
