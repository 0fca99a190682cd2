//! `onrush run FILE.yaml`: a scenario file, from its first line to the last of the summary.

use std::path::Path;
use std::sync::Arc;

use engine::{DataSources, StopHandle};
use figures::Run;
use plan::{CaptureOptions, Draft, Flags, Plan, PlanError, TargetPolicy, Value};
use report::Language;
use scenario::{Amount, DataFault, Diagnostic, Diagnostics, Lowered, Lowering, Opened, Outside, Problem};

use crate::commands::run::{Load, Prepared, RunLoad, Sources, run_input};
use crate::exit::Exit;
use crate::options::args::{EngineArgs, RunArgs, USER_AGENT};
use crate::output;
use crate::session::data_sources::{data_sources, list_of, open_feed};
use crate::session::run_settings::RunSettings;

/// Runs a file.
pub(crate) fn play(args: &RunArgs, file: &str) -> Exit {
    play_with(args, file, false, &|load, prepared, settings| load.carry_out_prepared(prepared, settings))
}

/// The same with another way to carry out the load. `grows`: the load may become larger than the file says.
pub(crate) fn play_with(args: &RunArgs, file: &str, grows: bool, carry: RunLoad<'_>) -> Exit {
    let language = Load::new(&args.view).view.language;
    if let Some(var) = args.vars.iter().find(|var| !var.contains('=')) {
        output::complain(&language.pick(
            format!("--var wants NAME=VALUE, like --var {var}=7, not '{var}'"),
            format!("--var 的值 '{var}' 无效：应为名称=值，例如 --var {var}=7"),
        ));
        return Exit::Usage;
    }
    let mut opened = match open(file, &args.vars) {
        Ok(opened) => opened,
        Err(mistakes) => {
            output::complain_in_lines(&report::scenario_mistakes(&mistakes, language));
            return Exit::Usage;
        }
    };
    // A default is not a given flag.
    let is_own_agent = args.flags.user_agent == USER_AGENT;
    let agent = if is_own_agent { String::new() } else { args.flags.user_agent.clone() };
    if let Err(fault) = opened.give(&Flags { user_agent: agent, ..args.flags.clone() }, &args.only) {
        output::complain(&report::flag_fault(&fault, language));
        return Exit::Usage;
    }
    // Two runs draw the same random numbers only if a seed is given.
    if opened.file.run.seed.is_none() {
        match crate::workers::seed_for(&args.engine, language) {
            Ok(seed) => opened.file.run.seed = Some(seed),
            Err((text, exit)) => return Load::new(&args.view).refuse(&text, exit),
        }
    }
    let args = &with_run(args, &opened.file.run);
    let load = Load::new(&args.view);
    let mut settings = match load.settings(args, &opened.file.own_figures()) {
        Ok(settings) => RunSettings { grows, ..settings },
        Err(exit) => return exit,
    };
    let secrets: Vec<&str> = opened.file.secrets.iter().map(|secret| secret.name.text.as_str()).collect();
    settings.apply_file(&opened.source.text, |text| scenario::without_secrets(text, &secrets));
    let runner = ScenarioRunner { load: &load, args, opened: &opened, language, carry };
    match runner.play(settings) {
        Ok(exit) | Err(exit) => exit,
    }
}

/// The arguments, completed by the file.
fn with_run(args: &RunArgs, run: &scenario::Run) -> RunArgs {
    let mut args = args.clone();
    let or = |own: &mut Option<String>, of_file: &Option<String>| {
        if own.is_none() {
            own.clone_from(of_file);
        }
    };
    // A debug run makes no reports.
    if !args.debug {
        or(&mut args.view.json, &run.json);
        or(&mut args.hdr, &run.hdr);
        or(&mut args.log.log, &run.log);
    }
    or(&mut args.engine.threads, &run.threads.map(|threads| threads.to_string()));
    or(&mut args.flags.seed, &run.seed.map(|seed| seed.to_string()));
    args.strict |= run.strict;
    if !args.probe && !args.no_probe {
        (args.probe, args.no_probe) = (run.probe == Some(true), run.probe == Some(false));
    }
    args
}

/// Reads a file, with variables from the command line.
fn open(file: &str, vars: &[String]) -> Result<Opened, Diagnostics> {
    let given = vars.iter().filter_map(|var| var.split_once('='));
    scenario::read_with(Path::new(file), given)
}

/// The seed that a file names.
pub(crate) fn seed_of(file: &str, vars: &[String]) -> Option<u64> {
    open(file, vars).ok()?.file.run.seed
}

struct ScenarioRunner<'a> {
    load: &'a Load,
    args: &'a RunArgs,
    opened: &'a Opened,
    language: Language,
    carry: RunLoad<'a>,
}

/// Reports all diagnostics of a file.
fn refuse(mistakes: &Diagnostics, language: Language) -> Exit {
    output::complain_in_lines(&report::scenario_mistakes(mistakes, language));
    Exit::Usage
}

