//! Benchmarks: instructions of the hot path, and CPU per request compared with other tools.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Failure, cargo, install, root, run};

/// The runner must have the version of the library.
const RUNNER_VERSION: &str = "0.20.0";
/// Growth of a count in percent from which it is a regression.
const GROWTH_MAX_PERCENT: u64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Fails when a count has grown.
    Compare,
    /// Writes the counts to the file.
    Update,
}

/// Instruction counts by benchmark.
type Counts = BTreeMap<String, u64>;

/// The stored counts, by CPU model: other models take other paths through the same libraries.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct KeptCounts(BTreeMap<String, Counts>);

impl KeptCounts {
    /// Replaces the counts of this model. Benchmarks that no longer exist are removed for all models.
    fn update(&mut self, model: String, now: Counts) {
        self.0.values_mut().for_each(|counts| counts.retain(|name, _| now.contains_key(name)));
        self.0.insert(model, now);
    }

    /// Whether any model has a count of this benchmark.
    fn knows(&self, name: &str) -> bool {
        self.0.values().any(|counts| counts.contains_key(name))
    }
}

/// Counts the instructions of the hot path, and compares them with the stored ones.
pub(crate) fn instructions(mode: Mode) -> Result<(), Failure> {
    install::ensure("valgrind", "valgrind", &["/usr/bin/valgrind"])?;
    ensure_runner()?;
    let (model, now) = (cpu_model(), count()?);
    let path = root().join("bench/instructions.json");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut kept: KeptCounts = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    if mode == Mode::Update {
        kept.update(model, now);
        let mut text = serde_json::to_string_pretty(&kept).map_err(|error| error.to_string())?;
        text.push('\n');
        return std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()));
    }
    let (lines, grown) = compare(&kept, &model, &now);
    println!("instructions on {model}");
    lines.iter().for_each(|line| println!("{line}"));
    if !kept.0.contains_key(&model) {
        println!(
            "the kept counts are of other CPU models: only names are judged here; --update keeps those of this one"
        );
    }
    if grown.is_empty() {
        return Ok(());
    }
    Err(format!(
        "these grew by more than {} %, or are kept or counted alone: {}; make them smaller, or write the new counts with: \
         cargo xtask bench --update",
        GROWTH_MAX_PERCENT,
        grown.join(", ")
    ))
}

/// A line for each benchmark, and the names of those that grew too much. A benchmark with counts of other models only
/// is not judged; one without any stored count, or with a stored count but no current one, is named too.
fn compare(kept: &KeptCounts, model: &str, now: &Counts) -> (Vec<String>, Vec<String>) {
    let (mut lines, mut grown) = (Vec::new(), Vec::new());
    let before = kept.0.get(model);
    for (name, count) in now {
        let Some(before) = before.and_then(|counts| counts.get(name)) else {
            let is_known = kept.knows(name);
            let why = if is_known { "not kept for this CPU model" } else { "not kept yet" };
            lines.push(format!("  {name:<36} {count:>12}  {why}"));
            grown.extend((!is_known).then(|| name.clone()));
            continue;
        };
        let growth = *count as f64 / *before as f64 - 1.0;
        lines.push(format!("  {name:<36} {count:>12}  {:+.2} %", growth * 100.0));
        if count * 100 > before * (100 + GROWTH_MAX_PERCENT) {
            grown.push(name.clone());
        }
    }
    let names: BTreeSet<&String> = kept.0.values().flat_map(Counts::keys).collect();
    for name in names.into_iter().filter(|name| !now.contains_key(*name)) {
        lines.push(format!("  {name:<36} {:>12}  kept, and not counted", "-"));
        grown.push(name.clone());
    }
    (lines, grown)
}

/// The benchmark programs of `crates/instructions`.
const PROGRAMS: [&str; 3] = ["instructions-http1", "instructions-flows", "instructions-protocols"];

/// Builds the benchmarks together with the binary: with one list of features, their common dependencies are built once.
fn build() -> Result<(), Failure> {
    run(&mut cargo(&["build", "--release", "--package", "instructions", "--package", "onrush"]))
}

