//! The client's side of a socket.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use md5::Context;
use protocol::{
    Abandoned, ConnectionEvent, ExchangeStart, Fault, Handled, Mask, Payload, ProtocolConnection, Scratch, Stray, Tag,
};

use super::packet::{
    ACCESS_ACCEPT, ACCESS_CHALLENGE, ACCESS_REJECT, ACCESS_REQUEST, ACCOUNTING_REQUEST, ACCOUNTING_RESPONSE, Digest,
    Secret, code_name, identity, is_well_formed, packet_of,
};
use super::request::{finish, is_cut};
use super::{RESPONSE, SECRET, VALUE};

/// The identifiers of a socket: a byte.
const IDS: usize = 256;
/// The requests with a response that are remembered, so that one more response to them is known as such.
const ANSWERED_KEPT: usize = 8;

/// What other processes draw differently.
static ENTROPY: LazyLock<[u64; 2]> = LazyLock::new(|| [1, 2].map(|each| RandomState::new().hash_one(each)));
/// The clients that were made in this process.
static CLIENTS: AtomicU64 = AtomicU64::new(0);

/// A socket with one exchange at a time.
pub(super) struct Client {
    secret: Arc<Secret>,
    seed: Digest,
    /// The exchanges that began: the number of the last one.
    count: u32,
    tag: Tag,
    is_in_exchange: bool,
    /// The request of the last exchange.
    datagram: Vec<u8>,
    /// The failure that a response to it, which was not valid, indicates.
    reason: Option<u8>,
    /// A value of the request was too long: its response is none to what was meant.
    is_cut: bool,
    /// Identifier and authenticator of the last requests with a response.
    answered: [Option<(u8, Digest)>; ANSWERED_KEPT],
    /// Those of all abandoned requests. Their identifiers are never used again.
    abandoned: Vec<(u8, Digest)>,
    /// A bit for each identifier.
    is_abandoned: [u64; IDS / 64],
    next_id: u8,
}

/// The meaning of a response to the request in flight.
enum Response {
    Status {
        status: &'static str,
        is_success: bool,
    },
    /// It is not valid, which this failure reports.
    Wrong(u8),
}

impl Client {
    pub(super) fn new(secret: Arc<Secret>, number: u64) -> Self {
        let mut context = Context::new();
        let made = CLIENTS.fetch_add(1, Ordering::Relaxed);
        [ENTROPY[0], ENTROPY[1], number, made].iter().for_each(|each| context.consume(each.to_le_bytes()));
        Self {
            secret,
            seed: context.finalize().0,
            count: 0,
            tag: 0,
            is_in_exchange: false,
            datagram: Vec::new(),
            reason: None,
            is_cut: false,
            answered: [None; ANSWERED_KEPT],
            abandoned: Vec::new(),
            is_abandoned: [0; IDS / 64],
            next_id: 0,
        }
    }

    /// 16 bytes that are never the same twice.
    fn draw(&self, mask: Mask) -> Digest {
        let mut context = Context::new();
        context.consume(self.seed);
        context.consume(self.count.to_le_bytes());
        context.consume(mask);
        context.finalize().0
    }

    /// The next identifier of no abandoned request.
    fn take_id(&mut self) -> u8 {
        let is_abandoned = |id: u8| self.is_abandoned[usize::from(id / 64)] >> (id % 64) & 1 == 1;
        while !self.is_used_up() && is_abandoned(self.next_id) {
            self.next_id = self.next_id.wrapping_add(1);
        }
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        id
    }

    fn judge(&self, packet: &[u8], authenticator: &Digest) -> Response {
        if !self.secret.has_digest(packet, authenticator) || !self.secret.is_signed_if_at_all(packet, authenticator) {
            return Response::Wrong(SECRET);
        }
        let is_success = match (self.datagram.first(), packet[0]) {
            (Some(&ACCESS_REQUEST), ACCESS_ACCEPT) | (Some(&ACCOUNTING_REQUEST), ACCOUNTING_RESPONSE) => true,
            (Some(&ACCESS_REQUEST), ACCESS_REJECT | ACCESS_CHALLENGE) => false,
            _ => return Response::Wrong(RESPONSE),
        };
        match code_name(packet[0]) {
            Some(status) if is_well_formed(packet) => Response::Status { status, is_success },
            _ => Response::Wrong(RESPONSE),
        }
    }

