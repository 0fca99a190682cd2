//! The form of the requests of a redirect chain: each redirect makes a new request for its target.

use base64::Engine;
use serde::{Deserialize, Serialize};

use crate::cookies::{self, Cookie};
use crate::curl_url::CurlUrl;
use crate::{BodyBytes, HttpVersion, Request};

/// The kind of the body, since redirects treat them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum BodyContent {
    None,
    /// Data of a POST.
    Data,
    /// A multipart form.
    Parts,
    /// An uploaded file.
    File,
}

/// A field of the head. Fields that depend on the target of the request are written anew for each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Field {
    Host,
    /// A host that the user wrote, under this name; `None` leaves it out. It applies to the host of the first URL.
    HostRequested(String, Option<Vec<u8>>),
    Authorization,
    /// A range without its unit.
    Range(String),
    /// `None`: it is known only after a redirect.
    Referer(Option<String>),
    /// Cookies of files, followed by those that the user wrote.
    Cookie(Option<Vec<u8>>),
    /// A secret that the user wrote, for the host of the first URL.
    Secret(String, Vec<u8>),
    /// A field that is sent only with the body.
    OfBody(String, Vec<u8>),
    /// The length of the body. `true`: the user wrote it, so it is sent without a body too.
    Length(String, bool),
    /// `Transfer-Encoding`.
    Chunked(String),
    Plain(String, Vec<u8>),
    /// From where on: of what is asked for, and of the whole of what is sent.
    Resumed {
        open: String,
        whole: String,
    },
}

/// The form of a chain's requests; see the module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Form {
    pub(crate) method: String,
    pub(crate) version: HttpVersion,
    pub(crate) fields: Vec<Field>,
    pub(crate) body: BodyBytes,
    pub(crate) content: BodyContent,
    /// The first URL.
    pub(crate) url: CurlUrl,
    /// The request target instead of path and query, for every request.
    pub(crate) target: Option<String>,
    pub(crate) path_as_is: bool,
    /// `name:password`, apart from the URL.
    pub(crate) user: Option<Vec<u8>>,
    pub(crate) bearer: Option<String>,
    pub(crate) cookies: Vec<Cookie>,
}

/// The position of a request in its redirect chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainPosition {
    pub(super) url: CurlUrl,
    pub(super) method: String,
    pub(super) content: BodyContent,
    pub(super) user: Option<Vec<u8>>,
    pub(super) referer: Option<String>,
}

impl ChainPosition {
    /// Method and URL, for messages.
    pub fn reported(&self) -> String {
        format!("{} {}", self.method, self.url.shown())
    }
}

impl Form {
    /// Rewrites its texts, where `written` has a replacement.
    pub fn rewrite(&mut self, written: &dyn Fn(&str) -> Option<String>) {
        let bytes = |value: &mut Vec<u8>| {
            if let Some(text) = std::str::from_utf8(value).ok().and_then(written) {
                *value = text.into_bytes();
            }
        };
        let text = |value: &mut String| *value = written(value).unwrap_or_else(|| std::mem::take(value));
        for field in &mut self.fields {
            match field {
                Field::HostRequested(_, value) | Field::Cookie(value) => value.iter_mut().for_each(bytes),
                Field::Secret(_, value) | Field::OfBody(_, value) | Field::Plain(_, value) => bytes(value),
                Field::Referer(value) => value.iter_mut().for_each(text),
                Field::Range(value) => text(value),
                Field::Host | Field::Authorization | Field::Length(..) | Field::Chunked(_) | Field::Resumed { .. } => {}
            }
        }
        [&mut self.target, &mut self.bearer].into_iter().flatten().for_each(text);
        self.url.rewrite(written);
    }

    /// The beginning of the chain.
    #[inline]
    pub fn begin(&self) -> ChainPosition {
        ChainPosition {
            url: self.url.clone(),
            method: self.method.clone(),
            content: self.content,
            user: self.user.clone().or_else(|| self.url.credentials()),
            referer: None,
        }
    }

    /// The same for a chain that begins at another path of the same origin.
    #[inline]
    pub fn begin_at(&self, path: &str) -> ChainPosition {
        let begin = self.begin();
        let url = self.url.join(path.as_bytes(), self.path_as_is).unwrap_or_else(|| self.url.clone());
        ChainPosition { url, ..begin }
    }

