//! Random and generated values of scenario files, as they reach servers.

use std::process::Output;

use crate::recorder::{Came, Recorder};
use crate::{Folder, onrush, text};

/// Runs a file against a server that records requests.
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
        extract:
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

/// A URL that begins with a name of `vars` follows the values that steps extract into it.
#[test]
fn a_url_is_what_its_variable_is_now() {
    let (recorder, folder) = (Recorder::start("drawn-urls"), Folder::new("drawn-urls"));
    let rest = once(
        "vars: {next: /redirect/302/again}\n",
        "      - repeat: 3\n        steps:\n          - {get: \"${next}\", name: page, expect: {status: 200-399}, extract: {next: {header: Location, default: none}}}\n",
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
            "vars: {{base: tokX}}\nscenarios:\n  s:\n    load: {{users: 2, iterations_per_user: 2}}\n    on_start: [{{get: /login, extract: {{t: {{header: X-None, default: \"${{random(100,999)}}\"}}}}}}]\n    steps:\n      - websocket: {url}\n        headers: {{{headers}}}\n        steps: [{{send: hi, on_failure: next_iteration}}]\n"
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

/// Random values differ in each run, and are the same with the seed that was shown.
#[test]
fn a_seed_is_drawn_and_repeats_a_run() {
    let (recorder, folder) = (Recorder::start("drawn-seeds"), Folder::new("drawn-seeds"));
    let rest = "vars: {run: \"${uuid()}\"}\nscenarios:\n  s:\n    load: {users: 2, iterations_per_user: 2}\n    steps:\n      - {post: /order, headers: {X-Run: \"${run}\"}, json: {id: \"${uuid()}\", mail: \"${email()}\", n: \"${random(1,1000000000)}\", js: \"${Math.random()}\"}}\n";
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

/// `vars` are evaluated once per run, `per_user` once per user, and slots each time.
#[test]
fn variables_are_drawn_for_all_for_each_user_or_each_time() {
    let (recorder, folder) = (Recorder::start("drawn-users"), Folder::new("drawn-users"));
    for load in ["{users: 3, iterations_per_user: 4}", "{rate: 1000/s, iterations: 12}\n    connections: 3"] {
        for start in ["", "    on_start: [{get: /login, headers: {X-User: \"${own}\"}}]\n"] {
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

/// Who leaves under a rate comes back as another user, with draws of its own, which a seed repeats.
#[test]
fn a_user_that_comes_back_is_another_user() {
    let (recorder, folder) = (Recorder::start("drawn-back"), Folder::new("drawn-back"));
    for start in ["", "    on_start: [{get: /login, headers: {X-User: \"${own}\"}}]\n"] {
        let rest = format!(
            "per_user: {{own: \"${{uuid()}}\", label: \"u-${{own}}\"}}\nscenarios:\n  s:\n    load: {{rate: 1000/s, iterations: 12}}\n    connections: 1\n{start}    steps:\n      - {{get: /, headers: {{X-User: \"${{own}}\", X-Label: \"${{label}}\"}}, expect: {{status: 500}}, on_failure: stop_user}}\n"
        );
        let drawn = |seed: &str| {
            let (came, done) = run(&recorder, &folder, &rest, &["--seed", seed]);
            let came: Vec<Came> = came.into_iter().filter(|came| came.value("X-Label").is_some()).collect();
            let users = came.iter().map(|came| came.value("X-User").expect("it was sent").to_owned());
            let users: Vec<String> = users.collect();
            assert_eq!(users.len(), 12, "{done:?}");
            let labels = came.iter().zip(&users).all(|(came, own)| came.value("X-Label") == Some(&format!("u-{own}")));
            assert!(labels, "{came:?}");
            users
        };
        let first = drawn("5");
        assert_eq!(first.iter().collect::<std::collections::BTreeSet<_>>().len(), 12, "{start}: {first:?}");
        assert_eq!(drawn("5"), first, "{start}");
        assert_ne!(drawn("6"), first, "{start}");
    }
}

/// Defaults are for the steps that they fit.
#[test]
fn a_default_is_left_out_where_it_fits_nothing() {
    let (recorder, folder) = (Recorder::start("drawn-fits"), Folder::new("drawn-fits"));
    let port = crate::closed_port();
    for defaults in
        ["insecure: true", "http: 1.1", "sni: other.test", "tls_min: 1.3", "{insecure: true, http: 2, streams: 2}"]
    {
        let steps = format!(
            "      - {{get: \"https://127.0.0.1:{port}/x\", on_failure: continue, name: x}}\n      - websocket: /talk\n        steps: [{{send: a, on_failure: continue}}]\n      - {{get: /plain, http: no}}\n"
        );
        let defaults = if defaults.starts_with('{') { defaults.to_owned() } else { format!("{{{defaults}}}") };
        let head = format!("defaults: {defaults}\n");
        // HTTP/2 is for all of HTTP.
        let steps = steps.replace(", http: no", "");
        let (came, done) = run(&recorder, &folder, &once(&head, &steps), &[]);
        let is_old = !defaults.contains("http: 2");
        assert_eq!(starts(&came).contains(&"GET /talk"), true, "{defaults}: {done:?}");
        assert_eq!(starts(&came).contains(&"GET /plain"), is_old, "{defaults}: {done:?}");
    }
    // A default that fits no step is reported. The server is a new one: a connection of HTTP/2 before may be read late.
    let recorder = Recorder::start("drawn-fits-none");
    let (came, done) = run(&recorder, &folder, &once("defaults: {tls_min: 1.3}\n", "      - get: /\n"), &[]);
    assert!(
        came.is_empty() && done.status.code() == Some(2) && text(&done.stderr).contains("tls_min needs"),
        "{done:?}"
    );
}

#[test]
fn headers_and_fragments_are_left_out() {
    let (recorder, folder) = (Recorder::start("drawn-left-out"), Folder::new("drawn-left-out"));
    let rest = once(
        "vars: {link: \"/a?b#c\"}\ndefaults: {headers: {X-Default: d, X-Other: o}}\n",
        "      - {get: \"/x?y#z\", headers: {X-Default: null, Accept: null, X-Empty: \"\"}, extract: {link: {header: X-None, default: \"/a?b#c\"}}}\n      - {get: \"${link}\", name: link}\n      - {get: \"/p/${link}#f${link}\", name: deep}\n",
    );
    for driver in ["uring", "poll"] {
        let (came, done) = run(&recorder, &folder, &rest, &["--driver", driver]);
        assert_eq!(starts(&came), ["GET /x?y", "GET /a?b", "GET /p/%2Fa%3Fb%23c"], "{done:?}");
        let values =
            |came: &Came| ["X-Default", "X-Other", "Accept", "X-Empty"].map(|name| came.value(name).map(str::to_owned));
        assert_eq!(values(&came[0]), [None, Some("o".to_owned()), None, Some(String::new())]);
        assert_eq!(values(&came[1]), [Some("d".to_owned()), Some("o".to_owned()), Some("*/*".to_owned()), None]);
    }
}

/// A file without a target of its own, and variables that are set from outside.
#[test]
fn what_is_said_outside_is_sent_as_it_was_typed() {
    let (recorder, folder) = (Recorder::start("drawn-outside"), Folder::new("drawn-outside"));
    let path = folder.path("bare.yaml");
    let rest =
        once("vars: {s: x, n: 1}\n", "      - {post: \"/p?s=${s}\", json: {s: \"${s}\", n: \"${n}\", t: \"t${s}\"}}\n");
    std::fs::write(&path, rest).expect("room");
    let target = format!("target=http://127.0.0.1:{}", recorder.port);
    for (value, text, number) in [
        ("1.10", "\"1.10\"", "1.1"),
        ("007", "\"007\"", "\"007\""),
        ("1e5", "\"1e5\"", "100000"),
        ("12345678901234567890123", "\"12345678901234567890123\"", "12345678901234567890123"),
        ("true", "\"true\"", "true"),
    ] {
        let vars = [&format!("s={value}"), &format!("n={value}"), &target];
        let words: Vec<&str> = vars.iter().flat_map(|var| ["--var", var.as_str()]).collect();
        let done = onrush(&["run", &path, "--no-save"]).args(words).output().expect("it starts");
        let came = recorder.take();
        assert_eq!(came.len(), 1, "{done:?}");
        assert_eq!(came[0].start, format!("POST /p?s={value} HTTP/1.1"));
        let body = format!("{{\"s\":{text},\"n\":{number},\"t\":\"t{value}\"}}");
        assert_eq!(String::from_utf8_lossy(&came[0].body), body, "{value}");
    }
    let check = |rest: &str| {
        std::fs::write(&path, format!("target: http://127.0.0.1:1\n{rest}")).expect("room");
        let done = onrush(&["check", &path]).env("A_SET_VARIABLE", "1").output().expect("it starts");
        (done.status.code(), text(&done.stdout))
    };
    for (slot, is_reported) in [
        ("${env.A_SET_VARIABLE}", false),
        ("${env.NOPE_NOPE}", true),
        ("${env.NOPE_NOPE ?? 3}", false),
        ("${env.NOPE_NOPE + 3}", true),
        ("${base64(env.NOPE_NOPE)}", true),
    ] {
        for rest in [
            once("", &format!("      - get: \"/x?x={slot}\"\n")),
            once("", &format!("      - {{get: /, headers: {{X: \"{slot}\"}}}}\n")),
            once(&format!("vars: {{a: \"{slot}\"}}\n"), "      - get: /\n"),
        ] {
            let (code, reported) = check(&rest);
            assert_eq!(
                (code, reported.contains("NOPE_NOPE=VALUE")),
                (Some(i32::from(is_reported)), is_reported),
                "{rest}{reported}"
            );
        }
    }
}

/// Cookies are kept unless disabled.
#[test]
fn users_keep_cookies() {
    let (served, folder) = (crate::Served::start(), Folder::new("drawn-cookies"));
    let path = folder.path("plan.yaml");
    for (defaults, code) in [("", 0), ("defaults: {cookies: true}\n", 0), ("defaults: {cookies: false}\n", 1)] {
        let steps = "      - {get: /login, extract: {csrf: 'regex name=\"csrf\" value=\"([^\"]+)\"'}}\n      - {post: /login, form: {user: anna, password: secret, csrf: \"${csrf}\"}, expect: {status: 200-399}}\n      - {get: /account, expect: {status: 200}}\n";
        let target = served.url("");
        let rest = format!(
            "target: {}\n{}thresholds: [\"failed / done < 1%\"]\n",
            target.trim_end_matches('/'),
            once(defaults, steps)
        );
        std::fs::write(&path, rest).expect("room");
        for driver in ["uring", "poll"] {
            let done = onrush(&["run", &path, "--no-save", "--driver", driver]).output().expect("it starts");
            assert_eq!(done.status.code(), Some(code), "{defaults}: {done:?}");
        }
    }
}

/// After a message without a response the connection is of no use, and no other one is opened silently.
#[test]
fn a_lost_conversation_is_not_opened_again_in_silence() {
    let (served, folder) = (crate::Served::start(), Folder::new("drawn-lost"));
    let path = folder.path("plan.yaml");
    for (how, connections, unsent) in [("continue", 1, 2), ("retry 1", 2, 0), ("next_iteration", 1, 0)] {
        let steps = format!(
            "      - websocket: /talk\n        steps:\n          - {{send: a, name: first}}\n          - {{receive: {{within: 50ms, expect: {{body: never}}}}, on_failure: {how}}}\n          - {{send: b, name: second, on_failure: continue}}\n          - receive: {{within: 5s}}\n          - {{send: c, name: third, on_failure: continue}}\n"
        );
        let target = served.url("");
        std::fs::write(&path, format!("target: {}\n{}", target.trim_end_matches('/'), once("", &steps))).expect("room");
        for driver in ["uring", "poll"] {
            let done = onrush(&["run", &path, "--no-save", "--driver", driver, "--output", "json"])
                .output()
                .expect("it starts");
            let report = crate::report(&done);
            let failed = |reason: &str| {
                let failures = report["failures"].as_array().expect("a list");
                failures
                    .iter()
                    .filter(|one| one["reason"] == reason)
                    .filter_map(|one| one["count"].as_u64())
                    .sum::<u64>()
            };
            assert_eq!(report["connections"]["established"], connections, "{how}: {report:#}");
            assert_eq!(failed("not-filled"), unsent, "{how}: {report:#}");
        }
    }
}

/// Where nothing could be sent, the reason is shown, and nothing is shown as sent.
#[test]
fn why_nothing_could_be_sent_is_shown() {
    let (recorder, folder) = (Recorder::start("drawn-unsent"), Folder::new("drawn-unsent"));
    let rest = once("vars: {h: \"a\\r\\nb\"}\n", "      - {get: /, headers: {X-A: \"p${h}\"}, name: mine}\n");
    for (language, why, unsent) in [
        ("en", "a value for a header has a line end", "* nothing was sent: mine"),
        ("zh", "请求头的值中有换行", "* 没有发送：mine"),
    ] {
        let (came, done) = run(&recorder, &folder, &rest, &["--show-failures", "--lang", language]);
        assert!(came.is_empty() && text(&done.stdout).contains(why), "{done:?}");
        let (_, done) = run(&recorder, &folder, &rest, &["--debug", "--lang", language]);
        let page = text(&done.stdout);
        assert!(
            page.contains(why) && page.contains(unsent) && !page.contains("> GET") && !page.contains("X-A"),
            "{page}"
        );
    }
}

/// All runs of a sweep draw the same, so that they differ by what is varied alone; the seed is shown.
#[test]
fn runs_of_a_sweep_draw_by_one_seed() {
    let (recorder, folder) = (Recorder::start("drawn-sweep"), Folder::new("drawn-sweep"));
    let steps = "      - get: /${uuid()}/${random(1,1000000)}?n=${n}\n";
    let head = "vars: {n: 0}\n";
    let sweep = |head: &str, words: &[&str]| {
        let path = folder.path("plan.yaml");
        let rest = once(head, steps);
        std::fs::write(&path, format!("target: http://127.0.0.1:{}\n{rest}", recorder.port)).expect("room");
        let all = [&["sweep", "run", &path, "--no-save", "--output", "json"][..], words].concat();
        let done = onrush(&all).output().expect("it starts");
        assert!(done.status.success(), "{words:?}: {done:?}");
        let report: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
        let mut drawn: Vec<String> = starts(&recorder.take())
            .iter()
            .map(|start| start.split('?').next().unwrap_or_default().to_owned())
            .collect();
        let count = drawn.len();
        drawn.sort();
        drawn.dedup();
        (report["seed"].as_u64(), drawn, count)
    };
    let vary = ["--vary", "n=1,2,3", "--repeat", "2"];
    let (seed, drawn, count) = sweep(head, &vary);
    assert_eq!((drawn.len(), count), (1, 6), "{drawn:?}");
    let seed = seed.expect("a seed");
    let (other, others, _) = sweep(head, &vary);
    assert!(other != Some(seed) && others != drawn, "each sweep draws one of its own: {other:?}");
    let (again, same, _) = sweep(head, &[&vary[..], &["--seed", &seed.to_string()]].concat());
    assert_eq!((again, &same), (Some(seed), &drawn), "--seed draws it again");
    let (of_file, first, _) = sweep(&format!("{head}run: {{seed: 7}}\n"), &vary);
    let (_, second, _) = sweep(&format!("{head}run: {{seed: 7}}\n"), &vary);
    assert_eq!((of_file, &first), (Some(7), &second), "the seed of the file stands");
    let (varied, all, _) = sweep(head, &["--vary", "seed=1,2,3", "--repeat", "2"]);
    assert_eq!((varied, all.len()), (None, 3), "each seed draws its own: {all:?}");
}
