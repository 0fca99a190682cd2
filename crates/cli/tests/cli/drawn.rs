//! What scenario files draw and fill in, as it reaches servers.

use std::process::Output;

use crate::recorder::{Came, Recorder};
use crate::{Folder, onrush, text};

/// Runs a file against a server that keeps what came.
fn run(recorder: &Recorder, folder: &Folder, rest: &str, words: &[&str]) -> (Vec<Came>, Output) {
    let path = folder.path("plan.yaml");
    std::fs::write(&path, format!("target: http://127.0.0.1:{}\n{rest}", recorder.port)).expect("room");
    let done = onrush(&["run", &path, "--no-save"]).args(words).output().expect("it starts");
    (recorder.take(), done)
}

/// One user with these steps, once.
fn once(head: &str, steps: &str) -> String {
    format!("{head}scenarios:\n  s:\n    load: {{users: 1, iterations: 1}}\n    steps:\n{steps}")
}

fn starts(came: &[Came]) -> Vec<&str> {
    came.iter().map(|came| came.start.trim_end_matches(" HTTP/1.1")).collect()
}

#[test]
fn a_default_is_filled_before_it_is_sent() {
    let (recorder, folder) = (Recorder::start("drawn-defaults"), Folder::new("drawn-defaults"));
    let rest = once(
        "vars: {me: 'a\"n'}\n",
        r#"      - get: /first
        take:
          a: {header: X-None, default: "${me}"}
          b: {header: X-None, default: "x-${me}-y"}
          d: {header: X-None, default: "${1 + 1}"}
          e: {header: X-None, default: {k: ["${me}", 1]}}
          f: {header: X-None, default: plain}
          g: {header: X-None, default: 12345678901234567890123}
      - post: /second?a=${a}
        json: {a: "${a}", b: "${b}", d: "${d}", e: "${e}", f: "${f}", g: "${g}"}
"#,
    );
    for driver in ["uring", "poll"] {
        let (came, done) = run(&recorder, &folder, &rest, &["--driver", driver]);
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        assert_eq!(starts(&came), ["GET /first", "POST /second?a=a%22n"]);
        let body = r#"{"a":"a\"n","b":"x-a\"n-y","d":2,"e":{"k":["a\"n",1]},"f":"plain","g":12345678901234567890123}"#;
        assert_eq!(String::from_utf8_lossy(&came[1].body), body, "{driver}");
    }
    let (_, done) = run(&recorder, &folder, &rest, &["--debug"]);
    assert!(!text(&done.stdout).contains("slot") && text(&done.stdout).contains("* took a = "), "{done:?}");
}

/// A URL that begins with a name of `vars` follows what steps take into it.
#[test]
fn a_url_is_what_its_variable_is_now() {
    let (recorder, folder) = (Recorder::start("drawn-urls"), Folder::new("drawn-urls"));
    let rest = once(
        "vars: {next: /redirect/302/again}\n",
        "      - repeat: 3\n        steps:\n          - {get: \"${next}\", name: page, expect: {status: 200-399}, take: {next: {header: Location, default: none}}}\n",
    );
    for driver in ["uring", "poll"] {
        let (came, done) = run(&recorder, &folder, &rest, &["--driver", driver]);
        let expect = ["GET /redirect/302/again", "GET /redirect/302/to", "GET /there?x=1"];
        assert_eq!(starts(&came), expect, "{driver}: {done:?}");
    }
}

#[test]
fn a_handshake_has_what_its_user_knows() {
    let (recorder, folder) = (Recorder::start("drawn-talks"), Folder::new("drawn-talks"));
    let talk = |url: &str, headers: &str| {
        format!(
            "vars: {{base: tokX}}\nscenarios:\n  s:\n    load: {{users: 2, iterations_each: 2}}\n    start: [{{get: /login, take: {{t: {{header: X-None, default: \"${{random(100,999)}}\"}}}}}}]\n    steps:\n      - websocket: {url}\n        headers: {{{headers}}}\n        steps: [{{send: hi, on_failure: next}}]\n"
        )
    };
    for driver in ["uring", "poll"] {
        let (came, _) = run(&recorder, &folder, &talk("/room?t=${t}", "X-A: \"Bearer ${t}\""), &["--driver", driver]);
        let talks: Vec<&Came> = came.iter().filter(|came| came.start.contains("/room")).collect();
        assert_eq!(talks.len(), 4, "{driver}: {came:?}");
        let mut tokens = Vec::new();
        for came in talks {
            let token = came.value("X-A").and_then(|value| value.strip_prefix("Bearer ")).expect("a header");
            assert!(token.len() == 3 && token.bytes().all(|byte| byte.is_ascii_digit()), "{token}");
            assert_eq!(came.start, format!("GET /room?t={token} HTTP/1.1"));
            tokens.push(token.to_owned());
        }
        // Each user has its own, in all of its iterations.
        tokens.sort_unstable();
        assert!(tokens[0] == tokens[1] && tokens[2] == tokens[3] && tokens[1] != tokens[2], "{tokens:?}");
        let (came, _) = run(&recorder, &folder, &talk("/${base}/room?c=${counter()}", ""), &["--driver", driver]);
        let mut starts = starts(&came);
        starts.retain(|start| start.contains("room"));
        starts.sort_unstable();
        assert_eq!(starts, [1, 2, 3, 4].map(|number| format!("GET /tokX/room?c={number}")), "{driver}");
    }
}

