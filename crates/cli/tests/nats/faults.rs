//! Faults of workers, of their leader and of their bus, on machines of a network: in each case nothing is started twice
//! or late, and the target's count is that of the report, by worker and by second.

use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use super::binary::{report, text};
use super::bus::NatsServer;
use super::scene::{FIRST, LEADER, RATE, STANDBY, Scene, TOGETHER, signal};
use super::seen::wait_for;
use super::target::Truth;
use super::way::Way;
use super::{of_workers, started};

/// Out of reach for longer than its lease, and back: others had its share, and it takes part again.
#[test]
fn a_worker_that_is_cut_off_from_the_bus_for_six_seconds() {
    let scene = Scene::begun("cut6", 3, 26, &[]);
    scene.net.cut_from(FIRST + 1, &scene.bus_address());
    sleep(Duration::from_secs(6));
    scene.net.mend_to(FIRST + 1, &scene.bus_address());
    let name = scene.address(1);
    let (judged, report) = scene.judged();
    assert_eq!(judged.unknown, 0, "{judged:?}");
    // From the end of its lease to the move at most, a third of the load.
    assert!(judged.undelivered <= 7 * RATE / 3, "{judged:?}");
    assert_eq!(judged.missing.len() as u64, judged.undelivered, "{judged:?}");
    let each = report["workers"]["list"].as_array().expect("workers");
    let lives = each.iter().filter(|each| each["name"] == name.as_str()).count();
    assert_eq!(lives, 2, "it came back: {:#}", report["workers"]);
}

#[test]
fn a_worker_that_is_cut_off_from_the_bus_for_a_minute() {
    let scene = Scene::begun("cut60", 3, 90, &[]);
    scene.net.cut_from(FIRST, &scene.bus_address());
    sleep(Duration::from_secs(60));
    scene.net.mend_to(FIRST, &scene.bus_address());
    let (judged, _) = scene.judged();
    assert_eq!((judged.unknown, judged.missing.len() as u64), (0, judged.undelivered), "{judged:?}");
    assert!(judged.undelivered <= 7 * RATE / 3, "{judged:?}");
}

/// A stalled process makes up for nothing when it goes on.
#[test]
fn a_worker_that_stands_still_for_eight_seconds() {
    let scene = Scene::begun("still", 3, 28, &[]);
    signal(&scene.workers[2].0, Signal::STOP);
    sleep(Duration::from_secs(8));
    signal(&scene.workers[2].0, Signal::CONT);
    let (judged, _) = scene.judged();
    assert_eq!((judged.unknown, judged.missing.len() as u64), (0, judged.undelivered), "{judged:?}");
    assert!((RATE..=8 * RATE / 3).contains(&judged.undelivered), "{judged:?}");
}

/// The cable of a worker's machine: it reaches neither the bus nor the target.
#[test]
fn a_machine_whose_cable_is_pulled() {
    let mut scene = Scene::begun("cable", 3, 30, &[]);
    scene.net.cut(FIRST);
    sleep(Duration::from_secs(10));
    scene.net.mend(FIRST);
    let done = scene.leader.take().expect("it leads").wait_with_output().expect("it ends");
    let report = report(&done);
    let truth = Truth::new(&scene.target.came(), RATE);
    let (started, undelivered) = (started(&report), of_workers(&report, "undelivered"));
    let failed = report["requests"]["failed"].as_u64().expect("a number");
    let unfinished = report["requests"]["unfinished"].as_u64().expect("a number");
    assert_eq!(of_workers(&report, "unaccounted"), 0, "{:#}", report["workers"]);
    assert_eq!(started + undelivered, 30 * RATE, "{:#}", report["workers"]);
    assert_eq!(truth.twice, Vec::<u64>::new());
    let came = truth.numbers.len() as u64;
    assert!((started - failed - unfinished..=started).contains(&came), "{started} {failed} {unfinished} {came}");
}

