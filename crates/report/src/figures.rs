//! The figures that all views show, taken once from the result of a run.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use engine::RunResult;
use metrics::{Censored, Class, Distribution, Judgement, Measure, Percentile, Snapshot, Threshold, Timings};
use pacing::Nanos;
use plan::Plan;

use crate::Note;
use crate::say::Scene;

/// A run that is over.
#[derive(Debug)]
pub struct Run<'a> {
    /// What was to be done.
    pub plan: &'a Plan,
    /// The target, resolved.
    pub address: SocketAddr,
    /// How long the lookup of its name took, when there was one.
    pub lookup: Option<Duration>,
    /// What it has come to.
    pub result: &'a RunResult,
    /// What its figures must be.
    pub thresholds: &'a [Threshold],
    /// What was noted while it ran.
    pub notes: &'a [Note],
}

/// The quantiles of every view, with their names.
pub(crate) const QUANTILES: [(&str, f64); 5] =
    [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)];

/// The quantiles of every view, and the maximum, of a distribution.
pub fn percentiles_of(times: &Distribution, seen: &Snapshot, measure: Measure) -> Vec<(&'static str, Percentile)> {
    let censored = Censored::of(seen, measure);
    QUANTILES
        .iter()
        .copied()
        .chain([("max", 1.0)])
        .filter_map(|(name, quantile)| Some((name, censored.percentile(times, quantile)?)))
        .collect()
}

/// A bar of the text histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    pub(crate) count: u64,
}

/// About ten bars of equal ratio from the minimum to the maximum: latencies differ by factors, not by sums.
pub(crate) fn histogram(times: &Distribution) -> Vec<Bar> {
    const BARS: u32 = 10;
    let (Some(min), Some(max)) = (times.min(), times.max()) else { return Vec::new() };
    let (low, high) = (min.max(1) as f64, max.max(1) as f64 + 1.0);
    let ratio = (high / low).powf(1.0 / f64::from(BARS)).max(1.02);
    let mut bars = Vec::new();
    let mut from = low;
    while from < high && bars.len() < BARS as usize + 1 {
        let to = if bars.len() + 1 == BARS as usize { high } else { (from * ratio).min(high) };
        let (from_ns, to_ns) = (from.round() as u64, (to.round() as u64).max(from.round() as u64 + 1));
        bars.push(Bar { from_ns, to_ns, count: times.count_between(from_ns, to_ns) });
        from = to_ns as f64;
    }
    bars
}

