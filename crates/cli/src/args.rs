//! The command line as typed. Values are text: the plan reads them, so that its messages name flag, value and remedy.
//! The table of flags, with their help texts, is in `flags`.

mod engine;
mod search;
mod watch;
mod worker;

use clap::ArgMatches;
use driver::Choice;
use plan::{Flags, HoldFlags};

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
    pub(crate) fn of(matches: &ArgMatches) -> Self {
        let Some((name, inner)) = matches.subcommand() else {
            return Self::Run(Box::new(RunArgs::of(&FlagValues(matches))));
        };
        let given = FlagValues(inner);
        match name {
            "run" => Self::Run(Box::new(RunArgs::of(&given))),
            "demo" => Self::Demo(DemoArgs {
                duration: given.text("duration"),
                driver: DriverArgs::of(&given),
                view: ViewArgs::of(&given),
            }),
            "serve" => Self::Serve(Box::new(ServeArgs::of(&given))),
            "hold" => Self::Hold(Box::new(HoldArgs::of(&given))),
            "doctor" => Self::Doctor(DoctorArgs::of(&given)),
            "check" => Self::Check(given.list("file")),
            "init" => Self::Init(Box::new(InitArgs::of(&given))),
            "report" => Self::Report { run: given.text("run").unwrap_or_default(), file: given.text("html") },
            "history" => Self::History { is_json: given.has("json"), is_trend: given.has("trend") },
            "compare" => Self::Compare {
                sides: ["runs", "others"].map(|name| given.list(name)),
                fail_if: given.list("fail-if"),
                is_json: given.has("json"),
            },
            "recover" => Self::Recover(given.list("journals"), Box::new(RunArgs::of(&given))),
            "web" => Self::Web(WatchArgs::of(&given)),
            "ctl" => Self::Ctl(CtlArgs::of(&given)),
            "find-max" => Self::FindMax(Box::new(FindMaxArgs::of(&given))),
            "sweep" => Self::Sweep(Box::new(SweepArgs::of(&given))),
            "capacity" => Self::Capacity(Box::new(CapacityArgs::of(&given))),
            "worker" => Self::Worker(Box::new(WorkerArgs::of(&given))),
            "bus" => Self::Bus(Box::new(BusArgs::of(&given))),
            "selftest" => Self::Selftest(DriverArgs::of(&given)),
            "grpc" => match inner.subcommand().expect("the parser asks for a question") {
                ("list", requested) => Self::List(Box::new(GrpcArgs::of(&FlagValues(requested)))),
                (_, requested) => Self::Describe(Box::new(GrpcArgs::of(&FlagValues(requested)))),
            },
            "completions" => Self::Completions(*inner.get_one("shell").expect("the parser asks for a shell")),
            _ => Self::Man(given.text("command").unwrap_or_default()),
        }
    }
}

/// The values of the flags of one command, by their names in the table. A flag of another command counts as absent.
struct FlagValues<'a>(&'a ArgMatches);

impl FlagValues<'_> {
    fn text(&self, name: &str) -> Option<String> {
        self.0.try_get_one::<String>(name).ok().flatten().cloned()
    }

    fn list(&self, name: &str) -> Vec<String> {
        self.0.try_get_many::<String>(name).ok().flatten().unwrap_or_default().cloned().collect()
    }

    fn has(&self, name: &str) -> bool {
        self.0.try_get_one::<bool>(name).ok().flatten().copied().unwrap_or(false)
    }

    /// The flags of requests and their load, for any command.
    fn flags(&self) -> Flags {
        Flags {
            url: self.text("url"),
            curl_file: self.text("curl"),
            urls: self.text("urls"),
            shuffle: self.has("shuffle"),
            connections: self.text("connections"),
            requests: self.text("requests"),
            requests_each: self.text("requests-each"),
            duration: self.text("duration"),
            rate: self.text("rate"),
            stages: self.text("stages"),
            user_stages: self.text("user-stages"),
            ramp: self.text("ramp"),
            rendezvous: self.has("rendezvous"),
            preconnect: self.has("preconnect"),
            warmup: self.text("warmup"),
            arrivals: self.text("arrivals"),
            max_lateness: self.text("max-lateness"),
            method: self.text("method"),
            headers: self.list("header"),
            user: self.text("user"),
            cookies: self.list("cookie"),
            host: self.text("host"),
            form: self.list("form"),
            data: self.text("data"),
            timeout: self.text("timeout"),
            connect_timeout: self.text("connect-timeout"),
            grace: self.text("grace"),
            no_keepalive: self.has("no-keepalive"),
            no_retry: self.has("no-retry"),
            http10: self.has("http1.0"),
            http11: self.has("http1.1"),
            http2: self.has("http2"),
            streams: self.text("streams"),
            insecure: self.has("insecure"),
            cacert: self.text("cacert"),
            cert: self.text("cert"),
            key: self.text("key"),
            sni: self.text("sni"),
            alpn: self.text("alpn"),
            tls_groups: self.text("tls-groups"),
            tls_min: self.text("tls-min"),
            no_tls_resumption: self.has("no-tls-resumption"),
            data_bytes: self.text("data-bytes"),
            seed: self.text("seed"),
            until: self.text("until"),
            read_bytes: self.text("read-bytes"),
            length_prefix: self.text("length-prefix"),
            no_response: self.has("no-response"),
            ws_type: self.text("ws-type"),
            subprotocols: self.list("subprotocol"),
            ws_deflate: self.has("ws-deflate"),
            source_ip: self.text("source-ip"),
            to: self.text("connect-addresses"),
            resolve: self.list("resolve"),
            connect_to: self.list("connect-to"),
            unix_socket: self.text("unix-socket"),
            protos: self.list("proto"),
            import_paths: self.list("import-path"),
            protosets: self.list("protoset"),
            message_interval: self.text("message-interval"),
            grpc_encoding: self.text("grpc-encoding"),
            expect_status: self.text("expect-status"),
            expect_body: self.list("expect-body"),
            expect_headers: self.list("expect-header"),
            expect_json: self.list("expect-json"),
            location: self.has("location"),
            max_redirs: self.text("max-redirs"),
            interval: self.text("interval"),
            consents: self.list("allow-host"),
            persists: self.has("no-abort-on-failures"),
            budget: self.text("budget"),
            log_share: self.text("log-share"),
            user_agent: self.text("user-agent").unwrap_or_else(|| USER_AGENT.to_owned()),
            ..Flags::default()
        }
    }
}

