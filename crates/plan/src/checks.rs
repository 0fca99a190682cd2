//! Checks that make a response a success: of its status, its head and its body.

mod absent;
mod dynamic;
mod exact;
mod json;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use std::fmt;

use regex::bytes::Regex;
use serde_json::Value;

pub use absent::Absent;
pub use dynamic::{CheckOf, DynamicCheck};
pub use json::JsonCheck;

use crate::bound::Bound;
use crate::{PlanError, StatusSet, masked_header, text_of};

/// The largest compiled pattern.
pub(crate) const PATTERN_BYTES_MAX: usize = 1024 * 1024;

/// The most memory that a body takes as JSON while it is checked.
pub const JSON_MEMORY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The size of a body that cannot take more memory.
const JSON_BYTES_SMALL: usize = 32 * 1024;

/// The checks that make a response a success.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Checks {
    /// The statuses of a success.
    pub status: StatusSet,
    /// Of a custom protocol: the statuses of a success; empty for those that the protocol takes for one.
    pub status_words: Vec<String>,
    /// Checks of the body.
    pub bodies: Vec<TextCheck>,
    /// Checks of the head.
    pub headers: Vec<HeaderCheck>,
    /// Checks of the body as JSON.
    pub json: Vec<JsonCheck>,
    /// What a success does not have.
    pub absent: Absent,
    /// Bounds of the time from sent to done, in nanoseconds.
    pub time: Vec<Bound>,
    /// Bounds of the size of the decoded body, in bytes.
    pub size: Vec<Bound>,
    /// Whether the user requested a check, so that a failed exchange fails the run.
    pub is_expectation: bool,
}

impl Checks {
    /// Whether the body is checked.
    #[inline]
    pub fn want_body(&self) -> bool {
        !self.bodies.is_empty() || !self.json.is_empty() || self.absent.want_body()
    }

    /// Whether the time or the size of a response is checked.
    #[inline]
    pub fn want_bounds(&self) -> bool {
        !self.time.is_empty() || self.want_size()
    }

    /// Whether the size of a response is checked.
    #[inline]
    pub fn want_size(&self) -> bool {
        !self.size.is_empty()
    }

    /// Whether a body would take too much memory as JSON: computed from the characters in it, each with the memory of
    /// the value that it begins.
    #[inline]
    pub fn json_is_too_large(&self, body: &[u8]) -> bool {
        (!self.json.is_empty() || !self.absent.json.is_empty()) && json_is_too_large(body)
    }

    /// Whether the head is checked.
    #[inline]
    pub fn want_head(&self) -> bool {
        !self.headers.is_empty() || !self.absent.headers.is_empty()
    }

    /// Checks the decoded body of a response of this type; the error is the failed check.
    #[inline]
    pub fn check_response(&self, content_type: Option<&[u8]>, body: &[u8]) -> Result<(), String> {
        self.check_body(&text_of(content_type, body))
    }

    /// Checks a text; the error is the failed check.
    #[inline]
    pub fn check_body(&self, body: &[u8]) -> Result<(), String> {
        self.check_text(body)?;
        self.check_json(body)
    }

    /// Checks a text that is not read as JSON; the error is the failed check.
    #[inline]
    pub fn check_text(&self, body: &[u8]) -> Result<(), String> {
        match self.bodies.iter().find(|check| !check.holds(body)) {
            Some(check) => Err(format!("--expect-body {check}")),
            None => self.absent.check_text(body),
        }
    }

    /// Checks JSON; the error is the failed check.
    #[inline]
    pub fn check_json(&self, body: &[u8]) -> Result<(), String> {
        if !self.json.is_empty() {
            match JsonCheck::first_unmet(&self.json, body) {
                Ok(None) => {}
                Ok(Some((check, found))) => return Err(format!("--expect-json {check}: {found}")),
                Err(error) => return Err(format!("--expect-json {}: no JSON ({error})", self.json[0])),
            }
        }
        self.absent.check_json(body)
    }

    /// Checks the fields of a head; the error is the failed check.
    pub fn check_head<'a>(&self, fields: impl Iterator<Item = (&'a [u8], &'a [u8])> + Clone) -> Result<(), String> {
        match self.headers.iter().find(|check| !check.holds(fields.clone())) {
            Some(check) => {
                let mut same = fields.filter(|(name, _)| name.eq_ignore_ascii_case(check.name.as_bytes()));
                let found = same.next().map_or_else(
                    || "it is not there".to_owned(),
                    |(_, value)| format!("it is '{}'", shown(&String::from_utf8_lossy(value))),
                );
                Err(format!("--expect-header {check}: {found}"))
            }
            None => self.absent.check_head(fields),
        }
    }
}

