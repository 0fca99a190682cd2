//! Reads values of the tree into their types. Errors are reported, and the rest is read on.

mod fields;
mod json;
mod meant;

pub(crate) use fields::Fields;
pub(crate) use meant::{home, meant};

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use plan::{Builtin, Pattern, PlanError, TextContext, did_you_mean, parse_count, parse_duration, parse_span};

use crate::diagnostic::{DiagnosticSink, FoundInstead, NameFault, Problem, Wanted, shortened};
use crate::expression;
use crate::file::{Expression, Name};
use crate::source::{Source, Span};
use crate::tree::{Node, Scalar, Value, wide_in};

/// The shortest time that a load or a timeout takes.
const MILLI: Duration = Duration::from_millis(1);

/// The shortest word for a suggestion: a shorter one is near to too many others.
const NEAR_BYTES_MIN: usize = 3;

/// The reader: the file, its diagnostics, and the source of other files.
pub(crate) struct Reader<'a> {
    pub(crate) source: &'a Source,
    pub(crate) found: DiagnosticSink,
    pub(crate) files: &'a dyn Files,
    /// The base of relative URLs.
    pub(crate) target: Target,
    /// Names that the file defines, also where the rest of the definition was wrong.
    pub(crate) names: Vec<String>,
}

/// The base of relative URLs, as far as it is known before a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Target {
    /// There is none.
    #[default]
    None,
    /// A slot determines it, or it was wrong.
    Open,
    /// A sample with its slots filled.
    Like(String),
}

/// The source of data files.
pub trait Files {
    /// The first bytes of a file, at most `most`; its path as written.
    ///
    /// # Errors
    /// The error of the system.
    fn head(&self, path: &Path, most: usize) -> std::io::Result<Vec<u8>>;

    /// The number of files in a folder.
    ///
    /// # Errors
    /// The error of the system.
    fn folder(&self, _: &Path) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::NotFound.into())
    }

    /// The first bytes of a file that is brought in, which must be in the folder of the scenario file.
    ///
    /// # Errors
    /// The error of the system, or the file is elsewhere.
    fn include(&self, path: &Path, most: usize) -> std::io::Result<Vec<u8>> {
        self.head(path, most)
    }
}

/// The result of reading a value: `None` when an error was reported.
pub(crate) type Read<T> = Option<T>;

impl<'a> Reader<'a> {
    pub(crate) fn new(source: &'a Source, files: &'a dyn Files) -> Self {
        Self { source, found: DiagnosticSink::default(), files, target: Target::None, names: Vec::new() }
    }
}

