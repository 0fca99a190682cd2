//! Redaction of a scenario file: without values that are secret by the name before them, and still a scenario file.

use std::ops::Range;

use plan::{is_secret_field, masked, masked_url};

use crate::diagnostic::DiagnosticSink;
use crate::source::{Source, Span};
use crate::tree::{self, Node, Value};

/// The replacement of a secret.
const MASK: &str = "***";
/// The replacement as a value: YAML takes a bare one for an alias.
const QUOTED: &str = "\"***\"";
/// Keys whose children are sent values under their own names.
const VALUES: [&str; 9] = ["vars", "per_user", "set", "headers", "form", "json", "multipart", "message", "messages"];
/// Keys whose values may contain `name=value`.
const TEXTS: [&str; 13] = [
    "get",
    "post",
    "put",
    "patch",
    "delete",
    "head",
    "options",
    "request",
    "body",
    "send",
    "text",
    "websocket",
    "target",
];

/// The text with `***` in the place of literal secrets. `names`: variables that the file declares secret. References to
/// other places (`${env.X}`, a column, a variable) stay.
pub fn without_secrets(text: &str, names: &[&str]) -> String {
    let (source, mut found) = (Source::new("kept", text), DiagnosticSink::default());
    let (root, _) = tree::build(&source, &mut found);
    let mut hider = Hider { text: &source.text, names, hidden: Vec::new() };
    if let Some(root) = &root {
        hider.redact_node(root, "", false);
    }
    hider.hidden.sort_by_key(|(place, _)| place.start);
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (place, instead) in &hider.hidden {
        // An alias refers to its anchor.
        if place.start >= at {
            out.push_str(&source.text[at..place.start]);
            out.push_str(instead);
            at = place.end;
        }
    }
    out.push_str(&source.text[at..]);
    let words = out
        .split_inclusive([' ', '"', '\''])
        .map(|word| if word.contains("://") { masked_url(word) } else { word.to_owned() });
    words.collect()
}

/// Whether a key of a custom protocol is secret.
fn is_secret_key(protocol: &str, name: &str) -> bool {
    let about = protocol::by_name(protocol).map(|protocol| protocol.about());
    about.is_some_and(|about| about.keys.iter().any(|key| key.name == name && key.is_secret))
}

struct Hider<'a> {
    text: &'a str,
    names: &'a [&'a str],
    /// The masked ranges, with their replacements.
    hidden: Vec<(Range<usize>, String)>,
}

