//! What a response says: its code, its records, its size.

use serde_json::json;

use super::messages::{Query, RESPONSE, TRUNCATED, record};
use super::server::{KINDS, Kind, NameServer, TEXT_BYTES};
use crate::datagrams::{DatagramServer, datagrams};
use crate::loads::{DRIVERS, failures, load, number, scenario};
use crate::{Folder, output, text};

#[test]
fn truncated_responses_are_fetched_over_tcp() {
    for kind in KINDS {
        let server = NameServer::start(kind);
        for (round, driver) in DRIVERS.iter().enumerate() {
            let (before, over_tcp) = (server.queries(), server.over_tcp());
            let words = ["-n", "400", "-c", "8", "-t", "1h", "--driver", driver];
            let url = server.url("large.shop.test?type=TXT");
            let check = format!("$.answers[0].data == \"{}\"", "t".repeat(3_000));
            let (seen, code) = load(&[&words[..], &["--expect-json", &check, &url]].concat());
            assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 400), "{kind:?} {driver}: {seen:#}");
            assert_eq!(datagrams(&seen), [("over_tcp", 400)], "{kind:?} {driver}: {seen:#}");
            assert_eq!(server.over_tcp() - over_tcp, 400, "{kind:?} {driver}");
            // Each query went over both.
            assert_eq!(server.queries() - before, 800, "{kind:?} {driver}");
            for pointer in ["/requests/started", "/requests/sent", "/requests/responses", "/messages/received"] {
                assert_eq!(number(&seen, pointer), 400, "{kind:?} {driver} {pointer}: {seen:#}");
            }
            assert_eq!(number(&seen, "/connections/established"), 408, "{kind:?} {driver}: {seen:#}");
            if kind == Kind::Nsd {
                assert_eq!(server.stat("num.truncated"), 400 * (round as u64 + 1), "{driver}");
            }
        }
    }
}

/// Of several servers, the one whose response did not fit is asked over TCP; what it refuses goes to no other one.
#[test]
fn a_truncated_response_is_fetched_from_the_server_that_sent_it() {
    let cut = DatagramServer::start(|bytes, peer| peer.send(&Query::read(bytes).message(RESPONSE | TRUNCATED, &[])));
    for driver in DRIVERS {
        let servers = [NameServer::start(Kind::Nsd), NameServer::start(Kind::Nsd)];
        let to = |ports: [u16; 3]| ports.map(|port| format!("127.0.0.1:{port}")).join(",");
        let to = to([servers[0].port, cut.port, servers[1].port]);
        let url = servers[0].url("large.shop.test?type=TXT");
        let words = ["-n", "90", "-c", "9", "-t", "1h", "--no-abort-on-failures", "--driver", driver];
        let (seen, _) = load(&[&words[..], &["--connect-addresses", &to, &url]].concat());
        assert_eq!(datagrams(&seen), [("over_tcp", 90)], "{driver}: {seen:#}");
        for pointer in ["/requests/started", "/requests/sent"] {
            assert_eq!(number(&seen, pointer), 90, "{driver} {pointer}: {seen:#}");
        }
        let over_tcp = servers.each_ref().map(NameServer::over_tcp);
        assert_eq!(servers.each_ref().map(NameServer::queries), over_tcp.map(|count| 2 * count), "{driver}: {seen:#}");
        let [first, second] = over_tcp;
        assert!(first > 0 && second > 0, "{driver}: {over_tcp:?}");
        assert_eq!(failures(&seen), [("connect-refused", 90 - first - second)], "{driver}: {seen:#}");
    }
}

#[test]
fn the_offered_size_decides_what_goes_over_tcp() {
    for kind in KINDS {
        let server = NameServer::start(kind);
        let edns = if kind == Kind::Nsd { "num.edns" } else { "num.query.edns.present" };
        let sizes = [("1232", 2), ("0", 1), ("4096", 3)];
        for (size, fit) in sizes.into_iter().take(if kind == Kind::Nsd { 3 } else { 1 }) {
            for (at, (name, bytes)) in TEXT_BYTES.iter().enumerate() {
                let (before, over_tcp) = (server.stat(edns), server.over_tcp());
                let url = server.url(&format!("{name}.shop.test?type=TXT"));
                let words = ["-n", "50", "-c", "5", "-t", "1h", "--dns-edns", size, &url, "--expect-json"];
                let check = format!("$.answers[0].data == \"{}\"", "t".repeat(*bytes));
                let (seen, code) = load(&[&words[..], &[&check]].concat());
                assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 50), "{name} {size}: {seen:#}");
                let streams = if at < fit { 0 } else { 50 };
                assert_eq!(number(&seen, "/datagrams/over_tcp"), streams, "{kind:?} {name} {size}: {seen:#}");
                assert_eq!(server.over_tcp() - over_tcp, streams, "{kind:?} {name} {size}");
                let with_edns = if size == "0" { 0 } else { 50 + streams };
                assert_eq!(server.stat(edns) - before, with_edns, "{kind:?} {name} {size}");
            }
        }
    }
}

