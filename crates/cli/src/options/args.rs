//! The command line as typed. Values are text: the plan reads them, so that its messages name flag, value and remedy.
//! The table of flags, with their help texts, is in `flags`.

mod engine;
mod search;
mod watch;
mod worker;

use clap::ArgMatches;
use driver::Choice;
use plan::{FlagSource, Flags, FromFlag, HoldFlags, options};

pub(crate) use engine::EngineArgs;
pub(crate) use search::{CapacityArgs, FindMaxArgs, SweepArgs, WrapperArgs};
pub(crate) use watch::{CtlArgs, WatchArgs};
pub(crate) use worker::{BusArgs, WorkerArgs};

/// Our `User-Agent`.
pub(crate) const USER_AGENT: &str = concat!("onrush/", env!("CARGO_PKG_VERSION"));

/// The command, with its arguments.
#[derive(Debug)]
pub(crate) enum Command {
    Run(Box<RunArgs>),
    Demo(DemoArgs),
    Serve(Box<ServeArgs>),
    Hold(Box<HoldArgs>),
    Doctor(DoctorArgs),
    /// The files.
    Check(Vec<String>),
    Init(Box<InitArgs>),
    Report {
        run: String,
        file: Option<String>,
    },
    History {
        is_json: bool,
        is_trend: bool,
    },
    /// Journals, and the arguments of the report.
    Recover(Vec<String>, Box<RunArgs>),
    Compare {
        sides: [Vec<String>; 2],
        fail_if: Vec<String>,
        is_json: bool,
    },
    Web(WatchArgs),
    Ctl(CtlArgs),
    FindMax(Box<FindMaxArgs>),
    Sweep(Box<SweepArgs>),
    Capacity(Box<CapacityArgs>),
    Selftest(DriverArgs),
    Worker(Box<WorkerArgs>),
    Bus(Box<BusArgs>),
    List(Box<GrpcArgs>),
    Describe(Box<GrpcArgs>),
    Completions(clap_complete::Shell),
    /// The manual page of this command.
    Man(String),
}

impl Command {
    /// The command that the parser matched.
    pub(crate) fn from_matches(matches: &ArgMatches) -> Self {
        let Some((name, inner)) = matches.subcommand() else {
            return Self::Run(FlagValues(matches).read());
        };
        let given = FlagValues(inner);
        match name {
            "run" => Self::Run(given.read()),
            "demo" => Self::Demo(given.read()),
            "serve" => Self::Serve(given.read()),
            "hold" => Self::Hold(given.read()),
            "doctor" => Self::Doctor(given.read()),
            "check" => Self::Check(given.list("file")),
            "init" => Self::Init(given.read()),
            "report" => Self::Report { run: given.text("run").unwrap_or_default(), file: given.text("html") },
            "history" => Self::History { is_json: given.has("json"), is_trend: given.has("trend") },
            "compare" => Self::Compare {
                sides: ["runs", "others"].map(|name| given.list(name)),
                fail_if: given.list("fail-if"),
                is_json: given.has("json"),
            },
            "recover" => Self::Recover(given.list("journals"), given.read()),
            "web" => Self::Web(given.read()),
            "ctl" => Self::Ctl(given.read()),
            "find-max" => Self::FindMax(given.read()),
            "sweep" => Self::Sweep(given.read()),
            "capacity" => Self::Capacity(given.read()),
            "worker" => Self::Worker(given.read()),
            "bus" => Self::Bus(given.read()),
            "selftest" => Self::Selftest(given.read()),
            "grpc" => match inner.subcommand().expect("the parser asks for a question") {
                ("list", requested) => Self::List(FlagValues(requested).read()),
                (_, requested) => Self::Describe(FlagValues(requested).read()),
            },
            "completions" => Self::Completions(*inner.get_one("shell").expect("the parser asks for a shell")),
            _ => Self::Man(given.text("command").unwrap_or_default()),
        }
    }
}

/// The values of the flags of one command, by their names in the table. A flag of another command counts as absent.
struct FlagValues<'a>(&'a ArgMatches);

impl FlagValues<'_> {
    fn read<T: FromFlag>(&self) -> T {
        T::from_flag(self, "")
    }
}

impl FlagSource for FlagValues<'_> {
    fn text(&self, flag: &str) -> Option<String> {
        let typed = self.0.try_get_one::<String>(flag).ok().flatten().cloned();
        typed.or_else(|| (flag == "user-agent").then(|| USER_AGENT.to_owned()))
    }

    fn list(&self, flag: &str) -> Vec<String> {
        self.0.try_get_many::<String>(flag).ok().flatten().unwrap_or_default().cloned().collect()
    }

    fn has(&self, flag: &str) -> bool {
        self.0.try_get_one::<bool>(flag).ok().flatten().copied().unwrap_or(false)
    }
}

