//! The life of an exchange: begun, tried one or more times, ended exactly once: succeeded, failed, dropped,
//! unfinished, or lost with its worker.

pub(super) mod abandoned;
pub(super) mod bounds;
pub(super) mod captured_response;
mod ending;
mod expecting;
pub(super) mod grpc;
pub(super) mod redirect_state;
pub(super) mod redirects;
pub(super) mod request_log;
pub(super) mod response_checks;
mod retries;
pub(super) mod step;
pub(super) mod timer_entry;
pub(super) mod transcribing;
pub(super) mod transcript;
pub(super) mod wait_for_read;

use driver::{Outgoing, Socket, Sockets};
use metrics::{Counter, Failure, Outcome};
use pacing::Nanos;
use wire::connection::{ALONE, ExchangeStart, Http1, Mask, Payload, ProtocolConnection, ResponseKind};
use wire::http1::ResponseHead;

use crate::faults;
use crate::scenario_runtime::connections::layers::Links;
use crate::scenario_runtime::connections::phase::Phase;
use crate::scenario_runtime::exchanges::abandoned::AbandonedAttempt;
use crate::scenario_runtime::exchanges::captured_response::CapturedResponse;
use crate::scenario_runtime::exchanges::grpc::CallState;
use crate::scenario_runtime::exchanges::step::{PreparedStep, Wants};
use crate::scenario_runtime::{ScenarioRuntime, TimerEntry};
use crate::slab::Key;
pub(super) use retries::RetryDecision;

/// The slot of an exchange whose address is not counted apart.
pub(super) const NO_ADDRESS_SLOT: u8 = u8::MAX;

/// Most retries of an exchange on streams; one of HTTP/1 is sent again once.
pub(crate) const TRIES_MAX: u8 = 16;

/// One request with its response, however many attempts it takes.
pub(crate) struct Exchange {
    pub(crate) user: u32,
    pub(crate) step: u32,
    pub(crate) intended: Nanos,
    pub(crate) taken_up: Nanos,
    /// Earlier attempts: on a connection that was stale, or that took no more requests.
    pub(crate) tries: u8,
    /// Those of them that the server may have begun to process.
    pub(crate) begun: u8,
    /// Moves to another connection before it was sent.
    pub(crate) moves: u8,
    /// Addresses that did not accept its connection.
    pub(crate) refusals: u16,
    /// The slot of the address of its last attempt, where addresses are counted apart; else [`NO_ADDRESS_SLOT`].
    pub(super) address_slot: u8,
    /// It moves to another connection now: that is no further attempt.
    pub(crate) is_moved: bool,
    /// It is in the figures: it did not end in a warm-up.
    pub(crate) is_measured: bool,
}

/// An attempt of an exchange on a connection.
pub(crate) struct Attempt {
    pub(crate) exchange: Key,
    /// Its exchange is not part of a warm-up.
    pub(crate) is_measured: bool,
    pub(crate) socket: Socket,
    /// Never, until its request is sent.
    pub(crate) sent: Nanos,
    /// Never, until a byte of the response comes.
    pub(crate) first_byte: Nanos,
    /// When its peer ended the connection; never, unless it is not known yet whether the request was taken.
    pub(crate) peer_closed_at: Nanos,
    pub(crate) deadline: Nanos,
    /// Protocol state of HTTP/1.
    pub(crate) line: Http1,
    /// The head of an HTTP/1 response.
    pub(crate) head: Option<ResponseHead>,
    /// The status of a response on a stream.
    pub(crate) status: Option<u16>,
    /// Its stream; 0 while it has none.
    pub(crate) stream: u32,
    /// Bytes of the response body.
    pub(super) body_bytes: u32,
    /// What is captured of the response.
    pub(super) needs: Wants,
    /// The captured response; none when nothing is needed.
    pub(crate) kept: Option<Box<CapturedResponse>>,
    /// Its bytes are sent through layers.
    pub(super) is_layered: bool,
    /// Its connection was opened for it.
    pub(super) opened: bool,
    /// Its head has left, and its body waits for a 100 of the server.
    pub(super) holds_body: bool,
    /// Bytes handed to the socket before its first; for one in layers.
    pub(super) stream_offset: u64,
    /// State of a gRPC call, once it has a stream.
    pub(super) call: Option<CallState>,
}

