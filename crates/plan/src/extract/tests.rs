use proptest::prelude::*;

use super::*;

const PAGE: &str = r#"<!doctype html><html><head><title> The &amp; shop </title></head><body class="a b">
<form action="/pay?a=1&amp;b=2"><input name=csrf value="t&quot;k"><input name="other" value='x'><input name=empty></form>
<ul><li data-id="1">one <b>bold</b></li><li data-id="2">two</li><li>three</li></ul>
<p>unclosed <a HREF="/next">next</a>"#;

fn from(text: &str) -> ExtractFrom {
    let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
    match kind {
        "json" => ExtractFrom::Json(rest.to_owned()),
        "regex" => ExtractFrom::Regex(rest.to_owned()),
        "header" => ExtractFrom::Header(rest.to_owned()),
        "cookie" => ExtractFrom::Cookie(rest.to_owned()),
        "status" => ExtractFrom::Status,
        "css" => {
            let (selector, attribute) =
                rest.split_once(" @").map_or((rest, None), |(one, two)| (one, Some(two.to_owned())));
            ExtractFrom::Css { selector: selector.to_owned(), attribute }
        }
        _ => ExtractFrom::Body,
    }
}

fn taken(text: &str, which: Which, body: &[u8]) -> Result<Value, NotExtracted> {
    let fields: [(&[u8], &[u8]); 6] = [
        (b"Content-Type", b"text/html; charset=utf-8"),
        (b"ETag", b"\"abc\""),
        (b"Set-Cookie", b"sid=1=2 ; Path=/; HttpOnly"),
        (b"set-cookie", b"lang=zh"),
        (b"Set-Cookie", b"sid=later"),
        (b"set-cookie", b"broken"),
    ];
    let response = Answered::new(302, &fields, body);
    Extract::new(&from(text), which).expect("a take").take(&response, |below| below - 1)
}

/// An extraction, which match, the body, and the result.
type Case<'a> = (&'a str, Which, &'a [u8], Result<Value, NotExtracted>);

