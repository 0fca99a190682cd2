//! Messages of WebSocket and of plain TCP: the content, and where a response ends.

use super::{Body, Draft};
use crate::address::Scheme;
use crate::text::check_count;
use crate::{
    Address, HttpVersion, MESSAGE_BYTES_MAX, Message, MessageKind, Messaging, Need, PlanError, Remedy, ResponseEnd,
    Step, Version,
};

/// The largest response of a known length.
pub(crate) const RESPONSE_BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Options of messages of WebSocket and TCP.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessagingOptions {
    /// The message type, on a WebSocket.
    pub kind: Option<MessageKind>,
    /// Where a response ends.
    pub end: Option<ResponseEnd>,
    /// The offered subprotocols, in order of preference.
    pub subprotocols: Vec<String>,
    /// Whether compression is offered.
    pub deflate: bool,
}

impl MessagingOptions {
    /// The first option that only a WebSocket has.
    pub(super) fn websocket_flag(&self) -> Option<&'static str> {
        let given = [
            ("--ws-type", self.kind.is_some()),
            ("--subprotocol", !self.subprotocols.is_empty()),
            ("--ws-deflate", self.deflate),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
    }
}

/// The flag for the end of a response.
pub(crate) fn flag_of(end: &ResponseEnd) -> &'static str {
    match end {
        ResponseEnd::Until(_) => "--until",
        ResponseEnd::Bytes(_) => "--read-bytes",
        ResponseEnd::LengthPrefix { .. } => "--length-prefix",
        ResponseEnd::None | ResponseEnd::Message => "--no-response",
    }
}

impl Draft {
    /// A message and its response as a step. `listens`: there may be no message.
    pub(super) fn messaging_step(&self, address: &Address, listens: bool) -> Result<Step, PlanError> {
        let is_ws = address.scheme == Scheme::WebSocket;
        let scheme = if is_ws { "ws://" } else { "tcp://" };
        let given = [
            self.request.method.as_ref().map(|_| "-X"),
            self.connection.version.map(Version::flag),
            self.connection.streams.map(|_| "--streams"),
            self.responses.status.as_ref().map(|_| "--expect-status"),
            (!is_ws && !self.request.headers.is_empty()).then_some("-H"),
        ];
        if let Some(one) = given.into_iter().flatten().next() {
            return Err(PlanError::Conflict { one, other: scheme, remedy: Remedy::MessagingIsNoHttp });
        }
        if !is_ws && let Some(flag) = self.request.messaging.websocket_flag() {
            return Err(PlanError::Needs { flag, needed: Need::WebSocket });
        }
        let message = self.message(is_ws)?;
        let response = self.response_end(is_ws, message.as_ref())?;
        // Nothing is sent, and nothing is awaited.
        if message.is_none() && !listens && !is_ws {
            return Err(PlanError::NothingToSend);
        }
        let message = match message {
            None if is_ws && !listens => {
                Some(Message { kind: MessageKind::Ping, bytes: Vec::new(), is_numbered: false })
            }
            message => message,
        };
        let has_content =
            response != ResponseEnd::None && message.as_ref().is_none_or(|message| message.kind != MessageKind::Ping);
        if let Some(one) = self.responses.content_flag().filter(|_| !has_content) {
            return Err(match self.request.messaging.end {
                Some(ResponseEnd::None) => {
                    PlanError::Conflict { one, other: "--no-response", remedy: Remedy::NoAnswer }
                }
                _ => PlanError::Needs { flag: one, needed: Need::Answered },
            });
        }
        let request = self.opening(address, is_ws)?;
        let name = if is_ws { request.path.clone() } else { address.host_and_port() };
        Ok(Step {
            dynamic_parts: None,
            name,
            request,
            call: None,
            messaging: Some(Messaging {
                awaits: false,
                message,
                response,
                subprotocols: self.request.messaging.subprotocols.clone(),
                offers_deflate: self.request.messaging.deflate,
                custom: None,
            }),
            target: 0,
            follow: None,
            is_shown: false,
            checks: self.responses.checks_with(Default::default(), false),
            timeout: self.request.timeout()?,
            deadline: self.request.deadline()?,
            tags: Vec::new(),
            at_origins: Vec::new(),
            connect_timeout: self.connection.connect_timeout()?,
            keep_alive: !self.connection.no_keepalive,
            retries: !self.connection.no_retry,
        })
    }

