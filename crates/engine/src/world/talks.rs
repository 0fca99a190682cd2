//! Exchanges of WebSocket and TCP: one message out, and its answer in.
//!
//! The connection is a layer as TLS is one: what was agreed on, and what has come of an answer, stay with it.

use driver::{Outgoing, Socket, Sockets, Template};
use metrics::{CLOSE_WITHOUT_CODE, Failure, Outcome, PartKind, ProtocolFault};
use pacing::{Nanos, Random};
use plan::{Protocol, says_seq};
use wire::tcp;
use wire::websocket::{self, Deflate, Heard, Kind, Session, push_message};

use super::connections::Phase;
use super::record::note_of;
use super::{Work, World};
use crate::faults;
use crate::slab::Key;
use crate::talk::{Expects, PreparedTalk};

/// Answers to a peer that does not read them.
const UNSENT_MAX: usize = 1024 * 1024;
/// Where the masks of small frames come from; they are no secret.
const SEED: u64 = 0x6d61_736b;

/// What a connection knows of its conversation.
pub(super) struct TalkState {
    /// Which of all: its key is made from it.
    number: u64,
    /// None until WebSocket is agreed on, and of TCP.
    pub(super) websocket: Option<Session>,
    deflate: Option<Deflate>,
    /// Of an answer to the handshake that came in pieces.
    head: Vec<u8>,
    /// The wait whose events were handled when the last message left.
    sent_in: u64,
    /// At the end of the run the kernel had not taken all of a message that counts.
    pub(super) has_late_message: bool,
    /// Bytes of our close, with what seals them.
    pub(super) close_bytes: u64,
    tcp: tcp::Reader,
}

/// What a shard needs for conversations.
pub(super) struct Talking {
    /// For each step, its frames.
    templates: Vec<Vec<Template>>,
    turn: usize,
    connections: u64,
    scratch: websocket::Scratch,
    random: Random,
}

impl Talking {
    pub(super) fn new<S: Sockets>(work: &Work, sockets: &mut S) -> Self {
        let mut of_step =
            |talk: &PreparedTalk| talk.all_frames().map(|frame| sockets.register(frame.clone())).collect();
        let templates =
            work.steps.iter().map(|step| step.talk.as_deref().map(&mut of_step).unwrap_or_default()).collect();
        let random = Random::of_stream(SEED, work.segment.nth(0));
        Self { templates, turn: 0, connections: 0, scratch: websocket::Scratch::default(), random }
    }

    pub(super) fn mask(&mut self) -> websocket::Mask {
        Some((self.random.next_u64() as u32).to_le_bytes())
    }
}

/// What a conversation brought.
enum News {
    Nothing,
    Pong,
    Message { outcome: Outcome, bytes: u64 },
    Close,
}

/// What a numbered message calls itself.
fn seq_of(user: u32, number: u32) -> String {
    format!("{user}_{number}")
}

impl World {
    pub(super) fn talk_of(&mut self, socket: Socket) -> Option<&mut TalkState> {
        self.layers(socket)?.talk.as_deref_mut()
    }

    /// Asks for WebSocket on a connection that is there. False when nothing is to be agreed on any more.
    pub(super) fn begin_talk<S: Sockets>(&mut self, socket: Socket, sockets: &mut S) -> bool {
        if !self.is_talk {
            return false;
        }
        let number = self.work.segment.nth(self.talk.connections);
        self.talk.connections += 1;
        let state = TalkState {
            number,
            websocket: None,
            deflate: None,
            head: Vec::new(),
            sent_in: 0,
            has_late_message: false,
            close_bytes: 0,
            tcp: tcp::Reader::default(),
        };
        if let Some(layers) = self.layers(socket) {
            layers.talk = Some(Box::new(state));
        }
        let is_ws = self.origins[0].protocol() == Protocol::WebSocket;
        if let Some(talk) = self.work.steps.first().and_then(|step| step.talk.as_deref()).filter(|_| is_ws) {
            let mut opening = Vec::new();
            talk.push_opening(&PreparedTalk::key(number), &mut opening);
            if self.records {
                self.record_on(socket, true, PartKind::Head, &opening);
            }
            self.send_through(socket, opening, sockets);
        }
        is_ws
    }

