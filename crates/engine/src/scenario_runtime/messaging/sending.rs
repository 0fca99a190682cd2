//! Sending of messages.

use driver::{Outgoing, Socket, Sockets};
use metrics::{Counter, PartKind};
use pacing::Nanos;
use plan::{MessageKind, Protocol};
use wire::connection::{ALONE, AnyConnection, ExchangeStart, Mask, Payload, ProtocolConnection, ResponseKind};
use wire::websocket::Deflate;

use crate::messaging::{Expects, SAID_BYTES_MAX};
use crate::scenario_runtime::ScenarioRuntime;
use crate::scenario_runtime::exchanges::Attempt;
use crate::scenario_runtime::messaging::seq_of;
use crate::slab::Key;

impl ScenarioRuntime {
    #[cold]
    pub(in crate::scenario_runtime) fn send_message(
        &mut self,
        key: Key,
        socket: Socket,
        step: usize,
        is_measured: bool,
        sockets: &mut dyn Sockets,
    ) {
        if let Some(exchange) = self.in_flight.attempts.find(key).map(|attempt| attempt.exchange)
            && let Some(user) = self.in_flight.exchanges.find(exchange).map(|exchange| exchange.user)
        {
            self.conversation_is_open(user);
        }
        let deflate = self.deflate_on(socket);
        let turn = self.pool.messaging.turn;
        self.pool.messaging.turn = turn.wrapping_add(1);
        let prepared = &self.in_flight.steps[step];
        let Some(messaging) = &prepared.messaging else { return };
        if messaging.custom.is_some() {
            return self.send_custom(key, socket, step, is_measured, sockets);
        }
        if prepared.message.is_some() {
            return self.send_made(key, socket, step, is_measured, sockets);
        }
        let Some((bytes, number)) = messaging.frame(deflate, turn) else {
            return self.listen(key, socket, step, sockets);
        };
        if let Some(said) = &messaging.said
            && let Some(attempt) = self.in_flight.attempts.find(key)
        {
            attempt.record(true, said.kind, &said.bytes);
        }
        if messaging.is_numbered {
            return self.send_numbered(key, socket, step, is_measured, sockets);
        }
        if let Some(connection) = self.pool.connections.find(socket)
            && let Some(layers) = connection.layers.as_deref_mut()
            && let Some(line) = &mut layers.line
        {
            let ask = ExchangeStart { what: Payload::Template, response: messaging.expects.awaited() };
            line.begin(ALONE, ask, Mask::default(), &mut layers.out);
        }
        let (has_response, timeout) = (!matches!(messaging.expects, Expects::Nothing), prepared.timeout);
        let template = number.and_then(|number| self.pool.messaging.templates[step].get(number).copied());
        let bytes = bytes.clone();
        let sent = self.begin_message(socket, sockets);
        if self.layers(socket).is_some_and(|layers| layers.is_sealed()) {
            let mut copy = self.pool.links.buffer();
            copy.extend_from_slice(&bytes);
            if !self.send_through(socket, copy, sockets) {
                return;
            }
        } else {
            self.count_handed(socket, bytes.len());
            match template {
                Some(template) if has_response => sockets.send(socket, Outgoing::Template(template, 0..bytes.len())),
                // A message without a response is over when the kernel has taken it, which is reported for these.
                _ => sockets.send(socket, Outgoing::Shared(bytes.clone(), 0..bytes.len())),
            }
        }
        self.mark_message(key, socket, sent, timeout, is_measured);
    }

    /// Nothing is sent: the next message is awaited, from now on.
    fn listen(&mut self, key: Key, socket: Socket, step: usize, sockets: &mut dyn Sockets) {
        let prepared = &self.in_flight.steps[step];
        let Some(messaging) = &prepared.messaging else { return };
        if let Some(connection) = self.pool.connections.find(socket)
            && let Some(layers) = connection.layers.as_deref_mut()
            && let Some(line) = &mut layers.line
        {
            let ask = ExchangeStart { what: Payload::Template, response: messaging.expects.awaited() };
            line.begin(ALONE, ask, Mask::default(), &mut layers.out);
        }
        let (timeout, now) = (prepared.timeout, sockets.now());
        let Some(attempt) = self.in_flight.attempts.find(key) else { return };
        attempt.sent = now;
        self.arm(key, now + timeout);
    }

