//! Leaders, workers and a bus in a simulated network: a seed determines their number, their clocks, and all faults:
//! drops, delays, messages that are seconds late, reordering, duplicates, crashes, stalls, partitions, wrong clocks,
//! and loads that are changed meanwhile. Workers start requests at the instants of the schedule, and report; the
//! simulator records what they really did.
//!
//! Checked: no duplicate start, no burst of late starts, planned + otherwise = started + undelivered + unknown, and
//! reports equal the work done. Injected bugs are detected.
#![expect(clippy::print_stdout, reason = "what a replay shows is there to be read")]

mod due;
mod happenings;
mod journals;
mod judge;
mod model;
mod world;

use std::cell::Cell;

use crate::OnLoss;
use pacing::change::ChangeKind;
use pacing::open::{Rate, Stage};
use pacing::{Nanos, Random};
use world::{Happens, MessageFault, Setup, World};

/// Injected bugs: each must be detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    /// A former leader is obeyed, and does not step down.
    TwoLeaders,
    /// A duplicate is counted again.
    CountedTwice,
    /// Starts that were due before a part could begin are made all the same.
    LateBurst,
    /// A worker that is cut off goes on.
    GoesOn,
    /// An answer to a hello of a later incarnation extends the lease of an older one's parts, too.
    SharedLease,
    /// A part reports starts that are due after its lease as its own.
    RowsPassTheLease,
    /// Workers receive a state before it is written.
    Unconfirmed,
    /// Reports are forgotten before any other leader could know of them.
    ForgetsEarly,
}

thread_local! {
    static PLANTED: Cell<Option<Bug>> = const { Cell::new(None) };
}

thread_local! {
    static BUS_BENCHMARK: Cell<usize> = const { Cell::new(0) };
}

/// The number of additional workers that the pace assumes.
pub(crate) fn bus_benchmark() -> usize {
    BUS_BENCHMARK.get()
}

/// Whether the bug is injected here.
pub(crate) fn fault_injected(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}

/// The number of additional workers in worlds that simulate many.
const BUS_BENCHMARK_OF_MANY: usize = 10_000;

/// The number of seeds, of which each commit runs a part.
const SEEDS: u64 = 1_000;
const PARTS: u64 = 16;

