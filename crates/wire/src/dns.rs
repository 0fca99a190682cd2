//! DNS messages for the addresses of a name (RFC 1035, RFC 3596): a question, and its answer.
//!
//! A question is asked of a resolver, which follows aliases by itself; so all records of an answer are read, and the
//! aliases are followed among them. An answer that is not to this question is another one's, or forged.

pub mod message;

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use self::message::{
    CLASS_IN, CNAME, CODE, HEAD_BYTES, MessageHead, OPT_BYTES, RECURSION_DESIRED, RESPONSE, Reader, Record, TRUNCATED,
    is_same_name, push_name, push_name_text, push_opt,
};

/// The size of UDP answers that is asked for: it passes every usual path in one piece.
const UDP_BYTES_MAX: u16 = 1_232;
/// Most aliases that lead to the addresses of a name.
const ALIASES_MAX: usize = 16;

/// The kind of addresses that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// IPv4: an `A` record.
    V4,
    /// IPv6: an `AAAA` record.
    V6,
}

impl AddressKind {
    fn code(self) -> u16 {
        match self {
            Self::V4 => 1,
            Self::V6 => 28,
        }
    }
}

/// A question for the addresses of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    id: u16,
    /// The name on the wire, in lower case.
    name: Vec<u8>,
    kind: AddressKind,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The addresses, and for how many seconds they are valid.
    Addresses(Vec<IpAddr>, u32),
    /// The name has an alias, whose addresses are not in the message.
    Alias(String, u32),
    /// The name has no address of this kind.
    NoAddress,
    /// There is no such name.
    NoName,
    /// The answer did not fit; it is complete over TCP.
    Truncated,
    /// The server has no answer: its response code.
    Refused(u8),
}

/// Why a message is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DnsFault {
    /// It answers another question.
    OtherQuestion,
    /// It is no DNS message, or its aliases lead in a circle.
    Malformed,
}

impl Question {
    /// A question; `None` for a name that DNS cannot have.
    pub fn new(id: u16, name: &str, kind: AddressKind) -> Option<Self> {
        Some(Self { id, name: wire_form(name)?, kind })
    }

    /// The message that asks it.
    pub fn message(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEAD_BYTES + self.name.len() + 4 + OPT_BYTES);
        MessageHead { id: self.id, flags: RECURSION_DESIRED, counts: [1, 0, 0, 1] }.push(&mut out);
        out.extend_from_slice(&self.name);
        out.extend_from_slice(&self.kind.code().to_be_bytes());
        out.extend_from_slice(&CLASS_IN.to_be_bytes());
        push_opt(UDP_BYTES_MAX, 0, &mut out);
        out
    }

    /// Reads a message that came from the server.
    ///
    /// # Errors
    /// It is no answer to this question.
    pub fn read(&self, message: &[u8]) -> Result<Answer, DnsFault> {
        let head = MessageHead::read(message).ok_or(DnsFault::Malformed)?;
        let ([questions, answers, ..], mut reader) = (head.counts, Reader::new(message, HEAD_BYTES));
        if head.id != self.id || head.flags & RESPONSE == 0 {
            return Err(DnsFault::OtherQuestion);
        }
        let code = (head.flags & CODE) as u8;
        // A server that does not understand a message may leave the question out.
        if questions == 0 && code != 0 {
            return Ok(Answer::Refused(code));
        }
        let given = (|| Some((reader.name()?, [reader.number()?, reader.number()?])))().ok_or(DnsFault::Malformed)?;
        if questions != 1 || !is_same_name(&given.0, &self.name) || given.1 != [self.kind.code(), CLASS_IN] {
            return Err(DnsFault::OtherQuestion);
        }
        match code {
            _ if head.flags & TRUNCATED != 0 => return Ok(Answer::Truncated),
            0 => {}
            3 => return Ok(Answer::NoName),
            code => return Ok(Answer::Refused(code)),
        }
        let records = (0..answers).map(|_| Some((reader.name()?, reader.record()?))).collect::<Option<Vec<_>>>();
        self.addresses_among(&records.ok_or(DnsFault::Malformed)?, message)
    }

    /// Follows the aliases of the name to its addresses.
    fn addresses_among(&self, records: &[(Vec<u8>, Record)], message: &[u8]) -> Result<Answer, DnsFault> {
        let (mut name, mut ttl) = (self.name.clone(), u32::MAX);
        for _ in 0..=ALIASES_MAX {
            let is_own = |(owner, record): &&(Vec<u8>, Record)| record.class == CLASS_IN && is_same_name(owner, &name);
            let own = || records.iter().filter(is_own).map(|(_, record)| record);
            let addresses: Vec<IpAddr> = own().filter_map(|record| self.address(record, message)).collect();
            if !addresses.is_empty() {
                let least = own().filter(|record| record.kind == self.kind.code()).map(|record| record.ttl).min();
                return Ok(Answer::Addresses(addresses, ttl.min(least.unwrap_or(0))));
            }
            let Some(alias) = own().find(|record| record.kind == CNAME) else {
                return Ok(if name == self.name { Answer::NoAddress } else { Answer::Alias(text_form(&name), ttl) });
            };
            ttl = ttl.min(alias.ttl);
            name = Reader::new(message, alias.data.0).name().ok_or(DnsFault::Malformed)?;
        }
        Err(DnsFault::Malformed)
    }

    fn address(&self, record: &Record, message: &[u8]) -> Option<IpAddr> {
        let (from, to) = record.data;
        let data = message.get(from..to).filter(|_| record.kind == self.kind.code())?;
        match self.kind {
            AddressKind::V4 => <[u8; 4]>::try_from(data).ok().map(|data| Ipv4Addr::from(data).into()),
            AddressKind::V6 => <[u8; 16]>::try_from(data).ok().map(|data| Ipv6Addr::from(data).into()),
        }
    }
}

