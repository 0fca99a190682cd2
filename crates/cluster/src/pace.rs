//! How often workers speak to who leads: less often when there are very many, so that a bus and a leader of a core are enough for all.

use pacing::Nanos;

/// A worker says hello so often; one of very many less often, but not more rarely than the second.
const HELLO_EVERY: Nanos = Nanos::from_millis(1_000);
const HELLO_EVERY_MAX: Nanos = Nanos::from_millis(2_000);
/// All hellos together come so far apart then.
const HELLOS_APART: Nanos = Nanos(250_000);
/// So many are not so many that they come one after the other when all are called at the same time.
const FEW: u64 = 64;
/// When more are, they come so far apart, and all of them within the second.
const CALLED_APART: Nanos = Nanos(100_000);
const CALLED_WITHIN: Nanos = Nanos::from_millis(1_000);
/// Each asks for the time so often, and all together no more often than the second, while each does often enough.
const PROBES: u64 = 32;
const PROBES_OF_ALL: u64 = 64_000;
/// So many answers are enough when others were lost.
const PROBES_MIN: u64 = 8;

/// How often each of so many workers speaks to who leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    workers: u64,
}

impl Pace {
    /// That of so many.
    pub(crate) fn of(workers: usize) -> Self {
        #[cfg(test)]
        let workers = workers + crate::sim::bus_benchmark();
        Self { workers: workers as u64 }
    }

    /// A worker says hello so often.
    pub(crate) fn hello_every(self) -> Nanos {
        let apart = Nanos(HELLOS_APART.0.saturating_mul(self.workers));
        apart.clamp(HELLO_EVERY, HELLO_EVERY_MAX)
    }

    /// The same, beyond what few do.
    pub(crate) fn slack(self) -> Nanos {
        self.hello_every().since(HELLO_EVERY)
    }

    /// There are so many that each says hello less often.
    pub(crate) fn is_slow(self) -> bool {
        self.slack() > Nanos::ZERO
    }

    /// When all are called at the same time, they answer within this.
    pub(crate) fn spread(self) -> Nanos {
        let apart = if self.workers > FEW { CALLED_APART.0.saturating_mul(self.workers) } else { 0 };
        Nanos(apart).min(CALLED_WITHIN)
    }

    /// Each asks for the time so often.
    pub(crate) fn probes(self) -> u32 {
        (PROBES_OF_ALL / self.workers.max(1)).clamp(PROBES_MIN, PROBES) as u32
    }

    /// So many answers of that are enough when others were lost.
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
