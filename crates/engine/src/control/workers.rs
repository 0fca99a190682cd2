//! Those who have parts of a run elsewhere, as far as is known while it goes on.

use std::sync::{Arc, Mutex};

use crate::remote::WorkerResult;

/// All copies know the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Workers(Arc<Mutex<Arc<[WorkerResult]>>>);

impl Workers {
    /// So it is known now.
    pub(crate) fn tell(&self, workers: Vec<WorkerResult>) {
        *self.0.lock().expect("no holder of the lock panics") = workers.into();
    }

    /// The same, for whoever wants to know; nobody, where threads of this process have all of it.
    pub(super) fn all(&self) -> Arc<[WorkerResult]> {
        self.0.lock().expect("no holder of the lock panics").clone()
    }
}
