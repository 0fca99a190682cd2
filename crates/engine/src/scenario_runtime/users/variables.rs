//! The variables of users, and the requests that are made of them.
//!
//! `DynamicParts` says which parts of a step are made for each exchange, and which values are taken from its responses.
//! A step that is made lives as long as its exchange; then it is kept, and the next one of the same step is made in its
//! place (`PreparedStep::remake`): the ordinary request allocates nothing. Its bytes are lent to the driver as a
//! copy, since it may have to be sent again. Messages of gRPC, WebSocket and TCP, and the handshake of a
//! conversation, are made the same way.

mod ahead;
mod builtins;
mod drawn_once;
mod evaluator;
mod extraction;
mod rows;
pub(in crate::scenario_runtime) mod secrets;
mod values;

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use driver::{Sockets, Waker};
use metrics::{Counter, Failure, Outcome};
use pacing::Nanos;
use plan::{COOKIE_BYTES_MAX, CookieEndpoint, Jar, Memory, NotFilled, Request, Scope, Target, Value};
use wire::http1;

use crate::program::ForkPart;
use crate::scenario_runtime::connections::origins::Origin;
use crate::scenario_runtime::exchanges::Exchange;
use crate::scenario_runtime::exchanges::captured_response::CapturedResponse;
use crate::scenario_runtime::exchanges::redirects::Steps;
use crate::scenario_runtime::exchanges::step::PreparedStep;
use crate::scenario_runtime::users::programs::Use;
use crate::scenario_runtime::{Counters, ScenarioConfig, ScenarioRuntime};
use crate::slab::Key;
use builtins::{LastResponse, UsedBuiltins};
use drawn_once::OwnDraws;
use evaluator::ScriptEvaluator;
use rows::{Rows, Supply, UserRow};

/// Why a message of a conversation is not sent.
const CONVERSATION_LOST: &str = "the connection of this conversation was lost in a step before, so nothing was sent; let the conversation end there ('on_failure: next_iteration'), or open another one";

/// The states of the users of a shard.
pub(in crate::scenario_runtime) struct States {
    memory: Arc<Memory>,
    all: Vec<State>,
    counters: Counters,
    evaluator: ScriptEvaluator,
    /// Values on their way from a response to variables.
    found: Vec<(u32, Value)>,
    pub(in crate::scenario_runtime) rows: Rows,
    /// What expressions use of what the program itself knows.
    used: UsedBuiltins,
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
    /// Iterations that it has begun.
    iterations: u64,
    /// The last step that ended, where that is used.
    response: Option<Box<LastResponse>>,
}

