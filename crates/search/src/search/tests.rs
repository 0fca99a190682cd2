use super::looks::LOOK_FAULTS_MAX;
use super::*;
use crate::tally::{Bin, Moments};
use metrics::GoalMisses;

mod moments;

/// A target that loses nothing up to a load, and everything above it. `fault_above`: from there on the trials are
/// unreliable.
struct Edge {
    at: f64,
    fault_above: f64,
    is_plain: bool,
}

/// Adds a generator stall that loses twice what is allowed.
fn stalled(outcome: &mut TrialOutcome) {
    let mut tally = Tally::default();
    tally.extend(&outcome.tally);
    let (goal, times) = (outcome.tally.lost(0), Moments::default());
    tally.push(Bin {
        lost: vec![GoalMisses { lost: goal.of / 50 + 1, of: goal.of / 50 + 1 }],
        times,
        is_touched: true,
        ..Bin::default()
    });
    (outcome.tally, outcome.fault, outcome.stall) = (tally, Some(Disturbance::Stalls), Duration::from_millis(70));
}

impl Edge {
    fn outcome(&self, order: &TrialOrder) -> TrialOutcome {
        let is_met = order.at <= self.at;
        let mut tally = Tally::default();
        let pieces = (order.span.as_secs_f64() / order.bin.as_secs_f64()) as u64;
        let each = (order.at * order.bin.as_secs_f64()).ceil() as u64;
        for piece in 0..pieces {
            let lost = if is_met { 0 } else { each };
            let stay = 0.001 * (1.0 + (piece % 7) as f64 / 10.0);
            let count = each as f64;
            let times = Moments { count, sum: count * stay, squares: count * stay * stay, most: stay };
            tally.push(Bin { lost: vec![GoalMisses { lost, of: each }], times, ..Bin::default() });
        }
        TrialOutcome {
            tally,
            fault: (order.at > self.fault_above).then_some(Disturbance::Generator),
            measured: order.span,
            done_per_s: order.at,
            limit: "target",
            is_held: self.is_plain.then_some(is_met),
            ..TrialOutcome::default()
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

/// All trials take as long as planned.
fn run(edge: &Edge, settings: Settings) -> (SearchResult, Vec<Trial>) {
    run_with(settings, |order| edge.outcome(order))
}

fn run_with(settings: Settings, outcome: impl Fn(&TrialOrder) -> TrialOutcome) -> (SearchResult, Vec<Trial>) {
    let mut search = Search::new(settings);
    let mut now = Duration::ZERO;
    for _ in 0..1_000 {
        match search.next(now) {
            Step::Trial(order) => {
                let began = now;
                now += order.warmup + order.span;
                search.received(&order, outcome(&order), began, now);
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
            assert!(upper / lower <= 1.05 + 1e-9 && found.ended == SearchEnd::Width, "{at}: {found:?}");
            assert!(found.is_confirmed);
        }
    }
}

/// The limit of this machine says nothing of the target.
#[test]
fn a_limit_of_ours_is_no_upper_bound() {
    let edge = Edge { at: f64::INFINITY, fault_above: 3_000.0, is_plain: false };
    let (found, trials) = run(&edge, settings(&edge));
    assert_eq!((found.upper, found.limit), (None, "generator"));
    let (at, fault) = found.own_limit.expect("it is told");
    assert!(at > 3_000.0 && fault == Disturbance::Generator && found.ended == SearchEnd::OwnLimit, "{found:?}");
    assert!(found.lower.is_some_and(|lower| lower > 2_000.0 && lower <= 3_000.0), "{found:?}");
    // Each load that could not be tried was tried again.
    let again = |at: f64| trials.iter().filter(|trial| trial.order.at == at).map(|trial| trial.order.purpose).collect();
    let again: Vec<Purpose> = again(at);
    let most = if again[0] == Purpose::Look { LOOK_FAULTS_MAX } else { FAULTS_MAX };
    assert_eq!(again.len(), most, "{again:?}");
}

/// One unreliable trial is repeated, and is no bound.
#[test]
fn a_unreliable_trial_is_made_again() {
    let edge = Edge { at: 500.0, fault_above: f64::INFINITY, is_plain: false };
    let mut search = Search::new(settings(&edge));
    let Step::Trial(first) = search.next(Duration::ZERO) else { panic!("a trial") };
    let unreliable = TrialOutcome { fault: Some(Disturbance::Link), ..edge.outcome(&first) };
    search.received(&first, unreliable, Duration::ZERO, Duration::from_secs(1));
    let Step::Trial(second) = search.next(Duration::from_secs(1)) else { panic!("a trial") };
    assert_eq!((second.at, second.number), (first.at, 2));
    assert_eq!(search.found().own_limit, None);
}

#[test]
fn the_largest_and_the_least_end_it() {
    let edge = Edge { at: f64::INFINITY, fault_above: f64::INFINITY, is_plain: false };
    let (found, _) = run(&edge, Settings { most: 500.0, ..settings(&edge) });
    assert_eq!((found.lower, found.upper, found.ended), (Some(500.0), None, SearchEnd::Most), "{found:?}");
    let edge = Edge { at: 0.0, fault_above: f64::INFINITY, is_plain: false };
    let (found, _) = run(&edge, settings(&edge));
    assert_eq!((found.lower, found.ended), (None, SearchEnd::Least), "{found:?}");
    assert!(found.upper.is_some_and(|upper| upper <= 1.5), "{found:?}");
}

/// Connections are whole numbers, and each trial decides.
#[test]
fn connections_need_one_trial_each() {
    for at in [7.0, 1_017.0, 54_321.0] {
        let edge = Edge { at, fault_above: f64::INFINITY, is_plain: true };
        let (found, trials) = run(&edge, settings(&edge));
        let (lower, upper) = (found.lower.expect("a bound"), found.upper.expect("a bound"));
        assert!(lower <= at && at < upper && (upper / lower <= 1.05 || upper - lower <= 1.0), "{at}: {found:?}");
        assert!(trials.iter().all(|trial| trial.order.at.fract() == 0.0));
        assert_eq!(found.ended, SearchEnd::Width);
    }
}

/// A stopped search has the result so far.
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
                    search.received(&order, edge.outcome(&order), now, now);
                }
                Step::Rest => search.rested(Err(Duration::ZERO)),
                Step::Over => break,
            }
        }
        let is_over = search.next(now) == Step::Over;
        search.stop();
        assert_eq!(search.next(now), Step::Over);
        let found = search.found();
        assert!(is_over || found.ended == SearchEnd::Stopped);
        assert!(found.lower.is_none_or(|lower| lower <= 777.0) && found.upper.is_none_or(|upper| upper > 777.0));
    }
}

