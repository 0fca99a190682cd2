//! Streamed rows on several shards.

use std::io::Write;
use std::sync::mpsc::channel;

use plan::Value;

use super::{Folder, Shard, csv, texts};
use crate::stream::{CHUNK_BYTES_MAX, Paces};
use crate::{AtEnd, Feed, FeedFault, Format, Pick, Reader, RowPosition, RowTurn, Share, Spec};

const ROWS: u64 = 20_000;
/// Few, so that most rows are found from an offset of an earlier one.
const OFFSETS_MAX: usize = 1_000;

fn numbered(folder: &Folder) -> std::path::PathBuf {
    let rows: String = (0..ROWS).map(|number| format!("{number},\"user, {number}\"\r\n")).collect();
    folder.file("users.csv", format!("id,name\r\n{rows}"))
}

/// All rows that seven shards take at the same time, in threads of their own.
fn taken(feed: &Feed, turns: impl Fn(u64) -> Box<dyn Iterator<Item = RowTurn>> + Sync) -> Vec<u64> {
    let id = feed.column("id").expect("a column");
    let mut counts = vec![0; feed.rows() as usize];
    std::thread::scope(|scope| {
        let shards: Vec<_> = (0..7)
            .map(|shard| {
                let turns = &turns;
                scope.spawn(move || {
                    let mut rows = Shard::new(feed);
                    let mut taken = Vec::new();
                    for turn in turns(shard) {
                        let RowPosition::Row { number, .. } = feed.place(turn, 7) else { break };
                        let row = rows.row(number).expect("no error");
                        assert_eq!(texts(&row), [number.to_string(), format!("user, {number}")]);
                        taken.push(row[id].to_string().parse::<usize>().expect("a number"));
                    }
                    taken
                })
            })
            .collect();
        for shard in shards {
            shard.join().expect("no panic").into_iter().for_each(|number| counts[number] += 1);
        }
    });
    counts
}

#[test]
fn split_over_seven_shards_gives_each_row_once() {
    let folder = Folder::new();
    for pick in [Pick::Next, Pick::Random] {
        // At random, each row is taken once if rows are unique.
        let share = if pick == Pick::Next { Share::Split } else { Share::Unique };
        let spec = Spec { pick, share, at_end: AtEnd::Stop, ..Spec::new(numbered(&folder), csv()) };
        for held in [0, usize::MAX] {
            let feed = Feed::open_within(spec.clone(), held, OFFSETS_MAX).expect("a good file");
            assert_eq!(feed.is_held(), held > 0);
            let open = taken(&feed, |shard| {
                Box::new((shard..).step_by(7).map(|iteration| RowTurn::Open { iteration, user: 0 }))
            });
            assert!(open.iter().all(|count| *count == 1), "{pick:?}");
            // 70 users, ten on each shard, whose iterations run concurrently.
            let closed = taken(&feed, |shard| {
                let user = move |iteration, at: u64| RowTurn::Closed { user: at * 7 + shard, users: 70, iteration };
                Box::new((0..ROWS.div_ceil(70)).flat_map(move |iteration| (0..10).map(move |at| user(iteration, at))))
            });
            // Turns after the last row end a shard, and those of its other users are after it too.
            assert!(closed.iter().all(|count| *count == 1), "{pick:?}");
        }
    }
}

#[test]
fn each_row_of_two_rounds_is_taken_twice() {
    let folder = Folder::new();
    let feed = Feed::open_within(Spec::new(numbered(&folder), csv()), 0, OFFSETS_MAX).expect("a good file");
    let counts = taken(&feed, |shard| {
        Box::new((shard..2 * ROWS).step_by(7).map(|iteration| RowTurn::Open { iteration, user: 0 }))
    });
    assert!(counts.iter().all(|count| *count == 2));
}

#[test]
fn a_row_that_is_not_there_is_not_waited_for_and_comes() {
    let folder = Folder::new();
    let spec = Spec { pick: Pick::Random, ..Spec::new(numbered(&folder), csv()) };
    let feed = Feed::open_within(spec, 0, OFFSETS_MAX).expect("a good file");
    let mut shard = Shard::new(&feed);
    // Nothing was requested, so nothing can be available.
    assert_eq!(shard.reader.row(777), Ok(None));
    shard.wait();
    let row = shard.reader.row(777).expect("no error").expect("it came");
    assert_eq!(row.values()[0], Value::text("777"));
    assert!(shard.reader.hurry(888));
    shard.wait();
    assert!(shard.reader.row(888).expect("no error").is_some(), "what was hurried is there");
}

/// 5,000 users wait for rows all over the file, many more than a reader retains: each of them gets its row.
#[test]
fn more_users_than_a_reader_keeps_rows_for_all_get_theirs() {
    let folder = Folder::new();
    for pick in [Pick::Next, Pick::Random] {
        let spec = Spec { pick, ..Spec::new(numbered(&folder), csv()) };
        let feed = Feed::open_within(spec, 0, OFFSETS_MAX).expect("a good file");
        let mut shard = Shard::new(&feed);
        let mut waiting: Vec<u64> = (0..5_000).map(|user| user * 7_919 % ROWS).collect();
        while !waiting.is_empty() {
            waiting.retain(|number| match shard.reader.row(*number).expect("no error") {
                Some(row) => {
                    assert_eq!(row.values()[0], Value::text(&number.to_string()));
                    false
                }
                None => true,
            });
            if !waiting.is_empty() {
                shard.wait();
            }
        }
    }
}

