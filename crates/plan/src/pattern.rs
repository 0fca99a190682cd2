//! Texts with slots, which are rendered anew for each exchange: `/items/${random(1,1000)}`.
//!
//! A slot is a name, a column of a row, an environment variable, or a call of one of the [`Function`]s: rendering it
//! needs no interpreter. Everything else between `${` and `}` is an expression: its text is kept, and compiled
//! elsewhere. `$${` stands for `${`. The meaning of a name is not known here, only that it is one.

mod function;
mod scan;
#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use function::{Argument, Function, is_name};
use scan::end_of_slot;

use crate::errors;

/// The most bytes of a text with slots.
pub const PATTERN_BYTES_MAX: usize = 1024 * 1024;
/// The most slots of one text.
pub const SLOTS_MAX: usize = 10_000;
/// The most bytes between `${` and `}`.
pub const SLOT_BYTES_MAX: usize = 4096;
/// The maximum nesting of brackets and calls in one slot.
pub const SLOT_DEPTH_MAX: usize = 32;
/// The most arguments of one call.
pub const ARGUMENTS_MAX: usize = 100;

/// A text with slots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pattern {
    /// The parts in order; two texts never follow each other.
    pub parts: Vec<PatternPart>,
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternPart {
    /// Constant text.
    Text(String),
    /// A slot that is filled when it is sent.
    Slot(Slot),
}

/// A slot in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// The source of its value.
    pub filling: Filling,
    /// Its context, which determines the escaping of its value.
    pub place: SlotContext,
    /// The source text, without surrounding blanks.
    pub text: String,
    /// The position of that in the text of the pattern, in bytes.
    pub at: Range<usize>,
}

/// The source of a slot's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Filling {
    /// The value of this name.
    Name(String),
    /// `row.column`: a column of a row, or a key of a variable.
    Column(String, String),
    /// An environment variable of this process.
    Environment(String),
    /// The result of a function.
    Call(Function, Vec<Argument>),
    /// Anything else: a JavaScript expression, the text of the slot.
    Expression,
}

/// The context of a text with slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextContext {
    /// A URL, or its path.
    Url,
    /// The value of a header.
    Header,
    /// A name or a value of a form.
    Form,
    /// A string in JSON.
    Json,
    /// Any text: values are inserted unchanged.
    Text,
}

/// The context of a slot, which determines the escaping of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SlotContext {
    /// The beginning of a URL, up to its path: the value is a URL or the beginning of one, unescaped.
    Origin,
    /// A part of a path: everything but unreserved characters is escaped (RFC 3986 2.3), slashes too.
    Path,
    /// A part of a query: likewise.
    Query,
    /// A header: a value with a line end fails the step.
    Header,
    /// A form: escaped as `application/x-www-form-urlencoded`.
    Form,
    /// Within a JSON string: escaped as strings are (RFC 8259 7).
    JsonString,
    /// A whole JSON string: the value keeps its type.
    JsonValue,
    /// Nothing is escaped.
    Text,
}

/// An error in a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct PatternError {
    /// The position, in bytes of the text.
    pub at: Range<usize>,
    /// The fault.
    pub fault: PatternFault,
}

errors! {
    /// The kind of an error in a pattern.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PatternFault;

    /// There is no `}`.
    Open;
        "${{ has no }}; close it, or write $${{ for the two characters themselves",
        "${{ 没有对应的 }}；请补上，若只是这两个字符请写 $${{";
    /// The slot is empty.
    Empty;
        "${{}} is empty; write a name in it, or $${{ for the two characters themselves",
        "${{}} 是空的；请在其中写名称，若只是这些字符请写 $${{";
    /// Arguments that a function does not accept.
    Arguments(it: Function);
        "{}() takes {}" [it.name(), it.usage()],
        "{}() 需要{}" [it.name(), it.usage_in_chinese()];
    /// A range from more to less.
    Range;
        "random(LEAST, MOST) begins with the smaller number",
        "random(1, 100) 中较小的数写在前面";
    /// More than [`ARGUMENTS_MAX`].
    TooManyArguments;
        "a function takes at most {ARGUMENTS_MAX} arguments; use a data file for more",
        "函数最多有 {} 个参数；更多的值请放进数据文件" [ARGUMENTS_MAX];
    /// More than [`SLOTS_MAX`].
    TooMany;
        "there are more than {SLOTS_MAX} slots; make the text shorter",
        "占位符超过 {} 个；请缩短文本" [SLOTS_MAX];
    /// More than [`SLOT_BYTES_MAX`], or [`PATTERN_BYTES_MAX`].
    TooLong;
        "a slot has at most {SLOT_BYTES_MAX} bytes, and its text {PATTERN_BYTES_MAX}; make it shorter",
        "占位符最多 {} 字节，文本最多 {} 字节；请缩短" [SLOT_BYTES_MAX, PATTERN_BYTES_MAX];
    /// Deeper than [`SLOT_DEPTH_MAX`].
    TooDeep;
        "brackets lie in each other more than {SLOT_DEPTH_MAX} deep; make it simpler",
        "括号嵌套超过 {} 层；请简化" [SLOT_DEPTH_MAX];
    /// Unbalanced brackets.
    Brackets;
        "the brackets of this slot do not match; close each with its own kind",
        "占位符中的括号不匹配；请用对应的括号闭合";
    /// The template syntax of other programs.
    Braces;
        "{{{{ }}}} is not a slot here; write ${{name}}",
        "{{{{ }}}} 在这里不是占位符；请写 ${{名称}}";
}

impl PatternFault {
    fn at(self, at: Range<usize>) -> PatternError {
        PatternError { at, fault: self }
    }
}

