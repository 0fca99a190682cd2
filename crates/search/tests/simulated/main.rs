//! Searches with the real engine against the real target, in simulated worlds. The target's `/queue` is a queue whose highest load
//! theory knows.

#[path = "../theory/formulas.rs"]
#[expect(dead_code, reason = "the other searches use all of them")]
mod formulas;
mod town;

use std::time::Duration;

use search::{Ended, Found};
use town::Wanted;

/// Fixed, so that a failure can be looked at again.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=50;
const HITS_MIN: usize = 45;

fn line(found: &Found) -> String {
    format!(
        "{:?} to {:?}, {:?}, confirmed {:?}, noise {:?}, worse {}, {:.0} s",
        found.lower,
        found.upper,
        found.ended,
        found.is_confirmed,
        found.noise,
        found.is_worse,
        found.took.as_secs_f64()
    )
}

/// At least nine in ten searches have the load that theory names between their bounds.
#[track_caller]
fn covers(wanted: &Wanted, truth: f64, width: f64) {
    // Two worlds at a time: each is of one thread.
    let half = |first: u64| {
        let wanted = wanted.clone();
        std::thread::spawn(move || {
            let seeds = SEEDS.filter(move |seed| seed % 2 == first);
            seeds.map(|seed| (seed, town::search(&wanted, seed))).collect::<Vec<_>>()
        })
    };
    let both = [half(0), half(1)];
    let all: Vec<(u64, Found)> = both.into_iter().flat_map(|half| half.join().expect("a search ends")).collect();
    let is_hit = |found: &Found| {
        found.lower.is_none_or(|lower| lower <= truth) && found.upper.is_none_or(|upper| truth < upper)
    };
    for (seed, found) in all.iter().filter(|(_, found)| !is_hit(found)) {
        println!("seed {seed}: {truth:.1} is not in {}", line(found));
    }
    let mut widths: Vec<f64> =
        all.iter().map(|(_, found)| found.middle().map_or(f64::INFINITY, |(_, half)| half * 2.0)).collect();
    widths.sort_by(f64::total_cmp);
    let (hits, middle) = (all.iter().filter(|(_, found)| is_hit(found)).count(), widths[widths.len() / 2]);
    println!("{}: {hits} of {} around {truth:.1}, {:.1} % wide", wanted.url, all.len(), middle * 100.0);
    assert!(hits >= HITS_MIN && middle <= width, "{}: {hits} hit {truth}, {middle} wide", wanted.url);
}

fn wanted(url: &str, limit_ms: u64, budget_s: u64) -> Wanted {
    Wanted {
        url: url.to_owned(),
        is_random: true,
        has_users: false,
        limit: Duration::from_millis(limit_ms),
        budget: Duration::from_secs(budget_s),
        stalls: Vec::new(),
    }
}

#[test]
fn random_arrivals_and_services() {
    let truth = formulas::mmc_rate(4, 0.008, 0.080, 0.01);
    covers(&wanted("/queue/4/8", 80, 240), truth, 0.4);
}
