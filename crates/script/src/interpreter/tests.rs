use proptest::prelude::*;

use super::*;

fn draws(seed: u64) -> Draws {
    Draws { random: Random::new(seed), now: Duration::from_millis(1_700_000_000_123) }
}

fn value_of(text: &str, variables: &[(&str, Value)]) -> Result<Value, ScriptFault> {
    let mut interpreter = Interpreter::new().expect("it starts");
    evaluated(&mut interpreter, text, variables)
}

fn evaluated(interpreter: &mut Interpreter, text: &str, variables: &[(&str, Value)]) -> Result<Value, ScriptFault> {
    let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
    let expression = interpreter.compile(text, &names)?;
    let values: Vec<&Value> = expression.uses.iter().map(|place| &variables[*place as usize].1).collect();
    interpreter.evaluate(&expression, values, draws(1))
}

#[test]
fn expressions_give_values() {
    let variables = [
        ("price", Value::Int(99)),
        ("name", Value::text("O'Neill \"x\" \0 \u{1f600}")),
        ("ok", Value::Bool(true)),
        ("none", Value::Null),
        ("half", Value::Float(0.5)),
        ("list", Value::Json("[1,2,{\"a\":\"b\"}]".into())),
        ("users.name", Value::text("ann")),
        ("users.full name", Value::text("Ann B")),
        ("价格", Value::Int(5)),
    ];
    let cases = [
        ("price < 100", Value::Bool(true)),
        ("price * 2 + half", Value::Float(198.5)),
        ("price / 3", Value::Int(33)),
        ("name.length", Value::Int(16)),
        ("name", Value::text("O'Neill \"x\" \0 \u{1f600}")),
        ("ok && none", Value::Null),
        ("undefined", Value::Null),
        ("list[2].a", Value::text("b")),
        ("list.concat([price])", Value::Json("[1,2,{\"a\":\"b\"},99]".into())),
        ("({a: price, b: users.name})", Value::Json("{\"a\":99,\"b\":\"ann\"}".into())),
        ("users['full name'] + users.name", Value::text("Ann Bann")),
        ("价格 + 1", Value::Int(6)),
        ("`${users.name}-${price}`", Value::text("ann-99")),
        ("12345678901234567890n", Value::Json("12345678901234567890".into())),
        ("9007199254740993", Value::Float(9_007_199_254_740_992.0)),
        ("-0 === 0", Value::Bool(true)),
        ("[1,2,3].map(x => x * price).reduce((a, b) => a + b)", Value::Int(594)),
        ("/^O'(\\w+)/.exec(name)[1] // a comment", Value::text("Neill")),
        ("JSON.parse('{\"a\":[1]}').a[0]", Value::Int(1)),
        ("(() => { let sum = 0; for (let i = 0; i < 10; i++) sum += i; return sum })()", Value::Int(45)),
        ("price < 100\n  && ok", Value::Bool(true)),
        ("encodeURIComponent(name.slice(0, 2))", Value::text("O'")),
        ("price, 1", Value::Int(1)),
    ];
    let mut interpreter = Interpreter::new().expect("it starts");
    for (text, expect) in cases {
        assert_eq!(evaluated(&mut interpreter, text, &variables), Ok(expect), "{text}");
    }
}

#[test]
fn what_is_no_expression_is_refused_when_it_is_compiled() {
    for text in [
        "",
        "1 +",
        "var x = 1",
        "a b",
        "{",
        "1)}); (function(){ return (2",
        "if (x) 1",
        "'open",
        "import('x').y z",
        "x = ",
        "//",
    ] {
        let refused = value_of(text, &[]);
        assert!(matches!(refused, Err(ScriptFault::Syntax { .. })), "{text}: {refused:?}");
    }
    let refused = value_of("1 +\n2 +\n* 3", &[]);
    assert!(matches!(refused, Err(ScriptFault::Syntax { line: Some(3), .. })), "{refused:?}");
    let long = format!("'{}'", "x".repeat(TEXT_BYTES_MAX));
    assert_eq!(value_of(&long, &[]), Err(ScriptFault::TooLong { bytes: long.len() }));
}

