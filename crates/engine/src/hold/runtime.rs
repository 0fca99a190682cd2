//! State of the connections of a shard.

use std::collections::VecDeque;
use std::sync::Arc;

use driver::{Outgoing, Socket, Sockets, Template};
use metrics::{Failure, Held, HeldCounter, HeldNow};
use pacing::{Nanos, Random, Segment};
use wire::connection::{AnyConnection, IdleState, Mask, Scratch};
use wire::tls;

use super::job::HoldConfig;
use crate::endpoints::EndpointRotation;
use crate::faults;
use crate::messaging::PreparedMessaging;
use crate::timers::Timers;

/// Buffers kept for reuse.
const SPARE_MAX: usize = 64;
/// A larger buffer is not kept.
const SPARE_BYTES_MAX: usize = 64 * 1024;
/// A loop that polls later than planned by more than this was stalled.
const STALL_MIN: Nanos = Nanos::from_millis(50);
/// How long peers have after a stall of the generator, whatever deadlines passed in it.
const SPARED: Nanos = Nanos::from_millis(100);
/// Content of one TLS record, and its overhead at most (RFC 8446 5.2).
const RECORD_BYTES: usize = 16 * 1024;
const SEAL_BYTES_MAX: usize = 261;

/// Phase of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It does not exist.
    Gone,
    /// It waits until it is retried.
    Waits,
    /// The TCP connection is being established.
    Connects,
    /// The TLS handshake is in progress.
    Shakes,
    /// The WebSocket handshake is in progress, or the first HTTP response is awaited.
    Begins,
    /// It is established, and nothing is awaited.
    Idle,
    /// A response is awaited.
    Asks,
    /// A message without a response is being sent.
    Says,
    /// The peer is to close.
    Closes,
    /// It is lost: the peer was notified, and is to close.
    Leaves,
}

/// One connection. There may be a million.
pub(super) struct Connection {
    pub(super) socket: Socket,
    /// When it was tried, when its message left, or when something unsolicited came, depending on its phase.
    pub(super) since: Nanos,
    /// When the message was due whose response is awaited.
    pub(super) intended: Nanos,
    /// State that only a busy connection has, or one with TLS.
    pub(super) more: Option<Box<More>>,
    /// Messages that became due while another one was on its way.
    pub(super) owed: u32,
    /// The number of its endpoint.
    pub(super) endpoint: u16,
    pub(super) phase: Phase,
    /// Failed attempts since it was last established.
    pub(super) tries: u8,
    /// Its protocol state while idle.
    pub(super) parked: IdleState,
    /// It was tried before.
    pub(super) was_tried: bool,
    /// It was established once.
    pub(super) was_established: bool,
    /// It is to be closed after the response; or the peer has agreed to the close.
    pub(super) is_ending: bool,
}

/// State of a busy connection, or one with TLS; see [`Connection::more`].
#[derive(Default)]
pub(super) struct More {
    pub(super) tls: Option<tls::Session>,
    /// The protocol state, when it is more than [`Connection::parked`].
    pub(super) line: Option<AnyConnection>,
    /// The status of an HTTP response, and whether its connection stays open.
    pub(super) response: Option<(u16, bool)>,
}

impl More {
    fn is_needed(&self) -> bool {
        self.tls.is_some() || self.line.is_some()
    }
}

impl Connection {
    pub(super) fn more(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }

    /// Frees what it does not need any more.
    pub(super) fn tidy(&mut self) {
        self.more.take_if(|more| !more.is_needed());
    }

    pub(super) fn is_established(&self) -> bool {
        matches!(self.phase, Phase::Idle | Phase::Asks | Phase::Says)
    }

    /// It waits for its peer to close.
    pub(super) fn is_parting(&self) -> bool {
        matches!(self.phase, Phase::Closes | Phase::Leaves)
    }

    pub(super) fn is_opening(&self) -> bool {
        matches!(self.phase, Phase::Connects | Phase::Shakes | Phase::Begins)
    }
}

/// The target of a timer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wake {
    /// The connection is retried.
    Retry(u32),
    /// Its pause is over at this instant; a connection that was lost meanwhile has begun another one.
    Speak(u32, Nanos),
    /// Its peer, which has agreed to the close sent then, should have closed by now.
    Part(u32, Nanos),
}

/// Deadlines in the order in which they were set, which is the order in which they are due, since all are equally far
/// away.
#[derive(Default)]
pub(super) struct Deadlines(VecDeque<(u32, Nanos)>);

