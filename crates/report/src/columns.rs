//! The columns of a table that grows while a load runs: as many as fit on the terminal.

use crate::Language;
use crate::format::{Align, pad};
use crate::screen::Screen;

/// What a column covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    /// Only the position of the row.
    Row,
    /// The state at the end of the interval.
    Now,
    /// The interval.
    Interval,
    /// The time since the start.
    Total,
}

impl Of {
    fn word(self, language: Language) -> &'static str {
        match self {
            Self::Row => "",
            Self::Now => language.pick("now", "当前"),
            Self::Interval => language.pick("interval", "本周期"),
            Self::Total => language.pick("total", "累计"),
        }
    }
}

/// A column: its width, and what it covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    pub(crate) width: usize,
    pub(crate) of: Of,
}

/// A column of this width.
pub(crate) const fn column(width: usize, of: Of) -> Column {
    Column { width, of }
}

/// The text after the last column, in lines of any length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    /// The minimum width on a terminal.
    pub(crate) width_min: usize,
    pub(crate) of: Of,
}

/// The columns that are shown.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    all: &'static [Column],
    kept: Vec<usize>,
    tail: Option<Tail>,
}

/// Characters of a rule after the last column, where a line may have any length.
const TAIL_RULE_WIDTH: usize = 18;

impl Columns {
    /// The columns of `all` that fit on a screen. The `dispensable` ones are dropped, in their order, as far as
    /// necessary.
    pub(crate) fn fitting(all: &'static [Column], dispensable: &[usize], tail: Option<Tail>, screen: &Screen) -> Self {
        let mut columns = Self { all, kept: (0..all.len()).collect(), tail };
        let Some(room) = screen.columns() else { return columns };
        let least = tail.map_or(0, |tail| tail.width_min + 1);
        for &index in dispensable {
            if columns.width() + least <= room {
                break;
            }
            columns.kept.retain(|kept| *kept != index);
        }
        columns
    }

    /// The width of all columns, with the lines between them.
    fn width(&self) -> usize {
        self.kept.iter().map(|&index| self.all[index].width + 1).sum::<usize>().saturating_sub(1)
    }

    /// Characters after the last column.
    pub(crate) fn tail_columns(&self, screen: &Screen) -> Option<usize> {
        screen.columns().map(|columns| columns.saturating_sub(self.width() + 1))
    }

    /// The lines above the first row. `names` are those of all columns, that of the tail is the last.
    pub(crate) fn head(&self, names: &[&str], screen: &Screen) -> String {
        let words: Vec<String> = self.all.iter().map(|column| column.of.word(screen.language).to_owned()).collect();
        let names_owned: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let (tail_name, tail_word) = match self.tail {
            Some(tail) => (names.last().copied().unwrap_or_default(), tail.of.word(screen.language)),
            None => ("", ""),
        };
        let (above, below) = (self.rule('┬', screen), self.rule('┼', screen));
        let (names, words) = (self.row(&names_owned, tail_name), self.row(&words, tail_word));
        format!("{above}\n{names}\n{words}\n{below}\n")
    }

    /// A row, without its line end. `cells` are those of all columns.
    pub(crate) fn row(&self, cells: &[String], tail: &str) -> String {
        self.painted_row(cells, tail, |_, cell| cell)
    }

    /// The same, with cells that may be painted.
    pub(crate) fn painted_row(&self, cells: &[String], tail: &str, paint: impl Fn(usize, String) -> String) -> String {
        let mut shown: Vec<String> = Vec::with_capacity(self.kept.len() + 1);
        for &index in &self.kept {
            shown.push(paint(index, pad(&cells[index], self.all[index].width, Align::Right)));
        }
        if self.tail.is_some() {
            shown.push(tail.to_owned());
        }
        shown.join("│").trim_end().to_owned()
    }

    fn rule(&self, cross: char, screen: &Screen) -> String {
        let mut parts: Vec<String> = self.kept.iter().map(|&index| "─".repeat(self.all[index].width)).collect();
        if self.tail.is_some() {
            let width = self.tail_columns(screen).map_or(TAIL_RULE_WIDTH, |room| room.min(TAIL_RULE_WIDTH));
            parts.push("─".repeat(width));
        }
        parts.join(&cross.to_string())
    }
}
