//! Headers given by the user.

use crate::PlanError;

/// A header in the syntax of curl: `Name: value`, `Name;` for an empty value, `Name:` to leave a default out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The name, an HTTP token.
    pub name: String,
    /// The value without line ends; `None` leaves a default out.
    pub value: Option<Vec<u8>>,
}

impl Header {
    /// Parses a header that does not frame a body.
    ///
    /// # Errors
    /// It has no name, a control character, or would contradict the body.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let header = Self::parse_any(text)?;
        if header.name.eq_ignore_ascii_case("content-length") || header.name.eq_ignore_ascii_case("transfer-encoding") {
            // A load with a wrongly framed body measures a server that waits for the rest of it.
            return Err(PlanError::HeaderFraming { header: header.name });
        }
        Ok(header)
    }

    /// A header that is known to be valid.
    pub(crate) fn new(name: &str, value: &str) -> Self {
        Self { name: name.to_owned(), value: Some(value.as_bytes().to_vec()) }
    }

    /// The Basic authentication of `name:password` (RFC 7617).
    pub fn basic(user: &str) -> Self {
        use base64::Engine;
        Self::new("Authorization", &format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(user)))
    }

    /// A header that leaves a default out.
    pub(crate) fn without(name: &str) -> Self {
        Self { name: name.to_owned(), value: None }
    }

    /// Whether it has this name.
    pub(crate) fn is(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }

    /// Parses any header, including those that frame a body.
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
            // The text after the colon may be a secret.
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

/// A header for a message, with masked secrets: neither a screen nor a log should show them.
fn shown(text: &str) -> String {
    crate::masked_header(text).escape_debug().to_string()
}

/// Whether a byte is valid in a token (RFC 9110 5.6.2).
pub(crate) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
