//! Transactions: their counts, outcomes and durations, against arithmetic.

use metrics::Failure;

use super::*;

const ALL: u32 = 0;
/// The transaction that includes its pauses.
const SLOW: u32 = 1;
/// Duration of one exchange in the simulated network, at most.
const NETWORK_MS: f64 = 5.0;

fn timed(number: u32, nodes: Vec<Node>) -> Node {
    Node::Transaction { number: number as usize, nodes }
}

/// Counts of a transaction: succeeded, failed with a response, failed without one, timed out; and unfinished.
fn counts(history: &History, number: u32) -> [u64; 5] {
    let (total, series) = (&history.total, SeriesId::transaction(number));
    let unfinished = total.unfinished_of(series).map_or(0, |timings| timings.by_measure(Measure::Response).count());
    let [well, answered, unanswered, timed_out] = Class::ALL.map(|class| total.count_of(series, class));
    [well, answered, unanswered, timed_out, unfinished]
}

/// Checks that all times of a transaction with this outcome lie within bounds, in milliseconds.
#[track_caller]
fn lasts(history: &History, number: u32, class: Class, from: f64, to: f64) {
    let timings = history.total.timings(SeriesId::transaction(number), class).expect("some");
    within(timings.by_measure(Measure::Response), from, to);
}

#[track_caller]
fn within(times: &metrics::Distribution, from: f64, to: f64) {
    let (least, most) = (times.min().expect("some") as f64 / 1e6, times.max().expect("some") as f64 / 1e6);
    assert!(from <= least && most <= to, "{least} to {most} ms, and not within {from} to {to}");
}

#[test]
fn it_counts_once_and_takes_what_its_exchanges_take() {
    for (threads, flags) in
        [(1, users(4, 120)), (3, users(6, 120)), (2, Flags { requests: Some("120".to_owned()), ..rate("40", "10s") })]
    {
        let slow = timed(SLOW, vec![ask(1), fixed(300), ask(0)]);
        let nodes =
            vec![fixed(50), timed(ALL, vec![ask(0), fixed(200), slow, fixed(100), ask(0), fixed(70)]), fixed(10)];
        let history = run(&["/delay/10", "/delay/20"], nodes, flags, threads);
        assert_eq!([ALL, SLOW].map(|number| counts(&history, number)), [[120, 0, 0, 0, 0]; 2]);
        // 10 + 20 + 10 + 10, and none of the pauses, neither its own nor those of transactions within it.
        lasts(&history, ALL, Class::Succeeded, 50.0, 50.0 + 4.0 * NETWORK_MS);
        // 20 + 300 + 10.
        lasts(&history, SLOW, Class::Succeeded, 330.0, 330.0 + 2.0 * NETWORK_MS);
        let counts = &history.total.counts;
        assert_eq!((counts.iterations(), counts.succeeded(), counts.finished()), (120, 480, 480));
        // Times of transactions are not in those of exchanges.
        assert_eq!(history.total.all().by_measure(Measure::Response).count(), 480);
        assert!(history.total.all().by_measure(Measure::Response).max() < Some(SECOND / 10));
    }
}

#[test]
fn it_counts_each_time_that_it_is_gone_through() {
    let rounds = |nodes| vec![Node::Repeat { least: 3, most: 3, nodes }];
    let history = run(&["/"], rounds(vec![timed(ALL, vec![ask(0), timed(SLOW, vec![ask(0)])])]), users(5, 50), 2);
    assert_eq!([ALL, SLOW].map(|number| counts(&history, number)), [[150, 0, 0, 0, 0]; 2]);
    // A transaction within itself, of one exchange, of a pause alone and of nothing.
    let nodes = vec![timed(ALL, vec![ask(0), timed(ALL, vec![])]), timed(SLOW, vec![fixed(40)])];
    let history = run(&["/delay/30"], nodes, users(5, 50), 2);
    assert_eq!([ALL, SLOW].map(|number| counts(&history, number)), [[100, 0, 0, 0, 0], [50, 0, 0, 0, 0]]);
    lasts(&history, ALL, Class::Succeeded, 0.0, 30.0 + NETWORK_MS);
    lasts(&history, SLOW, Class::Succeeded, 40.0, 40.0);
    let sum = history.total.timings(SeriesId::transaction(ALL), Class::Succeeded).expect("some");
    assert!(
        sum.by_measure(Measure::Response).min() == Some(0)
            && sum.by_measure(Measure::Response).sum() >= 50 * 30_000_000
    );
}

