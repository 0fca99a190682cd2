//! Values that exist before anything is sent.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use plan::{Builtin, Evaluate, Expression, Meaning, Moment, NotFilled, Scope, Value};

use super::names::Naming;
use super::{DynamicParts, Outside};
use crate::diagnostic::{DiagnosticSink, Problem};
use crate::file::{File, Variable};

/// The source of constants.
struct Fixed<'a> {
    values: Vec<Value>,
    constants: Vec<Value>,
    counts: Vec<u64>,
    expressions: &'a [Expression],
    evaluate: Option<Result<Box<dyn Evaluate>, String>>,
    state: u64,
    now: Duration,
}

impl Scope for Fixed<'_> {
    fn variable(&self, number: u32) -> &Value {
        &self.values[number as usize]
    }

    fn column(&mut self, _: u32) -> Option<Value> {
        None
    }

    fn draw(&mut self, bound: u64) -> u64 {
        // SplitMix64, by its published constants.
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.state;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^= word >> 31;
        if bound == 0 { word } else { ((u128::from(word) * u128::from(bound)) >> 64) as u64 }
    }

    fn now_ns(&self) -> u128 {
        self.now.as_nanos()
    }

    fn count(&mut self, counter: u32) -> u64 {
        let place = counter as usize;
        self.counts.resize(self.counts.len().max(place + 1), 0);
        self.counts[place] += 1;
        self.counts[place]
    }

    fn evaluate(&mut self, expression: u32) -> Result<Value, String> {
        let moment = Moment { seed: self.draw(0), now: self.now };
        let names = &self.expressions[expression as usize].names;
        let evaluate = match &mut self.evaluate {
            Some(Ok(evaluate)) => evaluate,
            Some(Err(reason)) => return Err(reason.clone()),
            None => return Err(NO_INTERPRETER.to_owned()),
        };
        let given: Vec<Value> = evaluate
            .uses(expression)
            .iter()
            .map(|place| match names[*place as usize].1 {
                Meaning::Variable(number) => self.values[number as usize].clone(),
                Meaning::Column(_) => Value::Null,
                Meaning::Constant(number) => self.constants[number as usize].clone(),
                Meaning::Builtin(builtin) => sample(builtin, moment.now),
            })
            .collect();
        evaluate.evaluate(expression, &given, moment)
    }
}

/// A value like those of users: variables of users are computed once before the run, for their errors.
fn sample(builtin: Builtin, now: Duration) -> Value {
    match builtin {
        Builtin::VuId | Builtin::VuWorker => Value::Int(1),
        Builtin::VuIteration | Builtin::VuScenarioIteration => Value::Int(0),
        Builtin::VuScenario => Value::text("scenario"),
        Builtin::VuStartTime => Value::Int(i64::try_from(now.as_millis()).unwrap_or(i64::MAX)),
        Builtin::ResponseStatus | Builtin::ResponseFailed | Builtin::ResponseTimeMs | Builtin::LoopIndex => Value::Null,
    }
}

/// The reason why no expression is evaluated.
pub(crate) const NO_INTERPRETER: &str = "this build evaluates no expressions; build it with --features script";

/// Values that are known already, and which random draws are made for the others.
pub(super) struct Draws<'a> {
    /// Names with their values.
    pub(super) known: &'a [(String, Value)],
    /// 0: those of the file; others are those of a scenario.
    pub(super) number: u64,
}

