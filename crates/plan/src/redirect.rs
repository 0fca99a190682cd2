//! Redirects (RFC 9110, 15.4).

mod form;

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::{Protocol, Request, RouteOverrides, Sources, Target, TargetPolicy, Tls};
pub(crate) use form::{BodyContent, Field};
pub use form::{ChainPosition, Form};

/// The redirect options of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Follow {
    /// The form of each request.
    pub form: Arc<Form>,
    /// The TLS options where a redirect leads from a plain to a secure connection.
    pub tls: Box<Tls>,
    /// The route overrides of the user.
    pub route_overrides: Box<RouteOverrides>,
    /// The target policy.
    pub target_policy: TargetPolicy,
    /// The most redirects in a row.
    pub most: u32,
    /// Whether secrets are sent to other hosts too.
    pub trusts_others: bool,
    /// Whether the method was named by the user, and is kept.
    pub keeps_method: bool,
    /// The method of a POST is kept after these: bit 0 for 301, 1 for 302, 2 for 303.
    pub keeps_post: u8,
    /// Whether a `Referer` is sent.
    pub tells_referer: bool,
}

/// The next request, with its target.
#[derive(Clone, Debug, PartialEq)]
pub struct Hop {
    /// The request.
    pub request: Request,
    /// The position in the chain.
    pub at: ChainPosition,
    /// The origin, if it is another one than before: scheme, host and port.
    pub elsewhere: Option<(bool, String, u16)>,
}

impl Follow {
    /// A target that a redirect names, with the options of the target before it.
    #[inline]
    pub fn target(&self, base: &Target, is_tls: bool, host: String, port: u16) -> Target {
        let was_http2 = base.protocol == Protocol::Http2;
        let protocol = match (was_http2, is_tls) {
            (true, _) => Protocol::Http2,
            (false, true) if self.tls.alpn.iter().any(|name| name == "h2") => Protocol::Negotiated,
            _ => Protocol::Http1,
        };
        let tls = is_tls.then(|| Tls { name: host.clone(), ..base.tls.clone().unwrap_or_else(|| (*self.tls).clone()) });
        // Route overrides were validated before the run.
        let route = self.route_overrides.to(&host, port, Vec::new(), is_tls).unwrap_or_default();
        Target {
            target_policy: self.target_policy.clone(),
            url: String::new(),
            host,
            zone: None,
            dial: route.dial,
            unix: self.route_overrides.unix.clone(),
            port,
            protocol,
            custom: None,
            streams: base.streams,
            tls,
            sources: Sources::Usual,
            places: route.places,
            proxy: route.proxy,
            proxy_header: route.proxy_header,
            names: base.names,
            connection_limits: base.connection_limits,
        }
    }

    /// The redirect of a response with this status and this `Location` (not empty). `None` when it is invalid, or not
    /// HTTP. `at`: the position of the response; `target`: the target that it came from.
    #[inline]
    pub fn hop(&self, status: u16, location: &[u8], at: &ChainPosition, target: &Target) -> Option<Hop> {
        let url = at.url.join(location, self.form.path_as_is)?;
        let (is_tls, host, port) = url.place();
        let mut next = ChainPosition { url, ..at.clone() };
        let keeps_post = self.keeps_post & 1 << (status.clamp(301, 303) - 301) != 0;
        let is_post = matches!(at.content, BodyContent::Data | BodyContent::Parts);
        let drops_body = match status {
            301 | 302 => is_post && !keeps_post,
            303 => at.content == BodyContent::File || is_post && !keeps_post,
            _ => false,
        };
        // After 303 every method but HEAD becomes GET; after 301 and 302 browsers and curl do so with POST.
        let is_changed = match status {
            301 | 302 => at.method == "POST" && !keeps_post,
            303 => at.method != "HEAD" && !(keeps_post && at.method == "POST"),
            _ => false,
        };
        if drops_body {
            next.content = BodyContent::None;
        }
        if is_changed && !self.keeps_method {
            next.method = "GET".to_owned();
        }
        let was = at.url.place();
        // As curl: a password is dropped with another port or scheme, and is used again on the way back from another
        // host.
        if !self.trusts_others && (was.0, was.2) != (is_tls, port) {
            next.user = None;
        }
        if self.form.user.is_none() {
            next.user = next.url.credentials().or(next.user);
        }
        if self.tells_referer {
            next.referer = Some(at.url.shown());
        }
        let is_same = host == target.host && port == target.port && is_tls == target.tls.is_some();
        let request = self.form.request(&next, self.trusts_others);
        Some(Hop { request, at: next, elsewhere: (!is_same).then_some((is_tls, host, port)) })
    }
}
