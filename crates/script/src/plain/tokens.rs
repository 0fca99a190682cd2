//! The tokens of plain expressions. Whatever has another meaning in JavaScript, or might have, is no token here.

/// A token of a plain expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Lexeme<'a> {
    /// A name or a word of the language.
    Word(&'a str),
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
    /// A template: its texts, and the expressions between them, one less.
    Template(Vec<String>, Vec<&'a str>),
    /// An operator or a bracket.
    Sign(&'static str),
}

/// Operators and brackets, longer ones first.
const SIGNS: [&str; 26] = [
    "===", "!==", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "+", "-", "*", "/", "%", "<", ">", "!", "?", ":",
    "(", ")", "[", "]", ",", ".",
];
/// What these signs would begin has another meaning.
const FOREIGN: [&str; 12] = ["++", "--", "**", "//", "/*", "<<", ">>", "...", "+=", "-=", "*=", "%="];

/// Splits an expression into tokens; `None`: it is not plain.
pub(super) fn lexemes(text: &str) -> Option<Vec<Lexeme<'_>>> {
    let (mut all, mut rest) = (Vec::new(), text);
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        let Some(first) = rest.chars().next() else { return Some(all) };
        let (lexeme, length) = match first {
            '0'..='9' => number(rest)?,
            '.' if rest[1..].starts_with(|next: char| next.is_ascii_digit()) => number(rest)?,
            '\'' | '"' => string(rest, first)?,
            '`' => template(rest)?,
            _ if is_of_name(first) => {
                let end = rest.find(|each| !is_of_name(each)).unwrap_or(rest.len());
                (Lexeme::Word(&rest[..end]), end)
            }
            _ => sign(rest)?,
        };
        rest = &rest[length..];
        // A letter that is not allowed in names here may be one there.
        let is_joined = matches!(lexeme, Lexeme::Word(_) | Lexeme::Number(_));
        if is_joined && rest.starts_with(|next: char| is_of_name(next) || !next.is_ascii() || next == '\\') {
            return None;
        }
        all.push(lexeme);
    }
}

/// Characters of names: those of ASCII, and letters of the most used scripts that are letters in JavaScript too.
fn is_of_name(each: char) -> bool {
    each.is_ascii_alphanumeric()
        || matches!(each, '_' | '$' | 'À'..='Ö' | 'Ø'..='ö' | 'ø'..='ÿ' | 'А'..='я' | '\u{4e00}'..='\u{9fa5}')
}

fn sign(text: &str) -> Option<(Lexeme<'static>, usize)> {
    if FOREIGN.iter().any(|foreign| text.starts_with(foreign)) {
        return None;
    }
    let found = SIGNS.iter().find(|sign| text.starts_with(**sign))?;
    // `a ?.5 : 1` has a number behind the `?`.
    let is_number = *found == "?." && text[2..].starts_with(|next: char| next.is_ascii_digit());
    let found = if is_number { "?" } else { found };
    // Assignments begin like operators: `&&=`, `??=`.
    let next = text[found.len()..].chars().next();
    let is_assignment = next == Some('=') && matches!(found, "&&" | "||" | "??" | "/");
    (!is_assignment).then_some((Lexeme::Sign(found), found.len()))
}

/// A decimal number. One that begins with 0 or ends with a point is left to JavaScript.
fn number(text: &str) -> Option<(Lexeme<'static>, usize)> {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(0);
    if whole > 1 && text.starts_with('0') {
        return None;
    }
    let mut end = whole;
    if text[end..].starts_with('.') {
        let part = digits(end + 1);
        if part == 0 {
            return None;
        }
        end += 1 + part;
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let part = digits(end + 1 + sign);
        if part == 0 {
            return None;
        }
        end += 1 + sign + part;
    }
    Some((Lexeme::Number(text[..end].parse().ok()?), end))
}

fn string(text: &str, quote: char) -> Option<(Lexeme<'static>, usize)> {
    let (mut out, mut at) = (String::new(), 1);
    loop {
        let each = text[at..].chars().next()?;
        at += each.len_utf8();
        match each {
            _ if each == quote => return Some((Lexeme::Text(out), at)),
            '\n' | '\r' => return None,
            '\\' => at += escape(&text[at..], &mut out)?,
            _ => out.push(each),
        }
    }
}

fn template(text: &str) -> Option<(Lexeme<'_>, usize)> {
    let (mut texts, mut slots, mut out, mut at) = (Vec::new(), Vec::new(), String::new(), 1);
    loop {
        let each = text[at..].chars().next()?;
        at += each.len_utf8();
        match each {
            '`' => {
                texts.push(out);
                return Some((Lexeme::Template(texts, slots), at));
            }
            // Line ends of Windows are others in a template.
            '\r' => return None,
            '\\' => at += escape(&text[at..], &mut out)?,
            '$' if text[at..].starts_with('{') => {
                let inner = &text[at + 1..];
                // What has braces or texts of its own is left to JavaScript.
                let end = inner.find('}')?;
                if inner[..end].contains(['{', '`', '\'', '"']) {
                    return None;
                }
                texts.push(std::mem::take(&mut out));
                slots.push(&inner[..end]);
                at += end + 2;
            }
            _ => out.push(each),
        }
    }
}

/// Reads an escape, behind its backslash; gives its length. Octal ones, halves of surrogate pairs and continued lines
/// are left to JavaScript.
fn escape(text: &str, out: &mut String) -> Option<usize> {
    let first = text.chars().next()?;
    let hex = |from: usize, length: usize| {
        let digits =
            text.get(from..from + length).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        char::from_u32(u32::from_str_radix(digits, 16).ok()?)
    };
    let (each, length) = match first {
        'n' => ('\n', 1),
        'r' => ('\r', 1),
        't' => ('\t', 1),
        'b' => ('\u{8}', 1),
        'f' => ('\u{c}', 1),
        'v' => ('\u{b}', 1),
        '0' if !text[1..].starts_with(|next: char| next.is_ascii_digit()) => ('\0', 1),
        'x' => (hex(1, 2)?, 3),
        'u' if text[1..].starts_with('{') => {
            let end = text.find('}').filter(|end| (3..=8).contains(end))?;
            (hex(2, end - 2)?, end + 1)
        }
        'u' => (hex(1, 4)?, 5),
        '0'..='9' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => return None,
        same => (same, same.len_utf8()),
    };
    out.push(each);
    Some(length)
}
