//! One ring: its queues, its table of direct descriptors, its buffers.

use std::collections::VecDeque;
use std::os::fd::RawFd;

use io_uring::{IoUring, Probe, cqueue, opcode, squeue, types};
use pacing::Nanos;

use super::buffers::{BufferShape, Buffers};
use super::op;
use crate::{DATAGRAM_BYTES_MAX, Socket, SocketError};

/// Size of the submission queue; a full queue is submitted.
const SUBMISSIONS: u32 = 1_024;
/// Size of the completion queue: eight times the submissions, so that a burst of receives does not overflow.
const COMPLETIONS: u32 = 8 * SUBMISSIONS;
/// Maximum slots of one ring's table; more sockets get another ring.
const SLOTS_MAX: u32 = 16 * 1_024;
/// Submissions of a full queue before the ring counts as broken: the kernel takes nothing any more.
const PUSH_TRIES_MAX: usize = 1_000;
/// Small buffers: a response with its head fits, a large one comes in several.
const SMALL: BufferShape =
    BufferShape { group: 0, bytes: DATAGRAM_BYTES_MAX, count: 1_024, first: 128, most: 1_024, least: 1_024 };
/// Buffers of every ring after the first: most sockets there receive little at a time. When the buffers are too few for
/// a moment, receives are re-armed.
pub(super) const BUFFERS_OF_MANY: BufferShape = BufferShape { first: 32, most: 64, ..SMALL };
/// Buffers of the first ring.
pub(super) const BUFFERS_OF_ONE: BufferShape = SMALL;
/// Buffers for sockets whose responses fill small ones, where each receive costs a call into the socket and a
/// completion. A ring has them from its first such socket on. As few as possible are in use, since a copy to memory
/// that is in no cache costs twice as much.
const LARGE: BufferShape = BufferShape { group: 1, bytes: 64 * 1_024, count: 128, first: 4, most: 128, least: 2 };
/// Maximum connections that wait to be accepted.
const BACKLOG_MAX: u32 = 4_096;

/// Slots of a new ring: as many as the descriptor limit of the process allows one table to have.
pub(super) fn slot_count() -> u32 {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::from(SLOTS_MAX));
    u32::try_from(limit).unwrap_or(SLOTS_MAX).clamp(16, SLOTS_MAX)
}

/// The backlog of a listener: small compared to the slots that a table reserves for it.
pub(super) fn backlog() -> i32 {
    (slot_count() / 8).min(BACKLOG_MAX) as i32
}

/// Slots that stay free when an accept moves to another table: four backlogs, because one run of the kernel also
/// accepts connections that arrive during it, and because with a full table it would accept and drop.
fn accept_reserve(slots: u32) -> u32 {
    slots / 2
}

/// How the slots of a ring's table are assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// By the driver, for connections that it opens.
    Open,
    /// By the kernel, for connections that it accepts.
    Accept,
}

/// Sets TCP_NODELAY on a direct descriptor.
pub(super) fn no_delay(slot: u32) -> squeue::Entry {
    static ON: libc::c_int = 1;
    let value = std::ptr::from_ref(&ON).cast();
    let length = size_of::<libc::c_int>() as u32;
    opcode::SetSockOpt::new(types::Fixed(slot), libc::IPPROTO_TCP as u32, libc::TCP_NODELAY as u32, value, length)
        .build()
}

pub(super) struct Ring {
    // Its operations write into the buffers: `end` is called before either is dropped.
    ring: IoUring,
    small: Buffers,
    large: Option<Buffers>,
    free: Vec<u32>,
    next_slot: u32,
    /// Whether the last assigned slot had an owner before.
    took_used: bool,
    /// Completions that were taken from the kernel's queue, in its order, and are not handled yet. The buffers that
    /// they name are offered again only then.
    pub(super) carried: VecDeque<cqueue::Entry>,
    accepted: u32,
    slots: u32,
    purpose: Purpose,
    /// Why the kernel takes no more; the next submission returns it.
    broken: Option<std::io::Error>,
}

