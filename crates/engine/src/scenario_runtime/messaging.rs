//! Exchanges of WebSocket, TCP and custom protocols: one message out, and its response in.
//!
//! The protocol state in the layers of a connection has the negotiated settings and the received part of a response. Constant
//! messages are framed before the run under a few masks that take turns, so that a send is a template. A message that is
//! checked is kept up to the bound of bodies; a compressed one is decompressed in pieces. The opening of a
//! conversation in a scenario file may be dynamic (`open_anew`): once per conversation, by the exchange that opens
//! it. When its connection has been established once (`OpenConversation`), only a retried step opens another one.

mod custom;
mod datagrams;
mod sending;
mod skipped_messages;

use std::sync::Arc;

use driver::{Socket, Sockets, Template};
use metrics::{CLOSE_WITHOUT_CODE, Counter, Failure, Outcome, PartKind, ProtocolFault};
use pacing::{Nanos, Random};
use plan::{Protocol, says_seq};
use wire::connection::{AnyConnection, ConnectionEvent, Fault, Mask, Offer, ProtocolConnection, Stray, Tcp, WebSocket};
use wire::websocket::HandshakeFault;

use custom::CustomResponse;
pub(super) use datagrams::Transport;

use crate::faults;
use crate::messaging::{Expects, PreparedMessaging, Spare};
use crate::scenario_runtime::connections::phase::Phase;
use crate::scenario_runtime::exchanges::step::PreparedStep;
use crate::scenario_runtime::exchanges::transcript::note_of;
use crate::scenario_runtime::{ScenarioConfig, ScenarioRuntime};
use crate::slab::Key;

/// Most unsent bytes of replies to a peer that does not read them.
const UNSENT_MAX: usize = 1024 * 1024;
/// Seed of the masks of small frames; they are no secret. Custom protocols draw IDs from them that a forger must not
/// know, and mix in what differs between two runs.
const SEED: u64 = 0x6d61_736b;

/// State of a shard for conversations.
pub(super) struct MessagingState {
    /// Frames of each step.
    templates: Vec<Vec<Template>>,
    turn: usize,
    connections: u64,
    random: Random,
    /// The compressor of dynamic messages.
    spare: Spare,
}

impl MessagingState {
    pub(super) fn new(work: &ScenarioConfig, sockets: &mut dyn Sockets) -> Self {
        let mut of_step = |messaging: &PreparedMessaging| {
            messaging.all_frames().map(|frame| sockets.register(frame.clone())).collect()
        };
        let templates =
            work.steps.iter().map(|step| step.messaging.as_deref().map(&mut of_step).unwrap_or_default()).collect();
        let is_custom = work.origins.iter().any(|origin| origin.protocol() == Protocol::Custom);
        let own = if is_custom { work.seed.unwrap_or_else(|| sockets.entropy()) } else { 0 };
        let random = Random::for_stream(SEED ^ own, work.segment.nth(0));
        Self { templates, turn: 0, connections: 0, random, spare: Spare::default() }
    }

    /// A mask for the next outgoing frame.
    pub(super) fn mask(&mut self) -> Mask {
        (self.random.next_u64() as u32).to_le_bytes()
    }
}

/// What ends reading.
enum End {
    /// Nothing more of it is read.
    Over,
    /// The peer broke the rules.
    Fault(Fault),
    /// The connection cannot go on.
    Lost(Failure),
    /// The peer ends the conversation.
    Close { code: u16, reason: String },
}

/// The sequence number of a numbered message.
fn seq_of(user: u32, number: u32) -> String {
    format!("{user}_{number}")
}

impl ScenarioRuntime {
    /// The protocol of a connection.
    pub(super) fn protocol_of(&mut self, socket: Socket) -> Option<Protocol> {
        let origin = self.pool.connections.find(socket)?.origin;
        Some(self.pool.origins[usize::from(origin)].protocol())
    }

    /// The origin of a connection.
    pub(super) fn origin_of(&mut self, socket: Socket) -> u16 {
        self.pool.connections.find(socket).map_or(0, |connection| connection.origin)
    }

    /// Whether messages of WebSocket, TCP or a custom protocol are exchanged on it.
    pub(super) fn is_messaging(&mut self, socket: Socket) -> bool {
        matches!(self.protocol_of(socket), Some(Protocol::WebSocket | Protocol::Tcp | Protocol::Custom))
    }

