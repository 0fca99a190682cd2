use std::time::Duration;

use pacing::Random;
use plan::Value;

use super::PlainProgram;
use crate::{Draws, ScriptFault, names};

const NAMES: [&str; 6] = ["price", "word", "item", "list", "users.name", "none"];

fn given() -> [Value; 6] {
    [
        Value::Int(99),
        Value::text("价😀 Ab"),
        Value::Json(r#"{"sku":"A-1","n":{"k":[1,{"x":2}]},"s":"q\u0041"}"#.into()),
        Value::Json(r#"["a", 2.50, null, {"b": 1}]"#.into()),
        Value::text("ann"),
        Value::Null,
    ]
}

fn program(text: &str) -> Option<(PlainProgram, Vec<Value>)> {
    let uses = names::used(text, &NAMES);
    let values = uses.iter().map(|place| given()[*place].clone()).collect();
    let uses: Vec<u32> = uses.into_iter().map(|place| place as u32).collect();
    PlainProgram::compile(text, &NAMES, &uses).map(|program| (program, values))
}

/// Its value; `None`: it is left to JavaScript.
fn value(text: &str) -> Option<Result<Value, ScriptFault>> {
    let (program, values) = program(text)?;
    let mut draws = Draws { random: Random::new(7), now: Duration::from_millis(1_234) };
    program.evaluate(&values.iter().collect::<Vec<_>>(), &mut draws)
}

#[test]
fn plain_expressions_have_values() {
    for (text, expect) in [
        ("price < 100", Value::Bool(true)),
        ("price / 2 + 1", Value::Float(50.5)),
        ("users.name + ':' + price", Value::text("ann:99")),
        ("`${users.name}-${price}`", Value::text("ann-99")),
        ("word.length", Value::Int(6)),
        ("word[0]", Value::text("价")),
        ("item.sku", Value::text("A-1")),
        ("item.s", Value::text("qA")),
        ("item['n'].k[1]", Value::Json("{\"x\":2}".into())),
        ("item.nothing?.k.x ?? 'b'", Value::text("b")),
        ("list.length", Value::Int(4)),
        ("list", Value::Json("[\"a\",2.5,null,{\"b\":1}]".into())),
        ("list[9]", Value::Null),
        ("[1, price].includes(99) && 'yes'", Value::text("yes")),
        ("[price, users.name, [NaN]]", Value::Json("[99,\"ann\",[null]]".into())),
        ("none == undefined && none !== undefined", Value::Bool(true)),
        ("'10' < '9' && '10' > 9", Value::Bool(true)),
        ("typeof none + typeof price", Value::text("objectnumber")),
        ("Math.max(1, price) % 10", Value::Int(9)),
        ("Date.now() + 5", Value::Int(1_239)),
        ("now('s')", Value::Int(1)),
        ("base64(users.name + ':' + price)", Value::text("YW5uOjk5")),
        ("random(3, 3) + 1", Value::Int(4)),
        ("(2.5).toFixed(0) + (1.005).toFixed(2) + (-0.5).toFixed(0)", Value::text("31.00-1")),
        (
            "'' + 1e21 + ' ' + 1e-7 + ' ' + 0.000001 + ' ' + 123456789012345680000",
            Value::text("1e+21 1e-7 0.000001 123456789012345680000"),
        ),
    ] {
        assert_eq!(value(text), Some(Ok(expect)), "{text}");
    }
    let thrown = value("none.x").expect("it is plain").expect_err("null has no members");
    assert_eq!(thrown.to_string(), "it threw: cannot read property 'x' of null");
    let thrown = value("random(5, 1)").expect("it is plain").expect_err("a range from more to less");
    assert!(thrown.to_string().starts_with("it threw: random() wants whole numbers"), "{thrown}");
    let thrown = value("uuid(1)").expect("it is plain").expect_err("an argument too many");
    assert_eq!(thrown.to_string(), "it threw: uuid() takes nothing");
}

#[test]
fn the_rest_is_left_to_javascript() {
    for text in [
        "",
        "nobody",
        "price.toString(2)",
        "x => x",
        "({a: 1})",
        "/a/.test(word)",
        "2 ** 3",
        "012",
        "0x10",
        "1n",
        "5.",
        "'\\1'",
        "'\\ud800'",
        "a--b",
        "price++",
        "price = 1",
        "price, 1",
        "price ?? none || 1",
        "price /* x */",
        "users",
        "users.age",
        "counter()",
        "uuid",
        "word.split(',')",
        "new Date()",
        "a<!--b",
        "1 | 2",
        "'open",
        "`${",
        "`${'}'}`",
        "price 1",
        "(price",
        "price)",
        "price ?. (1)",
        "\u{b2}",
        "price\u{b2}",
        "'a\0'",
    ] {
        assert!(program(text).is_none(), "{text}");
    }
    for text in ["item == item", "item + 1", "word[1]", "price.x", "word.toUpperCase()", "list.x", "list + ''"] {
        assert!(program(text).is_some() && value(text).is_none(), "{text}");
    }
}

/// Neither its text nor a value takes more stack than there is.
#[test]
fn depth_is_bounded() {
    for deep in [
        format!("{}1{}", "(".repeat(20_000), ")".repeat(20_000)),
        format!("1{}", " + 1".repeat(10_000)),
        format!("{}1", "!".repeat(20_000)),
        format!("{}1{}", "[".repeat(20_000), "]".repeat(20_000)),
        format!("item{}", ".n".repeat(20_000)),
        format!("{}1", "1 ? 1 : ".repeat(5_000)),
    ] {
        assert!(program(&deep).is_none(), "{}", &deep[..20]);
    }
    assert!(program(&format!("1{}", " + 1".repeat(40))).is_some());
    let deep = Value::Json(format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)).into());
    let program = PlainProgram::compile("x", &["x"], &[0]).expect("it is plain");
    let mut draws = Draws { random: Random::new(7), now: Duration::ZERO };
    assert_eq!(program.evaluate(&[&deep], &mut draws), None);
    for broken in ["[1", "{\"a\"", "x", "", "{\"a\":}", "[01]", "\"", "[\"\\ud800\"]"] {
        assert_eq!(program.evaluate(&[&Value::Json(broken.into())], &mut draws), None, "{broken}");
    }
}
