//! One cell: the server, the binary under load, and the events of its run.

use std::fs::File;
use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::cells::{Cell, End, STEPS, STOP, TIMEOUT, USERS};
use crate::log::Books;
use crate::seen::wait_for;
use crate::server::Server;
use crate::stopping::{Stopped, let_pass};

/// The result of a cell.
pub(crate) struct Ran {
    pub(crate) cell: Cell,
    pub(crate) report: Value,
    pub(crate) code: Option<i32>,
    pub(crate) errors: String,
    pub(crate) spawned: Instant,
    pub(crate) exited: Instant,
    pub(crate) books: Books,
}

impl Ran {
    /// A count of the report; 0 if missing.
    pub(crate) fn count(&self, path: &str) -> u64 {
        self.report.pointer(path).and_then(Value::as_u64).unwrap_or(0)
    }

    pub(crate) fn number(&self, path: &str) -> f64 {
        self.report.pointer(path).and_then(Value::as_f64).unwrap_or(0.0)
    }

    pub(crate) fn requests(&self, name: &str) -> u64 {
        self.count(&format!("/requests/{name}"))
    }

    /// Exchanges that failed for this reason.
    pub(crate) fn failed_by(&self, reason: &str) -> u64 {
        let failures = self.report["failures"].as_array().into_iter().flatten();
        failures.filter(|failure| failure["reason"] == reason).filter_map(|failure| failure["count"].as_u64()).sum()
    }

    /// The end of the run by the report, or earlier: the run began after the process did.
    pub(crate) fn ended_after(&self) -> Instant {
        self.spawned + Duration::try_from_secs_f64(self.number("/wall_s")).unwrap_or_default()
    }
}

fn program() -> PathBuf {
    std::env::var_os("ONRUSH_BINARY").map_or_else(|| env!("CARGO_BIN_EXE_onrush").into(), PathBuf::from)
}

/// A file of this cell, in this test, alone; it is kept for the analysis of a failure.
fn file_of(cell: &Cell, end: &str) -> PathBuf {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("books").replace("::", "-");
    let name = format!("{test}-{}.{end}", cell.to_string().replace('/', "-"));
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A port without a listener: no other listener gets it as long as ours holds it.
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
    let is_failing = cell.end == End::TooManyFailures;
    let server = (!is_failing).then(|| Server::start(cell.script()));
    let (_held, nobody) = closed_port();
    let address = server.as_ref().map_or(nobody, |server| server.address.to_string());
    let steps = file_of(&cell, "curl");
    if cell.load.has_steps() {
        let lines = ["a", "b", "c"].map(|path| format!("curl 'http://{address}/{path}'\n")).concat();
        std::fs::write(&steps, lines).expect("a file");
    }
    let [json, out, err] = ["json", "out", "err"].map(|end| file_of(&cell, end));
    // Output of an earlier run says nothing of this one.
    let _ = std::fs::remove_file(&json);
    let mut command = Command::new(program());
    command.args(cell.words(&address, &steps.to_string_lossy(), &json.to_string_lossy()));
    command.env_remove("LC_ALL").env_remove("LC_MESSAGES").env("LANG", "C.UTF-8").stdin(Stdio::null());
    command.stdout(File::create(&out).expect("a file")).stderr(File::create(&err).expect("a file"));
    if cell.end == End::WholeStopped {
        // A signal that stops and continues all of our group would end our own stop.
        command.process_group(0);
    }
    let spawned = Instant::now();
    let mut client = Client { child: command.spawn().expect("the binary starts"), rows: out, errors: err, code: None };
    if let Some(server) = &server {
        client.wait_until(&format!("{cell}: requests come"), || server.came() >= cell.middle());
        client.disturb(cell.end);
        client.feel(&cell, server);
        if cell.end.is_by_signal() && cell.end != End::CtrlCTwice {
            client.signal(Signal::INT);
        }
    }
    client.wait_until(&format!("{cell}: the run ends"), || false);
    let exited = Instant::now();
    let books = server.map(Server::finish).unwrap_or_default();
    // A run that ended too early has written none.
    let report = std::fs::read(&json).unwrap_or_default();
    let report = serde_json::from_slice(&report).unwrap_or(Value::Null);
    let errors = client.errors();
    Ran { cell, report, code: client.code.flatten(), errors, spawned, exited, books }
}

/// The binary under load.
struct Client {
    child: Child,
    /// The file of its table.
    rows: PathBuf,
    /// The file of its stderr.
    errors: PathBuf,
    /// Its exit code, once it has ended.
    code: Option<Option<i32>>,
}

impl Client {
    fn errors(&self) -> String {
        std::fs::read_to_string(&self.errors).unwrap_or_default()
    }

