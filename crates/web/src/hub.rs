//! What is told of runs, and who reads it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use figures::{HeldInterval, Interval, Judged, Standing};
use pacing::Nanos;
use serde_json::{Value, json};

use crate::Offer;
use crate::error::Fault;
use crate::run::{Began, Run};
use crate::stream::{Events, Pages, Told};

/// The version of what programs read here.
const VERSION: u32 = 1;

/// Where runs are told and read; all copies are the same.
#[derive(Clone)]
pub struct Hub(Arc<Shared>);

struct Shared {
    offer: Offer,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    /// Runs since the program began.
    pub(crate) number: u64,
    pub(crate) run: Option<Run>,
    /// A run was ordered and has not begun.
    pub(crate) is_starting: bool,
    pages: Pages,
    /// The last change of this run: what was asked, and what was said.
    pub(crate) last_change: Option<(Value, Value)>,
}

impl Hub {
    pub(crate) fn new(offer: Offer) -> Self {
        Self(Arc::new(Shared { offer, state: Mutex::default() }))
    }

    pub(crate) fn offer(&self) -> &Offer {
        &self.0.offer
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run begins, and takes the place of the one before.
    pub fn begin(&self, began: Began) {
        let mut state = self.lock();
        state.number += 1;
        state.run = Some(Run::new(began));
        (state.is_starting, state.last_change) = (false, None);
        state.tell("reload", json!({}));
    }

    /// What was ordered did not begin.
    pub fn not_begun(&self) {
        let mut state = self.lock();
        state.is_starting = false;
        state.tell("reload", json!({}));
    }

    /// An interval of a load. `judged`: its thresholds so far.
    pub fn interval(&self, interval: &Interval, standing: Standing, judged: &[Judged]) {
        let mut state = self.lock();
        let Some(run) = &mut state.run else { return };
        run.interval(interval, standing, judged);
        state.tell_news("interval", |run, news| news["point"] = run.point());
    }

    /// An interval of connections that are held.
    pub fn held(&self, interval: &HeldInterval) {
        let mut state = self.lock();
        let Some(run) = &mut state.run else { return };
        run.held(interval);
        state.tell_news("interval", |_, _| ());
    }

    /// Something happened that a person should see; charts have it already.
    pub fn event(&self, at: Nanos, kind: &'static str, texts: &(String, String)) {
        let mut state = self.lock();
        let Some(run) = &mut state.run else { return };
        let event = run.event(at, kind, texts);
        state.tell_news("state", |_, news| news["event"] = event);
    }

    /// The run is over. `charts`: what charts show of it, or null.
    pub fn over(&self, report: &Value, charts: &Value) {
        let mut state = self.lock();
        let Some(run) = &mut state.run else { return };
        run.over(report, charts);
        let leaving = self.0.offer.orders.is_none();
        state.tell("over", json!({"leaving": leaving}));
    }

    /// The program ends: pages take what they want now, and hear nothing more.
    pub(crate) fn leave(&self) {
        let mut state = self.lock();
        state.tell("leaving", json!({}));
    }

    /// Somebody still reads.
    pub(crate) fn has_listeners(&self) -> bool {
        !self.lock().pages.is_empty()
    }

    /// One more page; `None` when there are too many.
    pub(crate) fn listen(&self) -> Option<Events> {
        let mut state = self.lock();
        let first = Told::new("reload", &json!({}));
        state.pages.add(first)
    }

    /// Everything that stands at the top: what runs, and what can be done.
    pub(crate) fn value(&self) -> Value {
        let state = self.lock();
        let offer = self.offer();
        let mut value = match &state.run {
            Some(run) => run.value(),
            None => json!({"state": "idle", "revision": 0, "plan": null, "live": null, "events": [], "scenarios": []}),
        };
        if state.is_starting {
            value["state"] = "starting".into();
        }
        value["api"] = VERSION.into();
        value["version"] = offer.version.clone().into();
        value["run"] = state.number.into();
        value["can_start"] = offer.orders.is_some().into();
        value["files"] = offer.files.clone().into();
        value
    }
}

impl State {
    /// The run that goes on.
    pub(crate) fn going(&mut self) -> Result<&mut Run, Fault> {
        self.run.as_mut().filter(|run| !run.is_over()).ok_or_else(Fault::nothing_runs)
    }

    fn tell(&mut self, kind: &'static str, mut data: Value) {
        data["run"] = self.number.into();
        self.pages.tell(&Told::new(kind, &data));
    }

    /// Tells what is new of the run, and `more`; nothing is made where nobody listens.
    pub(crate) fn tell_news(&mut self, kind: &'static str, more: impl FnOnce(&Run, &mut Value)) {
        let Some(run) = self.run.as_ref().filter(|_| !self.pages.is_empty()) else { return };
        let mut news = run.news();
        more(run, &mut news);
        self.tell(kind, news);
    }
}
