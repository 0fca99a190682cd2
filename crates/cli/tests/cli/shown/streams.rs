//! Handmade frames: the data of a server of HTTP/2, gRPC, WebSocket or TCP is shown as far as it came.

use std::io::{Read, Write};
use std::net::TcpStream;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::{DRIVERS, Script, debug, failure, in_order};
use crate::{output, text};

/// Frames, how the exchange fails if it does, and the display.
type Case = (Vec<Vec<u8>>, Option<&'static str>, Vec<&'static str>);

const HEADERS: u8 = 1;
const DATA: u8 = 0;
const RESET: u8 = 3;
const ENDS_STREAM: u8 = 1;
const ENDS_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// Fields, each as a literal that no table keeps (RFC 7541, 6.2.2).
fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let literal = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    fields.iter().flat_map(|(name, value)| [&[0][..], &literal(name), &literal(value)].concat()).collect()
}

fn head(is_last: bool, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(HEADERS, ENDS_HEADERS | if is_last { ENDS_STREAM } else { 0 }, 1, &block(fields))
}

fn data(is_last: bool, bytes: &[u8]) -> Vec<u8> {
    frame(DATA, u8::from(is_last), 1, bytes)
}

/// A gRPC message.
fn message(bytes: &[u8]) -> Vec<u8> {
    [&[0][..], &(bytes.len() as u32).to_be_bytes(), bytes].concat()
}

/// Reads until a stream is opened and sends the frames.
fn http2(frames: Vec<Vec<u8>>) -> Script {
    Script::from_bytes(move |stream| {
        let mut received = Vec::new();
        let mut piece = [0; 4_096];
        // The preface, settings, and the head of the request come in one piece or in several.
        while !received.windows(5).any(|five| five[0] == HEADERS && five[1..] == [5, 0, 0, 0])
            && !received.windows(6).any(|six| six[0] == HEADERS && six[2..] == [0, 0, 0, 1])
        {
            match stream.read(&mut piece) {
                Ok(count) if count > 0 => received.extend_from_slice(&piece[..count]),
                _ => return,
            }
        }
        let all: Vec<u8> = [frame(4, 0, 0, &[])].into_iter().chain(frames.clone()).flatten().collect();
        for piece in all.chunks(11) {
            if stream.write_all(piece).is_err() {
                return;
            }
        }
    })
}

#[test]
fn responses_of_http2_are_shown_as_far_as_they_came() {
    let ok = (":status", "200");
    let cases: Vec<Case> = vec![
        (
            vec![
                head(false, &[(":status", "103"), ("link", "</a>")]),
                head(false, &[ok, ("content-type", "text/plain")]),
                data(false, b"hello"),
                head(true, &[("x-sum", "7")]),
            ],
            None,
            vec![
                "< HTTP/2 103\n< link: </a>\n",
                "< HTTP/2 200\n< content-type: text/plain\n",
                "\nhello\n",
                "< x-sum: 7\n",
            ],
        ),
        (
            vec![head(false, &[ok]), data(false, b"as far as it ca")],
            Some("closed-early"),
            vec!["< HTTP/2 200\n", "\nas far as it ca\n"],
        ),
        (
            vec![head(false, &[ok]), data(false, b"half"), frame(RESET, 0, 1, &[0, 0, 0, 2])],
            Some("stream-reset"),
            vec!["< HTTP/2 200\n", "\nhalf\n"],
        ),
        (vec![head(true, &[ok, ("X-Upper", "1")])], Some("protocol"), vec!["< HTTP/2 200\n< X-Upper: 1\n"]),
        (
            vec![head(false, &[ok, ("content-length", "3")]), data(true, b"hello")],
            Some("protocol"),
            vec!["< HTTP/2 200\n< content-length: 3\n"],
        ),
        (
            vec![
                head(false, &[ok]),
                data(false, b"half"),
                vec![0, 0, 0, 9, 9, 0, 0, 0, 1],
                b"\xff\xff\xff\xff\xff rubbish".to_vec(),
            ],
            Some("protocol"),
            vec!["< HTTP/2 200\n", "\nhalf\n", "bytes, not understood"],
        ),
        (
            vec![head(false, &[(":status", "500")]), data(true, b"sad")],
            Some("status 500"),
            vec!["< HTTP/2 500\n", "\nsad\n"],
        ),
    ];
    for (frames, kind, parts) in cases {
        let script = http2(frames);
        for driver in DRIVERS {
            let words = ["--http2", &script.url("/x")];
            let all = debug(driver, "en", &words);
            in_order(&all, &[&["> GET /x HTTP/2\n", "> :authority: 127.0.0.1:"], &parts[..]].concat());
            match kind {
                None => assert!(all.contains("* succeeded"), "{all}"),
                Some(kind) => {
                    assert!(all.contains(&format!("* failed: {kind}")), "{kind}: {all}");
                    in_order(&failure(driver, "en", &words), &[&[kind], &parts[..]].concat());
                }
            }
        }
    }
}

