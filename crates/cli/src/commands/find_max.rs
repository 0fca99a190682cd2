//! `onrush find-max`: the highest load that meets its goals.

mod goals;
mod hold_trials;
mod shown;
mod trial_runner;

use std::time::{Duration, Instant};

use engine::{RunError, StopHandle};
use plan::{PlanError, RATE_UNIT, USERS_MAX, parse_count, parse_duration, parse_rate};
use report::{Language, Varied};
use search::{Judge, Search, SearchEnd, Settings, Step, TrialOrder, TrialOutcome};

use crate::commands::hold;
use crate::commands::run::{self, Load, Prepared};
use crate::commands::run_file;
use crate::exit::Exit;
use crate::options::args::{Command, FindMaxArgs, HoldArgs, RunArgs};
use crate::options::usage;
use crate::output;
use crate::session::shutdown;
use crate::session::wrapped_command::{self, WrappedCommand};
use goals::Goals;
use hold_trials::HoldTrialRunner;
use shown::Shown;
use trial_runner::TrialRunner;

/// The default time limit of a search.
const BUDGET: Duration = Duration::from_secs(12 * 60);
const BUDGET_MIN: Duration = Duration::from_secs(5);
/// The defaults of the first load and of the highest load.
const RATE_FROM: f64 = 10.0;
const RATE_LEAST: f64 = 0.1;
const RATE_MOST: u64 = 1_000_000;
const USERS_MOST: u64 = 10_000;
const CONNECTIONS_FROM: f64 = 100.0;
const CONNECTIONS_MOST: u64 = 1_000_000;
/// The most trials of any search.
const TRIALS_MAX: u64 = 10_000;

/// Flags of a load that a search decides by itself, or cannot use.
const OF_ONE_RUN: [&str; 27] = [
    "requests",
    "requests-each",
    "duration",
    "rate",
    "stages",
    "user-stages",
    "ramp",
    "rendezvous",
    "warmup",
    "interval",
    "threshold",
    "strict",
    "hdr",
    "export",
    "export-wait",
    "debug",
    "slowest",
    "log",
    "log-only",
    "log-share",
    "trace",
    "show-failures",
    "show-secrets",
    "standby",
    "baseline",
    "fail-if",
    "screen",
];
/// The same for held connections.
const OF_ONE_HOLD: [&str; 8] =
    ["connections", "hold", "interval", "export", "export-wait", "baseline", "fail-if", "screen"];

/// The trials of a kind of load.
trait Trials {
    /// Makes a trial.
    fn trial(&mut self, order: &TrialOrder, judge: Judge, stop: &StopHandle) -> Result<TrialOutcome, RunError>;

    /// Checks once whether the target has recovered.
    fn is_rested(&mut self, stop: &StopHandle) -> Result<bool, RunError>;
}

/// Runs `onrush find-max`.
pub(crate) fn find_max(args: &FindMaxArgs) -> Exit {
    wrapped_command::ended(begun(args, usage::language()))
}

/// Begins a search: the exit code, or the error message for the command line.
fn begun(args: &FindMaxArgs, language: Language) -> Result<Exit, String> {
    let behind = wrapped_command::behind(&args.front.words, &[], language)?;
    let budget = match &args.budget {
        None => BUDGET,
        // In the format of a load's `--budget`.
        Some(text) => {
            let text = text.strip_prefix("time=").unwrap_or(text);
            let span = parse_duration("--budget", text).map_err(|error| report::plan_error(&error, language))?;
            if span < BUDGET_MIN {
                return Err(language.pick(
                    format!(
                        "--budget {text} is too short to find anything; give it at least {}s",
                        BUDGET_MIN.as_secs()
                    ),
                    format!("--budget {text} 太短，找不到任何结果；至少需要 {}s", BUDGET_MIN.as_secs()),
                ));
            }
            span
        }
    };
    match &behind.command {
        Command::Hold(hold) => {
            refuse(&behind, &OF_ONE_HOLD, language)?;
            if args.vary.is_some() {
                return Err(language
                    .pick(
                        "--vary is for loads; of hold the connections are found",
                        "--vary 仅用于请求压测；hold 改变的始终是连接数",
                    )
                    .to_owned());
            }
            find_max_connections(args, hold, budget, language)
        }
        Command::Run(run) => {
            refuse(&behind, &OF_ONE_RUN, language)?;
            find_max_load(args, run, budget, language)
        }
        _ => Err(language.pick("find-max loads a URL or a file", "find-max 需要 URL 或场景文件").to_owned()),
    }
}

