//! Queries, names of steps, and mistakes.

use std::time::Duration;

use super::Value::{Made, Number, On, Text};
use super::*;

const HEAD: &[u8] = b"\x01\0\0\x01\0\0\0\0\0";
const EDNS: &[u8] = b"\0\0\x29\x04\xd0\0\0\0\0\0\0";

/// The question of a query, as name and type.
fn question_in(message: &[u8]) -> (Vec<u8>, u16) {
    let with_id = [&[0; 2], message].concat();
    let (name, [high, low, ..]) =
        question_of(&with_id).and_then(|question| question.split_last_chunk::<4>()).expect("a question");
    (name.to_vec(), u16::from_be_bytes([*high, *low]))
}

#[test]
fn a_query_has_one_question_and_edns() {
    let (_, query) = query_of("/", &[("name", Text("www.Example.org"))]);
    assert_eq!(query, [HEAD, b"\x01\x03www\x07Example\x03org\0\0\x01\0\x01", EDNS].concat());
    let (_, plain) = query_of("/", &[("name", Text("a.")), ("edns", Number(0)), ("no_recursion", On)]);
    assert_eq!(plain, b"\0\0\0\x01\0\0\0\0\0\0\x01a\0\0\x01\0\x01");
    let (_, query) = query_of("/", &[("name", Text(".")), ("edns", Number(4_096)), ("dnssec", On)]);
    assert_eq!(query, [HEAD, b"\x01\0\0\x01\0\x01", b"\0\0\x29\x10\0\0\0\x80\0\0\0"].concat());
}

#[test]
fn types_have_names_or_numbers() {
    for (text, number) in [
        ("A", 1),
        ("ns", 2),
        ("CNAME", 5),
        ("SOA", 6),
        ("PTR", 12),
        ("Mx", 15),
        ("TXT", 16),
        ("AAAA", 28),
        ("SRV", 33),
        ("NAPTR", 35),
        ("DS", 43),
        ("DNSKEY", 48),
        ("SVCB", 64),
        ("HTTPS", 65),
        ("ANY", 255),
        ("CAA", 257),
        ("TYPE1", 1),
        ("type65535", 65_535),
    ] {
        let (_, constant) = query_of("/", &[("name", Text("a")), ("type", Text(text))]);
        let (_, made) = query_of("/", &[("name", Made("a")), ("type", Made(text))]);
        assert_eq!((question_in(&constant), &made), ((wire("a"), number), &constant), "{text}");
    }
}

#[test]
fn names_have_the_escapes_of_zone_files() {
    let longest = format!("{}.{}.{}.{}", "a".repeat(63), "b".repeat(63), "c".repeat(63), "d".repeat(61));
    for (text, name) in [
        (".", &b"\0"[..]),
        ("a", b"\x01a\0"),
        ("a.b.", b"\x01a\x01b\0"),
        ("first\\.last.example", b"\x0afirst.last\x07example\0"),
        ("\\000\\255\\\\", b"\x03\0\xff\\\0"),
        ("_sip._tcp.x", b"\x04_sip\x04_tcp\x01x\0"),
        ("1/25.2.0", b"\x041/25\x012\x010\0"),
        ("*", b"\x01*\0"),
    ] {
        for value in [Text(text), Made(text)] {
            let (_, query) = query_of("/", &[("name", value)]);
            assert_eq!(question_in(&query), (name.to_vec(), 1), "{text}");
        }
    }
    for text in [longest.clone(), longest + "."] {
        assert_eq!(question_in(&query_of("/", &[("name", Made(&text))]).1).0.len(), 255);
    }
}

