//! Change points of a series of runs.

use crate::statistics::beyond;

/// The fewest runs on either side of a change.
const SIDE_MIN: usize = 3;
/// With fewer runs no change can be told.
pub const TREND_RUNS_MIN: usize = 2 * SIDE_MIN;
/// The largest p-value of a change.
const CHANCE_MAX: f64 = 0.001;
/// The smallest change that matters; smaller ones are ignored.
const CHANGE_MIN: f64 = 0.02;

/// A change of the level of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The index of the first value of the new level.
    pub at: usize,
    /// The mean before it.
    pub before: f64,
    /// The mean from there on.
    pub after: f64,
}

/// The change points of a series: the most significant one first, then recursively those on either side of it.
pub fn changes(values: &[f64]) -> Vec<Change> {
    let mut found = Vec::new();
    find_changes(values, 0, &mut found);
    found.sort_by_key(|change| change.at);
    found
}

fn find_changes(values: &[f64], begin: usize, found: &mut Vec<Change>) {
    if values.len() < TREND_RUNS_MIN {
        return;
    }
    let places = SIDE_MIN..=values.len() - SIDE_MIN;
    let tried = places.map(|at| (at, chance(&values[..at], &values[at..])));
    // Where many are too unlikely for a number, the score orders them.
    let order = |one: &(f64, f64), other: &(f64, f64)| one.0.total_cmp(&other.0).then(other.1.total_cmp(&one.1));
    let Some((at, (chance, _))) = tried.min_by(|one, other| order(&one.1, &other.1)) else { return };
    let (before, after) = (mean(&values[..at]), mean(&values[at..]));
    // The factor accounts for the tests at all positions.
    let is_unlikely = chance * (values.len() - 2 * SIDE_MIN + 1) as f64 <= CHANCE_MAX;
    let is_large = before != 0.0 && (after / before - 1.0).abs() > CHANGE_MIN;
    if is_unlikely && is_large {
        found.push(Change { at: begin + at, before, after });
        find_changes(&values[..at], begin, found);
        find_changes(&values[at..], begin + at, found);
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The probability that two sides differ so much where there is no change (Welch), and the score behind it.
fn chance(one: &[f64], other: &[f64]) -> (f64, f64) {
    let side = |values: &[f64]| {
        let (number, mean) = (values.len() as f64, mean(values));
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (number - 1.0);
        (mean, variance / number, number)
    };
    let ((mean_one, error_one, count_one), (mean_other, error_other, count_other)) = (side(one), side(other));
    let error = error_one + error_other;
    if error <= 0.0 {
        return if mean_one == mean_other { (1.0, 0.0) } else { (0.0, f64::INFINITY) };
    }
    let parts = error_one.powi(2) / (count_one - 1.0) + error_other.powi(2) / (count_other - 1.0);
    let score = (mean_one - mean_other).abs() / error.sqrt();
    (beyond(score, (error * error / parts).max(1.0)), score)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_changes_is_found_where_it_does() {
        let noise = |index: usize| ((index * 7919) % 13) as f64 / 13.0;
        let series: Vec<f64> = (0..40).map(|index| if index < 25 { 100.0 } else { 120.0 } + noise(index)).collect();
        let found = changes(&series);
        assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [25], "{found:?}");
        assert!(changes(&series[..25]).is_empty());
        assert!(changes(&[1.0, 9.0]).is_empty() && changes(&[]).is_empty());
        let long: Vec<f64> = (0..1_200).map(|index| if index < 600 { 5.0 } else { 8.0 } + noise(index) / 1e3).collect();
        assert_eq!(changes(&long).iter().map(|change| change.at).collect::<Vec<_>>(), [600]);
        let twice: Vec<f64> = series.iter().copied().chain((0..10).map(|index| 90.0 + noise(index))).collect();
        assert_eq!(changes(&twice).iter().map(|change| change.at).collect::<Vec<_>>(), [25, 40]);
    }
}
