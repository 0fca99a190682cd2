//! Journals on a disk: cut off anywhere, full, many of them, of several runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::channel;

use proptest::prelude::*;

use super::*;
use crate::encoding::{snapshots_of_bytes, snapshots_to_bytes};
use crate::protocol::{Checkpoint, Draft, Mark, Row, SlotGrant, Sum};
use claims::wait_for;

const OF_TWO: [u64; 2] = [7, 8];

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("onrush-ring-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    fn journals(&self) -> Journals {
        Journals { home: self.0.clone(), version: "1".to_owned(), stamp: |_| "20260101-000000".to_owned() }
    }

    fn all(&self) -> Vec<PathBuf> {
        let mut all: Vec<_> =
            fs::read_dir(&self.0).expect("it works").map(|entry| entry.expect("it works").path()).collect();
        all.sort();
        all
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn head(id: u64, run: u64) -> Head {
    Head {
        is_of_leader: false,
        id,
        name: format!("worker {id}/../x"),
        run,
        begun_by: 5,
        plan: "plan".to_owned(),
        packet: vec![1; 100],
        address: "127.0.0.1:80".to_owned(),
    }
}

fn member(id: u64) -> Member {
    Member { id, incarnation: 0 }
}

/// Both have half of it from the start.
fn state() -> State {
    let moves = (0..4_096).map(|slot| (slot, slot % 2)).collect();
    let members = OF_TWO.map(member).to_vec();
    let slot_grants = vec![SlotGrant { from: None, moves, is_granted: true }];
    State { run: 3, begun_by: 5, epoch: 1, revision: 1, members, slot_grants, ..State::nothing() }
}

fn row(index: u64) -> Record {
    let reported_until = Nanos::from_millis(1_000 * index);
    let row = Row {
        part: 0,
        number: index,
        first: index,
        upto: index,
        reported_until,
        behind: 0,
        seen: vec![vec![index as u8; 300]],
    };
    Record::News { incarnation: 0, index, at: reported_until, news: News::Row(row) }
}

fn gone(index: u64) -> Record {
    Record::News { incarnation: 0, index, at: Nanos::from_millis(1_000 * index), news: News::Gone { is_over: true } }
}

/// Writes a journal of one of the two, and returns its folder.
fn written_journal(folder: &Folder, id: u64, records: Vec<Record>) -> PathBuf {
    let (before, ended_before) = (fs::read_dir(&folder.0).map_or(0, Iterator::count), ended(folder, id));
    let mut journal = Journal::begin(&folder.journals(), head(id, 3), |stopped| panic!("{stopped:?}"));
    for record in records {
        journal.keep(record).expect("the disk keeps up");
    }
    drop(journal);
    wait_for("its end", || ended(folder, id) > ended_before);
    assert_eq!(folder.all().len(), before + 1);
    folder
        .all()
        .into_iter()
        .find(|path| JournalContents::read(path).is_ok_and(|kept| kept.head.id == id))
        .expect("it is there")
}

/// The journals of a member that are written to their end: that does not wait for a slow disk.
fn ended(folder: &Folder, id: u64) -> usize {
    let all = fs::read_dir(&folder.0).into_iter().flatten().flatten();
    all.filter_map(|entry| JournalContents::read(&entry.path()).ok())
        .filter(|kept| kept.head.id == id && !kept.is_going_on)
        .count()
}

fn worker_records(id: u64, news: impl Iterator<Item = Record>) -> Vec<Record> {
    let number = OF_TWO.iter().position(|one| *one == id).map(|place| place as u16);
    let who = Record::Who { member: member(id), name: format!("w{id}"), round_trip: Some(Nanos(2_000)) };
    [who, Record::State(state().seen_by(number)), Record::Started(Nanos(77))].into_iter().chain(news).collect()
}

fn put(paths: &[PathBuf]) -> Result<Recovery, JournalError> {
    put_together(paths.iter().map(|path| JournalContents::read(path)).collect::<Result<_, _>>()?)
}

fn reported_by(recovery: &Recovery, number: u16) -> usize {
    recovery.news.iter().filter(|(_, of, _)| *of == number).count()
}

#[test]
fn two_journals_are_a_run() {
    let folder = Folder::new("two");
    let all = OF_TWO.map(|id| written_journal(&folder, id, worker_records(id, (0..5).map(row).chain([gone(5)]))));
    let recovery = put(&all).expect("it works");
    assert_eq!((recovery.cuts, recovery.losses, recovery.started_unix), (vec![], vec![], Some(Nanos(77))));
    assert_eq!(recovery.state.owners(1), state().owners(1));
    let names: Vec<_> = recovery.names.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, recovery.news.len()), (vec!["w7", "w8"], 12));
    // One of them alone: the other half has an unknown owner.
    let recovery = put(&all[..1]).expect("it works");
    assert_eq!(recovery.cuts, [Cut::Missing { name: String::new() }]);
    assert_eq!(recovery.losses, [(1, Nanos::NEVER)]);
    assert_eq!(recovery.state.owners(1), state().owners(1));
    // The same journal twice adds nothing.
    assert_eq!(put(&[all[0].clone(), all[0].clone(), all[1].clone()]).expect("it works").news.len(), 12);
    for path in all.iter().flat_map(|path| [path.clone(), path.join(HEAD), path.join(TURNS[0])]) {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(&path).expect("it works").permissions().mode() & 0o077;
        assert_eq!(mode, 0, "{} is for nobody else", path.display());
    }
}

