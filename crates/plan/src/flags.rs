//! From the flags of the command line to a plan. The values are as typed; all of them are checked here.

mod curl;
mod form;
mod grpc;
mod hold;
mod load;
mod protocol;
mod talk;

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use crate::grpc::Schema;
use crate::{
    Checks, Follow, Form, HeaderCheck, INTERVAL_MIN, JsonCheck, Keeps, Order, Plan, PlanError, Protocol,
    REQUEST_BODY_BYTES_MAX, Scenario, StatusSet, Step, Target, TextCheck, Tls, USERS_MAX, masked_url, parse_count,
    parse_duration,
};
use crate::{Need, Remedy};
pub use curl::Ways;
pub(crate) use form::Header;
pub use hold::HoldFlags;

const TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
const CONNECT_TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);
const GRACE_DEFAULT: Duration = Duration::from_secs(5);
const INTERVAL_DEFAULT: Duration = Duration::from_secs(1);
const REDIRECTS_DEFAULT: u32 = 50;
/// Orders are the same in each run.
const ORDER_SEED: u64 = 1;

/// What was typed; `None` where nothing was.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "each field is the flag of its name, documented in the help")]
pub struct Flags {
    pub url: Option<String>,
    pub connections: Option<String>,
    pub requests: Option<String>,
    pub duration: Option<String>,
    pub method: Option<String>,
    pub headers: Vec<String>,
    pub data: Option<String>,
    pub timeout: Option<String>,
    pub connect_timeout: Option<String>,
    pub grace: Option<String>,
    pub no_keepalive: bool,
    pub http10: bool,
    pub http11: bool,
    pub http2: bool,
    pub streams: Option<String>,
    pub insecure: bool,
    pub cacert: Option<String>,
    pub cert: Option<String>,
    pub key: Option<String>,
    pub sni: Option<String>,
    pub alpn: Option<String>,
    pub tls_groups: Option<String>,
    pub tls_min: Option<String>,
    pub no_tls_resumption: bool,
    pub expect_status: Option<String>,
    pub expect_body: Vec<String>,
    pub expect_headers: Vec<String>,
    pub expect_json: Vec<String>,
    pub location: bool,
    pub max_redirs: Option<String>,
    pub resolve: Vec<String>,
    pub connect_to: Vec<String>,
    pub unix_socket: Option<String>,
    pub curl_file: Option<String>,
    /// The words behind `curl`, when there were some.
    pub curl: Option<Vec<Vec<u8>>>,
    pub shuffle: bool,
    /// A body as it is; instead of `data`, where `@` means a file.
    pub raw_data: Option<Vec<u8>>,
    /// Where the only command of curl goes instead.
    pub curl_url: Option<String>,
    /// A message of WebSocket that is numbered.
    pub numbered: bool,
    /// Before each exchange.
    pub pause: Option<String>,
    /// Each exchange is kept by itself.
    pub rows: bool,
    /// Bodies are compared with the first, and timed.
    pub bodies: bool,
    /// A target that was never reached is tried to the end.
    pub persists: bool,
    pub protos: Vec<String>,
    pub import_paths: Vec<String>,
    pub protosets: Vec<String>,
    pub message_interval: Option<String>,
    pub grpc_encoding: Option<String>,
    pub interval: Option<String>,
    pub rate: Option<String>,
    pub stages: Option<String>,
    pub arrivals: Option<String>,
    pub max_lateness: Option<String>,
    pub stages_of: Option<String>,
    pub ramp: Option<String>,
    pub rendezvous: bool,
    pub warmup: Option<String>,
    pub data_bytes: Option<String>,
    pub seed: Option<String>,
    pub until: Option<String>,
    pub read_bytes: Option<String>,
    pub length_prefix: Option<String>,
    pub no_answer: bool,
    pub ws_type: Option<String>,
    pub subprotocols: Vec<String>,
    pub ws_deflate: bool,
    pub source_ip: Option<String>,
    pub to: Option<String>,
    /// Sent as `User-Agent` unless a header says otherwise.
    pub user_agent: String,
}