#[test]
fn what_is_no_question_is_no_query() {
    let long = ["a".repeat(64), format!("{}.{}", "a.".repeat(126), "bb"), "a".repeat(100_000)];
    let names = ["", "..", ".a", "a..b", "a..", "a b", "a\r", "a\u{e9}", "\\", "\\1", "\\25", "\\256", "\\\n"];
    for name in names.into_iter().chain(long.iter().map(String::as_str)) {
        let (_, query) = query_of("/", &[("name", Made(name))]);
        assert!(query.starts_with(&[0xff, 0xff]) && query.len() < 600, "{name}");
        let mistake = prepared(&endpoint("/", true), &[("name", Text(name))]).map(|_| ()).expect_err(name);
        assert!(mistake.key == Some("name") && mistake.en.len() < 400 && !mistake.zh.is_ascii(), "{}", mistake.en);
    }
    for kind in ["", "AXFR", "TYPE", "TYPE65536", "TYPE+1", "TYPE-1", "TYPE0", "TYPE41", "TYPE251", "TYPE252", "65"] {
        let (_, query) = query_of("/", &[("name", Text("a")), ("type", Made(kind))]);
        assert_eq!(query, [b"\xff\xffa. ", kind.as_bytes()].concat(), "{kind}");
        let given = [("name", Text("a")), ("type", Text(kind))];
        let mistake = prepared(&endpoint("/", true), &given).map(|_| ()).expect_err(kind);
        assert!(mistake.key == Some("type") && mistake.en.contains("TYPE123"), "{}", mistake.en);
    }
    // What was written before stays.
    let (step, _) = query_of("/", &[("name", Made("a"))]);
    let mut out = b"before".to_vec();
    step.write(&Texts::new(&[b"a..b".to_vec()]), &mut out);
    assert_eq!(out, b"before\xff\xffa..b A");
}

/// The examples of RFC 4501, 5, as far as they are questions of this class; and others.
#[test]
fn a_url_asks_a_question() {
    for (path, name, kind) in [
        ("/", &b"\0"[..], 2),
        ("", b"\0", 2),
        ("/?type=SOA", b"\0", 6),
        ("/www.example.org.?clAsS=IN;tYpE=A", b"\x03www\x07example\x03org\0", 1),
        ("/www.example.org", b"\x03www\x07example\x03org\0", 1),
        ("/simon.example.org?type=CERT", b"\x05simon\x07example\x03org\0", 37),
        ("/ftp.example.org?type=A", b"\x03ftp\x07example\x03org\0", 1),
        ("/world%20wide%20web%5c.domain.org?TYPE=TXT", b"\x15world wide web.domain\x03org\0", 16),
        ("/fw.example.org?type=aaaa&class=in&", b"\x02fw\x07example\x03org\0", 28),
        ("/1/25.2.0?type=TYPE%31%32", b"\x041/25\x012\x010\0", 12),
    ] {
        assert_eq!(question_in(&query_of(path, &[]).1), (name.to_vec(), kind), "{path}");
    }
    for (given, name, kind) in [
        (&[("name", Text("b"))][..], "b", 28),
        (&[("type", Text("MX"))], "a", 15),
        (&[("name", Text("b")), ("type", Text("MX"))], "b", 15),
        (&[("name", Made("b")), ("type", Made("NS"))], "b", 2),
    ] {
        assert_eq!(question_in(&query_of("/a?type=AAAA", given).1), (wire(name), kind));
    }
}

#[test]
fn mistakes_in_urls_have_a_cause_and_a_remedy() {
    for (path, part) in [
        ("/a..b", "'a..b' is not a name"),
        ("/%c3%a9.example", "xn--"),
        ("/a?type=", "'' is not a type"),
        ("/a?type=AXFR", "zones"),
        ("/a?class=CH", "'class=CH' is not known"),
        ("/a?x", "'x' is not known"),
        ("/a?type=A;ttl=3", "dns://host/name?type=AAAA"),
        ("/a?type=A?", "'A?' is not a type"),
        ("/a?type=A&type=MX", "'type=MX' is a second type"),
    ] {
        let mistake = prepared(&endpoint(path, true), &[]).map(|_| ()).expect_err(path);
        assert!(mistake.key.is_none() && mistake.en.contains(part) && !mistake.zh.is_ascii(), "{}", mistake.en);
    }
    for (user, password) in [("me", None), ("", Some("pw".to_owned()))] {
        let endpoint = Endpoint { user: user.to_owned(), password, ..endpoint("/a", false) };
        let mistake = prepared(&endpoint, &[]).map(|_| ()).expect_err("a user");
        assert!(mistake.key.is_none() && mistake.en.contains("dns://host/name") && !mistake.en.contains("pw"));
    }
}