/// Whatever is missing at the end, the records before it count.
#[test]
fn a_journal_may_be_cut_off_anywhere() {
    let folder = Folder::new("cut");
    let journal = written_journal(&folder, 7, worker_records(7, (0..4).map(row).chain([gone(4)])));
    let whole = fs::read(journal.join(TURNS[0])).expect("it works");
    let mut last = 0;
    for length in 0..whole.len() {
        fs::write(journal.join(TURNS[0]), &whole[..length]).expect("it works");
        match put(std::slice::from_ref(&journal)) {
            Err(error) => assert!(matches!(error, JournalError::Nothing) && last == 0, "{length}: {error}"),
            Ok(recovery) => {
                let reported = reported_by(&recovery, 0);
                assert!(reported == last || reported == last + 1, "{length}: {reported} after {last}");
                assert!(recovery.cuts.len() == 2, "{length}: {:?}", recovery.cuts);
                last = reported;
            }
        }
    }
    assert_eq!(last, 4);
    // A corrupted byte: neither it nor anything after it is used.
    for place in (0..whole.len()).step_by(7) {
        let mut damaged = whole.clone();
        damaged[place] ^= 1;
        fs::write(journal.join(TURNS[0]), &damaged).expect("it works");
        let reported = put(std::slice::from_ref(&journal)).map_or(0, |recovery| reported_by(&recovery, 0));
        assert!(reported < 5, "{place}");
    }
    let bytes = fs::read(journal.join(HEAD)).expect("it works");
    for length in 0..bytes.len() {
        fs::write(journal.join(HEAD), &bytes[..length]).expect("it works");
        let error = JournalContents::read(&journal).expect_err("it is refused");
        assert!(matches!(error, JournalError::NotOne { .. } | JournalError::Damaged { .. }), "{length}: {error}");
    }
}

/// A row of one request with this time; the number identifies it.
fn real_row(index: u64) -> News {
    let mut seen = metrics::Snapshot::default();
    seen.lag.record(index);
    let reported_until = Nanos::from_millis(1_000 * index);
    News::Row(Row {
        part: 0,
        number: index,
        first: index,
        upto: index,
        reported_until,
        behind: index % 7,
        seen: snapshots_to_bytes([&seen]),
    })
}

/// The number of rows, their merged content, and until when they report and what is behind then.
fn rows_of(recovery: &Recovery) -> (usize, metrics::Distribution, (Nanos, u64)) {
    let (mut count, mut lag, mut last) = (0, metrics::Distribution::default(), (Nanos::ZERO, 0));
    for (_, _, news) in &recovery.news {
        if let News::Row(row) = news {
            let seen = snapshots_of_bytes(&row.seen, 1).expect("it is one");
            lag.merge(&seen[0].lag);
            (count, last) = (count + 1, last.max((row.reported_until, row.behind)));
        }
    }
    (count, lag, last)
}

