//! Values as numbers and as lists.

use super::{JsonScan, Value};

impl Value {
    /// A number: whole ones that JavaScript represents exactly are integers.
    #[inline]
    pub fn number(number: f64) -> Self {
        const WHOLE_MAX: f64 = 9_007_199_254_740_991.0;
        let is_whole = number.fract() == 0.0 && number.abs() <= WHOLE_MAX;
        if is_whole { Self::Int(number as i64) } else { Self::Float(number) }
    }

    /// The number that JavaScript makes of it; `None` where it makes none, and of nothing, of an empty text and of
    /// lists and objects.
    #[inline]
    pub fn to_number(&self) -> Option<f64> {
        let number = match self {
            Self::Null => return None,
            Self::Bool(is_so) => f64::from(u8::from(*is_so)),
            Self::Int(number) => *number as f64,
            Self::Float(number) => *number,
            Self::Text(text) if text.chars().all(is_space) => return None,
            Self::Text(text) | Self::Json(text) => number_of_text(text),
        };
        (!number.is_nan()).then_some(number)
    }

    /// The elements of a list; `None` when it is no list.
    #[inline]
    pub fn items(&self) -> Option<Vec<Self>> {
        let Self::Json(json) = self else { return None };
        let (mut scan, mut items) = (JsonScan::list(json)?, Vec::new());
        while let Some(element) = scan.element().ok()? {
            items.push(Self::from_element(element));
        }
        Some(items)
    }

    /// The value of an element. A string that is no Unicode text stays JSON.
    #[inline]
    pub fn from_element(json: &str) -> Self {
        match json.as_bytes().first() {
            Some(b'[' | b'{') => Self::Json(json.into()),
            _ => Self::from_json_text(json.as_bytes()).unwrap_or_else(|_| Self::Json(json.into())),
        }
    }
}

/// What JavaScript takes for space: it differs from Unicode's in two characters.
#[inline]
pub fn is_space(each: char) -> bool {
    const NEXT_LINE: char = '\u{85}';
    const BYTE_ORDER_MARK: char = '\u{feff}';
    (each.is_whitespace() && each != NEXT_LINE) || each == BYTE_ORDER_MARK
}

/// The number that JavaScript reads in a text: 0 in an empty one, NaN where it finds none.
#[inline]
pub fn number_of_text(text: &str) -> f64 {
    const PREFIXES: [(&str, &str, u32); 3] = [("0x", "0X", 16), ("0o", "0O", 8), ("0b", "0B", 2)];
    let text = text.trim_matches(is_space);
    match text.strip_prefix(['+', '-']).unwrap_or(text) {
        "" if text.is_empty() => return 0.0,
        "Infinity" if text.starts_with('-') => return f64::NEG_INFINITY,
        "Infinity" => return f64::INFINITY,
        _ => {}
    }
    for (lower, upper, radix) in PREFIXES {
        if let Some(digits) = text.strip_prefix(lower).or_else(|| text.strip_prefix(upper)) {
            return with_radix(digits, radix);
        }
    }
    // Other notations of Rust have letters.
    let is_decimal = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    if is_decimal { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// Digits of a power of two. Those that a double cannot represent are rounded to even.
#[inline]
fn with_radix(digits: &str, radix: u32) -> f64 {
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return f64::NAN;
    }
    let digits = digits.trim_start_matches('0');
    let bits_each = radix.trailing_zeros();
    // Of bits beyond these only whether one is set matters.
    let (mut number, mut dropped, mut is_inexact) = (0_u64, 0_u32, false);
    for digit in digits.chars() {
        let digit = u64::from(digit.to_digit(radix).unwrap_or_default());
        if number >> (u64::BITS - bits_each - 1) == 0 {
            number = number << bits_each | digit;
        } else {
            dropped = dropped.saturating_add(bits_each);
            is_inexact |= digit != 0;
        }
    }
    (number | u64::from(is_inexact)) as f64 * 2_f64.powi(i32::try_from(dropped).unwrap_or(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_javascript() {
        for (text, expect) in [
            ("12", Some(12.0)),
            (" 12 ", Some(12.0)),
            ("\u{feff}\u{a0}\n12\t", Some(12.0)),
            ("", None),
            ("  ", None),
            ("12px", None),
            ("1_000", None),
            ("1,5", None),
            (".5", Some(0.5)),
            ("5.", Some(5.0)),
            (".", None),
            ("+", None),
            ("-.5e1", Some(-5.0)),
            ("+3", Some(3.0)),
            ("1e400", Some(f64::INFINITY)),
            ("-Infinity", Some(f64::NEG_INFINITY)),
            ("+Infinity", Some(f64::INFINITY)),
            ("infinity", None),
            ("inf", None),
            ("nan", None),
            ("NaN", None),
            ("0x1F", Some(31.0)),
            ("0b101", Some(5.0)),
            ("0O17", Some(15.0)),
            ("-0x1", None),
            ("0x", None),
            ("0xg", None),
            ("0x+1", None),
            ("0x20000000000001", Some(9_007_199_254_740_992.0)),
            ("0x20000000000003", Some(9_007_199_254_740_996.0)),
            ("0x200000000000010000000000001", Some(40_564_819_207_303_350_000_000_000_000_000.0)),
            ("\u{85}1", None),
        ] {
            assert_eq!(Value::text(text).to_number(), expect, "{text}");
        }
        for (value, expect) in [
            (Value::Null, None),
            (Value::Bool(true), Some(1.0)),
            (Value::Int(-3), Some(-3.0)),
            (Value::Float(0.5), Some(0.5)),
            (Value::Float(f64::NAN), None),
            (Value::Json("12345678901234567890".into()), Some(12_345_678_901_234_567_000.0)),
            (Value::Json("[1]".into()), None),
            (Value::Json("{}".into()), None),
        ] {
            assert_eq!(value.to_number(), expect, "{value:?}");
        }
    }

    #[test]
    fn a_list_has_items() {
        let list =
            Value::Json(r#"[1, "a\n", null, true, 0.5, [2, 3], {"b": 4}, 12345678901234567890, "\ud800"]"#.into());
        let expect = [
            Value::Int(1),
            Value::text("a\n"),
            Value::Null,
            Value::Bool(true),
            Value::Float(0.5),
            Value::Json("[2, 3]".into()),
            Value::Json("{\"b\": 4}".into()),
            Value::Json("12345678901234567890".into()),
            Value::Json("\"\\ud800\"".into()),
        ];
        assert_eq!(list.items().as_deref(), Some(&expect[..]));
        assert_eq!(Value::Json("[]".into()).items(), Some(Vec::new()));
        for other in [Value::Null, Value::text("[1]"), Value::Json("{}".into()), Value::Json("1".into())] {
            assert_eq!(other.items(), None, "{other:?}");
        }
        assert_eq!(Value::Json("[1".into()).items(), None);
    }
}
