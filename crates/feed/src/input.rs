//! A window of a file: lines, and bytes that are inspected before they are consumed.

use std::io::{ErrorKind, Read};

use memchr::{memchr, memchr_iter, memchr2};

use crate::{FeedFault, ROW_BYTES_MAX};

/// Bytes requested from the system at once.
const READ_BYTES: usize = 64 * 1024;

/// The position where something begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// Bytes from the beginning of the file.
    pub(crate) offset: u64,
    /// Line number, from 1.
    pub(crate) line: u64,
}

/// A fault in a file, and its line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misread {
    pub(crate) line: Option<u64>,
    pub(crate) fault: FeedFault,
}

impl Misread {
    pub(crate) fn at(start: Start, fault: FeedFault) -> Self {
        let has_line = !matches!(fault, FeedFault::Read { .. } | FeedFault::NoRows);
        Self { line: has_line.then_some(start.line), fault }
    }
}

impl From<FeedFault> for Misread {
    fn from(fault: FeedFault) -> Self {
        Self { line: None, fault }
    }
}

/// The line ends that are recognized.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnd {
    /// LF.
    Lf,
    /// LF, CR or both.
    Any,
}

pub(crate) struct RowInput<R> {
    source: R,
    bytes: Vec<u8>,
    /// Number of bytes before this position that were consumed.
    taken: usize,
    start: Start,
    has_ended: bool,
}

impl<R: Read> RowInput<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, bytes: Vec::new(), taken: 0, start: Start { offset: 0, line: 1 }, has_ended: false }
    }

    pub(crate) fn source(&mut self) -> &mut R {
        &mut self.source
    }

    /// Continues at `offset`, to which the source was moved. Lines are counted from 1 again.
    pub(crate) fn restart(&mut self, offset: u64) {
        self.bytes.clear();
        (self.taken, self.has_ended) = (0, false);
        self.start = Start { offset, line: 1 };
    }

    /// The position of the next byte.
    pub(crate) fn start(&self) -> Start {
        self.start
    }

    /// The bytes that are read and not consumed.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    /// Reads more after the bytes that are not consumed; `false` at the end of the file.
    pub(crate) fn fill(&mut self) -> Result<bool, FeedFault> {
        if self.has_ended {
            return Ok(false);
        }
        self.bytes.drain(..std::mem::take(&mut self.taken));
        let kept = self.bytes.len();
        // A long row grows the window by its own size, so that it is not read in small pieces.
        let room = READ_BYTES.max(kept);
        self.bytes.resize(kept + room, 0);
        let read = loop {
            match self.source.read(&mut self.bytes[kept..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.bytes.truncate(kept + read.as_ref().copied().unwrap_or(0));
        let read = read.map_err(|error| FeedFault::Read { reason: error.to_string() })?;
        self.has_ended = read == 0;
        Ok(read > 0)
    }

    /// Consumes `length` of the bytes that were read.
    pub(crate) fn take(&mut self, length: usize) -> &[u8] {
        let taken = self.taken..self.taken + length;
        self.start.line += memchr_iter(b'\n', &self.bytes[taken.clone()]).count() as u64;
        self.start.offset += length as u64;
        self.taken = taken.end;
        &self.bytes[taken]
    }

    /// Consumes a line with its end, which the last one may lack; `None` after it.
    pub(crate) fn line(&mut self, end: LineEnd) -> Result<Option<&[u8]>, FeedFault> {
        let mut seen = 0;
        let length = loop {
            let rest = self.rest();
            let found = match end {
                LineEnd::Lf => memchr(b'\n', &rest[seen..]),
                LineEnd::Any => memchr2(b'\n', b'\r', &rest[seen..]),
            };
            seen = found.map_or(rest.len(), |at| seen + at);
            match (found.map(|_| rest[seen]), rest.get(seen + 1)) {
                (Some(b'\r'), Some(b'\n')) => break seen + 2,
                // Whether an LF follows this CR is known only with the next byte.
                (Some(b'\r'), None) if !self.has_ended => {}
                (Some(_), _) => break seen + 1,
                (None, _) if self.has_ended => break seen,
                (None, _) => {}
            }
            if seen > ROW_BYTES_MAX {
                return Err(FeedFault::RowTooLong);
            }
            self.fill()?;
        };
        if length == 0 {
            return Ok(None);
        }
        let is_lone_cr = self.rest()[length - 1] == b'\r';
        self.start.line += u64::from(is_lone_cr);
        Ok(Some(self.take(length)))
    }

    /// The next byte that is not JSON whitespace, without consuming it; `None` at the end of the file.
    pub(crate) fn peek_solid(&mut self) -> Result<Option<u8>, FeedFault> {
        loop {
            let rest = self.rest();
            let spaces = rest.iter().take_while(|byte| b" \t\r\n".contains(byte)).count();
            let solid = rest.get(spaces).copied();
            self.take(spaces);
            if solid.is_some() || !self.fill()? {
                return Ok(solid);
            }
        }
    }
}
