//! The open model: starts at the instants of a schedule, whatever the target does.
//!
//! A [`Schedule`] is a rate over time; its integral counts the starts. Evenly spaced, start `k` comes when the integral
//! reaches `k`; it belongs to slot `k mod SLOT_COUNT`. At random (a Poisson process), each slot has a process of its
//! own with a seed of its own, mapped through the inverse of the integral. Either way the starts of a segment are a
//! function of the schedule alone, and the starts of all segments are those of the whole.

mod starts;
#[cfg(test)]
mod tests;

use crate::Nanos;
use serde::{Deserialize, Serialize};
pub use starts::{Spacing, Starts};

const HOUR_NS: u128 = 3_600 * 1_000_000_000;
/// One start in the unit in which the integral is exact: half a thousandth of a start an hour, times nanoseconds.
const START: u128 = 2 * 1_000 * HOUR_NS;
/// Random instants are stored in fractions of a start; 2^-32 of a start is far below a nanosecond at any rate.
const PARTS: u128 = 1 << 32;

/// An exact rate: starts per time, so `100/m` over an hour is 6,000, not 5,999.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Rate {
    thousandths_per_hour: u64,
}

impl Rate {
    /// No starts.
    pub const ZERO: Self = Self { thousandths_per_hour: 0 };

    /// A rate of thousandths of a start per hour.
    pub fn per_hour_thousandths(thousandths_per_hour: u64) -> Self {
        Self { thousandths_per_hour }
    }

    /// Starts per second, for display.
    pub fn per_second(self) -> f64 {
        self.thousandths_per_hour as f64 / 3_600_000.0
    }

    fn per_nano(self) -> f64 {
        self.thousandths_per_hour as f64 / (1_000.0 * HOUR_NS as f64)
    }
}

/// A span in which the rate changes linearly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// The rate at its beginning.
    pub from: Rate,
    /// The rate at its end.
    pub to: Rate,
    /// Its duration.
    pub span: Nanos,
}

/// A stage at its place in the schedule, or the part of it that remains after a change.
#[derive(Clone, Copy, Debug)]
struct Piece {
    stage: Stage,
    /// The part of the stage that is over before the piece begins.
    skipped: Nanos,
    /// The integral at which the whole stage would have begun; it wraps where a change came early in a schedule.
    base: u128,
    /// Duration of the piece; that of the whole stage if nothing was cut off.
    span: Nanos,
    begin: Nanos,
    /// The integral at the end of the piece, in units of [`START`].
    after: u128,
}

impl Piece {
    fn end(&self) -> Nanos {
        self.begin + self.span
    }

    /// The instant at which the integral, counted from the beginning of its stage, reaches `starts`.
    fn reach(&self, starts: f64) -> Nanos {
        let (from, to, span) = (self.stage.from.per_nano(), self.stage.to.per_nano(), self.stage.span.0 as f64);
        let half_slope = (to - from) / (2.0 * span);
        let root = (from * from + 4.0 * half_slope * starts).max(0.0).sqrt();
        // The form of the quadratic formula that is stable when the slope is small.
        let at = if starts <= 0.0 { 0.0 } else { 2.0 * starts / (from + root) };
        self.begin + Nanos((at as u64).saturating_sub(self.skipped.0).min(self.span.0))
    }

    /// The rate per second at an instant of the piece.
    fn rate_at(&self, at: Nanos) -> f64 {
        let (from, to) = (self.stage.from.per_second(), self.stage.to.per_second());
        from + (to - from) * (self.skipped + at.since(self.begin)).0 as f64 / self.stage.span.0.max(1) as f64
    }
}

impl Stage {
    /// The integral up to a time after its beginning, rounded down.
    fn integral(&self, until: Nanos) -> u128 {
        let [from, to] = [self.from, self.to].map(|rate| i128::from(rate.thousandths_per_hour));
        let (until, span) = (i128::from(until.0), i128::from(self.span.0.max(1)));
        // The part of the slope is divided last: at the end of the stage it is exact.
        let slope = (to - from) * until;
        let (whole, rest) = (slope.div_euclid(span), slope.rem_euclid(span));
        let sum = 2 * from * until + whole * until + (rest * until).div_euclid(span);
        u128::try_from(sum).unwrap_or(0)
    }
}

/// The remainder that was cut off a schedule.
#[derive(Clone, Debug, Default)]
pub struct Rest {
    /// Stages, the part of each that is over, and its remaining duration.
    parts: Vec<(Stage, Nanos, Nanos)>,
}

impl Rest {
    /// Its duration.
    pub fn span(&self) -> Nanos {
        self.parts.iter().fold(Nanos::ZERO, |sum, (.., span)| sum + *span)
    }

    /// The rate per second at its beginning.
    pub fn rate(&self) -> f64 {
        let first = self.parts.iter().find(|(.., span)| *span > Nanos::ZERO);
        let piece = |(stage, skipped, span): &(Stage, Nanos, Nanos)| {
            let (stage, skipped, span) = (*stage, *skipped, *span);
            Piece { stage, skipped, base: 0, span, begin: Nanos::ZERO, after: 0 }
        };
        first.map_or(0.0, |first| piece(first).rate_at(Nanos::ZERO))
    }

    /// A remainder of whole stages.
    pub fn new(stages: &[Stage]) -> Self {
        Self { parts: stages.iter().map(|stage| (*stage, Nanos::ZERO, stage.span)).collect() }
    }
}

/// A rate over time.
#[derive(Clone, Debug)]
pub struct Schedule {
    pieces: Vec<Piece>,
    end: Nanos,
    integral: u128,
    limit: u64,
    /// Starts that were reached before it was cut last: they remain, even if few or none follow.
    reached: u64,
}

