//! One run as pages see it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::Control;
use figures::{Charts, HeldInterval, Interval, LiveTotals, ThresholdResult};
use pacing::Nanos;
use pacing::change::LoadProfile;
use report::{Language, Moment};
use serde_json::{Value, json};

/// The most rows of held connections; at twice as many every second one is removed.
const HELD_ROWS_MAX: usize = 600;
/// The kind of a user's note.
const NOTE: &str = "note";
/// The most events that are kept; the oldest are removed first.
const EVENTS_MAX: usize = 500;

/// A run that begins.
pub struct Began {
    /// Its plan: [`report::live_plan`] or [`report::live_hold_plan`].
    pub plan: Value,
    /// Its control.
    pub control: Control,
    /// Its charts, kept up to date by the reporter of the run; `None` for held connections.
    pub charts: Option<Arc<Mutex<Charts>>>,
    /// When the measured time begins.
    pub began_unix: Duration,
}

/// A failure, with its first and last time.
struct Met {
    reason: String,
    first_s: f64,
    last_s: f64,
    count: u64,
}

/// The end of a run.
enum End {
    /// The report, and the chart data.
    Measured(Value, Value),
    /// The run failed.
    Failed,
}

pub(crate) struct Run {
    pub(crate) plan: Value,
    pub(crate) control: Control,
    charts: Option<Arc<Mutex<Charts>>>,
    began_unix: Duration,
    standing: Option<LiveTotals>,
    now: Nanos,
    live: Value,
    met: Vec<Met>,
    held: Vec<Value>,
    held_stride: u64,
    events: Vec<Value>,
    end: Option<End>,
}

