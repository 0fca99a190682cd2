//! Cells as an SVG that any page may show: text and rectangles, no scripts, no external resources.
//!
//! The picture has its own dark background, so it is readable on a light page and on a dark one. Fonts differ in the
//! width of their letters, so each piece of text states its width, and columns stay columns.

use std::fmt::Write as _;

use super::terminal::{Cell, Style};

/// Pixels of a column, of a line, and around everything.
const COLUMN: f64 = 8.4;
const LINE: usize = 18;
const MARGIN: usize = 16;
/// Distance from the top of a line to its baseline.
const FOOT: usize = 13;

pub(super) const GROUND: &str = "#0d1117";
pub(super) const TEXT: &str = "#e6edf3";
/// The eight colours of a terminal, each at least 4.5 to 1 against the background (WCAG 2, 1.4.3).
pub(super) const COLOURS: [&str; 8] =
    ["#8b949e", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#e6edf3"];

/// Fonts of common systems; the last ones have Chinese characters.
const FONTS: &str = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',\
'Noto Sans Mono CJK SC','PingFang SC','Microsoft YaHei','WenQuanYi Micro Hei',monospace";

/// A piece of a line that is drawn at once.
#[derive(Debug, PartialEq)]
pub(super) struct Piece {
    column: usize,
    columns: usize,
    style: Style,
    is_wide: bool,
    text: String,
}

/// Groups adjacent cells of the same style.
fn pieces(line: &[Cell]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for cell in line {
        let is_wide = cell.width > 1;
        match pieces.last_mut() {
            Some(last)
                if last.column + last.columns == cell.column && last.style == cell.style && last.is_wide == is_wide =>
            {
                last.columns += cell.width;
                last.text.push(cell.text);
            }
            _ => {
                let text = cell.text.to_string();
                pieces.push(Piece { column: cell.column, columns: cell.width, style: cell.style, is_wide, text });
            }
        }
    }
    pieces.iter_mut().for_each(Piece::trim);
    pieces.retain(|piece| !piece.text.is_empty());
    pieces
}

impl Piece {
    /// Removes blanks at either end, which only affect the position.
    fn trim(&mut self) {
        let leading = self.text.len() - self.text.trim_start_matches(' ').len();
        let trailing = self.text.len() - self.text.trim_end_matches(' ').len();
        self.column += leading.min(self.columns);
        self.columns = self.columns.saturating_sub(leading + trailing);
        self.text = self.text.trim_matches(' ').to_owned();
    }
}

/// The picture; `title` is its text alternative.
pub(super) fn drawn(lines: &[Vec<Cell>], columns: usize, title: &str) -> String {
    let width = (columns as f64 * COLUMN).ceil() as usize + 2 * MARGIN;
    let height = lines.len() * LINE + 2 * MARGIN;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>{}</title>\n<style>text{{font:14px {FONTS};white-space:pre;fill:{TEXT}}}.b{{font-weight:bold}}",
        escaped(title)
    );
    let used = |number: usize| {
        lines.iter().flatten().any(|cell| cell.style.colour.is_some_and(|colour| usize::from(colour) == number))
    };
    for (number, colour) in COLOURS.iter().enumerate().filter(|(number, _)| used(*number)) {
        write!(text, ".c{number}{{fill:{colour}}}").expect("text grows");
    }
    writeln!(text, "</style>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{GROUND}\"/>").expect("text grows");
    for (number, line) in lines.iter().enumerate() {
        let y = MARGIN + number * LINE + FOOT;
        pieces(line).iter().for_each(|piece| text.push_str(&piece.drawn(y)));
    }
    text.push_str("</svg>\n");
    text
}

impl Piece {
    fn drawn(&self, y: usize) -> String {
        let x = MARGIN as f64 + self.column as f64 * COLUMN;
        let width = self.columns as f64 * COLUMN;
        let bold = self.style.is_bold.then(|| "b".to_owned());
        let colour = self.style.colour.map(|colour| format!("c{colour}"));
        let classes: Vec<String> = bold.into_iter().chain(colour).collect();
        let class = if classes.is_empty() { String::new() } else { format!(" class=\"{}\"", classes.join(" ")) };
        let text = escaped(&self.text);
        format!(
            "<text x=\"{x:.1}\" y=\"{y}\" textLength=\"{width:.1}\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\"{class}>{text}</text>\n"
        )
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
