//! What expressions can use of what the program itself knows: who the user is, the last response, the round of a loop.

use std::sync::Arc;
use std::time::Duration;

use metrics::{Failure, GRPC_STATUSES, Outcome};
use pacing::{Nanos, Random};
use plan::{Builtin, Meaning, Value, retry_after};
use wire::http1;

use crate::faults;
use crate::program::ForkPart;
use crate::scenario_runtime::exchanges::{Attempt, Exchange};
use crate::scenario_runtime::users::programs::Use;
use crate::scenario_runtime::users::variables::States;
use crate::scenario_runtime::users::variables::evaluator::ScriptEvaluator;
use crate::scenario_runtime::{ScenarioConfig, ScenarioRuntime};

/// Offset of the draws of waits, apart from those of steps and conditions.
const WAITS: u32 = 3 << 29;

/// The status of a call that went well.
const CALL_OK: &str = "OK";

/// What expressions and retries of a scenario use.
pub(super) struct UsedBuiltins {
    scenario: Arc<str>,
    start_time_ms: i64,
    worker: u32,
    /// Some expression uses one of them.
    any: bool,
    /// Some expression, or a retry, uses the last response.
    response: bool,
}

/// What is known of a user when its values are used.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::scenario_runtime) struct Known {
    vu: u64,
    of_scenario: u64,
    round: Option<u32>,
}

/// The last step of a user that ended.
#[derive(Debug, Default)]
pub(super) struct LastResponse {
    status: Value,
    failed: bool,
    time: Nanos,
    /// Among several at a time, the last in the file counts.
    part: ForkPart,
    requested_wait: Option<Duration>,
    /// The status of a custom protocol, before it is known how the step ends.
    word: Option<Box<str>>,
}

impl UsedBuiltins {
    /// Whether some expression uses one of them.
    pub(super) fn has_any(&self) -> bool {
        self.any
    }

    /// `epoch`: the time of day when the clock of the run was at zero.
    pub(super) fn new(work: &ScenarioConfig, evaluator: &ScriptEvaluator, epoch: Duration) -> Self {
        let all = work.memory.expressions.iter().zip(0..).flat_map(|(expression, number)| {
            evaluator.uses(number).iter().map(|place| expression.names[*place as usize].1)
        });
        let used: Vec<Builtin> = all
            .filter_map(|meaning| match meaning {
                Meaning::Builtin(builtin) => Some(builtin),
                _ => None,
            })
            .collect();
        Self {
            scenario: work.name.clone(),
            start_time_ms: i64::try_from(epoch.as_millis()).unwrap_or(i64::MAX),
            worker: work.shared_data.worker,
            any: !used.is_empty(),
            response: used.iter().any(|builtin| builtin.is_of_response()) || work.program.waits_as_requested(),
        }
    }
}

impl States {
    /// The value of what is known of a user.
    pub(super) fn builtin(
        used: &UsedBuiltins,
        state: (u64, Option<&LastResponse>),
        known: Known,
        builtin: Builtin,
    ) -> Value {
        let whole = |number: u64| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
        let (iterations, response) = state;
        match builtin {
            Builtin::VuId => whole(known.vu + 1),
            Builtin::VuIteration => whole(iterations.saturating_sub(1)),
            Builtin::VuScenario => Value::text(&used.scenario),
            Builtin::VuScenarioIteration => whole(known.of_scenario),
            Builtin::VuWorker => Value::Int(used.worker.into()),
            Builtin::VuStartTime => Value::Int(used.start_time_ms),
            Builtin::ResponseStatus => response.map_or(Value::Null, |response| response.status.clone()),
            Builtin::ResponseFailed => response.map_or(Value::Null, |response| Value::Bool(response.failed)),
            Builtin::ResponseTimeMs => response.map_or(Value::Null, |response| millis_of(response.time)),
            Builtin::LoopIndex => known.round.map_or(Value::Null, |round| Value::Int(round.into())),
        }
    }

