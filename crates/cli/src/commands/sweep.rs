//! `onrush sweep`: a load with every combination of some values, several times.

mod cells;
mod shown;

use std::cell::RefCell;
use std::time::Instant;

use engine::StopHandle;
use figures::{Held, PercentileValue, Quantile, Run};
use metrics::Measure;
use plan::parse_count;
use report::Language;
use search::sweep_result::{BestBy, SweptRun};
use search::{Cell, Grid, REPEAT_MAX, Vary};

use crate::commands::headless::{HeadlessHold, HeadlessRun};
use crate::commands::hold;
use crate::commands::run::{self, Load, Prepared};
use crate::commands::run_file;
use crate::exit::Exit;
use crate::options::args::{Command, HoldArgs, RunArgs, SweepArgs};
use crate::options::usage;
use crate::output;
use crate::session::artifacts;
use crate::session::redaction;
use crate::session::run_settings::RunSettings;
use crate::session::shutdown;
use crate::session::signals;
use crate::session::wrapped_command::{self, WrappedCommand};
use crate::workers;
use cells::Varied;
use shown::Shown;

/// The default number of runs of each cell.
const REPEAT: u64 = 3;
/// The random seed of the order of runs.
const SEED: u64 = 1;
/// Flags that the runs of a sweep cannot use.
const OF_ONE_RUN: [&str; 17] = [
    "threshold",
    "debug",
    "show-failures",
    "show-secrets",
    "hdr",
    "export",
    "export-wait",
    "log",
    "log-only",
    "log-share",
    "slowest",
    "standby",
    "baseline",
    "fail-if",
    "screen",
    "strict",
    "full",
];

/// Runs `onrush sweep`.
pub(crate) fn sweep(args: &SweepArgs) -> Exit {
    wrapped_command::ended(begun(args, usage::language()))
}

/// Begins a sweep: the exit code, or the error message for the command line.
fn begun(args: &SweepArgs, language: Language) -> Result<Exit, String> {
    let repeat = args.repeat.as_deref().map_or(Ok(REPEAT), |text| parse_count("--repeat", text, 1, REPEAT_MAX));
    let repeat = repeat.map_err(|error| report::plan_error(&error, language))?;
    let vary = args.vary.iter().map(|text| Vary::parse(text)).collect::<Result<Vec<_>, _>>();
    let grid = vary.and_then(|vary| Grid::new(vary, repeat));
    let grid = grid.map_err(|error| report::grid_error(&error, language))?;
    let base = wrapped_command::behind(&args.front.words, &[], language)?;
    if let Some(name) = base.given(&OF_ONE_RUN) {
        return Err(language.pick(
            format!("--{name} is for a single run; a sweep makes many, and shows their figures side by side"),
            format!("--{name} 仅用于单次压测；sweep 会多次压测并并列显示数据"),
        ));
    }
    let varied = Varied::new(&grid, &base, language)?;
    let by = match args.best.as_deref() {
        Some("rate") => BestBy::Rate,
        Some("p50") => BestBy::P50,
        Some(_) => BestBy::P99,
        None if is_at_a_rate(&base, &grid) => BestBy::P99,
        None => BestBy::Rate,
    };
    // Errors in any combination are reported before the first run.
    let all = (0..grid.cells()).map(|place| {
        let behind = varied.behind(&grid.values(place), &args.front.words, language);
        behind.map_err(|text| named(&grid, place, &text, language))
    });
    let mut all = all.collect::<Result<Vec<WrappedCommand>, String>>()?;
    let seed = one_seed(&mut all, &grid);
    for (place, behind) in all.iter().enumerate() {
        check(behind, language).map_err(|text| named(&grid, place, &text, language))?;
    }
    let shown = Shown::begin(args, &varied.shown(&grid), by, &base, seed)?;
    Ok(Sweep { grid, all, shown: RefCell::new(shown), requested: RefCell::default(), language }.run())
}

