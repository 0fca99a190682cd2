//! The views of a load while it runs, and at its end.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::time::Duration;

use engine::{Control, StopHandle};
use export::ExportError;
use figures::{Changed, Interval, Note, Run, Watch};
use metrics::{Snapshot, Threshold};
use pacing::Nanos;
use pacing::change::Change;
use plan::Plan;
use report::{About, HdrLog, IntervalTable, Json, Language, Screen, Showing};
use serde_json::Value;

use crate::output::{self, Wrote};
use crate::session::artifacts::Keeping;
use crate::session::dashboards::Dashboards;
use crate::session::destinations::Destinations;
use crate::session::exporting::{ExportOptions, Exporting};
use crate::session::failure_rate_guard::FailureRateGuard;
use crate::session::files::Files;
use crate::session::machine;
use crate::session::progress::Progress;
use crate::session::recovered_run::RecoveredRun;
use crate::session::worker_losses::Losses;

/// The style of the output.
#[derive(Clone, Copy)]
pub(crate) struct View {
    pub(crate) language: Language,
    pub(crate) screen: Screen,
    pub(crate) is_json: bool,
    pub(crate) is_quiet: bool,
}

/// All consumers of intervals.
pub(crate) struct Live<'a> {
    view: View,
    plan: &'a Plan,
    /// The address of the first target.
    address: SocketAddr,
    thresholds: &'a [Threshold],
    to: Destinations,
    stop: StopHandle,
    json: Json,
    hdr: HdrLog,
    watch: Watch,
    /// How failed responses are shown, if they are.
    failures: Option<Showing>,
    /// Whether exchanges are logged, even if the table has no reader.
    is_logged: bool,
    /// A recovered run: it is in the past, and nothing ends it.
    past: Option<RecoveredRun>,
    table: IntervalTable,
    progress: Progress,
    /// The end of the last row.
    shown_to: Duration,
    was_aborted: bool,
    failing: FailureRateGuard,
    /// The control of the run, once it runs.
    control: Option<Control>,
    losses: Losses,
    exports: Exporting,
    changes: Vec<Changed>,
}

