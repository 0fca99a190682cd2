//! The control thread of a file that is not held: it reads the rows that shards request.

use std::collections::VecDeque;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::index::Index;
use crate::input::Misread;
use crate::regular::FileState;
use crate::row::row_bytes;
use crate::rows::Rows;
use crate::{FeedError, FeedFault, Row, Selection, Spec};

/// Chunks have about half of this size in memory, and at most this size.
pub(crate) const CHUNK_BYTES_MAX: usize = 64 * 1024;
/// Size of the chunks that are cached for the other shards, which need them soon after the first; at least the last
/// chunk is cached.
const SHARED_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The read-ahead parameters of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paces {
    /// Number of rows of the file.
    pub(crate) rows: u64,
    /// Number of rows per chunk.
    pub(crate) chunk_rows: u64,
    /// Size of the largest row in memory.
    pub(crate) row_bytes_max: usize,
    /// Whether rows are taken in order.
    pub(crate) is_in_order: bool,
}

impl Paces {
    /// Sets the chunk size for rows of `mean_bytes`. A chunk begins at a row whose offset is stored.
    pub(crate) fn in_chunks(self, mean_bytes: usize, stride: u64) -> Self {
        let wanted = (CHUNK_BYTES_MAX / 2 / mean_bytes.max(1)) as u64;
        Self { chunk_rows: (wanted / stride).max(1) * stride, ..self }
    }

    /// Maximum size of a chunk in memory.
    pub(crate) fn chunk_bytes_max(&self) -> usize {
        if self.chunk_rows == 1 { self.row_bytes_max } else { CHUNK_BYTES_MAX + self.row_bytes_max }
    }
}

/// Consecutive rows: a whole chunk, or a part of one with large rows.
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

/// A request of a shard: the chunk of a row, or a part that contains this row.
pub(crate) struct RowRequest {
    pub(crate) row: u64,
    pub(crate) requests: Arc<Requests>,
}

/// The mailbox of a shard for chunks, and its wake function.
pub(crate) struct Requests {
    pub(crate) mail: Sender<Delivery>,
    pub(crate) wake: Box<dyn Fn() + Send + Sync>,
}

pub(crate) type Delivery = Result<Chunk, FeedError>;

/// The state of the thread.
pub(crate) struct Stream {
    path: PathBuf,
    rows: Rows<File>,
    index: Index,
    paces: Paces,
    seen: FileState,
    /// The rows that are used; `None`: all.
    selection: Option<Selection>,
    /// The number of the row of the file that `rows` reads next.
    next: u64,
    /// The latest last.
    shared: VecDeque<Chunk>,
}

impl Stream {
    /// Starts the thread, which ends when no reader is left to send requests.
    pub(crate) fn start(
        rows: Rows<File>,
        index: Index,
        paces: Paces,
        seen: FileState,
        spec: &Spec,
    ) -> Result<Sender<RowRequest>, FeedFault> {
        let (orders, ordered) = channel();
        let (next, path, selection) = (index.rows(), spec.file.clone(), spec.selection.clone());
        let stream = Self { path, rows, index, paces, seen, selection, next, shared: VecDeque::new() };
        let started = thread::Builder::new().name("feed".to_owned()).spawn(move || stream.serve(&ordered));
        started.map_err(|error| FeedFault::Thread { reason: error.to_string() })?;
        Ok(orders)
    }

    fn serve(mut self, ordered: &Receiver<RowRequest>) {
        for RowRequest { row, requests } in ordered {
            let delivery = self.chunk(row).map_err(|fault| FeedError { file: self.path.clone(), line: None, fault });
            // A shard that is gone needs no chunk.
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
            // The whole file was read before without an error.
            _ => FeedFault::Changed,
        })?;
        // Before rows are used, the file is checked to be the one that was opened.
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
        let (mut rows, mut bytes, mut number) = (Vec::new(), 0, first);
        while number < end && (bytes < CHUNK_BYTES_MAX || number <= wanted) {
            if bytes >= CHUNK_BYTES_MAX {
                // The requested row is not among these.
                rows.clear();
                (first, bytes) = (number, 0);
            }
            self.go_to(number)?;
            self.step(true)?;
            bytes += row_bytes(self.rows.cells());
            rows.push(Row::new(self.rows.cells()));
            number += 1;
        }
        Ok(Chunk { first, rows: rows.into() })
    }

    /// Goes to the row of a number among those that are used.
    fn go_to(&mut self, number: u64) -> Result<(), Misread> {
        let row = match &self.selection {
            Some(selection) => selection.row_of(number).ok_or(FeedFault::Changed)?,
            None => number,
        };
        if self.next != row {
            let (known, offset) = self.index.before(row);
            // The rows in between are skipped when that is less work.
            if !(known..=row).contains(&self.next) {
                self.rows.seek(offset)?;
                self.next = known;
            }
        }
        while self.next < row {
            self.step(false)?;
        }
        Ok(())
    }

    /// Reads or skips the next row.
    fn step(&mut self, is_read: bool) -> Result<(), Misread> {
        let at = std::mem::replace(&mut self.next, self.index.rows());
        let is_there = if is_read { self.rows.read()?.is_some() } else { self.rows.skip()? };
        if !is_there {
            return Err(FeedFault::Changed.into());
        }
        self.next = at + 1;
        Ok(())
    }
}
