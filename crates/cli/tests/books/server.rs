//! A server in the process of the test that follows a script and records everything. One thread, one loop over poll:
//! its records are in order.

use std::collections::{BTreeMap, VecDeque};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::log::{Books, Did, Exchange, Link};
use crate::speech::{Protocol, Received, Speech, response};

/// The behavior of the server from some instant on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upset {
    /// Reads on and never responds.
    FreezeReading,
    /// Accepts and reads nothing any more.
    FreezeDeaf,
    /// Closes the listener and all connections, with a reset.
    DieWithReset,
    /// The same, with an orderly close.
    DieWithFin,
    /// Closes the listener, and each connection after its next response.
    Refuse,
    /// Sends a wrong response to every request.
    Fail,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Script {
    pub(crate) protocol: Protocol,
    /// The delay of each response.
    pub(crate) delay: Duration,
    /// Every n-th request of a connection is read and dropped.
    pub(crate) drops_every: Option<u32>,
    /// The event, and the number of requests at which it happens.
    pub(crate) upset: Option<(u64, Upset)>,
}

/// The delay before the connection of a dropped request is closed.
const DROP_AFTER: Duration = Duration::from_millis(300);
/// The interval at which the loop checks for its end.
const TURN: Duration = Duration::from_millis(20);

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    came: Arc<AtomicU64>,
    dropped: Arc<AtomicU64>,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Books>,
}

impl Server {
    pub(crate) fn start(script: Script) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        listener.set_nonblocking(true).expect("a listener");
        let address = listener.local_addr().expect("an address");
        let is_over = Arc::new(AtomicBool::new(false));
        let came = Arc::new(AtomicU64::new(0));
        let dropped = Arc::new(AtomicU64::new(0));
        let (over, counts) = (Arc::clone(&is_over), [Arc::clone(&came), Arc::clone(&dropped)]);
        let thread = std::thread::spawn(move || Serving::new(script, listener, counts).run(&over));
        Self { address, came, dropped, is_over, thread }
    }

    /// Complete requests so far.
    pub(crate) fn came(&self) -> u64 {
        self.came.load(Ordering::Acquire)
    }

    /// Requests that it dropped so far, with their connections.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Acquire)
    }

    /// Ends it, after the client has exited.
    pub(crate) fn finish(self) -> Books {
        self.is_over.store(true, Ordering::Release);
        self.thread.join().expect("the server ran to its end")
    }
}

struct Connection {
    stream: TcpStream,
    link: usize,
    speech: Speech,
    first_byte: Option<Instant>,
    requests: u32,
    output: Vec<u8>,
    /// Exchanges whose responses are in `output`, and how many of its bytes remain after each.
    answering: VecDeque<(usize, usize)>,
    closes_when_written: bool,
}

enum Deed {
    Response { exchange: usize, payload: Vec<u8> },
    Close { link: usize },
    Upset(Upset),
}

struct Serving {
    script: Script,
    came: Arc<AtomicU64>,
    dropped: Arc<AtomicU64>,
    listener: Option<TcpListener>,
    connections: Vec<Connection>,
    due: BTreeMap<(Instant, u64), Deed>,
    deeds: u64,
    mood: Option<Upset>,
    books: Books,
}

impl Serving {
    fn new(script: Script, listener: TcpListener, [came, dropped]: [Arc<AtomicU64>; 2]) -> Self {
        let (connections, due, books) = (Vec::new(), BTreeMap::new(), Books::default());
        Self { script, came, dropped, listener: Some(listener), connections, due, deeds: 0, mood: None, books }
    }

    fn run(mut self, is_over: &AtomicBool) -> Books {
        while !is_over.load(Ordering::Acquire) {
            let now = Instant::now();
            let next = self.due.first_key_value().map(|((instant, _), _)| *instant);
            let patience = next.map_or(TURN, |next| next.saturating_duration_since(now)).min(TURN);
            let ready = self.wait(patience);
            for index in (0..self.connections.len()).rev().filter(|index| ready.get(*index) == Some(&true)) {
                self.converse(index);
            }
            if ready.get(self.connections.len()) != Some(&false) {
                self.accept();
            }
            self.do_what_is_due();
            self.connections.retain(|connection| {
                let is_open = self.books.links[connection.link].closed.is_none();
                if !is_open {
                    let _ = connection.stream.shutdown(std::net::Shutdown::Both);
                }
                is_open
            });
        }
        self.find_what_was_left();
        self.books
    }

