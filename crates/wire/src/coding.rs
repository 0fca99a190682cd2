//! Bodies without the coding that a server gave them (RFC 9110, 8.4).

use std::io::{self, Read};

/// The longest chain of codings.
const CODINGS_MAX: usize = 4;

/// Why a body cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecoded {
    /// A coding that is not known here.
    Unknown,
    /// It is not what its head says.
    Broken,
    /// It would be larger than allowed.
    TooLarge,
}

/// The names in a list of codings, in the order in which they were put on.
fn names(codings: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    codings.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|name| !name.is_empty())
}

/// The codings of a message (RFC 9112, 6.1) without the `chunked` that came last: that one frames it, and is off already.
pub fn within_chunks(codings: &[u8]) -> &[u8] {
    let last = codings.iter().rposition(|byte| *byte == b',');
    let (rest, name) = last.map_or((&codings[..0], codings), |at| (&codings[..at], &codings[at + 1..]));
    if name.trim_ascii().eq_ignore_ascii_case(b"chunked") { rest } else { codings }
}

/// What a body says, without the codings that are named; at most `most` bytes of it. Codings come off while it is read: what lies
/// between them is kept nowhere.
///
/// # Errors
/// A coding is unknown, the body is broken, or too large.
pub fn decode(codings: &[u8], body: &[u8], most: usize) -> Result<Vec<u8>, Undecoded> {
    if names(codings).count() > CODINGS_MAX {
        return Err(Undecoded::Unknown);
    }
    let mut reader: Box<dyn Read + '_> = Box::new(body);
    // The last one was put on last.
    for name in names(codings).rev() {
        reader = match name.to_ascii_lowercase().as_slice() {
            b"identity" => reader,
            b"gzip" | b"x-gzip" => Box::new(flate2::read::MultiGzDecoder::new(reader)),
            b"deflate" => undeflate(reader)?,
            b"br" => Box::new(brotli_decompressor::Decompressor::new(reader, 4096)),
            b"zstd" => Box::new(ruzstd::decoding::StreamingDecoder::new(reader).map_err(|_| Undecoded::Broken)?),
            b"chunked" => {
                let content = crate::http1::dechunk(&all_of(reader, most)?).ok_or(Undecoded::Broken)?;
                Box::new(io::Cursor::new(content))
            }
            _ => return Err(Undecoded::Unknown),
        };
    }
    all_of(reader, most)
}

/// Some servers leave out the frame (RFC 1950) around it: its first two bytes tell.
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

fn all_of(reader: impl Read, most: usize) -> Result<Vec<u8>, Undecoded> {
    let mut bytes = Vec::new();
    reader.take(most as u64 + 1).read_to_end(&mut bytes).map_err(|_| Undecoded::Broken)?;
    if bytes.len() > most { Err(Undecoded::TooLarge) } else { Ok(bytes) }
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
        // Made by others from "hello\n".
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
        assert_eq!(decode(b"lzma", b"no", 1_000), Err(Undecoded::Unknown));
        assert_eq!(decode(b"gzip,gzip,gzip,gzip,gzip", b"no", 1_000), Err(Undecoded::Unknown));
        let whole = gzip(b"hello");
        assert_eq!(decode(b"gzip", &whole[..whole.len() - 3], 1_000), Err(Undecoded::Broken));
    }
}