    /// Compression of messages on a connection.
    fn deflate_on(&mut self, socket: Socket) -> Option<Deflate> {
        match self.layers(socket)?.line.as_ref()? {
            AnyConnection::WebSocket(line) => line.deflate(),
            _ => None,
        }
    }

    /// A message is sent now, after what was handed to the socket before.
    fn begin_message(&mut self, socket: Socket, sockets: &mut dyn Sockets) -> Nanos {
        if let Some(layers) = self.layers(socket) {
            layers.message.start = layers.handed;
        }
        sockets.now()
    }

    /// A message was sent.
    fn mark_message(&mut self, key: Key, socket: Socket, sent: Nanos, timeout: Nanos, is_measured: bool) {
        let wait = self.instants.waits;
        if let Some(layers) = self.layers(socket) {
            layers.sent_in = wait;
            layers.message.end = layers.handed;
        }
        if self.pool.has_datagrams && self.mark_datagram(key, socket, sent, timeout, is_measured) {
            return;
        }
        let Some(attempt) = self.in_flight.attempts.find(key) else { return };
        attempt.sent = sent;
        self.arm(key, sent + timeout);
        self.unreported.counts[Counter::Sent] += u64::from(is_measured);
        self.unreported.counts[Counter::MessagesSent] += u64::from(is_measured);
    }

    /// An event reported together with the sending of a message came before it, and is no response to it.
    pub(super) fn is_before_message(&mut self, socket: Socket) -> bool {
        let wait = self.instants.waits;
        // Datagrams are matched by what is in them.
        self.layers(socket).is_some_and(|layers| layers.sent_in == wait && !layers.transport.is_datagram())
    }

    /// Bytes of replies of the protocol itself that the kernel has not taken: our message, of any size, is not among
    /// them.
    pub(super) fn unread_responses(&mut self, socket: Socket, sockets: &mut dyn Sockets) -> usize {
        let unsent = sockets.unsent(socket) as u64;
        let Some(layers) = self.layers(socket) else { return 0 };
        let taken = layers.handed.saturating_sub(unsent);
        let own = layers.message.end.saturating_sub(layers.message.start.max(taken));
        unsent.saturating_sub(own) as usize
    }

    /// The run is over: a message that the kernel has not taken completely was never sent. For WebSocket this is known
    /// when its connection is closed.
    pub(in crate::scenario_runtime) fn count_untaken_message(&mut self, key: Key, sockets: &mut dyn Sockets) {
        let is_counted = |attempt: &&mut Attempt| attempt.is_layered && attempt.was_sent() && attempt.is_measured;
        let Some(attempt) = self.in_flight.attempts.find(key).filter(is_counted) else { return };
        let (socket, is_late) = (attempt.socket, sockets.unsent(attempt.socket) > 0);
        match self.protocol_of(socket) {
            Some(Protocol::Tcp | Protocol::Custom) => {
                self.unreported.counts[Counter::MessagesUntaken] += u64::from(is_late)
            }
            Some(Protocol::WebSocket) => {
                if let Some(layers) = self.layers(socket) {
                    layers.has_late_message = is_late;
                }
            }
            _ => {}
        }
    }

