//! HTTP/2 (RFC 9113) as machines over bytes, for the client ([`Client`]) and for the server ([`Server`]).
//!
//! `handle` understands the front of what arrived and says what it meant; what has to go back, acknowledgements and window
//! updates, is added to `out`, as is all that is sent. Both machines give the same events however the bytes were cut, but for the
//! pieces of a body. They keep incomplete frames only, and nothing of a body.

mod client;
mod connection;
mod frame;
mod message;
mod request;
mod server;
mod streams;

pub use client::Client;
pub use connection::Event;
pub use request::Request;
pub use server::Server;

/// What a client sends first (RFC 9113, 3.4).
pub const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The largest frame that we take; nobody may send a larger one unless we say so.
pub const FRAME_BYTES_MAX: usize = 16 * 1024;
/// The largest block of fields, compressed, over all of its frames.
pub const BLOCK_BYTES_MAX: usize = 64 * 1024;
/// The largest list of fields: names and values, and 32 for each (RFC 9113, 6.5.2).
pub const LIST_BYTES_MAX: usize = 64 * 1024;
/// Frames over which a block of fields may spread.
pub const CONTINUATIONS_MAX: u32 = 64;
/// Interim answers (1xx) to one request.
pub const INTERIM_COUNT_MAX: u32 = 32;
/// Frames that bring nothing forward, one after the other.
pub const IDLE_FRAMES_MAX: u32 = 10_000;
/// Requests that a client takes back before they are answered, more than it lets be answered.
pub const RAPID_RESETS_MAX: u32 = 1_000;
/// What a peer may send on one stream before we have acknowledged it.
pub const STREAM_WINDOW: u32 = 16 << 20;
/// The same for all streams together.
pub const CONNECTION_WINDOW: u32 = 1 << 30;
/// Streams that a server lets its client have at a time.
pub const SERVER_STREAMS_MAX: u32 = 1_000;
/// Streams that a client has at a time until the server says how many there may be.
const STREAMS_UNTIL_REPORTED: u32 = 100;
/// Streams that we gave up and whose last frames may still come.
const CANCELLED_MAX: usize = 1_000;

/// Error codes (RFC 9113, 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is named as in the RFC")]
#[repr(u32)]
pub enum Code {
    NoError = 0,
    Protocol = 1,
    Internal = 2,
    FlowControl = 3,
    SettingsTimeout = 4,
    StreamClosed = 5,
    FrameSize = 6,
    RefusedStream = 7,
    Cancel = 8,
    Compression = 9,
    Connect = 10,
    EnhanceYourCalm = 11,
    InadequateSecurity = 12,
    Http11Required = 13,
}

/// How the peer broke the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[repr(u8)]
pub enum Fault {
    /// What comes first is not the beginning of HTTP/2.
    #[error("the connection does not begin as HTTP/2 does")]
    Preface,
    /// A frame of a wrong size.
    #[error("a frame has a size that it must not have")]
    FrameSize,
    /// A frame on a stream where it must not be.
    #[error("a frame is on a stream where it must not be")]
    FrameStream,
    /// More padding than frame.
    #[error("the padding is larger than its frame")]
    Padding,
    /// A block of fields is interrupted, or continued without having begun.
    #[error("a header block is interrupted or continued out of turn")]
    Continuation,
    /// A block of fields over more than [`CONTINUATIONS_MAX`] frames.
    #[error("a header block does not end")]
    ContinuationFlood,
    /// A block of fields that cannot be decompressed.
    #[error("a header block cannot be decompressed")]
    Compression,
    /// Fields beyond [`BLOCK_BYTES_MAX`] or, once decompressed, beyond [`LIST_BYTES_MAX`].
    #[error("the header list is too large")]
    HeadersTooLarge,
    /// Fields that a message must not have, or lacks.
    #[error("the header fields make no message")]
    Headers,
    /// More or less content than was announced.
    #[error("the content is not as long as Content-Length says")]
    ContentLength,
    /// More interim answers than [`INTERIM_COUNT_MAX`].
    #[error("too many interim (1xx) answers")]
    TooManyInterim,
    /// A setting with an impossible value.
    #[error("a setting has a value that it must not have")]
    Settings,
    /// A window that was exceeded, or grew beyond its bound.
    #[error("a flow-control window is exceeded or too large")]
    Window,
    /// A promise that nobody allowed.
    #[error("a push that was not allowed")]
    Push,
    /// Too many pings.
    #[error("too many pings")]
    PingFlood,
    /// Too many settings.
    #[error("too many settings")]
    SettingsFlood,
    /// Too many resets.
    #[error("too many resets")]
    ResetFlood,
    /// Too many frames that mean nothing: empty, of priority, unknown, of windows.
    #[error("too many frames that bring nothing forward")]
    EmptyFlood,
}

/// The connection is lost; `out` holds the frame that says so to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct Error {
    /// What was wrong.
    pub fault: Fault,
    /// What the peer is told.
    pub code: Code,
}

#[cfg(test)]
mod tests;
