//! Lists, counts, times, checks, planned ends and retries against what their users do.

use std::sync::Arc;
use std::time::Duration;

use metrics::{Class, Failure, Measure, SeriesId};
use pacing::Nanos;
use plan::{
    Assignment, Builtin, DynamicParts, Evaluate, Expression, Flags, Interpreters, Loop, Meaning, Moment, Node,
    OnFailure, Pattern, Plan, PlannedEnd, Program, Rendering, Retry, Rounds, TextContext, Value, ValuePattern,
};

use super::{answered, ask, fixed, or, plan, played, rate, users};
use crate::DataSources;
use crate::swarm::history::{History, Setup};
use crate::swarm::variables::OnlyVariables;

/// The variable of a loop, which is a part of the path of step 0; and another.
const ITEM: u32 = 0;
const OTHER: u32 = 1;

/// Expressions, by index; each gets the variables, the number of the round, and the last response.
const EXPRESSIONS: [&str; 12] = [
    "statuses",
    "three",
    "none",
    "wrong",
    "no list",
    "second round",
    "failed with 503",
    "first user",
    "empty",
    "one",
    "many",
    "many times",
];
const STATUSES: u32 = 0;
const THREE: u32 = 1;
const NONE: u32 = 2;
const WRONG: u32 = 3;
const NO_LIST: u32 = 4;
const SECOND_ROUND: u32 = 5;
const IS_503: u32 = 6;
const FIRST_USER: u32 = 7;
const EMPTY: u32 = 8;
const ONE: u32 = 9;
const MANY: u32 = 10;
const MANY_TIMES: u32 = 11;

const NEXT: OnFailure = OnFailure::Next;

#[derive(Debug)]
struct Table;

impl Interpreters for Table {
    fn start(&self, expressions: &[Expression]) -> Result<Box<dyn Evaluate>, String> {
        assert_eq!(expressions.len(), EXPRESSIONS.len());
        Ok(Box::new(Self))
    }
}

impl Evaluate for Table {
    fn uses(&self, expression: u32) -> &[u32] {
        match expression {
            SECOND_ROUND => &[0],
            IS_503 => &[1, 2],
            FIRST_USER => &[3],
            _ => &[],
        }
    }

    fn evaluate(&mut self, expression: u32, values: &[Value], _: Moment) -> Result<Value, String> {
        Ok(match (expression, values) {
            (STATUSES, []) => Value::Json("[200,201,204,200]".into()),
            (THREE, []) => Value::text("3"),
            (NONE, []) => Value::Int(0),
            (EMPTY, []) => Value::Json("[]".into()),
            (MANY, []) => Value::Json(format!("[{}]", vec!["\"x\""; 20_000].join(",")).into()),
            (MANY_TIMES, []) => Value::Int(3_000),
            (ONE, []) => Value::Int(1),
            (WRONG, []) => Value::Float(1.5),
            (NO_LIST, []) => Value::text("a, b"),
            (SECOND_ROUND, [round]) => Value::Bool(*round == Value::Int(1)),
            (IS_503, [status, failed]) => Value::Bool(*status == Value::Int(503) && *failed == Value::Bool(true)),
            (FIRST_USER, [vu]) => Value::Bool(*vu == Value::Int(1)),
            _ => return Err("it threw: no".to_owned()),
        })
    }
}

/// A path that is made of the item.
fn with_item(path: &str) -> DynamicParts {
    let path = Pattern::parse(path, TextContext::Url).expect("a pattern");
    let path = Rendering::new(&path, &mut OnlyVariables(&["item"])).expect("known names");
    DynamicParts { path: Some(path), ..DynamicParts::default() }
}

/// Step 0 asks for the status that the item says, the others for these paths.
fn planned(paths: &[&str], nodes: Vec<Node>, flags: Flags) -> Plan {
    let paths: Vec<&str> = ["/"].into_iter().chain(paths.iter().copied()).collect();
    let mut plan = plan(&[(&paths, nodes)], flags);
    let scenario = &mut plan.scenarios[0];
    scenario.steps[0].dynamic_parts = Some(Arc::new(with_item("/status/${item}")));
    scenario.memory.variables = vec![Value::Int(404), Value::Null];
    let names = vec![
        ("loop.index".to_owned(), Meaning::Builtin(Builtin::LoopIndex)),
        ("response.status".to_owned(), Meaning::Builtin(Builtin::ResponseStatus)),
        ("response.failed".to_owned(), Meaning::Builtin(Builtin::ResponseFailed)),
        ("vu.id".to_owned(), Meaning::Builtin(Builtin::VuId)),
    ];
    let expression = |text: &&str| Expression { text: (*text).to_owned(), names: names.clone() };
    scenario.memory.expressions = EXPRESSIONS.iter().map(expression).collect();
    scenario.program.checks = vec!["first".to_owned(), "second".to_owned()];
    plan
}

