//! A compact histogram of times, exact to within a percent: the times of a step in one point of a chart.

use metrics::Distribution;

/// The ratio of each bucket to the one below it.
const GROWTH: f64 = 1.01;

/// Counts by the logarithm of the time, only those above zero, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hist {
    counts: Vec<(u16, u64)>,
}

impl Hist {
    pub(crate) fn of(times: &Distribution) -> Self {
        let mut counts: Vec<(u16, u64)> = Vec::new();
        for bucket in times.buckets() {
            let place = ((bucket.highest_ns.max(1) as f64).ln() / GROWTH.ln()).round() as u16;
            match counts.last_mut() {
                Some((last, count)) if *last == place => *count += bucket.count,
                _ => counts.push((place, bucket.count)),
            }
        }
        Self { counts }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if self.counts.is_empty() {
            self.counts.clone_from(&other.counts);
            return;
        }
        let mut merged = Vec::with_capacity(self.counts.len() + other.counts.len());
        let (mut ours, mut theirs) = (self.counts.iter().peekable(), other.counts.iter().peekable());
        loop {
            let next = match (ours.peek(), theirs.peek()) {
                (Some((one, _)), Some((other, _))) if one == other => {
                    let sum = ours.next().map_or(0, |each| each.1) + theirs.next().map_or(0, |each| each.1);
                    Some((*one, sum))
                }
                (Some((one, _)), Some((other, _))) if one > other => theirs.next().copied(),
                (Some(_), _) => ours.next().copied(),
                (None, _) => theirs.next().copied(),
            };
            match next {
                Some(next) => merged.push(next),
                None => break,
            }
        }
        self.counts = merged;
    }

    /// Each time in seconds, with its count.
    pub(crate) fn bars(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.counts.iter().map(|(place, count)| (seconds(*place), *count))
    }

    /// A quantile in seconds; `None` when there are no times.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let all: u64 = self.counts.iter().map(|(_, count)| count).sum();
        let wanted = ((all as f64 * share).ceil() as u64).max(1);
        let mut sum = 0;
        self.counts.iter().find_map(|(place, count)| {
            sum += count;
            (sum >= wanted).then(|| seconds(*place))
        })
    }
}

fn seconds(place: u16) -> f64 {
    GROWTH.powi(i32::from(place)) / 1e9
}
