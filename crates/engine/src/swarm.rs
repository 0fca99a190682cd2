//! The real engine, the real protocols and the real target in a simulated world. A seed determines a plan, a network
//! and its faults; checkers run at every turn and at the end: each start ends once, histograms equal counts,
//! intervals add up to the run, nothing leaks, the target agrees, the same seed gives the same report. A failing seed
//! is replayed with `cargo xtask sim --seed N`.
//!
//! 200 of 2,000 seeds run for each commit. `swarm/stalls.rs` simulates stalls of one shard and of all, targets that
//! freeze or lose requests, and stops. Injected bugs must be detected (`mutants`); oracles compare with theory (a
//! freeze, a ramp, a start that is too late).
#![expect(clippy::print_stdout, reason = "a replay is there to be read")]

mod bounds;
mod changes;
mod checks;
mod coalescing;
mod custom;
mod data_sources;
mod datagrams;
mod expected;
mod history;
mod lifetimes;
mod load_kind;
pub(crate) mod mutants;
mod oracles;
mod parts;
mod plans;
mod programs;
mod rates;
mod stalls;
mod variables;

use std::collections::BTreeMap;
use std::fmt::Write;

use history::{History, Setup, SimulatedNetwork};
use metrics::{Class, Measure};
use mutants::Bug;
use plan::{Load, UserShape};

use crate::idle::QUIET;

/// The seeds of the swarm; each commit runs a part of them.
const SEEDS: u64 = 2_000;
const PARTS: u64 = 10;

/// One in this many is run twice, and must give the same result.
const AGAIN_EVERY: u64 = 4;
/// Seeds that run at a time.
const SWARM_THREADS: usize = 2;
/// Seeds of worlds in which two runs follow each other, and the number of their parts.
const SECOND_SEEDS: u64 = 800;
const SECOND_PARTS: u64 = 10;

/// A checked run of a seed.
fn checked(setting: Setup, is_traced: bool) -> Result<History, String> {
    let seed = setting.seed;
    history::run(setting, is_traced)
        .and_then(|history| checks::all(&history).map(|()| history))
        .map_err(|found| format!("seed {seed}: {found}\nreplay it with: cargo xtask sim --seed {seed}"))
}

/// Everything that a report is made of, as text.
fn digest(history: &History) -> String {
    let mut text = format!("{:?} {:?}", history.total.counts, history.wall);
    history.others.iter().for_each(|other| text.push_str(&digest(other)));
    for class in Class::ALL {
        let timings = history.total.class(class);
        for measure in Measure::ALL {
            let of = timings.by_measure(measure);
            let _ = write!(text, " {} {} {:?}", of.count(), of.sum(), [0.5, 0.9, 0.99].map(|q| of.quantile(q)));
        }
    }
    let connect = &history.total.connect;
    let _ = write!(text, " connect {} {}", connect.count(), connect.sum());
    text
}

/// Results of the seeds of one thread.
#[derive(Debug, Default)]
struct SeedTally {
    exchanges: u64,
    failed: u64,
    faults: u64,
    mixed: u32,
    coalescing: u32,
    reasons: BTreeMap<&'static str, u64>,
}

impl SeedTally {
    fn play(&mut self, seed: u64) {
        let history = checked(Setup::from_seed(seed), false).unwrap_or_else(|found| panic!("{found}"));
        self.exchanges += history.whole.started();
        self.failed += history.whole.failed();
        self.mixed += u32::from(is_mixed(&history));
        self.coalescing += u32::from(history.most_coalesced > pacing::Nanos::ZERO);
        self.faults += history.fault_count;
        for (failure, count) in history.whole.failures() {
            *self.reasons.entry(failure.name()).or_insert(0) += count;
        }
        if seed.is_multiple_of(AGAIN_EVERY) {
            let again = checked(Setup::from_seed(seed), false).unwrap_or_else(|found| panic!("{found}"));
            assert_eq!(digest(&history), digest(&again), "seed {seed} gave two reports");
        }
    }

    fn add(mut self, other: Self) -> Self {
        self.exchanges += other.exchanges;
        self.failed += other.failed;
        self.faults += other.faults;
        self.mixed += other.mixed;
        self.coalescing += other.coalescing;
        other.reasons.into_iter().for_each(|(name, count)| *self.reasons.entry(name).or_insert(0) += count);
        self
    }
}

