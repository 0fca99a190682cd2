//! The verb `test`: what it needs, the suite, and what takes longer.

use std::process::Command;

use crate::steps::Steps;
use crate::suite::{self, Options};
use crate::{FUZZ_SECONDS, Failure, cargo, dist, fuzz, install, root, run, run_in};

/// Of a run that draws by itself.
const BUSY_SEED: u64 = 1;
/// Inputs for each fuzzer, made by its test.
const FUZZ_INPUTS: &str = "100000";
/// What is longer at full length, behind `cargo test --release --package`.
const LONG: [&[&str]; 9] = [
    &["engine", "--lib", "swarm"],
    &["cluster", "--lib", "sim"],
    &["search", "--test", "simulated"],
    &["search", "--test", "theory"],
    &["fuzzers"],
    &["target", "--test", "sums"],
    &["target", "--test", "ruler"],
    &["onrush", "--test", "books"],
    &["onrush", "--test", "cli", "hold::"],
];

/// What is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Testing {
    is_long: bool,
    options: Options,
}

impl Testing {
    /// The words behind the verb; none, when they make no sense.
    pub(crate) fn read(words: &[&str]) -> Option<Self> {
        let mut testing = Self::default();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            match *word {
                "--long" => testing.is_long = true,
                "--times" => testing.options.is_timed = true,
                "--names" => testing.options.writes_names = true,
                "--busy" => {
                    let seed = words.peek().and_then(|next| next.parse().ok());
                    words.next_if(|_| seed.is_some());
                    testing.options.busy = Some(seed.unwrap_or(BUSY_SEED));
                }
                _ => return None,
            }
        }
        // The long suite has a busy run of its own, and names are written without any.
        let is_alone = !testing.options.writes_names && testing.options.busy.is_none();
        (is_alone || !testing.is_long).then_some(testing)
    }
}

/// Runs every test; below a guard, which ends what is left.
pub(crate) fn test(testing: &Testing) -> Result<(), Failure> {
    if !testing.options.writes_names {
        install_all(testing.is_long)?;
    }
    if testing.is_long { long() } else { suite::run_all(testing.options) }
}

fn install_all(is_long: bool) -> Result<(), Failure> {
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
        // Completions and manual pages are tried where they are used.
        ("zsh", "zsh"),
        ("fish", "fish"),
        ("groff", "groff-base"),
        // A terminal of any size, for what takes the whole of it.
        ("tmux", "tmux"),
        // What figures are exported to.
        ("prometheus", "prometheus"),
        ("influxd", "influxdb"),
    ] {
        install::ensure(program, package, &[&format!("/usr/bin/{program}"), &format!("/usr/sbin/{program}")])?;
    }
    install::go_tools()?;
    install::node_peer()?;
    install::browser()?;
    install::autobahn()?;
    if is_long {
        install::oha()?;
    } else if !install::has_oha() {
        println!("oha is not here, and building it takes minutes: its sample is the judge; --long builds it");
    }
    Ok(())
}

/// A part of the long suite.
type Part = fn() -> Result<(), Failure>;

/// The parts of the long suite, each with its time. All run, whichever fails.
fn long() -> Result<(), Failure> {
    let mut steps = Steps::default();
    let parts: [(&str, Part); 9] = [
        ("the suite", || suite::run_all(Options::default())),
        ("names without glibc", || run(&mut cargo(&["test", "--package", "engine", "--features", "dns", "resolve"]))),
        ("workers on a bus", workers_on_a_bus),
        ("crowds of workers", crowds),
        ("packages", || dist::dist(dist::Extent::Checked)),
        ("all seeds and inputs, the long sums and books", all_seeds),
        ("fuzzers", || fuzz(FUZZ_SECONDS)),
        ("the first command, from a clean clone", first_command),
        ("the suite on a busy machine", || suite::run_all(Options { busy: Some(BUSY_SEED), ..Options::default() })),
    ];
    let failed: Vec<Failure> = parts.into_iter().filter_map(|(name, part)| steps.run(name, part).err()).collect();
    steps.print();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

fn workers_on_a_bus() -> Result<(), Failure> {
    install::nats_server()?;
    install::sshd()?;
    run(&mut cargo(&["test", "--package", "onrush", "--features", "nats", "--test", "nats"]))?;
    run(&mut cargo(&["test", "--package", "cluster", "--features", "nats", "--test", "strangers"]))
}

fn crowds() -> Result<(), Failure> {
    ["1000", "10000"].iter().try_for_each(|workers| {
        let words = ["test", "--release", "--package", "cluster", "--features", "nats", "--test", "bus_benchmark"];
        run(cargo(&words).env("ONRUSH_WORKERS", workers))
    })
}

fn all_seeds() -> Result<(), Failure> {
    LONG.iter().try_for_each(|words| {
        let mut command = cargo(&["test", "--release", "--package"]);
        run(command.args(*words).env("ONRUSH_LONG", "1").env("ONRUSH_FUZZ_INPUTS", FUZZ_INPUTS))
    })
}

/// What somebody does who has just come: nothing is built yet.
fn first_command() -> Result<(), Failure> {
    let folder = suite::folder()?.join("clean");
    let remove = || match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(format!("{}: {error}", folder.display())),
        _ => Ok(()),
    };
    remove()?;
    run(Command::new("git").args(["clone", "--quiet"]).arg(root()).arg(&folder))?;
    run_in(&folder, cargo(&["run", "--release", "--", "demo"]).env("CARGO_TARGET_DIR", folder.join("target")))?;
    remove()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_or_refused() {
        let busy =
            |seed| Some(Testing { options: Options { busy: Some(seed), ..Options::default() }, ..Testing::default() });
        assert_eq!(Testing::read(&[]), Some(Testing::default()));
        assert_eq!(Testing::read(&["--long"]), Some(Testing { is_long: true, ..Testing::default() }));
        assert_eq!(Testing::read(&["--busy"]), busy(BUSY_SEED));
        assert_eq!(Testing::read(&["--busy", "7"]), busy(7));
        assert_eq!(Testing::read(&["--busy", "seven"]), None);
        assert_eq!(Testing::read(&["7"]), None);
        assert_eq!(Testing::read(&["--long", "--busy"]), None);
    }
}
