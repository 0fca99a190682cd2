//! What a load on this machine tells of itself, judged by what is counted. Who is the limit, and what a freeze does to times, is judged
//! where time is virtual: `selftest/tests`.

#[macro_use]
extern crate claims;

#[path = "../binary/mod.rs"]
mod binary;
mod limits;
mod searches;
#[path = "../seen/mod.rs"]
mod seen;

use binary::{Served, onrush, output, report, text};

/// A target that hangs through the warm-up meets no threshold, whatever was started behind it: nothing that was measured has ended. One
/// that is not there at all ends a load of an hour.
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

/// Figures of the self-test in which no time of this machine can be.
const COUNTS: [&str; 5] = ["succeeded", "failed by status", "status 500", "bytes of bodies", "started"];

/// Its tolerances are for a machine that is left alone. On any machine it judges all of its figures, says the same of them as its exit
/// code, and what it only counts is right. That all of them are right where no machine is in them, its own tests show.
#[test]
fn the_selftest_passes_on_this_machine() {
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
    // Of four loads nothing but counts is told, or their starts beside times.
    assert_eq!(counted.count(), 7, "{shown}");
}
