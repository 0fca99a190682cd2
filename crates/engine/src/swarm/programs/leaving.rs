//! Users that leave before the load is over: at the end of a budget, when a ramp goes down, in a pause, and because a
//! step failed.

use std::time::Duration;

use metrics::{Class, Counter, SeriesId};
use pacing::change::ChangeKind;
use pacing::{LevelStage, Nanos};
use plan::{BudgetPart, Flags, Load, Node, OnFailure, Plan, Program, UserShape, UserStage};

use super::{answered, ask, fixed, or, plan, played, rate, users};
use crate::swarm::history::{History, Setup};

const SECOND: u64 = 1_000_000_000;

/// A plan with an iteration (step 1), and `on_start` (step 0) and `on_stop` (step 2) where wanted.
fn three(paths: &[&str], flags: Flags, starts: bool, stops: bool) -> Plan {
    let mut plan = plan(&[(paths, vec![ask(1)])], flags);
    let program = &mut plan.scenarios[0].program;
    let some = |does: bool, step| if does { vec![or(step, OnFailure::Next)] } else { Vec::new() };
    *program = Program { start: some(starts, 0), stop: some(stops, 2), ..std::mem::take(program) };
    plan
}

fn run(plan: Plan, threads: usize) -> History {
    played(Setup { plan, threads, ..Setup::calm(11) })
}

fn changed(plan: Plan, threads: usize, changes: Vec<(Nanos, usize, ChangeKind)>) -> History {
    played(Setup { plan, threads, changes, ..Setup::calm(11) })
}

fn lasting(count: u64, time: &str) -> Flags {
    Flags { connections: Some(count.to_string()), duration: Some(time.to_owned()), ..Flags::default() }
}

fn steps(history: &History) -> [u64; 3] {
    [0, 1, 2].map(|step| answered(history, step))
}

/// Sets stages: users from one number to another within some seconds, and the second number for as long.
fn stages(plan: &mut Plan, from: u64, to: u64, seconds: u64) {
    let span = Duration::from_secs(seconds);
    let shape = UserShape::Stages(vec![UserStage { from, to, span }, UserStage { from: to, to, span }]);
    plan.scenarios[0].load = Load::Closed { users: from.max(to), shape, requests: None, duration: Some(span * 2) };
}

/// Exactly the requests of the budget are made, whatever users do at the beginning and at the end, and then the run is
/// over.
#[test]
fn a_budget_of_requests_ends_a_run_with_steps_of_a_users_life() {
    let text = |text: &str| Some(text.to_owned());
    let loads = [
        lasting(4, "60s"),
        users(4, 1_000),
        Flags { connections: text("7"), ..users(7, 3_000) },
        rate("100", "60s"),
        Flags { connections: text("3"), ..rate("1000", "60s") },
    ];
    for (load, budget) in loads.iter().flat_map(|load| [1, 5, 100, 131].map(|budget| (load, budget))) {
        for (starts, stops) in [(false, true), (true, true), (true, false), (false, false)] {
            for threads in [1, 2, 3] {
                let flags = Flags { budget: Some(format!("requests={budget}")), ..load.clone() };
                let history = run(three(&["/", "/delay/10", "/"], flags, starts, stops), threads);
                let (counts, what) = (&history.total.counts, format!("{budget} {starts} {stops} {threads}: {load:?}"));
                assert_eq!((counts.started(), counts.succeeded()), (budget, budget), "{what}");
                assert_eq!(history.requests_served, budget, "{what}");
                assert_eq!((counts.unfinished(), counts.dropped()), (0, 0), "{what}");
                assert_eq!(history.spent, Some(BudgetPart::Requests), "{what}");
                assert!(history.wall < Nanos(3 * SECOND), "{what}: {:?}", history.wall);
                // Users that have begun and do not stop are reported.
                let begun = if starts { answered(&history, 0) } else { counts.iterations().min(1) };
                assert_eq!(counts.users_without_stop() > 0, stops && begun > 0, "{what}");
            }
        }
    }
}

/// Budgets and threads of a rate at which starts wait for users.
fn narrow() -> impl Iterator<Item = (u64, usize, Flags)> {
    [20, 77, 200].into_iter().flat_map(|budget| {
        let (requests, connections) = (Some(format!("requests={budget}")), Some("7".to_owned()));
        let flags = Flags { budget: requests, connections, ..rate("50000", "60s") };
        [1, 2, 3].map(|threads| (budget, threads, flags.clone()))
    })
}

