//! The verbs of the project: `cargo xtask` says which.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for developers talks to its terminal")]

mod bench;
mod install;
mod million;

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "usage: cargo xtask VERB

  check              formatting, and clippy with warnings denied
  test [--long]      every test; --long runs the sums over ten million exchanges, and
                     the books of every load with every way to end, and everything
                     once more beside two programs that never rest
  fuzz [--seconds N] each fuzzer for N seconds (default 10), on the nightly toolchain
  sim --seed N       one seed of the simulated world, event by event
  reference          docs/reference.md and docs/reference.zh.md, from the table of flags
  million [N]        N connections (default 1000000) between two processes of this machine, by WebSocket and by TCP, and the grid
                     of messages; needs about 12 GiB of memory and a quarter of an hour
  bench [--update]   instructions of the hot path beside bench/instructions.json, on the CPU model that is named there;
                     --update writes them
  bench peers [...]  CPU per request beside wrk, ab, h2load and the floor; what follows goes to bench/peers.py
                     (default: http1 --rounds 3 --seconds 5)";

/// Why a verb failed, as a line for a person.
type Failure = String;

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["check"] => check(),
        ["test"] => test(false),
        ["test", "--long"] => test(true),
        ["fuzz"] => fuzz("10"),
        ["fuzz", "--seconds", seconds] if seconds.parse::<u32>().is_ok() => fuzz(seconds),
        ["sim", "--seed", seed] if seed.parse::<u64>().is_ok() => sim(seed),
        ["bench"] => bench::instructions(bench::Mode::Compare),
        ["bench", "--update"] => bench::instructions(bench::Mode::Update),
        ["bench", "peers", words @ ..] => bench::peers(words),
        ["reference"] => reference(),
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

/// Runs a command in the workspace and passes its output on.
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
    command.args(words);
    command
}

fn check() -> Result<(), Failure> {
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))?;
    // What the first build leaves out, and packages have.
    run(&mut cargo(&["clippy", "--package", "onrush", "--features", "dns,aws-lc", "--quiet", "--", "-D", "warnings"]))
}

/// The pages are written by the test that compares them with the table otherwise.
fn reference() -> Result<(), Failure> {
    let words = ["test", "--package", "onrush", "--bin", "onrush", "the_reference_page_is_that_of_the_table"];
    run(cargo(&words).env("ONRUSH_WRITE_REFERENCE", "1"))
}

fn test(is_long: bool) -> Result<(), Failure> {
    install::ensure("nginx", "nginx-light", &["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"])?;
    // A network of its own for the test that uses up ports, and a Python for the tools of others.
    install::ensure("ip", "iproute2", &["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"])?;
    install::ensure("python3", "python3", &["/usr/bin/python3", "/usr/local/bin/python3"])?;
    if !Command::new("python3").args(["-c", "import venv, ensurepip"]).output().is_ok_and(|done| done.status.success())
    {
        install::install("python3-venv")?;
    }
    for (program, package) in [
        ("curl", "curl"),
        ("openssl", "openssl"),
        ("wrk", "wrk"),
        ("ab", "apache2-utils"),
        ("h2load", "nghttp2-client"),
        ("nghttpd", "nghttp2-server"),
    ] {
        install::ensure(program, package, &[&format!("/usr/bin/{program}"), &format!("/usr/sbin/{program}")])?;
    }
    install::go_tools()?;
    install::node_peer()?;
    install::autobahn()?;
    if is_long {
        install::oha()?;
    } else if !install::has_oha() {
        println!("oha is not here, and building it takes minutes: its sample is the judge; --long builds it");
    }
    run(&mut cargo(&["test", "--workspace"]))?;
    if is_long {
        run(&mut cargo(&["test", "--package", "engine", "--features", "dns", "resolve"]))?;
        beside_busy_loops()?;
        for (package, test) in [("target", "sums"), ("target", "ruler"), ("onrush", "books")] {
            let words = ["test", "--release", "--package", package, "--test", test];
            run(cargo(&words).env("ONRUSH_LONG", "1"))?;
        }
    }
    Ok(())
}

/// Tests that look at times.
const TIMED: [(&str, &str); 4] = [("driver", "stamps"), ("target", "truth"), ("target", "ruler"), ("onrush", "trust")];
/// Each passes so often one after the other.
const TIMED_RUNS: usize = 20;

/// Programs that take all the cores can give them; they end with the value.
struct BusyLoops(Vec<std::process::Child>);

impl BusyLoops {
    fn start() -> Result<Self, Failure> {
        let one = || Command::new("sh").args(["-c", "while :; do :; done"]).spawn();
        let loops = (0..2).map(|_| one()).collect::<Result<_, _>>();
        Ok(Self(loops.map_err(|error| format!("sh does not start: {error}"))?))
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have ended by itself; then there is nothing to end.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A machine that is disturbed fails no test: the whole suite once, and each test that looks at times again and again.
fn beside_busy_loops() -> Result<(), Failure> {
    let _busy = BusyLoops::start()?;
    run(&mut cargo(&["test", "--workspace"]))?;
    for (package, test) in TIMED {
        for _ in 0..TIMED_RUNS {
            run(&mut cargo(&["test", "--package", package, "--test", test]))?;
        }
    }
    Ok(())
}

/// One seed of the simulated world, event by event.
fn sim(seed: &str) -> Result<(), Failure> {
    let words = ["test", "--release", "--package", "engine", "--lib", "swarm::replay", "--", "--exact", "--nocapture"];
    run(cargo(&words).env("ONRUSH_SEED", seed))
}

const FUZZERS: [&str; 14] = [
    "http1_client",
    "http1_server",
    "http2_client",
    "http2_server",
    "hpack",
    "grpc",
    "grpc_json",
    "grpc_described",
    "websocket",
    "tcp",
    "plan_text",
    "threshold",
    "curl",
    "checks",
];

fn fuzz(seconds: &str) -> Result<(), Failure> {
    install::ensure("g++", "g++", &["/usr/bin/g++"])?;
    if !Command::new("cargo").args(["+nightly", "--version"]).output().is_ok_and(|output| output.status.success()) {
        return Err("fuzzing needs the nightly toolchain: rustup toolchain install nightly".to_owned());
    }
    if !Command::new("cargo").args(["fuzz", "--version"]).output().is_ok_and(|output| output.status.success()) {
        run(&mut cargo(&["install", "cargo-fuzz", "--locked"]))?;
    }
    for fuzzer in FUZZERS {
        let mut command = Command::new("cargo");
        // The toolchain that started us must not be the one that fuzzes.
        command.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
        let (time, corpus) = (format!("-max_total_time={seconds}"), format!("fuzz/corpus/{fuzzer}"));
        // New finds go to a folder of their own; what is worth keeping is put into the seeds by hand.
        let seeds = format!("fuzz/seeds/{fuzzer}");
        std::fs::create_dir_all(root().join(&corpus)).map_err(|error| format!("{corpus}: {error}"))?;
        run(command.args([
            "+nightly",
            "fuzz",
            "run",
            fuzzer,
            &corpus,
            &seeds,
            "--",
            &time,
            "-max_len=4096",
            "-verbosity=0",
        ]))?;
    }
    Ok(())
}
