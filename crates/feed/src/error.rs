//! What is wrong with a file of rows: where, why, and what to do.

use std::fmt;
use std::path::PathBuf;

use crate::{COLUMNS_MAX, ROW_BYTES_MAX};

/// Names of columns that an error lists.
pub const NAMES_SAID_MAX: usize = 12;

/// A file that cannot be used, or that can no longer be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FeedError {
    /// The file.
    pub file: PathBuf,
    /// Its line, from 1, where the row or the mistake begins.
    pub line: Option<u64>,
    /// What is wrong.
    pub fault: FeedFault,
}

impl fmt::Display for FeedError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(out, ", line {line}")?;
        }
        write!(out, ": {}", self.fault)
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedFault {
    /// It cannot be opened.
    #[error("cannot be opened: {reason}; check the path, and that this user may read the file")]
    Open {
        /// As the system says it.
        reason: String,
    },
    /// It was opened and cannot be read.
    #[error("cannot be read: {reason}; copy the file to a local disk and name that")]
    Read {
        /// As the system says it.
        reason: String,
    },
    /// It is a folder.
    #[error("is a directory; name a file in it")]
    Directory,
    /// It is a pipe, a socket or a device.
    #[error("is no regular file, so it cannot be read more than once; write its rows to a file and name that")]
    NotRegular,
    /// There is no thread to read it.
    #[error("no thread could be started to read it: {reason}; raise the limit of processes (ulimit -u)")]
    Thread {
        /// As the system says it.
        reason: String,
    },
    /// It has changed since the run began.
    #[error("has changed since it was opened; do not write to it during a run, or name a copy")]
    Changed,
    /// It has no row.
    #[error("has no rows; add one; the first line of a CSV file names its columns, unless columns: [...] does")]
    NoRows,
    /// A row has too few or too many fields.
    #[error(
        "{found} fields, but there are {wanted} columns; a field that contains the separator, a quote or a line end needs \
         double quotes around it"
    )]
    Fields {
        /// Fields of the row.
        found: usize,
        /// Columns of the file.
        wanted: usize,
    },
    /// A quoted field has no end.
    #[error("the row has a double quote that is not closed; close it, and write a quote inside quotes twice")]
    OpenQuote,
    /// A row is too long to be one.
    #[error("the row is longer than {} MiB; check its quotes or brackets, or shorten it", ROW_BYTES_MAX >> 20)]
    RowTooLong,
    /// More columns than any file has.
    #[error("more than {COLUMNS_MAX} columns; check the separator, or leave columns out")]
    ColumnsTooMany,
    /// A name of two columns.
    #[error("two columns are called \"{name}\"; give each its own name")]
    ColumnTwice {
        /// The name.
        name: String,
    },
    /// A column that is asked for and is not there.
    #[error("there is no column \"{name}\"; the columns are {}", said(columns))]
    ColumnMissing {
        /// The name.
        name: String,
        /// Those that there are.
        columns: Vec<String>,
    },
    /// An object without a key that the first one has.
    #[error("the object has no \"{name}\", which the first one has; add it, with null where there is none")]
    KeyMissing {
        /// The name.
        name: String,
    },
    /// An object with a key that the first one does not have.
    #[error(
        "the object has \"{name}\", which the first one does not have; add it there, with null where there is none"
    )]
    KeyUnknown {
        /// The name.
        name: String,
    },
    /// Bytes that are not of the charset.
    #[error("this is not {charset}; save the file as UTF-8, or for CSV name its charset, for example gbk")]
    Text {
        /// The charset that was expected.
        charset: &'static str,
    },
    /// A mark of UTF-16 or UTF-32.
    #[error("this is UTF-16 or UTF-32; save the file as UTF-8")]
    Wide,
    /// A charset that is not read.
    #[error("the charset \"{name}\" is not known or cannot be read row by row; save the file as UTF-8")]
    Charset {
        /// As it was named.
        name: String,
    },
    /// A separator that cannot be one.
    #[error("{found:?} cannot separate fields; take one character of ASCII that is no quote and no line end")]
    Separator {
        /// As it was named.
        found: char,
    },
    /// Not JSON.
    #[error("this is not JSON: {reason}; correct the row")]
    Json {
        /// As the library says it.
        reason: String,
    },
    /// No array of objects.
    #[error(
        "this is no array of objects; put [ and ] around all and commas between, or for an object on each line name the format jsonl"
    )]
    NoArray,
    /// A row that is no object.
    #[error("the row is no object; write it as {{\"name\": value, ...}}")]
    NoObject,
    /// An array that has no end.
    #[error("the file ends inside the array; write the whole file again")]
    Cut,
    /// Something behind the array.
    #[error("there is more after the end of the array; put all rows into one array")]
    AfterEnd,
}

/// Names for a person.
fn said(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES_SAID_MAX).map(String::as_str).collect();
    let more = names.len().saturating_sub(NAMES_SAID_MAX);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}
