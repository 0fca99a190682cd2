//! Whether two series of means differ by more than their own noise explains.
//!
//! Neighbouring intervals of one run are alike, so they tell less than as many independent ones. A run is cut into batches;
//! their means are nearly independent, and what is left of their likeness makes them count for fewer (Law and Carson, the
//! method of batch means). Two runs are compared by Welch's test.

/// So many batches at most: more would be of too few intervals to be independent.
const BATCHES_MAX: usize = 20;
/// With fewer nothing can be said.
const BATCHES_MIN: usize = 4;

/// Mean, its variance and how many independent values stand behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) mean: f64,
    /// Of one batch.
    variance: f64,
    /// Independent batches.
    count: f64,
}

impl Sample {
    /// Of the values of intervals, in their order; `None` when they are too few.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let size = values.len().div_ceil(BATCHES_MAX).max(1);
        // What is left over at the end is no batch.
        let means: Vec<f64> = values.chunks_exact(size).map(|batch| batch.iter().sum::<f64>() / size as f64).collect();
        if means.len() < BATCHES_MIN {
            return None;
        }
        let number = means.len() as f64;
        let mean = means.iter().sum::<f64>() / number;
        let variance = means.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (number - 1.0);
        let together: f64 = means.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum();
        let all = variance * (number - 1.0);
        // Of few batches, likeness to their own mean comes out too small, by about this (Kendall).
        let likeness = if all > 0.0 { together / all } else { 0.0 };
        let likeness = (likeness + (1.0 + 3.0 * likeness) / number).clamp(0.0, 0.95);
        let count = (number * (1.0 - likeness) / (1.0 + likeness)).max(2.0);
        Some(Self { mean, variance, count })
    }

    /// How likely a difference as large as this one is where there is none (two-sided).
    pub(crate) fn chance(&self, other: &Self) -> f64 {
        let (one, two) = (self.variance / self.count, other.variance / other.count);
        let error = one + two;
        if error <= 0.0 {
            return if self.mean == other.mean { 1.0 } else { 0.0 };
        }
        let score = (self.mean - other.mean).abs() / error.sqrt();
        let part = |variance: f64, count: f64| variance * variance / (count - 1.0).max(1.0);
        let freedom = error * error / (part(one, self.count) + part(two, other.count)).max(f64::MIN_POSITIVE);
        beyond(score, freedom.max(1.0))
    }
}

/// How often Student's t lies beyond a score on either side.
pub(crate) fn beyond(score: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / (freedom + score * score), freedom / 2.0, 0.5)
}

/// The regularized incomplete beta function, by its continued fraction.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges fast on the one side of the mean, so the other is its complement.
    if x < (a + 1.0) / (a + b + 2.0) {
        (front * fraction(x, a, b) / a).clamp(0.0, 1.0)
    } else {
        (1.0 - front * fraction(1.0 - x, b, a) / b).clamp(0.0, 1.0)
    }
}

fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let safe = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / safe(1.0 - (a + b) * x / (a + 1.0)));
    let mut sum = d;
    for step in 1..500 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / safe(1.0 + even * d);
        c = safe(1.0 + even / c);
        sum *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / safe(1.0 + odd * d);
        c = safe(1.0 + odd / c);
        let change = d * c;
        sum *= change;
        if (change - 1.0).abs() < 1e-12 {
            break;
        }
    }
    sum
}

/// The logarithm of the gamma function, by Stirling's series.
fn ln_gamma(x: f64) -> f64 {
    // The series is good where its argument is large.
    let (mut x, mut shift) = (x, 0.0);
    while x < 10.0 {
        shift += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series = (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - shift
}

#[cfg(test)]
mod tests;
