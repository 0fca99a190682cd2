//! WebSocket servers that send more than can be kept: the memory of checks on messages is bounded, and the reason is
//! reported.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wire::websocket::{self, Deflater, Kind, Opcode};

use crate::hostile::Held;
use crate::raw::opening_of;
use crate::seen::wait_for;
use crate::side_by_side;

/// With three connections, all programs and buffers included.
const RESIDENT_KIB_MAX: u64 = 150 * 1024;
const CONNECTIONS: u64 = 3;
/// The limit of a check.
const LIMIT: usize = plan::CHECKED_BODY_BYTES_MAX;
/// Three of these are twice what may be resident.
const HUGE: usize = 100 << 20;

/// The data of a server, the same for every client, one piece after the other.
type Pieces = Arc<dyn Fn(&mut dyn FnMut(&[u8]) -> bool) + Send + Sync>;

/// A server that sends its pieces on each connection: at once, or whenever something was read.
struct Hostile {
    port: u16,
    sent: Arc<AtomicU64>,
}

impl Hostile {
    fn start(extensions: &'static str, is_unasked: bool, pieces: Pieces) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let sent = Arc::new(AtomicU64::new(0));
        let counter = sent.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (pieces, counter) = (pieces.clone(), counter.clone());
                // A client that leaves in the middle is not waited for.
                std::thread::spawn(move || serve(stream, extensions, is_unasked, &pieces, &counter));
            }
        });
        Self { port, sent }
    }
}

fn serve(mut stream: TcpStream, extensions: &str, is_unasked: bool, pieces: &Pieces, sent: &AtomicU64) -> Option<()> {
    let requested = opening_of(&mut stream)?;
    let mut bytes = [0; 4096];
    let mut response = Vec::new();
    websocket::render_response(&requested.key, None, None, &mut response);
    response.truncate(response.len() - 2);
    response.extend_from_slice(extensions.as_bytes());
    response.extend_from_slice(b"\r\n");
    stream.write_all(&response).ok()?;
    loop {
        if !is_unasked {
            stream.read(&mut bytes).ok().filter(|count| *count > 0)?;
        }
        let mut is_there = true;
        pieces(&mut |piece| {
            is_there = stream.write_all(piece).is_ok();
            sent.fetch_add(piece.len() as u64, Ordering::Relaxed);
            is_there
        });
        if !is_there {
            return None;
        }
    }
}

const NOT_COMPRESSED: &str = "";
const EACH_BY_ITSELF: &str = "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover\r\n";
const WITH_CONTEXT: &str = "Sec-WebSocket-Extensions: permessage-deflate\r\n";

/// The head of a frame of this length.
fn head_of(opcode: Opcode, is_last: bool, is_compressed: bool, length: usize) -> Vec<u8> {
    let mut head = vec![opcode as u8 | if is_last { 0x80 } else { 0 } | if is_compressed { 0x40 } else { 0 }, 127];
    head.extend_from_slice(&(length as u64).to_be_bytes());
    head
}

/// A message of one frame, sent from one block again and again.
fn frame_of(length: usize) -> Pieces {
    Arc::new(move |send| {
        let block = vec![b'x'; 1 << 20];
        let _ = send(&head_of(Opcode::Binary, true, false, length))
            && (0..length).step_by(block.len()).all(|from| send(&block[..block.len().min(length - from)]));
    })
}

/// A message in fragments of this size; pings between them.
fn fragments_of(size: usize, count: usize, has_pings: bool) -> Pieces {
    Arc::new(move |send| {
        let mut block = Vec::new();
        let each = (1 << 16) / (size + 4) + 1;
        let push = |opcode, block: &mut Vec<u8>| {
            websocket::push_frame(opcode, false, None, &vec![b'x'; size], block);
            if has_pings {
                websocket::push_frame(Opcode::Ping, true, None, b"", block);
            }
        };
        push(Opcode::Binary, &mut block);
        let _ = send(&block);
        block.clear();
        (0..each).for_each(|_| push(Opcode::Continuation, &mut block));
        let mut end = Vec::new();
        websocket::push_frame(Opcode::Continuation, true, None, b"", &mut end);
        let _ = (0..count / each).all(|_| send(&block)) && send(&end);
    })
}

