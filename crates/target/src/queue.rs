//! Queues with theoretically known waiting times: `/queue/WORKERS/MS`.
//!
//! Requests wait in one line for one of several workers, first come, first served. Departure times are computed from
//! the arrival times alone (Lindley's recursion; Kiefer and Wolfowitz for several workers), so a late timer delays one
//! response and never the queue. Service times are exponential, or constant with `/even` at the end of the path.
//!
//! Three faults can be requested: `?leak=PERCENT` makes services longer, by this share of the mean each minute;
//! `?room=N` refuses a request that finds `N` others; `?stall=EVERY/SPAN` stops all workers for `SPAN` milliseconds, at
//! random, every `EVERY` on average.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt::Write;

use pacing::{Nanos, Random};

use crate::millis::millis;

/// Maximum number of workers of a queue.
const WORKERS_MAX: u32 = 4_096;
/// The largest leak, in percent a minute.
const LEAK_MAX: u32 = 10_000;
/// Maximum of `room`.
const ROOM_MAX: u32 = 1_000_000;
/// Maximum number of known queues; a further one replaces the oldest.
const QUEUES_MAX: usize = 64;
/// Number of logged services: the most recent ones.
const LOGGED_MAX: usize = 65_536;
/// Random streams below this number belong to the threads of a server; those from it on to queues.
const STREAMS: u64 = 1 << 32;

/// The parameters of a queue, from its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueShape {
    workers: u32,
    mean: Nanos,
    is_even: bool,
    leak_percent: u32,
    /// Maximum number of requests in the queue; 0 for no limit.
    room: u32,
    stall: Option<(Nanos, Nanos)>,
}

impl QueueShape {
    /// Parses `4/10`, `1/2.5/even`, and the query.
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
                // As everywhere: unknown query parameters are ignored.
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

/// One logged service.
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

    /// A request arrives: returns when its response is sent; `None` when there is no room.
    pub(crate) fn arrive(&mut self, shape: QueueShape, at: Nanos) -> Option<Nanos> {
        let place = self.lines.iter().position(|line| line.shape == shape).unwrap_or_else(|| {
            if self.lines.len() == QUEUES_MAX {
                self.lines.pop_front();
            }
            self.lines.push_back(WaitingLine::new(shape, at, Random::for_stream(self.seed, STREAMS + self.made)));
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

    /// The most recent services as CSV, oldest first.
    pub(crate) fn log_csv(&self) -> String {
        let mut text = String::from("arrived_ns,service_ns,departs_ns\n");
        for Service { arrived, span, departs } in &self.log {
            writeln!(text, "{},{},{}", arrived.0, span.0, departs.0).expect("writing to a string does not fail");
        }
        text
    }
}

/// The state of one queue.
#[derive(Debug)]
struct WaitingLine {
    shape: QueueShape,
    random: Random,
    began: Nanos,
    /// When each worker is free, on the workers' clock, which is paused in a stall.
    free: BinaryHeap<Reverse<Nanos>>,
    /// Departures of the requests in the queue, in real time; only used with limited room.
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

/// Stalls of the workers. Their clock is paused meanwhile; the beginnings of stalls are on it.
#[derive(Debug)]
struct Stalls {
    /// Number of stalls that are over.
    past: u64,
    /// The beginning of the last drawn stall.
    last: Nanos,
    coming: VecDeque<Nanos>,
}

impl Stalls {
    /// The workers' clock at an instant of real time.
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

    /// The instant of real time at which the workers' clock shows `worked`.
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

/// An exponentially distributed number with the mean 1.
fn exponential(random: &mut Random) -> f64 {
    -(1.0 - random.unit()).ln()
}

#[cfg(test)]
mod tests;
