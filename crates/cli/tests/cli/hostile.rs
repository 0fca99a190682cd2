//! Servers that mean harm, or do it: what they can make us read and keep is bounded.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::binary::{onrush, output, report, text};
use crate::raw::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, PUSH_PROMISE, Raw, SETTINGS, block, data, fields,
    frame, message, requests,
};

const GRPC: (&str, &str) = ("content-type", "application/grpc");
const OK: (&str, &str) = (":status", "200");
const MIB: usize = 1024 * 1024;

/// What a program has held at most, as the kernel says while it runs.
fn most_held(args: &[&str]) -> (u64, serde_json::Value) {
    let mut child = onrush(args).args(["--output", "json"]).stdout(Stdio::piped()).spawn().expect("the binary starts");
    let mut out = child.stdout.take().expect("a pipe");
    let told = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        out.read_to_end(&mut bytes).map(|_| bytes)
    });
    let mut most = 0;
    while child.try_wait().expect("a child").is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let held = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        most = most.max(held.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    let bytes = told.join().expect("a reader").expect("a pipe");
    let seen = serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{args:?}: {error}"));
    (most / 1024, seen)
}

fn zeros(mib: usize) -> Vec<u8> {
    vec![b'0'; mib * MIB]
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    wire::grpc::gzip(bytes)
}

/// 1 GiB of zeros in gzip: members of 64 MiB, one after the other.
fn bomb() -> &'static [u8] {
    static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
    BOMB.get_or_init(|| gzip(&zeros(64)).repeat(16))
}

