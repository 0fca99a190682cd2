//! The Universal Scalability Law (N. J. Gunther, Guerrilla Capacity Planning): throughput of a system with `n` in it.
//!
//! `X(n) = g n / (1 + a (n - 1) + b n (n - 1))`, with contention `a` and coherence `b`. It is fitted by least squares
//! to `n / X`, which is a polynomial in its unknowns, and holds only within the range of its points.

/// The least number of points.
pub const POINTS_MIN: usize = 6;

/// A fitted law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usl {
    /// Throughput with one in the system, per second.
    pub alone_per_s: f64,
    /// Contention: the share of time spent waiting for each other.
    pub contention: f64,
    /// Coherence: the cost of agreement, for each pair.
    pub coherence: f64,
    /// The smallest and largest number in the system.
    pub range: (f64, f64),
    /// The largest deviation of a point from the law, as a share.
    pub worst: f64,
}

impl Usl {
    /// The law of some points: the number in the system, and the throughput per second.
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let points: Vec<(f64, f64)> = points.iter().copied().filter(|(n, x)| *n > 0.0 && *x > 0.0).collect();
        if points.len() < POINTS_MIN {
            return None;
        }
        // n / X = c0 + c1 (n - 1) + c2 n (n - 1), with c0 = 1 / g, c1 = a / g, c2 = b / g; each weighted by X / n, so
        // that relative errors count.
        let mut sums = [[0.0; 4]; 3];
        for (n, x) in &points {
            let weight = x / n;
            let row = [weight, (n - 1.0) * weight, n * (n - 1.0) * weight, 1.0];
            for (at, sums) in sums.iter_mut().enumerate() {
                sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += row[at] * value);
            }
        }
        let [c0, c1, c2] = solve(sums)?;
        if c0 <= 0.0 {
            return None;
        }
        let range = points.iter().fold((f64::INFINITY, 0f64), |(least, most), (n, _)| (least.min(*n), most.max(*n)));
        let mut law = Self { alone_per_s: 1.0 / c0, contention: c1 / c0, coherence: c2 / c0, range, worst: 0.0 };
        // Negative costs would fit noise.
        (law.contention, law.coherence) = (law.contention.max(0.0), law.coherence.max(0.0));
        law.worst = points.iter().map(|(n, x)| (law.at(*n) / x - 1.0).abs()).fold(0.0, f64::max);
        Some(law)
    }

    /// The throughput with `n` in the system.
    pub fn at(&self, n: f64) -> f64 {
        self.alone_per_s * n / (1.0 + self.contention * (n - 1.0) + self.coherence * n * (n - 1.0))
    }

    /// The maximum, if it lies within the range of points.
    pub fn peak(&self) -> Option<(f64, f64)> {
        let at = ((1.0 - self.contention) / self.coherence).sqrt();
        (at >= self.range.0 && at <= self.range.1).then(|| (at, self.at(at)))
    }
}

/// Solves three equations with three unknowns.
fn solve(mut rows: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for at in 0..3 {
        let pivot = (at..3).max_by(|one, other| rows[*one][at].abs().total_cmp(&rows[*other][at].abs()))?;
        rows.swap(at, pivot);
        if rows[at][at].abs() < 1e-12 {
            return None;
        }
        for other in 0..3 {
            if other != at {
                let share = rows[other][at] / rows[at][at];
                let source = rows[at];
                rows[other].iter_mut().zip(source).for_each(|(value, own)| *value -= share * own);
            }
        }
    }
    Some([0, 1, 2].map(|at| rows[at][3] / rows[at][at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_is_found_again() {
        let law = Usl { alone_per_s: 100.0, contention: 0.03, coherence: 0.0005, range: (1.0, 64.0), worst: 0.0 };
        let points: Vec<(f64, f64)> = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(|n| (n, law.at(n))).to_vec();
        let found = Usl::fit(&points).expect("enough points");
        assert!((found.alone_per_s - 100.0).abs() < 1e-6 && (found.contention - 0.03).abs() < 1e-8, "{found:?}");
        assert!((found.coherence - 0.0005).abs() < 1e-9 && found.worst < 1e-9, "{found:?}");
        let (at, most) = found.peak().expect("within the points");
        assert!((at - 44.05).abs() < 0.01 && most < found.at(44.0) + 0.01, "{at} {most}");
    }

    #[test]
    fn nothing_is_said_beyond_the_points() {
        let law = Usl { alone_per_s: 100.0, contention: 0.03, coherence: 0.0005, range: (1.0, 8.0), worst: 0.0 };
        assert_eq!(law.peak(), None);
        assert_eq!(Usl::fit(&[(1.0, 1.0); 5]), None);
        assert_eq!(Usl::fit(&[(3.0, 1.0); 9]), None, "one point nine times");
    }
}
