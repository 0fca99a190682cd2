//! webbench.

use std::time::Duration;

use super::options::{read, switch, value};
use super::{Connection, Draft, Header, Load, Opt, Settings, Style, Tool, ToolFault, ToolRun};
use crate::{Address, Version};

/// The options of webbench.
#[derive(Clone, Debug, PartialEq)]
pub struct WebbenchSettings {
    /// The number of clients.
    pub clients: u64,
    /// The duration in seconds.
    pub duration_s: u64,
    /// The request, as printed.
    pub request: String,
    /// Whether caches are asked not to answer it.
    pub reloads: bool,
}

pub(super) const TABLE: [Opt; 16] = [
    switch("-f", "--force"),
    switch("-r", "--reload"),
    value("-t", "--time"),
    value("-c", "--clients"),
    value("-p", "--proxy"),
    switch("-9", "--http09"),
    switch("-1", "--http10"),
    switch("-2", "--http11"),
    switch("--get", ""),
    switch("--head", ""),
    switch("--options", ""),
    switch("--trace", ""),
    switch("-V", "--version"),
    switch("-h", "--help"),
    switch("-?", ""),
    switch("--post", ""),
];

pub(super) fn parse(words: &[String]) -> Result<ToolRun, ToolFault> {
    let given = read(Style::Getopt, &TABLE, words)?;
    given.refuse(&["-f", "-9", "-V", "--post"])?;
    let url = given.rest.first().cloned().filter(|_| !given.has("-h") && !given.has("-?")).ok_or(ToolFault::Url)?;
    let (clients, duration_s) = (given.whole("-c", 1)?.max(1), given.whole("-t", 30)?);
    let duration_s = if duration_s == 0 { 30 } else { duration_s };
    let method = given.flags.iter().rev().find_map(|(id, _)| match *id {
        "--get" => Some("GET"),
        "--head" => Some("HEAD"),
        "--options" => Some("OPTIONS"),
        "--trace" => Some("TRACE"),
        _ => None,
    });
    let method = method.unwrap_or("GET");
    let version = given.flags.iter().rev().find_map(|(id, _)| match *id {
        "-1" => Some(10),
        "-2" => Some(11),
        _ => None,
    });
    // These two need HTTP/1.1.
    let is_11 = version == Some(11) || matches!(method, "OPTIONS" | "TRACE");
    let reloads = given.has("-r");
    let address = Address::parse(&url)?;
    let (host, path) = (address.host(), address.path_and_query());
    let mut request =
        format!("{method} {path} HTTP/1.{}\r\nUser-Agent: WebBench 1.5\r\nHost: {host}\r\n", u8::from(is_11));
    // The printed headers are the sent ones; their order has no meaning.
    let mut headers =
        vec![Header::without("Accept"), Header::new("User-Agent", "WebBench 1.5"), Header::new("Host", host)];
    if reloads {
        headers.push(Header::new("Pragma", "no-cache"));
        request.push_str("Pragma: no-cache\r\n");
    }
    if is_11 {
        request.push_str("Connection: close\r\n");
    } else {
        headers.push(Header::without("Connection"));
    }
    request.push_str("\r\n");
    let draft = Draft {
        load: Load { connections: Some(clients), duration: Some(Duration::from_secs(duration_s)), ..Load::default() },
        request: super::request_of(method, headers, None, super::NO_TIMEOUT),
        responses: super::any_response(),
        connection: Connection {
            no_keepalive: true,
            version: Some(if is_11 { Version::Http11 } else { Version::Http10 }),
            proxy: super::through(given.last("-p"), None)?,
            ..Connection::default()
        },
        grace: Some(Duration::ZERO),
        url: Some(address),
        ..Draft::default()
    };
    Ok(ToolRun {
        tool: Tool::Webbench,
        draft,
        threads: None,
        is_native: false,
        is_debug: false,
        settings: Settings::Webbench(WebbenchSettings { clients, duration_s, request, reloads }),
    })
}
