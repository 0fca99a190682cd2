//! What a protocol says of itself: data.

use metrics::{Class, Stage};
use plan::CustomScheme;

/// A text in both languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// In English.
    pub en: &'static str,
    /// In Chinese.
    pub zh: &'static str,
}

/// What a protocol is called, and what it knows.
#[derive(Debug)]
pub struct About {
    /// Its name: lower-case letters, digits and `-`. It is the step key in scenario files, and `--<name>-<key>` are its
    /// flags.
    pub name: &'static str,
    /// Its name for people, in titles.
    pub title: &'static str,
    /// What a step of it does, in a few words.
    pub help: Phrase,
    /// Its URL schemes.
    pub schemes: &'static [CustomScheme],
    /// The keys of a step.
    pub keys: &'static [Key],
    /// The key whose value may stand for the whole step: `redis: [GET, k]` is `redis: {command: [GET, k]}`.
    pub main_key: &'static str,
    /// The ways in which its peer can break it, in a fixed order; new ones are added at the end. At most
    /// [`metrics::CUSTOM_FAILURES_EACH`].
    pub failures: &'static [OwnFailure],
}

/// A key of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name in scenario files: lower-case letters, digits and `_`. Its flag has `-` instead.
    pub name: &'static str,
    /// Its values.
    pub kind: KeyKind,
    /// Its meaning.
    pub help: Phrase,
    /// Whether a step must have it.
    pub is_needed: bool,
    /// Whether its value is masked where it is shown.
    pub is_secret: bool,
    /// Whether it is about the connection: steps with other values have connections of their own.
    pub is_of_connection: bool,
}

/// The values of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// A text, with slots in scenario files.
    Text,
    /// A number between two others.
    Number {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// `true` or `false`; a flag without a value.
    Switch,
    /// A list of texts; a flag is split into words as a shell does.
    Words,
    /// A list of texts, or several such lists; a flag may be repeated.
    WordLists,
}

/// A way in which the peer breaks the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnFailure {
    /// Its name in reports: that of the protocol, `-`, and what is wrong.
    pub name: &'static str,
    /// Its class.
    pub class: Class,
    /// How far the exchange had come.
    pub stage: Stage,
    /// The cause.
    pub cause: Phrase,
    /// The remedy.
    pub remedy: Phrase,
    /// The section of the page `why` that explains it, if there is one.
    pub section: Option<&'static str>,
}

impl Phrase {
    /// A text in English and in Chinese.
    pub const fn new(en: &'static str, zh: &'static str) -> Self {
        Self { en, zh }
    }
}

impl Key {
    /// A key that a step may have.
    pub const fn new(name: &'static str, kind: KeyKind, en: &'static str, zh: &'static str) -> Self {
        Self { name, kind, help: Phrase { en, zh }, is_needed: false, is_secret: false, is_of_connection: false }
    }

    /// The same, and a step must have it.
    #[must_use]
    pub const fn needed(mut self) -> Self {
        self.is_needed = true;
        self
    }

    /// The same, and it is about the connection: steps with other values have connections of their own.
    #[must_use]
    pub const fn of_connection(mut self) -> Self {
        self.is_of_connection = true;
        self
    }

    /// The same, and its value is masked where it is shown.
    #[must_use]
    pub const fn secret(mut self) -> Self {
        self.is_secret = true;
        self
    }
}

impl OwnFailure {
    /// A failure before a connection can carry requests.
    pub const fn connecting(name: &'static str, cause: Phrase, remedy: Phrase) -> Self {
        Self { name, class: Class::FailedUnanswered, stage: Stage::Connecting, cause, remedy, section: None }
    }

    /// A failure of a request without a valid response.
    pub const fn exchanging(name: &'static str, cause: Phrase, remedy: Phrase) -> Self {
        Self { name, class: Class::FailedUnanswered, stage: Stage::Exchanging, cause, remedy, section: None }
    }

    /// The same, and a section of the page `why` explains it.
    #[must_use]
    pub const fn explained_in(mut self, section: &'static str) -> Self {
        self.section = Some(section);
        self
    }
}
