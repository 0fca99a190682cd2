//! The close codes of WebSocket, each with a counter.

/// The number of close codes of the WebSocket protocol, from 1000 (RFC 6455, 7.4.1). That of a close without a code is
/// among them: 1005.
const CLOSES_OF_PROTOCOL: usize = 16;
/// The number of close codes for libraries and applications, from 3000 (RFC 6455, 7.4.2).
const CLOSES_OF_OTHERS: usize = 2_000;
/// The number of counters for closes.
pub(super) const CLOSE_COUNT: usize = CLOSES_OF_PROTOCOL + CLOSES_OF_OTHERS;
/// The code that stands for a close without a code.
pub const CLOSE_WITHOUT_CODE: u16 = 1_005;

/// The counter of a close with this code; a code that must not be sent counts as none.
pub(super) fn close_index(code: u16) -> usize {
    match code {
        1_000..=1_015 => usize::from(code - 1_000),
        3_000..=4_999 => CLOSES_OF_PROTOCOL + usize::from(code - 3_000),
        _ => usize::from(CLOSE_WITHOUT_CODE - 1_000),
    }
}

/// The code of a counter.
pub(super) fn close_of_index(index: usize) -> u16 {
    (if index < CLOSES_OF_PROTOCOL { 1_000 + index } else { 3_000 + index - CLOSES_OF_PROTOCOL }) as u16
}
