//! `onrush URL` and `onrush demo`: from the flags to the last line of the summary.

use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use engine::{Resolved, RunOptions, RunResult, StopHandle};
use figures::{Run, RunInput};
use metrics::Threshold;
use plan::{Flags, Known, Plan, PlanError, Reflection, Schema, Target, parse_count};
use report::{Language, Showing, Table};
use target::{ServeOptions, Server};
use wire::tls::ClientConfig;

use crate::args::{DemoArgs, EngineArgs, RunArgs, USER_AGENT, ViewArgs};
use crate::exit::Exit;
use crate::files::Files;
use crate::live::Live;
use crate::output::{self, Wrote};
use crate::{grpc, machine, serve, signals, usage};

/// After a second signal the end takes no longer than this.
const SECOND_SIGNAL_WAIT: Duration = Duration::from_secs(2);
/// More threads than any machine has cores.
const THREADS_MAX: u64 = 1_024;

/// `onrush URL`.
pub(crate) fn run(args: &RunArgs) -> Exit {
    let (load, flags) = (Load::new(&args.view), &args.flags);
    if let Some(word) = flags.url.as_deref().filter(|word| COMMANDS.contains(word)) {
        let text = load.language.pick(
            format!("'{word}' is a command, not a URL; write it first: onrush {word}, see onrush --help"),
            format!("'{word}' 是命令，不是 URL；请写在最前面：onrush {word}，详见 onrush --help"),
        );
        return load.refuse(&text, Exit::Usage);
    }
    let thresholds = args.thresholds.iter().map(|text| Threshold::parse(text)).collect();
    let thresholds = match thresholds {
        Ok(thresholds) => thresholds,
        Err(error) => {
            output::note(&format!("onrush: {}", report::threshold_error(&error, load.language)));
            return Exit::Usage;
        }
    };
    let wishes = Wishes {
        thresholds,
        is_strict: args.strict,
        hdr_file: args.hdr.clone(),
        is_debug: args.debug,
        shows_failures: args.show_failures,
        with_secrets: args.show_secrets,
    };
    load.carry_out(flags, &args.engine, &wishes)
}

/// Words that nobody means as a host.
const COMMANDS: [&str; 11] =
    ["run", "demo", "serve", "hold", "doctor", "selftest", "grpc", "completions", "man", "help", "as"];

/// `onrush demo`.
pub(crate) fn demo(args: &DemoArgs) -> Exit {
    let load = Load::new(&args.view);
    let language = load.language;
    let listen = (IpAddr::V4(Ipv4Addr::LOCALHOST), 0).into();
    let driver = match driver::choose(args.driver.choice()) {
        Ok(driver) => driver.kind,
        Err(error) => return load.refuse(&report::driver_error(&error, language), Exit::System),
    };
    let server = match Server::start(&ServeOptions::plain(listen, host::allowed_cores().len(), driver)) {
        Ok(server) => server,
        Err(error) => {
            output::complain(&serve::serve_error(&error, language));
            return Exit::System;
        }
    };
    let flags = Flags {
        url: Some(format!("http://{}/", server.address())),
        duration: Some("5s".to_owned()),
        user_agent: USER_AGENT.to_owned(),
        ..Flags::default()
    };
    let engine = EngineArgs { threads: None, pin_threads: false, driver: args.driver.clone() };
    let exit = load.carry_out(&flags, &engine, &Wishes::default());
    server.stop();
    // A word for a person; who reads from a pipe, or has gone away, gets the figures only.
    if exit == Exit::Done && std::io::stdout().is_terminal() {
        output::note(language.pick(
            "\nThis was onrush against its own server: both share the cores of this machine, and the verdict says so. Your own: onrush http://host:port/path",
            "\n以上是 onrush 在本机压测自带服务的结果：两者共用本机的核，结论也如实说明。压测您自己的服务：onrush http://主机:端口/路径",
        ));
    }
    exit
}

/// The threads that were asked for, or the cores that this process may use.
pub(crate) fn threads(asked: Option<&str>) -> Result<usize, PlanError> {
    match asked {
        Some(text) => parse_count("--threads", text, 1, THREADS_MAX).map(|count| count as usize),
        None => Ok(host::allowed_cores().len()),
    }
}

/// What is wanted of a load beside its plan.
#[derive(Default)]
pub(crate) struct Wishes {
    thresholds: Vec<Threshold>,
    is_strict: bool,
    hdr_file: Option<String>,
    /// One exchange is shown, and no load follows.
    is_debug: bool,
    shows_failures: bool,
    with_secrets: bool,
}

impl Wishes {
    /// Nothing but, perhaps, one exchange to look at.
    pub(crate) fn of_debug(is_debug: bool) -> Self {
        Self { is_debug, ..Self::default() }
    }
}

/// The plan as views may show it.
fn shown_plan(plan: &Plan, wishes: &Wishes) -> Arc<Plan> {
    Arc::new(if wishes.with_secrets { plan.clone() } else { plan.without_secrets() })
}