impl Run {
    pub(crate) fn new(began: Began) -> Self {
        let Began { plan, control, charts, began_unix } = began;
        Self {
            plan,
            control,
            charts,
            began_unix,
            standing: None,
            now: Nanos::ZERO,
            live: Value::Null,
            met: Vec::new(),
            held: Vec::new(),
            held_stride: 1,
            events: Vec::new(),
            end: None,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// Whether it is over, and has no report.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.end, Some(End::Failed))
    }

    /// Adds an interval of a load, which its charts have already.
    pub(crate) fn interval(&mut self, interval: &Interval, standing: LiveTotals, judged: &[ThresholdResult]) {
        self.now = self.now.max(interval.to);
        let mut live = report::live_value(interval, &standing, judged);
        for failure in live["failures"].as_array_mut().into_iter().flatten() {
            self.meet(failure);
        }
        live["workers"] = report::live_workers(&self.control.workers());
        self.live = live;
        self.standing = Some(standing);
    }

    /// New chart data.
    pub(crate) fn point(&self) -> Value {
        self.with_charts(report::live_point)
    }

    /// A value of its charts; null when nothing was measured.
    fn with_charts(&self, of: impl FnOnce(&Charts, &Moment<'_>) -> Value) -> Value {
        let (Some(charts), Some(standing)) = (&self.charts, &self.standing) else { return Value::Null };
        let moment = Moment { began_unix: self.began_unix, now: self.now, standing };
        of(&charts.lock().unwrap_or_else(PoisonError::into_inner), &moment)
    }

    fn meet(&mut self, failure: &mut Value) {
        let (reason, count) = (failure["reason"].as_str().unwrap_or_default(), failure["count"].as_u64().unwrap_or(0));
        let now_s = self.now.as_secs_f64();
        let place = self.met.iter().position(|met| met.reason == reason).unwrap_or_else(|| {
            self.met.push(Met { reason: reason.to_owned(), first_s: now_s, last_s: now_s, count });
            self.met.len() - 1
        });
        let met = &mut self.met[place];
        if count > met.count {
            (met.last_s, met.count) = (now_s, count);
        }
        (failure["first_s"], failure["last_s"]) = (met.first_s.into(), met.last_s.into());
    }

    /// Adds an interval of held connections.
    pub(crate) fn held(&mut self, interval: &HeldInterval) {
        self.now = self.now.max(interval.to);
        let row = report::live_hold_row(interval);
        let workers = report::live_workers(&self.control.workers());
        self.live = json!({"number": interval.number, "hold": row.clone(), "workers": workers});
        if (interval.number - 1).is_multiple_of(self.held_stride) && !interval.is_update {
            self.held.push(row);
        }
        if self.held.len() > HELD_ROWS_MAX {
            let mut place = 0;
            self.held.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.held_stride *= 2;
        }
    }

    /// Adds a user's note.
    pub(crate) fn mark(&mut self, at: Nanos, text: &str) -> Value {
        let texts = (text.to_owned(), text.to_owned());
        if let Some(charts) = &self.charts {
            charts.lock().unwrap_or_else(PoisonError::into_inner).mark(at, NOTE, texts.clone());
        }
        self.event(at, NOTE, &texts)
    }

    /// Adds an event, which its charts have already. Returns the event.
    pub(crate) fn event(&mut self, at: Nanos, kind: &'static str, (en, zh): &(String, String)) -> Value {
        let event = json!({"at_s": at.as_secs_f64(), "kind": kind, "text": en, "text_zh": zh});
        if self.events.len() >= EVENTS_MAX {
            self.events.remove(0);
        }
        self.events.push(event.clone());
        event
    }

    /// Its elapsed time, as reported.
    pub(crate) fn now(&self) -> Nanos {
        self.now
    }

    /// Ends it, and frees what is not needed any more.
    pub(crate) fn over(&mut self, report: Option<(Value, Value)>) {
        self.end = Some(report.map_or(End::Failed, |(report, charts)| End::Measured(report, charts)));
        (self.charts, self.standing) = (None, None);
        self.held = Vec::new();
    }

    /// Its chart data, independent of the language; null when nothing was measured.
    pub(crate) fn charts_value(&self) -> Value {
        match &self.end {
            Some(End::Measured(_, charts)) => charts.clone(),
            Some(End::Failed) => Value::Null,
            None => self.with_charts(report::live_charts),
        }
    }

    /// The same, with rows as series for held connections.
    pub(crate) fn series(&self) -> Value {
        if self.control.is_load() {
            return self.charts_value();
        }
        let each = |path: &str, scale: f64| -> Value {
            let of = |row: &Value| row.pointer(path).and_then(Value::as_f64).map(|value| value * scale);
            self.held.iter().map(of).collect()
        };
        let time = |name: &str| each(&format!("/response_time/{name}_ns"), 1e-9);
        let series =
            json!({"open": each("/open", 1.0), "p50_s": time("p50"), "p99_s": time("p99"), "p99_9_s": time("p99_9")});
        json!({"to_s": each("/to_s", 1.0), "series": series})
    }

    /// The same for the drawing module.
    pub(crate) fn charts(&self, language: Language) -> Value {
        if self.plan["kind"] == "hold" {
            let rows = match self.report() {
                Some((report, _)) => report["intervals"].clone(),
                None => self.held.clone().into(),
            };
            return report::hold_charts(&rows, self.now.as_secs_f64(), language);
        }
        let thresholds = self.report().map_or(&self.live["thresholds"], |(report, _)| &report["thresholds"]);
        match self.charts_value() {
            Value::Null => Value::Null,
            charts => report::page_charts(&charts, thresholds, language),
        }
    }

    /// Its report and chart data, when it is over.
    pub(crate) fn report(&self) -> Option<(&Value, &Value)> {
        match &self.end {
            Some(End::Measured(report, charts)) => Some((report, charts)),
            _ => None,
        }
    }

    /// Its state: `warming_up`, `running`, `paused`, `stopping`, `over`.
    pub(crate) fn state(&self) -> &'static str {
        let has_warmup = self.plan["warmup_s"].as_f64().unwrap_or(0.0) > 0.0;
        if self.is_over() {
            "over"
        } else if self.control.is_stopped() {
            "stopping"
        } else if has_warmup && self.control.is_warming_up() {
            "warming_up"
        } else if self.control.is_load() && self.is_paused() {
            "paused"
        } else {
            "running"
        }
    }

    fn is_paused(&self) -> bool {
        let count = self.names().count();
        count > 0 && (0..count).all(|scenario| self.control.timeline(scenario).is_paused())
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let all = self.plan["scenarios"].as_array().into_iter().flatten();
        all.map(|scenario| scenario["name"].as_str().unwrap_or_default())
    }

    /// The current state of each scenario.
    pub(crate) fn scenarios(&self) -> Value {
        if self.is_over() {
            return Value::Array(Vec::new());
        }
        let one = |(place, name): (usize, &str)| {
            let timeline = self.control.timeline(place);
            let at = self.control.next_instant();
            let (kind, now) = match timeline.course() {
                LoadProfile::Rate(_) => ("rate", json!(timeline.rate_at(at))),
                LoadProfile::Users(..) => ("users", json!(timeline.users_at(at))),
            };
            let end_s = timeline.end().map(|end| end.as_secs_f64());
            json!({"name": name, "kind": kind, "now": now, "is_paused": timeline.is_paused(), "end_s": end_s})
        };
        self.names().enumerate().map(one).collect()
    }

    /// The values that change from interval to interval.
    pub(crate) fn news(&self) -> Value {
        json!({
            "state": self.state(),
            "revision": self.control.revision(),
            "now_s": self.now.as_secs_f64(),
            "scenarios": self.scenarios(),
            "live": self.live,
        })
    }

    /// All of it but the charts.
    pub(crate) fn value(&self) -> Value {
        let mut value = self.news();
        value["plan"] = self.plan.clone();
        value["began_unix_ms"] = (self.began_unix.as_millis() as u64).into();
        value["events"] = self.events.clone().into();
        value["report"] = self.report().map_or(Value::Null, |(report, _)| summary(report));
        value
    }

    /// The tables: of its report, or the current ones.
    pub(crate) fn tables(&self) -> &Value {
        self.report().map_or(&self.live, |(report, _)| report)
    }
}

/// The part of a report that a page shows; all of it can be downloaded as a file.
fn summary(report: &Value) -> Value {
    let keys = [
        "requests",
        "requests_per_s",
        "achieved_per_s",
        "requested_per_s",
        "wall_s",
        "bytes",
        "failures",
        "scenarios",
        "addresses",
        "slowest",
        "thresholds",
        "verdict",
        "notes",
        "generator",
        "changes",
        "statuses",
        "connections",
        "messages",
        "about",
    ];
    let mut all: serde_json::Map<String, Value> =
        keys.iter().filter_map(|key| Some(((*key).to_owned(), report.get(key)?.clone()))).collect();
    if let Some(times) = report.pointer("/times/succeeded/response_time") {
        all.insert("response_time".to_owned(), times.clone());
    }
    Value::Object(all)
}
