//! Shared steps: where names lead within a call, what is made of a call, and what calls may not do.

use plan::{Node, Value, ValuePattern};

use super::slots::lowered;
use super::*;

/// A file with these fragments and steps.
fn file(fragments: &str, steps: &str) -> String {
    format!(
        "target: http://127.0.0.1\nvars: {{name: bob, kind: x}}\ndata: {{users: users.csv}}\nfragments: {fragments}\nscenarios:\n  a:\n    load: {{users: 1, iterations: 1}}\n    steps: {steps}\n"
    )
}

const LOGIN: &str = r#"{login: {args: {name: anna, pass: }, steps: [{get: "/login?n=${name}&p=${pass}&k=${kind}"}]}}"#;

/// The variables that a node sets, with their names.
fn set(node: &Node) -> Vec<(u32, &str, &ValuePattern)> {
    match node {
        Node::Set(all) => {
            all.iter().map(|one| (one.variable().expect("a variable"), one.name.as_str(), &one.value)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_call_sets_its_arguments_and_does_the_steps() {
    let steps = r#"[{do: login, with: {pass: 7}}, {do: login, with: {pass: "${users.pass}", name: "${name}"}}, {get: "/${name}"}]"#;
    let scenario = lowered(&file(LOGIN, steps)).scenarios.remove(0);
    let [one, first, other, second, last] = &scenario.program.nodes[..] else { panic!("{:?}", scenario.program) };
    let (one, other) = (set(one), set(other));
    assert_eq!(one[0].2, &ValuePattern::Constant(Value::text("anna")));
    assert_eq!(one[1].2, &ValuePattern::Constant(Value::Int(7)));
    // The argument of this name is not what the name is at the call.
    let text = format!("{:?}", other[0].2);
    assert!(text.contains("Variable(0)"), "{text}");
    assert!(matches!(other[1].2, ValuePattern::Slot(_)), "{:?}", other[1].2);
    let numbers = |all: &[(u32, &str, &ValuePattern)]| all.iter().map(|each| each.0).collect::<Vec<_>>();
    assert_eq!(numbers(&one), numbers(&other));
    assert!(numbers(&one).iter().all(|number| *number >= 2), "variables of the user stay as they are");
    // One step, however often it is called, and one more outside.
    assert_eq!(first, second);
    assert!(matches!((first, last), (Node::Ask { step: 0, .. }, Node::Ask { step: 1, .. })));
    let names: Vec<&str> = scenario.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["get /login?n={name}&p={pass}&k={kind}".replace("get", "GET").as_str(), "GET /{name}"]);
}

#[test]
fn calls_stay_together_where_others_are_shuffled() {
    let fragments = r#"{two: [{get: /a}, {get: /b}], both: {args: {n: 1}, steps: [{do: two}, {get: "/c/${n}"}]}}"#;
    let scenario = lowered(&file(fragments, r#"[{shuffle: [{do: two}, {do: both}, {get: /d}]}]"#)).scenarios.remove(0);
    let [Node::Shuffle(nodes)] = &scenario.program.nodes[..] else { panic!("{:?}", scenario.program) };
    let sizes: Vec<usize> = nodes.iter().map(|node| node.inner().map(<[Node]>::len).sum()).collect();
    assert_eq!(sizes, [2, 4, 0]);
    assert_eq!(scenario.steps.len(), 4);
}

#[test]
fn a_transaction_of_a_fragment_is_one() {
    let fragments = "{buy: [{transaction: buy, steps: [{get: /cart}, {get: /pay}]}]}";
    let scenario = lowered(&file(fragments, "[{do: buy}, {repeat: 2, steps: [{do: buy}]}]")).scenarios.remove(0);
    assert_eq!((scenario.program.transactions.len(), scenario.steps.len()), (1, 2));
}

#[test]
fn messages_of_a_fragment_go_over_the_connection_around_its_call() {
    let fragments = r#"{hello: {args: {who: all}, steps: [{send: "hello ${who}"}, {receive: }]}}"#;
    let steps = r#"[{websocket: "ws://127.0.0.1/chat", steps: [{do: hello}, {do: hello, with: {who: "${kind}"}}]}]"#;
    let scenario = lowered(&file(fragments, steps)).scenarios.remove(0);
    let [Node::Messaging { nodes, .. }] = &scenario.program.nodes[..] else { panic!("{:?}", scenario.program) };
    assert!(matches!(nodes[..], [Node::Set(_), Node::Ask { step: 0, .. }, Node::Set(_), Node::Ask { step: 0, .. }]));
}

#[test]
fn what_a_fragment_takes_belongs_to_the_user() {
    let fragments = r#"{token: [{get: /token, extract: {token: json $.token}}]}"#;
    good(&file(fragments, r#"[{do: token}, {get: "/${token}"}]"#));
    let said = wrong(&file(fragments, r#"[{get: "/${token}"}, {do: token}]"#));
    assert!(said[0].contains("'token' has no value yet here"), "{said:#?}");
}

#[test]
fn wrong_calls_are_refused_where_they_stand() {
    for (fragments, steps, expect) in [
        ("{a: [{get: /}]}", "[{do: b}]", "no fragment is called 'b'"),
        ("{login: [{get: /}]}", "[{do: logn}]", "did you mean 'login'?"),
        ("{a: [{get: /}]}", "[{do: a, with: {x: 1}}]", "'a' takes no argument 'x'; it takes: none"),
        (LOGIN, "[{do: login, with: {nme: 1, pass: 2}}]", "it takes: name, pass; did you mean 'name'?"),
        (LOGIN, "[{do: login}]", "'login' needs its argument 'pass'"),
        ("{a: [{do: b}], b: [{do: a}, {get: /}]}", "[{do: a}]", "call each other without end: a -> b -> a"),
        ("{a: [{do: a}]}", "[{get: /}]", "call each other without end: a -> a"),
        ("{a: {args: {users: 1}, steps: [{get: /}]}}", "[{do: a}]", "'users' is the name of something else already"),
        (
            "{a: {args: {x: 1}, steps: [{get: /, extract: {x: status}}]}}",
            "[{do: a}]",
            "'x' is an argument, which holds during the call only",
        ),
        ("{a: {args: {x: 1}, steps: [{get: /}]}}", r#"[{do: a}, {get: "/${x}"}]"#, "nothing is called 'x'"),
        (r#"{a: {args: {x: 1}, steps: [{do: b}]}, b: [{get: "/${x}"}]}"#, "[{do: a}]", "nothing is called 'x'"),
        ("{a: [{get: /}]}", "[{parallel: 2, steps: [{do: a}]}]", "'do' cannot be under way beside others"),
        ("{a: []}", "[{get: /}]", "has no steps"),
        ("{1a: [{get: /}]}", "[{get: /}]", "'1a' cannot be a name here"),
        ("{a: {args: {x: 1}}}", "[{get: /}]", "a fragment needs 'steps'"),
        ("{a: {stps: [{get: /}]}}", "[{get: /}]", "'stps' is no key of a fragment; did you mean 'steps'?"),
        ("{a: [{send: x}]}", "[{get: /}, {do: a}]", "'send' belongs into the steps of a websocket or tcp step"),
        ("{a: [{think: 1s}]}", "[{do: a}]", "never send anything"),
    ] {
        let said = wrong(&file(fragments, steps));
        assert!(said.iter().any(|one| one.contains(expect)), "{expect}: {said:#?}");
    }
    let chain: Vec<String> = (0..20).map(|number| format!("f{number}: [{{do: f{}}}]", number + 1)).collect();
    let said = wrong(&file(&format!("{{{}, f20: [{{get: /}}]}}", chain.join(", ")), "[{do: f0}]"));
    assert!(said.iter().any(|one| one.contains("more than 16 deep")), "{said:#?}");
    let many: Vec<String> = (0..14)
        .map(|number| format!("f{number}: [{{do: f{n}}}, {{do: f{n}}}, {{do: f{n}}}]", n = number + 1))
        .collect();
    let said = wrong(&file(&format!("{{{}, f14: [{{get: /}}]}}", many.join(", ")), "[{do: f0}]"));
    assert!(said.iter().any(|one| one.contains("more than 50000 steps")), "{said:#?}");
}
