//! The target against clients that are rude: they leave, they half-close, they pipeline, they do not read.

#[macro_use]
mod each_driver;

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use driver::Kind;
use target::{Behavior, ServeOptions, Server};

/// A machine is not away for so long.
const PATIENCE: Duration = Duration::from_secs(20);

fn server(kind: Kind) -> Server {
    let listen = "127.0.0.1:0".parse().expect("an address");
    Server::start(&ServeOptions::plain(listen, 1, kind)).expect("a server")
}

fn client(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a flag");
    stream
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
    let give_up = Instant::now() + Duration::from_secs(8);
    while !server.stats_json().contains("\"open\":0") {
        assert!(Instant::now() < give_up, "{}", server.stats_json());
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn pipelined_requests_are_all_answered(kind: Kind) {
    let server = server(kind);
    let paths = ["/status/200", "/chunked/50000", "/delay/50", "/bytes/300000", "/delay/10", "/", "/"];
    let mut stream = client(&server);
    let all: String = paths.iter().map(|path| get(path)).collect();
    stream.write_all(all.as_bytes()).expect("it goes out");
    stream.write_all(b"GET /close HTTP/1.1\r\nHost: a\r\n\r\n").expect("it goes out");
    let mut answers = Vec::new();
    stream.read_to_end(&mut answers).expect("all answers");
    let heads = answers.windows(13).filter(|window| window == b"HTTP/1.1 200 ").count();
    assert_eq!(heads, paths.len() + 1);
}

fn who_half_closes_gets_everything(kind: Kind) {
    const BODY_BYTES: usize = 8_000_000;
    let server = server(kind);
    for close in [false, true] {
        let mut stream = client(&server);
        stream.write_all(&post("/echo", BODY_BYTES, close)).expect("it goes out");
        stream.shutdown(Shutdown::Write).expect("a half-close");
        if close {
            // Longer than the server waits for the end of a connection that it has finished.
            std::thread::sleep(Duration::from_millis(1_500));
        }
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).expect("the answer");
        assert!(answer.len() > BODY_BYTES, "{} bytes", answer.len());
    }
}

fn who_does_not_read_has_to_wait(kind: Kind) {
    let server = server(kind);
    let mut stream = client(&server);
    stream.set_nonblocking(true).expect("a flag");
    let request = post("/echo", 100_000, false);
    let (mut written, mut blocked_since) = (0, None);
    loop {
        match stream.write(&request[written % request.len()..]) {
            Ok(count) => (written, blocked_since) = (written + count, None),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let since = *blocked_since.get_or_insert_with(Instant::now);
                if since.elapsed() > Duration::from_millis(500) {
                    return;
                }
                std::thread::yield_now();
            }
            Err(error) => panic!("{error}"),
        }
        assert!(written < 100 << 20, "the server takes everything");
    }
}

/// The status of an answer, which ends with its head or with a body that is known.
fn status_of(stream: &mut TcpStream, path: &str) -> String {
    stream.write_all(get(path).as_bytes()).expect("it goes out");
    let mut answer = Vec::new();
    let (mut byte, mut body_bytes) = ([0], None::<(usize, usize)>);
    while body_bytes.is_none_or(|(head, body)| answer.len() < head + body) {
        stream.read_exact(&mut byte).expect("an answer");
        answer.push(byte[0]);
        if body_bytes.is_none() && answer.ends_with(b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&answer).to_lowercase();
            let length = head.split("content-length: ").nth(1).expect("a length").lines().next().expect("a line");
            body_bytes = Some((answer.len(), length.trim().parse().expect("a number")));
        }
    }
    String::from_utf8_lossy(&answer[9..12]).into_owned()
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

fn a_freeze_stops_everybody(kind: Kind) {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let server = Server::start(&ServeOptions::plain(listen, 2, kind)).expect("a server");
    let mut streams: Vec<_> = (0..8).map(|_| client(&server)).collect();
    let begun = Instant::now();
    assert_eq!(status_of(&mut streams[0], "/stall/200/500"), "200");
    assert!(begun.elapsed() < Duration::from_millis(690), "the freeze comes later");
    std::thread::sleep(Duration::from_millis(250).saturating_sub(begun.elapsed()));
    for stream in &mut streams {
        stream.write_all(get("/").as_bytes()).expect("it goes out");
    }
    for stream in &mut streams {
        stream.read_exact(&mut [0; 20]).expect("an answer");
        let after = begun.elapsed();
        assert!(after >= Duration::from_millis(690) && after < PATIENCE, "{after:?}");
    }
    let frozen = server.frozen().as_duration();
    assert!(frozen >= Duration::from_millis(500) && frozen < PATIENCE, "{frozen:?}");
    assert!(server.stats_json().contains("\"frozen_ns\":"), "{}", server.stats_json());
}

fn one_is_served_at_a_time(kind: Kind) {
    let server = server(kind);
    let mut streams: Vec<_> = (0..5).map(|_| client(&server)).collect();
    let begun = Instant::now();
    for stream in &mut streams {
        stream.write_all(get("/serial/30").as_bytes()).expect("it goes out");
    }
    for stream in &mut streams {
        stream.read_exact(&mut [0; 20]).expect("an answer");
    }
    assert!(begun.elapsed() >= Duration::from_millis(150), "{:?}", begun.elapsed());
    let held = server.held();
    assert_eq!(held.count(), 5);
    assert!(held.max() >= Some(145_000_000), "{:?}", held.max());
    assert!(server.stats_json().contains("\"held\":{\"count\":5,"), "{}", server.stats_json());
}

fn a_connection_has_its_behavior(kind: Kind) {
    let listen = "127.0.0.1:0".parse().expect("an address");
    let behavior = Behavior { accept_delay: Duration::from_millis(200), close_after: Some(3), ..Behavior::default() };
    let options = ServeOptions { behavior, ..ServeOptions::plain(listen, 1, kind) };
    let server = Server::start(&options).expect("a server");
    let second = |_| {
        let mut stream = client(&server);
        let begun = Instant::now();
        assert_eq!(status_of(&mut stream, "/"), "200");
        assert!(begun.elapsed() >= Duration::from_millis(195), "{:?}", begun.elapsed());
        let begun = Instant::now();
        assert_eq!(status_of(&mut stream, "/"), "200");
        let took = begun.elapsed();
        let mut last = String::new();
        stream.write_all(get("/").as_bytes()).expect("it goes out");
        stream.read_to_string(&mut last).expect("the last answer and the end");
        assert!(last.to_lowercase().contains("connection: close"), "{last}");
        took
    };
    // Each would have to wait; that of a machine that is away for a moment does.
    let least = (0..5).map(second).min();
    assert!(least < Some(Duration::from_millis(150)), "only the first has to wait: {least:?}");
}

on_each_driver! {
    a_share_fails
    a_freeze_stops_everybody
    one_is_served_at_a_time
    a_connection_has_its_behavior
    who_leaves_is_forgotten
    pipelined_requests_are_all_answered
    who_half_closes_gets_everything
    who_does_not_read_has_to_wait
}