impl Deadlines {
    pub(super) fn push(&mut self, number: u32, since: Nanos) {
        self.0.push_back((number, since));
    }

    pub(super) fn front(&self) -> Option<(u32, Nanos)> {
        self.0.front().copied()
    }

    /// Drops the first ones, up to one of a connection that still waits.
    pub(super) fn keep_from(&mut self, connections: &[Connection], waits: impl Fn(&Connection) -> bool) {
        while let Some((number, since)) = self.front() {
            let connection = &connections[number as usize];
            if connection.since == since && waits(connection) {
                break;
            }
            self.pop();
        }
    }

    pub(super) fn pop(&mut self) {
        self.0.pop_front();
        if self.0.is_empty() && self.0.capacity() > SPARE_BYTES_MAX {
            self.0 = VecDeque::new();
        }
    }
}

/// The runtime of held connections on a shard.
pub(super) struct HoldRuntime {
    pub(super) job: Arc<HoldConfig>,
    pub(super) segment: Segment,
    /// Number of its own connections.
    pub(super) count: u32,
    pub(super) connections: Vec<Connection>,
    /// The connection of each socket, by its index.
    by_socket: Vec<u32>,
    pub(super) templates: Vec<Template>,
    /// Bytes of the longest message as sent, sealed or not.
    pub(super) message_bytes_max: usize,
    /// The endpoints of its connections.
    pub(super) rotation: EndpointRotation,
    /// Connections that were not established at one address, and go to another one next; with their failures.
    pub(super) elsewhere: VecDeque<(u32, Failure)>,
    /// The HTTP request.
    pub(super) request: Option<Template>,
    pub(super) frame_turn: usize,
    pub(super) opening: u32,
    pub(super) open: u32,
    pub(super) waiting: u32,
    pub(super) owed: u64,
    pub(super) closing: u32,
    pub(super) retries: VecDeque<u32>,
    pub(super) retry_at: Nanos,
    /// When the last connection was tried for the first time.
    pub(super) last_first: Nanos,
    pub(super) timers: Timers<Wake>,
    pub(super) open_deadlines: Deadlines,
    pub(super) response_deadlines: Deadlines,
    pub(super) close_deadlines: Deadlines,
    /// Deadlines are not checked before this instant.
    pub(super) spared_until: Nanos,
    /// The loop polls again by then.
    awake_at: Nanos,
    /// Taken turns of [`Work::Every`].
    pub(super) turns: u64,
    pub(super) started: Nanos,
    pub(super) stops_opening: bool,
    /// When closing began, and how many connections were handled since.
    pub(super) closing_since: Option<Nanos>,
    pub(super) closing_next: u32,
    /// The grace for what is in flight is over.
    pub(super) grace_is_over: bool,
    /// Peers that replied to a close, and peers that did not.
    pub(super) agreed: u32,
    pub(super) unacknowledged: u32,
    pub(super) random: Random,
    pub(super) scratch: Scratch,
    pub(super) plain: Vec<u8>,
    spare: Vec<Vec<u8>>,
    pub(super) unreported: Box<Held>,
}

impl HoldRuntime {
    pub(super) fn new(job: Arc<HoldConfig>, segment: Segment, sockets: &mut dyn Sockets) -> Self {
        let count = segment.count_of_first(job.connections) as u32;
        let templates =
            job.messaging.iter().flat_map(PreparedMessaging::all_frames).map(|frame| sockets.register(frame.clone()));
        let templates = templates.collect();
        let frame_bytes =
            job.messaging.iter().flat_map(PreparedMessaging::all_frames).map(|frame| frame.len()).max().unwrap_or(0);
        let is_http = job.messaging.is_none();
        let request = is_http.then(|| sockets.register(job.step.request_bytes().clone()));
        Self {
            segment: segment.clone(),
            count,
            connections: Vec::with_capacity(count as usize),
            by_socket: Vec::with_capacity(count as usize),
            templates,
            message_bytes_max: frame_bytes + frame_bytes.div_ceil(RECORD_BYTES) * SEAL_BYTES_MAX,
            request,
            frame_turn: 0,
            rotation: job.turns.clone(),
            elsewhere: VecDeque::new(),
            opening: 0,
            open: 0,
            waiting: 0,
            owed: 0,
            closing: 0,
            retries: VecDeque::new(),
            retry_at: Nanos::ZERO,
            last_first: Nanos::ZERO,
            timers: Timers::default(),
            open_deadlines: Deadlines::default(),
            response_deadlines: Deadlines::default(),
            close_deadlines: Deadlines::default(),
            spared_until: Nanos::ZERO,
            awake_at: Nanos::NEVER,
            turns: 0,
            started: Nanos::ZERO,
            stops_opening: false,
            closing_since: None,
            closing_next: 0,
            grace_is_over: false,
            agreed: 0,
            unacknowledged: 0,
            random: Random::for_stream(1, segment.nth(0)),
            scratch: Scratch::default(),
            plain: Vec::new(),
            spare: Vec::new(),
            unreported: Box::default(),
            job,
        }
    }

