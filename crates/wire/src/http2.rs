//! HTTP/2 (RFC 9113) as state machines over bytes, for the client ([`Client`]) and for the server ([`Server`]).
//!
//! `handle` parses the start of the received bytes and returns an event; acknowledgements, window updates and
//! everything else to be sent are appended to `out`. Both machines give the same events however the bytes were cut,
//! except for the pieces of a body. They store incomplete frames only, and no part of a body.

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

/// The client preface (RFC 9113, 3.4).
pub const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The largest accepted frame; a peer may send no larger one unless we allow it.
pub const FRAME_BYTES_MAX: usize = 16 * 1024;
/// The largest compressed header block, over all of its frames.
pub const BLOCK_BYTES_MAX: usize = 64 * 1024;
/// The largest header list: names and values, and 32 for each (RFC 9113, 6.5.2).
pub const LIST_BYTES_MAX: usize = 64 * 1024;
/// Maximum frames of one header block.
pub const CONTINUATIONS_MAX: u32 = 64;
/// Maximum interim responses (1xx) to one request.
pub const INTERIM_COUNT_MAX: u32 = 32;
/// Maximum consecutive frames without progress.
pub const IDLE_FRAMES_MAX: u32 = 10_000;
/// Maximum number of requests that a client may reset beyond the number that it lets complete.
pub const RAPID_RESETS_MAX: u32 = 1_000;
/// The receive window of a stream: bytes that a peer may send before we acknowledge them.
pub const STREAM_WINDOW: u32 = 16 << 20;
/// The receive window of the connection, for all streams together.
pub const CONNECTION_WINDOW: u32 = 1 << 30;
/// Concurrent streams that a server allows its client.
pub const SERVER_STREAMS_MAX: u32 = 1_000;
/// Concurrent streams of a client until the server's settings arrive.
const STREAMS_UNTIL_REPORTED: u32 = 100;
/// Remembered streams that we cancelled and whose last frames may still arrive.
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
    /// The connection does not begin as HTTP/2.
    #[error("the connection does not begin as HTTP/2 does")]
    Preface,
    /// A frame of a wrong size.
    #[error("a frame has a size that it must not have")]
    FrameSize,
    /// A frame on a stream that does not allow it.
    #[error("a frame is on a stream where it must not be")]
    FrameStream,
    /// The padding is longer than the frame.
    #[error("the padding is larger than its frame")]
    Padding,
    /// A header block is interrupted, or continued without having begun.
    #[error("a header block is interrupted or continued out of turn")]
    Continuation,
    /// A header block of more than [`CONTINUATIONS_MAX`] frames.
    #[error("a header block does not end")]
    ContinuationFlood,
    /// A header block that cannot be decompressed.
    #[error("a header block cannot be decompressed")]
    Compression,
    /// Fields beyond [`BLOCK_BYTES_MAX`] or, once decompressed, beyond [`LIST_BYTES_MAX`].
    #[error("the header list is too large")]
    HeadersTooLarge,
    /// Fields that a message must not have, or required ones that are missing.
    #[error("the header fields make no message")]
    Headers,
    /// More or less content than was announced.
    #[error("the content is not as long as Content-Length says")]
    ContentLength,
    /// More interim responses than [`INTERIM_COUNT_MAX`].
    #[error("too many interim (1xx) answers")]
    TooManyInterim,
    /// A setting with an invalid value.
    #[error("a setting has a value that it must not have")]
    Settings,
    /// A flow control window that was exceeded, or grew beyond its maximum.
    #[error("a flow-control window is exceeded or too large")]
    Window,
    /// A push promise, which is not allowed.
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
    /// Too many frames without progress: empty, priority, unknown, window updates.
    #[error("too many frames that bring nothing forward")]
    EmptyFlood,
}

/// A connection error; `out` contains the GOAWAY frame for the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct Error {
    /// The protocol error.
    pub fault: Fault,
    /// The error code that is sent to the peer.
    pub code: Code,
}

#[cfg(test)]
mod tests;
