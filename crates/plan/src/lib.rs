//! What to run: the [`Plan`], and the ways to write one.
//!
//! A plan is complete and checked: code that has one needs no flag and no file any more. Making one starts nothing.
//! Every mistake of a user is a `PlanError`.
//!
//! - `flags` (texts as typed, read in `flags/read.rs`), `tools` (command lines of other load generators) and `curl`
//!   fill a typed `Draft` (`Load`, `Request`, `Answers`, `Connection`); `Draft::plan` checks it
//! - `program`: the steps of a user in one iteration
//! - `pattern`: texts with slots `${...}`, the values of slots, and escaping for the place where a slot is
//! - `talk`: messages of WebSocket and TCP; `hold`: held connections; `endpoints`: their source and destination
//!   addresses
//! - `checks` and `redirect` judge responses, `charset` decodes their text
//! - `secrets`: finds secrets in any text
//! - `grpc`: descriptions of services (`Schema`), messages made of JSON, the `Shape` that responses must have
//! - `encoding`: a plan as bytes, which are validated before they are used (`encoding/validate.rs`)

#[cfg(test)]
#[macro_use]
extern crate claims;

mod address;
mod bound;
mod budget;
mod charset;
mod checks;
mod config;
mod cookies;
mod curl;
mod curl_url;
mod did_you_mean;
pub mod draft;
mod dynamic_parts;
mod encoding;
mod endpoints;
mod error;
mod expression;
mod extract;
mod file;
mod flags;
mod grpc;
mod header;
mod hold;
mod jar;
mod load;
mod nesting;
mod pattern;
mod program;
mod redirect;
mod render;
mod route_overrides;
mod secrets;
mod status;
mod talk;
mod target_policy;
mod text;
mod tls;
mod tools;
mod trace;
mod value;
mod version;

use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub use address::Address;
pub use bound::{Bound, Relation};
pub use budget::{Budget, BudgetPart, parse_bytes};
pub use charset::text_of;
pub use checks::{Checks, HeaderCheck, JSON_MEMORY_BYTES_MAX, JsonCheck, TextCheck, says_seq};
pub use config::{CONFIG_BYTES_MAX, ConfigError, ConfigFault, Setting, parse_config, read_config};
pub use curl::{COMMANDS_MAX, CURL_FILE_BYTES_MAX, curl_words};
pub use did_you_mean::{did_you_mean, distance};
pub use draft::{Draft, HoldDraft, URLS_FILE_BYTES_MAX, URLS_MAX};
pub use dynamic_parts::{DynamicParts, Extraction, Memory};
pub use encoding::{CARRIED_BYTES_MAX, Carried, CarriedError};
pub use endpoints::{Endpoint, Sources, parse_places, parse_sources};
pub use error::{BOUND_SAID_MAX, CurlFault, DataIs, Need, PlanError, Remedy, StageFault, UrlsFault};
pub use expression::{Column, Evaluate, Expression, Interpreters, Meaning, Moment};
pub use extract::{Answered, Extract, ExtractError, ExtractFrom, NotExtracted, TAKEN_MAX, Which};
pub use flags::{Flags, HoldFlags};
pub use grpc::{
    Call, MESSAGES_MAX, MessageTypes, Misfit, Reflection, SCHEMA_BYTES_MAX, Schema, Shape, ShapeReader, missing_imports,
};
pub use header::Header;
pub use hold::{HOLD_MAX, Hold, HoldWork};
pub use jar::{COOKIE_BYTES_MAX, Endpoint as CookieEndpoint, JAR_COOKIES_MAX, Jar};
pub use load::{Arrivals, ConnectionCount, Load, RateStage, UserShape, UserStage, highest};
pub use pattern::{
    ARGUMENTS_MAX, Argument, Filling, Function, Ground, PATTERN_BYTES_MAX, Pattern, PatternError, PatternFault,
    PatternPart, SLOT_BYTES_MAX, SLOT_DEPTH_MAX, SLOTS_MAX, Slot, SlotPlace, is_name,
};
pub use program::{
    Barrier, Choice, DEPTH_MAX, NODES_MAX, Node, OnFailure, OneOf, PARALLEL_MAX, Program, ProgramFault, ROUNDS_MAX,
    Think, Transaction,
};
pub use redirect::{At, Follow, Form, Hop};
pub use render::{Names, NotFilled, Rendering, Scope, Unknown, Uses, ValuePattern};
pub use route_overrides::{ConnectTo, Resolve, RouteOverrides};
pub use secrets::{SecretValues, is_secret_field, masked, masked_header, masked_url};
pub use status::StatusSet;
pub use talk::{MESSAGE_BYTES_MAX, Message, MessageKind, PLACES_MAX, ResponseEnd, Talk};
pub use target_policy::{TargetPolicy, UNASKED_CONNECTIONS_MAX, UNASKED_RATE_MAX, is_name_of_others, is_near};
pub use text::{parse_count, parse_duration, parse_rate, parse_share, parse_span, parse_stages, parse_user_stages};
pub use tls::{OwnCertificate, Protocol, Tls, Trust};
pub use tools::{
    AbSettings, GoStressSettings, HeySettings, OhaFormat, OhaSettings, Settings, Tool, ToolFault, ToolRun, Verify,
    WebbenchSettings, WrkSettings,
};
pub use trace::trace_of;
pub use value::{Value, loses_digits};
pub use version::{TlsVersion, Version};

