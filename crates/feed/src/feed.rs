//! A data file that was read once completely, and is ready to supply its rows.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use crate::index::{INDEX_OFFSETS_MAX, Index};
use crate::input::Misread;
use crate::regular::open_regular;
use crate::row::row_bytes;
use crate::rows::Rows;
use crate::stream::{Paces, RowRequest, Stream};
use crate::{Column, FeedError, FeedFault, Pick, Reader, Row, RowPosition, RowTurn, Spec};

/// Rows up to this size in memory are all held. Larger files are read ahead.
pub const HELD_BYTES_MAX: usize = 32 * 1024 * 1024;

/// A data file, ready to supply its rows.
#[derive(Debug)]
pub struct Feed {
    spec: Spec,
    columns: Vec<String>,
    rows: u64,
    store: Store,
}

#[derive(Debug)]
enum Store {
    /// All rows, and their size.
    Held(Arc<[Row]>, usize),
    /// Rows that a control thread reads on request. The thread ends when this and all readers are dropped.
    Streamed { orders: Sender<RowRequest>, paces: Paces },
}

impl Feed {
    /// Reads a file completely. It fails with the first error of the file. Only regular files are read: they do not
    /// block.
    pub fn open(spec: Spec) -> Result<Self, FeedError> {
        Self::open_within(spec, HELD_BYTES_MAX, INDEX_OFFSETS_MAX)
    }

    /// The same feed, which is a copy of `file`: messages name that file.
    #[must_use]
    pub fn called(mut self, file: PathBuf) -> Self {
        self.spec.file = file;
        self
    }

    /// The same as [`Feed::open`], with limits for held rows and for stored offsets.
    pub(crate) fn open_within(spec: Spec, held_bytes_max: usize, offsets_max: usize) -> Result<Self, FeedError> {
        match Self::scan(&spec, held_bytes_max, offsets_max) {
            Ok((columns, rows, store)) => Ok(Self { columns, rows, store, spec }),
            Err(Misread { line, fault }) => Err(FeedError { file: spec.file, line, fault }),
        }
    }

    fn scan(spec: &Spec, held_bytes_max: usize, offsets_max: usize) -> Result<(Vec<String>, u64, Store), Misread> {
        let (file, seen) = open_regular(&spec.file)?;
        let mut rows = Rows::new(file, &spec.format)?;
        let mut index = Index::default();
        let (mut bytes, mut row_bytes_max) = (0, 0);
        let mut held = Some(Vec::new());
        while let Some(start) = rows.read()? {
            index.push(start.offset, offsets_max);
            let size = row_bytes(rows.cells());
            (bytes, row_bytes_max) = (bytes + size, row_bytes_max.max(size));
            held = held.filter(|_| bytes <= held_bytes_max);
            if let Some(held) = &mut held {
                held.push(Row::new(rows.cells()));
            }
        }
        if index.rows() == 0 {
            return Err(FeedFault::NoRows.into());
        }
        seen.compare(rows.source())?;
        let columns = rows.columns().iter().map(|name| name.to_string()).collect();
        let count = index.rows();
        let store = match held {
            Some(held) => Store::Held(held.into(), bytes),
            None => {
                let is_in_order = spec.pick == Pick::Next;
                let paces = Paces { rows: count, chunk_rows: 1, row_bytes_max, is_in_order };
                let paces = if is_in_order { paces.in_chunks(bytes / count as usize, index.stride()) } else { paces };
                let orders = Stream::start(rows, index, paces, seen, &spec.file)?;
                Store::Streamed { orders, paces }
            }
        };
        Ok((columns, count, store))
    }

    /// The path of the file.
    pub fn file(&self) -> &Path {
        &self.spec.file
    }

    /// How the rows are distributed.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Number of rows: at least one.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The column with a name.
    pub fn column(&self, name: &str) -> Result<Column, FeedError> {
        let found = self.columns.iter().position(|column| column == name && !name.is_empty());
        found.map(Column).ok_or_else(|| FeedError {
            file: self.spec.file.clone(),
            line: None,
            fault: FeedFault::ColumnMissing { name: name.to_owned(), columns: self.columns.clone() },
        })
    }

    /// The row of a turn. `seed` is derived from the run, the scenario and the name of this file in it.
    pub fn place(&self, turn: RowTurn, seed: u64) -> RowPosition {
        RowPosition::new(&self.spec, self.rows, turn, seed)
    }

    /// Whether all rows are in memory, so that a [`Reader`] has each at once.
    pub fn is_held(&self) -> bool {
        matches!(self.store, Store::Held(..))
    }

    /// A reader for one shard. `wake` is called on the control thread whenever rows arrived for this reader; it wakes
    /// the shard.
    pub fn reader(&self, wake: impl Fn() + Send + Sync + 'static) -> Reader {
        match &self.store {
            Store::Held(rows, bytes) => Reader::held(rows, *bytes),
            Store::Streamed { orders, paces } => Reader::streamed(orders.clone(), *paces, wake),
        }
    }
}
