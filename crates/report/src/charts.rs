//! What charts show of a run: its series over time, thinned so that any run has about as many points; a heat map of its
//! times; marks. As values, in no language: [`crate::html`] gives them their words.
//!
//! Points are merged in pairs when there are too many, and hold sums and histograms, so rates and percentiles of a merged
//! point are those of all its time; where a series stands as a line, a band keeps its extremes.

mod hist;
mod points;

use figures::{Interval, Run};
use metrics::{Distribution, Measure};
use pacing::Nanos;
use plan::{Load, Plan, RATE_UNIT, RateStage, UserShape};
use serde_json::{Map, Value, json};

use hist::Hist;
use points::Point;

/// Grows with every change that a reader could stumble over.
const VERSION: u32 = 1;
/// The most points of a series; with twice as many intervals each point is of two.
const POINTS_MAX: usize = 600;
/// The most steps and transactions that have series of their own: the busiest.
const PARTS_MAX: usize = 24;
/// The most kinds of failures that have series of their own: the most frequent.
const FAILURES_MAX: usize = 8;
/// The most marks; later ones are left out.
const MARKS_MAX: usize = 200;
/// Steps of the heat map for each power of ten.
const HEAT_STEPS: f64 = 10.0;

/// What happened at an instant, and is told on the axis of time.
#[derive(Clone, Debug)]
struct Mark {
    at: Nanos,
    kind: &'static str,
    en: String,
    zh: String,
}

/// Collects what charts show.
#[derive(Debug)]
pub struct Charts {
    points: Vec<Point>,
    /// Intervals of each point but the last, which may be of fewer.
    stride: u64,
    parts: Vec<PartName>,
    stages: Vec<Vec<RateStage>>,
    marks: Vec<Mark>,
}

/// A step or a transaction.
#[derive(Clone, Debug)]
struct PartName {
    scenario: String,
    name: String,
    kind: &'static str,
}

impl Charts {
    /// Those of a plan.
    pub fn new(plan: &Plan) -> Self {
        let stages = plan.scenarios.iter().filter_map(|scenario| match &scenario.load {
            Load::Open { stages, .. } => Some(stages.clone()),
            Load::Closed { .. } => None,
        });
        let mut charts =
            Self { points: Vec::new(), stride: 1, parts: Vec::new(), stages: stages.collect(), marks: Vec::new() };
        charts.mark_stages(plan);
        charts
    }

    /// Where one stage of a load ends and the next begins.
    fn mark_stages(&mut self, plan: &Plan) {
        let is_one = plan.scenarios.len() == 1;
        for scenario in &plan.scenarios {
            let name = if is_one { String::new() } else { format!("{}: ", scenario.name) };
            let mut at = core::time::Duration::ZERO;
            let mut ends: Vec<(core::time::Duration, String)> = Vec::new();
            match &scenario.load {
                Load::Open { stages, .. } => {
                    for stage in stages {
                        ends.push((at, format!("{name}{}/s", stage.from as f64 / RATE_UNIT as f64)));
                        at += stage.span;
                    }
                }
                Load::Closed { shape: UserShape::Stages(stages), .. } => {
                    for stage in stages {
                        ends.push((at, format!("{name}{}", stage.from)));
                        at += stage.span;
                    }
                }
                Load::Closed { .. } => {}
            }
            for (at, text) in ends.into_iter().skip(1) {
                self.mark(at.into(), "stage", (text.clone(), text));
            }
        }
    }

    /// Something happened; in English and Chinese.
    pub fn mark(&mut self, at: Nanos, kind: &'static str, (en, zh): (String, String)) {
        if self.marks.len() < MARKS_MAX {
            self.marks.push(Mark { at, kind, en, zh });
        }
    }

    /// Adds an interval, or what came late of one.
    pub fn interval(&mut self, interval: &Interval) {
        self.name_parts(interval);
        if interval.late_shards > 0 && !interval.is_again {
            let late = interval.late_shards;
            let text = (format!("{late} threads had not reported"), format!("{late} 个线程未及时上报"));
            self.mark(interval.to, "stall", text);
        }
        let place = ((interval.number - 1) / self.stride) as usize;
        match self.points.get_mut(place) {
            Some(point) => point.add(interval),
            // What was left out between is nothing that happened.
            None => self.points.push(Point::of(interval)),
        }
        if self.points.len() > POINTS_MAX {
            self.halve();
        }
    }

