//! The connections of a shard.

use std::collections::VecDeque;
use std::sync::Arc;

use driver::{Outgoing, Socket, Sockets, Template};
use metrics::{Failure, Held, HeldCounter, HeldNow};
use pacing::{Nanos, Random, Segment};
use wire::connection::{AnyConnection, IdleState, Mask, Scratch};
use wire::tls;

use super::job::HoldConfig;
use crate::faults;
use crate::talk::PreparedTalk;
use crate::timers::Timers;

/// Buffers that are kept for later.
const SPARE_MAX: usize = 64;
/// A buffer that grew beyond this is not kept.
const SPARE_BYTES_MAX: usize = 64 * 1024;
/// A loop that looks later than it meant to by more than this stood still.
const STALL_MIN: Nanos = Nanos::from_millis(50);
/// How long peers have after a stall of ours, whatever deadlines passed in it.
const SPARED: Nanos = Nanos::from_millis(100);
/// Content of one record of TLS, and what seals it at most (RFC 8446 5.2).
const RECORD_BYTES: usize = 16 * 1024;
const SEAL_BYTES_MAX: usize = 261;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// It is not there.
    Gone,
    /// It waits until it is tried again.
    Waits,
    /// The socket is to be connected.
    Connects,
    /// TLS is to be agreed on.
    Shakes,
    /// WebSocket is to be agreed on, or a first answer of HTTP is to come.
    Begins,
    /// It is established, and nothing is awaited.
    Idle,
    /// An answer is to come.
    Asks,
    /// The kernel is to take a message to which there is no answer.
    Says,
    /// The peer is to close.
    Closes,
    /// It is lost: the peer has heard so, and is to close.
    Leaves,
}

/// One connection. There may be a million.
pub(super) struct Connection {
    pub(super) socket: Socket,
    /// When it was tried, when its message left, or when something came unasked, by its phase.
    pub(super) since: Nanos,
    /// When the message was due to which an answer is awaited.
    pub(super) intended: Nanos,
    /// What only a busy connection has, or one with TLS.
    pub(super) more: Option<Box<More>>,
    /// Messages whose time has come while another one was on its way.
    pub(super) owed: u32,
    pub(super) phase: Phase,
    /// Tries that failed since it was established the last time.
    pub(super) tries: u8,
    /// What is known of its line while nothing has come.
    pub(super) parked: IdleState,
    /// It was tried before.
    pub(super) was_tried: bool,
    /// It was there once.
    pub(super) was_established: bool,
    /// It is to be closed when the answer has come; or the peer has agreed to the close.
    pub(super) is_ending: bool,
}

/// See [`Connection::more`].
#[derive(Default)]
pub(super) struct More {
    pub(super) tls: Option<tls::Session>,
    /// What is spoken, when more is to be known of it than [`Connection::parked`].
    pub(super) line: Option<AnyConnection>,
    /// The status of an answer of HTTP, and whether its connection stays.
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

    /// Gives back what it does not need any more.
    pub(super) fn tidy(&mut self) {
        self.more.take_if(|more| !more.is_needed());
    }

    pub(super) fn is_established(&self) -> bool {
        matches!(self.phase, Phase::Idle | Phase::Asks | Phase::Says)
    }

    /// It waits for the end of its peer.
    pub(super) fn is_parting(&self) -> bool {
        matches!(self.phase, Phase::Closes | Phase::Leaves)
    }

    pub(super) fn is_opening(&self) -> bool {
        matches!(self.phase, Phase::Connects | Phase::Shakes | Phase::Begins)
    }
}

/// Whom a timer wakes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wake {
    /// It is tried again.
    Retry(u32),
    /// Its pause is over at this instant; a connection that was lost meanwhile has begun another one.
    Speak(u32, Nanos),
    /// Its peer, which has agreed to the close that was sent then, could have closed by now.
    Part(u32, Nanos),
}

/// Deadlines that come in the order in which they were set, since all are as far away.
#[derive(Default)]
pub(super) struct Deadlines(VecDeque<(u32, Nanos)>);

impl Deadlines {
    pub(super) fn push(&mut self, number: u32, since: Nanos) {
        self.0.push_back((number, since));
    }

    pub(super) fn front(&self) -> Option<(u32, Nanos)> {
        self.0.front().copied()
    }

