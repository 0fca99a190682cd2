use proptest::prelude::*;

use super::*;
use crate::{Counter, Failure, Outcome, SeriesId};

const MILLI: u64 = 1_000_000;

/// 990 successes of 1 to 990 ms, 6 answers of 503 and 4 timeouts after 30 s.
fn seen() -> Snapshot {
    let mut seen = Snapshot::default();
    seen.counts[Counter::Started] = 1_000;
    let mut end = |outcome, ms: u64| {
        let timings = seen.outcome(SeriesId::step(0), outcome);
        timings.record(Measure::Response, ms * MILLI);
        timings.record(Measure::Service, ms * MILLI);
    };
    (1..=990).for_each(|ms| end(Outcome::Succeeded, ms));
    (0..6).for_each(|_| end(Outcome::Failed(Failure::Status), 3));
    (0..4).for_each(|_| end(Outcome::Failed(Failure::Timeout), 30_000));
    seen.counts.statuses[503] = 6;
    seen.counts.grpc_statuses[14] = 5;
    (seen.counts[Counter::MessagesSent], seen.counts[Counter::MessagesReceived]) = (30, 20);
    (1..=10).for_each(|ms| seen.tls.record(ms * MILLI));
    (1..=10).for_each(|ms| seen.message.record(10 * ms * MILLI));
    seen
}

fn judge(text: &str) -> Judgement {
    let threshold = Threshold::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    threshold.judge(&seen(), Duration::from_secs(10))
}

#[test]
fn figures_are_those_of_the_report() {
    let cases = [
        ("p50(response_time) < 510ms", true),
        ("p50(response_time) < 480ms", false),
        ("median(service_time)<=0.51s", true),
        ("p99(response_time) < 2m", true),
        ("max(service_time) >= 29 s", true),
        ("min(response_time) >= 1ms", true),
        ("mean(response_time) > 400ms", true),
        ("failed / done < 1%", false),
        ("failed/done <= 1%", true),
        ("failed / done < 0.02", true),
        ("timed_out / started < 0.5%", true),
        ("status(503) / done < 0.6%", false),
        ("status(503) <= 6", true),
        ("dropped <= 0", true),
        ("grpc_status(UNAVAILABLE) / done < 0.5%", false),
        ("grpc_status(unavailable) <= 5", true),
        ("grpc_status( 14 ) > 4", true),
        ("grpc_status(OK) < 1", true),
        ("messages_received / messages_sent > 66%", true),
        ("rate(messages_received) >= 2/s", true),
        ("max(tls_handshake) <= 10ms", true),
        ("mean(message) > 54ms", true),
        ("p99(message_gap) < 1s", false),
        ("rate > 99/s", true),
        ("rate >= 6_000/m", true),
        ("rate(succeeded) > 99", false),
        ("succeeded / done > 98.9%", true),
        // Nothing connected: nobody knows, so it does not hold.
        ("p99(connect) < 1s", false),
        ("failed / unfinished < 1", false),
    ];
    for (text, holds) in cases {
        assert_eq!(judge(text).holds, holds, "{text}: {:?}", judge(text));
    }
    assert_eq!(judge("p99(connect) < 1s").value, None);
    assert_eq!(judge("failed / done < 1%").unit, Unit::Ratio);
}

#[test]
fn nothing_started_is_nothing_known() {
    let nothing =
        Threshold::parse("failed < 1").expect("a threshold").judge(&Snapshot::default(), Duration::from_secs(1));
    assert!(!nothing.holds && nothing.value.is_none(), "{nothing:?}");
}

#[test]
fn a_bound_is_no_proof_of_being_small() {
    // 4 of 1,000 timed out after 30 s: the last 0.4 % are at least that slow.
    let bound = judge("p99.9(response_time) < 31s");
    assert!(bound.at_least && !bound.holds, "{bound:?}");
    assert!(judge("p99.9(response_time) > 20s").holds);
    assert!(judge("p99(response_time) < 31s").holds);
}

/// 6,000 answers of 1 ms, and 4,000 that had waited up to 9 s when the run was over.
fn frozen() -> Snapshot {
    let mut seen = Snapshot::default();
    seen.counts[Counter::Started] = 10_000;
    for _ in 0..6_000 {
        let timings = seen.outcome(SeriesId::step(0), Outcome::Succeeded);
        timings.record(Measure::Response, MILLI);
        timings.record(Measure::Service, MILLI);
    }
    (0..4_000).for_each(|number| seen.leave_unfinished(SeriesId::step(0), 9_000 * MILLI - number * MILLI, None));
    seen
}

