//! What both sides need of a message: its question, its response code.

use wire::decimal::push_decimal;
use wire::dns::message::{CNAME, CODE, HEAD_BYTES, MessageHead, OPCODE, OPT, RESPONSE, Reader, Record, TRUNCATED};

// The types of records with data in a form of their own.
pub(super) const A: u16 = 1;
pub(super) const NS: u16 = 2;
pub(super) const SOA: u16 = 6;
pub(super) const PTR: u16 = 12;
pub(super) const MX: u16 = 15;
pub(super) const TXT: u16 = 16;
pub(super) const AAAA: u16 = 28;
pub(super) const SRV: u16 = 33;
pub(super) const DNAME: u16 = 39;

/// The types with names: these, and their numbers.
const KIND_NAMES: [&str; 22] = [
    "A", "AAAA", "NS", "CNAME", "SOA", "PTR", "MX", "TXT", "SRV", "NAPTR", "DNAME", "DS", "RRSIG", "NSEC", "DNSKEY",
    "NSEC3", "TLSA", "SVCB", "HTTPS", "CERT", "ANY", "CAA",
];
const KINDS: [u16; KIND_NAMES.len()] =
    [A, AAAA, NS, CNAME, SOA, PTR, MX, TXT, SRV, 35, DNAME, 43, 46, 47, 48, 50, 52, 64, 65, 37, 255, 257];
/// What can't be the type of a question with one response: EDNS, signatures of transactions, transfers of zones.
const OTHER_KINDS: [u16; 6] = [0, OPT, 249, 250, 251, 252];

/// The first response codes (RFC 6895, 2.3), that of cookies (RFC 7873), and what stands for all others.
pub(super) const STATUSES: [&str; 25] = [
    "NOERROR",
    "FORMERR",
    "SERVFAIL",
    "NXDOMAIN",
    "NOTIMP",
    "REFUSED",
    "YXDOMAIN",
    "YXRRSET",
    "NXRRSET",
    "NOTAUTH",
    "NOTZONE",
    "RCODE11",
    "RCODE12",
    "RCODE13",
    "RCODE14",
    "RCODE15",
    "BADVERS",
    "BADKEY",
    "BADTIME",
    "BADMODE",
    "BADNAME",
    "BADALG",
    "BADTRUNC",
    "BADCOOKIE",
    "RCODE-OTHER",
];
pub(super) const NOERROR: u16 = 0;
pub(super) const FORMERR: u16 = 1;
pub(super) const SERVFAIL: u16 = 2;
pub(super) const NXDOMAIN: u16 = 3;
pub(super) const NOTIMP: u16 = 4;
pub(super) const REFUSED: u16 = 5;

/// The type that a question asks for, by its name or as `TYPE123` (RFC 3597, 5).
pub(super) fn kind_of(text: &[u8]) -> Option<u16> {
    if let Some(at) = KIND_NAMES.iter().position(|name| name.as_bytes().eq_ignore_ascii_case(text)) {
        return Some(KINDS[at]);
    }
    let (word, digits) = text.split_at_checked(4).filter(|(_, digits)| digits.iter().all(u8::is_ascii_digit))?;
    let kind = std::str::from_utf8(digits).ok()?.parse().ok().filter(|_| word.eq_ignore_ascii_case(b"TYPE"))?;
    (!OTHER_KINDS.contains(&kind)).then_some(kind)
}

/// Appends the name of a type.
pub(super) fn push_kind(kind: u16, out: &mut Vec<u8>) {
    match KINDS.iter().position(|known| *known == kind) {
        Some(at) => out.extend_from_slice(KIND_NAMES[at].as_bytes()),
        None => {
            out.extend_from_slice(b"TYPE");
            push_decimal(u64::from(kind), out);
        }
    }
}

/// The status of a response code.
pub(super) fn status_of(code: u16) -> &'static str {
    STATUSES[usize::from(code).min(STATUSES.len() - 1)]
}

/// A hash in which the case of letters does not matter.
pub(super) fn hash_of(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(0, |hash: u64, chunk| {
        let mut eight = [0; 8];
        eight[..chunk.len()].copy_from_slice(chunk);
        let folded = u64::from_le_bytes(eight) | 0x2020_2020_2020_2020;
        (hash.rotate_left(5) ^ folded).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

/// The first question: name, type and class. Its name is not compressed: there is nothing before it.
pub(super) fn question_of(message: &[u8]) -> Option<&[u8]> {
    let mut reader = Reader::new(message, HEAD_BYTES);
    reader.plain_name()?;
    reader.take::<4>()?;
    message.get(HEAD_BYTES..reader.at())
}

/// The record of EDNS, if there is one, among all records, which begin at `start`; `None` where one of them is cut or
/// not valid.
pub(super) fn find_opt(message: &[u8], head: &MessageHead, start: usize) -> Option<Option<Record>> {
    let (mut reader, mut opt) = (Reader::new(message, start), None);
    for _ in 0..head.counts[1..].iter().map(|count| u32::from(*count)).sum() {
        reader.skip_name()?;
        let record = reader.record()?;
        // RFC 6891, 6.1.1: there is at most one.
        if record.kind == OPT && opt.replace(record).is_some() {
            return None;
        }
    }
    Some(opt)
}

/// A response code, with the bits that stand in the record of EDNS (RFC 6891, 6.1.3).
pub(super) fn code_of(flags: u16, opt: Option<Record>) -> u16 {
    flags & CODE | opt.map_or(0, |opt| (opt.ttl >> 24) as u16) << 4
}

/// What matches a response to its query.
pub(super) struct Response<'a> {
    pub(super) id: u16,
    /// `None` where a server left it out, as it may if it refuses the query.
    pub(super) question: Option<&'a [u8]>,
    pub(super) is_truncated: bool,
    /// The response code; `None` where the records are cut or not valid.
    pub(super) code: Option<u16>,
}

impl<'a> Response<'a> {
    /// Reads a response to a query with one question.
    pub(super) fn read(message: &'a [u8]) -> Option<Self> {
        let head = MessageHead::read(message).filter(|head| head.flags & (RESPONSE | OPCODE) == RESPONSE)?;
        let question = match head.counts[0] {
            0 if [FORMERR, SERVFAIL, NOTIMP, REFUSED].contains(&(head.flags & CODE)) => None,
            1 => Some(question_of(message)?),
            _ => return None,
        };
        let opt = find_opt(message, &head, HEAD_BYTES + question.map_or(0, <[u8]>::len));
        let code = opt.map(|opt| code_of(head.flags, opt));
        Some(Self { id: head.id, question, is_truncated: head.flags & TRUNCATED != 0, code })
    }
}
