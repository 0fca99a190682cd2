//! Files that a plan reads.

use std::fs::File;
use std::io::Read;

use crate::PlanError;

/// All root certificates of the web are a quarter of this.
const SMALL_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Reads a certificate, a key, or the like.
pub(crate) fn read_file(flag: &'static str, path: &str) -> Result<Vec<u8>, PlanError> {
    read_up_to(flag, path, SMALL_FILE_BYTES_MAX)
}

pub(crate) fn read_up_to(flag: &'static str, path: &str, most: u64) -> Result<Vec<u8>, PlanError> {
    let wrong = |error: std::io::Error| PlanError::File { flag, path: path.to_owned(), reason: error.to_string() };
    // Room for all of it, so that it does not have to grow.
    let room = std::fs::metadata(path).map_or(0, |known| if known.is_file() { known.len().min(most) } else { 0 });
    let mut bytes = Vec::with_capacity(usize::try_from(room).unwrap_or(0));
    // As curl: `-` is the standard input.
    let read = if path == "-" {
        std::io::stdin().lock().take(most + 1).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes))
    };
    if read.map_err(wrong)? as u64 > most {
        return Err(PlanError::FileTooLarge { path: path.to_owned(), limit: most });
    }
    Ok(bytes)
}
