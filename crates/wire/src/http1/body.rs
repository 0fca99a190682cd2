//! The body of a message: where it ends, and the bytes between. Shared by both roles.

use super::{Limits, ProtocolError};

/// The body length that the head announces (RFC 9112 6.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLength {
    /// No body, whatever the fields say.
    None,
    /// This many bytes.
    Known(u64),
    /// Chunks, the last of size zero, then trailers.
    Chunked,
    /// All bytes until the connection ends.
    UntilClose,
}

/// The state of a body that is being received. Each state is named for what it waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Body {
    Nothing,
    Bytes { remaining: u64 },
    Close,
    Chunk { state: ChunkState, line_bytes: u32, folds: bool },
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ChunkState {
    Size { value: u64, digits: u8 },
    SizeSpace { value: u64 },
    Extension { value: u64 },
    SizeLf { value: u64 },
    Data { remaining: u64 },
    DataCr,
    DataLf,
    TrailerStart { may_fold: bool },
    TrailerName,
    TrailerValue,
    TrailerLf,
    EndLf,
}

/// One step through a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyEvent<'a> {
    NeedMore,
    Data(&'a [u8]),
    End,
}

impl Body {
    /// The body of a request.
    pub(super) fn new(length: BodyLength) -> Self {
        Self::with(length, false)
    }

    /// The body of a response, whose trailer fields may continue on a line that begins with a blank (RFC 9112 5.2).
    pub(super) fn for_response(length: BodyLength) -> Self {
        Self::with(length, true)
    }

    fn with(length: BodyLength, folds: bool) -> Self {
        match length {
            BodyLength::None | BodyLength::Known(0) => Self::Nothing,
            BodyLength::Known(remaining) => Self::Bytes { remaining },
            BodyLength::UntilClose => Self::Close,
            BodyLength::Chunked => {
                Self::Chunk { state: ChunkState::Size { value: 0, digits: 0 }, line_bytes: 0, folds }
            }
        }
    }

    /// Parses the start of `input`: how many bytes were consumed, and their event.
    ///
    /// # Errors
    /// The framing is broken; the body cannot go on.
    pub(super) fn handle<'a>(
        &mut self,
        input: &'a [u8],
        limits: &Limits,
    ) -> Result<(usize, BodyEvent<'a>), ProtocolError> {
        match self {
            Self::Nothing => Ok((0, BodyEvent::End)),
            Self::Close if input.is_empty() => Ok((0, BodyEvent::NeedMore)),
            Self::Close => Ok((input.len(), BodyEvent::Data(input))),
            Self::Bytes { remaining } => {
                let (taken, data) = take(remaining, input);
                if *remaining == 0 && taken == 0 {
                    return Ok((0, BodyEvent::End));
                }
                if *remaining == 0 {
                    *self = Self::Nothing;
                }
                Ok(if taken == 0 { (0, BodyEvent::NeedMore) } else { (taken, BodyEvent::Data(data)) })
            }
            Self::Chunk { state, line_bytes, folds } => handle_chunk(state, line_bytes, *folds, input, limits),
        }
    }
}

/// The content of complete chunks; `None` when their framing is broken, or they do not end with `bytes`.
pub fn dechunk(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut body, mut rest, mut content) = (Body::for_response(BodyLength::Chunked), bytes, Vec::new());
    loop {
        let (taken, event) = body.handle(rest, &super::LIMITS).ok()?;
        rest = &rest[taken..];
        match event {
            BodyEvent::NeedMore => return None,
            BodyEvent::Data(data) => content.extend_from_slice(data),
            BodyEvent::End => return rest.is_empty().then_some(content),
        }
    }
}

/// Takes up to `remaining` bytes from the front of `input`.
fn take<'a>(remaining: &mut u64, input: &'a [u8]) -> (usize, &'a [u8]) {
    let count = usize::try_from(*remaining).map_or(input.len(), |most| most.min(input.len()));
    *remaining -= count as u64;
    (count, &input[..count])
}

