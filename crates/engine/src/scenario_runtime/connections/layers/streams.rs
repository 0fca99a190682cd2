//! Requests on the streams of HTTP/2: they wait for a connection or a stream, leave in one piece at the end of the
//! turn, and their responses arrive frame by frame.

use std::sync::Arc;

use driver::{Socket, Sockets};
use metrics::{Counter, Failure, Outcome, PartKind};
use pacing::Nanos;
use wire::connection::{
    ConnectionEvent, ExchangeStart, Fault, Head, Mask, Payload, Progress, ProtocolConnection, ResponseKind,
};
use wire::http2;

use crate::faults;
use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::connections::layers::{CANCEL, REFUSED_STREAM};
use crate::scenario_runtime::exchanges::Attempt;
use crate::scenario_runtime::exchanges::grpc::{CallState, HeldMessages};
use crate::scenario_runtime::exchanges::step::PreparedCall;
use crate::slab::Key;

impl ScenarioRuntime {
    /// Marks a connection that has bytes to send when this event has been handled.
    pub(super) fn soil(&mut self, socket: Socket) {
        if let Some(layers) = self.layers(socket)
            && !std::mem::replace(&mut layers.is_dirty, true)
        {
            self.pool.links.dirty.push(socket);
        }
    }

    /// An attempt on a connection that other users use too: it gets a stream, or waits for one.
    pub(in crate::scenario_runtime) fn share(
        &mut self,
        exchange: Key,
        socket: Socket,
        step: usize,
        sockets: &mut dyn Sockets,
    ) {
        let now = sockets.now();
        let Some(known) = self.in_flight.exchanges.find(exchange) else { return };
        let (intended, is_first_try, is_measured) = (known.intended, known.tries == 0, known.is_measured);
        let attempt = self.insert_attempt(exchange, step, is_measured, socket);
        if self.pool.addresses.rotate {
            self.note_address(exchange, socket);
        }
        let Some(layers) = self.layers(socket) else { return };
        layers.waiting.push_back(attempt);
        self.start_waiting(socket);
        if self.in_flight.attempts.find(attempt).is_some_and(|attempt| attempt.stream == 0) {
            let mut deadline = now + self.in_flight.steps[step].connect_timeout;
            if let Some(open) = self.users.open.as_ref().filter(|_| is_first_try) {
                deadline = deadline.min(open.send_before(intended, step as u32));
            }
            self.arm(attempt, deadline);
        }
        if self.pool.is_used_up(socket) {
            self.leave_at_limit(socket, sockets);
        }
    }

    /// Waiting attempts get streams, as many as there are.
    pub(super) fn start_waiting(&mut self, socket: Socket) {
        let mut has_begun = false;
        while let Some(connection) = self.pool.connections.find(socket)
            && let Some(layers) = connection.layers.as_deref_mut()
            && let Some(line) = &mut layers.line
            && line.room() > 0
            && !self.pool.lifetimes.as_ref().is_some_and(|lifetimes| lifetimes.is_used_up(socket))
            && let Some(key) = layers.waiting.pop_front()
        {
            // An attempt that waited too long is gone already.
            let Some(attempt) = self.in_flight.attempts.find(key).filter(|attempt| attempt.socket == socket) else {
                continue;
            };
            let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { continue };
            let step = &self.in_flight.steps[exchange.step as usize];
            let Some(request) = &step.http2 else { continue };
            let call = step.call.as_ref();
            attempt.call = call.map(|call| CallState::new(call.is_stream));
            let ask = ExchangeStart { what: Payload::Fields(request), response: ResponseKind::Response(step.kind) };
            attempt.stream = line.begin(key.to_bits(), ask, Mask::default(), &mut layers.out);
            if call.is_some_and(PreparedCall::is_empty) {
                line.send(attempt.stream, Arc::default(), true, &mut layers.out);
            }
            layers.leaving.push(key);
            if let Some(lifetimes) = &mut self.pool.lifetimes {
                lifetimes.take_request(socket);
            }
            has_begun = true;
        }
        if has_begun {
            self.soil(socket);
        }
    }

    /// Sends all that was framed since the last time.
    #[cold]
    pub(in crate::scenario_runtime) fn flush(&mut self, sockets: &mut dyn Sockets) {
        while let Some(socket) = self.pool.links.dirty.pop() {
            let mut buffer = self.pool.links.buffer();
            let Some(layers) = self.layers(socket) else {
                self.pool.links.give_back(buffer);
                continue;
            };
            layers.is_dirty = false;
            let sealed = match &mut layers.tls {
                Some(session) => session.seal(&layers.out, &mut buffer).map(|()| layers.out.clear()),
                None => {
                    std::mem::swap(&mut layers.out, &mut buffer);
                    Ok(())
                }
            };
            let mut leaving = std::mem::take(&mut layers.leaving);
            if let Err(fault) = sealed {
                self.pool.links.lose_later(socket, fault);
                continue;
            }
            let (sent, begins) = (sockets.now(), self.handed_to(socket));
            self.send_lent(socket, buffer, sockets);
            for key in leaving.drain(..) {
                self.mark_sent(key, sent, begins);
            }
            if let Some(layers) = self.layers(socket) {
                layers.leaving = leaving;
            }
        }
    }

