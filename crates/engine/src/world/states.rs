//! The variables of users, and the requests that are made of them.
//!
//! `DynamicParts` says which parts of a step are made for each exchange, and which values are taken from its responses.
//! A step that is made lives as long as its exchange; then it is kept, and the next one of the same step is made in its
//! place (`PreparedStep::remake`): the ordinary request allocates nothing. Its bytes are lent to the driver as a
//! copy, since it may have to be sent again. Messages of gRPC, WebSocket and TCP, and the handshake of a
//! conversation, are made the same way.

mod ahead;
mod evaluator;
mod own;
mod rows;
pub(super) mod secrets;
mod values;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use driver::{Sockets, Waker};
use metrics::{Counter, Failure, Outcome};
use pacing::Nanos;
use plan::{
    Answered, CHECKED_BODY_BYTES_MAX, CookieEndpoint, DynamicParts, Jar, Memory, Request, Scope, Target, Value,
};
use wire::http1;

use super::captured_response::KeptBody;
use super::exchanges::{Attempt, Exchange};
use super::programs::Use;
use super::step::{PreparedCall, PreparedStep};
use super::{Counters, ScenarioConfig, ScenarioRuntime};
use crate::program::ForkPart;
use crate::slab::Key;
use evaluator::ScriptEvaluator;
use own::OwnDraws;
use rows::{Rows, Supply, UserRow};

/// Why a message of a conversation is not sent.
const CONVERSATION_LOST: &str = "the connection of this conversation was lost in a step before, so nothing was sent; let the conversation end there ('on_failure: next_iteration'), or open another one";

/// The states of the users of a shard.
pub(super) struct States {
    memory: Arc<Memory>,
    all: Vec<State>,
    counters: Counters,
    evaluator: ScriptEvaluator,
    /// Values on their way from a response to variables.
    found: Vec<(u32, Value)>,
    pub(super) rows: Rows,
    /// The time of day when the clock of the run was at zero.
    epoch: Duration,
}

/// State of one user.
#[derive(Default)]
struct State {
    variables: Box<[Value]>,
    jar: Jar,
    /// Rows that it has drawn, feed by feed.
    rows: Box<[Option<UserRow>]>,
    /// Draws of its own variables, where it has some.
    own: Option<Box<OwnDraws>>,
    /// The number of earlier users of this slot, which have left.
    lives: u32,
    /// It does what comes before its first iteration.
    is_starting: bool,
    /// Variables and cookies at the end of `on_start`.
    begins_with: Option<Box<(Box<[Value]>, Jar)>>,
}

impl States {
    /// `now`: on the clock of the run.
    pub(super) fn new(work: &ScenarioConfig, waker: &Waker, now: Nanos) -> Self {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (memory, counters) = (work.memory.clone(), work.counters.clone());
        let evaluator = ScriptEvaluator::new(work.shared_data.interpreter(&memory.expressions));
        let rows = Rows::new(work, &evaluator, waker);
        let epoch = epoch.saturating_sub(now.as_duration());
        Self { memory, all: Vec::new(), counters, evaluator, found: Vec::new(), rows, epoch }
    }

    fn state(&mut self, user: u32) -> &mut State {
        let user = user as usize;
        if user >= self.all.len() {
            self.all.resize_with(user + 1, State::default);
        }
        let state = &mut self.all[user];
        if state.variables.is_empty() {
            state.variables = self.memory.variables.clone().into();
        }
        if state.rows.len() < self.rows.count() {
            state.rows = std::iter::repeat_with(|| None).take(self.rows.count()).collect();
        }
        state
    }

    /// Whether a user has cookies, which may be sent with its requests.
    fn has_cookies(&self, user: u32) -> bool {
        self.memory.cookies && self.all.get(user as usize).is_some_and(|state| !state.jar.is_empty())
    }

