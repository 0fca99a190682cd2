//! The keys of the file: one table that the reader goes by, and that the schema and the reference are made of.

mod common;
mod steps;
mod top;

pub(crate) use common::{CHOICE, DATA_FORMATS, ENCODINGS, EXPECT, FILE_BODY, MEET, MESSAGE, PART, RECEIVE, TAKE};
pub(crate) use steps::{STEP, STEPS, verb_of};
pub(crate) use top::{DATA, DEFAULTS, FILE, LOAD, RUN, SCENARIO};

/// Something with keys.
#[derive(Debug)]
pub struct Object {
    /// What it is called in messages: 'a step', 'the load'.
    pub title: &'static str,
    /// The same in Chinese.
    pub title_zh: &'static str,
    /// Its name in the schema.
    pub id: &'static str,
    /// In the order of the reference.
    pub fields: &'static [Field],
    /// One of these must be there.
    pub any_of: &'static [&'static str],
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// A key.
#[derive(Debug)]
pub struct Field {
    /// As it is written.
    pub name: &'static str,
    /// What belongs behind it.
    pub kind: Kind,
    /// It must be there.
    pub is_needed: bool,
    /// What it means.
    pub english: &'static str,
    /// The same in Chinese.
    pub chinese: &'static str,
}

/// What belongs behind a key.
#[derive(Debug)]
pub enum Kind {
    /// Nothing: `key:` alone.
    Nothing,
    /// A text; numbers and switches are the text that they are written as.
    Text,
    /// A text with slots.
    Pattern,
    /// An expression in JavaScript.
    Expression,
    /// true or false.
    Switch,
    /// A whole number.
    Count,
    /// A time.
    Time,
    /// A rate.
    Rate,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Anything that JSON knows, with slots in its strings.
    Json,
    /// One or several.
    OneOrMore(&'static Self),
    /// A list.
    List(&'static Self),
    /// Names of any kind, and what belongs behind each.
    Named(&'static Self),
    /// The same; each is a variable.
    Variables(&'static Self),
    /// Keys of its own.
    Object(&'static Object),
    /// One of these.
    Either(&'static [Self]),
    /// Steps, at least one.
    Steps,
    /// Steps, perhaps none.
    MaybeSteps,
}

/// A key that may be left out.
pub(crate) const fn field(name: &'static str, kind: Kind, english: &'static str, chinese: &'static str) -> Field {
    Field { name, kind, is_needed: false, english, chinese }
}

impl Field {
    /// It must be there.
    pub(crate) const fn needed(mut self) -> Self {
        self.is_needed = true;
        self
    }
}

impl Object {
    /// The key of this name.
    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// All keys, for a message.
    pub(crate) fn known(&self) -> String {
        self.fields.iter().map(|field| field.name).collect::<Vec<_>>().join(", ")
    }
}