/// A copy of the bytes of a dynamic request. The step keeps its own: they may have to be sent again.
#[inline(never)]
fn lent(links: &mut Links, request: &[u8]) -> Outgoing {
    let mut buffer = links.buffer();
    buffer.extend_from_slice(request);
    Outgoing::Lent(buffer)
}

impl Exchange {
    pub(super) fn new(user: u32, step: u32, intended: Nanos, taken_up: Nanos, counts_from: Nanos) -> Self {
        Self {
            user,
            step,
            intended,
            taken_up,
            tries: 0,
            begun: 0,
            moves: 0,
            refusals: 0,
            address_slot: NO_ADDRESS_SLOT,
            is_moved: false,
            is_measured: intended >= counts_from,
        }
    }
}

impl Attempt {
    /// The outcome of a complete response by the plan.
    #[inline]
    fn outcome(&mut self, status: u16, step: &PreparedStep) -> Outcome {
        if let Some(kept) = &mut self.kept {
            kept.status = status;
        }
        if !step.checks.contains_status(status) {
            Outcome::Failed(Failure::Status)
        } else if step.checks.checks_more {
            step.checks.response_outcome(self.kept.as_deref_mut())
        } else {
            Outcome::Succeeded
        }
    }

    /// Keeps what the checks need of a body.
    #[inline]
    pub(super) fn keep(&mut self, body: &[u8]) {
        self.body_bytes = self.body_bytes.saturating_add(body.len() as u32);
        if self.needs.body > 0 {
            self.kept.get_or_insert_default().keep(body, self.needs.body as usize);
        }
    }

    pub(super) fn was_sent(&self) -> bool {
        self.sent != Nanos::NEVER
    }
}

impl ScenarioRuntime {
    #[inline]
    pub(super) fn begin_exchange(
        &mut self,
        user: u32,
        step: u32,
        intended: Nanos,
        taken_up: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        if self.users.budget_lease.is_some() && !self.may_start() {
            return self.skip_over_budget(user, step, intended, sockets);
        }
        let is_measured = intended >= self.instants.counts_from;
        let counter = self.counter_of(step, intended);
        self.unreported.counts[counter] += u64::from(is_measured);
        self.begin_due(user, step, intended, taken_up, sockets);
    }

    /// No budget is left for it. A redirect that is not followed is no exchange, and its iteration is cut.
    #[cold]
    fn skip_over_budget(&mut self, user: u32, step: u32, intended: Nanos, sockets: &mut dyn Sockets) {
        if self.in_flight.steps.is_hop(step) {
            self.forget_step(step);
            if intended >= self.instants.measured_from {
                self.unreported.counts[Counter::Redirects] -= 1;
                // Other iterations are counted when they are cut, or when the load ends.
                let counts_own = self.users.programs.code.counts_iterations;
                self.unreported.counts[Counter::IterationsCut] += u64::from(!counts_own);
            }
        }
        self.free_without_budget(user, intended, sockets);
    }

    /// Begins an exchange that was counted when it was due.
    #[inline]
    pub(super) fn begin_due(
        &mut self,
        user: u32,
        step: u32,
        intended: Nanos,
        taken_up: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        let exchange = Exchange::new(user, step, intended, taken_up, self.instants.counts_from);
        if !self.in_flight.is_simple {
            return self.begin_dynamic(exchange, sockets);
        }
        let exchange = self.in_flight.exchanges.insert(exchange);
        self.try_exchange(exchange, sockets);
    }