    /// What a packet is that is not the response to the request in flight.
    fn stray(&self, packet: &[u8]) -> Stray {
        let is_to = |(id, authenticator): &(u8, Digest)| {
            *id == packet[1]
                && self.secret.has_digest(packet, authenticator)
                && self.secret.is_signed_if_at_all(packet, authenticator)
        };
        if self.answered.iter().flatten().any(is_to) {
            Stray::Duplicate
        } else if self.abandoned.iter().any(is_to) {
            Stray::Late
        } else {
            Stray::Unmatched
        }
    }

    fn is_current(&self, number: u32) -> bool {
        self.is_in_exchange && number == self.count
    }
}

impl ProtocolConnection for Client {
    fn room(&self) -> usize {
        usize::from(!self.is_used_up())
    }

    fn begin(&mut self, tag: Tag, ask: ExchangeStart<'_>, mask: Mask, out: &mut Vec<u8>) -> u32 {
        let written = if let Payload::Rendered(written) = ask.what { written } else { &[] };
        self.count = self.count.wrapping_add(1);
        (self.tag, self.is_in_exchange, self.reason, self.is_cut) = (tag, true, None, is_cut(written));
        let (id, drawn) = (self.take_id(), self.draw(mask));
        finish(written, id, &drawn, &self.secret, &mut self.datagram);
        out.extend_from_slice(&self.datagram);
        self.count
    }

    fn handle<'a>(
        &mut self,
        input: &'a mut [u8],
        _scratch: &'a mut Scratch,
        _mask: Mask,
        _out: &mut Vec<u8>,
    ) -> Handled<'a> {
        if input.is_empty() {
            return Ok((0, ConnectionEvent::NeedMore));
        }
        let (taken, input) = (input.len(), &*input);
        let Some(packet) = packet_of(input) else {
            return Ok((taken, ConnectionEvent::Stray(Stray::Unmatched)));
        };
        let (id, authenticator) = identity(&self.datagram);
        if !self.is_in_exchange || packet[1] != id {
            return Ok((taken, ConnectionEvent::Stray(self.stray(packet))));
        }
        let event = match self.judge(packet, &authenticator) {
            Response::Status { status, is_success } => {
                self.is_in_exchange = false;
                self.answered[self.count as usize % ANSWERED_KEPT] = Some((id, authenticator));
                if self.is_cut {
                    return Err(Fault::Custom(VALUE));
                }
                ConnectionEvent::Response { tag: self.tag, bytes: packet, status, is_success }
            }
            Response::Wrong(reason) => {
                let stray = self.stray(packet);
                if stray == Stray::Unmatched {
                    self.reason = Some(reason);
                }
                ConnectionEvent::Stray(stray)
            }
        };
        Ok((taken, event))
    }

    fn abandon(&mut self, number: u32, _out: &mut Vec<u8>) -> Abandoned {
        if self.is_current(number) {
            self.is_in_exchange = false;
            let identity = identity(&self.datagram);
            self.is_abandoned[usize::from(identity.0 / 64)] |= 1 << (identity.0 % 64);
            self.abandoned.push(identity);
        }
        Abandoned::Kept
    }

    fn resend(&mut self, number: u32, out: &mut Vec<u8>) -> bool {
        let is_current = self.is_current(number);
        if is_current {
            out.extend_from_slice(&self.datagram);
        }
        is_current
    }

    fn overdue(&self, number: u32) -> Option<Fault> {
        let reason = if self.is_cut { Some(VALUE) } else { self.reason };
        reason.filter(|_| number == self.count).map(Fault::Custom)
    }

    fn is_idle(&self) -> bool {
        !self.is_in_exchange
    }

    fn is_used_up(&self) -> bool {
        self.abandoned.len() >= IDS
    }
}
