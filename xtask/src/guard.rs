//! However the suite ends, all that it started ends. Three processes: the one that was called holds a pipe to the guard; the guard runs
//! the suite. Both of them inherit what loses its parent (they are subreapers), so whichever of the three is killed, another one ends
//! the rest. What was left behind is named, and is an error.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper};

use crate::{Failure, processes};

/// What is left has so much time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
/// What nobody can end, as that of another user, is left after this.
const GIVEN_UP: Duration = Duration::from_secs(30);
/// Between two looks at what is left.
const LOOK: Duration = Duration::from_millis(20);
/// Signals that end the suite in order.
const ENDING: [i32; 3] = [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP];

/// Runs a verb of ours under a guard. In a process group of its own, so that Ctrl-C reaches only the caller, who tells it.
pub(crate) fn run(words: &[&str]) -> Result<(), Failure> {
    inherit_orphans()?;
    let mut guard = ours("guard", words, Stdio::piped())?;
    let pipe: Arc<Mutex<Option<ChildStdin>>> = Arc::new(Mutex::new(guard.stdin.take()));
    let for_signals = pipe.clone();
    let mut signals = signal_hook::iterator::Signals::new(ENDING).map_err(|error| format!("signals: {error}"))?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            // The guard takes a closed pipe for the end of all.
            if for_signals.lock().expect("no thread panics").take().is_none() {
                // Who asks again waits no longer: the guard goes on without us.
                std::process::exit(128 + signal);
            }
        }
    });
    let status = await_child(&guard)?;
    // The guard has ended what it knew; when it was killed, the rest is ours.
    let left = end_descendants();
    drop(pipe);
    if !left.is_empty() {
        return Err(format!("the guard ended with {}; these were ended:\n{}", said(status), left.join("\n")));
    }
    // What failed was told by whoever saw it.
    if status.success() { Ok(()) } else { Err(format!("the suite ended with {}", said(status))) }
}

/// The guard itself: runs the suite, until that or its caller ends.
pub(crate) fn guard(words: &[&str]) -> Result<(), Failure> {
    inherit_orphans()?;
    let suite = ours("suite", words, Stdio::null())?;
    let suite_pid = Pid::from_child(&suite);
    let is_abandoned = Arc::new(AtomicBool::new(false));
    let mark = is_abandoned.clone();
    std::thread::spawn(move || {
        let mut nothing = [0; 1];
        // Nobody writes: a read ends when the caller has closed the pipe, or is gone.
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
    command.arg(verb).args(words).stdin(stdin).process_group(0);
    command.spawn().map_err(|error| format!("{command:?} does not start: {error}"))
}

fn said(status: ExitStatus) -> String {
    match status.signal() {
        Some(signal) => format!("signal {signal}"),
        None => format!("exit code {}", status.code().unwrap_or_default()),
    }
}

/// Waits for one child, and takes leave of those that were inherited on the way.
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

/// Ends all that descends from this process, and removes their networks; gives a line for each.
fn end_descendants() -> Vec<String> {
    let mut named = end_processes();
    named.extend(remove_networks());
    named
}

/// Networks of tests have the number of their process in their name: `onrush123x0`, `onrush123x0-1`. Those of processes that are gone.
fn remove_networks() -> Vec<String> {
    let entries = std::fs::read_dir("/run/netns").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_left = |name: &String| {
        let number = name.strip_prefix("onrush").and_then(|rest| rest.split_once('x')).map(|(number, _)| number);
        number.is_some_and(|number| number.parse::<u32>().is_ok() && !Path::new("/proc").join(number).exists())
    };
    let left: Vec<String> = names.filter(is_left).collect();
    // Another run of the suite may have done it, and others may not.
    let remove = |name: &String| Command::new("ip").args(["netns", "delete", name]).stderr(Stdio::null()).status();
    let removed = left.into_iter().filter(|name| remove(name).is_ok_and(|status| status.success()));
    removed.map(|name| format!("  network {name}")).collect()
}

fn end_processes() -> Vec<String> {
    let (begun, mut named) = (Instant::now(), std::collections::BTreeMap::new());
    loop {
        // Those that have ended wait to be taken leave of.
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
            // Before it ends: then there is nothing to read any more.
            named.entry(process.pid).or_insert_with(|| process.reported());
            if let Some(pid) = Pid::from_raw(process.pid)
                && (is_new || is_late)
            {
                // A process that is stopped takes SIGTERM only when it goes on.
                for signal in if is_late { &[Signal::KILL][..] } else { &[Signal::TERM, Signal::CONT] } {
                    // It may have ended in between.
                    let _ = kill_process(pid, *signal);
                }
            }
        }
        std::thread::sleep(LOOK);
    }
}
