//! The records of the server: each request, its time, and its outcome. Its clock is that of the whole machine, so its
//! instants can be compared with those of a signal.

use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Did {
    /// With a response, or about to have one.
    Response,
    /// Read, and never processed.
    Freeze,
    /// Read; the connection was closed without a response.
    Drop,
}

/// One complete request.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    /// Index in `Books::links`.
    pub(crate) link: usize,
    /// The stream of HTTP/2, the frame opcode of WebSocket, or 0.
    pub(crate) stream: u32,
    /// After the system call that brought its first byte.
    pub(crate) first_byte: Instant,
    /// After the one that brought its last byte.
    pub(crate) head: Instant,
    pub(crate) did: Did,
    /// Before the system call that took the first byte of the response, and after the one that took its last.
    pub(crate) response_begun: Option<Instant>,
    pub(crate) answered: Option<Instant>,
    pub(crate) is_good: bool,
}

/// One connection.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// When it was closed, by either side.
    pub(crate) closed: Option<Instant>,
    /// Whether the WebSocket handshake was sent.
    pub(crate) is_established: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Books {
    pub(crate) exchanges: Vec<Exchange>,
    pub(crate) links: Vec<Link>,
    /// Complete requests that a deaf server found in its sockets after the client had exited.
    pub(crate) found_later: u64,
}

impl Books {
    /// The number of requests that arrived completely.
    pub(crate) fn complete(&self) -> u64 {
        self.exchanges.len() as u64 + self.found_later
    }

    /// Responses that the kernel has taken completely.
    pub(crate) fn written(&self) -> u64 {
        self.exchanges.iter().filter(|exchange| exchange.answered.is_some()).count() as u64
    }

    /// The good ones among them.
    pub(crate) fn good(&self) -> u64 {
        self.exchanges.iter().filter(|exchange| exchange.answered.is_some() && exchange.is_good).count() as u64
    }

    pub(crate) fn taken_and_dropped(&self) -> u64 {
        self.exchanges.iter().filter(|exchange| exchange.did == Did::Drop).count() as u64
    }

    pub(crate) fn first_head(&self) -> Option<Instant> {
        self.exchanges.iter().map(|exchange| exchange.head).min()
    }

    /// Good responses that must have been read: the same connection brought its next request.
    pub(crate) fn good_and_read(&self) -> u64 {
        let is_read = |one: &Exchange, next: Option<Instant>| one.answered.is_some() && one.is_good && next.is_some();
        self.exchanges.iter().zip(self.next_on_link()).filter(|(one, next)| is_read(one, *next)).count() as u64
    }

    /// Responses that must have been read by `instant`: the same connection had brought its next request.
    pub(crate) fn read_by(&self, instant: Instant) -> u64 {
        let next = self.next_on_link();
        self.exchanges
            .iter()
            .zip(next)
            .filter(|(one, next)| one.answered.is_some() && next.is_some_and(|next| next <= instant))
            .count() as u64
    }

    /// For each exchange, when the next request of its connection had come; `None` where streams share the connection.
    pub(crate) fn next_on_link(&self) -> Vec<Option<Instant>> {
        let mut after = vec![None; self.links.len()];
        let mut next = vec![None; self.exchanges.len()];
        for (index, exchange) in self.exchanges.iter().enumerate().rev() {
            next[index] = after[exchange.link].replace(exchange.head);
        }
        next
    }

    /// For each exchange, when the previous response on its connection began to be written.
    pub(crate) fn before_on_link(&self) -> Vec<Option<Instant>> {
        let mut last = vec![None; self.links.len()];
        let mut before = Vec::with_capacity(self.exchanges.len());
        for exchange in &self.exchanges {
            before.push(last[exchange.link]);
            last[exchange.link] = exchange.response_begun;
        }
        before
    }
}
