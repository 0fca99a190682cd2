//! oha.

use std::time::Duration;

use super::hey::whole_millis;
use super::options::{read, refuse_zeros, switch, value};
use super::{
    CaptureOptions, Connection, Draft, GivenFlags, Header, Load, NO_TIMEOUT, Opt, ResponseChecks, Security, Settings,
    Style, Tool, ToolFault, ToolRun, set,
};
use crate::curl::command_of_form;
use crate::draft::Commands;
use crate::endpoints::parse_unix_socket;
use crate::text::rate_of;
use crate::{Address, ConnectTo, REQUEST_BODY_BYTES_MAX, RouteOverrides, Version};

/// The output format of oha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the format of its name")]
pub enum OhaFormat {
    Text,
    Json,
    Csv,
    Quiet,
}

/// The options of oha.
#[derive(Clone, Debug, PartialEq)]
pub struct OhaSettings {
    /// The format.
    pub format: OhaFormat,
    /// The unit of times, where given.
    pub unit: Option<&'static str>,
    /// The file of the report.
    pub output: Option<String>,
    /// Whether requests in flight at the end are aborted.
    pub aborts: bool,
}

pub(super) const TABLE: [Opt; 52] = [
    value("-n", ""),
    value("-c", ""),
    value("-p", ""),
    value("-z", ""),
    switch("-w", "--wait-ongoing-requests-after-deadline"),
    value("-q", ""),
    value("--burst-delay", ""),
    value("--burst-rate", ""),
    switch("--rand-regex-url", ""),
    value("--max-repeat", ""),
    value("--dump-urls", ""),
    switch("--urls-from-file", ""),
    switch("--latency-correction", ""),
    switch("--no-tui", ""),
    value("--fps", ""),
    value("-m", "--method"),
    value("-H", ""),
    value("--proxy-header", ""),
    value("-t", ""),
    value("--connect-timeout", ""),
    value("-A", ""),
    value("-d", ""),
    value("-D", ""),
    value("-Z", ""),
    value("-F", "--form"),
    value("-T", ""),
    value("-a", ""),
    value("--aws-session", ""),
    value("--aws-sigv4", ""),
    value("-x", ""),
    value("--proxy-http-version", ""),
    switch("--proxy-http2", ""),
    value("--http-version", ""),
    switch("--http2", ""),
    value("--host", ""),
    switch("--disable-compression", ""),
    value("-r", "--redirect"),
    switch("--disable-keepalive", ""),
    switch("--no-pre-lookup", ""),
    switch("--ipv6", ""),
    switch("--ipv4", ""),
    value("--cacert", ""),
    value("--cert", ""),
    value("--key", ""),
    switch("--insecure", ""),
    value("--connect-to", ""),
    switch("--no-color", "--disable-color"),
    value("--unix-socket", ""),
    value("-o", "--output"),
    value("-u", "--time-unit"),
    value("--output-format", ""),
    switch("-j", "--json"),
];
/// Flags that are refused, or mean a different run.
const MORE: [&str; 6] = ["--stats-success-breakdown", "--db-url", "--debug", "--help", "-h", "--version"];

/// The units of times.
const UNITS: [(&str, f64); 27] = [
    ("nanos", 1e-9),
    ("nsec", 1e-9),
    ("ns", 1e-9),
    ("usec", 1e-6),
    ("us", 1e-6),
    ("µs", 1e-6),
    ("millis", 1e-3),
    ("msec", 1e-3),
    ("ms", 1e-3),
    ("seconds", 1.0),
    ("second", 1.0),
    ("secs", 1.0),
    ("sec", 1.0),
    ("s", 1.0),
    ("minutes", 60.0),
    ("minute", 60.0),
    ("min", 60.0),
    ("mins", 60.0),
    ("m", 60.0),
    ("hours", 3_600.0),
    ("hour", 3_600.0),
    ("hrs", 3_600.0),
    ("hr", 3_600.0),
    ("h", 3_600.0),
    ("days", 86_400.0),
    ("day", 86_400.0),
    ("d", 86_400.0),
];

/// Times with units: `10s`, `1m 30s`, `500ms`.
fn human(flag: &'static str, text: &str) -> Result<Duration, ToolFault> {
    let wanted = "a time like 10s, 1m 30s or 500ms";
    super::span_of(text.trim(), &UNITS).ok_or_else(|| ToolFault::Value { flag, value: text.to_owned(), wanted })
}

/// A count with `k` or `m`.
fn count(flag: &'static str, text: &str) -> Result<u64, ToolFault> {
    let lower = text.trim().to_ascii_lowercase();
    let wrong = || ToolFault::Value { flag, value: text.to_owned(), wanted: "a number like 200, 10k or 1.5m" };
    let (number, scale) = match (lower.strip_suffix('k'), lower.strip_suffix('m')) {
        (Some(number), _) => (number, 1e3),
        (_, Some(number)) => (number, 1e6),
        _ => return lower.parse().map_err(|_| wrong()),
    };
    number.parse::<f64>().ok().filter(|number| *number >= 0.0).map(|number| (number * scale) as u64).ok_or_else(wrong)
}