    pub(super) fn start_at(&mut self, started: Nanos) {
        self.started = started;
    }

    pub(super) fn interval(&self) -> Nanos {
        self.job.interval
    }

    /// The current state counts.
    pub(super) fn now(&self) -> HeldNow {
        HeldNow {
            connecting: u64::from(self.opening),
            open: u64::from(self.open),
            waiting: u64::from(self.waiting) + self.retries.len() as u64,
            owed: self.owed,
        }
    }

    /// The loop may sleep until this instant.
    pub(super) fn sleep_until(&mut self, until: Nanos) {
        self.awake_at = until;
    }

    /// The loop polls again. After a stall, what it had stamped as sent just before may have left only now: peers get
    /// some time for their responses, whatever deadlines passed meanwhile.
    pub(super) fn wake_at(&mut self, now: Nanos) {
        if now.since(self.awake_at) > STALL_MIN {
            self.spared_until = now + SPARED;
        }
        self.awake_at = Nanos::NEVER;
    }

    /// Does everything that is due.
    pub(super) fn turn(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        if self.is_closing() {
            self.close_some(now, sockets);
        } else {
            self.open_some(now, sockets);
            self.speak_some(now, sockets);
        }
        while let Some(wake) = self.timers.poll(now) {
            match wake {
                Wake::Retry(number) => self.retry_due(number),
                Wake::Speak(number, at) => self.pause_over(number, at, now, sockets),
                Wake::Part(number, since) => self.part(number, since, now, sockets),
            }
        }
        self.look_at_deadlines(now, sockets);
    }

    /// When `turn` must be called again.
    pub(super) fn next_turn(&self, now: Nanos) -> Nanos {
        let work = if self.is_closing() { self.next_close(now) } else { self.next_open(now).min(self.next_speak()) };
        work.min(self.timers.next()).min(self.next_deadline())
    }

    /// The connection of a socket.
    pub(super) fn find(&self, socket: Socket) -> Option<u32> {
        let number = *self.by_socket.get(socket.index as usize)?;
        let is_its_own = self.connections.get(number as usize).is_some_and(|connection| {
            connection.socket == socket && !matches!(connection.phase, Phase::Gone | Phase::Waits)
        });
        is_its_own.then_some(number)
    }

    pub(super) fn remember(&mut self, socket: Socket, number: u32) {
        let index = socket.index as usize;
        if index >= self.by_socket.len() {
            self.by_socket.resize(index + 1, u32::MAX);
        }
        self.by_socket[index] = number;
    }

    pub(super) fn get(&mut self, number: u32) -> &mut Connection {
        &mut self.connections[number as usize]
    }

    /// A mask for the next outgoing frame.
    pub(super) fn mask(&mut self) -> Mask {
        (self.random.next_u64() as u32).to_le_bytes()
    }

