//! Responses on a plain byte stream: only where each one ends.

use std::sync::Arc;

/// The largest response that a length prefix may announce.
pub const RESPONSE_BYTES_MAX: u64 = 1 << 30;
/// The longest delimiter.
pub const DELIMITER_BYTES_MAX: usize = 64;

/// The framing of a response: where it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Framing {
    /// After this many bytes, at least one.
    Bytes(u64),
    /// After this delimiter.
    Until(Delimiter),
    /// A number of `width` bytes (1, 2, 4 or 8) gives the number of bytes that follow it.
    LengthPrefix {
        /// Bytes of the number.
        width: u8,
        /// Whether its least significant byte comes first.
        is_little_endian: bool,
    },
}

/// Bytes that end a response, with the table for partial matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delimiter {
    bytes: Arc<[u8]>,
    /// For each number of matched bytes: the length of the longest proper suffix that is also a prefix.
    shorter: Arc<[u8]>,
}

impl Delimiter {
    /// A delimiter of these bytes; `None` when there are none, or too many.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() || bytes.len() > DELIMITER_BYTES_MAX {
            return None;
        }
        let mut shorter = vec![0u8; bytes.len()];
        let mut fitting = 0;
        for at in 1..bytes.len() {
            while fitting > 0 && bytes[at] != bytes[fitting] {
                fitting = usize::from(shorter[fitting - 1]);
            }
            fitting += usize::from(bytes[at] == bytes[fitting]);
            shorter[at] = fitting as u8;
        }
        Some(Self { bytes: bytes.into(), shorter: shorter.into() })
    }

    /// The bytes themselves.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// A prefix announces more than [`RESPONSE_BYTES_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the length before an answer is larger than 1 GiB")]
pub struct TooLarge;

/// Finds the ends of responses, however they are cut.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reader {
    /// Received bytes of this response; of a prefix, those of the prefix.
    taken: u64,
    /// The announced length once the prefix is complete; the value of its bytes until then.
    announced: u64,
    /// Bytes of the delimiter that match so far.
    fitting: u8,
    has_prefix: bool,
}

impl Reader {
    /// Whether a response is partially received.
    pub fn is_within(&self) -> bool {
        self.taken > 0 || self.has_prefix
    }

    /// Parses the start of `input`: how many bytes were consumed, and whether the response ends with them. Call it
    /// again with the rest as long as responses end.
    ///
    /// # Errors
    /// A prefix announces too large a length.
    pub fn handle(&mut self, framing: &Framing, input: &[u8]) -> Result<(usize, bool), TooLarge> {
        match framing {
            Framing::Bytes(count) => Ok(self.count(*count, input)),
            Framing::Until(delimiter) => Ok(self.find_delimiter(delimiter, input)),
            Framing::LengthPrefix { width, is_little_endian } => self.prefixed(*width, *is_little_endian, input),
        }
    }

    fn count(&mut self, count: u64, input: &[u8]) -> (usize, bool) {
        let taken = usize::try_from(count - self.taken).unwrap_or(usize::MAX).min(input.len());
        self.taken += taken as u64;
        let is_over = self.taken == count;
        if is_over {
            *self = Self::default();
        }
        (taken, is_over)
    }

    fn find_delimiter(&mut self, delimiter: &Delimiter, input: &[u8]) -> (usize, bool) {
        let bytes = delimiter.bytes();
        if let ([only], 0) = (bytes, self.fitting) {
            let found = memchr::memchr(*only, input);
            self.taken += input.len() as u64;
            if found.is_some() {
                *self = Self::default();
            }
            return (found.map_or(input.len(), |at| at + 1), found.is_some());
        }
        let mut fitting = usize::from(self.fitting);
        for (at, byte) in input.iter().enumerate() {
            while fitting > 0 && *byte != bytes[fitting] {
                fitting = usize::from(delimiter.shorter[fitting - 1]);
            }
            fitting += usize::from(*byte == bytes[fitting]);
            if fitting == bytes.len() {
                *self = Self::default();
                return (at + 1, true);
            }
        }
        self.taken += input.len() as u64;
        self.fitting = fitting as u8;
        (input.len(), false)
    }

