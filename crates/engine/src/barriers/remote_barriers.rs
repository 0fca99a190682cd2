//! The barriers of a load whose users are remote, as a state machine over what its partitions report. It knows no
//! threads and no clock.
//!
//! Users of a partition have tickets in the order of their arrival: a partition reports how many have come. A round is
//! released with the last ticket of each partition that goes on with it, at an instant by which all partitions have
//! received the release.

use std::collections::BTreeMap;

use pacing::Nanos;
use plan::Barrier;

use super::BarrierStats;
use super::barrier::Rounds;

/// A release of users at a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// Index of the barrier.
    pub barrier: usize,
    /// Count of releases of all barriers, this one included.
    pub total: u64,
    /// When the users go on, on the clock of the run.
    pub at: Nanos,
    /// For each partition whose users wait, the last ticket that goes on.
    pub upto: Vec<(usize, u64)>,
}

/// State of one partition.
#[derive(Debug, Default)]
struct PartState {
    /// Set when all of its users wait, and no more will come: the releases it had received when it reported that.
    stuck_at: Option<u64>,
    is_over: bool,
}

/// One remote barrier.
#[derive(Debug, Default)]
struct RemoteBarrier {
    /// Tickets that each partition has issued, and those of them whose users wait.
    tickets: BTreeMap<usize, u64>,
    waiting: BTreeMap<usize, u64>,
    /// The last tickets of each partition that went on.
    gone: BTreeMap<usize, u64>,
    first_at: Nanos,
    rounds: Rounds,
}

impl RemoteBarrier {
    fn count(&self) -> u64 {
        self.waiting.values().sum()
    }
}

/// All barriers of a load.
#[derive(Debug)]
pub(crate) struct RemoteBarriers {
    barriers: Vec<Barrier>,
    barrier_states: Vec<RemoteBarrier>,
    part_states: Vec<PartState>,
    /// Partitions that exist, or will.
    expected: usize,
    /// All partitions receive a release within this time.
    lead: Nanos,
    total: u64,
    released: Vec<Release>,
}

impl RemoteBarriers {
    /// Barriers before any arrival.
    pub(crate) fn new(barriers: &[Barrier], lead: Nanos) -> Self {
        let barrier_states = barriers.iter().map(|_| RemoteBarrier::default()).collect();
        let (part_states, released) = (Vec::new(), Vec::new());
        Self { barriers: barriers.to_vec(), barrier_states, part_states, expected: 0, lead, total: 0, released }
    }

    /// Sets how many partitions exist, or will. Before all of them are there it is unknown whether more users could
    /// come.
    pub(crate) fn expect(&mut self, parts: usize, now: Nanos) {
        self.expected = parts;
        self.release_if_all_stuck(now);
    }

    /// One more partition begins.
    pub(crate) fn join(&mut self) {
        self.part_states.push(PartState::default());
    }

    /// Users of a partition have arrived, the first of them at `at`.
    pub(crate) fn arrive(&mut self, part: usize, barrier: usize, count: u64, at: Nanos, now: Nanos) {
        let Some(part_state) = self.part_states.get_mut(part).filter(|_| barrier < self.barrier_states.len()) else {
            return;
        };
        let is_over = part_state.is_over;
        part_state.stuck_at = None;
        self.expire_rounds(now);
        let users = self.barriers[barrier].users;
        for _ in 0..count {
            let barrier_state = &mut self.barrier_states[barrier];
            if barrier_state.count() == 0 {
                barrier_state.first_at = at;
            }
            *barrier_state.tickets.entry(part).or_default() += 1;
            if !is_over {
                *barrier_state.waiting.entry(part).or_default() += 1;
            }
            if barrier_state.count() >= users {
                barrier_state.rounds.full += 1;
                self.release(barrier, now);
            }
        }
    }

    /// The user with this ticket of a partition waits no longer: its load is over. It may have been released before
    /// this was received.
    pub(crate) fn withdraw(&mut self, part: usize, barrier: usize, ticket: u64) {
        let Some(barrier_state) = self.barrier_states.get_mut(barrier) else { return };
        let is_gone = barrier_state.gone.get(&part).is_some_and(|gone| ticket <= *gone);
        if let Some(waiting) = barrier_state.waiting.get_mut(&part).filter(|_| !is_gone) {
            *waiting = waiting.saturating_sub(1);
        }
    }

