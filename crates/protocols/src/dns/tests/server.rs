//! The server, and the client against it.

use pacing::Random;
use protocol::{Replies, Service};
use serde_json::{Value as Json, json};

use super::super::service::Server;
use super::*;

/// The datagrams that reply to one, and the number of requests.
fn datagrams(bytes: &[u8]) -> (Vec<Vec<u8>>, u64) {
    let mut replies = Replies::default();
    Server::default().handle_datagram(5, bytes, &mut replies);
    assert!(replies.closed.is_empty() && replies.sent.iter().all(|(peer, _)| *peer == 5));
    (replies.sent.into_iter().map(|(_, bytes)| bytes).collect(), replies.requests)
}

fn query(name: &str, kind: &str, edns: u64) -> Vec<u8> {
    let given = [("name", Value::Text(name)), ("type", Value::Text(kind)), ("edns", Value::Number(edns))];
    [&[0x12, 0x34], &query_of("/", &given).1[..]].concat()
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&(message.len() as u16).to_be_bytes()[..], message].concat()
}

/// What comes over TCP after these bytes, and whether the connection is closed.
fn streamed(pieces: &[&[u8]]) -> (Vec<u8>, bool, u64) {
    let (mut server, mut replies) = (Server::default(), Replies::default());
    server.open(7, &mut replies);
    pieces.iter().for_each(|piece| server.handle(7, piece, &mut replies));
    server.close(7);
    (replies.sent.into_iter().flat_map(|(_, bytes)| bytes).collect(), !replies.closed.is_empty(), replies.requests)
}

fn view(response: &[u8]) -> Json {
    let mut json = Vec::new();
    plain("a", "A").0.view(response, &mut json);
    serde_json::from_slice(&json).expect("JSON")
}

/// The only reply as JSON; the same over TCP.
fn served(name: &str, kind: &str, edns: u64) -> Json {
    let query = query(name, kind, edns);
    let (replies, requests) = datagrams(&query);
    let [reply] = &replies[..] else { panic!("{replies:?}") };
    assert_eq!((reply.len() <= 512.max(edns as usize), requests), (true, 1));
    let shown = view(reply);
    assert_eq!((shown.get("broken"), &reply[..2]), (None, &query[..2]));
    if reply[2] & 2 == 0 {
        assert_eq!(streamed(&[&framed(&query)]), (framed(reply), false, 1));
    }
    shown
}

#[test]
fn every_name_has_records() {
    for (kind, data) in [
        ("NS", "ns1.www.example.org."),
        ("MX", "10 mail.www.example.org."),
        ("PTR", "host.www.example.org."),
        ("SRV", "10 10 80 host.www.example.org."),
        ("SOA", "ns1.www.example.org. hostmaster.www.example.org. 1 7200 3600 1209600 60"),
    ] {
        let answer = json!([{"name": "www.example.org.", "type": kind, "ttl": 60, "data": data}]);
        assert_eq!(served("www.example.org", kind, 0)["answers"], answer);
    }
    for (kind, begins) in [("A", "10."), ("AAAA", "2001:db8::"), ("TXT", "")] {
        let data = |name: &str| served(name, kind, 0)["answers"][0]["data"].as_str().expect("a text").to_owned();
        assert_eq!(data("www.example.org"), data("WWW.example.ORG"));
        assert_ne!(data("www.example.org"), data("ww2.example.org"));
        assert!(data("a").starts_with(begins), "{}", data("a"));
    }
    for kind in ["CAA", "ANY", "DNSKEY", "TYPE9999"] {
        let shown = served("www.example.org", kind, 0);
        assert_eq!((&shown["status"], &shown["answers"]), (&json!("NOERROR"), &json!([])));
    }
    assert_eq!(served(".", "NS", 0)["answers"][0]["data"], "ns1.");
    // There is no room for a host below the longest name.
    let longest = format!("{}{}", "abcdefg.".repeat(31), "abcde");
    assert_eq!(served(&longest, "MX", 4_096)["answers"][0]["data"], format!("10 {longest}."));
}

#[test]
fn flags_and_edns_are_echoed() {
    let shown = served("a", "A", 0);
    assert_eq!((&shown["flags"], shown.get("edns")), (&json!(["AA", "RD"]), None));
    assert_eq!(served("a", "A", 4_096)["edns"], json!({"size": 1_232}));
    let given = [("name", Value::Text("a")), ("dnssec", Value::On), ("no_recursion", Value::On)];
    let (_, message) = query_of("/", &given);
    let (replies, _) = datagrams(&[&[0; 2], &message[..]].concat());
    assert_eq!(view(&replies[0])["flags"], json!(["AA"]));
    assert!(replies[0].ends_with(b"\0\0\x29\x04\xd0\0\0\x80\0\0\0"), "DO is echoed");
}

