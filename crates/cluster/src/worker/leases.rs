//! The leases of the parts of a worker: those of an incarnation have one, which an answer to a hello of a later one does
//! not extend.

use engine::Lease;
use pacing::Nanos;

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

    /// The parts that have it belong to an older incarnation: they own nothing that is due after `at`. Those that come
    /// have another.
    pub(crate) fn pass_on(&mut self, at: Nanos) {
        #[cfg(test)]
        if crate::sim::fault_injected(crate::sim::Bug::SharedLease) {
            return;
        }
        let end = self.0.end();
        self.0.cut(at);
        self.0 = Lease::until(end);
    }
}
