//! The leader's lease: one key that its holder writes periodically. A candidate that sees no new revision for its time
//! takes it over, with the next epoch. A holder that could not renew it steps down by its own clock before any other
//! may take it.

use pacing::Nanos;

use crate::protocol::Lease;

/// An action on the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LeaseAction {
    /// Writes it, if it has this revision.
    Write(u64, Lease),
    /// Reads it: its value is unknown.
    Read,
}

/// A change of the leadership.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeaseTurn {
    /// We lead from now on, with this epoch.
    Leads(u64),
    /// We have lost the lead.
    LostLeadership,
}

/// The lease as a candidate knows it.
#[derive(Clone, Debug)]
pub(super) struct LeaseKeeper {
    who: u64,
    ttl: Nanos,
    /// The known value of the key, with its revision.
    known: Option<(u64, Lease)>,
    seen_at: Nanos,
    /// The epoch with which we lead.
    epoch: Option<u64>,
    /// When the last successful renewal was sent.
    renewed_at: Nanos,
    /// The unconfirmed renewal.
    sent: Option<(Nanos, Lease)>,
    /// The beat of the last renewal: no two have the same.
    beat: u64,
    /// Whether the value of the key is unknown.
    is_unsure: bool,
    /// The last revision of the state that we have written in this epoch.
    written: u64,
    checked_at: Nanos,
}

impl LeaseKeeper {
    /// A candidate.
    pub(super) fn new(who: u64, ttl: Nanos, now: Nanos) -> Self {
        Self {
            who,
            ttl,
            known: None,
            seen_at: now,
            epoch: None,
            renewed_at: now,
            sent: None,
            beat: 0,
            is_unsure: false,
            written: 0,
            checked_at: Nanos::ZERO,
        }
    }

    /// The epoch with which we lead; `None` when we do not.
    pub(super) fn epoch(&self) -> Option<u64> {
        self.epoch
    }

    /// Handles a value of the key. `requested`: when a read of it was requested, if it was.
    pub(super) fn seen(
        &mut self,
        revision: u64,
        lease: Lease,
        requested: Option<Nanos>,
        now: Nanos,
    ) -> Option<LeaseTurn> {
        if self.known.as_ref().is_some_and(|(known, _)| *known >= revision) {
            self.is_there_still(requested);
            return None;
        }
        let is_other = lease.who != self.who;
        // Our own write is seen before its response comes, or instead of it.
        if let Some((sent_at, _)) = self.sent.take_if(|(_, sent)| *sent == lease) {
            return self.renewed(revision, lease, sent_at, now);
        }
        // Our pending write was based on the earlier value.
        (self.known, self.sent) = (Some((revision, lease)), None);
        (self.seen_at, self.is_unsure) = (now, false);
        (is_other && self.epoch.take().is_some()).then_some(LeaseTurn::LostLeadership)
    }

    /// Handles an unchanged key: a write that was sent before the read was requested is lost, and is repeated.
    fn is_there_still(&mut self, requested: Option<Nanos>) {
        let Some(requested) = requested.filter(|_| self.is_unsure) else { return };
        if self.sent.as_ref().is_none_or(|(sent_at, _)| *sent_at < requested) {
            (self.sent, self.is_unsure) = (None, false);
        }
    }

    /// Handles the result of the write with this beat.
    pub(super) fn written(&mut self, beat: u64, revision: Option<u64>, now: Nanos) -> Option<LeaseTurn> {
        // The result of an earlier write is known by now.
        let (sent_at, lease) = self.sent.take_if(|(_, sent)| sent.beat == beat)?;
        match revision {
            Some(revision) => self.renewed(revision, lease, sent_at, now),
            // Another candidate has written it, or we have and did not receive the response.
            None => {
                self.is_unsure = true;
                None
            }
        }
    }

