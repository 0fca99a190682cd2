//! Rows for users, from files: CSV, an array of JSON, JSON lines.
//!
//! A [`Feed`] is opened before a run: the whole file is read once, so each mistake in it is reported with its line
//! before the run starts, and the number of rows is known. A folder gives a row for each file (`folder`), and a filter
//! keeps some of the rows (`selection`). Which row an iteration takes is arithmetic
//! ([`Feed::place`], `turn`), so shards need no coordination. A file of some megabytes is held in memory (`csv`,
//! `json`: rows of bytes with their lines); of a larger one a sparse index of offsets is held, and a control thread
//! (`stream`) reads rows ahead for the [`Reader`] of each shard. A reader never waits: it returns that a row is not
//! there yet, and requests it. `engine/src/scenario_runtime/users/variables/ahead.rs` requests the rows of starts that are not due yet.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod bounds;
mod csv;
mod error;
mod feed;
mod folder;
mod index;
mod input;
mod json;
mod reader;
mod regular;
mod row;
mod rows;
mod selection;
mod spec;
mod stream;
mod turn;

pub use bounds::{COLUMNS_MAX, ROW_BYTES_MAX};
pub use error::{FeedError, FeedFault};
pub use feed::{Feed, HELD_BYTES_MAX};
pub use folder::FOLDER_COLUMNS;
pub use index::INDEX_OFFSETS_MAX;
pub use reader::{READER_BYTES_MAX, Reader};
pub use row::{Column, Row};
pub use rows::{Table, read_all};
pub use selection::Selection;
pub use spec::{AtEnd, Csv, Format, Pick, Share, Spec};
pub use turn::{RowPosition, RowTurn};

#[cfg(test)]
mod tests;