#[test]
fn calls_are_shown_as_far_as_they_came() {
    let proto = std::env::temp_dir().join(format!("onrush-shown-{}.proto", std::process::id()));
    let source = "syntax = \"proto3\"; package a; service S { rpc M (Q) returns (stream R); }\nmessage Q { string name = 1; } message R { string said = 1; }";
    std::fs::write(&proto, source).expect("a file");
    let path = proto.to_string_lossy().into_owned();
    for (frames, kind, parts) in answered_calls() {
        let script = http2(frames);
        let url = format!("grpc://127.0.0.1:{}/a.S/M", script.port);
        for driver in DRIVERS {
            let words = ["--proto", &path, "-d", "{\"name\":\"me\"}", &url];
            let all = debug(driver, "en", &words);
            let ours = ["> POST /a.S/M HTTP/2\n", "> [message 1, 4 bytes]\n{\"name\":\"me\"}\n"];
            in_order(&all, &[&ours, &parts[..]].concat());
            match kind {
                None => assert!(all.contains("* succeeded"), "{all}"),
                Some(kind) => {
                    assert!(all.contains(&format!("* failed: {kind}")), "{kind}: {all}");
                    in_order(&failure(driver, "en", &words), &[&[kind], &parts[..]].concat());
                }
            }
        }
    }
    let _ = std::fs::remove_file(&proto);
}

/// Responses to calls of `a.S/M`.
fn answered_calls() -> Vec<Case> {
    let head_of = |is_last| {
        move |more: &[(&str, &str)]| {
            head(is_last, &[&[(":status", "200"), ("content-type", "application/grpc")], more].concat())
        }
    };
    let (begin, only) = (head_of(false), head_of(true));
    let said = |text: &str| message(&[&[0x0a, text.len() as u8], text.as_bytes()].concat());
    vec![
        (
            vec![
                begin(&[]),
                data(false, &[said("one"), said("two")].concat()),
                head(true, &[("grpc-status", "0"), ("x-own", "1")]),
            ],
            None,
            vec![
                "< HTTP/2 200\n",
                "< [message 1, 5 bytes]\n{\"said\":\"one\"}\n",
                "< [message 2, 5 bytes]\n{\"said\":\"two\"}\n",
                "< grpc-status: 0\n< x-own: 1\n",
                "* gRPC status OK\n",
            ],
        ),
        (
            vec![only(&[("grpc-status", "5"), ("grpc-message", "not here")])],
            Some("grpc-status (NOT_FOUND)"),
            vec!["< HTTP/2 200\n", "< grpc-status: 5\n< grpc-message: not here\n"],
        ),
        (
            vec![begin(&[]), data(false, &said("one")), head(true, &[("grpc-status", "13")])],
            Some("grpc-status (INTERNAL)"),
            vec!["{\"said\":\"one\"}\n", "< grpc-status: 13\n"],
        ),
        (
            vec![
                begin(&[]),
                data(false, &[said("one"), said("half of it")[..9].to_vec()].concat()),
                head(true, &[("grpc-status", "0")]),
            ],
            Some("protocol"),
            vec!["{\"said\":\"one\"}\n", "< grpc-status: 0\n", "bytes, not understood or incomplete", "ha"],
        ),
        (
            vec![
                begin(&[]),
                data(false, &[said("one"), vec![9, 0, 0, 0, 1, b'x']].concat()),
                head(true, &[("grpc-status", "0")]),
            ],
            Some("protocol"),
            vec!["{\"said\":\"one\"}\n", "bytes, not understood", "< grpc-status: 0\n"],
        ),
        (
            vec![begin(&[]), data(false, &said("one"))],
            Some("closed-early"),
            vec!["< HTTP/2 200\n", "{\"said\":\"one\"}\n"],
        ),
        (
            vec![head(false, &[(":status", "502"), ("content-type", "text/html")]), data(true, b"bad gateway")],
            Some("status (502)"),
            vec!["< HTTP/2 502\n< content-type: text/html\n", "bad gateway"],
        ),
    ]
}

