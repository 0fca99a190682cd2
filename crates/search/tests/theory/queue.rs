//! The queue of a target: workers with one line before them, or one worker that is shared by all requests in it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

const NANOS: f64 = 1e9;

/// The due instant of a request, and the instant when it leaves: seconds. The first is that of the plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stay {
    pub(crate) due: f64,
    pub(crate) leaves: f64,
}

#[derive(Clone, Debug)]
pub(crate) enum Queue {
    /// When each worker is free.
    Line(BinaryHeap<Reverse<u64>>),
    Shared(Shared),
}

/// Processor sharing: each request in it gets its part of one worker.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared {
    now: f64,
    /// The service that a request has received if it was there all the time.
    got: f64,
    /// The value of that at which each will leave; and when it was due.
    there: BinaryHeap<Reverse<(u64, u64)>>,
}

impl Queue {
    pub(crate) fn line(workers: u32) -> Self {
        Self::Line(std::iter::repeat_n(Reverse(0), workers as usize).collect())
    }

    pub(crate) fn shared() -> Self {
        Self::Shared(Shared::default())
    }

    /// Serves no request until then.
    pub(crate) fn stands_still_until(&mut self, until: f64) {
        let Self::Line(free) = self else { unreachable!("nobody asks for it") };
        let until = (until * NANOS) as u64;
        *free = free.drain().map(|Reverse(free)| Reverse(free.max(until))).collect();
    }

    /// Adds a request at an instant, which is no earlier than the one before. `left` gets those whose leaving time is
    /// known.
    pub(crate) fn comes(&mut self, (due, at): (f64, f64), service: f64, left: &mut Vec<Stay>) {
        match self {
            Self::Line(free) => {
                let Reverse(first) = free.pop().expect("workers");
                let ends = first.max((at * NANOS) as u64) + (service * NANOS) as u64;
                free.push(Reverse(ends));
                left.push(Stay { due, leaves: (ends as f64 / NANOS).max(at) });
            }
            Self::Shared(shared) => {
                shared.on(at, left);
                let end = ((shared.got + service) * NANOS) as u64;
                shared.there.push(Reverse((end, (due * NANOS) as u64)));
            }
        }
    }

    /// Advances to this instant.
    pub(crate) fn on(&mut self, to: f64, left: &mut Vec<Stay>) {
        if let Self::Shared(shared) = self {
            shared.on(to, left);
        }
    }

    /// The due instants of requests whose leaving time is unknown yet.
    pub(crate) fn there(&self) -> impl Iterator<Item = f64> + '_ {
        let there = match self {
            Self::Line(_) => None,
            Self::Shared(shared) => Some(shared.there.iter()),
        };
        there.into_iter().flatten().map(|Reverse((_, due))| *due as f64 / NANOS)
    }
}

impl Shared {
    fn on(&mut self, to: f64, left: &mut Vec<Stay>) {
        while let Some(Reverse((end, due))) = self.there.peek().copied() {
            let there = self.there.len() as f64;
            let leaves = self.now + (end as f64 / NANOS - self.got).max(0.0) * there;
            if leaves > to {
                self.got += (to - self.now).max(0.0) / there;
                break;
            }
            (self.now, self.got) = (leaves, self.got.max(end as f64 / NANOS));
            self.there.pop();
            left.push(Stay { due: due as f64 / NANOS, leaves });
        }
        if to.is_finite() {
            self.now = self.now.max(to);
        }
    }
}

/// Two that share one worker take twice as long as one alone, and the first to come leaves first.
#[test]
fn each_that_is_there_has_a_part() {
    let (mut queue, mut left) = (Queue::shared(), Vec::new());
    queue.comes((1.0, 1.0), 0.5, &mut left);
    queue.comes((1.2, 1.25), 0.5, &mut left);
    queue.on(10.0, &mut left);
    // Half of the first is left when the second comes; then each has half of the worker.
    assert_eq!(left.len(), 2);
    for (stay, (due, leaves)) in left.iter().zip([(1.0, 1.75), (1.2, 2.0)]) {
        assert!((stay.due - due).abs() < 1e-6 && (stay.leaves - leaves).abs() < 1e-6, "{left:?}");
    }
}
