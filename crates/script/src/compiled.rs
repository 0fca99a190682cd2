//! Expressions of a plan behind the traits of `plan`, for code that knows no interpreter.

use pacing::Random;
use plan::{Evaluate, Interpreters, Moment, Value};

use crate::{Draws, Expression, Interpreter};

/// Creates an interpreter for each thread that requests one.
#[derive(Clone, Copy, Debug, Default)]
pub struct JavaScript;

/// The expressions of one scenario, compiled.
#[derive(Debug)]
struct Compiled {
    interpreter: Interpreter,
    expressions: Vec<Expression>,
}

impl Interpreters for JavaScript {
    fn start(&self, expressions: &[plan::Expression]) -> Result<Box<dyn Evaluate>, String> {
        let mut interpreter = Interpreter::new().map_err(|fault| fault.to_string())?;
        let mut compiled = Vec::with_capacity(expressions.len());
        for expression in expressions {
            let names: Vec<&str> = expression.names.iter().map(|(name, _)| name.as_str()).collect();
            let made = interpreter.compile(&expression.text, &names);
            compiled.push(made.map_err(|fault| format!("{}: {fault}", expression.text))?);
        }
        Ok(Box::new(Compiled { interpreter, expressions: compiled }))
    }
}

impl Evaluate for Compiled {
    fn uses(&self, expression: u32) -> &[u32] {
        &self.expressions[expression as usize].uses
    }

    fn evaluate(&mut self, expression: u32, values: &[Value], moment: Moment) -> Result<Value, String> {
        let draws = Draws { random: Random::new(moment.seed), now: moment.now };
        let given = self.interpreter.evaluate(&self.expressions[expression as usize], values, draws);
        given.map_err(|fault| fault.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plan::Meaning;

    use super::*;

    const NAMES: [&str; 4] = ["price", "word", "users.name", "list"];

    fn started(texts: &[&str]) -> Result<Box<dyn Evaluate>, String> {
        let names =
            NAMES.iter().enumerate().map(|(number, name)| ((*name).to_owned(), Meaning::Variable(number as u32)));
        let names: Vec<_> = names.collect();
        let expression = |text: &&str| plan::Expression { text: (*text).to_owned(), names: names.clone() };
        JavaScript.start(&texts.iter().map(expression).collect::<Vec<_>>())
    }

    fn moment(seed: u64, millis: u64) -> Moment {
        Moment { seed, now: Duration::from_millis(millis) }
    }

    #[test]
    fn each_expression_says_what_it_uses_and_gives_its_value() {
        let all = [Value::Int(99), Value::text("a"), Value::text("ann"), Value::Json("[1,2]".into())];
        let cases: [(&str, &[u32], Value); 10] = [
            ("price < 100", &[0], Value::Bool(true)),
            ("word + users.name", &[1, 2], Value::text("aann")),
            ("users.name.length", &[2], Value::Int(3)),
            ("list[1] * price", &[0, 3], Value::Int(198)),
            ("1 + 1", &[], Value::Int(2)),
            ("null", &[], Value::Null),
            ("price / 2", &[0], Value::Float(49.5)),
            ("({a: list})", &[3], Value::Json("{\"a\":[1,2]}".into())),
            ("Date.now()", &[], Value::Int(1_234)),
            ("new Date().toISOString()", &[], Value::text("1970-01-01T00:00:01.234Z")),
        ];
        let mut compiled = started(&cases.each_ref().map(|(text, ..)| *text)).expect("expressions");
        for round in 0..2 {
            for (number, (text, uses, expect)) in cases.iter().enumerate() {
                assert_eq!(compiled.uses(number as u32), *uses, "{text}");
                let values: Vec<Value> = uses.iter().map(|place| all[*place as usize].clone()).collect();
                let given = compiled.evaluate(number as u32, &values, moment(round, 1_234));
                assert_eq!(given, Ok(expect.clone()), "{text}");
            }
        }
    }

    #[test]
    fn chance_comes_from_the_seed_alone() {
        let mut compiled = started(&["Math.random()", "[Math.random(), Math.random()]"]).expect("expressions");
        let mut of = |number, seed| compiled.evaluate(number, &[], moment(seed, 0)).expect("a value");
        assert_eq!(of(0, 7), of(0, 7));
        assert_ne!(of(0, 7), of(0, 8));
        assert_eq!(of(1, 7), of(1, 7));
        assert_eq!(of(0, 9), Value::Float(Random::new(9).unit()));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let refused = started(&["1 +"]).expect_err("no expression");
        assert!(refused.starts_with("1 +: it is not a JavaScript expression"), "{refused}");
        let mut compiled = started(&["nobody", "(() => { for (;;); })()", "() => 1", "1"]).expect("expressions");
        let mut of = |number| compiled.evaluate(number, &[], moment(1, 0));
        let starts = |given: Result<Value, String>, text: &str| assert!(given.expect_err(text).starts_with(text));
        starts(of(0), "it threw: nobody is not defined");
        starts(of(1), "it took longer than 50ms");
        starts(of(2), "it gives a function");
        assert_eq!(of(3), Ok(Value::Int(1)), "it goes on behind all of them");
    }
}
