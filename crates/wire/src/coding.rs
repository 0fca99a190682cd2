//! Bodies without the coding that a server gave them (RFC 9110, 8.4).

use std::io::Read;

/// The longest chain of codings.
const CODINGS_MAX: usize = 4;
/// What is taken out at a time: of a body that is cut, no more than this is lost before the cut.
const PIECE_BYTES: usize = 4 * 1024;

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

/// What a body says, without the codings that `Content-Encoding` names; at most `most` bytes of it.
///
/// # Errors
/// A coding is unknown, the body is broken, or too large.
pub fn decode(codings: &[u8], body: &[u8], most: usize) -> Result<Vec<u8>, Undecoded> {
    match decode_as_far(codings, body, most) {
        (body, None) => Ok(body),
        (_, Some(fault)) => Err(fault),
    }
}

/// The same of a body that may be broken or cut: what it says as far as it can be read, and why not further. Nothing of one whose
/// coding is unknown.
pub fn decode_as_far(codings: &[u8], body: &[u8], most: usize) -> (Vec<u8>, Option<Undecoded>) {
    let (mut body, mut first_fault) = (body.to_vec(), None);
    let names = codings.split(|byte| *byte == b',').map(<[u8]>::trim_ascii).filter(|name| !name.is_empty());
    let names: Vec<&[u8]> = names.collect();
    if names.len() > CODINGS_MAX {
        return (Vec::new(), Some(Undecoded::Unknown));
    }
    // The last one was put on last.
    for name in names.into_iter().rev() {
        let fault;
        (body, fault) = match name.to_ascii_lowercase().as_slice() {
            b"identity" => (body, None),
            b"gzip" | b"x-gzip" => all_of(flate2::read::MultiGzDecoder::new(body.as_slice()), most),
            b"deflate" => match all_of(flate2::read::ZlibDecoder::new(body.as_slice()), most) {
                // Some servers leave out the frame around it.
                (read, Some(Undecoded::Broken)) if read.is_empty() => {
                    all_of(flate2::read::DeflateDecoder::new(body.as_slice()), most)
                }
                known => known,
            },
            b"br" => all_of(brotli_decompressor::Decompressor::new(body.as_slice(), 4096), most),
            b"zstd" => match ruzstd::decoding::StreamingDecoder::new(body.as_slice()) {
                Ok(decoder) => all_of(decoder, most),
                Err(_) => (Vec::new(), Some(Undecoded::Broken)),
            },
            _ => return (Vec::new(), Some(Undecoded::Unknown)),
        };
        first_fault = first_fault.or(fault);
    }
    (body, first_fault)
}

/// What a reader gives, as far as it can, and why it gives no more.
fn all_of(reader: impl Read, most: usize) -> (Vec<u8>, Option<Undecoded>) {
    let mut bytes = Vec::new();
    let mut reader = reader.take(most as u64 + 1);
    let mut fault = None;
    let mut piece = [0; PIECE_BYTES];
    loop {
        match reader.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => {
                fault = Some(Undecoded::Broken);
                break;
            }
        }
    }
    if bytes.len() > most {
        bytes.truncate(most);
        fault = Some(Undecoded::TooLarge);
    }
    (bytes, fault)
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
    fn what_cannot_be_read_is_said() {
        let bomb = gzip(&vec![0; 10_000_000]);
        assert_eq!(decode(b"gzip", &bomb, 1_000_000), Err(Undecoded::TooLarge));
        assert_eq!(decode(b"gzip", b"no", 1_000), Err(Undecoded::Broken));
        assert_eq!(decode(b"br", &[0xff; 9], 1_000), Err(Undecoded::Broken));
        assert_eq!(decode(b"zstd", b"no", 1_000), Err(Undecoded::Broken));
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