fn refuse(behind: &WrappedCommand, names: &[&'static str], language: Language) -> Result<(), String> {
    match behind.given(names) {
        None => Ok(()),
        Some(name) => Err(language.pick(
            format!("--{name} is for a single run; find-max makes many, and decides their load and their times (--goal, --start, --max, --budget)"),
            format!("--{name} 仅用于单次压测；find-max 会多次压测，并自行决定负载和时长（--goal、--start、--max、--budget）"),
        )),
    }
}

/// Searches the highest rate, or the most users.
fn find_max_load(args: &FindMaxArgs, run: &RunArgs, budget: Duration, language: Language) -> Result<Exit, String> {
    let goals = Goals::read(&args.goals, language)?;
    let mut run = run.clone();
    run.view.quiet = true;
    let wants_users = match (args.vary.as_deref(), run.file()) {
        (Some(vary), _) => Some(vary == "users"),
        (None, None) => Some(false),
        // A file defines it.
        (None, Some(_)) => None,
    };
    if run.file().is_none() {
        if wants_users == Some(true) && run.flags.connections.is_some() {
            return Err(language
                .pick(
                    "-c is what find-max --vary users finds; --max sets the largest number",
                    "-c 正是 find-max --vary users 要找的；最大值用 --max 设置",
                )
                .to_owned());
        }
        // At its largest size: that is what consent is requested for.
        match wants_users {
            Some(true) => run.flags.connections = Some(most_users(args, language)?.to_string()),
            _ => run.flags.rate = Some(format!("{}/s", most_rate(args, language)?)),
        }
    }
    let carry = |load: &Load, prepared: Prepared, _: &crate::session::run_settings::RunSettings| {
        let wants_users = wants_users.unwrap_or_else(|| trial_runner::is_closed(&prepared.plan));
        let made = settings(args, &goals, (budget, wants_users), language)
            .and_then(|settings| TrialRunner::new(load, prepared, &goals, wants_users).map(|bench| (settings, bench)));
        match made {
            Ok((settings, bench)) => go_on_with(args, bench, settings, language),
            Err(text) => load.refuse(&text, Exit::Usage),
        }
    };
    Ok(match run.file() {
        Some(file) => run_file::play_with(&run, file, true, &carry),
        None => run::run_with(&run, true, &carry),
    })
}

fn go_on_with(args: &FindMaxArgs, mut bench: TrialRunner, settings: Settings, language: Language) -> Exit {
    let about = crate::session::artifacts::about(bench.command());
    let shown = Shown::begin(args, about, (bench.target(), bench.varied(), bench.goals()), settings.budget);
    let mut shown = match shown {
        Ok(shown) => shown,
        Err(text) => {
            output::complain(&text);
            return Exit::Usage;
        }
    };
    bench.keep_in(shown.whole.runs());
    let (began, stop) = (Instant::now(), StopHandle::default());
    let requested = match shutdown::watch_signals(&stop, language) {
        Ok(requested) => requested,
        Err(exit) => return exit,
    };
    if let Some(exit) = bench.measure_unloaded(&stop, language) {
        // Programs that wait for a report get one.
        let mut search = Search::new(settings);
        if requested.is_requested() {
            search.stop()
        } else {
            search.give_up()
        }
        shown.nothing(&search, began.elapsed());
        return if requested.is_requested() { Exit::Stopped } else { exit };
    }
    // The least is one user of each scenario.
    let scenarios = if settings.is_whole { bench.scenarios() as f64 } else { 0.0 };
    let (start, least) = (settings.start.max(scenarios), settings.least.max(scenarios));
    searched(&mut bench, Settings { start, least, ..settings }, (&mut shown, began), language)
}

/// Searches the most connections.
fn find_max_connections(
    args: &FindMaxArgs,
    hold: &HoldArgs,
    budget: Duration,
    language: Language,
) -> Result<Exit, String> {
    let goals = hold_trials::Goals::read(&args.goals, language)?;
    let flags = &hold.flags;
    if !args.goals.is_empty() && flags.every.is_none() && !flags.once {
        return Err(language
            .pick(
                "--goal is of messages, and none are sent; add -d with --every or --once, or leave the goal out",
                "--goal 针对消息，但没有发送消息；请加上 -d 和 --every 或 --once，或去掉该条件",
            )
            .to_owned());
    }
    let number = |flag, text: &Option<String>, usual: f64| match text {
        Some(text) => parse_count(flag, text, 1, plan::HOLD_MAX).map(|count| count as f64),
        None => Ok(usual),
    };
    let wrong = |error: PlanError| report::plan_error(&error, language);
    let most = number("--max", &args.most, CONNECTIONS_MOST as f64).map_err(wrong)?;
    let start = number("--start", &args.from, CONNECTIONS_FROM.min(most)).map_err(wrong)?;
    let settings = Settings {
        goals: goals.allowed(),
        budget,
        trials_max: trials_max(args, language)?,
        start,
        least: 1.0,
        most,
        is_whole: true,
        is_plain: true,
    };
    let mut hold = hold.clone();
    hold.flags.common.connections = Some(format!("{most}"));
    let ready = match hold::ready(&hold, language) {
        Ok(ready) => ready,
        Err((text, exit)) => {
            output::complain(&text);
            return Ok(exit);
        }
    };
    let about = crate::session::artifacts::about(crate::session::redaction::command_of_hold());
    let target = plan::masked_url(&ready.plan.target.url);
    let texts = goals.texts(language);
    let mut shown = Shown::begin(args, about, (&target, Varied::Connections, &texts), budget)?;
    let mut bench = HoldTrialRunner::new(ready, goals, shown.whole.runs(), shown.whole.screen);
    Ok(searched(&mut bench, settings, (&mut shown, Instant::now()), language))
}

fn most_rate(args: &FindMaxArgs, language: Language) -> Result<f64, String> {
    match &args.most {
        None => Ok(RATE_MOST as f64),
        Some(text) => rate("--max", text, language),
    }
}

fn most_users(args: &FindMaxArgs, language: Language) -> Result<u64, String> {
    match &args.most {
        None => Ok(USERS_MOST),
        Some(text) => parse_count("--max", text, 1, USERS_MAX).map_err(|error| report::plan_error(&error, language)),
    }
}

/// The most trials, if set.
fn trials_max(args: &FindMaxArgs, language: Language) -> Result<Option<usize>, String> {
    let given = args.trials.as_deref().map(|text| parse_count("--trials", text, 1, TRIALS_MAX)).transpose();
    given.map(|most| most.map(|most| most as usize)).map_err(|error| report::plan_error(&error, language))
}

fn rate(flag: &'static str, text: &str, language: Language) -> Result<f64, String> {
    let rate = parse_rate(flag, text).map_err(|error| report::plan_error(&error, language))?;
    Ok(rate as f64 / RATE_UNIT as f64)
}

/// The settings of a search on a rate or on users.
fn settings(
    args: &FindMaxArgs,
    goals: &Goals,
    (budget, wants_users): (Duration, bool),
    language: Language,
) -> Result<Settings, String> {
    let (start, least, most) = match wants_users {
        true => {
            let most = most_users(args, language)? as f64;
            let start = match &args.from {
                None => 1.0,
                Some(text) => {
                    let users = parse_count("--start", text, 1, USERS_MAX);
                    users.map_err(|error| report::plan_error(&error, language))? as f64
                }
            };
            (start, 1.0, most)
        }
        false => {
            let most = most_rate(args, language)?;
            let start = args.from.as_deref().map_or(Ok(RATE_FROM.min(most)), |text| rate("--start", text, language))?;
            (start, RATE_LEAST.min(start), most)
        }
    };
    if start > most {
        return Err(language.pick(
            format!("--start {start} is above --max {most}; lower it"),
            format!("--start {start} 大于 --max {most}；请减小"),
        ));
    }
    let (goals, trials_max) = (goals.allowed(), trials_max(args, language)?);
    Ok(Settings { goals, budget, trials_max, start, least, most, is_whole: wants_users, is_plain: false })
}

/// How long the target took to recover after a trial; or how long it has not recovered.
type Rested = Result<Duration, Duration>;

/// The fraction of the time limit that the target may take to recover.
const REST_PART: u32 = 12;
const REST_MAX: Duration = Duration::from_secs(60);
/// The polling interval of the recovery.
const REST_EVERY: Duration = Duration::from_millis(20);

/// Runs the search, from the first trial to the last line.
fn searched(
    trials: &mut dyn Trials,
    settings: Settings,
    (shown, began): (&mut Shown, Instant),
    language: Language,
) -> Exit {
    let rest_max = (settings.budget / REST_PART).min(REST_MAX);
    let mut search = Search::new(settings);
    shown.begun(&search);
    let mut failed: Option<RunError> = None;
    let requested = loop {
        let stop = StopHandle::default();
        let requested = match shutdown::watch_signals(&stop, language) {
            Ok(requested) => requested,
            Err(exit) => return exit,
        };
        if requested.is_requested() || shown.whole.is_reported_to_stop() {
            search.stop();
        }
        let stop_file = shown.whole.watch_stop_file(&stop);
        let at = began.elapsed();
        match search.next(at) {
            Step::Trial(order) => match trials.trial(&order, search.judge(&order), &stop) {
                Ok(mut outcome) => {
                    // A run that ends by itself does not end the search.
                    outcome.was_stopped = requested.is_requested() || shown.whole.is_reported_to_stop();
                    search.received(&order, outcome, at, began.elapsed());
                    shown.trial(&search);
                }
                Err(error) => failed = Some(error),
            },
            Step::Rest => match rested(trials, &stop, rest_max) {
                Ok(after) => search.rested(after),
                Err(error) => failed = Some(error),
            },
            Step::Over => break requested,
        }
        drop(stop_file);
        if failed.is_some() {
            search.stop();
        }
    };
    let is_stopped = requested.is_requested() || shown.whole.is_reported_to_stop();
    let exit = shown.over(&search, began.elapsed());
    if let Some(error) = failed {
        output::complain(&report::run_error(&error, language));
        return Exit::System;
    }
    match exit {
        Exit::Done | Exit::Unmet if search.found().ended == SearchEnd::Gone => Exit::NothingMeasured,
        Exit::Done | Exit::Unmet if is_stopped => Exit::Stopped,
        exit => exit,
    }
}

/// Waits until the target has recovered; returns how long it took, or how long it has not recovered.
fn rested(trials: &mut dyn Trials, stop: &StopHandle, most: Duration) -> Result<Rested, RunError> {
    let began = Instant::now();
    while began.elapsed() < most && !stop.is_stopped() {
        let at = began.elapsed();
        if trials.is_rested(stop)? {
            return Ok(Ok(at));
        }
        // An unreachable target fails at once.
        std::thread::sleep(REST_EVERY);
    }
    Ok(Err(began.elapsed()))
}
