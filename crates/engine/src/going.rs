//! What goes on by itself: threads, and the desk where all that they tell comes together.

use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use crate::control::StopHandle;
use crate::crew::{Crew, Report};
use crate::subscribers::{Delivery, Join, Subscribers, Subscription};

/// Where the reports of the shards come together.
pub(crate) trait Desk {
    /// What shards tell.
    type Report: Report;
    /// What is to be told of it.
    type News;
    /// What subscribers have of it.
    type Row: Join;

    /// A shard has told.
    fn take(&mut self, report: Self::Report);

    /// What can be told now. When nobody reports any more, that is all that is left.
    fn next(&mut self) -> Option<Self::News>;

    /// What is told, for those who take it later; `None` of what is not for subscribers.
    fn keep(&self, news: &Self::News) -> Option<Self::Row>;

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
pub(crate) struct Going<D: Desk, S> {
    crew: Crew<D::Report, S>,
    /// Only the end takes it.
    desk: Option<D>,
    subscribers: Subscribers<D::Row>,
    stop: StopHandle,
}

impl<D: Desk, S: Copy> Going<D, S> {
    /// The threads start.
    pub(crate) fn begin(crew: Crew<D::Report, S>, start: S, desk: D, stop: StopHandle) -> Self {
        crew.begin(start);
        Self { crew, desk: Some(desk), subscribers: Subscribers::default(), stop }
    }

    /// One more who hears the intervals that are told from now on.
    pub(crate) fn subscribe(&mut self, delivery: Delivery, bound: usize) -> Subscription<D::Row> {
        self.subscribers.add(delivery, bound)
    }

    /// Waits for what is told next; `None` when it is over. Subscribers have heard it then. Who does not ask holds up the telling, never the shards.
    pub(crate) fn wait(&mut self) -> Option<(D::News, &D)> {
        let news = loop {
            let desk = self.desk.as_mut()?;
            if let Some(news) = desk.next() {
                break news;
            }
            if !desk.is_waiting() {
                return None;
            }
            let told = match desk.patience() {
                Some(left) if left.is_zero() => Err(RecvTimeoutError::Timeout),
                Some(left) => self.crew.reports.recv_timeout(left),
                None => self.crew.reports.recv().map_err(RecvTimeoutError::from),
            };
            match told {
                Ok(report) => desk.take(report),
                Err(RecvTimeoutError::Timeout) => desk.waited_in_vain(),
                Err(RecvTimeoutError::Disconnected) => desk.lose_all(),
            }
        };
        let desk = self.desk.as_ref()?;
        if !self.subscribers.is_empty()
            && let Some(row) = desk.keep(&news)
        {
            self.subscribers.tell(row);
        }
        Some((news, desk))
    }

    /// Waits for its end: the desk, and how many threads there were.
    pub(crate) fn finish(mut self) -> (D, usize) {
        while self.wait().is_some() {}
        let threads = self.crew.len();
        let desk = self.desk.take().expect("only the end takes it");
        (desk, threads)
    }
}

impl<D: Desk, S> Drop for Going<D, S> {
    fn drop(&mut self) {
        if self.desk.is_some() {
            self.stop.abort();
        }
    }
}
