//! Runs tests, each in a process and a process group of its own: its time, its CPU time and its claims are its alone, one that hangs
//! is ended alone, and what it leaves behind has its name.

use std::collections::{HashMap, VecDeque};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::programs::{self, Case};
use crate::{Failure, processes};

/// Tests at a time, for each core: most of them wait for others most of the time.
const TESTS_PER_CORE: usize = 3;
/// A test that takes longer hangs.
pub(crate) const TEST_LIMIT: Duration = Duration::from_secs(15 * 60);
/// Where a test says how many claims it judged.
const CLAIMS_VARIABLE: &str = "XTASK_CLAIMS";
/// More than one, so that a test has a thread with its name.
const TEST_THREADS: &str = "4";

/// How a test ended.
pub(crate) struct Outcome {
    pub(crate) case: Case,
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    pub(crate) claims: u64,
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
}

/// Tests that run now, by their process group.
#[derive(Default)]
pub(crate) struct Running {
    groups: Mutex<HashMap<Pid, (Case, Instant)>>,
    is_over: AtomicBool,
}

impl Running {
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// The groups of all tests that run and that the function names.
    pub(crate) fn groups(&self, is_meant: impl Fn(&Case) -> bool) -> Vec<Pid> {
        let groups = self.groups.lock().expect("no thread panics");
        groups.iter().filter(|(_, (case, _))| is_meant(case)).map(|(pid, _)| *pid).collect()
    }

    /// Sends a signal to a test that runs still: its group cannot be that of another one, since it is not taken leave of.
    pub(crate) fn signal(&self, pid: Pid, signal: Signal) {
        if self.groups.lock().expect("no thread panics").contains_key(&pid) {
            // It may have ended in between.
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Ends those that hang, until all is over.
    fn watch(&self) {
        while !self.is_over() {
            std::thread::sleep(Duration::from_millis(100));
            let groups = self.groups.lock().expect("no thread panics");
            for (pid, (case, _)) in groups.iter().filter(|(_, (_, begun))| begun.elapsed() > TEST_LIMIT) {
                println!("{} hangs and is ended", case.name());
                let _ = kill_process_group(*pid, Signal::KILL);
            }
        }
    }
}

/// Runs all cases; `each` hears of each that has ended.
pub(crate) fn run(
    cases: Vec<Case>,
    running: &Running,
    each: &(dyn Fn(&Outcome) + Sync),
) -> Result<Vec<Outcome>, Failure> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let folder = programs::folder()?.join("output");
    programs::create(&folder)?;
    let (queue, done) = (Mutex::new(VecDeque::from(cases)), Mutex::new(Vec::new()));
    let lane = |number: usize| -> Result<(), Failure> {
        let next = || queue.lock().expect("no lane panics").pop_front();
        while let Some(case) = next() {
            let outcome = run_one(case, running, &folder.join(number.to_string()))?;
            each(&outcome);
            done.lock().expect("no lane panics").push(outcome);
        }
        Ok(())
    };
    let ends: Vec<Result<(), Failure>> = std::thread::scope(|scope| {
        let lane = &lane;
        scope.spawn(|| running.watch());
        let lanes: Vec<_> = (0..TESTS_PER_CORE * cores).map(|number| scope.spawn(move || lane(number))).collect();
        let ends = lanes.into_iter().map(|lane| lane.join().expect("no lane panics")).collect();
        running.is_over.store(true, Ordering::Relaxed);
        ends
    });
    ends.into_iter().collect::<Result<(), Failure>>()?;
    Ok(done.into_inner().expect("no lane panics"))
}

fn run_one(case: Case, running: &Running, files: &Path) -> Result<Outcome, Failure> {
    let (output, claims) = (files.with_extension("txt"), files.with_extension("claims"));
    let _ = std::fs::remove_file(&claims);
    let mut command = case.program.command();
    if !case.program.is_whole {
        command.args(["--exact", &case.tests[0]]);
    }
    // To a file: a pipe would stay open for as long as anything that the test left behind.
    let file = std::fs::File::create(&output).map_err(|error| format!("{}: {error}", output.display()))?;
    let same = file.try_clone().map_err(|error| format!("{}: {error}", output.display()))?;
    command.env("RUST_TEST_THREADS", TEST_THREADS).env(CLAIMS_VARIABLE, &claims);
    command.env(processes::TEST_VARIABLE, case.name()).process_group(0).stdout(file).stderr(same);
    let begun = Instant::now();
    let child = command.spawn().map_err(|error| format!("{} does not start: {error}", case.name()))?;
    let pid = Pid::from_child(&child);
    running.groups.lock().expect("no lane panics").insert(pid, (case.clone(), begun));
    let (cpu, status) = leave(child, running)?;
    let wall = begun.elapsed();
    let said = std::fs::read(&output).map_err(|error| format!("{}: {error}", output.display()))?;
    let output = String::from_utf8_lossy(&said).into_owned();
    Ok(Outcome { case, wall, cpu, claims: claims_in(&claims), status, output })
}

/// Waits for a test and takes leave of it, behind a look at its CPU time and behind the last signal to its group.
fn leave(mut child: Child, running: &Running) -> Result<(Duration, ExitStatus), Failure> {
    let pid = Pid::from_child(&child);
    while let Err(error) = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
        if error != rustix::io::Errno::INTR {
            return Err(format!("waiting for a test: {error}"));
        }
    }
    running.groups.lock().expect("no lane panics").remove(&pid);
    let cpu = processes::cpu_time(pid.as_raw_pid());
    let status = child.wait().map_err(|error| format!("waiting for a test: {error}"))?;
    Ok((cpu, status))
}

/// The sum of what the threads of a test have written.
fn claims_in(file: &PathBuf) -> u64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|line| line.parse::<u64>().ok()).sum()
}

impl Outcome {
    /// It passed, and was run: a name that selects nothing passes too.
    pub(crate) fn has_passed(&self) -> bool {
        let wanted = format!("test result: ok. {} passed; 0 failed", self.case.tests.len());
        self.status.success() && (!self.case.program.is_listing() || self.output.contains(&wanted))
    }

    pub(crate) fn ended(&self) -> String {
        match self.status.signal() {
            Some(signal) => format!("signal {signal}"),
            None => format!("exit code {}", self.status.code().unwrap_or_default()),
        }
    }
}
