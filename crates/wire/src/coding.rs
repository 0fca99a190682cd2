//! Content decoding of bodies (RFC 9110, 8.4).

use std::io::{self, Read};

/// The longest chain of codings.
const CODINGS_MAX: usize = 4;

/// The largest zstd window in a body (RFC 9659).
const ZSTD_WINDOW_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// The longest zstd frame header.
const ZSTD_HEADER_BYTES_MAX: u64 = 18;

/// Bytes that are read of a body at a time.
const PIECE_BYTES: usize = 64 * 1024;
/// Growth factor of a full buffer: fewer reallocations leave less unused memory behind.
const GROWTH: usize = 4;

/// Why a body cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecoded {
    /// The coding is not supported.
    Unknown,
    /// The body is not valid in its coding.
    Broken,
    /// The decoded body would be larger than allowed.
    TooLarge,
}

/// The names in a list of codings, in the order in which they were applied.
fn names(codings: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    codings.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|name| !name.is_empty())
}

/// The codings of a message (RFC 9112, 6.1) without the final `chunked`: that one frames the message, and is already
/// removed.
pub fn within_chunks(codings: &[u8]) -> &[u8] {
    let last = codings.iter().rposition(|byte| *byte == b',');
    let (rest, name) = last.map_or((&codings[..0], codings), |at| (&codings[..at], &codings[at + 1..]));
    if name.trim_ascii().eq_ignore_ascii_case(b"chunked") { rest } else { codings }
}

/// The decoded body, at most `most` bytes. Codings are removed while it is read, without intermediate buffers.
///
/// # Errors
/// A coding is unknown, the body is broken, or too large.
pub fn decode(codings: &[u8], body: &[u8], most: usize) -> Result<Vec<u8>, Undecoded> {
    let (body, fault) = decode_as_far(codings, body, most);
    fault.map_or(Ok(body), Err)
}

/// Decodes a body that may be broken or cut: the bytes that can be decoded, and the error if it stops early. With an
/// unknown coding, no bytes.
pub fn decode_as_far(codings: &[u8], body: &[u8], most: usize) -> (Vec<u8>, Option<Undecoded>) {
    match reader_of(codings, body, most) {
        Ok(reader) => as_far(reader, most),
        Err(fault) => (Vec::new(), Some(fault)),
    }
}

fn reader_of<'a>(codings: &[u8], body: &'a [u8], most: usize) -> Result<Box<dyn Read + 'a>, Undecoded> {
    if names(codings).count() > CODINGS_MAX {
        return Err(Undecoded::Unknown);
    }
    let mut reader: Box<dyn Read + 'a> = Box::new(body);
    // The last coding was applied last.
    for name in names(codings).rev() {
        reader = match name.to_ascii_lowercase().as_slice() {
            b"identity" => reader,
            b"gzip" | b"x-gzip" => Box::new(flate2::read::MultiGzDecoder::new(reader)),
            b"deflate" => undeflate(reader)?,
            b"br" => Box::new(brotli_decompressor::Decompressor::new(reader, 4096)),
            b"zstd" => unzstd(reader)?,
            b"chunked" => {
                let content = crate::http1::dechunk(&all_of(reader, most)?).ok_or(Undecoded::Broken)?;
                Box::new(io::Cursor::new(content))
            }
            _ => return Err(Undecoded::Unknown),
        };
    }
    Ok(reader)
}

/// A decoder of zstd. A frame states its window, and as a content coding the window may not exceed
/// [`ZSTD_WINDOW_BYTES_MAX`].
fn unzstd<'a>(mut reader: Box<dyn Read + 'a>) -> Result<Box<dyn Read + 'a>, Undecoded> {
    let mut front = Vec::new();
    reader.by_ref().take(ZSTD_HEADER_BYTES_MAX).read_to_end(&mut front).map_err(|_| Undecoded::Broken)?;
    if zstd_window(&front).is_none_or(|window| window > ZSTD_WINDOW_BYTES_MAX) {
        return Err(Undecoded::Broken);
    }
    let whole: Box<dyn Read + 'a> = Box::new(io::Cursor::new(front).chain(reader));
    Ok(Box::new(ruzstd::decoding::StreamingDecoder::new(whole).map_err(|_| Undecoded::Broken)?))
}