    /// The wait that the last response of a user asks for.
    pub(in crate::scenario_runtime) fn requested_wait(&mut self, user: u32) -> Option<Duration> {
        self.state(user).response.as_ref()?.requested_wait
    }

    /// Several exchanges of a user begin at a time.
    pub(in crate::scenario_runtime) fn begins_fork(&mut self, user: u32) {
        if self.used.response
            && let Some(response) = &mut self.state(user).response
        {
            response.part = 0;
        }
    }

    /// The status of a custom protocol.
    pub(in crate::scenario_runtime) fn note_word(&mut self, user: u32, status: &str) {
        if self.used.response {
            self.state(user).response.get_or_insert_default().word = Some(status.into());
        }
    }
}

/// Milliseconds with a fraction.
fn millis_of(time: Nanos) -> Value {
    const NANOS: f64 = 1e6;
    Value::Float(time.0 as f64 / NANOS)
}

impl ScenarioRuntime {
    /// What is known of a user now, where something uses it.
    #[inline]
    pub(in crate::scenario_runtime) fn known(&mut self, user: u32) -> Known {
        if self.users.states.used.any { self.known_of(user) } else { Known::default() }
    }

    fn known_of(&mut self, user: u32) -> Known {
        let vu = self.user_number(user);
        let iteration = self.users.programs.iteration(user);
        let of_scenario = match self.users.open {
            Some(_) => iteration,
            None => iteration.saturating_sub(1) * self.users.states.rows.users() + vu,
        };
        let round = self.users.programs.place(user).and_then(|place| place.round());
        Known { vu, of_scenario, round }
    }

    /// Notes the end of a step, for expressions and retries.
    #[inline]
    pub(in crate::scenario_runtime) fn note_response(
        &mut self,
        exchange: &Exchange,
        attempt: Option<&Attempt>,
        outcome: Outcome,
        done: Nanos,
    ) {
        if self.users.states.used.response {
            self.note_last(exchange, attempt, outcome, done);
        }
    }

    fn note_last(&mut self, exchange: &Exchange, attempt: Option<&Attempt>, outcome: Outcome, done: Nanos) {
        let step = &self.in_flight.steps[exchange.step as usize];
        let (part, is_call) = (step.part, step.call.is_some());
        let http = attempt.and_then(|attempt| attempt.head.map(|head| head.status).or(attempt.status));
        let unix_now = self.users.states.now(done);
        let response = self.users.states.state(exchange.user).response.get_or_insert_default();
        let word = response.word.take();
        if part < response.part {
            return;
        }
        let status = match (is_call, word, http) {
            (true, ..) => call_status(outcome),
            (false, Some(word), _) => Value::Text(word),
            (false, None, Some(status)) => Value::Int(status.into()),
            (false, None, None) => Value::Null,
        };
        let waits = matches!(http, Some(429 | 503));
        let kept = attempt.and_then(|attempt| attempt.kept.as_deref()).filter(|_| waits);
        let header = kept.and_then(|kept| {
            http1::fields(&kept.head)
                .find(|(name, _)| name.eq_ignore_ascii_case(b"retry-after"))
                .map(|(_, value)| value)
        });
        response.requested_wait = header.and_then(|value| retry_after(value, unix_now));
        response.time = done.since(exchange.intended);
        (response.status, response.failed, response.part) = (status, outcome != Outcome::Succeeded, part);
    }

    /// A number from 0 to 1 for the wait of a user.
    pub(in crate::scenario_runtime) fn draw_unit(&mut self, user: u32) -> f64 {
        let drawer = self.drawer(user);
        let mut random: Random = self.users.programs.random_for(user, WAITS, Use::Condition, drawer);
        random.unit()
    }
}

/// The status of a call, as its name.
fn call_status(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Succeeded => Value::text(CALL_OK),
        Outcome::Failed(failure) => status_of(failure),
    }
}

fn status_of(failure: Failure) -> Value {
    faults::call_status(failure).map_or(Value::Null, |status| Value::text(GRPC_STATUSES[status.index()]))
}