/// The arguments of `onrush URL`.
#[derive(Clone, Debug)]
pub(crate) struct RunArgs {
    pub(crate) flags: Flags,
    pub(crate) show_failures: bool,
    pub(crate) debug: bool,
    pub(crate) show_secrets: bool,
    pub(crate) thresholds: Vec<String>,
    pub(crate) strict: bool,
    pub(crate) probe: bool,
    pub(crate) no_probe: bool,
    pub(crate) hdr: Option<String>,
    /// Exports `KIND=WHERE`, in addition to the views.
    pub(crate) exports: ExportArgs,
    pub(crate) stop_file: Option<String>,
    /// Variables `NAME=VALUE` of a scenario file.
    pub(crate) vars: Vec<String>,
    /// The selected scenarios of a file.
    pub(crate) only: Vec<String>,
    pub(crate) keep: KeepArgs,
    pub(crate) watch: WatchArgs,
    pub(crate) log: LogArgs,
    pub(crate) engine: EngineArgs,
    pub(crate) view: ViewArgs,
}

impl RunArgs {
    /// The scenario file to run, if the target is one.
    pub(crate) fn file(&self) -> Option<&str> {
        let word = self.flags.url.as_deref()?.trim();
        let ends = [".yaml", ".yml"].iter().any(|end| word.to_ascii_lowercase().ends_with(end));
        (ends && !word.contains("://")).then_some(word)
    }

    fn of(given: &FlagValues) -> Self {
        Self {
            flags: given.flags(),
            show_failures: given.has("show-failures"),
            debug: given.has("debug"),
            show_secrets: given.has("show-secrets"),
            thresholds: given.list("threshold"),
            strict: given.has("strict"),
            probe: given.has("probe"),
            no_probe: given.has("no-probe"),
            hdr: given.text("hdr"),
            exports: ExportArgs::of(given),
            stop_file: given.text("stop-file"),
            vars: given.list("var"),
            only: given.list("only"),
            keep: KeepArgs::of(given),
            watch: WatchArgs::of(given),
            log: LogArgs::of(given),
            engine: EngineArgs::of(given),
            view: ViewArgs::of(given),
        }
    }
}

/// The arguments of exports for other programs.
#[derive(Clone, Debug)]
pub(crate) struct ExportArgs {
    pub(crate) kinds: Vec<String>,
    pub(crate) wait: Option<String>,
}

impl ExportArgs {
    fn of(given: &FlagValues) -> Self {
        Self { kinds: given.list("export"), wait: given.text("export-wait") }
    }
}

/// The arguments of `onrush init`.
#[derive(Debug)]
pub(crate) struct InitArgs {
    pub(crate) flags: Flags,
    pub(crate) out: Option<String>,
    pub(crate) force: bool,
}

impl InitArgs {
    fn of(given: &FlagValues) -> Self {
        Self { flags: given.flags(), out: given.text("out"), force: given.has("force") }
    }
}

/// The arguments of `onrush hold`.
#[derive(Clone, Debug)]
pub(crate) struct HoldArgs {
    pub(crate) flags: HoldFlags,
    pub(crate) keep: KeepArgs,
    pub(crate) watch: WatchArgs,
    pub(crate) exports: ExportArgs,
    pub(crate) stop_file: Option<String>,
    pub(crate) engine: EngineArgs,
    pub(crate) view: ViewArgs,
}

