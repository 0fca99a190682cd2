//! Malicious or broken servers: what they can make us read and keep is bounded.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, OnceLock, mpsc};

use crate::binary::{onrush, output, report, text};
use crate::raw::{
    CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PING, PUSH_PROMISE, Raw, SETTINGS, block, data,
    fields, frame, kinds, message,
};
use crate::seen::wait_for;
use crate::{ChildGuard, next_of, side_by_side, signal};

/// The bytes for a stream.
type Response = Arc<dyn Fn(u32) -> Vec<u8> + Send + Sync>;

const GRPC: (&str, &str) = ("content-type", "application/grpc");
const OK: (&str, &str) = (":status", "200");
const MIB: usize = 1024 * 1024;

/// The peak memory of our program, in KiB. It is read after the program has printed something: before the kernel has
/// executed it, the memory would be that of the test that starts it. `None`: it has ended.
fn peak_kib(child: &Child) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(peak.trim().strip_suffix(" kB").and_then(|kib| kib.parse().ok()).expect("a number"))
}

/// Whether all data on connections to a port of this machine has been read, on both sides (proc_net_tcp: local and
/// remote address, state, then what waits to be acknowledged and to be read, all as hexadecimal numbers).
fn is_all_read(port: u16) -> bool {
    let port = format!(":{port:04X}");
    let table = std::fs::read_to_string("/proc/net/tcp").expect("the connections of this machine");
    let rows = table.lines().skip(1).map(|row| row.split_whitespace().skip(1).take(4).collect::<Vec<_>>());
    let mut of_port = rows.filter(|row| row[..2].iter().any(|address| address.ends_with(&port)));
    // A listening socket has a number of connections there.
    of_port.all(|row| row[2] == "0A" || row[3] == "00000000:00000000")
}

/// A program whose run is over: it ends with the value.
pub(crate) struct Held {
    child: ChildGuard,
    /// Its peak memory, in KiB.
    pub(crate) kib: u64,
}

impl Held {
    /// Runs the program until the run is over; then a metrics page without a reader keeps it. A program that has
    /// received everything ends then, with its exchanges in flight.
    pub(crate) fn run(args: &[&str], has_all_come: &dyn Fn() -> bool) -> Self {
        let stays = ["--output", "json", "--export", "prometheus=127.0.0.1:0", "--export-wait", "1h"];
        // What stands behind `curl` is a command of it.
        let (own, curl) = args.split_at(args.iter().position(|word| *word == "curl").unwrap_or(args.len()));
        let mut command = onrush(&[own, &stays, curl].concat());
        let mut child = ChildGuard::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let (notify, said) = mpsc::channel::<String>();
        let lines = BufReader::new(child.0.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
        // The receiver may be gone.
        std::thread::spawn(move || lines.for_each(|line| drop(notify.send(line))));
        // The memory of a run that is ended from here: what it may hold has come by then. Where it ends by itself at the
        // same moment, the signal ends the wait for the reader too.
        let mut before_end = None;
        wait_for(&format!("the run is over: {args:?}"), || {
            let ended = child.0.try_wait().expect("a child");
            if ended.is_some() {
                assert!(before_end.is_some(), "{args:?}: it ended: {ended:?}");
                return true;
            }
            if before_end.is_none() && has_all_come() {
                before_end = peak_kib(&child.0);
                signal(&child.0, "-INT");
            }
            said.try_iter().any(|line| line.contains("the run is over"))
        });
        let kib = peak_kib(&child.0).or(before_end).unwrap_or_else(|| panic!("{args:?}: it ended"));
        Self { child, kib }
    }

    /// Ends a program whose run is over; returns its report.
    pub(crate) fn report(mut self) -> serde_json::Value {
        signal(&self.child.0, "-INT");
        let mut bytes = Vec::new();
        self.child.0.stdout.take().expect("a pipe").read_to_end(&mut bytes).expect("a report");
        serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes)))
    }
}

fn zeros(mib: usize) -> Vec<u8> {
    vec![b'0'; mib * MIB]
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    wire::grpc::gzip(bytes)
}