#[test]
fn values_are_found_where_they_stand() {
    let json =
        br#"{"price": 9.5, "id": 18446744073709551615, "tags": ["a", "b", "c"], "deep": {"x": null, "y": true}}"#;
    let text = |text: &str| Ok(Value::text(text));
    let list = |text: &str| Ok(Value::Json(text.into()));
    let cases: Vec<Case<'_>> = vec![
        ("json $.price", Which::First, json, Ok(Value::Float(9.5))),
        ("json $.id", Which::First, json, list("18446744073709551615")),
        ("json $.tags[*]", Which::First, json, text("a")),
        ("json $.tags[*]", Which::Last, json, text("c")),
        ("json $.tags[*]", Which::Nth(2), json, text("b")),
        ("json $.tags[*]", Which::Nth(4), json, Err(NotExtracted::Nothing)),
        ("json $.tags[*]", Which::Nth(0), json, Err(NotExtracted::Nothing)),
        ("json $.tags[*]", Which::All, json, list(r#"["a","b","c"]"#)),
        ("json $.tags[*]", Which::Random, json, text("c")),
        ("json $.tags", Which::First, json, list(r#"["a","b","c"]"#)),
        ("json $.deep.x", Which::First, json, Ok(Value::Null)),
        ("json $.deep.y", Which::First, json, Ok(Value::Bool(true))),
        ("json $.none", Which::First, json, Err(NotExtracted::Nothing)),
        ("json $.none", Which::All, json, Err(NotExtracted::Nothing)),
        ("regex \"tags\": \\[\"(.)\"", Which::First, json, text("a")),
        ("regex \"[abc]\"", Which::All, json, list(r#"["\"a\"","\"b\"","\"c\""]"#)),
        ("regex (zz)?price", Which::First, json, Err(NotExtracted::Nothing)),
        ("regex zz", Which::First, json, Err(NotExtracted::Nothing)),
        ("header etag", Which::First, json, text("\"abc\"")),
        ("header none", Which::First, json, Err(NotExtracted::Nothing)),
        ("cookie sid", Which::First, json, text("1=2")),
        ("cookie sid", Which::Last, json, text("later")),
        ("cookie SID", Which::First, json, Err(NotExtracted::Nothing)),
        ("status", Which::First, json, Ok(Value::Int(302))),
        ("body", Which::First, b"h\xc3\xa9 \xff", text("h\u{e9} \u{fffd}")),
        ("body", Which::First, b"", text("")),
        ("css input[name=csrf] @value", Which::First, PAGE.as_bytes(), text("t\"k")),
        ("css form @ACTION", Which::First, PAGE.as_bytes(), text("/pay?a=1&b=2")),
        ("css title", Which::First, PAGE.as_bytes(), text("The & shop")),
        ("css li", Which::First, PAGE.as_bytes(), text("one bold")),
        ("css ul > li[data-id] @data-id", Which::All, PAGE.as_bytes(), list(r#"["1","2"]"#)),
        ("css li:nth-child(3)", Which::First, PAGE.as_bytes(), text("three")),
        ("css li @data-id", Which::Nth(3), PAGE.as_bytes(), Err(NotExtracted::Nothing)),
        ("css a[href^='/'] @href", Which::First, PAGE.as_bytes(), text("/next")),
        ("css input[name=empty] @value", Which::First, PAGE.as_bytes(), Err(NotExtracted::Nothing)),
        ("css h1", Which::First, b"", Err(NotExtracted::Nothing)),
    ];
    for (take, which, body, expect) in cases {
        assert_eq!(taken(take, which, body), expect, "{take} {which:?}");
    }
    assert!(matches!(taken("json $.a", Which::First, b"{"), Err(NotExtracted::NoJson { .. })));
    assert!(matches!(taken("json $.a", Which::First, b""), Err(NotExtracted::NoJson { .. })));
}

#[test]
fn what_is_too_large_is_not_looked_at() {
    let many = vec![b'['; 4_000_000];
    assert_eq!(taken("json $", Which::First, &many), Err(NotExtracted::TooLarge { form: "JSON" }));
    let page = vec![b'<'; css::PAGE_BYTES_MAX + 1];
    assert_eq!(taken("css a", Which::First, &page), Err(NotExtracted::TooLarge { form: "HTML" }));
    let digits = "7".repeat(TAKEN_MAX + 5);
    let Ok(Value::Json(list)) = taken("regex 7", Which::All, digits.as_bytes()) else { panic!("a list") };
    assert_eq!(list.matches('7').count(), TAKEN_MAX);
}

/// A page in its declared charset.
#[test]
fn charsets_are_read() {
    let fields: [(&[u8], &[u8]); 1] = [(b"content-type", b"text/html; charset=gbk")];
    let response = Answered::new(200, &fields, b"<p>\xc4\xe3\xba\xc3</p>");
    let take = Extract::new(&from("css p"), Which::First).expect("a take");
    assert_eq!(take.take(&response, |_| 0), Ok(Value::text("你好")));
    let take = Extract::new(&from("regex p>(.+)</p"), Which::First).expect("a take");
    assert_eq!(take.take(&response, |_| 0), Ok(Value::text("你好")));
}

#[test]
fn what_is_none_is_refused_when_it_is_made() {
    for text in
        ["json price", "json $.[", "json $.a == 1", "regex (", "regex \\", "css [", "css ", "css a >", "css ::nope("]
    {
        let refused = Extract::new(&from(text), Which::First).expect_err(text);
        assert!(!refused.to_string().is_empty(), "{text}");
    }
}

#[test]
fn what_is_wanted_of_an_response_is_known() {
    for (text, head, body) in [
        ("status", false, false),
        ("header a", true, false),
        ("cookie a", true, false),
        ("json $", false, true),
        ("css a", false, true),
        ("body", false, true),
    ] {
        let take = Extract::new(&from(text), Which::First).expect("a take");
        assert_eq!((take.wants_head(), take.wants_body()), (head, body), "{text}");
    }
}

proptest! {
    /// Any body gives a result or an error.
    #[test]
    fn any_body_may_come(body in prop::collection::vec(any::<u8>(), 0..300), which in 0u32..5) {
        let which = [Which::First, Which::Last, Which::All, Which::Random, Which::Nth(2)][which as usize];
        for take in ["json $..*", "regex (.)", "css *", "css a @href", "body", "cookie a"] {
            let _ = taken(take, which, &body);
        }
    }

    #[test]
    fn any_text_may_be_a_take(rest in ".{0,40}") {
        for kind in ["json", "regex", "css"] {
            if let Ok(take) = Extract::new(&from(&format!("{kind} {rest}")), Which::All) {
                let response = Answered::new(200, &[], br#"{"a": [1, "b"]}"#);
                let _ = take.take(&response, |_| 0);
            }
        }
    }
}
