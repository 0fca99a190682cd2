//! The target against badly behaved clients: they leave, they half-close, they pipeline, they do not read.

#[macro_use]
extern crate claims;

#[macro_use]
mod each_driver;

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use claims::wait_for;
use driver::Kind;
use target::{Behavior, ServeOptions, Server};

fn server(kind: Kind) -> Server {
    let listen = "127.0.0.1:0".parse().expect("an address");
    Server::start(&ServeOptions::plain(listen, 1, kind)).expect("a server")
}

fn client(server: &Server) -> TcpStream {
    TcpStream::connect(server.address()).expect("a connection")
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")
}

fn post(path: &str, body_bytes: usize, close: bool) -> Vec<u8> {
    let connection = if close { "Connection: close\r\n" } else { "" };
    let mut request =
        format!("POST {path} HTTP/1.1\r\nHost: a\r\n{connection}Content-Length: {body_bytes}\r\n\r\n").into_bytes();
    request.resize(request.len() + body_bytes, b'x');
    request
}

fn who_leaves_is_forgotten(kind: Kind) {
    let server = server(kind);
    for path in ["/bytes/100000000000", "/chunked/100000000000", "/delay/600"] {
        let mut stream = client(&server);
        stream.write_all(get(path).as_bytes()).expect("it goes out");
        if path != "/delay/600" {
            stream.read_exact(&mut [0; 100_000]).expect("the beginning");
        }
    }
    wait_for("the end of all connections", || server.stats_json().contains("\"accepted\":3,\"open\":0"));
}

fn pipelined_requests_are_all_answered(kind: Kind) {
    let server = server(kind);
    let paths = ["/status/200", "/chunked/50000", "/delay/50", "/bytes/300000", "/delay/10", "/", "/"];
    let mut stream = client(&server);
    let all: String = paths.iter().map(|path| get(path)).collect();
    stream.write_all(all.as_bytes()).expect("it goes out");
    stream.write_all(b"GET /close HTTP/1.1\r\nHost: a\r\n\r\n").expect("it goes out");
    let mut responses = Vec::new();
    stream.read_to_end(&mut responses).expect("all answers");
    let heads = responses.windows(13).filter(|window| window == b"HTTP/1.1 200 ").count();
    assert_eq!(heads, paths.len() + 1);
}

/// However long the client takes: `simulated` lets it read nothing for a while.
fn who_half_closes_gets_everything(kind: Kind) {
    const BODY_BYTES: usize = 8_000_000;
    let server = server(kind);
    for close in [false, true] {
        let mut stream = client(&server);
        stream.write_all(&post("/echo", BODY_BYTES, close)).expect("it goes out");
        stream.shutdown(Shutdown::Write).expect("a half-close");
        let mut response = Vec::new();
        stream.read_to_end(&mut response).expect("the answer");
        assert!(response.len() > BODY_BYTES, "{} bytes", response.len());
    }
}

/// A counter of the server's own statistics.
fn counted(server: &Server, what: &str) -> u64 {
    let json = server.stats_json();
    let Some((_, rest)) = json.split_once(&format!("\"{what}\":")) else { return 0 };
    rest.split([',', '}']).next().and_then(|number| number.parse().ok()).expect("a number")
}

/// The server stops reading, and then sends no more, whatever it does for others meanwhile.
fn who_does_not_read_has_to_wait(kind: Kind) {
    /// Checks without further sends.
    const LOOKS: usize = 20;
    let server = server(kind);
    let (mut stream, mut other) = (client(&server), client(&server));
    stream.set_nonblocking(true).expect("a flag");
    let request = post("/echo", 100_000, false);
    let (mut written, mut blocked) = (0, 0);
    claims::as_one(|| {
        while blocked < LOOKS {
            match stream.write(&request[written % request.len()..]) {
                Ok(count) => (written, blocked) = (written + count, 0),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    assert_eq!(status_of(&mut other, "/"), "200");
                    blocked += usize::from(counted(&server, "reads_paused") > 0);
                }
                Err(error) => panic!("{error}"),
            }
            assert!(written < 100 << 20, "the server takes everything");
        }
    });
}

/// The status of a response that ends with its head or with a known body.
fn status_of(stream: &mut TcpStream, path: &str) -> String {
    stream.write_all(get(path).as_bytes()).expect("it goes out");
    let mut response = Vec::new();
    let (mut byte, mut body_bytes) = ([0], None::<(usize, usize)>);
    while body_bytes.is_none_or(|(head, body)| response.len() < head + body) {
        stream.read_exact(&mut byte).expect("an answer");
        response.push(byte[0]);
        if body_bytes.is_none() && response.ends_with(b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&response).to_lowercase();
            let length = head.split("content-length: ").nth(1).expect("a length").lines().next().expect("a line");
            body_bytes = Some((response.len(), length.trim().parse().expect("a number")));
        }
    }
    String::from_utf8_lossy(&response[9..12]).into_owned()
}

