//! Responses by a status that is a word.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// The most different words that are counted separately.
pub const STATUS_WORDS_MAX: usize = 64;
/// The most bytes of a word; the rest is cut off.
pub const STATUS_WORD_BYTES_MAX: usize = 32;
/// The word of all others.
pub const STATUS_OTHER: &str = "other";

/// Counts by word. Of more words than [`STATUS_WORDS_MAX`], the alphabetically first ones are counted separately, and
/// the others together: however a run is divided and merged, the same words remain, with exact counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatusWords {
    words: BTreeMap<Box<str>, u64>,
    other: u64,
}

impl StatusWords {
    /// Counts a word.
    pub(crate) fn count(&mut self, word: &str, by: u64) {
        if by == 0 {
            return;
        }
        let word = &*shown(word);
        if word == STATUS_OTHER {
            self.other += by;
        } else if let Some(count) = self.words.get_mut(word) {
            *count += by;
        } else if self.words.len() < STATUS_WORDS_MAX {
            self.words.insert(word.into(), by);
        } else if self.words.last_key_value().is_some_and(|(last, _)| word < &**last) {
            self.words.insert(word.into(), by);
            self.other += self.words.pop_last().map_or(0, |(_, count)| count);
        } else {
            self.other += by;
        }
    }

    /// Adds all of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        other.all().for_each(|(word, count)| self.count(word, count));
    }

    /// Removes everything.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.other = 0;
    }

    /// Whether nothing was counted.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty() && self.other == 0
    }

    /// The count of a word.
    pub(crate) fn of(&self, word: &str) -> u64 {
        if word == STATUS_OTHER { self.other } else { self.words.get(word).copied().unwrap_or(0) }
    }

    /// The words with their counts, in alphabetical order; the count of all others is last.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, u64)> {
        let other = (self.other > 0).then_some((STATUS_OTHER, self.other));
        self.words.iter().map(|(word, count)| (&**word, *count)).chain(other)
    }
}

/// The word as it is counted and shown: within the bound, and without control characters. One without characters is
/// counted with the others.
pub(crate) fn shown(word: &str) -> Cow<'_, str> {
    let word = &word[..word.floor_char_boundary(STATUS_WORD_BYTES_MAX)];
    if word.is_empty() {
        return STATUS_OTHER.into();
    }
    if !word.contains(char::is_control) {
        return word.into();
    }
    word.replace(char::is_control, "?").into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counted(words: &[(String, u64)]) -> StatusWords {
        let mut counts = StatusWords::default();
        words.iter().for_each(|(word, by)| counts.count(word, *by));
        counts
    }

    fn sum(counts: &StatusWords) -> u64 {
        counts.all().map(|(_, count)| count).sum()
    }

    fn any_words() -> impl Strategy<Value = Vec<(String, u64)>> {
        let word = prop_oneof!["[A-Z]{1,2}", ".{0,40}", Just(STATUS_OTHER.to_owned())];
        prop::collection::vec((word, 0u64..9), 0..300)
    }

    proptest! {
        /// However the words are divided: the same words remain, and none of their counts is lost.
        #[test]
        fn words_add_up_in_any_order(words in any_words(), cut in any::<prop::sample::Index>()) {
            let (first, second) = words.split_at(cut.index(words.len() + 1));
            let (mut one, mut two) = (counted(first), counted(second));
            let before = one.clone();
            one.merge(&two);
            two.merge(&before);
            let whole = counted(&words);
            prop_assert_eq!(&one, &whole);
            prop_assert_eq!(&two, &whole);
            let mut turned = words.clone();
            turned.reverse();
            prop_assert_eq!(&counted(&turned), &whole);
            prop_assert_eq!(sum(&whole), words.iter().map(|(_, by)| by).sum::<u64>());
            prop_assert!(whole.words.len() <= STATUS_WORDS_MAX);
            prop_assert!(whole.words.keys().all(|word| (1..=STATUS_WORD_BYTES_MAX).contains(&word.len())));
            prop_assert!(whole.words.keys().all(|word| shown(word) == **word), "what is shown stays as it is");
            prop_assert!(whole.all().all(|(word, count)| count > 0 && whole.of(word) == count));
        }
    }

    #[test]
    fn the_alphabetically_first_words_are_counted_separately() {
        let word = |number: usize| format!("E{number:04}");
        let mut counts = StatusWords::default();
        (0..1_000).rev().for_each(|number| counts.count(&word(number), 2));
        let kept: Vec<String> = counts.words.keys().map(|word| word.to_string()).collect();
        assert_eq!(kept, (0..STATUS_WORDS_MAX).map(word).collect::<Vec<_>>());
        assert_eq!((counts.of("E0000"), counts.of("E0064")), (2, 0));
        assert_eq!(counts.of(STATUS_OTHER), 2 * (1_000 - STATUS_WORDS_MAX as u64));
        assert_eq!(counts.all().last(), Some((STATUS_OTHER, counts.other)));
        assert!(!counts.is_empty());
        counts.clear();
        assert!(counts.is_empty() && counts == StatusWords::default());
    }

    #[test]
    fn a_word_is_short_and_visible() {
        for (word, expected) in [
            ("OK", "OK"),
            ("a\nb\u{7f}c", "a?b?c"),
            ("\u{85}", "?"),
            ("", STATUS_OTHER),
            ("状态", "状态"),
            ("01234567890123456789012345678901", "01234567890123456789012345678901"),
            ("012345678901234567890123456789012", "01234567890123456789012345678901"),
            // A character of three bytes that crosses the bound.
            ("0123456789012345678901234567890状", "0123456789012345678901234567890"),
        ] {
            assert_eq!(shown(word), expected, "{word:?}");
        }
    }
}
