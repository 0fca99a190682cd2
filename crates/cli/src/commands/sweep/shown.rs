//! The output of a sweep.

use std::time::Duration;

use report::SweepInput;
use search::Grid;
use search::sweep_result::{BestBy, SweptRun};
use serde_json::Value;

use crate::exit::Exit;
use crate::options::args::{Command, SweepArgs};
use crate::session::artifacts;
use crate::session::experiment_output::{ExperimentOutput, Kind};
use crate::session::redaction;
use crate::session::wrapped_command::WrappedCommand;

/// The storage names of sweeps.
const KIND: Kind = Kind { folder: "sweeps", report: "sweep.json", runs: "runs" };

pub(super) struct Shown {
    pub(super) whole: ExperimentOutput,
    target: String,
    is_hold: bool,
    grid: Grid,
    best_by: BestBy,
    runs: Vec<SweptRun>,
    seed: Option<u64>,
}

impl Shown {
    /// Everything that can be wrong is found before the first run.
    pub(super) fn begin(
        args: &SweepArgs,
        grid: &Grid,
        best_by: BestBy,
        base: &WrappedCommand,
        seed: Option<u64>,
    ) -> Result<Self, String> {
        let whole = ExperimentOutput::begin(&args.front, KIND, artifacts::about(redaction::command_of_hold()))?;
        let (target, is_hold) = match &base.command {
            Command::Run(args) => (args.flags.url.clone(), false),
            Command::Hold(args) => (args.flags.common.url.clone(), true),
            _ => (None, false),
        };
        let target = plan::masked_url(&target.unwrap_or_else(|| "curl".to_owned()));
        Ok(Self { whole, target, is_hold, grid: grid.clone(), best_by, runs: Vec::new(), seed })
    }

    fn value(&self, took: Option<Duration>, was_stopped: bool) -> Value {
        report::sweep_value(&SweepInput {
            grid: &self.grid,
            runs: &self.runs,
            is_hold: self.is_hold,
            best_by: self.best_by,
            target: &self.target,
            seed: self.seed,
            began_unix: self.whole.began_unix,
            took,
            was_stopped,
            about: &self.whole.about,
            kept_as: self.whole.kept_as().as_deref(),
        })
    }

    /// Shows that a sweep begins.
    pub(super) fn begun(&self) {
        self.whole.report(|| self.value(None, false));
    }

    /// Shows a run.
    pub(super) fn run(&mut self, run: SweptRun) {
        let is_first = self.runs.is_empty();
        self.runs.push(run);
        let (value, screen) = (self.value(None, false), self.whole.screen);
        self.whole.report(|| value.clone());
        self.whole.say(|| {
            let head = if is_first { report::sweep_head(&value, &screen) } else { String::new() };
            let last = value["runs"].as_array().and_then(|all| all.last());
            head + &last.map_or(String::new(), |run| report::sweep_row(&value, run, &screen))
        });
    }

    /// Shows everything at the end.
    pub(super) fn over(mut self, took: Duration, was_stopped: bool) -> Exit {
        let is_nothing = self.runs.is_empty();
        if is_nothing {
            self.whole.forget();
        }
        let has_failed = !is_nothing && self.runs.iter().all(|run| run.failed_share >= 1.0);
        let (value, screen) = (self.value(Some(took), was_stopped), self.whole.screen);
        let page = report::sweep_html(&value, screen.language);
        let text = || if is_nothing { String::new() } else { report::sweep_text(&value, screen) };
        match self.whole.over(&value, text, &page) {
            Exit::Done if has_failed => Exit::Unmet,
            exit => exit,
        }
    }
}
