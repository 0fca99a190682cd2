//! Where an answer sends a user on (RFC 9110, 15.4).

use url::Url;

use crate::{Protocol, Request, Sources, Target, Tls};

/// Which redirects are followed, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follow {
    /// How connections are secured where a redirect leads from plain ones to secured ones.
    pub tls: Box<Tls>,
    /// So many, one after the other.
    pub most: u32,
    /// Secrets go to other hosts too.
    pub trusts_others: bool,
    /// The method was named by the user, and stays what it is.
    pub keeps_method: bool,
    /// The method of a POST stays after these: bit 0 for 301, 1 for 302, 2 for 303.
    pub keeps_post: u8,
    /// Says where it comes from.
    pub tells_referer: bool,
}

/// The next request, and where it goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop {
    /// The request.
    pub request: Request,
    /// The URL of it.
    pub url: String,
    /// It goes to another target than the last one: scheme, host and port.
    pub elsewhere: Option<(bool, String, u16)>,
}

/// Fields that say who somebody is.
const SECRETS: [&str; 3] = ["authorization", "cookie", "proxy-authorization"];

impl Follow {
    /// A target that a redirect names, reached as the one before it.
    pub fn target(&self, base: &Target, is_tls: bool, host: String, port: u16) -> Target {
        let was_http2 = base.protocol == Protocol::Http2;
        let protocol = match (was_http2, is_tls) {
            (true, _) => Protocol::Http2,
            (false, true) if self.tls.alpn.iter().any(|name| name == "h2") => Protocol::Negotiated,
            _ => Protocol::Http1,
        };
        let tls = is_tls.then(|| Tls { name: host.clone(), ..base.tls.clone().unwrap_or_else(|| (*self.tls).clone()) });
        Target {
            url: String::new(),
            host,
            dial: None,
            unix: None,
            port,
            protocol,
            streams: base.streams,
            tls,
            sources: Sources::Usual,
            places: Vec::new(),
        }
    }

    /// The request that follows an answer of this status with this `Location`. `None` when it cannot be understood, or leads out
    /// of HTTP.
    pub fn hop(&self, status: u16, location: &[u8], base: &str, target: &Target, request: &Request) -> Option<Hop> {
        let base = Url::parse(base).ok()?;
        let location = std::str::from_utf8(location).ok()?.trim();
        if location.is_empty() {
            return None;
        }
        let mut url = base.join(location).ok()?;
        url.set_fragment(None);
        let is_tls = match url.scheme() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        let bracketed = url.host_str()?;
        let host = bracketed.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = url.port_or_known_default().filter(|port| *port > 0)?;
        let was_tls = target.tls.is_some();
        let is_same_host = host == target.host;
        let is_same = is_same_host && port == target.port && is_tls == was_tls;
        let mut next = request.clone();
        let keeps = match status {
            301..=303 => self.keeps_post & 1 << (status - 301) != 0,
            _ => true,
        };
        // After 303 every method but HEAD is GET; after 301 and 302 browsers and curl do so with POST.
        let turns_to_get = !keeps && (request.method == "POST" || status == 303 && request.method != "HEAD");
        if turns_to_get || (!keeps && self.keeps_method) {
            if !self.keeps_method {
                next.method = "GET".to_owned();
            }
            next.body.clear();
            next.headers.retain(|(name, _)| {
                !["content-length", "content-type", "transfer-encoding"]
                    .iter()
                    .any(|framing| name.eq_ignore_ascii_case(framing))
            });
        }
        if !is_same && !self.trusts_others {
            next.headers.retain(|(name, _)| !SECRETS.iter().any(|secret| name.eq_ignore_ascii_case(secret)));
        }
        let host_header = url.port().map_or(bracketed.to_owned(), |port| format!("{bracketed}:{port}"));
        for (name, value) in &mut next.headers {
            // A host that the user wrote is for the host that the user named.
            if name.eq_ignore_ascii_case("host") && !is_same {
                *value = host_header.clone().into_bytes();
            }
        }
        if self.tells_referer {
            let mut from = base.clone();
            let _ = (from.set_username(""), from.set_password(None));
            next.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("referer"));
            next.headers.push(("Referer".to_owned(), from.as_str().as_bytes().to_vec()));
        }
        next.path = url.query().map_or(url.path().to_owned(), |query| format!("{}?{query}", url.path()));
        let elsewhere = (!is_same).then_some((is_tls, host, port));
        Some(Hop { request: next, url: url.into(), elsewhere })
    }
}