    /// An iteration begins.
    pub(super) fn begin(&mut self, user: u32) {
        if !self.memory.is_needed() {
            return;
        }
        let memory = self.memory.clone();
        let state = self.state(user);
        rows::forget(&mut state.rows);
        state.is_starting = false;
        if memory.carries_state {
            return;
        }
        match &state.begins_with {
            Some(begins_with) => {
                state.variables.clone_from_slice(&begins_with.0);
                state.jar.clone_from(&begins_with.1);
            }
            None => {
                state.reset(&memory);
                state.jar.clear();
            }
        }
    }

    /// Nothing of what a user knew is left: who comes in its place is another.
    pub(super) fn forget_all(&mut self, user: u32) {
        if let Some(state) = self.all.get_mut(user as usize) {
            *state = State { lives: state.lives + 1, ..State::default() };
        }
    }

    /// `on_start` of a user begins, or begins again: rows that are drawn in it stay.
    pub(super) fn begins_start(&mut self, user: u32) {
        if !self.memory.is_needed() {
            return;
        }
        let memory = self.memory.clone();
        let state = self.state(user);
        (state.is_starting, state.begins_with) = (true, None);
        state.reset(&memory);
        state.jar.clear();
    }

    /// `on_start` is done: each iteration begins with what the user remembers now.
    pub(super) fn ends_start(&mut self, user: u32) {
        if !self.memory.is_needed() {
            return;
        }
        let carries_state = self.memory.carries_state;
        let state = self.state(user);
        state.is_starting = false;
        state.begins_with = (!carries_state).then(|| Box::new((state.variables.clone(), state.jar.clone())));
    }

    /// Concurrent exchanges have all ended: keeps what was extracted from them, in their order.
    pub(super) fn keep_all(&mut self, user: u32, taken: Vec<(ForkPart, u32, Value)>) {
        for (_, variable, value) in taken {
            self.state(user).variables[variable as usize] = value;
        }
    }

    fn now(&self, now: Nanos) -> Duration {
        self.epoch + now.as_duration()
    }
}

/// The endpoint of a request, for its cookies.
fn place_of<'a>(target: &'a Target, request: &'a Request) -> CookieEndpoint<'a> {
    let path = request.path.split(['?', '#']).next().unwrap_or_default();
    CookieEndpoint { host: &target.host, path, is_tls: target.tls.is_some() }
}

impl ScenarioRuntime {
    /// The step of an exchange that begins: that of the plan, or one that is made for it alone. `None`: what it is made
    /// of is on its way. `part`: its number among several at a time.
    pub(super) fn step_for<S: Sockets>(
        &mut self,
        user: u32,
        step: u32,
        part: ForkPart,
        sockets: &S,
    ) -> Result<Option<u32>, Failure> {
        let prepared = &self.in_flight.steps[step as usize];
        let (origin, is_messaging) = (prepared.origin, prepared.messaging.is_some());
        if is_messaging && self.conversation_is_lost(user, origin) {
            CONVERSATION_LOST.clone_into(&mut self.in_flight.why);
            return Err(Failure::NotFilled);
        }
        let prepared = &self.in_flight.steps[step as usize];
        // Extractions of one of several at a time are kept apart from those of the others.
        let is_part = part > 0 && prepared.dynamic_parts.is_some() && prepared.made.is_none();
        if !is_part && !prepared.is_made(self.users.states.has_cookies(user)) {
            return Ok(Some(step));
        }
        match self.supply_step(user, step) {
            Supply::Here => self.make_step(user, step, part, sockets.now()).map(Some),
            Supply::OnItsWay => Ok(None),
            Supply::Broken(why) => {
                self.in_flight.why = why;
                Err(Failure::NotFilled)
            }
        }
    }