    #[cold]
    pub(super) fn send_message<S: Sockets>(
        &mut self,
        key: Key,
        socket: Socket,
        step: usize,
        is_measured: bool,
        sockets: &mut S,
    ) {
        let deflate = self.talk_of(socket).and_then(|state| state.deflate);
        let turn = self.talk.turn;
        self.talk.turn = turn.wrapping_add(1);
        let prepared = &self.work.steps[step];
        let Some(talk) = &prepared.talk else { return };
        let Some((bytes, number)) = talk.frame(deflate, turn) else { return };
        if let Some(said) = &talk.said
            && let Some(attempt) = self.attempts.find(key)
        {
            attempt.record(true, said.kind, &said.bytes);
        }
        if talk.is_numbered {
            return self.send_numbered(key, socket, step, is_measured, sockets);
        }
        let (has_answer, timeout) = (!matches!(talk.expects, Expects::Nothing), prepared.timeout);
        let template = number.and_then(|number| self.talk.templates[step].get(number).copied());
        let bytes = bytes.clone();
        let sent = sockets.now();
        if self.origins[0].tls.is_some() {
            let mut copy = self.links.buffer();
            copy.extend_from_slice(&bytes);
            if !self.send_through(socket, copy, sockets) {
                return;
            }
        } else {
            self.count_handed(socket, bytes.len());
            match template {
                Some(template) if has_answer => sockets.send(socket, Outgoing::Template(template, 0..bytes.len())),
                // What has no answer is over when the kernel has taken it, which is told of these.
                _ => sockets.send(socket, Outgoing::Shared(bytes.clone(), 0..bytes.len())),
            }
        }
        self.mark_message(key, socket, sent, timeout, is_measured);
    }

    /// A message has left.
    fn mark_message(&mut self, key: Key, socket: Socket, sent: Nanos, timeout: Nanos, is_measured: bool) {
        let wait = self.waits;
        if let Some(state) = self.talk_of(socket) {
            state.sent_in = wait;
        }
        let Some(attempt) = self.attempts.find(key) else { return };
        attempt.sent = sent;
        self.arm(key, sent + timeout);
        self.seen.counts.sent += u64::from(is_measured);
        self.seen.counts.messages_sent += u64::from(is_measured);
    }

    /// What is told with the events among which a message left had come before it, and is no answer to it.
    fn is_before_message(&mut self, socket: Socket) -> bool {
        let wait = self.waits;
        self.talk_of(socket).is_some_and(|state| state.sent_in == wait)
    }

    /// The run is over: a message of which the kernel has not taken all never left. Of WebSocket this is known when its connection is
    /// closed.
    pub(super) fn count_untaken_message<S: Sockets>(&mut self, key: Key, sockets: &mut S) {
        if !self.is_talk {
            return;
        }
        let Some(attempt) = self.attempts.find(key).filter(|attempt| attempt.was_sent() && attempt.is_measured) else {
            return;
        };
        let (socket, is_late) = (attempt.socket, sockets.unsent(attempt.socket) > 0);
        if self.origins[0].protocol() != Protocol::WebSocket {
            self.seen.counts.messages_untaken += u64::from(is_late);
        } else if let Some(state) = self.talk_of(socket) {
            state.has_late_message = is_late;
        }
    }

    /// A message that says its own number.
    fn send_numbered<S: Sockets>(&mut self, key: Key, socket: Socket, step: usize, is_measured: bool, sockets: &mut S) {
        let (number, timeout) = (self.talk.turn as u32, self.work.steps[step].timeout);
        let Some(exchange) = self.attempts.find(key).map(|attempt| attempt.exchange) else { return };
        let Some(user) = self.exchanges.find(exchange).map(|exchange| exchange.user) else { return };
        let text = format!("{{\"seq\":\"{}\",\"cmd\":\"ping\",\"data\":{{}}}}", seq_of(user, number));
        if self.records {
            self.record_on(socket, true, PartKind::Message, text.as_bytes());
        }
        let mut frame = self.links.buffer();
        push_message(Kind::Text, false, self.talk.mask(), text.as_bytes(), &mut frame);
        let sent = sockets.now();
        if !self.send_through(socket, frame, sockets) {
            return;
        }
        if let Some(attempt) = self.attempts.find(key) {
            attempt.stream = number;
        }
        self.mark_message(key, socket, sent, timeout, is_measured);
    }

