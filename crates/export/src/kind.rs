//! Parser for the argument of `--export`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use url::Url;

use crate::bounds::{EXPORT_BYTES_MAX, KINDS};
use crate::error::ExportError;

const LISTEN_EXAMPLE: &str = "127.0.0.1:9464";
const UDP_EXAMPLE: &str = "127.0.0.1:8125";

/// One export with its destination.
#[derive(Clone, PartialEq, Eq)]
pub enum Export {
    /// A page that Prometheus scrapes.
    Prometheus(SocketAddr),
    /// Remote write of Prometheus, version 1.0.
    RemoteWrite(Url),
    /// OTLP over HTTP.
    Otlp(Url),
    /// The line protocol of InfluxDB.
    Influx(Url),
    /// StatsD over UDP.
    Statsd {
        /// Host and port.
        place: String,
        /// Whether Datadog tags are used, instead of longer names.
        has_tags: bool,
    },
    /// CSV with a line for each interval and series.
    Csv(String),
    /// Thresholds as test cases.
    Junit(String),
    /// Summary and annotations for GitHub Actions.
    Github,
}

impl std::fmt::Debug for Export {
    // URLs may contain secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.kind(), self.place())
    }
}

impl Export {
    /// Parses `KIND=DESTINATION`.
    ///
    /// # Errors
    /// The kind is unknown, or its destination is invalid.
    pub fn parse(text: &str) -> Result<Self, ExportError> {
        if text.len() > EXPORT_BYTES_MAX {
            return Err(ExportError::TooLong);
        }
        let (kind, place) = match text.split_once('=') {
            Some((kind, place)) => (kind.trim(), place.trim()),
            None => (text.trim(), ""),
        };
        let known = KINDS.into_iter().find(|known| *known == kind);
        let Some(kind) = known else { return Err(ExportError::Kind { kind: plan::masked_url(kind) }) };
        if kind == "github" {
            let is_bare = !text.contains('=');
            return if is_bare { Ok(Self::Github) } else { Err(ExportError::NeedlessPlace { kind }) };
        }
        if place.is_empty() {
            return Err(ExportError::NoPlace { kind, example: example(kind) });
        }
        Ok(match kind {
            "prometheus" => Self::Prometheus(listen_address(kind, place)?),
            "remote-write" => Self::RemoteWrite(with_path(url(kind, place)?, "/api/v1/write")),
            "otlp" => Self::Otlp(with_path(url(kind, place)?, "/v1/metrics")),
            "influx" => Self::Influx(influx(url(kind, place)?)?),
            "statsd" | "dogstatsd" => Self::Statsd { place: udp_place(kind, place)?, has_tags: kind == "dogstatsd" },
            "csv" => Self::Csv(place.to_owned()),
            _ => Self::Junit(place.to_owned()),
        })
    }

    /// The name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Prometheus(_) => "prometheus",
            Self::RemoteWrite(_) => "remote-write",
            Self::Otlp(_) => "otlp",
            Self::Influx(_) => "influx",
            Self::Statsd { has_tags: false, .. } => "statsd",
            Self::Statsd { has_tags: true, .. } => "dogstatsd",
            Self::Csv(_) => "csv",
            Self::Junit(_) => "junit",
            Self::Github => "github",
        }
    }

    /// The destination, without secrets.
    pub fn place(&self) -> String {
        match self {
            Self::Prometheus(address) => address.to_string(),
            Self::RemoteWrite(url) | Self::Otlp(url) | Self::Influx(url) => shown(url),
            Self::Statsd { place, .. } => place.clone(),
            Self::Csv(path) | Self::Junit(path) => path.clone(),
            Self::Github => "$GITHUB_STEP_SUMMARY".to_owned(),
        }
    }

    /// The output file, if it is one.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Csv(path) | Self::Junit(path) => Some(path),
            _ => None,
        }
    }

    /// Whether both exports have one destination.
    pub(crate) fn is_twice(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Prometheus(one), Self::Prometheus(two)) => one == two && one.port() != 0,
            (one, two) => match (one.file(), two.file()) {
                (Some(one), Some(two)) => one == two,
                _ => one == two,
            },
        }
    }
}

