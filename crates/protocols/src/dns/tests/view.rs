//! Messages as JSON.

use serde_json::{Value, json};

use super::*;

fn view(response: &[u8]) -> Value {
    let mut json = b"before".to_vec();
    plain("a", "A").0.view(response, &mut json);
    parsed(json)
}

fn parsed(json: Vec<u8>) -> Value {
    let text = String::from_utf8(json).expect("UTF-8");
    let text = text.strip_prefix("before").expect("it is appended");
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A response to a query for `www.example.org.`.
fn response(flags: u16, sections: [&[Record<'_>]; 3]) -> Vec<u8> {
    message(1, flags, &[&[0; 2], &plain("www.example.org", "A").1[..]].concat(), sections)
}

#[test]
fn a_response_is_shown_as_json() {
    let alias = wire("web.example.org");
    let sections: [&[Record<'_>]; 3] = [
        &[(OWNER, 5, 20, &alias), (&alias, 1, 60, &[192, 0, 2, 1])],
        &[(b"\x07example\x03org\0", 2, 3_600, b"\x03ns1\xc0\x10")],
        &[
            (b"\x03ns1\xc0\x10", 28, 0x8000_0000, &[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
            (b"\0", 41, 0x8000, b""),
        ],
    ];
    assert_eq!(
        view(&response(0x85b3, sections)),
        json!({
            "status": "NXDOMAIN",
            "flags": ["AA", "RD", "RA", "AD", "CD"],
            "question": {"name": "www.example.org.", "type": "A"},
            "answers": [
                {"name": "www.example.org.", "type": "CNAME", "ttl": 20, "data": "web.example.org."},
                {"name": "web.example.org.", "type": "A", "ttl": 60, "data": "192.0.2.1"},
            ],
            "authority": [{"name": "example.org.", "type": "NS", "ttl": 3_600, "data": "ns1.example.org."}],
            "additional": [{"name": "ns1.example.org.", "type": "AAAA", "ttl": 0, "data": "2001:db8::1"}],
            "edns": {"size": 1},
        })
    );
    let empty = view(&response(0x8200, [&[], &[], &[]]));
    assert_eq!(empty["flags"], json!(["TC"]));
    assert_eq!(empty["answers"], json!([]));
    assert_eq!((empty.get("edns"), empty.get("broken")), (None, None));
    let opt: &[Record<'_>] = &[(b"\0", 41, 0x0100_0000, b"")];
    assert_eq!(view(&response(0x8000, [&[], &[], opt]))["status"], "BADVERS");
    let twice = view(&response(0x8000, [&[], opt, opt]));
    assert_eq!((&twice["status"], &twice["broken"]), (&json!("NOERROR"), &json!(true)));
}

#[test]
fn data_is_shown_as_in_zone_files() {
    for (kind, data, name, shown) in [
        (1, &[10, 0, 0, 1][..], "A", "10.0.0.1"),
        (1, &[10, 0, 0], "A", "\\# 3 0a0000"),
        (1, &[10, 0, 0, 1, 2], "A", "\\# 5 0a00000102"),
        (28, &[0; 16], "AAAA", "::"),
        (2, b"\x02ns\xc0\x0c", "NS", "ns.www.example.org."),
        (2, b"\0", "NS", "."),
        (2, b"\x02ns", "NS", "\\# 3 026e73"),
        (2, b"\x02ns\0\0", "NS", "\\# 5 026e730000"),
        (12, b"\x04a.\\\x07\x01b\0", "PTR", "a\\.\\\\\\007.b."),
        (39, b"\x01d\0", "DNAME", "d."),
        (15, b"\0\x0a\x04mail\xc0\x10", "MX", "10 mail.example.org."),
        (15, b"\0", "MX", "\\# 1 00"),
        (16, b"\x05v=abc\x03\"x\n", "TXT", "v=abc\"x\n"),
        (16, b"\x00", "TXT", ""),
        (16, b"\x05abc", "TXT", "\\# 4 05616263"),
        (33, b"\0\x01\0\x02\x01\xbb\x01h\0", "SRV", "1 2 443 h."),
        (
            6,
            b"\x02ns\0\x04host\0\0\0\0\x01\0\0\0\x02\0\0\0\x03\0\0\0\x04\xff\xff\xff\xff",
            "SOA",
            "ns. host. 1 2 3 4 4294967295",
        ),
        (6, b"\x02ns\0\x04host\0\0\0\0\x01", "SOA", "\\# 14 026e730004686f73740000000001"),
        (65, b"", "HTTPS", "\\# 0"),
        (65_280, b"\x0a\0\0\x01", "TYPE65280", "\\# 4 0a000001"),
    ] {
        let shown =
            if name == "SOA" && shown.starts_with('\\') { shown.replace("00 0", "000") } else { shown.to_owned() };
        let all = view(&response(0x8000, [&[(OWNER, kind, 1, data)], &[], &[]]));
        let expected = json!({"name": "www.example.org.", "type": name, "ttl": 1, "data": shown});
        assert_eq!((&all["answers"], all.get("broken")), (&json!([expected]), None), "{name}");
    }
}

/// The names of RFC 1035, 4.1.4, at their positions.
#[test]
fn names_are_compressed_as_in_the_rfc() {
    let mut bytes = vec![0; 93];
    bytes[20..32].copy_from_slice(b"\x01F\x03ISI\x04ARPA\0");
    bytes[40..46].copy_from_slice(b"\x03FOO\xc0\x14");
    bytes[64..66].copy_from_slice(b"\xc0\x1a");
    for (at, text, end) in [(20, "F.ISI.ARPA.", 32), (40, "FOO.F.ISI.ARPA.", 46), (64, "ARPA.", 66), (92, ".", 93)] {
        let mut reader = ::wire::dns::message::Reader::new(&bytes, at);
        let name = reader.name().expect("a name");
        let mut shown = Vec::new();
        ::wire::dns::message::push_name_text(&name, &mut shown);
        assert_eq!((std::str::from_utf8(&shown), reader.at()), (Ok(text), end));
    }
}

#[test]
fn a_query_is_shown_without_a_status() {
    let shown = |message: &[u8]| {
        let mut json = b"before".to_vec();
        plain("a", "A").0.view_request(message, &mut json);
        parsed(json)
    };
    let (_, query) = query_of("/www.example.org?type=MX", &[("dnssec", super::Value::On)]);
    assert_eq!(
        shown(&query),
        json!({
            "flags": ["RD"],
            "question": {"name": "www.example.org.", "type": "MX"},
            "answers": [], "authority": [], "additional": [],
            "edns": {"size": 1_232},
        })
    );
    assert_eq!(shown(b""), json!({"broken": true}));
}

#[test]
fn a_broken_message_is_shown_as_far_as_it_can_be_read() {
    let good = response(0x8180, [&[(OWNER, 1, 60, &[192, 0, 2, 1])], &[(OWNER, 2, 60, b"\xc0\x0c")], &[]]);
    let whole = view(&good);
    for cut in 0..good.len() {
        let shown = view(&good[..cut]);
        assert_eq!(shown["broken"], true, "{cut}");
        assert_eq!(shown.get("status").is_some(), cut >= 12);
        assert!(shown.get("question").is_none_or(|question| *question == whole["question"]));
        let answers = shown.get("answers").and_then(Value::as_array).map_or(0, Vec::len);
        assert_eq!(answers, usize::from(cut >= 12 + 21 + 16), "{cut}");
    }
    for at in 0..good.len() {
        for value in 0..=255 {
            let mut changed = good.clone();
            changed[at] = value;
            assert!(view(&changed).is_object());
        }
    }
}

#[test]
fn hostile_messages_are_shown_as_json() {
    let head = |counts: [u16; 4]| {
        let mut out = Vec::new();
        MessageHead { id: 1, flags: 0x8000, counts }.push(&mut out);
        out
    };
    let circle = [head([1, 0, 0, 0]), b"\xc0\x0c\0\x01\0\x01".to_vec()].concat();
    let ahead = [head([1, 0, 0, 0]), b"\xc0\x20\0\x01\0\x01".to_vec()].concat();
    let back_and_forth = [head([0, 1, 0, 0]), b"\x01a\xc0\x0c\0\x01\0\x01\0\0\0\0\0\0".to_vec()].concat();
    for message in [circle, ahead, back_and_forth, head([u16::MAX; 4]), [head([u16::MAX; 4]), vec![0; 60_000]].concat()]
    {
        assert_eq!(view(&message)["broken"], true);
    }
    // A ladder of pointers, each to the one before it.
    let ladder: Vec<u8> = (0..1_000_u16).flat_map(|step| (0xc000 | (step * 2).max(12)).to_be_bytes()).collect();
    let message = [head([0, 1, 0, 0]), ladder].concat();
    assert!(view(&message).is_object());
    // Many long names by pointers: they are written out, and the text stays within bounds.
    let long = wire(&format!("{}a", "\\000\\001\\002.".repeat(60)));
    let records: Vec<Record<'_>> = vec![(OWNER, 2, 1, OWNER); 4_000];
    let query = [&head([1, 0, 0, 0])[..], &long, &[0, 1, 0, 1]].concat();
    let large = super::message(1, 0x8000, &query, [&records, &[], &[]]);
    assert!(large.len() <= 65_535);
    assert_eq!(view(&large)["answers"].as_array().map(Vec::len), Some(4_000));
}
