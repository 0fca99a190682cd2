//! A parsed URL: the target of a load.

use std::fmt;

use url::Url;

use crate::custom::protocol_of_scheme;
use crate::secrets::percent_decoded;
use crate::zone::{with_zone, without_zone};
use crate::{CustomEndpoint, CustomScheme, PlanError, masked_url};

/// A URL scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Grpc,
    WebSocket,
    Tcp,
    Custom(CustomScheme),
}

/// What a URL of a custom protocol says beside its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CustomPart {
    pub(crate) endpoint: CustomEndpoint,
    port: u16,
}

/// A parsed URL. Each is parsed like one of HTTP, so that hosts and ports mean the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub(crate) url: Url,
    pub(crate) scheme: Scheme,
    /// The interface of a link-local address; the URL has none.
    pub(crate) zone: Option<String>,
    /// Of a custom protocol.
    pub(crate) custom: Option<Box<CustomPart>>,
}

impl Scheme {
    /// Whether messages without a head are exchanged.
    pub(crate) fn is_messaging(self) -> bool {
        matches!(self, Self::WebSocket | Self::Tcp | Self::Custom(_))
    }

    /// How its URLs begin.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::Http => "http://",
            Self::Grpc => "grpc://",
            Self::WebSocket => "ws://",
            Self::Tcp => "tcp://",
            Self::Custom(scheme) => scheme.prefix,
        }
    }
}

impl Address {
    /// Parses a URL; without a scheme, http:// is meant.
    ///
    /// # Errors
    /// The URL is invalid, has an unknown scheme, or contains a name or a password.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let text = text.trim();
        // A port alone means this machine.
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
            other => match protocol_of_scheme(other) {
                Some((_, own)) => (Scheme::Custom(own), own.is_tls),
                None => return Err(PlanError::Scheme { url: shown(), scheme }),
            },
        };
        let rest = with_scheme.split_once("://").map_or("", |(_, rest)| rest);
        let (rest, zone) = without_zone(rest).map_err(wrong)?;
        let as_http = format!("{}://{rest}", if is_tls { "https" } else { "http" });
        let mut url = Url::parse(&as_http).map_err(|error| wrong(error.to_string()))?;
        let custom = match kind {
            Scheme::Custom(scheme) => Some(Box::new(take_custom(&mut url, scheme, &rest))),
            _ => None,
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(PlanError::Credentials { url: shown() });
        }
        if url.port() == Some(0) {
            return Err(wrong("port 0 cannot be connected to".to_owned()));
        }
        url.set_fragment(None);
        let address = Self { url, scheme: kind, zone, custom };
        if kind == Scheme::Tcp && (port_in(&rest).is_none() || address.path_and_query() != "/") {
            return Err(PlanError::TcpUrl { url: shown() });
        }
        Ok(address)
    }

    /// A URL with user information, without that, and `name:password` as it is sent; `None` for a URL without it, or of
    /// a protocol that has no head to send it in.
    pub(crate) fn without_user(text: &str) -> Option<(String, String)> {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
        let (user, host) = rest[..end].rsplit_once('@')?;
        let is_custom = protocol_of_scheme(&scheme.to_ascii_lowercase()).is_some();
        if user.is_empty() || is_custom || scheme.eq_ignore_ascii_case("tcp") {
            return None;
        }
        let bare = format!("{scheme}://{host}{}", &rest[end..]);
        Self::parse(&bare).ok()?;
        let user = percent_decoded(user);
        Some((bare, if user.contains(':') { user } else { user + ":" }))
    }

    /// An HTTP URL that was parsed elsewhere.
    pub(crate) fn from_http_url(url: Url, zone: Option<String>) -> Self {
        Self { url, scheme: Scheme::Http, zone, custom: None }
    }

    /// Whether it names a gRPC method, or a gRPC server.
    pub fn is_grpc(&self) -> bool {
        self.scheme == Scheme::Grpc
    }

    /// Whether it is a target of messages without a head: WebSocket, plain TCP, or a custom protocol.
    pub(crate) fn is_messaging(&self) -> bool {
        self.scheme.is_messaging()
    }

    /// Whether its messages are datagrams.
    pub fn is_datagram(&self) -> bool {
        self.custom.as_ref().is_some_and(|custom| custom.endpoint.is_datagram)
    }

    /// The name of its custom protocol, if it has one.
    pub fn custom_protocol(&self) -> Option<&str> {
        self.custom.as_ref().map(|custom| custom.endpoint.protocol.as_str())
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.url.scheme() == "https"
    }

    /// Scheme, host and port.
    pub(crate) fn origin(&self) -> String {
        self.with_zone(&self.url.origin().ascii_serialization())
    }

    fn with_zone(&self, text: &str) -> String {
        with_zone(text, self.zone.as_deref())
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

    /// The host without brackets.
    pub(crate) fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
    }

    pub(crate) fn port(&self) -> u16 {
        if let Some(custom) = &self.custom {
            return custom.port;
        }
        self.url.port_or_known_default().unwrap_or(80)
    }

    pub(crate) fn host_and_port(&self) -> String {
        format!("{}:{}", self.url.host_str().unwrap_or_default(), self.port())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match (self.scheme, self.is_tls()) {
            (Scheme::Http, _) => return f.write_str(&self.with_zone(self.url.as_str())),
            (Scheme::Grpc, false) => "grpc",
            (Scheme::Grpc, true) => "grpcs",
            (Scheme::WebSocket, false) => "ws",
            (Scheme::WebSocket, true) => "wss",
            (Scheme::Custom(scheme), _) => {
                let host = self.url.host_str().unwrap_or_default();
                let port = if self.port() == scheme.port { String::new() } else { format!(":{}", self.port()) };
                let path = self.custom.as_ref().map_or("", |custom| &custom.endpoint.path);
                let path = if path == "/" { "" } else { path };
                return write!(f, "{}://{}{path}", scheme.name, self.with_zone(&format!("{host}{port}")));
            }
            (Scheme::Tcp, _) => return write!(f, "tcp://{}", self.with_zone(&self.host_and_port())),
        };
        let rest = self.url.as_str().split_once("://").map_or("", |(_, rest)| rest);
        write!(f, "{scheme}://{}", self.with_zone(rest))
    }
}