    /// The handshake request of a WebSocket connection.
    fn opening(&self, address: &Address, is_ws: bool) -> Result<crate::Request, PlanError> {
        let (request, mut headers) = (&self.request, Vec::new());
        if is_ws {
            let own =
                ["upgrade", "connection", "sec-websocket-key", "sec-websocket-version", "sec-websocket-extensions"];
            if let Some(header) = request.headers.iter().find(|header| own.iter().any(|own| header.is(own))) {
                return Err(PlanError::HeaderOfHandshake { header: header.name.clone() });
            }
            for (name, value) in [("Host", address.host_header()), ("User-Agent", request.user_agent.clone())] {
                if !request.has(name) && !value.is_empty() {
                    headers.push((name.to_owned(), value.into_bytes()));
                }
            }
            headers.extend(request.said());
        }
        Ok(crate::Request {
            method: "GET".to_owned(),
            path: address.path_and_query(),
            version: HttpVersion::Http11,
            headers,
            body: crate::BodyBytes::default(),
        })
    }

    fn message(&self, is_ws: bool) -> Result<Option<Message>, PlanError> {
        let (body, wanted) = (&self.request.body, self.request.messaging.kind);
        if *body == Some(Body::Numbered) && is_ws {
            return Ok(Some(Message { kind: MessageKind::Text, bytes: Vec::new(), is_numbered: true }));
        }
        let bytes = match body {
            Some(Body::Random { count, seed }) => {
                let count = check_count("--data-bytes", *count, 1, MESSAGE_BYTES_MAX)?;
                Some(random_bytes(*seed, count as usize))
            }
            body => body.as_ref().map(Body::read).transpose()?.map(crate::BodyBytes::into_vec),
        };
        let is_raw = matches!(body, Some(Body::Random { .. } | Body::Binary(_)));
        let kind = match (is_ws, wanted, &bytes) {
            (false, _, _) => MessageKind::Plain,
            (true, None, None) => return Ok(None),
            (true, None, Some(bytes)) if is_raw || std::str::from_utf8(bytes).is_err() => MessageKind::Binary,
            (true, None, Some(_)) => MessageKind::Text,
            (true, Some(kind), _) => kind,
        };
        let Some(bytes) = bytes.or((kind == MessageKind::Ping).then(Vec::new)) else {
            return if is_ws { Err(PlanError::Needs { flag: "--ws-type", needed: Need::Data }) } else { Ok(None) };
        };
        match kind {
            MessageKind::Text if std::str::from_utf8(&bytes).is_err() => Err(PlanError::TextNotUtf8),
            MessageKind::Ping if bytes.len() > PING_BYTES_MAX => Err(PlanError::PingTooLarge { most: PING_BYTES_MAX }),
            MessageKind::Plain if bytes.is_empty() => Err(PlanError::NothingToSend),
            kind => Ok(Some(Message { kind, bytes, is_numbered: false })),
        }
    }

    fn response_end(&self, is_ws: bool, message: Option<&Message>) -> Result<ResponseEnd, PlanError> {
        match (&self.request.messaging.end, is_ws) {
            (None, true) => Ok(ResponseEnd::Message),
            (Some(ResponseEnd::None), true) => Ok(ResponseEnd::None),
            (Some(end), true) => {
                Err(PlanError::Conflict { one: flag_of(end), other: "ws://", remedy: Remedy::MessagesEnd })
            }
            (Some(ResponseEnd::Bytes(count)), false) => {
                check_count("--read-bytes", *count, 1, RESPONSE_BYTES_MAX).map(ResponseEnd::Bytes)
            }
            (Some(end), false) => Ok(end.clone()),
            // A load without an end of responses would measure nothing but sending.
            (None, false) if message.is_some() => Err(PlanError::NoAnswerEnd),
            (None, false) => Ok(ResponseEnd::None),
        }
    }
}

/// The largest payload of a control frame (RFC 6455, 5.5).
const PING_BYTES_MAX: usize = 125;

/// Random bytes; the same seed gives the same bytes (SplitMix64, by its published constants).
fn random_bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed;
    let mut bytes = Vec::with_capacity(count + 8);
    while bytes.len() < count {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        bytes.extend_from_slice(&(word ^ word >> 31).to_le_bytes());
    }
    bytes.truncate(count);
    bytes
}
