//! Where an answer sends a user on (RFC 9110, 15.4).

use url::Url;

use crate::{Protocol, Request, Sources, Target, Tls, Ways};

/// Which redirects are followed, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follow {
    /// How connections are secured where a redirect leads from plain ones to secured ones.
    pub tls: Box<Tls>,
    /// Where hosts are, as the user said.
    pub ways: Box<Ways>,
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

/// Who is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// By TLS.
    pub is_tls: bool,
    /// Without brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl Origin {
    /// That of a target.
    pub fn of(target: &Target) -> Self {
        Self { is_tls: target.tls.is_some(), host: target.host.clone(), port: target.port }
    }
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
        // What was said of hosts was understood before the run.
        let (places, dial) = self.ways.to(&host, port, Vec::new()).unwrap_or_default();
        Target {
            url: String::new(),
            host,
            dial,
            unix: self.ways.unix.clone(),
            port,
            protocol,
            streams: base.streams,
            tls,
            sources: Sources::Usual,
            places,
        }
    }

    /// The request that follows an answer of this status with this `Location`. `None` when it cannot be understood, or leads out
    /// of HTTP.
    /// `first`: what the user asked for, and of whom.
    pub fn hop(
        &self,
        status: u16,
        location: &[u8],
        base: &str,
        target: &Target,
        request: &Request,
        first: &(Request, Origin),
    ) -> Option<Hop> {
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
            next.headers.retain(|(name, value)| {
                // A type that was written by hand stays, as with curl; that of the body goes with it.
                let is_type = name.eq_ignore_ascii_case("content-type")
                    && [&b"application/x-www-form-urlencoded"[..], b"multipart/form-data"]
                        .iter()
                        .any(|kind| value.starts_with(kind));
                let is_framing =
                    ["content-length", "transfer-encoding"].iter().any(|framing| name.eq_ignore_ascii_case(framing));
                !is_type && !is_framing
            });
        }
        // Secrets are for the host that the user named, whenever the way leads there.
        let is_secret = |name: &str| SECRETS.iter().any(|secret| name.eq_ignore_ascii_case(secret));
        let origin = Origin { is_tls, host: host.clone(), port };
        next.headers.retain(|(name, _)| !is_secret(name));
        if self.trusts_others || origin == first.1 {
            next.headers.extend(first.0.headers.iter().filter(|(name, _)| is_secret(name)).cloned());
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