fn millis(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

/// A change to a rate.
fn to_rate(per_second: u64) -> ChangeKind {
    let rate = Rate::per_hour_thousandths(per_second * 3_600_000);
    ChangeKind::Rate(vec![Stage { from: rate, to: rate, span: Nanos::ZERO }])
}

/// The world of a seed.
fn setting_of(seed: u64) -> Setup {
    let mut random = Random::for_stream(seed, 77);
    let mut below = |bound: u64| (random.unit() * bound as f64) as u64;
    let workers = 2 + below(5) as usize;
    let mut happens = Vec::new();
    for _ in 0..below(5) {
        let at = millis(5_000 + below(25_000));
        let worker = below(workers as u64) as usize;
        let what = match below(13) {
            0 => Happens::KillWorker(worker),
            1 => Happens::StallWorker(worker, millis(500 + below(9_000))),
            2 => Happens::CutWorker(worker, millis(500 + below(9_000))),
            3 => Happens::CutWorker(worker, millis(30_000 + below(30_000))),
            4 => Happens::KillLeader,
            5 => Happens::CutLeader(millis(1_000 + below(9_000))),
            6 => Happens::StallLeader(millis(1_000 + below(9_000))),
            7 => Happens::CutBus(millis(500 + below(3_000))),
            8 => Happens::CutBus(millis(10_000 + below(30_000))),
            9 | 10 => Happens::Change(to_rate(10 + below(600))),
            11 => {
                // The leader by then may know nothing of it.
                let resumes = [at + millis(500 + below(9_000)), millis(60_000), millis(90_000), millis(120_000)];
                happens.extend(resumes.map(|at| (at, Happens::Change(ChangeKind::Resume))));
                Happens::Change(ChangeKind::Pause)
            }
            _ => Happens::Join,
        };
        happens.push((at, what));
    }
    if seed % 8 == 5 {
        let worker = (seed / 8) as usize % workers;
        let at = millis(6_000 + seed * 37 % 20_000);
        happens.push((at, Happens::StallParts(worker, millis(300 + seed * 73 % 14_000))));
    }
    let is_bad = below(2) == 0;
    let fault = MessageFault {
        delay: millis(below(3) * below(40)),
        drop: if is_bad { below(80) as f64 / 1_000.0 } else { 0.0 },
        double: if is_bad { below(80) as f64 / 1_000.0 } else { 0.0 },
        late: if seed.is_multiple_of(5) { 0.03 } else { 0.0 },
    };
    Setup {
        seed,
        workers,
        leaders: 1 + below(3) as usize,
        is_standby: seed % 7 == 3,
        rate: 20 + below(300),
        is_random: below(2) == 0,
        span: millis(40_000),
        clocks_off: millis(below(180_000)),
        fault,
        happens,
        on_loss: OnLoss::Rebalance,
        is_distant: seed % 2 == 1,
        bus_benchmark: if seed % 4 < 2 { 0 } else { BUS_BENCHMARK_OF_MANY },
        keeps_every: if seed.is_multiple_of(3) { Nanos::ZERO } else { millis(500 + 700 * (seed % 11)) },
        drain: millis(seed % 4 * 1_300),
        entries_max: None,
    }
}

fn checked(setting: Setup) -> Result<judge::Seen, String> {
    let seed = setting.seed;
    let text = format!("{setting:?}");
    BUS_BENCHMARK.set(setting.bus_benchmark);
    World::new(setting).run().map_err(|found| format!("seed {seed}: {found}\n{text}"))
}

#[test]
fn many_seeds() {
    let seeds = claims::seeds::for_this_run(SEEDS, PARTS);
    let play = |first: usize| {
        let mut all = judge::Seen::default();
        for seed in seeds.iter().skip(first).step_by(2) {
            all.add(&checked(setting_of(*seed)).unwrap_or_else(|found| panic!("{found}")));
        }
        all
    };
    let all = std::thread::scope(|scope| {
        let play = &play;
        let threads: Vec<_> = (0..2).map(|first| scope.spawn(move || play(first))).collect();
        let mut all = judge::Seen::default();
        threads.into_iter().for_each(|thread| all.add(&thread.join().expect("no seed fails")));
        all
    });
    println!("{all:?}");
    assert!(
        all.lost > 0 && all.moved > 0 && all.takeovers > 0 && all.undelivered > 0 && all.joined > 0 && all.recalled > 0,
        "{all:?}"
    );
}

/// Prints actions and reports when one seed is replayed. Lists of slots are left out.
fn trace(at: Nanos, who: u64, what: &impl std::fmt::Debug) {
    if std::env::var_os("ONRUSH_SEED").is_some() {
        let text = format!("{what:?}");
        let mut parts = text.split('[');
        let mut shown = parts.next().unwrap_or_default().to_owned();
        parts.for_each(|part| shown.push_str(part.split_once(']').map_or(part, |(_, rest)| rest)));
        println!("{:>6} ms, node {who}: {shown}", at.0 / 1_000_000);
    }
}

/// `ONRUSH_SEED=N`: one of them.
#[test]
fn replay() {
    let Ok(seed) = std::env::var("ONRUSH_SEED") else { return };
    let seed = seed.parse().expect("ONRUSH_SEED is a number");
    println!("{:#?}", checked(setting_of(seed)).unwrap_or_else(|found| panic!("{found}")));
}

fn calm(workers: usize, happens: Vec<(Nanos, Happens)>) -> Setup {
    Setup {
        seed: 3,
        workers,
        leaders: 2,
        is_standby: false,
        rate: 100,
        is_random: false,
        span: millis(30_000),
        clocks_off: millis(60_000),
        fault: MessageFault { delay: millis(2), drop: 0.0, double: 0.0, late: 0.0 },
        happens,
        on_loss: OnLoss::Rebalance,
        is_distant: true,
        bus_benchmark: 0,
        keeps_every: millis(2_000),
        drain: Nanos::ZERO,
        entries_max: None,
    }
}

/// A joining worker gets its share, and that neither loses nor doubles a start.
#[test]
fn planned_changes_lose_nothing() {
    for workers in [1, 2, 5] {
        let joins = [6, 9, 14].map(|at| (millis(at * 1_000), Happens::Join)).to_vec();
        let seen = checked(calm(workers, joins)).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!((seen.undelivered, seen.unaccounted, seen.lost, seen.joined), (0, 0, 0, 3), "{seen:?}");
        assert_eq!(seen.started, seen.planned);
    }
}

/// The load never pauses when the leader is gone: another one leads before a lease is over.
#[test]
fn a_leader_that_is_killed_costs_nothing() {
    for happens in [Happens::KillLeader, Happens::CutLeader(millis(20_000)), Happens::StallLeader(millis(8_000))] {
        for on_loss in [OnLoss::Rebalance, OnLoss::Continue, OnLoss::Fail] {
            let setting = Setup { on_loss, ..calm(3, vec![(millis(8_000), happens.clone())]) };
            let seen = checked(setting).unwrap_or_else(|found| panic!("{found}"));
            assert_eq!((seen.undelivered, seen.unaccounted, seen.lost), (0, 0, 0), "{happens:?}: {seen:?}");
            assert!(seen.takeovers == 1 && seen.without_leader <= millis(4_000), "{happens:?}: {seen:?}");
            assert_eq!(seen.recalled, 1, "the stream has forgotten how it began");
        }
    }
}

/// On a full bus, entries that were read make room, and another leader takes over all the same.
#[test]
fn a_full_bus_loses_nothing() {
    for seed in 0..40 {
        let happens = vec![(millis(14_000 + 300 * seed), Happens::KillLeader)];
        let setting = Setup { seed, keeps_every: millis(60_000), entries_max: Some(12), ..calm(3, happens) };
        let seen = checked(setting).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!((seen.undelivered, seen.unaccounted, seen.lost, seen.recalled), (0, 0, 0, 1), "{seen:?}");
    }
}

/// A worker that is gone is detected within 5 s, its share moves within 7, and at most a second of it is unaccounted
/// for.
#[test]
fn a_worker_that_is_killed_is_replaced() {
    let seen =
        checked(calm(4, vec![(millis(8_000), Happens::KillWorker(1))])).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!((seen.lost, seen.joined), (1, 0));
    // A quarter of 100/s.
    assert!(seen.unaccounted <= 33, "{seen:?}");
    assert!(seen.undelivered <= 25 * 7 && seen.undelivered >= 25 * 4, "{seen:?}");
}

/// What came due while a worker stood still is in none of the rows that it reports next: if it is killed then, those
/// starts are unaccounted for.
#[test]
fn a_worker_that_is_killed_after_a_stall_leaves_no_start_out() {
    for stall in [700, 1_500, 3_000] {
        for after in [1, 20, 100, 400] {
            let at = millis(8_250);
            let killed = at + millis(stall) + millis(after);
            let happens = vec![(at, Happens::StallWorker(1, millis(stall))), (killed, Happens::KillWorker(1))];
            let seen = checked(calm(3, happens)).unwrap_or_else(|found| panic!("{stall} {after}: {found}"));
            assert!(seen.unaccounted > 0, "{stall} {after}");
        }
    }
}

/// Threads that stand still until their worker has another lease, with another incarnation, start nothing: others have
/// made what they owned.
#[test]
fn threads_that_wake_in_a_later_incarnation_start_nothing() {
    for stall in [6_000, 8_500, 11_000] {
        let cut = (millis(8_000), Happens::CutWorker(1, millis(8_000)));
        let happens = vec![cut, (millis(8_500), Happens::StallParts(1, millis(stall)))];
        checked(calm(3, happens)).unwrap_or_else(|found| panic!("{stall}: {found}"));
    }
}

/// Worlds with a worker that has lost its lease, and is killed while it drains.
fn killed_while_draining() -> impl Iterator<Item = Setup> {
    [10, 500, 1_200, 2_400, 3_900].into_iter().flat_map(|after| {
        let (cut, stall) = (Happens::CutWorker(1, millis(7_000)), Happens::StallWorker(1, millis(7_000)));
        [cut, stall].map(|what| {
            let happens = vec![(millis(8_250), what), (millis(15_250 + after), Happens::KillWorker(1))];
            Setup { drain: millis(4_000), ..calm(3, happens) }
        })
    })
}

/// It reports meanwhile: what was due after the lease is not its own, and what was due before and not made is
/// unaccounted for.
#[test]
fn a_worker_that_is_killed_while_it_drains_leaves_no_start_out() {
    for setting in killed_while_draining() {
        checked(setting).unwrap_or_else(|found| panic!("{found}"));
    }
}

/// A change that a worker learns of only in its next incarnation changes nothing of what its parts of the one before
/// owned, while they drain.
#[test]
fn a_change_is_not_for_parts_that_drain() {
    for (change, killed) in [(9_000, None), (9_000, Some(18_000)), (12_000, None), (12_000, Some(18_000))] {
        let mut happens = vec![
            (millis(8_000), Happens::CutWorker(1, millis(6_000))),
            (millis(change), Happens::Change(to_rate(900))),
        ];
        happens.extend(killed.map(|at| (millis(at), Happens::KillWorker(1))));
        let setting = Setup { drain: millis(4_000), ..calm(3, happens) };
        checked(setting).unwrap_or_else(|found| panic!("{change} {killed:?}: {found}"));
    }
}

/// A worker that was stalled or cut off comes back with another incarnation: its missed starts are not made late.
#[test]
fn a_worker_that_comes_back_begins_anew() {
    for happens in [Happens::StallWorker(1, millis(8_000)), Happens::CutWorker(1, millis(8_000))] {
        let seen = checked(calm(4, vec![(millis(8_000), happens.clone())])).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!((seen.lost, seen.joined, seen.unaccounted), (1, 1, 0), "{happens:?}: {seen:?}");
    }
    // What it did while it was cut off is reported later.
    let happens = vec![(millis(8_000), Happens::CutWorker(1, millis(15_000)))];
    let seen = checked(calm(4, happens)).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(seen.unaccounted, 0, "{seen:?}");
}

/// Without a bus nothing is started after a lease, and all goes on when it is there again.
#[test]
fn a_bus_that_is_gone_pauses_the_load() {
    let seen = checked(calm(3, vec![(millis(6_000), Happens::CutBus(millis(2_000)))]))
        .unwrap_or_else(|found| panic!("{found}"));
    assert_eq!((seen.undelivered, seen.unaccounted, seen.lost), (0, 0, 0), "{seen:?}");
    let long = Setup { span: millis(60_000), ..calm(3, vec![(millis(6_000), Happens::CutBus(millis(40_000)))]) };
    let seen = checked(long).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(seen.unaccounted, 0, "{seen:?}");
    assert!((33 * 100..=42 * 100).contains(&seen.undelivered), "{seen:?}");
}

/// A change of the load holds for all workers from one instant on, also for those that join later.
#[test]
fn changes_hold_for_all() {
    let faster = to_rate(400);
    for is_random in [false, true] {
        let happens = vec![
            (millis(6_000), Happens::Change(faster.clone())),
            (millis(8_000), Happens::Join),
            (millis(10_000), Happens::Change(ChangeKind::Pause)),
            (millis(15_000), Happens::Change(ChangeKind::Resume)),
            (millis(18_000), Happens::KillLeader),
            (millis(24_000), Happens::Change(ChangeKind::End)),
        ];
        let setting = Setup { is_random, ..calm(3, happens) };
        let seen = checked(setting).unwrap_or_else(|found| panic!("{found}"));
        assert_eq!((seen.undelivered, seen.unaccounted, seen.lost, seen.joined), (0, 0, 0, 1), "{seen:?}");
        assert_eq!(seen.started, seen.planned);
        // 100/s for about 6 s and 400/s for about 12.
        assert!((4_000..7_000).contains(&seen.planned), "{seen:?}");
    }
}

/// A paused load is not over when no worker is left: they come back.
#[test]
fn a_pause_outlives_its_workers() {
    let at = |second: u64| millis(second * 1_000);
    let cut = Happens::CutBus(at(8));
    let happens =
        vec![(at(8), Happens::Change(ChangeKind::Pause)), (at(12), cut), (at(40), Happens::Change(ChangeKind::Resume))];
    let seen = checked(calm(3, happens)).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!((seen.planned, seen.started + seen.undelivered, seen.unaccounted), (3_000, 3_000, 0), "{seen:?}");
}

/// A late change holds for each worker from its arrival on, and the ledger has the difference; one that was lost with
/// the leader has no effect.
#[test]
fn changes_that_come_late_are_known() {
    for (what, makes_more) in [(to_rate(400), false), (to_rate(40), true)] {
        for happens in [Happens::CutBus, Happens::CutLeader, Happens::StallLeader] {
            for (cut, leaders) in [(500, 2), (1_500, 2), (3_000, 1), (4_500, 1), (4_500, 2)] {
                let at = millis(8_000);
                let happens = vec![(at, Happens::Change(what.clone())), (at, happens(millis(cut)))];
                let setting = Setup { leaders, ..calm(3, happens) };
                let text = format!("{setting:?}");
                let seen = checked(setting).unwrap_or_else(|found| panic!("{found}"));
                assert_eq!(seen.unaccounted, 0, "{text}: {seen:?}");
                let is_lost = seen.planned == 3_000;
                assert!(!is_lost || leaders == 2, "{text}: {seen:?}");
                let is_late = cut > 2_000 && !is_lost;
                assert_eq!(
                    seen.late_change_delta.signum(),
                    [0, [-1, 1][usize::from(makes_more)]][usize::from(is_late)],
                    "{seen:?}"
                );
            }
        }
    }
}

fn is_caught(bug: Bug) {
    is_caught_in(bug, (0..300).map(setting_of));
}

fn is_caught_in(bug: Bug, mut settings: impl Iterator<Item = Setup>) {
    let often = if claims::seeds::is_long() { 3 } else { 1 };
    PLANTED.set(Some(bug));
    let found = settings.by_ref().filter_map(|setting| checked(setting).err()).take(often).count();
    PLANTED.set(None);
    assert_eq!(found, often, "{bug:?} was not met often enough");
}

#[test]
fn two_leaders_are_caught() {
    is_caught(Bug::TwoLeaders);
}

#[test]
fn a_second_count_is_caught() {
    is_caught(Bug::CountedTwice);
}

#[test]
fn a_late_burst_is_caught() {
    is_caught(Bug::LateBurst);
}

#[test]
fn what_was_not_written_is_caught() {
    // Many writes, whose writer does not receive the responses: it writes again, and is refused.
    let busy = |seed| {
        let joins = (5..20).map(|second| (millis(second * 1_000), Happens::Join)).collect();
        let fault = MessageFault { delay: millis(60), drop: 0.08, double: 0.0, late: 0.0 };
        Setup { seed, fault, ..calm(3, joins) }
    };
    let settings = || (0..if claims::seeds::is_long() { 60 } else { 20 }).map(busy);
    for setting in settings() {
        checked(setting).unwrap_or_else(|found| panic!("{found}"));
    }
    is_caught_in(Bug::Unconfirmed, settings());
}

#[test]
fn what_is_forgotten_too_early_is_caught() {
    is_caught(Bug::ForgetsEarly);
}

#[test]
fn a_lease_of_two_incarnations_is_caught() {
    is_caught(Bug::SharedLease);
}

#[test]
fn rows_that_pass_the_lease_are_caught() {
    is_caught_in(Bug::RowsPassTheLease, killed_while_draining());
}

#[test]
fn a_worker_that_goes_on_is_caught() {
    is_caught(Bug::GoesOn);
}
