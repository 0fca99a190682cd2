//! Limits of kept connections, against servers that count: nothing fails, and the books of both sides agree.

use serde_json::Value;

use crate::nginx::Nginx;
use crate::seen::stats;
use crate::usage::check;
use crate::{Served, output, report};

fn number(report: &Value, path: &str) -> u64 {
    report.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {path}: {report:#}"))
}

/// 2,000 requests over 10 connections at a time, each with at most 20: 100 of them or a few more, as the target counts.
#[test]
fn connections_end_after_their_requests() {
    let (plain, secure) = (Served::with(&[]), Served::with(&["--tls"]));
    for (served, more) in [
        (&plain, &["--http1.1"][..]),
        (&plain, &["--http2", "--streams", "4"]),
        (&secure, &["-k", "--http1.1"]),
        (&secure, &["-k", "--http2", "--streams", "4"]),
    ] {
        for driver in ["uring", "poll"] {
            let accepted = || stats(&plain)["connections"]["accepted"].as_u64().expect("a count");
            let before = accepted();
            let url = served.url("/bytes/100");
            let words =
                ["-c", "10", "-n", "2000", "--connection-requests", "20", "--driver", driver, "-o", "json", &url];
            let seen = report(&output(&[&words[..], more].concat()));
            assert_eq!(number(&seen, "/requests/succeeded"), 2_000, "{seen:#}");
            assert_eq!((number(&seen, "/requests/failed"), number(&seen, "/requests/reconnects")), (0, 0));
            let (established, retired) =
                (number(&seen, "/connections/established"), number(&seen, "/connections/retired"));
            assert!((100..=100 + 22).contains(&established), "{more:?} {driver}: {established} connections");
            assert!((established - 10..=established).contains(&retired), "{more:?} {driver}: {retired}");
            if served.url("/").starts_with("http:") {
                // Each question is a connection of its own.
                assert_eq!(accepted() - before, established + 1, "{more:?} {driver}");
            }
        }
    }
}

/// nginx gets each request once, over connections that end at once, by number and by age.
#[test]
fn nginx_gets_each_request_once() {
    for (listens, version) in [("", "--http1.1"), ("http2", "--http2")] {
        let nginx = Nginx::with(listens, "", |_| {});
        let url = format!("{}/", nginx.url);
        for limit in [["--connection-requests", "7"], ["--connection-age", "10ms"], ["--keepalive-idle", "10ms"]] {
            let words = ["-c", "20", "-n", "3000", version, limit[0], limit[1], "-o", "json", &url];
            let seen = report(&output(&words));
            assert_eq!(
                (number(&seen, "/requests/succeeded"), number(&seen, "/requests/failed")),
                (3_000, 0),
                "{seen:#}"
            );
        }
        assert_eq!(nginx.stop().lines, 9_000);
    }
}

#[test]
fn limits_are_refused_where_nothing_is_kept() {
    let served = Served::start();
    let (url, ws) = (served.url("/"), served.url("/ws/echo").replace("http:", "ws:"));
    for (words, says) in [
        (&["--connection-age", "5ms", &url][..], "--connection-age wants at least 10ms, not '5ms'"),
        (&["--connection-requests", "0", &url], "--connection-requests"),
        (&["--no-keepalive", "--connection-requests", "5", &url], "a limit is of connections that are kept"),
        (&["--keepalive-idle", "1s", &ws], "--keepalive-idle and ws:// cannot be given together"),
    ] {
        check(&output(&[&["-n", "1"][..], words].concat()), 2, says);
    }
    check(&output(&["hold", "-c", "1", "--connection-age", "1s", &ws]), 2, "--connection-age");
}
