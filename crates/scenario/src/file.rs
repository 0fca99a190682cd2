//! The typed content of a file: complete, with names and positions for the lowering.

mod figure;
mod flow;
mod fragment;
mod load;
mod own;
mod step;

pub use figure::FileFigure;
pub use flow::{AfterFailure, RetryOptions, Rounds};
pub use fragment::Fragment;
pub use load::{Amount, Iterations, Load};
pub use step::{
    Action, Barrier, Body, Call, Choice, CookieChange, Custom, Deadline, DynamicExpect, Expect, Extract, FragmentCall,
    Headers, Json, Loop, Message, MessageData, Messaging, Part, PartValue, Receive, Request, SetValue, Step,
};

use std::path::PathBuf;
use std::time::Duration;

use metrics::Threshold;
use plan::draft::Draft;
use plan::{Budget, Flags, Pattern};

use crate::source::Span;

/// The content of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// The name of the whole in reports.
    pub name: Option<String>,
    /// The base of relative URLs.
    pub target: Option<Pattern>,
    /// Where URLs that are taken from responses may lead beside it.
    pub origins: Vec<Origin>,
    /// Variables with a value from the beginning on; their dependencies have no cycle.
    pub vars: Vec<Variable>,
    /// Names whose values are masked.
    pub secrets: Vec<Secret>,
    /// Files with rows for users.
    pub data: Vec<DataSet>,
    /// Defaults of the steps.
    pub defaults: Defaults,
    /// Figures of the user's own.
    pub figures: Vec<FileFigure>,
    /// Steps that several places share.
    pub fragments: Vec<Fragment>,
    /// The steps of `setup`, done once before the run.
    pub before: Vec<Step>,
    /// The steps of `teardown`, done once after the run.
    pub after: Vec<Step>,
    /// The scenarios, which run in parallel.
    pub scenarios: Vec<Scenario>,
    /// The thresholds.
    pub thresholds: Vec<Limit>,
    /// Settings of the run.
    pub run: Run,
}

/// A name with its position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Name {
    /// Letters, digits and `_`.
    pub text: String,
    /// The position.
    pub at: Span,
}

/// An origin with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// Scheme, host and port, as a URL.
    pub url: Pattern,
    /// The position.
    pub at: Span,
}

/// An expression with its position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expression {
    /// The JavaScript source.
    pub text: String,
    /// The position.
    pub at: Span,
}

/// A variable with a value from the beginning on.
#[derive(Clone, Debug, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: Name,
    /// Its value, which may use other variables.
    pub value: Json,
    /// Whether each user has its own.
    pub per_user: bool,
}

/// A name whose value is masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// A variable, or a data set.
    pub name: Name,
    /// The column of the data set.
    pub column: Option<String>,
}

/// A file with rows for users.
#[derive(Clone, Debug, PartialEq)]
pub struct DataSet {
    /// The name of the data set.
    pub name: Name,
    /// The path; relative ones begin at the folder of the scenario file.
    pub file: PathBuf,
    /// The format of the file.
    pub format: DataFormat,
    /// The encoding of its text.
    pub encoding: Encoding,
    /// The separator of CSV fields.
    pub separator: u8,
    /// The order of the rows.
    pub pick: RowPick,
    /// The distribution of the rows over users.
    pub share: RowShare,
    /// The behaviour after the last row.
    pub at_end: AtEnd,
    /// The columns of each row, when the file could be read.
    pub columns: Option<Vec<String>>,
    /// The columns of CSV whose values are numbers.
    pub numbers: Vec<String>,
    /// Whether the first line is a row already, and the scenario file names the columns.
    pub is_headless: bool,
    /// The condition of the rows that are used; `None`: all are.
    pub filter: Option<Expression>,
}

/// The format of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the format of its name")]
pub enum DataFormat {
    Csv,
    Json,
    JsonLines,
    Folder,
}

/// The text encoding of a data file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the encoding of its name")]
pub enum Encoding {
    #[default]
    Utf8,
    Gbk,
}

/// The order of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowPick {
    /// In sequence.
    #[default]
    Next,
    /// Random.
    Random,
    /// The row of the user's number, in all of its iterations.
    ByUser,
}

/// The distribution of rows over users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowShare {
    /// Users share them.
    #[default]
    Split,
    /// Each user iterates over all of them.
    Copy,
    /// No row twice in the whole run.
    Unique,
}

/// The behaviour after the last row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtEnd {
    /// Continue with the first row.
    #[default]
    Again,
    /// Users stop.
    Stop,
}

