//! Barriers between users of a run in the middle of their programs, over all shards.
//!
//! The shard whose user arrives last releases a round, and sets the instant at which all continue; it wakes the
//! others. So the release needs no reader of reports, and an unread report delays no round. A barrier is a separate
//! step: its lock is on the path of no exchange. A participant is a scenario on a shard; when all users of all
//! participants wait and no more will come, they continue.
//!
//! The rendezvous of a closed load is different: each shard reports when all its users wait; the last one sets the
//! instant for all (`LoadAggregator` of `run`), and `StopLevel` carries it.

mod barrier;
mod remote_barriers;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

use driver::Waker;
use pacing::Nanos;
use plan::Barrier;

pub(crate) use barrier::Arrival;
use barrier::{BarrierRounds, Rounds};
pub use remote_barriers::Release;
pub(crate) use remote_barriers::RemoteBarriers;

/// Events of users that wait for users of other partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierEvent {
    /// One more user waits at a barrier.
    Arrived { barrier: u32, at: Nanos },
    /// The user with this ticket waits there no longer.
    Withdrawn { barrier: u32, ticket: u64 },
    /// All users of this partition wait, and no more will come. `received`: releases received by then.
    Stuck { received: u64 },
}

/// Reporter of events, in their order.
pub(crate) type Notify = Box<dyn Fn(BarrierEvent) + Send + Sync>;

/// Releases of a barrier that are remembered. A user that missed the oldest one goes on with a later one.
const RELEASES_MAX: usize = 64;

/// Statistics of the rounds of one barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierStats {
    /// Name of the barrier.
    pub name: String,
    /// Users that make a full round.
    pub users: u64,
    /// Rounds released by their last user.
    pub full: u64,
    /// Rounds that went on with fewer users because of the timeout.
    pub by_time: u64,
    /// Rounds that went on with fewer users because no more users could come.
    pub short: u64,
}

/// The barriers of a run.
pub(crate) struct Barriers {
    barriers: Vec<Barrier>,
    /// Counters of releases, one per participant: how often something was released that its users wait for.
    news: Box<[AtomicU64]>,
    inner: Mutex<Inner>,
    /// Set where users of other partitions of the load come too: the coordinator of all partitions then says when they
    /// go on.
    remote: OnceLock<Notify>,
}

struct Inner {
    rounds: Vec<BarrierRounds>,
    /// Tickets of users that users of other partitions wait for too, one entry per barrier.
    tickets: Vec<Tickets>,
    /// Releases received.
    received: u64,
    /// The participants: scenarios with barriers on the shards that play them.
    participants: Vec<Participant>,
}

/// Tickets of the users of a partition that wait for users of other partitions.
#[derive(Default)]
struct Tickets {
    given: u64,
    /// The last tickets released, with their instants.
    released: VecDeque<(u64, Nanos)>,
}

#[derive(Default)]
struct Participant {
    /// None before the participant plays.
    waker: Option<Waker>,
    /// All of its users wait, and no more of them will come.
    is_stuck: bool,
    /// Its load is over.
    is_over: bool,
}

impl Barriers {
    /// Barriers for this number of participants: scenarios with barriers on shards.
    pub(crate) fn new(barriers: &[Barrier], participants: usize) -> Self {
        let rounds = |barrier: &Barrier| BarrierRounds::new(barrier.users, barrier.within.map(Nanos::from));
        let rounds = barriers.iter().map(rounds).collect();
        let tickets = barriers.iter().map(|_| Tickets::default()).collect();
        let all = (0..participants).map(|_| Participant::default()).collect();
        let inner = Inner { rounds, tickets, received: 0, participants: all };
        let news = (0..participants).map(|_| AtomicU64::new(0)).collect();
        Self { barriers: barriers.to_vec(), news, inner: Mutex::new(inner), remote: OnceLock::new() }
    }

