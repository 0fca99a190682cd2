//! Servers that break the protocol: each way has its name, and memory is bounded.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use super::{DRIVERS, failures, load, number};
use crate::hostile::Held;
use crate::raw::Raw;
use crate::side_by_side;

/// With all programs and buffers included.
const RESIDENT_KIB_MAX: u64 = 150 * 1024;
/// The statuses that a run counts by name.
const STATUSES_MAX: usize = 64;

/// Reads until a request has come; `false` if the client leaves.
fn request(stream: &mut TcpStream) -> bool {
    stream.read(&mut [0; 4096]).is_ok_and(|count| count > 0)
}

/// A server that sends the same bytes for each request, and then closes or goes on.
fn sending(bytes: impl Into<Vec<u8>>, closes: bool) -> Raw {
    let bytes = bytes.into();
    Raw::start(move |mut stream, _| while request(&mut stream) && stream.write_all(&bytes).is_ok() && !closes {})
}

#[test]
fn ten_thousand_words_are_few_statuses() {
    const COUNT: usize = 10_000;
    let words = Arc::new(AtomicUsize::new(0));
    let counter = words.clone();
    let server = Raw::start(move |mut stream, _| {
        while request(&mut stream) {
            let reply = format!("-W{} and more\r\n", counter.fetch_add(1, Ordering::SeqCst));
            if stream.write_all(reply.as_bytes()).is_err() {
                return;
            }
        }
    });
    let url = server.url("redis", "");
    let count = COUNT.to_string();
    let held = Held::run(&["-n", &count, "-c", "4", "--redis-command", "PING", &url], &|| false);
    assert!(held.kib <= RESIDENT_KIB_MAX, "{} KiB", held.kib);
    let seen = held.report();
    assert_eq!((words.load(Ordering::SeqCst), number(&seen, "/requests/failed")), (COUNT, COUNT as u64), "{seen:#}");
    let statuses = seen["statuses"].as_object().expect("an object");
    assert!(statuses.len() <= STATUSES_MAX + 1, "{statuses:?}");
    let counts: Vec<u64> = statuses.values().filter_map(Value::as_u64).collect();
    assert_eq!(counts.iter().sum::<u64>(), COUNT as u64, "{statuses:?}");
    assert_eq!(statuses["other"], COUNT - STATUSES_MAX, "{statuses:?}");
    assert_eq!(failures(&seen), [("status", COUNT as u64)], "{seen:#}");
}

/// A server, and the reason with which requests to it fail.
type Case = (&'static str, Raw, &'static str);

fn endless() -> Raw {
    Raw::start(|mut stream, _| {
        if request(&mut stream) && stream.write_all(b"+").is_ok() {
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
        }
    })
}

fn billion(reply: &'static [u8]) -> Raw {
    Raw::start(move |mut stream, _| {
        if request(&mut stream) && stream.write_all(reply).is_ok() {
            // A client that refuses it closes first.
            let _ = stream.write_all(&b":1\r\n".repeat(100_000));
        }
    })
}

fn cases() -> Vec<Case> {
    let silent = Raw::start(|mut stream, _| while request(&mut stream) {});
    // What was received and not read makes the end of the connection a reset.
    let reset = Raw::start(|mut stream, _| drop(stream.read(&mut [0; 1])));
    vec![
        ("garbage", sending(b"HTTP/1.1 400 Bad Request\r\n\r\n", false), "redis-reply"),
        ("line ends", sending(b"\r\n\r\n", false), "redis-reply"),
        ("no CR", sending(b"+OK\n", false), "redis-reply"),
        ("a long integer", sending(b":99999999999999999999\r\n", false), "redis-reply"),
        ("half a reply", sending(b"$10\r\nabc", true), "closed-early"),
        ("a whole line missing its end", sending(b"+OK", true), "closed-early"),
        ("silence", silent, "timeout"),
        ("an endless line", endless(), "redis-too-large"),
        ("a billion elements", billion(b"*1000000000\r\n"), "closed-early"),
        ("too many elements", billion(b"*5000000000\r\n"), "redis-too-large"),
        ("a huge string", sending(b"$99999999999999999999\r\n", false), "redis-too-large"),
        ("deep", sending([&b"*1\r\n".repeat(33)[..], b":1\r\n"].concat(), false), "redis-too-large"),
        ("a negative length", sending(b"$-2\r\n", false), "redis-reply"),
        ("a negative count", sending(b"*-7\r\n", false), "redis-reply"),
        ("a string that is too long", sending(b"$3\r\nabcd\r\n", false), "redis-reply"),
        ("close at request", sending(b"", true), "closed-early"),
        ("reset", reset, "reset"),
    ]
}

