//! Exports into files, and for GitHub Actions.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::{exported, run_scenario, said};
use crate::{Served, line_with, onrush, output, report, signal, text};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("export-{}-{name}", std::process::id()))
}

#[test]
fn csv_has_a_line_for_each_interval_and_series() {
    let (served, file) = (Served::start(), file("figures.csv"));
    // Content of an earlier run is overwritten.
    std::fs::write(&file, "x".repeat(1_000_000)).expect("a file");
    let report = run_scenario(&served, "csv", &format!("csv={}", file.display()));
    assert_eq!(exported(&report, "csv")["left_out"], 0);
    // An independent parser reads it.
    let reader = "import csv, sys\nrows = list(csv.DictReader(open(sys.argv[1], encoding='utf-8', newline='')))\n\
        sums = {}\nfor row in rows:\n    key = (row['series'], row['scenario'], row['name'])\n    \
        one = sums.setdefault(key, [0, 0])\n    one[0] += int(row['succeeded'])\n    one[1] += int(row['failed'])\n\
        print(len({row['interval'] for row in rows}))\nfor key, (good, bad) in sorted(sums.items()):\n    print('|'.join(key), good, bad)\n";
    let read = std::process::Command::new("python3").args(["-c", reader]).arg(&file).env("PYTHONUTF8", "1").output();
    let read = read.expect("python starts");
    let lines = text(&read.stdout);
    let intervals = report["intervals"].as_array().expect("a list").len();
    let expected = format!("{intervals}\nall|| 100 100\nstep|买家|broken 0 100\nstep|买家|{} 100 0\n", super::ODD_STEP);
    assert_eq!(lines, expected, "{read:?}");
    std::fs::remove_file(file).expect("the file goes");
}

/// Checks and figures of the file stand in the CSV file, on the screen and on the page, with the counts that
/// arithmetic says.
#[test]
fn checks_and_figures_are_in_every_view() {
    let (served, csv, page) = (Served::start(), file("own.csv"), file("own.html"));
    let folder = crate::Folder::new("export-own");
    let steps = "figures: {basket: {kind: trend, unit: EUR, step: 0.5}, orders: counter}\nscenarios:\n  one:\n    \
        load: {users: 4, iterations_per_user: 10}\n    steps:\n      - {get: /items}\n      \
        - {check: vu.iteration < 7, name: early, on_failure: continue}\n      \
        - record: {basket: \"${vu.iteration}\", orders: 3}\n";
    let plan = folder.plan("own", &served, steps);
    let (to, html) = (format!("csv={}", csv.display()), page.display().to_string());
    let ran = output(&["run", &plan, "--interval", "200ms", "--export", &to, "--html", &html]);
    assert_eq!(ran.status.code(), Some(0), "{ran:?}");
    let reader = "import csv, sys\nsums = {}\nfor row in csv.DictReader(open(sys.argv[1])):\n    \
        one = sums.setdefault((row['series'], row['name']), [0, 0, 0, 0.0])\n    \
        for place, column in enumerate(['succeeded', 'failed', 'figure_count', 'figure_sum']):\n        \
        one[place] += float(row[column] or 0)\nfor key, sums in sorted(sums.items()):\n    \
        if key[0] in ('check', 'figure'): print('|'.join(key), *[int(one) for one in sums])\n";
    let read = std::process::Command::new("python3").args(["-c", reader]).arg(&csv).output().expect("python starts");
    // Each of four users records 0 to 9.
    let expected = "check|early 28 12 0 0\nfigure|basket 0 0 40 180\nfigure|orders 0 0 40 120\n";
    assert_eq!(text(&read.stdout), expected, "{read:?}");
    let has = |text: &str, name: &str, cells: &[&str]| {
        let line = text.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
        cells.iter().all(|cell| line.split_whitespace().any(|word| word == *cell))
    };
    let screen = text(&ran.stdout);
    assert!(has(&screen, "early", &["28", "12"]) && has(&screen, "orders", &["120"]), "{screen}");
    assert!(has(&screen, "basket", &["40", "4.5"]), "{screen}");
    let page = std::fs::read_to_string(page).expect("a page");
    for word in ["early", "basket", "orders", "EUR"] {
        assert!(page.contains(&format!(">{word}")), "{word}");
    }
    std::fs::remove_file(csv).expect("the file goes");
}

/// A run that has nothing to measure ends at once, and its exports are whole.
#[test]
fn what_ends_at_once_is_exported() {
    let (port, csv) = (crate::closed_port(), file("closed.csv"));
    let (url, to) = (format!("http://127.0.0.1:{port}/"), format!("csv={}", csv.display()));
    let ran = output(&["-n", "100", "-c", "2", "--export", &to, &url]);
    assert_eq!(ran.status.code(), Some(3), "{ran:?}");
    assert!(!said(&ran).contains("csv"), "{ran:?}");
    let lines = std::fs::read_to_string(&csv).expect("a file");
    assert!(lines.starts_with("interval,") && lines.lines().any(|line| line.contains(",all,")), "{lines}");
    std::fs::remove_file(csv).expect("the file goes");
}