impl Pattern {
    /// Parses a text of this context.
    ///
    /// # Errors
    /// The fault, with its position.
    pub fn parse(text: &str, context: TextContext) -> Result<Self, PatternError> {
        if text.len() > PATTERN_BYTES_MAX {
            return Err(PatternFault::TooLong.at(0..0));
        }
        refuse_braces(text, context)?;
        let mut pattern = Self::default();
        let (mut plain, mut at, mut slots) = (String::new(), 0, 0);
        let mut place = Placing::new(context);
        while let Some(found) = text[at..].find("${").map(|found| at + found) {
            let before = &text[at..found];
            if let Some(before) = before.strip_suffix('$') {
                plain.push_str(before);
                plain.push_str("${");
                at = found + 2;
                continue;
            }
            plain.push_str(before);
            let end = end_of_slot(text, found + 2)?;
            place.see(&plain);
            pattern.push_text(&mut plain);
            slots += 1;
            if slots > SLOTS_MAX {
                return Err(PatternFault::TooMany.at(found..end + 1));
            }
            pattern.parts.push(PatternPart::Slot(Slot::read(text, found + 2..end, place.here())?));
            place.pass_slot();
            at = end + 1;
        }
        plain.push_str(&text[at..]);
        pattern.push_text(&mut plain);
        if context == TextContext::Json {
            pattern.keep_type();
        }
        Ok(pattern)
    }

    /// A pattern without slots.
    pub fn plain(text: &str) -> Self {
        let mut pattern = Self::default();
        pattern.push_text(&mut text.to_owned());
        pattern
    }

    fn push_text(&mut self, plain: &mut String) {
        if !plain.is_empty() {
            self.parts.push(PatternPart::Text(std::mem::take(plain)));
        }
    }

    /// A JSON string that is exactly one slot takes the type of its value.
    fn keep_type(&mut self) {
        if let [PatternPart::Slot(slot)] = &mut self.parts[..] {
            slot.place = SlotContext::JsonValue;
        }
    }

    /// The text, if there are no slots.
    pub fn as_plain(&self) -> Option<&str> {
        match &self.parts[..] {
            [] => Some(""),
            [PatternPart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The slots.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.parts.iter().filter_map(|part| match part {
            PatternPart::Slot(slot) => Some(slot),
            PatternPart::Text(_) => None,
        })
    }

    /// The slots, mutable.
    pub fn slots_mut(&mut self) -> impl Iterator<Item = &mut Slot> {
        self.parts.iter_mut().filter_map(|part| match part {
            PatternPart::Slot(slot) => Some(slot),
            PatternPart::Text(_) => None,
        })
    }
}

impl fmt::Display for Pattern {
    /// A possible notation of it.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            PatternPart::Text(text) => out.write_str(&text.replace("${", "$${")),
            PatternPart::Slot(slot) => write!(out, "${{{}}}", slot.text),
        })
    }
}

impl Slot {
    /// Parses the slot at `inner`, between the braces.
    fn read(whole: &str, inner: Range<usize>, place: SlotContext) -> Result<Self, PatternError> {
        let raw = &whole[inner.clone()];
        let text = raw.trim();
        let start = inner.start + raw.len() - raw.trim_start().len();
        let at = start..start + text.len();
        if text.is_empty() {
            return Err(PatternFault::Empty.at(inner.start - 2..inner.end + 1));
        }
        if text.len() > SLOT_BYTES_MAX {
            return Err(PatternFault::TooLong.at(inner.start - 2..inner.start));
        }
        let filling = function::filling(text).map_err(|fault| fault.at(at.clone()))?;
        Ok(Self { filling, place, text: text.to_owned(), at })
    }
}

/// Tracks the context of the next slot.
struct Placing {
    context: TextContext,
    part: UrlPart,
}

/// The current part of a URL.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UrlPart {
    /// Nothing so far.
    Nothing,
    /// A scheme or a host, or a slot that may be anything.
    Origin,
    Path,
    Query,
}

impl Placing {
    fn new(context: TextContext) -> Self {
        Self { context, part: UrlPart::Nothing }
    }

    /// Handles the text before a slot.
    fn see(&mut self, text: &str) {
        if self.context != TextContext::Url || text.is_empty() {
            return;
        }
        let rest = match self.part {
            UrlPart::Nothing => {
                self.part = UrlPart::Origin;
                text.split_once("://").map_or(text, |(_, rest)| rest)
            }
            _ => text,
        };
        if self.part == UrlPart::Origin && rest.contains('/') {
            self.part = UrlPart::Path;
        }
        if rest.contains('?') {
            self.part = UrlPart::Query;
        }
    }

    fn pass_slot(&mut self) {
        if self.part == UrlPart::Nothing {
            self.part = UrlPart::Origin;
        }
    }

    fn here(&self) -> SlotContext {
        match (self.context, self.part) {
            (TextContext::Url, UrlPart::Nothing | UrlPart::Origin) => SlotContext::Origin,
            (TextContext::Url, UrlPart::Path) => SlotContext::Path,
            (TextContext::Url, UrlPart::Query) => SlotContext::Query,
            (TextContext::Header, _) => SlotContext::Header,
            (TextContext::Form, _) => SlotContext::Form,
            (TextContext::Json, _) => SlotContext::JsonString,
            (TextContext::Text, _) => SlotContext::Text,
        }
    }
}

/// `{{name}}` in a URL is never meant literally: it is the syntax of another program.
fn refuse_braces(text: &str, context: TextContext) -> Result<(), PatternError> {
    let Some(start) = text.find("{{").filter(|_| context == TextContext::Url) else { return Ok(()) };
    // Braces within a slot belong to its expression.
    match text[start..].find("}}") {
        Some(length) if !text[..start].contains("${") => Err(PatternFault::Braces.at(start..start + length + 2)),
        _ => Ok(()),
    }
}
