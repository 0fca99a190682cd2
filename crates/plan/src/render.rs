//! Rendering of patterns: bytes of a request, from current values.
//!
//! A [`Rendering`] is a pattern whose names are resolved once. Rendering it reads values from a [`Scope`] and writes
//! each with the escaping of its place, without temporary texts.

mod call;
mod escape;
mod people;
#[cfg(test)]
mod tests;
mod uses;
mod value_pattern;

use base64::Engine;
use serde::{Deserialize, Serialize};

use crate::body_bytes::joined;
use crate::nesting::deeper;
use crate::pattern::{Argument, Filling, Function, Pattern, PatternPart, SlotContext};
use crate::{BodyBytes, Value};
use escape::write_escaped;
pub use uses::Uses;
pub use value_pattern::ValuePattern;

/// The source of values for patterns.
pub trait Scope {
    /// A variable, by its number.
    fn variable(&self, number: u32) -> &Value;

    /// A column of the user's current row, by its number; `None`: there is no row.
    fn column(&mut self, number: u32) -> Option<Value>;

    /// A uniformly random number below `bound`; any 64-bit number for 0.
    fn draw(&mut self, bound: u64) -> u64;

    /// Nanoseconds since 1970.
    fn now_ns(&self) -> u128;

    /// The next value of a counter of the run.
    fn count(&mut self, counter: u32) -> u64;

    /// The value of an expression, by its number.
    ///
    /// # Errors
    /// The reason why it has no value, for the user.
    fn evaluate(&mut self, expression: u32) -> Result<Value, String>;
}

/// The resolver of names.
pub trait Names {
    /// The number of a variable.
    fn variable(&mut self, name: &str) -> Option<u32>;

    /// The number of a column of rows.
    fn column(&mut self, row: &str, column: &str) -> Option<u32>;

    /// The value of an environment variable.
    fn environment(&mut self, name: &str) -> Option<String>;

    /// The number of a counter.
    fn counter(&mut self, name: &str) -> u32;

    /// The number of an expression.
    fn expression(&mut self, text: &str) -> Option<u32>;
}

/// The reason why a pattern cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFilled {
    /// A line end would split a header.
    #[error("a value for a header has a line end; take it without, or encode it")]
    LineEnd,
    /// An extracted URL leads to another host.
    #[error(
        "'{given}' leads neither to the target nor to one of 'origins'; add its origin there, like https://cdn.example"
    )]
    Elsewhere {
        /// The rendered URL.
        given: String,
    },
    /// There are no more rows.
    #[error("there is no row")]
    NoRow,
    /// A file that is none of the folder.
    #[error("there is no file '{path}' in the folder of the data")]
    NoFile {
        /// The path.
        path: String,
    },
    /// A range bound that is no whole number.
    #[error("random() wants whole numbers, the smaller first, not '{given}'")]
    NoRange {
        /// The actual value.
        given: String,
    },
    /// The rendered text is no message of the method.
    #[error("it is no message of the method: {reason}")]
    Message {
        /// The reason.
        reason: String,
    },
    /// An expression without a value.
    #[error("{reason}")]
    Expression {
        /// The reason.
        reason: String,
    },
}

/// An unknown name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The name, as written.
    pub text: String,
}

/// A pattern with resolved names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rendering {
    parts: Vec<TextPart>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum TextPart {
    Text(Box<[u8]>),
    Slot(SlotContext, Term),
    /// The content of one of these files, whose path the value is; sorted by their paths.
    File(Term, Box<[PathWithBody]>),
}

/// A file by its path.
type PathWithBody = (Box<str>, BodyBytes);

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Term {
    Constant(Value),
    Variable(u32),
    Column(u32),
    Count(u32),
    Call(Function, #[serde(deserialize_with = "deeper")] Vec<Self>),
    Expression(u32),
}

/// The numbers of things that slots refer to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotCounts {
    pub(crate) variables: usize,
    pub(crate) columns: usize,
    pub(crate) counters: usize,
    pub(crate) expressions: usize,
}

