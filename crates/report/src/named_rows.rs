//! Tables of the summary with a line for each name.

use crate::format::{Align, pad};
use crate::screen::Screen;
use crate::wrap::cut;

/// The width of a table where the screen has room for it.
const WIDTH: usize = 99;
const NAME_WIDTH_MIN: usize = 12;
const CELL_WIDTH: usize = 11;

/// A table of figures below a blank line: a line for each name, cut where the screen is narrow.
pub(crate) fn named_rows<const N: usize>(
    title: &str,
    heads: &[&str; N],
    rows: impl Iterator<Item = (String, [String; N])>,
    screen: &Screen,
) -> String {
    let rest = CELL_WIDTH * N;
    let most = WIDTH - rest;
    let name_width = screen.columns().map_or(most, |columns| columns.saturating_sub(rest).clamp(NAME_WIDTH_MIN, most));
    let line =
        |name: &str, cells: String| format!("{}{cells}\n", pad(&cut(name, name_width - 1), name_width, Align::Left));
    let head = line(title, heads.map(|name| pad(name, CELL_WIDTH, Align::Right)).concat());
    let rows = rows.map(|(name, cells)| line(&name, cells.map(|cell| pad(&cell, CELL_WIDTH, Align::Right)).concat()));
    format!("\n{head}{}", rows.collect::<String>())
}
