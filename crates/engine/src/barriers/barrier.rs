//! One barrier as a state machine over arrivals. It knows no users, no threads and no clock.
//!
//! Arrivals form a round. It is released when its last user has arrived, when the timeout of its first one is over, or
//! when no more users could come. The next arrival then forms the next round.

use std::collections::VecDeque;

use pacing::Nanos;

/// Delay from the last arrival to the instant at which all users go on: time for all shards to wake up.
const LEAD: Nanos = Nanos::from_millis(2);

/// Result of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// The user waits with this round, at the latest until this instant.
    Waits { round: u64, until: Nanos },
    /// The user goes on with this round, which was released at this instant; zero where no user waited.
    Passes { round: u64, at: Nanos },
}

/// Why a round was released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// The last user has arrived.
    Full,
    /// Its timeout was over.
    Time,
    /// No more users could come.
    Short,
}

/// Rounds with which at least one user went on, by what released them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rounds {
    /// Rounds released by their last user.
    pub(crate) full: u64,
    /// The timeout was over.
    pub(crate) by_time: u64,
    /// No more users could come.
    pub(crate) short: u64,
}

#[derive(Debug)]
pub(crate) struct BarrierRounds {
    users: u64,
    within: Option<Nanos>,
    /// The round being formed, from 1.
    round: u64,
    /// Users that wait with it.
    arrived: u64,
    first_at: Nanos,
    /// The shards of those users.
    participants: Vec<usize>,
    /// Rounds that were released, and the users of each that have not gone on.
    released: VecDeque<Released>,
    /// The last round that timed out.
    missed: Option<Missed>,
    rounds: Rounds,
}

#[derive(Debug)]
struct Released {
    round: u64,
    at: Nanos,
    users: u64,
    /// Cause of a round that is not counted until a user goes on with it.
    uncounted: Option<Cause>,
}

/// A round that went on without some of its users.
#[derive(Clone, Copy, Debug)]
struct Missed {
    round: u64,
    at: Nanos,
    users: u64,
}

impl BarrierRounds {
    pub(crate) fn new(users: u64, within: Option<Nanos>) -> Self {
        Self {
            users,
            within,
            round: 1,
            arrived: 0,
            first_at: Nanos::ZERO,
            participants: Vec::new(),
            released: VecDeque::new(),
            missed: None,
            rounds: Rounds::default(),
        }
    }

    /// A user of a shard arrives. `last`: the last round that it took part in, 0 for none. A release calls `tell` with
    /// each shard to notify.
    pub(crate) fn arrive(
        &mut self,
        participant: usize,
        last: u64,
        now: Nanos,
        notify: &mut impl FnMut(usize),
    ) -> Arrival {
        self.expire_rounds(now, notify);
        // Users that a round went on without are late; a user that took part in it forms the next one.
        if let Some(missed) = self.missed.as_mut().filter(|missed| missed.users > 0 && last < missed.round) {
            missed.users -= 1;
            return Arrival::Passes { round: missed.round, at: missed.at };
        }
        let round = self.round;
        if self.users <= 1 {
            (self.round, self.rounds.full) = (round + 1, self.rounds.full + 1);
            return Arrival::Passes { round, at: Nanos::ZERO };
        }
        if self.arrived == 0 {
            self.first_at = now;
        }
        self.arrived += 1;
        if !self.participants.contains(&participant) {
            self.participants.push(participant);
        }
        let until = self.until();
        if self.arrived >= self.users {
            self.release(until.min(now + LEAD), Cause::Full, notify);
        }
        Arrival::Waits { round, until }
    }

    /// The latest end of the round being formed.
    fn until(&self) -> Nanos {
        self.within.map_or(Nanos::NEVER, |within| self.first_at + within)
    }

