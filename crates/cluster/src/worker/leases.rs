//! The leases of the parts of a worker: those of an incarnation have one, which an answer to a hello of a later one does
//! not extend.

use engine::Lease;
use pacing::Nanos;

/// The time in which all threads of a part have stopped, unless they stand still: others get its slots later than that.
const STOP_WITHIN: Nanos = Nanos::from_millis(100);

/// The lease of the parts of the current incarnation.
pub(crate) struct PartLease(Lease);

impl Default for PartLease {
    /// A lease that is over.
    fn default() -> Self {
        Self(Lease::until(Nanos::ZERO))
    }
}

impl PartLease {
    /// That of a part that begins now.
    pub(crate) fn of_part(&self) -> Lease {
        self.0.clone()
    }

    pub(crate) fn extend(&self, until: Nanos) {
        self.0.extend(until);
    }

    pub(crate) fn end(&self) -> Nanos {
        self.0.end()
    }

    /// The parts that have it belong to an older incarnation, and are to stop now: soon they own nothing. Those that
    /// come have another.
    pub(crate) fn pass_on(&mut self, now: Nanos) {
        #[cfg(test)]
        if crate::sim::fault_injected(crate::sim::Bug::SharedLease) {
            return;
        }
        let end = self.0.end();
        self.0.cut(now + STOP_WITHIN);
        self.0 = Lease::until(end);
    }
}
