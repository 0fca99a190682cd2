//! Response times of one worker that is shared by all requests in it.

use crate::formulas::{mmc_longer, rate_where};

/// The share that stays longer than `t`, with random arrivals and services (M/M/1-PS): a new request finds others, and
/// their number fluctuates until it leaves. Instants of a process with a uniform rate are summed (uniformization).
pub(crate) fn shared_longer(rate: f64, mean_s: f64, t: f64) -> f64 {
    const MOST: usize = 400;
    let mu = 1.0 / mean_s;
    let used = rate / mu;
    if used >= 1.0 {
        return 1.0;
    }
    let all = rate + mu;
    // By the number of others: the probability of still being there after this many instants.
    let mut there = vec![1.0; MOST];
    let (mut sum, mut weight, mut seen) = (0.0, (-all * t).exp(), 0.0);
    for step in 1.. {
        let still: f64 = there.iter().enumerate().map(|(others, p)| (1.0 - used) * used.powi(others as i32) * p).sum();
        sum += weight * still;
        seen += weight;
        if step as f64 > all * t && 1.0 - seen < 1e-9 || step > 10_000 {
            break;
        }
        weight *= all * t / f64::from(step);
        there = (0..MOST)
            .map(|others| {
                let more = there[(others + 1).min(MOST - 1)];
                let fewer = if others > 0 { there[others - 1] } else { 0.0 };
                let part = others as f64 / (others + 1) as f64;
                (rate * more + mu * part * fewer) / all
            })
            .collect();
    }
    sum
}

pub(crate) fn shared_rate(mean_s: f64, t: f64, share: f64) -> f64 {
    rate_where(|rate| shared_longer(rate, mean_s, t), 1.0 / mean_s, share)
}

#[test]
fn shared_is_slower_for_the_slow() {
    // Alone with its worker a service takes its own time; shared, means are as in a line, and long stays are more
    // frequent.
    assert!((shared_longer(1e-6, 0.001, 0.003) - (-3f64).exp()).abs() < 1e-6);
    let mean: f64 = (0..400).map(|at| shared_longer(500.0, 0.001, f64::from(at) * 1e-4) * 1e-4).sum();
    assert!((mean - 0.002).abs() < 0.0001, "{mean}");
    assert!(shared_longer(500.0, 0.001, 0.01) > mmc_longer(500.0, 1, 0.001, 0.01));
}
