//! What the rate of a part of the users shows: pure arithmetic over counts in equal stretches of time.
//!
//! With a part of the users, a target at its limit still gives the whole rate, any other gives the same part of it.
//! The dividing line is in the middle. A rate that is closer to it than the noise of both rates is called unsure.

use pacing::Nanos;

use crate::slices::{Slice, Slices};

/// Stretches that a steady rate is divided into.
const STEADY_PARTS: usize = 20;
/// Stretches that the rate of a part of the users is divided into.
const PARTS: usize = 10;
/// Fewest stretches for a conclusion. With users that wait in step for slow responses, a stretch is no shorter than one
/// response.
const PARTS_MIN: usize = 4;
/// A rate is steady when its parts differ by less than this share of it, or by no more than noise.
const STEADY_SHARE: f64 = 0.05;
/// Standard errors beyond which a difference is not noise.
const SURE: f64 = 2.5;
/// Fewest responses for a conclusion about stretches of a load.
pub(crate) const RESPONSES_MIN: f64 = 30.0;
/// The same for a probe, where the spread of response times is known and a second look has to agree.
const PROBE_RESPONSES_MIN: f64 = 20.0;
/// Minimum length of a steady stretch in seconds, unless the load is shorter.
const STEADY_MIN_S: f64 = 1.0;
/// Largest difference of the shares of failures; beyond it, it is another load.
const FAILING_DIFFERENCE_MAX: f64 = 0.05;

/// A measured rate: its mean, and the variance of the mean.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rate {
    per_s: f64,
    variance: f64,
}

impl Rate {
    /// The rate of counts in equal parts of `part_s` seconds each.
    fn new(counts: &[f64], part_s: f64) -> Self {
        let count = counts.len().max(1) as f64;
        let mean = counts.iter().sum::<f64>() / count;
        Self { per_s: mean / part_s, variance: variance(counts) / count / part_s.powi(2) }
    }
}

/// Counts in equal parts of a stretch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    ended: Rate,
    succeeded: Rate,
    failing: f64,
    responses: [f64; 2],
}

impl Sample {
    pub(crate) fn new(parts: &[Slice], part_s: f64) -> Self {
        let [ended, succeeded] =
            [|part: &Slice| part.ended, |part: &Slice| part.succeeded].map(|of| values_of_parts(parts, of));
        Self {
            failing: failing(parts),
            responses: [ended.iter().sum(), succeeded.iter().sum()],
            ended: Rate::new(&ended, part_s),
            succeeded: Rate::new(&succeeded, part_s),
        }
    }
}

/// A steady rate at the end of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    /// How long it was steady.
    pub span: Nanos,
    sample: Sample,
}

impl Steady {
    /// The longest stretch before the end whose parts do not differ. `response_s`: the mean response time; the first
    /// two such times are left out.
    pub(crate) fn before_the_end(slices: &Slices, response_s: f64) -> Option<Self> {
        let all = slices.span().as_secs_f64();
        let spans = [all - (2.0 * response_s).min(all / 2.0), all / 2.0, all / 4.0, all / 8.0];
        let mut spans = spans.into_iter().take_while(|span| *span >= STEADY_MIN_S.min(all / 2.0));
        spans.find_map(|span| Self::new(slices, span, response_s))
    }

    /// The rate of the last stretch of this length, when it is steady.
    fn new(slices: &Slices, span_s: f64, response_s: f64) -> Option<Self> {
        let width = slices.width.as_secs_f64();
        let parts = parts_of(STEADY_PARTS, span_s, response_s);
        // A stretch shorter than its slices has no slice of its own.
        let each = ((span_s / width / parts as f64) as usize).max(1);
        let last = slices.each.len().checked_sub(each * parts)?;
        let parts = grouped(&slices.each[last..], each);
        let ended = values_of_parts(&parts, |part| part.ended);
        (mean(&ended) > 0.0 && is_steady(&ended)).then(|| Self {
            span: Nanos(slices.width.0 * (each * parts.len()) as u64),
            sample: Sample::new(&parts, width * each as f64),
        })
    }

    /// Successes per second.
    pub fn succeeded_per_s(&self) -> f64 {
        self.sample.succeeded.per_s
    }
}