    /// The kernel has taken a message to which there is no answer.
    #[cold]
    pub(super) fn message_taken<S: Sockets>(&mut self, socket: Socket, sockets: &mut S) {
        if sockets.unsent(socket) > 0 {
            return;
        }
        let Some(Phase::Answer { attempt }) = self.connections.find(socket).map(|connection| connection.phase) else {
            return;
        };
        let was_sent = self.attempts.find(attempt).is_some_and(|attempt| attempt.was_sent());
        if was_sent && matches!(self.expects(attempt), Some(Expects::Nothing)) {
            let now = sockets.now();
            self.end_message(attempt, Outcome::Succeeded, true, now, sockets);
        }
    }

    fn expects(&mut self, key: Key) -> Option<&Expects> {
        let attempt = self.attempts.find(key)?;
        let exchange = self.exchanges.find(attempt.exchange)?;
        self.work.steps[exchange.step as usize].talk.as_deref().map(|talk| &talk.expects)
    }

    /// Bytes on a connection of WebSocket or TCP.
    #[cold]
    pub(super) fn received_talk<S: Sockets>(&mut self, socket: Socket, bytes: &mut [u8], at: Nanos, sockets: &mut S) {
        let phase = self.connections.find(socket).map(|connection| connection.phase);
        match (self.origins[0].protocol(), phase) {
            (_, None | Some(Phase::Close)) => {}
            (Protocol::Tcp, _) => self.read_stream(socket, bytes, at, sockets),
            (_, Some(Phase::Connect { .. } | Phase::Prepare { .. })) => self.read_opening(socket, bytes, at, sockets),
            _ => self.converse(socket, bytes, at, sockets),
        }
    }

    fn read_opening<S: Sockets>(&mut self, socket: Socket, bytes: &mut [u8], at: Nanos, sockets: &mut S) {
        let steps = self.work.steps.clone();
        let Some(talk) = steps.first().and_then(|step| step.talk.as_deref()) else { return };
        let Some(state) = self.talk_of(socket) else { return };
        let had = state.head.len();
        state.head.extend_from_slice(bytes);
        let read = talk.read_answer(&state.head, &PreparedTalk::key(state.number));
        if self.records {
            let length = read.as_ref().ok().and_then(Option::as_ref).map_or(bytes.len(), |(length, _)| length - had);
            if let Some(attempt) = self.recorded_on(socket) {
                attempt.keep_head(&bytes[..length]);
            }
        }
        let Some(state) = self.talk_of(socket) else { return };
        match read {
            Ok(None) => {}
            Ok(Some((length, deflate))) => {
                state.head = Vec::new();
                (state.deflate, state.websocket) = (deflate, Some(Session::new(talk.terms(deflate))));
                self.ready_for_http1(socket, at, sockets);
                let rest = &mut bytes[length - had..];
                if !rest.is_empty() {
                    self.received_talk(socket, rest, at, sockets);
                }
            }
            Err(fault) => {
                if let websocket::HandshakeFault::Status(status) = fault
                    && let Some(count) = self.seen.counts.statuses.get_mut(usize::from(status))
                {
                    *count += 1;
                }
                self.lose(socket, faults::handshake(fault), at, sockets);
            }
        }
    }

