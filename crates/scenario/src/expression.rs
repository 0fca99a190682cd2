//! A first check of expressions: certain errors are reported with their position, before anything is compiled.
//!
//! This is no parser of JavaScript. It splits a text into tokens, and knows which cannot follow each other; in doubt it
//! accepts the text, and the compiler decides.

use std::ops::Range;

use plan::{Builtin, Function, SLOT_BYTES_MAX, SLOT_DEPTH_MAX};

use crate::diagnostic::ExpressionFault;

/// The most bytes of an expression.
pub const EXPRESSION_BYTES_MAX: usize = SLOT_BYTES_MAX;

/// Global names of JavaScript that strict functions of variables can use.
const GLOBALS: [&str; 35] = [
    "Array",
    "BigInt",
    "Boolean",
    "Date",
    "Infinity",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "RegExp",
    "Set",
    "String",
    "Symbol",
    "decodeURI",
    "decodeURIComponent",
    "encodeURI",
    "encodeURIComponent",
    "env",
    "escape",
    "false",
    "globalThis",
    "isFinite",
    "isNaN",
    "null",
    "parseFloat",
    "parseInt",
    "this",
    "true",
    "undefined",
    "unescape",
    "Error",
    "Intl",
    "Reflect",
];

/// Words that are operators between values, or before one.
const OPERATOR_WORDS: [&str; 8] = ["in", "instanceof", "typeof", "void", "new", "delete", "of", "await"];
/// Operators of other languages.
const FOREIGN_WORDS: [(&str, &str); 3] = [("and", "&&"), ("or", "||"), ("not", "!")];

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A name, or a keyword.
    Word,
    /// A number, a string, a template.
    Literal,
    /// `(`, `[`, `{`
    Open,
    /// The closing ones.
    Close,
    /// `.` and `?.`
    Dot,
    /// Anything else.
    Operator,
}

#[derive(Clone, Debug)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
    at: usize,
}

impl Token<'_> {
    fn range(&self) -> Range<usize> {
        self.at..self.at + self.text.len()
    }
}

type ExpressionError = (Range<usize>, ExpressionFault);

/// Checks an expression; an error has its position in it.
pub(crate) fn check(text: &str) -> Result<(), ExpressionError> {
    if text.len() > EXPRESSION_BYTES_MAX {
        return Err((0..0, ExpressionFault::TooLong(EXPRESSION_BYTES_MAX)));
    }
    let tokens = tokens(text)?;
    if tokens.is_empty() {
        return Err((0..text.len(), ExpressionFault::Empty));
    }
    brackets(&tokens)?;
    functions(&tokens)?;
    statements(&tokens)?;
    // Functions and objects have statements and keys of their own: they are left to the compiler.
    if is_beyond(&tokens) {
        return Ok(());
    }
    order(&tokens)
}

/// An expression has a value; a statement has none.
fn statements(tokens: &[Token<'_>]) -> Result<(), ExpressionError> {
    const BEGINNINGS: [&str; 11] =
        ["let", "const", "var", "if", "for", "while", "do", "switch", "return", "throw", "try"];
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        let begins = index == 0 && BEGINNINGS.contains(&token.text) && tokens.len() > 1;
        if begins || (token.text == ";" && depth == 0) {
            return Err((token.range(), ExpressionFault::Statement(token.text.to_owned())));
        }
    }
    Ok(())
}

