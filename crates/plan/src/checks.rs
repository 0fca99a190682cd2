//! What makes an answer a success: checks on its status, its head and its body.

mod exact;

use std::cmp::Ordering;
use std::fmt;

use exact::{Large, Stand};
use regex::bytes::Regex;
use serde_json::{Number, Value};
use serde_json_path::JsonPath;

use crate::{PlanError, StatusSet, masked_header, text_of};

/// The largest compiled pattern.
const PATTERN_BYTES_MAX: usize = 1024 * 1024;

/// The most memory that a body takes as JSON while it is looked at.
pub const JSON_MEMORY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// A body of so many bytes cannot take more.
const JSON_BYTES_SMALL: usize = 32 * 1024;

/// What makes an answer a success.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checks {
    /// The statuses that are.
    pub status: StatusSet,
    /// What the body must contain.
    pub bodies: Vec<TextCheck>,
    /// What the head must hold.
    pub headers: Vec<HeaderCheck>,
    /// What the body must say as JSON.
    pub json: Vec<JsonCheck>,
    /// The user asked for it, so a failed exchange fails the run.
    pub is_expectation: bool,
}

impl Checks {
    /// The body is looked at.
    pub fn want_body(&self) -> bool {
        !self.bodies.is_empty() || !self.json.is_empty()
    }

    /// A body would take too much memory as JSON: reckoned by the signs in it, each by what the value takes that it makes.
    pub fn json_is_too_large(&self, body: &[u8]) -> bool {
        if self.json.is_empty() || body.len() <= JSON_BYTES_SMALL {
            return false;
        }
        let memory = |byte: &u8| match byte {
            b'{' => 640,
            b'[' => 320,
            b',' | b':' => 96,
            _ => 0usize,
        };
        body.iter().map(memory).sum::<usize>() > JSON_MEMORY_BYTES_MAX
    }

    /// The head is looked at.
    pub fn want_head(&self) -> bool {
        !self.headers.is_empty()
    }

    /// What is thought of the body of an answer of this type, without its coding; gives the check that fails.
    pub fn look_at_answer(&self, content_type: Option<&[u8]>, body: &[u8]) -> Result<(), String> {
        self.look_at_body(&text_of(content_type, body))
    }

    /// What is thought of a text; gives the check that fails.
    pub fn look_at_body(&self, body: &[u8]) -> Result<(), String> {
        if let Some(check) = self.bodies.iter().find(|check| !check.holds(body)) {
            return Err(format!("--expect-body {check}"));
        }
        if self.json.is_empty() {
            return Ok(());
        }
        match JsonCheck::first_unmet(&self.json, body) {
            Ok(None) => Ok(()),
            Ok(Some(check)) => Err(format!("--expect-json {check}")),
            Err(error) => Err(format!("--expect-json {}: no JSON ({error})", self.json[0])),
        }
    }

    /// What is thought of the fields of a head; gives the check that fails.
    pub fn look_at_head<'a>(&self, fields: impl Iterator<Item = (&'a [u8], &'a [u8])> + Clone) -> Result<(), String> {
        match self.headers.iter().find(|check| !check.holds(fields.clone())) {
            Some(check) => Err(format!("--expect-header {check}")),
            None => Ok(()),
        }
    }
}

/// A message says this `seq`.
pub fn says_seq(message: &[u8], seq: &str) -> bool {
    let value: Result<Value, _> = serde_json::from_slice(message);
    value.is_ok_and(|value| value.get("seq").and_then(Value::as_str) == Some(seq))
}

/// Text that must occur, or a pattern between slashes that must match.
#[derive(Clone, Debug)]
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

impl TextCheck {
    /// Reads `text` or `/pattern/`.
    ///
    /// # Errors
    /// The pattern is none.
    pub fn parse(flag: &'static str, text: &str) -> Result<Self, PlanError> {
        let inner = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|inner| !inner.is_empty());
        let compile = |inner: &str| {
            regex::bytes::RegexBuilder::new(inner).size_limit(PATTERN_BYTES_MAX).build().map_err(|error| {
                let reason = error.to_string().lines().last().unwrap_or_default().trim().to_owned();
                PlanError::Pattern { flag, value: text.to_owned(), reason }
            })
        };
        Ok(Self { text: text.to_owned(), pattern: inner.map(compile).transpose()? })
    }

    /// It is met.
    pub fn holds(&self, bytes: &[u8]) -> bool {
        match &self.pattern {
            Some(pattern) => pattern.is_match(bytes),
            None => memchr::memmem::find(bytes, self.text.as_bytes()).is_some(),
        }
    }
}