    /// Whether the user wrote a field of this name. `name`: in lower case.
    #[inline]
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| matches!(field, Field::Plain(plain, _) if plain.eq_ignore_ascii_case(name)))
    }

    /// The request for a position. `trusts_others`: secrets are sent to other hosts too.
    #[inline]
    pub(crate) fn request(&self, at: &ChainPosition, trusts_others: bool) -> Request {
        let is_home = at.url.place() == self.url.place();
        let is_trusted = trusts_others || is_home;
        let is_host_named = at.url.host() == self.url.host();
        let has_body = at.content != BodyContent::None;
        let body = if has_body { self.body.clone() } else { BodyBytes::default() };
        let is_chunked = has_body && self.fields.iter().any(|field| matches!(field, Field::Chunked(_)));
        let mut headers = Vec::with_capacity(self.fields.len());
        let mut host_requested = None;
        let mut say = |name: &str, value: &[u8]| headers.push((name.to_owned(), value.to_vec()));
        for field in &self.fields {
            match field {
                Field::HostRequested(name, requested) if is_host_named => {
                    host_requested = requested.as_deref();
                    if let Some(host) = requested {
                        say(name, host);
                    }
                }
                Field::Host | Field::HostRequested(..) => say("Host", at.url.host_header().as_bytes()),
                Field::Authorization => {
                    if let Some(value) = self.authorization(at).filter(|_| is_trusted) {
                        say("Authorization", value.as_bytes());
                    }
                }
                Field::Range(range) => {
                    let length = || if is_chunked { "-1".to_owned() } else { body.len().to_string() };
                    if let Some((name, value)) = range_field(at.content, range, || format!("{range}/{}", length())) {
                        say(name, value.as_bytes());
                    }
                }
                Field::Resumed { open, whole } => {
                    if let Some((name, value)) = range_field(at.content, open, || whole.clone()) {
                        say(name, value.as_bytes());
                    }
                }
                Field::Referer(first) => {
                    if let Some(referer) = at.referer.as_ref().or(first.as_ref()) {
                        say("Referer", referer.as_bytes());
                    }
                }
                Field::Cookie(written) => {
                    let cookies = self.cookies_for(at, host_requested, written.as_deref());
                    if !cookies.is_empty() {
                        say("Cookie", &cookies.join(&b"; "[..]));
                    }
                }
                Field::Secret(name, value) => {
                    if is_trusted {
                        say(name, value);
                    }
                }
                Field::OfBody(name, value) => {
                    if has_body {
                        say(name, value);
                    }
                }
                Field::Length(name, is_requested) => {
                    if (has_body || *is_requested) && !is_chunked {
                        say(name, body.len().to_string().as_bytes());
                    }
                }
                Field::Chunked(name) => {
                    if has_body {
                        say(name, b"chunked");
                    }
                }
                Field::Plain(name, value) => say(name, value),
            }
        }
        let path = self.target.clone().unwrap_or_else(|| at.url.path_and_query());
        Request { method: at.method.clone(), path, version: self.version, headers, body }
    }

    /// The cookies for a position: those of files for its host, then those that the user wrote.
    #[inline]
    fn cookies_for(&self, at: &ChainPosition, host: Option<&[u8]>, written: Option<&[u8]>) -> Vec<Vec<u8>> {
        let host = host.and_then(|host| std::str::from_utf8(host).ok()).map(without_port);
        let host = host.unwrap_or_else(|| at.url.host());
        let (mut cookies, has_room) = cookies::pick(&self.cookies, host, at.url.path(), at.url.is_tls());
        cookies.extend(written.filter(|_| has_room).map(<[u8]>::to_vec));
        cookies
    }

    #[inline]
    fn authorization(&self, at: &ChainPosition) -> Option<String> {
        if let Some(bearer) = &self.bearer {
            return Some(format!("Bearer {bearer}"));
        }
        let user = at.user.as_ref()?;
        Some(format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(user)))
    }
}

/// The field of a range: of what is asked for, or of what is sent.
fn range_field(content: BodyContent, requested: &str, sent: impl FnOnce() -> String) -> Option<(&'static str, String)> {
    match content {
        BodyContent::None => Some(("Range", format!("bytes={requested}"))),
        BodyContent::Parts => None,
        BodyContent::Data | BodyContent::File => Some(("Content-Range", format!("bytes {}", sent()))),
    }
}

/// The host of a `Host` field.
#[inline]
fn without_port(host: &str) -> &str {
    match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    }
}