/// Starts that wait for a user have taken their part of the budget: users whose next request it forbids serve them,
/// whether that is a redirect, a step, or one of several at a time.
#[test]
fn users_without_budget_serve_starts_that_wait() {
    for (budget, threads, flags) in narrow() {
        let url = Some("http://10.0.0.1/redirect/2".to_owned());
        let chains = Flags { url, user_agent: "oracle".to_owned(), location: true, ..flags.clone() };
        let paths = &["/delay/10", "/", "/delay/5"];
        let several = vec![
            ask(0),
            Node::Parallel { most: 2, steps: vec![1, 2], optional: Vec::new(), on_failure: OnFailure::Next },
        ];
        let plans = [
            chains.plan().expect("a good plan"),
            plan(&[(paths, vec![ask(0), ask(1), ask(2)])], flags.clone()),
            plan(&[(paths, several)], flags),
        ];
        for (number, plan) in plans.into_iter().enumerate() {
            let history = run(plan, threads);
            let (counts, what) = (&history.total.counts, format!("plan {number}, {budget} on {threads} threads"));
            assert_eq!((counts.started(), counts.succeeded()), (budget, budget), "{what}");
            assert_eq!((counts.unfinished(), counts.dropped(), history.requests_served), (0, 0, budget), "{what}");
            let [mut whole, cut] = [Counter::Iterations, Counter::IterationsCut].map(|counter| counts[counter]);
            if number == 0 {
                whole = history.total.chains.count();
                assert_eq!(whole + cut + counts.redirects(), budget, "{what}: {whole} and {cut}");
            }
            assert!(whole * 3 + cut <= budget && whole * 3 + cut * 2 >= budget, "{what}: {whole} and {cut}");
            assert!(history.wall < Nanos(3 * SECOND), "{what}: {:?}", history.wall);
        }
    }
}

/// The same for users that leave: the budget may end within their `on_stop`.
#[test]
fn users_without_budget_for_on_stop_make_room_for_starts_that_wait() {
    for (budget, threads, flags) in narrow() {
        let mut plan = plan(&[(&["/status/500", "/delay/5"], vec![or(0, OnFailure::Stop)])], flags);
        plan.scenarios[0].program.stop = vec![ask(1), ask(1)];
        let history = run(plan, threads);
        let (counts, what) = (&history.total.counts, format!("{budget} on {threads} threads"));
        assert_eq!((counts.started(), counts.finished(), history.requests_served), (budget, budget, budget), "{what}");
        assert_eq!((counts.unfinished(), counts.dropped()), (0, 0), "{what}");
        // Each user that left without budget made none or one of the two requests of `on_stop`.
        let (left, stopped) = (counts.failed(), answered(&history, 1));
        let without = counts.users_without_stop();
        assert!((2 * left - stopped).div_ceil(2) <= without && without <= 2 * left - stopped, "{what}: {counts:?}");
        assert!(history.wall < Nanos(3 * SECOND), "{what}: {:?}", history.wall);
    }
}

/// A user in a pause when the budget is used up has nothing left to do; when bytes or time end the load, all stop.
#[test]
fn a_budget_does_not_wait_for_pauses() {
    for (budget, stopped, part) in [
        ("requests=40", 0, BudgetPart::Requests),
        ("time=1s", 10, BudgetPart::Time),
        ("bytes=3KiB", 10, BudgetPart::Bytes),
    ] {
        let flags = Flags { budget: Some(budget.to_owned()), ..lasting(10, "600s") };
        let mut plan = three(&["/", "/", "/"], flags, true, true);
        plan.scenarios[0].program.nodes = vec![ask(1), ask(1), ask(1), fixed(300), ask(1), fixed(60_000)];
        let history = run(plan, 2);
        assert_eq!((answered(&history, 2), history.spent), (stopped, Some(part)), "{budget}");
        assert_eq!(history.total.counts.users_without_stop(), 10 - stopped, "{budget}");
        assert!(history.wall < Nanos(2 * SECOND), "{budget}: {:?}", history.wall);
    }
}

