//! Tests of the verdicts: each bottleneck has its signs.

use crate::slices::Slice;
use metrics::{Counter, Outcome, SeriesId};
use plan::{ConnectionCount, Flags, Load, Plan};

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

fn spent(cpu: u64, delay: u64) -> ThreadUsage {
    let mut spent = ThreadUsage::default();
    let mut seen = Snapshot::default();
    (seen.cpu_ns, seen.run_delay_ns) = (cpu * MILLI, delay * MILLI);
    spent.add(Nanos::from_millis(1_000), &seen);
    spent
}

fn judge(plan: &Plan, total: &Snapshot, shards: &[ThreadUsage], link: Option<f64>) -> Verdict {
    let is_open = matches!(plan.scenarios[0].load, Load::Open { .. });
    let link = link.map(|share| LinkUse { name: "eth0".to_owned(), bits_per_s: 1, share });
    let requested_per_s = is_open.then_some(1_000.0);
    let wall = Nanos::from_millis(1_000);
    let (slices, users_s) = (&Slices::default(), None);
    let scenario = &plan.scenarios[0];
    Verdict::new(Evidence {
        scenario,
        total,
        wall,
        shards,
        requested_per_s,
        link,
        growth: None,
        slices,
        first: &Distribution::default(),
        users_s,
        machine: None,
    })
}

fn limit(is_open: bool, total: &Snapshot, shards: &[ThreadUsage]) -> Limit {
    judge(&plan(is_open.then_some("1000")), total, shards, None).limit
}

#[test]
fn each_limit_has_its_signs() {
    let idle = [spent(300, 10), spent(200, 10)];
    assert_eq!(limit(true, &seen(0, 0, 5), &idle), Limit::PlanKept);
    // Starts waited for one of ten connections: more of them may help, or not.
    let busy = judge(&plan(Some("1000")), &seen(0, 500, 5), &idle, None);
    assert_eq!(busy.known, Basis::Nothing(Unknown::AllBusy { connections: 10 }));
    // Without a configured number of connections, a start that waits waits for the target.
    let mut free = plan(Some("1000"));
    if let Load::Open { connections, .. } = &mut free.scenarios[0].load {
        *connections = ConnectionCount::new(None, false);
    }
    assert_eq!(judge(&free, &seen(0, 500, 5), &idle, None).limit, Limit::Target);
    assert_eq!(limit(true, &seen(20, 500, 5), &idle), Limit::Generator);
    assert_eq!(limit(false, &seen(0, 0, 20), &idle), Limit::Unknown);
    assert_eq!(limit(false, &seen(0, 0, 20), &[spent(300, 10), spent(980, 0)]), Limit::Generator);
    // It had half a core, and waited for the other half while another process had it.
    assert_eq!(limit(true, &seen(0, 0, 20), &[spent(490, 480)]), Limit::Generator);
    assert_eq!(limit(true, &Snapshot::default(), &idle), Limit::Unknown);
    let full = judge(&plan(None), &seen(0, 0, 20), &idle, Some(0.95));
    assert_eq!((full.limit, full.is_unreliable()), (Limit::Link, false));
}

/// A thread whose loop was stalled for some milliseconds of a second.
fn stalled(stalled: u64) -> ThreadUsage {
    ThreadUsage { stalled_ns: stalled * MILLI, ..spent(100, 0) }
}

#[test]
fn a_stall_makes_less_of_a_rate_that_users_make() {
    assert_eq!(limit(false, &seen(0, 0, 20), &[stalled(40)]), Limit::Unknown);
    assert_eq!(limit(false, &seen(0, 0, 20), &[stalled(0), stalled(160)]), Limit::Generator);
    // The starts that a plan owes were made all the same.
    assert_eq!(limit(true, &seen(0, 0, 20), &[stalled(160)]), Limit::PlanKept);
}

/// Times that a stall made longer are marked, and show no bottleneck.
#[test]
fn stalls_within_times_make_no_limit() {
    let mut total = seen(0, 0, 5);
    total.counts[Counter::StallAffectedResponses] = 50;
    assert_eq!(limit(true, &total, &[stalled(10)]), Limit::PlanKept);
    assert_eq!(limit(false, &total, &[stalled(10)]), Limit::Unknown);
}

/// It needs half a core, and waits for it as long as it has it.
#[test]
fn a_thread_that_is_kept_from_its_core_is_reported() {
    assert_eq!(limit(false, &seen(0, 0, 20), &[spent(300, 450)]), Limit::Generator);
    assert_eq!(limit(false, &seen(0, 0, 20), &[spent(300, 50)]), Limit::Unknown);
}

/// A thread that had half of a core and waited for the other half, in a load of either kind: it is named, and the
/// figures are unreliable. The other thread, which had what it needed, changes nothing.
#[test]
fn half_of_a_core_is_not_enough() {
    for rate in [None, Some("1000")] {
        let shards = [spent(300, 0), spent(500, 480)];
        let verdict = judge(&plan(rate), &seen(0, 0, 5), &shards, None);
        assert_eq!((verdict.limit, verdict.is_unreliable()), (Limit::Generator, true), "{rate:?}");
        let (shard, busiest) = verdict.busiest.expect("somebody wanted most");
        assert_eq!((shard, busiest.cpu_ns, busiest.run_delay_ns), (1, 500 * MILLI, 480 * MILLI), "{rate:?}");
        assert!((busiest.wanted_share() - 0.98).abs() < 1e-9 && (busiest.cpu_share() - 0.5).abs() < 1e-9, "{rate:?}");
    }
}

