//! A sparse index of row offsets: one offset for every `stride` rows, so that the index of any file has the same limit.

/// The most offsets of an index: 8 MiB.
pub const INDEX_OFFSETS_MAX: usize = 1 << 20;

/// Offsets of rows, at most 8 bytes for each row. When a file has more rows than fit, every second offset is dropped
/// while it is read.
#[derive(Debug, Default)]
pub(crate) struct Index {
    offsets: Vec<u64>,
    stride_shift: u32,
    rows: u64,
}

impl Index {
    /// Adds the offset of the next row. At most `offsets_max` of them are stored, at least one.
    pub(crate) fn push(&mut self, offset: u64, offsets_max: usize) {
        if self.offsets.len() == offsets_max && self.is_at_stride() {
            let mut at = 0;
            self.offsets.retain(|_| {
                at += 1;
                at % 2 == 1
            });
            self.stride_shift += 1;
        }
        if self.is_at_stride() {
            self.offsets.push(offset);
        }
        self.rows += 1;
    }

    fn is_at_stride(&self) -> bool {
        self.rows.is_multiple_of(self.stride())
    }

    /// Number of rows from one offset to the next.
    pub(crate) fn stride(&self) -> u64 {
        1 << self.stride_shift
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// The last row at or before `row` whose offset is stored, and that offset.
    pub(crate) fn before(&self, row: u64) -> (u64, u64) {
        let at = row >> self.stride_shift;
        (at << self.stride_shift, self.offsets[at as usize])
    }
}

#[test]
fn the_offset_before_each_row_is_known_whatever_was_dropped() {
    for offsets_max in [2, 4, 64, 1024] {
        let mut index = Index::default();
        for row in 0..5_000_u64 {
            index.push(row * 10, offsets_max);
            assert!(index.offsets.len() <= offsets_max.min(row as usize + 1));
        }
        assert_eq!(index.rows(), 5_000);
        assert!(index.stride() * offsets_max as u64 <= 2 * 5_000 || index.stride() == 1);
        for row in 0..5_000 {
            let (first, offset) = index.before(row);
            assert!(first <= row && row - first < index.stride());
            assert_eq!(offset, first * 10);
        }
    }
}