/// An example destination of a kind.
fn example(kind: &str) -> &'static str {
    match kind {
        "prometheus" => LISTEN_EXAMPLE,
        "remote-write" => "http://127.0.0.1:9090/api/v1/write",
        "otlp" => "http://127.0.0.1:4318",
        "influx" => "http://127.0.0.1:8086/write?db=onrush",
        "statsd" | "dogstatsd" => UDP_EXAMPLE,
        "csv" => "figures.csv",
        _ => "junit.xml",
    }
}

/// A URL for display: without user and password, and with only those query values that name a destination.
fn shown(url: &Url) -> String {
    let mut shown = url.clone();
    // Both fail only where a URL can have neither.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    let is_plain = |name: &str| ["db", "org", "orgID", "bucket", "rp", "precision"].contains(&name);
    let pairs: Vec<(String, String)> = url
        .query_pairs()
        .map(|(name, value)| {
            let value = if is_plain(&name) { value.into_owned() } else { "***".to_owned() };
            (name.into_owned(), value)
        })
        .collect();
    if url.query().is_some() {
        shown.set_query(None);
        shown.set_fragment(None);
        let query: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        return plan::masked_url(&format!("{shown}?{}", query.join("&")));
    }
    plan::masked_url(shown.as_str())
}

fn url(kind: &'static str, text: &str) -> Result<Url, ExportError> {
    let wrong = || ExportError::Url { kind, text: masked(text), example: example(kind) };
    let mut url = Url::parse(text).map_err(|_| wrong())?;
    let is_http = matches!(url.scheme(), "http" | "https") && url.has_host();
    url.set_fragment(None);
    if is_http { Ok(url) } else { Err(wrong()) }
}

/// A text that is no URL, with the values of secret parameters masked; `p` is the password of InfluxDB 1.
fn masked(text: &str) -> String {
    let part = |part: &str| {
        let (name, end) = (part.split_once('=').map(|(name, _)| name), part.ends_with('&'));
        if name == Some("p") { format!("p=***{}", if end { "&" } else { "" }) } else { part.to_owned() }
    };
    plan::masked_url(text).split_inclusive(['?', '&']).map(part).collect()
}

/// Adds the default path where none was typed.
fn with_path(mut url: Url, path: &str) -> Url {
    if url.path() == "/" {
        url.set_path(path);
    }
    url
}

/// The write URL for both versions of the API. Times are in nanoseconds, the default of both.
fn influx(mut url: Url) -> Result<Url, ExportError> {
    let pairs: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(name, _)| name != "precision")
        .map(|(a, b)| (a.into_owned(), b.into_owned()))
        .collect();
    let has = |wanted: &str| pairs.iter().any(|(name, value)| name == wanted && !value.is_empty());
    if !has("db") && !has("bucket") {
        let mut server = url.clone();
        server.set_query(None);
        server.set_path("");
        return Err(ExportError::NoDatabase { text: shown(&server).trim_end_matches('/').to_owned() });
    }
    let usual = if has("bucket") { "/api/v2/write" } else { "/write" };
    if pairs.is_empty() {
        url.set_query(None);
    } else {
        url.query_pairs_mut().clear().extend_pairs(&pairs);
    }
    Ok(with_path(url, usual))
}

/// A listen address; only this machine unless another address is given.
fn listen_address(kind: &'static str, text: &str) -> Result<SocketAddr, ExportError> {
    let wrong = || ExportError::Address { kind, text: text.to_owned(), example: LISTEN_EXAMPLE };
    if let Ok(port) = text.trim_start_matches(':').parse::<u16>() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    let local = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    local.map(|port| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)).ok_or_else(wrong)
}

/// Host and port. The host is resolved when the load begins.
fn udp_place(kind: &'static str, text: &str) -> Result<String, ExportError> {
    let wrong = || ExportError::Address { kind, text: plan::masked_url(text), example: UDP_EXAMPLE };
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let is_port = port.parse::<u16>().is_ok_and(|port| port > 0);
    let is_six =
        host.starts_with('[') && host.ends_with(']') && host[1..host.len() - 1].parse::<std::net::Ipv6Addr>().is_ok();
    let is_name = !host.is_empty() && !host.contains([':', '/', '@', ' ', '[', ']', '?', '#']);
    if is_port && (is_six || is_name) { Ok(text.to_owned()) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests;
