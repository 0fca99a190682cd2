//! The values that views read, compared with what was recorded.

use metrics::{Censored, Class, Distribution, Failure, Measure, Outcome, SERIES_MAX, SeriesId, Snapshot};
use pacing::Nanos;
use plan::{Flags, Plan, Step, Transaction};

use crate::times::UnreliableMarks;
use crate::{Charts, Interval, PercentileValue, Quantile, Spread, Tally, Times, histogram};

fn seen(successes: u64, failures: &[(Failure, u64)]) -> Snapshot {
    let mut seen = Snapshot::default();
    for number in 1..=successes {
        seen.outcome(SeriesId::step(0), Outcome::Succeeded).record(Measure::Response, number * 1_000_000);
    }
    for &(failure, count) in failures {
        for _ in 0..count {
            seen.outcome(SeriesId::step(0), Outcome::Failed(failure)).record(Measure::Response, 2_000_000_000);
        }
    }
    seen
}

/// The percentiles that views show of response times.
fn percentiles_of(times: &Distribution, seen: &Snapshot) -> Vec<(&'static str, PercentileValue)> {
    let times = Times::new(times, &Censored::new(seen, Measure::Response), UnreliableMarks::default());
    times.named().filter_map(|(quantile, at)| Some((quantile.name(), at?))).collect()
}

#[test]
fn timeouts_hide_the_percentiles_above_them() {
    let total = seen(95, &[(Failure::Timeout, 5)]);
    let times = total.class(Class::Succeeded);
    let known = percentiles_of(times.by_measure(Measure::Response), &total);
    let bounds: Vec<(&str, bool)> = known.iter().map(|(name, percentile)| (*name, percentile.at_least)).collect();
    assert_eq!(bounds, [("p50", false), ("p90", false), ("p95", false), ("p99", true), ("p99.9", true), ("max", true)]);
    assert!(known.iter().filter(|(_, known)| known.at_least).all(|(_, known)| known.ns == 2_000_000_000));
}

/// A load of 20 requests is done after 20 of them, however many redirects each of them had.
#[test]
fn redirects_are_none_of_what_was_planned() {
    for (requested, each) in [(20, 0), (20, 1), (1, 50), (7, 3), (0, 0)] {
        let mut seen = seen(requested * (each + 1), &[]);
        seen.counts[metrics::Counter::Started] = requested * (each + 1);
        seen.counts[metrics::Counter::Redirects] = requested * each;
        let tally = crate::Tally::new(&seen);
        assert_eq!((tally.planned_starts(), tally.planned_finished()), (requested, requested));
    }
}

proptest::proptest! {
    /// Incomplete exchanges: the known times are the same as without them.
    #[test]
    fn what_was_incomplete_is_in_no_known_time(
        values in proptest::collection::vec(1u64..10_000_000_000, 0..60),
        incomplete in proptest::collection::vec(1u64..10_000_000_000, 0..20),
    ) {
        let [mut times, mut waited] = [(); 2].map(|()| Distribution::default());
        values.iter().for_each(|&value| times.record(value));
        incomplete.iter().for_each(|&value| waited.record(value));
        let (alone, both) = (Times::known(&times), Times::new(&times, &Censored::from_times(&waited, &times), UnreliableMarks::default()));
        proptest::prop_assert_eq!(both.known, alone.percentiles);
        proptest::prop_assert_eq!((both.count, both.min_ns, both.mean_ns), (alone.count, alone.min_ns, alone.mean_ns));
        proptest::prop_assert_eq!(both.incomplete, incomplete.len() as u64);
        let max = both.known[Quantile::Max as usize].map(|at| at.ns);
        proptest::prop_assert_eq!(max, values.iter().max().copied());
        proptest::prop_assert!(both.mean_ns <= max.map(|max| max as f64));
    }

    #[test]
    fn bars_hold_every_value(values in proptest::collection::vec(1u64..1_000_000_000_000, 1..200)) {
        let mut times = Distribution::default();
        values.iter().for_each(|&value| times.record(value));
        let bars = histogram(&times);
        proptest::prop_assert_eq!(bars.iter().map(|bar| bar.count).sum::<u64>(), values.len() as u64);
        proptest::prop_assert!(bars.len() <= 11 && bars.windows(2).all(|pair| pair[0].to_ns == pair[1].from_ns));
    }

    #[test]
    fn no_percentile_is_above_the_maximum(values in proptest::collection::vec(0u64..10_000_000_000_000, 1..100), timeouts in 0u64..5) {
        let mut total = Snapshot::default();
        for value in values {
            total.outcome(SeriesId::step(0), Outcome::Succeeded).record(Measure::Response, value);
        }
        for _ in 0..timeouts {
            total.outcome(SeriesId::step(0), Outcome::Failed(Failure::Timeout)).record(Measure::Response, 1_000_000);
        }
        let times = total.class(Class::Succeeded);
        let known = percentiles_of(times.by_measure(Measure::Response), &total);
        let max = known.last().expect("a maximum").1.ns;
        proptest::prop_assert!(known.iter().all(|(_, percentile)| percentile.ns <= max));
    }
}

