//! A small name server, for tests and for `onrush serve`. It has an answer for any name, always the same. The first
//! label of a name says what goes wrong.

use std::collections::HashMap;

use protocol::{Replies, Service, Units};
use wire::dns::message::{
    AUTHORITATIVE, CLASS_IN, HEAD_BYTES, MessageHead, NAME_BYTES_MAX, OPCODE, OPT_BYTES, RECURSION_DESIRED, RESPONSE,
    Record, TRUNCATED, push_opt,
};

use super::connection::unit_length;
use super::message::{
    A, AAAA, FORMERR, MX, NOERROR, NOTIMP, NS, NXDOMAIN, PTR, REFUSED, SERVFAIL, SOA, SRV, TXT, find_opt, hash_of,
    question_of,
};
use super::{DNSSEC_OK, OFFERED_BYTES};

/// Maximum bytes of all queries over TCP that have not arrived whole.
const PENDING_BYTES_MAX: usize = 16 << 20;
/// Seconds for which answers are valid.
const TTL: u32 = 60;
/// The size of datagrams for a client without EDNS.
const PLAIN_BYTES: u16 = 512;
/// A pointer to the name of the question.
const POINTER: [u8; 2] = [0xc0, HEAD_BYTES as u8];
/// The numbers and lengths of the strings of a large text.
const STRINGS: usize = 16;
const STRING_BYTES: u8 = 249;

/// A query as far as it could be read.
struct Query<'a> {
    id: u16,
    flags: u16,
    /// Name, type and class; empty where there is not exactly one that is valid.
    question: &'a [u8],
    opt: Option<Record>,
    code: u16,
}

impl<'a> Query<'a> {
    /// Reads a query; `None` for what has no reply, lest servers reply to each other.
    fn read(message: &'a [u8]) -> Option<Self> {
        let head = MessageHead::read(message).filter(|head| head.flags & RESPONSE == 0)?;
        let question = question_of(message).filter(|_| head.counts[0] == 1).unwrap_or_default();
        let opt = find_opt(message, &head, HEAD_BYTES + question.len());
        let code = match question.get(1..) {
            _ if head.flags & OPCODE != 0 => NOTIMP,
            Some(_) if opt.is_none() => FORMERR,
            Some(label) if !label.ends_with(&CLASS_IN.to_be_bytes()) || begins(label, b"refuse") => REFUSED,
            Some(label) if begins(label, b"nx") => NXDOMAIN,
            Some(label) if begins(label, b"fail") => SERVFAIL,
            Some(_) => NOERROR,
            None => FORMERR,
        };
        Some(Self { id: head.id, flags: head.flags, question, opt: opt.flatten(), code })
    }

    /// The changes of the IDs of its replies.
    fn replies(&self, is_datagram: bool) -> &'static [u16] {
        match self.question.get(1..).unwrap_or_default() {
            label if is_datagram && begins(label, b"drop") => &[],
            label if begins(label, b"twice") => &[0, 0],
            label if begins(label, b"flip") => &[0xffff, 0],
            _ => &[0],
        }
    }

    /// Appends a reply of no more than this length.
    fn reply(&self, id: u16, bytes_max: usize, out: &mut Vec<u8>) {
        let start = out.len();
        let flags = RESPONSE | AUTHORITATIVE | self.flags & (OPCODE | RECURSION_DESIRED) | self.code;
        let counts = [u16::from(!self.question.is_empty()), 0, 0, u16::from(self.opt.is_some())];
        MessageHead { id, flags, counts }.push(out);
        out.extend_from_slice(self.question);
        let before_answer = out.len();
        if self.code == NOERROR && self.push_answer(out).is_some() {
            out[start + 7] = 1;
        }
        if out.len() - start + self.opt.map_or(0, |_| OPT_BYTES) > bytes_max {
            out.truncate(before_answer);
            out[start + 7] = 0;
            out[start + 2] |= (TRUNCATED >> 8) as u8;
        }
        if let Some(opt) = self.opt {
            push_opt(OFFERED_BYTES, opt.ttl as u16 & DNSSEC_OK, out);
        }
    }

    /// Appends the record that answers the question, if there is one.
    fn push_answer(&self, out: &mut Vec<u8>) -> Option<()> {
        let (name, [kind @ .., _, _]) = self.question.split_last_chunk::<4>()?;
        let hash = hash_of(name).to_be_bytes();
        let start = out.len();
        out.extend_from_slice(&POINTER);
        out.extend_from_slice(kind);
        out.extend_from_slice(&CLASS_IN.to_be_bytes());
        out.extend_from_slice(&TTL.to_be_bytes());
        out.extend_from_slice(&[0; 2]);
        let data = out.len();
        match u16::from_be_bytes(*kind) {
            A => out.extend_from_slice(&[10, hash[0], hash[1], hash[2]]),
            AAAA => out.extend([[0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0], hash].concat()),
            TXT if begins(name.get(1..)?, b"big") => {
                let letter = |number: usize| [vec![STRING_BYTES], vec![b'a' + number as u8; STRING_BYTES.into()]];
                out.extend((0..STRINGS).flat_map(letter).flatten());
            }
            TXT => {
                out.push(16);
                out.extend(hash.iter().flat_map(|byte| [b'a' + (byte >> 4), b'a' + (byte & 15)]));
            }
            MX => push_host(&[0, 10], "mail", name, out),
            NS => push_host(&[], "ns1", name, out),
            PTR => push_host(&[], "host", name, out),
            SRV => push_host(&[0, 10, 0, 10, 0, 80], "host", name, out),
            SOA => {
                push_host(&[], "ns1", name, out);
                push_host(&[], "hostmaster", name, out);
                out.extend([1, 7_200, 3_600, 1_209_600, TTL].into_iter().flat_map(u32::to_be_bytes));
            }
            _ => {
                out.truncate(start);
                return None;
            }
        }
        let length = (out.len() - data) as u16;
        out[data - 2..data].copy_from_slice(&length.to_be_bytes());
        Some(())
    }
}

