//! Checks on JSON where responses are Protobuf.

use serde_json::Value;

use crate::{Served, output, report, text};

const DRIVERS: [&str; 2] = ["uring", "poll"];

fn run(words: &[&str]) -> Value {
    let done = output(&[words, &["-n", "6", "-c", "2", "--output", "json"]].concat());
    assert!(done.status.code().is_some_and(|code| code <= 1), "{words:?}: {}", text(&done.stderr));
    report(&done)
}

#[test]
fn messages_of_calls_are_checked_as_json() {
    let served = Served::start();
    let own = served.url.replace("http://", "grpc://");
    let three = r#"[{"name":"a"},{"name":"b"},{"name":"c"}]"#;
    let five = r#"{"name":"a","replies":5}"#;
    // The method, its message, the check, and whether it holds.
    let cases = [
        ("SayHello", "world", r#"$.message == "Hello world""#, true),
        ("SayHello", "world", "$.message == 'Hello world'", true),
        ("SayHello", "world", "$.message", true),
        ("SayHello", "world", "$.number == 1", true),
        ("SayHello", "world", "$.message == 'Hello'", false),
        ("SayHello", "world", "$.messages", false),
        // A single response is no list.
        ("SayHello", "world", "$[0].message", false),
        ("SayHello", r#"{"name":"中\"文"}"#, r#"$.message == "Hello 中\"文""#, true),
        // All messages of a stream.
        ("SayHellos", five, "$[*].number > 0", true),
        ("SayHellos", five, "$[*].number > 1", false),
        ("SayHellos", five, "$[0].number == 1", true),
        ("SayHellos", five, "$[-1].number == 5", true),
        ("SayHellos", five, "$[-1].number == 4", false),
        ("SayHellos", five, "$[4].message == 'Hello a'", true),
        ("SayHellos", five, "$[5]", false),
        ("SayHellos", five, "$.message", false),
        ("SayHellos", five, "$[?@.number == 3].message == 'Hello a'", true),
        ("GreetAll", three, "$.number == 1", true),
        ("GreetAll", three, "$[0]", false),
        ("Chat", three, "$[2].message == 'Hello c'", true),
        ("Chat", three, "$[3]", false),
        ("Chat", "[]", "$[0]", false),
        ("Chat", "[]", "$", true),
    ];
    for (method, data, check, holds) in cases {
        let url = format!("{own}/hello.Greeter/{method}");
        for driver in DRIVERS {
            for more in [&[][..], &["--grpc-encoding", "gzip", "--streams", "2"]] {
                let words = ["--driver", driver, "-d", data, "--expect-json", check, &url];
                let seen = run(&[&words, more].concat());
                let (succeeded, reason) = (&seen["requests"]["succeeded"], &seen["failures"][0]["reason"]);
                let wanted = if holds { 6 } else { 0 };
                assert_eq!(*succeeded, wanted, "{method} {data} {check} {driver} {more:?}: {seen:#}");
                assert!(holds || reason == "check", "{method} {data} {check}: {seen:#}");
            }
        }
    }
}

/// Several checks must all hold.
#[test]
fn a_call_meets_all_of_its_checks_or_fails() {
    let served = Served::start();
    let url = format!("{}/hello.Greeter/SayHello", served.url.replace("http://", "grpc://"));
    for (checks, wanted) in [
        (&["--expect-json", "$.number == 1", "--expect-json", "$.message == 'Hello a'"][..], 6),
        (&["--expect-json", "$.number == 1", "--expect-json", "$.message == 'Hello b'"], 0),
        (&["--expect-json", "$.number == 1", "--expect-body", "Hello a"], 6),
        (&["--expect-json", "$.number == 1", "--expect-body", "Hello b"], 0),
        (&["--expect-json", "$.number == 1", "--expect-header", "content-type"], 6),
        (&["--expect-json", "$.number == 1", "--expect-header", "missing"], 0),
    ] {
        let seen = run(&[checks, &["-d", "a", &url]].concat());
        assert_eq!(seen["requests"]["succeeded"], wanted, "{checks:?}: {seen:#}");
    }
    // An expected status, without a message.
    let words =
        ["-d", r#"{"name":"a","status":5}"#, "--expect-status", "NOT_FOUND", "--expect-json", "$.message", &url];
    assert_eq!(run(&words)["failures"][0]["reason"], "check");
    let shown = output(&["-n", "1", "-c", "1", "-d", "a", "--expect-json", "$.number == 2", "--show-failures", &url]);
    assert!(text(&shown.stdout).contains("--expect-json $.number == 2"), "{shown:?}");
    // The messages of this one have no description.
    let nameless = served.url.replace("http://", "grpc://");
    for (language, says) in [("en", "a URL that names a method"), ("zh", "写明方法的 URL")] {
        let said = output(&["-n", "1", "--lang", language, "--expect-json", "$.a", &nameless]);
        assert_eq!(said.status.code(), Some(2), "{said:?}");
        assert!(text(&said.stderr).contains(says), "{said:?}");
    }
}

#[test]
fn scenarios_check_calls_as_json() {
    let served = Served::start();
    let own = served.url.replace("http://", "grpc://");
    for (check, wanted) in [("$.message == 'Hello a'", 6), ("$.message == 'Hello b'", 0)] {
        let file = std::env::temp_dir().join(format!("onrush-calls-{}-{wanted}.yaml", std::process::id()));
        let plan = format!(
            "vars: {{name: a}}\nscenarios: {{one: {{load: {{users: 2, iterations: 6}}, steps: [{{grpc: '{own}/hello.Greeter/SayHello', \
             message: {{name: '${{name}}'}}, expect: {{json: \"{check}\"}}}}]}}}}\n"
        );
        std::fs::write(&file, plan).expect("a place for it");
        let done = output(&["run", file.to_str().expect("UTF-8"), "--output", "json"]);
        let seen = report(&done);
        let _ = std::fs::remove_file(&file);
        assert_eq!(seen["requests"]["succeeded"], wanted, "{check}: {seen:#}");
    }
}
