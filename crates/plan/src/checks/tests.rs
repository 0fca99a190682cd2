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

#[test]
fn matches_are_counted_searched_and_compared_with_patterns() {
    let body = r#"{"items": [{"id": 1, "tags": ["a", "b"]}, {"id": 2, "tags": []}], "name": "Anna count", "n": 7, "none": null, "o": {"x": 1}, "list": [[1, 2, 3]]}"#;
    for check in [
        "$.items count == 2",
        "$.items count > 1",
        "$.items[*] count >= 2",
        "$.items[*].tags count == 2",
        "$.items[0].tags count==2",
        "$.list[*] count == 1",
        "$.list[0] count == 3",
        "$.o count == 1",
        "$.nobody count == 0",
        "$.nobody[*] count < 1",
        "$['items'] count != 3",
        "$.name contains 'nna'",
        "$.name contains \"Anna\"",
        "$.items[0].tags contains 'a'",
        "$.list[0] contains 2.0",
        "$.list contains [1, 2, 3]",
        "$.name exists",
        "$.none exists",
        "$.name matches /^An+a/",
        "$.n matches /^7$/",
        "$.name == 'Anna count'",
        "$['name'] matches /count$/",
    ] {
        assert!(json(check, body), "{check}");
    }
    for check in [
        "$.items count > 2",
        "$.n count == 1",
        "$.n count != 1",
        "$.nobody count > 0",
        "$.name contains 'x'",
        "$.n contains 7",
        "$.items[*].tags contains 'a'",
        "$.nobody contains 'x'",
        "$.nobody exists",
        "$.name matches /^B/",
        "$.nobody matches /./",
    ] {
        assert!(!json(check, body), "{check}");
    }
    for check in [
        "$.items count",
        "$.items count 2",
        "$.items count > x",
        "$.items count > -1",
        "$.name contains",
        "$.name contains x",
        "$.name exists 1",
        "$.name matches ^A",
        "$.name matches /(/",
        "$.name matches",
        "count > 2",
        "$.name starts 'A'",
    ] {
        assert!(JsonCheck::parse(check).is_err(), "{check}");
    }
}

#[test]
fn a_failed_check_says_what_was_wanted_and_what_came() {
    let body = br#"{"id": 7, "items": [1], "name": "anna"}"#;
    for (check, expect) in [
        ("$.id == 8", "--expect-json $.id == 8: it is 7"),
        ("$.items count > 2", "--expect-json $.items count > 2: it is 1"),
        ("$.id count > 2", "--expect-json $.id count > 2: it is no list"),
        ("$.nobody", "--expect-json $.nobody: it is not there"),
        ("$.name contains 'x'", "--expect-json $.name contains 'x': it is \"anna\""),
        ("$.name matches /x/", "--expect-json $.name matches /x/: it is \"anna\""),
        ("$.items[*] > 1", "--expect-json $.items[*] > 1: it is 1"),
    ] {
        let checks = Checks { json: vec![JsonCheck::parse(check).expect(check)], ..Checks::default() };
        assert_eq!(checks.check_body(body), Err(expect.to_owned()));
    }
    let header = |text| Checks { headers: vec![HeaderCheck::parse(text).expect(text)], ..Checks::default() };
    let fields = [(&b"X-A"[..], &b"one"[..])];
    let said = header("x-a: two").check_head(fields.into_iter());
    assert_eq!(said, Err("--expect-header x-a: two: it is 'one'".to_owned()));
    assert_eq!(header("X-B").check_head(fields.into_iter()), Err("--expect-header X-B: it is not there".to_owned()));
}

#[test]
fn what_must_not_be_there_fails_when_it_is() {
    let absent = Absent {
        bodies: vec![TextCheck::parse("body", "/err(or)?/").expect("a pattern")],
        headers: vec![HeaderCheck::parse("X-Debug").expect("a header")],
        json: vec![JsonCheck::parse("$.errors").expect("a check")],
    };
    let checks = Checks { absent, ..Checks::default() };
    assert!(checks.want_body() && checks.want_head());
    assert_eq!(checks.check_body(b"{\"ok\": 1}"), Ok(()));
    assert_eq!(checks.check_body(b"{\"errors\": 1}"), Err("expect: not: body /err(or)?/: it is there".to_owned()));
    assert_eq!(checks.check_json(b"{\"errors\": 1}"), Err("expect: not: json $.errors: it is there".to_owned()));
    assert!(checks.check_json(b"text").is_err());
    let debug = [(&b"x-debug"[..], &b"1"[..])];
    assert_eq!(checks.check_head(debug.into_iter()), Err("expect: not: header X-Debug: it is there".to_owned()));
    assert_eq!(checks.check_head(std::iter::empty()), Ok(()));
}