    /// The same where its request may be dynamic. Separate, so that the loads of one plain request do not pay for it.
    #[inline(never)]
    fn begin_dynamic(&mut self, mut exchange: Exchange, sockets: &mut dyn Sockets) {
        let (user, step) = (exchange.user, exchange.step);
        let part = self.users.programs.part(user);
        match self.step_for(user, step, part, sockets) {
            Ok(Some(step)) => exchange.step = step,
            Ok(None) => {
                let exchange = self.in_flight.exchanges.insert(exchange);
                return self.await_rows(exchange, part);
            }
            Err(failure) => return self.fail_unmade(exchange, failure, sockets),
        }
        let exchange = self.in_flight.exchanges.insert(exchange);
        self.try_exchange(exchange, sockets);
    }

    /// Begins an attempt: on the user's own connection when it has one, else on a new one.
    pub(super) fn try_exchange(&mut self, key: Key, sockets: &mut dyn Sockets) {
        if self.pool.sharing.is_some() && !self.gets_connection(key) {
            return;
        }
        let Some(exchange) = self.in_flight.exchanges.find(key) else { return };
        let (user, step) = (exchange.user, exchange.step as usize);
        let (intended, is_first_try) = (exchange.intended, exchange.tries == 0);
        let (is_moved, is_measured) = (exchange.is_moved, exchange.is_measured);
        let origin = if self.in_flight.is_simple { 0 } else { self.in_flight.steps[step].origin };
        if self.in_flight.steps[step].leaves_once && self.must_read_first(key, user, origin) {
            return;
        }
        if is_moved && let Some(exchange) = self.in_flight.exchanges.find(key) {
            exchange.is_moved = false;
        }
        self.unreported.counts[Counter::Attempts] += u64::from(is_measured && !is_moved);
        if let Some(socket) = self.take_own(user, origin) {
            let attempt = self.insert_attempt(key, step, is_measured, socket);
            if let Some(connection) = self.pool.connections.find(socket) {
                connection.phase = Phase::Response { attempt };
            }
            if self.pool.addresses.rotate {
                self.note_address(key, socket);
            }
            return self.send_request(attempt, sockets);
        }
        if self.pool.is_layered
            && let Some(socket) = self.shared_connection(user, origin)
        {
            return self.share(key, socket, step, sockets);
        }
        // On loopback the whole handshake happens inside the call.
        let since = sockets.now();
        match self.open_connection(step, since, sockets) {
            Ok(socket) => {
                let attempt = self.insert_attempt(key, step, is_measured, socket);
                if let Some(attempt) = self.in_flight.attempts.find(attempt) {
                    attempt.opened = true;
                }
                self.pool.connections.insert(socket, Phase::Connect { attempt, since }, origin);
                if self.pool.addresses.rotate {
                    self.note_endpoint(socket, origin);
                    self.note_address(key, socket);
                }
                if self.pool.origins[usize::from(origin)].begins_layered() {
                    self.add_layers(socket, user, origin);
                }
                let mut deadline = since + self.in_flight.steps[step].connect_timeout;
                if let Some(open) = self.users.open.as_ref().filter(|_| is_first_try) {
                    deadline = deadline.min(open.send_before(intended, step as u32));
                }
                self.arm(attempt, deadline);
            }
            Err(error) => {
                self.pool.reachability_guard.fail(origin);
                let now = sockets.now();
                self.end_exchange(key, None, Outcome::Failed(faults::while_connecting(error)), now);
            }
        }
    }

    pub(super) fn insert_attempt(&mut self, exchange: Key, step: usize, is_measured: bool, socket: Socket) -> Key {
        let (needs, is_layered) = if self.in_flight.is_simple {
            (self.in_flight.steps.fixed[0].needs, self.pool.is_layered && self.pool.origins[0].is_layered())
        } else {
            let step = &self.in_flight.steps[step];
            let needs = if self.unreported.wants_samples() { step.needs } else { step.last_needs };
            (needs, self.pool.is_layered && self.pool.origins[usize::from(step.origin)].is_layered())
        };
        let attempt = Attempt {
            body_bytes: 0,
            needs,
            is_layered,
            opened: false,
            holds_body: false,
            exchange,
            is_measured,
            socket,
            sent: Nanos::NEVER,
            first_byte: Nanos::NEVER,
            peer_closed_at: Nanos::NEVER,
            deadline: Nanos::NEVER,
            line: Http1::default(),
            head: None,
            status: None,
            stream: 0,
            stream_offset: 0,
            kept: None,
            call: None,
        };
        let key = self.in_flight.attempts.insert(attempt);
        if key.index as usize >= self.in_flight.armed.len() {
            self.in_flight.armed.resize(key.index as usize + 1, Nanos::NEVER);
        }
        key
    }

