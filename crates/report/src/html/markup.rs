//! Pieces of HTML. All data of a run is escaped here.

use serde_json::Value;

use crate::Language;
use crate::messages::reason_called;

/// A list of a report; an empty one where it has none.
pub(super) fn list<'a>(report: &'a Value, path: &str) -> &'a [Value] {
    report.pointer(path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A cell with a number.
pub(super) fn figure(text: String) -> Cell {
    Cell::Figure(text)
}

/// A cell with a text.
pub(super) fn words(text: impl Into<String>) -> Cell {
    Cell::Words(text.into())
}

/// A text escaped for HTML, attributes included.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // Control characters have no meaning here.
            sign if sign.is_control() && sign != '\n' => safe.push('\u{fffd}'),
            sign => safe.push(sign),
        }
    }
    safe
}

/// The length of an instant down to seconds.
pub(crate) const TO_SECONDS: usize = 19;
/// The same down to milliseconds.
pub(crate) const TO_MILLIS: usize = 23;

/// An instant of a report, like `2026-01-31T00:00:00.123456Z`, as an element. It stands in UTC; the script shows it in
/// the zone of the reader. Anything else stays as it is.
fn instant(utc: &str, length: usize) -> String {
    let Some((day, clock)) = utc.get(..length).and_then(|text| text.split_once('T')) else { return escaped(utc) };
    let (day, clock) = (escaped(day), escaped(clock));
    format!("<time datetime=\"{day}T{clock}Z\">{day} {clock} UTC</time>")
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub(crate) enum Cell {
    /// A figure, aligned to the right.
    Figure(String),
    /// Words.
    Words(String),
    /// An instant as in a report, and the length to which it is shown.
    Instant(String, usize),
}

impl Cell {
    pub(crate) fn markup(&self) -> String {
        match self {
            Self::Figure(text) | Self::Words(text) => escaped(text),
            Self::Instant(utc, length) => instant(utc, *length),
        }
    }
}

/// A page under construction.
pub(crate) struct Markup {
    language: Language,
    text: String,
}

impl Markup {
    pub(crate) fn new(language: Language) -> Self {
        Self { language, text: String::new() }
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// The text in the language of the page.
    pub(crate) fn pick(&self, en: &'static str, zh: &'static str) -> &'static str {
        self.language.pick(en, zh)
    }

    /// What a failure is called in the language of the page.
    pub(crate) fn reason(&self, name: &str) -> String {
        reason_called(name, self.language)
    }

    /// Adds markup unchanged.
    pub(crate) fn raw(&mut self, markup: &str) {
        self.text.push_str(markup);
    }

    /// Adds an element with a text in it.
    pub(crate) fn element(&mut self, name: &str, text: &str) {
        self.text.push_str(&format!("<{name}>{}</{name}>\n", escaped(text)));
    }

    /// Adds the heading of a section.
    pub(crate) fn heading(&mut self, en: &'static str, zh: &'static str) {
        self.element("h2", self.pick(en, zh));
    }

    /// Adds a table, wide ones in a scrollable region; nothing without rows.
    pub(crate) fn table(&mut self, caption: &str, heads: &[&str], rows: &[Vec<Cell>]) {
        if rows.is_empty() {
            return;
        }
        let caption = escaped(caption);
        let is_words =
            |column: usize| rows.iter().all(|row| matches!(row.get(column), Some(Cell::Words(_) | Cell::Instant(..))));
        self.raw(&format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table><caption>{caption}</caption>\n<thead><tr>"
        ));
        for (column, head) in heads.iter().enumerate() {
            let class = if is_words(column) { " class=\"text\"" } else { "" };
            self.raw(&format!("<th scope=\"col\"{class}>{}</th>", escaped(head)));
        }
        self.raw("</tr></thead>\n<tbody>\n");
        for row in rows {
            self.raw("<tr>");
            for (column, cell) in row.iter().enumerate() {
                self.cell(cell, column == 0);
            }
            self.raw("</tr>\n");
        }
        self.raw("</tbody></table></div>\n");
    }

    fn cell(&mut self, cell: &Cell, is_head: bool) {
        let inner = cell.markup();
        let markup = match (cell, is_head) {
            (Cell::Figure(_), _) => format!("<td>{inner}</td>"),
            (_, true) => format!("<th scope=\"row\" class=\"text\">{inner}</th>"),
            (_, false) => format!("<td class=\"text\">{inner}</td>"),
        };
        self.raw(&markup);
    }

    /// Adds the key figures: a name, a value and a few words each.
    pub(crate) fn tiles(&mut self, tiles: &[(&str, String, String)]) {
        self.raw("<dl class=\"tiles\">\n");
        for (name, value, more) in tiles {
            let (name, value, more) = (escaped(name), escaped(value), escaped(more));
            self.raw(&format!("<div><dt>{name}</dt><dd>{value}<small>{more}</small></dd></div>\n"));
        }
        self.raw("</dl>\n");
    }

    /// Adds a list of names and values.
    pub(crate) fn facts(&mut self, facts: &[(&str, Cell)]) {
        self.raw("<dl>\n");
        for (name, value) in facts {
            self.raw(&format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), value.markup()));
        }
        self.raw("</dl>\n");
    }
}