fn data_sources() -> DataSources {
    DataSources { interpreters: Some(Arc::new(Table)), ..DataSources::default() }
}

fn run(plan: Plan, threads: usize) -> History {
    played(Setup { plan, threads, data_sources: data_sources(), ..Setup::calm(11) })
}

fn looped(rounds: Rounds, every: Option<u64>, nodes: Vec<Node>) -> Node {
    Node::Loop(Loop { rounds, every: every.map(Duration::from_millis), on_failure: OnFailure::Next, nodes })
}

fn items(list: u32, nodes: Vec<Node>) -> Node {
    looped(Rounds::Items { list, variable: ITEM, is_concurrent: false }, None, nodes)
}

fn times(count: u32, nodes: Vec<Node>) -> Node {
    looped(Rounds::Times(count), None, nodes)
}

fn timed(number: usize, nodes: Vec<Node>) -> Node {
    Node::Transaction { number, nodes }
}

fn when(condition: u32, end: PlannedEnd) -> Node {
    Node::If { condition, then: vec![Node::End(end)], otherwise: Vec::new() }
}

fn of_transaction(history: &History, number: u32, class: Class) -> u64 {
    history.total.count_of(SeriesId::transaction(number), class)
}

fn statuses(history: &History) -> Vec<(u16, u64)> {
    history.total.counts.statuses().collect()
}

fn ends(history: &History) -> (u64, u64, u64) {
    let counts = &history.total.counts;
    (counts.iterations(), counts.iterations_failed(), counts.iterations_cut())
}

#[test]
fn a_loop_goes_through_its_list_and_through_its_number_of_rounds() {
    for (threads, flags) in
        [(1, users(5, 100)), (3, users(7, 100)), (2, Flags { requests: Some("100".to_owned()), ..rate("100", "9s") })]
    {
        let nodes = vec![items(STATUSES, vec![ask(0), times(THREE, vec![ask(1)])]), times(NONE, vec![ask(1)]), ask(0)];
        let history = run(planned(&["/status/202"], nodes, flags), threads);
        // Behind the loop the variable has the last item.
        assert_eq!(statuses(&history), [(200, 300), (201, 100), (202, 1_200), (204, 100)]);
        assert_eq!(ends(&history), (100, 0, 0));
    }
}

/// The same with concurrent rounds.
fn at_once(list: u32, most: u16, (steps, optional): (&[usize], &[usize]), on_failure: OnFailure) -> Node {
    let rounds = Rounds::Items { list, variable: ITEM, is_concurrent: true };
    let nodes = vec![Node::Parallel { most, steps: steps.to_vec(), optional: optional.to_vec(), on_failure }];
    Node::Loop(Loop { rounds, every: None, on_failure, nodes })
}

#[test]
fn items_of_a_list_are_requested_side_by_side() {
    for (threads, most, flags) in [
        (1, 6, users(5, 100)),
        (3, 2, users(7, 100)),
        (2, 1, users(7, 100)),
        (2, 3, Flags { requests: Some("100".to_owned()), ..rate("100", "9s") }),
    ] {
        let (both, one) = (at_once(STATUSES, most, (&[0, 1], &[]), NEXT), at_once(EMPTY, most, (&[1], &[]), NEXT));
        let history = run(planned(&["/status/202"], vec![both, one, ask(0)], flags), threads);
        // Each item has all steps; behind the loop the variable has the last item. An empty list is no failure.
        assert_eq!(statuses(&history), [(200, 300), (201, 100), (202, 400), (204, 100)], "{most} at once");
        assert_eq!(ends(&history), (100, 0, 0), "{most} at once");
    }
}