/// The window that a frame states (RFC 8878, 3.1.1.1); `None` when it is no frame.
fn zstd_window(front: &[u8]) -> Option<u64> {
    let [0x28, 0xb5, 0x2f, 0xfd, descriptor, rest @ ..] = front else { return None };
    let is_single = descriptor & 0x20 != 0;
    if !is_single {
        let window = u64::from(*rest.first()?);
        let base = 1 << (10 + (window >> 3));
        return Some(base + base / 8 * (window & 7));
    }
    // The whole content is the window; its length stands after the dictionary ID.
    let skipped = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let length = [1, 2, 4, 8][usize::from(descriptor >> 6)];
    let field = rest.get(skipped..skipped + length)?;
    let content = field.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    Some(if length == 2 { content + 256 } else { content })
}

/// Some servers omit the zlib frame (RFC 1950): the first two bytes show whether it is present.
fn undeflate<'a>(mut reader: Box<dyn Read + 'a>) -> Result<Box<dyn Read + 'a>, Undecoded> {
    let mut front = Vec::new();
    reader.by_ref().take(2).read_to_end(&mut front).map_err(|_| Undecoded::Broken)?;
    let is_framed = matches!(*front, [method, flags]
        if method & 0x0f == 8 && u16::from_be_bytes([method, flags]).is_multiple_of(31));
    let whole = io::Cursor::new(front).chain(reader);
    Ok(if is_framed {
        Box::new(flate2::read::ZlibDecoder::new(whole))
    } else {
        Box::new(flate2::read::DeflateDecoder::new(whole))
    })
}

/// All bytes of `reader`, at most `most`.
fn all_of(reader: impl Read, most: usize) -> Result<Vec<u8>, Undecoded> {
    let (bytes, fault) = as_far(reader, most);
    fault.map_or(Ok(bytes), Err)
}