/// A value that came, for a message: one line of bounded length.
fn shown(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 100;
    let mut shown: String =
        text.chars().take(SHOWN_CHARS_MAX).map(|each| if each.is_control() { ' ' } else { each }).collect();
    if text.chars().nth(SHOWN_CHARS_MAX).is_some() {
        shown.push_str("...");
    }
    shown
}

/// Whether a body would take more memory as JSON than [`JSON_MEMORY_BYTES_MAX`].
#[inline]
pub(crate) fn json_is_too_large(body: &[u8]) -> bool {
    let memory = |byte: &u8| match byte {
        b'{' => 640,
        b'[' => 320,
        b',' | b':' => 96,
        _ => 0usize,
    };
    body.len() > JSON_BYTES_SMALL && body.iter().map(memory).sum::<usize>() > JSON_MEMORY_BYTES_MAX
}

/// Whether a message contains this `seq`.
#[inline]
pub fn says_seq(message: &[u8], seq: &str) -> bool {
    let value: Result<Value, _> = serde_json::from_slice(message);
    value.is_ok_and(|value| value.get("seq").and_then(Value::as_str) == Some(seq))
}

/// A text that must occur, or a pattern between slashes that must match.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TextCheck {
    text: String,
    pattern: Option<Regex>,
}

impl PartialEq for TextCheck {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for TextCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<TextCheck> for String {
    fn from(check: TextCheck) -> Self {
        check.text
    }
}

impl TryFrom<String> for TextCheck {
    type Error = PlanError;

    fn try_from(text: String) -> Result<Self, PlanError> {
        Self::parse("--expect-body", &text)
    }
}

/// A compiled regular expression; or the error in one line.
pub(crate) fn compiled(pattern: &str) -> Result<Regex, String> {
    regex::bytes::RegexBuilder::new(pattern).size_limit(PATTERN_BYTES_MAX).build().map_err(|error| {
        let text = error.to_string();
        text.lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned()
    })
}

impl TextCheck {
    /// Parses `text` or `/pattern/`.
    ///
    /// # Errors
    /// The pattern is invalid.
    pub fn parse(flag: &'static str, text: &str) -> Result<Self, PlanError> {
        let inner = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|inner| !inner.is_empty());
        let compile =
            |inner: &str| compiled(inner).map_err(|reason| PlanError::Pattern { flag, value: text.to_owned(), reason });
        Ok(Self { text: text.to_owned(), pattern: inner.map(compile).transpose()? })
    }

    /// This text, whatever characters it has.
    #[inline]
    pub fn literal(text: &str) -> Self {
        Self { text: text.to_owned(), pattern: None }
    }

    /// Whether the check is met.
    #[inline]
    pub fn holds(&self, bytes: &[u8]) -> bool {
        match &self.pattern {
            Some(pattern) => pattern.is_match(bytes),
            None => memchr::memmem::find(bytes, self.text.as_bytes()).is_some(),
        }
    }
}

/// A field that must exist, or whose value must match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeaderCheck {
    name: String,
    value: Option<TextCheck>,
}

impl fmt::Display for HeaderCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.value.as_ref().map_or(Ok(()), |value| write!(f, ": {value}"))
    }
}

impl HeaderCheck {
    /// Parses `Name`, `Name: value` or `Name: /pattern/`.
    ///
    /// # Errors
    /// The name is missing, or the pattern is invalid.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let (name, value) = match text.split_once(':') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (text.trim(), None),
        };
        if name.is_empty() || !name.bytes().all(crate::header::is_token) {
            return Err(PlanError::HeaderName { header: masked_header(text).escape_debug().to_string() });
        }
        let value = value.filter(|value| !value.is_empty());
        let value = value.map(|value| TextCheck::parse("--expect-header", value)).transpose();
        let value = value.map_err(|error| match error {
            // The pattern of a secret is a secret.
            PlanError::Pattern { flag, reason, .. } => PlanError::Pattern { flag, value: masked_header(text), reason },
            other => other,
        })?;
        Ok(Self { name: name.to_owned(), value })
    }

    /// A field with this value, whatever characters that has.
    #[inline]
    pub fn literal(name: &str, value: &str) -> Self {
        Self { name: name.to_owned(), value: Some(TextCheck::literal(value)) }
    }

    #[inline]
    fn holds<'a>(&self, mut fields: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> bool {
        fields.any(|(name, value)| {
            name.eq_ignore_ascii_case(self.name.as_bytes())
                && self.value.as_ref().is_none_or(|wanted| match &wanted.pattern {
                    Some(pattern) => pattern.is_match(value),
                    None => value == wanted.text.as_bytes(),
                })
        })
    }
}
