use super::*;
use crate::help::{self, COMMANDS, QUESTIONS};
use crate::options::flags::{self, Kind, Mode, Row};
use report::Language;

/// The words that set a flag.
fn given(row: &Row) -> Vec<String> {
    let name = format!("--{}", row.name);
    match row.kind {
        Kind::Word(_) | Kind::Words(_) => vec!["given".to_owned()],
        Kind::Behind(_) => ["--", "given"].map(str::to_owned).into(),
        Kind::Shell => vec!["zsh".to_owned()],
        Kind::Switch => vec![name],
        Kind::Choice(_, words) => vec![name, words[words.len() - 1].to_owned()],
        Kind::Text(_) | Kind::List(_) => vec![name, "given".to_owned()],
        Kind::Number(_) => vec![name, "-1".to_owned()],
        Kind::Free(_) | Kind::FreeList(_) => vec![name, "--given".to_owned()],
        Kind::Help | Kind::Version => Vec::new(),
    }
}

fn read(words: &[String]) -> String {
    let words = std::iter::once("onrush".to_owned()).chain(words.iter().cloned());
    let matches = help::command(Language::En).try_get_matches_from(words).expect("the table is what is parsed");
    format!("{:?}", Command::from_matches(&matches))
}

/// Each flag of a command changes the parsed arguments, and so does its short form.
fn every_flag_is_read(command: &[&str], mode: Mode) {
    let rows = flags::rows(mode);
    // Mandatory words: `symbol`, with the word before it, and a shell.
    let words = |row: &Row| -> Vec<String> {
        let is_second = row.name == "symbol";
        let before = is_second.then(|| "first".to_owned());
        command.iter().map(ToString::to_string).chain(before).collect()
    };
    for row in rows.iter().filter(|row| !matches!(row.kind, Kind::Shell | Kind::Help | Kind::Version)) {
        // The language is read from the bare words, before the parser has a language; and so is the file of `--config`.
        if row.name == "lang" || row.name == "config" {
            continue;
        }
        let (without, with) = (words(row), [words(row), given(row)].concat());
        assert_ne!(read(&without), read(&with), "{command:?} {with:?}");
        if let Some(short) = row.short {
            let mut shortened = with.clone();
            let place = shortened.iter().position(|word| *word == format!("--{}", row.name)).expect("a flag");
            shortened[place] = format!("-{short}");
            assert_eq!(read(&shortened), read(&with), "{shortened:?}");
        }
    }
}

#[test]
fn every_flag_of_every_command_is_read() {
    every_flag_is_read(&[], Mode::Top);
    for (name, mode) in COMMANDS {
        match mode {
            Mode::Grpc => QUESTIONS.iter().for_each(|question| every_flag_is_read(&[name, question], Mode::Ask)),
            Mode::Check => every_flag_is_read(&[name, "first.yaml"], mode),
            Mode::Compare | Mode::Ctl | Mode::FindMax | Mode::Recover | Mode::Sweep => {
                every_flag_is_read(&[name, "first"], mode)
            }
            Mode::Completions => every_flag_is_read(&[name, "bash"], mode),
            _ => every_flag_is_read(&[name], mode),
        }
    }
}

#[test]
fn a_list_keeps_its_order_and_a_value_is_given_once() {
    let words = |text: &str| -> Vec<String> { text.split(' ').map(str::to_owned).collect() };
    assert!(read(&words("-H b:2 -H a:1 url")).contains(r#"headers: ["b:2", "a:1"]"#));
    let twice = ["onrush", "-c", "1", "--connections", "2"];
    assert!(help::command(Language::En).try_get_matches_from(twice).is_err());
}
