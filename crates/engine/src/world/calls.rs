//! Calls of gRPC: messages on a stream, each timed, and a status at the end.

use driver::Socket;
use metrics::{Distribution, Failure, Outcome, ProtocolFault};
use pacing::Nanos;
use wire::grpc::{self, Messages, Piece, Status, Unzipped};
use wire::hpack::FieldList;

use super::layers::Held;
use super::record::Records;
use super::samples::KeptBody;
use super::step::{PreparedCall, PreparedStep};
use super::{Deadline, World};
use crate::slab::Key;

/// What is known of a call while it lasts.
#[derive(Default)]
pub(super) struct CallState {
    reader: Messages,
    /// The message that comes is compressed.
    is_compressed: bool,
    /// Messages may be compressed.
    may_compress: bool,
    received: u64,
    status: Option<Status>,
    fault: Option<ProtocolFault>,
    /// When the next message is to leave; never, when there is none.
    next_message: Nanos,
    /// Of a stream of messages only.
    times: Option<Box<Times>>,
    /// Bytes of a compressed message, for the checks.
    zipped: Vec<u8>,
}

/// The instants of messages.
#[derive(Default)]
struct Times {
    /// When each message was sent that left on its own, behind those that left with the head.
    sent: Vec<Nanos>,
    last_received: Option<Nanos>,
}

impl CallState {
    pub(super) fn new(is_stream: bool) -> Self {
        Self { times: is_stream.then(Box::default), next_message: Nanos::NEVER, ..Self::default() }
    }

    /// The first fault is the one that is told.
    fn blame(&mut self, fault: ProtocolFault) {
        self.fault.get_or_insert(fault);
    }

    /// The answer says that it is of gRPC.
    pub(super) fn is_of_type(&self) -> bool {
        self.fault != Some(ProtocolFault::ContentType)
    }

    fn head(&mut self, fields: &FieldList) {
        if !fields.find(b"content-type").is_some_and(grpc::is_content_type) {
            self.blame(ProtocolFault::ContentType);
        }
        self.may_compress = fields.find(b"grpc-encoding").is_some_and(|value| value != b"identity");
    }

    /// The call timed out: what it still waited for had waited so long.
    fn give_up_messages(&self, step: &PreparedStep, first_sent: Nanos, now: Nanos, given_up: &mut Distribution) {
        let (Some(times), Some(call)) = (&self.times, &step.call) else { return };
        let count = if call.answers_stream { call.first_count + times.sent.len() as u64 } else { 1 };
        for number in self.received + 1..=count {
            if let Some(sent) = times.since(number, call, first_sent) {
                given_up.record(now.since(sent).0);
            }
        }
    }

    /// What the plan says of a call that is over.
    fn outcome(&self, http_status: u16, kept: Option<&mut KeptBody>, step: &PreparedStep) -> Outcome {
        let answers_stream = step.call.as_ref().is_some_and(|call| call.answers_stream);
        let is_cut = !self.reader.is_between();
        let is_ok = self.status == Some(Status::OK);
        Outcome::Failed(match (self.status, self.fault) {
            _ if http_status != 200 => Failure::Status,
            (_, Some(fault)) => Failure::Protocol(fault),
            (None, None) => Failure::Protocol(ProtocolFault::NoGrpcStatus),
            (Some(status), None) if !step.checks.contains_status(status.index() as u16) => {
                Failure::GrpcStatus(status.index() as u8)
            }
            _ if is_cut => Failure::Protocol(ProtocolFault::MessageCut),
            _ if is_ok && !answers_stream && self.received != 1 => Failure::Protocol(ProtocolFault::MessageCount),
            _ if step.checks.look_further => return step.checks.of_answer(kept),
            _ => return Outcome::Succeeded,
        })
    }
}

impl World {
    /// The head of an answer to a call.
    pub(super) fn call_head(&mut self, key: Key, fields: &FieldList, is_last: bool) {
        let Some(call) = self.attempts.find(key).and_then(|attempt| attempt.call.as_mut()) else { return };
        call.head(fields);
        if is_last {
            self.call_trailers(key, fields);
        }
    }

    /// The fields at the end of an answer to a call.
    pub(super) fn call_trailers(&mut self, key: Key, fields: &FieldList) {
        let Some(call) = self.attempts.find(key).and_then(|attempt| attempt.call.as_mut()) else { return };
        call.status = fields.find(b"grpc-status").and_then(Status::read);
        if let Some(status) = call.status.filter(|status| *status != Status::OK)
            && let Some(message) = fields.find(b"grpc-message")
            && !self.seen.has_heard(status.index())
        {
            self.seen.hear(status.index(), &grpc::percent_decode(message));
        }
    }

