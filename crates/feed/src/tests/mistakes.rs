//! Files that cannot be used: the error, and that it is reported at once.

use std::process::Command;

use super::files::read;
use super::{Folder, csv};
use crate::{COLUMNS_MAX, Csv, Feed, FeedFault, Format, ROW_BYTES_MAX, Spec, read_all};

fn fault(bytes: &[u8], format: &Format) -> (Option<u64>, FeedFault) {
    read(bytes, format).expect_err("a mistake")
}

#[test]
fn mistakes_in_csv_have_their_line() {
    use FeedFault::{ColumnTwice, Fields, NoRows, OpenQuote, Text, Wide};
    let twice = |name: &str| ColumnTwice { name: name.into() };
    let cases: Vec<(&[u8], Option<u64>, FeedFault)> = vec![
        (b"", None, NoRows),
        (b"\n\r\n", None, NoRows),
        (b"\xef\xbb\xbf", None, NoRows),
        (b"a,b\n", None, NoRows),
        (b"a,b", None, NoRows),
        (b"a,b\n1,2\n3\n", Some(3), Fields { found: 1, wanted: 2 }),
        (b"a,b\r\n1,2\r\n\r\n3,4,5\r\n", Some(4), Fields { found: 3, wanted: 2 }),
        (b"a,b\r1,2\r3\r", Some(3), Fields { found: 1, wanted: 2 }),
        (b"a,b\n\"x\ny\",2\n3,4,\n", Some(4), Fields { found: 3, wanted: 2 }),
        (b"a,b\n1,2\n\"3,4\n5,6\n", Some(3), OpenQuote),
        (b"a,b\n1,2\n3,\"4", Some(3), OpenQuote),
        (b"a,b,a\n1,2,3\n", Some(1), twice("a")),
        (b"\n\na, a\n1,2\n", Some(3), twice("a")),
        (b"a,b\n1,\xff\n", Some(2), Text { charset: "UTF-8" }),
        (b"a,b\n1,2\n\xd6\xd0,1\n", Some(3), Text { charset: "UTF-8" }),
        (b"a,b\n\"1\n\xff\",2\n", Some(3), Text { charset: "UTF-8" }),
        (b"\xff\xfea\0,\0", None, Wide),
        (b"\xfe\xff\0a\0,", None, Wide),
    ];
    for (bytes, line, expected) in cases {
        assert_eq!(fault(bytes, &csv()), (line, expected), "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn what_is_said_of_csv_must_make_sense() {
    for separator in ['"', '\n', '\r', '，', '\0'] {
        let format = Format::Csv(Csv { separator, ..Csv::default() });
        assert_eq!(fault(b"a\n1\n", &format), (None, FeedFault::Separator { found: separator }));
    }
    for charset in ["utf-16", "utf-16le", "iso-2022-jp", "klingon", "", "x-user-defined"] {
        let format = Format::Csv(Csv { charset: Some(charset.into()), ..Csv::default() });
        assert_eq!(fault(b"a\n1\n", &format), (None, FeedFault::Charset { name: charset.into() }));
    }
    let gbk = Format::Csv(Csv { charset: Some("gbk".into()), ..Csv::default() });
    assert_eq!(fault(b"a\n\xd6\xd0\n\xd6\n", &gbk), (Some(3), FeedFault::Text { charset: "GBK" }));
    let named = Format::Csv(Csv { columns: Some(vec!["a".into(), "a".into()]), ..Csv::default() });
    assert_eq!(fault(b"1,2\n", &named), (None, FeedFault::ColumnTwice { name: "a".into() }));
    let named = Format::Csv(Csv { columns: Some(vec!["a".into()]), ..Csv::default() });
    assert_eq!(fault(b"1,2\n", &named), (Some(1), FeedFault::Fields { found: 2, wanted: 1 }));
}

#[test]
fn mistakes_in_json_have_their_line() {
    use FeedFault::{AfterEnd, ColumnTwice, Cut, KeyMissing, KeyUnknown, NoArray, NoObject, NoRows, Text};
    let name = || "b".to_owned();
    let json = |reason: &str| FeedFault::Json { reason: reason.into() };
    let arrays: Vec<(&[u8], Option<u64>, FeedFault)> = vec![
        (b"", None, NoRows),
        (b"  \n ", None, NoRows),
        (b"[]", None, NoRows),
        (b"{\"a\": 1}", Some(1), NoArray),
        (b"\n\n{\"a\": 1}\n{\"a\": 2}", Some(3), NoArray),
        (b"[{\"a\": 1},\n 7]", Some(2), NoObject),
        (b"[[1]]", Some(1), NoObject),
        (b"[{\"a\": 1},\n\n{\"a\": 2", Some(3), Cut),
        (b"[{\"a\": 1},\n\n{\"a\": \"2\\", Some(3), Cut),
        (b"[{\"a\": 1}\n", Some(2), Cut),
        (b"[", Some(1), Cut),
        (b"[{\"a\": 1}] \n x", Some(2), AfterEnd),
        (b"[{\"a\": 1}\n{\"a\": 2}]", Some(2), json("expected `,` or `]`")),
        (b"[{\"a\": 1},\n]", Some(2), json("trailing comma")),
        (b"[{\"a\": 1},\n{\n\"a\": x}]", Some(3), json("expected value")),
        (b"[{\"a\": 1, \"b\": 2},\n{\"a\": 1}]", Some(2), KeyMissing { name: name() }),
        (b"[{\"a\": 1},\n{\"a\": 1, \"b\": 2}]", Some(2), KeyUnknown { name: name() }),
        (b"[{\"b\": 1, \"b\": 2}]", Some(1), ColumnTwice { name: name() }),
        (b"[{\"a\": 1},\n{\"a\": \"\xff\"}]", Some(2), Text { charset: "UTF-8" }),
    ];
    for (bytes, line, expected) in arrays {
        assert_eq!(fault(bytes, &Format::Json), (line, expected), "{:?}", String::from_utf8_lossy(bytes));
    }
    let lines: Vec<(&[u8], Option<u64>, FeedFault)> = vec![
        (b"\n \n", None, NoRows),
        (b"[{\"a\": 1}]", Some(1), NoObject),
        (b"{\"a\": 1}\n\n7\n", Some(3), NoObject),
        (b"{\"a\": 1}\nseven\n", Some(2), json("expected value")),
        (b"{\"a\": 1}\n{\"a\": 2\n", Some(3), json("EOF while parsing an object")),
        (b"{\"a\": 1} {\"a\": 2}\n", Some(1), json("trailing characters")),
        (b"{\"a\": 1, \"b\": 1}\n{\"b\": 1}\n", Some(2), KeyMissing { name: "a".into() }),
        (b"{\"a\": 1}\n{\"a\": 1, \"b\": 1}\n", Some(2), KeyUnknown { name: name() }),
        (b"{\"a\": 1}\n{\"a\": \"\xd6\xd0\"}\n", Some(2), Text { charset: "UTF-8" }),
    ];
    for (bytes, line, expected) in lines {
        assert_eq!(fault(bytes, &Format::JsonLines), (line, expected), "{:?}", String::from_utf8_lossy(bytes));
    }
    let deep = format!("[{{\"a\": {}{}}}]", "[".repeat(10_000), "]".repeat(10_000));
    assert_eq!(read_all(deep.as_bytes(), &Format::Json), Err((Some(1), json("recursion limit exceeded"))));
}

#[test]
fn rows_and_columns_have_a_bound() {
    let long = "x".repeat(ROW_BYTES_MAX + 1);
    for (text, line, format) in [
        (format!("a\n1\n{long}\n"), 3, csv()),
        (format!("a\n\"{}", "x\n".repeat(ROW_BYTES_MAX / 2 + 1)), 2, csv()),
        (format!("{{\"a\": \"{long}\"}}"), 1, Format::JsonLines),
        (format!("[\n{{\"a\": \"{long}\"}}]"), 2, Format::Json),
    ] {
        assert_eq!(read_all(text.as_bytes(), &format), Err((Some(line), FeedFault::RowTooLong)));
    }
    let names: Vec<String> = (0..COLUMNS_MAX).map(|number| format!("c{number}")).collect();
    let line = names.join(",");
    assert_eq!(read_all(format!("{line}\n{line}\n").as_bytes(), &csv()).expect("as many as may be").0, names);
    for format in [csv(), Format::JsonLines] {
        let keys: Vec<String> = names.iter().map(|name| format!("\"{name}\": 1")).collect();
        let text = if format == csv() { format!("{line},z\n") } else { format!("{{{}, \"z\": 1}}", keys.join(",")) };
        assert_eq!(read_all(text.as_bytes(), &format), Err((Some(1), FeedFault::ColumnsTooMany)));
    }
}

#[test]
fn what_is_no_file_is_reported_and_never_waited_for() {
    let folder = Folder::new();
    let pipe = folder.path("pipe.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo of coreutils").success());
    let fault = |path: &std::path::Path| Feed::open(Spec::new(path, csv())).expect_err("no file").fault;
    assert_eq!(fault(&pipe), FeedFault::NotRegular);
    assert_eq!(fault("/dev/zero".as_ref()), FeedFault::NotRegular);
    assert_eq!(fault(&folder.path("")), FeedFault::Directory);
    for path in [folder.path("missing.csv"), folder.path("pipe.csv/x")] {
        let FeedFault::Open { reason } = fault(&path) else { panic!("{path:?}") };
        assert!(reason.contains("os error"), "{reason}");
    }
}

#[test]
fn a_mistake_names_file_line_and_remedy() {
    let folder = Folder::new();
    let path = folder.file("users.csv", "name,password\nlin,1\nwei\n");
    let said = Feed::open(Spec::new(&path, csv())).expect_err("a mistake").to_string();
    let expected = format!(
        "{}, line 3: 1 fields, but there are 2 columns; a field that contains the separator, a quote or a line end needs double \
         quotes around it",
        path.display()
    );
    assert_eq!(said, expected);
}
