//! What the name server counts is what we count, however the load ends.

use std::process::Stdio;

use serde_json::Value;

use super::server::{KINDS, Kind, NameServer};
use crate::datagrams::datagrams;
use crate::loads::{DRIVERS, failures, load, number};
use crate::paged::Paged;
use crate::seen::wait_for;
use crate::{ChildGuard, all_of, onrush, report, side_by_side, signal};

/// A load that only a signal ends.
const ENDLESS: [&str; 8] = ["-z", "1h", "-c", "10", "--grace", "1h", "--no-abort-on-failures", "-ojson"];

/// Whether all was sent once, and has its response.
#[track_caller]
fn is_whole(seen: &Value, what: &str) -> u64 {
    let succeeded = number(seen, "/requests/succeeded");
    for pointer in [
        "/requests/started",
        "/requests/sent",
        "/requests/responses",
        "/messages/sent",
        "/messages/received",
        "/times/succeeded/response_time/count",
    ] {
        assert_eq!(number(seen, pointer), succeeded, "{what} {pointer}: {seen:#}");
    }
    assert_eq!(datagrams(seen), [], "{what}: {seen:#}");
    assert_eq!(seen["statuses"], serde_json::json!({"NOERROR": succeeded}), "{what}: {seen:#}");
    succeeded
}

#[test]
fn loads_by_count_are_counted_by_the_server() {
    for kind in KINDS {
        let server = NameServer::start(kind);
        for (driver, rest, stat) in [
            ("uring", "www.shop.test", "num.type.A"),
            ("poll", "www.shop.test?type=AAAA", "num.type.AAAA"),
            ("uring", "shop.test?type=SOA", "num.type.SOA"),
            ("poll", "shop.test?type=TYPE6", "num.type.SOA"),
        ] {
            let stat = if kind == Kind::Nsd { stat } else { &stat.replace("num.", "num.query.") };
            let (before, of_type) = (server.queries(), server.stat(stat));
            let words = ["-n", "2000", "-c", "20", "-t", "1h", "--driver", driver, &server.url(rest)];
            let (seen, code) = load(&words);
            let what = format!("{kind:?} {driver} {rest}");
            assert_eq!((code, is_whole(&seen, &what)), (Some(0), 2_000), "{what}: {seen:#}");
            assert_eq!(server.queries() - before, 2_000, "{what}");
            assert_eq!(server.stat(stat) - of_type, 2_000, "{what}");
            assert_eq!(number(&seen, "/connections/established"), 20, "{what}: {seen:#}");
        }
        assert_eq!(server.over_tcp(), 0, "{kind:?}");
    }
}

#[test]
fn loads_by_rate_threads_and_time_are_counted_by_the_server() {
    for kind in KINDS {
        let server = NameServer::start(kind);
        let url = server.url("www.shop.test");
        for (at, more) in [
            &["--rate", "3000", "-n", "600"][..],
            &["-n", "600", "--threads", "2", "-c", "7"],
            &["-n", "300", "-c", "7", "--no-keepalive"],
            &["-z", "1s", "-c", "5", "--grace", "1h"],
            &["-z", "200ms", "-c", "5", "--rate", "1000", "--grace", "1h"],
        ]
        .into_iter()
        .enumerate()
        {
            let driver = DRIVERS[(at + usize::from(kind == Kind::Nsd)) % 2];
            let before = server.queries();
            let (seen, code) = load(&[more, &["-t", "1h", "--driver", driver, &url]].concat());
            assert_eq!(code, Some(0), "{driver} {more:?}: {seen:#}");
            let succeeded = is_whole(&seen, &format!("{driver} {more:?}"));
            assert_eq!(server.queries() - before, succeeded, "{kind:?} {driver} {more:?}: {seen:#}");
        }
    }
}

#[test]
fn queries_over_tcp_are_counted_by_the_server() {
    for kind in KINDS {
        let server = NameServer::start(kind);
        let url = server.url("www.shop.test").replace("dns://", "dns+tcp://");
        for driver in DRIVERS {
            let before = server.queries();
            let (seen, code) = load(&["-n", "600", "-c", "6", "-t", "1h", "--driver", driver, &url]);
            let succeeded = number(&seen, "/requests/succeeded");
            assert_eq!((code, succeeded), (Some(0), 600), "{kind:?} {driver}: {seen:#}");
            assert_eq!(server.queries() - before, 600, "{kind:?} {driver}: {seen:#}");
            assert_eq!(number(&seen, "/messages/received"), 600, "{kind:?} {driver}: {seen:#}");
        }
        assert_eq!(server.over_tcp(), 1_200, "{kind:?}");
    }
}

