//! Messages in the bytes of a body: a flag, a length, and the message itself.

/// Bytes before each message: the compression flag and the length.
pub const PREFIX_BYTES: usize = 5;

/// Appends a message with its prefix.
///
/// # Panics
/// When the message has 4 GiB or more, which no plan allows.
pub fn push_message(bytes: &[u8], is_compressed: bool, out: &mut Vec<u8>) {
    let length = u32::try_from(bytes.len()).expect("a message below 4 GiB");
    out.push(u8::from(is_compressed));
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(bytes);
}

/// The meaning of the first bytes of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessagePiece<'a> {
    /// All input was consumed, and a message or its prefix is not complete.
    NeedMore,
    /// A message has begun.
    Begun {
        /// Whether it is compressed.
        is_compressed: bool,
        /// Its length.
        length: u32,
    },
    /// Some of its bytes; never empty.
    Bytes(&'a [u8]),
    /// It is complete.
    End,
}

/// The flag of a message was neither 0 nor 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message begins with a flag that is neither 0 nor 1")]
pub struct BadFlag;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    Prefix { taken: u8 },
    Inside { left: u32 },
}

/// Reads the messages of a body, however it was cut. Stores a prefix at most.
#[derive(Clone, Copy, Debug)]
pub struct Messages {
    place: Position,
    prefix: [u8; PREFIX_BYTES],
}

impl Default for Messages {
    fn default() -> Self {
        Self { place: Position::Prefix { taken: 0 }, prefix: [0; PREFIX_BYTES] }
    }
}

impl Messages {
    /// Parses the start of `input`: how many bytes were consumed, and the event. Call it again until it returns
    /// [`MessagePiece::NeedMore`].
    ///
    /// # Errors
    /// The bytes are no gRPC messages.
    #[inline]
    pub fn handle<'a>(&mut self, input: &'a [u8]) -> Result<(usize, MessagePiece<'a>), BadFlag> {
        match self.place {
            Position::Prefix { taken } => {
                let had = usize::from(taken);
                let more = (PREFIX_BYTES - had).min(input.len());
                self.prefix[had..had + more].copy_from_slice(&input[..more]);
                let [flag, length @ ..] = self.prefix;
                if had + more > 0 && flag > 1 {
                    return Err(BadFlag);
                }
                if had + more < PREFIX_BYTES {
                    self.place = Position::Prefix { taken: (had + more) as u8 };
                    return Ok((more, MessagePiece::NeedMore));
                }
                let length = u32::from_be_bytes(length);
                self.place = Position::Inside { left: length };
                Ok((more, MessagePiece::Begun { is_compressed: flag == 1, length }))
            }
            Position::Inside { left: 0 } => {
                self.place = Position::Prefix { taken: 0 };
                Ok((0, MessagePiece::End))
            }
            Position::Inside { .. } if input.is_empty() => Ok((0, MessagePiece::NeedMore)),
            Position::Inside { left } => {
                let count = input.len().min(left as usize);
                self.place = Position::Inside { left: left - count as u32 };
                Ok((count, MessagePiece::Bytes(&input[..count])))
            }
        }
    }

    /// Whether no message is incomplete.
    pub fn is_between(&self) -> bool {
        self.place == Position::Prefix { taken: 0 }
    }
}