/// An iteration that is cut because its user is no longer needed did not fail, nor did a transaction around it.
#[test]
fn a_way_down_fails_nothing() {
    let all = |nodes| vec![Node::Transaction { number: 0, nodes }];
    for stops in [false, true] {
        for nodes in [vec![ask(1), fixed(3_000), ask(1)], vec![ask(1), ask(1), ask(1)], vec![ask(1), fixed(3_000)]] {
            for threads in [1, 2, 7] {
                let mut plan = three(&["/", "/delay/200", "/"], lasting(10, "20s"), false, stops);
                plan.scenarios[0].program.nodes = all(nodes.clone());
                stages(&mut plan, 10, 0, 10);
                let history = run(plan, threads);
                let series = SeriesId::transaction(0);
                let failed: u64 = Class::ALL.iter().skip(1).map(|class| history.total.count_of(series, *class)).sum();
                let counts = &history.total.counts;
                assert_eq!((failed, counts.failed(), counts.iterations_failed()), (0, 0, 0), "{nodes:?} {threads}");
                let ended = history.total.count_of(series, Class::Succeeded);
                assert_eq!(counts.iterations(), ended, "{nodes:?} {threads}");
                assert!((1..=10).contains(&counts.iterations_cut()), "{nodes:?} {threads}: {counts:?}");
                assert_eq!(answered(&history, 2), if stops { 10 } else { 0 }, "{nodes:?} {threads}");
            }
        }
    }
}

/// One user leaves each second, as the plan says, though each pauses for longer than that.
#[test]
fn who_thinks_leaves_when_the_way_down_says_so() {
    for (think, begins) in [(3_000, false), (30_000, false), (700, true), (3_000, true)] {
        for threads in [1, 3] {
            let mut plan = three(&["/", "/", "/"], lasting(10, "20s"), begins, true);
            plan.scenarios[0].program.nodes = vec![ask(1), fixed(think)];
            stages(&mut plan, 10, 0, 10);
            let history = run(plan, threads);
            let rows = &history.reported.rows;
            // At the end of each row as many are left as the line from ten to none has there.
            for row in rows.iter().filter(|row| !row.is_corrected && row.to.0 % SECOND == 0 && row.to.0 <= 10 * SECOND)
            {
                let left = (10 * SECOND - row.from.0).div_ceil(SECOND);
                assert!(row.users.abs_diff(left) <= 1, "{think} {threads}: {row:?}, {left} expected");
            }
            assert_eq!(answered(&history, 2), 10, "{think} {threads}");
        }
    }
}

/// A user that comes back begins a new iteration, and has nothing left of the old one.
#[test]
fn who_comes_back_begins_anew() {
    for threads in [1, 2] {
        let mut plan = three(&["/", "/", "/"], lasting(4, "9s"), false, false);
        plan.scenarios[0].program.nodes =
            vec![Node::Transaction { number: 1, nodes: vec![ask(1), fixed(2_000), ask(0)] }, fixed(60_000)];
        let stage = |users, millis| UserStage { from: users, to: users, span: Duration::from_millis(millis) };
        let shape = UserShape::Stages(vec![stage(4, 1_000), stage(1, 3_000), stage(4, 5_000)]);
        plan.scenarios[0].load =
            Load::Closed { users: 4, shape, requests: None, duration: Some(Duration::from_secs(9)) };
        let history = run(plan, threads);
        // Four come, and three of them once more.
        assert_eq!([answered(&history, 1), answered(&history, 0)], [7, 4], "{threads}");
        let timings = history.total.timings(SeriesId::transaction(1), Class::Succeeded).expect("some");
        let slowest = timings.by_measure(metrics::Measure::Response).max().expect("some");
        assert!(slowest < 2 * SECOND + SECOND / 10, "{threads}: {slowest}");
        assert_eq!(history.total.counts.iterations_cut(), 7, "{threads}");
    }
}

/// In a pause of the load all users stay; one that is not needed after it, or when the run is stopped in it, stops all
/// the same.
#[test]
fn who_stands_still_stops_too() {
    let second = Nanos(SECOND);
    for threads in [1, 2] {
        // The load goes on with fewer.
        let mut plan = three(&["/", "/delay/20", "/"], lasting(6, "3s"), true, true);
        plan.scenarios[0].program.nodes = vec![ask(1), fixed(100), ask(1)];
        let changes = vec![
            (Nanos(SECOND / 2), 0, ChangeKind::Pause),
            (second, 0, ChangeKind::Users(vec![LevelStage { from: 2, to: 2, span: Nanos::ZERO }])),
            (Nanos(2 * SECOND), 0, ChangeKind::Resume),
        ];
        let history = changed(plan, threads, changes);
        assert_eq!([answered(&history, 0), answered(&history, 2)], [6, 6], "{threads}");
        // The run is stopped while it is paused.
        for flags in [lasting(6, "60s"), Flags { connections: Some("6".to_owned()), ..rate("200", "60s") }] {
            let mut plan = three(&["/", "/delay/20", "/"], flags, true, true);
            plan.scenarios[0].program.nodes = vec![ask(1), fixed(100), ask(1)];
            let changes = vec![(Nanos(SECOND / 2), 0, ChangeKind::Pause)];
            let stop_at = Some((Nanos(2 * SECOND), false));
            let history = played(Setup { plan, threads, changes, stop_at, ..Setup::calm(11) });
            let [started, _, stopped] = steps(&history);
            assert!(started == stopped && started > 0, "{threads}: {started} {stopped}");
            assert!(history.wall < Nanos(2 * SECOND + SECOND / 2), "{threads}: {:?}", history.wall);
        }
    }
}

