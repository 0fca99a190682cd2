//! Journals: the data that a worker sends and the leader receives is written to their disks too (`journal/writer.rs`,
//! on its own thread; `journal/encoder.rs` is the encoder as a machine), so that no result is lost with the bus or the
//! leader. A journal is a folder of a run with its description and two files that take turns: its size is bounded, and
//! of older data the totals stay (`journal/compacted.rs`).
//!
//! `journal/recovery.rs` recovers a run from journals: it reconstructs the state from all of them and, for each life of
//! a worker, uses the more complete of the worker's journal and the leader's. `coordinator/replay.rs` replays that as a
//! remote backend, so an imported run is made and shown like any other; `coordinator/account.rs` adds up results for
//! both.

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

use crate::bus::Bytes;
use crate::encoding::hash_of;
use crate::protocol::{Member, News, PROTOCOL, Packet, State, Sum, WorkerId, read, written};
use crate::start_accounting::{Due, Ledger};
#[cfg(test)]
pub(crate) use compacted::CompactedTotals;
pub use encoder::{LeaderJournalEncoder, WorkerJournalEncoder};
pub use reader::JournalContents;
pub use recovery::{Cut, Recovery, put_together};
#[cfg(test)]
pub(crate) use writer::recalled;
pub use writer::{Journal, Journals, Stopped};

/// The header file of a journal.
const HEAD: &str = "head";
/// The files that take turns.
const TURNS: [&str; 2] = ["turn-1", "turn-2"];
/// The first bytes of a header.
const MAGIC: &[u8] = b"onrush journal 1\n";
/// The size at which a file is full: the other one is begun anew, with the compacted totals of its content.
const TURN_BYTES_MAX: u64 = if cfg!(test) { 64 << 10 } else { 32 << 20 };
/// The most bytes of one record: a batch of news, or a state, which is smaller.
const RECORD_BYTES_MAX: usize = 16 << 20;
/// The most bytes of a header, which has the plan.
const HEAD_BYTES_MAX: usize = plan::ENCODED_PLAN_BYTES_MAX;
/// Journals kept in a folder, per name and in total; the oldest are deleted.
const JOURNALS_KEPT: usize = 8;
const JOURNALS_MAX: usize = 64;
/// Bytes of a hash that check whether a record is what was written.
const CHECK_BYTES: usize = 16;

/// The build that wrote a journal; comes first, in a format that never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Build {
    protocol: u32,
    version: String,
}

/// The header of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Head {
    /// Whether it is the leader's journal; else a worker's.
    pub is_of_leader: bool,
    /// The id of the writer.
    pub id: WorkerId,
    /// The name of the writer.
    pub name: String,
    /// The number of the run.
    pub run: u64,
    /// The leader that began the run; together with the number it identifies the run.
    pub begun_by: u64,
    /// The name of the plan.
    pub plan: String,
    /// The plan, without the rows of its files.
    pub packet: Vec<u8>,
    /// The address of the first target, as the writer resolved it.
    pub address: String,
}

impl Head {
    /// The packet as a journal keeps it: the plan alone. `None` for an invalid packet.
    pub fn packet_of(packet: &[u8]) -> Option<Vec<u8>> {
        let packet: Packet = read(packet)?;
        Some(written(&Packet { feeds: Vec::new(), ..packet }).to_vec())
    }

    /// The identity of the run.
    fn run_key(&self) -> (u64, u64, &str) {
        (self.run, self.begun_by, &self.plan)
    }
}

/// A record of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Record {
    /// The first record of a file: how many files were begun before.
    Begins(u64),
    /// Compacted earlier reports of a worker incarnation: as it kept them, or as they were received.
    Before {
        /// Whether they were received, in batches; else they are what the worker kept.
        is_received: bool,
        /// The compacted reports.
        sum: Sum,
    },
    /// A report of a worker.
    News {
        /// The incarnation of the worker.
        incarnation: u32,
        /// The number of earlier reports of this incarnation.
        index: u64,
        /// Time since the start of the run.
        at: Nanos,
        /// The report.
        news: News,
    },
    /// A batch that the leader read.
    Batch {
        /// Its position in the stream.
        place: u64,
        /// A [`crate::protocol::Batch`].
        bytes: Bytes,
    },
    /// When the run started by the wall clock of the writer, since the Unix epoch.
    Started(Nanos),
    /// The state, as the writer knew it.
    State(State),
    /// A participant.
    Who {
        /// The member.
        member: Member,
        /// Its name.
        name: String,
        /// Its shortest round trip to the leader, as it reported.
        round_trip: Option<Nanos>,
    },
    /// A member was declared lost; it may have gone on until then, counted from the beginning of the measured load.
    Lost {
        /// The member.
        member: Member,
        /// Until then.
        until: Nanos,
    },
}

