//! `onrush hold`: held connections, from the flags to the last line of the summary.

use std::sync::Arc;

use engine::{HoldOptions, HoldUpdate, Holding, StopHandle};
use figures::{Held, HeldInput, HeldInterval};
use host::{Settings, Situation};
use pacing::Nanos;
use plan::{Hold, PlanError};
use report::{IntervalTable, Json, Language, Screen};
use serde_json::Value;

use crate::commands::run::threads;
use crate::exit::Exit;
use crate::options::args::HoldArgs;
use crate::options::usage;
use crate::output::{self, Wrote};
use crate::session::artifacts::{self, ArtifactOptions, Keeping};
use crate::session::consent::Asking;
use crate::session::dashboards::Dashboards;
use crate::session::destinations::Destinations;
use crate::session::exporting::{ExportOptions, Exporting};
use crate::session::files::Files;
use crate::session::machine;
use crate::session::progress::Progress;
use crate::session::redaction;
use crate::session::shutdown;
use crate::session::stop_file::StopFile;
use crate::session::worker_losses::Losses;
use crate::workers;

/// Runs `onrush hold URL`.
pub(crate) fn hold(args: &HoldArgs) -> Exit {
    let language = usage::language();
    output::complained(Session::new(args, language).map(|session| session.carry_out(args)))
}

/// Connections that are ready to be held.
pub(crate) struct PreparedHold {
    pub(crate) plan: Hold,
    pub(crate) options: HoldOptions,
    pub(crate) lookup: Option<std::time::Duration>,
}

/// Parses a command line, and prepares what it needs of this machine and of its target.
pub(crate) fn ready(args: &HoldArgs, language: Language) -> Result<PreparedHold, (String, Exit)> {
    let wrong = |error: PlanError| (report::plan_error(&error, language), Exit::Usage);
    let draft = args.flags.draft().map_err(wrong)?;
    let mut plan = draft.plan().map_err(wrong)?;
    let threads = threads(args.engine.threads.as_deref()).map_err(wrong)?;
    let timeout = plan.step.connect_timeout;
    let connections = plan.connections;
    let several = if connections == 1 { "" } else { "s" };
    let load = language.pick(format!("{connections} connection{several}"), format!("{connections} 个连接"));
    let asking = Asking { connection: &draft.common.connection, load, language };
    let (resolved, tls) = asking.way(&mut plan.target, timeout)?;
    host::raise_descriptor_limit();
    let driver = driver::choose(args.engine.driver.choice())
        .map_err(|error| (report::driver_error(&error, language), Exit::System))?;
    let backend = workers::hold_backend(&plan, &args.engine, threads, language)?;
    let options = HoldOptions { address: resolved.address, names: resolved.addresses, tls, threads, driver, backend };
    Ok(PreparedHold { plan, options, lookup: resolved.lookup })
}

/// A run with all its outputs.
struct Session {
    plan: Arc<Hold>,
    options: HoldOptions,
    lookup: Option<std::time::Duration>,
    exporting: Exporting,
    to: Destinations,
}

impl Session {
    fn new(args: &HoldArgs, language: Language) -> Result<Self, (String, Exit)> {
        let PreparedHold { plan, options, lookup } = ready(args, language)?;
        let keep = ArtifactOptions::new(&args.keep, false, language).map_err(|text| (text, Exit::Usage))?;
        let pages: Vec<&str> = keep.page().into_iter().collect();
        let files = Files::open(args.view.json.as_deref(), None, &pages)
            .map_err(|(path, error)| (output::cannot_write(&path, &error, language), Exit::Usage))?;
        let keeping = Keeping::begin(&keep, true, machine::now_unix(), language).map_err(|text| (text, Exit::Usage))?;
        let exports = ExportOptions::new(&args.exports, language).map_err(|text| (text, Exit::Usage))?;
        let is_json = args.view.output.as_deref() == Some("json");
        let exporting = Exporting::begin_held(&exports, (language, is_json));
        let exporting = exporting.map_err(|error| (report::export_error(&error, language), Exit::Usage))?;
        let screen = output::screen(language, args.view.no_color, args.view.full);
        let watching = Dashboards::begin(&args.watch, &screen).map_err(|text| (text, Exit::Usage))?;
        let to = Destinations { language, is_json, wrote: Wrote::All, has_lost: false, files, keeping, watching };
        Ok(Self { plan: Arc::new(plan), options, lookup, exporting, to })
    }

