//! Intervals of a load, and how long it was paused in them.

use pacing::Nanos;

use super::totals::Totals;
use super::{Interval, ScenarioInterval};
use crate::interval_merger::{OwnedInterval, ReadyInterval, Remark};

/// How long the load was paused in an interval.
#[derive(Clone, Debug)]
pub struct Pauses {
    /// All scenarios at the same time.
    pub(super) all: Nanos,
    /// Scenario by scenario.
    pub(super) of: Vec<Nanos>,
}

impl Remark for Pauses {
    fn join(&mut self, is_new: bool, (later, is_later_new): (&Self, bool)) {
        let new = |is_new: bool, paused: Nanos| if is_new { paused } else { Nanos::ZERO };
        // The pause of an update was counted before.
        let add = |own: &mut Nanos, more: Nanos| *own = new(is_new, *own) + new(is_later_new, more);
        add(&mut self.all, later.all);
        self.of.iter_mut().zip(&later.of).for_each(|(own, more)| add(own, *more));
    }
}

/// An owned interval.
pub type KeptInterval = OwnedInterval<Totals, Pauses>;

impl KeptInterval {
    /// The interval, borrowed.
    pub fn interval(&self) -> Interval<'_> {
        interval(&self.ready, &self.remark, [&self.seen, &self.added, &self.total])
    }
}

pub(super) fn interval<'a>(
    ready: &ReadyInterval,
    paused: &Pauses,
    [seen, added, total]: [&'a Totals; 3],
) -> Interval<'a> {
    let part = |(scenario, paused): (usize, &Nanos)| ScenarioInterval {
        paused: *paused,
        seen: seen.scenario(scenario),
        added: added.scenario(scenario),
        total: total.scenario(scenario),
    };
    Interval {
        number: ready.number,
        from: ready.from,
        to: ready.to,
        paused: paused.all,
        late_shards: ready.late,
        is_update: ready.is_update,
        seen: &seen.all,
        added: &added.all,
        total: &total.all,
        scenarios: paused.of.iter().enumerate().map(part).collect(),
    }
}

#[cfg(test)]
mod tests {
    use metrics::Counter;

    use super::*;
    use crate::subscribers::Join;

    /// Totals of the starts of two scenarios.
    fn started(first: u64, second: u64, users: u64) -> Totals {
        let mut whole = Totals::new(2);
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
        let remark = Pauses { all: paused, of: vec![paused, Nanos::ZERO] };
        let (from, to, late, is_current) = (at(number - 1), at(number), 0, !is_update);
        KeptInterval {
            ready: ReadyInterval { number, from, to, late, is_update, is_current },
            seen,
            added,
            total,
            remark,
        }
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
