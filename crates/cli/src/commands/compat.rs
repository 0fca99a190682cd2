//! `onrush as TOOL`: the command line and the output of another load generator.

use std::process::ExitCode;
use std::sync::Arc;

use engine::ProbeOption;
use engine::{RunUpdate, Running, StopHandle};
use figures::{Changed, Interval, Run};
use plan::{Tool, ToolRun};
use report::{Language, Pages, ToolView};

use crate::commands::run::{self, Load, Prepared};
use crate::exit::Exit;
use crate::options::args::{EngineArgs, USER_AGENT, WatchArgs};
use crate::output::{self, Wrote};
use crate::session::dashboards::Dashboards;
use crate::session::run_settings::RunSettings;
use crate::session::shutdown;

/// The exit code of `ab` for an unreachable target: the error number of the system.
const AB_REFUSED: u8 = 111;

/// Separates our own flags for watching from the words of the tool.
fn watched(words: &[String]) -> (WatchArgs, Vec<String>) {
    let (mut watch, mut rest, mut wants_place) = (WatchArgs::default(), Vec::new(), false);
    for word in words {
        match word.as_str() {
            _ if wants_place => {
                watch.listen = Some(word.clone());
                wants_place = false;
            }
            "--web" => watch.web = true,
            "--screen" => watch.screen = true,
            "--web-listen" => wants_place = true,
            other => match other.strip_prefix("--web-listen=") {
                Some(place) => watch.listen = Some(place.to_owned()),
                None => rest.push(word.clone()),
            },
        }
    }
    (watch, rest)
}

/// The usage of a tool's command line, and the flags of it that are read.
fn help(tool: Option<Tool>, language: Language) -> String {
    let Some(tool) = tool else {
        let known = Tool::ALL.map(Tool::name).join(language.pick(", ", "、"));
        return language.pick(
            format!("Usage: onrush as TOOL [flags of the tool] URL\n\nRuns the command line of another load generator, and prints what it would print.\n\n  TOOL      {known}\n  --native  show the output of onrush\n  --help    behind TOOL: the flags of it that are read\n"),
            format!("用法：onrush as 工具 [该工具的参数] URL\n\n运行其他压测工具的命令行，并按其格式输出。\n\n  工具      {known}\n  --native  使用 onrush 自己的输出\n  --help    写在工具之后：列出可识别的参数\n"),
        );
    };
    let (name, flags) = (tool.name(), report::wrap(&tool.flags().join(" "), 78).join("\n  "));
    language.pick(
        format!("Usage: onrush as {name} [flags of {name}] URL\n\nFlags of {name} that are read; one that has no counterpart here is refused by its name:\n  {flags}\n\n  --native  show the output of onrush\n"),
        format!("用法：onrush as {name} [{name} 的参数] URL\n\n可识别的 {name} 参数（没有对应功能的会报错拒绝）：\n  {flags}\n\n  --native  使用 onrush 自己的输出\n"),
    )
}

/// Runs the command line of a tool.
pub(crate) fn run(tool: Result<Tool, String>, words: &[String], language: Language) -> ExitCode {
    let is_help = |word: &String| word == "--help" || word == "-h";
    if matches!(&tool, Err(name) if name.is_empty()) || words.iter().any(is_help) {
        return output::to_stdout(&help(tool.ok(), language), language).into();
    }
    let tool = match tool {
        Ok(tool) => tool,
        Err(name) => {
            let known = Tool::ALL.map(Tool::name).join(language.pick(", ", "、"));
            output::complain(&language.pick(
                format!("as '{name}': this tool is not supported; supported are {known}"),
                format!("as '{name}'：不认识这个工具；支持的有 {known}"),
            ));
            return Exit::Usage.into();
        }
    };
    let (watch, words) = watched(words);
    let mut requested = match ToolRun::parse(tool, &words, USER_AGENT) {
        Ok(requested) => requested,
        Err(fault) => {
            output::complain(&report::tool_fault(tool, &fault, language));
            return tool.usage_exit(&fault).into();
        }
    };
    let load = Load::for_tool(language);
    let cores = host::allowed_cores().len() as u64;
    let threads = requested.threads.map(|threads| threads.clamp(1, cores).to_string());
    let engine = EngineArgs { threads, ..EngineArgs::default() };
    if requested.is_native || requested.is_debug {
        let settings = RunSettings { watch, probe: ProbeOption::Never, ..RunSettings::for_debug(requested.is_debug) };
        let mut draft = requested.draft;
        draft.interval = None;
        return load.carry_out(&draft, &engine, &settings).into();
    }
    let settings = RunSettings { watch, probe: ProbeOption::Never, ..RunSettings::default() };
    let prepared = match load.prepare(&requested.draft, &engine, &settings) {
        Ok(prepared) => prepared,
        Err(Exit::Usage) => return tool.usage_exit(&plan::ToolFault::Url).into(),
        Err(exit) => return exit.into(),
    };
    requested.fill(&prepared.plan);
    carry_out(&requested, &load, &prepared, &settings.watch)
}

