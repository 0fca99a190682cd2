use super::*;

/// Exchanges in flight at a lost worker succeeded or failed: a threshold holds only where it does either way.
#[test]
fn what_was_lost_with_a_worker_may_have_failed() {
    let mut seen = Snapshot::default();
    seen.counts[crate::Counter::Started] = 1_000;
    for _ in 0..980 {
        let timings = seen.outcome(SeriesId::step(0), Outcome::Succeeded);
        timings.record(Measure::Response, 10_000_000);
    }
    let mut ages = crate::InFlightAges::default();
    ages.response.record_many(400_000_000, 15);
    seen.lose(20, &ages);
    assert_eq!((seen.counts.lost(), seen.lost_after.response.count()), (20, 20));
    let counts = &seen.counts;
    assert_eq!(counts.all_ended(counts.failed()), counts.all_started());
    for (text, holds) in [
        ("failed / done < 1%", false),
        ("failed / done < 3%", true),
        ("failed < 20", false),
        ("failed < 21", true),
        ("succeeded / started > 97%", true),
        ("succeeded / started > 99%", false),
        ("lost / started < 3%", true),
        ("lost < 1", false),
        // One in fifty took longer, by an unknown time.
        ("p95(response_time) < 20ms", true),
        ("p97(response_time) < 20ms", true),
        ("p99(response_time) < 20s", false),
        ("max(response_time) < 60s", false),
    ] {
        let threshold = Threshold::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(threshold.judge(&seen, Duration::from_secs(1)).holds, holds, "{text}");
        // The same holds for the only step, since each may have been of it.
        let only = seen.only(SeriesId::step(0));
        if text.starts_with("failed") || text.starts_with('p') {
            assert_eq!(threshold.judge(&only, Duration::from_secs(1)).holds, holds, "{text} of a step");
        }
    }
    // A goal of a search counts them as misses.
    let goal = Threshold::parse("failed / done < 1%").expect("a threshold");
    assert_eq!(goal.lost(&seen), GoalMisses { lost: 20, of: 1_000 });
    // More ages than counted starts cannot be attributed.
    let mut other = Snapshot::default();
    other.lose(10, &ages);
    assert_eq!((other.counts.lost(), other.lost_after.response.max()), (10, Some(0)));
    let mut both = seen.clone();
    both.merge(&other);
    assert_eq!((both.counts.lost(), both.lost_after.response.count()), (30, 30));
    both.clear();
    assert_eq!(both, Snapshot::default());
}