    /// All users of a partition wait, and no more of them will come. `received`: the releases it had received by then.
    pub(crate) fn stuck(&mut self, part: usize, received: u64, now: Nanos) {
        if let Some(part_state) = self.part_states.get_mut(part) {
            part_state.stuck_at = Some(received);
        }
        self.release_if_all_stuck(now);
    }

    /// A partition is over or lost.
    pub(crate) fn over(&mut self, part: usize, now: Nanos) {
        if let Some(part_state) = self.part_states.get_mut(part) {
            part_state.is_over = true;
        }
        self.barrier_states.iter_mut().for_each(|barrier_state| _ = barrier_state.waiting.remove(&part));
        self.release_if_all_stuck(now);
    }

    fn release_if_all_stuck(&mut self, now: Nanos) {
        let total = self.total;
        let is_out = |part_state: &PartState| part_state.is_over || part_state.stuck_at == Some(total);
        if self.part_states.len() < self.expected || self.part_states.is_empty() || !self.part_states.iter().all(is_out)
        {
            return;
        }
        for barrier in 0..self.barrier_states.len() {
            if self.barrier_states[barrier].count() > 0 {
                self.barrier_states[barrier].rounds.short += 1;
                self.release(barrier, now);
            }
        }
    }

    /// The latest end of the next round.
    pub(crate) fn due(&self) -> Nanos {
        let barrier_states =
            self.barrier_states.iter().zip(&self.barriers).filter(|(barrier_state, _)| barrier_state.count() > 0);
        let due = |(barrier_state, barrier): (&RemoteBarrier, &Barrier)| {
            barrier.within.map(|within| barrier_state.first_at + within.into())
        };
        barrier_states.filter_map(due).min().unwrap_or(Nanos::NEVER)
    }

    /// Rounds that have timed out go on without the missing users.
    pub(crate) fn expire_rounds(&mut self, now: Nanos) {
        for barrier in 0..self.barrier_states.len() {
            let barrier_state = &mut self.barrier_states[barrier];
            let within = self.barriers[barrier].within.map(Nanos::from);
            if barrier_state.count() > 0 && within.is_some_and(|within| now >= barrier_state.first_at + within) {
                barrier_state.rounds.by_time += 1;
                self.release(barrier, now);
            }
        }
    }

    fn release(&mut self, barrier: usize, now: Nanos) {
        let barrier_state = &mut self.barrier_states[barrier];
        let waiting = std::mem::take(&mut barrier_state.waiting).into_iter().filter(|(_, count)| *count > 0);
        let upto: Vec<(usize, u64)> = waiting.map(|(part, _)| (part, barrier_state.tickets[&part])).collect();
        barrier_state.gone.extend(upto.iter().copied());
        self.total += 1;
        let (total, at) = (self.total, now + self.lead);
        // Rounds that are released at the same instant are reported together.
        match self.released.last_mut().filter(|last| (last.barrier, last.at) == (barrier, at)) {
            Some(last) => {
                let more = upto.iter().filter(|(part, _)| last.upto.iter().all(|(other, _)| other != part));
                let more: Vec<_> = more.copied().collect();
                for (part, ticket) in &mut last.upto {
                    *ticket = barrier_state.gone[part].max(*ticket);
                }
                last.upto.extend(more);
                last.total = total;
            }
            None => self.released.push(Release { barrier, total, at, upto }),
        }
    }

    /// Takes the releases since the last call.
    pub(crate) fn take_released(&mut self) -> Vec<Release> {
        std::mem::take(&mut self.released)
    }

