//! A search with real sockets, by what both sides counted. That the theoretical load lies between the bounds of
//! searches in virtual time, and that a limit of ours is never attributed to the target, is tested in
//! `search/tests/simulated`.

use crate::seen::stats;
use crate::{Served, output, report};

/// A search of four trials.
fn counts_agree(driver: &str) {
    let served = Served::start();
    let url = served.url("/queue/4/8");
    let words = ["find-max", "--goal", "p99(response_time) < 80ms", "--arrivals", "poisson", "--no-save"];
    let more = ["--trials", "4", "--budget", "10s", "--driver", driver, "--output", "json", &url];
    let value = report(&output(&[&words[..], &more].concat()));
    let trials = value["trials"].as_array().expect("a list");
    let numbers: Vec<u64> = trials.iter().filter_map(|trial| trial["number"].as_u64()).collect();
    assert!(trials.len() <= 4 && numbers == (1..=trials.len() as u64).collect::<Vec<_>>(), "{driver}: {value:#}");
    // Each trial sent something and lost no more than that; the target has the sum of all trials, plus the requests
    // before and between them.
    let [mut of, mut done] = [0, 0];
    claims::as_one(|| {
        for trial in trials {
            let lost = &trial["lost"][0];
            let [lost, all] = ["lost", "of"].map(|name| lost[name].as_u64().expect("a count"));
            assert!(all > 0 && lost <= all, "{driver}: {trial:#}");
            (of, done) = (of + all, done + all - lost);
        }
    });
    let stats = stats(&served);
    let served = stats["requests_by_path"]["/queue"].as_u64().unwrap_or_else(|| panic!("no /queue in {stats:#}"));
    assert!(done <= served && done > 0, "{driver}: {done} of {of} were done, and the target had {served}");
    let (lower, upper) = (value["lower_per_s"].as_f64(), value["upper_per_s"].as_f64());
    assert!(lower.zip(upper).is_none_or(|(lower, upper)| lower < upper), "{driver}: {lower:?} to {upper:?}");
}

#[test]
fn what_a_search_counts_the_target_counts() {
    for driver in ["uring", "poll"] {
        counts_agree(driver);
    }
}