impl ScenarioRunner<'_> {
    fn play(&self, mut settings: RunSettings) -> Result<Exit, Exit> {
        let data_sources = self.data_sources()?;
        let file = &self.opened.file;
        let unknown = self.args.only.iter().find(|name| !file.scenarios.iter().any(|one| one.name.text == **name));
        if let Some(name) = unknown {
            let known: Vec<&str> = file.scenarios.iter().map(|one| one.name.text.as_str()).collect();
            let known = known.join(self.language.pick(", ", "、"));
            let text = self.language.pick(
                format!("--only {name}: the file has no scenario '{name}'; it has: {known}"),
                format!("--only {name}：文件中没有场景 '{name}'；可用：{known}"),
            );
            return Err(self.load.refuse(&text, Exit::Usage));
        }
        let folder = Path::new(&self.opened.source.name).parent().map(Path::to_owned).unwrap_or_default();
        let environment = |name: &str| std::env::var(name).ok();
        let mut schemas = Vec::new();
        let lists = |set: usize, column: usize| list_of(&data_sources.feeds[set], column, self.language);
        let requested = Outside {
            environment: &environment,
            interpreters: data_sources.interpreters.as_deref(),
            schemas: &[],
            folder: &folder,
            user_agent: USER_AGENT,
            lists: Some(&lists),
        };
        let first = self.reported(Lowering::new(self.opened, &requested))?;
        let mut target_policy = None;
        for draft in first.undescribed() {
            // The load of the file decides which hosts need consent.
            let draft = Draft { load: self.whole_load(), consents: file.run.consents.clone(), ..draft };
            if let Some((schema, reached)) = self.load.described(&draft)? {
                target_policy = Some(reached);
                schemas.push((draft, schema));
            }
        }
        let outside = Outside { schemas: &schemas, ..requested };
        let mut lowering = self.reported(Lowering::new(self.opened, &outside))?;
        // All errors are reported, and all consents requested, before anything is sent.
        let Lowered { plan: mut checked, .. } = self.reported(lowering.run(&self.args.only))?;
        let connection = &file.defaults.flags.connection;
        if settings.is_debug() {
            checked = checked.for_debug();
        }
        settings.consents(&file.run.consents);
        checked = settings.requested_for(checked);
        self.load.routes(&mut checked, connection, target_policy)?;
        let target_policy = Some(checked.scenarios[0].target().target_policy.clone());
        // What it carries may be large.
        drop(checked);
        let (before, after) = (self.reported(lowering.before())?, self.reported(lowering.after())?);
        let of_before = self.consented(before.as_ref())?;
        let of_after = if settings.is_debug() { None } else { self.consented(after.as_ref())? };
        if let Some(before) = before {
            let (names, values) = self.once(true, before, of_before, &data_sources)?;
            lowering.learn(&names, &values);
        }
        let Lowered { plan, .. } = self.reported(lowering.run(&self.args.only))?;
        // With some scenarios selected, thresholds of the others do not apply.
        let catalog = engine::catalog(&plan);
        let has_part =
            |limit: &&scenario::Limit| limit.of.as_ref().is_none_or(|name| catalog.named(&name.text).is_some());
        settings.add_thresholds(file.thresholds.iter().filter(has_part).map(|limit| limit.threshold.clone()));
        let sources = Sources { connection, target_policy, data_sources: data_sources.clone() };
        let exit = self.measure(plan, sources, &settings)?;
        match self.reported(lowering.after())? {
            Some(after) if !settings.is_debug() => match self.once(false, after, of_after, &data_sources) {
                Ok(_) => Ok(exit),
                Err(failed) => Ok(if exit == Exit::Done { failed } else { exit }),
            },
            _ => Ok(exit),
        }
    }

    /// The load itself, unless the setup was stopped.
    fn measure(&self, plan: Plan, sources: Sources<'_>, settings: &RunSettings) -> Result<Exit, Exit> {
        if self.load.watch(&StopHandle::default())?.is_requested() {
            let text = self
                .language
                .pick("stopped before the load began, so nothing was measured", "压测开始前已停止，没有进行测量");
            return Ok(self.load.refuse(text, Exit::Stopped));
        }
        let prepared = self.load.ready(plan, sources, &self.args.engine, settings)?;
        Ok((self.carry)(self.load, prepared, settings))
    }

    fn reported<T>(&self, made: Result<T, Diagnostics>) -> Result<T, Exit> {
        made.map_err(|mistakes| refuse(&mistakes, self.language))
    }

    /// The target policy of the setup or teardown, after consent.
    fn consented(&self, once: Option<&Lowered>) -> Result<Option<TargetPolicy>, Exit> {
        let Some(once) = once else { return Ok(None) };
        let mut plan = once.plan.clone();
        self.load.routes(&mut plan, &self.opened.file.defaults.flags.connection, None)?;
        Ok(Some(plan.scenarios[0].target().target_policy.clone()))
    }

    /// Runs the setup or the teardown. Returns the extracted values.
    fn once(
        &self,
        is_before: bool,
        lowered: Lowered,
        target_policy: Option<TargetPolicy>,
        data_sources: &DataSources,
    ) -> Result<(Vec<String>, Vec<Value>), Exit> {
        let Lowered { plan, variables } = lowered;
        let plan = Plan { capture_options: CaptureOptions { failures: true, ..plan.capture_options }, ..plan };
        let connection = &self.opened.file.defaults.flags.connection;
        let settings = RunSettings::default();
        let sources = Sources { connection, target_policy, data_sources: data_sources.clone() };
        // The setup and the teardown need no workers.
        let engine = EngineArgs { workers: None, cluster: None, hosts: None, ..self.args.engine.clone() };
        let prepared = self.load.ready(plan, sources, &engine, &settings)?;
        let Prepared { plan, resolved, options } = prepared;
        let stop = StopHandle::default();
        let requested = self.load.watch(&stop)?;
        let was_requested = requested.is_requested();
        let result = engine::run(&plan, &options, &stop, |_| std::ops::ControlFlow::Continue(()));
        let result = result
            .map_err(|error| self.load.refuse(&report::run_error(&error, self.language), Exit::from_error(&error)))?;
        let counts = &result.total.counts;
        let is_good = counts.failed() == 0 && counts.succeeded() > 0 && counts.unfinished() + counts.lost() == 0;
        let values = result.values.clone();
        if is_good {
            return Ok((variables, values));
        }
        if requested.is_requested() && !was_requested {
            return Err(Exit::Stopped);
        }
        let showing = self.load.showing(&plan, &settings);
        let run = Run::new(run_input(Arc::new(plan.without_secrets()), &resolved, result));
        output::note(report::failed_responses(&run, &showing).trim());
        let text = match is_before {
            true => self.language.pick(
                "the steps of 'setup' failed, so nothing was measured; mend what is shown above, or leave them out",
                "'setup' 中的步骤失败，因此没有进行压测；请处理上面显示的问题，或去掉这些步骤",
            ),
            false => self.language.pick(
                "the steps of 'teardown' failed; the load before them was measured as reported; mend what is shown above",
                "'teardown' 中的步骤失败；此前的压测结果仍然有效；请处理上面显示的问题",
            ),
        };
        Err(self.load.refuse(text, Exit::Unmet))
    }

    /// The sum of all loads of the file, for the consent question.
    fn whole_load(&self) -> plan::draft::Load {
        let users = |one: &scenario::Scenario| match &one.load.amount {
            Amount::Users { count, .. } => *count,
            Amount::Rate { .. } => one.connections.unwrap_or(plan::OPEN_CONNECTIONS_MAX),
        };
        let connections: u64 = self.opened.file.scenarios.iter().map(users).sum();
        plan::draft::Load { connections: Some(connections.max(1)), ..plan::draft::Load::default() }
    }

    /// The rows of all data, and the script evaluator.
    fn data_sources(&self) -> Result<DataSources, Exit> {
        let (mut feeds, own) = (Vec::new(), data_sources());
        let folder = Path::new(&self.opened.source.name).parent().map(Path::to_owned).unwrap_or_default();
        for set in &self.opened.file.data {
            let feed = open_feed(set, &folder, own.interpreters.as_deref());
            let text = |error| report::feed_error(&error, self.language);
            feeds.push(feed.map_err(|error| self.load.refuse(&text(error), Exit::Usage))?);
        }
        Ok(DataSources { feeds: feeds.into(), ..own })
    }
}