    /// Forgets the first ones, up to one of a connection that still waits.
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

/// See the module.
pub(super) struct HoldRuntime {
    pub(super) job: Arc<HoldConfig>,
    pub(super) segment: Segment,
    /// Its own connections.
    pub(super) count: u32,
    pub(super) connections: Vec<Connection>,
    /// The connection of each socket, by its index.
    by_socket: Vec<u32>,
    pub(super) templates: Vec<Template>,
    /// Bytes of the longest message as it leaves, sealed or not.
    pub(super) message_bytes_max: usize,
    /// The request of HTTP.
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
    /// Deadlines are not looked at before.
    pub(super) spared_until: Nanos,
    /// The loop looks again by then.
    awake_at: Nanos,
    /// Turns of [`Work::Every`] that were taken.
    pub(super) turns: u64,
    pub(super) started: Nanos,
    pub(super) stops_opening: bool,
    /// When the closing began, and how many connections were seen to.
    pub(super) closing_since: Option<Nanos>,
    pub(super) closing_next: u32,
    /// What was in flight has had its time.
    pub(super) grace_is_over: bool,
    /// Peers that answered a close, and that did not.
    pub(super) agreed: u32,
    pub(super) unheard: u32,
    pub(super) random: Random,
    pub(super) scratch: Scratch,
    pub(super) plain: Vec<u8>,
    spare: Vec<Vec<u8>>,
    pub(super) seen: Box<Held>,
}

impl HoldRuntime {
    pub(super) fn new<S: Sockets>(job: Arc<HoldConfig>, segment: Segment, sockets: &mut S) -> Self {
        let count = segment.count_of_first(job.connections) as u32;
        let templates = job.talk.iter().flat_map(PreparedTalk::all_frames).map(|frame| sockets.register(frame.clone()));
        let templates = templates.collect();
        let frame_bytes =
            job.talk.iter().flat_map(PreparedTalk::all_frames).map(|frame| frame.len()).max().unwrap_or(0);
        let is_http = job.talk.is_none();
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
            unheard: 0,
            random: Random::of_stream(1, segment.nth(0)),
            scratch: Scratch::default(),
            plain: Vec::new(),
            spare: Vec::new(),
            seen: Box::default(),
            job,
        }
    }

    pub(super) fn start_at(&mut self, started: Nanos) {
        self.started = started;
    }

    pub(super) fn interval(&self) -> Nanos {
        self.job.interval
    }

    /// How things stand.
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

    /// The loop looks again. When it stood still, what it had stamped as sent just before may have left only now: peers
    /// have a while for their answers, whatever deadlines passed meanwhile.
    pub(super) fn wake_at(&mut self, now: Nanos) {
        if now.since(self.awake_at) > STALL_MIN {
            self.spared_until = now + SPARED;
        }
        self.awake_at = Nanos::NEVER;
    }

    /// Does what is due.
    pub(super) fn turn<S: Sockets>(&mut self, now: Nanos, sockets: &mut S) {
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

    /// Covers what leaves next.
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
    pub(super) fn send_own<S: Sockets>(&mut self, number: u32, bytes: Vec<u8>, sockets: &mut S) -> bool {
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

    pub(super) fn send_raw<S: Sockets>(&mut self, socket: Socket, bytes: Vec<u8>, sockets: &mut S) {
        self.seen.counts[HeldCounter::BytesQueued] += bytes.len() as u64;
        sockets.send(socket, Outgoing::Lent(bytes));
    }

    /// The connection is closed here, and counts as what it was.
    pub(super) fn lose<S: Sockets>(&mut self, number: u32, failure: Failure, now: Nanos, sockets: &mut S) {
        self.close_socket(number, sockets);
        self.gone(number, failure, now);
    }

    /// Nothing more goes out: what the kernel has not taken by now it never will, and that is known to the byte.
    pub(super) fn close_socket<S: Sockets>(&mut self, number: u32, sockets: &mut S) {
        let socket = self.get(number).socket;
        let untaken = if sockets.unsent(socket) > 0 { sockets.stop_sending(socket) } else { 0 };
        sockets.close(socket);
        self.take_back(number, untaken);
    }

    /// The kernel never took so many bytes; the message that was on its way did not leave as a whole then.
    pub(super) fn take_back(&mut self, number: u32, untaken: usize) {
        let is_cut = untaken > 0 && matches!(self.get(number).phase, Phase::Asks | Phase::Says);
        self.seen.counts[HeldCounter::BytesUnsent] += untaken as u64;
        self.seen.counts[HeldCounter::MessagesUntaken] += u64::from(is_cut);
    }

    fn count_lost(&mut self, number: u32, failure: Failure, now: Nanos) {
        self.give_up_owed(number, now);
        let connection = &mut self.connections[number as usize];
        self.open -= 1;
        self.seen.counts.lost[failure.index()] += 1;
        if connection.phase == Phase::Asks {
            self.seen.counts[HeldCounter::Unanswered] += 1;
            self.seen.incomplete.record(now.since(connection.intended).0);
        }
    }

    /// An established connection is lost; its peer has been told so, and may close first.
    pub(super) fn leave<S: Sockets>(&mut self, number: u32, failure: Failure, now: Nanos, sockets: &mut S) {
        self.count_lost(number, failure, now);
        let connection = self.get(number);
        (connection.phase, connection.since, connection.is_ending) = (Phase::Leaves, now, false);
        let socket = connection.socket;
        self.closing += 1;
        self.close_deadlines.push(number, now);
        sockets.shutdown(socket);
    }

    /// The socket is gone: the connection counts as what it was.
    pub(super) fn gone(&mut self, number: u32, failure: Failure, now: Nanos) {
        let connection = &mut self.connections[number as usize];
        let phase = connection.phase;
        let is_agreed = connection.is_ending;
        match phase {
            Phase::Connects | Phase::Shakes | Phase::Begins => {
                self.opening -= 1;
                self.seen.counts.failed[failure.index()] += 1;
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
                self.seen.counts[if is_agreed { HeldCounter::Closed } else { HeldCounter::CloseTimedOut }] += 1;
                if is_agreed {
                    self.agreed += 1;
                } else {
                    self.unheard += 1;
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
