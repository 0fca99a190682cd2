//! The command line. Values are text: the plan reads them, so that its messages name flag, value and remedy.
//! What each flag means to people stands in `help`.

use clap::{Args, Parser, Subcommand};
use driver::Choice;
use plan::{Flags, HoldFlags};

#[derive(Parser)]
#[command(
    name = "onrush",
    version,
    args_conflicts_with_subcommands = true,
    disable_help_flag = true,
    disable_version_flag = true,
    disable_help_subcommand = true
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[arg(short = 'V', long, action = clap::ArgAction::Version)]
    version: Option<bool>,
}

#[derive(Subcommand)]
#[command(disable_help_flag = true)]
pub(crate) enum Command {
    Run(Box<RunArgs>),
    Demo(DemoArgs),
    Serve(ServeArgs),
    Hold(Box<HoldArgs>),
    Doctor(DoctorArgs),
    Selftest(SelftestArgs),
    Grpc(Box<GrpcArgs>),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

#[derive(Args)]
pub(crate) struct RunArgs {
    #[arg(value_name = "URL")]
    pub(crate) url: Option<String>,
    #[arg(short = 'p', long = "curl", value_name = "FILE")]
    curl_file: Option<String>,
    /// The words behind `curl`.
    #[arg(skip)]
    pub(crate) curl: Option<Vec<Vec<u8>>>,
    #[arg(long)]
    shuffle: bool,
    #[arg(short = 'c', long, value_name = "N", allow_negative_numbers = true)]
    connections: Option<String>,
    #[arg(short = 'n', long, value_name = "N", allow_negative_numbers = true)]
    requests: Option<String>,
    #[arg(short = 'z', long, value_name = "TIME", allow_negative_numbers = true)]
    duration: Option<String>,
    #[arg(short = 'q', long, value_name = "RATE", allow_negative_numbers = true)]
    rate: Option<String>,
    #[arg(long, value_name = "STAGES", allow_hyphen_values = true)]
    stages: Option<String>,
    #[arg(long, value_name = "WHAT")]
    stages_of: Option<String>,
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    ramp: Option<String>,
    #[arg(long)]
    rendezvous: bool,
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    warmup: Option<String>,
    #[arg(long, value_name = "KIND")]
    arrivals: Option<String>,
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    max_lateness: Option<String>,
    #[arg(short = 'X', long, value_name = "METHOD")]
    method: Option<String>,
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    headers: Vec<String>,
    #[arg(short = 'd', long, value_name = "DATA", allow_hyphen_values = true)]
    data: Option<String>,
    #[arg(short = 't', long, value_name = "TIME", allow_negative_numbers = true)]
    timeout: Option<String>,
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    connect_timeout: Option<String>,
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    grace: Option<String>,
    #[arg(long)]
    no_keepalive: bool,
    #[arg(long = "http1.0")]
    http10: bool,
    #[arg(long = "http1.1")]
    http11: bool,
    #[arg(long)]
    http2: bool,
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    streams: Option<String>,
    #[command(flatten)]
    tls: TlsArgs,
    #[command(flatten)]
    talk: TalkArgs,
    #[command(flatten)]
    schema: SchemaArgs,
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    message_interval: Option<String>,
    #[arg(long, value_name = "ENCODING")]
    grpc_encoding: Option<String>,
    #[arg(long, value_name = "STATUSES")]
    expect_status: Option<String>,
    #[command(flatten)]
    checks: CheckArgs,
    #[arg(long)]
    pub(crate) show_failures: bool,
    #[arg(long)]
    pub(crate) debug: bool,
    #[arg(long)]
    pub(crate) show_secrets: bool,
    #[arg(short = 'L', long)]
    location: bool,
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_redirs: Option<String>,
    #[arg(long = "threshold", value_name = "THRESHOLD", allow_hyphen_values = true)]
    pub(crate) thresholds: Vec<String>,
    #[arg(long)]
    pub(crate) strict: bool,
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    interval: Option<String>,
    #[arg(long, value_name = "FILE")]
    pub(crate) hdr: Option<String>,
    #[command(flatten)]
    pub(crate) engine: EngineArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

/// What is expected of an answer.
#[derive(Args, Clone)]
pub(crate) struct CheckArgs {
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    expect_body: Vec<String>,
    #[arg(long = "expect-header", value_name = "HEADER")]
    expect_headers: Vec<String>,
    #[arg(long, value_name = "CHECK")]
    expect_json: Vec<String>,
}

impl CheckArgs {
    fn fill(&self, flags: &mut Flags) {
        flags.expect_body.clone_from(&self.expect_body);
        flags.expect_headers.clone_from(&self.expect_headers);
        flags.expect_json.clone_from(&self.expect_json);
    }
}

/// Messages of WebSocket and TCP, and where connections come from and go.
#[derive(Args, Clone)]
pub(crate) struct TalkArgs {
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    data_bytes: Option<String>,
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    seed: Option<String>,
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    until: Option<String>,
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    read_bytes: Option<String>,
    #[arg(long, value_name = "WIDTH")]
    length_prefix: Option<String>,
    #[arg(long)]
    no_answer: bool,
    #[arg(long, value_name = "TYPE")]
    ws_type: Option<String>,
    #[arg(long = "subprotocol", value_name = "NAME")]
    subprotocols: Vec<String>,
    #[arg(long)]
    ws_deflate: bool,
    #[arg(long, value_name = "ADDRESSES")]
    source_ip: Option<String>,
    #[arg(long, value_name = "PLACES")]
    to: Option<String>,
    #[arg(long, value_name = "HOST:PORT:ADDRESS")]
    resolve: Vec<String>,
    #[arg(long, value_name = "HOST:PORT:HOST:PORT")]
    connect_to: Vec<String>,
    #[arg(long, value_name = "PATH")]
    unix_socket: Option<String>,
}

impl TalkArgs {
    fn fill(&self, flags: &mut Flags) {
        flags.data_bytes.clone_from(&self.data_bytes);
        flags.seed.clone_from(&self.seed);
        flags.until.clone_from(&self.until);
        flags.read_bytes.clone_from(&self.read_bytes);
        flags.length_prefix.clone_from(&self.length_prefix);
        flags.no_answer = self.no_answer;
        flags.ws_type.clone_from(&self.ws_type);
        flags.subprotocols.clone_from(&self.subprotocols);
        flags.ws_deflate = self.ws_deflate;
        flags.source_ip.clone_from(&self.source_ip);
        flags.to.clone_from(&self.to);
        flags.resolve.clone_from(&self.resolve);
        flags.connect_to.clone_from(&self.connect_to);
        flags.unix_socket.clone_from(&self.unix_socket);
    }
}

#[derive(Args)]
pub(crate) struct HoldArgs {
    #[arg(value_name = "URL")]
    url: Option<String>,
    #[arg(short = 'c', long, value_name = "N", allow_negative_numbers = true)]
    connections: Option<String>,
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    ramp: Option<String>,
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    hold: Option<String>,
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    every: Option<String>,
    #[arg(long)]
    once: bool,
    #[arg(long)]
    receive_only: bool,
    #[arg(long)]
    reconnect: bool,
    #[arg(short = 'X', long, value_name = "METHOD")]
    method: Option<String>,
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    headers: Vec<String>,
    #[arg(short = 'd', long, value_name = "DATA", allow_hyphen_values = true)]
    data: Option<String>,
    #[arg(short = 't', long, value_name = "TIME", allow_negative_numbers = true)]
    timeout: Option<String>,
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    connect_timeout: Option<String>,
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    grace: Option<String>,
    #[command(flatten)]
    checks: CheckArgs,
    #[command(flatten)]
    talk: TalkArgs,
    #[command(flatten)]
    tls: TlsArgs,
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    interval: Option<String>,
    #[command(flatten)]
    pub(crate) engine: HoldEngineArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

#[derive(Args, Clone)]
pub(crate) struct HoldEngineArgs {
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) threads: Option<String>,
    #[command(flatten)]
    pub(crate) driver: DriverArgs,
}

impl HoldArgs {
    /// What was typed, for the plan to read.
    pub(crate) fn flags(&self) -> HoldFlags {
        let mut common = Flags {
            url: self.url.clone(),
            connections: self.connections.clone(),
            ramp: self.ramp.clone(),
            method: self.method.clone(),
            headers: self.headers.clone(),
            data: self.data.clone(),
            timeout: self.timeout.clone(),
            connect_timeout: self.connect_timeout.clone(),
            grace: self.grace.clone(),
            interval: self.interval.clone(),
            user_agent: USER_AGENT.to_owned(),
            ..Flags::default()
        };
        self.checks.fill(&mut common);
        self.talk.fill(&mut common);
        self.tls.fill(&mut common);
        HoldFlags {
            common,
            hold: self.hold.clone(),
            every: self.every.clone(),
            once: self.once,
            receive_only: self.receive_only,
            reconnect: self.reconnect,
        }
    }
}

#[derive(Args)]
pub(crate) struct DoctorArgs {
    #[arg(value_name = "URL")]
    pub(crate) url: Option<String>,
    #[arg(short = 'c', long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) connections: Option<String>,
    #[arg(long = "server")]
    pub(crate) is_server: bool,
    #[arg(long, value_name = "ADDRESSES")]
    pub(crate) source_ip: Option<String>,
    #[arg(long, value_name = "PLACES")]
    pub(crate) to: Option<String>,
    #[arg(long)]
    pub(crate) apply: bool,
    #[arg(long = "json")]
    pub(crate) is_json: bool,
    #[command(flatten)]
    pub(crate) driver: DriverArgs,
    #[command(flatten)]
    common: CommonArgs,
}

/// Where messages are described.
#[derive(Args, Clone)]
pub(crate) struct SchemaArgs {
    #[arg(long = "proto", value_name = "FILE")]
    protos: Vec<String>,
    #[arg(long = "import-path", value_name = "DIR")]
    import_paths: Vec<String>,
    #[arg(long = "protoset", value_name = "FILE")]
    protosets: Vec<String>,
}

#[derive(Args)]
pub(crate) struct GrpcArgs {
    #[command(subcommand)]
    pub(crate) command: GrpcCommand,
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Subcommand)]
#[command(disable_help_flag = true)]
pub(crate) enum GrpcCommand {
    List(GrpcAskArgs),
    Describe(GrpcAskArgs),
}

#[derive(Args)]
pub(crate) struct GrpcAskArgs {
    #[arg(value_name = "URL")]
    pub(crate) url: Option<String>,
    #[arg(value_name = "SYMBOL")]
    pub(crate) symbol: Option<String>,
    #[arg(short = 'H', long = "header", value_name = "HEADER")]
    headers: Vec<String>,
    #[arg(short = 't', long, value_name = "TIME", allow_negative_numbers = true)]
    timeout: Option<String>,
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    connect_timeout: Option<String>,
    #[command(flatten)]
    tls: TlsArgs,
    #[command(flatten)]
    schema: SchemaArgs,
    #[command(flatten)]
    common: CommonArgs,
}

impl GrpcAskArgs {
    /// What was typed, with the URL as it was meant.
    pub(crate) fn flags(&self, url: Option<String>) -> Flags {
        let mut flags = Flags {
            url,
            headers: self.headers.clone(),
            timeout: self.timeout.clone(),
            connect_timeout: self.connect_timeout.clone(),
            user_agent: USER_AGENT.to_owned(),
            ..Flags::default()
        };
        self.tls.fill(&mut flags);
        self.schema.fill(&mut flags);
        flags
    }
}

impl SchemaArgs {
    fn fill(&self, flags: &mut Flags) {
        flags.protos.clone_from(&self.protos);
        flags.import_paths.clone_from(&self.import_paths);
        flags.protosets.clone_from(&self.protosets);
    }
}

/// What we say of ourselves.
pub(crate) const USER_AGENT: &str = concat!("onrush/", env!("CARGO_PKG_VERSION"));

impl TlsArgs {
    fn fill(&self, flags: &mut Flags) {
        flags.insecure = self.insecure;
        flags.cacert.clone_from(&self.cacert);
        flags.cert.clone_from(&self.cert);
        flags.key.clone_from(&self.key);
        flags.sni.clone_from(&self.sni);
        flags.alpn.clone_from(&self.alpn);
        flags.tls_groups.clone_from(&self.tls_groups);
        flags.tls_min.clone_from(&self.tls_min);
        flags.no_tls_resumption = self.no_tls_resumption;
    }
}

#[derive(Args, Clone)]
pub(crate) struct TlsArgs {
    #[arg(short = 'k', long)]
    insecure: bool,
    #[arg(long, value_name = "FILE")]
    cacert: Option<String>,
    #[arg(long, value_name = "FILE")]
    cert: Option<String>,
    #[arg(long, value_name = "FILE")]
    key: Option<String>,
    #[arg(long, value_name = "NAME")]
    sni: Option<String>,
    #[arg(long, value_name = "PROTOCOLS")]
    alpn: Option<String>,
    #[arg(long, value_name = "GROUPS")]
    tls_groups: Option<String>,
    #[arg(long, value_name = "VERSION")]
    tls_min: Option<String>,
    #[arg(long)]
    no_tls_resumption: bool,
}

#[derive(Args, Clone)]
pub(crate) struct EngineArgs {
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) threads: Option<String>,
    #[arg(long)]
    pub(crate) pin_threads: bool,
    #[command(flatten)]
    pub(crate) driver: DriverArgs,
}

