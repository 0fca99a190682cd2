//! A scenario file as it may be kept: without values that are secret by the name in front of them.

use plan::{is_secret_field, masked_url};

/// What stands for a secret.
const MASK: &str = "***";
/// The same as a value: YAML takes a bare one for the name of something else.
const QUOTED: &str = "\"***\"";

/// The text with `***` where a secret is written out. `names`: variables that the file calls secret. What is taken from elsewhere
/// (`${env.X}`, a column, a variable) stays.
pub fn without_secrets(text: &str, names: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    // The value of a secret key goes on for all lines that are further in than it.
    let mut within: Option<usize> = None;
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        if let Some(key) = within {
            if line.trim().is_empty() || indent > key {
                out.push_str(&line[..indent]);
                out.push_str(if line.trim().is_empty() { "" } else { MASK });
                out.push('\n');
                continue;
            }
            within = None;
        }
        let (line, is_open) = line_without(line, names);
        if is_open {
            within = Some(indent);
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// One line, and whether the value of its last key stands on the lines below and is secret.
fn line_without(line: &str, names: &[&str]) -> (String, bool) {
    let (mut out, mut rest, mut is_flow) = (String::new(), line, false);
    while let Some(colon) = key_end(rest) {
        let (before, behind) = rest.split_at(colon + 1);
        let key = key_of(&before[..colon]);
        is_flow |= before.contains(['{', '[']);
        out.push_str(before);
        let is_secret = names.contains(&key) || (is_secret_field(key) && key != "secrets");
        let value = &behind[..value_end(behind, is_flow)];
        if is_secret {
            let plain = value.trim().trim_matches(['"', '\'']);
            if plain.is_empty() || plain.starts_with(['|', '>']) {
                return (out + value, !is_flow);
            }
            let space = &value[..value.len() - value.trim_start().len()];
            out.push_str(space);
            out.push_str(if plain.contains("${") { value.trim_start() } else { QUOTED });
            rest = &behind[value.len()..];
        } else {
            rest = behind;
        }
    }
    out.push_str(rest);
    let words = out
        .split_inclusive([' ', '"', '\''])
        .map(|word| if word.contains("://") { masked_url(word) } else { word.to_owned() });
    (words.collect(), false)
}

/// Where the first key of a text ends: a colon with a space or nothing behind it, outside of a comment.
fn key_end(text: &str) -> Option<usize> {
    let is_end = |(at, _): &(usize, &str)| text[at + 1..].is_empty() || text[at + 1..].starts_with([' ', '\t']);
    let at = text.match_indices(':').find(is_end)?.0;
    (!text[..at].trim_start().starts_with('#')).then_some(at)
}

/// The last word before a colon, without quotes.
fn key_of(before: &str) -> &str {
    let begin = before.rfind(['{', ',', '[']).map_or(0, |at| at + 1);
    before[begin..].trim().trim_start_matches("- ").trim().trim_matches(['"', '\''])
}

/// Where a value ends: in braces before the next comma or brace that no quotes enclose, else with its line.
fn value_end(text: &str, is_flow: bool) -> usize {
    let mut quote = None;
    for (at, sign) in text.char_indices() {
        match (quote, sign) {
            (Some(open), _) if open == sign => quote = None,
            (None, '"' | '\'') => quote = Some(sign),
            // A slot has braces too.
            (None, ',' | '}' | ']') if is_flow && !in_slot(&text[..at]) => return at,
            _ => {}
        }
    }
    text.len()
}

/// A slot has begun and has not ended.
fn in_slot(before: &str) -> bool {
    before.rfind("${").is_some_and(|open| !before[open..].contains('}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_and_what_is_taken_from_elsewhere_stays() {
        let text = "secrets: [key]\nvars: {key: hush-7, n: 3}\ndefaults:\n  headers:\n    Authorization: Bearer abc.def\n    X-Api-Key: \"k,1}\"\n    X-Token: \"${env.TOKEN}\"\n  password: |\n    one\n    two\n\n  next: 1\n# password: in a comment stays\nurl: http://me:pass@host/x?token=1\nsteps:\n  - {post: /login, json: {user: a, password: \"p, q\"}, headers: {X-Key: \"${key}\"}}\n  - password: hidden\n";
        let hidden = without_secrets(text, &["key"]);
        for gone in ["hush-7", "abc.def", "k,1", "one", "two", "me:pass", "p, q", "password: hidden", "token=1"] {
            assert!(!hidden.contains(gone), "{gone}: {hidden}");
        }
        for kept in
            ["secrets: [key]", "n: 3}", "${env.TOKEN}", "next: 1", "user: a", "X-Key: \"${key}\"}}", "stays", "host/x"]
        {
            assert!(hidden.contains(kept), "{kept}: {hidden}");
        }
        assert_eq!(hidden.lines().count(), text.lines().count());
    }

    #[test]
    fn any_text_has_a_form_without() {
        for text in
            ["", ":", ": ", "password:", "a: {password: \"", "{password: '${x}', b: 1}", "密码: 值\n  password: 值，"]
        {
            without_secrets(text, &["密码", ""]);
        }
        assert_eq!(without_secrets("密码: 值", &["密码"]), "密码: \"***\"\n");
    }
}
