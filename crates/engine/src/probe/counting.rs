//! Decides from when the responses of a part of the users are counted, and when there are enough of them.

use pacing::Nanos;

use crate::probe_arithmetic::{self, PartSample, ProbeFinding, Responses, Steady};
use crate::slices::Slice;

/// The first look, in slices, and the growth to each next one.
const FIRST_CHECK: usize = 10;
const CHECK_FACTOR: f64 = 1.5;
/// It lasts for the larger of these, and never longer than the maximum.
const SPAN_MIN: Nanos = Nanos::from_millis(2_000);
const SPAN_SHARE: u64 = 10;
const SPAN_MAX: Nanos = Nanos::from_millis(10_000);
/// Time for its users to connect, beside two response times.
const CONNECT_SPAN: Nanos = Nanos::from_millis(1_000);

/// The responses of a part of the users so far.
pub(super) struct Counting {
    /// The rate before; without one no count is enough.
    before: Option<Steady>,
    /// Users of the probe, and users of the load.
    users: u64,
    of: u64,
    responses: Responses,
    /// The width of a slice in which finished exchanges are counted.
    width: Nanos,
    slices: Vec<Slice>,
    /// The slice in which counting began: responses before each user has had one on average are not counted.
    began: Option<usize>,
    next_check: usize,
    /// Most slices that are counted, and most that may pass before.
    most: usize,
    wait: usize,
    seen: Option<PartSample>,
}

impl Counting {
    /// Counting for a part of the users, after a load of this duration, in slices of this `width`.
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
            next_check: FIRST_CHECK,
            most,
            wait,
            seen: None,
        }
    }

    /// Its maximum duration.
    pub(super) fn longest(&self) -> Nanos {
        Nanos(self.width.0 * (self.most + self.wait) as u64)
    }

    /// Response times of the load before.
    pub(super) fn responses(&self) -> Responses {
        self.responses
    }

    /// The comparison so far.
    pub(super) fn seen(&self) -> Option<PartSample> {
        self.seen
    }

    /// Adds what ended in a slice, or more of it.
    pub(super) fn add(&mut self, index: usize, slice: &Slice) {
        if index >= self.slices.len() {
            self.slices.resize(index + 1, Slice::default());
        }
        self.slices[index].add(slice);
    }

    /// True when enough was seen: two checks agree, or the time is over. Called once after each slice.
    pub(super) fn is_enough(&mut self) -> bool {
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
        if counted.len() < self.next_check && !is_over {
            return false;
        }
        let next = (self.next_check as f64 * CHECK_FACTOR) as usize;
        self.next_check = next.next_multiple_of(FIRST_CHECK);
        let kept = self.users as f64 / self.of.max(1) as f64;
        let last = self.seen.take().map(|seen| seen.response);
        self.seen = probe_arithmetic::compare(&before, kept, self.responses, counted, self.width);
        let is_sure = |seen: PartSample| {
            matches!(seen.response, ProbeFinding::AtLimit | ProbeFinding::Below | ProbeFinding::Refuses)
        };
        // A wave of other work may look like a result for a moment, so that two checks have to agree.
        is_over || self.seen.is_some_and(|seen| is_sure(seen) && last == Some(seen.response))
    }
}
