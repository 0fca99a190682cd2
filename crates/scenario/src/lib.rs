//! Scenario files: what users do, written as YAML. [`read`] gives the checked value of a file, or all its mistakes.
//!
//! - `tree` parses YAML into values with positions; `keys` has the tables of all keys, from which reader, schema and
//!   reference are made
//! - `reader` and `read` make a [`File`] of the tree; `reader/meant` suggests the key that was meant, or where a key
//!   belongs
//! - `check`: names, loops, cycles; `expression`: a first check of expressions
//! - `lower` turns a checked file into plans
//! - `quoting`: a line with the quotes that YAML needs
//! - `warnings`: what is legal and probably wrong
//! - `diagnostic`: every possible mistake, typed, with its position
//!
//! Nothing is sent, and no expression is compiled.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod check;
mod diagnostic;
mod expression;
mod file;
mod form;
mod include;
mod keys;
mod lower;
mod overrides;
mod quoting;
mod read;
mod reader;
mod redacted;
mod schema;
mod source;
mod tree;
mod warnings;

#[cfg(test)]
mod tests;

use std::io::Read as _;
use std::path::{Path, PathBuf};

pub use diagnostic::{
    CookieFault, DataFault, Diagnostic, Diagnostics, ExpressionFault, FoundInstead, FragmentFault, IncludeFault,
    LoopWord, MISTAKES_MAX, NameFault, Problem, SyntaxFault, Things, Wanted, as_keys,
};
pub use expression::EXPRESSION_BYTES_MAX;
pub use file::*;
pub use keys::{Field, Kind, Object};
pub use lower::{ListSource, Lowered, Lowering, Outside};
pub use overrides::FlagFault;
pub use quoting::with_quotes;
pub use reader::Files;
pub use redacted::without_secrets;
pub use schema::schema;
pub use source::{Location, Source, Span};
pub use warnings::{Concern, Warning};

use diagnostic::DiagnosticSink;
use reader::Reader;

/// The largest file, in bytes.
pub const FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A file that was read, with its text.
#[derive(Clone, Debug)]
pub struct Opened {
    /// Its content.
    pub file: File,
    /// Its text, for later messages about positions in it.
    pub source: Source,
}

/// Reads and checks a file, with the data files that it names.
///
/// # Errors
/// All errors in it.
pub fn read(path: &Path) -> Result<Opened, Diagnostics> {
    read_with(path, std::iter::empty())
}

/// The same, with values for variables of the file; `target` is the base of relative URLs.
///
/// # Errors
/// All errors in it.
pub fn read_with<'v>(path: &Path, vars: impl Iterator<Item = (&'v str, &'v str)>) -> Result<Opened, Diagnostics> {
    let name = path.to_string_lossy();
    let whole = |fault, text: &str| {
        let source = Box::new(Source::new(&name, text));
        Diagnostics { source, all: vec![Diagnostic { at: Span::default(), fault }], more: 0 }
    };
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(path);
    let got = opened.and_then(|file| file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes));
    if let Err(error) = got {
        return Err(whole(Problem::File { reason: error.to_string() }, ""));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        let source = Box::new(Source::new(&name, &text));
        Diagnostics {
            source,
            all: vec![Diagnostic { at: Span::new(valid, valid + 1), fault: Problem::NotUtf8 }],
            more: 0,
        }
    })?;
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    parse_with(&name, &text, &Folder(folder), vars)
}

/// Reads and checks the text of a file. `files` provides the data files that it names.
///
/// # Errors
/// All errors in it.
pub fn parse(name: &str, text: &str, files: &dyn Files) -> Result<Opened, Diagnostics> {
    parse_with(name, text, files, std::iter::empty())
}

fn parse_with<'v>(
    name: &str,
    text: &str,
    files: &dyn Files,
    vars: impl Iterator<Item = (&'v str, &'v str)>,
) -> Result<Opened, Diagnostics> {
    let mut source = Source::new(name, text);
    let mut syntax = DiagnosticSink::default();
    if text.len() > FILE_BYTES_MAX {
        syntax.add(Span::default(), Problem::FileTooLarge { most: FILE_BYTES_MAX });
        return Err(syntax.into_mistakes(source));
    }
    let (root, end) = tree::build(&source, &mut syntax);
    let root = root.unwrap_or_else(tree::Node::nothing);
    let is_read = end == usize::MAX;
    let none = include::Included { roots: Vec::new(), is_whole: is_read };
    let included = if is_read { include::read(&root, &mut source, files, &mut syntax) } else { none };
    let mut reader = Reader::new(&source, files);
    let vars: Vec<(&str, &str)> = vars.collect();
    if vars.iter().any(|(name, _)| *name == overrides::TARGET) {
        // The command line gives it later.
        reader.target = reader::Target::Open;
    }
    let read = read::file(&mut reader, &root, &included.roots);
    let (mut found, names) = (reader.found, reader.names);
    let is_whole = included.is_whole;
    if !is_whole {
        // The rest of the file is unknown: only errors that are independent of it are reported.
        found.keep_what_stands_alone(end);
    }
    // Syntax errors come first, also where there are more diagnostics than are kept.
    syntax.join(found);
    let mut found = syntax;
    let mut file = read.unwrap_or_default();
    vars.into_iter().for_each(|(name, value)| overrides::set(&mut file, name, value, &mut found));
    if is_whole {
        // Something invalid has no value, and what is missing because of it is not reported again.
        let seen = if found.is_empty() { Vec::new() } else { names };
        check::check(&mut file, &source, &seen, &mut found);
    }
    match found.is_empty() {
        true => Ok(Opened { file, source }),
        false => Err(found.into_mistakes(source)),
    }
}

/// Data files in a folder of this machine.
#[derive(Clone, Debug)]
pub struct Folder(pub PathBuf);

impl Files for Folder {
    fn head(&self, path: &Path, most: usize) -> std::io::Result<Vec<u8>> {
        let path = self.0.join(path);
        // Opening a pipe would wait for a writer.
        if !std::fs::metadata(&path)?.is_file() {
            return Err(std::io::Error::other("not a file"));
        }
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(most as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn folder(&self, path: &Path) -> std::io::Result<usize> {
        plan::folder_files(&self.0.join(path)).map(|files| files.len())
    }

    fn include(&self, path: &Path, most: usize) -> std::io::Result<Vec<u8>> {
        let here = if self.0.as_os_str().is_empty() { Path::new(".") } else { &self.0 };
        // A link may lead anywhere.
        if !here.join(path).canonicalize()?.starts_with(here.canonicalize()?) {
            return Err(std::io::Error::other("it is a link out of the folder"));
        }
        self.head(path, most)
    }
}
