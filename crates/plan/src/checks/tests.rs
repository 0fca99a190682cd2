use super::*;

fn json(check: &str, body: &str) -> bool {
    JsonCheck::parse(check).expect("a check").holds(body.as_bytes()).expect("JSON")
}

#[test]
fn paths_are_compared() {
    let body =
        r#"{"code": 200, "data": {"list": [{"id": 1, "name": "a=b"}, {"id": 2, "name": "c"}]}, "ok": true, "x": 1.0}"#;
    for check in [
        "$.code == 200",
        "$.code==200",
        "$.code != 201",
        "$.code >= 200",
        "$.code > 199.5",
        "$.code < 1e3",
        "$.x == 1",
        "$.ok == true",
        "$.data.list[*].id >= 1",
        "$.data.list[?@.name == 'a=b'].id == 1",
        "$.data.list[0].name == 'a=b'",
        "$.data.list[0].name == \"a=b\"",
        "$['code'] == 200",
        "$..id",
        "$.data.list[?match(@.name, '[a-z]')].id == 2",
        "$.data.list[1] == {\"name\": \"c\", \"id\": 2}",
    ] {
        assert!(json(check, body), "{check}");
    }
    for check in
        ["$.code == 201", "$.code == \"200\"", "$.nothing", "$.nothing != 1", "$.data.list[*].id == 1", "$.ok < 2"]
    {
        assert!(!json(check, body), "{check}");
    }
    for check in ["code == 200", "$.code == ", "$.code == abc", "$.[", "", "$.code = 200"] {
        assert!(JsonCheck::parse(check).is_err(), "{check}");
    }
}

#[test]
fn integers_of_any_size_are_compared_exactly() {
    let body = r#"{"id": 1234567890123456890, "text": "1234567890123456890", "u": 18446744073709551615,
        "long": 123456789012345678901234567890, "minus": -123456789012345678901234567890, "e": 1.5e25, "huge": 7e400,
        "list": [{"id": 1234567890123456889, "n": 1}, {"id": 1234567890123456890, "n": 2}, {"id": 7, "n": 3}],
        "pair": [9007199254740993, 1000], "same": {"a": 9007199254740993, "b": 9007199254740992}, "x12345678901234567890": 1}"#;
    for check in [
        "$.id == 1234567890123456890",
        "$.id != 1234567890123456891",
        "$.id < 1234567890123456891",
        "$.id > 1234567890123456889",
        "$.id >= 7",
        "$.u == 18446744073709551615",
        "$.u > 18446744073709551614",
        "$.long == 123456789012345678901234567890",
        "$.long == 12345678901234567890123456789e1",
        "$.long == 123456789012345678901234567890.0",
        "$.long < 123456789012345678901234567890.1",
        "$.minus == -123456789012345678901234567890",
        "$.minus > -123456789012345678901234567891",
        "$.minus < -3",
        "$.e == 15000000000000000000000000",
        "$.huge > 6.9e400",
        "$.text == '1234567890123456890'",
        "$.text == \"1234567890123456890\"",
        "$.pair == [9007199254740993, 1e3]",
        "$.list[1] == {\"n\": 2.0, \"id\": 1234567890123456890}",
        "$.list[?@.id == 1234567890123456890].n == 2",
        "$.list[?@.id == $.id].n == 2",
        "$.list[?@.id < 1234567890123456890 && @.id > 1234567890123456888].n == 1",
        "$.list[?@.id < 1234567890123456889].n == 3",
        "$.list[?@.id >= 8 && @.n == 1].id == 1234567890123456889",
        "$.x12345678901234567890 == 1",
        "$['x12345678901234567890'] == 1",
    ] {
        assert!(json(check, body), "{check}");
    }
    for check in [
        "$.id == 1234567890123456891",
        "$.id == 1234567890123456889",
        "$.u == 18446744073709551614",
        "$.u == 18446744073709551616",
        "$.long == 123456789012345678901234567891",
        "$.minus == -123456789012345678901234567891",
        "$.minus == 123456789012345678901234567890",
        "$.text == 1234567890123456890",
        "$.id == '1234567890123456890'",
        "$.pair == [9007199254740992, 1000]",
        "$.list[1] == {\"id\": 1234567890123456891, \"n\": 2}",
        "$.list[?@.id == 1234567890123456891]",
        "$.list[?@.id > 1234567890123456890]",
        "$[?@.a && @.a == @.b]",
    ] {
        assert!(!json(check, body), "{check}");
    }
    for check in ["$.id == 01234567890123456890", "$.id == 12345678901234567890.", "$.id == 1234567890123456789e"] {
        assert!(JsonCheck::parse(check).is_err(), "{check}");
    }
    let check = JsonCheck::parse("$.id == 1234567890123456890").expect("a check");
    for body in ["{\"id\": 01234567890123456890}", "{\"id\": 12345678901234567890", "{\"id\": 12345678901234567890x}"] {
        assert!(check.holds(body.as_bytes()).is_err(), "{body}");
    }
}

#[test]
fn json_that_takes_much_memory_is_found_before_it_is_read() {
    let checks = Checks { json: vec![JsonCheck::parse("$.a").expect("a check")], ..Checks::default() };
    let list = |item: &str, count: usize| format!("[{}0]", format!("{item},").repeat(count)).into_bytes();
    for (item, most) in [("0", 174_000), ("[0]", 40_000), ("{}", 22_000), ("{\"a\":0}", 20_000), ("\"\"", 174_000)] {
        assert!(!checks.json_is_too_large(&list(item, most)), "{most} of {item}");
        assert!(checks.json_is_too_large(&list(item, most * 3 / 2)), "{item}");
    }
    let text = [b"\"", &vec![b'x'; 10_000_000][..], b"\""].concat();
    assert!(!checks.json_is_too_large(&text), "one long text takes what it is");
    assert!(!Checks::default().json_is_too_large(&list("[0]", 1_000_000)), "nobody looks at it");
}

#[test]
fn text_and_patterns() {
    let check = |text: &str| TextCheck::parse("--expect-body", text).expect("a check");
    assert!(check("ell").holds(b"hello") && !check("elo").holds(b"hello"));
    assert!(check("/^h.l+o$/").holds(b"hello") && !check("/^e/").holds(b"hello"));
    assert!(check("/").holds(b"a/b") && check("//").holds(b"a//b"));
    assert!(TextCheck::parse("--expect-body", "/(/").is_err());
    let fields = [(&b"Content-Type"[..], &b"text/plain"[..]), (b"X-Id", b"17")];
    let header = |text: &str| HeaderCheck::parse(text).expect("a check").holds(fields.iter().copied());
    assert!(header("content-type") && header("X-ID: 17") && header("x-id: /^[0-9]+$/"));
    assert!(!header("X-No") && !header("x-id: 1") && !header("x-id: /a/"));
    assert!(HeaderCheck::parse("a b: c").is_err() && HeaderCheck::parse(": c").is_err());
}
