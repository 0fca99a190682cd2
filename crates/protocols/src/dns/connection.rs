//! The client's side: datagrams of a socket, and a connection over TCP.

use protocol::{
    ALONE, Abandoned, ConnectionEvent, ExchangeStart, Fault, Handled, IdleState, Mask, Payload, ProtocolConnection,
    Scratch, Stray, Tag, Units,
};
use wire::dns::message::{HEAD_BYTES, is_same_name};
use wire::http1::Ending;

use super::message::{NOERROR, Response, hash_of, question_of, status_of};
use super::{MESSAGE, NAME, NO_QUESTION};

/// Maximum exchanges of a socket: an ID is never used again, and two bytes are remembered of each.
pub(super) const EXCHANGES_MAX: usize = 16_384;
/// The mark of an exchange that was abandoned.
const ABANDONED: u16 = 0x8000;
/// What is sent in place of a query that can't be written, so that the exchange has an end: a query for the root, which
/// costs a server the least. Its response is not taken.
const NO_QUERY: [u8; 15] = [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1];

/// The query that was sent last.
#[derive(Default)]
struct LastQuery {
    tag: Tag,
    id: u16,
    /// The whole message.
    bytes: Vec<u8>,
    /// Its response has not come.
    is_pending: bool,
    /// Why a response is not taken.
    fault: Option<Fault>,
}

impl LastQuery {
    fn begin(&mut self, tag: Tag, id: u16, what: Payload<'_>) {
        (self.tag, self.id, self.is_pending, self.fault) = (tag, id, true, None);
        self.bytes.clear();
        self.bytes.extend_from_slice(&id.to_be_bytes());
        what.write(&mut self.bytes);
        if self.bytes.len() < HEAD_BYTES || self.bytes[2..].starts_with(&NO_QUESTION) {
            self.bytes.truncate(2);
            self.bytes.extend_from_slice(&NO_QUERY);
            self.fault = Some(Fault::Custom(NAME));
        }
    }

    fn question(&self) -> &[u8] {
        question_of(&self.bytes).unwrap_or_default()
    }

    /// Whether a response with its ID is one to it. Servers may send a name back in another case.
    fn is_matched_by(&self, response: &Response<'_>) -> bool {
        let own = self.question();
        response.question.is_none_or(|question| match (own.split_last_chunk::<4>(), question.split_last_chunk::<4>()) {
            (Some((own, own_kind)), Some((name, kind))) => is_same_name(own, name) && own_kind == kind,
            _ => false,
        })
    }

    /// Ends the exchange, as its response has come.
    fn end(&mut self) -> Result<(), Fault> {
        self.is_pending = false;
        match self.fault {
            Some(fault @ Fault::Custom(NAME)) => Err(fault),
            _ => Ok(()),
        }
    }

    fn response<'a>(&self, code: u16, bytes: &'a [u8]) -> ConnectionEvent<'a> {
        ConnectionEvent::Response { tag: self.tag, bytes, status: status_of(code), is_success: code == NOERROR }
    }
}

/// The exchanges of a socket, one at a time. Their IDs are a permutation of their numbers by a random key: none is used
/// twice, and the number of an ID leads to what is remembered of its exchange.
#[derive(Default)]
pub(super) struct Datagrams {
    query: LastQuery,
    key: Mask,
    /// Of each exchange, the one in flight too: 15 bits of its question's hash, and whether it was abandoned.
    marks: Vec<u16>,
}

impl Datagrams {
    fn is_last(&self, number: u32) -> bool {
        self.query.is_pending && number as usize == self.marks.len()
    }

    /// What a response is that is none to the query in flight.
    fn stray(&self, response: &Response<'_>) -> Stray {
        let is_in_flight = self.query.is_pending && response.id == self.query.id;
        let mark = self.marks.get(usize::from(number_of(response.id, self.key)));
        let Some(mark) = mark.filter(|_| !is_in_flight) else { return Stray::Unmatched };
        let is_same = response.question.is_none_or(|question| mark_of(question) == mark & !ABANDONED);
        match response.is_truncated || response.code.is_some() {
            true if is_same && mark & ABANDONED != 0 => Stray::Late,
            true if is_same => Stray::Duplicate,
            _ => Stray::Unmatched,
        }
    }
}

fn mark_of(question: &[u8]) -> u16 {
    (hash_of(question) >> 49) as u16
}

fn round(half: u8, key: u8) -> u8 {
    (u32::from_be_bytes([0, 1, half, key]).wrapping_mul(0x9e37_79b1) >> 24) as u8
}

/// The ID of the exchange with a number: a Feistel cipher of four rounds.
fn id_of(number: u16, key: Mask) -> u16 {
    let [left, right] = number.to_be_bytes();
    let (left, right) = key.iter().fold((left, right), |(left, right), key| (right, left ^ round(right, *key)));
    u16::from_be_bytes([left, right])
}

/// The inverse of [`id_of`].
fn number_of(id: u16, key: Mask) -> u16 {
    let [left, right] = id.to_be_bytes();
    let (left, right) = key.iter().rev().fold((left, right), |(left, right), key| (right ^ round(left, *key), left));
    u16::from_be_bytes([left, right])
}

impl ProtocolConnection for Datagrams {
    fn room(&self) -> usize {
        usize::from(!self.is_used_up())
    }

