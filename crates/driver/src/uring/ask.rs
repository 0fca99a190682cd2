//! Synchronous queries: how much of a send the kernel took, and how much of it the kernel still holds.
//!
//! The response is a completion, so the rings are entered without waiting, and completions are collected until it has
//! arrived. The other completions are carried, and the next wait handles them first. Entering also lets the kernel go
//! on with other sockets of the ring; that is work that the next wait would have done.

use io_uring::{opcode, squeue, types};

use super::UringSockets;
use super::complete::is_send_failure;
use super::op::Op;
use super::table::Kind;
use crate::pending::PendingSockets;
use crate::{Left, Socket, Sockets};

/// Maximum calls until a response has arrived: the kernel posts about twenty completions in one, and those of a few
/// thousand sockets may come first.
const ENTERS_MAX: usize = 256;
/// The socket command for the unacknowledged bytes (SOCKET_URING_OP_SIOCOUTQ), since Linux 6.7.
const UNACKNOWLEDGED: u32 = 1;

impl UringSockets {
    /// The bytes of a stream that wait in the driver, plus those that the kernel holds.
    pub(super) fn ask_unacknowledged(&mut self, socket: Socket) -> Option<usize> {
        // A send that waits for room reports its progress only when it ends; it is restarted below.
        let is_settled = self.settle(socket).is_some();
        let held = self.ask_held(socket);
        self.gather_refused(socket);
        let waiting = self.waiting(socket);
        self.send_next(socket);
        if is_settled { Some(waiting + held?) } else { None }
    }

    /// Drops the queued sends; returns how many bytes of them the kernel did not take.
    pub(super) fn drop_queue(&mut self, socket: Socket) -> usize {
        let is_settled = self.settle(socket).is_some();
        // Refusals of queued templates are known only after they were submitted.
        self.submit_now();
        self.gather_refused(socket);
        let waiting = self.waiting(socket);
        let Some(more) = self.table.find(socket).and_then(|entry| entry.more.as_mut()) else { return 0 };
        if waiting > 0 || !is_settled {
            more.shut_after_queue = false;
        }
        more.queue.clear();
        more.refused = 0;
        if is_settled {
            return waiting;
        }
        // The kernel may still read it, and perhaps takes part of it.
        let Some(pending) = more.sending.take() else { return waiting };
        let in_flight = pending.unsent();
        self.orphans.insert(Op::Send.data(socket), pending);
        waiting + in_flight
    }

    /// The unsent and unacknowledged bytes of a socket that failed and is about to be released.
    pub(super) fn left(&mut self, socket: Socket) -> Left {
        let Some(entry) = self.table.find(socket) else { return Left::default() };
        if entry.kind != Kind::Stream {
            return Left { untaken: self.unsent(socket), unacknowledged: None };
        }
        let untaken = self.drop_queue(socket);
        Left { untaken, unacknowledged: self.ask_held(socket).map(|held| untaken + held) }
    }

    /// Bytes that the kernel has not taken, apart from the send in progress.
    fn waiting(&mut self, socket: Socket) -> usize {
        let more = self.table.find(socket).and_then(|entry| entry.more.as_ref());
        more.map_or(0, |more| more.refused + more.queue.iter().map(PendingSockets::unsent).sum::<usize>())
    }

    /// Removes failed small templates of this socket from the carried completions, and counts their bytes.
    fn gather_refused(&mut self, socket: Socket) {
        let Some(entry) = self.table.find(socket) else { return };
        let ring = &mut self.rings[usize::from(entry.ring)];
        ring.reap();
        let refused = ring.take_refused(socket);
        if refused > 0 {
            entry.more_mut().refused += refused;
            entry.send_failed = true;
            self.again.push_back(socket);
        }
    }

