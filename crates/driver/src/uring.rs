//! The driver on io_uring: direct descriptors, multishot receives into provided buffers, multishot accepts, batched
//! submission; small templates are sent without a completion.
//!
//! Direct descriptors do not count against RLIMIT_NOFILE, but the table of one ring is bounded by it; so a driver
//! owns as many rings as its sockets need and waits on them together. Everything that the kernel may lack is found
//! when the first ring is made ([`probe`]). A completion finds its socket by the index and the generation in its user
//! data. Memory that the kernel may still read is owned by the driver until the completion, also when the socket is
//! closed before (`orphans`).
//!
//! - A table serves either outgoing or incoming connections; an accept moves to another ring before its table
//!   overflows.
//! - The kernel shuts down our side of a socket on a separate thread, which reads the slot only then; so a slot is
//!   released after that (`shutting`).
//! - All rings signal one eventfd, since the descriptor of a ring with deferred work wakes no poller.
//! - A queue of requests is submitted before its last one would be late by more than 20 us (`uring/stamps.rs`),
//!   estimated from the recent cost per request; so timestamps of requests are true. Connections are opened after
//!   requests.

mod address;
mod ask;
mod buffers;
mod complete;
mod datagrams;
mod op;
mod opening;
mod ring;
mod stamps;
mod table;
mod verbs;

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use io_uring::{opcode, squeue, types};
use pacing::Nanos;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use crate::pending::PendingSockets;
use crate::short_sleep::ShortSleep;
use crate::table::SocketTable;
use crate::timer::Timer;
use crate::{Clock, Driver, Event, OpenOptions, Peer, Socket, Sockets, Waker};
use op::Op;
use ring::{Purpose, Ring};
use stamps::Stamps;
pub use stamps::{STAMP_ERROR_MAX, StampErrors};
use table::{Entry, Kind, More};

/// A nearer deadline is passed to the wait itself; arming the timer for it would cost a call.
const NEAR: Nanos = Nanos::from_millis(10);
/// Maximum connections queued in one submission, after the requests. A connection costs the kernel some 20 us (the
/// whole handshake, on loopback), and one submission for each would cost a third more; so the connect time of the last
/// contains the cost of those before it. Nothing else is timed from that instant.
const OPENS_WAITING_MAX: usize = 32;
/// A template up to this size is sent without a completion: the kernel takes it whole, since nothing else is queued.
const SMALL_TEMPLATE_BYTES: usize = 4 * 1024;

/// Maximum number of `More` boxes that are retained for reuse.
const SPARE_MAX: usize = 256;

/// Checks whether this system supports the driver.
///
/// # Errors
/// The feature that the kernel lacks or refuses.
pub fn probe() -> Result<(), std::io::Error> {
    Ring::new(Purpose::Open, 16, ring::BUFFERS_OF_ONE).map(drop)
}

/// The driver.
pub struct UringDriver {
    sockets: UringSockets,
    waker: Waker,
}

/// Its socket operations.
pub(crate) struct UringSockets {
    clock: Clock,
    rings: Vec<Ring>,
    /// The eventfd that all rings signal, once there are several: the descriptor of a ring that defers its work wakes
    /// no poller.
    bell: OwnedFd,
    table: SocketTable<Entry>,
    templates: Vec<Arc<[u8]>>,
    /// Addresses of peers in the kernel's form, while a submission may point at them.
    peers: Vec<(Peer, Box<address::Address>)>,
    /// Bytes that the kernel may still read for closed sockets, by user data.
    orphans: HashMap<u64, PendingSockets>,
    /// Sent datagrams, oldest first: the kernel reads their bytes when the queue is submitted.
    datagrams: VecDeque<(Socket, PendingSockets)>,
    /// How many of them were submitted before this wait: their buffers can go back.
    datagrams_taken: usize,
    /// Boxes of sockets that became idle.
    #[expect(clippy::vec_box, reason = "a box moves between here and a socket")]
    spare: Vec<Box<More>>,
    /// Slots of closed sockets whose shutdown is in progress: (ring, slot, whether the kernel chose it).
    shutting: HashMap<u64, (usize, u32, bool)>,
    /// Sockets whose multishot receive ended and is to be armed again.
    rearm: Vec<Socket>,
    /// Sockets with something to report that no completion will report.
    again: VecDeque<Socket>,
    stamps: Stamps,
    /// Connections that were requested and are not yet queued.
    opening: Vec<(Socket, OpenOptions)>,
    /// The last reading of the clock: the stamp of the next queued operation.
    last_now: Cell<Nanos>,
    /// The error of a submission outside of a wait.
    broken: Option<std::io::Error>,
    wake: Arc<OwnedFd>,
    timer: Timer,
    short_sleep: ShortSleep,
    /// Whether the last wait left something that is not among the carried completions of the rings.
    has_more: bool,
    /// Number of queries so far: a late response is not taken for that of another query.
    questions: u32,
}

