//! Bottlenecks of loads that are affected only by the plan and the target.

use std::time::Duration;

use driver::sim::Faults;
use engine::{Limit, NotTried, ProbeOption, Probing, RunResult, WorkerResult, WorkersSummary};
use pacing::Nanos;
use report::Language;
use selftest::{Happens, SimulatedWorld};

use crate::shown::{Shown, plan};

/// One request at a time, 10 ms each: 100/s, and 300/s are requested. With 200 in flight as with 400 the target gives
/// the same rate; with few connections, all busy from the first moment on, the bottleneck is unknown.
#[test]
fn the_target_is_accused() {
    let load = |connections| [("-q", "300"), ("-c", connections), ("-z", "4s"), ("--grace", "100ms")];
    let shown = Shown::plainly("/serial/10", &load("400"));
    assert_eq!((shown.limit(), &shown.report["verdict"]["evidence"]), ("target", &"curve".into()));
    let share = shown.number("/verdict/figures/rate_share");
    assert!((0.9..=1.1).contains(&share), "{share}");
    assert!(shown.words().starts_with("the target is at its limit: "), "{}", shown.words());
    let shown = Shown::plainly("/serial/10", &load("20"));
    assert_eq!((shown.limit(), &shown.report["verdict"]["figures"]["reason"]), ("unknown", &"all_busy".into()));
}

/// Starts that wait for more than a second are dropped, and the counts of dropped and other starts add up.
#[test]
fn what_waits_too_long_is_dropped() {
    let shown = Shown::plainly("/serial/10", &[("-q", "300"), ("-c", "20"), ("-z", "3s"), ("--max-lateness", "1s")]);
    let [started, succeeded, dropped, unfinished] =
        ["started", "succeeded", "dropped", "unfinished"].map(|name| shown.count(name));
    assert_eq!((started, succeeded + dropped + unfinished), (900, 900));
    // 300 in the 3 s of the plan, and those that were due less than a second before they could be sent.
    assert!((300..=420).contains(&succeeded) && dropped >= 480, "{succeeded} succeeded, {dropped} dropped");
    let words = shown.words();
    assert!(words.starts_with("99.67/s of 300/s requested: starts waited for one of 20 connections; "), "{words}");
}

/// 50 users who wait 20 ms for each response make 2,500/s, and half of them half of that: no target can change it. A
/// round trip takes 0.04 to 0.12 ms.
#[test]
fn the_users_are_the_limit() {
    let shown = Shown::plainly("/delay/20", &[("-c", "50"), ("-z", "4s")]);
    assert_eq!((shown.limit(), &shown.report["verdict"]["evidence"]), ("below", &"probe".into()));
    let per_s = shown.number("/requests_per_s");
    assert!((2_475.0..=2_500.0).contains(&per_s), "{per_s}");
    let share = shown.number("/verdict/figures/rate_share");
    assert!((0.49..=0.51).contains(&share), "{share}");
    let words = shown.words();
    assert!(
        words.contains("/s: half of the users got 50% of the rate; whether more give more was not tried"),
        "{words}"
    );
}

/// The target reads the requests of the load, and additionally those of the probe; without a probe only the former.
#[test]
fn the_target_reads_the_load_and_the_probe() {
    let load = plan("/serial/5", &[("-c", "10"), ("-z", "2s")]);
    let mut world = SimulatedWorld::new(5, Faults::none());
    let alone = world.run(&load, 1, &Happens::default(), |_| ()).expect("a world that works");
    world.settle().expect("a world that works");
    assert_eq!((world.requests(), alone.probes.is_empty()), (alone.total.counts.started(), true));
    let probed = world.run_and_probe(&load, 1, &Happens::default(), |_| ()).expect("a world that works");
    world.settle().expect("a world that works");
    let probe = probed.probes.first().expect("half of the users went on");
    // The world counts the requests of its last run.
    assert_eq!((world.requests(), probe.users, probe.of), (probe.started, 5, 10));
    let longest = Nanos::from_millis(2_000) + Nanos::from_millis(1_000);
    assert!(probe.span <= longest, "{:?}", probe.span);
}

