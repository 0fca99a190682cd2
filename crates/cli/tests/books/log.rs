//! The books of the server: what came, when, and what became of it. Its clock is the one of the whole machine, so its
//! instants can be set beside those of a signal.

use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Did {
    /// Answered, or about to.
    Answer,
    /// Read, and left alone for good.
    Freeze,
    /// Read; the connection was closed without an answer.
    Drop,
}

/// One complete request.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    /// Index in `Books::links`.
    pub(crate) link: usize,
    /// Of HTTP/2 the stream; of WebSocket the kind of frame; else 0.
    pub(crate) stream: u32,
    /// After the system call that brought its first byte.
    pub(crate) first_byte: Instant,
    /// After the one that brought its last byte.
    pub(crate) head: Instant,
    pub(crate) did: Did,
    /// Before the system call that took the first byte of the answer, and after the one that took its last.
    pub(crate) answer_begun: Option<Instant>,
    pub(crate) answered: Option<Instant>,
    pub(crate) is_good: bool,
}

/// One connection.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// When it was closed, by either side.
    pub(crate) closed: Option<Instant>,
    /// The handshake of WebSocket went out.
    pub(crate) is_established: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Books {
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) links: Vec<Link>,
    /// When the script changed what the server does.
    pub(crate) upset: Option<Instant>,
    /// Complete requests that a deaf server found in its sockets when the client had gone.
    pub(crate) found_later: u64,
    /// The longest turn of the server's loop: how late its own instants may be.
    pub(crate) slowest_turn: Duration,
}

impl Books {
    /// Requests of which all bytes came.
    pub(crate) fn complete(&self) -> u64 {
        self.exchanges.len() as u64 + self.found_later
    }

    /// Answers of which all bytes were taken by the kernel.
    pub(crate) fn written(&self) -> u64 {
        self.exchanges.iter().filter(|exchange| exchange.answered.is_some()).count() as u64
    }

    /// Those among them that are a success.
    pub(crate) fn good(&self) -> u64 {
        self.exchanges.iter().filter(|exchange| exchange.answered.is_some() && exchange.is_good).count() as u64
    }

    pub(crate) fn taken_and_dropped(&self) -> u64 {
        self.exchanges.iter().filter(|exchange| exchange.did == Did::Drop).count() as u64
    }

    pub(crate) fn first_head(&self) -> Option<Instant> {
        self.exchanges.iter().map(|exchange| exchange.head).min()
    }

    pub(crate) fn heads_after(&self, instant: Instant) -> usize {
        self.exchanges.iter().filter(|exchange| exchange.head > instant).count()
    }

    /// Answers that may have been read by `instant`.
    pub(crate) fn written_by(&self, instant: Instant) -> u64 {
        self.exchanges.iter().filter(|one| one.answer_begun.is_some_and(|begun| begun <= instant)).count() as u64
    }

    /// Answers that must have been read by `instant`: the same connection had brought its next request.
    pub(crate) fn read_by(&self, instant: Instant) -> u64 {
        let next = self.next_on_link();
        self.exchanges
            .iter()
            .zip(next)
            .filter(|(one, next)| one.answered.is_some() && next.is_some_and(|next| next <= instant))
            .count() as u64
    }

    /// Of each exchange, when the next request of its connection had come; nothing where streams share the connection.
    pub(crate) fn next_on_link(&self) -> Vec<Option<Instant>> {
        let mut after = vec![None; self.links.len()];
        let mut next = vec![None; self.exchanges.len()];
        for (index, exchange) in self.exchanges.iter().enumerate().rev() {
            next[index] = after[exchange.link].replace(exchange.head);
        }
        next
    }

    /// Of each exchange, when the answer before it on its connection began to be written.
    pub(crate) fn before_on_link(&self) -> Vec<Option<Instant>> {
        let mut last = vec![None; self.links.len()];
        let mut before = Vec::with_capacity(self.exchanges.len());
        for exchange in &self.exchanges {
            before.push(last[exchange.link]);
            last[exchange.link] = exchange.answer_begun;
        }
        before
    }

    /// The most answers that left in any such span.
    pub(crate) fn most_in(&self, span: Duration) -> u64 {
        let mut written: Vec<Instant> = self.exchanges.iter().filter_map(|exchange| exchange.answered).collect();
        written.sort_unstable();
        let mut first = 0;
        let mut most = 0;
        for (last, instant) in written.iter().enumerate() {
            while *instant - written[first] > span {
                first += 1;
            }
            most = most.max(last + 1 - first);
        }
        most as u64
    }
}
