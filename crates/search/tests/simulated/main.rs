//! Searches with the real engine against the real target, in simulated worlds. The target's `/queue` is a queue whose
//! highest load is known from theory.

#![expect(clippy::print_stdout, reason = "with --nocapture the bounds can be looked at")]

#[macro_use]
extern crate claims;

#[path = "../theory/formulas.rs"]
mod formulas;
mod simulated_network;

use std::time::Duration;

use search::{SearchEnd, SearchResult};
use simulated_network::Wanted;

/// Fixed, so that a failure can be reproduced.
const SEEDS: u64 = 50;
/// The number of seeds, unless the tests run at full length.
const SEEDS_FEW: u64 = 6;
/// Nine in ten must be right; with few seeds, which cannot distinguish nine from eight in ten, eight.
const HITS_SHARE: f64 = 0.9;
const HITS_SHARE_FEW: f64 = 0.8;
/// Searches with generator stalls: the number of seeds, and of their parts, of which each commit runs one.
const STALLED_SEEDS: u64 = 100;
const STALLED_PARTS: u64 = 25;

/// The seeds for one of several queues.
fn few() -> u64 {
    if claims::seeds::is_long() { SEEDS } else { SEEDS_FEW }
}

fn line(found: &SearchResult) -> String {
    format!(
        "{:?} to {:?}, {:?}, confirmed {}, noise {:?}, worse {}, {:.0} s",
        found.lower,
        found.upper,
        found.ended,
        found.is_confirmed,
        found.noise,
        found.is_worse,
        found.took.as_secs_f64()
    )
}

/// At least nine in ten searches have the theoretical load between their bounds, and hardly any of the rest claims that
/// it is elsewhere.
#[track_caller]
fn covers(wanted: &Wanted, truth: f64, width: f64, seeds: u64) {
    // Two worlds at a time: each has one thread.
    let half = |first: u64| {
        let wanted = wanted.clone();
        std::thread::spawn(move || {
            let seeds = (1..=seeds).filter(move |seed| seed % 2 == first);
            seeds.map(|seed| (seed, simulated_network::search(&wanted, seed))).collect::<Vec<_>>()
        })
    };
    let both = [half(0), half(1)];
    let all: Vec<(u64, SearchResult)> = both.into_iter().flat_map(|half| half.join().expect("a search ends")).collect();
    let is_hit = |found: &SearchResult| {
        found.lower.is_some_and(|lower| lower <= truth) && found.upper.is_some_and(|upper| truth < upper)
    };
    let is_wrong = |found: &SearchResult| {
        found.lower.is_some_and(|lower| truth < lower) || found.upper.is_some_and(|upper| upper <= truth)
    };
    for (seed, found) in all.iter().filter(|(_, found)| !is_hit(found)) {
        println!("seed {seed}: {truth:.1} is not in {}", line(found));
    }
    let mut widths: Vec<f64> =
        all.iter().map(|(_, found)| found.middle().map_or(f64::INFINITY, |(_, half)| half * 2.0)).collect();
    widths.sort_by(f64::total_cmp);
    let (hits, middle) = (all.iter().filter(|(_, found)| is_hit(found)).count(), widths[widths.len() / 2]);
    let wrong = all.iter().filter(|(_, found)| is_wrong(found)).count();
    println!("{}: {hits} of {seeds} around {truth:.1}, {wrong} wrong, {:.1} % wide", wanted.url, middle * 100.0);
    let share = if seeds < SEEDS { HITS_SHARE_FEW } else { HITS_SHARE };
    let is_right = hits as f64 >= share * seeds as f64 && wrong as f64 <= (1.0 - HITS_SHARE) * seeds as f64;
    assert!(is_right && middle <= width, "{}: {hits} of {seeds} hit {truth}, {wrong} wrong, {middle} wide", wanted.url);
}

fn wanted(url: &str, limit_ms: u64, budget_s: u64) -> Wanted {
    Wanted {
        url: url.to_owned(),
        is_random: true,
        has_users: false,
        stalled: Duration::ZERO,
        limit: Duration::from_millis(limit_ms),
        budget: Duration::from_secs(budget_s),
    }
}

#[test]
fn random_arrivals_and_services() {
    let truth = formulas::mmc_rate(4, 0.008, 0.080, 0.01);
    covers(&wanted("/queue/4/8", 80, 240), truth, 0.4, few());
}

#[test]
fn random_arrivals_and_even_services() {
    let truth = formulas::md1_rate(0.002, 0.020, 0.01);
    covers(&wanted("/queue/1/2/even", 20, 240), truth, 0.4, few());
}

