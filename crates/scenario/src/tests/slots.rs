//! Slots on their way into a plan: while it is made they are marks, and none of these is left in it.

use plan::{EncodedPlan, Plan, Step as PlanStep, Value, ValuePattern};

use super::*;

pub(super) fn lowered(text: &str) -> Plan {
    let opened =
        parse("test.yaml", text, &folder()).unwrap_or_else(|mistakes| panic!("{:#?}\n{text}", said(&mistakes)));
    let environment = |name: &str| (name == "HOME").then(|| "/home/zq7slot0q7z".to_owned());
    let outside = Outside {
        environment: &environment,
        interpreters: None,
        schemas: &[],
        folder: &folder().0,
        user_agent: "test/1",
        lists: None,
    };
    let lowering = Lowering::new(&opened, &outside).unwrap_or_else(|mistakes| panic!("{:#?}", said(&mistakes)));
    lowering.run(&[]).unwrap_or_else(|mistakes| panic!("{:#?}\n{text}", said(&mistakes))).plan
}

fn file(head: &str, steps: &str) -> String {
    format!(
        "target: http://127.0.0.1\n{head}scenarios:\n  a:\n    load: {{users: 1, iterations: 1}}\n    on_start: [{{get: /, extract: {{t: header X, u: header U}}}}]\n    steps: {steps}\n"
    )
}

/// The last step of a file with these steps.
fn step(head: &str, steps: &str) -> PlanStep {
    lowered(&file(head, steps)).scenarios.remove(0).steps.pop().expect("a step")
}