impl UringDriver {
    /// A driver on the clock of the run, for the calling thread.
    ///
    /// # Errors
    /// The kernel refuses the ring; see [`probe`].
    pub fn new(clock: Clock) -> Result<Self, std::io::Error> {
        crate::timer::wake_exactly();
        let wake = Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?);
        let mut sockets = UringSockets {
            clock,
            rings: Vec::new(),
            bell: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
            table: SocketTable::default(),
            templates: Vec::new(),
            peers: Vec::new(),
            orphans: HashMap::new(),
            datagrams: VecDeque::new(),
            datagrams_taken: 0,
            spare: Vec::new(),
            shutting: HashMap::new(),
            rearm: Vec::new(),
            again: VecDeque::new(),
            stamps: Stamps::new(),
            opening: Vec::new(),
            last_now: Cell::new(Nanos::ZERO),
            broken: None,
            wake: wake.clone(),
            timer: Timer::new()?,
            short_sleep: ShortSleep::new(),
            has_more: false,
            questions: 0,
        };
        sockets.add_ring(Purpose::Open)?;
        sockets.listen_to(Op::Wake);
        sockets.listen_to(Op::Timer);
        let waker = Waker::new(move || {
            // A full counter already wakes.
            let _ = rustix::io::write(&*wake, &1u64.to_ne_bytes());
        });
        Ok(Self { sockets, waker })
    }

    /// The exactness of the stamps so far.
    pub fn stamp_errors(&self) -> StampErrors {
        self.sockets.stamps.errors
    }
}

impl Driver for UringDriver {
    fn sockets(&mut self) -> &mut dyn Sockets {
        &mut self.sockets
    }

    fn now(&self) -> Nanos {
        self.sockets.now()
    }

    fn waker(&self) -> Waker {
        self.waker.clone()
    }

    fn wait(
        &mut self,
        until: Nanos,
        mut handle: impl FnMut(&mut dyn Sockets, Event<'_>),
    ) -> Result<(), std::io::Error> {
        let sockets = &mut self.sockets;
        // The reported events may have set an earlier deadline than the caller passed.
        let until = if sockets.report_left_over(&mut handle) { Nanos::ZERO } else { until };
        sockets.rearm_all();
        let datagrams = sockets.datagrams.len();
        sockets.submit_and_wait(until)?;
        let is_submitted = datagrams == 0 || sockets.rings.iter_mut().all(Ring::is_submitted);
        sockets.datagrams_taken = if is_submitted { datagrams } else { 0 };
        let is_cut_short = sockets.rings.iter_mut().any(Ring::is_cut_short);
        for index in 0..sockets.rings.len() {
            sockets.rings[index].begin_wait();
            sockets.rings[index].reap();
            // Completions that are carried while these are handled wait for the next wait.
            for _ in 0..sockets.rings[index].carried.len() {
                let Some(completion) = sockets.rings[index].carried.pop_front() else { break };
                sockets.complete(index, &completion, &mut handle);
                sockets.submit_if_due();
            }
        }
        sockets.give_back_datagrams(&mut handle);
        sockets.has_more = is_cut_short || !sockets.rearm.is_empty() || sockets.has_left_over();
        sockets.broken.take().map_or(Ok(()), Err)
    }

    fn coalesce(&mut self, span: Nanos) {
        self.sockets.short_sleep.allow(span);
    }

    fn has_more(&self) -> bool {
        self.sockets.has_more || self.sockets.rings.iter().any(|ring| !ring.carried.is_empty())
    }
}

impl UringSockets {
    fn add_ring(&mut self, purpose: Purpose) -> Result<usize, std::io::Error> {
        // One ring for opened sockets and one for accepted ones: more come only with many sockets.
        let is_of_few = !self.rings.iter().any(|ring| ring.is_for(purpose));
        let buffers = if is_of_few { ring::BUFFERS_OF_ONE } else { ring::BUFFERS_OF_MANY };
        let ring = Ring::new(purpose, ring::slot_count(), buffers)?;
        match self.rings.as_slice() {
            [] => {}
            [first] => {
                first.ring_bell(self.bell.as_raw_fd())?;
                ring.ring_bell(self.bell.as_raw_fd())?;
            }
            _ => ring.ring_bell(self.bell.as_raw_fd())?,
        }
        self.rings.push(ring);
        Ok(self.rings.len() - 1)
    }

