//! Workers on other machines, started over ssh. The program is copied there unless it is present already, and the bus
//! is forwarded through the connection: no port is opened, and all traffic is encrypted.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use report::Language;

/// The script that runs there.
const REMOTE: &str = include_str!("remote.sh");
/// Concurrent ssh connections.
const AT_ONCE: usize = 32;
/// The timeout of a silent host.
const SAYS_WITHIN: Duration = Duration::from_secs(30);
/// The time limit of the transfer after all of the program was given to ssh: connections may be slow.
const ARRIVES_WITHIN: Duration = Duration::from_mins(5);
/// The number of attempts when a host closes a connection before it identifies itself, because it has too many.
const TRIES: u32 = 4;
/// The first delay between attempts, which grows.
const TRIES_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// The messages of ssh for such a host.
const TURNED_AWAY: [&str; 2] = ["kex_exchange_identification", "Exceeded MaxStartups"];
/// How long a worker that was started in vain may take to clean up.
const ENDS_WITHIN: Duration = Duration::from_secs(1);
/// The longest line from a host.
const LINE_BYTES_MAX: u64 = 4_096;
/// The most hosts.
pub(super) const HOSTS_MAX: usize = 256;
/// The longest file of hosts.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// The common ssh settings of all hosts.
pub(super) struct SshSetup<'a> {
    /// The ssh command, with flags of its own.
    pub(super) ssh: &'a str,
    /// A bus on a socket of this machine, or one that all reach.
    pub(super) bus: BusAccess<'a>,
    /// Flags of the worker.
    pub(super) flags: Vec<String>,
    /// A unique number.
    pub(super) number: u64,
}

/// How a worker reaches the bus.
pub(super) enum BusAccess<'a> {
    Socket(&'a Path),
    Away(&'a str),
}

/// A worker that was started from here; behind ssh it ends when its input does.
#[derive(Debug)]
pub(super) struct RemoteWorker {
    pub(super) child: Child,
    pub(super) name: String,
    /// Its last error message.
    pub(super) last_words: Arc<Mutex<String>>,
}

/// Why there is no worker on a host.
pub(super) struct Failed {
    host: String,
    why: Why,
}

enum Why {
    Silent(Duration),
    Foreign(String),
    Said(String),
}

impl Failed {
    /// The error message; `ssh`: the command.
    pub(super) fn said(&self, ssh: &str, language: Language) -> String {
        let host = &self.host;
        match &self.why {
            Why::Silent(within) => language.pick(
                format!("{host} does not answer within {}s; does '{ssh} {host} true' work?", within.as_secs()),
                format!("{host} 在 {}s 内没有响应；'{ssh} {host} true' 可以执行吗？", within.as_secs()),
            ),
            Why::Foreign(kind) => {
                let ours = std::env::consts::ARCH;
                language.pick(
                    format!("{host} is {kind}, and this onrush is for Linux {ours}; start a worker there by hand, on a bus (--cluster)"),
                    format!("{host} 是 {kind}，而此 onrush 适用于 Linux {ours}；请在该机上手动启动工作进程并使用总线（--cluster）"),
                )
            }
            Why::Said(reason) => language.pick(
                format!("no worker on {host}: {reason}; does '{ssh} {host} true' work?"),
                format!("{host} 上无法启动工作进程：{}；'{ssh} {host} true' 可以执行吗？", report::in_chinese(reason)),
            ),
        }
    }
}

/// The given hosts: a list, or `@FILE` with one in each line.
pub(super) fn hosts(given: &str, language: Language) -> Result<Vec<String>, String> {
    let text = match given.strip_prefix('@') {
        None => given.replace(',', "\n"),
        Some(path) => {
            let read = || -> Result<String, std::io::Error> {
                let mut text = String::new();
                let file = std::fs::File::open(path)?;
                file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
                if text.len() as u64 > FILE_BYTES_MAX { Err(ErrorKind::FileTooLarge.into()) } else { Ok(text) }
            };
            read().map_err(|reason| {
                language.pick(
                    format!("--hosts @{path}: {reason}; it is a file with a host in each line"),
                    format!("--hosts @{path}：{}；文件中应每行一个主机", report::in_chinese(&reason.to_string())),
                )
            })?
        }
    };
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let hosts: Vec<String> = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
    // A name that ssh would take for a flag is no host.
    let is_fit = |host: &&String| !host.starts_with('-') && host.chars().all(|one| one.is_ascii_graphic());
    if let Some(wrong) = hosts.iter().find(|host| !is_fit(host)) {
        return Err(language.pick(
            format!("--hosts: '{wrong}' is no host; write host, user@host or ssh://user@host:port, one in each line"),
            format!("--hosts：'{wrong}' 不是主机；请写成 主机、用户@主机 或 ssh://用户@主机:端口，每行一个"),
        ));
    }
    if hosts.is_empty() || hosts.len() > HOSTS_MAX {
        return Err(language.pick(
            format!("--hosts names {} hosts; it takes 1 to {HOSTS_MAX}, as HOST,HOST or @FILE", hosts.len()),
            format!("--hosts 给出了 {} 个主机；可为 1 到 {HOSTS_MAX} 个，写成 HOST,HOST 或 @FILE", hosts.len()),
        ));
    }
    Ok(hosts)
}

/// Starts a worker on each host, several at a time. When one cannot be started, none is.
pub(super) fn start(hosts: &[String], journey: &SshSetup<'_>) -> Result<Vec<RemoteWorker>, Failed> {
    let failed =
        |host: &String, reason: std::io::Error| Failed { host: host.clone(), why: Why::Said(reason.to_string()) };
    let own = std::env::current_exe().and_then(std::fs::read).map_err(|reason| failed(&hosts[0], reason))?;
    let program = Program { bytes: &own, hash: cluster::encoding::hash_of(&own) };
    let (next, begun) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..hosts.len().min(AT_ONCE) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(host) = hosts.get(place) else { return };
                    let one = arrive(host, place, journey, &program);
                    // Hosts that are not contacted yet are skipped.
                    if one.is_err() {
                        next.store(hosts.len(), Ordering::Relaxed);
                    }
                    begun.lock().expect("no holder of the lock panics").push((place, one));
                }
            });
        }
    });
    let mut begun = begun.into_inner().expect("no holder of the lock panics");
    begun.sort_by_key(|(place, _)| *place);
    let (mut started, mut why) = (Vec::new(), None);
    for (_, one) in begun {
        match one {
            Ok(remote) => started.push(remote),
            Err(failed) => why = why.or(Some(failed)),
        }
    }
    match why {
        None => Ok(started),
        Some(failed) => {
            end(started, ENDS_WITHIN);
            Err(failed)
        }
    }
}

