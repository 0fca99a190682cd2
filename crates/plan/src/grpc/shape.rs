//! The wire format of a message type as a table, and a validator that checks bytes against it as they arrive.
//!
//! It rejects what a generated parser rejects: an invalid tag, a length beyond its container, a truncated value, a
//! field of another wire type than its own, a proto3 string that is not UTF-8, unclosed groups. Unknown fields are
//! skipped, as every parser does. Nothing of the message is stored.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor, Syntax};

/// The maximum nesting of messages; parsers stop at this depth too.
const DEPTH_MAX: usize = 100;
/// The largest field number.
const NUMBER_MAX: u32 = (1 << 29) - 1;
/// The most bytes of a 64-bit number; of the last one only one bit is used.
const VARINT_BYTES_MAX: u8 = 10;

/// The wire form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Form {
    Varint,
    Fixed64,
    Fixed32,
    Bytes,
    /// UTF-8 text.
    Text,
    Message(u32),
    Group(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Field {
    number: u32,
    form: Form,
    /// Whether several values may be packed in one length.
    is_packable: bool,
}

/// The types that a message can contain, itself the first; the fields of each by their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    messages: Vec<Vec<Field>>,
}

impl Shape {
    /// The shape of a described type, and of all that it can contain.
    pub(crate) fn new(kind: &MessageDescriptor) -> Self {
        let mut numbers = HashMap::from([(kind.full_name().to_owned(), 0)]);
        let mut kinds = vec![kind.clone()];
        let mut messages = Vec::new();
        while let Some(kind) = kinds.get(messages.len()).cloned() {
            let mut place_of = |inner: MessageDescriptor| {
                *numbers.entry(inner.full_name().to_owned()).or_insert_with(|| {
                    kinds.push(inner);
                    kinds.len() as u32 - 1
                })
            };
            let mut fields: Vec<Field> = kind.fields().map(|field| field_of(&field, &mut place_of)).collect();
            fields.sort_unstable_by_key(|field| field.number);
            messages.push(fields);
        }
        Self { messages }
    }

    #[inline]
    fn field(&self, message: u32, number: u32) -> Option<Field> {
        let fields = &self.messages[message as usize];
        fields.binary_search_by_key(&number, |field| field.number).ok().map(|at| fields[at])
    }
}

fn field_of(field: &FieldDescriptor, place_of: &mut impl FnMut(MessageDescriptor) -> u32) -> Field {
    let form = match field.kind() {
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => Form::Fixed64,
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => Form::Fixed32,
        Kind::String if field.parent_file().syntax() == Syntax::Proto3 => Form::Text,
        Kind::String | Kind::Bytes => Form::Bytes,
        Kind::Message(inner) if field.is_group() => Form::Group(place_of(inner)),
        Kind::Message(inner) => Form::Message(place_of(inner)),
        _ => Form::Varint,
    };
    let is_scalar = matches!(form, Form::Varint | Form::Fixed64 | Form::Fixed32);
    Field { number: field.number(), form, is_packable: is_scalar && field.is_list() }
}

/// The bytes are no message of the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misfit;

/// An unfinished container of fields.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The position of its end, if that is known.
    end: Option<u64>,
    /// Its message type, if it is described.
    message: Option<u32>,
    /// The number of the group, which ends with its end tag.
    group: Option<u32>,
}

/// The expected input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    Tag { value: u64, taken: u8 },
    Varint { taken: u8 },
    Length { value: u64, taken: u8, field: Option<Field> },
    Skip { left: u64 },
    Text { left: u64 },
    Varints { left: u64, taken: u8 },
}

const TAG: Awaits = Awaits::Tag { value: 0, taken: 0 };

/// Checks a message against a [`Shape`]. Call [`ShapeReader::begin`] for each message, [`ShapeReader::handle`] with
/// what arrives, [`ShapeReader::end`] at its end.
#[derive(Debug)]
pub struct ShapeReader {
    levels: Vec<Level>,
    awaits: Awaits,
    /// Bytes of the message so far.
    at: u64,
    /// An incomplete character.
    carry: [u8; 4],
    carried: usize,
}