/// Finds all errors of a file that need no network. Rows are read where a filter or a list of a column needs them.
pub(crate) fn check(opened: &Opened, language: Language) -> Result<(), Diagnostics> {
    let folder = Path::new(&opened.source.name).parent().map(Path::to_owned).unwrap_or_default();
    let (environment, data_sources) = (|name: &str| std::env::var(name).ok(), data_sources());
    let interpreters = data_sources.interpreters.as_deref();
    let feed_of = |set: usize| {
        let feed = open_feed(&opened.file.data[set], &folder, interpreters);
        feed.map_err(|error| report::feed_error(&error, language))
    };
    let lists = |set: usize, column: usize| list_of(&feed_of(set)?, column, language);
    let outside = Outside {
        environment: &environment,
        interpreters,
        schemas: &[],
        folder: &folder,
        user_agent: USER_AGENT,
        lists: Some(&lists),
    };
    let found = || -> Result<(), Diagnostics> {
        let lowering = Lowering::new(opened, &outside)?;
        lowering.before()?;
        lowering.run(&[])?;
        lowering.after()?;
        let filtered = opened.file.data.iter().enumerate().filter_map(|(set, data)| Some((set, data.filter.as_ref()?)));
        let wrong = filtered.filter_map(|(set, filter)| Some((filter.at, feed_of(set).err()?)));
        let one = |(at, reason)| Diagnostic { at, fault: Problem::Data(DataFault::Rows { reason }) };
        let all: Vec<Diagnostic> = wrong.map(one).collect();
        let source = Box::new(opened.source.clone());
        if all.is_empty() { Ok(()) } else { Err(Diagnostics { source, all, more: 0 }) }
    };
    let Err(mut mistakes) = found() else { return Ok(()) };
    // Services may be described by the target, which is not queried here.
    mistakes.all.retain(|mistake| !matches!(mistake.fault, Problem::Value(PlanError::NoSchema { .. })));
    if mistakes.all.is_empty() { Ok(()) } else { Err(mistakes) }
}
