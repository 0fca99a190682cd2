//! Rows of CSV. A line is decoded before it is split into fields: in a charset such as GBK the second byte of a
//! character may look like a separator, but none looks like a line end.

use std::io::Read;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use encoding_rs::{Encoding, UTF_8};
use plan::Value;

use crate::input::{LineEnd, Misread, RowInput, Start};
use crate::{COLUMNS_MAX, Csv, FeedFault, ROW_BYTES_MAX};

pub(crate) struct CsvRows {
    machine: Reader,
    charset: &'static Encoding,
    separator: u8,
    /// The fields of a row without their quotes, one after the other.
    text: Vec<u8>,
    text_length: usize,
    /// End of each field in `text`.
    ends: Vec<usize>,
    ends_length: usize,
    /// The names of columns of numbers, and of all columns whether they are one.
    numbers: Vec<String>,
    is_number: Vec<bool>,
}

impl CsvRows {
    pub(crate) fn new(csv: &Csv) -> Result<Self, FeedFault> {
        let (separator, charset) = (csv.separator()?, csv.charset()?);
        let mut rows = Self {
            machine: Reader::new(),
            charset,
            separator,
            text: vec![0; 1024],
            text_length: 0,
            ends: vec![0; 32],
            ends_length: 0,
            numbers: csv.numbers.clone(),
            is_number: Vec::new(),
        };
        rows.restart();
        Ok(rows)
    }

    /// Finds the columns of numbers among all columns.
    ///
    /// # Errors
    /// There is no such column.
    pub(crate) fn name_columns(&mut self, columns: &[Box<str>]) -> Result<(), FeedFault> {
        if let Some(name) = self.numbers.iter().find(|name| !columns.iter().any(|column| **column == ***name)) {
            let columns = columns.iter().map(ToString::to_string).collect();
            return Err(FeedFault::ColumnMissing { name: name.clone(), columns });
        }
        self.numbers.sort_by_key(|name| columns.iter().position(|column| **column == **name));
        self.is_number = columns.iter().map(|column| self.numbers.iter().any(|name| **name == **column)).collect();
        Ok(())
    }

    /// Prepares to read a row from its first byte.
    pub(crate) fn restart(&mut self) {
        self.machine = ReaderBuilder::new().delimiter(self.separator).build();
        // A parser that has read nothing strips a UTF-8 byte order mark from the first field. It may be part of any
        // field, and the one before the first row is gone.
        self.machine.read_record(b"\n", &mut self.text, &mut self.ends);
    }

    /// Reads the fields of the next row; `None` after the last.
    pub(crate) fn read(&mut self, input: &mut RowInput<impl Read>) -> Result<Option<Start>, Misread> {
        (self.text_length, self.ends_length) = (0, 0);
        let mut begun: Option<Start> = None;
        loop {
            let here = input.start();
            let start = begun.unwrap_or(here);
            let line = match input.line(LineEnd::Any) {
                Ok(line) => line,
                Err(fault) => return Err(Misread::at(start, fault)),
            };
            let Some(line) = line else {
                let Some(start) = begun else { return Ok(None) };
                // A row may end where the file ends. A quoted field may not.
                let is_whole = self.take(b"\n").map_err(|fault| Misread::at(start, fault))?;
                return if is_whole { Ok(Some(start)) } else { Err(Misread::at(start, FeedFault::OpenQuote)) };
            };
            if begun.is_none() && matches!(line, b"\n" | b"\r" | b"\r\n") {
                continue;
            }
            begun = Some(start);
            let is_whole = if self.charset == UTF_8 {
                str::from_utf8(line).map_err(|_| self.no_text(here))?;
                self.take(line)
            } else {
                let text = self.charset.decode_without_bom_handling_and_without_replacement(line);
                self.take(text.ok_or_else(|| self.no_text(here))?.as_bytes())
            };
            if is_whole.map_err(|fault| Misread::at(start, fault))? {
                return Ok(Some(start));
            }
        }
    }

    fn no_text(&self, start: Start) -> Misread {
        Misread::at(start, FeedFault::Text { charset: self.charset.name() })
    }

    /// Parses a line; `true` when the row ends with it.
    fn take(&mut self, mut line: &[u8]) -> Result<bool, FeedFault> {
        if self.text_length + line.len() > ROW_BYTES_MAX {
            return Err(FeedFault::RowTooLong);
        }
        while !line.is_empty() {
            let text = &mut self.text[self.text_length..];
            let (result, read, written, ended) =
                self.machine.read_record(line, text, &mut self.ends[self.ends_length..]);
            line = &line[read..];
            self.text_length += written;
            self.ends_length += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.text.resize(2 * self.text.len(), 0),
                ReadRecordResult::OutputEndsFull if self.ends.len() > COLUMNS_MAX => {
                    return Err(FeedFault::ColumnsTooMany);
                }
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                // The LF of a CR LF may be left: the parser would skip it before the next row.
                ReadRecordResult::Record | ReadRecordResult::End => return Ok(true),
            }
        }
        Ok(false)
    }

    /// The fields of the row that was read last.
    pub(crate) fn fields(&self) -> impl ExactSizeIterator<Item = &str> {
        let text = str::from_utf8(&self.text[..self.text_length]).expect("lines are decoded, and cut at ASCII");
        let ends = &self.ends[..self.ends_length];
        (0..ends.len()).map(move |at| &text[if at == 0 { 0 } else { ends[at - 1] }..ends[at]])
    }

    /// The same fields as values.
    pub(crate) fn cells(&self, wanted: usize, cells: &mut Vec<Value>) -> Result<(), FeedFault> {
        let fields = self.fields();
        if fields.len() != wanted {
            return Err(FeedFault::Fields { found: fields.len(), wanted });
        }
        if self.numbers.is_empty() {
            cells.extend(fields.map(Value::text));
            return Ok(());
        }
        for (place, field) in fields.enumerate() {
            let is_number = self.is_number.get(place).copied().unwrap_or(false);
            cells.push(if is_number { self.number(place, field)? } else { Value::text(field) });
        }
        Ok(())
    }

    /// The number in a field.
    fn number(&self, place: usize, field: &str) -> Result<Value, FeedFault> {
        let text = field.trim();
        let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
        let whole = text.parse().ok().map(Value::Int);
        let number = whole.or_else(|| text.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Float));
        number.filter(|_| is_plain).ok_or_else(|| {
            let names = self.is_number.iter().enumerate().filter(|(_, is_number)| **is_number);
            let order = names.take_while(|(other, _)| *other < place).count();
            FeedFault::NoNumber { name: self.numbers.get(order).cloned().unwrap_or_default(), value: field.to_owned() }
        })
    }
}
