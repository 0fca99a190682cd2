use proptest::prelude::*;

use super::*;

const NOW: u64 = 1_700_000_000;

fn place(url: &str) -> Endpoint<'_> {
    let (scheme, rest) = url.split_once("://").expect("a scheme");
    let (host, path) = rest.find('/').map_or((rest, "/"), |place| rest.split_at(place));
    Endpoint { host, path, is_tls: scheme == "https" }
}

fn sent(jar: &Jar, url: &str) -> String {
    let mut out = b"Cookie: ".to_vec();
    jar.write(place(url), NOW, &mut out);
    String::from_utf8(out).expect("text").split_off(8)
}

#[test]
fn a_cookie_goes_where_browsers_send_it() {
    let cases = [
        // The URL that sets it, the cookie, the requested URL, the sent cookies.
        ("http://h.test/a/b", "a=1", "http://h.test/a/c", "a=1"),
        ("http://h.test/a/b", "a=1", "http://h.test/", ""),
        ("http://h.test/a", "a=1", "http://h.test/", "a=1"),
        ("http://h.test/a", "a=1", "http://x.h.test/", ""),
        ("http://x.h.test/", "a=1; Domain=h.test", "http://h.test/", "a=1"),
        ("http://x.h.test/", "a=1; domain=.H.Test", "http://y.h.test/", "a=1"),
        ("http://h.test/", "a=1; domain=h.test", "http://xh.test/", ""),
        ("http://h.test/", "a=1; domain=x.h.test", "http://x.h.test/", ""),
        ("http://h.test/", "a=1; domain=other.test", "http://h.test/", ""),
        ("http://h.test/", "a=1; domain=test", "http://h.test/", ""),
        ("http://h.co.uk/", "a=1; domain=co.uk", "http://h.co.uk/", ""),
        ("http://h.com.cn/", "a=1; domain=com.cn", "http://x.com.cn/", ""),
        ("http://h.com.cn/", "a=1; domain=h.com.cn", "http://x.h.com.cn/", "a=1"),
        ("http://localhost/", "a=1; domain=localhost", "http://localhost/", "a=1"),
        ("http://127.0.0.1/", "a=1", "http://127.0.0.1/x", "a=1"),
        ("http://127.0.0.1/", "a=1; domain=127.0.0.1", "http://127.0.0.1/x", "a=1"),
        ("http://127.0.0.1/", "a=1; domain=0.1", "http://127.0.0.1/x", ""),
        ("http://h.test/", "a=1; domain=", "http://h.test/", "a=1"),
        ("http://h.test/", "a=1; path=/x", "http://h.test/x", "a=1"),
        ("http://h.test/", "a=1; path=/x", "http://h.test/x/y", "a=1"),
        ("http://h.test/", "a=1; path=/x", "http://h.test/xy", ""),
        ("http://h.test/", "a=1; path=/x/", "http://h.test/x/y", "a=1"),
        ("http://h.test/", "a=1; path=/x/", "http://h.test/x", ""),
        ("http://h.test/b/c", "a=1; path=x", "http://h.test/b/d", "a=1"),
        ("https://h.test/", "a=1; Secure", "https://h.test/", "a=1"),
        ("https://h.test/", "a=1; secure", "http://h.test/", ""),
        ("http://h.test/", "a=1; secure", "https://h.test/", ""),
        ("http://127.0.0.1/", "a=1; secure; HttpOnly; SameSite=Strict", "http://127.0.0.1/", "a=1"),
        ("http://h.test/", "a=1; max-age=10", "http://h.test/", "a=1"),
        ("http://h.test/", "a=1; max-age=0", "http://h.test/", ""),
        ("http://h.test/", "a=1; max-age=-5", "http://h.test/", ""),
        ("http://h.test/", "a=1; max-age=nonsense", "http://h.test/", "a=1"),
        ("http://h.test/", "a=1; max-age=99999999999999999999", "http://h.test/", "a=1"),
        ("http://h.test/", "a=1; expires=Thu, 01 Jan 1970 00:00:00 GMT", "http://h.test/", ""),
        ("http://h.test/", "a=1; expires=Thu, 01 Jan 2099 00:00:00 GMT", "http://h.test/", "a=1"),
        ("http://h.test/", "a=1; expires=Thu, 01 Jan 1970 00:00:00 GMT; max-age=5", "http://h.test/", "a=1"),
        ("http://h.test/", "a=1; expires=soon", "http://h.test/", "a=1"),
        ("http://h.test/", " a = 1 2 = 3 ;x", "http://h.test/", "a=1 2 = 3"),
        ("http://h.test/", "alone", "http://h.test/", "alone"),
        ("http://h.test/", "=v", "http://h.test/", "v"),
        ("http://h.test/", "a=", "http://h.test/", "a="),
        ("http://h.test/", "=", "http://h.test/", ""),
        ("http://h.test/", "", "http://h.test/", ""),
        ("http://h.test/", "a=1\u{1}", "http://h.test/", ""),
        ("http://h.test/", "__Secure-a=1", "http://h.test/", ""),
        ("https://h.test/", "__Secure-a=1; secure", "https://h.test/", "__Secure-a=1"),
        ("https://h.test/", "__Host-a=1; secure; path=/", "https://h.test/", "__Host-a=1"),
        ("https://h.test/", "__host-a=1; secure; path=/x", "https://h.test/x", ""),
        ("https://h.test/", "__Host-a=1; secure; path=/; domain=h.test", "https://h.test/", ""),
        ("https://h.test/", "=__Host-a=1; secure; path=/", "https://h.test/", ""),
        ("http://h.test/", "名=值", "http://h.test/", "名=值"),
    ];
    for (from, field, to, expect) in cases {
        let mut jar = Jar::default();
        jar.store(field.as_bytes(), place(from), NOW);
        assert_eq!(sent(&jar, to), expect, "{from} sets '{field}', {to} is asked");
    }
}

