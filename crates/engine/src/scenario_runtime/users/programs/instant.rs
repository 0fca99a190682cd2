//! What a user does without a request and without time: conditions, variables, checks, rounds of loops, planned ends.

use driver::Sockets;
use metrics::{Class, Failure, Outcome, SeriesId};
use pacing::Nanos;
use plan::{AssignedTo, Assignment, CookieEndpoint, ITEMS_MAX, ROUNDS_MAX, Value};

use crate::program::{Gathered, RoundStart, UserAction};
use crate::scenario_runtime::ScenarioRuntime;

/// What became of an action that takes no time.
pub(super) enum AtOnce {
    /// The user goes on.
    Done,
    /// It goes on after this pause.
    Pause(Nanos),
    /// Its iteration is over.
    Ended,
    /// This step fails, in this way and for this reason.
    Failed(u32, Failure, String),
    /// It is no such action.
    TakesTime,
}

impl ScenarioRuntime {
    pub(super) fn do_at_once(&mut self, user: u32, action: UserAction, at: Nanos, sockets: &mut dyn Sockets) -> AtOnce {
        let done = |step: u32, done: Result<(), String>| match done {
            Ok(()) => AtOnce::Done,
            Err(why) => AtOnce::Failed(step, Failure::NotFilled, why),
        };
        match action {
            UserAction::Decide(condition, step) => done(step, self.decide(user, condition, at)),
            UserAction::Set(assignments, step) => done(step, self.set(user, &assignments, at)),
            UserAction::Record(measurements, step) => match self.record_all(user, &measurements, at) {
                Ok(()) => AtOnce::Done,
                Err((failure, why)) => AtOnce::Failed(step, failure, why),
            },
            UserAction::Check(number, condition) => self.check(user, number, condition, at, sockets),
            UserAction::Open(limits) => {
                if let Some(place) = self.users.programs.place(user) {
                    place.open_rounds(limits, at);
                }
                AtOnce::Done
            }
            UserAction::Gather(gathered, step) => done(step, self.gather_rounds(user, gathered, at)),
            UserAction::Round(variable, limit) => self.begin_round(user, variable, limit, at),
            UserAction::Stop => {
                self.users.all[user as usize].is_leaving = true;
                self.complete(user);
                AtOnce::Ended
            }
            UserAction::StopRun(reason) => {
                self.stop_run(&reason);
                self.complete(user);
                AtOnce::Ended
            }
            _ => AtOnce::TakesTime,
        }
    }

    /// Evaluates a condition and continues accordingly.
    fn decide(&mut self, user: u32, condition: u32, at: Nanos) -> Result<(), String> {
        let given = self.evaluate(user, condition, at).map_err(|error| error.to_string())?;
        let users = &mut self.users;
        users.programs.code.decide(&mut users.all[user as usize].counter, given.is_truthy());
        Ok(())
    }

    /// Sets variables, each after those before it.
    fn set(&mut self, user: u32, assignments: &[Assignment], at: Nanos) -> Result<(), String> {
        for assignment in assignments {
            let value = self.value_of(user, &assignment.value, at);
            let value = value.map_err(|why| format!("set {}: {why}", assignment.name))?;
            self.assign(user, assignment, value, at)?;
        }
        Ok(())
    }

    fn assign(&mut self, user: u32, assignment: &Assignment, value: Value, at: Nanos) -> Result<(), String> {
        match &assignment.to {
            AssignedTo::Variable(variable) => self.users.states.set(user, *variable, value),
            AssignedTo::NoCookies => self.users.states.clear_cookies(user),
            AssignedTo::Cookie { host, is_tls } => {
                let home = CookieEndpoint { host, path: "/", is_tls: *is_tls };
                self.users.states.set_cookie(user, (&assignment.name, &value.to_string()), home, at)?;
            }
        }
        Ok(())
    }

    /// A check is counted by itself, and is no request.
    fn check(&mut self, user: u32, number: u32, condition: u32, at: Nanos, sockets: &mut dyn Sockets) -> AtOnce {
        let holds = self.evaluate(user, condition, at).is_ok_and(|given| given.is_truthy());
        let series = SeriesId::check(self.work.first_check + number);
        let failure = Failure::CheckFailed;
        if at >= self.instants.measured_from {
            let class = if holds { Class::Succeeded } else { Class::from_outcome(Outcome::Failed(failure)) };
            self.unreported.record(series, class, 0);
            if !holds {
                self.unreported.fail(series, failure);
            }
        }
        if !holds {
            self.note_failure(user, failure, None);
            self.handle_failure(user, at, sockets);
        }
        if self.users.all[user as usize].is_inside { AtOnce::Done } else { AtOnce::Ended }
    }

    /// Evaluates what a loop goes by.
    fn gather_rounds(&mut self, user: u32, gathered: Gathered, at: Nanos) -> Result<(), String> {
        let (Gathered::Items(expression) | Gathered::Times(expression)) = gathered;
        let rounds = match gathered {
            Gathered::Items(_) => {
                self.items(user, expression, at).map_err(|error| error.to_string()).and_then(items_of)
            }
            Gathered::Times(_) => {
                self.evaluate(user, expression, at).map_err(|error| error.to_string()).and_then(times_of)
            }
        };
        let ((count, all), gathered) = match rounds {
            Ok(rounds) => (rounds, Ok(())),
            Err(why) => ((0, Vec::new()), Err(format!("{}: {why}", self.users.states.expression_text(expression)))),
        };
        if let Some(place) = self.users.programs.place(user) {
            place.set_rounds(count, all);
        }
        gathered
    }

    fn begin_round(&mut self, user: u32, variable: Option<u32>, limit: u32, at: Nanos) -> AtOnce {
        let Some(place) = self.users.programs.place(user) else { return AtOnce::TakesTime };
        match place.begin_timed_round(at) {
            RoundStart::Now(item) => {
                if let Some(variable) = variable {
                    self.users.states.set(user, variable, item.unwrap_or_default());
                }
                AtOnce::Done
            }
            RoundStart::Later(span) => {
                // The round is begun after it.
                self.users.all[user as usize].counter -= 1;
                AtOnce::Pause(span)
            }
            RoundStart::Never => {
                self.users.all[user as usize].counter = limit;
                AtOnce::Done
            }
        }
    }
}

/// The items of a list, and their number; or what is no list.
fn items_of(given: Result<Vec<Value>, Value>) -> Result<(u32, Vec<Value>), String> {
    let all = given.map_err(|given| format!("a list is needed, and it is {}", shown(&given)))?;
    match all.len() <= ITEMS_MAX {
        true => Ok((all.len() as u32, all)),
        false => Err(format!("it has {} items, and {ITEMS_MAX} is the most", all.len())),
    }
}

/// A number of rounds, without items.
fn times_of(given: Value) -> Result<(u32, Vec<Value>), String> {
    let number = given.to_number().filter(|number| number.fract() == 0.0);
    let times = number.filter(|number| (0.0..=f64::from(ROUNDS_MAX)).contains(number));
    let wrong = || format!("a whole number from 0 to {ROUNDS_MAX} is needed, and it is {}", shown(&given));
    times.map(|number| (number as u32, Vec::new())).ok_or_else(wrong)
}

/// A value in a message.
pub(super) fn shown(value: &Value) -> String {
    const CHARS_MAX: usize = 60;
    let mut json = Vec::new();
    value.write_json(&mut json);
    let text = String::from_utf8_lossy(&json).into_owned();
    match text.char_indices().nth(CHARS_MAX) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
