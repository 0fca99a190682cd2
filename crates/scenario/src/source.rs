//! The text of a file, and positions in it.

/// A piece of the file, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

/// A position in a file, as line and column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    /// The first is 1.
    pub line: usize,
    /// The first is 1; in characters.
    pub column: usize,
}

/// The text of a file.
#[derive(Clone, Debug)]
pub struct Source {
    /// The name of the file in messages.
    pub name: String,
    /// The content, without a byte order mark.
    pub text: String,
    /// The start of each line.
    lines: Vec<usize>,
    /// The files that it brings in, with the positions of their first bytes, which are behind its own.
    included: Vec<(usize, Source)>,
}

impl Span {
    /// A piece between two byte positions.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// The same piece of a file whose first byte is at `by`.
    pub(crate) fn shifted(self, by: usize) -> Self {
        Self { start: self.start + by, end: self.end + by }
    }
}

impl Source {
    /// A file with this name and content.
    pub fn new(name: &str, text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { name: name.to_owned(), text, lines, included: Vec::new() }
    }

    /// Adds a file that it brings in, and returns the position of its first byte.
    pub(crate) fn add(&mut self, other: Self) -> usize {
        let end = self.included.last().map_or(self.text.len(), |(begin, last)| begin + last.text.len());
        // The end of a file is a position too.
        self.included.push((end + 1, other));
        end + 1
    }

    /// The file of a position, and the position in it.
    fn part(&self, at: usize) -> (&Self, usize) {
        let after = self.included.partition_point(|(begin, _)| *begin <= at);
        match after.checked_sub(1).and_then(|place| self.included.get(place)) {
            Some((begin, part)) => (part, at - begin),
            None => (self, at),
        }
    }

    /// The name of the file of a position.
    pub fn name_at(&self, at: usize) -> &str {
        &self.part(at).0.name
    }

    /// The line of a position, without its end.
    pub fn line_at(&self, at: usize) -> &str {
        self.part(at).0.line(self.place(at).line)
    }

    /// Whether a text is in the file, or in one that it brings in.
    pub(crate) fn contains(&self, text: &str) -> bool {
        self.text.contains(text) || self.included.iter().any(|(_, part)| part.text.contains(text))
    }

    /// The location of a byte, in its file.
    pub fn place(&self, at: usize) -> Location {
        let (part, at) = self.part(at);
        part.own_place(at)
    }

    fn own_place(&self, at: usize) -> Location {
        let at = self.floor(at);
        let line = self.lines.partition_point(|start| *start <= at);
        let start = self.lines[line - 1];
        Location { line, column: self.text[start..at].chars().count() + 1 }
    }

    /// A line without its end. The first is 1.
    pub fn line(&self, number: usize) -> &str {
        let start = self.lines.get(number.saturating_sub(1)).copied().unwrap_or(self.text.len());
        let end = self.lines.get(number).copied().unwrap_or(self.text.len());
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }

    /// The text of a piece.
    pub fn slice(&self, at: Span) -> &str {
        let (part, start) = self.part(at.start);
        part.own_slice(Span::new(start, start + (at.end - at.start)))
    }

    fn own_slice(&self, at: Span) -> &str {
        &self.text[self.floor(at.start)..self.floor(at.end).max(self.floor(at.start))]
    }

    /// The nearest position at or before this one that is a character boundary within the text.
    fn floor(&self, at: usize) -> usize {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_as_people_do() {
        let source = Source::new("a.yaml", "\u{feff}one\r\n价格: x\n\nend");
        for (at, line, column) in
            [(0, 1, 1), (2, 1, 3), (5, 2, 1), (8, 2, 2), (9, 2, 2), (13, 2, 5), (15, 3, 1), (99, 4, 4)]
        {
            assert_eq!(source.place(at), Location { line, column }, "{at}");
        }
        let lines: Vec<&str> = (1..=5).map(|number| source.line(number)).collect();
        assert_eq!(lines, ["one", "价格: x", "", "end", ""]);
        assert_eq!(source.slice(Span::new(5, 11)), "价格");
        assert_eq!(source.slice(Span::new(6, 11)), "价格");
        assert_eq!(Source::new("a", "").place(0), Location { line: 1, column: 1 });
    }
}