/// Flags of its table that have no counterpart here.
const REFUSED: [&str; 13] = [
    "--burst-delay",
    "--burst-rate",
    "--rand-regex-url",
    "--max-repeat",
    "--dump-urls",
    "--urls-from-file",
    "--proxy-header",
    "-Z",
    "--aws-session",
    "--aws-sigv4",
    "--proxy-http-version",
    "--proxy-http2",
    "--ipv6",
];

pub(super) fn parse(words: &[String]) -> Result<ToolRun, ToolFault> {
    refuse_more(words)?;
    let is_debug = words.iter().any(|word| word == "--debug");
    let words: Vec<String> = words.iter().filter(|word| *word != "--debug").cloned().collect();
    let given = read(Style::Clap, &TABLE, &words)?;
    given.refuse(&REFUSED)?;
    let url = given.url()?;
    refuse_conflicts(&given)?;
    let requests = given.last("-n").map_or(Ok(200), |text| count("-n", text))?;
    let (users, streams) = (given.whole("-c", 50)?, given.whole("-p", 1)?);
    refuse_zeros(&[("-n", requests), ("-c", users), ("-p", streams)])?;
    let version = version_of(&given)?;
    let duration = given.last("-z").map(|text| human("-z", text)).transpose()?;
    let rate = given.last("-q").map_or(Ok(0.0), |text| super::decimal("-q", text))?;
    let body = body_of(&given)?;
    let headers = headers_of(&given, body.is_some())?;
    let timeout = given.last("-t").map(|text| human("-t", text)).transpose()?;
    let timeout = timeout.map_or(NO_TIMEOUT, whole_millis);
    let connect =
        given.last("--connect-timeout").map_or(Ok(Duration::from_secs(5)), |text| human("--connect-timeout", text))?;
    let redirects = given.whole("-r", 0)?;
    let waits = given.has("-w") || duration.is_none();
    let format = format_of(&given)?;
    let address = Address::parse(&url)?;
    let is_form = given.has("-F");
    let method = given.last("-m").or((!is_form).then_some("GET"));
    let mut draft = Draft {
        load: load_of(users, requests, duration, rate),
        request: super::request_of(method.unwrap_or_default(), headers, body, timeout),
        responses: ResponseChecks {
            location: redirects > 0,
            max_redirs: (redirects > 0).then(|| u32::try_from(redirects).unwrap_or(u32::MAX)),
            ..super::any_response()
        },
        connection: Connection {
            connect_timeout: Some(whole_millis(connect)),
            version: Some(version),
            streams: (version == Version::Http2 && streams > 1).then_some(streams),
            ..connection_of(&given)?
        },
        grace: Some(if waits { timeout } else { Duration::ZERO }),
        interval: Some(super::INTERVAL),
        capture_options: CaptureOptions {
            rows: format == OhaFormat::Csv,
            ignores_failures: true,
            ..CaptureOptions::default()
        },
        ..Draft::default()
    };
    if is_form {
        // Forms are those of curl.
        let headers = std::mem::take(&mut draft.request.headers);
        draft.request.method = None;
        draft.commands = Some(Commands::Form(command_of_form(given.all("-F"), &headers, method, url)));
    } else {
        draft.url = Some(address);
    }
    Ok(ToolRun {
        tool: Tool::Oha,
        draft,
        threads: None,
        is_native: false,
        is_debug,
        settings: Settings::Oha(OhaSettings {
            format,
            unit: unit_of(&given)?,
            output: given.last("-o").map(str::to_owned),
            aborts: !waits,
        }),
    })
}

/// Refuses the first flag beside its table, unless it is `--debug`.
fn refuse_more(words: &[String]) -> Result<(), ToolFault> {
    match words.iter().find_map(|word| MORE.iter().find(|more| word == *more)) {
        None | Some(&"--debug") => Ok(()),
        Some(flag) => Err(ToolFault::Unsupported { flag }),
    }
}

/// Refuses flags that contradict each other.
fn refuse_conflicts(given: &GivenFlags) -> Result<(), ToolFault> {
    let pairs = [["-n", "-z"], ["-d", "-D"], ["-d", "-F"], ["-D", "-F"]];
    match pairs.into_iter().find(|pair| pair.iter().all(|flag| given.has(flag))) {
        Some([one, other]) => Err(ToolFault::Conflict { one, other }),
        None => Ok(()),
    }
}

