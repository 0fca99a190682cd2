use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::DynamicParts;
use crate::pattern::TextContext;

/// Variables and columns by name; random draws are a sequence.
#[derive(Default)]
struct World {
    variables: Vec<(String, Value)>,
    columns: Vec<(String, Value)>,
    has_no_row: bool,
    drawn: u64,
    counted: u64,
}

impl Names for World {
    fn variable(&mut self, name: &str) -> Option<u32> {
        self.variables.iter().position(|(known, _)| known == name).map(|place| place as u32)
    }

    fn column(&mut self, row: &str, column: &str) -> Option<u32> {
        let name = format!("{row}.{column}");
        self.columns.iter().position(|(known, _)| *known == name).map(|place| place as u32)
    }

    fn environment(&mut self, name: &str) -> Option<String> {
        (name == "KEY").then(|| "k&y".to_owned())
    }

    fn counter(&mut self, name: &str) -> u32 {
        name.len() as u32
    }

    fn expression(&mut self, text: &str) -> Option<u32> {
        (!text.contains("nobody")).then_some(text.len() as u32)
    }
}

impl Scope for World {
    fn variable(&self, number: u32) -> &Value {
        &self.variables[number as usize].1
    }

    fn column(&mut self, number: u32) -> Option<Value> {
        (!self.has_no_row).then(|| self.columns[number as usize].1.clone())
    }

    fn draw(&mut self, bound: u64) -> u64 {
        self.drawn = self.drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if bound == 0 { self.drawn } else { (self.drawn >> 11) % bound }
    }

    fn now_ns(&self) -> u128 {
        1_709_208_005_123_456_789
    }

    fn count(&mut self, counter: u32) -> u64 {
        self.counted += 1;
        self.counted + u64::from(counter) * 1_000
    }

    fn evaluate(&mut self, expression: u32) -> Result<Value, String> {
        if expression > 20 { Err("it threw".to_owned()) } else { Ok(Value::Int(expression.into())) }
    }
}

fn world() -> World {
    let text = |name: &str, text: &str| (name.to_owned(), Value::text(text));
    World {
        variables: vec![
            text("word", "a b/c?d=é\"\\\u{1}&+"),
            ("number".to_owned(), Value::Int(-7)),
            ("half".to_owned(), Value::Float(0.5)),
            ("yes".to_owned(), Value::Bool(true)),
            ("none".to_owned(), Value::Null),
            ("list".to_owned(), Value::Json("[1,\"x\"]".into())),
            text("lines", "a\r\nHost: b"),
            text("base", "http://h.test:81"),
            text("phone", "own"),
        ],
        columns: vec![text("users.name", "ann")],
        ..World::default()
    }
}

fn filled(text: &str, ground: TextContext) -> Result<String, NotFilled> {
    let mut world = world();
    let pattern = Pattern::parse(text, ground).expect("a pattern");
    let rendering = Rendering::new(&pattern, &mut world).expect("known names");
    let mut out = b"before ".to_vec();
    rendering.fill(&mut world, &mut out)?;
    Ok(String::from_utf8(out.split_off(7)).expect("text"))
}

