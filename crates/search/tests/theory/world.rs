//! A target that is a queue, in virtual time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use metrics::GoalMisses;
use pacing::Random;
use search::{
    Bin, Go, Judge, Moments, OwnEffects, Search, SearchResult, Settings, Step, Tally, TimePiece, TrialEnding,
    TrialOrder, TrialOutcome,
};

use crate::queue::{Queue, Stay};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Service {
    Exponential(f64),
    Even(f64),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrivals {
    Random,
    Even,
    /// A load of users, each of which comes again as soon as it leaves.
    Users,
}

/// The target, and the instant.
pub(crate) struct World {
    random: Random,
    service: Service,
    arrivals: Arrivals,
    queue: Queue,
    now: f64,
    /// The growth of service times per minute.
    pub(crate) leak: f64,
    /// Stalls of all workers: their mean distance, and their length, in seconds.
    pub(crate) stall: Option<(f64, f64)>,
    next_stall: f64,
    /// The length of a generator stall once a second, in seconds.
    pub(crate) own_stall: f64,
}

const NANOS: f64 = 1e9;
/// The position of the generator stall in each second.
const OWN_STALL_AT: f64 = 0.37;
/// The lateness, in seconds, from which on starts are not as planned.
const LATE_S: f64 = 0.01;

/// Requests of a trial, by when the generator reads their end, in nanoseconds; when they were due, and their service.
type Leaving = BinaryHeap<Reverse<(u64, u64)>>;

impl World {
    pub(crate) fn queue(seed: u64, workers: u32, service: Service, arrivals: Arrivals) -> Self {
        Self::with(seed, Queue::line(workers), service, arrivals)
    }

    /// One worker that is shared by all requests in it.
    pub(crate) fn shared(seed: u64, service: Service, arrivals: Arrivals) -> Self {
        Self::with(seed, Queue::shared(), service, arrivals)
    }

    fn with(seed: u64, queue: Queue, service: Service, arrivals: Arrivals) -> Self {
        Self {
            random: Random::new(seed),
            service,
            arrivals,
            queue,
            now: 0.0,
            leak: 0.0,
            stall: None,
            next_stall: f64::INFINITY,
            own_stall: 0.0,
        }
    }

    /// When the generator does what is due at an instant: at once, or at the end of its stall.
    fn awake(&self, at: f64) -> f64 {
        let began = at.floor() + OWN_STALL_AT;
        if at >= began && at < began + self.own_stall { began + self.own_stall } else { at }
    }

    /// The total length of its stalls that begin between two instants.
    fn own_stalls(&self, from: f64, to: f64) -> f64 {
        let before = |at: f64| (at - OWN_STALL_AT).ceil();
        (before(to) - before(from)) * self.own_stall
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -(1.0 - self.random.unit()).ln() * mean
    }

    /// Adds a request that was due at an instant and is sent at another.
    fn comes(&mut self, due: f64, at: f64, left: &mut Vec<Stay>) {
        if let Some((every, span)) = self.stall {
            if self.next_stall == f64::INFINITY {
                self.next_stall = at + self.exponential(every);
            }
            while self.next_stall <= at {
                self.queue.stands_still_until(self.next_stall + span);
                self.next_stall += span + self.exponential(every);
            }
        }
        let longer = 1.0 + self.leak * at / 60.0;
        let service = longer
            * match self.service {
                Service::Exponential(mean) => self.exponential(mean),
                Service::Even(span) => span,
            };
        self.queue.comes((due, at), service, left);
    }

    fn leave(&self, left: &mut Vec<Stay>, leaving: &mut Leaving) {
        for stay in left.drain(..) {
            leaving.push(Reverse(((self.awake(stay.leaves) * NANOS) as u64, (stay.due * NANOS) as u64)));
        }
    }

    fn trial(&mut self, order: &TrialOrder, search: &Search, limit_s: f64) -> TrialOutcome {
        let (began, mut at) = (self.now, self.now);
        let from = began + order.warmup.as_secs_f64();
        let until = from + order.span_max.as_secs_f64();
        let bin_s = order.bin.as_secs_f64();
        let mut seen = Seen::new(search.judge(order), from, limit_s);
        let (mut leaving, mut left) = (Leaving::default(), Vec::new());
        let (mut ends, mut piece, mut is_warm) = (from, TimePiece::default(), false);
        let mut users: BinaryHeap<Reverse<u64>> = BinaryHeap::new();
        if matches!(self.arrivals, Arrivals::Users) {
            users.extend((0..order.at as u64).map(|_| Reverse((began * NANOS) as u64)));
        }
        loop {
            match self.arrivals {
                Arrivals::Random => at += self.exponential(1.0 / order.at),
                Arrivals::Even => at += 1.0 / order.at,
                Arrivals::Users => at = users.pop().expect("a user").0 as f64 / NANOS,
            }
            let mut is_over = at >= until;
            while ends <= at && !is_over {
                self.queue.on(ends, &mut left);
                self.leave(&mut left, &mut leaving);
                seen.leave(&mut leaving, ends);
                let in_flight = leaving.len() + self.queue.there().count();
                if is_warm {
                    let stalled = Duration::from_secs_f64(self.own_stalls(ends - bin_s, ends));
                    let in_flight = in_flight as u64;
                    let seen_piece = TimePiece { span: order.bin, stalled, lag: stalled, in_flight, ..piece };
                    let dues = leaving.iter().map(|Reverse((_, due))| *due as f64 / NANOS).chain(self.queue.there());
                    let late = dues.filter(|due| *due >= from && ends - due > limit_s).count();
                    is_over = seen.piece(&seen_piece, late as u64) == Go::Stop;
                } else {
                    seen.own.begins(in_flight as u64);
                }
                (piece, is_warm) = (TimePiece::default(), true);
                ends += bin_s;
            }
            if is_over {
                break;
            }
            let sent = self.awake(at);
            piece.starts += 1;
            piece.late += u64::from(sent - at > LATE_S);
            piece.latest = piece.latest.max(Duration::from_secs_f64(sent - at));
            self.comes(at, sent, &mut left);
            if matches!(self.arrivals, Arrivals::Users) {
                users.extend(left.iter().map(|stay| Reverse((self.awake(stay.leaves) * NANOS) as u64)));
            }
            self.leave(&mut left, &mut leaving);
        }
        let measured = at - from;
        // Requests in flight finish.
        self.queue.on(f64::INFINITY, &mut left);
        self.leave(&mut left, &mut leaving);
        let last = leaving.iter().map(|Reverse((leaves, _))| *leaves as f64 / NANOS).fold(at, f64::max);
        seen.leave(&mut leaving, f64::MAX);
        self.now = last;
        seen.outcome(!matches!(self.arrivals, Arrivals::Users), measured)
    }
}

/// The generator's results of a trial.
struct Seen {
    judge: Judge,
    from: f64,
    limit_s: f64,
    tally: Tally,
    own: OwnEffects,
    bin: Bin,
    stays: Vec<u64>,
    done: u64,
}

fn empty() -> Bin {
    Bin { lost: vec![GoalMisses::default()], ..Bin::default() }
}

impl Seen {
    fn new(judge: Judge, from: f64, limit_s: f64) -> Self {
        let (tally, own) = (Tally::default(), OwnEffects::default());
        Self { judge, from, limit_s, tally, own, bin: empty(), stays: Vec::new(), done: 0 }
    }

    /// Removes the requests that have left by then; those due before the trial are not counted.
    fn leave(&mut self, leaving: &mut Leaving, by: f64) {
        while let Some(Reverse((leaves, due))) = leaving.peek().copied()
            && leaves as f64 / NANOS <= by
        {
            leaving.pop();
            if due as f64 / NANOS >= self.from {
                self.done += 1;
                self.stays.push(leaves.saturating_sub(due));
                note(&mut self.bin, leaves.saturating_sub(due) as f64 / NANOS, self.limit_s);
            }
        }
    }

    fn piece(&mut self, piece: &TimePiece, late: u64) -> Go {
        let mut full = std::mem::replace(&mut self.bin, empty());
        self.own.piece(piece).mark(&mut full);
        self.tally.push(full.clone());
        self.judge.piece(full, &[late])
    }

    fn outcome(mut self, is_open: bool, measured: f64) -> TrialOutcome {
        self.tally.mend(self.bin);
        let Self { limit_s, tally, own, mut stays, done, .. } = self;
        stays.sort_unstable();
        let beyond = limit_s + own.longest().as_secs_f64();
        let slower = stays.iter().filter(|stayed| **stayed as f64 / NANOS >= beyond).count() as u64;
        let fault = own.fault(&TrialEnding {
            goals: &[(0.01, Some(limit_s))],
            tally: &tally,
            beyond: &[GoalMisses { lost: slower, of: stays.len() as u64 }],
            is_open,
            threads: 1,
            is_full: false,
            limit: None,
        });
        TrialOutcome {
            fault,
            stall: own.stall_max(),
            p50_ns: stays.get(stays.len() / 2).copied(),
            tally,
            measured: Duration::from_secs_f64(measured),
            done_per_s: done as f64 / measured,
            limit: "target",
            ..TrialOutcome::default()
        }
    }
}

fn note(bin: &mut Bin, stayed: f64, limit_s: f64) {
    bin.lost[0].of += 1;
    bin.lost[0].lost += u64::from(stayed >= limit_s);
    let one = Moments { count: 1.0, sum: stayed, squares: stayed * stayed, most: stayed };
    bin.times = bin.times.with(one);
}

/// A whole search.
pub(crate) fn search(mut world: World, limit_s: f64, share: f64, budget: Duration) -> SearchResult {
    let settings = Settings {
        goals: vec![(share, Some(limit_s))],
        budget,
        trials_max: None,
        start: if matches!(world.arrivals, Arrivals::Users) { 1.0 } else { 10.0 },
        least: 1.0,
        most: 1e6,
        is_whole: matches!(world.arrivals, Arrivals::Users),
        is_plain: false,
    };
    let mut search = Search::new(settings);
    loop {
        let began = Duration::from_secs_f64(world.now);
        match search.next(began) {
            Step::Trial(order) => {
                let outcome = world.trial(&order, &search, limit_s);
                search.received(&order, outcome, began, Duration::from_secs_f64(world.now));
            }
            Step::Rest => search.rested(Ok(Duration::ZERO)),
            Step::Over => return search.found(),
        }
    }
}
