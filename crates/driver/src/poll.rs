//! The driver on readiness (epoll, kqueue) by mio. It works on every system with sockets.
//!
//! Readiness is edge-triggered: an event is reported once, so a socket that was not read to its end is remembered in
//! `again`.

mod datagrams;
mod readiness;
pub(crate) mod sys;
mod table;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use datagrams::SendEnd;
use mio::unix::SourceFd;
use mio::{Events, Interest, Token};
use pacing::Nanos;
use readiness::{Readiness, token_of};
use rustix::io::Errno;
use table::{Kind, Slot, write};

use crate::pending::PendingSockets;
use crate::short_sleep::ShortSleep;
use crate::table::SocketTable;
use crate::timer::Timer;
use crate::{
    Clock, Driver, Event, Handle, ListenOptions, OpenOptions, Outgoing, Socket, SocketError, SocketKind, Sockets,
    Template, Waker,
};

/// Maximum bytes of one read: a large response needs few calls, and the buffer stays in the second-level cache.
const READ_BYTES: usize = 64 * 1024;
/// Maximum reads or accepts of one socket before the others get their turn.
const TURNS_MAX: usize = 16;
/// Maximum events of one wait: one full batch at 1,000 busy connections.
const EVENTS_MAX: usize = 1_024;
/// Retry interval of a listener that waits for a file descriptor.
const STARVED_WAIT: Nanos = Nanos::from_millis(20);

const WAKE: Token = Token(usize::MAX);
const TIMER: Token = Token(usize::MAX - 1);

/// The driver.
pub struct PollDriver {
    sockets: PollSockets,
    events: Events,
    buffer: Box<[u8]>,
    /// Whether the last wait filled the list: there may be more events.
    was_full: bool,
    /// Whether the last wait only read on, where earlier ones had stopped: this one asks the kernel.
    has_handed_out: bool,
    timer: Timer,
    short_sleep: ShortSleep,
    waker: Waker,
}

/// Its socket operations.
pub(crate) struct PollSockets {
    clock: Clock,
    poll: mio::Poll,
    table: SocketTable<Slot>,
    templates: Vec<Arc<[u8]>>,
    /// Sockets with work that no further edge will report.
    again: VecDeque<Socket>,
    /// Sends that were taken, or refused, at once; their events follow with the next wait.
    sent: VecDeque<(Socket, SendEnd)>,
    /// Datagrams that were taken, with the buffers that were lent: no wait ends for them.
    taken: Vec<(Socket, Option<Vec<u8>>)>,
    /// Number of sends.
    sends: u64,
    /// Listeners that could not accept for lack of a file descriptor.
    starved: Vec<Socket>,
}

impl PollDriver {
    /// A driver on the clock of the run, for the calling thread.
    ///
    /// # Errors
    /// The kernel has no file descriptor for it.
    pub fn new(clock: Clock) -> Result<Self, std::io::Error> {
        crate::timer::wake_exactly();
        let poll = mio::Poll::new()?;
        let wake = mio::Waker::new(poll.registry(), WAKE)?;
        let timer = Timer::new()?;
        #[cfg(target_os = "linux")]
        poll.registry().register(&mut SourceFd(&timer.fd()), TIMER, Interest::READABLE)?;
        Ok(Self {
            sockets: PollSockets {
                clock,
                poll,
                table: SocketTable::default(),
                templates: Vec::new(),
                again: VecDeque::new(),
                sent: VecDeque::new(),
                taken: Vec::new(),
                sends: 0,
                starved: Vec::new(),
            },
            events: Events::with_capacity(EVENTS_MAX),
            buffer: vec![0; READ_BYTES].into_boxed_slice(),
            was_full: false,
            has_handed_out: false,
            timer,
            short_sleep: ShortSleep::new(),
            // A full pipe already wakes, so the result does not matter.
            waker: Waker::new(move || drop(wake.wake())),
        })
    }
}

impl Driver for PollDriver {
    fn sockets(&mut self) -> &mut dyn Sockets {
        &mut self.sockets
    }

