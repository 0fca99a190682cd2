//! What a step writes, what the connection makes of it, and mistakes.

use std::time::Duration;

use protocol::{Fault, Resend};

use super::super::dictionary::{encode, named, nearest};
use super::super::packet::{ACCESS_ACCEPT, Attributes, attribute, chap, identity, is_well_formed, packet_of};
use super::super::request::LISTED_BYTES_MAX;
use super::*;

/// The attributes of a packet, in their order.
fn attributes(packet: &[u8]) -> Vec<(u8, Vec<u8>)> {
    assert!(is_well_formed(packet) && packet_of(packet) == Some(packet));
    Attributes::of(packet).map(|(kind, value)| (kind, value.to_vec())).collect()
}

fn kinds(packet: &[u8]) -> Vec<u8> {
    attributes(packet).iter().map(|(kind, _)| *kind).collect()
}

/// The datagram of a step's request.
fn sent(given: &[(&str, &str)], values: &[&[u8]]) -> Vec<u8> {
    let (step, written) = prepared(&[&[("secret", "xyzzy5461")], given].concat(), values);
    let (_, datagram) = Driven::new(&*step).begin(1, &written);
    assert_eq!(packet_of(&datagram), Some(&datagram[..]));
    datagram
}

#[test]
fn an_access_request_is_signed_first_and_hides_its_password() {
    let secret = Secret::new(b"xyzzy5461");
    for (password, length) in [("arctangent", 16), ("", 16), ("0123456789abcdef", 16), ("0123456789abcdefg", 32)] {
        let packet = sent(&[("user", "nemo"), ("password", password)], &[]);
        assert_eq!((packet[0], kinds(&packet)), (1, vec![80, 2, 1, 32]));
        let (_, authenticator) = identity(&packet);
        assert!(secret.is_signed_if_at_all(&packet, &authenticator));
        assert!(!testing123().is_signed_if_at_all(&packet, &authenticator));
        let hidden = attribute(&packet, 2).expect("a password");
        assert_eq!(hidden.len(), length);
        let revealed = secret.reveal(&authenticator, hidden);
        assert_eq!(String::from_utf8(revealed).expect("text").trim_end_matches('\0'), password);
        assert_eq!(attribute(&packet, 1), Some(&b"nemo"[..]));
        assert_eq!(attribute(&packet, 32), Some(&b"onrush"[..]));
    }
}

#[test]
fn chap_has_a_challenge_of_its_own() {
    for password in ["arctangent", "", &"x".repeat(500)] {
        let packet = sent(&[("user", "flopsy"), ("password", password), ("method", "chap")], &[]);
        assert_eq!(kinds(&packet), [80, 3, 60, 1, 32]);
        let challenge = attribute(&packet, 60).expect("a challenge");
        let response = attribute(&packet, 3).expect("a response");
        assert_eq!(response[1..], chap(response[0], password.as_bytes(), challenge));
        assert_ne!(challenge, identity(&packet).1);
        assert!(Secret::new(b"xyzzy5461").is_signed_if_at_all(&packet, &identity(&packet).1));
    }
}

#[test]
fn an_accounting_request_is_signed_as_a_whole() {
    for (word, status) in [("start", 1), ("stop", 2), ("interim", 3)] {
        let packet = sent(&[("accounting", word), ("session", "s-1"), ("user", "nemo")], &[]);
        assert_eq!((packet[0], kinds(&packet)), (4, vec![40, 41, 1, 44, 32]));
        assert_eq!(attribute(&packet, 40), Some(&[0, 0, 0, status][..]));
        assert_eq!(attribute(&packet, 41), Some(&[0; 4][..]));
        assert_eq!(attribute(&packet, 44), Some(&b"s-1"[..]));
        assert!(Secret::new(b"xyzzy5461").has_digest(&packet, &[0; 16]));
    }
    let listed = [("attributes", "Acct-Delay-Time=3"), ("attributes", "NAS-Identifier=here")];
    let packet = sent(&[&[("accounting", "stop"), ("session", "s")], &listed[..]].concat(), &[]);
    assert_eq!(kinds(&packet), [40, 44, 41, 32], "no user is needed, and what is listed is not sent twice");
}

