//! The test programs of the workspace: built once, and their tests.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, LazyLock};

use claims::seeds::{LONG_VARIABLE, PART_VARIABLE};
use serde::Deserialize;

use crate::{Failure, cargo, root};

/// Programs without the harness of Rust that support listing their tests.
const LISTING: [(&str, &str); 1] = [("onrush", "browser")];
/// The only test of a program without a harness and without a list.
const MAIN: &str = "main";

/// The package of the fuzzers, and how many inputs each of them takes in the longest variant.
const FUZZERS: &str = "fuzzers";
const LONG_FUZZ_INPUTS: &str = "100000";

/// A build message of cargo.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    manifest_path: PathBuf,
    target: Option<Target>,
    profile: Option<Profile>,
    executable: Option<PathBuf>,
    /// The diagnostic of the compiler for our code; for dependencies there is none.
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
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) package: String,
    pub(crate) name: String,
    /// Its working directory, as under `cargo test`.
    folder: PathBuf,
    pub(crate) executable: PathBuf,
    /// Whether all its tests run in one process, since it has no harness of Rust.
    pub(crate) is_whole: bool,
}

/// Whether a program has the harness of Rust. `--list` would run one without, so its manifest is read.
fn has_harness(manifest: &str, name: &str) -> bool {
    let is_its_own = |part: &&str| part.lines().any(|line| line == format!("name = \"{name}\""));
    let parts = manifest.split("\n[[test]]\n").skip(1).map(|part| part.split("\n[").next().unwrap_or(part));
    !parts.filter(is_its_own).any(|part| part.lines().any(|line| line == "harness = false"))
}

/// A test, or all tests of a program that is run as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) program: Arc<Program>,
    /// The names of its tests: one, except for a program that is run as a whole.
    pub(crate) tests: Vec<String>,
}

impl Case {
    /// Its name, like `engine/engine run::tests::ends`.
    pub(crate) fn name(&self) -> String {
        let test = if self.program.is_whole { "(all)" } else { &self.tests[0] };
        format!("{} {test}", self.program.title())
    }

    pub(crate) fn test_names(&self) -> impl Iterator<Item = String> {
        self.tests.iter().map(|test| format!("{} {test}", self.program.title()))
    }
}

impl Program {
    fn from_message(message: Message) -> Option<Self> {
        let is_test = message.reason == "compiler-artifact" && message.profile?.test;
        let folder = message.manifest_path.parent()?.to_owned();
        let manifest = std::fs::read_to_string(&message.manifest_path).ok()?;
        let package = manifest.lines().find_map(|line| line.strip_prefix("name = "))?.trim_matches('"').to_owned();
        let name = message.target?.name;
        let is_whole = !has_harness(&manifest, &name);
        let program = Self { package, name, folder, executable: message.executable?, is_whole };
        is_test.then_some(program)
    }

    /// Whether its output is like that of programs with a harness.
    pub(crate) fn is_listing(&self) -> bool {
        !self.is_whole || LISTING.contains(&(&self.package, &self.name))
    }

    pub(crate) fn title(&self) -> String {
        format!("{}/{}", self.package, self.name)
    }

    /// The command that starts the program, as `cargo test` would. Random cases are the same in each run: a failure is
    /// caused by the commit. `cargo test` draws others.
    fn plain_command(&self) -> Command {
        let mut command = Command::new(&self.executable);
        command.current_dir(&self.folder).env("CARGO_MANIFEST_DIR", &self.folder).stdin(Stdio::null());
        command.env("PROPTEST_RNG_SEED", "1");
        command
    }

    /// The same, with all seeds and inputs.
    pub(crate) fn long_command(&self) -> Command {
        let mut command = self.plain_command();
        command.env(LONG_VARIABLE, "1");
        if self.package == FUZZERS {
            command.env("ONRUSH_FUZZ_INPUTS", LONG_FUZZ_INPUTS);
        }
        command
    }

