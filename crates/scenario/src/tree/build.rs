//! Building of the tree from events. Errors are reported, and as much as possible is read on.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, Span as Marks, StructureStyle, options};

use super::scan_error::syntax_fault;
use super::{DEPTH_MAX, Key, Node, Scalar, VALUE_BYTES_MAX, VALUES_MAX, Value};
use crate::diagnostic::{DiagnosticSink, Problem, SyntaxFault, shortened};
use crate::source::{Source, Span};

/// An unfinished list or map.
struct Open {
    at: Span,
    anchor: usize,
    is_flow: bool,
    kind: Kind,
}

enum Kind {
    List(Vec<Node>),
    Map(Pairs, Option<Key>),
}

/// The pairs of a map, with the index of each key.
#[derive(Default)]
struct Pairs {
    all: Vec<(Key, Node)>,
    index: HashMap<String, usize>,
}

struct Builder<'a> {
    source: &'a Source,
    found: &'a mut DiagnosticSink,
    open: Vec<Open>,
    /// Values with an anchor; `None` for an unfinished one.
    anchors: HashMap<usize, Option<Node>>,
    root: Option<Node>,
    values: usize,
    bytes: usize,
}

/// The tree of a file, and the position up to which it could be read: after its end, when nothing stopped the parser.
pub(crate) fn build(source: &Source, found: &mut DiagnosticSink) -> (Option<Node>, usize) {
    let limits = options! {
        disallow_directives: true,
        emit_comments: false,
        flow_nesting_limit: DEPTH_MAX,
        block_nesting_limit: DEPTH_MAX,
    };
    let (anchors, values) = (HashMap::new(), 0);
    let mut builder = Builder { source, found, open: Vec::new(), anchors, root: None, values, bytes: 0 };
    for event in Parser::new_from_str_with_options(&source.text, limits) {
        let stopped = match event {
            Ok((event, marks)) => {
                let tag = marks.tag_span().map(|marks| span_of(&marks));
                builder.take(event, span_of(&marks), tag)
            }
            Err(error) => {
                let at = error.marker().byte_offset().unwrap_or(0);
                let (at, fault) = syntax_fault(error.kind(), at, source, &builder.opening());
                Err((at, fault))
            }
        };
        if let Err((at, fault)) = stopped {
            builder.found.add(at, Problem::Syntax(fault));
            while !builder.open.is_empty() {
                builder.close();
            }
            return (builder.root, at.start);
        }
    }
    (builder.root, usize::MAX)
}

fn span_of(marks: &Marks) -> Span {
    Span::new(marks.start.byte_offset().unwrap_or(0), marks.end.byte_offset().unwrap_or(0))
}