fn carry_out(requested: &ToolRun, load: &Load, prepared: &Prepared, watch: &WatchArgs) -> ExitCode {
    let (language, tool) = (load.view.language, requested.tool);
    let Prepared { plan, resolved, options } = prepared;
    let mut watching = match Dashboards::begin(watch, &load.view.screen) {
        Ok(watching) => watching,
        Err(text) => return load.refuse(&text, Exit::Usage).into(),
    };
    watching.draw(plan, false);
    let mut view = ToolView::new(requested);
    let mut wrote = write(&view.begin(), language);
    let stop = StopHandle::default();
    let signals = match shutdown::watch_signals(&stop, language) {
        Ok(signals) => signals,
        Err(exit) => return exit.into(),
    };
    let observed = Running::start(Arc::new(plan.clone()), options.clone(), &stop).and_then(|mut running| {
        let control = running.control();
        watching.load_started(&plan.without_secrets(), resolved.address, &control);
        while let Some(reported) = running.wait() {
            match reported {
                RunUpdate::Interval(reported) => {
                    let interval = Interval::new(&reported, plan);
                    watching.interval(&reported, &interval, plan, &[]);
                    let pages = view.interval(&interval);
                    if wrote == Wrote::All {
                        wrote = write(&pages, language);
                    }
                    if wrote != Wrote::All && !watching.is_on() {
                        stop.abort();
                    }
                }
                RunUpdate::Changed(change) => watching.changed(&change, &Changed::new(&change, plan), &control),
                RunUpdate::Remote(_) => {}
            }
        }
        running.finish()
    });
    watching.give_back();
    let result = match observed {
        Ok(result) => result,
        Err(error) => return load.refuse(&report::run_error(&error, language), Exit::from_error(&error)).into(),
    };
    // A tool shows its given arguments: the plan is not redacted.
    let run = Run::new(run::run_input(Arc::new(plan.clone()), resolved, result));
    let is_unreached = run.tally.connections_established() == 0;
    if is_unreached && matches!(tool, Tool::Wrk | Tool::Wrk2 | Tool::Ab | Tool::Webbench) {
        output::complain(&report::nothing_measured(&run, language));
        return if tool == Tool::Ab { AB_REFUSED } else { 1 }.into();
    }
    let wrote = finish(&view, &run, wrote, language);
    match (wrote, tool) {
        (Wrote::Failed, _) => Exit::System.into(),
        // These tools exit with success in any case.
        (_, Tool::Wrk | Tool::Wrk2 | Tool::Hey | Tool::Oha) => Exit::Done.into(),
        _ if signals.is_requested() => Exit::Stopped.into(),
        _ => Exit::Done.into(),
    }
}

/// Writes the end of the output and the files of a tool. `wrote`: the result of the output before.
fn finish(view: &ToolView<'_>, run: &Run, mut wrote: Wrote, language: Language) -> Wrote {
    let pages = view.finish(run);
    if wrote == Wrote::All {
        wrote = write(&pages, language);
    }
    for (path, text) in &pages.files {
        if let Err(error) = std::fs::write(path, text) {
            output::complain(&output::cannot_write(path, &error, language));
            wrote = Wrote::Failed;
        }
    }
    output::note(&view.note(language));
    let left_out = run.rows_left_out;
    if left_out > 0 {
        output::complain(&language.pick(
            format!("requests that were not kept one by one, because there is no room for more: {left_out}; run fewer"),
            format!("逐条保存的请求已满，有 {left_out} 个未保存；请减少请求数"),
        ));
    }
    wrote
}

fn write(pages: &Pages, language: Language) -> Wrote {
    if !pages.stderr.is_empty() {
        output::note(pages.stderr.trim_end_matches('\n'));
    }
    if pages.stdout.is_empty() { Wrote::All } else { output::write_stdout(&pages.stdout, language) }
}