#[test]
fn what_throws_or_gives_no_value_says_so() {
    for (text, said) in [
        ("nobody + 1", "it threw: nobody is not defined"),
        ("null.x", "it threw: cannot read property 'x' of null"),
        ("(() => { throw 'words' })()", "it threw: words"),
        ("(() => { throw {a: 1} })()", "it threw: object"),
        ("(() => { throw new Error('e'.repeat(10000)) })()", "it threw: eeeee"),
        ("() => 1", "it gives a function"),
        ("Math.max", "it gives a function"),
        ("Symbol()", "it gives a symbol"),
        ("Promise.resolve(1)", "it gives a promise"),
        ("(async () => 1)()", "it gives a promise"),
        ("({toJSON() { return undefined }})", "it gives an object without JSON"),
        ("({toJSON() { throw 'no' }})", "it threw: no"),
        ("(() => { const a = {}; a.a = a; return a })()", "it threw: circular reference"),
    ] {
        let fault = value_of(text, &[]).expect_err(text);
        assert!(fault.to_string().starts_with(said), "{text}: {fault}");
        assert!(fault.to_string().len() < 300, "{fault}");
    }
}

/// Any expression ends, and the next one is unaffected.
#[test]
fn time_and_memory_are_bounded() {
    let mut interpreter = Interpreter::new().expect("it starts");
    for (text, expect) in [
        ("(() => { for (;;); })()", ScriptFault::TimedOut),
        ("(() => { try { for (;;); } catch (e) { return 1 } finally { for (;;); } })()", ScriptFault::TimedOut),
        ("/^(a+)+$/.test('a'.repeat(40) + 'b')", ScriptFault::TimedOut),
        ("[...Array(1e9).keys()].length", ScriptFault::Memory),
        ("'a'.repeat(5e8)", ScriptFault::Memory),
        ("({toJSON() { for (;;); }})", ScriptFault::TimedOut),
    ] {
        // On a slow machine the time limit may be reached before the memory limit.
        interpreter.watch.is_off.set(expect == ScriptFault::Memory);
        assert_eq!(evaluated(&mut interpreter, text, &[]), Err(expect), "{text}");
        interpreter.watch.is_off.set(false);
        assert_eq!(evaluated(&mut interpreter, "1 + 1", &[]), Ok(Value::Int(2)), "after {text}");
    }
    let deep = evaluated(&mut interpreter, "(function f() { return f() + 1 })()", &[]).expect_err("no end");
    assert!(matches!(deep, ScriptFault::Thrown { .. }), "{deep}");
    let nested = format!("{}1{}", "(".repeat(20_000), ")".repeat(20_000));
    assert!(evaluated(&mut interpreter, &nested, &[]).is_err(), "too deep for the stack");
    assert_eq!(evaluated(&mut interpreter, "1 + 1", &[]), Ok(Value::Int(2)));
}

/// Only variables go in, and only a value comes out.
#[test]
fn there_is_no_way_out() {
    let mut interpreter = Interpreter::new().expect("it starts");
    for name in [
        "require",
        "process",
        "std",
        "os",
        "console",
        "print",
        "performance",
        "Atomics",
        "SharedArrayBuffer",
        "WeakRef",
        "FinalizationRegistry",
        "queueMicrotask",
        "eval",
        "setTimeout",
        "fetch",
        "navigator",
        "gc",
        "load",
        "scriptArgs",
        "DOMException",
    ] {
        let seen = evaluated(&mut interpreter, &format!("typeof {name}"), &[]);
        assert_eq!(seen, Ok(Value::text("undefined")), "{name}");
    }
    // State left behind by one expression must not be visible to the next.
    for text in [
        "Object.prototype.mark = 1",
        "Array.prototype.map = 1",
        "globalThis.mark = 1",
        "mark = 1",
        "Math.random = () => 4",
        "JSON.mark = 1",
        "Date.now = () => 0",
        "(() => 0).__proto__.mark = 1",
        "(function*(){}).__proto__.prototype.__proto__.next = 1",
        "Object.setPrototypeOf(Array.prototype, null)",
        "Object.defineProperty(Object.prototype, 'mark', {value: 1})",
        "delete Math.random",
        "''.matchAll(/x/g).__proto__.next = 1",
        "Error.prototype.message = 'mark'",
        "Function('globalThis.mark = 1')()",
    ] {
        let seen =
            evaluated(&mut interpreter, &format!("(() => {{ try {{ {text}; }} catch (e) {{}} return 1 }})()"), &[]);
        assert!(seen == Ok(Value::Int(1)) || matches!(seen, Err(ScriptFault::Syntax { .. })), "{text}: {seen:?}");
        for probe in ["typeof mark", "typeof ({}).mark", "typeof [].map", "typeof Math.random", "typeof Date.now"] {
            let expect = if probe.contains("mark") { "undefined" } else { "function" };
            assert_eq!(evaluated(&mut interpreter, probe, &[]), Ok(Value::text(expect)), "{probe} after {text}");
        }
    }
}

