//! Checks that make a response a success: of its status, its head and its body.

mod exact;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;

use exact::{Large, NumberStandIns};
use regex::bytes::Regex;
use serde_json::{Number, Value};
use serde_json_path::JsonPath;

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
    /// Bounds of the time from sent to done, in nanoseconds.
    pub time: Vec<Bound>,
    /// Bounds of the size of the decoded body, in bytes.
    pub size: Vec<Bound>,
    /// Whether the user requested a check, so that a failed exchange fails the run.
    pub is_expectation: bool,
}

impl Checks {
    /// Whether the body is checked.
    pub fn want_body(&self) -> bool {
        !self.bodies.is_empty() || !self.json.is_empty()
    }

    /// Whether the time or the size of a response is checked.
    pub fn want_bounds(&self) -> bool {
        !self.time.is_empty() || self.want_size()
    }

    /// Whether the size of a response is checked.
    pub fn want_size(&self) -> bool {
        !self.size.is_empty()
    }

    /// Whether a body would take too much memory as JSON: computed from the characters in it, each with the memory of
    /// the value that it begins.
    pub fn json_is_too_large(&self, body: &[u8]) -> bool {
        !self.json.is_empty() && json_is_too_large(body)
    }

    /// Whether the head is checked.
    pub fn want_head(&self) -> bool {
        !self.headers.is_empty()
    }

    /// Checks the decoded body of a response of this type; the error is the failed check.
    pub fn check_response(&self, content_type: Option<&[u8]>, body: &[u8]) -> Result<(), String> {
        self.check_body(&text_of(content_type, body))
    }

    /// Checks a text; the error is the failed check.
    pub fn check_body(&self, body: &[u8]) -> Result<(), String> {
        self.check_text(body)?;
        self.check_json(body)
    }

    /// Checks a text that is not read as JSON; the error is the failed check.
    pub fn check_text(&self, body: &[u8]) -> Result<(), String> {
        match self.bodies.iter().find(|check| !check.holds(body)) {
            Some(check) => Err(format!("--expect-body {check}")),
            None => Ok(()),
        }
    }

    /// Checks JSON; the error is the failed check.
    pub fn check_json(&self, body: &[u8]) -> Result<(), String> {
        if self.json.is_empty() {
            return Ok(());
        }
        match JsonCheck::first_unmet(&self.json, body) {
            Ok(None) => Ok(()),
            Ok(Some(check)) => Err(format!("--expect-json {check}")),
            Err(error) => Err(format!("--expect-json {}: no JSON ({error})", self.json[0])),
        }
    }

    /// Checks the fields of a head; the error is the failed check.
    pub fn check_head<'a>(&self, fields: impl Iterator<Item = (&'a [u8], &'a [u8])> + Clone) -> Result<(), String> {
        match self.headers.iter().find(|check| !check.holds(fields.clone())) {
            Some(check) => Err(format!("--expect-header {check}")),
            None => Ok(()),
        }
    }
}

/// Whether a body would take more memory as JSON than [`JSON_MEMORY_BYTES_MAX`].
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

    /// Whether the check is met.
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

/// A comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Relation {
    Equal,
    Unequal,
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// The operators, the longer before the shorter.
const RELATIONS: [(&str, Relation); 6] = [
    ("==", Relation::Equal),
    ("!=", Relation::Unequal),
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("<", Relation::Below),
    (">", Relation::Above),
];

/// A path into JSON (RFC 9535), and the comparison of its matches. It must match something, and all matches must
/// satisfy the comparison. Integers of any size are compared exactly.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JsonCheck {
    text: String,
    number_stand_ins: NumberStandIns,
    path: JsonPath,
    wanted: Option<(Relation, Value)>,
}

impl PartialEq for JsonCheck {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for JsonCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<JsonCheck> for String {
    fn from(check: JsonCheck) -> Self {
        check.text
    }
}

impl TryFrom<String> for JsonCheck {
    type Error = PlanError;

