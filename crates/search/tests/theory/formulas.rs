//! Response times of queues, from textbooks.

/// The share of an M/M/c queue's customers that stay longer than `t`.
pub(crate) fn mmc_longer(rate: f64, workers: u32, mean_s: f64, t: f64) -> f64 {
    let (mu, c) = (1.0 / mean_s, f64::from(workers));
    let a = rate / mu;
    if a >= c {
        return 1.0;
    }
    // Erlang's C from Erlang's B, step by step.
    let b = (1..=workers).fold(1.0, |b, k| a * b / (f64::from(k) + a * b));
    let waits = b / (1.0 - a / c * (1.0 - b));
    let gap = c * mu - rate;
    // The service, and for those that wait the wait before it.
    if (gap - mu).abs() < 1e-9 {
        return (-mu * t).exp() * (1.0 + waits * mu * t);
    }
    let behind = mu / (mu - gap) * ((-gap * t).exp() - (-mu * t).exp());
    (1.0 - waits) * (-mu * t).exp() + waits * ((-mu * t).exp() + behind * gap / mu * mu / gap)
}

/// The rate at which just `share` stay longer than `t`.
pub(crate) fn rate_where(longer: impl Fn(f64) -> f64, most: f64, share: f64) -> f64 {
    let (mut low, mut high) = (0.0, most);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if longer(middle) > share { high = middle } else { low = middle }
    }
    low
}

pub(crate) fn mmc_rate(workers: u32, mean_s: f64, t: f64, share: f64) -> f64 {
    rate_where(|rate| mmc_longer(rate, workers, mean_s, t), f64::from(workers) / mean_s, share)
}

/// The same of an M/D/1 queue: A. K. Erlang's waiting times, and the service after them.
fn md1_longer(rate: f64, span_s: f64, t: f64) -> f64 {
    let used = rate * span_s;
    if used >= 1.0 {
        return 1.0;
    }
    let waited = t - span_s;
    if waited < 0.0 {
        return 1.0;
    }
    let mut sum = 0.0;
    for k in 0..=(waited / span_s) as u32 {
        let left = rate * (waited - f64::from(k) * span_s);
        let term = (1..=k).fold(left.exp(), |term, each| term * -left / f64::from(each));
        sum += term;
    }
    1.0 - (1.0 - used) * sum
}

pub(crate) fn md1_rate(span_s: f64, t: f64, share: f64) -> f64 {
    rate_where(|rate| md1_longer(rate, span_s, t), 1.0 / span_s, share)
}

/// The same of a D/M/1 queue: stays are exponential, by the root of s = exp(-(1 - s) mu / rate).
fn dm1_longer(rate: f64, mean_s: f64, t: f64) -> f64 {
    let mu = 1.0 / mean_s;
    if rate >= mu {
        return 1.0;
    }
    let mut root = 0.0f64;
    for _ in 0..10_000 {
        root = (-(1.0 - root) * mu / rate).exp();
    }
    (-mu * (1.0 - root) * t).exp()
}

pub(crate) fn dm1_rate(mean_s: f64, t: f64, share: f64) -> f64 {
    rate_where(|rate| dm1_longer(rate, mean_s, t), 1.0 / mean_s, share)
}

/// The most users of one worker with exponential services, of which just `share` of the stays are longer than `t`: each
/// stay is as many services as there are users.
pub(crate) fn users_most(mean_s: f64, t: f64, share: f64) -> f64 {
    let x = t / mean_s;
    let (mut users, mut term, mut sum) = (0u32, (-x).exp(), 0.0);
    // Of Erlang's distribution with `users` phases: the sum of the first terms of Poisson's.
    loop {
        sum += term;
        if sum > share {
            return f64::from(users);
        }
        users += 1;
        term *= x / f64::from(users);
    }
}

#[test]
fn formulas_agree_with_each_other() {
    // One worker: stays are exponential with the rate that is left.
    for (rate, t) in [(500.0f64, 0.01), (900.0, 0.05)] {
        let expect = (-(1_000.0 - rate) * t).exp();
        assert!((mmc_longer(rate, 1, 0.001, t) / expect - 1.0).abs() < 1e-9);
    }
    // Two workers, half used: by hand, C = 1/3, and stays longer than 2 ms are exp(-2) (1 + 2/3).
    let longer = mmc_longer(1_000.0, 2, 0.001, 0.002);
    assert!((longer - (-2f64).exp() * (1.0 + 2.0 / 3.0)).abs() < 1e-9, "{longer}");
    // Half used, one service of waiting: 1 - 0.5 e^0.5.
    let waits = md1_longer(500.0, 0.001, 0.002 - 1e-12);
    assert!((waits - (1.0 - 0.5 * 0.5f64.exp())).abs() < 1e-6, "{waits}");
    // Even arrivals wait less than random ones.
    assert!(dm1_longer(800.0, 0.001, 0.01) < mmc_longer(800.0, 1, 0.001, 0.01));
    // Ten services take longer than 18.78 means once in a hundred.
    assert_eq!((users_most(0.001, 0.01879, 0.01), users_most(0.001, 0.01878, 0.01)), (10.0, 9.0));
}
