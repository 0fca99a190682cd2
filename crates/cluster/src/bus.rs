//! Commands to a bus and events from it, as data: leader and worker are state machines without sockets. A token is
//! chosen by the caller; the event that completes a command has the command's token. Any message may be lost, and then
//! no event comes.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Bytes that may be shared by several messages.
pub type Bytes = Arc<[u8]>;

/// A command to a bus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BusCommand {
    /// Sends a message to all current subscribers of a subject.
    Publish {
        /// The subject.
        subject: String,
        /// The message.
        payload: Bytes,
    },
    /// Sends a message to one subscriber, for a reply.
    Request {
        /// The token of the request.
        token: u64,
        /// The subject.
        subject: String,
        /// The message.
        payload: Bytes,
    },
    /// Replies to a request.
    Reply {
        /// The reply address.
        to: String,
        /// The message.
        payload: Bytes,
    },
    /// Reads the value of a key.
    Get {
        /// The token of the read.
        token: u64,
        /// The key.
        key: String,
    },
    /// Writes a key if it still has this revision; 0 for a key that does not exist. `None`: unconditionally.
    Put {
        /// The token of the write.
        token: u64,
        /// The key.
        key: String,
        /// The revision that the key must have.
        revision: Option<u64>,
        /// The new value.
        value: Bytes,
    },
    /// Appends an entry to the stream, unless it has an entry of the same name.
    Append {
        /// The token of the append.
        token: u64,
        /// The name of the entry.
        name: String,
        /// The entry.
        payload: Bytes,
    },
    /// Delivers all entries of the stream from this one on, as they come; the first is 1.
    Follow {
        /// The first entry to deliver.
        from: u64,
    },
    /// Releases the entries up to this one.
    Forget {
        /// The last released entry.
        upto: u64,
    },
    /// Stores a large object under a name.
    Store {
        /// The token of the command.
        token: u64,
        /// The name.
        name: String,
        /// The bytes.
        object: Bytes,
    },
    /// Deletes the object of a name.
    Drop {
        /// The name.
        name: String,
    },
    /// Fetches the object of a name.
    Fetch {
        /// The token of the command.
        token: u64,
        /// The name.
        name: String,
    },
}

/// Why a command failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refused {
    /// The key has another revision.
    Conflict,
    /// The subject has no subscriber.
    Nobody,
    /// The bus has no room.
    Full,
    /// Another reason, as the bus gives it.
    Other(String),
}

/// An event from a bus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BusEvent {
    /// A message on a subject.
    Message {
        /// The subject.
        subject: String,
        /// The message.
        payload: Bytes,
        /// The reply address, if a reply is wanted.
        response_to: Option<String>,
    },
    /// A reply to a request.
    Answered {
        /// The token of the request.
        token: u64,
        /// The reply.
        response: Result<Bytes, Refused>,
    },
    /// The value of a key and its revision; `None`: the key does not exist.
    Got {
        /// The token of the read.
        token: u64,
        /// The key.
        key: String,
        /// The revision and the value.
        value: Option<(u64, Bytes)>,
    },
    /// Whether a key was written, and its revision now.
    Written {
        /// The token of the write.
        token: u64,
        /// The new revision, or why it failed.
        result: Result<u64, Refused>,
    },
    /// A key has a new value.
    Changed {
        /// The key.
        key: String,
        /// Its revision; 0 when unknown.
        revision: u64,
        /// The new value.
        value: Bytes,
    },
    /// An entry is in the stream; also for a duplicate.
    Appended {
        /// The token of the append.
        token: u64,
        /// Its position in the stream.
        result: Result<u64, Refused>,
    },
    /// Entries are delivered from this position on: those before it are gone.
    Follows {
        /// The position of the first delivered entry.
        from: u64,
    },
    /// An entry of the stream.
    Entry {
        /// Its position.
        place: u64,
        /// The entry.
        payload: Bytes,
    },
    /// A large object was stored, or not.
    Stored {
        /// The token of the command.
        token: u64,
        /// Whether it was stored.
        result: Result<(), Refused>,
    },
    /// A large object; `None`: it does not exist.
    Fetched {
        /// The token of the command.
        token: u64,
        /// The bytes.
        object: Option<Bytes>,
    },
    /// The bus is connected, or connected again.
    Connected,
    /// The bus cannot be reached.
    Disconnected,
}

/// The key of the leader.
pub const LEADER: &str = "leader";
/// The key of the run state.
pub const STATE: &str = "state";
/// The subject of requests to a leader; it replies while it leads.
pub fn asking(leader: u64) -> String {
    format!("onrush.lead.{leader:016x}")
}

/// The subject on which a worker can be pinged.
pub fn presence(worker: u64) -> String {
    format!("onrush.there.{worker:016x}")
}

/// A sink of bus events; returns false when no more are wanted.
pub type Inbox = Box<dyn Fn(BusEvent) -> bool + Send>;

/// A connection to a bus. The events that follow come through an [`Inbox`].
pub trait Bus: Send {
    /// Sends a command. Never blocks.
    fn ask(&mut self, verb: BusCommand);
}
