//! Conditions and loops against what their users do.

use std::sync::Arc;

use metrics::{Class, Failure, SeriesId};
use plan::{
    DynamicParts, Evaluate, Expression, Extract, ExtractFrom, Extraction, Flags, Interpreters, Loop, Meaning, Moment,
    Node, OnFailure, Pattern, Plan, Rendering, Rounds, TextContext, Value, Which,
};

use super::{answered, ask, or, plan, played, rate, users};
use crate::DataSources;
use crate::swarm::history::{History, Setup};
use crate::swarm::variables::OnlyVariables;

/// Conditions, by index: the last status was 204, it was another, unknown, always, never.
const CONDITIONS: [&str; 5] = ["status == 204", "status != 204", "throws()", "true", "false"];
pub(super) const IS_204: u32 = 0;
pub(super) const IS_OTHER: u32 = 1;
const THROWS: u32 = 2;
pub(super) const ALWAYS: u32 = 3;
pub(super) const NEVER: u32 = 4;

/// An evaluator that reads nothing: the result of a condition depends on its index.
#[derive(Debug)]
pub(super) struct Five;

impl Interpreters for Five {
    fn start(&self, expressions: &[Expression]) -> Result<Box<dyn Evaluate>, String> {
        assert_eq!(expressions.len(), CONDITIONS.len());
        Ok(Box::new(Self))
    }
}

impl Evaluate for Five {
    fn uses(&self, expression: u32) -> &[u32] {
        if expression <= IS_OTHER { &[0] } else { &[] }
    }

    fn evaluate(&mut self, expression: u32, values: &[Value], _: Moment) -> Result<Value, String> {
        match (expression, values) {
            (IS_204, [status]) => Ok(Value::Bool(*status == Value::Int(204))),
            (IS_OTHER, [status]) => Ok(Value::Bool(*status != Value::Int(204))),
            (ALWAYS, []) => Ok(Value::text("yes")),
            (NEVER, []) => Ok(Value::Float(0.0)),
            _ => Err("it threw: no".to_owned()),
        }
    }
}

/// The same, which says that nothing is drawn for it.
#[derive(Debug)]
struct Undrawn;

impl Interpreters for Undrawn {
    fn start(&self, _: &[Expression]) -> Result<Box<dyn Evaluate>, String> {
        Ok(Box::new(Self))
    }
}

impl Evaluate for Undrawn {
    fn uses(&self, expression: u32) -> &[u32] {
        Five.uses(expression)
    }

    fn evaluate(&mut self, expression: u32, values: &[Value], moment: Moment) -> Result<Value, String> {
        Five.evaluate(expression, values, moment)
    }

    fn draws(&self, _: u32) -> bool {
        false
    }
}

/// Step 0 gets one of five statuses, which users remember; step 1 is plain.
pub(super) fn checked_plan(nodes: Vec<Node>, flags: Flags) -> Plan {
    let mut plan = plan(&[(&["/", "/"], nodes)], flags);
    let scenario = &mut plan.scenarios[0];
    let path = Pattern::parse("/status/${random(200,204)}", TextContext::Url).expect("a pattern");
    let take = Extract::new(&ExtractFrom::Status, Which::First).expect("a take");
    scenario.steps[0].dynamic_parts = Some(Arc::new(DynamicParts {
        path: Some(Rendering::new(&path, &mut OnlyVariables(&[])).expect("known names")),
        takes: vec![Extraction {
            variable: 0,
            name: "status".to_owned(),
            take,
            of: None,
            default: None,
            is_number: false,
            from_failed: false,
        }],
        ..DynamicParts::default()
    }));
    scenario.memory.variables = vec![Value::Null];
    let names = vec![("status".to_owned(), Meaning::Variable(0))];
    let expression = |text: &&str| Expression { text: (*text).to_owned(), names: names.clone() };
    scenario.memory.expressions = CONDITIONS.iter().map(expression).collect();
    plan
}

