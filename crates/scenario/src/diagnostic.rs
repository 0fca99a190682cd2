//! Diagnostics of a file: typed, each with its position. The texts here are English; views have others.

mod flags;
mod names;
mod syntax;
mod values;

pub use flags::as_keys;
pub use names::{LoopWord, NameFault};
pub use syntax::SyntaxFault;
pub(crate) use values::shortened;
pub use values::{ExpressionFault, FoundInstead, Things, Wanted};

use metrics::ThresholdFault;
use plan::{ExtractError, PatternFault, PlanError};

use crate::keys::Object;
use crate::source::{Source, Span};

/// The most diagnostics that are kept of one file; the others are counted.
pub const MISTAKES_MAX: usize = 100;

/// An invalid file with its diagnostics.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    /// The file.
    pub source: Source,
    /// The diagnostics in the order of the file; at most [`MISTAKES_MAX`].
    pub all: Vec<Diagnostic>,
    /// The number of further ones.
    pub more: usize,
}

/// An error at a position.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{fault}")]
pub struct Diagnostic {
    /// The position.
    pub at: Span,
    /// The fault.
    pub fault: Problem,
}

/// The kind of an error, with its remedy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// The file cannot be read.
    #[error("cannot read the file: {reason}; check its path")]
    File {
        /// The error of the system.
        reason: String,
    },
    /// The file is too large.
    #[error("the file has more than {most} bytes; move long lists into data files")]
    FileTooLarge {
        /// The limit, [`crate::FILE_BYTES_MAX`].
        most: usize,
    },
    /// The file is not UTF-8.
    #[error("the file is not UTF-8; save it as UTF-8")]
    NotUtf8,
    /// The file is not valid YAML.
    #[error("{0}")]
    Syntax(SyntaxFault),
    /// An unknown key.
    #[error("'{key}' is no key of {}{}", .object.title, said_near(.near.as_ref(), *.belongs, known))]
    UnknownKey {
        /// The key, as written.
        key: String,
        /// The object that contains it.
        object: &'static Object,
        /// The key that is probably meant.
        near: Option<String>,
        /// The object that has this key, where that is another one.
        belongs: Option<&'static Object>,
        /// All known keys.
        known: String,
    },
    /// A duplicate key.
    #[error("'{key}' stands here again; it is in line {first} already: write it once")]
    DuplicateKey {
        /// The key, as written.
        key: String,
        /// The line of the first.
        first: usize,
    },
    /// A required key is missing.
    #[error("{} needs '{key}'; add it", .object.title)]
    MissingKey {
        /// The object that lacks it.
        object: &'static Object,
        /// The key.
        key: &'static str,
    },
    /// Two keys that exclude each other.
    #[error("'{one}' and '{other}' do not go together; leave one of them out")]
    Conflict {
        /// One key.
        one: &'static str,
        /// The other key.
        other: &'static str,
    },
    /// A key that has no effect without another.
    #[error("'{key}' needs '{needed}' beside it; add that, or leave it out")]
    Needs {
        /// The key.
        key: &'static str,
        /// The key that it needs.
        needed: &'static str,
    },
    /// A value of the wrong kind.
    #[error("{wanted} belongs here, not {given}; {}", .wanted.example())]
    Wrong {
        /// The expected kind.
        wanted: Wanted,
        /// The actual value.
        given: FoundInstead,
    },
    /// A word that some programs read as true or false, and others do not.
    #[error(
        "'{given}' is true or false for some programs and text for others; write true or false, or '{given}' in quotes for text"
    )]
    Boolean {
        /// The text, as written.
        given: String,
    },
    /// A number that some programs read in base 8 or 16.
    #[error(
        "'{given}' means different numbers to different programs; write it in decimal digits, or in quotes for text"
    )]
    Octal {
        /// The text, as written.
        given: String,
    },
    /// A value that the grammar of the flags refuses.
    #[error("{}", as_keys(&.0.to_string()))]
    Value(PlanError),
    /// An invalid extraction.
    #[error("{0}")]
    Extract(ExtractError),
    /// A word that is none of a fixed set.
    #[error("'{given}' is none of {known}{}", said_meant(.near.as_ref()))]
    Choice {
        /// The word, as written.
        given: String,
        /// The word that is probably meant.
        near: Option<String>,
        /// All possible words.
        known: String,
    },
    /// An error in a text with slots.
    #[error("{0}")]
    Pattern(PatternFault),
    /// A slot in a place that allows none.
    #[error("slots are not filled in here; write the text itself")]
    SlotHere,
    /// An error in an expression.
    #[error("{0}")]
    Expression(ExpressionFault),
    /// An error in a threshold.
    #[error("{0}")]
    Threshold(ThresholdFault),
    /// A step without a verb.
    #[error("this step does nothing that is known; it needs one of: {known}")]
    NoVerb {
        /// The possible verbs.
        known: String,
    },
    /// A step with two verbs.
    #[error("a step does one thing, and this one has '{one}' and '{other}'; make it two steps")]
    TwoVerbs {
        /// The first verb.
        one: &'static str,
        /// The second verb.
        other: &'static str,
    },
    /// A message step outside of a connection.
    #[error("'{verb}' belongs into the steps of a websocket or tcp step; put it there")]
    NotTalking {
        /// The verb of the step.
        verb: &'static str,
    },
    /// A step that cannot run in parallel.
    #[error("'{verb}' cannot be under way beside others; 'parallel' takes requests and calls only")]
    NotParallel {
        /// The verb of the step.
        verb: &'static str,
    },
    /// A list that must not be empty.
    #[error("{} has no {key}; add at least one", .object.title)]
    Empty {
        /// The object that contains it.
        object: &'static Object,
        /// The key of the list.
        key: &'static str,
    },
    /// More items than allowed.
    #[error("there are more than {most} {what}; make it fewer")]
    TooMany {
        /// The kind of the items.
        what: Things,
        /// The limit.
        most: usize,
    },
    /// A scenario that never sends a request.
    #[error("the steps of '{scenario}' never send anything; add a step like: get: /")]
    Idle {
        /// The scenario.
        scenario: String,
    },
    /// A loop without a limit.
    #[error("this {0} could go on for ever; add 'max_rounds', the number of rounds after which the step fails")]
    LoopWithoutEnd(LoopWord),
    /// A load without an end.
    #[error("this load never ends; add 'for', 'iterations' or 'iterations_per_user', or give stages with their times")]
    LoadWithoutEnd,
    /// A relative URL without a target.
    #[error(
        "'{url}' is relative, and there is no target; add 'target: https://host' at the top, or write the whole URL"
    )]
    NoTarget {
        /// The URL, as written.
        url: String,
    },
    /// A URL with a scheme of another protocol.
    #[error("'{url}' is not for a '{verb}' step; it takes {}", schemes_of(verb))]
    Scheme {
        /// The URL, as written.
        url: String,
        /// The verb of the step.
        verb: &'static str,
    },
    /// A variable that the command line sets, and the file does not have.
    #[error("--var {name}: the file has no variable '{name}'; it has: {known}")]
    NoVariable {
        /// The name of the variable.
        name: String,
        /// All variables of the file.
        known: String,
    },
    /// A data set with unique rows, used by two scenarios.
    #[error(
        "'{set}' has 'sharing: unique', and another scenario uses it too, which would use its rows again; give each scenario rows of its own"
    )]
    UniqueTwice {
        /// The name of the data set.
        set: String,
    },
    /// A threshold on a part with an abort clause.
    #[error("a threshold of one step, transaction or scenario is judged at the end; leave 'abort' out, or the name")]
    AbortOfPart,
    /// A barrier that can never have all of its users.
    #[error(
        "'{name}' waits for {users} users, and at most {most} can come; write a smaller number, or raise the users of the load"
    )]
    MeetingTooLarge {
        /// The name of the barrier.
        name: String,
        /// The number of users that it waits for.
        users: u64,
        /// The number of users in all scenarios with this barrier.
        most: u64,
    },
    /// A variable host.
    #[error(
        "'${{{text}}}' stands where the host is, which must be known before the run; name a variable of 'vars' that no step takes, or ${{env.NAME}}"
    )]
    HostSlot {
        /// The text in the slot.
        text: String,
    },
    /// A slot in the place of a method name.
    #[error("slots are not filled in here: a step calls one method; write a step for each")]
    MethodSlot,
    /// A slot without a meaning.
    #[error("nobody knows what '${{{text}}}' is; use a variable, a column or a function")]
    Slot {
        /// The text in the slot.
        text: String,
    },
    /// An environment variable that is not set.
    #[error("the environment has no variable {name}; set it before: {name}=VALUE onrush ...")]
    Unset {
        /// The name of the variable.
        name: String,
    },
    /// A variable without a value.
    #[error("'{name}' cannot be reckoned: {reason}")]
    Constant {
        /// The name of the variable.
        name: String,
        /// The reason.
        reason: String,
    },
    /// An expression that is not valid JavaScript.
    #[error("{reason}")]
    Script {
        /// The error of the compiler.
        reason: String,
    },
    /// A program beyond its limits.
    #[error("the steps of this scenario are too many, or lie too deep in each other; cut it into several scenarios")]
    Program {
        /// The fault.
        fault: plan::ProgramFault,
    },
    /// A data file that cannot be read.
    #[error("cannot read the data file '{path}': {reason}; paths begin at the folder of this file")]
    DataFile {
        /// The path, as written.
        path: String,
        /// The error of the system.
        reason: String,
    },
    /// A data file of an unknown kind.
    #[error("nobody knows what '{path}' holds; its name ends in .csv, .tsv, .json or .jsonl, or 'format' says it")]
    DataFormat {
        /// The path, as written.
        path: String,
    },
    /// A data file without rows.
    #[error("the data file '{path}' has no rows; the first line of a CSV file names its columns")]
    DataEmpty {
        /// The path, as written.
        path: String,
    },
    /// A data file whose rows have more or fewer fields than there are column names.
    #[error(
        "'columns' names {wanted}, and the first line of '{path}' has {found} of them; name each, or set 'separator'"
    )]
    DataColumns {
        /// The path, as written.
        path: String,
        /// The number of named columns.
        wanted: usize,
        /// The number of fields.
        found: usize,
    },
    /// An error of a name.
    #[error("{0}")]
    Name(NameFault),
}

