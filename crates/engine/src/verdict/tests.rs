//! Each limit has its signs.

use metrics::{Counter, Outcome, SeriesId};
use plan::{Flags, Plan};

use super::*;

const MILLI: u64 = 1_000_000;

fn plan(rate: Option<&str>) -> Plan {
    let flags = Flags {
        url: Some("http://a/".to_owned()),
        rate: rate.map(str::to_owned),
        connections: Some("10".to_owned()),
        ..Flags::default()
    };
    flags.plan().expect("a good plan")
}

/// A thousand exchanges with these times, in milliseconds.
fn seen(lateness: u64, wait: u64, service: u64) -> Snapshot {
    let mut seen = Snapshot::default();
    for _ in 0..1_000 {
        seen.counts[Counter::Started] += 1;
        let timings = seen.outcome(SeriesId::step(0), Outcome::Succeeded);
        timings.record(Measure::Lateness, lateness * MILLI);
        timings.record(Measure::Wait, wait * MILLI);
        timings.record(Measure::Service, service * MILLI);
        timings.record(Measure::Response, (lateness + wait + service) * MILLI);
    }
    seen
}

fn spent(cpu: u64, delay: u64) -> ShardUse {
    let mut spent = ShardUse::default();
    let mut seen = Snapshot::default();
    (seen.cpu_ns, seen.run_delay_ns) = (cpu * MILLI, delay * MILLI);
    spent.add(Nanos::from_millis(1_000), &seen);
    spent
}

fn judge(plan: &Plan, total: &Snapshot, shards: &[ShardUse], link: Option<f64>) -> Verdict {
    let is_open = matches!(plan.scenarios[0].load, Load::Open { .. });
    let link = link.map(|share| LinkUse { name: "eth0".to_owned(), bits_per_s: 1, share });
    let asked_per_s = is_open.then_some(1_000.0);
    let wall = Nanos::from_millis(1_000);
    Verdict::of(Evidence { scenario: &plan.scenarios[0], total, wall, shards, asked_per_s, link, growth: None })
}

fn limit(is_open: bool, total: &Snapshot, shards: &[ShardUse]) -> Limit {
    judge(&plan(is_open.then_some("1000")), total, shards, None).limit
}

#[test]
fn each_limit_has_its_signs() {
    let idle = [spent(300, 10), spent(200, 10)];
    assert_eq!(limit(true, &seen(0, 0, 5), &idle), Limit::PlanKept);
    // Ten connections of 5 ms carry 2,000/s, and 1,000/s are asked: who waits waits for the target.
    assert_eq!(limit(true, &seen(0, 500, 5), &idle), Limit::Target);
    // Of 50 ms they carry 200/s, and each answer comes as fast as the first: more of them would do.
    assert_eq!(limit(true, &seen(0, 500, 50), &idle), Limit::Users);
    assert_eq!(limit(true, &seen(20, 500, 5), &idle), Limit::Generator);
    assert_eq!(limit(false, &seen(0, 0, 20), &idle), Limit::Users);
    assert_eq!(limit(false, &seen(0, 0, 20), &[spent(300, 10), spent(980, 0)]), Limit::Generator);
    // Half a core of its own and half a core that somebody else had.
    assert_eq!(limit(true, &seen(0, 0, 20), &[spent(490, 480)]), Limit::Generator);
    assert_eq!(limit(true, &Snapshot::default(), &idle), Limit::Unknown);
    let full = judge(&plan(None), &seen(0, 0, 20), &idle, Some(0.95));
    assert_eq!((full.limit, full.is_spoiled()), (Limit::Link, false));
}

/// Ten users that pause: starts wait for one of them, and the target has a tenth of their time.
#[test]
fn users_that_pause_are_told_from_a_slow_target() {
    let verdict = judge(&plan(Some("1000")), &seen(0, 500, 1), &[spent(300, 10)], None);
    assert_eq!((verdict.limit, verdict.users_can_per_s), (Limit::Users, None));
    let slow = judge(&plan(Some("1000")), &seen(0, 500, 6), &[spent(300, 10)], None);
    assert_eq!(slow.limit, Limit::Target);
}

