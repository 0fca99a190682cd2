//! Benches: instructions of the hot path, and CPU per request beside peers.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Failure, cargo, install, root, run};

/// The runner must be of the version of the library.
const RUNNER_VERSION: &str = "0.20.0";
/// A count may grow by so many percent before it is a regression.
const GROWTH_MAX_PERCENT: u64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Fails when a count has grown.
    Compare,
    /// Writes the counts down.
    Update,
}

/// The counts as they are kept.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Kept {
    /// Other models take other paths through the same libraries.
    cpu_model: String,
    /// Instructions by bench.
    instructions: BTreeMap<String, u64>,
}

/// Counts the instructions of the hot path, and compares them with those that are kept.
pub(crate) fn instructions(mode: Mode) -> Result<(), Failure> {
    install::ensure("valgrind", "valgrind", &["/usr/bin/valgrind"])?;
    ensure_runner()?;
    let now = Kept { cpu_model: cpu_model(), instructions: count()? };
    let path = root().join("bench/instructions.json");
    if mode == Mode::Update {
        let mut text = serde_json::to_string_pretty(&now).map_err(|error| error.to_string())?;
        text.push('\n');
        return std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()));
    }
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let kept: Kept = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let (lines, grown) = compare(&kept, &now);
    println!("instructions on {}", now.cpu_model);
    lines.iter().for_each(|line| println!("{line}"));
    if kept.cpu_model != now.cpu_model {
        println!("the kept counts are of {}: nothing is judged here", kept.cpu_model);
        return Ok(());
    }
    if grown.is_empty() {
        return Ok(());
    }
    Err(format!(
        "these grew by more than {} %: {}; make them smaller, or write the new counts with: cargo xtask bench --update",
        GROWTH_MAX_PERCENT,
        grown.join(", ")
    ))
}

/// A line for each bench, and the names of those that grew too much or are missing on one side.
fn compare(kept: &Kept, now: &Kept) -> (Vec<String>, Vec<String>) {
    let (mut lines, mut grown) = (Vec::new(), Vec::new());
    for (name, count) in &now.instructions {
        let Some(before) = kept.instructions.get(name) else {
            lines.push(format!("  {name:<36} {count:>12}  not kept yet"));
            grown.push(name.clone());
            continue;
        };
        let growth = *count as f64 / *before as f64 - 1.0;
        lines.push(format!("  {name:<36} {count:>12}  {:+.2} %", growth * 100.0));
        if count * 100 > before * (100 + GROWTH_MAX_PERCENT) {
            grown.push(name.clone());
        }
    }
    for name in kept.instructions.keys().filter(|name| !now.instructions.contains_key(*name)) {
        lines.push(format!("  {name:<36} {:>12}  kept, and not counted", "-"));
        grown.push(name.clone());
    }
    (lines, grown)
}

/// Runs the benches; each prints one line of JSON.
fn count() -> Result<BTreeMap<String, u64>, Failure> {
    let mut command = cargo(&["bench", "--package", "engine", "--bench", "instructions", "--", "--output-format=json"]);
    println!("+ {command:?}");
    let output = command.current_dir(root()).stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        return Err(format!("the benches ended with {}\n{text}", output.status));
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
    // It only starts valgrind: a quick build serves as well as a fast one.
    run(&mut cargo(&["install", "gungraun-runner", "--version", RUNNER_VERSION, "--locked", "--debug", "--force"]))
}

/// A peer of gRPC.
const GHZ: &str = "github.com/bojand/ghz/cmd/ghz@v0.121.0";

/// Both drivers of ours beside the peers, in one run.
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
        // Peers that go installed lie beside the server.
        let (server, path) = (install::grpc_peer()?, std::env::var("PATH").unwrap_or_default());
        let tools = server.parent().map_or(String::new(), |folder| folder.display().to_string());
        if !root().join("target/tools/ghz").exists() {
            run(Command::new("go").env("GOBIN", &tools).args(["install", GHZ]))?;
        }
        command.env("PATH", format!("{path}:{tools}"));
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
        let ours = format!("{} --driver {driver} {flags}-c {{connections}} -z {{seconds}}s {{url}}", onrush.display());
        command.args(["--ours", &ours]);
    }
    run(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(counts: &[(&str, u64)]) -> Kept {
        let instructions = counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
        Kept { cpu_model: "one".to_owned(), instructions }
    }

    #[test]
    fn growth_is_judged() {
        let before = kept(&[("a", 1_000), ("b", 1_000), ("c", 1_000), ("gone", 1)]);
        let now = kept(&[("a", 1_020), ("b", 1_021), ("c", 1), ("new", 5)]);
        let (lines, grown) = compare(&before, &now);
        assert_eq!(grown, ["b", "new", "gone"]);
        assert_eq!(lines.len(), 5);
    }
}
