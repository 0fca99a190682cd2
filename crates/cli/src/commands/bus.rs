//! `onrush bus`: a nats-server for workers, with generated passwords and configuration, until it is stopped.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use report::{Doing, Language};
use rustix::process::{Pid, Signal, kill_process};

use crate::exit::Exit;
use crate::options::args::BusArgs;
use crate::options::parse_addr::read_address;
use crate::options::usage;
use crate::output;
use crate::session::signals;
use crate::session::signals::StopRequest;
use crate::workers;

const LISTEN_DEFAULT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 4222);
/// The server program.
const SERVER: &str = "nats-server";
/// The oldest suitable version.
const OLDEST: (u64, u64) = (2, 11);
/// The time within which the server must listen.
const LISTENS_WITHIN: Duration = Duration::from_secs(20);
/// The time within which the server ends.
const ENDS_WITHIN: Duration = Duration::from_secs(10);
/// The polling interval of the server.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Bytes of a password.
const SECRET_BYTES: usize = 16;
/// The most bytes of one worker message.
const PAYLOAD_BYTES_MAX: usize = 8 << 20;
/// The user names of the leader and of workers.
const USER: &str = "onrush";
const WORKER: &str = "worker";
/// The name of the default cluster.
const NAME_DEFAULT: &str = "default";

pub(crate) fn bus(args: &BusArgs) -> Exit {
    let language = usage::language();
    output::complained(run(args, language))
}

