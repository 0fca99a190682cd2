use metrics::{Counter, Measure, Outcome, SeriesId, Snapshot};
use pacing::Nanos;
use plan::Flags;

use super::*;

const ADDRESS: &str = "192.0.2.1:80";

/// An interval with failures and slow connections, of a run that has established this many.
fn interval(failures: &[(Failure, u64)], slow: u64, established: u64) -> Interval {
    let (mut seen, mut total) = (Snapshot::default(), Snapshot::default());
    for &(failure, count) in failures {
        (0..count).for_each(|_| seen.outcome(SeriesId::step(0), Outcome::Failed(failure)).record(Measure::Response, 1));
    }
    (0..slow).for_each(|_| seen.connect.record(3_000_000_000));
    total.counts[Counter::ConnectionsEstablished] = established;
    let (from, to, paused) = (Nanos::ZERO, Nanos::from_millis(1_000), Nanos::ZERO);
    let (seen, total) = (&seen, &total);
    let scenarios = vec![engine::ScenarioInterval { paused, seen, added: seen, total }];
    let (number, late_shards, is_update, added) = (1, 0, false, seen);
    let reported = engine::Interval { number, from, to, paused, late_shards, is_update, seen, added, total, scenarios };
    let flags = Flags { url: Some(format!("http://{ADDRESS}/")), ..Flags::default() };
    Interval::new(&reported, &flags.plan().expect("a good plan"))
}

fn watch(kernel: &Kernel) -> Watch {
    Watch::new(ADDRESS.parse().expect("an address"), false, kernel)
}

fn kinds(notes: &[Note]) -> Vec<&'static str> {
    notes.iter().map(Note::kind).collect()
}

#[test]
fn the_kernel_is_requested_only_when_there_is_a_reason() {
    let nothing = Wants::default();
    let queue = Wants { queue: true, ..nothing };
    let ports = Wants { ports: true, ..nothing };
    let descriptors = Wants { descriptors: true, ..nothing };
    let cases = [
        (interval(&[], 0, 100), nothing),
        (interval(&[(Failure::Timeout, 9), (Failure::Reset, 9)], 0, 100), nothing),
        (interval(&[(Failure::ConnectRefused, 9)], 0, 100), nothing),
        (interval(&[], 0, CONNECTIONS_BETWEEN_CHECKS - 1), nothing),
        (interval(&[], 0, CONNECTIONS_BETWEEN_CHECKS), ports),
        (interval(&[(Failure::NoLocalPort, 1)], 0, 1), ports),
        (interval(&[(Failure::NoDescriptor, 1)], 0, 1), descriptors),
        (interval(&[], 1, 1), queue),
        (interval(&[(Failure::ConnectTimeout, 1)], 0, 1), queue),
        // The target was never reached: that is reported in another way.
        (interval(&[(Failure::ConnectTimeout, 1)], 1, 0), nothing),
    ];
    for (interval, expect) in cases {
        assert_eq!(watch(&Kernel::default()).wants(&interval), expect, "{interval:?}");
    }
}

#[test]
fn ports_are_worth_a_word_when_most_are_taken_or_none_is_left() {
    let many = interval(&[], 0, CONNECTIONS_BETWEEN_CHECKS);
    let none_left = interval(&[(Failure::NoLocalPort, 1)], 0, 1);
    let with = |in_use| Kernel { ports: Some(Ports { in_use, time_wait: 1, all: 1_000 }), ..Kernel::default() };
    for (interval, in_use, expect) in
        [(&many, 699, false), (&many, 700, true), (&none_left, 1, true), (&none_left, 999, true)]
    {
        let noted = watch(&Kernel::default()).interval(interval, &with(in_use));
        assert_eq!(kinds(&noted) == ["local-ports"], expect, "{in_use}: {noted:?}");
    }
    // The note at the end has the maximum.
    let mut watch = watch(&Kernel::default());
    assert_eq!(watch.interval(&many, &with(700)).len(), 1);
    assert_eq!(watch.interval(&interval(&[], 0, 2 * CONNECTIONS_BETWEEN_CHECKS), &with(900)), []);
    assert_eq!(watch.interval(&interval(&[], 0, 3 * CONNECTIONS_BETWEEN_CHECKS), &with(800)), []);
    let [Note::LocalPorts { ports, .. }] = watch.take_notes(&Kernel::default())[..] else { panic!("one note") };
    assert_eq!(ports.in_use, 900);
}

/// At 30,000 connections a second a count for each interval would read the whole table each second.
#[test]
fn while_few_ports_are_taken_looks_are_rare() {
    let with = |in_use| Kernel { ports: Some(Ports { in_use, time_wait: 1, all: 28_232 }), ..Kernel::default() };
    let looks = |in_use: fn(u64) -> u64| {
        let mut watch = watch(&Kernel::default());
        let mut looks = Vec::new();
        for second in 1..=60 {
            let interval = interval(&[], 0, second * 30_000);
            let is_due = watch.wants(&interval).ports;
            looks.extend(is_due.then_some(second));
            let noted = watch.interval(&interval, &if is_due { with(in_use(second)) } else { Kernel::default() });
            if !noted.is_empty() {
                return (looks, Some(second));
            }
        }
        (looks, None)
    };
    assert_eq!(looks(|_| 100), (vec![1, 3, 7, 15, 31, 48], None), "500,000 are no more than 17 s apart");
    assert_eq!(
        looks(|second| second * 15_000),
        (vec![1, 2], Some(2)),
        "where they stay taken, each interval is looked at"
    );
    assert_eq!(looks(|second| if second < 20 { 100 } else { 27_000 }), (vec![1, 3, 7, 15, 31], Some(31)));
    // With no port left, the count is due at once.
    let mut watch = watch(&Kernel::default());
    watch.interval(&interval(&[], 0, 300_000), &with(1));
    assert!(watch.wants(&interval(&[(Failure::NoLocalPort, 1)], 0, 300_001)).ports);
}

#[test]
fn overflows_are_those_of_the_run() {
    let before = Kernel { overflows: Some(40), ..Kernel::default() };
    let mut watch = watch(&before);
    let slow = interval(&[], 2, 1);
    let now = |overflows| Kernel { overflows: Some(overflows), backlog_max: Some(128), ..Kernel::default() };
    let of = |notes: Vec<Note>| match notes[..] {
        [Note::AcceptQueue { slow, overflows, backlog_max, .. }] => (slow, overflows, backlog_max),
        _ => panic!("{notes:?}"),
    };
    assert_eq!(of(watch.interval(&slow, &now(45))), (2, 5, Some(128)));
    assert!(!watch.wants(&slow).queue && watch.wants_at_end().queue);
    assert_eq!(watch.interval(&slow, &Kernel::default()), []);
    assert_eq!(of(watch.take_notes(&now(47))), (4, 7, Some(128)));
    // A watch that began anew counts nothing.
    assert_eq!(watch.interval(&slow, &now(3)).len(), 1);
    assert_eq!(of(watch.take_notes(&now(3))).1, 0);
}
