//! Random draws of programs.

use pacing::{Nanos, Random};
use plan::Think;

/// The longest pause that is drawn: unbounded distributions are cut here too.
const THINK_MAX: Nanos = Nanos::from_millis(24 * 3_600_000);

pub(super) fn think_span(think: Think, random: &mut Random) -> Nanos {
    let seconds = match think {
        Think::Fixed(span) => return span.into(),
        Think::Uniform(least, most) => {
            let (least, most) = (Nanos::from(least).0, Nanos::from(most).0);
            return Nanos(random.between(least.min(most), least.max(most)));
        }
        Think::Exponential(mean) => -(1.0 - random.unit()).ln() * mean.as_secs_f64(),
        Think::Normal(mean, deviation) => normal(random).mul_add(deviation.as_secs_f64(), mean.as_secs_f64()),
        Think::LogNormal(median, sigma) => (normal(random) * sigma).exp() * median.as_secs_f64(),
    };
    Nanos((seconds.max(0.0) * 1e9) as u64).min(THINK_MAX)
}

/// A draw with mean 0 and deviation 1 (Box and Muller).
fn normal(random: &mut Random) -> f64 {
    let (radius, angle) = ((1.0 - random.unit()).ln(), random.unit());
    (-2.0 * radius).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// Shuffles; each order is as likely as any other.
pub(super) fn shuffle(order: &mut [u32], random: &mut Random) {
    for last in (1..order.len()).rev() {
        let other = random.below(last as u64 + 1) as usize;
        order.swap(last, other);
    }
}