#[derive(Args, Clone, Default)]
pub(crate) struct DriverArgs {
    #[arg(long, value_name = "DRIVER", value_parser = ["auto", "uring", "poll"], hide_possible_values = true)]
    driver: Option<String>,
}

impl DriverArgs {
    pub(crate) fn choice(&self) -> Choice {
        match self.driver.as_deref() {
            Some("uring") => Choice::Uring,
            Some("poll") => Choice::Poll,
            _ => Choice::Auto,
        }
    }
}

#[derive(Args, Clone)]
pub(crate) struct ViewArgs {
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], hide_possible_values = true)]
    pub(crate) output: Option<String>,
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<String>,
    #[arg(long)]
    pub(crate) quiet: bool,
    #[arg(long)]
    pub(crate) no_color: bool,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

#[derive(Args, Clone)]
pub(crate) struct CommonArgs {
    #[arg(long, value_name = "LANG", value_parser = ["zh", "en"], hide_possible_values = true)]
    pub(crate) lang: Option<String>,
    #[arg(short = 'h', long, action = clap::ArgAction::Help)]
    help: Option<bool>,
}

#[derive(Args)]
pub(crate) struct DemoArgs {
    #[command(flatten)]
    pub(crate) driver: DriverArgs,
    #[command(flatten)]
    pub(crate) view: ViewArgs,
}