/// Whether a name after its first length begins with some letters.
fn begins(label: &[u8], letters: &[u8]) -> bool {
    label.get(..letters.len()).is_some_and(|front| front.eq_ignore_ascii_case(letters))
}

/// Appends numbers and the name of a host below a name; where that is too long, the name itself. It is not compressed:
/// not all types allow that (RFC 2782).
fn push_host(numbers: &[u8], label: &str, name: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(numbers);
    if 1 + label.len() + name.len() <= NAME_BYTES_MAX {
        out.push(label.len() as u8);
        out.extend_from_slice(label.as_bytes());
    }
    out.extend_from_slice(name);
}

/// A connection over TCP.
#[derive(Default)]
struct Session {
    units: Units,
    is_closed: bool,
}

/// The server.
#[derive(Default)]
pub(super) struct Server {
    sessions: HashMap<u64, Session>,
    /// Bytes of queries that have not arrived whole.
    pending: usize,
    lent: Vec<u8>,
}

impl Service for Server {
    fn handle(&mut self, connection: u64, bytes: &[u8], replies: &mut Replies) {
        let session = self.sessions.entry(connection).or_default();
        self.pending -= session.units.begun().len();
        let mut rest = bytes;
        while !session.is_closed {
            let Ok((taken, unit)) = session.units.next(rest, &mut self.lent, unit_length) else {
                session.is_closed = true;
                break;
            };
            rest = &rest[taken..];
            let Some(message) = unit.and_then(|unit| unit.get(2..)) else { break };
            let Some(query) = Query::read(message) else {
                session.is_closed = true;
                break;
            };
            replies.requests += 1;
            for change in query.replies(false) {
                let out = replies.buffer(connection);
                let start = out.len();
                out.extend_from_slice(&[0; 2]);
                query.reply(query.id ^ change, usize::from(u16::MAX), out);
                let length = (out.len() - start - 2) as u16;
                out[start..start + 2].copy_from_slice(&length.to_be_bytes());
            }
        }
        if self.pending + session.units.begun().len() > PENDING_BYTES_MAX {
            session.is_closed = true;
        }
        if session.is_closed {
            session.units = Units::default();
            replies.close(connection);
        }
        self.pending += session.units.begun().len();
    }

    fn handle_datagram(&mut self, peer: u64, bytes: &[u8], replies: &mut Replies) {
        let Some(query) = Query::read(bytes) else { return };
        replies.requests += 1;
        let bytes_max = query.opt.map_or(PLAIN_BYTES, |opt| opt.class.max(PLAIN_BYTES));
        for change in query.replies(true) {
            query.reply(query.id ^ change, usize::from(bytes_max), replies.datagram(peer));
        }
    }

    fn close(&mut self, connection: u64) {
        let session = self.sessions.remove(&connection);
        self.pending -= session.map_or(0, |session| session.units.begun().len());
    }
}