    fn renewed(&mut self, revision: u64, lease: Lease, sent_at: Nanos, now: Nanos) -> Option<LeaseTurn> {
        let epoch = lease.epoch;
        self.is_unsure = false;
        if self.known.as_ref().is_none_or(|(known, _)| *known < revision) {
            self.known = Some((revision, lease));
            self.seen_at = now;
        }
        // A renewal that came too late must not be used.
        if now.since(sent_at) >= self.holds_for() {
            return None;
        }
        self.renewed_at = sent_at;
        if self.epoch != Some(epoch) {
            self.written = 0;
        }
        (self.epoch.replace(epoch) != Some(epoch)).then_some(LeaseTurn::Leads(epoch))
    }

    /// Notes that the state is written up to this revision: all learn it with the next renewal, which comes at once.
    pub(super) fn has_written(&mut self, revision: u64) {
        self.written = self.written.max(revision);
    }

    /// The renewal interval.
    fn every(&self) -> Nanos {
        Nanos(self.ttl.0 / 6)
    }

    /// Handles a read of a key without a value.
    pub(super) fn is_free(&mut self, requested: Option<Nanos>) {
        self.is_there_still(requested);
    }

    /// How long a renewal holds, by the clock of its sender.
    fn holds_for(&self) -> Nanos {
        Nanos(self.ttl.0 / 3 * 2)
    }

    /// Ends a lease that was not renewed in time.
    pub(super) fn expire(&mut self, now: Nanos) -> Option<LeaseTurn> {
        let is_over = self.epoch.is_some() && now.since(self.renewed_at) >= self.holds_for();
        #[cfg(test)]
        let is_over = is_over && !crate::sim::fault_injected(crate::sim::Bug::TwoLeaders);
        (is_over && self.epoch.take().is_some()).then_some(LeaseTurn::LostLeadership)
    }

    /// Does what is due.
    pub(super) fn tick(&mut self, now: Nanos) -> (Option<LeaseTurn>, Option<LeaseAction>) {
        let turn = self.expire(now);
        if let Some((sent_at, _)) = self.sent.as_ref().filter(|_| !self.is_unsure) {
            if now.since(*sent_at) < self.every() {
                return (turn, None);
            }
            // No response yet: the key shows whether it was written, or the response comes late.
            self.is_unsure = true;
        }
        if self.is_unsure {
            let is_due = now.since(self.checked_at).0 >= self.every().0 / 2;
            return (
                turn,
                is_due.then(|| {
                    self.checked_at = now;
                    LeaseAction::Read
                }),
            );
        }
        let (revision, last) = match &self.known {
            Some((revision, lease)) => (*revision, Some(lease)),
            None => (0, None),
        };
        let lease = match (self.epoch, last) {
            (Some(epoch), Some(last)) if now.since(self.renewed_at) >= self.every() || last.written != self.written => {
                Lease { epoch, who: self.who, beat: last.beat.max(self.beat) + 1, written: self.written }
            }
            (Some(_), _) => return (turn, None),
            // It may take its own lease again at once: no other candidate leads by it.
            (None, Some(last)) if last.who == self.who || now.since(self.seen_at) >= self.ttl => {
                Lease { epoch: last.epoch + 1, who: self.who, beat: self.beat + 1, written: 0 }
            }
            (None, None) if now.since(self.seen_at) >= self.every() => {
                Lease { epoch: 1, who: self.who, beat: self.beat + 1, written: 0 }
            }
            _ => return (turn, None),
        };
        (self.sent, self.beat) = (Some((now, lease.clone())), lease.beat);
        (turn, Some(LeaseAction::Write(revision, lease)))
    }

    /// The latest instant of the next action.
    pub(super) fn wake_at(&self) -> Nanos {
        let over = if self.epoch.is_some() { self.renewed_at + self.holds_for() } else { Nanos::NEVER };
        let next = match (&self.sent, self.epoch, &self.known) {
            _ if self.is_unsure => self.checked_at + Nanos(self.every().0 / 2),
            (Some((sent_at, _)), ..) => *sent_at + self.every(),
            (None, Some(_), _) => self.renewed_at + self.every(),
            (None, None, Some((_, last))) if last.who == self.who => self.seen_at,
            (None, None, Some(_)) => self.seen_at + self.ttl,
            (None, None, None) => self.seen_at + self.every(),
        };
        over.min(next)
    }
}
