//! Random rows, written and read again, compared with a reader that is simple and slow.

use plan::Value;
use proptest::prelude::*;

use super::{Folder, Shard, csv, texts};
use crate::{Feed, Format, Pick, Spec, read_all};

/// Reads CSV character by character.
fn naive(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut is_quoted, mut has_quote) = (false, false);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' if is_quoted => is_quoted = false,
            '"' if field.is_empty() => (is_quoted, has_quote) = (true, true),
            _ if is_quoted => field.push(character),
            ',' => row.push(std::mem::take(&mut field)),
            '\n' | '\r' => {
                if !row.is_empty() || !field.is_empty() || has_quote {
                    row.push(std::mem::take(&mut field));
                    rows.push(std::mem::take(&mut row));
                }
                has_quote = false;
            }
            _ => field.push(character),
        }
    }
    if !row.is_empty() || !field.is_empty() || has_quote {
        row.push(field);
        rows.push(row);
    }
    rows
}

fn written(rows: &[Vec<String>], end: &str, quotes: &[bool]) -> String {
    let mut quotes = quotes.iter().cycle();
    let mut field = |text: &String| {
        let must = text.is_empty() || text.contains(['"', ',', '\n', '\r']);
        let is_quoted = must || *quotes.next().expect("a cycle");
        if is_quoted { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.clone() }
    };
    rows.iter().map(|row| row.iter().map(&mut field).collect::<Vec<_>>().join(",") + end).collect()
}

fn table() -> impl Strategy<Value = Vec<Vec<String>>> {
    (1..5_usize).prop_flat_map(|columns| {
        proptest::collection::vec(proptest::collection::vec("[ab,\"\r\n 中é|]{0,6}", columns), 1..40)
    })
}

fn named(columns: usize) -> Format {
    let columns = (0..columns).map(|number| format!("c{number}")).collect();
    Format::Csv(crate::Csv { columns: Some(columns), ..crate::Csv::default() })
}

proptest! {
    #[test]
    fn csv_is_what_was_written(
        rows in table(),
        end in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
        quotes in proptest::collection::vec(any::<bool>(), 1..7),
    ) {
        let text = written(&rows, end, &quotes);
        prop_assert_eq!(&naive(&text), &rows);
        let values: Vec<Vec<Value>> =
            rows.iter().map(|row| row.iter().map(|text| Value::text(text)).collect()).collect();
        prop_assert_eq!(read_all(text.as_bytes(), &named(rows[0].len())).expect("good").1, values);
    }

    /// A row by its number is the same as in a complete reading, however the file is cut into chunks.
    #[test]
    fn rows_by_number_are_the_same(
        rows in table(),
        requested in proptest::collection::vec(any::<prop::sample::Index>(), 1..60),
        form in 0..3_usize,
        offsets_max in 1..30_usize,
        pick in prop_oneof![Just(Pick::Next), Just(Pick::Random)],
        quotes in proptest::collection::vec(any::<bool>(), 1..7),
    ) {
        let folder = Folder::new();
        let objects: Vec<String> = rows.iter().map(|row| {
            let keys = row.iter().enumerate();
            let object = keys.map(|(number, text)| (format!("c{number}"), text.clone().into()));
            serde_json::Value::Object(object.collect()).to_string()
        }).collect();
        let (text, format) = match form {
            0 => (written(&rows, "\r\n", &quotes), named(rows[0].len())),
            1 => (objects.join("\n"), Format::JsonLines),
            _ => (format!("[{}]", objects.join(" ,\n")), Format::Json),
        };
        let spec = Spec { pick, ..Spec::new(folder.file("rows", text), format) };
        let feed = Feed::open_within(spec, 0, offsets_max).expect("good");
        prop_assert_eq!(feed.rows(), rows.len() as u64);
        prop_assert!(!feed.is_held());
        let mut shard = Shard::new(&feed);
        for index in requested {
            let number = index.index(rows.len());
            prop_assert_eq!(&texts(&shard.row(number as u64).expect("no error")), &rows[number]);
        }
    }

    /// Any bytes give rows or an error, and rows have as many values as there are columns.
    #[test]
    fn any_bytes_are_read_or_refused(text in "[\\[\\]{}:,\"a1\\\\ \n\r中]{0,40}", bytes in any::<Vec<u8>>()) {
        for format in [csv(), Format::Json, Format::JsonLines] {
            for bytes in [text.as_bytes(), &bytes] {
                if let Ok((columns, rows)) = read_all(bytes, &format) {
                    prop_assert!(!rows.is_empty() && rows.iter().all(|row| row.len() == columns.len()));
                }
            }
        }
    }
}
