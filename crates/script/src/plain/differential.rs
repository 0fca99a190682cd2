//! Random expressions over random values: what is plain gives what QuickJS gives.

use std::time::Duration;

use pacing::Random;
use plan::Value;

use super::PlainProgram;
use crate::{Draws, Interpreter, ScriptFault, names};

/// Expressions of a long run, and the parts that ordinary runs play.
const EXPRESSIONS: u64 = 100_000;
const PARTS: u64 = 33;
/// Expressions of one interpreter.
const OF_INTERPRETER: usize = 500;
/// The deepest random expression.
const DEPTH_MAX: u32 = 4;

const NAMES: [&str; 7] = ["a", "b", "item", "list", "text", "users.name", "users.data"];

/// Values that are at the edges of conversions.
const VALUES: [&str; 34] = [
    "null",
    "true",
    "false",
    "0",
    "-0.0",
    "1",
    "2",
    "-3",
    "0.1",
    "2.5",
    "1e21",
    "1.5e-7",
    "123456789012345680000",
    "9223372036854775807",
    "1e300",
    "12345678901234567890",
    "\"\"",
    "\" 12 \"",
    "\"10\"",
    "\"9\"",
    "\"paid\"",
    "\"Infinity\"",
    "\"0x1f\"",
    "\"1e3\"",
    "\"\\ufeff\"",
    "\"价格\"",
    "\"\u{1f600}a\"",
    "\"\u{e000}\"",
    "\"null\"",
    "[]",
    "[1,\"a\",null,{\"k\":2},[3]]",
    "[\"paid\", 2.50, -0, 1e2, \"\\u0041\"]",
    "{\"sku\":\"A-1\",\"price\":9.5,\"n\":{\"k\":[1,2]},\"length\":3}",
    "{\"b\": 1, \"a\": {\"1\": 2, \"0\": 3}, \"sku\": \"\\ud83d\\ude00\\u0001\", \"b\": null}",
];

/// Literals of expressions.
const LITERALS: [&str; 22] = [
    "0",
    "1",
    "2",
    "10",
    "0.5",
    "1e21",
    ".25",
    "1e-7",
    "'a'",
    "'paid'",
    "''",
    "'10'",
    "\"9\"",
    "'\\n\\x41\\u{42}'",
    "true",
    "false",
    "null",
    "undefined",
    "NaN",
    "Infinity",
    "'length'",
    "'sku'",
];
const OPERATORS: [&str; 16] =
    ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "===", "!==", "&&", "||", "??"];
const MEMBERS: [&str; 9] = [".sku", ".price", ".n", ".k", ".length", "?.sku", "?.n", "?.length", ".toString"];
const METHODS: [&str; 10] = [
    "includes",
    "startsWith",
    "endsWith",
    "indexOf",
    "trim",
    "toLowerCase",
    "toUpperCase",
    "toString",
    "toFixed",
    "slice",
];
const CALLS: [&str; 15] = [
    "Math.abs",
    "Math.floor",
    "Math.ceil",
    "Math.round",
    "Math.trunc",
    "Math.min",
    "Math.max",
    "Number",
    "String",
    "parseInt",
    "parseFloat",
    "isNaN",
    "base64",
    "urlencode",
    "json",
];
const DRAWN: [&str; 7] =
    ["Math.random()", "uuid()", "random(1,6)", "pick(1,'b',true)", "now()", "Date.now()", "name()"];

/// A source of random expressions.
struct Writer {
    random: Random,
}

impl Writer {
    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.random.below(of.len() as u64) as usize]
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 || self.random.below(6) == 0 {
            return match self.random.below(10) {
                0..4 => self.one(&LITERALS).to_owned(),
                4 => self.one(&DRAWN).to_owned(),
                _ => self.one(&NAMES).to_owned(),
            };
        }
        let next = |writer: &mut Self| writer.expression(depth - 1);
        match self.random.below(16) {
            0..6 => format!("{} {} {}", next(self), self.one(&OPERATORS), next(self)),
            6 => format!("({})", next(self)),
            7 => format!("{}{}", self.one(&["!", "-", "+", "typeof ", "- -"]), next(self)),
            8 => format!("{} ? {} : {}", next(self), next(self), next(self)),
            9 => format!("{}{}", self.one(&["item", "list", "users.data", "text"]), self.one(&MEMBERS)),
            10 => {
                format!("{}{}{}", self.one(&NAMES), self.one(&MEMBERS), self.one(&["", ".k", "?.k", "[0]", ".trim()"]))
            }
            11 => format!("{}[{}]", self.one(&["item", "list", "text", "(a)"]), next(self)),
            12 => format!("String({}).{}({})", next(self), self.one(&METHODS), next(self)),
            13 => format!("{}({})", self.one(&CALLS), next(self)),
            14 => format!("[{}, {}]{}", next(self), next(self), self.one(&["", ".includes(a)", ".includes('paid')"])),
            _ => format!("`x${{{}}}-${{{}}}`", self.one(&NAMES), self.one(&["a + 1", "item.price", "list[1]", "text"])),
        }
    }

    fn value(&mut self) -> Value {
        let json = self.one(&VALUES);
        Value::from_json_text(json.as_bytes()).expect("a value")
    }
}

fn draws(seed: u64) -> Draws {
    Draws { random: Random::new(seed), now: Duration::from_micros(1_700_000_000_123_456) }
}

/// What is the same for users: an error is one, whatever its text.
fn shown(value: Result<Value, ScriptFault>) -> String {
    value.map_or_else(|_| "throws".to_owned(), |value| format!("{value:?}"))
}

#[test]
fn plain_expressions_give_what_javascript_gives() {
    let seeds = claims::seeds::for_this_run(EXPRESSIONS, PARTS);
    let (mut plain, mut certain, mut values) = (0_u64, 0_u64, 0_u64);
    for chunk in seeds.chunks(OF_INTERPRETER) {
        let mut interpreter = Interpreter::new().expect("it starts");
        for seed in chunk {
            let mut writer = Writer { random: Random::for_stream(*seed, 1) };
            let text = writer.expression(DEPTH_MAX);
            let all: Vec<Value> = NAMES.iter().map(|_| writer.value()).collect();
            let uses: Vec<u32> = names::used(&text, &NAMES).into_iter().map(|place| place as u32).collect();
            let given: Vec<Value> = uses.iter().map(|place| all[*place as usize].clone()).collect();
            let Some(program) = PlainProgram::compile(&text, &NAMES, &uses) else { continue };
            plain += 1;
            let oracle = interpreter.compile(&text, &NAMES).unwrap_or_else(|fault| panic!("{text}: {fault}"));
            let Some(value) = program.evaluate(&given.iter().collect::<Vec<_>>(), &mut draws(*seed)) else { continue };
            certain += 1;
            values += u64::from(value.is_ok());
            let expect = interpreter.evaluate(&oracle, &given, draws(*seed));
            assert_eq!(shown(value), shown(expect), "seed {seed}: {text} with {given:?}");
        }
    }
    let count = seeds.len() as u64;
    // Most of them are plain, and of those most have a value here.
    assert!(
        plain * 10 > count * 6 && certain * 10 > plain * 4 && values * 10 > certain * 6,
        "of {count}: {plain} plain, {certain} certain, {values} values"
    );
}