/// A thread whose ticks came so late, in milliseconds.
fn late(ticks: &[u64]) -> ShardUse {
    let mut spent = spent(100, 0);
    ticks.iter().for_each(|late| spent.lag.record(late * MILLI));
    spent
}

#[test]
fn a_stall_is_the_share_of_its_ticks() {
    let mut ticks = vec![0; 98];
    assert_eq!(limit(false, &seen(0, 0, 20), &[late(&ticks)]), Limit::Users);
    // One of a hundred is what a percentile of 99 allows; a stall of a second is late to twenty.
    ticks.push(900);
    assert_eq!(limit(false, &seen(0, 0, 20), &[late(&ticks)]), Limit::Users);
    ticks.push(950);
    assert_eq!(limit(false, &seen(0, 0, 20), &[late(&[0; 98]), late(&ticks)]), Limit::Generator);
}

#[test]
fn lag_is_set_against_what_is_measured() {
    let lags: Vec<u64> = (0..100).map(|tick| if tick % 20 == 0 { 4 } else { 0 }).collect();
    assert_eq!(limit(false, &seen(0, 0, 5), &[late(&lags)]), Limit::Users);
    let mut quick = Snapshot::default();
    for _ in 0..1_000 {
        quick.counts[Counter::Started] += 1;
        let timings = quick.outcome(SeriesId::step(0), Outcome::Succeeded);
        timings.record(Measure::Service, 50_000);
        timings.record(Measure::Response, 50_000);
    }
    assert_eq!(limit(false, &quick, &[late(&lags)]), Limit::Generator);
    assert_eq!(limit(false, &quick, &[late(&[0; 100])]), Limit::Users);
}

/// It wants half a core, and waits for it as long as it has it.
#[test]
fn a_thread_that_is_kept_from_its_core_is_told() {
    assert_eq!(limit(false, &seen(0, 0, 20), &[spent(300, 450)]), Limit::Generator);
    assert_eq!(limit(false, &seen(0, 0, 20), &[spent(300, 50)]), Limit::Users);
}

/// A thread that had half of a core and waited for the other half, in a load of either kind: it is named, and the figures are not the
/// target's alone. The other thread, which had what it wanted, changes nothing.
#[test]
fn half_of_a_core_is_not_enough() {
    for rate in [None, Some("1000")] {
        let shards = [spent(300, 0), spent(500, 480)];
        let verdict = judge(&plan(rate), &seen(0, 0, 5), &shards, None);
        assert_eq!((verdict.limit, verdict.is_spoiled()), (Limit::Generator, true), "{rate:?}");
        let (shard, busiest) = verdict.busiest.expect("somebody wanted most");
        assert_eq!((shard, busiest.cpu_ns, busiest.run_delay_ns), (1, 500 * MILLI, 480 * MILLI), "{rate:?}");
        assert!((busiest.wanted_share() - 0.98).abs() < 1e-9 && (busiest.cpu_share() - 0.5).abs() < 1e-9, "{rate:?}");
    }
}

/// Ten users: 187,000 quick answers in two seconds, and then nothing for thirteen.
#[test]
fn users_that_hang_weigh_their_time() {
    let idle = [spent(300, 10)];
    let mut hung = seen(0, 0, 2);
    assert_eq!(limit(false, &hung, &idle), Limit::Users);
    for _ in 0..10 {
        hung.counts[Counter::Started] += 1;
        hung.leave_unfinished(SeriesId::step(0), 13_000 * MILLI, Some(13_000 * MILLI));
    }
    let verdict = judge(&plan(None), &hung, &idle, None);
    assert_eq!(verdict.limit, Limit::Target);
    assert!((verdict.unanswered_time_share - 130.0 / 132.0).abs() < 1e-6, "{}", verdict.unanswered_time_share);
    // Half of the users wait for connections that do not come.
    let mut refused = seen(0, 0, 2);
    for _ in 0..5 {
        refused.counts[Counter::Started] += 1;
        let timings = refused.outcome(SeriesId::step(0), Outcome::Failed(Failure::ConnectTimeout));
        timings.record(Measure::Response, 3_000 * MILLI);
    }
    assert_eq!(limit(false, &refused, &idle), Limit::Target);
}

