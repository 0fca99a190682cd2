//! `--export`: results for other programs, in addition to the views.

use std::sync::Arc;
use std::time::Duration;

use engine::StopHandle;
use export::{Delivery, Environment, Export, ExportError, Exports};
use figures::{Held, HeldInterval, Interval, Run, ScenarioPart};
use plan::{Need, Plan, PlanError};
use report::Language;

use crate::options::args::ExportArgs;
use crate::output;

/// The variable with the token of InfluxDB.
pub(crate) const TOKEN: &str = "ONRUSH_EXPORT_TOKEN";
/// The time limit of the last delivery of what ended at once.
const ABORTED_WAIT_MAX: Duration = Duration::from_secs(1);

/// The exports, and the time limit of their last delivery.
#[derive(Default)]
pub(crate) struct ExportOptions {
    pub(crate) kinds: Vec<Export>,
    wait: Option<Duration>,
}

impl ExportOptions {
    /// Parses the flags; or the error message.
    pub(crate) fn new(args: &ExportArgs, language: Language) -> Result<Self, String> {
        const FLAG: &str = "--export-wait";
        let of_plan = |error: &PlanError| report::plan_error(error, language);
        let kinds = args.kinds.iter().map(|text| Export::parse(text)).collect::<Result<Vec<_>, _>>();
        let kinds = kinds.map_err(|error| report::export_error(&error, language))?;
        let wait = args.wait.as_deref().map(|text| plan::parse_duration(FLAG, text)).transpose();
        let wait = wait.map_err(|error| of_plan(&error))?;
        if wait.is_some() && kinds.is_empty() {
            return Err(of_plan(&PlanError::Needs { flag: FLAG, needed: Need::Export }));
        }
        Ok(Self { kinds, wait })
    }
}

/// The exports of a load, if there are any.
#[derive(Default)]
pub(crate) struct Exporting(Option<Active>);

struct Active {
    exports: Exports,
    language: Language,
    /// Whether stdout has the JSON report.
    is_json: bool,
    has_page: bool,
    is_github: bool,
}

/// How exports ended.
#[derive(Default)]
pub(crate) struct Exported {
    pub(crate) deliveries: Vec<Delivery>,
    /// Whether a file could not be written.
    pub(crate) has_lost: bool,
}

impl Exporting {
    /// Opens files and addresses, and prints the URLs of pages.
    pub(crate) fn begin(options: &ExportOptions, plan: &Plan, view: (Language, bool)) -> Result<Self, ExportError> {
        Self::begin_with(options, view, |environment| {
            Exports::begin(&options.kinds, &ScenarioPart::none(plan), environment)
        })
    }

    /// The same for held connections.
    pub(crate) fn begin_held(options: &ExportOptions, view: (Language, bool)) -> Result<Self, ExportError> {
        Self::begin_with(options, view, |environment| Exports::begin_held(&options.kinds, environment))
    }

    fn begin_with(
        options: &ExportOptions,
        (language, is_json): (Language, bool),
        begin: impl FnOnce(&Environment) -> Result<Exports, ExportError>,
    ) -> Result<Self, ExportError> {
        if options.kinds.is_empty() {
            return Ok(Self::default());
        }
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let environment = Environment { token: variable(TOKEN), step_summary: variable("GITHUB_STEP_SUMMARY") };
        let mut exports = begin(&environment)?;
        if let Some(wait) = options.wait {
            exports.wait_at_end(wait);
        }
        for address in exports.pages() {
            output::note(&language.pick(
                format!("onrush: figures for Prometheus at http://{address}/metrics"),
                format!("onrush: Prometheus 数据：http://{address}/metrics"),
            ));
        }
        let has_page = exports.pages().next().is_some();
        Ok(Self(Some(Active {
            exports,
            language,
            is_json,
            has_page,
            is_github: options.kinds.contains(&Export::Github),
        })))
    }

    /// Whether there is any export, even if the table has no reader.
    pub(crate) fn has_any(&self) -> bool {
        self.0.is_some()
    }

    /// Exports an interval, which is shared only if an export takes it.
    pub(crate) fn interval(&mut self, interval: Interval) -> Arc<Interval> {
        let interval = Arc::new(interval);
        if let Some(active) = &mut self.0 {
            active.exports.interval(&interval);
        }
        interval
    }

    /// The same for held connections.
    pub(crate) fn held(&mut self, interval: HeldInterval) -> Arc<HeldInterval> {
        let interval = Arc::new(interval);
        if let Some(active) = &mut self.0 {
            active.exports.held(&interval);
        }
        interval
    }

    /// Delivers the rest, and reports what is missing.
    pub(crate) fn finish(self, run: &Run, stop: &StopHandle) -> Exported {
        self.deliver(stop, |exports, language, has_enough| {
            let page = report::github_page(run, language);
            (exports.finish(run, &page, has_enough), report::github_annotations(run, language))
        })
    }

    /// The same for held connections.
    pub(crate) fn finish_held(self, held: &Held, stop: &StopHandle) -> Exported {
        self.deliver(stop, |exports, language, has_enough| {
            let page = report::github_hold_page(held, language);
            (exports.finish_held(held, &page, has_enough), report::github_hold_annotations(held, language))
        })
    }

    fn deliver(
        self,
        stop: &StopHandle,
        finish: impl FnOnce(Exports, Language, &dyn Fn() -> bool) -> (Vec<Delivery>, String),
    ) -> Exported {
        let Some(Active { mut exports, language, is_json, has_page, is_github }) = self.0 else {
            return Exported::default();
        };
        // A Ctrl-C from now on ends this wait; one that ended the run does not. What ended at once, by itself or by a
        // second one, has little time for it.
        let (was_stopped, was_aborted) = (stop.is_stopped(), stop.is_aborted());
        if was_aborted {
            exports.wait_at_end(exports.page_wait().min(ABORTED_WAIT_MAX));
        }
        if has_page {
            report_page(exports.page_wait(), language);
        }
        let has_enough = || (!was_aborted && stop.is_aborted()) || (!was_stopped && stop.is_stopped());
        let (deliveries, text) = finish(exports, language, &has_enough);
        if is_github {
            // GitHub reads both; stdout is for the JSON report if there is one.
            if is_json {
                output::note(text.trim_end());
            } else {
                output::write_stdout(&text, language);
            }
        }
        for delivery in &deliveries {
            if let Some(line) = report::export_left_out(delivery, language) {
                output::complain(&line);
            }
        }
        let has_lost = deliveries.iter().any(|delivery| delivery.is_file && delivery.fault.is_some());
        Exported { deliveries, has_lost }
    }
}

fn report_page(wait: Duration, language: Language) {
    let wait = wait.as_secs_f64();
    output::note(&language.pick(
        format!("onrush: the run is over; the final figures can be read for up to {wait}s"),
        format!("onrush: 压测已结束；最终数据可在 {wait}s 内读取"),
    ));
}
