//! Simulated closed loads with known truth, and what half of their users show of it. The truth is what twice as many
//! users would get, and half as many, from a target that keeps the state it has when the load ends.
#![expect(clippy::print_stdout, reason = "a table of what was concluded is there to be read")]

mod cases;
mod target;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use pacing::Nanos;

use super::counting::Counting;
use super::{Probe, SLICE};
use crate::probe_arithmetic::{ProbeFinding, Responses, Steady};
use crate::slices::{Slice, Slices};
use crate::verdict::Limit;
use cases::Case;
use target::{Discipline, Limiter, Nodes, Pace, Response, Servers, Shape, Target, World};

/// How long each load is measured.
const MEASURED: Nanos = Nanos::from_millis(5_000);
/// From the last response of the load to the first users of the probe.
const PAUSE: Nanos = Nanos::from_millis(20);
/// Seeds for each load.
const SEEDS: u64 = 3;
/// The loads are split into this many parts: one run of the suite has no time for all of them.
const PARTS: u64 = 4;
/// The truth is measured in this many worlds, each with a minimum of responses and duration.
const TRUTH_WORLDS: u64 = 4;
/// The same where chance decides which node serves which user.
const TRUTH_WORLDS_RANDOM: u64 = 64;
const TRUTH_RESPONSES: u32 = 2_000;
const TRUTH_SPAN: Nanos = Nanos::from_millis(500);
/// At less than this share of the rate for twice the users, the target is at its limit.
const LIMIT_MAX: f64 = 1.1;
/// At more than this share it is not. What lies between is not judged.
const MORE_MIN: f64 = 1.25;
/// Nor is it judged where the share of half of the users is no farther from the threshold of the rule: no amount of
/// time would decide it.
const LINE_DISTANCE_MIN: f64 = 0.05;
/// The bounds that the rule has to keep, as shares of the judged cases.
const WRONG_MAX: f64 = 0.01;
/// All loads together show 12.2 %.
const UNKNOWN_STILL_MAX: f64 = 0.125;
const UNKNOWN_MOVING_MAX: f64 = 0.6;

/// What other numbers of users would get, as a share of the rate.
#[derive(Clone, Copy, Debug)]
struct Truth {
    of_twice: f64,
    of_half: f64,
    /// The threshold of the rule, from which on half of the users count as getting the whole rate.
    line: f64,
}

impl Truth {
    fn new(case: &Case, seed: u64) -> Self {
        let rate = |users, seed| rate_of(case, users, seed).max(1e-9);
        let rates = [(case.users, seed), (2 * case.users, seed + 7), (case.users / 2, seed + 14)];
        let [rate, twice, half] = rates.map(|(users, seed)| rate(users, seed));
        let kept = (case.users / 2) as f64 / case.users as f64;
        Self { of_twice: twice / rate, of_half: half / rate, line: (1.0 + kept) / 2.0 }
    }

    /// It is neither at its limit nor clearly below.
    fn is_near(self) -> bool {
        let is_at_line = (self.of_half - self.line).abs() < LINE_DISTANCE_MIN;
        is_at_line || (LIMIT_MAX..=MORE_MIN).contains(&self.of_twice)
    }

    /// It contradicts this conclusion.
    fn is_updatest(self, limit: Limit) -> bool {
        match limit {
            Limit::Target => self.of_twice > MORE_MIN,
            Limit::Below => self.of_half > 1.0 / LIMIT_MAX,
            _ => false,
        }
    }
}