/// Why a journal cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// An I/O error of the system.
    #[error("{}: {reason}", path.display())]
    Io {
        /// The file, or the folder.
        path: PathBuf,
        /// The error.
        reason: std::io::Error,
    },
    /// The folder is no journal.
    #[error("{} is not a journal: a folder with the files head, turn-1 and turn-2, written by a worker or a leader", path.display())]
    NotOne {
        /// The folder.
        path: PathBuf,
    },
    /// The header is damaged.
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
        /// The version of that build.
        version: String,
    },
    /// Two journals are of different runs.
    #[error("{} and {} are of different runs", one.display(), other.display())]
    OtherRun {
        /// The folder of one.
        one: PathBuf,
        /// The folder of the other.
        other: PathBuf,
    },
    /// No journal has a state.
    #[error("the journals do not say what was to be done: they are empty or damaged")]
    Nothing,
}

impl Record {
    /// The run has started, or will, at this instant of a clock.
    pub fn started(at: Nanos, now: Nanos) -> Self {
        Self::Started((Nanos::from(now_unix()) + at.since(now)).since(now.since(at)))
    }
}

/// The time of day, since the Unix epoch.
fn now_unix() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

/// Opens a regular file: to open anything else may block for ever.
fn opened(path: &Path) -> Option<File> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    File::open(path).ok()
}

/// The file format of a value: its length, a check, and the value.
fn framed<T: Serialize>(value: &T) -> Vec<u8> {
    let payload = written(value);
    let mut bytes = Vec::with_capacity(payload.len() + 4 + CHECK_BYTES);
    bytes.extend_from_slice(&u32::try_from(payload.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend_from_slice(&hash_of(&payload).as_bytes()[..CHECK_BYTES]);
    bytes.extend_from_slice(&payload);
    bytes
}

/// The first value and the remaining bytes; `None` when the check fails or the value is truncated.
fn unframed<T: DeserializeOwned>(bytes: &[u8], most: usize) -> Option<(T, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (check, rest) = rest.split_at_checked(CHECK_BYTES)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok().filter(|length| *length <= most)?;
    let (payload, rest) = rest.split_at_checked(length)?;
    (&hash_of(payload).as_bytes()[..CHECK_BYTES] == check).then_some(())?;
    Some((read(payload)?, rest))
}

/// The bytes of the header file.
fn head_bytes(head: &Head, version: &str) -> Vec<u8> {
    let build = Build { protocol: PROTOCOL, version: version.to_owned() };
    [MAGIC, &framed(&build), &framed(head)].concat()
}

/// The result of reading a header: the header, or the build that wrote it.
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

/// The records of a file, up to the first incomplete one.
fn records_of(bytes: &[u8]) -> Vec<Record> {
    each_of(bytes).collect()
}

/// The records before the news of a file.
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

/// Reads any bytes as a journal, for fuzzers: of a worker and of a leader.
pub fn read_any(bytes: &[u8]) {
    let _ = (matches!(head_of(bytes), HeadRead::Ours(_)), records_of(bytes).len());
    let Some(records) = read::<Vec<Record>>(bytes) else { return };
    let journal = |is_of_leader: bool| {
        let (id, name, plan, address) = (1, String::new(), String::new(), String::new());
        let head = Head { is_of_leader, id, name, run: 0, begun_by: 0, plan, packet: Vec::new(), address };
        JournalContents::new(PathBuf::new(), head, [records.clone(), Vec::new()])
    };
    for journals in [vec![journal(true)], vec![journal(false)], vec![journal(true), journal(false)]] {
        let Ok(recovery) = put_together(journals) else { continue };
        let mut ledger = Ledger::default();
        recovery.news.iter().for_each(|(_, member, news)| ledger.news(*member, news));
        recovery.losses.iter().for_each(|(member, until)| ledger.lost(*member, *until));
        let _ = ledger.balance(&recovery.state, (Nanos::from_millis(60_000), Nanos::NEVER), &Nothing);
    }
}

/// A load without starts.
struct Nothing;

impl Due for Nothing {
    fn count(&self, _: &Segment, _: Nanos, _: Nanos) -> u64 {
        0
    }

    fn with_late_changes(&self, _: &[(u32, Nanos)]) -> Box<dyn Due + '_> {
        Box::new(Self)
    }
}
