//! The [`Plan`] of a run, and the ways to make one.
//!
//! A plan is complete and checked: code that has one needs no flag and no file any more. Making one starts nothing.
//! Every mistake of a user is a `PlanError`.
//!
//! - `flags` (texts as typed, read in `flags/read.rs`), `tools` (command lines of other load generators) and `curl`
//!   fill a typed `Draft` (`Load`, `Request`, `ResponseChecks`, `Connection`); `Draft::plan` checks it
//! - `program`: the steps of a user in one iteration
//! - `pattern`: texts with slots `${...}`, the values of slots, and escaping for the place where a slot is
//! - `messaging`: messages of WebSocket and TCP; `hold`: held connections; `endpoints`: their source and destination
//!   addresses
//! - `checks` and `redirect` judge responses, `charset` decodes their text
//! - `secrets`: finds secrets in any text
//! - `grpc`: descriptions of services (`Schema`), messages made of JSON, the `Shape` that responses must have
//! - `encoding`: a plan as bytes, which are validated before they are used (`encoding/validate.rs`)

#[cfg(test)]
#[macro_use]
extern crate claims;

mod address;
mod body_bytes;
mod bound;
mod budget;
mod charset;
mod checks;
mod config;
mod connection_limits;
mod cookies;
mod curl;
mod curl_url;
mod custom;
mod deadline;
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
mod folder;
mod grpc;
mod header;
mod hold;
mod jar;
mod load;
mod messaging;
mod names;
mod nesting;
mod pattern;
mod program;
mod proxy;
mod redirect;
mod render;
mod route_overrides;
mod secrets;
mod status;
mod target_policy;
mod target_route;
mod text;
mod tls;
mod tools;
mod trace;
mod url_origin;
mod value;
mod variants;
mod version;
mod zone;

use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::nesting::deeper;

pub use address::Address;
pub use body_bytes::{BodyBytes, SHARED_BYTES_MIN};
pub use bound::{Bound, Relation};
pub use budget::{Budget, BudgetPart, parse_bytes};
pub use charset::text_of;
pub use checks::{
    Absent, CheckOf, Checks, DynamicCheck, HeaderCheck, JSON_MEMORY_BYTES_MAX, JsonCheck, TextCheck, says_seq,
};
pub use config::{ConfigError, ConfigFault, Setting, parse_config, read_config};
pub use connection_limits::{CONNECTION_TIME_MIN, ConnectionLimits};
pub use curl::{COMMANDS_MAX, CURL_FILE_BYTES_MAX, CurlAsk, CurlFlags, curl_ask, curl_flags, curl_words, shell_words};
pub use custom::{
    CUSTOM_TEXTS_MAX, CheckedRequest, CustomEndpoint, CustomMistake, CustomProtocol, CustomRequest, CustomScheme,
    FieldText, FieldValue, protocol_named, protocols, register_protocols,
};
pub use did_you_mean::{did_you_mean, distance};
pub use draft::{Draft, HoldDraft, SCENARIO_OF_URL, URLS_FILE_BYTES_MAX, URLS_MAX};
pub use dynamic_parts::{DynamicParts, Extraction, Memory};
pub use encoding::{ENCODED_PLAN_BYTES_MAX, EncodedPlan, EncodedPlanError};
pub use endpoints::{Endpoint, Sources, parse_places, parse_sources};
pub use error::{CurlFault, DataIs, Need, PlanError, Remedy, StageFault, UrlsFault, listed};
pub use expression::{Builtin, Column, Evaluate, Expression, Interpreters, Meaning, Moment};
pub use extract::{Answered, Extract, ExtractError, ExtractFrom, NotExtracted, TAKEN_MAX, Which};
pub use flags::{CustomFlags, FlagSource, Flags, FromFlag, HoldFlags, parse_status_words};
pub use folder::{FolderFile, folder_files, path_in_folder};
pub use grpc::{
    Call, MESSAGES_MAX, MessageTypes, Misfit, Reflection, SCHEMA_BYTES_MAX, Schema, Shape, ShapeReader, missing_imports,
};
pub use header::Header;
pub use hold::{HOLD_MAX, Hold, HoldWork};
pub use jar::{COOKIE_BYTES_MAX, Endpoint as CookieEndpoint, JAR_COOKIES_MAX, Jar};
pub use load::{Arrivals, ConnectionCount, Load, RateStage, UserShape, UserStage, highest};
pub use messaging::{MESSAGE_BYTES_MAX, Message, MessageKind, Messaging, PLACES_MAX, ResponseEnd};
pub use names::{AddressChoice, LOOKUP_EVERY_MIN, LookupAgain, NameOptions};
pub use pattern::{
    ARGUMENTS_MAX, Argument, Filling, Function, PATTERN_BYTES_MAX, Pattern, PatternError, PatternFault, PatternPart,
    SLOT_BYTES_MAX, SLOT_DEPTH_MAX, SLOTS_MAX, Slot, SlotContext, TextContext, is_name,
};
pub use program::{
    AssignedTo, Assignment, Barrier, Choice, DEPTH_MAX, FIGURES_MAX, ITEMS_MAX, Loop, Measurement, NODES_MAX, Node,
    OnFailure, OneOf, OwnFigure, OwnKind, PARALLEL_MAX, PlannedEnd, Program, ProgramFault, RETRIES_MAX, ROUNDS_MAX,
    Retry, RetryFault, Rounds, Think, Transaction, retry_after,
};
pub use proxy::{
    PROXY_VARIABLES, Proxy, ProxyCredentials, ProxyHeaderOptions, ProxyHeaderVersion, ProxyKind, ProxyMode,
    ProxyOptions, SECURE_PROXY_VARIABLES, exceptions_of_variables, is_exception,
};
pub use redirect::{ChainPosition, Follow, Form, Hop};
pub use render::{Names, NotFilled, Rendering, Scope, Unknown, Uses, ValuePattern};
pub use route_overrides::{ConnectTo, Resolve, RouteOverrides};
pub use secrets::{
    Credential, FlagDialect, SecretValues, credential, is_secret_field, masked, masked_header, masked_url,
    percent_decoded,
};
pub use status::StatusSet;
pub use target_policy::{TargetPolicy, UNASKED_CONNECTIONS_MAX, UNASKED_RATE_MAX, is_name_of_others, is_near};
pub use text::{parse_count, parse_duration, parse_rate, parse_share, parse_span, parse_stages, parse_user_stages};
pub use tls::{OwnCertificate, Protocol, Tls, Trust};
pub use tools::{
    AbSettings, GoStressSettings, HeySettings, OhaFormat, OhaSettings, Settings, Tool, ToolFault, ToolRun, Verify,
    WebbenchSettings, WrkSettings,
};
pub use trace::trace_of;
pub use url_origin::{ORIGINS_MAX, UrlOrigin};
pub use value::{JsonScan, NotJson, Value, is_space, loses_digits, number_of_text, plain_string_end};
pub use version::{TlsVersion, Version};

