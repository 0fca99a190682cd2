use super::*;
use crate::tally::{Bin, Moments};
use metrics::Lost;

/// A target that loses nothing up to a load, and everything above it. `fault_above`: from there on the trials are spoiled.
struct Edge {
    at: f64,
    fault_above: f64,
    is_plain: bool,
}

impl Edge {
    fn outcome(&self, order: &Order) -> Outcome {
        let is_met = order.at <= self.at;
        let mut tally = Tally::default();
        let pieces = (order.span.as_secs_f64() / order.bin.as_secs_f64()) as u64;
        let each = (order.at * order.bin.as_secs_f64()).ceil() as u64;
        for piece in 0..pieces {
            let lost = if is_met { 0 } else { each };
            let stay = 0.001 * (1.0 + (piece % 7) as f64 / 10.0);
            let count = each as f64;
            let times = Moments { count, sum: count * stay, squares: count * stay * stay, most: stay };
            tally.push(Bin { lost: vec![Lost { lost, of: each }], times });
        }
        Outcome {
            tally,
            fault: (order.at > self.fault_above).then_some(Fault::Generator),
            measured: order.span,
            limit: "target",
            is_held: self.is_plain.then_some(is_met),
            ..Outcome::default()
        }
    }
}

fn settings(edge: &Edge) -> Settings {
    Settings {
        goals: vec![(0.01, Some(0.1))],
        budget: Duration::from_secs(720),
        trials_max: None,
        start: 10.0,
        least: 1.0,
        most: 100_000.0,
        is_whole: edge.is_plain,
        is_plain: edge.is_plain,
    }
}

/// All trials take as long as they are planned.
fn run(edge: &Edge, settings: Settings) -> (Found, Vec<Trial>) {
    let mut search = Search::new(settings);
    let mut now = Duration::ZERO;
    for _ in 0..1_000 {
        match search.next(now) {
            Step::Trial(order) => {
                let began = now;
                now += order.warmup + order.span;
                search.heard(&order, edge.outcome(&order), began, now);
            }
            Step::Rest => search.rested(Ok(Duration::from_millis(300))),
            Step::Over => return (search.found(), search.trials().to_vec()),
        }
    }
    panic!("it never ends: {:?}", search.trials());
}

#[test]
fn an_edge_is_found() {
    for at in [37.0, 1_234.0, 80_000.0] {
        let edge = Edge { at, fault_above: f64::INFINITY, is_plain: false };
        let (found, trials) = run(&edge, settings(&edge));
        let (lower, upper) = (found.lower.expect("a bound"), found.upper.expect("a bound"));
        assert!(lower <= at && at < upper, "{at}: {found:?}");
        assert!(found.took <= Duration::from_secs(720) && found.limit == "target", "{found:?}");
        assert_eq!(found.recovered, Some(Duration::from_millis(300)));
        assert!(!found.is_worse && found.noise.is_none() && found.own_limit.is_none());
        let numbers: Vec<usize> = trials.iter().map(|trial| trial.order.number).collect();
        assert_eq!(numbers, (1..=trials.len()).collect::<Vec<_>>());
        if at > 100.0 {
            assert!(upper / lower <= 1.05 + 1e-9 && found.ended == Ended::Width, "{at}: {found:?}");
            assert!(found.is_confirmed);
        }
    }
}

/// What this machine cannot do says nothing of the target.
#[test]
fn a_limit_of_ours_is_no_upper_bound() {
    let edge = Edge { at: f64::INFINITY, fault_above: 3_000.0, is_plain: false };
    let (found, trials) = run(&edge, settings(&edge));
    assert_eq!((found.upper, found.limit), (None, "generator"));
    let (at, fault) = found.own_limit.expect("it is told");
    assert!(at > 3_000.0 && fault == Fault::Generator && found.ended == Ended::OwnLimit, "{found:?}");
    assert!(found.lower.is_some_and(|lower| lower > 2_000.0 && lower <= 3_000.0), "{found:?}");
    // Each load that could not be tried was tried again.
    let again = trials.iter().filter(|trial| trial.order.at == at).count();
    assert_eq!(again, FAULTS_MAX);
}

