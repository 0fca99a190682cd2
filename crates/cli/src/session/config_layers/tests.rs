use std::collections::BTreeMap;

use super::*;

fn words(text: &str) -> Vec<OsString> {
    text.split(' ').map(OsString::from).collect()
}

fn with(text: &str, variables: &[(&str, &str)]) -> Result<Vec<String>, String> {
    let environment = variables.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect();
    let borrowed = ConfigLayers::new(words(text), environment, false, Language::En)?;
    Ok(borrowed.words.iter().map(|word| word.to_string_lossy().into_owned()).collect())
}

/// No two flags share a variable; and each variable is read.
#[test]
fn every_flag_has_a_variable_of_its_own() {
    let mut names = BTreeMap::new();
    for row in all_rows() {
        let known = names.entry(variable_of(&row)).or_insert(row.name);
        assert_eq!(*known, row.name, "{}", variable_of(&row));
    }
    for (name, mode) in COMMANDS {
        let line = if mode == Mode::Grpc { "onrush grpc list".to_owned() } else { format!("onrush {name}") };
        let (mode, line) = if mode == Mode::Grpc { (Mode::Ask, line.as_str()) } else { (mode, line.as_str()) };
        for row in flags::rows(mode).into_iter().filter(may_borrow) {
            let line = match mode {
                Mode::Completions => "onrush completions zsh",
                Mode::Check => "onrush check first.yaml",
                Mode::Compare => "onrush compare first second",
                Mode::Ctl => "onrush ctl run",
                Mode::FindMax => "onrush find-max first",
                Mode::Sweep => "onrush sweep first",
                Mode::Recover => "onrush recover first",
                _ => line,
            };
            let (value, meant) = match row.kind {
                Kind::Switch => ("true".to_owned(), format!("--{}", row.name)),
                Kind::Choice(_, words) => (words[0].to_owned(), format!("--{}={}", row.name, words[0])),
                Kind::Word(_) => ("-5".to_owned(), "-5".to_owned()),
                _ => ("-5".to_owned(), format!("--{}=-5", row.name)),
            };
            let seen = with(line, &[(&variable_of(&row), &value)]).expect("a good value");
            assert!(seen.contains(&meant), "{seen:?} {meant}");
        }
    }
}

#[test]
fn what_is_typed_wins_and_lists_are_one_from_one_place() {
    let five = ("ONRUSH_CONNECTIONS", "5");
    for (line, variables, meant) in [
        ("onrush :80", vec![five], "onrush --connections=5 :80"),
        ("onrush run :80", vec![five], "onrush run --connections=5 :80"),
        ("onrush hold :80", vec![five], "onrush hold --connections=5 :80"),
        ("onrush -c 6 :80", vec![five], "onrush -c 6 :80"),
        ("onrush --connections=6 :80", vec![five], "onrush --connections=6 :80"),
        ("onrush :80", vec![("ONRUSH_CONNECTIONS", "")], "onrush :80"),
        ("onrush demo", vec![five], "onrush demo"),
        ("onrush :80", vec![("ONRUSH_HEADER", "A: 1, 2\n B: 3 \n")], "onrush --header=A: 1, 2 --header=B: 3 :80"),
        ("onrush -H C:4 :80", vec![("ONRUSH_HEADER", "A: 1")], "onrush -H C:4 :80"),
        ("onrush :80", vec![("ONRUSH_INSECURE", "YES")], "onrush --insecure :80"),
        ("onrush :80", vec![("ONRUSH_INSECURE", "0")], "onrush :80"),
        ("onrush -k :80", vec![("ONRUSH_INSECURE", "false")], "onrush -k :80"),
        ("onrush", vec![("ONRUSH_URL", ":80")], "onrush :80"),
        ("onrush --curl steps", vec![("ONRUSH_URL", ":80")], "onrush --curl steps"),
        ("onrush grpc list", vec![("ONRUSH_URL", "grpc://a:1")], "onrush grpc list grpc://a:1"),
        ("onrush :80", vec![("ONRUSH_HTTP1_1", "on")], "onrush --http1.1 :80"),
        ("onrush :80", vec![("ONRUSH_DATA", "--x")], "onrush --data=--x :80"),
        ("onrush --no-such :80", vec![five], "onrush --no-such :80"),
    ] {
        assert_eq!(with(line, &variables).map(|words| words.join(" ")).as_deref(), Ok(meant), "{variables:?}");
    }
    let wrong = with("onrush :80", &[("ONRUSH_INSECURE", "maybe")]);
    assert_eq!(wrong, Err("ONRUSH_INSECURE takes true or false, not 'maybe'".to_owned()));
}

#[test]
fn an_unknown_variable_is_reported_with_the_nearest() {
    let of = |names: &[&str]| unknown(&names.iter().map(|name| ((*name).to_owned(), OsString::new())).collect());
    assert_eq!(of(&["ONRUSH_RATE", "ONRUSH_LISTEN", "ONRUSH_CONFIG", "ONRUSH_URL"]), Vec::<String>::new());
    assert_eq!(of(&["ONRUSH_CONECTIONS", "ONRUSH_HELP"]), ["ONRUSH_CONECTIONS", "ONRUSH_HELP"]);
    assert!(say_unknown("ONRUSH_CONECTIONS", Language::En).ends_with("did you mean ONRUSH_CONNECTIONS?"));
    assert!(say_unknown("ONRUSH_CONECTIONS", Language::Zh).ends_with("是否想写 ONRUSH_CONNECTIONS？"));
    assert!(say_unknown("ONRUSH_X", Language::En).contains("a variable is ONRUSH_ and the name"));
}