#[test]
fn longer_paths_go_first_then_older_ones() {
    let mut jar = Jar::default();
    for field in ["a=1; path=/", "b=2; path=/x/y", "c=3; path=/x", "d=4; path=/", "e=5; path=/x/y"] {
        assert!(jar.store(field.as_bytes(), place("http://h.test/"), NOW));
    }
    assert_eq!(sent(&jar, "http://h.test/x/y"), "b=2; e=5; c=3; a=1; d=4");
    // A cookie that is set again keeps its place.
    assert!(jar.store(b"a=6; path=/", place("http://h.test/"), NOW));
    assert!(!jar.store(b"a=6; path=/", place("http://h.test/"), NOW), "nothing changed");
    assert_eq!(sent(&jar, "http://h.test/"), "a=6; d=4");
    assert!(jar.store(b"a=; path=/; max-age=0", place("http://h.test/"), NOW));
    assert_eq!(sent(&jar, "http://h.test/"), "d=4");
    assert_eq!(jar.all().collect::<Vec<_>>(), [("b", "2"), ("c", "3"), ("d", "4"), ("e", "5")]);
}

#[test]
fn what_has_an_end_goes_nowhere_after_it() {
    let mut jar = Jar::default();
    jar.store(b"a=1; max-age=10", place("http://h.test/"), NOW);
    let at = |now| {
        let mut out = Vec::new();
        jar.write(place("http://h.test/"), now, &mut out);
        out
    };
    assert_eq!((at(NOW + 9), at(NOW + 10)), (b"a=1".to_vec(), Vec::new()));
}

/// An attacker on the network cannot replace a secure cookie.
#[test]
fn what_is_secure_is_not_hidden_by_what_is_not() {
    let mut jar = Jar::default();
    assert!(jar.store(b"sid=good; secure; path=/", place("https://h.test/"), NOW));
    for field in ["sid=bad; path=/", "sid=bad; path=/x", "sid=bad; domain=h.test; path=/"] {
        assert!(!jar.store(field.as_bytes(), place("http://h.test/"), NOW), "{field}");
    }
    assert!(jar.store(b"sid=better; path=/", place("https://h.test/"), NOW), "by TLS it may");
}

#[test]
fn a_jar_is_bounded_and_small() {
    let mut jar = Jar::default();
    assert_eq!(jar.heap_bytes(), 0);
    jar.store(b"sid=0123456789abcdef; path=/", place("http://h.test/"), NOW);
    assert!(jar.heap_bytes() < 250, "{}", jar.heap_bytes());
    for number in 0..JAR_COOKIES_MAX + 5 {
        jar.store(format!("n{number}=1").as_bytes(), place("http://h.test/"), NOW);
    }
    assert_eq!((jar.all().count(), jar.all().next()), (JAR_COOKIES_MAX, Some(("n5", "1"))));
    let long = format!("a={}", "x".repeat(COOKIE_BYTES_MAX));
    assert!(!jar.store(long.as_bytes(), place("http://h.test/"), NOW));
    let path = format!("a=1; path=/{}", "x".repeat(ATTRIBUTE_BYTES_MAX));
    assert!(jar.store(path.as_bytes(), place("http://other.test/"), NOW));
    assert_eq!(sent(&jar, "http://other.test/"), "a=1", "a path that is too long is passed over");
    jar.clear();
    assert!(jar.is_empty());
}

proptest! {
    /// For any fields: the sent value is one line of pairs, and setting a field again changes nothing.
    #[test]
    fn anything_may_be_said(fields in prop::collection::vec(any_field(), 0..8), path in "/[ab/]{0,4}") {
        let mut jar = Jar::default();
        let from = Endpoint { host: "x.h.test", path: &path, is_tls: false };
        for field in &fields {
            jar.store(field.as_bytes(), from, NOW);
            prop_assert!(!jar.clone().store(field.as_bytes(), from, NOW));
        }
        let mut out = Vec::new();
        jar.write(from, NOW, &mut out);
        prop_assert!(!out.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)));
        prop_assert!(out.split(|byte| *byte == b';').count() <= jar.all().count().max(1));
    }
}

fn any_field() -> impl Strategy<Value = String> {
    let attribute = prop_oneof![
        Just("; secure"),
        Just("; path=/a"),
        Just("; path=/a/b"),
        Just("; domain=h.test"),
        Just("; domain=x.h.test"),
        Just("; max-age=5"),
        Just("; max-age=0"),
        Just("; expires=Thu, 01 Jan 1970 00:00:00 GMT"),
        Just("; "),
    ];
    let known = ("[ab]?=?[12]?", prop::collection::vec(attribute, 0..4));
    prop_oneof![known.prop_map(|(pair, attributes)| pair + &attributes.concat()), ".{0,30}".prop_map(|text| text)]
}