/// What a file draws is the same in all runs, so that they differ by what is varied alone: the seed of them.
fn one_seed(all: &mut [WrappedCommand], grid: &Grid) -> Option<u64> {
    let Some(Command::Run(first)) = all.first().map(|behind| &behind.command) else { return None };
    let file = first.file()?;
    if grid.vary.iter().any(|vary| vary.name == "seed") {
        return None;
    }
    if let Some(given) = &first.flags.seed {
        return given.parse().ok();
    }
    if let Some(seed) = run_file::seed_of(file, &first.vars) {
        return Some(seed);
    }
    let seed = workers::drawn_seed();
    for behind in all {
        if let Command::Run(args) = &mut behind.command {
            args.flags.seed = Some(seed.to_string());
        }
    }
    Some(seed)
}

/// A mistake with the values that make it.
fn named(grid: &Grid, place: usize, text: &str, language: Language) -> String {
    let pairs = grid.vary.iter().map(|vary| &vary.name).zip(grid.values(place));
    let values: Vec<String> = pairs.map(|(name, value)| format!("{name}={value}")).collect();
    let values = values.join(", ");
    language.pick(format!("--vary, with {values}: {text}"), format!("--vary（{values}）：{text}"))
}

/// Whether starts come at a rate, so that all combinations do the same work.
fn is_at_a_rate(base: &WrappedCommand, grid: &Grid) -> bool {
    base.given(&["rate", "stages"]).is_some() && !grid.vary.iter().any(|vary| vary.name == "rate")
}

/// Checks the values against their flags.
fn check(behind: &WrappedCommand, language: Language) -> Result<(), String> {
    let made = match &behind.command {
        Command::Run(args) if args.file().is_none() => args.flags.draft().map(drop),
        Command::Hold(args) => args.flags.draft().and_then(|draft| draft.plan()).map(drop),
        _ => Ok(()),
    };
    let threads = match &behind.command {
        Command::Run(args) => run::threads(args.engine.threads.as_deref()).map(drop),
        Command::Hold(args) => run::threads(args.engine.threads.as_deref()).map(drop),
        _ => Ok(()),
    };
    made.and(threads).map_err(|error| report::plan_error(&error, language))
}

struct Sweep {
    grid: Grid,
    /// The command line of each cell.
    all: Vec<WrappedCommand>,
    shown: RefCell<Shown>,
    requested: RefCell<Option<signals::StopRequest>>,
    language: Language,
}

impl Sweep {
    fn run(self) -> Exit {
        self.shown.borrow().begun();
        let began = Instant::now();
        let mut exit = Exit::Done;
        let mut was_stopped = false;
        for (number, cell) in self.grid.order(SEED).into_iter().enumerate() {
            let stop = StopHandle::default();
            let requested = match shutdown::watch_signals(&stop, self.language) {
                Ok(requested) => requested,
                Err(exit) => return exit,
            };
            let stop_file = self.shown.borrow().whole.watch_stop_file(&stop);
            *self.requested.borrow_mut() = Some(requested);
            if self.is_reported_to_stop() {
                was_stopped = true;
                break;
            }
            exit = match &self.all[cell.place].command {
                Command::Run(args) => self.load(args, &cell, number + 1, &stop),
                Command::Hold(args) => self.held(args, &cell, number + 1, &stop),
                _ => Exit::Usage,
            };
            drop(stop_file);
            was_stopped = self.is_reported_to_stop();
            if exit != Exit::Done || was_stopped {
                break;
            }
        }
        let shown = self.shown.into_inner().over(began.elapsed(), was_stopped);
        match (exit, shown) {
            (Exit::Done, Exit::Done) if was_stopped => Exit::Stopped,
            (Exit::Done, shown) => shown,
            (exit, _) => exit,
        }
    }

    /// Whether a stop was requested.
    fn is_reported_to_stop(&self) -> bool {
        self.requested.borrow().as_ref().is_some_and(signals::StopRequest::is_requested)
            || self.shown.borrow().whole.is_reported_to_stop()
    }

    fn load(&self, args: &RunArgs, cell: &Cell, number: usize, stop: &StopHandle) -> Exit {
        let mut args = args.clone();
        args.view.quiet = true;
        let carry = |load: &Load, prepared: Prepared, settings: &RunSettings| {
            self.measure(load, (prepared, settings), (cell, number), stop)
        };
        match args.file() {
            Some(file) => run_file::play_with(&args, file, false, &carry),
            None => run::run_with(&args, false, &carry),
        }
    }

