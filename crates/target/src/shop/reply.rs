//! Responses of the shop.

use crate::respond::Kind;

pub(super) const TEXT: &str = "text/plain";
pub(super) const HTML: &str = "text/html; charset=utf-8";
pub(super) const JSON: &str = "application/json";
pub(super) const LOST: &str = "the session is no more: too many came after it";

/// A response.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) kind: Kind,
    pub(crate) body: Vec<u8>,
}

pub(super) fn json(status: u16, body: String) -> Reply {
    Reply { status, kind: Kind::new(JSON), body: body.into_bytes() }
}

pub(super) fn html(body: String) -> Reply {
    Reply { status: 200, kind: Kind::new(HTML), body: body.into_bytes() }
}

pub(super) fn see(kind: Kind, location: &'static str) -> Reply {
    Reply { status: 302, kind: Kind { location: Some(location), ..kind }, body: b"elsewhere\n".to_vec() }
}

pub(super) fn refused(status: u16, kind: Kind, why: &str) -> Reply {
    Reply { status, kind, body: format!("{why}\n").into_bytes() }
}

pub(super) fn refusal(status: u16, why: &str) -> Reply {
    refused(status, Kind::new(TEXT), why)
}

pub(super) fn bad(why: &str) -> Reply {
    refusal(400, why)
}

/// RFC 9110 15.5.2: the response names the authentication scheme.
pub(super) fn unknown(why: &str) -> Reply {
    refused(401, Kind::new(TEXT).with("WWW-Authenticate", "Bearer"), why)
}

/// RFC 6750 3.1: the response to a token or a cookie that does not hold, or no longer.
pub(super) fn expired(why: &str) -> Reply {
    refused(401, Kind::new(TEXT).with("WWW-Authenticate", "Bearer error=\"invalid_token\""), why)
}

/// The version that the client has is the current one.
pub(super) fn unchanged(kind: Kind) -> Reply {
    Reply { status: 304, kind, body: Vec::new() }
}

pub(super) fn text_of_json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A number from 1 to `most`.
pub(super) fn number(text: &str, most: u32) -> Option<u32> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && (1..=most).contains(number))
}