#[test]
fn as_many_items_as_may_be_are_under_way_at_a_time() {
    for (most, rounds) in [(1, 4), (2, 2), (3, 2), (4, 1), (9, 1)] {
        let nodes = vec![timed(1, vec![at_once(STATUSES, most, (&[1], &[]), NEXT)])];
        let history = run(planned(&["/delay/100"], nodes, users(3, 30)), 2);
        assert_eq!((answered(&history, 1), ends(&history)), (120, (30, 0, 0)), "{most} at once");
        let took = history.total.timings(SeriesId::transaction(1), Class::Succeeded).expect("some");
        let took = took.by_measure(Measure::Response);
        let (least, greatest) = (rounds * 100_000_000, rounds * 100_000_000 + 50_000_000);
        assert!(took.min() >= Some(least) && took.max() < Some(greatest), "{most} at once: {took:?}");
    }
}

/// A step that may fail fails nothing else; another one fails the loop, when all have ended.
#[test]
fn what_fails_beside_others_fails_all_unless_it_may() {
    for (optional, on_failure, completed, behind) in [
        (&[1][..], NEXT, 20, 20),
        (&[], NEXT, 0, 0),
        (&[0], NEXT, 0, 0),
        (&[], OnFailure::GoOn, 20, 20),
        (&[], OnFailure::Break, 20, 0),
    ] {
        let inside = vec![at_once(STATUSES, 3, (&[0, 1], optional), on_failure), ask(2)];
        let history = run(planned(&["/status/500", "/status/202"], vec![times(ONE, inside)], users(4, 20)), 2);
        let reported = format!("{optional:?}, {on_failure:?}");
        assert_eq!([0, 1].map(|step| answered(&history, step)), [80, 80], "{reported}");
        assert_eq!((answered(&history, 2), ends(&history)), (behind, (completed, 20 - completed, 0)), "{reported}");
    }
}

/// Steps that end before anything is sent, thousands of them: none lies on the stack of the one before.
#[test]
fn thousands_that_end_at_once_take_no_stack() {
    for on_failure in [OnFailure::GoOn, NEXT] {
        let nodes = vec![at_once(MANY, 2, (&[0], &[]), on_failure), ask(1)];
        let mut plan = planned(&["/status/202"], nodes, users(2, 4));
        // A URL that is none of the target: nothing is sent.
        plan.scenarios[0].steps[0].dynamic_parts = Some(Arc::new(with_item("${item}")));
        let history = run(plan, 1);
        let failures = history.total.failures_of(SeriesId::step(0)).collect::<Vec<_>>();
        assert_eq!(failures, [(Failure::NotFilled, 4 * 20_000)], "{on_failure:?}");
        let goes_on = if on_failure == NEXT { 0 } else { 4 };
        assert_eq!((answered(&history, 1), ends(&history)), (goes_on, (goes_on, 4 - goes_on, 0)), "{on_failure:?}");
    }
    // The same in a loop without a list.
    let fork = Node::Parallel { most: 2, steps: vec![0, 0], optional: vec![0], on_failure: NEXT };
    let mut plan = planned(&["/status/202"], vec![times(MANY_TIMES, vec![fork]), ask(1)], users(2, 4));
    plan.scenarios[0].memory.variables[0] = Value::text("\r\nx: y");
    plan.scenarios[0].steps[0].dynamic_parts = Some(Arc::new(with_item("${item}")));
    let history = run(plan, 1);
    assert_eq!((answered(&history, 1), ends(&history)), (4, (4, 0, 0)));
}

/// The requests of a list are tried again together, with the same items.
#[test]
fn items_are_tried_again_together() {
    let nodes = vec![at_once(STATUSES, 3, (&[0, 1], &[]), OnFailure::Retry(2)), ask(2)];
    let history = run(planned(&["/status/500", "/status/202"], nodes, users(4, 20)), 2);
    assert_eq!([0, 1].map(|step| answered(&history, step)), [240, 240]);
    assert_eq!((answered(&history, 2), ends(&history)), (0, (0, 20, 0)));
    assert_eq!((history.total.counts.failed(), history.total.retried_of(SeriesId::step(1))), (240, 160));
}