/// What servers said, without what the plan knows to be secret.
fn without_secrets(plan: &Plan, mut result: RunResult, wishes: &Wishes) -> RunResult {
    if !wishes.with_secrets {
        let known = Known::of_plan(plan);
        result.total.change_heard(|said| known.hide(&plan::masked(said)));
    }
    result
}

/// Of what the figures of a run are made.
pub(crate) fn run_input<'a>(plan: Arc<Plan>, resolved: &Resolved, result: RunResult) -> RunInput<'a> {
    let (address, lookup) = (resolved.address, resolved.lookup);
    RunInput { plan, address, lookup, result, thresholds: &[], notes: Vec::new(), host: machine::host_facts() }
}

/// One load and its views.
pub(crate) struct Load {
    pub(crate) language: Language,
    pub(crate) table: Table,
    pub(crate) is_json: bool,
    pub(crate) is_quiet: bool,
    pub(crate) is_colorful: bool,
    json_file: Option<String>,
}

impl Load {
    /// One whose views are those of another tool, or the usual ones.
    pub(crate) fn of_tool(language: Language) -> Self {
        let is_colorful = output::is_colorful(false);
        let table = Table::new(language, is_colorful);
        Self { language, table, is_json: false, is_quiet: false, is_colorful, json_file: None }
    }

    fn new(view: &ViewArgs) -> Self {
        let language = usage::language_of(&std::env::args_os().collect::<Vec<_>>());
        let is_colorful = output::is_colorful(view.no_color);
        Self {
            language,
            table: Table::new(language, is_colorful),
            is_json: view.output.as_deref() == Some("json"),
            is_quiet: view.quiet,
            is_colorful,
            json_file: view.json.clone(),
        }
    }

    /// Everything that can be wrong before a load is found here.
    pub(crate) fn prepare(&self, flags: &Flags, engine: &EngineArgs, wishes: &Wishes) -> Result<Prepared, Exit> {
        let (is_debug, shows_failures) = (wishes.is_debug, wishes.shows_failures);
        let described = self.described(flags)?;
        let made = flags.plan_with(described.as_ref()).and_then(|plan| Ok((plan, threads(engine.threads.as_deref())?)));
        let (mut plan, threads) =
            made.map_err(|error| self.refuse(&report::plan_error(&error, self.language), Exit::Usage))?;
        if is_debug {
            plan = plan.for_debug();
        }
        if shows_failures {
            plan = plan.for_failures();
        }
        let mut ways = self.ways(&plan)?.into_iter();
        let (resolved, tls) = ways.next().expect("a scenario has a target");
        let others = ways.map(|(resolved, tls)| (resolved.address, tls)).collect();
        host::raise_descriptor_limit();
        let driver = driver::choose(engine.driver.choice())
            .map_err(|error| self.refuse(&report::driver_error(&error, self.language), Exit::System))?;
        let address = resolved.address;
        let options = RunOptions { address, tls, others, threads, pins_threads: engine.pin_threads, driver };
        Ok(Prepared { plan, resolved, options })
    }

    pub(crate) fn carry_out(&self, flags: &Flags, engine: &EngineArgs, wishes: &Wishes) -> Exit {
        let Prepared { plan, resolved, options } = match self.prepare(flags, engine, wishes) {
            Ok(prepared) => prepared,
            Err(exit) => return exit,
        };
        // Before the load: nobody wants to learn after an hour that the report has no place.
        let files = match Files::open(self.json_file.as_deref(), wishes.hdr_file.as_deref()) {
            Ok(files) => files,
            Err((path, error)) => {
                return self.refuse(&output::cannot_write(&path, &error, self.language), Exit::Usage);
            }
        };
        let stop = StopHandle::default();
        let asked = match watch_signals(&stop, self.language) {
            Ok(asked) => asked,
            Err(error) => return self.refuse(&report::run_error(&error.into(), self.language), Exit::System),
        };
        if !plan.warmup.is_zero() && !self.is_quiet {
            let span = plan.warmup.as_secs_f64();
            output::note(
                &self.language.pick(format!("onrush: warming up for {span}s"), format!("onrush: 预热 {span}s")),
            );
        }
        if wishes.is_debug {
            return self.show_exchange(&plan, &resolved, &options, &stop, wishes);
        }
        let shown = shown_plan(&plan, wishes);
        let mut live = Live::new(self, (&shown, resolved.address), &wishes.thresholds, files, stop.clone());
        if wishes.shows_failures {
            live.show_failures(self.showing(&plan, wishes));
        }
        let result = match engine::run(&plan, &options, &stop, |interval| live.interval(interval)) {
            Ok(result) => result,
            Err(error) => return self.refuse(&report::run_error(&error, self.language), Exit::System),
        };
        let (was_aborted, notes) = (live.was_aborted(), live.take_notes());
        let result = without_secrets(&plan, result, wishes);
        let input = run_input(shown.clone(), &resolved, result);
        let run = Run::of(RunInput { thresholds: &wishes.thresholds, notes, ..input });
        let outcome = Outcome { wrote: live.finish(&run), was_asked: asked.is_asked(), was_aborted };
        self.exit(&plan, &run, wishes, outcome)
    }

