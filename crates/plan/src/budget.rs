//! The budget of a run, a limit independent of its load: for users who must not send more than was agreed on.

use serde::{Deserialize, Serialize};
use std::time::Duration;

use crate::PlanError;
use crate::text::{MILLI, parse_count, parse_span};

/// The most bytes of a budget: an exbibyte.
const BYTES_MAX: u64 = 1 << 60;

/// The budget of a run; `None` where there is no limit. A warm-up counts too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Requests, or messages with their responses, that are started.
    pub requests: Option<u64>,
    /// Bytes that are sent and received, as sockets see them.
    pub bytes: Option<u64>,
    /// Time in which something is started.
    pub time: Option<Duration>,
}

/// A part of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the fields of the budget say what they are")]
pub enum BudgetPart {
    Requests,
    Bytes,
    Time,
}

impl BudgetPart {
    /// All parts.
    pub const ALL: [Self; 3] = [Self::Requests, Self::Bytes, Self::Time];

    /// The name, as typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Bytes => "bytes",
            Self::Time => "time",
        }
    }
}

impl Budget {
    /// Whether there is a limit.
    pub fn is_set(&self) -> bool {
        *self != Self::default()
    }

    /// Parses parts like `requests=1M,bytes=10GiB,time=10m`.
    ///
    /// # Errors
    /// A part is unknown, duplicate, or has an invalid value.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let wrong = || PlanError::Budget { value: text.to_owned() };
        let mut budget = Self::default();
        for part in parts(text) {
            let (name, value) = part.split_once('=').ok_or_else(wrong)?;
            let value = value.trim();
            let is_update = match name.trim() {
                "requests" => {
                    let requests = parse_count("--budget requests", value, 1, crate::draft::REQUESTS_MAX)?;
                    budget.requests.replace(requests).is_some()
                }
                "bytes" => budget.bytes.replace(parse_bytes("--budget bytes", value)?).is_some(),
                "time" => budget.time.replace(parse_span("--budget time", value, MILLI)?).is_some(),
                _ => true,
            };
            if is_update {
                return Err(wrong());
            }
        }
        Ok(budget)
    }
}

/// Splits parts at commas; a comma before digits alone is one of a number: `1,000,000`.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for piece in text.split(',') {
        match parts.last_mut() {
            Some(last) if piece.starts_with(|first: char| first.is_ascii_digit()) && !piece.contains('=') => {
                last.push(',');
                last.push_str(piece);
            }
            _ => parts.push(piece.to_owned()),
        }
    }
    parts
}

/// Parses bytes with a unit of either kind, or none: `10GiB`, `500MB`, `1e9`.
///
/// # Errors
/// The text is no number of bytes, zero, or more than an exbibyte; the error names `flag`.
#[inline]
pub fn parse_bytes(flag: &'static str, text: &str) -> Result<u64, PlanError> {
    const UNITS: [(&str, u64); 10] = [
        ("kib", 1 << 10),
        ("mib", 1 << 20),
        ("gib", 1 << 30),
        ("tib", 1 << 40),
        ("kb", 1_000),
        ("mb", 1_000_000),
        ("gb", 1_000_000_000),
        ("tb", 1_000_000_000_000),
        ("b", 1),
        ("", 1),
    ];
    let wrong = || PlanError::Number { flag, value: text.to_owned(), least: 1, most: BYTES_MAX };
    let lower = text.to_ascii_lowercase();
    let (number, unit) = UNITS
        .iter()
        .find_map(|(name, unit)| lower.strip_suffix(name).map(|number| (number.trim(), *unit)))
        .ok_or_else(wrong)?;
    let count = parse_count(flag, number, 1, BYTES_MAX).map_err(|_| wrong())?;
    count.checked_mul(unit).filter(|count| *count <= BYTES_MAX).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_has_parts_in_any_order() {
        let of = |requests, bytes, millis: Option<u64>| {
            Ok(Budget { requests, bytes, time: millis.map(Duration::from_millis) })
        };
        for (text, meant) in [
            ("requests=1M,bytes=10GiB,time=10m", of(Some(1_000_000), Some(10 << 30), Some(600_000))),
            ("time=1h30m", of(None, None, Some(5_400_000))),
            (" bytes = 500 MB , requests = 1,000,000 ", of(Some(1_000_000), Some(500_000_000), None)),
            ("bytes=1", of(None, Some(1), None)),
            ("bytes=7b", of(None, Some(7), None)),
            ("bytes=2TiB", of(None, Some(2 << 40), None)),
            ("bytes=64KiB,time=250ms", of(None, Some(65_536), Some(250))),
            ("requests=1e3", of(Some(1_000), None, None)),
        ] {
            assert_eq!(Budget::parse(text), meant, "{text}");
        }
        for text in ["", "1000", "requests", "request=5", "requests=5,requests=6", "time=1s,,"] {
            assert_eq!(Budget::parse(text), Err(PlanError::Budget { value: text.to_owned() }), "{text}");
        }
        for text in [
            "requests=0",
            "requests=5;time=1s",
            "requests=many",
            "bytes=0",
            "bytes=1.5x",
            "bytes=9999999TiB",
            "time=0s",
            "time=soon",
        ] {
            assert!(Budget::parse(text).is_err_and(|error| !matches!(error, PlanError::Budget { .. })), "{text}");
        }
    }
}
