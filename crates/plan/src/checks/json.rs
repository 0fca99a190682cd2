//! Checks of a body as JSON: a path, and what its matches must be.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use serde_json_path::{JsonPath, NodeList};

use super::exact::{Large, NumberStandIns};
use super::{TextCheck, shown};
use crate::PlanError;

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
    /// Whether the path can match one value only.
    is_singular: bool,
    wanted: Option<Wanted>,
}

/// What the matches of a path must be.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Wanted {
    /// All compare like this with a value.
    Compare(Relation, Value),
    /// Their number, or that of the items of the one match, compares like this.
    Count(Relation, u64),
    /// Each has this part: a piece of a text, or an item of a list.
    Contains(Value),
    /// The text of each matches a pattern.
    Matches(TextCheck),
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
    /// Parses `$.path`, or a path with what it must be: `== 200` and the like, `count > 2`, `contains "a"`, `exists`,
    /// `matches /^A/`.
    ///
    /// # Errors
    /// The path is invalid, or what is behind it.
    #[inline]
    pub fn parse(text: &str) -> Result<Self, PlanError> {
        let wrong = |reason: String| PlanError::JsonCheck { value: text.to_owned(), reason };
        let (path, operator) = split(text);
        let literal = match operator {
            Some((Operator::Relation(_) | Operator::Contains, literal)) => literal,
            _ => "",
        };
        let number_stand_ins = NumberStandIns::new(path, literal);
        let wanted = operator.map(|(operator, rest)| wanted_of(operator, rest, &number_stand_ins)).transpose();
        let wanted = wanted.map_err(wrong)?.flatten();
        let path_text = number_stand_ins.replace_in_path(path);
        let parsed = JsonPath::parse(&path_text).map_err(|error| wrong(error.to_string()))?;
        let is_singular = is_singular(path);
        Ok(Self { text: text.trim().to_owned(), number_stand_ins, path: parsed, is_singular, wanted })
    }

    /// Whether the check is met.
    ///
    /// # Errors
    /// The body is no JSON.
    #[inline]
    pub fn holds(&self, body: &[u8]) -> Result<bool, serde_json::Error> {
        Self::first_unmet(std::slice::from_ref(self), body).map(|unmet| unmet.is_none())
    }

    /// The first of these checks that a body does not meet, and what came instead.
    #[inline]
    pub(super) fn first_unmet<'a>(
        checks: &'a [Self],
        body: &[u8],
    ) -> Result<Option<(&'a Self, String)>, serde_json::Error> {
        let Some(large) = Large::new(body) else {
            let value = serde_json::from_slice(body)?;
            let unmet = checks.iter().find(|check| !check.is_met(&value));
            return Ok(unmet.map(|check| (check, check.found(&value))));
        };
        for check in checks {
            // An error has its position in the body, not in the text with stand-ins.
            let value = serde_json::from_slice(&check.number_stand_ins.replace_in(&large))
                .map_err(|error| serde_json::from_slice::<Value>(body).err().unwrap_or(error))?;
            if !check.is_met(&value) {
                // Of a path with stand-ins only what it does not match is certain.
                let is_there = !check.path.query(&value).is_empty();
                return Ok(Some((check, if is_there { "it is another" } else { NOT_THERE }.to_owned())));
            }
        }
        Ok(None)
    }

    #[inline]
    fn is_met(&self, value: &Value) -> bool {
        let found = self.path.query(value);
        if let Some(Wanted::Count(relation, wanted)) = &self.wanted {
            let count = self.count(&found);
            return count.is_some_and(|count| relation.holds(count.cmp(wanted)));
        }
        !found.is_empty()
            && self.wanted.as_ref().is_none_or(|wanted| match wanted {
                Wanted::Compare(relation, wanted) => found.iter().all(|one| compare(one, *relation, wanted)),
                Wanted::Contains(wanted) => found.iter().all(|one| contains(one, wanted)),
                Wanted::Matches(pattern) => found.iter().all(|one| pattern.holds(text_of_value(one).as_bytes())),
                Wanted::Count(..) => false,
            })
    }

    /// The number of matches, or of the items of the one that a path can match.
    #[inline]
    fn count(&self, found: &NodeList<'_>) -> Option<u64> {
        let count = match (self.is_singular, found.first()) {
            (true, Some(Value::Array(items))) => items.len(),
            (true, Some(Value::Object(pairs))) => pairs.len(),
            (true, Some(_)) => return None,
            _ => found.len(),
        };
        Some(count as u64)
    }

    /// What came where the check is not met.
    fn found(&self, value: &Value) -> String {
        let found = self.path.query(value);
        match (&self.wanted, found.first()) {
            (Some(Wanted::Count(..)), _) => match self.count(&found) {
                Some(count) => format!("it is {count}"),
                None => "it is no list".to_owned(),
            },
            (_, None) => NOT_THERE.to_owned(),
            (wanted, Some(first)) => {
                let unmet = found.iter().copied().find(|one| match wanted {
                    Some(Wanted::Compare(relation, wanted)) => !compare(one, *relation, wanted),
                    Some(Wanted::Contains(wanted)) => !contains(one, wanted),
                    Some(Wanted::Matches(pattern)) => !pattern.holds(text_of_value(one).as_bytes()),
                    _ => true,
                });
                format!("it is {}", shown(&unmet.unwrap_or(first).to_string()))
            }
        }
    }
}

/// The text where a path matches nothing.
const NOT_THERE: &str = "it is not there";

/// What is behind a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Relation(Relation),
    Count,
    Contains,
    Exists,
    Matches,
}

