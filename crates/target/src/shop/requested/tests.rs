use proptest::prelude::*;

use super::super::cart::Item;
use super::*;

const KEY: &str = "00000000000400010123456789abcdef";
const OTHER: &str = "0000000000080002fedcba9876543210";

fn requested(fields: &[(&str, &str)]) -> ShopRequest {
    ShopRequest::read("GET", "/cart", fields.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())))
}

fn key(text: &str) -> Proof {
    Proof::Key(text.parse().expect("a key"))
}

#[test]
fn credentials_and_boundaries_are_found() {
    let basic = |value: &str| requested(&[("authorization", value)]).basic.map(String::from);
    assert_eq!(basic("Basic YW5uOnNlY3JldDp4"), Some("ann:secret:x".to_owned()));
    assert_eq!([basic("basic ???"), basic("Basic /w==")], [Some(String::new()), Some(String::new())]);
    assert_eq!([basic(&format!("Bearer {KEY}")), basic("Basic")], [None, None]);
    let of_form = requested(&[("Content-Type", "multipart/form-data; boundary=x-y")]);
    assert_eq!((of_form.boundary.as_deref(), of_form.form), (Some("x-y"), BodyForm::Other));
}

#[test]
fn a_handshake_may_have_its_token_in_the_query() {
    let token = |target: &str, field: Option<&str>| {
        let value = field.map(|field| format!("Bearer {field}"));
        let fields = value.iter().map(|value| (&b"Authorization"[..], value.as_bytes()));
        ShopRequest::read("GET", target, fields).with_token_of_query().token
    };
    let in_query = format!("/room/7?a=b&token={KEY}");
    assert_eq!(token(&in_query, None), key(KEY));
    assert_eq!(token(&in_query, Some(OTHER)), key(OTHER));
    assert_eq!([token("/room/7?token=x", None), token("/room/7", None)], [Proof::Strange, Proof::Absent]);
}

#[test]
fn cookies_are_found() {
    let is = |value: String, expect: Proof| assert_eq!(requested(&[("Cookie", &value)]).cookie, expect, "{value}");
    is(format!("sid={KEY}"), key(KEY));
    is(format!("a=b; sid={KEY}; c=d"), key(KEY));
    is(format!("a=b;sid={KEY}"), key(KEY));
    is(format!("sid={KEY}; sid={OTHER}"), key(KEY));
    is(format!("SID={KEY}"), Proof::Absent);
    is(format!("xsid={KEY}"), Proof::Absent);
    is(format!("a=sid={KEY}"), Proof::Absent);
    is("sid=".to_owned(), Proof::Strange);
    is(format!("sid=\"{KEY}\""), Proof::Strange);
    is(format!("sid={KEY}0"), Proof::Strange);
    is(String::new(), Proof::Absent);
    let apart = requested(&[("cookie", "a=b"), ("cookie", &format!("sid={KEY}")), ("cookie", &format!("sid={OTHER}"))]);
    assert_eq!(apart.cookie, key(KEY), "HTTP/2 may say them apart");
    let bytes: [(&[u8], &[u8]); 1] = [(b"cookie", b"sid=\xff")];
    assert_eq!(ShopRequest::read("GET", "/", bytes.into_iter()).cookie, Proof::Absent);
}

#[test]
fn tokens_are_found() {
    let is =
        |value: String, expect: Proof| assert_eq!(requested(&[("AUTHORIZATION", &value)]).token, expect, "{value}");
    is(format!("Bearer {KEY}"), key(KEY));
    is(format!("bearer  {KEY}"), key(KEY));
    is(format!("Basic {KEY}"), Proof::Absent);
    is(format!("Bearer{KEY}"), Proof::Absent);
    is("Bearer x".to_owned(), Proof::Strange);
    is("Bearer ".to_owned(), Proof::Strange);
}