/// What a probe with a part of the users finds about the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeFinding {
    /// The part gets the whole rate.
    AtLimit,
    /// The part gets all of its successes: the target refuses the excess.
    Refuses,
    /// The part gets its share of the rate.
    Below,
    /// Another share of requests fails than before.
    Differing,
    /// The difference is no larger than noise.
    Unsure,
}

/// A measurement with a part of the users.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartSample {
    /// The finding.
    pub response: ProbeFinding,
    /// Their rate, as a share of the rate before.
    pub share: f64,
}

/// Number of parts: none is shorter than a response, as long as there are a few of them.
fn parts_of(most: usize, span_s: f64, response_s: f64) -> usize {
    ((span_s / response_s.max(1e-9)) as usize).clamp(PARTS_MIN, most)
}

/// Response times of a load: their mean in seconds, and their standard deviation as a share of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Responses {
    pub(crate) mean_s: f64,
    pub(crate) spread: f64,
}

/// Compares the rate of a part of the users with the one before.
pub(crate) fn compare(
    before: &Steady,
    kept: f64,
    responses: Responses,
    slices: &[Slice],
    width: Nanos,
) -> Option<PartSample> {
    let parts = parts_of(PARTS, slices.len() as f64 * width.as_secs_f64(), responses.mean_s);
    let (each, spread) = (slices.len() / parts, responses.spread);
    if each == 0 {
        return None;
    }
    let parts = grouped(&slices[slices.len() - each * parts..], each);
    let now = Sample::new(&parts, width.as_secs_f64() * each as f64);
    compare_samples(&before.sample, &now, kept, spread, PROBE_RESPONSES_MIN)
}

/// The same for any two stretches, where the second has at least `responses_min` responses.
pub(crate) fn compare_samples(
    before: &Sample,
    now: &Sample,
    kept: f64,
    spread: f64,
    responses_min: f64,
) -> Option<PartSample> {
    let ratio = |rate: Rate, before: Rate, responses: f64| {
        (before.per_s > 0.0 && responses >= responses_min).then(|| {
            let share = rate.per_s / before.per_s;
            let relative = |rate: Rate| rate.variance / rate.per_s.powi(2);
            let error = share * (relative(rate) + relative(before)).sqrt();
            // Counts are integers, and a few of them show their variation only by chance.
            (share, error.max(0.5 / responses).max(share * spread / responses.sqrt()))
        })
    };
    let ended = ratio(now.ended, before.ended, now.responses[0])?;
    let succeeded = ratio(now.succeeded, before.succeeded, now.responses[1])?;
    let line = (1.0 + kept) / 2.0;
    let is_above = |(share, error): (f64, f64)| share - SURE * error > line;
    let is_below = |(share, error): (f64, f64)| share + SURE * error < line;
    let is_differing = (now.failing - before.failing).abs() > FAILING_DIFFERENCE_MAX;
    let response = match () {
        () if is_below(ended) && is_above(succeeded) => ProbeFinding::Refuses,
        () if is_differing => ProbeFinding::Differing,
        () if is_above(succeeded) => ProbeFinding::AtLimit,
        () if is_below(succeeded) => ProbeFinding::Below,
        () => ProbeFinding::Unsure,
    };
    Some(PartSample { response, share: succeeded.0 })
}

/// Whether neither the halves nor the last quarter differ from the rest by more than noise.
fn is_steady(counts: &[f64]) -> bool {
    let mean_of_all = mean(counts);
    [counts.len() / 2, counts.len() * 3 / 4].into_iter().all(|middle| {
        let (one, other) = counts.split_at(middle);
        let error = (variance(one) / one.len() as f64 + variance(other) / other.len() as f64).sqrt();
        let difference = (mean(one) - mean(other)).abs();
        difference <= STEADY_SHARE * mean_of_all || difference <= SURE * error
    })
}

/// Slices merged in groups of `each`.
pub(crate) fn grouped(slices: &[Slice], each: usize) -> Vec<Slice> {
    let sum = |slices: &[Slice]| {
        slices.iter().fold(Slice::default(), |mut sum, slice| {
            sum.add(slice);
            sum
        })
    };
    slices.chunks(each.max(1)).map(sum).collect()
}

fn values_of_parts(parts: &[Slice], of: impl Fn(&Slice) -> u64) -> Vec<f64> {
    parts.iter().map(|part| of(part) as f64).collect()
}

