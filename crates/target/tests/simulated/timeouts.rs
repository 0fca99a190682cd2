//! A target that hangs: timeouts, the rows that report them, and the grace.

use metrics::{Class, Failure, Measure};
use pacing::Nanos;
use plan::Flags;

use crate::world::{World, flags, is_by_arithmetic};

const SECOND: u64 = 1_000_000_000;
const THREADS: [usize; 3] = [1, 2, 7];

fn text(value: impl ToString) -> Option<String> {
    Some(value.to_string())
}

/// Twenty users, four rounds.
fn hung() -> Flags {
    Flags { connections: text(20), duration: text("3500ms"), timeout: text("1s"), ..flags("/") }
}

#[test]
fn a_hung_target_is_a_timeout_when_it_is_due() {
    for threads in THREADS {
        let plan = hung().plan().expect("a good plan");
        let finished = World::silent().play(Vec::new(), Some((&plan, threads))).finished.expect("a load");
        let counts = &finished.total.counts;
        assert_eq!((counts.started(), counts.failed()), (80, 80));
        assert_eq!(counts.failures().collect::<Vec<_>>(), [(Failure::Timeout, 80)]);
        let class = finished.total.class(Class::TimedOut);
        let times = class.by_measure(Measure::Service);
        assert_eq!(times.count(), 80);
        for time in [times.min(), times.max()] {
            is_by_arithmetic(time.expect("some"), SECOND, 20);
        }
    }
}

/// Timeouts are counted while the target hangs, in the row in which they are due.
#[test]
fn timeouts_are_seen_while_the_target_hangs() {
    for threads in THREADS {
        for (interval, expect) in [("1s", vec![0, 20, 20, 40]), ("500ms", vec![0, 0, 20, 0, 20, 0, 20, 20])] {
            let plan = Flags { interval: text(interval), ..hung() }.plan().expect("a good plan");
            let mut rows: Vec<u64> = Vec::new();
            let played = World::silent().play_and_notify(Vec::new(), Some((&plan, threads)), |row| {
                let failed = row.added.counts.failed();
                match rows.last_mut().filter(|_| row.is_update) {
                    Some(last) => *last += failed,
                    None => rows.push(failed),
                }
            });
            assert_eq!(rows, expect, "{threads} threads, rows of {interval}");
            assert_eq!(played.finished.expect("a load").total.counts.failed(), 80);
        }
    }
}

#[test]
fn what_is_in_flight_at_the_end_of_the_grace_is_unfinished() {
    for threads in THREADS {
        let hung = Flags { connections: text(8), duration: text("300ms"), grace: text("200ms"), ..flags("/") };
        let plan = hung.plan().expect("a good plan");
        let finished = World::silent().play(Vec::new(), Some((&plan, threads))).finished.expect("a load");
        let counts = &finished.total.counts;
        assert_eq!((counts.started(), counts.unfinished()), (8, 8));
        is_by_arithmetic(finished.wall.0, Nanos::from_millis(500).0, 20);
    }
}
