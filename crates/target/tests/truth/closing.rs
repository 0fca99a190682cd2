//! Servers that close right after their response, and messages that are larger than what the kernel takes at once.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use plan::Flags;
use rustix::net::sockopt::set_tcp_cork;
use wire::websocket::{self, Opcode};

use crate::{Kind, check_sums, failures, flags, peers, run, text};

/// Counters of a server: what it read after its own end, and all messages or requests.
#[derive(Default)]
struct Books {
    read: AtomicU64,
    behind: AtomicU64,
}

fn message_in(stream: &mut TcpStream, at_half: impl FnOnce(&mut TcpStream)) -> Option<(u8, usize)> {
    let mut head = [0; 2];
    stream.read_exact(&mut head).ok()?;
    let length = match head[1] & 127 {
        126 => {
            let mut bytes = [0; 2];
            stream.read_exact(&mut bytes).ok()?;
            usize::from(u16::from_be_bytes(bytes))
        }
        127 => {
            let mut bytes = [0; 8];
            stream.read_exact(&mut bytes).ok()?;
            u64::from_be_bytes(bytes) as usize
        }
        length => usize::from(length),
    };
    let mut rest = vec![0; length + 4];
    let (first, second) = rest.split_at_mut(length / 2);
    stream.read_exact(first).ok()?;
    at_half(stream);
    stream.read_exact(second).ok()?;
    Some((head[0] & 15, length))
}

/// Responds to the WebSocket handshake.
fn agree(stream: &mut TcpStream) -> Option<()> {
    let mut bytes = Vec::new();
    let mut piece = [0; 1_024];
    while !bytes.ends_with(b"\r\n\r\n") {
        let count = stream.read(&mut piece).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&piece[..count]);
    }
    let text = String::from_utf8(bytes).ok()?;
    let key = text.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: "))?;
    let mut response = Vec::new();
    websocket::render_response(key, None, None, &mut response);
    stream.write_all(&response).ok()
}

/// Responds to a WebSocket message and closes in the same segment.
fn says_goodbye(mut stream: TcpStream, books: &Books) -> Option<()> {
    agree(&mut stream)?;
    message_in(&mut stream, |_| {})?;
    books.read.fetch_add(1, Ordering::Relaxed);
    let mut both = Vec::new();
    websocket::push_frame(Opcode::Text, true, None, b"yes", &mut both);
    websocket::push_frame(Opcode::Close, true, None, &1_000u16.to_be_bytes(), &mut both);
    stream.write_all(&both).ok()?;
    while let Some((kind, _)) = message_in(&mut stream, |_| {}) {
        if kind == Opcode::Close as u8 {
            return None;
        }
        books.behind.fetch_add(1, Ordering::Relaxed);
    }
    None
}

/// Responds to one line of TCP; the end of its side is sent with the response, and it reads on.
fn ends_with_response(mut stream: TcpStream, books: &Books) -> Option<()> {
    let mut piece = [0; 1_024];
    stream.read(&mut piece).ok().filter(|count| *count > 0)?;
    books.read.fetch_add(1, Ordering::Relaxed);
    set_tcp_cork(&stream, true).ok()?;
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").ok()?;
    stream.shutdown(Shutdown::Write).ok()?;
    while stream.read(&mut piece).ok().filter(|count| *count > 0).is_some() {
        books.behind.fetch_add(1, Ordering::Relaxed);
    }
    None
}

type Serve = fn(TcpStream, &Books) -> Option<()>;

fn start(serve: Serve) -> (SocketAddr, Arc<Books>) {
    let books = Arc::new(Books::default());
    let own = books.clone();
    let address = peers::serve(move |stream| {
        serve(stream, &own);
    });
    (address, books)
}

fn what_goes_out_once_does_not_meet_an_end_that_is_there(kind: Kind) {
    let cases: [(&str, &str, Serve); 3] =
        [("ws", "GET", says_goodbye), ("tcp", "GET", ends_with_response), ("http", "POST", ends_with_response)];
    for (scheme, method, serve) in cases {
        let (address, books) = start(serve);
        let load = Flags {
            url: text(format!("{scheme}://{address}/")),
            method: (scheme == "http").then(|| method.to_owned()),
            data: (scheme != "http").then(|| "hello".to_owned()),
            read_bytes: (scheme == "tcp").then(|| "40".to_owned()),
            connections: text(3),
            requests: text(60),
            ..flags(address, "/")
        };
        let result = run(kind, &load, address, 1);
        check_sums_of(scheme, &result);
        let (counts, all) = (&result.total.counts, Ordering::Relaxed);
        assert_eq!((counts.succeeded(), counts.failed()), (60, 0), "{scheme}: {:?}", failures(&result));
        assert_eq!((books.read.load(all), books.behind.load(all)), (60, 0), "{scheme}");
        assert_eq!((counts.sent(), counts.reconnects()), (60, 0), "{scheme}");
    }
}

/// Checks sums of messages, which have no status.
fn check_sums_of(scheme: &str, result: &engine::RunResult) {
    if scheme == "http" {
        return check_sums(result);
    }
    let counts = &result.total.counts;
    assert_eq!(counts.started(), counts.succeeded() + counts.failed() + counts.dropped() + counts.unfinished());
}

/// Reads each message to its end, and responds. In the middle it sends a ping.
fn asks_in_the_middle(mut stream: TcpStream, books: &Books) -> Option<()> {
    agree(&mut stream)?;
    loop {
        let ping = |stream: &mut TcpStream| {
            let mut ping = Vec::new();
            websocket::push_frame(Opcode::Ping, true, None, b"there?", &mut ping);
            let _ = stream.write_all(&ping);
        };
        let (kind, _) = message_in(&mut stream, ping)?;
        if kind == Opcode::Pong as u8 {
            books.behind.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        books.read.fetch_add(1, Ordering::Relaxed);
        let mut response = Vec::new();
        websocket::push_frame(Opcode::Text, true, None, b"yes", &mut response);
        stream.write_all(&response).ok()?;
    }
}

/// The client's own message in the send buffer does not count as bytes that the peer leaves unread.
fn a_large_message_is_no_flood(kind: Kind) {
    for megabytes in [1, 3, 8] {
        let (address, books) = start(asks_in_the_middle);
        let load = Flags {
            url: text(format!("ws://{address}/")),
            data: Some("x".repeat(megabytes << 20)),
            connections: text(1),
            requests: text(4),
            ..flags(address, "/")
        };
        let result = run(kind, &load, address, 1);
        let counts = &result.total.counts;
        assert_eq!((counts.succeeded(), counts.failed()), (4, 0), "{megabytes} MiB: {:?}", failures(&result));
        assert!(books.read.load(Ordering::Relaxed) >= 4, "{megabytes} MiB");
    }
}

on_each_driver! {
    what_goes_out_once_does_not_meet_an_end_that_is_there
    a_large_message_is_no_flood
}