#[test]
fn a_loop_without_a_list_or_a_number_fails() {
    let side_by_side = at_once(NO_LIST, 2, (&[1], &[]), NEXT);
    for broken in [items(NO_LIST, vec![ask(1)]), side_by_side, times(WRONG, vec![ask(1)])] {
        let history = run(planned(&["/"], vec![ask(1), timed(0, vec![broken]), ask(1)], users(4, 40)), 2);
        assert_eq!((answered(&history, 1), ends(&history)), (40, (0, 40, 0)));
        assert_eq!(history.total.failures_of(SeriesId::step(1)).collect::<Vec<_>>(), [(Failure::NotFilled, 40)]);
        assert_eq!(of_transaction(&history, 0, Class::Succeeded), 0);
    }
}

#[test]
fn rounds_begin_as_far_apart_as_they_say_until_their_time_is_over() {
    let span = Duration::from_millis(1_000);
    let nodes = vec![timed(1, vec![looped(Rounds::During(span), Some(100), vec![ask(1)])])];
    let history = run(planned(&["/delay/20"], nodes, users(3, 30)), 2);
    // At 0, 100 and so on up to 900; the pause behind the last would go past the end, so there is none.
    assert_eq!((answered(&history, 1), ends(&history)), (300, (30, 0, 0)));
    let took = history.total.timings(SeriesId::transaction(1), Class::Succeeded).expect("some");
    let took = took.by_measure(Measure::Response);
    assert!(took.min() >= Some(920_000_000) && took.max() < Some(1_000_000_000), "{took:?}");
    // A condition that is never met, within a time.
    for is_until in [true, false] {
        let condition = if is_until { NONE } else { THREE };
        let within = Some(Duration::from_millis(450));
        let rounds = Rounds::Condition { condition, is_until, most: 1_000, within };
        let nodes = vec![timed(0, vec![looped(rounds, Some(100), vec![ask(1)])])];
        let history = run(planned(&["/delay/20"], nodes, users(3, 30)), 2);
        assert_eq!((answered(&history, 1), ends(&history)), (150, (0, 30, 0)), "{is_until}");
        assert_eq!(history.total.failures_of(SeriesId::step(1)).collect::<Vec<_>>(), [(Failure::LoopLimit, 30)]);
    }
}

#[test]
fn planned_ends_are_no_failures() {
    let seen = |end, more| {
        let inner = Node::Shuffle(vec![timed(1, vec![ask(1), when(SECOND_ROUND, end), ask(1)])]);
        let mut nodes = vec![timed(0, vec![items(STATUSES, vec![ask(0), inner, ask(0)]), ask(1)])];
        nodes.extend(more);
        let history = run(planned(&["/status/202"], nodes, users(4, 40)), 2);
        let well = [0, 1].map(|number| of_transaction(&history, number, Class::Succeeded));
        let failed = [0, 1].map(|number| of_transaction(&history, number, Class::FailedAnswered));
        assert_eq!(failed, [0, 0]);
        (answered(&history, 0), answered(&history, 1), well, ends(&history))
    };
    // Four rounds, of which the second lacks its rest.
    assert_eq!(seen(PlannedEnd::Round, None), (40 * 7, 40 * (7 + 1), [40, 160], (40, 0, 0)));
    // A round and a half, and what follows the loop.
    assert_eq!(seen(PlannedEnd::Loop, Some(ask(1))), (40 * 3, 40 * (3 + 2), [40, 80], (40, 0, 0)));
    assert_eq!(seen(PlannedEnd::Iteration, Some(ask(1))), (40 * 3, 40 * 3, [40, 80], (40, 0, 0)));
    // Each user leaves in its first iteration.
    assert_eq!(seen(PlannedEnd::User, Some(ask(1))), (4 * 3, 4 * 3, [4, 8], (4, 0, 0)));
    // The same out of a repetition.
    let rounds = vec![ask(1), when(SECOND_ROUND, PlannedEnd::Loop), ask(1)];
    let nodes = vec![Node::Repeat { least: 5, most: 5, nodes: rounds }, ask(0)];
    let history = run(planned(&["/"], nodes, users(4, 40)), 1);
    assert_eq!((answered(&history, 1), answered(&history, 0), ends(&history)), (40 * 3, 40, (40, 0, 0)));
}

