//! Tests of control flow: loops, values that are set, checks, ends and retries, up to the program of a user.

use std::time::Duration;

use plan::{
    Builtin, Evaluate, Expression as PlanExpression, Interpreters, Loop as PlanLoop, Meaning, Moment, Node, OnFailure,
    Plan, PlannedEnd, Retry, Rounds as PlanRounds, Value, ValuePattern, Which,
};

use super::*;

/// Takes every expression, and knows the value of none.
#[derive(Debug)]
struct Anything;

impl Evaluate for Anything {
    fn uses(&self, _: u32) -> &[u32] {
        &[]
    }

    fn evaluate(&mut self, _: u32, _: &[Value], _: Moment) -> Result<Value, String> {
        Ok(Value::Null)
    }
}

impl Interpreters for Anything {
    fn start(&self, _: &[PlanExpression]) -> Result<Box<dyn Evaluate>, String> {
        Ok(Box::new(Anything))
    }
}

/// The plans of `setup`, the run and `teardown`.
fn plans(opened: &Opened) -> [Option<Lowered>; 3] {
    let outside = Outside {
        environment: &|_| None,
        interpreters: Some(&Anything),
        schemas: &[],
        folder: &folder().0,
        user_agent: "test/1",
        lists: None,
    };
    let lowering = Lowering::new(opened, &outside).unwrap_or_else(|mistakes| panic!("{:#?}", said(&mistakes)));
    let lowered = [lowering.before(), lowering.run(&[]).map(Some), lowering.after()];
    lowered.map(|lowered| lowered.unwrap_or_else(|mistakes| panic!("{:#?}", said(&mistakes))))
}

pub(super) fn run(text: &str) -> Plan {
    let opened = parse("test.yaml", text, &folder()).unwrap_or_else(|found| panic!("{:#?}\n{text}", said(&found)));
    let [_, run, _] = plans(&opened);
    run.expect("a plan").plan
}

/// The nodes of an iteration, and the plan.
fn nodes(steps: &str) -> (Vec<Node>, Plan) {
    let plan = run(&with_steps(steps));
    (plan.scenarios[0].program.nodes.clone(), plan)
}

/// The texts of the expressions.
fn expressions(plan: &Plan) -> Vec<&str> {
    plan.scenarios[0].memory.expressions.iter().map(|expression| expression.text.as_str()).collect()
}

const ASK: Node = Node::Ask { step: 0, on_failure: OnFailure::Next };

#[test]
fn right_files_become_plans_that_can_be_carried_out() {
    let files = files_in("right");
    assert!(files.len() >= 30, "{}", files.len());
    for path in files {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        let opened = parse(&name, &text, &folder()).unwrap_or_else(|found| panic!("{:#?}", said(&found)));
        for lowered in plans(&opened).into_iter().flatten() {
            for scenario in &lowered.plan.scenarios {
                assert_eq!(scenario.program.check(scenario.steps.len()), Ok(()), "{name}");
            }
            let encoded = plan::EncodedPlan::Load(Box::new(lowered.plan));
            let bytes = encoded.to_bytes().expect("it can be carried");
            assert_eq!(plan::EncodedPlan::from_bytes(&bytes).expect("valid"), encoded, "{name}");
        }
    }
}

#[test]
fn each_loop_is_the_one_of_the_plan() {
    let (second, get) = (Duration::from_secs(1), "steps: [{get: /}]");
    let looped = |rounds, every, on_failure| Node::Loop(PlanLoop { rounds, every, on_failure, nodes: vec![ASK] });
    let condition = |is_until, most, within| PlanRounds::Condition { condition: 0, is_until, most, within };
    for (step, node, expression) in [
        ("repeat: 1-5", Node::Repeat { least: 1, most: 5, nodes: vec![ASK] }, None),
        ("repeat: \"${vu.id}\"", looped(PlanRounds::Times(0), None, OnFailure::Next), Some("vu.id")),
        ("repeat: 3, every: 1s", looped(PlanRounds::Times(0), Some(second), OnFailure::Next), Some("3")),
        (
            "repeat: 2-4, every: 1s",
            looped(PlanRounds::Times(0), Some(second), OnFailure::Next),
            Some("2 + Math.floor(Math.random() * 3)"),
        ),
        ("during: 1s, on_failure: stop_run", looped(PlanRounds::During(second), None, OnFailure::StopRun), None),
        (
            "for_each: \"[1]\", as: item, on_failure: stop_user",
            looped(PlanRounds::Items { list: 0, variable: 0, is_concurrent: false }, None, OnFailure::Stop),
            Some("[1]"),
        ),
        (
            "until: vu.id == 1, within: 1s, every: 1s",
            looped(condition(true, plan::ROUNDS_MAX, Some(second)), Some(second), OnFailure::Next),
            Some("vu.id == 1"),
        ),
        (
            "while: vu.id == 1, max_rounds: 7, on_failure: continue",
            looped(condition(false, 7, None), None, OnFailure::GoOn),
            Some("vu.id == 1"),
        ),
    ] {
        let (made, plan) = nodes(&format!("[{{{step}, {get}}}]"));
        assert_eq!(made, [node], "{step}");
        assert_eq!(expressions(&plan), expression.into_iter().collect::<Vec<_>>(), "{step}");
    }
}

