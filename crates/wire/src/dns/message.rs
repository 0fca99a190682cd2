//! The parts of DNS messages (RFC 1035, 4.1): headers, names and records, and names as text.

/// Bytes of the header.
pub const HEAD_BYTES: usize = 12;
/// The class of the Internet.
pub const CLASS_IN: u16 = 1;
/// The type of an alias.
pub const CNAME: u16 = 5;
/// The type of the record of EDNS (RFC 6891).
pub const OPT: u16 = 41;
/// Maximum bytes of a name on the wire.
pub const NAME_BYTES_MAX: usize = 255;
/// Maximum bytes of a label.
pub const LABEL_BYTES_MAX: usize = 63;
/// Maximum jumps within one compressed name.
const JUMPS_MAX: usize = 64;

/// Bytes of the record of EDNS without options.
pub const OPT_BYTES: usize = 11;

// Flags of a header.
/// The message is a response.
pub const RESPONSE: u16 = 0x8000;
/// The kind of the query; 0: a question.
pub const OPCODE: u16 = 0x7800;
/// The server is the authority for the name.
pub const AUTHORITATIVE: u16 = 0x0400;
/// The response did not fit.
pub const TRUNCATED: u16 = 0x0200;
/// The server may ask others.
pub const RECURSION_DESIRED: u16 = 0x0100;
/// The response code.
pub const CODE: u16 = 0x000f;

/// The header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageHead {
    /// The ID of the query.
    pub id: u16,
    /// The flags.
    pub flags: u16,
    /// The numbers of questions, answers, authority records and additional records.
    pub counts: [u16; 4],
}

impl MessageHead {
    /// Reads the header; `None` where it is cut.
    pub fn read(message: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(message, 0);
        let mut number = || reader.number();
        Some(Self { id: number()?, flags: number()?, counts: [number()?, number()?, number()?, number()?] })
    }

    /// Appends the header.
    pub fn push(&self, out: &mut Vec<u8>) {
        let [questions, answers, authority, additional] = self.counts;
        let fields = [self.id, self.flags, questions, answers, authority, additional];
        out.extend(fields.into_iter().flat_map(u16::to_be_bytes));
    }
}

/// Appends the record of EDNS (RFC 6891): the root, the type, the size of datagrams, its flags, no options.
pub fn push_opt(size: u16, flags: u16, out: &mut Vec<u8>) {
    let ([_, kind], [high, low], [flags, more]) = (OPT.to_be_bytes(), size.to_be_bytes(), flags.to_be_bytes());
    out.extend_from_slice(&[0, 0, kind, high, low, 0, 0, flags, more, 0, 0]);
}

/// A resource record, without the name of its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its type.
    pub kind: u16,
    /// Its class.
    pub class: u16,
    /// Seconds for which it is valid; flags where it is that of EDNS.
    pub ttl: u32,
    /// The range of its data in the message.
    pub data: (usize, usize),
}

/// A message that is read from front to back; `None` where it is cut or not valid.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    message: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Reads a message from a position on.
    pub fn new(message: &'a [u8], at: usize) -> Self {
        Self { message, at }
    }

    /// The position.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The next bytes.
    pub fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let bytes = self.message.get(self.at..self.at.checked_add(N)?)?.try_into().ok()?;
        self.at += N;
        Some(bytes)
    }

    /// The next number.
    pub fn number(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    /// A name without compression (RFC 1035, 4.1.4): a pointer leads to bytes before it.
    pub fn name(&mut self) -> Option<Vec<u8>> {
        let (mut name, mut at, mut after) = (Vec::new(), self.at, None);
        for _ in 0..JUMPS_MAX + NAME_BYTES_MAX {
            match NamePart::read(self.message, at)? {
                NamePart::End => {
                    name.push(0);
                    self.at = after.unwrap_or(at + 1);
                    return (name.len() <= NAME_BYTES_MAX).then_some(name);
                }
                NamePart::Label(label) => {
                    name.extend_from_slice(label);
                    at += label.len();
                }
                NamePart::Pointer(to) => {
                    after = after.or(Some(at + 2));
                    at = to;
                }
            }
            if name.len() >= NAME_BYTES_MAX {
                return None;
            }
        }
        None
    }

    /// A name that has no pointer, as it is on the wire.
    pub fn plain_name(&mut self) -> Option<&'a [u8]> {
        let from = self.at;
        match self.skip_labels()? {
            NamePart::End => self.at += 1,
            NamePart::Label(_) | NamePart::Pointer(_) => return None,
        }
        self.message.get(from..self.at).filter(|name| name.len() <= NAME_BYTES_MAX)
    }

    /// Skips a name, without following its pointer.
    pub fn skip_name(&mut self) -> Option<()> {
        self.at += if let NamePart::Pointer(_) = self.skip_labels()? { 2 } else { 1 };
        Some(())
    }

    /// Skips labels, up to what ends a name here.
    fn skip_labels(&mut self) -> Option<NamePart<'a>> {
        loop {
            match NamePart::read(self.message, self.at)? {
                NamePart::Label(label) => self.at += label.len(),
                end => return Some(end),
            }
        }
    }

    /// The rest of a record after the name of its owner.
    pub fn record(&mut self) -> Option<Record> {
        let (kind, class, ttl) = (self.number()?, self.number()?, u32::from_be_bytes(self.take()?));
        let length = usize::from(self.number()?);
        let data = (self.at, self.at + length);
        self.at = data.1;
        // RFC 2181, 8: a time with the highest bit is none.
        let ttl = if kind != OPT && ttl > i32::MAX as u32 { 0 } else { ttl };
        (data.1 <= self.message.len()).then_some(Record { kind, class, ttl, data })
    }
}

