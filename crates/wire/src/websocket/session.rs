//! A side of a conversation: whole messages in, and the answers that the protocol itself wants out (pongs, closes).

use super::deflate::{Inflater, Spoiled};
use super::frame::{Opcode, push_close, push_frame};
use super::machine::{Event, Kind, Machine, Role};
use super::{Fault, Mask};

/// What a connection needs for the time of a call only; one serves all connections of a thread.
#[derive(Default)]
pub struct Scratch {
    inflater: Option<Box<Inflater>>,
    plain: Vec<u8>,
}

/// A buffer that grew beyond this for one message is not kept.
const KEPT_BYTES_MAX: usize = 1024 * 1024;

/// What was agreed on, and how much is taken.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Who we are.
    pub role: Role,
    /// Messages may be compressed.
    pub is_deflate: bool,
    /// The largest message that is taken; also of what it is when it is not compressed any more.
    pub message_bytes_max: u64,
    /// Messages are given whole; else their lengths are.
    pub keeps_messages: bool,
}

/// What was heard.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard<'a> {
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
        /// How many they are.
        length: u64,
    },
    /// A sign of life that was asked for, or not.
    Pong(&'a [u8]),
    /// The peer ends the connection. The answer to it stands in `out`, unless it is the answer to ours.
    Close {
        /// Why, when it says.
        code: Option<u16>,
    },
}

/// See the module. One that is [at rest](Session::is_at_rest) can be forgotten and made anew.
pub struct Session {
    terms: Terms,
    machine: Machine,
    kind: Kind,
    is_compressed: bool,
    /// What has come of a message, as far as it is kept.
    gathered: Vec<u8>,
    length: u64,
    /// We have sent a close.
    has_closed: bool,
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
            machine: Machine::new(from, terms.is_deflate, terms.message_bytes_max),
            kind: Kind::Binary,
            is_compressed: false,
            gathered: Vec::new(),
            length: 0,
            has_closed: false,
        }
    }

    /// Nothing has begun that is not complete.
    pub fn is_at_rest(&self) -> bool {
        !self.has_closed && self.machine.is_between_messages()
    }

    /// What has come of a message that is not whole, as far as it is kept and not compressed.
    pub fn begun(&self) -> &[u8] {
        if self.is_compressed || self.machine.is_between_messages() { &[] } else { &self.gathered }
    }

    /// Sends a close; what is heard afterwards is told all the same.
    pub fn close(&mut self, code: u16, mask: Mask, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.has_closed, true) {
            push_close(code, "", mask, out);
        }
    }

    /// Understands the front of `input`. What the protocol wants to be answered is appended to `out`, covered with `mask`. Call
    /// it again with the rest until it says [`Heard::NeedMore`].
    ///
    /// # Errors
    /// The peer broke the protocol; the close that says so stands in `out`.
    pub fn handle<'a>(
        &'a mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        mask: Mask,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Heard<'a>), Fault> {
        let Self { terms, machine, kind, is_compressed, gathered, length, has_closed } = self;
        let (taken, event) = match machine.handle(input) {
            Ok(handled) => handled,
            Err(fault) => {
                refuse(fault, *has_closed, mask, out);
                return Err(fault);
            }
        };
        let heard = match event {
            Event::NeedMore => Heard::NeedMore,
            Event::Nothing => Heard::Nothing,
            Event::Begun { kind: begun, is_compressed: has_bit } => {
                (*kind, *is_compressed, *length) = (begun, has_bit, 0);
                gathered.clear();
                Heard::Nothing
            }
            Event::Bytes(bytes) => {
                *length += bytes.len() as u64;
                if terms.keeps_messages || *is_compressed {
                    gathered.extend_from_slice(bytes);
                }
                Heard::Nothing
            }
            Event::Ping(bytes) => {
                if !*has_closed {
                    push_frame(Opcode::Pong, true, mask, bytes, out);
                }
                Heard::Nothing
            }
            Event::Pong(bytes) => Heard::Pong(bytes),
            Event::Close { code, .. } => {
                if !*has_closed {
                    match code {
                        Some(code) => push_close(code, "", mask, out),
                        None => push_frame(Opcode::Close, true, mask, &[], out),
                    }
                }
                *has_closed = true;
                Heard::Close { code }
            }
            Event::End if *is_compressed => {
                *is_compressed = false;
                let most = terms.message_bytes_max;
                if let Err(fault) = scratch.inflate(gathered, *kind, most) {
                    refuse(fault, *has_closed, mask, out);
                    return Err(fault);
                }
                gathered.clear();
                let bytes = scratch.plain.as_slice();
                Heard::Message { kind: *kind, bytes, length: bytes.len() as u64 }
            }
            Event::End => Heard::Message { kind: *kind, bytes: gathered, length: *length },
        };
        Ok((taken, heard))
    }
}

/// Whoever broke the protocol hears so, unless the conversation was over.
fn refuse(fault: Fault, has_closed: bool, mask: Mask, out: &mut Vec<u8>) {
    if !has_closed {
        push_close(fault.close_code(), "", mask, out);
    }
}

impl Scratch {
    fn inflate(&mut self, compressed: &[u8], kind: Kind, most: u64) -> Result<(), Fault> {
        if self.plain.capacity() > KEPT_BYTES_MAX {
            self.plain = Vec::new();
        }
        self.plain.clear();
        match self.inflater.get_or_insert_default().inflate(compressed, most, &mut self.plain) {
            Err(Spoiled::Malformed) => Err(Fault::Deflate),
            Err(Spoiled::TooLarge) => Err(Fault::TooLarge),
            Ok(()) if kind == Kind::Text && std::str::from_utf8(&self.plain).is_err() => Err(Fault::Utf8),
            Ok(()) => Ok(()),
        }
    }
}