fn failing(parts: &[Slice]) -> f64 {
    let sum = |of: fn(&Slice) -> u64| parts.iter().map(of).sum::<u64>();
    let ended = sum(|part| part.ended);
    if ended == 0 { 0.0 } else { (ended - sum(|part| part.succeeded).min(ended)) as f64 / ended as f64 }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Variance of a sample.
fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    if values.len() < 2 { 0.0 } else { squares / (values.len() - 1) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: Nanos = Nanos::from_millis(10);
    const RESPONSES: Responses = Responses { mean_s: 0.001, spread: 0.5 };

    fn slices(counts: impl IntoIterator<Item = u64>) -> Vec<Slice> {
        counts.into_iter().map(|ended| Slice { ended, succeeded: ended, ..Slice::default() }).collect()
    }

    /// Ten in each hundredth of a second, give or take one, for three seconds.
    fn before() -> Steady {
        let each = slices((0..300).map(|index| 9 + index * 7 % 3));
        Steady::before_the_end(&Slices { width: WIDTH, each }, 0.01).expect("it is steady")
    }

    fn response(kept: f64, now: &[Slice]) -> Option<ProbeFinding> {
        compare(&before(), kept, RESPONSES, now, WIDTH).map(|seen| seen.response)
    }

    #[test]
    fn half_of_the_users_get_the_whole_rate_or_half_of_it() {
        assert!((before().succeeded_per_s() - 1_000.0).abs() < 10.0);
        let now = |count: u64| slices((0..40).map(|index| count - 1 + index * 7 % 3));
        assert_eq!(response(0.5, &now(10)), Some(ProbeFinding::AtLimit));
        assert_eq!(response(0.5, &now(5)), Some(ProbeFinding::Below));
        // In the middle there is no conclusion, nor with few responses.
        assert_eq!(response(0.5, &slices((0..40).map(|index| 6 + index % 4))), Some(ProbeFinding::Unsure));
        assert_eq!(response(0.5, &slices(vec![1; 14])), None);
        assert_eq!(response(0.5, &slices(vec![10; 9])), None);
        // A third of the users gets a third.
        assert_eq!(response(0.33, &now(4)), Some(ProbeFinding::Below));
    }

    #[test]
    fn what_is_refused_is_reported_from_what_is_served() {
        let before = slices(vec![100; 300]).into_iter().map(|slice| Slice { succeeded: 2, ..slice });
        let before = Slices { width: WIDTH, each: before.collect() };
        let before = Steady::before_the_end(&before, 0.001).expect("it is steady");
        let now = slices(vec![50; 40]).into_iter().map(|slice| Slice { succeeded: 2, ..slice }).collect::<Vec<_>>();
        let seen = compare(&before, 0.5, RESPONSES, &now, WIDTH).expect("enough");
        assert_eq!(seen.response, ProbeFinding::Refuses);
        // Where another share fails, it is another load.
        let now = slices(vec![100; 40]);
        assert_eq!(
            compare(&before, 0.5, RESPONSES, &now, WIDTH).map(|seen| seen.response),
            Some(ProbeFinding::Differing)
        );
    }

    /// Users in step: fifty responses each 300 ms, and then half of them.
    #[test]
    fn slow_responses_in_step_are_no_noise() {
        let in_step = |each: u64, count: usize| slices((1..=count).map(|index| if index % 30 == 0 { each } else { 0 }));
        let steady =
            Steady::before_the_end(&Slices { width: WIDTH, each: in_step(50, 300) }, 0.3).expect("it is steady");
        let responses = Responses { mean_s: 0.3, spread: 0.01 };
        let seen = compare(&steady, 0.5, responses, &in_step(25, 120), WIDTH).expect("enough");
        assert_eq!((seen.response, seen.share), (ProbeFinding::Below, 0.5));
    }

    #[test]
    fn a_rate_that_changes_is_not_compared() {
        let growing = |width| Slices { width, each: slices((0..320).map(|index| 10 + index)) };
        assert_eq!(Steady::before_the_end(&growing(WIDTH), 0.01), None);
        // A rate that has become steady is steady by its last part.
        let mut each = slices((0..160).map(|index| 10 + index));
        each.extend(slices(vec![170; 160]));
        let steady = Steady::before_the_end(&Slices { width: WIDTH, each }, 0.01).expect("its last half");
        assert_eq!(steady.span, Nanos::from_millis(1_600));
    }
}