#[derive(Args)]
pub(crate) struct ServeArgs {
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) threads: Option<String>,
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub(crate) accept_delay: Option<String>,
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) close_after: Option<String>,
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) seed: Option<String>,
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) tcp: Option<String>,
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub(crate) push: Option<String>,
    #[arg(long = "tls")]
    pub(crate) is_tls: bool,
    #[arg(long, value_name = "FILE")]
    pub(crate) cert: Option<String>,
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) driver: DriverArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

#[derive(Args)]
pub(crate) struct SelftestArgs {
    #[command(flatten)]
    pub(crate) driver: DriverArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    #[arg(value_name = "SHELL", value_parser = clap::value_parser!(clap_complete::Shell), hide_possible_values = true)]
    pub(crate) shell: clap_complete::Shell,
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    #[command(flatten)]
    common: CommonArgs,
}

impl RunArgs {
    /// What was typed, for the plan to read.
    pub(crate) fn flags(&self) -> Flags {
        let mut flags = Flags {
            url: self.url.clone(),
            connections: self.connections.clone(),
            requests: self.requests.clone(),
            duration: self.duration.clone(),
            rate: self.rate.clone(),
            stages: self.stages.clone(),
            arrivals: self.arrivals.clone(),
            max_lateness: self.max_lateness.clone(),
            stages_of: self.stages_of.clone(),
            ramp: self.ramp.clone(),
            rendezvous: self.rendezvous,
            warmup: self.warmup.clone(),
            method: self.method.clone(),
            headers: self.headers.clone(),
            data: self.data.clone(),
            timeout: self.timeout.clone(),
            connect_timeout: self.connect_timeout.clone(),
            grace: self.grace.clone(),
            no_keepalive: self.no_keepalive,
            http10: self.http10,
            http11: self.http11,
            http2: self.http2,
            streams: self.streams.clone(),
            message_interval: self.message_interval.clone(),
            grpc_encoding: self.grpc_encoding.clone(),
            expect_status: self.expect_status.clone(),
            curl_file: self.curl_file.clone(),
            curl: self.curl.clone(),
            shuffle: self.shuffle,
            location: self.location,
            max_redirs: self.max_redirs.clone(),
            interval: self.interval.clone(),
            user_agent: USER_AGENT.to_owned(),
            ..Flags::default()
        };
        self.checks.fill(&mut flags);
        self.talk.fill(&mut flags);
        self.tls.fill(&mut flags);
        self.schema.fill(&mut flags);
        flags
    }
}