impl Flags {
    /// The plan that the flags describe.
    ///
    /// # Errors
    /// The first thing that is wrong, with its remedy.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        self.plan_with(None)
    }

    /// The same, with what the target said of itself: see [`Flags::reflection`].
    ///
    /// # Errors
    /// The first thing that is wrong, with its remedy.
    pub fn plan_with(&self, described: Option<&Schema>) -> Result<Plan, PlanError> {
        let (targets, steps) = match self.curl_steps()? {
            Some(parts) => parts,
            None => self.single_step(described)?,
        };
        let timeout = steps.iter().map(|step| step.timeout).max().unwrap_or(TIMEOUT_DEFAULT);
        let load = self.load(timeout)?;
        let warmup = self.warmup.as_deref().map_or(Ok(Duration::ZERO), |text| parse_duration("--warmup", text))?;
        if !warmup.is_zero() && !load.begins_above_nothing() {
            return Err(PlanError::ColdWarmup);
        }
        let streams = targets.first().map_or(1, |target: &Target| target.streams);
        if u128::from(streams) * u128::from(load.connections()) > u128::from(USERS_MAX) {
            return Err(PlanError::TooManyUsers { most: USERS_MAX });
        }
        let order = if self.shuffle { Order::Shuffled { seed: ORDER_SEED } } else { Order::InTurn };
        let scenario = Scenario { name: "main".to_owned(), targets, load, steps, order };
        Ok(Plan {
            scenarios: vec![scenario],
            grace: self.grace.as_deref().map_or(Ok(GRACE_DEFAULT), |text| parse_duration("--grace", text))?,
            warmup,
            keeps: Keeps { rows: self.rows, bodies: self.bodies, persists: self.persists, failures: false },
            interval: or_default("--interval", &self.interval, INTERVAL_DEFAULT, INTERVAL_MIN, "100ms")?,
        })
    }

    /// The step of a URL.
    fn single_step(&self, described: Option<&Schema>) -> Result<(Vec<Target>, Vec<Step>), PlanError> {
        if self.shuffle {
            return Err(PlanError::Needs { flag: "--shuffle", needed: Need::Curl });
        }
        let url = read_url(self.url.as_deref().ok_or(PlanError::NoUrl)?)?;
        if url.scheme != Scheme::Grpc {
            self.refuse_grpc_flags()?;
        }
        if !matches!(url.scheme, Scheme::WebSocket | Scheme::Tcp) {
            self.refuse_talk_flags()?;
        }
        match url.scheme {
            Scheme::Http => {}
            Scheme::Grpc => self.refuse_redirect_flags()?,
            Scheme::WebSocket | Scheme::Tcp => self.refuse_http_flags()?,
        }
        let step = match url.scheme {
            Scheme::Grpc => self.call_step(&url, described)?,
            Scheme::Http => self.step(&url)?,
            Scheme::WebSocket | Scheme::Tcp => self.talk_step(&url, false)?,
        };
        Ok((vec![self.target(&url)?], vec![step]))
    }

    /// What messages without a head do not have is not given.
    fn refuse_http_flags(&self) -> Result<(), PlanError> {
        self.refuse_redirect_flags()?;
        match self.expect_headers.is_empty() {
            true => Ok(()),
            false => Err(PlanError::Needs { flag: "--expect-header", needed: Need::Http }),
        }
    }

    /// What only plain HTTP has is not given.
    fn refuse_redirect_flags(&self) -> Result<(), PlanError> {
        let given = [("--location", self.location), ("--max-redirs", self.max_redirs.is_some())];
        let flag = given.iter().find(|(_, is_given)| *is_given);
        flag.map_or(Ok(()), |(flag, _)| Err(PlanError::Needs { flag, needed: Need::Http }))
    }

    fn target(&self, address: &Address) -> Result<Target, PlanError> {
        let (protocol, streams) = self.protocol(address)?;
        let port = address.url.port_or_known_default().unwrap_or(80);
        let ways = self.ways()?;
        let (places, dial) = ways.to(address.host(), port, self.places()?)?;
        let unix = ways.unix;
        let is_led = [("--to", self.to.is_some()), ("--unix-socket", unix.is_some())];
        if let [(one, true), (other, true)] = is_led {
            return Err(PlanError::Conflict { one, other, remedy: Remedy::OneWay });
        }
        if unix.is_some() && self.source_ip.is_some() {
            return Err(PlanError::Conflict { one: "--source-ip", other: "--unix-socket", remedy: Remedy::OneWay });
        }
        Ok(Target {
            host: address.host().to_owned(),
            dial,
            unix,
            port,
            url: address.to_string(),
            protocol,
            streams,
            tls: self.tls(address, protocol)?,
            sources: self.sources()?,
            places,
        })
    }

    fn step(&self, url: &Address) -> Result<Step, PlanError> {
        let form = Arc::new(self.form(&url.url)?);
        let request = form.request(&form.begin(), false);
        Ok(Step {
            name: format!("{} {}", request.method, request.path),
            request,
            checks: self.checks()?,
            call: None,
            target: 0,
            follow: self.follow(&form)?,
            pause: Duration::ZERO,
            is_shown: false,
            talk: None,
            timeout: self.timeout()?,
            connect_timeout: self.connect_timeout()?,
            keep_alive: !self.no_keepalive,
        })
    }

    /// What is expected of an answer of HTTP.
    fn checks(&self) -> Result<Checks, PlanError> {
        let status = self.expect_status.as_deref().map(StatusSet::parse).transpose()?;
        let is_expectation = status.is_some();
        Ok(Checks { status: status.unwrap_or_default(), ..self.content_checks(is_expectation)? })
    }

    /// What is expected of a head or a body.
    fn content_checks(&self, is_asked: bool) -> Result<Checks, PlanError> {
        let bodies = self.expect_body.iter().map(|text| TextCheck::parse("--expect-body", text));
        let checks = Checks {
            status: StatusSet::default(),
            bodies: bodies.collect::<Result<_, _>>()?,
            headers: self.expect_headers.iter().map(|text| HeaderCheck::parse(text)).collect::<Result<_, _>>()?,
            json: self.expect_json.iter().map(|text| JsonCheck::parse(text)).collect::<Result<_, _>>()?,
            is_expectation: false,
        };
        let is_expectation = is_asked || checks.want_body() || checks.want_head();
        Ok(Checks { is_expectation, ..checks })
    }

    fn follow(&self, form: &Arc<Form>) -> Result<Option<Follow>, PlanError> {
        if !self.location && self.max_redirs.is_none() {
            return Ok(None);
        }
        let most = self.max_redirs.as_deref().map(|text| parse_count("--max-redirs", text, 0, u64::from(u32::MAX)));
        let most = most.transpose()?;
        if most.is_some() && !self.location {
            return Err(PlanError::Needs { flag: "--max-redirs", needed: Need::Location });
        }
        Ok(self.location.then_some(Follow {
            form: form.clone(),
            tls: Box::new(self.redirect_tls()?),
            ways: Box::new(self.ways()?),
            most: most.map_or(REDIRECTS_DEFAULT, |most| most as u32),
            trusts_others: false,
            keeps_method: self.method.is_some(),
            keeps_post: 0,
            tells_referer: false,
        }))
    }

    /// How connections are secured to which a redirect leads.
    fn redirect_tls(&self) -> Result<Tls, PlanError> {
        let url = Url::parse("https://localhost/")
            .map_err(|error| PlanError::Url { url: String::new(), reason: error.to_string() })?;
        let protocol = if self.http10 || self.http11 { Protocol::Http1 } else { Protocol::Negotiated };
        let tls = self.tls(&Address { url, scheme: Scheme::Http }, protocol)?;
        tls.ok_or(PlanError::Needs { flag: "--location", needed: Need::Https })
    }
}

