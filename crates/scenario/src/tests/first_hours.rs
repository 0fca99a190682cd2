//! Typical errors of new users, in the words and places of other programs: all of them are reported at once, with a
//! suggestion.

use super::*;

/// The errors of a text, each with its line.
fn lines(text: &str) -> Vec<String> {
    wrong(text)
}

fn has(text: &str, parts: &[&str]) {
    let said = lines(text);
    for part in parts {
        assert!(said.iter().any(|line| line.contains(part)), "{part}: {said:#?}");
    }
    assert_eq!(said.len(), parts.len(), "{said:#?}");
}

#[test]
fn what_stands_behind_an_unknown_key_is_looked_at_too() {
    has(
        "target: http://a\nscenario:\n  a:\n    load: {user: 10, for: 1s}\n    step:\n      - gett: /${nope}\n        expects: {stats: 200}\n      - {get: /, extract: {b: jsn $.id}}\n      - think: 3 x\n",
        &[
            "2:1: 'scenario' is no key of the file; did you mean 'scenarios'?",
            "4:12: 'user' is no key of a load; did you mean 'users'?",
            "5:5: 'step' is no key of a scenario; did you mean 'steps'?",
            "6:9: 'gett' is no key of a get step; did you mean 'get'?",
            "7:9: 'expects' is no key of a get step; did you mean 'expect'?",
            "7:19: 'stats' is no key of an expectation; did you mean 'status'?",
            "8:31: 'jsn' is none of",
            "6:18: nothing is called 'nope'",
            "9:16:",
        ],
    );
}

#[test]
fn a_key_in_another_place_is_reported_its_own() {
    for (text, part) in [
        ("users: 5\nscenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: http://a/}]}}", "it belongs under 'load'"),
        ("scenarios: {a: {load: {users: 1, for: 1s, think: 1s}, steps: [{get: http://a/}]}}", "it belongs into a step"),
        (
            "scenarios: {a: {load: {users: 1, for: 1s, connections: 5}, steps: [{get: http://a/}]}}",
            "it belongs into a scenario",
        ),
        ("scenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: http://a/}], seed: 7}}", "it belongs under 'run'"),
        (
            "scenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: http://a/}]}}\nrun: {timeout: 3s}",
            "it belongs under 'defaults'",
        ),
        (
            "scenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: http://a/, status: 200}]}}",
            "it belongs under 'expect'",
        ),
        (
            "scenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: http://a/, which: last}]}}",
            "it belongs under 'extract'",
        ),
        (
            "scenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: http://a/}], thresholds: []}}",
            "it belongs at the top of the file",
        ),
        (
            "scenarios: {a: {users: 1, for: 1s, steps: [{get: http://a/}]}}",
            "'users' is no key of a scenario; it belongs under 'load'",
        ),
    ] {
        let said = lines(text);
        assert!(said.iter().any(|line| line.contains(part)), "{part}: {said:#?}");
        // A key in the wrong place is not reported as missing as well.
        assert!(!said.iter().any(|line| line.contains("needs 'load'")), "{said:#?}");
    }
}

#[test]
fn signs_that_are_not_those_of_yaml_are_named_where_they_stand() {
    let load = "scenarios:\n  a:\n    load: {users: 1, for: 1s}\n    steps:\n";
    for (text, place, sign) in [
        ("target：http://a\nscenarios:\n  a: 1\n".to_owned(), "1:7:", '：'),
        ("target: http://a\nscenarios：\n  a: 1\n".to_owned(), "2:10:", '：'),
        ("target: http://a\nscenarios:\n  a:\n    load: {users: 1，for: 1s}\n".to_owned(), "4:20:", '，'),
        (format!("target: http://a\n{load}      － get: /\n"), "6:7:", '－'),
        (format!("target: http://a\n{load}      - get：/\n"), "6:12:", '：'),
        (format!("target: “http://a”\n{load}      - get: /\n"), "1:9:", '“'),
        (format!("target: http://a\n{load}      - get: “/a”\n"), "6:14:", '“'),
        (format!("target: http://a\n{load}      - {{get: /, expect: {{status： 200}}}}\n"), "6:33:", '：'),
        (format!("target: http://a\n{load}      - {{get: /，name: x}}\n"), "6:16:", '，'),
        (format!("target: http://a\n{load}      - {{get: /, name: ‘x}}\n\t- x\n"), "7:1:", '\t'),
    ] {
        let said = lines(&text);
        let reported =
            said.iter().any(|line| line.starts_with(place) && (sign == '\t' || line.contains(&format!("'{sign}'"))));
        assert!(reported, "{text}: {said:#?}");
    }
    // Texts, quoted texts and comments may contain them.
    for steps in [
        "- {post: /, body: “你好，世界”}",
        "- {get: \"/：，“”\"}",
        "- get: / # ：，“”",
        "- {post: /, json: {标题: 你好：世界}}",
    ] {
        let text = format!("target: http://a\n{load}      {steps}\n");
        assert!(parse("test.yaml", &text, &folder()).is_ok(), "{text}");
    }
}