    /// The attempt is due at `deadline`. Its position owns one timer entry, which is re-armed when it fires early; so
    /// an exchange that ends in time needs no timer operation.
    #[inline]
    pub(super) fn arm(&mut self, key: Key, deadline: Nanos) {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return };
        attempt.deadline = deadline;
        let armed = &mut self.in_flight.armed[key.index as usize];
        if deadline < *armed {
            *armed = deadline;
            self.timers.insert(deadline, TimerEntry::Attempt(key.index));
        }
    }

    pub(super) fn attempt_due(&mut self, index: u32, now: Nanos, sockets: &mut dyn Sockets) {
        let armed = &mut self.in_flight.armed[index as usize];
        if *armed > now {
            // An entry that an earlier one has replaced.
            return;
        }
        *armed = Nanos::NEVER;
        self.expire(index, now, sockets);
    }

    /// The attempt at this position has timed out, unless a later deadline has replaced the one that fired. What came
    /// before the deadline is read first: while the loop was stalled, the response may have come.
    pub(super) fn expire(&mut self, index: u32, now: Nanos, sockets: &mut dyn Sockets) {
        let read_until = self.instants.read_until;
        let Some((key, attempt)) = self.in_flight.attempts.at_index(index) else { return };
        if attempt.deadline > now {
            let deadline = attempt.deadline;
            return self.arm(key, deadline);
        }
        if attempt.deadline > read_until {
            return self.in_flight.overdue.push(index);
        }
        if attempt.stream != 0 && !attempt.was_sent() {
            // It got a stream meanwhile, and leaves at the end of this turn: its time begins then.
            return;
        }
        if attempt.peer_closed_at != Nanos::NEVER {
            return self.recheck_delivery(key, now, sockets);
        }
        if attempt.holds_body && self.sends_body_late(key, now, sockets) {
            return;
        }
        let Some(attempt) = self.in_flight.attempts.find(key) else { return };
        let socket = attempt.socket;
        let given = AbandonedAttempt { key, socket, stream: attempt.stream, sent: attempt.sent };
        let (was_sent, exchange) = (attempt.was_sent(), attempt.exchange);
        if !was_sent && self.is_too_late(exchange, now) {
            self.in_flight.attempts.remove(key);
            self.abandon_attempt(given, true, now, sockets);
            return self.drop_exchange(exchange, now);
        }
        if self.is_spared(index, now) {
            return;
        }
        if self.pool.has_datagrams && was_sent && self.resends(key, socket, now, sockets) {
            return;
        }
        self.count_last_sent(key, sockets);
        // An attempt that waits for a stream is connected.
        let is_connected = self.pool.connections.find(socket).is_some_and(|one| matches!(one.phase, Phase::Shared));
        if !was_sent && is_connected && self.pool.sharing.is_some() {
            // Users that share connections wait for a stream as long as it takes.
            let step = self.in_flight.exchanges.find(exchange).map_or(0, |exchange| exchange.step as usize);
            let deadline = now + self.in_flight.steps[step].connect_timeout;
            return self.arm(key, deadline);
        }
        let failure = match was_sent || is_connected {
            true if self.pool.has_datagrams => self.overdue_failure(socket),
            true => Failure::Timeout,
            false => self.unanswered_stage(socket),
        };
        if self.in_flight.records {
            self.record_begun(socket);
        }
        let expired = if was_sent { self.expire_call(key, now) } else { None };
        self.abandon_attempt(given, false, now, sockets);
        self.end_attempt(key, expired.unwrap_or(Outcome::Failed(failure)), now);
    }

    /// The deadline of an attempt passed in a stall of the generator, and its peer gets more time; what came within
    /// that is read first, too.
    #[cold]
    fn is_spared(&mut self, index: u32, now: Nanos) -> bool {
        let Some((_, attempt)) = self.in_flight.attempts.at_index(index) else { return false };
        let (exchange, deadline, sent) = (attempt.exchange, attempt.deadline, attempt.sent);
        let since = if attempt.was_sent() {
            sent
        } else {
            let step = self.in_flight.exchanges.find(exchange).map_or(0, |exchange| exchange.step as usize);
            deadline.since(self.in_flight.steps[step].connect_timeout)
        };
        let deadline = self.stalls.spare(since, deadline);
        if deadline > now {
            self.in_flight.armed[index as usize] = deadline;
            self.timers.insert(deadline, TimerEntry::Attempt(index));
        } else if deadline > self.instants.read_until {
            self.in_flight.overdue.push(index);
        } else {
            return false;
        }
        true
    }

    /// An exchange of an open load has waited longer than it may.
    pub(super) fn is_too_late(&mut self, key: Key, now: Nanos) -> bool {
        let (Some(open), Some(exchange)) = (&self.users.open, self.in_flight.exchanges.find(key)) else { return false };
        // A retry has been sent once before.
        exchange.tries == 0 && open.send_before(exchange.intended, exchange.step) <= now
    }

    /// The connection is established: the request is sent.
    pub(super) fn send_request(&mut self, key: Key, sockets: &mut dyn Sockets) {
        self.send_whole(key, true, sockets);
    }

    /// Sends the whole request. `may_wait`: its body may wait for a 100 of the server.
    fn send_whole(&mut self, key: Key, may_wait: bool, sockets: &mut dyn Sockets) {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return };
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return };
        let step = &self.in_flight.steps[exchange.step as usize];
        let (front_bytes, is_measured) = (step.request.front().len(), exchange.is_measured);
        let ask = ExchangeStart { what: Payload::Template, response: ResponseKind::Response(step.kind) };
        attempt.line.begin(ALONE, ask, Mask::default(), &mut Vec::new());
        let socket = attempt.socket;
        if step.expects_word && may_wait {
            if !self.send_head(key, socket, sockets) {
                self.send_whole(key, false, sockets);
            }
            return;
        }
        if attempt.is_layered {
            let index = exchange.step as usize;
            if step.messaging.is_some() {
                return self.send_message(key, socket, index, is_measured, sockets);
            }
            return self.send_request_sealed(key, socket, index, is_measured, sockets);
        }
        let sent = sockets.now();
        attempt.sent = sent;
        let deadline = sent + step.timeout;
        let outgoing = match self.in_flight.templates.get(exchange.step as usize) {
            Some(template) => Outgoing::Template(*template, 0..front_bytes),
            None => lent(&mut self.pool.links, step.request.front()),
        };
        let rest = step.request.rest().cloned();
        self.arm(key, deadline);
        self.unreported.counts[Counter::Sent] += u64::from(is_measured);
        sockets.send(socket, outgoing);
        if let Some(rest) = rest {
            self.send_rest(socket, rest, sockets);
        }
    }

    fn send_request_sealed(
        &mut self,
        key: Key,
        socket: Socket,
        step: usize,
        is_measured: bool,
        sockets: &mut dyn Sockets,
    ) {
        let begins = self.handed_to(socket);
        let Some(sent) = self.send_sealed(socket, step, sockets) else { return };
        let Some(attempt) = self.in_flight.attempts.find(key) else { return };
        (attempt.sent, attempt.stream_offset) = (sent, begins);
        let deadline = sent + self.in_flight.steps[step].timeout;
        self.arm(key, deadline);
        self.unreported.counts[Counter::Sent] += u64::from(is_measured);
    }
}
