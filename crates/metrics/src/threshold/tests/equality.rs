//! Counts that have to be one value, and the parts that have them.

use super::*;

/// A count may have to be one value exactly; incomplete exchanges leave it open.
#[test]
fn counts_are_compared_with_one_value() {
    let mut seen = Snapshot::default();
    for number in 0..4 {
        let class = if number == 0 { Class::FailedAnswered } else { Class::Succeeded };
        seen.record(SeriesId::check(0), class, 0);
    }
    seen.fail(SeriesId::check(0), Failure::CheckFailed);
    let seen = seen.only(SeriesId::check(0));
    let judged = |text: &str, seen: &Snapshot| {
        let judged = Threshold::parse_of_part(text).expect(text).judge(seen, Duration::from_secs(1));
        (judged.holds, judged.fails)
    };
    for (text, is_met) in [
        ("failed(paid) == 1", true),
        ("failed(paid) != 1", false),
        ("failed(paid) == 0", false),
        ("done(paid) == 4", true),
        ("done(paid) != 5", true),
        ("failed(paid) / done(paid) <= 25%", true),
    ] {
        assert_eq!(judged(text, &seen), (is_met, !is_met), "{text}");
    }
    assert_eq!(judged("failed == 0", &Snapshot::default()), (false, false), "nothing was evaluated");
    let mut open = seen;
    open.leave_unfinished(SeriesId::step(0), 1, None);
    for (text, judgement) in [
        ("failed == 0", (false, true)),
        ("failed == 1", (false, false)),
        ("failed == 2", (false, false)),
        ("failed == 3", (false, true)),
        ("failed != 2", (false, false)),
        ("failed != 3", (true, false)),
    ] {
        assert_eq!(judged(text, &open), judgement, "{text}");
    }
    for (text, fault) in [
        ("p99 == 1s", ThresholdFault::NotACount),
        ("failed / done != 1%", ThresholdFault::NotACount),
        ("rate == 5/s", ThresholdFault::NotACount),
        ("failed == 0.5", ThresholdFault::NeverMet),
        ("failed != 0.5", ThresholdFault::AlwaysMet),
        ("rate(search) > 100/s", ThresholdFault::RateOfPart),
        ("count(orders) == 500", ThresholdFault::CountOfPart),
    ] {
        assert_eq!(Threshold::parse_of_part(text).map_err(|error| error.fault), Err(fault), "{text}");
    }
}
