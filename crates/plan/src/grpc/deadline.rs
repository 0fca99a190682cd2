//! `grpc-timeout`: at most eight digits and a unit.

use std::time::Duration;

/// The most digits.
const DIGITS_MAX: u32 = 8;

/// The units, the finest first, in nanoseconds.
const UNITS: [(char, u128); 6] =
    [('n', 1), ('u', 1_000), ('m', 1_000_000), ('S', 1_000_000_000), ('M', 60_000_000_000), ('H', 3_600_000_000_000)];

/// The value for a span: exact where eight digits suffice, else slightly longer.
pub(crate) fn format_timeout(span: Duration) -> String {
    let nanos = span.as_nanos();
    let most = 10u128.pow(DIGITS_MAX) - 1;
    let fits = |unit: u128| nanos.div_ceil(unit) <= most;
    // Whole seconds are more readable than millions of microseconds.
    let exact = UNITS.iter().rev().find(|(_, unit)| nanos.is_multiple_of(*unit) && fits(*unit));
    let (name, unit) = exact.or_else(|| UNITS.iter().find(|(_, unit)| fits(*unit))).copied().unwrap_or(UNITS[5]);
    format!("{}{name}", nanos.div_ceil(unit).min(most))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spans() {
        let cases = [
            (Duration::from_secs(30), "30S"),
            (Duration::from_millis(1_500), "1500m"),
            (Duration::from_nanos(1), "1n"),
            (Duration::from_nanos(1_000_001), "1000001n"),
            // No unit is exact with so few digits: the finest that fits, and not shorter.
            (Duration::from_nanos(100_000_000_001), "100001m"),
            (Duration::from_secs(3_600), "1H"),
            (Duration::from_secs(86_400 * 3_650), "87600H"),
        ];
        for (span, text) in cases {
            assert_eq!(format_timeout(span), text);
        }
    }

    proptest! {
        #[test]
        fn never_shorter_and_never_much_longer(nanos in 1u64..) {
            let text = format_timeout(Duration::from_nanos(nanos));
            let (digits, unit) = text.split_at(text.len() - 1);
            prop_assert!(digits.len() <= 8);
            let unit = UNITS.iter().find(|(name, _)| unit.starts_with(*name)).expect("a unit").1;
            let said = digits.parse::<u128>().expect("digits") * unit;
            prop_assert!(said >= u128::from(nanos) && said <= u128::from(nanos) + u128::from(nanos) / 100_000 + 1);
        }
    }
}
