//! A data file that was read once completely, and is ready to supply its rows.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use plan::Value;

use crate::folder::folder_rows;
use crate::index::{INDEX_OFFSETS_MAX, Index};
use crate::input::Misread;
use crate::regular::open_regular;
use crate::row::row_bytes;
use crate::rows::Rows;
use crate::stream::{Paces, RowRequest, Stream};
use crate::{Column, FeedError, FeedFault, Format, Pick, Reader, Row, RowPosition, RowTurn, Selection, Spec};

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
        if let Format::Folder(shown) = &spec.format {
            return Self::hold_folder(spec, shown);
        }
        let (file, seen) = open_regular(&spec.file)?;
        let mut rows = Rows::new(file, &spec.format)?;
        let mut index = Index::default();
        let (mut bytes, mut row_bytes_max) = (0, 0);
        let (mut held, mut kept) = (Some(Vec::new()), 0);
        while let Some(start) = rows.read()? {
            index.push(start.offset, offsets_max);
            if !is_kept(spec, index.rows() - 1) {
                continue;
            }
            kept += 1;
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
        let (columns, count) = (names_of(&rows), kept);
        check_selection(spec, index.rows(), count)?;
        let store = match held {
            Some(held) => Store::Held(held.into(), bytes),
            None => {
                let is_in_order = spec.pick == Pick::Next;
                let paces = Paces { rows: count, chunk_rows: 1, row_bytes_max, is_in_order };
                let paces = if is_in_order { paces.in_chunks(bytes / count as usize, index.stride()) } else { paces };
                let orders = Stream::start(rows, index, paces, seen, spec)?;
                Store::Streamed { orders, paces }
            }
        };
        Ok((columns, count, store))
    }

    /// The rows of a folder are few.
    fn hold_folder(spec: &Spec, shown: &str) -> Result<(Vec<String>, u64, Store), Misread> {
        let (columns, mut all) = folder_rows(&spec.file, shown)?;
        let rows = all.len() as u64;
        let mut number = 0;
        all.retain(|_| {
            number += 1;
            is_kept(spec, number - 1)
        });
        check_selection(spec, rows, all.len() as u64)?;
        let bytes = all.iter().map(|row| row_bytes(row)).sum();
        let held: Arc<[Row]> = all.iter_mut().map(Row::new).collect();
        Ok((columns, held.len() as u64, Store::Held(held, bytes)))
    }

    /// The rows that a filter keeps. `judge` says so of each, by the names of the columns and the values.
    ///
    /// # Errors
    /// An error of the file, or of the filter in a row; or no row is kept.
    pub fn select(
        spec: &Spec,
        mut judge: impl FnMut(&[String], &[Value]) -> Result<bool, String>,
    ) -> Result<Selection, FeedError> {
        let (mut kept, mut line) = (Vec::new(), None);
        let mut failed = None;
        let read = each_row(spec, |columns, cells, at| {
            line = at;
            let judged = judge(columns, cells).map_err(|reason| FeedFault::Filter { reason });
            kept.push(judged.unwrap_or_else(|fault| {
                failed = Some(fault);
                false
            }));
            failed.is_none()
        });
        let fault = |line, fault| FeedError { file: spec.file.clone(), line, fault };
        read.map_err(|misread| fault(misread.line, misread.fault))?;
        if let Some(failed) = failed {
            return Err(fault(line, failed));
        }
        let selection = Selection::new(kept);
        if selection.kept() == 0 { Err(fault(None, FeedFault::NoneKept)) } else { Ok(selection) }
    }

    /// The values of a column, which all users share.
    ///
    /// # Errors
    /// There are more than `most`, or the file cannot be read again.
    pub fn values_of(&self, column: usize, most: usize) -> Result<Vec<Value>, FeedError> {
        let fault = |line, fault| FeedError { file: self.spec.file.clone(), line, fault };
        if self.rows > most as u64 {
            return Err(fault(None, FeedFault::ListTooLong { rows: self.rows, most }));
        }
        if let Store::Held(rows, _) = &self.store {
            return Ok(rows.iter().filter_map(|row| row.values().get(column).cloned()).collect());
        }
        let (mut values, mut number) = (Vec::new(), 0);
        let read = each_row(&self.spec, |_, cells, _| {
            values.extend(cells.get(column).filter(|_| is_kept(&self.spec, number)).cloned());
            number += 1;
            true
        });
        read.map_err(|misread| fault(misread.line, misread.fault))?;
        Ok(values)
    }

    /// What a worker opens instead: the bytes of a file, and how they are read. The rows of a folder are written as
    /// JSON.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn packed(&self) -> std::io::Result<(Spec, Vec<u8>)> {
        let Store::Held(rows, _) = &self.store else { return self.packed_file() };
        if !matches!(self.spec.format, Format::Folder(_)) {
            return self.packed_file();
        }
        let mut bytes = Vec::new();
        for row in rows.iter() {
            for (number, (name, value)) in self.columns.iter().zip(row.values()).enumerate() {
                bytes.extend_from_slice(if number == 0 { b"{" } else { b"," });
                Value::text(name).write_json(&mut bytes);
                bytes.push(b':');
                value.write_json(&mut bytes);
            }
            bytes.extend_from_slice(b"}\n");
        }
        Ok((Spec { format: Format::JsonLines, selection: None, ..self.spec.clone() }, bytes))
    }

    fn packed_file(&self) -> std::io::Result<(Spec, Vec<u8>)> {
        Ok((self.spec.clone(), std::fs::read(&self.spec.file)?))
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

/// Whether a row of the file is used.
fn is_kept(spec: &Spec, row: u64) -> bool {
    spec.selection.as_ref().is_none_or(|selection| selection.contains(row))
}

/// Checks that the selection was made of this file.
fn check_selection(spec: &Spec, rows: u64, kept: u64) -> Result<(), FeedFault> {
    match &spec.selection {
        Some(selection) if selection.rows() != rows => Err(FeedFault::Changed),
        _ if kept == 0 => Err(FeedFault::NoneKept),
        _ => Ok(()),
    }
}

fn names_of<R: Read>(rows: &Rows<R>) -> Vec<String> {
    rows.columns().iter().map(|name| name.to_string()).collect()
}

/// Reads all rows of a file, with the names of the columns and the line of each, until `see` says no.
fn each_row(spec: &Spec, mut see: impl FnMut(&[String], &[Value], Option<u64>) -> bool) -> Result<(), Misread> {
    if let Format::Folder(shown) = &spec.format {
        let (columns, all) = folder_rows(&spec.file, shown)?;
        let _ = all.iter().all(|row| see(&columns, row, None));
        return Ok(());
    }
    let (file, _) = open_regular(&spec.file)?;
    let mut rows = Rows::new(file, &spec.format)?;
    let mut columns = Vec::new();
    while let Some(start) = rows.read()? {
        if columns.is_empty() {
            columns = names_of(&rows);
        }
        if !see(&columns, rows.cells(), Some(start.line)) {
            break;
        }
    }
    Ok(())
}