/// A journal never grows beyond its bound: the sums of old reports stay, to the last bucket.
#[test]
fn a_full_journal_keeps_the_sums() {
    let folder = Folder::new("full");
    let count = 20_000;
    let began = News::Began { part: 0, slot_grant: 0, slots: (0..9).collect(), from: None, late: Nanos::ZERO };
    let own = |index, news| Record::News { incarnation: 0, index, at: Nanos::from_millis(1_000 * index), news };
    let all = std::iter::once(own(0, began.clone()));
    let all = all.chain((1..count).map(|index| own(index, real_row(index)))).chain([gone(count)]);
    let mut meant = metrics::Distribution::default();
    (1..count).for_each(|index| meant.record(index));
    let journal = written_journal(&folder, 7, worker_records(7, all));
    let bytes: u64 = TURNS.iter().map(|name| fs::metadata(journal.join(name)).expect("it is there").len()).sum();
    assert!(bytes <= 2 * TURN_BYTES_MAX + 8_192 && bytes > TURN_BYTES_MAX, "{bytes}");
    let recovery = put(&[journal]).expect("it works");
    assert_eq!(recovery.cuts, [Cut::Missing { name: String::new() }], "nothing of it is missing");
    let (rows, lag, last) = rows_of(&recovery);
    assert!(rows < 3_000, "{rows} of {count}");
    assert_eq!((lag, last), (meant.clone(), (Nanos::from_millis(1_000 * (count - 1)), (count - 1) % 7)));
    assert_eq!(recovery.news.iter().filter(|(.., news)| *news == began).count(), 1);
    // The identity and the state are there all the same.
    assert_eq!((recovery.names[0].0.as_str(), recovery.started_unix), ("w7", Some(Nanos(77))));
    // The same for received reports.
    let batch = |number: u64| {
        let (run, id, incarnation, revision, sent_at) = (3, 7, 0, 1, Nanos::from_millis(1_000 * number));
        let news = vec![if number == 1 { began.clone() } else { real_row(number - 1) }];
        let bytes = written(&crate::protocol::Batch { run, id, incarnation, number, revision, sent_at, news });
        Record::Batch { place: number, bytes }
    };
    // A leader that takes the run over begins with a checkpoint, and has the same totals.
    let mut before: Option<Checkpoint> = None;
    for who in 1..3 {
        let head = Head { is_of_leader: true, ..head(who, 3) };
        let (put_draft, drafts) = channel();
        let put_draft = move |draft| put_draft.send(draft).expect("somebody waits");
        let mut leads =
            Journal::begin_with_drafts(&folder.journals(), head, |stopped| panic!("{stopped:?}"), put_draft);
        leads.keep(Record::State(state())).expect("the disk keeps up");
        let from = before.as_ref().map_or(1, |before| before.upto + 1);
        if let Some(before) = &before {
            leads.recall(Arc::new(before.clone())).expect("the disk keeps up");
        }
        for number in from..=count {
            leads.keep(batch(number)).expect("the disk keeps up");
        }
        assert!(leads.draft());
        drop(leads);
        wait_for("its end", || ended(&folder, who) == 1);
        let is_its_own = |path: &PathBuf| {
            JournalContents::read(path).is_ok_and(|kept| (kept.head.is_of_leader, kept.head.id) == (true, who))
        };
        let recovery = put(&[folder.all().into_iter().find(is_its_own).expect("it is there")]).expect("it works");
        let (rows, lag, _) = rows_of(&recovery);
        assert!(rows < 3_000 && lag == meant, "{rows} of {count}");
        let drafts: Vec<Draft> = drafts.try_iter().collect();
        if who == 1 {
            assert!(drafts.len() > 3 && drafts.is_sorted_by_key(|draft| draft.upto), "{}", drafts.len());
            assert_eq!(drafts.last().map(|draft| draft.upto), Some(count), "what was asked for has all");
            let early = &drafts[drafts.len() / 2];
            let mark = Mark::new(early, 1, 1);
            assert!(mark.read(&early.object[1..]).is_none() && mark.read(&drafts[0].object).is_none());
            before = mark.read(&early.object);
            let sums = &before.as_ref().expect("it is one").sums;
            assert_eq!((sums.len(), sums[0].upto), (1, early.upto + 1));
        }
    }
}

