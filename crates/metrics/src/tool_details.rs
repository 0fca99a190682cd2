//! What is kept only where a view asks for it: lengths, heads and rows, as the pages of other tools show them.

use crate::{Distribution, ROWS_MAX, Row, Slowest};

/// What only some views ask for. It is empty where none does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolDetails {
    /// The length of the first body.
    pub first_length: u64,
    /// Bodies of another length than the first.
    pub lengths_differ: u64,
    /// From the first byte of an answer to its last.
    pub reading: Distribution,
    /// From intended to sent.
    pub before: Distribution,
    /// Each exchange by itself.
    rows: Vec<Row>,
    /// Exchanges that found no room there.
    pub rows_left_out: u64,
    /// The slowest exchanges.
    pub slowest: Slowest,
    /// A head of an answer.
    head: Vec<u8>,
}

impl ToolDetails {
    /// Keeps an exchange by itself, as long as there is room.
    pub fn keep_row(&mut self, row: Row) {
        if self.rows.len() < ROWS_MAX {
            self.rows.push(row);
        } else {
            self.rows_left_out += 1;
        }
    }

    /// Exchanges that were kept by themselves.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The same, for whoever goes on with them: there may be millions.
    pub fn take_rows(&mut self) -> Vec<Row> {
        std::mem::take(&mut self.rows)
    }

    /// Keeps the head of an answer, unless there is one.
    pub fn hear_head(&mut self, head: &[u8]) {
        if self.head.is_empty() {
            self.head = head.to_vec();
        }
    }

    /// A head of an answer, where one was kept.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Something is there beside the slowest exchanges.
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
        self.hear_head(&other.head);
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        (self.first_length, self.lengths_differ, self.rows_left_out) = (0, 0, 0);
        self.reading.clear();
        self.before.clear();
        self.rows.clear();
        self.slowest.clear();
        self.head.clear();
    }
}
