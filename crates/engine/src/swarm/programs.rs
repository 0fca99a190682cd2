//! Programs against what their users do, in a world without noise.

use std::sync::PoisonError;
use std::time::Duration;

use metrics::{Class, Measure, SeriesId};
use pacing::Nanos;
use plan::{Choice, Flags, Node, OnFailure, Program, Think, Transaction};

use super::history::{self, History, Setup};
use crate::idle::QUIET;

mod barriers;
mod blocks;
mod deadlines;
mod forks;
mod leaving;
mod loops;
mod open_users;
mod recorded;
mod rounds;
mod sharing;
mod transactions;
mod user_setup;

const SECOND: u64 = 1_000_000_000;

/// Runs steps to these paths in a program.
fn run(paths: &[&str], nodes: Vec<Node>, flags: Flags, threads: usize) -> History {
    let plan = plan(&[(paths, nodes)], flags);
    played(Setup { plan, threads, ..Setup::calm(11) })
}

/// A plan of scenarios that differ only in their steps and programs.
fn plan(scenarios: &[(&[&str], Vec<Node>)], flags: Flags) -> plan::Plan {
    let flags = Flags { user_agent: "oracle".to_owned(), url: Some("http://10.0.0.1/".to_owned()), ..flags };
    let mut plan = flags.plan().expect("a good plan");
    let one = plan.scenarios.remove(0);
    for (paths, nodes) in scenarios {
        let mut scenario = one.clone();
        let step = |path: &&str| {
            let mut step = one.steps[0].clone();
            step.request.path = (*path).to_owned();
            step
        };
        scenario.steps = paths.iter().map(step).collect();
        let transactions = vec![
            Transaction { name: "all".to_owned(), has_pauses: false, deadline: None },
            Transaction { name: "slow".to_owned(), has_pauses: true, deadline: None },
        ];
        scenario.program = Program { seed: 7, nodes: nodes.clone(), transactions, ..Program::default() };
        plan.scenarios.push(scenario);
    }
    plan
}

fn played(setting: Setup) -> History {
    let _works = QUIET.read().unwrap_or_else(PoisonError::into_inner);
    history::run(setting, false).unwrap_or_else(|found| panic!("{found}"))
}

fn users(count: u64, iterations: u64) -> Flags {
    Flags { connections: Some(count.to_string()), requests: Some(iterations.to_string()), ..Flags::default() }
}

fn rate(rate: &str, duration: &str) -> Flags {
    Flags { rate: Some(rate.to_owned()), duration: Some(duration.to_owned()), ..Flags::default() }
}

fn ask(step: usize) -> Node {
    Node::Ask { step, on_failure: OnFailure::GoOn }
}

fn or(step: usize, on_failure: OnFailure) -> Node {
    Node::Ask { step, on_failure }
}

fn fixed(millis: u64) -> Node {
    Node::Think(Think::Fixed(Duration::from_millis(millis)))
}

/// Exchanges of a step that ended with a response.
fn answered(history: &History, step: u32) -> u64 {
    let count = |class| history.total.count_of(SeriesId::step(step), class);
    count(Class::Succeeded) + count(Class::FailedAnswered)
}

#[test]
fn weights_are_kept_and_the_same_on_every_number_of_shards() {
    let nodes = || {
        let way = |weight, step| Choice { weight, nodes: vec![ask(step)] };
        vec![Node::Choose(vec![way(70, 0), way(30, 1), way(0, 2)])]
    };
    let counts = [1, 2, 7].map(|threads| {
        let history = run(&["/", "/status/204", "/status/404"], nodes(), rate("10000", "3s"), threads);
        [0, 1, 2].map(|step| answered(&history, step))
    });
    assert_eq!(counts[0].iter().sum::<u64>(), 30_000);
    assert!(counts.iter().all(|count| *count == counts[0]), "{counts:?}");
    // 99.9 % of all binomials of 30,000 at 0.7 lie within 3.3 deviations of 79.4.
    assert!(counts[0][0].abs_diff(21_000) < 262, "{counts:?}");
    assert_eq!(counts[0][2], 0);
}