#[test]
fn flags_of_a_query_are_counted_by_the_server() {
    let server = NameServer::start(Kind::Unbound);
    let stats = ["num.query.flags.RD", "num.query.edns.DO"];
    for (more, counts) in [
        (&[][..], [90, 0]),
        (&["--dns-no-recursion"], [0, 0]),
        (&["--dns-dnssec"], [90, 90]),
        (&["--dns-edns", "0"], [90, 0]),
    ] {
        let before = stats.map(|name| server.stat(name));
        let words = ["-n", "90", "-c", "3", "-t", "1h", &server.url("www.shop.test")];
        let (seen, code) = load(&[&words[..], more].concat());
        assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 90), "{more:?}: {seen:#}");
        let now = stats.map(|name| server.stat(name));
        assert_eq!([now[0] - before[0], now[1] - before[1]], counts, "{more:?}");
    }
}

#[test]
fn response_codes_are_statuses() {
    for kind in KINDS {
        let server = NameServer::start(kind);
        for (rest, status) in [("none.shop.test", "NXDOMAIN"), ("other.test", "REFUSED")] {
            if (kind, status) == (Kind::Unbound, "REFUSED") {
                continue;
            }
            let stat = if kind == Kind::Nsd { "num.rcode" } else { "num.answer.rcode" };
            let (stat, url) = (format!("{stat}.{status}"), server.url(rest));
            let words = ["-n", "40", "-c", "4", "-t", "1h", &url];
            for (more, ends) in [(&[][..], Some(1)), (&["--expect-status", status], Some(0))] {
                let before = server.stat(&stat);
                let (seen, code) = load(&[&words[..], more].concat());
                assert_eq!(code, ends, "{kind:?} {rest}: {seen:#}");
                assert_eq!(seen["statuses"], json!({status: 40}), "{kind:?}: {seen:#}");
                assert_eq!(number(&seen, "/requests/responses"), 40, "{kind:?}: {seen:#}");
                let expected = if more.is_empty() { vec![("status", 40)] } else { vec![] };
                assert_eq!(failures(&seen), expected, "{kind:?}: {seen:#}");
                assert_eq!(server.stat(&stat) - before, 40, "{kind:?} {stat}");
            }
        }
    }
}

/// All codes that a server may send, also those with bits in the record of EDNS.
#[test]
fn every_code_has_its_word() {
    let words = [
        "NOERROR",
        "FORMERR",
        "SERVFAIL",
        "NXDOMAIN",
        "NOTIMP",
        "REFUSED",
        "YXDOMAIN",
        "YXRRSET",
        "NXRRSET",
        "NOTAUTH",
        "NOTZONE",
        "RCODE11",
        "RCODE12",
        "RCODE13",
        "RCODE14",
        "RCODE15",
        "BADVERS",
        "BADKEY",
        "BADTIME",
        "BADMODE",
        "BADNAME",
        "BADALG",
        "BADTRUNC",
        "BADCOOKIE",
        "RCODE-OTHER",
        "RCODE-OTHER",
    ];
    let mut next = 0_u16;
    let server = DatagramServer::start(move |bytes, peer| {
        let code = next % 26;
        next += 1;
        let mut message = Query::read(bytes).message(RESPONSE | code & 15, &[]);
        // The record of EDNS, with the upper bits.
        message.extend([0, 0, 41, 4, 208, (code >> 4) as u8, 0, 0, 0, 0, 0]);
        message[11] = 1;
        peer.send(&message);
    });
    let url = server.url("dns", "/a.test");
    for driver in DRIVERS {
        let (seen, code) = load(&["-n", "260", "-c", "4", "-t", "1h", "--driver", driver, &url]);
        assert_eq!(code, Some(0), "some succeeded: {seen:#}");
        let mut counts = serde_json::Map::new();
        words.iter().for_each(|word| {
            let count = counts.get(*word).and_then(serde_json::Value::as_u64).unwrap_or(0);
            counts.insert((*word).to_owned(), (count + 10).into());
        });
        assert_eq!(seen["statuses"], serde_json::Value::Object(counts), "{seen:#}");
        assert_eq!(number(&seen, "/requests/succeeded"), 10, "{seen:#}");
        assert_eq!(failures(&seen), [("status", 250)], "{seen:#}");
    }
    let more = ["--threshold", "status(NXDOMAIN) < 10", "--threshold", "status(REFUSED) <= 10"];
    let (seen, code) = load(&[&["-n", "260", "-t", "1h", &url], &more[..]].concat());
    assert_eq!(code, Some(1), "{seen:#}");
    let hold = [0, 1].map(|at| seen["thresholds"][at]["holds"].as_bool());
    assert_eq!(hold, [Some(false), Some(true)], "{seen:#}");
}