impl Term {
    fn check_references(&self, known: SlotCounts) -> Result<(), &'static str> {
        let (number, there) = match self {
            Self::Constant(_) => return Ok(()),
            Self::Variable(number) => (*number, known.variables),
            Self::Column(number) => (*number, known.columns),
            Self::Count(number) => (*number, known.counters),
            Self::Expression(number) => (*number, known.expressions),
            Self::Call(function, arguments) if !function.takes(arguments.len()) => {
                return Err("a function with too few arguments, or too many");
            }
            Self::Call(_, arguments) => {
                return arguments.iter().try_for_each(|argument| argument.check_references(known));
            }
        };
        if (number as usize) < there { Ok(()) } else { Err("a slot that nothing fills") }
    }
}

impl Rendering {
    /// Checks that all that it refers to exists.
    pub(crate) fn check_references(&self, known: SlotCounts) -> Result<(), &'static str> {
        self.terms().try_for_each(|term| term.check_references(known))
    }

    /// Resolves the names in the slots of a pattern.
    ///
    /// # Errors
    /// The first unknown name.
    pub fn new(pattern: &Pattern, names: &mut impl Names) -> Result<Self, Unknown> {
        let mut parts = Vec::new();
        for part in &pattern.parts {
            parts.push(match part {
                PatternPart::Text(text) => TextPart::Text(text.as_bytes().into()),
                PatternPart::Slot(slot) => {
                    let term = match &slot.filling {
                        Filling::Expression => names.expression(&slot.text).map(Term::Expression),
                        filling => term_of(filling, names),
                    };
                    TextPart::Slot(slot.place, term.ok_or_else(|| Unknown { text: slot.text.clone() })?)
                }
            });
        }
        Ok(Self { parts })
    }

    /// The sources of its values.
    fn terms(&self) -> impl Iterator<Item = &Term> {
        self.parts.iter().filter_map(|part| match part {
            TextPart::Text(_) => None,
            TextPart::Slot(_, term) | TextPart::File(term, _) => Some(term),
        })
    }

    /// The content of one of these files: of the one whose path the first slot of the pattern gives.
    ///
    /// # Errors
    /// An unknown name.
    pub fn of_file(
        pattern: &Pattern,
        mut files: Vec<(Box<str>, BodyBytes)>,
        names: &mut impl Names,
    ) -> Result<Self, Unknown> {
        files.sort_by(|(one, _), (other, _)| one.cmp(other));
        let terms = Self::new(pattern, names)?.parts.into_iter().filter_map(|part| match part {
            TextPart::Slot(_, term) => Some(TextPart::File(term, files.as_slice().into())),
            TextPart::Text(_) | TextPart::File(..) => None,
        });
        Ok(Self { parts: terms.take(1).collect() })
    }

    /// Whether its first byte is constant.
    pub(crate) fn begins_with_text(&self) -> bool {
        self.parts
            .iter()
            .find(|part| !matches!(part, TextPart::Text(text) if text.is_empty()))
            .is_some_and(|part| matches!(part, TextPart::Text(_)))
    }

    /// Bytes that are always the same.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self { parts: if bytes.is_empty() { Vec::new() } else { vec![TextPart::Text(bytes.into())] } }
    }

    /// The concatenation with another one.
    #[must_use]
    pub fn then(mut self, other: Self) -> Self {
        let mut others = other.parts.into_iter();
        if let Some(TextPart::Text(last)) = self.parts.last_mut()
            && let Some(next) = others.next()
        {
            match next {
                TextPart::Text(text) => *last = joined(std::mem::take(last).into(), text.into()).into(),
                slot @ (TextPart::Slot(..) | TextPart::File(..)) => self.parts.push(slot),
            }
        }
        self.parts.extend(others);
        self
    }

    /// The bytes, if they are constant.
    pub fn constant(&self) -> Option<&[u8]> {
        match &self.parts[..] {
            [] => Some(b""),
            [TextPart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The same, as bytes of its owner.
    ///
    /// # Errors
    /// It is not always the same.
    pub fn into_constant(mut self) -> Result<Vec<u8>, Self> {
        match &mut self.parts[..] {
            [] => Ok(Vec::new()),
            [TextPart::Text(text)] => Ok(std::mem::take(text).into()),
            _ => Err(self),
        }
    }

    /// Writes it, with the values of the moment, behind `out`.
    ///
    /// # Errors
    /// A value is not available, or not valid in its place.
    pub fn fill(&self, scope: &mut impl Scope, out: &mut Vec<u8>) -> Result<(), NotFilled> {
        self.parts.iter().try_for_each(|part| part.fill(scope, out))
    }

    /// The same for a URL that begins with a value, which may have a query: then a further one is joined to it.
    ///
    /// # Errors
    /// As [`Rendering::fill`].
    pub(crate) fn fill_url(&self, scope: &mut impl Scope, out: &mut Vec<u8>) -> Result<(), NotFilled> {
        let begins = out.len();
        for part in &self.parts {
            let joint = out.len();
            part.fill(scope, out)?;
            if matches!(part, TextPart::Text(_)) && out.get(joint) == Some(&b'?') && out[begins..joint].contains(&b'?')
            {
                out[joint] = b'&';
            }
        }
        Ok(())
    }

    /// The value of a pattern that is exactly one slot, with its type; of any other the text.
    ///
    /// # Errors
    /// As [`Rendering::fill`].
    pub fn value(&self, scope: &mut impl Scope) -> Result<Value, NotFilled> {
        if let [TextPart::Slot(_, term)] = &self.parts[..] {
            return term.value(scope);
        }
        let mut out = Vec::new();
        self.fill(scope, &mut out)?;
        Ok(Value::text(&String::from_utf8_lossy(&out)))
    }
}

impl TextPart {
    fn fill(&self, scope: &mut impl Scope, out: &mut Vec<u8>) -> Result<(), NotFilled> {
        match self {
            Self::Text(text) => out.extend_from_slice(text),
            Self::Slot(place, Term::Constant(value)) => write_escaped(value, *place, out)?,
            Self::Slot(place, Term::Variable(number)) => write_escaped(scope.variable(*number), *place, out)?,
            Self::Slot(place, term) => write_escaped(&term.value(scope)?, *place, out)?,
            Self::File(term, files) => {
                let path = term.text(scope)?;
                let place = files.binary_search_by(|(known, _)| (**known).cmp(&path));
                let found = place.ok().and_then(|place| files.get(place));
                out.extend_from_slice(&found.ok_or(NotFilled::NoFile { path })?.1);
            }
        }
        Ok(())
    }
}

fn term_of(filling: &Filling, names: &mut impl Names) -> Option<Term> {
    Some(match filling {
        // A function without arguments can be called like a name; a variable of that name takes precedence.
        Filling::Name(name) => match names.variable(name) {
            Some(number) => Term::Variable(number),
            None => call_of(Function::from_name(name).filter(|function| function.is_bare())?, &[], names)?,
        },
        Filling::Column(row, column) => Term::Column(names.column(row, column)?),
        Filling::Environment(name) => Term::Constant(Value::text(&names.environment(name)?)),
        Filling::Call(function, arguments) => call_of(*function, arguments, names)?,
        Filling::Expression => return None,
    })
}

fn call_of(function: Function, arguments: &[Argument], names: &mut impl Names) -> Option<Term> {
    if function == Function::Counter {
        let name = match arguments {
            [Argument::Text(name)] => name,
            _ => "",
        };
        return Some(Term::Count(names.counter(name)));
    }
    let terms = arguments.iter().map(|argument| match argument {
        Argument::Text(text) => Some(Term::Constant(Value::text(text))),
        Argument::Integer(number) => Some(Term::Constant(Value::Int(*number))),
        Argument::Number(number) => Some(Term::Constant(Value::Float(*number))),
        Argument::Filling(filling) => term_of(filling, names),
        Argument::Expression(text) => names.expression(text).map(Term::Expression),
    });
    Some(Term::Call(function, terms.collect::<Option<_>>()?))
}

impl Term {
    fn value(&self, scope: &mut impl Scope) -> Result<Value, NotFilled> {
        match self {
            Self::Constant(value) => Ok(value.clone()),
            Self::Variable(number) => Ok(scope.variable(*number).clone()),
            Self::Column(number) => scope.column(*number).ok_or(NotFilled::NoRow),
            Self::Count(counter) => Ok(Value::Int(scope.count(*counter) as i64)),
            Self::Expression(number) => scope.evaluate(*number).map_err(|reason| NotFilled::Expression { reason }),
            Self::Call(function, arguments) => called(*function, arguments, scope),
        }
    }

    fn text(&self, scope: &mut impl Scope) -> Result<String, NotFilled> {
        self.value(scope).map(|value| value.to_string())
    }
}

fn called(function: Function, arguments: &[Term], scope: &mut impl Scope) -> Result<Value, NotFilled> {
    let text = |place: usize, scope: &mut _| arguments.get(place).map_or(Ok(String::new()), |term| term.text(scope));
    Ok(match function {
        Function::Random => {
            let (least, most) = (whole(arguments.first(), scope)?, whole(arguments.get(1), scope)?);
            if least > most {
                return Err(NotFilled::NoRange { given: format!("{least}, {most}") });
            }
            let more = most.abs_diff(least);
            Value::Int(least.wrapping_add_unsigned(scope.draw(more.wrapping_add(1))))
        }
        Function::Uuid => {
            let bits = u128::from(scope.draw(0)) << 64 | u128::from(scope.draw(0));
            Value::text(&uuid(bits))
        }
        Function::Now => match text(0, scope)?.as_str() {
            "s" => Value::Int((scope.now_ns() / 1_000_000_000) as i64),
            "us" => Value::Int((scope.now_ns() / 1_000) as i64),
            "iso" => Value::text(&iso(scope.now_ns())),
            _ => Value::Int((scope.now_ns() / 1_000_000) as i64),
        },
        Function::Base64 => {
            let texts: Result<Vec<String>, _> = arguments.iter().map(|term| term.text(scope)).collect();
            Value::text(&base64::engine::general_purpose::STANDARD.encode(texts?.concat()))
        }
        Function::Sha256 => Value::text(&hex(&hmac_sha256::Hash::hash(text(0, scope)?.as_bytes()))),
        Function::Hmac => {
            let (key, text) = (text(0, scope)?, text(1, scope)?);
            Value::text(&hex(&hmac_sha256::HMAC::mac(text.as_bytes(), key.as_bytes())))
        }
        Function::UrlEncode => {
            let mut out = Vec::new();
            write_escaped(&Value::text(&text(0, scope)?), SlotContext::Query, &mut out)?;
            Value::text(&String::from_utf8_lossy(&out))
        }
        Function::Json => {
            let mut out = Vec::new();
            arguments.first().map_or(Ok(Value::Null), |term| term.value(scope))?.write_json(&mut out);
            Value::text(&String::from_utf8_lossy(&out))
        }
        Function::Pick => {
            let place = scope.draw(arguments.len() as u64) as usize;
            arguments.get(place).map_or(Ok(Value::Null), |term| term.value(scope))?
        }
        Function::Name => Value::text(&people::name(scope)),
        Function::Email => Value::text(&people::email(scope)),
        Function::Phone => Value::text(&people::phone(scope)),
        // It is a term of its own.
        Function::Counter => Value::Null,
    })
}

fn whole(term: Option<&Term>, scope: &mut impl Scope) -> Result<i64, NotFilled> {
    let value = term.map_or(Ok(Value::Null), |term| term.value(scope))?;
    match &value {
        Value::Int(number) => Ok(*number),
        other => other.to_string().trim().parse().map_err(|_| NotFilled::NoRange { given: other.to_string() }),
    }
}

#[inline]
fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Version 4 (RFC 9562): all bits are random but those of the version and the variant.
#[inline]
fn uuid(bits: u128) -> String {
    let bits = bits & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let digits = format!("{bits:032x}");
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// RFC 3339, with milliseconds, in UTC.
#[inline]
fn iso(now_ns: u128) -> String {
    let (millis, seconds) = (now_ns / 1_000_000 % 1_000, (now_ns / 1_000_000_000) as i64);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March, of eras of 400.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year_of_era + era * 400 + year;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}
