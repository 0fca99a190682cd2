//! `grpc-timeout`: at most eight digits and a unit.

use std::time::Duration;

/// Maximum number of digits.
const DIGITS_MAX: usize = 8;

/// The units, the finest first, in nanoseconds.
const UNITS: [(u8, u128); 6] = [
    (b'n', 1),
    (b'u', 1_000),
    (b'm', 1_000_000),
    (b'S', 1_000_000_000),
    (b'M', 60_000_000_000),
    (b'H', 3_600_000_000_000),
];

/// The duration of a `grpc-timeout` value.
pub fn parse_timeout(value: &[u8]) -> Option<Duration> {
    let (unit, digits) = value.split_last()?;
    let (_, unit) = UNITS.iter().find(|(name, _)| name == unit)?;
    if digits.is_empty() || digits.len() > DIGITS_MAX || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let count = digits.iter().fold(0u128, |sum, digit| sum * 10 + u128::from(digit - b'0'));
    let nanos = count * unit;
    Some(Duration::new((nanos / 1_000_000_000) as u64, (nanos % 1_000_000_000) as u32))
}
