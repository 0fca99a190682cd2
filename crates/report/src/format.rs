//! Formatting of figures, and of columns that stay aligned with wide characters.

use core::time::Duration;

use unicode_width::UnicodeWidthStr;

/// The alignment of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// To the left.
    Left,
    /// To the right.
    Right,
}

/// Pads a text with blanks to `width` columns of the terminal. A longer text stays whole.
pub fn pad(text: &str, width: usize, align: Align) -> String {
    let blanks = " ".repeat(width.saturating_sub(text.width()));
    match align {
        Align::Left => format!("{text}{blanks}"),
        Align::Right => format!("{blanks}{text}"),
    }
}

/// `1234567` as `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1234567` as `1.23M`, for columns that have no room for more.
pub fn short_count(number: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")];
    // Five digits are as short as their short form.
    let unit = UNITS.into_iter().find(|(size, _)| number >= *size && number >= 10_000);
    let Some((size, name)) = unit else { return number.to_string() };
    // Truncated, not rounded: it never exceeds the number.
    let hundredths = number / (size / 100);
    match hundredths {
        0..1_000 => format!("{}.{:02}{name}", hundredths / 100, hundredths % 100),
        1_000..10_000 => format!("{}.{}{name}", hundredths / 100, hundredths % 100 / 10),
        _ => format!("{}{name}", hundredths / 100),
    }
}

/// `1 user`, `50 users`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// The verb for one, or for several: `was` and `were`.
pub fn is_of(number: u64, one: &'static str, several: &'static str) -> &'static str {
    if number == 1 { one } else { several }
}

/// A rate with the digits that mean something.
pub fn rate(per_second: f64) -> String {
    if per_second >= 100.0 { count(per_second.round() as u64) } else { format!("{per_second:.2}") }
}

/// A time in nanoseconds with its unit, three or four digits.
pub fn time(ns: f64) -> String {
    let (value, unit) = if ns < 999_950.0 {
        (ns / 1e3, "us")
    } else if ns < 999_950_000.0 {
        (ns / 1e6, "ms")
    } else {
        (ns / 1e9, "s")
    };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 1_000.0) };
    format!("{value:.decimals$}{unit}")
}

/// Bytes with a binary unit.
pub fn bytes(number: f64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if number < 1_000.0 {
        return format!("{number:.0}B");
    }
    let mut value = number / 1_024.0;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1_024.0;
        unit += 1;
    }
    let decimals = if value < 10.0 { 2 } else { 1 };
    format!("{value:.decimals$}{}", UNITS[unit])
}

/// A span of a plan: `5s`, `1m30s`, `500ms`.
pub fn span(span: Duration) -> String {
    let millis = span.as_millis();
    let (minutes, seconds) = (millis / 60_000, millis % 60_000);
    let seconds = match (seconds % 1_000, seconds) {
        (_, 0) if minutes > 0 => String::new(),
        (0, _) => format!("{}s", seconds / 1_000),
        _ if seconds < 1_000 && minutes == 0 => format!("{seconds}ms"),
        _ => format!("{}s", seconds as f64 / 1e3),
    };
    if minutes > 0 { format!("{minutes}m{seconds}") } else { seconds }
}

/// A share as percent. A part of the whole never reads 100, and a non-zero share never reads 0.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let value = part as f64 * 100.0 / whole as f64;
    let value = if part < whole { value.min(99.99) } else { value };
    let value = if part > 0 { value.max(0.01) } else { value };
    format!("{value:.2}%")
}