    fn now(&self) -> Nanos {
        self.sockets.clock.now()
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
        // What was read here may have caused a request: its response is reported by a wait of its own.
        let is_turn = !std::mem::take(&mut self.has_handed_out);
        let reads = is_turn && !sockets.again.is_empty();
        // The reported events may have set an earlier deadline than the caller passed.
        let has_reported = is_turn && sockets.hand_out(&mut self.buffer, &mut handle);
        if reads {
            (self.has_handed_out, self.was_full) = (true, true);
            return Ok(());
        }
        // No sleep while something is known to be ready.
        let may_sleep = self.short_sleep.is_allowed() && sockets.again.is_empty();
        let woken = may_sleep.then(|| self.short_sleep.take(until, &sockets.clock));
        let timeout = if has_reported || !sockets.again.is_empty() || !sockets.sent.is_empty() {
            Some(std::time::Duration::ZERO)
        } else {
            let now = woken.unwrap_or_else(|| sockets.clock.now());
            let until = if sockets.starved.is_empty() { until } else { until.min(now + STARVED_WAIT) };
            self.timer.timeout(until, now)
        };
        self.was_full = false;
        match sockets.poll.poll(&mut self.events, timeout) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(error),
        }
        let mut count = 0;
        for event in &self.events {
            count += 1;
            match event.token() {
                WAKE => handle(sockets, Event::Woken),
                TIMER => self.timer.fired(),
                token => sockets.ready(Readiness::from_event(token, event), &mut self.buffer, &mut handle),
            }
        }
        self.was_full = count == EVENTS_MAX;
        Ok(())
    }

    fn coalesce(&mut self, span: Nanos) {
        self.short_sleep.allow(span);
    }

    fn has_more(&self) -> bool {
        self.was_full || !self.sockets.again.is_empty() || !self.sockets.sent.is_empty()
    }
}

/// The state after a socket's readable data, as far as its event shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BehindData {
    /// A new edge reports everything that arrives later.
    Nothing,
    /// The end of the stream: all data is there.
    End,
    /// An end or an error may follow, which no edge will report again.
    Unknown,
}

impl Sockets for PollSockets {
    #[inline]
    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn register(&mut self, bytes: Arc<[u8]>) -> Template {
        self.templates.push(bytes);
        Template(u32::try_from(self.templates.len() - 1).expect("few templates"))
    }

    fn open(&mut self, options: &OpenOptions) -> Result<Socket, SocketError> {
        let fd = sys::connect(options)?;
        let mut slot = Slot::new(fd, Kind::Connecting);
        slot.is_datagram = options.kind == SocketKind::Datagram;
        slot.is_tcp = !slot.is_datagram && options.to.ip().is_some();
        self.insert(slot)
    }

    fn listen(&mut self, options: &ListenOptions) -> Result<(Socket, SocketAddr), SocketError> {
        let (fd, address) = sys::listen(options, sys::BACKLOG)?;
        Ok((self.insert(Slot::new(fd, Kind::Listener))?, address))
    }

    fn send(&mut self, socket: Socket, bytes: Outgoing) {
        self.sends = self.sends.wrapping_add(1);
        let Some(slot) = self.table.find(socket) else { return };
        let pending = PendingSockets::new(bytes);
        let must_queue = slot.kind == Kind::Connecting || slot.has_queue();
        if must_queue || slot.send_error.is_some() {
            slot.queue().push_back(pending);
            return;
        }
        match write(pending, slot, &self.templates) {
            Ok(None) => {}
            Ok(Some(buffer)) if slot.is_datagram => self.taken.push((socket, buffer)),
            Ok(Some(buffer)) => self.sent.push_back((socket, SendEnd::Taken(buffer))),
            Err((rest, errno)) if errno != Errno::AGAIN && slot.is_datagram => self.send_again(socket, rest, errno),
            Err((rest, errno)) => {
                slot.queue().push_back(rest);
                if errno != Errno::AGAIN {
                    // A response may have arrived before the reset: readable bytes are read first.
                    slot.send_error = Some(errno.into());
                    self.again.push_back(socket);
                }
            }
        }
    }

    fn unsent(&mut self, socket: Socket) -> usize {
        self.table.find(socket).map_or(0, |slot| slot.unsent())
    }

    fn unacknowledged(&mut self, socket: Socket) -> Option<usize> {
        self.table.find(socket)?.unacknowledged()
    }

