//! The file as a tree of values with their positions, built from the events of the parser. It knows YAML, and nothing
//! of scenarios.

mod build;
mod scan_error;
#[cfg(test)]
mod tests;

pub(crate) use build::build;
pub(crate) use scan_error::wide_in;

use crate::source::Span;

/// The maximum nesting of lists and maps.
pub(crate) const DEPTH_MAX: usize = 64;
/// The most values of a file, including repetitions by aliases.
pub(crate) const VALUES_MAX: usize = 200_000;
/// The most bytes of text of a file, including repetitions by aliases.
pub(crate) const VALUE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A value with its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) at: Span,
    pub(crate) value: Value,
}

/// The kinds of YAML values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
    /// An invalid value, already reported.
    Broken,
}

/// A scalar with its text, and whether it was written without quotes: only then it can be a number or a switch.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scalar {
    pub(crate) text: String,
    pub(crate) is_plain: bool,
}

/// The key of a value in a map.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) at: Span,
    pub(crate) name: String,
    /// Whether it came with `<<`, so that the map's own key of this name wins.
    pub(crate) is_merged: bool,
    /// Whether it was no text, and that was reported: it is never looked up.
    pub(crate) is_broken: bool,
}

impl Scalar {
    /// Whether it is null: `key:` alone, `~`, `null`.
    pub(crate) fn is_null(&self) -> bool {
        self.is_plain && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }

    /// `true` or `false` (YAML 1.2, 10.3.2).
    pub(crate) fn as_switch(&self) -> Option<bool> {
        match self.text.as_str() {
            "true" | "True" | "TRUE" if self.is_plain => Some(true),
            "false" | "False" | "FALSE" if self.is_plain => Some(false),
            _ => None,
        }
    }

    /// Whether it is a word that YAML 1.1 reads as true or false, and YAML 1.2 as text.
    pub(crate) fn is_doubtful_switch(&self) -> bool {
        let lower = self.text.to_ascii_lowercase();
        self.is_plain && ["yes", "no", "on", "off", "y", "n"].contains(&lower.as_str())
    }

    /// Whether it is a number that the versions of YAML read in different ways: `0755`, `0x1F`, `0o17`, `1_000`.
    pub(crate) fn is_doubtful_number(&self) -> bool {
        let digits = self.text.trim_start_matches(['-', '+']);
        let is_octal = digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
        let has_base = ["0x", "0o", "0b"].iter().any(|base| {
            let rest = digits.strip_prefix(base).unwrap_or_default();
            !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_')
        });
        self.is_plain && (is_octal || has_base)
    }
}

/// Moves all positions of a tree.
pub(crate) fn shift(node: &mut Node, by: usize) {
    node.at = node.at.shifted(by);
    match &mut node.value {
        Value::List(items) => items.iter_mut().for_each(|item| shift(item, by)),
        Value::Map(pairs) => pairs.iter_mut().for_each(|(key, value)| {
            key.at = key.at.shifted(by);
            shift(value, by);
        }),
        Value::Scalar(_) | Value::Broken => {}
    }
}

impl Node {
    /// The value of an empty file.
    pub(crate) fn nothing() -> Self {
        Self { at: Span::default(), value: Value::Scalar(Scalar { text: String::new(), is_plain: true }) }
    }

    /// Whether it is null.
    pub(crate) fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar(scalar) if scalar.is_null())
    }
}
