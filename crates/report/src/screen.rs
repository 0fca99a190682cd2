//! The output device of a page: its language, its size, and the wanted level of detail.

use crate::Language;

/// The output device of pages and tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// The language of all output.
    pub language: Language,
    /// The size of the terminal; `None` where lines may have any length, as in a file or a pipe.
    pub room: Option<Room>,
    /// Whether colors may be used. They only repeat what words say.
    pub is_colorful: bool,
    /// Whether lines of low interest are shown too.
    pub is_full: bool,
}

/// The size of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Characters in a line.
    pub columns: usize,
    /// Lines.
    pub rows: usize,
}

impl Screen {
    /// A file or a pipe: lines of any length, no colors.
    pub fn plain(language: Language) -> Self {
        Self { language, room: None, is_colorful: false, is_full: false }
    }

    /// Characters in a line, where they are bounded.
    pub(crate) fn columns(&self) -> Option<usize> {
        self.room.map(|room| room.columns)
    }

    /// A text, painted where colors may be used.
    pub(crate) fn paint(&self, text: &str, paint: Paint) -> String {
        if self.is_colorful { paint.on(text) } else { text.to_owned() }
    }
}

/// The emphasis of a text on a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    Plain,
    /// Key figures.
    Strong,
    Good,
    Bad,
}

impl Paint {
    fn on(self, text: &str) -> String {
        let code = match self {
            Self::Plain => return text.to_owned(),
            Self::Strong => "1",
            Self::Good => "32",
            Self::Bad => "31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
