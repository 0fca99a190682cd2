//! hey.

use std::time::Duration;

use super::options::{read, switch, value};
use super::{ANY_STATUS, NO_TIMEOUT, Opt, Settings, Style, Tool, ToolFault, ToolRun, rate_text};
use crate::{Flags, REQUEST_BODY_BYTES_MAX};

/// What hey was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct HeySettings {
    /// Each request is a line.
    pub is_csv: bool,
    /// Method and URL, as its errors begin.
    pub request: String,
}

const TABLE: [Opt; 23] = [
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

/// Times as Go writes them: `1m30s`, `1.5h`, `300ms`.
fn go_duration(flag: &'static str, text: &str) -> Result<Duration, ToolFault> {
    let wanted = "a time like 10s, 1m30s or 300ms";
    let is_spaced = text.contains(char::is_whitespace);
    let span = if is_spaced { None } else { super::span_of(text.trim_start_matches('+'), &UNITS) };
    span.ok_or_else(|| ToolFault::Value { flag, value: text.to_owned(), wanted })
}

/// A duration in our own words.
pub(super) fn text_of(span: Duration) -> String {
    format!("{}ms", span.as_millis().max(1))
}

pub(super) fn parse(words: &[String]) -> Result<ToolRun, ToolFault> {
    let given = read(Style::Go, &TABLE, words)?;
    given.refuse(&["-x", "-h"])?;
    let url = given.rest.first().cloned().filter(|_| !given.has("-help")).ok_or(ToolFault::Url)?;
    let number = |flag, default| given.last(flag).map_or(Ok(default), |text| super::whole(flag, text));
    let (requests, users) = (number("-n", 200)?, number("-c", 50)?);
    let duration = given.last("-z").map_or(Ok(Duration::ZERO), |text| go_duration("-z", text))?;
    if users == 0 || requests == 0 {
        let flag = if users == 0 { "-c" } else { "-n" };
        return Err(ToolFault::Value { flag, value: "0".to_owned(), wanted: "more than nothing" });
    }
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
    let body = match (given.last("-D"), given.last("-d")) {
        (Some(path), _) => Some(crate::flags::read_up_to("-D", path, REQUEST_BODY_BYTES_MAX)?),
        (None, Some(text)) if !text.is_empty() => Some(text.as_bytes().to_vec()),
        _ => None,
    };
    let mut headers: Vec<String> = Vec::new();
    let mut set = |name: &str, value: &str| {
        headers.retain(|header| !header.split(':').next().is_some_and(|known| known.eq_ignore_ascii_case(name)));
        headers.push(format!("{name}: {value}"));
    };
    set("Content-Type", given.last("-T").unwrap_or("text/html"));
    let keeps_compression = !given.is_on("-disable-compression")? && method != "HEAD";
    if keeps_compression {
        set("Accept-Encoding", "gzip");
    }
    for text in given.all("-H") {
        let wrong = || ToolFault::Value { flag: "-H", value: "***".to_owned(), wanted: "a header like 'Name: value'" };
        let (name, value) = text.split_once(':').ok_or_else(wrong)?;
        set(name, value.trim());
    }
    if let Some(accept) = given.last("-A") {
        set("Accept", accept);
    }
    if let Some(agent) = given.last("-U") {
        set("User-Agent", agent);
    }
    if let Some(host) = given.last("-host") {
        set("Host", host);
    }
    // The tool of that name loses it on its way; whoever writes it means it.
    if let Some(user) = given.last("-a") {
        headers.push(super::basic(user));
    }
    if !headers.iter().any(|header| header.to_ascii_lowercase().starts_with("accept:")) {
        headers.push("Accept:".to_owned());
    }
    let timeout = number("-t", 20)?;
    let timeout = if timeout == 0 { NO_TIMEOUT.to_owned() } else { format!("{timeout}s") };
    let each = requests / users;
    let disables_redirects = given.is_on("-disable-redirects")?;
    let flags = Flags {
        url: Some(url.clone()),
        connections: Some(users.to_string()),
        requests: (!is_timed).then(|| (each * users).to_string()),
        duration: is_timed.then(|| text_of(duration)),
        rate: (rate > 0.0).then(|| rate_text(rate * users as f64)),
        max_lateness: (rate > 0.0).then(|| NO_TIMEOUT.to_owned()),
        method: Some(method.clone()),
        raw_data: body,
        timeout: Some(timeout.clone()),
        grace: Some(timeout),
        interval: Some("100ms".to_owned()),
        no_keepalive: given.is_on("-disable-keepalive")?,
        http11: !given.is_on("-h2")?,
        location: !disables_redirects,
        max_redirs: (!disables_redirects).then(|| "10".to_owned()),
        insecure: !disables_redirects || url.starts_with("https"),
        expect_status: Some(ANY_STATUS.to_owned()),
        rows: output == "csv",
        headers,
        persists: true,
        bodies: true,
        ..Flags::default()
    };
    let mut word = method.to_ascii_lowercase();
    if let Some(first) = word.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    Ok(ToolRun {
        tool: Tool::Hey,
        flags,
        threads: given.last("-cpus").map(|text| super::whole("-cpus", text)).transpose()?.filter(|count| *count > 0),
        is_native: false,
        is_debug: false,
        settings: Settings::Hey(HeySettings { is_csv: output == "csv", request: format!("{word} \"{url}\"") }),
    })
}