impl States {
    /// `now`: on the clock of the run.
    pub(in crate::scenario_runtime) fn new(work: &ScenarioConfig, waker: &Waker, now: Nanos) -> Self {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (memory, counters) = (work.memory.clone(), work.counters.clone());
        let evaluator = ScriptEvaluator::new(work.shared_data.interpreter(&memory.expressions));
        let rows = Rows::new(work, &evaluator, waker);
        let epoch = epoch.saturating_sub(now.as_duration());
        let used = UsedBuiltins::new(work, &evaluator, epoch);
        Self { memory, all: Vec::new(), counters, evaluator, found: Vec::new(), rows, used, epoch }
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
    pub(in crate::scenario_runtime) fn begin(&mut self, user: u32) {
        if !self.memory.is_needed() {
            return;
        }
        let memory = self.memory.clone();
        let state = self.state(user);
        rows::forget(&mut state.rows);
        state.is_starting = false;
        state.iterations += 1;
        if memory.carries_state {
            return;
        }
        let is_first = state.iterations == 1;
        let kept = memory.carried.iter().filter(|_| !is_first);
        let carried: Vec<(u32, Value)> =
            kept.map(|one| (*one, std::mem::take(&mut state.variables[*one as usize]))).collect();
        let keeps_cookies = memory.carries_cookies && !is_first;
        match state.begins_with.take() {
            Some(begins_with) => {
                state.variables.clone_from_slice(&begins_with.0);
                if !keeps_cookies {
                    state.jar.clone_from(&begins_with.1);
                }
                state.begins_with = Some(begins_with);
            }
            None => {
                state.reset(&memory);
                if !keeps_cookies {
                    state.jar.clear();
                }
            }
        }
        carried.into_iter().for_each(|(one, value)| state.variables[one as usize] = value);
    }

    /// Nothing of what a user knew is left: who comes in its place is another.
    pub(in crate::scenario_runtime) fn forget_all(&mut self, user: u32) {
        if let Some(state) = self.all.get_mut(user as usize) {
            *state = State { lives: state.lives + 1, ..State::default() };
        }
    }

    /// `on_start` of a user begins, or begins again: rows that are drawn in it stay.
    pub(in crate::scenario_runtime) fn begins_start(&mut self, user: u32) {
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
    pub(in crate::scenario_runtime) fn ends_start(&mut self, user: u32) {
        if !self.memory.is_needed() {
            return;
        }
        let carries_state = self.memory.carries_state;
        let state = self.state(user);
        state.is_starting = false;
        state.begins_with = (!carries_state).then(|| Box::new((state.variables.clone(), state.jar.clone())));
    }

    /// Concurrent exchanges have all ended: keeps what was extracted from them, in their order.
    pub(in crate::scenario_runtime) fn keep_all(&mut self, user: u32, taken: Vec<(ForkPart, u32, Value)>) {
        for (_, variable, value) in taken {
            self.state(user).variables[variable as usize] = value;
        }
    }

    /// Sets a variable of a user.
    pub(in crate::scenario_runtime) fn set(&mut self, user: u32, variable: u32, value: Value) {
        self.state(user).variables[variable as usize] = value;
    }

    /// Removes the cookies of a user.
    pub(in crate::scenario_runtime) fn clear_cookies(&mut self, user: u32) {
        self.state(user).jar.clear();
    }

    /// Sets a cookie of a user for all paths of a host.
    ///
    /// # Errors
    /// The value cannot be one of a cookie.
    pub(in crate::scenario_runtime) fn set_cookie(
        &mut self,
        user: u32,
        (name, value): (&str, &str),
        home: CookieEndpoint<'_>,
        now: Nanos,
    ) -> Result<(), String> {
        if value.contains(|each: char| each == ';' || each.is_control()) {
            return Err(format!("cookie {name}: its value has a ';' or a line end; encode it, like urlencode(...)"));
        }
        if name.len() + value.len() > COOKIE_BYTES_MAX {
            return Err(format!("cookie {name}: it is longer than {COOKIE_BYTES_MAX} bytes; shorten its value"));
        }
        let now_s = self.now(now).as_secs();
        self.state(user).jar.store(format!("{name}={value}; Path=/").as_bytes(), home, now_s);
        Ok(())
    }

    /// The text of an expression.
    pub(in crate::scenario_runtime) fn expression_text(&self, expression: u32) -> &str {
        &self.memory.expressions[expression as usize].text
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
    pub(in crate::scenario_runtime) fn step_for(
        &mut self,
        user: u32,
        step: u32,
        part: ForkPart,
        sockets: &dyn Sockets,
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
        self.give_item(user, part);
        let drawer = self.drawer(user);
        let random = self.users.programs.random_for(user, step, Use::Request(part), drawer);
        let fixed = &self.in_flight.steps.fixed[step as usize];
        let is_open = fixed.messaging.is_some() && self.has_own(user, fixed.origin);
        let known = self.known(user);
        let states = &mut self.users.states;
        let mut values = states.values(user, random, now, known);
        let made = make_at(step, None, is_open, &mut self.in_flight.steps, &self.pool.origins, &mut values);
        let (from, made) = match made {
            // Its URL is of another of its origins, and is not drawn again there.
            Ok(StepMade::LeadsTo(from, url)) => {
                let steps = &mut self.in_flight.steps;
                (from, make_at(from, Some(&url), is_open, steps, &self.pool.origins, &mut values))
            }
            made => (step, made),
        };
        let mut made = match made {
            Ok(StepMade::Made(made)) => made,
            Ok(StepMade::Plain | StepMade::LeadsTo(..)) => return Ok(from),
            Err(error) => {
                self.in_flight.why = error.to_string();
                return Err(Failure::NotFilled);
            }
        };
        let original = &self.in_flight.steps.fixed[from as usize];
        let target = &self.pool.origins[usize::from(original.origin)].target;
        let states = &mut self.users.states;
        if states.memory.cookies
            && let Some(request) = &mut made.made
        {
            let at = states.now(now).as_secs();
            add_cookies(request, &states.state(user).jar, target, at);
        }
        made.part = part;
        let number = self.in_flight.steps.next_number();
        let original = &self.in_flight.steps.fixed[from as usize];
        made.render(number, original, target);
        Ok(self.in_flight.steps.add(made))
    }

    /// Publishes the values of the first user, where they are wanted.
    pub(in crate::scenario_runtime) fn keep_values(&self) {
        let is_first = self.work.scenario == 0 && self.work.segment.nth(0) == 0;
        let variables = self.users.states.all.first().map(|state| &state.variables[..]);
        if self.work.capture_options.values && is_first {
            self.work.shared_data.keep_values(variables.unwrap_or(&self.users.states.memory.variables));
        }
    }

    /// Adds the cookies of a user to the request of a redirect too.
    pub(in crate::scenario_runtime) fn add_cookies_of(
        &mut self,
        user: u32,
        request: &mut Request,
        target: &Target,
        now: Nanos,
    ) {
        let states = &mut self.users.states;
        if states.memory.cookies {
            let at = states.now(now).as_secs();
            add_cookies(request, &states.state(user).jar, target, at);
        }
    }

    /// An exchange whose request cannot be made ends before it began.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn fail_unmade(
        &mut self,
        exchange: Exchange,
        failure: Failure,
        sockets: &mut dyn Sockets,
    ) {
        self.unreported.counts[Counter::Attempts] += u64::from(exchange.is_measured);
        let key = self.in_flight.exchanges.insert(exchange);
        let now = sockets.now();
        self.end_exchange(key, None, Outcome::Failed(failure), now);
    }

    /// A message whose conversation is over by now is not sent.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn fail_lost_conversation(&mut self, key: Key, sockets: &mut dyn Sockets) {
        let Some(exchange) = self.in_flight.exchanges.find(key) else { return };
        let is_counted = exchange.is_measured && !exchange.is_moved;
        self.unreported.counts[Counter::Attempts] += u64::from(is_counted);
        CONVERSATION_LOST.clone_into(&mut self.in_flight.why);
        let now = sockets.now();
        self.end_exchange(key, None, Outcome::Failed(Failure::NotFilled), now);
    }
}

/// A step that was to be made for one exchange.
enum StepMade {
    /// It is there.
    Made(Box<PreparedStep>),
    /// It is the one of the plan.
    Plain,
    /// Its URL leads to another of its origins: there it is this step.
    LeadsTo(u32, String),
}

/// Makes what an exchange sends from a step of the plan, `from`. `url`: what was rendered already, since it leads to the
/// origin of this step.
fn make_at(
    from: u32,
    url: Option<&str>,
    is_open: bool,
    steps: &mut Steps,
    origins: &[Origin],
    values: &mut impl Scope,
) -> Result<StepMade, NotFilled> {
    let blank = steps.take_blank(from);
    let original = &steps.fixed[from as usize];
    let target = &origins[usize::from(original.origin)].target;
    let Some(mut made) = blank.or_else(|| original.blank(from, target)) else { return Ok(StepMade::Plain) };
    match original.remake(&mut made, is_open, url, values) {
        Ok(()) => Ok(StepMade::Made(made)),
        Err(NotFilled::Elsewhere { given }) => match original.at_origin_of(&given) {
            Some(at_origin) => {
                steps.keep_blank(from, made);
                Ok(StepMade::LeadsTo(at_origin, given))
            }
            None => Err(NotFilled::Elsewhere { given }),
        },
        Err(error) => Err(error),
    }
}

/// Keeps the cookies that a response sets.
fn store_cookies(jar: &mut Jar, kept: &CapturedResponse, target: &Target, request: Option<&Request>, now: u64) {
    let set = http1::fields(&kept.head).filter(|(name, _)| name.eq_ignore_ascii_case(b"set-cookie"));
    for (_, value) in set {
        let from = match request {
            Some(request) => place_of(target, request),
            None => CookieEndpoint { host: &target.host, path: "/", is_tls: target.tls.is_some() },
        };
        jar.store(value, from, now);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario_runtime::users::programs::PLACE_BYTES;
    use crate::user::User;

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
