//! Mapping of parser errors to those that users can act on.

use granit_parser::ErrorKind;

use super::DEPTH_MAX;
use crate::diagnostic::SyntaxFault;
use crate::source::{Source, Span};

/// The error, and the position that helps the user: `opening` has the open lists and maps, from the outside in.
pub(super) fn syntax_fault(kind: &ErrorKind, at: usize, source: &Source, opening: &[Span]) -> (Span, SyntaxFault) {
    let here = Span::new(at, at + 1);
    if let Some(tab) = tab_before(source, at) {
        return (tab, SyntaxFault::Tab);
    }
    if let Some(reported) = wide_near(source, at).or_else(|| take_before(at, source, opening)) {
        return reported;
    }
    if let Some(slot) = slot_before(at, source, opening) {
        return (slot, SyntaxFault::SlotInFlow);
    }
    if let Some(reported) = cause_above(kind, at, source, opening) {
        return reported;
    }
    let fault = match kind {
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInIndentation
        | ErrorKind::TabInPlainScalar => SyntaxFault::Tab,
        ErrorKind::InvalidIndentation | ErrorKind::InvalidFlowScalarIndent | ErrorKind::InvalidQuotedScalarIndent => {
            SyntaxFault::Indentation
        }
        ErrorKind::ExpectedBlockMappingKey => SyntaxFault::Indentation,
        ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => SyntaxFault::Colon,
        ErrorKind::MappingKeyNotAllowed | ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => {
            SyntaxFault::KeyHere
        }
        ErrorKind::BlockEntryInFlowCollection
        | ErrorKind::BlockSequenceEntryNotAllowed
        | ErrorKind::InvalidBlockEntryWhitespace
        | ErrorKind::ExpectedBlockSequenceEntry => SyntaxFault::DashHere,
        ErrorKind::UnclosedFlowCollection { open } => return unclosed(*open, here, source, opening),
        ErrorKind::UnexpectedEofFlowSequence => return unclosed('[', here, source, opening),
        ErrorKind::UnexpectedEofFlowMapping | ErrorKind::UnexpectedEofImplicitFlowMapping => {
            return unclosed('{', here, source, opening);
        }
        ErrorKind::MisplacedFlowCollectionEnd | ErrorKind::MismatchedFlowCollectionEnd { .. } => SyntaxFault::Mismatch,
        ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::ExpectedFlowSequenceSeparator => SyntaxFault::Comma,
        ErrorKind::UnclosedQuotedScalar | ErrorKind::DocumentIndicatorInQuotedScalar => SyntaxFault::Quote,
        ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
            SyntaxFault::BehindQuote
        }
        ErrorKind::UnknownQuotedScalarEscape
        | ErrorKind::InvalidQuotedScalarHexEscape
        | ErrorKind::InvalidLowSurrogateHexEscape
        | ErrorKind::InvalidLowSurrogate
        | ErrorKind::MissingLowSurrogate
        | ErrorKind::UnpairedLowSurrogate
        | ErrorKind::InvalidUnicodeEscape => SyntaxFault::Escape,
        ErrorKind::UnexpectedCharacter { character } => SyntaxFault::Character(*character),
        ErrorKind::ZeroBlockScalarIndent
        | ErrorKind::InvalidBlockScalarHeader
        | ErrorKind::InvalidBlockScalarIndent => SyntaxFault::Block,
        ErrorKind::UnknownAnchor | ErrorKind::MissingAnchorOrAliasName => SyntaxFault::Alias,
        ErrorKind::RecursionLimitExceeded => SyntaxFault::TooDeep(DEPTH_MAX),
        ErrorKind::InvalidDocumentEnd | ErrorKind::ExpectedDocumentStart => SyntaxFault::Documents,
        ErrorKind::DirectiveDisallowed | ErrorKind::MissingDocumentEndBeforeDirective => SyntaxFault::Directive,
        ErrorKind::UndeclaredTagHandle | ErrorKind::InvalidTagTerminator | ErrorKind::MissingTagUri => SyntaxFault::Tag,
        _ => SyntaxFault::Other,
    };
    (here, fault)
}

/// Characters that look like those of YAML, and the ones that they should be.
const WIDE: [(char, &str); 17] = [
    ('：', "': '"),
    ('，', "','"),
    ('－', "'-'"),
    ('“', "'\"'"),
    ('”', "'\"'"),
    ('„', "'\"'"),
    ('＂', "'\"'"),
    ('‘', "\"'\""),
    ('’', "\"'\""),
    ('＇', "\"'\""),
    ('｛', "'{'"),
    ('｝', "'}'"),
    ('［', "'['"),
    ('］', "']'"),
    ('＃', "'#'"),
    ('｜', "'|'"),
    ('\u{3000}', "' '"),
];

/// The first such character of a line outside of quotes and comments.
pub(crate) fn wide_in(line: &str) -> Option<(usize, SyntaxFault)> {
    let mut quote = None;
    for (at, sign) in line.char_indices() {
        match (quote, sign) {
            (Some(open), _) if open == sign => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'')
                if line[..at].trim_end().ends_with([':', ',', '{', '[', '-']) || line[..at].trim().is_empty() =>
            {
                quote = Some(sign);
            }
            (None, '#') if at == 0 || line[..at].ends_with([' ', '\t']) => return None,
            (None, _) => {
                if let Some((wide, plain)) = WIDE.iter().find(|(wide, _)| *wide == sign) {
                    return Some((at, SyntaxFault::Wide(*wide, plain)));
                }
            }
        }
    }
    None
}

