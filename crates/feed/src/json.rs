//! Rows of JSON: an object on each line, or the objects of one array.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;

use memchr::memchr2;
use plan::Value;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, Visitor};

use crate::input::{LineEnd, Misread, RowInput, Start};
use crate::{COLUMNS_MAX, FeedFault, ROW_BYTES_MAX};

/// The next expected element of an array.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaits {
    /// `[`.
    Array,
    /// A row, or `]`.
    FirstRow,
    /// A row.
    Row,
    /// `,` or `]`.
    Comma,
    /// The end of the file.
    End,
}

/// Consumes the next line that is not empty; `None` after the last.
pub(crate) fn line(input: &mut RowInput<impl Read>) -> Result<Option<(Start, &[u8])>, Misread> {
    // Empty lines are consumed first, so that the borrow below can be returned.
    input.peek_solid().map_err(|fault| Misread::at(input.start(), fault))?;
    let start = input.start();
    let line = input.line(LineEnd::Lf).map_err(|fault| Misread::at(start, fault))?;
    Ok(line.map(|line| (start, line)))
}

/// Consumes the next object of the array; `None` after its end.
pub(crate) fn element<'a>(
    input: &'a mut RowInput<impl Read>,
    awaits: &mut Awaits,
) -> Result<Option<(Start, &'a [u8])>, Misread> {
    loop {
        let solid = input.peek_solid().map_err(|fault| Misread::at(input.start(), fault))?;
        let start = input.start();
        let fault = match (*awaits, solid) {
            (Awaits::Array, Some(b'[')) => {
                input.take(1);
                *awaits = Awaits::FirstRow;
                continue;
            }
            (Awaits::Array, None) => FeedFault::NoRows,
            (Awaits::Array, Some(_)) => FeedFault::NoArray,
            (Awaits::FirstRow | Awaits::Row, Some(b'{')) => {
                *awaits = Awaits::Comma;
                let length = object_length(input).map_err(|fault| Misread::at(start, fault))?;
                return Ok(Some((start, input.take(length))));
            }
            (Awaits::FirstRow | Awaits::Comma, Some(b']')) => {
                input.take(1);
                *awaits = Awaits::End;
                continue;
            }
            (Awaits::Comma, Some(b',')) => {
                input.take(1);
                *awaits = Awaits::Row;
                continue;
            }
            (Awaits::End, None) => return Ok(None),
            (Awaits::End, Some(_)) => FeedFault::AfterEnd,
            (_, None) => FeedFault::Cut,
            (Awaits::Comma, Some(_)) => FeedFault::Json { reason: "expected `,` or `]`".to_owned() },
            (Awaits::Row, Some(b']')) => FeedFault::Json { reason: "trailing comma".to_owned() },
            (Awaits::FirstRow | Awaits::Row, Some(_)) => FeedFault::NoObject,
        };
        return Err(Misread::at(start, fault));
    }
}

