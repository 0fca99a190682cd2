//! The options of a data file.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

use encoding_rs::{Encoding, ISO_2022_JP, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, X_USER_DEFINED};

use crate::{FeedFault, Selection};

/// A data file, and how its rows are distributed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spec {
    /// The path of the file.
    pub file: PathBuf,
    /// The format of the file.
    pub format: Format,
    /// The order in which rows are taken.
    pub pick: Pick,
    /// How rows are shared between users.
    pub share: Share,
    /// Behavior after the last row.
    pub at_end: AtEnd,
    /// The rows that a filter keeps; `None`: all.
    pub selection: Option<Selection>,
}

impl Spec {
    /// The default options: rows in order, divided over all users, repeated.
    pub fn new(file: impl Into<PathBuf>, format: Format) -> Self {
        Self { file: file.into(), format, pick: Pick::Next, share: Share::Split, at_end: AtEnd::Again, selection: None }
    }

    /// Whether rows can be used up. Draws from all rows never end, so `at_end` does not apply there.
    pub fn has_end(&self) -> bool {
        self.pick != Pick::Random || self.share != Share::Split
    }
}

/// The format of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Format {
    /// Lines of fields (RFC 4180).
    Csv(Csv),
    /// One JSON array of objects.
    Json,
    /// One JSON object per line.
    JsonLines,
    /// The files of a folder, whose paths in the rows begin like this.
    Folder(String),
}

impl Format {
    /// The format by the extension of the name: `csv`, `tsv`, `json`, `jsonl`, `ndjson`. `None` for others.
    pub fn from_path(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(Self::Csv(Csv::default())),
            "tsv" => Some(Self::Csv(Csv { separator: '\t', ..Csv::default() })),
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            _ => None,
        }
    }
}

/// The options of a CSV file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Csv {
    /// Separator between fields: one ASCII character, no quote and no line end.
    pub separator: char,
    /// The column names; `None`: the first row has them.
    pub columns: Option<Vec<String>>,
    /// The charset by its common name; `None`: UTF-8.
    pub charset: Option<String>,
    /// The columns whose values are numbers; the others are texts.
    pub numbers: Vec<String>,
}

impl Default for Csv {
    fn default() -> Self {
        Self { separator: ',', columns: None, charset: None, numbers: Vec::new() }
    }
}

impl Csv {
    pub(crate) fn separator(&self) -> Result<u8, FeedFault> {
        let byte = u8::try_from(self.separator).ok().filter(u8::is_ascii);
        byte.filter(|byte| !b"\"\r\n\0".contains(byte)).ok_or(FeedFault::Separator { found: self.separator })
    }

    /// The encoding of the charset. Only charsets are supported in which a byte of a line end is always one, so that a
    /// row can be found without its predecessors.
    pub(crate) fn charset(&self) -> Result<&'static Encoding, FeedFault> {
        let Some(name) = &self.charset else { return Ok(UTF_8) };
        let charset = Encoding::for_label(name.as_bytes());
        let refused = [UTF_16BE, UTF_16LE, ISO_2022_JP, REPLACEMENT, X_USER_DEFINED];
        charset.filter(|charset| !refused.contains(charset)).ok_or_else(|| FeedFault::Charset { name: name.clone() })
    }
}

/// The order in which rows are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pick {
    /// In the order of the file.
    #[default]
    Next,
    /// At random, from the seed of the run.
    Random,
    /// The row with the number of the user, in all of its iterations.
    ByUser,
}

/// How rows are shared between users.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Share {
    /// Rows are divided: each goes to one iteration of one user before any is used again. At random, each draw is from
    /// all rows.
    #[default]
    Split,
    /// Each user has all rows for itself, at random in an order of its own. In an open load, where users only run
    /// iterations, the iterations together have them.
    Copy,
    /// No row is used twice before all were used, also at random.
    Unique,
}

/// Behavior after the last row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AtEnd {
    /// The first row again. [`RowPosition::Row`](crate::RowPosition::Row) has the number of the round.
    #[default]
    Again,
    /// No row: [`RowPosition::End`](crate::RowPosition::End).
    Stop,
}
