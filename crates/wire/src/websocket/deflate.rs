//! Compressed messages (RFC 7692). Each message that we send is compressed by itself, so an idle connection costs
//! nothing more; received ones are decompressed piece by piece, so that a large one is never stored as a whole.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::Fault;

/// The bytes that a sender omits at the end of each message (RFC 7692, 7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];
/// Size of an output step in bytes.
pub(super) const ROOM: usize = 16 * 1024;
/// The default window, as a power of two.
pub const WINDOW_BITS_MAX: u8 = 15;
/// The smallest window of the protocol.
pub const WINDOW_BITS_MIN: u8 = 8;
/// The smallest window of the library. For a smaller one, compression restarts after as many bytes as the window has.
const LIBRARY_BITS_MIN: u8 = 9;

/// The negotiated compression, in few bytes: each connection has a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deflate {
    /// The window of messages that we send, as a power of two.
    pub window_bits: u8,
    /// Whether the peer's messages may refer to earlier ones, which costs a window for each connection.
    pub keeps_context: bool,
}

/// Compresses each message by itself.
pub struct Deflater {
    inner: Compress,
    /// Bytes after which compression restarts: no reference goes further back.
    reach: usize,
}

impl Default for Deflater {
    fn default() -> Self {
        Self::with_window(WINDOW_BITS_MAX)
    }
}

impl Deflater {
    /// A compressor with a window of `bits`, from [`WINDOW_BITS_MIN`] to [`WINDOW_BITS_MAX`].
    pub fn with_window(bits: u8) -> Self {
        let library = bits.clamp(LIBRARY_BITS_MIN, WINDOW_BITS_MAX);
        let reach = if bits < library { 1 << WINDOW_BITS_MIN } else { usize::MAX };
        Self { inner: Compress::new_with_window_bits(Compression::default(), false, library), reach }
    }

    /// The compressed form of a message.
    pub fn compress(&mut self, message: &[u8]) -> Vec<u8> {
        self.inner.reset();
        let mut out = Vec::with_capacity(message.len() / 2 + 64);
        let pieces = message.len().div_ceil(self.reach).max(1);
        for number in 0..pieces {
            let from = number * self.reach.min(message.len());
            let piece = &message[from..message.len().min(from.saturating_add(self.reach))];
            // A full flush resets the window.
            let flush = if number + 1 == pieces { FlushCompress::Sync } else { FlushCompress::Full };
            self.compress_piece(piece, flush, &mut out);
        }
        out.truncate(out.len() - if out.ends_with(&TAIL) { TAIL.len() } else { 0 });
        if out.is_empty() {
            // An empty message is one empty block (RFC 7692, 7.2.3.6).
            out.push(0);
        }
        out
    }

    fn compress_piece(&mut self, piece: &[u8], flush: FlushCompress, out: &mut Vec<u8>) {
        let mut rest = piece;
        loop {
            let (before, room) = (self.inner.total_in(), out.capacity() - out.len());
            // The compressor needs only memory, so it cannot fail.
            let done = self.inner.compress_vec(rest, out, flush);
            rest = &rest[(self.inner.total_in() - before) as usize..];
            if done.is_err() || (rest.is_empty() && out.len() < out.capacity() && room > 0) {
                return;
            }
            out.reserve(ROOM);
        }
    }
}

/// Decompresses messages, one after the other.
pub(super) struct Inflater {
    inner: Decompress,
    /// Whether the last block was marked as final, and no bytes followed it.
    has_ended: bool,
}

impl Default for Inflater {
    fn default() -> Self {
        Self { inner: Decompress::new(false), has_ended: false }
    }
}

impl Inflater {
    /// Discards the context of earlier messages.
    pub(super) fn reset(&mut self) {
        self.inner.reset(false);
        self.has_ended = false;
    }

    /// Takes more of a message, and outputs its content piece by piece, each no longer than `room`.
    pub(super) fn inflate(
        &mut self,
        compressed: &[u8],
        room: &mut [u8],
        mut take: impl FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let mut rest = compressed;
        while !rest.is_empty() || !self.has_ended {
            let (read_before, written_before) = (self.inner.total_in(), self.inner.total_out());
            let status = self.inner.decompress(rest, room, FlushDecompress::Sync);
            let read = (self.inner.total_in() - read_before) as usize;
            let written = (self.inner.total_out() - written_before) as usize;
            rest = &rest[read..];
            if written > 0 {
                take(&room[..written])?;
            }
            // Output before the broken position counts: the fault is the same however the message was cut.
            let status = status.map_err(|_| Fault::Deflate)?;
            // A final block ends the stream; the following bytes begin another.
            self.has_ended = status == Status::StreamEnd;
            if self.has_ended {
                self.inner.reset(false);
            } else if rest.is_empty() && written < room.len() {
                break;
            } else if read == 0 && written == 0 {
                // It makes progress neither with these bytes nor with more room.
                return Err(Fault::Deflate);
            }
        }
        Ok(())
    }