#[test]
fn three_workers_are_counted_by_the_server() {
    let servers = KINDS.map(NameServer::start);
    let loads = [("uring", &["-n", "3000"][..]), ("poll", &["-n", "3000", "--rate", "6000"])];
    for (server, (driver, more)) in servers.iter().zip(loads) {
        let url = server.url("www.shop.test");
        let words = ["-c", "9", "-t", "1h", "--workers", "3", "--driver", driver, &url];
        let (seen, code) = load(&[more, &words].concat());
        assert_eq!((code, is_whole(&seen, driver)), (Some(0), 3_000), "{driver}: {seen:#}");
        assert_eq!(seen["workers"]["list"].as_array().map(Vec::len), Some(3), "{driver}: {seen:#}");
        assert_eq!(server.queries(), 3_000, "{driver}");
    }
    // Statuses of workers have their names, and their counts of datagrams are added.
    let (words, none) = (["-n", "300", "-c", "9", "-t", "1h", "--workers", "3"], servers[0].url("none.shop.test"));
    let (seen, code) = load(&[&words[..], &[&servers[0].url("large.shop.test?type=TXT")]].concat());
    assert_eq!((code, datagrams(&seen)), (Some(0), vec![("over_tcp", 300)]), "{seen:#}");
    assert_eq!(servers[0].over_tcp(), 300);
    let (seen, code) = load(&[&words[..], &["--expect-status", "NXDOMAIN", &none]].concat());
    assert_eq!((code, &seen["statuses"]), (Some(0), &serde_json::json!({"NXDOMAIN": 300})), "{seen:#}");
}

#[test]
fn a_load_that_is_interrupted_is_counted_by_the_server() {
    for (kind, driver, workers) in [
        (Kind::Nsd, "uring", &[][..]),
        (Kind::Nsd, "poll", &["--workers", "3"]),
        (Kind::Unbound, "uring", &[]),
        (Kind::Unbound, "poll", &[]),
    ] {
        let server = NameServer::start(kind);
        let url = server.url("www.shop.test");
        let words = [&ENDLESS[..], &["-t", "1h", "--driver", driver, &url], workers].concat();
        let run = ChildGuard::start(onrush(&words).stdout(Stdio::piped()).stderr(Stdio::null()));
        wait_for("a thousand questions", || server.queries() >= 1_000);
        signal(&run.0, "-INT");
        let seen = report(&run.output());
        assert_eq!(seen["stopped"], true, "{driver}: {seen:#}");
        let succeeded = is_whole(&seen, driver);
        assert_eq!(server.queries(), succeeded, "{kind:?} {driver} {workers:?}: {seen:#}");
    }
}

/// The requests of a run in progress that were refused.
fn refused(paged: &Paged) -> u64 {
    let run = paged.get("/api/run");
    let failures = run["live"]["failures"].as_array().cloned().unwrap_or_default();
    let of = |one: &Value| one["reason"] == "connect-refused";
    failures.iter().filter(|one| of(one)).filter_map(|one| one["count"].as_u64()).sum()
}

/// Ends a run, and returns its report.
fn interrupted(mut paged: Paged) -> Value {
    signal(&paged.child, "-INT");
    let bytes = all_of(paged.child.stdout.take());
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes)))
}

/// While nothing listens, each query is refused; the load goes on when the server is there again.
#[test]
fn a_server_that_ends_and_comes_back_is_loaded_again() {
    side_by_side(&DRIVERS, |driver| {
        let mut server = NameServer::start(Kind::Unbound);
        let url = server.url("www.shop.test");
        let words = ["--web", "-t", "2s", "--dns-resend", "50ms", "--driver", driver, &url];
        let paged = Paged::start(&[&ENDLESS[..], &words].concat());
        wait_for("a thousand questions", || server.queries() >= 1_000);
        server.end();
        wait_for("queries are refused", || refused(&paged) >= 100);
        server.restart();
        // Its counts begin anew.
        wait_for("a thousand more", || server.queries() >= 1_000);
        let seen = interrupted(paged);
        let counted = server.queries() + server.logged().iter().sum::<u64>();
        let [started, succeeded, failed, sent] =
            ["started", "succeeded", "failed", "sent"].map(|name| number(&seen, &format!("/requests/{name}")));
        let [resent, refused] = ["resent", "refused"].map(|name| number(&seen, &format!("/datagrams/{name}")));
        assert_eq!(started, succeeded + failed, "{driver}: {seen:#}");
        assert!((2_000..=counted).contains(&succeeded), "{driver}: {counted} counted: {seen:#}");
        assert!(counted <= sent + resent, "{driver}: {counted} counted: {seen:#}");
        let found = failures(&seen);
        let of = |name: &str| found.iter().filter(|(known, _)| *known == name).map(|(_, count)| count).sum::<u64>();
        assert_eq!(of("connect-refused") + of("timeout"), failed, "{driver}: {found:?}");
        // What is refused while no exchange waits on its socket has no failure.
        assert!((100..=refused).contains(&of("connect-refused")), "{driver}: {seen:#}");
        // Each query that the server did not count was refused, or lost with the server's queue: at most one of each
        // user, sent three times.
        assert!(sent + resent - counted <= refused + 30, "{driver}: {counted} counted: {seen:#}");
    });
}