#[test]
fn users_and_passwords_come_from_the_url_unless_keys_have_them() {
    let written = |endpoint: &Endpoint, given: &[(&str, &str)]| {
        let request = fields(given);
        let texts: Vec<Vec<u8>> = request.texts.iter().map(|text| text.bytes.clone()).collect();
        let step = PROTOCOL.prepare(endpoint, &StepFields::new(&request)).expect("a valid step");
        let mut written = Vec::new();
        step.write(&Texts::new(&texts), &mut written);
        let packet = packet_of(&written).expect("a packet");
        let user = attribute(packet, 1).unwrap_or_default();
        format!("{} {}", user.escape_ascii(), written[packet.len()..].escape_ascii())
    };
    let secret = ("secret", "s");
    assert_eq!(written(&url("me", Some("pw")), &[secret]), "me pw");
    assert_eq!(written(&url("me", Some("pw")), &[secret, ("user", "you")]), "you pw");
    assert_eq!(written(&url("me", Some("pw")), &[secret, ("password", "")]), "me ");
    assert_eq!(written(&url("me", Some("")), &[secret, ("method", "chap")]), "me ");
    let accounting = [secret, ("accounting", "stop"), ("session", "1")];
    assert_eq!(written(&url("me", Some("pw")), &accounting), "me ", "an Accounting-Request has no password");
}

#[test]
fn values_that_differ_are_filled_in() {
    let given = [
        ("user", "${user}"),
        ("password", "${password}"),
        ("session", "${id}"),
        ("attributes", "NAS-Port=${port}"),
        ("attributes", "Called-Station-Id=a=b"),
        ("attributes", "State=${state}"),
    ];
    let packet = sent(&given, &[b"me", b"pw", b"s1", b"NAS-Port=7", b"State=0x00ff"]);
    let (_, authenticator) = identity(&packet);
    let hidden = attribute(&packet, 2).expect("a password");
    assert!(Secret::new(b"xyzzy5461").reveal(&authenticator, hidden).starts_with(b"pw\0"));
    let rest = attributes(&packet).split_off(2);
    let expected: [(u8, &[u8]); 6] =
        [(1, b"me"), (44, b"s1"), (32, b"onrush"), (5, &[0, 0, 0, 7]), (30, b"a=b"), (24, &[0, 255])];
    assert_eq!(rest, expected.map(|(kind, value)| (kind, value.to_vec())));
}

#[test]
fn values_that_are_not_valid_are_left_out_or_cut() {
    let given =
        [("user", "${user}"), ("password", "${password}"), ("attributes", "NAS-Port=${x}"), ("attributes", "Class=k")];
    let long = "x".repeat(300);
    for port in ["NAS-Port=no", "NAS-Port=", "NAS-Port=-1", "NAS-Port=4294967296", ""] {
        let packet = sent(&given, &[long.as_bytes(), long.as_bytes(), port.as_bytes()]);
        assert_eq!(kinds(&packet), [80, 2, 32, 25], "{port}");
        let password = Secret::new(b"xyzzy5461").reveal(&identity(&packet).1, &packet[40..168]);
        assert_eq!(password, [b'x'; 128]);
    }
}

/// What was sent for such a request is not what was meant: its response fails it, and so does its timeout.
#[test]
fn a_request_with_a_value_that_is_too_long_or_not_valid_fails() {
    let value = Some(Fault::Custom(2));
    let secret = Secret::new(b"xyzzy5461");
    let (long, class) = ("x".repeat(254), format!("Class={}", "x".repeat(254)));
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a [u8]], bool);
    let cases: [Case<'_>; 8] = [
        (&[("user", "${a}"), ("password", "p")], &[long.as_bytes()], true),
        (&[("user", "u"), ("password", "${a}")], &[&long.as_bytes()[..129]], true),
        (&[("user", "u"), ("password", "p"), ("session", "${a}")], &[long.as_bytes()], true),
        (&[("user", "${a}"), ("password", "p")], &[&long.as_bytes()[..253]], false),
        (&[("user", "u"), ("password", "${a}"), ("method", "chap")], &[long.as_bytes()], false),
        (&[("user", "u"), ("password", "p"), ("attributes", "NAS-Port=${a}")], &[b"NAS-Port=x"], true),
        (&[("user", "u"), ("password", "p"), ("attributes", "Class=${a}")], &[class.as_bytes()], true),
        (&[("user", "u"), ("password", "p"), ("attributes", "NAS-Port=${a}")], &[b"NAS-Port=7"], false),
    ];
    for (given, values, is_too_long) in cases {
        let (step, written) = prepared(&[&[("secret", "xyzzy5461")], given].concat(), values);
        let mut driven = Driven::new(&*step);
        let (number, request) = driven.begin(1, &written);
        assert_eq!(driven.connection.overdue(number), value.filter(|_| is_too_long), "{given:?}");
        let handled = driven.handle(&response(&secret, ACCESS_ACCEPT, &request, &[]));
        assert_eq!(handled, if is_too_long { "Custom(2)" } else { "1 Access-Accept true" }, "{given:?}");
        assert!(driven.connection.is_idle());
    }
}