    /// Where each target is, and what makes its sessions.
    fn ways(&self, plan: &Plan) -> Result<Vec<(Resolved, Option<ClientConfig>)>, Exit> {
        let scenario = plan.scenarios.first().expect("a plan has a scenario");
        let connect_timeout = scenario.steps.first().expect("a scenario has a step").connect_timeout;
        let one = |target: &Target| {
            let resolved = engine::resolve(target, connect_timeout)
                .map_err(|error| self.refuse(&report::resolve_error(&error, self.language), Exit::NothingMeasured))?;
            let tls = engine::client_tls(target)
                .map_err(|error| self.refuse(&report::tls_error(&error, self.language), Exit::Usage))?;
            Ok((resolved, tls))
        };
        scenario.targets.iter().map(one).collect()
    }

    fn showing(&self, plan: &Plan, wishes: &Wishes) -> Showing {
        Showing { language: self.language, secrets: (!wishes.with_secrets).then(|| Known::of_plan(plan)) }
    }

    /// One exchange of each step, in full.
    fn show_exchange(
        &self,
        plan: &Plan,
        resolved: &Resolved,
        options: &RunOptions,
        stop: &StopHandle,
        wishes: &Wishes,
    ) -> Exit {
        let result = match engine::run(plan, options, stop, |_| std::ops::ControlFlow::Continue(())) {
            Ok(result) => result,
            Err(error) => return self.refuse(&report::run_error(&error, self.language), Exit::System),
        };
        let (showing, run) = (
            self.showing(plan, wishes),
            Run::of(run_input(shown_plan(plan, wishes), resolved, without_secrets(plan, result, wishes))),
        );
        let wrote = output::write_stdout(&report::exchange_in_full(&run, &showing), self.language);
        let counts = &run.tally;
        match wrote {
            Wrote::Failed => Exit::System,
            _ if stop.is_stopped() && counts.connections_established > 0 => Exit::Stopped,
            _ if counts.connections_established == 0 => Exit::NothingMeasured,
            _ if counts.failed > 0 => Exit::Unmet,
            _ => Exit::Done,
        }
    }

    /// What the target says of its services, where the plan needs it.
    fn described(&self, flags: &Flags) -> Result<Option<Schema>, Exit> {
        let asked = flags.reflection().map_err(grpc::Wrong::from);
        let reflect = |asked: Reflection| grpc::reflected(&asked, asked.symbol.as_deref().unwrap_or_default());
        asked.and_then(|asked| asked.map(reflect).transpose()).map_err(|wrong| {
            let (text, exit) = wrong.say(self.language);
            self.refuse(&text, exit)
        })
    }

    pub(crate) fn refuse(&self, text: &str, exit: Exit) -> Exit {
        output::complain(text);
        exit
    }

    fn exit(&self, plan: &Plan, run: &Run, wishes: &Wishes, outcome: Outcome) -> Exit {
        let counts = &run.tally;
        // What was never answered met no expectation.
        let is_unexpected = plan.has_expectations()
            && (counts.failed + counts.dropped + (counts.unfinished - counts.cut) > 0 || counts.succeeded == 0);
        let is_crossed = run.judged.iter().any(|judged| !judged.judgement.holds);
        let is_spoiled = wishes.is_strict && run.verdict.is_spoiled();
        let is_unmet = is_unexpected || is_crossed || is_spoiled || outcome.was_aborted;
        if outcome.wrote == Wrote::Failed {
            Exit::System
        } else if outcome.was_asked {
            Exit::Stopped
        } else if outcome.wrote == Wrote::PipeClosed && self.json_file.is_none() && wishes.hdr_file.is_none() {
            Exit::Done
        } else if counts.connections_established == 0 {
            Exit::NothingMeasured
        } else if is_unmet {
            Exit::Unmet
        } else {
            Exit::Done
        }
    }
}

/// Ctrl-C ends a run gently, and once more at once.
pub(crate) fn watch_signals(stop: &StopHandle, language: Language) -> Result<signals::Asked, std::io::Error> {
    let (gently, at_once) = (stop.clone(), stop.clone());
    let first = move || {
        output::note(language.pick(
            "stopping: waiting for what is in flight; Ctrl-C again ends at once",
            "正在停止：等待在途请求完成；再按一次 Ctrl-C 立即结束",
        ));
        gently.stop();
    };
    let again = move || {
        at_once.abort();
        // A file that is a pipe may have nobody who reads it.
        std::thread::spawn(|| {
            std::thread::sleep(SECOND_SIGNAL_WAIT);
            std::process::exit(Exit::Stopped as i32);
        });
    };
    signals::watch(first, again)
}

/// A load that can begin.
pub(crate) struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) resolved: Resolved,
    pub(crate) options: RunOptions,
}

/// How a load ended, beside its figures.
#[derive(Clone, Copy)]
struct Outcome {
    wrote: Wrote,
    /// Somebody pressed Ctrl-C.
    was_asked: bool,
    /// A threshold ended it.
    was_aborted: bool,
}
