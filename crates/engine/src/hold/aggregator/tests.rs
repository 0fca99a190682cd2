use metrics::{HeldCounter, HeldCounts};
use plan::{Flags, HoldFlags};

use super::*;

/// A row: when it ended, the connections that were open then, and those that were established in it.
type Row = (Nanos, u64, u64);

fn plan() -> Hold {
    let common =
        Flags { url: Some("ws://10.0.0.1/".to_owned()), connections: Some("30".to_owned()), ..Flags::default() };
    HoldFlags { common, ..HoldFlags::default() }.plan().expect("a good plan")
}

fn with_aggregator(shards: usize, test: impl FnOnce(&mut HoldAggregator)) {
    with_aggregator_of(Where::Here, shards, test);
}

fn with_aggregator_of(place: Where, shards: usize, test: impl FnOnce(&mut HoldAggregator)) {
    let (plan, stop, clock) = (Arc::new(plan()), StopHandle::default(), Clock::start());
    let (orders, started) = (Arc::new(Orders::new(&plan, shards as u64)), clock.now());
    let setting = AggregatorSetup { clock, started, plan, stop, orders, before: (0, None), place };
    let (taken, _shards): (Vec<_>, Vec<_>) = (0..shards).map(|_| std::sync::mpsc::channel()).unzip();
    test(&mut HoldAggregator::new(setting, taken));
}

fn seen(established: u64, open: u64) -> Box<Held> {
    let mut counts = HeldCounts::default();
    counts[HeldCounter::Established] = established;
    Box::new(Held { counts, now: HeldNow { open, ..HeldNow::default() }, ..Held::default() })
}

/// What is shown now, a moment after the last report: the number of an interval, whether it is an update, and the row.
fn shown(aggregator: &mut HoldAggregator) -> Vec<(u64, bool, Row)> {
    let mut rows = Vec::new();
    for _ in 0..2 {
        while let Some(Update::Interval(ready)) = aggregator.next() {
            let row = aggregator.interval(&ready);
            rows.push((row.number, row.is_update, (row.to, row.seen.now.open, row.seen.counts.established())));
        }
        aggregator.merger.gives_up_waiting();
    }
    rows
}

/// The new rows shown after a shard has reported.
fn notify(aggregator: &mut HoldAggregator, shard: usize, reached: u64, established: u64, open: u64) -> Vec<Row> {
    aggregator.take(Report::Interval { shard, reached, seen: seen(established, open) });
    shown(aggregator).into_iter().filter(|(_, is_update, _)| !is_update).map(|(.., row)| row).collect()
}

fn seconds(seconds: u64) -> Nanos {
    Nanos::from_millis(seconds * 1_000)
}

#[test]
fn rows_go_on_while_one_shard_hangs() {
    with_aggregator(3, |aggregator| {
        assert_eq!(notify(aggregator, 0, 1, 10, 10), []);
        assert_eq!(notify(aggregator, 1, 1, 10, 10), []);
        assert_eq!(notify(aggregator, 2, 1, 10, 10), [(seconds(1), 30, 30)]);
        // The third shard hangs: its connections count as open until it reports.
        let mut rows = Vec::new();
        for reached in 2..=60 {
            rows.extend(notify(aggregator, 0, reached, 1, 10));
            rows.extend(notify(aggregator, 1, reached, 1, 9));
        }
        assert_eq!(rows.first(), Some(&(seconds(2), 29, 2)));
        assert_eq!(rows.last(), Some(&(seconds(58), 29, 2)));
        assert_eq!(rows.len(), 57, "{rows:?}");
        // It comes back with all that it saw meanwhile: no single row had that much.
        let back = notify(aggregator, 2, 60, 100, 7);
        assert_eq!(back, [(seconds(59), 26, 2), (seconds(60), 26, 2)], "no row adds two intervals of a shard");
        assert_eq!(notify(aggregator, 0, 61, 1, 10), []);
        assert_eq!(notify(aggregator, 1, 61, 1, 9), []);
        assert_eq!(notify(aggregator, 2, 61, 1, 7), [(seconds(61), 26, 3)]);
        assert_eq!(aggregator.merger.total().counts.established(), 30 + 59 * 2 + 100 + 3, "the total has it all");
        assert_eq!(aggregator.merger.total().now.open, 26);
    });
}

