//! Queues whose waiting times theory knows: `/queue/WORKERS/MS`.
//!
//! Requests wait in one line for one of some workers, first come, first served. When each leaves is reckoned from the instants of
//! arrival alone (Lindley's recursion; Kiefer and Wolfowitz for several workers), so a timer that is late makes one answer late and
//! never the queue. Service times are exponential, or all the same with `/even` behind the path.
//!
//! Three faults can be asked for: `?leak=PERCENT` makes services longer, by this share of the mean each minute; `?room=N` refuses
//! whoever finds `N` requests; `?stall=EVERY/SPAN` stops all workers for `SPAN` milliseconds, at random, every `EVERY` on average.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt::Write;

use pacing::{Nanos, Random};

use crate::millis::millis;

/// The most workers of a queue.
const WORKERS_MAX: u32 = 4_096;
/// The largest leak, in percent a minute.
const LEAK_MAX: u32 = 10_000;
/// The most that a queue with room takes.
const ROOM_MAX: u32 = 1_000_000;
/// Queues that are known at a time; a further one takes the place of the oldest.
const QUEUES_MAX: usize = 64;
/// Services that are logged: the last ones.
const LOGGED_MAX: usize = 65_536;
/// Streams of random numbers of a server that its threads have; queues have those behind them.
const STREAMS: u64 = 1 << 32;

/// What a path asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueShape {
    workers: u32,
    mean: Nanos,
    is_even: bool,
    leak_percent: u32,
    /// 0: for all who come.
    room: u32,
    stall: Option<(Nanos, Nanos)>,
}

impl QueueShape {
    /// `4/10`, `1/2.5/even`, and what stands behind the question mark.
    pub(crate) fn parse(path: &str, query: &str) -> Option<Self> {
        let mut parts = path.split('/');
        let (workers, mean, kind) = (parts.next()?, parts.next()?, parts.next());
        let workers = number(workers, WORKERS_MAX).filter(|workers| *workers > 0)?;
        let mean = millis(mean).filter(|mean| mean.0 > 0)?;
        if parts.next().is_some() || kind.is_some_and(|kind| kind != "even") {
            return None;
        }
        let mut shape = Self { workers, mean, is_even: kind.is_some(), leak_percent: 0, room: 0, stall: None };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=').unwrap_or((pair, "")) {
                ("leak", text) => shape.leak_percent = number(text, LEAK_MAX)?,
                ("room", text) => shape.room = number(text, ROOM_MAX)?,
                ("stall", text) => {
                    let (every, span) = text.split_once('/')?;
                    shape.stall = Some((millis(every).filter(|every| every.0 > 0)?, millis(span)?));
                }
                // As everywhere: a query that nobody knows is nothing.
                _ => {}
            }
        }
        Some(shape)
    }
}

fn number(text: &str, most: u32) -> Option<u32> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && *number <= most)
}

/// One service, as it is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Service {
    pub(crate) arrived: Nanos,
    pub(crate) span: Nanos,
    pub(crate) departs: Nanos,
}

/// All queues of a server.
#[derive(Debug)]
pub(crate) struct Queues {
    seed: u64,
    made: u64,
    lines: VecDeque<WaitingLine>,
    log: VecDeque<Service>,
}

impl Queues {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, made: 0, lines: VecDeque::new(), log: VecDeque::new() }
    }

    /// Somebody comes: when the answer goes out; `None` when there is no room.
    pub(crate) fn arrive(&mut self, shape: QueueShape, at: Nanos) -> Option<Nanos> {
        let place = self.lines.iter().position(|line| line.shape == shape).unwrap_or_else(|| {
            if self.lines.len() == QUEUES_MAX {
                self.lines.pop_front();
            }
            self.lines.push_back(WaitingLine::new(shape, at, Random::of_stream(self.seed, STREAMS + self.made)));
            self.made += 1;
            self.lines.len() - 1
        });
        let service = self.lines[place].arrive(at)?;
        if self.log.len() == LOGGED_MAX {
            self.log.pop_front();
        }
        self.log.push_back(service);
        Some(service.departs)
    }

    /// The last services as CSV, oldest first.
    pub(crate) fn log_csv(&self) -> String {
        let mut text = String::from("arrived_ns,service_ns,departs_ns\n");
        for Service { arrived, span, departs } in &self.log {
            writeln!(text, "{},{},{}", arrived.0, span.0, departs.0).expect("writing to a string does not fail");
        }
        text
    }
}

