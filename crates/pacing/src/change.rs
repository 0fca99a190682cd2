//! Changes of a running load.
//!
//! The course of a load over time is its plan with all changes applied, each from its own instant on; the past never
//! changes. Any shard or worker that applies the same changes computes the same starts and the same users, without
//! communication. All instants are counted from the beginning of the measured load.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::open::{Rest, Schedule, Stage};
use crate::{LevelRest, LevelStage, Nanos, UserProfile};

/// The kind of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChangeKind {
    /// Replaces all later stages of an open load. A last one without a span holds its rate until the planned end.
    Rate(Vec<Stage>),
    /// The same of the users of a closed load.
    Users(Vec<LevelStage>),
    /// The clock of the plan is paused: nothing starts, and stages and end move back.
    Pause,
    /// The clock continues.
    Resume,
    /// Nothing more starts.
    End,
}

/// A change, and the instant from which it is effective.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its number; the first change of a run is 1, for whichever scenario.
    pub revision: u32,
    /// Index of the scenario in the plan.
    pub scenario: usize,
    /// Its instant, counted from the beginning of the measured load.
    pub effective_at: Nanos,
    /// The change itself.
    pub what: ChangeKind,
}

/// The changes as applied by a participant that received some of them late, or never. `late`: revisions, and the
/// instant from which each was effective. After a change that never arrived none is applied.
pub fn followed<'a>(all: &'a [Change], late: &'a [(u32, Nanos)]) -> impl Iterator<Item = Change> + 'a {
    let mut last = Nanos::ZERO;
    let holds = move |change: &Change| {
        let at = late.iter().find(|(revision, _)| *revision == change.revision);
        last = at.map_or(change.effective_at, |(_, at)| *at).max(last);
        Change { effective_at: last, ..change.clone() }
    };
    all.iter().map(holds).take_while(|change| change.effective_at < Nanos::NEVER)
}

/// The course of a load over time.
#[derive(Clone, Debug)]
pub enum LoadProfile {
    /// Starts of an open load.
    Rate(Arc<Schedule>),
    /// Users of a closed load, and the instant from which they are counted: a warm-up has its own.
    Users(Arc<UserProfile>, Nanos),
}

/// The remainder of a course.
#[derive(Clone, Debug)]
enum Left {
    Rate(Rest),
    Users(LevelRest),
}

/// The remainder of a paused load.
#[derive(Clone, Debug)]
struct Paused {
    from: Nanos,
    left: Left,
    /// Its remaining duration; `None` when no time ends it.
    span: Option<Nanos>,
}

/// A load over time: its course, its end, and its pauses.
#[derive(Clone, Debug)]
pub struct Timeline {
    course: LoadProfile,
    end: Option<Nanos>,
    pauses: Vec<(Nanos, Nanos)>,
    paused: Option<Paused>,
    revision: u32,
}

impl Timeline {
    /// A load without changes. `end` is its end, if a time ends it.
    pub fn new(course: LoadProfile, end: Option<Nanos>) -> Self {
        Self { course, end, pauses: Vec::new(), paused: None, revision: 0 }
    }

    /// The course of the load.
    pub fn course(&self) -> &LoadProfile {
        &self.course
    }

    /// Its end; `None` when no time ends it, or while it is paused.
    pub fn end(&self) -> Option<Nanos> {
        self.end
    }

    /// Remaining duration of its plan after an instant, without pauses; `None` when no time ends it.
    pub fn left(&self, at: Nanos) -> Option<Nanos> {
        match &self.paused {
            Some(paused) => paused.span,
            None => self.end.map(|end| end.since(at)),
        }
    }

    /// The planned rate per second at an instant; in a pause, the rate after it. 0 for a closed load.
    pub fn rate_at(&self, at: Nanos) -> f64 {
        match (&self.course, &self.paused) {
            (LoadProfile::Rate(schedule), None) => schedule.rate_at(at),
            (_, Some(Paused { left: Left::Rate(rest), .. })) => rest.rate(),
            _ => 0.0,
        }
    }

    /// The planned users at an instant; in a pause, those after it. 0 for an open load.
    pub fn users_at(&self, at: Nanos) -> u64 {
        match (&self.course, &self.paused) {
            (LoadProfile::Users(levels, from), None) => levels.count(*from + at),
            (_, Some(Paused { left: Left::Users(rest), .. })) => rest.count(),
            _ => 0,
        }
    }

    /// The revision of the last applied change.
    pub fn revision(&self) -> u32 {
        self.revision
    }

