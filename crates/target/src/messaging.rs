//! Long connections of the target: WebSocket on any path, and plain TCP. It echoes, answers commands, passes messages on
//! in rooms, and pushes when asked to.

use driver::{Outgoing, Socket, Sockets};
use pacing::Nanos;
use wire::websocket::{self, Deflate, Kind, Offered, Role, Session, SessionEvent, Terms};

use crate::commands;
use crate::happened::Wait;
use crate::respond::ECHO_BYTES_MAX;
use crate::rooms::RoomMessage;
use crate::tools::Tools;

/// Content of a push.
const PUSHED: &[u8] = b"ok";
/// Unsent bytes beyond which a slow reader is not read until it has caught up.
const UNSENT_MAX: usize = 1024 * 1024;
/// Unsent bytes beyond which a connection is closed when another one in its room sends more.
const UNREAD_MAX: usize = 8 * 1024 * 1024;

/// What happens to the messages of a WebSocket connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// They are echoed.
    Echo,
    /// Commands are answered, others are echoed.
    Commands,
    /// They go to all in this room.
    Room(u32),
}

/// The protocol of a long connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TalkProtocol {
    /// Bytes, echoed as they arrive.
    Tcp,
    /// Messages; compressed in this window, as a power of two, if that was agreed on.
    WebSocket { deflate: Option<u8>, channel: Channel },
}

/// A long connection. See the module. An idle one owns no other memory.
pub(crate) struct Messaging {
    socket: Socket,
    protocol: TalkProtocol,
    /// The instant of the next push; never without pushes.
    push_at: Nanos,
    is_full: bool,
    session: Option<Box<Session>>,
}

impl Messaging {
    pub(crate) fn start(socket: Socket, protocol: TalkProtocol, now: Nanos, tools: &mut Tools) -> Self {
        tools.stats().long_connections_opened.add(1);
        tools.stats().long_connections_open.add(1);
        let push_at = tools.behavior().push.map_or(Nanos::NEVER, |every| now + every.into());
        if push_at != Nanos::NEVER {
            tools.timers.insert(push_at, socket);
        }
        Self { socket, protocol, push_at, is_full: false, session: None }
    }

    /// Sends the handshake response of WebSocket, and begins the session.
    pub(crate) fn upgrade(
        socket: Socket,
        (requested, channel): (&Offered, Channel),
        now: Nanos,
        tools: &mut Tools,
        sockets: &mut dyn Sockets,
    ) -> Self {
        // Entered before the response: a peer that has it gets each message that is sent from then on.
        if let Channel::Room(room) = channel {
            tools.enter_room(room, socket);
        }
        let mut response = tools.buffer();
        let protocol = requested.protocols.first().map(String::as_str);
        websocket::render_response(&requested.key, protocol, requested.deflate, &mut response);
        sockets.send(socket, Outgoing::Lent(response));
        tools.stats().statuses[101].add(1);
        let protocol = TalkProtocol::WebSocket { deflate: requested.deflate, channel };
        Self::start(socket, protocol, now, tools)
    }

    pub(crate) fn received(&mut self, bytes: &mut [u8], tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        let wait = match self.protocol {
            TalkProtocol::Tcp => {
                let mut copy = tools.buffer();
                copy.extend_from_slice(bytes);
                tools.stats().long_connection_messages.add(1);
                sockets.send(self.socket, Outgoing::Lent(copy));
                Wait::More
            }
            TalkProtocol::WebSocket { deflate, channel } => self.converse(deflate, channel, bytes, tools, sockets),
        };
        if wait == Wait::More {
            self.pause_if_full(tools, sockets);
        }
        wait
    }

    fn pause_if_full(&mut self, tools: &Tools, sockets: &mut dyn Sockets) {
        if !self.is_full && sockets.unsent(self.socket) > UNSENT_MAX {
            self.is_full = true;
            tools.stats().reads_paused.add(1);
            sockets.receive(self.socket, false);
        }
    }

    /// Passes on a message of a member of its room. A peer that does not read is closed.
    pub(crate) fn deliver(&mut self, message: &RoomMessage, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        let TalkProtocol::WebSocket { deflate, .. } = self.protocol else { return Wait::More };
        if sockets.unsent(self.socket) > UNREAD_MAX {
            tools.stats().slow_readers_closed.add(1);
            return Wait::Nothing;
        }
        let mut bytes = tools.buffer();
        push_message(message.kind, deflate, &message.bytes, tools, &mut bytes);
        tools.stats().long_connection_pushes.add(1);
        sockets.send(self.socket, Outgoing::Lent(bytes));
        self.pause_if_full(tools, sockets);
        Wait::More
    }

