//! How much this machine was disturbed while a test ran: a thread of its own sleeps a millisecond again and again, and notes how
//! much longer that took. What times are judged by is allowed as much.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const NAP: Duration = Duration::from_millis(1);
/// A machine that is left alone wakes a thread within this time, but for one in a hundred.
const CALM: Duration = Duration::from_millis(2);

/// Looks until it is asked.
pub(crate) struct Calm {
    is_over: Arc<AtomicBool>,
    naps: Option<JoinHandle<Vec<Duration>>>,
}

/// How late a thread of this machine woke, the earliest first.
pub(crate) struct Lateness(Vec<Duration>);

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
        Self { is_over, naps: Some(naps) }
    }

    /// What was seen so far.
    pub(crate) fn lateness(mut self) -> Lateness {
        self.is_over.store(true, Ordering::Relaxed);
        let naps = self.naps.take().expect("it is asked once");
        let mut late = naps.join().expect("naps do not panic");
        late.sort_unstable();
        Lateness(late)
    }
}

impl Lateness {
    /// A share `quantile` of all wake-ups was not later.
    pub(crate) fn at(&self, quantile: f64) -> Duration {
        let index = (self.0.len() as f64 * quantile) as usize;
        self.0.get(index.min(self.0.len().saturating_sub(1))).copied().unwrap_or_default()
    }

    /// Nobody disturbed the machine.
    pub(crate) fn is_calm(&self) -> bool {
        self.at(0.99) <= CALM
    }
}