/// A name as it is on the wire, in lower case; `None` for one that DNS cannot have.
fn wire_form(name: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(name.len() + 2);
    push_name(name.as_bytes(), &mut out).filter(|()| out.len() > 1)?;
    out.make_ascii_lowercase();
    Some(out)
}

/// A name as it is written, in lower case and without its final dot.
fn text_form(name: &[u8]) -> String {
    let mut text = Vec::new();
    push_name_text(name, &mut text);
    text.pop();
    String::from_utf8_lossy(&text).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of a server: flags, the question as asked, and records with names at any place.
    fn message(question: &Question, flags: u16, records: &[(&[u8], u16, u32, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        for field in [question.id, flags, 1, records.len() as u16, 0, 0] {
            out.extend_from_slice(&field.to_be_bytes());
        }
        out.extend_from_slice(&question.name);
        out.extend_from_slice(&question.kind.code().to_be_bytes());
        out.extend_from_slice(&CLASS_IN.to_be_bytes());
        for (owner, kind, ttl, data) in records {
            out.extend_from_slice(owner);
            out.extend_from_slice(&kind.to_be_bytes());
            out.extend_from_slice(&CLASS_IN.to_be_bytes());
            out.extend_from_slice(&ttl.to_be_bytes());
            out.extend_from_slice(&(data.len() as u16).to_be_bytes());
            out.extend_from_slice(data);
        }
        out
    }

    fn question(name: &str) -> Question {
        Question::new(0x1234, name, AddressKind::V4).expect("a name")
    }

    fn name(text: &str) -> Vec<u8> {
        wire_form(text).expect("a name")
    }

    /// Points at the name of the question.
    const POINTER: &[u8] = &[0xc0, HEAD_BYTES as u8];

    #[test]
    fn a_question_is_written_as_in_the_rfc() {
        let question = Question::new(7, "Example.COM.", AddressKind::V6).expect("a name");
        let expected = b"\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01\x07example\x03com\x00\x00\x1c\x00\x01\
            \x00\x00\x29\x04\xd0\x00\x00\x00\x00\x00\x00";
        assert_eq!(question.message(), expected);
        let long = "a".repeat(64);
        for wrong in ["", ".", "a..b", &*long, "b\u{fc}cher.example", &*vec!["abcdefg"; 32].join(".")] {
            assert_eq!(Question::new(7, wrong, AddressKind::V4), None, "{wrong}");
        }
    }

    #[test]
    fn addresses_are_found_behind_aliases() {
        let question = self::question("shop.example");
        let (one, other) = ([192, 0, 2, 1], [192, 0, 2, 2]);
        let plain = message(&question, 0x8180, &[(POINTER, 1, 60, &one), (POINTER, 1, 30, &other)]);
        let all = vec![Ipv4Addr::from(one).into(), Ipv4Addr::from(other).into()];
        assert_eq!(question.read(&plain), Ok(Answer::Addresses(all.clone(), 30)));
        let (front, back) = (name("front.example"), name("FRONT.example"));
        let aliased =
            message(&question, 0x8180, &[(&front, 1, 60, &one), (POINTER, 5, 20, &back), (&front, 1, 60, &other)]);
        assert_eq!(question.read(&aliased), Ok(Answer::Addresses(all, 20)));
        let without = message(&question, 0x8180, &[(POINTER, 5, 20, &back)]);
        assert_eq!(question.read(&without), Ok(Answer::Alias("front.example".to_owned(), 20)));
        let circle = message(&question, 0x8180, &[(POINTER, 5, 20, &front), (&front, 5, 20, &name("shop.example"))]);
        assert_eq!(question.read(&circle), Err(DnsFault::Malformed));
        let forever = message(&question, 0x8180, &[(POINTER, 1, u32::MAX, &one)]);
        assert_eq!(question.read(&forever), Ok(Answer::Addresses(vec![Ipv4Addr::from(one).into()], 0)));
    }

    #[test]
    fn answers_without_addresses_differ() {
        let question = self::question("shop.example");
        let cases = [
            (0x8180, Answer::NoAddress),
            (0x8183, Answer::NoName),
            (0x8182, Answer::Refused(2)),
            (0x8185, Answer::Refused(5)),
            (0x8380, Answer::Truncated),
        ];
        for (flags, expected) in cases {
            assert_eq!(question.read(&message(&question, flags, &[])), Ok(expected));
        }
        let text = message(&question, 0x8180, &[(POINTER, 16, 60, b"\x04text")]);
        assert_eq!(question.read(&text), Ok(Answer::NoAddress));
    }

    #[test]
    fn what_answers_another_question_is_not_taken() {
        let question = self::question("shop.example");
        let good = message(&question, 0x8180, &[(POINTER, 1, 60, &[192, 0, 2, 1])]);
        let (mut id, mut query) = (good.clone(), good.clone());
        (id[1], query[2]) = (0x35, 0x01);
        let others = [
            id,
            query,
            message(&Question { name: name("shop.exemple"), ..question.clone() }, 0x8180, &[]),
            message(&Question { kind: AddressKind::V6, ..question.clone() }, 0x8180, &[]),
        ];
        for other in others {
            assert_eq!(question.read(&other), Err(DnsFault::OtherQuestion));
        }
        assert_eq!(question.read(&good[..good.len() - 1]), Err(DnsFault::Malformed));
        // A name that points at itself, and one that points ahead.
        for pointer in [33_u8, 60] {
            let wrong = message(&question, 0x8180, &[(&[0xc0, pointer], 1, 60, &[192, 0, 2, 1])]);
            assert_eq!(question.read(&wrong), Err(DnsFault::Malformed));
        }
    }

    #[test]
    fn every_cut_and_every_changed_byte_ends_well() {
        let question = self::question("shop.example");
        let front = name("front.example");
        let records: [(&[u8], u16, u32, &[u8]); 3] =
            [(POINTER, 5, 20, &front), (&front, 1, 60, &[192, 0, 2, 1]), (&[0xc0, 40], 1, 60, &[192, 0, 2, 2])];
        let good = message(&question, 0x8180, &records);
        for cut in 0..good.len() {
            assert!(question.read(&good[..cut]).is_err(), "{cut}");
        }
        for place in 0..good.len() {
            for value in [0, 1, 0x3f, 0xc0, 0xff] {
                let mut changed = good.clone();
                changed[place] = value;
                // It ends, with an answer or without.
                let _ = question.read(&changed);
            }
        }
    }
}
