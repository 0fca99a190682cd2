//! Where the number in flight changed while the load ran, the rates show what a part of it would get.

use super::known::UsersPart;
use crate::probe_arithmetic::{ProbeFinding, RESPONSES_MIN, Sample, compare_samples, grouped};
use crate::slices::{Slice, Slices};

/// Share of the most in flight from which on a slice counts as high.
const HIGH: f64 = 0.8;
/// Shares that count as about half.
const HALF: (f64, f64) = (0.35, 0.6);
/// Fewest slices for a level; its samples are merged into this many parts.
const SLICES_MIN: usize = 8;
const PARTS: usize = 10;
/// A smaller number in flight allows no conclusion from its parts.
const MOST_MIN: u64 = 4;

/// The rate that half of the most in flight got; `None` where it was not there for long enough, or where that shows
/// nothing.
pub(super) fn curve(slices: &Slices) -> Option<(UsersPart, ProbeFinding)> {
    let most = slices.each.iter().map(|slice| slice.in_flight).max().filter(|most| *most >= MOST_MIN)? as f64;
    let share = |slice: &Slice| slice.in_flight as f64 / most;
    // A slice begins with what was in flight at the end of the one before.
    let pairs = || slices.each.windows(2).map(|pair| (share(&pair[0]), share(&pair[1]), pair[1]));
    let high: Vec<Slice> = pairs().filter(|(a, b, _)| *a >= HIGH && *b >= HIGH).map(|(_, _, slice)| slice).collect();
    let within = |share: f64| (HALF.0..=HALF.1).contains(&share);
    let half: Vec<(f64, Slice)> =
        pairs().filter(|(a, b, _)| within(*a) && within(*b)).map(|(a, b, slice)| ((a + b) / 2.0, slice)).collect();
    if high.len() < SLICES_MIN || half.len() < SLICES_MIN {
        return None;
    }
    // Both have a mean number in flight of their own.
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len() as f64;
    let of_high: Vec<f64> = high.iter().map(share).collect();
    let of_half: Vec<f64> = half.iter().map(|(share, _)| *share).collect();
    let kept = mean(&of_half) / mean(&of_high);
    let half: Vec<Slice> = half.into_iter().map(|(_, slice)| slice).collect();
    let sample = |slices: &[Slice], width: f64| {
        let each = slices.len().div_ceil(PARTS);
        // A shorter last part is left out.
        let whole = slices.len() / each * each;
        Sample::new(&grouped(&slices[slices.len() - whole..], each), width * each as f64)
    };
    let width = slices.width.as_secs_f64();
    let seen = compare_samples(&sample(&high, width), &sample(&half, width), kept, 0.0, RESPONSES_MIN)?;
    let is_refused = seen.response == ProbeFinding::Refuses;
    Some((UsersPart { kept, rate: seen.share, time: None, is_refused }, seen.response))
}

#[cfg(test)]
mod tests {
    use pacing::Nanos;

    use super::*;

    /// Users that come one after the other, each with `each` responses in a slice, up to `most` of all.
    fn ramp(each: u64, most: u64) -> Slices {
        let slice = |index: u64| {
            let ended = (index.min(80) * each).min(most) + index % 2;
            Slice { ended, succeeded: ended, in_flight: index.min(80), ..Slice::default() }
        };
        Slices { width: Nanos::from_millis(100), each: (0..160).map(slice).collect() }
    }

    #[test]
    fn a_flat_curve_is_the_targets_limit() {
        let (part, response) = curve(&ramp(10, 200)).expect("there was half of it");
        assert_eq!(response, ProbeFinding::AtLimit);
        assert!((part.kept - 0.5).abs() < 0.05 && (part.rate - 1.0).abs() < 0.05, "{part:?}");
        let (part, response) = curve(&ramp(10, u64::MAX)).expect("there was half of it");
        assert_eq!(response, ProbeFinding::Below);
        assert!((part.rate - 0.5).abs() < 0.05, "{part:?}");
    }

    #[test]
    fn as_many_from_the_beginning_on_have_no_curve() {
        let mut slices = ramp(10, 200);
        slices.each.iter_mut().for_each(|slice| slice.in_flight = 80);
        assert_eq!(curve(&slices), None);
    }
}