    fn entropy(&self) -> u64 {
        sys::entropy()
    }

    fn dropped(&mut self, socket: Socket) -> u64 {
        let slot = self.table.find(socket).filter(|slot| slot.is_datagram);
        slot.map_or(0, |slot| sys::dropped(&slot.fd))
    }

    fn is_reset(&mut self, socket: Socket) -> bool {
        let slot = self.table.find(socket).filter(|slot| slot.peer_closed);
        slot.is_some_and(|slot| slot.send_error.is_some() || sys::is_reset(&slot.fd))
    }

    fn stop_sending(&mut self, socket: Socket) -> usize {
        self.table.find(socket).map_or(0, Slot::drop_queue)
    }

    fn receive(&mut self, socket: Socket, on: bool) {
        let Some(slot) = self.table.find(socket).filter(|slot| !slot.is_datagram) else { return };
        if on && !slot.receives && slot.unread {
            self.again.push_back(socket);
        }
        slot.receives = on;
    }

    fn shutdown(&mut self, socket: Socket) {
        let Some(slot) = self.table.find(socket).filter(|slot| !slot.is_datagram) else { return };
        slot.shut_after_queue = true;
        if !slot.has_queue() {
            slot.shut();
        }
    }

    fn close(&mut self, socket: Socket) {
        // Closing the descriptor removes it from the poller too; there is no other copy of it.
        drop(self.table.remove(socket));
    }
}

impl PollSockets {
    fn insert(&mut self, slot: Slot) -> Result<Socket, SocketError> {
        let raw = slot.fd.as_raw_fd();
        let interest =
            if slot.kind == Kind::Listener { Interest::READABLE } else { Interest::READABLE | Interest::WRITABLE };
        let socket = self.table.insert(slot);
        if let Err(error) = self.poll.registry().register(&mut SourceFd(&raw), token_of(socket), interest) {
            drop(self.table.remove(socket));
            return Err(SocketError::from(&error));
        }
        Ok(socket)
    }

    /// Handles work that earlier calls left. True if there was some.
    fn hand_out(&mut self, buffer: &mut [u8], handle: Handle<'_>) -> bool {
        let has_reported = !self.sent.is_empty() || !self.again.is_empty();
        self.give_back_datagrams(handle);
        for listener in std::mem::take(&mut self.starved) {
            self.accept(listener, handle);
        }
        for _ in 0..self.sent.len() {
            let Some((socket, end)) = self.sent.pop_front() else { break };
            if self.table.find(socket).is_some() {
                let event = end.event(socket, &self.clock);
                handle(self, event);
            }
        }
        for _ in 0..self.again.len() {
            let Some(socket) = self.again.pop_front() else { break };
            let Some(slot) = self.table.find(socket) else { continue };
            if slot.kind == Kind::Listener {
                self.accept(socket, handle);
            } else {
                self.read(socket, BehindData::Unknown, buffer, handle);
            }
        }
        has_reported
    }

    fn ready(&mut self, ready: Readiness, buffer: &mut [u8], handle: Handle<'_>) {
        let socket = ready.socket;
        let Some(slot) = self.table.find(socket) else { return };
        match slot.kind {
            Kind::Listener => return self.accept(socket, handle),
            Kind::Connecting => {
                if ready.error {
                    let error = sys::take_error(&slot.fd).unwrap_or(SocketError::Reset);
                    return self.fail(socket, error, handle);
                }
                if !ready.writable {
                    return;
                }
                slot.kind = Kind::Stream;
                let at = self.clock.now();
                handle(self, Event::Connected { socket, at });
            }
            Kind::Stream => {}
        }
        if ready.writable {
            self.flush(socket);
        }
        if ready.error
            && let Some(slot) = self.table.find(socket)
            && !slot.receives
        {
            slot.send_error = sys::take_error(&slot.fd).or(slot.send_error).or(Some(SocketError::Reset));
        }
        let behind = match ready {
            Readiness { error: true, .. } => BehindData::Unknown,
            Readiness { read_closed: true, .. } => BehindData::End,
            Readiness { readable: true, .. } => BehindData::Nothing,
            _ => return,
        };
        self.read(socket, behind, buffer, handle);
    }