fn plan(steps: usize) -> Plan {
    let flags = Flags { url: Some("http://127.0.0.1:8080/x".to_owned()), ..Flags::default() };
    let mut plan = flags.plan().expect("a good plan");
    let first = plan.scenarios[0].steps[0].clone();
    plan.scenarios[0].steps =
        (0..steps).map(|number| Step { name: format!("step {number}"), ..first.clone() }).collect();
    plan
}

/// An interval of a second, first emitted or updated.
fn reported<'a>(seen: &'a Snapshot, added: &'a Snapshot, total: &'a Snapshot, is_update: bool) -> engine::Interval<'a> {
    let (from, to) = (Nanos::from_millis(1_000), Nanos::from_millis(2_000));
    let paused = Nanos::ZERO;
    let scenarios = vec![engine::ScenarioInterval { paused, seen, added, total }];
    engine::Interval { number: 2, from, to, paused, late_shards: 0, is_update, seen, added, total, scenarios }
}

/// A snapshot with exchanges of several steps that ended in every way.
fn mixed(steps: u32) -> Snapshot {
    let mut seen = Snapshot::default();
    for step in 0..steps {
        for number in 1..=u64::from(step) + 3 {
            let timings = seen.outcome(SeriesId::step(step), Outcome::Succeeded);
            timings.record(Measure::Response, number * 1_000_000);
            timings.record(Measure::Service, number * 500_000);
        }
        seen.outcome(SeriesId::step(step), Outcome::Failed(Failure::Timeout)).record(Measure::Response, 900_000_000);
        seen.outcome(SeriesId::step(step), Outcome::Failed(Failure::Status)).record(Measure::Response, 3_000_000);
    }
    seen.leave_unfinished(SeriesId::step(0), 700_000_000, None);
    seen.drop_start(600_000_000);
    seen
}

#[test]
fn an_interval_is_what_the_snapshots_say() {
    for steps in [1, 2, 3, 17] {
        let (seen, total, plan) = (mixed(steps), mixed(steps), plan(steps as usize));
        let interval = Interval::new(&reported(&seen, &seen, &total, false), &plan);
        let succeeded = seen.class(Class::Succeeded);
        let censored = Censored::new(&seen, Measure::Response);
        let expect = Times::new(succeeded.by_measure(Measure::Response), &censored, UnreliableMarks::default());
        assert_eq!(interval.response, expect, "{steps}");
        // A timeout of each step, the incomplete ones, and the dropped ones.
        assert_eq!(interval.response.incomplete, u64::from(steps) + 2);
        let classes: Vec<(Class, u64)> = interval.others.iter().map(|(class, times)| (*class, times.count)).collect();
        assert_eq!(classes, [(Class::FailedAnswered, u64::from(steps)), (Class::TimedOut, u64::from(steps))]);
        assert_eq!(interval.whole, Spread::new(total.all().by_measure(Measure::Response)), "{steps}");
        assert_eq!(interval.requests_per_s, seen.counts.finished() as f64);
        // The parts add up to the whole.
        let [scenario] = &interval.scenarios[..] else { panic!("one scenario") };
        assert_eq!(scenario.steps.len(), steps as usize);
        assert_eq!((scenario.finished, scenario.failed), (interval.seen.finished(), interval.seen.failed));
        for (step, part) in scenario.steps.iter().enumerate() {
            assert_eq!((part.finished, part.failed), (step as u64 + 5, 2), "{part:?}");
            let censored = Censored::for_series(&seen, SeriesId::step(step as u32), Measure::Response);
            let times = seen
                .timings(SeriesId::step(step as u32), Class::Succeeded)
                .expect("times")
                .by_measure(Measure::Response);
            assert_eq!(part.response, Times::new(times, &censored, UnreliableMarks::default()));
        }
    }
}

