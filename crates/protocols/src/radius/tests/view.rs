//! Packets as JSON.

use pacing::Random;
use serde_json::{Value, json};

use super::super::view::view;
use super::*;

fn shown(packet: &[u8]) -> Value {
    let mut out = b"before".to_vec();
    view(packet, &mut out);
    let text = String::from_utf8(out).expect("UTF-8");
    let text = text.strip_prefix("before").expect("it is appended");
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(value["status"].is_string() && value["attributes"].is_object(), "{text}");
    value
}

/// A packet with these attributes, as their bytes.
fn packet(code: u8, attributes: &str) -> Vec<u8> {
    let mut packet = vec![0; HEADER_BYTES];
    packet[0] = code;
    packet.extend(bytes_of(attributes));
    write_length(0, &mut packet);
    packet
}

#[test]
fn attributes_are_shown_by_their_names() {
    for (attributes, expected) in [
        ("", json!({})),
        ("12 04 6869", json!({"Reply-Message": "hi"})),
        ("12 05 22 5c ff", json!({"Reply-Message": "\"\\\u{fffd}"})),
        ("12 04 6869 12 02 12 03 61", json!({"Reply-Message": ["hi", "", "a"]})),
        (
            "12 03 61 1b 06 00000e10 12 03 62 19 03 ff",
            json!({"Reply-Message": ["a", "b"], "Session-Timeout": 3600, "Class": "0xff"}),
        ),
        ("08 06 0a000001 05 06 ffffffff", json!({"Framed-IP-Address": "10.0.0.1", "NAS-Port": 4_294_967_295_u32})),
        ("06 06 00000002 07 06 00000001", json!({"Service-Type": "Framed-User", "Framed-Protocol": "PPP"})),
        ("06 06 00000011 06 06 0000000c", json!({"Service-Type": ["Authorize-Only", 12]})),
        ("06 06 00000000 1d 06 00000000", json!({"Service-Type": 0, "Termination-Action": "Default"})),
        ("3d 06 00000013", json!({"NAS-Port-Type": "Wireless-802.11"})),
        ("5f 12 20010db8000000000000000000000001", json!({"NAS-IPv6-Address": "2001:db8::1"})),
        ("61 08 0020 20010db8", json!({"Framed-IPv6-Prefix": "2001:db8::/32"})),
        ("61 04 0000", json!({"Framed-IPv6-Prefix": "::/0"})),
        // Lengths that do not fit.
        ("08 05 0a0000 05 03 01", json!({"Framed-IP-Address": "0x0a0000", "NAS-Port": "0x01"})),
        ("5f 03 20 61 03 00", json!({"NAS-IPv6-Address": "0x20", "Framed-IPv6-Prefix": "0x00"})),
        ("c8 04 0aff", json!({"Attr-200": "0x0aff"})),
        ("1a 0c 00000009 01 03 61 02 03 62", json!({"9.1": "0x61", "9.2": "0x62"})),
        ("1a 09 00000009 01 03 61 1a 09 00000009 01 03 62", json!({"9.1": ["0x61", "0x62"]})),
        ("1a 08 00000009 01 03", json!({"Vendor-Specific": "0x000000090103"})),
        ("1a 06 00000009 1a 03 00", json!({"Vendor-Specific": ["0x00000009", "0x00"]})),
        ("02 04 6162 03 03 61", json!({"User-Password": "***", "CHAP-Password": "***"})),
        // What is behind a length that is not valid is not read.
        ("12 03 61 12 01 12 03 62", json!({"Reply-Message": "a"})),
        ("12 03 61 12 09 62", json!({"Reply-Message": "a"})),
    ] {
        let expected = json!({"status": "Access-Accept", "attributes": expected});
        assert_eq!(shown(&packet(2, attributes)), expected, "{attributes}");
    }
    assert_eq!(shown(&packet(77, ""))["status"], "Code-77");
}

#[test]
fn a_password_is_in_no_view_of_a_request() {
    for method in ["pap", "chap"] {
        let given = [("secret", "s"), ("user", "nemo"), ("password", "arctangent"), ("method", method)];
        let (step, written) = prepared(&given, &[]);
        let (_, datagram) = Driven::new(&*step).begin(1, &written);
        for bytes in [written, datagram] {
            let mut json = Vec::new();
            step.view_request(&bytes, &mut json);
            let text = String::from_utf8(json).expect("UTF-8");
            assert!(text.contains("-Password\":\"***\"") && text.contains("\"nemo\""), "{text}");
            assert!(!text.contains("arctangent"), "{text}");
        }
    }
}

#[test]
fn any_bytes_are_shown_as_json() {
    let whole = packet(2, "12 04 6869 06 06 00000002 1a 09 00000009 01 03 61 61 08 0020 20010db8 c8 04 0aff");
    for length in 0..=whole.len() {
        shown(&whole[..length]);
    }
    for at in 0..whole.len() {
        for byte in 0..=255 {
            let mut changed = whole.clone();
            changed[at] = byte;
            shown(&changed);
        }
    }
    for seed in 0..2_000 {
        let mut random = Random::for_stream(seed, 3);
        let length = random.below(200);
        let mut bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
        if bytes.len() > 30 {
            // Short attributes of few types.
            bytes[20..].iter_mut().for_each(|byte| *byte %= 30);
        }
        shown(&bytes);
    }
    let mut empty_ones = packet(2, "");
    while empty_ones.len() < 4_094 {
        empty_ones.extend([(empty_ones.len() / 2 % 255) as u8, 2]);
    }
    write_length(0, &mut empty_ones);
    shown(&empty_ones);
}