/// The most users of a plan.
pub const USERS_MAX: u64 = 10_000_000;
/// The most exchanges at a time on one connection.
pub const STREAMS_MAX: u64 = 10_000;
/// The default number of connections of an open load.
pub const OPEN_CONNECTIONS_MAX: u64 = 10_000;
/// The highest rate, in starts per second.
pub const RATE_MAX: u64 = 100_000_000;
/// One start per second, in the unit of rates: thousandths of a start per hour.
pub const RATE_UNIT: u64 = 3_600_000;
/// The most stages of a load.
pub const STAGES_MAX: usize = 1_000;
/// The most bytes of one body that a check reads.
pub const CHECKED_BODY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The largest body that a request carries.
pub const REQUEST_BODY_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// The time at the end for what users do when they leave, unless it is given.
pub const STOP_WITHIN: Duration = Duration::from_secs(10);
/// The shortest interval between two lines of the table.
pub const INTERVAL_MIN: Duration = Duration::from_millis(100);

/// The plan of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The scenarios, which run in parallel.
    pub scenarios: Vec<Scenario>,
    /// The grace time at the end for exchanges in flight.
    pub grace: Duration,
    /// The time at the end for what users do when they leave.
    pub stop_within: Duration,
    /// The time of load before measurements count.
    pub warmup: Duration,
    /// Time between two snapshots.
    pub interval: Duration,
    /// The barriers at which users wait for each other.
    pub barriers: Vec<Barrier>,
    /// The additional data that is captured.
    pub capture_options: CaptureOptions,
    /// The budget.
    pub budget: Budget,
    /// The seed of random draws, where it is reproducible for the user.
    pub seed: Option<u64>,
}

/// Options for data that is captured in addition to the usual figures: for the output of other tools, and for display.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaptureOptions {
    /// A row for each exchange.
    pub rows: bool,
    /// Whether bodies have the length of the first, and the time that they took to arrive.
    pub bodies: bool,
    /// Whether a target that was never reached is tried to the end.
    pub ignores_failures: bool,
    /// Failed exchanges in full.
    pub failures: bool,
    /// The final variables of the first user of the first scenario.
    pub values: bool,
    /// Whether the state of users is shown with its secrets.
    pub secrets: bool,
}