/// It ends after the most trials, with their result, and does not rest after the last one.
#[test]
fn the_trials_may_be_counted() {
    let edge = Edge { at: 777.0, fault_above: f64::INFINITY, is_plain: false };
    let (whole, all) = run(&edge, settings(&edge));
    for most in 1..all.len() {
        let (found, trials) = run(&edge, Settings { trials_max: Some(most), ..settings(&edge) });
        assert_eq!((trials.len(), found.ended), (most, SearchEnd::Trials), "{found:?}");
        let orders = |trials: &[Trial]| trials.iter().map(|trial| trial.order).collect::<Vec<_>>();
        assert_eq!(orders(&trials), orders(&all[..most]), "they are those of the whole search");
        assert!(trials.last().is_some_and(|last| last.recovered.is_none() && last.not_recovered.is_none()));
    }
    // A search that ends by itself has another reason.
    let (found, _) = run(&edge, Settings { trials_max: Some(all.len() + 1), ..settings(&edge) });
    assert_eq!((found.ended, found.lower), (whole.ended, whole.lower));
}

/// Nothing takes longer than allowed, whatever the result.
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

/// Hardly anything is in flight: so the looks reach a fast target's loads in a few steps, and in small ones between the
/// last two.
#[test]
fn checks_grow_faster_on_a_fast_target() {
    let edge = Edge { at: 45_000.0, fault_above: f64::INFINITY, is_plain: false };
    let fast = |order: &TrialOrder| {
        let mut outcome = edge.outcome(order);
        let mut tally = Tally::default();
        let each = outcome.tally.lost(0);
        let bins = outcome.tally.len() as u64;
        let (lost, of) = (each.lost / bins, each.of / bins);
        // 50 us each.
        let times = Moments { count: of as f64, sum: of as f64 * 50e-6, squares: of as f64 * 2.6e-9, most: 1e-4 };
        (0..bins).for_each(|_| tally.push(Bin { lost: vec![GoalMisses { lost, of }], times, ..Bin::default() }));
        outcome.tally = tally;
        outcome
    };
    let wanted = Settings { budget: Duration::from_secs(45), most: 1e6, ..settings(&edge) };
    let (found, trials) = run_with(wanted.clone(), fast);
    let looks: Vec<f64> =
        trials.iter().filter(|trial| trial.order.purpose == Purpose::Look).map(|trial| trial.order.at).collect();
    assert_eq!(looks, [10.0, 160.0, 2_560.0, 7_680.0, 15_360.0, 30_720.0, 61_440.0], "{found:?}");
    let lower = found.lower.expect("a bound");
    assert!(lower > 40_000.0 && found.is_confirmed && found.took <= wanted.budget, "{found:?}");
    // Where one step was too large, the loads between are tried.
    let jump =
        |order: &TrialOrder| if order.at > 500.0 { Edge { at: 500.0, ..edge }.outcome(order) } else { fast(order) };
    let (found, trials) = run_with(wanted, jump);
    let looks: Vec<f64> =
        trials.iter().filter(|trial| trial.order.purpose == Purpose::Look).map(|trial| trial.order.at).collect();
    assert_eq!(looks, [10.0, 160.0, 2_560.0, 320.0, 640.0], "{found:?}");
    assert!(found.lower.is_some_and(|lower| lower > 450.0 && lower <= 500.0), "{found:?}");
}