    fn converse<S: Sockets>(&mut self, socket: Socket, bytes: &mut [u8], at: Nanos, sockets: &mut S) {
        let steps = self.work.steps.clone();
        let mask = self.talk.mask();
        let mut rest = bytes;
        let mut out = Vec::new();
        let mut closed = None;
        let mut fault = None;
        while closed.is_none() && fault.is_none() {
            let phase = self.connections.find(socket).map(|connection| connection.phase);
            let step = match phase {
                None | Some(Phase::Close) => break,
                Some(Phase::Answer { attempt }) => {
                    self.attempts.find(attempt).map(|attempt| (attempt.exchange, attempt.stream)).and_then(
                        |(key, number)| {
                            self.exchanges.find(key).map(|exchange| (exchange.step as usize, exchange.user, number))
                        },
                    )
                }
                Some(_) => None,
            };
            let records = self.records;
            let mut noted = None;
            let mut scratch = std::mem::take(&mut self.talk.scratch);
            let Some(session) = self.talk_of(socket).and_then(|state| state.websocket.as_mut()) else { break };
            let news = match session.handle(rest, &mut scratch, mask, &mut out) {
                Ok((_, Heard::NeedMore)) => None,
                Ok((taken, heard)) => Some((taken, {
                    if records {
                        noted = note_of(&heard);
                    }
                    match heard {
                        Heard::NeedMore | Heard::Nothing => News::Nothing,
                        Heard::Pong(_) => News::Pong,
                        Heard::Close { code, reason } => {
                            closed = Some((code.unwrap_or(CLOSE_WITHOUT_CODE), reason.to_owned()));
                            News::Close
                        }
                        Heard::Message { is_cut: true, length, .. } => {
                            let is_looked_at = |(step, ..): (usize, _, _)| {
                                steps[step].talk.as_ref().is_some_and(|talk| talk.is_looked_at)
                            };
                            let failed = Outcome::Failed(Failure::BodyLimit);
                            let outcome = if step.is_some_and(is_looked_at) { failed } else { Outcome::Succeeded };
                            News::Message { outcome, bytes: length }
                        }
                        Heard::Message { bytes, length, .. } => {
                            let is_good = step.is_none_or(|(step, user, number)| {
                                let is_numbered = steps[step].talk.as_ref().is_some_and(|talk| talk.is_numbered);
                                (!is_numbered || says_seq(bytes, &seq_of(user, number))) && steps[step].accepts(bytes)
                            });
                            let failed = Outcome::Failed(Failure::Check);
                            let outcome = if is_good { Outcome::Succeeded } else { failed };
                            News::Message { outcome, bytes: length }
                        }
                    }
                })),
                Err(broken) => {
                    if records {
                        noted = Some((PartKind::Raw, rest.to_vec()));
                    }
                    fault = Some(broken);
                    None
                }
            };
            self.talk.scratch = scratch;
            if let Some((kind, bytes)) = noted {
                self.record_on(socket, false, kind, &bytes);
            }
            let Some((taken, news)) = news else { break };
            rest = &mut rest[taken..];
            self.take_news(phase, &news, at, sockets);
        }
        let is_there = self.connections.find(socket).is_some_and(|connection| connection.phase != Phase::Close);
        if is_there && !out.is_empty() && !self.send_through(socket, out, sockets) {
            return;
        }
        if is_there && sockets.unsent(socket) > UNSENT_MAX {
            // It asks and does not read.
            let failure = Failure::Protocol(ProtocolFault::WebSocketFlood);
            return self.lose(socket, failure, at, sockets);
        }
        if !is_there {
            return;
        }
        // The peer hears so before the connection is left.
        if let Some(fault) = fault {
            self.part_from(socket, faults::websocket(fault), "", at, sockets);
        } else if let Some((code, reason)) = closed {
            if at >= self.measured_from {
                *self.seen.counts.closes.entry(code).or_default() += 1;
                let said = self.work.secrets.hide(&reason);
                self.seen.hear(usize::from(code), &said);
            }
            self.part_from(socket, Failure::WebSocketClose(code), &reason, at, sockets);
        }
    }

    fn take_news<S: Sockets>(&mut self, phase: Option<Phase>, news: &News, at: Nanos, sockets: &mut S) {
        if let News::Message { bytes, .. } = news {
            self.seen.counts.body_bytes += bytes;
            self.seen.counts.messages_received += u64::from(at >= self.measured_from);
        }
        let socket = match phase {
            Some(Phase::Answer { attempt }) => self.attempts.find(attempt).map(|attempt| attempt.socket),
            _ => None,
        };
        let is_early = socket.is_none_or(|socket| self.is_before_message(socket));
        let Some(Phase::Answer { attempt }) = phase.filter(|_| !is_early) else {
            self.seen.counts.unasked += u64::from(matches!(news, News::Message { .. }) && at >= self.measured_from);
            return;
        };
        let is_awaited = match (news, self.expects(attempt)) {
            (News::Pong, Some(Expects::Pong)) => {
                self.seen.counts.messages_received += u64::from(at >= self.measured_from);
                Some(Outcome::Succeeded)
            }
            (News::Message { outcome, .. }, Some(Expects::Message)) => Some(*outcome),
            _ => None,
        };
        if let Some(outcome) = is_awaited {
            self.end_message(attempt, outcome, true, at, sockets);
        }
    }