/// Certificates of all authorities of the web are a quarter of this.
const SMALL_FILE_BYTES_MAX: u64 = 1024 * 1024;
const MILLI: Duration = Duration::from_millis(1);

fn span(flag: &'static str, text: &str, least: Duration, least_text: &'static str) -> Result<Duration, PlanError> {
    let span = parse_duration(flag, text)?;
    if span < least {
        return Err(PlanError::DurationTooShort { flag, value: text.to_owned(), least: least_text });
    }
    Ok(span)
}

fn or_default(
    flag: &'static str,
    text: &Option<String>,
    default: Duration,
    least: Duration,
    least_text: &'static str,
) -> Result<Duration, PlanError> {
    text.as_deref().map_or(Ok(default), |text| span(flag, text, least, least_text))
}

fn read_url(text: &str) -> Result<Address, PlanError> {
    let text = text.trim();
    let with_scheme = if has_scheme(text) { text.to_owned() } else { format!("http://{text}") };
    // Neither a screen nor a log should show a password.
    let shown = || masked_url(text);
    let wrong = |reason: String| PlanError::Url { url: shown(), reason };
    let scheme = with_scheme.split("://").next().unwrap_or_default().to_ascii_lowercase();
    let (kind, is_tls) = match scheme.as_str() {
        "http" => (Scheme::Http, false),
        "https" => (Scheme::Http, true),
        "grpc" => (Scheme::Grpc, false),
        "grpcs" => (Scheme::Grpc, true),
        "ws" => (Scheme::WebSocket, false),
        "wss" => (Scheme::WebSocket, true),
        "tcp" => (Scheme::Tcp, false),
        _ => return Err(PlanError::Scheme { url: shown(), scheme }),
    };
    let rest = with_scheme.split_once("://").map_or("", |(_, rest)| rest);
    let as_http = format!("{}://{rest}", if is_tls { "https" } else { "http" });
    let mut url = Url::parse(&as_http).map_err(|error| wrong(error.to_string()))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(PlanError::Credentials { url: shown() });
    }
    if url.port() == Some(0) {
        return Err(wrong("port 0 cannot be connected to".to_owned()));
    }
    url.set_fragment(None);
    let address = Address { url, scheme: kind };
    if kind == Scheme::Tcp {
        // The parser takes the usual port of HTTP for none.
        let has_port = rest.split(['/', '?', '#']).next().is_some_and(|host| {
            host.rsplit_once(':')
                .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
        });
        if !has_port || address.path_and_query() != "/" {
            return Err(PlanError::TcpUrl { url: shown() });
        }
    }
    Ok(address)
}

