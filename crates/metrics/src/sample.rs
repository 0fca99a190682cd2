//! Exchanges that are kept as they went, so that a person sees what a check saw.

use crate::Outcome;

/// Failed answers that are kept.
pub const SAMPLES_MAX: usize = 10;
/// So much of the body of each.
pub const SAMPLE_BODY_BYTES_MAX: usize = 1024;

/// Exchanges that are shown whatever they say: the steps of the largest file of commands, with room for redirects.
pub const SHOWN_MAX: usize = 2_000;

/// An exchange as it went.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// When it ended, on the clock of the run.
    pub at_ns: u64,
    /// Index of its step in the plan.
    pub step: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// The status, where there is one.
    pub status: u16,
    /// What failed, in the words of the check.
    pub reason: String,
    /// Whom it went to: host and port.
    pub place: String,
    /// Redirects that led to it, one line each, and its own method and URL; empty where none did.
    pub way: Vec<String>,
    /// What went over the wire, in its order.
    pub parts: Vec<Part>,
    /// Bytes that found no room among the parts.
    pub left_out: u64,
    /// From intended to sent; nothing where it did not come to it.
    pub wait_ns: Option<u64>,
    /// From sent to the first byte.
    pub first_byte_ns: Option<u64>,
    /// From sent to the last byte.
    pub service_ns: Option<u64>,
    /// It is shown to a person, whatever it says.
    pub is_shown: bool,
}

/// Something that went over the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// We sent it.
    pub is_ours: bool,
    /// What it is.
    pub kind: PartKind,
    /// Its bytes, or their beginning.
    pub bytes: Vec<u8>,
}

/// What went over the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// A start line with the fields behind it, or as much of them as came.
    Head,
    /// Content, without its coding where that is known.
    Body,
    /// Fields behind a body.
    Trailers,
    /// A whole message: of WebSocket, TCP or gRPC.
    Message,
    /// What is said between messages of WebSocket, as a line of text.
    Control,
    /// What came and could not be understood.
    Raw,
    /// A value that was taken from the answer: the name, a space, and the value as JSON.
    Taken,
}

/// Exchanges that are kept by themselves, at most: 64 bytes each.
pub const ROWS_MAX: usize = 10_000_000;

/// An exchange by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// When it was intended, on the clock of the run.
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
    /// 0 for none.
    pub status: u16,
    /// A whole answer came.
    pub is_answered: bool,
}
