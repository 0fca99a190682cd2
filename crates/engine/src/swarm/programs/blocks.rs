//! Blocks that are tried again as a whole: their exchanges, transactions and waits, against arithmetic.

use metrics::Class;
use plan::{Plan, Retry};

use super::loops::{ALWAYS, Five, IS_OTHER, NEVER, checked_plan};
use super::*;
use crate::DataSources;

const FAILS: usize = 0;
const WORKS: usize = 1;

fn retry(most: u16, then: OnFailure) -> Retry {
    let (after, max_wait) = (Duration::ZERO, Duration::from_secs(30));
    Retry { most, after, backoff: 1.0, max_wait, jitter: 0.0, retry_after: false, condition: None, then }
}

fn again(retry: u16, nodes: Vec<Node>) -> Node {
    Node::Retried { retry, is_whole: false, nodes }
}

/// A transaction that is tried again.
fn timed_again(nodes: Vec<Node>) -> Node {
    timed(vec![Node::Retried { retry: 0, is_whole: true, nodes }])
}

fn timed(nodes: Vec<Node>) -> Node {
    Node::Transaction { number: 0, nodes }
}

/// Step 0 always fails, and step 1 never does.
fn plan_of(nodes: Vec<Node>, retries: &[Retry], flags: Flags) -> Plan {
    let mut plan = plan(&[(&["/status/500", "/"], nodes)], flags);
    plan.scenarios[0].program.retries = retries.to_vec();
    plan
}

/// The exchanges of both steps, iterations that ended well or failed, and transactions that did.
fn seen(nodes: Vec<Node>, retries: &[Retry]) -> ([u64; 2], [u64; 2], [u64; 2]) {
    let of = |flags, threads| {
        let history = played(Setup { plan: plan_of(nodes.clone(), retries, flags), threads, ..Setup::calm(11) });
        let counts = &history.total.counts;
        let transactions = [Class::Succeeded, Class::FailedAnswered]
            .map(|class| history.total.count_of(SeriesId::transaction(0), class));
        let steps = [FAILS, WORKS].map(|step| answered(&history, step as u32));
        (steps, [counts.iterations(), counts.iterations_failed()], transactions)
    };
    let closed = of(users(4, 60), 2);
    let open = of(rate("60", "1s"), 1);
    assert_eq!(closed, open, "a load by rate does the same");
    closed
}

#[test]
fn a_block_begins_again_as_a_whole_inside_its_transaction() {
    let nodes = |then| vec![timed_again(vec![ask(WORKS), or(FAILS, then)]), ask(WORKS)];
    let next = [retry(2, OnFailure::Next)];
    assert_eq!(seen(nodes(OnFailure::Next), &next), ([180, 180], [0, 60], [0, 60]));
    let goes_on = [retry(2, OnFailure::GoOn)];
    assert_eq!(seen(nodes(OnFailure::Next), &goes_on), ([180, 240], [60, 0], [0, 60]));
    // A block that is a part of its transaction does not fail it when the user goes on.
    let part = vec![timed(vec![ask(WORKS), again(0, vec![or(FAILS, OnFailure::Next)])])];
    assert_eq!(seen(part, &goes_on), ([180, 60], [60, 0], [60, 0]));
    let alone = vec![timed(vec![again(0, vec![or(FAILS, OnFailure::Next)])])];
    assert_eq!(seen(alone, &goes_on), ([180, 0], [60, 0], [60, 0]));
    // A failure that something else follows does not begin it again.
    assert_eq!(seen(nodes(OnFailure::GoOn), &next), ([60, 120], [60, 0], [60, 0]));
    // Tries of the step are inside those of the block.
    assert_eq!(seen(nodes(OnFailure::Retry(1)), &next), ([360, 180], [0, 60], [0, 60]));
}

/// Each failure that another try follows is told apart, whatever is tried again.
#[test]
fn failures_that_are_tried_again_are_counted() {
    let retried = |nodes: Vec<Node>, flags| {
        let plan = plan_of(nodes, &[retry(2, OnFailure::Next)], flags);
        let total = played(Setup { plan, threads: 2, ..Setup::calm(11) }).total;
        let of_step = total.retried_of(SeriesId::step(FAILS as u32));
        assert_eq!((total.counts.retried(), total.retried_of(SeriesId::step(WORKS as u32))), (of_step, 0));
        (total.counts.failed(), of_step)
    };
    for flags in [users(4, 60), rate("60", "1s")] {
        assert_eq!(retried(vec![or(FAILS, OnFailure::Next)], flags.clone()), (60, 0));
        assert_eq!(retried(vec![or(FAILS, OnFailure::Retry(3))], flags.clone()), (240, 180));
        assert_eq!(retried(vec![or(FAILS, OnFailure::RetryBy(0))], flags.clone()), (180, 120));
        let block = vec![timed_again(vec![ask(WORKS), or(FAILS, OnFailure::Retry(1))]), ask(WORKS)];
        assert_eq!(retried(block, flags.clone()), (360, 300));
        let steps = vec![FAILS, WORKS, FAILS];
        let fork = Node::Parallel { most: 2, steps, optional: Vec::new(), on_failure: OnFailure::Retry(2) };
        assert_eq!(retried(vec![fork], flags.clone()), (360, 240));
        // One that fails nothing else is tried again with the others; so is what goes on in a block.
        let steps = vec![FAILS, WORKS, FAILS];
        let optional = Node::Parallel { most: 2, steps, optional: vec![FAILS], on_failure: OnFailure::Retry(2) };
        assert_eq!(retried(vec![optional], flags.clone()), (120, 0));
        let block = vec![or(FAILS, OnFailure::GoOn), ask(WORKS), or(FAILS, OnFailure::Next)];
        assert_eq!(retried(vec![or(FAILS, OnFailure::GoOn), again(0, block)], flags), (420, 240));
    }
    // A try that does not begin any more is none.
    let mut plan = plan_of(vec![or(FAILS, OnFailure::RetryBy(0))], &[retry(2, OnFailure::Next)], users(4, 60));
    plan.scenarios[0].program.retries[0].after = std::time::Duration::from_secs(60);
    plan.scenarios[0].load = plan::Load::Closed {
        users: 4,
        shape: plan::UserShape::AtOnce,
        requests: None,
        duration: Some(std::time::Duration::from_secs(2)),
    };
    let total = played(Setup { plan, threads: 2, ..Setup::calm(11) }).total;
    assert_eq!((total.counts.failed(), total.counts.retried()), (4, 0));
}

