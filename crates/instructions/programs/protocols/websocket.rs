//! A WebSocket peer: it accepts the handshake, and responds to each message with one of its own.

use driver::Socket;
use wire::websocket::{Kind, push_message, read_request, render_response};

use super::canned::ConnectionEvent;

/// The response to each message.
const MESSAGE: &[u8] = b"hello, world";

/// A WebSocket server with a constant response.
pub(crate) struct Greeting {
    /// The received part of each handshake, by connection; empty when it is complete.
    requested: Vec<Vec<u8>>,
    agreement: Vec<Vec<u8>>,
    frame: Vec<u8>,
}

impl Default for Greeting {
    fn default() -> Self {
        let mut frame = Vec::new();
        push_message(Kind::Text, false, None, MESSAGE, &mut frame);
        Self { requested: Vec::new(), agreement: Vec::new(), frame }
    }
}

impl Greeting {
    #[inline]
    pub(super) fn receive(&mut self, socket: Socket, said: ConnectionEvent<'_>) -> bool {
        match said {
            // Messages are registered.
            ConnectionEvent::Template => true,
            ConnectionEvent::Bytes(bytes) => self.agree(socket.index as usize, bytes),
        }
    }

    #[inline]
    pub(super) fn say(&mut self, socket: Socket, spoken: &mut Vec<u8>) -> u64 {
        let agreement = &mut self.agreement[socket.index as usize];
        if !agreement.is_empty() {
            *spoken = std::mem::take(agreement);
            return 0;
        }
        spoken.clear();
        spoken.extend_from_slice(&self.frame);
        1
    }
}

impl Greeting {
    #[cold]
    fn agree(&mut self, index: usize, bytes: &[u8]) -> bool {
        if self.requested.len() <= index {
            self.requested.resize_with(index + 1, Vec::new);
            self.agreement.resize_with(index + 1, Vec::new);
        }
        self.requested[index].extend_from_slice(bytes);
        let Some(requested) = read_request(&self.requested[index]).expect("a good handshake") else { return false };
        render_response(&requested.key, None, None, &mut self.agreement[index]);
        true
    }
}