/// Each may have ended in any way: what some way would break is not met, and what some way would keep is not broken.
#[test]
fn what_did_not_end_is_nowhere_left_out() {
    let cases = [
        ("p50(response_time) < 2ms", true, false),
        ("p99(response_time) < 200ms", false, true),
        ("p99(response_time) < 10s", false, false),
        ("p99(response_time) > 1s", true, false),
        ("max(response_time) < 1s", false, true),
        ("mean(response_time) < 2ms", false, true),
        ("min(response_time) < 2ms", true, false),
        ("failed / done < 1%", false, false),
        ("failed / done < 41%", true, false),
        ("failed / started <= 40%", true, false),
        ("succeeded / started >= 60%", true, false),
        ("succeeded / started > 60%", false, false),
        ("failed < 1", false, false),
        ("failed > 4000", false, true),
        ("succeeded > 5999", true, false),
        ("unfinished < 1", false, true),
        ("timed_out / done <= 0", false, false),
    ];
    for (text, holds, fails) in cases {
        let threshold = Threshold::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let seen = threshold.judge(&frozen(), Duration::from_secs(10));
        assert_eq!((seen.holds, seen.fails), (holds, fails), "{text}: {seen:?}");
    }
}

/// What is in flight has an age, and no more: it stops nothing that it could still keep.
#[test]
fn what_is_in_flight_is_looked_at_while_the_run_goes_on() {
    let mut seen = Snapshot::default();
    seen.counts[Counter::Started] = 200;
    (0..100).for_each(|_| seen.outcome(SeriesId::step(0), Outcome::Succeeded).record(Measure::Response, MILLI));
    let parse = |text: &str| Threshold::parse(text).expect("a threshold");
    let frozen = parse("p99(response_time) < 200ms, abort");
    (0..100).for_each(|_| seen.gauges.in_flight.response.record(150 * MILLI));
    assert!(!frozen.aborts(&seen, Duration::from_secs(1)), "it may end at once");
    let mut later = Snapshot::default();
    (0..100).for_each(|_| later.gauges.in_flight.response.record(250 * MILLI));
    seen.gauges.replace(&later.gauges);
    assert!(frozen.aborts(&seen, Duration::from_secs(1)), "whatever comes is too late");
    assert_eq!(seen.gauges.in_flight.response.count(), 100, "ages take the place of ages");
    assert!(!parse("failed / done < 50%, abort").aborts(&seen, Duration::from_secs(1)));
}

/// What ends after the last start is none of the rate.
#[test]
fn a_rate_has_the_time_of_its_starts() {
    let mut seen = seen();
    (seen.counts[Counter::Drained], seen.counts[Counter::DrainedWell]) = (200, 190);
    let per_s = |text: &str| Threshold::parse(text).expect("a threshold").judge(&seen, Duration::from_secs(10)).value;
    assert_eq!(per_s("rate > 1/s"), Some(80.0));
    assert_eq!(per_s("rate(succeeded) > 1/s"), Some(80.0));
    assert_eq!(per_s("rate(failed) > 1/s"), Some(0.0));
    let started = seen.counts.started() as f64 / 10.0;
    assert_eq!(per_s("rate(started) > 1/s"), Some(started - seen.counts.dropped() as f64 / 10.0));
}

/// A plan asks for no redirects.
#[test]
fn redirects_are_none_of_the_rate_of_starts() {
    let mut seen = seen();
    (seen.counts[Counter::Started], seen.counts[Counter::Redirects]) = (1_000, 900);
    let judged = Threshold::parse("rate(started) > 10/s").expect("a threshold").judge(&seen, Duration::from_secs(10));
    assert_eq!(judged.value, Some((100 - seen.counts.dropped()) as f64 / 10.0));
    assert!(!judged.holds);
}

#[test]
fn aborts_wait_for_their_time() {
    let second = Duration::from_secs(1);
    let parse = |text: &str| Threshold::parse(text).expect("a threshold");
    let late = parse("failed / done < 0.1%, abort 10s");
    assert_eq!(late.text, "failed / done < 0.1%");
    assert!(!late.aborts(&seen(), 9 * second) && late.aborts(&seen(), 10 * second));
    assert!(parse("failed / done < 0.1% abort").aborts(&seen(), Duration::ZERO));
    assert_eq!(parse("failed < 5 abort").abort_after, Some(Duration::ZERO));
    assert_eq!(parse("failed < 5, abort after 1.5m").abort_after, Some(90 * second));
    assert!(!parse("failed / done < 0.1%").aborts(&seen(), 99 * second));
    // Nothing measured yet is no reason.
    assert!(!parse("p99(connect) < 1ms, abort").aborts(&seen(), 99 * second));
}