    fn name_parts(&mut self, interval: &Interval) {
        if !self.parts.is_empty() {
            return;
        }
        for scenario in &interval.scenarios {
            let named = |kind: &'static str, part: &figures::StepPart| PartName {
                scenario: scenario.name.clone(),
                name: part.name.clone(),
                kind,
            };
            self.parts.extend(scenario.steps.iter().map(|part| named("step", part)));
            self.parts.extend(scenario.transactions.iter().map(|part| named("transaction", part)));
        }
    }

    fn halve(&mut self) {
        let mut merged: Vec<Point> = Vec::with_capacity(self.points.len().div_ceil(2));
        for (index, point) in self.points.drain(..).enumerate() {
            match merged.last_mut() {
                Some(last) if index % 2 == 1 => last.merge(&point),
                _ => merged.push(point),
            }
        }
        self.points = merged;
        self.stride *= 2;
    }

    /// All of it, when the run is over.
    pub fn value(&self, run: &Run) -> Value {
        let mut value = json!({
            "version": VERSION,
            "began_unix_ms": run.began_unix_ns() / 1_000_000,
            "span_s": round(run.wall.as_secs_f64()),
            "from_s": self.each(|point| Some(point.from.as_secs_f64())),
            "to_s": self.each(|point| Some(point.to.as_secs_f64())),
            "series": self.series(),
            "failures": self.failures(),
            "parts": self.parts_of(),
            "heat": self.heat(),
            "spectrum": spectrum(run),
        });
        let mut marks: Vec<&Mark> = self.marks.iter().filter(|mark| mark.at <= run.wall).collect();
        marks.sort_by_key(|mark| mark.at);
        let one = |mark: &&Mark| json!({"at_s": round(mark.at.as_secs_f64()), "kind": mark.kind, "en": mark.en, "zh": mark.zh});
        value["marks"] = marks.iter().map(one).collect();
        value
    }

    fn each(&self, of: impl Fn(&Point) -> Option<f64>) -> Value {
        self.points.iter().map(|point| of(point).map(round)).collect()
    }

    fn series(&self) -> Value {
        let mut all = Map::new();
        let mut put = |name: &str, of: &dyn Fn(&Point) -> Option<f64>| {
            all.insert(name.to_owned(), self.each(of));
        };
        if !self.stages.is_empty() {
            put("asked_per_s", &|point| Some(self.asked_between(point)));
            put("dropped_per_s", &|point| point.per_s(point.dropped));
        }
        put("done_per_s", &|point| point.per_s(point.finished));
        put("done_low", &|point| point.rates.low());
        put("done_high", &|point| point.rates.high());
        put("failed_per_s", &|point| point.per_s(point.failed));
        for (name, share) in [("p50_s", 0.5), ("p90_s", 0.9), ("p99_s", 0.99), ("p99_9_s", 0.999)] {
            put(name, &|point| point.times.quantile(share));
        }
        put("p99_low", &|point| point.p99s.low());
        put("p99_high", &|point| point.p99s.high());
        put("users", &|point| Some(point.users as f64));
        put("in_flight", &|point| Some(point.in_flight as f64));
        put("connections", &|point| Some(point.connections as f64));
        put("received_per_s", &|point| point.per_s(point.received));
        put("sent_per_s", &|point| point.per_s(point.sent));
        put("lateness_p99_s", &|point| point.lateness.quantile(0.99));
        put("cpu_cores", &|point| point.cpu_cores());
        Value::Object(all)
    }

    /// What the plan asks for in the time of a point, for each second of it.
    fn asked_between(&self, point: &Point) -> f64 {
        let (from, to) = (point.from.as_secs_f64(), point.to.as_secs_f64());
        let starts: f64 = self.stages.iter().map(|stages| starts_until(stages, to) - starts_until(stages, from)).sum();
        if to > from { starts / (to - from) } else { 0.0 }
    }

    fn failures(&self) -> Value {
        let mut sums: Vec<(&str, u64)> = Vec::new();
        for (name, count) in self.points.iter().flat_map(|point| &point.failures) {
            match sums.iter_mut().find(|(known, _)| known == name) {
                Some((_, sum)) => *sum += count,
                None => sums.push((name, *count)),
            }
        }
        sums.sort_by_key(|(_, sum)| core::cmp::Reverse(*sum));
        let one = |(name, _): &(&str, u64)| {
            let of =
                |point: &Point| point.failures.iter().find(|(known, _)| known == name).map_or(0, |(_, count)| *count);
            json!({"reason": name, "per_s": self.each(|point| point.per_s(of(point)))})
        };
        sums.iter().take(FAILURES_MAX).map(one).collect()
    }

    fn parts_of(&self) -> Value {
        // One step is the whole.
        if self.parts.len() < 2 {
            return Value::Array(Vec::new());
        }
        let finished = |place: usize| -> u64 {
            self.points.iter().filter_map(|point| point.parts.get(place)).map(|part| part.finished).sum()
        };
        let mut places: Vec<usize> = (0..self.parts.len()).collect();
        places.sort_by_key(|place| (core::cmp::Reverse(finished(*place)), *place));
        places.truncate(PARTS_MAX);
        places.sort_unstable();
        let one = |place: &usize| {
            let name = &self.parts[*place];
            let of = |of: fn(&points::PartPoint, &Point) -> Option<f64>| {
                self.each(|point| point.parts.get(*place).and_then(|part| of(part, point)))
            };
            json!({
                "scenario": name.scenario,
                "name": name.name,
                "kind": name.kind,
                "per_s": of(|part, point| point.per_s(part.finished)),
                "p99_s": of(|part, _| part.times.quantile(0.99)),
            })
        };
        places.iter().map(one).collect()
    }

    /// How often each time was met, by the interval.
    fn heat(&self) -> Value {
        let (mut least, mut most) = (f64::INFINITY, 0.0f64);
        for (seconds, _) in self.points.iter().flat_map(|point| point.times.bars()) {
            (least, most) = (least.min(seconds), most.max(seconds));
        }
        if most <= 0.0 {
            return Value::Null;
        }
        let step = |seconds: f64| (seconds.log10() * HEAT_STEPS).floor() as i64;
        let (low, high) = (step(least), step(most));
        let edges: Vec<f64> = (low..=high + 1).map(|at| round(10f64.powf(at as f64 / HEAT_STEPS))).collect();
        let column = |point: &Point| -> Vec<u64> {
            let mut counts = vec![0u64; (high - low + 1) as usize];
            for (seconds, count) in point.times.bars() {
                counts[(step(seconds) - low) as usize] += count;
            }
            counts
        };
        let columns: Vec<Vec<u64>> = self.points.iter().map(column).collect();
        json!({"edges_s": edges, "counts": columns})
    }
}

