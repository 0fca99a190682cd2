//! The stream of events to one page: a bounded mailbox, on which no sender ever waits.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::response::sse::Event;
use futures_core::Stream;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The most pending events of a page; after missing more, it reloads the full state when it reads again.
const MAILBOX: usize = 16;
/// The most pages at a time.
pub(crate) const PAGES_MAX: usize = 100;

/// An event for pages, encoded once for all of them.
#[derive(Clone, Debug)]
pub(crate) struct PageEvent {
    pub(crate) kind: &'static str,
    pub(crate) data: Arc<str>,
}

impl PageEvent {
    pub(crate) fn new(kind: &'static str, data: &Value) -> Self {
        Self { kind, data: data.to_string().into() }
    }
}

/// The channel to one page.
#[derive(Debug)]
struct PageChannel {
    sender: Sender<PageEvent>,
    /// Whether an event was dropped since it last read everything.
    is_behind: bool,
}

/// The channels to all pages.
#[derive(Debug, Default)]
pub(crate) struct PageChannels(Vec<PageChannel>);

impl PageChannels {
    /// Adds a page; `None` when there are too many.
    pub(crate) fn add(&mut self, first: PageEvent) -> Option<Events> {
        self.0.retain(|page| !page.sender.is_closed());
        if self.0.len() >= PAGES_MAX {
            return None;
        }
        let (sender, receiver) = channel(MAILBOX);
        let page = PageChannel { sender, is_behind: false };
        // It is empty, so there is room.
        let _ = page.sender.try_send(first);
        self.0.push(page);
        Some(Events(receiver))
    }

    /// Sends to all of them. A page whose mailbox is full learns later that it missed something.
    pub(crate) fn publish(&mut self, reported: &PageEvent) {
        self.0.retain_mut(|page| {
            if page.is_behind {
                let all = PageEvent { kind: "reload", data: "{}".into() };
                page.is_behind = page.sender.try_send(all).is_err();
            }
            if !page.is_behind && page.sender.try_send(reported.clone()).is_err() {
                page.is_behind = true;
            }
            !page.sender.is_closed()
        });
    }

    /// Whether there is no page.
    pub(crate) fn is_empty(&mut self) -> bool {
        self.0.retain(|page| !page.sender.is_closed());
        self.0.is_empty()
    }
}

/// The event stream of a page.
pub(crate) struct Events(Receiver<PageEvent>);

impl Stream for Events {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let reported = self.0.poll_recv(context);
        reported
            .map(|reported| reported.map(|reported| Ok(Event::default().event(reported.kind).data(&*reported.data))))
    }
}