    /// Makes them the barriers of a partition: the coordinator of all partitions receives arrivals and decides who goes
    /// on.
    pub(crate) fn are_of_part(&self, notify: Notify) {
        // Each shard sets the same.
        let _ = self.remote.set(notify);
    }

    /// The receiver of events of users that wait for users of other partitions.
    fn remote(&self, barrier: u32) -> Option<&Notify> {
        self.remote.get().filter(|_| self.barriers[barrier as usize].users > 1)
    }

    /// Users up to a ticket go on, or none of this partition. `total`: releases by then.
    pub(crate) fn receive(&self, barrier: usize, upto: Option<u64>, at: Nanos, total: u64) {
        let mut inner = self.inner();
        let Inner { tickets, received, participants, .. } = &mut *inner;
        if total <= *received {
            return;
        }
        *received = total;
        if let (Some(tickets), Some(upto)) = (tickets.get_mut(barrier), upto) {
            tickets.released.push_back((upto, at));
            if tickets.released.len() > RELEASES_MAX {
                tickets.released.pop_front();
            }
        }
        participants.iter_mut().enumerate().for_each(|(number, participant)| self.notify(participant, number));
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no holder of the lock panics")
    }

    /// A participant begins to play the scenario.
    pub(crate) fn join(&self, participant: usize, waker: Waker) {
        self.inner().participants[participant].waker = Some(waker);
    }

    /// A counter that changes when something was released that users of a participant wait for.
    #[inline]
    pub(crate) fn news(&self, participant: usize) -> u64 {
        self.news[participant].load(Ordering::Relaxed)
    }

    /// Runs `act` on a barrier and notifies the participants that something was released for.
    fn with_rounds<T>(&self, barrier: u32, act: impl FnOnce(&mut BarrierRounds, &mut dyn FnMut(usize)) -> T) -> T {
        let mut inner = self.inner();
        let Inner { rounds, participants, .. } = &mut *inner;
        act(&mut rounds[barrier as usize], &mut |participant| self.notify(&mut participants[participant], participant))
    }

    fn notify(&self, participant: &mut Participant, number: usize) {
        participant.is_stuck = false;
        self.news[number].fetch_add(1, Ordering::Relaxed);
        participant.waker.iter().for_each(Waker::wake);
    }

    /// A user of a participant arrives. `last`: the last round that it took part in.
    pub(crate) fn arrive(&self, barrier: u32, participant: usize, last: u64, now: Nanos) -> Arrival {
        if let Some(notify) = self.remote(barrier) {
            let tickets = &mut self.inner().tickets[barrier as usize];
            tickets.given += 1;
            notify(BarrierEvent::Arrived { barrier, at: now });
            return Arrival::Waits { round: tickets.given, until: Nanos::NEVER };
        }
        self.with_rounds(barrier, |rounds, mut notify| rounds.arrive(participant, last, now, &mut notify))
    }

    /// When a round goes on, if that is known. `users`: users of a participant that wait with it.
    pub(crate) fn proceed(&self, barrier: u32, round: u64, users: u64, now: Nanos) -> Option<Nanos> {
        if self.remote(barrier).is_some() {
            let inner = self.inner();
            let mut released = inner.tickets[barrier as usize].released.iter();
            return released.find(|(upto, _)| *upto >= round).map(|(_, at)| *at);
        }
        self.with_rounds(barrier, |rounds, mut notify| rounds.proceed(round, users, now, &mut notify))
    }

    /// Users wait no longer: their load is over.
    pub(crate) fn withdraw(&self, barrier: u32, participant: usize, round: u64, users: u64) {
        match self.remote(barrier) {
            Some(notify) => notify(BarrierEvent::Withdrawn { barrier, ticket: round }),
            None => self.with_rounds(barrier, |rounds, _| rounds.withdraw(participant, round, users)),
        }
    }

