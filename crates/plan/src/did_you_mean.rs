//! Suggestions for misspelled words.

/// The number of letters to change: Damerau's distance, in which swapped neighbours count as one.
pub fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows = vec![vec![0; other.len() + 1]; one.len() + 1];
    for at in 0..=one.len() {
        for to in 0..=other.len() {
            if at == 0 || to == 0 {
                rows[at][to] = at + to;
                continue;
            }
            let is_same = usize::from(one[at - 1] != other[to - 1]);
            let mut least = (rows[at - 1][to] + 1).min(rows[at][to - 1] + 1).min(rows[at - 1][to - 1] + is_same);
            if at > 1 && to > 1 && one[at - 1] == other[to - 2] && one[at - 2] == other[to - 1] {
                least = least.min(rows[at - 2][to - 2] + 1);
            }
            rows[at][to] = least;
        }
    }
    rows[one.len()][other.len()]
}

/// The nearest of the known words, when it is near enough to be meant.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.into_iter().map(|each| (distance(word, each), each)).min()?;
    // One letter of four may be wrong.
    (near.0 <= (word.chars().count().max(4)) / 4).then_some(near.1)
}