    /// Bytes of messages: each is counted and timed, and kept as far as the checks need it. False when this is no call.
    pub(super) fn take_messages(&mut self, key: Key, bytes: &[u8], at: Nanos) -> bool {
        let Some(attempt) = self.attempts.find(key) else { return false };
        if attempt.call.is_none() {
            return false;
        }
        let is_read = !attempt.is_recorded() || !attempt.record_no_message(bytes);
        let Some(mut call) = attempt.call.as_mut() else { return false };
        self.seen.counts.body_bytes += bytes.len() as u64;
        let Some(exchange) = self.exchanges.find(attempt.exchange) else { return true };
        let step = &self.steps[exchange.step as usize];
        let room = attempt.needs.body as usize;
        let mut rest = bytes;
        while call.fault.is_none() {
            let (taken, piece) = match call.reader.handle(rest) {
                Ok(read) => read,
                Err(_) => {
                    call.blame(ProtocolFault::MessageFlag);
                    if is_read {
                        attempt.record_unread(rest);
                    }
                    break;
                }
            };
            rest = &rest[taken..];
            match piece {
                Piece::NeedMore => break,
                Piece::Begun { is_compressed, .. } => {
                    call.is_compressed = is_compressed;
                    if is_compressed && !call.may_compress {
                        call.blame(ProtocolFault::MessageEncoding);
                    }
                }
                Piece::Bytes(_) if room == 0 => {}
                Piece::Bytes(bytes) if call.is_compressed => {
                    if call.zipped.len() + bytes.len() > room {
                        attempt.kept.get_or_insert_default().is_too_large = true;
                    } else {
                        call.zipped.extend_from_slice(bytes);
                    }
                }
                Piece::Bytes(bytes) => attempt.kept.get_or_insert_default().keep(bytes, room),
                Piece::End => {
                    let is_kept = attempt.kept.as_ref().is_none_or(|kept| !kept.is_too_large);
                    if call.is_compressed && room > 0 && is_kept {
                        let zipped = std::mem::take(&mut call.zipped);
                        let kept = attempt.kept.get_or_insert_default();
                        match grpc::gunzip(&zipped, room) {
                            Unzipped::Whole(message) => kept.keep(&message, room),
                            Unzipped::TooLarge(_) => kept.is_too_large = true,
                            Unzipped::Malformed => call.blame(ProtocolFault::MessageEncoding),
                        }
                    }
                    call.received += 1;
                    if attempt.needs.records != Records::Nothing {
                        attempt.record_message();
                        let Some(kept) = attempt.call.as_mut() else { break };
                        call = kept;
                    }
                    if exchange.is_measured {
                        self.seen.counts.messages_received += 1;
                        if let (Some(times), Some(prepared)) = (&mut call.times, &step.call) {
                            let since = times.since(call.received, prepared, attempt.sent);
                            match (since, times.last_received) {
                                (Some(sent), _) => self.seen.message.record(at.since(sent).0),
                                (None, Some(last)) => self.seen.message_gap.record(at.since(last).0),
                                (None, None) => {}
                            }
                            times.last_received = Some(at);
                        }
                    }
                }
            }
        }
        true
    }

    /// The attempt that lives at this position then may have a message to send, which leaves with the end of this turn.
    pub(super) fn message_due(&mut self, index: u32, now: Nanos) {
        let armed = &mut self.armed_messages[index as usize];
        if *armed > now {
            // An entry that was overtaken by an earlier one.
            return;
        }
        *armed = Nanos::NEVER;
        let Some((key, attempt)) = self.attempts.at_index(index) else { return };
        let (socket, stream, base, exchange) = (attempt.socket, attempt.stream, attempt.sent, attempt.exchange);
        let Some(state) = attempt.call.as_mut() else { return };
        if state.next_message > now {
            return self.arm_message(key);
        }
        state.next_message = Nanos::NEVER;
        let Some(step) = self.exchanges.find(exchange).map(|exchange| exchange.step) else { return };
        let (Some(times), Some(call)) = (&mut state.times, &self.steps[step as usize].call) else { return };
        let Some(message) = call.later.get(times.sent.len()).cloned() else { return };
        times.sent.push(now);
        let count = times.sent.len();
        let ends = count == call.later.len();
        if !ends {
            // The messages keep their rhythm, also when one is late.
            state.next_message = base + Nanos(call.interval.0 * (count as u64 + 1));
        }
        if self.records
            && let Some(attempt) = self.attempts.find(key)
        {
            attempt.record_framed(&message);
        }
        self.send_more(socket, stream, message, ends);
        self.count_messages(key, socket, stream, 1);
        self.arm_message(key);
    }