#[test]
fn what_came_late_is_what_is_added() {
    let (seen, added, total) = (mixed(3), mixed(1), mixed(3));
    let first = Interval::new(&reported(&seen, &seen, &total, false), &plan(3));
    assert_eq!((first.added.response.count(), first.added.service.count()), (12, 12));
    assert!(!first.added.is_empty);
    let again = Interval::new(&reported(&seen, &added, &total, true), &plan(3));
    assert_eq!((again.added.response.count(), again.added.service.count()), (3, 3));
    assert_eq!(again.added.failures_of(Failure::Timeout), 1);
    assert_eq!(again.response, first.response);
    let nothing = Snapshot::default();
    let again = Interval::new(&reported(&seen, &nothing, &total, true), &plan(3));
    assert!(again.added.is_empty && again.added.response.count() == 0);
}

#[test]
fn a_pause_is_in_no_rate() {
    let (seen, plan) = (mixed(1), plan(1));
    for (paused_ms, factor) in [(0, 1.0), (500, 2.0), (900, 10.0), (1_000, 0.0)] {
        let reported =
            engine::Interval { paused: Nanos::from_millis(paused_ms), ..reported(&seen, &seen, &seen, false) };
        let interval = Interval::new(&reported, &plan);
        assert_eq!(interval.requests_per_s, 5.0 * factor, "{paused_ms}");
        assert!((interval.working_s() - (1.0 - paused_ms as f64 / 1e3)).abs() < 1e-9);
    }
}

#[test]
fn more_steps_than_have_series_share_the_last() {
    let steps = SERIES_MAX as usize + 5;
    let interval = Interval::new(&reported(&mixed(2), &mixed(2), &mixed(2), false), &plan(steps));
    let parts = &interval.scenarios[0].steps;
    assert_eq!(parts.len(), SERIES_MAX as usize);
    assert_eq!(parts[0].name, "step 0");
    assert_eq!(parts[parts.len() - 1].name, format!("step {} ...", SERIES_MAX - 1));
    assert_eq!(parts[5].finished, 0);
    assert_eq!(parts[5].response, Times::default());
}

/// Transactions are listed next to the steps, and are in none of their sums.
#[test]
fn transactions_are_reported_beside_the_steps() {
    let mut seen = mixed(2);
    let whole = Interval::new(&reported(&seen, &seen, &seen, false), &plan(2));
    for (number, times) in [(0, 40), (2, 7)] {
        let series = SeriesId::transaction(number);
        (1..=times).for_each(|time| seen.record(series, Class::Succeeded, time * 10_000_000));
        seen.record(series, Class::FailedAnswered, 5_000_000);
        seen.fail(series, Failure::Status);
        seen.record(series, Class::TimedOut, 2_000_000_000);
        seen.fail(series, Failure::Timeout);
        seen.record_unfinished(series, 3_000_000_000);
    }
    let mut plan = plan(2);
    let name = |name: &str| Transaction { name: name.to_owned(), has_pauses: false, deadline: None };
    plan.scenarios[0].program.transactions = ["log in", "look", "buy"].map(name).into();
    let interval = Interval::new(&reported(&seen, &seen, &seen, false), &plan);
    let [scenario] = &interval.scenarios[..] else { panic!("one scenario") };
    assert_eq!((&interval.response, &interval.whole, interval.requests_per_s), (&whole.response, &whole.whole, 11.0));
    assert_eq!((&scenario.steps, scenario.finished), (&whole.scenarios[0].steps, 11));
    let [log_in, look, buy] = &scenario.transactions[..] else { panic!("three transactions") };
    assert_eq!((&*log_in.name, log_in.finished, log_in.failed, log_in.unfinished), ("log in", 42, 2, 1));
    assert_eq!(log_in.failures, [(Failure::Timeout, 1), (Failure::Status, 1)]);
    // What timed out and what did not complete would have taken longer, by an unknown time.
    assert_eq!((log_in.response.count, log_in.response.incomplete), (40, 2));
    assert_eq!((&*look.name, look.finished, look.response.clone()), ("look", 0, Times::default()));
    assert_eq!((&*buy.name, buy.finished, buy.response.count), ("buy", 9, 7));
    // A step has the reasons of its failures, too.
    assert_eq!(scenario.steps[1].failures, [(Failure::Timeout, 1), (Failure::Status, 1)]);
    assert_eq!((scenario.steps[0].unfinished, scenario.steps[1].unfinished), (1, 0));
}

