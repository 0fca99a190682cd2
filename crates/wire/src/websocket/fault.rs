//! How a peer broke the protocol.

/// A protocol error. The connection is lost; [`Fault::close_code`] is the code sent to the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[repr(u8)]
pub enum Fault {
    /// Reserved bits without a negotiated extension.
    #[error("a frame has reserved bits that were not agreed on")]
    ReservedBits,
    /// A frame with an unknown opcode.
    #[error("a frame has an unknown opcode")]
    Opcode,
    /// A client must mask, a server must not.
    #[error("a frame is masked by a server, or not masked by a client")]
    Masking,
    /// A length that is not in its shortest form, or exceeds the maximum of the protocol.
    #[error("the length of a frame is not written in the shortest way")]
    Length,
    /// A fragmented control frame, or one with more than 125 bytes.
    #[error("a control frame is in pieces, or larger than 125 bytes")]
    ControlFrame,
    /// A continuation without a message, or a new message within a message.
    #[error("the fragments of a message are out of turn")]
    Fragments,
    /// A text message that is not UTF-8.
    #[error("a text message is not UTF-8")]
    Utf8,
    /// A compressed message that cannot be decompressed.
    #[error("a compressed message is malformed")]
    Deflate,
    /// A close with one byte of payload, or with a code that must not be sent.
    #[error("a close frame has an invalid code")]
    CloseCode,
    /// A message larger than our limit.
    #[error("a message is larger than the bound")]
    TooLarge,
    /// Too many frames without progress.
    #[error("too many frames that bring nothing forward")]
    Flood,
}

impl Fault {
    /// The code of the close frame for this fault (RFC 6455, 7.4.1).
    pub fn close_code(self) -> u16 {
        match self {
            Self::Utf8 | Self::Deflate => 1_007,
            Self::TooLarge => 1_009,
            Self::Flood => 1_008,
            _ => 1_002,
        }
    }
}
