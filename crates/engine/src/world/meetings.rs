//! Users of a shard that wait at a barrier in the middle of their programs.

use std::sync::Arc;

use driver::Waker;
use pacing::Nanos;

use super::World;
use crate::meetings::{Arrival, Meetings};

/// Nobody knows how long a user waits for others: until then at most, which is 146 years. Times are added to it.
const LONG: Nanos = Nanos(1 << 62);

/// Users of a shard that wait for others.
pub(super) struct Attendance {
    meetings: Arc<Meetings>,
    party: usize,
    groups: Vec<Group>,
    /// The news that it knows.
    heard: u64,
    /// When the time of a group is over.
    due: Nanos,
    /// It has told that no more users will come.
    is_stuck: bool,
}

/// Users of a shard that wait with one round of a meeting, in the order in which they arrived.
struct Group {
    meeting: u32,
    round: u64,
    until: Nanos,
    users: Vec<u32>,
}

impl Attendance {
    pub(super) fn new(meetings: Arc<Meetings>, party: usize, waker: &Waker) -> Self {
        meetings.join(party, waker.clone());
        Self { meetings, party, groups: Vec::new(), heard: 0, due: Nanos::NEVER, is_stuck: false }
    }

    fn has_news(&self) -> bool {
        self.meetings.news(self.party) != self.heard
    }

    /// When it is to be looked at again.
    pub(super) fn next_turn(&self) -> Nanos {
        if self.has_news() { Nanos::ZERO } else { self.due }
    }

    fn waiting(&self) -> u64 {
        self.groups.iter().map(|group| group.users.len() as u64).sum()
    }

    fn add(&mut self, user: u32, meeting: u32, round: u64, until: Nanos) {
        self.due = self.due.min(until);
        match self.groups.iter_mut().find(|group| (group.meeting, group.round) == (meeting, round)) {
            Some(group) => group.users.push(user),
            None => self.groups.push(Group { meeting, round, until, users: vec![user] }),
        }
    }

    /// Users that go on, with the instants at which they do.
    fn take_released(&mut self, now: Nanos) -> Vec<(Nanos, Vec<u32>)> {
        let news = self.meetings.news(self.party);
        if news != self.heard {
            (self.heard, self.is_stuck) = (news, false);
        } else if now < self.due {
            return Vec::new();
        }
        let (meetings, mut released) = (&self.meetings, Vec::new());
        self.groups.retain_mut(|group| {
            let at = meetings.go_on(group.meeting, group.round, group.users.len() as u64, now);
            released.extend(at.map(|at| (at, std::mem::take(&mut group.users))));
            at.is_none()
        });
        self.due = self.groups.iter().map(|group| group.until).min().unwrap_or(Nanos::NEVER);
        released
    }
}

impl World {
    /// A user arrives at a meeting. `None`: it waits; else it goes on, as one that was free at that instant.
    #[cold]
    pub(super) fn arrive(&mut self, user: u32, meeting: u32, intended: Nanos, now: Nanos) -> Option<Nanos> {
        // Behind the end of the load nobody waits for others.
        if self.users.budget.is_over {
            return Some(intended);
        }
        let users = &mut self.users;
        let (code, is_open) = (users.programs.code.clone(), users.open.is_some());
        let attendance = users.meetings.as_mut().expect("a program with meetings has somebody who keeps them");
        let place = users.programs.place(user).expect("who meets others has a place");
        // Users of a rate are carriers: each iteration is a visitor of its own.
        let last = if is_open { 0 } else { place.last_met(meeting) };
        match attendance.meetings.arrive(meeting, attendance.party, last, now) {
            Arrival::Passes { round, at } => {
                place.meet(meeting, round);
                // One of ours that is late itself does not go on before the others did.
                Some(intended.max(at.min(now)))
            }
            Arrival::Waits { round, until } => {
                place.meet(meeting, round);
                place.rest(now, LONG, &code.transactions);
                place.wakes_at = Some(Nanos::NEVER);
                attendance.add(user, meeting, round, until);
                None
            }
        }
    }

    /// Those whose round was released go on at its instant.
    #[inline]
    pub(super) fn look_at_meetings(&mut self, now: Nanos) {
        let Some(attendance) = &mut self.users.meetings else { return };
        if now < attendance.due && !attendance.has_news() {
            return;
        }
        for (at, users) in attendance.take_released(now) {
            users.into_iter().for_each(|user| self.end_wait(user, at));
        }
    }

    fn end_wait(&mut self, user: u32, at: Nanos) {
        let code = self.users.programs.code.clone();
        if let Some(place) = self.users.programs.place(user) {
            place.end_rest(at, &code.transactions);
        }
        self.rest(user, at);
    }

    /// Tells when nobody is left here who could come to a meeting.
    pub(super) fn look_who_could_come(&mut self, now: Nanos) {
        let Some(attendance) = &self.users.meetings else { return };
        let is_stuck = !self.users.budget.is_over && self.all_wait(attendance.waiting());
        if let Some(attendance) = self.users.meetings.as_mut().filter(|attendance| attendance.is_stuck != is_stuck) {
            attendance.is_stuck = is_stuck;
            attendance.meetings.look(attendance.party, is_stuck, attendance.heard, now);
        }
    }

    /// So many users wait: these are all that there are, and no more will come.
    fn all_wait(&self, waiting: u64) -> bool {
        let users = &self.users;
        match &users.open {
            Some(open) => waiting == users.inside && (open.is_over() || open.is_full(users.inside)),
            None => waiting == users.started - users.ended - users.closed.parked && users.closed.is_complete(),
        }
    }

    /// The load is over: nobody waits any longer. Those that have something left to do go on.
    pub(super) fn leave_meetings(&mut self, at: Nanos) {
        let Some(attendance) = &mut self.users.meetings else { return };
        (attendance.due, attendance.is_stuck) = (Nanos::NEVER, false);
        for group in std::mem::take(&mut attendance.groups) {
            let Some(attendance) = &self.users.meetings else { return };
            let count = group.users.len() as u64;
            attendance.meetings.withdraw(group.meeting, attendance.party, group.round, count);
            if self.users.programs.has_apart() {
                group.users.into_iter().for_each(|user| self.end_wait(user, at));
            }
        }
        if let Some(attendance) = &self.users.meetings {
            attendance.meetings.leave(attendance.party, at);
        }
    }
}