/// The same draws and the same clock give the same result, whatever ran before.
#[test]
fn chance_and_time_are_given() {
    let mut interpreter = Interpreter::new().expect("it starts");
    let random = interpreter.compile("[Math.random(), Math.random()]", &[]).expect("it compiles");
    let mut at = |seed| interpreter.evaluate(&random, [], draws(seed)).expect("numbers");
    let first = at(7);
    assert_eq!((at(8) == first, at(7) == first), (false, true));
    let mut drawn = Random::new(7);
    assert_eq!(first, Value::Json(format!("[{},{}]", drawn.unit(), drawn.unit()).into()));
    for (text, expect) in [
        ("Date.now()", Value::Float(1_700_000_000_123.0)),
        ("new Date().toISOString()", Value::text("2023-11-14T22:13:20.123Z")),
        ("new Date(0).toISOString()", Value::text("1970-01-01T00:00:00.000Z")),
        ("new Date() instanceof Date && typeof Date() == 'string'", Value::Bool(true)),
        ("new Date().constructor.now() == Date.now()", Value::Bool(true)),
    ] {
        let seen = evaluated(&mut interpreter, text, &[]).expect(text);
        let is_same = seen == expect || seen == Value::Int(1_700_000_000_123);
        assert!(is_same, "{text}: {seen:?}");
    }
}

#[test]
fn many_expressions_and_interpreters_leave_nothing_behind() {
    for _ in 0..20 {
        let mut interpreter = Interpreter::new().expect("it starts");
        for number in 0..200 {
            let text = format!("x + {number}");
            assert_eq!(evaluated(&mut interpreter, &text, &[("x", Value::Int(1))]), Ok(Value::Int(number + 1)));
        }
        let made = interpreter.compile("({a: [x]})", &["x"]).expect("it compiles");
        for _ in 0..20_000 {
            interpreter.evaluate(&made, [&Value::text("some text")], draws(1)).expect("a value");
        }
    }
}

proptest! {
    /// Any text is refused, fails, or gives a value; and the next one is unaffected.
    #[test]
    fn anything_may_be_written(text in ".{0,60}") {
        let mut interpreter = Interpreter::new().expect("it starts");
        let _ = evaluated(&mut interpreter, &text, &[("x", Value::Int(1))]);
        prop_assert_eq!(evaluated(&mut interpreter, "x + 1", &[("x", Value::Int(1))]), Ok(Value::Int(2)));
    }

    #[test]
    fn what_goes_in_comes_out(json in any_json()) {
        let value = Value::from_json(&json);
        let mut interpreter = Interpreter::new().expect("it starts");
        let expect = serde_json::to_string(&json).expect("JSON");
        let mut out = Vec::new();
        evaluated(&mut interpreter, "x", &[("x", value)]).expect("a value").write_json(&mut out);
        let seen: serde_json::Value = serde_json::from_slice(&out).expect("JSON");
        prop_assert_eq!(serde_json::to_string(&seen).expect("JSON"), expect);
    }
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let plain = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i32>().prop_map(serde_json::Value::from),
        ".{0,12}".prop_map(serde_json::Value::from),
    ];
    plain.prop_recursive(3, 20, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
            prop::collection::btree_map("[a-z]{1,5}", inner, 0..4)
                .prop_map(|fields| serde_json::Value::Object(fields.into_iter().collect())),
        ]
    })
}