impl Ring {
    /// A ring with a table of `slots` for one purpose, with these small buffers.
    ///
    /// # Errors
    /// The kernel lacks or refuses something that this driver needs.
    pub(super) fn new(purpose: Purpose, slots: u32, buffers: BufferShape) -> Result<Self, std::io::Error> {
        let mut builder = IoUring::builder();
        builder.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag().setup_cqsize(COMPLETIONS);
        let ring = builder.build(SUBMISSIONS)?;
        if !ring.params().is_feature_ext_arg() || !ring.params().is_feature_skip_cqe_on_success() {
            return Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "this kernel's io_uring is too old"));
        }
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe)?;
        let needed = [
            opcode::Socket::CODE,
            opcode::Connect::CODE,
            opcode::Send::CODE,
            opcode::RecvMulti::CODE,
            opcode::AcceptMulti::CODE,
            opcode::AsyncCancel::CODE,
            opcode::Close::CODE,
            opcode::Shutdown::CODE,
            opcode::PollAdd::CODE,
        ];
        if needed.iter().any(|code| !probe.is_supported(*code)) {
            return Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "io_uring lacks an operation"));
        }
        let small = Buffers::register(&ring, buffers)?;
        ring.submitter().register_files_sparse(slots)?;
        Ok(Self {
            ring,
            small,
            large: None,
            free: Vec::new(),
            next_slot: 0,
            took_used: false,
            carried: VecDeque::new(),
            accepted: 0,
            slots,
            purpose,
            broken: None,
        })
    }

    /// Ensures that there are large buffers; false if the kernel has no memory for them.
    pub(super) fn has_large(&mut self) -> bool {
        if self.large.is_none() {
            self.large = Buffers::register(&self.ring, LARGE).ok();
        }
        self.large.is_some()
    }

    /// A multishot receive into small or large buffers.
    pub(super) fn receive_into(slot: u32, is_large: bool) -> squeue::Entry {
        let group = if is_large { LARGE.group } else { SMALL.group };
        opcode::RecvMulti::new(types::Fixed(slot), group).build()
    }

    /// A multishot receive of datagrams into small buffers. The result is the length of a datagram, even if that is more
    /// than the buffer has.
    pub(super) fn receive_datagrams(slot: u32) -> squeue::Entry {
        opcode::RecvMulti::new(types::Fixed(slot), SMALL.group).flags(libc::MSG_TRUNC).build()
    }

    /// The buffers of a receive; large ones exist before the first receive that names them.
    #[inline]
    pub(super) fn buffers(&mut self, is_large: bool) -> &mut Buffers {
        match &mut self.large {
            Some(large) if is_large => large,
            _ => &mut self.small,
        }
    }

    /// Signals this eventfd whenever there are completions to reap, even while the kernel defers the work.
    pub(super) fn ring_bell(&self, bell: RawFd) -> Result<(), std::io::Error> {
        self.ring.submitter().register_eventfd(bell)
    }

    pub(super) fn is_for(&self, purpose: Purpose) -> bool {
        self.purpose == purpose
    }

    pub(super) fn has_free_slot(&self) -> bool {
        self.purpose == Purpose::Open && (!self.free.is_empty() || self.next_slot < self.slots)
    }

    /// A free slot. The caller has checked [`Ring::has_free_slot`].
    pub(super) fn take_slot(&mut self) -> u32 {
        let used = self.free.pop();
        self.took_used = used.is_some();
        used.unwrap_or_else(|| {
            self.next_slot += 1;
            self.next_slot - 1
        })
    }

    /// Puts a file descriptor into a slot; afterwards it can be closed.
    pub(super) fn put(&mut self, slot: u32, fd: RawFd) -> Result<(), SocketError> {
        if std::mem::take(&mut self.took_used) {
            // The close of the slot's last owner may still be queued, and would close this one.
            self.broken = tolerate(self.ring.submit()).err();
        }
        match self.ring.submitter().register_files_update(slot, &[fd]) {
            Ok(_) => Ok(()),
            Err(error) => Err(SocketError::from(&error)),
        }
    }

    pub(super) fn give_back(&mut self, slot: u32, is_accepted: bool) {
        if is_accepted {
            self.accepted -= 1;
        } else {
            self.free.push(slot);
        }
    }

    /// Whether a whole backlog still fits into the table.
    pub(super) fn can_accept(&self) -> bool {
        self.purpose == Purpose::Accept && self.slots - self.accepted > accept_reserve(self.slots)
    }

    pub(super) fn count_accepted(&mut self) {
        self.accepted += 1;
    }

    /// Submits when fewer than `count` entries fit.
    pub(super) fn make_room(&mut self, count: usize) {
        let queue = self.ring.submission();
        if queue.capacity() - queue.len() < count {
            drop(queue);
            self.broken = tolerate(self.ring.submit()).err();
        }
    }

    /// Queues an operation.
    pub(super) fn push(&mut self, entry: &squeue::Entry) {
        for _ in 0..PUSH_TRIES_MAX {
            if self.broken.is_some() {
                return;
            }
            // SAFETY: memory that the operation points at (templates, pending sends, addresses, buffers) is owned by
            // the driver until its completion arrived or the ring is gone.
            if unsafe { self.ring.submission().push(entry) }.is_ok() {
                return;
            }
            self.broken = tolerate(self.ring.submit()).err();
        }
        self.broken.get_or_insert_with(|| std::io::Error::from_raw_os_error(libc::EBUSY));
    }

    pub(super) fn submit(&mut self) -> Result<(), std::io::Error> {
        self.broken.take().map_or(Ok(()), Err)?;
        if self.ring.submission().is_empty() {
            return Ok(());
        }
        tolerate(self.ring.submit())
    }

    /// Submits, and waits for a completion, at most for `span`; `None` waits forever.
    pub(super) fn submit_and_wait(&mut self, span: Option<Nanos>) -> Result<(), std::io::Error> {
        self.broken.take().map_or(Ok(()), Err)?;
        let Some(span) = span else { return tolerate(self.ring.submit_and_wait(1)) };
        if span == Nanos::ZERO {
            return self.run_tasks();
        }
        let timeout = types::Timespec::from(span.as_duration());
        let arguments = types::SubmitArgs::new().timespec(&timeout);
        tolerate(self.ring.submitter().submit_with_args(1, &arguments))
    }

    /// Submits, and lets the kernel post pending completions, without waiting.
    pub(super) fn run_tasks(&mut self) -> Result<(), std::io::Error> {
        self.broken.take().map_or(Ok(()), Err)?;
        tolerate(self.ring.submit_and_wait(0))
    }

    /// Whether completions are available, or the kernel waits for a call to post them.
    pub(super) fn has_work(&mut self) -> bool {
        !self.carried.is_empty() || !self.ring.completion().is_empty() || self.is_cut_short()
    }

    /// Whether the kernel has more to post, and waits for the next call: it posts a few at a time, and no more than
    /// fit.
    pub(super) fn is_cut_short(&mut self) -> bool {
        let queue = self.ring.submission();
        queue.taskrun() || queue.cq_overflow()
    }

    /// Whether the kernel has taken all that was queued.
    pub(super) fn is_submitted(&mut self) -> bool {
        self.ring.submission().is_empty()
    }

    /// Whether another call may bring completions: something is not submitted yet, or not posted.
    pub(super) fn may_bring_more(&mut self) -> bool {
        !self.ring.submission().is_empty() || self.is_cut_short()
    }

    /// Called at the beginning of a wait.
    #[inline]
    pub(super) fn begin_wait(&mut self) {
        if let Some(large) = &mut self.large {
            large.begin_wait();
        }
        self.small.begin_wait();
    }

    /// Moves the posted completions to the end of `carried`.
    pub(super) fn reap(&mut self) {
        self.carried.extend(self.ring.completion());
    }

    /// Removes the failed small templates of a socket from `carried`; returns the bytes that the kernel did not take.
    pub(super) fn take_refused(&mut self, socket: Socket) -> usize {
        let mut refused = 0;
        self.carried.retain(|completion| {
            let is_its = op::is_template_of(completion.user_data(), socket);
            refused += if is_its { op::template_refused(completion.user_data(), completion.result()) } else { 0 };
            !is_its
        });
        refused
    }

    /// The index in `carried`, starting at `from`, of the completion with this user data.
    pub(super) fn find_carried(&self, from: usize, user_data: u64) -> Option<usize> {
        let place = self.carried.range(from..).position(|completion| completion.user_data() == user_data)?;
        Some(from + place)
    }
}

