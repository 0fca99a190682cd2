//! A moment that does not come again, a target that slows down far from its goals, and a machine shared with the
//! target.

use super::*;

const EDGE: Edge = Edge { at: 5_000.0, fault_above: f64::INFINITY, is_plain: false };

/// One look below the edge has a bad moment: without a second look its load would be the bound.
#[test]
fn one_look_that_missed_is_no_bound() {
    let (_, quiet) = run(&EDGE, settings(&EDGE));
    let looks = quiet.iter().filter(|trial| trial.order.purpose == Purpose::Look && trial.order.at < EDGE.at);
    let disturbed: Vec<usize> = looks.map(|trial| trial.order.number).collect();
    assert!(disturbed.len() >= 3, "{disturbed:?}");
    for number in disturbed {
        let bad = Edge { at: 0.0, ..EDGE };
        let once = |order: &TrialOrder| if order.number == number { bad.outcome(order) } else { EDGE.outcome(order) };
        let (found, trials) = run_with(settings(&EDGE), once);
        let (lower, upper) = (found.lower.expect("a bound"), found.upper.expect("a bound"));
        assert!(lower <= EDGE.at && upper > EDGE.at, "look {number}: {found:?}");
        let upper_was = |trial: &&Trial| trial.order.at == upper && trial.class == Class::Missed;
        let purposes: Vec<Purpose> = trials.iter().filter(upper_was).map(|trial| trial.order.purpose).collect();
        // Without time for a second trial the first one counts.
        assert!(purposes.contains(&Purpose::Full) || found.ended == SearchEnd::Budget, "look {number}: {purposes:?}");
    }
}

/// A long trial in which response times grow by `factor` from its first third to its last.
fn growing(order: &TrialOrder, factor: f64) -> TrialOutcome {
    let mut outcome = EDGE.outcome(order);
    if order.purpose != Purpose::Confirm {
        return outcome;
    }
    let pieces = (order.span.as_secs_f64() / order.bin.as_secs_f64()) as u64;
    let each = (order.at * order.bin.as_secs_f64()).ceil();
    outcome.tally = Tally::default();
    for piece in 0..pieces {
        let stay = 0.001 * (1.0 + (factor - 1.0) * 1.5 * piece as f64 / pieces as f64);
        let times = Moments { count: each, sum: each * stay, squares: each * stay * stay * 1.01, most: stay };
        outcome.tally.push(Bin { lost: vec![GoalMisses { lost: 0, of: each as u64 }], times, ..Bin::default() });
    }
    outcome
}

/// Goals of 100 ms: growth from 1 to 1.4 ms is reported and sustained, from 1 to 9 ms it is not sustained although
/// nothing was lost yet.
#[test]
fn what_slows_down_far_from_its_goal_is_held() {
    let (found, _) = run_with(settings(&EDGE), |order| growing(order, 1.4));
    assert!(found.is_confirmed && found.slower.is_some(), "{found:?}");
    assert!(found.not_confirmed.is_none() && found.upper.is_some_and(|upper| upper > EDGE.at), "{found:?}");
    let (found, _) = run_with(settings(&EDGE), |order| growing(order, 9.0));
    assert!(!found.is_confirmed && found.not_confirmed.is_some(), "{found:?}");
}

/// If each trial that was too much ran on a machine filled by target and generator, the target is not named as the
/// bottleneck.
#[test]
fn a_machine_that_both_fill_is_reported() {
    let shared = |order: &TrialOrder| {
        let outcome = EDGE.outcome(order);
        TrialOutcome { limit: if order.at > EDGE.at { "machine" } else { "plan_kept" }, ..outcome }
    };
    assert_eq!(run_with(settings(&EDGE), shared).0.limit, "machine");
    assert_eq!(run(&EDGE, settings(&EDGE)).0.limit, "target");
}
