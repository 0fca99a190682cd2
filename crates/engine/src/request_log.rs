//! Single exchanges that are shown: the slowest ones, and those of a request log.
//!
//! A shard writes log lines into preallocated batches, and sends full ones over a channel; the writer sends them back.
//! When no batch is back, lines are dropped and counted: a shard never waits for a disk.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use metrics::{RequestRecord, RequestRecordEnd};
use pacing::Random;

/// Number of lines of a batch.
const BATCH_LINES: usize = 1_024;
/// Batches of a shard: the bound of lines that wait to be written.
const BATCHES: usize = 32;

/// Configuration of the exchanges shown one by one.
#[derive(Clone, Debug, Default)]
pub struct RequestLogConfig {
    /// How many of the slowest are kept.
    pub slowest: usize,
    /// Sink of the request log.
    pub log: Option<LogSink>,
}

/// Filter of the exchanges in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogFilter {
    /// Only exchanges that failed.
    pub only_failed: bool,
    /// Sampling rate of those, per million.
    pub per_million: u32,
    /// Seed of the sampling.
    pub seed: u64,
}

/// The writing end of a log, for all shards.
#[derive(Clone, Debug)]
pub struct LogSink {
    stop_level: LogFilter,
    sender: Sender<Sent>,
    left_out: Arc<AtomicU64>,
    began: Arc<OnceLock<Duration>>,
}

/// The reading end of a log.
#[derive(Debug)]
pub struct LogReader {
    receiver: Receiver<Sent>,
    left_out: Arc<AtomicU64>,
    began: Arc<OnceLock<Duration>>,
}

#[derive(Debug)]
enum Sent {
    Lines(LogBatch),
    End,
}

/// Lines of one shard, in the order in which they ended.
#[derive(Debug)]
pub struct LogBatch {
    lines: Vec<RequestRecord>,
    back: Sender<Vec<RequestRecord>>,
}

impl LogBatch {
    /// The lines.
    pub fn lines(&self) -> &[RequestRecord] {
        &self.lines
    }
}

impl Drop for LogBatch {
    fn drop(&mut self) {
        let mut lines = std::mem::take(&mut self.lines);
        lines.clear();
        // The shard may be over and need no batch.
        let _ = self.back.send(lines);
    }
}

impl LogSink {
    /// A log, with both of its ends.
    pub fn new(stop_level: LogFilter) -> (Self, LogReader) {
        let (sender, receiver) = channel();
        let left_out = Arc::new(AtomicU64::new(0));
        let began = Arc::new(OnceLock::new());
        let reader = LogReader { receiver, left_out: left_out.clone(), began: began.clone() };
        (Self { stop_level, sender, left_out, began }, reader)
    }

    /// Sets when the measured time begins, since the Unix epoch; the first run sets it.
    pub(crate) fn begin(&self, at: Duration) {
        let _ = self.began.set(at);
    }

    /// Ends the log: all runs that write to it are over.
    pub fn end(&self) {
        // The reader may be gone.
        let _ = self.sender.send(Sent::End);
    }
}

impl LogReader {
    /// The next lines; waits for them. `None` when the log is over.
    pub fn next_batch(&self) -> Option<LogBatch> {
        match self.receiver.recv() {
            Ok(Sent::Lines(batch)) => Some(batch),
            Ok(Sent::End) | Err(_) => None,
        }
    }

    /// When the measured time began, since the Unix epoch; known once there are lines.
    pub fn began_unix(&self) -> Duration {
        self.began.get().copied().unwrap_or_default()
    }

    /// Lines that were dropped because they came faster than they were read.
    pub fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }
}

/// The log state of a shard, for one scenario.
#[derive(Debug)]
pub(crate) struct ShardLog {
    pipe: LogSink,
    random: Random,
    batch: Vec<RequestRecord>,
    spare: Receiver<Vec<RequestRecord>>,
    back: Sender<Vec<RequestRecord>>,
}

impl ShardLog {
    /// A log state. `stream`: another number for each shard and scenario, so that each samples lines of its own.
    pub(crate) fn new(pipe: LogSink, stream: u64) -> Self {
        let (back, spare) = channel();
        for _ in 1..BATCHES {
            // Both ends are here.
            let _ = back.send(Vec::with_capacity(BATCH_LINES));
        }
        let random = Random::for_stream(pipe.stop_level.seed, stream);
        Self { pipe, random, batch: Vec::with_capacity(BATCH_LINES), spare, back }
    }