#[test]
fn memory_is_bounded_whatever_comes() {
    /// The most that may be held, in MiB, with three connections.
    const MOST: u64 = 150;
    let proto = format!("{}/../target/proto/hello.proto", env!("CARGO_MANIFEST_DIR"));
    let grpc: &[&str] = &["--proto", &proto, "-d", "a", "--grpc-encoding", "gzip", "--expect-body", "x"];
    let http: &[&str] = &["--http2", "--expect-body", "x"];
    let both: &[&str] = &["--http2", "--expect-body", "x", "--expect-header", "x-a: b"];
    let json: &[&str] = &["--http2", "--expect-json", "$.a == 1"];
    let coded = |name: &'static str, body: Vec<u8>| -> Box<dyn Fn(u32) -> Vec<u8> + Send + Sync> {
        Box::new(move |stream| {
            [fields(stream, 0, &[OK, ("content-encoding", name)]), data(stream, END_STREAM, &body)].concat()
        })
    };
    let call = |body: Vec<u8>, ends: bool| -> Box<dyn Fn(u32) -> Vec<u8> + Send + Sync> {
        Box::new(move |stream| {
            let head = fields(stream, 0, &[OK, GRPC, ("grpc-encoding", "gzip")]);
            let end = if ends { fields(stream, END_STREAM, &[("grpc-status", "0")]) } else { Vec::new() };
            [head, data(stream, 0, &body), end].concat()
        })
    };
    let plain = |mib: usize, ends: u8| -> Box<dyn Fn(u32) -> Vec<u8> + Send + Sync> {
        let body = zeros(mib);
        Box::new(move |stream| [fields(stream, 0, &[OK]), data(stream, ends, &body)].concat())
    };
    let large = "v".repeat(60_000);
    let (large_head, large_trailer) = (large.clone(), large);
    let list = |item: &str| [b"[", &item.repeat(15 * MIB / item.len()).as_bytes()[..], b"0]"].concat();
    type Case<'a> = (&'static str, &'a [&'a str], &'static str, Box<dyn Fn(u32) -> Vec<u8> + Send + Sync>);
    let cases: Vec<Case<'_>> = vec![
        ("whole bodies of 15 MiB", http, "1", plain(15, END_STREAM)),
        ("bodies of 15 MiB that do not end", http, "20", plain(15, 0)),
        ("many bodies of 1 MiB that do not end", http, "200", plain(1, 0)),
        ("messages of 15 MiB that do not end", grpc, "20", call(message(0, &zeros(15)), false)),
        ("messages of 4 GiB, 15 MiB of each", grpc, "20", call([b"\0\xff\xff\xff\xff", &zeros(15)[..]].concat(), false)),
        ("a gzip bomb in a message", grpc, "20", call(message(1, bomb()), true)),
        ("damaged gzip of 15 MiB", grpc, "20", call(message(1, &[&gzip(b"x")[..], &zeros(15)].concat()), true)),
        ("gzip that does not end", grpc, "200", call(message(1, &bomb()[..20_000]), false)),
        ("a gzip bomb in a body", http, "20", coded("gzip", bomb().to_vec())),
        ("gzip in gzip", http, "20", coded("gzip, gzip, gzip", gzip(&gzip(bomb())))),
        ("a deflate bomb in a body", http, "20", coded("deflate", deflate_bomb())),
        ("a brotli bomb in a body", http, "20", coded("br", brotli_bomb())),
        ("a zstd bomb in a body", http, "20", coded("zstd", zstd_bomb())),
        ("heads of 60 KB", both, "200", Box::new(move |stream| fields_in_frames(stream, 0, &[OK, ("x-l", &large_head)]))),
        (
            "trailers of 60 KB",
            grpc,
            "200",
            Box::new(move |stream| {
                let trailers = [("grpc-status", "0"), ("x-large", large_trailer.as_str())];
                [fields(stream, 0, &[OK, GRPC]), fields_in_frames(stream, END_STREAM, &trailers)].concat()
            }),
        ),
        ("JSON of lists", json, "1", plain_json(list("[0],"))),
        ("JSON of numbers", json, "1", plain_json(list("0,"))),
        ("JSON of texts", json, "1", plain_json(list("\"\","))),
        (
            "a head without end",
            http,
            "20",
            Box::new(|stream| {
                let more = frame(CONTINUATION, 0, stream, &[0; 16_000]).repeat(2_000);
                [frame(HEADERS, 0, stream, &block(&[OK])), more].concat()
            }),
        ),
        (
            "a table as large as it gets",
            http,
            "20",
            Box::new(|stream| {
                let settings = frame(SETTINGS, 0, 0, &[0, 1, 0xff, 0xff, 0xff, 0xff]);
                // The largest table that we allow, and many entries.
                let entries = [&[0x3f, 0xe1, 0x1f, 0x88][..], &[0x40, 1, b'a', 3, b'x', b'y', b'z'].repeat(1_500)].concat();
                [settings, frame(HEADERS, END_HEADERS | END_STREAM, stream, &entries)].concat()
            }),
        ),
    ];
    let mut wrong = Vec::new();
    for (name, flags, streams, answer) in cases {
        let server = Raw::answering(answer);
        let is_call = flags.contains(&"--proto");
        let url = if is_call { server.url("grpc", "/hello.Greeter/SayHello") } else { server.url("http", "/") };
        for driver in ["uring", "poll"] {
            let load = ["-c", "3", "--streams", streams, "-z", "2s", "-t", "2s", "--grace", "1s", "--driver", driver];
            let (held, seen) = most_held(&[&[url.as_str()], &load[..], flags].concat());
            let failures: Vec<String> = seen["failures"].as_array().expect("a list").iter().map(|failure| failure["reason"].to_string() + &failure["detail"].to_string() + &failure["count"].to_string()).collect();
            eprintln!("{name}, {driver}: {held} MiB, {failures:?} ok {}", seen["requests"]["succeeded"]);
            if held > MOST {
                wrong.push(format!("{name}, {driver}: {held} MiB"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn plain_json(body: Vec<u8>) -> Box<dyn Fn(u32) -> Vec<u8> + Send + Sync> {
    Box::new(move |stream| [fields(stream, 0, &[OK]), data(stream, END_STREAM, &body)].concat())
}

/// A block that needs more than one frame.
fn fields_in_frames(stream: u32, flags: u8, list: &[(&str, &str)]) -> Vec<u8> {
    let block = block(list);
    let mut parts = block.chunks(16_384).peekable();
    let (mut bytes, mut kind, mut flags) = (Vec::new(), HEADERS, flags);
    while let Some(part) = parts.next() {
        let end = if parts.peek().is_none() { END_HEADERS } else { 0 };
        bytes.extend_from_slice(&frame(kind, end | flags, stream, part));
        (kind, flags) = (CONTINUATION, 0);
    }
    bytes
}

/// The same as a gzip bomb of 64 MiB, without its frame.
fn deflate_bomb() -> Vec<u8> {
    let gzip = gzip(&zeros(64));
    gzip[10..gzip.len() - 8].to_vec()
}

/// 256 MiB of zeros: a window of 16 MiB, and blocks that repeat the byte before (RFC 7932).
fn brotli_bomb() -> Vec<u8> {
    Vec::new()
}

/// A frame with a window of 64 MiB whose blocks are one byte each, repeated (RFC 8878, 3.1.1.2.2).
fn zstd_bomb() -> Vec<u8> {
    let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, (26 - 10) << 3];
    for number in 0..4_000u32 {
        let is_last = u32::from(number == 3_999);
        let header = is_last | 1 << 1 | (128 * 1024) << 3;
        bytes.extend_from_slice(&header.to_le_bytes()[..3]);
        bytes.push(b'0');
    }
    bytes
}
