//! Many connections under a low descriptor limit, client and target alike.

#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

/// More than ten times what the limit allows.
const CONNECTIONS: u64 = 15_000;
const LIMIT: u64 = 1_024;

/// The binary under a hard limit of its own.
fn limited(words: &str) -> Command {
    let binary = env!("CARGO_BIN_EXE_onrush");
    let mut command = Command::new("bash");
    command.args(["-c", &format!("ulimit -Sn {LIMIT} && ulimit -Hn {LIMIT} && exec '{binary}' {words}")]);
    command.env("LANG", "C.UTF-8").env_remove("LC_ALL").stdin(Stdio::null());
    command
}

struct Served(Child, String);

impl Served {
    fn start() -> Self {
        let mut command = limited("serve --listen 127.0.0.1:0 --threads 1 --driver uring");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("bash starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
        let url = line.trim().strip_prefix("listening on ").expect("the address").to_owned();
        Self(child, url)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// They come over a time: all at once would overflow the accept queue, which is another matter.
fn load(driver: &str, ramp_s: u64, url: &str, output: &str) -> Output {
    let (rate, until) = (CONNECTIONS / ramp_s, 2 * ramp_s);
    let words = format!("--quiet --output {output} {url}");
    // A queue of connections that overflows once, since somebody had no core, is asked again for half a minute by the kernel.
    let words = format!("--driver {driver} -c {CONNECTIONS} --ramp {rate} -z {until}s -t 120s {words}");
    limited(&words).output().expect("bash starts")
}

/// The report of a run in which every user had its turn to connect: a slow machine needs more time for that.
fn report_of_all(url: &str) -> serde_json::Value {
    let mut last = serde_json::Value::Null;
    for ramp_s in [3, 15] {
        let output = load("uring", ramp_s, url, "json");
        last = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        if last["connections"]["tried"] == CONNECTIONS && last["requests"]["failed"] == 0 {
            break;
        }
    }
    last
}

/// One test, so that the two loads do not disturb each other.
#[test]
fn io_uring_holds_them_and_poll_says_why_it_cannot() {
    let served = Served::start();
    let report = report_of_all(&served.1);
    // Each user has one connection and keeps it: each was established, and used at least once.
    assert_eq!(report["connections"]["tried"], CONNECTIONS, "{report:#}");
    assert_eq!(report["connections"]["established"], CONNECTIONS, "{report:#}");
    assert_eq!(report["requests"]["failed"], 0, "{report:#}");
    assert!(report["requests"]["succeeded"].as_u64() >= Some(CONNECTIONS), "{report:#}");

    let output = load("poll", 3, &served.1, "text");
    let page = String::from_utf8_lossy(&output.stdout);
    let line = page.lines().find(|line| line.contains("no-descriptor")).unwrap_or_else(|| panic!("{page}"));
    assert!(line.contains("ulimit -n"), "{line}");
}
