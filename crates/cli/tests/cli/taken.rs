//! Values that a scenario file extracts are shown by `--debug`, and secret ones are never shown.

use std::path::PathBuf;
use std::process::Output;

use crate::{Served, onrush, text};

/// Secrets from the environment, a row and a response.
const SECRETS: [&str; 4] = ["my/own key-9", "top secret&1", "abc/def ghi+1\\\"", "4321"];

const FILE: &str = r#"
vars: {key: "${env.A_KEY_OF_A_TEST}", label: hello}
secrets: [key, sess, pin, people.pass]
data: {people: {file: people.csv}}
scenarios:
  one:
    load: {users: 1, iterations: 2}
    steps:
      - post: /echo
        headers: {X-Key: "${key}", X-Pass: "${people.pass}", X-Both: "${label}${key}"}
        json: {id: 7, s: "abc/def ghi+1\\\"", p: "${people.pass}", n: [1, 2], long: "LONG", pin: "4321"}
        extract: {id: json $.id, sess: json $.s, n: json $.n, st: status, long: json $.long, pin: json $.pin}
        name: echo
      - post: "/echo?s=${urlencode(sess)}&k=${key}"
        form: {s: "${sess}", p: "${people.pass}"}
        extract: {sess: 'regex s=(.*)&'}
        name: second
      - parallel: 2
        steps:
          - post: /echo
            body: "fork ${sess}"
            extract: {pin: body}
          - post: /echo
            body: "fork ${people.pass}"
      - post: /echo
        body: "${key} ${sess} ${people.pass}"
        expect: {status: 404}
"#;

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn folder(name: &str, served: &Served) -> Folder {
    let path = std::env::temp_dir().join(format!("onrush-taken-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).expect("a place for it");
    let text = FILE.replace("LONG", &"x".repeat(900));
    let target = served.url("");
    std::fs::write(path.join("plan.yaml"), format!("target: {}\n{text}", target.trim_end_matches('/'))).expect("room");
    std::fs::write(path.join("people.csv"), "name,pass\nanna,top secret&1\n").expect("room");
    Folder(path)
}

fn run(folder: &Folder, words: &[&str]) -> (String, Output) {
    let mut command = onrush(&["run", "plan.yaml"]);
    command.args(words).current_dir(&folder.0).env("A_KEY_OF_A_TEST", SECRETS[0]);
    let done = command.output().expect("it starts");
    (format!("{}{}", text(&done.stdout), text(&done.stderr)), done)
}

#[test]
fn what_was_taken_is_shown() {
    let served = Served::start();
    let folder = folder("shown", &served);
    for driver in ["uring", "poll"] {
        for (language, took) in [("en", "* took "), ("zh", "* 提取 ")] {
            let (page, _) = run(&folder, &["--debug", "--driver", driver, "--lang", language]);
            for (name, value) in [("id", "7"), ("n", "[1,2]"), ("st", "200"), ("sess", "***"), ("pin", "***")] {
                assert!(page.contains(&format!("{took}{name} = {value}\n")), "{name}: {page}");
            }
            let long = page.lines().find(|line| line.starts_with(&format!("{took}long = "))).expect("a line");
            assert!((100..400).contains(&long.chars().count()), "{long}");
        }
    }
}

#[test]
fn what_a_file_calls_secret_is_shown_by_nothing() {
    let served = Served::start();
    let folder = folder("hidden", &served);
    let log = ["--log", "log.jsonl", "--slowest", "9", "--json", "report.json", "--show-failures"];
    for (words, may_show) in [(&["--debug"][..], false), (&log[..], false), (&["--debug", "--show-secrets"], true)] {
        let (mut page, _) = run(&folder, words);
        for file in ["log.jsonl", "report.json"] {
            page += &std::fs::read_to_string(folder.0.join(file)).unwrap_or_default();
        }
        let forms = [
            "my/own",
            "my%2Fown",
            "my%2fown",
            "top secret",
            "top+secret",
            "top%20secret",
            "abc/def",
            "abc%2Fdef",
            "\"4321",
        ];
        let shown: Vec<&&str> = forms.iter().filter(|form| page.contains(**form)).collect();
        assert_eq!(!shown.is_empty(), may_show, "{words:?} shows {shown:?}: {page}");
        assert!(may_show || page.contains("***"), "{page}");
        assert!(words != ["--debug"] || page.contains("fork ***"), "{page}");
    }
}