#[test]
fn even_arrivals_and_random_services() {
    let truth = formulas::dm1_rate(0.002, 0.020, 0.01);
    covers(&Wanted { is_random: false, ..wanted("/queue/1/2", 20, 240) }, truth, 0.8, few());
}

/// Each request of some users waits for all others: with a network between, a little less than in theory.
#[test]
fn users_of_a_closed_load() {
    let truth = formulas::users_most(0.002, 0.099, 0.01);
    covers(&Wanted { has_users: true, ..wanted("/queue/1/2", 100, 240) }, truth, 0.8, few());
}

/// It refuses requests that find too many others, which is all above 500/s: so the goal is met up to where that is one
/// in a hundred.
#[test]
fn a_cliff_is_found_where_it_is() {
    let found = simulated_network::search(&Wanted { is_random: false, ..wanted("/queue/2/4/even?room=3", 20, 240) }, 3);
    let (lower, upper) = (found.lower.expect("a bound"), found.upper.expect("a bound"));
    let truth = 500.0 / 0.99;
    assert!(lower <= truth && truth < upper && upper / lower < 1.06, "{}", line(&found));
    assert_eq!((found.is_confirmed, found.ended, found.noise), (true, SearchEnd::Width, None), "{}", line(&found));
}

/// It stalls for a second, about every quarter of a minute.
#[test]
fn stalls_are_called_noise() {
    let reported = (1..=3).filter(|seed| {
        let found = simulated_network::search(&wanted("/queue/4/8?stall=30000/1000", 80, 400), *seed);
        println!("{}", line(&found));
        found.noise.is_some()
    });
    assert!(reported.count() >= 2);
}

/// The generator has its core for half of each second, and the target could take four times the first load: at any
/// load, the search names the right bottleneck.
#[test]
fn a_limit_of_ours_is_never_the_targets() {
    for has_users in [false, true] {
        let stalled = Duration::from_millis(500);
        let stalled = Wanted { stalled, has_users, is_random: false, ..wanted("/queue/4/8/even", 80, 240) };
        let found = simulated_network::search(&stalled, 5);
        assert_eq!((found.limit, found.upper), ("generator", None), "{}", line(&found));
        assert_eq!(found.unknown.map(|unknown| unknown.stall >= Duration::from_millis(490)), Some(true), "{found:?}");
    }
}

/// The generator stalls for 20 ms once a second: the reported figure is within a tenth of the truth all the same.
#[track_caller]
fn is_near(wanted: &Wanted, truth: f64) {
    let seeds = claims::seeds::for_this_run(STALLED_SEEDS, STALLED_PARTS);
    let wanted = Wanted { stalled: Duration::from_millis(20), ..wanted.clone() };
    let all: Vec<(u64, SearchResult)> =
        seeds.iter().map(|seed| (*seed, simulated_network::search(&wanted, *seed))).collect();
    let is_near = |found: &SearchResult| found.response().is_some_and(|at| (at / truth - 1.0).abs() <= 0.1);
    for (seed, found) in all.iter().filter(|(_, found)| !is_near(found)) {
        println!("seed {seed}: {truth:.1}, and not {:?}: {}", found.response(), line(found));
    }
    let near = all.iter().filter(|(_, found)| is_near(found)).count();
    println!("{}: {near} of {} within a tenth of {truth:.1}", wanted.url, seeds.len());
    assert!(near as f64 >= 0.95 * seeds.len() as f64, "{near} of {} within a tenth of {truth:.1}", seeds.len());
}

/// Four workers with 8 ms each.
#[test]
fn short_stalls_of_ours_change_little() {
    is_near(&Wanted { is_random: false, ..wanted("/queue/4/8/even", 40, 60) }, 500.0);
}

/// One with 2 ms, more or less.
#[test]
fn short_stalls_of_ours_and_one_worker() {
    let truth = formulas::dm1_rate(0.002, 0.050, 0.01);
    is_near(&Wanted { is_random: false, ..wanted("/queue/1/2", 50, 480) }, truth);
}

/// Service times grow by a fifth each minute.
#[test]
fn what_leaks_is_not_confirmed() {
    let reported = (1..=3).filter(|seed| {
        let found = simulated_network::search(&wanted("/queue/4/8?leak=20", 120, 500), *seed);
        println!("{}", line(&found));
        assert!(!found.is_confirmed, "{}", line(&found));
        found.is_worse
    });
    assert!(reported.count() >= 2);
}