/// 192 MiB of zeros in gzip, more than may be held in total: members of 64 MiB, one after the other.
fn bomb() -> &'static [u8] {
    static BOMB: OnceLock<Vec<u8>> = OnceLock::new();
    BOMB.get_or_init(|| gzip(&zeros(64)).repeat(3))
}

/// A name, the flags of the load, its streams for each connection, and the response.
type Case = (&'static str, &'static [&'static str], &'static str, Response);

/// The flags of a checked call.
const CALL: &[&str] = &[
    "--proto",
    concat!(env!("CARGO_MANIFEST_DIR"), "/../target/proto/hello.proto"),
    "-d",
    "a",
    "--grpc-encoding",
    "gzip",
    "--expect-body",
    "x",
];
/// The flags of requests whose body is checked, also with a field, and as JSON.
const CHECKED: &[&str] = &["--http2", "--expect-body", "x"];
const CHECKED_HEAD: &[&str] = &["--http2", "--expect-body", "x", "--expect-header", "x-a: b"];
const JSON: &[&str] = &["--http2", "--expect-json", "$.a == 1"];

#[test]
fn memory_is_bounded_whatever_comes() {
    /// The most that may be held, in MiB, with three connections.
    const MOST: u64 = 150;
    let cases = hostile_responses();
    let wrong = Mutex::new(Vec::new());
    // Every other case is for one driver; another commit may have it the other way round.
    let which = claims::seeds::for_this_run(2, 2);
    side_by_side(&[(0, "uring"), (1, "poll")], |&(which_driver, driver)| {
        let is_of_this_run = |index: usize| which.contains(&((index as u64 + which_driver) % 2));
        for (_, (name, flags, streams, response)) in
            cases.iter().enumerate().filter(|(index, _)| is_of_this_run(*index))
        {
            let response = response.clone();
            let server = Raw::answering(move |stream| response(stream));
            let is_call = flags.contains(&"--proto");
            let url = if is_call { server.url("grpc", "/hello.Greeter/SayHello") } else { server.url("http", "/") };
            // All streams of all connections at a time, and a second round where the first one ends.
            let does_not_end = ["not end", "4 GiB", "heads of 60 KB"].iter().any(|part| name.contains(part));
            let rounds = if !does_not_end && ["1", "2"].contains(streams) { 2 } else { 1 };
            let count = rounds * 3 * streams.parse::<usize>().expect("a number");
            // Each thread decodes one body at a time. A connection that holds as much as it may reads no more, so that
            // not everything is sent to it: an endless response has some seconds.
            let (all, load) = (count.to_string(), ["-c", "3", "--threads", "2", "-t", "5s", "--grace", "0s"]);
            let own = [url.as_str(), "--driver", driver, "--streams", streams, "-n", &all];
            // It is sent, and nothing of it is in flight any more.
            let has_all_come = || does_not_end && server.answered() >= count && is_all_read(server.port);
            let held = Held::run(&[&own[..], &load, *flags].concat(), &has_all_come).kib / 1024;
            if held > MOST {
                wrong.lock().expect("nobody panics with it").push(format!("{name}, {driver}: {held} MiB"));
            }
        }
    });
    let wrong = wrong.into_inner().expect("nobody panics with it");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Responses that would take much memory.
fn hostile_responses() -> Vec<Case> {
    let large = "v".repeat(60_000);
    let (large_head, large_trailer) = (large.clone(), large);
    let list = |item: &str| [b"[", item.repeat(15 * MIB / item.len()).as_bytes(), b"0]"].concat();
    vec![
        ("whole bodies of 15 MiB", CHECKED, "1", plain(15, END_STREAM)),
        ("bodies of 15 MiB that do not end", CHECKED, "4", plain(15, 0)),
        ("many bodies of 1 MiB that do not end", CHECKED, "60", plain(1, 0)),
        ("messages of 15 MiB that do not end", CALL, "4", call(message(0, &zeros(15)), false)),
        ("messages of 4 GiB, 15 MiB of each", CALL, "4", call([b"\0\xff\xff\xff\xff", &zeros(15)[..]].concat(), false)),
        ("a gzip bomb in a message", CALL, "1", call(message(1, bomb()), true)),
        ("damaged gzip of 15 MiB", CALL, "5", call(message(1, &[&gzip(b"x")[..], &zeros(15)].concat()), true)),
        ("gzip that does not end", CALL, "4", call(message(1, &bomb()[..20_000]), false)),
        ("a gzip bomb in a body", CHECKED, "2", coded("gzip", bomb().to_vec())),
        ("gzip in gzip", CHECKED, "2", coded("gzip, gzip, gzip", gzip(&gzip(bomb())))),
        ("a deflate bomb in a body", CHECKED, "2", coded("deflate", deflate_bomb())),
        ("a brotli bomb in a body", CHECKED, "2", coded("br", BROTLI_BOMB.to_vec())),
        ("a zstd bomb in a body", CHECKED, "2", coded("zstd", zstd_bomb(13 << 3))),
        ("a zstd bomb with a large window", CHECKED, "2", coded("zstd", zstd_bomb(16 << 3))),
        (
            "heads of 60 KB",
            CHECKED_HEAD,
            "200",
            Arc::new(move |stream| fields_in_frames(stream, 0, &[OK, ("x-l", &large_head)])),
        ),
        (
            "trailers of 60 KB",
            CALL,
            "200",
            Arc::new(move |stream| {
                let trailers = [("grpc-status", "0"), ("x-large", large_trailer.as_str())];
                [fields(stream, 0, &[OK, GRPC]), fields_in_frames(stream, END_STREAM, &trailers)].concat()
            }),
        ),
        ("JSON of lists", JSON, "1", plain_json(list("[0],"))),
        ("JSON of numbers", JSON, "1", plain_json(list("0,"))),
        ("JSON of texts", JSON, "1", plain_json(list("\"\","))),
        ("a head without end", CHECKED, "20", Arc::new(endless_head)),
        ("a table as large as it gets", CHECKED, "20", Arc::new(full_table)),
    ]
}

/// A body of zeros.
fn plain(mib: usize, ends: u8) -> Response {
    let body = zeros(mib);
    Arc::new(move |stream| [fields(stream, 0, &[OK]), data(stream, ends, &body)].concat())
}

/// The response to a call, with or without its end.
fn call(body: Vec<u8>, ends: bool) -> Response {
    Arc::new(move |stream| {
        let head = fields(stream, 0, &[OK, GRPC, ("grpc-encoding", "gzip")]);
        let end = if ends { fields(stream, END_STREAM, &[("grpc-status", "0")]) } else { Vec::new() };
        [head, data(stream, 0, &body), end].concat()
    })
}

/// A body in a content coding.
fn coded(name: &'static str, body: Vec<u8>) -> Response {
    Arc::new(move |stream| {
        [fields(stream, 0, &[OK, ("content-encoding", name)]), data(stream, END_STREAM, &body)].concat()
    })
}

/// Many frames of a head that does not end.
fn endless_head(stream: u32) -> Vec<u8> {
    let more = frame(CONTINUATION, 0, stream, &[0; 16_000]).repeat(2_000);
    [frame(HEADERS, 0, stream, &block(&[OK])), more].concat()
}

/// A head that fills the table of fields.
fn full_table(stream: u32) -> Vec<u8> {
    let settings = frame(SETTINGS, 0, 0, &[0, 1, 0xff, 0xff, 0xff, 0xff]);
    // The largest table that we allow, and many entries.
    let entries = [&[0x3f, 0xe1, 0x1f, 0x88][..], &[0x40, 1, b'a', 3, b'x', b'y', b'z'].repeat(1_500)].concat();
    [settings, frame(HEADERS, END_HEADERS | END_STREAM, stream, &entries)].concat()
}

fn plain_json(body: Vec<u8>) -> Response {
    Arc::new(move |stream| [fields(stream, 0, &[OK]), data(stream, END_STREAM, &body)].concat())
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
    deflated(&zeros(64))
}

/// A frame with a window of this kind whose 4,000 blocks are one byte each, 128 KiB times (RFC 8878, 3.1.1.2.2).
fn zstd_bomb(window: u8) -> Vec<u8> {
    let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, window];
    for number in 0..4_000u32 {
        let is_last = u32::from(number == 3_999);
        let header = is_last | 1 << 1 | (128 * 1024) << 3;
        bytes.extend_from_slice(&header.to_le_bytes()[..3]);
        bytes.push(b'0');
    }
    bytes
}

/// 64 MiB of zeros with the largest window that brotli has, as another encoder made it.
const BROTLI_BOMB: &[u8] =
    b"\xcf\xff\xff\x7f\x00\x24\x60\xe2\xb1\x40\x72\xef\xff\xf9\xff\xff\x0f\x80\x04\x40\x1c\x16\x80\xee\xfd\x3f\
    \xff\xff\xff\x01\x90\x00\x88\xc3\x02\xd0\xbd\xff\xcf\xff\xff\x7f\x00\x12\x00\x71\x58\x00\xba\xf7\xff";

/// After a GOAWAY because of its data, a peer is not read any further: checked by how much it could write, most of
/// which is in the buffers of the kernel.
#[test]
fn a_flood_behind_the_end_is_not_read() {
    /// The buffers of the kernel for both sides, with a margin.
    const MOST: usize = 48 * MIB;
    /// The least that is read of a peer that has not acknowledged the GOAWAY; the kernel holds a part of what was
    /// written.
    const UNTOLD: usize = 4 * MIB - MIB / 2;
    let bad: [(&str, Vec<u8>, &str); 4] = [
        ("a push", frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2]), "push"),
        ("pings", frame(PING, 0, 0, &[7; 8]).repeat(10_001), "ping-flood"),
        ("data on no stream", frame(DATA, 0, 0, b"x"), "frame-stream"),
        (
            "a head of 70 KB",
            [
                frame(HEADERS, 0, 1, &[0; 16_000]),
                frame(CONTINUATION, 0, 1, &[0; 16_000]).repeat(4),
                frame(CONTINUATION, END_HEADERS, 1, &[]),
            ]
            .concat(),
            "headers-too-large",
        ),
    ];
    for (name, bytes, detail) in bad {
        for driver in ["uring", "poll"] {
            let (reported, counts) = mpsc::channel();
            let bytes = bytes.clone();
            let server = Raw::start(move |mut stream, number| {
                // Later connections are of no interest.
                if number > 0 || stream.write_all(&[&frame(SETTINGS, 0, 0, &[]), &bytes[..]].concat()).is_err() {
                    return;
                }
                let reader = stream.try_clone().expect("a socket");
                let reading = std::thread::spawn(move || count_graceful_close(reader));
                let junk = frame(PING, 0, 0, &[1; 8]).repeat(4_000);
                let mut written = 0;
                while let Ok(count) = stream.write(&junk) {
                    written += count;
                }
                reported.send((written, reading.join().expect("a reader"))).expect("somebody waits");
            });
            // The load goes on for a while after the first connection has failed.
            let url = server.url("http", "/");
            let load = ["--http2", "-q", "1/s", "-z", "1h", "-c", "1", "--driver", driver, "--output", "json"];
            let mut command = onrush(&[&load[..], &[&url]].concat());
            let child = ChildGuard::start(command.stdout(Stdio::piped()).stderr(Stdio::null()));
            let (written, graceful_close) = next_of(&counts, "the server has ended");
            signal(&child.0, "-INT");
            let seen = report(&child.output());
            let failures = seen["failures"].as_array().expect("a list");
            assert!(failures.iter().any(|failure| failure["detail"] == detail), "{name}: {failures:#?}");
            assert!(written < MOST, "{name}, {driver}: {written} bytes");
            // A peer that floods faster than it reads is disconnected before it has the whole GOAWAY.
            let is_too_fast = written >= UNTOLD;
            assert!(
                graceful_close == 1 || (graceful_close == 0 && is_too_fast),
                "{name}, {driver}: {graceful_close} goodbyes, {written}"
            );
        }
    }
}