    fn read_stream<S: Sockets>(&mut self, socket: Socket, bytes: &[u8], at: Nanos, sockets: &mut S) {
        let steps = self.work.steps.clone();
        let is_deaf = |talk: &PreparedTalk| matches!(talk.expects, Expects::Nothing);
        if steps.first().and_then(|step| step.talk.as_deref()).is_some_and(is_deaf) {
            return;
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let phase = self.connections.find(socket).map(|connection| connection.phase);
            let Some(Phase::Answer { attempt }) = phase else {
                // Nobody asked for these bytes: what follows them could not be told from an answer.
                if let Some(Phase::Exchange { user }) = phase {
                    self.take_own(user, 0);
                    self.seen.counts.unsolicited += 1;
                    self.close(socket, sockets);
                }
                return;
            };
            if self.is_before_message(socket) {
                // They came before the message left, and the answer behind them could not be told from them.
                self.seen.counts.unsolicited += 1;
                return self.lose(socket, Failure::Protocol(ProtocolFault::Unsolicited), at, sockets);
            }
            if let Some(attempt) = self.attempts.find(attempt) {
                attempt.first_byte = attempt.first_byte.min(at);
            }
            let Some(Expects::Framed(framing)) = self.expects(attempt).cloned() else { return };
            let Some(state) = self.talk_of(socket) else { return };
            let Ok((taken, is_over)) = state.tcp.handle(&framing, rest) else {
                let failure = Failure::Protocol(ProtocolFault::AnswerLength);
                return self.lose(socket, failure, at, sockets);
            };
            self.take_body(attempt, &rest[..taken]);
            rest = &rest[taken..];
            if is_over {
                self.seen.counts.messages_received += u64::from(at >= self.measured_from);
                let outcome = self.judge_answer(attempt);
                // What stands behind an answer could not be told from the next one.
                return self.end_message(attempt, outcome, rest.is_empty(), at, sockets);
            }
        }
    }

    fn judge_answer(&mut self, key: Key) -> Outcome {
        let Some(attempt) = self.attempts.find(key) else { return Outcome::Succeeded };
        let Some(exchange) = self.exchanges.find(attempt.exchange) else { return Outcome::Succeeded };
        let checks = &self.work.steps[exchange.step as usize].checks;
        if checks.look_further { checks.of_answer(attempt.kept.as_deref_mut()) } else { Outcome::Succeeded }
    }

    /// The exchange is over; its connection waits for the next one, unless each has its own. `is_clean`: nothing came after the
    /// answer.
    fn end_message<S: Sockets>(&mut self, key: Key, outcome: Outcome, is_clean: bool, now: Nanos, sockets: &mut S) {
        let Some(attempt) = self.attempts.find(key) else { return };
        attempt.first_byte = attempt.first_byte.min(now);
        let socket = attempt.socket;
        let Some(exchange) = self.exchanges.find(attempt.exchange) else { return };
        let (user, step, is_measured) = (exchange.user, exchange.step as usize, exchange.is_measured);
        self.seen.counts.answers += u64::from(is_measured);
        let is_told = self.connections.find(socket).is_some_and(|connection| connection.is_told());
        if !is_clean {
            self.seen.counts.unsolicited += 1;
            self.close(socket, sockets);
        } else if self.work.steps[step].keep_alive && !is_told {
            if let Some(connection) = self.connections.find(socket) {
                connection.phase = Phase::Exchange { user };
                let is_first = !std::mem::replace(&mut connection.is_reused, true);
                self.connections.proven += u64::from(is_first);
            }
            self.keep_own(user, 0, socket);
        } else {
            self.say_goodbye(socket, now, sockets);
        }
        self.end_attempt(key, outcome, now, sockets);
    }
}