    /// Each signal of the waker, and each expiry of the timer, is a completion.
    fn listen_to(&mut self, op: Op) {
        let nobody = Socket { index: u32::MAX, generation: 0 };
        let fd = if op == Op::Timer { self.timer.fd() } else { self.wake.as_raw_fd() };
        let poll = opcode::PollAdd::new(types::Fd(fd), libc::POLLIN as u32).multi(true);
        self.rings[0].push(&poll.build().user_data(op.data(nobody)));
    }

    /// The timeout of a wait itself. A near instant is passed to it; a far one has the timer.
    fn timeout(&mut self, until: Nanos, now: Nanos) -> Option<Nanos> {
        let span = until.since(now);
        if span < NEAR { Some(span) } else { self.timer.timeout(until, now).map(Nanos::from) }
    }

    /// Counts a stamped operation that was queued.
    fn count_queued(&mut self) {
        self.stamps.add(self.last_now.get());
        self.submit_if_due();
    }

    /// Submits the queue when it has waited as long as its stamps allow.
    #[inline]
    fn submit_if_due(&mut self) {
        if self.stamps.must_submit(self.last_now.get()) {
            self.submit_all();
        }
    }

    fn submit_all(&mut self) {
        let begun = self.now();
        self.submit_rings();
        let ended = self.now();
        self.stamps.submitted(begun, ended);
        if self.opening.len() >= OPENS_WAITING_MAX {
            self.push_opening();
            self.submit_rings();
        }
    }

    /// Submits the queues of all rings. A failure is returned by the next wait.
    fn submit_rings(&mut self) {
        if let Err(error) = self.rings.iter_mut().try_for_each(Ring::submit) {
            self.broken.get_or_insert(error);
        }
    }

