//! ApacheBench.

use std::time::Duration;

use super::options::{read, refuse_zeros, switch, value};
use super::{
    CaptureOptions, Connection, Draft, GivenFlags, Header, Load, Opt, Security, Settings, Style, Tool, ToolFault,
    ToolRun,
};
use crate::endpoints::parse_sources;
use crate::{Address, REQUEST_BODY_BYTES_MAX, Version};

/// The options of ab.
#[derive(Clone, Debug, PartialEq)]
pub struct AbSettings {
    /// The most requests.
    pub requests: u64,
    /// Users.
    pub connections: u64,
    /// The time limit.
    pub time_limit_s: Option<u64>,
    /// Whether connections are kept.
    pub keep_alive: bool,
    /// Whether a body is sent.
    pub has_body: bool,
    /// Whether bodies may differ in length.
    pub variable_length: bool,
    /// Whether no progress is printed.
    pub is_quiet: bool,
    /// Whether no percentiles are printed.
    pub no_percentiles: bool,
    /// Whether only minimum, mean and maximum are printed.
    pub short_stats: bool,
    /// Attributes of table, row and cell, where HTML is printed.
    pub html: Option<[String; 3]>,
    /// The file of the percentiles.
    pub csv: Option<String>,
    /// The file with each request.
    pub gnuplot: Option<String>,
    /// The verbosity.
    pub verbosity: u64,
    /// Method and head of the request, where they are printed.
    pub request: (String, String),
    /// The host, as printed.
    pub host: String,
    /// The port, as printed.
    pub port: u16,
    /// The path, as printed.
    pub path: String,
}

pub(super) const TABLE: [Opt; 40] = [
    value("-n", ""),
    value("-c", ""),
    value("-t", ""),
    value("-s", ""),
    value("-b", ""),
    value("-B", ""),
    value("-p", ""),
    value("-u", ""),
    value("-T", ""),
    value("-v", ""),
    switch("-w", ""),
    switch("-i", ""),
    value("-x", ""),
    value("-y", ""),
    value("-z", ""),
    value("-C", ""),
    value("-H", ""),
    value("-A", ""),
    value("-P", ""),
    value("-X", ""),
    switch("-V", ""),
    switch("-k", ""),
    switch("-d", ""),
    switch("-S", ""),
    switch("-q", ""),
    switch("-l", ""),
    value("-g", ""),
    value("-e", ""),
    switch("-r", ""),
    value("-m", ""),
    switch("-h", ""),
    switch("-I", ""),
    value("-Z", ""),
    value("-f", ""),
    value("-E", ""),
    // Of newer versions.
    value("-W", ""),
    value("-R", ""),
    value("-Q", ""),
    switch("-D", ""),
    switch("-L", ""),
];
/// The number in its own help.
const REQUESTS_WITH_TIME: u64 = 50_000;

pub(super) fn parse(words: &[String]) -> Result<ToolRun, ToolFault> {
    let given = read(Style::Apache, &TABLE, words)?;
    given.refuse(&["-Z", "-f", "-W", "-R", "-Q", "-D", "-L", "-b", "-V", "-I"])?;
    let url = given.url().map_err(|_| ToolFault::Url)?;
    if given.has("-h") {
        return Err(ToolFault::Url);
    }
    let number = |flag| given.last(flag).map(|text| super::whole(flag, text)).transpose();
    let time_limit_s = number("-t")?;
    let requests = requests_of(&given)?;
    let connections = given.whole("-c", 1)?;
    refuse_zeros(&[("-n", requests), ("-c", connections)])?;
    if connections > requests {
        return Err(ToolFault::FewerRequests { requests, users: connections });
    }
    let (method, body) = method_and_body(&given)?;
    let headers = headers_of(&given, body.is_some())?;
    let timeout = Duration::from_secs(number("-s")?.filter(|seconds| *seconds > 0).unwrap_or(30));
    let address = Address::parse(&url)?;
    let (host, port, path) = (address.host().to_owned(), address.port(), address.path_and_query());
    let draft = Draft {
        url: Some(address),
        load: Load {
            connections: Some(connections),
            requests: Some(requests),
            duration: time_limit_s.map(|seconds| Duration::from_secs(seconds.max(1))),
            ..Load::default()
        },
        request: super::request_of(&method, headers, body.clone(), timeout),
        responses: super::any_response(),
        connection: connection_of(&given, timeout, url.starts_with("https"))?,
        grace: Some(if time_limit_s.is_some() { Duration::ZERO } else { timeout }),
        interval: Some(super::INTERVAL),
        capture_options: CaptureOptions { bodies: true, rows: given.has("-g"), ..CaptureOptions::default() },
        ..Draft::default()
    };
    let request = request_of(&draft)?;
    Ok(ToolRun {
        tool: Tool::Ab,
        draft,
        // It has one thread, and compares other bodies with the first.
        threads: Some(1),
        is_native: false,
        is_debug: false,
        settings: Settings::Ab(AbSettings {
            requests,
            connections,
            time_limit_s,
            keep_alive: given.has("-k"),
            has_body: body.is_some(),
            variable_length: given.has("-l"),
            is_quiet: given.has("-q") || requests <= 150,
            no_percentiles: given.has("-d"),
            short_stats: given.has("-S"),
            html: html_attributes(&given),
            csv: given.last("-e").map(str::to_owned),
            gnuplot: given.last("-g").map(str::to_owned),
            verbosity: given.whole("-v", 0)?,
            request,
            host,
            port,
            path,
        }),
    })
}