impl Default for ShapeReader {
    fn default() -> Self {
        let mut reader = Self { levels: Vec::new(), awaits: TAG, at: 0, carry: [0; 4], carried: 0 };
        reader.begin();
        reader
    }
}

impl ShapeReader {
    /// Begins a message.
    #[inline]
    pub fn begin(&mut self) {
        self.levels.clear();
        self.levels.push(Level { end: None, message: Some(0), group: None });
        (self.awaits, self.at, self.carried) = (TAG, 0, 0);
    }

    /// Handles more bytes of the message.
    ///
    /// # Errors
    /// The bytes do not fit the shape.
    #[inline]
    pub fn handle(&mut self, shape: &Shape, input: &[u8]) -> Result<(), Misfit> {
        let mut rest = input;
        while !rest.is_empty() {
            let taken = match self.awaits {
                Awaits::Skip { left } => {
                    let count = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    self.awaits = Awaits::Skip { left: left - count as u64 };
                    count
                }
                Awaits::Text { left } => {
                    let count = rest.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    self.text(&rest[..count])?;
                    self.awaits = Awaits::Text { left: left - count as u64 };
                    count
                }
                _ => {
                    self.byte(shape, rest[0])?;
                    1
                }
            };
            self.at += taken as u64;
            rest = &rest[taken..];
            self.close()?;
        }
        Ok(())
    }

    /// Ends the message.
    ///
    /// # Errors
    /// The message is truncated.
    #[inline]
    pub fn end(&self) -> Result<(), Misfit> {
        if self.levels.len() == 1 && self.awaits == TAG { Ok(()) } else { Err(Misfit) }
    }

    /// Leaves the containers that are complete.
    #[inline]
    fn close(&mut self) -> Result<(), Misfit> {
        match self.awaits {
            Awaits::Text { left: 0 } if self.carried > 0 => return Err(Misfit),
            Awaits::Varints { left: 0, taken: 1.. } => return Err(Misfit),
            Awaits::Skip { left: 0 } | Awaits::Text { left: 0 } | Awaits::Varints { left: 0, .. } => self.awaits = TAG,
            _ => {}
        }
        while let Some(Level { end: Some(end), group, .. }) = self.levels.last().copied() {
            if self.at < end {
                break;
            }
            // Nested containers must end first.
            if self.at > end || self.awaits != TAG || group.is_some() {
                return Err(Misfit);
            }
            self.levels.pop();
        }
        Ok(())
    }

    #[inline]
    fn byte(&mut self, shape: &Shape, byte: u8) -> Result<(), Misfit> {
        let is_last = byte & 0x80 == 0;
        match self.awaits {
            Awaits::Tag { value, taken } => {
                let value = more(value, taken, byte)?;
                if is_last {
                    return self.tag(shape, value);
                }
                self.awaits = Awaits::Tag { value, taken: taken + 1 };
            }
            Awaits::Length { value, taken, field } => {
                let value = more(value, taken, byte)?;
                if is_last {
                    return self.length(value, field);
                }
                self.awaits = Awaits::Length { value, taken: taken + 1, field };
            }
            Awaits::Varint { taken } => {
                let taken = one_more(taken, byte)?;
                self.awaits = if is_last { TAG } else { Awaits::Varint { taken } };
            }
            Awaits::Varints { left, taken } => {
                let taken = one_more(taken, byte)?;
                self.awaits = Awaits::Varints { left: left - 1, taken: if is_last { 0 } else { taken } };
            }
            Awaits::Skip { .. } | Awaits::Text { .. } => unreachable!("they are taken in bulk"),
        }
        Ok(())
    }

