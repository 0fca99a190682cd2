//! The state of the screen: the run, and settings by keys.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{ScreenStyle, Source};

/// The state of the screen.
pub(crate) struct ScreenState {
    pub(crate) style: ScreenStyle,
    pub(crate) run: Value,
    pub(crate) charts: Value,
    /// When its last interval was received.
    seen: Instant,
    /// Whether the table of steps replaces the charts.
    pub(crate) shows_steps: bool,
    /// The scenario that keys change.
    pub(crate) scenario: usize,
    /// The response to the last key.
    pub(crate) said: String,
    /// Whether the end was requested.
    pub(crate) is_ending: bool,
}

impl ScreenState {
    pub(crate) fn new(style: ScreenStyle) -> Self {
        Self {
            style,
            run: Value::Null,
            charts: Value::Null,
            seen: Instant::now(),
            shows_steps: false,
            scenario: 0,
            said: String::new(),
            is_ending: false,
        }
    }

    /// Reads the current run. Charts are requested when there is new data for them.
    pub(crate) fn poll(&mut self, source: &dyn Source) {
        let run = source.run();
        if run["live"]["number"] != self.run["live"]["number"] || self.charts.is_null() {
            self.charts = source.charts();
            self.seen = Instant::now();
        }
        self.run = run;
    }

    pub(crate) fn state(&self) -> &str {
        self.run["state"].as_str().unwrap_or("starting")
    }

    /// The scenario that keys change, in its current state.
    pub(crate) fn chosen(&self) -> &Value {
        &self.run["scenarios"][self.scenario]
    }

    pub(crate) fn is_held(&self) -> bool {
        self.run["plan"]["kind"] == "hold"
    }

    /// The elapsed time: as reported, and since then by our own clock while the run is not paused.
    pub(crate) fn elapsed(&self) -> Duration {
        let reported = Duration::try_from_secs_f64(self.run["now_s"].as_f64().unwrap_or(0.0)).unwrap_or_default();
        let goes_on = self.state() == "running" && !self.run["live"].is_null();
        reported + if goes_on { self.seen.elapsed() } else { Duration::ZERO }
    }

    /// The progress, from 0 to 1, and the remaining time, as far as they are known.
    pub(crate) fn progress(&self) -> (Option<f64>, Option<Duration>) {
        let elapsed = self.elapsed().as_secs_f64();
        if let Some(all) = self.run["plan"]["requests"].as_f64().filter(|all| *all > 0.0) {
            let done = self.run["live"]["total"]["finished"].as_f64().unwrap_or(0.0);
            return (Some((done / all).min(1.0)), None);
        }
        let ends = self.run["scenarios"].as_array().into_iter().flatten().map(|one| one["end_s"].as_f64());
        let of_load = ends.collect::<Option<Vec<f64>>>().and_then(|ends| ends.into_iter().reduce(f64::max));
        let end = of_load.or_else(|| self.run["plan"]["duration_s"].as_f64()).filter(|end| *end > 0.0);
        let left = end.and_then(|end| Duration::try_from_secs_f64((end - elapsed).max(0.0)).ok());
        (end.map(|end| (elapsed / end).min(1.0)), left)
    }

    /// The text in the current language.
    pub(crate) fn pick<'a>(&self, en: &'a str, zh: &'a str) -> &'a str {
        self.style.language.pick(en, zh)
    }
}