fn a_share_fails(kind: Kind) {
    let server = server(kind);
    let mut stream = client(&server);
    let failed = (0..1_000).filter(|_| status_of(&mut stream, "/fail/12.5") == "500").count();
    assert_eq!(failed, 125);
    assert_eq!(status_of(&mut stream, "/fail/0"), "200");
    assert_eq!(status_of(&mut stream, "/fail/100"), "500");
    assert_eq!(status_of(&mut stream, "/fail/101"), "400");
}

/// Requests that are due in the freeze, or arrive in it, are answered after the freeze of their thread.
fn a_freeze_stops_everybody(kind: Kind) {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let server = Server::start(&ServeOptions::plain(listen, 2, kind)).expect("a server");
    let mut streams: Vec<_> = (0..8).map(|_| client(&server)).collect();
    // From 100 ms to 1.1 s after this.
    assert_eq!(status_of(&mut streams[0], "/stall/100/1000"), "200");
    for stream in &mut streams {
        stream.write_all(get("/delay/200").as_bytes()).expect("it goes out");
    }
    for stream in &mut streams {
        stream.read_exact(&mut [0; 20]).expect("an answer");
        // Due between the beginning of the freeze and its end, if it arrived before the freeze; otherwise read after
        // it.
        assert!(counted(&server, "freezes") >= 1, "{}", server.stats_json());
    }
    wait_for("the freeze of both threads", || counted(&server, "freezes") == 2);
    assert!(counted(&server, "frozen_ns") >= 1_000_000_000, "{}", server.stats_json());
    assert_eq!(counted(&server, "frozen_ns"), server.frozen().0);
    // The response is sent first: no client waits for the freeze of the next hour.
    assert_eq!(status_of(&mut client(&server), "/stall/3600000/3600000"), "200");
    assert_eq!(status_of(&mut client(&server), "/"), "200");
}

/// However often the connections of a run request a freeze, they get one, and one that has not begun ends with them.
fn a_run_has_one_freeze(kind: Kind) {
    let server = server(kind);
    let gone = |streams: Vec<TcpStream>| {
        let open = counted(&server, "open") - streams.len() as u64;
        drop(streams);
        wait_for("the end of its connections", || counted(&server, "open") == open);
    };
    for run in 1..=3 {
        // The freeze in an hour would prevent all later ones.
        let mut never: Vec<_> = (0..2).map(|_| client(&server)).collect();
        never.iter_mut().for_each(|stream| assert_eq!(status_of(stream, "/stall/3600000/1000"), "200"));
        gone(never);
        let mut streams: Vec<_> = (0..2).map(|_| client(&server)).collect();
        for number in 0..100 {
            assert_eq!(status_of(&mut streams[number % 2], "/stall/1/1"), "200");
            if number == 0 {
                wait_for("its freeze", || counted(&server, "freezes") == run);
            }
        }
        gone(streams);
        assert_eq!(counted(&server, "freezes"), run, "{}", server.stats_json());
    }
}

/// All of them, one after the other: `simulated` tests the instants.
fn one_is_served_at_a_time(kind: Kind) {
    let server = server(kind);
    let mut streams: Vec<_> = (0..5).map(|_| client(&server)).collect();
    for stream in &mut streams {
        stream.write_all(get("/serial/30").as_bytes()).expect("it goes out");
    }
    for stream in &mut streams {
        stream.read_exact(&mut [0; 20]).expect("an answer");
    }
    let held = server.held();
    assert_eq!(held.count(), 5);
    assert!(held.min() >= Some(30_000_000), "{:?}", held.min());
    assert!(server.stats_json().contains("\"held\":{\"count\":5,"), "{}", server.stats_json());
}

/// A new connection is not read at first, once: `simulated` tests the instants. It ends with its third response.
fn a_connection_has_its_behavior(kind: Kind) {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let behavior = Behavior { accept_delay: Duration::from_millis(20), close_after: Some(3), ..Behavior::default() };
    let options = ServeOptions { behavior, ..ServeOptions::plain(listen, 1, kind) };
    let server = Server::start(&options).expect("a server");
    for number in 1..=5 {
        let mut stream = client(&server);
        assert_eq!(status_of(&mut stream, "/"), "200");
        assert_eq!(counted(&server, "accept_delays"), number, "it was delayed before it was answered");
        assert_eq!(status_of(&mut stream, "/"), "200");
        let mut last = String::new();
        stream.write_all(get("/").as_bytes()).expect("it goes out");
        stream.read_to_string(&mut last).expect("the last answer and the end");
        assert!(last.to_lowercase().contains("connection: close"), "{last}");
    }
    assert_eq!((counted(&server, "accept_delays"), counted(&server, "/")), (5, 15));
}

on_each_driver! {
    a_share_fails
    a_freeze_stops_everybody
    a_run_has_one_freeze
    one_is_served_at_a_time
    a_connection_has_its_behavior
    who_leaves_is_forgotten
    pipelined_requests_are_all_answered
    who_half_closes_gets_everything
    who_does_not_read_has_to_wait
}