/// A trial made unreliable by our stalls is repeated; an unknown load is no bound, and no reason to stop.
#[test]
fn what_our_stalls_spoil_is_unknown_and_never_failed() {
    let edge = Edge { at: 1_234.0, fault_above: f64::INFINITY, is_plain: false };
    // Each third trial.
    let often = |order: &TrialOrder| {
        let mut outcome = edge.outcome(order);
        if order.number % 3 == 1 && order.at <= edge.at {
            stalled(&mut outcome);
        }
        outcome
    };
    let (found, _) = run_with(settings(&edge), often);
    let (lower, upper) = (found.lower.expect("a bound"), found.upper.expect("a bound"));
    assert!(lower <= edge.at && edge.at < upper && lower > edge.at * 0.9, "{found:?}");
    assert!(found.noise.is_none() && found.is_confirmed, "{found:?}");
    // One load is unreliable whenever it is tried, and the result above it is found all the same.
    let (found, trials) = run_with(settings(&edge), |order| {
        let mut outcome = edge.outcome(order);
        if order.at == 160.0 {
            stalled(&mut outcome);
        }
        outcome
    });
    assert_eq!(trials.iter().filter(|trial| trial.order.at == 160.0).count(), LOOK_FAULTS_MAX);
    assert!(found.lower.is_some_and(|lower| lower > edge.at * 0.9) && found.unknown.is_none(), "{found:?}");
    // All above a load are: that is reported, and it is no upper bound.
    let (found, trials) = run_with(settings(&edge), |order| {
        let mut outcome = edge.outcome(order);
        if order.at > 700.0 {
            stalled(&mut outcome);
        }
        outcome
    });
    assert_eq!((found.upper, found.limit, found.ended, found.own_limit), (None, "generator", SearchEnd::Stalls, None));
    let unknown = found.unknown.expect("it is told");
    let lower = found.lower.expect("a bound");
    assert!(unknown.at > 700.0 && unknown.at <= lower * 1.05 && lower <= 700.0, "{found:?}");
    assert_eq!((unknown.trials, unknown.stall), (FAULTS_MAX, Duration::from_millis(70)));
    assert!(trials.len() < 60, "repeats are bounded: {}", trials.len());
}

