//! Whether each core of this machine was there: a thread pinned to it naps again and again, and notes when it woke late. The kernel's account of
//! a thread that was ready does not know what a hypervisor took; a nap does.

use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

const NAP: Duration = Duration::from_millis(2);
/// What is earlier is no disturbance worth a note.
const LATE_MIN: Duration = Duration::from_millis(1);

/// When a nap ended that was too long, and by how much.
static LATE: Mutex<Vec<(Instant, Duration)>> = Mutex::new(Vec::new());

/// One watcher on each core, for as long as the tests run.
static WATCHERS: LazyLock<()> = LazyLock::new(|| {
    let mine = sched_getaffinity(None).expect("our own cores");
    for core in (0..CpuSet::MAX_CPU).filter(|core| mine.is_set(*core)) {
        std::thread::spawn(move || {
            let mut one = CpuSet::new();
            one.set(core);
            sched_setaffinity(None, &one).expect("one of our own cores");
            loop {
                let begun = Instant::now();
                std::thread::sleep(NAP);
                let late = begun.elapsed().saturating_sub(NAP);
                if late >= LATE_MIN {
                    LATE.lock().expect("no watcher panicked").push((Instant::now(), late));
                }
            }
        });
    }
});

/// From now on the cores are watched.
pub(crate) fn watch() {
    LazyLock::force(&WATCHERS);
}

/// The longest that a core was not there between the two instants.
pub(crate) fn latest_between(from: Instant, to: Instant) -> Duration {
    let late = LATE.lock().expect("no watcher panicked");
    // A nap that ends after `to` may have begun before.
    let within = late.iter().filter(|(ended, late)| *ended >= from && *ended <= to + *late + NAP);
    within.map(|(_, late)| *late).max().unwrap_or_default()
}
