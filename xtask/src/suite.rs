//! All tests of the workspace. They are built once; then two test programs run at a time, since most of them wait for others most of
//! the time. What a program says is printed when it is over, so that nothing is mixed.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde::Deserialize;

use crate::{Failure, cargo, root, run};

/// Test programs that run at a time.
const LANES: usize = 2;
/// Those that take longest begin first.
const LONGEST: [(&str, &str); 3] = [("onrush", "cli"), ("engine", "engine"), ("onrush", "trust")];

/// Lines of a failure that are told again at the end.
const TOLD_LINES: usize = 60;

/// What cargo says of something that it has built.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    manifest_path: PathBuf,
    target: Option<Target>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
    /// What the compiler says of our code; of that of others it says nothing.
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Diagnostic {
    rendered: Option<String>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// A test program.
struct Program {
    package: String,
    name: String,
    /// Where it runs, as under `cargo test`.
    folder: PathBuf,
    executable: PathBuf,
}

/// Runs every test; the first program that fails is the last that begins.
pub(crate) fn run_all(test_threads: &str) -> Result<(), Failure> {
    let mut programs = build()?;
    let place = |program: &Program| {
        let found = LONGEST.iter().position(|(package, name)| program.package == *package && program.name == *name);
        found.unwrap_or(LONGEST.len())
    };
    programs.sort_by_key(place);
    println!("{} test programs, {LANES} at a time", programs.len());
    let (queue, failed) = (Mutex::new(VecDeque::from(programs)), AtomicBool::new(false));
    let lane = || -> Result<(), Failure> {
        while !failed.load(Ordering::Relaxed) {
            let Some(program) = queue.lock().expect("no lane panics").pop_front() else { break };
            if let Err(failure) = program.run(test_threads) {
                failed.store(true, Ordering::Relaxed);
                return Err(failure);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(lane)).collect();
        let ends: Vec<_> = lanes.into_iter().map(|lane| lane.join().expect("no lane panics")).collect();
        ends.into_iter().collect::<Result<(), Failure>>()
    })?;
    run(&mut cargo(&["test", "--workspace", "--doc", "--quiet"]))
}

/// Builds all tests; gives the programs. A warning fails it, in code that only the first build has too.
fn build() -> Result<Vec<Program>, Failure> {
    let words = ["test", "--workspace", "--no-run", "--message-format", "json"];
    let mut command = cargo(&words);
    println!("+ {command:?}");
    let done = command.current_dir(root()).stderr(Stdio::inherit()).output();
    let done = done.map_err(|error| format!("{command:?} does not start: {error}"))?;
    let text = String::from_utf8_lossy(&done.stdout);
    let messages: Vec<Message> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let said: Vec<&str> = messages.iter().filter_map(|one| one.message.as_ref()?.rendered.as_deref()).collect();
    said.iter().for_each(|said| eprintln!("{said}"));
    if !done.status.success() {
        return Err(format!("{command:?} ended with {}", done.status));
    }
    if !said.is_empty() {
        return Err(format!("{command:?} warned of {} things", said.len()));
    }
    let programs: Vec<Program> = messages.into_iter().filter_map(Program::of).collect();
    if programs.is_empty() { Err("cargo has built no tests".to_owned()) } else { Ok(programs) }
}

impl Program {
    fn of(message: Message) -> Option<Self> {
        let is_test = message.reason == "compiler-artifact" && message.profile?.test;
        let folder = message.manifest_path.parent()?.to_owned();
        let manifest = std::fs::read_to_string(&message.manifest_path).ok()?;
        let package = manifest.lines().find_map(|line| line.strip_prefix("name = "))?.trim_matches('"').to_owned();
        let program = Self { package, name: message.target?.name, folder, executable: message.executable? };
        is_test.then_some(program)
    }

    fn run(&self, test_threads: &str) -> Result<(), Failure> {
        let Self { package, name, .. } = self;
        println!("+ {package}/{name}");
        let began = Instant::now();
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder).env("RUST_TEST_THREADS", test_threads);
        command.env("CARGO_MANIFEST_DIR", &self.folder).stdin(Stdio::null());
        // Random cases are the same in each run: what fails here is the commit's doing. `cargo test` draws others.
        command.env("PROPTEST_RNG_SEED", "1");
        let done = command.output().map_err(|error| format!("{package}/{name} does not start: {error}"))?;
        let said = [&done.stdout[..], &done.stderr[..]].map(|text| String::from_utf8_lossy(text).into_owned());
        let took = began.elapsed().as_secs_f64();
        println!("= {package}/{name}: {} after {took:.1} s\n{}{}", done.status, said[0], said[1]);
        if done.status.success() {
            return Ok(());
        }
        let lines: Vec<&str> = said.iter().flat_map(|text| text.lines()).collect();
        let last = lines[lines.len().saturating_sub(TOLD_LINES)..].join("\n");
        Err(format!(
            "{last}\n{package}/{name} ended with {}; again: cargo test --package {package}, or {}",
            done.status,
            self.executable.display()
        ))
    }
}