#[test]
fn it_fails_with_what_it_holds() {
    let seen = |on_failure, iterations| {
        let inner = timed(SLOW, vec![ask(0), fixed(100), or(1, on_failure), ask(0)]);
        let nodes = vec![timed(ALL, vec![timed(ALL, vec![ask(0)]), inner, ask(0)])];
        run(&["/delay/20", "/status/500"], nodes, users(4, iterations), 2)
    };
    // A user that goes on gets to the end.
    let history = seen(OnFailure::GoOn, 40);
    assert_eq!([ALL, SLOW].map(|number| counts(&history, number)), [[80, 0, 0, 0, 0], [40, 0, 0, 0, 0]]);
    for (on_failure, failed) in [(OnFailure::Next, 40), (OnFailure::Retry(3), 40), (OnFailure::Stop, 4)] {
        let history = seen(on_failure, 40);
        // A transaction that had ended before counts with its own outcome.
        let expect = [[failed, failed, 0, 0, 0], [0, failed, 0, 0, 0]];
        assert_eq!([ALL, SLOW].map(|number| counts(&history, number)), expect, "{on_failure:?}");
        assert_eq!(history.total.counts.iterations_failed(), failed);
        let (most, tries) = (5.0 * NETWORK_MS, if on_failure == OnFailure::Retry(3) { 4.0 } else { 1.0 });
        lasts(&history, ALL, Class::FailedAnswered, 40.0, 40.0 + most + tries * NETWORK_MS);
        lasts(&history, SLOW, Class::FailedAnswered, 120.0, 120.0 + most + tries * NETWORK_MS);
        for number in [ALL, SLOW] {
            let reasons: Vec<_> = history.total.failures_of(SeriesId::transaction(number)).collect();
            assert_eq!(reasons, [(Failure::Status, failed)], "{on_failure:?}");
        }
        let step: Vec<_> = history.total.failures_of(SeriesId::step(1)).collect();
        assert_eq!(step, [(Failure::Status, failed * tries as u64)]);
    }
}

/// A timeout gives a lower bound of a duration, not the duration; the same holds for transactions around it.
#[test]
fn what_times_out_has_a_time_that_is_at_least_so_long() {
    let nodes = vec![timed(ALL, vec![ask(0), or(1, OnFailure::Next)]), timed(SLOW, vec![ask(0)])];
    let flags = Flags { timeout: Some("100ms".to_owned()), ..users(2, 10) };
    let history = run(&["/delay/10", "/delay/5000"], nodes, flags, 1);
    assert_eq!([ALL, SLOW].map(|number| counts(&history, number)), [[0, 0, 0, 10, 0], [0; 5]]);
    lasts(&history, ALL, Class::TimedOut, 110.0, 110.0 + 2.0 * NETWORK_MS);
    let censored = metrics::Censored::for_series(&history.total, SeriesId::transaction(ALL), Measure::Response);
    assert_eq!(censored.count(), 10);
}

#[test]
fn several_at_a_time_are_as_long_as_the_longest_and_as_bad_as_the_worst() {
    let fork = |steps: &[usize]| Node::Parallel {
        most: 8,
        steps: steps.to_vec(),
        optional: Vec::new(),
        on_failure: OnFailure::Next,
    };
    let paths = ["/delay/50", "/delay/90", "/status/500", "/delay/5000"];
    let of = |steps: &[usize]| {
        let flags = Flags { timeout: Some("200ms".to_owned()), ..users(3, 30) };
        run(&paths, vec![timed(ALL, vec![fork(steps), ask(0)])], flags, 1)
    };
    let history = of(&[0, 1, 0]);
    assert_eq!(counts(&history, ALL), [30, 0, 0, 0, 0]);
    lasts(&history, ALL, Class::Succeeded, 140.0, 140.0 + 2.0 * NETWORK_MS);
    assert_eq!(counts(&of(&[0, 2, 1]), ALL), [0, 30, 0, 0, 0]);
    // In whatever order they end.
    for steps in [[2, 3, 0], [3, 2, 2], [0, 3, 2]] {
        let history = of(&steps);
        assert_eq!(counts(&history, ALL), [0, 0, 0, 30, 0], "{steps:?}");
        let reasons: Vec<_> = history.total.failures_of(SeriesId::transaction(ALL)).collect();
        assert_eq!(reasons, [(Failure::Timeout, 30)]);
    }
}