/// Zeros of this length, compressed; in one frame or in several.
fn bomb_of(length: usize, pieces: usize) -> Pieces {
    let bomb = Deflater::default().compress(&vec![0; length]);
    Arc::new(move |send| {
        let parts: Vec<&[u8]> = bomb.chunks(bomb.len().div_ceil(pieces)).collect();
        let _ = parts.iter().enumerate().all(|(number, part)| {
            let opcode = if number == 0 { Opcode::Binary } else { Opcode::Continuation };
            let mut frame = Vec::new();
            websocket::push_frame(opcode, number + 1 == parts.len(), None, part, &mut frame);
            frame[0] |= if number == 0 { 0x40 } else { 0 };
            send(&frame)
        });
    })
}

/// A compressed message that is no smaller.
fn stored_of(length: usize) -> Pieces {
    Arc::new(move |send| {
        // Stored blocks of 65,535 bytes (RFC 1951, 3.2.4).
        let block = [&[0, 0xff, 0xff, 0, 0][..], &vec![b'x'; 0xffff]].concat();
        let (count, end) = (length / block.len(), [0]);
        let _ = send(&head_of(Opcode::Binary, true, true, count * block.len() + end.len()))
            && (0..count).all(|_| send(&block))
            && send(&end);
    })
}

fn flood_of(opcode: Opcode, payload: usize) -> Pieces {
    Arc::new(move |send| {
        let mut frame = Vec::new();
        websocket::push_frame(opcode, true, None, &vec![b'p'; payload], &mut frame);
        let block = frame.repeat((1 << 20) / frame.len() + 1);
        while send(&block) {}
    })
}

/// Messages as they are, with the requested text in the last.
fn messages_of(text: &str, count: usize) -> Pieces {
    let mut frame = Vec::new();
    websocket::push_message(Kind::Text, false, None, text.as_bytes(), &mut frame);
    Arc::new(move |send| {
        let _ = (0..count).all(|_| send(&frame));
    })
}

struct Case {
    name: &'static str,
    extensions: &'static str,
    is_unasked: bool,
    pieces: Pieces,
    flags: &'static [&'static str],
    reason: &'static str,
    /// The least that the server must have sent: else the case shows nothing.
    sent_min: u64,
}

fn cases() -> Vec<Case> {
    let body: &[&str] = &["--expect-body", "never"];
    let case = |name, extensions, pieces, reason, sent_min: usize| Case {
        name,
        extensions,
        is_unasked: false,
        pieces,
        flags: body,
        reason,
        sent_min: sent_min as u64,
    };
    let each = CONNECTIONS as usize;
    vec![
        case("a huge frame", NOT_COMPRESSED, frame_of(HUGE), "body-limit", each * HUGE),
        case("a frame of the limit", NOT_COMPRESSED, frame_of(LIMIT), "check", each * LIMIT),
        case("a byte more", NOT_COMPRESSED, frame_of(LIMIT + 1), "body-limit", each * LIMIT),
        case("fragments", NOT_COMPRESSED, fragments_of(1_000, HUGE / 1_000, false), "body-limit", HUGE),
        case(
            "fragments of four bytes",
            NOT_COMPRESSED,
            fragments_of(4, LIMIT / 4 + (1 << 18), false),
            "body-limit",
            3 * LIMIT,
        ),
        case("pings between", NOT_COMPRESSED, fragments_of(5_000, HUGE / 5_000, true), "body-limit", HUGE),
        case("a bomb", EACH_BY_ITSELF, bomb_of(2 * HUGE, 1), "body-limit", 0),
        case("a bomb in pieces", EACH_BY_ITSELF, bomb_of(2 * HUGE, 1_000), "body-limit", 0),
        case("a bomb with context", WITH_CONTEXT, bomb_of(2 * HUGE, 3), "body-limit", 0),
        case("a bomb of the limit", EACH_BY_ITSELF, bomb_of(LIMIT, 1), "check", 0),
        case("stored", EACH_BY_ITSELF, stored_of(HUGE), "body-limit", HUGE),
        case("beyond all bounds", NOT_COMPRESSED, frame_of(1 << 40), "message-too-large", 0),
        case("a huge ping", NOT_COMPRESSED, flood_of(Opcode::Ping, 1 << 20), "websocket-frame", 0),
        case("a ping flood", NOT_COMPRESSED, flood_of(Opcode::Ping, 125), "websocket-flood", 1 << 20),
        Case {
            is_unasked: true,
            ..case("huge and unasked", NOT_COMPRESSED, frame_of(3 * LIMIT), "body-limit", 3 * LIMIT)
        },
        Case {
            flags: &["--expect-json", "$.a == 1"],
            ..case("nested", NOT_COMPRESSED, messages_of(&"[".repeat(LIMIT), 1), "check", each * LIMIT)
        },
        // Without a check nothing is kept, and nothing is too large.
        Case { flags: &[], ..case("a bomb for nobody", EACH_BY_ITSELF, bomb_of(HUGE, 1), "none", 0) },
        Case { flags: &[], ..case("huge for nobody", NOT_COMPRESSED, frame_of(HUGE), "none", each * HUGE) },
    ]
}