#[test]
fn thresholds_are_test_cases() {
    let (served, file) = (Served::start(), file("junit.xml"));
    let place = format!("junit={}", file.display());
    let words =
        ["--threshold", "p99(response_time) < 1ns", "--threshold", "done >= 10", "-n", "10", "--export", &place];
    let ran = output(&[&words[..], &[&served.url("/?a=1&b=<")]].concat());
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    let reader = "import sys, xml.etree.ElementTree as tree\nroot = tree.parse(sys.argv[1]).getroot()\n\
        print(root.get('tests'), root.get('failures'))\nfor case in root.iter('testcase'):\n    \
        print(case.get('name'), case.find('failure') is not None)\n";
    let read = std::process::Command::new("python3").args(["-c", reader]).arg(&file).output().expect("python starts");
    assert_eq!(text(&read.stdout), "2 1\np99(response_time) < 1ns True\ndone >= 10 False\n", "{read:?}");
    std::fs::remove_file(file).expect("the file goes");
}

#[test]
fn a_file_that_cannot_be_written_is_reported() {
    let served = Served::start();
    for kind in ["csv", "junit"] {
        let place = format!("{kind}=/dev/full");
        let ran = output(&["-n", "10", "--export", &place, &served.url("/")]);
        assert_eq!(ran.status.code(), Some(4), "{ran:?}");
        assert!(said(&ran).contains(&format!("{kind} could not be written to /dev/full: No space left")), "{ran:?}");
        let ran = output(&["-n", "10", "--lang", "zh", "--export", &place, &served.url("/")]);
        assert!(said(&ran).contains(&format!("{kind} 无法写入 /dev/full：")), "{ran:?}");
    }
}

#[test]
fn github_gets_a_page_and_annotations() {
    let (served, file) = (Served::start(), file("summary.md"));
    std::fs::write(&file, "before\n").expect("a file");
    let words = ["--threshold", "p99(response_time) < 1ns", "-n", "10", "--export", "github"];
    let run = |more: &[&str]| {
        let mut command = onrush(&[&words[..], more, &[&served.url("/a|b")]].concat());
        command.env("GITHUB_STEP_SUMMARY", &file).output().expect("it starts")
    };
    let ran = run(&[]);
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
    let out = text(&ran.stdout);
    assert!(out.contains("\n::error title=onrush::p99(response_time) < 1ns"), "{out}");
    assert!(out.contains("\n::notice title=onrush::"), "{out}");
    let page = std::fs::read_to_string(&file).expect("the page");
    assert!(page.starts_with("before\n### onrush: `http://127.0.0.1:"), "{page}");
    assert!(page.contains("| ❌ | p99(response\\_time) &lt; 1ns"), "{page}");
    // JSON stays valid JSON.
    let ran = run(&["-o", "json"]);
    assert_eq!(exported(&report(&ran), "github")["delivered"], 1);
    assert!(said(&ran).contains("::error title=onrush::"), "{ran:?}");
    let ran = run(&["--lang", "zh"]);
    assert!(std::fs::read_to_string(&file).expect("the page").contains("| QPS |"), "{ran:?}");
    std::fs::remove_file(file).expect("the file goes");
}

/// A page without a reader closes after its time limit, which is 15 s, or as set.
#[test]
fn a_page_without_a_reader_goes_after_its_time() {
    let served = Served::start();
    let words = ["-n", "10", "-o", "json", "--export", "prometheus=:0"];
    let url = served.url("/");
    let ran = output(&[&words[..], &["--export-wait", "200ms", &url]].concat());
    assert!(ran.status.success(), "{ran:?}");
    let said = said(&ran);
    assert!(said.contains("figures for Prometheus at http://127.0.0.1:"), "{said}");
    assert!(said.contains("the final figures can be read for up to 0.2s"), "{said}");
    assert!(said.contains("nobody read the final figures"), "{said}");
    // The default time, which is ended by a signal.
    let mut command = onrush(&[&words[..], &[&url]].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    line_with(&mut said, "the final figures can be read for up to 15s");
    signal(&child, "-INT");
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    // It bounds the end of an export.
    for (language, says) in [("en", "--export-wait needs --export"), ("zh", "--export-wait 需要同时给出 --export")]
    {
        let refused = output(&["-n", "1", "--export-wait", "1s", "--lang", language, &url]);
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        assert!(self::said(&refused).contains(says), "{refused:?}");
    }
}
