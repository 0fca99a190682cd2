//! `onrush URL`: from the flags to the last line of the summary.

mod targets;

use std::sync::Arc;

use engine::{
    DataSources, RequestLogConfig, Resolved, RunError, RunOptions, RunResult, RunUpdate, Running, StopHandle,
};
use export::Export;
use figures::{Note, Run, RunInput};
use metrics::{OwnFigure, Threshold};
use plan::draft::Connection;
use plan::{Draft, Plan, PlanError, Remedy, TargetPolicy, parse_count};
use report::{Language, Showing};

use crate::exit::Exit;
use crate::options::args::{EngineArgs, RunArgs, ViewArgs};
use crate::options::usage;
use crate::output::{self, Wrote};
use crate::session::artifacts::{self, ArtifactOptions, Keeping};
use crate::session::dashboards::Dashboards;
use crate::session::data_sources::data_sources;
use crate::session::ending::{self, LoadOutcome};
use crate::session::exporting::ExportOptions;
use crate::session::files::{Files, NotWritten};
use crate::session::live::{Live, View};
use crate::session::machine;
use crate::session::probe;
use crate::session::probing;
use crate::session::proxies;
use crate::session::redaction;
use crate::session::request_log::Tracing;
use crate::session::run_settings::RunSettings;
use crate::session::shutdown;
use crate::session::signals;
use crate::session::stop_file::StopFile;
use crate::session::validate_args;
use crate::workers;

/// The most threads.
const THREADS_MAX: u64 = 1_024;

/// Carries out a load that is ready.
pub(crate) type RunLoad<'a> = &'a dyn Fn(&Load, Prepared, &RunSettings) -> Exit;

/// Runs `onrush URL`.
pub(crate) fn run(args: &RunArgs) -> Exit {
    run_with(args, false, &|load, prepared, settings| load.carry_out_prepared(prepared, settings))
}

/// The same with another way to carry out the load. `grows`: the load may become larger than its flags say.
pub(crate) fn run_with(args: &RunArgs, grows: bool, carry: RunLoad<'_>) -> Exit {
    let (load, flags) = (Load::new(&args.view), &args.flags);
    let bare = flags.url.as_deref().map(str::trim).filter(|word| usage::is_bare_word(word));
    if let Some(word) = bare.filter(|word| usage::is_command(word)) {
        return load.refuse(&usage::say_bare_word(word, load.view.language), Exit::Usage);
    }
    if let Some(text) = flags.url.as_deref().and_then(|word| usage::say_file(word, load.view.language)) {
        return load.refuse(&text, Exit::Usage);
    }
    let settings = match load.settings(args, &[]) {
        Ok(settings) => RunSettings { grows, ..settings },
        Err(exit) => return exit,
    };
    if let Some(error) = validate_args::needs_file(args) {
        return load.refuse(&report::plan_error(&error, load.view.language), Exit::Usage);
    }
    // A word that is no host: other errors come first.
    let made = flags.draft().and_then(|draft| {
        let others =
            if bare.is_some() { draft.plan().and(threads(args.engine.threads.as_deref())).map(drop) } else { Ok(()) };
        others.map(|()| draft)
    });
    match (made, bare) {
        (Ok(_), Some(word)) => load.refuse(&usage::say_bare_word(word, load.view.language), Exit::Usage),
        (Ok(draft), None) => match load.prepare(&draft, &args.engine, &settings) {
            Ok(prepared) => carry(&load, prepared, &settings),
            Err(exit) => exit,
        },
        (Err(error), _) => load.refuse(&report::plan_error(&error, load.view.language), Exit::Usage),
    }
}

/// The requested threads, or the cores that this process may use.
pub(crate) fn threads(requested: Option<&str>) -> Result<usize, PlanError> {
    match requested {
        Some(text) => parse_count("--threads", text, 1, THREADS_MAX).map(|count| count as usize),
        None => Ok(host::allowed_cores().len()),
    }
}

/// The input for the results of a run.
pub(crate) fn run_input<'a>(plan: Arc<Plan>, resolved: &Resolved, result: RunResult) -> RunInput<'a> {
    let (address, lookup) = (resolved.address, resolved.lookup);
    RunInput {
        plan,
        address,
        lookup,
        result,
        thresholds: &[],
        notes: Vec::new(),
        changes: Vec::new(),
        host: machine::host_facts(),
    }
}

/// One load and its views.
pub(crate) struct Load {
    pub(crate) view: View,
    json_file: Option<String>,
}

impl Load {
    /// A load with the views of another tool, or the usual ones.
    pub(crate) fn for_tool(language: Language) -> Self {
        let screen = output::screen(language, false, false);
        let view = View { language, screen, is_json: false, is_quiet: false };
        Self { view, json_file: None }
    }