/// Length of the object at the front, by its brackets.
fn object_length(input: &mut RowInput<impl Read>) -> Result<usize, FeedFault> {
    let (mut at, mut depth, mut is_text) = (0, 0_usize, false);
    loop {
        let rest = input.rest();
        while at < rest.len() {
            if is_text {
                match memchr2(b'"', b'\\', &rest[at..]) {
                    None => at = rest.len(),
                    Some(found) if rest[at + found] == b'"' => (at, is_text) = (at + found + 1, false),
                    // Any byte after a backslash does not end the string. It may not be read yet.
                    Some(found) if at + found + 1 < rest.len() => at += found + 2,
                    Some(found) => {
                        at += found;
                        break;
                    }
                }
                continue;
            }
            match rest[at] {
                b'"' => is_text = true,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            at += 1;
            if depth == 0 {
                return Ok(at);
            }
        }
        if at > ROW_BYTES_MAX {
            return Err(FeedFault::RowTooLong);
        }
        if !input.fill()? {
            return Err(FeedFault::Cut);
        }
    }
}

/// Puts the values of an object into `cells`, in the order of `columns`. With `is_first` its keys become the columns.
pub(crate) fn cells(
    (start, row): (Start, &[u8]),
    is_first: bool,
    columns: &mut Vec<Box<str>>,
    cells: &mut Vec<Option<Value>>,
) -> Result<(), Misread> {
    if row.len() > ROW_BYTES_MAX {
        return Err(Misread::at(start, FeedFault::RowTooLong));
    }
    let text = str::from_utf8(row).map_err(|_| Misread::at(start, FeedFault::Text { charset: "UTF-8" }))?;
    if !text.starts_with('{') {
        return Err(Misread::at(
            start,
            if text.starts_with('[') { FeedFault::NoObject } else { not_json_or_object(text) },
        ));
    }
    cells.clear();
    cells.resize(columns.len(), None);
    let mut fault = None;
    let mut source = serde_json::Deserializer::from_str(text);
    let read = Keys { is_first, columns: &mut *columns, cells, fault: &mut fault }.deserialize(&mut source);
    if let Err(error) = read.and_then(|()| source.end()) {
        if let Some(fault) = fault {
            return Err(Misread::at(start, fault));
        }
        let line = start.line + (error.line() as u64).saturating_sub(1);
        return Err(Misread::at(Start { line, ..start }, FeedFault::Json { reason: reason(&error) }));
    }
    match cells.iter().position(Option::is_none) {
        Some(at) => Err(Misread::at(start, FeedFault::KeyMissing { name: columns[at].to_string() })),
        None => Ok(()),
    }
}

/// The fault of text that is not an object: another value, or no JSON.
fn not_json_or_object(text: &str) -> FeedFault {
    match serde_json::from_str::<de::IgnoredAny>(text) {
        Ok(_) => FeedFault::NoObject,
        Err(error) => FeedFault::Json { reason: reason(&error) },
    }
}

/// The error of the library, without the position, which is relative to the row.
fn reason(error: &serde_json::Error) -> String {
    let said = error.to_string();
    said.rsplit_once(" at line ").map_or(said.as_str(), |(reason, _)| reason).to_owned()
}

/// A deserializer of one object.
struct Keys<'a> {
    is_first: bool,
    columns: &'a mut Vec<Box<str>>,
    cells: &'a mut Vec<Option<Value>>,
    fault: &'a mut Option<FeedFault>,
}

impl<'de> DeserializeSeed<'de> for Keys<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<M: MapAccess<'de>>(mut self, mut map: M) -> Result<(), M::Error> {
        let mut guess = 0;
        while let Some(Key(key)) = map.next_key()? {
            let at = match self.place(&key, guess) {
                Ok(at) => at,
                Err(fault) => {
                    *self.fault = Some(fault);
                    return Err(de::Error::custom("column"));
                }
            };
            self.cells[at] = Some(Value::from_json(&map.next_value()?));
            guess = at + 1;
        }
        Ok(())
    }
}

impl Keys<'_> {
    /// The column of a key. Most rows have their keys in the order of the first, so `guess` is mostly right.
    fn place(&mut self, key: &str, guess: usize) -> Result<usize, FeedFault> {
        let is_guessed = self.columns.get(guess).is_some_and(|name| **name == *key);
        let found = if is_guessed { Some(guess) } else { self.columns.iter().position(|name| **name == *key) };
        let name = || key.to_owned();
        match found {
            Some(at) if self.cells[at].is_none() => Ok(at),
            Some(_) => Err(FeedFault::ColumnTwice { name: name() }),
            None if !self.is_first => Err(FeedFault::KeyUnknown { name: name() }),
            None if self.columns.len() == COLUMNS_MAX => Err(FeedFault::ColumnsTooMany),
            None => {
                self.columns.push(key.into());
                self.cells.push(None);
                Ok(self.columns.len() - 1)
            }
        }
    }
}

/// A key, borrowed if it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> de::Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        source.deserialize_str(Text)
    }
}