/// Counters belong to the run: no expression can count.
fn functions(tokens: &[Token<'_>]) -> Result<(), ExpressionError> {
    let is_after_dot = |index: usize| index > 0 && tokens[index - 1].kind == Kind::Dot;
    let called = tokens.windows(2).enumerate().find(|(index, two)| {
        two[1].text == "(" && !is_after_dot(*index) && Function::from_name(two[0].text) == Some(Function::Counter)
    });
    called.map_or(Ok(()), |(_, two)| Err((two[0].range(), ExpressionFault::Function(two[0].text.to_owned()))))
}

/// The variables in an expression, each with its position; empty when the expression is too complex for this check.
pub(crate) fn variables(text: &str) -> Vec<(&str, Range<usize>)> {
    let Ok(tokens) = tokens(text) else { return Vec::new() };
    if is_beyond(&tokens) {
        return Vec::new();
    }
    let is_after_dot = |index: usize| index > 0 && tokens[index - 1].kind == Kind::Dot;
    let named = tokens.iter().enumerate().filter(|(index, token)| token.kind == Kind::Word && !is_after_dot(*index));
    let known = |word: &str| {
        let is_of_language = GLOBALS.contains(&word) || OPERATOR_WORDS.contains(&word);
        is_of_language || Builtin::WORDS.contains(&word) || Function::from_name(word).is_some()
    };
    named.filter(|(_, token)| !known(token.text)).map(|(_, token)| (token.text, token.range())).collect()
}

/// The columns in the form `row.column`, with the position of the column.
pub(crate) fn columns<'t>(text: &'t str) -> Vec<(&'t str, &'t str, Range<usize>)> {
    let Ok(tokens) = tokens(text) else { return Vec::new() };
    let is_start = |index: usize| index == 0 || tokens[index - 1].kind != Kind::Dot;
    let starts = tokens.iter().enumerate().filter(|(index, token)| token.kind == Kind::Word && is_start(*index));
    let column = |(index, row): (usize, &Token<'t>)| match tokens.get(index + 1..)? {
        [dot, column, open, close, ..] if is_list([dot, column, open, close]) => None,
        [dot, column, ..] if dot.text == "." && column.kind == Kind::Word => {
            Some((row.text, column.text, column.range()))
        }
        [open, column, close, ..] if (open.text, close.text) == ("[", "]") && column.kind == Kind::Literal => {
            let quote = ['"', '\''].into_iter().find(|quote| column.text.starts_with(*quote))?;
            let name = column.text.strip_prefix(quote)?.strip_suffix(quote)?;
            (!name.contains('\\')).then(|| (row.text, name, column.range()))
        }
        _ => None,
    };
    starts.filter_map(column).collect()
}

/// Whether these tokens follow the name of a row and make a list of all values of a column: `.name[]`
fn is_list(tokens: [&Token<'_>; 4]) -> bool {
    let [dot, column, open, close] = tokens;
    dot.text == "." && column.kind == Kind::Word && (open.text, close.text) == ("[", "]")
}

/// The columns that are used as lists, `row.column[]`, with the position of all of it.
pub(crate) fn lists(text: &str) -> Vec<(&str, &str, Range<usize>)> {
    let Ok(tokens) = tokens(text) else { return Vec::new() };
    let is_start = |index: usize| index == 0 || tokens[index - 1].kind != Kind::Dot;
    let five = tokens.windows(5).enumerate().filter(|(index, five)| {
        let [row, dot, column, open, close] = five else { return false };
        is_start(*index) && row.kind == Kind::Word && is_list([dot, column, open, close])
    });
    five.map(|(_, five)| (five[0].text, five[2].text, five[0].at..five[4].range().end)).collect()
}

/// The name that a list of a column has for evaluators; no variable has such a one.
pub(crate) fn list_name(row: &str, column: &str) -> String {
    format!("{row}${column}")
}

/// An expression with names in the place of lists of columns.
pub(crate) fn without_lists(text: &str) -> String {
    let (mut out, mut from) = (String::new(), 0);
    for (row, column, range) in lists(text) {
        out.push_str(&text[from..range.start]);
        out.push_str(&list_name(row, column));
        from = range.end;
    }
    out.push_str(&text[from..]);
    out
}

/// A word of the program itself, the member behind it, and the position of both.
pub(crate) type BuiltinUse<'t> = (&'t str, Option<&'t str>, Range<usize>);

/// The words of the program itself. One without a member is left out where it could be a key or a parameter.
pub(crate) fn builtins(text: &str) -> Vec<BuiltinUse<'_>> {
    let Ok(tokens) = tokens(text) else { return Vec::new() };
    let is_beyond = is_beyond(&tokens);
    let is_start = |index: usize| index == 0 || tokens[index - 1].kind != Kind::Dot;
    let named = tokens
        .iter()
        .enumerate()
        .filter(|(index, token)| token.kind == Kind::Word && is_start(*index) && Builtin::WORDS.contains(&token.text));
    let with_member = named.map(|(index, word)| match tokens.get(index + 1..index + 3) {
        Some([dot, member]) if dot.kind == Kind::Dot && member.kind == Kind::Word => {
            (word.text, Some(member.text), word.at..member.range().end)
        }
        _ => (word.text, None, word.range()),
    });
    with_member.filter(|(_, member, _)| member.is_some() || !is_beyond).collect()
}

