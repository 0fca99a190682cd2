//! Decides from when on the answers of a part of the users are counted, and when they are enough.

use pacing::Nanos;

use crate::halving::{self, PartSample, ProbeFinding, Responses, Steady};
use crate::slices::Slice;

/// The first look, in stretches, and how much longer each next one takes.
const FIRST_LOOK: usize = 10;
const LOOK_FACTOR: f64 = 1.5;
/// It goes on for the larger of these, and never longer than the most.
const SPAN_MIN: Nanos = Nanos::from_millis(2_000);
const SPAN_SHARE: u64 = 10;
const SPAN_MAX: Nanos = Nanos::from_millis(10_000);
/// Its users have so long to connect, beside two response times.
const CONNECT_SPAN: Nanos = Nanos::from_millis(1_000);

/// What a part of the users has got so far.
pub(super) struct Counting {
    /// The rate before; without one nothing is enough.
    before: Option<Steady>,
    /// How many users there are, of how many.
    users: u64,
    of: u64,
    responses: Responses,
    /// The length of a stretch in which what ended is counted.
    width: Nanos,
    slices: Vec<Slice>,
    /// Answers by which each user has had one on average are not counted.
    began: Option<usize>,
    next_look: usize,
    /// Stretches that are counted at most, and those that pass at most before.
    most: usize,
    wait: usize,
    seen: Option<PartSample>,
}

impl Counting {
    /// Of some users of all, behind a load of this duration, in stretches of this `width`.
    pub(super) fn new(
        before: Option<Steady>,
        (users, of): (u64, u64),
        responses: Responses,
        (duration, width): (Nanos, Nanos),
    ) -> Self {
        let span = Nanos(duration.0 / SPAN_SHARE).clamp(SPAN_MIN, SPAN_MAX);
        let wait = CONNECT_SPAN + Nanos((2e9 * responses.mean_s) as u64);
        let [most, wait] = [span, wait].map(|span| (span.0 / width.0) as usize);
        Self {
            before,
            users,
            of,
            responses,
            width,
            slices: Vec::new(),
            began: None,
            next_look: FIRST_LOOK,
            most,
            wait,
            seen: None,
        }
    }

    /// It is over by then.
    pub(super) fn longest(&self) -> Nanos {
        Nanos(self.width.0 * (self.most + self.wait) as u64)
    }

    /// Response times of the load before.
    pub(super) fn responses(&self) -> Responses {
        self.responses
    }

    /// What they say so far.
    pub(super) fn seen(&self) -> Option<PartSample> {
        self.seen
    }

    /// What ended in a stretch, or more of it.
    pub(super) fn add(&mut self, index: usize, slice: &Slice) {
        if index >= self.slices.len() {
            self.slices.resize(index + 1, Slice::default());
        }
        self.slices[index].add(slice);
    }

    /// True when enough was seen: two looks say the same, or the time is over. Asked once after each stretch.
    pub(super) fn look(&mut self) -> bool {
        let Some(before) = self.before else { return true };
        let seen = self.slices.len();
        let Some(began) = self.began else {
            let responses: u64 = self.slices.iter().map(|slice| slice.ended).sum();
            let is_warm = responses >= self.users && seen as f64 * self.width.as_secs_f64() >= self.responses.mean_s;
            self.began = is_warm.then_some(seen);
            return !is_warm && seen > self.wait;
        };
        let counted = &self.slices[began..];
        let is_over = counted.len() >= self.most;
        if counted.len() < self.next_look && !is_over {
            return false;
        }
        let next = (self.next_look as f64 * LOOK_FACTOR) as usize;
        self.next_look = next.next_multiple_of(FIRST_LOOK);
        let kept = self.users as f64 / self.of.max(1) as f64;
        let last = self.seen.take().map(|seen| seen.response);
        self.seen = halving::compare(&before, kept, self.responses, counted, self.width);
        let is_sure = |seen: PartSample| {
            matches!(seen.response, ProbeFinding::AtLimit | ProbeFinding::Below | ProbeFinding::Refuses)
        };
        // A wave of other work may look like an answer for a moment, so that two looks have to say the same.
        is_over || self.seen.is_some_and(|seen| is_sure(seen) && last == Some(seen.response))
    }
}
