//! The remote workers of a run, as far as is known during it.

use std::sync::{Arc, Mutex};

use crate::remote::WorkerResult;

/// All copies share the same list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workers(Arc<Mutex<Arc<[WorkerResult]>>>);

impl Workers {
    /// Replaces the list.
    pub(crate) fn notify(&self, workers: Vec<WorkerResult>) {
        *self.0.lock().expect("no holder of the lock panics") = workers.into();
    }

    /// The current list; empty where threads of this process run all of it.
    pub(super) fn all(&self) -> Arc<[WorkerResult]> {
        self.0.lock().expect("no holder of the lock panics").clone()
    }
}
