//! The self-test in a simulated network: no machine affects its figures, so all of them are right, and the same each
//! time.

#[macro_use]
extern crate claims;

use driver::sim::Faults;
use pacing::Nanos;
use selftest::{Row, Unit};

/// All figures of the self-test in a network.
fn rows(seed: u64, faults: &Faults) -> Vec<Row> {
    let mut rows = Vec::new();
    selftest::simulate(seed, faults.clone(), &mut |row: &Row| rows.push(row.clone())).expect("a world that works");
    rows
}

fn wrong(rows: &[Row]) -> Vec<&Row> {
    rows.iter().filter(|row| !row.passes()).collect()
}

#[test]
fn no_figure_is_wrong_in_a_simulated_network() {
    for seed in [1, 2, 3] {
        let rows = rows(seed, &Faults::none());
        assert_eq!((rows.len(), wrong(&rows)), (23, vec![]), "seed {seed}");
        assert_eq!(rows, self::rows(seed, &Faults::none()), "the same seed gives the same figures");
        // A round trip to the target takes 0.04 to 0.12 ms, and a turn of a loop almost nothing: the delay of the
        // target is nearer to our measurement than a machine with other work could show.
        let held = rows.iter().filter(|row| row.unit == Unit::Time && row.figure.0.contains("of the target's own"));
        let off: Vec<f64> = held.map(|row| (row.measured - row.expected) / 1e6).collect();
        assert!(off.len() == 4 && off.iter().all(|off| (0.0..0.2).contains(off)), "{off:?} ms");
        // A timeout occurs when it is due.
        let incomplete = rows.iter().find(|row| row.figure.0 == "given up after, max").expect("a row");
        assert!((500e6..500.2e6).contains(&incomplete.measured), "{incomplete:?}");
    }
}

/// A latency of 3 ms each way is in every time, so times no longer equal the target's delays; counts stay right.
#[test]
fn a_slow_way_makes_times_wrong_and_no_count() {
    let slow = Nanos::from_millis(3);
    let faults = Faults { latency_min: slow, latency_max: slow, ..Faults::none() };
    let rows = rows(1, &faults);
    let wrong: Vec<_> = wrong(&rows).into_iter().map(|row| (row.load.0, row.figure.0)).collect();
    for load in ["delay 5 ms, 200/s", "delay uniform 10 to 50 ms, 400/s", "a body in 10 pieces, 10 ms apart"] {
        assert!(wrong.iter().any(|(of, _)| *of == load), "{load} is not wrong: {wrong:?}");
    }
    let counts = rows.iter().filter(|row| row.unit == Unit::Count && row.tolerance == 0.0);
    assert!(counts.clone().count() == 8 && counts.clone().all(Row::passes), "{:?}", counts.collect::<Vec<_>>());
}
