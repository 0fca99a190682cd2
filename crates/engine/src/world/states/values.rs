//! Values for the slots and expressions of a user.

use std::time::Duration;

use pacing::{Nanos, Random};
use plan::{Expression, Meaning, Moment, NotFilled, Scope, Value, ValuePattern};

use super::builtins::{Known, LastResponse, UsedBuiltins};
use super::evaluator::ScriptEvaluator;
use super::rows::UserRow;
use super::{State, States};
use crate::world::programs::Use;
use crate::world::{Counters, ScenarioRuntime};

/// Offset of the draws of conditions, apart from those of steps.
const CONDITIONS: u32 = 1 << 31;

/// Offset of the draws of variables that are set.
const SETS: u32 = 5 << 29;

/// The values of a user at an instant.
pub(super) struct Values<'a> {
    variables: &'a [Value],
    rows: &'a [Option<UserRow>],
    /// The feed, and the index in its rows.
    columns: &'a [(u16, u32)],
    constants: &'a [Value],
    counters: &'a Counters,
    expressions: &'a [Expression],
    evaluator: &'a mut ScriptEvaluator,
    used: &'a UsedBuiltins,
    /// Iterations that the user has begun, and its last response.
    own: (u64, Option<&'a LastResponse>),
    known: Known,
    random: Random,
    now: Duration,
}

impl Values<'_> {
    fn cell(&self, number: u32) -> Option<&Value> {
        let (feed, column) = self.columns.get(number as usize)?;
        self.rows.get(usize::from(*feed))?.as_ref()?.row.values().get(*column as usize)
    }
}

impl Scope for Values<'_> {
    fn variable(&self, number: u32) -> &Value {
        &self.variables[number as usize]
    }

    fn column(&mut self, number: u32) -> Option<Value> {
        self.cell(number).cloned()
    }

    fn draw(&mut self, bound: u64) -> u64 {
        if bound == 0 { self.random.next_u64() } else { self.random.below(bound) }
    }

    fn now_ns(&self) -> u128 {
        self.now.as_nanos()
    }

    fn count(&mut self, counter: u32) -> u64 {
        self.counters.next(counter)
    }

    fn evaluate(&mut self, expression: u32) -> Result<Value, String> {
        let mut given = std::mem::take(&mut self.evaluator.given);
        let evaluated = self.gather(expression, &mut given).and_then(|()| self.compute(expression, &given));
        self.evaluator.given = given;
        evaluated.map_err(|reason| format!("{}: {reason}", self.expressions[expression as usize].text))
    }
}

impl Values<'_> {
    /// Gathers the values that an expression uses.
    fn gather(&self, expression: u32, given: &mut Vec<Value>) -> Result<(), String> {
        given.clear();
        let names = &self.expressions[expression as usize].names;
        for place in self.evaluator.uses(expression) {
            let (name, meaning) = &names[*place as usize];
            given.push(match meaning {
                Meaning::Variable(number) => self.variables[*number as usize].clone(),
                Meaning::Column(number) => {
                    self.cell(*number).cloned().ok_or_else(|| format!("{name}: there is no row"))?
                }
                Meaning::Constant(number) => self.constants[*number as usize].clone(),
                Meaning::Builtin(builtin) => States::builtin(self.used, self.own, self.known, *builtin),
            });
        }
        Ok(())
    }

    fn compute(&mut self, expression: u32, given: &[Value]) -> Result<Value, String> {
        let moment = Moment { seed: self.random.next_u64(), now: self.now };
        match &mut self.evaluator.interpreter {
            Some(Ok(interpreter)) => interpreter.evaluate(expression, given, moment),
            Some(Err(reason)) => Err(reason.clone()),
            None => Err("nobody evaluates it".to_owned()),
        }
    }
}

impl States {
    /// The values of a user. `now`: on the clock of the run.
    pub(super) fn values(&mut self, user: u32, random: Random, now: Nanos, known: Known) -> Values<'_> {
        self.state(user);
        let Self { memory, all, counters, evaluator, rows, used, epoch, .. } = self;
        let State { variables, rows: own, iterations, response, .. } = &all[user as usize];
        Values {
            variables,
            rows: own,
            columns: rows.columns(),
            constants: &memory.constants,
            counters,
            expressions: &memory.expressions,
            evaluator,
            used,
            own: (*iterations, response.as_deref()),
            known,
            random,
            now: *epoch + now.as_duration(),
        }
    }
}

impl ScenarioRuntime {
    /// The value of a condition for a user.
    ///
    /// # Errors
    /// It has no value, or the rows that it uses are not there.
    pub(in crate::world) fn evaluate(&mut self, user: u32, expression: u32, at: Nanos) -> Result<Value, NotFilled> {
        if let Some(reason) = self.users.states.lacks_own(user) {
            return Err(NotFilled::Expression { reason });
        }
        let drawer = self.drawer(user);
        let random = self.users.programs.random_for(user, CONDITIONS | expression, Use::Condition, drawer);
        let known = self.known(user);
        let given = self.users.states.values(user, random, at, known).evaluate(expression);
        given.map_err(|reason| NotFilled::Expression { reason })
    }

    /// The value of a pattern for a user.
    ///
    /// # Errors
    /// A value is not available.
    pub(in crate::world) fn value_of(
        &mut self,
        user: u32,
        pattern: &ValuePattern,
        at: Nanos,
    ) -> Result<Value, NotFilled> {
        if let Some(reason) = self.users.states.lacks_own(user) {
            return Err(NotFilled::Expression { reason });
        }
        let drawer = self.drawer(user);
        let random = self.users.programs.random_for(user, SETS, Use::Condition, drawer);
        let known = self.known(user);
        pattern.value(&mut self.users.states.values(user, random, at, known))
    }
}