#[test]
fn methods_queries_and_tags_are_read() {
    for (method, expect) in
        [("GET", Method::Get), ("HEAD", Method::Get), ("DELETE", Method::Delete), ("post", Method::Other)]
    {
        assert_eq!(ShopRequest::read(method, "/cart", std::iter::empty()).method, expect, "{method}");
    }
    let target = "http://a/search?q=%E8%8C%B6+x&q=2&empty=&looks=3?";
    let requested = ShopRequest::read("GET", target, [(&b"If-None-Match"[..], &b"\"6-1\", W/\"7-1\""[..])].into_iter());
    let of = |name| requested.query(name);
    assert_eq!(of("q").as_deref(), Some("茶 x"));
    assert_eq!((of("empty").as_deref(), of("looks").as_deref(), of("none")), (Some(""), Some("3?"), None));
    let has = |number| requested.has(&Item::new(number).expect("an item").tag());
    assert_eq!([6, 7, 8].map(has), [true, true, false]);
}

#[test]
fn forms_are_read() {
    type Fields = &'static [(&'static str, &'static str)];
    let cases: [(BodyForm, &str, Result<Fields, Unread>); 12] = [
        (BodyForm::Fields, "user=ann&csrf=1", Ok(&[("user", "ann"), ("csrf", "1")])),
        (BodyForm::Fields, "user=a%26b+c%e4%bd%a0", Ok(&[("user", "a&b c你")])),
        (BodyForm::Fields, "user", Ok(&[("user", "")])),
        (BodyForm::Fields, "", Ok(&[])),
        (BodyForm::Json, "", Ok(&[])),
        (BodyForm::Json, "{\"sku\":7,\"count\":\"2\",\"b\":true}", Ok(&[("sku", "7"), ("count", "2"), ("b", "true")])),
        (BodyForm::Json, "{\"deep\":{\"sku\":7},\"none\":null}", Ok(&[])),
        (BodyForm::Json, "[1]", Err(Unread::Broken)),
        (BodyForm::Json, "{\"sku\":", Err(Unread::Broken)),
        (BodyForm::Json, "{} x", Err(Unread::Broken)),
        (BodyForm::Other, "x", Err(Unread::Kind)),
        (BodyForm::Other, "", Ok(&[])),
    ];
    for (form, body, expect) in cases {
        let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let expect = expect.map(|fields| FormFields(fields.iter().map(text).collect()));
        assert_eq!(FormFields::read(form, body.as_bytes()), expect, "{form:?} {body}");
    }
    let deep = format!("{{\"a\":{}", "[".repeat(FORM_DEPTH));
    assert_eq!(FormFields::read(BodyForm::Json, deep.as_bytes()), Err(Unread::Broken), "no stack is used up");
    let types = [
        ("application/json; charset=utf-8", BodyForm::Json),
        ("APPLICATION/JSON", BodyForm::Json),
        ("application/x-www-form-urlencoded", BodyForm::Fields),
        ("multipart/form-data; boundary=x", BodyForm::Other),
        ("", BodyForm::Other),
    ];
    for (value, expect) in types {
        assert_eq!(requested(&[("content-type", value)]).form, expect, "{value}");
    }
}

/// The deepest nesting that fits into a form of the largest size.
const FORM_DEPTH: usize = super::super::FORM_BYTES_MAX - 5;

proptest! {
    /// Clients may send anything.
    #[test]
    fn whatever_comes_is_read_or_refused(
        target in ".{0,40}",
        fields in proptest::collection::vec((0usize..5, proptest::collection::vec(any::<u8>(), 0..60)), 0..6),
        body in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        let names = ["cookie", "authorization", "content-type", "if-none-match", "else"];
        let fields = fields.iter().map(|(name, value)| (names[*name].as_bytes(), value.as_slice()));
        let requested = ShopRequest::read("POST", &target, fields);
        requested.query("q");
        requested.has(&Item::new(1).expect("an item").tag());
        for form in [BodyForm::Fields, BodyForm::Json, BodyForm::Other] {
            let said = FormFields::read(form, &body);
            prop_assert!(form != BodyForm::Fields || said.is_ok(), "any bytes are a form");
        }
    }
}