/// One trial that was spoiled is made again, and is no bound.
#[test]
fn a_spoiled_trial_is_made_again() {
    let edge = Edge { at: 500.0, fault_above: f64::INFINITY, is_plain: false };
    let mut search = Search::new(settings(&edge));
    let Step::Trial(first) = search.next(Duration::ZERO) else { panic!("a trial") };
    let spoiled = Outcome { fault: Some(Fault::Link), ..edge.outcome(&first) };
    search.heard(&first, spoiled, Duration::ZERO, Duration::from_secs(1));
    let Step::Trial(second) = search.next(Duration::from_secs(1)) else { panic!("a trial") };
    assert_eq!((second.at, second.number), (first.at, 2));
    assert_eq!(search.found().own_limit, None);
}

#[test]
fn the_largest_and_the_least_end_it() {
    let edge = Edge { at: f64::INFINITY, fault_above: f64::INFINITY, is_plain: false };
    let (found, _) = run(&edge, Settings { most: 500.0, ..settings(&edge) });
    assert_eq!((found.lower, found.upper, found.ended), (Some(500.0), None, Ended::Most), "{found:?}");
    let edge = Edge { at: 0.0, fault_above: f64::INFINITY, is_plain: false };
    let (found, _) = run(&edge, settings(&edge));
    assert_eq!((found.lower, found.ended), (None, Ended::Least), "{found:?}");
    assert!(found.upper.is_some_and(|upper| upper <= 1.5), "{found:?}");
}

/// Connections are whole, and each trial says all.
#[test]
fn connections_need_one_trial_each() {
    for at in [7.0, 1_017.0, 54_321.0] {
        let edge = Edge { at, fault_above: f64::INFINITY, is_plain: true };
        let (found, trials) = run(&edge, settings(&edge));
        let (lower, upper) = (found.lower.expect("a bound"), found.upper.expect("a bound"));
        assert!(lower <= at && at < upper && (upper / lower <= 1.05 || upper - lower <= 1.0), "{at}: {found:?}");
        assert!(trials.iter().all(|trial| trial.order.at.fract() == 0.0));
        assert_eq!(found.ended, Ended::Width);
    }
}

/// Whoever stops it has what was found.
#[test]
fn it_can_be_stopped_at_any_time() {
    let edge = Edge { at: 777.0, fault_above: f64::INFINITY, is_plain: false };
    for after in 0..30 {
        let mut search = Search::new(settings(&edge));
        let mut now = Duration::ZERO;
        for _ in 0..after {
            match search.next(now) {
                Step::Trial(order) => {
                    now += order.span;
                    search.heard(&order, edge.outcome(&order), now, now);
                }
                Step::Rest => search.rested(Err(Duration::ZERO)),
                Step::Over => break,
            }
        }
        let is_over = search.next(now) == Step::Over;
        search.stop();
        assert_eq!(search.next(now), Step::Over);
        let found = search.found();
        assert!(is_over || found.ended == Ended::Stopped);
        assert!(found.lower.is_none_or(|lower| lower <= 777.0) && found.upper.is_none_or(|upper| upper > 777.0));
    }
}

/// It ends after as many trials as it may make, with what they found, and nobody rests behind the last one.
#[test]
fn the_trials_may_be_counted() {
    let edge = Edge { at: 777.0, fault_above: f64::INFINITY, is_plain: false };
    let (whole, all) = run(&edge, settings(&edge));
    for most in 1..all.len() {
        let (found, trials) = run(&edge, Settings { trials_max: Some(most), ..settings(&edge) });
        assert_eq!((trials.len(), found.ended), (most, Ended::Trials), "{found:?}");
        let orders = |trials: &[Trial]| trials.iter().map(|trial| trial.order).collect::<Vec<_>>();
        assert_eq!(orders(&trials), orders(&all[..most]), "they are those of the whole search");
        assert!(trials.last().is_some_and(|last| last.recovered.is_none() && last.not_recovered.is_none()));
    }
    // One that ends by itself has another reason.
    let (found, _) = run(&edge, Settings { trials_max: Some(all.len() + 1), ..settings(&edge) });
    assert_eq!((found.ended, found.lower), (whole.ended, whole.lower));
}

/// Nothing takes longer than it may, whatever it finds.
#[test]
fn the_budget_holds() {
    for seconds in [10, 30, 60, 300, 720, 3_600] {
        for at in [0.0, 3.0, 900.0, 1e9] {
            let edge = Edge { at, fault_above: f64::INFINITY, is_plain: false };
            let budget = Duration::from_secs(seconds);
            let (found, _) = run(&edge, Settings { budget, ..settings(&edge) });
            assert!(found.took <= budget, "{seconds} s, {at}: {found:?}");
        }
    }
}
