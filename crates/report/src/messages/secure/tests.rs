use metrics::{FAILURE_COUNT, Failure};

use super::*;

/// Text in a certificate may look like one of our placeholders.
fn odd() -> Refused {
    let [subject, issuer, not_before, not_after] = ["CN={address}", "CN={wanted}", "{", "}"].map(str::to_owned);
    let (names, wanted) = (vec!["{limit}".to_owned()], "{certificate}".to_owned());
    Refused { subject, issuer, names, not_before, not_after, wanted, rsa_bits: Some(1_024) }
}

#[test]
fn values_go_to_their_places_once() {
    let values = [("{a}", "1{b}".to_owned()), ("{b}", "2".to_owned())];
    let cases = [
        ("", ""),
        ("plain", "plain"),
        ("{a}", "1{b}"),
        ("{b}{a}{b}", "21{b}2"),
        ("x {b} y", "x 2 y"),
        ("{c}", "{c}"),
        ("{", "{"),
        ("{{b}", "{2"),
        ("}{b}", "}2"),
        ("证书{b}。", "证书2。"),
    ];
    for (text, expect) in cases {
        assert_eq!(fill(text, &values), expect, "{text}");
    }
}

#[test]
fn every_place_of_a_text_has_a_value() {
    let faults = (0..FAILURE_COUNT).filter_map(Failure::from_index).filter_map(|failure| match failure {
        Failure::Tls(fault) => Some(fault),
        _ => None,
    });
    for fault in faults {
        for language in [Language::En, Language::Zh] {
            let text = tls(fault, "192.0.2.1:443", None, "3s", language);
            assert!(!text.contains(['{', '}']), "{fault:?}: {text}");
        }
    }
    let weak = tls(TlsFault::WeakKey, "192.0.2.1:443", Some(&odd()), "3s", Language::En);
    assert!(weak.contains("an RSA key of 1024 bits") && weak.contains("CN={address}"), "{weak}");
    let name = tls(TlsFault::WrongName, "192.0.2.1:443", Some(&odd()), "3s", Language::En);
    assert!(name.contains("the name '{certificate}'") && name.contains("names {limit};"), "{name}");
}
