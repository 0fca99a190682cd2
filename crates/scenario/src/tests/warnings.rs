//! Tests of warnings: what gives one, and what gives none.

use super::*;

fn warned(text: &str) -> Vec<String> {
    let opened = parse("test.yaml", text, &folder()).unwrap_or_else(|found| panic!("{:#?}\n{text}", said(&found)));
    let one = |warning: Warning| {
        let place = opened.source.place(warning.at.start);
        format!("{}:{}: {}", place.line, place.column, warning.concern)
    };
    opened.warnings().into_iter().map(one).collect()
}

fn of_steps(steps: &str) -> Vec<String> {
    warned(&with_steps(steps))
}

#[test]
fn unused_variables_are_noticed() {
    let head = "target: http://127.0.0.1\nvars: {lost: 1, used: 2, _kept: 3}\n";
    let rest = "scenarios: {a: {load: {users: 1, for: 1s}, steps: [{get: \"/${used}\", extract: {x: body, y: body}}, {check: x == 1}]}}\n";
    let said = warned(&format!("{head}{rest}"));
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("2:8: nothing uses 'lost'") && said[1].contains("nothing uses 'y'"), "{said:?}");
}

#[test]
fn what_an_iteration_forgets_is_noticed() {
    let take = "{get: \"/${t}\", extract: {t: body}}";
    // The value is there from `on_start` on in these files.
    let file = |condition: &str, carried: &str| {
        warned(&format!(
            "target: http://127.0.0.1\nscenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n{carried}    on_start: [{{get: /, extract: {{t: body}}}}]\n    steps: [{{if: \"{condition}\", then: [{take}]}}, {{get: /}}]\n"
        ))
    };
    for condition in ["t == null", "vu.iteration == 0", "!t"] {
        let said = file(condition, "");
        assert!(said.len() == 1 && said[0].contains("write carry_state: [t]"), "{condition}: {said:?}");
        assert_eq!(file(condition, "    carry_state: [t]\n"), Vec::<String>::new());
        assert_eq!(file(condition, "    carry_state: true\n"), Vec::<String>::new());
    }
    assert_eq!(file("vu.id == 1", ""), Vec::<String>::new());
}

#[test]
fn steps_behind_an_end_are_noticed() {
    let said = of_steps("[{get: /}, {stop_user: }, {get: /a}, {get: /b}]");
    assert!(said.len() == 1 && said[0].starts_with("5:39: this step is never reached: 'stop_user'"), "{said:?}");
    let said = of_steps("[{repeat: 2, steps: [{get: /}, {break: }, {get: /}]}, {get: /}]");
    assert!(said.len() == 1 && said[0].contains("'break'"), "{said:?}");
    assert_eq!(
        of_steps("[{get: /}, {if: response.failed, then: [{stop_user: }]}, {get: /}, {next_iteration: }]"),
        [""; 0]
    );
}

#[test]
fn sums_of_texts_are_noticed() {
    let take = "{get: /, extract: {page: 'regex p=(.)', n: {regex: 'p=(.)', as: number}, j: json $.a}}";
    for sum in ["page + 1", "1 + page", "2 * 3 + page", "users.name + 1"] {
        let text = format!(
            "data: {{users: users.csv}}\n{}",
            with_steps(&format!("[{take}, {{set: {{x: \"${{{sum}}}\"}}}}, {{get: \"/${{x}}${{n}}${{j}}${{page}}\"}}]"))
        );
        let said = warned(&text);
        assert!(said.len() == 1 && said[0].contains("as: number"), "{sum}: {said:?}");
    }
    for sum in ["n + 1", "j + 1", "page + 'x'", "page * 2 + 1", "Number(page) + 1", "2 * page + 1"] {
        let steps = format!("[{take}, {{set: {{x: \"${{{sum}}}\"}}}}, {{get: \"/${{x}}${{n}}${{j}}${{page}}\"}}]");
        assert_eq!(of_steps(&steps), [""; 0], "{sum}");
    }
}

#[test]
fn comments_that_cut_texts_are_noticed() {
    let steps = "\n      - get: /\n        name: order #5\n      - check: response.status == 200 # fine\n      - get: /\n        name: 'a #5'\n      - stop_run: order #7";
    let said = of_steps(steps);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(said[0].starts_with("7:21: the text ends before the #") && said[1].contains("'#7'"), "{said:?}");
}

#[test]
fn right_files_give_few_warnings() {
    for path in files_in("right") {
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        let said = warned(&text);
        let others: Vec<_> = said.iter().filter(|said| !said.contains("nothing uses")).collect();
        assert!(others.is_empty(), "{}: {others:?}", path.display());
    }
}
