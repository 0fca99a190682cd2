//! A load without views of its own: a trial of a search, or a run of a sweep. Its results are values, and it is kept as
//! a folder.

use std::sync::Arc;

use engine::{Control, HoldUpdate, Holding, RunError, RunOptions, RunUpdate, Running, StopHandle};
use figures::{Held, HeldInput, HeldInterval, Interval, Run, RunInput};
use history::{RunFolder, Runs};
use metrics::Threshold;
use plan::{Hold, Plan};
use report::{About, Json, Language, Screen};
use serde_json::Value;

use crate::commands::hold::PreparedHold;
use crate::commands::run::{Prepared, run_input};
use crate::options::args::WatchArgs;
use crate::output;
use crate::session::artifacts::{self, PAGE};
use crate::session::dashboards::Dashboards;
use crate::session::machine;
use crate::session::redaction;

/// A load without views; the common settings of several.
pub(crate) struct HeadlessRun<'a> {
    pub(crate) screen: Screen,
    /// Evaluated at its end.
    pub(crate) thresholds: &'a [Threshold],
    pub(crate) about: About,
    /// The parent of its folder, if it has one.
    pub(crate) runs: Option<Runs>,
}

/// The result of such a load.
pub(crate) struct Measured {
    pub(crate) run: Run,
    /// The path of its folder.
    pub(crate) kept_as: Option<String>,
}

impl HeadlessRun<'_> {
    /// Runs it. `name`: of its folder; `observe` receives each interval.
    pub(crate) fn measure(
        &self,
        plan: Plan,
        (prepared, name): (&Prepared, &str),
        stop: &StopHandle,
        mut observe: impl FnMut(&engine::Interval<'_>, &Control),
    ) -> Result<Measured, RunError> {
        let address = prepared.options.address;
        let shown = redaction::shown_plan(&plan, false);
        let mut watching = Dashboards::begin(&WatchArgs::default(), &self.screen).unwrap_or_default();
        watching.draw(&shown, true);
        let mut json = Json::about(self.about.clone());
        let options: RunOptions = prepared.options.clone();
        let plan = Arc::new(plan);
        let mut running = Running::start(plan.clone(), options, stop)?;
        let control = running.control();
        watching.load_started(&shown, address, &control);
        while let Some(reported) = running.wait() {
            if let RunUpdate::Interval(reported) = reported {
                let interval = Interval::new(&reported, &shown);
                json.interval(&interval);
                watching.interval(&reported, &interval, &shown, self.thresholds);
                observe(&reported, &control);
            }
        }
        let result = redaction::received(&plan, running.finish()?, false);
        let input = run_input(shown, &prepared.resolved, result);
        let run = Run::new(RunInput { thresholds: self.thresholds, ..input });
        let (report, charts) = (json.value(&run), watching.charts_value(&run));
        watching.over(&report, &charts);
        let kept_as = self.runs.as_ref().and_then(|runs| keep(runs, name, (&report, &charts), self.screen.language));
        Ok(Measured { run, kept_as })
    }
}

/// Held connections without views.
pub(crate) struct HeadlessHold<'a> {
    pub(crate) ready: &'a PreparedHold,
    pub(crate) runs: Option<&'a Runs>,
    pub(crate) screen: Screen,
}

impl HeadlessHold<'_> {
    /// Holds them. `name`: of its folder, whose path is returned.
    pub(crate) fn hold(&self, plan: Hold, name: &str, stop: &StopHandle) -> Result<(Held, Option<String>), RunError> {
        let (plan, address) = (Arc::new(plan), self.ready.options.address);
        let mut watching = Dashboards::begin(&WatchArgs::default(), &self.screen).unwrap_or_default();
        let mut json = Json::about(artifacts::about(redaction::command_of_hold()));
        let mut holding = Holding::start(plan.clone(), self.ready.options.clone(), stop)?;
        watching.hold_started(&plan, address, &holding.control());
        while let Some(HoldUpdate::Interval(interval)) = holding.wait() {
            let interval = HeldInterval::of(&interval);
            json.hold_interval(&interval);
            watching.held(&interval);
        }
        let (lookup, host) = (self.ready.lookup, machine::host_facts());
        let held = Held::of(HeldInput { plan, address, lookup, result: holding.finish()?, host });
        let report = json.hold_value(&held);
        watching.over(&report, &Value::Null);
        let language = self.screen.language;
        let kept_as = self.runs.and_then(|runs| keep(runs, name, (&report, &Value::Null), language));
        Ok((held, kept_as))
    }
}

/// Keeps a report as a folder; a folder that cannot be written is reported, and the work goes on.
pub(crate) fn keep(runs: &Runs, name: &str, (report, charts): (&Value, &Value), language: Language) -> Option<String> {
    let written = runs.begin(name).and_then(|folder: RunFolder| {
        folder.keep(report, charts)?;
        folder.write(PAGE, report::html_report(report, charts, language).as_bytes())?;
        Ok(folder)
    });
    match written {
        Ok(folder) => Some(folder.path().display().to_string()),
        Err(error) => {
            output::complain(&report::history_error(&error, language));
            None
        }
    }
}
