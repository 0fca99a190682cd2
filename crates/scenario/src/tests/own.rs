//! What a scenario has of its own: its target, its variables and its defaults.

use plan::Plan;

use super::slots::lowered;
use super::*;

const FILE: &str = r#"
target: http://127.0.0.1:1
vars: {id: "${uuid()}", place: /all, pair: "${id}"}
defaults: {headers: {X-A: file, X-B: file}, location: true, timeout: 5s, cookies: false}
scenarios:
  one:
    load: {users: 1, iterations: 1}
    target: http://127.0.0.1:2/base
    vars: {place: /own, other: "${id}/${place}"}
    defaults: {headers: {x-b: own}, location: false, cookies: true, expect: {status: 201}}
    steps: [{get: "${place}?a=${other}&b=${pair}", name: s}]
  two:
    load: {users: 1, iterations: 1}
    steps: [{get: "${place}?b=${pair}", name: s}]
"#;

/// The value of a variable at the begin of an iteration.
fn value(plan: &Plan, scenario: usize, number: usize) -> String {
    plan.scenarios[scenario].memory.variables[number].to_string()
}

#[test]
fn a_scenario_has_its_own_target_variables_and_defaults() {
    let plan = lowered(FILE);
    let (one, two) = (&plan.scenarios[0], &plan.scenarios[1]);
    assert_eq!((one.targets[0].port, two.targets[0].port), (2, 1));
    let headers = |scenario: &plan::Scenario| {
        let all = scenario.steps[0].request.headers.iter().filter(|(name, _)| name.to_lowercase().starts_with("x-"));
        all.map(|(_, value)| String::from_utf8_lossy(value).into_owned()).collect::<Vec<_>>()
    };
    assert_eq!((headers(one), headers(two)), (vec!["file".to_owned(), "own".to_owned()], vec!["file".to_owned(); 2]));
    assert!(one.steps[0].follow.is_none() && two.steps[0].follow.is_some());
    assert_eq!((one.memory.cookies, two.memory.cookies), (true, false));
    assert_eq!(one.steps[0].timeout, two.steps[0].timeout);
    assert!(!one.steps[0].checks.status.contains(200) && two.steps[0].checks.status.contains(200));
    // In one: id, pair, place, other. In two: id, place, pair.
    assert_eq!((value(&plan, 0, 0), value(&plan, 0, 1)), (value(&plan, 1, 0), value(&plan, 1, 2)));
    assert_eq!((value(&plan, 0, 2).as_str(), value(&plan, 1, 1).as_str()), ("/own", "/all"));
    assert_eq!(value(&plan, 0, 3), format!("{}//own", value(&plan, 0, 0)));
}

#[test]
fn the_command_line_sets_variables_of_one_scenario_and_every_target() {
    let read = |vars: &[(&str, &str)]| parse_with("test.yaml", FILE, &folder(), vars.iter().copied());
    let file = read(&[("one.place", "/given"), ("target", "http://127.0.0.1:9")]).expect("a file").file;
    assert_eq!(file.scenarios[0].vars[0].value.as_text().map(ToString::to_string).as_deref(), Some("/given"));
    assert_eq!(file.vars[1].value.as_text().map(ToString::to_string).as_deref(), Some("/all"));
    assert!(file.scenarios[0].target.is_none() && file.target.is_some_and(|it| it.to_string().ends_with(":9")));
    for name in ["two.place", "nobody.place", "one.nobody"] {
        let said = said(&read(&[(name, "x")]).expect_err(name));
        assert!(said[0].contains("it has: id, place, pair, target, one.place, one.other"), "{said:#?}");
    }
}

#[test]
fn flags_override_also_the_defaults_of_a_scenario() {
    let mut opened = parse("test.yaml", FILE, &folder()).expect("a file");
    let flags = plan::Flags { location: true, headers: vec!["X-B: flag".to_owned()], ..plan::Flags::default() };
    opened.give(&flags, &[]).expect("flags");
    let seen = opened.file.as_seen_by(&opened.file.scenarios[0]);
    assert!(seen.defaults.flags.responses.location);
    assert!(seen.defaults.headers.iter().all(|(name, _)| !name.eq_ignore_ascii_case("x-b")));
}

#[test]
fn own_settings_that_are_wrong_are_refused() {
    for (own, expect) in [
        ("vars: {a: \"${b}\", b: \"${a}\"}", "these variables are made of each other"),
        ("vars: {a: \"${nobody}\"}", "nothing is called 'nobody'"),
        ("vars: {users: 1}", "'users' is the name of something else already"),
        ("vars: {a: \"${mine}\"}", "'mine' is another one for each user"),
        ("target: \"ht tp://x\"", "ht tp"),
        ("defaults: {max_redirs: 3}", "'max_redirs' needs 'location' beside it"),
        ("defaults: {nobody: 3}", "'nobody' is no key of the defaults"),
        ("cookies: false", "'cookies' is no key of a scenario; it belongs under 'defaults'"),
    ] {
        let text = format!(
            "target: http://127.0.0.1\nper_user: {{mine: \"${{uuid()}}\"}}\ndata: {{users: users.csv}}\nscenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n    {own}\n    steps: [{{get: /}}]\n  b: {{load: {{users: 1, for: 1s}}, steps: [{{get: /}}]}}\n"
        );
        let said = wrong(&text);
        assert!(said.iter().any(|one| one.contains(expect)), "{own} {expect}: {said:#?}");
    }
    // A variable of one scenario is none of another.
    let said = wrong(&FILE.replace("${place}?b=${pair}", "${other}"));
    assert!(said.iter().any(|one| one.contains("nothing is called 'other'")), "{said:#?}");
}
