//! The files that a load writes. They are opened before it, and keep their old content until there is something to
//! write.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// A file of a report, and its path for messages.
pub(crate) struct OutputFile {
    path: PathBuf,
    /// None for a pipe or a device: opening a pipe waits for its reader, so it is opened at the first write.
    file: Option<File>,
}

/// The requested files.
#[derive(Default)]
pub(crate) struct Files {
    json: Option<OutputFile>,
    hdr_text: Option<OutputFile>,
    /// Written as the load runs; none once that failed.
    hdr_log: Option<(OutputFile, u64)>,
}

/// The error for a file that is named twice.
const TWO_REPORTS: &str = "two reports would go into it";

/// Whether two paths lead to one plain file, under any names.
fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let in_folder = || Some(std::fs::canonicalize(folder).ok()?.join(path.file_name()?));
        std::fs::canonicalize(path).ok().or_else(in_folder)
    };
    let is_plain = !std::fs::metadata(one).is_ok_and(|known| !known.is_file());
    is_plain && (one == other || whole(one).is_some_and(|one| Some(one) == whole(other)))
}

/// A path, and why it cannot be written.
pub(crate) type NotWritten = (String, Error);

impl Files {
    /// Opens the files. `others`: further output files.
    pub(crate) fn open(json: Option<&str>, hdr: Option<&str>, others: &[&str]) -> Result<Self, NotWritten> {
        let two = |path: &str| (path.to_owned(), Error::new(ErrorKind::InvalidInput, TWO_REPORTS));
        for (number, other) in others.iter().enumerate() {
            let mut earlier = json.iter().chain(&others[..number]);
            if earlier.any(|one| is_same(Path::new(one), Path::new(other))) {
                return Err(two(other));
            }
        }
        let mut files =
            Self { json: json.map(|path| OutputFile::open_report(Path::new(path))).transpose()?, ..Self::default() };
        if let Some(hdr) = hdr.map(Path::new) {
            // The name of the log stands for the text file next to it.
            let is_log = hdr.extension().is_some_and(|ending| ending == "hlog");
            let text = if is_log { hdr.with_extension("hgrm") } else { hdr.to_owned() };
            let series = hdr.with_extension("hlog");
            for path in [&text, &series] {
                let refuse = |why: &str| Err((path.display().to_string(), Error::new(ErrorKind::InvalidInput, why)));
                if json.iter().chain(others).any(|other| is_same(Path::new(other), path)) {
                    return refuse(TWO_REPORTS);
                }
                // The log is written next to the text, and both grow as files do.
                if std::fs::metadata(path).is_ok_and(|known| !known.is_file()) {
                    return refuse("--hdr needs a name for two plain files");
                }
            }
            files.hdr_text = Some(OutputFile::open(&text)?);
            files.hdr_log = Some((OutputFile::open(&series)?, 0));
        }
        Ok(files)
    }

    pub(crate) fn wants_json(&self) -> bool {
        self.json.is_some()
    }

    pub(crate) fn wants_hdr(&self) -> bool {
        self.hdr_text.is_some()
    }

    /// Whether a file is wanted, even if the table has no reader.
    pub(crate) fn wants_any(&self) -> bool {
        self.wants_json() || self.wants_hdr()
    }

    pub(crate) fn json(&mut self, text: &str) -> Result<(), NotWritten> {
        self.json.take().map_or(Ok(()), |place| place.write_whole(text))
    }

    pub(crate) fn hdr_text(&mut self, text: &str) -> Result<(), NotWritten> {
        self.hdr_text.take().map_or(Ok(()), |place| place.write_whole(text))
    }

    /// Adds lines to the log. After a failure nothing more is written.
    pub(crate) fn hdr_lines(&mut self, lines: &str) -> Result<(), NotWritten> {
        let Some((place, written)) = &mut self.hdr_log else { return Ok(()) };
        match place.write(lines) {
            Ok(()) => {
                *written += lines.len() as u64;
                Ok(())
            }
            Err(error) => {
                let reported = place.not_written(error);
                self.hdr_log = None;
                Err(reported)
            }
        }
    }

    /// Ends the log, and cuts off what an earlier one left after it.
    pub(crate) fn end_hdr_log(&mut self) -> Result<(), NotWritten> {
        let Some((place, written)) = self.hdr_log.take() else { return Ok(()) };
        place.end(written)
    }
}

/// The first bytes of a report, which identify it.
const HEAD_BYTES: u64 = 4_096;
/// The error for a file of another kind.
const OTHERS: &str = "a file is there that is no report of onrush";

/// Refuses to replace a foreign file: one with content that is no report of ours.
pub(crate) fn refuse_others(path: &Path) -> Result<(), NotWritten> {
    let is_plain = std::fs::metadata(path).is_ok_and(|known| known.is_file() && known.len() > 0);
    let mut head = Vec::new();
    // A file that cannot be read is reported when the report is written.
    let mut is_read = || File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head)).is_ok();
    if is_plain && is_read() {
        let text = String::from_utf8_lossy(&head);
        let is_json =
            text.trim_start().strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with("\"schema\":"));
        let is_page = text.starts_with("<!doctype html>") && text.contains(report::MARK_OF_PAGES);
        if !is_json && !is_page {
            return Err((path.display().to_string(), Error::new(ErrorKind::AlreadyExists, OTHERS)));
        }
    }
    Ok(())
}

impl OutputFile {
    /// Opens the file of a report: it must be empty, or another report of ours.
    pub(crate) fn open_report(path: &Path) -> Result<Self, NotWritten> {
        refuse_others(path)?;
        Self::open(path)
    }

    pub(crate) fn open(path: &Path) -> Result<Self, NotWritten> {
        let file = match std::fs::metadata(path) {
            Ok(known) if !known.is_file() && !known.is_dir() => Ok(None),
            _ => File::options().write(true).create(true).truncate(false).open(path).map(Some),
        };
        let path = path.to_owned();
        match file {
            Ok(file) => Ok(Self { path, file }),
            Err(error) => Err((path.display().to_string(), error)),
        }
    }

    pub(crate) fn not_written(&self, error: Error) -> NotWritten {
        (self.path.display().to_string(), error)
    }

    pub(crate) fn write(&mut self, text: &str) -> Result<(), Error> {
        if self.file.is_none() {
            self.file = Some(host::open_special(&self.path)?);
        }
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(text.as_bytes()))
    }

    pub(crate) fn write_whole(mut self, text: &str) -> Result<(), NotWritten> {
        self.write(text).map_err(|error| self.not_written(error))?;
        self.end(text.len() as u64)
    }

    pub(crate) fn end(self, bytes: u64) -> Result<(), NotWritten> {
        let Some(file) = &self.file else { return Ok(()) };
        let end = || {
            // A device or a pipe has no length to set.
            if file.metadata()?.is_file() {
                file.set_len(bytes)?;
                file.sync_all()?;
            }
            Ok(())
        };
        end().map_err(|error| self.not_written(error))
    }
}