    /// The last pause; its end is never until a change resumes the load.
    pub fn last_pause(&self) -> Option<(Nanos, Nanos)> {
        let open = self.paused.as_ref().map(|paused| (paused.from, Nanos::NEVER));
        open.or_else(|| self.pauses.last().copied())
    }

    /// Whether a pause has begun that no change has ended.
    pub fn is_paused(&self) -> bool {
        self.paused.is_some()
    }

    /// All pauses; the end of the last is never until a change resumes the load.
    pub fn pauses(&self) -> impl Iterator<Item = (Nanos, Nanos)> + '_ {
        let open = self.paused.as_ref().map(|paused| (paused.from, Nanos::NEVER));
        self.pauses.iter().copied().chain(open)
    }

    /// Total length of pauses between two instants.
    pub fn paused_between(&self, from: Nanos, to: Nanos) -> Nanos {
        self.pauses().map(|(begin, end)| end.min(to).since(begin.max(from))).fold(Nanos::ZERO, |sum, span| sum + span)
    }

    /// Applies one more change, which is no earlier than the others. A change for another kind of load has no effect.
    pub fn change(&mut self, change: &Change) {
        let at = change.effective_at;
        self.revision = change.revision;
        // A load that is over can no longer be changed.
        if self.paused.is_none() && self.end.is_some_and(|end| at >= end) {
            return;
        }
        match (&change.what, self.paused.take()) {
            (ChangeKind::Rate(stages), paused) => self.change_rate(stages, at, paused),
            (ChangeKind::Users(stages), paused) => self.change_users(stages, at, paused),
            (ChangeKind::Pause, None) => self.pause(at),
            (ChangeKind::Resume, Some(paused)) => self.resume(paused, at),
            (ChangeKind::End, paused) => {
                drop(self.cut(at));
                self.pauses.extend(paused.map(|paused| (paused.from, at)));
                self.end = Some(at);
            }
            (ChangeKind::Pause | ChangeKind::Resume, paused) => self.paused = paused,
        }
    }

    fn pause(&mut self, at: Nanos) {
        let left = self.cut(at);
        self.paused = Some(Paused { from: at, left, span: self.end.map(|end| end.since(at)) });
        self.end = None;
    }

    fn resume(&mut self, paused: Paused, at: Nanos) {
        match (&mut self.course, &paused.left) {
            (LoadProfile::Rate(schedule), Left::Rate(rest)) => {
                let schedule = Arc::make_mut(schedule);
                schedule.rest_until(at);
                schedule.resume(rest);
            }
            (LoadProfile::Users(levels, from), Left::Users(rest)) => Arc::make_mut(levels).resume(rest, *from + at),
            _ => {}
        }
        self.end = paused.span.map(|span| at + span);
        self.pauses.push((paused.from, at));
    }

    fn change_rate(&mut self, stages: &[Stage], at: Nanos, paused: Option<Paused>) {
        let LoadProfile::Rate(schedule) = &mut self.course else { return self.paused = paused };
        let planned = match &paused {
            Some(paused) => paused.span.unwrap_or_default(),
            None => schedule.end().since(at),
        };
        let rest = Rest::new(&lengthened(stages, planned));
        let span = rest.span();
        if let Some(paused) = paused {
            return self.paused = Some(Paused { left: Left::Rate(rest), span: Some(span), ..paused });
        }
        let schedule = Arc::make_mut(schedule);
        drop(schedule.cut(at));
        schedule.resume(&rest);
        self.end = Some(at + span);
    }

    fn change_users(&mut self, stages: &[LevelStage], at: Nanos, paused: Option<Paused>) {
        let LoadProfile::Users(levels, from) = &mut self.course else { return self.paused = paused };
        let span = stages.iter().fold(Nanos::ZERO, |sum, stage| sum + stage.span);
        let ends = stages.last().is_some_and(|last| last.span > Nanos::ZERO);
        if let Some(mut paused) = paused {
            paused.left = Left::Users(LevelRest::new(stages));
            paused.span = if ends { Some(span) } else { paused.span };
            return self.paused = Some(paused);
        }
        let levels = Arc::make_mut(levels);
        drop(levels.cut(*from + at));
        levels.resume(&LevelRest::new(stages), *from + at);
        self.end = if ends { Some(at + span) } else { self.end };
    }

    fn cut(&mut self, at: Nanos) -> Left {
        match &mut self.course {
            LoadProfile::Rate(schedule) => Left::Rate(Arc::make_mut(schedule).cut(at)),
            LoadProfile::Users(levels, from) => Left::Users(Arc::make_mut(levels).cut(*from + at)),
        }
    }
}

