//! A million connections between two processes of this machine, and a grid of message sizes and rates: measured, and
//! printed as tables.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::Value;

use crate::{Failure, cargo, root, run};

/// Interval at which each connection sends a message.
const EVERY_S: u64 = 120;
/// Hold time after all are connected: each has sent a message, and one more minute.
const HOLD_S: u64 = EVERY_S + 60;

/// `onrush serve`, and its address.
struct Server {
    child: Child,
    http: String,
    tcp: String,
}

impl Server {
    fn start(binary: &PathBuf) -> Result<Self, Failure> {
        let mut child = Command::new(binary)
            .args(["serve", "--listen", "127.0.0.1:0", "--tcp", "0", "--lang", "en"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut lines = BufReader::new(child.stdout.take().ok_or("no pipe")?).lines();
        let mut next = |start: &str| -> Result<String, Failure> {
            let line = lines.next().and_then(Result::ok).ok_or("the server ended")?;
            let line = line.strip_prefix(start).ok_or_else(|| format!("an unknown line: {line}"))?;
            Ok(line.trim_end_matches('/').to_owned())
        };
        let (http, tcp) = (next("listening on http://")?, next("listening on tcp://")?);
        Ok(Self { child, http, tcp })
    }

    fn resident(pid: u32) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).map_or(0, |kib: u64| kib * 1_024)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Available memory of the machine.
fn available() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("MemAvailable:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).map_or(0, |kib: u64| kib * 1_024)
}

fn hold(binary: &PathBuf, words: &[String]) -> Result<Value, Failure> {
    println!("+ onrush hold {}", words.join(" "));
    let mut command = Command::new(binary);
    command.args(["hold", "--output", "json", "--lang", "en"]).args(words);
    let done = command.stderr(Stdio::inherit()).output().map_err(|error| error.to_string())?;
    serde_json::from_slice(&done.stdout).map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&done.stdout)))
}

fn number(report: &Value, path: &str) -> f64 {
    report.pointer(path).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

fn mib(bytes: f64) -> String {
    format!("{:.1} MiB", bytes / 1_048_576.0)
}

/// The column of one kind of connections.
fn column(binary: &PathBuf, name: &str, count: u64) -> Result<Vec<String>, Failure> {
    let server = Server::start(binary)?;
    let before_all = available();
    let pid = server.child.id();
    let before = Server::resident(pid);
    let (most, lowest) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(u64::MAX)));
    let is_over = Arc::new(AtomicBool::new(false));
    let watch = {
        let (most, lowest, is_over) = (most.clone(), lowest.clone(), is_over.clone());
        std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                most.fetch_max(Server::resident(pid), Ordering::Relaxed);
                lowest.fetch_min(available(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(500));
            }
        })
    };
    let mut words: Vec<String> = [
        "-c",
        &count.to_string(),
        "--hold",
        &format!("{HOLD_S}s"),
        "--every",
        &format!("{EVERY_S}s"),
        "--interval",
        "5s",
    ]
    .map(str::to_owned)
    .to_vec();
    match name {
        "TCP" => words.extend(["-d", "ping", "--read-bytes", "4", &format!("tcp://{}", server.tcp)].map(str::to_owned)),
        _ => words.push(format!("ws://{}/", server.http)),
    }
    let report = hold(binary, &words)?;
    is_over.store(true, Ordering::Relaxed);
    watch.join().map_err(|_| "the watch of memory ended badly")?;
    drop(server);
    std::thread::sleep(Duration::from_secs(3));
    let n = |path: &str| number(&report, path);
    let each = |bytes: f64| format!("{:.0} B", bytes / count as f64);
    let (ours, ours_before) = (n("/memory/resident_bytes"), n("/memory/resident_bytes_before"));
    let theirs = most.load(Ordering::Relaxed) as f64;
    Ok(vec![
        format!("{:.0}", n("/connections/most_open")),
        format!("{:.1} s", n("/opened_after_s")),
        format!("{:.0}", n("/connections/failed")),
        format!("{:.0}", n("/connections/lost")),
        format!("{:.0} of {:.0}", n("/messages/answered"), n("/messages/sent")),
        format!("{:.2} ms", n("/times/response_time/p50_ns") / 1e6),
        format!("{:.2} ms", n("/times/response_time/p99_ns") / 1e6),
        format!("{:.0}", n("/connections/open_when_closing")),
        format!("{:.0} in {:.1} s", n("/connections/closed"), n("/wall_s") - n("/closing_after_s")),
        format!("{}, {}", mib(ours), each(ours - ours_before)),
        format!("{}, {}", mib(theirs), each(theirs - before as f64)),
        format!("{}, {}", mib(n("/memory/kernel_bytes")), each(n("/memory/kernel_bytes"))),
        mib(before_all.saturating_sub(lowest.load(Ordering::Relaxed)) as f64),
        mib(before_all.saturating_sub(available()) as f64),
    ])
}

const ROWS: [&str; 14] = [
    "held at one time",
    "all established after",
    "failed",
    "lost",
    "messages answered",
    "response time p50",
    "response time p99",
    "held at the end",
    "closed cleanly",
    "client, each connection",
    "target, each connection",
    "kernel (both ends), each",
    "memory of the machine, at most",
    "not freed afterwards",
];

/// Connections, bytes and milliseconds between two messages of each.
fn grid(binary: &PathBuf) -> Result<(), Failure> {
    let server = Server::start(binary)?;
    println!("\n| connections | bytes | every | asked/s | achieved/s | p99 | verdict |\n|---|---|---|---|---|---|---|");
    let mut rows = Vec::new();
    for connections in [5_000, 10_000, 20_000] {
        for bytes in [100, 1_000] {
            for every in [100, 200] {
                let words = [
                    "-c",
                    &format!("{connections}"),
                    "--data-bytes",
                    &format!("{bytes}"),
                    "--every",
                    &format!("{every}ms"),
                    "--hold",
                    "6s",
                    "--grace",
                    "15s",
                    &format!("ws://{}/", server.http),
                ];
                let report = hold(binary, &words.map(str::to_owned))?;
                let n = |path: &str| number(&report, path);
                let verdict =
                    report["verdict"]["text"].as_str().and_then(|text| text.lines().next()).unwrap_or_default();
                rows.push(format!(
                    "| {connections} | {bytes} | {every}ms | {:.0} | {:.0} | {:.1} ms | {verdict} |",
                    n("/requested_per_s"),
                    n("/achieved_per_s"),
                    n("/times/response_time/p99_ns") / 1e6,
                ));
            }
        }
    }
    println!("{}", rows.join("\n"));
    Ok(())
}

/// Runs all measurements. See the module.
pub(crate) fn million(count: u64) -> Result<(), Failure> {
    run(&mut cargo(&["build", "--release"]))?;
    let binary = root().join("target/release/onrush");
    let (ws, tcp) = (column(&binary, "WebSocket", count)?, column(&binary, "TCP", count)?);
    println!("\n| {count} connections | WebSocket | TCP |\n|---|---|---|");
    for ((name, ws), tcp) in ROWS.iter().zip(&ws).zip(&tcp) {
        println!("| {name} | {ws} | {tcp} |");
    }
    grid(&binary)
}
