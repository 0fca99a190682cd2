//! Rows for users, from files: CSV, an array of JSON, JSON lines.
//!
//! A [`Feed`] is opened before a run: the whole file is read once, so each error in it is reported with its line before
//! anything starts, and the number of rows is known. The row of an iteration is computed ([`Feed::place`]), so shards
//! need no communication. A file of some megabytes is then held in memory; of a larger one a sparse index of offsets
//! remains, and a control thread reads rows ahead for the [`Reader`] of each shard. A reader never blocks: it reports
//! that a row is not available yet, and requests it.

#[cfg(test)]
#[macro_use]
extern crate claims;

mod bounds;
mod csv;
mod error;
mod feed;
mod index;
mod input;
mod json;
mod reader;
mod regular;
mod row;
mod rows;
mod spec;
mod stream;
mod turn;

pub use bounds::{COLUMNS_MAX, ROW_BYTES_MAX};
pub use error::{FeedError, FeedFault, NAMES_SAID_MAX};
pub use feed::{Feed, HELD_BYTES_MAX};
pub use index::INDEX_OFFSETS_MAX;
pub use reader::{READER_BYTES_MAX, Reader};
pub use row::{Column, Row};
pub use rows::{Table, read_all};
pub use spec::{AtEnd, Csv, Format, Pick, Share, Spec};
pub use turn::{RowPosition, RowTurn};

#[cfg(test)]
mod tests;
