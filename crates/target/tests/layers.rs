//! The engine and the target over TLS and HTTP/2, on both drivers: their counts agree.

#[macro_use]
extern crate claims;

#[macro_use]
mod each_driver;

use std::net::SocketAddr;
use std::ops::ControlFlow;

use driver::{DriverSelection, Kind};
use engine::{RunOptions, RunResult, StopHandle};
use metrics::{Class, Failure, Measure};
use plan::Flags;
use target::{Behavior, Certificate, ServeOptions, Server};

fn text(value: impl ToString) -> Option<String> {
    Some(value.to_string())
}

fn server(kind: Kind, is_tls: bool, behavior: Behavior) -> Server {
    let listen: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    let tls = is_tls.then(|| {
        let certificate = Certificate::self_signed(listen.ip()).expect("a certificate");
        certificate.config().expect("settings")
    });
    Server::start(&ServeOptions { behavior, tls, ..ServeOptions::plain(listen, 1, kind) }).expect("a server")
}

fn run(kind: Kind, flags: &Flags, server: &Server) -> RunResult {
    let plan = flags.plan().expect("a good plan");
    let tls = engine::client_tls(plan.scenarios[0].target()).expect("settings");
    let driver = DriverSelection { kind, was_requested: true, refusal: None };
    let options = RunOptions {
        address: server.address(),
        tls,
        others: Vec::new(),
        names: Vec::new(),
        threads: 2,
        pins_threads: false,
        driver,
        log_config: engine::RequestLogConfig::default(),
        data_sources: engine::DataSources::default(),
        backend: None,
    };
    let result = engine::run(&plan, &options, &StopHandle::default(), |_| ControlFlow::Continue(())).expect("a run");
    let counts = &result.total.counts;
    let ended = counts.succeeded() + counts.failed() + counts.dropped() + counts.unfinished();
    assert_eq!(counts.started(), ended, "every start ends once");
    assert_eq!(result.total.all().by_measure(Measure::Response).count(), counts.finished());
    assert_eq!(counts.statuses().map(|(_, count)| count).sum::<u64>(), counts.responses());
    result
}

/// Requests of a path, as the server counted them.
fn served(server: &Server, path: &str) -> u64 {
    let json = server.stats_json();
    let Some((_, rest)) = json.split_once(&format!("\"{path}\":")) else { return 0 };
    rest.split([',', '}']).next().and_then(|number| number.parse().ok()).expect("a number")
}

fn flags(server: &Server, is_tls: bool, path: &str) -> Flags {
    let scheme = if is_tls { "https" } else { "http" };
    Flags {
        url: text(format!("{scheme}://{}{path}", server.address())),
        user_agent: "test".to_owned(),
        insecure: is_tls,
        ..Flags::default()
    }
}

/// Combinations: with TLS or not, HTTP/2 or not, number of streams.
const WAYS: [(bool, bool, u32); 5] =
    [(true, false, 1), (true, true, 1), (true, true, 7), (false, true, 1), (false, true, 7)];

fn way((is_tls, http2, streams): (bool, bool, u32)) -> String {
    format!("TLS {is_tls}, HTTP/2 {http2}, {streams} streams")
}

/// `requests` requests of a path on a few connections.
fn some(server: &Server, (is_tls, http2, streams): (bool, bool, u32), path: &str, requests: u64) -> Flags {
    Flags {
        connections: text(5),
        requests: text(requests),
        http2,
        http11: !http2,
        streams: (streams > 1).then(|| streams.to_string()),
        ..flags(server, is_tls, path)
    }
}

fn counts_agree(kind: Kind) {
    for each in WAYS {
        let (server, way) = (server(kind, each.0, Behavior::default()), way(each));
        let some = |path: &str, requests: u64| some(&server, each, path, requests);
        let result = run(kind, &some("/", 1_003), &server);
        assert_eq!(result.total.counts.succeeded(), 1_003, "{way}");
        assert_eq!(served(&server, "/"), 1_003, "{way}");
        assert_eq!(result.total.counts.connections_established(), 5, "{way}");
        assert_eq!(result.total.tls.count(), if each.0 { 5 } else { 0 }, "{way}");
        assert_eq!(result.total.counts.body_bytes(), 27 * 1_003, "{way}");
        let result = run(kind, &some("/bytes/300000", 40), &server);
        assert_eq!((result.total.counts.succeeded(), result.total.counts.body_bytes()), (40, 40 * 300_000), "{way}");
        let result = run(kind, &some("/drip/3/5", 20), &server);
        assert_eq!((result.total.counts.succeeded(), result.total.counts.body_bytes()), (20, 20 * 192), "{way}");
        let up = Flags { data: text("x".repeat(200_000)), ..some("/echo", 30) };
        let result = run(kind, &up, &server);
        assert_eq!((result.total.counts.succeeded(), result.total.counts.body_bytes()), (30, 30 * 200_000), "{way}");
        assert!(result.total.counts.bytes_sent() > 30 * 200_000, "{way}");
        let wrong = Flags { expect_body: vec!["no such text".to_owned()], ..some("/", 10) };
        assert_eq!(run(kind, &wrong, &server).total.counts.failures().collect::<Vec<_>>(), [(Failure::Check, 10)]);
        let open = Flags { rate: text(500), duration: text("400ms"), requests: None, ..some("/", 1) };
        assert_eq!(run(kind, &open, &server).total.counts.succeeded(), 200, "{way}");
    }
}

