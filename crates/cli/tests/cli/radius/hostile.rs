//! Servers that break the protocol: what they send is counted by its name, and never taken for a response.

use std::net::UdpSocket;

use super::packets::{ACCEPT, ACCOUNTING_RESPONSE, CHALLENGE, Packet, REJECT};
use super::server::SECRET;
use crate::datagrams::{DATAGRAM_BYTES_MAX, DatagramServer, Peer, datagrams};
use crate::loads::{DRIVERS, failures, load, number};
use crate::side_by_side;

/// Requests of each case, each of a user of its own.
const COUNT: u64 = 6;
const REPLY_MESSAGE: u8 = 18;

/// What a server does with a request.
type Behavior = fn(&Packet, &Peer<'_>);

/// A way to break the protocol.
struct Case {
    name: &'static str,
    behavior: Behavior,
    /// The reason of the failures; none where the response comes after all.
    reason: Option<&'static str>,
    /// Datagrams of each request, by their names.
    counts: &'static [(&'static str, u64)],
}

const fn case(
    name: &'static str,
    reason: Option<&'static str>,
    counts: &'static [(&'static str, u64)],
    behavior: Behavior,
) -> Case {
    Case { name, behavior, reason, counts }
}

fn accept(packet: &Packet) -> Vec<u8> {
    packet.response(ACCEPT, &[(REPLY_MESSAGE, b"hello")], SECRET)
}

/// The response with padding, so that the datagram has this length.
fn padded(packet: &Packet, length: usize) -> Vec<u8> {
    let mut response = accept(packet);
    response.resize(length, 0);
    response
}

/// The response with one byte changed.
fn changed(packet: &Packet, at: usize) -> Vec<u8> {
    let mut response = accept(packet);
    response[at] ^= 1;
    response
}

const CASES: [Case; 22] = [
    case("silence", Some("timeout"), &[], |_, _| {}),
    case("garbage", Some("timeout"), &[("unmatched", 4)], |packet, peer| {
        for bytes in [&b"\0"[..], b"\x02\0\0\x14", b"HTTP/1.1 400 Bad Request\r\n\r\n", &[ACCEPT, packet.id()]] {
            peer.send(bytes);
        }
    }),
    case("the request itself", Some("radius-secret"), &[("unmatched", 1)], |packet, peer| peer.send(&packet.0)),
    case("another authenticator", Some("radius-secret"), &[("unmatched", 1)], |packet, peer| {
        peer.send(&changed(packet, 5));
    }),
    case("another secret", Some("radius-secret"), &[("unmatched", 1)], |packet, peer| {
        peer.send(&packet.response(ACCEPT, &[], "another"));
    }),
    case("another Message-Authenticator", Some("radius-secret"), &[("unmatched", 1)], |packet, peer| {
        peer.send(&packet.plain(ACCEPT, &[], &[&[80, 18][..], &[7; 16]].concat(), SECRET));
    }),
    case("a short Message-Authenticator", Some("radius-secret"), &[("unmatched", 1)], |packet, peer| {
        peer.send(&packet.plain(ACCEPT, &[], &[80, 3, 1], SECRET));
    }),
    case("the response to accounting", Some("radius-response"), &[("unmatched", 1)], |packet, peer| {
        peer.send(&packet.response(ACCOUNTING_RESPONSE, &[], SECRET));
    }),
    case("an unknown code", Some("radius-response"), &[("unmatched", 1)], |packet, peer| {
        peer.send(&packet.response(77, &[], SECRET));
    }),
    case("an attribute without a length", Some("radius-response"), &[("unmatched", 1)], |packet, peer| {
        peer.send(&packet.plain(ACCEPT, &[], &[18, 0], SECRET));
    }),
    case("an attribute that is cut", Some("radius-response"), &[("unmatched", 1)], |packet, peer| {
        peer.send(&packet.plain(ACCEPT, &[], &[18, 9, 65], SECRET));
    }),
    case("a length beyond the datagram", Some("timeout"), &[("unmatched", 1)], |packet, peer| {
        let response = accept(packet);
        peer.send(&response[..response.len() - 1]);
    }),
    case("a length below that of a head", Some("timeout"), &[("unmatched", 1)], |packet, peer| {
        let mut response = accept(packet);
        response[3] = 19;
        peer.send(&response);
    }),
    case("a byte too long", Some("timeout"), &[("too_long", 1)], |packet, peer| peer.send(&padded(packet, 4_097))),
    case("the longest of all", Some("timeout"), &[("too_long", 1)], |packet, peer| {
        peer.send(&padded(packet, DATAGRAM_BYTES_MAX));
    }),
    case("another identifier", None, &[("unmatched", 1)], |packet, peer| {
        peer.send(&changed(packet, 1));
        peer.send(&accept(packet));
    }),
    case("forged ones before the right one", None, &[("unmatched", 3)], |packet, peer| {
        peer.send(&changed(packet, 4));
        peer.send(&packet.response(REJECT, &[], "another"));
        peer.send(&packet.plain(REJECT, &[], &[80, 18], SECRET));
        peer.send(&accept(packet));
    }),
    case("padding", None, &[], |packet, peer| peer.send(&[accept(packet), vec![7; 100]].concat())),
    case("no Message-Authenticator", None, &[], |packet, peer| peer.send(&packet.plain(ACCEPT, &[], &[], SECRET))),
    case("the longest that is read", None, &[], |packet, peer| peer.send(&padded(packet, 4_096))),
    case("a rejection", Some("status"), &[], |packet, peer| peer.send(&packet.response(REJECT, &[], SECRET))),
    case("a challenge", Some("status"), &[], |packet, peer| {
        peer.send(&packet.response(CHALLENGE, &[(24, b"state")], SECRET));
    }),
];