/// Two scenarios whose users end together: half of each go on, and each is judged by its own rate. If one of them is a
/// rate, no probe is run.
#[test]
fn half_of_the_users_of_each_scenario_go_on() {
    let two = |path: &str, other: &str| {
        let mut load = plan(path, &[("-c", "40"), ("-z", "4s")]);
        let mut second = plan(other, &[("-c", "20"), ("-z", "4s")]).scenarios.remove(0);
        second.name = "second".to_owned();
        load.scenarios.push(second);
        load
    };
    let mut world = SimulatedWorld::new(5, Faults::none());
    // Both share one queue, and both are at its limit.
    let load = two("/serial/5", "/serial/5");
    let probed = world.run_and_probe(&load, 1, &Happens::default(), |_| ()).expect("a world that works");
    world.settle().expect("a world that works");
    let users: Vec<_> = probed.probes.iter().map(|probe| (probe.users, probe.of)).collect();
    assert_eq!(users, [(20, 40), (10, 20)]);
    assert_eq!(world.requests(), probed.probes.iter().map(|probe| probe.started).sum::<u64>());
    let limits = |result: &RunResult| result.scenarios.iter().map(|one| one.verdict.limit).collect::<Vec<_>>();
    assert_eq!(limits(&probed), [Limit::Target, Limit::Target]);
    // One is at the limit of its endpoint, and the other is not.
    let load = two("/serial/5", "/delay/20");
    let probed = world.run_and_probe(&load, 1, &Happens::default(), |_| ()).expect("a world that works");
    assert_eq!(limits(&probed), [Limit::Target, Limit::Below]);
    assert_eq!((probed.verdict.limit, probed.verdict.scenario), (Limit::Target, 0));
    let shown = Shown::new(&two("/delay/20", "/delay/20"), &[], &Happens::default());
    assert_eq!(shown.number("/verdict/probe/users"), 30.0);
    let mut load = two("/delay/20", "/delay/20");
    load.scenarios[1] = plan("/delay/20", &[("-q", "50"), ("-z", "4s")]).scenarios.remove(0);
    let reported = world.run(&load, 1, &Happens::default(), |_| ()).expect("a world that works");
    assert_eq!(Probing::new(&load, &reported, ProbeOption::Safe).err(), Some(NotTried::Several));
}

/// With workers, half of the users go on if each worker has enough of them, and results are reported at a longer
/// interval.
#[test]
fn each_worker_has_half_of_its_users() {
    let mut world = SimulatedWorld::new(5, Faults::none());
    for (users, why) in [("6", None), ("5", Some(NotTried::FewInWorkers))] {
        let load = plan("/serial/5", &[("-c", users), ("-z", "4s")]);
        let mut reported = world.run(&load, 1, &Happens::default(), |_| ()).expect("a world that works");
        reported.workers_summary =
            Some(WorkersSummary { workers: vec![WorkerResult::default(); 3], ..WorkersSummary::default() });
        let probing = Probing::new(&load, &reported, ProbeOption::Safe);
        assert_eq!(probing.as_ref().err().copied(), why, "{users}");
        let interval = probing.ok().and_then(|probing| probing.plan().map(|plan| plan.interval));
        assert_eq!(interval, why.is_none().then_some(Duration::from_millis(50)), "{users}");
    }
}

/// Four at a time, 20 ms each on average: half of 40 users get the full rate, and their requests are in no figure of
/// the load.
#[test]
fn half_of_the_users_notify_a_target_at_its_limit() {
    let shown = Shown::plainly("/queue/4/20", &[("-c", "40"), ("-z", "4s")]);
    assert_eq!((shown.limit(), &shown.report["verdict"]["evidence"]), ("target", &"probe".into()));
    assert_eq!(shown.number("/verdict/probe/users"), 20.0);
    let [started, succeeded] = ["started", "succeeded"].map(|name| shown.count(name));
    assert!(started == succeeded && (740..=900).contains(&succeeded), "{started} {succeeded}");
    assert!(shown.number("/verdict/probe/requests") > 30.0);
    let words = shown.words();
    assert!(words.starts_with("the target is at its limit, ") && words.contains("more users only wait"), "{words}");
}

#[test]
fn a_plan_that_is_kept_is_said() {
    let shown = Shown::plainly("/delay/5", &[("-q", "200"), ("-z", "3s")]);
    assert_eq!((shown.limit(), &shown.report["verdict"]["is_unreliable"]), ("plan_kept", &false.into()));
    let words = shown.words();
    assert!(words.starts_with("the plan was kept: 600 starts at 200/s; of all requests lateness p99 "), "{words}");
}

/// Without a number of connections each start gets its own: no start waits for a connection, and yet more requests
/// start than complete.
#[test]
fn a_backlog_in_flight_accuses_the_target() {
    let shown = Shown::plainly("/serial/5", &[("-q", "400"), ("-z", "3s")]);
    assert_eq!(shown.limit(), "target");
    // Half of the 1,200 starts were served by then.
    let at_end = shown.number("/verdict/backlog/at_end");
    assert!((598.0..=602.0).contains(&at_end), "{at_end}");
    // A slow target that keeps up has as many in flight halfway as at the end.
    let slow = Shown::plainly("/delay/900", &[("-q", "100"), ("-z", "3s")]);
    assert_eq!((slow.limit(), &slow.report["verdict"]["backlog"]), ("plan_kept", &serde_json::Value::Null));
}