/// The version of HTTP.
fn version_of(given: &GivenFlags) -> Result<Version, ToolFault> {
    match given.last("--http-version").unwrap_or(if given.has("--http2") { "2" } else { "1.1" }) {
        "1.0" => Ok(Version::Http10),
        "1.1" => Ok(Version::Http11),
        "2" | "2.0" => Ok(Version::Http2),
        other => {
            let (flag, value) = ("--http-version", other.to_owned());
            Err(ToolFault::Value { flag, value, wanted: "1.0, 1.1 or 2" })
        }
    }
}

/// The body, as given or of a file.
fn body_of(given: &GivenFlags) -> Result<Option<Vec<u8>>, ToolFault> {
    Ok(match (given.last("-d"), given.last("-D")) {
        (Some(text), _) => Some(text.as_bytes().to_vec()),
        (None, Some(path)) => Some(crate::file::read_up_to("-D", path, REQUEST_BODY_BYTES_MAX)?),
        (None, None) => None,
    })
}

/// The format of the output.
fn format_of(given: &GivenFlags) -> Result<OhaFormat, ToolFault> {
    match given.last("--output-format").unwrap_or(if given.has("-j") { "json" } else { "text" }) {
        "text" => Ok(OhaFormat::Text),
        "json" => Ok(OhaFormat::Json),
        "csv" => Ok(OhaFormat::Csv),
        "quiet" => Ok(OhaFormat::Quiet),
        other => {
            let (flag, value) = ("--output-format", other.to_owned());
            Err(ToolFault::Value { flag, value, wanted: "text, json, csv or quiet" })
        }
    }
}

/// The unit of times in the output, where given.
fn unit_of(given: &GivenFlags) -> Result<Option<&'static str>, ToolFault> {
    let Some(text) = given.last("-u") else { return Ok(None) };
    let known = ["ns", "us", "ms", "s", "m", "h"].into_iter().find(|known| *known == text);
    let wanted = "ns, us, ms, s, m or h";
    known.map(Some).ok_or_else(|| ToolFault::Value { flag: "-u", value: text.to_owned(), wanted })
}

/// The users, the end of the load, and its rate.
fn load_of(users: u64, requests: u64, duration: Option<Duration>, rate: f64) -> Load {
    Load {
        connections: Some(if duration.is_none() { users.min(requests) } else { users }),
        requests: duration.is_none().then_some(requests),
        duration: duration.map(whole_millis),
        rate: (rate > 0.0).then(|| rate_of(rate)),
        max_lateness: (rate > 0.0).then_some(NO_TIMEOUT),
        ..Load::default()
    }
}

/// How connections are made.
fn connection_of(given: &GivenFlags) -> Result<Connection, ToolFault> {
    Ok(Connection {
        no_keepalive: given.has("--disable-keepalive"),
        security: security_of(given),
        proxy: super::through(given.last("-x"), None)?,
        route_overrides: RouteOverrides {
            connect_to: given.all("--connect-to").map(ConnectTo::parse).collect::<Result<_, _>>()?,
            unix: given.last("--unix-socket").map(parse_unix_socket).transpose()?,
            ..RouteOverrides::default()
        },
        ..Connection::default()
    })
}

fn security_of(given: &GivenFlags) -> Security {
    Security {
        cacert: given.last("--cacert").map(str::to_owned),
        cert: given.last("--cert").map(str::to_owned),
        key: given.last("--key").map(str::to_owned),
        ..super::trusting(given.has("--insecure"))
    }
}

fn headers_of(given: &GivenFlags, has_body: bool) -> Result<Vec<Header>, ToolFault> {
    let mut headers = Vec::new();
    let parsed = |name: &str, value: &str| Header::parse(&format!("{name}: {value}"));
    set(&mut headers, parsed("Accept", given.last("-A").unwrap_or("*/*"))?);
    if !given.has("--disable-compression") {
        set(&mut headers, Header::new("Accept-Encoding", "gzip, compress, deflate, br"));
    }
    for (flag, name) in [("-T", "Content-Type"), ("--host", "Host")] {
        if let Some(value) = given.last(flag) {
            set(&mut headers, parsed(name, value)?);
        }
    }
    if let Some(user) = given.last("-a") {
        if !user.contains(':') {
            return Err(ToolFault::Value { flag: "-a", value: "***".to_owned(), wanted: "name:password" });
        }
        set(&mut headers, Header::basic(user));
    }
    for text in given.all("-H") {
        let wrong = || ToolFault::Value { flag: "-H", value: "***".to_owned(), wanted: "a header like 'Name: value'" };
        let (name, value) = text.split_once(':').ok_or_else(wrong)?;
        set(&mut headers, parsed(name, value.trim_start())?);
    }
    if has_body && !headers.iter().any(|header| header.is("content-type")) {
        headers.push(Header::without("Content-Type"));
    }
    Ok(headers)
}
