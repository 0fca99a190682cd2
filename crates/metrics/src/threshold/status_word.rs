//! The status of a threshold where it is a word: `status(WRONGTYPE) / responses < 1%`.

use crate::{Counts, GRPC_STATUSES, STATUS_WORD_BYTES_MAX};

/// A word of letters, digits, `-` and `_`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatusWord {
    /// Zeros after its end.
    bytes: [u8; STATUS_WORD_BYTES_MAX],
}

impl StatusWord {
    /// Whether a character can be part of one.
    pub(super) fn has(character: char) -> bool {
        character.is_ascii_alphanumeric() || character == '-' || character == '_'
    }

    /// The word of a text; `None` where it is no word, or a number.
    pub(super) fn new(text: &str) -> Option<Self> {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let mut bytes = [0; STATUS_WORD_BYTES_MAX];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        (!is_number && text.chars().all(Self::has)).then_some(Self { bytes })
    }

    fn text(&self) -> &str {
        let length = self.bytes.iter().position(|byte| *byte == 0).unwrap_or(STATUS_WORD_BYTES_MAX);
        str::from_utf8(&self.bytes[..length]).unwrap_or_default()
    }

    /// Its count: of responses, and of calls if a status of gRPC has this name.
    pub(super) fn count(self, counts: &Counts) -> u64 {
        let word = self.text();
        let of_grpc = GRPC_STATUSES.iter().position(|known| known.eq_ignore_ascii_case(word));
        counts.status_word(word) + of_grpc.map_or(0, |at| counts.grpc_statuses[at])
    }
}

/// The count of a status that is a number. A custom protocol has it as text.
pub(super) fn count_number(status: u16, counts: &Counts) -> u64 {
    let of_http = counts.statuses.get(usize::from(status)).copied().unwrap_or(0);
    of_http + counts.status_word(&status.to_string())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::{Counter, Snapshot, Threshold, ThresholdFault};

    fn seen() -> Snapshot {
        let mut seen = Snapshot::default();
        (seen.counts[Counter::Started], seen.counts[Counter::Responses]) = (100, 80);
        (seen.counts.statuses[404], seen.counts.grpc_statuses[5]) = (1, 2);
        for (word, count) in [("NOT_FOUND", 4), ("WRONGTYPE", 8), ("404", 16), ("not-found", 32), ("", 64)] {
            seen.counts.count_status_word(word, count);
        }
        seen
    }

    #[test]
    fn a_status_is_a_number_or_a_word() {
        for (text, value) in [
            ("status(WRONGTYPE) < 1", 8.0),
            ("status( WRONGTYPE ) < 1", 8.0),
            ("status(WRONGTYPE) / responses < 1%", 0.1),
            ("rate(status(WRONGTYPE)) < 1", 0.8),
            // The case of a word matters, that of a status of gRPC does not.
            ("status(wrongtype) < 1", 0.0),
            ("status(NOT_FOUND) < 1", 6.0),
            ("status(not_found) < 1", 2.0),
            ("status(not-found) < 1", 32.0),
            ("status(404) < 1", 17.0),
            ("status(40X) < 1", 0.0),
            ("status(other) < 1", 64.0),
            ("grpc_status(NOT_FOUND) < 1", 2.0),
        ] {
            let threshold = Threshold::parse_of_part(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let judgement = threshold.judge(&seen(), Duration::from_secs(10));
            assert_eq!(judgement.value, Some(value), "{text}");
        }
        let longest = "x".repeat(crate::STATUS_WORD_BYTES_MAX);
        assert!(Threshold::parse(&format!("status({longest}) < 1")).is_ok());
        let cases = [
            ("status() < 1", 7, ThresholdFault::Status),
            ("status( < 1", 8, ThresholdFault::Status),
            ("status(1000) < 1", 7, ThresholdFault::Status),
            ("status(99999999999999999999) < 1", 7, ThresholdFault::Status),
            ("status(错误) < 1", 7, ThresholdFault::Status),
            ("status(WRONG TYPE) < 1", 13, ThresholdFault::Parenthesis),
            ("status(WRONGTYPE) < 5%", 21, ThresholdFault::Share("status(WORD)")),
            ("status(WRONGTYPE) / responses > 100%", 32, ThresholdFault::NeverMet),
            ("status(WRONGTYPE, address=127.0.0.1:80) < 1", 16, ThresholdFault::NotOfAddress),
        ];
        for (text, column, fault) in cases {
            let error = Threshold::parse(text).expect_err(text);
            assert_eq!((error.column, error.fault), (column, fault), "{text}");
        }
        let error = Threshold::parse(&format!("status({longest}y) < 1")).expect_err("a long word");
        assert_eq!(error.fault, ThresholdFault::Status);
    }
}
