//! HTTP/1.1 (RFC 9112) as state machines over bytes, for the client ([`Client`]) and for the server ([`Server`]).
//!
//! Call order, client: [`Client::start`] when the request is sent, [`Client::handle`] with each received piece until it
//! returns [`Response::End`] or fails, [`Client::handle_eof`] when the peer closes. Both machines give the same events
//! however the bytes were cut. Neither stores more than an incomplete head.

mod body;
mod client;
mod head;
mod server;
mod write;

pub use body::{BodyLength, dechunk};
pub use client::{Client, Ending, HeadMemory, Response};
pub use head::{RequestHead, ResponseHead, fields, unfold};
pub use server::{Server, ServerEvent};
pub use write::{ResponseStart, reason_phrase, render_request, write_response_head};

/// The version of a message. Others are refused as a bad start line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0: a connection closes unless both sides request keep-alive.
    Http10,
    /// HTTP/1.1: a connection stays open unless one side sends `close`.
    Http11,
}

impl Version {
    fn from_minor(minor: u8) -> Self {
        if minor == 0 { Self::Http10 } else { Self::Http11 }
    }

    /// The text in the start line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http10 => "HTTP/1.0",
            Self::Http11 => "HTTP/1.1",
        }
    }
}

/// The kind of a request, as far as it decides about the body of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// HEAD: the response has no body, whatever its fields say.
    Head,
    /// CONNECT: a 2xx opens a tunnel.
    Connect,
    /// Everything else.
    Other,
}

impl RequestKind {
    /// The kind of a method token; methods are case-sensitive (RFC 9110 9.1).
    pub fn from_method(method: &str) -> Self {
        match method {
            "HEAD" => Self::Head,
            "CONNECT" => Self::Connect,
            _ => Self::Other,
        }
    }
}

/// The most header fields in one head. nginx and Apache stop at about 100.
pub const HEADER_COUNT_MAX: usize = 128;

/// Limits against a peer whose message never ends.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most bytes of one head, and of all trailers together.
    pub head_bytes_max: usize,
    /// The most bytes of one chunk-size line with its extensions.
    pub chunk_line_bytes_max: usize,
    /// The most interim responses (1xx) before the final one.
    pub interim_count_max: u32,
}

/// 64 KiB of head is four times what common servers accept; a chunk line needs 16 digits, the rest is extensions.
pub const LIMITS: Limits = Limits { head_bytes_max: 64 * 1024, chunk_line_bytes_max: 4 * 1024, interim_count_max: 32 };

/// How the peer broke the protocol. The connection cannot be used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[repr(u8)]
pub enum ProtocolError {
    /// The first line is no status line or request line of HTTP/1.x.
    #[error("the start line is not HTTP/1.x")]
    StartLine,
    /// The peer speaks TLS: an alert or a handshake was received.
    #[error("the peer speaks TLS")]
    Tls,
    /// A header field with a bad name, a control byte or a bad line end.
    #[error("a header field is malformed")]
    Header,
    /// The head, or all trailers together, exceed [`Limits::head_bytes_max`].
    #[error("the head is too large")]
    HeadTooLarge,
    /// More header fields than [`HEADER_COUNT_MAX`].
    #[error("too many header fields")]
    TooManyHeaders,
    /// A Content-Length that is no number, or several that differ.
    #[error("Content-Length is not one number")]
    ContentLength,
    /// Content-Length and Transfer-Encoding at once.
    #[error("Content-Length and Transfer-Encoding at once")]
    AmbiguousLength,
    /// A Transfer-Encoding that does not frame the body.
    #[error("Transfer-Encoding is not usable")]
    TransferEncoding,
    /// A chunk size that is no hexadecimal number, or its line is malformed.
    #[error("a chunk size is malformed")]
    ChunkSize,
    /// A chunk-size line longer than [`Limits::chunk_line_bytes_max`].
    #[error("a chunk-size line is too long")]
    ChunkLineTooLong,
    /// Chunk data is not followed by CRLF.
    #[error("chunk data does not end where its size says")]
    ChunkEnd,
    /// A trailer field is malformed.
    #[error("a trailer field is malformed")]
    Trailer,
    /// 101 Switching Protocols without a request for an upgrade.
    #[error("101 Switching Protocols without a request for it")]
    UnexpectedUpgrade,
    /// More interim responses than [`Limits::interim_count_max`].
    #[error("too many interim (1xx) answers")]
    TooManyInterim,
    /// Bytes arrived while no response was pending.
    #[error("bytes that belong to no request")]
    Unsolicited,
    /// An HTTP/1.1 request without Host, or with several.
    #[error("a request needs exactly one Host")]
    Host,
}

#[cfg(test)]
mod tests;
