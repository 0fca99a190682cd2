//! The outbox of a worker: one batch is in flight, and later reports are gathered for the next. A batch is sent again
//! until the bus has it; its name identifies it, so that it counts once.

use std::collections::VecDeque;

use pacing::Nanos;

use crate::bus::Bytes;
use crate::protocol::{Batch, News, WorkerId, written};

/// The time after which an unconfirmed batch is sent again.
const AGAIN_AFTER: Nanos = Nanos::from_millis(1_000);
/// The most waiting reports: more than a minute of rows of a few parts. Beyond it rows are merged.
const WAITING_MAX: usize = 512;
/// The size at which a batch takes no more reports: a NATS bus takes messages of a mebibyte.
const BATCH_BYTES_MAX: usize = 512 << 10;

/// The sender of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sender {
    /// The run.
    pub run: u64,
    /// The worker.
    pub id: WorkerId,
    /// Its incarnation.
    pub incarnation: u32,
}

/// The reports of one worker incarnation of one run.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    sender: Sender,
    /// The number of batches that the bus has.
    stored: u64,
    /// The batch in flight, and since when.
    sent: Option<(Bytes, Nanos)>,
    waiting: Vec<News>,
    /// The reports that are yet to be journaled; and how many were before.
    unkept: Option<VecDeque<News>>,
    kept: u64,
    /// Whether the last report was added.
    is_last: bool,
    /// Why the bus did not take the last batch.
    pub refused: Option<crate::bus::Refused>,
}

impl Outbox {
    /// An empty outbox. `keeps`: all reports are journaled.
    pub(super) fn new(sender: Sender, keeps: bool) -> Self {
        let unkept = keeps.then(VecDeque::new);
        Self { sender, stored: 0, sent: None, waiting: Vec::new(), unkept, kept: 0, is_last: false, refused: None }
    }

    /// Adds a report.
    pub(super) fn push(&mut self, news: News) {
        // It is reported once, and nothing after it.
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
            // The rows of one second are merged into those of the one before: only the assignment to a second is lost.
            last.upto = last.upto.max(row.upto);
            let latest = last.latest(row);
            (last.reported_until, last.behind) = (latest.reported_until, latest.behind);
            last.seen.extend(row.seen.iter().cloned());
            return;
        }
        self.waiting.push(news);
    }

    /// The next report for the journal, with the number of earlier ones.
    pub(super) fn next_kept(&mut self) -> Option<(u64, News)> {
        let news = self.unkept.as_mut()?.pop_front()?;
        self.kept += 1;
        Some((self.kept - 1, news))
    }

    /// The batch to send now, with its name: for the first time or again.
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

    /// Handles the result of the batch of this name.
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

    /// Whether the last report was added, sent or not.
    pub(super) fn is_last(&self) -> bool {
        self.is_last
    }

    /// Whether all is reported, and nothing more comes.
    pub(super) fn is_done(&self) -> bool {
        self.is_last && self.sent.is_none() && self.waiting.is_empty()
    }

    /// The instant of the next repetition.
    pub(super) fn wake_at(&self) -> Nanos {
        match &self.sent {
            Some((_, at)) => *at + AGAIN_AFTER,
            None if self.waiting.is_empty() => Nanos::NEVER,
            None => Nanos::ZERO,
        }
    }
}
