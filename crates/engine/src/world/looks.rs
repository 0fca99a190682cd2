//! Work that waits until the sockets have been read once more: passed deadlines, and exchanges that must not meet an
//! end that has come already.
//!
//! A server may respond and close right after it. An exchange that may be sent once only (a message, a request that is
//! not idempotent) would be lost on such a connection, so it is sent when all that had come by then has been read: in
//! the turn after the next look at the sockets.

use driver::Sockets;
use pacing::Nanos;

use super::ScenarioRuntime;
use crate::slab::Key;

/// Under load a driver may never deliver all that is there: then no exchange waits for more looks than this.
const LOOKS_MAX: u64 = 4;

/// Exchanges that wait for a look.
#[derive(Default)]
pub(super) struct Looks {
    /// Each with the wait in whose turn it came.
    waiting: Vec<(Key, u64)>,
    /// Spare buffer for those whose look is not over.
    spare: Vec<(Key, u64)>,
    /// The exchange whose look is over.
    has_looked: Option<Key>,
}

impl ScenarioRuntime {
    /// Whether something waits for the sockets to be read.
    #[inline]
    pub(super) fn awaits_look(&self) -> bool {
        !self.ledger.overdue.is_empty()
            || !self.pool.overdue_prepared.is_empty()
            || !self.ledger.looks.waiting.is_empty()
    }

    #[cold]
    pub(super) fn look_at_overdue<S: Sockets>(&mut self, now: Nanos, sockets: &mut S) {
        for index in std::mem::take(&mut self.ledger.overdue) {
            self.expire(index, now, sockets);
        }
        for socket in std::mem::take(&mut self.pool.overdue_prepared) {
            self.prepare_due(socket, now, sockets);
        }
        self.send_looked(sockets);
    }

    /// Whether an exchange waits until its connection has been read: it goes out once only, and that has carried others.
    #[cold]
    #[inline(never)]
    pub(super) fn looks_first(&mut self, key: Key, user: u32, origin: u16) -> bool {
        if self.ledger.looks.has_looked.take() == Some(key) || !self.has_idle(user, origin) {
            return false;
        }
        let wait = self.instants.waits;
        self.ledger.looks.waiting.push((key, wait));
        true
    }

    /// Sends exchanges for which the sockets have been read, on another connection where theirs has ended.
    fn send_looked<S: Sockets>(&mut self, sockets: &mut S) {
        let mut all = std::mem::take(&mut self.ledger.looks.waiting);
        let mut left = std::mem::take(&mut self.ledger.looks.spare);
        for (key, since) in all.drain(..) {
            if !self.is_looked_at(key, since) {
                left.push((key, since));
            } else if self.has_lost_talk(key) {
                self.fail_lost_talk(key, sockets);
            } else {
                self.ledger.looks.has_looked = Some(key);
                self.try_exchange(key, sockets);
            }
        }
        // Others may have come meanwhile.
        let looks = &mut self.ledger.looks;
        left.append(&mut looks.waiting);
        (looks.waiting, looks.spare, looks.has_looked) = (left, all, None);
    }

    /// Whether the look has shown that the conversation of a message is over.
    fn has_lost_talk(&mut self, key: Key) -> bool {
        let Some(exchange) = self.ledger.exchanges.find(key) else { return false };
        let (user, step) = (exchange.user, &self.ledger.steps[exchange.step as usize]);
        let (origin, is_talk) = (step.origin, step.talk.is_some());
        is_talk && self.talk_is_lost(user, origin)
    }

    /// Whether all that had come when an exchange was taken up has been read.
    fn is_looked_at(&mut self, key: Key, since: u64) -> bool {
        let (looks, read_until) = (self.instants.waits - since, self.instants.read_until);
        let Some(exchange) = self.ledger.exchanges.find(key) else { return true };
        looks > 0 && (read_until >= exchange.taken_up || looks >= LOOKS_MAX)
    }

    /// Measured exchanges that wait for a look, and whose attempt will be counted.
    pub(super) fn looking(&mut self) -> u64 {
        let Self { ledger, .. } = self;
        let is_counted = |(key, _): &&(Key, u64)| {
            ledger.exchanges.find(*key).is_some_and(|exchange| exchange.is_measured && !exchange.is_moved)
        };
        ledger.looks.waiting.iter().filter(is_counted).count() as u64
    }
}

#[cfg(test)]
impl ScenarioRuntime {
    /// Exchanges that wait for a look, and have no attempt.
    pub(super) fn awaiting_looks(&self) -> usize {
        self.ledger.looks.waiting.len()
    }
}
