//! WebSocket (RFC 6455) as a machine over bytes, the same for both sides.
//!
//! `handle` takes off masks in place and says what the front of the input meant. It keeps a header that is not complete and the
//! payload of a control frame that came in pieces, and nothing of a message. Masks are arguments of those who send. A [`Session`] keeps
//! of messages what its [`Terms`] allow.

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
