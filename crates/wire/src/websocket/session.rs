//! One side of a WebSocket connection: whole messages in, and the replies that the protocol requires out (pongs,
//! closes).

use super::deflate::{Deflate, Inflater, ROOM};
use super::frame::{Kind, Opcode, Role, push_close, push_frame};
use super::machine::{Event, Machine};
use super::utf8::Utf8;
use super::{Fault, Mask};

/// Working memory of a connection for the time of a call or of a message; one serves all connections of a thread.
#[derive(Default)]
pub struct Scratch {
    inflaters: Vec<Inflater>,
    room: Vec<u8>,
    /// The last reported message.
    message: Vec<u8>,
    /// The payload of the last reported control frame.
    control: Vec<u8>,
}

/// Maximum number of windows that are retained for later messages: 40 KiB each.
const INFLATERS_MAX: usize = 4;
/// A buffer that grew beyond this for one message is freed after it.
const SPARE_BYTES_MAX: usize = 16 * 1024;

impl Scratch {
    fn inflater(&mut self) -> Inflater {
        self.inflaters.pop().unwrap_or_default()
    }

    fn room(&mut self) -> &mut [u8] {
        self.room.resize(ROOM, 0);
        &mut self.room
    }

    fn give_back(&mut self, inflater: Inflater) {
        if self.inflaters.len() < INFLATERS_MAX {
            self.inflaters.push(inflater);
        }
    }

    /// Stores the payload of a control frame while the caller inspects it.
    fn keep(&mut self, bytes: &[u8]) -> &[u8] {
        self.control.clear();
        self.control.extend_from_slice(bytes);
        &self.control
    }
}

/// The negotiated terms, and the limits of messages.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Our role.
    pub role: Role,
    /// The compression of messages, if any.
    pub deflate: Option<Deflate>,
    /// The largest accepted message; also applies to its decompressed size.
    pub message_bytes_max: u64,
    /// Bytes of a message that are captured; of a larger one nothing is. 0 when messages are not inspected.
    pub kept_bytes_max: usize,
}

/// A received event.
#[derive(Debug, PartialEq, Eq)]
pub enum SessionEvent<'a> {
    /// All input was consumed, and nothing is complete.
    NeedMore,
    /// Nothing to report, or something that was answered here.
    Nothing,
    /// A message.
    Message {
        /// The message type.
        kind: Kind,
        /// Its bytes, if captured.
        bytes: &'a [u8],
        /// It is larger than what is captured.
        is_cut: bool,
        /// Its length.
        length: u64,
    },
    /// A pong, solicited or not.
    Pong(&'a [u8]),
    /// The peer closes the connection. The reply is in `out`, unless this is the reply to our close.
    Close {
        /// The close code, if it gives one.
        code: Option<u16>,
        /// The reason as text.
        reason: &'a str,
    },
}

/// The session of a connection. See the module. One that is [at rest](Session::is_at_rest) can be dropped and rebuilt.
pub struct Session {
    terms: Terms,
    machine: Machine,
    kind: Kind,
    is_compressed: bool,
    message: Message,
    /// Decompresses messages; exists between messages only when the peer keeps its context.
    inflater: Option<Inflater>,
    /// Whether we have sent a close.
    has_closed: bool,
}

/// The received part of a message.
#[derive(Default)]
struct Message {
    /// Its captured bytes.
    kept: Vec<u8>,
    length: u64,
    is_cut: bool,
    /// UTF-8 validation of a compressed text; the frame parser validates uncompressed ones.
    utf8: Utf8,
}

impl Message {
    fn begin(&mut self) {
        if self.kept.capacity() > SPARE_BYTES_MAX {
            self.kept = Vec::new();
        }
        self.kept.clear();
        (self.length, self.is_cut, self.utf8) = (0, false, Utf8::default());
    }

    /// Takes more of the message, uncompressed.
    fn take(&mut self, bytes: &[u8], most: usize) {
        self.length += bytes.len() as u64;
        if most == 0 || self.is_cut {
            return;
        }
        let needed = self.kept.len() + bytes.len();
        if needed > most {
            // A truncated message is useless for inspection.
            (self.is_cut, self.kept) = (true, Vec::new());
            return;
        }
        if needed > self.kept.capacity() {
            // The buffer never exceeds the capture limit.
            let room = needed.max(self.kept.capacity().saturating_mul(2)).min(most);
            self.kept.reserve_exact(room - self.kept.len());
        }
        self.kept.extend_from_slice(bytes);
    }

    /// The same for decompressed bytes, which must be validated here.
    fn take_inflated(&mut self, bytes: &[u8], kind: Kind, terms: &Terms) -> Result<(), Fault> {
        self.take(bytes, terms.kept_bytes_max);
        if self.length > terms.message_bytes_max {
            return Err(Fault::TooLarge);
        }
        if kind == Kind::Text && !self.utf8.goes_on_with(bytes) { Err(Fault::Utf8) } else { Ok(()) }
    }
}

