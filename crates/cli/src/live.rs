//! The views of a load while it runs, and at its end.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::time::Duration;

use engine::StopHandle;
use figures::{Interval, Note, Run, Watch};
use metrics::{Snapshot, Threshold};
use plan::Plan;
use report::{HdrLog, Json, Showing};

use crate::files::{Files, NotWritten};
use crate::load::Load;
use crate::machine;
use crate::output::{self, Wrote};

/// Everything that looks at intervals.
pub(crate) struct Live<'a> {
    load: &'a Load,
    plan: &'a Plan,
    /// The first of the targets.
    address: SocketAddr,
    thresholds: &'a [Threshold],
    files: Files,
    stop: StopHandle,
    json: Json,
    hdr: HdrLog,
    watch: Watch,
    wrote: Wrote,
    /// How failed answers are shown, if they are.
    failures: Option<Showing>,
    /// A file could not be written.
    has_lost: bool,
    has_head: bool,
    /// The end of the last row.
    shown_to: Duration,
    was_aborted: bool,
}

impl<'a> Live<'a> {
    pub(crate) fn new(
        load: &'a Load,
        (plan, address): (&'a Plan, SocketAddr),
        thresholds: &'a [Threshold],
        files: Files,
        stop: StopHandle,
    ) -> Self {
        let is_several = plan.scenarios.iter().any(|scenario| scenario.targets.len() > 1);
        Self {
            load,
            plan,
            address,
            thresholds,
            files,
            stop,
            json: Json::default(),
            hdr: HdrLog::default(),
            watch: Watch::new(address, is_several, &machine::kernel(machine::BEFORE, address)),
            wrote: Wrote::All,
            failures: None,
            has_lost: false,
            has_head: false,
            shown_to: Duration::ZERO,
            was_aborted: false,
        }
    }

    /// Failed answers are shown at the end.
    pub(crate) fn show_failures(&mut self, showing: Showing) {
        self.failures = Some(showing);
    }

    /// A threshold ended the run.
    pub(crate) fn was_aborted(&self) -> bool {
        self.was_aborted
    }

    /// What has become of an interval is made once, for all views.
    pub(crate) fn interval(&mut self, told: &engine::Interval<'_>) -> ControlFlow<()> {
        let interval = &Interval::of(told, self.plan);
        self.json.interval(interval);
        if self.files.wants_hdr() {
            let lines = self.hdr.interval(interval, machine::now_unix());
            let written = self.files.hdr_lines(&lines);
            self.tell(written);
        }
        self.show(interval);
        let kernel = machine::kernel(self.watch.wants(interval), self.address);
        for note in self.watch.interval(interval, &kernel) {
            output::note(&format!("onrush: {}", report::note_text(&note, self.load.language)));
        }
        // What came late of an earlier interval is looked at with the next one, whose time it has.
        if !interval.is_again {
            self.look_at_thresholds(told.total, interval.to.as_duration());
        }
        // Whoever wants a file gets it, also when nobody reads the table any more.
        if self.wrote == Wrote::All || self.files.wants_any() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }

    fn show(&mut self, interval: &Interval) {
        // A target that was never reached is told in one line at the end.
        // What is left of a run that was stopped in its warm-up is no line.
        let is_span = (interval.to - interval.from).as_duration() >= Duration::from_millis(1);
        // What came late is in the reports; but a last row that grew is shown as it is now.
        let to = interval.to.as_duration();
        let is_new = !interval.is_again || to > self.shown_to;
        self.shown_to = self.shown_to.max(to);
        let is_shown = is_span
            && is_new
            && !self.load.is_json
            && !self.load.is_quiet
            && interval.total.connections_established > 0;
        if is_shown && self.wrote == Wrote::All {
            let head = if std::mem::replace(&mut self.has_head, true) { String::new() } else { self.load.table.head() };
            self.wrote = output::write_stdout(&format!("{head}{}", self.load.table.row(interval)), self.load.language);
        }
    }

    /// Stops the run, gently, when a threshold says so.
    fn look_at_thresholds(&mut self, total: &Snapshot, elapsed: Duration) {
        if self.was_aborted {
            return;
        }
        let Some(broken) = self.thresholds.iter().find(|threshold| threshold.aborts(total, elapsed)) else { return };
        let language = self.load.language;
        let line = report::threshold_line(&broken.text, &broken.judge(total, elapsed), language);
        output::note(&language.pick(format!("onrush: stopping: {line}"), format!("onrush: 停止压测：{line}")));
        self.was_aborted = true;
        self.stop.stop();
    }

    fn tell(&mut self, written: Result<(), NotWritten>) {
        if let Err((path, error)) = written {
            output::complain(&output::cannot_write(&path, &error, self.load.language));
            self.has_lost = true;
        }
    }

    /// All that was noted, with the figures of the whole run.
    pub(crate) fn take_notes(&mut self) -> Vec<Note> {
        let kernel = machine::kernel(self.watch.wants_at_end(), self.address);
        self.watch.take_notes(&kernel)
    }

    /// Everything that is shown at the end.
    pub(crate) fn finish(mut self, run: &Run) -> Wrote {
        let load = self.load;
        let is_empty = run.tally.connections_established == 0;
        if is_empty && self.wrote == Wrote::All {
            output::complain(&report::nothing_measured(run, load.language));
        }
        let needs_json = load.is_json || self.files.wants_json();
        let json = if needs_json { self.json.report(run) } else { String::new() };
        if self.wrote == Wrote::All {
            if load.is_json {
                self.wrote = output::write_stdout(&json, load.language);
            } else if is_empty {
                // Whoever answered without opening a connection for messages is shown too.
                let shown = self.failures.as_ref().filter(|_| report::has_answers(run));
                let text = shown.map(|showing| report::failed_answers(run, showing));
                self.wrote = text.map_or(Wrote::All, |text| output::write_stdout(&text, load.language));
            } else {
                let mut summary = report::summary(run, load.language, load.is_colorful);
                if let Some(showing) = &self.failures {
                    summary.push_str(&report::failed_answers(run, showing));
                }
                self.wrote = output::write_stdout(&summary, load.language);
            }
        }
        let written = self.files.json(&json);
        self.tell(written);
        if self.files.wants_hdr() {
            let written = self.files.hdr_text(&report::hdr_text(run));
            self.tell(written);
            let ended = self.files.end_hdr_log();
            self.tell(ended);
        }
        if self.has_lost { Wrote::Failed } else { self.wrote }
    }
}
