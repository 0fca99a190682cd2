//! One cell: the server, the binary under load, and what is done to it.

use std::collections::HashMap;
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::cells::{AGAIN, Cell, End, GRACE, MIDDLE, STOP};
use crate::cores;
use crate::log::Books;
use crate::server::Server;
use crate::stopping::Stopped;

/// Longer than any plan with its timeouts and its grace.
const RUN_MAX: Duration = Duration::from_secs(40);
/// How often the threads of the client are looked at.
const LOOK: Duration = Duration::from_millis(10);
/// A thread that was ready and had no core for this share of the run was disturbed by others.
const STARVED_SHARE_MAX: f64 = 0.02;
/// And so was one that waited so long at a time, or one of ours that woke so much later than it had asked for.
const HICCUP_MAX: Duration = Duration::from_millis(2);

/// What came of it.
pub(crate) struct Ran {
    pub(crate) cell: Cell,
    pub(crate) report: Value,
    pub(crate) code: Option<i32>,
    pub(crate) errors: String,
    pub(crate) spawned: Instant,
    pub(crate) exited: Instant,
    /// When the signal of Ctrl-C, the last of them, had been sent.
    pub(crate) signalled: Option<Instant>,
    pub(crate) books: Books,
    /// Others took cores that the client was ready to run on: its verdict may say so.
    pub(crate) was_disturbed: bool,
    /// How late the kernel, the server and the test may have been in all.
    pub(crate) disturbance: Duration,
}

impl Ran {
    /// A count of the report; a missing one is none.
    pub(crate) fn count(&self, path: &str) -> u64 {
        self.report.pointer(path).and_then(Value::as_u64).unwrap_or(0)
    }

    pub(crate) fn number(&self, path: &str) -> f64 {
        self.report.pointer(path).and_then(Value::as_f64).unwrap_or(0.0)
    }

    pub(crate) fn requests(&self, name: &str) -> u64 {
        self.count(&format!("/requests/{name}"))
    }

    /// No stall of the machine was as long as the graces and timeouts of the plan.
    pub(crate) fn is_calm(&self) -> bool {
        self.disturbance < GRACE / 2
    }

    /// Exchanges that failed for this reason.
    pub(crate) fn failed_by(&self, reason: &str) -> u64 {
        let failures = self.report["failures"].as_array().into_iter().flatten();
        failures.filter(|failure| failure["reason"] == reason).filter_map(|failure| failure["count"].as_u64()).sum()
    }

    pub(crate) fn wall(&self) -> Duration {
        Duration::try_from_secs_f64(self.number("/wall_s")).unwrap_or_default()
    }

    /// The end of the run as the report has it, or earlier: the run began after the process did.
    pub(crate) fn ended_after(&self) -> Instant {
        self.spawned + self.wall()
    }
}

fn program() -> PathBuf {
    std::env::var_os("ONRUSH_BINARY").map_or_else(|| env!("CARGO_BIN_EXE_onrush").into(), PathBuf::from)
}

