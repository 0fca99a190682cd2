//! Runs tests, each in a process and a process group of its own: its time, its CPU time and its assertion count are its
//! own, a hanging one is ended alone, and left-over processes have its name.

use std::collections::{HashMap, VecDeque};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::programs::{self, Case};
use crate::{Failure, processes};

/// Concurrent tests per core: most of them wait most of the time.
const TESTS_PER_CORE: usize = 3;
/// Time limit after which a test counts as hanging.
pub(crate) const TEST_LIMIT: Duration = Duration::from_secs(15 * 60);
/// The limit of a test with all seeds and inputs.
const LONG_TEST_LIMIT: Duration = Duration::from_secs(60 * 60);
/// More than one, so that a test has a thread with its name.
const TEST_THREADS: &str = "4";

/// The outcome of a test.
pub(crate) struct Outcome {
    pub(crate) case: Case,
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    pub(crate) claims: u64,
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
}

/// The running tests, by their process group.
#[derive(Default)]
pub(crate) struct Running {
    groups: Mutex<HashMap<Pid, (Case, Instant)>>,
    is_over: AtomicBool,
    /// Whether each runs in its longest variant.
    is_long: bool,
    /// Concurrent tests, if not as many as usual.
    lanes: Option<usize>,
}

impl Running {
    /// Of tests in their longest variants, with this number of concurrent ones.
    pub(crate) fn long(lanes: usize) -> Self {
        Self { is_long: true, lanes: Some(lanes), ..Self::default() }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// The process groups of all running tests.
    pub(crate) fn groups(&self) -> Vec<Pid> {
        self.groups.lock().expect("no thread panics").keys().copied().collect()
    }

    /// Sends a signal to a running test: its group cannot belong to another one, since it is not reaped.
    pub(crate) fn signal(&self, pid: Pid, signal: Signal) {
        if self.groups.lock().expect("no thread panics").contains_key(&pid) {
            // It may have ended in between.
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Ends hanging tests, until all are over.
    fn watch(&self) {
        let limit = if self.is_long { LONG_TEST_LIMIT } else { TEST_LIMIT };
        while !self.is_over() {
            std::thread::sleep(Duration::from_millis(100));
            let groups = self.groups.lock().expect("no thread panics");
            for (pid, (case, _)) in groups.iter().filter(|(_, (_, begun))| begun.elapsed() > limit) {
                println!("{} hangs and is ended", case.name());
                let _ = kill_process_group(*pid, Signal::KILL);
            }
        }
    }
}

/// Announces the end when it is dropped, for whatever reason: other threads wait for it.
pub(crate) struct Ending<'a>(pub(crate) &'a Running);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

/// The usual number of concurrent tests.
pub(crate) fn lanes() -> usize {
    TESTS_PER_CORE * std::thread::available_parallelism().map_or(1, usize::from)
}

/// Runs all cases; `each` is called for each outcome.
pub(crate) fn run(
    cases: Vec<Case>,
    running: &Running,
    each: &(dyn Fn(&Outcome) + Sync),
) -> Result<Vec<Outcome>, Failure> {
    let folder = programs::folder()?.join(format!("output-{}", std::process::id()));
    programs::create(&folder)?;
    let queue: VecDeque<(usize, Case)> = cases.into_iter().enumerate().collect();
    let (queue, done) = (Mutex::new(queue), Mutex::new(Vec::new()));
    let lane = || -> Result<(), Failure> {
        let next = || queue.lock().expect("no lane panics").pop_front();
        while let Some((number, case)) = next() {
            let outcome = run_one(case, running, &folder.join(number.to_string()))?;
            each(&outcome);
            done.lock().expect("no lane panics").push(outcome);
        }
        Ok(())
    };
    let ends: Vec<Result<(), Failure>> = std::thread::scope(|scope| {
        let _ending = Ending(running);
        scope.spawn(|| running.watch());
        let lanes: Vec<_> = (0..running.lanes.unwrap_or_else(lanes)).map(|_| scope.spawn(lane)).collect();
        let end = |lane: ScopedJoinHandle<'_, _>| lane.join().unwrap_or_else(|_| Err("a lane panicked".to_owned()));
        lanes.into_iter().map(end).collect()
    });
    ends.into_iter().collect::<Result<(), Failure>>()?;
    std::fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(done.into_inner().expect("no lane panics"))
}

fn run_one(case: Case, running: &Running, files: &Path) -> Result<Outcome, Failure> {
    let (output, claims_file) = (files.with_extension("txt"), files.with_extension("claims"));
    let _ = std::fs::remove_file(&claims_file);
    let mut command = if running.is_long { case.program.long_command() } else { case.program.command() };
    if !case.program.is_whole {
        command.args(["--exact", &case.tests[0]]);
    }
    // To a file: a pipe would stay open as long as any left-over process of the test.
    let file = std::fs::File::create(&output).map_err(|error| format!("{}: {error}", output.display()))?;
    let same = file.try_clone().map_err(|error| format!("{}: {error}", output.display()))?;
    command.env("RUST_TEST_THREADS", TEST_THREADS).env(claims::FILE_VARIABLE, &claims_file);
    command.env(processes::TEST_VARIABLE, case.name()).process_group(0).stdout(file).stderr(same);
    let begun = Instant::now();
    let child = command.spawn().map_err(|error| format!("{} does not start: {error}", case.name()))?;
    let pid = Pid::from_child(&child);
    running.groups.lock().expect("no lane panics").insert(pid, (case.clone(), begun));
    let (cpu, status) = leave(child, running)?;
    let wall = begun.elapsed();
    let said = std::fs::read(&output).map_err(|error| format!("{}: {error}", output.display()))?;
    let output = String::from_utf8_lossy(&said).into_owned();
    Ok(Outcome { case, wall, cpu, claims: claims_in(&claims_file), status, output })
}

/// Waits for a test and reaps it, after reading its CPU time and after the last signal to its group.
fn leave(mut child: Child, running: &Running) -> Result<(Duration, ExitStatus), Failure> {
    let pid = Pid::from_child(&child);
    while let Err(error) = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
        if error != rustix::io::Errno::INTR {
            return Err(format!("waiting for a test: {error}"));
        }
    }
    {
        let mut groups = running.groups.lock().expect("no lane panics");
        // A stopped process of its group continues, and ends.
        let _ = kill_process_group(pid, Signal::CONT);
        groups.remove(&pid);
    }
    let cpu = processes::cpu_time(pid.as_raw_pid());
    let status = child.wait().map_err(|error| format!("waiting for a test: {error}"))?;
    Ok((cpu, status))
}

/// The sum of the assertion counts written by the threads of a test.
fn claims_in(file: &PathBuf) -> u64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| line.parse::<u64>().ok()).sum()
}

impl Outcome {
    /// Whether it passed and was actually run: a name that selects nothing passes too.
    pub(crate) fn has_passed(&self) -> bool {
        // One write of the harness: other output may come between its words.
        let wanted = format!(". {} passed; 0 failed", self.case.tests.len());
        self.status.success() && (!self.case.program.is_listing() || self.output.contains(&wanted))
    }

    pub(crate) fn ended(&self) -> String {
        match self.status.signal() {
            Some(signal) => format!("signal {signal}"),
            None => format!("exit code {}", self.status.code().unwrap_or_default()),
        }
    }
}
