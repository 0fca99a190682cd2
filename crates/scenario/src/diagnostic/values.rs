//! Expected kinds of values, and actual values.

use std::fmt;

/// An expected kind of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "its texts say what each is")]
pub enum Wanted {
    Map,
    List,
    Steps,
    Text,
    TextOrList,
    Switch,
    Number,
    Time,
    Rate,
    Stages,
    Rounds,
    Think,
    OnFailure,
    Extract,
    Bound,
    Json,
}

impl Wanted {
    /// All kinds.
    pub const ALL: [Self; 16] = [
        Self::Map,
        Self::List,
        Self::Steps,
        Self::Text,
        Self::TextOrList,
        Self::Switch,
        Self::Number,
        Self::Time,
        Self::Rate,
        Self::Stages,
        Self::Rounds,
        Self::Think,
        Self::OnFailure,
        Self::Extract,
        Self::Bound,
        Self::Json,
    ];

    fn word(self) -> &'static str {
        match self {
            Self::Map => "a map",
            Self::List => "a list",
            Self::Steps => "a list of steps",
            Self::Text => "text",
            Self::TextOrList => "text, or a list of texts",
            Self::Switch => "true or false",
            Self::Number => "a whole number",
            Self::Time => "a time",
            Self::Rate => "a rate",
            Self::Stages => "a number, or a list of stages",
            Self::Rounds => "a number of rounds",
            Self::Think => "a think time",
            Self::OnFailure => "what follows a failure",
            Self::Extract => "what to take",
            Self::Bound => "a bound",
            Self::Json => "a value of JSON",
        }
    }

    /// An example of the notation.
    pub(super) fn example(self) -> &'static str {
        match self {
            Self::Map => "write 'key: value' in lines of their own, indented",
            Self::List => "write a line with '- ' for each item",
            Self::Steps => "write a line with '- ' for each step, like: - get: /",
            Self::Text => "write it in one line, in quotes if need be",
            Self::TextOrList => "write one text, or a line with '- ' for each",
            Self::Switch => "write true or false",
            Self::Number => "write it like 200, 10k or 1_000",
            Self::Time => "write it like 500ms, 10s or 1h30m",
            Self::Rate => "write it like 500/s or 100/m",
            Self::Stages => "write it like 200, or [\"200:2m\", \"0:30s\"]",
            Self::Rounds => "write it like 3, or 1-5 for a number that is drawn",
            Self::Think => "write it like 2s, 1s-3s, exponential(2s), normal(2s, 0.5s) or lognormal(2s, 0.4)",
            Self::OnFailure => "write next_iteration, continue, stop, or retry with a number, like: retry 3",
            Self::Extract => {
                "write it like json $.id, regex id=([0-9]+), header ETag, cookie sid, status, or css input[name=csrf] @value"
            }
            Self::Bound => "write it with <, <=, > or >= in front, like: < 500ms",
            Self::Json => "write text in quotes",
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

/// The value that was found instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoundInstead {
    /// No value.
    Nothing,
    /// A list.
    List,
    /// A map.
    Map,
    /// This text.
    Text(String),
}

/// The most characters of a text in a message.
const SHOWN_CHARS_MAX: usize = 60;

impl FoundInstead {
    /// A text, shortened for display.
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(shortened(text))
    }
}

/// A text for a message: one line, of bounded length.
pub(crate) fn shortened(text: &str) -> String {
    let mut shown: String =
        text.chars().take(SHOWN_CHARS_MAX).map(|each| if each.is_control() { ' ' } else { each }).collect();
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown.push_str("...");
    }
    shown
}

impl fmt::Display for FoundInstead {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => out.write_str("nothing"),
            Self::List => out.write_str("a list"),
            Self::Map => out.write_str("a map"),
            Self::Text(text) => write!(out, "'{text}'"),
        }
    }
}

/// An error in an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionFault {
    /// The expression is empty.
    #[error("an expression is missing here; write one like: price < 100")]
    Empty,
    /// The expression is longer than the limit.
    #[error("an expression has at most {0} bytes; make it shorter")]
    TooLong(usize),
    /// A string without an end.
    #[error("the quote is not closed")]
    Quote,
    /// Unbalanced brackets.
    #[error("the brackets do not match; close each with its own kind")]
    Brackets,
    /// A slot, which is no part of the language.
    #[error("an expression has the variables as its names; write name, not ${{name}}")]
    Slot,
    /// `=` alone.
    #[error("'=' changes a variable, which expressions cannot; write == to compare")]
    Assignment,
    /// Two values without an operator between them.
    #[error("an operator is missing before '{0}'; write &&, ||, ==, < or another one")]
    Operator(String),
    /// `let x = 1; x`
    #[error("'{0}' belongs to a statement, and one expression stands here; write the value itself, like: price * 2")]
    Statement(String),
    /// An operator without a value.
    #[error("a value is missing behind '{0}'")]
    Operand(String),
    /// `and`, `or`, `not`.
    #[error("'{0}' is no operator of JavaScript; write {1}")]
    Word(String, &'static str),
    /// `random(1,10)` within an expression.
    #[error(
        "functions like {0}() have a slot of their own; set a variable to ${{{0}(...)}} and use that, or Math.random() and the like"
    )]
    Function(String),
}

/// The kinds of things with a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "its texts say what each is")]
pub enum Things {
    Choices,
    DataSets,
    Headers,
    Messages,
    Scenarios,
    Stages,
    Steps,
    Takes,
    Variables,
}

impl fmt::Display for Things {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Choices => "choices",
            Self::DataSets => "data sets",
            Self::Headers => "headers",
            Self::Messages => "messages",
            Self::Scenarios => "scenarios",
            Self::Stages => "stages",
            Self::Steps => "steps",
            Self::Takes => "takes",
            Self::Variables => "variables",
        })
    }
}
