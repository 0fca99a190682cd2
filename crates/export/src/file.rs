//! An output file that is opened before the load; its old contents stay until there is something to write.

use std::fs::File;
use std::io::{Error, Write};
use std::path::{Path, PathBuf};

/// A file that is written from its beginning.
pub(crate) struct OutputFile {
    path: PathBuf,
    /// `None` for a pipe or a device: opening a pipe waits for its reader, so it is opened when there is something to
    /// write.
    file: Option<File>,
    written: u64,
}

impl OutputFile {
    pub(crate) fn open(path: &str) -> Result<Self, Error> {
        let path = Path::new(path).to_owned();
        let is_special = std::fs::metadata(&path).is_ok_and(|known| !known.is_file() && !known.is_dir());
        let file = match is_special {
            true => None,
            false => Some(File::options().write(true).create(true).truncate(false).open(&path)?),
        };
        Ok(Self { path, file, written: 0 })
    }

    pub(crate) fn write(&mut self, text: &str) -> Result<(), Error> {
        if self.file.is_none() {
            self.file = Some(host::open_special(&self.path)?);
        }
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(text.as_bytes()))?;
        self.written += text.len() as u64;
        Ok(())
    }

    /// Completes the file: the rest of older contents is cut off.
    pub(crate) fn end(&mut self) -> Result<(), Error> {
        let Some(file) = &self.file else { return Ok(()) };
        if file.metadata()?.is_file() {
            file.set_len(self.written)?;
            file.sync_all()?;
        }
        Ok(())
    }
}
