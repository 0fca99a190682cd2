//! What can be wrong with a file: typed, each with its place. The texts here are English; views have others.

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

/// The most mistakes that are kept of one file; the others are counted.
pub const MISTAKES_MAX: usize = 100;

/// A file that is wrong, and all that is.
#[derive(Clone, Debug)]
pub struct Diagnostics {
    /// The file.
    pub source: Source,
    /// In the order of the file; at most [`MISTAKES_MAX`].
    pub all: Vec<Diagnostic>,
    /// How many more there are.
    pub more: usize,
}

/// Something that is wrong at a place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{fault}")]
pub struct Diagnostic {
    /// Where.
    pub at: Span,
    /// What.
    pub fault: Fault,
}

/// What is wrong, and what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// The system does not give the file.
    #[error("cannot read the file: {reason}; check its path")]
    File {
        /// What the system says.
        reason: String,
    },
    /// The file is too large.
    #[error("the file has more than {most} bytes; move long lists into data files")]
    FileTooLarge {
        /// [`crate::FILE_BYTES_MAX`].
        most: usize,
    },
    /// The file is no text.
    #[error("the file is not UTF-8; save it as UTF-8")]
    NotUtf8,
    /// It is no YAML.
    #[error("{0}")]
    Syntax(SyntaxFault),
    /// A key that nobody knows.
    #[error("'{key}' is no key of {}{}", .object.title, said_near(.near.as_ref(), *.belongs, known))]
    UnknownKey {
        /// As written.
        key: String,
        /// Where it stands.
        object: &'static Object,
        /// The one that is probably meant.
        near: Option<String>,
        /// What has it, where that is something else.
        belongs: Option<&'static Object>,
        /// All that there are.
        known: String,
    },
    /// A key twice.
    #[error("'{key}' stands here again; it is in line {first} already: write it once")]
    DuplicateKey {
        /// As written.
        key: String,
        /// The line of the first.
        first: usize,
    },
    /// A key that must be there.
    #[error("{} needs '{key}'; add it", .object.title)]
    MissingKey {
        /// What lacks it.
        object: &'static Object,
        /// Its name.
        key: &'static str,
    },
    /// Two keys that exclude each other.
    #[error("'{one}' and '{other}' do not go together; leave one of them out")]
    Conflict {
        /// A key.
        one: &'static str,
        /// Another.
        other: &'static str,
    },
    /// A key that says nothing without another.
    #[error("'{key}' needs '{needed}' beside it; add that, or leave it out")]
    Needs {
        /// A key.
        key: &'static str,
        /// What it needs.
        needed: &'static str,
    },
    /// Something of another kind.
    #[error("{wanted} belongs here, not {given}; {}", .wanted.example())]
    Wrong {
        /// What belongs there.
        wanted: Wanted,
        /// What is there.
        given: FoundInstead,
    },
    /// A word that some programs read as true or false, and others do not.
    #[error(
        "'{given}' is true or false for some programs and text for others; write true or false, or '{given}' in quotes for text"
    )]
    Boolean {
        /// As written.
        given: String,
    },
    /// A number that some programs read in base 8 or 16.
    #[error(
        "'{given}' means different numbers to different programs; write it in decimal digits, or in quotes for text"
    )]
    Octal {
        /// As written.
        given: String,
    },
    /// A value that the grammar of the flags refuses.
    #[error("{}", as_keys(&.0.to_string()))]
    Value(PlanError),
    /// Something that cannot be taken from any answer.
    #[error("{0}")]
    Extract(ExtractError),
    /// A word of few.
    #[error("'{given}' is none of {known}{}", said_meant(.near.as_ref()))]
    Choice {
        /// As written.
        given: String,
        /// The one that is probably meant.
        near: Option<String>,
        /// All that there are.
        known: String,
    },
    /// A text with slots that is wrong.
    #[error("{0}")]
    Pattern(PatternFault),
    /// A slot where nothing is filled in.
    #[error("slots are not filled in here; write the text itself")]
    SlotHere,
    /// An expression that is wrong.
    #[error("{0}")]
    Expression(ExpressionFault),
    /// A threshold that is wrong.
    #[error("{0}")]
    Threshold(ThresholdFault),
    /// A step that says nothing to do.
    #[error("this step does nothing that is known; it needs one of: {known}")]
    NoVerb {
        /// What a step can do.
        known: String,
    },
    /// A step that says two things to do.
    #[error("a step does one thing, and this one has '{one}' and '{other}'; make it two steps")]
    TwoVerbs {
        /// The first.
        one: &'static str,
        /// The second.
        other: &'static str,
    },
    /// A message without a connection.
    #[error("'{verb}' belongs into the steps of a websocket or tcp step; put it there")]
    NotTalking {
        /// The step.
        verb: &'static str,
    },
    /// What cannot be done at the same time.
    #[error("'{verb}' cannot be under way beside others; 'parallel' takes requests and calls only")]
    NotParallel {
        /// The step.
        verb: &'static str,
    },
    /// A list that needs something in it.
    #[error("{} has no {key}; add at least one", .object.title)]
    Empty {
        /// What it is of.
        object: &'static Object,
        /// What is missing.
        key: &'static str,
    },
    /// More than can be.
    #[error("there are more than {most} {what}; make it fewer")]
    TooMany {
        /// Of what.
        what: Things,
        /// The bound.
        most: usize,
    },
    /// A scenario that never asks anything.
    #[error("the steps of '{scenario}' never send anything; add a step like: get: /")]
    Idle {
        /// Its name.
        scenario: String,
    },
    /// A loop without a bound.
    #[error("this {0} could go on for ever; add 'max_rounds', the number of rounds after which the step fails")]
    LoopWithoutEnd(LoopWord),
    /// A load without an end.
    #[error("this load never ends; add 'for', 'iterations' or 'iterations_per_user', or give stages with their times")]
    LoadWithoutEnd,
    /// A relative URL of nothing.
    #[error(
        "'{url}' is relative, and there is no target; add 'target: https://host' at the top, or write the whole URL"
    )]
    NoTarget {
        /// As written.
        url: String,
    },
    /// A URL of another protocol.
    #[error("'{url}' is not for a '{verb}' step; it takes {}", schemes_of(verb))]
    Scheme {
        /// As written.
        url: String,
        /// The step.
        verb: &'static str,
    },
    /// A variable that the command line sets, and the file does not have.
    #[error("--var {name}: the file has no variable '{name}'; it has: {known}")]
    NoVariable {
        /// Its name.
        name: String,
        /// All that there are.
        known: String,
    },
    /// Rows that nobody has twice, in two scenarios.
    #[error(
        "'{set}' has 'sharing: unique', and another scenario uses it too, which would use its rows again; give each scenario rows of its own"
    )]
    UniqueTwice {
        /// The name of the data.
        set: String,
    },
    /// A threshold of a part that would end the run.
    #[error("a threshold of one step, transaction or scenario is judged at the end; leave 'abort' out, or the name")]
    AbortOfPart,
    /// A meeting that never has all of its users.
    #[error(
        "'{name}' waits for {users} users, and at most {most} can come; write a smaller number, or raise the users of the load"
    )]
    MeetingTooLarge {
        /// Its name.
        name: String,
        /// How many it waits for.
        users: u64,
        /// How many there are in all scenarios with this meeting.
        most: u64,
    },
    /// A host that changes.
    #[error(
        "'${{{text}}}' stands where the host is, which must be known before the run; name a variable of 'vars' that no step takes, or ${{env.NAME}}"
    )]
    HostSlot {
        /// What is in the slot.
        text: String,
    },
    /// A slot where a method is named.
    #[error("slots are not filled in here: a step calls one method; write a step for each")]
    MethodSlot,
    /// A slot that means nothing.
    #[error("nobody knows what '${{{text}}}' is; use a variable, a column or a function")]
    Slot {
        /// What is in it.
        text: String,
    },
    /// A variable of the environment that nobody has set.
    #[error("the environment has no variable {name}; set it before: {name}=VALUE onrush ...")]
    Unset {
        /// Its name.
        name: String,
    },
    /// A variable that has no value.
    #[error("'{name}' cannot be reckoned: {reason}")]
    Constant {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
    /// An expression that is no JavaScript.
    #[error("{reason}")]
    Script {
        /// What the compiler says.
        reason: String,
    },
    /// More than a program can be.
    #[error("the steps of this scenario are too many, or lie too deep in each other; cut it into several scenarios")]
    Program {
        /// What is wrong.
        fault: plan::ProgramFault,
    },
    /// A data file that cannot be read.
    #[error("cannot read the data file '{path}': {reason}; paths begin at the folder of this file")]
    DataFile {
        /// As written.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// A data file of an unknown kind.
    #[error("nobody knows what '{path}' holds; its name ends in .csv, .tsv, .json or .jsonl, or 'format' says it")]
    DataFormat {
        /// As written.
        path: String,
    },
    /// A data file without rows.
    #[error("the data file '{path}' has no rows; the first line of a CSV file names its columns")]
    DataEmpty {
        /// As written.
        path: String,
    },
    /// A data file whose rows are longer or shorter than the names of its columns.
    #[error(
        "'columns' names {wanted}, and the first line of '{path}' has {found} of them; name each, or set 'separator'"
    )]
    DataColumns {
        /// As written.
        path: String,
        /// How many are named.
        wanted: usize,
        /// How many there are.
        found: usize,
    },
    /// Something about a name.
    #[error("{0}")]
    Name(NameFault),
}

