//! `onrush URL` and `onrush demo`: from the flags to the last line of the summary.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::ops::ControlFlow;

use engine::{Interval, RunOptions, RunResult, StopHandle};
use plan::{Flags, Plan, PlanError, parse_count};
use report::{Json, Language, Run, Table};
use target::{ServeOptions, Server};

use crate::args::{DemoArgs, EngineArgs, RunArgs, ViewArgs};
use crate::exit::Exit;
use crate::output::{self, Wrote};
use crate::{serve, signals, usage};

/// More threads than any machine has cores.
const THREADS_MAX: u64 = 1_024;

/// `onrush URL`.
pub(crate) fn run(args: &RunArgs) -> Exit {
    let (load, flags) = (Load::new(&args.view), args.flags());
    if let Some(word) = flags.url.as_deref().filter(|word| COMMANDS.contains(word)) {
        let text = load.language.pick(
            format!("'{word}' is a command, not a URL; write it first: onrush {word}, see onrush --help"),
            format!("'{word}' 是命令，不是 URL；请写在最前面：onrush {word}，详见 onrush --help"),
        );
        return load.refuse(&text, Exit::Usage);
    }
    load.carry_out(&flags, &args.engine)
}

/// Words that nobody means as a host.
const COMMANDS: [&str; 6] = ["run", "demo", "serve", "completions", "man", "help"];

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
        user_agent: concat!("onrush/", env!("CARGO_PKG_VERSION")).to_owned(),
        ..Flags::default()
    };
    let exit = load.carry_out(&flags, &EngineArgs { threads: None, pin_threads: false, driver: args.driver.clone() });
    server.stop();
    // A word for a person; who reads from a pipe, or has gone away, gets the figures only.
    if exit == Exit::Done && std::io::stdout().is_terminal() {
        output::note(language.pick(
            "\nThis was onrush against its own server, both on this machine. Your own: onrush http://host:port/path",
            "\n以上是 onrush 在本机压测自带服务的结果。压测您自己的服务：onrush http://主机:端口/路径",
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

/// One load and its views.
struct Load {
    language: Language,
    table: Table,
    is_json: bool,
    is_quiet: bool,
    is_colorful: bool,
    json_file: Option<String>,
}

impl Load {
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

    fn carry_out(&self, flags: &Flags, engine: &EngineArgs) -> Exit {
        let made = flags.plan().and_then(|plan| Ok((plan, threads(engine.threads.as_deref())?)));
        let (plan, threads) = match made {
            Ok(made) => made,
            Err(error) => return self.refuse(&report::plan_error(&error, self.language), Exit::Usage),
        };
        let scenario = plan.scenarios.first().expect("a plan has a scenario");
        let connect_timeout = scenario.steps.first().expect("a scenario has a step").connect_timeout;
        let resolved = match engine::resolve(&scenario.target, connect_timeout) {
            Ok(resolved) => resolved,
            Err(error) => return self.refuse(&report::resolve_error(&error, self.language), Exit::NothingMeasured),
        };
        // Before the load: nobody wants to learn after an hour that the report has no place.
        let file = match self.json_file.as_deref().map(open_for_report).transpose() {
            Ok(file) => file,
            Err(error) => {
                let path = self.json_file.as_deref().unwrap_or_default();
                return self.refuse(&output::cannot_write(path, &error, self.language), Exit::Usage);
            }
        };
        host::raise_descriptor_limit();
        let driver = match driver::choose(engine.driver.choice()) {
            Ok(driver) => driver,
            Err(error) => return self.refuse(&report::driver_error(&error, self.language), Exit::System),
        };
        let options = RunOptions { address: resolved.address, threads, pins_threads: engine.pin_threads, driver };
        let stop = StopHandle::default();
        let asked = match self.watch_signals(&stop) {
            Ok(asked) => asked,
            Err(error) => return self.refuse(&report::run_error(&error.into(), self.language), Exit::System),
        };
        let mut live = Live { load: self, json: Json::default(), wrote: Wrote::All, has_head: false };
        let result = match engine::run(&plan, &options, &stop, |interval| live.interval(interval)) {
            Ok(result) => result,
            Err(error) => return self.refuse(&report::run_error(&error, self.language), Exit::System),
        };
        let run = Run { plan: &plan, address: resolved.address, lookup: resolved.lookup, result: &result };
        let wrote = live.finish(&run, file);
        self.exit(&plan, &result, asked.is_asked(), wrote)
    }

    fn refuse(&self, text: &str, exit: Exit) -> Exit {
        output::complain(text);
        exit
    }

    fn watch_signals(&self, stop: &StopHandle) -> Result<signals::Asked, std::io::Error> {
        let (gently, at_once, language) = (stop.clone(), stop.clone(), self.language);
        let first = move || {
            output::note(language.pick(
                "stopping: waiting for what is in flight; Ctrl-C again ends at once",
                "正在停止：等待在途请求完成；再按一次 Ctrl-C 立即结束",
            ));
            gently.stop();
        };
        signals::watch(first, move || at_once.abort())
    }

    fn exit(&self, plan: &Plan, result: &RunResult, was_asked: bool, wrote: Wrote) -> Exit {
        let counts = &result.total.counts;
        if wrote == Wrote::Failed {
            Exit::System
        } else if was_asked {
            Exit::Stopped
        } else if wrote == Wrote::PipeClosed && self.json_file.is_none() {
            Exit::Done
        } else if counts.connections_established == 0 {
            Exit::NothingMeasured
        } else if plan.has_expectations() && (counts.failed() + counts.dropped > 0 || counts.succeeded == 0) {
            // What was never answered met no expectation.
            Exit::Unmet
        } else {
            Exit::Done
        }
    }
}

/// The views while a load runs.
struct Live<'a> {
    load: &'a Load,
    json: Json,
    wrote: Wrote,
    has_head: bool,
}

impl Live<'_> {
    fn interval(&mut self, interval: &Interval<'_>) -> ControlFlow<()> {
        self.json.interval(interval);
        // A target that was never reached is told in one line at the end.
        let is_shown = !self.load.is_json && !self.load.is_quiet && interval.total.counts.connections_established > 0;
        if is_shown && self.wrote == Wrote::All {
            let head = if std::mem::replace(&mut self.has_head, true) { String::new() } else { self.load.table.head() };
            self.wrote = output::write_stdout(&format!("{head}{}", self.load.table.row(interval)), self.load.language);
        }
        // Whoever wants a file gets it, also when nobody reads the table any more.
        if self.wrote == Wrote::All || self.load.json_file.is_some() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }

    fn finish(mut self, run: &Run<'_>, file: Option<Option<File>>) -> Wrote {
        let load = self.load;
        let is_empty = run.result.total.counts.connections_established == 0;
        if is_empty && self.wrote == Wrote::All {
            output::complain(&report::nothing_measured(run, load.language));
        }
        let needs_json = load.is_json || file.is_some();
        let json = if needs_json { self.json.report(run) } else { String::new() };
        if self.wrote == Wrote::All {
            if load.is_json {
                self.wrote = output::write_stdout(&json, load.language);
            } else if !is_empty {
                let summary = report::summary(run, load.language, load.is_colorful);
                self.wrote = output::write_stdout(&summary, load.language);
            }
        }
        let path = load.json_file.as_deref().unwrap_or_default();
        if let Some(file) = file
            && let Err(error) = write_report(path, file, &json)
        {
            output::complain(&output::cannot_write(path, &error, load.language));
            return Wrote::Failed;
        }
        self.wrote
    }
}

/// Opens the place of the report without touching what is there. A pipe or a device is opened when there is something to
/// write, since opening a pipe waits for its reader.
fn open_for_report(path: &str) -> Result<Option<File>, std::io::Error> {
    match std::fs::metadata(path) {
        Ok(known) if !known.is_file() && !known.is_dir() => Ok(None),
        _ => File::options().write(true).create(true).truncate(false).open(path).map(Some),
    }
}

fn write_report(path: &str, file: Option<File>, json: &str) -> Result<(), std::io::Error> {
    let mut file = file.map_or_else(|| File::options().write(true).open(path), Ok)?;
    file.write_all(json.as_bytes())?;
    // A device or a pipe has no length to set.
    if file.metadata()?.is_file() {
        file.set_len(json.len() as u64)?;
        file.sync_all()?;
    }
    Ok(())
}
