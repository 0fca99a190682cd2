//! What the server counts is what we count, however the load ends.

use std::process::Stdio;

use super::server::Redis;
use super::{DRIVERS, failures, load, number};
use crate::seen::wait_for;
use crate::{ChildGuard, onrush, report, signal};

/// A load that only a signal ends, and that reports every response.
const ENDLESS: [&str; 10] =
    ["-z", "1h", "-c", "10", "-t", "1h", "--grace", "1h", "--no-abort-on-failures", "--interval"];

#[test]
fn loads_by_count_are_counted_by_the_server() {
    for driver in DRIVERS {
        let server = Redis::start();
        let (url, common) = (server.url.as_str(), ["-n", "3000", "-c", "20", "--driver", driver]);
        for (command, name) in [("SET k v", "set"), ("GET k", "get"), ("INCR n", "incr"), ("get k", "get")] {
            let before = server.calls(name);
            let (seen, code) = load(&[&common[..], &["--redis-command", command, url]].concat());
            assert_eq!(code, Some(0), "{driver} {command}: {seen:#}");
            for pointer in ["/requests/started", "/requests/succeeded", "/messages/sent", "/messages/received"] {
                assert_eq!(number(&seen, pointer), 3_000, "{driver} {command} {pointer}: {seen:#}");
            }
            assert_eq!(number(&seen, "/connections/established"), 20, "{driver} {command}: {seen:#}");
            assert_eq!(server.calls(name) - before, 3_000, "{driver} {command}");
        }
        assert_eq!(server.cli(&["GET", "n"]), "3000", "{driver}");
        // At a rate, with a warm-up, and each request on a connection of its own.
        for more in [
            &["--rate", "3000", "-n", "600"][..],
            &["-n", "300", "--no-keepalive"],
            &["-n", "600", "--threads", "2", "-c", "7"],
        ] {
            let before = server.calls("ping");
            let (seen, code) = load(&[more, &["--driver", driver, "--redis-command", "PING", url]].concat());
            assert_eq!(code, Some(0), "{driver} {more:?}: {seen:#}");
            assert_eq!(server.calls("ping") - before, number(&seen, "/requests/succeeded"), "{more:?}: {seen:#}");
        }
    }
}

#[test]
fn three_workers_are_counted_by_the_server() {
    for driver in DRIVERS {
        let server = Redis::start();
        let words = ["-n", "3000", "-c", "9", "--workers", "3", "--driver", driver];
        let (seen, code) = load(&[&words[..], &["--redis-command", "INCR n", &server.url]].concat());
        assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 3_000), "{driver}: {seen:#}");
        assert_eq!(seen["statuses"], serde_json::json!({"OK": 3_000}), "{driver}: {seen:#}");
        assert_eq!(seen["workers"]["list"].as_array().map(Vec::len), Some(3), "{driver}: {seen:#}");
        assert_eq!((server.calls("incr"), server.cli(&["GET", "n"])), (3_000, "3000".to_owned()), "{driver}");
        // Statuses and failures of workers have their names.
        server.cli(&["SET", "k", "v"]);
        let words = ["-n", "300", "-c", "9", "--workers", "3", "--driver", driver];
        let (seen, code) = load(&[&words[..], &["--redis-command", "LPUSH k v", &server.url]].concat());
        assert_eq!(code, Some(1), "{driver}: {seen:#}");
        assert_eq!(seen["statuses"], serde_json::json!({"WRONGTYPE": 300}), "{driver}: {seen:#}");
        assert_eq!(server.calls("lpush"), 300, "{driver}");
    }
}

#[test]
fn a_load_that_is_interrupted_is_counted_by_the_server() {
    for (driver, workers) in [("uring", &[][..]), ("poll", &[]), ("uring", &["--workers", "3"])] {
        let server = Redis::start();
        let words = ["100ms", "--driver", driver, "-o", "json", "--redis-command", "INCR n", &server.url];
        let run = ChildGuard::start(onrush(&[&ENDLESS[..], &words, workers].concat()).stdout(Stdio::piped()));
        wait_for("a thousand commands", || server.calls("incr") >= 1_000);
        signal(&run.0, "-INT");
        let seen = report(&run.output());
        assert_eq!(seen["stopped"], true, "{driver}: {seen:#}");
        let succeeded = number(&seen, "/requests/succeeded");
        assert_eq!(number(&seen, "/requests/started"), succeeded, "{driver}: {seen:#}");
        assert_eq!(server.calls("incr"), succeeded, "{driver} {workers:?}: {seen:#}");
        assert_eq!(server.cli(&["GET", "n"]), succeeded.to_string(), "{driver} {workers:?}");
        assert_eq!(number(&seen, "/times/succeeded/response_time/count"), succeeded, "{driver}: {seen:#}");
    }
}

/// The server writes each command to its file before it responds. So what we count as succeeded is there after it was
/// killed, and all that is there was sent.
#[test]
fn what_a_killed_server_acknowledged_is_in_its_file() {
    for driver in DRIVERS {
        let mut server = Redis::with(&["--appendonly", "yes"], |_| {});
        let words = ["100ms", "--driver", driver, "-o", "json", "--redis-command", "INCR n", &server.url];
        let run = ChildGuard::start(onrush(&[&ENDLESS[..], &words].concat()).stdout(Stdio::piped()));
        wait_for("a thousand commands", || server.calls("incr") >= 1_000);
        server.kill();
        server.restart();
        // Counts of commands begin anew.
        wait_for("a thousand more", || server.calls("incr") >= 1_000);
        signal(&run.0, "-INT");
        let seen = report(&run.output());
        let executed: u64 = server.cli(&["GET", "n"]).parse().expect("a number");
        let succeeded = number(&seen, "/requests/succeeded");
        assert!(succeeded >= 2_000, "the load went on: {seen:#}");
        assert!(succeeded <= executed, "{driver}: {executed} executed: {seen:#}");
        let attempts = number(&seen, "/requests/attempts");
        assert!(executed <= attempts, "{driver}: {executed} executed: {seen:#}");
        // At most one command of each connection was executed without our seeing its reply.
        assert!(executed - succeeded <= 10, "{driver}: {executed} executed: {seen:#}");
        let [started, failed, unfinished] =
            ["started", "failed", "unfinished"].map(|name| number(&seen, &format!("/requests/{name}")));
        assert_eq!(started, succeeded + failed + unfinished, "{driver}: {seen:#}");
        // While it reads its file, it responds to each command with LOADING.
        let names = ["connect-refused", "reset", "closed-early", "status"];
        let statuses = seen["statuses"].as_object().expect("an object");
        assert!(statuses.keys().all(|name| name == "OK" || name == "LOADING"), "{driver}: {statuses:?}");
        let found = failures(&seen);
        assert!(found.iter().all(|(name, _)| names.contains(name)), "{driver}: {found:?}");
    }
}
