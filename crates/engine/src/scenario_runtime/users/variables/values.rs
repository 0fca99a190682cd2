//! Values for the slots and expressions of a user.

use std::time::Duration;

use pacing::{Nanos, Random};
use plan::{Evaluate, Meaning, Memory, Moment, NotFilled, Scope, Value, ValuePattern};

use crate::scenario_runtime::users::programs::Use;
use crate::scenario_runtime::users::variables::builtins::{Known, UsedBuiltins};
use crate::scenario_runtime::users::variables::evaluator::ScriptEvaluator;
use crate::scenario_runtime::users::variables::rows::Rows;
use crate::scenario_runtime::users::variables::{State, States};
use crate::scenario_runtime::{Counters, ScenarioRuntime};

/// Offset of the draws of conditions, apart from those of steps.
const CONDITIONS: u32 = 1 << 31;

/// Offset of the draws of variables that are set.
const SETS: u32 = 5 << 29;

/// The most values of an expression that are lent to it without memory from the heap.
const LENT_MAX: usize = 4;

/// What stands where no value is lent yet.
static NOTHING: Value = Value::Null;

/// The values of a user at an instant.
pub(super) struct Values<'a> {
    /// The user, and what all users have.
    state: &'a State,
    memory: &'a Memory,
    rows: &'a Rows,
    counters: &'a Counters,
    evaluator: &'a mut ScriptEvaluator,
    used: &'a UsedBuiltins,
    known: Known,
    random: Random,
    now: Duration,
}

/// The value of a column of the rows that a user has drawn.
fn cell<'r>(state: &'r State, rows: &Rows, number: u32) -> Option<&'r Value> {
    let (feed, column) = rows.columns().get(number as usize)?;
    state.rows.get(usize::from(*feed))?.as_ref()?.row.values().get(*column as usize)
}

impl Scope for Values<'_> {
    fn variable(&self, number: u32) -> &Value {
        &self.state.variables[number as usize]
    }

    fn column(&mut self, number: u32) -> Option<Value> {
        cell(self.state, self.rows, number).cloned()
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
        let mut random = self.random.clone();
        let moment = Moment { seed: random.next_u64(), now: self.now };
        let lent = self.lend(expression, |evaluator, values| evaluator.evaluate_lent(expression, values, moment));
        let evaluated = lent.and_then(|evaluated| {
            self.random = random;
            evaluated
        });
        evaluated.map_err(|reason| format!("{}: {reason}", self.memory.expressions[expression as usize].text))
    }
}

impl Values<'_> {
    /// Lends the values that an expression uses to what is done with them.
    fn lend<T>(
        &mut self,
        expression: u32,
        evaluate: impl FnOnce(&mut dyn Evaluate, &[&Value]) -> T,
    ) -> Result<T, String> {
        let ScriptEvaluator { interpreter, given } = &mut *self.evaluator;
        let interpreter = match interpreter {
            Some(Ok(interpreter)) => interpreter,
            Some(Err(reason)) => return Err(reason.clone()),
            None => return Err("nobody evaluates it".to_owned()),
        };
        let names = &self.memory.expressions[expression as usize].names;
        let uses = interpreter.uses(expression);
        if self.used.has_any() {
            given.clear();
            let own = (self.state.iterations, self.state.response.as_deref());
            given.extend(uses.iter().filter_map(|place| match names[*place as usize].1 {
                Meaning::Builtin(builtin) => Some(States::builtin(self.used, own, self.known, builtin)),
                _ => None,
            }));
        }
        let mut made = given.iter();
        let (mut few, mut many) = ([&NOTHING; LENT_MAX], Vec::new());
        let lent = match few.get_mut(..uses.len()) {
            Some(few) => few,
            None => {
                many.resize(uses.len(), &NOTHING);
                &mut many[..]
            }
        };
        for (place, lent) in uses.iter().zip(&mut *lent) {
            let (name, meaning) = &names[*place as usize];
            *lent = match meaning {
                Meaning::Variable(number) => &self.state.variables[*number as usize],
                Meaning::Column(number) => {
                    cell(self.state, self.rows, *number).ok_or_else(|| format!("{name}: there is no row"))?
                }
                Meaning::Constant(number) => &self.memory.constants[*number as usize],
                Meaning::Builtin(_) => made.next().unwrap_or(&NOTHING),
            };
        }
        Ok(evaluate(&mut **interpreter, lent))
    }

    /// The elements of the list that an expression gives; or its value, which is no list.
    fn items(&mut self, expression: u32) -> Result<Result<Vec<Value>, Value>, String> {
        let named = self.lend(expression, |evaluator, values| evaluator.items_lent(expression, values));
        if let Ok(Some(all)) = named {
            return Ok(Ok(all));
        }
        let value = self.evaluate(expression)?;
        Ok(value.items().ok_or(value))
    }
}

impl States {
    /// The values of a user. `now`: on the clock of the run.
    pub(super) fn values(&mut self, user: u32, random: Random, now: Nanos, known: Known) -> Values<'_> {
        self.state(user);
        let Self { memory, all, counters, evaluator, rows, used, epoch, .. } = self;
        Values {
            state: &all[user as usize],
            memory,
            rows,
            counters,
            evaluator,
            used,
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
    pub(in crate::scenario_runtime) fn evaluate(
        &mut self,
        user: u32,
        expression: u32,
        at: Nanos,
    ) -> Result<Value, NotFilled> {
        let given = self.values_for(user, expression, at)?.evaluate(expression);
        given.map_err(|reason| NotFilled::Expression { reason })
    }

    /// The elements of the list that an expression gives for a user; or its value, which is no list.
    ///
    /// # Errors
    /// As [`ScenarioRuntime::evaluate`].
    pub(in crate::scenario_runtime) fn items(
        &mut self,
        user: u32,
        expression: u32,
        at: Nanos,
    ) -> Result<Result<Vec<Value>, Value>, NotFilled> {
        let given = self.values_for(user, expression, at)?.items(expression);
        given.map_err(|reason| NotFilled::Expression { reason })
    }

    /// The values of a user for a condition.
    fn values_for(&mut self, user: u32, expression: u32, at: Nanos) -> Result<Values<'_>, NotFilled> {
        if let Some(reason) = self.users.states.lacks_own(user) {
            return Err(NotFilled::Expression { reason });
        }
        let draws = self.users.states.evaluator.draws(expression);
        let random = self.random_of_value(user, CONDITIONS | expression, draws);
        let known = self.known(user);
        Ok(self.users.states.values(user, random, at, known))
    }

    /// The source of draws for a value. One that draws nothing has no need of its seed.
    fn random_of_value(&mut self, user: u32, step: u32, draws: bool) -> Random {
        if draws {
            let drawer = self.drawer(user);
            self.users.programs.random_for(user, step, Use::Condition, drawer)
        } else {
            self.users.programs.pass_draw(user);
            Random::new(0)
        }
    }

    /// The value of a pattern for a user.
    ///
    /// # Errors
    /// A value is not available.
    pub(in crate::scenario_runtime) fn value_of(
        &mut self,
        user: u32,
        pattern: &ValuePattern,
        at: Nanos,
    ) -> Result<Value, NotFilled> {
        if let Some(reason) = self.users.states.lacks_own(user) {
            return Err(NotFilled::Expression { reason });
        }
        let evaluator = &self.users.states.evaluator;
        let draws = pattern.draws(|expression| evaluator.draws(expression));
        let random = self.random_of_value(user, SETS, draws);
        let known = self.known(user);
        pattern.value(&mut self.users.states.values(user, random, at, known))
    }
}
