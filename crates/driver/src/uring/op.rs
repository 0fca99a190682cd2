//! User data of completions: the operation and its socket.

use super::SMALL_TEMPLATE_BYTES;
use crate::Socket;
use crate::table::GENERATION_MASK;

/// The operation of a completion: the top byte of its user data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Op {
    Connect = 1,
    Receive = 2,
    /// Its user data has a format of its own; see [`template_data`].
    SendTemplate = 3,
    Send = 4,
    Accept = 5,
    /// Success needs no action, and failure means that there was nothing to do.
    Quiet = 6,
    Open = 7,
    Wake = 8,
    Timer = 9,
    Shutdown = 10,
    /// A query of a socket's state in the kernel. Its user data has the query number in place of the socket.
    Ask = 11,
    /// A receive into large buffers.
    ReceiveLarge = 12,
    /// A datagram, of which only a failure is reported.
    SendDatagram = 13,
}

impl Op {
    pub(super) fn from_user_data(user_data: u64) -> Option<Self> {
        if user_data & TEMPLATE_MARK != 0 {
            return Some(Self::SendTemplate);
        }
        Some(match user_data >> 56 {
            1 => Self::Connect,
            2 => Self::Receive,
            4 => Self::Send,
            5 => Self::Accept,
            6 => Self::Quiet,
            7 => Self::Open,
            8 => Self::Wake,
            9 => Self::Timer,
            10 => Self::Shutdown,
            11 => Self::Ask,
            12 => Self::ReceiveLarge,
            13 => Self::SendDatagram,
            _ => return None,
        })
    }

    pub(super) fn data(self, socket: Socket) -> u64 {
        (self as u64) << 56 | u64::from(socket.generation & GENERATION_MASK) << 32 | u64::from(socket.index)
    }
}

/// Marks a small template, of which only a failure is reported: its user data contains the length, and the lower bits
/// of a generation. A failure is reported at once, so these suffice to identify the owner.
const TEMPLATE_MARK: u64 = 1 << 63;
const TEMPLATE_LENGTH_SHIFT: u32 = 50;
pub(super) const TEMPLATE_GENERATION_MASK: u32 = (1 << (TEMPLATE_LENGTH_SHIFT - 32)) - 1;
const _: () = core::assert!(SMALL_TEMPLATE_BYTES < 1 << (63 - TEMPLATE_LENGTH_SHIFT));

pub(super) fn template_data(socket: Socket, length: usize) -> u64 {
    let generation = u64::from(socket.generation & TEMPLATE_GENERATION_MASK);
    TEMPLATE_MARK | (length as u64) << TEMPLATE_LENGTH_SHIFT | generation << 32 | u64::from(socket.index)
}

/// The length of a small template.
fn template_length(user_data: u64) -> usize {
    ((user_data & !TEMPLATE_MARK) >> TEMPLATE_LENGTH_SHIFT) as usize
}

/// Whether this is the completion of a failed small template of this socket.
pub(super) fn is_template_of(user_data: u64, socket: Socket) -> bool {
    template_data(socket, template_length(user_data)) == user_data
}

/// Bytes of a failed small template that the kernel did not take.
pub(super) fn template_refused(user_data: u64, result: i32) -> usize {
    template_length(user_data).saturating_sub(result.max(0) as usize)
}

pub(super) fn socket_of(user_data: u64) -> Socket {
    Socket { index: user_data as u32, generation: (user_data >> 32) as u32 & GENERATION_MASK }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_keeps_its_length_and_its_owner() {
        let socket = Socket { index: u32::MAX, generation: GENERATION_MASK };
        for length in [0, 1, SMALL_TEMPLATE_BYTES] {
            let data = template_data(socket, length);
            assert_eq!((Op::from_user_data(data), template_length(data)), (Some(Op::SendTemplate), length));
            assert!(is_template_of(data, socket) && !is_template_of(data, Socket { index: 1, ..socket }));
            let found = socket_of(data);
            assert_eq!(found.index, socket.index);
            assert_eq!(found.generation & TEMPLATE_GENERATION_MASK, socket.generation & TEMPLATE_GENERATION_MASK);
        }
    }

    #[test]
    fn other_operations_keep_their_owner() {
        let socket = Socket { index: 7, generation: GENERATION_MASK };
        for op in [Op::Connect, Op::Receive, Op::ReceiveLarge, Op::Send, Op::Accept, Op::Shutdown, Op::Ask] {
            assert_eq!((Op::from_user_data(op.data(socket)), socket_of(op.data(socket))), (Some(op), socket));
        }
    }
}