#[test]
fn the_first_label_says_what_goes_wrong() {
    for (name, status) in [
        ("nx.example", "NXDOMAIN"),
        ("NX123.example", "NXDOMAIN"),
        ("fail", "SERVFAIL"),
        ("failing.example", "SERVFAIL"),
        ("refuse-1.example", "REFUSED"),
        ("n.x.example", "NOERROR"),
        ("example.nx", "NOERROR"),
    ] {
        let shown = served(name, "A", 1_232);
        assert_eq!(
            (&shown["status"], shown["question"]["name"].as_str()),
            (&json!(status), Some(&*format!("{name}.")))
        );
        assert_eq!(shown["answers"].as_array().map(Vec::len), Some(usize::from(status == "NOERROR")));
    }
    let drop = query("drop1.example", "A", 0);
    assert_eq!(datagrams(&drop), (Vec::new(), 1));
    assert!(!streamed(&[&framed(&drop)]).0.is_empty());
    let twice = query("twice.example", "A", 0);
    let (replies, requests) = datagrams(&twice);
    assert_eq!((replies.len(), &replies[0], requests), (2, &replies[1], 1));
    let flip = query("flip.example", "A", 0);
    let (replies, requests) = datagrams(&flip);
    assert_eq!((replies.len(), &replies[0][..2], &replies[1][..2], requests), (2, &[0xed, 0xcb][..], &flip[..2], 1));
    assert_eq!(replies[0][2..], replies[1][2..]);
}

#[test]
fn a_large_text_is_truncated_over_udp() {
    for (edns, is_whole) in [(0, false), (512, false), (1_232, false), (4_051, false), (4_052, true), (65_535, true)] {
        let shown = served("big.example", "TXT", edns);
        let is_truncated = shown["flags"].as_array().is_some_and(|flags| flags.contains(&json!("TC")));
        assert_eq!((is_truncated, shown["answers"].as_array().map(Vec::len)), (!is_whole, Some(usize::from(is_whole))));
        assert_eq!(shown.get("edns").is_some(), edns > 0);
    }
    let (bytes, ..) = streamed(&[&framed(&query("big.example", "TXT", 0))]);
    let text = view(&bytes[2..])["answers"][0]["data"].as_str().map(str::len);
    assert_eq!(text, Some(16 * 249));
    assert_eq!(served("big.example", "A", 0)["status"], "NOERROR");
    let long = "abcdefg.".repeat(20);
    assert_eq!(served(&long, "MX", 512)["answers"].as_array().map(Vec::len), Some(1));
}

#[test]
fn what_is_no_query_is_refused_or_has_no_reply() {
    let good = query("www.example.org", "A", 1_232);
    let changed = |at: usize, value: u8| {
        let mut changed = good.clone();
        changed[at] = value;
        changed
    };
    for (bytes, status) in [
        (changed(2, 0x09), "FORMERR"),
        (changed(5, 0), "FORMERR"),
        (changed(5, 2), "FORMERR"),
        (changed(7, 1), "FORMERR"),
        (changed(12, 0xc0), "FORMERR"),
        (changed(12, 0x40), "FORMERR"),
        (good[..good.len() - 1].to_vec(), "FORMERR"),
        (good[..14].to_vec(), "FORMERR"),
        (good[..12].to_vec(), "FORMERR"),
        (changed(32, 3), "REFUSED"),
    ] {
        let (replies, requests) = datagrams(&bytes);
        let status = if bytes[2] & 0x78 != 0 { "NOTIMP" } else { status };
        assert_eq!((replies.len(), requests, &view(&replies[0])["status"]), (1, 1, &json!(status)));
        assert_eq!(view(&replies[0]).get("broken"), None);
    }
    for bytes in [&b""[..], &good[..11], &changed(2, 0x81)] {
        assert_eq!(datagrams(bytes), (Vec::new(), 0));
        assert_eq!(streamed(&[&framed(bytes), &framed(&good)]), (Vec::new(), true, 0));
    }
    for at in 0..good.len() {
        for value in 0..=255 {
            for reply in datagrams(&changed(at, value)).0 {
                assert_eq!(view(&reply).get("broken"), None, "{at} {value}");
            }
        }
    }
}

#[test]
fn queries_over_tcp_may_be_cut_anywhere() {
    let queries = ["www.example.org", "nx.example", "twice.example", "flip.a"].map(|name| framed(&query(name, "A", 0)));
    let bytes = [&queries.concat()[..], b"\0\x0b", &queries[0]].concat();
    let whole = streamed(&[&bytes]);
    assert_eq!((whole.1, whole.2), (true, 4));
    for at in 0..=bytes.len() {
        let (front, back) = bytes.split_at(at);
        assert_eq!(streamed(&[front, back]), whole, "cut at {at}");
    }
    assert_eq!(streamed(&bytes.chunks(1).collect::<Vec<_>>()), whole);
}

