//! Who was the limit, what is said while a load runs, and the self-test. One test at a time: what others do on the cores
//! would be part of the answer.

#[path = "../binary/mod.rs"]
mod binary;
#[path = "../../../target/tests/calm/mod.rs"]
mod calm;
mod limits;
mod searches;

use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard};

use binary::{Served, onrush, output, report, text};
use calm::Calm;
use serde_json::Value;

static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The report of a run, and whether the generator was disturbed in it: by what it says of its own threads, not of its verdict.
fn judged(args: &[&str]) -> (Value, bool) {
    let args: Vec<&str> = args.iter().copied().chain(["--output", "json"]).collect();
    let report = report(&output(&args));
    let is_late = |shard: &Value| {
        shard["saturated_share"].as_f64() >= Some(0.2)
            || shard["run_delay_share"].as_f64() >= Some(0.2)
            || shard["stalled_s"].as_f64() >= Some(0.02)
            || shard["loop_lag_p99_ns"].as_u64() > Some(2_000_000)
    };
    let is_disturbed = report["generator"]["shards"].as_array().expect("a list").iter().any(is_late)
        || report["verdict"]["lateness_p99_ns"].as_u64() > Some(10_000_000);
    (report, is_disturbed)
}

/// Who was the limit, unless a disturbed generator says that it was. Gives the report where nobody was disturbed. The same loads run
/// in the simulator, where nothing disturbs them.
fn verdict_is(limit: &str, args: &[&str]) -> Option<Value> {
    let (report, is_disturbed) = judged(args);
    if is_disturbed && report["verdict"]["limit"] == "generator" {
        assert_eq!(report["verdict"]["is_spoiled"], true);
        return None;
    }
    assert_eq!(report["verdict"]["limit"], limit, "{:#} {:#}", report["verdict"], report["generator"]);
    (!is_disturbed).then_some(report)
}

/// A program that takes all of one core.
struct Busy(Child);

