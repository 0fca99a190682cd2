//! What goes to and fro on a connection of WebSocket, or on a plain one of TCP.

use serde::{Deserialize, Serialize};

/// The most random bytes of a message.
pub const MESSAGE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The most addresses of ours that connections come from, and the most places they go to.
pub const PLACES_MAX: usize = 65_536;

/// One message, and where its answer ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Talk {
    /// What is sent, without a frame; none of those who only listen.
    pub message: Option<Message>,
    /// Where the answer ends.
    pub response: ResponseEnd,
    /// Of WebSocket: subprotocols that are offered, the dearest first.
    pub subprotocols: Vec<String>,
    /// Answers that fail the checks are passed over: it waits for one that does not.
    pub awaits: bool,
    /// Of WebSocket: compression is offered.
    pub offers_deflate: bool,
}

/// What is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// How it is framed.
    pub kind: MessageKind,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// It is `{"seq":"USER_NUMBER","cmd":"ping","data":{}}`, anew each time, and its answer says the same `seq`.
    pub is_numbered: bool,
}

/// How a message is framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageKind {
    /// Not at all.
    Plain,
    /// A text of WebSocket.
    Text,
    /// Bytes of WebSocket.
    Binary,
    /// A sign of life of WebSocket is asked for.
    Ping,
}

/// Where an answer ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResponseEnd {
    /// There is none.
    None,
    /// With a message of WebSocket; with a pong, if a ping was sent.
    Message,
    /// After so many bytes.
    Bytes(u64),
    /// Behind these bytes.
    Until(Vec<u8>),
    /// A number of so many bytes says how many follow it.
    LengthPrefix {
        /// Bytes of the number.
        width: u8,
        /// Its least significant byte comes first.
        is_little_endian: bool,
    },
}
