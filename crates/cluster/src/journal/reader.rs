//! A journal reader; a journal may be cut off anywhere.

use std::fs::{self, File, TryLockError};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{
    HEAD, HEAD_BYTES_MAX, Head, HeadRead, JournalError, RECORD_BYTES_MAX, Record, TURN_BYTES_MAX, TURNS, head_of,
    opened, records_of,
};

/// The content of a journal.
#[derive(Clone, Debug)]
pub struct JournalContents {
    /// The folder.
    pub path: PathBuf,
    /// The header.
    pub head: Head,
    /// Whether it is still being written.
    pub is_going_on: bool,
    /// The records, in order.
    pub(super) records: Vec<Record>,
}

impl JournalContents {
    /// Reads a folder.
    ///
    /// # Errors
    /// It is no journal, of another build, or cannot be read.
    pub fn read(path: &Path) -> Result<Self, JournalError> {
        let path = path.to_owned();
        let wrong = |path: PathBuf| |reason| JournalError::Io { path, reason };
        if !fs::metadata(&path).map_err(wrong(path.clone()))?.is_dir() {
            return Err(JournalError::NotOne { path });
        }
        let file = path.join(HEAD);
        let Some(head) = opened(&file) else { return Err(JournalError::NotOne { path }) };
        let is_going_on = matches!(head.try_lock_shared(), Err(TryLockError::WouldBlock));
        let bytes = read_at_most(&head, HEAD_BYTES_MAX + RECORD_BYTES_MAX).map_err(wrong(file))?;
        let head = match head_of(&bytes) {
            HeadRead::Ours(head) => *head,
            HeadRead::Foreign(version) => return Err(JournalError::Foreign { path, version }),
            HeadRead::Damaged => return Err(JournalError::Damaged { path }),
            HeadRead::Nothing => return Err(JournalError::NotOne { path }),
        };
        let [mut first, mut second] = [Vec::new(), Vec::new()];
        for (name, records) in TURNS.iter().zip([&mut first, &mut second]) {
            let file = path.join(name);
            // The second file exists only once the first was full.
            let Some(turn) = opened(&file) else { continue };
            let bytes = read_at_most(&turn, TURN_BYTES_MAX as usize + 2 * RECORD_BYTES_MAX).map_err(wrong(file))?;
            *records = records_of(&bytes);
        }
        Ok(Self { is_going_on, ..Self::new(path, head, [first, second]) })
    }

    /// The content of the records of both files.
    pub(crate) fn new(path: PathBuf, head: Head, mut turns: [Vec<Record>; 2]) -> Self {
        let since = |records: &Vec<Record>| match records.first() {
            Some(Record::Begins(count)) => Some(*count),
            _ => None,
        };
        turns.sort_by_key(since);
        let [mut records, later] = turns;
        records.extend(later);
        Self { path, head, is_going_on: false, records }
    }
}

fn read_at_most(file: &File, most: usize) -> Result<Vec<u8>, std::io::Error> {
    let mut bytes = Vec::new();
    file.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
