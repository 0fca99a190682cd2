//! ApacheBench.

use super::options::{read, switch, value};
use super::{ANY_STATUS, Opt, Settings, Style, Tool, ToolFault, ToolRun, basic};
use crate::{Flags, REQUEST_BODY_BYTES_MAX};

/// What ab was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct AbSettings {
    /// Requests, at most.
    pub requests: u64,
    /// Users.
    pub connections: u64,
    /// It ends then.
    pub time_limit_s: Option<u64>,
    /// Connections are kept.
    pub keep_alive: bool,
    /// A body goes out.
    pub has_body: bool,
    /// Bodies may differ in length.
    pub variable_length: bool,
    /// No progress is told.
    pub is_quiet: bool,
    /// No percentiles are printed.
    pub no_percentiles: bool,
    /// Minimum, mean and maximum only.
    pub short_stats: bool,
    /// Attributes of table, row and cell, where HTML is printed.
    pub html: Option<[String; 3]>,
    /// Percentiles go there.
    pub csv: Option<String>,
    /// Each request goes there.
    pub gnuplot: Option<String>,
    /// How much is told.
    pub verbosity: u64,
    /// Method and head of the request, where they are told.
    pub request: (String, String),
    /// As printed.
    pub host: String,
    /// As printed.
    pub port: u16,
    /// As printed.
    pub path: String,
}

const TABLE: [Opt; 40] = [
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
/// As its own help says.
const REQUESTS_WITH_TIME: u64 = 50_000;

pub(super) fn parse(words: &[String]) -> Result<ToolRun, ToolFault> {
    let given = read(Style::Apache, &TABLE, words)?;
    given.refuse(&["-X", "-P", "-Z", "-f", "-W", "-R", "-Q", "-D", "-L", "-b", "-V", "-I"])?;
    let url = given.url().map_err(|_| ToolFault::Url)?;
    if given.has("-h") {
        return Err(ToolFault::Url);
    }
    let number = |flag| given.last(flag).map(|text| super::whole(flag, text)).transpose();
    let time_limit_s = number("-t")?;
    // What was written last counts.
    let last = given.flags.iter().rev().find(|(id, _)| ["-n", "-t"].contains(id)).map(|(id, _)| *id);
    let requests = match last {
        Some("-t") => REQUESTS_WITH_TIME,
        _ => number("-n")?.unwrap_or(1),
    };
    let connections = number("-c")?.unwrap_or(1);
    for (flag, number) in [("-n", requests), ("-c", connections)] {
        if number == 0 {
            return Err(ToolFault::Value { flag, value: "0".to_owned(), wanted: "more than nothing" });
        }
    }
    if connections > requests {
        return Err(ToolFault::FewerRequests { requests, users: connections });
    }
    let methods = [("-i", given.has("-i")), ("-p", given.has("-p")), ("-u", given.has("-u"))];
    if let [one, other, ..] = methods.iter().filter(|(_, is)| *is).map(|(flag, _)| *flag).collect::<Vec<_>>()[..] {
        return Err(ToolFault::Conflict { one, other });
    }
    let (file, method) = match (given.last("-p"), given.last("-u")) {
        (Some(file), _) => (Some(("-p", file)), "POST"),
        (None, Some(file)) => (Some(("-u", file)), "PUT"),
        (None, None) => (None, if given.has("-i") { "HEAD" } else { "GET" }),
    };
    let body = file.map(|(flag, path)| crate::flags::read_up_to(flag, path, REQUEST_BODY_BYTES_MAX)).transpose()?;
    let method = given.last("-m").unwrap_or(method).to_owned();
    let keep_alive = given.has("-k");
    let mut headers = Vec::new();
    if !keep_alive {
        // HTTP/1.0 without a word about it.
        headers.push("Connection:".to_owned());
    }
    headers.extend(given.last("-C").map(|cookie| format!("Cookie: {cookie}")));
    headers.extend(given.last("-A").map(|user| basic(user.trim_start())));
    if body.is_some() {
        headers.push(format!("Content-Type: {}", given.last("-T").unwrap_or("text/plain")));
    }
    headers.extend(given.all("-H").map(str::to_owned));
    let timeout = number("-s")?.filter(|seconds| *seconds > 0).unwrap_or(30);
    let own = given.last("-E");
    let flags = Flags {
        url: Some(url.clone()),
        connections: Some(connections.to_string()),
        requests: Some(requests.to_string()),
        duration: time_limit_s.map(|seconds| format!("{}s", seconds.max(1))),
        method: Some(method),
        raw_data: body.clone(),
        timeout: Some(format!("{timeout}s")),
        connect_timeout: Some(format!("{timeout}s")),
        grace: Some(if time_limit_s.is_some() { "0s".to_owned() } else { format!("{timeout}s") }),
        interval: Some("100ms".to_owned()),
        http10: true,
        no_keepalive: !keep_alive,
        insecure: url.starts_with("https"),
        bodies: true,
        rows: given.has("-g"),
        cert: own.map(str::to_owned),
        source_ip: given.last("-B").map(str::to_owned),
        expect_status: Some(ANY_STATUS.to_owned()),
        headers,
        ..Flags::default()
    };
    let (host, port, path) = crate::flags::parts_of_url(&url)?;
    let request = request_of(&flags)?;
    let html = ["-w", "-x", "-y", "-z"].iter().any(|flag| given.has(flag)).then(|| {
        let text = |flag, default: &str| given.last(flag).unwrap_or(default).to_owned();
        [text("-x", ""), text("-y", ""), text("-z", "bgcolor=white")]
    });
    Ok(ToolRun {
        tool: Tool::Ab,
        flags,
        // It has one thread, and takes the first body for the measure of the others.
        threads: Some(1),
        is_native: false,
        is_debug: false,
        settings: Settings::Ab(AbSettings {
            requests,
            connections,
            time_limit_s,
            keep_alive,
            has_body: body.is_some(),
            variable_length: given.has("-l"),
            is_quiet: given.has("-q") || requests <= 150,
            no_percentiles: given.has("-d"),
            short_stats: given.has("-S"),
            html,
            csv: given.last("-e").map(str::to_owned),
            gnuplot: given.last("-g").map(str::to_owned),
            verbosity: number("-v")?.unwrap_or(0),
            request,
            host,
            port,
            path,
        }),
    })
}

/// The method and the head that the flags make; what is secret in it is not told.
fn request_of(flags: &Flags) -> Result<(String, String), ToolFault> {
    let plan = flags.plan()?;
    let request = &plan.scenarios[0].steps[0].request;
    let mut head = format!("{} {} HTTP/1.0\r\n", request.method, request.path);
    for (name, value) in &request.headers {
        let value = if crate::is_secret_field(name) { "***".into() } else { String::from_utf8_lossy(value) };
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    Ok((request.method.clone(), head))
}
