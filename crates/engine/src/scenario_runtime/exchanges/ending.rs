//! The end of an attempt, and of its exchange: it is judged, recorded, and its user is freed.

use driver::{Socket, Sockets};
use metrics::{Counter, Failure, Measure, Outcome, RequestRecordEnd, SeriesId};
use pacing::Nanos;

use crate::scenario_runtime::connections::phase::Phase;
use crate::scenario_runtime::connections::{CLOSING_MAX, CLOSING_WAIT};
use crate::scenario_runtime::exchanges::redirects::Next as Hops;
use crate::scenario_runtime::exchanges::{Attempt, Exchange};
use crate::scenario_runtime::{ScenarioRuntime, TimerEntry};
use crate::slab::Key;
#[cfg(test)]
use crate::swarm::mutants::{Bug, fault_injected};
use crate::user::LastExchange;

impl ScenarioRuntime {
    /// The response is complete. `is_clean`: nothing came after it.
    pub(in crate::scenario_runtime) fn end_response(
        &mut self,
        key: Key,
        is_clean: bool,
        now: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        // A peer may respond before it has read the whole request; the rest would come before the next one.
        let Some(attempt) = self.in_flight.attempts.find(key) else { return };
        let has_unsealed = attempt.is_layered && self.pool.has_unsealed(attempt.socket);
        let mut untaken = sockets.unsent(attempt.socket);
        let is_sent = untaken == 0 && !has_unsealed;
        if untaken > 0 {
            untaken = sockets.stop_sending(attempt.socket);
        }
        let Some(head) = attempt.head else { return };
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return };
        let step = &self.in_flight.steps[exchange.step as usize];
        let (user, socket, is_measured) = (exchange.user, attempt.socket, exchange.is_measured);
        if !attempt.is_layered {
            let bytes = attempt.bytes_of(step);
            self.unreported.counts[Counter::BytesQueued] += bytes as u64;
            self.unreported.counts[Counter::BytesUnsent] += untaken.min(bytes) as u64;
        }
        // A server that has not requested the body would take what comes next for it.
        let is_sent = is_sent && !attempt.holds_body;
        let (outcome, is_layered) = (attempt.outcome(head.status, step), attempt.is_layered);
        let peer_closed_tls =
            is_layered && self.pool.connections.find(socket).is_some_and(|connection| connection.peer_closed_tls());
        let is_kept = is_clean && is_sent && head.keep_alive && step.keep_alive && !peer_closed_tls;
        self.unreported.counts[Counter::Responses] += u64::from(is_measured);
        self.unreported.counts.statuses[usize::from(head.status)] += u64::from(is_measured);
        self.unreported.counts[Counter::Kept] += u64::from(is_kept && is_measured);
        if is_kept && self.pool.lifetimes.is_some() && self.pool.reaches_limit(socket, now) {
            self.close_at_limit(socket, now, sockets);
        } else if is_kept {
            if let Some(connection) = self.pool.connections.find(socket) {
                connection.phase = Phase::Idle { user };
                let is_first = !std::mem::replace(&mut connection.is_reused, true);
                self.pool.connections.proven += u64::from(is_first);
            }
            let origin = step.origin;
            self.keep_own(user, origin, socket);
        } else if is_clean && is_sent {
            self.await_close(socket, now, sockets);
        } else {
            self.unreported.counts[Counter::Unsolicited] += u64::from(!is_clean);
            self.close(socket, sockets);
        }
        self.end_attempt(key, outcome, now);
    }

    /// Counts a complete response on a stream; returns its connection, and the outcome by the plan.
    pub(in crate::scenario_runtime) fn judge(&mut self, key: Key, now: Nanos) -> Option<(Socket, Outcome)> {
        let status = self.in_flight.attempts.find(key)?.status?;
        let of_call = self.judge_call(key, status, now);
        let attempt = self.in_flight.attempts.find(key)?;
        let exchange = self.in_flight.exchanges.find(attempt.exchange)?;
        let outcome = of_call.unwrap_or_else(|| attempt.outcome(status, &self.in_flight.steps[exchange.step as usize]));
        self.unreported.counts[Counter::Responses] += u64::from(exchange.is_measured);
        self.unreported.counts.statuses[usize::from(status)] += u64::from(exchange.is_measured);
        Some((attempt.socket, outcome))
    }

    /// A piece of a body: it is counted, and kept as far as the checks need it.
    pub(in crate::scenario_runtime) fn take_body(&mut self, key: Key, body: &[u8]) {
        self.unreported.counts[Counter::BodyBytes] += body.len() as u64;
        let room = self.kept_room(key, body.len());
        let Some(attempt) = self.in_flight.attempts.find(key) else { return };
        attempt.keep_within(body, room);
    }

    /// The attempt is over, and its exchange with it. The connection was handled before.
    pub(in crate::scenario_runtime) fn end_attempt(&mut self, key: Key, outcome: Outcome, now: Nanos) {
        #[cfg(test)]
        if fault_injected(Bug::LeakedSlot) {
            let Some(exchange) = self.in_flight.attempts.find(key).map(|attempt| attempt.exchange) else { return };
            return self.end_exchange(exchange, None, outcome, now);
        }
        if let Some(mut attempt) = self.in_flight.attempts.remove(key) {
            self.end_exchange(attempt.exchange, Some(&mut attempt), outcome, now);
        }
    }

    pub(in crate::scenario_runtime) fn end_exchange(
        &mut self,
        key: Key,
        attempt: Option<&mut Attempt>,
        outcome: Outcome,
        done: Nanos,
    ) {
        let Some(exchange) = self.in_flight.exchanges.remove(key) else { return };
        #[cfg(test)]
        if fault_injected(Bug::LostCompletion) {
            return;
        }
        #[cfg(test)]
        if fault_injected(Bug::DoubleCount) {
            self.unreported.outcome(metrics::SeriesId::step(exchange.step), outcome);
        }
        if !self.in_flight.is_simple {
            return self.end_with_more(&exchange, attempt, outcome, done);
        }
        let attempt = attempt.map(|attempt| &*attempt);
        if exchange.is_measured {
            self.record(&exchange, attempt, outcome, done);
        } else {
            self.unreported.counts[Counter::WarmedUp] += 1;
        }
        self.free_after(&exchange, None, attempt, outcome, done);
    }

    /// The same where something may follow from the response beside the next step.
    fn end_with_more(&mut self, exchange: &Exchange, mut attempt: Option<&mut Attempt>, outcome: Outcome, done: Nanos) {
        let follows = self.next_hop(exchange, attempt.as_deref(), done);
        let is_last = matches!(follows, Hops::Nothing);
        let outcome = match &follows {
            Hops::Nothing => self.within_bounds(exchange, attempt.as_deref_mut(), outcome, done),
            Hops::Hop { .. } => Outcome::Succeeded,
            Hops::Stuck => Outcome::Failed(Failure::Redirect),
        };
        let outcome = self.remember(exchange, attempt.as_deref_mut(), outcome, is_last, done);
        let attempt = attempt.as_deref();
        if exchange.is_measured {
            self.record(exchange, attempt, outcome, done);
        } else {
            self.unreported.counts[Counter::WarmedUp] += 1;
        }
        if !matches!(follows, Hops::Hop { .. }) {
            self.end_chain(exchange, outcome, done);
            self.judge_deadline(exchange, outcome, done);
            self.note_response(exchange, attempt, outcome, done);
        }
        let series = self.in_flight.steps[exchange.step as usize].series;
        let is_of_all = outcome == Outcome::Succeeded || self.fails_others(exchange.user, exchange.step);
        self.forget_step(exchange.step);
        if let Hops::Hop { step, elsewhere } = follows {
            return self.redirect_user(exchange.user, step, elsewhere, done);
        }
        if !is_of_all {
            self.note_optional_failure(exchange.user, Some(series).filter(|_| exchange.is_measured));
            return self.free_user(exchange.user, LastExchange::Ended, done);
        }
        self.free_after(exchange, Some(series), attempt, outcome, done);
    }

    /// Drops an exchange that waited too long for what it is made of.
    #[cold]
    pub(in crate::scenario_runtime) fn drop_unsent(&mut self, key: Key, now: Nanos) {
        let is_measured = self.in_flight.exchanges.find(key).is_some_and(|exchange| exchange.is_measured);
        self.unreported.counts[Counter::DroppedByGenerator] += u64::from(is_measured);
        self.drop_exchange(key, now);
    }

    pub(super) fn drop_exchange(&mut self, key: Key, now: Nanos) {
        if let Some(exchange) = self.in_flight.exchanges.remove(key) {
            if exchange.is_measured {
                let is_by_deadline = self.users.open.as_ref().is_some_and(|open| open.is_by_deadline(exchange.step));
                self.unreported.counts[Counter::DroppedByDeadline] += u64::from(is_by_deadline);
                self.trace_end(&exchange, None, RequestRecordEnd::Dropped, now);
                self.unreported.drop_start(now.since(exchange.intended).0);
            }
            self.forget_step(exchange.step);
            self.free_user(exchange.user, LastExchange::NoConnection, now);
        }
    }

    /// The user is free after its exchange, of the step with this series.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every exchange ends here, on one of two ways")]
    fn free_after(
        &mut self,
        exchange: &Exchange,
        step: Option<SeriesId>,
        attempt: Option<&Attempt>,
        outcome: Outcome,
        done: Nanos,
    ) {
        if let Outcome::Failed(failure) = outcome {
            self.note_failure(exchange.user, failure, step.filter(|_| exchange.is_measured));
        }
        let was_sent = attempt.is_some_and(Attempt::was_sent);
        let view = match (was_sent, outcome) {
            (false, _) => LastExchange::NoConnection,
            (true, Outcome::Succeeded) => LastExchange::Ended,
            (true, _) => LastExchange::Failed,
        };
        self.free_user(exchange.user, view, done);
    }

    /// Records each duration in its series.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every exchange ends here, on one of two ways")]
    pub(super) fn record(&mut self, exchange: &Exchange, attempt: Option<&Attempt>, outcome: Outcome, done: Nanos) {
        // A failure happened when its connection ended, however long it was not known whether the request goes out
        // again.
        let done = match (outcome, attempt) {
            (Outcome::Failed(_), Some(attempt)) => done.min(attempt.peer_closed_at),
            _ => done,
        };
        // Where nothing is shown or kept, nothing is a sample.
        if !self.in_flight.is_simple {
            self.keep_sample(exchange, attempt, outcome, done);
        }
        if let Outcome::Failed(failure) = outcome {
            self.count_failed_call(exchange.step, failure);
            if !self.in_flight.is_simple || self.work.names_places {
                self.count_failure_by_host(exchange.step, failure);
            }
        }
        if !self.in_flight.is_simple && (self.work.capture_options.rows || self.work.capture_options.bodies) {
            self.keep_more(exchange, attempt, outcome, done);
        }
        let series = if self.in_flight.is_simple {
            self.work.first_series
        } else {
            self.in_flight.steps[exchange.step as usize].series
        };
        if !self.stalls.none_since(exchange.intended) && outcome == Outcome::Succeeded {
            self.check_stall_affected(exchange, attempt, done);
        }
        let response_ns = done.since(exchange.intended).0;
        if response_ns >= self.request_log.least_ns {
            self.trace(exchange, attempt, outcome, done);
        }
        if self.in_flight.first_round.is_some() {
            let sent = attempt.filter(|attempt| attempt.was_sent() && outcome == Outcome::Succeeded);
            self.note_first(exchange.user, sent.map(|attempt| done.since(attempt.sent)));
        }
        if self.pool.addresses.rotate {
            self.count_address(exchange, attempt, outcome, response_ns);
        }
        let timings = self.unreported.outcome(series, outcome);
        timings.record(Measure::Response, response_ns);
        timings.record(Measure::Lateness, exchange.taken_up.since(exchange.intended).0);
        if let Some(attempt) = attempt
            && attempt.was_sent()
        {
            let sent = attempt.sent;
            timings.record(Measure::Wait, sent.since(exchange.taken_up).0);
            timings.record(Measure::Service, done.since(sent).0);
            if attempt.first_byte != Nanos::NEVER {
                timings.record(Measure::FirstByte, attempt.first_byte.since(sent).0);
            }
        }
    }

    /// A success that was in flight while the loop was stalled may be stall affected.
    #[cold]
    pub(super) fn check_stall_affected(&mut self, exchange: &Exchange, attempt: Option<&Attempt>, done: Nanos) {
        self.unreported.counts[Counter::StallAffectedResponses] +=
            u64::from(self.stalls.cover(exchange.intended, done));
        if let Some(sent) = attempt.filter(|attempt| attempt.was_sent()).map(|attempt| attempt.sent)
            && self.stalls.cover(sent, done)
        {
            self.unreported.cover(done.since(sent).0);
        }
    }

    /// The connection will not be used again; the peer, which was notified, closes it.
    pub(in crate::scenario_runtime) fn await_close(&mut self, socket: Socket, now: Nanos, sockets: &mut dyn Sockets) {
        if self.pool.connections.closing >= CLOSING_MAX {
            return self.close(socket, sockets);
        }
        if self.pool.sharing.is_some() {
            self.pool.connections.turn_into(socket, Phase::Close);
        }
        if let Some(connection) = self.pool.connections.find(socket) {
            connection.phase = Phase::Close;
            self.pool.connections.closing += 1;
            self.timers.insert(now + CLOSING_WAIT, TimerEntry::Closing(socket));
        }
    }

    pub(in crate::scenario_runtime) fn close(&mut self, socket: Socket, sockets: &mut dyn Sockets) {
        let untaken = if self.pool.is_layered { sockets.stop_sending(socket) } else { 0 };
        if self.pool.has_datagrams {
            self.unreported.counts[Counter::KernelDrops] += sockets.dropped(socket);
        }
        if let Some(connection) = self.pool.connections.remove(socket) {
            self.uncount(&connection, untaken);
            sockets.close(socket);
        }
    }
}
