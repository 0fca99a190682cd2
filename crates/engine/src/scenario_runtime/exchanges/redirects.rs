//! Redirects: a response that redirects starts another exchange, whose intended instant is the end of the one before.
//!
//! Its request is written from the step's `plan::Form`, which knows which fields belong to which host. It is known
//! only when the response has arrived, so its step is made then, and lives as long as its exchange. The parts of a
//! response that a check, a redirect or `--debug` needs are kept with the attempt (`captured_response.rs`,
//! `transcribing.rs`), and released with it.

use std::ops::Index;
use std::sync::Arc;

use driver::Sockets;
use metrics::{Class, Counter, Failure, Outcome};
use pacing::Nanos;
use plan::{DynamicParts, Request, Target};
use wire::http1;

use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::connections::lookups::WaitingExchange;
use crate::scenario_runtime::connections::origins::is_same_place;
use crate::scenario_runtime::exchanges::redirect_state::{RedirectState, WAY_LINE_CHARS_MAX, WAY_MAX};
use crate::scenario_runtime::exchanges::step::PreparedStep;
use crate::scenario_runtime::exchanges::{Attempt, Exchange};

/// Most dynamic steps that are kept for reuse, for each step of the plan.
const BLANKS_MAX: usize = 256;
/// Largest request of a step kept for reuse.
const BLANK_BYTES_MAX: usize = 16 * 1024;

/// Statuses that redirect (RFC 9110, 15.4).
fn sends_on(status: u16) -> bool {
    // As curl: any status with a location.
    (300..400).contains(&status)
}

/// The steps of the plan, and those that live with an exchange: of redirects, and of dynamic requests.
pub(crate) struct Steps {
    pub(in crate::scenario_runtime) fixed: Arc<[PreparedStep]>,
    hops: Vec<Option<Box<PreparedStep>>>,
    free: Vec<u32>,
    /// Dynamic steps of exchanges that are over, kept for reuse, by the steps of the plan that they are made of.
    #[expect(clippy::vec_box, reason = "they lie in boxes wherever they are")]
    pooled: Vec<Vec<Box<PreparedStep>>>,
    /// Hops made so far.
    made: u32,
}

impl Steps {
    pub(in crate::scenario_runtime) fn new(fixed: Arc<[PreparedStep]>) -> Self {
        Self { fixed, hops: Vec::new(), free: Vec::new(), pooled: Vec::new(), made: 0 }
    }

    /// There is one step, and it follows no responses.
    pub(in crate::scenario_runtime) fn is_simple(&self) -> bool {
        let [only] = &*self.fixed else { return false };
        let judges_time = only.checks.has_bounds || only.deadline != Nanos::NEVER;
        only.redirect_state.is_none() && !only.is_shown && only.dynamic_parts.is_none() && !judges_time
    }

    /// Whether it lives as long as its exchange.
    #[inline]
    pub(in crate::scenario_runtime) fn is_of_exchange(&self, step: u32) -> bool {
        step as usize >= self.fixed.len()
    }

    /// Whether it is a hop.
    pub(in crate::scenario_runtime) fn is_hop(&self, step: u32) -> bool {
        let redirect_state = || self[step as usize].redirect_state.as_deref();
        self.is_of_exchange(step) && redirect_state().is_some_and(|redirect_state| redirect_state.hops > 0)
    }

    /// Number of the next hop among all steps.
    pub(in crate::scenario_runtime) fn next_number(&mut self) -> u32 {
        let number = (self.fixed.len() as u32).wrapping_add(self.made) | 1 << 31;
        self.made = self.made.wrapping_add(1);
        number
    }

    /// A step for reuse.
    pub(in crate::scenario_runtime) fn take_blank(&mut self, step: u32) -> Option<Box<PreparedStep>> {
        self.pooled.get_mut(step as usize)?.pop()
    }

    pub(in crate::scenario_runtime) fn keep_blank(&mut self, of: u32, step: Box<PreparedStep>) {
        if self.pooled.is_empty() {
            self.pooled.resize_with(self.fixed.len(), Vec::new);
        }
        let pooled = &mut self.pooled[of as usize];
        if pooled.len() < BLANKS_MAX && step.request.len() <= BLANK_BYTES_MAX {
            pooled.push(step);
        }
    }

