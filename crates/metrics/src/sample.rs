//! Recorded exchanges, so that a user sees what a check saw.

use crate::Outcome;

/// The most failed responses that are recorded.
pub const SAMPLES_MAX: usize = 10;
/// The most body bytes recorded of each.
pub const SAMPLE_BODY_BYTES_MAX: usize = 1024;

/// The most exchanges that are shown regardless of their outcome: the steps of the largest file of commands, with room
/// for redirects.
pub const SHOWN_MAX: usize = 2_000;

/// A recorded exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The instant of its end, on the clock of the run.
    pub at_ns: u64,
    /// Index of its step in the plan.
    pub step: u32,
    /// Its outcome.
    pub outcome: Outcome,
    /// The status, where there is one.
    pub status: u16,
    /// The failure, in the words of the check.
    pub reason: String,
    /// Its host and port.
    pub place: String,
    /// The redirects that led to it, one line each, and its own method and URL; empty without redirects.
    pub way: Vec<String>,
    /// The data on the wire, in order.
    pub parts: Vec<Part>,
    /// Bytes for which there was no room among the parts.
    pub left_out: u64,
    /// From intended to sent; `None` where it was not sent.
    pub wait_ns: Option<u64>,
    /// From sent to the first byte.
    pub first_byte_ns: Option<u64>,
    /// From sent to the last byte.
    pub service_ns: Option<u64>,
    /// Whether it is shown to the user regardless of its outcome.
    pub is_shown: bool,
}

/// A piece of data on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Whether we sent it.
    pub is_ours: bool,
    /// The kind of the data.
    pub kind: PartKind,
    /// Its bytes, or their beginning.
    pub bytes: Vec<u8>,
}

/// The kind of data on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A start line with the fields after it, or the part of them that arrived.
    Head,
    /// Content, decoded where the coding is known.
    Body,
    /// Fields after a body.
    Trailers,
    /// A whole message: of WebSocket, TCP or gRPC.
    Message,
    /// A WebSocket control frame, as a line of text.
    Control,
    /// Data that could not be parsed.
    Raw,
    /// A value that was extracted from the response: the name, a space, and the value as JSON.
    Taken,
}

/// The most rows of single exchanges: 64 bytes each.
pub const ROWS_MAX: usize = 10_000_000;

/// The row of a single exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The intended instant, on the clock of the run.
    pub start_ns: u64,
    /// From taken up to sent: connecting.
    pub wait_ns: u64,
    /// From sent to the first byte.
    pub first_byte_ns: u64,
    /// From sent to done.
    pub service_ns: u64,
    /// From intended to done.
    pub response_ns: u64,
    /// Bytes of its body.
    pub bytes: u64,
    /// The status; 0 for none.
    pub status: u16,
    /// Whether a whole response came.
    pub is_answered: bool,
}
