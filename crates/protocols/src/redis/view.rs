//! Replies as JSON.

use std::io::Write;

use super::resp::{DEPTH_MAX, RespLine, double, number, parse_line, split_bulk, split_line};

/// Writes the replies of an exchange as an array: those that are whole. Pushes and attributes are left out.
pub(super) fn view(response: &[u8], json: &mut Vec<u8>) {
    json.push(b'[');
    let start = json.len();
    let mut reader = Reader { rest: response, json };
    while let Some(first) = reader.rest.first() {
        let (is_push, before) = (*first == b'>', reader.json.len());
        if before > start {
            reader.json.push(b',');
        }
        let is_whole = reader.value(0).is_some();
        if is_push || !is_whole {
            reader.json.truncate(before);
        }
        if !is_whole {
            break;
        }
    }
    json.push(b']');
}

struct Reader<'a, 'b> {
    rest: &'a [u8],
    json: &'b mut Vec<u8>,
}

impl<'a> Reader<'a, '_> {
    /// Writes the next value; `None` if it is not whole. There are never more levels than in a reply that was accepted.
    fn value(&mut self, depth: usize) -> Option<()> {
        let (kind, text, unit) = self.line_after_attributes(depth)?;
        match unit {
            RespLine::Scalar => write_scalar(kind, text, self.json),
            RespLine::Bulk(length) => {
                let (bytes, rest) = split_bulk(self.rest, length)?;
                self.rest = rest;
                match kind {
                    b'!' => write_error(bytes, self.json),
                    b'=' => write_string(bytes.get(4..)?, self.json),
                    _ => write_string(bytes, self.json),
                }
            }
            RespLine::Elements(count) if depth == DEPTH_MAX && count > 0 => return None,
            RespLine::Elements(count) if kind == b'%' => self.map(count / 2, depth)?,
            RespLine::Elements(count) => {
                self.json.push(b'[');
                for at in 0..count {
                    if at > 0 {
                        self.json.push(b',');
                    }
                    self.value(depth + 1)?;
                }
                self.json.push(b']');
            }
        }
        Some(())
    }

    fn map(&mut self, count: u64, depth: usize) -> Option<()> {
        self.json.push(b'{');
        for at in 0..count {
            if at > 0 {
                self.json.push(b',');
            }
            let before = self.json.len();
            self.value(depth + 1)?;
            match self.json[before] {
                b'"' => {}
                // The text of a key with keys inside would double with each level.
                b'[' | b'{' => {
                    self.json.truncate(before);
                    write_string(b"[...]", self.json);
                }
                _ => {
                    let key = self.json.split_off(before);
                    write_string(&key, self.json);
                }
            }
            self.json.push(b':');
            self.value(depth + 1)?;
        }
        self.json.push(b'}');
        Some(())
    }

    /// The next line that does not begin an attribute: its kind, its text and its meaning.
    fn line_after_attributes(&mut self, depth: usize) -> Option<(u8, &'a [u8], RespLine)> {
        loop {
            let (line, rest) = split_line(self.rest)?;
            self.rest = rest;
            match (line.split_first()?, parse_line(line).ok()?) {
                ((b'|', _), RespLine::Elements(count)) => {
                    if depth == DEPTH_MAX && count > 0 {
                        return None;
                    }
                    let before = self.json.len();
                    for _ in 0..count {
                        self.value(depth + 1)?;
                        self.json.truncate(before);
                    }
                }
                ((kind, text), unit) => return Some((*kind, text, unit)),
            }
        }
    }
}

fn write_scalar(kind: u8, text: &[u8], json: &mut Vec<u8>) {
    let written = match kind {
        b'-' => return write_error(text, json),
        b':' => number(text).map(|number| write!(json, "{number}")),
        // JSON has no infinite numbers.
        b',' => match double(text).filter(|double| double.is_finite()) {
            Some(double) => Some(write!(json, "{double}")),
            None => return write_string(text, json),
        },
        b'#' => Some(write!(json, "{}", text == b"t")),
        b'+' | b'(' => return write_string(text, json),
        _ => None,
    };
    if written.is_none() {
        json.extend_from_slice(b"null");
    }
}

fn write_error(text: &[u8], json: &mut Vec<u8>) {
    json.extend_from_slice(b"{\"error\":");
    write_string(text, json);
    json.push(b'}');
}

fn write_string(bytes: &[u8], json: &mut Vec<u8>) {
    json.push(b'"');
    for chunk in bytes.utf8_chunks() {
        for byte in chunk.valid().bytes() {
            match byte {
                b'"' | b'\\' => json.extend_from_slice(&[b'\\', byte]),
                // A vector takes all that is written.
                0..0x20 => write!(json, "\\u{byte:04x}").unwrap_or_default(),
                _ => json.push(byte),
            }
        }
        if !chunk.invalid().is_empty() {
            json.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
    json.push(b'"');
}
