//! Connections of a custom protocol. The service of the thread reads and writes their bytes; here they are kept in
//! order and bounded.
//!
//! - While the kernel has not taken the last bytes of a connection, later ones are gathered in one buffer.
//! - A peer that does not read its own replies is not read either, as on other long connections. One that does not read
//!   what the requests of others send to it is closed.

use driver::{Outgoing, Socket, Sockets};

use crate::happened::Wait;
use crate::service::CustomService;
use crate::tools::Tools;

/// Unsent bytes beyond which a slow reader is not read until it has caught up.
const UNSENT_MAX: usize = 1024 * 1024;
/// Unsent bytes beyond which a connection is closed when another one sends more to it.
const UNREAD_MAX: usize = 8 * 1024 * 1024;

/// Bytes for a connection.
pub(crate) struct CustomReply {
    pub(crate) bytes: Vec<u8>,
    /// Whether an event of the same connection caused them.
    pub(crate) is_own: bool,
}

/// A connection. See the module.
pub(crate) struct Custom {
    socket: Socket,
    /// Bytes that follow those that the kernel has not taken yet.
    waiting: Vec<u8>,
    /// Whether the service knows it.
    is_open: bool,
    /// Whether reading is paused.
    is_full: bool,
    /// Whether it is closed once its bytes are sent.
    is_ending: bool,
    has_peer_closed: bool,
}

impl Custom {
    pub(crate) fn new(socket: Socket) -> Self {
        Self { socket, waiting: Vec::new(), is_open: false, is_full: false, is_ending: false, has_peer_closed: false }
    }

    /// Reports the connection to the service, once.
    pub(crate) fn open(&mut self, tools: &mut Tools) {
        if self.is_open || self.is_ending || self.has_peer_closed {
            return;
        }
        if let Some(CustomService { service, replies }) = &mut tools.custom {
            service.open(number_of(self.socket), replies);
            self.is_open = true;
        }
    }

    pub(crate) fn received(&mut self, bytes: &[u8], tools: &mut Tools) -> Wait {
        if self.is_ending || bytes.is_empty() {
            return Wait::More;
        }
        self.open(tools);
        tools.stats().received_bytes.add(bytes.len() as u64);
        if let Some(CustomService { service, replies }) = &mut tools.custom {
            service.handle(number_of(self.socket), bytes, replies);
            let requests = std::mem::take(&mut replies.requests);
            tools.stats().long_connection_messages.add(requests);
        }
        Wait::More
    }

    /// The peer sends nothing more, and may still read: the replies to its last bytes are sent.
    pub(crate) fn peer_closed(&mut self, tools: &mut Tools) -> Wait {
        self.has_peer_closed = true;
        match &mut tools.custom {
            Some(custom) => custom.replies.close(number_of(self.socket)),
            None => return Wait::Nothing,
        }
        Wait::More
    }

    /// Sends bytes, after those that were sent before.
    pub(crate) fn send(&mut self, reply: CustomReply, tools: &mut Tools, sockets: &mut dyn Sockets) -> Wait {
        if self.is_ending || reply.bytes.is_empty() {
            tools.give_back(reply.bytes);
            return Wait::More;
        }
        let unsent = sockets.unsent(self.socket);
        if !reply.is_own && unsent + self.waiting.len() > UNREAD_MAX {
            tools.stats().slow_readers_closed.add(1);
            tools.give_back(reply.bytes);
            return Wait::Nothing;
        }
        tools.stats().sent_bytes.add(reply.bytes.len() as u64);
        if unsent == 0 && self.waiting.is_empty() {
            sockets.send(self.socket, Outgoing::Lent(reply.bytes));
        } else {
            self.waiting.extend_from_slice(&reply.bytes);
            tools.give_back(reply.bytes);
        }
        if !self.is_full && sockets.unsent(self.socket) + self.waiting.len() > UNSENT_MAX {
            self.is_full = true;
            tools.stats().reads_paused.add(1);
            sockets.receive(self.socket, false);
        }
        Wait::More
    }

    pub(crate) fn sent(&mut self, sockets: &mut dyn Sockets) -> Wait {
        if sockets.unsent(self.socket) > 0 {
            return Wait::More;
        }
        if !self.waiting.is_empty() {
            sockets.send(self.socket, Outgoing::Lent(std::mem::take(&mut self.waiting)));
            return Wait::More;
        }
        if self.is_ending {
            return self.end();
        }
        self.read_again(sockets);
        Wait::More
    }

    /// Closes it once its bytes are sent. What still arrives is ignored.
    pub(crate) fn close(&mut self, sockets: &mut dyn Sockets) -> Wait {
        self.is_ending = true;
        // A peer that sends before it reads would never come to our bytes.
        self.read_again(sockets);
        let is_sent = sockets.unsent(self.socket) == 0 && self.waiting.is_empty();
        if is_sent { self.end() } else { Wait::More }
    }

    /// The connection is gone.
    pub(crate) fn ended(&self, tools: &mut Tools) {
        if self.is_open
            && let Some(custom) = &mut tools.custom
        {
            custom.service.close(number_of(self.socket));
        }
    }

    fn end(&self) -> Wait {
        if self.has_peer_closed { Wait::Nothing } else { Wait::PeerClose }
    }

    fn read_again(&mut self, sockets: &mut dyn Sockets) {
        if std::mem::take(&mut self.is_full) {
            sockets.receive(self.socket, true);
        }
    }
}

/// The number by which the service knows a connection; no two of a thread have the same.
pub(crate) fn number_of(socket: Socket) -> u64 {
    u64::from(socket.generation) << 32 | u64::from(socket.index)
}

/// The socket of a number.
pub(crate) fn socket_of(number: u64) -> Socket {
    Socket { index: number as u32, generation: (number >> 32) as u32 }
}
