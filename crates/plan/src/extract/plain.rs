//! JSON paths to a single position, such as `$.a.b[0]`: the value is found without a tree of the rest.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use std::fmt;

/// A segment of such a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    Name(Box<str>),
    Index(usize),
}

/// The segments of a path, if it is such a one. Unclear cases are left to the library.
pub(super) fn segments(path: &str) -> Option<Vec<Segment>> {
    let mut rest = path.trim().strip_prefix('$')?;
    let mut segments = Vec::new();
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            let (inside, behind) = inner.split_once(']')?;
            // No sign, no blank, and no leading zero.
            let is_index =
                inside == "0" || !inside.starts_with('0') && inside.bytes().all(|byte| byte.is_ascii_digit());
            segments.push(Segment::Index(inside.parse().ok().filter(|_| is_index)?));
            rest = behind;
        } else {
            let inner = rest.strip_prefix('.')?;
            let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            let end = inner.bytes().position(|byte| !is_of_name(byte)).unwrap_or(inner.len());
            let name = &inner[..end];
            if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
                return None;
            }
            segments.push(Segment::Name(name.into()));
            rest = &inner[end..];
        }
    }
    Some(segments)
}

/// The value at the position; `None` when there is none.
///
/// # Errors
/// The text is no JSON.
#[inline]
pub(super) fn find(text: &[u8], segments: &[Segment]) -> Result<Option<Value>, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let found = Walk(segments).deserialize(&mut reader)?;
    reader.end().map(|()| found)
}

/// Walks to a position.
struct Walk<'a>(&'a [Segment]);

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        if self.0.is_empty() {
            return serde::Deserialize::deserialize(reader).map(Some);
        }
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = Option<Value>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (first, rest) = self.0.split_first().ok_or_else(|| A::Error::custom("no part"))?;
        let mut found = None;
        let name = if let Segment::Name(name) = first { Some(&**name) } else { None };
        while let Some(is_it) = map.next_key_seed(Is(name))? {
            if is_it {
                // Of duplicate keys the last counts, as everywhere.
                found = map.next_value_seed(Walk(rest))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let (first, rest) = self.0.split_first().ok_or_else(|| A::Error::custom("no part"))?;
        let mut found = None;
        if let Segment::Index(index) = first {
            for _ in 0..*index {
                if list.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(None);
                }
            }
            found = list.next_element_seed(Walk(rest))?.flatten();
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(found)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// Compares a key with this one.
struct Is<'a>(Option<&'a str>);

impl<'de> DeserializeSeed<'de> for Is<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<bool, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Is<'_> {
    type Value = bool;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<bool, E> {
        Ok(self.0 == Some(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_to_one_place_are_plain() {
        for path in ["$", "$.a", "$.a.b", "$[0]", "$.a[10].b_1", " $.a "] {
            assert!(segments(path).is_some(), "{path}");
        }
        for path in [
            "",
            "a",
            "$.",
            "$..a",
            "$.*",
            "$[*]",
            "$[-1]",
            "$[01]",
            "$['a']",
            "$.a[?@.b]",
            "$.1",
            "$.a b",
            "$[+1]",
            "$.é",
            "$[0",
        ] {
            assert!(segments(path).is_none(), "{path}");
        }
    }

    /// The library finds the same.
    #[test]
    fn what_is_found_is_what_the_library_finds() {
        let texts = [
            r#"{"a":{"b":1,"c":[1,2,{"d":"x"}]},"e":null}"#,
            r#"{"a":1,"a":{"b":2}}"#,
            r#"{"a":{"b":1},"a":7}"#,
            r#"[{"a":1.5},[true,"a\n\u00e9"],18446744073709551615]"#,
            r#""a""#,
            "7",
            "-7.5e3",
            "true",
            "null",
            "[]",
            "{}",
            r#"{"a":[[0,1],[2,3]],"b":"\"a\":5"}"#,
        ];
        let paths = [
            "$",
            "$.a",
            "$.a.b",
            "$.a.c[2].d",
            "$.e",
            "$[0]",
            "$[1][1]",
            "$[2]",
            "$[0].a",
            "$.a[1][0]",
            "$.b",
            "$[9]",
            "$.e.f",
        ];
        for text in texts {
            let whole: Value = serde_json::from_str(text).expect("JSON");
            for path in paths {
                let library = serde_json_path::JsonPath::parse(path).expect("a path");
                let expect = library.query(&whole).first().cloned();
                let found = find(text.as_bytes(), &segments(path).expect("plain")).expect("JSON");
                assert_eq!(found, expect, "{path} in {text}");
            }
        }
    }

    #[test]
    fn what_is_no_json_is_reported() {
        for text in [
            "",
            "{",
            r#"{"a":1"#,
            r#"{"a":1}}"#,
            r#"{"a":1} x"#,
            r#"{"b":nul,"a":1}"#,
            r#"{"a":01}"#,
            "[1,]",
            r#"{"a" 1}"#,
        ] {
            assert!(find(text.as_bytes(), &segments("$.a").expect("plain")).is_err(), "{text}");
        }
    }
}