#[test]
fn blocks_lie_in_each_other_and_in_loops() {
    let fails = || or(FAILS, OnFailure::Next);
    let two = [retry(1, OnFailure::Next), retry(2, OnFailure::Next)];
    let nested = vec![again(0, vec![ask(WORKS), again(1, vec![fails()])])];
    assert_eq!(seen(nested, &two), ([360, 120], [0, 60], [0, 0]));
    // The last failure ends the loop around it, and what stands behind that goes on.
    let breaks = [retry(2, OnFailure::Break)];
    let repeat = |nodes| Node::Repeat { least: 5, most: 5, nodes };
    let in_loop = vec![repeat(vec![timed(vec![again(0, vec![fails()])])]), ask(WORKS)];
    assert_eq!(seen(in_loop, &breaks), ([180, 60], [60, 0], [0, 60]));
    // A step in a block that leaves the loop leaves the block too.
    let leaves = vec![repeat(vec![again(0, vec![or(FAILS, OnFailure::Break)])]), ask(WORKS)];
    assert_eq!(seen(leaves, &two), ([60, 60], [60, 0], [0, 0]));
    // Loops, shuffles and transactions in a block begin anew.
    let inside = vec![again(1, vec![timed(vec![Node::Shuffle(vec![repeat(vec![ask(WORKS), fails()])])])])];
    assert_eq!(seen(inside, &two), ([180, 180], [0, 60], [0, 180]));
    let well = vec![repeat(vec![again(1, vec![ask(WORKS)])])];
    assert_eq!(seen(well, &two), ([0, 300], [60, 0], [0, 0]));
}

#[test]
fn waits_of_a_block_are_in_the_transaction_around_it() {
    let after = Duration::from_millis(100);
    let waits = Retry { after, backoff: 2.0, ..retry(2, OnFailure::GoOn) };
    let nodes = vec![timed_again(vec![or(FAILS, OnFailure::Next)])];
    let history = played(Setup { plan: plan_of(nodes, &[waits], users(3, 30)), ..Setup::calm(3) });
    let times = history.total.timings(SeriesId::transaction(0), Class::FailedAnswered).expect("they fail");
    let times = times.by_measure(Measure::Response);
    assert_eq!(times.count(), 30);
    assert!(times.min() >= Some(300_000_000) && times.max() < Some(330_000_000), "{:?}", times.max());
}

#[test]
fn a_check_that_fails_begins_a_block_again_too() {
    for (after, condition, expect) in [(0, NEVER, [120, 0]), (40, NEVER, [120, 0]), (40, ALWAYS, [30, 30])] {
        let check = Node::Check { number: 0, condition, on_failure: OnFailure::Next };
        let nodes = vec![again(0, vec![ask(1), check]), or(1, OnFailure::Next)];
        let mut plan = checked_plan(nodes, users(3, 30));
        plan.scenarios[0].program.retries =
            vec![Retry { after: Duration::from_millis(after), ..retry(3, OnFailure::Next) }];
        plan.scenarios[0].program.checks = vec!["check".to_owned()];
        let data_sources = DataSources { interpreters: Some(std::sync::Arc::new(Five)), ..DataSources::default() };
        let history = played(Setup { plan, data_sources, ..Setup::calm(5) });
        let counts = &history.total.counts;
        assert_eq!(answered(&history, 1), expect[0] + expect[1], "{after}");
        assert_eq!(counts.iterations_failed(), if condition == NEVER { 30 } else { 0 });
        let checks =
            [Class::Succeeded, Class::FailedAnswered].map(|class| history.total.count_of(SeriesId::check(0), class));
        assert_eq!(checks, if condition == NEVER { [0, 120] } else { [30, 0] });
    }
}

/// A check at the beginning of a block is no more than the rest of it: it waits too.
#[test]
fn a_block_that_begins_with_a_check_waits_before_it() {
    let check = |number, condition| Node::Check { number, condition, on_failure: OnFailure::Next };
    // The first fails at random, in a try after the first alone; the last one always does.
    let nodes = vec![timed_again(vec![check(0, IS_OTHER), ask(0), check(1, NEVER)])];
    let mut plan = checked_plan(nodes, users(3, 60));
    plan.scenarios[0].program.retries = vec![Retry { after: Duration::from_millis(100), ..retry(3, OnFailure::Next) }];
    plan.scenarios[0].program.checks = vec!["first".to_owned(), "last".to_owned()];
    let data_sources = DataSources { interpreters: Some(std::sync::Arc::new(Five)), ..DataSources::default() };
    let history = played(Setup { plan, data_sources, ..Setup::calm(5) });
    let times = history.total.timings(SeriesId::transaction(0), Class::FailedAnswered).expect("they fail");
    let times = times.by_measure(Measure::Response);
    assert_eq!(times.count(), 60);
    assert!(times.min() >= Some(300_000_000), "{:?}", times.min());
}