    fn measure(
        &self,
        load: &Load,
        (prepared, settings): (Prepared, &RunSettings),
        (cell, number): (&Cell, usize),
        stop: &StopHandle,
    ) -> Exit {
        let plan = prepared.plan.clone();
        let about = artifacts::about(redaction::command(&plan, false));
        let (thresholds, runs) = (&settings.thresholds[..], self.shown.borrow().whole.runs());
        let quiet = HeadlessRun { screen: load.view.screen, thresholds, about, runs };
        match quiet.measure(plan, (&prepared, &format!("{number:03}")), stop, |_, _| ()) {
            // An aborted run is no run of this combination.
            Ok(_) if self.is_reported_to_stop() => Exit::Done,
            Ok(measured) => {
                if measured.run.tally.connections_established() == 0 {
                    output::complain(&report::nothing_measured(&measured.run, self.language));
                    return Exit::NothingMeasured;
                }
                self.shown.borrow_mut().run(swept_run(&measured.run, cell, measured.kept_as));
                Exit::Done
            }
            Err(error) => load.refuse(&report::run_error(&error, self.language), Exit::System),
        }
    }

    fn held(&self, args: &HoldArgs, cell: &Cell, number: usize, stop: &StopHandle) -> Exit {
        let ready = match hold::ready(args, self.language) {
            Ok(ready) => ready,
            Err((text, exit)) => {
                output::complain(&text);
                return exit;
            }
        };
        let (runs, screen) = (self.shown.borrow().whole.runs(), self.shown.borrow().whole.screen);
        let quiet = HeadlessHold { ready: &ready, runs: runs.as_ref(), screen };
        match quiet.hold(ready.plan.clone(), &format!("{number:03}"), stop) {
            Ok(_) if self.is_reported_to_stop() => Exit::Done,
            Ok((held, kept_as)) => {
                if held.tally.established() == 0 {
                    output::complain(&report::nothing_held(&held, self.language));
                    return Exit::NothingMeasured;
                }
                self.shown.borrow_mut().run(swept_hold(&held, cell, kept_as));
                Exit::Done
            }
            Err(error) => {
                output::complain(&report::run_error(&error, self.language));
                Exit::System
            }
        }
    }
}

fn swept_run(run: &Run, cell: &Cell, kept_as: Option<String>) -> SweptRun {
    let response = run.succeeded.by_measure(Measure::Response);
    let [p50, p99] = [Quantile::P50, Quantile::P99].map(|quantile| response.at_known(quantile));
    let is_affected = |at: Option<PercentileValue>| at.is_some_and(|at| at.is_unreliable);
    let (started, succeeded) = (run.tally.started().max(1), run.tally.succeeded());
    SweptRun {
        place: cell.place,
        round: cell.round,
        // Completions within the measured time, as in the summary of a single run.
        rate: run.rate,
        p50_ns: p50.map(|at| at.ns),
        p99_ns: p99.map(|at| at.ns),
        is_affected: [is_affected(p50), is_affected(p99)],
        failed_share: 1.0 - succeeded.min(started) as f64 / started as f64,
        limit: run.verdict.limit.name(),
        // Stalls that affect a percentile are marked there, and do not invalidate a rate.
        is_unreliable: run.verdict.is_unreliable(),
        kept_as,
    }
}

fn swept_hold(held: &Held, cell: &Cell, kept_as: Option<String>) -> SweptRun {
    let (requested, open) = (held.plan.connections.max(1), held.when_closing.open);
    SweptRun {
        place: cell.place,
        round: cell.round,
        rate: open as f64,
        p50_ns: held.answered.quantile(0.5),
        p99_ns: held.answered.quantile(0.99),
        is_affected: [false; 2],
        failed_share: 1.0 - open.min(requested) as f64 / requested as f64,
        limit: match (held.is_unreliable() || held.stopped_opening.is_some(), held.is_kept) {
            (true, _) => "generator",
            (false, true) => "plan_kept",
            (false, false) => "target",
        },
        is_unreliable: held.is_unreliable() || held.stopped_opening.is_some(),
        kept_as,
    }
}

#[cfg(test)]
mod tests;
