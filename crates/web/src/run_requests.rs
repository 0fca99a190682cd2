//! Runs that are started from a page.

use std::sync::{Arc, Mutex, PoisonError};

use report::Language;
use tokio::sync::oneshot::Sender;

/// The order of a run.
#[derive(Debug)]
pub struct RunRequest {
    /// The words of the command line, without the name of the program.
    pub words: Vec<String>,
    /// The language of the user.
    pub language: Language,
    /// The way to respond: it runs, or why it does not.
    pub response: Reply,
}

/// The pending response, until it is given.
type Waiting = Mutex<Option<Sender<Result<(), String>>>>;

/// The response channel of an order. Only the first response counts.
#[derive(Clone, Debug)]
pub struct Reply(Arc<Waiting>);

impl Reply {
    pub(crate) fn new(sender: Sender<Result<(), String>>) -> Self {
        Self(Arc::new(Mutex::new(Some(sender))))
    }

    /// Gives the response.
    pub fn give(&self, response: Result<(), String>) {
        if let Some(sender) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // The client may be gone.
            let _ = sender.send(response);
        }
    }
}
