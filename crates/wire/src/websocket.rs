//! WebSocket (RFC 6455) as a state machine over bytes, the same for both sides.
//!
//! `handle` unmasks in place and returns the event of the first bytes of the input. It stores an incomplete header and
//! the payload of a control frame that came in pieces, and no part of a message. The sender passes its masks as
//! arguments. A [`Session`] stores messages as far as its [`Terms`] allow.

mod deflate;
mod fault;
mod frame;
mod handshake;
mod machine;
mod session;
mod utf8;

pub use deflate::{Deflate, Deflater, WINDOW_BITS_MAX, WINDOW_BITS_MIN};
pub use fault::Fault;
pub use frame::{CONTROL_BYTES_MAX, Kind, Mask, Opcode, Role, push_close, push_frame, push_message};
pub use handshake::{
    Accepted, HEAD_BYTES_MAX, HandshakeFault, Offered, Opening, accept_of, key_of, read_request, read_response,
    render_request, render_response,
};
pub use machine::{Event, IDLE_FRAMES_MAX, Machine};
pub use session::{Scratch, Session, SessionEvent, Terms};

#[cfg(test)]
mod tests;
