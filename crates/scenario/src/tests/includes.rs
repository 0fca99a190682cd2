//! Files that bring in others.

use std::collections::HashMap;
use std::io::{Error, Result as Outcome};

use super::*;

/// Files in memory.
struct FilesByName(HashMap<&'static str, &'static str>);

impl Files for FilesByName {
    fn head(&self, path: &Path, most: usize) -> Outcome<Vec<u8>> {
        let name = path.to_string_lossy().into_owned();
        let text = self.0.get(name.as_str()).ok_or_else(|| Error::other("no such file"))?;
        Ok(text.bytes().take(most).collect())
    }
}

const REST: &str = "target: http://127.0.0.1\nscenarios: {a: {load: {users: 1, for: 1s}, steps: [{do: log}]}}\n";

/// A file that includes these, with the files that there are.
fn read(include: &str, files: &[(&'static str, &'static str)]) -> std::result::Result<Opened, Diagnostics> {
    parse("main.yaml", &format!("include: {include}\n{REST}"), &FilesByName(files.iter().copied().collect()))
}

/// The mistakes with their files.
fn reported(include: &str, files: &[(&'static str, &'static str)]) -> Vec<String> {
    let mistakes = read(include, files).expect_err(include);
    let one = |mistake: &Diagnostic| {
        let (at, source) = (mistake.at.start, &mistakes.source);
        let place = source.place(at);
        format!("{}:{}:{}: {mistake} | {}", source.name_at(at), place.line, place.column, source.line_at(at))
    };
    mistakes.all.iter().map(one).collect()
}

#[test]
fn included_files_bring_fragments_variables_and_data() {
    let files = [
        ("log.yaml", "include: more.yaml\nfragments: {log: [{get: \"/${x}/${y}\"}]}\n"),
        ("more.yaml", "vars: {x: 1, y: \"https://\"}\n"),
    ];
    let opened = read("[log.yaml, more.yaml]", &files).unwrap_or_else(|mistakes| panic!("{:#?}", said(&mistakes)));
    assert_eq!((opened.file.vars.len(), opened.file.fragments.len(), opened.file.step_count()), (2, 1, 2));
    assert!(opened.source.contains("https://") && !opened.source.text.contains("https://"));
}

#[test]
fn mistakes_in_an_included_file_are_reported_there() {
    let good = "fragments: {log: [{get: /}]}\n";
    for (include, files, expect) in [
        (
            "log.yaml",
            vec![("log.yaml", "fragments:\n  log:\n    - get: \"/${nobody}\"\n")],
            "log.yaml:3:16: nothing is called 'nobody'",
        ),
        (
            "log.yaml",
            vec![("log.yaml", "fragments:\n  log:\n    - gte: /\n")],
            "log.yaml:3:7: 'gte' is no key of a get",
        ),
        ("log.yaml", vec![("log.yaml", "fragments: {log: [{get: /}]\n")], "log.yaml:1:12: the '{' that was opened"),
        ("log.yaml", vec![("log.yaml", "scenarios: {}\n")], "log.yaml:1:1: 'scenarios' is no key of an included file"),
        ("no.yaml", vec![], "main.yaml:1:10: cannot include 'no.yaml': no such file"),
        ("../log.yaml", vec![], "'../log.yaml' leads out of the folder"),
        ("/log.yaml", vec![], "'/log.yaml' leads out of the folder"),
        (
            "a.yaml",
            vec![("a.yaml", "include: b.yaml\n"), ("b.yaml", "include: a.yaml\n")],
            "b.yaml:1:10: these files include each other without end: a.yaml -> b.yaml -> a.yaml",
        ),
        (
            "[log.yaml, b.yaml]",
            vec![("log.yaml", good), ("b.yaml", "\nfragments: {log: [{get: /}]}\n")],
            "b.yaml:2:13: 'log' is the name of something else already, in log.yaml:1",
        ),
        (
            "[log.yaml, a.yaml, b.yaml]",
            vec![("log.yaml", good), ("a.yaml", "vars: {x: 1}\n"), ("b.yaml", "vars: {x: 2}\n")],
            "b.yaml:1:8: 'x' is the name of something else already, in a.yaml:1",
        ),
    ] {
        let reported = reported(include, &files);
        assert!(reported.iter().any(|one| one.contains(expect)), "{expect}: {reported:#?}");
    }
}

#[test]
fn there_is_a_limit_of_files() {
    let names: Vec<String> = (0..70).map(|number| format!("f{number}.yaml")).collect();
    let leaked: Vec<(&'static str, &'static str)> =
        names.iter().map(|name| (&*Box::leak(name.clone().into_boxed_str()), "vars: {}\n")).collect();
    let reported = reported(&format!("[{}]", names.join(", ")), &leaked);
    assert!(reported.iter().any(|one| one.contains("more than 64 files are included")), "{reported:#?}");
    let chain: Vec<(&'static str, &'static str)> = (0..20)
        .map(|number| {
            let text = format!("include: f{}.yaml\n", number + 1);
            (leaked[number].0, &*Box::leak(text.into_boxed_str()))
        })
        .collect();
    let reported = self::reported("f0.yaml", &chain);
    assert!(reported.iter().any(|one| one.contains("more than 16 deep")), "{reported:#?}");
}
