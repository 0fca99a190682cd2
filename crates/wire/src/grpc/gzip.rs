//! Gzip compression of messages.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// A message, compressed with gzip.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 2 + 32), Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("memory takes all")
}

/// The result of decompressing a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unzipped {
    /// The message.
    Whole(Vec<u8>),
    /// It is larger than the limit; these are the first bytes.
    TooLarge(Vec<u8>),
    /// It is not gzip.
    Malformed,
}

/// Decompresses a message, up to `most` bytes.
pub fn gunzip(bytes: &[u8], most: usize) -> Unzipped {
    let mut message = Vec::new();
    match GzDecoder::new(bytes).take(most as u64 + 1).read_to_end(&mut message) {
        Err(_) => Unzipped::Malformed,
        Ok(count) if count > most => {
            message.truncate(most);
            Unzipped::TooLarge(message)
        }
        Ok(_) => Unzipped::Whole(message),
    }
}