impl Busy {
    fn on_core(core: &str) -> Self {
        let busy = ["-c", core, "sh", "-c", "while :; do :; done"];
        Self(Command::new("taskset").args(busy).stdin(Stdio::null()).spawn().expect("taskset starts"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// All shards on one core that something else uses too, and a target that answers at once.
#[test]
fn the_generator_accuses_itself() {
    let _alone = alone();
    let served = Served::start();
    let pinned = Command::new("taskset").args(["-pc", "1", &served.child.id().to_string()]).output();
    assert!(pinned.is_ok_and(|done| done.status.success()), "the target gets a core of its own");
    let _busy = Busy::on_core("0");
    let url = served.url("/");
    let run = |more: &[&str]| {
        let program = env!("CARGO_BIN_EXE_onrush");
        let mut command = Command::new("taskset");
        command.args(["-c", "0", program, "-q", "50000", "-z", "3s", "--threads", "2", &url]).args(more);
        command.env("LANG", "C.UTF-8").output().expect("it starts")
    };
    let report = report(&run(&["--output", "json"]));
    assert_eq!(report["verdict"]["limit"], "generator", "{}", report["verdict"]);
    assert_eq!(report["verdict"]["is_spoiled"], true);
    let shards = report["generator"]["shards"].as_array().expect("a list");
    // It wants nearly all of a core and gets a part; how much it is late for depends on who else wants it.
    assert!(shards.iter().any(|shard| shard["wanted_share"].as_f64() > Some(0.5)), "{shards:?}");
    let shown = run(&["--strict", "--quiet"]);
    assert_eq!(shown.status.code(), Some(1));
    let shown = text(&shown.stdout);
    assert!(shown.contains("the generator was the limit: thread") && shown.contains("SPOILED"), "{shown}");
    let chinese = text(&run(&["--quiet", "--lang", "zh"]).stdout);
    assert!(chinese.contains("瓶颈在压测机") && chinese.contains("结果不可信"), "{chinese}");
}

/// A closed load whose thread has a core for half of the time: the answers are quick, and half of what is measured is ours.
#[test]
fn a_thread_that_shares_its_core_is_no_limit_of_the_users() {
    let _alone = alone();
    let served = Served::start();
    let pinned = Command::new("taskset").args(["-pc", "1", &served.child.id().to_string()]).output();
    assert!(pinned.is_ok_and(|done| done.status.success()), "the target gets a core of its own");
    let _busy = Busy::on_core("0");
    for driver in ["uring", "poll"] {
        let program = env!("CARGO_BIN_EXE_onrush");
        let mut command = Command::new("taskset");
        command.args([
            "-c",
            "0",
            program,
            "-c",
            "10",
            "-z",
            "3s",
            "--threads",
            "1",
            "--output",
            "json",
            "--driver",
            driver,
        ]);
        let report = report(&command.arg(served.url("/")).env("LANG", "C.UTF-8").output().expect("it starts"));
        assert_eq!(
            report["verdict"]["limit"], "generator",
            "{driver}: {:#} {:#}",
            report["verdict"], report["generator"]
        );
    }
}

/// One at a time, 10 ms each: 100/s, and 300/s are asked.
#[test]
fn the_target_is_accused() {
    let _alone = alone();
    let served = Served::start();
    let url = served.url("/serial/10");
    let args = ["-q", "300", "-c", "20", "-z", "3s", "--max-lateness", "1s", "--strict", &url];
    let Some(report) = verdict_is("target", &args) else { return };
    assert_eq!(report["verdict"]["is_spoiled"], false);
    let words = report["verdict"]["text"].as_str().expect("a text");
    assert!(
        words.starts_with("the target was the limit: 9") || words.starts_with("the target was the limit: 10"),
        "{words}"
    );
    assert!(report["requests"]["dropped"].as_u64() > Some(300), "{}", report["requests"]);
}

/// 50 users who wait 20 ms for each answer make 2,500/s, and no target can change that.
#[test]
fn the_users_are_the_limit() {
    let _alone = alone();
    let served = Served::start();
    let Some(report) = verdict_is("users", &["-c", "50", "-z", "4s", &served.url("/delay/20")]) else { return };
    for figure in [&report["requests_per_s"], &report["verdict"]["users_can_per_s"]] {
        let per_s = figure.as_f64().expect("a number");
        assert!((2_250.0..=2_500.0).contains(&per_s), "{per_s}");
    }
}

#[test]
fn a_plan_that_is_kept_is_said() {
    let _alone = alone();
    let served = Served::start();
    let Some(report) = verdict_is("plan_kept", &["-q", "200", "-z", "3s", "--strict", &served.url("/delay/5")]) else {
        return;
    };
    let words = report["verdict"]["text"].as_str().expect("a text");
    assert!(words.contains("the plan was kept: 600 starts at 200/s"), "{words}");
}

/// Without a number of connections each start gets one: nothing waits for a connection, and yet more comes than goes.
#[test]
fn a_backlog_in_flight_accuses_the_target() {
    let _alone = alone();
    let served = Served::start();
    if let Some(report) = verdict_is("target", &["-q", "400", "-z", "3s", &served.url("/serial/5")]) {
        assert!(report["verdict"]["backlog"]["at_end"].as_u64() > Some(300), "{}", report["verdict"]);
    }
    // One that is slow, and follows, has as many in flight halfway as at the end.
    verdict_is("plan_kept", &["-q", "100", "-z", "3s", &served.url("/delay/900")]);
}

/// A connection that waits 5 ms for each answer carries 200/s: what was asked beyond it is no fault of the target.
#[test]
fn too_few_connections_are_told_from_a_slow_target() {
    let _alone = alone();
    let served = Served::start();
    let args = ["-q", "500", "-c", "1", "-z", "2s", &served.url("/delay/5")];
    let Some(report) = verdict_is("users", &args) else { return };
    let words = report["verdict"]["text"].as_str().expect("a text");
    assert!(words.starts_with("the connections were the limit: 1 connection / 5."), "{words}");
}

/// A target that hangs through the warm-up is measured as nothing, and nothing meets a threshold.
#[test]
fn a_warmup_that_hangs_meets_no_threshold() {
    let _alone = alone();
    let served = Served::start();
    let url = served.url("/delay/5000");
    let hung =
        output(&["-c", "2", "--warmup", "300ms", "-z", "500ms", "--grace", "100ms", "--threshold", "failed < 1", &url]);
    assert_eq!(hung.status.code(), Some(1), "{hung:?}");
    let shown = text(&hung.stdout);
    assert!(shown.contains("nothing was started after the warm-up") && shown.contains("NOT MET"), "{shown}");
    let dead = output(&["--warmup", "300ms", "-z", "500ms", "http://127.0.0.1:1/"]);
    assert_eq!(dead.status.code(), Some(3));
    assert!(text(&dead.stderr).contains("was established in the warm-up; start the server"), "{dead:?}");
}

/// The closed load shows no trace of a freeze but its maximum; the summary says what is hidden there, the open one what it waited.
#[test]
fn the_words_tell_what_a_freeze_does() {
    let _alone = alone();
    let served = Served::start();
    let freeze =
        || assert!(output(&["-n", "1", "-c", "1", "--quiet", &served.url("/stall/700/1000")]).status.success());
    // A freeze of a second takes a second and what a disturbed machine adds.
    let seconds = |shown: &str, behind: &str| {
        let rest = shown.split_once(behind).unwrap_or_else(|| panic!("no '{behind}' in {shown}")).1.trim_start();
        let number: String = rest.chars().take_while(|each| each.is_ascii_digit() || *each == '.').collect();
        let scale = if rest[number.len()..].starts_with("ms") { 1e3 } else { 1.0 };
        number.parse::<f64>().expect("a number") / scale
    };
    // Of a generator that stood still itself nothing is said but that.
    let shown = |words: &[&str]| {
        freeze();
        let calm = Calm::watch();
        let page = text(&output(&[words, &["-z", "3s", "--quiet"]].concat()).stdout);
        let is_ours = page.contains("SPOILED") || page.contains("结果不可信");
        assert!(!is_ours || !calm.lateness().is_calm(), "{page}");
        (!is_ours).then_some(page)
    };
    let Some(closed) = shown(&["-c", "10", &served.url("/delay/5")]) else { return };
    let most = seconds(&closed, "a closed load starts nothing while its users wait: the slowest answer took");
    assert!(most >= 0.95, "{closed}");
    let url = served.url("/");
    let open = ["-q", "1000", "-c", "10", url.as_str()];
    let chinese = shown(&[&open[..], &["--lang", "zh"]].concat());
    let Some(open) = shown(&open) else { return };
    assert!(seconds(&open, "Their p99 differ by") >= 0.9, "{open}");
    let Some(chinese) = chinese else { return };
    assert!(seconds(&chinese, "两者 p99 相差") >= 0.9, "{chinese}");
}

/// Its tolerances are for a machine that is left alone; on another one it says what is wrong, and its exit code does.
#[test]
fn the_selftest_passes_on_this_machine() {
    let _alone = alone();
    let begun = std::time::Instant::now();
    let calm = Calm::watch();
    let done = output(&["selftest"]);
    let lateness = calm.lateness();
    let shown = text(&done.stdout);
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    let wrong: Vec<&str> = shown.lines().filter(|line| line.ends_with("WRONG")).collect();
    let right = shown.lines().filter(|line| line.ends_with("  ok")).count();
    assert!(right + wrong.len() >= 23, "{shown}");
    assert_eq!(done.status.success(), wrong.is_empty(), "{shown}");
    assert!(wrong.is_empty() || !lateness.is_calm(), "on a calm machine: {wrong:#?}");
    // What is counted is right on any machine.
    let of_counts = |line: &&&str| {
        ["succeeded", "failed by status", "status 500", "bytes of bodies"].iter().any(|word| line.contains(word))
    };
    assert_eq!(wrong.iter().filter(of_counts).count(), 0, "{wrong:#?}");
}