#[test]
fn each_way_to_break_the_protocol_has_its_name() {
    let cases = cases();
    let all: Vec<(&Case, &str)> = cases.iter().flat_map(|case| DRIVERS.map(|driver| (case, driver))).collect();
    side_by_side(&all, |((name, server, reason), driver)| {
        let url = server.url("redis", "");
        // Only silence takes this long.
        let patience = if *reason == "timeout" { "300ms" } else { "1h" };
        let words = ["-n", "6", "-c", "2", "-t", patience, "--no-abort-on-failures", "--driver", driver];
        let (seen, code) = load(&[&words[..], &["--redis-command", "GET k", &url]].concat());
        assert_eq!(code, Some(1), "{name} {driver}: {seen:#}");
        assert_eq!(failures(&seen), [(*reason, 6)], "{name} {driver}: {seen:#}");
        assert_eq!(number(&seen, "/requests/started"), 6, "{name} {driver}: {seen:#}");
        assert_eq!(number(&seen, "/requests/succeeded"), 0, "{name} {driver}: {seen:#}");
    });
}

/// Whether the close or the request comes first decides whether the kernel of the server resets the connection.
#[test]
fn a_server_that_closes_at_once_is_named() {
    for driver in DRIVERS {
        let server = Raw::start(|stream, _| drop(stream));
        let words = ["-n", "60", "-c", "3", "-t", "1h", "--no-abort-on-failures", "--driver", driver];
        let (seen, code) = load(&[&words[..], &["--redis-command", "PING", &server.url("redis", "")]].concat());
        assert_eq!(code, Some(1), "{driver}: {seen:#}");
        let found = failures(&seen);
        assert!(found.iter().all(|(name, _)| ["closed-early", "reset"].contains(name)), "{driver}: {found:?}");
        assert_eq!(found.iter().map(|(_, count)| count).sum::<u64>(), 60, "{driver}: {found:?}");
    }
}

/// What comes unrequested is never a response, and its connection has no further request.
#[test]
fn replies_without_a_request_are_no_responses() {
    for driver in DRIVERS {
        for (name, is_early) in [("before", true), ("after", false)] {
            let requests = Arc::new(AtomicUsize::new(0));
            let counter = requests.clone();
            let server = Raw::start(move |mut stream, _| {
                if is_early && stream.write_all(b"+EARLY\r\n").is_err() {
                    return;
                }
                while request(&mut stream) {
                    counter.fetch_add(1, Ordering::SeqCst);
                    if stream.write_all(b"$1\r\nv\r\n$5\r\nother\r\n").is_err() {
                        return;
                    }
                }
            });
            let url = server.url("redis", "");
            let words = ["-n", "20", "-c", "2", "-t", "1h", "--no-abort-on-failures", "--driver", driver];
            let words = [&words[..], &["--redis-command", "GET k", &url]].concat();
            let (seen, _) = load(&words);
            let [started, succeeded, failed] =
                ["started", "succeeded", "failed"].map(|name| number(&seen, &format!("/requests/{name}")));
            assert_eq!((started, succeeded + failed), (20, 20), "{name} {driver}: {seen:#}");
            assert!(is_early || number(&seen, "/connections/unsolicited") > 0, "{name} {driver}: {seen:#}");
            assert!(is_early || succeeded <= requests.load(Ordering::SeqCst) as u64, "{name} {driver}: {seen:#}");
            let received = number(&seen, "/messages/received");
            assert!(received <= 20, "{name} {driver}: {received} replies are no responses: {seen:#}");
        }
    }
}

/// Opening replies that are none, and logins that the server does not know.
#[test]
fn a_broken_opening_has_its_name() {
    let cases = [
        ("-ERR unknown command 'HELLO'\r\n", "3", "", "redis-version"),
        ("-NOPROTO unsupported protocol version\r\n", "3", "", "redis-version"),
        ("-WRONGPASS no\r\n", "3", "", "redis-login"),
        ("-NOPERM this user has no permissions\r\n", "2", "", "redis-login"),
        ("HTTP/1.1 200 OK\r\n\r\n", "2", "", "redis-reply"),
        ("$-9\r\n", "3", "", "redis-reply"),
        ("+OK\r\n-ERR DB index is out of range\r\n", "2", "/9", "redis-database"),
        ("+OK\r\n-NOAUTH Authentication required.\r\n", "2", "/9", "redis-login"),
        ("-ERR max number of clients reached\r\n", "2", "", "redis-refused"),
        ("-DENIED Redis is running in protected mode\r\n", "3", "", "redis-refused"),
    ];
    for (reply, version, path, reason) in cases {
        let server = sending(reply.as_bytes(), false);
        let url = format!("redis://:pw@127.0.0.1:{}{path}", server.port);
        let words = ["-n", "4", "-c", "2", "--no-abort-on-failures", "--redis-resp", version];
        let (seen, code) = load(&[&words[..], &["--redis-command", "PING", &url]].concat());
        assert_eq!(code, Some(3), "no connection is established, {reply:?}: {seen:#}");
        assert_eq!(failures(&seen), [(reason, 4)], "{reply:?}: {seen:#}");
    }
}