/// A second scenario has its steps and transactions after those of the first.
#[test]
fn scenarios_know_their_own_series() {
    let mut plan = plan(2);
    let name = |name: &str| Transaction { name: name.to_owned(), has_pauses: false, deadline: None };
    plan.scenarios[0].program.transactions = vec![name("log in")];
    let mut second = plan.scenarios[0].clone();
    second.steps.truncate(1);
    second.program.transactions = vec![name("buy"), name("leave")];
    plan.scenarios.push(second);
    let (mut first, mut second) = (Snapshot::default(), Snapshot::default());
    first.outcome(SeriesId::step(1), Outcome::Succeeded).record(Measure::Response, 1);
    first.record(SeriesId::transaction(0), Class::Succeeded, 1);
    second.outcome(SeriesId::step(2), Outcome::Succeeded).record(Measure::Response, 1);
    second.record(SeriesId::transaction(2), Class::Succeeded, 1);
    let mut all = first.clone();
    all.merge(&second);
    let mut reported = reported(&all, &all, &all, false);
    let part = |seen| engine::ScenarioInterval { paused: Nanos::ZERO, seen, added: seen, total: seen };
    reported.scenarios = vec![part(&first), part(&second)];
    let interval = Interval::new(&reported, &plan);
    let finished = |parts: &[crate::StepPart]| parts.iter().map(|part| part.finished).collect::<Vec<_>>();
    let [first, second] = &interval.scenarios[..] else { panic!("two scenarios") };
    assert_eq!((finished(&first.steps), finished(&first.transactions)), (vec![0, 1], vec![1]));
    assert_eq!((finished(&second.steps), finished(&second.transactions)), (vec![1], vec![0, 1]));
}

/// A threshold on a name is judged by everything of that name, in each scenario, also while the load goes on.
#[test]
fn thresholds_of_parts_are_judged_so_far() {
    let mut plan = plan(2);
    let mut second = plan.scenarios[0].clone();
    "watcher".clone_into(&mut second.name);
    "alone".clone_into(&mut second.steps[0].name);
    plan.scenarios.push(second);
    // Two steps, then those of the second scenario.
    let (mut first, mut second) = (Snapshot::default(), Snapshot::default());
    for (series, count) in [(0, 1), (1, 2), (2, 4), (3, 8)] {
        let seen = if series < 2 { &mut first } else { &mut second };
        for _ in 0..count {
            seen.outcome(SeriesId::step(series), Outcome::Succeeded).record(Measure::Response, 10_000_000);
            seen.counts[metrics::Counter::Started] += 1;
        }
    }
    second.gauges.in_flight.response.record(5_000_000_000);
    let mut all = first.clone();
    all.merge(&second);
    let mut reported = reported(&all, &all, &all, false);
    let part = |seen| engine::ScenarioInterval { paused: Nanos::ZERO, seen, added: seen, total: seen };
    reported.scenarios = vec![part(&first), part(&second)];
    let cases = [
        ("done >= 15", 15.0, true),
        ("done(watcher) >= 12", 12.0, true),
        ("done(step 1) >= 10", 10.0, true),
        ("done(step 0) >= 2", 1.0, false),
        ("done(alone) >= 4", 4.0, true),
        ("failed(step 1) / done(step 1) < 1%", 0.0, true),
        // What is in flight is known for a scenario.
        ("max(response_time, watcher) < 1s", 5e9, false),
        ("max(response_time, step 1) < 1s", 1e7, true),
    ];
    let thresholds = cases.map(|(text, ..)| metrics::Threshold::parse_of_part(text).expect(text));
    let judged = crate::ThresholdResult::so_far(&thresholds, &plan, &reported);
    assert_eq!(judged.len(), cases.len());
    for (judged, (text, value, holds)) in judged.iter().zip(cases) {
        let seen = judged.judgement.value.expect("a value");
        assert!((seen - value).abs() <= value / 1_000.0 && judged.judgement.holds == holds, "{text}: {judged:?}");
    }
    // The time before the first scenario begins is in no rate.
    let rate = [metrics::Threshold::parse("rate > 1/s").expect("a threshold")];
    let seen = |plan: &Plan| crate::ThresholdResult::so_far(&rate, plan, &reported)[0].judgement.value.expect("a rate");
    let whole = seen(&plan);
    plan.scenarios.iter_mut().for_each(|scenario| scenario.begin = reported.to.as_duration() / 2);
    assert_eq!(seen(&plan), 2.0 * whole);
}

