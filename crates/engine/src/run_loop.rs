//! What goes on by itself: threads, and the desk where all that they tell comes together.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use crate::control::StopHandle;
use crate::shard_threads::{Report, ShardThreads};
use crate::subscribers::{Delivery, Join, Subscribers, Subscription};

/// Where the reports of the shards come together.
pub(crate) trait Aggregator {
    /// What shards tell.
    type Report: Report;
    /// What is to be told of it.
    type Update;
    /// What subscribers have of it.
    type Row: Join;

    /// A shard has told.
    fn take(&mut self, report: Self::Report);

    /// What can be told now. When nobody reports any more, that is all that is left.
    fn next(&mut self) -> Option<Self::Update>;

    /// What is told, for those who take it later; `None` of what is not for subscribers.
    fn keep(&self, news: &Self::Update) -> Option<Self::Row>;

    /// Some shard will still report, and what it says is wanted.
    fn is_waiting(&self) -> bool;

    /// It waits so long for the next report; `None` for as long as it takes.
    fn patience(&mut self) -> Option<Duration>;

    /// Nobody has told in that time.
    fn waited_in_vain(&mut self);

    /// Nobody will report any more.
    fn lose_all(&mut self);
}

/// Threads and their desk. When it is dropped, they end at once.
pub(crate) struct RunLoop<D: Aggregator, S> {
    shard_threads: ShardThreads<D::Report, S>,
    /// Only the end takes it.
    aggregator: Option<D>,
    subscribers: Subscribers<D::Row>,
    stop: StopHandle,
}

impl<D: Aggregator, S: Copy> RunLoop<D, S> {
    /// The threads start.
    pub(crate) fn begin(shard_threads: ShardThreads<D::Report, S>, start: S, aggregator: D, stop: StopHandle) -> Self {
        shard_threads.begin(start);
        Self { shard_threads, aggregator: Some(aggregator), subscribers: Subscribers::default(), stop }
    }

    /// One more who hears the intervals that are told from now on.
    pub(crate) fn subscribe(&mut self, delivery: Delivery, bound: usize) -> Subscription<D::Row> {
        self.subscribers.add(delivery, bound)
    }

    /// Waits for what is told next; `None` when it is over. Subscribers have heard it then. Who does not ask holds up the telling, never the shards.
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
                Err(RecvTimeoutError::Timeout) => aggregator.waited_in_vain(),
                Err(RecvTimeoutError::Disconnected) => aggregator.lose_all(),
            }
        };
        let aggregator = self.aggregator.as_ref()?;
        if !self.subscribers.is_empty()
            && let Some(row) = aggregator.keep(&news)
        {
            self.subscribers.tell(row);
        }
        Some((news, aggregator))
    }

    /// Waits for its end: the desk, and how many threads there were.
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
