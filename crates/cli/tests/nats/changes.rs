//! A load that is changed while the leader is out of reach: each worker goes on as before until it learns of it, and
//! the accounting shows that.

use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::binary::{onrush, report, text};
use super::journals::{imported_at_end, journals_of_workers};
use super::scene::{LEADER, RATE, Scene, TOKEN, started_by};
use super::target::Truth;
use super::{of_workers, started};

const SECONDS: u64 = 24;
const CHANGED: u64 = 100;

/// The planned starts and their outcome: all of them are accounted for, also by journals alone.
fn is_accounted_for(report: &Value, came: u64) -> i64 {
    let changed = &report["changes"][0];
    let at_s = changed["at_s"].as_f64().unwrap_or_else(|| panic!("a change: {report:#}"));
    let planned = at_s * RATE as f64 + (SECONDS as f64 - at_s) * CHANGED as f64;
    let otherwise = report["workers"]["late_change_delta"].as_i64().expect("a number");
    let (undelivered, unknown) = (of_workers(report, "undelivered"), of_workers(report, "unaccounted"));
    let all = (started(report) + undelivered + unknown) as f64;
    // The fraction of a start where the rate changes.
    assert!((planned + otherwise as f64 - all).abs() <= 2.0, "{planned} planned, {all} known: {:#}", report["workers"]);
    assert_eq!((started(report), unknown), (came, 0), "{:#}", report["workers"]);
    otherwise
}

#[test]
fn a_change_that_comes_late() {
    let mut scene = Scene::begun("changed-late", 3, SECONDS, &["--web"]);
    scene.net.cut_from(LEADER, &scene.bus_address());
    let mut requested = onrush(&["ctl", "rate", &format!("{CHANGED}/s")]);
    requested.env("ONRUSH_WEB_TOKEN", TOKEN);
    let requested = scene.net.on(LEADER, &requested).output().expect("it starts");
    assert!(requested.status.success(), "{requested:?}");
    // The change takes effect in about two seconds, while workers still have their leases.
    sleep(Duration::from_millis(3_800));
    scene.net.mend_to(LEADER, &scene.bus_address());
    let done = scene.leader.take().expect("it leads").wait_with_output().expect("it ends");
    assert!(matches!(done.status.code(), Some(0 | 1)), "{}", text(&done.stderr));
    let (report, truth) = (report(&done), Truth::new(&scene.target.came(), RATE));
    assert_eq!(truth.twice, Vec::<u64>::new());
    let came = truth.numbers.len() as u64;
    let otherwise = is_accounted_for(&report, came);
    let late = report["workers"]["change_delay_s"].as_f64().expect("a time");
    // A load that was slowed down late has started more.
    assert!(otherwise > 0 && (0.2..10.0).contains(&late), "{otherwise} after {late} s: {:#}", report["workers"]);
    assert_eq!(truth.of, started_by(&report));
    let imported = imported_at_end(&journals_of_workers(&scene));
    assert_eq!(is_accounted_for(&imported, came), otherwise);
    for name in ["undelivered", "late_change_delta", "change_delay_s"] {
        assert_eq!(imported["workers"][name], report["workers"][name], "{name}");
    }
}