    /// Writes queued bytes until the kernel takes no more.
    fn flush(&mut self, socket: Socket) {
        let Some(slot) = self.table.find(socket).filter(|slot| slot.send_error.is_none()) else { return };
        while let Some(pending) = slot.next_queued() {
            match write(pending, slot, &self.templates) {
                Ok(None) => {}
                Ok(Some(buffer)) if slot.is_datagram => self.taken.push((socket, buffer)),
                Ok(Some(buffer)) => self.sent.push_back((socket, SendEnd::Taken(buffer))),
                Err((rest, errno)) if errno != Errno::AGAIN && slot.is_datagram => {
                    self.send_again(socket, rest, errno);
                    return self.flush(socket);
                }
                Err((rest, errno)) => {
                    slot.queue().push_front(rest);
                    if errno != Errno::AGAIN {
                        slot.send_error = Some(errno.into());
                        self.again.push_back(socket);
                    }
                    return;
                }
            }
        }
        if slot.shut_after_queue {
            slot.shut();
        }
    }

    /// Reads until the kernel has no more.
    fn read(&mut self, socket: Socket, behind: BehindData, buffer: &mut [u8], handle: Handle<'_>) {
        for _ in 0..TURNS_MAX {
            let Some(slot) = self.table.find(socket) else { return };
            if slot.is_datagram {
                return self.read_datagrams(socket, buffer, handle);
            }
            if !slot.receives {
                slot.unread = true;
                // A peer that is gone takes nothing more; the sender must be notified.
                return self.fail_if_send_failed(socket, handle);
            }
            slot.unread = false;
            if slot.peer_closed {
                return self.fail_if_send_failed(socket, handle);
            }
            match sys::receive(&slot.fd, buffer) {
                Ok(0) => {
                    let at = self.clock.now();
                    return self.report_end(socket, at, handle);
                }
                Ok(count) => {
                    let (at, sends) = (self.clock.now(), self.sends);
                    handle(self, Event::Received { socket, bytes: &mut buffer[..count], at });
                    // A short read emptied the socket.
                    match behind {
                        BehindData::Nothing if count < buffer.len() => return,
                        BehindData::End if count < buffer.len() => return self.report_end(socket, at, handle),
                        // What comes now may be the response to it.
                        _ if self.sends != sends => break,
                        _ => {}
                    }
                }
                Err(Errno::AGAIN) => return self.fail_if_send_failed(socket, handle),
                Err(Errno::INTR) => {}
                Err(errno) => return self.fail(socket, errno.into(), handle),
            }
        }
        self.again.push_back(socket);
    }

    /// Reports the peer's end of the stream, after all its bytes were read.
    fn report_end(&mut self, socket: Socket, at: Nanos, handle: Handle<'_>) {
        let Some(slot) = self.table.find(socket) else { return };
        if !slot.receives {
            // Switching it on reads the end again.
            slot.unread = true;
            return self.fail_if_send_failed(socket, handle);
        }
        slot.peer_closed = true;
        handle(self, Event::PeerClosed { socket, at });
        self.fail_if_send_failed(socket, handle);
    }

    fn fail_if_send_failed(&mut self, socket: Socket, handle: Handle<'_>) {
        if let Some(error) = self.table.find(socket).and_then(|slot| slot.send_error) {
            self.fail(socket, error, handle);
        }
    }

    fn fail(&mut self, socket: Socket, error: SocketError, handle: Handle<'_>) {
        let left = self.table.remove(socket).map(|slot| slot.left()).unwrap_or_default();
        let at = self.clock.now();
        handle(self, Event::Failed { socket, error, at, left });
    }

    fn accept(&mut self, listener: Socket, handle: Handle<'_>) {
        for _ in 0..TURNS_MAX {
            let Some(slot) = self.table.find(listener) else { return };
            match sys::accept(&slot.fd) {
                Ok(fd) => match self.insert(Slot::new(fd, Kind::Stream)) {
                    Ok(socket) => handle(self, Event::Accepted { listener, socket }),
                    Err(_) => self.starved.push(listener),
                },
                Err(Errno::AGAIN) => return,
                // The connection was gone before it was accepted; the next may be there.
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(_) => return self.starved.push(listener),
            }
        }
        self.again.push_back(listener);
    }
}