#[test]
fn mistakes_have_their_place() {
    use ThresholdFault as Fault;
    let cases = [
        ("", 0, Fault::Figure),
        ("p98(latency) < 5ms", 4, Fault::Measure),
        ("p0(wait) < 5ms", 0, Fault::Percentile),
        ("p101(wait) < 5ms", 0, Fault::Percentile),
        ("p50.(wait) < 5ms", 0, Fault::Percentile),
        ("p1e1(wait) < 5ms", 0, Fault::Percentile),
        ("p99 5ms", 4, Fault::Parenthesis),
        ("p99(wait < 5ms", 9, Fault::Parenthesis),
        ("mistakes < 5", 0, Fault::Figure),
        ("failed / all < 5", 9, Fault::Counter),
        ("failed / done = 5", 14, Fault::Comparison),
        ("failed / done", 13, Fault::Comparison),
        ("failed / done < much", 16, Fault::Number),
        ("p99(wait) < 5", 13, Fault::TimeUnit),
        ("p99(wait) < 5%", 13, Fault::TimeUnit),
        ("failed / done < 5ms", 17, Fault::RatioUnit),
        ("rate > 5/d", 8, Fault::RateUnit),
        ("failed < 5%", 10, Fault::Share("failed")),
        ("failed < 5 or so", 11, Fault::CountUnit),
        ("rate > 5/s or so", 11, Fault::Rest),
        ("failed < 5, abort soon", 18, Fault::Delay),
        ("failed < 5, abort 5s now", 21, Fault::Rest),
        ("status(9999) < 5", 7, Fault::Number),
        ("失败 < 5", 0, Fault::Figure),
    ];
    for (text, column, fault) in cases {
        let error = Threshold::parse(text).expect_err(text);
        assert_eq!((error.column, error.fault), (column, fault), "{text}");
    }
    let shown = Threshold::parse("failed < 5%").expect_err("a unit").to_string();
    assert_eq!(
        shown,
        "a count is no share; write failed / done, as in: failed / done < 1%\n  failed < 5%\n            ^"
    );
    assert_eq!(Threshold::parse(&"x".repeat(999)).expect_err("long").fault, Fault::TooLong);
}

proptest! {
    #[test]
    fn no_text_panics(text in ".{0,60}") {
        let _ = Threshold::parse(&text).map_err(|error| error.to_string());
    }

    #[test]
    fn no_text_that_is_nearly_one_panics(
        text in "(p99|max|failed|rate|status)[(]?(wait|50|done)?[)]? ?[<>/]=? ?[0-9.]{0,4}(ms|%|/s|s)?,? ?(abort)? ?[0-9]{0,3}s?"
    ) {
        if let Ok(threshold) = Threshold::parse(&text) {
            let again = Threshold::parse(&threshold.text).expect("its own text");
            let second = Duration::from_secs(1);
            prop_assert_eq!(again.judge(&seen(), second), threshold.judge(&seen(), second));
        }
    }
}

#[test]
fn statuses_of_grpc_have_names() {
    for (text, column) in [("grpc_status(GREAT) < 1", 12), ("grpc_status(18) < 1", 12), ("grpc_status < 1", 12)] {
        let error = Threshold::parse(text).expect_err(text);
        assert_eq!(error.column, column, "{text}: {error:?}");
    }
}

/// What people call them elsewhere, and a percentile of what nobody has to name.
#[test]
fn words_of_others_are_understood() {
    for (text, same) in [
        ("p95 < 200ms", "p95(response_time) < 200ms"),
        ("p99.9<1s", "p99.9(response_time)<1s"),
        ("max <= 2s, abort", "max(response_time) <= 2s, abort"),
        ("avg < 50ms", "mean(response_time) < 50ms"),
        ("median < 50ms", "p50(response_time) < 50ms"),
        ("rps > 4900", "rate > 4900/s"),
        ("qps >= 100/m", "rate >= 100/m"),
        ("errors < 5", "failed < 5"),
        ("errors / done < 1%", "failed / done < 1%"),
        ("error_rate < 1%", "failed / done < 1%"),
        ("success / done > 99%", "succeeded / done > 99%"),
        ("tps(success) > 10", "rate(succeeded) > 10"),
    ] {
        let (one, other) = (Threshold::parse(text).expect(text), Threshold::parse(same).expect(same));
        assert_eq!(Threshold { text: String::new(), ..one }, Threshold { text: String::new(), ..other }, "{text}");
    }
    for (text, part) in [
        ("failed < 1%", "failed / done < 1%"),
        ("errors<0.1%", "failed / done < 1%"),
        ("success > 99%", "succeeded / done"),
        ("timed_out < 1%", "timed_out / done"),
        ("p95 200ms", "a parenthesis is missing"),
        ("p95", "a parenthesis is missing"),
    ] {
        let error = Threshold::parse(text).expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

/// What a goal loses, of what succeeded and of what never came to an end.
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
        ("failed / done < 200%", None),
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