    fn make_step(&mut self, user: u32, step: u32, part: ForkPart, now: Nanos) -> Result<u32, Failure> {
        if let Some(why) = self.users.states.lacks_own(user) {
            self.in_flight.why = why;
            return Err(Failure::NotFilled);
        }
        let drawer = self.drawer(user);
        let random = self.users.programs.random_for(user, step, Use::Request(part), drawer);
        let fixed = &self.in_flight.steps.fixed[step as usize];
        let is_open = fixed.messaging.is_some() && self.has_own(user, fixed.origin);
        let states = &mut self.users.states;
        let (blank, number) = (self.in_flight.steps.take_blank(step), self.in_flight.steps.next_number());
        let original = &self.in_flight.steps.fixed[step as usize];
        let target = &self.pool.origins[usize::from(original.origin)].target;
        let Some(mut made) = blank.or_else(|| original.blank(step, target)) else { return Ok(step) };
        if let Err(error) = original.remake(&mut made, is_open, &mut states.values(user, random, now)) {
            self.in_flight.why = error.to_string();
            return Err(Failure::NotFilled);
        }
        if states.memory.cookies
            && let Some(request) = &mut made.made
        {
            let at = states.now(now).as_secs();
            add_cookies(request, &states.state(user).jar, target, at);
        }
        made.part = part;
        made.render(number, original, target);
        Ok(self.in_flight.steps.add(made))
    }

    /// Publishes the values of the first user, where they are wanted.
    pub(super) fn keep_values(&self) {
        let is_first = self.work.scenario == 0 && self.work.segment.nth(0) == 0;
        let variables = self.users.states.all.first().map(|state| &state.variables[..]);
        if self.work.capture_options.values && is_first {
            self.work.shared_data.keep_values(variables.unwrap_or(&self.users.states.memory.variables));
        }
    }

    /// Adds the cookies of a user to the request of a redirect too.
    pub(super) fn add_cookies_of(&mut self, user: u32, request: &mut Request, target: &Target, now: Nanos) {
        let states = &mut self.users.states;
        if states.memory.cookies {
            let at = states.now(now).as_secs();
            add_cookies(request, &states.state(user).jar, target, at);
        }
    }

    /// An exchange whose request cannot be made ends before it began.
    #[cold]
    #[inline(never)]
    pub(super) fn fail_unmade<S: Sockets>(&mut self, exchange: Exchange, failure: Failure, sockets: &mut S) {
        self.seen.counts[Counter::Attempts] += u64::from(exchange.is_measured);
        let key = self.in_flight.exchanges.insert(exchange);
        let now = sockets.now();
        self.end_exchange(key, None, Outcome::Failed(failure), now, sockets);
    }

    /// A message whose conversation is over by now is not sent.
    #[cold]
    #[inline(never)]
    pub(super) fn fail_lost_conversation<S: Sockets>(&mut self, key: Key, sockets: &mut S) {
        let Some(exchange) = self.in_flight.exchanges.find(key) else { return };
        let is_counted = exchange.is_measured && !exchange.is_moved;
        self.seen.counts[Counter::Attempts] += u64::from(is_counted);
        CONVERSATION_LOST.clone_into(&mut self.in_flight.why);
        let now = sockets.now();
        self.end_exchange(key, None, Outcome::Failed(Failure::NotFilled), now, sockets);
    }

    /// What the user remembers of a response. `is_last`: nothing follows it. Returns the outcome of the exchange.
    #[inline]
    pub(super) fn remember(
        &mut self,
        exchange: &Exchange,
        attempt: Option<&mut Attempt>,
        outcome: Outcome,
        is_last: bool,
        done: Nanos,
    ) -> Outcome {
        if !self.users.states.memory.is_needed() {
            return outcome;
        }
        self.remember_response(exchange, attempt, outcome, is_last, done)
    }