#[test]
fn values_that_are_set_keep_their_type() {
    let (made, plan) = nodes("[{set: {a: 5, b: \"5\", c: \"${a}\", d: \"<${a}>\", e: [\"${b}\"]}}, {get: /}]");
    let Node::Set(values) = &made[0] else { panic!("{made:?}") };
    let names: Vec<(u32, &str)> =
        values.iter().map(|one| (one.variable().expect("a variable"), one.name.as_str())).collect();
    assert_eq!(names, [(0, "a"), (1, "b"), (2, "c"), (3, "d"), (4, "e")]);
    assert_eq!(values[0].value, ValuePattern::Constant(Value::Int(5)));
    assert_eq!(values[1].value, ValuePattern::Constant(Value::text("5")));
    assert!(matches!(values[2].value, ValuePattern::Slot(_)));
    assert!(matches!((&values[3].value, &values[4].value), (ValuePattern::Json(_), ValuePattern::Json(_))));
    assert_eq!(plan.scenarios[0].memory.variables, vec![Value::Null; 5]);
}

#[test]
fn a_variable_of_the_file_that_is_set_is_no_constant() {
    let head = "vars: {page: 1, fixed: 2}\n";
    let path = |steps: &str| {
        let plan = run(&format!("{head}{}", with_steps(steps)));
        let step = plan.scenarios[0].steps[0].clone();
        (step.request.path, plan.scenarios[0].memory.variables.clone())
    };
    let (made, values) = path("[{set: {page: 3}}, {get: \"/${page}\"}]");
    assert_eq!((made.as_str(), values), ("/${page}", vec![Value::Int(1), Value::Int(2)]));
    let dynamic = |steps: &str| {
        let plan = run(&format!("{head}{}", with_steps(steps)));
        plan.scenarios[0].steps[0].dynamic_parts.as_ref().is_some_and(|parts| parts.path.is_some())
    };
    assert!(dynamic("[{set: {page: 3}}, {get: \"/${page}\"}]"));
}

#[test]
fn checks_of_one_name_are_one_row() {
    let long = format!("vu.id == 1 && {}", "1 == 1 && ".repeat(20));
    let steps = format!(
        "[{{get: /}}, {{check: vu.id == 1}}, {{check: vu.id == 2, name: a}}, {{check: vu.id == 3, name: a, on_failure: continue}}, {{check: \"{long}true\"}}]"
    );
    let (made, plan) = nodes(&steps);
    let checks: Vec<(usize, u32, OnFailure)> = made
        .iter()
        .filter_map(|node| match node {
            Node::Check { number, condition, on_failure } => Some((*number, *condition, *on_failure)),
            _ => None,
        })
        .collect();
    let next = OnFailure::Next;
    assert_eq!(checks, [(0, 0, next), (1, 1, next), (1, 2, OnFailure::GoOn), (2, 3, next)]);
    let names = &plan.scenarios[0].program.checks;
    assert_eq!(names[..2], ["vu.id == 1", "a"]);
    assert!(names[2].chars().count() == 80 && names[2].ends_with("..."), "{}", names[2]);
}

#[test]
fn ends_are_planned() {
    let steps = "[{get: /}, {repeat: 2, steps: [{continue: }, {break: enough}]}, {next_iteration: }, {stop_user: }, {stop_run: }, {stop_run: sold out}]";
    let (made, _) = nodes(steps);
    let Node::Repeat { nodes, .. } = &made[1] else { panic!("{made:?}") };
    assert_eq!(nodes[..], [Node::End(PlannedEnd::Round), Node::End(PlannedEnd::Loop)]);
    let run = |reason: &str| PlannedEnd::Run(reason.to_owned());
    let ends = [PlannedEnd::Iteration, PlannedEnd::User, run("stop_run"), run("sold out")];
    assert_eq!(made[2..], ends.map(Node::End));
}

