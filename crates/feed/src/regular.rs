//! A regular file that must not change between reads.

use std::fs::{File, Metadata};
use std::path::Path;
use std::time::SystemTime;

use crate::FeedFault;

/// Identity and state of a file when it was opened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FileState {
    bytes: u64,
    changed: Option<SystemTime>,
}

impl FileState {
    fn from_metadata(metadata: &Metadata) -> Self {
        Self { bytes: metadata.len(), changed: metadata.modified().ok() }
    }

    /// Checks that the file is unchanged.
    pub(crate) fn compare(&self, file: &File) -> Result<(), FeedFault> {
        let metadata = file.metadata().map_err(|error| FeedFault::Read { reason: error.to_string() })?;
        if Self::from_metadata(&metadata) == *self { Ok(()) } else { Err(FeedFault::Changed) }
    }
}

/// Opens a file if it is a regular one.
pub(crate) fn open_regular(path: &Path) -> Result<(File, FileState), FeedFault> {
    let failed = |error: std::io::Error| FeedFault::Open { reason: error.to_string() };
    // Opening a pipe waits for its other end, so the file type is checked first.
    let metadata = path.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(FeedFault::Directory);
    }
    if !metadata.is_file() {
        return Err(FeedFault::NotRegular);
    }
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    Ok((file, FileState::from_metadata(&metadata)))
}
