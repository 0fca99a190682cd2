//! Methods of texts, lists and numbers. Texts are counted in units of UTF-16.

use std::borrow::Cow;

use plan::{JsonScan, is_space};

use super::operand::{Operand, Stop};
use super::operators::is_same;
use super::tree::ValueMethod;
use super::{json, number};

/// The most digits of `toFixed`.
const DIGITS_MAX: f64 = 20.0;

/// The units of a text.
pub(super) fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// One unit of a text; half of a pair is no text here.
pub(super) fn unit<'a>(text: &Cow<'a, str>, index: usize) -> Result<Operand<'a>, Stop> {
    if !text.is_ascii() {
        let Some(unit) = text.encode_utf16().nth(index) else { return Ok(Operand::Undefined) };
        let each = char::from_u32(unit.into()).ok_or(Stop::Unsure)?;
        return Ok(Operand::Text(Cow::Owned(each.into())));
    }
    if index >= text.len() {
        return Ok(Operand::Undefined);
    }
    Ok(Operand::Text(part(text, index, index + 1)))
}

/// A part of a text, borrowed where the text is.
fn part<'a>(text: &Cow<'a, str>, start: usize, end: usize) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(start..end).unwrap_or_default()),
        Cow::Owned(text) => Cow::Owned(text.get(start..end).unwrap_or_default().to_owned()),
    }
}

/// Calls a method. Arguments that are not written are `None`.
pub(super) fn call<'a>(
    method: ValueMethod,
    of: Operand<'a>,
    first: Option<Operand<'a>>,
    second: Option<Operand<'a>>,
) -> Result<Operand<'a>, Stop> {
    match of {
        Operand::Text(text) => of_text(method, text, first, second),
        Operand::Json(list) if json::is_list(list) => of_list(method, list, &first.ok_or(Stop::Unsure)?),
        Operand::Number(value) if method == ValueMethod::ToFixed => {
            let digits = first.map_or(Ok(0.0), |first| first.to_number())?;
            if !(0.0..=DIGITS_MAX).contains(&digits) {
                return Err(Stop::Unsure);
            }
            let text = number::fixed(value, digits as usize).ok_or(Stop::Unsure)?;
            Ok(Operand::Text(Cow::Owned(text)))
        }
        Operand::Number(_) | Operand::Bool(_) if method == ValueMethod::ToText => Ok(Operand::Text(of.into_text()?)),
        // What has no such method throws there.
        _ => Err(Stop::Unsure),
    }
}

fn of_text<'a>(
    method: ValueMethod,
    text: Cow<'a, str>,
    first: Option<Operand<'a>>,
    second: Option<Operand<'a>>,
) -> Result<Operand<'a>, Stop> {
    let wanted = |first: Option<Operand<'a>>| first.unwrap_or(Operand::Undefined).into_text();
    Ok(match method {
        ValueMethod::Includes => Operand::Bool(text.contains(&*wanted(first)?)),
        ValueMethod::StartsWith => Operand::Bool(text.starts_with(&*wanted(first)?)),
        ValueMethod::EndsWith => Operand::Bool(text.ends_with(&*wanted(first)?)),
        ValueMethod::IndexOf => {
            let found = text.find(&*wanted(first)?);
            Operand::Number(found.map_or(-1.0, |found| length(&text[..found]) as f64))
        }
        ValueMethod::Trim => {
            let start = text.len() - text.trim_start_matches(is_space).len();
            let end = start + text[start..].trim_end_matches(is_space).len();
            Operand::Text(part(&text, start, end))
        }
        ValueMethod::ToText => Operand::Text(text),
        ValueMethod::ToFixed => return Err(Stop::Unsure),
        // Versions of Unicode differ in the cases of letters.
        _ if !text.is_ascii() => return Err(Stop::Unsure),
        ValueMethod::LowerCase => Operand::Text(Cow::Owned(text.to_ascii_lowercase())),
        ValueMethod::UpperCase => Operand::Text(Cow::Owned(text.to_ascii_uppercase())),
        ValueMethod::Slice => {
            let start = edge(first, text.len(), 0)?;
            let end = edge(second, text.len(), text.len())?;
            Operand::Text(part(&text, start, end.max(start)))
        }
    })
}

/// A limit of a slice; a negative one counts from the end.
fn edge(given: Option<Operand<'_>>, length: usize, missing: usize) -> Result<usize, Stop> {
    let given = match given {
        None | Some(Operand::Undefined) => return Ok(missing),
        Some(given) => given.to_number()?,
    };
    let whole = if given.is_nan() { 0.0 } else { given.trunc() };
    let from_start = if whole < 0.0 { whole + length as f64 } else { whole };
    Ok(from_start.clamp(0.0, length as f64) as usize)
}

fn of_list<'a>(method: ValueMethod, list: &'a str, wanted: &Operand<'a>) -> Result<Operand<'a>, Stop> {
    let mut scan = JsonScan::list(list).ok_or(Stop::Unsure)?;
    let mut place = 0_u32;
    let is_includes = method == ValueMethod::Includes;
    if !is_includes && method != ValueMethod::IndexOf {
        return Err(Stop::Unsure);
    }
    while let Some(element) = scan.element()? {
        if is_same(&json::operand(element)?, wanted)? {
            return Ok(if is_includes { Operand::Bool(true) } else { Operand::Number(place.into()) });
        }
        place += 1;
    }
    Ok(if is_includes { Operand::Bool(false) } else { Operand::Number(-1.0) })
}