#[test]
fn slots_are_filled_as_their_place_wants() {
    let word = "a%20b%2Fc%3Fd%3D%C3%A9%22%5C%01%26%2B";
    let form = "a+b%2Fc%3Fd%3D%C3%A9%22%5C%01%26%2B";
    let cases: Vec<(&str, TextContext, String)> = vec![
        ("/items/${word}?q=${word}", TextContext::Url, format!("/items/{word}?q={word}")),
        ("${base}/x", TextContext::Url, "http://h.test:81/x".to_owned()),
        ("v=${word}", TextContext::Form, format!("v={form}")),
        ("${word}", TextContext::Text, "a b/c?d=é\"\\\u{1}&+".to_owned()),
        ("<${word}>", TextContext::Json, "<a b/c?d=é\\\"\\\\\\u0001&+>".to_owned()),
        ("${word}", TextContext::Json, "\"a b/c?d=é\\\"\\\\\\u0001&+\"".to_owned()),
        ("${number}${half}${yes}${none}|${list}", TextContext::Text, "-70.5true|[1,\"x\"]".to_owned()),
        ("${number}", TextContext::Json, "-7".to_owned()),
        ("${half}", TextContext::Json, "0.5".to_owned()),
        ("${yes}", TextContext::Json, "true".to_owned()),
        ("${none}", TextContext::Json, "null".to_owned()),
        ("${list}", TextContext::Json, "[1,\"x\"]".to_owned()),
        ("is ${list}", TextContext::Json, "is [1,\\\"x\\\"]".to_owned()),
        ("Bearer ${number}", TextContext::Header, "Bearer -7".to_owned()),
        ("$${number} ${users.name}", TextContext::Text, "${number} ann".to_owned()),
        ("${env.KEY}", TextContext::Form, "k%26y".to_owned()),
        ("${number + 1}", TextContext::Text, "10".to_owned()),
        // RFC 4231, 4.3, and FIPS 180.
        ("${base64('a?>')}", TextContext::Text, "YT8+".to_owned()),
        (
            "${sha256('abc')}",
            TextContext::Text,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".to_owned(),
        ),
        (
            "${hmac('Jefe', 'what do ya want for nothing?')}",
            TextContext::Text,
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843".to_owned(),
        ),
        ("${urlencode('a b')}${json(list)}${json(none)}", TextContext::Text, "a%20b[1,\"x\"]null".to_owned()),
        ("${now} ${now('s')} ${now('us')}", TextContext::Text, "1709208005123 1709208005 1709208005123456".to_owned()),
        ("${now('iso')}", TextContext::Text, "2024-02-29T12:00:05.123Z".to_owned()),
        ("${counter} ${counter('ab')} ${counter()}", TextContext::Text, "1 2002 3".to_owned()),
        ("${phone} ${random(5, 5)} ${random(-2,-2)}", TextContext::Text, "own 5 -2".to_owned()),
        ("${base64(sha256(users.name))}", TextContext::Text, {
            let digest = hex(&hmac_sha256::Hash::hash(b"ann"));
            base64::engine::general_purpose::STANDARD.encode(digest)
        }),
    ];
    for (text, ground, expect) in cases {
        assert_eq!(filled(text, ground).as_deref(), Ok(expect.as_str()), "{text}");
    }
}

#[test]
fn what_cannot_be_filled_says_why() {
    assert_eq!(filled("${lines}", TextContext::Header), Err(NotFilled::LineEnd));
    assert_eq!(filled("a ${lines}", TextContext::Url), Ok("a a%0D%0AHost:%20b".to_owned()), "no request can be split");
    assert!(matches!(filled("${random(number, word)}", TextContext::Text), Err(NotFilled::NoRange { .. })));
    assert!(matches!(filled("${random(5, number)}", TextContext::Text), Err(NotFilled::NoRange { .. })));
    let reason = "it threw".to_owned();
    assert_eq!(filled("${number + 1 + 2 + 3 + 4 + 5}", TextContext::Text), Err(NotFilled::Expression { reason }));
    let mut world = World { has_no_row: true, ..world() };
    let pattern = Pattern::parse("${users.name}", TextContext::Text).expect("a pattern");
    let rendering = Rendering::new(&pattern, &mut world).expect("known names");
    assert_eq!(rendering.fill(&mut world, &mut Vec::new()), Err(NotFilled::NoRow));
    for text in ["${nobody}", "${users.age}", "${env.NONE}", "${nobody + 1}", "${base64(nobody)}", "${pick(1, nobody)}"]
    {
        let pattern = Pattern::parse(text, TextContext::Text).expect("a pattern");
        let unknown = Rendering::new(&pattern, &mut world).expect_err(text);
        assert_eq!(format!("${{{}}}", unknown.text), text);
    }
}

#[test]
fn draws_are_spread() {
    let mut world = world();
    let mut all = |text: &str| {
        let pattern = Pattern::parse(text, TextContext::Text).expect("a pattern");
        let rendering = Rendering::new(&pattern, &mut world).expect("known names");
        let mut one = || rendering.value(&mut world).expect("a value");
        (0..2_000).map(|_| one().to_string()).collect::<BTreeSet<_>>()
    };
    assert_eq!(all("${random(1,6)}"), (1..=6).map(|number| number.to_string()).collect());
    assert_eq!(all("${pick('a', 2, users.name)}"), BTreeSet::from(["2".to_owned(), "a".to_owned(), "ann".to_owned()]));
    assert!(all("${random(-9223372036854775808, 9223372036854775807)}").len() > 1_990);
    let uuids = all("${uuid}");
    assert_eq!(uuids.len(), 2_000);
    for uuid in uuids {
        let lengths: Vec<usize> = uuid.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{uuid}");
        assert!(uuid[14..].starts_with('4') && "89ab".contains(&uuid[19..20]), "{uuid}");
    }
    assert!(all("${name}").len() > 400 && all("${email()}").len() > 1_900 && all("${phone()}").len() > 1_800);
}

#[test]
fn a_value_keeps_its_type() {
    let mut world = world();
    let mut of = |text: &str| {
        let pattern = Pattern::parse(text, TextContext::Text).expect("a pattern");
        Rendering::new(&pattern, &mut world).expect("known names").value(&mut world).expect("a value")
    };
    assert_eq!(
        (of("${number}"), of(" ${number}"), of("x"), of("")),
        (Value::Int(-7), Value::text(" -7"), Value::text("x"), Value::text(""),)
    );
}