/// A timeout, a signal, or a kernel that is short of memory for a moment: the next call goes on.
fn tolerate(submitted: Result<usize, std::io::Error>) -> Result<(), std::io::Error> {
    match submitted {
        Ok(_) => Ok(()),
        Err(error) if matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR | libc::EAGAIN | libc::EBUSY)) => {
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Time limit for the kernel to end all operations; after it, the memory that they point at is leaked.
const ENDING_TIME_MAX: types::Timespec = types::Timespec::new().sec(1);

impl Ring {
    /// Ends all operations in progress: they read templates and pending sends, and write into buffers. Returns whether
    /// none is left.
    pub(super) fn end(&mut self) -> bool {
        let all = types::CancelBuilder::any();
        // Operations that the kernel does not take are not in progress.
        let _ = self.ring.submit();
        let ended = self.ring.submitter().register_sync_cancel(Some(ENDING_TIME_MAX), all);
        let is_over = has_ended(ended);
        if !is_over {
            self.small.leave();
            self.large.iter_mut().for_each(Buffers::leave);
        }
        is_over
    }
}

/// A ring without an operation to cancel has ended as well.
fn has_ended(cancelled: Result<(), std::io::Error>) -> bool {
    cancelled.map_or_else(|error| error.raw_os_error() == Some(libc::ENOENT), |()| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_did_not_end_is_not_over() {
        let fault = |code| Err(std::io::Error::from_raw_os_error(code));
        assert!(has_ended(Ok(())) && has_ended(fault(libc::ENOENT)));
        for code in [libc::ETIME, libc::EINTR, libc::EINVAL, libc::ENOMEM] {
            assert!(!has_ended(fault(code)), "{code}");
        }
    }
}
