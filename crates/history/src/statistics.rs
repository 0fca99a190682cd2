//! A test of whether two series of means differ by more than their own noise explains.
//!
//! Neighbouring intervals of one run are correlated, so they carry less information than as many independent ones. A
//! run is cut into batches; their means are nearly independent, and the remaining correlation makes them count for
//! fewer (Law and Carson, the method of batch means). Two runs are compared by Welch's test.

/// The most batches: more would have too few intervals each to be independent.
const BATCHES_MAX: usize = 20;
/// The fewest batches; with fewer no statement is possible.
const BATCHES_MIN: usize = 4;
/// The upper limit of the search for a score.
const SCORE_MAX: f64 = 1e6;
/// The number of bisections, which is the number of binary digits of a score.
const HALVINGS: u32 = 60;

/// A mean, and its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) mean: f64,
    /// The variance of the mean.
    error: f64,
    /// Degrees of freedom of the error.
    freedom: f64,
}

impl Sample {
    /// The sample of the values of intervals, in order; `None` when they are too few.
    pub(crate) fn new(values: &[f64]) -> Option<Self> {
        let size = values.len().div_ceil(BATCHES_MAX).max(1);
        // Values left over at the end form no batch.
        let means: Vec<f64> = values.chunks_exact(size).map(|batch| batch.iter().sum::<f64>() / size as f64).collect();
        if means.len() < BATCHES_MIN {
            return None;
        }
        let number = means.len() as f64;
        let mean = means.iter().sum::<f64>() / number;
        let variance = means.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / (number - 1.0);
        let together: f64 = means.windows(2).map(|two| (two[0] - mean) * (two[1] - mean)).sum();
        let all = variance * (number - 1.0);
        // With few batches, the correlation around their own mean is underestimated by about this (Kendall).
        let likeness = if all > 0.0 { together / all } else { 0.0 };
        let likeness = (likeness + (1.0 + 3.0 * likeness) / number).clamp(0.0, 0.95);
        let count = (number * (1.0 - likeness) / (1.0 + likeness)).max(2.0);
        Some(Self { mean, error: variance / count, freedom: (count - 1.0).max(1.0) })
    }

    /// The sample of the values of several runs, with the variance between the runs. `None` when each of them has too
    /// few.
    pub(crate) fn from_runs(runs: &[Vec<f64>]) -> Option<Self> {
        let each: Vec<Self> = runs.iter().filter_map(|values| Self::new(values)).collect();
        if each.len() < 2 {
            return each.first().copied();
        }
        let number = each.len() as f64;
        let mean = each.iter().map(|one| one.mean).sum::<f64>() / number;
        let within = each.iter().map(|one| one.error).sum::<f64>() / (number * number);
        let spread = each.iter().map(|one| (one.mean - mean).powi(2)).sum::<f64>() / (number - 1.0);
        // The variance of the runs' means that the noise within the runs does not explain.
        let between = (spread / number - within).max(0.0);
        let own: f64 = each.iter().map(|one| (one.error / (number * number)).powi(2) / one.freedom).sum();
        let error = within + between;
        let freedom = error * error / (own + between * between / (number - 1.0)).max(f64::MIN_POSITIVE);
        Some(Self { mean, error, freedom: freedom.max(1.0) })
    }

    /// The probability of a difference as large as this one when there is none (two-sided).
    pub(crate) fn chance(&self, other: &Self) -> f64 {
        let error = self.error + other.error;
        if error <= 0.0 {
            return if self.mean == other.mean { 1.0 } else { 0.0 };
        }
        beyond((self.mean - other.mean).abs() / error.sqrt(), self.freedom_with(other))
    }

    /// The smallest difference whose probability is `chance` when there is none.
    pub(crate) fn visible(&self, other: &Self, chance: f64) -> f64 {
        let freedom = self.freedom_with(other);
        let (mut low, mut high) = (0.0, 1.0);
        while beyond(high, freedom) > chance && high < SCORE_MAX {
            high *= 2.0;
        }
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if beyond(middle, freedom) > chance { low = middle } else { high = middle }
        }
        high * (self.error + other.error).sqrt()
    }

    /// The degrees of freedom of both together (Welch and Satterthwaite).
    fn freedom_with(&self, other: &Self) -> f64 {
        let error = self.error + other.error;
        let part = |one: &Self| one.error * one.error / one.freedom;
        (error * error / (part(self) + part(other)).max(f64::MIN_POSITIVE)).max(1.0)
    }
}

/// The probability that Student's t lies beyond a score on either side.
pub(crate) fn beyond(score: f64, freedom: f64) -> f64 {
    incomplete_beta(freedom / (freedom + score * score), freedom / 2.0, 0.5)
}

/// The regularized incomplete beta function, by its continued fraction.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp();
    // The fraction converges fast on one side of the mean, so the other side is its complement.
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
    // The series is accurate for large arguments.
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