    /// Sends a message that was made for this exchange.
    fn send_made(&mut self, key: Key, socket: Socket, step: usize, is_measured: bool, sockets: &mut dyn Sockets) {
        let (deflate, mask) = (self.deflate_on(socket), self.pool.messaging.mask());
        let prepared = &self.in_flight.steps[step];
        let (Some(messaging), Some(message), timeout) = (&prepared.messaging, &prepared.message, prepared.timeout)
        else {
            return;
        };
        if self.in_flight.records
            && let Some(attempt) = self.in_flight.attempts.find(key)
        {
            let kind = if messaging.kind == MessageKind::Ping { PartKind::Control } else { PartKind::Message };
            attempt.record(true, kind, &message[..message.len().min(SAID_BYTES_MAX)]);
        }
        if let Some(connection) = self.pool.connections.find(socket)
            && let Some(layers) = connection.layers.as_deref_mut()
            && let Some(line) = &mut layers.line
        {
            let ask = ExchangeStart { what: Payload::Template, response: messaging.expects.awaited() };
            line.begin(ALONE, ask, Mask::default(), &mut layers.out);
        }
        let frame = messaging.framed(message, deflate, mask, &mut self.pool.messaging.spare);
        let sent = self.begin_message(socket, sockets);
        if self.send_through(socket, frame, sockets) {
            self.mark_message(key, socket, sent, timeout, is_measured);
        }
    }

    /// Sends a request of a custom protocol, as its connection writes it.
    fn send_custom(&mut self, key: Key, socket: Socket, step: usize, is_measured: bool, sockets: &mut dyn Sockets) {
        let (mut frame, mask) = (self.pool.links.buffer(), self.pool.messaging.mask());
        let prepared = &self.in_flight.steps[step];
        let Some(messaging) = &prepared.messaging else { return };
        let constant = messaging.frames.first().map(|bytes| &bytes[..]);
        let Some(request) = prepared.message.as_deref().or(constant) else { return };
        if self.in_flight.records
            && let Some(attempt) = self.in_flight.attempts.find(key)
        {
            let mut shown = Vec::new();
            if let Some(custom) = &messaging.custom {
                custom.request.view_request(request, &mut shown);
            }
            let shown = if shown.is_empty() { request } else { &shown };
            attempt.record(true, PartKind::Message, &shown[..shown.len().min(SAID_BYTES_MAX)]);
        }
        if let Some(connection) = self.pool.connections.find(socket)
            && let Some(layers) = connection.layers.as_deref_mut()
            && let Some(line) = &mut layers.line
        {
            let ask = ExchangeStart { what: Payload::Rendered(request), response: messaging.expects.awaited() };
            let number = line.begin(ALONE, ask, mask, &mut frame);
            layers.transport.begin(number);
        }
        let timeout = prepared.timeout;
        let further = messaging.custom.as_ref().map_or(0, |custom| u64::from(custom.messages).saturating_sub(1));
        let sent = self.begin_message(socket, sockets);
        if self.send_through(socket, frame, sockets) {
            self.mark_message(key, socket, sent, timeout, is_measured);
            self.unreported.counts[Counter::MessagesSent] += further * u64::from(is_measured);
        }
    }

    /// Sends a message that contains its own number.
    fn send_numbered(&mut self, key: Key, socket: Socket, step: usize, is_measured: bool, sockets: &mut dyn Sockets) {
        let (number, timeout) = (self.pool.messaging.turn as u32, self.in_flight.steps[step].timeout);
        let Some(exchange) = self.in_flight.attempts.find(key).map(|attempt| attempt.exchange) else { return };
        let Some(user) = self.in_flight.exchanges.find(exchange).map(|exchange| exchange.user) else { return };
        let text = format!("{{\"seq\":\"{}\",\"cmd\":\"ping\",\"data\":{{}}}}", seq_of(user, number));
        if self.in_flight.records {
            self.record_on(socket, true, PartKind::Message, text.as_bytes());
        }
        let (mut frame, mask) = (self.pool.links.buffer(), self.pool.messaging.mask());
        if let Some(line) = self.layers(socket).and_then(|layers| layers.line.as_mut()) {
            line.begin(
                ALONE,
                ExchangeStart { what: Payload::Rendered(text.as_bytes()), response: ResponseKind::Message },
                mask,
                &mut frame,
            );
        }
        let sent = self.begin_message(socket, sockets);
        if !self.send_through(socket, frame, sockets) {
            return;
        }
        if let Some(attempt) = self.in_flight.attempts.find(key) {
            attempt.stream = number;
        }
        self.mark_message(key, socket, sent, timeout, is_measured);
    }
}
