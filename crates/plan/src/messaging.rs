//! Messages on a WebSocket connection, or on a plain TCP connection.

use serde::{Deserialize, Serialize};

use crate::CustomRequest;

/// The most random bytes of a message.
pub const MESSAGE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The most source addresses of connections, and the most endpoints.
pub const PLACES_MAX: usize = 65_536;

/// One message, and the end of its response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Messaging {
    /// The message, without a frame; `None` when the step only listens.
    pub message: Option<Message>,
    /// The end of the response.
    pub response: ResponseEnd,
    /// Of WebSocket: the offered subprotocols, in order of preference.
    pub subprotocols: Vec<String>,
    /// Whether responses that fail the checks are skipped: it waits for one that passes.
    pub awaits: bool,
    /// Of WebSocket: whether compression is offered.
    pub offers_deflate: bool,
    /// Of a custom protocol: the request. Then there is no message.
    pub custom: Option<Box<CustomRequest>>,
}

/// A message to send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Its framing.
    pub kind: MessageKind,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it is `{"seq":"USER_NUMBER","cmd":"ping","data":{}}`, anew each time, with a response of the same `seq`.
    pub is_numbered: bool,
}

/// The framing of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MessageKind {
    /// No framing.
    Plain,
    /// A WebSocket text message.
    Text,
    /// A WebSocket binary message.
    Binary,
    /// A WebSocket ping.
    Ping,
}

/// The end of a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ResponseEnd {
    /// There is no response.
    None,
    /// At the end of a WebSocket message; with a pong, if a ping was sent. Of a custom protocol: as it defines.
    Message,
    /// After this number of bytes.
    Bytes(u64),
    /// After these bytes.
    Until(Vec<u8>),
    /// After a length prefix, and the number of bytes that it gives.
    LengthPrefix {
        /// The bytes of the prefix.
        width: u8,
        /// Whether its least significant byte comes first.
        is_little_endian: bool,
    },
}