/// The end of the load is not a failure.
#[test]
fn what_the_end_cuts_did_not_end() {
    // Within a pause, within an exchange, and between rounds.
    let pause = vec![timed(ALL, vec![ask(0), fixed(60_000), ask(0)])];
    let exchange = vec![timed(ALL, vec![ask(0), ask(1)])];
    let both = vec![timed(SLOW, vec![timed(ALL, vec![ask(0), fixed(60_000), ask(0)])])];
    for flags in [
        Flags { duration: Some("2s".to_owned()), connections: Some("3".to_owned()), ..Flags::default() },
        Flags { connections: Some("3".to_owned()), ..rate("3", "1s") },
    ] {
        let flags = Flags { grace: Some("1s".to_owned()), timeout: Some("60s".to_owned()), ..flags };
        let of = |nodes: &[Node]| run(&["/delay/10", "/delay/60000"], nodes.to_vec(), flags.clone(), 1);
        let history = of(&pause);
        assert_eq!((counts(&history, ALL), history.total.counts.iterations_cut()), ([0, 0, 0, 0, 3], 3));
        let unfinished = |history: &History, number| {
            history
                .total
                .unfinished_of(SeriesId::transaction(number))
                .expect("some")
                .by_measure(Measure::Response)
                .clone()
        };
        // The pause that was not over is in no time either.
        within(&unfinished(&history, ALL), 10.0, 10.0 + NETWORK_MS);
        let history = of(&exchange);
        assert_eq!((counts(&history, ALL), history.total.counts.iterations_cut()), ([0, 0, 0, 0, 3], 3));
        assert!(unfinished(&history, ALL).max() <= Some(history.wall.0));
        assert!(unfinished(&history, ALL).min() > Some(SECOND));
        let history = of(&both);
        assert_eq!([ALL, SLOW].map(|number| counts(&history, number)), [[0, 0, 0, 0, 3]; 2]);
        assert!(unfinished(&history, SLOW).max() > Some(SECOND / 2), "its pauses are its time");
    }
}

/// Transactions are counted when they began in the measured time; and each iteration that is one transaction ends as
/// such.
#[test]
fn a_warm_up_is_no_part_of_it() {
    for threads in [1, 2, 7] {
        let way = |weight, step| timed(ALL, vec![ask(0), fixed(weight), or(step, OnFailure::Next)]);
        let nodes = vec![Node::Choose(vec![
            Choice { weight: 3, nodes: vec![way(100, 0)] },
            Choice { weight: 1, nodes: vec![way(200, 1)] },
        ])];
        let flags = Flags { warmup: Some("1s".to_owned()), ..rate("200", "3s") };
        let history = run(&["/delay/5", "/status/404"], nodes, flags, threads);
        let (counts, iterations) = (counts(&history, ALL), &history.total.counts);
        assert_eq!(counts.iter().sum::<u64>(), 600, "{counts:?}");
        assert_eq!((counts[0], counts[1]), (iterations.iterations(), iterations.iterations_failed()));
        assert_eq!((counts[4], counts[1].abs_diff(150) < 40), (iterations.iterations_cut(), true), "{counts:?}");
    }
}

#[test]
fn scenarios_side_by_side_have_their_own() {
    let first = vec![timed(ALL, vec![ask(0)]), timed(SLOW, vec![ask(0), fixed(30)])];
    let second = vec![timed(ALL, vec![ask(0), ask(1)])];
    let plan = plan(&[(&["/"], first), (&["/delay/20", "/delay/40"], second)], users(3, 60));
    let history = played(Setup { plan, threads: 2, ..Setup::calm(5) });
    let [other] = &history.others[..] else { panic!("two scenarios") };
    assert_eq!([0, 1, 2, 3].map(|number| counts(&history, number)[0]), [60, 60, 0, 0]);
    assert_eq!([0, 1, 2, 3].map(|number| counts(other, number)[0]), [0, 0, 60, 0]);
    lasts(&history, SLOW, Class::Succeeded, 30.0, 30.0 + NETWORK_MS);
    lasts(other, 2, Class::Succeeded, 60.0, 60.0 + 2.0 * NETWORK_MS);
}
