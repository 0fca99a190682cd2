//! Intervals of shares and means for correlated observations.

/// Fewer batches say nothing of how much they differ.
const BATCHES_MIN: usize = 8;

/// The variance of the sum of `values`, by batch means: batches of one value, of two, of four, as long as there are
/// enough of them. Positive correlation makes the sums of long batches differ more, so the largest counts. Also returns
/// the number of batches, less one. `None` for too few values.
pub(crate) fn variance_of_sum(values: &[f64]) -> Option<(f64, usize)> {
    let count = values.len();
    let mut largest: Option<(f64, usize)> = None;
    let mut length = 1;
    while count / length >= BATCHES_MIN {
        let batches = count / length;
        let sums = values.chunks_exact(length).map(|batch| batch.iter().sum::<f64>());
        let mean = sums.clone().sum::<f64>() / batches as f64;
        let squares: f64 = sums.map(|sum| (sum - mean).powi(2)).sum();
        // The values after the last whole batch are assumed to differ as much.
        let whole = count as f64 / (batches * length) as f64;
        let variance = squares * batches as f64 / (batches - 1) as f64 * whole;
        if largest.is_none_or(|(most, _)| variance > most) {
            largest = Some((variance, batches - 1));
        }
        length *= 2;
    }
    largest
}

/// The quantile of Student's t with `degrees` of freedom that corresponds to `z` of the normal distribution: the first
/// terms of the expansion by Cornish and Fisher, which overstates for few degrees.
pub(crate) fn student(z: f64, degrees: usize) -> f64 {
    let n = degrees.max(1) as f64;
    let (z3, z5) = (z.powi(3), z.powi(5));
    z + (z3 + z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
}

/// The interval of a share by Wilson: `share` of `count` independent observations.
pub(crate) fn wilson(share: f64, count: f64, z: f64) -> (f64, f64) {
    if count <= 0.0 {
        return (0.0, 1.0);
    }
    let over = z * z / count;
    let middle = (share + over / 2.0) / (1.0 + over);
    let half = z / (1.0 + over) * (share * (1.0 - share) / count + over / (4.0 * count)).max(0.0).sqrt();
    ((middle - half).max(0.0), (middle + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_books() {
        // Ten of a hundred, 95 %: 0.0552 to 0.1744.
        let (low, high) = wilson(0.1, 100.0, 1.96);
        assert!((low - 0.0552).abs() < 1e-4 && (high - 0.1744).abs() < 1e-4, "{low} {high}");
        assert_eq!(wilson(0.5, 0.0, 2.0), (0.0, 1.0));
        let (low, high) = wilson(0.0, 380.0, 1.96);
        assert!(low == 0.0 && (high - 0.01).abs() < 1e-4, "{high}");
    }

    #[test]
    fn few_degrees_widen() {
        // Tables of Student's t: 2.228 at ten degrees, 1.984 at a hundred.
        assert!((student(1.96, 10) - 2.228).abs() < 0.01, "{}", student(1.96, 10));
        assert!((student(1.96, 100) - 1.984).abs() < 0.001);
    }

    #[test]
    fn neighbours_that_are_alike_count_less() {
        let mut random = pacing::Random::new(3);
        let alone: Vec<f64> = (0..4_096).map(|_| random.unit()).collect();
        // Eight of each.
        let alike: Vec<f64> = (0..4_096).map(|at| alone[at / 8]).collect();
        let (alone, _) = variance_of_sum(&alone).expect("enough");
        let (alike, _) = variance_of_sum(&alike).expect("enough");
        // A twelfth for each value.
        assert!((0.8..2.6).contains(&(alone / (4_096.0 / 12.0))), "{alone}");
        assert!((4.0..24.0).contains(&(alike / (4_096.0 / 12.0))), "{alike}");
        assert_eq!(variance_of_sum(&[1.0; 7]), None);
    }
}
