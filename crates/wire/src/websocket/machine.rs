//! The frame parser: frames in, message pieces and control events out.

use super::Fault;
use super::frame::{CONTROL_BYTES_MAX, HEADER_BYTES_MAX, Header, Kind, Opcode, Role, cover, header_bytes};
use super::utf8::Utf8;

/// Maximum consecutive frames without progress: empty pieces, pings, pongs.
pub const IDLE_FRAMES_MAX: u32 = 10_000;

/// The meaning of the first bytes of the input.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// All input was consumed, and nothing is complete.
    NeedMore,
    /// A frame within a message begins or ends; no action is needed.
    Nothing,
    /// A message begins.
    Begun {
        /// The message type.
        kind: Kind,
        /// Whether its bytes are compressed (RFC 7692).
        is_compressed: bool,
    },
    /// Some of its bytes; never empty.
    Bytes(&'a [u8]),
    /// It is complete.
    End,
    /// A ping: its payload is sent back in a pong.
    Ping(&'a [u8]),
    /// A pong.
    Pong(&'a [u8]),
    /// The peer closes the connection; later bytes are ignored.
    Close {
        /// The close code (RFC 6455, 7.4), if it gives one.
        code: Option<u16>,
        /// The reason as text.
        reason: &'a str,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// This many bytes of a header have arrived.
    Header { taken: u8 },
    /// In the payload of a frame of a message.
    Payload { left: u64, is_last: bool },
    /// In the payload of a control frame.
    Control { opcode: Opcode, length: u8 },
    /// The last frame of a message is complete.
    Ends,
    /// The peer has closed.
    Closed,
}

/// Parses the frames of the other side.
#[derive(Debug)]
pub struct Machine {
    /// The role of the sender.
    from: Role,
    may_compress: bool,
    place: Position,
    header: [u8; HEADER_BYTES_MAX],
    mask: [u8; 4],
    /// Number of earlier payload bytes of this frame, modulo four.
    at: u8,
    /// The type of the message that is not complete.
    message: Option<Kind>,
    is_compressed: bool,
    utf8: Utf8,
    message_bytes: u64,
    message_bytes_max: u64,
    idle_frames: u32,
    /// A control frame that came in pieces.
    control: Option<Box<Control>>,
}

#[derive(Debug)]
struct Control {
    bytes: [u8; CONTROL_BYTES_MAX],
    taken: u8,
}

impl Machine {
    /// A parser for frames of `from`. `may_compress`: compression was negotiated.
    pub fn new(from: Role, may_compress: bool, message_bytes_max: u64) -> Self {
        Self {
            from,
            may_compress,
            place: Position::Header { taken: 0 },
            header: [0; HEADER_BYTES_MAX],
            mask: [0; 4],
            at: 0,
            message: None,
            is_compressed: false,
            utf8: Utf8::default(),
            message_bytes: 0,
            message_bytes_max,
            idle_frames: 0,
            control: None,
        }
    }

    /// Whether no frame and no message is incomplete.
    pub fn is_between_messages(&self) -> bool {
        self.message.is_none() && self.place == Position::Header { taken: 0 }
    }

    /// Parses the start of `input`: how many bytes were consumed, and the event. Call it again with the rest until it
    /// returns [`Event::NeedMore`].
    ///
    /// # Errors
    /// The peer broke the protocol; no further input can be parsed.
    pub fn handle<'a>(&'a mut self, input: &'a mut [u8]) -> Result<(usize, Event<'a>), Fault> {
        match self.place {
            Position::Header { taken } => self.read_header(usize::from(taken), input),
            Position::Payload { left: 0, is_last } => {
                self.place = if is_last { Position::Ends } else { Position::Header { taken: 0 } };
                Ok((0, Event::Nothing))
            }
            Position::Payload { .. } if input.is_empty() => Ok((0, Event::NeedMore)),
            Position::Payload { left, is_last } => self.read_payload(left, is_last, input),
            Position::Ends => {
                self.place = Position::Header { taken: 0 };
                if self.message.take() == Some(Kind::Text) && !self.is_compressed && !self.utf8.is_whole() {
                    return Err(Fault::Utf8);
                }
                Ok((0, Event::End))
            }
            Position::Control { opcode, length } => self.read_control(opcode, length, input),
            Position::Closed => Ok((input.len(), Event::NeedMore)),
        }
    }

    fn read_header<'a>(&'a mut self, had: usize, input: &[u8]) -> Result<(usize, Event<'a>), Fault> {
        let mut taken = 0;
        loop {
            let length = header_bytes(&self.header[..had + taken], self.from, self.may_compress)?;
            match length {
                Some(length) if had + taken == length => return self.begin(length, taken),
                Some(length) => {
                    let more = (length - had - taken).min(input.len() - taken);
                    if more == 0 {
                        break;
                    }
                    self.header[had + taken..had + taken + more].copy_from_slice(&input[taken..taken + more]);
                    taken += more;
                }
                None => {
                    let Some(byte) = input.get(taken) else { break };
                    self.header[had + taken] = *byte;
                    taken += 1;
                }
            }
        }
        self.place = Position::Header { taken: (had + taken) as u8 };
        Ok((taken, Event::NeedMore))
    }

    /// Handles a complete header.
    fn begin<'a>(&mut self, length: usize, taken: usize) -> Result<(usize, Event<'a>), Fault> {
        let header = Header::read(&self.header[..length])?;
        (self.mask, self.at) = (header.mask.unwrap_or_default(), 0);
        if header.opcode.is_control() {
            // Between messages, control frames may come forever; a message must make progress.
            if self.message.is_some() {
                self.idle()?;
            }
            self.control = None;
            self.place = Position::Control { opcode: header.opcode, length: header.length as u8 };
            return Ok((taken, Event::Nothing));
        }
        if header.length == 0 {
            self.idle()?;
        }
        let kind = match (header.opcode, self.message) {
            (Opcode::Continuation, Some(_)) => None,
            (Opcode::Text, None) => Some(Kind::Text),
            (Opcode::Binary, None) => Some(Kind::Binary),
            _ => return Err(Fault::Fragments),
        };
        if let Some(kind) = kind {
            (self.message, self.message_bytes, self.utf8) = (Some(kind), 0, Utf8::default());
            self.is_compressed = header.is_compressed;
        }
        self.message_bytes = self.message_bytes.saturating_add(header.length);
        if self.message_bytes > self.message_bytes_max {
            return Err(Fault::TooLarge);
        }
        self.place = Position::Payload { left: header.length, is_last: header.is_last };
        let begun = kind.map(|kind| Event::Begun { kind, is_compressed: self.is_compressed });
        Ok((taken, begun.unwrap_or(Event::Nothing)))
    }

    fn idle(&mut self) -> Result<(), Fault> {
        self.idle_frames += 1;
        if self.idle_frames > IDLE_FRAMES_MAX { Err(Fault::Flood) } else { Ok(()) }
    }

    fn read_payload<'a>(
        &'a mut self,
        left: u64,
        is_last: bool,
        input: &'a mut [u8],
    ) -> Result<(usize, Event<'a>), Fault> {
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
        let piece = &mut input[..count];
        self.uncover(piece);
        self.idle_frames = 0;
        self.place = Position::Payload { left: left - count as u64, is_last };
        let is_plain_text = self.message == Some(Kind::Text) && !self.is_compressed;
        if is_plain_text && !self.utf8.goes_on_with(piece) {
            return Err(Fault::Utf8);
        }
        Ok((count, Event::Bytes(piece)))
    }

    fn uncover(&mut self, piece: &mut [u8]) {
        if self.from == Role::Client {
            cover(piece, self.mask, usize::from(self.at));
            self.at = ((usize::from(self.at) + piece.len()) % 4) as u8;
        }
    }

    fn read_control<'a>(
        &'a mut self,
        opcode: Opcode,
        length: u8,
        input: &'a mut [u8],
    ) -> Result<(usize, Event<'a>), Fault> {
        let whole = usize::from(length);
        let had = self.control.as_ref().map_or(0, |control| usize::from(control.taken));
        let count = (whole - had).min(input.len());
        self.uncover(&mut input[..count]);
        if had + count < whole {
            let empty = || Box::new(Control { bytes: [0; CONTROL_BYTES_MAX], taken: 0 });
            let control = self.control.get_or_insert_with(empty);
            control.bytes[had..had + count].copy_from_slice(&input[..count]);
            control.taken = (had + count) as u8;
            return Ok((count, Event::NeedMore));
        }
        self.place = if opcode == Opcode::Close { Position::Closed } else { Position::Header { taken: 0 } };
        // The payload is in the input, or in the buffer of a split frame.
        let payload: &'a [u8] = match self.control.take() {
            None => &input[..count],
            Some(mut control) => {
                control.bytes[had..whole].copy_from_slice(&input[..count]);
                // It outlives the call in the buffer of the split frame.
                &self.control.insert(control).bytes[..whole]
            }
        };
        let event = match opcode {
            Opcode::Ping => Event::Ping(payload),
            Opcode::Pong => Event::Pong(payload),
            _ => close(payload)?,
        };
        Ok((count, event))
    }
}

fn close(payload: &[u8]) -> Result<Event<'_>, Fault> {
    let Some((code, reason)) = payload.split_first_chunk::<2>() else {
        return if payload.is_empty() { Ok(Event::Close { code: None, reason: "" }) } else { Err(Fault::CloseCode) };
    };
    let code = u16::from_be_bytes(*code);
    // RFC 6455, 7.4: codes that may be sent, registered ones, and those of applications.
    if !matches!(code, 1_000..=1_003 | 1_007..=1_014 | 3_000..=4_999) {
        return Err(Fault::CloseCode);
    }
    let reason = std::str::from_utf8(reason).map_err(|_| Fault::Utf8)?;
    Ok(Event::Close { code: Some(code), reason })
}