#[test]
fn queries_that_are_not_whole_are_bounded() {
    let (mut server, mut replies) = (Server::default(), Replies::default());
    let begun = [&[0xff; 2][..], &[0; 65_534]].concat();
    for connection in 0..400 {
        server.handle(connection, &begun, &mut replies);
    }
    assert_eq!(replies.closed.len(), 400 - (16 << 20) / begun.len());
    (0..400).for_each(|connection| server.close(connection));
    replies.closed.clear();
    (0..200).for_each(|connection| server.handle(connection, &begun, &mut replies));
    assert!(replies.closed.is_empty(), "what is closed is not counted");
    for _ in 0..400 {
        server.handle(500, &begun, &mut replies);
        server.handle(500, &[0], &mut replies);
    }
    assert_eq!((replies.closed.len(), replies.requests), (0, 400), "what has arrived is not counted");
}

#[test]
fn any_bytes_end_well() {
    let good = query("www.example.org", "MX", 1_232);
    for seed in 0..3_000 {
        let mut random = Random::new(seed);
        let mut bytes = framed(&good).repeat(2);
        for _ in 0..random.below(6) {
            let at = random.below(bytes.len() as u64) as usize;
            match random.below(3) {
                0 => bytes[at] = random.next_u64() as u8,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, [0, 0xc0, 0xff][random.below(3) as usize]),
            }
        }
        let (front, back) = bytes.split_at(random.below(bytes.len() as u64) as usize);
        assert_eq!(streamed(&[front, back]), streamed(&[&bytes]), "seed {seed}");
        assert!(view(&bytes[2..]).is_object() && view(front).is_object());
        for reply in datagrams(&bytes[2..]).0 {
            assert_eq!(view(&reply).get("broken"), None, "seed {seed}");
        }
    }
}

/// Exchanges of the client with the server, over UDP until it does not fit.
#[test]
fn client_and_server_agree() {
    let names = ["www", "nx", "fail", "refuse", "big", "twice", "flip", "drop"];
    let kinds = ["A", "AAAA", "TXT", "MX", "NS", "SOA", "PTR", "SRV", "CAA"];
    let mut random = Random::new(3);
    let (step, _) = plain("a", "A");
    let (mut udp, mut tcp) = (Driven::new(step.connect(1)), Driven::new(step.connect_stream(2)));
    let mut server = Server::default();
    for tag in 0..2_000 {
        let (name, kind) = (names[random.below(8) as usize], kinds[random.below(9) as usize]);
        let full = format!("{name}{tag}.example.org");
        let size = [0, 1_232, 4_096][random.below(3) as usize];
        let query = query(&full, kind, size);
        let (number, sent) = udp.begin(tag, &query[2..]);
        let mut replies = Replies::default();
        server.handle_datagram(1, &sent, &mut replies);
        let events: Vec<String> = replies.sent.iter().map(|(_, reply)| udp.datagram(reply)).collect();
        let status = match name {
            "nx" => "NXDOMAIN false",
            "fail" => "SERVFAIL false",
            "refuse" => "REFUSED false",
            _ => "NOERROR true",
        };
        let length = replies.sent.last().map_or(0, |(_, reply)| reply.len());
        let response = format!("{tag} {status} {length}");
        let expected: &[&str] = match name {
            "drop" => &[],
            "twice" => &[&response, "Duplicate"],
            "flip" => &["Unmatched", &response],
            "big" if kind == "TXT" && size < 4_096 => &[&format!("{tag} over a stream")],
            _ => &[&response],
        };
        assert_eq!(events, expected, "{full} {kind}");
        if name == "drop" {
            udp.abandon(number);
        } else if events[0].ends_with("stream") {
            let (_, sent) = tcp.begin(tag, &query[2..]);
            let mut replies = Replies::default();
            server.handle(2, &sent, &mut replies);
            let reply = &replies.sent[0].1;
            assert_eq!(tcp.handle(reply), [format!("{tag} NOERROR true {}", reply.len() - 2)]);
        }
    }
}

/// Less than 512 bytes are taken for 512 (RFC 6891, 6.2.5).
#[test]
fn a_small_offer_counts_as_512() {
    let name = "abcdefg.".repeat(16);
    for size in [0_u16, 1, 100, 511, 512] {
        let mut message = query(&name, "MX", 0);
        message.extend([&[0, 0, 41][..], &size.to_be_bytes(), &[0; 6]].concat());
        message[11] = 1;
        let (replies, _) = datagrams(&message);
        let shown = view(&replies[0]);
        assert!((300..=512).contains(&replies[0].len()), "{size}: {}", replies[0].len());
        assert_eq!(shown["answers"].as_array().map(Vec::len), Some(1), "{size}: {shown:#}");
        let mut large = query("big.example", "TXT", 0);
        large.extend(&message[message.len() - 11..]);
        large[11] = 1;
        let (replies, _) = datagrams(&large);
        assert!(replies[0].len() <= 512 && replies[0][2] & 2 != 0, "{size}: it is truncated");
    }
}
