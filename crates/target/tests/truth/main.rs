//! The engine against real sockets, with the counts of the test compared with its own. `simulated` tests what depends
//! on exact times.

#[macro_use]
extern crate claims;

#[macro_use]
#[path = "../each_driver/mod.rs"]
mod each_driver;
mod closing;
mod peers;

use std::io::Write;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};

use claims::wait_for;
use driver::{DriverSelection, Kind};
use engine::{RunOptions, RunResult, StopHandle};
use metrics::{Class, Failure, Measure};
use plan::{Flags, Plan};
use target::{ServeOptions, Server};

fn text(value: impl ToString) -> Option<String> {
    Some(value.to_string())
}

fn flags(address: SocketAddr, path: &str) -> Flags {
    Flags { url: text(format!("http://{address}{path}")), user_agent: "test".to_owned(), ..Flags::default() }
}

fn plan(flags: &Flags) -> Plan {
    flags.plan().expect("a good plan")
}

fn options(kind: Kind, address: SocketAddr, threads: usize) -> RunOptions {
    let driver = DriverSelection { kind, was_requested: true, refusal: None };
    RunOptions {
        address,
        tls: None,
        others: Vec::new(),
        names: Vec::new(),
        threads,
        pins_threads: false,
        driver,
        log_config: engine::RequestLogConfig::default(),
        data_sources: engine::DataSources::default(),
        backend: None,
    }
}

fn run(kind: Kind, flags: &Flags, address: SocketAddr, threads: usize) -> RunResult {
    let stop = StopHandle::default();
    engine::run(&plan(flags), &options(kind, address, threads), &stop, |_| ControlFlow::Continue(())).expect("a run")
}

fn server(kind: Kind, threads: usize) -> Server {
    let listen = "127.0.0.1:0".parse().expect("an address");
    Server::start(&ServeOptions::plain(listen, threads, kind)).expect("a server")
}

/// Invariants of every run.
fn check_sums(result: &RunResult) {
    let counts = &result.total.counts;
    let ended = counts.succeeded() + counts.failed() + counts.dropped() + counts.unfinished();
    assert_eq!(counts.started(), ended, "every start ends once");
    let all = result.total.all();
    assert_eq!(
        all.by_measure(Measure::Response).count(),
        counts.finished(),
        "every finished exchange has a response time"
    );
    assert_eq!(result.total.class(Class::Succeeded).by_measure(Measure::Response).count(), counts.succeeded());
    assert_eq!(counts.statuses().map(|(_, count)| count).sum::<u64>(), counts.responses());
    assert!(counts.attempts() >= counts.finished());
}

fn failures(result: &RunResult) -> Vec<(Failure, u64)> {
    result.total.counts.failures().collect()
}

fn requests_are_divided_exactly(kind: Kind) {
    let server = server(kind, 2);
    for (users, requests, threads) in [(7, 200, 2), (1, 1, 2), (50, 3, 2), (3, 1000, 3), (100, 101, 2)] {
        let counted = Flags { connections: text(users), requests: text(requests), ..flags(server.address(), "/") };
        let result = run(kind, &counted, server.address(), threads);
        check_sums(&result);
        assert_eq!(result.total.counts.succeeded(), requests, "{users} users on {threads} threads");
        assert!(result.total.counts.connections_established() <= users);
    }
}

/// No request times out before it is due, as the engine itself measured.
fn a_hung_target_is_a_timeout_when_it_is_due(kind: Kind) {
    let address = peers::silent();
    let hung = Flags { connections: text(20), requests: text(60), timeout: text("200ms"), ..flags(address, "/") };
    let result = run(kind, &hung, address, 2);
    check_sums(&result);
    assert_eq!(failures(&result), [(Failure::Timeout, 60)]);
    let times = result.total.class(Class::TimedOut);
    assert_eq!((times.by_measure(Measure::Service).count(), result.total.counts.finished()), (60, 60));
    let least = times.by_measure(Measure::Service).min();
    assert!(least >= Some(200_000_000), "given up after {least:?} ns");
}