/// Operators that are words.
const WORDS: [(&str, Operator); 4] = [
    ("count", Operator::Count),
    ("contains", Operator::Contains),
    ("exists", Operator::Exists),
    ("matches", Operator::Matches),
];

/// The path, and the operator with the rest; `None` when there is no operator outside of brackets and quotes.
#[inline]
fn split(text: &str) -> (&str, Option<(Operator, &str)>) {
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
        let found = match byte {
            b'\'' | b'"' => {
                (quote, was_escaped) = (Some(byte), false);
                None
            }
            b'[' | b'(' => {
                depth += 1;
                None
            }
            b']' | b')' => {
                depth = depth.saturating_sub(1);
                None
            }
            b'=' | b'!' | b'<' | b'>' if depth == 0 => match relation_of(&text[index..]) {
                Some((relation, rest)) => Some((Operator::Relation(relation), rest)),
                None => return (text.trim(), None),
            },
            b' ' | b'\t' if depth == 0 => word_of(&text[index + 1..]),
            _ => None,
        };
        if found.is_some() {
            return (text[..index].trim(), found);
        }
    }
    (text.trim(), None)
}

/// A sign at the beginning of a text, and what is behind it.
#[inline]
fn relation_of(text: &str) -> Option<(Relation, &str)> {
    let (sign, relation) = RELATIONS.iter().find(|(sign, _)| text.starts_with(sign))?;
    Some((*relation, text[sign.len()..].trim()))
}

/// A word at the beginning of a text, and what is behind it.
#[inline]
fn word_of(text: &str) -> Option<(Operator, &str)> {
    let end = text.find(|each: char| !each.is_ascii_alphanumeric() && each != '_').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let (_, operator) = WORDS.iter().find(|(known, _)| *known == word)?;
    Some((*operator, rest.trim()))
}

/// What the matches must be; `None`: there.
#[inline]
fn wanted_of(operator: Operator, rest: &str, number_stand_ins: &NumberStandIns) -> Result<Option<Wanted>, String> {
    let literal = || literal_of(rest, number_stand_ins).ok_or_else(|| format!("'{rest}' is no JSON value"));
    Ok(Some(match operator {
        Operator::Relation(relation) => Wanted::Compare(relation, literal()?),
        Operator::Contains => Wanted::Contains(literal()?),
        Operator::Count => {
            let count = relation_of(rest).and_then(|(relation, number)| Some((relation, number.parse().ok()?)));
            let (relation, count) = count.ok_or_else(|| format!("'{rest}' is no number with a sign, like > 2"))?;
            Wanted::Count(relation, count)
        }
        Operator::Matches => {
            let is_pattern = rest.len() > 2 && rest.starts_with('/') && rest.ends_with('/');
            if !is_pattern {
                return Err(format!("'{rest}' is no pattern, like /^A/"));
            }
            Wanted::Matches(TextCheck::parse("--expect-json", rest).map_err(|error| error.to_string())?)
        }
        Operator::Exists if rest.is_empty() => return Ok(None),
        Operator::Exists => return Err(format!("nothing follows exists, not '{rest}'")),
    }))
}

/// Whether a path can match one value only: it has names and indices alone.
#[inline]
fn is_singular(path: &str) -> bool {
    let (mut quote, mut before) = (None, b' ');
    for byte in path.bytes() {
        match quote {
            Some(end) if byte == end && before != b'\\' => quote = None,
            Some(_) => {}
            None if matches!(byte, b'\'' | b'"') => quote = Some(byte),
            None if matches!(byte, b'*' | b'?' | b':' | b',') || (byte == b'.' && before == b'.') => return false,
            None => {}
        }
        before = byte;
    }
    true
}

/// Whether a text has this piece, or a list this item.
#[inline]
fn contains(one: &Value, wanted: &Value) -> bool {
    match (one, wanted) {
        (Value::String(text), Value::String(piece)) => text.contains(piece.as_str()),
        (Value::Array(items), wanted) => items.iter().any(|item| is_same(item, wanted)),
        _ => false,
    }
}

/// A value as a pattern sees it: texts without quotes.
#[inline]
fn text_of_value(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// JSON, or text in single quotes as in paths.
#[inline]
fn literal_of(text: &str, number_stand_ins: &NumberStandIns) -> Option<Value> {
    if let Some(inner) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        return Some(Value::String(inner.replace("\\'", "'")));
    }
    serde_json::from_slice(number_stand_ins.replace_in_text(text).as_bytes()).ok()
}

#[inline]
fn compare(one: &Value, relation: Relation, other: &Value) -> bool {
    let order = match (one, other) {
        (Value::Number(one), Value::Number(other)) => order_of(one, other),
        (Value::String(one), Value::String(other)) => Some(one.cmp(other)),
        (one, other) => is_same(one, other).then_some(Ordering::Equal),
    };
    order.map_or(relation == Relation::Unequal, |order| relation.holds(order))
}

impl Relation {
    /// Whether two values of this order compare like this.
    #[inline]
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Unequal => order.is_ne(),
            Self::Below => order.is_lt(),
            Self::AtMost => order.is_le(),
            Self::Above => order.is_gt(),
            Self::AtLeast => order.is_ge(),
        }
    }
}

/// Doubles are exact here: larger numbers have stand-ins.
#[inline]
fn order_of(one: &Number, other: &Number) -> Option<Ordering> {
    one.as_f64()?.partial_cmp(&other.as_f64()?)
}

/// Numbers in lists and objects are compared like others.
#[inline]
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