/// The server ends its connections repeatedly: no request is lost, and none is done twice.
fn a_server_that_says_goodbye_is_requested_again(kind: Kind) {
    for each in WAYS {
        let behavior = Behavior { close_after: Some(50), ..Behavior::default() };
        let server = server(kind, each.0, behavior);
        let result = run(kind, &some(&server, each, "/", 2_000), &server);
        let (counts, way) = (&result.total.counts, way(each));
        assert_eq!(counts.succeeded(), 2_000, "{way}: {:?}", counts.failures().collect::<Vec<_>>());
        assert_eq!(served(&server, "/"), 2_000, "{way}");
        assert!(counts.connections_established() >= 40, "{way}");
    }
}

/// A response that takes too long costs its stream, not the connection and the other streams. A request that the target
/// reads and drops is retried where that does no harm, over TLS and on streams as without; it is dropped again, on a
/// connection that has carried nothing, and then it has failed.
fn a_request_that_was_dropped_goes_out_once_more(kind: Kind) {
    for (is_tls, http2) in [(true, false), (true, true), (false, true)] {
        for (method, no_retry, again) in [("GET", false, 5), ("PUT", false, 5), ("POST", false, 0), ("GET", true, 0)] {
            let server = server(kind, is_tls, Behavior::default());
            let scheme = if is_tls { "https" } else { "http" };
            let url = |path| format!("{scheme}://{}{path}", server.address());
            let words = ["-k".to_owned(), "-X".to_owned(), method.to_owned(), url("/"), url("/drop")];
            let load = Flags {
                url: None,
                curl: Some(words.map(String::into_bytes).to_vec()),
                insecure: false,
                connections: text(1),
                requests: text(5),
                no_retry,
                http2,
                ..flags(&server, is_tls, "/")
            };
            let result = run(kind, &load, &server);
            let counts = &result.total.counts;
            let name = format!("{}: {method}, no retry: {no_retry}", way((is_tls, http2, 1)));
            assert_eq!((counts.started(), counts.succeeded(), counts.failed()), (10, 5, 5), "{name}");
            assert_eq!((counts.reconnects(), counts.begun_before()), (again, again), "{name}");
            assert_eq!((counts.attempts(), counts.sent()), (10 + again, 10 + again), "{name}");
            assert_eq!(served(&server, "/drop"), 5 + again, "{name}");
        }
    }
}

/// Bodies that leave behind their heads, piece by piece through TLS, come back as they were.
fn large_bodies_arrive_whole(kind: Kind) {
    let body: String = (0..60_000).map(|number| format!("{number:06} ")).collect();
    for header in ["X-Plain: 1", "Transfer-Encoding: chunked", "Expect: 100-continue"] {
        for (is_tls, http2, streams) in WAYS.into_iter().chain([(false, false, 1)]) {
            let server = server(kind, is_tls, Behavior::default());
            let scheme = if is_tls { "https" } else { "http" };
            let url = format!("{scheme}://{}/echo", server.address());
            let words = ["-k", "-H", header, "--data-binary", &body, &url];
            let load = Flags {
                url: None,
                insecure: false,
                curl: Some(words.map(|word| word.as_bytes().to_vec()).to_vec()),
                expect_body: vec![body.clone()],
                ..some(&server, (is_tls, http2, streams), "/echo", 12)
            };
            let result = run(kind, &load, &server);
            let counts = &result.total.counts;
            let name = format!("{}: {header}", way((is_tls, http2, streams)));
            assert_eq!((counts.succeeded(), served(&server, "/echo")), (12, 12), "{name}");
            assert!(counts.bytes_sent() > 12 * body.len() as u64, "{name}: {}", counts.bytes_sent());
            assert_eq!(counts.body_bytes(), 12 * body.len() as u64, "{name}");
        }
    }
}

fn a_timeout_costs_its_stream_only(kind: Kind) {
    for is_tls in [false, true] {
        let server = server(kind, is_tls, Behavior::default());
        let slow = Flags {
            connections: text(2),
            timeout: text("100ms"),
            ..some(&server, (is_tls, true, 5), "/delay/uniform/0-250", 40)
        };
        let result = run(kind, &slow, &server);
        let counts = &result.total.counts;
        assert_eq!(counts.succeeded() + counts.failed(), 40);
        assert!(counts.succeeded() > 0 && counts.failed() > 0, "{} and {}", counts.succeeded(), counts.failed());
        assert!(counts.failures().all(|(failure, _)| failure == Failure::Timeout));
        assert_eq!(counts.connections_established(), 2, "both connections stay");
        let times = result.total.class(Class::TimedOut);
        let least = times.by_measure(Measure::Service).min().unwrap_or(0);
        assert!(least >= 100_000_000, "given up after {least} ns");
    }
}

/// Without reuse each exchange makes a connection of its own, and resumes the session of an earlier one.
fn connections_for_one_exchange(kind: Kind) {
    for http2 in [false, true] {
        let server = server(kind, true, Behavior::default());
        let short = Flags { no_keepalive: true, ..some(&server, (true, http2, 1), "/", 200) };
        let result = run(kind, &short, &server);
        let counts = &result.total.counts;
        let failures: Vec<_> = counts.failures().collect();
        let seen = (counts.succeeded(), counts.connections_established());
        assert_eq!(seen, (200, 200), "HTTP/2 {http2}: {failures:?}, {} unfinished", counts.unfinished());
        assert!(counts.tls_resumed() > 150, "{} resumed", counts.tls_resumed());
        // If small pieces were held back until the peer has acknowledged the previous ones, each exchange would wait
        // for the kernel of the peer, which acknowledges after 40 ms.
        let least = result.total.class(Class::Succeeded).by_measure(Measure::Service).min();
        assert!(least < Some(40_000_000), "each request waits {least:?} ns: small pieces are held back");
    }
}

on_each_driver! {
    counts_agree
    a_server_that_says_goodbye_is_requested_again
    a_request_that_was_dropped_goes_out_once_more
    large_bodies_arrive_whole
    a_timeout_costs_its_stream_only
    connections_for_one_exchange
}