/// The most requests: of `-n` and `-t`, the last one written counts.
fn requests_of(given: &GivenFlags) -> Result<u64, ToolFault> {
    match given.flags.iter().rev().find(|(id, _)| ["-n", "-t"].contains(id)) {
        Some(("-t", _)) => Ok(REQUESTS_WITH_TIME),
        _ => given.whole("-n", 1),
    }
}

/// The method, and the body of a file.
fn method_and_body(given: &GivenFlags) -> Result<(String, Option<Vec<u8>>), ToolFault> {
    let methods = [("-i", given.has("-i")), ("-p", given.has("-p")), ("-u", given.has("-u"))];
    if let [one, other, ..] = methods.iter().filter(|(_, is)| *is).map(|(flag, _)| *flag).collect::<Vec<_>>()[..] {
        return Err(ToolFault::Conflict { one, other });
    }
    let (file, method) = match (given.last("-p"), given.last("-u")) {
        (Some(file), _) => (Some(("-p", file)), "POST"),
        (None, Some(file)) => (Some(("-u", file)), "PUT"),
        (None, None) => (None, if given.has("-i") { "HEAD" } else { "GET" }),
    };
    let body = file.map(|(flag, path)| crate::file::read_up_to(flag, path, REQUEST_BODY_BYTES_MAX)).transpose()?;
    Ok((given.last("-m").unwrap_or(method).to_owned(), body))
}

/// The headers of its requests.
fn headers_of(given: &GivenFlags, has_body: bool) -> Result<Vec<Header>, ToolFault> {
    let mut headers = Vec::new();
    if !given.has("-k") {
        // HTTP/1.0 without a `Connection` header.
        headers.push(Header::without("Connection"));
    }
    let parsed = |name: &str, value: &str| Header::parse(&format!("{name}: {value}"));
    headers.extend(given.last("-C").map(|cookie| parsed("Cookie", cookie)).transpose()?);
    headers.extend(given.last("-A").map(|user| Header::basic(user.trim_start())));
    if has_body {
        headers.push(parsed("Content-Type", given.last("-T").unwrap_or("text/plain"))?);
    }
    for text in given.all("-H") {
        headers.push(Header::parse(text)?);
    }
    Ok(headers)
}

/// How connections are made.
fn connection_of(given: &GivenFlags, timeout: Duration, is_tls: bool) -> Result<Connection, ToolFault> {
    Ok(Connection {
        connect_timeout: Some(timeout),
        no_keepalive: !given.has("-k"),
        version: Some(Version::Http10),
        security: Security { cert: given.last("-E").map(str::to_owned), ..super::trusting(is_tls) },
        proxy: super::through(given.last("-X"), given.last("-P"))?,
        sources: given.last("-B").map(parse_sources).transpose()?,
        ..Connection::default()
    })
}

/// Attributes of table, row and cell, where HTML is wanted.
fn html_attributes(given: &GivenFlags) -> Option<[String; 3]> {
    ["-w", "-x", "-y", "-z"].iter().any(|flag| given.has(flag)).then(|| {
        let text = |flag, default: &str| given.last(flag).unwrap_or(default).to_owned();
        [text("-x", ""), text("-y", ""), text("-z", "bgcolor=white")]
    })
}

/// The method and the head of the request, with masked secrets.
fn request_of(draft: &Draft) -> Result<(String, String), ToolFault> {
    let plan = draft.plan()?;
    let request = &plan.scenarios[0].steps[0].request;
    let mut head = format!("{} {} HTTP/1.0\r\n", request.method, request.path);
    for (name, value) in &request.headers {
        let value = if crate::is_secret_field(name) { "***".into() } else { String::from_utf8_lossy(value) };
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    Ok((request.method.clone(), head))
}
