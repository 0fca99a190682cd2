//! HPACK header compression of HTTP/2 (RFC 7541), encoder and decoder.

mod huffman;
mod table;

pub use table::ENTRY_OVERHEAD;
use table::Table;

/// The size of a dynamic table unless the peer sets another.
pub const TABLE_BYTES_DEFAULT: usize = 4_096;
/// The largest accepted integer: no string is longer.
const INTEGER_MAX: usize = 1 << 24;

/// Why a header block cannot be decoded. The connection is lost, since its table is out of sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HpackError {
    /// The block ends inside a field, or contains something that is no field.
    #[error("the header block is malformed")]
    Malformed,
    /// The fields exceed the size limit.
    #[error("the header list is too large")]
    ListTooLarge,
}

/// Decoded fields. One list serves all connections of a thread.
#[derive(Clone, Debug, Default)]
pub struct FieldList {
    bytes: Vec<u8>,
    /// Start of the name, start of the value, end of the value.
    spans: Vec<(u32, u32, u32)>,
    size: usize,
}

impl FieldList {
    /// The fields in their order: names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let part = |from: u32, to: u32| &self.bytes[from as usize..to as usize];
        self.spans.iter().map(move |&(name, value, end)| (part(name, value), part(value, end)))
    }

    /// Bytes of all names and values.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The value of the first field with a name.
    pub fn find(&self, name: &[u8]) -> Option<&[u8]> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
        self.size = 0;
    }

    fn push(&mut self, name: &[u8], value: &[u8]) {
        let from = self.bytes.len() as u32;
        self.bytes.extend_from_slice(name);
        let middle = self.bytes.len() as u32;
        self.bytes.extend_from_slice(value);
        self.end(from, middle);
    }

    fn end(&mut self, from: u32, middle: u32) {
        let end = self.bytes.len() as u32;
        self.size += (end - from) as usize + ENTRY_OVERHEAD;
        self.spans.push((from, middle, end));
    }

    fn last(&self) -> (&[u8], &[u8]) {
        let &(name, value, end) = self.spans.last().expect("a field was just pushed");
        (&self.bytes[name as usize..value as usize], &self.bytes[value as usize..end as usize])
    }
}

/// The decoder of one direction of a connection.
#[derive(Clone, Debug)]
pub struct Decoder {
    table: Table,
    /// The largest table that the peer may use.
    table_bytes_max: usize,
}

impl Decoder {
    /// A decoder whose peer was announced this largest table.
    pub fn new(table_bytes_max: usize) -> Self {
        Self { table: Table::new(table_bytes_max.min(TABLE_BYTES_DEFAULT)), table_bytes_max }
    }

    /// Decodes one whole block into `fields`, of at most `list_bytes_max` (RFC 9113, 6.5.2).
    ///
    /// # Errors
    /// The block cannot be decoded; no later one can be either.
    pub fn decode(&mut self, block: &[u8], fields: &mut FieldList, list_bytes_max: usize) -> Result<(), HpackError> {
        fields.clear();
        let mut rest = block;
        while let [first, ..] = *rest {
            if first & 0x80 != 0 {
                let index = integer(&mut rest, 7)?;
                let (name, value) = self.table.get(index).ok_or(HpackError::Malformed)?;
                fields.push(name, value);
            } else if first & 0xe0 == 0x20 {
                // Size updates may only stand at the beginning of a block.
                let size = integer(&mut rest, 5)?;
                if !fields.spans.is_empty() || size > self.table_bytes_max {
                    return Err(HpackError::Malformed);
                }
                self.table.resize(size);
            } else {
                let is_kept = first & 0x40 != 0;
                let index = integer(&mut rest, if is_kept { 6 } else { 4 })?;
                let from = fields.bytes.len() as u32;
                if index == 0 {
                    text(&mut rest, &mut fields.bytes)?;
                } else {
                    let (name, _) = self.table.get(index).ok_or(HpackError::Malformed)?;
                    fields.bytes.extend_from_slice(name);
                }
                let middle = fields.bytes.len() as u32;
                text(&mut rest, &mut fields.bytes)?;
                fields.end(from, middle);
                if is_kept {
                    let (name, value) = fields.last();
                    self.table.insert(name, value);
                }
            }
            if fields.size > list_bytes_max {
                return Err(HpackError::ListTooLarge);
            }
        }
        Ok(())
    }
}

