//! Where users of a run wait for each other in the middle of their programs, whichever shards they are on.
//!
//! The shard whose user arrives last releases a round, and names the instant at which all go on; it wakes the others. So nobody has
//! to listen for a meeting to be released, and a report that is not read holds up nobody. A meeting is a step by itself: its lock is
//! on the path of no exchange.

mod gate;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use driver::Waker;
use pacing::Nanos;
use plan::Meeting;

pub(crate) use gate::Arrival;
use gate::{Gate, Rounds};

/// What became of the rounds of a meeting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// What it is called.
    pub name: String,
    /// How many users make a round.
    pub users: u64,
    /// Rounds whose last user arrived.
    pub full: u64,
    /// Rounds that went on with fewer users, because their time was over.
    pub by_time: u64,
    /// Rounds that went on with fewer users, because nobody was left who could come.
    pub short: u64,
}

/// The meetings of a run.
pub(crate) struct Meetings {
    meetings: Vec<Meeting>,
    /// How often something was released that users of each party wait for.
    news: Box<[AtomicU64]>,
    inner: Mutex<Inner>,
}

struct Inner {
    gates: Vec<Gate>,
    /// The scenarios with meetings on the shards that play them.
    parties: Vec<Party>,
}

#[derive(Default)]
struct Party {
    /// None before it plays.
    waker: Option<Waker>,
    /// All of its users wait, and no more of them will come.
    is_stuck: bool,
    /// Its load is over.
    is_over: bool,
}

impl Meetings {
    /// Of so many parties: scenarios with meetings on shards.
    pub(crate) fn new(meetings: &[Meeting], parties: usize) -> Self {
        let gate = |meeting: &Meeting| Gate::new(meeting.users, meeting.within.map(Nanos::from));
        let gates = meetings.iter().map(gate).collect();
        let inner = Inner { gates, parties: (0..parties).map(|_| Party::default()).collect() };
        let news = (0..parties).map(|_| AtomicU64::new(0)).collect();
        Self { meetings: meetings.to_vec(), news, inner: Mutex::new(inner) }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no holder of the lock panics")
    }

    /// A party begins to play.
    pub(crate) fn join(&self, party: usize, waker: Waker) {
        self.inner().parties[party].waker = Some(waker);
    }

    /// It changes when something was released that users of a party wait for.
    #[inline]
    pub(crate) fn news(&self, party: usize) -> u64 {
        self.news[party].load(Ordering::Relaxed)
    }

    /// Does something with a gate; parties that something was released for are told.
    fn at_gate<T>(&self, meeting: u32, act: impl FnOnce(&mut Gate, &mut dyn FnMut(usize)) -> T) -> T {
        let mut inner = self.inner();
        let Inner { gates, parties } = &mut *inner;
        act(&mut gates[meeting as usize], &mut |party| self.tell(&mut parties[party], party))
    }

    fn tell(&self, party: &mut Party, number: usize) {
        party.is_stuck = false;
        self.news[number].fetch_add(1, Ordering::Relaxed);
        party.waker.iter().for_each(Waker::wake);
    }

    /// A user of a party arrives, whose last round was that one.
    pub(crate) fn arrive(&self, meeting: u32, party: usize, last: u64, now: Nanos) -> Arrival {
        self.at_gate(meeting, |gate, mut tell| gate.arrive(party, last, now, &mut tell))
    }

    /// So many users of a party wait with a round: when it goes on, if that is known.
    pub(crate) fn go_on(&self, meeting: u32, round: u64, users: u64, now: Nanos) -> Option<Nanos> {
        self.at_gate(meeting, |gate, mut tell| gate.go_on(round, users, now, &mut tell))
    }

    /// They wait no longer: their load is over.
    pub(crate) fn withdraw(&self, meeting: u32, party: usize, round: u64, users: u64) {
        self.at_gate(meeting, |gate, _| gate.withdraw(party, round, users));
    }

    /// Whether all users of a party wait, and no more of them will come. Where that holds of all parties, whoever waits goes on.
    /// `heard`: the news that it knows; with others to come, it does not know whether its users still wait.
    pub(crate) fn look(&self, party: usize, is_stuck: bool, heard: u64, now: Nanos) {
        let mut inner = self.inner();
        if self.news(party) == heard {
            inner.parties[party].is_stuck = is_stuck;
            self.look_who_could_come(&mut inner, now);
        }
    }

    /// The load of a party is over.
    pub(crate) fn leave(&self, party: usize, now: Nanos) {
        let mut inner = self.inner();
        inner.parties[party].is_over = true;
        self.look_who_could_come(&mut inner, now);
    }

    fn look_who_could_come(&self, inner: &mut Inner, now: Nanos) {
        let Inner { gates, parties } = inner;
        if parties.iter().all(|party| party.is_over || party.is_stuck) {
            let mut tell = |party: usize| self.tell(&mut parties[party], party);
            gates.iter_mut().for_each(|gate| gate.give_up_waiting(now, &mut tell));
        }
    }

    /// What became of them.
    pub(crate) fn met(&self) -> Vec<Met> {
        let inner = self.inner();
        let met = |(meeting, gate): (&Meeting, &Gate)| {
            let Rounds { full, by_time, short } = gate.rounds();
            Met { name: meeting.name.clone(), users: meeting.users, full, by_time, short }
        };
        self.meetings.iter().zip(&inner.gates).map(met).collect()
    }
}