/// Names, also of columns, that stand beside a `+` whose other side is a number: `page + 1`.
pub(crate) fn added_to_numbers(text: &str) -> Vec<(String, Range<usize>)> {
    let Ok(tokens) = tokens(text) else { return Vec::new() };
    let is_number = |token: Option<&Token<'_>>| {
        token.is_some_and(|token| {
            token.kind == Kind::Literal && token.text.starts_with(|one: char| one.is_ascii_digit())
        })
    };
    let ends = |index: usize| tokens.get(index).is_none_or(|next| matches!(next.kind, Kind::Operator | Kind::Close));
    let mut all = Vec::new();
    let is_start = |index: usize| index == 0 || tokens[index - 1].kind != Kind::Dot;
    for (first, token) in tokens.iter().enumerate().filter(|(at, one)| one.kind == Kind::Word && is_start(*at)) {
        let is_column = matches!(tokens.get(first + 1..first + 3), Some([dot, column]) if dot.text == "." && column.kind == Kind::Word);
        let last = if is_column { first + 2 } else { first };
        let (before, behind) =
            (first.checked_sub(1).map(|at| tokens[at].text), tokens.get(last + 1).map(|one| one.text));
        let is_before = before == Some("+") && first >= 2 && is_number(tokens.get(first - 2)) && ends(last + 1);
        // What is multiplied is a number already.
        let is_alone = !matches!(before, Some("*" | "/" | "%" | "-" | "."));
        let is_behind = behind == Some("+") && is_number(tokens.get(last + 2)) && is_alone;
        if is_before || is_behind {
            let range = token.at..tokens[last].range().end;
            all.push((text[range.clone()].split_whitespace().collect(), range));
        }
    }
    all
}

/// Whether the expression may handle absent values: `a ?? b`, `a ? b : c`, `a == null`.
pub(crate) fn asks_whether(text: &str) -> bool {
    tokens(text).is_ok_and(|tokens| {
        let asks = ["??", "?", "?.", "||", "&&", "!", "==", "!=", "===", "!==", "typeof"];
        tokens.iter().any(|token| asks.contains(&token.text))
    })
}

/// Whether it contains a function, an object, a template with slots or the like.
fn is_beyond(tokens: &[Token<'_>]) -> bool {
    tokens.iter().any(|token| {
        matches!(token.text, "=>" | "{" | ";" | "function" | "class" | "let" | "const" | "var" | "/")
            || (token.kind == Kind::Literal && token.text.starts_with('`') && token.text.contains("${"))
    })
}

fn tokens(text: &str) -> Result<Vec<Token<'_>>, ExpressionError> {
    let (mut tokens, mut at) = (Vec::new(), 0);
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let rest = &text[at..];
        let is_word = |each: char| each.is_alphanumeric() || each == '_' || each == '$';
        let (kind, length) = match first {
            '\'' | '"' | '`' => (Kind::Literal, string(rest).ok_or((at..at + 1, ExpressionFault::Quote))?),
            '$' if rest.starts_with("${") => return Err((at..at + 2, ExpressionFault::Slot)),
            _ if first.is_ascii_digit() => {
                (Kind::Literal, rest.find(|each: char| !is_word(each) && each != '.').unwrap_or(rest.len()))
            }
            _ if is_word(first) => (Kind::Word, rest.find(|each| !is_word(each)).unwrap_or(rest.len())),
            '(' | '[' | '{' => (Kind::Open, 1),
            ')' | ']' | '}' => (Kind::Close, 1),
            '.' if rest.starts_with("...") => (Kind::Operator, 3),
            '.' => (Kind::Dot, 1),
            '?' if rest.starts_with("?.") => (Kind::Dot, 2),
            _ => (Kind::Operator, operator(rest)),
        };
        tokens.push(Token { kind, text: &rest[..length], at });
        at += length;
    }
    Ok(tokens)
}