#[test]
fn a_request_always_fits_into_a_packet() {
    let longest = "x".repeat(253);
    let mut given = vec![("user", "${a}"), ("password", "${b}"), ("session", "${c}"), ("method", "chap")];
    given.extend([("attributes", "Reply-Message=${x}"); 40]);
    given.push(("attributes", "NAS-Identifier=${y}"));
    let value = format!("=={longest}");
    let mut values = vec![longest.as_bytes(); 3];
    values.extend([value.get(1..).expect("one byte").as_bytes(); 40]);
    values.push(b"=z");
    let packet = sent(&given, &values);
    assert_eq!(kinds(&packet).iter().filter(|kind| **kind == 18).count(), LISTED_BYTES_MAX / 255);
    assert!(packet.len() <= 4_096 && kinds(&packet).last() == Some(&32), "{}", packet.len());
}

#[test]
fn values_of_each_kind() {
    let encoded = |listed: &str| {
        let (name, value) = listed.split_once('=').expect("a value");
        let mut out = b"before".to_vec();
        let done = encode(named(name).expect("a known name"), value.as_bytes(), &mut out);
        let bytes = out.strip_prefix(b"before").expect("it is appended").to_vec();
        assert_eq!(done.is_none(), bytes.is_empty());
        done.map(|()| bytes)
    };
    for (listed, bytes) in [
        ("Reply-Message=hi", "12 04 6869"),
        ("reply-message= 0x41", "12 07 2030783431"),
        ("Class=abc", "19 05 616263"),
        ("Class=0xaBc0", "19 04 abc0"),
        ("NAS-Port=4294967295", "05 06 ffffffff"),
        ("NAS-Port= 7 ", "05 06 00000007"),
        ("Event-Timestamp=1700000000", "37 06 6553f100"),
        ("Service-Type=Framed-User", "06 06 00000002"),
        ("Service-Type=authorize-only", "06 06 00000011"),
        ("Service-Type=11", "06 06 0000000b"),
        ("NAS-Port-Type=Wireless-802.11", "3d 06 00000013"),
        ("NAS-Port-Type=Virtual", "3d 06 00000005"),
        ("Framed-Protocol=PPP", "07 06 00000001"),
        ("Acct-Terminate-Cause=Host-Request", "31 06 00000012"),
        ("Acct-Authentic=RADIUS", "2d 06 00000001"),
        ("Framed-IP-Address=10.0.0.1", "08 06 0a000001"),
        ("NAS-IPv6-Address=2001:db8::1", "5f 12 20010db8000000000000000000000001"),
        ("Framed-IPv6-Prefix=2001:db8:ffff::/36", "61 14 0024 20010db8f00000000000000000000000"),
        ("Framed-IPv6-Prefix=::1/128", "61 14 0080 00000000000000000000000000000001"),
        ("Framed-IPv6-Prefix=ffff::/0", "61 14 0000 00000000000000000000000000000000"),
        ("Attr-200=0xff", "c8 03 ff"),
        ("Attr-255=x", "ff 03 78"),
        ("9.1=0x0102", "1a 0a 00000009 01 04 0102"),
        ("4294967295.255=ab", "1a 0a ffffffff ff 04 6162"),
        ("Vendor-Specific=0x000000090103ff", "1a 09 00000009 01 03 ff"),
    ] {
        assert_eq!(encoded(listed), Some(bytes_of(bytes)), "{listed}");
    }
    for listed in [
        "Reply-Message=",
        &format!("Reply-Message={}", "x".repeat(254)),
        "Class=0x",
        "Class=0xabc",
        "Class=0xzz",
        &format!("9.1={}", "x".repeat(248)),
        "NAS-Port=",
        "NAS-Port=-1",
        "NAS-Port=4294967296",
        "NAS-Port=Framed-User",
        "Service-Type=Nothing",
        "Framed-IP-Address=10.0.0",
        "Framed-IP-Address=::1",
        "NAS-IPv6-Address=10.0.0.1",
        "Framed-IPv6-Prefix=::1",
        "Framed-IPv6-Prefix=::/129",
        "Framed-IPv6-Prefix=x/3",
    ] {
        assert_eq!(encoded(listed), None, "{listed}");
    }
    let longest = format!("9.1={}", "x".repeat(247));
    assert_eq!(encoded(&longest).map(|bytes| (bytes.len(), bytes[1], bytes[7])), Some((255, 255, 249)));
    assert!(["Attr-0", "Attr-256", "Attr-", "Attr-x", "9", "9.", ".1", "9.256", "9.1.1"].map(named) == [None; 9]);
}