#[test]
fn a_question_that_is_not_valid_is_shown_as_it_was_made() {
    for (name, kind, given) in [("a..b", "A", "a..b A"), ("www.example", "AXFR", "www.example AXFR")] {
        let (step, message) = query_of("/", &[("name", Made(name)), ("type", Made(kind))]);
        let mut json = Vec::new();
        step.view_request(&message, &mut json);
        let shown: serde_json::Value = serde_json::from_slice(&json).expect("JSON");
        assert_eq!(shown, serde_json::json!({"broken": true, "given": given}));
        let mut driven = Driven::new(step.connect(1));
        let (_, query) = driven.begin(1, &message);
        assert_eq!(&query[2..], b"\0\0\0\x01\0\0\0\0\0\0\0\0\x01\0\x01", "the root instead");
    }
}

#[test]
fn edns_offers_512_bytes_or_more() {
    for size in [1, 511] {
        let mistake = prepared(&endpoint("/", true), &[("edns", Number(size))]).map(|_| ()).expect_err("too small");
        assert_eq!((mistake.key, mistake.zh.is_ascii()), (Some("edns"), false));
        assert!(mistake.en.starts_with(&format!("'{size}' is too small")), "{}", mistake.en);
    }
    assert!([0, 512, 4_096].iter().all(|size| prepared(&endpoint("/", true), &[("edns", Number(*size))]).is_ok()));
}

#[test]
fn dnssec_needs_edns() {
    let mistake = prepared(&endpoint("/", true), &[("dnssec", On), ("edns", Number(0))]).map(|_| ()).expect_err("both");
    assert_eq!((mistake.key, mistake.en.contains("edns: 0"), mistake.zh.is_ascii()), (Some("dnssec"), true, false));
}

#[test]
fn a_query_is_sent_again_twice() {
    let resend = |value, is_datagram| {
        let (step, _) = prepared(&endpoint("/", is_datagram), &[("resend", value)]).expect("a wait");
        step.resend().map(|resend| [0, 1, 2].map(|count| resend.wait(count, 7)))
    };
    let ms = |ms| Some(Duration::from_millis(ms));
    assert_eq!(resend(Text("500ms"), true), Some([ms(500), ms(1_000), None]));
    assert_eq!(resend(Text("2s"), true), Some([ms(2_000), ms(4_000), None]));
    assert_eq!((resend(Text("off"), true), resend(Text("2s"), false)), (None, None));
    assert_eq!(query_of("/", &[]).0.resend(), None);
    // Of a known URL over TCP it is a mistake.
    let over_tcp = Endpoint { scheme: "dns+tcp".to_owned(), ..endpoint("/", false) };
    assert!(prepared(&over_tcp, &[("resend", Text("off"))]).is_ok());
    let mistake = prepared(&over_tcp, &[("resend", Text("2s"))]).map(|_| ()).expect_err("over TCP");
    assert!(mistake.key == Some("resend") && mistake.en.contains("dns://") && !mistake.zh.is_ascii());
    for value in [Text(""), Text("0"), Text("999us"), Text("on"), Text("-1s"), Text("99999999h"), Made("1s")] {
        let mistake = prepared(&endpoint("/", true), &[("resend", value)]).map(|_| ()).expect_err("no wait");
        assert!(mistake.key == Some("resend") && mistake.en.contains("500ms") && !mistake.zh.is_ascii());
    }
}

#[test]
fn a_step_is_named_by_what_is_constant() {
    let long = "long.".repeat(20);
    for (path, given, name) in [
        ("/www.example.org", &[][..], "A www.example.org"),
        ("/www.example.org?type=AAAA", &[], "AAAA www.example.org"),
        ("/?type=SOA", &[], "SOA"),
        ("/", &[("type", Text("type77"))], "TYPE77"),
        ("/", &[("name", Text("www.example.org."))], "www.example.org"),
        ("/", &[("name", Text(".")), ("type", Text("ns"))], "NS ."),
        ("/", &[("name", Text("a\\..\\007")), ("type", Text("A"))], "A a\\..\\007"),
        ("/", &[("name", Made("b")), ("type", Text("mx"))], "MX"),
        ("/", &[("name", Text("b")), ("type", Made("mx"))], "b"),
        ("/", &[("name", Made("b"))], ""),
        ("/", &[], ""),
        ("/", &[("name", Text(&long))], "long.long.long.long.long.long.long.long"),
    ] {
        let (step, _) = query_of(path, given);
        assert_eq!(step.name(), name, "{path}");
        assert!(step.name().len() <= 40);
    }
}
