//! The line of an error with the quotes that YAML needs around its text, where quotes are the remedy.

use crate::diagnostic::{Diagnostic, DiagnosticSink, ExpressionFault, Problem, SyntaxFault};
use crate::source::Source;
use crate::tree;

/// The most ways to set quotes that are tried.
const TRIES_MAX: usize = 6;
/// The largest file that is read again for it.
const SOURCE_BYTES_MAX: usize = 256 * 1024;

/// The line of an error with quotes added, without its indentation; `None`: quotes are no remedy.
pub fn with_quotes(source: &Source, mistake: &Diagnostic) -> Option<String> {
    let is_own = source.name_at(mistake.at.start) == source.name;
    if !is_own || source.text.len() > SOURCE_BYTES_MAX {
        return None;
    }
    let number = source.place(mistake.at.start).line;
    let line = source.line(number);
    let start = line.as_ptr() as usize - source.text.as_ptr() as usize;
    let at = mistake.at.start.saturating_sub(start).min(line.len());
    let candidates = match &mistake.fault {
        Problem::Syntax(fault) if may_need_quotes(fault) => {
            let mut all = within_brackets(line, at);
            all.extend(behind_key(line));
            all
        }
        // A comma in braces ends the text, and # begins a comment.
        Problem::Expression(ExpressionFault::Brackets) => within_brackets(line, at),
        Problem::Expression(_) if line.contains(" #") => behind_key(line).into_iter().collect(),
        _ => return None,
    };
    let is_read = |changed: &&String| {
        let text = [&source.text[..start], changed, &source.text[start + line.len()..]].concat();
        let (again, mut found) = (Source::new(&source.name, &text), DiagnosticSink::default());
        let _ = tree::build(&again, &mut found);
        let left = found.into_mistakes(again);
        left.all.iter().all(|other| left.source.place(other.at.start).line > number)
    };
    candidates.iter().take(TRIES_MAX).find(is_read).map(|line| line.trim().to_owned())
}

fn may_need_quotes(fault: &SyntaxFault) -> bool {
    matches!(
        fault,
        SyntaxFault::Tag
            | SyntaxFault::KeyHere
            | SyntaxFault::Colon
            | SyntaxFault::BehindQuote
            | SyntaxFault::Comma
            | SyntaxFault::Mismatch
            | SyntaxFault::Indentation
            | SyntaxFault::Character(_)
            | SyntaxFault::Block
            | SyntaxFault::TextInFlow
            | SyntaxFault::SlotInFlow
            | SyntaxFault::Unclosed(_)
            | SyntaxFault::Other
    )
}

/// `key: text` with quotes around all of the text.
fn behind_key(line: &str) -> Option<String> {
    let colon = line.find(": ")?;
    let key = line[..colon].trim_start_matches([' ', '-']);
    let value = line[colon + 2..].trim();
    let is_whole = value.starts_with('{') && value.ends_with('}') || value.starts_with('[') && value.ends_with(']');
    let is_key = !key.is_empty() && key.chars().all(|each| each.is_alphanumeric() || "_-.".contains(each));
    (is_key && !is_whole && !value.is_empty()).then(|| format!("{}: {}", &line[..colon], quoted(value)))
}

/// The same within brackets, where the text ends before a comma or a closing bracket: from the shortest on.
fn within_brackets(line: &str, at: usize) -> Vec<String> {
    let end = (at..=line.len()).find(|end| line.is_char_boundary(*end)).unwrap_or(line.len());
    let Some(colon) = line[..end].rfind(": ").filter(|colon| line[..*colon].contains(['{', '['])) else {
        return Vec::new();
    };
    let from = colon + 2;
    let ends = line[from..].match_indices([',', '}', ']']).map(|(end, _)| from + end).chain([line.len()]);
    let fits = |end: &usize| *end > from && is_balanced(&line[from..*end]);
    let with = |end: usize| format!("{}{}{}", &line[..from], quoted(line[from..end].trim_end()), &line[end..]);
    ends.filter(fits).map(with).collect()
}

/// Whether each bracket in a text is closed in it.
fn is_balanced(text: &str) -> bool {
    let mut open = Vec::new();
    for each in text.chars() {
        match each {
            '(' | '[' | '{' => open.push(each),
            ')' | ']' | '}' => {
                let is_closed = matches!((open.pop(), each), (Some('('), ')') | (Some('['), ']') | (Some('{'), '}'));
                if !is_closed {
                    return false;
                }
            }
            _ => {}
        }
    }
    open.is_empty()
}

/// A text in single quotes, or in double quotes where it has single ones and nothing to escape.
fn quoted(text: &str) -> String {
    match text.contains('\'') && !text.contains(['"', '\\']) {
        true => format!("\"{text}\""),
        false => format!("'{}'", text.replace('\'', "''")),
    }
}
