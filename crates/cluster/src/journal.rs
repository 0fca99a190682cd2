//! Journals: the data that a worker sends and the leader receives is written to their disks too (`journal/writer.rs`, on
//! its own thread; `journal/encoder.rs` is the encoder as a machine), so that no result is lost with the bus or the
//! leader. A journal is a folder of a run with its description and two files that take turns: its size is bounded, and
//! of older data the totals stay (`journal/compacted.rs`).
//!
//! `journal/recovery.rs` recovers a run from journals: it reconstructs the state from all of them and, for each life of a
//! worker, uses the more complete of the worker's journal and the leader's. `coordinator/replay.rs` replays that as a team, so an
//! imported run is made and shown like any other; `coordinator/account.rs` adds up results for both.

mod compacted;
mod encoder;
mod reader;
mod recovery;
#[cfg(test)]
mod tests;
mod writer;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pacing::{Nanos, Segment};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::books::{Due, Ledger};
use crate::bus::Bytes;
use crate::encoding::hash_of;
use crate::protocol::{Member, News, PROTOCOL, Packet, State, Sum, WorkerId, read, written};
#[cfg(test)]
pub(crate) use compacted::Sums;
pub use encoder::{LeaderJournalEncoder, WorkerJournalEncoder};
pub use reader::JournalContents;
pub use recovery::{Cut, Past, put_together};
#[cfg(test)]
pub(crate) use writer::recalled;
pub use writer::{Journal, Journals, Stopped};

/// The file that says what a ring is of.
const HEAD: &str = "head";
/// The files that take turns.
const TURNS: [&str; 2] = ["turn-1", "turn-2"];
/// What a head begins with.
const MAGIC: &[u8] = b"onrush ring 1\n";
/// A file that has so many bytes is full: the other one is begun anew, with the sums of what it said.
const TURN_BYTES_MAX: u64 = if cfg!(test) { 64 << 10 } else { 32 << 20 };
/// The most bytes of one record: a batch of news, and more than any state has.
const RECORD_BYTES_MAX: usize = 16 << 20;
/// The same of a head, which has the plan.
const HEAD_BYTES_MAX: usize = plan::CARRIED_BYTES_MAX;
/// Rings of one name that are kept in a folder, and all of them; the oldest go.
const JOURNALS_KEPT: usize = 8;
const JOURNALS_MAX: usize = 64;
/// As many bytes of a hash say whether a record is what was written.
const CHECK_BYTES: usize = 16;

/// Which build wrote a ring; stands before all else, in a shape that stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Build {
    protocol: u32,
    version: String,
}

/// Of what a ring is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// It is that of whoever led; else of a worker.
    pub is_of_leader: bool,
    /// Who that is.
    pub id: WorkerId,
    /// What it is called.
    pub name: String,
    /// The number of the run.
    pub run: u64,
    /// Who began the run: with its number it says which run that is.
    pub begun_by: u64,
    /// The name of the plan.
    pub plan: String,
    /// The plan, without the rows of its files.
    pub packet: Vec<u8>,
    /// Where its first target is, seen from there.
    pub address: String,
}

impl Head {
    /// A packet as a ring has it: the plan alone. `None` when it is none.
    pub fn packet_of(packet: &[u8]) -> Option<Vec<u8>> {
        let packet: Packet = read(packet)?;
        Some(written(&Packet { feeds: Vec::new(), ..packet }).to_vec())
    }

    /// Which run it is.
    fn of_run(&self) -> (u64, u64, &str) {
        (self.run, self.begun_by, &self.plan)
    }
}

/// What stands in a ring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// The first of a file: how many files were begun before.
    Begins(u64),
    /// What a life of a worker has told before, put together: as it kept it, or as it was heard.
    Before {
        /// It was heard, in batches; else it is what the worker kept.
        is_received: bool,
        /// What it is.
        sum: Sum,
    },
    /// What a worker has to tell.
    News {
        /// In which of its lives.
        incarnation: u32,
        /// How much it had to tell before, in this life.
        index: u64,
        /// Time since the start of the run.
        at: Nanos,
        /// What it is.
        news: News,
    },
    /// What whoever leads read.
    Batch {
        /// Where it stands in the stream.
        place: u64,
        /// A [`crate::protocol::Batch`].
        bytes: Bytes,
    },
    /// When the run started by the clock of the wall there, since the epoch of Unix.
    Started(Nanos),
    /// What is to be done, as it was known.
    State(State),
    /// Who takes part.
    Who {
        /// The member.
        member: Member,
        /// What it is called.
        name: String,
        /// The shortest round trip to who leads, as it said.
        round_trip: Option<Nanos>,
    },
    /// A member was given up; it may have gone on until then, counted from the beginning of the measured load.
    Lost {
        /// The member.
        member: Member,
        /// Until then.
        until: Nanos,
    },
}