    #[inline]
    fn tag(&mut self, shape: &Shape, tag: u64) -> Result<(), Misfit> {
        let (number, wire_type) = (u32::try_from(tag >> 3).map_err(|_| Misfit)?, tag & 7);
        if number == 0 || number > NUMBER_MAX {
            return Err(Misfit);
        }
        let level = *self.levels.last().expect("the message itself is there");
        let field = level.message.and_then(|message| shape.field(message, number));
        let form = field.map(|field| field.form);
        self.awaits = match (wire_type, form) {
            (0, None | Some(Form::Varint)) => Awaits::Varint { taken: 0 },
            (1, None | Some(Form::Fixed64)) => Awaits::Skip { left: 8 },
            (5, None | Some(Form::Fixed32)) => Awaits::Skip { left: 4 },
            (2, None | Some(Form::Bytes | Form::Text | Form::Message(_))) => {
                Awaits::Length { value: 0, taken: 0, field }
            }
            (2, Some(_)) if field.is_some_and(|field| field.is_packable) => {
                Awaits::Length { value: 0, taken: 0, field }
            }
            (3, None) => return self.open(None, Some(number), level.end),
            (3, Some(Form::Group(message))) => return self.open(Some(message), Some(number), level.end),
            (4, _) if level.group == Some(number) => {
                self.levels.pop();
                TAG
            }
            _ => return Err(Misfit),
        };
        Ok(())
    }

    #[inline]
    fn open(&mut self, message: Option<u32>, group: Option<u32>, end: Option<u64>) -> Result<(), Misfit> {
        if self.levels.len() > DEPTH_MAX {
            return Err(Misfit);
        }
        self.levels.push(Level { end, message, group });
        self.awaits = TAG;
        Ok(())
    }

    /// Handles the length of a value, which begins with the next byte.
    #[inline]
    fn length(&mut self, length: u64, field: Option<Field>) -> Result<(), Misfit> {
        let end = self.at + 1 + length;
        let outer = self.levels.last().and_then(|level| level.end);
        // Messages are below 2 GiB everywhere.
        if length > i32::MAX as u64 || outer.is_some_and(|outer| end > outer) {
            return Err(Misfit);
        }
        self.awaits = match field.map(|field| field.form) {
            None | Some(Form::Bytes) => Awaits::Skip { left: length },
            Some(Form::Text) => {
                self.carried = 0;
                Awaits::Text { left: length }
            }
            Some(Form::Message(message)) => return self.open(Some(message), None, Some(end)),
            Some(Form::Varint) => Awaits::Varints { left: length, taken: 0 },
            Some(Form::Fixed64) if length.is_multiple_of(8) => Awaits::Skip { left: length },
            Some(Form::Fixed32) if length.is_multiple_of(4) => Awaits::Skip { left: length },
            Some(_) => return Err(Misfit),
        };
        Ok(())
    }

    /// Handles text; characters may be split.
    #[inline]
    fn text(&mut self, bytes: &[u8]) -> Result<(), Misfit> {
        let mut rest = bytes;
        while self.carried > 0
            && let Some((first, tail)) = rest.split_first()
        {
            self.carry[self.carried] = *first;
            self.carried += 1;
            rest = tail;
            match std::str::from_utf8(&self.carry[..self.carried]) {
                Ok(_) => self.carried = 0,
                Err(error) if error.error_len().is_some() => return Err(Misfit),
                Err(_) => {}
            }
        }
        if let Err(error) = std::str::from_utf8(rest) {
            if error.error_len().is_some() {
                return Err(Misfit);
            }
            let tail = &rest[error.valid_up_to()..];
            self.carry[..tail.len()].copy_from_slice(tail);
            self.carried = tail.len();
        }
        Ok(())
    }
}

/// Counts one more byte of a varint; in the last possible one only one bit is allowed.
#[inline]
fn one_more(taken: u8, byte: u8) -> Result<u8, Misfit> {
    let is_too_large = taken >= VARINT_BYTES_MAX || (taken == VARINT_BYTES_MAX - 1 && byte > 1);
    if is_too_large { Err(Misfit) } else { Ok(taken + 1) }
}

/// Adds seven bits to a number below 2^35, which is enough for tags and lengths; zeros may follow.
#[inline]
fn more(value: u64, taken: u8, byte: u8) -> Result<u64, Misfit> {
    let bits = u64::from(byte & 0x7f);
    if taken >= VARINT_BYTES_MAX || (taken >= 5 && bits != 0) {
        return Err(Misfit);
    }
    Ok(value | bits << (7 * u32::from(taken)))
}

#[cfg(test)]
mod tests;
