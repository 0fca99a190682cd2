//! Reports of a load on this machine, checked by counts. The bottleneck, and the effect of a freeze on times, are
//! tested in virtual time: `selftest/tests`.

#[macro_use]
extern crate claims;

#[path = "../binary/mod.rs"]
mod binary;
mod limits;
mod searches;
#[path = "../seen/mod.rs"]
mod seen;

use binary::{Served, onrush, output, report, text};

/// A target that hangs through the warm-up meets no threshold, whatever was started after it: no measured exchange has
/// ended. One that is unreachable ends a load of an hour.
#[test]
fn a_warmup_that_hangs_meets_no_threshold() {
    let served = Served::start();
    let url = served.url("/delay/3600000");
    let words = ["-c", "2", "--warmup", "200ms", "-z", "200ms", "--grace", "50ms", "--threshold", "failed < 1", &url];
    let hung = output(&words);
    assert_eq!(hung.status.code(), Some(1), "{hung:?}");
    assert!(text(&hung.stdout).contains("NOT MET"), "{hung:?}");
    let dead = output(&["--warmup", "1h", "-z", "1h", "http://127.0.0.1:1/"]);
    assert_eq!(dead.status.code(), Some(3));
    assert!(text(&dead.stderr).contains("was established in the warm-up; start the server"), "{dead:?}");
}

/// Figures of the self-test that contain no time of this machine.
const COUNTS: [&str; 5] = ["succeeded", "failed by status", "status 500", "bytes of bodies", "started"];

/// Its tolerances are for an idle machine. On any machine it checks all of its figures, its text matches its exit code,
/// and its counts are right. That all of them are right without the influence of a machine is shown by its own tests.
#[test]
fn the_selftest_judges_all_its_figures() {
    let done = output(&["selftest", "--driver", "poll"]);
    let shown = text(&done.stdout);
    let ends = |end: &str| shown.lines().filter(|line| line.ends_with(end)).collect::<Vec<_>>();
    let (right, wrong) = (ends("  ok"), ends("  WRONG"));
    assert_eq!(right.len() + wrong.len(), 23, "{shown}");
    assert_eq!(done.status.code(), Some(i32::from(!wrong.is_empty())), "{shown}");
    let sum = match wrong.len() {
        0 => "all 23 figures are what they must be".to_owned(),
        wrong => format!("{wrong} of 23 figures are not what they must be"),
    };
    assert!(shown.contains(&sum), "{shown}");
    let counted = right.iter().filter(|line| COUNTS.iter().any(|name| line.contains(name)));
    // Of four loads only counts are reported, or their starts with times.
    assert_eq!(counted.count(), 7, "{shown}");
}
