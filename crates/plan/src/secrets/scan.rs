//! Positions of the secrets in a text, by the names before them.
//!
//! The text may be anything, whole or truncated: a head, a URL, a form, JSON, JSON within JSON, XML, a part of a
//! multipart form.

use std::ops::Range;

use super::{is_secret_field, is_secret_in_query};

/// The most characters between a name and the separator of its value: `user[password]`, `\"token\"`.
const CLOSING_MAX: usize = 8;
/// The lines of a part's head after its name.
const PART_LINES_MAX: usize = 6;

/// The values of secret names, in order; none is empty, and none overlaps another.
pub(super) fn secrets_in(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        if bytes[at..].starts_with(b"://") {
            at += 3;
            if let Some(user) = user_behind(bytes, at) {
                at = user.end;
                found.push(user);
            }
            continue;
        }
        if !is_of_name(bytes[at]) {
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|byte| is_of_name(**byte)).count();
        let name = &text[at..end];
        let is_secret = is_secret_field(name) || is_secret_in_query(name) && is_in_query(bytes, at, end);
        let value = is_secret.then(|| value_behind(bytes, at, end)).flatten();
        at = match value.filter(|value| !value.is_empty()) {
            Some(value) => {
                let next = value.end;
                found.push(value);
                next
            }
            None => end,
        };
    }
    found
}

/// Whether the name is that of a field of a query, or of a form.
fn is_in_query(bytes: &[u8], start: usize, end: usize) -> bool {
    if bytes.get(end) != Some(&b'=') {
        return false;
    }
    match start.checked_sub(1) {
        Some(before) => matches!(bytes[before], b'?' | b'&'),
        // The first field of a form has none before it, but others after it.
        None => bytes[end..].iter().take_while(|byte| !byte.is_ascii_whitespace()).any(|byte| *byte == b'&'),
    }
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'%')
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The user information of a URL.
fn user_behind(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || b"/?#\"'<>\\".contains(byte);
    let end = bytes[at..].iter().position(is_end).map_or(bytes.len(), |length| at + length);
    let host = &bytes[at..end];
    match host.iter().rposition(|byte| *byte == b'@') {
        Some(sign) => (sign > 0).then(|| at..at + sign),
        // In a truncated URL, the text after the colon may be a password.
        None if end == bytes.len() => {
            let behind = host.iter().rposition(|byte| *byte == b']').map_or(host, |bracket| &host[bracket..]);
            let colon = behind.iter().position(|byte| *byte == b':')?;
            behind[colon + 1..].iter().any(|byte| !byte.is_ascii_digit()).then_some(at..end)
        }
        None => None,
    }
}

/// The value of the name that ends at `end`.
fn value_behind(bytes: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    let is_closing = |byte: &&u8| matches!(**byte, b'\\' | b'"' | b'\'' | b']' | b')');
    let closing = bytes[end..].iter().take(CLOSING_MAX).take_while(is_closing).count();
    let is_quoted = bytes[end..end + closing].iter().any(|byte| matches!(byte, b'"' | b'\''));
    let mut at = end + closing;
    let spaces = bytes[at..].iter().take_while(|byte| is_space(**byte)).count();
    at += spaces;
    let signs = bytes[at..].iter().take_while(|byte| b":=!<>".contains(byte)).count();
    let joint = &bytes[at..at + signs];
    if joint == b">" && start > 0 && bytes[start - 1] == b'<' {
        // An XML element.
        return Some(at + 1..until(bytes, at + 1, b"<"));
    }
    let is_joint = joint.iter().any(|byte| matches!(byte, b':' | b'='));
    // A comparison in a check, and no end of an element.
    let is_relation = spaces > 0 && matches!(joint, b"<" | b">");
    if !is_joint && !is_relation {
        return if is_quoted { value_of_part(bytes, at) } else { None };
    }
    at += signs;
    let is_gap = |byte: &&u8| is_space(**byte) || (is_quoted && byte.is_ascii_whitespace());
    at += bytes[at..].iter().take_while(is_gap).count();
    value_at(bytes, at, (joint[0] == b':' && !is_quoted).then(|| start.checked_sub(1).map(|before| bytes[before])))
}

