//! The static and the dynamic table (RFC 7541, 2.3).

use std::collections::VecDeque;

/// Bytes that an entry counts beyond its strings (RFC 7541, 4.1).
pub const ENTRY_OVERHEAD: usize = 32;

/// The static table (RFC 7541, appendix A); the first entry has index 1.
pub(super) const STATIC: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Offset from the first byte that the table ever stored.
    at: u64,
    name_bytes: u32,
    value_bytes: u32,
}

impl Entry {
    fn size(&self) -> usize {
        self.name_bytes as usize + self.value_bytes as usize + ENTRY_OVERHEAD
    }
}

/// The dynamic table: the bytes of its entries one after the other, the oldest first.
#[derive(Clone, Debug)]
pub(super) struct Table {
    bytes: Vec<u8>,
    /// Number of bytes that were removed before the first in `bytes`.
    offset: u64,
    /// Entries, the newest last.
    entries: VecDeque<Entry>,
    size: usize,
    size_max: usize,
}

impl Table {
    pub(super) fn new(size_max: usize) -> Self {
        Self { bytes: Vec::new(), offset: 0, entries: VecDeque::new(), size: 0, size_max }
    }

    pub(super) fn size_max(&self) -> usize {
        self.size_max
    }

    pub(super) fn resize(&mut self, size_max: usize) {
        self.size_max = size_max;
        self.evict(0);
    }

    /// The entry of an index, static or dynamic.
    pub(super) fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        if let Some((name, value)) = index.checked_sub(1).and_then(|index| STATIC.get(index)) {
            return Some((name.as_bytes(), value.as_bytes()));
        }
        let back = index.checked_sub(STATIC.len() + 1)?;
        let entry = self.entries.get(self.entries.len().checked_sub(back + 1)?)?;
        Some(self.texts(entry))
    }

    fn texts(&self, entry: &Entry) -> (&[u8], &[u8]) {
        let at = (entry.at - self.offset) as usize;
        let (name_bytes, value_bytes) = (entry.name_bytes as usize, entry.value_bytes as usize);
        (&self.bytes[at..at + name_bytes], &self.bytes[at + name_bytes..at + name_bytes + value_bytes])
    }

    /// Adds an entry; the oldest are evicted. One that is larger than the table empties it.
    pub(super) fn insert(&mut self, name: &[u8], value: &[u8]) {
        let size = name.len() + value.len() + ENTRY_OVERHEAD;
        self.evict(size);
        if size > self.size_max {
            return;
        }
        self.size += size;
        self.entries.push_back(Entry {
            at: self.offset + self.bytes.len() as u64,
            name_bytes: name.len() as u32,
            value_bytes: value.len() as u32,
        });
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
    }

    fn evict(&mut self, room: usize) {
        while self.size + room > self.size_max
            && let Some(entry) = self.entries.pop_front()
        {
            self.size -= entry.size();
        }
        let end = self.offset + self.bytes.len() as u64;
        let first = self.entries.front().map_or(end, |entry| entry.at);
        let dead = (first - self.offset) as usize;
        // Evicted bytes are compacted away once they are as many as the table may hold.
        if dead > 0 && dead >= self.size_max.max(1) || dead == self.bytes.len() {
            self.bytes.drain(..dead);
            self.offset = first;
        }
    }

    /// The index of a field, and of a name, if present.
    pub(super) fn find(&self, name: &[u8], value: &[u8]) -> (Option<usize>, Option<usize>) {
        let mut of_name = None;
        for (index, (known, text)) in STATIC.iter().enumerate() {
            if known.as_bytes() == name {
                if text.as_bytes() == value {
                    return (Some(index + 1), Some(index + 1));
                }
                of_name = of_name.or(Some(index + 1));
            }
        }
        for (back, entry) in self.entries.iter().rev().enumerate() {
            let (known, text) = self.texts(entry);
            if known == name {
                let index = STATIC.len() + 1 + back;
                if text == value {
                    return (Some(index), Some(index));
                }
                of_name = of_name.or(Some(index));
            }
        }
        (None, of_name)
    }

    #[cfg(test)]
    pub(super) fn dynamic(&self) -> Vec<(String, String)> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let entries = self.entries.iter().rev().map(|entry| self.texts(entry));
        entries.map(|(name, value)| (text(name), text(value))).collect()
    }

    #[cfg(test)]
    pub(super) fn size(&self) -> usize {
        self.size
    }
}