/// An integer with a prefix of `bits` bits (RFC 7541, 5.1).
fn integer(rest: &mut &[u8], bits: u32) -> Result<usize, HpackError> {
    let (first, mut tail) = rest.split_first().ok_or(HpackError::Malformed)?;
    let most = (1usize << bits) - 1;
    let mut value = usize::from(*first) & most;
    if value == most {
        let mut shift = 0;
        loop {
            let (byte, after) = tail.split_first().ok_or(HpackError::Malformed)?;
            tail = after;
            value += usize::from(byte & 0x7f) << shift;
            shift += 7;
            if value > INTEGER_MAX || shift > 28 {
                return Err(HpackError::Malformed);
            }
            if byte & 0x80 == 0 {
                break;
            }
        }
    }
    *rest = tail;
    Ok(value)
}

fn text(rest: &mut &[u8], out: &mut Vec<u8>) -> Result<(), HpackError> {
    let is_code = rest.first().ok_or(HpackError::Malformed)? & 0x80 != 0;
    let length = integer(rest, 7)?;
    let (bytes, tail) = rest.split_at_checked(length).ok_or(HpackError::Malformed)?;
    *rest = tail;
    if !is_code {
        out.extend_from_slice(bytes);
    } else if !huffman::decode(bytes, out) {
        return Err(HpackError::Malformed);
    }
    Ok(())
}

/// How a sent field is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Indexing {
    /// It enters the table: the next time it costs a byte.
    Kept,
    /// It does not enter the table.
    NotKept,
    /// It is never indexed, not by intermediaries either: a secret (RFC 7541, 7.1.3).
    Never,
}

/// The encoder of one direction of a connection.
#[derive(Clone, Debug)]
pub struct Encoder {
    table: Table,
    /// The smallest size since the last block, if the size has changed.
    shrunk_to: Option<usize>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self { table: Table::new(TABLE_BYTES_DEFAULT), shrunk_to: None }
    }
}

impl Encoder {
    /// Applies the table size that the peer allows; more than the default is not used.
    pub fn resize(&mut self, table_bytes_max: usize) {
        let size = table_bytes_max.min(TABLE_BYTES_DEFAULT);
        if size != self.table.size_max() {
            self.shrunk_to = Some(self.shrunk_to.unwrap_or(size).min(size));
            self.table.resize(size);
        }
    }

    /// Begins a block: a change of the table size comes first.
    pub fn begin(&mut self, out: &mut Vec<u8>) {
        if let Some(least) = self.shrunk_to.take() {
            if least < self.table.size_max() {
                push_integer(least, 5, 0x20, out);
            }
            push_integer(self.table.size_max(), 5, 0x20, out);
        }
    }

    /// Appends a field. Names are in lower case.
    pub fn field(&mut self, name: &[u8], value: &[u8], indexing: Indexing, out: &mut Vec<u8>) {
        let (whole, of_name) = self.table.find(name, value);
        if let (Some(index), false) = (whole, indexing == Indexing::Never) {
            return push_integer(index, 7, 0x80, out);
        }
        // An entry larger than the table would only empty it.
        let fits = name.len() + value.len() + ENTRY_OVERHEAD <= self.table.size_max();
        let (bits, pattern) = match indexing {
            Indexing::Kept if fits => (6, 0x40),
            Indexing::Kept | Indexing::NotKept => (4, 0),
            Indexing::Never => (4, 0x10),
        };
        push_integer(of_name.unwrap_or(0), bits, pattern, out);
        if of_name.is_none() {
            push_text(name, out);
        }
        push_text(value, out);
        if bits == 6 {
            self.table.insert(name, value);
        }
    }
}

fn push_integer(value: usize, bits: u32, pattern: u8, out: &mut Vec<u8>) {
    let most = (1usize << bits) - 1;
    if value < most {
        return out.push(pattern | value as u8);
    }
    out.push(pattern | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Appends a string in its shorter form, plain or Huffman.
fn push_text(text: &[u8], out: &mut Vec<u8>) {
    let length = huffman::encoded_bytes(text);
    if length < text.len() {
        push_integer(length, 7, 0x80, out);
        huffman::encode(text, out);
    } else {
        push_integer(text.len(), 7, 0, out);
        out.extend_from_slice(text);
    }
}

#[cfg(test)]
mod tests;
