//! Work that waits until the sockets have been read once more: passed deadlines, and exchanges that must not meet an
//! end that has come already.
//!
//! A server may respond and close right after it. An exchange that may be sent once only (a message, a request that is
//! not idempotent) would be lost on such a connection, so it is sent when all that had come by then has been read: in
//! the turn after the next read of the sockets.

use driver::Sockets;
use pacing::Nanos;

use crate::scenario_runtime::ScenarioRuntime;
use crate::slab::Key;

/// Under load a driver may never deliver all that is there: then no exchange waits for more reads than this.
const READS_MAX: u64 = 4;

/// Exchanges that wait until the sockets have been read.
#[derive(Default)]
pub(in crate::scenario_runtime) struct ReadWaiters {
    /// Each with the wait in whose turn it came.
    waiting: Vec<(Key, u64)>,
    /// Spare buffer for those that still wait.
    spare: Vec<(Key, u64)>,
    /// The exchange whose connection has been read.
    is_read_for: Option<Key>,
}

impl ScenarioRuntime {
    /// Whether something waits for the sockets to be read.
    #[inline]
    pub(in crate::scenario_runtime) fn awaits_read(&self) -> bool {
        !self.in_flight.overdue.is_empty()
            || !self.pool.overdue_prepared.is_empty()
            || !self.in_flight.read_waiters.waiting.is_empty()
    }

    #[cold]
    pub(in crate::scenario_runtime) fn expire_overdue(&mut self, now: Nanos, sockets: &mut dyn Sockets) {
        for index in std::mem::take(&mut self.in_flight.overdue) {
            self.expire(index, now, sockets);
            self.advance_freed(sockets);
        }
        for socket in std::mem::take(&mut self.pool.overdue_prepared) {
            self.prepare_due(socket, now, sockets);
            self.advance_freed(sockets);
        }
        self.send_read(sockets);
    }

    /// Whether an exchange waits until its connection has been read: it goes out once only, and that has carried
    /// others.
    #[cold]
    #[inline(never)]
    pub(in crate::scenario_runtime) fn must_read_first(&mut self, key: Key, user: u32, origin: u16) -> bool {
        if self.in_flight.read_waiters.is_read_for.take() == Some(key) || !self.has_idle(user, origin) {
            return false;
        }
        let wait = self.instants.waits;
        self.in_flight.read_waiters.waiting.push((key, wait));
        true
    }

    /// Sends exchanges for which the sockets have been read, on another connection where theirs has ended.
    fn send_read(&mut self, sockets: &mut dyn Sockets) {
        let mut all = std::mem::take(&mut self.in_flight.read_waiters.waiting);
        let mut left = std::mem::take(&mut self.in_flight.read_waiters.spare);
        for (key, since) in all.drain(..) {
            if !self.was_read_since(key, since) {
                left.push((key, since));
            } else if self.has_lost_conversation(key) {
                self.fail_lost_conversation(key, sockets);
            } else {
                self.in_flight.read_waiters.is_read_for = Some(key);
                self.try_exchange(key, sockets);
            }
            self.advance_freed(sockets);
        }
        // Others may have come meanwhile.
        let waiters = &mut self.in_flight.read_waiters;
        left.append(&mut waiters.waiting);
        (waiters.waiting, waiters.spare, waiters.is_read_for) = (left, all, None);
    }

    /// Whether the read has shown that the conversation of a message is over.
    fn has_lost_conversation(&mut self, key: Key) -> bool {
        let Some(exchange) = self.in_flight.exchanges.find(key) else { return false };
        let (user, step) = (exchange.user, &self.in_flight.steps[exchange.step as usize]);
        let (origin, is_messaging) = (step.origin, step.messaging.is_some());
        is_messaging && self.conversation_is_lost(user, origin)
    }

    /// Whether all that had come when an exchange was taken up has been read.
    fn was_read_since(&mut self, key: Key, since: u64) -> bool {
        let (reads, read_until) = (self.instants.waits - since, self.instants.read_until);
        let Some(exchange) = self.in_flight.exchanges.find(key) else { return true };
        reads > 0 && (read_until >= exchange.taken_up || reads >= READS_MAX)
    }

    /// Number of measured exchanges that wait for a read, and whose attempt will be counted.
    pub(in crate::scenario_runtime) fn awaiting_read(&mut self) -> u64 {
        let Self { in_flight, .. } = self;
        let is_counted = |(key, _): &&(Key, u64)| {
            in_flight.exchanges.find(*key).is_some_and(|exchange| exchange.is_measured && !exchange.is_moved)
        };
        in_flight.read_waiters.waiting.iter().filter(is_counted).count() as u64
    }
}

#[cfg(test)]
impl ScenarioRuntime {
    /// Number of exchanges that wait for a read, and have no attempt.
    pub(in crate::scenario_runtime) fn read_waiters(&self) -> usize {
        self.in_flight.read_waiters.waiting.len()
    }
}