fn run(args: &BusArgs, language: Language) -> Result<Exit, (String, Exit)> {
    let mut listen = args.listen.as_deref().map_or(Some(LISTEN_DEFAULT), read_address).ok_or_else(|| {
        let value = args.listen.as_deref().unwrap_or_default();
        let text = language.pick(
            format!("--listen wants an address and a port like 0.0.0.0:4222 or :4222, not '{value}'"),
            format!("--listen 的值 '{value}' 无效：应为 0.0.0.0:4222 或 :4222 这样的地址和端口"),
        );
        (text, Exit::Usage)
    })?;
    if args.cert.is_none() && (args.key.is_some() || args.cacert.is_some()) {
        let text = language.pick("--key and --cacert need --cert", "--key 和 --cacert 需要同时给出 --cert");
        return Err((text.to_owned(), Exit::Usage));
    }
    is_there(language)?;
    let system = |error: std::io::Error| not_set_up(&error, language);
    if listen.port() == 0 {
        // If another process takes the port meanwhile, the server reports it.
        listen = TcpListener::bind(listen).and_then(|free| free.local_addr()).map_err(system)?;
    }
    let own = workers::OwnFolder::new().map_err(system)?;
    let kept = args.dir.as_ref().map_or_else(|| own.path().to_owned(), PathBuf::from);
    let requested = signals::watch(|| {}, || std::process::exit(Exit::Stopped as i32)).map_err(system)?;
    let (mut server, passwords) = Server::with_passwords(args, listen, (own.path(), &kept)).map_err(system)?;
    server.listens(listen, &requested, language)?;
    if !requested.is_requested() {
        say(args, listen, &passwords, language);
    }
    loop {
        if requested.is_requested() {
            server.end();
            return Ok(Exit::Done);
        }
        if let Some(reason) = server.ended() {
            // The signal that ends us may have ended the server too.
            std::thread::sleep(POLL_INTERVAL);
            if requested.is_requested() {
                return Ok(Exit::Done);
            }
            return Err((gone(&reason, language), Exit::System));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Checks that the program is installed, and new enough.
fn is_there(language: Language) -> Result<(), (String, Exit)> {
    let said = Command::new(SERVER).arg("--version").output().map_err(|error| {
        let text = language.pick(
            format!("no {SERVER} ({error}); install one of {}.{} or newer, from a package or github.com/nats-io/nats-server, where PATH finds it", OLDEST.0, OLDEST.1),
            format!("找不到 {SERVER}（{}）；请安装 {}.{} 或更新版本（安装包，或 github.com/nats-io/nats-server），并放在 PATH 中", report::in_chinese(&error.to_string()), OLDEST.0, OLDEST.1),
        );
        (text, Exit::System)
    })?;
    let said = String::from_utf8_lossy(&said.stdout).trim().to_owned();
    // Example: nats-server: v2.11.4
    let version = said.rsplit('v').next().unwrap_or_default();
    let mut parts = version.split('.').map(|part| part.parse().ok());
    match (parts.next().flatten(), parts.next().flatten()) {
        (Some(major), Some(minor)) if (major, minor) < OLDEST => {
            let text = language.pick(
                format!("{SERVER} is {version}; {}.{} or newer is needed", OLDEST.0, OLDEST.1),
                format!("{SERVER} 版本是 {version}；需要 {}.{} 或更新版本", OLDEST.0, OLDEST.1),
            );
            Err((text, Exit::System))
        }
        _ => Ok(()),
    }
}

/// A file that only this user may read.
fn secret_file(path: &Path) -> Result<std::fs::File, std::io::Error> {
    let named = |error: std::io::Error| std::io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path).map_err(named)
}

/// The passwords of a bus.
struct Passwords {
    /// The password of the leader, which may do everything.
    leader: String,
    /// The password of workers, which may report, and read the state.
    worker: String,
}

impl Passwords {
    /// The passwords in a folder, or new ones.
    fn read(folder: &Path) -> Result<Self, std::io::Error> {
        std::fs::create_dir_all(folder)?;
        let (leader, worker) = (folder.join("password"), folder.join("password-of-workers"));
        Ok(Self { leader: password(&leader)?, worker: password(&worker)? })
    }
}

/// The password in a file, or a new one.
fn password(file: &Path) -> Result<String, std::io::Error> {
    let is_one = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if let Ok(text) = std::fs::read_to_string(file)
        && is_one(text.trim())
    {
        return Ok(text.trim().to_owned());
    }
    let mut bytes = [0; SECRET_BYTES];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    writeln!(secret_file(file)?, "{text}")?;
    Ok(text)
}

/// A text quoted for the configuration.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The subjects of worker requests: to the leader, to read the stores of the cluster, and to append reports.
fn requested_by_workers(name: &str) -> Vec<String> {
    let (keys, news, objects) =
        (format!("KV_onrush_{name}"), format!("onrush_{name}_news"), format!("OBJ_onrush_{name}_packets"));
    let mut all = vec!["onrush.lead.*".to_owned(), format!("onrush.{name}.news.*"), "$JS.API.INFO".to_owned()];
    all.extend([&keys, &news, &objects].map(|stream| format!("$JS.API.STREAM.INFO.{stream}")));
    for stream in [&keys, &objects] {
        all.extend(["STREAM.MSG.GET", "DIRECT.GET"].map(|what| format!("$JS.API.{what}.{stream}")));
        all.push(format!("$JS.API.DIRECT.GET.{stream}.>"));
    }
    all
}

/// Workers have an account of their own without any data: their requests go to the account of the leader, and replies
/// come back. So they can write nothing that others run_command, whatever reply subject they name, and cannot read the reports
/// of others.
fn accounts(name: &str, passwords: &Passwords) -> String {
    let (requested, leads, there) = (requested_by_workers(name), format!("onrush.{name}.leads"), "onrush.there.*");
    let each =
        |one: &dyn Fn(&str) -> String| requested.iter().map(|subject| one(subject)).collect::<Vec<_>>().join(", ");
    let exports = each(&|subject| format!("{{service: {}}}", quoted(subject)));
    let imports = each(&|subject| format!("{{service: {{account: leaders, subject: {}}}}}", quoted(subject)));
    let publish = each(&|subject| quoted(subject));
    let (leads, there) = (quoted(&leads), quoted(there));
    let (leader, worker) = (quoted(&passwords.leader), quoted(&passwords.worker));
    format!(
        "accounts {{\n  leaders {{\n    jetstream: enabled\n    users: [{{user: {USER}, password: {leader}}}]\n    \
         exports: [{exports}, {{stream: {leads}}}]\n    \
         imports: [{{service: {{account: workers, subject: {there}}}}}]\n  }}\n  \
         workers {{\n    users: [{{user: {WORKER}, password: {worker}, permissions: {{\n      \
         publish: {{allow: [{publish}]}}, subscribe: {{allow: [\"_INBOX.>\", {leads}, {there}]}}, allow_responses: true}}}}]\n    \
         exports: [{{service: {there}}}]\n    \
         imports: [{imports}, {{stream: {{account: leaders, subject: {leads}}}}}]\n  }}\n}}\n"
    )
}

fn config_of(args: &BusArgs, listen: SocketAddr, kept: &Path, passwords: &Passwords) -> Result<String, std::io::Error> {
    let place = |path: &Path| Ok::<_, std::io::Error>(quoted(&std::path::absolute(path)?.display().to_string()));
    let mut text = format!(
        "listen: {}\nmax_payload: {PAYLOAD_BYTES_MAX}\njetstream {{\n  store_dir: {}\n  sync_interval: always\n}}\n{}",
        quoted(&listen.to_string()),
        place(kept)?,
        accounts(name_of(args), passwords),
    );
    if let Some(cert) = &args.cert {
        let cert = Path::new(cert);
        let key = args.key.as_deref().map_or(cert, Path::new);
        text.push_str(&format!("tls {{\n  cert_file: {}\n  key_file: {}\n", place(cert)?, place(key)?));
        if let Some(cacert) = &args.cacert {
            text.push_str(&format!("  ca_file: {}\n  verify: true\n", place(Path::new(cacert))?));
        }
        text.push_str("}\n");
    }
    Ok(text)
}

fn not_set_up(error: &std::io::Error, language: Language) -> (String, Exit) {
    let otherwise = ("check its folder, who may write there, and the room", "请检查其目录、写入权限和磁盘空间");
    let why = report::system_fault(&error.to_string(), Doing::Write, otherwise, language);
    let text = language.pick(format!("the bus cannot be set up: {why}"), format!("无法准备总线：{why}"));
    (text, Exit::System)
}

/// The server process; it ends with the value.
struct Server {
    child: Child,
    log: PathBuf,
}

impl Server {
    /// A server with the passwords in its data folder, or new ones; its configuration and its log are in a folder of
    /// its own.
    fn with_passwords(
        args: &BusArgs,
        listen: SocketAddr,
        (own, kept): (&Path, &Path),
    ) -> Result<(Self, Passwords), std::io::Error> {
        let passwords = Passwords::read(kept)?;
        let config = own.join("nats.conf");
        let text = config_of(args, listen, kept, &passwords)?;
        secret_file(&config)?.write_all(text.as_bytes())?;
        Ok((Self::start(&config, &own.join("log"))?, passwords))
    }

    fn start(config: &Path, log: &Path) -> Result<Self, std::io::Error> {
        let output = secret_file(log)?;
        let mut command = Command::new(SERVER);
        command.arg("--config").arg(config).stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
        // We end it when it is not needed any more: a Ctrl-C of the terminal is not for it.
        command.process_group(0);
        Ok(Self { child: command.spawn()?, log: log.to_owned() })
    }

    /// Why it has ended, if it has.
    fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        if status.signal().is_some() {
            // Its log has no reason.
            return Some(status.to_string());
        }
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        let last = log.lines().rev().find(|line| line.contains("[FTL]") || line.contains("[ERR]"));
        // Before the message, a log line has the time and the source.
        let last =
            last.or_else(|| log.lines().next_back()).map(|line| line.rsplit_once("] ").map_or(line, |(_, text)| text));
        Some(last.map_or_else(|| status.to_string(), |last| last.trim().to_owned()))
    }

    fn listens(
        &mut self,
        listen: SocketAddr,
        requested: &StopRequest,
        language: Language,
    ) -> Result<(), (String, Exit)> {
        let since = Instant::now();
        let mut to = listen;
        if to.ip().is_unspecified() {
            to.set_ip(if to.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { std::net::Ipv6Addr::LOCALHOST.into() });
        }
        while since.elapsed() < LISTENS_WITHIN {
            if requested.is_requested() {
                return Ok(());
            }
            if let Some(reason) = self.ended() {
                return Err((gone(&reason, language), Exit::System));
            }
            if TcpStream::connect_timeout(&to, POLL_INTERVAL).is_ok() {
                return Ok(());
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        let within = LISTENS_WITHIN.as_secs();
        let text = language.pick(
            format!("{SERVER} does not listen on {listen} after {within} s"),
            format!("{within} 秒后 {SERVER} 仍未监听 {listen}"),
        );
        Err((text, Exit::System))
    }

    /// Stops it gracefully, so that it writes its data before it ends.
    fn end(&mut self) {
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let since = Instant::now();
        while since.elapsed() < ENDS_WITHIN && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn gone(reason: &str, language: Language) -> String {
    language.pick(format!("{SERVER} has ended: {reason}"), format!("{SERVER} 已退出：{}", report::in_chinese(reason)))
}

/// The cluster name of the workers of this bus.
fn name_of(args: &BusArgs) -> &str {
    args.name.as_deref().unwrap_or(NAME_DEFAULT)
}

/// Prints the commands for workers and the leader.
fn say(args: &BusArgs, listen: SocketAddr, passwords: &Passwords, language: Language) {
    let host = if args.cert.is_some() { name_of_host() } else { address_of_host(listen) };
    let (scheme, files) = match (&args.cert, &args.cacert) {
        (None, _) => ("nats", ""),
        (Some(_), None) => ("tls", ""),
        (Some(_), Some(_)) => ("tls", "?cert=FILE&key=FILE"),
    };
    let (name, port) = (name_of(args), listen.port());
    let bus = |user: &str, password: &str| format!("'{scheme}://{user}:{password}@{host}:{port}/{name}{files}'");
    let (join, lead) = (bus(WORKER, &passwords.worker), bus(USER, &passwords.leader));
    let text = language.pick(
        format!(
            "On each machine that makes load:  onrush worker --join {join}\nWhere it is led:                  onrush --cluster {lead} --workers N URL\nCtrl-C ends the bus."
        ),
        format!(
            "在每台压测机上：  onrush worker --join {join}\n在主控机器上：  onrush --cluster {lead} --workers N URL\n按 Ctrl-C 结束总线。"
        ),
    );
    // A bus is of use without a reader of this.
    output::write_stdout(&format!("{text}\n"), language);
}

/// The host name, as in a certificate.
fn name_of_host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "HOST".to_owned(), |name| name.trim().to_owned())
}

/// The address where other machines reach it: an address of this machine if it listens on all. No packet is sent for
/// that.
fn address_of_host(listen: SocketAddr) -> String {
    let own = || {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
        socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9)).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    match listen.ip() {
        ip if ip.is_unspecified() => own().unwrap_or(Ipv4Addr::LOCALHOST.into()).to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
        ip => ip.to_string(),
    }
}
