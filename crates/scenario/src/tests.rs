//! Tests of whole files: valid ones, invalid ones, and the schema's result for both.

mod cookies;
mod data;
mod drift;
mod expects;
mod first_hours;
mod flow;
mod fragments;
mod includes;
mod own;
mod page;
mod quoting;
mod sending;
mod slots;
mod values;
mod warnings;

use std::path::{Path, PathBuf};

use super::*;

/// The files of a folder of this crate, in order.
fn files_in(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    files.sort();
    files
}

fn folder() -> Folder {
    Folder(Path::new(env!("CARGO_MANIFEST_DIR")).join("files"))
}

fn said(mistakes: &Diagnostics) -> Vec<String> {
    let place = |mistake: &Diagnostic| mistakes.source.place(mistake.at.start);
    mistakes.all.iter().map(|mistake| format!("{}:{}: {mistake}", place(mistake).line, place(mistake).column)).collect()
}

fn good(text: &str) -> File {
    match parse("test.yaml", text, &folder()) {
        Ok(opened) => opened.file,
        Err(mistakes) => panic!("{:#?}\n{text}", said(&mistakes)),
    }
}

fn wrong(text: &str) -> Vec<String> {
    said(&parse("test.yaml", text, &folder()).expect_err(text))
}

/// A file with these steps.
fn with_steps(steps: &str) -> String {
    format!("target: http://127.0.0.1\nscenarios:\n  a:\n    load: {{users: 1, for: 1s}}\n    steps: {steps}\n")
}

fn steps(text: &str) -> Vec<Step> {
    good(&with_steps(text)).scenarios.remove(0).steps
}

#[test]
fn all_right_files_are_read() {
    for path in files_in("files") {
        let opened = read(&path).unwrap_or_else(|mistakes| panic!("{}: {:#?}", path.display(), said(&mistakes)));
        assert!(opened.file.step_count() > 10);
    }
}

#[test]
fn no_part_of_a_file_makes_the_reader_stumble() {
    for path in [files_in("files"), files_in("right"), files_in("wrong")].concat() {
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        // Files with many values take long to cut at every position: some are enough.
        let step = 1 + ends.len() / 400;
        for end in ends.into_iter().step_by(step) {
            if let Err(mistakes) = parse("part", &text[..end], &folder()) {
                assert!(!mistakes.all.is_empty());
                for mistake in &mistakes.all {
                    let (source, at) = (&mistakes.source, mistake.at.start);
                    let is_there = at <= source.text.len() || source.name_at(at) != "part";
                    assert!(is_there, "{}: {mistake}", path.display());
                    assert!(!mistake.to_string().is_empty());
                }
                assert!(mistakes.all.is_sorted_by_key(|mistake| mistake.at));
            }
        }
    }
}

#[test]
fn there_are_many_wrong_files_and_no_two_mistakes_are_alike() {
    let files = files_in("wrong");
    assert!(files.len() >= 40, "{}", files.len());
    for path in files {
        let text = std::fs::read_to_string(&path).expect("UTF-8");
        let mistakes = parse("wrong", &text, &folder()).expect_err("a mistake");
        let mut said = said(&mistakes);
        let all = said.len();
        said.sort();
        said.dedup();
        assert_eq!(said.len(), all, "{}: {said:#?}", path.display());
    }
}
