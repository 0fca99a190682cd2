//! What is asked of a bus, and what comes of it, as data: leader and worker are machines that know no socket. A token is the asker's own; what
//! comes of something has the token that it was asked with. Anything may be lost, and then nothing comes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Bytes that may be on several ways.
pub type Bytes = Arc<[u8]>;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BusCommand {
    /// To all who listen to a subject now.
    Publish {
        /// The subject.
        subject: String,
        /// The message.
        payload: Bytes,
    },
    /// To one who listens, for an answer.
    Request {
        /// Its token.
        token: u64,
        /// The subject.
        subject: String,
        /// The message.
        payload: Bytes,
    },
    /// An answer to a request.
    Reply {
        /// Where it goes.
        to: String,
        /// The message.
        payload: Bytes,
    },
    /// What stands under a key.
    Get {
        /// Its token.
        token: u64,
        /// The key.
        key: String,
    },
    /// Writes a key, if its revision is still this one; 0 for one that is not there. `None`: whatever stands there.
    Put {
        /// Its token.
        token: u64,
        /// The key.
        key: String,
        /// The revision that it must have.
        revision: Option<u64>,
        /// What it says from then on.
        value: Bytes,
    },
    /// Behind all that is in the stream, unless an entry with the same name is there.
    Append {
        /// Its token.
        token: u64,
        /// The name of the entry.
        name: String,
        /// The entry.
        payload: Bytes,
    },
    /// All entries of the stream, from this one on, as they come; the first is 1.
    Follow {
        /// The first that is wanted.
        from: u64,
    },
    /// Entries up to this one are needed no more.
    Forget {
        /// The last of them.
        upto: u64,
    },
    /// Keeps something large under a name.
    Store {
        /// Its token.
        token: u64,
        /// The name.
        name: String,
        /// The bytes.
        object: Bytes,
    },
    /// What is kept under a name is needed no more.
    Drop {
        /// The name.
        name: String,
    },
    /// Gets it.
    Fetch {
        /// Its token.
        token: u64,
        /// The name.
        name: String,
    },
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refused {
    /// The key has another revision.
    Conflict,
    /// Nobody listens.
    Nobody,
    /// There is no room for it.
    Full,
    /// The bus says no, for this reason.
    Other(String),
}

/// What comes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BusEvent {
    /// A message to a subject.
    Message {
        /// The subject.
        subject: String,
        /// The message.
        payload: Bytes,
        /// Where an answer goes, if one is wanted.
        response_to: Option<String>,
    },
    /// An answer to a request.
    Answered {
        /// Of the request.
        token: u64,
        /// The answer.
        response: Result<Bytes, Refused>,
    },
    /// What stands under a key, and its revision; `None`: nothing.
    Got {
        /// Of the question.
        token: u64,
        /// The key.
        key: String,
        /// What it says.
        value: Option<(u64, Bytes)>,
    },
    /// Whether a key was written, and its revision now.
    Written {
        /// Of the writing.
        token: u64,
        /// What came of it.
        result: Result<u64, Refused>,
    },
    /// A key says something else now.
    Changed {
        /// The key.
        key: String,
        /// Its revision; 0 when it is not said.
        revision: u64,
        /// What it says.
        value: Bytes,
    },
    /// An entry is in the stream; one that had been there before too.
    Appended {
        /// Of the entry.
        token: u64,
        /// Its place in the stream.
        result: Result<u64, Refused>,
    },
    /// Entries come from this place on: those before it are gone.
    Follows {
        /// The first that comes.
        from: u64,
    },
    /// An entry of the stream.
    Entry {
        /// Its place.
        place: u64,
        /// The entry.
        payload: Bytes,
    },
    /// Something large was kept.
    Stored {
        /// Of it.
        token: u64,
        /// Whether it was.
        result: Result<(), Refused>,
    },
    /// Something large; `None`: it is not there.
    Fetched {
        /// Of the question.
        token: u64,
        /// The bytes.
        object: Option<Bytes>,
    },
    /// The bus is there, or there again.
    Connected,
    /// The bus cannot be reached.
    Disconnected,
}

/// The key of who leads.
pub const LEADER: &str = "leader";
/// The key of what is to be done.
pub const STATE: &str = "state";
/// The subject on which a leader is asked: it answers while it leads.
pub fn asking(leader: u64) -> String {
    format!("onrush.lead.{leader:016x}")
}

/// The subject on which a worker can be asked whether it is there.
pub fn presence(worker: u64) -> String {
    format!("onrush.there.{worker:016x}")
}

/// Takes what comes; false when nobody wants more.
pub type Inbox = Box<dyn Fn(BusEvent) -> bool + Send>;

/// A way to a bus. What comes of what is asked comes by an [`Inbox`].
pub trait Bus: Send {
    /// Asks for something. It never waits for an answer.
    fn ask(&mut self, verb: BusCommand);
}