    /// The offer that opens the conversation on a connection.
    fn opening_of<'a>(&mut self, socket: Socket, steps: &'a [PreparedStep]) -> Option<&'a PreparedMessaging> {
        let origin = self.pool.connections.find(socket)?.origin;
        steps[self.pool.origins[usize::from(origin)].opens_with? as usize].messaging.as_deref()
    }

    /// The same by the request that was made for the exchange which opens it.
    fn made_offer(&mut self, socket: Socket) -> Option<Arc<Offer>> {
        let Phase::Connect { attempt, .. } = self.pool.connections.find(socket)?.phase else { return None };
        let exchange = self.in_flight.attempts.find(attempt)?.exchange;
        let step = self.in_flight.exchanges.find(exchange)?.step;
        let step = &self.in_flight.steps[step as usize];
        let made = step.made.as_deref().filter(|made| !made.path.is_empty())?;
        Some(step.messaging.as_ref()?.offer_of(made))
    }

    /// Begins the protocol on an established connection of messages. False when there is no handshake left to make.
    pub(super) fn begin_messaging(&mut self, socket: Socket, sockets: &mut dyn Sockets) -> bool {
        let protocol = self.protocol_of(socket);
        let steps = self.work.steps.clone();
        let messaging = self.opening_of(socket, &steps);
        let mut line = match (protocol, messaging) {
            (Some(Protocol::WebSocket), Some(messaging)) => {
                let number = self.work.segment.nth(self.pool.messaging.connections);
                let offer = self.made_offer(socket).unwrap_or_else(|| messaging.offer.clone());
                AnyConnection::WebSocket(Box::new(WebSocket::new(offer, PreparedMessaging::key(number))))
            }
            (Some(Protocol::Custom), Some(PreparedMessaging { custom: Some(custom), .. })) => {
                let number = self.work.segment.nth(self.pool.messaging.connections);
                AnyConnection::Custom(self.connect_custom(socket, &*custom.request, number))
            }
            (Some(Protocol::Tcp), _) => {
                AnyConnection::Tcp(Tcp::new(messaging.and_then(|messaging| messaging.expects.framing()).cloned()))
            }
            _ => return false,
        };
        self.pool.messaging.connections += 1;
        let mut opening = Vec::new();
        line.start(&mut opening);
        // A WebSocket, and a custom protocol with a login, is ready when its peer says so.
        let is_waiting = line.room() == 0;
        if let Some(layers) = self.layers(socket) {
            layers.line = Some(line);
        }
        if opening.is_empty() {
            return is_waiting;
        }
        if self.in_flight.records {
            let shown = self.without_password(socket, &opening);
            self.record_on(socket, true, PartKind::Head, &shown);
        }
        self.send_through(socket, opening, sockets);
        is_waiting
    }

    /// The kernel has taken a message without a response.
    #[cold]
    pub(super) fn message_taken(&mut self, socket: Socket, sockets: &mut dyn Sockets) {
        if sockets.unsent(socket) > 0 {
            return;
        }
        let Some(Phase::Response { attempt }) = self.pool.connections.find(socket).map(|connection| connection.phase)
        else {
            return;
        };
        let was_sent = self.in_flight.attempts.find(attempt).is_some_and(|attempt| attempt.was_sent());
        if was_sent && matches!(self.expects(attempt), Some(Expects::Nothing)) {
            let now = sockets.now();
            self.end_message(attempt, Outcome::Succeeded, true, now, sockets);
        }
    }

    fn expects(&mut self, key: Key) -> Option<&Expects> {
        let attempt = self.in_flight.attempts.find(key)?;
        let exchange = self.in_flight.exchanges.find(attempt.exchange)?;
        self.in_flight.steps[exchange.step as usize].messaging.as_deref().map(|messaging| &messaging.expects)
    }

    /// Bytes on a connection of messages.
    #[cold]
    pub(super) fn converse(&mut self, socket: Socket, bytes: &mut [u8], at: Nanos, sockets: &mut dyn Sockets) {
        let Some(from) = self.agree(socket, bytes, at, sockets) else { return };
        if bytes.is_empty() {
            // Only a datagram may be empty, and none of ours has such a response.
            self.count_stray(Stray::Unmatched, at);
        }
        let (mask, mut scratch) = (self.pool.messaging.mask(), self.pool.scratch.take().unwrap_or_default());
        let (mut from, mut end) = (from, None);
        while end.is_none()
            && let Some(connection) = self.pool.connections.find(socket)
            && connection.phase != Phase::Close
            && let Some(layers) = connection.layers.as_deref_mut()
            && let Some(line) = &mut layers.line
        {
            let length = bytes.len();
            match line.handle(&mut bytes[from..], &mut scratch, mask, &mut layers.out) {
                Ok((_, ConnectionEvent::NeedMore)) => break,
                Ok((taken, said)) => {
                    from += taken;
                    if self.in_flight.records
                        && let Some((kind, bytes)) = note_of(&said)
                    {
                        self.record_on(socket, false, kind, &bytes);
                    }
                    end = self.handle_alone(socket, &said, from == length, at, sockets);
                    self.advance_freed(sockets);
                }
                Err(fault) => {
                    if self.in_flight.records && fault.was_reported() {
                        self.record_on(socket, false, PartKind::Raw, &bytes[from..]);
                    }
                    end = Some(End::Fault(fault));
                }
            }
        }
        self.pool.scratch = Some(scratch);
        self.response_back(socket, end, at, sockets);
    }

    /// Handles the handshake: until it is complete, nothing else comes. Returns how many bytes that took; `None` when
    /// nothing after them is to be read.
    fn agree(&mut self, socket: Socket, bytes: &mut [u8], at: Nanos, sockets: &mut dyn Sockets) -> Option<usize> {
        let connection = self.pool.connections.find(socket)?;
        if !matches!(connection.phase, Phase::Connect { .. } | Phase::Prepare { .. }) {
            return Some(0);
        }
        let (layers, scratch) = (connection.layers.as_deref_mut()?, self.pool.scratch.as_mut()?);
        let (line, mut from) = (layers.line.as_mut()?, 0);
        let read = loop {
            match line.handle(&mut bytes[from..], scratch, Mask::default(), &mut layers.out) {
                Ok((taken, ConnectionEvent::Nothing)) => from += taken,
                Ok((taken, said)) => break Ok((from + taken, matches!(said, ConnectionEvent::Ready))),
                Err(fault) => break Err(fault),
            }
        };
        let out = std::mem::take(&mut layers.out);
        if !out.is_empty() && !self.send_through(socket, out, sockets) {
            return None;
        }
        if self.in_flight.records
            && let Some(attempt) = self.recorded_on(socket)
        {
            attempt.keep_head(&bytes[..read.map_or(bytes.len(), |(taken, _)| taken)]);
        }
        match read {
            Ok((_, false)) => None,
            Ok((taken, true)) => {
                self.ready_alone(socket, at, sockets);
                (taken < bytes.len()).then_some(taken)
            }
            Err(fault) => {
                if let Fault::Handshake(HandshakeFault::Status(status)) = fault
                    && let Some(count) = self.unreported.counts.statuses.get_mut(usize::from(status))
                {
                    *count += 1;
                }
                let failure = self.failure_of(socket, fault);
                self.lose_connection(socket, failure, at, sockets);
                None
            }
        }
    }

    /// Handles an event of a connection that carries one exchange at a time. `is_clean`: nothing came after it. Returns
    /// what ends reading, if anything does.
    fn handle_alone(
        &mut self,
        socket: Socket,
        said: &ConnectionEvent<'_>,
        is_clean: bool,
        at: Nanos,
        sockets: &mut dyn Sockets,
    ) -> Option<End> {
        match *said {
            ConnectionEvent::Message { .. } | ConnectionEvent::Pong => self.handle_message(socket, said, at, sockets),
            ConnectionEvent::Close { code, reason } => {
                return Some(End::Close { code: code.unwrap_or(CLOSE_WITHOUT_CODE), reason: reason.to_owned() });
            }
            ConnectionEvent::Body { bytes, is_last, .. } => {
                let phase = self.pool.connections.find(socket)?.phase;
                let Phase::Response { attempt } = phase else { return self.handle_unasked(socket, phase, sockets) };
                if self.is_before_message(socket) {
                    return Some(self.handle_early());
                }
                self.record_first_byte(attempt, at);
                self.take_body(attempt, bytes);
                if is_last {
                    self.unreported.counts[Counter::MessagesReceived] += u64::from(at >= self.instants.measured_from);
                    let outcome = self.judge_response(attempt);
                    if self.passes_over(attempt, outcome) {
                        return None;
                    }
                    // What follows a response could not be told apart from the next one.
                    self.end_message(attempt, outcome, is_clean, at, sockets);
                    return Some(End::Over);
                }
            }
            ConnectionEvent::Response { status, is_success, bytes, .. } => {
                return self.handle_custom(socket, CustomResponse { status, is_success, bytes }, at, sockets);
            }
            ConnectionEvent::Unframed(_) => {
                let phase = self.pool.connections.find(socket)?.phase;
                let steps = self.work.steps.clone();
                let is_deaf = |messaging: &PreparedMessaging| matches!(messaging.expects, Expects::Nothing);
                if !self.opening_of(socket, &steps).is_some_and(is_deaf) {
                    return self.handle_unasked(socket, phase, sockets);
                }
            }
            ConnectionEvent::Stray(stray) => self.count_stray(stray, at),
            ConnectionEvent::OverStream { .. } => self.go_over_stream(socket, at, sockets),
            // The other events are for HTTP.
            _ => {}
        }
        None
    }

    /// These bytes were not requested: what follows them could not be told apart from a response.
    #[cold]
    fn handle_unasked(&mut self, socket: Socket, phase: Phase, sockets: &mut dyn Sockets) -> Option<End> {
        if let Phase::Idle { user } = phase {
            let origin = self.origin_of(socket);
            self.forget_own(user, origin, socket);
            self.unreported.counts[Counter::Unsolicited] += 1;
            self.close(socket, sockets);
        }
        Some(End::Over)
    }

    /// A message, ping or pong: the response of the attempt that has the connection, when it awaits that, and had sent
    /// its message before this came.
    fn handle_message(&mut self, socket: Socket, said: &ConnectionEvent<'_>, at: Nanos, sockets: &mut dyn Sockets) {
        let is_measured = u64::from(at >= self.instants.measured_from);
        let mut is_message = 0;
        if let ConnectionEvent::Message { length, .. } = said {
            is_message = is_measured;
            self.unreported.counts[Counter::BodyBytes] += length;
            self.unreported.counts[Counter::MessagesReceived] += is_measured;
        }
        let phase = self.pool.connections.find(socket).map(|connection| connection.phase);
        let is_early = self.is_before_message(socket);
        let Some(Phase::Response { attempt }) = phase.filter(|_| !is_early) else {
            self.unreported.counts[Counter::UnsolicitedMessages] += is_message;
            return;
        };
        let outcome = match (said, self.expects(attempt)) {
            (ConnectionEvent::Pong, Some(Expects::Pong)) => {
                self.unreported.counts[Counter::MessagesReceived] += is_measured;
                Outcome::Succeeded
            }
            (ConnectionEvent::Message { .. }, Some(Expects::Custom { .. })) => {
                self.unreported.counts[Counter::UnsolicitedMessages] += is_message;
                return;
            }
            (ConnectionEvent::Message { bytes, is_cut, length, .. }, Some(Expects::Message)) => {
                self.judge_message(attempt, bytes, *length, *is_cut)
            }
            _ => return,
        };
        if !self.passes_over(attempt, outcome) {
            self.end_message(attempt, outcome, true, at, sockets);
        }
    }

    /// The outcome, by the plan, of a message that is a response.
    fn judge_message(&mut self, key: Key, bytes: &[u8], length: u64, is_cut: bool) -> Outcome {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return Outcome::Succeeded };
        attempt.body_bytes = u32::try_from(length).unwrap_or(u32::MAX);
        let number = attempt.stream;
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return Outcome::Succeeded };
        let step = &self.in_flight.steps[exchange.step as usize];
        let Some(messaging) = &step.messaging else { return Outcome::Succeeded };
        if !is_cut && step.takes_body {
            attempt.kept.get_or_insert_default().keep(bytes, attempt.needs.body as usize);
        }
        if is_cut {
            return if messaging.is_checked { Outcome::Failed(Failure::BodyLimit) } else { Outcome::Succeeded };
        }
        let is_its_own = !messaging.is_numbered || says_seq(bytes, &seq_of(exchange.user, number));
        if is_its_own && step.accepts(bytes) { Outcome::Succeeded } else { Outcome::Failed(Failure::Check) }
    }

    /// All that came was read: sends the replies of the protocol itself, and drops the connection when its peer ended
    /// it or broke its rules.
    fn response_back(&mut self, socket: Socket, end: Option<End>, at: Nanos, sockets: &mut dyn Sockets) {
        let Some(connection) = self.pool.connections.find(socket).filter(|one| one.phase != Phase::Close) else {
            return;
        };
        let phase = connection.phase;
        let Some(layers) = connection.layers.as_deref_mut() else { return };
        let is_websocket = matches!(layers.line, Some(AnyConnection::WebSocket(_)));
        let out = std::mem::take(&mut layers.out);
        if !out.is_empty() && !self.send_through(socket, out, sockets) {
            return;
        }
        if is_websocket && self.unread_responses(socket, sockets) > UNSENT_MAX {
            // It sends requests and does not read.
            let failure = Failure::Protocol(ProtocolFault::WebSocketFlood);
            return self.lose_connection(socket, failure, at, sockets);
        }
        match end {
            None | Some(End::Over) => {}
            // The peer is notified before the connection is dropped.
            Some(End::Fault(fault)) if fault.was_reported() => {
                self.close_behind_peer(socket, faults::line(fault), "", at, sockets)
            }
            Some(End::Fault(fault)) => {
                if let Phase::Response { attempt } = phase {
                    self.record_first_byte(attempt, at);
                }
                let failure = self.failure_of(socket, fault);
                if self.is_datagram(socket) {
                    return self.end_faulty(socket, failure, at, sockets);
                }
                self.lose_connection(socket, failure, at, sockets);
            }
            Some(End::Lost(failure)) => self.lose_connection(socket, failure, at, sockets),
            Some(End::Close { code, reason }) => {
                if at >= self.instants.measured_from {
                    *self.unreported.counts.closes.entry(code).or_default() += 1;
                    let said = self.work.secrets.hide(&reason);
                    self.unreported.learn_text(usize::from(code), &said);
                }
                self.close_behind_peer(socket, Failure::WebSocketClose(code), &reason, at, sockets);
            }
        }
    }

    fn judge_response(&mut self, key: Key) -> Outcome {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return Outcome::Succeeded };
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return Outcome::Succeeded };
        let checks = &self.in_flight.steps[exchange.step as usize].checks;
        if checks.checks_more { checks.response_outcome(attempt.kept.as_deref_mut()) } else { Outcome::Succeeded }
    }

    /// The exchange is over; its connection waits for the next one, unless each has its own. `is_clean`: nothing came
    /// after the response.
    fn end_message(&mut self, key: Key, outcome: Outcome, is_clean: bool, now: Nanos, sockets: &mut dyn Sockets) {
        let Some(attempt) = self.in_flight.attempts.find(key) else { return };
        attempt.first_byte = attempt.first_byte.min(now);
        let socket = attempt.socket;
        let Some(exchange) = self.in_flight.exchanges.find(attempt.exchange) else { return };
        let (user, step, is_measured) = (exchange.user, exchange.step as usize, exchange.is_measured);
        self.unreported.counts[Counter::Responses] += u64::from(is_measured);
        let peer_closed_tls = self.pool.connections.find(socket).is_some_and(|connection| connection.peer_closed_tls());
        if !is_clean {
            self.unreported.counts[Counter::Unsolicited] += 1;
            self.close(socket, sockets);
        } else if self.in_flight.steps[step].keep_alive && !peer_closed_tls && self.stays_for_next(socket) {
            if let Some(connection) = self.pool.connections.find(socket) {
                connection.phase = Phase::Idle { user };
                let is_first = !std::mem::replace(&mut connection.is_reused, true);
                self.pool.connections.proven += u64::from(is_first);
            }
            let origin = self.origin_of(socket);
            self.keep_own(user, origin, socket);
        } else {
            self.say_goodbye(socket, now, sockets);
        }
        self.end_attempt(key, outcome, now);
    }
}