    /// The request is in a piece that was sent, which begins after `begins` bytes.
    pub(super) fn mark_sent(&mut self, key: Key, sent: Nanos, begins: u64) {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return };
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return };
        (attempt.sent, attempt.stream_offset) = (sent, begins);
        let deadline = sent + self.in_flight.steps[exchange.step as usize].timeout;
        self.unreported.counts[Counter::Sent] += u64::from(exchange.is_measured);
        let is_call = attempt.call.is_some();
        self.arm(key, deadline);
        if is_call {
            self.call_sent(key, sent);
        }
    }

    /// More on a stream that was kept open.
    pub(in crate::scenario_runtime) fn send_more(
        &mut self,
        socket: Socket,
        stream: u32,
        bytes: Arc<Vec<u8>>,
        ends: bool,
    ) {
        let Some(layers) = self.layers(socket) else { return };
        if let Some(line) = &mut layers.line {
            line.send(stream, bytes, ends, &mut layers.out);
            self.soil(socket);
        }
    }

    /// The kernel took a buffer: what was held back follows.
    #[inline(never)]
    pub(in crate::scenario_runtime) fn taken(
        &mut self,
        socket: Socket,
        buffer: Option<Vec<u8>>,
        sockets: &mut dyn Sockets,
    ) {
        if let Some(buffer) = buffer {
            self.pool.links.give_back(buffer);
        }
        if self.is_messaging(socket) {
            return self.message_taken(socket, sockets);
        }
        if self.pool.has_unsealed(socket) {
            return self.seal_next(socket, sockets);
        }
        self.resume(socket);
    }

    pub(super) fn resume(&mut self, socket: Socket) {
        let Some(layers) = self.layers(socket) else { return };
        let Some(line) = layers.line.as_mut().filter(|line| line.holds_back()) else { return };
        line.resume(&mut layers.out);
        let (mut framed, is_dirty) = (0, !layers.out.is_empty());
        layers.held.retain(|held| {
            let progress = line.progress(held.stream);
            // A stream that ended before it was framed took its messages with it.
            framed += if progress == Progress::Framed { held.count } else { 0 };
            progress == Progress::HeldBack
        });
        self.unreported.counts[Counter::MessagesSent] += framed;
        if is_dirty {
            self.soil(socket);
        }
    }

    pub(in crate::scenario_runtime) fn is_held_back(&mut self, socket: Socket, stream: u32) -> bool {
        let line = self.layers(socket).and_then(|layers| layers.line.as_mut());
        line.is_some_and(|line| line.holds_back() && line.progress(stream) == Progress::HeldBack)
    }

    pub(in crate::scenario_runtime) fn hold_messages(&mut self, socket: Socket, held: HeldMessages) {
        if let Some(layers) = self.layers(socket) {
            layers.held.push(held);
        }
    }

    /// Bytes came on a connection that is shared.
    pub(in crate::scenario_runtime) fn read_shared(
        &mut self,
        socket: Socket,
        bytes: &mut [u8],
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) {
        if let Some(layers) = self.layers(socket) {
            layers.received_at = at;
        }
        let mut scratch = self.pool.scratch.take().unwrap_or_default();
        let mut from = 0;
        while let Some(connection) = self.pool.connections.find(socket)
            && let Some(layers) = connection.layers.as_deref_mut()
            && let Some(line) = &mut layers.line
        {
            match line.handle(&mut bytes[from..], &mut scratch, Mask::default(), &mut layers.out) {
                Ok((taken, ConnectionEvent::Broken { tag, fault })) => {
                    from += taken;
                    // The error of a head is stored in it.
                    if let Some(attempt) =
                        self.in_flight.attempts.find(Key::from_bits(tag)).filter(|_| fault == http2::Fault::Headers)
                    {
                        attempt.record_fields(PartKind::Head, scratch.fields());
                    }
                    let failure = faults::line(Fault::Http2(fault));
                    self.end_attempt(Key::from_bits(tag), Outcome::Failed(failure), at);
                    self.advance_freed(sockets);
                }
                Ok((taken, said)) => {
                    from += taken;
                    let needs_more = matches!(said, ConnectionEvent::NeedMore);
                    self.handle_shared(socket, &said, at, sockets);
                    self.advance_freed(sockets);
                    if needs_more && from == bytes.len() {
                        break;
                    }
                }
                Err(fault) => {
                    self.record_broken(socket, &bytes[from..]);
                    self.part(socket, faults::line(fault), at, sockets);
                    break;
                }
            }
        }
        self.pool.scratch = Some(scratch);
        self.start_waiting(socket);
        if self.layers(socket).is_some_and(|layers| !layers.out.is_empty()) {
            self.soil(socket);
        }
        self.retire(socket, at, sockets);
    }

    /// The peer has broken the protocol, and is notified before the connection is dropped: a close with bytes unread
    /// would discard that.
    pub(super) fn part(&mut self, socket: Socket, failure: Failure, at: Nanos, sockets: &mut dyn Sockets) {
        self.flush_last(socket, sockets);
        self.unlink(socket);
        let Some(connection) = self.pool.connections.find(socket) else { return };
        let Some(layers) = connection.layers.as_deref_mut() else { return };
        let (streams, waiting) = layers.take_attempts();
        sockets.shutdown(socket);
        self.await_close(socket, at, sockets);
        self.end_streams(streams, None, failure, at, sockets);
        for key in waiting {
            self.retry(key, failure, at, sockets);
            self.advance_freed(sockets);
        }
    }

    pub(super) fn flush_last(&mut self, socket: Socket, sockets: &mut dyn Sockets) {
        self.soil(socket);
        self.flush(sockets);
    }

    #[inline]
    fn handle_shared(&mut self, socket: Socket, said: &ConnectionEvent<'_>, at: Nanos, sockets: &mut dyn Sockets) {
        match *said {
            ConnectionEvent::Room => self.resume(socket),
            ConnectionEvent::Interim { tag, fields, .. } => {
                self.record_first_byte(Key::from_bits(tag), at);
                if let (Some(attempt), Some(fields)) = (self.in_flight.attempts.find(Key::from_bits(tag)), fields) {
                    attempt.record_fields(PartKind::Head, fields);
                }
            }
            ConnectionEvent::Head { tag, head: Head::Fields { status, fields }, is_last } => {
                let key = Key::from_bits(tag);
                self.record_first_byte(key, at);
                let has_room = self.has_room_for_head(key, fields);
                if let Some(attempt) = self.in_flight.attempts.find(key) {
                    attempt.status = Some(status);
                    if attempt.needs.head && !has_room {
                        attempt.kept.get_or_insert_default().is_crowded = true;
                    } else if attempt.needs.head {
                        attempt.keep_fields(status, fields);
                    }
                }
                self.call_head(key, fields, is_last);
                if is_last {
                    self.end_stream(key, at);
                }
            }
            ConnectionEvent::Body { tag, bytes, is_last } => {
                let key = Key::from_bits(tag);
                self.record_first_byte(key, at);
                if !self.take_messages(key, bytes, at) {
                    self.take_body(key, bytes);
                }
                if is_last {
                    self.end_stream(key, at);
                }
            }
            ConnectionEvent::Trailers { tag, fields } => {
                let key = Key::from_bits(tag);
                if let Some(attempt) = self.in_flight.attempts.find(key) {
                    attempt.record_fields(PartKind::Trailers, fields);
                }
                self.call_trailers(key, fields);
                self.end_stream(key, at);
            }
            ConnectionEvent::Reset { tag, code: REFUSED_STREAM } => {
                let failure = Failure::StreamReset(REFUSED_STREAM as u8);
                self.retry(Key::from_bits(tag), failure, at, sockets);
            }
            ConnectionEvent::Reset { tag, code } => {
                let key = Key::from_bits(tag);
                // A server that knows the deadline may abort the call just then.
                let is_due = |attempt: &mut Attempt| at >= attempt.deadline;
                let is_due = code == CANCEL && self.in_flight.attempts.find(key).is_some_and(is_due);
                let expired = if is_due { self.expire_call(key, at) } else { None };
                let reset = Failure::StreamReset(u8::try_from(code).unwrap_or(u8::MAX));
                let ended = expired.or_else(|| self.judge_reset(key, reset));
                self.end_attempt(key, ended.unwrap_or(Outcome::Failed(reset)), at);
            }
            ConnectionEvent::GoAway { last } => self.go_away(socket, last, at, sockets),
            // The other events occur on connections that carry one exchange at a time.
            _ => {}
        }
    }

    pub(in crate::scenario_runtime) fn record_first_byte(&mut self, key: Key, at: Nanos) {
        if let Some(attempt) = self.in_flight.attempts.find(key) {
            attempt.first_byte = attempt.first_byte.min(at);
        }
    }

    /// A response on a stream is complete.
    pub(super) fn end_stream(&mut self, key: Key, now: Nanos) {
        let Some((socket, outcome)) = self.judge(key, now) else { return };
        if let Some(connection) = self.pool.connections.find(socket) {
            let is_first = !std::mem::replace(&mut connection.is_reused, true);
            self.pool.connections.proven += u64::from(is_first);
        }
        if let Some(attempt) = self.in_flight.attempts.find(key) {
            self.pool.links.read_coalescer.record(attempt.first_byte.since(attempt.sent));
        }
        // Each step determines whether its connection is used again.
        let step =
            self.in_flight.attempts.find(key).and_then(|attempt| self.in_flight.exchanges.find(attempt.exchange));
        if step.is_some_and(|exchange| !self.in_flight.steps[exchange.step as usize].keep_alive) {
            self.unlink(socket);
        }
        self.end_attempt(key, outcome, now);
    }
}
