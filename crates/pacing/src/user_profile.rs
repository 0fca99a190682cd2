//! The number of users of a closed load over time.
//!
//! Users are numbered; user `k` is active whenever the level is above `k`. So a linearly rising level starts them one
//! after the other, and each shard or worker computes when its own start and stop, without communication.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// A span in which the level changes linearly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LevelStage {
    /// The level at its beginning.
    pub from: u64,
    /// The level at its end.
    pub to: u64,
    /// Its duration.
    pub span: Nanos,
}

impl LevelStage {
    /// The level, rounded up, at a time after its beginning.
    fn count(&self, spent: Nanos) -> u64 {
        let (spent, span) = (u128::from(spent.0), u128::from(self.span.0));
        let Self { from, to, .. } = *self;
        if to >= from {
            from + (u128::from(to - from) * spent).div_ceil(span) as u64
        } else {
            from - (u128::from(from - to) * spent / span) as u64
        }
    }
}

/// A stage at its place in the profile, or the part of it that remains after a change.
#[derive(Clone, Copy, Debug)]
struct LevelPiece {
    stage: LevelStage,
    /// The part of the stage that is over before the piece begins.
    skipped: Nanos,
    begin: Nanos,
    end: Nanos,
}

impl LevelPiece {
    fn count(&self, at: Nanos) -> u64 {
        self.stage.count(self.skipped + at.since(self.begin))
    }

    /// The first instant of the piece at which the count is above `high`, or at most `low`; `None` when there is none.
    fn leaves(&self, low: Option<u64>, high: u64) -> Option<Nanos> {
        let LevelStage { from, to, span } = self.stage;
        let span = u128::from(span.0);
        let spent = if to > from && to > high {
            u128::from(high.saturating_sub(from)) * span / u128::from(to - from) + 1
        } else if let Some(low) = low.filter(|low| to < from && to <= *low) {
            (u128::from(from.saturating_sub(low)) * span).div_ceil(u128::from(from - to))
        } else {
            return None;
        };
        Some(self.begin + Nanos(spent as u64).since(self.skipped)).filter(|at| *at < self.end)
    }
}

/// The remainder that was cut off a profile.
#[derive(Clone, Debug)]
pub struct LevelRest {
    parts: Vec<LevelPiece>,
    /// The instant at which it was cut.
    at: Nanos,
    end: Nanos,
    last: u64,
}

impl LevelRest {
    /// A remainder of whole stages.
    pub fn new(stages: &[LevelStage]) -> Self {
        let UserProfile { pieces, end, last } = UserProfile::new(stages);
        Self { parts: pieces, at: Nanos::ZERO, end, last }
    }

    /// The level at its beginning.
    pub fn count(&self) -> u64 {
        self.parts.iter().find(|piece| piece.begin <= self.at).map_or(self.last, |piece| piece.count(self.at))
    }
}

/// A level over time. After the last stage it stays constant.
#[derive(Clone, Debug)]
pub struct UserProfile {
    pieces: Vec<LevelPiece>,
    end: Nanos,
    last: u64,
}

impl UserProfile {
    /// A profile of consecutive stages.
    pub fn new(stages: &[LevelStage]) -> Self {
        let (mut begin, mut pieces) = (Nanos::ZERO, Vec::new());
        for stage in stages {
            let end = begin + stage.span;
            if stage.span > Nanos::ZERO {
                pieces.push(LevelPiece { stage: *stage, skipped: Nanos::ZERO, begin, end });
            }
            begin = end;
        }
        Self { pieces, end: begin, last: stages.last().map_or(0, |stage| stage.to) }
    }

    /// Keeps the level of an instant from then on; returns the remainder.
    pub fn cut(&mut self, at: Nanos) -> LevelRest {
        let (end, last) = (self.end, self.count(at));
        // The past does not change.
        self.hold_until(at);
        let index = self.pieces.partition_point(|piece| piece.end <= at);
        let mut parts: Vec<LevelPiece> = self.pieces.drain(index..).collect();
        if let Some(piece) = parts.first_mut().filter(|piece| piece.begin < at) {
            self.pieces.push(LevelPiece { end: at, ..*piece });
            (piece.skipped, piece.begin) = (piece.skipped + at.since(piece.begin), at);
        }
        let rest = LevelRest { parts, at, end: end.max(at), last: self.last };
        // The level set by a stage without a span at this instant or before is held.
        (self.end, self.last) = (at, last);
        rest
    }

