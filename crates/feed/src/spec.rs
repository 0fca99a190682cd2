//! What is said of a file of rows.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

use encoding_rs::{Encoding, ISO_2022_JP, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, X_USER_DEFINED};

use crate::FeedFault;

/// A file of rows, and how they are given out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// Where the rows are.
    pub file: PathBuf,
    /// How they are written.
    pub format: Format,
    /// In which order they are taken.
    pub pick: Pick,
    /// Who takes which.
    pub share: Share,
    /// What follows the last one.
    pub at_end: AtEnd,
}

impl Spec {
    /// The rows one after the other, divided over all users, again and again.
    pub fn new(file: impl Into<PathBuf>, format: Format) -> Self {
        Self { file: file.into(), format, pick: Pick::Next, share: Share::Split, at_end: AtEnd::Again }
    }

    /// Rows can be used up. Draws from all rows have no end, so `at_end` says nothing there.
    pub fn has_end(&self) -> bool {
        self.pick == Pick::Next || self.share != Share::Split
    }
}

/// How rows are written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// Lines of fields (RFC 4180).
    Csv(Csv),
    /// One array of objects.
    Json,
    /// An object on each line.
    JsonLines,
}

impl Format {
    /// As the ending of the name says: `csv`, `tsv`, `json`, `jsonl`, `ndjson`. `None` for others.
    pub fn of(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv(Csv::default())),
            "tsv" => Some(Self::Csv(Csv { separator: '\t', ..Csv::default() })),
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            _ => None,
        }
    }
}

/// What there is to say of CSV.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Csv {
    /// Between fields: one character of ASCII, no quote and no line end.
    pub separator: char,
    /// The names of the columns; `None`: the first row has them.
    pub columns: Option<Vec<String>>,
    /// The charset by its usual name; `None`: UTF-8.
    pub charset: Option<String>,
}

impl Default for Csv {
    fn default() -> Self {
        Self { separator: ',', columns: None, charset: None }
    }
}

impl Csv {
    pub(crate) fn separator(&self) -> Result<u8, FeedFault> {
        let byte = u8::try_from(self.separator).ok().filter(u8::is_ascii);
        byte.filter(|byte| !b"\"\r\n\0".contains(byte)).ok_or(FeedFault::Separator { found: self.separator })
    }

    /// Charsets are taken in which a byte of a line end is always one, so that a row can be found without what is before it.
    pub(crate) fn charset(&self) -> Result<&'static Encoding, FeedFault> {
        let Some(name) = &self.charset else { return Ok(UTF_8) };
        let charset = Encoding::for_label(name.as_bytes());
        let refused = [UTF_16BE, UTF_16LE, ISO_2022_JP, REPLACEMENT, X_USER_DEFINED];
        charset.filter(|charset| !refused.contains(charset)).ok_or_else(|| FeedFault::Charset { name: name.clone() })
    }
}

/// In which order rows are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pick {
    /// As they stand in the file.
    #[default]
    Next,
    /// By chance, from the seed of the run.
    Random,
}

/// Who takes which rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Share {
    /// Rows are divided: each goes to one iteration of one user before any is used again. At random, each draw is from all rows.
    #[default]
    Split,
    /// Each user has all rows for itself, at random in an order of its own. In an open load, where users only carry iterations,
    /// the iterations together have them.
    Copy,
    /// No row is used twice before all were used, at random too.
    Unique,
}

/// What follows the last row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AtEnd {
    /// The first one. [`RowPosition::Row`](crate::Place::Row) tells in which round.
    #[default]
    Again,
    /// Nothing: [`RowPosition::End`](crate::Place::End).
    Stop,
}
