//! Lists and objects as JSON text: their members, and the form in which JavaScript writes them.

use std::borrow::Cow;
use std::fmt::Write;

use plan::{JsonScan, NotJson, Value, plain_string_end};

use super::normal::{DEPTH_MAX, FIELDS_MAX, is_normal};
use super::number::{quick_number, write_number};
use super::operand::{Operand, Stop};

/// What objects have without a field of this name.
const INHERITED: [&str; 12] = [
    "constructor",
    "__defineGetter__",
    "__defineSetter__",
    "hasOwnProperty",
    "__lookupGetter__",
    "__lookupSetter__",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toString",
    "valueOf",
    "__proto__",
    "toLocaleString",
];

impl From<NotJson> for Stop {
    fn from(_: NotJson) -> Self {
        Self::Unsure
    }
}

/// What an expression sees of a value.
#[inline]
pub(super) fn from_value(value: &Value) -> Result<Operand<'_>, Stop> {
    Ok(match value {
        Value::Null => Operand::Null,
        Value::Bool(is_so) => Operand::Bool(*is_so),
        Value::Int(number) => Operand::Number(*number as f64),
        // The interpreter is given 0 for -0, too.
        Value::Float(number) => Operand::Number(*number + 0.0),
        Value::Text(text) => Operand::Text(Cow::Borrowed(text)),
        Value::Json(json) => operand(json)?,
    })
}

/// What an expression gives.
pub(super) fn into_value(operand: Operand<'_>) -> Result<Value, Stop> {
    Ok(match operand {
        Operand::Undefined | Operand::Null => Value::Null,
        Operand::Bool(is_so) => Value::Bool(is_so),
        Operand::Number(number) => Value::number(number),
        Operand::Text(text) => Value::Text(text.into()),
        Operand::Json(json) if is_normal(json) => Value::Json(json.into()),
        Operand::Json(json) => Value::Json(written(json, 0)?.into()),
    })
}

/// A value in the form of `JSON.stringify`, at this depth of another.
pub(super) fn written(json: &str, depth: usize) -> Result<String, Stop> {
    let mut out = String::with_capacity(json.len());
    write_normal(json, &mut out, depth)?;
    Ok(out)
}

/// Writes a value as JSON, as an element of a list.
pub(super) fn write_operand(operand: &Operand<'_>, out: &mut String) -> Result<(), Stop> {
    match operand {
        Operand::Undefined | Operand::Null => out.push_str("null"),
        Operand::Bool(is_so) => out.push_str(if *is_so { "true" } else { "false" }),
        Operand::Number(number) if number.is_finite() => write_number(*number, out),
        Operand::Number(_) => out.push_str("null"),
        Operand::Text(text) => write_string(text, out),
        Operand::Json(json) => write_normal(json, out, 0)?,
    }
    Ok(())
}

/// The value of a JSON text without space around it.
pub(super) fn operand(json: &str) -> Result<Operand<'_>, Stop> {
    match json.as_bytes().first() {
        Some(b'{' | b'[') => Ok(Operand::Json(json)),
        Some(b'"') => Ok(Operand::Text(string(json)?)),
        Some(b'-' | b'0'..=b'9') => Ok(Operand::Number(number(json)?)),
        _ => match json {
            "null" => Ok(Operand::Null),
            "true" => Ok(Operand::Bool(true)),
            "false" => Ok(Operand::Bool(false)),
            _ => Err(Stop::Unsure),
        },
    }
}

fn number(json: &str) -> Result<f64, Stop> {
    if let Some(number) = quick_number(json.as_bytes()) {
        return Ok(number);
    }
    let digits = json.strip_prefix('-').unwrap_or(json);
    let is_plain = digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    let begins_well = digits.len() == 1 || !digits.starts_with('0') || digits.as_bytes().get(1) == Some(&b'.');
    if !is_plain || !begins_well {
        return Err(Stop::Unsure);
    }
    json.parse().map_err(|_| Stop::Unsure)
}

