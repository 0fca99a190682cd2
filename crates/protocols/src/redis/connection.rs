//! The client's side of a connection.

use std::sync::Arc;

use protocol::{
    ALONE, ConnectionEvent, ExchangeStart, Fault, IdleState, Mask, ProtocolConnection, ResponseKind, Scratch, Tag,
};
use wire::http1::Ending;

use super::resp::{Broken, Scan, Scanner, status_of};
use super::{DATABASE, LOGIN, REFUSED, REPLY, TOO_LARGE, VERSION};

/// Maximum length of a push that is reported whole.
pub(super) const PUSH_BYTES_MAX: usize = 64 << 10;

/// A command at the beginning of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Hello,
    Auth,
    Select,
}

/// The commands at the beginning of a connection.
#[derive(Default)]
pub(super) struct Opening {
    pub(super) bytes: Vec<u8>,
    pub(super) steps: Vec<Step>,
}

/// A connection with one exchange at a time.
#[derive(Default)]
pub(super) struct Client {
    opening: Arc<Opening>,
    /// The opening commands whose replies have come.
    opened: usize,
    scanner: Scanner,
    /// The commands of the exchange, and those without a reply.
    sent: u32,
    pending: u32,
    is_in_exchange: bool,
    /// A reply came that belongs to no command: what comes later cannot be matched.
    is_lost: bool,
    push: Vec<u8>,
    push_length: u64,
}

impl Client {
    pub(super) fn new(opening: Arc<Opening>, opened: usize) -> Self {
        Self { opening, opened, ..Self::default() }
    }

    fn is_open(&self) -> bool {
        self.opened == self.opening.steps.len()
    }

    /// The event after a reply to an opening command.
    fn handle_opening(&mut self) -> Result<ConnectionEvent<'static>, Fault> {
        let step = self.opening.steps[self.opened];
        if let Some(error) = self.scanner.take_error() {
            // Servers before version 6 do not know the command; others may not know the version.
            let is_unknown = error.starts_with(b"ERR unknown") || error.starts_with(b"NOPROTO");
            return Err(Fault::Custom(match step {
                _ if is_refusal(&error) => REFUSED,
                Step::Hello if is_unknown => VERSION,
                Step::Hello | Step::Auth => LOGIN,
                Step::Select if error.starts_with(b"NOAUTH") => LOGIN,
                Step::Select => DATABASE,
            }));
        }
        self.opened += 1;
        Ok(if self.is_open() { ConnectionEvent::Ready } else { ConnectionEvent::Nothing })
    }

    fn handle_push<'a>(&mut self, scan: Scan, input: &[u8], lent: &'a mut Vec<u8>) -> ConnectionEvent<'a> {
        let bytes = if scan.is_joined { lent.as_slice() } else { &input[..scan.complete] };
        self.push_length += bytes.len() as u64;
        self.push.extend_from_slice(&bytes[..bytes.len().min(PUSH_BYTES_MAX - self.push.len())]);
        if !scan.is_push_over {
            return ConnectionEvent::Nothing;
        }
        lent.clear();
        std::mem::swap(lent, &mut self.push);
        let length = std::mem::take(&mut self.push_length);
        // Nobody waits for messages before the connection is open.
        if !self.is_open() {
            return ConnectionEvent::Nothing;
        }
        ConnectionEvent::Message { bytes: lent, is_cut: length > lent.len() as u64, length }
    }

    fn end_exchange<'a>(&mut self, lent: &'a mut Vec<u8>) -> ConnectionEvent<'a> {
        self.is_in_exchange = false;
        let error = self.scanner.take_error();
        lent.clear();
        lent.extend_from_slice(error.as_deref().map_or(b"OK", status_of));
        let status = std::str::from_utf8(lent).unwrap_or("ERROR");
        ConnectionEvent::Response { tag: ALONE, bytes: &[], status, is_success: error.is_none() }
    }
}

/// Whether an error is that of a server that closes the connection as soon as it was accepted: it is no reply.
fn is_refusal(error: &[u8]) -> bool {
    error.starts_with(b"ERR max number of clients") || error.starts_with(b"DENIED ")
}

impl ProtocolConnection for Client {
    fn start(&mut self, out: &mut Vec<u8>) {
        if !self.is_open() {
            out.extend_from_slice(&self.opening.bytes);
        }
    }

    fn room(&self) -> usize {
        usize::from(self.is_open() && !self.is_lost)
    }

    fn begin(&mut self, _tag: Tag, ask: ExchangeStart<'_>, _mask: Mask, out: &mut Vec<u8>) -> u32 {
        ask.what.write(out);
        self.is_in_exchange = true;
        self.sent = if let ResponseKind::Custom { messages } = ask.response { messages } else { 1 };
        self.pending = self.sent;
        1
    }

    fn handle<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        _mask: Mask,
        _out: &mut Vec<u8>,
    ) -> Result<(usize, ConnectionEvent<'a>), Fault> {
        let (input, lent): (&'a [u8], _) = (input, &mut scratch.custom);
        if self.is_in_exchange && self.pending == 0 {
            return Ok((0, self.end_exchange(lent)));
        }
        let Some(first) = input.first() else { return Ok((0, ConnectionEvent::NeedMore)) };
        let is_unsolicited = self.is_open() && self.pending == 0 && self.scanner.is_idle() && *first != b'>';
        if self.is_lost || is_unsolicited {
            self.is_lost = true;
            return Ok((input.len(), ConnectionEvent::Body { tag: ALONE, bytes: input, is_last: false }));
        }
        let replies = if self.is_open() { self.pending.max(1) } else { 1 };
        let scan = self.scanner.scan(input, replies, lent).map_err(|broken| {
            Fault::Custom(match broken {
                Broken::Reply => REPLY,
                Broken::TooLarge => TOO_LARGE,
            })
        })?;
        if scan.is_push {
            return Ok((scan.taken, self.handle_push(scan, input, lent)));
        }
        if !self.is_open() {
            let event = if scan.replies == 1 { self.handle_opening()? } else { ConnectionEvent::Nothing };
            return Ok((scan.taken, event));
        }
        let is_first = self.pending == self.sent;
        self.pending = self.pending.saturating_sub(scan.replies);
        let bytes = if scan.is_joined { lent.as_slice() } else { &input[..scan.complete] };
        if is_first && bytes.strip_prefix(b"-").is_some_and(is_refusal) {
            return Err(Fault::Custom(REFUSED));
        }
        if bytes.is_empty() {
            return Ok((scan.taken, ConnectionEvent::NeedMore));
        }
        Ok((scan.taken, ConnectionEvent::Body { tag: ALONE, bytes, is_last: false }))
    }

    fn handle_end(&mut self) -> Ending {
        let has_begun = self.pending != self.sent || !self.scanner.is_idle();
        if self.is_in_exchange && has_begun { Ending::Early } else { Ending::BeforeAnswer }
    }

    fn is_idle(&self) -> bool {
        self.is_open() && !self.is_in_exchange && !self.is_lost && self.scanner.is_idle()
    }

    fn is_used_up(&self) -> bool {
        self.is_lost
    }

    fn begun(&self) -> &[u8] {
        self.scanner.begun()
    }

    fn park(&self) -> Option<IdleState> {
        self.is_idle().then(IdleState::default)
    }
}