    fn carry_out(mut self, args: &HoldArgs) -> Exit {
        let (language, is_json) = (self.to.language, self.to.is_json);
        let stop = StopHandle::default();
        let requested = match shutdown::watch_signals(&stop, language) {
            Ok(requested) => requested,
            Err(exit) => return exit,
        };
        let stop_file = match StopFile::watch(args.stop_file.as_deref(), &stop, language) {
            Ok(stop_file) => stop_file,
            Err(text) => {
                output::complain(&text);
                return Exit::Usage;
            }
        };
        self.warn();
        let screen = output::screen(language, args.view.no_color, args.view.full);
        let mut table = IntervalTable::of_hold(screen);
        let about = artifacts::about(redaction::command_of_hold());
        let mut json = Json::about(about);
        let wants_file = self.to.files.wants_json()
            || self.to.keeping.wants_any()
            || self.exporting.has_any()
            || self.to.watching.is_on();
        let is_shown = !is_json && !args.view.quiet && !args.watch.screen;
        let mut progress = Progress::for_hold(&screen, is_shown, &self.plan, self.options.address);
        let result = Holding::start(self.plan.clone(), self.options.clone(), &stop).and_then(|mut holding| {
            let (control, mut losses) = (holding.control(), Losses::default());
            let mut until = Nanos::ZERO;
            self.to.watching.hold_started(&self.plan, self.options.address, &control);
            while let Some(HoldUpdate::Interval(interval)) = holding.wait() {
                let interval = &*self.exporting.held(HeldInterval::of(&interval));
                json.hold_interval(interval);
                until = until.max(interval.to);
                losses.report(&control, (&self.to.watching, until), report::lost_holder, language);
                self.to.watching.held(interval);
                if is_shown && !interval.is_update && self.to.wrote == Wrote::All {
                    self.to.wrote = output::write_stdout(&table.next(interval), language);
                }
                if self.to.wrote != Wrote::All && !wants_file {
                    stop.abort();
                }
            }
            // Those that were lost after the last interval.
            losses.report(&control, (&self.to.watching, until), report::lost_holder, language);
            holding.finish()
        });
        progress.end();
        self.to.watching.give_back();
        let result = match result {
            Ok(result) => result,
            Err(error) => {
                output::complain(&report::run_error(&error, language));
                return Exit::from_error(&error);
            }
        };
        let held = Held::of(HeldInput {
            plan: self.plan.clone(),
            address: self.options.address,
            lookup: self.lookup,
            result,
            host: machine::host_facts(),
        });
        // A later Ctrl-C ends the wait for exports, and not the run.
        let was_requested = requested.is_requested() || stop_file.has_come();
        let (wrote, is_worse) = self.finish(&held, json, &stop, screen);
        let ended = exit(&held, wrote, was_requested, wants_file);
        if ended == Exit::Done && is_worse { Exit::Unmet } else { ended }
    }

    /// Shows and writes everything at the end; returns whether the run is worse than its baseline.
    fn finish(mut self, held: &Held, mut json: Json, stop: &StopHandle, screen: Screen) -> (Wrote, bool) {
        let language = self.to.language;
        let is_empty = held.tally.established() == 0;
        if is_empty {
            self.to.keeping.forget_folder();
            output::complain(&report::nothing_held(held, language));
        } else if self.to.wrote == Wrote::All && !self.to.is_json {
            self.to.wrote = output::write_stdout(&report::hold_summary(held, screen), language);
        }
        // The summary is shown before exports are awaited; the report contains their outcome.
        let exported = self.exporting.finish_held(held, stop);
        json.exports(exported.deliveries);
        self.to.has_lost |= exported.has_lost;
        let value = if self.to.takes_report() { json.hold_value(held) } else { Value::Null };
        self.to.write(&value, &Value::Null, "")
    }

    /// Warns before the first connection if this machine cannot hold all requested connections.
    fn warn(&self) {
        let (plan, language) = (&self.plan, self.to.language);
        // Workers have limits of their own.
        if self.options.backend.is_some() {
            return;
        }
        // Errors in the endpoints are reported by the run.
        let Ok(places) = self.options.places(plan) else { return };
        let situation = Situation {
            is_server: false,
            takes_descriptors: self.options.driver.kind == driver::Kind::Poll,
            has_both_ends: host::is_own(self.options.address.ip()),
            pairs: places.carry(1),
        };
        let settings = Settings::read();
        for limit in host::limits(&settings, situation).iter().filter(|limit| limit.connections < plan.connections) {
            output::note(&format!("onrush: {}", report::limit_warning(limit, &settings, plan.connections, language)));
        }
    }
}

fn exit(held: &Held, wrote: Wrote, was_requested: bool, wants_file: bool) -> Exit {
    if wrote == Wrote::Failed {
        Exit::System
    } else if was_requested {
        Exit::Stopped
    } else if held.names.iter().any(|name| name.has_none) {
        Exit::Usage
    } else if wrote == Wrote::PipeClosed && !wants_file {
        Exit::Done
    } else if held.tally.established() == 0 {
        Exit::NothingMeasured
    } else if held.is_kept {
        Exit::Done
    } else {
        Exit::Unmet
    }
}