/// Takes what a custom protocol alone has out of a URL. `rest`: what is after its scheme.
fn take_custom(url: &mut Url, scheme: CustomScheme, rest: &str) -> CustomPart {
    let protocol = protocol_of_scheme(scheme.name).map_or("", |(protocol, _)| protocol.name());
    let path = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let endpoint = CustomEndpoint {
        protocol: protocol.to_owned(),
        user: percent_decoded(url.username()),
        password: url.password().map(percent_decoded),
        path,
        is_datagram: scheme.is_datagram,
        scheme: scheme.name.to_owned(),
    };
    // A URL with a host takes both.
    let _ = (url.set_username(""), url.set_password(None));
    CustomPart { endpoint, port: port_in(rest).unwrap_or(scheme.port) }
}

/// The port that is written in a URL, of which this is what is after the scheme: the parser drops the default ports of
/// HTTP.
fn port_in(rest: &str) -> Option<u16> {
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (_, port) = host.rsplit_once(':')?;
    port.parse().ok().filter(|_| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The host with its port, unless that is the default one.
pub(crate) fn host_header(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or(host.to_owned(), |port| format!("{host}:{port}"))
}

/// Whether a text has a scheme (RFC 3986 3.1): letters, digits, `+`, `-` and `.` before `://`; elsewhere `://` belongs
/// to a path or a query.
fn has_scheme(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        scheme.starts_with(|each: char| each.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

/// The known schemes.
const SCHEMES: [&str; 7] = ["http", "https", "grpc", "grpcs", "ws", "wss", "tcp"];

/// The reason why a text names no host, though a URL parser would find one in it.
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
