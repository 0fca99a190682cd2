//! Rows that a filter keeps, held and streamed; and the files of a folder as rows.

use plan::Value;

use super::{Folder, Shard, csv, format_of, texts};
use crate::{Feed, FeedFault, Format, RowPosition, RowTurn, Spec};

const ROWS: u64 = 5_000;
/// Those whose id leaves 1 when it is divided by 3.
const KEPT: u64 = ROWS.div_ceil(3);

fn third(spec: &Spec) -> Spec {
    let is_third = |columns: &[String], cells: &[Value]| {
        assert_eq!(columns, ["id", "pad"]);
        Ok(cells[0].to_string().parse::<u64>().is_ok_and(|id| id % 3 == 1))
    };
    Spec { selection: Some(Feed::select(spec, is_third).expect("a selection")), ..spec.clone() }
}

#[test]
fn kept_rows_are_numbered_anew_wherever_they_lie() {
    let folder = Folder::new();
    let text: String = (0..ROWS).map(|id| format!("{id},{}\n", "x".repeat(id as usize % 90))).collect();
    let file = folder.file("rows.csv", format!("id,pad\n{text}"));
    let spec = third(&Spec::new(&file, csv()));
    // All in memory, and streamed with an offset for each row and for a few.
    for (held, offsets) in [(usize::MAX, 1 << 20), (0, 1 << 20), (0, 64)] {
        let feed = Feed::open_within(spec.clone(), held, offsets).expect("a feed");
        assert_eq!((feed.rows(), feed.is_held()), (KEPT, held > 0));
        let mut shard = Shard::new(&feed);
        for number in (0..feed.rows()).chain([7, feed.rows() - 1, 0]) {
            let row = shard.row(number).expect("a row");
            assert_eq!(texts(&row)[0], (3 * number + 1).to_string());
        }
        let list = feed.values_of(0, ROWS as usize).expect("a list");
        let expect: Vec<Value> = (0..KEPT).map(|number| Value::text(&(3 * number + 1).to_string())).collect();
        assert_eq!(list, expect);
        let fault = feed.values_of(0, 10).expect_err("too long").fault;
        assert_eq!(fault, FeedFault::ListTooLong { rows: KEPT, most: 10 });
        let (packed, bytes) = feed.packed().expect("a packet");
        assert_eq!((packed.selection, bytes), (spec.selection.clone(), std::fs::read(&file).expect("bytes")));
    }
}

#[test]
fn a_filter_that_does_not_suit_the_file_is_an_error() {
    let folder = Folder::new();
    let file = folder.file("rows.csv", "id,pad\n1,a\n2,b\n");
    let spec = Spec::new(&file, csv());
    let fault = |error: crate::FeedError| (error.line, error.fault);
    let nothing = Feed::select(&spec, |_, _| Ok(false)).map_err(fault);
    assert_eq!(nothing, Err((None, FeedFault::NoneKept)));
    let failing =
        |_: &[String], cells: &[Value]| if cells[0] == Value::text("2") { Err("why".to_owned()) } else { Ok(true) };
    let failed = Feed::select(&spec, failing).map_err(fault);
    assert_eq!(failed, Err((Some(3), FeedFault::Filter { reason: "why".to_owned() })));
    // A selection of another file.
    let spec = third(&Spec::new(&file, csv()));
    folder.file("rows.csv", "id,pad\n1,a\n2,b\n3,c\n");
    assert_eq!(Feed::open(spec).map(|_| ()).map_err(fault), Err((None, FeedFault::Changed)));
}

#[test]
fn a_folder_has_a_row_for_each_file() {
    let folder = Folder::new();
    for (name, bytes) in [("b.png", &b"12"[..]), ("a.png", b""), (".hidden", b"1"), ("B.png", b"123")] {
        folder.file(name, bytes);
    }
    std::fs::create_dir_all(folder.path("inner")).expect("a folder");
    let spec = Spec::new(folder.path(""), Format::Folder("photos/".to_owned()));
    let feed = Feed::open(spec.clone()).expect("a feed");
    let rows = |feed: &Feed| -> Vec<Vec<String>> {
        let mut shard = Shard::new(feed);
        (0..feed.rows()).map(|number| texts(&shard.row(number).expect("a row"))).collect()
    };
    let row = |name: &str, bytes: &str| vec![format!("photos/{name}"), name.to_owned(), bytes.to_owned()];
    let all = vec![row("B.png", "3"), row("a.png", "0"), row("b.png", "2")];
    assert_eq!((rows(&feed), feed.columns()), (all, &["path", "name", "bytes"].map(str::to_owned)[..]));
    let place = feed.place(RowTurn::Open { iteration: 4, user: 0 }, 1);
    assert_eq!(place, RowPosition::Row { number: 1, round: 1 });
    // A worker has no such folder, and reads the same rows from a file.
    let is_some = |_: &[String], cells: &[Value]| Ok(cells[2] != Value::Int(0));
    let selection = Some(Feed::select(&spec, is_some).expect("a selection"));
    let feed = Feed::open(Spec { selection, ..spec }).expect("a feed");
    let (packed, bytes) = feed.packed().expect("a packet");
    let file = folder.file("rows.jsonl", bytes);
    assert_eq!(format_of(&file), packed.format);
    let again = Feed::open(Spec { file, ..packed }).expect("a feed");
    assert_eq!(rows(&again), rows(&feed));
    let empty = Spec::new(folder.path("inner"), Format::Folder("photos".to_owned()));
    assert_eq!(Feed::open(empty).map(|_| ()).map_err(|error| error.fault), Err(FeedFault::NoFiles));
}