/// A named script against one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Its name in reports.
    pub name: String,
    /// The targets; the first step goes to the first.
    pub targets: Vec<Target>,
    /// The load.
    pub load: Load,
    /// Of a closed load: the delay from the start of the run. An open one has a stage for it.
    pub begin: Duration,
    /// Pacing: the minimum time between iteration starts of one user of a closed load.
    pub every: Option<Duration>,
    /// The most iterations of each user of a closed load.
    pub iterations_per_user: Option<u64>,
    /// The number of connections that the users of a closed load share; `None`: each has its own.
    pub shared_connections: Option<u64>,
    /// The steps of its users.
    pub steps: Vec<Step>,
    /// The actions of a user in one iteration.
    pub program: Program,
    /// The state of users.
    pub memory: Memory,
}

/// What is under load.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The name or address in the URL, without brackets.
    pub host: String,
    /// The interface through which a link-local address is reached.
    pub zone: Option<String>,
    /// The name or address, and port, to connect to instead.
    pub dial: Option<(String, u16)>,
    /// The Unix socket to connect to instead.
    pub unix: Option<Arc<Path>>,
    /// Its port.
    pub port: u16,
    /// The URL, as parsed.
    pub url: String,
    /// The protocol.
    pub protocol: Protocol,
    /// Of a custom protocol: which one, and what else the URL says.
    pub custom: Option<Box<CustomEndpoint>>,
    /// The number of concurrent exchanges on each connection.
    pub streams: u32,
    /// The TLS options, if it uses TLS.
    pub tls: Option<Tls>,
    /// The source addresses of connections.
    pub sources: Sources,
    /// The addresses to connect to, in turn, when not those of the host in the URL.
    pub places: Vec<Endpoint>,
    /// The proxy that its connections go through.
    pub proxy: Option<Box<Proxy>>,
    /// The header of the PROXY protocol that they begin with.
    pub proxy_header: Option<ProxyHeaderOptions>,
    /// How the addresses of its name are used.
    pub names: NameOptions,
    /// The limits of its kept connections.
    pub connection_limits: ConnectionLimits,
    /// The target policy.
    pub target_policy: TargetPolicy,
}

/// One action of a user: a request, and the checks of its response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its name in reports.
    pub name: String,
    /// The request.
    pub request: Request,
    /// The parts of it that are made anew for each exchange, and the extractions.
    pub dynamic_parts: Option<Arc<DynamicParts>>,
    /// The gRPC part, if it is a call. Then the statuses of the checks are those of gRPC.
    pub call: Option<Call>,
    /// The index of its target.
    pub target: usize,
    /// How redirects are followed, if they are.
    pub follow: Option<Follow>,
    /// Whether its responses are shown to the user.
    pub is_shown: bool,
    /// The message on a WebSocket or TCP connection; then the request is its handshake.
    pub messaging: Option<Messaging>,
    /// The checks that make the response a success.
    pub checks: Checks,
    /// The time limit from sent to done.
    pub timeout: Duration,
    /// The time after which a success counts as missed; it ends nothing. Of the first step of an iteration in a load by
    /// rate from the planned start, else from its own.
    pub deadline: Option<Duration>,
    /// The time limit of a connection's establishment.
    pub connect_timeout: Duration,
    /// Its tags, like `kind=api`: thresholds may be of all steps with one.
    pub tags: Vec<String>,
    /// The same step at each of the origins of its dynamic parts: a URL that is known only later may lead there.
    #[serde(deserialize_with = "deeper")]
    pub at_origins: Vec<Self>,
    /// Whether the connection is reused for the next exchange of the same user.
    pub keep_alive: bool,
    /// Whether a request is resent, where that does no harm, when its kept connection ended before the response.
    pub retries: bool,
}

impl Step {
    /// Changes it, and what it is at its origins.
    pub fn change_with_origins(&mut self, change: &mut dyn FnMut(&mut Self)) {
        change(self);
        self.at_origins.iter_mut().for_each(change);
    }

    /// The bytes that it sends, without heads and frames.
    pub fn bytes(&self) -> usize {
        let message = self
            .messaging
            .as_ref()
            .and_then(|messaging| messaging.message.as_ref())
            .map_or(0, |message| message.bytes.len());
        let messages: usize = self.call.iter().flat_map(|call| &call.messages).map(Vec::len).sum();
        self.request.body.len() + message + messages
    }
}

/// The version of HTTP/1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HttpVersion {
    /// HTTP/1.0
    Http10,
    /// HTTP/1.1
    Http11,
}

/// An HTTP request. The fields are complete and in the order in which they are sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// The method, an HTTP token.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The version in the start line.
    pub version: HttpVersion,
    /// The headers. Names are tokens; values have no line ends.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Sent as it is.
    pub body: BodyBytes,
}

