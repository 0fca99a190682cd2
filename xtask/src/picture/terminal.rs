//! An emulator of the terminal features that onrush uses: lines, carriage returns, cleared lines, colours.

use unicode_width::UnicodeWidthChar as _;

use crate::Failure;

/// The style of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Style {
    pub(super) is_bold: bool,
    /// 0 to 7, the terminal's colour numbers.
    pub(super) colour: Option<u8>,
}

/// A character of one or two columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) column: usize,
    pub(super) width: usize,
    pub(super) text: char,
    pub(super) style: Style,
}

#[derive(Debug)]
pub(super) struct Terminal {
    columns: usize,
    lines: Vec<Vec<Cell>>,
    column: usize,
    style: Style,
}

impl Terminal {
    pub(super) fn new(columns: usize) -> Self {
        Self { columns, lines: vec![Vec::new()], column: 0, style: Style::default() }
    }

    /// Handles output. An unknown sequence is an error: it would appear in the picture.
    pub(super) fn write(&mut self, text: &str) -> Result<(), Failure> {
        let mut rest = text.chars();
        while let Some(each) = rest.next() {
            match each {
                '\r' => self.column = 0,
                '\n' => self.lines.push(Vec::new()),
                '\x1b' => {
                    let sequence = sequence(&mut rest);
                    self.obey(&sequence)?;
                }
                each => self.put(each)?,
            }
        }
        Ok(())
    }

    fn obey(&mut self, sequence: &str) -> Result<(), Failure> {
        let unknown = || format!("the terminal of the picture does not know ESC {sequence}");
        let words = sequence.strip_prefix('[').ok_or_else(unknown)?;
        let (line, column) = (self.lines.last_mut().expect("there is always a line"), self.column);
        if words == "K" {
            line.retain(|cell| cell.column < column);
            return Ok(());
        }
        for word in words.strip_suffix('m').ok_or_else(unknown)?.split(';') {
            match word.parse::<u8>().unwrap_or_default() {
                0 => self.style = Style::default(),
                1 => self.style.is_bold = true,
                colour @ 30..=37 => self.style.colour = Some(colour - 30),
                _ => return Err(unknown()),
            }
        }
        Ok(())
    }

    /// A character replaces those that it covers; at the edge the next line begins.
    fn put(&mut self, text: char) -> Result<(), Failure> {
        let width = text.width().ok_or_else(|| format!("the terminal of the picture does not know {text:?}"))?;
        if self.column + width > self.columns {
            self.lines.push(Vec::new());
            self.column = 0;
        }
        let (begin, end, style) = (self.column, self.column + width, self.style);
        let line = self.lines.last_mut().expect("there is always a line");
        line.retain(|cell| cell.column + cell.width <= begin || cell.column >= end);
        let place = line.partition_point(|cell| cell.column < begin);
        line.insert(place, Cell { column: begin, width, text, style });
        self.column = end;
        Ok(())
    }

    /// The current lines, without blanks at their ends.
    pub(super) fn lines(&self) -> Vec<Vec<Cell>> {
        let trimmed = |line: &Vec<Cell>| {
            let end = line.iter().rposition(|cell| cell.text != ' ').map_or(0, |last| last + 1);
            line[..end].to_vec()
        };
        self.lines.iter().map(trimmed).collect()
    }
}

/// Consumes the characters of a sequence, including the letter that ends it.
fn sequence(rest: &mut std::str::Chars) -> String {
    let mut taken = String::new();
    for each in rest {
        taken.push(each);
        if each.is_ascii_alphabetic() {
            break;
        }
    }
    taken
}
