//! Durations in paths.

use std::time::Duration;

use pacing::Nanos;

/// The longest delay of a response, and the longest freeze.
pub(crate) const DELAY_MAX: Duration = Duration::from_secs(3_600);

/// Milliseconds with up to three decimals, up to [`DELAY_MAX`].
pub(crate) fn millis(text: &str) -> Option<Nanos> {
    let micros = thousandths(text)?;
    (micros <= DELAY_MAX.as_micros() as u64).then_some(Nanos(micros * 1_000))
}

/// A number with up to three decimals, in thousandths.
pub(crate) fn thousandths(text: &str) -> Option<u64> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let is_plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_plain(whole) || !is_plain(decimals) || decimals.len() > 3 {
        return None;
    }
    let decimals: u64 = format!("{decimals:0<3}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000)?.checked_add(decimals)
}
