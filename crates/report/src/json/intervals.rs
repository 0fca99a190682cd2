//! The intervals of a report, of a load or of connections that are held.

use serde_json::Value;

use super::packed::Names;

/// Intervals that are kept: a day of seconds. Later ones are only counted.
const INTERVALS_MAX: usize = 86_400;

/// What was told of each interval, the first one first.
#[derive(Debug, Default)]
pub(crate) struct Intervals {
    rows: Vec<Box<[u8]>>,
    names: Names,
    left_out: u64,
}

impl Intervals {
    /// Keeps one. What came late makes an earlier one whole: it takes its place.
    pub(crate) fn put(&mut self, number: u64, is_again: bool, row: impl FnOnce() -> Value) {
        let index = (number - 1) as usize;
        if index >= INTERVALS_MAX {
            self.left_out += u64::from(!is_again);
            return;
        }
        let row = self.names.pack(&row());
        match self.rows.get_mut(index) {
            Some(reported) => *reported = row,
            None => self.rows.push(row),
        }
    }

    /// All that were kept.
    pub(crate) fn take(&mut self) -> Value {
        std::mem::take(&mut self.rows).iter().map(|row| self.names.unpack(row)).collect()
    }

    /// Those that found no room.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }
}