/// The most users of a plan.
pub const USERS_MAX: u64 = 10_000_000;
/// The most exchanges at a time on one connection.
pub const STREAMS_MAX: u64 = 10_000;
/// Connections of an open load that names no number.
pub const OPEN_CONNECTIONS_MAX: u64 = 10_000;
/// The highest rate, in starts a second.
pub const RATE_MAX: u64 = 100_000_000;
/// One start a second, in the unit of rates: thousandths of a start in an hour.
pub const RATE_UNIT: u64 = 3_600_000;
/// The most stages of a load.
pub const STAGES_MAX: usize = 1_000;
/// The most that a check looks at of one body.
pub const CHECKED_BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The largest body that a request carries.
pub const REQUEST_BODY_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// The shortest interval between two lines of the table.
pub const INTERVAL_MIN: Duration = Duration::from_millis(100);

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Run side by side.
    pub scenarios: Vec<Scenario>,
    /// How long the run waits at its end for what is in flight.
    pub grace: Duration,
    /// How long the load is run before what it does counts.
    pub warmup: Duration,
    /// Time between two snapshots.
    pub interval: Duration,
    /// Where users wait for each other.
    pub barriers: Vec<Barrier>,
    /// What is kept beside the usual.
    pub keeps: CaptureOptions,
    /// What a run may spend at most.
    pub budget: Budget,
    /// The number that its draws come from, where a person may want it again.
    pub seed: Option<u64>,
}

/// What is kept of exchanges beside the usual figures: what the reports of other tools show, and what a person wants to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureOptions {
    /// Each exchange by itself.
    pub rows: bool,
    /// Whether bodies are as long as the first, and how long they took to come.
    pub bodies: bool,
    /// A target that was never reached is tried to the end.
    pub persists: bool,
    /// What fails, as it went.
    pub failures: bool,
    /// The variables of the first user of the first scenario, as they are at the end.
    pub values: bool,
    /// What users remember is shown as it is, secrets too.
    pub secrets: bool,
}

/// A named script against one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Its name in reports.
    pub name: String,
    /// What is under load; the first step goes to the first.
    pub targets: Vec<Target>,
    /// How much of it.
    pub load: Load,
    /// Of a closed load: it begins so long after the run. An open one says that by its stages.
    pub begin: Duration,
    /// An iteration of a user of a closed load starts so often at most.
    pub every: Option<Duration>,
    /// So many iterations of each user of a closed load, at most.
    pub iterations_per_user: Option<u64>,
    /// So many connections that the users of a closed load share; `None`: each has its own.
    pub shared_connections: Option<u64>,
    /// What its users ask for.
    pub steps: Vec<Step>,
    /// What a user does in one iteration.
    pub program: Program,
    /// What users remember.
    pub memory: Memory,
}