impl<'a> Live<'a> {
    pub(crate) fn new(
        view: View,
        (plan, address): (&'a Plan, SocketAddr),
        thresholds: &'a [Threshold],
        files: Files,
        stop: StopHandle,
    ) -> Self {
        let is_several = plan.scenarios.iter().any(|scenario| scenario.targets.len() > 1);
        Self {
            view,
            plan,
            address,
            thresholds,
            to: Destinations {
                language: view.language,
                is_json: view.is_json,
                wrote: Wrote::All,
                has_lost: false,
                files,
                keeping: Keeping::default(),
                watching: Dashboards::default(),
            },
            stop,
            json: Json::default(),
            hdr: HdrLog::default(),
            watch: Watch::new(address, is_several, &machine::kernel(machine::BEFORE, address)),
            failures: None,
            is_logged: false,
            past: None,
            table: IntervalTable::new(view.screen).for_plan(plan),
            progress: Progress::for_load(&view.screen, !view.is_json && !view.is_quiet, plan, address),
            shown_to: Duration::ZERO,
            was_aborted: false,
            failing: FailureRateGuard::default(),
            control: None,
            losses: Losses::default(),
            exports: Exporting::default(),
            changes: Vec::new(),
        }
    }

    /// Adds dashboards.
    pub(crate) fn watch(&mut self, watching: Dashboards) {
        self.to.watching = watching;
    }

    /// Notes that the run has started.
    pub(crate) fn started(&mut self, control: &Control) {
        self.to.watching.load_started(self.plan, self.address, control);
        self.control = Some(control.clone());
    }

    /// Notes a change of the load.
    pub(crate) fn changed(&mut self, change: &Change, control: &Control) {
        let changed = Changed::new(change, self.plan);
        output::note(&format!("onrush: {}", report::change_line(&changed, self.view.language)));
        self.to.watching.changed(change, &changed, control);
        self.progress.forget_aim();
        self.changes.push(changed);
    }

    /// Takes the changes, in order.
    pub(crate) fn take_changes(&mut self) -> Vec<Changed> {
        std::mem::take(&mut self.changes)
    }

    /// Adds a page, a folder, a comparison. `about`: the program and its command line.
    pub(crate) fn keep(&mut self, keeping: Keeping, about: About) {
        self.to.watching.draw(self.plan, keeping.wants_charts());
        self.to.keeping = keeping;
        self.json = Json::about(about);
    }

    /// Shows failed responses at the end.
    pub(crate) fn show_failures(&mut self, showing: Showing) {
        self.failures = Some(showing);
    }

    /// Notes that exchanges are logged.
    pub(crate) fn goes_on_for_log(&mut self, is_logged: bool) {
        self.is_logged = is_logged;
    }

    /// Sets that the run is a recovered one.
    pub(crate) fn set_replay(&mut self, past: Option<RecoveredRun>) {
        self.past = past;
    }

    /// Adds exports to other programs.
    pub(crate) fn export(&mut self, options: &ExportOptions) -> Result<(), ExportError> {
        self.exports = Exporting::begin(options, self.plan, (self.view.language, self.view.is_json))?;
        Ok(())
    }

    /// Whether a threshold ended the run.
    pub(crate) fn was_aborted(&self) -> bool {
        self.was_aborted
    }

    /// Handles an interval: its results are computed once, for all views.
    pub(crate) fn interval(&mut self, reported: &engine::Interval<'_>) -> ControlFlow<()> {
        let interval = Interval::new(reported, self.plan);
        let shared = self.exports.interval(interval);
        let interval = &*shared;
        self.progress.interval(interval.total.planned_finished());
        self.json.interval(interval);
        if self.to.files.wants_hdr() || self.to.keeping.wants_times() {
            let now = self.past.and_then(|past| past.at(self.plan, interval.to)).unwrap_or_else(machine::now_unix);
            let lines = self.hdr.interval(interval, now);
            let written = self.to.files.hdr_lines(&lines);
            self.to.report(written);
            let written = self.to.keeping.times(&lines);
            self.to.report(written);
        }
        self.show(interval);
        self.to.watching.interval(reported, interval, self.plan, self.thresholds);
        self.report_losses(interval.to);
        let kernel = machine::kernel(self.watch.wants(interval), self.address);
        for note in self.watch.interval(interval, &kernel) {
            output::note(&format!("onrush: {}", report::note_so_far(&note, self.view.language)));
            let texts = [Language::En, Language::Zh].map(|language| report::note_so_far(&note, language));
            self.to.watching.mark(interval.to, "note", texts.into());
        }
        // Updates of an earlier interval are evaluated with the next one, at its time.
        if !interval.is_update && self.past.is_none() {
            self.check_thresholds(reported.total, interval.to.as_duration());
            self.check_failures(reported.total, interval.to.as_duration());
        }
        // A requested file is written, even when the table no longer has a reader.
        if self.to.wrote == Wrote::All
            || self.to.files.wants_any()
            || self.is_logged
            || self.exports.has_any()
            || self.to.watching.is_on()
        {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }

    /// Reports the losses that came after the last interval.
    pub(crate) fn ended(&mut self) {
        self.report_losses(self.shown_to.into());
    }

    /// Reports workers that were lost by this instant.
    fn report_losses(&mut self, at: Nanos) {
        if let Some(control) = &self.control {
            self.losses.report(control, (&self.to.watching, at), report::lost_worker, self.view.language);
        }
    }

    fn show(&mut self, interval: &Interval) {
        // A target that was never reached is reported in one line at the end. The rest of a run that was stopped in its
        // warm-up gets no row.
        let is_moment = (interval.to - interval.from).as_duration() < Duration::from_millis(1);
        let is_nothing = is_moment && interval.total.finished() == 0;
        // Late results are in the reports; but a last row that grew is shown as it is now.
        let to = interval.to.as_duration();
        let is_new = !interval.is_update || to > self.shown_to;
        self.shown_to = self.shown_to.max(to);
        let is_shown = !is_nothing
            && is_new
            && !self.view.is_json
            && !self.view.is_quiet
            && interval.total.connections_established() > 0;
        if is_shown && self.to.wrote == Wrote::All {
            self.to.wrote = output::write_stdout(&self.table.next(interval), self.view.language);
        }
    }

    /// Stops the run gracefully when a threshold requires it.
    fn check_thresholds(&mut self, total: &Snapshot, elapsed: Duration) {
        if self.was_aborted {
            return;
        }
        let Some(broken) = self
            .thresholds
            .iter()
            .filter(|threshold| threshold.of.is_none())
            .find(|threshold| threshold.aborts(total, elapsed))
        else {
            return;
        };
        let language = self.view.language;
        let line_in = |language| report::threshold_line(&broken.text, &broken.judge(total, elapsed), language);
        let (line, texts) = (line_in(language), [Language::En, Language::Zh].map(line_in));
        output::note(&language.pick(format!("onrush: stopping: {line}"), format!("onrush: 停止压测：{line}")));
        self.end_early(elapsed, "threshold", texts.into());
    }

    /// Stops a run that only fails, unless failures are to be ignored.
    fn check_failures(&mut self, total: &Snapshot, elapsed: Duration) {
        let (ended, failed) = (total.counts.finished(), total.counts.failed());
        let is_failing = self.failing.is_tripped(elapsed, ended, failed);
        if self.was_aborted || self.plan.capture_options.ignores_failures || !is_failing {
            return;
        }
        output::note(self.view.language.pick(
            "onrush: stopping: 95% of the requests of the last 30s failed; --no-abort-on-failures goes on",
            "onrush: 停止压测：最近 30s 有 95% 的请求失败；加上 --no-abort-on-failures 可继续",
        ));
        let texts = ("stopped: 95% of the last 30s failed", "停止：最近 30s 有 95% 失败");
        self.end_early(elapsed, "abort", (texts.0.to_owned(), texts.1.to_owned()));
    }

    /// Ends the run gracefully, for a reason that its charts show.
    fn end_early(&mut self, at: Duration, kind: &'static str, texts: (String, String)) {
        self.to.watching.mark(at.into(), kind, texts);
        self.was_aborted = true;
        self.stop.stop();
    }

    /// Takes all notes, computed from the results of the whole run.
    pub(crate) fn take_notes(&mut self) -> Vec<Note> {
        let kernel = machine::kernel(self.watch.wants_at_end(), self.address);
        self.watch.take_notes(&kernel)
    }

    /// Shows and writes everything at the end.
    pub(crate) fn finish(mut self, run: &Run) -> (Wrote, bool) {
        self.progress.end();
        self.to.watching.give_back();
        let view = self.view;
        let is_empty = run.tally.connections_established() == 0;
        if is_empty && self.to.wrote == Wrote::All {
            output::complain(&report::nothing_measured(run, view.language));
        }
        if self.to.wrote == Wrote::All && !view.is_json {
            self.to.wrote = self.show_text(run, is_empty);
        }
        // The summary is shown before exports are awaited; the report contains their outcome.
        let exported = std::mem::take(&mut self.exports).finish(run, &self.stop);
        self.json.exports(exported.deliveries);
        if is_empty {
            self.to.keeping.forget_folder();
        }
        let mut to = self.to;
        to.has_lost |= exported.has_lost;
        let value = if to.takes_report() { self.json.value(run) } else { Value::Null };
        let has_times = to.files.wants_hdr() || to.keeping.wants_times();
        let times = if has_times { report::hdr_text(run) } else { String::new() };
        if to.files.wants_hdr() {
            let written = to.files.hdr_text(&times);
            to.report(written);
            let ended = to.files.end_hdr_log();
            to.report(ended);
        }
        let charts = to.watching.charts_value(run);
        to.write(&value, &charts, &times)
    }

    /// Prints the summary, or what replaces it.
    fn show_text(&self, run: &Run, is_empty: bool) -> Wrote {
        let language = self.view.language;
        if is_empty {
            // Responses without a connection for messages are shown too.
            let shown = self.failures.as_ref().filter(|_| report::has_responses(run));
            let text = shown.map(|showing| report::failed_responses(run, showing));
            return text.map_or(Wrote::All, |text| output::write_stdout(&text, language));
        }
        let mut summary = report::summary(run, self.view.screen);
        if let Some(showing) = &self.failures {
            summary.push_str(&report::failed_responses(run, showing));
        }
        output::write_stdout(&summary, language)
    }
}

#[cfg(test)]
mod tests;
