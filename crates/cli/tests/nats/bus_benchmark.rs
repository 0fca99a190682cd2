//! The output of the bus benchmark; how many workers a server carries is tested in `cluster`.

use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::binary::{onrush, text};
use super::bus::{NatsServer, path_with_server};

fn sim(words: &[&str]) -> std::process::Command {
    let mut command = onrush(&[&["sim", "cluster"], words].concat());
    command.env("PATH", path_with_server());
    command
}

#[test]
fn a_bus_benchmark_is_tried_out() {
    let done = sim(&["--workers", "200", "-z", "3s", "--json"]).output().expect("it starts");
    assert!(done.status.success(), "{}", text(&done.stderr));
    let value: Value = serde_json::from_slice(&done.stdout).expect("JSON");
    let schema = include_str!("../../../../docs/sim-cluster.schema.json");
    let schema: Value = serde_json::from_str(schema).expect("JSON");
    let schema = jsonschema::validator_for(&schema).expect("a schema");
    let wrong: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(
        (&value["with_part"], &value["made"], &value["counted"]),
        (&200.into(), &value["counted"], &value["made"])
    );
    assert!(value["server"]["most_bytes"].as_u64() > Some(1 << 20), "{value:#}");
}

#[test]
fn a_bus_benchmark_on_a_bus_that_is_there() {
    let server = NatsServer::start(&[]);
    let site = server.site("sim");
    for (language, says) in [("en", "bucket for bucket"), ("zh", "逐桶一致")] {
        let done = sim(&["--workers", "20", "-z", "1s", "--cluster", &site, "--lang", language]).output();
        let done = done.expect("it starts");
        let (shown, reported) = (text(&done.stdout), text(&done.stderr));
        assert!(done.status.success() && shown.contains(says), "{shown}{reported}");
        // The usage of a foreign server is unknown.
        assert!(!shown.contains("nats-server"), "{shown}");
    }
}

#[test]
fn a_bus_benchmark_that_is_stopped_ends() {
    let mut child = sim(&["--workers", "50", "-z", "60s"]);
    let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    std::thread::sleep(Duration::from_secs(4));
    let begun = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is there");
    let done = child.wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(130), "{}", text(&done.stderr));
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[test]
fn what_does_not_fit_is_said() {
    let cases: [(&[&str], &str, &str); 3] = [
        (&["--workers", "0"], "--workers wants", "--workers 的值"),
        (&["-z", "1500ms"], "whole seconds", "整秒"),
        (&["--cluster", "nats://127.0.0.1:1/sim"], "cannot be reached", "无法连接总线"),
    ];
    for (words, english, chinese) in cases {
        for (language, says) in [("en", english), ("zh", chinese)] {
            let done = sim(words).args(["--lang", language]).output().expect("it starts");
            let reported = text(&done.stderr);
            assert!(!done.status.success() && reported.contains(says), "{words:?}: {reported}");
        }
    }
}

#[test]
fn no_server_is_said() {
    let mut command = onrush(&["sim", "cluster", "--workers", "2"]);
    let done = command.env("PATH", "/nowhere").output().expect("it starts");
    let reported = text(&done.stderr);
    assert!(done.status.code() == Some(4) && reported.contains("no nats-server"), "{reported}");
}