/// A field that must be there, or whose value must be so.
#[derive(Clone, Debug, PartialEq)]
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
    /// Reads `Name`, `Name: value` or `Name: /pattern/`.
    ///
    /// # Errors
    /// There is no name, or the pattern is none.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let (name, value) = match text.split_once(':') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (text.trim(), None),
        };
        if name.is_empty() || !name.bytes().all(crate::flags::is_token) {
            return Err(PlanError::HeaderName { header: masked_header(text).escape_debug().to_string() });
        }
        let value = value.filter(|value| !value.is_empty());
        let value = value.map(|value| TextCheck::parse("--expect-header", value)).transpose();
        let value = value.map_err(|error| match error {
            // The pattern of a secret is one.
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

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Equal,
    Unequal,
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// The signs, the longer before the shorter.
const RELATIONS: [(&str, Relation); 6] = [
    ("==", Relation::Equal),
    ("!=", Relation::Unequal),
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("<", Relation::Below),
    (">", Relation::Above),
];

/// A path into JSON (RFC 9535), and how what it finds must compare. It must find something, and all of it must compare so.
/// Integers of any size are compared exactly.
#[derive(Clone, Debug)]
pub struct JsonCheck {
    text: String,
    stand: Stand,
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

impl JsonCheck {
    /// Reads `$.path` or `$.path == 200`.
    ///
    /// # Errors
    /// The path is none, or what it is compared with is no JSON.
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let wrong = |reason: String| PlanError::JsonCheck { value: text.to_owned(), reason };
        let (path, wanted) = match split(text) {
            None => (text.trim(), None),
            Some((path, relation, literal)) => (path, Some((relation, literal))),
        };
        let stand = Stand::of(path, wanted.map_or("", |(_, literal)| literal));
        let wanted = match wanted {
            None => None,
            Some((relation, literal)) => {
                let value =
                    literal_of(literal, &stand).ok_or_else(|| wrong(format!("'{literal}' is no JSON value")))?;
                Some((relation, value))
            }
        };
        let path = JsonPath::parse(&stand.replace_in_path(path)).map_err(|error| wrong(error.to_string()))?;
        Ok(Self { text: text.trim().to_owned(), stand, path, wanted })
    }

    /// It is met.
    ///
    /// # Errors
    /// The body is no JSON.
    pub fn holds(&self, body: &[u8]) -> Result<bool, serde_json::Error> {
        Self::first_unmet(std::slice::from_ref(self), body).map(|unmet| unmet.is_none())
    }

    /// The first of these checks that a body does not meet.
    fn first_unmet<'a>(checks: &'a [Self], body: &[u8]) -> Result<Option<&'a Self>, serde_json::Error> {
        let Some(large) = Large::of(body) else {
            let value = serde_json::from_slice(body)?;
            return Ok(checks.iter().find(|check| !check.is_met(&value)));
        };
        for check in checks {
            // What is wrong stands where it stands in the body, not between the stand-ins.
            let value = serde_json::from_slice(&check.stand.replace_in(&large))
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

/// The path, the sign and the rest; `None` when no sign stands outside of brackets and quotes.
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

/// JSON, or text in single quotes as paths have it.
fn literal_of(text: &str, stand: &Stand) -> Option<Value> {
    if let Some(inner) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Some(Value::String(inner.replace("\\'", "'")));
    }
    serde_json::from_str(&stand.replace_in_text(text)).ok()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn json(check: &str, body: &str) -> bool {
        JsonCheck::parse(check).expect("a check").holds(body.as_bytes()).expect("JSON")
    }

    #[test]
    fn paths_are_compared() {
        let body = r#"{"code": 200, "data": {"list": [{"id": 1, "name": "a=b"}, {"id": 2, "name": "c"}]}, "ok": true, "x": 1.0}"#;
        for check in [
            "$.code == 200",
            "$.code==200",
            "$.code != 201",
            "$.code >= 200",
            "$.code > 199.5",
            "$.code < 1e3",
            "$.x == 1",
            "$.ok == true",
            "$.data.list[*].id >= 1",
            "$.data.list[?@.name == 'a=b'].id == 1",
            "$.data.list[0].name == 'a=b'",
            "$.data.list[0].name == \"a=b\"",
            "$['code'] == 200",
            "$..id",
            "$.data.list[?match(@.name, '[a-z]')].id == 2",
            "$.data.list[1] == {\"name\": \"c\", \"id\": 2}",
        ] {
            assert!(json(check, body), "{check}");
        }
        for check in
            ["$.code == 201", "$.code == \"200\"", "$.nothing", "$.nothing != 1", "$.data.list[*].id == 1", "$.ok < 2"]
        {
            assert!(!json(check, body), "{check}");
        }
        for check in ["code == 200", "$.code == ", "$.code == abc", "$.[", "", "$.code = 200"] {
            assert!(JsonCheck::parse(check).is_err(), "{check}");
        }
    }

    #[test]
    fn integers_of_any_size_are_compared_exactly() {
        let body = r#"{"id": 1234567890123456890, "text": "1234567890123456890", "u": 18446744073709551615,
            "long": 123456789012345678901234567890, "minus": -123456789012345678901234567890, "e": 1.5e25, "huge": 7e400,
            "list": [{"id": 1234567890123456889, "n": 1}, {"id": 1234567890123456890, "n": 2}, {"id": 7, "n": 3}],
            "pair": [9007199254740993, 1000], "same": {"a": 9007199254740993, "b": 9007199254740992}, "x12345678901234567890": 1}"#;
        for check in [
            "$.id == 1234567890123456890",
            "$.id != 1234567890123456891",
            "$.id < 1234567890123456891",
            "$.id > 1234567890123456889",
            "$.id >= 7",
            "$.u == 18446744073709551615",
            "$.u > 18446744073709551614",
            "$.long == 123456789012345678901234567890",
            "$.long == 12345678901234567890123456789e1",
            "$.long == 123456789012345678901234567890.0",
            "$.long < 123456789012345678901234567890.1",
            "$.minus == -123456789012345678901234567890",
            "$.minus > -123456789012345678901234567891",
            "$.minus < -3",
            "$.e == 15000000000000000000000000",
            "$.huge > 6.9e400",
            "$.text == '1234567890123456890'",
            "$.text == \"1234567890123456890\"",
            "$.pair == [9007199254740993, 1e3]",
            "$.list[1] == {\"n\": 2.0, \"id\": 1234567890123456890}",
            "$.list[?@.id == 1234567890123456890].n == 2",
            "$.list[?@.id == $.id].n == 2",
            "$.list[?@.id < 1234567890123456890 && @.id > 1234567890123456888].n == 1",
            "$.list[?@.id < 1234567890123456889].n == 3",
            "$.list[?@.id >= 8 && @.n == 1].id == 1234567890123456889",
            "$.x12345678901234567890 == 1",
            "$['x12345678901234567890'] == 1",
        ] {
            assert!(json(check, body), "{check}");
        }
        for check in [
            "$.id == 1234567890123456891",
            "$.id == 1234567890123456889",
            "$.u == 18446744073709551614",
            "$.u == 18446744073709551616",
            "$.long == 123456789012345678901234567891",
            "$.minus == -123456789012345678901234567891",
            "$.minus == 123456789012345678901234567890",
            "$.text == 1234567890123456890",
            "$.id == '1234567890123456890'",
            "$.pair == [9007199254740992, 1000]",
            "$.list[1] == {\"id\": 1234567890123456891, \"n\": 2}",
            "$.list[?@.id == 1234567890123456891]",
            "$.list[?@.id > 1234567890123456890]",
            "$[?@.a && @.a == @.b]",
        ] {
            assert!(!json(check, body), "{check}");
        }
        for check in ["$.id == 01234567890123456890", "$.id == 12345678901234567890.", "$.id == 1234567890123456789e"] {
            assert!(JsonCheck::parse(check).is_err(), "{check}");
        }
        let check = JsonCheck::parse("$.id == 1234567890123456890").expect("a check");
        for body in
            ["{\"id\": 01234567890123456890}", "{\"id\": 12345678901234567890", "{\"id\": 12345678901234567890x}"]
        {
            assert!(check.holds(body.as_bytes()).is_err(), "{body}");
        }
    }

    #[test]
    fn json_that_takes_much_memory_is_found_before_it_is_read() {
        let checks = Checks { json: vec![JsonCheck::parse("$.a").expect("a check")], ..Checks::default() };
        let list = |item: &str, count: usize| format!("[{}0]", format!("{item},").repeat(count)).into_bytes();
        for (item, most) in [("0", 174_000), ("[0]", 40_000), ("{}", 22_000), ("{\"a\":0}", 20_000), ("\"\"", 174_000)]
        {
            assert!(!checks.json_is_too_large(&list(item, most)), "{most} of {item}");
            assert!(checks.json_is_too_large(&list(item, most * 3 / 2)), "{item}");
        }
        let text = [b"\"", &vec![b'x'; 10_000_000][..], b"\""].concat();
        assert!(!checks.json_is_too_large(&text), "one long text takes what it is");
        assert!(!Checks::default().json_is_too_large(&list("[0]", 1_000_000)), "nobody looks at it");
    }

    #[test]
    fn text_and_patterns() {
        let check = |text: &str| TextCheck::parse("--expect-body", text).expect("a check");
        assert!(check("ell").holds(b"hello") && !check("elo").holds(b"hello"));
        assert!(check("/^h.l+o$/").holds(b"hello") && !check("/^e/").holds(b"hello"));
        assert!(check("/").holds(b"a/b") && check("//").holds(b"a//b"));
        assert!(TextCheck::parse("--expect-body", "/(/").is_err());
        let fields = [(&b"Content-Type"[..], &b"text/plain"[..]), (b"X-Id", b"17")];
        let header = |text: &str| HeaderCheck::parse(text).expect("a check").holds(fields.iter().copied());
        assert!(header("content-type") && header("X-ID: 17") && header("x-id: /^[0-9]+$/"));
        assert!(!header("X-No") && !header("x-id: 1") && !header("x-id: /a/"));
        assert!(HeaderCheck::parse("a b: c").is_err() && HeaderCheck::parse(": c").is_err());
    }
}
