//! A compact histogram of times, exact to within a percent: the times of a step in one point of a chart.

use metrics::Distribution;

/// The ratio of each bucket to the one below it.
const GROWTH: f64 = 1.01;

/// Counts by the logarithm of the time, those above zero alone, in order: for each how much above the one before it
/// stands, and the count, both in groups of seven bits, the lowest first. A run has thousands of these.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hist {
    bytes: Box<[u8]>,
}

/// Counts in their order, as bytes.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    place: u16,
}

impl Writer {
    fn add(&mut self, place: u16, count: u64) {
        push(u64::from(place - self.place), &mut self.bytes);
        push(count, &mut self.bytes);
        self.place = place;
    }

    fn end(self) -> Hist {
        Hist { bytes: self.bytes.into() }
    }
}

fn push(mut number: u64, out: &mut Vec<u8>) {
    while number >= 1 << 7 {
        out.push(number as u8 | 1 << 7);
        number >>= 7;
    }
    out.push(number as u8);
}

fn pop(bytes: &mut std::slice::Iter<'_, u8>) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let byte = *bytes.next()?;
        number |= u64::from(byte & 127) << shift;
        if byte < 1 << 7 {
            return Some(number);
        }
        shift += 7;
    }
}

impl Hist {
    pub(crate) fn new(times: &Distribution) -> Self {
        let (mut out, mut last) = (Writer::default(), None::<(u16, u64)>);
        for bucket in times.buckets() {
            let place = ((bucket.highest_ns.max(1) as f64).ln() / GROWTH.ln()).round() as u16;
            last = match last {
                Some((known, count)) if known == place => Some((known, count + bucket.count)),
                other => {
                    other.into_iter().for_each(|(place, count)| out.add(place, count));
                    Some((place, bucket.count))
                }
            };
        }
        last.into_iter().for_each(|(place, count)| out.add(place, count));
        out.end()
    }

    /// Bytes of it, without its owner.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.len()
    }

    fn counts(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        let (mut bytes, mut place) = (self.bytes.iter(), 0);
        std::iter::from_fn(move || {
            place += pop(&mut bytes)? as u16;
            Some((place, pop(&mut bytes)?))
        })
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if self.bytes.is_empty() {
            self.bytes.clone_from(&other.bytes);
            return;
        }
        let mut merged = Writer::default();
        let (mut ours, mut theirs) = (self.counts().peekable(), other.counts().peekable());
        loop {
            let next = match (ours.peek(), theirs.peek()) {
                (Some((one, _)), Some((other, _))) if one == other => {
                    let more = theirs.next().map_or(0, |each| each.1);
                    ours.next().map(|(place, count)| (place, count + more))
                }
                (Some((one, _)), Some((other, _))) if one > other => theirs.next(),
                (Some(_), _) => ours.next(),
                (None, _) => theirs.next(),
            };
            match next {
                Some((place, count)) => merged.add(place, count),
                None => break,
            }
        }
        drop((ours, theirs));
        *self = merged.end();
    }

    /// Each time in seconds, with its count.
    pub(crate) fn bars(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        self.counts().map(|(place, count)| (seconds(place), count))
    }

    /// A quantile in seconds; `None` when there are no times.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let all: u64 = self.counts().map(|(_, count)| count).sum();
        let wanted = ((all as f64 * share).ceil() as u64).max(1);
        let mut sum = 0;
        self.counts().find_map(|(place, count)| {
            sum += count;
            (sum >= wanted).then(|| seconds(place))
        })
    }
}

fn seconds(place: u16) -> f64 {
    GROWTH.powi(i32::from(place)) / 1e9
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// What is added and merged in any way is what a map of all counts has, in a few bytes for each.
    #[test]
    fn counts_are_packed_and_merged() {
        let mut random = 7u64;
        let mut draw = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) % below
        };
        for _ in 0..200 {
            let (mut whole, mut expected) = (Hist::default(), BTreeMap::<u16, u64>::new());
            for _ in 0..draw(4) + 1 {
                let mut times = Distribution::default();
                for _ in 0..draw(300) {
                    let (ns, count) = (1 << draw(36), draw(3) * draw(1 << 30) + 1);
                    times.record_many(ns + draw(ns), count);
                }
                let one = Hist::new(&times);
                assert_eq!(one.counts().map(|(_, count)| count).sum::<u64>(), times.count());
                one.counts().for_each(|(place, count)| *expected.entry(place).or_default() += count);
                whole.merge(&one);
            }
            assert!(whole.counts().eq(expected), "in order, each once");
        }
        let mut times = Distribution::default();
        (0..100).for_each(|number| times.record(1_000_000 + number * 20_000));
        let hist = Hist::new(&times);
        assert!(hist.counts().count() > 50 && hist.bytes() <= 3 * hist.counts().count(), "{}", hist.bytes());
    }
}