impl Schedule {
    /// A schedule of consecutive stages.
    pub fn new(stages: &[Stage]) -> Self {
        let mut schedule = Self { pieces: Vec::new(), end: Nanos::ZERO, integral: 0, limit: u64::MAX, reached: 0 };
        stages.iter().for_each(|stage| schedule.push(stage, Nanos::ZERO, stage.span));
        schedule
    }

    /// Appends a stage, or a part of it.
    fn push(&mut self, stage: &Stage, skipped: Nanos, span: Nanos) {
        let (begin, before) = (self.end, self.integral);
        let skipped_integral = stage.integral(skipped);
        let after = before + stage.integral(skipped + span) - skipped_integral;
        let base = before.wrapping_sub(skipped_integral);
        self.pieces.push(Piece { stage: *stage, skipped, base, span, begin, after });
        (self.end, self.integral) = (begin + span, after);
    }

    /// Ends the schedule at an instant; returns the remainder. Starts before it are unchanged, and the fraction of a
    /// start that the integral has reached is carried over.
    pub fn cut(&mut self, at: Nanos) -> Rest {
        let index = self.pieces.partition_point(|piece| piece.end() <= at);
        let mut rest: Vec<_> =
            self.pieces.drain(index..).map(|piece| (piece.stage, piece.skipped, piece.span)).collect();
        let (begin, before) = self.pieces.last().map_or((Nanos::ZERO, 0), |piece| (piece.end(), piece.after));
        (self.end, self.integral) = (begin, before);
        if let Some((stage, skipped, span)) = rest.first_mut() {
            let kept = at.since(begin);
            if kept > Nanos::ZERO {
                self.push(stage, *skipped, kept);
                (*skipped, *span) = (*skipped + kept, span.since(kept));
            }
        }
        self.reached = u64::try_from(self.integral.div_ceil(START)).unwrap_or(u64::MAX);
        Rest { parts: rest }
    }

    /// Schedules no starts until `at`.
    pub fn rest_until(&mut self, at: Nanos) {
        let span = at.since(self.end);
        if span > Nanos::ZERO {
            self.push(&Stage { from: Rate::ZERO, to: Rate::ZERO, span }, Nanos::ZERO, span);
        }
    }

    /// Continues with a remainder that was cut off.
    pub fn resume(&mut self, rest: &Rest) {
        rest.parts.iter().for_each(|(stage, skipped, span)| self.push(stage, *skipped, *span));
    }

    /// The same schedule, limited to a number of evenly spaced starts.
    #[must_use]
    pub fn with_limit(self, limit: Option<u64>) -> Self {
        Self { limit: limit.unwrap_or(u64::MAX), ..self }
    }

    /// Whether the number of starts is limited.
    pub fn is_limited(&self) -> bool {
        self.limit != u64::MAX
    }

    /// Whether the limit of starts is reached before the last stage is over.
    pub fn reaches_limit(&self) -> bool {
        self.is_limited() && self.integral / START >= u128::from(self.limit)
    }

    /// The end of the last stage.
    pub fn end(&self) -> Nanos {
        self.end
    }

    /// The number of evenly spaced starts: the integral, rounded down, or those that were reached before it was cut.
    pub fn count(&self) -> u64 {
        u64::try_from(self.integral / START).unwrap_or(u64::MAX).max(self.reached).min(self.limit)
    }

    /// The end of the time of all starts, including the last one's: five starts at 5/s take a second.
    pub fn end_of_starts(&self) -> Nanos {
        let limited = self.is_limited().then(|| self.reach(u128::from(self.limit) * START)).flatten();
        limited.map_or(self.end, |limited| limited.min(self.end))
    }

    /// Number of evenly spaced starts intended until `at`, inclusive.
    pub fn count_until(&self, at: Nanos) -> u64 {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.start(middle).is_some_and(|start| start <= at) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The mean rate per second until `at`, or until the last start when they are limited.
    pub fn mean_rate_until(&self, at: Nanos) -> f64 {
        let limited = (self.integral / START > u128::from(self.limit))
            .then(|| self.reach(u128::from(self.limit) * START))
            .flatten();
        let at = limited.map_or(at, |limited| limited.min(at)).min(self.end);
        let mut starts = 0.0;
        for piece in self.pieces.iter().filter(|piece| piece.begin < at) {
            let until = at.min(piece.end());
            let mean = (piece.rate_at(piece.begin) + piece.rate_at(until)) / 2.0;
            starts += mean * (until - piece.begin).as_secs_f64();
        }
        if at == Nanos::ZERO { 0.0 } else { starts / at.as_secs_f64() }
    }

    /// The rate per second at an instant; 0 after the end.
    pub fn rate_at(&self, at: Nanos) -> f64 {
        let index = self.pieces.partition_point(|piece| piece.end() <= at);
        self.pieces.get(index).map_or(0.0, |piece| piece.rate_at(at))
    }

    /// The instant at which the integral reaches `integral`; `None` when it never does.
    fn reach(&self, integral: u128) -> Option<Nanos> {
        let index = self.pieces.partition_point(|piece| piece.after <= integral);
        let piece = self.pieces.get(index)?;
        let integral = integral.wrapping_sub(piece.base);
        // The same number; converting 64 bits is one instruction, 128 bits a call.
        let integral = u64::try_from(integral).map_or_else(|_| integral as f64, |short| short as f64);
        Some(piece.reach(integral / START as f64))
    }

    /// The instant of evenly spaced start `number`, the first being 0; `None` when there are not as many.
    pub fn start(&self, number: u64) -> Option<Nanos> {
        // For a number below the count, this avoids a division.
        let integral = u128::from(number) * START;
        let is_one = number < self.limit && (integral + START <= self.integral || number < self.reached);
        if is_one { self.reach(integral) } else { None }
    }
}
