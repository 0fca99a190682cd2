//! Values written with the escaping of their place.

use super::NotFilled;
use crate::Value;
use crate::pattern::SlotContext;

/// Writes a value into its place.
#[inline]
pub(super) fn write_escaped(value: &Value, place: SlotContext, out: &mut Vec<u8>) -> Result<(), NotFilled> {
    match place {
        SlotContext::JsonValue => value.write_json(out),
        SlotContext::JsonString => with_text(value, |text| write_json_inside(text, out)),
        SlotContext::Text => with_text(value, |text| out.extend_from_slice(text.as_bytes())),
        SlotContext::Origin => with_text(value, |text| write_percent(text, |byte| byte > b' ' && byte < 0x7f, out)),
        SlotContext::Path | SlotContext::Query => with_text(value, |text| write_percent(text, is_unreserved, out)),
        SlotContext::Form => with_text(value, |text| write_form(text, out)),
        SlotContext::Header => {
            let begins = out.len();
            with_text(value, |text| out.extend_from_slice(text.as_bytes()));
            if out[begins..].iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
                out.truncate(begins);
                return Err(NotFilled::LineEnd);
            }
        }
    }
    Ok(())
}

/// Passes the text of a value; it is copied only where the value is no text.
fn with_text(value: &Value, write: impl FnOnce(&str)) {
    match value {
        Value::Null => write(""),
        Value::Text(text) | Value::Json(text) => write(text),
        other => write(&other.to_string()),
    }
}

/// Whether a byte is unreserved (RFC 3986, 2.3).
#[inline]
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn write_percent(text: &str, is_plain: impl Fn(u8) -> bool, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if is_plain(byte) {
            out.push(byte);
        } else {
            out.extend_from_slice(&[b'%', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
    }
}

/// The form encoding of browsers: a blank is a plus.
#[inline]
fn write_form(text: &str, out: &mut Vec<u8>) {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'*' | b'-' | b'.' | b'_');
    for (number, word) in text.split(' ').enumerate() {
        if number > 0 {
            out.push(b'+');
        }
        write_percent(word, is_plain, out);
    }
}

/// The content between the quotes of a JSON string (RFC 8259, 7).
#[inline]
fn write_json_inside(text: &str, out: &mut Vec<u8>) {
    let mut quoted = Vec::with_capacity(text.len() + 2);
    Value::text(text).write_json(&mut quoted);
    out.extend_from_slice(&quoted[1..quoted.len() - 1]);
}
