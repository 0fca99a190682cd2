//! The current state of runs, and its readers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use figures::{HeldInterval, Interval, LiveTotals, ThresholdResult};
use pacing::Nanos;
use serde_json::{Value, json};

use crate::Offer;
use crate::commands::{RequestedChange, refusal};
use crate::error::ApiError;
use crate::run::{Began, Run};
use crate::stream::{Events, PageChannels, PageEvent};

/// The version of the API.
const VERSION: u32 = 1;

/// The hub of runs and pages; all copies are the same.
#[derive(Clone)]
pub struct Hub(Arc<HubShared>);

struct HubShared {
    offer: Offer,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    /// The number of runs since the program began.
    pub(crate) number: u64,
    pub(crate) run: Option<Run>,
    /// The state of the last order.
    pub(crate) request: StartState,
    pages: PageChannels,
    /// The search or sweep of the runs, as in its report.
    pub(crate) whole: Value,
    /// Whether a page has requested the end.
    is_reported_to_stop: bool,
    /// The last change of this run: the request, and the response.
    pub(crate) last_change: Option<(Value, Value)>,
}

/// A run that was ordered here, and its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum StartState {
    /// There is none, or it is done.
    #[default]
    None,
    /// It has not begun.
    Starting,
    /// It began; its teardown may go on.
    Begun,
}

impl Hub {
    /// A hub without pages.
    pub fn alone() -> Self {
        Self::new(Offer::default())
    }

    pub(crate) fn new(offer: Offer) -> Self {
        Self(Arc::new(HubShared { offer, state: Mutex::default() }))
    }

    pub(crate) fn offer(&self) -> &Offer {
        &self.0.offer
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a run, which replaces the one before.
    pub fn begin(&self, began: Began) {
        let mut state = self.lock();
        state.number += 1;
        state.run = Some(Run::new(began));
        state.last_change = None;
        if state.request == StartState::Starting {
            state.request = StartState::Begun;
        }
        state.publish("reload", json!({}));
    }

    /// Ends an order: another run may be ordered. `said`: the failure message of a run that began.
    pub fn done(&self, said: &str) {
        let mut state = self.lock();
        state.request = StartState::None;
        if let Some(run) = state.run.as_mut().filter(|run| run.has_failed() && !said.is_empty()) {
            let texts = (said.to_owned(), said.to_owned());
            run.event(run.now(), "error", &texts);
        }
        state.publish("reload", json!({}));
    }

    /// Adds an interval of a load. `judged`: its thresholds so far.
    pub fn interval(&self, interval: &Interval, standing: LiveTotals, judged: &[ThresholdResult]) {
        let mut state = self.lock();
        let Some(run) = &mut state.run else { return };
        run.interval(interval, standing, judged);
        state.publish_news("interval", |run, news| news["point"] = run.point());
    }

    /// Adds an interval of held connections.
    pub fn held(&self, interval: &HeldInterval) {
        let mut state = self.lock();
        let Some(run) = &mut state.run else { return };
        run.held(interval);
        state.publish_news("interval", |_, _| ());
    }

    /// Reports an event to users; charts have it already.
    pub fn event(&self, at: Nanos, kind: &'static str, texts: &(String, String)) {
        let mut state = self.lock();
        let Some(run) = &mut state.run else { return };
        let event = run.event(at, kind, texts);
        state.publish_news("state", |_, news| news["event"] = event);
    }

    /// Ends the run. `charts`: its chart data, or null.
    pub fn over(&self, report: &Value, charts: &Value) {
        self.ended(Some((report.clone(), charts.clone())));
    }

    /// Ends a run that failed without a report.
    pub fn failed(&self) {
        self.ended(None);
    }

    fn ended(&self, report: Option<(Value, Value)>) {
        let mut state = self.lock();
        let Some(run) = &mut state.run else { return };
        run.over(report);
        // A run of a search or a sweep is followed by the next one.
        let is_server_closing = self.0.offer.requests.is_none() && state.whole.is_null();
        state.publish("over", json!({"is_server_closing": is_server_closing}));
    }

    /// Notifies pages that the program ends: they fetch what they need now, and receive nothing more.
    pub(crate) fn leave(&self) {
        let mut state = self.lock();
        state.publish("server_closing", json!({}));
    }

    /// Updates the search or sweep of the runs. `report`: of the search or the sweep.
    pub fn search(&self, report: Value) {
        let mut state = self.lock();
        state.whole = report;
        state.publish("search", json!({}));
    }

    /// Whether there are listeners.
    pub(crate) fn has_listeners(&self) -> bool {
        !self.lock().pages.is_empty()
    }

    /// Adds a page; `None` when there are too many.
    pub(crate) fn listen(&self) -> Option<Events> {
        let mut state = self.lock();
        let first = PageEvent::new("reload", &json!({}));
        state.pages.add(first)
    }

    /// The chart data of the run, independent of the language; for held connections, the same from their rows.
    pub fn series(&self) -> Value {
        self.lock().run.as_ref().map_or(Value::Null, Run::series)
    }

    /// Changes the run, as `POST /api/run/changes` does. A repeated request does nothing, and has the same response.
    ///
    /// # Errors
    /// The request is invalid, or the run cannot be changed so.
    pub fn change(&self, body: Value) -> Result<Value, ApiError> {
        let mut state = self.lock();
        if let Some((_, response)) = state.last_change.as_ref().filter(|(requested, _)| *requested == body) {
            return Ok(response.clone());
        }
        if !state.whole.is_null() {
            return Err(ApiError::part_of_a_whole());
        }
        let run = state.going()?;
        let changes = match RequestedChange::read(&body, run) {
            Ok(wanted) => run.control.change_since(wanted.seen, wanted.changes).map_err(refusal)?,
            // A client that has not seen the last change learns that first.
            Err(fault) => return Err(behind(&body, run).unwrap_or(fault)),
        };
        let effective = changes.last().map_or(0.0, |change| change.effective_at.as_secs_f64());
        let response = json!({"revision": run.control.revision(), "effective_at_s": effective});
        state.last_change = Some((body, response.clone()));
        Ok(response)
    }

    /// Stops the run, gracefully or at once. Returns its state after that.
    ///
    /// # Errors
    /// Nothing runs.
    pub fn stop(&self, at_once: bool) -> Result<&'static str, ApiError> {
        let mut state = self.lock();
        if !state.whole.is_null() && state.run.as_ref().is_none_or(Run::is_over) {
            // Between two runs of a search or a sweep.
            state.is_reported_to_stop = true;
            return Ok("stopping");
        }
        let run = state.going()?;
        if at_once {
            run.control.abort()
        } else {
            run.control.stop()
        }
        let now = run.state();
        state.is_reported_to_stop = true;
        Ok(now)
    }