/// A connection that waits 5 ms for each response carries 200/s: that the rest of the requested rate is missing cannot
/// be attributed to the target.
#[test]
fn too_few_connections_are_reported_from_a_slow_target() {
    let shown = Shown::plainly("/delay/5", &[("-q", "500"), ("-c", "1"), ("-z", "2s")]);
    assert_eq!((shown.limit(), &shown.report["verdict"]["figures"]["reason"]), ("unknown", &"all_busy".into()));
    let words = shown.words();
    assert!(
        words.ends_with("starts waited for one of 1 connection; whether more of them give more is not known: try -c 2"),
        "{words}"
    );
}

/// Users of a target that hangs since the warm-up are measured for as long as they have waited, and no threshold is
/// met.
#[test]
fn a_warmup_that_hangs_meets_no_threshold() {
    let hung = plan("/delay/5000", &[("-c", "2"), ("-z", "500ms"), ("--warmup", "300ms"), ("--grace", "100ms")]);
    let shown = Shown::new(&hung, &["failed < 1"], &Happens::default());
    let summary = shown.summary(Language::En);
    assert!(
        summary.contains("0 started + 2 in flight since the warm-up = 0 succeeded + 0 failed + 2 unfinished"),
        "{summary}"
    );
    assert!(summary.contains("failed < 1: 0 - 2, NOT MET") && summary.contains("p50 >=900.0ms"), "{summary}");
    assert_eq!((shown.limit(), shown.count("carried"), shown.run.judged[0].judgement.holds), ("target", 2, false));
    let wall = shown.number("/wall_s");
    assert!((0.6..0.601).contains(&wall), "the time and the grace: {wall} s");
}

/// A target that stalls for one of five seconds of a load at a rate, which is reported with its instants: a fifth of
/// the requests met it.
#[test]
fn a_stall_within_a_rate_is_reported() {
    let load = plan("/delay/1", &[("-q", "100"), ("-z", "5s")]);
    let freeze = (Nanos::from_millis(2_000), Nanos::from_millis(3_000));
    let shown = Shown::new(&load, &[], &Happens { target_stalls: vec![freeze], ..Happens::default() });
    assert_eq!(shown.report["verdict"]["evidence"], "stalled", "{}", shown.words());
    let [from, to] = ["from_s", "to_s"].map(|name| shown.number(&format!("/verdict/figures/{name}")));
    assert!((1.9..=2.1).contains(&from) && (2.9..=3.1).contains(&to), "{from} {to}");
}

/// Two concurrent scenarios: 50 users who wait 20 ms, and one who waits 400 ms from the third of four seconds on. Each
/// has a rate of its own, and that of the second is over the time in which it was active.
#[test]
fn scenarios_have_rates_of_their_own() {
    let mut load = plan("/delay/20", &[("-c", "50"), ("-z", "4s")]);
    let mut second = plan("/delay/400", &[("-c", "1"), ("-z", "2s")]).scenarios.remove(0);
    (second.name, second.begin) = ("watcher".to_owned(), Duration::from_secs(2));
    load.scenarios.push(second);
    let shown = Shown::new(&load, &[], &Happens::default());
    let rate = |number: usize| shown.number(&format!("/scenarios/{number}/requests_per_s"));
    assert!((2_475.0..=2_500.0).contains(&rate(0)), "{}", rate(0));
    assert!((2.0..=2.5).contains(&rate(1)), "{}", rate(1));
    // The run is as long as the first scenario.
    let sum = shown.number("/requests_per_s");
    assert!((sum - rate(0) - rate(1) / 2.0).abs() < 0.01 * sum, "{sum}");
}

/// A request count ends the load, so half of its users never run alone: the first round shows the queueing.
#[test]
fn a_load_that_a_number_ends_is_judged_by_its_first_round() {
    let shown = Shown::plainly("/serial/5", &[("-c", "50"), ("-n", "400")]);
    assert_eq!((shown.limit(), &shown.report["verdict"]["evidence"]), ("target", &"first_round".into()));
    let share = shown.number("/verdict/figures/time_share");
    assert!((0.45..=0.55).contains(&share), "{share}");
    assert!(shown.words().starts_with("the target is at its limit, 2"), "{}", shown.words());
    assert_eq!(shown.count("started"), 400);
    let shown = Shown::plainly("/delay/20", &[("-c", "50"), ("-n", "1000")]);
    assert_eq!((shown.limit(), &shown.report["verdict"]["figures"]["reason"]), ("unknown", &"counted".into()));
}
