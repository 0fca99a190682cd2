//! Compatibility tests: files of earlier versions, and the indices of counters in them, stay readable.
//!
//! `ONRUSH_GOLDEN=write cargo test -p metrics golden` writes the files of a new version.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::*;
use crate::outcome::custom_failures;
use crate::{CheckCounts, OwnGauge, OwnKind, OwnTotal, OwnValue};

/// The first version with failures of custom protocols, and with statuses that are words.
const CUSTOM_VERSION: u64 = 12;

/// All versions so far: a commit with several new rows leaves versions out.
fn versions() -> Vec<u64> {
    let is_kept = |version: &u64| *version == SNAPSHOT_VERSION || path(&format!("names-{version}.txt")).exists();
    let versions: Vec<u64> = (1..=SNAPSHOT_VERSION).filter(is_kept).collect();
    assert_eq!(versions[..4], [1, 2, 3, 4]);
    versions
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)
}

fn kept(name: &str, now: &str, version: u64) -> String {
    if version == SNAPSHOT_VERSION && std::env::var("ONRUSH_GOLDEN").is_ok_and(|word| word == "write") {
        std::fs::write(path(name), now).expect("a golden file is written");
    }
    std::fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A snapshot with something in every part.
fn all() -> Snapshot {
    let mut seen = Snapshot::default();
    for (value, &counter) in (1..).zip(Counter::ALL) {
        seen.counts[counter] = value * 1_000;
    }
    (seen.counts.statuses[200], seen.counts.statuses[503]) = (970, 30);
    (seen.counts.grpc_statuses[0], seen.counts.grpc_statuses[14]) = (5, 6);
    seen.counts.closes.extend([(1_000, 3), (4_999, 1)]);
    for number in 1..=1_000u64 {
        let timings = seen.outcome(SeriesId::step(0), Outcome::Succeeded);
        timings.record(Measure::Response, number * 1_000_000);
        timings.record(Measure::Service, number * 500_000);
    }
    for failure in [Failure::Timeout, Failure::Os(113), Failure::Protocol(ProtocolFault::BadGrpcStatus)] {
        seen.outcome(SeriesId::step(7), Outcome::Failed(failure)).record(Measure::Response, 2_000_000_000);
        seen.failures_by_host.add(failure, &"a.example:80".into(), 1);
    }
    seen.leave_unfinished(SeriesId::step(63), 3_000_000_000, Some(2_500_000_000));
    seen.record(SeriesId::transaction(2), Class::Succeeded, 75_000_000);
    seen.record(SeriesId::transaction(2), Class::TimedOut, 95_000_000);
    seen.fail(SeriesId::transaction(2), Failure::Timeout);
    seen.record(SeriesId::new(SeriesKind::Custom, 5), Class::Succeeded, 42);
    seen.record(SeriesId::check(4), Class::Succeeded, 0);
    seen.record(SeriesId::check(4), Class::FailedAnswered, 0);
    seen.fail(SeriesId::check(4), Failure::CheckFailed);
    seen.record_own(0, OwnValue::Added(2_500_000_000));
    [7, 1 << 50].into_iter().for_each(|units| seen.record_own(1, OwnValue::Measured(units)));
    seen.record_own(2, OwnValue::Was(true));
    seen.record_own(63, OwnValue::Reached { value: -1.5, at_ns: 9 });
    for number in 0..12 {
        // The first ones are counted more often than the counters of pages hold.
        times_of(&mut seen, number).record_many(1_000 * (number as u64 + 1), 3 << 16);
        times_of(&mut seen, number).record(77_000_000_000_000 + number as u64);
    }
    seen.cover(9_000_000);
    (seen.stalled_ns, seen.cpu_ns, seen.run_delay_ns) = (1, 2, 3);
    (seen.gauges.users, seen.gauges.connections_open) = (50, 49);
    let mut slots = AddressSlots::default();
    for address in ["127.0.0.2:80", "[::1]:8080"] {
        let slot = slots.slot(address.parse().expect("an address"));
        let tally = seen.by_address.at(slot, &slots);
        (tally.tried, tally.established, tally.sent, tally.answered, tally.failed) = (5, 4, 300, 290, 3);
        tally.response.record(7_000_000);
    }
    seen.learn_text(14, "too busy");
    seen.learn_text(4_999, "bye");
    seen.keep_sample(Sample {
        at_ns: 5,
        step: 1,
        outcome: Outcome::Failed(Failure::GrpcStatus(200)),
        status: 503,
        reason: "body is not \"yes\"".to_owned(),
        place: "a.example:80".to_owned(),
        way: vec!["GET http://a.example/ 302".to_owned()],
        parts: vec![
            Part { is_ours: true, kind: PartKind::Head, bytes: b"GET / HTTP/1.1".to_vec() },
            Part { is_ours: false, kind: PartKind::Raw, bytes: vec![0, 255] },
        ],
        left_out: 9,
        wait_ns: Some(1),
        first_byte_ns: None,
        service_ns: Some(3),
        is_shown: true,
    });
    add_custom(&mut seen);
    keep_particulars(&mut seen.tool_details);
    seen
}

fn add_custom(seen: &mut Snapshot) {
    let [reply, login, silence] = custom_failures();
    seen.outcome(SeriesId::step(8), Outcome::Failed(login)).record(Measure::Response, 4_000_000);
    seen.fail(SeriesId::transaction(3), reply);
    seen.failures_by_host.add(silence, &"b.example:53".into(), 2);
    seen.counts.count_status_word("OK", 7);
    seen.counts.count_status_word("WRONGTYPE", 8);
    seen.counts.count_status_word("", 9);
}

fn check_custom(seen: &Snapshot) {
    let [reply, login, silence] = custom_failures();
    assert_eq!(seen.counts.failures().last(), Some((login, 1)));
    assert_eq!(seen.failures_of(SeriesId::step(8)).collect::<Vec<_>>(), [(login, 1)]);
    assert_eq!(seen.failures_of(SeriesId::transaction(3)).collect::<Vec<_>>(), [(reply, 1)]);
    assert_eq!(seen.failures_by_host.places(silence), [("b.example:53", 2)]);
    let words = [("OK", 7), ("WRONGTYPE", 8), (STATUS_OTHER, 9)];
    assert_eq!(seen.counts.status_words().collect::<Vec<_>>(), words);
}

fn keep_particulars(all: &mut ToolDetails) {
    (all.first_length, all.lengths_differ, all.rows_left_out) = (10, 2, 1);
    all.read_head(b"HTTP/1.1 200 OK");
    let times = [1, 2, 3, 4, 5, 6];
    let [start_ns, wait_ns, first_byte_ns, service_ns, response_ns, bytes] = times;
    all.keep_row(Row {
        start_ns,
        wait_ns,
        first_byte_ns,
        service_ns,
        response_ns,
        bytes,
        status: 204,
        is_answered: true,
    });
    let slow = RequestRecord {
        intended_ns: 7,
        response_ns: 900,
        lateness_ns: 8,
        wait_ns: Some(9),
        service_ns: Some(800),
        first_byte_ns: None,
        body_bytes: 10,
        step: 11,
        shard: 12,
        status: 504,
        end: RequestRecordEnd::Failed(Failure::Os(113)),
        is_connection_new: true,
        trace: 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10,
    };
    all.slowest.keep(slow, 10);
    all.slowest.keep(RequestRecord { response_ns: 901, end: RequestRecordEnd::Unfinished, trace: 0, ..slow }, 10);
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for line in bytes.chunks(40) {
        line.iter().for_each(|byte| write!(text, "{byte:02x}").expect("a string takes all"));
        text.push('\n');
    }
    text
}

fn bytes_in(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|each| each.to_digit(16)).collect();
    digits.chunks_exact(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

#[test]
fn golden_snapshots_are_read_for_ever() {
    custom_failures();
    for version in versions() {
        let text = kept(&format!("snapshot-{version}.hex"), &hex(&bytes_of(&all())), version);
        let seen = Snapshot::decode(&bytes_in(&text)).unwrap_or_else(|error| panic!("version {version}: {error}"));
        // Counters by their meaning, not by their current index.
        let counts = &seen.counts;
        assert_eq!((counts.started(), counts.succeeded(), counts.dropped()), (1_000, 3_000, 3_000));
        assert_eq!((counts.unfinished(), counts.iterations(), counts.bytes_received()), (5_001, 9_000, 19_000));
        assert_eq!((counts.messages_sent(), counts.unsolicited_messages()), (28_000, 31_000));
        assert_eq!(counts.statuses().collect::<Vec<_>>(), [(200, 970), (503, 30)]);
        assert_eq!(counts.grpc_statuses().collect::<Vec<_>>(), [("OK", 5), ("UNAVAILABLE", 6)]);
        assert_eq!(
            counts.closes.iter().map(|(code, count)| (*code, *count)).collect::<Vec<_>>(),
            [(1_000, 3), (4_999, 1)]
        );
        let reasons =
            [(Failure::Timeout, 1), (Failure::Protocol(ProtocolFault::BadGrpcStatus), 1), (Failure::Os(113), 1)];
        assert_eq!(counts.failures().take(reasons.len()).collect::<Vec<_>>(), reasons);
        if version >= CUSTOM_VERSION {
            check_custom(&seen);
        }
        assert_eq!(seen.failures_of(SeriesId::step(7)).collect::<Vec<_>>(), reasons);
        assert_eq!(seen.failures_by_host.places(Failure::Os(113)), [("a.example:80", 1)]);
        let response = seen.timings(SeriesId::step(0), Class::Succeeded).expect("times").by_measure(Measure::Response);
        assert_eq!((response.count(), response.sum()), (1_000, 500_500_000_000));
        assert_eq!((response.min(), response.max()), (Some(1_000_000), Some(1_000_000_000)));
        assert_eq!((response.quantile(0.5), response.quantile(0.99)), (Some(500_170_751), Some(990_380_031)));
        let unfinished = seen.unfinished_of(SeriesId::step(63)).expect("times");
        assert_eq!(unfinished.by_measure(Measure::Service).max(), Some(2_500_000_000));
        let transaction = SeriesId::transaction(2);
        let ended = Class::ALL.map(|class| seen.count_of(transaction, class));
        assert_eq!((ended, seen.failures_of(transaction).count()), ([1, 0, 0, 1], 1));
        assert_eq!(seen.count_of(SeriesId::new(SeriesKind::Custom, 5), Class::Succeeded), 1);
        if version == SNAPSHOT_VERSION {
            let own = [0, 1, 2, 63].map(|number| seen.own(number).map(|total| (total.kind(), total.count())));
            let kinds = [OwnKind::Counter, OwnKind::Trend, OwnKind::Share, OwnKind::Gauge];
            assert_eq!(own, kinds.map(|kind| Some((kind, if kind == OwnKind::Trend { 2 } else { 1 }))));
            let gauge = OwnGauge { count: 1, least: -1.5, greatest: -1.5, last: -1.5, last_at_ns: 9 };
            assert_eq!(seen.own(63), Some(&OwnTotal::Gauge(gauge)));
        }
        if version >= 22 {
            assert_eq!(seen.check_counts(SeriesId::check(4)), CheckCounts { passed: 1, failed: 1 });
        }
        assert_eq!((seen.lag.count(), seen.lag.quantile(0.5)), ((3 << 16) + 1, Some(7_003)));
        assert_eq!(seen.lag.max(), Some(77_000_000_000_006));
        assert_eq!((seen.server_text(14), seen.server_text(4_999)), (Some("too busy"), Some("bye")));
        assert_eq!((seen.stall_affected_count(), seen.gauges.users, seen.cpu_ns), (1, 50, 2));
        assert_eq!(seen.samples()[0].outcome, Outcome::Failed(Failure::GrpcStatus(200)));
        assert_eq!((seen.tool_details.rows()[0].status, seen.tool_details.head()), (204, &b"HTTP/1.1 200 OK"[..]));
        let slowest = seen.tool_details.slowest.sorted();
        assert_eq!((slowest.len(), slowest[0].end, slowest[1].step), (2, RequestRecordEnd::Unfinished, 11));
        assert_eq!((slowest[1].end, slowest[1].service_ns), (RequestRecordEnd::Failed(Failure::Os(113)), Some(800)));
        if version > 1 {
            assert_eq!(slowest[1].trace, 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);
        }
        if version == SNAPSHOT_VERSION {
            assert!(seen == all(), "the file of this version is another snapshot");
        }
    }
}

/// Written indices keep their meaning. New counters are appended, and raise the version.
#[test]
fn golden_names_keep_their_places() {
    let mut now = String::new();
    let mut line = |kind: &str, place: usize, name: &str| {
        writeln!(now, "{kind} {place} {name}").expect("a string takes all");
    };
    Counter::ALL.iter().enumerate().for_each(|(place, counter)| line("counter", place, counter.name()));
    // The numbers of others are not written.
    for failure in Failure::all().filter(|failure| !matches!(failure, Failure::Custom(_))) {
        let detail = failure.detail().map(|detail| format!(" {detail}")).unwrap_or_default();
        // Of names that differ only by a number, some stand for all.
        if detail.trim().parse().is_ok_and(|number: u32| !number.is_multiple_of(100)) {
            continue;
        }
        line("failure", failure.index(), &format!("{}{detail}", failure.name()));
    }
    GRPC_STATUSES.iter().enumerate().for_each(|(place, name)| line("grpc", place, name));
    Class::ALL.iter().enumerate().for_each(|(place, class)| line("class", place, class.name()));
    Measure::ALL.iter().enumerate().for_each(|(place, measure)| line("measure", place, measure.name()));
    for (place, kind) in SeriesKind::ALL.iter().enumerate() {
        line("kind", place, kind.name());
    }
    for version in versions() {
        let kept = kept(&format!("names-{version}.txt"), &now, version);
        if version == SNAPSHOT_VERSION {
            let other = kept.lines().zip(now.lines()).find(|(kept, now)| kept != now);
            assert_eq!(other, None, "a place means something else: put what is new behind what is there");
            assert!(
                kept == now,
                "something was added that is no row: raise FORMAT_VERSION, and write its golden files"
            );
        }
        let is_known = |line: &&str| now.lines().any(|known| known == *line);
        assert!(kept.lines().all(|line| is_known(&line)), "version {version}: a place means something else");
    }
}
