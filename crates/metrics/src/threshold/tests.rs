use proptest::prelude::*;

use super::*;
use crate::{Counter, Failure, Outcome, SeriesId};

mod addresses;
mod equality;
mod goals;
mod lost;
mod own;

const MILLI: u64 = 1_000_000;

/// 990 successes of 1 to 990 ms, 6 responses of 503 and 4 timeouts after 30 s.
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
        // Nothing connected: the value is unknown, so it does not hold.
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
fn counts_of_datagrams_have_the_names_of_exports() {
    let mut seen = Snapshot::default();
    (seen.counts[Counter::Started], seen.counts[Counter::Succeeded]) = (10, 10);
    let counted = [
        (Counter::Resent, "resent"),
        (Counter::LateResponses, "late_responses"),
        (Counter::DuplicateResponses, "duplicate_responses"),
        (Counter::UnmatchedDatagrams, "unmatched_datagrams"),
        (Counter::RefusedDatagrams, "refused_datagrams"),
        (Counter::CutDatagrams, "cut_datagrams"),
        (Counter::KernelDrops, "kernel_drops"),
        (Counter::OverStream, "over_stream"),
    ];
    for (value, (counter, _)) in (1..).zip(counted) {
        seen.counts[counter] = value;
    }
    for (value, (_, name)) in (1..).zip(counted) {
        for (text, holds) in [(format!("{name} == {value}"), true), (format!("{name} < {value}"), false)] {
            let judged = Threshold::parse(&text).expect("a threshold").judge(&seen, Duration::from_secs(1));
            assert_eq!((judged.holds, judged.value), (holds, Some(f64::from(value))), "{text}");
        }
    }
    let rate = Threshold::parse("rate(late_responses) <= 1/s").expect("a threshold");
    assert!(rate.judge(&seen, Duration::from_secs(2)).holds);
    assert!(Threshold::parse_of_part("resent(buy) < 1").expect("one of a part").of.is_some());
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

/// 6,000 responses of 1 ms, and 4,000 that had waited up to 9 s when the run was over.
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

/// Each incomplete exchange may have ended in any way: a threshold that some way would break is not met, and one that
/// some way would keep is not broken.
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

/// Exchanges in flight have only an age: they abort nothing that they could still meet.
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

/// Exchanges that complete after the last start are not part of the rate.
#[test]
fn a_rate_has_the_time_of_its_starts() {
    let mut seen = seen();
    (seen.counts[Counter::Drained], seen.counts[Counter::DrainedSucceeded]) = (200, 190);
    let per_s = |text: &str| Threshold::parse(text).expect("a threshold").judge(&seen, Duration::from_secs(10)).value;
    assert_eq!(per_s("rate > 1/s"), Some(80.0));
    assert_eq!(per_s("rate(succeeded) > 1/s"), Some(80.0));
    assert_eq!(per_s("rate(failed) > 1/s"), Some(0.0));
    let started = seen.counts.started() as f64 / 10.0;
    assert_eq!(per_s("rate(started) > 1/s"), Some(started - seen.counts.dropped() as f64 / 10.0));
}

/// Redirects are not part of the plan.
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
    // A missing measurement is no reason to abort.
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
        ("p99 5ms", 4, Fault::Comparison),
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
        ("status(9999) < 5", 7, Fault::Status),
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

/// A limit that every run meets, or none, says nothing about a run; a bare 1 may mean 1 %.
#[test]
fn limits_that_judge_nothing_are_refused() {
    use ThresholdFault as Fault;
    let cases = [
        ("failed / done < 1", 16, Fault::OnePercent),
        ("failed / done <= 1.0", 17, Fault::OnePercent),
        ("failed/done<1.00, abort", 12, Fault::OnePercent),
        ("error_rate < 1", 13, Fault::OnePercent),
        ("timed_out / failed > 1", 21, Fault::OnePercent),
        ("succeeded / done >= 1", 20, Fault::OnePercent),
        ("status(503) / responses < 1", 26, Fault::OnePercent),
        ("failed(buy) / done(buy) < 1", 26, Fault::OnePercent),
        ("failed / done < 5", 16, Fault::AboveAll),
        ("failed / done < 101%", 16, Fault::AboveAll),
        ("done / started > 200%", 17, Fault::AboveAll),
        ("failed / done <= 100%", 17, Fault::AlwaysMet),
        ("failed / done >= 0", 17, Fault::AlwaysMet),
        ("failed / done < 0%", 16, Fault::NeverMet),
        ("failed / done > 100%", 16, Fault::NeverMet),
        ("failed < 0", 9, Fault::NeverMet),
        ("done >= 0", 8, Fault::AlwaysMet),
        ("p99 < 0ms", 6, Fault::NeverMet),
        ("rate >= 0/s", 8, Fault::AlwaysMet),
    ];
    for (text, column, fault) in cases {
        let error = Threshold::parse_of_part(text).expect_err(text);
        assert_eq!((error.column, error.fault), (column, fault), "{text}");
    }
    let shown = Threshold::parse("failed / done < 1").expect_err("a bare 1").to_string();
    assert!(shown.starts_with("1% or 1.0 of 1.0? write 1%, or 100% for all"), "{shown}");
    for text in [
        "failed / done < 100%",
        "succeeded / done >= 100%",
        "failed / done <= 0",
        "succeeded / done > 0",
        "failed / done < 0.99",
        // More responses than requests, and more messages than were sent, are possible.
        "reconnects / done < 1",
        "messages_received / messages_sent >= 2",
        "failed < 1",
    ] {
        assert!(Threshold::parse(text).is_ok(), "{text}");
    }
}

/// A step is named after the time, or in the parentheses of a counter; a share names it on both sides.
#[test]
fn a_part_is_named_in_parentheses() {
    for (text, of, whole) in [
        ("p99(response_time, buy) < 2s", "buy", "p99(response_time) < 2s"),
        ("done(buy) >= 5", "buy", "done >= 5"),
        (" failed ( log in (new, old) ) < 1, abort 5s", "log in (new, old)", "failed < 1, abort 5s"),
        ("errors(GET /a,b) / done(GET /a,b) < 1%", "GET /a,b", "failed / done < 1%"),
        ("error_rate(购买) < 1%", "购买", "failed / done < 1%"),
        ("rate(done, a<b) > 1/s", "a<b", "rate(done) > 1/s"),
        ("status(503, shop) / done(shop) < 1%", "shop", "status(503) / done < 1%"),
    ] {
        let (one, other) = (Threshold::parse_of_part(text).expect(text), Threshold::parse(whole).expect(whole));
        assert_eq!(one.text, text.split(", abort").next().expect("a text").trim());
        let again = Threshold::parse_of_part(&one.text).expect("its own text");
        assert_eq!(again, Threshold { abort_after: None, ..one.clone() }, "{text}");
        let expect = Threshold { text: one.text.clone(), of: Some(of.to_owned()), ..other };
        assert_eq!(one, expect, "{text}");
    }
    use ThresholdFault as Fault;
    for (text, column, fault) in [
        ("failed(buy) / done < 1%", 7, Fault::TwoParts),
        ("failed / done(buy) < 1%", 14, Fault::TwoParts),
        ("failed(buy) / done(look) < 1%", 19, Fault::TwoParts),
        ("done() > 5", 4, Fault::Comparison),
        ("done(buy > 5", 4, Fault::Comparison),
        ("done(购买) = 5", 9, Fault::Comparison),
        ("p99(latency, buy) < 5ms", 4, Fault::Measure),
        ("p99(response_time, buy) < 5", 27, Fault::TimeUnit),
        ("p99(response_time, buy < 5ms", 17, Fault::Parenthesis),
    ] {
        let error = Threshold::parse_of_part(text).expect_err(text);
        assert_eq!((error.column, error.fault, &*error.text), (column, fault, text));
    }
    assert_eq!(
        Threshold::parse_of_part(&format!("done({}) > 1", "x".repeat(300))).expect_err("long").fault,
        Fault::TooLong
    );
}

/// A threshold of a step judges each of its exchanges, however it ended.
#[test]
fn a_step_is_judged_by_what_became_of_it() {
    let (step, other) = (SeriesId::step(3), SeriesId::step(4));
    let mut seen = Snapshot::default();
    for series in [step, other, other] {
        seen.outcome(series, Outcome::Succeeded).record(Measure::Response, MILLI);
        seen.outcome(series, Outcome::Failed(Failure::Status)).record(Measure::Response, MILLI);
        seen.outcome(series, Outcome::Failed(Failure::Timeout)).record(Measure::Response, MILLI);
        seen.leave_unfinished(series, MILLI, None);
    }
    for (text, value, range) in [
        ("started(x) > 0", 4.0, None),
        ("done(x) > 0", 3.0, Some((3.0, 4.0))),
        ("succeeded(x) > 0", 1.0, Some((1.0, 2.0))),
        ("failed(x) > 0", 2.0, Some((2.0, 3.0))),
        ("timed_out(x) > 0", 1.0, Some((1.0, 2.0))),
        ("unfinished(x) > 0", 1.0, None),
        ("failed(x) / done(x) < 50%", 2.0 / 3.0, Some((0.5, 0.75))),
    ] {
        let judged = Threshold::parse_of_part(text).expect(text).judge(&seen.only(step), Duration::from_secs(1));
        assert_eq!((judged.value, judged.range), (Some(value), range), "{text}");
    }
}

/// A part is judged by its own counts alone.
#[test]
fn parts_have_figures_of_their_own() {
    use ThresholdFault as Fault;
    let many: Vec<String> = (0..70).map(|number| format!("s{number}")).collect();
    let none: [&str; 0] = [];
    let catalog = crate::Catalog::from_scenarios(
        [
            ("shop", many.iter().map(|name| &**name).collect::<Vec<_>>(), vec!["all"]),
            ("late", vec!["s2", "alone"], none.into()),
        ]
        .into_iter()
        .map(|(name, steps, transactions)| {
            let checks = if name == "late" { vec!["is paid"] } else { Vec::new() };
            (name, steps.into_iter(), transactions.into_iter(), checks.into_iter())
        }),
    );
    for (text, fault) in [
        ("p99(wait, s1) < 1s", None),
        ("p99(response_time, s62) < 1s", None),
        ("p99(response_time, s63) < 1s", Some(Fault::NoSeries)),
        ("done(s69) > 1", Some(Fault::NoSeries)),
        // A step of this name is counted with another one.
        ("done(s2) > 1", Some(Fault::NoSeries)),
        ("done(alone) > 1", Some(Fault::NoSeries)),
        ("dropped(s1) < 1", Some(Fault::NotOfPart)),
        ("status(503, s1) < 1", Some(Fault::NotOfPart)),
        ("status(503, s1) / done(s1) < 1%", Some(Fault::NotOfPart)),
        ("p99(connect, s1) < 1s", Some(Fault::NotOfPart)),
        ("p99(response_time, all) < 1s", None),
        ("p99(service_time, all) < 1s", Some(Fault::NotOfPart)),
        ("rate(done, all) > 1/s", None),
        ("dropped(shop) < 1", None),
        ("p99(connect, shop) < 1s", None),
        ("failed(is paid) / done(is paid) < 1%", None),
        ("failed(is paid) == 0", None),
        ("done(is paid) != 7, abort", None),
        ("rate(done, is paid) > 1/s", None),
        ("p99(response_time, is paid) < 1s", Some(Fault::NotOfCheck)),
        ("timed_out(is paid) < 1", Some(Fault::NotOfCheck)),
        ("unfinished(is paid) / done(is paid) < 1%", Some(Fault::NotOfCheck)),
        ("done(nobody) > 1", None),
        ("dropped < 1", None),
    ] {
        assert_eq!(Threshold::parse_of_part(text).expect(text).wrong_part(&catalog), fault, "{text}");
    }
}

#[test]
fn statuses_of_grpc_have_names() {
    for (text, column) in [("grpc_status(GREAT) < 1", 12), ("grpc_status(18) < 1", 12), ("grpc_status < 1", 12)] {
        let error = Threshold::parse(text).expect_err(text);
        assert_eq!(error.column, column, "{text}: {error:?}");
    }
}

/// Names of other tools, and a percentile without a named time.
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
        ("p95 200ms", "a comparison is missing"),
        ("p95", "a comparison is missing here: <, <=, > or >=, as in p99 < 200ms"),
    ] {
        let error = Threshold::parse(text).expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}