#[test]
fn retries_wait_as_the_file_says() {
    let (made, plan) = nodes(
        "[{get: /a, on_failure: retry 2}, {get: /b, on_failure: {retry: 2}}, {get: /c, on_failure: {retry: 3, after: 1s, backoff: 1.5, max_wait: 5s, retry_after: true, jitter: 20%, if: response.status == 429, then: continue}}, {get: /d, on_failure: {retry: 2, then: stop_run}}, {get: /e, on_failure: {retry: 2, then: stop_run}}]",
    );
    let actions: Vec<OnFailure> = made.iter().map(Node::on_failure).collect();
    let by = OnFailure::RetryBy;
    assert_eq!(actions, [OnFailure::Retry(2), OnFailure::Retry(2), by(0), by(1), by(1)]);
    let full = Retry {
        most: 3,
        after: Duration::from_secs(1),
        backoff: 1.5,
        max_wait: Duration::from_secs(5),
        jitter: 0.2,
        retry_after: true,
        condition: Some(0),
        then: OnFailure::GoOn,
    };
    let plain = Retry {
        most: 2,
        after: Duration::ZERO,
        backoff: 1.0,
        max_wait: Duration::from_secs(30),
        jitter: 0.0,
        retry_after: false,
        condition: None,
        then: OnFailure::StopRun,
    };
    assert_eq!(plan.scenarios[0].program.retries, [full, plain]);
}

#[test]
fn a_retry_of_the_defaults_is_for_requests() {
    let text = format!(
        "defaults: {{on_failure: {{retry: 2, then: stop_user}}}}\n{}",
        with_steps(
            "[{get: /}, {check: vu.id == 1}, {during: 1s, steps: [{get: /}]}, {parallel: 2, steps: [{get: /}]}]"
        )
    );
    let plan = run(&text);
    let actions: Vec<OnFailure> = plan.scenarios[0].program.nodes.iter().map(Node::on_failure).collect();
    assert_eq!(actions, [OnFailure::RetryBy(0), OnFailure::Stop, OnFailure::Stop, OnFailure::RetryBy(0)]);
}

#[test]
fn transactions_and_fragments_are_tried_again_as_a_whole() {
    let text = format!(
        "fragments: {{log_in: [{{post: /login}}, {{get: /account}}]}}\ndefaults: {{on_failure: retry 9}}\n{}",
        with_steps(
            "[{transaction: buy, on_failure: {retry: 2, after: 1s}, steps: [{get: /}]}, {do: log_in, on_failure: retry 3}, {do: log_in, on_failure: continue}, {transaction: see, on_failure: next_iteration, steps: [{get: /}]}, {repeat: 2, steps: [{transaction: leave, on_failure: break, steps: [{get: /}]}]}, {websocket: /room, on_failure: continue, steps: [{transaction: talk, steps: [{send: hi}]}, {transaction: say, on_failure: retry 3, steps: [{send: ho}]}]}, {transaction: all, steps: [{do: log_in, on_failure: retry 3}]}]"
        )
    );
    let program = run(&text).scenarios.remove(0).program;
    let seen = |node: &Node| match node {
        Node::Transaction { nodes, .. } => match &nodes[..] {
            [Node::Retried { retry, .. }] => (true, Some(*retry)),
            _ => (true, None),
        },
        Node::Retried { retry, .. } => (false, Some(*retry)),
        _ => (false, None),
    };
    let is_of = |place: usize| seen(&program.nodes[place]);
    assert_eq!(
        [is_of(0), is_of(1), is_of(2), is_of(3)],
        [(true, Some(0)), (false, Some(1)), (false, Some(2)), (true, None)]
    );
    let Node::Repeat { nodes, .. } = &program.nodes[4] else { panic!("a repetition") };
    assert_eq!(seen(&nodes[0]), (true, Some(3)));
    // What the connection says is for its messages.
    let Node::Messaging { nodes, .. } = &program.nodes[5] else { panic!("a connection") };
    assert_eq!([seen(&nodes[0]), seen(&nodes[1])], [(true, None), (true, Some(1))]);
    let of_message = |node: &Node| node.inner().flatten().flat_map(Node::inner).flatten().next().map(Node::on_failure);
    assert_eq!(of_message(&nodes[1]), Some(OnFailure::Retry(9)));
    // A fragment that is all of a transaction is no retry of it.
    let whole: Vec<bool> = [0, 6]
        .iter()
        .flat_map(|place| program.nodes[*place].inner().flatten())
        .filter_map(|node| match node {
            Node::Retried { is_whole, .. } => Some(*is_whole),
            _ => None,
        })
        .collect();
    assert_eq!(whole, [true, false]);
    let all: Vec<_> = program.retries.iter().map(|retry| (retry.most, retry.after.as_secs(), retry.then)).collect();
    let next = OnFailure::Next;
    assert_eq!(all, [(2, 1, next), (3, 0, next), (0, 0, OnFailure::GoOn), (0, 0, OnFailure::Break)]);
}

