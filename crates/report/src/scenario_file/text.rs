//! Texts in YAML.

use serde_json::Value;

/// A text in double quotes. JSON strings are valid YAML, but for what YAML wants escaped.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for each in Value::from(text).to_string().chars() {
        match each {
            '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                out += &format!("\\u{:04x}", u32::from(each));
            }
            each => out.push(each),
        }
    }
    out
}

/// A text without quotes where it has no other meaning.
pub(super) fn plain(text: &str) -> String {
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-:".contains(&byte))
        && !text.ends_with(':')
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { quoted(text) }
}

/// The name of a field.
pub(super) fn key(text: &str) -> String {
    plain(text)
}

/// A text without slots.
pub(super) fn pattern(text: &str) -> String {
    plain(&text.replace("${", "$${"))
}

/// A JSON value in one line, without slots.
pub(super) fn json(value: &Value) -> String {
    let text = quoted_json(value);
    text.replace("${", "$${")
}

fn quoted_json(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(values) => {
            let all: Vec<String> = values.iter().map(quoted_json).collect();
            format!("[{}]", all.join(", "))
        }
        Value::Object(fields) => {
            let all: Vec<String> =
                fields.iter().map(|(name, value)| format!("{}: {}", quoted(name), quoted_json(value))).collect();
            format!("{{{}}}", all.join(", "))
        }
        other => other.to_string(),
    }
}