/// The text of a string with its quotes.
fn string(json: &str) -> Result<Cow<'_, str>, Stop> {
    let inside = json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).ok_or(Stop::Unsure)?;
    if plain_string_end(json.as_bytes(), 1) == Some(json.len()) {
        return Ok(Cow::Borrowed(inside));
    }
    // Halves of surrogate pairs are no text here.
    match Value::from_json_text(json.as_bytes()) {
        Ok(Value::Text(text)) => Ok(Cow::Owned(text.into())),
        _ => Err(Stop::Unsure),
    }
}

/// Whether a text is a list.
pub(super) fn is_list(json: &str) -> bool {
    json.starts_with('[')
}

/// The number of elements of a list.
pub(super) fn count(json: &str) -> Result<usize, Stop> {
    let (mut scan, mut count) = (JsonScan::list(json).ok_or(Stop::Unsure)?, 0);
    while scan.element()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// An element of a list.
pub(super) fn element(json: &str, index: usize) -> Result<Operand<'_>, Stop> {
    let mut scan = JsonScan::list(json).ok_or(Stop::Unsure)?;
    for _ in 0..index {
        if scan.element()?.is_none() {
            return Ok(Operand::Undefined);
        }
    }
    scan.element()?.map_or(Ok(Operand::Undefined), operand)
}

/// A field of an object. Of equal keys the last one counts.
pub(super) fn field<'a>(json: &'a str, name: &str) -> Result<Operand<'a>, Stop> {
    match JsonScan::find(json, name, |key| string(key).map(|key| key == name).map_err(|_| NotJson))? {
        Some(value) => operand(value),
        None if INHERITED.contains(&name) => Err(Stop::Unsure),
        None => Ok(Operand::Undefined),
    }
}

/// Writes JSON in the form of `JSON.stringify`, where that is certain.
fn write_normal(json: &str, out: &mut String, depth: usize) -> Result<(), Stop> {
    if depth > DEPTH_MAX {
        return Err(Stop::Unsure);
    }
    if let Some(mut scan) = JsonScan::list(json) {
        out.push('[');
        let mut is_first = true;
        while let Some(element) = scan.element()? {
            if !std::mem::take(&mut is_first) {
                out.push(',');
            }
            write_normal(element, out, depth + 1)?;
        }
        out.push(']');
        return Ok(());
    }
    let Some(scan) = JsonScan::object(json) else { return write_operand(&operand(json)?, out) };
    write_object(scan, out, depth)
}

/// JavaScript puts keys that are numbers first, and of equal keys keeps the last: both are left to it.
fn write_object(mut scan: JsonScan<'_>, out: &mut String, depth: usize) -> Result<(), Stop> {
    let mut keys = [""; FIELDS_MAX];
    let mut count = 0;
    out.push('{');
    while let Some((key, value)) = scan.field()? {
        let known = keys.get(..count).ok_or(Stop::Unsure)?;
        let inside = &key[1..key.len() - 1];
        let is_sure = !inside.contains('\\') && !inside.starts_with(|first: char| first.is_ascii_digit());
        if !is_sure || inside == "__proto__" || known.contains(&inside) {
            return Err(Stop::Unsure);
        }
        *keys.get_mut(count).ok_or(Stop::Unsure)? = inside;
        count += 1;
        if count > 1 {
            out.push(',');
        }
        write_string(&string(key)?, out);
        out.push(':');
        write_normal(value, out, depth + 1)?;
    }
    out.push('}');
    Ok(())
}

/// Writes a string with its quotes (ECMA-262 25.5.2.3).
fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let is_plain = text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
    if is_plain {
        out.push_str(text);
    } else {
        text.chars().for_each(|each| write_escaped(each, out));
    }
    out.push('"');
}

fn write_escaped(each: char, out: &mut String) {
    let short = match each {
        '"' => "\\\"",
        '\\' => "\\\\",
        '\u{8}' => "\\b",
        '\u{c}' => "\\f",
        '\n' => "\\n",
        '\r' => "\\r",
        '\t' => "\\t",
        _ => "",
    };
    if !short.is_empty() {
        out.push_str(short);
    } else if each < ' ' {
        let written = write!(out, "\\u{:04x}", u32::from(each));
        debug_assert!(written.is_ok(), "a text takes all that is written to it");
    } else {
        out.push(each);
    }
}