    /// As with deadlines, a position keeps one entry in the wheel, which moves on when it comes out.
    fn arm_message(&mut self, key: Key) {
        let Some(next) = self.attempts.find(key).and_then(|attempt| Some(attempt.call.as_ref()?.next_message)) else {
            return;
        };
        let index = key.index as usize;
        if index >= self.armed_messages.len() {
            self.armed_messages.resize(index + 1, Nanos::NEVER);
        }
        if next < self.armed_messages[index] {
            self.armed_messages[index] = next;
            self.timers.insert(next, Deadline::Message(key.index));
        }
    }

    /// So many messages of an attempt are framed, or are when windows let them.
    fn count_messages(&mut self, key: Key, socket: Socket, stream: u32, count: u64) {
        let Some(attempt) = self.attempts.find(key) else { return };
        let Some(exchange) = self.exchanges.find(attempt.exchange) else { return };
        // Each counts once, however often its exchange is tried.
        if !exchange.is_measured || exchange.tries > 0 {
            return;
        }
        if self.is_held_back(socket, stream) {
            self.hold_messages(socket, Held { stream, count });
        } else {
            self.seen.counts.messages_sent += count;
        }
    }

    /// The first bytes of a call have left: the messages that follow have their time.
    pub(super) fn call_sent(&mut self, key: Key, sent: Nanos) {
        let Some(attempt) = self.attempts.find(key) else { return };
        let Some(exchange) = self.exchanges.find(attempt.exchange) else { return };
        let Some(call) = &self.steps[exchange.step as usize].call else { return };
        if attempt.is_recorded() {
            attempt.record_framed(&call.first);
        }
        let (first_count, interval, has_more) = (call.first_count, call.interval, !call.later.is_empty());
        let (socket, stream) = (attempt.socket, attempt.stream);
        if let Some(state) = attempt.call.as_mut().filter(|_| has_more) {
            state.next_message = sent + interval;
            self.arm_message(key);
        }
        if first_count > 0 {
            self.count_messages(key, socket, stream, first_count);
        }
    }

    /// A call was given up at its deadline: so it ends as its target would end it. Messages without an answer waited at least so long.
    pub(super) fn expire_call(&mut self, key: Key, now: Nanos) -> Option<Outcome> {
        let attempt = self.attempts.find(key)?;
        let call = attempt.call.as_ref()?;
        let exchange = self.exchanges.find(attempt.exchange)?;
        let step = &self.steps[exchange.step as usize];
        let status = Status::DEADLINE_EXCEEDED.index();
        if exchange.is_measured {
            self.seen.counts.grpc_statuses[status] += 1;
            call.give_up_messages(step, attempt.sent, now, &mut self.seen.message_given_up);
        }
        let is_expected = step.checks.contains_status(status as u16);
        Some(if is_expected { Outcome::Succeeded } else { Outcome::Failed(Failure::Timeout) })
    }

    /// A call is over: its status is counted. Gives what the plan says of it.
    pub(super) fn judge_call(&mut self, key: Key, http_status: u16, now: Nanos) -> Option<Outcome> {
        let attempt = self.attempts.find(key)?;
        let call = attempt.call.as_ref()?;
        let exchange = self.exchanges.find(attempt.exchange)?;
        let outcome = call.outcome(http_status, attempt.kept.as_deref_mut(), &self.steps[exchange.step as usize]);
        if let Some(status) = call.status {
            self.seen.counts.grpc_statuses[status.index()] += u64::from(exchange.is_measured);
        }
        // The target was told the deadline, and may be a moment ahead of our own timer.
        let is_late = now >= attempt.deadline;
        let is_timeout = outcome == Outcome::Failed(Failure::GrpcStatus(Status::DEADLINE_EXCEEDED.index() as u8));
        if !is_late || !is_timeout {
            return Some(outcome);
        }
        if exchange.is_measured {
            let step = &self.steps[exchange.step as usize];
            call.give_up_messages(step, attempt.sent, now, &mut self.seen.message_given_up);
        }
        Some(Outcome::Failed(Failure::Timeout))
    }
}

impl Times {
    /// When the message was sent that the `number`-th answer is for; `None` when there are more answers than messages.
    fn since(&self, number: u64, call: &PreparedCall, first_sent: Nanos) -> Option<Nanos> {
        let count = call.first_count + self.sent.len() as u64;
        // The only answer is for all messages, and comes after the last.
        let number = if call.answers_stream { number } else { count.max(1) - 1 + number };
        if number > count {
            return None;
        }
        match number.checked_sub(call.first_count + 1) {
            None => Some(first_sent),
            Some(place) => self.sent.get(place as usize).copied(),
        }
    }
}
