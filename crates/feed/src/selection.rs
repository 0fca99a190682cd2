//! The rows of a file that a filter keeps: they are numbered anew, and the others are never used.

use serde::{Deserialize, Serialize};

/// Words of bits from one known count to the next.
const BLOCK_WORDS: usize = 8;

/// Which rows of a file are kept: a bit for each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Bits", into = "Bits")]
pub struct Selection {
    bits: Bits,
    /// The number of kept rows before each block of words.
    before: Vec<u64>,
    kept: u64,
}

/// The bits alone, as they are encoded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Bits {
    /// The number of rows of the file.
    rows: u64,
    /// From the lowest bit of the first word on.
    words: Vec<u64>,
}

impl Selection {
    /// The selection of rows in their order.
    pub fn new(is_kept: impl IntoIterator<Item = bool>) -> Self {
        let mut bits = Bits::default();
        for is_kept in is_kept {
            let at = bits.rows % u64::from(u64::BITS);
            if at == 0 {
                bits.words.push(0);
            }
            if let Some(word) = bits.words.last_mut() {
                *word |= u64::from(is_kept) << at;
            }
            bits.rows += 1;
        }
        bits.into()
    }

    /// The number of rows of the file.
    pub fn rows(&self) -> u64 {
        self.bits.rows
    }

    /// The number of rows that are kept.
    pub fn kept(&self) -> u64 {
        self.kept
    }

    /// Whether a row of the file is kept.
    pub fn contains(&self, row: u64) -> bool {
        let word = usize::try_from(row / u64::from(u64::BITS)).ok().and_then(|word| self.bits.words.get(word));
        word.is_some_and(|word| word >> (row % u64::from(u64::BITS)) & 1 == 1)
    }

    /// The row of the file that is kept as this one; `None`: there are fewer.
    pub fn row_of(&self, number: u64) -> Option<u64> {
        if number >= self.kept {
            return None;
        }
        let block = self.before.partition_point(|before| *before <= number).checked_sub(1)?;
        let mut left = number - self.before[block];
        for (place, word) in self.bits.words.iter().enumerate().skip(block * BLOCK_WORDS) {
            let ones = u64::from(word.count_ones());
            if left >= ones {
                left -= ones;
                continue;
            }
            let mut word = *word;
            for _ in 0..left {
                word &= word - 1;
            }
            return Some(place as u64 * u64::from(u64::BITS) + u64::from(word.trailing_zeros()));
        }
        None
    }
}

/// Bits behind the last row count for nothing.
impl From<Bits> for Selection {
    fn from(mut bits: Bits) -> Self {
        let bits_of_word = u64::from(u64::BITS);
        bits.rows = bits.rows.min((bits.words.len() as u64).saturating_mul(bits_of_word));
        bits.words.truncate(bits.rows.div_ceil(bits_of_word) as usize);
        let used = bits.rows % bits_of_word;
        if let Some(last) = bits.words.last_mut().filter(|_| used > 0) {
            *last &= (1 << used) - 1;
        }
        let (mut before, mut kept) = (Vec::with_capacity(bits.words.len().div_ceil(BLOCK_WORDS)), 0);
        for block in bits.words.chunks(BLOCK_WORDS) {
            before.push(kept);
            kept += block.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        }
        Self { bits, before, kept }
    }
}

impl From<Selection> for Bits {
    fn from(selection: Selection) -> Self {
        selection.bits
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_kept_row_is_found_by_its_number(all in prop::collection::vec(any::<bool>(), 0..2_000)) {
            let selection = Selection::new(all.iter().copied());
            let kept: Vec<u64> = (0..).zip(&all).filter(|(_, is_kept)| **is_kept).map(|(row, _)| row).collect();
            prop_assert_eq!((selection.rows(), selection.kept()), (all.len() as u64, kept.len() as u64));
            for (number, row) in kept.iter().enumerate() {
                prop_assert_eq!(selection.row_of(number as u64), Some(*row));
            }
            prop_assert_eq!(selection.row_of(kept.len() as u64), None);
            let same = |row: usize| selection.contains(row as u64) == all.get(row).copied().unwrap_or_default();
            prop_assert!((0..all.len() + 70).all(same));
            let text = serde_json::to_string(&selection).expect("it is written");
            prop_assert_eq!(serde_json::from_str::<Selection>(&text).expect("it is read"), selection);
        }
    }

    #[test]
    fn bits_from_elsewhere_make_no_more_rows_than_they_say() {
        let read = |text: &str| serde_json::from_str::<Selection>(text).expect("a selection");
        let more = read(r#"{"rows": 3, "words": [18446744073709551615, 7]}"#);
        assert_eq!((more.rows(), more.kept(), more.row_of(2), more.row_of(3)), (3, 3, Some(2), None));
        let fewer = read(r#"{"rows": 1000, "words": [1]}"#);
        assert_eq!((fewer.rows(), fewer.kept(), fewer.row_of(1)), (64, 1, None));
        assert_eq!(read(r#"{"rows": 0, "words": []}"#), Selection::default());
    }
}