    /// Ends the send in progress, and puts the rest of it back into the queue. A send that was taken whole is still to
    /// be reported. `None`: the kernel does not report its progress.
    fn settle(&mut self, socket: Socket) -> Option<()> {
        let Some(entry) = self.table.find(socket).filter(|entry| entry.is_sending()) else { return Some(()) };
        let ring = usize::from(entry.ring);
        let data = Op::Send.data(socket);
        self.rings[ring].reap();
        let place = match self.rings[ring].find_carried(0, data) {
            Some(place) => place,
            None => {
                let cancel = opcode::AsyncCancel::new(data).build().flags(squeue::Flags::SKIP_SUCCESS);
                self.rings[ring].push(&cancel.user_data(Op::Quiet.data(socket)));
                self.await_completion(ring, data)?
            }
        };
        let result = self.rings[ring].carried[place].result();
        let entry = self.table.find(socket)?;
        let more = entry.more.as_mut()?;
        let unsent = more.sending.as_ref()?.unsent();
        if usize::try_from(result) == Ok(unsent) {
            return Some(());
        }
        let mut pending = more.sending.take()?;
        pending.take(result.max(0) as usize);
        more.queue.push_front(pending);
        if is_send_failure(result, unsent) {
            entry.send_failed = true;
            self.again.push_back(socket);
        }
        self.rings[ring].carried.remove(place);
        Some(())
    }

    /// Sequence numbers that the peer has not acknowledged, as bytes.
    fn ask_held(&mut self, socket: Socket) -> Option<usize> {
        let entry = self.table.find(socket)?;
        let (ring, slot) = (usize::from(entry.ring), entry.slot);
        let result = self.ask(ring, opcode::UringCmd16::new(types::Fixed(slot), UNACKNOWLEDGED).build())?;
        let held = usize::try_from(result).ok()?;
        // Our end comes last: as long as it is not acknowledged, it is counted as one unacknowledged byte. While the
        // kernel is about to send it, one too few means "unknown" for the last byte, and one too many would mean "not
        // taken".
        let is_shut = self.table.find(socket).is_some_and(|entry| entry.is_shut || entry.is_shutting);
        Some(held.saturating_sub(usize::from(is_shut)))
    }

    /// Whether the peer has refused something. Its end has arrived, so a poll completes at once.
    pub(super) fn ask_reset(&mut self, socket: Socket) -> bool {
        let Some(entry) = self.table.find(socket) else { return false };
        let (ring, slot) = (usize::from(entry.ring), entry.slot);
        let result = self.ask(ring, opcode::PollAdd::new(types::Fixed(slot), libc::POLLIN as u32).build());
        result.is_some_and(|result| result & i32::from(libc::POLLERR | libc::POLLHUP) != 0)
    }

    /// The result of a query.
    pub(super) fn ask(&mut self, ring: usize, query: squeue::Entry) -> Option<i32> {
        self.questions = self.questions.wrapping_add(1);
        let data = Op::Ask.data(Socket { index: self.questions, generation: 0 });
        self.rings[ring].push(&query.user_data(data));
        let place = self.await_completion(ring, data)?;
        self.rings[ring].carried.remove(place).map(|response| response.result())
    }

    /// Submits the queues. The caller reads the clock for its stamps, and did so before the query.
    fn submit_now(&mut self) {
        let stamp = self.last_now.get();
        self.submit_all();
        self.last_now.set(stamp);
    }

    /// Enters the kernel until the completion with this user data is carried, and returns its index. No other
    /// completion is handled.
    fn await_completion(&mut self, ring: usize, user_data: u64) -> Option<usize> {
        self.submit_now();
        for _ in 0..ENTERS_MAX {
            let known = self.rings[ring].carried.len();
            self.rings[ring].reap();
            if let Some(place) = self.rings[ring].find_carried(known, user_data) {
                return Some(place);
            }
            if !self.rings[ring].may_bring_more() {
                return None;
            }
            if let Err(error) = self.rings[ring].run_tasks() {
                self.broken.get_or_insert(error);
                return None;
            }
        }
        None
    }
}