options! {
    /// The arguments of `onrush URL`.
    #[derive(Clone, Debug)]
    pub(crate) struct RunArgs {
        flags: Flags;
        show_failures: bool = "show-failures";
        debug: bool = "debug";
        show_secrets: bool = "show-secrets";
        thresholds: Vec<String> = "threshold";
        strict: bool = "strict";
        probe: bool = "probe";
        no_probe: bool = "no-probe";
        hdr: Option<String> = "hdr";
        /// Exports `KIND=WHERE`, in addition to the views.
        exports: ExportArgs;
        stop_file: Option<String> = "stop-file";
        /// Variables `NAME=VALUE` of a scenario file.
        vars: Vec<String> = "var";
        /// The selected scenarios of a file.
        only: Vec<String> = "only";
        keep: KeepArgs;
        watch: WatchArgs;
        log: LogArgs;
        engine: EngineArgs;
        view: ViewArgs;
    }
}

impl RunArgs {
    /// The scenario file to run, if the target is one.
    pub(crate) fn file(&self) -> Option<&str> {
        let word = self.flags.url.as_deref()?.trim();
        let ends = [".yaml", ".yml"].iter().any(|end| word.to_ascii_lowercase().ends_with(end));
        (ends && !word.contains("://")).then_some(word)
    }
}

options! {
    /// The arguments of exports for other programs.
    #[derive(Clone, Debug)]
    pub(crate) struct ExportArgs {
        kinds: Vec<String> = "export";
        wait: Option<String> = "export-wait";
    }
}

options! {
    /// The arguments of `onrush init`.
    #[derive(Debug)]
    pub(crate) struct InitArgs {
        flags: Flags;
        out: Option<String> = "out";
        force: bool = "force";
    }
}

options! {
    /// The arguments of `onrush hold`.
    #[derive(Clone, Debug)]
    pub(crate) struct HoldArgs {
        flags: HoldFlags;
        keep: KeepArgs;
        watch: WatchArgs;
        exports: ExportArgs;
        stop_file: Option<String> = "stop-file";
        engine: EngineArgs;
        view: ViewArgs;
    }
}

options! {
    /// The arguments of `onrush doctor`.
    #[derive(Debug)]
    pub(crate) struct DoctorArgs {
        url: Option<String> = "url";
        connections: Option<String> = "connections";
        is_server: bool = "server";
        source_ip: Option<String> = "source-ip";
        to: Option<String> = "connect-addresses";
        apply: bool = "apply";
        is_json: bool = "json";
        driver: DriverArgs;
    }
}

options! {
    /// The arguments of `onrush grpc list` and `onrush grpc describe`.
    #[derive(Debug)]
    pub(crate) struct GrpcArgs {
        flags: Flags;
        symbol: Option<String> = "symbol";
    }
}

options! {
    /// The arguments of `onrush demo`.
    #[derive(Debug)]
    pub(crate) struct DemoArgs {
        duration: Option<String> = "duration";
        driver: DriverArgs;
        view: ViewArgs;
    }
}

options! {
    /// The arguments of `onrush serve`.
    #[derive(Debug)]
    pub(crate) struct ServeArgs {
        listen: Option<String> = "listen";
        threads: Option<String> = "threads";
        accept_delay: Option<String> = "accept-delay";
        as_proxy: bool = "as-proxy";
        protocol: Option<String> = "protocol";
        close_after: Option<String> = "close-after";
        seed: Option<String> = "seed";
        tcp: Option<String> = "tcp";
        push: Option<String> = "push";
        is_tls: bool = "tls";
        cert: Option<String> = "cert";
        key: Option<String> = "key";
        driver: DriverArgs;
    }
}

options! {
    /// The exchanges that are shown one by one.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct LogArgs {
        slowest: Option<String> = "slowest";
        log: Option<String> = "log";
        log_only: Option<String> = "log-only";
        log_share: Option<String> = "log-share";
        names_traces: bool = "trace";
    }
}

options! {
    /// The artifacts of a run, and its baseline.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct KeepArgs {
        html: Option<String> = "html";
        save: bool = "save";
        no_save: bool = "no-save";
        baseline: Option<String> = "baseline";
        fail_if: Vec<String> = "fail-if";
    }
}

options! {
    /// The settings of the socket driver.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct DriverArgs {
        driver: Option<String> = "driver";
    }
}

impl DriverArgs {
    /// The name as typed.
    pub(crate) fn name(&self) -> Option<&str> {
        self.driver.as_deref()
    }

    pub(crate) fn choice(&self) -> Choice {
        match self.driver.as_deref() {
            Some("uring") => Choice::Uring,
            Some("poll") => Choice::Poll,
            _ => Choice::Auto,
        }
    }
}

options! {
    /// The settings of the views. The language is read before the rest of the command line.
    #[derive(Clone, Debug)]
    pub(crate) struct ViewArgs {
        output: Option<String> = "output";
        json: Option<String> = "json";
        quiet: bool = "quiet";
        no_color: bool = "no-color";
        full: bool = "full";
    }
}

#[cfg(test)]
mod tests;