/// What is under load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// A name or an address, as it stands in the URL, without brackets.
    pub host: String,
    /// The name or address, and port, that are connected to instead.
    pub dial: Option<(String, u16)>,
    /// The socket of this machine that is connected to instead.
    pub unix: Option<Arc<Path>>,
    /// Its port.
    pub port: u16,
    /// The URL as it was understood.
    pub url: String,
    /// What is spoken with it.
    pub protocol: Protocol,
    /// How many exchanges go on at a time on each connection.
    pub streams: u32,
    /// How its connections are secured, if they are.
    pub tls: Option<Tls>,
    /// Where connections come from.
    pub sources: Sources,
    /// Where they go, in turn, when not to the host of the URL.
    pub places: Vec<Endpoint>,
    /// Where the load may go.
    pub reach: TargetPolicy,
}

/// One action of a user: a request, and what is thought of its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its name in reports.
    pub name: String,
    /// What goes out.
    pub request: Request,
    /// What of it is made anew for each exchange, and what is taken from answers.
    pub making: Option<Arc<DynamicParts>>,
    /// What makes it a call of gRPC, if it is one. Then the statuses of the checks are those of gRPC.
    pub call: Option<Call>,
    /// Which of the targets it goes to.
    pub target: usize,
    /// Where answers send it on, it goes.
    pub follow: Option<Follow>,
    /// Its answers are shown to a person.
    pub is_shown: bool,
    /// What is said on a connection of WebSocket or TCP; then the request is how it is opened.
    pub talk: Option<Talk>,
    /// What makes the answer a success.
    pub checks: Checks,
    /// From sent to done.
    pub timeout: Duration,
    /// From the start of a connection to its establishment.
    pub connect_timeout: Duration,
    /// The connection is used again for the next exchange of the same user.
    pub keep_alive: bool,
    /// A request whose connection, which was kept, ended before its answer goes out once more where that does no harm.
    pub retries: bool,
}

impl Step {
    /// Bytes of what it sends, without heads and frames.
    pub fn bytes(&self) -> usize {
        let message =
            self.talk.as_ref().and_then(|talk| talk.message.as_ref()).map_or(0, |message| message.bytes.len());
        let messages: usize = self.call.iter().flat_map(|call| &call.messages).map(Vec::len).sum();
        self.request.body.len() + message + messages
    }
}

/// The version of HTTP/1 that is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HttpVersion {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    Http11,
}

/// An HTTP request. The fields are complete and in the order in which they go out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// A token.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// In the start line.
    pub version: HttpVersion,
    /// Names are tokens; values have no line ends.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Sent as it is.
    pub body: Vec<u8>,
}

impl Request {
    /// Sending it twice does what sending it once does (RFC 9110 9.2.2).
    pub fn is_idempotent(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE")
    }

    /// A server closes behind a request of HTTP/1.0 that does not ask for another (RFC 9112 9.3), whatever its answer says.
    pub fn asks_to_stay(&self) -> bool {
        let says = |(name, value): &(String, Vec<u8>)| {
            name.eq_ignore_ascii_case("connection")
                && String::from_utf8_lossy(value).to_ascii_lowercase().contains("keep-alive")
        };
        self.version != HttpVersion::Http10 || self.headers.iter().any(says)
    }

    /// It asks the server to say whether it wants the body (RFC 9110 10.1.1). A server of HTTP/1.0 knows no such word.
    pub fn expects_word(&self) -> bool {
        let says = |(name, value): &(String, Vec<u8>)| {
            name.eq_ignore_ascii_case("expect") && value.trim_ascii().eq_ignore_ascii_case(b"100-continue")
        };
        self.version == HttpVersion::Http11 && self.headers.iter().any(says)
    }
}