/// Defaults of the steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Defaults {
    /// Headers of requests, handshakes and calls.
    pub headers: Headers,
    /// Whether cookies are kept for each user as browsers do; `None`: they are.
    pub cookies: Option<bool>,
    /// The expectations on a good response.
    pub expect: Expect,
    /// The action after a failure.
    pub on_failure: Option<AfterFailure>,
    /// The position of the limit of redirects.
    pub max_redirs_at: Option<Span>,
    /// Settings of requests and their connections from flags: times, TLS, versions, route overrides, service
    /// descriptions.
    pub flags: Draft,
    /// The same as written.
    pub typed: Flags,
    /// The flags that switches turn off, where the defaults of the file have them.
    pub off: Vec<&'static str>,
}

/// The steps of users, and their load.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name in reports.
    pub name: Name,
    /// The load.
    pub load: Load,
    /// The delay from the start of the run to the start of the scenario.
    pub begin: Duration,
    /// Pacing: the minimum time between iteration starts of one user.
    pub every: Option<Duration>,
    /// The number of connections that its users share; `None`: each user has its own.
    pub connections: Option<u64>,
    /// The state that is carried over from one iteration to the next.
    pub carried: CarriedState,
    /// The base of its relative URLs; `None`: that of the file.
    pub target: Option<Pattern>,
    /// Where its taken URLs may lead beside that; `None`: as the file says.
    pub origins: Option<Vec<Origin>>,
    /// Its own variables, over those of the file.
    pub vars: Vec<Variable>,
    /// Its own defaults, over those of the file.
    pub defaults: Option<Defaults>,
    /// The flags of `network`: how the addresses of names are used, where that is not as in the whole file.
    pub network: Flags,
    /// The steps of `on_start`, done once per user before its first iteration.
    pub start: Vec<Step>,
    /// The steps of one iteration.
    pub steps: Vec<Step>,
    /// The steps of `on_stop`, done once per user after its last iteration.
    pub stop: Vec<Step>,
}

/// The state of a user that is carried over from one iteration to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CarriedState {
    /// Whether it is all of it.
    pub is_all: bool,
    /// Otherwise: these variables.
    pub names: Vec<Name>,
    /// Otherwise: whether cookies are.
    pub cookies: bool,
}

/// A threshold with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The figure with its limit.
    pub threshold: Threshold,
    /// The transaction, step or scenario that it is about; `None`: all.
    pub of: Option<Name>,
    /// The position.
    pub at: Span,
}

/// Settings of the run. `None` and empty stand for settings that are not given.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The time of load before measurements count.
    pub warmup: Option<Duration>,
    /// The grace time for exchanges in flight at the end.
    pub grace: Option<Duration>,
    /// The time for `on_stop` of all users at the end.
    pub stop_within: Option<Duration>,
    /// The seed of all random draws.
    pub seed: Option<u64>,
    /// The time between two lines of the table.
    pub interval: Option<Duration>,
    /// The budget.
    pub budget: Option<Budget>,
    /// Hosts that the user allows to load, wherever they are.
    pub consents: Vec<String>,
    /// Threads that generate the load.
    pub threads: Option<u64>,
    /// Whether an unreliable result fails the run.
    pub strict: bool,
    /// Whether half of the users go on as a probe when the load is over.
    pub probe: Option<bool>,
    /// Whether a target that was never reached is tried to the end.
    pub ignores_failures: bool,
    /// The path of the JSON report.
    pub json: Option<String>,
    /// The path of the percentiles.
    pub hdr: Option<String>,
    /// The path of the request log.
    pub log: Option<String>,
}

impl DataSet {
    /// The filter with the names of these columns, by their indices.
    pub fn filter_in_plan(&self, columns: &[String]) -> Option<plan::Expression> {
        let filter = self.filter.as_ref()?;
        let name = |column: &String| format!("{}.{column}", self.name.text);
        let names = columns.iter().map(name).zip((0..).map(plan::Meaning::Column));
        Some(plan::Expression { text: filter.text.clone(), names: names.collect() })
    }
}

impl File {
    /// The number of steps, nested ones included.
    pub fn step_count(&self) -> usize {
        let scenarios = self.scenarios.iter().flat_map(|scenario| [&scenario.start, &scenario.steps, &scenario.stop]);
        [&self.before].into_iter().chain(scenarios).chain([&self.after]).map(|steps| step::count(steps)).sum()
    }
}