fn count_graceful_close(mut stream: TcpStream) -> usize {
    let mut bytes = Vec::new();
    // A connection that is reset has been read until then.
    let _ = stream.read_to_end(&mut bytes);
    kinds(&bytes).filter(|kind| *kind == GOAWAY).count()
}

/// Valid forms of HTTP/1, on the wire and for checks.
#[test]
fn responses_of_other_servers_are_read_as_the_rfc_wants() {
    for (name, bytes, more) in valid_responses() {
        let server = Raw::saying(bytes);
        for driver in ["uring", "poll"] {
            let url = server.url("http", "/");
            let args = [
                &[url.as_str(), "-n", "1", "-c", "1", "--expect-body", "hi", "--driver", driver, "--output", "json"],
                more,
            ]
            .concat();
            let seen = report(&output(&args));
            assert_eq!(seen["requests"]["succeeded"], 1, "{name}, {driver}: {seen:#}");
        }
    }
    // An unsupported coding is named.
    let unknown: [(&[u8], &str); 2] = [
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: foo, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
            "Transfer-Encoding foo is not known",
        ),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, bar\r\n\r\nzz",
            "Transfer-Encoding chunked, bar is not known",
        ),
    ];
    for (bytes, says) in unknown {
        let server = Raw::saying(bytes.to_vec());
        let url = server.url("http", "/");
        let done = output(&[&url, "-n", "1", "-c", "1", "--expect-body", "hi", "--show-failures", "--lang", "en"]);
        let page = text(&done.stdout) + &text(&done.stderr);
        assert!(page.contains(says), "{says}: {page}");
    }
}

