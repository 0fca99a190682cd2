//! JSON values, written as YAML.

use plan::{Pattern, loses_digits};
use serde_json::Number;

use super::{Read, Reader};
use crate::diagnostic::{Problem, Wanted, shortened};
use crate::file::Json;
use crate::tree::{Node, Scalar, Value};

impl Reader<'_> {
    /// A JSON value whose strings are patterns.
    pub(crate) fn json(&mut self, node: &Node) -> Read<Json> {
        match &node.value {
            Value::Broken => None,
            Value::Scalar(scalar) => self.json_scalar(node, scalar),
            Value::List(items) => {
                let read: Vec<Read<Json>> = items.iter().map(|item| self.json(item)).collect();
                read.into_iter().collect::<Option<_>>().map(Json::List)
            }
            Value::Map(_) => {
                let mut pairs = Vec::new();
                for (key, at, value) in self.named(node) {
                    let name = Node { at, value: Value::Scalar(Scalar { text: key.to_owned(), is_plain: false }) };
                    let name = self.pattern_of(&name, key, 0, Json::GROUND);
                    pairs.push(name.zip(self.json(value)));
                }
                pairs.into_iter().collect::<Option<_>>().map(Json::Map)
            }
        }
    }

    fn json_scalar(&mut self, node: &Node, scalar: &Scalar) -> Read<Json> {
        if scalar.is_null() {
            return Some(Json::Null);
        }
        if let Some(switch) = scalar.as_switch() {
            return Some(Json::Bool(switch));
        }
        if scalar.is_doubtful_switch() {
            return self.emit(node.at, Problem::Boolean { given: scalar.text.clone() });
        }
        if scalar.is_doubtful_number() || is_grouped(scalar) {
            return self.emit(node.at, Problem::Octal { given: shortened(&scalar.text) });
        }
        if is_endless(scalar) {
            return self.wrong(node, Wanted::Json);
        }
        match number_of(scalar) {
            Some(number) => Some(number),
            None => self.pattern(node, Json::GROUND).map(Json::Text),
        }
    }
}

/// Whether it has digits with underscores: a number for YAML 1.1, and text for YAML 1.2.
fn is_grouped(scalar: &Scalar) -> bool {
    let text = scalar.text.strip_prefix(['-', '+']).unwrap_or(&scalar.text);
    let is_of_it = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    scalar.is_plain && is_of_it && text.contains('_') && text.starts_with(|each: char| each.is_ascii_digit())
}

/// Whether it is `.inf` or `.nan`, which JSON does not have.
fn is_endless(scalar: &Scalar) -> bool {
    let lower = scalar.text.trim_start_matches(['-', '+']).to_ascii_lowercase();
    scalar.is_plain && matches!(lower.as_str(), ".inf" | ".nan")
}

/// A number of YAML 1.2 (10.3.2), in the form of JSON.
fn number_of(scalar: &Scalar) -> Option<Json> {
    let text = scalar.text.as_str();
    if !scalar.is_plain || !text.starts_with(|each: char| each.is_ascii_digit() || matches!(each, '-' | '+' | '.')) {
        return None;
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    if let Some(number) = Json::from_number(text) {
        return Some(number);
    }
    // `1.` and `.5` are numbers in YAML, but not in JSON.
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte))
        && text.bytes().any(|byte| byte.is_ascii_digit());
    let number = if is_number { text.parse().ok() } else { None };
    number.and_then(Number::from_f64).map(Json::Number)
}

impl Json {
    /// A number, with all its digits.
    pub(crate) fn from_number(text: &str) -> Option<Self> {
        let number = serde_json::from_str::<Number>(text).ok()?;
        let is_whole = number.is_u64() || number.is_i64();
        Some(if !is_whole && loses_digits(text) { Self::Digits(text.to_owned()) } else { Self::Number(number) })
    }

    /// The text, if it is a plain string.
    pub fn as_text(&self) -> Option<&Pattern> {
        match self {
            Self::Text(pattern) => Some(pattern),
            _ => None,
        }
    }
}