proptest::proptest! {
    /// Spreads of parts add up to the spread of the whole.
    #[test]
    fn spreads_add_up(parts in proptest::collection::vec(proptest::collection::vec(1u64..1_000_000_000, 0..20), 0..6)) {
        let (mut sum, mut whole) = (Spread::default(), Distribution::default());
        for part in parts {
            let mut times = Distribution::default();
            part.iter().for_each(|&ns| times.record(ns));
            whole.merge(&times);
            sum = sum.with(Spread::new(&times));
        }
        proptest::prop_assert_eq!(sum, Spread::new(&whole));
        proptest::prop_assert_eq!(sum.mean_ns(), whole.mean());
    }
}

/// A requested rate of iterations, or of a part of the load, is no line in the chart of all requests.
#[test]
fn charts_show_what_was_requested_where_each_start_is_a_request() {
    let of = |rate: Option<&str>| {
        let flags = Flags {
            url: Some("http://127.0.0.1:8080/x".to_owned()),
            rate: rate.map(str::to_owned),
            ..Flags::default()
        };
        flags.plan().expect("a good plan")
    };
    let (open, closed) = (of(Some("50")), of(None));
    assert!(Charts::new(&open).asks_for_requests && !Charts::new(&closed).asks_for_requests);
    let mut both = open.clone();
    both.scenarios.extend(closed.scenarios);
    assert!(!Charts::new(&both).asks_for_requests);
    let mut two = open;
    let again = two.scenarios[0].steps[0].clone();
    two.scenarios[0].steps.push(again);
    two.scenarios[0].program = plan::Program::in_turn(2);
    assert!(!Charts::new(&two).asks_for_requests);
}

/// A day of intervals with many steps takes as much memory as some minutes, loses nothing, and what is shown has enough
/// points.
#[test]
fn points_of_charts_are_bounded_in_number_and_bytes() {
    let mut seen = mixed(20);
    for step in 0..20 {
        for number in 1..=40 {
            seen.outcome(SeriesId::step(step), Outcome::Succeeded).record(Measure::Response, number * number * 100_000);
        }
    }
    let few = mixed(1);
    for (steps, seen, count) in [(20, &seen, 500), (1, &few, 1_300)] {
        let plan = plan(steps);
        let (mut charts, mut most_bytes) = (Charts::new(&plan), 0);
        let each = Tally::new(seen).finished();
        for number in 1..=count {
            let (from, to) = (Nanos::from_millis(1_000 * (number - 1)), Nanos::from_millis(1_000 * number));
            let reported = engine::Interval { number, from, to, ..reported(seen, seen, seen, false) };
            charts.interval(&Interval::new(&reported, &plan));
            let points = charts.points.len() as u64;
            assert!(points <= 600 && points >= number.min(100), "{points} of {number}");
            most_bytes = most_bytes.max(charts.bytes());
            assert_eq!(charts.points.iter().map(|point| point.finished).sum::<u64>(), each * number);
        }
        assert!(most_bytes <= 11 << 17, "{steps} steps: {most_bytes} bytes");
    }
}

/// Checks have figures of their own, and are in no other.
#[test]
fn checks_are_counted_by_themselves() {
    let mut plan = plan(1);
    plan.scenarios[0].program.checks = vec!["is paid".to_owned(), "is sold".to_owned()];
    let mut seen = Snapshot::default();
    for _ in 0..3 {
        seen.record(SeriesId::check(0), Class::Succeeded, 0);
    }
    seen.record(SeriesId::check(0), Class::FailedAnswered, 0);
    seen.fail(SeriesId::check(0), Failure::CheckFailed);
    let all = crate::ScenarioPart::all(&plan, [&seen].into_iter());
    let part = |name: &str, passed, failed| crate::CheckPart { name: name.to_owned(), passed, failed };
    assert_eq!(all[0].checks, [part("is paid", 3, 1), part("is sold", 0, 0)]);
    assert_eq!((all[0].finished, all[0].failed), (0, 0));
}