fn handle_chunk<'a>(
    state: &mut ChunkState,
    line_bytes: &mut u32,
    folds: bool,
    input: &'a [u8],
    limits: &Limits,
) -> Result<(usize, BodyEvent<'a>), ProtocolError> {
    let mut at = 0;
    while at < input.len() {
        if let ChunkState::Data { remaining } = state {
            let (taken, data) = take(remaining, &input[at..]);
            if *remaining == 0 {
                *state = ChunkState::DataCr;
            }
            return Ok((at + taken, BodyEvent::Data(data)));
        }
        let byte = input[at];
        at += 1;
        *line_bytes += 1;
        *state = advance(*state, byte, folds)?;
        match state {
            ChunkState::Data { .. } | ChunkState::Size { digits: 0, .. } => *line_bytes = 0,
            ChunkState::Size { .. }
            | ChunkState::SizeSpace { .. }
            | ChunkState::Extension { .. }
            | ChunkState::SizeLf { .. } => {
                if *line_bytes as usize > limits.chunk_line_bytes_max {
                    return Err(ProtocolError::ChunkLineTooLong);
                }
            }
            ChunkState::TrailerStart { .. }
            | ChunkState::TrailerName
            | ChunkState::TrailerValue
            | ChunkState::TrailerLf
            | ChunkState::EndLf => {
                if *line_bytes as usize > limits.head_bytes_max {
                    return Err(ProtocolError::HeadTooLarge);
                }
            }
            ChunkState::DataCr | ChunkState::DataLf => {}
        }
        if matches!(state, ChunkState::EndLf) && byte == b'\n' {
            return Ok((at, BodyEvent::End));
        }
    }
    Ok((at, BodyEvent::NeedMore))
}

/// RFC 9112 7.1, one byte. Line ends are CRLF: a lone LF here is how request smuggling starts, so it is an error.
fn advance(state: ChunkState, byte: u8, folds: bool) -> Result<ChunkState, ProtocolError> {
    use ChunkState as S;
    Ok(match (state, byte) {
        (S::Size { value, digits }, _) if byte.is_ascii_hexdigit() => {
            // 16 digits with a value that leaves the top bit free: no body is larger, and sums cannot overflow.
            if value > u64::MAX >> 5 {
                return Err(ProtocolError::ChunkSize);
            }
            S::Size { value: value << 4 | u64::from(hex_value(byte)), digits: digits.saturating_add(1) }
        }
        (S::Size { digits: 0, .. }, _) => return Err(ProtocolError::ChunkSize),
        (S::Size { value, .. } | S::SizeSpace { value }, b' ' | b'\t') => S::SizeSpace { value },
        (S::Size { value, .. } | S::SizeSpace { value }, b';') => S::Extension { value },
        (S::Size { value, .. } | S::SizeSpace { value } | S::Extension { value }, b'\r') => S::SizeLf { value },
        (S::Extension { value }, b'\t' | b' '..=0x7e | 0x80..) => S::Extension { value },
        (S::SizeLf { value: 0 }, b'\n') => S::TrailerStart { may_fold: false },
        (S::SizeLf { value }, b'\n') => S::Data { remaining: value },
        (S::Size { .. } | S::SizeSpace { .. } | S::Extension { .. } | S::SizeLf { .. }, _) => {
            return Err(ProtocolError::ChunkSize);
        }
        (S::DataCr, b'\r') => S::DataLf,
        (S::DataLf, b'\n') => S::Size { value: 0, digits: 0 },
        (S::DataCr | S::DataLf, _) => return Err(ProtocolError::ChunkEnd),
        (S::TrailerStart { .. }, b'\r') => S::EndLf,
        (S::TrailerStart { may_fold: true }, b' ' | b'\t') => S::TrailerValue,
        (S::TrailerStart { .. } | S::TrailerName, _) if is_token(byte) => S::TrailerName,
        (S::TrailerName, b':') => S::TrailerValue,
        (S::TrailerValue, b'\r') => S::TrailerLf,
        (S::TrailerValue, b'\t' | b' '..=0x7e | 0x80..) => S::TrailerValue,
        (S::TrailerLf, b'\n') => S::TrailerStart { may_fold: folds },
        (S::EndLf, b'\n') => S::EndLf,
        (S::TrailerStart { .. } | S::TrailerName | S::TrailerValue | S::TrailerLf | S::EndLf, _) => {
            return Err(ProtocolError::Trailer);
        }
        (S::Data { .. }, _) => unreachable!("chunk data is taken in bulk"),
    })
}

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit - b'A' + 10,
    }
}

/// RFC 9110 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
