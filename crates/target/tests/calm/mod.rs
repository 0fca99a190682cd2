//! How much this machine was disturbed while a test ran: on each core a thread sleeps a millisecond again and again, and notes how
//! much longer that took, and how many threads of the machine want a core. What times are judged by is allowed as much.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

const NAP: Duration = Duration::from_millis(1);
/// Between two looks at who wants a core.
const NAPS_BETWEEN_LOOKS: usize = 20;
/// A core that was away for longer than this, once, has disturbed whoever was on it.
const AWAY_MAX: Duration = Duration::from_millis(20);

/// Looks until it is asked.
pub(crate) struct Calm {
    is_over: Arc<AtomicBool>,
    watchers: Vec<JoinHandle<Lateness>>,
}

/// What was seen.
#[derive(Default)]
pub(crate) struct Lateness {
    /// How late the threads woke, the earliest first.
    naps: Vec<Duration>,
    /// The sum of the threads that wanted a core beside those that look, and how often they looked.
    running: (u64, u64),
}

impl Calm {
    pub(crate) fn watch() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let mine = sched_getaffinity(None).expect("our own cores");
        let cores = (0..CpuSet::MAX_CPU).filter(|core| mine.is_set(*core));
        let watchers = cores.map(|core| {
            let asked = is_over.clone();
            std::thread::spawn(move || watch_core(core, &asked))
        });
        Self { watchers: watchers.collect(), is_over }
    }

    /// What was seen so far.
    pub(crate) fn lateness(self) -> Lateness {
        self.is_over.store(true, Ordering::Relaxed);
        let mut all = Lateness::default();
        for watcher in self.watchers {
            let seen = watcher.join().expect("the watcher does not panic");
            all.naps.extend(seen.naps);
            all.running = (all.running.0 + seen.running.0, all.running.1 + seen.running.1);
        }
        all.naps.sort_unstable();
        all
    }
}

fn watch_core(core: usize, is_over: &AtomicBool) -> Lateness {
    let mut one = CpuSet::new();
    one.set(core);
    sched_setaffinity(None, &one).expect("one of our own cores");
    let mut seen = Lateness::default();
    while !is_over.load(Ordering::Relaxed) {
        let begun = Instant::now();
        std::thread::sleep(NAP);
        seen.naps.push(begun.elapsed().saturating_sub(NAP));
        if seen.naps.len().is_multiple_of(NAPS_BETWEEN_LOOKS) {
            seen.running.0 += running().saturating_sub(1);
            seen.running.1 += 1;
        }
    }
    seen
}

/// Threads of this machine that run or want to; 0 where the system does not say.
fn running() -> u64 {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("procs_running "));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

impl Lateness {
    /// A share `quantile` of all wake-ups was not later.
    pub(crate) fn at(&self, quantile: f64) -> Duration {
        let index = (self.naps.len() as f64 * quantile) as usize;
        self.naps.get(index.min(self.naps.len().saturating_sub(1))).copied().unwrap_or_default()
    }

    /// Nobody disturbed the machine: it woke threads at once, and no more than half of its cores were wanted.
    pub(crate) fn is_calm(&self) -> bool {
        let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
        let wanted = self.running.0 as f64 / self.running.1.max(1) as f64;
        self.at(0.99) <= Duration::from_millis(2) && self.at(1.0) <= AWAY_MAX && wanted <= cores / 2.0
    }
}