/// Ends all of them concurrently; those still running after this time are killed.
pub(super) fn end(mut all: Vec<RemoteWorker>, within: Duration) {
    all.iter_mut().for_each(|one| drop(one.child.stdin.take()));
    let since = Instant::now();
    all.into_iter().for_each(|one| one.end(within.saturating_sub(since.elapsed())));
}

struct Program<'a> {
    bytes: &'a [u8],
    hash: String,
}

/// Starts the worker of one host; one with too many connections is retried.
fn arrive(host: &str, place: usize, journey: &SshSetup<'_>, program: &Program<'_>) -> Result<RemoteWorker, Failed> {
    let mut tried = 1;
    loop {
        match go_to(host, place, journey, program) {
            Err(Failed { why: Why::Said(reason), .. })
                if tried < TRIES && TURNED_AWAY.iter().any(|words| reason.contains(words)) =>
            {
                std::thread::sleep(TRIES_AGAIN_AFTER * tried);
                tried += 1;
            }
            arrived => return arrived,
        }
    }
}

fn go_to(host: &str, place: usize, journey: &SshSetup<'_>, program: &Program<'_>) -> Result<RemoteWorker, Failed> {
    let failed = |why| Failed { host: host.to_owned(), why };
    let io = |reason: std::io::Error| failed(Why::Said(reason.to_string()));
    let mut command = command(host, place, journey, program);
    let mut child = command.spawn().map_err(|reason| {
        let what =
            if reason.kind() == ErrorKind::NotFound { "install ssh (openssh-client)" } else { "ssh does not start" };
        failed(Why::Said(format!("{what}: {reason}")))
    })?;
    let last_words = Arc::new(Mutex::new(String::new()));
    if let Some(complaints) = child.stderr.take() {
        let words = last_words.clone();
        lines(complaints, move |line| *words.lock().expect("no holder of the lock panics") = line).map_err(io)?;
    }
    let (sender, said) = channel();
    if let Some(out) = child.stdout.take() {
        lines(out, move |line| drop(sender.send(line))).map_err(io)?;
    }
    let mut remote = RemoteWorker { child, name: name_of(host), last_words };
    let mut input = remote.child.stdin.take();
    let arrived = converse(&said, input.as_mut(), &journey.bus, program);
    remote.child.stdin = input;
    match arrived {
        Ok(()) => Ok(remote),
        Err(why) => {
            // The process ends, and gives the reason.
            let why = match why {
                Why::Said(reason) => Why::Said(remote.reason().unwrap_or(reason)),
                other => other,
            };
            remote.end(Duration::ZERO);
            Err(failed(why))
        }
    }
}

