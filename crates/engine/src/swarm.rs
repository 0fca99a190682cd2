//! The real engine, the real protocol and the real target in a simulated world. A seed makes up a plan, a network and its
//! faults; checkers look at every turn and at the end. A failing seed is replayed with `cargo xtask sim --seed N`.
#![expect(clippy::print_stdout, reason = "a replay is there to be read")]

mod changes;
mod checks;
mod history;
mod oracles;
mod plans;
pub(crate) mod plant;
mod stalls;

use std::fmt::Write;

use history::{History, Setting};
use metrics::{Class, Measure};
use plan::{Load, UserShape};
use plant::Bug;

use crate::idle::QUIET;

/// The seeds of the swarm; `ONRUSH_SEEDS` asks for another number.
const SEEDS: u64 = 500;

/// A run of a seed, checked.
fn checked(setting: Setting, is_traced: bool) -> Result<History, String> {
    let seed = setting.seed;
    history::run(setting, is_traced)
        .and_then(|history| checks::all(&history).map(|()| history))
        .map_err(|found| format!("seed {seed}: {found}\nreplay it with: cargo xtask sim --seed {seed}"))
}

/// All that a report is made of, as text.
fn digest(history: &History) -> String {
    let mut text = format!("{:?} {:?}", history.total.counts, history.wall);
    for class in Class::ALL {
        let timings = history.total.class(class);
        for measure in Measure::ALL {
            let of = timings.of(measure);
            let _ = write!(text, " {} {} {:?}", of.count(), of.sum(), [0.5, 0.9, 0.99].map(|q| of.quantile(q)));
        }
    }
    let connect = &history.total.connect;
    let _ = write!(text, " connect {} {}", connect.count(), connect.sum());
    text
}

#[test]
fn many_seeds() {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let asked = std::env::var("ONRUSH_SEEDS").ok().map(|text| text.parse().expect("ONRUSH_SEEDS is a number"));
    let begun = std::time::Instant::now();
    let (mut exchanges, mut failed, mut faults) = (0, 0, 0);
    let mut reasons = std::collections::BTreeMap::new();
    for seed in 0..asked.unwrap_or(SEEDS) {
        let history = checked(Setting::of(seed), false).unwrap_or_else(|found| panic!("{found}"));
        exchanges += history.total.counts.started;
        failed += history.total.counts.failed();
        faults += history.fault_count;
        for (failure, count) in history.total.counts.failures() {
            *reasons.entry(failure.name()).or_insert(0) += count;
        }
        let again = checked(Setting::of(seed), false).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!(digest(&history), digest(&again), "seed {seed} gave two reports");
    }
    println!(
        "{exchanges} exchanges, {failed} failed, {faults} faults, {:.1} s; failures: {reasons:?}",
        begun.elapsed().as_secs_f64()
    );
    assert!(faults > 0 && failed > 0 && exchanges > failed, "a swarm without faults shows nothing");
}

/// `cargo xtask sim --seed N`
#[test]
fn replay() {
    let Ok(seed) = std::env::var("ONRUSH_SEED") else { return };
    let setting = Setting::of(seed.parse().expect("ONRUSH_SEED is a number"));
    println!("{setting:#?}");
    match checked(setting, true) {
        Ok(history) => println!("{:#?}\nall checks hold", history.total.counts),
        Err(found) => panic!("{found}"),
    }
}

/// Some seed must show the bug, and the finding must say what is wrong.
fn is_caught(bug: Bug, words: &[&str]) {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let found: Vec<String> = (0..40)
        .filter_map(|seed| {
            plant::plant(Some(bug), 1 + seed as u32 % 5);
            let found = checked(Setting::of(seed), false).err();
            plant::plant(None, 0);
            found
        })
        .collect();
    assert!(found.len() >= 30, "{bug:?} was met by {} of 40 seeds only: {found:#?}", found.len());
    for text in found {
        assert!(words.iter().any(|word| text.contains(word)), "{bug:?} is called: {text}");
    }
}

#[test]
fn a_lost_completion_is_caught() {
    is_caught(Bug::LostCompletion, &["started", "attempts for", "no end"]);
}

#[test]
fn a_double_count_is_caught() {
    is_caught(Bug::DoubleCount, &["started"]);
}

#[test]
fn a_leaked_slot_is_caught() {
    is_caught(Bug::LeakedSlot, &["attempts for", "two attempts", "belongs to no exchange"]);
}

/// A driver that loses a completion: in a calm world every exchange of a closed load must succeed, and there one does not.
#[test]
fn a_completion_that_the_driver_loses_is_caught() {
    let is_plain = |setting: &Setting| {
        let is_closed = matches!(setting.plan.scenarios[0].load, Load::Closed { shape: UserShape::AtOnce, .. });
        is_closed && setting.plan.warmup.is_zero()
    };
    let calm = (0..5_000).map(Setting::of).filter(|setting| setting.is_calm() && is_plain(setting)).take(20);
    let mut caught = 0;
    for (number, setting) in calm.enumerate() {
        let with_loss = Setting { lost_completion: Some(3 + number as u64), ..setting };
        caught += u32::from(checked(with_loss, false).is_err());
    }
    assert!(caught >= 15, "{caught} of 20 were caught");
}