impl Run<'_> {
    pub(crate) fn seen(&self) -> &Snapshot {
        &self.result.total
    }

    /// All connections go to one address.
    fn is_one_place(&self) -> bool {
        self.plan.scenarios.iter().all(|scenario| {
            scenario.targets.len() == 1
                && (self.seen().counts.redirects == 0 || scenario.steps.iter().all(|step| step.follow.is_none()))
        })
    }

    /// When it began, in the nanoseconds of Unix.
    pub(crate) fn began_unix_ns(&self) -> u128 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |span| span.as_nanos());
        now.saturating_sub(u128::from(self.result.wall.0))
    }

    /// Where the load went.
    pub(crate) fn place(&self) -> String {
        let scenario = self.plan.scenarios.first();
        match scenario.and_then(|scenario| scenario.targets.first()).and_then(|target| target.unix.as_ref()) {
            Some(path) => format!("unix:{}", path.display()),
            None => self.address.to_string(),
        }
    }

    /// Each threshold with what was seen of it.
    pub fn judgements(&self) -> impl Iterator<Item = (&Threshold, Judgement)> + '_ {
        let span = self.result.started_for.as_duration();
        self.thresholds.iter().map(move |threshold| (threshold, threshold.judge(self.seen(), span)))
    }

    /// The circumstances of its failures.
    pub(crate) fn scene(&self) -> Scene<'_> {
        Scene {
            address: self.is_one_place().then_some(self.address),
            place: None,
            step: self.plan.scenarios.first().and_then(|scenario| scenario.steps.first()),
            seen: Some(self.seen()),
            is_held: false,
            refused: self.result.refused.as_ref(),
            lacked_certificate: self.result.lacked_certificate,
        }
    }

    /// The headline series: what succeeded.
    pub(crate) fn succeeded(&self) -> Timings {
        self.seen().class(Class::Succeeded)
    }

    /// Finished exchanges a second of the time in which exchanges were started; what ended later is left out.
    pub(crate) fn rate(&self) -> f64 {
        let counts = &self.seen().counts;
        per_second(counts.finished() - counts.drained, self.result.started_for.as_secs_f64())
    }

    /// Of an open load: starts a second of the same time, without those that were dropped.
    pub(crate) fn achieved(&self) -> Option<f64> {
        let counts = &self.seen().counts;
        let started = counts.started - counts.dropped;
        self.result.asked_per_s.map(|_| per_second(started, self.result.started_for.as_secs_f64()))
    }

    /// Iterations that came to their end, and those that were cut: of a single URL each request with its redirects is one.
    pub(crate) fn iterations(&self) -> (u64, u64) {
        let counts = &self.seen().counts;
        if self.plan.scenarios.iter().any(|scenario| scenario.steps.len() > 1) {
            return (counts.iterations, counts.iterations_cut);
        }
        (counts.finished().saturating_sub(counts.redirects), counts.unfinished)
    }

    /// Percentiles of what succeeded that stalls of our own may have made.
    pub(crate) fn spoiled(&self, measure: Measure) -> Spoiled {
        Spoiled::of(self.seen(), measure)
    }

    /// The users of a closed load, or the most connections of an open one.
    pub(crate) fn users(&self) -> u64 {
        self.plan.scenarios.iter().map(plan::Scenario::users).sum()
    }

    /// Messages are counted: those of gRPC, WebSocket and TCP.
    pub(crate) fn has_messages(&self) -> bool {
        let mut steps = self.plan.scenarios.iter().flat_map(|scenario| &scenario.steps);
        steps.any(|step| step.call.is_some() || step.talk.is_some())
    }

    /// Calls of gRPC are made.
    pub(crate) fn is_grpc(&self) -> bool {
        self.plan.scenarios.iter().flat_map(|scenario| &scenario.steps).any(|step| step.call.is_some())
    }

    /// CPU time of the shards for each finished exchange, in microseconds; `None` when none finished.
    pub(crate) fn cpu_us_per_request(&self) -> Option<f64> {
        let finished = self.seen().counts.finished();
        (finished > 0).then(|| self.seen().cpu_ns as f64 / 1e3 / finished as f64)
    }

    /// CPU time of the shards as a share of what their threads could have had.
    pub(crate) fn cpu_share(&self) -> f64 {
        let available = self.result.wall.0 as f64 * self.result.threads as f64;
        // A run that was stopped in its warm-up has no time to speak of.
        if self.result.wall >= Nanos::from_millis(1) { self.seen().cpu_ns as f64 / available } else { 0.0 }
    }
}

/// Which percentiles contain more of our own stalls than they may.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spoiled {
    covered: u64,
    of: u64,
}

impl Spoiled {
    fn of(seen: &Snapshot, measure: Measure) -> Self {
        let covered = match measure {
            Measure::Response => seen.counts.covered_responses,
            Measure::Service => seen.covered_count(),
            // It begins with the service time, and whoever reads it late reads both late.
            Measure::FirstByte => seen.covered_count(),
            Measure::Wait | Measure::Lateness => return Self::default(),
        };
        let known = seen.class(Class::Succeeded).of(measure).count();
        Self { covered, of: known + Censored::of(seen, measure).count() }
    }

    /// More exchanges lived through a stall than there are above this quantile.
    pub(crate) fn is(self, quantile: f64) -> bool {
        self.covered as f64 > (1.0 - quantile) * self.of as f64 + 1e-9
    }
}

pub(crate) fn per_second(count: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { count as f64 / seconds } else { 0.0 }
}