/// Timeouts are counted while the target hangs, and none before it is due: this run ends once three rounds of them were
/// observed.
fn timeouts_are_seen_while_the_target_hangs(kind: Kind) {
    let address = peers::silent();
    let hung = Flags {
        connections: text(20),
        duration: text("1h"),
        timeout: text("200ms"),
        interval: text("100ms"),
        grace: text("1h"),
        ..flags(address, "/")
    };
    let (stop, mut reported) = (StopHandle::default(), 0);
    let result = claims::as_one(|| {
        engine::run(&plan(&hung), &options(kind, address, 2), &stop, |interval| {
            reported += interval.added.counts.failed();
            assert_eq!(reported, interval.total.counts.failed());
            let rounds = interval.to.0 / 200_000_000;
            assert!(interval.is_update || reported <= 20 * rounds, "{reported} timeouts in {:?}", interval.to);
            if reported >= 60 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    })
    .expect("a run");
    check_sums(&result);
    assert!(reported >= 60 && failures(&result).iter().all(|(failure, _)| *failure == Failure::Timeout));
}

fn what_is_in_flight_at_the_end_of_the_grace_is_unfinished(kind: Kind) {
    let address = peers::silent();
    let hung = Flags {
        connections: text(8),
        duration: text("1h"),
        interval: text("100ms"),
        grace: text("200ms"),
        ..flags(address, "/")
    };
    let result = engine::run(&plan(&hung), &options(kind, address, 2), &StopHandle::default(), |interval| {
        if interval.total.counts.started() == 8 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .expect("a run");
    check_sums(&result);
    assert_eq!((result.total.counts.started(), result.total.counts.unfinished()), (8, 8));
}

/// Each connection is closed after ten responses, silently, when the eleventh request has arrived: the target read it,
/// and did not respond. Requests that may be sent only once have failed, and without retries all have.
fn a_request_that_was_taken_does_not_go_out_again(kind: Kind) {
    for (method, no_retry) in [("POST", false), ("GET", true)] {
        let address = peers::closes_after(10);
        let counted = Flags {
            method: text(method),
            no_retry,
            connections: text(4),
            requests: text(1_000),
            ..flags(address, "/")
        };
        let result = run(kind, &counted, address, 2);
        check_sums(&result);
        let counts = &result.total.counts;
        assert_eq!((counts.started(), counts.reconnects(), counts.attempts()), (1_000, 0, 1_000), "{method}");
        assert!((88..=91).contains(&counts.failed()), "{method}: {:?}", failures(&result));
        assert!(failures(&result).iter().all(|(failure, _)| matches!(failure, Failure::ClosedEarly | Failure::Reset)));
        let more = (counts.connections_established() - counts.failed()).saturating_sub(4);
        assert!((0..=1).contains(&more), "{method}: {counts:?}");
    }
}

/// The same with a request that is harmless when done twice: it is retried, and counted as begun before.
fn a_request_that_may_be_done_twice_goes_out_again(kind: Kind) {
    for method in ["GET", "DELETE"] {
        let address = peers::closes_after(10);
        let counted =
            Flags { method: text(method), connections: text(4), requests: text(1_000), ..flags(address, "/") };
        let result = run(kind, &counted, address, 2);
        check_sums(&result);
        let counts = &result.total.counts;
        assert_eq!((counts.succeeded(), counts.attempts()), (1_000, 1_000 + counts.reconnects()), "{method}");
        assert_eq!((counts.sent(), counts.begun_before()), (1_000 + counts.reconnects(), counts.reconnects()));
        assert!((96..=100).contains(&counts.reconnects()), "{method}: {} reconnects", counts.reconnects());
    }
}

/// Each connection ends with its tenth response: a request that crosses the end in transit was not read, and is
/// retried. A request that may be sent only once never meets a known end. Every request that the peer read was
/// answered.
fn a_request_that_nobody_took_goes_out_again(kind: Kind) {
    for method in ["GET", "POST"] {
        let (address, read) = peers::closes_behind(10);
        let counted =
            Flags { method: text(method), connections: text(4), requests: text(1_000), ..flags(address, "/") };
        let result = run(kind, &counted, address, 2);
        check_sums(&result);
        let counts = &result.total.counts;
        assert_eq!((counts.succeeded(), counts.failed()), (1_000, 0), "{method}: {:?}", failures(&result));
        assert_eq!(counts.attempts(), 1_000 + counts.reconnects());
        assert_eq!(read.load(Ordering::Relaxed), 1_000, "{method}");
        let expected = if method == "POST" { 0..=0 } else { 50..=100 };
        assert!(expected.contains(&counts.reconnects()), "{method}: {} reconnects", counts.reconnects());
    }
}

fn a_post_is_not_sent_twice(kind: Kind) {
    let address = peers::closes_after(10);
    let posted = Flags { method: text("POST"), connections: text(1), requests: text(110), ..flags(address, "/") };
    let result = run(kind, &posted, address, 1);
    check_sums(&result);
    let counts = &result.total.counts;
    assert_eq!((counts.succeeded(), counts.failed(), counts.reconnects(), counts.attempts()), (100, 10, 0, 110));
    assert!(failures(&result).iter().all(|(failure, _)| matches!(failure, Failure::ClosedEarly | Failure::Reset)));
}

fn hostile_responses_are_counted_and_the_run_ends(kind: Kind) {
    let cases: [(&'static [u8], &str); 6] = [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "StartLine"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "AmbiguousLength"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "ChunkSize"),
        (b"HTTP/1.1 200 OK\r\nX: \0\r\n\r\n", "Header"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort", "ClosedEarly"),
        (b"", "ClosedEarly"),
    ];
    for (response, expect) in cases {
        let address = peers::responses_and_closes(response);
        let counted = Flags { connections: text(5), requests: text(100), timeout: text("1h"), ..flags(address, "/") };
        let result = run(kind, &counted, address, 2);
        check_sums(&result);
        let failures = failures(&result);
        assert_eq!(result.total.counts.failed(), 100, "{expect}: {failures:?}");
        assert!(failures.iter().any(|(failure, _)| format!("{failure:?}").contains(expect)), "{expect}: {failures:?}");
    }
}

/// Two users upload more than the buffers of both ends take.
fn large_uploads(kind: Kind, address: SocketAddr, requests: u64, timeout: &str) -> RunResult {
    let mut file = tempfile(kind);
    file.1.write_all(&vec![b'x'; 30_000_000]).expect("a file");
    let posted = Flags {
        data: text(format!("@{}", file.0)),
        connections: text(2),
        requests: text(requests),
        timeout: text(timeout),
        ..flags(address, "/")
    };
    let result = run(kind, &posted, address, 1);
    std::fs::remove_file(file.0).expect("the file goes");
    check_sums(&result);
    result
}

fn an_early_response_ends_its_connection(kind: Kind) {
    let result = large_uploads(kind, peers::responses_early(), 10, "1h");
    // Unread bytes would precede the next request on the same connection.
    assert_eq!(result.total.counts.connections_established(), 10);
    assert_eq!(failures(&result), [(Failure::Status, 10)]);
    assert!(result.total.counts.bytes_sent() < 10 * 30_000_000, "{}", result.total.counts.bytes_sent());
}

fn a_hung_upload_counts_what_was_taken(kind: Kind) {
    let result = large_uploads(kind, peers::deaf(), 2, "300ms");
    assert_eq!(failures(&result), [(Failure::Timeout, 2)]);
    assert!(result.total.counts.bytes_sent() < 40_000_000, "{}", result.total.counts.bytes_sent());
}

/// Bytes reported as sent after a timeout are those that the peer finds in its socket, for requests and for messages.
fn what_is_called_sent_is_what_the_peer_gets(kind: Kind) {
    let mut file = tempfile(kind);
    let name = format!("{}-sent", file.0);
    std::fs::rename(&file.0, &name).expect("a name of its own");
    file.1.write_all(&vec![b'x'; 6_000_000]).expect("a file");
    for scheme in ["http", "tcp"] {
        let (address, may_read, bytes, ended) = peers::reads_late();
        let posted = Flags {
            url: text(format!("{scheme}://{address}")),
            data: text(format!("@{name}")),
            read_bytes: (scheme == "tcp").then(|| "1".to_owned()),
            connections: text(2),
            requests: text(6),
            timeout: text("300ms"),
            // Meanwhile rows are reported: a count in an earlier one is corrected in a later one.
            interval: text("100ms"),
            ..flags(address, "/")
        };
        let result = run(kind, &posted, address, 1);
        check_sums(&result);
        assert_eq!(failures(&result), [(Failure::Timeout, 6)]);
        may_read.set(()).expect("said once");
        wait_for("the end of six connections", || ended.load(Ordering::Relaxed) == 6);
        let counts = &result.total.counts;
        assert_eq!(counts.bytes_sent(), bytes.load(Ordering::Relaxed), "{scheme}");
        assert!(counts.bytes_sent() > 0 && counts.bytes_sent() < 36_000_000, "{scheme}: {}", counts.bytes_sent());
        assert_eq!(counts.messages_left(), 0, "{scheme}: none left as a whole");
    }
    std::fs::remove_file(name).expect("the file goes");
}

fn surplus_bytes_are_counted(kind: Kind) {
    let address = peers::responses(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokXX");
    let counted = Flags { connections: text(3), requests: text(60), ..flags(address, "/") };
    let result = run(kind, &counted, address, 2);
    check_sums(&result);
    assert_eq!((result.total.counts.succeeded(), result.total.counts.unsolicited()), (60, 60));
}

/// New connections that are closed without a byte may be a limit of the server; those with the beginning of a response
/// are not.
fn only_what_had_no_response_at_all_is_cut_off(kind: Kind) {
    let cases: [(&'static [u8], bool); 6] = [
        (b"", false),
        (b"HTTP/1.1 200", false),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", false),
        (b"", true),
        (b"h", true),
        (b"hello EN", true),
    ];
    for (response, is_tcp) in cases {
        let address = peers::responses_and_closes(response);
        let mut cut = Flags { connections: text(3), requests: text(30), ..flags(address, "/") };
        if is_tcp {
            (cut.url, cut.data, cut.until) = (text(format!("tcp://{address}")), text("x\r\n\r\n"), text("END"));
        }
        let result = run(kind, &cut, address, 1);
        check_sums(&result);
        assert_eq!(failures(&result), [(Failure::ClosedEarly, 30)], "{response:?}");
        let none = if response.is_empty() { 30 } else { 0 };
        assert_eq!(result.total.counts.cut_off(), none, "{response:?}, {is_tcp}");
    }
}

fn nobody_listens(kind: Kind) {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    // A run that trips the reachability guard ends early: when each of its users was refused.
    let failing = Flags { connections: text(20), duration: text("1h"), ..flags(nobody, "/") };
    let result = run(kind, &failing, nobody, 2);
    check_sums(&result);
    assert_eq!(result.total.counts.connections_established(), 0);
    // Each of them, and those that retried before all were notified.
    let failures = failures(&result);
    assert!(matches!(failures[..], [(Failure::ConnectRefused, 20..)]), "{failures:?}");
}

fn every_path_of_the_target_is_answered_as_it_says(kind: Kind) {
    let server = server(kind, 2);
    let address = server.address();
    let cases: [(&str, u64, u64, u64, f64); 7] = [
        // path, requests, status, bytes of a body, minimum seconds of a response
        ("/", 100, 200, 27, 0.0),
        ("/bytes/0", 10, 200, 0, 0.0),
        ("/bytes/3000000", 10, 200, 3_000_000, 0.0),
        ("/chunked/100000", 20, 200, 100_000, 0.0),
        ("/delay/30", 20, 200, 0, 0.030),
        ("/close", 30, 200, 4, 0.0),
        ("/status/204", 10, 204, 0, 0.0),
    ];
    for (path, requests, status, body_bytes, least) in cases {
        let counted = Flags { connections: text(5), requests: text(requests), ..flags(address, path) };
        let result = run(kind, &counted, address, 2);
        check_sums(&result);
        let counts = &result.total.counts;
        assert_eq!(counts.statuses().collect::<Vec<_>>(), [(status as u16, requests)], "{path}");
        assert_eq!((counts.succeeded(), counts.body_bytes()), (requests, requests * body_bytes), "{path}");
        let times = result.total.class(Class::Succeeded);
        let min = times.by_measure(Measure::Service).min().expect("some");
        assert!(min as f64 >= least * 1e9, "{path}: {min} ns");
    }
    let dropped = run(kind, &Flags { connections: text(2), requests: text(10), ..flags(address, "/drop") }, address, 1);
    assert_eq!(failures(&dropped), [(Failure::ClosedEarly, 10)]);
    let failed = run(kind, &Flags { requests: text(441), ..flags(address, "/status/429") }, address, 2);
    assert_eq!((failures(&failed), failed.total.counts.succeeded()), (vec![(Failure::Status, 441)], 0));
    let stats = server.stats_json();
    assert!(
        stats.contains("\"429\":441") && stats.contains("\"/drop\":10") && stats.contains("\"/chunked\":20"),
        "{stats}"
    );
}

fn bodies_go_out_and_are_checked(kind: Kind) {
    let server = server(kind, 1);
    let address = server.address();
    let body = "压测 ".repeat(200_000);
    let mut file = tempfile(kind);
    file.1.write_all(body.as_bytes()).expect("a file");
    let posted = Flags {
        data: text(format!("@{}", file.0)),
        connections: text(3),
        requests: text(30),
        expect_body: vec!["测 压".to_owned()],
        ..flags(address, "/echo")
    };
    let result = run(kind, &posted, address, 2);
    check_sums(&result);
    assert_eq!((result.total.counts.succeeded(), result.total.counts.body_bytes()), (30, 30 * body.len() as u64));
    let missed =
        run(kind, &Flags { expect_body: vec!["not there".to_owned()], requests: text(30), ..posted }, address, 2);
    assert_eq!(failures(&missed), [(Failure::Check, 30)]);
    std::fs::remove_file(file.0).expect("the file goes");
}

fn tempfile(kind: Kind) -> (String, std::fs::File) {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("onrush-body-{}-{}-{number}", std::process::id(), kind.name()));
    let file = std::fs::File::create(&path).expect("a file");
    (path.display().to_string(), file)
}

fn a_stop_keeps_what_was_measured(kind: Kind) {
    let server = server(kind, 1);
    let address = server.address();
    let stop = StopHandle::default();
    let handle = stop.clone();
    let long = Flags { connections: text(10), duration: text("1h"), interval: text("100ms"), ..flags(address, "/") };
    let mut intervals = 0;
    let result = claims::as_one(|| {
        engine::run(&plan(&long), &options(kind, address, 2), &stop, |interval| {
            intervals += 1;
            assert!(interval.to > interval.from);
            if intervals == 3 {
                handle.stop();
            }
            ControlFlow::Continue(())
        })
    })
    .expect("a run");
    check_sums(&result);
    assert!(result.was_stopped && result.total.counts.succeeded() > 0);
    assert_eq!(result.total.counts.unfinished(), 0, "the grace is long enough for what is in flight");
}

on_each_driver! {
    requests_are_divided_exactly
    a_hung_target_is_a_timeout_when_it_is_due
    timeouts_are_seen_while_the_target_hangs
    what_is_in_flight_at_the_end_of_the_grace_is_unfinished
    a_request_that_was_taken_does_not_go_out_again
    a_request_that_may_be_done_twice_goes_out_again
    a_request_that_nobody_took_goes_out_again
    a_post_is_not_sent_twice
    hostile_responses_are_counted_and_the_run_ends
    nobody_listens
    only_what_had_no_response_at_all_is_cut_off
    an_early_response_ends_its_connection
    a_hung_upload_counts_what_was_taken
    what_is_called_sent_is_what_the_peer_gets
    surplus_bytes_are_counted
    every_path_of_the_target_is_answered_as_it_says
    bodies_go_out_and_are_checked
    a_stop_keeps_what_was_measured
}