/// A slow target of which a trial has too few requests: they add up at one load, and no lower one is tried.
#[test]
fn fewer_requests_are_no_way_out() {
    let edge = Edge { at: 90.0, fault_above: f64::INFINITY, is_plain: false };
    let wanted = Settings { budget: Duration::from_secs(45), ..settings(&edge) };
    let (found, trials) = run_with(wanted, |order| edge.outcome(order));
    let full: Vec<f64> =
        trials.iter().filter(|trial| trial.order.purpose == Purpose::Full).map(|trial| trial.order.at).collect();
    assert!(full.iter().all(|at| *at >= 80.0), "{full:?}");
    assert!(found.lower.is_some_and(|lower| lower >= 80.0), "{found:?}");
}

/// When the time is over, the highest load without losses is reported, with its number of trials.
#[test]
fn what_ran_without_a_loss_is_reported() {
    let edge = Edge { at: 40_000.0, fault_above: f64::INFINITY, is_plain: false };
    let wanted = Settings { start: 40_000.0, most: 40_000.0, trials_max: Some(5), ..settings(&edge) };
    let two_of_five = |order: &TrialOrder| {
        let mut outcome = edge.outcome(order);
        if order.number > 2 {
            stalled(&mut outcome);
        }
        outcome
    };
    let (found, trials) = run_with(wanted, two_of_five);
    let ran = found.ran.expect("it is told");
    assert_eq!((found.lower, ran.at, ran.trials, ran.of), (None, 40_000.0, 2, 5), "{found:?}");
    assert_eq!(ran.span, trials[0].outcome.measured + trials[1].outcome.measured);
    // Above the known limit nothing is reported.
    let (found, _) = run(&edge, Settings { trials_max: Some(9), ..settings(&edge) });
    assert!(found.ran.is_some_and(|ran| ran.at <= edge.at), "{found:?}");
}

/// The trial of a target with a capacity of 200 per second and a growing backlog above it: nothing is lost yet.
fn piling(order: &TrialOrder, per_s: f64, ours: f64) -> TrialOutcome {
    let (mut tally, bin_s) = (Tally::default(), order.bin.as_secs_f64());
    let pieces = (order.span.as_secs_f64() / bin_s) as usize;
    let (starts, grown) = (order.at * bin_s, (order.at - per_s).max(0.0) * bin_s);
    for piece in 0..pieces {
        let count = (starts - grown).round().max(1.0);
        let stay = 0.02 + grown * piece as f64 / per_s;
        let times = Moments { count, sum: count * stay, squares: count * stay * stay, most: stay };
        let backlog = crate::Backlog { starts, grown, ours: ours * bin_s, is_first: piece == 0 };
        let lost = vec![GoalMisses { lost: 0, of: count as u64 }];
        tally.push(Bin { lost, times, backlog, ..Bin::default() });
    }
    TrialOutcome {
        tally,
        measured: order.span,
        done_per_s: order.at.min(per_s),
        limit: "target",
        ..TrialOutcome::default()
    }
}

