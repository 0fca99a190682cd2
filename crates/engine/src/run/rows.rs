//! Intervals: their spans, and what was seen in them.

use pacing::Nanos;

use super::totals::Totals;
use super::{Interval, ScenarioInterval};
use crate::subscribers::Join;

/// The span of an interval; the fields are those of [`Interval`].
#[derive(Clone, Debug)]
pub(super) struct Span {
    pub(super) number: u64,
    pub(super) from: Nanos,
    pub(super) to: Nanos,
    pub(super) paused: Nanos,
    /// Pauses, scenario by scenario.
    pub(super) paused_of: Vec<Nanos>,
    pub(super) late_shards: usize,
    pub(super) is_update: bool,
}

impl Span {
    pub(super) fn interval<'a>(&self, seen: &'a Totals, added: &'a Totals, total: &'a Totals) -> Interval<'a> {
        let part = |(scenario, paused): (usize, &Nanos)| ScenarioInterval {
            paused: *paused,
            seen: seen.scenario(scenario),
            added: added.scenario(scenario),
            total: total.scenario(scenario),
        };
        Interval {
            number: self.number,
            from: self.from,
            to: self.to,
            paused: self.paused,
            late_shards: self.late_shards,
            is_update: self.is_update,
            seen: &seen.all,
            added: &added.all,
            total: &total.all,
            scenarios: self.paused_of.iter().enumerate().map(part).collect(),
        }
    }
}

/// An owned interval.
#[derive(Clone, Debug)]
pub struct KeptInterval {
    span: Span,
    seen: Totals,
    added: Totals,
    total: Totals,
}

impl KeptInterval {
    pub(super) fn new(span: Span, seen: Totals, added: Totals, total: Totals) -> Self {
        Self { span, seen, added, total }
    }

    /// The interval, borrowed.
    pub fn interval(&self) -> Interval<'_> {
        self.span.interval(&self.seen, &self.added, &self.total)
    }
}

impl Join for KeptInterval {
    /// Merges two: what was new in either, once, in the time from the first to the last. It replaces no row that was
    /// reported before.
    fn join(&mut self, later: &Self) {
        self.added.merge(&later.added);
        self.added.take_gauges(&later.total);
        self.seen.clone_from(&self.added);
        self.total.clone_from(&later.total);
        let (own, other) = (&mut self.span, &later.span);
        let new = |span: &Span, paused: Nanos| if span.is_update { Nanos::ZERO } else { paused };
        // The pause of an update was counted before.
        own.paused = new(own, own.paused) + new(other, other.paused);
        let both = own.paused_of.iter().zip(&other.paused_of);
        own.paused_of = both.map(|(one, more)| new(own, *one) + new(other, *more)).collect();
        own.number = own.number.max(other.number);
        (own.from, own.to) = (own.from.min(other.from), own.to.max(other.to));
        own.late_shards = own.late_shards.max(other.late_shards);
        own.is_update = false;
    }
}

#[cfg(test)]
mod tests {
    use metrics::Counter;

    use super::*;

    /// Totals of the starts of two scenarios.
    fn started(first: u64, second: u64, users: u64) -> Totals {
        let mut whole = Totals::of(2);
        let mut seen = [metrics::Snapshot::default(), metrics::Snapshot::default()];
        for (seen, count) in seen.iter_mut().zip([first, second]) {
            seen.counts[Counter::Started] = count;
        }
        seen[0].gauges.users = users;
        whole.add(&[0, 1], &seen.into_iter().map(Box::new).collect());
        whole
    }

    fn row(number: u64, is_update: bool, parts: [Totals; 3]) -> KeptInterval {
        let [seen, added, total] = parts;
        let at = |seconds: u64| Nanos::from_millis(seconds * 1_000);
        let paused = Nanos::from_millis(100 * number);
        let paused_of = vec![paused, Nanos::ZERO];
        let span = Span { number, from: at(number - 1), to: at(number), paused, paused_of, late_shards: 0, is_update };
        KeptInterval::new(span, seen, added, total)
    }

    /// An update of the first interval adds three starts, before or after the second one.
    #[test]
    fn what_is_joined_is_what_is_new_in_any_of_them() {
        let again = |total| row(1, true, [started(8, 1, 7), started(3, 0, 7), total]);
        let second = |total| row(2, false, [started(4, 2, 9), started(4, 2, 9), total]);
        let orders = [
            [again(started(8, 1, 7)), second(started(12, 3, 9))],
            [second(started(9, 3, 9)), again(started(12, 3, 9))],
        ];
        for [mut joined, later] in orders {
            joined.join(&later);
            let interval = joined.interval();
            assert_eq!((interval.number, interval.is_update), (2, false));
            assert_eq!((interval.from, interval.to), (Nanos::ZERO, Nanos::from_millis(2_000)));
            assert_eq!(interval.paused, Nanos::from_millis(200), "what is told again was paused before");
            for (seen, [all, first, second]) in
                [(interval.seen, [9, 7, 2]), (interval.added, [9, 7, 2]), (interval.total, [15, 12, 3])]
            {
                let of =
                    |part: fn(&ScenarioInterval<'_>) -> u64| interval.scenarios.iter().map(part).collect::<Vec<_>>();
                let parts = if std::ptr::eq(seen, interval.total) {
                    of(|part| part.total.counts.started())
                } else {
                    of(|part| part.added.counts.started())
                };
                assert_eq!((seen.counts.started(), parts), (all, vec![first, second]));
                assert_eq!(seen.gauges.users, 9, "gauges are not added over time");
            }
        }
    }
}
