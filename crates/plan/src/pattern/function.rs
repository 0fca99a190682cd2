//! Slots that need no interpreter: names, columns, environment variables, and calls of known functions.

use super::{ARGUMENTS_MAX, Filling, PatternFault};
use serde::{Deserialize, Serialize};

/// A function that a slot may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Function {
    /// A uniformly random whole number from the first to the second argument.
    Random,
    /// A random UUID (RFC 9562, version 4).
    Uuid,
    /// The time of day: milliseconds since 1970, or in the unit of its argument (`s`, `ms`, `us`, `iso`).
    Now,
    /// 1, 2, 3 and so on over the whole run; each name has its own count.
    Counter,
    /// Base64 (RFC 4648 4) of a text, or of several in a row.
    Base64,
    /// SHA-256 of a text, in hexadecimal digits.
    Sha256,
    /// HMAC-SHA-256 of a text under a key, in hexadecimal digits: key, text.
    Hmac,
    /// A text, escaped for a query.
    UrlEncode,
    /// A value as JSON.
    Json,
    /// A random one of its arguments, all equally likely.
    Pick,
    /// The name of a person.
    Name,
    /// A mail address that does not exist.
    Email,
    /// A telephone number that does not exist.
    Phone,
}

/// An argument of a function.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A text in quotes.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// Another slot source; never an expression.
    Filling(Filling),
    /// An expression; no call that is written has one.
    Expression(String),
}

/// Functions with their names, and the numbers of arguments that they take.
const FUNCTIONS: [(Function, &str, usize, usize); 13] = [
    (Function::Random, "random", 2, 2),
    (Function::Uuid, "uuid", 0, 0),
    (Function::Now, "now", 0, 1),
    (Function::Counter, "counter", 0, 1),
    (Function::Base64, "base64", 1, ARGUMENTS_MAX),
    (Function::Sha256, "sha256", 1, 1),
    (Function::Hmac, "hmac", 2, 2),
    (Function::UrlEncode, "urlencode", 1, 1),
    (Function::Json, "json", 1, 1),
    (Function::Pick, "pick", 1, ARGUMENTS_MAX),
    (Function::Name, "name", 0, 0),
    (Function::Email, "email", 0, 0),
    (Function::Phone, "phone", 0, 0),
];

impl Function {
    /// Whether its value depends on chance.
    pub fn draws(self) -> bool {
        matches!(self, Self::Random | Self::Uuid | Self::Pick | Self::Name | Self::Email | Self::Phone)
    }

    /// Whether it takes this number of arguments.
    pub(crate) fn takes(self, arguments: usize) -> bool {
        FUNCTIONS.iter().any(|(known, _, least, most)| *known == self && (*least..=*most).contains(&arguments))
    }
}

/// The formats of a time of day.
const TIMES: [&str; 4] = ["s", "ms", "us", "iso"];

/// Reserved words of JavaScript.
const RESERVED: [&str; 45] = [
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "import",
    "in",
    "instanceof",
    "let",
    "new",
    "null",
    "of",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "async",
];

impl Function {
    /// All functions.
    pub fn all() -> impl Iterator<Item = Self> {
        FUNCTIONS.iter().map(|(function, ..)| *function)
    }

    /// The name, as written.
    pub fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(function, ..)| *function == self).map_or("", |(_, name, ..)| name)
    }

    /// The function of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        FUNCTIONS.iter().find(|(_, known, ..)| *known == name).map(|(function, ..)| *function)
    }

    /// Whether it can be called without arguments, and so without parentheses.
    pub fn is_bare(self) -> bool {
        self.arity().0 == 0
    }

    fn arity(self) -> (usize, usize) {
        FUNCTIONS.iter().find(|(function, ..)| *function == self).map_or((0, 0), |(_, _, least, most)| (*least, *most))
    }

    /// Its arguments, with an example.
    pub(super) fn usage(self) -> &'static str {
        match self {
            Self::Random => "two whole numbers, as in random(1, 100)",
            Self::Uuid | Self::Name | Self::Email | Self::Phone => "nothing",
            Self::Now => "nothing, or one of 's', 'ms', 'us', 'iso', as in now('iso')",
            Self::Counter => "nothing, or a name in quotes, as in counter('orders')",
            Self::Base64 => "values that it puts together, as in base64(user, ':', key)",
            Self::Sha256 | Self::UrlEncode | Self::Json => "one value, as in sha256(token)",
            Self::Hmac => "a key and a text, as in hmac(env.KEY, token)",
            Self::Pick => "the values to choose from, as in pick('a', 'b', 'c')",
        }
    }

    /// The same in Chinese.
    pub(super) fn usage_in_chinese(self) -> &'static str {
        match self {
            Self::Random => "两个整数，如 random(1, 100)",
            Self::Uuid | Self::Name | Self::Email | Self::Phone => "空的括号，没有参数",
            Self::Now => "空的括号，或 's'、'ms'、'us'、'iso' 之一，如 now('iso')",
            Self::Counter => "空的括号，或带引号的名称，如 counter('orders')",
            Self::Base64 => "要连接起来的值，如 base64(user, ':', key)",
            Self::Sha256 | Self::UrlEncode | Self::Json => "一个值，如 sha256(token)",
            Self::Hmac => "密钥和文本，如 hmac(env.KEY, token)",
            Self::Pick => "可供选择的值，如 pick('a', 'b', 'c')",
        }
    }

    /// Checks the arguments that are known now.
    fn check(self, arguments: &[Argument]) -> Result<(), PatternFault> {
        let (least, most) = self.arity();
        if arguments.len() > ARGUMENTS_MAX {
            return Err(PatternFault::TooManyArguments);
        }
        let is_fitting = (least..=most).contains(&arguments.len())
            && match self {
                Self::Random => {
                    arguments.iter().all(|each| matches!(each, Argument::Integer(_) | Argument::Filling(_)))
                }
                Self::Now => {
                    arguments.iter().all(|each| matches!(each, Argument::Text(text) if TIMES.contains(&&text[..])))
                }
                Self::Counter => arguments.iter().all(|each| matches!(each, Argument::Text(_))),
                _ => true,
            };
        match (is_fitting, arguments) {
            (false, _) => Err(PatternFault::Arguments(self)),
            (true, [Argument::Integer(least), Argument::Integer(most)]) if self == Self::Random && least > most => {
                Err(PatternFault::Range)
            }
            (true, _) => Ok(()),
        }
    }
}