#[test]
fn a_shard_that_is_over_is_not_further_than_others() {
    with_aggregator(2, |aggregator| {
        notify(aggregator, 0, 1, 10, 10);
        assert_eq!(notify(aggregator, 1, 1, 10, 10), [(seconds(1), 20, 20)]);
        let at = aggregator.setting.started + seconds(1);
        aggregator.take(Report::Over { shard: 0, at, seen: seen(0, 0) });
        for reached in 2..=20 {
            assert_eq!(notify(aggregator, 1, reached, 0, 10), [(seconds(reached), 10, 0)]);
        }
    });
}

#[test]
fn each_shard_has_a_lag_of_its_own() {
    with_aggregator(2, |aggregator| {
        for (shard, lag_ns) in [(0, 60_000), (1, 2_000_000_000)] {
            let mut seen = seen(0, 0);
            (0..100).for_each(|_| seen.lag.record(lag_ns));
            aggregator.take(Report::Interval { shard, reached: 1, seen });
        }
        let most: Vec<Option<u64>> = aggregator.lags.iter().map(Distribution::max).collect();
        assert_eq!(most, [Some(60_000), Some(2_000_000_000)]);
    });
}

/// A late report is added to the row in which the shard fell silent, which is reported again.
#[test]
fn a_row_is_reported_again_when_its_last_shard_has_reported() {
    with_aggregator(2, |aggregator| {
        notify(aggregator, 0, 1, 10, 10);
        notify(aggregator, 1, 1, 10, 10);
        (2..=9).for_each(|reached| drop(notify(aggregator, 0, reached, 1, 10)));
        aggregator.take(Report::Interval { shard: 1, reached: 9, seen: seen(5, 10) });
        let row = |to, established| (seconds(to), 20, established);
        assert_eq!(
            shown(aggregator),
            [(2, true, row(2, 1 + 5)), (8, false, row(8, 1)), (9, false, row(9, 1))],
            "the second interval is whole, and the rest follows"
        );
        assert_eq!(aggregator.merger.total().counts.established(), 20 + 8 + 5);
    });
}

/// What a moment behind the last interval closes everything belongs to that: its connections were held.
#[test]
fn a_moment_behind_the_last_interval_has_no_row() {
    for (ended_ms, expected) in [
        (1_050, vec![(1, true, (Nanos::from_millis(1_050), 10, 14))]),
        (1_500, vec![(2, false, (Nanos::from_millis(1_500), 0, 4))]),
    ] {
        with_aggregator(1, |aggregator| {
            assert_eq!(notify(aggregator, 0, 1, 10, 10), [(seconds(1), 10, 10)]);
            let at = aggregator.setting.started + Nanos::from_millis(ended_ms);
            aggregator.take(Report::Over { shard: 0, at, seen: seen(4, 0) });
            assert_eq!(shown(aggregator), expected);
            assert_eq!(aggregator.merger.total().counts.established(), 14);
        });
    }
}

/// What is shown after a remote partition with ten open connections has reported an interval.
fn from_part(aggregator: &mut HoldAggregator, part: usize, number: u64, established: u64) -> Vec<(u64, bool, Row)> {
    let (seen, memory) = (seen(established, 10), PartMemory::default());
    aggregator.take(Report::Seen { part, number, upto: number, seen, memory });
    shown(aggregator)
}

