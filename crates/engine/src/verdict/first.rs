//! The first round: where all users begin at once, their first exchanges find an empty queue, and later ones a full
//! one.

use metrics::Distribution;

/// The least number of users, and of requests of each, for a conclusion.
const USERS_MIN: u64 = 20;
const ROUNDS_MIN: u64 = 3;
/// In a queue that fills up, the shortest first exchange takes little of the time of later ones, and the last of the
/// first round nearly all of it.
const SHORTEST_MAX: f64 = 0.35;
const LONGEST_MIN: f64 = 0.75;
/// First exchanges take at most this share of the time of later ones, and are significantly shorter: standard errors of
/// Mann and Whitney.
const RATIO_MAX: f64 = 0.65;
const SURE: f64 = 4.0;

/// The time of first exchanges as a share of that of later ones, where it shows that a queue filled up. `all` includes
/// the first ones.
pub(super) fn first_round(first: &Distribution, all: &Distribution) -> Option<f64> {
    if first.count() < USERS_MIN || all.count() < ROUNDS_MIN * first.count() {
        return None;
    }
    let Compared { ratio, errors, later_ns } = compared(first, all)?;
    let share = |quantile| first.quantile(quantile).map_or(0.0, |ns| ns as f64 / later_ns);
    let is_queue = share(0.1) <= SHORTEST_MAX && share(0.95) >= LONGEST_MIN;
    (ratio <= RATIO_MAX && errors >= SURE && is_queue).then_some(ratio)
}

/// Comparison of first exchanges with later ones.
struct Compared {
    /// The ratio of the medians.
    ratio: f64,
    /// How many standard errors shorter first ones are.
    errors: f64,
    /// The median of later ones.
    later_ns: f64,
}

fn compared(first: &Distribution, all: &Distribution) -> Option<Compared> {
    let mut of_first = first.buckets().map(|bucket| (bucket.lowest_ns, bucket.count)).peekable();
    let (n, total) = (first.count() as f64, all.count() as f64);
    let later_count = total - n;
    let (mut below, mut ranked, mut ties, mut median) = (0.0, 0.0, 0.0, None);
    for bucket in all.buckets() {
        let firsts = of_first.next_if(|(lowest, _)| *lowest == bucket.lowest_ns).map_or(0, |(_, count)| count) as f64;
        let later = (bucket.count as f64 - firsts).max(0.0);
        // A tied pair counts half.
        ranked += firsts * (later_count - below - later / 2.0);
        ties += (firsts + later).powi(3) - (firsts + later);
        below += later;
        if median.is_none() && below >= later_count / 2.0 {
            median = Some(bucket.middle_ns() as f64);
        }
    }
    let variance = n * later_count / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    let median = median.filter(|median| *median > 0.0 && variance > 0.0)?;
    let errors = (ranked - n * later_count / 2.0) / variance.sqrt();
    Some(Compared { ratio: first.quantile(0.5)? as f64 / median, errors, later_ns: median })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLI: u64 = 1_000_000;

    fn times(each: impl IntoIterator<Item = u64>) -> Distribution {
        let mut times = Distribution::default();
        each.into_iter().for_each(|time| times.record(time));
        times
    }

    /// Users of a server that takes one request at a time, each for a millisecond: the first waits for no other, and
    /// later ones for all others.
    fn queue(users: u64, rounds: u64) -> (Distribution, Distribution) {
        let first = times((1..=users).map(|place| place * MILLI));
        let mut all = first.clone();
        all.record_many(users * MILLI, users * (rounds - 1));
        (first, all)
    }

    #[test]
    fn a_queue_that_fills_up_is_seen_by_the_first_round() {
        let (first, all) = queue(50, 4);
        let ratio = first_round(&first, &all).expect("it is seen");
        assert!((ratio - 0.5).abs() < 0.02, "{ratio}");
        // Too few users, or rounds.
        let (first, all) = queue(19, 4);
        assert_eq!(first_round(&first, &all), None);
        let (first, all) = queue(50, 2);
        assert_eq!(first_round(&first, &all), None);
    }

    #[test]
    fn times_that_are_the_same_say_nothing() {
        let each = |seed: u64| (0..50u64).map(move |user| (10 + (user * 7 + seed * 13) % 5) * MILLI);
        let first = times(each(0));
        let mut all = first.clone();
        (1..6).for_each(|round| all.merge(&times(each(round))));
        assert_eq!(first_round(&first, &all), None);
        // Nor first ones that are all as quick: later ones are then slowed by something other than a queue (an
        // acknowledgement, another row).
        let quick = times((0..50).map(|user| (1_000 + user * 3) * 1_000));
        let mut all = quick.clone();
        all.record_many(41 * MILLI, 500);
        assert_eq!(first_round(&quick, &all), None);
        // Nor a few that are short by chance.
        let mut short = times((0..20).map(|_| 10 * MILLI));
        short.record_many(2 * MILLI, 12);
        let mut all = short.clone();
        all.record_many(10 * MILLI, 30);
        all.record_many(2 * MILLI, 28);
        assert_eq!(first_round(&short, &all), None);
    }

    /// By the textbook: without ties, U of two samples is the number of pairs in which the first is shorter.
    #[test]
    fn standard_errors_are_those_of_mann_and_whitney() {
        let first = times([1, 2, 4].map(|time| time * MILLI));
        let mut all = first.clone();
        [3, 5, 6, 7].iter().for_each(|time| all.record(time * MILLI));
        let Compared { errors, .. } = compared(&first, &all).expect("both are there");
        let (u, mean, deviation) = (11.0, 6.0, (3.0f64 * 4.0 * 8.0 / 12.0).sqrt());
        assert!((errors - (u - mean) / deviation).abs() < 1e-9, "{errors}");
    }
}