/// The source of a slot with this text.
pub(super) fn filling(text: &str) -> Result<Filling, PatternFault> {
    Ok(simple(text)?.unwrap_or(Filling::Expression))
}

/// A source that needs no interpreter; `None`, where one is needed.
fn simple(text: &str) -> Result<Option<Filling>, PatternFault> {
    let (first, rest) = split_name(text);
    if first.is_empty() || RESERVED.contains(&first) {
        return Ok(None);
    }
    let rest = rest.trim_start();
    if rest.is_empty() {
        return Ok(Some(Filling::Name(first.to_owned())));
    }
    if let Some(column) = rest.strip_prefix('.') {
        let (column, rest) = split_name(column.trim_start());
        let is_whole = !column.is_empty() && rest.trim().is_empty();
        let filling = match first {
            "env" => Filling::Environment(column.to_owned()),
            _ => Filling::Column(first.to_owned(), column.to_owned()),
        };
        return Ok(is_whole.then_some(filling));
    }
    let inside = rest.strip_prefix('(').and_then(|rest| rest.trim_end().strip_suffix(')'));
    let (Some(function), Some(inside)) = (Function::from_name(first), inside) else { return Ok(None) };
    let Some(arguments) = arguments(inside)? else { return Ok(None) };
    function.check(&arguments)?;
    Ok(Some(Filling::Call(function, arguments)))
}

/// A name at the beginning of a text, and the rest.
fn split_name(text: &str) -> (&str, &str) {
    let starts = text.starts_with(|each: char| each.is_alphabetic() || each == '_');
    let end = text.find(|each: char| !each.is_alphanumeric() && each != '_').unwrap_or(text.len());
    text.split_at(if starts { end } else { 0 })
}

/// Whether the whole text is a valid name.
pub fn is_name(text: &str) -> bool {
    let (name, rest) = split_name(text);
    !name.is_empty() && rest.is_empty() && !RESERVED.contains(&name)
}

/// The arguments between the parentheses of a call; `None`, when one of them is an expression.
fn arguments(inside: &str) -> Result<Option<Vec<Argument>>, PatternFault> {
    let (mut all, mut rest) = (Vec::new(), inside.trim());
    if rest.is_empty() {
        return Ok(Some(all));
    }
    loop {
        let end = end_of_argument(rest);
        let Some(argument) = argument(rest[..end].trim())? else { return Ok(None) };
        all.push(argument);
        if all.len() > ARGUMENTS_MAX {
            return Err(PatternFault::TooManyArguments);
        }
        match rest[end..].strip_prefix(',') {
            Some(next) => rest = next.trim_start(),
            None if rest[end..].is_empty() => return Ok(Some(all)),
            // A bracket was closed that was not opened here: `f(1) + g(2)`.
            None => return Ok(None),
        }
    }
}

/// The end of an argument: the next comma, or a bracket that does not belong to it.
fn end_of_argument(text: &str) -> usize {
    let (mut depth, mut quote, mut was_escaped) = (0usize, None, false);
    for (at, byte) in text.bytes().enumerate() {
        if let Some(end) = quote {
            let is_end = byte == end && !was_escaped;
            was_escaped = byte == b'\\' && !was_escaped;
            quote = quote.filter(|_| !is_end);
            continue;
        }
        match byte {
            b'\'' | b'"' | b'`' => (quote, was_escaped) = (Some(byte), false),
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => return at,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

fn argument(text: &str) -> Result<Option<Argument>, PatternFault> {
    if let Some(quoted) = quoted(text) {
        return Ok(quoted.map(Argument::Text));
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.starts_with(|each: char| each.is_ascii_digit()) {
        if let Ok(whole) = text.parse() {
            // A number that begins with 0 has another meaning in JavaScript.
            return Ok((digits == "0" || !digits.starts_with('0')).then_some(Argument::Integer(whole)));
        }
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && !digits.starts_with("00"));
        return Ok(number.map(Argument::Number));
    }
    Ok(simple(text)?.map(Argument::Filling))
}

/// A quoted text, without its quotes; `Some(None)` when it is more than one text.
fn quoted(text: &str) -> Option<Option<String>> {
    let quote = text.chars().next().filter(|each| matches!(each, '\'' | '"'))?;
    let mut inside = text[1..].chars();
    let mut out = String::new();
    loop {
        match inside.next() {
            None => return Some(None),
            Some(each) if each == quote => return Some(inside.as_str().is_empty().then_some(out)),
            Some('\\') => match inside.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some('t') => out.push('\t'),
                Some(same @ ('\\' | '\'' | '"' | '`')) => out.push(same),
                // Other escapes of JavaScript are left to it.
                _ => return Some(None),
            },
            Some(each) => out.push(each),
        }
    }
}