    pub(crate) fn new(args: &ViewArgs) -> Self {
        let language = usage::language();
        let view = View {
            language,
            screen: output::screen(language, args.no_color, args.full),
            is_json: args.output.as_deref() == Some("json"),
            is_quiet: args.quiet,
        };
        Self { view, json_file: args.json.clone() }
    }

    /// The settings besides the plan.
    /// `own`: the figures of a scenario file.
    pub(crate) fn settings(&self, args: &RunArgs, own: &[OwnFigure]) -> Result<RunSettings, Exit> {
        let thresholds = args.thresholds.iter().map(|text| Threshold::parse_with(text, own)).collect();
        let thresholds = match thresholds {
            Ok(thresholds) => thresholds,
            Err(error) => {
                output::note(&format!("onrush: {}", report::threshold_error(&error, self.view.language)));
                return Err(Exit::Usage);
            }
        };
        if let Some(other) = validate_args::reported(args).filter(|_| args.debug) {
            let error = PlanError::Conflict { one: "--debug", other, remedy: Remedy::DebugIsText };
            return Err(self.refuse(&report::plan_error(&error, self.view.language), Exit::Usage));
        }
        let tracing = match Tracing::new(&args.log, args.flags.seed.as_deref()) {
            Ok(tracing) => tracing,
            Err(error) => return Err(self.refuse(&report::plan_error(&error, self.view.language), Exit::Usage)),
        };
        let exports = ExportOptions::new(&args.exports, self.view.language);
        let exports = exports.map_err(|text| self.refuse(&text, Exit::Usage))?;
        let keep = ArtifactOptions::new(&args.keep, args.file().is_some(), self.view.language)
            .map_err(|text| self.refuse(&text, Exit::Usage))?;
        let probe = probing::options(args, self.view.language).map_err(|text| self.refuse(text, Exit::Usage))?;
        Ok(RunSettings {
            tracing,
            names_traces: args.log.names_traces,
            watch: args.watch.clone(),
            grows: false,
            consents: args.flags.consents.clone(),
            file: None,
            thresholds,
            is_strict: args.strict,
            probe,
            hdr_file: args.hdr.clone(),
            keep,
            exports,
            is_debug: args.debug,
            shows_failures: args.show_failures,
            with_secrets: args.show_secrets,
            stop_file: args.stop_file.clone(),
            past: None,
        })
    }

    /// Prepares a load; all errors before it are found here.
    pub(crate) fn prepare(&self, draft: &Draft, engine: &EngineArgs, settings: &RunSettings) -> Result<Prepared, Exit> {
        let (described, target_policy) = self.described(draft)?.unzip();
        let plan = draft.plan_with(described.as_ref());
        let plan = plan.map_err(|error| self.refuse(&report::plan_error(&error, self.view.language), Exit::Usage))?;
        let sources = Sources { connection: &draft.connection, target_policy, data_sources: data_sources() };
        self.ready(plan, sources, engine, settings)
    }

    /// Prepares what a plan needs of this machine and of its targets.
    pub(crate) fn ready(
        &self,
        mut plan: Plan,
        sources: Sources<'_>,
        engine: &EngineArgs,
        settings: &RunSettings,
    ) -> Result<Prepared, Exit> {
        let threads = threads(engine.threads.as_deref())
            .map_err(|error| self.refuse(&report::plan_error(&error, self.view.language), Exit::Usage))?;
        if settings.names_traces {
            plan.name_traces()
                .map_err(|error| self.refuse(&report::plan_error(&error, self.view.language), Exit::Usage))?;
        }
        if settings.is_debug {
            plan = plan.for_debug();
        }
        if settings.shows_failures {
            plan = plan.for_failures();
        }
        plan.capture_options.secrets = settings.with_secrets;
        plan = settings.requested_for(plan);
        let Sources { connection, target_policy, data_sources } = sources;
        let routes = self.routes(&mut plan, connection, target_policy)?;
        let names = routes.iter().map(|(resolved, _)| resolved.addresses.clone()).collect();
        let mut routes = routes.into_iter();
        let (resolved, tls) = routes.next().expect("a scenario has a target");
        let others = routes.map(|(resolved, tls)| (resolved.address, tls)).collect();
        host::raise_descriptor_limit();
        let driver = driver::choose(engine.driver.choice())
            .map_err(|error| self.refuse(&report::driver_error(&error, self.view.language), Exit::System))?;
        let backend = workers::backend(&plan, engine, threads, settings, self.view.language)
            .map_err(|(text, exit)| self.refuse(&text, exit))?;
        let address = resolved.address;
        let options = RunOptions {
            address,
            tls,
            others,
            names,
            threads,
            pins_threads: engine.pin_threads,
            driver,
            log_config: RequestLogConfig::default(),
            data_sources,
            backend,
        };
        Ok(Prepared { plan, resolved, options })
    }

