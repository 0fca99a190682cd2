use super::*;

/// Times of successes, in milliseconds: wait, lateness and service of each.
fn timings(times: &[(u64, u64, u64)]) -> Timings {
    let mut timings = Timings::default();
    for (wait, lateness, service) in times {
        timings.record(Measure::Wait, wait * 1_000_000);
        timings.record(Measure::Lateness, lateness * 1_000_000);
        timings.record(Measure::Service, service * 1_000_000);
        timings.record(Measure::Response, (wait + lateness + service) * 1_000_000);
    }
    timings
}

/// The 99th percentiles of the parts need not add up to that of the whole.
#[test]
fn a_difference_is_reported_when_its_parts_explain_it() {
    for (times, is_reported) in [
        (vec![(0, 0, 10); 100], false),
        (vec![(50, 0, 10); 100], true),
        (vec![(0, 50, 10); 100], true),
        (vec![(30, 30, 10); 100], true),
        // Below a millisecond, or a tenth of the service time, it is not reported.
        (vec![(1, 0, 10); 100], false),
        (vec![(50, 0, 1_000); 100], false),
        // Two in a hundred waited, and two others were late.
        ([vec![(0, 0, 10); 96], vec![(400, 0, 10); 2], vec![(0, 400, 10); 2]].concat(), true),
        // The exchange that waited was served quickly: the wait that all share is small next to the difference.
        ([vec![(5, 0, 1); 99], vec![(900, 0, 1); 1]].concat(), true),
        ([vec![(0, 0, 2); 97], vec![(1_000, 0, 2); 3]].concat(), true),
        ([vec![(90, 0, 10); 50], vec![(0, 90, 11); 50]].concat(), true),
    ] {
        assert_eq!(QueueingDelay::new(&timings(&times)).is_some(), is_reported, "{times:?}");
    }
    let mut apart = timings(&[(0, 0, 10); 1_000]);
    // Response times that no part explains.
    (0..30).for_each(|_| apart.record(Measure::Response, 500_000_000));
    assert_eq!(QueueingDelay::new(&apart), None);
}