/// The leader is stalled: no worker goes on without it, and it goes on with all of them.
#[test]
fn a_leader_that_stands_still_for_eight_seconds() {
    let mut scene = Scene::begun("leader-still", 3, 28, &[]);
    let since = Instant::now();
    signal(scene.leader.as_ref().expect("it leads"), Signal::STOP);
    sleep(Duration::from_secs(8));
    signal(scene.leader.as_ref().expect("it leads"), Signal::CONT);
    let still = since.elapsed();
    let (judged, _) = scene.judged_of();
    assert_eq!((judged.unknown, judged.missing.len() as u64), (0, judged.undelivered), "{judged:?}");
    // They go on for 4 s of it at least, and again within 7 s after it.
    assert!(judged.undelivered <= (still.as_secs() + 1 + 3) * RATE, "{} after {still:?}", judged.undelivered);
    // Each worker reports why it starts nothing, once.
    for worker in 0..3 {
        let reported = scene.reported(worker);
        assert_eq!(reported.matches("the leader does not answer").count(), 1, "{reported}");
    }
}

/// The leader receives late from the bus, from the beginning and then: nothing is missing of what three workers did.
fn led_from_remote(name: &str, before: u64, then: u64) -> Value {
    let mut scene = Scene::prepared(name, 3, 15);
    let way = Way::on(&scene.net, LEADER, scene.bus.address());
    way.takes(Duration::from_millis(before));
    scene.leader = Some(scene.leads_by(&format!("nats://{}/faults", way.address), LEADER, &[]));
    scene.has_begun();
    way.takes(Duration::from_millis(then));
    let (judged, report) = scene.judged_of();
    assert_eq!((judged.undelivered, judged.unknown, judged.missing.len()), (0, 0, 0), "{judged:?}");
    report
}

/// All that it receives becomes nearly a second old: it leads all the same, and reports that it is slow.
#[test]
fn a_leader_that_is_slow() {
    let report = led_from_remote("leader-slow", 0, 850);
    let late = report["workers"]["ingest_delay_s"].as_f64().expect("a time");
    assert!((0.8..3.0).contains(&late), "{late} s late");
}

/// Everything is far away from the beginning: it gets workers ready, and leads.
#[test]
fn a_leader_that_is_far_away() {
    led_from_remote("leader-far", 600, 600);
}

#[test]
fn a_leader_that_is_cut_off_from_the_bus_for_six_seconds() {
    let scene = Scene::begun("leader-cut", 3, 26, &[]);
    scene.net.cut_from(LEADER, &scene.bus_address());
    sleep(Duration::from_secs(6));
    scene.net.mend_to(LEADER, &scene.bus_address());
    let (judged, _) = scene.judged();
    assert_eq!((judged.unknown, judged.missing.len() as u64), (0, judged.undelivered), "{judged:?}");
    assert!(judged.undelivered <= 7 * RATE, "{judged:?}");
}

/// The load pauses, and goes on when the bus is there again.
#[test]
fn a_bus_that_is_gone_for_forty_seconds() {
    let mut scene = Scene::begun("gone40", 3, 70, &[]);
    scene.bus.kill();
    sleep(Duration::from_secs(40));
    scene.bus.begin();
    let (judged, report) = scene.judged();
    assert_eq!((judged.unknown, judged.missing.len() as u64), (0, judged.undelivered), "{judged:?}");
    assert!((30 * RATE..=46 * RATE).contains(&judged.undelivered), "{judged:?}");
    let still = report["workers"]["stalled_s"].as_f64().expect("a number");
    assert!((30.0..=46.0).contains(&still), "{still}");
}

/// A worker that joins later has its share from then on, and nothing is lost.
#[test]
fn a_worker_that_joins_a_run() {
    let mut scene = Scene::begun("joins", 2, 24, &[]);
    scene.joins();
    let name = scene.address(2);
    let (judged, report) = scene.judged();
    assert_eq!((judged.started, judged.undelivered, judged.unknown), (24 * RATE, 0, 0), "{judged:?}");
    let each = report["workers"]["list"].as_array().expect("workers");
    let new = each.iter().find(|each| each["name"] == name.as_str()).expect("it took part");
    assert!(new["started"].as_u64() > Some(RATE), "{:#}", report["workers"]);
}

