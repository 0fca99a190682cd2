//! Gates of the target over real sockets: waiting requests are counted, and answered when the gate opens. `simulated`
//! tests the instants.

#[macro_use]
extern crate claims;

#[macro_use]
mod each_driver;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::ops::ControlFlow;

use claims::wait_for;
use driver::{DriverSelection, Kind};
use engine::{RunOptions, StopHandle};
use plan::Flags;
use target::{Certificate, ServeOptions, Server};

/// Number of waiting requests, on several threads of the server.
const WAITING: usize = 24;

fn options(kind: Kind) -> ServeOptions {
    ServeOptions::plain("127.0.0.1:0".parse().expect("an address"), 3, kind)
}

fn server(kind: Kind) -> Server {
    Server::start(&options(kind)).expect("a server")
}

fn request(method: &str, path: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

fn begin(server: &Server, method: &str, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    stream.write_all(request(method, path).as_bytes()).expect("it goes out");
    stream
}

/// Status and body of a response.
fn parts(response: &str) -> (&str, &str) {
    let (head, body) = response.split_once("\r\n\r\n").expect("a head");
    (head.get(9..12).expect("a status"), body)
}

fn end(mut stream: TcpStream) -> String {
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("an answer");
    response
}

fn ask(server: &Server, method: &str, path: &str) -> (String, String) {
    let response = end(begin(server, method, path));
    let (status, body) = parts(&response);
    (status.to_owned(), body.to_owned())
}

fn said(status: &str, body: impl ToString) -> (String, String) {
    (status.to_owned(), body.to_string())
}

fn wait_until_waiting(server: &Server, gate: &str, count: u64) {
    let path = format!("/gate/{gate}/waiting");
    wait_for(&format!("{count} requests at {gate}"), || ask(server, "GET", &path) == said("200", count));
}

fn who_waits_is_answered_when_the_gate_opens(kind: Kind) {
    let server = server(kind);
    let waiting: Vec<TcpStream> = (0..WAITING).map(|_| begin(&server, "GET", "/gate/a")).collect();
    let other = begin(&server, "GET", "/gate/b");
    wait_until_waiting(&server, "a", WAITING as u64);
    wait_until_waiting(&server, "b", 1);
    assert_eq!(ask(&server, "POST", "/gate/a/open"), said("200", WAITING));
    for stream in waiting {
        assert_eq!(parts(&end(stream)), ("200", ""));
    }
    // It stays open, and the others stay closed.
    assert_eq!(ask(&server, "GET", "/gate/a"), said("200", ""));
    assert_eq!(ask(&server, "GET", "/gate/a/waiting"), said("200", 0));
    assert_eq!(ask(&server, "POST", "/gate/a/open"), said("200", 0));
    assert_eq!(ask(&server, "GET", "/gate/b/waiting"), said("200", 1));
    let stats = server.stats_json();
    assert!(stats.contains(&format!("\"/gate\":{},", WAITING + 2)), "{stats}");
    // The server stops even though a request waits.
    drop(server);
    drop(other);
}

fn a_connection_that_closes_waits_no_longer(kind: Kind) {
    let server = server(kind);
    let mut waiting: Vec<TcpStream> = (0..WAITING).map(|_| begin(&server, "GET", "/gate/a")).collect();
    wait_until_waiting(&server, "a", WAITING as u64);
    waiting.truncate(5);
    wait_until_waiting(&server, "a", 5);
    // A client that ends its side is taken to be gone, and gets no response.
    let half = waiting.pop().expect("one of five");
    half.shutdown(std::net::Shutdown::Write).expect("a half-close");
    assert_eq!(end(half), "");
    wait_until_waiting(&server, "a", 4);
    assert_eq!(ask(&server, "POST", "/gate/a/open"), said("200", 4));
    for stream in waiting {
        assert_eq!(parts(&end(stream)).0, "200");
    }
}

/// Pipelined requests after a waiting one wait too.
fn requests_behind_a_gate_follow_it(kind: Kind) {
    let server = server(kind);
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    let both = ["HEAD /gate/a HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), request("GET", "/status/202")];
    stream.write_all(both.concat().as_bytes()).expect("it goes out");
    wait_until_waiting(&server, "a", 1);
    assert_eq!(ask(&server, "POST", "/gate/a/open"), said("200", 1));
    let responses = end(stream);
    let statuses: Vec<&str> = responses.split("HTTP/1.1 ").skip(1).filter_map(|response| response.get(..3)).collect();
    assert_eq!(statuses, ["200", "202"]);
}

fn what_is_wrong_is_refused(kind: Kind) {
    let server = server(kind);
    let status = |method: &str, path: &str| ask(&server, method, path).0;
    assert_eq!(status("GET", "/gate/a/open"), "405");
    assert_eq!(status("POST", "/gate/a"), "405");
    assert_eq!(status("POST", "/gate/a/waiting"), "405");
    assert_eq!(status("GET", "/gate/a%20b"), "400");
    assert_eq!(status("GET", "/gate"), "404");
    assert_eq!(status("POST", "/gate/a/close"), "404");
    // Each open gate counts towards the limit.
    let opened = (0..).find(|number| status("POST", &format!("/gate/{number}/open")) != "200").expect("an end");
    assert_eq!(opened, 1_024);
    assert_eq!((status("GET", "/gate/new").as_str(), status("GET", "/gate/7").as_str()), ("503", "200"));
}

fn flags(address: SocketAddr, is_tls: bool, path: &str) -> Flags {
    let scheme = if is_tls { "https" } else { "http" };
    Flags { url: Some(format!("{scheme}://{address}{path}")), http2: true, insecure: is_tls, ..Flags::default() }
}

/// Waiting streams on some connections.
fn waiting_streams(address: SocketAddr, is_tls: bool) -> Flags {
    Flags {
        connections: Some("3".to_owned()),
        streams: Some("8".to_owned()),
        requests: Some(WAITING.to_string()),
        timeout: Some("1h".to_owned()),
        ..flags(address, is_tls, "/gate/a")
    }
}

/// One request that expects this body in its response.
fn expecting(address: SocketAddr, is_tls: bool, method: &str, path: &str, body: &str) -> Flags {
    Flags {
        method: Some(method.to_owned()),
        requests: Some("1".to_owned()),
        connections: Some("1".to_owned()),
        expect_body: vec![body.to_owned()],
        ..flags(address, is_tls, path)
    }
}

fn succeeded(kind: Kind, flags: &Flags, address: SocketAddr, threads: usize) -> u64 {
    let plan = flags.plan().expect("a good plan");
    let options = RunOptions {
        address,
        tls: engine::client_tls(plan.scenarios[0].target()).expect("settings"),
        others: Vec::new(),
        names: Vec::new(),
        threads,
        pins_threads: false,
        driver: DriverSelection { kind, was_requested: true, refusal: None },
        log_config: engine::RequestLogConfig::default(),
        data_sources: engine::DataSources::default(),
        backend: None,
    };
    let result = engine::run(&plan, &options, &StopHandle::default(), |_| ControlFlow::Continue(())).expect("a run");
    result.total.counts.succeeded()
}

/// Requests on HTTP/2 streams, with TLS and without.
fn streams_wait_too(kind: Kind) {
    for is_tls in [false, true] {
        let listen: SocketAddr = "127.0.0.1:0".parse().expect("an address");
        let certificate = Certificate::self_signed(listen.ip()).expect("a certificate");
        let tls = is_tls.then(|| certificate.config().expect("settings"));
        let server = Server::start(&ServeOptions { tls, ..options(kind) }).expect("a server");
        let address = server.address();
        let waiting = std::thread::spawn(move || succeeded(kind, &waiting_streams(address, is_tls), address, 2));
        let all = WAITING.to_string();
        let count = expecting(address, is_tls, "GET", "/gate/a/waiting", &all);
        wait_for("all streams wait", || succeeded(kind, &count, address, 1) == 1);
        assert_eq!(succeeded(kind, &expecting(address, is_tls, "POST", "/gate/a/open", &all), address, 1), 1);
        assert_eq!(waiting.join().expect("a run"), WAITING as u64);
        assert_eq!(succeeded(kind, &expecting(address, is_tls, "GET", "/gate/a/waiting", "0"), address, 1), 1);
    }
}

on_each_driver! {
    who_waits_is_answered_when_the_gate_opens
    a_connection_that_closes_waits_no_longer
    requests_behind_a_gate_follow_it
    what_is_wrong_is_refused
    streams_wait_too
}
