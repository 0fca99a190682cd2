//! The service of a custom protocol: which protocols have one, and that of a thread.

use plan::did_you_mean;
use protocol::{Protocol, Replies, Service};

/// Why a protocol cannot be served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The program has no protocol with this name.
    #[error("there is no protocol '{name}': {}", remedy(*near, known))]
    Unknown {
        /// The name.
        name: String,
        /// The name that was probably meant.
        near: Option<&'static str>,
        /// The protocols that can be served.
        known: Vec<&'static str>,
    },
    /// The protocol is there for loads only.
    #[error("the protocol '{name}' has no server: {}", remedy(None, known))]
    NoServer {
        /// The name.
        name: String,
        /// The protocols that can be served.
        known: Vec<&'static str>,
    },
}

fn remedy(near: Option<&str>, known: &[&str]) -> String {
    match near {
        Some(near) => format!("did you mean '{near}'? Known are {}", known.join(", ")),
        None if known.is_empty() => "this program can serve none; leave it out".to_owned(),
        None => format!("choose one of {}", known.join(", ")),
    }
}

/// The protocol of a name, if it can be served.
pub(crate) fn served(name: &str) -> Result<&'static dyn Protocol, ProtocolError> {
    let has_server = |protocol: &&'static dyn Protocol| protocol.serve().is_some();
    let known = || {
        let served = protocol::registered().iter().copied().filter(has_server);
        served.map(|protocol| protocol.about().name).collect::<Vec<_>>()
    };
    match protocol::by_name(name) {
        Some(protocol) if has_server(&protocol) => Ok(protocol),
        Some(_) => Err(ProtocolError::NoServer { name: name.to_owned(), known: known() }),
        None => {
            let known = known();
            Err(ProtocolError::Unknown {
                name: name.to_owned(),
                near: did_you_mean(name, known.iter().copied()),
                known,
            })
        }
    }
}

/// The service of a thread, and its replies to the event that is being handled.
pub(crate) struct CustomService {
    pub(crate) service: Box<dyn Service>,
    pub(crate) replies: Replies,
}

impl CustomService {
    pub(crate) fn new(service: Box<dyn Service>) -> Self {
        Self { service, replies: Replies::default() }
    }

    /// Takes the replies, if there are any.
    pub(crate) fn take_replies(&mut self) -> Option<Replies> {
        let has_any = !(self.replies.sent.is_empty() && self.replies.closed.is_empty());
        has_any.then(|| std::mem::take(&mut self.replies))
    }

    /// Stores the memory of replies that were sent, for the next ones.
    pub(crate) fn reuse(&mut self, mut replies: Replies) {
        replies.sent.clear();
        replies.closed.clear();
        self.replies = replies;
    }
}
