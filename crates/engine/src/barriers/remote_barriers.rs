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
    doors: Vec<RemoteBarrier>,
    seats: Vec<PartState>,
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
        let doors = barriers.iter().map(|_| RemoteBarrier::default()).collect();
        let (seats, released) = (Vec::new(), Vec::new());
        Self { barriers: barriers.to_vec(), doors, seats, expected: 0, lead, total: 0, released }
    }

    /// Sets how many partitions exist, or will. Before all of them are there it is unknown whether more users could
    /// come.
    pub(crate) fn expect(&mut self, parts: usize, now: Nanos) {
        self.expected = parts;
        self.look_who_could_come(now);
    }

    /// One more partition begins.
    pub(crate) fn join(&mut self) {
        self.seats.push(PartState::default());
    }

    /// Users of a partition have arrived, the first of them at `at`.
    pub(crate) fn arrive(&mut self, part: usize, barrier: usize, count: u64, at: Nanos, now: Nanos) {
        let Some(seat) = self.seats.get_mut(part).filter(|_| barrier < self.doors.len()) else { return };
        let is_over = seat.is_over;
        seat.stuck_at = None;
        self.look(now);
        let users = self.barriers[barrier].users;
        for _ in 0..count {
            let door = &mut self.doors[barrier];
            if door.count() == 0 {
                door.first_at = at;
            }
            *door.tickets.entry(part).or_default() += 1;
            if !is_over {
                *door.waiting.entry(part).or_default() += 1;
            }
            if door.count() >= users {
                door.rounds.full += 1;
                self.release(barrier, now);
            }
        }
    }

    /// The user with this ticket of a partition waits no longer: its load is over. It may have been released before
    /// this was received.
    pub(crate) fn withdraw(&mut self, part: usize, barrier: usize, ticket: u64) {
        let Some(door) = self.doors.get_mut(barrier) else { return };
        let is_gone = door.gone.get(&part).is_some_and(|gone| ticket <= *gone);
        if let Some(waiting) = door.waiting.get_mut(&part).filter(|_| !is_gone) {
            *waiting = waiting.saturating_sub(1);
        }
    }

    /// All users of a partition wait, and no more of them will come. `received`: the releases it had received by then.
    pub(crate) fn stuck(&mut self, part: usize, received: u64, now: Nanos) {
        if let Some(seat) = self.seats.get_mut(part) {
            seat.stuck_at = Some(received);
        }
        self.look_who_could_come(now);
    }

    /// A partition is over or lost.
    pub(crate) fn over(&mut self, part: usize, now: Nanos) {
        if let Some(seat) = self.seats.get_mut(part) {
            seat.is_over = true;
        }
        self.doors.iter_mut().for_each(|door| _ = door.waiting.remove(&part));
        self.look_who_could_come(now);
    }

    fn look_who_could_come(&mut self, now: Nanos) {
        let total = self.total;
        let is_out = |seat: &PartState| seat.is_over || seat.stuck_at == Some(total);
        if self.seats.len() < self.expected || self.seats.is_empty() || !self.seats.iter().all(is_out) {
            return;
        }
        for barrier in 0..self.doors.len() {
            if self.doors[barrier].count() > 0 {
                self.doors[barrier].rounds.short += 1;
                self.release(barrier, now);
            }
        }
    }

    /// The latest end of the next round.
    pub(crate) fn due(&self) -> Nanos {
        let doors = self.doors.iter().zip(&self.barriers).filter(|(door, _)| door.count() > 0);
        let due =
            |(door, barrier): (&RemoteBarrier, &Barrier)| barrier.within.map(|within| door.first_at + within.into());
        doors.filter_map(due).min().unwrap_or(Nanos::NEVER)
    }

    /// Rounds that have timed out go on without the missing users.
    pub(crate) fn look(&mut self, now: Nanos) {
        for barrier in 0..self.doors.len() {
            let door = &mut self.doors[barrier];
            let within = self.barriers[barrier].within.map(Nanos::from);
            if door.count() > 0 && within.is_some_and(|within| now >= door.first_at + within) {
                door.rounds.by_time += 1;
                self.release(barrier, now);
            }
        }
    }

    fn release(&mut self, barrier: usize, now: Nanos) {
        let door = &mut self.doors[barrier];
        let waiting = std::mem::take(&mut door.waiting).into_iter().filter(|(_, count)| *count > 0);
        let upto: Vec<(usize, u64)> = waiting.map(|(part, _)| (part, door.tickets[&part])).collect();
        door.gone.extend(upto.iter().copied());
        self.total += 1;
        let (total, at) = (self.total, now + self.lead);
        // Rounds that are released at the same instant are reported together.
        match self.released.last_mut().filter(|last| (last.barrier, last.at) == (barrier, at)) {
            Some(last) => {
                let more = upto.iter().filter(|(part, _)| last.upto.iter().all(|(other, _)| other != part));
                let more: Vec<_> = more.copied().collect();
                for (part, ticket) in &mut last.upto {
                    *ticket = door.gone[part].max(*ticket);
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
        for (met, door) in met.iter_mut().zip(&self.doors) {
            let Rounds { full, by_time, short } = door.rounds;
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
        remote_barriers.look(at(2_099));
        assert_eq!(remote_barriers.take_released(), []);
        remote_barriers.look(at(2_101));
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
        assert_eq!(remote_barriers.doors[0].count(), 1);
        // Users lost with their partition are not waited for.
        remote_barriers.arrive(1, 0, 3, at(1_300), at(1_300));
        remote_barriers.over(1, at(1_400));
        assert_eq!((remote_barriers.take_released(), remote_barriers.due()), (Vec::new(), Nanos::NEVER));
    }
}