    /// The same, with the part of seeds and inputs that the commit has.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.plain_command();
        // Of cases that are too many for one run, each commit takes another part. `ONRUSH_` variables set flags, so
        // only programs that start no onrush get such a variable.
        let part = commit_number().to_string();
        if self.package == FUZZERS && std::env::var_os("ONRUSH_FUZZ_SEED").is_none() {
            command.env("ONRUSH_FUZZ_SEED", &part);
        }
        command.env(PART_VARIABLE, &part);
        command
    }

    /// The same as a shell command.
    pub(crate) fn again(&self) -> String {
        format!(
            "cd {} && CARGO_MANIFEST_DIR=. PROPTEST_RNG_SEED=1 {PART_VARIABLE}={} {}",
            self.folder.display(),
            commit_number(),
            self.executable.display()
        )
    }

    /// The program's list of tests, with these additional arguments.
    fn list(&self, words: &[&str]) -> Result<Vec<String>, Failure> {
        let mut command = self.command();
        command.args(["--list", "--format", "terse"]).args(words).stderr(Stdio::inherit());
        let listed = command.output().map_err(|error| format!("{} does not start: {error}", self.title()))?;
        if !listed.status.success() {
            return Err(format!("{} lists no tests: {}", self.title(), listed.status));
        }
        let text = String::from_utf8_lossy(&listed.stdout);
        Ok(text.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
    }

    fn cases(self) -> Result<Vec<Case>, Failure> {
        if self.is_whole {
            let tests = if self.is_listing() { self.list(&[])? } else { vec![MAIN.to_owned()] };
            if tests.is_empty() {
                return Err(format!("{} lists no tests", self.title()));
            }
            return Ok(vec![Case { program: Arc::new(self), tests }]);
        }
        // A test that is only started as a child of another one is ignored, and does not count.
        let ignored = self.list(&["--ignored"])?;
        let tests: Vec<String> = self.list(&[])?.into_iter().filter(|test| !ignored.contains(test)).collect();
        let program = Arc::new(self);
        Ok(tests.into_iter().map(|test| Case { program: program.clone(), tests: vec![test] }).collect())
    }
}

/// A number derived from the commit; 0 where there is none.
pub(crate) fn commit_number() -> u64 {
    static NUMBER: LazyLock<u64> = LazyLock::new(|| {
        let reported = Command::new("git").args(["rev-parse", "HEAD"]).current_dir(root()).output();
        let reported =
            reported.map(|reported| String::from_utf8_lossy(&reported.stdout).into_owned()).unwrap_or_default();
        reported.get(..8).and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default()
    });
    *NUMBER
}

/// The report of cargo with the time of each unit of a build.
pub(crate) fn timings_page() -> PathBuf {
    root().join("target/cargo-timings/cargo-timing.html")
}

/// Builds all tests and returns them. A warning is an error, also in code that only the first build has.
pub(crate) fn build(is_timed: bool) -> Result<Vec<Case>, Failure> {
    let mut command = cargo(&["test", "--workspace", "--no-run", "--message-format", "json"]);
    command.args(is_timed.then_some("--timings"));
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
    let programs = messages.into_iter().filter_map(Program::from_message);
    let cases: Vec<Vec<Case>> = programs.map(Program::cases).collect::<Result<_, _>>()?;
    let cases: Vec<Case> = cases.into_iter().flatten().collect();
    if cases.is_empty() { Err("cargo has built no tests".to_owned()) } else { Ok(cases) }
}

/// A folder below `target` for the output of the suite.
pub(crate) fn folder() -> Result<PathBuf, Failure> {
    let folder = root().join("target/suite");
    create(&folder)?;
    Ok(folder)
}

pub(crate) fn create(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_says_who_has_no_harness() {
        let manifest = "[package]\nname = \"some\"\n\n[[test]]\nname = \"bare\"\nharness = false\n\n[[test]]\nname = \"usual\"\n\n\
                        [[bench]]\nname = \"fast\"\nharness = false\n";
        assert!(!has_harness(manifest, "bare"));
        assert!(["usual", "fast", "some"].iter().all(|name| has_harness(manifest, name)));
    }
}
