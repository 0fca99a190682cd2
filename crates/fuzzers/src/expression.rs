use std::cell::RefCell;
use std::time::Duration;

use pacing::Random;
use plan::Value;
use script::{Draws, Interpreter, PlainProgram};

const NAMES: [&str; 4] = ["a", "item", "list", "users.name"];
/// Expressions of one interpreter.
const OF_INTERPRETER: u32 = 1_000;

thread_local! {
    static INTERPRETER: RefCell<(Option<Interpreter>, u32)> = const { RefCell::new((None, 0)) };
}

fn values() -> [Value; 4] {
    let item = r#"{"sku":"A-1","price":9.5,"n":{"k":[1,2]}}"#;
    [Value::Int(7), Value::Json(item.into()), Value::Json("[1,\"a\",null]".into()), Value::text("ann")]
}

/// Any text as an expression: what is plain is JavaScript too, and has the same value there.
pub fn expression(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let draws = || Draws { random: Random::new(1), now: Duration::from_millis(1_234) };
    // All names are used, so that values and names have the same indices.
    let whole = format!("[a, item, list, users.name, {text}]");
    let (Some(_), Some(plain)) =
        (PlainProgram::compile(text, &NAMES, &[0, 1, 2, 3]), PlainProgram::compile(&whole, &NAMES, &[0, 1, 2, 3]))
    else {
        return;
    };
    INTERPRETER.with_borrow_mut(|(interpreter, count)| {
        if *count % OF_INTERPRETER == 0 {
            *interpreter = None;
        }
        *count += 1;
        let interpreter = interpreter.get_or_insert_with(|| Interpreter::new().expect("it starts"));
        let expression = interpreter.compile(&whole, &NAMES).expect("what is plain is JavaScript");
        let seen = plain.evaluate(&values().each_ref(), &mut draws());
        let expect = interpreter.evaluate(&expression, &values(), draws());
        if let Some(seen) = seen {
            assert_eq!(seen.ok().map(|value| format!("{value:?}")), expect.ok().map(|value| format!("{value:?}")));
        }
    });
}
