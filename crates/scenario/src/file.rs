//! What a file says, typed: complete, with names and places for whoever carries it out.

mod load;
mod step;

pub use load::{Amount, Iterations, Load};
pub use step::{
    Action, Barrier, Body, Call, Choice, Expect, Extract, Headers, Json, Message, MessageData, Part, PartValue,
    Receive, Request, Step, Talk,
};

use std::path::PathBuf;
use std::time::Duration;

use metrics::Threshold;
use plan::draft::Draft;
use plan::{Budget, Flags, OnFailure, Pattern};

use crate::source::Span;

/// All that a file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// What the whole is called in reports.
    pub name: Option<String>,
    /// What relative URLs begin with.
    pub target: Option<Pattern>,
    /// Values that are there from the beginning on; none is made of one that is made of it.
    pub vars: Vec<Variable>,
    /// Names whose values are shown to nobody.
    pub secrets: Vec<Secret>,
    /// Files with rows for users.
    pub data: Vec<DataSet>,
    /// What is true of each step unless it says otherwise.
    pub defaults: Defaults,
    /// What is done once, before the run.
    pub before: Vec<Step>,
    /// What is done once, after the run.
    pub after: Vec<Step>,
    /// What users do, side by side.
    pub scenarios: Vec<Scenario>,
    /// What figures must be.
    pub thresholds: Vec<Limit>,
    /// How the run goes.
    pub run: Run,
}

/// A name with its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// Letters, digits and `_`.
    pub text: String,
    /// Where it stands.
    pub at: Span,
}

/// A text with its place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expression {
    /// In JavaScript.
    pub text: String,
    /// Where it stands.
    pub at: Span,
}

/// A value that is there from the beginning on.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: Name,
    /// What it is, perhaps made of others.
    pub value: Json,
    /// Each user has its own.
    pub per_user: bool,
}

/// A name whose value is shown to nobody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// A variable, or data.
    pub name: Name,
    /// The column of the data.
    pub column: Option<String>,
}

/// A file with rows for users.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSet {
    /// What its rows are called.
    pub name: Name,
    /// Where it is; relative ones begin at the folder of the scenario file.
    pub file: PathBuf,
    /// What is in it.
    pub format: DataFormat,
    /// How its text is coded.
    pub encoding: Encoding,
    /// What stands between two fields of CSV.
    pub separator: u8,
    /// Which row comes.
    pub pick: RowPick,
    /// Who gets which.
    pub share: RowShare,
    /// What follows the last.
    pub at_end: AtEnd,
    /// What each row has, when the file could be read.
    pub columns: Option<Vec<String>>,
    /// The first line is a row already, and the file of scenarios names the columns.
    pub is_headless: bool,
}

/// What is in a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the format of its name")]
pub enum DataFormat {
    Csv,
    Json,
    JsonLines,
}

/// How the text of a data file is coded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the encoding of its name")]
pub enum Encoding {
    #[default]
    Utf8,
    Gbk,
}

/// Which row comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowPick {
    /// One after the other.
    #[default]
    Next,
    /// Any.
    Random,
}

/// Who gets which rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowShare {
    /// Users share them.
    #[default]
    Split,
    /// Each user goes through all of them.
    Copy,
    /// No row twice in the whole run.
    Unique,
}

/// What follows the last row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtEnd {
    /// The first.
    #[default]
    Again,
    /// Users stop.
    Stop,
}

/// What is true of each step unless it says otherwise.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Defaults {
    /// Headers of requests, handshakes and calls.
    pub headers: Headers,
    /// Cookies are kept for each user as browsers do: so it is unless a file says otherwise.
    pub cookies: bool,
    /// What a good answer is.
    pub expect: Expect,
    /// What follows a failure.
    pub on_failure: Option<OnFailure>,
    /// Where they say how many redirects are followed.
    pub max_redirs_at: Option<Span>,
    /// What flags of a request and its connection say: times, TLS, versions, ways, descriptions of services.
    pub flags: Draft,
    /// The same as it was written.
    pub typed: Flags,
}

/// What users do, and how many of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name in reports.
    pub name: Name,
    /// How much.
    pub load: Load,
    /// So long after the beginning of the run.
    pub begin: Duration,
    /// An iteration of a user starts so often at most.
    pub every: Option<Duration>,
    /// So many connections that its users share; `None`: each user has its own.
    pub connections: Option<u64>,
    /// Variables and cookies are carried on from one iteration to the next.
    pub keep: bool,
    /// Once for each user, before its first iteration.
    pub start: Vec<Step>,
    /// What a user does in one iteration.
    pub steps: Vec<Step>,
    /// Once for each user, after its last iteration.
    pub stop: Vec<Step>,
}

/// What a figure must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The figure, and its bound.
    pub threshold: Threshold,
    /// The transaction, step or scenario that it is of; `None`: of all.
    pub of: Option<Name>,
    /// Where it stands.
    pub at: Span,
}

/// How the run goes. `None` and empty stand for what nobody said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// How long the load runs before it counts.
    pub warmup: Option<Duration>,
    /// How long the end waits for what is in flight.
    pub grace: Option<Duration>,
    /// The same seed draws the same.
    pub seed: Option<u64>,
    /// Time between two lines of the table.
    pub interval: Option<Duration>,
    /// What may be spent.
    pub budget: Option<Budget>,
    /// Hosts that the user may load, wherever they are.
    pub consents: Vec<String>,
    /// Threads that generate the load.
    pub threads: Option<u64>,
    /// A result that the generator spoiled fails the run.
    pub strict: bool,
    /// Half of the users go on when the load is over.
    pub probe: Option<bool>,
    /// A target that was never reached is tried to the end.
    pub persist: bool,
    /// Where the JSON report goes.
    pub json: Option<String>,
    /// Where percentiles go.
    pub hdr: Option<String>,
    /// Where a line for each request goes.
    pub log: Option<String>,
}

impl File {
    /// How many steps there are, with those within others.
    pub fn step_count(&self) -> usize {
        let scenarios = self.scenarios.iter().flat_map(|scenario| [&scenario.start, &scenario.steps, &scenario.stop]);
        [&self.before].into_iter().chain(scenarios).chain([&self.after]).map(|steps| step::count(steps)).sum()
    }
}
