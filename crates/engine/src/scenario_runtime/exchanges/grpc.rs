//! Calls of gRPC: messages on a stream, each timed, and a status at the end.
//!
//! A call is an exchange on a stream. Its messages are framed once (`exchanges/step/call.rs`); later ones have entries
//! in the timer wheel. The attempt holds a `CallState`: the response as a machine (`wire::grpc::Response`), and the instants
//! of messages where the method has a stream. Each compressed message is decompressed as it arrives, and some are
//! checked against the `Shape` of their type (`grpc/inspection.rs`), by machines that belong to the shard and keep
//! nothing of a message. When the flags name no file, the command line asks the target for its services first
//! (`Draft::reflection`, `engine::describe`) and makes the plan with the result (`Draft::plan_with`); the plan itself
//! starts nothing.

mod inspection;
mod judging;

use std::cell::Cell;

use driver::Socket;
use metrics::{Counter, Distribution, Snapshot};
use pacing::Nanos;
use wire::grpc::{self, MessagePiece, Response, ResponseFault};
use wire::hpack::FieldList;

pub(in crate::scenario_runtime) use self::inspection::Inspection;
use self::inspection::Inspector;
use crate::scenario_runtime::exchanges::captured_response::CapturedResponse;
use crate::scenario_runtime::exchanges::step::{PreparedCall, PreparedStep};
use crate::scenario_runtime::exchanges::transcript::Records;
use crate::scenario_runtime::{ScenarioRuntime, TimerEntry};
use crate::slab::Key;

/// State of a call in progress.
#[derive(Default)]
pub(in crate::scenario_runtime) struct CallState {
    response: Response,
    /// When the next message is due; never, when there is none.
    next_message: Nanos,
    /// For a stream of messages only.
    times: Option<Box<Times>>,
    /// The inspector of the message being received, if there is one.
    inspector: Option<Box<Inspector>>,
}

/// The instants of messages.
#[derive(Default)]
struct Times {
    /// When each message was sent that left on its own, after those that left with the head.
    sent: Vec<Nanos>,
    last_received: Option<Nanos>,
}

/// Messages of a stream that flow control holds back.
pub(in crate::scenario_runtime) struct HeldMessages {
    pub(in crate::scenario_runtime) stream: u32,
    pub(in crate::scenario_runtime) count: u64,
}

/// Records when a message came: since the message that it answers was sent, or else since the last one came.
fn record_message_time(unreported: &mut Snapshot, sent: Option<Nanos>, last: Option<Nanos>, at: Nanos) {
    match (sent, last) {
        (Some(sent), _) => unreported.message.record(at.since(sent).0),
        (None, Some(last)) => unreported.message_gap.record(at.since(last).0),
        (None, None) => {}
    }
}

impl CallState {
    pub(in crate::scenario_runtime) fn new(is_stream: bool) -> Self {
        Self { times: is_stream.then(Box::default), next_message: Nanos::NEVER, ..Self::default() }
    }

    /// A message of a response begins: it is unzipped, and compared with its type, where that is possible.
    fn begin_inspection(&mut self, inspection: &mut Inspection, is_compressed: bool, has_type: bool) {
        let unzips = is_compressed && self.response.is_gzipped();
        self.inspector = inspection.begin(unzips, has_type && (unzips || !is_compressed));
    }

    /// A message of a response is complete.
    fn end_inspection(&mut self, inspection: &mut Inspection) {
        if let Some(inspector) = self.inspector.take()
            && let Err(fault) = inspection.end(inspector)
        {
            self.response.blame(fault);
        }
    }

    /// Whether the response is one of gRPC.
    pub(in crate::scenario_runtime) fn is_grpc(&self) -> bool {
        self.response.is_grpc()
    }

