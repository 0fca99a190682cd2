//! The command `test`: its dependencies, the suite, and the long tests.

use std::process::Command;

use crate::steps::Steps;
use crate::suite::{self, Options};
use crate::{Failure, cargo, copied, dist, install, root, run, run_in};

/// The default seed of a busy run.
const BUSY_SEED: u64 = 1;
/// Tests that need features: those of one build.
const FEATURED: [&str; 8] =
    ["--package", "engine", "--package", "cluster", "--package", "onrush", "--features", "onrush/dns,onrush/nats"];

/// Workers of the run with many of them.
const MANY_WORKERS: &str = "1000";

/// A part of a run of tests.
type Part = fn() -> Result<(), Failure>;

/// The parts of `--long`.
const LONG: [(&str, Part); 4] = [
    ("the suite, with all seeds and inputs", || suite::run_all(Options { is_long: true, ..Options::default() })),
    ("names without glibc", || featured(&["--lib", "resolve"])),
    ("workers on a bus", workers_on_a_bus),
    ("many workers on a bus", many_workers),
];

/// The parts of `--clean`.
const CLEAN: [(&str, Part); 3] = [
    ("packages", || dist::dist(dist::Extent::Checked)),
    ("the first command, from a clean clone", first_command),
    ("an own protocol, outside of the workspace", copied::own_protocol),
];

/// The options of the command `test`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Testing {
    extent: Extent,
    options: Options,
}

/// What a run of the command tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Extent {
    /// The suite.
    #[default]
    Suite,
    /// The suite, and the tests that are too long for it.
    Long,
    /// What a newcomer does, where nothing is built yet.
    Clean,
}

impl Testing {
    /// Parses the arguments; `None` if they are invalid.
    pub(crate) fn read(words: &[&str]) -> Option<Self> {
        let mut testing = Self::default();
        let mut words = words.iter().peekable();
        while let Some(word) = words.next() {
            match *word {
                "--long" => testing.extent = Extent::Long,
                "--clean" => testing.extent = Extent::Clean,
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
        // The options are those of the suite alone.
        (testing.extent == Extent::Suite || testing.options == Options::default()).then_some(testing)
    }
}

/// Runs every test, under a guard that ends left-over processes.
pub(crate) fn test(testing: &Testing) -> Result<(), Failure> {
    match testing.extent {
        Extent::Clean => {
            // The example of an own protocol has a server in Python.
            python()?;
            return run_parts(&CLEAN);
        }
        Extent::Suite if testing.options.writes_names => {}
        extent => install_all(extent == Extent::Long)?,
    }
    if testing.extent == Extent::Long { run_parts(&LONG) } else { suite::run_all(testing.options) }
}

fn python() -> Result<(), Failure> {
    install::ensure("python3", "python3", &["/usr/bin/python3", "/usr/local/bin/python3"])
}

fn install_all(is_long: bool) -> Result<(), Failure> {
    install::ensure("nginx", "nginx-light", &["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx"])?;
    // A network namespace for the test that uses up ports, and Python for other tools.
    install::ensure("ip", "iproute2", &["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"])?;
    python()?;
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
        // Completions and manual pages are tested in the programs that use them.
        ("zsh", "zsh"),
        ("fish", "fish"),
        ("groff", "groff-base"),
        // A terminal of any size, for full-screen output.
        ("tmux", "tmux"),
        // Name servers, and clients of those and of RADIUS.
        ("dnsmasq", "dnsmasq-base"),
        ("dnsperf", "dnsperf"),
        ("radclient", "freeradius-utils"),
        // Proxies.
        ("squid", "squid"),
        ("tinyproxy", "tinyproxy"),
        ("microsocks", "microsocks"),
        ("danted", "dante-server"),
        ("haproxy", "haproxy"),
        // Redis: its tools have the server under this name, and unlike the package redis-server no service, which would
        // be started.
        ("redis-check-rdb", "redis-tools"),
        // The targets of exports.
        ("prometheus", "prometheus"),
        ("influxd", "influxdb"),
    ] {
        install::ensure(program, package, &[&format!("/usr/bin/{program}"), &format!("/usr/sbin/{program}")])?;
    }
    for program in ["nsd", "unbound", "freeradius"] {
        install::ensure_without_service(program, program, program, &[&format!("/usr/sbin/{program}")])?;
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

/// Runs parts, each with its time, even if some fail.
fn run_parts(parts: &[(&str, Part)]) -> Result<(), Failure> {
    let mut steps = Steps::default();
    let failed: Vec<Failure> = parts.iter().filter_map(|(name, part)| steps.run(name, part).err()).collect();
    steps.print();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Runs tests that need features, with these further arguments of `cargo test`.
fn featured(words: &[&str]) -> Result<(), Failure> {
    run(cargo(&["test"]).args(FEATURED).args(words))
}

fn workers_on_a_bus() -> Result<(), Failure> {
    install::nats_server()?;
    install::sshd()?;
    featured(&["--test", "nats"])?;
    featured(&["--test", "strangers"])
}

/// The build of the other tests is used: that all is counted does not depend on optimization. For more workers than
/// this, optimized, there is `bus`.
fn many_workers() -> Result<(), Failure> {
    let words = ["--test", "bus_benchmark", "--", "--nocapture"];
    run(cargo(&["test"]).args(FEATURED).args(words).env("ONRUSH_WORKERS", MANY_WORKERS))
}

/// Tests how many workers a bus carries: the bus of `ONRUSH_BUS`, or one that is started.
pub(crate) fn bus(workers: &str) -> Result<(), Failure> {
    install::nats_server()?;
    let words = ["test", "--release", "--package", "cluster", "--features", "nats", "--test", "bus_benchmark"];
    run(cargo(&words).args(["--", "--nocapture"]).env("ONRUSH_WORKERS", workers))
}

/// Tests the first commands of a new contributor: nothing is built yet.
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
        let of_extent = |extent| Some(Testing { extent, ..Testing::default() });
        let busy =
            |seed| Some(Testing { options: Options { busy: Some(seed), ..Options::default() }, ..Testing::default() });
        assert_eq!(Testing::read(&[]), Some(Testing::default()));
        assert_eq!(Testing::read(&["--long"]), of_extent(Extent::Long));
        assert_eq!(Testing::read(&["--clean"]), of_extent(Extent::Clean));
        assert_eq!(Testing::read(&["--busy"]), busy(BUSY_SEED));
        assert_eq!(Testing::read(&["--busy", "7"]), busy(7));
        assert_eq!(Testing::read(&["--busy", "seven"]), None);
        assert_eq!(Testing::read(&["7"]), None);
        assert_eq!(Testing::read(&["--long", "--busy"]), None);
        assert_eq!(Testing::read(&["--clean", "--times"]), None);
    }
}