/// Starts that stages ask for until an instant.
fn starts_until(stages: &[RateStage], until: f64) -> f64 {
    let (mut begin, mut sum) = (0.0, 0.0);
    for stage in stages {
        let span = stage.span.as_secs_f64();
        let within = (until - begin).clamp(0.0, span);
        let (from, to) = (stage.from as f64 / RATE_UNIT as f64, stage.to as f64 / RATE_UNIT as f64);
        let slope = if span > 0.0 { (to - from) / span } else { 0.0 };
        sum += from * within + slope * within * within / 2.0;
        begin += span;
    }
    sum
}

/// The percentiles of the whole run, closer to each other where they are rare.
fn spectrum(run: &Run) -> Value {
    let of = |measure: Measure| curve(run.recorded.succeeded.of(measure));
    let all =
        [Measure::Response, Measure::Service].map(|measure| json!({"measure": measure.name(), "points": of(measure)}));
    all.into_iter().collect()
}

fn curve(times: &Distribution) -> Value {
    if times.count() == 0 {
        return Value::Array(Vec::new());
    }
    let (mut shares, mut rest) = (vec![0.0], 1.0f64);
    while rest * times.count() as f64 > 1.0 && shares.len() < 80 {
        // Ten steps for each power of ten.
        rest /= 10f64.powf(0.1);
        shares.push(1.0 - rest);
    }
    let at = |share: f64| Some(json!([share, round(times.quantile(share.max(1e-9))? as f64 / 1e9)]));
    let least = times.min().map(|ns| json!([0.0, round(ns as f64 / 1e9)]));
    let most = times.max().map(|ns| json!([1.0, round(ns as f64 / 1e9)]));
    least.into_iter().chain(shares.into_iter().skip(1).filter_map(at)).chain(most).collect()
}

/// Four digits: more cannot be seen.
fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(4 - value.abs().log10().floor() as i32);
    let rounded = (value * scale).round() / scale;
    // The digits that a division adds are none.
    format!("{rounded:.9}").parse().unwrap_or(rounded)
}