/// An incomplete checkpoint is never used.
#[test]
fn a_hole_is_in_no_checkpoint() {
    let batch = |number: u64, run: u64| {
        let (id, incarnation, revision, sent_at) = (7, 0, 1, Nanos::ZERO);
        let news = vec![News::Gone { is_over: true }];
        let bytes = written(&crate::protocol::Batch { run, id, incarnation, number, revision, sent_at, news });
        Record::Batch { place: 10 * number, bytes }
    };
    let of = |numbers: &[u64]| {
        let mut sums = CompactedTotals::default();
        // A batch of another run is left out.
        let other = batch(9, 2);
        sums.add(&head(1, 3), numbers.iter().map(|number| batch(*number, 3)).chain([other]).collect());
        sums.checkpoint(3).map(|checkpoint| (checkpoint.upto, checkpoint.sums[0].upto))
    };
    assert_eq!([of(&[1, 2, 2, 3]), of(&[1, 3]), of(&[2]), of(&[])], [Some((90, 4)), None, None, None]);
    // Journals of two leaders: the first ends in the middle of the second one's earlier data.
    let kept = |who: u64, records: Vec<Record>| {
        let head = Head { is_of_leader: true, ..head(who, 3) };
        let records = [Record::State(state())].into_iter().chain(records).collect();
        JournalContents::new(who.to_string().into(), head, [records, Vec::new()])
    };
    let sum = Sum { member: member(7), upto: 6, at: Nanos::ZERO, news: vec![News::Gone { is_over: true }; 5] };
    let other = [Record::Before { is_received: true, sum }].into_iter().chain((6..9).map(|number| batch(number, 3)));
    let all = vec![kept(1, (1..4).map(|number| batch(number, 3)).collect()), kept(2, other.collect())];
    assert_eq!(reported_by(&put_together(all).expect("it works"), 0), 8);
}

/// A hole is detected, and reports after it do not count.
#[test]
fn a_hole_is_known() {
    let folder = Folder::new("hole");
    let journal = written_journal(&folder, 7, worker_records(7, (0..5).chain(6..9).map(row)));
    let recovery = put(&[journal]).expect("it works");
    assert_eq!(recovery.cuts[0], Cut::Hole { name: "w7".to_owned() });
    assert_eq!((recovery.news.len(), recovery.losses.len()), (5, 2));
}

/// The leader received all reports from the start, and the worker's own journal has fewer.
#[test]
fn the_better_of_two_counts() {
    let batch = |number: u64| {
        let news = match row(number) {
            Record::News { news, .. } => vec![news],
            _ => Vec::new(),
        };
        let (run, id, incarnation, revision) = (3, 7, 0, 1);
        let sent_at = Nanos::from_millis(1_000 * number);
        let bytes = written(&crate::protocol::Batch { run, id, incarnation, number, revision, sent_at, news });
        Record::Batch { place: number, bytes }
    };
    let leader = |count: u64| {
        let lost = Record::Lost { member: member(7), until: Nanos(9) };
        let batches = (1..=count).map(batch);
        let records = [Record::State(state()), Record::Started(Nanos(5))].into_iter().chain(batches).chain([lost]);
        let head = Head { is_of_leader: true, ..head(1, 3) };
        JournalContents::new("leader".into(), head, [records.collect(), Vec::new()])
    };
    let own = |news: Vec<Record>| {
        JournalContents::new("w".into(), head(7, 3), [worker_records(7, news.into_iter()), Vec::new()])
    };
    let reported = |all: Vec<JournalContents>| {
        let recovery = put_together(all).expect("it works");
        (reported_by(&recovery, 0), recovery.losses[0], recovery.started_unix)
    };
    assert_eq!(reported(vec![own((0..3).map(row).collect()), leader(9)]), (9, (0, Nanos(9)), Some(Nanos(5))));
    assert_eq!(reported(vec![own((0..30).map(row).collect()), leader(9)]).0, 30);
    assert_eq!(reported(vec![own((0..3).map(row).chain([gone(3)]).collect()), leader(9)]).0, 4);
    // Reports after a hole do not count, and still rank above none.
    assert_eq!(reported(vec![own((5..30).map(row).collect()), leader(2)]).0, 2);
}