    /// Continues with the remainder at `at`, no earlier than where it was cut.
    pub fn resume(&mut self, rest: &LevelRest, at: Nanos) {
        self.hold_until(at);
        let later = at.since(rest.at);
        let moved = |piece: &LevelPiece| LevelPiece { begin: piece.begin + later, end: piece.end + later, ..*piece };
        self.pieces.extend(rest.parts.iter().map(moved));
        (self.end, self.last) = (rest.end + later, rest.last);
    }

    fn hold_until(&mut self, at: Nanos) {
        if at > self.end {
            let (count, begin) = (self.last, self.end);
            let stage = LevelStage { from: count, to: count, span: at.since(begin) };
            self.pieces.push(LevelPiece { stage, skipped: Nanos::ZERO, begin, end: at });
            self.end = at;
        }
    }

    /// The maximum number of users over time.
    pub fn most(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.count(piece.begin).max(piece.count(piece.end))).fold(self.last, u64::max)
    }

    /// A profile of a constant number.
    pub fn constant(count: u64) -> Self {
        Self { pieces: Vec::new(), end: Nanos::ZERO, last: count }
    }

    /// Number of users at an instant, counted from the beginning.
    pub fn count(&self, at: Nanos) -> u64 {
        let index = self.pieces.partition_point(|piece| piece.end <= at);
        self.pieces.get(index).map_or(self.last, |piece| piece.count(at))
    }

    /// The first instant after `after` at which the count is above `high`, or at most `low`.
    pub fn next_change(&self, after: Nanos, low: Option<u64>, high: u64) -> Option<Nanos> {
        let soonest = after + Nanos(1);
        let leaves = |count: u64| count > high || low.is_some_and(|low| count <= low);
        let index = self.pieces.partition_point(|piece| piece.end <= soonest);
        for piece in &self.pieces[index..] {
            let first = soonest.max(piece.begin);
            if leaves(piece.count(first)) {
                return Some(first);
            }
            if let Some(at) = piece.leaves(low, high).filter(|at| *at > first) {
                return Some(at);
            }
        }
        (self.end > after && leaves(self.last)).then_some(self.end)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn levels(stages: &[(u64, u64, u64)]) -> UserProfile {
        let stage = |&(from, to, span): &(u64, u64, u64)| LevelStage { from, to, span: Nanos(span) };
        UserProfile::new(&stages.iter().map(stage).collect::<Vec<_>>())
    }

    #[test]
    fn a_ramp_starts_one_after_the_other() {
        let ramp = levels(&[(0, 100, 1_000)]);
        let counts = [0, 1, 10, 11, 500, 999, 1_000, 9_000].map(|at| ramp.count(Nanos(at)));
        assert_eq!(counts, [0, 1, 1, 2, 50, 100, 100, 100]);
        assert_eq!(ramp.next_change(Nanos(0), None, 0), Some(Nanos(1)));
        assert_eq!(ramp.next_change(Nanos(1), Some(0), 1), Some(Nanos(11)));
        assert_eq!(ramp.next_change(Nanos(500), Some(49), 99), Some(Nanos(991)));
        assert_eq!(ramp.next_change(Nanos(991), Some(98), 100), None);
    }

    #[test]
    fn steps_jump_and_go_down() {
        let steps = levels(&[(0, 10, 0), (10, 10, 100), (10, 30, 0), (30, 30, 100), (30, 0, 300)]);
        let counts = [0, 99, 100, 199, 200, 210, 499, 500, 501].map(|at| steps.count(Nanos(at)));
        assert_eq!(counts, [10, 10, 30, 30, 30, 29, 1, 0, 0]);
        assert_eq!(steps.next_change(Nanos(0), Some(9), 10), Some(Nanos(100)));
        assert_eq!(steps.next_change(Nanos(100), Some(29), 30), Some(Nanos(210)));
        assert_eq!(UserProfile::constant(7).count(Nanos(0)), 7);
        assert_eq!(UserProfile::constant(7).next_change(Nanos(0), Some(6), 7), None);
    }

    proptest! {
        #[test]
        fn changes_are_where_they_are_found(
            stages in prop::collection::vec((0u64..20, 0u64..20, 0u64..40), 0..5),
            after in 0u64..200,
            low in prop::option::of(0u64..20),
            high in 0u64..20,
        ) {
            let all = levels(&stages);
            let leaves = |at: u64| {
                let count = all.count(Nanos(at));
                count > high || low.is_some_and(|low| count <= low)
            };
            let slowly = (after + 1..=200).find(|at| leaves(*at)).map(Nanos);
            // After the end nothing changes any more: there is nothing to report.
            let slowly = slowly.filter(|at| *at <= all.end);
            prop_assert_eq!(all.next_change(Nanos(after), low, high), slowly);
        }
    }
}