fn run(nodes: Vec<Node>, flags: Flags, threads: usize) -> History {
    let data_sources = DataSources { interpreters: Some(Arc::new(Five)), ..DataSources::default() };
    played(Setup { plan: checked_plan(nodes, flags), threads, data_sources, ..Setup::calm(11) })
}

fn repeated(condition: u32, is_until: bool, most: u32, on_failure: OnFailure, nodes: Vec<Node>) -> Node {
    let rounds = Rounds::Condition { condition, is_until, most, within: None };
    Node::Loop(Loop { rounds, every: None, on_failure, nodes })
}

fn with_status(history: &History, status: u16) -> u64 {
    history.total.counts.statuses().find(|(known, _)| *known == status).map_or(0, |(_, count)| count)
}

#[test]
fn loops_end_when_their_condition_says_so_on_any_number_of_shards() {
    // `until` tests after each round, `while` before: at first the status is unknown, which is not 204.
    for (condition, is_until) in [(IS_204, true), (IS_OTHER, false)] {
        let seen = [1, 2, 7].map(|threads| {
            let nodes = vec![repeated(condition, is_until, 1_000, OnFailure::Next, vec![ask(0)]), ask(1)];
            let history = run(nodes, users(7, 700), threads);
            let counts = &history.total.counts;
            assert_eq!((counts.iterations(), counts.iterations_failed(), counts.failed()), (700, 0, 0));
            // The last of each loop is the only one of its kind; then comes the other step.
            assert_eq!((with_status(&history, 204), answered(&history, 1)), (700, 700), "{is_until}");
            answered(&history, 0)
        });
        // A geometric distribution: 5 rounds on average, with a deviation of 118 over 700 of them. How many iterations
        // a user has depends on timing, so shards may differ by chance.
        assert!(seen.iter().all(|rounds| rounds.abs_diff(3_500) < 400), "{seen:?}");
    }
    // At a rate each iteration has its number, and draws the same everywhere.
    let seen = [1, 2, 7].map(|threads| {
        let nodes = vec![repeated(IS_204, true, 1_000, OnFailure::Next, vec![ask(0)])];
        let history = run(nodes, rate("100", "3s"), threads);
        assert_eq!((with_status(&history, 204), history.total.counts.iterations()), (300, 300));
        answered(&history, 0)
    });
    assert!(seen.iter().all(|rounds| *rounds == seen[0]), "{seen:?}");
}

#[test]
fn a_condition_that_draws_nothing_leaves_the_draws_behind_it_as_they_are() {
    let seen = |interpreters: Arc<dyn Interpreters>| {
        let inner = Node::If { condition: ALWAYS, then: vec![ask(0)], otherwise: vec![ask(1)] };
        let nodes = vec![ask(0), inner, repeated(IS_204, true, 1_000, OnFailure::Next, vec![ask(0)])];
        let data_sources = DataSources { interpreters: Some(interpreters), ..DataSources::default() };
        let plan = checked_plan(nodes, rate("100", "1s"));
        let history = played(Setup { plan, threads: 2, data_sources, ..Setup::calm(11) });
        [200, 201, 202, 203, 204].map(|status| with_status(&history, status))
    };
    let with_draws = seen(Arc::new(Five));
    assert!(with_draws.iter().all(|count| *count > 50), "{with_draws:?}");
    assert_eq!(seen(Arc::new(Undrawn)), with_draws);
}

