//! DNS messages for the addresses of a name (RFC 1035, RFC 3596): a question, and its answer.
//!
//! A question is asked of a resolver, which follows aliases by itself; so all records of an answer are read, and the
//! aliases are followed among them. An answer that is not to this question is another one's, or forged.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The size of UDP answers that is asked for: it passes every usual path in one piece.
const UDP_BYTES_MAX: u16 = 1_232;
/// Most octets of a name on the wire, and of one of its labels.
const NAME_BYTES_MAX: usize = 255;
const LABEL_BYTES_MAX: usize = 63;
/// Most jumps within one compressed name.
const JUMPS_MAX: usize = 64;
/// Most aliases that lead to the addresses of a name.
const ALIASES_MAX: usize = 16;
const HEAD_BYTES: usize = 12;
const CLASS_IN: u16 = 1;
const CNAME: u16 = 5;
const OPT: u16 = 41;

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
        let mut out = Vec::with_capacity(HEAD_BYTES + self.name.len() + 15);
        // Flags: recursion is desired. One question, and one additional record.
        for field in [self.id, 0x0100, 1, 0, 0, 1] {
            out.extend_from_slice(&field.to_be_bytes());
        }
        out.extend_from_slice(&self.name);
        out.extend_from_slice(&self.kind.code().to_be_bytes());
        out.extend_from_slice(&CLASS_IN.to_be_bytes());
        // EDNS (RFC 6891): the root name, the type, the size of answers; no flags, no options.
        out.push(0);
        out.extend_from_slice(&OPT.to_be_bytes());
        out.extend_from_slice(&UDP_BYTES_MAX.to_be_bytes());
        out.extend_from_slice(&[0; 6]);
        out
    }

    /// Reads a message that came from the server.
    ///
    /// # Errors
    /// It is no answer to this question.
    pub fn read(&self, message: &[u8]) -> Result<Answer, DnsFault> {
        let mut reader = Reader { message, at: 0 };
        let head = [(); 6].map(|()| reader.number());
        let [Some(id), Some(flags), Some(questions), Some(answers), Some(_), Some(_)] = head else {
            return Err(DnsFault::Malformed);
        };
        let is_answer = flags & 0x8000 != 0;
        if id != self.id || !is_answer {
            return Err(DnsFault::OtherQuestion);
        }
        let code = (flags & 0x000f) as u8;
        // A server that does not understand a message may leave the question out.
        if questions == 0 && code != 0 {
            return Ok(Answer::Refused(code));
        }
        let given = (|| Some((reader.name()?, reader.number()?, reader.number()?)))().ok_or(DnsFault::Malformed)?;
        if questions != 1 || given != (self.name.clone(), self.kind.code(), CLASS_IN) {
            return Err(DnsFault::OtherQuestion);
        }
        match code {
            _ if flags & 0x0200 != 0 => return Ok(Answer::Truncated),
            0 => {}
            3 => return Ok(Answer::NoName),
            code => return Ok(Answer::Refused(code)),
        }
        let records = (0..answers).map(|_| reader.record()).collect::<Option<Vec<_>>>();
        self.addresses_among(&records.ok_or(DnsFault::Malformed)?, message)
    }

    /// Follows the aliases of the name to its addresses.
    fn addresses_among(&self, records: &[Record], message: &[u8]) -> Result<Answer, DnsFault> {
        let (mut name, mut ttl) = (self.name.clone(), u32::MAX);
        for _ in 0..=ALIASES_MAX {
            let own = || records.iter().filter(|record| record.class == CLASS_IN && record.owner == name);
            let addresses: Vec<IpAddr> = own().filter_map(|record| self.address(record, message)).collect();
            if !addresses.is_empty() {
                let least = own().filter(|record| record.kind == self.kind.code()).map(|record| record.ttl).min();
                return Ok(Answer::Addresses(addresses, ttl.min(least.unwrap_or(0))));
            }
            let Some(alias) = own().find(|record| record.kind == CNAME) else {
                return Ok(if name == self.name { Answer::NoAddress } else { Answer::Alias(text_form(&name), ttl) });
            };
            ttl = ttl.min(alias.ttl);
            name = Reader { message, at: alias.data.0 }.name().ok_or(DnsFault::Malformed)?;
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

/// A resource record.
struct Record {
    owner: Vec<u8>,
    kind: u16,
    class: u16,
    /// Seconds for which it is valid.
    ttl: u32,
    /// The range of its data in the message.
    data: (usize, usize),
}

struct Reader<'a> {
    message: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let bytes = self.message.get(self.at..self.at + N)?.try_into().ok()?;
        self.at += N;
        Some(bytes)
    }

    fn number(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    /// A name, in lower case and without compression (RFC 1035, 4.1.4): a pointer leads to bytes before it.
    fn name(&mut self) -> Option<Vec<u8>> {
        let (mut name, mut at, mut behind) = (Vec::new(), self.at, None);
        for _ in 0..JUMPS_MAX + NAME_BYTES_MAX {
            let length = usize::from(*self.message.get(at)?);
            match length {
                0 => {
                    name.push(0);
                    self.at = behind.unwrap_or(at + 1);
                    return (name.len() <= NAME_BYTES_MAX).then_some(name);
                }
                1..=LABEL_BYTES_MAX => {
                    let label = self.message.get(at..=at + length)?;
                    name.extend(label.iter().map(u8::to_ascii_lowercase));
                    at += 1 + length;
                }
                _ if length & 0xc0 == 0xc0 => {
                    let low = usize::from(*self.message.get(at + 1)?);
                    behind = behind.or(Some(at + 2));
                    let to = (length & 0x3f) << 8 | low;
                    if to >= at {
                        return None;
                    }
                    at = to;
                }
                _ => return None,
            }
            if name.len() >= NAME_BYTES_MAX {
                return None;
            }
        }
        None
    }

    fn record(&mut self) -> Option<Record> {
        let owner = self.name()?;
        let (kind, class, ttl) = (self.number()?, self.number()?, u32::from_be_bytes(self.take()?));
        let length = usize::from(self.number()?);
        let data = (self.at, self.at + length);
        self.at = data.1;
        // RFC 2181, 8: a time with the highest bit is none.
        let ttl = if ttl > i32::MAX as u32 { 0 } else { ttl };
        (data.1 <= self.message.len()).then_some(Record { owner, kind, class, ttl, data })
    }
}

/// A name as it is on the wire, in lower case; `None` for one that DNS cannot have.
fn wire_form(name: &str) -> Option<Vec<u8>> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let mut out = Vec::with_capacity(name.len() + 2);
    for label in name.split('.') {
        if label.is_empty() || label.len() > LABEL_BYTES_MAX || !label.is_ascii() {
            return None;
        }
        out.push(label.len() as u8);
        out.extend(label.bytes().map(|byte| byte.to_ascii_lowercase()));
    }
    out.push(0);
    (out.len() <= NAME_BYTES_MAX).then_some(out)
}

/// A name as it is written.
fn text_form(name: &[u8]) -> String {
    let (mut labels, mut rest) = (Vec::new(), name);
    while let Some((&length, after)) = rest.split_first().filter(|(length, _)| **length > 0) {
        let (label, after) = after.split_at(usize::from(length).min(after.len()));
        labels.push(String::from_utf8_lossy(label).into_owned());
        rest = after;
    }
    labels.join(".")
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