    /// Adds the rounds counted here to the statistics, beside what partitions report of them.
    pub(crate) fn add_to(&self, met: &mut Vec<BarrierStats>) {
        if met.is_empty() {
            let none = |barrier: &Barrier| BarrierStats {
                name: barrier.name.clone(),
                users: barrier.users,
                full: 0,
                by_time: 0,
                short: 0,
            };
            met.extend(self.barriers.iter().map(none));
        }
        for (met, barrier_state) in met.iter_mut().zip(&self.barrier_states) {
            let Rounds { full, by_time, short } = barrier_state.rounds;
            (met.full, met.by_time, met.short) = (met.full + full, met.by_time + by_time, met.short + short);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LEAD: Nanos = Nanos::from_millis(500);

    fn at(millis: u64) -> Nanos {
        Nanos::from_millis(millis)
    }

    fn remote_barriers(users: u64, within: Option<Duration>, parts: usize) -> RemoteBarriers {
        let mut remote_barriers = RemoteBarriers::new(&[Barrier { name: "door".to_owned(), users, within }], LEAD);
        remote_barriers.expect(parts, at(0));
        (0..parts).for_each(|_| remote_barriers.join());
        remote_barriers
    }

    fn rounds(remote_barriers: &RemoteBarriers) -> (u64, u64, u64) {
        let mut met = Vec::new();
        remote_barriers.add_to(&mut met);
        (met[0].full, met[0].by_time, met[0].short)
    }

    #[test]
    fn the_last_of_all_parts_releases_and_tickets_say_whom() {
        let mut remote_barriers = remote_barriers(5, None, 2);
        remote_barriers.arrive(0, 0, 2, at(10), at(20));
        assert_eq!(remote_barriers.take_released(), []);
        // Of seven users the first five make a round; two wait for the next.
        remote_barriers.arrive(1, 0, 5, at(30), at(40));
        let first = Release { barrier: 0, total: 1, at: at(540), upto: vec![(0, 2), (1, 3)] };
        assert_eq!(remote_barriers.take_released(), [first]);
        remote_barriers.arrive(0, 0, 13, at(50), at(60));
        let upto: Vec<_> =
            remote_barriers.take_released().into_iter().map(|release| (release.total, release.upto)).collect();
        assert_eq!(upto, [(4, vec![(0, 15), (1, 5)])], "three rounds at once");
        assert_eq!((rounds(&remote_barriers), remote_barriers.due()), ((4, 0, 0), Nanos::NEVER));
    }

    #[test]
    fn time_lets_them_go_on() {
        let mut remote_barriers = remote_barriers(5, Some(Duration::from_secs(2)), 2);
        remote_barriers.arrive(1, 0, 2, at(100), at(150));
        assert_eq!(remote_barriers.due(), at(2_100));
        remote_barriers.expire_rounds(at(2_099));
        assert_eq!(remote_barriers.take_released(), []);
        remote_barriers.expire_rounds(at(2_101));
        let release = Release { barrier: 0, total: 1, at: at(2_601), upto: vec![(1, 2)] };
        assert_eq!(remote_barriers.take_released(), [release]);
        // Users that come then form the next one.
        remote_barriers.arrive(0, 0, 1, at(2_200), at(2_300));
        assert_eq!((remote_barriers.due(), rounds(&remote_barriers)), (at(4_200), (0, 1, 0)));
    }

    /// Waiting users go on once no more could come: not before all partitions are there, nor by an outdated report.
    #[test]
    fn those_that_are_left_go_on() {
        let mut remote_barriers =
            RemoteBarriers::new(&[Barrier { name: "door".to_owned(), users: 9, within: None }], LEAD);
        remote_barriers.expect(3, at(0));
        remote_barriers.join();
        remote_barriers.arrive(0, 0, 2, at(1), at(1));
        remote_barriers.stuck(0, 0, at(2));
        remote_barriers.join();
        remote_barriers.stuck(1, 0, at(3));
        assert_eq!(remote_barriers.take_released(), []);
        // The third partition was lost before it began.
        remote_barriers.expect(2, at(4));
        assert_eq!(remote_barriers.take_released().len(), 1);
        remote_barriers.arrive(1, 0, 4, at(600), at(600));
        // The first partition reports the state before it received the release.
        remote_barriers.stuck(1, 1, at(601));
        remote_barriers.stuck(0, 0, at(602));
        assert_eq!(remote_barriers.take_released(), []);
        remote_barriers.withdraw(1, 0, 4);
        remote_barriers.over(0, at(700));
        let release = Release { barrier: 0, total: 2, at: at(1_200), upto: vec![(1, 4)] };
        assert_eq!(remote_barriers.take_released(), [release]);
        assert_eq!(rounds(&remote_barriers), (0, 0, 2));
        // A user that had gone on before it was withdrawn no longer waits.
        remote_barriers.arrive(1, 0, 1, at(1_250), at(1_250));
        remote_barriers.withdraw(1, 0, 2);
        remote_barriers.withdraw(1, 0, 4);
        assert_eq!(remote_barriers.barrier_states[0].count(), 1);
        // Users lost with their partition are not waited for.
        remote_barriers.arrive(1, 0, 3, at(1_300), at(1_300));
        remote_barriers.over(1, at(1_400));
        assert_eq!((remote_barriers.take_released(), remote_barriers.due()), (Vec::new(), Nanos::NEVER));
    }
}