    /// The call timed out: the responses still missing had been awaited that long.
    fn give_up_messages(&self, step: &PreparedStep, first_sent: Nanos, now: Nanos, incomplete: &mut Distribution) {
        let (Some(times), Some(call)) = (&self.times, &step.call) else { return };
        let count = if call.responses_stream { call.first_count + times.sent.len() as u64 } else { 1 };
        for number in self.response.received() + 1..=count {
            if let Some(sent) = times.since(number, call, first_sent) {
                incomplete.record(now.since(sent).0);
            }
        }
    }
}

impl ScenarioRuntime {
    /// The head of a response to a call.
    pub(in crate::scenario_runtime) fn call_head(&mut self, key: Key, fields: &FieldList, is_last: bool) {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return };
        let Some(call) = attempt.call.as_mut() else { return };
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return };
        let Some(prepared) = &self.in_flight.steps[exchange.step as usize].call else { return };
        call.response.head(fields, prepared.offered());
        if is_last {
            self.call_status(key, fields);
        }
    }

    /// How many times its length a message may have when it is kept. `None` when this is no call.
    fn growth_most(&mut self, key: Key) -> Option<usize> {
        let call = self.in_flight.attempts.find(key)?.call.as_ref()?;
        // Compressed messages may grow.
        Some(if call.response.is_gzipped() { grpc::UNZIP_GROWTH_MAX } else { 1 })
    }

    /// Bytes of messages: each message is counted, timed and inspected, and kept as far as the checks need it. False
    /// when this is no call.
    pub(in crate::scenario_runtime) fn take_messages(&mut self, key: Key, bytes: &[u8], at: Nanos) -> bool {
        let Some(growth) = self.growth_most(key) else { return false };
        let room_left = self.kept_room(key, bytes.len().saturating_mul(growth));
        let Some(attempt) = self.in_flight.attempts.find(key) else { return false };
        let Some(mut call) = attempt.call.as_mut() else { return false };
        self.unreported.counts[Counter::BodyBytes] += bytes.len() as u64;
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return true };
        let step = &self.in_flight.steps[exchange.step as usize];
        let Some(prepared) = &step.call else { return true };
        if !call.response.is_grpc() {
            attempt.keep_within(bytes, room_left);
            return true;
        }
        let (shape, room) = (prepared.response.as_deref(), attempt.needs.body as usize);
        let carried = Cell::new(0usize);
        let keep = |kept: &mut Option<Box<CapturedResponse>>, bytes: &[u8]| {
            if room > 0 {
                carried.set(carried.get() + bytes.len());
                kept.get_or_insert_default().keep_within(bytes, room, room_left);
            }
        };
        let mut rest = bytes;
        while !call.response.is_broken() {
            let (taken, piece) = match call.response.handle(rest, room > 0) {
                Ok(handled) => handled,
                Err(ResponseFault::Flag) => {
                    attempt.record_unread(rest);
                    break;
                }
                Err(_) => break,
            };
            rest = &rest[taken..];
            match piece {
                MessagePiece::NeedMore => break,
                MessagePiece::Begun { is_compressed, .. } => {
                    call.begin_inspection(&mut self.in_flight.inspection, is_compressed, shape.is_some());
                }
                MessagePiece::Bytes(bytes) => match &mut call.inspector {
                    None => keep(&mut attempt.kept, bytes),
                    Some(inspector) => {
                        let kept = &mut attempt.kept;
                        let mut keep = |bytes: &[u8]| keep(kept, bytes);
                        if let Err(fault) = self.in_flight.inspection.feed(inspector, shape, bytes, &mut keep) {
                            call.response.blame(fault);
                        }
                    }
                },
                MessagePiece::End => {
                    call.end_inspection(&mut self.in_flight.inspection);
                    if attempt.needs.records != Records::Nothing {
                        attempt.record_message();
                        let Some(kept) = attempt.call.as_mut() else { break };
                        call = kept;
                    }
                    if step.reads_messages {
                        attempt.kept.get_or_insert_default().end_message();
                    }
                    self.unreported.counts[Counter::MessagesReceived] += u64::from(exchange.is_measured);
                    if let Some(times) = &mut call.times {
                        let since = times.since(call.response.received(), prepared, attempt.sent);
                        let last = times.last_received.replace(at);
                        if exchange.is_measured {
                            record_message_time(&mut self.unreported, since, last, at);
                        }
                    }
                }
            }
        }
        attempt.body_bytes = attempt.body_bytes.saturating_add(carried.get() as u32);
        true
    }

    /// The attempt at this position may have a message to send, which leaves at the end of this turn.
    pub(in crate::scenario_runtime) fn message_due(&mut self, index: u32, now: Nanos) {
        let armed = &mut self.in_flight.armed_messages[index as usize];
        if *armed > now {
            // An entry that an earlier one has replaced.
            return;
        }
        *armed = Nanos::NEVER;
        let Some((key, attempt)) = self.in_flight.attempts.at_index(index) else { return };
        let (socket, stream, base, exchange) = (attempt.socket, attempt.stream, attempt.sent, attempt.exchange);
        let Some(state) = attempt.call.as_mut() else { return };
        if state.next_message > now {
            return self.arm_message(key);
        }
        state.next_message = Nanos::NEVER;
        let Some(step) = self.in_flight.exchanges.find(exchange).map(|exchange| exchange.step) else { return };
        let (Some(times), Some(call)) = (&mut state.times, &self.in_flight.steps[step as usize].call) else { return };
        let Some(message) = call.later.get(times.sent.len()).cloned() else { return };
        times.sent.push(now);
        let count = times.sent.len();
        let ends = count == call.later.len();
        if !ends {
            // The messages keep their schedule, also when one is late.
            state.next_message = base + Nanos(call.interval.0 * (count as u64 + 1));
        }
        if self.in_flight.records
            && let Some(attempt) = self.in_flight.attempts.find(key)
        {
            attempt.record_framed(&message);
        }
        self.send_more(socket, stream, message, ends);
        self.count_messages(key, socket, stream, 1);
        self.arm_message(key);
    }

    /// As with deadlines, a position owns one timer entry, which is re-armed when it fires.
    fn arm_message(&mut self, key: Key) {
        let Some(next) =
            self.in_flight.attempts.find(key).and_then(|attempt| Some(attempt.call.as_ref()?.next_message))
        else {
            return;
        };
        let index = key.index as usize;
        if index >= self.in_flight.armed_messages.len() {
            self.in_flight.armed_messages.resize(index + 1, Nanos::NEVER);
        }
        if next < self.in_flight.armed_messages[index] {
            self.in_flight.armed_messages[index] = next;
            self.timers.insert(next, TimerEntry::Message(key.index));
        }
    }

    /// Counts messages of an attempt that are framed, or will be when flow control lets them.
    fn count_messages(&mut self, key: Key, socket: Socket, stream: u32, count: u64) {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return };
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return };
        // Each counts once, however often its exchange is tried.
        if !exchange.is_measured || exchange.tries > 0 {
            return;
        }
        if self.is_held_back(socket, stream) {
            self.hold_messages(socket, HeldMessages { stream, count });
        } else {
            self.unreported.counts[Counter::MessagesSent] += count;
        }
    }

    /// The first bytes of a call have left: the messages that follow are scheduled from then.
    pub(in crate::scenario_runtime) fn call_sent(&mut self, key: Key, sent: Nanos) {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return };
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return };
        let Some(call) = &self.in_flight.steps[exchange.step as usize].call else { return };
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
}

impl Times {
    /// When the message was sent that the `number`-th response is for; `None` when there are more responses than
    /// messages.
    fn since(&self, number: u64, call: &PreparedCall, first_sent: Nanos) -> Option<Nanos> {
        let count = call.first_count + self.sent.len() as u64;
        // The only response is for all messages, and comes after the last.
        let number = if call.responses_stream { number } else { count.max(1) - 1 + number };
        if number > count {
            return None;
        }
        match number.checked_sub(call.first_count + 1) {
            None => Some(first_sent),
            Some(place) => self.sent.get(place as usize).copied(),
        }
    }
}