/// A handshake, and then these bytes.
fn websocket(behind: &'static [u8]) -> Script {
    Script::from_bytes(move |stream| {
        let head = head_of_request(stream);
        let key = head.lines().find_map(|line| line.strip_prefix("Sec-WebSocket-Key: ")).expect("a key").trim();
        let mut digest = sha1_smol::Sha1::new();
        digest.update(format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11").as_bytes());
        let accept = STANDARD.encode(digest.digest().bytes());
        let response = format!(
            "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        let mut message = [0; 64];
        if stream.write_all(response.as_bytes()).is_ok() && stream.read(&mut message).is_ok_and(|count| count > 0) {
            let _ = stream.write_all(behind);
        }
    })
}

fn head_of_request(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count > 0) {
        head.push(byte[0]);
    }
    String::from_utf8(head).expect("text")
}

#[test]
fn conversations_are_shown_as_far_as_they_came() {
    let cases: [(&'static [u8], Option<&str>, &[&str]); 6] = [
        (b"\x81\x05hello", None, &["< [message 1, 5 bytes]\nhello\n"]),
        (b"\x82\x02\xff\x00", None, &["< [message 1, 2 bytes]\n[2 bytes, not text]\n  ff 00\n"]),
        (b"\x88\x02\x03\xf3", Some("websocket-close"), &["< [close 1011]\n"]),
        (b"\x81\x0ahalf", Some("closed-early"), &["bytes, not understood or incomplete]\nhalf\n"]),
        (b"\xf1\x05hello", Some("protocol"), &["bytes, not understood"]),
        (b"", Some("closed-early"), &[]),
    ];
    for (behind, kind, parts) in cases {
        let script = websocket(behind);
        let url = format!("ws://127.0.0.1:{}/chat", script.port);
        for driver in DRIVERS {
            let words = ["-d", "hi", "-H", "Cookie: a=s3cr3tive", &url];
            let all = debug(driver, "en", &words);
            let ours = [
                "> GET /chat HTTP/1.1\n",
                "> Upgrade: websocket\n",
                "> Cookie: ***\n",
                "< HTTP/1.1 101 Switching\n",
                "> [message 1, 2 bytes]\nhi\n",
            ];
            in_order(&all, &[&ours, parts].concat());
            match kind {
                None => assert!(all.contains("* succeeded"), "{all}"),
                Some(kind) => {
                    assert!(all.contains(&format!("* failed: {kind}")), "{kind}: {all}");
                    in_order(&failure(driver, "en", &words), &[&[kind], parts].concat());
                }
            }
        }
    }
    let refusing = Script::start(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 403 No\r\nX-Why: because\r\nContent-Length: 5\r\n\r\nno so");
    });
    let url = format!("ws://127.0.0.1:{}/", refusing.port);
    for driver in DRIVERS {
        in_order(
            &debug(driver, "en", &["-d", "x", &url]),
            &["> Upgrade: websocket\n", "< HTTP/1.1 403 No\n< X-Why: because\n", "no so"],
        );
        // Nothing was measured, and the received data is shown all the same.
        let usual = ["--show-failures", "-c", "1", "-n", "1", "--driver", driver, "--lang", "zh", "-d", "x", &url];
        let ended = output(&usual);
        assert_eq!(ended.status.code(), Some(3));
        in_order(
            &text(&ended.stdout),
            &["失败的响应（1 个中的前 1 个）\n", "< HTTP/1.1 403 No\n< X-Why: because\n", "no so"],
        );
    }
}

#[test]
fn plain_connections_are_shown_as_far_as_they_came() {
    for (response, kind, parts) in [
        (&b"pong\n"[..], None, &["< [message 1, 5 bytes]\npong\n"][..]),
        (b"half", Some("closed-early"), &["< [message 1, 4 bytes]\nhalf\n"]),
        (b"\xff\xfe\n", None, &["< [message 1, 3 bytes]\n[3 bytes, not text]\n  ff fe 0a\n"]),
        (b"", Some("closed-early"), &[]),
    ] {
        let script = Script::from_bytes(move |stream| {
            let mut received = [0; 5];
            if stream.read_exact(&mut received).is_ok() {
                let _ = stream.write_all(response);
            }
        });
        let url = format!("tcp://127.0.0.1:{}", script.port);
        for driver in DRIVERS {
            let words = ["-d", "ping\n", "--until", "\\n", &url];
            let all = debug(driver, "en", &words);
            in_order(&all, &[&["> [message 1, 5 bytes]\nping\n"], parts].concat());
            match kind {
                None => assert!(all.contains("* succeeded"), "{all}"),
                Some(kind) => {
                    assert!(all.contains(&format!("* failed: {kind}")), "{kind}: {all}");
                    in_order(&failure(driver, "en", &words), &[&[kind], parts].concat());
                }
            }
        }
    }
}