#[test]
fn conditions_choose_one_of_two_ways() {
    let nodes =
        |condition| vec![ask(0), Node::If { condition, then: vec![ask(1), ask(1)], otherwise: vec![ask(1)] }, ask(1)];
    let history = run(nodes(IS_204), users(4, 400), 2);
    let hits = with_status(&history, 204);
    // 200 is the status of step 1 too.
    assert_eq!((answered(&history, 0), answered(&history, 1)), (400, 2 * 400 + hits));
    assert!(hits.abs_diff(80) < 40, "{hits}");
    for (condition, expect) in [(ALWAYS, 3), (NEVER, 2)] {
        assert_eq!(answered(&run(nodes(condition), users(4, 100), 1), 1), expect * 100);
    }
    // Without an `else`, and at the end of an iteration, which ends with the exchange before it.
    let nodes = vec![ask(0), Node::If { condition: NEVER, then: vec![ask(1)], otherwise: Vec::new() }];
    let history = run(nodes, users(1, 50), 1);
    assert_eq!((answered(&history, 0), answered(&history, 1), history.total.counts.iterations()), (50, 0, 50));
    // Conditions within loops, and loops within conditions and transactions.
    let inner = vec![
        ask(1),
        Node::If {
            condition: ALWAYS,
            then: vec![repeated(ALWAYS, false, 2, OnFailure::GoOn, vec![ask(1)])],
            otherwise: vec![],
        },
    ];
    let nodes = vec![Node::Transaction { number: 0, nodes: vec![Node::Repeat { least: 2, most: 2, nodes: inner }] }];
    let history = run(nodes, users(2, 40), 2);
    // Twice: one, two rounds, and the step that fails at the limit.
    assert_eq!((answered(&history, 1), history.total.counts.failed()), (40 * 2 * 3, 40 * 2));
    assert_eq!(history.total.counts.iterations(), 40);
}

#[test]
fn a_loop_at_its_limit_fails_as_a_step_does() {
    for is_until in [true, false] {
        let condition = if is_until { NEVER } else { ALWAYS };
        let seen = |on_failure| {
            let nodes = vec![
                Node::Transaction {
                    number: 0,
                    nodes: vec![repeated(condition, is_until, 3, on_failure, vec![or(1, OnFailure::Next)])],
                },
                ask(0),
            ];
            let history = run(nodes, users(4, 100), 1);
            let counts = &history.total.counts;
            let of = |class| history.total.count_of(SeriesId::transaction(0), class);
            let failures = history.total.failures_of(SeriesId::step(1)).collect::<Vec<_>>();
            let steps = [0, 1].map(|step| answered(&history, step));
            (steps, (counts.iterations(), counts.iterations_failed()), of(Class::Succeeded), failures)
        };
        let limit = |count| vec![(Failure::LoopLimit, count)];
        assert_eq!(seen(OnFailure::GoOn), ([100, 300], (100, 0), 100, limit(100)), "{is_until}");
        assert_eq!(seen(OnFailure::Next), ([0, 300], (0, 100), 0, limit(100)), "{is_until}");
        assert_eq!(seen(OnFailure::Retry(5)), ([0, 300], (0, 100), 0, limit(100)), "{is_until}");
        assert_eq!(seen(OnFailure::Stop), ([0, 12], (0, 4), 0, limit(4)), "{is_until}");
    }
}

#[test]
fn a_condition_that_gives_nothing_fails_the_iteration() {
    let broken = Node::If { condition: THROWS, then: vec![ask(1)], otherwise: vec![ask(0)] };
    for nodes in [vec![ask(0), broken.clone(), ask(0)], vec![ask(0), broken.clone()]] {
        let history = run(nodes, users(3, 90), 2);
        let counts = &history.total.counts;
        assert_eq!((answered(&history, 0), answered(&history, 1)), (90, 0));
        assert_eq!((counts.iterations(), counts.iterations_failed(), counts.failed()), (0, 90, 90));
        assert_eq!(history.total.failures_of(SeriesId::step(1)).collect::<Vec<_>>(), [(Failure::NotFilled, 90)]);
    }
    // As the first node of an iteration, at a rate too.
    let history = run(vec![broken, ask(0)], rate("100", "1s"), 2);
    assert_eq!((history.total.counts.iterations_failed(), answered(&history, 0)), (100, 0));
}
