mod files;
mod mistakes;
mod naive;
mod selections;
mod streams;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};

use plan::Value;

use crate::{Csv, Feed, Format, Reader, Row};

/// A folder that is removed when it is dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("onrush-feed-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).expect("written");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A shard that waits for its rows, as an engine does between its events.
pub(crate) struct Shard {
    pub(crate) reader: Reader,
    woken: Receiver<()>,
}

impl Shard {
    pub(crate) fn new(feed: &Feed) -> Self {
        let (wake, woken) = channel();
        Self { reader: feed.reader(move || wake.send(()).unwrap_or_default()), woken }
    }

    pub(crate) fn row(&mut self, number: u64) -> Result<Row, crate::FeedError> {
        loop {
            match self.reader.row(number)? {
                Some(row) => return Ok(row),
                None => self.wait(),
            }
        }
    }

    /// Waits until a missing row has arrived; it was requested, so this ends.
    pub(crate) fn wait(&mut self) {
        while !self.reader.poll() {
            self.woken.recv().expect("the control thread lives");
        }
    }
}

pub(crate) fn csv() -> Format {
    Format::Csv(Csv::default())
}

pub(crate) fn texts(row: &Row) -> Vec<String> {
    row.values().iter().map(Value::to_string).collect()
}

pub(crate) fn format_of(path: &Path) -> Format {
    Format::from_path(path).expect("a known ending")
}
