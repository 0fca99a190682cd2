//! A real redis-server: its counts of commands are compared with ours, and its data with what was sent.

mod books;
mod held;
mod hostile;
mod logins;
mod server;
mod values;

use std::fmt::Write;

use crate::loads::{DRIVERS, failures, load, number, scenario};
use crate::{Folder, output, text};
use server::Redis;

#[test]
fn pipelines_of_sixteen_are_sixteen_commands() {
    let server = Redis::start();
    let mut words = vec!["-n".to_owned(), "500".to_owned(), "-c".to_owned(), "7".to_owned()];
    for at in 0..16 {
        let command = match at % 4 {
            0 => format!("SET k{at} {at}"),
            1 => format!("INCRBY sum {at}"),
            2 => format!("GET k{}", at - 2),
            _ => format!("LPUSH list {at}"),
        };
        words.extend(["--redis-command".to_owned(), command]);
    }
    for (round, driver) in DRIVERS.iter().enumerate() {
        let before = ["set", "incrby", "get", "lpush"].map(|name| (name, server.calls(name)));
        let mut all: Vec<&str> = words.iter().map(String::as_str).collect();
        all.extend(["--driver", driver, &server.url]);
        let (seen, code) = load(&all);
        assert_eq!(code, Some(0), "{seen:#}");
        assert_eq!(number(&seen, "/requests/succeeded"), 500, "{seen:#}");
        for pointer in ["/messages/sent", "/messages/received"] {
            assert_eq!(number(&seen, pointer), 500 * 16, "{driver} {pointer}: {seen:#}");
        }
        assert_eq!(seen["statuses"], serde_json::json!({"OK": 500}), "{seen:#}");
        let times = round as u64 + 1;
        for (name, before) in before {
            assert_eq!(server.calls(name) - before, 500 * 4, "{driver} {name}");
        }
        assert_eq!(server.cli(&["GET", "sum"]), (500 * times * (1 + 5 + 9 + 13)).to_string());
        assert_eq!(server.cli(&["LLEN", "list"]), (500 * 4 * times).to_string());
    }
}

#[test]
fn the_first_word_of_an_error_is_a_status() {
    let server = Redis::start();
    server.cli(&["SET", "k", "v"]);
    let words = ["-n", "40", "-c", "4", "--redis-command", "LPUSH k v", &server.url];
    let with = |more: &[&str]| load(&[&words[..], more].concat());

    let (seen, code) = with(&[]);
    assert_eq!(code, Some(1), "{seen:#}");
    assert_eq!((number(&seen, "/requests/succeeded"), number(&seen, "/requests/failed")), (0, 40), "{seen:#}");
    assert_eq!(failures(&seen), [("status", 40)], "{seen:#}");
    assert_eq!(seen["statuses"], serde_json::json!({"WRONGTYPE": 40}), "{seen:#}");
    assert_eq!(number(&seen, "/requests/responses"), 40, "{seen:#}");

    let (seen, code) = with(&["--expect-status", "WRONGTYPE"]);
    assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 40), "{seen:#}");
    assert_eq!(seen["statuses"], serde_json::json!({"WRONGTYPE": 40}), "{seen:#}");

    for (threshold, code) in [("status(WRONGTYPE) < 1", 1), ("status(WRONGTYPE) <= 40", 0), ("status(OK) < 1", 0)] {
        let (seen, ended) = with(&["--expect-status", "WRONGTYPE", "--threshold", threshold]);
        assert_eq!(ended, Some(code), "{threshold}: {seen:#}");
        assert_eq!(seen["thresholds"][0]["holds"], code == 0, "{threshold}: {seen:#}");
    }
    let shown = output(&[&words[..], &["--threshold", "status(WRONGTYPE) < 1"]].concat());
    assert!(text(&shown.stdout).contains("status(WRONGTYPE) < 1: 40, NOT MET"), "{shown:?}");
    // The status of a pipeline is that of its first error, whatever else succeeded.
    let pipeline = ["--redis-command", "SET other v", "--redis-command", "NOSUCH"];
    let words = ["-n", "10", "--redis-command", "GET k", &server.url];
    let (seen, _) = load(&[&pipeline[..], &["--redis-command", "LPUSH k v"], &words].concat());
    assert_eq!(seen["statuses"], serde_json::json!({"ERR": 10}), "{seen:#}");
    assert_eq!(number(&seen, "/messages/received"), 40, "{seen:#}");
    assert_eq!(server.calls("lpush"), 40 * 6 + 10);
}

