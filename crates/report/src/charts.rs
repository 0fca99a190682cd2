//! The data of the charts of a run, as values in no language: [`crate::html_report`] adds the texts.

use core::time::Duration;

use figures::{Charts, GAUGES, LiveTotals, Mark, PartPoint, Point, Run};
use metrics::{Distribution, Measure};
use pacing::Nanos;
use serde_json::{Map, Value, json};

/// The version of the data; it grows with every change that could confuse a reader.
const VERSION: u32 = 1;
/// The most steps and transactions with series of their own: the busiest.
const PARTS_MAX: usize = 24;
/// The most kinds of failures with series of their own: the most frequent.
const FAILURES_MAX: usize = 8;
/// Steps of the heat map for each power of ten.
const HEAT_STEPS: f64 = 10.0;

/// All data, when the run is over.
pub fn charts_value(charts: &Charts, run: &Run) -> Value {
    let of = |measure: Measure| run.recorded.succeeded.by_measure(measure);
    let until = Until {
        began_unix_ms: run.began_unix_ns() / 1_000_000,
        wall: run.wall,
        times: [of(Measure::Response), of(Measure::Service)],
    };
    Shown { charts, points: &charts.points }.value(&until)
}

/// The same while the run goes on, in no language; [`crate::page_charts`] adds it.
pub fn live_charts(charts: &Charts, moment: &Moment<'_>) -> Value {
    Shown { charts, points: &charts.points }.value(&Until::new(moment))
}

/// The same for the last point alone.
pub(crate) fn last_point(charts: &Charts, moment: &Moment<'_>) -> Value {
    let last = charts.points.len().saturating_sub(1);
    Shown { charts, points: &charts.points[last..] }.value(&Until::new(moment))
}

/// The state of a run that goes on.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The start of the run, since the Unix epoch.
    pub began_unix: Duration,
    /// The current instant, since the start of the run.
    pub now: Nanos,
    /// The totals since the start.
    pub standing: &'a LiveTotals,
}

/// The totals at the end of the shown time.
struct Until<'a> {
    began_unix_ms: u64,
    wall: Nanos,
    /// Response and service times of successes.
    times: [&'a Distribution; 2],
}

impl<'a> Until<'a> {
    fn new(moment: &Moment<'a>) -> Self {
        let times = [&moment.standing.recorded, &moment.standing.service];
        Self { began_unix_ms: moment.began_unix.as_millis() as u64, wall: moment.now, times }
    }
}

struct Shown<'a> {
    charts: &'a Charts,
    /// The points: all of them, or the last one.
    points: &'a [Point],
}

impl Shown<'_> {
    fn value(&self, until: &Until<'_>) -> Value {
        let mut value = json!({
            "version": VERSION,
            "began_unix_ms": until.began_unix_ms,
            "span_s": round(until.wall.as_secs_f64()),
            "from_s": self.each(|point| Some(point.from.as_secs_f64())),
            "to_s": self.each(|point| Some(point.to.as_secs_f64())),
            "series": self.series(),
            "failures": self.failures(),
            "parts": self.parts_of(),
            "heat": self.heat(),
            "spectrum": spectrum(until.times),
        });
        let mut marks: Vec<&Mark> = self.charts.marks.iter().filter(|mark| mark.at <= until.wall).collect();
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
        // A rate of iterations is not drawn next to requests.
        if self.charts.asks_for_requests {
            put("requested_per_s", &|point| self.charts.requested_between(point));
        }
        if self.charts.has_rate() {
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
        for (place, gauge) in GAUGES.iter().enumerate() {
            put(gauge.name, &|point| Some(point.gauges[place] as f64));
        }
        put("received_per_s", &|point| point.per_s(point.received));
        put("sent_per_s", &|point| point.per_s(point.sent));
        put("lateness_p99_s", &|point| point.lateness.quantile(0.99));
        put("cpu_cores", &|point| point.cpu_cores());
        Value::Object(all)
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
        // A single step equals the whole.
        if self.charts.parts.len() < 2 {
            return Value::Array(Vec::new());
        }
        let finished = |place: usize| -> u64 {
            self.points.iter().filter_map(|point| point.parts.get(place)).map(|part| part.finished).sum()
        };
        let mut places: Vec<usize> = (0..self.charts.parts.len()).collect();
        places.sort_by_key(|place| (core::cmp::Reverse(finished(*place)), *place));
        places.truncate(PARTS_MAX);
        places.sort_unstable();
        let one = |place: &usize| {
            let name = &self.charts.parts[*place];
            let of = |of: fn(&PartPoint, &Point) -> Option<f64>| {
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

    /// The heat map: counts of times by interval.
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

/// The percentiles of the whole run, closer to each other where they are rare.
fn spectrum(times: [&Distribution; 2]) -> Value {
    let measures = [Measure::Response, Measure::Service].into_iter().zip(times);
    measures.map(|(measure, times)| json!({"measure": measure.name(), "points": curve(times)})).collect()
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

/// Rounds to four digits: a chart cannot show more.
fn round(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    let scale = 10f64.powi(4 - value.abs().log10().floor() as i32);
    let rounded = (value * scale).round() / scale;
    // Digits that only the division adds are dropped.
    format!("{rounded:.9}").parse().unwrap_or(rounded)
}