type Stop = Result<(), (Span, SyntaxFault)>;

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, at: Span, tag_at: Option<Span>) -> Stop {
        if let Some(at) = tag_at {
            self.emit(at, SyntaxFault::Tag);
        }
        match event {
            Event::DocumentStart(..) if self.root.is_some() => Err((at, SyntaxFault::Documents)),
            Event::Scalar(text, style, anchor, _) => {
                let is_text = style != ScalarStyle::Plain;
                self.count(at, 1, text.len())?;
                // An empty value has no position of its own: the previous one is nearer than the next line.
                let at = if at.start == at.end { self.behind_key(at) } else { at };
                // A tag alone was text that begins with !, and that is reported.
                let value = match tag_at {
                    Some(_) if text.is_empty() && !is_text => Value::Broken,
                    _ => Value::Scalar(Scalar { text: text.into_owned(), is_plain: !is_text }),
                };
                let node = Node { at, value };
                self.keep(anchor, &node);
                self.put(node);
                Ok(())
            }
            Event::SequenceStart(style, anchor, _) => {
                self.open(at, anchor, style == StructureStyle::Flow, Kind::List(Vec::new()))
            }
            Event::MappingStart(style, anchor, _) => {
                self.open(at, anchor, style == StructureStyle::Flow, Kind::Map(Pairs::default(), None))
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(open) = self.open.last_mut() {
                    open.at.end = if open.is_flow { at.end } else { at.start.max(open.at.start) };
                }
                self.close();
                Ok(())
            }
            Event::Alias(id) => self.repeat(id, at),
            _ => Ok(()),
        }
    }

    fn emit(&mut self, at: Span, fault: SyntaxFault) {
        self.found.add(at, Problem::Syntax(fault));
    }

    fn open(&mut self, at: Span, anchor: usize, is_flow: bool, kind: Kind) -> Stop {
        if anchor != 0 {
            self.anchors.insert(anchor, None);
        }
        if self.open.len() >= DEPTH_MAX {
            return Err((at, SyntaxFault::TooDeep(DEPTH_MAX)));
        }
        self.count(at, 1, 0)?;
        self.open.push(Open { at, anchor, is_flow, kind });
        Ok(())
    }

    fn close(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let value = match open.kind {
            Kind::List(items) => Value::List(items),
            Kind::Map(pairs, _) => Value::Map(pairs.all),
        };
        let node = Node { at: open.at, value };
        self.keep(open.anchor, &node);
        self.put(node);
    }

    fn keep(&mut self, anchor: usize, node: &Node) {
        if anchor != 0 {
            self.anchors.insert(anchor, Some(node.clone()));
        }
    }

    /// An alias repeats the value of its anchor.
    fn repeat(&mut self, id: usize, at: Span) -> Stop {
        match self.anchors.get(&id) {
            Some(Some(node)) => {
                let (values, bytes, depth) = weight(node);
                if self.open.len() + depth > DEPTH_MAX {
                    return Err((at, SyntaxFault::TooDeep(DEPTH_MAX)));
                }
                self.count(at, values, bytes)?;
                let node = self.anchors.get(&id).cloned().flatten().expect("it was there");
                self.put(node);
            }
            _ => {
                self.emit(at, SyntaxFault::AliasCycle);
                self.put(Node { at, value: Value::Broken });
            }
        }
        Ok(())
    }

    fn count(&mut self, at: Span, values: usize, bytes: usize) -> Stop {
        self.values += values;
        self.bytes += bytes;
        match () {
            () if self.values > VALUES_MAX => Err((at, SyntaxFault::TooLarge(VALUES_MAX))),
            () if self.bytes > VALUE_BYTES_MAX => Err((at, SyntaxFault::TooManyBytes(VALUE_BYTES_MAX))),
            () => Ok(()),
        }
    }

    /// The position after the key that waits for its value.
    fn behind_key(&self, at: Span) -> Span {
        match self.open.last() {
            Some(Open { kind: Kind::Map(_, Some(key)), .. }) => key.at,
            _ => at,
        }
    }

    /// The open containers, from the outside in: the position, and whether it is a map in braces.
    fn opening(&self) -> Vec<Span> {
        self.open.iter().map(|open| open.at).collect()
    }

    fn put(&mut self, node: Node) {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        match &mut open.kind {
            Kind::List(items) => items.push(node),
            Kind::Map(pairs, waiting) => match waiting.take() {
                Some(key) if key.name == "<<" => self.merge(&key, node),
                Some(key) => pairs.add(self.source, self.found, key, node),
                None => *waiting = Some(key_of(self.source, self.found, open.at, node)),
            },
        }
    }

    /// Merges `<<: *base`: the keys that the map does not have itself.
    fn merge(&mut self, key: &Key, node: Node) {
        let maps = match node.value {
            Value::List(items) => items,
            _ => vec![node],
        };
        let Some(Open { kind: Kind::Map(pairs, _), .. }) = self.open.last_mut() else { return };
        for map in maps {
            match map.value {
                Value::Map(merged) => {
                    for (name, value) in merged {
                        // A key of its own wins, also where it comes later: see `Pairs::add`.
                        if !pairs.index.contains_key(&name.name) {
                            pairs.push(Key { is_merged: true, ..name }, value);
                        }
                    }
                }
                Value::Broken => {}
                _ => self.found.add(key.at, Problem::Syntax(SyntaxFault::Merge)),
            }
        }
    }
}

impl Pairs {
    /// Adds a value under a key that is not there yet; a merged one is replaced.
    fn add(&mut self, source: &Source, found: &mut DiagnosticSink, key: Key, node: Node) {
        match self.index.get(&key.name).map(|at| &mut self.all[*at]) {
            Some(pair) if pair.0.is_merged => *pair = (key, node),
            Some((first, _)) if !key.is_broken => {
                let first = source.place(first.at.start).line;
                found.add(key.at, Problem::DuplicateKey { key: shortened(&key.name), first });
            }
            _ => self.push(key, node),
        }
    }

    fn push(&mut self, key: Key, node: Node) {
        self.index.insert(key.name.clone(), self.all.len());
        self.all.push((key, node));
    }
}

fn key_of(source: &Source, found: &mut DiagnosticSink, map: Span, node: Node) -> Key {
    let at = node.at;
    match node.value {
        Value::Scalar(scalar) => Key { at, name: scalar.text, is_merged: false, is_broken: false },
        other => {
            let is_double = matches!(other, Value::Map(_)) && source.text[map.start..].starts_with("{{");
            let fault = if is_double { SyntaxFault::Braces } else { SyntaxFault::Key };
            let at = if is_double { Span::new(map.start, map.start + 2) } else { at };
            found.add(at, Problem::Syntax(fault));
            // It has no name, so it is never looked up, and not reported a second time.
            Key { at, name: String::new(), is_merged: false, is_broken: true }
        }
    }
}

/// The number of values and bytes of a tree, and its depth.
fn weight(node: &Node) -> (usize, usize, usize) {
    match &node.value {
        Value::Scalar(scalar) => (1, scalar.text.len(), 0),
        Value::Broken => (1, 0, 0),
        Value::List(items) => sum(items.iter().map(weight)),
        Value::Map(pairs) => sum(pairs.iter().map(|(key, value)| {
            let (values, bytes, depth) = weight(value);
            (values + 1, bytes + key.name.len(), depth)
        })),
    }
}

fn sum(all: impl Iterator<Item = (usize, usize, usize)>) -> (usize, usize, usize) {
    let (values, bytes, depth) =
        all.fold((1, 0, 0), |one, other| (one.0 + other.0, one.1 + other.1, one.2.max(other.2)));
    (values, bytes, depth + 1)
}
