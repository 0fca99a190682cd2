//! Files that a file brings in: they are read with it, and their positions are behind its own.

use std::path::{Component, Path};

use crate::FILE_BYTES_MAX;
use crate::diagnostic::{DiagnosticSink, IncludeFault, Problem, shortened};
use crate::reader::Files;
use crate::source::{Source, Span};
use crate::tree::{self, Node, Value};

/// The key that names them.
const INCLUDE: &str = "include";
/// The most files that a file brings in.
const FILES_MAX: usize = 64;
/// The most files that bring each other in.
const DEEP_MAX: usize = 16;

/// What the files have, and whether all of them could be read to their ends.
pub(crate) struct Included {
    pub(crate) roots: Vec<Node>,
    pub(crate) is_whole: bool,
}

/// Reads the files that a file names, and those that they name.
pub(crate) fn read(root: &Node, source: &mut Source, files: &dyn Files, found: &mut DiagnosticSink) -> Included {
    let mut including =
        Including { source, files, found, known: Vec::new(), all: Included { roots: Vec::new(), is_whole: true } };
    including.follow(root, &mut Vec::new());
    including.all
}

struct Including<'a> {
    source: &'a mut Source,
    files: &'a dyn Files,
    found: &'a mut DiagnosticSink,
    /// The files that were read.
    known: Vec<String>,
    all: Included,
}

impl Including<'_> {
    /// `path`: the files that lead to this one.
    fn follow(&mut self, root: &Node, path: &mut Vec<String>) {
        for (name, at) in named(root) {
            if path.contains(&name) {
                let cycle = path.iter().map(String::as_str).chain([name.as_str()]).collect::<Vec<_>>().join(" -> ");
                self.emit(at, IncludeFault::Cycle(shortened(&cycle)));
                continue;
            }
            // A file that two others bring in is there once.
            if self.known.contains(&name) {
                continue;
            }
            if path.len() >= DEEP_MAX {
                self.emit(at, IncludeFault::TooDeep(DEEP_MAX));
                continue;
            }
            if self.known.len() >= FILES_MAX {
                self.emit(at, IncludeFault::TooMany(FILES_MAX));
                return;
            }
            self.known.push(name.clone());
            let Some(text) = self.text(&name, at) else { continue };
            let Some(root) = self.add(&name, &text) else { continue };
            path.push(name);
            self.follow(&root, path);
            path.pop();
            self.all.roots.push(root);
        }
    }

    /// Adds a file behind the others.
    fn add(&mut self, name: &str, text: &str) -> Option<Node> {
        let own = Source::new(name, text);
        let mut found = DiagnosticSink::default();
        let (root, end) = tree::build(&own, &mut found);
        let begin = self.source.add(own);
        found.shift(begin);
        self.found.join(found);
        self.all.is_whole &= end == usize::MAX;
        let mut root = root?;
        tree::shift(&mut root, begin);
        Some(root)
    }

    fn text(&mut self, name: &str, at: Span) -> Option<String> {
        let path = Path::new(name);
        let is_within = path.components().all(|part| matches!(part, Component::Normal(_))) && !name.is_empty();
        if !is_within {
            self.emit(at, IncludeFault::Outside { path: shortened(name) });
            return None;
        }
        let path = shortened(name);
        let bytes = match self.files.include(Path::new(name), FILE_BYTES_MAX + 1) {
            Ok(bytes) if bytes.len() > FILE_BYTES_MAX => {
                self.found.add(at, Problem::FileTooLarge { most: FILE_BYTES_MAX });
                return None;
            }
            Ok(bytes) => bytes,
            Err(error) => {
                self.emit(at, IncludeFault::Unreadable { path, reason: error.to_string() });
                return None;
            }
        };
        match String::from_utf8(bytes) {
            Ok(text) => Some(text),
            Err(_) => {
                let reason = "it is not UTF-8".to_owned();
                self.emit(at, IncludeFault::Unreadable { path, reason });
                None
            }
        }
    }

    fn emit(&mut self, at: Span, fault: IncludeFault) {
        self.all.is_whole = false;
        self.found.add(at, Problem::Include(fault));
    }
}

/// The files that a file names. What is no text is reported when its keys are read.
fn named(root: &Node) -> Vec<(String, Span)> {
    let Value::Map(pairs) = &root.value else { return Vec::new() };
    let given = pairs.iter().find(|(key, _)| key.name == INCLUDE).map(|(_, node)| node);
    let items = match given.map(|node| &node.value) {
        Some(Value::List(items)) => items.as_slice(),
        Some(Value::Scalar(_)) => given.map_or(&[][..], std::slice::from_ref),
        _ => &[],
    };
    let text = |node: &Node| match &node.value {
        Value::Scalar(scalar) if !scalar.is_null() && !scalar.text.contains("${") => {
            Some((scalar.text.trim().to_owned(), node.at))
        }
        _ => None,
    };
    items.iter().filter_map(text).collect()
}