    fn submit_and_wait(&mut self, until: Nanos) -> Result<(), std::io::Error> {
        if self.short_sleep.is_allowed() {
            self.coalesce(until);
        }
        let now = self.now();
        self.stamps.leave(now);
        self.push_opening();
        if let [ring] = self.rings.as_mut_slice() {
            let is_ready = !self.again.is_empty() || ring.has_work();
            let span = if is_ready { Some(Nanos::ZERO) } else { self.timeout(until, now) };
            return self.rings[0].submit_and_wait(span);
        }
        self.rings.iter_mut().try_for_each(Ring::submit)?;
        // The eventfd is read before the rings are checked, so that no signal is lost.
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        if self.again.is_empty() && !self.rings.iter_mut().any(Ring::has_work) {
            let timeout = self.timeout(until, now).map(|span| Timespec {
                tv_sec: (span.0 / 1_000_000_000) as i64,
                tv_nsec: (span.0 % 1_000_000_000) as i64,
            });
            // The waker is polled separately: its ring would signal the eventfd from within another eventfd wake-up,
            // which kernels defer, and some (6.18 among them) only once.
            let mut received = [PollFd::new(&self.bell, PollFlags::IN), PollFd::new(&*self.wake, PollFlags::IN)];
            match poll(&mut received, timeout.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        self.rings.iter_mut().filter_map(|ring| ring.has_work().then(|| ring.run_tasks())).collect()
    }

    /// Queued operations are submitted before a sleep, and leftovers of the last wait are reported first.
    fn coalesce(&mut self, until: Nanos) {
        if self.again.is_empty() && self.rings.iter().all(|ring| ring.carried.is_empty()) {
            self.push_opening();
            self.submit_all();
            self.short_sleep.take(until, &self.clock);
        }
    }

    fn arm_receive(&mut self, socket: Socket) {
        let Some(entry) = self.table.find(socket) else { return };
        if entry.receive_is_armed || !entry.receives || entry.peer_closed || entry.kind != Kind::Stream {
            return;
        }
        entry.receive_is_armed = true;
        let receive = match entry.is_datagram {
            true => Ring::receive_datagrams(entry.slot),
            false => Ring::receive_into(entry.slot, entry.is_large),
        };
        let receive = receive.user_data(entry.receive_op().data(socket));
        self.rings[usize::from(entry.ring)].push(&receive);
    }

    fn rearm_all(&mut self) {
        while let Some(socket) = self.rearm.pop() {
            self.arm_receive(socket);
        }
    }

    /// Frees the memory of a socket with nothing in progress, and nothing stored.
    fn tidy(&mut self, socket: Socket) {
        let Some(entry) = self.table.find(socket) else { return };
        if let Some(more) = entry.more.take_if(|more| more.is_idle())
            && self.spare.len() < SPARE_MAX
        {
            self.spare.push(more);
        }
    }

    /// Starts the next queued send when none is in progress.
    fn send_next(&mut self, socket: Socket) {
        let Some(entry) = self.table.find(socket) else { return };
        if entry.kind != Kind::Stream || entry.send_failed {
            return;
        }
        let (ring, slot) = (usize::from(entry.ring), entry.slot);
        let Some(more) = &mut entry.more else { return };
        if more.sending.is_some() {
            return;
        }
        match more.queue.pop_front() {
            Some(pending) => {
                let rest = pending.rest(&self.templates);
                // The kernel takes at most 2 GiB at once; the rest goes with the next send.
                let length = rest.len().min(1 << 30) as u32;
                let flags = if entry.is_datagram { libc::MSG_NOSIGNAL } else { SEND_FLAGS };
                let send = opcode::Send::new(types::Fixed(slot), rest.as_ptr(), length).flags(flags).build();
                more.sending = Some(pending);
                self.rings[ring].push(&send.user_data(Op::Send.data(socket)));
                self.count_queued();
            }
            None if more.shut_after_queue => {
                more.shut_after_queue = false;
                self.push_shutdown(socket);
            }
            None => {}
        }
    }

    /// Shuts down our side. The kernel does it on a thread of its own, which reads the slot only then: until it is done
    /// the slot must not have another owner.
    fn push_shutdown(&mut self, socket: Socket) {
        let Some(entry) = self.table.find(socket).filter(|entry| !entry.is_shutting) else { return };
        entry.is_shutting = true;
        let (ring, slot) = (usize::from(entry.ring), entry.slot);
        let shutdown = opcode::Shutdown::new(types::Fixed(slot), libc::SHUT_WR).build();
        self.rings[ring].push(&shutdown.user_data(Op::Shutdown.data(socket)));
    }

    /// Handles the completion of a shutdown; if the socket was closed meanwhile, its slot is released.
    fn shut(&mut self, data: u64, socket: Socket, result: i32) {
        if let Some((ring, slot, is_accepted)) = self.shutting.remove(&data) {
            self.close_slot(ring, slot, is_accepted);
        } else if let Some(entry) = self.table.find(socket) {
            entry.is_shutting = false;
            entry.is_shut |= result == 0;
        }
    }

    fn close_slot(&mut self, ring: usize, slot: u32, is_accepted: bool) {
        let quiet = Op::Quiet.data(Socket { index: 0, generation: 0 });
        let close = opcode::Close::new(types::Fixed(slot)).build();
        self.rings[ring].push(&close.flags(squeue::Flags::SKIP_SUCCESS).user_data(quiet));
        self.rings[ring].give_back(slot, is_accepted);
    }

    /// Releases the slot and forgets the socket. Memory that the kernel may still read is retained until its
    /// completion.
    fn release(&mut self, socket: Socket) {
        let Some(mut entry) = self.table.remove(socket) else { return };
        if entry.kind == Kind::Connecting
            && let Some(place) = self.opening.iter().position(|(opening, _)| *opening == socket)
        {
            let (_, options) = self.opening.swap_remove(place);
            if options.from.is_some() {
                return self.close_slot(usize::from(entry.ring), entry.slot, false);
            }
            return self.rings[usize::from(entry.ring)].give_back(entry.slot, false);
        }
        let is_sending = entry.is_sending();
        if let Some(more) = entry.more.take()
            && let Some(pending) = more.sending
        {
            self.orphans.insert(Op::Send.data(socket), pending);
        }
        if entry.kind == Kind::Listener {
            self.stop_accepting(&entry, socket);
            return;
        }
        let quiet = Op::Quiet.data(Socket { index: 0, generation: 0 });
        let ring = &mut self.rings[usize::from(entry.ring)];
        let waiting = match entry.kind {
            Kind::Connecting => Some(Op::Connect),
            _ if entry.receive_is_armed => Some(entry.receive_op()),
            _ => None,
        };
        if let Some(op) = waiting {
            // A close alone would leave the armed operation, and with it the connection, alive.
            let cancel = opcode::AsyncCancel::new(op.data(socket)).build();
            ring.push(&cancel.flags(squeue::Flags::SKIP_SUCCESS).user_data(quiet));
        }
        if is_sending {
            let cancel = opcode::AsyncCancel::new(Op::Send.data(socket)).build();
            ring.push(&cancel.flags(squeue::Flags::SKIP_SUCCESS).user_data(quiet));
        }
        let (ring, slot, is_accepted) = (usize::from(entry.ring), entry.slot, entry.is_accepted);
        if entry.is_shutting {
            self.shutting.insert(Op::Shutdown.data(socket), (ring, slot, is_accepted));
        } else {
            self.close_slot(ring, slot, is_accepted);
        }
    }

    fn stop_accepting(&mut self, entry: &Entry, socket: Socket) {
        let quiet = Op::Quiet.data(Socket { index: 0, generation: 0 });
        let cancel = opcode::AsyncCancel::new(Op::Accept.data(socket)).build();
        self.rings[usize::from(entry.ring)].push(&cancel.flags(squeue::Flags::SKIP_SUCCESS).user_data(quiet));
    }

    /// Accepts on a ring that can take a whole backlog; with a full table the kernel would accept and drop.
    fn arm_accept(&mut self, listener: Socket) {
        let Some(entry) = self.table.find(listener) else { return };
        let Some(fd) = entry.listener.as_ref().map(|fd| fd.as_raw_fd()) else { return };
        let ring = match self.rings.iter().rposition(Ring::can_accept) {
            Some(ring) => ring,
            None => match self.add_ring(Purpose::Accept) {
                Ok(ring) => ring,
                // No descriptor for another ring: it is retried with the next wait.
                Err(_) => return self.again.push_back(listener),
            },
        };
        let Some(entry) = self.table.find(listener) else { return };
        entry.ring = ring as u16;
        entry.receive_is_armed = true;
        let accept = opcode::AcceptMulti::new(types::Fd(fd)).allocate_file_index(true).build();
        self.rings[ring].push(&accept.user_data(Op::Accept.data(listener)));
    }
}

/// A send completes when all was taken, and a peer that is gone is an error, not a signal.
const SEND_FLAGS: i32 = libc::MSG_NOSIGNAL | libc::MSG_WAITALL;

impl Drop for UringSockets {
    /// Runs follow each other in one process: memory that the kernel may still read is not reused.
    fn drop(&mut self) {
        // Each ring is ended, even after one that failed to.
        let left = self.rings.iter_mut().filter_map(|ring| (!ring.end()).then_some(())).count();
        if left > 0 {
            std::mem::forget(std::mem::take(&mut self.templates));
            std::mem::forget(std::mem::take(&mut self.peers));
            std::mem::forget(std::mem::take(&mut self.orphans));
            std::mem::forget(std::mem::take(&mut self.datagrams));
            std::mem::forget(std::mem::take(&mut self.table));
        }
    }
}