/// Runs the benchmarks; each prints lines of JSON.
fn count() -> Result<Counts, Failure> {
    build()?;
    let mut text = String::new();
    for program in PROGRAMS {
        let mut command = Command::new(root().join("target/release").join(program));
        command.args(["--bench", "--output-format=json"]).current_dir(root()).stderr(Stdio::inherit());
        println!("+ {command:?}");
        let output = command.output().map_err(|error| format!("{program}: {error}"))?;
        text.push_str(&String::from_utf8_lossy(&output.stdout));
        if !output.status.success() {
            return Err(format!("{program} ended with {}\n{text}", output.status));
        }
    }
    let mut counts = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let bench: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        let name = format!("{} {}", text_of(&bench["function_name"]), text_of(&bench["id"]));
        let instructions = &bench["profiles"][0]["data"]["total"]["metrics"]["Ir"]["values"]["new"];
        counts.insert(name, instructions.as_u64().ok_or_else(|| format!("no count of instructions: {line}"))?);
    }
    if counts.is_empty() {
        return Err(format!("the benches counted nothing\n{text}"));
    }
    Ok(counts)
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn cpu_model() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or("an unknown CPU", |(_, model)| model).trim().to_owned()
}

fn ensure_runner() -> Result<(), Failure> {
    let version = Command::new("gungraun-runner").arg("--version").output();
    if version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(RUNNER_VERSION)) {
        return Ok(());
    }
    // It only starts valgrind: a debug build suffices.
    install::fetch(&mut cargo(&[
        "install",
        "gungraun-runner",
        "--version",
        RUNNER_VERSION,
        "--locked",
        "--debug",
        "--force",
    ]))
}

/// A gRPC load generator for comparison.
const GHZ: &str = "github.com/bojand/ghz/cmd/ghz@v0.121.0";

/// Both of our drivers and other load generators, in one run.
pub(crate) fn peers(words: &[&str]) -> Result<(), Failure> {
    for (program, package, path) in [
        ("nginx", "nginx-light", "/usr/sbin/nginx"),
        ("wrk", "wrk", "/usr/bin/wrk"),
        ("ab", "apache2-utils", "/usr/bin/ab"),
        ("h2load", "nghttp2-client", "/usr/bin/h2load"),
        ("gcc", "gcc", "/usr/bin/gcc"),
        ("liburing", "liburing-dev", "/usr/include/liburing.h"),
    ] {
        install::ensure(program, package, &[path])?;
    }
    run(&mut cargo(&["build", "--release"]))?;
    let words = if words.is_empty() { &["http1", "--rounds", "3", "--seconds", "5"] } else { words };
    let mut command = Command::new("python3");
    if words[0] == "grpc" {
        // Go programs are installed in the same folder as the server.
        let (server, path) = (install::grpc_peer()?, std::env::var("PATH").unwrap_or_default());
        let tools = server.parent().map_or(String::new(), |folder| folder.display().to_string());
        if !root().join("target/tools/ghz").exists() {
            install::fetch(install::go()?.env("GOBIN", &tools).args(["install", GHZ]))?;
        }
        command.env("PATH", format!("{path}:{tools}"));
    }
    if words[0] == "scenario" {
        let (tools, path) = (install::k6()?, std::env::var("PATH").unwrap_or_default());
        command.env("PATH", format!("{path}:{}", tools.display()));
    }
    command.arg("bench/peers.py").args(words);
    let flags = match words[0] {
        "short" => "--no-keepalive ",
        "tls" => "-k --http1.1 ",
        "h2" => "--http2 --streams {streams} ",
        "grpc" => "--streams {streams} -d world ",
        "h2tls" => "-k --http2 --streams {streams} ",
        _ => "",
    };
    for driver in ["uring", "poll"] {
        let onrush = root().join("target/release/onrush");
        let onrush = onrush.display();
        if words[0] == "scenario" {
            command.args(["--ours", &format!("{onrush} run --driver {driver} {{dir}}/scenario.yaml")]);
        }
        let ours = format!("{onrush} --driver {driver} {flags}-c {{connections}} -z {{seconds}}s {{url}}");
        command.args(["--ours", &ours]);
    }
    run(&mut command)
}

