//! The life of an exchange: begun, tried once or twice, ended once.

mod ending;
mod opening;

use driver::{Outgoing, Socket, Sockets};
use metrics::{Failure, Outcome};
use pacing::Nanos;
use wire::http1::{Client, ResponseHead};

use super::calls::CallState;
use super::connections::Phase;
use super::layers::Given;
use super::samples::KeptBody;
use super::step::{PreparedStep, Wants};
use super::{Deadline, World};
use crate::faults;
use crate::slab::Key;
#[cfg(test)]
use crate::swarm::plant::{Bug, strikes};
use crate::user::View;

/// A request of more bytes than one segment takes is sent without waiting for acknowledgements.
const ONE_SEGMENT_BYTES: usize = 1_200;

/// An exchange is tried again so often at most.
pub(crate) const TRIES_MAX: u8 = 16;

/// One request with its answer, however many attempts it takes.
pub(crate) struct Exchange {
    pub(crate) user: u32,
    pub(crate) step: u32,
    pub(crate) intended: Nanos,
    pub(crate) taken_up: Nanos,
    /// Earlier tries: on a connection that was stale, or that took no more requests.
    pub(crate) tries: u8,
    /// How often it went to another connection before it was sent.
    pub(crate) moves: u8,
    /// It goes to another connection now: no attempt more.
    pub(crate) is_moved: bool,
    /// It is no part of a warm-up.
    pub(crate) is_measured: bool,
}

/// One try of an exchange on a connection.
pub(crate) struct Attempt {
    pub(crate) exchange: Key,
    /// Its exchange is no part of a warm-up.
    pub(crate) is_measured: bool,
    pub(crate) socket: Socket,
    /// Never, until its request goes out.
    pub(crate) sent: Nanos,
    /// Never, until a byte of the answer comes.
    pub(crate) first_byte: Nanos,
    pub(crate) deadline: Nanos,
    pub(crate) machine: Client,
    /// The head of an answer of HTTP/1.
    pub(crate) head: Option<ResponseHead>,
    /// The status of an answer on a stream.
    pub(crate) status: Option<u16>,
    /// Its stream; 0 as long as it has none.
    pub(crate) stream: u32,
    /// Bytes of its body.
    pub(super) body_bytes: u32,
    /// What is kept of the answer.
    pub(super) needs: Wants,
    /// That of it; none when nothing is needed.
    pub(crate) kept: Option<Box<KeptBody>>,
    /// What it sends leaves in layers.
    pub(super) is_layered: bool,
    /// Bytes that had been handed to the socket before its first; of one in layers.
    pub(super) begins: u64,
    /// Of a call of gRPC, once it has a stream.
    pub(super) call: Option<CallState>,
}

impl Exchange {
    pub(super) fn new(user: u32, step: u32, intended: Nanos, taken_up: Nanos, measured_from: Nanos) -> Self {
        Self {
            user,
            step,
            intended,
            taken_up,
            tries: 0,
            moves: 0,
            is_moved: false,
            is_measured: intended >= measured_from,
        }
    }
}