/// What a name consists of.
enum NamePart<'a> {
    /// A label with its length.
    Label(&'a [u8]),
    /// The position at which the name goes on.
    Pointer(usize),
    End,
}

impl<'a> NamePart<'a> {
    fn read(message: &'a [u8], at: usize) -> Option<Self> {
        let length = usize::from(*message.get(at)?);
        match length {
            0 => Some(Self::End),
            1..=LABEL_BYTES_MAX => message.get(at..=at + length).map(Self::Label),
            _ if length & 0xc0 == 0xc0 => {
                let to = (length & 0x3f) << 8 | usize::from(*message.get(at + 1)?);
                (to < at).then_some(Self::Pointer(to))
            }
            _ => None,
        }
    }
}

/// Whether two names, as they are on the wire, are the same: the case of letters does not matter (RFC 4343). No length
/// is a letter.
pub fn is_same_name(one: &[u8], other: &[u8]) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Appends a name as it is on the wire. Its text may end with a dot and have the escapes of zone files, `\.` and
/// `\046` (RFC 1035, 5.1). `None`, with nothing appended, for a name that DNS can't have.
pub fn push_name(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let start = out.len();
    let is_name = push_labels(text, out).is_some() && out.len() - start <= NAME_BYTES_MAX;
    if !is_name {
        out.truncate(start);
    }
    is_name.then_some(())
}

fn push_labels(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut rest = match text {
        b"" => return None,
        b"." => &[],
        text => text,
    };
    while !rest.is_empty() {
        let at = out.len();
        out.push(0);
        rest = push_label(rest, out)?;
        let length = out.len() - at - 1;
        if !(1..=LABEL_BYTES_MAX).contains(&length) {
            return None;
        }
        out[at] = length as u8;
    }
    out.push(0);
    Some(())
}

/// Appends the bytes of a label; returns the text after its dot.
fn push_label<'a>(mut rest: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'.' => return Some(rest),
            b'\\' => {
                let (byte, after) = unescaped(rest)?;
                out.push(byte);
                rest = after;
            }
            b'!'..=b'~' => out.push(*byte),
            _ => return None,
        }
    }
    Some(rest)
}

/// The byte of an escape, and the text after it.
fn unescaped(text: &[u8]) -> Option<(u8, &[u8])> {
    match text {
        [hundreds @ b'0'..=b'9', tens @ b'0'..=b'9', ones @ b'0'..=b'9', rest @ ..] => {
            let value = [hundreds, tens, ones].iter().fold(0, |value, digit| value * 10 + u16::from(**digit - b'0'));
            Some((u8::try_from(value).ok()?, rest))
        }
        [byte, rest @ ..] if !byte.is_ascii_digit() && (b' '..=b'~').contains(byte) => Some((*byte, rest)),
        _ => None,
    }
}