    pub(crate) fn sent(&mut self, sockets: &mut dyn Sockets) -> Wait {
        if self.is_full && sockets.unsent(self.socket) == 0 {
            self.is_full = false;
            sockets.receive(self.socket, true);
        }
        Wait::More
    }

    /// Pushes if that is due, and if the peer has taken the previous push.
    pub(crate) fn due(&mut self, now: Nanos, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        let Some(every) = tools.behavior().push else { return Wait::More };
        if now < self.push_at {
            return Wait::More;
        }
        if sockets.unsent(self.socket) == 0 {
            let mut bytes = tools.buffer();
            match self.protocol {
                TalkProtocol::Tcp => bytes.extend_from_slice(PUSHED),
                TalkProtocol::WebSocket { .. } => websocket::push_message(Kind::Text, false, None, PUSHED, &mut bytes),
            }
            tools.stats().long_connection_pushes.add(1);
            sockets.send(self.socket, Outgoing::Lent(bytes));
        }
        self.push_at = now.max(self.push_at) + every.into();
        tools.timers.insert(self.push_at, self.socket);
        Wait::More
    }

    fn converse(
        &mut self,
        deflate: Option<u8>,
        channel: Channel,
        bytes: &mut [u8],
        tools: &mut Tools,
        sockets: &mut dyn Sockets,
    ) -> Wait {
        let terms = Terms {
            role: Role::Server,
            deflate: deflate.map(|window_bits| Deflate { window_bits, keeps_context: false }),
            message_bytes_max: ECHO_BYTES_MAX as u64,
            kept_bytes_max: ECHO_BYTES_MAX,
        };
        let mut session = self.session.take().unwrap_or_else(|| Box::new(Session::new(terms)));
        let (mut out, mut scratch) = (tools.buffer(), std::mem::take(&mut tools.scratch));
        let mut rest = bytes;
        // Echoes and protocol replies are sent in the order of their causes.
        let wait = loop {
            match session.handle(rest, &mut scratch, None, &mut out) {
                Ok((_, SessionEvent::NeedMore)) => break Wait::More,
                Ok((taken, received)) => {
                    let has_closed = matches!(received, SessionEvent::Close { .. });
                    let mut echo = Vec::new();
                    if let SessionEvent::Message { kind, bytes, .. } = received {
                        tools.stats().long_connection_messages.add(1);
                        match channel {
                            Channel::Room(room) => tools.send_to_room(room, kind, bytes),
                            Channel::Echo => push_message(kind, deflate, bytes, tools, &mut echo),
                            Channel::Commands => {
                                let response = commands::response(bytes);
                                push_message(kind, deflate, response.as_deref().unwrap_or(bytes), tools, &mut echo);
                            }
                        }
                    }
                    if out.is_empty() {
                        out = echo;
                    } else {
                        out.extend_from_slice(&echo);
                    }
                    rest = &mut rest[taken..];
                    if has_closed {
                        break Wait::PeerClose;
                    }
                }
                // The close frame with the reason is in `out`.
                Err(_) => break Wait::PeerClose,
            }
        };
        tools.scratch = scratch;
        if out.is_empty() {
            tools.give_back(out);
        } else {
            sockets.send(self.socket, Outgoing::Lent(out));
        }
        if !session.is_at_rest() {
            self.session = Some(session);
        }
        wait
    }

    /// The connection is over.
    pub(crate) fn ended(&self, tools: &Tools) {
        if let TalkProtocol::WebSocket { channel: Channel::Room(room), .. } = self.protocol {
            tools.leave_room(room, self.socket);
        }
        tools.stats().long_connections_open.subtract(1);
        tools.stats().long_connections_closed.add(1);
    }
}

/// Appends a message, compressed if that was agreed on.
fn push_message(kind: Kind, deflate: Option<u8>, bytes: &[u8], tools: &mut Tools, out: &mut Vec<u8>) {
    match deflate {
        Some(bits) => {
            let compressed = tools.deflater(bits).compress(bytes);
            websocket::push_message(kind, true, None, &compressed, out);
        }
        None => websocket::push_message(kind, false, None, bytes, out),
    }
}
