//! The developer commands of the project: `cargo xtask` lists them.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for developers talks to its terminal")]

mod add;
mod bench;
mod copied;
mod dist;
mod guard;
mod install;
mod lines;
mod million;
mod picture;
mod processes;
mod served;
mod steps;
mod suite;
mod testing;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use testing::Testing;

const USAGE: &str = "usage: cargo xtask VERB

  check              formatting, and clippy with warnings denied
  test [--long]      every test; --long runs each with all its seeds and inputs (sums over ten million exchanges, the books of
                     every load with every way to end), and names without glibc and workers on a bus, too
  test --clean       what a newcomer does: the packages in clean roots, the first command from a clean clone, and the example
                     of an own protocol outside of the workspace
  test --times       the same, with the time of each test and of each unit of the build
  test --busy [N]    the same on a machine that is disturbed at instants drawn from the seed N; judges as many claims
  test --names       writes xtask/tests.txt, the list of all tests, and runs none
  fuzz [--seconds N] each fuzzer for N seconds (default 10), on the nightly toolchain; what it finds is new each time
  sim --seed N       one seed of the simulated world, event by event
  reference          docs/reference.md and docs/reference.zh.md, from the table of flags, the pages and the schema of
                     scenario files, from the tables of their keys, and what the schemas of reports and of the page and
                     docs/exports.md say of counters, gauges and failures, from their rows
  dist [--check]     target/dist: a static binary, an archive and a Debian package with completions and manual; --check tries
                     them in clean roots, and does the steps of the Dockerfile; --binary makes the binary alone
  picture            docs/run.svg and docs/run.zh.svg, of a real run in a terminal; docs/report.png and docs/page.png (and .zh.png),
                     of the report and the web page of another, as a browser shows them
  bus WORKERS        whether a bus and a leader carry this number of workers; ONRUSH_BUS=nats://HOST:PORT/NAME is a bus that is
                     there
  add                adds a counter, a failure, a figure, a flag and a scenario key to a copy of the sources, builds it, and
                     counts the files that each takes
  lines [REVISION]   lines of code of each crate without tests, comments and blanks, and their mean length; beside those of
                     a revision of git
  million [N]        N connections (default 1000000) between two processes of this machine, by WebSocket and by TCP, and the grid
                     of messages; needs about 12 GiB of memory and a quarter of an hour
  bench [--update]   instructions of the hot path beside bench/instructions.json, on the CPU models that are named there;
                     --update writes them
  bench lateness     how late waits end and wakes arrive on this machine; nothing judges it
  bench peers [...]  CPU per request beside wrk, ab, h2load and the floor; what follows goes to bench/peers.py
                     (default: http1 --rounds 3 --seconds 5)
  bench tools [...]  CPU per request and memory beside wrk, k6, JMeter and Locust; what follows goes to bench/peers.py";

/// The error of a command, as a readable line.
type Failure = String;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["check"] => check(),
        ["test", rest @ ..] if Testing::read(rest).is_some() => guard::run(rest),
        // The two processes that `test` starts.
        ["guard", rest @ ..] => guard::guard(rest),
        ["suite", rest @ ..] if let Some(testing) = Testing::read(rest) => testing::test(&testing),
        ["fuzz"] => fuzz(FUZZ_SECONDS),
        ["fuzz", "--seconds", seconds] if let Ok(seconds) = seconds.parse() => fuzz(seconds),
        ["sim", "--seed", seed] if seed.parse::<u64>().is_ok() => sim(seed),
        ["bench"] => bench::instructions(bench::Mode::Compare),
        ["bench", "--update"] => bench::instructions(bench::Mode::Update),
        ["bench", "lateness"] => run(&mut cargo(&["bench", "--package", "driver", "--bench", "lateness"])),
        ["bench", "peers", words @ ..] => bench::peers(words),
        ["bench", "tools", words @ ..] => bench::tools(words),
        ["reference"] => reference(),
        ["dist"] => dist::dist(dist::Extent::All),
        ["dist", "--binary"] => dist::dist(dist::Extent::Binary),
        ["dist", "--check"] => dist::dist(dist::Extent::Checked),
        ["bus", workers] if workers.parse::<u64>().is_ok_and(|count| count > 0) => testing::bus(workers),
        ["add"] => add::add(),
        ["lines"] => lines::lines(None),
        ["lines", revision] => lines::lines(Some(revision)),
        ["picture"] => picture::pictures(),
        ["million"] => million::million(1_000_000),
        ["million", count] if count.parse::<u64>().is_ok_and(|count| count > 0) => {
            million::million(count.parse().unwrap_or(1_000_000))
        }
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

/// Runs a command in the workspace and forwards its output.
fn run(command: &mut Command) -> Result<(), Failure> {
    run_in(&root(), command)
}

fn run_in(folder: &Path, command: &mut Command) -> Result<(), Failure> {
    println!("+ {command:?}");
    match command.current_dir(folder).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?} ended with {status}")),
        Err(error) => Err(format!("{command:?} does not start: {error}")),
    }
}

fn cargo(words: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Build output is expected there.
    command.args(words).env("CARGO_TARGET_DIR", root().join("target"));
    command
}