/// The value that begins at `at`. `of_line`: it ends with its line, unless the quote before the name ends it.
fn value_at(bytes: &[u8], at: usize, of_line: Option<Option<u8>>) -> Option<Range<usize>> {
    let escapes = bytes[at..].iter().take_while(|byte| **byte == b'\\').count();
    match bytes.get(at + escapes) {
        Some(quote @ (b'"' | b'\'')) => {
            let from = at + escapes + 1;
            return Some(from..end_of_quoted(bytes, from, *quote, escapes));
        }
        Some(open @ (b'[' | b'{')) if escapes == 0 && of_line.is_none() => {
            return Some(at..end_of_nest(bytes, at, *open));
        }
        _ => {}
    }
    if let Some(before) = of_line {
        let ends: &[u8] = match before {
            Some(b'\'') => b"\r\n'",
            Some(b'"') => b"\r\n\"",
            _ => b"\r\n",
        };
        return Some(at..until(bytes, at, ends));
    }
    const ENDS: &[u8] = b"& \t\r\n,;}])\"'<>#\\";
    let mut end = until(bytes, at, ENDS);
    let word = bytes[at..end].to_ascii_lowercase();
    if matches!(word.as_slice(), b"null" | b"true" | b"false") {
        return None;
    }
    // The authentication scheme, and then the credentials.
    if matches!(word.as_slice(), b"bearer" | b"basic" | b"token" | b"digest" | b"negotiate")
        && bytes.get(end) == Some(&b' ')
    {
        end = until(bytes, end + 1, ENDS);
    }
    Some(at..end)
}

fn until(bytes: &[u8], from: usize, ends: &[u8]) -> usize {
    bytes[from..].iter().position(|byte| ends.contains(byte)).map_or(bytes.len(), |length| from + length)
}

/// The end of a quoted text whose quotes have this many backslashes themselves.
fn end_of_quoted(bytes: &[u8], from: usize, quote: u8, escapes: usize) -> usize {
    let mut at = from;
    while let Some(next) = bytes[at..].iter().position(|byte| *byte == quote).map(|length| at + length) {
        let before = bytes[from..next].iter().rev().take_while(|byte| **byte == b'\\').count();
        if (escapes == 0 && before % 2 == 0) || (escapes > 0 && before <= escapes) {
            return next - if escapes > 0 { before } else { 0 };
        }
        at = next + 1;
    }
    bytes.len()
}

/// The position after the bracket that closes the one at `at`.
fn end_of_nest(bytes: &[u8], at: usize, open: u8) -> usize {
    let close = if open == b'[' { b']' } else { b'}' };
    let mut depth = 0usize;
    for (index, byte) in bytes.iter().enumerate().skip(at) {
        depth += usize::from(*byte == open);
        if *byte == close {
            depth -= 1;
            if depth == 0 {
                return index + 1;
            }
        }
    }
    bytes.len()
}

/// The content of a part of a multipart form, whose head continues at `at`; or the value of an HTML input.
fn value_of_part(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let value = b"value=";
    if bytes[at..].starts_with(value) {
        return value_at(bytes, at + value.len(), None);
    }
    let mut from = at;
    for _ in 0..PART_LINES_MAX {
        from += bytes[from..].iter().position(|byte| *byte == b'\n')? + 1;
        let line = until(bytes, from, b"\n");
        if bytes[from..line].trim_ascii().is_empty() && line < bytes.len() {
            let begin = line + 1;
            let end = bytes[begin..]
                .windows(3)
                .position(|three| three == b"\n--")
                .map_or(bytes.len(), |length| begin + length);
            return Some(begin..end);
        }
    }
    None
}
