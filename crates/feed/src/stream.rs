//! The control thread of a file that is not held: it reads the rows that shards ask for.

use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::index::Index;
use crate::input::Misread;
use crate::regular::FileState;
use crate::row::row_bytes;
use crate::rows::Rows;
use crate::{FeedError, FeedFault, Row};

/// Rows are put together to about half of this, as they stand in memory, and cut at this.
pub(crate) const CHUNK_BYTES_MAX: usize = 64 * 1024;
/// What is kept for the other shards, which want it soon after the first: so much, but at least the last chunk.
const SHARED_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How a file is read ahead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paces {
    /// All rows of the file.
    pub(crate) rows: u64,
    /// Rows that are read together.
    pub(crate) chunk_rows: u64,
    /// The largest row, as it stands in memory.
    pub(crate) row_bytes_max: usize,
    /// Rows are taken in their order.
    pub(crate) is_in_order: bool,
}

impl Paces {
    /// Rows of `mean_bytes` are read together. A chunk begins at a row whose offset is known.
    pub(crate) fn in_chunks(self, mean_bytes: usize, stride: u64) -> Self {
        let wanted = (CHUNK_BYTES_MAX / 2 / mean_bytes.max(1)) as u64;
        Self { chunk_rows: (wanted / stride).max(1) * stride, ..self }
    }

    /// A chunk, as it stands in memory, is at most this long.
    pub(crate) fn chunk_bytes_max(&self) -> usize {
        if self.chunk_rows == 1 { self.row_bytes_max } else { CHUNK_BYTES_MAX + self.row_bytes_max }
    }
}

/// Rows that stand together: all of a chunk, or of one with large rows a part.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    /// The number of the first row.
    pub(crate) first: u64,
    pub(crate) rows: Arc<[Row]>,
}

impl Chunk {
    pub(crate) fn row(&self, number: u64) -> Option<&Row> {
        self.rows.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }
}

/// What a shard wants: the chunk of a row, or a part that has this row.
pub(crate) struct RowRequest {
    pub(crate) row: u64,
    pub(crate) requests: Arc<Requests>,
}

/// Where a shard gets it.
pub(crate) struct Requests {
    pub(crate) mail: Sender<Delivery>,
    pub(crate) wake: Box<dyn Fn() + Send + Sync>,
}

pub(crate) type Delivery = Result<Chunk, FeedError>;

/// The thread and what it owns.
pub(crate) struct Stream {
    path: PathBuf,
    rows: Rows<File>,
    index: Index,
    paces: Paces,
    seen: FileState,
    /// The row that `rows` reads next.
    next: u64,
    /// The latest last.
    shared: VecDeque<Chunk>,
}

impl Stream {
    /// Starts the thread, which ends when nobody can order.
    pub(crate) fn start(
        rows: Rows<File>,
        index: Index,
        paces: Paces,
        seen: FileState,
        path: &Path,
    ) -> Result<Sender<RowRequest>, FeedFault> {
        let (orders, ordered) = channel();
        let next = paces.rows;
        let stream = Self { path: path.to_owned(), rows, index, paces, seen, next, shared: VecDeque::new() };
        let started = thread::Builder::new().name("feed".to_owned()).spawn(move || stream.serve(&ordered));
        started.map_err(|error| FeedFault::Thread { reason: error.to_string() })?;
        Ok(orders)
    }

    fn serve(mut self, ordered: &Receiver<RowRequest>) {
        for RowRequest { row, requests } in ordered {
            let delivery = self.chunk(row).map_err(|fault| FeedError { file: self.path.clone(), line: None, fault });
            // A shard that is gone wants nothing.
            if requests.mail.send(delivery).is_ok() {
                (requests.wake)();
            }
        }
    }

    fn chunk(&mut self, row: u64) -> Result<Chunk, FeedFault> {
        if let Some(chunk) = self.shared.iter().rev().find(|chunk| chunk.row(row).is_some()) {
            return Ok(chunk.clone());
        }
        let chunk = self.read(row).map_err(|misread| match misread.fault {
            fault @ FeedFault::Read { .. } => fault,
            // All of it was read before without a mistake.
            _ => FeedFault::Changed,
        })?;
        // Before rows are used they are known to be those of the file that was opened.
        self.seen.compare(self.rows.source())?;
        if self.paces.is_in_order {
            if self.shared.len() >= (SHARED_BYTES_MAX / self.paces.chunk_bytes_max()).max(1) {
                self.shared.pop_front();
            }
            self.shared.push_back(chunk.clone());
        }
        Ok(chunk)
    }

    fn read(&mut self, wanted: u64) -> Result<Chunk, Misread> {
        let chunk_rows = self.paces.chunk_rows;
        let mut first = wanted / chunk_rows * chunk_rows;
        let end = (first + chunk_rows).min(self.paces.rows);
        if self.next != first {
            let (known, offset) = self.index.before(first);
            // What stands between is gone through when that is less.
            if !(known..=first).contains(&self.next) {
                self.rows.seek(offset)?;
                self.next = known;
            }
        }
        while self.next < first {
            self.step(false)?;
        }
        let (mut rows, mut bytes) = (Vec::new(), 0);
        while self.next < end && (bytes < CHUNK_BYTES_MAX || self.next <= wanted) {
            if bytes >= CHUNK_BYTES_MAX {
                // The wanted row is not among these.
                rows.clear();
                (first, bytes) = (self.next, 0);
            }
            self.step(true)?;
            bytes += row_bytes(self.rows.cells());
            rows.push(Row::of(self.rows.cells()));
        }
        Ok(Chunk { first, rows: rows.into() })
    }

    /// Goes to the next row, or past it.
    fn step(&mut self, is_read: bool) -> Result<(), Misread> {
        let at = std::mem::replace(&mut self.next, self.paces.rows);
        let is_there = if is_read { self.rows.read()?.is_some() } else { self.rows.skip()? };
        if !is_there {
            return Err(FeedFault::Changed.into());
        }
        self.next = at + 1;
        Ok(())
    }
}