fn check() -> Result<(), Failure> {
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    // With the features that the first build omits and packages have; code that only the first build has is checked by
    // the build of the tests.
    let features = ["--features", "onrush/dns,onrush/aws-lc,onrush/css,onrush/nats"];
    run(cargo(&["clippy", "--workspace", "--all-targets", "--quiet"]).args(features).args(["--", "-D", "warnings"]))
}

/// The pages are written by the same test that otherwise compares them with the table.
fn reference() -> Result<(), Failure> {
    let words = ["test", "--package", "onrush", "--lib", "the_reference_page_is_that_of_the_table"];
    run(cargo(&words).env("ONRUSH_WRITE_REFERENCE", "1"))?;
    let words = ["test", "--package", "scenario", "the_published"];
    run(cargo(&words).env("ONRUSH_WRITE_REFERENCE", "1"))?;
    let words = ["test", "--package", "report", "--package", "export", "--lib", "the_rows"];
    run(cargo(&words).env("ONRUSH_WRITE_REFERENCE", "1"))
}

/// One seed of the simulated world, event by event.
fn sim(seed: &str) -> Result<(), Failure> {
    let words = ["test", "--release", "--package", "engine", "--lib", "swarm::replay", "--", "--exact", "--nocapture"];
    run(cargo(&words).env("ONRUSH_SEED", seed))
}

/// The names of the fuzzers: the files of `fuzz/fuzz_targets`.
fn fuzzers() -> Result<Vec<String>, Failure> {
    let folder = root().join("fuzz/fuzz_targets");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let names =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".rs").map(str::to_owned));
    let mut names: Vec<String> = names.collect();
    names.sort();
    Ok(names)
}

/// Runs each fuzzer for some seconds, starting from the corpus of earlier runs.
fn fuzz(seconds: u32) -> Result<(), Failure> {
    install::ensure("g++", "g++", &["/usr/bin/g++"])?;
    if !Command::new("cargo").args(["+nightly", "--version"]).output().is_ok_and(|output| output.status.success()) {
        return Err("fuzzing needs the nightly toolchain: rustup toolchain install nightly".to_owned());
    }
    if !Command::new("cargo").args(["fuzz", "--version"]).output().is_ok_and(|output| output.status.success()) {
        install::fetch(&mut cargo(&["install", "cargo-fuzz", "--locked"]))?;
    }
    // Built once; then several may run, since each has one thread.
    run(nightly().args(["fuzz", "build"]))?;
    let width = std::thread::available_parallelism().map_or(1, usize::from);
    for together in fuzzers()?.chunks(width) {
        std::thread::scope(|scope| {
            let runs: Vec<_> = together.iter().map(|fuzzer| scope.spawn(move || fuzz_one(fuzzer, seconds))).collect();
            runs.into_iter().try_for_each(|run| run.join().expect("a fuzzer is run without a panic of ours"))
        })?;
    }
    Ok(())
}

/// Default seconds for each fuzzer.
const FUZZ_SECONDS: u32 = 10;

/// Cargo on the toolchain for fuzzing; the toolchain that started us must not be inherited.
fn nightly() -> Command {
    let mut command = Command::new("cargo");
    command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO").arg("+nightly");
    command
}

fn fuzz_one(fuzzer: &str, seconds: u32) -> Result<(), Failure> {
    let seeds = format!("fuzz/seeds/{fuzzer}");
    // New inputs go to a separate folder; valuable ones are added to the seeds by hand.
    let corpus = format!("fuzz/corpus/{fuzzer}");
    std::fs::create_dir_all(root().join(&corpus)).map_err(|error| format!("{corpus}: {error}"))?;
    let bounds = ["-max_len=4096", "-verbosity=0", &format!("-max_total_time={seconds}")];
    run(nightly().args(["fuzz", "run", fuzzer, &corpus, &seeds, "--"]).args(bounds))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pages, and the words after `cargo xtask ` in them.
    fn reported() -> Vec<(String, String)> {
        let folders = [root(), root().join("docs")];
        let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("a folder")).flatten();
        let pages = files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|end| end == "md"));
        let mut reported = Vec::new();
        for path in pages.filter(|path| !path.ends_with("CHANGELOG.md")) {
            let text = std::fs::read_to_string(&path).expect("UTF-8");
            let verbs = text
                .split("cargo xtask ")
                .skip(1)
                .map(|rest| rest.split(|each: char| !each.is_ascii_alphabetic()).next().unwrap_or_default().to_owned());
            reported.extend(verbs.filter(|verb| !verb.is_empty()).map(|verb| (path.display().to_string(), verb)));
        }
        reported
    }

    fn verbs() -> Vec<&'static str> {
        let lines = USAGE.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
        lines.filter_map(|line| line.split(' ').next()).collect()
    }

    #[test]
    fn pages_notify_of_verbs_that_are_there() {
        let reported = reported();
        assert!(reported.len() > 10, "only {} were found", reported.len());
        for (page, verb) in reported {
            assert!(verbs().contains(&verb.as_str()), "{page}: cargo xtask {verb} is no verb");
        }
    }

    #[test]
    fn every_verb_stands_in_contributing() {
        let text = std::fs::read_to_string(root().join("CONTRIBUTING.md")).expect("a page");
        for verb in verbs().iter().filter(|verb| **verb != "million") {
            assert!(text.contains(&format!("cargo xtask {verb}")), "{verb}");
        }
    }
}
