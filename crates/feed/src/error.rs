//! Errors of a data file: where, why, and what to do.

use std::fmt;
use std::path::PathBuf;

use crate::{COLUMNS_MAX, ROW_BYTES_MAX};

/// Maximum column names listed in an error.
pub const NAMES_SAID_MAX: usize = 12;

/// The error of a file that cannot be used, or can no longer be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FeedError {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1, where the row or the error begins.
    pub line: Option<u64>,
    /// The fault.
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

/// The fault of a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeedFault {
    /// It cannot be opened.
    #[error("cannot be opened: {reason}; check the path, and that this user may read the file")]
    Open {
        /// The error of the system.
        reason: String,
    },
    /// It was opened and cannot be read.
    #[error("cannot be read: {reason}; copy the file to a local disk and name that")]
    Read {
        /// The error of the system.
        reason: String,
    },
    /// It is a folder.
    #[error("is a directory; name a file in it")]
    Directory,
    /// It is a pipe, a socket or a device.
    #[error("is no regular file, so it cannot be read more than once; write its rows to a file and name that")]
    NotRegular,
    /// The thread that reads it cannot be started.
    #[error("no thread could be started to read it: {reason}; raise the limit of processes (ulimit -u)")]
    Thread {
        /// The error of the system.
        reason: String,
    },
    /// It has changed since the run began.
    #[error("has changed since it was opened; do not write to it during a run, or name a copy")]
    Changed,
    /// It has no rows.
    #[error("has no rows; add one; the first line of a CSV file names its columns, unless columns: [...] does")]
    NoRows,
    /// A row has too few or too many fields.
    #[error(
        "{found} fields, but there are {wanted} columns; a field that contains the separator, a quote or a line end needs \
         double quotes around it"
    )]
    Fields {
        /// Number of fields of the row.
        found: usize,
        /// Number of columns of the file.
        wanted: usize,
    },
    /// A quoted field does not end.
    #[error("the row has a double quote that is not closed; close it, and write a quote inside quotes twice")]
    OpenQuote,
    /// A row exceeds the length limit.
    #[error("the row is longer than {} MiB; check its quotes or brackets, or shorten it", ROW_BYTES_MAX >> 20)]
    RowTooLong,
    /// The file exceeds the limit of columns.
    #[error("more than {COLUMNS_MAX} columns; check the separator, or leave columns out")]
    ColumnsTooMany,
    /// Two columns have the same name.
    #[error("two columns are called \"{name}\"; give each its own name")]
    ColumnTwice {
        /// The name.
        name: String,
    },
    /// A requested column does not exist.
    #[error("there is no column \"{name}\"; the columns are {}", said(columns))]
    ColumnMissing {
        /// The name.
        name: String,
        /// The existing columns.
        columns: Vec<String>,
    },
    /// An object lacks a key that the first one has.
    #[error("the object has no \"{name}\", which the first one has; add it, with null where there is none")]
    KeyMissing {
        /// The name.
        name: String,
    },
    /// An object has a key that the first one does not have.
    #[error(
        "the object has \"{name}\", which the first one does not have; add it there, with null where there is none"
    )]
    KeyUnknown {
        /// The name.
        name: String,
    },
    /// Bytes that are not valid in the charset.
    #[error("this is not {charset}; save the file as UTF-8, or for CSV name its charset, for example gbk")]
    Text {
        /// The charset that was expected.
        charset: &'static str,
    },
    /// A byte order mark of UTF-16 or UTF-32.
    #[error("this is UTF-16 or UTF-32; save the file as UTF-8")]
    Wide,
    /// An unsupported charset.
    #[error("the charset \"{name}\" is not known or cannot be read row by row; save the file as UTF-8")]
    Charset {
        /// The name as given.
        name: String,
    },
    /// An invalid separator.
    #[error("{found:?} cannot separate fields; take one character of ASCII that is no quote and no line end")]
    Separator {
        /// The separator as given.
        found: char,
    },
    /// Not JSON.
    #[error("this is not JSON: {reason}; correct the row")]
    Json {
        /// The error of the library.
        reason: String,
    },
    /// Not an array of objects.
    #[error(
        "this is no array of objects; put [ and ] around all and commas between, or for an object on each line name the format jsonl"
    )]
    NoArray,
    /// A row that is not an object.
    #[error("the row is no object; write it as {{\"name\": value, ...}}")]
    NoObject,
    /// An array that does not end.
    #[error("the file ends inside the array; write the whole file again")]
    Cut,
    /// Content after the array.
    #[error("there is more after the end of the array; put all rows into one array")]
    AfterEnd,
}

/// The names as readable text.
fn said(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMES_SAID_MAX).map(String::as_str).collect();
    let more = names.len().saturating_sub(NAMES_SAID_MAX);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{rest}", shown.join(", "))
}