/// Duration of each measurement of the well-known tools: a Java process that has just started is not representative.
const TOOLS_SECONDS: &str = "20";

/// Ours compared with wrk, k6, JMeter and Locust, in one run: CPU and memory of a closed load.
pub(crate) fn tools(words: &[&str]) -> Result<(), Failure> {
    install::ensure("nginx", "nginx-light", &["/usr/sbin/nginx"])?;
    install::ensure("wrk", "wrk", &["/usr/bin/wrk"])?;
    let tools = install::well_known_tools()?;
    run(&mut cargo(&["build", "--release"]))?;
    let ours = root().join("target/release/onrush");
    let ours = format!("{} -c {{connections}} -z {{seconds}}s {{url}}", ours.display());
    let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("python3");
    command.env("PATH", path).args(["bench/peers.py", "http1", "--ours", &ours, "--only", "wrk,k6,jmeter,locust"]);
    run(command.args(["--rounds", "3", "--seconds", TOOLS_SECONDS]).args(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(counts: &[(&str, u64)]) -> Counts {
        counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect()
    }

    fn kept(models: &[(&str, &[(&str, u64)])]) -> KeptCounts {
        KeptCounts(models.iter().map(|(model, rows)| ((*model).to_owned(), counts(rows))).collect())
    }

    #[test]
    fn growth_is_judged() {
        let before = kept(&[("one", &[("a", 1_000), ("b", 1_000), ("c", 1_000), ("gone", 1)])]);
        let now = counts(&[("a", 1_020), ("b", 1_021), ("c", 1), ("new", 5)]);
        let (lines, grown) = compare(&before, "one", &now);
        assert_eq!(grown, ["b", "new", "gone"]);
        assert_eq!(lines.len(), 5);
    }

    #[test]
    fn each_cpu_model_is_judged_by_its_own_counts() {
        let before = kept(&[("one", &[("a", 1_000), ("b", 1_000)]), ("other", &[("a", 2_000)])]);
        let judged = |model, a, b| compare(&before, model, &counts(&[("a", a), ("b", b)])).1;
        assert_eq!(judged("one", 1_020, 1_020), Vec::<String>::new());
        assert_eq!(judged("one", 1_021, 1_021), ["a", "b"]);
        // It has no count of `b`.
        assert_eq!(judged("other", 2_040, 9_000), Vec::<String>::new());
        assert_eq!(judged("other", 2_041, 9_000), ["a"]);
        // For an unknown model only the names are checked.
        assert_eq!(judged("third", 9_000, 9_000), Vec::<String>::new());
        assert_eq!(compare(&before, "third", &counts(&[("a", 1), ("new", 1)])).1, ["new", "b"]);
    }

    #[test]
    fn an_update_is_of_one_model_and_forgets_what_is_gone() {
        let mut before = kept(&[("one", &[("a", 1), ("gone", 1)]), ("other", &[("a", 2), ("gone", 2)])]);
        before.update("one".to_owned(), counts(&[("a", 3), ("new", 4)]));
        assert_eq!(before, kept(&[("one", &[("a", 3), ("new", 4)]), ("other", &[("a", 2)])]));
        before.update("third".to_owned(), counts(&[("a", 5), ("new", 6)]));
        let all: [(&str, &[(&str, u64)]); 3] =
            [("one", &[("a", 3), ("new", 4)]), ("other", &[("a", 2)]), ("third", &[("a", 5), ("new", 6)])];
        assert_eq!(before, kept(&all));
    }

    #[test]
    fn the_kept_counts_can_be_read() {
        let text = std::fs::read_to_string(root().join("bench/instructions.json")).expect("the kept counts");
        let kept: KeptCounts = serde_json::from_str(&text).expect("a map of maps");
        assert!(
            !kept.0.is_empty() && kept.0.values().all(|counts| counts.contains_key("exchange keep_alive")),
            "{kept:?}"
        );
    }
}
