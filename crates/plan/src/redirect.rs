//! Where an answer sends a user on (RFC 9110, 15.4).

mod form;

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::{Protocol, Request, RouteOverrides, Sources, Target, TargetPolicy, Tls};
pub use form::{At, Form};
pub(crate) use form::{BodyContent, Field};

/// Which redirects are followed, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Follow {
    /// What each request is made of.
    pub form: Arc<Form>,
    /// How connections are secured where a redirect leads from plain ones to secured ones.
    pub tls: Box<Tls>,
    /// Where hosts are, as the user said.
    pub ways: Box<RouteOverrides>,
    /// Where they may lead.
    pub reach: TargetPolicy,
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
    /// Where it goes.
    pub at: At,
    /// It goes to another target than the last one: scheme, host and port.
    pub elsewhere: Option<(bool, String, u16)>,
}

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
            reach: self.reach.clone(),
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

    /// What follows an answer of this status with this `Location` (not empty). `None` when it cannot be understood, or leads out
    /// of HTTP. `at`: where the answer came from; `target`: the same, as it was connected to.
    pub fn hop(&self, status: u16, location: &[u8], at: &At, target: &Target) -> Option<Hop> {
        let url = at.url.join(location, self.form.path_as_is)?;
        let (is_tls, host, port) = url.place();
        let mut next = At { url, ..at.clone() };
        let keeps_post = self.keeps_post & 1 << (status.clamp(301, 303) - 301) != 0;
        let is_post = matches!(at.content, BodyContent::Data | BodyContent::Parts);
        let drops_body = match status {
            301 | 302 => is_post && !keeps_post,
            303 => at.content == BodyContent::File || is_post && !keeps_post,
            _ => false,
        };
        // After 303 every method but HEAD is GET; after 301 and 302 browsers and curl do so with POST.
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
        // As curl: a password is forgotten with another port or scheme, and comes back from another host.
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