impl Reader<'_> {
    pub(crate) fn emit<T>(&mut self, at: Span, fault: Problem) -> Read<T> {
        self.found.add(at, fault);
        None
    }

    /// Reports a full-width character in the place of the YAML one, where a value of a few words or its first key has
    /// one; returns false when there is none.
    pub(crate) fn report_wide(&mut self, node: &Node) -> bool {
        let (text, at) = match &node.value {
            Value::Scalar(scalar) if scalar.is_plain => (scalar.text.as_str(), node.at),
            Value::Map(pairs) => match pairs.first() {
                Some((key, _)) => (key.name.as_str(), key.at),
                None => return false,
            },
            _ => return false,
        };
        let Some((from, fault)) = wide_in(text) else { return false };
        let length = text[from..].chars().next().map_or(1, char::len_utf8);
        let is_direct = self.source.slice(at).starts_with(text);
        let at = if is_direct { Span::new(at.start + from, at.start + from + length) } else { at };
        self.found.add(at, Problem::Syntax(fault));
        true
    }

    /// Reports that another kind of value is expected here.
    pub(crate) fn wrong<T>(&mut self, node: &Node, wanted: Wanted) -> Read<T> {
        if self.report_wide(node) {
            return None;
        }
        let given = match &node.value {
            Value::Broken => return None,
            Value::List(_) => FoundInstead::List,
            Value::Map(pairs) => {
                if pairs.iter().any(|(key, _)| key.is_broken) {
                    // The error of the key was reported.
                    return None;
                }
                FoundInstead::Map
            }
            Value::Scalar(scalar) if scalar.is_null() => FoundInstead::Nothing,
            Value::Scalar(scalar) => FoundInstead::text(&scalar.text),
        };
        self.emit(node.at, Problem::Wrong { wanted, given })
    }

    fn scalar<'n>(&mut self, node: &'n Node, wanted: Wanted) -> Read<&'n Scalar> {
        match &node.value {
            Value::Scalar(scalar) if !scalar.is_null() => Some(scalar),
            _ => self.wrong(node, wanted),
        }
    }

    /// A text as written, including any slots.
    pub(crate) fn raw_text<'n>(&mut self, node: &'n Node) -> Read<&'n str> {
        self.scalar(node, Wanted::Text).map(|scalar| scalar.text.as_str())
    }

    /// A text without slots.
    pub(crate) fn text<'n>(&mut self, node: &'n Node) -> Read<&'n str> {
        let text = self.raw_text(node)?;
        match text.find("${") {
            Some(start) => self.emit(self.within(node, start..start + 2), Problem::SlotHere),
            None => Some(text),
        }
    }

    /// The same as an owned string.
    pub(crate) fn owned(&mut self, node: &Node) -> Read<String> {
        self.text(node).map(str::to_owned)
    }

    pub(crate) fn path(&mut self, node: &Node) -> Read<PathBuf> {
        self.text(node).map(PathBuf::from)
    }

    /// A text with slots, with their positions in the file.
    pub(crate) fn pattern(&mut self, node: &Node, ground: TextContext) -> Read<Pattern> {
        let text = self.raw_text(node)?;
        self.pattern_of(node, text, 0, ground)
    }

    /// The same for a part of a text, which begins at `from`.
    pub(crate) fn pattern_of(&mut self, node: &Node, text: &str, from: usize, ground: TextContext) -> Read<Pattern> {
        // Computed once: a text may have thousands of slots.
        let direct = self.direct(node);
        let place = |piece: Range<usize>| piece_of(node, direct, from + piece.start..from + piece.end);
        let mut pattern = match Pattern::parse(text, ground) {
            Ok(pattern) => pattern,
            Err(error) => return self.emit(place(error.at), Problem::Pattern(error.fault)),
        };
        for slot in pattern.slots_mut() {
            let at = place(slot.at.clone());
            slot.at = at.start..at.end;
            if slot.filling == plan::Filling::Expression
                && let Err((part, fault)) = expression::check(&slot.text)
            {
                let at = direct.map_or(at, |_| Span::new(at.start + part.start, at.start + part.end));
                self.found.add(at, Problem::Expression(fault));
            }
        }
        Some(pattern)
    }

    pub(crate) fn expression(&mut self, node: &Node) -> Read<Expression> {
        let text = self.raw_text(node)?;
        self.expression_of(node, text, 0)
    }

    /// The same for a part of a text, which begins at `from`.
    pub(crate) fn expression_of(&mut self, node: &Node, text: &str, from: usize) -> Read<Expression> {
        let place = |piece: Range<usize>| from + piece.start..from + piece.end;
        match expression::check(text) {
            Ok(()) => {
                let at = self.within(node, place(0..text.len()));
                Some(Expression { text: text.to_owned(), at })
            }
            Err((at, fault)) => self.emit(self.within(node, place(at)), Problem::Expression(fault)),
        }
    }

    /// The position of a node's text in the file; `None` when it is written differently from its value.
    fn direct(&self, node: &Node) -> Option<usize> {
        let Value::Scalar(scalar) = &node.value else { return None };
        let whole = self.source.slice(node.at);
        let is_quoted = whole.len() == scalar.text.len() + 2 && whole.get(1..whole.len() - 1) == Some(&scalar.text);
        (is_quoted || whole == scalar.text).then(|| node.at.start + usize::from(is_quoted))
    }

    /// The position of a piece of a text in the file: the whole text, when it is written differently from its value.
    pub(crate) fn within(&self, node: &Node, piece: Range<usize>) -> Span {
        piece_of(node, self.direct(node), piece)
    }

    pub(crate) fn switch(&mut self, node: &Node) -> Read<bool> {
        match &node.value {
            Value::Scalar(scalar) => match scalar.as_switch() {
                Some(switch) => Some(switch),
                None if scalar.is_doubtful_switch() => {
                    self.emit(node.at, Problem::Boolean { given: scalar.text.clone() })
                }
                None => self.wrong(node, Wanted::Switch),
            },
            _ => self.wrong(node, Wanted::Switch),
        }
    }

    /// The text of a count or a measure.
    pub(crate) fn measure<'n>(&mut self, node: &'n Node, wanted: Wanted) -> Read<&'n str> {
        let scalar = self.scalar(node, wanted)?;
        if scalar.is_doubtful_number() {
            return self.emit(node.at, Problem::Octal { given: shortened(&scalar.text) });
        }
        if scalar.as_switch().is_some() || !scalar.text.contains(|each: char| each.is_ascii_digit()) {
            return self.wrong(node, wanted);
        }
        Some(&scalar.text)
    }

    /// The result of a flag parser.
    pub(crate) fn value<T>(&mut self, at: Span, read: Result<T, PlanError>) -> Read<T> {
        read.map_or_else(|error| self.emit(at, Problem::Value(error.without_secrets())), Some)
    }

    pub(crate) fn count(&mut self, key: &'static str, node: &Node, least: u64, most: u64) -> Read<u64> {
        let text = self.measure(node, Wanted::Number)?;
        self.value(node.at, parse_count(key, text, least, most))
    }

    pub(crate) fn time(&mut self, key: &'static str, node: &Node) -> Read<Duration> {
        let text = self.measure(node, Wanted::Time)?;
        self.value(node.at, parse_duration(key, text))
    }

    /// A time above zero.
    pub(crate) fn span(&mut self, key: &'static str, node: &Node) -> Read<Duration> {
        let text = self.measure(node, Wanted::Time)?;
        self.value(node.at, parse_span(key, text, MILLI))
    }

    /// One of a set of words.
    pub(crate) fn word<T: Copy>(&mut self, node: &Node, words: &[(&str, T)]) -> Read<T> {
        let text = self.text(node)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let known = words.iter().map(|(word, _)| *word);
        // Words of a letter or two are all near to each other.
        let near = did_you_mean(text, known.clone()).filter(|_| text.len() >= NEAR_BYTES_MIN).map(str::to_owned);
        let known = known.collect::<Vec<_>>().join(", ");
        self.emit(node.at, Problem::Choice { given: shortened(text), near, known })
    }

    /// Each item of a list, or a single item without a list.
    pub(crate) fn one_or_more<T>(&mut self, node: &Node, mut read: impl FnMut(&mut Self, &Node) -> Read<T>) -> Vec<T> {
        match &node.value {
            Value::List(items) => items.iter().filter_map(|item| read(self, item)).collect(),
            Value::Scalar(scalar) if !scalar.is_null() => read(self, node).into_iter().collect(),
            _ => self.wrong::<T>(node, Wanted::TextOrList).into_iter().collect(),
        }
    }

    pub(crate) fn list<'n>(&mut self, node: &'n Node, wanted: Wanted) -> &'n [Node] {
        match &node.value {
            Value::List(items) => items,
            _ => {
                self.wrong::<()>(node, wanted);
                &[]
            }
        }
    }

    /// Arbitrary names with their values.
    pub(crate) fn named<'n>(&mut self, node: &'n Node) -> Vec<(&'n str, Span, &'n Node)> {
        match &node.value {
            Value::Map(pairs) => {
                let named = pairs.iter().filter(|(key, _)| !key.is_broken);
                named.map(|(key, node)| (key.name.as_str(), key.at, node)).collect()
            }
            _ => {
                self.wrong::<()>(node, Wanted::Map);
                Vec::new()
            }
        }
    }

    /// A name that slots and expressions can use.
    pub(crate) fn name(&mut self, text: &str, at: Span) -> Read<Name> {
        self.names.push(text.to_owned());
        let fault = match text {
            "env" => NameFault::Environment,
            _ if Builtin::WORDS.contains(&text) => NameFault::Reserved(text.to_owned()),
            _ if plan::is_name(text) => return Some(Name { text: text.to_owned(), at }),
            _ => NameFault::Bad(shortened(text)),
        };
        self.emit(at, Problem::Name(fault))
    }
}

/// A piece of a text at its position, or all of the text.
fn piece_of(node: &Node, direct: Option<usize>, piece: Range<usize>) -> Span {
    direct.map_or(node.at, |start| Span::new(start + piece.start, start + piece.end))
}
