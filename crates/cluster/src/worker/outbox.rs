//! What a worker has to tell: one batch is on its way, and what comes meanwhile is gathered for the next. A batch is sent again until the
//! bus has it; its name says which it is, so that it counts once.

use std::collections::VecDeque;

use pacing::Nanos;

use crate::bus::Bytes;
use crate::protocol::{Batch, News, WorkerId, written};

/// An unanswered batch is sent again after so long.
const AGAIN_AFTER: Nanos = Nanos::from_millis(1_000);
/// News that wait, at most: more than a minute of rows of a few parts. Beyond it rows are put together.
const WAITING_MAX: usize = 512;
/// A batch takes no more news when it has so many bytes: a bus of NATS takes messages of a mebibyte.
const BATCH_BYTES_MAX: usize = 512 << 10;

/// Whose news they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sender {
    /// The run.
    pub run: u64,
    /// The worker.
    pub id: WorkerId,
    /// In which of its lives.
    pub incarnation: u32,
}

/// What one life of a worker has to tell of one run.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    sender: Sender,
    /// Batches that the bus has.
    stored: u64,
    /// What is on its way, and since when.
    sent: Option<(Bytes, Nanos)>,
    waiting: Vec<News>,
    /// The same, for whoever keeps it; and how much was kept before.
    unkept: Option<VecDeque<News>>,
    kept: u64,
    /// The last news are there.
    is_last: bool,
    /// Why the bus did not take the last one.
    pub refused: Option<crate::bus::Refused>,
}

impl Outbox {
    /// Nothing yet. `keeps`: somebody keeps all of it.
    pub(super) fn new(sender: Sender, keeps: bool) -> Self {
        let unkept = keeps.then(VecDeque::new);
        Self { sender, stored: 0, sent: None, waiting: Vec::new(), unkept, kept: 0, is_last: false, refused: None }
    }

    /// One more to tell.
    pub(super) fn push(&mut self, news: News) {
        // It is said once, and nothing behind it.
        if self.is_last {
            return;
        }
        self.is_last = matches!(news, News::Gone { .. });
        if let Some(unkept) = &mut self.unkept {
            unkept.push_back(news.clone());
        }
        if self.waiting.len() >= WAITING_MAX
            && let News::Row(row) = &news
            && let Some(place) =
                self.waiting.iter().rposition(|one| matches!(one, News::Row(last) if last.part == row.part))
            && let News::Row(last) = &mut self.waiting[place]
        {
            // The rows of one second become a part of those of the one before it: nothing is lost but which second it was.
            last.upto = last.upto.max(row.upto);
            last.covered = last.covered.max(row.covered);
            last.seen.extend(row.seen.iter().cloned());
            return;
        }
        self.waiting.push(news);
    }

    /// What is to be kept next, with how much was before.
    pub(super) fn next_kept(&mut self) -> Option<(u64, News)> {
        let news = self.unkept.as_mut()?.pop_front()?;
        self.kept += 1;
        Some((self.kept - 1, news))
    }

    /// What is to be sent now, with its name: for the first time or again.
    pub(super) fn next(&mut self, revision: u64, sent_at: Nanos, now: Nanos) -> Option<(String, Bytes)> {
        let Sender { run, id, incarnation } = self.sender;
        let name = format!("{run}.{id:016x}.{incarnation}.{}", self.stored + 1);
        if let Some((bytes, at)) = &mut self.sent {
            if now.since(*at) < AGAIN_AFTER {
                return None;
            }
            *at = now;
            return Some((name, bytes.clone()));
        }
        if self.waiting.is_empty() {
            return None;
        }
        let (mut bytes, mut count) = (0, 0);
        for news in &self.waiting {
            bytes += news.bytes();
            if count > 0 && bytes > BATCH_BYTES_MAX {
                break;
            }
            count += 1;
        }
        let news = self.waiting.drain(..count).collect();
        let batch = Batch { run, id, incarnation, number: self.stored + 1, revision, sent_at, news };
        let bytes = written(&batch);
        self.sent = Some((bytes.clone(), now));
        Some((name, bytes))
    }

    /// The bus has the batch of this name, or says why not.
    pub(super) fn answered(&mut self, name: &str, result: Result<u64, crate::bus::Refused>) {
        let Sender { run, id, incarnation } = self.sender;
        if self.sent.is_none() || name != format!("{run}.{id:016x}.{incarnation}.{}", self.stored + 1) {
            return;
        }
        match result {
            Ok(_) => {
                self.sent = None;
                self.stored += 1;
                self.refused = None;
            }
            Err(refused) => self.refused = Some(refused),
        }
    }

    /// The last of it is there, whether it is told or not.
    pub(super) fn is_last(&self) -> bool {
        self.is_last
    }

    /// All is told, and nothing more comes.
    pub(super) fn is_done(&self) -> bool {
        self.is_last && self.sent.is_none() && self.waiting.is_empty()
    }

    /// When there is something to send again.
    pub(super) fn wake_at(&self) -> Nanos {
        match &self.sent {
            Some((_, at)) => *at + AGAIN_AFTER,
            None if self.waiting.is_empty() => Nanos::NEVER,
            None => Nanos::ZERO,
        }
    }
}