/// The hint after the message of an unknown key.
fn said_near(near: Option<&String>, belongs: Option<&Object>, known: &str) -> String {
    match (near, belongs) {
        (Some(near), _) => format!("; did you mean '{near}'?"),
        (None, Some(object)) => format!("; it belongs {}", place_of(object)),
        (None, None) => format!("; it has: {known}"),
    }
}

/// The location of an object's keys.
fn place_of(object: &Object) -> String {
    match object.id {
        "file" => "at the top of the file".to_owned(),
        "scenario" => "into a scenario, beside 'load' and 'steps'".to_owned(),
        "load" | "run" | "defaults" | "expect" | "extract" | "data" | "choose" => format!("under '{}'", object.id),
        _ => "into a step, in a list under 'steps'".to_owned(),
    }
}

/// The hint after a message, where something similar is known.
fn said_meant(near: Option<&String>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"))
}

/// The URL schemes of a step.
fn schemes_of(verb: &str) -> &'static str {
    match verb {
        "grpc" => "grpc:// or grpcs://, or a path of the target that begins with /",
        "websocket" => "ws:// or wss://, or a path of the target that begins with /",
        "tcp" => "tcp://host:port",
        _ => "http:// or https://, or a path of the target that begins with /",
    }
}

impl Problem {
    /// Whether the error is independent of the rest of the file, also of what was not read.
    pub(crate) fn stands_alone(&self) -> bool {
        !matches!(
            self,
            Self::MissingKey { .. }
                | Self::Needs { .. }
                | Self::NoVerb { .. }
                | Self::Empty { .. }
                | Self::Idle { .. }
                | Self::LoopWithoutEnd(_)
                | Self::LoadWithoutEnd
                | Self::NoTarget { .. }
                | Self::Name(_)
                | Self::Wrong { .. }
                | Self::Value(_)
        )
    }
}

