//! A count for each series: of most it stays zero.

use crate::catalog::SeriesId;

/// A count by series.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeriesCounts(Vec<u64>);

/// Equality of what was counted, whatever memory it takes.
impl PartialEq for SeriesCounts {
    fn eq(&self, other: &Self) -> bool {
        self.all().eq(other.all())
    }
}

impl SeriesCounts {
    pub(crate) fn add(&mut self, series: SeriesId, count: u64) {
        let place = series.index();
        if place >= self.0.len() {
            self.0.resize(place + 1, 0);
        }
        self.0[place] += count;
    }

    pub(crate) fn of(&self, series: SeriesId) -> u64 {
        self.0.get(series.index()).copied().unwrap_or_default()
    }

    /// The counts that are not zero, by series.
    pub(crate) fn all(&self) -> impl Iterator<Item = (SeriesId, u64)> + '_ {
        let all = self.0.iter().enumerate().filter(|(_, count)| **count > 0);
        all.filter_map(|(place, count)| Some((SeriesId::from_index(place)?, *count)))
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        other.all().for_each(|(series, count)| self.add(series, count));
    }

    /// Removes everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.0.fill(0);
    }

    /// Bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.0.capacity() * size_of::<u64>()
    }
}