/// Late reports of a silent partition are added to the rows in which they happened; its connections do not count
/// meanwhile.
#[test]
fn a_part_that_is_silent_tells_later() {
    with_aggregator_of(Where::Remote, 2, |aggregator| {
        [0, 1].into_iter().for_each(|part| drop(from_part(aggregator, part, 1, 10)));
        let early: Vec<_> = (2..=5).flat_map(|number| from_part(aggregator, 0, number, 1)).collect();
        assert_eq!(early, [(2, false, (seconds(2), 20, 1)), (3, false, (seconds(3), 20, 1))]);
        aggregator.take(Report::Lost { shard: 1 });
        assert_eq!(shown(aggregator), [4, 5].map(|number| (number, false, (seconds(number), 10, 1))));
        assert_eq!(from_part(aggregator, 0, 6, 1), [(6, false, (seconds(6), 10, 1))], "nobody waits for it");
        let row = |number, established| (number, true, (seconds(number), 20, established));
        let again = (2..=4).flat_map(|number| from_part(aggregator, 1, number, 100 + number)).collect::<Vec<_>>();
        assert_eq!(again, [row(2, 103), row(3, 104), (4, true, (seconds(4), 10, 105))]);
        let end = HoldEnd {
            threads: 1,
            cpu: host::CpuTime::default(),
            places: (1, 1),
            stopped_opening: None,
            lacked_certificate: false,
        };
        aggregator.take(Report::Ended { shard: 1, end: Box::new(end) });
        assert_eq!(from_part(aggregator, 0, 7, 1), [(7, false, (seconds(7), 10, 1))]);
        assert_eq!(aggregator.merger.total().counts.established(), 20 + 6 + 102 + 103 + 104);
        assert_eq!(aggregator.lost, [false, true]);
    });
}

/// One partition that leaves does not say when all of them close.
#[test]
fn a_part_that_leaves_closes_nothing_of_the_others() {
    with_aggregator_of(Where::Remote, 2, |aggregator| {
        let opened =
            |shard| Report::Opened { shard, now: HeldNow { open: 5, ..HeldNow::default() }, since: seconds(1) };
        [0, 1].map(opened).into_iter().for_each(|report| aggregator.take(report));
        let closing = |since| Report::Closing { now: HeldNow { open: 5, ..HeldNow::default() }, since };
        aggregator.take(closing(seconds(2)));
        assert_eq!((aggregator.closing_after, aggregator.closing.len()), (None, 0));
        let end = aggregator.setting.orders.end_at().since(aggregator.setting.started);
        aggregator.take(closing(end));
        assert_eq!((aggregator.closing_after, aggregator.closing.len()), (Some(end), 1));
    });
}

/// Rates are of the time in which all were held: neither of the opening, nor of the closing.
#[test]
fn what_is_counted_while_all_are_held_has_a_time_of_its_own() {
    with_aggregator(2, |aggregator| {
        let spoken = |answered: u64| {
            let mut seen = seen(0, 10);
            seen.counts[HeldCounter::Answered] = answered;
            seen
        };
        let opened =
            |shard, at| Report::Opened { shard, now: HeldNow { open: 10, ..HeldNow::default() }, since: seconds(at) };
        let reported = |shard, reached, answered| Report::Interval { shard, reached, seen: spoken(answered) };
        let steady = |aggregator: &HoldAggregator| -> Vec<(u64, Nanos)> {
            aggregator.steady().iter().map(|(counted, time)| (counted.answered(), *time)).collect()
        };
        aggregator.take(reported(0, 1, 1_000));
        aggregator.take(reported(1, 1, 1_000));
        aggregator.take(opened(0, 1));
        assert_eq!(steady(aggregator), []);
        // The first interval behind the opening has a part of it.
        aggregator.take(reported(0, 2, 500));
        aggregator.take(reported(1, 2, 500));
        assert_eq!(steady(aggregator), []);
        aggregator.take(reported(0, 3, 50));
        assert_eq!(steady(aggregator), [(50, seconds(1))]);
        // Several at once are as long as they are, and each shard has its own beginning.
        aggregator.take(reported(0, 5, 100));
        aggregator.take(opened(1, 4));
        aggregator.take(reported(1, 5, 300));
        aggregator.take(reported(1, 6, 50));
        assert_eq!(steady(aggregator), [(150, seconds(3)), (50, seconds(1))]);
        aggregator.take(Report::Closing { now: HeldNow::default(), since: seconds(7) });
        aggregator.take(reported(0, 7, 100));
        aggregator.take(reported(0, 8, 7_000));
        aggregator.take(reported(1, 9, 7_000));
        aggregator.take(Report::Over { shard: 0, at: aggregator.setting.started + seconds(9), seen: spoken(7_000) });
        assert_eq!(steady(aggregator), [(250, seconds(5)), (50, seconds(1))]);
    });
}