/// What is drawn is another one in each run, and the same again with the seed that was shown.
#[test]
fn a_seed_is_drawn_and_repeats_a_run() {
    let (recorder, folder) = (Recorder::start("drawn-seeds"), Folder::new("drawn-seeds"));
    let rest = "vars: {run: \"${uuid()}\"}\nscenarios:\n  s:\n    load: {users: 2, iterations_each: 2}\n    steps:\n      - {post: /order, headers: {X-Run: \"${run}\"}, json: {id: \"${uuid()}\", mail: \"${email()}\", n: \"${random(1,1000000000)}\", js: \"${Math.random()}\"}}\n";
    let drawn = |words: &[&str]| {
        let (came, done) = run(&recorder, &folder, rest, &[&["--output", "json"], words].concat());
        let of = |came: &Came| format!("{:?} {}", came.value("X-Run"), String::from_utf8_lossy(&came.body));
        let mut all: Vec<String> = came.iter().map(of).collect();
        all.sort_unstable();
        assert_eq!(all.len(), 4, "{done:?}");
        (all, crate::report(&done)["plan"]["seed"].as_u64().expect("a seed"))
    };
    let (first, seed) = drawn(&["--driver", "uring"]);
    let (second, other) = drawn(&["--driver", "uring"]);
    assert!(first != second && seed != other, "{first:?}");
    for driver in ["uring", "poll"] {
        assert_eq!(drawn(&["--driver", driver, "--seed", &seed.to_string()]), (first.clone(), seed), "{driver}");
    }
    for language in [("en", "--seed 77 draws the same"), ("zh", "--seed 77 抽取结果相同")] {
        for words in [&["--full"][..], &["--debug"]] {
            let (_, done) = run(&recorder, &folder, rest, &[&["--seed", "77", "--lang", language.0], words].concat());
            assert!(text(&done.stdout).contains(language.1), "{words:?}: {done:?}");
        }
    }
}

/// `vars` are drawn once a run, `per_user` once for each user, and slots each time.
#[test]
fn variables_are_drawn_for_all_for_each_user_or_each_time() {
    let (recorder, folder) = (Recorder::start("drawn-users"), Folder::new("drawn-users"));
    for load in ["{users: 3, iterations_each: 4}", "{rate: 1000/s, iterations: 12}\n    connections: 3"] {
        for start in ["", "    start: [{get: /login, headers: {X-User: \"${own}\"}}]\n"] {
            let rest = format!(
                "vars: {{run: \"${{uuid()}}\"}}\nper_user: {{own: \"${{uuid()}}\", label: \"u-${{own}}\", js: \"${{Math.random()}}\"}}\nscenarios:\n  s:\n    load: {load}\n{start}    steps:\n      - {{get: /, headers: {{X-Run: \"${{run}}\", X-User: \"${{own}}\", X-Label: \"${{label}}\", X-Js: \"${{js}}\", X-Each: \"${{uuid()}}\"}}}}\n"
            );
            let (came, done) = run(&recorder, &folder, &rest, &[]);
            let came: Vec<Came> = came.into_iter().filter(|came| came.value("X-Run").is_some()).collect();
            assert_eq!(came.len(), 12, "{done:?}");
            let count = |name: &str| {
                let values = came.iter().map(|came| came.value(name).expect("it was sent").to_owned());
                values.collect::<std::collections::BTreeSet<_>>().len()
            };
            let users = count("X-User");
            assert!((1..=3).contains(&users) && (load.contains("rate") || users == 3), "{users}");
            assert_eq!((count("X-Run"), count("X-Each"), count("X-Js")), (1, 12, users), "{load}");
            let labels = came
                .iter()
                .all(|came| came.value("X-Label") == came.value("X-User").map(|own| format!("u-{own}")).as_deref());
            assert!(labels, "{came:?}");
        }
    }
    let wrong = "per_user: {own: \"${random(2,x)}\", x: \"1\"}\nscenarios: {s: {load: {users: 1, iterations: 1}, steps: [{get: \"/${own}\"}]}}\n";
    let (came, done) = run(&recorder, &folder, wrong, &[]);
    assert!(came.is_empty() && done.status.code() == Some(2) && text(&done.stderr).contains("'own'"), "{done:?}");
}