/// Those who wait for the workers of one queue.
#[derive(Debug)]
struct WaitingLine {
    shape: QueueShape,
    random: Random,
    began: Nanos,
    /// When each worker is free, on the clock of the workers, which stands still in a stall.
    free: BinaryHeap<Reverse<Nanos>>,
    /// When those leave who are here, on the clock of the world; only where room is bounded.
    leaving: BinaryHeap<Reverse<Nanos>>,
    stalls: Stalls,
}

impl WaitingLine {
    fn new(shape: QueueShape, at: Nanos, random: Random) -> Self {
        let free = std::iter::repeat_n(Reverse(Nanos::ZERO), shape.workers as usize).collect();
        let stalls = Stalls { past: 0, last: at, coming: VecDeque::new() };
        Self { shape, random, began: at, free, leaving: BinaryHeap::new(), stalls }
    }

    fn arrive(&mut self, at: Nanos) -> Option<Service> {
        if self.shape.room > 0 {
            while self.leaving.peek().is_some_and(|Reverse(leaves)| *leaves <= at) {
                self.leaving.pop();
            }
            if self.leaving.len() >= self.shape.room as usize {
                return None;
            }
        }
        let minutes = at.since(self.began).as_secs_f64() / 60.0;
        let longer = 1.0 + f64::from(self.shape.leak_percent) / 100.0 * minutes;
        let drawn = if self.shape.is_even { 1.0 } else { exponential(&mut self.random) };
        let span = Nanos((self.shape.mean.0 as f64 * longer * drawn) as u64);
        let arrived = self.stalls.worked_until(self.shape.stall, at, &mut self.random);
        let Reverse(free) = self.free.pop().expect("a queue has workers");
        let ends = arrived.max(free) + span;
        self.free.push(Reverse(ends));
        let departs = self.stalls.instant_of(self.shape.stall, ends, &mut self.random).max(at);
        if self.shape.room > 0 {
            self.leaving.push(Reverse(departs));
        }
        Some(Service { arrived: at, span, departs })
    }
}

/// When workers stand still. They have a clock that does not go on meanwhile; stalls begin on it.
#[derive(Debug)]
struct Stalls {
    /// Stalls that are over.
    past: u64,
    /// The beginning of the last one that was drawn.
    last: Nanos,
    coming: VecDeque<Nanos>,
}

impl Stalls {
    /// The workers' clock at an instant of the world.
    fn worked_until(&mut self, stall: Option<(Nanos, Nanos)>, at: Nanos, random: &mut Random) -> Nanos {
        let Some((every, span)) = stall else { return at };
        loop {
            let worked = at.since(Nanos(self.past * span.0));
            let Some(&begins) = self.coming.front() else {
                self.draw(every, random);
                continue;
            };
            if worked < begins {
                return worked;
            }
            if worked < begins + span {
                return begins;
            }
            self.coming.pop_front();
            self.past += 1;
        }
    }

    /// The instant of the world at which the workers' clock shows `worked`.
    fn instant_of(&mut self, stall: Option<(Nanos, Nanos)>, worked: Nanos, random: &mut Random) -> Nanos {
        let Some((every, span)) = stall else { return worked };
        while self.last <= worked {
            self.draw(every, random);
        }
        let begun = self.coming.iter().take_while(|begins| **begins <= worked).count() as u64;
        worked + Nanos((self.past + begun) * span.0)
    }

    fn draw(&mut self, every: Nanos, random: &mut Random) {
        self.last += Nanos((every.0 as f64 * exponential(random)) as u64 + 1);
        self.coming.push_back(self.last);
    }
}

/// An exponential number with the mean 1.
fn exponential(random: &mut Random) -> f64 {
    -(1.0 - random.unit()).ln()
}

#[cfg(test)]
mod tests;