impl Attempt {
    /// What the plan says of a complete answer.
    #[inline]
    fn outcome(&mut self, status: u16, step: &PreparedStep) -> Outcome {
        if let Some(kept) = &mut self.kept {
            kept.status = status;
        }
        if !step.checks.contains_status(status) {
            Outcome::Failed(Failure::Status)
        } else if step.checks.look_further {
            step.checks.of_answer(self.kept.as_deref_mut())
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

impl World {
    #[inline]
    pub(super) fn begin_exchange<S: Sockets>(
        &mut self,
        user: u32,
        step: u32,
        intended: Nanos,
        taken_up: Nanos,
        sockets: &mut S,
    ) {
        let exchange = Exchange::new(user, step, intended, taken_up, self.measured_from);
        self.seen.counts.started += u64::from(exchange.is_measured);
        let exchange = self.exchanges.insert(exchange);
        self.try_exchange(exchange, sockets);
    }

    /// One attempt: on the user's own connection when it has one, else on a new one.
    pub(super) fn try_exchange<S: Sockets>(&mut self, key: Key, sockets: &mut S) {
        let Some(exchange) = self.exchanges.find(key) else { return };
        let (user, step) = (exchange.user, exchange.step as usize);
        let origin = if self.is_simple { 0 } else { self.steps[step].origin };
        let (intended, is_first_try) = (exchange.intended, exchange.tries == 0);
        let (is_moved, is_measured) = (std::mem::take(&mut exchange.is_moved), exchange.is_measured);
        self.seen.counts.attempts += u64::from(is_measured && !is_moved);
        if let Some(socket) = self.take_own(user, origin) {
            let attempt = self.insert_attempt(key, step, is_measured, socket);
            if let Some(connection) = self.connections.find(socket) {
                connection.phase = Phase::Answer { attempt };
            }
            return self.send_request(attempt, sockets);
        }
        if self.is_layered
            && let Some(socket) = self.shared_connection(user, origin)
        {
            return self.share(key, socket, step, sockets);
        }
        // On loopback the whole handshake happens inside the call.
        let since = sockets.now();
        match self.open_connection(step, sockets) {
            Ok(socket) => {
                let attempt = self.insert_attempt(key, step, is_measured, socket);
                self.connections.insert(socket, Phase::Connect { attempt, since }, origin);
                if self.origins[usize::from(origin)].is_layered() {
                    self.add_layers(socket, user, origin);
                }
                let mut deadline = since + self.steps[step].connect_timeout;
                if let Some(open) = self.open.as_ref().filter(|_| is_first_try) {
                    deadline = deadline.min(open.send_before(intended));
                }
                self.arm(attempt, deadline);
            }
            Err(error) => {
                self.hope.failed_connects += 1;
                let now = sockets.now();
                self.end_exchange(key, None, Outcome::Failed(faults::while_connecting(error)), now, sockets);
            }
        }
    }

    pub(super) fn insert_attempt(&mut self, exchange: Key, step: usize, is_measured: bool, socket: Socket) -> Key {
        let (needs, is_layered) = if self.is_simple {
            (self.steps.fixed[0].needs, self.is_layered)
        } else {
            let step = &self.steps[step];
            let needs = if self.seen.wants_samples() { step.needs } else { step.last_needs };
            (needs, self.is_layered && self.origins[usize::from(step.origin)].is_layered())
        };
        let attempt = Attempt {
            body_bytes: 0,
            needs,
            is_layered,
            exchange,
            is_measured,
            socket,
            sent: Nanos::NEVER,
            first_byte: Nanos::NEVER,
            deadline: Nanos::NEVER,
            machine: Client::default(),
            head: None,
            status: None,
            stream: 0,
            begins: 0,
            kept: None,
            call: None,
        };
        let key = self.attempts.insert(attempt);
        if key.index as usize >= self.armed.len() {
            self.armed.resize(key.index as usize + 1, Nanos::NEVER);
        }
        key
    }

    /// The attempt is due at `deadline`. Its position keeps one entry in the wheel, which moves on when it comes out; so
    /// an exchange that ends in time costs the wheel nothing.
    #[inline]
    pub(super) fn arm(&mut self, key: Key, deadline: Nanos) {
        let Some(attempt) = self.attempts.find(key) else { return };
        attempt.deadline = deadline;
        let armed = &mut self.armed[key.index as usize];
        if deadline < *armed {
            *armed = deadline;
            self.timers.insert(deadline, Deadline::Attempt(key.index));
        }
    }

    pub(super) fn attempt_due<S: Sockets>(&mut self, index: u32, now: Nanos, sockets: &mut S) {
        let armed = &mut self.armed[index as usize];
        if *armed > now {
            // An entry that was overtaken by an earlier one.
            return;
        }
        *armed = Nanos::NEVER;
        self.expire(index, now, sockets);
    }

    /// The attempt at this position has had its time, unless a later deadline has taken the place of the one that came out. What
    /// came before the deadline is read first: while our loop stood still, the answer may have come.
    pub(super) fn expire<S: Sockets>(&mut self, index: u32, now: Nanos, sockets: &mut S) {
        let read_until = self.read_until;
        let Some((key, attempt)) = self.attempts.at_index(index) else { return };
        if attempt.deadline > now {
            let deadline = attempt.deadline;
            return self.arm(key, deadline);
        }
        if attempt.deadline > read_until {
            return self.overdue.push(index);
        }
        if attempt.stream != 0 && !attempt.was_sent() {
            // It got a stream meanwhile, and leaves at the end of this turn: its time begins then.
            return;
        }
        let socket = attempt.socket;
        let given = Given { key, socket, stream: attempt.stream, sent: attempt.sent };
        let (was_sent, exchange) = (attempt.was_sent(), attempt.exchange);
        if !was_sent && self.is_too_late(exchange, now) {
            self.attempts.remove(key);
            self.give_up(given, true, now, sockets);
            return self.drop_exchange(exchange, now, sockets);
        }
        self.count_last_sent(key, sockets);
        // One that waits for a stream is connected.
        let is_connected = self.connections.find(socket).is_some_and(|one| matches!(one.phase, Phase::Shared));
        let failure = if was_sent || is_connected { Failure::Timeout } else { self.unanswered_stage(socket) };
        if self.records {
            self.record_begun(socket);
        }
        let expired = if was_sent { self.expire_call(key, now) } else { None };
        self.give_up(given, false, now, sockets);
        self.end_attempt(key, expired.unwrap_or(Outcome::Failed(failure)), now, sockets);
    }

    /// An exchange of an open load has waited longer than it may.
    fn is_too_late(&mut self, key: Key, now: Nanos) -> bool {
        let (Some(open), Some(exchange)) = (&self.open, self.exchanges.find(key)) else { return false };
        // A second try has been sent once.
        exchange.tries == 0 && open.send_before(exchange.intended) <= now
    }

    fn drop_exchange<S: Sockets>(&mut self, key: Key, now: Nanos, sockets: &mut S) {
        if let Some(exchange) = self.exchanges.remove(key) {
            if exchange.is_measured {
                self.seen.drop_start(now.since(exchange.intended).0);
            }
            self.next(exchange.user, View::NoConnection, now, now, sockets);
        }
    }

    /// The connection is there: the request goes out.
    pub(super) fn send_request<S: Sockets>(&mut self, key: Key, sockets: &mut S) {
        let Some(attempt) = self.attempts.find(key) else { return };
        let Some(exchange) = self.exchanges.find(attempt.exchange) else { return };
        let step = &self.steps[exchange.step as usize];
        let (request_bytes, is_measured) = (step.request.len(), exchange.is_measured);
        attempt.machine.start(step.kind);
        let socket = attempt.socket;
        if self.is_talk {
            let step = exchange.step as usize;
            return self.send_message(key, socket, step, is_measured, sockets);
        }
        if attempt.is_layered {
            let index = exchange.step as usize;
            return self.send_request_sealed(key, socket, index, is_measured, sockets);
        }
        let sent = sockets.now();
        attempt.sent = sent;
        let deadline = sent + step.timeout;
        let outgoing = match self.templates.get(exchange.step as usize) {
            Some(template) => Outgoing::Template(*template, 0..request_bytes),
            None => Outgoing::Shared(step.request.clone(), 0..request_bytes),
        };
        self.arm(key, deadline);
        self.seen.counts.sent += u64::from(is_measured);
        sockets.send(socket, outgoing);
    }

    fn send_request_sealed<S: Sockets>(
        &mut self,
        key: Key,
        socket: Socket,
        step: usize,
        is_measured: bool,
        sockets: &mut S,
    ) {
        let begins = self.handed_to(socket);
        let Some(sent) = self.send_sealed(socket, step, sockets) else { return };
        let Some(attempt) = self.attempts.find(key) else { return };
        (attempt.sent, attempt.begins) = (sent, begins);
        let deadline = sent + self.steps[step].timeout;
        self.arm(key, deadline);
        self.seen.counts.sent += u64::from(is_measured);
    }

    /// Counts the bytes of a request that the kernel took; `untaken`: what it did not take. What leaves in layers is counted when it
    /// leaves.
    pub(super) fn count_sent(&mut self, key: Key, untaken: usize) {
        let Some(attempt) = self.attempts.find(key).filter(|attempt| attempt.was_sent() && !attempt.is_layered) else {
            return;
        };
        let Some(exchange) = self.exchanges.find(attempt.exchange) else { return };
        let request_bytes = self.steps[exchange.step as usize].request.len();
        self.seen.counts.bytes_handed += request_bytes as u64;
        self.seen.counts.bytes_untaken += untaken.min(request_bytes) as u64;
    }

    /// The same of a socket that is closed next: nothing more of the request leaves.
    pub(super) fn count_last_sent<S: Sockets>(&mut self, key: Key, sockets: &mut S) {
        let Some(attempt) = self.attempts.find(key).filter(|attempt| attempt.was_sent() && !attempt.is_layered) else {
            return;
        };
        let untaken = sockets.stop_sending(attempt.socket);
        self.count_sent(key, untaken);
    }

    /// The peer has ended the connection and answered nothing on it. Whether its kernel had not acknowledged a byte of the request by
    /// then, so that nobody there has seen it; where that is unknown, somebody may have.
    pub(super) fn was_never_taken<S: Sockets>(&mut self, key: Key, sockets: &mut S) -> bool {
        #[cfg(test)]
        if strikes(Bug::RetriesWhatWasTaken) {
            return true;
        }
        let Some(attempt) = self.attempts.find(key) else { return false };
        let Some(exchange) = self.exchanges.find(attempt.exchange) else { return false };
        let socket = attempt.socket;
        let (begins, is_layered) = (attempt.begins, attempt.is_layered);
        let request_bytes = self.steps[exchange.step as usize].request.len();
        let Some(unacknowledged) = sockets.unacknowledged(socket) else { return false };
        if is_layered {
            self.layers(socket).is_some_and(|layers| begins >= layers.handed - unacknowledged as u64)
        } else {
            unacknowledged >= request_bytes
        }
    }
}