/// Successes a second of a target that keeps the state it has when the load ends, in several worlds.
fn rate_of(case: &Case, users: usize, seed: u64) -> f64 {
    let warm = Nanos::from_millis(1_000).max(Nanos((10e9 * case.target.service_s) as u64));
    let worlds = if matches!(case.target.nodes, Nodes::AtRandom(_)) { TRUTH_WORLDS_RANDOM } else { TRUTH_WORLDS };
    let rates = (0..worlds).map(|world| {
        let (mut ended, mut succeeded, mut last) = (0_u32, 0_u32, warm);
        let mut world = World::new(case.target, seed * worlds + world, Some(MEASURED));
        let _ = world.load(users, [Nanos::ZERO, Nanos::NEVER], |response| {
            if response.ended > warm {
                (ended, succeeded, last) = (ended + 1, succeeded + u32::from(response.succeeded), response.ended);
            }
            let is_enough = ended >= TRUTH_RESPONSES && last - warm >= TRUTH_SPAN;
            if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        f64::from(succeeded) / (last - warm).as_secs_f64()
    });
    rates.sum::<f64>() / worlds as f64
}

fn add(slice: &mut Slice, response: &Response) {
    slice.add(&Slice { ended: 1, succeeded: response.succeeded.into(), ..Slice::default() });
}

/// The measured load: what ended in each slice, and the response times.
fn measured(world: &mut World, users: usize) -> (Slices, Responses) {
    let mut slices = Slices::new(Some(MEASURED));
    slices.each.resize((MEASURED.0 / slices.width.0) as usize, Slice::default());
    let mut times = Vec::new();
    let _ = world.load(users, [Nanos::ZERO, MEASURED], |response| {
        if let Some(slice) = slices.each.get_mut((response.ended.0 / slices.width.0) as usize) {
            add(slice, &response);
        }
        times.push((response.ended - response.began).as_secs_f64());
        ControlFlow::Continue(())
    });
    let count = times.len().max(1) as f64;
    let mean_s = times.iter().sum::<f64>() / count;
    let variance = times.iter().map(|time| (time - mean_s).powi(2)).sum::<f64>() / count;
    (slices, Responses { mean_s, spread: variance.sqrt() / mean_s.max(1e-9) })
}

/// Half of the users, slice by slice, until enough was seen.
fn probed(world: &mut World, users: usize, counting: &mut Counting) {
    let span = counting.longest();
    let (mut index, mut slice) = (0, Slice::default());
    let mut pass = |until: Nanos, response: Option<Response>| {
        while SLICE.0 * (index as u64 + 1) <= until.0 {
            counting.add(index, &std::mem::take(&mut slice));
            index += 1;
            if counting.is_enough() {
                return ControlFlow::Break(());
            }
        }
        response.iter().for_each(|response| add(&mut slice, response));
        ControlFlow::Continue(())
    };
    if world.load(users, [PAUSE, span], |response| pass(response.ended, Some(response))).is_continue() {
        let _ = pass(span, None);
    }
}

/// Runs the load, then half of its users, and returns the conclusion.
fn concluded(case: &Case, seed: u64) -> Limit {
    let mut world = World::new(case.target, seed, None);
    let (slices, responses) = measured(&mut world, case.users);
    let before = Steady::before_the_end(&slices, responses.mean_s);
    let (users, of) = (case.users as u64 / 2, case.users as u64);
    let mut counting = Counting::new(before, (users, of), responses, (MEASURED, SLICE));
    if before.is_some() {
        probed(&mut world, case.users / 2, &mut counting);
    }
    let probe =
        Probe { users, of, half: (users, 1), started: 0, span: Nanos::ZERO, before, seen: counting.seen(), time: None };
    crate::verdict::concluded_of(&probe).0
}

/// Runs of one kind, counted by conclusion.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    judged: usize,
    limit: usize,
    fewer: usize,
    unknown: usize,
    wrong: usize,
    /// Runs that are not judged.
    near: usize,
}

impl Count {
    fn add(&mut self, truth: Truth, limit: Limit) {
        if truth.is_near() {
            self.near += 1;
            return;
        }
        self.judged += 1;
        match limit {
            Limit::Target => self.limit += 1,
            Limit::Below => self.fewer += 1,
            _ => self.unknown += 1,
        }
        self.wrong += usize::from(truth.is_updatest(limit));
    }

    fn and(mut self, other: &Self) -> Self {
        let own =
            [&mut self.judged, &mut self.limit, &mut self.fewer, &mut self.unknown, &mut self.wrong, &mut self.near];
        let more = [other.judged, other.limit, other.fewer, other.unknown, other.wrong, other.near];
        own.into_iter().zip(more).for_each(|(own, more)| *own += more);
        self
    }

    fn print(&self, name: &str) {
        let Self { judged, limit, fewer, unknown, wrong, near } = self;
        let share = 100.0 * *unknown as f64 / (*judged).max(1) as f64;
        println!("{name:32} {judged:6} {limit:6} {fewer:6} {unknown:8} {share:4.0} % {wrong:6} {near:5}");
    }
}

#[test]
fn half_of_the_users_measure_the_truth() {
    let cases = cases::all(PARTS as usize);
    let mut kinds: [BTreeMap<&str, Count>; 2] = Default::default();
    for number in claims::seeds::for_this_run(cases.len() as u64, PARTS) {
        let case = &cases[number as usize % cases.len()];
        let truth = Truth::new(case, number);
        for seed in 0..SEEDS {
            let limit = concluded(case, number * SEEDS + seed);
            if truth.is_updatest(limit) && !truth.is_near() {
                println!("wrong: {limit:?} of {case:?}, {truth:?}");
            }
            kinds[usize::from(case.is_still)].entry(case.kind).or_default().add(truth, limit);
        }
    }
    println!("kind                             judged  limit  fewer  unknown         wrong  near");
    kinds.iter().flatten().for_each(|(kind, count)| count.print(kind));
    let sum = |kinds: &BTreeMap<&str, Count>| kinds.values().fold(Count::default(), Count::and);
    let [moving, still] = [sum(&kinds[0]), sum(&kinds[1])];
    let all = moving.and(&still);
    [("moving", moving), ("still", still), ("all", all)].iter().for_each(|(name, count)| count.print(name));
    let is_whole = all.judged + all.near == cases.len() * SEEDS as usize;
    let is_within = |count: usize, count_of: usize, most: f64| {
        // A part is a sample of the loads: two standard errors are allowed.
        let loads = count_of as f64 / SEEDS as f64;
        let error = if is_whole { 0.0 } else { (most * (1.0 - most) / loads).sqrt() };
        count as f64 / count_of as f64 <= most + 2.0 * error
    };
    assert!(is_within(all.wrong, all.judged, WRONG_MAX), "{all:?}");
    assert!(is_within(still.unknown, still.judged, UNKNOWN_STILL_MAX), "{still:?}");
    assert!(is_within(moving.unknown, moving.judged, UNKNOWN_MOVING_MAX), "{moving:?}");
}

/// Successes a second of a target with this number of users, in its current state.
fn rate_with(target: Target, users: usize) -> f64 {
    rate_of(&Case { kind: "", is_still: true, target, users }, users, 1)
}

#[test]
fn simulated_targets_serve_what_theory_says() {
    let is_near = |rate: f64, expected: f64| (rate / expected - 1.0).abs() < 0.06;
    for shape in Shape::ALL {
        let [one, four, delay] =
            [cases::fifo(1), cases::fifo(4), cases::delay()].map(|target| Target { shape, ..target });
        let sharing = Target { discipline: Discipline::Sharing, ..four };
        // A server serves 200 a second, and nothing waits for a delay.
        for (target, users, expected) in [
            (one, 1, 200.0),
            (one, 8, 200.0),
            (four, 3, 600.0),
            (four, 20, 800.0),
            (sharing, 3, 600.0),
            (sharing, 20, 800.0),
            (delay, 20, 4_000.0),
        ] {
            let rate = rate_with(target, users);
            assert!(is_near(rate, expected), "{rate} of {users} users, {target:?}");
        }
        // Background work takes nothing where there are servers for all requests.
        let others = Target { background_per_s: 800.0, servers: Servers::Fixed(64), ..sharing };
        assert!(is_near(rate_with(others, 4), 800.0), "{shape:?}");
    }
    // Mean value analysis: one exponential server, a delay of the same length, two users: 2 / (3/2 + 1) a service.
    let target = Target { shape: Shape::Exponential, round_trip_s: 0.005, ..cases::fifo(1) };
    let rate = rate_with(target, 2);
    assert!(is_near(rate, 160.0), "{rate}");
    for (pace, factor) in [(Pace::GrowsSlower { twice_at_s: 2.5 }, 3.0), (Pace::SlowStart { until_s: 10.0 }, 2.5)] {
        let rate = rate_with(Target { pace, ..cases::delay() }, 20);
        assert!(is_near(rate, 4_000.0 / factor), "{rate}, {pace:?}");
    }
    let limiter = Some(Limiter { per_s: 200.0, burst: 20.0, refusal_s: 0.0005 });
    let rate = rate_with(Target { limiter, ..cases::delay() }, 20);
    assert!(is_near(rate, 200.0), "{rate}");
    let rate = rate_with(Target { failing_per_million: 250_000, ..cases::fifo(4) }, 20);
    assert!(is_near(rate, 600.0), "{rate}");
}

/// Two looks have to agree, unless the time is over.
#[test]
fn one_look_is_not_enough() {
    let slice = |ended| Slice { ended, succeeded: ended, ..Slice::default() };
    let each = (0..500).map(|index| slice(9 + index * 7 % 3)).collect();
    let responses = Responses { mean_s: 0.01, spread: 0.1 };
    let before = Steady::before_the_end(&Slices { width: SLICE, each }, responses.mean_s);
    let looks = |count_of: fn(u64) -> u64| {
        let mut counting = Counting::new(before, (5, 10), responses, (MEASURED, SLICE));
        let end = (0..).find(|index| {
            counting.add(*index, &slice(count_of(*index as u64)));
            counting.is_enough()
        });
        (end.expect("it ends"), counting.seen().expect("enough").response)
    };
    // By the first slice or two each user has had a response; then looks are after 10 and 20 of them.
    assert_eq!(looks(|index| 9 + index * 7 % 3), (20, ProbeFinding::AtLimit));
    assert_eq!(looks(|index| 4 + index * 7 % 3), (21, ProbeFinding::Below));
    // Few responses at first, and the whole rate later: the first look is not trusted.
    let (end, response) = looks(|index| if index <= 10 { 5 } else { 10 });
    assert!(end > 20 && response == ProbeFinding::AtLimit, "{end}, {response:?}");
    // There is no conclusion where the rate stays in the middle, after 2 s and the first slice.
    assert_eq!(looks(|index| 6 + index * 7 % 4), (200, ProbeFinding::Unsure));
}

#[test]
fn users_without_responses_are_not_waited_for_longer() {
    let steady = Slices { width: SLICE, each: vec![Slice { ended: 9, succeeded: 9, ..Slice::default() }; 500] };
    let responses = Responses { mean_s: 0.1, spread: 0.1 };
    let before = Steady::before_the_end(&steady, responses.mean_s);
    let mut counting = Counting::new(before, (5, 10), responses, (MEASURED, SLICE));
    let end = (0..).find(|index| {
        counting.add(*index, &Slice::default());
        counting.is_enough()
    });
    // A second to connect, and two response times.
    assert_eq!((end, counting.seen()), (Some(120), None));
    assert_eq!(counting.longest(), Nanos::from_millis(3_200));
    let mut unsteady = Counting::new(None, (5, 10), responses, (MEASURED, SLICE));
    assert!(unsteady.is_enough());
}
