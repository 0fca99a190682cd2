//! The fields of a request that the shop needs: stored from its head until its body has arrived.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::multipart;
use super::sessions::Key;

/// The cookie of a session.
pub(crate) const COOKIE: &str = "sid";

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// Includes HEAD: its response ends with the head, wherever it is rendered.
    Get,
    Post,
    Delete,
    Other,
}

/// The cookie or token by which a user is identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    Absent,
    /// A value that was not issued here.
    Strange,
    Key(Key),
}

impl Proof {
    fn read(text: &str) -> Self {
        text.parse().map_or(Self::Strange, Self::Key)
    }
}

/// The format of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyForm {
    /// Fields as browsers send them; also for a body without a content type.
    Fields,
    Json,
    Other,
}

/// The stored fields of a request. See the module.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ShopRequest {
    pub(crate) method: Method,
    query: Box<str>,
    pub(crate) cookie: Proof,
    pub(crate) token: Proof,
    pub(crate) form: BodyForm,
    /// `ID:SECRET` of basic authentication; empty when it cannot be read.
    pub(super) basic: Option<Box<str>>,
    /// The boundary of a body with files.
    pub(super) boundary: Option<Box<str>>,
    /// `If-None-Match`; empty when absent.
    tags: Box<str>,
}

impl ShopRequest {
    /// `fields`: those of the head, names in any case.
    pub(crate) fn read<'a>(method: &str, target: &str, fields: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> Self {
        let mut requested = Self {
            method: match method {
                "GET" | "HEAD" => Method::Get,
                "POST" => Method::Post,
                "DELETE" => Method::Delete,
                _ => Method::Other,
            },
            query: target.split_once('?').map_or("", |(_, query)| query).into(),
            cookie: Proof::Absent,
            token: Proof::Absent,
            form: BodyForm::Fields,
            basic: None,
            boundary: None,
            tags: Box::default(),
        };
        for (name, value) in fields {
            let Ok(value) = std::str::from_utf8(value) else { continue };
            requested.take(name, value);
        }
        requested
    }

    fn take(&mut self, name: &[u8], value: &str) {
        if name.eq_ignore_ascii_case(b"cookie") {
            // HTTP/2 may send each cookie in a field of its own (RFC 9113 8.2.3). Of two cookies of one name the first
            // counts: its path is the longer one.
            let pairs = value.split(';').filter_map(|pair| pair.trim().split_once('='));
            let of_us = pairs.filter(|(name, _)| *name == COOKIE).map(|(_, value)| value).next();
            if let (Proof::Absent, Some(value)) = (self.cookie, of_us) {
                self.cookie = Proof::read(value);
            }
        } else if name.eq_ignore_ascii_case(b"authorization") {
            match value.split_once(' ') {
                Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => {
                    self.token = Proof::read(token.trim());
                }
                Some((scheme, text)) if scheme.eq_ignore_ascii_case("basic") => {
                    let text = STANDARD.decode(text.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
                    self.basic = Some(text.unwrap_or_default().into());
                }
                _ => {}
            }
        } else if name.eq_ignore_ascii_case(b"content-type") {
            self.boundary = multipart::boundary(value).map(Box::from);
            let kind = value.split(';').next().unwrap_or_default().trim();
            self.form = match kind {
                _ if kind.eq_ignore_ascii_case("application/json") => BodyForm::Json,
                _ if kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") => BodyForm::Fields,
                _ => BodyForm::Other,
            };
        } else if name.eq_ignore_ascii_case(b"if-none-match") {
            self.tags = value.into();
        }
    }

    /// A field of the query, decoded.
    pub(crate) fn query(&self, name: &str) -> Option<String> {
        let mut fields = form_urlencoded::parse(self.query.as_bytes());
        fields.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
    }

    /// The same with the token of the query, if the head has none: a browser cannot set fields of a handshake.
    pub(crate) fn with_token_of_query(mut self) -> Self {
        if let (Proof::Absent, Some(token)) = (self.token, self.query("token")) {
            self.token = Proof::read(&token);
        }
        self
    }

    /// Whether the client has the version with this tag (RFC 9110 13.1.2: weak tags count as strong ones here).
    pub(crate) fn has(&self, tag: &str) -> bool {
        self.tags.split(',').map(str::trim).any(|known| known == "*" || known.trim_start_matches("W/") == tag)
    }
}

/// The fields of a form, as text; of JSON, those that are strings, numbers or literals.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FormFields(Vec<(String, String)>);

/// Why a body cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// Its content type is not supported.
    Kind,
    /// It is not a JSON object.
    Broken,
}

impl FormFields {
    pub(crate) fn read(form: BodyForm, body: &[u8]) -> Result<Self, Unread> {
        match form {
            _ if body.is_empty() => Ok(Self::default()),
            BodyForm::Other => Err(Unread::Kind),
            BodyForm::Fields => {
                let fields = form_urlencoded::parse(body);
                Ok(Self(fields.map(|(name, value)| (name.into_owned(), value.into_owned())).collect()))
            }
            BodyForm::Json => {
                let Ok(serde_json::Value::Object(members)) = serde_json::from_slice(body) else {
                    return Err(Unread::Broken);
                };
                let text = |value| match value {
                    serde_json::Value::String(text) => Some(text),
                    serde_json::Value::Number(number) => Some(number.to_string()),
                    serde_json::Value::Bool(is) => Some(is.to_string()),
                    _ => None,
                };
                let members = members.into_iter().filter_map(|(name, value)| text(value).map(|value| (name, value)));
                Ok(Self(members.collect()))
            }
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests;
