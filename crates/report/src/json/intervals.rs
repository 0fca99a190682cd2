//! The intervals of a report, of a load or of a hold.

use serde_json::Value;

use super::packed::Names;

/// The most intervals that are stored: a day of seconds. Later ones are only counted.
const INTERVALS_MAX: usize = 86_400;

/// The rows of the intervals, the first one first.
#[derive(Debug, Default)]
pub(crate) struct Intervals {
    rows: Vec<Box<[u8]>>,
    names: Names,
    left_out: u64,
}

impl Intervals {
    /// Adds an interval. An update replaces the earlier version.
    pub(crate) fn put(&mut self, number: u64, is_update: bool, row: impl FnOnce() -> Value) {
        let index = (number - 1) as usize;
        if index >= INTERVALS_MAX {
            self.left_out += u64::from(!is_update);
            return;
        }
        let row = self.names.pack(&row());
        match self.rows.get_mut(index) {
            Some(reported) => *reported = row,
            None => self.rows.push(row),
        }
    }

    /// All stored intervals.
    pub(crate) fn take(&mut self) -> Value {
        std::mem::take(&mut self.rows).iter().map(|row| self.names.unpack(row)).collect()
    }

    /// The number of intervals for which there was no room.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out
    }
}