/// A time limit that is too long for any trial: the backlog shows that it would be exceeded, and our own stalls are no
/// proof.
#[test]
fn what_piles_up_is_missed_before_it_is_slow() {
    let edge = Edge { at: 0.0, fault_above: f64::INFINITY, is_plain: false };
    let wanted =
        Settings { goals: vec![(0.01, Some(2.0))], budget: Duration::from_secs(30), most: 1e4, ..settings(&edge) };
    let (found, trials) = run_with(wanted.clone(), |order| piling(order, 2_000.0, 0.0));
    let upper = found.upper.expect("a bound");
    assert!(upper > 2_000.0 && upper < 4_100.0, "{found:?}");
    let missed: Vec<&Trial> = trials.iter().filter(|trial| trial.class == Class::Missed).collect();
    assert!(!missed.is_empty() && missed.iter().all(|trial| trial.is_piling_up && trial.is_above), "{missed:?}");
    assert!(found.lower.is_some_and(|lower| lower > 1_000.0), "{found:?}");
    // All of it may be what our stalls added.
    let (found, _) = run_with(wanted, |order| piling(order, 2_000.0, order.at));
    assert_eq!(found.upper, None, "{found:?}");
}

/// With long responses many are in flight soon, and no more later.
#[test]
fn what_takes_long_does_not_pile_up() {
    let of = |stay: fn(usize) -> f64| {
        let mut tally = Tally::default();
        for piece in 0..40 {
            let (count, stay) = (10.0, stay(piece));
            let times = Moments { count, sum: count * stay, squares: count * stay * stay, most: stay };
            let backlog = crate::Backlog { starts: 20.0, grown: 10.0, ours: 0.0, is_first: piece == 0 };
            tally.push(Bin { lost: vec![GoalMisses { lost: 0, of: 10 }], times, backlog, ..Bin::default() });
        }
        tally
    };
    assert_eq!(of(|_| 2.0).piles_up(2.0), 0.0);
    let grows = of(|piece| 2.0 + piece as f64 * 0.1);
    assert!((grows.piles_up(2.0) - 0.5).abs() < 0.01);
    // Trial by trial: the second is as fast at its beginning as the first.
    let mut both = grows.clone();
    both.extend(&grows);
    assert!((both.piles_up(2.0) - 0.5).abs() < 0.01);
}

/// Response times that fluctuate slowly say nothing of failures, of which there are none.
#[test]
fn times_are_no_measure_of_failures() {
    let mut tally = Tally::default();
    for piece in 0..80 {
        let stay = if piece % 40 < 20 { 0.001 } else { 0.4 };
        let times = Moments { count: 50.0, sum: 50.0 * stay, squares: 50.0 * stay * stay, most: stay };
        tally.push(Bin { lost: vec![GoalMisses { lost: 0, of: 50 }; 2], times, ..Bin::default() });
    }
    let of = |limit_s| [GoalLimit { share: 0.01, limit_s, held_s: 1.0 }];
    assert_eq!(class_of(&tally, &of(None)), Class::Met);
    assert_eq!(class_of(&tally, &of(Some(0.5))), Class::Undecided);
}

/// When a full trial fails, a load that looked well comes next: there is a lower bound early, and in a short time.
#[test]
fn a_lower_bound_comes_early() {
    let edge = Edge { at: 700.0, fault_above: f64::INFINITY, is_plain: false };
    let (found, trials) = run_with(settings(&edge), |order| edge.outcome(order));
    let mut full: Vec<f64> =
        trials.iter().filter(|trial| trial.order.purpose == Purpose::Full).map(|trial| trial.order.at).collect();
    full.dedup();
    assert_eq!(full[1], 640.0, "{full:?}");
    assert!(full[0] > 800.0 && found.lower.is_some_and(|lower| lower > 650.0), "{found:?}");
}

/// An unreliable trial is repeated, and never made longer; the range above it is narrowed as well.
#[test]
fn what_our_stalls_leave_open_is_narrowed_from_both_sides() {
    let edge = Edge { at: 1_000.0, fault_above: f64::INFINITY, is_plain: false };
    let (found, trials) = run_with(settings(&edge), |order| {
        let mut outcome = edge.outcome(order);
        if order.at > 850.0 && order.at < 1_100.0 {
            stalled(&mut outcome);
        }
        outcome
    });
    let (lower, upper) = (found.lower.expect("a bound"), found.upper.expect("a bound"));
    assert!(lower > 800.0 && lower <= 850.0 && (1_100.0..1_160.0).contains(&upper), "{found:?}");
    assert_eq!((found.ended, found.response()), (SearchEnd::Stalls, Some(f64::midpoint(lower, upper))), "{found:?}");
    let unreliable =
        trials.windows(2).filter(|both| both[0].outcome.fault.is_some() && both[0].order.at == both[1].order.at);
    let again: Vec<&TrialOrder> = unreliable.map(|both| &both[1].order).collect();
    assert!(!again.is_empty() && again.iter().all(|order| order.span_max == order.span), "{again:?}");
}

