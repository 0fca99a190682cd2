//! Data of the charts of a run: its series over time, thinned so that any run has about as many points, and marks.
//!
//! Points are merged in pairs when there are too many. They hold sums and histograms, so rates and percentiles of a
//! merged point are those of its whole time span; where a series is drawn as a line, a band keeps its extremes.

mod hist;
mod points;

use std::sync::Arc;

use pacing::Nanos;
use pacing::change::{LoadProfile, Timeline};
use pacing::open::Schedule;
use plan::{Load, Plan, RATE_UNIT, RateStage, Scenario, UserShape};

use crate::{Interval, StepPart};
use hist::Hist;
pub use points::{PartPoint, Point, PointTimes, Range};

/// The most points of a series; with twice as many intervals each point covers two.
const POINTS_MAX: usize = 600;
/// The most bytes of all points, while there are more points than the minimum: charts of many steps have fewer points.
const POINTS_BYTES_MAX: usize = 1024 * 1024;
const POINTS_MIN: usize = 100;
/// The most marks; later ones are left out.
const MARKS_MAX: usize = 200;

/// An event at an instant, marked on the time axis.
#[derive(Clone, Debug)]
pub struct Mark {
    /// The instant, since the start of the run.
    pub at: Nanos,
    /// A stable name.
    pub kind: &'static str,
    /// The text in English.
    pub en: String,
    /// The text in Chinese.
    pub zh: String,
}

/// Collects the data of the charts.
#[derive(Debug)]
pub struct Charts {
    /// The points, in order.
    pub points: Vec<Point>,
    /// Intervals of each point but the last, which may have fewer.
    stride: u64,
    /// Steps and transactions, in the order of [`Point::parts`].
    pub parts: Vec<PartName>,
    /// The rates that open loads request, each with the index of its scenario.
    requested: Vec<(usize, RequestedOverTime)>,
    /// Whether the loads request requests: all loads are open, and each start is one request.
    pub asks_for_requests: bool,
    /// The marks, in the order in which they were reported.
    pub marks: Vec<Mark>,
}

/// The name of a step or a transaction.
#[derive(Clone, Debug)]
pub struct PartName {
    /// The name of its scenario.
    pub scenario: String,
    /// Its own name.
    pub name: String,
    /// `step` or `transaction`.
    pub kind: &'static str,
}

/// The rate that an open load requests over time.
#[derive(Clone, Debug)]
enum RequestedOverTime {
    /// As planned.
    Planned(Vec<RateStage>),
    /// As changed.
    Changed(Arc<Schedule>),
}

impl RequestedOverTime {
    /// The number of starts until an instant.
    fn until(&self, seconds: f64) -> f64 {
        match self {
            Self::Planned(stages) => starts_until(stages, seconds),
            Self::Changed(schedule) => {
                let until = Nanos((seconds * 1e9) as u64).min(schedule.end());
                schedule.mean_rate_until(until) * until.as_secs_f64()
            }
        }
    }
}

impl Charts {
    /// Empty charts for a plan.
    pub fn new(plan: &Plan) -> Self {
        let requested = plan.scenarios.iter().enumerate().filter_map(|(place, scenario)| match &scenario.load {
            Load::Open { stages, .. } => Some((place, RequestedOverTime::Planned(stages.clone()))),
            Load::Closed { .. } => None,
        });
        let is_requested =
            |scenario: &Scenario| matches!(scenario.load, Load::Open { .. }) && scenario.program.is_one_exchange();
        let mut charts = Self {
            points: Vec::new(),
            stride: 1,
            parts: Vec::new(),
            requested: requested.collect(),
            asks_for_requests: plan.scenarios.iter().all(is_requested),
            marks: Vec::new(),
        };
        charts.mark_stages(plan);
        charts
    }

    /// Marks the boundaries between the stages of a load.
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

    /// Replaces the load of a scenario from some instant on.
    pub fn change(&mut self, scenario: usize, timeline: &Timeline) {
        let LoadProfile::Rate(schedule) = timeline.course() else { return };
        let known = self.requested.iter_mut().filter(|(place, _)| *place == scenario);
        known.for_each(|(_, requested)| *requested = RequestedOverTime::Changed(schedule.clone()));
    }

    /// Whether some load requests a rate.
    pub fn has_rate(&self) -> bool {
        !self.requested.is_empty()
    }

    /// Adds a mark for an event; in English and Chinese.
    pub fn mark(&mut self, at: Nanos, kind: &'static str, (en, zh): (String, String)) {
        if self.marks.len() < MARKS_MAX {
            self.marks.push(Mark { at, kind, en, zh });
        }
    }

    /// Adds an interval, or an update of one.
    pub fn interval(&mut self, interval: &Interval) {
        self.name_parts(interval);
        if interval.late_shards > 0 && !interval.is_update {
            let late = interval.late_shards;
            let text = (format!("{late} threads had not reported"), format!("{late} 个线程未及时上报"));
            self.mark(interval.to, "stall", text);
        }
        let place = ((interval.number - 1) / self.stride) as usize;
        match self.points.get_mut(place) {
            Some(point) => point.add(interval),
            // Time that was skipped in between is no event.
            None => self.points.push(Point::new(interval)),
        }
        let is_full = self.bytes() > POINTS_BYTES_MAX && self.points.len() > 2 * POINTS_MIN;
        if self.points.len() > POINTS_MAX || is_full {
            self.halve();
        }
    }

    /// Bytes of all points, about.
    pub(crate) fn bytes(&self) -> usize {
        self.points.iter().map(Point::bytes).sum()
    }

    fn name_parts(&mut self, interval: &Interval) {
        if !self.parts.is_empty() {
            return;
        }
        for scenario in &interval.scenarios {
            let named = |kind: &'static str, part: &StepPart| PartName {
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

    /// The requested rate in the time span of a point, for each second of it in which the load was not paused.
    pub fn requested_between(&self, point: &Point) -> Option<f64> {
        let (from, to) = (point.from.as_secs_f64(), point.to.as_secs_f64());
        let starts: f64 = self.requested.iter().map(|(_, requested)| requested.until(to) - requested.until(from)).sum();
        point.rate_of(starts)
    }
}

/// The number of starts that stages request until an instant.
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
