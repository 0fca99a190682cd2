//! Expectations with slots on their right side, and those of what must not be there.

use plan::{CheckOf, Checks, DynamicCheck, NotFilled, Relation, Scope, Value};

use super::slots::lowered;
use super::*;

/// Variables of a user: `id` is 7, `name` is `it's "a"`, `n` is the text 7.
struct User(Vec<Value>);

impl Scope for User {
    fn variable(&self, number: u32) -> &Value {
        &self.0[number as usize]
    }

    fn column(&mut self, _: u32) -> Option<Value> {
        None
    }

    fn draw(&mut self, _: u64) -> u64 {
        0
    }

    fn now_ns(&self) -> u128 {
        0
    }

    fn count(&mut self, _: u32) -> u64 {
        0
    }

    fn evaluate(&mut self, _: u32) -> Result<Value, String> {
        Err("nothing".to_owned())
    }
}

/// The dynamic checks of a step with this expectation, and those of the step.
fn expected(expect: &str) -> (Vec<DynamicCheck>, Checks) {
    let text = format!(
        "target: http://127.0.0.1\nscenarios:\n  a:\n    load: {{users: 1, iterations: 1}}\n    on_start: [{{get: /, extract: {{id: json $.id, name: json $.name, n: header N}}}}]\n    steps: [{{get: /, expect: {expect}}}]\n"
    );
    let step = lowered(&text).scenarios.remove(0).steps.pop().expect("a step");
    (step.dynamic_parts.expect("slots").expects.clone(), step.checks)
}

/// The checks of an exchange of a user.
fn made(expect: &str) -> Result<Checks, NotFilled> {
    let (dynamic, mut checks) = expected(expect);
    let mut user = User(vec![Value::Int(7), Value::text("it's \"a\""), Value::text("7")]);
    dynamic.iter().try_for_each(|check| check.add_to(&mut checks, &mut user)).map(|()| checks)
}

#[test]
fn the_right_side_is_a_value_of_the_user() {
    for (expect, is_met) in [
        ("{json: \"$.id == ${id}\"}", true),
        ("{json: \"$.id != ${id}\"}", false),
        ("{json: \"$.id == ${n}\"}", false),
        ("{json: \"$.text == ${n}\"}", true),
        ("{json: \"$.id >= ${id}\"}", true),
        ("{json: \"$.items count < ${id}\"}", true),
        ("{json: \"$.items count == ${id}\"}", false),
        ("{json: \"$.items contains ${id}\"}", true),
        ("{json: \"$.name == ${name}\"}", true),
        ("{json: \"$.long == 'say ${name}!'\"}", true),
        ("{json: '$.long == \"say ${name}!\"'}", true),
        ("{json: \"$.long == 'say ${id}!'\"}", false),
        ("{json: \"$.items == [1, ${id}]\"}", true),
        ("{body: \"d\\\": ${id}\"}", true),
        ("{body: \"nr ${id}\"}", false),
        ("{not: {json: \"$.id == ${id}\"}}", false),
        ("{not: {json: \"$.id == ${n}\"}}", true),
        ("{not: {body: \"${name}\"}}", true),
    ] {
        let body = br#"{"id": 7, "text": "7", "items": [1, 7], "name": "it's \"a\"", "long": "say it's \"a\"!"}"#;
        let checks = made(expect).expect(expect);
        assert_eq!(checks.check_body(body).is_ok(), is_met, "{expect}");
    }
    let head = [(&b"X-Id"[..], &b"7"[..])];
    assert_eq!(made("{header: \"X-Id: ${id}\"}").expect("checks").check_head(head.into_iter()), Ok(()));
    let said = made("{header: \"x-id: a${id}\"}").expect("checks").check_head(head.into_iter());
    assert_eq!(said, Err("--expect-header x-id: a7: it is '7'".to_owned()));
    let bounds = made("{size: \"< ${id}KiB\", time: \"< ${id}s\"}").expect("checks");
    assert!(bounds.size[0].holds(7 * 1024 - 1) && !bounds.size[0].holds(7 * 1024));
    assert!(bounds.time[0].holds(6_999_999_999) && !bounds.time[0].holds(7_000_000_000));
}

#[test]
fn bounds_are_values_too() {
    let checks = made("{size: [\"== ${id}\", \"<= ${n}\"]}").expect("checks");
    assert_eq!(
        checks.size.iter().map(|bound| (bound.relation, bound.limit)).collect::<Vec<_>>(),
        [(Relation::Equal, 7), (Relation::AtMost, 7)]
    );
    assert!(matches!(made("{size: \"< ${name}\"}"), Err(NotFilled::Expression { .. })));
    let (dynamic, checks) = expected("{time: \"< ${n}\", size: [== 0, \"> ${n}\"]}");
    assert_eq!(
        dynamic.iter().map(|one| one.of.clone()).collect::<Vec<_>>(),
        [CheckOf::Time(Relation::Below), CheckOf::Size(Relation::Above)]
    );
    assert!(checks.is_expectation && checks.size[0].holds(0) && !checks.size[0].holds(1));
}

#[test]
fn what_a_step_wants_is_kept_of_its_responses() {
    for (expect, has_body, has_head) in [
        ("{json: \"$.id == ${id}\"}", true, true),
        ("{header: \"X: ${id}\"}", false, true),
        ("{time: \"< ${n}\"}", false, false),
        ("{not: {header: X}}", false, true),
        ("{not: {body: x}}", true, true),
    ] {
        let text = format!(
            "target: http://127.0.0.1\ndefaults: {{cookies: false, expect: {expect}}}\nscenarios:\n  a:\n    load: {{users: 1, iterations: 1}}\n    on_start: [{{get: /, extract: {{id: json $.id, n: header N}}}}]\n    steps: [{{get: /}}]\n"
        );
        let needs = lowered(&text).scenarios.remove(0).steps.pop().expect("a step").needs();
        assert_eq!((needs.body_bytes_max > 1024, needs.head), (has_body, has_head), "{expect}");
    }
}

#[test]
fn wrong_expectations_are_refused() {
    for (expect, message) in [
        ("{json: \"$.${id} == 1\"}", "slots stand on the right side of an expectation"),
        ("{json: \"${id}\"}", "slots stand on the right side of an expectation"),
        ("{json: \"$.name matches /${id}/\"}", "slots are not filled in within /.../"),
        ("{body: \"/a${id}/\"}", "slots are not filled in within /.../"),
        ("{header: \"X: /a${id}/\"}", "slots are not filled in within /.../"),
        ("{header: \"${id}: x\"}", "slots stand on the right side of an expectation"),
        ("{header: \"X-${id}\"}", "slots stand on the right side of an expectation"),
        ("{header: \"a b: ${id}\"}", "has no valid name before its colon"),
        ("{json: \"id == ${id}\"}", "is no check"),
        ("{json: \"$.id == ${nobody}\"}", "nothing is called 'nobody'"),
        ("{size: \"${id}\"}", "a bound belongs here"),
        ("{json: $.items count 2}", "is no number with a sign, like > 2"),
        ("{json: $.name matches ^A}", "is no pattern, like /^A/"),
        ("{not: {}}", "what must not be there needs 'body'"),
        ("{not: {status: 500}}", "'status' is no key of what must not be there"),
        ("{not: error}", "a map belongs here, not 'error'"),
    ] {
        let said =
            wrong(&with_steps(&format!("[{{get: /, extract: {{id: json $.id}}}}, {{get: /, expect: {expect}}}]")));
        assert!(said.iter().any(|one| one.contains(message)), "{expect} {message}: {said:#?}");
    }
}
