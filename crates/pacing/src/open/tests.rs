//! Schedules match their integrals, and segments tile them.

use proptest::prelude::*;

use std::sync::Arc;

use super::*;
use crate::{RevokedSlots, SLOT_COUNT, Segment};

const SECOND: u64 = 3_600_000;

fn rate(per_second: u64) -> Rate {
    Rate::per_hour_thousandths(per_second * SECOND)
}

fn stage(from: u64, to: u64, millis: u64) -> Stage {
    Stage { from: rate(from), to: rate(to), span: Nanos::from_millis(millis) }
}

fn starts(stages: &[Stage], spacing: Spacing, segment: Segment) -> Vec<Nanos> {
    Starts::new(Arc::new(Schedule::new(stages)), spacing, segment).collect()
}

#[test]
fn a_constant_rate() {
    let all = starts(&[stage(1_000, 1_000, 10_000)], Spacing::Even, Segment::WHOLE);
    assert_eq!(all.len(), 10_000);
    assert!(all.iter().enumerate().all(|(number, at)| at.0.abs_diff(number as u64 * 1_000_000) <= 1));
}

#[test]
fn a_ramp_is_its_triangle() {
    let all = starts(&[stage(0, 1_000, 10_000)], Spacing::Even, Segment::WHOLE);
    assert_eq!(all.len(), 5_000);
    // The integral is 50 t^2, t in seconds: start 1,250 comes after 5 s.
    assert!(all[1_250].0.abs_diff(5_000_000_000) <= 1, "{:?}", all[1_250]);
}

#[test]
fn rates_that_seconds_do_not_divide() {
    let hundred_a_minute = Rate::per_hour_thousandths(6_000_000);
    let hour = Stage { from: hundred_a_minute, to: hundred_a_minute, span: Nanos(3_600_000_000_000) };
    assert_eq!(Schedule::new(&[hour]).count(), 6_000);
    let short = Stage { span: Nanos(3_599_999_999_999), ..hour };
    assert_eq!(Schedule::new(&[short]).count(), 5_999);
}

#[test]
fn pauses_jumps_and_nothing() {
    let all = starts(
        &[stage(10, 10, 1_000), stage(0, 0, 5_000), stage(20, 20, 0), stage(20, 20, 1_000)],
        Spacing::Even,
        Segment::WHOLE,
    );
    assert_eq!(all.len(), 30);
    assert_eq!(all[9], Nanos::from_millis(900));
    assert_eq!(all[10], Nanos::from_millis(6_000));
    assert_eq!(Schedule::new(&[]).count(), 0);
    assert_eq!(starts(&[stage(0, 0, 1_000)], Spacing::Poisson { seed: 1 }, Segment::WHOLE), []);
}

#[test]
fn random_starts_are_random_and_repeat() {
    let stages = [stage(0, 2_000, 10_000), stage(2_000, 2_000, 10_000)];
    let all = starts(&stages, Spacing::Poisson { seed: 7 }, Segment::WHOLE);
    // The expected number is 30,000, with a standard deviation of 173.
    assert!((29_000..31_000).contains(&all.len()), "{}", all.len());
    assert_eq!(all, starts(&stages, Spacing::Poisson { seed: 7 }, Segment::WHOLE));
    assert_ne!(all, starts(&stages, Spacing::Poisson { seed: 8 }, Segment::WHOLE));
    let gaps: Vec<f64> = all[11_000..].windows(2).map(|pair| pair[1].since(pair[0]).0 as f64).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
    assert!((mean / 500_000.0 - 1.0).abs() < 0.05, "{mean}");
    assert!((deviation / mean - 1.0).abs() < 0.05, "exponential gaps deviate by their mean: {deviation} of {mean}");
}

#[test]
fn the_mean_rate_until_an_instant() {
    let ramp = Schedule::new(&[stage(0, 1_000, 10_000), stage(1_000, 1_000, 10_000)]);
    for (millis, mean) in [(10_000, 500.0), (5_000, 250.0), (20_000, 750.0), (99_000, 750.0), (0, 0.0)] {
        let is = ramp.mean_rate_until(Nanos::from_millis(millis));
        assert!((is - mean).abs() < 1e-6, "{is} until {millis} ms");
    }
    let rates = [0, 5_000, 12_000, 20_000].map(|millis| ramp.rate_at(Nanos::from_millis(millis)));
    assert_eq!(rates, [0.0, 500.0, 1_000.0, 0.0]);
    let limited = Schedule::new(&[stage(10, 10, 4_000)]).with_limit(Some(10));
    assert!((limited.mean_rate_until(Nanos::from_millis(4_000)) - 10.0).abs() < 1e-6);
}

