//! Options of requests.

use std::time::Duration;

use super::{Body, CallOptions, Draft, MessagingOptions, TIMEOUT_DEFAULT, flag_of};
use crate::curl_url::{CurlUrl, CurlUrlFault};
use crate::header::is_token;
use crate::redirect::{BodyContent, Field};
use crate::text::{MILLI, check_span};
use crate::{Address, BodyBytes, CustomRequest, Form, Header, HttpVersion, Need, PlanError, Version};

/// Options of requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The method, an HTTP token.
    pub method: Option<String>,
    /// The headers, in the order in which they are sent.
    pub headers: Vec<Header>,
    /// The body of a request, or the content of a message.
    pub body: Option<Body>,
    /// Sent as `User-Agent` unless it is empty, or a header overrides it.
    pub user_agent: String,
    /// The time limit from sent to done.
    pub timeout: Option<Duration>,
    /// The time after which a success counts as missed.
    pub deadline: Option<Duration>,
    /// The pause before each exchange.
    pub pause: Duration,
    /// Options of WebSocket and TCP.
    pub messaging: MessagingOptions,
    /// Options of gRPC.
    pub call: CallOptions,
    /// The request of a custom protocol.
    pub custom: Option<CustomRequest>,
}

impl Request {
    /// Checks that no option of WebSocket or TCP alone is given.
    pub(super) fn refuse_messaging(&self) -> Result<(), PlanError> {
        let random = matches!(self.body, Some(Body::Random { .. })).then_some("--data-bytes");
        let flag = self.messaging.websocket_flag().or(random).or(self.messaging.end.as_ref().map(flag_of));
        flag.map_or(Ok(()), |flag| Err(PlanError::Needs { flag, needed: Need::Messaging }))
    }

    pub(super) fn timeout(&self) -> Result<Duration, PlanError> {
        check_span("-t", self.timeout.unwrap_or(TIMEOUT_DEFAULT), MILLI)
    }

    pub(super) fn deadline(&self) -> Result<Option<Duration>, PlanError> {
        self.deadline.map(|span| check_span("--deadline", span, MILLI)).transpose()
    }

    pub(super) fn read_body(&self) -> Result<Option<BodyBytes>, PlanError> {
        self.body.as_ref().map(Body::read).transpose()
    }

    /// Whether the user sets this header.
    pub(super) fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|header| header.is(name))
    }

    /// The headers of the user that are sent.
    pub(super) fn said(&self) -> impl Iterator<Item = (String, Vec<u8>)> + '_ {
        self.headers.iter().filter_map(|header| Some((header.name.clone(), header.value.clone()?)))
    }
}

impl Draft {
    /// The request form of a URL.
    pub(super) fn form(&self, address: &Address) -> Result<Form, PlanError> {
        let request = &self.request;
        let body = request.read_body()?;
        let method = request.method.clone();
        let method = method.unwrap_or_else(|| if body.is_some() { "POST" } else { "GET" }.to_owned());
        if method.is_empty() || !method.bytes().all(is_token) {
            return Err(PlanError::Method { method });
        }
        let mut fields = Vec::new();
        for (name, value) in self.default_headers(address, &method, body.as_deref()) {
            if request.has(name) {
                continue;
            }
            fields.push(match name {
                "Host" => Field::Host,
                "Content-Type" => Field::OfBody(name.to_owned(), value.into_bytes()),
                "Content-Length" => Field::Length(name.to_owned(), false),
                _ => Field::Plain(name.to_owned(), value.into_bytes()),
            });
        }
        let has_content = fields.iter().any(|field| matches!(field, Field::Length(..)));
        fields.extend(request.said().map(|(name, value)| match name.to_ascii_lowercase().as_str() {
            "host" => Field::HostRequested(name, Some(value)),
            "authorization" | "cookie" => Field::Secret(name, value),
            _ => Field::Plain(name, value),
        }));
        let curl_url = CurlUrl::parse(address.url.as_str(), None, true, true).map_err(|fault| match fault {
            CurlUrlFault::Plan(error) => error,
            CurlUrlFault::Glob => PlanError::Url { url: String::new(), reason: String::new() },
        })?;
        let is_http10 = self.connection.version == Some(Version::Http10);
        Ok(Form {
            method,
            version: if is_http10 { HttpVersion::Http10 } else { HttpVersion::Http11 },
            fields,
            body: body.unwrap_or_default(),
            content: if has_content { BodyContent::Data } else { BodyContent::None },
            url: curl_url,
            target: None,
            path_as_is: false,
            user: None,
            bearer: None,
            cookies: Vec::new(),
        })
    }

    /// The headers that are sent unless a header of the user replaces them.
    fn default_headers(&self, address: &Address, method: &str, body: Option<&[u8]>) -> Vec<(&'static str, String)> {
        let (host, agent) = (address.host_header(), self.request.user_agent.clone());
        let mut headers = vec![("Host", host), ("User-Agent", agent), ("Accept", "*/*".to_owned())];
        headers.retain(|(_, value)| !value.is_empty());
        // RFC 9110 8.6: a method that usually has content declares when there is none.
        let length = body.map(<[u8]>::len).or(matches!(method, "POST" | "PUT" | "PATCH").then_some(0));
        if let Some(length) = length {
            if body.is_some() {
                headers.push(("Content-Type", "application/x-www-form-urlencoded".to_owned()));
            }
            headers.push(("Content-Length", length.to_string()));
        }
        match (self.connection.no_keepalive, self.connection.version) {
            (true, _) => headers.push(("Connection", "close".to_owned())),
            (false, Some(Version::Http10)) => headers.push(("Connection", "keep-alive".to_owned())),
            (false, _) => {}
        }
        headers
    }
}
