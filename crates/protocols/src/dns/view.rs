//! Messages as JSON.

use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};

use protocol::push_json_text;
use wire::dns::message::{CNAME, HEAD_BYTES, MessageHead, OPT, Reader, Record, push_name_text};

use super::message::{
    A, AAAA, DNAME, MX, NS, PTR, SOA, SRV, TXT, code_of, find_opt, push_kind, question_of, status_of,
};

/// The flags that are shown.
const FLAGS: [(&str, u16); 6] =
    [("AA", 0x0400), ("TC", 0x0200), ("RD", 0x0100), ("RA", 0x0080), ("AD", 0x0020), ("CD", 0x0010)];

/// Writes a message as an object. Where it is cut or not valid, it has what could be read, and `broken`.
pub(super) fn view(message: &[u8], is_response: bool, json: &mut Vec<u8>) {
    let Some(head) = MessageHead::read(message) else {
        json.extend_from_slice(b"{\"broken\":true}");
        return;
    };
    json.push(b'{');
    if is_response {
        let question = question_of(message).filter(|_| head.counts[0] == 1).unwrap_or_default();
        let opt = find_opt(message, &head, HEAD_BYTES + question.len()).flatten();
        let _ = write!(json, "\"status\":\"{}\",", status_of(code_of(head.flags, opt)));
    }
    let flags = FLAGS.iter().filter(|(_, bit)| head.flags & bit != 0).map(|(name, _)| *name);
    json.extend_from_slice(format!("\"flags\":{:?}", flags.collect::<Vec<_>>()).replace(' ', "").as_bytes());
    let mut viewer = Viewer { message, reader: Reader::new(message, HEAD_BYTES), opt: None, text: Vec::new(), json };
    if viewer.sections(head.counts).is_none() {
        viewer.json.extend_from_slice(b",\"broken\":true");
    }
    if let Some(opt) = viewer.opt {
        let _ = write!(viewer.json, ",\"edns\":{{\"size\":{}}}", opt.class);
    }
    json.push(b'}');
}

/// Writes a question that is not valid: name and type as they were given.
pub(super) fn view_no_question(given: &[u8], json: &mut Vec<u8>) {
    json.extend_from_slice(b"{\"broken\":true,\"given\":");
    push_json_text(given, json);
    json.push(b'}');
}

struct Viewer<'a, 'b> {
    message: &'a [u8],
    reader: Reader<'a>,
    opt: Option<Record>,
    /// A text before it is quoted.
    text: Vec<u8>,
    json: &'b mut Vec<u8>,
}

impl Viewer<'_, '_> {
    /// Writes the first question and all records; `None` where they are cut or not valid.
    fn sections(&mut self, [questions, sections @ ..]: [u16; 4]) -> Option<()> {
        for number in 0..questions {
            let (name, kind, _) = (self.reader.name()?, self.reader.number()?, self.reader.number()?);
            if number == 0 {
                self.json.extend_from_slice(b",\"question\":");
                self.open(&name, kind);
                self.json.push(b'}');
            }
        }
        for (section, count) in ["answers", "authority", "additional"].into_iter().zip(sections) {
            let _ = write!(self.json, ",\"{section}\":[");
            let start = self.json.len();
            let is_whole = (0..count).try_for_each(|_| self.record(start));
            self.json.push(b']');
            is_whole?;
        }
        Some(())
    }

    /// Begins an object with a name and a type.
    fn open(&mut self, name: &[u8], kind: u16) {
        self.json.extend_from_slice(b"{\"name\":");
        self.quote(|text| push_name_text(name, text));
        self.json.extend_from_slice(b",\"type\":");
        self.quote(|text| push_kind(kind, text));
    }

    fn quote(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.text.clear();
        write(&mut self.text);
        push_json_text(&self.text, self.json);
    }

    /// Writes the next record of the section that begins at `start`; that of EDNS has a place of its own.
    fn record(&mut self, start: usize) -> Option<()> {
        let (owner, record) = (self.reader.name()?, self.reader.record()?);
        if record.kind == OPT {
            return self.opt.replace(record).is_none().then_some(());
        }
        if self.json.len() > start {
            self.json.push(b',');
        }
        self.open(&owner, record.kind);
        let _ = write!(self.json, ",\"ttl\":{},\"data\":", record.ttl);
        self.text.clear();
        if push_data(self.message, &record, &mut self.text).is_none() {
            self.text.clear();
            push_unknown(&self.message[record.data.0..record.data.1], &mut self.text);
        }
        push_json_text(&self.text, self.json);
        self.json.push(b'}');
        Some(())
    }
}

/// Writes data of a known type as in zone files; texts as they are. `None` for other types, and where it is not valid.
fn push_data(message: &[u8], record: &Record, text: &mut Vec<u8>) -> Option<()> {
    let (from, end) = record.data;
    let mut reader = Reader::new(message.get(..end)?, from);
    let (numbers, names, more) = match record.kind {
        A => return write!(text, "{}", Ipv4Addr::from(whole(reader, end)?)).ok(),
        AAAA => return write!(text, "{}", Ipv6Addr::from(whole::<16>(reader, end)?)).ok(),
        TXT => return push_strings(message.get(from..end)?, text),
        NS | CNAME | PTR | DNAME => (0, 1, 0),
        MX => (1, 1, 0),
        SRV => (3, 1, 0),
        SOA => (0, 2, 5),
        _ => return None,
    };
    for _ in 0..numbers {
        write!(text, "{} ", reader.number()?).ok()?;
    }
    for number in 0..names {
        if number > 0 {
            text.push(b' ');
        }
        push_name_text(&reader.name()?, text);
    }
    for _ in 0..more {
        write!(text, " {}", u32::from_be_bytes(reader.take()?)).ok()?;
    }
    (reader.at() == end).then_some(())
}

/// Data of a fixed length.
fn whole<const N: usize>(mut reader: Reader<'_>, end: usize) -> Option<[u8; N]> {
    reader.take().filter(|_| reader.at() == end)
}

/// Writes strings with their lengths as one text.
fn push_strings(mut data: &[u8], text: &mut Vec<u8>) -> Option<()> {
    while let Some((length, rest)) = data.split_first() {
        let (string, rest) = rest.split_at_checked(usize::from(*length))?;
        text.extend_from_slice(string);
        data = rest;
    }
    Some(())
}

/// Writes data of any type (RFC 3597, 5).
fn push_unknown(data: &[u8], text: &mut Vec<u8>) {
    let _ = write!(text, "\\# {}{}", data.len(), if data.is_empty() { "" } else { " " });
    data.iter().for_each(|byte| drop(write!(text, "{byte:02x}")));
}