    /// Which connections are ready, and at the end whether the listener is.
    fn wait(&self, patience: Duration) -> Vec<bool> {
        let patience = Timespec::try_from(patience).expect("a short time");
        if self.mood == Some(Upset::FreezeDeaf) {
            poll(&mut [], Some(&patience)).expect("poll works");
            return vec![false; self.connections.len() + 1];
        }
        let wanted = |connection: &Connection| match connection.output.is_empty() {
            true => PollFlags::IN,
            false => PollFlags::IN | PollFlags::OUT,
        };
        let streams = self.connections.iter().map(|one| PollFd::new(&one.stream, wanted(one)));
        let listener = self.listener.iter().map(|listener| PollFd::new(listener, PollFlags::IN));
        let mut all: Vec<PollFd<'_>> = streams.chain(listener).collect();
        poll(&mut all, Some(&patience)).expect("poll works");
        let mut ready: Vec<bool> = all.iter().map(|one| !one.revents().is_empty()).collect();
        ready.resize(self.connections.len() + 1, false);
        ready
    }

    fn accept(&mut self) {
        while let Some(Ok((stream, _))) = self.listener.as_ref().map(TcpListener::accept) {
            stream.set_nonblocking(true).expect("a socket");
            stream.set_nodelay(true).expect("a socket");
            let link = self.books.links.len();
            self.books.links.push(Link { closed: None, is_established: false });
            self.connections.push(Connection {
                stream,
                link,
                speech: Speech::new(self.script.protocol),
                first_byte: None,
                requests: 0,
                output: Vec::new(),
                answering: VecDeque::new(),
                closes_when_written: false,
            });
        }
    }

    fn plan(&mut self, instant: Instant, deed: Deed) {
        self.deeds += 1;
        self.due.insert((instant, self.deeds), deed);
    }

