//! A side of a conversation: whole messages in, and the answers that the protocol itself wants out (pongs, closes).

use super::deflate::{Deflate, Inflater, ROOM};
use super::frame::{Kind, Opcode, Role, push_close, push_frame};
use super::machine::{Event, Machine};
use super::utf8::Utf8;
use super::{Fault, Mask};

/// What a connection needs for the time of a call or of a message; one serves all connections of a thread.
#[derive(Default)]
pub struct Scratch {
    inflaters: Vec<Inflater>,
    room: Vec<u8>,
    /// The message that was told last.
    message: Vec<u8>,
    /// What stood in the last control frame that was told.
    control: Vec<u8>,
}

/// Windows that are kept for later messages: 40 KiB each.
const INFLATERS_MAX: usize = 4;
/// A buffer that grew beyond this for one message is not kept for the next.
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

    /// Keeps what a control frame says while its caller looks at it.
    fn keep(&mut self, bytes: &[u8]) -> &[u8] {
        self.control.clear();
        self.control.extend_from_slice(bytes);
        &self.control
    }
}

/// What was agreed on, and how much is taken.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Who we are.
    pub role: Role,
    /// How messages may be compressed, if they may.
    pub deflate: Option<Deflate>,
    /// The largest message that is taken; also of what it is when it is not compressed any more.
    pub message_bytes_max: u64,
    /// So much of a message is kept; of one that is larger nothing. 0 when nobody looks at messages.
    pub kept_bytes_max: usize,
}

/// What was heard.
#[derive(Debug, PartialEq, Eq)]
pub enum SessionEvent<'a> {
    /// All input was taken, and nothing is complete.
    NeedMore,
    /// Something that is no news, or that was answered here.
    Nothing,
    /// A message.
    Message {
        /// What it is.
        kind: Kind,
        /// Its bytes, when they are kept.
        bytes: &'a [u8],
        /// It is larger than what is kept.
        is_cut: bool,
        /// How many they are.
        length: u64,
    },
    /// A sign of life that was asked for, or not.
    Pong(&'a [u8]),
    /// The peer ends the connection. The answer to it stands in `out`, unless it is the answer to ours.
    Close {
        /// Why, when it says.
        code: Option<u16>,
        /// In words.
        reason: &'a str,
    },
}

/// See the module. One that is [at rest](Session::is_at_rest) can be forgotten and made anew.
pub struct Session {
    terms: Terms,
    machine: Machine,
    kind: Kind,
    is_compressed: bool,
    message: Message,
    /// Takes a compressed message apart; also between messages when the peer keeps its context.
    inflater: Option<Inflater>,
    /// We have sent a close.
    has_closed: bool,
}

/// What has come of a message.
#[derive(Default)]
struct Message {
    /// Its bytes, as far as they are kept.
    kept: Vec<u8>,
    length: u64,
    is_cut: bool,
    /// Of a text that was compressed; the machine looks at the others.
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

    /// Takes more of it, without its compression.
    fn take(&mut self, bytes: &[u8], most: usize) {
        self.length += bytes.len() as u64;
        if most == 0 || self.is_cut {
            return;
        }
        let needed = self.kept.len() + bytes.len();
        if needed > most {
            // A part of it is of no use to those who look at messages.
            (self.is_cut, self.kept) = (true, Vec::new());
            return;
        }
        if needed > self.kept.capacity() {
            // No more than what is kept at most, however it grows.
            let room = needed.max(self.kept.capacity().saturating_mul(2)).min(most);
            self.kept.reserve_exact(room - self.kept.len());
        }
        self.kept.extend_from_slice(bytes);
    }

    /// The same of a compressed one, which must be looked at here.
    fn take_inflated(&mut self, bytes: &[u8], kind: Kind, terms: &Terms) -> Result<(), Fault> {
        self.take(bytes, terms.kept_bytes_max);
        if self.length > terms.message_bytes_max {
            return Err(Fault::TooLarge);
        }
        if kind == Kind::Text && !self.utf8.goes_on_with(bytes) { Err(Fault::Utf8) } else { Ok(()) }
    }
}

impl Session {
    /// A conversation on these terms.
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

    /// Nothing has begun that is not complete, and nothing is remembered.
    pub fn is_at_rest(&self) -> bool {
        !self.has_closed && self.inflater.is_none() && self.machine.is_between_messages()
    }

    /// A message has begun and is not whole.
    pub fn is_within_message(&self) -> bool {
        !self.machine.is_between_messages()
    }

    /// What has come of a message that is not whole, as far as it is kept and not compressed.
    pub fn begun(&self) -> &[u8] {
        if self.is_compressed || self.machine.is_between_messages() { &[] } else { &self.message.kept }
    }

    /// Sends a close; what arrives afterwards is still reported.
    pub fn close(&mut self, code: u16, mask: Mask, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.has_closed, true) {
            push_close(code, "", mask, out);
        }
    }

    /// Understands the front of `input`. What the protocol wants to be answered is appended to `out`, covered with `mask`. Call
    /// it again with the rest until it says [`SessionEvent::NeedMore`].
    ///
    /// # Errors
    /// The peer broke the protocol; the close that says so stands in `out`.
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
                // It was text before it was copied.
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

/// The answer to a close of the peer: the same.
fn agree(code: Option<u16>, mask: Mask, out: &mut Vec<u8>) {
    match code {
        Some(code) => push_close(code, "", mask, out),
        None => push_frame(Opcode::Close, true, mask, &[], out),
    }
}

/// Whoever broke the protocol hears so, unless the conversation was over.
fn refuse(fault: Fault, has_closed: bool, mask: Mask, out: &mut Vec<u8>) -> Fault {
    if !has_closed {
        push_close(fault.close_code(), "", mask, out);
    }
    fault
}
