//! Origins to which a URL of a response may lead: that of the target of its step, and others that the file lists.

use serde::{Deserialize, Serialize};
use url::Url;

/// The most origins of a scenario beside its target.
pub const ORIGINS_MAX: usize = 64;

/// Scheme, host and port of a URL (RFC 6454).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlOrigin {
    is_tls: bool,
    host: String,
    port: u16,
}

impl UrlOrigin {
    /// That of an absolute URL of HTTP or WebSocket, which has no credentials.
    #[inline]
    pub fn from_url(url: &str) -> Option<Self> {
        let url = Url::parse(url).ok()?;
        let is_tls = match url.scheme() {
            "http" | "ws" => false,
            "https" | "wss" => true,
            _ => return None,
        };
        if !url.username().is_empty() || url.password().is_some() {
            return None;
        }
        Some(Self { is_tls, host: url.host_str()?.to_owned(), port: url.port_or_known_default()? })
    }

    /// The origin that a text names, which has nothing behind it but perhaps a slash.
    pub fn from_text(text: &str) -> Option<Self> {
        let (scheme, authority, rest) = parts_of_url(text)?;
        let is_plain = !authority.contains(['*', '@', '\\', '%']) && rest.trim_start_matches('/').is_empty();
        let is_http = matches!(scheme, "http://" | "https://");
        Self::from_url(text).filter(|_| is_plain && is_http)
    }

    /// The place of that of a URL among these.
    #[inline]
    pub fn of(origins: &[Self], url: &str) -> Option<usize> {
        if origins.is_empty() {
            return None;
        }
        let own = Self::from_url(url)?;
        origins.iter().position(|origin| *origin == own)
    }

    /// A URL without a scheme, with this one.
    #[inline]
    pub(crate) fn with_scheme(&self, url: &str) -> String {
        format!("{}{url}", if self.is_tls { "https:" } else { "http:" })
    }
}

/// Schemes before a host.
const SCHEMES: [&str; 5] = ["http://", "https://", "ws://", "wss://", "//"];

/// Scheme, authority and the rest of an absolute URL, or of one without a scheme.
#[inline]
pub(crate) fn parts_of_url(url: &str) -> Option<(&'static str, &str, &str)> {
    let is_begin = |scheme: &&str| url.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
    let scheme = SCHEMES.into_iter().find(is_begin)?;
    let rest = &url[scheme.len()..];
    let (host, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    Some((scheme, host, rest))
}

/// Path and query of an absolute URL.
#[inline]
pub(crate) fn path_of_url(url: &str) -> String {
    let rest = parts_of_url(url).map_or("", |(_, _, rest)| rest);
    let rest = rest.split('#').next().unwrap_or_default();
    if rest.starts_with('/') { rest.to_owned() } else { format!("/{rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_one_origin_are_written_in_many_ways() {
        let names = ["https://cdn.example", "http://127.0.0.1:9000", "http://[0:0::1]:80/", "http://例.test:80"];
        let origins: Vec<UrlOrigin> = names.map(|name| UrlOrigin::from_text(name).expect(name)).into();
        for (url, expect) in [
            ("https://cdn.example/a.css", Some(0)),
            ("HTTPS://CDN.example:443?x", Some(0)),
            ("wss://cdn.example#x", Some(0)),
            ("http://cdn.example/a.css", None),
            ("https://cdn.example.evil/", None),
            ("https://evil@cdn.example/", None),
            ("http://127.0.0.1:9000", Some(1)),
            ("http://127.1:9000/x", Some(1)),
            ("http://127.0.0.1:90000/", None),
            ("http://127.0.0.1/", None),
            ("http://[::1]/x", Some(2)),
            ("http://[::1]:80/x", Some(2)),
            ("http://xn--fsq.test/", Some(3)),
            ("http://%E4%BE%8B.test/", Some(3)),
            ("ftp://cdn.example/", None),
            ("//cdn.example/", None),
            ("/path", None),
            ("https://", None),
            ("", None),
        ] {
            assert_eq!(UrlOrigin::of(&origins, url), expect, "{url}");
        }
        assert_eq!(UrlOrigin::of(&[], "https://cdn.example/"), None);
    }

    #[test]
    fn an_origin_has_nothing_behind_it() {
        for text in [
            "cdn.example",
            "//cdn.example",
            "ws://cdn.example",
            "https://*.example",
            "https://cdn.example/path",
            "https://cdn.example?x",
            "https://a@cdn.example",
            "https://cdn.example#x",
            "https://",
            "",
        ] {
            assert_eq!(UrlOrigin::from_text(text), None, "{text}");
        }
        let same = ["HTTP://cdn.example", "http://cdn.example/", "http://CDN.example:80"].map(UrlOrigin::from_text);
        assert!(same[0].is_some() && same.iter().all(|one| *one == same[0]), "{same:?}");
    }

    #[test]
    fn the_path_is_what_follows_the_host() {
        for (url, path) in [
            ("http://a", "/"),
            ("http://a?b", "/?b"),
            ("http://a/b?c#d", "/b?c"),
            ("http://a#d", "/"),
            ("http://a//b", "//b"),
        ] {
            assert_eq!(path_of_url(url), path, "{url}");
        }
    }
}