    pub(in crate::scenario_runtime) fn add(&mut self, step: Box<PreparedStep>) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.hops.push(None);
            (self.hops.len() - 1) as u32
        });
        self.hops[index as usize] = Some(step);
        self.fixed.len() as u32 + index
    }

    pub(in crate::scenario_runtime) fn remove(&mut self, step: u32) {
        let index = step - self.fixed.len() as u32;
        let Some(step) = self.hops[index as usize].take() else { return };
        self.free.push(index);
        if let Some(of) = step.made_from {
            self.keep_blank(of, step);
        }
    }

    /// The step goes to this origin.
    pub(in crate::scenario_runtime) fn lead(&mut self, step: u32, origin: u16) {
        let index = step as usize - self.fixed.len();
        if let Some(step) = &mut self.hops[index] {
            step.origin = origin;
        }
    }

    /// Live steps of hops.
    #[cfg(test)]
    pub(in crate::scenario_runtime) fn hops(&self) -> usize {
        self.hops.len() - self.free.len()
    }
}

impl Index<usize> for Steps {
    type Output = PreparedStep;

    #[inline]
    fn index(&self, index: usize) -> &PreparedStep {
        match self.fixed.get(index) {
            Some(step) => step,
            None => self.hop(index),
        }
    }
}

impl Steps {
    #[cold]
    fn hop(&self, index: usize) -> &PreparedStep {
        self.hops[index - self.fixed.len()].as_deref().expect("a step lives as long as its exchange")
    }
}

/// What follows a response.
pub(in crate::scenario_runtime) enum Next {
    /// Nothing: it is the last.
    Nothing,
    /// This step, possibly at a target that is not known yet.
    Hop { step: u32, elsewhere: Option<Box<Target>> },
    /// It should be followed and cannot be.
    Stuck,
}

/// Copies dynamic values of the first request to those that follow, where they have them.
fn carry_on(request: &mut Request, dynamic_parts: &DynamicParts, base: &Request, made: &Request) {
    for (place, _) in &dynamic_parts.headers {
        let Some((name, _)) = base.headers.get(*place) else { continue };
        let value = made.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        let said = request.headers.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name));
        if let (Some((_, said)), Some((_, value))) = (said, value) {
            said.clone_from(value);
        }
    }
    // All of them are of one trace, wherever they go.
    let trace = dynamic_parts.trace.and_then(|place| base.headers.get(place));
    let trace = trace.and_then(|(name, _)| made.headers.iter().find(|(known, _)| known == name));
    request.headers.extend(trace.cloned());
    if dynamic_parts.body.is_some() && !request.body.is_empty() {
        request.body.clone_from(&made.body);
        let length = request.headers.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        if let Some((_, value)) = length {
            *value = request.body.len().to_string().into_bytes();
        }
    }
}