/// Words of a load by count, with these users and this patience.
fn words<'a>(count: &'a str, users: &'a str, patience: &'a str, driver: &'a str, url: &'a str) -> Vec<&'a str> {
    let fixed = ["--no-abort-on-failures", "--radius-resend", "off", "--radius-secret", SECRET];
    [&["-n", count, "-c", users, "-t", patience, "--driver", driver, url], &fixed[..]].concat()
}

#[test]
fn each_way_to_break_the_protocol_has_its_count() {
    let all: Vec<(&Case, &str)> = CASES.iter().flat_map(|case| DRIVERS.map(|driver| (case, driver))).collect();
    side_by_side(&all, |(case, driver)| {
        let (name, behavior) = (case.name, case.behavior);
        let server = DatagramServer::start(move |bytes, peer| behavior(&Packet(bytes.to_vec()), peer));
        let (count, url) = (COUNT.to_string(), server.url("radius", "").replace("//", "//bob:b@"));
        // Only what has no response takes this long.
        let has_response = case.reason.is_none_or(|reason| reason == "status");
        let patience = match (has_response, case.counts) {
            (true, _) => "1h",
            (false, []) => "300ms",
            (false, _) => "3s",
        };
        let (seen, code) = load(&words(&count, &count, patience, driver, &url));
        let counts: Vec<(&str, u64)> = case.counts.iter().map(|(name, each)| (*name, each * COUNT)).collect();
        assert_eq!(datagrams(&seen), counts, "{name} {driver}: {seen:#}");
        let failed: Vec<(&str, u64)> = case.reason.iter().map(|reason| (*reason, COUNT)).collect();
        let ends = if case.reason.is_some() { Some(1) } else { Some(0) };
        assert_eq!((failures(&seen), code), (failed, ends), "{name} {driver}: {seen:#}");
        assert_eq!(number(&seen, "/requests/sent"), COUNT, "{name} {driver}: {seen:#}");
        let responses = if has_response { COUNT } else { 0 };
        assert_eq!(number(&seen, "/requests/responses"), responses, "{name} {driver}: {seen:#}");
    });
}

/// The response to each other request comes before that to the next one, when its time is over.
#[test]
fn a_late_response_is_not_taken_for_that_of_the_next_request() {
    side_by_side(&DRIVERS, |driver| {
        let mut kept: Option<Vec<u8>> = None;
        let server = DatagramServer::start(move |bytes, peer| {
            let response = accept(&Packet(bytes.to_vec()));
            match kept.take() {
                None => kept = Some(response),
                Some(late) => [late, response].iter().for_each(|bytes| peer.send(bytes)),
            }
        });
        let (seen, _) = load(&words("8", "1", "2s", driver, &server.url("radius", "").replace("//", "//bob:b@")));
        assert_eq!(failures(&seen), [("timeout", 4)], "{driver}: {seen:#}");
        assert_eq!(number(&seen, "/requests/succeeded"), 4, "{driver}: {seen:#}");
        assert_eq!(datagrams(&seen), [("late", 4)], "{driver}: {seen:#}");
    });
}

/// Before each response comes the one to the request before, once more.
#[test]
fn a_second_response_is_not_taken_for_that_of_the_next_request() {
    for driver in DRIVERS {
        let mut last: Option<Vec<u8>> = None;
        let server = DatagramServer::start(move |bytes, peer| {
            let response = accept(&Packet(bytes.to_vec()));
            last.iter().for_each(|again| peer.send(again));
            peer.send(&response);
            last = Some(response);
        });
        let url = server.url("radius", "").replace("//", "//bob:b@");
        let (seen, code) = load(&words("600", "1", "1h", driver, &url));
        assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 600), "{driver}: {seen:#}");
        assert_eq!(datagrams(&seen), [("duplicate", 599)], "{driver}: {seen:#}");
    }
}

#[test]
fn a_refused_request_is_a_failure_at_once() {
    let port = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a free port").port();
    let url = format!("radius://bob:b@127.0.0.1:{port}");
    for driver in DRIVERS {
        // More than a socket has identifiers for.
        let (seen, code) = load(&words("600", "1", "1h", driver, &url));
        assert_eq!((code, failures(&seen)), (Some(1), vec![("connect-refused", 600)]), "{driver}: {seen:#}");
        assert_eq!(datagrams(&seen), [("refused", 600)], "{driver}: {seen:#}");
        assert_eq!(number(&seen, "/connections/established"), 3, "{driver}: {seen:#}");
    }
}