/// Users of a closed load leave for good, and the others go on.
#[test]
fn users_whose_step_fails_leave_and_are_counted() {
    for (stops, threads) in [(false, 1), (true, 1), (true, 3)] {
        let mut plan = three(&["/", "/status/500", "/"], lasting(5, "3s"), false, stops);
        plan.scenarios[0].program.nodes = vec![ask(0), fixed(200), or(1, OnFailure::Stop)];
        let history = run(plan, threads);
        let counts = &history.total.counts;
        assert_eq!(counts.users_left(), 5, "{stops} {threads}");
        assert_eq!(steps(&history), [5, 5, if stops { 5 } else { 0 }], "{stops} {threads}");
        assert!(history.wall < Nanos(SECOND), "all have left: {:?}", history.wall);
        // A user that fails after the last iteration does not leave once more; nor is it forgotten when that was in the
        // warm-up.
        let flags = Flags { warmup: Some("1s".to_owned()), ..lasting(5, "3s") };
        let mut plan = three(&["/", "/", "/status/500"], flags, false, true);
        plan.scenarios[0].program.nodes = vec![ask(0), fixed(200), or(2, OnFailure::Stop)];
        plan.scenarios[0].program.stop = vec![or(2, OnFailure::Stop)];
        assert_eq!(run(plan, threads).total.counts[Counter::UsersLeft], 5, "{threads}");
    }
}

/// Under a rate another user replaces each that leaves: it starts, on a connection of its own, and the rate stays.
#[test]
fn under_a_rate_others_take_the_place_of_those_who_leave() {
    for (stops, threads) in [(true, 1), (false, 1), (true, 2), (false, 3)] {
        let mut plan = three(&["/", "/status/500", "/delay/5"], rate("20", "2s"), true, stops);
        plan.scenarios[0].program.nodes = vec![or(1, OnFailure::Stop), ask(0)];
        let history = run(plan, threads);
        let counts = &history.total.counts;
        // Each start has a user of its own, and none goes further than its first step.
        assert_eq!(steps(&history), [40, 40, if stops { 40 } else { 0 }], "{stops} {threads}");
        assert_eq!((counts.users_left(), counts.iterations_failed()), (40, 40), "{stops} {threads}");
        assert_eq!((counts.dropped(), counts.unfinished()), (0, 0), "{stops} {threads}");
        assert!(counts.connections_established() >= 40, "{stops} {threads}: {counts:?}");
        // With few allowed at a time, they make way for each other.
        let flags = Flags { connections: Some("1".to_owned()), ..rate("20", "2s") };
        let mut plan = three(&["/delay/20", "/status/500", "/delay/20"], flags, true, stops);
        plan.scenarios[0].program.nodes = vec![or(1, OnFailure::Stop)];
        assert_eq!(steps(&run(plan, 1)), [40, 40, if stops { 40 } else { 0 }], "{stops}");
        // Users stay after other failures.
        let mut plan = three(&["/", "/status/500", "/"], rate("20", "2s"), true, stops);
        plan.scenarios[0].program.nodes = vec![or(1, OnFailure::Next)];
        let history = run(plan, threads);
        assert!(answered(&history, 0) < 10 && history.total.counts.users_left() == 0, "{stops} {threads}");
    }
}

/// Under a rate the start of a user fails half of the time, and the user leaves, and so does each after its one
/// iteration: no user is ever idle, and each start of the load is served all the same.
#[test]
fn who_leaves_before_it_was_ready_makes_room() {
    for (stops, threads) in [(true, 1), (false, 1), (true, 3)] {
        let flags = Flags { grace: Some("60s".to_owned()), ..rate("20", "2s") };
        let mut plan = three(&["/fail/50", "/status/500", "/"], flags, true, stops);
        let program = &mut plan.scenarios[0].program;
        (program.start, program.nodes) = (vec![or(0, OnFailure::Stop)], vec![or(1, OnFailure::Stop)]);
        let history = run(plan, threads);
        let counts = &history.total.counts;
        assert_eq!((answered(&history, 1), counts.dropped(), counts.unfinished()), (40, 0, 0), "{stops} {threads}");
        assert!(counts.users_left() > 40, "{stops} {threads}: {counts:?}");
    }
}