    /// Checks whether the round being formed has timed out.
    fn expire_rounds(&mut self, now: Nanos, notify: &mut impl FnMut(usize)) {
        let until = self.until();
        if self.arrived == 0 || now < until {
            return;
        }
        self.missed = Some(Missed { round: self.round, at: until, users: self.users - self.arrived });
        self.release(until, Cause::Time, notify);
    }

    fn release(&mut self, at: Nanos, cause: Cause, notify: &mut impl FnMut(usize)) {
        let (round, users) = (self.round, std::mem::take(&mut self.arrived));
        self.released.push_back(Released { round, at, users, uncounted: Some(cause) });
        self.round += 1;
        std::mem::take(&mut self.participants).into_iter().for_each(notify);
    }

    /// No more users could come: the waiting users go on.
    pub(crate) fn give_up_waiting(&mut self, now: Nanos, notify: &mut impl FnMut(usize)) {
        self.expire_rounds(now, notify);
        if self.arrived > 0 {
            self.release(self.until().min(now + LEAD), Cause::Short, notify);
        }
    }

    /// When a round was released; `users` of them go on with that.
    pub(crate) fn proceed(
        &mut self,
        round: u64,
        users: u64,
        now: Nanos,
        notify: &mut impl FnMut(usize),
    ) -> Option<Nanos> {
        self.expire_rounds(now, notify);
        let place = self.released.iter().position(|released| released.round == round)?;
        let released = &mut self.released[place];
        released.users = released.users.saturating_sub(users);
        let (at, is_done) = (released.at, released.users == 0);
        match released.uncounted.take() {
            Some(Cause::Full) => self.rounds.full += 1,
            Some(Cause::Time) => self.rounds.by_time += 1,
            Some(Cause::Short) => self.rounds.short += 1,
            None => {}
        }
        if is_done {
            self.released.remove(place);
        }
        Some(at)
    }

    /// Users of a shard whose load is over wait no longer.
    pub(crate) fn withdraw(&mut self, participant: usize, round: u64, users: u64) {
        if round == self.round {
            self.arrived = self.arrived.saturating_sub(users);
            self.participants.retain(|other| *other != participant);
        } else if let Some(place) = self.released.iter().position(|released| released.round == round) {
            self.released[place].users = self.released[place].users.saturating_sub(users);
            if self.released[place].users == 0 {
                self.released.remove(place);
            }
        }
    }