    pub(crate) fn carry_out(&self, draft: &Draft, engine: &EngineArgs, settings: &RunSettings) -> Exit {
        match self.prepare(draft, engine, settings) {
            Ok(prepared) => self.carry_out_prepared(prepared, settings),
            Err(exit) => exit,
        }
    }

    pub(crate) fn carry_out_prepared(&self, prepared: Prepared, settings: &RunSettings) -> Exit {
        match self.measure(prepared, settings) {
            Ok(exit) | Err(exit) => exit,
        }
    }

    /// The load itself, from its files to the last line of its summary.
    fn measure(&self, prepared: Prepared, settings: &RunSettings) -> Result<Exit, Exit> {
        let Prepared { plan, resolved, mut options } = prepared;
        let (language, wrong) = (self.view.language, |text: String| self.refuse(&text, Exit::Usage));
        if let Some(text) = validate_args::wrong_parts(&plan, &settings.thresholds, language) {
            return Err(wrong(text));
        }
        // Before the load: an unwritable report must not show only after an hour.
        let files = self.open_files(settings)?;
        let stop = StopHandle::default();
        let requested = self.watch(&stop)?;
        self.say_warmup(&plan, settings);
        validate_args::hint(&plan, settings, self.view);
        if settings.is_debug {
            return Ok(self.show_exchange(&plan, &resolved, &options, &stop, settings));
        }
        let shown = redaction::shown_plan(&plan, settings.with_secrets);
        let log = settings.tracing.begin(report::step_names(&shown));
        let (log_config, writing) = log.map_err(|failed| self.refuse_file(failed))?;
        options.log_config = log_config;
        let stop_file = StopFile::watch(settings.stop_file.as_deref(), &stop, language).map_err(wrong)?;
        let watching = Dashboards::begin(&settings.watch, &self.view.screen).map_err(wrong)?;
        // The terminal screen shows all of it but the summary.
        let view = View { is_quiet: self.view.is_quiet || settings.watch.screen, ..self.view };
        let mut live = Live::new(view, (&shown, resolved.address), &settings.thresholds, files, stop.clone());
        live.set_replay(settings.past);
        live.goes_on_for_log(writing.is_some() || settings.keep.wants_any());
        let targets = plan.scenarios.iter().flat_map(|scenario| &scenario.targets);
        if let Some(text) = proxies::say_unused(targets, language) {
            output::note(&text);
        }
        let keeping = self.begin_keeping(&plan, settings)?;
        live.watch(watching);
        live.keep(keeping, artifacts::about(redaction::command(&plan, settings.with_secrets)));
        live.export(&settings.exports).map_err(|error| wrong(report::export_error(&error, language)))?;
        if settings.shows_failures {
            live.show_failures(self.showing(&plan, settings));
        }
        let plan = Arc::new(plan);
        // The log ends with the program.
        let mut result = observed(&plan, options.clone(), &stop, &mut live)
            .map_err(|error| self.refuse(&report::run_error(&error, language), Exit::from_error(&error)))?;
        // A later Ctrl-C ends the probe, or the wait for exports, and not the run.
        let was_requested = requested.is_requested() || stop_file.has_come();
        engine::probe(&plan, &options, &mut result, settings.probe, &stop);
        let (was_aborted, mut notes) = (live.was_aborted(), live.take_notes());
        if !requested.is_requested()
            && settings.past.is_none()
            && probe::may_need_tls(&plan, &result.total)
            && probe::speaks_tls(resolved.address)
        {
            notes.push(Note::SpeaksTls);
        }
        let result = redaction::received(&plan, result, settings.with_secrets);
        let input = run_input(shown.clone(), &resolved, result);
        let input = if let Some(past) = &settings.past { past.correct(input) } else { input };
        let changes = live.take_changes();
        let run = Run::new(RunInput { thresholds: &settings.thresholds, notes, changes, ..input });
        let (wrote, is_worse) = live.finish(&run);
        let is_logged = writing.is_none_or(|writing| writing.finish(language));
        let wrote = if is_logged { wrote } else { Wrote::Failed };
        let outcome = LoadOutcome { wrote, was_requested, was_aborted, is_worse };
        Ok(self.exit(&plan, &run, settings, outcome))
    }

    /// Opens the files of the reports.
    fn open_files(&self, settings: &RunSettings) -> Result<Files, Exit> {
        let others = settings.tracing.path().into_iter().chain(settings.exports.kinds.iter().filter_map(Export::file));
        let others: Vec<&str> = others.chain(settings.keep.page()).collect();
        Files::open(self.json_file.as_deref(), settings.hdr_file.as_deref(), &others)
            .map_err(|failed| self.refuse_file(failed))
    }

