//! The rows of a file, one after the other, from any source of bytes.

use std::io::{Read, Seek, SeekFrom};

use plan::Value;

use crate::csv::CsvRows;
use crate::input::{Misread, RowInput, Start};
use crate::json::{self, Awaits};
use crate::{COLUMNS_MAX, FeedFault, Format};

/// Reads rows.
pub(crate) struct Rows<R> {
    input: RowInput<R>,
    form: Form,
    columns: Vec<Box<str>>,
    has_columns: bool,
    /// Values of the row that was read last.
    cells: Vec<Value>,
    /// The same while the keys of an object are being found.
    found: Vec<Option<Value>>,
}

enum Form {
    Csv(Box<CsvRows>),
    Lines,
    Array(Awaits),
}

impl<R: Read> Rows<R> {
    /// A reader at the beginning of a file.
    pub(crate) fn new(source: R, format: &Format) -> Result<Self, Misread> {
        let form = match format {
            Format::Csv(csv) => Form::Csv(Box::new(CsvRows::new(csv)?)),
            Format::Json => Form::Array(Awaits::Array),
            Format::JsonLines => Form::Lines,
            // A folder is no text.
            Format::Folder(_) => return Err(FeedFault::Directory.into()),
        };
        let mut rows = Self {
            input: RowInput::new(source),
            form,
            columns: Vec::new(),
            has_columns: false,
            cells: Vec::new(),
            found: Vec::new(),
        };
        rows.take_mark()?;
        if let Format::Csv(csv) = format {
            rows.name_columns(csv.columns.as_deref())?;
        }
        Ok(rows)
    }

    /// Consumes a byte order mark at the beginning.
    fn take_mark(&mut self) -> Result<(), Misread> {
        while self.input.rest().len() < 4 && self.input.fill()? {}
        let wide: [&[u8]; 3] = [b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff"];
        if wide.iter().any(|mark| self.input.rest().starts_with(mark)) {
            return Err(FeedFault::Wide.into());
        }
        if self.input.rest().starts_with(b"\xef\xbb\xbf") {
            self.input.take(3);
        }
        Ok(())
    }

    /// Determines the columns of CSV: the given names, or the first row.
    fn name_columns(&mut self, named: Option<&[String]>) -> Result<(), Misread> {
        let Form::Csv(csv) = &mut self.form else { return Ok(()) };
        let mut start = None;
        self.columns = match named {
            Some(names) => names.iter().map(|name| name.trim().into()).collect(),
            None => {
                start = Some(csv.read(&mut self.input)?.ok_or(FeedFault::NoRows)?);
                csv.fields().map(|name| name.trim().into()).collect()
            }
        };
        self.has_columns = true;
        let mut sorted: Vec<&str> = self.columns.iter().map(|name| &**name).filter(|name| !name.is_empty()).collect();
        sorted.sort_unstable();
        let twice = sorted.windows(2).find(|pair| pair[0] == pair[1]);
        let fault = twice.map(|pair| FeedFault::ColumnTwice { name: pair[0].to_owned() });
        let fault = fault.or((self.columns.len() > COLUMNS_MAX).then_some(FeedFault::ColumnsTooMany));
        match fault {
            Some(fault) => Err(Misread { line: start.map(|start: Start| start.line), fault }),
            None => Ok(csv.name_columns(&self.columns)?),
        }
    }

    /// The names of the columns; of JSON they are known after the first row.
    pub(crate) fn columns(&self) -> &[Box<str>] {
        &self.columns
    }

    /// Reads the next row; `None` after the last.
    pub(crate) fn read(&mut self) -> Result<Option<Start>, Misread> {
        self.cells.clear();
        let row = match &mut self.form {
            Form::Csv(csv) => {
                let Some(start) = csv.read(&mut self.input)? else { return Ok(None) };
                let cells = csv.cells(self.columns.len(), &mut self.cells);
                return cells.map(|()| Some(start)).map_err(|fault| Misread::at(start, fault));
            }
            Form::Lines => json::line(&mut self.input)?,
            Form::Array(awaits) => json::element(&mut self.input, awaits)?,
        };
        let Some(row) = row else { return Ok(None) };
        json::cells(row, !self.has_columns, &mut self.columns, &mut self.found)?;
        self.has_columns = true;
        self.cells.extend(self.found.drain(..).flatten());
        Ok(Some(row.0))
    }

    /// Skips the next row without parsing its values; `false` when there is none.
    pub(crate) fn skip(&mut self) -> Result<bool, Misread> {
        self.cells.clear();
        Ok(match &mut self.form {
            Form::Csv(csv) => csv.read(&mut self.input)?.is_some(),
            Form::Lines => json::line(&mut self.input)?.is_some(),
            Form::Array(awaits) => json::element(&mut self.input, awaits)?.is_some(),
        })
    }

    /// The values of the row that was read last, to be moved out.
    pub(crate) fn cells(&mut self) -> &mut Vec<Value> {
        &mut self.cells
    }

    pub(crate) fn source(&mut self) -> &mut R {
        self.input.source()
    }
}

impl<R: Read + Seek> Rows<R> {
    /// Moves to the row at an offset.
    pub(crate) fn seek(&mut self, offset: u64) -> Result<(), Misread> {
        let sought = self.input.source().seek(SeekFrom::Start(offset));
        sought.map_err(|error| FeedFault::Read { reason: error.to_string() })?;
        self.input.restart(offset);
        match &mut self.form {
            Form::Csv(csv) => csv.restart(),
            Form::Lines => {}
            Form::Array(awaits) => *awaits = Awaits::Row,
        }
        Ok(())
    }
}

/// Column names and rows.
pub type Table = (Vec<String>, Vec<Vec<Value>>);

/// All rows of `source`, or the line and the fault. Files of the user are opened with
/// [`Feed::open`](crate::Feed::open); this is for bytes in memory.
pub fn read_all(source: impl Read, format: &Format) -> Result<Table, (Option<u64>, FeedFault)> {
    let read = || {
        let mut rows = Rows::new(source, format)?;
        let mut all = Vec::new();
        while rows.read()?.is_some() {
            all.push(std::mem::take(rows.cells()));
        }
        if all.is_empty() {
            return Err(FeedFault::NoRows.into());
        }
        Ok((rows.columns.iter().map(|name| name.to_string()).collect(), all))
    };
    read().map_err(|misread: Misread| (misread.line, misread.fault))
}