impl Hider<'_> {
    /// `key`: the key before the node. `are_values`: names around it are those of values.
    fn redact_node(&mut self, node: &Node, key: &str, are_values: bool) {
        match &node.value {
            Value::Map(pairs) => {
                for (inner, node) in pairs {
                    let name = inner.name.as_str();
                    let is_named = self.names.contains(&name) && are_values;
                    let is_credential = (key == "defaults" && name == "user")
                        || (key == "auth" && matches!(name, "basic" | "bearer"))
                        || is_secret_key(key, name);
                    if is_named || is_credential || (are_values && is_secret_field(name)) {
                        self.hide(node);
                    } else {
                        self.redact_node(node, name, are_values || VALUES.contains(&name));
                    }
                }
            }
            Value::List(items) => items.iter().for_each(|item| self.redact_node(item, key, are_values)),
            Value::Scalar(_) if are_values || TEXTS.contains(&key) => self.hide_within(node.at),
            Value::Scalar(_) | Value::Broken => {}
        }
    }

    /// Masks a whole value, unless it is empty or a reference.
    fn hide(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar(scalar) if scalar.is_null() || scalar.as_switch().is_some() || scalar.text.contains("${") => {
            }
            Value::Scalar(_) | Value::Broken => self.instead(node.at, QUOTED.to_owned()),
            Value::List(items) => items.iter().for_each(|item| self.hide(item)),
            Value::Map(pairs) => pairs.iter().for_each(|(_, node)| self.hide(node)),
        }
    }

    /// Masks secrets by the names within a text.
    fn hide_within(&mut self, at: Span) {
        let whole = &self.text[at.start..at.end.min(self.text.len())];
        let hidden = masked(whole);
        if hidden != whole && hidden.contains(MASK) && whole.lines().count() <= 1 {
            self.instead(at, hidden);
        } else if hidden != whole {
            self.instead(at, QUOTED.to_owned());
        }
    }

    fn instead(&mut self, at: Span, text: String) {
        let whole = &self.text[at.start..at.end.min(self.text.len())];
        // A block scalar ends with its last line.
        let end = at.start + whole.trim_end().len();
        self.hidden.push((at.start..end.max(at.start), text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The redacted text is checked to be YAML, with the same content except for the masked values.
    fn hidden(text: &str, names: &[&str]) -> String {
        let hidden = without_secrets(text, names);
        let mut found = DiagnosticSink::default();
        let (root, end) = tree::build(&Source::new("hidden", &hidden), &mut found);
        let mistakes = found.into_mistakes(Source::new("hidden", &hidden)).all;
        assert!(root.is_some() && end == usize::MAX && mistakes.is_empty(), "{mistakes:?}\n{hidden}");
        hidden
    }

    #[test]
    fn secrets_go_and_what_is_taken_from_elsewhere_stays() {
        let text = "secrets: [key]\nvars: {key: hush-7, n: 3}\ndefaults:\n  cookies: true\n  user: anna:u-s-r\n  headers:\n    Authorization: Bearer abc.def\n    X-Api-Key: \"k,1}\"\n    X-Token: \"${env.TOKEN}\"\n# password: in a comment stays\ntarget: http://me:pass@host/x?token=1\nsteps:\n  - {post: /login, json: {user: a, password: \"p, q\"}, headers: {X-Key: \"${key}\"}}\n  - get: /x?page=1&token=t0k\n    extract: {token: json $.token, sid: {cookie: sid}}\n    form:\n      password: |\n        one\n        two\n\n      next: 1\n      secrets:\n        - first\n        - {a: second, b: \"${n}\"}\n      token: \"third\n        fourth\"\n      auth: 'it''s'\n      pass:\n        fifth\n        sixth\n  - body: user=a&password=p4ss\n";
        let hidden = hidden(text, &["key"]);
        for gone in [
            "hush-7", "abc.def", "k,1", "one", "two", "me:pass", "p, q", "token=1", "t0k", "first", "second", "third",
            "fourth", "it''s", "fifth", "sixth", "p4ss", "u-s-r",
        ] {
            assert!(!hidden.contains(gone), "{gone}: {hidden}");
        }
        for kept in [
            "secrets: [key]",
            "n: 3}",
            "cookies: true",
            "${env.TOKEN}",
            "next: 1",
            "user: a,",
            "X-Key: \"${key}\"}}",
            "comment stays",
            "host/x",
            "page=1",
            "extract: {token: json $.token, sid: {cookie: sid}}",
            "b: \"${n}\"",
            "user=a&",
        ] {
            assert!(hidden.contains(kept), "{kept}: {hidden}");
        }
    }

    #[test]
    fn any_text_has_a_form_without() {
        for text in
            ["", ":", ": ", "password:", "a: {password: \"", "{password: '${x}', b: 1}", "密码: 值\n  password: 值，"]
        {
            without_secrets(text, &["密码", ""]);
        }
        assert_eq!(hidden("vars: {密码: 值}", &["密码"]), "vars: {密码: \"***\"}");
        assert_eq!(hidden("vars: {a: &x {token: t1}, b: *x}", &[]), "vars: {a: &x {token: \"***\"}, b: *x}");
        assert_eq!(hidden("scenarios: {auth: {steps: [{get: /}]}}", &[]), "scenarios: {auth: {steps: [{get: /}]}}");
        assert_eq!(hidden("data: {passwords: p.csv}", &[]), "data: {passwords: p.csv}");
        let set = "steps: [{set: {token: t1, key: k1, n: 1, password: \"${p}\"}}]";
        let expected = "steps: [{set: {token: \"***\", key: \"***\", n: 1, password: \"${p}\"}}]";
        assert_eq!(hidden(set, &["key"]), expected);
    }
}
