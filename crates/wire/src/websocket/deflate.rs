//! Compressed messages (RFC 7692), each by itself: neither side remembers the one before, so an idle connection costs nothing more.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

/// What a sender leaves out at the end of each message (RFC 7692, 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// Bytes that are made room for at a time.
const ROOM: usize = 16 * 1024;
/// The window of whoever is not asked for a smaller one, as a power of two.
pub const WINDOW_BITS_MAX: u8 = 15;
/// The smallest window that is kept; a peer that wants 8 is not compressed for.
pub const WINDOW_BITS_MIN: u8 = 9;

/// What is wrong with compressed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spoiled {
    Malformed,
    TooLarge,
}

/// Compresses messages one by one.
pub struct Deflater(Compress);

impl Default for Deflater {
    fn default() -> Self {
        Self::with_window(WINDOW_BITS_MAX)
    }
}

impl Deflater {
    /// With a window of `bits`, from [`WINDOW_BITS_MIN`] to [`WINDOW_BITS_MAX`].
    pub fn with_window(bits: u8) -> Self {
        let bits = bits.clamp(WINDOW_BITS_MIN, WINDOW_BITS_MAX);
        Self(Compress::new_with_window_bits(Compression::default(), false, bits))
    }

    /// The compressed form of a message.
    pub fn compress(&mut self, message: &[u8]) -> Vec<u8> {
        self.0.reset();
        let mut out = Vec::with_capacity(message.len() / 2 + 64);
        let mut rest = message;
        loop {
            let (before, room) = (self.0.total_in(), out.capacity() - out.len());
            // Memory is all that it needs, and it has that.
            let done = self.0.compress_vec(rest, &mut out, FlushCompress::Sync);
            rest = &rest[(self.0.total_in() - before) as usize..];
            if done.is_err() || (rest.is_empty() && out.len() < out.capacity() && room > 0) {
                break;
            }
            out.reserve(ROOM);
        }
        out.truncate(out.len() - if out.ends_with(&TAIL) { TAIL.len() } else { 0 });
        if out.is_empty() {
            // An empty message is one empty block (RFC 7692, 7.2.3.6).
            out.push(0);
        }
        out
    }
}

/// Takes messages apart one by one.
pub(super) struct Inflater(Decompress);

impl Default for Inflater {
    fn default() -> Self {
        Self(Decompress::new(false))
    }
}

impl Inflater {
    /// Appends the message to `out`, up to so many bytes.
    pub(super) fn inflate(&mut self, compressed: &[u8], most: u64, out: &mut Vec<u8>) -> Result<(), Spoiled> {
        self.0.reset(false);
        for (input, is_tail) in [(compressed, false), (&TAIL[..], true)] {
            let mut rest = input;
            loop {
                out.reserve(ROOM);
                let (before, had) = (self.0.total_in(), out.len());
                let status = self.0.decompress_vec(rest, out, FlushDecompress::Sync).map_err(|_| Spoiled::Malformed)?;
                rest = &rest[(self.0.total_in() - before) as usize..];
                if out.len() as u64 > most {
                    return Err(Spoiled::TooLarge);
                }
                match status {
                    // A block that says it is the last one ends the stream; what follows begins another.
                    Status::StreamEnd if rest.is_empty() || is_tail => break,
                    Status::StreamEnd => self.0.reset(false),
                    _ if rest.is_empty() && out.len() < out.capacity() => break,
                    // It can go on neither with these bytes nor with more room.
                    _ if out.len() == had && self.0.total_in() == before => return Err(Spoiled::Malformed),
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn there_and_back(message: &[u8], bits: u8) {
        let compressed = Deflater::with_window(bits).compress(message);
        let mut out = Vec::new();
        assert_eq!(Inflater::default().inflate(&compressed, message.len() as u64, &mut out), Ok(()));
        assert_eq!(out, message);
        if !message.is_empty() {
            let less = message.len() as u64 - 1;
            assert_eq!(Inflater::default().inflate(&compressed, less, &mut Vec::new()), Err(Spoiled::TooLarge));
        }
    }

    #[test]
    fn examples_of_the_rfc() {
        // RFC 7692, 7.2.3.1, 7.2.3.3, 7.2.3.4 and 7.2.3.6.
        let of = |compressed: &[u8]| {
            let mut out = Vec::new();
            Inflater::default().inflate(compressed, 100, &mut out).map(|()| out)
        };
        assert_eq!(of(&[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]), Ok(b"Hello".to_vec()));
        assert_eq!(of(&[0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00]), Ok(b"Hello".to_vec()));
        assert_eq!(of(&[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00]), Ok(b"Hello".to_vec()));
        assert_eq!(of(&[0x00]), Ok(Vec::new()));
        assert_eq!(of(&[0xff, 0xff, 0xff]), Err(Spoiled::Malformed));
        assert_eq!(Deflater::default().compress(b"Hello"), [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]);
    }

    #[test]
    fn sizes_around_the_room() {
        for count in [0, 1, ROOM - 1, ROOM, ROOM + 1, 5 * ROOM] {
            let noise: Vec<u8> = (0..count as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            for bits in [9, 12, 15] {
                there_and_back(&noise, bits);
                there_and_back(&vec![7; count], bits);
            }
        }
    }

    proptest! {
        #[test]
        fn any_message(message in prop::collection::vec(any::<u8>(), 0..2_000), bits in 9u8..=15) {
            there_and_back(&message, bits);
        }
    }
}