#[test]
fn journals_of_other_runs_and_builds_are_refused() {
    let folder = Folder::new("other");
    let one = written_journal(&folder, 7, worker_records(7, [gone(0)].into_iter()));
    let mut other = JournalContents::read(&one).expect("it works");
    other.head.run = 4;
    let error = put_together(vec![JournalContents::read(&one).expect("it works"), other]).expect_err("it is refused");
    assert!(matches!(error, JournalError::OtherRun { .. }), "{error}");
    let build = Build { protocol: PROTOCOL + 1, version: "2".to_owned() };
    fs::write(one.join(HEAD), [MAGIC, &framed(&build), b"whatever"].concat()).expect("it works");
    assert!(matches!(JournalContents::read(&one), Err(JournalError::Foreign { version, .. }) if version == "2"));
    assert!(matches!(JournalContents::read(&folder.0), Err(JournalError::NotOne { .. })));
    // A pipe without a writer: opening it would block.
    let pipe = folder.0.join("pipe");
    fs::create_dir(&pipe).expect("it works");
    let made = std::process::Command::new("mkfifo").arg(pipe.join(HEAD)).status().expect("mkfifo starts");
    assert!(made.success() && matches!(JournalContents::read(&pipe), Err(JournalError::NotOne { .. })));
    assert!(matches!(JournalContents::read(&one.join(HEAD)), Err(JournalError::NotOne { .. })));
    assert!(matches!(JournalContents::read(Path::new("/nowhere/at/all")), Err(JournalError::Io { .. })));
}

/// The oldest journals are deleted, but none that is being written, and no other files.
#[test]
fn old_journals_make_room() {
    let folder = Folder::new("room");
    fs::create_dir_all(folder.0.join("0-photos")).expect("it works");
    let going = Journal::begin(&folder.journals(), head(1, 1), |stopped| panic!("{stopped:?}"));
    wait_for("the first ring", || folder.all().iter().any(|path| path.join(HEAD).exists()));
    let first = folder.all().into_iter().find(|path| path.join(HEAD).exists()).expect("it works");
    for run in 0..20 {
        drop(Journal::begin(&folder.journals(), head(2, run), |stopped| panic!("{stopped:?}")));
        // A slow disk is not waited for when a journal ends.
        let is_last = |path: &PathBuf| JournalContents::read(path).is_ok_and(|kept| kept.head.run == run);
        wait_for("its end", || folder.all().iter().any(|path| is_last(path) && !is_going_on(path)));
    }
    assert_eq!(folder.all().len(), JOURNALS_KEPT + 2);
    assert!(is_going_on(&first));
    drop(going);
    wait_for("the end of the first", || !is_going_on(&first));
}

fn is_going_on(folder: &Path) -> bool {
    JournalContents::read(folder).expect("it works").is_going_on
}

/// A path that cannot be written is reported once, and does not stop the run.
#[test]
fn a_disk_that_refuses_is_reported() {
    let (said, received) = channel();
    let journals = Journals { home: "/proc/nowhere".into(), ..Folder::new("refused").journals() };
    let mut journal =
        Journal::begin(&journals, head(7, 3), move |stopped| said.send(stopped.reported()).expect("it works"));
    (0..20).for_each(|index| journal.keep(row(index)).expect("it works"));
    drop(journal);
    let reported: Vec<_> = received.iter().collect();
    assert!(reported.len() == 1 && reported[0].0.contains("/proc/nowhere") && reported[0].1.is_some(), "{reported:?}");
}

proptest! {
    /// The states that each participant sees are merged to the whole state.
    #[test]
    fn what_is_to_be_done_is_put_together(
        first in prop::collection::vec(0u16..4, 4_096),
        later in prop::collection::vec(prop::collection::vec((0u16..4_096, 0u16..4), 0..200), 0..4),
    ) {
        let members: Vec<Member> = (0..4).map(|id| Member { id: 100 + id, incarnation: 1 }).collect();
        let first = first.into_iter().enumerate().map(|(slot, to)| (slot as u16, to)).collect();
        let slot_grants = std::iter::once(first).chain(later);
        let slot_grants = slot_grants.map(|moves: Vec<(u16, u16)>| {
            let moves = moves.into_iter().collect::<std::collections::BTreeMap<_, _>>().into_iter().collect();
            SlotGrant { from: None, moves, is_granted: true }
        });
        let full = State { run: 3, begun_by: 5, members, slot_grants: slot_grants.collect(), ..State::nothing() };
        let journals = (0..4).map(|number| {
            let records = vec![Record::State(full.seen_by(Some(number)))];
            JournalContents::new(PathBuf::new(), head(100 + u64::from(number), 3), [records, Vec::new()])
        });
        let recovery = put_together(journals.collect()).expect("it works");
        let identity = |state: &State, slot_grants: usize| -> Vec<u64> {
            state.owners(slot_grants).into_iter().map(|to| state.members[usize::from(to)].id).collect()
        };
        for slot_grants in 1..=full.slot_grants.len() {
            prop_assert_eq!(identity(&recovery.state, slot_grants), identity(&full, slot_grants));
        }
    }
}
