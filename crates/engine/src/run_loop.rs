//! The loop of a run: its threads, and the aggregator of all that they report.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use crate::control::StopHandle;
use crate::shard_threads::{Report, ShardThreads};
use crate::subscribers::{Delivery, Join, Subscribers, Subscription};

/// An aggregator of the reports of the shards.
pub(crate) trait Aggregator {
    /// Reports of shards.
    type Report: Report;
    /// Updates made from them.
    type Update;
    /// Rows for subscribers.
    type Row: Join;

    /// Takes a report of a shard.
    fn take(&mut self, report: Self::Report);

    /// The next update. When no shard reports any more, it is from what is left.
    fn next(&mut self) -> Option<Self::Update>;

    /// An owned row of an update, for those who take it later; `None` for updates that are not for subscribers.
    fn keep(&self, news: &Self::Update) -> Option<Self::Row>;

    /// Some shard will still report, and its reports are wanted.
    fn is_waiting(&self) -> bool;

    /// How long to wait for the next report; `None` for no limit.
    fn patience(&mut self) -> Option<Duration>;

    /// No report came in that time.
    fn on_timeout(&mut self);

    /// No shard will report any more.
    fn on_disconnect(&mut self);
}

/// Threads and their aggregator. When it is dropped, they end at once.
pub(crate) struct RunLoop<D: Aggregator, S> {
    shard_threads: ShardThreads<D::Report, S>,
    /// `None` only after the end.
    aggregator: Option<D>,
    subscribers: Subscribers<D::Row>,
    stop: StopHandle,
}

impl<D: Aggregator, S: Copy> RunLoop<D, S> {
    /// Starts the threads.
    pub(crate) fn begin(shard_threads: ShardThreads<D::Report, S>, start: S, aggregator: D, stop: StopHandle) -> Self {
        shard_threads.begin(start);
        Self { shard_threads, aggregator: Some(aggregator), subscribers: Subscribers::default(), stop }
    }

    /// Adds a subscriber of the intervals emitted from now on.
    pub(crate) fn subscribe(&mut self, delivery: Delivery, bound: usize) -> Subscription<D::Row> {
        self.subscribers.add(delivery, bound)
    }

    /// Waits for the next update; `None` when it is over. Subscribers have received it by then. A caller that does not
    /// poll delays reporting, never the shards.
    pub(crate) fn wait(&mut self) -> Option<(D::Update, &D)> {
        let news = loop {
            let aggregator = self.aggregator.as_mut()?;
            if let Some(news) = aggregator.next() {
                break news;
            }
            if !aggregator.is_waiting() {
                return None;
            }
            let reported = match aggregator.patience() {
                Some(left) if left.is_zero() => Err(RecvTimeoutError::Timeout),
                Some(left) => self.shard_threads.reports.recv_timeout(left),
                None => self.shard_threads.reports.recv().map_err(RecvTimeoutError::from),
            };
            match reported {
                Ok(report) => aggregator.take(report),
                Err(RecvTimeoutError::Timeout) => aggregator.on_timeout(),
                Err(RecvTimeoutError::Disconnected) => aggregator.on_disconnect(),
            }
        };
        let aggregator = self.aggregator.as_ref()?;
        if !self.subscribers.is_empty()
            && let Some(row) = aggregator.keep(&news)
        {
            self.subscribers.notify(row);
        }
        Some((news, aggregator))
    }

    /// Waits for its end: the aggregator, and how many threads there were.
    pub(crate) fn finish(mut self) -> (D, usize) {
        while self.wait().is_some() {}
        let threads = self.shard_threads.len();
        let aggregator = self.aggregator.take().expect("only the end takes it");
        (aggregator, threads)
    }
}

impl<D: Aggregator, S> Drop for RunLoop<D, S> {
    fn drop(&mut self) {
        if self.aggregator.is_some() {
            self.stop.abort();
        }
    }
}
