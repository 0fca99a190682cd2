//! Data that is recorded only for some views: lengths, heads and rows, for the output of other tools.

use crate::{Distribution, ROWS_MAX, Row, Slowest};

/// Data that only some views use; otherwise it is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolDetails {
    /// The length of the first body.
    pub first_length: u64,
    /// Bodies of another length than the first.
    pub lengths_differ: u64,
    /// Times from the first byte of a response to its last.
    pub reading: Distribution,
    /// Times from intended to sent.
    pub before: Distribution,
    /// The rows of single exchanges.
    rows: Vec<Row>,
    /// Exchanges for which there was no room in the rows.
    pub rows_left_out: u64,
    /// The slowest exchanges.
    pub slowest: Slowest,
    /// The head of one response.
    head: Vec<u8>,
}

impl ToolDetails {
    /// Adds a row, as long as there is room.
    pub fn keep_row(&mut self, row: Row) {
        if self.rows.len() < ROWS_MAX {
            self.rows.push(row);
        } else {
            self.rows_left_out += 1;
        }
    }

    /// The rows of single exchanges.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Moves the rows out: there may be millions.
    pub fn take_rows(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.rows)
    }

    /// Stores the head of a response, unless there is one.
    pub fn read_head(&mut self, head: &[u8]) {
        if self.head.is_empty() {
            self.head = head.to_vec();
        }
    }

    /// The head of one response, if one was stored.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Whether there is more than the slowest exchanges.
    pub(crate) fn has_more_than_slowest(&self) -> bool {
        let Self { first_length, lengths_differ, reading, before, rows, rows_left_out, slowest: _, head } = self;
        [*first_length, *lengths_differ, *rows_left_out] != [0; 3]
            || reading.count() + before.count() > 0
            || !rows.is_empty()
            || !head.is_empty()
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        // Shards have first bodies of their own; a run shows the longest of them.
        self.first_length = self.first_length.max(other.first_length);
        self.lengths_differ += other.lengths_differ;
        self.reading.merge(&other.reading);
        self.before.merge(&other.before);
        self.rows_left_out += other.rows_left_out;
        other.rows.iter().for_each(|row| self.keep_row(*row));
        self.slowest.merge(&other.slowest);
        self.read_head(&other.head);
    }

    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        (self.first_length, self.lengths_differ, self.rows_left_out) = (0, 0, 0);
        self.reading.clear();
        self.before.clear();
        self.rows.clear();
        self.slowest.clear();
        self.head.clear();
    }
}