/// Chunks that arrived while another row was requested are reported all the same.
#[test]
fn news_that_was_taken_on_the_way_is_reported() {
    let folder = Folder::new();
    let spec = Spec { pick: Pick::Random, ..Spec::new(numbered(&folder), csv()) };
    let feed = Feed::open_within(spec, 0, OFFSETS_MAX).expect("a good file");
    let mut shard = Shard::new(&feed);
    assert_eq!(shard.reader.row(1), Ok(None));
    shard.woken.recv().expect("woken");
    assert_eq!(shard.reader.row(2), Ok(None), "row 1 was taken in by this");
    assert!(shard.reader.poll(), "and is told");
}

#[test]
fn large_rows_among_small_ones_are_read_in_parts() {
    let folder = Folder::new();
    let long = "x".repeat(CHUNK_BYTES_MAX / 3);
    let text = |number: u64| if (500..520).contains(&number) { format!("{number}{long}") } else { number.to_string() };
    let rows: String = (0..3_000).map(|number| format!("{}\n", text(number))).collect();
    let feed = Feed::open_within(Spec::new(folder.file("a.csv", format!("a\n{rows}")), csv()), 0, OFFSETS_MAX)
        .expect("a good file");
    let mut shard = Shard::new(&feed);
    for number in (0..3_000).chain((0..3_000).rev()).chain([505, 519, 500, 510, 0, 505, 2_999]) {
        assert_eq!(texts(&shard.row(number).expect("no error")), [text(number)]);
    }
}

#[test]
fn a_file_that_changes_is_reported_to_each_shard_and_never_waited_for() {
    let folder = Folder::new();
    let path = numbered(&folder);
    let old = std::fs::read(&path).expect("read");
    let shrunk = &old[..old.len() / 3];
    let longer = [&old[..], b"20000,x\r\n"].concat();
    for pick in [Pick::Next, Pick::Random] {
        for changed in [shrunk, b"", &longer] {
            std::fs::write(&path, &old).expect("written");
            let spec = Spec { pick, ..Spec::new(&path, csv()) };
            let feed = Feed::open_within(spec, 0, OFFSETS_MAX).expect("a good file");
            std::fs::write(&path, changed).expect("written");
            for mut shard in [Shard::new(&feed), Shard::new(&feed)] {
                for number in [ROWS - 1, 5] {
                    let error = shard.row(number).expect_err("changed");
                    assert_eq!((error.fault, &error.file, error.line), (FeedFault::Changed, &path, None));
                }
            }
        }
        std::fs::write(&path, &old).expect("written");
        let feed = Feed::open_within(Spec { pick, ..Spec::new(&path, csv()) }, 0, OFFSETS_MAX).expect("a good file");
        std::fs::remove_file(&path).expect("removed");
        let row = Shard::new(&feed).row(ROWS - 1).expect("a file without a name is still there");
        assert_eq!(row.values()[0], Value::text(&(ROWS - 1).to_string()));
    }
}

/// The thread owns the file, and this checks whether the file is open in any process.
#[cfg(target_os = "linux")]
#[test]
fn the_thread_ends_with_the_last_that_can_order() {
    let folder = Folder::new();
    let path = numbered(&folder).canonicalize().expect("a file");
    let is_open = || {
        let open = std::fs::read_dir("/proc/self/fd").expect("descriptors").flatten();
        open.filter_map(|entry| entry.path().read_link().ok()).any(|file| file == path)
    };
    let feed = Feed::open_within(Spec::new(&path, csv()), 0, OFFSETS_MAX).expect("a good file");
    let mut shard = Shard::new(&feed);
    drop(feed);
    shard.row(ROWS - 1).expect("a reader is enough");
    assert!(is_open());
    drop(shard);
    while is_open() {
        std::thread::yield_now();
    }
}

#[test]
fn json_with_a_row_on_no_line_of_its_own_is_read_by_number() {
    let folder = Folder::new();
    let mut file = std::fs::File::create(folder.path("a.json")).expect("a file");
    let row = |number: u64| format!("{{\"id\": {number}, \"o\": {{\"t\": \"]}}\\\"\"}}}}");
    let rows: Vec<String> = (0..5_000).map(row).collect();
    write!(file, "[{}]", rows.join(",")).expect("written");
    let spec = Spec { pick: Pick::Random, ..Spec::new(folder.path("a.json"), Format::Json) };
    let feed = Feed::open_within(spec, 0, OFFSETS_MAX).expect("a good file");
    let mut shard = Shard::new(&feed);
    for number in (0..5_000_u64).rev().step_by(37) {
        assert_eq!(shard.row(number).expect("no error").values()[0], Value::Int(number as i64));
    }
}

/// Rows requested in advance take half of the maximum in transit: a user that waits for a row is not delayed by rows of
/// others.
#[test]
fn what_will_be_wanted_leaves_room_for_what_is() {
    for (row_bytes_max, half) in [(100, 512), (64 * 1024, 16), (1024 * 1024, 1)] {
        // No thread serves the requests.
        let (orders, ordered) = channel();
        let paces = Paces { rows: 1_000_000, chunk_rows: 1, row_bytes_max, is_in_order: false };
        let mut reader = Reader::streamed(orders, paces, || {});
        let taken = (0..2_000).filter(|number| reader.hurry(number * 499)).count();
        assert_eq!((taken, ordered.try_iter().count()), (half, half), "{row_bytes_max}");
        // A chunk in transit is not requested twice.
        assert!(reader.hurry(0) && !reader.hurry(1) && ordered.try_iter().count() == 0);
        (0..2_000).for_each(|number| assert_eq!(reader.row(number * 499 + 1), Ok(None)));
        assert_eq!(ordered.try_iter().count(), half, "{row_bytes_max}: the other half");
    }
}