/// The bytes that can be read, in a buffer that never exceeds its maximum, and the error if reading stops early.
fn as_far(mut reader: impl Read, most: usize) -> (Vec<u8>, Option<Undecoded>) {
    let (mut bytes, mut piece) = (Vec::new(), vec![0; PIECE_BYTES.min(most + 1)]);
    loop {
        let count = match reader.read(&mut piece) {
            Ok(0) => return (bytes, None),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return (bytes, Some(Undecoded::Broken)),
        };
        let taken = count.min(most - bytes.len());
        if bytes.len() + taken > bytes.capacity() {
            let capacity = (bytes.capacity() * GROWTH).max(bytes.len() + taken).min(most);
            bytes.reserve_exact(capacity - bytes.len());
        }
        bytes.extend_from_slice(&piece[..taken]);
        if taken < count {
            return (bytes, Some(Undecoded::TooLarge));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        writer.write_all(bytes).expect("a vector takes all");
        writer.finish().expect("a vector takes all")
    }

    #[test]
    fn codings_come_off() {
        let text = b"hello hello hello hello".repeat(20);
        let mut deflated = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        deflated.write_all(&text).expect("a vector takes all");
        let deflated = deflated.finish().expect("a vector takes all");
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        raw.write_all(&text).expect("a vector takes all");
        let raw = raw.finish().expect("a vector takes all");
        assert_eq!(decode(b"gzip", &gzip(&text), 1 << 20).as_ref(), Ok(&text));
        assert_eq!(decode(b"Deflate", &deflated, 1 << 20).as_ref(), Ok(&text));
        assert_eq!(decode(b"deflate", &raw, 1 << 20).as_ref(), Ok(&text));
        assert_eq!(decode(b"identity", &text, 1 << 20).as_ref(), Ok(&text));
        assert_eq!(decode(b"gzip, gzip", &gzip(&gzip(&text)), 1 << 20).as_ref(), Ok(&text));
        // Produced by other encoders from "hello\n".
        assert_eq!(
            decode(b"br", &[0x8b, 0x02, 0x80, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x0a, 0x03], 99).as_deref(),
            Ok(&b"hello\n"[..])
        );
        let zstd = [
            0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x58, 0x31, 0x00, 0x00, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x0a, 0x53, 0x88, 0xbd,
            0x91,
        ];
        assert!(decode(b"zstd", &zstd, 99).is_ok_and(|text| text == b"hello\n"), "{:?}", decode(b"zstd", &zstd, 99));
    }

    #[test]
    fn codings_of_messages_come_off() {
        let deflated = |bytes: &[u8]| {
            let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
            writer.write_all(bytes).expect("a vector takes all");
            writer.finish().expect("a vector takes all")
        };
        for (all, rest) in [
            ("chunked", ""),
            ("gzip, chunked", "gzip"),
            ("gzip , Chunked ", "gzip "),
            ("chunked, gzip", "chunked, gzip"),
        ] {
            assert_eq!(within_chunks(all.as_bytes()), rest.as_bytes(), "{all}");
        }
        let chunks = b"5\r\nhello\r\n0\r\n\r\n";
        assert_eq!(decode(b"chunked, deflate", &deflated(chunks), 99).as_deref(), Ok(&b"hello"[..]));
        assert_eq!(decode(b"deflate, gzip", &gzip(&deflated(b"hello")), 99).as_deref(), Ok(&b"hello"[..]));
        assert_eq!(decode(b"chunked, deflate", &deflated(b"5\r\nhel"), 99), Err(Undecoded::Broken));
        assert_eq!(decode(b"chunked, foo", b"5\r\nhel", 99), Err(Undecoded::Unknown));
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let bomb = gzip(&vec![0; 10_000_000]);
        assert_eq!(decode(b"gzip", &bomb, 1_000_000), Err(Undecoded::TooLarge));
        assert_eq!(decode(b"gzip", b"no", 1_000), Err(Undecoded::Broken));
        assert_eq!(decode(b"br", &[0xff; 9], 1_000), Err(Undecoded::Broken));
        assert_eq!(decode(b"zstd", b"no", 1_000), Err(Undecoded::Broken));
        // Windows of 8 MiB, one step more, and 64 MiB; and one segment of 8 MiB, and one byte more.
        let window = |byte: u8| [0x28, 0xb5, 0x2f, 0xfd, 0, byte, 1 << 1 | 1 | 5 << 3, 0, 0, b'x'];
        assert_eq!(decode(b"zstd", &window((23 - 10) << 3), 9).as_deref(), Ok(&b"xxxxx"[..]));
        assert_eq!(decode(b"zstd", &window((23 - 10) << 3 | 1), 9), Err(Undecoded::Broken));
        assert_eq!(decode(b"zstd", &window((26 - 10) << 3), 9), Err(Undecoded::Broken));
        let segment = |length: u32| [&[0x28, 0xb5, 0x2f, 0xfd, 0xa0][..], &length.to_le_bytes()].concat();
        assert_eq!(
            (zstd_window(&segment(8 << 20)), zstd_window(&segment((8 << 20) + 1))),
            (Some(8 << 20), Some((8 << 20) + 1))
        );
        assert_eq!((zstd_window(&[0x28, 0xb5, 0x2f, 0xfd, 0x60, 1, 1]), zstd_window(b"x")), (Some(513), None));
        assert_eq!(decode(b"lzma", b"no", 1_000), Err(Undecoded::Unknown));
        assert_eq!(decode(b"gzip,gzip,gzip,gzip,gzip", b"no", 1_000), Err(Undecoded::Unknown));
        let text: String = (0..20_000).map(|number| format!("line {number} of a body\n")).collect();
        let whole = gzip(text.as_bytes());
        for cut in [whole.len() / 2, whole.len() - 3] {
            let (read, fault) = decode_as_far(b"gzip", &whole[..cut], 1 << 20);
            assert_eq!(fault, Some(Undecoded::Broken));
            assert!(read.len() > text.len() / 4 && text.as_bytes().starts_with(&read), "{} of {}", read.len(), cut);
        }
        assert_eq!(decode_as_far(b"gzip", &bomb, 1_000), (vec![0; 1_000], Some(Undecoded::TooLarge)));
        assert_eq!(decode_as_far(b"lzma", b"no", 1_000), (Vec::new(), Some(Undecoded::Unknown)));
        let whole = gzip(b"hello");
        assert_eq!(decode(b"gzip", &whole[..whole.len() - 3], 1_000), Err(Undecoded::Broken));
    }
}
