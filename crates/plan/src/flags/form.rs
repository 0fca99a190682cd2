//! The request of a URL, made of flags.

use url::Url;

use super::{Flags, host_header, is_token, read_data};
use crate::curl::{CurlUrl, Fault};
use crate::redirect::{Content, Field};
use crate::{Form, HttpVersion, PlanError};

impl Flags {
    pub(super) fn form(&self, url: &Url) -> Result<Form, PlanError> {
        let body = match &self.raw_data {
            Some(raw) => Some(raw.clone()),
            None => self.data.as_deref().map(read_data).transpose()?,
        };
        let method = self.method.clone().unwrap_or_else(|| if body.is_some() { "POST" } else { "GET" }.to_owned());
        if method.is_empty() || !method.bytes().all(is_token) {
            return Err(PlanError::Method { method });
        }
        let asked = self.headers.iter().map(|text| Header::parse(text)).collect::<Result<Vec<_>, _>>()?;
        let mut fields = Vec::new();
        for (name, value) in self.default_headers(url, &method, body.as_deref()) {
            if asked.iter().any(|header| header.name.eq_ignore_ascii_case(name)) {
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
        for header in asked {
            let Some(value) = header.value else { continue };
            fields.push(match header.name.to_ascii_lowercase().as_str() {
                "host" => Field::HostAsked(header.name, Some(value)),
                "authorization" | "cookie" => Field::Secret(header.name, value),
                _ => Field::Plain(header.name, value),
            });
        }
        let curl_url = CurlUrl::parse(url.as_str(), true, true).map_err(|fault| match fault {
            Fault::Plan(error) => error,
            Fault::Glob => PlanError::Url { url: String::new(), reason: String::new() },
        })?;
        Ok(Form {
            method,
            version: if self.http10 { HttpVersion::Http10 } else { HttpVersion::Http11 },
            fields,
            body: body.unwrap_or_default(),
            content: if has_content { Content::Data } else { Content::None },
            url: curl_url,
            target: None,
            path_as_is: false,
            user: None,
            bearer: None,
            cookies: Vec::new(),
        })
    }

    /// What goes out unless a header of the user says otherwise.
    fn default_headers(&self, url: &Url, method: &str, body: Option<&[u8]>) -> Vec<(&'static str, String)> {
        let host = host_header(url);
        let mut headers = vec![("Host", host), ("User-Agent", self.user_agent.clone()), ("Accept", "*/*".to_owned())];
        // RFC 9110 8.6: a method that usually has content says so when there is none.
        let length = body.map(<[u8]>::len).or(matches!(method, "POST" | "PUT" | "PATCH").then_some(0));
        if let Some(length) = length {
            if body.is_some() {
                headers.push(("Content-Type", "application/x-www-form-urlencoded".to_owned()));
            }
            headers.push(("Content-Length", length.to_string()));
        }
        match (self.no_keepalive, self.http10) {
            (true, _) => headers.push(("Connection", "close".to_owned())),
            (false, true) => headers.push(("Connection", "keep-alive".to_owned())),
            (false, false) => {}
        }
        headers
    }
}

/// A header as curl understands it: `Name: value`, `Name;` for an empty value, `Name:` to leave a default out.
pub(crate) struct Header {
    pub(crate) name: String,
    pub(crate) value: Option<Vec<u8>>,
}

impl Header {
    pub(super) fn parse(text: &str) -> Result<Self, PlanError> {
        let header = Self::parse_any(text)?;
        if header.name.eq_ignore_ascii_case("content-length") || header.name.eq_ignore_ascii_case("transfer-encoding") {
            // Whoever frames the body wrongly measures a server that waits for the rest of it.
            return Err(PlanError::HeaderFraming { header: header.name });
        }
        Ok(header)
    }

    /// The same with those that frame a body.
    pub(crate) fn parse_any(text: &str) -> Result<Self, PlanError> {
        let header = || shown(text);
        let (name, value) = match text.split_once(':') {
            Some((name, value)) => (name, Some(value.trim_matches([' ', '\t']))),
            None => match text.strip_suffix(';') {
                Some(name) => (name, Some("")),
                None => return Err(PlanError::HeaderColon { header: header() }),
            },
        };
        if name.is_empty() || !name.bytes().all(is_token) {
            // What stands behind the colon may be a secret.
            return Err(PlanError::HeaderName { header: shown(name) });
        }
        if value.is_some_and(|value| value.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t')) {
            return Err(PlanError::HeaderValue { header: header() });
        }
        let leaves_out = text.contains(':') && value == Some("");
        let value = if leaves_out { None } else { value.map(|value| value.as_bytes().to_vec()) };
        Ok(Self { name: name.to_owned(), value })
    }
}

/// A header for a message: neither a screen nor a log should show what it keeps secret.
fn shown(text: &str) -> String {
    crate::masked_header(text).escape_debug().to_string()
}
