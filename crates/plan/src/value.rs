//! The value of a variable: extracted from a response, read from a row, or computed.

mod convert;
mod scan;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::fmt;

pub use convert::{is_space, number_of_text};
pub use scan::{JsonScan, NotJson, plain_string_end};

/// A value, with the type of its source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// Nothing.
    #[default]
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Another number.
    Float(f64),
    /// A text.
    Text(Box<str>),
    /// An array or an object, or a number that the others cannot represent, as JSON.
    Json(Box<str>),
}

impl Value {
    /// A text.
    #[inline]
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// A value from JSON, with its type.
    #[inline]
    pub fn from_json(json: &serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(is_so) => Self::Bool(*is_so),
            serde_json::Value::String(text) => Self::text(text),
            serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(whole), _) => Self::Int(whole),
                (None, Some(_)) if number.is_u64() => Self::Json(number.to_string().into()),
                (None, Some(number)) => Self::Float(number),
                (None, None) => Self::Json(number.to_string().into()),
            },
            serde_json::Value::Array(_) | serde_json::Value::Object(_) => Self::Json(json.to_string().into()),
        }
    }

    /// A value from JSON text. Lists, objects and numbers with more digits than other variants can represent keep their
    /// text.
    ///
    /// # Errors
    /// The text is no JSON.
    #[inline]
    pub fn from_json_text(text: &[u8]) -> Result<Self, serde_json::Error> {
        match text.first() {
            Some(b'[' | b'{') => {
                serde_json::from_slice::<IgnoredAny>(text)?;
                Ok(Self::Json(String::from_utf8_lossy(text).into()))
            }
            _ => {
                let json: serde_json::Value = serde_json::from_slice(text)?;
                let text = String::from_utf8_lossy(text);
                Ok(if json.is_number() && loses_digits(&text) {
                    Self::Json(text.into())
                } else {
                    Self::from_json(&json)
                })
            }
        }
    }

    /// Writes it as JSON; a number that JSON cannot represent is null.
    #[inline]
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => {
                let quoted = serde_json::Value::from(&**text).to_string();
                out.extend_from_slice(quoted.as_bytes());
            }
            Self::Float(number) if !number.is_finite() => out.extend_from_slice(b"null"),
            Self::Null => out.extend_from_slice(b"null"),
            plain => out.extend_from_slice(plain.to_string().as_bytes()),
        }
    }

    /// Whether it is true in a condition, as in JavaScript.
    #[inline]
    pub fn is_truthy(&self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(is_so) => *is_so,
            Self::Int(number) => *number != 0,
            Self::Float(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => !text.is_empty(),
            // Objects are; so is a large number, except for a zero of BigInt.
            Self::Json(json) => &**json != "0",
        }
    }

    /// Bytes on the heap.
    #[inline]
    pub fn heap_bytes(&self) -> usize {
        match self {
            Self::Text(text) | Self::Json(text) => text.len(),
            _ => 0,
        }
    }
}

/// Whether a 64-bit integer or a double cannot represent all digits of this JSON number.
#[inline]
pub fn loses_digits(number: &str) -> bool {
    const DIGITS_SURE: usize = 15;
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0').count();
    if digits <= DIGITS_SURE || number.parse::<i64>().is_ok() {
        return false;
    }
    number.parse::<f64>().map_or(true, |double| double.to_string() != number)
}

/// The value in a text. Null is the empty text.
impl fmt::Display for Value {
    #[inline]
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => Ok(()),
            Self::Bool(is_so) => is_so.fmt(out),
            Self::Int(number) => number.fmt(out),
            Self::Float(number) => number.fmt(out),
            Self::Text(text) | Self::Json(text) => out.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_type() {
        let cases = [
            ("null", Value::Null, "", "null"),
            ("true", Value::Bool(true), "true", "true"),
            ("7", Value::Int(7), "7", "7"),
            ("-9223372036854775808", Value::Int(i64::MIN), "-9223372036854775808", "-9223372036854775808"),
            (
                "18446744073709551615",
                Value::Json("18446744073709551615".into()),
                "18446744073709551615",
                "18446744073709551615",
            ),
            ("1.5", Value::Float(1.5), "1.5", "1.5"),
            (r#""a\"b\n""#, Value::text("a\"b\n"), "a\"b\n", r#""a\"b\n""#),
            (r#"["a", {"b": 1}]"#, Value::Json(r#"["a",{"b":1}]"#.into()), r#"["a",{"b":1}]"#, r#"["a",{"b":1}]"#),
        ];
        for (json, value, text, again) in cases {
            let read = Value::from_json(&serde_json::from_str(json).expect("JSON"));
            assert_eq!(read, value, "{json}");
            assert_eq!(read.to_string(), text, "{json}");
            let mut bytes = Vec::new();
            read.write_json(&mut bytes);
            assert_eq!(String::from_utf8_lossy(&bytes), again, "{json}");
        }
        let mut bytes = Vec::new();
        Value::Float(f64::NAN).write_json(&mut bytes);
        assert_eq!(bytes, b"null");
    }

    #[test]
    fn no_digit_is_lost() {
        for (text, expect) in [
            ("7", Value::Int(7)),
            ("1.5", Value::Float(1.5)),
            ("1e3", Value::Float(1e3)),
            ("-9223372036854775808", Value::Int(i64::MIN)),
            ("9223372036854775808", Value::Json("9223372036854775808".into())),
            ("12345678901234567890123", Value::Json("12345678901234567890123".into())),
            ("-12345678901234567890123", Value::Json("-12345678901234567890123".into())),
            ("0.1", Value::Float(0.1)),
            ("0.12345678901234567890", Value::Json("0.12345678901234567890".into())),
            ("3.141592653589793", Value::Float(core::f64::consts::PI)),
            ("12345678901234567890e3", Value::Json("12345678901234567890e3".into())),
            ("[12345678901234567890123]", Value::Json("[12345678901234567890123]".into())),
            ("\"12345678901234567890123\"", Value::text("12345678901234567890123")),
        ] {
            assert_eq!(Value::from_json_text(text.as_bytes()).expect(text), expect, "{text}");
        }
        assert!(Value::from_json_text(b"[1").is_err() && Value::from_json_text(b"x").is_err());
    }

    #[test]
    fn a_value_is_small() {
        assert!(size_of::<Value>() <= 24, "{}", size_of::<Value>());
    }
}