/// The standby takes the run over: the load never pauses, and no earlier report is lost.
#[test]
fn a_leader_that_is_killed() {
    let mut scene = Scene::begun("leader-killed", 3, 20, &[]);
    let standby = scene.leads_on(STANDBY, &["--standby"]);
    sleep(Duration::from_secs(2));
    let mut leader = scene.leader.take().expect("it leads");
    leader.kill().expect("it is there");
    leader.wait().expect("it ends");
    let (judged, _) = scene.judged_by(standby);
    assert_eq!((judged.started, judged.undelivered, judged.unknown), (20 * RATE, 0, 0), "{judged:?}");
}

/// A leader that is back after another one took over has no say any more, and reports that.
#[test]
fn a_leader_that_is_cut_off_while_another_one_stands_by() {
    let mut scene = Scene::begun("two-leaders", 3, 24, &[]);
    let standby = scene.leads_on(STANDBY, &["--standby"]);
    sleep(Duration::from_secs(2));
    scene.net.cut_from(LEADER, &scene.bus_address());
    sleep(Duration::from_secs(8));
    scene.net.mend_to(LEADER, &scene.bus_address());
    let done = scene.leader.take().expect("it leads").wait_with_output().expect("it ends");
    assert!(done.status.code() == Some(4) && text(&done.stderr).contains("taken the run over"), "{done:?}");
    let (judged, _) = scene.judged_by(standby);
    assert_eq!((judged.started, judged.undelivered, judged.unknown), (24 * RATE, 0, 0), "{judged:?}");
}

/// A standby for a run that ends by itself has nothing to do, nor one for a run without a leader.
#[test]
fn nobody_has_to_take_over() {
    let mut scene = Scene::begun("stood-by", 2, 6, &[]);
    let standby = scene.leads_on(STANDBY, &["--standby"]);
    let leader = scene.leader.take().expect("it leads");
    let (judged, _) = scene.judged_by(leader);
    assert_eq!(judged.started, 6 * RATE, "{judged:?}");
    let done = standby.wait_with_output().expect("it ends");
    assert!(done.status.success() && text(&done.stderr).contains("has its report"), "{done:?}");
    let came = scene.target.count();
    sleep(Duration::from_secs(3));
    assert_eq!(scene.target.count(), came, "it is not run again");
}

/// A bus whose stream is full: workers keep their reports, the leader makes room, and everything is reported.
#[test]
fn a_stream_that_is_full() {
    let scene = Scene::prepared("full", 2, 16);
    let mut scene = scene;
    scene.bus.makes_stream("faults", 24_000);
    scene.leads(&[]);
    let (judged, report) = scene.judged();
    assert_eq!((judged.started, judged.undelivered, judged.unknown), (16 * RATE, 0, 0), "{judged:?}");
    let each = report["workers"]["list"].as_array().expect("workers");
    assert!(each.iter().any(|each| each["bus_was_full"] == true), "{:#}", report["workers"]);
}

/// A bus that keeps only the latest reports: a leader that takes the run over begins with the checkpoint.
#[test]
fn a_leader_that_is_killed_on_a_full_bus() {
    let mut scene = Scene::prepared("full-led", 3, 26);
    scene.bus.makes_stream("faults", 24_000);
    scene.leads(&[]);
    scene.has_begun();
    let standby = scene.leads_on(STANDBY, &["--standby"]);
    wait_for("what was told first is gone", || scene.bus.first_kept("faults") > 10);
    let mut leader = scene.leader.take().expect("it leads");
    leader.kill().expect("it is there");
    leader.wait().expect("it ends");
    let (judged, _) = scene.judged_by(standby);
    assert_eq!((judged.started, judged.undelivered, judged.unknown), (26 * RATE, 0, 0), "{judged:?}");
}

