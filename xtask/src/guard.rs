//! However the suite ends, all processes that it started are ended. There are three processes: the called one holds a
//! pipe to the guard; the guard runs the suite. Both of them adopt orphans (they are subreapers), so whichever of the
//! three is killed, another one ends the rest. A left-over process is reported, and is an error.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper};

use crate::{Failure, processes};

/// Time of left-over processes between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
/// Time after which processes that cannot be killed, such as those of another user, are left.
const GIVEN_UP: Duration = Duration::from_secs(30);
/// Polling interval for left-over processes.
const LOOK: Duration = Duration::from_millis(20);
/// Signals that end the suite in order.
const ENDING: [i32; 3] = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP];

/// Runs an xtask command under a guard. It has a process group of its own, so that Ctrl-C reaches only the caller,
/// which forwards it.
pub(crate) fn run(words: &[&str]) -> Result<(), Failure> {
    inherit_orphans()?;
    let mut guard = ours("guard", words, Stdio::piped())?;
    let pipe: Arc<Mutex<Option<ChildStdin>>> = Arc::new(Mutex::new(guard.stdin.take()));
    let for_signals = pipe.clone();
    let mut signals = signal_hook::iterator::Signals::new(ENDING).map_err(|error| format!("signals: {error}"))?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            // The guard treats a closed pipe as the end.
            if for_signals.lock().expect("no thread panics").take().is_none() {
                // At a second signal we do not wait: the guard goes on without us.
                std::process::exit(128 + signal);
            }
        }
    });
    let status = await_child(&guard)?;
    // The guard has ended the processes that it knew; if it was killed, we end the rest.
    let left = end_descendants();
    drop(pipe);
    if !left.is_empty() {
        return Err(format!("the guard ended with {}; these were ended:\n{}", said(status), left.join("\n")));
    }
    // The failure was already reported where it occurred.
    if status.success() { Ok(()) } else { Err(format!("the suite ended with {}", said(status))) }
}

/// The guard itself: runs the suite until it or its caller ends.
pub(crate) fn guard(words: &[&str]) -> Result<(), Failure> {
    inherit_orphans()?;
    let suite = ours("suite", words, Stdio::null())?;
    let suite_pid = Pid::from_child(&suite);
    let is_abandoned = Arc::new(AtomicBool::new(false));
    let mark = is_abandoned.clone();
    std::thread::spawn(move || {
        let mut nothing = [0; 1];
        // Nothing is ever written: a read ends when the caller has closed the pipe, or is gone.
        while matches!(std::io::stdin().read(&mut nothing), Ok(1..)) {}
        mark.store(true, Ordering::Relaxed);
        for signal in [Signal::TERM, Signal::CONT] {
            // It may have ended by itself.
            let _ = kill_process(suite_pid, signal);
        }
    });
    let status = await_child(&suite)?;
    let left = end_descendants();
    if is_abandoned.load(Ordering::Relaxed) {
        return Err(format!("stopped; {} processes of the suite were ended", left.len()));
    }
    if status.signal().is_some() {
        return Err(format!("the suite was ended by {}; with it were ended:\n{}", said(status), left.join("\n")));
    }
    if !left.is_empty() {
        return Err(format!("{}; left behind by tests, and ended now:\n{}", said(status), left.join("\n")));
    }
    if status.success() { Ok(()) } else { Err(format!("tests: {}", said(status))) }
}

fn inherit_orphans() -> Result<(), Failure> {
    set_child_subreaper(Some(getpid())).map_err(|error| format!("this process cannot inherit orphans: {error}"))
}

fn ours(verb: &str, words: &[&str], stdin: Stdio) -> Result<Child, Failure> {
    let program = std::env::current_exe().map_err(|error| format!("our own program: {error}"))?;
    let mut command = Command::new(program);
    command.arg(verb).args(words).stdin(stdin).process_group(0).envs(caches());
    command.spawn().map_err(|error| format!("{command:?} does not start: {error}"))
}

/// The caches of other programs, which would be under HOME: of builds by Go, of pip and of the browser; and of npm.
fn caches() -> impl Iterator<Item = (&'static str, PathBuf)> {
    let folder = crate::root().join("target/cache");
    let all = [("XDG_CACHE_HOME", folder.clone()), ("npm_config_cache", folder.join("npm-packages"))];
    // Where they are set, their place was chosen.
    all.into_iter().filter(|(name, _)| std::env::var_os(name).is_none())
}

fn said(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => format!("signal {signal}"),
        None => format!("exit code {}", status.code().unwrap_or_default()),
    }
}

/// Waits for one child, and reaps adopted ones meanwhile.
fn await_child(child: &Child) -> Result<ExitStatus, Failure> {
    let wanted = Pid::from_child(child);
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == wanted => return Ok(ExitStatus::from_raw(status.as_raw())),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(format!("waiting for the suite: {error}")),
        }
    }
}

/// Ends all descendants of this process, and removes their network namespaces; returns a line for each.
fn end_descendants() -> Vec<String> {
    let mut named = end_processes();
    named.extend(remove_networks());
    named
}

/// Removes the network namespaces of processes that are gone. Those of tests have the process number in their name:
/// `onrush123x0`, `onrush123x0-1`.
fn remove_networks() -> Vec<String> {
    let entries = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_left = |name: &String| {
        let number = name.strip_prefix("onrush").and_then(|rest| rest.split_once('x')).map(|(number, _)| number);
        number.is_some_and(|number| number.parse::<u32>().is_ok() && !Path::new("/proc").join(number).exists())
    };
    let left: Vec<String> = names.filter(is_left).collect();
    // Another run of the suite may have removed it, and other users are not permitted to.
    let remove = |name: &String| Command::new("ip").args(["netns", "delete", name]).stderr(Stdio::null()).status();
    let removed = left.into_iter().filter(|name| remove(name).is_ok_and(|status| status.success()));
    removed.map(|name| format!("  network {name}")).collect()
}

fn end_processes() -> Vec<String> {
    let (begun, mut named) = (Instant::now(), std::collections::BTreeMap::new());
    loop {
        // Reaps the ended ones.
        while matches!(rustix::process::wait(WaitOptions::NOHANG), Ok(Some(_))) {}
        let alive = processes::descendants(getpid().as_raw_pid());
        if alive.is_empty() {
            return named.into_values().collect();
        }
        if begun.elapsed() > GIVEN_UP {
            return named.into_values().map(|line: String| line + ", which still runs").collect();
        }
        let is_late = begun.elapsed() > GRACE;
        for process in alive {
            let is_new = !named.contains_key(&process.pid);
            // Named before it ends: afterwards there is nothing left to read.
            named.entry(process.pid).or_insert_with(|| process.reported());
            if let Some(pid) = Pid::from_raw(process.pid)
                && (is_new || is_late)
            {
                // A stopped process handles SIGTERM only after SIGCONT.
                for signal in if is_late { &[Signal::KILL][..] } else { &[Signal::TERM, Signal::CONT] } {
                    // It may have ended in between.
                    let _ = kill_process(pid, *signal);
                }
            }
        }
        std::thread::sleep(LOOK);
    }
}