/// Extends a last stage without a span to the rest of the planned time.
fn lengthened(stages: &[Stage], planned: Nanos) -> Vec<Stage> {
    let mut stages = stages.to_vec();
    let spent = stages.iter().fold(Nanos::ZERO, |sum, stage| sum + stage.span);
    if let Some(last) = stages.last().copied().filter(|last| last.span == Nanos::ZERO) {
        stages.push(Stage { from: last.to, to: last.to, span: planned.since(spent) });
    }
    stages
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Segment;
    use crate::open::{Rate, Spacing, Starts};

    fn rate(per_second: u64) -> Rate {
        Rate::per_hour_thousandths(per_second * 3_600_000)
    }

    fn stage(from: u64, to: u64, millis: u64) -> Stage {
        Stage { from: rate(from), to: rate(to), span: Nanos::from_millis(millis) }
    }

    fn open(stages: &[Stage]) -> Timeline {
        let schedule = Schedule::new(stages);
        let end = schedule.end();
        Timeline::new(LoadProfile::Rate(Arc::new(schedule)), Some(end))
    }

    fn closed(stages: &[LevelStage], end: Option<u64>) -> Timeline {
        Timeline::new(LoadProfile::Users(Arc::new(UserProfile::new(stages)), Nanos::ZERO), end.map(Nanos::from_millis))
    }

    fn level(from: u64, to: u64, millis: u64) -> LevelStage {
        LevelStage { from, to, span: Nanos::from_millis(millis) }
    }

    fn changed(mut timeline: Timeline, changes: &[(u64, ChangeKind)]) -> Timeline {
        for (number, (millis, what)) in changes.iter().enumerate() {
            let effective_at = Nanos::from_millis(*millis);
            timeline.change(&Change { revision: number as u32 + 1, scenario: 0, effective_at, what: what.clone() });
        }
        timeline
    }

    fn schedule(timeline: &Timeline) -> Arc<Schedule> {
        match timeline.course() {
            LoadProfile::Rate(schedule) => schedule.clone(),
            LoadProfile::Users(..) => panic!("a closed load"),
        }
    }

    fn count(timeline: &Timeline, millis: u64) -> u64 {
        match timeline.course() {
            LoadProfile::Rate(..) => panic!("an open load"),
            LoadProfile::Users(levels, _) => levels.count(Nanos::from_millis(millis)),
        }
    }

    fn starts(schedule: &Arc<Schedule>) -> Vec<Nanos> {
        Starts::new(schedule.clone(), Spacing::Even, Segment::WHOLE).collect()
    }

    #[test]
    fn rates_follow_each_other() {
        let hold = |to| ChangeKind::Rate(vec![stage(to, to, 0)]);
        let timeline = changed(
            open(&[stage(1_000, 1_000, 10_000)]),
            &[(2_000, hold(3_000)), (4_000, hold(0)), (6_000, hold(500))],
        );
        let all = starts(&schedule(&timeline));
        assert_eq!((all.len(), timeline.end()), (2_000 + 6_000 + 2_000, Some(Nanos::from_millis(10_000))));
        let within = |from, to| all.iter().filter(|at| (from..to).contains(&(at.0 / 1_000_000))).count();
        let counts = [within(0, 2_000), within(2_000, 4_000), within(4_000, 6_000), within(6_000, 10_000)];
        assert_eq!(counts, [2_000, 6_000, 0, 2_000]);
    }

    #[test]
    fn the_fraction_of_a_start_is_carried_on() {
        // A start and a half at two a second until 750 ms; the other half is there at 1/s after half a second.
        let hold = ChangeKind::Rate(vec![stage(1, 1, 0)]);
        let timeline = changed(open(&[stage(2, 2, 4_000)]), &[(750, hold)]);
        let millis: Vec<u64> = starts(&schedule(&timeline)).iter().map(|at| (at.0 + 1) / 1_000_000).collect();
        assert_eq!(millis, [0, 500, 1_250, 2_250]);
    }

    /// A change that arrives after the end has no effect.
    #[test]
    fn a_load_that_is_over_stays_over() {
        let ten = Some(Nanos::from_millis(10_000));
        let whats =
            [ChangeKind::Rate(vec![stage(9, 9, 60_000)]), ChangeKind::Pause, ChangeKind::Resume, ChangeKind::End];
        for what in whats {
            let timeline = changed(open(&[stage(2, 2, 10_000)]), &[(12_000, what)]);
            assert_eq!((timeline.end(), timeline.is_paused(), timeline.revision()), (ten, false, 1));
            assert_eq!(starts(&schedule(&timeline)).len(), 20);
        }
        let users = ChangeKind::Users(vec![level(9, 9, 60_000)]);
        let timeline = changed(closed(&[level(3, 3, 10_000)], Some(10_000)), &[(10_000, users)]);
        assert_eq!((timeline.end(), count(&timeline, 12_000)), (ten, 3));
    }

    #[test]
    fn a_pause_moves_what_follows() {
        let ramp = [stage(0, 1_000, 4_000), stage(1_000, 1_000, 2_000)];
        let whole = starts(&schedule(&open(&ramp)));
        let paused = changed(open(&ramp), &[(1_000, ChangeKind::Pause)]);
        assert_eq!((paused.end(), starts(&schedule(&paused)).len()), (None, 125));
        let timeline = changed(open(&ramp), &[(1_000, ChangeKind::Pause), (3_500, ChangeKind::Resume)]);
        assert_eq!(timeline.end(), Some(Nanos::from_millis(8_500)));
        let moved = |at: &Nanos| if at.0 < 1_000_000_000 { *at } else { *at + Nanos::from_millis(2_500) };
        let all = starts(&schedule(&timeline));
        assert_eq!(all.len(), whole.len());
        assert!(all.iter().zip(whole.iter().map(moved)).all(|(one, other)| one.0.abs_diff(other.0) <= 1));
        let span = |from, to| timeline.paused_between(Nanos::from_millis(from), Nanos::from_millis(to));
        assert_eq!(
            [span(0, 9_000), span(2_000, 3_000), span(4_000, 5_000)].map(|span| span.0 / 1_000_000),
            [2_500, 1_000, 0]
        );
    }

    #[test]
    fn what_is_changed_in_a_pause_holds_behind_it() {
        let timeline = changed(
            open(&[stage(10, 10, 10_000)]),
            &[
                (1_000, ChangeKind::Pause),
                (2_000, ChangeKind::Rate(vec![stage(100, 100, 3_000)])),
                (4_000, ChangeKind::Resume),
            ],
        );
        assert_eq!((schedule(&timeline).count(), timeline.end()), (310, Some(Nanos::from_millis(7_000))));
        let users = changed(
            closed(&[level(10, 10, 10_000)], Some(10_000)),
            &[
                (1_000, ChangeKind::Pause),
                (2_000, ChangeKind::Users(vec![level(30, 30, 0)])),
                (4_000, ChangeKind::Resume),
            ],
        );
        assert_eq!([999, 3_000, 4_000, 12_999].map(|at| count(&users, at)), [10, 10, 30, 30]);
        assert_eq!(users.end(), Some(Nanos::from_millis(13_000)));
    }

    #[test]
    fn what_was_reached_before_a_pause_comes_before_it() {
        for millis in [0, 1, 999, 1_000, 1_001, 1_333, 1_500, 2_001] {
            let base = open(&[stage(3, 700, 4_000)]);
            let paused = changed(base, &[(millis, ChangeKind::Pause)]);
            let resumed = changed(paused.clone(), &[(millis, ChangeKind::Pause), (9_000, ChangeKind::Resume)]);
            let all = starts(&schedule(&resumed));
            let before: Vec<Nanos> = all.iter().copied().filter(|at| *at < Nanos::from_millis(millis)).collect();
            assert_eq!(starts(&schedule(&paused)), before, "{millis}");
            assert!(all[before.len()..].iter().all(|at| *at >= Nanos::from_millis(9_000)), "{millis}");
            // Past starts remain, even if few or none follow.
            let nothing = ChangeKind::Rate(vec![stage(0, 0, 1_000)]);
            for what in [ChangeKind::End, nothing] {
                let changes = [(millis, ChangeKind::Pause), (9_000, what), (9_500, ChangeKind::Resume)];
                let ended = changed(paused.clone(), &changes);
                assert_eq!(
                    (starts(&schedule(&ended)), schedule(&ended).count()),
                    (before.clone(), before.len() as u64)
                );
            }
        }
    }

    #[test]
    fn a_pause_keeps_what_goes_on_behind_it() {
        let at = Nanos::from_millis;
        let ramp = changed(open(&[stage(0, 1_000, 4_000)]), &[(1_000, ChangeKind::Pause)]);
        assert_eq!(
            (ramp.rate_at(at(500)), ramp.rate_at(at(9_000)), ramp.left(at(9_000))),
            (250.0, 250.0, Some(at(3_000)))
        );
        let hold = changed(ramp, &[(1_000, ChangeKind::Pause), (2_000, ChangeKind::Rate(vec![stage(700, 700, 0)]))]);
        assert_eq!((hold.rate_at(at(9_000)), hold.left(at(9_000))), (700.0, Some(at(3_000))));
        let users = changed(closed(&[level(0, 100, 10_000)], Some(20_000)), &[(5_000, ChangeKind::Pause)]);
        assert_eq!((users.users_at(at(9_000)), users.left(at(9_000))), (50, Some(at(15_000))));
        let users = changed(users, &[(1, ChangeKind::Pause), (9_000, ChangeKind::Users(vec![level(70, 70, 0)]))]);
        assert_eq!((users.users_at(at(9_500)), users.rate_at(at(9_500))), (70, 0.0));
        let endless = changed(closed(&[level(5, 5, 0)], None), &[(1_000, ChangeKind::Pause)]);
        assert_eq!((endless.users_at(at(2_000)), endless.left(at(2_000))), (5, None));
    }

    #[test]
    fn users_are_changed_and_their_ramps_move() {
        let ramp = closed(&[level(0, 100, 10_000)], Some(20_000));
        let timeline = changed(ramp.clone(), &[(5_000, ChangeKind::Pause), (8_000, ChangeKind::Resume)]);
        assert_eq!([5_000, 7_999, 10_500, 13_000].map(|at| count(&timeline, at)), [50, 50, 75, 100]);
        assert_eq!(timeline.end(), Some(Nanos::from_millis(23_000)));
        let jumps =
            [(1_000, ChangeKind::Users(vec![level(9, 9, 0)])), (2_000, ChangeKind::Users(vec![level(3, 3, 0)]))];
        let timeline = changed(closed(&[level(5, 5, 0)], Some(9_000)), &jumps);
        assert_eq!([0, 999, 1_000, 1_999, 2_000, 8_000].map(|at| count(&timeline, at)), [5, 5, 9, 9, 3, 3]);
        let timeline =
            changed(ramp, &[(5_000, ChangeKind::Users(vec![level(50, 0, 1_000)])), (5_500, ChangeKind::End)]);
        assert_eq!([4_000, 5_250, 5_500].map(|at| count(&timeline, at)), [40, 38, 25]);
        assert_eq!(timeline.end(), Some(Nanos::from_millis(5_500)));
    }

    #[test]
    fn what_is_not_for_a_load_changes_nothing() {
        let timeline = changed(closed(&[level(5, 5, 0)], None), &[(1_000, ChangeKind::Rate(vec![stage(1, 1, 1_000)]))]);
        assert_eq!((count(&timeline, 2_000), timeline.end(), timeline.revision()), (5, None, 1));
        let timeline =
            changed(open(&[stage(5, 5, 2_000)]), &[(500, ChangeKind::Resume), (900, ChangeKind::Users(Vec::new()))]);
        assert_eq!(schedule(&timeline).count(), 10);
    }

    proptest! {
        /// Segments that receive a change while they are running start the same, in total, as if they had known it
        /// before.
        #[test]
        fn segments_tile_a_changed_schedule(
            rates in prop::collection::vec((0u64..2_000, 0u64..2_000, 0u64..2_000), 1..4),
            changes in prop::collection::vec((0u64..6_000, 0u8..4, 0u64..2_000, 0u64..2_000), 0..6),
            shards in 1u32..8,
            is_random: bool,
        ) {
            let stages: Vec<Stage> = rates.into_iter().map(|(from, to, millis)| stage(from, to, millis)).collect();
            let spacing = if is_random { Spacing::Poisson { seed: 9 } } else { Spacing::Even };
            let mut changes: Vec<(u64, ChangeKind)> = changes.into_iter().map(|(at, kind, rate, millis)| (at, match kind {
                0 => ChangeKind::Pause,
                1 => ChangeKind::Resume,
                _ => ChangeKind::Rate(vec![stage(rate, rate / 2, millis)]),
            })).collect();
            changes.sort_by_key(|(at, _)| *at);
            changes.push((20_000, ChangeKind::Resume));
            let base = open(&stages);
            let last = changed(base.clone(), &changes);
            let whole: Vec<Nanos> = Starts::new(schedule(&last), spacing, Segment::WHOLE).collect();
            let mut all = Vec::new();
            for shard in 0..shards {
                let mut timeline = base.clone();
                let mut own = Starts::new(schedule(&timeline), spacing, Segment::share(shard, shards));
                for (number, (millis, what)) in changes.iter().enumerate() {
                    let effective_at = Nanos::from_millis(*millis);
                    while own.peek().is_some_and(|at| at < effective_at) {
                        all.extend(own.next());
                    }
                    timeline.change(&Change { revision: number as u32 + 1, scenario: 0, effective_at, what: what.clone() });
                    own.change(schedule(&timeline));
                }
                all.extend(own);
            }
            all.sort_unstable();
            prop_assert!(whole.is_sorted());
            prop_assert_eq!(all, whole);
        }
    }
}
