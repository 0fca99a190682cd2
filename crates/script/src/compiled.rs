//! Expressions of a plan behind the traits of `plan`, for code that knows no interpreter.

use pacing::Random;
use plan::{Evaluate, Interpreters, Moment, Value};

use crate::bounds::EXPRESSIONS_MAX;
use crate::{Draws, Interpreter, PlainProgram, ScriptFault, names};

/// Creates an evaluator for each thread that requests one.
#[derive(Clone, Copy, Debug, Default)]
pub struct JavaScript;

/// The expressions of one scenario, compiled.
#[derive(Debug)]
struct Compiled {
    /// Created when the first expression needs it.
    interpreter: Option<Interpreter>,
    expressions: Vec<CompiledExpression>,
}

/// An expression: plain, JavaScript, or both, where a value of a plain one was left to JavaScript.
#[derive(Debug)]
struct CompiledExpression {
    uses: Box<[u32]>,
    plain: Option<Box<PlainExpression>>,
    /// Its number in the interpreter.
    script: Option<u32>,
}

/// A plain expression, and what the interpreter needs to compile it too.
#[derive(Debug)]
struct PlainExpression {
    program: PlainProgram,
    text: String,
    used: Box<[String]>,
}

impl Interpreters for JavaScript {
    fn start(&self, expressions: &[plan::Expression]) -> Result<Box<dyn Evaluate>, String> {
        let mut compiled = Compiled { interpreter: None, expressions: Vec::with_capacity(expressions.len()) };
        for expression in expressions {
            let added = compiled.add(expression);
            added.map_err(|fault| match fault {
                ScriptFault::Start { .. } => fault.to_string(),
                _ => format!("{}: {fault}", expression.text),
            })?;
        }
        Ok(Box::new(compiled))
    }

    fn is_plain(&self, expression: &plan::Expression) -> bool {
        let mut compiled = Compiled { interpreter: None, expressions: Vec::new() };
        compiled.add_plain(expression).is_ok_and(|is_plain| is_plain)
    }
}

impl Compiled {
    fn add(&mut self, expression: &plan::Expression) -> Result<(), ScriptFault> {
        if self.add_plain(expression)? {
            return Ok(());
        }
        let names: Vec<&str> = expression.names.iter().map(|(name, _)| name.as_str()).collect();
        let places = names::used(&expression.text, &names);
        let used: Vec<&str> = places.iter().map(|place| names[*place]).collect();
        let script = started(&mut self.interpreter)?.add(&expression.text, &used)?;
        let uses = places.into_iter().map(|place| place as u32).collect();
        self.expressions.push(CompiledExpression { uses, plain: None, script: Some(script) });
        Ok(())
    }

    /// Adds an expression if it is plain; returns whether it is.
    fn add_plain(&mut self, expression: &plan::Expression) -> Result<bool, ScriptFault> {
        if self.expressions.len() >= EXPRESSIONS_MAX {
            return Err(ScriptFault::TooMany);
        }
        let names: Vec<&str> = expression.names.iter().map(|(name, _)| name.as_str()).collect();
        let places = names::used(&expression.text, &names);
        let uses: Box<[u32]> = places.iter().map(|place| *place as u32).collect();
        let Some(program) = PlainProgram::compile(&expression.text, &names, &uses) else { return Ok(false) };
        let used = places.iter().map(|place| names[*place].to_owned()).collect();
        let plain = Some(Box::new(PlainExpression { program, text: expression.text.clone(), used }));
        self.expressions.push(CompiledExpression { uses, plain, script: None });
        Ok(true)
    }
}

/// The interpreter, which is created now if there is none.
fn started(interpreter: &mut Option<Interpreter>) -> Result<&mut Interpreter, ScriptFault> {
    Ok(match interpreter {
        Some(interpreter) => interpreter,
        None => interpreter.insert(Interpreter::new()?),
    })
}

impl Evaluate for Compiled {
    fn uses(&self, expression: u32) -> &[u32] {
        &self.expressions[expression as usize].uses
    }

    fn evaluate(&mut self, expression: u32, values: &[Value], moment: Moment) -> Result<Value, String> {
        self.evaluate_lent(expression, &values.iter().collect::<Vec<_>>(), moment)
    }

    fn evaluate_lent(&mut self, expression: u32, values: &[&Value], moment: Moment) -> Result<Value, String> {
        let Self { interpreter, expressions } = self;
        expressions[expression as usize].evaluate(interpreter, values, moment).map_err(|fault| fault.to_string())
    }

    fn draws(&self, expression: u32) -> bool {
        self.expressions[expression as usize].plain.as_ref().is_none_or(|plain| plain.program.draws())
    }

    fn items_lent(&self, expression: u32, values: &[&Value]) -> Option<Vec<Value>> {
        self.expressions[expression as usize].plain.as_ref()?.program.items(values)
    }
}