/// A file of this cell alone; it is left behind for whoever looks at a failure.
fn file_of(cell: &Cell, end: &str) -> PathBuf {
    let name = format!("books-{}.{end}", cell.to_string().replace('/', "-"));
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A port where nobody listens: no listener that takes any port gets it as long as ours holds it.
fn closed_port() -> (TcpListener, String) {
    let held = rustix::net::socket(rustix::net::AddressFamily::INET, rustix::net::SocketType::STREAM, None);
    let held = held.expect("a socket");
    let any = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    rustix::net::bind(&held, &any).expect("a port");
    // It is bound and never listens.
    let held = TcpListener::from(held);
    let address = held.local_addr().expect("an address").to_string();
    (held, address)
}

pub(crate) fn run(cell: Cell) -> Ran {
    let is_hopeless = cell.end == End::Hopeless;
    let server = (!is_hopeless).then(|| Server::start(cell.script()));
    let (_held, nobody) = closed_port();
    let address = server.as_ref().map_or(nobody, |server| server.address.to_string());
    let steps = file_of(&cell, "curl");
    if cell.load.has_steps() {
        let lines = ["a", "b", "c"].map(|path| format!("curl 'http://{address}/{path}'\n")).concat();
        std::fs::write(&steps, lines).expect("a file");
    }
    let [out, err] = ["json", "err"].map(|end| file_of(&cell, end));
    let mut command = Command::new(program());
    command.args(cell.words(&address, &steps.to_string_lossy()));
    command.env_remove("LC_ALL").env_remove("LC_MESSAGES").env("LANG", "C.UTF-8").stdin(Stdio::null());
    command.stdout(File::create(&out).expect("a file")).stderr(File::create(&err).expect("a file"));
    let spawned = Instant::now();
    let mut child = command.spawn().expect("the binary starts");
    let mut watch = Watch::new(&child);
    let mut signalled = None;
    if let Some(server) = &server {
        while server.begun.get().is_none() && watch.look(&mut child).is_none() {}
        if let Some(begun) = server.begun.get() {
            watch.until(&mut child, *begun + MIDDLE);
            signalled = disturb(cell.end, &mut child, &mut watch);
        }
    }
    let code = loop {
        if let Some(status) = watch.look(&mut child) {
            break status.code();
        }
        if spawned.elapsed() > RUN_MAX {
            child.kill().expect("it runs");
            child.wait().expect("it ends");
            break None;
        }
    };
    let exited = Instant::now();
    let books = server.map(Server::finish).unwrap_or_default();
    let report = std::fs::read(&out).expect("a file");
    let report = serde_json::from_slice(&report).unwrap_or(Value::Null);
    let errors = std::fs::read_to_string(&err).unwrap_or_default();
    let run = exited.duration_since(spawned).as_secs_f64();
    let away = cores::latest_between(spawned, exited);
    let hiccup = away.max(watch.overslept).max(books.slowest_turn).max(Duration::from_secs_f64(watch.starved_most_s));
    let was_disturbed = watch.starved_s > STARVED_SHARE_MAX * run || hiccup > HICCUP_MAX;
    let disturbance = Duration::from_secs_f64(watch.starved_s) + away + watch.overslept + books.slowest_turn;
    Ran { cell, report, code, errors, spawned, exited, signalled, books, was_disturbed, disturbance }
}

/// What is done to the client in the middle of its run.
fn disturb(end: End, child: &mut Child, watch: &mut Watch) -> Option<Instant> {
    let pid = i32::try_from(child.id()).expect("a process");
    let pid = rustix::process::Pid::from_raw(pid).expect("a process");
    let signal = |signal| rustix::process::kill_process(pid, signal).expect("it runs");
    match end {
        End::CtrlC => {
            signal(rustix::process::Signal::INT);
            return Some(Instant::now());
        }
        End::CtrlCTwice => {
            signal(rustix::process::Signal::INT);
            watch.until(child, Instant::now() + AGAIN);
            signal(rustix::process::Signal::INT);
            return Some(Instant::now());
        }
        End::WholeStopped => {
            signal(rustix::process::Signal::STOP);
            watch.until(child, Instant::now() + STOP);
            signal(rustix::process::Signal::CONT);
        }
        End::ThreadStopped => {
            let thread = watch.threads().find(|(_, name)| name == "shard-0" || name == "hold-0");
            let thread = thread.expect("a thread that makes the load").0;
            let stopped = Stopped::stop(thread).expect("it is our child");
            watch.until(child, Instant::now() + STOP);
            drop(stopped);
        }
        _ => {}
    }
    None
}

/// How much the machine kept from the client, by the kernel's account, and from us, by our own clock.
struct Watch {
    tasks: PathBuf,
    /// Of the thread that was ready without a core for longest.
    starved_s: f64,
    /// The most between two looks, of any thread.
    starved_most_s: f64,
    /// Of each thread, as it was at the last look.
    accounts: HashMap<i32, f64>,
    overslept: Duration,
}

impl Watch {
    fn new(child: &Child) -> Self {
        Self {
            tasks: format!("/proc/{}/task", child.id()).into(),
            starved_s: 0.0,
            starved_most_s: 0.0,
            accounts: HashMap::new(),
            overslept: Duration::ZERO,
        }
    }

    fn threads(&self) -> impl Iterator<Item = (i32, String)> + use<> {
        let entries = std::fs::read_dir(&self.tasks).into_iter().flatten().flatten();
        entries.filter_map(|entry| {
            let name = std::fs::read_to_string(entry.path().join("comm")).ok()?;
            Some((entry.file_name().to_str()?.parse().ok()?, name.trim().to_owned()))
        })
    }

    /// Waits a little; the status when the client has ended.
    fn look(&mut self, child: &mut Child) -> Option<std::process::ExitStatus> {
        let threads: Vec<i32> = self.threads().map(|(thread, _)| thread).collect();
        for thread in threads {
            let account = std::fs::read_to_string(self.tasks.join(format!("{thread}/schedstat"))).unwrap_or_default();
            let ready_ns: f64 = account.split_whitespace().nth(1).and_then(|ns| ns.parse().ok()).unwrap_or(0.0);
            let ready_s = ready_ns / 1e9;
            let before_s = self.accounts.insert(thread, ready_s).unwrap_or(0.0);
            self.starved_most_s = self.starved_most_s.max(ready_s - before_s);
            self.starved_s = self.starved_s.max(ready_s);
        }
        let begun = Instant::now();
        std::thread::sleep(LOOK);
        self.overslept = self.overslept.max(begun.elapsed().saturating_sub(LOOK));
        child.try_wait().expect("a child")
    }

    fn until(&mut self, child: &mut Child, instant: Instant) {
        while Instant::now() < instant && self.look(child).is_none() {}
    }
}
