//! Frames: roles, opcodes, headers, masks, and rendering.

use super::Fault;

/// Maximum payload of a control frame (RFC 6455, 5.5).
pub const CONTROL_BYTES_MAX: usize = 125;
/// The longest header: two bytes, eight for the length, four for the mask.
pub(super) const HEADER_BYTES_MAX: usize = 14;
/// Lengths of at least this value are written in eight bytes.
const LONG: usize = 1 << 16;

/// The mask of a client's frame; `None` for a server.
pub type Mask = Option<[u8; 4]>;

/// The role of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The side that opened the connection, and masks its frames.
    Client,
    /// The side that accepted the connection.
    Server,
}

/// The type of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// UTF-8.
    Text,
    /// Any bytes.
    Binary,
}

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Opcode {
    /// The continuation of a message.
    Continuation = 0,
    /// The beginning of a text message.
    Text = 1,
    /// The beginning of a binary message.
    Binary = 2,
    /// The close of the connection.
    Close = 8,
    /// A request for a pong.
    Ping = 9,
    /// The reply to a ping, or an unsolicited one.
    Pong = 10,
}

impl Opcode {
    fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return None,
        })
    }

    pub(super) fn is_control(self) -> bool {
        self as u8 >= 8
    }
}

/// A frame header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) is_last: bool,
    /// The first reserved bit: set for compressed messages.
    pub(super) is_compressed: bool,
    pub(super) opcode: Opcode,
    pub(super) mask: Mask,
    pub(super) length: u64,
}

/// The length of a frame's header; `None` when more bytes are needed to know it. An error is reported as soon as it is
/// visible.
pub(super) fn header_bytes(bytes: &[u8], from: Role, may_compress: bool) -> Result<Option<usize>, Fault> {
    let Some(first) = bytes.first() else { return Ok(None) };
    let is_first_reserved = first & 0x40 != 0;
    if first & 0x30 != 0 || (is_first_reserved && !may_compress) {
        return Err(Fault::ReservedBits);
    }
    let opcode = Opcode::from_number(first & 0x0f).ok_or(Fault::Opcode)?;
    // Only the first frame of a message has the compression bit (RFC 7692, 6.1).
    if is_first_reserved && !matches!(opcode, Opcode::Text | Opcode::Binary) {
        return Err(Fault::ReservedBits);
    }
    let Some(second) = bytes.get(1) else { return Ok(None) };
    let (is_masked, short) = (second & 0x80 != 0, second & 0x7f);
    if is_masked != (from == Role::Client) {
        return Err(Fault::Masking);
    }
    if opcode.is_control() && (first & 0x80 == 0 || usize::from(short) > CONTROL_BYTES_MAX) {
        return Err(Fault::ControlFrame);
    }
    let length = match short {
        126 => 2,
        127 => 8,
        _ => 0,
    };
    Ok(Some(2 + length + if is_masked { 4 } else { 0 }))
}

impl Header {
    /// Parses a header whose length [`header_bytes`] has returned.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let [first, second, rest @ ..] = bytes else { return Err(Fault::Length) };
        let opcode = Opcode::from_number(first & 0x0f).ok_or(Fault::Opcode)?;
        let (length, rest) = match second & 0x7f {
            126 => {
                let (length, rest) = rest.split_first_chunk::<2>().ok_or(Fault::Length)?;
                (u64::from(u16::from_be_bytes(*length)), rest)
            }
            127 => {
                let (length, rest) = rest.split_first_chunk::<8>().ok_or(Fault::Length)?;
                (u64::from_be_bytes(*length), rest)
            }
            short => (u64::from(short), rest),
        };
        // RFC 6455, 5.2: the shortest form, and the highest bit is 0.
        let is_short = match second & 0x7f {
            126 => length > CONTROL_BYTES_MAX as u64,
            127 => length >= LONG as u64 && length >> 63 == 0,
            _ => true,
        };
        if !is_short {
            return Err(Fault::Length);
        }
        let mask = if second & 0x80 == 0 { None } else { Some(*rest.first_chunk::<4>().ok_or(Fault::Length)?) };
        Ok(Self { is_last: first & 0x80 != 0, is_compressed: first & 0x40 != 0, opcode, mask, length })
    }
}

/// Applies or removes a mask. `at`: number of earlier payload bytes of the frame.
pub(super) fn cover(bytes: &mut [u8], mask: [u8; 4], at: usize) {
    let mut turned = mask;
    turned.rotate_left(at % 4);
    let [a, b, c, d] = turned;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let mut words = bytes.chunks_exact_mut(8);
    for word in &mut words {
        let masked = u64::from_ne_bytes(word.try_into().expect("eight bytes")) ^ wide;
        word.copy_from_slice(&masked.to_ne_bytes());
    }
    for (byte, mask) in words.into_remainder().iter_mut().zip(turned.iter().cycle()) {
        *byte ^= mask;
    }
}

/// Appends a frame.
pub fn push_frame(opcode: Opcode, is_last: bool, mask: Mask, payload: &[u8], out: &mut Vec<u8>) {
    let masked = if mask.is_some() { 0x80 } else { 0 };
    out.push(opcode as u8 | if is_last { 0x80 } else { 0 });
    match payload.len() {
        short @ 0..=CONTROL_BYTES_MAX => out.push(masked | short as u8),
        middle if middle < LONG => {
            out.push(masked | 126);
            out.extend_from_slice(&(middle as u16).to_be_bytes());
        }
        long => {
            out.push(masked | 127);
            out.extend_from_slice(&(long as u64).to_be_bytes());
        }
    }
    out.extend_from_slice(mask.as_ref().map_or(&[][..], |mask| mask));
    let from = out.len();
    out.extend_from_slice(payload);
    if let Some(mask) = mask {
        cover(&mut out[from..], mask, 0);
    }
}

/// Appends a whole message in one frame. `is_compressed`: the payload is compressed (RFC 7692, 6).
pub fn push_message(kind: Kind, is_compressed: bool, mask: Mask, payload: &[u8], out: &mut Vec<u8>) {
    let at = out.len();
    let opcode = if kind == Kind::Text { Opcode::Text } else { Opcode::Binary };
    push_frame(opcode, true, mask, payload, out);
    if is_compressed {
        out[at] |= 0x40;
    }
}

/// Appends a close frame; a reason that is too long is truncated.
pub fn push_close(code: u16, reason: &str, mask: Mask, out: &mut Vec<u8>) {
    let mut end = reason.len().min(CONTROL_BYTES_MAX - 2);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    let payload = [&code.to_be_bytes()[..], &reason.as_bytes()[..end]].concat();
    push_frame(Opcode::Close, true, mask, &payload, out);
}
