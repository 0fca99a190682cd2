//! Answers that are kept as they came, so that a person sees what a check saw.

use crate::Outcome;

/// Failed answers that are kept.
pub const SAMPLES_MAX: usize = 10;
/// So much of the body of each.
pub const SAMPLE_BODY_BYTES_MAX: usize = 1024;

/// An answer as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// When its exchange ended, on the clock of the run.
    pub at_ns: u64,
    /// Index of its step in the plan.
    pub step: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// The status, where there is one.
    pub status: u16,
    /// What failed, in the words of the check.
    pub reason: String,
    /// The request as text of HTTP/1, where it is shown.
    pub request: Vec<u8>,
    /// The head.
    pub head: Vec<u8>,
    /// The beginning of the body, without its coding where that is known.
    pub body: Vec<u8>,
    /// From intended to sent; nothing where it did not come to it.
    pub wait_ns: Option<u64>,
    /// From sent to the first byte.
    pub first_byte_ns: Option<u64>,
    /// From sent to the last byte.
    pub service_ns: Option<u64>,
    /// It is shown to a person, whatever it says.
    pub is_shown: bool,
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
