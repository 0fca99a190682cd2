//! A journal writer, on a thread of its own: no other thread waits for a disk.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use super::compacted::CompactedTotals;
use super::{
    HEAD, Head, JOURNALS_KEPT, JOURNALS_MAX, JournalError, MAGIC, Record, TURN_BYTES_MAX, TURNS, framed, head_bytes,
    head_records_of, now_unix, opened, records_of,
};
use crate::protocol::{Checkpoint, Draft, Member};

/// Records that may wait for the disk. With more, the disk is too slow, and the journal is abandoned.
const WAITING_MAX: usize = if cfg!(test) { 65_536 } else { 8_192 };
/// Files begun from one checkpoint to the next: a fraction of what a stream keeps.
const CHECKPOINT_TURNS: u64 = 4;
/// The file that will be the next of those that take turns.
const NEXT: &str = "next";
/// How long ending a journal waits for the disk.
const ENDS_WITHIN: Duration = Duration::from_secs(1);
/// The highest suffix of journals with the same name and second.
const SAME_NAME_MAX: u32 = 10_000;
/// The most characters of a name in the name of a folder.
const NAME_CHARS_MAX: usize = 40;

/// Why a journal stopped being written.
#[derive(Debug)]
pub enum Stopped {
    /// This error.
    Failed(JournalError),
    /// The disk does not keep up.
    TooSlow(PathBuf),
}

impl Stopped {
    /// The path of the journal and the error of the system; `None`: the disk does not keep up.
    pub fn reported(&self) -> (String, Option<String>) {
        match self {
            Self::Failed(JournalError::Io { path, reason }) => (path.display().to_string(), Some(reason.to_string())),
            Self::Failed(error) => (String::new(), Some(error.to_string())),
            Self::TooSlow(path) => (path.display().to_string(), None),
        }
    }
}

/// The folder of journals, and their naming.
#[derive(Clone)]
pub struct Journals {
    /// The parent folder.
    pub home: PathBuf,
    /// The version of onrush.
    pub version: String,
    /// The prefix of a journal's name, from its time since the Unix epoch.
    pub stamp: fn(Duration) -> String,
}

impl std::fmt::Debug for Journals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Rings").field(&self.home).finish()
    }
}

/// A task for the writer.
enum JournalTask {
    Keep(Box<Record>),
    /// Begins with the checkpoint of a taken-over run.
    Recall(Arc<Checkpoint>),
    /// Merges what was received by now.
    Draft,
}

/// A journal that is being written. It ends when it is dropped.
#[derive(Debug)]
pub struct Journal {
    works: Option<SyncSender<JournalTask>>,
    ended: Receiver<()>,
    is_late: bool,
    home: PathBuf,
}

impl Journal {
    /// Begins a journal. `complain` is called once, on some thread, when it is abandoned.
    pub fn begin(journals: &Journals, head: Head, complain: impl Fn(Stopped) + Send + 'static) -> Self {
        Self::begin_with_drafts(journals, head, complain, drop)
    }

    /// Begins a leader's journal. `put` receives merged results now and then.
    pub fn begin_with_drafts(
        journals: &Journals,
        head: Head,
        complain: impl Fn(Stopped) + Send + 'static,
        put: impl Fn(Draft) + Send + 'static,
    ) -> Self {
        let (works, taken) = sync_channel(WAITING_MAX);
        let (done, ended) = sync_channel(1);
        let own = journals.clone();
        let write = move || {
            if let Err(error) = write(&own, &head, &taken, put) {
                complain(Stopped::Failed(error));
            }
            let _ = done.send(());
        };
        // Without a thread no records are taken, and no caller waits for it.
        let _ = std::thread::Builder::new().name("journal".to_owned()).spawn(write);
        Self { works: Some(works), ended, is_late: false, home: journals.home.clone() }
    }

    /// Adds a record. Returns an error once when the disk is too slow; nothing more is kept then.
    pub fn keep(&mut self, record: Record) -> Result<(), Stopped> {
        self.put(JournalTask::Keep(Box::new(record)))
    }

    fn put(&mut self, work: JournalTask) -> Result<(), Stopped> {
        match self.works.as_ref().map(|works| works.try_send(work)) {
            Some(Err(TrySendError::Full(_))) => {
                self.works = None;
                self.is_late = true;
                Err(Stopped::TooSlow(self.home.clone()))
            }
            // An abandoned journal has already reported that.
            _ => Ok(()),
        }
    }