impl ScenarioRuntime {
    /// Starts a hop at an origin that may still have to be found.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn hop_to(
        &mut self,
        user: u32,
        step: u32,
        elsewhere: Option<Box<Target>>,
        intended: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        let Some(target) = elsewhere else {
            return self.begin_hop(user, step, intended, sockets);
        };
        if let Some(origin) = self.known_origin(&target) {
            self.in_flight.steps.lead(step, origin);
            return self.begin_hop(user, step, intended, sockets);
        }
        let waiting = WaitingExchange { user, step, intended };
        if let Some((_, failure)) = self.pool.unknown.iter().find(|(known, _)| is_same_place(known, &target)) {
            let failure = *failure;
            return self.fail_hop(user, step, intended, failure, sockets);
        }
        let timeout = self.in_flight.steps[step as usize].connect_timeout;
        self.pool.lookups.ask(target, waiting, timeout);
    }

    /// Starts a hop at an origin that is known.
    pub(in crate::scenario_runtime) fn begin_hop(
        &mut self,
        user: u32,
        step: u32,
        intended: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        self.count_redirect(intended);
        self.begin_exchange(user, step, intended, intended, sockets);
    }

    /// A redirect is counted with the start of its hop, so both are in one snapshot. The hop may be measured though what
    /// led to it was part of a warm-up.
    pub(in crate::scenario_runtime) fn count_redirect(&mut self, intended: Nanos) {
        self.unreported.counts[Counter::Redirects] += u64::from(intended >= self.instants.measured_from);
    }

    /// What follows the response of an exchange.
    #[inline]
    pub(in crate::scenario_runtime) fn next_hop(
        &mut self,
        exchange: &Exchange,
        attempt: Option<&Attempt>,
        done: Nanos,
    ) -> Next {
        if self.in_flight.is_simple || self.in_flight.steps[exchange.step as usize].redirect_state.is_none() {
            return Next::Nothing;
        }
        self.make_hop(exchange, attempt, done)
    }

    #[cold]
    fn make_hop(&mut self, exchange: &Exchange, attempt: Option<&Attempt>, done: Nanos) -> Next {
        let Some(kept) = attempt.and_then(|attempt| attempt.kept.as_deref()) else { return Next::Nothing };
        let status = kept.status;
        let location = http1::fields(&kept.head).find(|(name, _)| name.eq_ignore_ascii_case(b"location"));
        // An empty location is no redirect: this response is the last.
        let location = location.filter(|(_, location)| !location.trim_ascii().is_empty());
        // A begun chain goes on to its end, also when nothing new is started any more: the grace bounds it.
        let (Some((_, location)), true) = (location, sends_on(status)) else { return Next::Nothing };
        let step = &self.in_flight.steps[exchange.step as usize];
        let Some(redirect_state) = &step.redirect_state else { return Next::Nothing };
        let target = self.pool.origins[usize::from(step.origin)].target.clone();
        if redirect_state.hops >= redirect_state.follow.most {
            return Next::Stuck;
        }
        let Some(hop) = redirect_state.follow.hop(status, location, &redirect_state.at, &target) else {
            return Next::Stuck;
        };
        let elsewhere = hop.elsewhere;
        let elsewhere =
            elsewhere.map(|(is_tls, host, port)| Box::new(redirect_state.follow.target(&target, is_tls, host, port)));
        let mut way = redirect_state.way.clone();
        if attempt.is_some_and(Attempt::is_recorded) {
            let line = format!("{} {status} -> {}", redirect_state.at.reported(), String::from_utf8_lossy(location));
            way.drain(..(way.len() + 1).saturating_sub(WAY_MAX));
            way.push(line.chars().take(WAY_LINE_CHARS_MAX).collect());
        }
        let next = RedirectState {
            way,
            follow: redirect_state.follow.clone(),
            at: hop.at,
            hops: redirect_state.hops + 1,
            began: redirect_state.began.min(exchange.intended),
        };
        let mut request = hop.request;
        if let (Some((dynamic_parts, base)), Some(made)) = (&step.dynamic_parts, &step.made) {
            carry_on(&mut request, dynamic_parts, base, made);
        }
        let to = elsewhere.as_deref().unwrap_or(&target);
        self.add_cookies_of(exchange.user, &mut request, to, done);
        let number = self.in_flight.steps.next_number();
        let prepared = self.in_flight.steps[exchange.step as usize].for_hop(number, &request, Some(next), to);
        Next::Hop { step: self.in_flight.steps.add(Box::new(prepared)), elsewhere }
    }

    /// The exchange of a step is over: a step that was made for it alone is dropped.
    #[inline]
    pub(in crate::scenario_runtime) fn forget_step(&mut self, step: u32) {
        if self.in_flight.steps.is_of_exchange(step) {
            self.in_flight.steps.remove(step);
        }
    }

    /// A response is the last of its chain: records how long the whole took.
    #[cold]
    pub(in crate::scenario_runtime) fn end_chain(&mut self, exchange: &Exchange, outcome: Outcome, done: Nanos) {
        let Some(redirect_state) = &self.in_flight.steps[exchange.step as usize].redirect_state else { return };
        let is_answered = matches!(Class::from_outcome(outcome), Class::Succeeded | Class::FailedAnswered);
        if is_answered && exchange.is_measured {
            self.unreported.chains.record(done.since(redirect_state.began.min(exchange.intended)).0);
        }
    }

    /// Where a load has several endpoints, a failure is reported with its endpoint.
    #[cold]
    pub(in crate::scenario_runtime) fn count_failure_by_host(&mut self, step: u32, failure: Failure) {
        let step = &self.in_flight.steps[step as usize];
        if self.pool.origins.len() > 1 || step.redirect_state.is_some() || self.work.names_places {
            self.unreported.failures_by_host.add(failure, &step.place, 1);
        }
    }

    /// A hop whose host is unknown ends before it began.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn fail_hop(
        &mut self,
        user: u32,
        step: u32,
        intended: Nanos,
        failure: Failure,
        sockets: &mut dyn Sockets,
    ) {
        let exchange = Exchange::new(user, step, intended, intended, self.instants.counts_from);
        self.count_redirect(intended);
        let counter = self.counter_of(step, intended);
        self.unreported.counts[counter] += u64::from(exchange.is_measured);
        self.unreported.counts[Counter::Attempts] += u64::from(exchange.is_measured);
        let key = self.in_flight.exchanges.insert(exchange);
        let now = sockets.now();
        self.end_exchange(key, None, Outcome::Failed(failure), now);
    }
}
