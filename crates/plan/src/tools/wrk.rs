//! wrk and wrk2.

use std::time::Duration;

use super::options::{read, refuse_zeros, switch, value};
use super::{Connection, Draft, GivenFlags, Header, Load, Opt, Request, Settings, Style, Tool, ToolFault, ToolRun};
use crate::text::rate_of;
use crate::{Address, Version};

/// The options of wrk.
#[derive(Clone, Debug, PartialEq)]
pub struct WrkSettings {
    /// The URL, as typed.
    pub url: String,
    /// The number of threads, as printed.
    pub threads: u64,
    /// The number of connections.
    pub connections: u64,
    /// The duration in seconds.
    pub duration_s: u64,
    /// Whether the distribution of latencies is printed.
    pub shows_latency: bool,
    /// Whether that since the sending is printed too, in wrk2.
    pub shows_uncorrected: bool,
    /// Whether it is wrk2.
    pub is_wrk2: bool,
}

pub(super) const TABLE: [Opt; 15] = [
    value("-c", "--connections"),
    value("-d", "--duration"),
    value("-t", "--threads"),
    value("-s", "--script"),
    value("-H", "--header"),
    switch("-L", "--latency"),
    value("-T", "--timeout"),
    switch("-v", "--version"),
    value("-R", "--rate"),
    switch("-U", "--u_latency"),
    switch("-B", "--batch_latency"),
    switch("--help", ""),
    switch("-h", ""),
    switch("-r", ""),
    switch("-?", ""),
];

/// A whole number with a unit: each letter multiplies by another `steps`.
fn scaled(flag: &'static str, text: &str, units: &[(&str, u64)], wanted: &'static str) -> Result<u64, ToolFault> {
    let wrong = || ToolFault::Value { flag, value: text.to_owned(), wanted };
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let scale = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit.trim())).ok_or_else(wrong)?.1;
    number.parse::<u64>().ok().and_then(|number| number.checked_mul(scale)).ok_or_else(wrong)
}

pub(super) fn metric(flag: &'static str, text: &str) -> Result<u64, ToolFault> {
    let units = [("", 1), ("k", 1_000), ("m", 1_000_000), ("g", 1_000_000_000), ("t", 1_000_000_000_000)];
    scaled(flag, text, &units, "a number like 100, 1k or 1M")
}

fn seconds(flag: &'static str, text: &str) -> Result<u64, ToolFault> {
    scaled(flag, text, &[("", 1), ("s", 1), ("m", 60), ("h", 3_600)], "a time like 10, 10s, 2m or 1h")
}

pub(super) fn parse(tool: Tool, words: &[String]) -> Result<ToolRun, ToolFault> {
    let given: GivenFlags = read(Style::Getopt, &TABLE, words)?;
    let is_wrk2 = tool == Tool::Wrk2;
    if !is_wrk2 && let Some((flag, _)) = given.flags.iter().find(|(id, _)| ["-R", "-U", "-B"].contains(id)) {
        return Err(ToolFault::Unknown { flag: (*flag).to_owned() });
    }
    given.refuse(&["-s", "-v", "-B"])?;
    // The words after the URL would be for a script.
    let url = given.rest.first().cloned().filter(|_| !given.has("--help") && !given.has("-h")).ok_or(ToolFault::Url)?;
    let number = |flag, default| given.last(flag).map_or(Ok(default), |text| metric(flag, text));
    let (connections, threads) = (number("-c", 10)?, number("-t", 2)?);
    let duration_s = given.last("-d").map_or(Ok(10), |text| seconds("-d", text))?;
    let timeout_s = given.last("-T").map_or(Ok(2), |text| seconds("-T", text))?;
    refuse_zeros(&[("-t", threads), ("-d", duration_s), ("-T", timeout_s)])?;
    if connections < threads {
        let (flag, value) = ("-c", connections.to_string());
        return Err(ToolFault::Value { flag, value, wanted: "at least as many connections as -t threads" });
    }
    let rate = if is_wrk2 { Some(rate_per_s(&given)?) } else { None };
    let headers = headers_of(&given)?;
    let timeout = Duration::from_secs(timeout_s);
    let draft = Draft {
        url: Some(Address::parse(&url)?),
        load: Load {
            connections: Some(connections),
            duration: Some(Duration::from_secs(duration_s)),
            rate: rate.map(|rate| rate_of(rate as f64)),
            max_lateness: rate.map(|_| super::NO_TIMEOUT),
            ..Load::default()
        },
        request: Request { method: None, ..super::request_of("", headers, None, timeout) },
        responses: super::any_response(),
        connection: Connection {
            version: Some(Version::Http11),
            security: super::trusting(url.starts_with("https")),
            ..Connection::default()
        },
        grace: Some(Duration::ZERO),
        interval: Some(super::INTERVAL),
        ..Draft::default()
    };
    let shows_uncorrected = given.has("-U");
    Ok(ToolRun {
        tool,
        draft,
        threads: Some(threads),
        is_native: false,
        is_debug: false,
        settings: Settings::Wrk(WrkSettings {
            url,
            threads,
            connections,
            duration_s,
            shows_latency: given.has("-L") || shows_uncorrected,
            shows_uncorrected,
            is_wrk2,
        }),
    })
}

/// The rate that wrk2 wants.
fn rate_per_s(given: &GivenFlags) -> Result<u64, ToolFault> {
    let rate = given.last("-R").map(|text| metric("-R", text)).transpose()?;
    rate.filter(|rate| *rate > 0).ok_or(ToolFault::Missing { flag: "-R" })
}

/// The headers of its requests.
fn headers_of(given: &GivenFlags) -> Result<Vec<Header>, ToolFault> {
    let mut headers = vec![Header::without("Accept"), Header::without("User-Agent")];
    for text in given.all("-H") {
        let header = Header::parse(text)?;
        headers.retain(|known| known.value.is_some() || !known.is(&header.name));
        headers.push(header);
    }
    Ok(headers)
}