#[test]
fn times_of_day_are_those_of_the_calendar() {
    for (seconds, expect) in [
        (0, "1970-01-01T00:00:00.000Z"),
        (951_782_399, "2000-02-28T23:59:59.000Z"),
        (951_782_400, "2000-02-29T00:00:00.000Z"),
        (978_307_199, "2000-12-31T23:59:59.000Z"),
        (1_740_787_200, "2025-03-01T00:00:00.000Z"),
        (4_102_444_800, "2100-01-01T00:00:00.000Z"),
        (4_107_542_400, "2100-03-01T00:00:00.000Z"),
    ] {
        assert_eq!(iso(seconds * 1_000_000_000), expect);
    }
}

proptest! {
    /// Any value: from a form, a query and JSON it is parsed back unchanged.
    #[test]
    fn what_is_escaped_is_read_again(text in any::<String>()) {
        let value = Value::text(&text);
        let escaped = |place| {
            let mut out = Vec::new();
            write_escaped(&value, place, &mut out).map(|()| String::from_utf8(out).expect("text"))
        };
        let form = format!("v={}", escaped(SlotContext::Form).expect("it fits"));
        let read: Vec<_> = url::form_urlencoded::parse(form.as_bytes()).collect();
        prop_assert_eq!(&*read[0].1, &text);
        let query = format!("http://h/?v={}", escaped(SlotContext::Query).expect("it fits"));
        let url = url::Url::parse(&query).expect("a URL");
        prop_assert_eq!(&*url.query_pairs().next().expect("a pair").1, &text);
        let json = format!("\"{}\"", escaped(SlotContext::JsonString).expect("it fits"));
        prop_assert_eq!(&serde_json::from_str::<String>(&json).expect("JSON"), &text);
        let origin = escaped(SlotContext::Origin).expect("it fits");
        prop_assert!(origin.bytes().all(|byte| byte > b' ' && byte < 0x7f));
        let header = escaped(SlotContext::Header);
        prop_assert_eq!(header.is_err(), text.contains(['\r', '\n', '\0']));
    }
}

#[test]
fn what_a_text_is_filled_from_is_known() {
    let uses = |text: &str| {
        let pattern = Pattern::parse(text, TextContext::Text).expect("a pattern");
        let uses = Rendering::new(&pattern, &mut world()).expect("known names").uses();
        (uses.columns.len(), uses.expressions)
    };
    assert_eq!(uses("plain ${word} ${number} ${counter()} ${env.KEY} ${random(1,6)}"), (0, vec![]));
    assert_eq!(uses("${users.name}${users.name}"), (1, vec![]));
    assert_eq!(uses("${base64(urlencode(users.name))}"), (1, vec![]));
    assert_eq!(uses("${pick('a', users.name)} ${1 + 1} ${12 + 1} ${2 + 2}"), (1, vec![5, 6]));
    let filled = |text: &str| {
        let pattern = Pattern::parse(text, TextContext::Text).expect("a pattern");
        Some(Rendering::new(&pattern, &mut world()).expect("known names"))
    };
    let of_header = filled("${1 + 1}").map(|value| (0, value)).into_iter().collect();
    let (path, body) = (filled("${users.name}"), filled("${12 + 1}"));
    let messages = filled("${123 + 1}").into_iter().collect();
    let dynamic_parts = DynamicParts { path, headers: of_header, body, messages, ..DynamicParts::default() };
    assert_eq!((dynamic_parts.uses().columns.len(), dynamic_parts.uses().expressions), (1, vec![5, 6, 7]));
}

#[test]
fn it_is_known_which_values_draw() {
    for (text, expect) in [
        ("a ${word} ${users.name} ${env.KEY}", false),
        ("${counter()} ${now()}", false),
        ("${base64(word)}", false),
        ("${1 + 1}", false),
        ("${1 + 10}", true),
        ("${base64(uuid())}", true),
        ("${word} ${random(1, 2)}", true),
        ("${pick('a', 'b')}", true),
        ("${name()}", true),
        ("${email()}", true),
        ("${phone()}", true),
    ] {
        let pattern = Pattern::parse(text, TextContext::Text).expect("a pattern");
        let rendering = Rendering::new(&pattern, &mut world()).expect("known names");
        // The number of an expression is its length.
        let draws = ValuePattern::Slot(rendering).draws(|expression| expression > 5);
        assert_eq!(draws, expect, "{text}");
    }
    assert!(!ValuePattern::Constant(Value::Int(1)).draws(|_| true));
}