fn command(host: &str, place: usize, journey: &SshSetup<'_>, program: &Program<'_>) -> Command {
    use std::os::unix::process::CommandExt;
    let mut words = journey.ssh.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("ssh"));
    command.args(words).args(["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]);
    command.args(["-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3"]);
    // A separate connection that ends with the run and forwards no agent.
    command.args(["-o", "ControlMaster=no", "-o", "ControlPath=none", "-o", "ForwardAgent=no", "-o", "ForwardX11=no"]);
    let mut socket = String::new();
    if let BusAccess::Socket(path) = journey.bus {
        socket = format!("/tmp/onrush-{:016x}-{place}", journey.number);
        // Other forwardings of the user may fail; whether this one works is checked on the remote side.
        command.args(["-o", "ExitOnForwardFailure=no", "-R", &format!("{socket}:{}", path.display())]);
    }
    let size = program.bytes.len().to_string();
    let name = format!("--name={}", name_of(host));
    // Some shells accept no line that has several.
    let script = format!("eval \"$(head -c {})\"", REMOTE.len());
    let own = ["sh", "-c", &script, "onrush", &program.hash, &size, &socket, &name];
    let words = own.into_iter().map(str::to_owned).chain(journey.flags.iter().cloned());
    let line: Vec<String> = words.map(|word| quoted(&word)).collect();
    command.arg("--").arg(host).arg(format!("exec {}", line.join(" ")));
    // Ctrl-C is for the leader.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command
}

/// Quotes a word for sh, bash, zsh, fish, csh and tcsh.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A host without a user, for display.
fn name_of(host: &str) -> String {
    let host = host.strip_prefix("ssh://").unwrap_or(host);
    host.rsplit('@').next().unwrap_or(host).to_owned()
}

/// Runs the dialog until the worker runs.
fn converse(
    said: &Receiver<String>,
    input: Option<&mut std::process::ChildStdin>,
    bus: &BusAccess<'_>,
    program: &Program<'_>,
) -> Result<(), Why> {
    use std::sync::mpsc::RecvTimeoutError::{Disconnected, Timeout};
    let Some(input) = input else { return Err(Why::Silent(Duration::ZERO)) };
    let gone = |reason: std::io::Error| Why::Said(reason.to_string());
    let bus = if let BusAccess::Away(bus) = bus { bus } else { "" };
    input.write_all(format!("{REMOTE}{bus}\n").as_bytes()).map_err(gone)?;
    let (mut since, mut within) = (Instant::now(), SAYS_WITHIN);
    loop {
        let line = match said.recv_timeout(within.saturating_sub(since.elapsed())) {
            Ok(line) => line,
            Err(Timeout) => return Err(Why::Silent(within)),
            Err(Disconnected) => return Err(Why::Said("the connection was closed".to_owned())),
        };
        // Other startup output of shells is ignored, however long it is.
        if line == "onrush: runs" {
            return Ok(());
        }
        if let Some(kind) = line.strip_prefix("onrush: wants it for ") {
            let kind = kind.trim();
            if kind != format!("Linux {}", std::env::consts::ARCH) {
                return Err(Why::Foreign(kind.to_owned()));
            }
            input.write_all(program.bytes).and_then(|()| input.flush()).map_err(gone)?;
            (since, within) = (Instant::now(), ARRIVES_WITHIN);
        }
    }
}

/// Lines of an output, each without unprintable characters, on a thread of its own.
fn lines(
    from: impl Read + Send + 'static,
    mut reported: impl FnMut(String) + Send + 'static,
) -> Result<(), std::io::Error> {
    std::thread::Builder::new().name("ssh".to_owned()).spawn(move || {
        let mut from = BufReader::new(from);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut from).take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {
                    let text = String::from_utf8_lossy(&line);
                    let text: String = text.trim().chars().filter(|one| !one.is_control()).collect();
                    // Unneeded lines are read all the same: the writer must not block.
                    if !text.is_empty() {
                        reported(text);
                    }
                }
            }
        }
    })?;
    Ok(())
}

impl RemoteWorker {
    /// A process of this machine.
    pub(super) fn near(child: Child, name: String) -> Self {
        Self { child, name, last_words: Arc::default() }
    }

    /// Why it has ended, if it has.
    pub(super) fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok()??;
        Some(self.complaint().unwrap_or_else(|| format!("it ended ({status})")))
    }

    /// Whether it is on another machine.
    pub(super) fn is_far(&self) -> bool {
        self.child.stdin.is_some()
    }

    /// The reason of its end.
    fn reason(&mut self) -> Option<String> {
        let since = Instant::now();
        while since.elapsed() < Duration::from_secs(1) && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        // Its last message is read soon after.
        std::thread::sleep(Duration::from_millis(50));
        self.complaint()
    }

    /// Its last error message.
    fn complaint(&self) -> Option<String> {
        let words = self.last_words.lock().expect("no holder of the lock panics");
        (!words.is_empty()).then(|| words.clone())
    }

    /// Ends the worker; after this time only the local process is killed.
    fn end(mut self, within: Duration) {
        drop(self.child.stdin.take());
        let since = Instant::now();
        while since.elapsed() < within && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        // A process that is over already cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
