//! Tests of lines with quotes added.

use super::*;

/// The line of the first error of a file with this step, with quotes.
fn remedy(step: &str) -> Option<String> {
    let text = format!("{}\n      - get: /\n      - {step}\n", with_steps("").trim_end());
    let found = parse("test.yaml", &text, &folder()).expect_err(step);
    found.all.iter().find_map(|mistake| with_quotes(&found.source, mistake))
}

#[test]
fn quotes_are_added_where_yaml_needs_them() {
    for (step, expect) in [
        ("check: !done", "- check: '!done'"),
        ("while: a ? b : c", "- while: 'a ? b : c'"),
        ("check: \"paid\" == state", "- check: '\"paid\" == state'"),
        ("check: [1, 2].includes(x)", "- check: '[1, 2].includes(x)'"),
        ("stop_run: no money: 5 left", "- stop_run: 'no money: 5 left'"),
        ("{set: {page: ${page + 1}}}", "- {set: {page: '${page + 1}'}}"),
        ("{get: /items/${id}, name: item}", "- {get: '/items/${id}', name: item}"),
        ("{check: items[0] == 1}", "- {check: 'items[0] == 1'}"),
        ("{if: f(a, b) == 1, then: [{get: /}]}", "- {if: 'f(a, b) == 1', then: [{get: /}]}"),
        ("{get: /, extract: {a: json $.items[0].id}}", "- {get: /, extract: {a: 'json $.items[0].id'}}"),
        ("check: x == #5", "- check: 'x == #5'"),
        ("{if: !done, then: [{get: /}]}", "- {if: '!done', then: [{get: /}]}"),
    ] {
        assert_eq!(remedy(step).as_deref(), Some(expect), "{step}");
    }
    for step in ["get /a", "{get: /, [}", "check: x ==", "get: \"/a"] {
        assert_eq!(remedy(step), None, "{step}");
    }
}