#[test]
fn pauses_are_in_no_latency_and_as_long_as_they_say() {
    for (think, mean) in [
        (Think::Fixed(Duration::from_millis(90)), 90.0),
        (Think::Uniform(Duration::from_millis(50), Duration::from_millis(150)), 100.0),
        (Think::Exponential(Duration::from_millis(80)), 80.0),
        (Think::Normal(Duration::from_millis(100), Duration::from_millis(10)), 100.0),
        // The mean of a lognormal is its median times exp(sigma^2 / 2).
        (Think::LogNormal(Duration::from_millis(60), 0.5), 60.0 * 0.125f64.exp()),
    ] {
        let history = run(&["/delay/10"], vec![ask(0), Node::Think(think)], users(20, 4_000), 2);
        assert_eq!(history.total.counts.succeeded(), 4_000);
        let response = history.total.class(Class::Succeeded);
        assert!(response.by_measure(Measure::Response).max() < Some(SECOND / 50), "{think:?}");
        // 20 users share 4,000 rounds of 10 ms and a pause; the last of each does not wait for another.
        let round = history.wall.0 as f64 / 1e6 / 200.0;
        let expect = mean + 10.0;
        assert!((round / expect - 1.0).abs() < 0.05, "{think:?}: {round} ms a round, {expect} expected");
    }
}

#[test]
fn what_is_repeated_shuffled_and_chosen_lies_in_each_other() {
    let nodes = vec![
        ask(0),
        Node::Repeat {
            least: 3,
            most: 3,
            nodes: vec![
                Node::Shuffle(vec![ask(1), Node::Repeat { least: 2, most: 2, nodes: vec![ask(2)] }]),
                Node::Choose(vec![Choice { weight: 1, nodes: vec![] }]),
            ],
        },
        Node::Repeat { least: 0, most: 2, nodes: vec![ask(3)] },
    ];
    let history = run(&["/", "/", "/", "/"], nodes, users(5, 300), 2);
    let counts = &history.total.counts;
    assert_eq!([0, 1, 2].map(|step| answered(&history, step)), [300, 900, 1_800]);
    // 0, 1 or 2 times: 300 of them at a mean of 1, and a deviation of 14.
    assert!(answered(&history, 3).abs_diff(300) < 50, "{}", answered(&history, 3));
    assert_eq!((counts.iterations(), counts.iterations_cut(), counts.iterations_failed()), (300, 0, 0));
}

#[test]
fn what_follows_a_failure_is_what_the_program_says() {
    let paths = ["/", "/status/500", "/status/204"];
    let with = |on_failure| vec![ask(0), or(1, on_failure), ask(2)];
    let seen = |on_failure| {
        let history = run(&paths, with(on_failure), users(4, 100), 1);
        let counts = &history.total.counts;
        let steps = [0, 1, 2].map(|step| answered(&history, step));
        (steps, counts.iterations(), counts.iterations_failed())
    };
    assert_eq!(seen(OnFailure::GoOn), ([100, 100, 100], 100, 0));
    assert_eq!(seen(OnFailure::Next), ([100, 100, 0], 0, 100));
    assert_eq!(seen(OnFailure::Retry(2)), ([100, 300, 0], 0, 100));
    assert_eq!(seen(OnFailure::Stop), ([4, 4, 0], 0, 4));
    // The same at a rate, where no user leaves.
    let history = run(&paths, with(OnFailure::Stop), rate("100", "2s"), 2);
    assert_eq!([0, 1, 2].map(|step| answered(&history, step)), [200, 200, 0]);
    assert_eq!((history.total.counts.iterations(), history.total.counts.iterations_failed()), (0, 200));
}

/// A rate stays what it is however long its users pause; each round is executed to its end.
#[test]
fn users_of_a_rate_pause_and_the_rate_stays() {
    for nodes in [vec![ask(0), fixed(500), ask(1)], vec![fixed(500), ask(0), fixed(100), ask(1)]] {
        let flags = Flags { requests: Some("1000".to_owned()), ..rate("200", "10s") };
        let history = run(&["/", "/"], nodes, flags, 2);
        let counts = &history.total.counts;
        assert_eq!([0, 1].map(|step| answered(&history, step)), [1_000, 1_000]);
        assert_eq!((counts.started(), counts.dropped(), counts.iterations()), (2_000, 0, 1_000));
        let response = history.total.class(Class::Succeeded);
        assert!(response.by_measure(Measure::Response).max() < Some(SECOND / 10), "no pause is in a latency");
    }
}