/// Records are read as JSON: checks see them, and a step asks for what the one before it found.
#[test]
fn records_are_checked_and_extracted() {
    let steps = r#"
      - dns: {name: www.shop.test, type: A}
        expect: {status: NOERROR, json: '$.answers[0].data == "127.0.0.8"'}
      - dns: {name: www.shop.test, type: AAAA}
        expect: {json: '$.answers[0].data == "2001:db8::8"'}
      - dns: {name: text.shop.test, type: TXT}
        expect: {json: '$.answers[0].data == "hello \"world\""'}
      - dns: {name: mail.shop.test, type: MX}
        expect: {json: '$.answers[0].type == "MX"'}
        extract: {host: 'json $.answers[0].data'}
      - dns: {name: "${host.split(' ')[1]}", type: "${'A'}"}
        expect: {json: '$.answers[0].data == "127.0.0.8"'}
      - dns: {name: alias.shop.test}
        expect: {json: '$.answers[0].type == "CNAME"'}
        extract: {target: 'json $.answers[0].data'}
      - dns: "${target}"
        expect: {json: '$.question.name == "www.shop.test."'}
      - dns: {name: shop.test, type: SOA}
        expect: {json: '$.answers[0].data == "ns.shop.test. hostmaster.shop.test. 1 3600 600 86400 1"'}
      - dns: {name: none.shop.test}
        expect: {status: NXDOMAIN, json: '$.status == "NXDOMAIN"'}
"#;
    for kind in KINDS {
        let (server, folder) = (NameServer::start(kind), Folder::new("dns-records"));
        let url = format!("dns://127.0.0.1:{}", server.port);
        let file =
            folder.file("records.yaml", scenario(&url, "{users: 3, iterations: 60}", steps.trim_start_matches('\n')));
        for driver in DRIVERS {
            let before = server.queries();
            let (seen, code) = load(&["run", &file, "-t", "1h", "--driver", driver]);
            assert_eq!((code, number(&seen, "/requests/succeeded")), (Some(0), 540), "{kind:?} {driver}: {seen:#}");
            assert_eq!(seen["statuses"], json!({"NOERROR": 480, "NXDOMAIN": 60}), "{kind:?} {driver}: {seen:#}");
            assert_eq!(server.queries() - before, 540, "{kind:?} {driver}");
        }
    }
}

/// A check that does not hold is a failure; a name that was made and is none is never sent.
#[test]
fn what_does_not_hold_is_a_failure() {
    let server = NameServer::start(Kind::Nsd);
    let url = server.url("www.shop.test");
    let words = ["-n", "30", "-t", "1h", "--no-abort-on-failures", "--expect-json", "$.answers[0].data == \"::1\""];
    let (seen, code) = load(&[&words[..], &[&url]].concat());
    assert_eq!((code, failures(&seen)), (Some(1), vec![("check", 30)]), "{seen:#}");
    let folder = Folder::new("dns-wrong");
    let steps = r#"
      - dns: {name: "${'a..b'}"}
        on_failure: continue
      - dns: {name: www.shop.test, type: "${'AXFR'}"}
"#;
    let steps = steps.trim_start_matches('\n');
    let url = format!("dns://127.0.0.1:{}", server.port);
    let file = folder.file("wrong.yaml", scenario(&url, "{users: 2, iterations: 10}", steps));
    let before = server.stat("num.type.A");
    let (seen, code) = load(&["run", &file, "-t", "1h", "--no-abort-on-failures"]);
    assert_eq!((code, failures(&seen)), (Some(1), vec![("dns-name", 20)]), "{seen:#}");
    assert_eq!(server.stat("num.type.A") - before, 20, "questions for the root instead");
}

#[test]
fn a_view_shows_the_message() {
    let server = DatagramServer::start(|bytes, peer| {
        let query = Query::read(bytes);
        peer.send(
            &query.message(RESPONSE, &[record(1, &[127, 0, 0, 7]), record(16, b"\x03a\"\\"), record(99, b"\x01")]),
        );
    });
    let shown = output(&["--debug", "-t", "1h", &server.url("dns", "/a.test?type=ANY")]);
    let shown = text(&shown.stdout) + &text(&shown.stderr);
    for part in ["a.test.", "127.0.0.7", "TYPE99", "NOERROR", "\\\\# 1 01"] {
        assert!(shown.contains(part), "no {part}: {shown}");
    }
}