    /// Reports whether all users of a participant wait and no more of them will come. Where that holds for all
    /// participants, the waiting users go on. `received`: the news that the participant knows; with more to come, it
    /// does not know whether its users still wait.
    pub(crate) fn set_stuck(&self, participant: usize, is_stuck: bool, received: u64, now: Nanos) {
        let mut inner = self.inner();
        if self.news(participant) == received {
            inner.participants[participant].is_stuck = is_stuck;
            self.release_if_all_stuck(&mut inner, now);
        }
    }

    /// The load of a participant is over.
    pub(crate) fn leave(&self, participant: usize, now: Nanos) {
        let mut inner = self.inner();
        inner.participants[participant].is_over = true;
        self.release_if_all_stuck(&mut inner, now);
    }

    fn release_if_all_stuck(&self, inner: &mut Inner, now: Nanos) {
        let Inner { rounds, participants, received, .. } = inner;
        if participants.iter().all(|participant| participant.is_over || participant.is_stuck) {
            let mut notify = |participant: usize| self.notify(&mut participants[participant], participant);
            rounds.iter_mut().for_each(|rounds| rounds.give_up_waiting(now, &mut notify));
            if let Some(notify) = self.remote.get() {
                notify(BarrierEvent::Stuck { received: *received });
            }
        }
    }

    /// The statistics of all barriers.
    pub(crate) fn met(&self) -> Vec<BarrierStats> {
        let inner = self.inner();
        let met = |(barrier, rounds): (&Barrier, &BarrierRounds)| {
            let Rounds { full, by_time, short } = rounds.counts();
            BarrierStats { name: barrier.name.clone(), users: barrier.users, full, by_time, short }
        };
        self.barriers.iter().zip(&inner.rounds).map(met).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// In a partition, arrivals are reported, and the coordinator decides who goes on.
    #[test]
    fn users_of_a_part_wait_for_those_of_others() {
        let barrier = |users| Barrier { name: "door".to_owned(), users, within: None };
        let barriers = Barriers::new(&[barrier(1), barrier(5)], 2);
        let (reports, reported) = channel();
        barriers.are_of_part(Box::new(move |attended| reports.send(attended).expect("somebody hears")));
        let at = Nanos::from_millis;
        // A barrier of one user waits for no other.
        assert!(matches!(barriers.arrive(0, 0, 0, at(1)), Arrival::Passes { round: 1, .. }));
        let waits = |round| Arrival::Waits { round, until: Nanos::NEVER };
        let tickets: Vec<Arrival> = [0, 1, 0].map(|participant| barriers.arrive(1, participant, 0, at(2))).to_vec();
        assert_eq!(tickets, [1, 2, 3].map(waits));
        assert_eq!(reported.try_iter().collect::<Vec<_>>(), [BarrierEvent::Arrived { barrier: 1, at: at(2) }; 3]);
        assert_eq!([1, 2, 3].map(|ticket| barriers.proceed(1, ticket, 1, at(3))), [None; 3]);
        let news = [0, 1].map(|participant| barriers.news(participant));
        // Two of them go on; repeated and older releases are known already.
        barriers.receive(1, Some(2), at(500), 4);
        barriers.receive(1, Some(3), at(400), 4);
        assert_eq!([1, 2, 3].map(|ticket| barriers.proceed(1, ticket, 1, at(4))), [Some(at(500)), Some(at(500)), None]);
        assert_eq!([0, 1].map(|participant| barriers.news(participant)), news.map(|news| news + 1));
        // Another partition went on: the reported stuck state has to be newer than that.
        barriers.receive(1, None, at(600), 5);
        barriers.set_stuck(0, true, barriers.news(0), at(7));
        assert!(reported.try_iter().next().is_none(), "another participant may come");
        barriers.set_stuck(1, true, barriers.news(1), at(7));
        assert_eq!(reported.try_iter().next(), Some(BarrierEvent::Stuck { received: 5 }));
        barriers.withdraw(1, 0, 3, 1);
        assert_eq!(reported.try_iter().next(), Some(BarrierEvent::Withdrawn { barrier: 1, ticket: 3 }));
    }
}
