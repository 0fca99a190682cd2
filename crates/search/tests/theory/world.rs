//! A target that is a queue, in time that costs nothing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use metrics::Lost;
use pacing::Random;
use search::{Bin, Ending, Found, Go, Moments, Order, Outcome, Own, Piece, Search, Settings, Step, Tally};

#[derive(Clone, Copy, Debug)]
pub(crate) enum Service {
    Exponential(f64),
    Even(f64),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Arrivals {
    Random,
    Even,
    /// The load is a number of users, each of whom comes again as soon as it leaves.
    Users,
}

/// The target, and the instant.
pub(crate) struct World {
    random: Random,
    service: Service,
    arrivals: Arrivals,
    free: BinaryHeap<Reverse<u64>>,
    now: f64,
    /// Services grow by this share a minute.
    pub(crate) leak: f64,
    /// All workers stand still: every so many seconds on average, for so many.
    pub(crate) stall: Option<(f64, f64)>,
    next_stall: f64,
    /// The generator stands still once a second for so many seconds.
    pub(crate) own_stall: f64,
}

const NANOS: f64 = 1e9;
/// Where in each second the generator stands still.
const OWN_STALL_AT: f64 = 0.37;
/// Starts that are this late, in seconds, are not as planned.
const LATE_S: f64 = 0.01;

impl World {
    pub(crate) fn queue(seed: u64, workers: u32, service: Service, arrivals: Arrivals) -> Self {
        let free = std::iter::repeat_n(Reverse(0), workers as usize).collect();
        Self {
            random: Random::new(seed),
            service,
            arrivals,
            free,
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

    /// How long its stalls are that begin between two instants.
    fn own_stalls(&self, from: f64, to: f64) -> f64 {
        let before = |at: f64| (at - OWN_STALL_AT).ceil();
        (before(to) - before(from)) * self.own_stall
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -(1.0 - self.random.unit()).ln() * mean
    }

    /// How long one stays that comes now.
    fn stay(&mut self, at: f64) -> f64 {
        if let Some((every, span)) = self.stall {
            if self.next_stall == f64::INFINITY {
                self.next_stall = at + self.exponential(every);
            }
            while self.next_stall <= at {
                let until = ((self.next_stall + span) * NANOS) as u64;
                self.free = self.free.drain().map(|Reverse(free)| Reverse(free.max(until))).collect();
                self.next_stall += span + self.exponential(every);
            }
        }
        let longer = 1.0 + self.leak * at / 60.0;
        let service = longer
            * match self.service {
                Service::Exponential(mean) => self.exponential(mean),
                Service::Even(span) => span,
            };
        let Reverse(free) = self.free.pop().expect("workers");
        let ends = free.max((at * NANOS) as u64) + (service * NANOS) as u64;
        self.free.push(Reverse(ends));
        (ends as f64 / NANOS - at).max(0.0)
    }

    fn trial(&mut self, order: &Order, search: &Search, limit_s: f64) -> Outcome {
        let mut judge = search.judge(order);
        let (began, mut at) = (self.now, self.now);
        let from = began + order.warmup.as_secs_f64();
        let until = from + order.span_max.as_secs_f64();
        let bin_s = order.bin.as_secs_f64();
        let (mut tally, mut own, mut piece) = (Tally::default(), Own::default(), Piece::default());
        // Those that leave, by the instant.
        let mut leaving: BinaryHeap<Reverse<(u64, u64)>> = BinaryHeap::new();
        let mut stays: Vec<u64> = Vec::new();
        let (mut bin, mut ends, mut done) = (Bin { lost: vec![Lost::default()], ..Bin::default() }, from + bin_s, 0u64);
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
                while let Some(Reverse((leaves, stayed))) = leaving.peek().copied()
                    && leaves as f64 / NANOS <= ends
                {
                    leaving.pop();
                    note(&mut bin, stayed as f64 / NANOS, limit_s);
                    done += 1;
                }
                let mut full = std::mem::replace(&mut bin, Bin { lost: vec![Lost::default()], ..Bin::default() });
                let stalled = Duration::from_secs_f64(self.own_stalls(ends - bin_s, ends));
                let in_flight = leaving.len() as u64;
                let piece = Piece { span: order.bin, stalled, lag: stalled, in_flight, ..std::mem::take(&mut piece) };
                full.is_touched = own.piece(&piece);
                tally.push(full.clone());
                let late = leaving
                    .iter()
                    .filter(|Reverse((leaves, stayed))| ends - (*leaves as f64 - *stayed as f64) / NANOS > limit_s);
                is_over = judge.piece(full, &[late.count() as u64]) == Go::Stop;
                ends += bin_s;
            }
            if is_over {
                break;
            }
            let sent = self.awake(at);
            let stay = self.stay(sent);
            let ended = self.awake(sent + stay);
            let stayed = ended - at;
            piece.starts += 1;
            piece.late += u64::from(sent - at > LATE_S);
            piece.latest = piece.latest.max(Duration::from_secs_f64(sent - at));
            users.push(Reverse(((at + stayed) * NANOS) as u64));
            if at >= from {
                stays.push((stayed * NANOS) as u64);
                leaving.push(Reverse((((at + stayed) * NANOS) as u64, (stayed * NANOS) as u64)));
            }
        }
        self.now = at;
        let measured = at - from;
        // What is under way ends.
        for Reverse((leaves, stayed)) in leaving {
            note(&mut bin, stayed as f64 / NANOS, limit_s);
            self.now = self.now.max(leaves as f64 / NANOS);
            done += 1;
        }
        tally.push(bin);
        stays.sort_unstable();
        let beyond = limit_s + own.longest().as_secs_f64();
        let slower = stays.iter().filter(|stayed| **stayed as f64 / NANOS >= beyond).count() as u64;
        let fault = own.fault(&Ending {
            goals: &[(0.01, Some(limit_s))],
            tally: &tally,
            beyond: &[Lost { lost: slower, of: stays.len() as u64 }],
            is_open: !matches!(self.arrivals, Arrivals::Users),
            threads: 1,
            is_full: false,
            limit: None,
        });
        Outcome {
            fault,
            stall: own.stall_max(),
            p50_ns: stays.get(stays.len() / 2).copied(),
            tally,
            measured: Duration::from_secs_f64(measured),
            done_per_s: done as f64 / measured,
            limit: "target",
            ..Outcome::default()
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
pub(crate) fn search(mut world: World, limit_s: f64, share: f64, budget: Duration) -> Found {
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
                search.heard(&order, outcome, began, Duration::from_secs_f64(world.now));
            }
            Step::Rest => search.rested(Ok(Duration::ZERO)),
            Step::Over => return search.found(),
        }
    }
}