    /// The released rounds, by cause.
    pub(crate) fn counts(&self) -> Rounds {
        self.rounds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIVE: Nanos = Nanos::from_millis(5_000);

    fn millis(at: u64) -> Nanos {
        Nanos::from_millis(at)
    }

    fn waits(round: u64, until: Nanos) -> Arrival {
        Arrival::Waits { round, until }
    }

    #[test]
    fn the_last_lets_all_go_on() {
        let (mut rounds, mut reported) = (BarrierRounds::new(3, None), Vec::new());
        for (participant, at) in [(0, 10), (1, 20)] {
            assert_eq!(
                rounds.arrive(participant, 0, millis(at), &mut |participant| reported.push(participant)),
                waits(1, Nanos::NEVER)
            );
            assert_eq!(rounds.proceed(1, 1, millis(at), &mut |_| {}), None);
        }
        assert!(reported.is_empty());
        assert_eq!(
            rounds.arrive(1, 0, millis(30), &mut |participant| reported.push(participant)),
            waits(1, Nanos::NEVER)
        );
        assert_eq!(reported, [0, 1]);
        // Whenever a shard asks, and whatever has arrived since.
        assert_eq!(rounds.proceed(1, 2, millis(31), &mut |_| {}), Some(millis(32)));
        assert_eq!(rounds.arrive(0, 1, millis(40), &mut |_| {}), waits(2, Nanos::NEVER));
        assert_eq!(rounds.proceed(2, 1, millis(40), &mut |_| {}), None);
        assert_eq!(rounds.proceed(1, 1, millis(900), &mut |_| {}), Some(millis(32)));
        assert!(rounds.released.is_empty());
        assert_eq!(rounds.counts(), Rounds { full: 1, ..Rounds::default() });
    }

    #[test]
    fn time_lets_them_go_on_and_who_is_late_passes() {
        let (mut rounds, mut reported) = (BarrierRounds::new(4, Some(FIVE)), Vec::new());
        assert_eq!(rounds.arrive(0, 0, millis(100), &mut |_| {}), waits(1, millis(5_100)));
        assert_eq!(rounds.arrive(0, 0, millis(3_000), &mut |_| {}), waits(1, millis(5_100)));
        assert_eq!(rounds.proceed(1, 2, millis(5_099), &mut |_| {}), None);
        assert_eq!(
            rounds.proceed(1, 2, millis(5_100), &mut |participant| reported.push(participant)),
            Some(millis(5_100))
        );
        assert_eq!(reported, [0]);
        // One of the two is back before the two that are late: it forms the next round.
        assert_eq!(rounds.arrive(0, 1, millis(6_000), &mut |_| {}), waits(2, millis(11_000)));
        let late = Arrival::Passes { round: 1, at: millis(5_100) };
        assert_eq!([0, 0].map(|last| rounds.arrive(1, last, millis(7_000), &mut |_| {})), [late, late]);
        // There were two of them, so a further one is early.
        assert_eq!(rounds.arrive(1, 0, millis(7_500), &mut |_| {}), waits(2, millis(11_000)));
        assert_eq!(rounds.arrive(1, 1, millis(8_000), &mut |_| {}), waits(2, millis(11_000)));
        assert_eq!(rounds.arrive(0, 1, millis(10_999), &mut |_| {}), waits(2, millis(11_000)));
        // The last arrival is too near to its end for a lead.
        assert_eq!(rounds.proceed(2, 4, millis(11_000), &mut |_| {}), Some(millis(11_000)));
        assert_eq!(rounds.counts(), Rounds { full: 1, by_time: 1, short: 0 });
    }

    /// A shard that was not notified of the end of a round may be the first that looks.
    #[test]
    fn an_arrival_behind_the_end_of_a_round_is_late() {
        let mut rounds = BarrierRounds::new(2, Some(FIVE));
        assert_eq!(rounds.arrive(0, 0, millis(0), &mut |_| {}), waits(1, FIVE));
        assert_eq!(rounds.arrive(1, 0, FIVE, &mut |_| {}), Arrival::Passes { round: 1, at: FIVE });
        assert_eq!(rounds.proceed(1, 1, millis(5_001), &mut |_| {}), Some(FIVE));
    }

    #[test]
    fn one_alone_waits_for_nobody() {
        let mut rounds = BarrierRounds::new(1, Some(FIVE));
        for round in 1..4 {
            assert_eq!(
                rounds.arrive(0, round - 1, millis(round), &mut |_| {}),
                Arrival::Passes { round, at: Nanos::ZERO }
            );
        }
    }

    #[test]
    fn those_that_are_left_go_on_and_those_that_are_gone_do_not_count() {
        let mut rounds = BarrierRounds::new(3, None);
        rounds.give_up_waiting(millis(1), &mut |_| panic!("nobody waits"));
        rounds.arrive(0, 0, millis(1), &mut |_| {});
        rounds.arrive(1, 0, millis(2), &mut |_| {});
        rounds.withdraw(1, 1, 1);
        let mut reported = Vec::new();
        rounds.give_up_waiting(millis(7), &mut |participant| reported.push(participant));
        assert_eq!((reported, rounds.proceed(1, 1, millis(8), &mut |_| {})), (vec![0], Some(millis(9))));
        // The round missed no user: it was known that none would come.
        assert_eq!(rounds.arrive(1, 0, millis(10), &mut |_| {}), waits(2, Nanos::NEVER));
        assert_eq!(rounds.counts(), Rounds { short: 1, ..Rounds::default() });
    }
}
