//! Replies as JSON.

use std::io::Write;

use protocol::push_json_text;

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
                    b'=' => push_json_text(bytes.get(4..)?, self.json),
                    _ => push_json_text(bytes, self.json),
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
                    push_json_text(b"[...]", self.json);
                }
                _ => {
                    let key = self.json.split_off(before);
                    push_json_text(&key, self.json);
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
            None => return push_json_text(text, json),
        },
        b'#' => Some(write!(json, "{}", text == b"t")),
        b'+' | b'(' => return push_json_text(text, json),
        _ => None,
    };
    if written.is_none() {
        json.extend_from_slice(b"null");
    }
}

fn write_error(text: &[u8], json: &mut Vec<u8>) {
    json.extend_from_slice(b"{\"error\":");
    push_json_text(text, json);
    json.push(b'}');
}
