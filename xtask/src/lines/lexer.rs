//! Lines of code of a Rust text, as its tokens show them: without comments, blanks and items of tests.

/// The attribute of items that only tests have.
const OF_TESTS: &str = "#[cfg(test)]";

/// The code of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Code {
    /// Lines that are not blank, without comments and the spaces around them.
    pub(super) lines: Vec<String>,
    /// Modules in files of their own that only tests have.
    pub(super) test_modules: Vec<String>,
}

/// The code of a text.
pub(super) fn code(text: &str) -> Code {
    let (bare, shape) = without_comments(text);
    let mut code = Code::default();
    // The end of the last item of tests.
    let mut skipped = 0;
    let mut at = 0;
    for line in bare.split_inclusive('\n') {
        let (begin, end) = (at, at + line.len());
        at = end;
        if begin < skipped {
            continue;
        }
        if line.trim() == OF_TESTS {
            skipped = item_end(&shape, end);
            let declared = bare[end..skipped].trim();
            let module = declared.rsplit_once("mod ").and_then(|(_, name)| name.strip_suffix(';'));
            code.test_modules.extend(module.map(str::to_owned));
        } else if !line.trim().is_empty() {
            code.lines.push(line.trim().to_owned());
        }
    }
    code
}

/// The end of the item that begins at a byte: behind its semicolon, or its braces.
fn item_end(shape: &str, begin: usize) -> usize {
    let mut depth = 0_usize;
    for (at, one) in shape[begin..].bytes().enumerate() {
        match one {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && one == b'}' {
                    return begin + at + 1;
                }
            }
            b';' if depth == 0 => return begin + at + 1,
            _ => {}
        }
    }
    shape.len()
}

/// The text with spaces in the place of comments, and the same with spaces in the place of strings too.
fn without_comments(text: &str) -> (String, String) {
    let bytes = text.as_bytes();
    let (mut bare, mut shape) = (bytes.to_vec(), bytes.to_vec());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let (length, is_comment) = match rest {
            [b'/', b'/', ..] => (rest.iter().position(|one| *one == b'\n').unwrap_or(rest.len()), true),
            [b'/', b'*', ..] => (block(rest), true),
            [b'"', ..] => (string(rest), false),
            [b'r', b'"' | b'#', ..] if !is_in_word(bytes, at) => (raw(rest), false),
            [b'\'', ..] => (character(rest), false),
            _ => (0, false),
        };
        let length = length.min(rest.len());
        for place in at..at + length {
            if bytes[place] != b'\n' {
                shape[place] = b' ';
                bare[place] = if is_comment { b' ' } else { bytes[place] };
            }
        }
        at += length.max(1);
    }
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(bare), text(shape))
}

/// Whether a byte continues a word. The prefixes of byte strings and C strings are no words.
fn is_in_word(bytes: &[u8], at: usize) -> bool {
    let is_word = |place: usize| bytes.get(place).is_some_and(|one| one.is_ascii_alphanumeric() || *one == b'_');
    let before = at.wrapping_sub(1);
    let is_prefix = matches!(bytes.get(before), Some(b'b' | b'c')) && !is_word(before.wrapping_sub(1));
    is_word(before) && !is_prefix
}

/// The length of a comment with nested ones.
fn block(rest: &[u8]) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        match rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] if depth == 1 => return at + 2,
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of a string in quotes.
fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    rest.len()
}

/// The length of a raw string; 0 for a raw identifier.
fn raw(rest: &[u8]) -> usize {
    let hashes = rest[1..].iter().take_while(|one| **one == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return 0;
    }
    let end = [&b"\""[..], &b"#".repeat(hashes)].concat();
    let body = 2 + hashes;
    let found = rest[body..].windows(end.len()).position(|window| window == end);
    found.map_or(rest.len(), |place| body + place + end.len())
}

/// The length of a character in quotes; 1 for a lifetime.
fn character(rest: &[u8]) -> usize {
    match rest {
        [_, b'\\', _, rest @ ..] => rest.iter().position(|one| *one == b'\'').map_or(1, |place| place + 4),
        _ => {
            let width = rest.get(1).map_or(0, |first| match first {
                0..=0x7F => 1,
                0x80..=0xDF => 2,
                0xE0..=0xEF => 3,
                _ => 4,
            });
            if rest.get(1 + width) == Some(&b'\'') { width + 2 } else { 1 }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_blanks_and_tests_are_no_code() {
        let text = r####"//! A module.

/* a /* nested */ comment
   of two lines */ fn one<'a>(text: &'a str) -> char { // why
    let all = ("// no comment", r#"/* " */"#, b'"', '\'', '字', br"\");

    '"'
}

#[cfg(test)]
use std::fmt;
#[cfg(test)]
fn tested(text: &str) -> bool {
    text == "}"
}
fn two() {}

#[cfg(test)]
mod sim;
#[cfg(test)]
pub(crate) mod swarm;

#[cfg(test)]
mod tests {
    #[test]
    fn three() {
        assert!('{' != '"');
    }
}
const LAST: u8 = 1;
"####;
        let code = code(text);
        assert_eq!(
            code.lines,
            [
                "fn one<'a>(text: &'a str) -> char {",
                r####"let all = ("// no comment", r#"/* " */"#, b'"', '\'', '字', br"\");"####,
                "'\"'",
                "}",
                "fn two() {}",
                "const LAST: u8 = 1;",
            ]
        );
        assert_eq!(code.test_modules, ["sim", "swarm"]);
    }

    #[test]
    fn a_text_that_ends_anywhere_is_read() {
        let text = "fn a() { /* b */ \"c\\\"\" r#\"d\"# 'e' '\\n' b'\\'' }\n#[cfg(test)]\nmod t {}\n";
        for end in 0..=text.len() {
            assert!(code(&text[..end]).lines.len() <= 2, "{end}");
        }
    }
}