/// Such a character on the line of an error, or on the last non-empty line above it: a key without its colon is noticed
/// only there.
fn wide_near(source: &Source, at: usize) -> Option<(Span, SyntaxFault)> {
    let line = source.place(at).line;
    let above = (1..line).rev().find(|line| !source.line(*line).trim().is_empty());
    [Some(line), above].into_iter().flatten().find_map(|line| {
        let text = source.line(line);
        let start = text.as_ptr() as usize - source.text.as_ptr() as usize;
        let (at, fault) = wide_in(text)?;
        let length = text[at..].chars().next().map_or(1, char::len_utf8);
        Some((Span::new(start + at, start + at + length), fault))
    })
}

/// An extraction or an expectation within brackets and without quotes: it has brackets of its own.
fn take_before(at: usize, source: &Source, opening: &[Span]) -> Option<(Span, SyntaxFault)> {
    const WORDS: [&str; 3] = ["css ", "json ", "regex "];
    let is_flow = opening.last().is_some_and(|open| source.text[open.start..].starts_with(['[', '{']));
    let line = source.line(source.place(at).line);
    let start = line.as_ptr() as usize - source.text.as_ptr() as usize;
    let before = line.get(..at.saturating_sub(start).min(line.len()))?;
    let word = WORDS.iter().filter_map(|word| Some((before.rfind(word)?, word))).max()?.0;
    let is_bare = before[..word].trim_end().ends_with(':') && before[word..].contains(['[', '{', '@', '(', ' ']);
    (is_flow && is_bare).then(|| (Span::new(start + word, start + before.len().max(word + 1)), SyntaxFault::TextInFlow))
}

/// A slot without quotes, within brackets: its own braces end the text.
fn slot_before(at: usize, source: &Source, opening: &[Span]) -> Option<Span> {
    let is_flow = opening.last().is_some_and(|open| source.text[open.start..].starts_with(['[', '{']));
    let place = source.place(at);
    let start = at.min(source.text.len())
        - source.line(place.line).chars().take(place.column - 1).map(char::len_utf8).sum::<usize>();
    let before = source.text.get(start..at.min(source.text.len()))?;
    let slot = before.rfind("${")?;
    let is_bare = ['"', '\''].iter().all(|quote| before[..slot].matches(*quote).count() % 2 == 0);
    (is_flow && is_bare).then(|| Span::new(start + slot, start + slot + 2))
}

/// Where a key is not allowed, the line above may be wrong: an open bracket, or a colon without its space.
fn cause_above(kind: &ErrorKind, at: usize, source: &Source, opening: &[Span]) -> Option<(Span, SyntaxFault)> {
    let is_surprise = matches!(
        kind,
        ErrorKind::MappingKeyNotAllowed
            | ErrorKind::MappingValueNotAllowed
            | ErrorKind::InvalidColonPlacement
            | ErrorKind::InvalidSimpleKey
            | ErrorKind::SimpleKeyExpected
            | ErrorKind::ExpectedFlowMappingSeparator
            | ErrorKind::ExpectedFlowSequenceSeparator
    );
    let line = source.place(at).line;
    if !is_surprise || line < 2 {
        return None;
    }
    let innermost = opening.iter().rev().find(|open| source.text[open.start..].starts_with(['[', '{']));
    if let Some(open) = innermost.filter(|open| source.place(open.start).line < line) {
        let bracket = if source.text[open.start..].starts_with('[') { '[' } else { '{' };
        return Some((Span::new(open.start, open.start + 1), SyntaxFault::Unclosed(bracket)));
    }
    let above = source.line(line - 1);
    let colon = above.find(':').filter(|_| !above.contains(": ") && !above.trim_end().ends_with(':'))?;
    let is_key = above[..colon].trim().chars().all(|each| each.is_alphanumeric() || matches!(each, '_' | '-' | ' '));
    let start = above.as_ptr() as usize - source.text.as_ptr() as usize + colon;
    is_key.then(|| (Span::new(start, start + 1), SyntaxFault::Colon))
}

/// The innermost open bracket of this kind.
fn unclosed(open: char, here: Span, source: &Source, opening: &[Span]) -> (Span, SyntaxFault) {
    let innermost = opening.iter().rev().find(|at| source.text[at.start..].starts_with(open));
    (innermost.map_or(here, |at| Span::new(at.start, at.start + 1)), SyntaxFault::Unclosed(open))
}

/// A tab that indents the line, or the one before, however the parser interprets it.
fn tab_before(source: &Source, at: usize) -> Option<Span> {
    let line = source.place(at).line;
    [line, line.saturating_sub(1), line + 1].into_iter().filter(|line| *line > 0).find_map(|line| {
        let text = source.line(line);
        let blanks = &text[..text.len() - text.trim_start_matches([' ', '\t']).len()];
        let start = text.as_ptr() as usize - source.text.as_ptr() as usize;
        blanks.find('\t').map(|tab| Span::new(start + tab, start + tab + 1))
    })
}