    fn prefixed(&mut self, width: u8, is_little_endian: bool, input: &[u8]) -> Result<(usize, bool), TooLarge> {
        let mut used = 0;
        while !self.has_prefix {
            let Some(byte) = input.get(used) else { return Ok((used, false)) };
            let shift = 8 * self.taken as u32;
            self.announced = if is_little_endian {
                self.announced | u64::from(*byte) << shift
            } else {
                self.announced << 8 | u64::from(*byte)
            };
            self.taken += 1;
            used += 1;
            if self.taken == u64::from(width) {
                (self.taken, self.has_prefix) = (0, true);
            }
        }
        if self.announced > RESPONSE_BYTES_MAX {
            return Err(TooLarge);
        }
        if self.announced == 0 {
            *self = Self::default();
            return Ok((used, true));
        }
        let (taken, is_over) = self.count(self.announced, &input[used..]);
        Ok((used + taken, is_over))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn until(bytes: &[u8]) -> Framing {
        Framing::Until(Delimiter::new(bytes).expect("a delimiter"))
    }

    /// The positions where responses end in bytes that come in pieces.
    fn ends(framing: &Framing, pieces: &[&[u8]]) -> Vec<usize> {
        let (mut reader, mut ends, mut before) = (Reader::default(), Vec::new(), 0);
        for piece in pieces {
            let mut rest = *piece;
            loop {
                let (taken, is_over) = reader.handle(framing, rest).expect("no prefix is too large");
                rest = &rest[taken..];
                before += taken;
                if is_over {
                    assert!(!reader.is_within());
                    ends.push(before);
                }
                if !is_over || rest.is_empty() {
                    break;
                }
            }
            assert!(rest.is_empty());
        }
        ends
    }

    fn at_every_split(framing: &Framing, bytes: &[u8]) -> Vec<usize> {
        let whole = ends(framing, &[bytes]);
        for at in 0..=bytes.len() {
            assert_eq!(ends(framing, &[&bytes[..at], &bytes[at..]]), whole, "{at}");
        }
        let each: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(ends(framing, &each), whole);
        whole
    }

    #[test]
    fn responses_end_where_they_should() {
        assert_eq!(at_every_split(&Framing::Bytes(3), b"abcdefgh"), [3, 6]);
        assert_eq!(at_every_split(&until(b"\n"), b"one\ntwo\n\nthree"), [4, 8, 9]);
        assert_eq!(at_every_split(&until(b"aab"), b"aaabaabaaab"), [4, 7, 11]);
        assert_eq!(at_every_split(&until(b"\r\n\r\n"), b"\r\n\r\r\n\r\n\r\n\r\n"), [7, 11]);
        let prefixed = |width, is_little_endian| Framing::LengthPrefix { width, is_little_endian };
        assert_eq!(at_every_split(&prefixed(1, false), b"\x02ab\0\x01x\x03yz"), [3, 4, 6]);
        assert_eq!(at_every_split(&prefixed(2, false), b"\0\x02ab\0\0\0\x01x"), [4, 6, 9]);
        assert_eq!(at_every_split(&prefixed(4, true), b"\x02\0\0\0ab"), [6]);
        assert_eq!(at_every_split(&prefixed(8, true), b"\x01\0\0\0\0\0\0\0a"), [9]);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let prefix = Framing::LengthPrefix { width: 4, is_little_endian: false };
        assert_eq!(Reader::default().handle(&prefix, b"\xff\xff\xff\xff"), Err(TooLarge));
        assert!(Delimiter::new(b"").is_none() && Delimiter::new(&[0; 65]).is_none());
    }

    proptest! {
        /// The delimiter is found where a search finds it.
        #[test]
        fn as_a_search_would(
            delimiter in prop::collection::vec(0u8..3, 1..6),
            bytes in prop::collection::vec(0u8..3, 0..200),
        ) {
            let (mut expect, mut from) = (Vec::new(), 0);
            while let Some(at) = bytes[from..].windows(delimiter.len()).position(|window| window == delimiter) {
                from += at + delimiter.len();
                expect.push(from);
            }
            prop_assert_eq!(at_every_split(&until(&delimiter), &bytes), expect);
        }
    }
}
