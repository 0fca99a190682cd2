//! Origins to which a URL of a response may lead beside the target of its step.

use serde::{Deserialize, Serialize};

/// The most origins of a scenario.
pub const ORIGINS_MAX: usize = 64;

/// Schemes before a host.
const SCHEMES: [&str; 5] = ["http://", "https://", "ws://", "wss://", "//"];

/// Scheme, host and port of a URL (RFC 6454).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlOrigin {
    is_tls: bool,
    host: String,
    port: u16,
}

impl UrlOrigin {
    /// That of an absolute URL.
    pub fn from_url(url: &str) -> Option<Self> {
        let (scheme, host, _) = parts_of_url(url)?;
        if scheme == "//" {
            return None;
        }
        let is_tls = matches!(scheme, "https://" | "wss://");
        let (host, port) = match host.rsplit_once(':').filter(|(host, _)| !host.contains(':') || host.ends_with(']')) {
            Some((host, port)) => (host, port.parse().ok()?),
            None => (host, if is_tls { 443 } else { 80 }),
        };
        (!host.is_empty()).then(|| Self { is_tls, host: host.to_ascii_lowercase(), port })
    }

    /// The place of that of a URL among these.
    pub fn of(origins: &[Self], url: &str) -> Option<usize> {
        if origins.is_empty() {
            return None;
        }
        let own = Self::from_url(url)?;
        origins.iter().position(|origin| *origin == own)
    }
}

/// Scheme, authority and the rest of an absolute URL, or of one without a scheme.
pub(crate) fn parts_of_url(url: &str) -> Option<(&'static str, &str, &str)> {
    let is_begin = |scheme: &&str| url.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
    let scheme = SCHEMES.into_iter().find(is_begin)?;
    let rest = &url[scheme.len()..];
    let (host, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    Some((scheme, host, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_one_origin_are_written_in_many_ways() {
        let origins: Vec<UrlOrigin> = ["https://cdn.example", "http://127.0.0.1:9000", "http://[::1]:80/"]
            .into_iter()
            .map(|url| UrlOrigin::from_url(url).expect(url))
            .collect();
        for (url, expect) in [
            ("https://cdn.example/a.css", Some(0)),
            ("HTTPS://CDN.example:443?x", Some(0)),
            ("wss://cdn.example#x", Some(0)),
            ("http://cdn.example/a.css", None),
            ("https://cdn.example.evil/", None),
            ("https://evil@cdn.example/", None),
            ("http://127.0.0.1:9000", Some(1)),
            ("http://127.0.0.1:90000/", None),
            ("http://127.0.0.1/", None),
            ("http://[::1]/x", Some(2)),
            ("http://[::1]:80/x", Some(2)),
            ("//cdn.example/", None),
            ("/path", None),
            ("https://", None),
            ("", None),
        ] {
            assert_eq!(UrlOrigin::of(&origins, url), expect, "{url}");
        }
        assert_eq!(UrlOrigin::of(&[], "https://cdn.example/"), None);
    }
}
