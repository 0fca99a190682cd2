//! Events of the poller, and the tokens of sockets in them.

use mio::Token;

use crate::Socket;

/// The content of one event of the poller.
#[derive(Clone, Copy)]
pub(super) struct Readiness {
    pub(super) socket: Socket,
    pub(super) writable: bool,
    pub(super) readable: bool,
    pub(super) read_closed: bool,
    pub(super) error: bool,
}

impl Readiness {
    pub(super) fn from_event(token: Token, event: &mio::event::Event) -> Self {
        Self {
            socket: socket_of(token),
            writable: event.is_writable(),
            readable: event.is_readable(),
            read_closed: event.is_read_closed(),
            error: event.is_error(),
        }
    }
}

pub(super) fn token_of(socket: Socket) -> Token {
    Token(socket.index as usize | (socket.generation as usize) << 32)
}

fn socket_of(Token(token): Token) -> Socket {
    Socket { index: token as u32, generation: (token >> 32) as u32 }
}
