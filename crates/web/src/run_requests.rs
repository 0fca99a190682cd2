//! Runs that are started from a page.

use std::sync::{Arc, Mutex, PoisonError};

use report::Language;
use tokio::sync::oneshot::Sender;

/// Somebody wants a run.
#[derive(Debug)]
pub struct Order {
    /// As words of the command line, without the name of the program.
    pub words: Vec<String>,
    /// Whoever ordered it reads this.
    pub language: Language,
    /// What became of it: it runs, or why it does not.
    pub response: Reply,
}

/// Who waits for the answer, until there is one.
type Waiting = Mutex<Option<Sender<Result<(), String>>>>;

/// The way back to whoever ordered a run. Only the first answer counts.
#[derive(Clone, Debug)]
pub struct Reply(Arc<Waiting>);

impl Reply {
    pub(crate) fn new(sender: Sender<Result<(), String>>) -> Self {
        Self(Arc::new(Mutex::new(Some(sender))))
    }

    /// Tells it.
    pub fn give(&self, response: Result<(), String>) {
        if let Some(sender) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // Whoever went away needs no answer.
            let _ = sender.send(response);
        }
    }
}
