//! The pace of messages from workers to the leader: slower when there are very many, so that a bus and a leader on one
//! core are enough for all.

use pacing::Nanos;

/// The hello interval of a worker: it grows with very many workers, from the first constant to the second.
const HELLO_EVERY: Nanos = Nanos::from_millis(1_000);
const HELLO_EVERY_MAX: Nanos = Nanos::from_millis(2_000);
/// The time between two hellos of all workers together then.
const HELLOS_APART: Nanos = Nanos(250_000);
/// Up to this number, workers need not be spread out when all are called at the same time.
const FEW: u64 = 64;
/// With more, the time between two responses; all of them come within the second constant.
const CALLED_APART: Nanos = Nanos(100_000);
const CALLED_WITHIN: Nanos = Nanos::from_millis(1_000);
/// The number of clock probes per worker, and the total of all workers that bounds it.
const PROBES: u64 = 32;
const PROBES_OF_ALL: u64 = 64_000;
/// The number of responses that is enough when others were lost.
const PROBES_MIN: u64 = 8;

/// The pace of each worker towards the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    workers: u64,
}

impl Pace {
    /// The pace for this number of workers.
    pub(crate) fn for_workers(workers: usize) -> Self {
        #[cfg(test)]
        let workers = workers + crate::sim::bus_benchmark();
        Self { workers: workers as u64 }
    }

    /// The hello interval of a worker.
    pub(crate) fn hello_every(self) -> Nanos {
        let apart = Nanos(HELLOS_APART.0.saturating_mul(self.workers));
        apart.clamp(HELLO_EVERY, HELLO_EVERY_MAX)
    }

    /// The extra delay compared with few workers.
    pub(crate) fn slack(self) -> Nanos {
        self.hello_every().since(HELLO_EVERY)
    }

    /// Whether each worker sends its hello less often because there are many.
    pub(crate) fn is_slow(self) -> bool {
        self.slack() > Nanos::ZERO
    }

    /// The time within which workers respond when all are called at the same time.
    pub(crate) fn spread(self) -> Nanos {
        let apart = if self.workers > FEW { CALLED_APART.0.saturating_mul(self.workers) } else { 0 };
        Nanos(apart).min(CALLED_WITHIN)
    }

    /// The number of clock probes per worker.
    pub(crate) fn probes(self) -> u32 {
        (PROBES_OF_ALL / self.workers.max(1)).clamp(PROBES_MIN, PROBES) as u32
    }

    /// The number of responses that is enough when others were lost.
    pub(crate) fn probes_min(self) -> u32 {
        PROBES_MIN as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn very_many_speak_less_often() {
        let of = |workers| {
            let pace = Pace { workers };
            (pace.hello_every().0 / 1_000_000, pace.spread().0 / 1_000_000, pace.probes())
        };
        assert_eq!(of(0), (1_000, 0, 32));
        assert_eq!(of(64), (1_000, 0, 32));
        assert_eq!(of(1_000), (1_000, 100, 32));
        assert_eq!(of(4_000), (1_000, 400, 16));
        assert_eq!(of(10_000), (2_000, 1_000, 8));
        assert_eq!(of(u64::MAX), (2_000, 1_000, 8));
    }
}
