use std::io::Read;

use feed::{Csv, Format, read_all};

/// Any bytes as a data file: rows with as many values as there are columns, the same however the bytes arrive, or an
/// error. The first byte selects the format.
pub fn rows(input: &[u8]) {
    let Some((format, input)) = input.split_first() else { return };
    let gbk = Csv { separator: '|', charset: Some("gbk".to_owned()), columns: None, numbers: Vec::new() };
    let named = Csv { columns: Some(vec!["a".to_owned(), "b".to_owned()]), ..Csv::default() };
    let formats = [Format::Csv(Csv::default()), Format::Csv(gbk), Format::Csv(named), Format::Json, Format::JsonLines];
    let format = &formats[usize::from(format % 5)];
    let whole = read_all(input, format);
    if let Ok((columns, rows)) = &whole {
        assert!(!rows.is_empty() && rows.iter().all(|row| row.len() == columns.len()));
    }
    // Compared as text: a value may contain a number that equals itself only as a text.
    assert_eq!(format!("{whole:?}"), format!("{:?}", read_all(Bytes(input), format)));
}

/// A reader that returns one byte at a time.
struct Bytes<'a>(&'a [u8]);

impl Read for Bytes<'_> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let length = room.len().min(1);
        self.0.read(&mut room[..length])
    }
}