    /// Whether a page has requested the end: then the search or sweep ends too.
    pub fn is_reported_to_stop(&self) -> bool {
        self.lock().is_reported_to_stop
    }

    /// The top level: the current run, and the possible actions.
    pub fn value(&self) -> Value {
        let offer = self.offer();
        let files = offer.files.map_or_else(Vec::new, |files| files());
        let state = self.lock();
        let mut value = match &state.run {
            Some(run) => run.value(),
            None => {
                json!({"state": "idle", "revision": 0, "plan": null, "live": null, "events": [], "scenarios": [], "report": null})
            }
        };
        if state.request == StartState::Starting {
            value["state"] = "starting".into();
        }
        value["api"] = VERSION.into();
        value["version"] = offer.version.clone().into();
        value["run"] = state.number.into();
        value["can_start"] = (offer.requests.is_some() && state.request == StartState::None).into();
        value["files"] = files.into();
        value["whole"] = state.whole["kind"].clone();
        value
    }
}

fn behind(body: &Value, run: &Run) -> Option<ApiError> {
    let (seen, now) = (body["revision"].as_u64()?, run.control.revision());
    (seen != u64::from(now)).then(|| refusal(engine::Refused::StaleRevision { now }))
}

impl State {
    /// The current run.
    pub(crate) fn going(&mut self) -> Result<&mut Run, ApiError> {
        self.run.as_mut().filter(|run| !run.is_over()).ok_or_else(ApiError::nothing_runs)
    }

    fn publish(&mut self, kind: &'static str, mut data: Value) {
        data["run"] = self.number.into();
        self.pages.publish(&PageEvent::new(kind, &data));
    }

    /// Publishes the news of the run, and `more`; nothing is computed without listeners.
    pub(crate) fn publish_news(&mut self, kind: &'static str, more: impl FnOnce(&Run, &mut Value)) {
        let Some(run) = self.run.as_ref().filter(|_| !self.pages.is_empty()) else { return };
        let mut news = run.news();
        more(run, &mut news);
        self.publish(kind, news);
    }
}