    pub(super) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    pub(super) fn give_back(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < SPARE_MAX && buffer.capacity() <= SPARE_BYTES_MAX {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// Sends bytes of its own, sealed where there is TLS. False when the session is broken, and the connection gone.
    pub(super) fn send_own(&mut self, number: u32, bytes: Vec<u8>, sockets: &mut dyn Sockets) -> bool {
        let mut sealed = self.buffer();
        let connection = &mut self.connections[number as usize];
        let socket = connection.socket;
        let session = connection.more.as_mut().and_then(|more| more.tls.as_mut());
        let out = match session.map(|session| session.seal(&bytes, &mut sealed)) {
            None => {
                self.give_back(sealed);
                bytes
            }
            Some(Ok(())) => {
                self.give_back(bytes);
                sealed
            }
            Some(Err(fault)) => {
                let now = sockets.now();
                self.lose(number, faults::tls(fault), now, sockets);
                return false;
            }
        };
        self.send_raw(socket, out, sockets);
        true
    }

    pub(super) fn send_raw(&mut self, socket: Socket, bytes: Vec<u8>, sockets: &mut dyn Sockets) {
        self.unreported.counts[HeldCounter::BytesQueued] += bytes.len() as u64;
        sockets.send(socket, Outgoing::Lent(bytes));
    }

    /// Closes the connection here, and counts its failure.
    pub(super) fn lose(&mut self, number: u32, failure: Failure, now: Nanos, sockets: &mut dyn Sockets) {
        self.close_socket(number, sockets);
        self.gone(number, failure, now);
    }

    /// Closes the socket. Nothing more goes out: what the kernel has not taken by now it never will, and that is known
    /// to the byte.
    pub(super) fn close_socket(&mut self, number: u32, sockets: &mut dyn Sockets) {
        let socket = self.get(number).socket;
        let untaken = if sockets.unsent(socket) > 0 { sockets.stop_sending(socket) } else { 0 };
        sockets.close(socket);
        self.take_back(number, untaken);
    }

    /// The kernel never took `untaken` bytes; a message on its way was then not sent as a whole.
    pub(super) fn take_back(&mut self, number: u32, untaken: usize) {
        let is_cut = untaken > 0 && matches!(self.get(number).phase, Phase::Asks | Phase::Says);
        self.unreported.counts[HeldCounter::BytesUnsent] += untaken as u64;
        self.unreported.counts[HeldCounter::MessagesUntaken] += u64::from(is_cut);
    }

    fn count_lost(&mut self, number: u32, failure: Failure, now: Nanos) {
        self.give_up_owed(number, now);
        let connection = &mut self.connections[number as usize];
        self.open -= 1;
        self.unreported.counts.lost[failure.index()] += 1;
        if connection.phase == Phase::Asks {
            self.unreported.counts[HeldCounter::Unanswered] += 1;
            self.unreported.incomplete.record(now.since(connection.intended).0);
        }
    }

    /// An established connection is lost; its peer was notified, and may close first.
    pub(super) fn leave(&mut self, number: u32, failure: Failure, now: Nanos, sockets: &mut dyn Sockets) {
        self.count_lost(number, failure, now);
        let connection = self.get(number);
        (connection.phase, connection.since, connection.is_ending) = (Phase::Leaves, now, false);
        let socket = connection.socket;
        self.closing += 1;
        self.close_deadlines.push(number, now);
        sockets.shutdown(socket);
    }

    /// The socket is gone: the connection counts with its failure.
    pub(super) fn gone(&mut self, number: u32, failure: Failure, now: Nanos) {
        let connection = &mut self.connections[number as usize];
        let phase = connection.phase;
        let is_agreed = connection.is_ending;
        match phase {
            Phase::Connects if self.goes_elsewhere(number, failure, now) => {
                self.opening -= 1;
                let connection = &mut self.connections[number as usize];
                (connection.phase, connection.more, connection.is_ending) = (Phase::Gone, None, false);
                return self.elsewhere.push_back((number, failure));
            }
            Phase::Connects | Phase::Shakes | Phase::Begins => {
                self.opening -= 1;
                self.unreported.counts.failed[failure.index()] += 1;
            }
            Phase::Idle | Phase::Asks | Phase::Says => self.count_lost(number, failure, now),
            _ => {}
        }
        let connection = &mut self.connections[number as usize];
        (connection.phase, connection.more, connection.is_ending) = (Phase::Gone, None, false);
        match phase {
            Phase::Connects | Phase::Shakes | Phase::Begins | Phase::Idle | Phase::Asks | Phase::Says => {}
            Phase::Closes => {
                self.closing -= 1;
                self.unreported.counts[if is_agreed { HeldCounter::Closed } else { HeldCounter::CloseTimedOut }] += 1;
                if is_agreed {
                    self.agreed += 1;
                } else {
                    self.unacknowledged += 1;
                }
                return;
            }
            Phase::Leaves => self.closing -= 1,
            Phase::Gone | Phase::Waits => return,
        }
        if self.job.reconnects && !self.is_closing() {
            let was_established = matches!(phase, Phase::Idle | Phase::Asks | Phase::Says | Phase::Leaves);
            self.plan_retry(number, was_established, now);
        }
    }
}
