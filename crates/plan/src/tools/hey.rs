//! hey.

use std::time::Duration;

use super::options::{read, refuse_zeros, switch, value};
use super::{
    CaptureOptions, Connection, Draft, GivenFlags, Header, Load, NO_TIMEOUT, Opt, ResponseChecks, Settings, Style,
    Tool, ToolFault, ToolRun, set,
};
use crate::text::rate_of;
use crate::{Address, REQUEST_BODY_BYTES_MAX, Version};

/// The options of hey.
#[derive(Clone, Debug, PartialEq)]
pub struct HeySettings {
    /// Whether each request is printed as a line.
    pub is_csv: bool,
    /// Method and URL, the prefix of its errors.
    pub request: String,
}

pub(super) const TABLE: [Opt; 23] = [
    value("-n", ""),
    value("-c", ""),
    value("-q", ""),
    value("-z", ""),
    value("-o", ""),
    value("-m", ""),
    value("-H", ""),
    value("-h", ""),
    value("-t", ""),
    value("-A", ""),
    value("-d", ""),
    value("-D", ""),
    value("-T", ""),
    value("-U", ""),
    value("-a", ""),
    value("-x", ""),
    switch("-h2", ""),
    value("-host", ""),
    switch("-disable-compression", ""),
    switch("-disable-keepalive", ""),
    switch("-disable-redirects", ""),
    value("-cpus", ""),
    switch("-help", ""),
];

/// The units of Go.
const UNITS: [(&str, f64); 8] =
    [("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("μs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3_600.0)];

/// Times in the notation of Go: `1m30s`, `1.5h`, `300ms`.
fn go_duration(flag: &'static str, text: &str) -> Result<Duration, ToolFault> {
    let wanted = "a time like 10s, 1m30s or 300ms";
    let is_spaced = text.contains(char::is_whitespace);
    let span = if is_spaced { None } else { super::span_of(text.trim_start_matches('+'), &UNITS) };
    span.ok_or_else(|| ToolFault::Value { flag, value: text.to_owned(), wanted })
}

/// A time of the tools in Go and Rust, to the millisecond.
pub(super) fn whole_millis(span: Duration) -> Duration {
    Duration::from_millis((span.as_millis() as u64).max(1))
}

pub(super) fn parse(words: &[String]) -> Result<ToolRun, ToolFault> {
    let given = read(Style::Go, &TABLE, words)?;
    given.refuse(&["-h"])?;
    let url = given.rest.first().cloned().filter(|_| !given.has("-help")).ok_or(ToolFault::Url)?;
    let (requests, users) = (given.whole("-n", 200)?, given.whole("-c", 50)?);
    let duration = given.last("-z").map_or(Ok(Duration::ZERO), |text| go_duration("-z", text))?;
    refuse_zeros(&[("-c", users), ("-n", requests)])?;
    let is_timed = !duration.is_zero();
    if !is_timed && requests < users {
        return Err(ToolFault::FewerRequests { requests, users });
    }
    let output = given.last("-o").unwrap_or_default();
    if !["", "csv"].contains(&output) {
        return Err(ToolFault::Value { flag: "-o", value: output.to_owned(), wanted: "csv, or nothing for a summary" });
    }
    let rate = given.last("-q").map_or(Ok(0.0), |text| super::decimal("-q", text))?;
    let method = given.last("-m").unwrap_or("GET").to_ascii_uppercase();
    let body = body_of(&given)?;
    let headers = headers_of(&given, &method)?;
    let timeout = match given.whole("-t", 20)? {
        0 => NO_TIMEOUT,
        seconds => Duration::from_secs(seconds),
    };
    let each = requests / users;
    let disables_redirects = given.is_on("-disable-redirects")?;
    let draft = Draft {
        url: Some(Address::parse(&url)?),
        load: Load {
            connections: Some(users),
            requests: (!is_timed).then_some(each * users),
            duration: is_timed.then(|| whole_millis(duration)),
            rate: (rate > 0.0).then(|| rate_of(rate * users as f64)),
            max_lateness: (rate > 0.0).then_some(NO_TIMEOUT),
            ..Load::default()
        },
        request: super::request_of(&method, headers, body, timeout),
        responses: ResponseChecks {
            location: !disables_redirects,
            max_redirs: (!disables_redirects).then_some(10),
            ..super::any_response()
        },
        connection: Connection {
            no_keepalive: given.is_on("-disable-keepalive")?,
            version: (!given.is_on("-h2")?).then_some(Version::Http11),
            security: super::trusting(!disables_redirects || url.starts_with("https")),
            proxy: super::through(given.last("-x"), None)?,
            ..Connection::default()
        },
        grace: Some(timeout),
        interval: Some(super::INTERVAL),
        capture_options: CaptureOptions {
            rows: output == "csv",
            ignores_failures: true,
            bodies: true,
            ..CaptureOptions::default()
        },
        ..Draft::default()
    };
    Ok(ToolRun {
        tool: Tool::Hey,
        draft,
        threads: given.last("-cpus").map(|text| super::whole("-cpus", text)).transpose()?.filter(|count| *count > 0),
        is_native: false,
        is_debug: false,
        settings: Settings::Hey(HeySettings { is_csv: output == "csv", request: request_in_words(&method, &url) }),
    })
}

/// The body, of a file or as given.
fn body_of(given: &GivenFlags) -> Result<Option<Vec<u8>>, ToolFault> {
    Ok(match (given.last("-D"), given.last("-d")) {
        (Some(path), _) => Some(crate::file::read_up_to("-D", path, REQUEST_BODY_BYTES_MAX)?),
        (None, Some(text)) if !text.is_empty() => Some(text.as_bytes().to_vec()),
        _ => None,
    })
}

/// Method and URL, as its errors have them: `Get "http://h/"`.
fn request_in_words(method: &str, url: &str) -> String {
    let mut word = method.to_ascii_lowercase();
    if let Some(first) = word.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    format!("{word} \"{url}\"")
}

fn headers_of(given: &GivenFlags, method: &str) -> Result<Vec<Header>, ToolFault> {
    let mut headers = Vec::new();
    let parsed = |name: &str, value: &str| Header::parse(&format!("{name}: {value}"));
    set(&mut headers, parsed("Content-Type", given.last("-T").unwrap_or("text/html"))?);
    if !given.is_on("-disable-compression")? && method != "HEAD" {
        set(&mut headers, Header::new("Accept-Encoding", "gzip"));
    }
    for text in given.all("-H") {
        let wrong = || ToolFault::Value { flag: "-H", value: "***".to_owned(), wanted: "a header like 'Name: value'" };
        let (name, value) = text.split_once(':').ok_or_else(wrong)?;
        set(&mut headers, parsed(name, value.trim())?);
    }
    for (flag, name) in [("-A", "Accept"), ("-U", "User-Agent"), ("-host", "Host")] {
        if let Some(value) = given.last(flag) {
            set(&mut headers, parsed(name, value)?);
        }
    }
    // hey itself loses it; a user who gives it means it to be sent.
    headers.extend(given.last("-a").map(Header::basic));
    if !headers.iter().any(|header| header.is("accept")) {
        headers.push(Header::without("Accept"));
    }
    Ok(headers)
}