/// Data that is sent to workers, and so written to journals too, contains no mark, and neither does anything derived
/// from it.
#[test]
fn no_mark_is_left_in_a_plan() {
    for (head, steps) in [
        ("", r#"[{get: "/a/${t}/b?c=${u}&d=${uuid()}"}]"#),
        ("", r#"[{get: "${t}"}]"#),
        ("", r#"[{get: "${t}/x?y=${u}"}]"#),
        ("", r#"[{get: "/#${t}"}]"#),
        ("", r#"[{get: "/a/${t}/../${u}/./b"}]"#),
        ("", r#"[{get: /, headers: {X-A: "p${t}s", Cookie: "a=${t}", Host: "${t}", Authorization: "Bearer ${t}"}}]"#),
        (
            "",
            r#"[{get: /, headers: {Range: "bytes=${t}-", Referer: "/${t}", Content-Type: "a/${t}", Accept-Encoding: "${t}"}}]"#,
        ),
        (
            "",
            r#"[{post: /, body: x, location: true, headers: {X-A: "${t}", Cookie: "a=${t}", Content-Type: "a/${t}", Referer: "/${u}"}}]"#,
        ),
        (
            "",
            r#"[{get: "/${t}?u=${u}", location: true, headers: {Authorization: "${t}", Range: "bytes=${t}-", Host: "${u}"}}]"#,
        ),
        (
            "defaults: {headers: {X-D: \"${t}\"}, location: true}\n",
            r#"[{get: /}, {post: "/${t}", json: {a: ["${u}", {"k${t}": "x${u}y"}]}}]"#,
        ),
        (
            "",
            r#"[{post: /, form: {"a": "${t}", b: "x${u}"}}, {post: /, multipart: {a: "${t}"}}, {post: /, body: "${t}${u}"}]"#,
        ),
        (
            "",
            r#"[{get: /, extract: {a: {json: $.x, default: "${t}"}, b: {json: $.x, default: "x-${t}-y"}, c: {json: $.x, default: {k: ["${t}", 1]}}}}]"#,
        ),
        (
            "",
            r#"[{websocket: "ws://127.0.0.1/room?t=${t}", headers: {Authorization: "Bearer ${t}", Cookie: "a=${u}"}, steps: [{send: "hi ${t}"}, {receive: {}}]}]"#,
        ),
        ("", r#"[{websocket: "/${t}/${u}", steps: [{receive: {extract: {c: {body: true, default: "${t}"}}}}]}]"#),
        ("vars: {base: \"http://127.0.0.1:81\", v: x}\n", r#"[{get: "${base}/${v}?${t}=${v}"}]"#),
        // Texts that look like marks are texts.
        (
            "vars: {v: zq7slot0q7z}\n",
            r#"[{get: "/zq7slot1q7z/${v}?${t}=zq7slot0q7z", headers: {X-A: "${t} zq8slot0q7z"}}]"#,
        ),
        ("per_user: {id: \"${uuid()}\", who: {n: \"u${id}\"}}\n", r#"[{get: "/${id}", headers: {X-A: "${who}"}}]"#),
    ] {
        let text = file(head, steps);
        let plan = lowered(&text);
        let shown = format!("{:?}", plan.without_secrets());
        let carried = EncodedPlan::Load(Box::new(plan)).to_bytes().expect("it can be carried");
        for (bytes, kept) in [(carried, 0), (shown.into_bytes(), 0)] {
            let found = String::from_utf8_lossy(&bytes).into_owned();
            // Marks that the file itself contains stay unchanged.
            let marks = ["zq9slot", "zq8slot", "zq7slot"].into_iter().filter(|mark| !text.contains(mark));
            assert_eq!(marks.map(|mark| found.matches(mark).count()).sum::<usize>(), kept, "{text}\n{found}");
        }
    }
}

#[test]
fn what_is_made_anew_is_shown_as_it_is_written() {
    let shown = |steps: &str| {
        let plan = lowered(&file("", steps));
        let (step, target) = (plan.scenarios[0].steps.last().expect("a step"), plan.scenarios[0].targets.last());
        (step.request.path.clone(), target.expect("a target").url.clone())
    };
    for (steps, path, url) in [
        (r#"[{get: "/a/${t}?b=${u}"}]"#, "/a/${t}?b=${u}", "http://127.0.0.1/"),
        (r#"[{websocket: "/room?t=${t}"}]"#, "/room?t=${t}", "ws://127.0.0.1/room?t=${t}"),
        (r#"[{websocket: "ws://127.0.0.1:81/${t}/x"}]"#, "/${t}/x", "ws://127.0.0.1:81/${t}/x"),
    ] {
        assert_eq!(shown(steps), (path.to_owned(), url.to_owned()), "{steps}");
    }
    let headers = step("", r#"[{get: /, headers: {X-A: "p${t}s", X-B: plain}}]"#).request.headers;
    let value = |name: &str| headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
    assert_eq!((value("X-A"), value("X-B")), (Some(b"p${t}s".to_vec()), Some(b"plain".to_vec())));
}

#[test]
fn a_default_is_a_value_or_made_of_values() {
    let default = |text: &str| {
        let dynamic_parts =
            step("vars: {me: ann}\n", &format!("[{{get: /, extract: {{a: {{json: $.x, default: {text}}}}}}}]"))
                .dynamic_parts;
        dynamic_parts.expect("it takes something").takes[0].default.clone().expect("a default")
    };
    for (text, expect) in [
        ("5", Value::Int(5)),
        ("plain", Value::text("plain")),
        ("null", Value::Null),
        ("[a, 1]", Value::Json(r#"["a",1]"#.into())),
        ("12345678901234567890123", Value::Json("12345678901234567890123".into())),
        ("\"$${me}\"", Value::text("${me}")),
    ] {
        assert_eq!(default(text), ValuePattern::Constant(expect), "{text}");
    }
    assert!(matches!(default("\"${me}\""), ValuePattern::Slot(_)));
    assert!(matches!(default("\"x-${me}\""), ValuePattern::Json(_)));
    assert!(matches!(default("{k: [\"${me}\"]}"), ValuePattern::Json(_)));
}

/// A name that a step extracts is no constant, whatever its initial value in `vars`.
#[test]
fn only_what_never_changes_is_part_of_a_host() {
    let targets = |head: &str, steps: &str| {
        let plan = lowered(&file(head, steps));
        plan.scenarios[0]
            .steps
            .last()
            .expect("a step")
            .dynamic_parts
            .as_ref()
            .is_some_and(|dynamic_parts| dynamic_parts.path.is_some())
    };
    for (value, is_made) in [("/next?p=1", true), ("http://127.0.0.1/x", true)] {
        let head = format!("vars: {{next: \"{value}\", fixed: \"{value}\"}}\n");
        let taking = "[{get: \"${next}\", name: page, extract: {next: json $.next}}]";
        assert_eq!(targets(&head, taking), is_made, "{value}");
        assert!(!targets(&head, "[{get: \"${fixed}\"}]"), "{value}");
    }
    let own = "per_user: {page: \"/p${random(1,9)}\"}\n";
    assert!(targets(own, "[{get: \"${page}\"}]"));
}

#[test]
fn what_is_the_same_for_all_is_made_of_nothing_that_users_draw() {
    let text = |vars: &str| file(&format!("per_user: {{id: \"${{uuid()}}\"}}\nvars: {{{vars}}}\n"), "[{get: /}]");
    for (vars, is_wrong) in [("a: \"${id}\"", true), ("a: [\"x${id}\"]", true), ("a: x", false)] {
        let found =
            parse("test.yaml", &text(vars), &folder()).err().map(|mistakes| said(&mistakes)).unwrap_or_default();
        assert_eq!(found.iter().any(|line| line.contains("move it to 'per_user'")), is_wrong, "{vars}: {found:?}");
    }
    let plan =
        lowered(&file("per_user: {id: \"${uuid()}\", both: \"${id}-${seven}\"}\nvars: {seven: 7}\n", "[{get: /}]"));
    assert_eq!(plan.scenarios[0].memory.of_user.len(), 2);
}

/// Message connections with one URL are shared only where their handshakes are equal.
#[test]
fn each_handshake_has_connections_of_its_own() {
    let count = |steps: &str| lowered(&file("", steps)).scenarios[0].targets.len();
    let messaging = |header: &str| format!("{{websocket: /w, headers: {{X: {header}}}, steps: [{{send: a}}]}}");
    assert_eq!(count(&format!("[{}, {}]", messaging("a"), messaging("a"))), 2);
    assert_eq!(count(&format!("[{}, {}]", messaging("a"), messaging("b"))), 3);
    assert_eq!(count(&format!("[{}, {}]", messaging("\"${t}\""), messaging("\"${u}\""))), 3);
}