    fn converse(&mut self, index: usize) {
        let mut bytes = [0; 16 * 1024];
        loop {
            let connection = &mut self.connections[index];
            match connection.stream.read(&mut bytes) {
                Ok(0) => return self.close(connection_link(&self.connections, index)),
                Ok(count) => self.handle(index, &bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return self.close(connection_link(&self.connections, index)),
            }
        }
        self.write(index);
    }

    fn handle(&mut self, index: usize, bytes: &[u8]) {
        let now = Instant::now();
        let connection = &mut self.connections[index];
        let first_byte = *connection.first_byte.get_or_insert(now);
        let received = connection.speech.handle(bytes);
        connection.first_byte = connection.speech.is_midway().then_some(now);
        for received in received {
            let connection = &mut self.connections[index];
            match received {
                Received::Reply(reply) => connection.output.extend(reply),
                Received::Handshake(reply) => {
                    connection.output.extend(reply);
                    self.books.links[connection.link].is_established = true;
                }
                Received::Farewell(reply) => {
                    connection.output.extend(reply);
                    connection.closes_when_written = true;
                }
                Received::Request { stream, payload } => self.take(index, stream, payload, [first_byte, now]),
            }
        }
    }

    fn take(&mut self, index: usize, stream: u32, payload: Vec<u8>, [first_byte, head]: [Instant; 2]) {
        let connection = &mut self.connections[index];
        connection.requests += 1;
        let is_dropped = self.script.drops_every.is_some_and(|every| connection.requests.is_multiple_of(every));
        let did = match self.mood {
            Some(Upset::FreezeReading) => Did::Freeze,
            _ if is_dropped => Did::Drop,
            _ => Did::Response,
        };
        let (link, exchange) = (connection.link, self.books.exchanges.len());
        let (response_begun, answered, is_good) = (None, None, true);
        self.books.exchanges.push(Exchange { link, stream, first_byte, head, did, response_begun, answered, is_good });
        match did {
            Did::Response => self.plan(head + self.script.delay, Deed::Response { exchange, payload }),
            Did::Drop => self.plan(head + DROP_AFTER, Deed::Close { link }),
            Did::Freeze => {}
        }
        let came = self.books.exchanges.len() as u64;
        if let Some((_, upset)) = self.script.upset.filter(|(after, _)| *after == came) {
            self.plan(head, Deed::Upset(upset));
        }
        self.came.store(came, Ordering::Release);
    }

    fn do_what_is_due(&mut self) {
        while let Some(entry) = self.due.first_entry().filter(|entry| entry.key().0 <= Instant::now()) {
            match entry.remove() {
                Deed::Response { exchange, payload } => self.response(exchange, &payload),
                Deed::Close { link } => {
                    self.close(link);
                    self.dropped.fetch_add(1, Ordering::Release);
                }
                Deed::Upset(upset) => self.become_upset(upset),
            }
        }
    }

    fn response(&mut self, exchange: usize, payload: &[u8]) {
        if matches!(self.mood, Some(Upset::FreezeReading | Upset::FreezeDeaf)) {
            self.books.exchanges[exchange].did = Did::Freeze;
            return;
        }
        let is_good = self.mood != Some(Upset::Fail);
        let link = self.books.exchanges[exchange].link;
        let Some(index) = self.connections.iter().position(|connection| connection.link == link) else { return };
        let requested = &mut self.books.exchanges[exchange];
        requested.is_good = is_good;
        let connection = &mut self.connections[index];
        connection.output.extend(response(self.script.protocol, requested.stream, payload, is_good));
        connection.answering.push_back((exchange, connection.output.len()));
        connection.closes_when_written |= self.mood == Some(Upset::Refuse);
        requested.response_begun = Some(Instant::now());
        self.write(index);
    }

    fn write(&mut self, index: usize) {
        let connection = &mut self.connections[index];
        while !connection.output.is_empty() {
            match connection.stream.write(&connection.output) {
                Ok(count) => {
                    connection.output.drain(..count);
                    let now = Instant::now();
                    for (_, behind) in &mut connection.answering {
                        *behind = behind.saturating_sub(count);
                    }
                    while let Some((exchange, _)) = connection.answering.pop_front_if(|(_, behind)| *behind == 0) {
                        self.books.exchanges[exchange].answered = Some(now);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(_) => {
                    let link = connection.link;
                    return self.close(link);
                }
            }
        }
        if connection.closes_when_written {
            let link = connection.link;
            self.close(link);
        }
    }

    /// The loop removes the socket at the end of its turn.
    fn close(&mut self, link: usize) {
        self.books.links[link].closed.get_or_insert_with(Instant::now);
    }

    fn become_upset(&mut self, upset: Upset) {
        self.mood = Some(upset);
        match upset {
            Upset::FreezeReading | Upset::FreezeDeaf | Upset::Fail => {}
            Upset::DieWithReset | Upset::DieWithFin => {
                self.listener = None;
                for connection in std::mem::take(&mut self.connections) {
                    if upset == Upset::DieWithReset {
                        rustix::net::sockopt::set_socket_linger(&connection.stream, Some(Duration::ZERO))
                            .expect("a socket");
                    }
                    self.books.links[connection.link].closed.get_or_insert_with(Instant::now);
                }
            }
            Upset::Refuse => {
                self.listener = None;
                let waiting = |link| self.books.exchanges.iter().any(|one| one.link == link && one.answered.is_none());
                let idle: Vec<usize> =
                    self.connections.iter().map(|one| one.link).filter(|link| !waiting(*link)).collect();
                idle.into_iter().for_each(|link| self.close(link));
            }
        }
    }

    /// The client has exited: data in the sockets was sent by it, also data that a deaf server never read.
    fn find_what_was_left(&mut self) {
        let before = self.books.exchanges.len();
        self.accept();
        for index in 0..self.connections.len() {
            self.converse(index);
        }
        if self.mood == Some(Upset::FreezeDeaf) {
            self.books.found_later = (self.books.exchanges.len() - before) as u64;
            self.books.exchanges.truncate(before);
        }
    }
}

fn connection_link(connections: &[Connection], index: usize) -> usize {
    connections[index].link
}