/// The length of an operator.
fn operator(text: &str) -> usize {
    const LONG: [&str; 27] = [
        ">>>=", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=", "<=", ">=", "&&",
        "||", "??", "++", "--", "+=", "-=", "*=", "/=", "**", "<<", ">>",
    ];
    let long = LONG.iter().find(|operator| text.starts_with(**operator)).map(|operator| operator.len());
    long.unwrap_or_else(|| text.chars().next().map_or(1, char::len_utf8))
}

/// The length of a string, with its quotes.
fn string(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut was_escaped = false;
    for (at, each) in text.char_indices().skip(1) {
        if each == quote && !was_escaped {
            return Some(at + 1);
        }
        was_escaped = each == '\\' && !was_escaped;
    }
    None
}

fn brackets(tokens: &[Token<'_>]) -> Result<(), ExpressionError> {
    let mut open: Vec<&Token<'_>> = Vec::new();
    for token in tokens {
        match token.kind {
            Kind::Open => open.push(token),
            Kind::Close => {
                let opened = open.pop().map(|token| token.text);
                let wanted = match token.text {
                    ")" => "(",
                    "]" => "[",
                    _ => "{",
                };
                if opened != Some(wanted) {
                    return Err((token.range(), ExpressionFault::Brackets));
                }
            }
            _ => {}
        }
        if open.len() > SLOT_DEPTH_MAX {
            return Err((token.range(), ExpressionFault::Brackets));
        }
    }
    open.last().map_or(Ok(()), |token| Err((token.range(), ExpressionFault::Brackets)))
}

/// Checks that values and operators alternate.
fn order(tokens: &[Token<'_>]) -> Result<(), ExpressionError> {
    // Whether a value has just ended.
    let mut is_behind_value = false;
    for (index, token) in tokens.iter().enumerate() {
        let is_after_dot = index > 0 && tokens[index - 1].kind == Kind::Dot;
        match token.kind {
            Kind::Word if is_after_dot => is_behind_value = true,
            Kind::Word if OPERATOR_WORDS.contains(&token.text) => is_behind_value = false,
            Kind::Word | Kind::Literal => {
                // `not` comes before a value, and the others after one.
                let is_prefix = !is_behind_value
                    && matches!(tokens.get(index + 1).map(|next| next.kind), Some(Kind::Word | Kind::Literal));
                if let Some((word, meant)) = FOREIGN_WORDS.iter().find(|(word, _)| *word == token.text)
                    && (is_behind_value || is_prefix)
                {
                    return Err((token.range(), ExpressionFault::Word((*word).to_owned(), meant)));
                }
                if is_behind_value {
                    let text = crate::diagnostic::shortened(token.text);
                    return Err((token.range(), ExpressionFault::Operator(text)));
                }
                is_behind_value = true;
            }
            Kind::Open => is_behind_value = false,
            Kind::Close => is_behind_value = true,
            Kind::Dot => {}
            Kind::Operator => {
                if is_assignment(token.text) {
                    return Err((token.range(), ExpressionFault::Assignment));
                }
                is_behind_value = false;
            }
        }
    }
    match tokens.last() {
        Some(last) if matches!(last.kind, Kind::Operator | Kind::Dot) || OPERATOR_WORDS.contains(&last.text) => {
            Err((last.range(), ExpressionFault::Operand(last.text.to_owned())))
        }
        _ => Ok(()),
    }
}

fn is_assignment(text: &str) -> bool {
    let is_comparison = ["==", "!=", "<=", ">=", "===", "!==", "=>"].contains(&text);
    (text.ends_with('=') && !is_comparison) || text == "++" || text == "--"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_surely_wrong_is_reported() {
        for good in [
            "price < 100",
            "state == \"paid\"",
            "!ready && (count >= 3 || list[0].ok)",
            "users.name.length > 2 ? a : b",
            "typeof x === 'string'",
            "'k' in order",
            "list.filter(x => x.price < 10).length",
            "({a: 1}).a",
            "`${a}-${b}` == c",
            "Math.max(a, b) % 2",
            "a?.b ?? -1",
            "/^a.b/.test(name)",
            "价格 < 100",
            "5 - -3 > 1e3",
            "(() => { let x = 1; return x; })()",
            "a + uuid()",
            "base64(id + ':' + key)",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        let word = |word: &str, meant| ExpressionFault::Word(word.to_owned(), meant);
        for (bad, at, fault) in [
            ("", 0..0, ExpressionFault::Empty),
            ("  ", 0..2, ExpressionFault::Empty),
            ("state = \"paid\"", 6..7, ExpressionFault::Assignment),
            ("n++", 1..3, ExpressionFault::Assignment),
            ("n += 1", 2..4, ExpressionFault::Assignment),
            ("price 100", 6..9, ExpressionFault::Operator("100".to_owned())),
            ("price <", 6..7, ExpressionFault::Operand("<".to_owned())),
            ("a.", 1..2, ExpressionFault::Operand(".".to_owned())),
            ("a and b", 2..5, word("and", "&&")),
            ("a or b", 2..4, word("or", "||")),
            ("not a", 0..3, word("not", "!")),
            ("(a < 1", 0..1, ExpressionFault::Brackets),
            ("a[0)", 3..4, ExpressionFault::Brackets),
            ("a == 'x", 5..6, ExpressionFault::Quote),
            ("${a} < 1", 0..2, ExpressionFault::Slot),
            ("let x=1; x", 0..3, ExpressionFault::Statement("let".to_owned())),
            ("a; b", 1..2, ExpressionFault::Statement(";".to_owned())),
            ("return a", 0..6, ExpressionFault::Statement("return".to_owned())),
            ("if (a) b", 0..2, ExpressionFault::Statement("if".to_owned())),
            ("a + counter()", 4..11, ExpressionFault::Function("counter".to_owned())),
        ] {
            assert_eq!(check(bad), Err((at, fault)), "{bad}");
        }
        let long = "a".repeat(EXPRESSION_BYTES_MAX + 1);
        assert!(matches!(check(&long), Err((_, ExpressionFault::TooLong(_)))));
    }

    #[test]
    fn names_are_reported_from_the_words_of_the_language() {
        for (text, names) in [
            ("price < limit.max && true", &["price", "limit"][..]),
            ("Math.max(a, 'b', c.d.e)", &["a", "c"]),
            ("typeof x == 'y'", &["x"]),
            ("list.map(x => x.y)", &[]),
            ("env.HOME == home", &["home"]),
        ] {
            assert_eq!(variables(text).into_iter().map(|(name, _)| name).collect::<Vec<_>>(), names, "{text}");
        }
        assert_eq!(columns("a['b c'] == b[0] + c[d] + e['\\n'] + x.y['z']"), [("a", "b c", 2..7), ("x", "y", 38..39)]);
        assert_eq!(columns("a.b[] + c.d[0]"), [("c", "d", 10..11)]);
        assert_eq!(lists("x in a.b[] && c.d.e[]"), [("a", "b", 5..10)]);
        assert_eq!(without_lists("a.b[].includes(c.d[0]) && e.f [ ].length"), "a$b.includes(c.d[0]) && e$f.length");
        assert_eq!(columns("a.b.c == users.name"), [("a", "b", 2..3), ("users", "name", 15..19)]);
    }

    #[test]
    fn words_of_the_program_are_no_variables() {
        assert_eq!(variables("vu.id == a && response.failed"), [("a", 9..10)]);
        for (text, uses) in [
            ("vu.id + a.vu", &[("vu", Some("id"), 0..5)][..]),
            ("a || response?.status >= 400", &[("response", Some("status"), 5..21)]),
            ("loop + 1", &[("loop", None, 0..4)]),
            ("list.map(loop => loop.index)", &[("loop", Some("index"), 17..27)]),
            ("'vu.id'", &[]),
        ] {
            assert_eq!(builtins(text), uses, "{text}");
        }
    }
}