/// Appends a name of the wire, without compression, as the text of zone files: with a final dot and with escapes.
pub fn push_name_text(name: &[u8], out: &mut Vec<u8>) {
    let mut rest = name;
    while let Some((length, after)) = rest.split_first().filter(|(length, _)| **length > 0) {
        let (label, after) = after.split_at(usize::from(*length).min(after.len()));
        for byte in label {
            match byte {
                b'.' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
                b'!'..=b'~' => out.push(*byte),
                _ => out.extend_from_slice(&[b'\\', b'0' + byte / 100, b'0' + byte / 10 % 10, b'0' + byte % 10]),
            }
        }
        out.push(b'.');
        rest = after;
    }
    if name.len() <= 1 {
        out.push(b'.');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_text_is_the_same_again() {
        for (text, name, shown) in [
            (".", &b"\0"[..], "."),
            ("a", b"\x01a\0", "a."),
            ("A.b.", b"\x01A\x01b\0", "A.b."),
            ("a\\.b\\\\.\\000\\127\\ c", b"\x04a.b\\\x04\0\x7f c\0", "a\\.b\\\\.\\000\\127\\032c."),
        ] {
            let (mut out, mut again, mut written) = (b"x".to_vec(), Vec::new(), Vec::new());
            assert_eq!((push_name(text.as_bytes(), &mut out), &out[1..]), (Some(()), name), "{text}");
            push_name_text(name, &mut written);
            assert_eq!(std::str::from_utf8(&written), Ok(shown));
            assert_eq!((push_name(&written, &mut again), again.as_slice()), (Some(()), name));
        }
        for text in ["", "..", ".a", "a..b", "a..", "a b", "\u{e9}", "\\", "a\\1", "\\256", "\\\n"] {
            let mut out = b"x".to_vec();
            assert_eq!((push_name(text.as_bytes(), &mut out), out.as_slice()), (None, &b"x"[..]), "{text}");
        }
    }

    #[test]
    fn names_and_labels_have_bounds() {
        let name = |labels: &[usize]| labels.iter().map(|length| "a".repeat(*length)).collect::<Vec<_>>().join(".");
        for (labels, is_name) in [
            (&[63][..], true),
            (&[64], false),
            (&[63, 63, 63, 61], true),
            (&[63, 63, 63, 62], false),
            (&[1; 127], true),
            (&[1; 128], false),
        ] {
            let mut out = Vec::new();
            assert_eq!(push_name(name(labels).as_bytes(), &mut out).is_some(), is_name, "{labels:?}");
            if is_name {
                assert_eq!(Reader::new(&out, 0).name().as_deref(), Some(&out[..]));
                assert_eq!(Reader::new(&out, 0).plain_name(), Some(&out[..]));
                let mut reader = Reader::new(&out, 0);
                assert_eq!((reader.skip_name(), reader.at()), (Some(()), out.len()));
            }
        }
        let long = [&[63][..], &[b'a'; 63]].concat().repeat(4);
        let long = [&long[..], &[0]].concat();
        assert_eq!((Reader::new(&long, 0).name(), Reader::new(&long, 0).plain_name()), (None, None));
    }

    #[test]
    fn pointers_lead_back() {
        let message = b"\x01a\0\x01b\xc0\0\xc0\x03\xc0\x09\xc0";
        let read = |at: usize| {
            let mut reader = Reader::new(message, at);
            reader.name().map(|name| (name, reader.at()))
        };
        let both = b"\x01b\x01a\0".to_vec();
        assert_eq!((read(3), read(7)), (Some((both.clone(), 7)), Some((both, 9))));
        assert_eq!((read(9), read(11), read(12)), (None, None, None), "to itself, cut, after the end");
        let mut reader = Reader::new(message, 3);
        assert_eq!((reader.plain_name(), reader.skip_name(), reader.at()), (None, Some(()), 7));
    }

    #[test]
    fn any_bytes_end_well() {
        for seed in 0..2_000_u32 {
            let mut state = seed;
            let byte = |_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                [0xc0, 0, 1, 2, (state >> 24) as u8][(state >> 16) as usize % 5]
            };
            let message: Vec<u8> = (0..100).map(byte).collect();
            for at in 0..=message.len() {
                let (mut read, mut skipped) = (Reader::new(&message, at), Reader::new(&message, at));
                let (name, is_skipped) = (read.name(), skipped.skip_name().is_some());
                if let Some(name) = name {
                    assert!(name.len() <= NAME_BYTES_MAX && is_skipped && read.at() == skipped.at());
                }
                let record = Reader::new(&message, at).record();
                assert!(record.is_none_or(|record| record.data.0 <= record.data.1 && record.data.1 <= message.len()));
            }
        }
    }
}