impl HoldArgs {
    fn of(given: &FlagValues) -> Self {
        let flags = HoldFlags {
            common: given.flags(),
            hold: given.text("hold"),
            every: given.text("every"),
            once: given.has("once"),
            receive_only: given.has("receive-only"),
            reconnect: given.has("reconnect"),
        };
        Self {
            flags,
            keep: KeepArgs::of(given),
            watch: WatchArgs::of(given),
            exports: ExportArgs::of(given),
            stop_file: given.text("stop-file"),
            engine: EngineArgs::of(given),
            view: ViewArgs::of(given),
        }
    }
}

/// The arguments of `onrush doctor`.
#[derive(Debug)]
pub(crate) struct DoctorArgs {
    pub(crate) url: Option<String>,
    pub(crate) connections: Option<String>,
    pub(crate) is_server: bool,
    pub(crate) source_ip: Option<String>,
    pub(crate) to: Option<String>,
    pub(crate) apply: bool,
    pub(crate) is_json: bool,
    pub(crate) driver: DriverArgs,
}

impl DoctorArgs {
    fn of(given: &FlagValues) -> Self {
        Self {
            url: given.text("url"),
            connections: given.text("connections"),
            is_server: given.has("server"),
            source_ip: given.text("source-ip"),
            to: given.text("connect-addresses"),
            apply: given.has("apply"),
            is_json: given.has("json"),
            driver: DriverArgs::of(given),
        }
    }
}

/// The arguments of `onrush grpc list` and `onrush grpc describe`.
#[derive(Debug)]
pub(crate) struct GrpcArgs {
    pub(crate) flags: Flags,
    pub(crate) symbol: Option<String>,
}

impl GrpcArgs {
    fn of(given: &FlagValues) -> Self {
        Self { flags: given.flags(), symbol: given.text("symbol") }
    }
}

/// The arguments of `onrush demo`.
#[derive(Debug)]
pub(crate) struct DemoArgs {
    pub(crate) duration: Option<String>,
    pub(crate) driver: DriverArgs,
    pub(crate) view: ViewArgs,
}

/// The arguments of `onrush serve`.
#[derive(Debug)]
pub(crate) struct ServeArgs {
    pub(crate) listen: Option<String>,
    pub(crate) threads: Option<String>,
    pub(crate) accept_delay: Option<String>,
    pub(crate) close_after: Option<String>,
    pub(crate) seed: Option<String>,
    pub(crate) tcp: Option<String>,
    pub(crate) push: Option<String>,
    pub(crate) is_tls: bool,
    pub(crate) cert: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) driver: DriverArgs,
}

impl ServeArgs {
    fn of(given: &FlagValues) -> Self {
        Self {
            listen: given.text("listen"),
            threads: given.text("threads"),
            accept_delay: given.text("accept-delay"),
            close_after: given.text("close-after"),
            seed: given.text("seed"),
            tcp: given.text("tcp"),
            push: given.text("push"),
            is_tls: given.has("tls"),
            cert: given.text("cert"),
            key: given.text("key"),
            driver: DriverArgs::of(given),
        }
    }
}

/// The exchanges that are shown one by one.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogArgs {
    pub(crate) slowest: Option<String>,
    pub(crate) log: Option<String>,
    pub(crate) log_only: Option<String>,
    pub(crate) log_share: Option<String>,
    pub(crate) names_traces: bool,
}

impl LogArgs {
    fn of(given: &FlagValues) -> Self {
        Self {
            slowest: given.text("slowest"),
            log: given.text("log"),
            log_only: given.text("log-only"),
            log_share: given.text("log-share"),
            names_traces: given.has("trace"),
        }
    }
}

/// The artifacts of a run, and its baseline.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeepArgs {
    pub(crate) html: Option<String>,
    pub(crate) save: bool,
    pub(crate) no_save: bool,
    pub(crate) baseline: Option<String>,
    pub(crate) fail_if: Vec<String>,
}

impl KeepArgs {
    fn of(given: &FlagValues) -> Self {
        Self {
            html: given.text("html"),
            save: given.has("save"),
            no_save: given.has("no-save"),
            baseline: given.text("baseline"),
            fail_if: given.list("fail-if"),
        }
    }
}

/// The settings of the socket driver.
#[derive(Clone, Debug, Default)]
pub(crate) struct DriverArgs {
    driver: Option<String>,
}

impl DriverArgs {
    fn of(given: &FlagValues) -> Self {
        Self { driver: given.text("driver") }
    }

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

/// The settings of the views. The language is read before the rest of the command line.
#[derive(Clone, Debug)]
pub(crate) struct ViewArgs {
    pub(crate) output: Option<String>,
    pub(crate) json: Option<String>,
    pub(crate) quiet: bool,
    pub(crate) no_color: bool,
    pub(crate) full: bool,
}

impl ViewArgs {
    fn of(given: &FlagValues) -> Self {
        Self {
            output: given.text("output"),
            json: given.text("json"),
            quiet: given.has("quiet"),
            no_color: given.has("no-color"),
            full: given.has("full"),
        }
    }
}

#[cfg(test)]
mod tests;