/// Ctrl-C ends a run on all workers, with a report of what was done until then.
#[test]
fn a_run_that_is_stopped() {
    let mut scene = Scene::begun("stopped", 3, 30, &[]);
    signal(scene.leader.as_ref().expect("it leads"), Signal::INT);
    let done = scene.leader.take().expect("it leads").wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(130), "{done:?}");
    let report = report(&done);
    let truth = Truth::new(&scene.target.came(), RATE);
    assert_eq!((started(&report), truth.twice.len()), (truth.numbers.len() as u64, 0), "{:#}", report["workers"]);
    assert_eq!((of_workers(&report, "undelivered"), of_workers(&report, "unaccounted")), (0, 0));
}

/// A crossed threshold ends the run on all workers.
#[test]
fn a_run_that_a_threshold_ends() {
    let mut scene = Scene::prepared("threshold", 3, 60);
    scene.leads(&["--threshold", "p50 < 1ns, abort 2s"]);
    let done = scene.leader.take().expect("it leads").wait_with_output().expect("it ends");
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    let report = report(&done);
    let truth = Truth::new(&scene.target.came(), RATE);
    assert_eq!((started(&report), truth.twice.len()), (truth.numbers.len() as u64, 0), "{:#}", report["workers"]);
    assert!(started(&report) < 10 * RATE, "{}", started(&report));
}

/// A bus that does not come back: Ctrl-C ends the run with the received reports, and all other starts are unaccounted
/// for or undelivered.
#[test]
fn a_bus_that_is_gone_for_good() {
    let mut scene = Scene::begun("gone", 2, 60, &[]);
    sleep(Duration::from_secs(2));
    scene.bus.kill();
    sleep(Duration::from_secs(8));
    let leader = scene.leader.take().expect("it leads");
    signal(&leader, Signal::INT);
    let since = Instant::now();
    let done = leader.wait_with_output().expect("it ends");
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    assert_eq!(done.status.code(), Some(130), "{}", text(&done.stderr));
    let (report, came) = (report(&done), scene.target.came());
    let (started, unknown) = (started(&report), of_workers(&report, "unaccounted"));
    assert!(started > RATE && (started..=started + unknown).contains(&(came.len() as u64)), "{started} + {unknown}");
}

/// Clocks that are wrong by minutes and by days change nothing: all begin at one instant, as the target sees it.
#[test]
fn clocks_that_are_wrong() {
    let mut scene = Scene::prepared("clocks", 1, 12);
    scene.joins_with_clock(120);
    scene.joins_with_clock(1_000_000);
    scene.leads(&[]);
    let (judged, _) = scene.judged_of();
    assert_eq!((judged.undelivered, judged.unknown, judged.missing.len()), (0, 0, 0), "{judged:?}");
    let late = Truth::lateness(&scene.target.came(), RATE);
    let (least, most) = (late.values().min().expect("three"), late.values().max().expect("three"));
    assert!(late.len() == 3 && *most - *least <= TOGETHER, "{late:?}");
}

/// Ctrl-C ends one worker: it releases its share and reports all that it did.
#[test]
fn a_worker_that_is_stopped() {
    let scene = Scene::begun("leaves", 3, 18, &[]);
    signal(&scene.workers[1].0, Signal::INT);
    let (judged, _) = scene.judged();
    assert_eq!((judged.unknown, judged.missing.len() as u64), (0, judged.undelivered), "{judged:?}");
    assert!(judged.undelivered <= 3 * RATE / 3, "{judged:?}");
}

/// Three servers with three replicas: the leader of the stream is killed, and nothing is lost.
#[test]
fn a_server_of_three_that_is_killed() {
    let mut scene = Scene::with("three-servers", 3, 30, NatsServer::three);
    scene.leads(&[]);
    scene.has_begun();
    scene.bus.kill_leader_of("onrush_faults_news");
    let (judged, _) = scene.judged();
    assert_eq!((judged.unknown, judged.missing.len() as u64), (0, judged.undelivered), "{judged:?}");
    // While they elect another one, the leader of the run may lose its lease.
    assert!(judged.undelivered <= 10 * RATE, "{judged:?}");
}
