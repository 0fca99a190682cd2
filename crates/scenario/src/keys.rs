//! The keys of the file: one table for the reader, the schema and the reference.

/// A key of its own, or one that several objects share.
macro_rules! key {
    ($shared:ident) => {
        $shared
    };
    ($name:literal, $kind:expr, $english:literal, $chinese:literal) => {
        field($name, $kind, $english, $chinese)
    };
}

/// Makes an object from its rows: name, kind, and what it means in English and in Chinese; or the name of a shared key.
macro_rules! keys {
    (
        $vis:vis $object:ident = $id:literal, $title:literal, $title_zh:literal $(, any of [$($any:literal),+])?;
        $($key:tt $(: $kind:expr, $english:literal, $chinese:literal)? $(, $need:ident)?;)*
    ) => {
        $vis const $object: Object = Object {
            title: $title,
            title_zh: $title_zh,
            id: $id,
            fields: &[$(key!($key $(, $kind, $english, $chinese)?)$(.$need())?),*],
            any_of: &[$($($any),+)?],
        };
    };
}

/// Makes the objects of steps from their rows, by their verbs.
macro_rules! steps {
    ($($verb:literal { $($key:tt $(: $kind:expr, $english:literal, $chinese:literal)? $(, $need:ident)?;)* })*) => {
        [$(Object {
            title: concat!("a ", $verb, " step"),
            title_zh: concat!($verb, " 步骤"),
            id: $verb,
            fields: &[$(key!($key $(, $kind, $english, $chinese)?)$(.$need())?),*],
            any_of: &[],
        }),*]
    };
}

mod common;
mod custom;
mod figures;
mod flow;
mod retry;
mod sending;
mod shared;
mod steps;
mod top;

pub(crate) use common::{
    ABSENT, CHOICE, DATA_FORMATS, ENCODINGS, EXPECT, FILE_BODY, MEET, MESSAGE, PART, RECEIVE, TAKE,
};
pub(crate) use custom::URL as CUSTOM_URL;
pub(crate) use figures::FIGURE;
pub(crate) use flow::COOKIES;
pub(crate) use retry::RETRY;
pub(crate) use sending::AUTH;
pub(crate) use shared::FRAGMENT;
pub(crate) use steps::{STEP, steps, verb_of};
pub(crate) use top::{DATA, DEFAULTS, FILE, INCLUDED, LOAD, NETWORK, RUN, SCENARIO};

/// An object with keys.
#[derive(Debug)]
pub struct Object {
    /// The name in messages: 'a step', 'the load'.
    pub title: &'static str,
    /// The name in Chinese.
    pub title_zh: &'static str,
    /// The name in the schema.
    pub id: &'static str,
    /// The keys, in the order of the reference.
    pub fields: &'static [Field],
    /// Keys of which one is required.
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
    /// The name, as written.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// Whether it is required.
    pub is_needed: bool,
    /// The meaning in English.
    pub english: &'static str,
    /// The meaning in Chinese.
    pub chinese: &'static str,
}

/// The kind of a value.
#[derive(Debug)]
pub enum Kind {
    /// No value: `key:` alone.
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
    /// One of a set of words.
    Word(&'static [&'static str]),
    /// Any JSON value, with slots in its strings.
    Json,
    /// One or several.
    OneOrMore(&'static Self),
    /// A list.
    List(&'static Self),
    /// Arbitrary names, each with a value.
    Named(&'static Self),
    /// The same, where each is a variable.
    Variables(&'static Self),
    /// An object with keys of its own.
    Object(&'static Object),
    /// One of several kinds.
    Either(&'static [Self]),
    /// Steps, at least one.
    Steps,
    /// Steps, possibly none.
    MaybeSteps,
}

/// An optional key.
pub(crate) const fn field(name: &'static str, kind: Kind, english: &'static str, chinese: &'static str) -> Field {
    Field { name, kind, is_needed: false, english, chinese }
}

impl Field {
    /// Makes the key required.
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
