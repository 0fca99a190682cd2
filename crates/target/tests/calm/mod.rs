//! How much this machine was disturbed while a test ran: a thread of its own sleeps a millisecond again and again, and notes how
//! much longer that took, and how many threads of the machine want a core. What times are judged by is allowed as much.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const NAP: Duration = Duration::from_millis(1);
/// Between two looks at who wants a core.
const NAPS_BETWEEN_LOOKS: usize = 20;

/// Looks until it is asked.
pub(crate) struct Calm {
    is_over: Arc<AtomicBool>,
    watcher: Option<JoinHandle<Lateness>>,
}

/// What was seen.
#[derive(Default)]
pub(crate) struct Lateness {
    /// How late a thread of this machine woke, the earliest first.
    naps: Vec<Duration>,
    /// The sum of the threads that wanted a core beside the one that looked, and how often it looked.
    running: (u64, u64),
}

impl Calm {
    pub(crate) fn watch() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let asked = is_over.clone();
        let watcher = std::thread::spawn(move || {
            let mut seen = Lateness::default();
            while !asked.load(Ordering::Relaxed) {
                let begun = Instant::now();
                std::thread::sleep(NAP);
                seen.naps.push(begun.elapsed().saturating_sub(NAP));
                if seen.naps.len().is_multiple_of(NAPS_BETWEEN_LOOKS) {
                    seen.running.0 += running().saturating_sub(1);
                    seen.running.1 += 1;
                }
            }
            seen.naps.sort_unstable();
            seen
        });
        Self { is_over, watcher: Some(watcher) }
    }

    /// What was seen so far.
    pub(crate) fn lateness(mut self) -> Lateness {
        self.is_over.store(true, Ordering::Relaxed);
        let watcher = self.watcher.take().expect("it is asked once");
        watcher.join().expect("the watcher does not panic")
    }
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
        self.at(0.99) <= Duration::from_millis(2) && wanted <= cores / 2.0
    }
}
