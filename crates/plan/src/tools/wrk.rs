//! wrk and wrk2.

use super::options::{read, switch, value};
use super::{ANY_STATUS, Given, Opt, Settings, Style, Tool, ToolFault, ToolRun, rate_text};
use crate::Flags;

/// What wrk was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct WrkSettings {
    /// As typed.
    pub url: String,
    /// Threads, as they are printed.
    pub threads: u64,
    /// Connections.
    pub connections: u64,
    /// Seconds.
    pub duration_s: u64,
    /// The distribution of latencies is printed.
    pub shows_latency: bool,
    /// And that from the sending on, of wrk2.
    pub shows_uncorrected: bool,
    /// It is wrk2.
    pub is_wrk2: bool,
}

const TABLE: [Opt; 15] = [
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

/// A whole number with a unit: each letter multiplies by `steps` more.
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
    let given: Given = read(Style::Getopt, &TABLE, words)?;
    let is_wrk2 = tool == Tool::Wrk2;
    if !is_wrk2 && let Some((flag, _)) = given.flags.iter().find(|(id, _)| ["-R", "-U", "-B"].contains(id)) {
        return Err(ToolFault::Unknown { flag: (*flag).to_owned() });
    }
    given.refuse(&["-s", "-v", "-B"])?;
    // What follows the URL would be for a script.
    let url = given.rest.first().cloned().filter(|_| !given.has("--help") && !given.has("-h")).ok_or(ToolFault::Url)?;
    let number = |flag, default| given.last(flag).map_or(Ok(default), |text| metric(flag, text));
    let (connections, threads) = (number("-c", 10)?, number("-t", 2)?);
    let duration_s = given.last("-d").map_or(Ok(10), |text| seconds("-d", text))?;
    let timeout_s = given.last("-T").map_or(Ok(2), |text| seconds("-T", text))?;
    for (flag, number) in [("-t", threads), ("-d", duration_s), ("-T", timeout_s)] {
        if number == 0 {
            return Err(ToolFault::Value { flag, value: "0".to_owned(), wanted: "more than nothing" });
        }
    }
    if connections < threads {
        let (flag, value) = ("-c", connections.to_string());
        return Err(ToolFault::Value { flag, value, wanted: "at least as many connections as -t threads" });
    }
    let rate = match (is_wrk2, given.last("-R")) {
        (false, _) => None,
        (true, None) => return Err(ToolFault::Missing { flag: "-R" }),
        (true, Some(text)) => match metric("-R", text)? {
            0 => return Err(ToolFault::Missing { flag: "-R" }),
            rate => Some(rate),
        },
    };
    let mut headers = vec!["Accept:".to_owned(), "User-Agent:".to_owned()];
    for text in given.all("-H") {
        // It sends none without a colon and a blank.
        let is_ours = |name: &str| text.split(':').next().is_some_and(|front| front.eq_ignore_ascii_case(name));
        headers.retain(|header| !is_ours(header.trim_end_matches(':')));
        headers.push(text.to_owned());
    }
    let flags = Flags {
        url: Some(url.clone()),
        connections: Some(connections.to_string()),
        duration: Some(format!("{duration_s}s")),
        rate: rate.map(|rate| rate_text(rate as f64)),
        max_lateness: rate.map(|_| super::NO_TIMEOUT.to_owned()),
        timeout: Some(format!("{timeout_s}s")),
        grace: Some("0s".to_owned()),
        interval: Some("100ms".to_owned()),
        expect_status: Some(ANY_STATUS.to_owned()),
        insecure: url.starts_with("https"),
        http11: true,
        headers,
        ..Flags::default()
    };
    let shows_uncorrected = given.has("-U");
    Ok(ToolRun {
        tool,
        flags,
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