/// Ten users: quick responses for two seconds, and then nothing. They hang since before the load of a second began, and
/// count as long as that is.
#[test]
fn users_that_hang_weigh_their_time() {
    let idle = [spent(300, 10)];
    let mut hung = seen(0, 0, 2);
    assert_eq!(limit(false, &hung, &idle), Limit::Unknown);
    for _ in 0..10 {
        hung.counts[Counter::Started] += 1;
        hung.leave_unfinished(SeriesId::step(0), 13_000 * MILLI, Some(13_000 * MILLI));
    }
    let verdict = judge(&plan(None), &hung, &idle, None);
    assert_eq!(verdict.limit, Limit::Target);
    assert!((verdict.unanswered_time_share - 10.0 / 12.0).abs() < 1e-6, "{}", verdict.unanswered_time_share);
    // Half of the users wait for connections that do not come.
    let mut refused = seen(0, 0, 2);
    for _ in 0..5 {
        refused.counts[Counter::Started] += 1;
        let timings = refused.outcome(SeriesId::step(0), Outcome::Failed(Failure::ConnectTimeout));
        timings.record(Measure::Response, 3_000 * MILLI);
    }
    assert_eq!(limit(false, &refused, &idle), Limit::Target);
}

/// One user of a target that refuses for four of six seconds: each try is over at once, and the pause after it is
/// waiting time.
#[test]
fn a_refused_user_waits() {
    let mut down = seen(0, 0, 2);
    for _ in 0..396 {
        down.counts[Counter::Started] += 1;
        let timings = down.outcome(SeriesId::step(0), Outcome::Failed(Failure::ConnectRefused));
        timings.record(Measure::Response, 100_000);
    }
    let share = judge(&plan(None), &down, &[spent(300, 10)], None).unanswered_time_share;
    assert!((share - 2.0 / 3.0).abs() < 0.01, "{share}");
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
    // A core that was away for half of a few milliseconds means nothing.
    let plan = plan(None);
    let (wall, shards) = (Nanos::from_millis(5), [spent(300, 450)]);
    let (total, requested_per_s, link, growth) = (&refused, None, None, None);
    let (scenario, slices, first, users_s) = (&plan.scenarios[0], &Slices::default(), &Distribution::default(), None);
    let (shards, machine) = (&shards[..], None);
    let evidence =
        Evidence { scenario, total, wall, shards, requested_per_s, link, growth, slices, first, users_s, machine };
    let at_once = Verdict::new(evidence);
    assert_eq!(at_once.limit, Limit::Target);
    // With a response it is a load like any other.
    refused.counts[Counter::Responses] = 1;
    assert_eq!(limit(false, &refused, &busy), Limit::Generator);
}

/// A target that was never reached ends a run at once: that this aborts iterations does not make the bottleneck
/// unknown.
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
    // A target that responded to the first steps of iterations that were stopped then is not known to be the
    // bottleneck.
    let mut stopped = seen(0, 0, 5);
    stopped.counts[Counter::Responses] = 1_000;
    stopped.counts[Counter::IterationsCut] = 20;
    assert_eq!(limit(true, &stopped, &[spent(1, 0)]), Limit::Unknown);
}

/// The verdict of a closed load of this time, with its slices.
fn verdict_of_slices(total: &Snapshot, slices: &Slices) -> Verdict {
    verdict_of_rounds(total, slices, &Distribution::default())
}

/// The same, with the first exchanges of its users.
fn verdict_of_rounds(total: &Snapshot, slices: &Slices, first: &Distribution) -> Verdict {
    let flags = Flags {
        url: Some("http://a/".to_owned()),
        connections: Some("4".to_owned()),
        duration: Some("3s".to_owned()),
        ..Flags::default()
    };
    let plan = flags.plan().expect("a good plan");
    let (scenario, users_s) = (&plan.scenarios[0], Some(12.0));
    let (wall, shards, requested_per_s, link, growth) = (Nanos::from_millis(3_000), &[], None, None, None);
    let evidence = Evidence {
        scenario,
        total,
        wall,
        shards,
        requested_per_s,
        link,
        growth,
        slices,
        first,
        users_s,
        machine: None,
    };
    Verdict::new(evidence)
}

