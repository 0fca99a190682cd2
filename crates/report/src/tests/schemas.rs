//! The published schemas have what the rows of counters, gauges and failures say; `cargo xtask reference` writes it.

use std::ops::Range;
use std::path::Path;

use figures::GAUGES;
use metrics::{Counters, GRPC_STATUSES, View};
use serde_json::{Value, json};

use super::*;

/// Writes the schemas instead of comparing them.
const WRITE: &str = "ONRUSH_WRITE_REFERENCE";

/// A schema as its text, so that what is written by hand stays as it is.
struct Schema {
    name: &'static str,
    text: String,
    /// Whether each value has a line of its own.
    is_long: bool,
}

/// The end of the value that begins here.
fn end_of(text: &str, from: usize) -> usize {
    let mut values = serde_json::Deserializer::from_str(&text[from..]).into_iter::<Value>();
    values.next().expect("a value").expect("JSON");
    from + values.byte_offset()
}

fn skip(text: &str, from: usize, skipped: &[char]) -> usize {
    from + text[from..].len()
        - text[from..].trim_start_matches(|each: char| each.is_whitespace() || skipped.contains(&each)).len()
}

impl Schema {
    fn read(name: &'static str, is_long: bool) -> Self {
        Self { name, text: std::fs::read_to_string(Self::path(name)).expect("a schema"), is_long }
    }

    fn path(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
    }

    /// Where the value at a path of names is.
    fn find(&self, path: &str) -> Option<Range<usize>> {
        let text = &self.text;
        let mut at = 0;
        for wanted in path.split('/') {
            at = skip(text, at, &['{']);
            loop {
                if text[at..].starts_with('}') {
                    return None;
                }
                let name_end = end_of(text, at);
                let value = skip(text, name_end, &[':']);
                if text[at..name_end].trim_matches('"') == wanted {
                    at = value;
                    break;
                }
                at = skip(text, end_of(text, value), &[',']);
            }
        }
        Some(at..end_of(text, at))
    }

    /// A value as the schema writes it, in a line with this indentation.
    fn written(&self, value: &Value, indentation: usize) -> String {
        let text = match value {
            _ if self.is_long => serde_json::to_string_pretty(value).expect("JSON"),
            Value::Object(fields) => {
                let fields = fields.iter().map(|(name, value)| format!("\"{name}\": {value}"));
                format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
            }
            other => other.to_string().replace("\",\"", "\", \""),
        };
        text.replace('\n', &format!("\n{}", " ".repeat(indentation)))
    }

    fn indentation(&self, at: usize) -> usize {
        let line = self.text[..at].rfind('\n').map_or(0, |end| end + 1);
        skip(&self.text, line, &[]) - line
    }

    fn put(&mut self, path: &str, value: &Value) {
        let place = self.find(path).unwrap_or_else(|| panic!("{}: {path}", self.name));
        let is_there = serde_json::from_str::<Value>(&self.text[place.clone()]).expect("JSON") == *value;
        if !is_there {
            let written = self.written(value, self.indentation(place.start));
            self.text.replace_range(place, &written);
        }
    }

    /// A property that each object has. `is_whole`: what the schema says of it is made of the row, too.
    fn require(&mut self, object: &str, name: &str, value: &Value, is_whole: bool) {
        let (required, properties) = (format!("{object}/required"), format!("{object}/properties"));
        let place = self.find(&required).expect("a list");
        let mut names: Vec<String> = serde_json::from_str(&self.text[place]).expect("names");
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
            self.put(&required, &json!(names));
        }
        let property = format!("{properties}/{name}");
        if self.find(&property).is_none() {
            let place = self.find(&properties).expect("an object");
            let last = place.start + self.text[place.clone()].trim_end_matches('}').trim_end().len();
            let indentation = self.indentation(place.start) + 2;
            let written = self.written(value, indentation);
            self.text.insert_str(last, &format!(",\n{}\"{name}\": {written}", " ".repeat(indentation)));
        } else if is_whole {
            self.put(&property, value);
        }
    }

    /// Compares it with its file, or writes that.
    fn compare(self) {
        if std::env::var_os(WRITE).is_some() {
            std::fs::write(Self::path(self.name), &self.text).expect("a schema can be written");
        }
        let kept = Self::read(self.name, self.is_long).text;
        let other = kept.lines().zip(self.text.lines()).find(|(kept, made)| kept != made);
        assert!(other.is_none() && kept == self.text, "{}, which cargo xtask reference writes: {other:?}", self.name);
    }
}

#[test]
fn the_schema_of_reports_has_the_rows() {
    let mut schema = Schema::read("report.schema.json", false);
    for row in Counters::published() {
        let (section, name) = row.json.split_once('.').expect("a section and a name");
        let value = json!({"$ref": "#/$defs/count", "description": row.about.trim()});
        schema.require(&format!("properties/{section}"), name, &value, true);
        if row.views.contains(&View::Intervals) {
            let value = json!({"$ref": "#/$defs/count"});
            schema.require("properties/intervals/items", row.name, &value, false);
        }
    }
    let mut reasons: Vec<&str> = Vec::new();
    // Those of custom protocols have a pattern.
    for failure in Failure::all().filter(|failure| !matches!(failure, Failure::Custom(_))) {
        if !reasons.contains(&failure.name()) {
            reasons.push(failure.name());
        }
    }
    schema.put("$defs/failure/enum", &json!(reasons));
    schema.put("$defs/grpc_statuses/propertyNames/enum", &json!(GRPC_STATUSES));
    schema.compare();
}

#[test]
fn the_schema_of_the_page_has_the_rows() {
    let mut schema = Schema::read("web.schema.json", true);
    let value = json!({"type": "integer", "minimum": 0});
    for row in Counters::published().filter(|row| row.views.contains(&View::Live)) {
        schema.require("$defs/load/properties/total", row.name, &value, false);
    }
    for gauge in GAUGES {
        schema.require("$defs/load/properties/now", gauge.name, &value, false);
        let label = crate::labels::series_label(gauge.name).1;
        assert!(!label.is_ascii(), "{} has no label", gauge.name);
    }
    schema.compare();
}