#[test]
fn each_step_has_the_database_of_its_url() {
    let (server, folder) = (Redis::start(), Folder::new("redis-databases"));
    let mut steps = String::new();
    for (key, database) in [("zero", 0), ("one", 1), ("two", 1), ("three", 2), ("four", 0)] {
        writeln!(steps, "      - {{redis: [INCR, {key}], url: '{}/{database}'}}", server.url).expect("room");
    }
    let file = folder.file("databases.yaml", scenario(&server.url, "{users: 3, iterations: 30}", &steps));
    for (round, driver) in DRIVERS.iter().enumerate() {
        let (seen, code) = load(&["run", &file, "--driver", driver]);
        assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 150), "{driver}: {seen:#}");
        for (database, keys) in [("0", ["zero", "four"].as_slice()), ("1", &["one", "two"]), ("2", &["three"])] {
            for key in keys {
                let value = server.cli(&["-n", database, "GET", key]);
                assert_eq!(value, (30 * (round + 1)).to_string(), "{key} in {database}, {driver}");
            }
            assert_eq!(server.cli(&["-n", database, "DBSIZE"]), keys.len().to_string(), "{database} {driver}");
        }
    }
}

#[test]
fn each_step_has_the_login_of_its_url() {
    let (server, folder) = (Redis::start(), Folder::new("redis-users"));
    for user in ["bob", "eve"] {
        server.cli(&["ACL", "SETUSER", user, "on", &format!(">of-{user}"), "~*", "+@all"]);
    }
    let mut steps = String::new();
    for (login, user) in [("bob:of-bob@", "bob"), ("eve:of-eve@", "eve"), ("", "default"), ("bob:of-bob@", "bob")] {
        let url = server.url.replace("redis://", &format!("redis://{login}"));
        writeln!(steps, "      - redis: [ACL, WHOAMI]\n        url: '{url}'").expect("room");
        writeln!(steps, "        expect: {{json: '$[0] == \"{user}\"'}}").expect("room");
    }
    let file = folder.file("users.yaml", scenario(&server.url, "{users: 2, iterations: 20}", &steps));
    for driver in DRIVERS {
        let (seen, code) = load(&["run", &file, "--driver", driver]);
        assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 80), "{driver}: {seen:#}");
    }
}

#[test]
fn each_step_has_its_version() {
    let (server, folder) = (Redis::start(), Folder::new("redis-versions"));
    let mut steps = String::new();
    for (version, check) in [(2, "$[0][0] == \"port\""), (3, "$[0].port != null"), (2, "$[0][0] == \"port\"")] {
        writeln!(steps, "      - redis: {{command: [CONFIG, GET, port], resp: {version}}}").expect("room");
        writeln!(steps, "        expect: {{json: '{check}'}}").expect("room");
    }
    let file = folder.file("versions.yaml", scenario(&server.url, "{users: 2, iterations: 20}", &steps));
    for driver in DRIVERS {
        let (seen, code) = load(&["run", &file, "--driver", driver]);
        assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 60), "{driver}: {seen:#}");
    }
}

/// A server of Redis would take the lines of such a request for commands.
#[test]
fn a_step_of_another_protocol_is_refused() {
    let folder = Folder::new("redis-other");
    for (target, step) in [("redis://127.0.0.1:1", "get: /x"), ("http://127.0.0.1:1", "redis: [PING]")] {
        let steps = format!("      - {step}\n");
        let file = folder.file("other.yaml", scenario(target, "{users: 1, iterations: 1}", &steps));
        let done = output(&["check", &file]);
        assert_eq!(done.status.code(), Some(1), "{target} {step}: {done:?}");
        assert!(text(&done.stdout).contains("other.yaml:6:"), "{target} {step}: {done:?}");
    }
}