/// One loss in a few requests is no reason not to look higher; with many requests, a second look says more.
#[test]
fn one_look_that_lost_some_is_not_the_end() {
    let edge = Edge { at: 9_000.0, fault_above: f64::INFINITY, is_plain: false };
    let looks = |unlucky: &dyn Fn(&TrialOrder) -> bool| {
        let (found, trials) = run_with(settings(&edge), |order| {
            let mut outcome = edge.outcome(order);
            if order.purpose == Purpose::Look && unlucky(order) {
                // All of one piece are lost, and none of many others.
                let (mut tally, all) = (Tally::default(), outcome.tally.lost(0).of);
                tally.extend(&outcome.tally);
                tally.push(Bin { lost: vec![GoalMisses { lost: all / 60 + 1, of: all / 60 + 1 }], ..Bin::default() });
                outcome.tally = tally;
            }
            outcome
        });
        assert!(found.lower.is_some_and(|lower| lower > 8_000.0), "{found:?}");
        let looks = trials.iter().filter(|trial| trial.order.purpose == Purpose::Look);
        looks.map(|trial| trial.order.at).collect::<Vec<f64>>()
    };
    let plain = looks(&|_| false);
    let few = looks(&|order| order.at < 50.0);
    assert!(few.len() <= plain.len() + 3 && few.windows(2).all(|both| both[0] < both[1]), "{few:?}");
    let many = looks(&|order| order.number == 4);
    assert_eq!(many[3], many[4], "{many:?}");
    assert_eq!(many.len(), plain.len() + 1, "{many:?}");
}

/// One short time in which all is lost is no proof of the capacity; two of them are, and so is a loss that lasts to the
/// end.
#[test]
fn one_event_is_no_proof() {
    let of = |is_lost: &dyn Fn(u64) -> bool| {
        let mut tally = Tally::default();
        for piece in 0..40 {
            let lost = if is_lost(piece) { 100 } else { 0 };
            let times = Moments { count: 100.0, sum: 0.1, squares: 1e-4, most: 0.001 };
            tally.push(Bin { lost: vec![GoalMisses { lost, of: 100 }], times, ..Bin::default() });
        }
        class_of(&tally, &[GoalLimit { share: 0.01, limit_s: Some(0.1), held_s: 1.0 }])
    };
    assert_eq!(of(&|piece| (10..16).contains(&piece)), Class::Undecided);
    assert_eq!(of(&|piece| (10..13).contains(&piece) || (25..28).contains(&piece)), Class::Missed);
    assert_eq!(of(&|piece| piece >= 28), Class::Missed);
}

/// A figure is reported in any case, and whether it is certain.
#[test]
fn the_response_is_one_figure() {
    let edge = Edge { at: 500.0, fault_above: f64::INFINITY, is_plain: false };
    let few = |trials| run(&edge, Settings { start: 400.0, trials_max: Some(trials), ..settings(&edge) }).0;
    let one = few(1);
    assert_eq!((one.lower, one.response(), one.has_met()), (None, Some(400.0), true), "{one:?}");
    let all = run(&edge, settings(&edge)).0;
    assert_eq!(all.response(), all.middle().map(|(middle, _)| middle));
    // No load met the goals: a slow target of which one look has too few requests.
    let slow = Edge { at: 5.0, ..edge };
    let few = run(&slow, Settings { start: 2.0, trials_max: Some(1), ..settings(&slow) }).0;
    assert_eq!((few.response(), few.has_met()), (Some(2.0), false), "{few:?}");
}