/// Collects diagnostics while a file is read.
#[derive(Debug, Default)]
pub(crate) struct DiagnosticSink {
    all: Vec<Diagnostic>,
    more: usize,
}

impl DiagnosticSink {
    pub(crate) fn add(&mut self, at: Span, fault: Problem) {
        let mistake = Diagnostic { at, fault };
        if self.all.contains(&mistake) {
            // An alias repeats the same text.
            return;
        }
        match self.all.len() < MISTAKES_MAX {
            true => self.all.push(mistake),
            false => self.more += 1,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether another diagnostic would be kept. If not, the suggestion for it, which takes long to find, is not
    /// needed.
    pub(crate) fn has_room(&self) -> bool {
        self.all.len() < MISTAKES_MAX
    }

    /// Counts a diagnostic without keeping it.
    pub(crate) fn count(&mut self) {
        self.more += 1;
    }

    /// Drops the diagnostics that may follow from the unread rest of the file.
    pub(crate) fn keep_what_stands_alone(&mut self, behind: usize) {
        self.all.retain(|mistake| mistake.fault.stands_alone() && mistake.at.end <= behind);
    }

    /// Adds the diagnostics of another sink.
    pub(crate) fn join(&mut self, other: Self) {
        self.more += other.more;
        other.all.into_iter().for_each(|mistake| self.add(mistake.at, mistake.fault));
    }

    /// The diagnostics in the order of the file.
    pub(crate) fn into_mistakes(mut self, source: Source) -> Diagnostics {
        self.all.sort_by_key(|mistake| mistake.at);
        Diagnostics { source, all: self.all, more: self.more }
    }
}