#[test]
fn several_exchanges_of_a_user_are_under_way_at_a_time() {
    let fork = |most| Node::Parallel { most, steps: vec![0; 6], optional: Vec::new(), on_failure: OnFailure::Next };
    for http2 in [false, true] {
        for (most, rounds) in [(1, 6), (2, 3), (4, 2), (6, 1), (9, 1)] {
            let flags = Flags { http2, ..users(3, 30) };
            let history = run(&["/delay/100", "/"], vec![fork(most), ask(1)], flags, 1);
            assert_eq!([0, 1].map(|step| answered(&history, step)), [180, 30], "{most} at a time, HTTP/2: {http2}");
            let (wall, expect) = (history.wall.0 as f64 / 1e6, f64::from(rounds) * 1_000.0);
            assert!((expect..expect * 1.2).contains(&wall), "{most} at a time, HTTP/2: {http2}: {wall} ms");
            let opened = history.total.counts.connections_established();
            let most_opened = if http2 { 3 } else { 3 * u64::from(most.min(6)) };
            assert_eq!(opened, most_opened, "{most} at a time, HTTP/2: {http2}");
        }
    }
}

/// The load ends in the middle of several: those that have begun come to their end, the others never begin, and the
/// iteration is not complete.
#[test]
fn several_that_the_end_of_the_load_cuts_are_no_iteration() {
    let fork = Node::Parallel { most: 2, steps: vec![0; 6], optional: Vec::new(), on_failure: OnFailure::Next };
    let time = |text: &str| Some(text.to_owned());
    let flags = Flags { connections: time("3"), duration: time("150ms"), grace: time("1s"), ..Flags::default() };
    let history = run(&["/delay/100", "/"], vec![fork, ask(1)], flags, 1);
    let counts = &history.total.counts;
    assert_eq!([0, 1].map(|step| answered(&history, step)), [12, 0]);
    assert_eq!((counts.iterations(), counts.iterations_cut(), counts.unfinished()), (0, 3, 0));
}

/// One of several fails: the others come to their end, and what follows is what the program says.
#[test]
fn nothing_of_several_is_abandoned() {
    let fork = Node::Parallel { most: 3, steps: vec![0, 1, 0, 0], optional: Vec::new(), on_failure: OnFailure::Next };
    let history = run(&["/delay/50", "/status/500"], vec![fork, ask(0)], users(2, 20), 2);
    assert_eq!([0, 1].map(|step| answered(&history, step)), [60, 20]);
    assert_eq!((history.total.counts.iterations(), history.total.counts.iterations_failed()), (0, 20));
}

/// A program that requests nothing ends with the time of the load, and takes no more than its share of a core.
#[test]
fn rounds_that_ask_for_nothing_let_others_work() {
    let nothing = Node::Choose(vec![Choice { weight: 999, nodes: vec![] }, Choice { weight: 1, nodes: vec![ask(0)] }]);
    let loops = Node::Repeat {
        least: 1_000_000,
        most: 1_000_000,
        nodes: vec![Node::Choose(vec![
            Choice { weight: u32::MAX, nodes: vec![] },
            Choice { weight: 1, nodes: vec![ask(0)] },
        ])],
    };
    for nodes in [vec![nothing], vec![loops]] {
        for flags in [
            Flags { duration: Some("300ms".to_owned()), connections: Some("3".to_owned()), ..Flags::default() },
            rate("100", "300ms"),
        ] {
            let history = run(&["/"], nodes.clone(), Flags { grace: Some("1s".to_owned()), ..flags }, 1);
            assert!(history.wall < Nanos(4 * SECOND), "{:?}", history.wall);
            assert_eq!(history.total.counts.unfinished(), 0);
        }
    }
}