impl CompiledExpression {
    fn evaluate(
        &mut self,
        interpreter: &mut Option<Interpreter>,
        values: &[&Value],
        moment: Moment,
    ) -> Result<Value, ScriptFault> {
        let draws = || Draws { random: Random::new(moment.seed), now: moment.now };
        if let Some(plain) = &self.plain
            && let Some(value) = plain.program.evaluate(values, &mut draws())
        {
            return value;
        }
        let interpreter = started(interpreter)?;
        let script = match (self.script, &self.plain) {
            (Some(script), _) => script,
            (None, Some(plain)) => {
                let used: Vec<&str> = plain.used.iter().map(String::as_str).collect();
                *self.script.insert(interpreter.add(&plain.text, &used)?)
            }
            (None, None) => unreachable!("an expression is plain or JavaScript"),
        };
        interpreter.call(script, values.iter().copied(), draws())
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
    fn it_is_known_which_expressions_draw() {
        let cases = [
            ("price < 100 ? word : list[0]", false),
            ("now() + Math.max(1, price) + `${word}`", false),
            ("json(list) && [1, price].includes(2)", false),
            ("Math.random()", true),
            ("price + Math.floor(Math.random() * 2)", true),
            ("price > 1 && (word.length ?? `${uuid()}`)", true),
            ("[1, [pick(1, 2)]]", true),
            ("word.slice(random(1, 2))", true),
            ("word[random(0, 1)]", true),
            ("!name()", true),
            ("price ? 1 : email()", true),
            ("list.map(x => x + 1)", true),
        ];
        let compiled = started(&cases.map(|(text, _)| text)).expect("expressions");
        for (number, (text, draws)) in cases.into_iter().enumerate() {
            assert_eq!(compiled.draws(number as u32), draws, "{text}");
        }
    }

    #[test]
    fn the_name_of_a_list_has_items() {
        let compiled = started(&["list", "list ", "price", "[1]", "list.concat(1)"]).expect("expressions");
        let list = Value::Json("[1.0, {\"a\": 2}]".into());
        let items = vec![Value::Int(1), Value::Json("{\"a\":2}".into())];
        assert_eq!(compiled.items_lent(0, &[&list]), Some(items.clone()));
        assert_eq!(compiled.items_lent(1, &[&list]), Some(items));
        // JavaScript may know better, or there is no list.
        for other in ["{}", "[{\"1\": 1}]", "[1"] {
            assert_eq!(compiled.items_lent(0, &[&Value::Json(other.into())]), None, "{other}");
        }
        assert_eq!(compiled.items_lent(2, &[&Value::Int(1)]), None);
        assert_eq!(compiled.items_lent(3, &[]), None);
        assert_eq!(compiled.items_lent(4, &[&list]), None);
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

    /// Our functions are those of slots, in plain expressions and in JavaScript.
    #[test]
    fn functions_stand_anywhere() {
        let texts =
            ["uuid()", "(() => uuid())()", "[1, 2, 3].map(x => random(x, x + 5))", "random(1, 2, 3)", "[uuid(1)]"];
        let mut compiled = started(&texts).expect("expressions");
        let mut of = |number, seed| compiled.evaluate(number, &[], moment(seed, 0));
        assert_eq!(of(0, 7), of(1, 7));
        assert_ne!(of(0, 7), of(0, 8));
        let mut drawn = Random::new(9);
        let each = [1, 2, 3].map(|least| drawn.between(least, least + 5));
        assert_eq!(of(2, 9), Ok(Value::Json(format!("{each:?}").replace(' ', "").into())));
        for (number, expect) in
            [(3, "it threw: random() takes two whole numbers"), (4, "it threw: uuid() takes nothing")]
        {
            let fault = of(number, 1).expect_err("wrong arguments");
            assert!(fault.starts_with(expect), "{fault}");
        }
        let mut shadowed = JavaScript
            .start(&[plan::Expression {
                text: "now + 1".to_owned(),
                names: vec![("now".to_owned(), Meaning::Variable(0))],
            }])
            .expect("a variable with the name of a function");
        assert_eq!(shadowed.evaluate(0, &[Value::Int(4)], moment(1, 0)), Ok(Value::Int(5)));
    }

    /// What a plain expression leaves to JavaScript for some values has its value from there.
    #[test]
    fn values_in_doubt_go_to_javascript() {
        let mut compiled = started(&["list + ''", "list[0]", "word.toUpperCase()"]).expect("expressions");
        let mut of = |number, value: Value| compiled.evaluate(number, &[value], moment(1, 0));
        assert_eq!(of(0, Value::text("a")), Ok(Value::text("a")));
        assert_eq!(of(0, Value::Json("[1,[2,3]]".into())), Ok(Value::text("1,2,3")));
        assert_eq!(of(0, Value::Json("{}".into())), Ok(Value::text("[object Object]")));
        assert_eq!(of(1, Value::Json("{\"0\":{\"b\":1,\"1\":2}}".into())), Ok(Value::Json("{\"1\":2,\"b\":1}".into())));
        assert_eq!(of(2, Value::text("straße")), Ok(Value::text("STRASSE")));
        let fault = of(2, Value::Int(1)).expect_err("a number has no such method");
        assert_eq!(fault, "it threw: not a function");
    }
}