    fn remember_response(
        &mut self,
        exchange: &Exchange,
        attempt: Option<&mut Attempt>,
        outcome: Outcome,
        is_last: bool,
        done: Nanos,
    ) -> Outcome {
        let Some(attempt) = attempt else { return outcome };
        let status = attempt.head.map(|head| head.status).or(attempt.status);
        // Messages on message connections have no status.
        let is_messaging = self.in_flight.steps[exchange.step as usize].messaging.is_some();
        let Some(status) = status.or(is_messaging.then_some(0)) else { return outcome };
        let drawer = self.drawer(exchange.user);
        let states = &mut self.users.states;
        let (now, has_cookies) = (states.now(done).as_secs(), states.memory.cookies);
        let state = states.state(exchange.user);
        let step = &self.in_flight.steps[exchange.step as usize];
        let target = &self.pool.origins[usize::from(step.origin)].target;
        if has_cookies && let Some(kept) = attempt.kept.as_deref() {
            let path = step.made.as_deref().or(step.dynamic_parts.as_ref().map(|(_, base)| &**base));
            hear_cookies(&mut state.jar, kept, target, path, now);
        }
        let Some((dynamic_parts, _)) = step.dynamic_parts.as_ref().filter(|_| is_last && outcome == Outcome::Succeeded)
        else {
            return outcome;
        };
        if dynamic_parts.takes.is_empty() {
            return outcome;
        }
        let (dynamic_parts, part, is_shown) = (dynamic_parts.clone(), step.part, step.is_shown);
        // Its own number, wherever the step made from it lies: draws are the same on any number of shards.
        let number = step.series.place() - self.work.first_series.place();
        if attempt.is_recorded() {
            // What it sent may contain values that are extracted anew now.
            let secrets = self.secrets_of(exchange.user);
            attempt.kept.get_or_insert_default().record.secrets = secrets;
        }
        let random = self.users.programs.random_for(exchange.user, number, Use::Response(part), drawer);
        let states = &mut self.users.states;
        let hidden = if !is_shown || self.work.capture_options.secrets {
            Vec::new()
        } else {
            states.memory.secret_variables.clone()
        };
        let step = &self.in_flight.steps[exchange.step as usize];
        let mut found = std::mem::take(&mut states.found);
        let mut values = states.values(exchange.user, random, done);
        let result =
            taken(&dynamic_parts, status, attempt.kept.as_deref(), step.call.as_ref(), &mut values, &mut found);
        let variables = &mut states.state(exchange.user).variables;
        let mut fork = self.users.programs.fork(exchange.user).filter(|_| part > 0);
        for (variable, value) in found.drain(..) {
            if is_shown {
                let shown = (!hidden.contains(&variable)).then_some(&value);
                attempt.record_taken(&reported_of(&dynamic_parts, variable, shown));
            }
            match &mut fork {
                // Whichever of them ends last, their order is that of the steps.
                Some(fork) => fork.taken.push((part, variable, value)),
                None => variables[variable as usize] = value,
            }
        }
        self.users.states.found = found;
        match result {
            Ok(()) => outcome,
            Err((failure, reason)) => {
                attempt.kept.get_or_insert_default().reason = reason;
                Outcome::Failed(failure)
            }
        }
    }
}

/// An extracted value as shown; `None` for a secret.
#[cold]
fn reported_of(dynamic_parts: &DynamicParts, variable: u32, value: Option<&Value>) -> Vec<u8> {
    let taking = dynamic_parts.takes.iter().find(|taking| taking.variable == variable);
    let mut reported = taking.map_or_else(Vec::new, |taking| format!("{} ", taking.name).into_bytes());
    match value {
        Some(value) => value.write_json(&mut reported),
        None => reported.extend_from_slice(b"***"),
    }
    reported
}

/// Keeps the cookies that a response sets.
fn hear_cookies(jar: &mut Jar, kept: &KeptBody, target: &Target, request: Option<&Request>, now: u64) {
    let set = http1::fields(&kept.head).filter(|(name, _)| name.eq_ignore_ascii_case(b"set-cookie"));
    for (_, value) in set {
        let from = match request {
            Some(request) => place_of(target, request),
            None => CookieEndpoint { host: &target.host, path: "/", is_tls: target.tls.is_some() },
        };
        jar.hear(value, from, now);
    }
}

