//! How a peer broke the protocol.

/// The connection is lost; [`Fault::close_code`] is what the peer is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[repr(u8)]
pub enum Fault {
    /// Bits that no extension was agreed for.
    #[error("a frame has reserved bits that were not agreed on")]
    ReservedBits,
    /// A frame of a kind that nobody knows.
    #[error("a frame has an unknown opcode")]
    Opcode,
    /// A client must mask, a server must not.
    #[error("a frame is masked by a server, or not masked by a client")]
    Masking,
    /// A length that is not written in the shortest way, or too large for anybody.
    #[error("the length of a frame is not written in the shortest way")]
    Length,
    /// A control frame in pieces, or with more than 125 bytes.
    #[error("a control frame is in pieces, or larger than 125 bytes")]
    ControlFrame,
    /// A continuation of nothing, or a message within a message.
    #[error("the fragments of a message are out of turn")]
    Fragments,
    /// A text that is no UTF-8.
    #[error("a text message is not UTF-8")]
    Utf8,
    /// A compressed message that cannot be taken apart.
    #[error("a compressed message is malformed")]
    Deflate,
    /// A close with one byte, or a code that must not be sent.
    #[error("a close frame has an invalid code")]
    CloseCode,
    /// A message larger than what we take.
    #[error("a message is larger than the bound")]
    TooLarge,
    /// Too many frames that bring nothing forward.
    #[error("too many frames that bring nothing forward")]
    Flood,
}

impl Fault {
    /// The code of a close frame that says so (RFC 6455, 7.4.1).
    pub fn close_code(self) -> u16 {
        match self {
            Self::Utf8 | Self::Deflate => 1_007,
            Self::TooLarge => 1_009,
            Self::Flood => 1_008,
            _ => 1_002,
        }
    }
}