/// The variables of a file, each computed once: those of users too, so that their errors are reported before the run.
pub(super) fn globals(
    file: &File,
    outside: &Outside<'_>,
    mark: String,
    draws: &Draws<'_>,
    found: &mut DiagnosticSink,
) -> Vec<(String, Value)> {
    // All names exist while one is computed; there are no cycles.
    let empty: Vec<(String, Value)> =
        file.vars.iter().map(|variable| (variable.name.text.clone(), Value::Null)).collect();
    let naming = Naming::new(file, &empty, &[], outside);
    let mut dynamic_parts = DynamicParts {
        file,
        outside,
        naming,
        mark,
        fault_at: None,
        origin: None,
        origins: Vec::new(),
        may_secure: true,
        bodies: super::Bodies::default(),
        found: DiagnosticSink::default(),
    };
    // Each expression has its number before the interpreter is made.
    let pattern_of = |variable: &Variable| {
        dynamic_parts.naming.at = variable.name.at;
        dynamic_parts.value_pattern(&variable.value)
    };
    let patterns: Vec<_> = file.vars.iter().map(pattern_of).collect();
    let names = dynamic_parts.naming.variable_names();
    let numbers: Vec<_> = file.vars.iter().map(|variable| dynamic_parts.naming.number(&variable.name.text)).collect();
    let constants = dynamic_parts.naming.constants();
    let (values, _, expressions, _) = dynamic_parts.naming.memory();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let evaluate = if expressions.is_empty() {
        None
    } else {
        Some(match outside.interpreters {
            Some(interpreters) => interpreters.start(&expressions),
            None => Err(NO_INTERPRETER.to_owned()),
        })
    };
    let state = file.run.seed.unwrap_or(super::SEED) ^ 0x7661_7273 ^ draws.number.wrapping_mul(super::loads::SEED_STEP);
    let mut fixed = Fixed { values, constants, counts: Vec::new(), expressions: &expressions, evaluate, state, now };
    for (name, at) in &dynamic_parts.naming.unset {
        found.add(*at, Problem::Unset { name: name.clone() });
    }
    dynamic_parts.naming.faults.drain(..).for_each(|(at, fault)| found.add(at, fault));
    for place in order(file) {
        let variable = &file.vars[place];
        let known = draws.known.iter().find(|(name, _)| *name == variable.name.text);
        if let (Some((_, value)), Some(number)) = (known, numbers[place]) {
            fixed.values[number as usize] = value.clone();
            continue;
        }
        let value = match &patterns[place] {
            Ok(pattern) => pattern.value(&mut fixed).map_err(|error: NotFilled| error.to_string()),
            Err(Problem::Slot { text }) => Err(format!("nobody knows what ${{{text}}} is")),
            Err(fault) => Err(fault.to_string()),
        };
        match (value, numbers[place]) {
            (Ok(value), Some(number)) => fixed.values[number as usize] = value,
            (Ok(_), None) => {}
            (Err(reason), _) => {
                found.add(variable.name.at, Problem::Constant { name: variable.name.text.clone(), reason });
            }
        }
    }
    let is_own = |name: &str| file.vars.iter().any(|variable| variable.per_user && variable.name.text == name);
    let of_all = |(name, value): (String, Value)| if is_own(&name) { (name, Value::Null) } else { (name, value) };
    names.into_iter().zip(fixed.values).map(of_all).collect()
}

/// The variables of a file, each after those that it depends on.
pub(super) fn order(file: &File) -> Vec<usize> {
    let mut done: Vec<usize> = Vec::new();
    while done.len() < file.vars.len() {
        let before = done.len();
        for (place, variable) in file.vars.iter().enumerate() {
            if done.contains(&place) {
                continue;
            }
            let mut is_ready = true;
            let text = format!("{:?}", variable.value);
            for (other, known) in file.vars.iter().enumerate() {
                // A name that occurs in the value. An unneeded dependency does no harm except in a cycle, and there is
                // none.
                let is_part = other != place && uses(&text, &known.name.text);
                is_ready &= !is_part || done.contains(&other);
            }
            if is_ready {
                done.push(place);
            }
        }
        if done.len() == before {
            // Names in plain text can look like cycles: those variables keep their order.
            done.extend((0..file.vars.len()).find(|place| !done.contains(place)));
        }
    }
    done
}

fn uses(text: &str, name: &str) -> bool {
    let is_of_name = |each: char| each.is_alphanumeric() || each == '_';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back().is_some_and(is_of_name);
        let behind = text[at + name.len()..].chars().next().is_some_and(is_of_name);
        !before && !behind
    })
}