    /// Adds the checkpoint that a taken-over run begins with.
    pub fn recall(&mut self, checkpoint: Arc<Checkpoint>) -> Result<(), Stopped> {
        self.put(JournalTask::Recall(checkpoint))
    }

    /// Requests a merge of what was received by now. Returns whether one will be made.
    pub fn draft(&self) -> bool {
        self.works.as_ref().is_some_and(|works| works.try_send(JournalTask::Draft).is_ok())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.works = None;
        if !self.is_late {
            let _ = self.ended.recv_timeout(ENDS_WITHIN);
        }
    }
}

/// The facts that a new file repeats first, as last known.
#[derive(Default)]
struct Facts {
    /// The last whole state, and the last one that each worker incarnation saw.
    states: HashMap<Option<Member>, Record>,
    who: HashMap<Member, Record>,
    lost: HashMap<Member, Record>,
    started: Option<Record>,
}

impl Facts {
    fn learn(&mut self, record: &Record) {
        match record {
            Record::Started(_) => self.started = Some(record.clone()),
            Record::State(state) => drop(self.states.insert(state.seen_of(), record.clone())),
            Record::Who { member, .. } => drop(self.who.insert(*member, record.clone())),
            Record::Lost { member, .. } => drop(self.lost.insert(*member, record.clone())),
            Record::Begins(_) | Record::Before { .. } | Record::Batch { .. } | Record::News { .. } => {}
        }
    }

    fn all(&self) -> impl Iterator<Item = &Record> {
        self.started.iter().chain(self.states.values()).chain(self.who.values()).chain(self.lost.values())
    }
}

/// A file of a journal that is being written.
struct FileTurn {
    file: File,
    path: PathBuf,
    bytes: u64,
    /// The size at which it is full.
    most: u64,
}

impl FileTurn {
    /// Begins one of the two files anew: its content is kept as sums.
    fn begin(
        folder: &Path,
        count: u64,
        (facts, head): (&Facts, &Head),
    ) -> Result<(Self, CompactedTotals), JournalError> {
        let path = folder.join(TURNS[(count % 2) as usize]);
        // The first two do not exist yet.
        let old = fs::read(&path).unwrap_or_default();
        let other = fs::read(folder.join(TURNS[((count + 1) % 2) as usize])).unwrap_or_default();
        let mut sums = CompactedTotals::default();
        if !old.is_empty() {
            sums.add(head, head_records_of(&other));
            sums.add(head, records_of(&old));
        }
        // It replaces the old file once the sums are in it: a process killed meanwhile has lost nothing.
        let next = folder.join(NEXT);
        let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&next);
        let file = opened.map_err(|reason| JournalError::Io { path: next.clone(), reason })?;
        let mut turn = Self { file, path, bytes: 0, most: TURN_BYTES_MAX };
        turn.write(&Record::Begins(count))?;
        facts.all().try_for_each(|record| turn.write(record))?;
        sums.records().try_for_each(|record| turn.write(&record))?;
        fs::rename(&next, &turn.path).map_err(|reason| JournalError::Io { path: next, reason })?;
        // However much the sums take, there is room for more.
        turn.most = TURN_BYTES_MAX.max(turn.bytes + TURN_BYTES_MAX / 2);
        Ok((turn, sums))
    }

    fn write(&mut self, record: &Record) -> Result<(), JournalError> {
        let bytes = framed(record);
        self.bytes += bytes.len() as u64;
        self.file.write_all(&bytes).map_err(|reason| JournalError::Io { path: self.path.clone(), reason })
    }
}

fn write(
    journals: &Journals,
    head: &Head,
    taken: &Receiver<JournalTask>,
    put: impl Fn(Draft),
) -> Result<(), JournalError> {
    let (folder, _lock) = folder_for(journals, head)?;
    let (mut facts, mut count, mut has_hole) = (Facts::default(), 0, false);
    let (mut turn, _) = FileTurn::begin(&folder, count, (&facts, head))?;
    let put = |sums: &CompactedTotals| {
        sums.checkpoint(head.run).iter().for_each(|checkpoint| put(Draft::from_checkpoint(checkpoint)))
    };
    for work in taken {
        let record = match work {
            JournalTask::Keep(record) => record,
            JournalTask::Recall(checkpoint) => {
                recalled(&checkpoint).try_for_each(|record| turn.write(&record))?;
                continue;
            }
            JournalTask::Draft => {
                let mut sums = sums_of(&folder, count, head);
                sums.has_hole |= has_hole;
                put(&sums);
                continue;
            }
        };
        facts.learn(&record);
        if turn.bytes >= turn.most {
            count += 1;
            let (next, mut sums) = FileTurn::begin(&folder, count, (&facts, head))?;
            turn = next;
            sums.has_hole |= has_hole;
            has_hole = sums.has_hole;
            if head.is_of_leader && count.is_multiple_of(CHECKPOINT_TURNS) {
                put(&sums);
            }
        }
        turn.write(&record)?;
    }
    Ok(())
}

