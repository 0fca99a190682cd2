//! Servers that break the protocol: what they send is counted by its name, and never taken for a response.

use std::io::{Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use super::messages::{Query, RESPONSE, TRUNCATED, record};
use crate::datagrams::{DATAGRAM_BYTES_MAX, DatagramServer, Peer, datagrams, queue_of};
use crate::loads::{DRIVERS, failures, load, number};
use crate::raw::Raw;
use crate::seen::wait_for;
use crate::{ChildGuard, closed_port, onrush, report, side_by_side};

/// Requests of each case, each of a user of its own.
const COUNT: u64 = 6;
/// The longest datagram that is read.
const READ_BYTES_MAX: usize = 4_096;

/// What a server does with a query.
type Behavior = fn(&Query, &Peer<'_>);

/// A way to break the protocol.
struct Case {
    name: &'static str,
    behavior: Behavior,
    /// Whether the response comes after all.
    succeeds: bool,
    /// The reason of the failures, if not.
    reason: &'static str,
    /// Datagrams of each request, by their names.
    counts: &'static [(&'static str, u64)],
}

const fn taken(name: &'static str, counts: &'static [(&'static str, u64)], behavior: Behavior) -> Case {
    Case { name, behavior, succeeds: true, reason: "", counts }
}

const fn silent(name: &'static str, counts: &'static [(&'static str, u64)], behavior: Behavior) -> Case {
    Case { name, behavior, succeeds: false, reason: "timeout", counts }
}

/// The response, with these bytes at a place.
fn changed(query: &Query, at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut message = query.response();
    message[at..at + bytes.len()].copy_from_slice(bytes);
    message
}

/// A response with one text, of this length as a whole.
fn of_length(query: &Query, length: usize) -> Vec<u8> {
    let bytes = length - query.message(RESPONSE, &[record(99, &[])]).len();
    query.message(RESPONSE, &[record(99, &vec![0; bytes])])
}

const CASES: [Case; 19] = [
    silent("silence", &[], |_, _| {}),
    silent("garbage", &[("unmatched", 4)], |query, peer| {
        for bytes in [&b"\0"[..], b"\0\0\x81\x80", b"HTTP/1.1 400 Bad Request\r\n\r\n", &query.id.to_be_bytes()] {
            peer.send(bytes);
        }
    }),
    taken("empty datagrams", &[("unmatched", 3)], |query, peer| {
        (0..3).for_each(|_| peer.send(b""));
        peer.send(&query.response());
    }),
    taken("another ID", &[("unmatched", 1)], |query, peer| {
        peer.send(&Query { id: query.id ^ 1, ..query.clone() }.response());
        peer.send(&query.response());
    }),
    taken("another name", &[("unmatched", 1)], |query, peer| {
        peer.send(&changed(query, 13, b"b"));
        peer.send(&query.response());
    }),
    taken("another type", &[("unmatched", 1)], |query, peer| {
        let end = 12 + query.question.len();
        peer.send(&changed(query, end - 3, &[28]));
        peer.send(&query.response());
    }),
    taken("another class", &[("unmatched", 1)], |query, peer| {
        let end = 12 + query.question.len();
        peer.send(&changed(query, end - 1, &[3]));
        peer.send(&query.response());
    }),
    taken("the query itself", &[("unmatched", 1)], |query, peer| {
        peer.send(&query.message(0x0100, &[]));
        peer.send(&query.response());
    }),
    taken("another opcode", &[("unmatched", 1)], |query, peer| {
        peer.send(&query.message(RESPONSE | 0x2800, &[]));
        peer.send(&query.response());
    }),
    taken("no question", &[("unmatched", 1)], |query, peer| {
        peer.send(&Query { question: Vec::new(), ..query.clone() }.message(RESPONSE, &[]));
        peer.send(&query.response());
    }),
    taken("two questions", &[("unmatched", 1)], |query, peer| {
        let twice = query.question.repeat(2);
        let mut message = Query { question: twice, ..query.clone() }.message(RESPONSE, &[]);
        message[5] = 2;
        peer.send(&message);
        peer.send(&query.response());
    }),
    taken("another case", &[], |query, peer| peer.send(&changed(query, 13, b"A"))),
    taken("a forged response that is cut", &[("unmatched", 1)], |query, peer| {
        let response = query.response();
        peer.send(&response[..response.len() - 1]);
        peer.send(&response);
    }),
    Case {
        name: "a response that is cut",
        behavior: |query, peer| {
            let response = query.response();
            peer.send(&response[..response.len() - 1]);
        },
        succeeds: false,
        reason: "dns-message",
        counts: &[("unmatched", 1)],
    },
    Case {
        name: "a name that points to itself",
        behavior: |query, peer| {
            let mut record = record(1, &[127, 0, 0, 7]);
            record[1] = 12 + query.question.len() as u8;
            // Too many records, too.
            let mut message = query.message(RESPONSE, &[record]);
            message[7] = 255;
            peer.send(&message);
        },
        succeeds: false,
        reason: "dns-message",
        counts: &[("unmatched", 1)],
    },
    taken("the longest that is read", &[], |query, peer| peer.send(&of_length(query, READ_BYTES_MAX))),
    silent("a byte too long", &[("too_long", 1)], |query, peer| peer.send(&of_length(query, READ_BYTES_MAX + 1))),
    silent("the longest of all", &[("too_long", 1)], |query, peer| peer.send(&of_length(query, DATAGRAM_BYTES_MAX))),
    silent("from another port", &[], |query, peer| {
        let other = UdpSocket::bind("127.0.0.1:0").expect("a free port");
        other.send_to(&query.response(), peer.address).expect("it is sent");
    }),
];

#[test]
fn each_way_to_break_the_protocol_has_its_count() {
    let all: Vec<(&Case, &str)> = CASES.iter().flat_map(|case| DRIVERS.map(|driver| (case, driver))).collect();
    side_by_side(&all, |(case, driver)| {
        let (name, behavior) = (case.name, case.behavior);
        let server = DatagramServer::start(move |bytes, peer| behavior(&Query::read(bytes), peer));
        let (count, url) = (COUNT.to_string(), server.url("dns", "/a.test"));
        // Only silence takes this long. What comes must be read within it, on a busy machine too.
        let patience = match (case.succeeds, case.counts) {
            (true, _) => "1h",
            (false, []) => "300ms",
            (false, _) => "3s",
        };
        let words = ["-n", &count, "-c", &count, "-t", patience, "--no-abort-on-failures", "--driver", driver, &url];
        let (seen, code) = load(&words);
        let counts: Vec<(&str, u64)> = case.counts.iter().map(|(name, each)| (*name, each * COUNT)).collect();
        assert_eq!(datagrams(&seen), counts, "{name} {driver}: {seen:#}");
        let (failed, ends) = if case.succeeds { (vec![], Some(0)) } else { (vec![(case.reason, COUNT)], Some(1)) };
        assert_eq!((failures(&seen), code), (failed, ends), "{name} {driver}: {seen:#}");
        assert_eq!(number(&seen, "/requests/sent"), COUNT, "{name} {driver}: {seen:#}");
        let responses = if case.succeeds { COUNT } else { 0 };
        assert_eq!(number(&seen, "/requests/responses"), responses, "{name} {driver}: {seen:#}");
    });
}

/// The response to each other query comes before that to the next one, when its time is over.
#[test]
fn a_late_response_is_not_taken_for_that_of_the_next_query() {
    side_by_side(&DRIVERS, |driver| {
        let mut kept: Option<Vec<u8>> = None;
        let server = DatagramServer::start(move |bytes, peer| {
            let response = Query::read(bytes).response();
            match kept.take() {
                None => kept = Some(response),
                Some(late) => [late, response].iter().for_each(|bytes| peer.send(bytes)),
            }
        });
        let words = ["-n", "8", "-c", "1", "-t", "2s", "--no-abort-on-failures", "--driver", driver];
        let (seen, _) = load(&[&words[..], &[&server.url("dns", "/a.test")]].concat());
        assert_eq!(failures(&seen), [("timeout", 4)], "{driver}: {seen:#}");
        assert_eq!(number(&seen, "/requests/succeeded"), 4, "{driver}: {seen:#}");
        assert_eq!(datagrams(&seen), [("late", 4)], "{driver}: {seen:#}");
        assert_eq!(number(&seen, "/connections/established"), 1, "the socket lives on, {driver}: {seen:#}");
    });
}

/// Before each response comes the one to the query before, once more.
#[test]
fn a_second_response_is_not_taken_for_that_of_the_next_query() {
    for driver in DRIVERS {
        let mut last: Option<Vec<u8>> = None;
        let server = DatagramServer::start(move |bytes, peer| {
            let response = Query::read(bytes).response();
            last.iter().for_each(|again| peer.send(again));
            peer.send(&response);
            last = Some(response);
        });
        let words = ["-n", "300", "-c", "1", "-t", "1h", "--driver", driver, &server.url("dns", "/a.test")];
        let (seen, code) = load(&words);
        assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 300), "{driver}: {seen:#}");
        assert_eq!(datagrams(&seen), [("duplicate", 299)], "{driver}: {seen:#}");
    }
}

/// A server over TCP that sends these bytes for a query.
fn sending(bytes: &'static [u8]) -> Raw {
    Raw::start(move |mut stream, _| {
        if stream.read(&mut [0; 512]).is_ok_and(|count| count > 0) && stream.write_all(bytes).is_ok() {
            // Until the client leaves.
            let _ = stream.read(&mut [0; 1]);
        }
    })
}

/// What comes over TCP in place of a response that did not fit: the port of a server, and the reasons of the failures.
type OverTcp = (&'static str, fn() -> u16, &'static [&'static str]);

const OVER_TCP: [OverTcp; 6] = [
    ("refused", closed_port, &["connect-refused"]),
    ("closed", || Raw::start(|stream, _| drop(stream)).port, &["closed-early", "reset"]),
    ("too short", || sending(b"\0\x01a").port, &["dns-message"]),
    ("another ID", || sending(b"\0\x0c\0\0\x81\x80\0\0\0\0\0\0\0\0").port, &["dns-message"]),
    ("HTTP", || sending(b"\0\x1cHTTP/1.1 400 Bad Request\r\n\r\n").port, &["dns-message"]),
    ("silence", || sending(b"").port, &["timeout"]),
];

#[test]
fn a_truncated_response_without_tcp_is_a_failure() {
    let all: Vec<(&OverTcp, &str)> = OVER_TCP.iter().flat_map(|case| DRIVERS.map(|driver| (case, driver))).collect();
    side_by_side(&all, |((name, port, reasons), driver)| {
        // A socket of another test may have the same port.
        let sockets = std::iter::repeat_with(|| UdpSocket::bind(("127.0.0.1", port())).ok());
        let socket = sockets.flatten().next().expect("some port is free");
        let truncated = |query: &Query| query.message(RESPONSE | TRUNCATED, &[]);
        let server = DatagramServer::on(socket, move |bytes, peer| peer.send(&truncated(&Query::read(bytes))));
        let url = server.url("dns", "/a.test");
        let patience = if reasons.contains(&"timeout") { "3s" } else { "1h" };
        let words = ["-n", "6", "-c", "3", "-t", patience, "--no-abort-on-failures", "--driver", driver, &url];
        let (seen, code) = load(&words);
        assert_eq!(code, Some(1), "{name} {driver}: {seen:#}");
        let found = failures(&seen);
        assert!(found.iter().all(|(reason, _)| reasons.contains(reason)), "{name} {driver}: {found:?}");
        assert_eq!(found.iter().map(|(_, count)| count).sum::<u64>(), 6, "{name} {driver}: {seen:#}");
        assert_eq!(number(&seen, "/datagrams/over_tcp"), 6, "{name} {driver}: {seen:#}");
        assert_eq!(number(&seen, "/requests/succeeded"), 0, "{name} {driver}: {seen:#}");
    });
}

#[test]
fn a_refused_query_is_a_failure_at_once() {
    let port = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port").port();
    let url = format!("dns://127.0.0.1:{port}/a.test");
    for driver in DRIVERS {
        let words = ["-n", "60", "-c", "6", "-t", "1h", "--no-abort-on-failures", "--driver", driver, &url];
        let (seen, code) = load(&words);
        assert_eq!((code, failures(&seen)), (Some(1), vec![("connect-refused", 60)]), "{driver}: {seen:#}");
        assert_eq!(datagrams(&seen), [("refused", 60)], "{driver}: {seen:#}");
        assert_eq!(number(&seen, "/requests/sent"), 60, "{driver}: {seen:#}");
    }
}

/// A process is stopped while a flood comes to its socket: what the kernel drops is counted, and the rest is read.
#[test]
fn what_the_kernel_drops_of_a_flood_is_counted() {
    const FLOOD: u64 = 2_000;
    const FLOOD_BYTES: usize = 1_500;
    for driver in DRIVERS {
        let process = Arc::new(OnceLock::<u32>::new());
        let dropped = Arc::new(OnceLock::<u64>::new());
        let (own, count) = (process.clone(), dropped.clone());
        let server = DatagramServer::start(move |bytes, peer| {
            let id = *own.wait();
            signal(id, "-STOP");
            wait_for("it is stopped", || is_stopped(id));
            let flood = vec![0; FLOOD_BYTES];
            (0..FLOOD).for_each(|_| peer.send(&flood));
            signal(id, "-CONT");
            wait_for("all of it is read", || queue_of(peer.address).0 == 0);
            count.set(drops(peer.address)).expect("one query");
            peer.send(&Query::read(bytes).response());
        });
        let words = ["-n", "1", "-t", "1h", "--driver", driver, "-o", "json", &server.url("dns", "/a.test")];
        // In a group of its own: nothing continues it but this test.
        let run = ChildGuard::start(onrush(&words).process_group(0).stdout(std::process::Stdio::piped()));
        process.set(run.0.id()).expect("once");
        let seen = report(&run.output());
        assert_eq!(number(&seen, "/requests/succeeded"), 1, "{driver}: {seen:#}");
        let dropped = *dropped.get().expect("the query came");
        assert!((1..FLOOD).contains(&dropped), "{driver}: {dropped}");
        let counts = [("unmatched", FLOOD - dropped), ("dropped_here", dropped)];
        assert_eq!(datagrams(&seen), counts, "{driver}: {seen:#}");
        let read = (FLOOD - dropped) * FLOOD_BYTES as u64 + number(&seen, "/bytes/bodies");
        assert_eq!(number(&seen, "/bytes/received"), read, "{driver}: {seen:#}");
    }
}

fn drops(peer: SocketAddr) -> u64 {
    queue_of(peer).1
}

fn signal(process: u32, name: &str) {
    let status = Command::new("kill").args([name, &process.to_string()]).status().expect("kill starts");
    assert!(status.success(), "kill {name}");
}

/// Whether all threads of a process are stopped.
fn is_stopped(process: u32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).expect("its threads");
    let mut stats = tasks.flatten().map(|task| std::fs::read_to_string(task.path().join("stat")).expect("its state"));
    stats.all(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T')))
}