#[test]
fn a_failure_can_end_its_loop_alone() {
    let inner = vec![timed(1, vec![items(STATUSES, vec![ask(0), or(1, OnFailure::Break), ask(0)])]), ask(2)];
    let nodes = vec![Node::Repeat { least: 2, most: 2, nodes: vec![timed(0, inner)] }];
    let history = run(planned(&["/status/500", "/"], nodes, users(4, 40)), 2);
    // What is around the loop goes on, and ends well.
    assert_eq!([0, 1, 2].map(|step| answered(&history, step)), [80, 80, 80]);
    assert_eq!([0, 1].map(|number| of_transaction(&history, number, Class::Succeeded)), [80, 80]);
    assert_eq!(ends(&history), (40, 0, 0));
    // What is within it fails.
    let inner = vec![items(STATUSES, vec![timed(1, vec![or(1, OnFailure::Break)]), ask(0)]), ask(2)];
    let history = run(planned(&["/status/500", "/"], vec![timed(0, inner)], users(4, 40)), 2);
    assert_eq!([0, 1, 2].map(|step| answered(&history, step)), [0, 40, 40]);
    assert_eq!(of_transaction(&history, 0, Class::Succeeded), 40);
    assert_eq!(of_transaction(&history, 1, Class::FailedAnswered), 40);
}

fn retry(retry: Retry) -> impl Fn(&mut Program) {
    move |program| program.retries = vec![retry.clone()]
}

const RETRY: Retry = Retry {
    most: 3,
    after: Duration::from_millis(100),
    backoff: 2.0,
    max_wait: Duration::from_millis(300),
    jitter: 0.0,
    retry_after: false,
    condition: None,
    then: OnFailure::GoOn,
};

#[test]
fn tries_wait_as_they_say_and_the_wait_is_in_transactions() {
    for (path, condition, tries) in
        [("/status/500", None, 4), ("/status/503", Some(IS_503), 4), ("/status/500", Some(IS_503), 1)]
    {
        for flags in [users(4, 40), Flags { requests: Some("40".to_owned()), ..rate("40", "9s") }] {
            let mut plan = planned(&[path], vec![timed(0, vec![or(1, OnFailure::RetryBy(0)), ask(0)])], flags);
            retry(Retry { condition, ..RETRY })(&mut plan.scenarios[0].program);
            let history = run(plan, 2);
            assert_eq!((answered(&history, 1), answered(&history, 0)), (40 * tries, 40));
            assert_eq!(ends(&history), (40, 0, 0));
            // 100, 200, and 300 instead of 400.
            let least = if tries == 1 { 0 } else { 600_000_000 };
            let took = history.total.timings(SeriesId::transaction(0), Class::Succeeded).expect("some");
            let took = took.by_measure(Measure::Response);
            assert!(took.min() >= Some(least) && took.max() < Some(least + 100_000_000), "{took:?}");
        }
    }
    for (then, iterations) in [(OnFailure::Next, (0, 40, 0)), (OnFailure::Stop, (0, 4, 0))] {
        let mut plan = planned(&["/status/500"], vec![or(1, OnFailure::RetryBy(0)), ask(0)], users(4, 40));
        retry(Retry { then, after: Duration::ZERO, ..RETRY })(&mut plan.scenarios[0].program);
        let history = run(plan, 1);
        assert_eq!((ends(&history), answered(&history, 1)), (iterations, iterations.1 * 4), "{then:?}");
    }
}

#[test]
fn variables_are_set_in_order_and_carried_where_that_is_wanted() {
    let to = plan::AssignedTo::Variable;
    let set = |variable, name: &str, value| Assignment { to: to(variable), name: name.to_owned(), value };
    let item = || {
        let pattern = Pattern::parse("${item}", TextContext::Text).expect("a pattern");
        ValuePattern::Slot(Rendering::new(&pattern, &mut OnlyVariables(&["item"])).expect("known names"))
    };
    let constant = |status| ValuePattern::Constant(Value::Int(status));
    // The item becomes the other variable before it changes.
    let assignments = vec![set(OTHER, "other", item()), set(ITEM, "item", constant(204))];
    for (carried, first) in [(Vec::new(), (404, 100)), (vec![ITEM], (404, 4))] {
        let nodes = vec![ask(0), Node::Set(assignments.clone()), ask(0)];
        let mut plan = planned(&["/"], nodes, users(4, 100));
        plan.scenarios[0].memory.carried = carried;
        let history = run(plan, 1);
        assert_eq!(statuses(&history), [(204, 200 - first.1), first]);
    }
}

