//! What a goal loses.

use super::*;

/// A goal counts misses among successes and incomplete exchanges.
#[test]
fn a_goal_counts_what_it_loses() {
    let goal = |text: &str| Threshold::parse(text).expect(text);
    let mut seen = Snapshot::default();
    let step = crate::SeriesId::step(0);
    for ms in [10, 20, 300, 400] {
        seen.outcome(step, crate::Outcome::Succeeded).record(Measure::Response, ms * 1_000_000);
    }
    seen.drop_start(5_000_000);
    let lost = goal("p99(response_time) < 200ms").lost(&seen);
    assert_eq!((lost.lost, lost.of), (3, 5), "two slow ones, and one that never left");
    for (text, share) in [
        ("p99(response_time) < 200ms", Some(0.01)),
        ("p50 <= 1s", Some(0.5)),
        ("failed / done < 0.1%", Some(0.001)),
        ("succeeded / done > 99.9%", Some(0.001)),
        ("max < 1s", Some(0.0)),
        ("mean < 1s", None),
        ("p99 > 1s", None),
        ("rate > 5/s", None),
        ("failed < 5", None),
        ("failed / done < 100%", None),
    ] {
        let found = goal(text).lost_share_max();
        assert!(
            found.zip(share).map_or(found == share, |(is, expect)| (is - expect).abs() < 1e-12),
            "{text}: {found:?}"
        );
    }
    assert_eq!(goal("p99 < 200ms").limit_ns(), Some(200_000_000));
    assert_eq!(goal("failed / done < 1%").limit_ns(), None);
}

/// A run with exactly the share that a threshold asks for meets it, whatever the percentage.
#[test]
fn a_percentage_is_met_by_exactly_that_share() {
    for percent in 1..100 {
        let mut seen = Snapshot::default();
        seen.counts[crate::Counter::Started] = 100;
        seen.counts[crate::Counter::Succeeded] = percent;
        seen.counts.failures[crate::Failure::Timeout.index()] = 100 - percent;
        for text in [format!("succeeded / done >= {percent}%"), format!("succeeded / done <= {percent}%")] {
            let threshold = Threshold::parse(&text).expect(&text);
            assert!(threshold.judge(&seen, Duration::from_secs(1)).holds, "{text}");
        }
    }
}
