//! The content of files in every format.

use plan::Value;

use super::{Folder, csv, format_of};
use crate::{Csv, Feed, FeedError, Format, Spec, read_all};

/// A source that returns one piece up to `cut`, then the rest byte by byte, or in pieces.
struct Pieces<'a> {
    bytes: &'a [u8],
    at: usize,
    cut: usize,
    piece: usize,
}

impl std::io::Read for Pieces<'_> {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        let end = if self.at < self.cut { self.cut } else { (self.at + self.piece).min(self.bytes.len()) };
        let length = (end - self.at).min(room.len());
        room[..length].copy_from_slice(&self.bytes[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

type Reported = Result<crate::Table, (Option<u64>, crate::FeedFault)>;

/// Reads bytes at every split and byte by byte: the result is the same.
pub(super) fn read(bytes: &[u8], format: &Format) -> Reported {
    let whole = read_all(bytes, format);
    for cut in 0..bytes.len() {
        let pieces = Pieces { bytes, at: 0, cut, piece: bytes.len() };
        assert_eq!(read_all(pieces, format), whole, "cut at {cut}: {:?}", String::from_utf8_lossy(bytes));
    }
    assert_eq!(read_all(Pieces { bytes, at: 0, cut: 0, piece: 1 }, format), whole);
    whole
}

fn check_csv(format: &Csv, bytes: &[u8], columns: &[&str], rows: &[&[&str]]) {
    let (found, values) = read(bytes, &Format::Csv(format.clone())).expect("a good file");
    assert_eq!(found, columns);
    let expected: Vec<Vec<Value>> = rows.iter().map(|row| row.iter().map(|text| Value::text(text)).collect()).collect();
    assert_eq!(values, expected, "{:?}", String::from_utf8_lossy(bytes));
}

#[test]
fn csv_is_read_as_people_and_spreadsheets_write_it() {
    let plain = Csv::default();
    let rows: &[&[&str]] = &[&["1", "2"], &["3", "4"]];
    for bytes in [
        &b"a,b\n1,2\n3,4\n"[..],
        b"a,b\n1,2\n3,4",
        b"a,b\r\n1,2\r\n3,4\r\n",
        b"a,b\r1,2\r3,4\r",
        b"\xef\xbb\xbfa,b\n1,2\n3,4\n",
        b"\xef\xbb\xbf\"a\",b\r\n\"1\",2\r\n3,\"4\"\r\n",
        b"\na,b\n\n1,2\n\r\n\r\n3,4\n\n\n",
        b" a , b \n1,2\n3,4\n",
    ] {
        check_csv(&plain, bytes, &["a", "b"], rows);
    }
    check_csv(&plain, b"a,b\n\"x,y\",\"p\"\"q\"\n", &["a", "b"], &[&["x,y", "p\"q"]]);
    check_csv(&plain, b"a,b\n\"x\r\ny\n\",\"\"\n,\n", &["a", "b"], &[&["x\r\ny\n", ""], &["", ""]]);
    check_csv(&plain, b"a\n\"\n\n\"\n \n", &["a"], &[&["\n\n"], &[" "]]);
    // A UTF-8 byte order mark is one only at the very beginning.
    check_csv(&plain, b"a,b\n\xef\xbb\xbfx,y\n", &["a", "b"], &[&["\u{feff}x", "y"]]);
    check_csv(&plain, "名,b\n中文,é\n".as_bytes(), &["名", "b"], &[&["中文", "é"]]);
}

#[test]
fn csv_has_separators_and_names_of_its_own() {
    for separator in [';', '\t', '|', ' ', ':', '^', '~', 'x', '\u{1}'] {
        let text = format!("a{separator}b\n1,5{separator}\"2{separator}3\"\n");
        let format = Csv { separator, ..Csv::default() };
        check_csv(&format, text.as_bytes(), &["a", "b"], &[&["1,5", &format!("2{separator}3")]]);
    }
    let named = Csv { columns: Some(vec!["x".into(), "y".into()]), ..Csv::default() };
    check_csv(&named, b"a,b\n1,2\n", &["x", "y"], &[&["a", "b"], &["1", "2"]]);
}

/// 丂 is 81 40 and 亅 is 81 7C in GBK: the second byte looks like `@` or `|`. 0x22 and 0x2C are never second bytes, and
/// the four-byte sequences (四字节) of GB 18030 have digits in the second.
#[test]
fn charsets_are_read_whose_characters_look_like_separators() {
    let with =
        |separator, charset: &str| Csv { separator, charset: Some(charset.into()), columns: None, numbers: Vec::new() };
    let gbk = b"\xc3\xfb|b\n\x81\x7c\x81\x40|\"\xd6\xd0|\xce\xc4\"\r\n\x81\x7c|\n";
    check_csv(&with('|', "gbk"), gbk, &["名", "b"], &[&["亅丂", "中|文"], &["亅", ""]]);
    check_csv(&with('@', "GB18030"), b"a@b\n\x81\x40@\x81\x30\x81\x30\n", &["a", "b"], &[&["丂", "\u{80}"]]);
    check_csv(&with('0', "gb18030"), b"a0b\n\x81\x30\x81\x3001\n", &["a", "b"], &[&["\u{80}", "1"]]);
    check_csv(&with('\\', "shift_jis"), b"a\\b\n\x95\x5c\\\x83\x5c\n", &["a", "b"], &[&["表", "ソ"]]);
    check_csv(&with('|', "big5"), b"a|b\n\xae\x7c|1\n", &["a", "b"], &[&["徑", "1"]]);
    check_csv(&with(',', "latin1"), b"a,b\n\xe9,\xdf\n", &["a", "b"], &[&["é", "ß"]]);
    check_csv(&with(',', "UTF-8"), "a\n中\n".as_bytes(), &["a"], &[&["中"]]);
}

#[test]
fn json_keeps_types_and_takes_keys_in_any_order() {
    let text = r#"{"n": 1, "s": "a\"}{\\", "b": true, "f": 1.5, "z": null, "o": {"k": [1, "]"]}, "a": []}"#;
    let other = r#"{"a":[{}],"o":{},"z":null,"f":-0.5,"b":false,"s":"中\u0041\ud83d\ude00","n":-9223372036854775808}"#;
    let rows = vec![
        vec![
            Value::Int(1),
            Value::text("a\"}{\\"),
            Value::Bool(true),
            Value::Float(1.5),
            Value::Null,
            Value::Json(r#"{"k":[1,"]"]}"#.into()),
            Value::Json("[]".into()),
        ],
        vec![
            Value::Int(i64::MIN),
            Value::text("中A😀"),
            Value::Bool(false),
            Value::Float(-0.5),
            Value::Null,
            Value::Json("{}".into()),
            Value::Json("[{}]".into()),
        ],
    ];
    let columns: Vec<String> = ["n", "s", "b", "f", "z", "o", "a"].map(String::from).to_vec();
    let expected = Ok((columns, rows));
    for lines in
        [format!("{text}\n{other}\n"), format!("{text}\r\n\n  {other}  \r\n"), format!("\u{feff}{text}\n{other}")]
    {
        assert_eq!(read(lines.as_bytes(), &Format::JsonLines), expected);
    }
    for array in [format!("[{text},{other}]"), format!("\u{feff} [\n  {text},\n\n  {other}\n]\n\n")] {
        assert_eq!(read(array.as_bytes(), &Format::Json), expected);
    }
}

#[test]
fn the_ending_of_a_name_says_the_format() {
    let folder = Folder::new();
    for (name, text) in [
        ("a.csv", "x,y\n1,2\n"),
        ("a.CSV", "x,y\n1,2\n"),
        ("a.tsv", "x\ty\n1\t2\n"),
        ("a.json", r#"[{"x": "1", "y": "2"}]"#),
        ("a.jsonl", r#"{"x": "1", "y": "2"}"#),
        ("a.ndjson", r#"{"x": "1", "y": "2"}"#),
    ] {
        let path = folder.file(name, text);
        let feed = Feed::open(Spec::new(&path, format_of(&path))).expect(name);
        assert_eq!((feed.rows(), feed.columns()), (1, &["x".to_owned(), "y".to_owned()][..]));
        let row = feed.reader(|| ()).row(0).expect("no error").expect("held");
        let column = feed.column("y").expect("a column");
        assert_eq!(row[column], Value::text("2"));
    }
    assert_eq!(Format::from_path("a.txt".as_ref()), None);
    assert_eq!(Format::from_path("csv".as_ref()), None);
}

#[test]
fn a_row_of_a_megabyte_is_a_row() {
    let long = "x".repeat(1 << 20);
    for (text, format) in [
        (format!("a,b\n{long},1\n2,\"{long}\"\n"), csv()),
        (format!("[{{\"a\": \"{long}\", \"b\": \"1\"}},{{\"a\": \"2\", \"b\": \"{long}\"}}]"), Format::Json),
        (format!("{{\"a\": \"{long}\", \"b\": \"1\"}}\n{{\"a\": \"2\", \"b\": \"{long}\"}}"), Format::JsonLines),
    ] {
        let (_, rows) = read_all(text.as_bytes(), &format).expect("a good file");
        assert_eq!(rows, [[Value::text(&long), Value::text("1")], [Value::text("2"), Value::text(&long)]]);
    }
}

#[test]
fn a_missing_column_is_reported_with_those_that_there_are() {
    let folder = Folder::new();
    let path = folder.file("a.csv", "name,,password\n1,2,3\n");
    let feed = Feed::open(Spec::new(&path, csv())).expect("a good file");
    let said = |name: &str| feed.column(name).map_err(|error: FeedError| error.to_string());
    let expected = format!("{}: there is no column \"nam\"; the columns are name, , password", path.display());
    assert_eq!(said("nam"), Err(expected));
    assert!(said("").is_err() && said("Name").is_err() && said("password").is_ok());
}