/// The records of the checkpoint that a taken-over run begins with.
pub(crate) fn recalled(checkpoint: &Checkpoint) -> impl Iterator<Item = Record> {
    checkpoint.sums.iter().map(|sum| Record::Before { is_received: true, sum: sum.clone() })
}

/// The totals of a journal; `count` files were begun before the last one.
fn sums_of(folder: &Path, count: u64, head: &Head) -> CompactedTotals {
    let read = |number: u64| fs::read(folder.join(TURNS[(number % 2) as usize])).unwrap_or_default();
    let (last, other) = (read(count), read(count + 1));
    let mut sums = CompactedTotals::default();
    // The last file has the totals of what was before the other one.
    sums.add(head, head_records_of(&last));
    sums.add(head, records_of(&other));
    sums.add(head, records_of(&last));
    sums
}

/// A new folder with its header, unique to this process. It is locked while it is written.
fn folder_for(journals: &Journals, head: &Head) -> Result<(PathBuf, File), JournalError> {
    let home = &journals.home;
    let wrong = |path: &Path| {
        let path = path.to_owned();
        move |reason| JournalError::Io { path, reason }
    };
    DirBuilder::new().recursive(true).mode(0o700).create(home).map_err(wrong(home))?;
    make_room(home);
    let is_plain = |sign: &char| sign.is_alphanumeric() || "-_.".contains(*sign);
    let name: String = head.name.chars().filter(is_plain).take(NAME_CHARS_MAX).collect();
    // The id distinguishes journals of the same name from several machines, also in one folder.
    let whose = format!("{}-{:08x}", if head.is_of_leader { "leader" } else { &name }, head.id as u32);
    let stamp = (journals.stamp)(now_unix());
    for number in 1..SAME_NAME_MAX {
        let end = if number == 1 { String::new() } else { format!(".{number}") };
        let folder = home.join(format!("{stamp}-{whose}{end}"));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Ok(()) => {
                let path = folder.join(HEAD);
                let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
                let mut file = opened.map_err(wrong(&path))?;
                // Some filesystems have no locks: then it is not visible that the journal is being written.
                let _ = file.try_lock();
                if let Err(reason) = file.write_all(&head_bytes(head, &journals.version)) {
                    // A journal without a header is of no use.
                    let _ = fs::remove_dir_all(&folder);
                    return Err(wrong(&path)(reason));
                }
                return Ok((folder, file));
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(wrong(&folder)(error)),
        }
    }
    Err(wrong(home)(ErrorKind::AlreadyExists.into()))
}

/// Deletes the oldest journals that are not being written: per name, and in total.
fn make_room(home: &Path) {
    let entries = fs::read_dir(home).into_iter().flatten().filter_map(Result::ok);
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_journal(path)).collect();
    // Their names sort by time.
    all.sort();
    let is_free = |path: &PathBuf| File::open(path.join(HEAD)).is_ok_and(|head| head.try_lock().is_ok());
    let mut free: Vec<PathBuf> = all.into_iter().filter(is_free).collect();
    let mut of_names: HashMap<String, usize> = HashMap::new();
    for path in std::mem::take(&mut free).into_iter().rev() {
        let count = of_names.entry(name_of(&path)).or_default();
        *count += 1;
        if *count >= JOURNALS_KEPT || free.len() + 1 >= JOURNALS_MAX {
            let _ = fs::remove_dir_all(path);
        } else {
            free.push(path);
        }
    }
}

fn is_journal(path: &Path) -> bool {
    let mut first = [0; MAGIC.len()];
    opened(&path.join(HEAD)).is_some_and(|mut head| head.read_exact(&mut first).is_ok() && first == *MAGIC)
}

/// The name of a journal's writer, from the folder name: what is between its time and the id of the writer.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name: Vec<&str> = name.split('-').collect();
    name[2.min(name.len())..name.len().saturating_sub(1).max(2.min(name.len()))].join("-")
}