#[test]
fn what_is_lost_has_an_owner() {
    let idle = [spent(300, 10)];
    let mut lost = seen(0, 0, 5);
    for _ in 0..50 {
        lost.counts[Counter::Started] += 1;
        lost.outcome(SeriesId::step(0), Outcome::Failed(Failure::NoLocalPort)).record(Measure::Response, 1);
    }
    assert_eq!(limit(true, &lost, &idle), Limit::PortsOrDescriptors);
    let mut dropped = seen(0, 0, 5);
    dropped.counts[Counter::Started] += 50;
    (0..50).for_each(|_| dropped.drop_start(1));
    assert_eq!(limit(true, &dropped, &idle), Limit::Target);
    dropped.counts[Counter::DroppedByGenerator] = 50;
    assert_eq!(limit(true, &dropped, &idle), Limit::Generator);
}

#[test]
fn who_is_refused_at_once_tries_again_at_once() {
    let busy = [spent(980, 0)];
    let mut refused = Snapshot::default();
    for _ in 0..1_000 {
        refused.counts[Counter::Started] += 1;
        let timings = refused.outcome(SeriesId::step(0), Outcome::Failed(Failure::ConnectRefused));
        timings.record(Measure::Response, 20_000);
    }
    assert_eq!(limit(false, &refused, &busy), Limit::Target);
    assert_eq!(limit(false, &refused, &[spent(300, 450)]), Limit::Generator);
    // A core that was away for half of a few milliseconds says nothing.
    let plan = plan(None);
    let (wall, shards) = (Nanos::from_millis(5), [spent(300, 450)]);
    let (total, asked_per_s, link, growth) = (&refused, None, None, None);
    let at_once =
        Verdict::of(Evidence { scenario: &plan.scenarios[0], total, wall, shards: &shards, asked_per_s, link, growth });
    assert_eq!(at_once.limit, Limit::Target);
    // One that was answered is a load like any other.
    refused.counts[Counter::Answers] = 1;
    assert_eq!(limit(false, &refused, &busy), Limit::Generator);
}

/// A target that nobody reached ends a run at once: that this cuts iterations off makes it no unknown limit.
#[test]
fn a_target_that_is_not_there_is_accused_of_what_it_cut_off() {
    let mut refused = Snapshot::default();
    refused.counts[Counter::Started] = 20;
    for _ in 0..20 {
        let timings = refused.outcome(SeriesId::step(0), Outcome::Failed(Failure::ConnectRefused));
        timings.record(Measure::Response, 20_000);
    }
    refused.counts[Counter::IterationsCut] = 20;
    for is_open in [false, true] {
        assert_eq!(limit(is_open, &refused, &[spent(1, 0)]), Limit::Target, "{is_open}");
    }
    // One that answered the first steps of iterations that were stopped then is not known to be the limit.
    let mut stopped = seen(0, 0, 5);
    stopped.counts[Counter::Answers] = 1_000;
    stopped.counts[Counter::IterationsCut] = 20;
    assert_eq!(limit(true, &stopped, &[spent(1, 0)]), Limit::Unknown);
}

#[test]
fn users_can_do_what_their_waiting_allows() {
    let verdict = judge(&plan(None), &seen(0, 0, 20), &[spent(1, 0)], None);
    let can = verdict.users_can_per_s.expect("a figure");
    assert!((can - 500.0).abs() < 1.0, "{can}");
    // A connection each time, which takes four times as long as the answer.
    let verdict = judge(&plan(None), &seen(0, 80, 20), &[spent(1, 0)], None);
    let can = verdict.users_can_per_s.expect("a figure");
    assert!((can - 100.0).abs() < 1.0, "{can}");
}