    /// Writes a line for an exchange that is over, if the filter selects it.
    pub(crate) fn write(&mut self, traced: RequestRecord) {
        let stop_level = self.pipe.stop_level;
        if stop_level.only_failed && traced.end == RequestRecordEnd::Succeeded {
            return;
        }
        if stop_level.per_million < 1_000_000 && !self.random.chance(stop_level.per_million) {
            return;
        }
        if self.batch.len() == BATCH_LINES && !self.flush() {
            self.pipe.left_out.fetch_add(1, Ordering::Relaxed);
            return;
        }
        self.batch.push(traced);
    }

    /// Sends the current batch. False when no other batch is back.
    pub(crate) fn flush(&mut self) -> bool {
        if self.batch.is_empty() {
            return true;
        }
        let Ok(empty) = self.spare.try_recv() else { return false };
        let lines = std::mem::replace(&mut self.batch, empty);
        // The reader may be gone; the batch comes back all the same.
        let _ = self.pipe.sender.send(Sent::Lines(LogBatch { lines, back: self.back.clone() }));
        true
    }

    /// Sends the last lines, when the shard is over.
    pub(crate) fn finish(&mut self) {
        let lines = std::mem::take(&mut self.batch);
        let _ = self.pipe.sender.send(Sent::Lines(LogBatch { lines, back: self.back.clone() }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(number: u64, end: RequestRecordEnd) -> RequestRecord {
        RequestRecord {
            intended_ns: number,
            response_ns: 1,
            lateness_ns: 0,
            wait_ns: None,
            service_ns: None,
            first_byte_ns: None,
            body_bytes: 0,
            step: 0,
            shard: 0,
            status: 0,
            end,
            is_connection_new: false,
            trace: 0,
        }
    }

    const ALL: LogFilter = LogFilter { only_failed: false, per_million: 1_000_000, seed: 1 };

    /// Lines written and lines dropped, without a reader.
    fn numbers(stop_level: LogFilter, stream: u64, count: u64, end: RequestRecordEnd) -> (Vec<u64>, u64) {
        let (pipe, reader) = LogSink::new(stop_level);
        let mut log = ShardLog::new(pipe.clone(), stream);
        (0..count).for_each(|number| log.write(traced(number, end)));
        log.finish();
        pipe.end();
        let mut numbers = Vec::new();
        while let Some(batch) = reader.next_batch() {
            numbers.extend(batch.lines().iter().map(|line| line.intended_ns));
        }
        (numbers, reader.left_out())
    }

    #[test]
    fn lines_come_in_their_order_and_what_has_no_room_is_counted() {
        let room = (BATCHES * BATCH_LINES) as u64;
        for count in [0, 1, 1_023, 1_024, 1_025, room, room + 1, room + 5_000] {
            let (numbers, left_out) = numbers(ALL, 0, count, RequestRecordEnd::Succeeded);
            assert!(numbers.iter().copied().eq(0..count.min(room)), "{count}");
            assert_eq!(numbers.len() as u64 + left_out, count);
        }
    }

    #[test]
    fn batches_that_were_read_are_filled_again() {
        let (pipe, reader) = LogSink::new(ALL);
        let mut log = ShardLog::new(pipe, 0);
        for round in 0..200 {
            (0..BATCH_LINES as u64)
                .for_each(|number| log.write(traced(round * 10_000 + number, RequestRecordEnd::Dropped)));
            assert!(log.flush());
            assert_eq!(reader.next_batch().expect("a batch").lines().len(), BATCH_LINES);
        }
        assert_eq!(reader.left_out(), 0);
    }

    #[test]
    fn a_share_is_drawn_from_the_seed() {
        let share = |seed, stream| {
            numbers(LogFilter { per_million: 100_000, seed, ..ALL }, stream, 20_000, RequestRecordEnd::Succeeded).0
        };
        assert_eq!(share(7, 0), share(7, 0));
        assert_ne!(share(7, 0), share(8, 0));
        assert_ne!(share(7, 0), share(7, 1));
        // Ten sigma of a binomial distribution.
        assert!(share(7, 0).len().abs_diff(2_000) < 10 * 43);
        let failed = LogFilter { only_failed: true, ..ALL };
        assert!(numbers(failed, 0, 100, RequestRecordEnd::Succeeded).0.is_empty());
        for end in [
            RequestRecordEnd::Failed(metrics::Failure::Timeout),
            RequestRecordEnd::Unfinished,
            RequestRecordEnd::Dropped,
        ] {
            assert_eq!(numbers(failed, 0, 100, end).0.len(), 100);
        }
    }
}