/// A load that ends by a number has no time for a probe: the first round shows what half of the users would get.
#[test]
fn first_requests_that_find_no_queue_show_the_limit() {
    let (mut total, mut first) = (seen(0, 0, 20), Distribution::default());
    for place in 1..=20 {
        first.record(place * MILLI);
        total.counts[Counter::Started] += 1;
        total.outcome(SeriesId::step(0), Outcome::Succeeded).record(Measure::Service, place * MILLI);
    }
    let mut verdict = verdict_of_rounds(&total, &Slices::default(), &first);
    assert!(verdict.wants_probe());
    verdict.learn(Err(NotTried::Counted));
    assert!(matches!(verdict.known, Basis::FirstRound(share) if (share - 0.5).abs() < 0.02), "{:?}", verdict.known);
    assert_eq!(verdict.limit, Limit::Target);
    // Without it nothing is known.
    let mut verdict = verdict_of_slices(&total, &Slices::default());
    verdict.learn(Err(NotTried::Counted));
    assert_eq!((verdict.limit, verdict.known), (Limit::Unknown, Basis::Nothing(Unknown::NotTried(NotTried::Counted))));
}

/// A run with lost workers differs from its plan, whatever the bottleneck: there is no probe.
#[test]
fn workers_that_were_lost_are_the_verdict_of_a_closed_load_too() {
    let mut total = seen(0, 0, 20);
    for place in 1..=20 {
        total.counts[Counter::Started] += 1;
        total.outcome(SeriesId::step(0), Outcome::Succeeded).record(Measure::Service, place * MILLI);
    }
    let mut verdict = verdict_of_slices(&total, &Slices::default());
    assert!(verdict.wants_probe());
    verdict.without_workers();
    verdict.learn(Err(NotTried::Elsewhere));
    assert_eq!((verdict.limit, verdict.known), (Limit::Workers, Basis::Counts));
}

#[test]
fn a_target_that_was_away_is_reported_with_its_instants() {
    let answered = Slice { ended: 40, succeeded: 40, in_flight: 4, ..Slice::default() };
    let mut slices = Slices { width: Nanos::from_millis(100), each: vec![answered; 30] };
    slices.each[10..20].fill(Slice { in_flight: 4, ..Slice::default() });
    let Basis::StoodStill(gaps) = verdict_of_slices(&seen(0, 0, 2), &slices).known else { panic!("it stood still") };
    assert_eq!((gaps.from, gaps.to), (Nanos::from_millis(1_000), Nanos::from_millis(2_000)));
    slices.each[10..20].fill(Slice { ended: 40, refused: 40, ..Slice::default() });
    assert!(matches!(verdict_of_slices(&seen(0, 0, 2), &slices).known, Basis::Outage(gaps) if gaps.refused == 400));
    // Without a gap the bottleneck is unknown, and there is a probe.
    slices.each.fill(answered);
    assert!(verdict_of_slices(&seen(0, 0, 2), &slices).wants_probe());
}

/// All clients of a full listen queue wait for a retry at once, now and then; a longer stretch is a stall all the same.
#[test]
fn a_full_listen_queue_is_no_stall() {
    let answered = Slice { ended: 40, succeeded: 40, in_flight: 4, ..Slice::default() };
    let mut slices = Slices { width: Nanos::from_millis(100), each: vec![answered; 30] };
    slices.each[10..17].fill(Slice { in_flight: 4, ..Slice::default() });
    let mut total = seen(0, 0, 2);
    total.connect.record_many(MILLI, 700);
    assert!(matches!(verdict_of_slices(&total, &slices).known, Basis::StoodStill(_)));
    total.connect.record_many(1_005 * MILLI, 300);
    assert_eq!(verdict_of_slices(&total, &slices).known, Basis::LostSyns { lost: 300, of: 1_000 });
    slices.each[10..25].fill(Slice { in_flight: 4, ..Slice::default() });
    assert!(matches!(verdict_of_slices(&total, &slices).known, Basis::StoodStill(_)));
    slices.each[10..17].fill(Slice { ended: 40, refused: 40, ..Slice::default() });
    assert!(matches!(verdict_of_slices(&total, &slices).known, Basis::Outage(_)));
}

#[test]
fn users_without_an_response_are_reported_first() {
    let mut total = seen(0, 0, 2);
    total.counts[Counter::Responses] = 1_000;
    total.counts[Counter::Started] += 2;
    (0..2).for_each(|_| total.leave_unfinished(SeriesId::step(0), 2_900 * MILLI, Some(2_900 * MILLI)));
    let verdict = verdict_of_slices(&total, &Slices::default());
    assert_eq!((verdict.limit, verdict.known), (Limit::Target, Basis::Starved { requests: 2, of: 4 }));
}

#[test]
fn a_rate_that_is_let_through_is_reported_with_its_status() {
    let mut total = seen(0, 0, 2);
    for _ in 0..9_000 {
        total.counts[Counter::Started] += 1;
        let timings = total.outcome(SeriesId::step(0), Outcome::Failed(Failure::Status));
        timings.record(Measure::Response, MILLI);
    }
    assert!(!matches!(verdict_of_slices(&total, &Slices::default()).known, Basis::Refusals { .. }));
    total.counts.statuses[429] = 9_000;
    let Basis::Refusals { status, refused, served_per_s } = verdict_of_slices(&total, &Slices::default()).known else {
        panic!("it refuses")
    };
    assert_eq!((status, refused, served_per_s.round()), (429, 9_000, 333.0));
}
