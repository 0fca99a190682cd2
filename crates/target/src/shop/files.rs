//! Uploaded files: kept in memory within a bound, and given back by their number.

use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Arc;

use graviola::hashing::{Hash, Sha256};

/// The largest file.
pub(crate) const FILE_BYTES_MAX: usize = 16 << 20;
/// Maximum bytes of all files; beyond it the oldest ones are removed.
const STORED_BYTES_MAX: usize = 128 << 20;
/// Maximum number of files, some of which may be empty.
const STORED_MAX: usize = 65_536;

/// A file.
#[derive(Debug)]
pub(super) struct StoredFile {
    pub(super) bytes: Box<[u8]>,
    /// Hexadecimal digits.
    pub(super) sha256: String,
}

/// The files of a server, numbered from 1 in the order of their arrival.
#[derive(Debug, Default)]
pub(crate) struct StoredFiles {
    kept: VecDeque<Arc<StoredFile>>,
    bytes: usize,
    /// Number of removed files: those before the first one that is kept.
    removed: u64,
}

impl StoredFile {
    pub(super) fn new(bytes: &[u8]) -> Self {
        Self { bytes: bytes.into(), sha256: sha256(bytes) }
    }

    /// Its entity tag, with the quotes.
    pub(super) fn tag(&self) -> String {
        format!("\"{}\"", self.sha256)
    }
}

impl StoredFiles {
    /// Stores a file, and returns its number.
    pub(super) fn store(&mut self, file: Arc<StoredFile>) -> u64 {
        self.store_within(file, STORED_BYTES_MAX, STORED_MAX)
    }

    fn store_within(&mut self, file: Arc<StoredFile>, bytes_max: usize, files_max: usize) -> u64 {
        self.bytes += file.bytes.len();
        self.kept.push_back(file);
        while self.bytes > bytes_max || self.kept.len() > files_max {
            let Some(oldest) = self.kept.pop_front() else { break };
            self.bytes -= oldest.bytes.len();
            self.removed += 1;
        }
        self.removed + self.kept.len() as u64
    }

    /// A file by its number, if it is still there.
    pub(super) fn find(&self, number: u64) -> Option<Arc<StoredFile>> {
        let position = number.checked_sub(self.removed)?.checked_sub(1)?;
        self.kept.get(usize::try_from(position).ok()?).cloned()
    }
}

/// The hash as hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in Sha256::hash(bytes).as_ref() {
        write!(text, "{byte:02x}").expect("writing to a string does not fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_standard() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn the_oldest_files_make_room() {
        let mut files = StoredFiles::default();
        let mut store = |text: &str| files.store_within(Arc::new(StoredFile::new(text.as_bytes())), 10, 3);
        assert_eq!(["aaaa", "bbbb", "cc"].map(&mut store), [1, 2, 3]);
        assert_eq!(store("d"), 4);
        assert_eq!([0, 1, 5, u64::MAX].map(|number| files.find(number).is_some()), [false; 4]);
        let content = |files: &StoredFiles, number| files.find(number).map(|file| file.bytes.to_vec());
        assert_eq!([2, 3, 4].map(|number| content(&files, number)), ["bbbb", "cc", "d"].map(|text| Some(text.into())));
        let large = Arc::new(StoredFile::new(b"0123456789"));
        assert_eq!(files.store_within(large, 10, 3), 5);
        assert_eq!((content(&files, 4), content(&files, 5)), (None, Some(b"0123456789".to_vec())));
        assert_eq!((files.bytes, files.kept.len(), files.removed), (10, 1, 4));
    }
}