#[test]
fn near_names_are_found() {
    assert!(nearest("NAS-Prot").contains("NAS-Port"));
    assert!(nearest("called station id").starts_with("Called-Station-Id, "));
    assert_eq!(nearest("").split(", ").count(), 3);
}

#[test]
fn requests_are_sent_again_as_rfc_5080_says() {
    let resend = |text: Option<&str>| {
        let mut given = vec![("secret", "s"), ("user", "u"), ("password", "p")];
        given.extend(text.map(|text| ("resend", text)));
        prepare(&url("", None), &given).expect("a valid step").resend()
    };
    let as_is = Resend {
        after: Duration::from_secs(2),
        factor: 2,
        longest: Duration::from_secs(16),
        jitter_percent: 10,
        most: 5,
    };
    assert_eq!(resend(None), Some(as_is));
    assert_eq!(resend(Some("off")), None);
    assert_eq!(resend(Some("500ms")), Some(Resend { after: Duration::from_millis(500), ..as_is }));
    let minute = Duration::from_secs(60);
    assert_eq!(resend(Some("1m")), Some(Resend { after: minute, longest: minute, ..as_is }));
}

#[test]
fn steps_are_named_by_their_kind() {
    let name = |given: &[(&str, &str)]| prepared(&[&[("secret", "s")], given].concat(), &[]).0.name();
    assert_eq!(name(&[("user", "u"), ("password", "p")]), "pap");
    assert_eq!(name(&[("user", "u"), ("password", "p"), ("method", "chap")]), "chap");
    assert_eq!(name(&[("accounting", "interim"), ("session", "p")]), "interim");
}

/// Fields, the key of the mistake in them, and a part of its text.
type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str);

const OF_ATTRIBUTES: &[Case<'static>] = &[
    (&[("attributes", "NAS-Port")], "attributes", "'NAS-Port' has no '='"),
    (&[("attributes", "${name}=7")], "attributes", "only the value may have slots"),
    (&[("attributes", "NAS-Prot=7")], "attributes", "near it are NAS-Port, "),
    (&[("attributes", "Attr-256=x")], "attributes", "Attr-200=0xff"),
    (&[("attributes", "=x")], "attributes", "'' is not known"),
    (&[("attributes", "NAS-Port=x")], "attributes", "a number up to 4294967295"),
    (&[("attributes", "Framed-IP-Address=x")], "attributes", "an IPv4 address"),
    (&[("attributes", "Login-IPv6-Host=x")], "attributes", "an IPv6 address"),
    (&[("attributes", "Framed-IPv6-Prefix=x")], "attributes", "2001:db8::/32"),
    (&[("attributes", "State=0xa")], "attributes", "hexadecimal digits"),
    (&[("attributes", "Reply-Message=")], "attributes", "a text of 1 to 253 bytes"),
    (&[("attributes", "User-Name=x")], "attributes", "write it as 'user'"),
    (&[("attributes", "User-Password=x")], "attributes", "'password'"),
    (&[("attributes", "Attr-3=x")], "attributes", "'password'"),
    (&[("attributes", "acct-status-type=1")], "attributes", "'accounting'"),
    (&[("attributes", "Acct-Session-Id=x")], "attributes", "'session'"),
    (&[("attributes", "CHAP-Challenge=x")], "attributes", "leave it out"),
    (&[("attributes", "Message-Authenticator=x")], "attributes", "computed for each request"),
];