/// What follows where a key is unknown.
fn said_near(near: Option<&String>, belongs: Option<&Object>, known: &str) -> String {
    match (near, belongs) {
        (Some(near), _) => format!("; did you mean '{near}'?"),
        (None, Some(object)) => format!("; it belongs {}", place_of(object)),
        (None, None) => format!("; it has: {known}"),
    }
}

/// Where the keys of something stand.
fn place_of(object: &Object) -> String {
    match object.id {
        "file" => "at the top of the file".to_owned(),
        "scenario" => "into a scenario, beside 'load' and 'steps'".to_owned(),
        "load" | "run" | "defaults" | "expect" | "extract" | "data" | "choose" => format!("under '{}'", object.id),
        _ => "into a step, in a list under 'steps'".to_owned(),
    }
}

/// What follows where something like it is known.
fn said_meant(near: Option<&String>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean '{near}'?"))
}

/// The URLs that a step takes.
fn schemes_of(verb: &str) -> &'static str {
    match verb {
        "grpc" => "grpc:// or grpcs://, or a path of the target that begins with /",
        "websocket" => "ws:// or wss://, or a path of the target that begins with /",
        "tcp" => "tcp://host:port",
        _ => "http:// or https://, or a path of the target that begins with /",
    }
}

impl Fault {
    /// It is wrong whatever else the file says, also what was not read any more.
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

/// Where mistakes go while a file is read.
#[derive(Debug, Default)]
pub(crate) struct DiagnosticSink {
    all: Vec<Diagnostic>,
    more: usize,
}

impl DiagnosticSink {
    pub(crate) fn add(&mut self, at: Span, fault: Fault) {
        let mistake = Diagnostic { at, fault };
        if self.all.contains(&mistake) {
            // An alias brings the same text again.
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

    /// Another one would be kept. When not, nobody needs to know what was probably meant, which takes long to find.
    pub(crate) fn has_room(&self) -> bool {
        self.all.len() < MISTAKES_MAX
    }

    /// One more that is only counted.
    pub(crate) fn count(&mut self) {
        self.more += 1;
    }

    /// What follows from the rest of the file, which could not be read, is left out.
    pub(crate) fn keep_what_stands_alone(&mut self, behind: usize) {
        self.all.retain(|mistake| mistake.fault.stands_alone() && mistake.at.end <= behind);
    }

    /// What somebody else found, too.
    pub(crate) fn join(&mut self, other: Self) {
        self.more += other.more;
        other.all.into_iter().for_each(|mistake| self.add(mistake.at, mistake.fault));
    }

    /// In the order of the file.
    pub(crate) fn into_mistakes(mut self, source: Source) -> Diagnostics {
        self.all.sort_by_key(|mistake| mistake.at);
        Diagnostics { source, all: self.all, more: self.more }
    }
}