#[test]
fn expressions_know_the_words_that_they_use() {
    let (_, plan) = nodes("[{get: \"/${vu.id}\", extract: {a: status}}, {check: a == 3 && response.failed}]");
    let expressions = &plan.scenarios[0].memory.expressions;
    let builtins = |number: usize| -> Vec<(&str, Meaning)> {
        let names = expressions[number].names.iter().map(|(name, meaning)| (name.as_str(), *meaning));
        names.filter(|(_, meaning)| matches!(meaning, Meaning::Builtin(_))).collect()
    };
    let of_word = |word: &str| -> Vec<(&str, Meaning)> {
        let named = Builtin::ALL.iter().filter(|(name, _)| name.starts_with(word));
        named.map(|(name, builtin)| (*name, Meaning::Builtin(*builtin))).collect()
    };
    assert_eq!((builtins(0), builtins(1)), (of_word("vu."), of_word("response.")));
}

#[test]
fn what_is_carried_on_is_named() {
    let memory = |carried: &str| {
        let text = with_steps("[{get: /, extract: {a: status, b: status}}]");
        let text = text.replacen("    steps:", &format!("    carry_state: {carried}\n    steps:"), 1);
        let memory = run(&text).scenarios.remove(0).memory;
        (memory.carries_state, memory.carried, memory.carries_cookies)
    };
    assert_eq!(memory("true"), (true, vec![], false));
    assert_eq!(memory("false"), (false, vec![], false));
    assert_eq!(memory("[]"), (false, vec![], false));
    assert_eq!(memory("[b, cookies]"), (false, vec![1], true));
}

#[test]
fn extracts_may_be_numbers_counts_and_of_failures() {
    let (_, plan) = nodes(
        "[{get: /, extract: {a: {regex: x, as: number, from_failed: true}, b: {regex: a, which: count}, c: {json: $.c, as: text}}}]",
    );
    let parts = plan.scenarios[0].steps[0].dynamic_parts.as_ref().expect("extractions");
    let seen: Vec<(bool, bool)> = parts.takes.iter().map(|take| (take.is_number, take.from_failed)).collect();
    assert_eq!(seen, [(true, true), (false, false), (false, false)]);
    let steps = steps("[{get: /, extract: {b: {regex: a, which: count}}}]");
    let Action::Request(request) = &steps[0].action else { panic!("{steps:?}") };
    assert_eq!(request.take[0].which, Which::Count);
}

#[test]
fn users_have_time_to_leave() {
    let text = |run: &str| format!("{}run: {run}\n", with_steps("[{get: /}]"));
    assert_eq!(run(&text("{stop_within: 3s}")).stop_within, Duration::from_secs(3));
    assert_eq!(run(&text("{grace: 3s}")).stop_within, plan::STOP_WITHIN);
}

#[test]
fn steps_on_a_connection_may_be_loops_and_values() {
    let (made, _) = nodes(
        "[{websocket: /w, on_failure: retry 2, steps: [{set: {a: 1}}, {for_each: \"[a]\", as: b, steps: [{send: \"${b}\"}, {receive: }, {check: b == a}]}, {repeat: 2, steps: [{send: x}, {break: }]}]}]",
    );
    let [Node::Messaging { nodes, .. }] = &made[..] else { panic!("{made:?}") };
    let [Node::Set(_), Node::Loop(each), Node::Repeat { nodes: repeated, .. }] = &nodes[..] else {
        panic!("{nodes:?}")
    };
    let ask = |step| Node::Ask { step, on_failure: OnFailure::Retry(2) };
    assert_eq!(each.nodes[0], ask(0));
    assert!(matches!(each.nodes[1], Node::Check { on_failure: OnFailure::Next, .. }), "{each:?}");
    assert_eq!(repeated[..], [ask(1), Node::End(PlannedEnd::Loop)]);
}