#[test]
fn mistakes_have_a_key_a_cause_and_a_remedy_in_both_languages() {
    let long = "x".repeat(254);
    let huge: Vec<String> = (0..13).map(|_| format!("Reply-Message={}", "x".repeat(253))).collect();
    let huge: Vec<(&str, &str)> = huge.iter().map(|text| ("attributes", text.as_str())).collect();
    let accounting = [("accounting", "start"), ("session", "1")];
    let of_keys: &[Case<'_>] = &[
        (&[("secret", "")], "secret", "is empty"),
        (&[("secret", "${x}")], "secret", "no slots"),
        (&[("method", "mschap")], "method", "one of pap, chap, not 'mschap'"),
        (&[("method", "${x}")], "method", "no slots"),
        (&[("accounting", "begin"), ("session", "1")], "accounting", "start, stop, interim, not 'begin'"),
        (&[("accounting", "${x}"), ("session", "1")], "accounting", "no slots"),
        (&[("accounting", "start")], "session", "give session"),
        (&[("accounting", "start"), ("session", "")], "session", "give session"),
        (&[accounting[0], accounting[1], ("password", "x")], "password", "has no password"),
        (&[accounting[0], accounting[1], ("method", "pap")], "method", "has no method"),
        (&[("user", "")], "user", "there is no user"),
        (&[("user", &long)], "user", "254 bytes; 253 are the most"),
        (&[("session", &long)], "session", "254 bytes"),
        (&[("password", &long[..129])], "password", "129 bytes; 128 are the most"),
        (&[("resend", "0")], "resend", "500ms"),
        (&[("resend", "soon")], "resend", "not 'soon'"),
        (&[("resend", "${x}")], "resend", "no slots"),
        (&huge, "attributes", "3315 bytes; 3200 are the most"),
    ];
    for (given, key, part) in of_keys.iter().chain(OF_ATTRIBUTES) {
        let secret = [("secret", "s")];
        let given = if *key == "secret" { given.to_vec() } else { [&secret, *given].concat() };
        let mistake = prepare(&url("me", Some("pw")), &given).map(|_| ()).expect_err(part);
        assert_eq!(mistake.key, Some(*key), "{}", mistake.en);
        assert!(mistake.en.contains(part), "{}", mistake.en);
        assert!(!mistake.zh.is_ascii(), "{}", mistake.zh);
    }
    for (endpoint, key, part) in [
        (url("", None), Some("user"), "radius://user:password@host"),
        (url("me", None), Some("password"), "there is no password"),
        (Endpoint { path: "/x?y".to_owned(), ..url("me", Some("pw")) }, None, "no path, not '/x?y'"),
        (
            Endpoint { scheme: "radius-acct".to_owned(), ..url("me", Some("pw")) },
            Some("accounting"),
            "give accounting (start, stop or interim)",
        ),
    ] {
        let mistake = prepare(&endpoint, &[("secret", "s")]).map(|_| ()).expect_err(part);
        assert_eq!(mistake.key, key);
        assert!(mistake.en.contains(part) && !mistake.zh.is_ascii(), "{}", mistake.en);
    }
}

#[test]
fn connections_that_are_only_opened_need_no_keys() {
    let request = CustomRequest { only_connects: true, ..CustomRequest::default() };
    let step = PROTOCOL.prepare(&url("", None), &StepFields::new(&request)).expect("a valid step");
    assert_eq!(Driven::new(&*step).connection.room(), 1);
}

#[test]
fn failures_belong_to_the_protocol() {
    for failure in PROTOCOL.about().failures {
        assert!(failure.name.starts_with("radius-"));
        assert!(!failure.cause.zh.is_ascii() && !failure.remedy.zh.is_ascii(), "{}", failure.name);
    }
    assert!(PROTOCOL.about().keys.iter().all(|key| !key.help.zh.is_ascii()));
}
