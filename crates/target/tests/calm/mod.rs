//! How much this machine was disturbed while a test ran: a thread of its own sleeps a millisecond again and again, and notes how
//! much longer that took. What times are judged by is allowed as much.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const NAP: Duration = Duration::from_millis(1);

/// Looks until it is asked.
pub(crate) struct Calm {
    is_over: Arc<AtomicBool>,
    naps: Option<JoinHandle<Vec<Duration>>>,
    begun: Instant,
    waited: Duration,
}

/// How late a thread of this machine woke, the earliest first; and how long threads of this machine waited for a core, for each
/// second.
pub(crate) struct Lateness {
    naps: Vec<Duration>,
    waited: f64,
}

/// Time that threads waited for a core so far, over all cores; 0 where the system does not say.
fn waited() -> Duration {
    let text = std::fs::read_to_string("/proc/schedstat").unwrap_or_default();
    let of_core = |line: &str| line.split_whitespace().nth(8)?.parse::<u64>().ok();
    Duration::from_nanos(text.lines().filter(|line| line.starts_with("cpu")).filter_map(of_core).sum())
}

impl Calm {
    pub(crate) fn watch() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let asked = is_over.clone();
        let naps = std::thread::spawn(move || {
            let mut late = Vec::new();
            while !asked.load(Ordering::Relaxed) {
                let begun = Instant::now();
                std::thread::sleep(NAP);
                late.push(begun.elapsed().saturating_sub(NAP));
            }
            late
        });
        Self { is_over, naps: Some(naps), begun: Instant::now(), waited: waited() }
    }

    /// What was seen so far.
    pub(crate) fn lateness(mut self) -> Lateness {
        self.is_over.store(true, Ordering::Relaxed);
        let naps = self.naps.take().expect("it is asked once");
        let mut late = naps.join().expect("naps do not panic");
        late.sort_unstable();
        let waited = waited().saturating_sub(self.waited).as_secs_f64() / self.begun.elapsed().as_secs_f64();
        Lateness { naps: late, waited }
    }
}

impl Lateness {
    /// A share `quantile` of all wake-ups was not later.
    pub(crate) fn at(&self, quantile: f64) -> Duration {
        let index = (self.naps.len() as f64 * quantile) as usize;
        self.naps.get(index.min(self.naps.len().saturating_sub(1))).copied().unwrap_or_default()
    }

    /// Nobody disturbed the machine: it woke threads at once, and few waited for a core.
    pub(crate) fn is_calm(&self) -> bool {
        self.at(0.99) <= Duration::from_millis(2) && self.waited < 0.1
    }
}