    /// Refuses a load whose file cannot be written.
    fn refuse_file(&self, (path, error): NotWritten) -> Exit {
        self.refuse(&output::cannot_write(&path, &error, self.view.language), Exit::Usage)
    }

    /// Opens what is kept of a run.
    fn begin_keeping(&self, plan: &Plan, settings: &RunSettings) -> Result<Keeping, Exit> {
        // A recovered run is kept under the time when it began.
        let began = settings.past.and_then(|past| past.began(plan)).unwrap_or_else(machine::now_unix);
        let mut keeping = Keeping::begin(&settings.keep, false, began, self.view.language)
            .map_err(|text| self.refuse(&text, Exit::Usage))?;
        if let Some(text) = &settings.file {
            keeping.keep_plan(redaction::file(plan, text, settings.with_secrets));
        }
        Ok(keeping)
    }

    /// Says that a warm-up begins. On a terminal the line that begins the table says it.
    fn say_warmup(&self, plan: &Plan, settings: &RunSettings) {
        let is_shown = self.view.screen.room.is_some() && !self.view.is_json && !settings.watch.screen;
        if plan.warmup.is_zero() || is_shown || self.view.is_quiet || settings.past.is_some() {
            return;
        }
        let (language, span) = (self.view.language, plan.warmup.as_secs_f64());
        output::note(&language.pick(format!("onrush: warming up for {span}s"), format!("onrush: 预热 {span}s")));
    }

    pub(crate) fn showing(&self, plan: &Plan, settings: &RunSettings) -> Showing {
        Showing {
            language: self.view.language,
            secrets: (!settings.with_secrets).then(|| plan::SecretValues::from_plan(plan)),
        }
    }

    /// Shows one exchange of each step, in full.
    fn show_exchange(
        &self,
        plan: &Plan,
        resolved: &Resolved,
        options: &RunOptions,
        stop: &StopHandle,
        settings: &RunSettings,
    ) -> Exit {
        let result = match engine::run(plan, options, stop, |_| std::ops::ControlFlow::Continue(())) {
            Ok(result) => result,
            Err(error) => return self.refuse(&report::run_error(&error, self.view.language), Exit::from_error(&error)),
        };
        let (showing, run) = (
            self.showing(plan, settings),
            Run::new(run_input(
                redaction::shown_plan(plan, settings.with_secrets),
                resolved,
                redaction::received(plan, result, settings.with_secrets),
            )),
        );
        let wrote = output::write_stdout(&report::exchange_in_full(&run, &showing), self.view.language);
        let counts = &run.tally;
        match wrote {
            Wrote::Failed => Exit::System,
            _ if stop.is_stopped() && counts.connections_established() > 0 => Exit::Stopped,
            _ if counts.connections_established() == 0 => Exit::NothingMeasured,
            _ if counts.failed > 0 => Exit::Unmet,
            _ => Exit::Done,
        }
    }

    /// Lets signals end what this handle stops.
    pub(crate) fn watch(&self, stop: &StopHandle) -> Result<signals::StopRequest, Exit> {
        shutdown::watch_signals(stop, self.view.language)
    }

    pub(crate) fn refuse(&self, text: &str, exit: Exit) -> Exit {
        output::complain(text);
        exit
    }

    pub(crate) fn exit(&self, plan: &Plan, run: &Run, settings: &RunSettings, outcome: LoadOutcome) -> Exit {
        ending::exit(plan, run, settings, outcome, self.json_file.is_some())
    }
}

/// Carries out a plan, and passes on its updates.
fn observed(
    plan: &Arc<Plan>,
    options: RunOptions,
    stop: &StopHandle,
    live: &mut Live<'_>,
) -> Result<RunResult, RunError> {
    let mut running = Running::start(plan.clone(), options, stop)?;
    let control = running.control();
    live.started(&control);
    while let Some(reported) = running.wait() {
        match reported {
            RunUpdate::Interval(interval) => {
                if live.interval(&interval).is_break() {
                    stop.abort();
                }
            }
            RunUpdate::Changed(change) => live.changed(&change, &control),
            RunUpdate::Remote(_) => {}
        }
    }
    live.ended();
    running.finish()
}

/// The inputs of a plan.
pub(crate) struct Sources<'a> {
    /// How targets are reached.
    pub(crate) connection: &'a Connection,
    /// The consented target policy.
    pub(crate) target_policy: Option<TargetPolicy>,
    pub(crate) data_sources: DataSources,
}

/// A load that can begin.
pub(crate) struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) resolved: Resolved,
    pub(crate) options: RunOptions,
}
