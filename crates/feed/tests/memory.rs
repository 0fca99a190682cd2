//! A file that is much larger than the memory limit. This process does nothing else, so its memory is that of the feed.
//! `XTASK_LONG` makes the file a gibibyte of short rows; otherwise it is a quarter of that, with rows that are read
//! quickly.

#![cfg(target_os = "linux")]

#[macro_use]
extern crate claims;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use feed::{
    AtEnd, Csv, Feed, Format, HELD_BYTES_MAX, INDEX_OFFSETS_MAX, Pick, READER_BYTES_MAX, Reader, RowPosition, RowTurn,
    Share, Spec,
};

const SHARDS: u64 = 7;
/// Chunks for all shards, windows of the file, and memory that the allocator retains.
const REST_BYTES_MAX: usize = 24 * 1024 * 1024;
/// The total limit: rows that are held until there are too many, the index, the readers.
const MEMORY_BYTES_MAX: usize =
    HELD_BYTES_MAX + INDEX_OFFSETS_MAX * 8 + SHARDS as usize * READER_BYTES_MAX + REST_BYTES_MAX;

struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The peak memory of this process.
fn memory_bytes_max() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number") * 1024
}

/// Writes rows until the file is large enough; returns their number.
fn write(path: &Path, bytes: u64, mail: &str) -> u64 {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path).expect("a file"));
    let (mut rows, mut written) = (0, 0);
    let mut line = Vec::new();
    writeln!(file, "id,name,mail").expect("written");
    while written < bytes {
        line.clear();
        write!(line, "{rows},\"user, {rows}\",user{rows}{mail}@example.com\r\n").expect("written");
        file.write_all(&line).expect("written");
        (rows, written) = (rows + 1, written + line.len() as u64);
    }
    file.flush().expect("written");
    rows
}

/// Takes the rows of some turns of seven shards in one thread, as they arrive; returns their number.
fn take(feed: &Feed, turns: impl Iterator<Item = u64>) -> u64 {
    let (wake, woken) = channel();
    let reader = || {
        let wake = wake.clone();
        feed.reader(move || wake.send(()).unwrap_or_default())
    };
    let mut readers: Vec<Reader> = (0..SHARDS).map(|_| reader()).collect();
    let id = feed.column("id").expect("a column");
    let mut taken = 0;
    for iteration in turns {
        let RowPosition::Row { number, .. } = feed.place(RowTurn::Open { iteration, user: 0 }, 7) else {
            panic!("{iteration} has a row")
        };
        let reader = &mut readers[(iteration % SHARDS) as usize];
        let row = loop {
            match reader.row(number).expect("no error") {
                Some(row) => break row,
                None => {
                    while !reader.poll() {
                        woken.recv().expect("the thread lives");
                    }
                }
            }
        };
        assert_eq!(row[id].to_string(), number.to_string());
        taken += 1;
    }
    taken
}

#[test]
fn a_large_file_does_not_enter_memory() {
    let is_long = claims::seeds::is_long();
    let bytes: u64 = if is_long { 1 << 30 } else { 1 << 28 };
    assert!(bytes as usize > 2 * MEMORY_BYTES_MAX, "{MEMORY_BYTES_MAX}");
    let file = Removed(std::env::temp_dir().join(format!("onrush-feed-large-{}.csv", std::process::id())));
    let rows = write(&file.0, bytes, &"x".repeat(if is_long { 0 } else { 2_000 }));
    let before = memory_bytes_max();
    let spec =
        |pick, share| Spec { pick, share, at_end: AtEnd::Stop, ..Spec::new(&file.0, Format::Csv(Csv::default())) };
    let feed = Feed::open(spec(Pick::Next, Share::Split)).expect("a good file");
    assert_eq!((feed.rows(), feed.is_held()), (rows, false));
    assert_eq!(take(&feed, 0..rows), rows, "each row once");
    let backwards = (0..rows).rev().step_by(if is_long { 50_021 } else { 5_003 });
    assert_eq!(take(&feed, backwards.clone()), backwards.count() as u64);
    let random = Feed::open(spec(Pick::Random, Share::Unique)).expect("a good file");
    assert_eq!(take(&random, 0..2_000), 2_000);
    let grown = memory_bytes_max() - before;
    assert!(grown < MEMORY_BYTES_MAX, "{grown} of {MEMORY_BYTES_MAX}");
}