#[test]
fn many_seeds() {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let seeds = claims::seeds::for_this_run(SEEDS, PARTS);
    let play = |first: usize| {
        let mut tally = SeedTally::default();
        seeds.iter().skip(first).step_by(SWARM_THREADS).for_each(|seed| tally.play(*seed));
        tally
    };
    let tally = std::thread::scope(|scope| {
        let play = &play;
        let threads: Vec<_> = (0..SWARM_THREADS).map(|first| scope.spawn(move || play(first))).collect();
        let ends = threads.into_iter().map(|thread| thread.join());
        let tallies: Vec<SeedTally> =
            ends.map(|end| end.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect();
        tallies.into_iter().fold(SeedTally::default(), SeedTally::add)
    });
    let SeedTally { exchanges, failed, faults, mixed, coalescing, reasons } = tally;
    println!(
        "{exchanges} exchanges, {failed} failed, {faults} faults, {mixed} of several protocols, {coalescing} gathering; failures: {reasons:?}"
    );
    assert!(faults > 0 && failed > 0 && exchanges > failed, "a swarm without faults shows nothing");
    assert!(mixed > 0, "no seed ran scenarios of different protocols side by side");
}

/// A second run in the same world: the target, its clock and what is left of the first run stay.
#[test]
fn a_second_run_after_the_first() {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let (mut exchanges, mut late) = (0, 0);
    // Where connections are lost the target keeps them forever, and may have no room for more.
    let settings = claims::seeds::for_this_run(SECOND_SEEDS, SECOND_PARTS)
        .into_iter()
        .map(Setup::from_seed)
        .filter(|setting| setting.faults.loss == 0);
    for first in settings {
        let seed = first.seed;
        let second = Setup { threads: first.threads % 3 + 1, ..first.clone() };
        let mut world = SimulatedNetwork::new(&first, false).expect("a target");
        for (setting, which) in [(first, "first"), (second, "second")] {
            let history = world.run(setting).and_then(|history| checks::all(&history).map(|()| history));
            let history = history.unwrap_or_else(|found| panic!("seed {seed}, {which}: {found}"));
            exchanges += history.whole.started();
            late += u64::from(which == "second") * history.whole.succeeded();
        }
    }
    println!("{exchanges} exchanges, {late} of second runs succeeded");
    assert!(late > 0, "no second run came to anything");
}

/// Whether scenarios with different protocols ran in parallel, or steps one after the other.
fn is_mixed(history: &History) -> bool {
    let protocol = |one: &History| one.scenario().target().protocol;
    history.is_mixed() || history.others.iter().any(|other| protocol(other) != protocol(history))
}

/// `cargo xtask sim --seed N`.
#[test]
fn replay() {
    let Ok(seed) = std::env::var("ONRUSH_SEED") else { return };
    let setting = Setup::from_seed(seed.parse().expect("ONRUSH_SEED is a number"));
    println!("{setting:#?}");
    match checked(setting, true) {
        Ok(history) => println!("{:#?}\nall checks hold", history.total.counts),
        Err(found) => panic!("{found}"),
    }
}

/// Checks that some seed shows the bug, and that the finding says what is wrong.
fn is_caught(bug: Bug, words: &[&str]) {
    let _works = QUIET.read().unwrap_or_else(|poisoned| poisoned.into_inner());
    let found: Vec<String> = (0..40)
        .filter_map(|seed| {
            mutants::inject(Some(bug), 1 + seed as u32 % 5);
            let found = checked(Setup::from_seed(seed), false).err();
            mutants::inject(None, 0);
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
    is_caught(Bug::LostCompletion, &["started", "attempts for", "no end", "steps that were made for"]);
}

#[test]
fn a_double_count_is_caught() {
    is_caught(Bug::DoubleCount, &["started"]);
}

#[test]
fn a_leaked_slot_is_caught() {
    is_caught(Bug::LeakedSlot, &["attempts for", "two attempts", "belongs to no exchange"]);
}

/// With a driver that loses a completion: in a calm world every exchange of a closed load must succeed, and here one
/// does not.
#[test]
fn a_completion_that_the_driver_loses_is_caught() {
    let is_plain = |setting: &Setup| {
        let is_closed = matches!(setting.plan.scenarios[0].load, Load::Closed { shape: UserShape::AtOnce, .. });
        // The share that must be caught applies to worlds in which users take their steps in turn and do nothing else.
        let is_varied = |one: &plan::Scenario| {
            let program = &one.program;
            !program.start.is_empty() || !program.stop.is_empty() || one.shared_connections.is_some()
        };
        let is_varied = !setting.plan.barriers.is_empty() || setting.plan.scenarios.iter().any(is_varied);
        is_closed && setting.plan.warmup.is_zero() && !is_varied
    };
    let calm = (0..5_000).map(Setup::from_seed).filter(|setting| setting.is_calm() && is_plain(setting)).take(20);
    let mut caught = 0;
    for (number, setting) in calm.enumerate() {
        let with_loss = Setup { lost_completion: Some(3 + number as u64), ..setting };
        caught += u32::from(checked(with_loss, false).is_err());
    }
    assert!(caught >= 15, "{caught} of 20 were caught");
}
