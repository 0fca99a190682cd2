//! Values extracted from concurrent exchanges: in the order of the file, whichever ends first.

use std::sync::Arc;

use metrics::{Class, Failure, SeriesId};
use plan::{DynamicParts, Extract, ExtractFrom, Extraction, Flags, Node, OnFailure, Plan, Value, Which};

use super::loops::{Five, IS_204, checked_plan};
use super::{answered, ask, played, rate, users};
use crate::DataSources;
use crate::swarm::history::{History, Setup};

/// Steps to these paths, and one after them that is requested when the last extracted status is 204.
fn taking(paths: &[&str], fork: Node, flags: Flags) -> Plan {
    let otherwise = Vec::new();
    let nodes = vec![fork, Node::If { condition: IS_204, then: vec![ask(paths.len())], otherwise }];
    let mut plan = checked_plan(nodes, flags);
    let scenario = &mut plan.scenarios[0];
    let plain = scenario.steps[1].clone();
    let of_path = |path: &&str| {
        let mut step = plain.clone();
        step.request.path = (*path).to_owned();
        step.dynamic_parts = Some(Arc::new(DynamicParts { takes: vec![status()], ..DynamicParts::default() }));
        step
    };
    scenario.steps = paths.iter().map(of_path).chain([plain.clone()]).collect();
    plan
}

fn status() -> Extraction {
    let take = Extract::new(&ExtractFrom::Status, Which::First).expect("a take");
    Extraction {
        variable: 0,
        name: "status".to_owned(),
        take,
        of: None,
        default: None,
        is_number: false,
        from_failed: false,
    }
}

fn fork(most: u16, steps: &[usize]) -> Node {
    Node::Parallel { most, steps: steps.to_vec(), optional: Vec::new(), on_failure: OnFailure::Next }
}

fn run(plan: Plan, threads: usize) -> History {
    let data_sources = DataSources { interpreters: Some(Arc::new(Five)), ..DataSources::default() };
    played(Setup { plan, threads, data_sources, ..Setup::calm(11) })
}

const SLOW: usize = 0;
const FAST: usize = 1;
const SLOWER: usize = 2;

#[test]
fn the_last_of_the_file_counts_and_not_the_last_to_end() {
    let paths = ["/delay/50", "/status/204", "/delay/90"];
    for http2 in [false, true] {
        for (most, steps, is_204) in [
            (2, &[SLOW, FAST][..], true),
            (2, &[FAST, SLOW], false),
            (1, &[SLOW, FAST], true),
            (1, &[FAST, SLOW], false),
            (3, &[SLOWER, SLOW, FAST], true),
            (3, &[SLOWER, FAST, SLOW], false),
            (2, &[SLOWER, SLOW, FAST], true),
            (2, &[FAST, SLOWER, SLOW], false),
            (6, &[SLOW, SLOW, SLOWER, SLOW, FAST, FAST], true),
            (2, &[FAST, FAST, SLOWER], false),
            (1, &[FAST], true),
            (1, &[SLOW], false),
        ] {
            let flags = Flags { http2, ..users(3, 30) };
            let history = run(taking(&paths, fork(most, steps), flags), 2);
            let reported = format!("{most} of {steps:?}, HTTP/2: {http2}");
            assert_eq!((history.total.counts.iterations(), history.total.counts.failed()), (30, 0), "{reported}");
            assert_eq!(answered(&history, 3), if is_204 { 30 } else { 0 }, "{reported}");
        }
    }
}

/// One exchange fails: the block does, and what the others extracted is there all the same.
#[test]
fn one_failure_fails_the_block_and_nothing_is_abandoned() {
    for (on_failure, goes_on) in [(OnFailure::Next, 0), (OnFailure::GoOn, 30)] {
        let paths = ["/delay/50", "/status/204", "/status/500"];
        let node = Node::Parallel { most: 3, steps: vec![0, 2, 1], optional: Vec::new(), on_failure };
        let history = run(taking(&paths, node, users(3, 30)), 1);
        assert_eq!([0, 1, 2].map(|step| answered(&history, step)), [30; 3]);
        // 204 is what the last of the file extracted; a status that fails extracts nothing.
        assert_eq!(answered(&history, 3), goes_on, "{on_failure:?}");
        let counts = &history.total.counts;
        assert_eq!((counts.iterations(), counts.iterations_failed()), (goes_on, 30 - goes_on), "{on_failure:?}");
    }
}

/// An extraction that finds nothing fails its own exchange, and what it extracted before stays.
#[test]
fn a_take_that_finds_nothing_fails_the_block() {
    let mut plan = taking(&["/delay/50", "/status/204"], fork(2, &[1, 0]), users(3, 30));
    let header = ExtractFrom::Header("No-Such".to_owned());
    let missing = Extraction { take: Extract::new(&header, Which::First).expect("a take"), ..status() };
    plan.scenarios[0].steps[0].dynamic_parts =
        Some(Arc::new(DynamicParts { takes: vec![missing], ..DynamicParts::default() }));
    let history = run(plan, 1);
    assert_eq!(history.total.failures_of(SeriesId::step(0)).collect::<Vec<_>>(), [(Failure::NotTaken, 30)]);
    assert_eq!(history.total.count_of(SeriesId::step(1), Class::Succeeded), 30);
    assert_eq!((history.total.counts.iterations_failed(), answered(&history, 2)), (30, 0));
}

/// Each exchange has its own draws: how many are in flight, and which ends first, changes nothing.
#[test]
fn draws_do_not_depend_on_who_ends_first() {
    let seen: Vec<_> = [(1, 1), (1, 2), (1, 7), (2, 1), (3, 2), (5, 7), (9, 1)]
        .map(|(most, threads)| {
            let flags = Flags { requests: Some("300".to_owned()), ..rate("100", "10s") };
            let mut plan = checked_plan(vec![fork(most, &[0, 1, 0, 0, 1, 0]), ask(0)], flags);
            plan.scenarios[0].steps[1].request.path = "/delay/40".to_owned();
            plan.scenarios[0].memory.variables = vec![Value::Null];
            let history = run(plan, threads);
            assert_eq!(history.total.counts.succeeded(), 2_100, "{most} at a time");
            history.total.counts.statuses().collect::<Vec<_>>()
        })
        .into();
    assert!(seen.iter().all(|statuses| *statuses == seen[0]), "{seen:?}");
    assert!(seen[0].len() == 5, "all that can be drawn is: {seen:?}");
}