    /// Waits until a condition holds, or it has ended.
    fn wait_until(&mut self, what: &str, mut holds: impl FnMut() -> bool) {
        wait_for(what, || {
            self.code = self.code.or_else(|| self.child.try_wait().expect("a child").map(|status| status.code()));
            self.code.is_some() || holds()
        });
    }

    fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a process")
    }

    /// It may have ended by itself, which other checks report.
    fn signal(&self, signal: Signal) {
        let process = rustix::process::Pid::from_raw(self.pid()).expect("a process");
        let _ = rustix::process::kill_process(process, signal);
    }

    /// Causes the event in the middle of its run.
    fn disturb(&mut self, end: End) {
        let pid = self.pid();
        match end {
            End::CtrlCTwice => {
                self.signal(Signal::INT);
                // Two pending signals of a kind are merged into one.
                let errors = self.errors.clone();
                let has_server_text =
                    || std::fs::read_to_string(&errors).is_ok_and(|said| said.contains("Ctrl-C again"));
                self.wait_until("it says that it has heard Ctrl-C", has_server_text);
                self.signal(Signal::INT);
            }
            End::WholeStopped => {
                self.signal(Signal::STOP);
                self.wait_until("all of its threads stand still", || threads(pid).all(|(_, _, state)| state == 'T'));
                let_pass(STOP);
                let before = sleeps(pid);
                self.signal(Signal::CONT);
                self.wait_until("its threads go on", || have_slept_again(pid, &before));
            }
            End::ThreadStopped => {
                let (thread, ..) =
                    threads(pid).find(|(_, name, _)| is_first(name)).expect("a thread that makes the load");
                let stopped = Stopped::stop(thread).expect("it is our child");
                let_pass(STOP);
                let before = sleeps(pid);
                drop(stopped);
                self.wait_until("its threads go on", || have_slept_again(pid, &before));
            }
            _ => {}
        }
    }

    /// Waits until the event has an effect, by the records of the server or by its own rows.
    fn feel(&mut self, cell: &Cell, server: &Server) {
        match cell.end {
            End::WholeStopped | End::ThreadStopped => {
                let before = server.came();
                self.wait_until(&format!("{cell}: more comes"), || server.came() >= before + cell.middle());
            }
            // A message without a response loses no connection, and is in no row.
            End::FrozenReading | End::FrozenDeaf if cell.load.is_held() => let_pass(TIMEOUT),
            end if end.is_targets() => {
                let (rows, is_held) = (self.rows.clone(), cell.load.is_held());
                // At this number, at least one of its users has come to the end of its steps.
                let hits = if cell.load.has_steps() { USERS * STEPS } else { USERS };
                // What a target drops may be sent again, and then has not failed.
                let is_dropping = cell.end == End::Drops && !is_held;
                self.wait_until(&format!("{cell}: its users are hit"), || {
                    if is_dropping { server.dropped() >= hits } else { lost(&rows, is_held) >= hits }
                });
            }
            _ => {}
        }
    }
}

/// The failed requests, or lost connections, of the last row of a table.
fn lost(rows: &Path, is_held: bool) -> u64 {
    let text = std::fs::read_to_string(rows).unwrap_or_default();
    let cell = |row: &str| row.split('│').nth(if is_held { 5 } else { 3 })?.trim().replace(',', "").parse().ok();
    text.lines().rev().find_map(cell).unwrap_or(0)
}

impl Drop for Client {
    fn drop(&mut self) {
        // A test that timed out leaves nothing behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether this is the first of the threads that make the load.
fn is_first(name: &str) -> bool {
    name == "shard-0" || name == "hold-0"
}

/// How often the threads that make the load have gone to sleep so far (proc(5)).
fn sleeps(pid: i32) -> Vec<(i32, u64)> {
    let makes_load = |name: &str| name.starts_with("shard-") || name.starts_with("hold-");
    let count = |thread| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/task/{thread}/status")).unwrap_or_default();
        let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
    };
    threads(pid).filter(|(_, name, _)| makes_load(name)).map(|(thread, ..)| (thread, count(thread))).collect()
}

/// Whether each of them has run since then: an interrupted sleep may have continued, the next one comes after its work.
fn have_slept_again(pid: i32, before: &[(i32, u64)]) -> bool {
    let now = sleeps(pid);
    before.iter().all(|(thread, count)| now.iter().any(|(known, now)| known == thread && *now >= count + 2))
}

/// The threads of a process, with their names and states (proc(5): the state follows the name in brackets).
fn threads(pid: i32) -> impl Iterator<Item = (i32, String, char)> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let (before, after) = stat.rsplit_once(") ")?;
        let (_, name) = before.split_once(" (")?;
        Some((entry.file_name().to_str()?.parse().ok()?, name.to_owned(), after.chars().next()?))
    })
}