/// What is at a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Http,
    Grpc,
    WebSocket,
    Tcp,
}

/// A URL that was understood. Each is read as one of HTTP, so that hosts and ports mean the same.
struct Address {
    url: Url,
    scheme: Scheme,
}

/// The host, the port and the path of a URL, as other tools print them.
pub(crate) fn parts_of_url(text: &str) -> Result<(String, u16, String), PlanError> {
    let address = read_url(text)?;
    let port = address.url.port_or_known_default().unwrap_or(80);
    Ok((address.host().to_owned(), port, address.path_and_query()))
}

fn path_and_query(url: &Url) -> String {
    match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    }
}

/// The host with its port, unless that is the usual one.
fn host_header(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
}

impl Address {
    fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    fn path_and_query(&self) -> String {
        path_and_query(&self.url)
    }

    fn host_header(&self) -> String {
        host_header(&self.url)
    }

    /// Without brackets.
    fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
    }

    fn host_and_port(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        format!("{host}:{}", self.url.port_or_known_default().unwrap_or(80))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match (self.scheme, self.is_tls()) {
            (Scheme::Http, _) => return f.write_str(self.url.as_str()),
            (Scheme::Grpc, false) => "grpc",
            (Scheme::Grpc, true) => "grpcs",
            (Scheme::WebSocket, false) => "ws",
            (Scheme::WebSocket, true) => "wss",
            (Scheme::Tcp, _) => return write!(f, "tcp://{}", self.host_and_port()),
        };
        let rest = self.url.as_str().split_once("://").map_or("", |(_, rest)| rest);
        write!(f, "{scheme}://{rest}")
    }
}

/// RFC 3986 3.1: letters, digits, `+`, `-` and `.` before `://`; elsewhere `://` belongs to a path or a query.
fn has_scheme(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        scheme.starts_with(|each: char| each.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

/// `@file` is read as it is; everything else is the body itself.
fn read_data(text: &str) -> Result<Vec<u8>, PlanError> {
    let Some(path) = text.strip_prefix('@') else { return Ok(text.as_bytes().to_vec()) };
    read_up_to("-d", path, REQUEST_BODY_BYTES_MAX)
}

/// A certificate, a key, or the like.
fn read_file(flag: &'static str, path: &str) -> Result<Vec<u8>, PlanError> {
    read_up_to(flag, path, SMALL_FILE_BYTES_MAX)
}

pub(crate) fn read_up_to(flag: &'static str, path: &str, most: u64) -> Result<Vec<u8>, PlanError> {
    let wrong = |error: std::io::Error| PlanError::File { flag, path: path.to_owned(), reason: error.to_string() };
    let mut bytes = Vec::new();
    // As curl: `-` is the standard input.
    let read = if path == "-" {
        std::io::stdin().lock().take(most + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
    };
    if read.map_err(wrong)? as u64 > most {
        return Err(PlanError::FileTooLarge { path: path.to_owned(), limit: most });
    }
    Ok(bytes)
}

/// RFC 9110 5.6.2.
pub(crate) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