/// What a step needs of an answer. Nothing else is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseNeeds {
    /// The most bytes of the body that are kept for the checks; 0 for none.
    pub body_bytes_max: usize,
    /// The whole head is kept.
    pub head: bool,
}

/// So much of a body is kept to be shown when a check on the head fails.
const SHOWN_BODY_BYTES_MAX: usize = 1024;

impl Step {
    /// Declared before the run, so that the engine keeps no more than this.
    pub fn needs(&self) -> ResponseNeeds {
        let takes = self.making.iter().flat_map(|making| &making.takes);
        let wants_body =
            self.checks.want_body() || self.checks.want_size() || takes.clone().any(|taking| taking.take.wants_body());
        let wants_head = self.checks.want_head() || takes.clone().any(|taking| taking.take.wants_head());
        ResponseNeeds {
            body_bytes_max: match (wants_body || self.is_shown, wants_head) {
                (true, _) => CHECKED_BODY_BYTES_MAX,
                (false, true) => SHOWN_BODY_BYTES_MAX,
                (false, false) => 0,
            },
            // How the body is coded stands there.
            head: wants_body || wants_head || self.follow.is_some() || self.is_shown,
        }
    }
}

impl Target {
    /// Whom it is about, for messages: host and port.
    pub fn place(&self) -> String {
        match &self.unix {
            Some(path) => format!("unix:{}", path.display()),
            None if self.host.contains(':') => format!("[{}]:{}", self.host, self.port),
            None => format!("{}:{}", self.host, self.port),
        }
    }

    /// The URL of a path of it.
    pub fn url_of(&self, path: &str) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("{scheme}://{host}:{}{path}", self.port)
    }
}

impl Scenario {
    /// What its first step goes to.
    pub fn target(&self) -> &Target {
        self.targets.first().expect("a scenario has a target")
    }

    /// The users of a closed load, or the most exchanges at a time of an open one.
    pub fn users(&self) -> u64 {
        self.load.connections().saturating_mul(u64::from(self.target().streams))
    }
}

impl Plan {
    /// The same with one user who takes each step once, and whose answers are shown.
    #[must_use]
    pub fn for_debug(mut self) -> Self {
        for scenario in &mut self.scenarios {
            scenario.load = Load::Closed { users: 1, shape: UserShape::AtOnce, requests: Some(1), duration: None };
            scenario.targets.iter_mut().for_each(|target| target.streams = 1);
            scenario.steps.iter_mut().for_each(|step| step.is_shown = true);
        }
        // One user would wait for others that never come.
        self.barriers.iter_mut().for_each(|barrier| barrier.users = 1);
        self.warmup = Duration::ZERO;
        // Loops of an iteration may be more than a person makes.
        let requests = self.scenarios.iter().fold(0, |sum: u64, one| sum.saturating_add(one.requests_most()));
        if requests > UNASKED_RATE_MAX { self } else { self.reaching(&TargetPolicy::Anywhere) }
    }

    /// The same, of a load that may go there.
    #[must_use]
    pub fn reaching(mut self, reach: &TargetPolicy) -> Self {
        for scenario in &mut self.scenarios {
            scenario.targets.iter_mut().for_each(|target| target.reach = reach.clone());
            let follows = scenario.steps.iter_mut().filter_map(|step| step.follow.as_mut());
            follows.for_each(|follow| follow.reach = reach.clone());
        }
        self
    }

    /// The same, and what fails is kept as it went.
    #[must_use]
    pub fn for_failures(mut self) -> Self {
        self.keeps.failures = true;
        self
    }

    /// Some exchange was expected to go in a way that the user named.
    pub fn has_expectations(&self) -> bool {
        self.scenarios.iter().flat_map(|scenario| &scenario.steps).any(|step| step.checks.is_expectation)
    }
}

#[cfg(test)]
mod tests;