#[test]
fn checks_count_by_themselves() {
    let check = |number, condition, on_failure| Node::Check { number, condition, on_failure };
    let passed = |history: &History, number| history.total.count_of(SeriesId::check(number), Class::Succeeded);
    let failed = |history: &History, number| {
        history.total.failures_of(SeriesId::check(number)).map(|(_, count)| count).sum::<u64>()
    };
    let nodes = vec![
        ask(1),
        timed(0, vec![check(0, THREE, OnFailure::Next), ask(1)]),
        timed(1, vec![check(1, NONE, OnFailure::GoOn), ask(1), check(1, NONE, OnFailure::Next)]),
        ask(1),
    ];
    let history = run(planned(&["/"], nodes, users(4, 40)), 2);
    assert_eq!((answered(&history, 1), ends(&history)), (120, (0, 40, 0)));
    assert_eq!((passed(&history, 0), passed(&history, 1)), (40, 0));
    assert_eq!((failed(&history, 0), failed(&history, 1)), (0, 80));
    let counts = &history.total.counts;
    assert_eq!((counts.succeeded(), counts.failed(), counts.started()), (120, 0, 120));
    assert_eq!(of_transaction(&history, 0, Class::Succeeded), 40);
    assert_eq!(of_transaction(&history, 1, Class::Succeeded), 0);
    let reasons: Vec<_> = history.total.failures_of(SeriesId::transaction(1)).collect();
    assert_eq!(reasons, [(Failure::CheckFailed, 40)]);
}

/// A start that fails by a check waits before it is tried again, whether it requested something or not.
#[test]
fn a_start_that_fails_by_a_check_is_tried_again_later() {
    let check = || Node::Check { number: 0, condition: NONE, on_failure: OnFailure::Next };
    // At 0, 1, 3, 7 and 15 s; with half a second in each, the last one is at 17 s.
    for (start, requests) in [(vec![check()], 0), (vec![ask(1), fixed(500), check()], 20)] {
        let time = Some("20s".to_owned());
        let flags = Flags { connections: Some("4".to_owned()), duration: time, ..Flags::default() };
        let mut plan = planned(&["/"], vec![ask(1)], flags);
        plan.scenarios[0].program.start = start;
        let history = run(plan, 1);
        let failed: u64 = history.total.failures_of(SeriesId::check(0)).map(|(_, count)| count).sum();
        assert_eq!((answered(&history, 1), failed, history.total.counts.iterations()), (requests, 20, 0));
    }
}

#[test]
fn a_user_can_stop_the_run() {
    let end = Node::End(PlannedEnd::Run("enough".to_owned()));
    let stops = Node::If { condition: FIRST_USER, then: vec![end], otherwise: Vec::new() };
    let flags = Flags { connections: Some("6".to_owned()), duration: Some("600s".to_owned()), ..Flags::default() };
    let mut plan = planned(&["/"], vec![ask(1), fixed(1_000), ask(1), stops], flags);
    plan.scenarios[0].program.stop = vec![ask(0)];
    let history = run(plan, 3);
    assert_eq!(history.stop_reason.as_deref(), Some("enough"));
    assert!(history.was_stopped && history.wall < Nanos::from_millis(3_000), "{:?}", history.wall);
    // All users leave in order.
    assert_eq!((answered(&history, 0), history.total.counts.users_without_stop()), (6, 0));
    assert_eq!(history.total.counts.iterations_failed(), 0);
}

#[test]
fn users_leave_in_order_though_the_grace_was_used_up() {
    for (stop_within, done) in [(2_000, 8), (0, 0)] {
        let flags = Flags {
            connections: Some("8".to_owned()),
            duration: Some("2s".to_owned()),
            grace: Some("500ms".to_owned()),
            ..Flags::default()
        };
        let mut plan = planned(&["/delay/60000"], vec![timed(0, vec![or(1, OnFailure::Next), ask(1)])], flags);
        plan.stop_within = Duration::from_millis(stop_within);
        plan.scenarios[0].program.stop = vec![ask(0)];
        let history = run(plan, 2);
        let counts = &history.total.counts;
        assert_eq!((answered(&history, 0), counts.users_without_stop()), (done, 8 - done));
        assert_eq!(counts.started(), counts.succeeded() + counts.failed() + counts.unfinished());
        assert!(history.wall < Nanos::from_millis(3_000), "{:?}", history.wall);
        assert_eq!(of_transaction(&history, 0, Class::Succeeded), 0);
    }
}