    fn try_from(text: String) -> Result<Self, PlanError> {
        Self::parse(&text)
    }
}

impl JsonCheck {
    /// Parses `$.path` or `$.path == 200`.
    ///
    /// # Errors
    /// The path is invalid, or the compared value is no JSON.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let wrong = |reason: String| PlanError::JsonCheck { value: text.to_owned(), reason };
        let (path, wanted) = match split(text) {
            None => (text.trim(), None),
            Some((path, relation, literal)) => (path, Some((relation, literal))),
        };
        let number_stand_ins = NumberStandIns::new(path, wanted.map_or("", |(_, literal)| literal));
        let wanted = match wanted {
            None => None,
            Some((relation, literal)) => {
                let value = literal_of(literal, &number_stand_ins)
                    .ok_or_else(|| wrong(format!("'{literal}' is no JSON value")))?;
                Some((relation, value))
            }
        };
        let path =
            JsonPath::parse(&number_stand_ins.replace_in_path(path)).map_err(|error| wrong(error.to_string()))?;
        Ok(Self { text: text.trim().to_owned(), number_stand_ins, path, wanted })
    }

    /// Whether the check is met.
    ///
    /// # Errors
    /// The body is no JSON.
    pub fn holds(&self, body: &[u8]) -> Result<bool, serde_json::Error> {
        Self::first_unmet(std::slice::from_ref(self), body).map(|unmet| unmet.is_none())
    }

    /// The first of these checks that a body does not meet.
    fn first_unmet<'a>(checks: &'a [Self], body: &[u8]) -> Result<Option<&'a Self>, serde_json::Error> {
        let Some(large) = Large::new(body) else {
            let value = serde_json::from_slice(body)?;
            return Ok(checks.iter().find(|check| !check.is_met(&value)));
        };
        for check in checks {
            // An error has its position in the body, not in the text with stand-ins.
            let value = serde_json::from_slice(&check.number_stand_ins.replace_in(&large))
                .map_err(|error| serde_json::from_slice::<Value>(body).err().unwrap_or(error))?;
            if !check.is_met(&value) {
                return Ok(Some(check));
            }
        }
        Ok(None)
    }

    fn is_met(&self, value: &Value) -> bool {
        let found = self.path.query(value);
        !found.is_empty()
            && self
                .wanted
                .as_ref()
                .is_none_or(|(relation, wanted)| found.iter().all(|one| compare(one, *relation, wanted)))
    }
}

/// The path, the operator and the rest; `None` when there is no operator outside of brackets and quotes.
fn split(text: &str) -> Option<(&str, Relation, &str)> {
    let (mut depth, mut quote, mut was_escaped) = (0usize, None, false);
    for (index, byte) in text.bytes().enumerate() {
        if let Some(end) = quote {
            let is_end = byte == end && !was_escaped;
            was_escaped = byte == b'\\' && !was_escaped;
            if is_end {
                quote = None;
            }
            continue;
        }
        match byte {
            b'\'' | b'"' => (quote, was_escaped) = (Some(byte), false),
            b'[' | b'(' => depth += 1,
            b']' | b')' => depth = depth.saturating_sub(1),
            b'=' | b'!' | b'<' | b'>' if depth == 0 => {
                let rest = &text[index..];
                let (sign, relation) = RELATIONS.iter().find(|(sign, _)| rest.starts_with(sign))?;
                return Some((text[..index].trim(), *relation, rest[sign.len()..].trim()));
            }
            _ => {}
        }
    }
    None
}

/// JSON, or text in single quotes as in paths.
fn literal_of(text: &str, number_stand_ins: &NumberStandIns) -> Option<Value> {
    if let Some(inner) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Some(Value::String(inner.replace("\\'", "'")));
    }
    serde_json::from_str(&number_stand_ins.replace_in_text(text)).ok()
}

fn compare(one: &Value, relation: Relation, other: &Value) -> bool {
    let order = match (one, other) {
        (Value::Number(one), Value::Number(other)) => order_of(one, other),
        (Value::String(one), Value::String(other)) => Some(one.cmp(other)),
        (one, other) => is_same(one, other).then_some(Ordering::Equal),
    };
    match relation {
        Relation::Equal => order == Some(Ordering::Equal),
        Relation::Unequal => order != Some(Ordering::Equal),
        Relation::Below => order == Some(Ordering::Less),
        Relation::AtMost => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Relation::Above => order == Some(Ordering::Greater),
        Relation::AtLeast => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// Doubles are exact here: larger numbers have stand-ins.
fn order_of(one: &Number, other: &Number) -> Option<Ordering> {
    one.as_f64()?.partial_cmp(&other.as_f64()?)
}

/// Numbers in lists and objects are compared like others.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => order_of(one, other) == Some(Ordering::Equal),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has_same = |(name, one)| other.get(name).is_some_and(|other| is_same(one, other));
            one.len() == other.len() && one.iter().all(has_same)
        }
        (one, other) => one == other,
    }
}