    /// Completes the message.
    pub(super) fn finish(
        &mut self,
        room: &mut [u8],
        take: impl FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if std::mem::take(&mut self.has_ended) {
            return Ok(());
        }
        self.inflate(&TAIL, room, take)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn there_and_back(message: &[u8], bits: u8) {
        let compressed = Deflater::with_window(bits).compress(message);
        for room in [1, 7, ROOM].into_iter().filter(|room| *room > 1 || message.len() < ROOM) {
            assert_eq!(inflated(&compressed, compressed.len().max(1), room), Ok(message.to_vec()));
        }
        assert_eq!(inflated(&compressed, 7, ROOM), Ok(message.to_vec()));
        // The library supports no smaller window.
        let bits = bits.max(LIBRARY_BITS_MIN);
        assert!(reach(&compressed) <= 1 << bits, "{} > 1 << {bits}", reach(&compressed));
    }

    /// The decompressed output for input in pieces of this size.
    fn inflated(compressed: &[u8], piece: usize, room: usize) -> Result<Vec<u8>, Fault> {
        let (mut inflater, mut room, mut out) = (Inflater::default(), vec![0; room], Vec::new());
        let mut keep = |bytes: &[u8]| {
            out.extend_from_slice(bytes);
            Ok(())
        };
        for piece in compressed.chunks(piece) {
            inflater.inflate(piece, &mut room, &mut keep)?;
        }
        inflater.finish(&mut room, &mut keep)?;
        Ok(out)
    }

    /// The smallest window in bytes with which the library can decompress it.
    fn reach(compressed: &[u8]) -> usize {
        let can = |bits: u8| {
            let mut inflater = Decompress::new_with_window_bits(false, bits);
            let (mut out, mut rest) = (vec![0; 64], compressed);
            loop {
                let before = (inflater.total_in(), inflater.total_out());
                if inflater.decompress(rest, &mut out, FlushDecompress::Sync).is_err() {
                    return false;
                }
                rest = &rest[(inflater.total_in() - before.0) as usize..];
                if (inflater.total_in(), inflater.total_out()) == before {
                    return true;
                }
            }
        };
        (LIBRARY_BITS_MIN..=WINDOW_BITS_MAX).find(|bits| can(*bits)).map_or(usize::MAX, |bits| 1 << bits)
    }

    #[test]
    fn examples_of_the_rfc() {
        // RFC 7692, 7.2.3.1, 7.2.3.3, 7.2.3.4 and 7.2.3.6.
        let of = |compressed: &[u8]| {
            let whole = inflated(compressed, compressed.len(), ROOM);
            assert_eq!(inflated(compressed, 1, 1), whole);
            whole
        };
        assert_eq!(of(&[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]), Ok(b"Hello".to_vec()));
        assert_eq!(of(&[0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00]), Ok(b"Hello".to_vec()));
        assert_eq!(of(&[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00]), Ok(b"Hello".to_vec()));
        assert_eq!(of(&[0x00]), Ok(Vec::new()));
        assert_eq!(of(&[0xff, 0xff, 0xff]), Err(Fault::Deflate));
        assert_eq!(Deflater::default().compress(b"Hello"), [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]);
    }

    #[test]
    fn sizes_around_the_room() {
        for count in [0, 1, ROOM - 1, ROOM, ROOM + 1, 5 * ROOM] {
            let noise: Vec<u8> = (0..count as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
            for bits in [8, 9, 12, 15] {
                there_and_back(&noise, bits);
                there_and_back(&vec![7; count], bits);
            }
        }
    }

    /// References of 256 bytes back are beyond the smallest window.
    #[test]
    fn the_smallest_window_forgets() {
        let noise: Vec<u8> = (0..256u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let size = |message: &[u8], bits: u8| Deflater::with_window(bits).compress(message).len();
        let twice = [noise.as_slice(), &noise].concat();
        assert!(size(&twice, 10) < size(&noise, 10) + 30);
        assert!(size(&twice, 8) >= 2 * size(&noise, 8));
        there_and_back(&twice, 8);
    }

    proptest! {
        #[test]
        fn any_message(message in prop::collection::vec(any::<u8>(), 0..2_000), bits in 8u8..=15) {
            there_and_back(&message, bits);
        }
    }
}