impl Request {
    /// Whether sending it twice has the effect of sending it once (RFC 9110 9.2.2).
    #[inline]
    pub fn is_idempotent(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD" | "OPTIONS" | "TRACE" | "PUT" | "DELETE")
    }

    /// Whether it asks for a persistent connection: a server closes after an HTTP/1.0 request that does not (RFC 9112
    /// 9.3), whatever its response says.
    pub fn asks_to_stay(&self) -> bool {
        let says = |(name, value): &(String, Vec<u8>)| {
            name.eq_ignore_ascii_case("connection")
                && String::from_utf8_lossy(value).to_ascii_lowercase().contains("keep-alive")
        };
        self.version != HttpVersion::Http10 || self.headers.iter().any(says)
    }

    /// Whether it expects `100 Continue` before the body (RFC 9110 10.1.1). An HTTP/1.0 server does not know that.
    #[inline]
    pub fn expects_word(&self) -> bool {
        let says = |(name, value): &(String, Vec<u8>)| {
            name.eq_ignore_ascii_case("expect") && value.trim_ascii().eq_ignore_ascii_case(b"100-continue")
        };
        self.version == HttpVersion::Http11 && self.headers.iter().any(says)
    }
}

/// The parts of a response that a step needs. Nothing else is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseNeeds {
    /// The most bytes of the body that are kept for the checks; 0 for none.
    pub body_bytes_max: usize,
    /// Whether the whole head is kept.
    pub head: bool,
}

/// The bytes of a body that are kept for display when a check of the head fails.
const SHOWN_BODY_BYTES_MAX: usize = 1024;

impl Step {
    /// Declared before the run, so that the engine keeps no more than this.
    pub fn needs(&self) -> ResponseNeeds {
        let takes = self.dynamic_parts.iter().flat_map(|dynamic_parts| &dynamic_parts.takes);
        let expects = self.dynamic_parts.iter().flat_map(|dynamic_parts| &dynamic_parts.expects);
        let wants_body = self.checks.want_body()
            || self.checks.want_size()
            || expects.clone().any(|check| check.of.wants_body())
            || takes.clone().any(Extraction::wants_body);
        let wants_head = self.checks.want_head()
            || expects.clone().any(|check| matches!(check.of, CheckOf::Header(_)))
            || takes.clone().any(Extraction::wants_head);
        ResponseNeeds {
            body_bytes_max: match (wants_body || self.is_shown, wants_head) {
                (true, _) => CHECKED_BODY_BYTES_MAX,
                (false, true) => SHOWN_BODY_BYTES_MAX,
                (false, false) => 0,
            },
            // The head has the content coding of the body.
            head: wants_body || wants_head || self.follow.is_some() || self.is_shown,
        }
    }
}

impl Target {
    /// The host and port that connections go to.
    pub fn dialed(&self) -> (&str, u16) {
        self.dial.as_ref().map_or((&self.host, self.port), |(host, port)| (host, *port))
    }

    /// Whether messages to it are datagrams (UDP).
    pub fn is_datagram(&self) -> bool {
        self.custom.as_deref().is_some_and(|endpoint| endpoint.is_datagram)
    }

    /// Host and port, for messages.
    #[inline]
    pub fn place(&self) -> String {
        match &self.unix {
            Some(path) => format!("unix:{}", path.display()),
            None if self.host.contains(':') => format!("[{}]:{}", self.host, self.port),
            None => format!("{}:{}", self.host, self.port),
        }
    }
}

impl Scenario {
    /// The target of its first step.
    pub fn target(&self) -> &Target {
        self.targets.first().expect("a scenario has a target")
    }

    /// The steps, and behind them those at their origins.
    pub fn all_steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().chain(self.steps.iter().flat_map(|step| &step.at_origins))
    }

    /// Changes all of them.
    pub(crate) fn change_steps(&mut self, change: &mut dyn FnMut(&mut Step)) {
        self.steps.iter_mut().for_each(|step| step.change_with_origins(change));
    }

    /// The users of a closed load, or the most concurrent exchanges of an open one.
    pub fn users(&self) -> u64 {
        self.load.connections().saturating_mul(u64::from(self.target().streams))
    }
}

/// The tags of the steps of scenarios: for each the number of the scenario, that of the step in it, and the tag.
pub fn tags(scenarios: &[Scenario]) -> impl Iterator<Item = (usize, usize, &str)> {
    scenarios.iter().enumerate().flat_map(|(number, scenario)| {
        let steps = scenario.steps.iter().enumerate();
        steps.flat_map(move |(step, one)| one.tags.iter().map(move |tag| (number, step, tag.as_str())))
    })
}

#[cfg(test)]
mod tests;