impl Session {
    /// A session on these terms.
    pub fn new(terms: Terms) -> Self {
        let from = match terms.role {
            Role::Client => Role::Server,
            Role::Server => Role::Client,
        };
        Self {
            terms,
            machine: Machine::new(from, terms.deflate.is_some(), terms.message_bytes_max),
            kind: Kind::Binary,
            is_compressed: false,
            message: Message::default(),
            inflater: None,
            has_closed: false,
        }
    }

    /// Whether no frame or message is incomplete, and no state is remembered.
    pub fn is_at_rest(&self) -> bool {
        !self.has_closed && self.inflater.is_none() && self.machine.is_between_messages()
    }

    /// Whether a message is incomplete.
    pub fn is_within_message(&self) -> bool {
        !self.machine.is_between_messages()
    }

    /// The received part of an incomplete message, as far as it is captured and not compressed.
    pub fn begun(&self) -> &[u8] {
        if self.is_compressed || self.machine.is_between_messages() { &[] } else { &self.message.kept }
    }

    /// Sends a close; later frames of the peer are still reported.
    pub fn close(&mut self, code: u16, mask: Mask, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.has_closed, true) {
            push_close(code, "", mask, out);
        }
    }

    /// Parses the start of `input`. Replies that the protocol requires are appended to `out`, masked with `mask`. Call
    /// it again with the rest until it returns [`SessionEvent::NeedMore`].
    ///
    /// # Errors
    /// The peer broke the protocol; the close frame for it is in `out`.
    pub fn handle<'a>(
        &mut self,
        input: &mut [u8],
        scratch: &'a mut Scratch,
        mask: Mask,
        out: &mut Vec<u8>,
    ) -> Result<(usize, SessionEvent<'a>), Fault> {
        let Self { terms, machine, kind, is_compressed, message, inflater, has_closed } = self;
        let (taken, event) = machine.handle(input).map_err(|fault| refuse(fault, *has_closed, mask, out))?;
        let received = match event {
            Event::NeedMore => SessionEvent::NeedMore,
            Event::Nothing => SessionEvent::Nothing,
            Event::Begun { kind: begun, is_compressed: has_bit } => {
                (*kind, *is_compressed) = (begun, has_bit);
                message.begin();
                if has_bit && inflater.is_none() {
                    inflater.insert(scratch.inflater()).reset();
                }
                SessionEvent::Nothing
            }
            Event::Bytes(bytes) => {
                let taken = match inflater.as_mut().filter(|_| *is_compressed) {
                    None => {
                        message.take(bytes, terms.kept_bytes_max);
                        Ok(())
                    }
                    Some(inflater) => {
                        let take = |piece: &[u8]| message.take_inflated(piece, *kind, terms);
                        inflater.inflate(bytes, scratch.room(), take)
                    }
                };
                if let Err(fault) = taken {
                    return Err(refuse(fault, *has_closed, mask, out));
                }
                SessionEvent::Nothing
            }
            Event::Ping(bytes) => {
                if !*has_closed {
                    push_frame(Opcode::Pong, true, mask, bytes, out);
                }
                SessionEvent::Nothing
            }
            Event::Pong(bytes) => SessionEvent::Pong(scratch.keep(bytes)),
            Event::Close { code, reason } => {
                if !std::mem::replace(has_closed, true) {
                    agree(code, mask, out);
                }
                // The reason was valid text before it was copied.
                SessionEvent::Close {
                    code,
                    reason: std::str::from_utf8(scratch.keep(reason.as_bytes())).unwrap_or_default(),
                }
            }
            Event::End => {
                if std::mem::take(is_compressed)
                    && let Some(mut ended) = inflater.take()
                {
                    let take = |piece: &[u8]| message.take_inflated(piece, *kind, terms);
                    let mut finished = ended.finish(scratch.room(), take);
                    if finished.is_ok() && *kind == Kind::Text && !message.utf8.is_whole() {
                        finished = Err(Fault::Utf8);
                    }
                    if let Err(fault) = finished {
                        return Err(refuse(fault, *has_closed, mask, out));
                    }
                    match terms.deflate.is_some_and(|deflate| deflate.keeps_context) {
                        true => *inflater = Some(ended),
                        false => scratch.give_back(ended),
                    }
                }
                let (length, is_cut) = (message.length, message.is_cut);
                std::mem::swap(&mut message.kept, &mut scratch.message);
                message.begin();
                SessionEvent::Message { kind: *kind, bytes: &scratch.message, is_cut, length }
            }
        };
        Ok((taken, received))
    }
}

/// The reply to the peer's close: the same code.
fn agree(code: Option<u16>, mask: Mask, out: &mut Vec<u8>) {
    match code {
        Some(code) => push_close(code, "", mask, out),
        None => push_frame(Opcode::Close, true, mask, &[], out),
    }
}

/// Sends a close to a peer that broke the protocol, unless the session was already closed.
fn refuse(fault: Fault, has_closed: bool, mask: Mask, out: &mut Vec<u8>) -> Fault {
    if !has_closed {
        push_close(fault.close_code(), "", mask, out);
    }
    fault
}