    fn begin(&mut self, tag: Tag, ask: ExchangeStart<'_>, mask: Mask, out: &mut Vec<u8>) -> u32 {
        if self.marks.is_empty() {
            self.key = mask;
        }
        self.query.begin(tag, id_of(self.marks.len() as u16, self.key), ask.what);
        self.marks.push(mark_of(self.query.question()));
        out.extend_from_slice(&self.query.bytes);
        self.marks.len() as u32
    }

    fn handle<'a>(
        &mut self,
        input: &'a mut [u8],
        _scratch: &'a mut Scratch,
        _mask: Mask,
        _out: &mut Vec<u8>,
    ) -> Handled<'a> {
        let input: &'a [u8] = input;
        if input.is_empty() {
            return Ok((0, ConnectionEvent::NeedMore));
        }
        let Some(response) = Response::read(input) else {
            return Ok((input.len(), ConnectionEvent::Stray(Stray::Unmatched)));
        };
        let query = &mut self.query;
        let is_match = query.is_pending && query.id == response.id && query.is_matched_by(&response);
        let event = match response.code {
            _ if !is_match => ConnectionEvent::Stray(self.stray(&response)),
            _ if response.is_truncated => {
                query.end()?;
                ConnectionEvent::OverStream { tag: query.tag }
            }
            Some(code) => {
                query.end()?;
                query.response(code, input)
            }
            None => {
                // It may be forged: the exchange goes on, and this is its failure if no other response comes.
                query.fault = query.fault.or(Some(Fault::Custom(MESSAGE)));
                ConnectionEvent::Stray(Stray::Unmatched)
            }
        };
        Ok((input.len(), event))
    }

    fn abandon(&mut self, number: u32, _out: &mut Vec<u8>) -> Abandoned {
        if self.is_last(number)
            && let Some(mark) = self.marks.last_mut()
        {
            *mark |= ABANDONED;
            self.query.is_pending = false;
        }
        Abandoned::Kept
    }

    fn resend(&mut self, number: u32, out: &mut Vec<u8>) -> bool {
        let is_last = self.is_last(number);
        if is_last {
            out.extend_from_slice(&self.query.bytes);
        }
        is_last
    }

    fn overdue(&self, number: u32) -> Option<Fault> {
        self.query.fault.filter(|_| number as usize == self.marks.len())
    }

    fn is_idle(&self) -> bool {
        !self.query.is_pending
    }

    fn is_used_up(&self) -> bool {
        self.marks.len() >= EXCHANGES_MAX
    }
}

/// A connection over TCP with one exchange at a time.
#[derive(Default)]
pub(super) struct Stream {
    query: LastQuery,
    units: Units,
    /// Bytes came that belong to no query.
    is_lost: bool,
}

/// The length of a message that begins with these bytes, with its prefix (RFC 1035, 4.2.2).
pub(super) fn unit_length(bytes: &[u8]) -> Result<Option<usize>, Fault> {
    let Some(prefix) = bytes.first_chunk::<2>() else { return Ok(None) };
    match usize::from(u16::from_be_bytes(*prefix)) {
        0..HEAD_BYTES => Err(Fault::Custom(MESSAGE)),
        length => Ok(Some(2 + length)),
    }
}

impl ProtocolConnection for Stream {
    fn room(&self) -> usize {
        usize::from(!self.is_lost)
    }

    fn begin(&mut self, tag: Tag, ask: ExchangeStart<'_>, mask: Mask, out: &mut Vec<u8>) -> u32 {
        self.query.begin(tag, u16::from_be_bytes([mask[0], mask[1]]), ask.what);
        out.extend_from_slice(&(self.query.bytes.len() as u16).to_be_bytes());
        out.extend_from_slice(&self.query.bytes);
        1
    }

    fn handle<'a>(
        &mut self,
        input: &'a mut [u8],
        scratch: &'a mut Scratch,
        _mask: Mask,
        _out: &mut Vec<u8>,
    ) -> Handled<'a> {
        let input: &'a [u8] = input;
        if !input.is_empty() && !self.query.is_pending {
            self.is_lost = true;
            return Ok((input.len(), ConnectionEvent::Body { tag: ALONE, bytes: input, is_last: false }));
        }
        let (taken, unit) = self.units.next(input, &mut scratch.custom, unit_length)?;
        let Some(message) = unit.and_then(|unit| unit.get(2..)) else {
            return Ok((taken, ConnectionEvent::NeedMore));
        };
        let response = Response::read(message).filter(|response| response.id == self.query.id);
        // Nothing follows a truncated response over TCP.
        let response = response.filter(|response| self.query.is_matched_by(response) && !response.is_truncated);
        let code = response.and_then(|response| response.code).ok_or(Fault::Custom(MESSAGE))?;
        self.query.end()?;
        Ok((taken, self.query.response(code, message)))
    }

    fn handle_end(&mut self) -> Ending {
        if self.units.begun().is_empty() { Ending::BeforeAnswer } else { Ending::Early }
    }

    fn overdue(&self, _number: u32) -> Option<Fault> {
        self.query.fault
    }

    fn is_idle(&self) -> bool {
        !self.query.is_pending && !self.is_lost
    }

    fn is_used_up(&self) -> bool {
        self.is_lost
    }

    fn begun(&self) -> &[u8] {
        self.units.begun()
    }

    fn park(&self) -> Option<IdleState> {
        self.is_idle().then(IdleState::default)
    }
}