/// Why a ring cannot be written, or not be read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The system refuses it.
    #[error("{}: {reason}", path.display())]
    Io {
        /// The file, or the folder.
        path: PathBuf,
        /// What it says.
        reason: std::io::Error,
    },
    /// It is none.
    #[error("{} is not a ring: a folder with the files head, turn-1 and turn-2, which a worker or whoever leads has written", path.display())]
    NotOne {
        /// The folder.
        path: PathBuf,
    },
    /// Its head is damaged.
    #[error("{} is damaged: its file head is not what was written", path.display())]
    Damaged {
        /// The folder.
        path: PathBuf,
    },
    /// Another build wrote it.
    #[error("{} was written by onrush {version}; use that version", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// Its version.
        version: String,
    },
    /// Two rings are of different runs.
    #[error("{} and {} are of different runs", one.display(), other.display())]
    OtherRun {
        /// The folder of one.
        one: PathBuf,
        /// That of the other.
        other: PathBuf,
    },
    /// None says what was to be done.
    #[error("the rings do not say what was to be done: they are empty or damaged")]
    Nothing,
}

impl Record {
    /// The run has started, or will, at this instant of a clock.
    pub fn started(at: Nanos, now: Nanos) -> Self {
        Self::Started((Nanos::from(now_unix()) + at.since(now)).since(now.since(at)))
    }
}

/// The time of day, since the epoch of Unix.
fn now_unix() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// A file that is one: whoever opens what is none may wait for ever.
fn opened(path: &Path) -> Option<File> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    File::open(path).ok()
}

/// A value as it stands in a file: its length, a check, and itself.
fn framed<T: Serialize>(value: &T) -> Vec<u8> {
    let payload = written(value);
    let mut bytes = Vec::with_capacity(payload.len() + 4 + CHECK_BYTES);
    bytes.extend_from_slice(&u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(&hash_of(&payload).as_bytes()[..CHECK_BYTES]);
    bytes.extend_from_slice(&payload);
    bytes
}

/// The first value, and what is behind it; `None` when it is not what was written, or not whole.
fn unframed<T: DeserializeOwned>(bytes: &[u8], most: usize) -> Option<(T, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (check, rest) = rest.split_at_checked(CHECK_BYTES)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok().filter(|length| *length <= most)?;
    let (payload, rest) = rest.split_at_checked(length)?;
    (&hash_of(payload).as_bytes()[..CHECK_BYTES] == check).then_some(())?;
    Some((read(payload)?, rest))
}

/// The bytes of the file that says what a ring is of.
fn head_bytes(head: &Head, version: &str) -> Vec<u8> {
    let build = Build { protocol: PROTOCOL, version: version.to_owned() };
    [MAGIC, &framed(&build), &framed(head)].concat()
}

/// A head as it was written, or which build wrote it.
enum HeadRead {
    Ours(Box<Head>),
    Foreign(String),
    Damaged,
    Nothing,
}

fn head_of(bytes: &[u8]) -> HeadRead {
    let Some(rest) = bytes.strip_prefix(MAGIC) else { return HeadRead::Nothing };
    let Some((build, rest)) = unframed::<Build>(rest, RECORD_BYTES_MAX) else { return HeadRead::Damaged };
    if build.protocol != PROTOCOL {
        return HeadRead::Foreign(build.version);
    }
    unframed::<Head>(rest, HEAD_BYTES_MAX).map_or(HeadRead::Damaged, |(head, _)| HeadRead::Ours(Box::new(head)))
}

/// The records of a file, up to the first one that is not whole.
fn records_of(bytes: &[u8]) -> Vec<Record> {
    each_of(bytes).collect()
}

/// Those that stand before its news.
fn head_records_of(bytes: &[u8]) -> Vec<Record> {
    each_of(bytes).take_while(|record| !matches!(record, Record::News { .. } | Record::Batch { .. })).collect()
}

fn each_of(mut bytes: &[u8]) -> impl Iterator<Item = Record> {
    std::iter::from_fn(move || {
        let (record, rest) = unframed(bytes, RECORD_BYTES_MAX)?;
        bytes = rest;
        Some(record)
    })
}

/// Any bytes as what stands in a ring, for fuzzers: rings of a worker and of whoever led.
pub fn look_at(bytes: &[u8]) {
    let _ = (matches!(head_of(bytes), HeadRead::Ours(_)), records_of(bytes).len());
    let Some(records) = read::<Vec<Record>>(bytes) else { return };
    let journal = |is_of_leader: bool| {
        let (id, name, plan, address) = (1, String::new(), String::new(), String::new());
        let head = Head { is_of_leader, id, name, run: 0, begun_by: 0, plan, packet: Vec::new(), address };
        JournalContents::of(PathBuf::new(), head, [records.clone(), Vec::new()])
    };
    for journals in [vec![journal(true)], vec![journal(false)], vec![journal(true), journal(false)]] {
        let Ok(past) = put_together(journals) else { continue };
        let mut ledger = Ledger::default();
        past.news.iter().for_each(|(_, member, news)| ledger.news(*member, news));
        past.losses.iter().for_each(|(member, until)| ledger.lost(*member, *until));
        let _ = ledger.balance(&past.state, (Nanos::from_millis(60_000), Nanos::NEVER), &Nothing);
    }
}

/// Nothing is due.
struct Nothing;

impl Due for Nothing {
    fn count(&self, _: &Segment, _: Nanos, _: Nanos) -> u64 {
        0
    }

    fn of_late(&self, _: &[(u32, Nanos)]) -> Box<dyn Due + '_> {
        Box::new(Self)
    }
}