#[test]
fn text_with_brackets_wants_quotes_within_braces() {
    for take in ["css a[b=c] @d", "json $.items[0].id", "json $..[?@.a == 1]", "css a:has(b[c]) @d"] {
        let text = with_steps(&format!("[{{get: /, extract: {{a: {take}}}}}]"));
        let said = lines(&text);
        assert!(said[0].starts_with("5:") && said[0].contains("needs quotes, like {csrf:"), "{take}: {said:#?}");
        let quoted = with_steps(&format!("[{{get: /, extract: {{a: \"{take}\"}}}}]"));
        assert!(parse("test.yaml", &quoted, &folder()).is_ok(), "{take}");
    }
}

#[test]
fn columns_that_are_not_there_are_explained() {
    let data = |set: &str, column: &str| {
        format!(
            "target: http://a\ndata: {{d: {set}}}\nscenarios: {{a: {{load: {{users: 1, for: 1s}}, steps: [{{get: \"/${{d.{column}}}\"}}]}}}}\n"
        )
    };
    for (set, column, part) in [
        ("{file: semicolons.csv, separator: \"|\"}", "b", "separator: \";\""),
        ("headless.csv", "name", "columns: [name, ...]"),
        (
            "{file: headless.csv, columns: [name]}",
            "name",
            "'columns' names 1, and the first line of 'headless.csv' has 2",
        ),
        ("{file: headless.csv, columns: [name, age]}", "size", "it has: name, age"),
        ("{file: rows.json, columns: [a]}", "a", "'columns' and 'format' do not go together"),
        ("users.csv", "size", "it has: name, pass"),
    ] {
        let said = lines(&data(set, column));
        assert!(said.iter().any(|line| line.contains(part)), "{set}: {said:#?}");
    }
    for (set, column) in [
        ("{file: semicolons.csv, separator: \";\"}", "b"),
        ("semicolons.csv", "b"),
        ("{file: headless.csv, columns: [name, age]}", "age"),
    ] {
        let file = good(&data(set, column));
        assert!(file.data[0].columns.as_ref().is_some_and(|columns| columns.contains(&column.to_owned())), "{set}");
    }
}

#[test]
fn what_a_command_line_sets_keeps_its_kind() {
    let head = "vars: {text: x, number: 1, slot: \"${env.HOME}\"}\nper_user: {own: \"${uuid()}\"}\n";
    let file = |vars: &[(&str, &str)]| {
        let path = std::env::temp_dir().join(format!("onrush-given-{}-{:p}.yaml", std::process::id(), vars));
        std::fs::write(
            &path,
            format!("{head}scenarios: {{a: {{load: {{users: 1, for: 1s}}, steps: [{{get: /}}]}}}}\n"),
        )
        .expect("room");
        let read = read_with(&path, vars.iter().copied());
        std::fs::remove_file(&path).expect("it was there");
        read.map(|opened| opened.file).map_err(|mistakes| said(&mistakes))
    };
    let value = |name: &str, given: &str| {
        let file = file(&[("target", "http://127.0.0.1"), (name, given)]).expect("it is right");
        let variable = file.vars.into_iter().find(|variable| variable.name.text == name);
        variable.expect("it is there").value
    };
    let text = |text: &str| Json::Text(plan::Pattern::plain(text));
    for given in ["1.10", "007", "1e5", "true", "null", "12345678901234567890123", "", "[1]", "${x}"] {
        for name in ["text", "slot", "own"] {
            assert_eq!(value(name, given), text(given), "{name}={given}");
        }
    }
    let number = |text: &str| Json::Number(serde_json::from_str(text).expect("a number"));
    for (given, expect) in [
        ("7", number("7")),
        ("1.5", number("1.5")),
        ("true", Json::Bool(true)),
        ("null", Json::Null),
        ("x", text("x")),
        ("12345678901234567890123", Json::Digits("12345678901234567890123".to_owned())),
    ] {
        assert_eq!(value("number", given), expect, "{given}");
    }
    // Without a target of its own the file needs one from the command line.
    assert!(file(&[]).is_err_and(|said| said[0].contains("there is no target")));
    assert!(file(&[("target", "")]).is_ok() && file(&[("nobody", "1")]).is_err());
}