fn add_cookies(request: &mut Request, jar: &Jar, target: &Target, now: u64) {
    if jar.is_empty() {
        return;
    }
    let mut value = Vec::new();
    jar.write(place_of(target, request), now, &mut value);
    if value.is_empty() {
        return;
    }
    match request.headers.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case("cookie")) {
        Some((_, said)) if said.is_empty() => *said = value,
        Some((_, said)) => {
            said.extend_from_slice(b"; ");
            said.extend_from_slice(&value);
        }
        None => request.headers.push(("Cookie".to_owned(), value)),
    }
}

/// Whether a field describes how a body is coded, beyond its chunks.
fn is_coding(name: &[u8], value: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"content-encoding")
        || name.eq_ignore_ascii_case(b"transfer-encoding") && !value.eq_ignore_ascii_case(b"chunked")
}

/// The content of a response for extractions: messages of a call are JSON.
fn body_of<'a>(kept: &'a KeptBody, call: Option<&PreparedCall>) -> Result<Cow<'a, [u8]>, (Failure, String)> {
    if let Some((call, types)) = call.and_then(|call| Some((call, call.types.as_ref()?))) {
        let messages = kept.messages(types, call.responses_stream);
        let reason = || (Failure::NotTaken, "a message is not what the method gives".to_owned());
        return messages.map(Cow::Owned).ok_or_else(reason);
    }
    let undecoded = |_| (Failure::NotTaken, format!("the body cannot be decoded: {}", kept.codings().reported()));
    kept.decoded(CHECKED_BODY_BYTES_MAX).map_err(undecoded)
}

/// Extracts values for variables from a response, one after the other; returns the first that is missing.
fn taken(
    dynamic_parts: &DynamicParts,
    status: u16,
    kept: Option<&KeptBody>,
    call: Option<&PreparedCall>,
    scope: &mut impl Scope,
    found: &mut Vec<(u32, Value)>,
) -> Result<(), (Failure, String)> {
    let nothing = KeptBody::default();
    let kept = kept.unwrap_or(&nothing);
    let wants_body = dynamic_parts.takes.iter().any(|taking| taking.take.wants_body());
    if wants_body && (kept.is_too_large || kept.is_crowded) {
        return Err((Failure::BodyLimit, format!("more than {CHECKED_BODY_BYTES_MAX} bytes")));
    }
    let fields: Vec<(&[u8], &[u8])> = http1::fields(&kept.head).collect();
    let body = match wants_body {
        true if call.is_none() && !fields.iter().any(|(name, value)| is_coding(name, value)) => {
            (&kept.bytes[..]).into()
        }
        true => body_of(kept, call)?,
        false => (&[][..]).into(),
    };
    let response = Answered::new(status, &fields, &body);
    for taking in &dynamic_parts.takes {
        let wrong = |why: String| (Failure::NotTaken, format!("take {}: {why} ({})", taking.name, taking.take.from()));
        let value = match (taking.take.take(&response, |below| scope.draw(below)), &taking.default) {
            (Ok(value), _) => value,
            (Err(_), Some(default)) => default.value(scope).map_err(|why| wrong(why.to_string()))?,
            (Err(why), None) => return Err(wrong(why.to_string())),
        };
        found.push((taking.variable, value));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user::User;
    use crate::world::programs::PLACE_BYTES;

    /// Memory of a user that pauses and remembers two values of some bytes, beyond its connection.
    #[test]
    fn a_user_that_remembers_is_small() {
        const TEXTS: usize = 2 * 64;
        let variables = 2 * size_of::<Value>();
        let piece = 16;
        let rows = size_of::<Option<UserRow>>() + piece;
        let own = size_of::<User>() + size_of::<State>() + PLACE_BYTES + variables + rows + TEXTS + 4 * piece;
        assert!(
            own <= 600,
            "{own} bytes: user {}, state {}, place {PLACE_BYTES}",
            size_of::<User>(),
            size_of::<State>()
        );
    }
}