/// Responses of HTTP/1 whose body is `hi`, and the flags for each.
fn valid_responses() -> Vec<(&'static str, Vec<u8>, &'static [&'static str])> {
    let bodies = |head: &str, body: &[u8]| [head.as_bytes(), body].concat();
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    vec![
        (
            "a folded line",
            b"HTTP/1.1 200 OK\r\nX-A: one\r\n\ttwo\r\nContent-Length: 2\r\n\r\nhi".to_vec(),
            &["--expect-header", "X-A: one   two"],
        ),
        (
            "a folded line with a colon",
            b"HTTP/1.1 200 OK\r\nX-A: one\r\n X-B: two\r\nContent-Length: 2\r\n\r\nhi".to_vec(),
            &["--expect-header", "X-A: /X-B: two$/"],
        ),
        ("HTTP/1.2", b"HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nhi".to_vec(), &[]),
        ("blanks behind a size", bodies(chunked, b"2 \t\r\nhi\r\n0 \r\n\r\n"), &[]),
        ("an empty extension", bodies(chunked, b"2;\r\nhi\r\n0;\r\n\r\n"), &[]),
        (
            "chunked, then deflate",
            bodies(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, deflate\r\n\r\n",
                &deflated(b"2\r\nhi\r\n0\r\n\r\n"),
            ),
            &[],
        ),
        (
            "gzip, then chunked",
            {
                let body = gzip(b"hi");
                [
                    format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n{:x}\r\n", body.len())
                        .as_bytes(),
                    &body,
                    b"\r\n0\r\n\r\n",
                ]
                .concat()
            },
            &[],
        ),
        (
            "deflate until the end",
            bodies("HTTP/1.1 200 OK\r\nTransfer-Encoding: deflate\r\n\r\n", &deflated(b"hi")),
            &[],
        ),
        (
            "codings of both kinds",
            bodies(
                "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: deflate\r\n\r\n",
                &deflated(&gzip(b"hi")),
            ),
            &[],
        ),
    ]
}

/// The bytes in deflate.
fn deflated(bytes: &[u8]) -> Vec<u8> {
    let gzip = gzip(bytes);
    gzip[10..gzip.len() - 8].to_vec()
}