#[test]
fn looking_at_messages_keeps_no_more_than_allowed() {
    let cases = cases();
    side_by_side(&["uring", "poll"], |&driver| {
        for case in &cases {
            let server = Hostile::start(case.extensions, case.is_unasked, case.pieces.clone());
            let (url, count) = (format!("ws://127.0.0.1:{}/", server.port), CONNECTIONS.to_string());
            let args = ["-n", &count, "-c", &count, "-d", "x", "-t", "1h", "--driver", driver, &url];
            let deflate: &[&str] = if case.extensions.is_empty() { &[] } else { &["--ws-deflate"] };
            let args = [case.flags, deflate, &args].concat();
            let name = case.name;
            let held = Held::run(&args, &|| false);
            assert!(held.kib <= RESIDENT_KIB_MAX, "{name} {driver}: {} KiB", held.kib);
            let seen = held.report();
            let failures = seen["failures"].as_array().expect("a list");
            let reasons: Vec<&str> = failures
                .iter()
                .map(|one| one["detail"].as_str().or(one["reason"].as_str()).unwrap_or_default())
                .collect();
            let expected: &[&str] = if case.reason == "none" { &[] } else { &[case.reason] };
            assert_eq!(reasons, expected, "{name} {driver}: {seen:#}");
            // The server counts what it has written.
            wait_for("enough is sent to show anything", || server.sent.load(Ordering::Relaxed) >= case.sent_min);
        }
    });
}

/// Held connections check messages too.
#[test]
fn held_connections_keep_no_more_either() {
    let cases: [(_, _, Pieces); 4] = [
        ("a huge frame", NOT_COMPRESSED, frame_of(HUGE)),
        ("fragments", NOT_COMPRESSED, fragments_of(1_000, HUGE / 1_000, false)),
        ("a bomb", EACH_BY_ITSELF, bomb_of(2 * HUGE, 1)),
        ("a bomb with context", WITH_CONTEXT, bomb_of(2 * HUGE, 3)),
    ];
    side_by_side(&["uring", "poll"], |&driver| {
        for &(name, extensions, ref pieces) in &cases {
            let server = Hostile::start(extensions, false, pieces.clone());
            let (url, count) = (format!("ws://127.0.0.1:{}/", server.port), CONNECTIONS.to_string());
            let deflate: &[&str] = if extensions.is_empty() { &[] } else { &["--ws-deflate"] };
            let args = [
                "hold",
                "-c",
                &count,
                "--hold",
                "100ms",
                "--once",
                "--grace",
                "1h",
                "-t",
                "1h",
                "-d",
                "x",
                "--expect-body",
                "never",
            ];
            let args = [&args[..], deflate, &["--driver", driver, &url]].concat();
            let held = Held::run(&args, &|| false);
            assert!(held.kib <= RESIDENT_KIB_MAX, "{name} {driver}: {} KiB", held.kib);
            let held = held.report();
            assert_eq!(held["messages"]["refused"], CONNECTIONS, "{name} {driver}: {held:#}");
        }
    });
}
