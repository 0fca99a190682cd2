//! What is loaded: a URL that was understood.

use std::fmt;

use url::Url;

use crate::secrets::percent_decoded;
use crate::{PlanError, masked_url};

/// What is at a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Grpc,
    WebSocket,
    Tcp,
}

/// A URL that was understood. Each is read as one of HTTP, so that hosts and ports mean the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub(crate) url: Url,
    pub(crate) scheme: Scheme,
}

impl Address {
    /// Reads a URL; without a scheme, http:// is meant.
    ///
    /// # Errors
    /// It is none, has a scheme that is not known, or holds a name or a password.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let text = text.trim();
        // A port alone is one of this machine.
        let is_port = text.strip_prefix(':').is_some_and(|rest| rest.starts_with(|each: char| each.is_ascii_digit()));
        if let Some(reason) = no_url(text) {
            return Err(PlanError::Url { url: masked_url(text), reason: reason.to_owned() });
        }
        let with_scheme = match has_scheme(text) {
            true => text.to_owned(),
            false if is_port => format!("http://127.0.0.1{text}"),
            false => format!("http://{text}"),
        };
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
        let address = Self { url, scheme: kind };
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

    /// A URL that says who somebody is, without that, and `name:password` as it is sent; `None` of another one, or where there is no
    /// head to send it in.
    pub(crate) fn without_user(text: &str) -> Option<(String, String)> {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let (user, host) = rest[..end].rsplit_once('@')?;
        if user.is_empty() || scheme.eq_ignore_ascii_case("tcp") {
            return None;
        }
        let bare = format!("{scheme}://{host}{}", &rest[end..]);
        Self::parse(&bare).ok()?;
        let user = percent_decoded(user);
        Some((bare, if user.contains(':') { user } else { user + ":" }))
    }

    /// One of HTTP, read elsewhere.
    pub(crate) fn of_http(url: Url) -> Self {
        Self { url, scheme: Scheme::Http }
    }

    /// It is a method of gRPC, or a server of them.
    pub fn is_grpc(&self) -> bool {
        self.scheme == Scheme::Grpc
    }

    /// Messages without a head are spoken: WebSocket, or plain TCP.
    pub(crate) fn is_talk(&self) -> bool {
        matches!(self.scheme, Scheme::WebSocket | Scheme::Tcp)
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Scheme, host and port.
    pub(crate) fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    pub(crate) fn path_and_query(&self) -> String {
        match self.url.query() {
            Some(query) => format!("{}?{query}", self.url.path()),
            None => self.url.path().to_owned(),
        }
    }

    pub(crate) fn host_header(&self) -> String {
        host_header(&self.url)
    }

    /// Without brackets.
    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
    }

    pub(crate) fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(80)
    }

    pub(crate) fn host_and_port(&self) -> String {
        format!("{}:{}", self.url.host_str().unwrap_or_default(), self.port())
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

/// The host with its port, unless that is the usual one.
pub(crate) fn host_header(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
}

/// RFC 3986 3.1: letters, digits, `+`, `-` and `.` before `://`; elsewhere `://` belongs to a path or a query.
fn has_scheme(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        scheme.starts_with(|each: char| each.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

/// The schemes that are known.
const SCHEMES: [&str; 7] = ["http", "https", "grpc", "grpcs", "ws", "wss", "tcp"];

/// Why a text names no host, though a parser of URLs would find one in it.
fn no_url(text: &str) -> Option<&'static str> {
    if ["/", "./", "../", "~/"].iter().any(|start| text.starts_with(start)) {
        return Some("it is a path and names no host");
    }
    if text.starts_with(['“', '”', '‘', '’', '「', '『']) {
        return Some("it begins with a quotation mark of printed text");
    }
    let (scheme, rest) = text.split_once(':')?;
    let slashes = rest.bytes().take_while(|byte| b"/\\".contains(byte)).count();
    let has_two = rest.starts_with("//") && slashes == 2;
    // `http:8080` is a port of a host of this name.
    let is_port = slashes == 0 && rest.split('/').next().is_some_and(|port| port.parse::<u16>().is_ok());
    let is_wrong = SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) && !has_two && !is_port;
    is_wrong.then_some("exactly two slashes stand behind the scheme")
}