proptest! {
    #[test]
    fn taking_many_is_taking_each(
        rates in prop::collection::vec((0u64..2_000, 0u64..2_000, 0u64..1_000), 1..4),
        shards in 1u32..5,
        first in 0usize..200,
        millis in 0u64..4_000,
        from_millis in prop_oneof![Just(0), 0u64..2_000],
        lost_millis in prop::option::of(0u64..3_000),
        is_random: bool,
    ) {
        let stages: Vec<Stage> = rates.into_iter().map(|(from, to, millis)| stage(from, to, millis)).collect();
        let spacing = if is_random { Spacing::Poisson { seed: 5 } } else { Spacing::Even };
        let (schedule, segment) = (Arc::new(Schedule::new(&stages)), Segment::share(shards - 1, shards));
        let mut one = Starts::from(schedule, spacing, segment.clone(), Nanos::from_millis(from_millis));
        if let Some(millis) = lost_millis {
            let mut lost = RevokedSlots::default();
            lost.lose(segment.slots().filter(|slot| slot % 3 == 0), Nanos::from_millis(millis));
            one.lose(lost);
        }
        one.by_ref().take(first).for_each(drop);
        let mut other = one.clone();
        let at = Nanos::from_millis(millis);
        let mut count = 0;
        while other.peek().is_some_and(|next| next <= at) {
            other.next();
            count += 1;
        }
        prop_assert_eq!((one.due_by(at, u64::MAX), one.due_by(at, 0) <= count), (count, true));
        prop_assert_eq!(one.take_until(at), count);
        prop_assert_eq!(one.due_by(at, u64::MAX), 0);
        prop_assert_eq!(one.collect::<Vec<_>>(), other.collect::<Vec<_>>());
    }

    #[test]
    fn segments_tile_the_schedule(
        rates in prop::collection::vec((0u64..3_000, 0u64..3_000, 0u64..4_000), 1..5),
        shards in 1u32..9,
        is_random: bool,
    ) {
        let stages: Vec<Stage> = rates.into_iter().map(|(from, to, millis)| stage(from, to, millis)).collect();
        let spacing = if is_random { Spacing::Poisson { seed: 3 } } else { Spacing::Even };
        let whole = starts(&stages, spacing, Segment::WHOLE);
        let mut parts: Vec<Nanos> =
            (0..shards).flat_map(|shard| starts(&stages, spacing, Segment::share(shard, shards))).collect();
        parts.sort_unstable();
        prop_assert!(whole.is_sorted());
        prop_assert_eq!(&whole, &parts);
        let schedule = Schedule::new(&stages);
        prop_assert!(whole.iter().all(|at| *at <= schedule.end()));
        if !is_random {
            prop_assert_eq!(whole.len() as u64, schedule.count());
        }
    }
}

/// Reassignments of slots: the owner of each slot, from an instant on.
type Hands = Vec<(Nanos, Vec<u8>)>;

/// The starts of one of three owners that share a load, over all slots that it was given and lost.
fn starts_of(schedule: &Arc<Schedule>, spacing: Spacing, hands: &Hands, own: u8) -> Vec<Nanos> {
    let mut parts: Vec<(Starts, Segment, RevokedSlots)> = Vec::new();
    let mut all = Vec::new();
    for (place, (from, owners)) in hands.iter().enumerate() {
        let was = |slot: &u16| place > 0 && hands[place - 1].1[usize::from(*slot)] == own;
        let is = |slot: &u16| owners[usize::from(*slot)] == own;
        for (starts, segment, lost) in &mut parts {
            // Past starts have been made.
            while starts.peek().is_some_and(|at| at + Nanos::from_millis(40) < *from) {
                all.extend(starts.next());
            }
            lost.lose(segment.slots().filter(|slot| !is(slot)), *from);
            starts.lose(lost.clone());
        }
        if let Some(gained) = Segment::from_slots((0..4_096).filter(|slot| is(slot) && !was(slot))) {
            let starts = Starts::from(schedule.clone(), spacing, gained.clone(), *from);
            parts.push((starts, gained, RevokedSlots::default()));
        }
    }
    all.extend(parts.into_iter().flat_map(|(starts, ..)| starts));
    all
}

proptest! {
    /// Owners join, leave and come back: no start is lost, and none is made twice.
    #[test]
    fn hands_tile_the_schedule(
        rates in prop::collection::vec((0u64..3_000, 0u64..3_000, 0u64..4_000), 1..4),
        moves in prop::collection::vec((1u64..2_000, any::<u64>()), 0..5),
        is_random: bool,
    ) {
        let stages: Vec<Stage> = rates.into_iter().map(|(from, to, millis)| stage(from, to, millis)).collect();
        let spacing = if is_random { Spacing::Poisson { seed: 3 } } else { Spacing::Even };
        let mut random = crate::Random::for_stream(9, moves.len() as u64);
        let mut owners: Vec<u8> = (0..4_096).map(|slot| (slot % 3) as u8).collect();
        let mut hands = vec![(Nanos::ZERO, owners.clone())];
        let mut from = Nanos::ZERO;
        for (millis, seed) in moves {
            from += Nanos::from_millis(millis);
            let to = (seed % 3) as u8;
            owners.iter_mut().filter(|_| random.unit() < 0.3).for_each(|owner| *owner = to);
            hands.push((from, owners.clone()));
        }
        let schedule = Arc::new(Schedule::new(&stages));
        let mut parts: Vec<Nanos> = (0..3).flat_map(|own| starts_of(&schedule, spacing, &hands, own)).collect();
        parts.sort_unstable();
        prop_assert_eq!(starts(&stages, spacing, Segment::WHOLE), parts);
    }

    #[test]
    fn sets_are_as_strides(index in 0u64..50_000, shards in 1u32..=SLOT_COUNT, share in 0u32..SLOT_COUNT, parts in 1u32..9) {
        let stride = Segment::share(share % shards, shards);
        let set = Segment::from_slots(stride.slots()).expect("it has some");
        prop_assert_eq!(stride.nth(index), set.nth(index));
        prop_assert_eq!(stride.count_of_first(index), set.count_of_first(index));
        let parts = parts.min(set.slot_count());
        for part in 0..parts {
            prop_assert!(set.part(part, parts).slots().eq(stride.part(part, parts).slots()));
        }
        let mut all: Vec<u16> = (0..parts).flat_map(|part| set.part(part, parts).slots().collect::<Vec<_>>()).collect();
        all.sort_unstable();
        prop_assert!(all.into_iter().eq(stride.slots()));
    }
}
