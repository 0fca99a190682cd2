//! Many connections under a low descriptor limit, client and target alike.

#![cfg(target_os = "linux")]

#[macro_use]
extern crate claims;

#[expect(dead_code, reason = "what runs here has a limit of its own")]
mod binary;
mod seen;

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

use binary::Served;
use seen::{stats, wait_for};

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

fn serve() -> Served {
    let mut command = limited("serve --listen 127.0.0.1:0 --threads 1 --driver uring");
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("bash starts");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
    let url = line.trim().strip_prefix("listening on ").expect("the address").trim_end_matches('/').to_owned();
    Served { child, url }
}

/// Users whose requests have no response, so that all of their connections are open at a time. It is stopped when the
/// target has all of the requests; how long that takes does not matter. They come over a time: all at once would
/// overflow the accept queue, which is another matter.
fn hold_all(served: &Served) -> Output {
    let words = format!(
        "--driver uring -c {CONNECTIONS} --ramp {}/s -z 1h -t 1h --connect-timeout 1h --grace 0 --quiet --output json {}/delay/3600000",
        CONNECTIONS / 3,
        served.url
    );
    let child = limited(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("bash starts");
    wait_for("all requests are there", || stats(served)["requests_by_path"]["/delay"] == CONNECTIONS);
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill starts");
    assert!(status.success(), "kill");
    child.wait_with_output().expect("it ends")
}

/// One test, so that the two loads do not disturb each other.
#[test]
fn io_uring_holds_them_and_poll_says_why_it_cannot() {
    let served = serve();
    let output = hold_all(&served);
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    // Each user has one connection and keeps it: each was established, and used.
    assert_eq!(report["connections"]["tried"], CONNECTIONS, "{report:#}");
    assert_eq!(report["connections"]["established"], CONNECTIONS, "{report:#}");
    assert_eq!(report["requests"]["failed"], 0, "{report:#}");
    assert_eq!(report["requests"]["unfinished"], CONNECTIONS, "{report:#}");

    // Twice as many as poll has descriptors for: the others fail at once.
    let (users, url) = (2 * LIMIT, &served.url);
    let output = limited(&format!("--driver poll -c {users} -n {users} -t 1h --quiet {url}/")).output();
    let output = output.expect("bash starts");
    let page = String::from_utf8_lossy(&output.stdout);
    let line = page.lines().rfind(|line| line.contains("no-descriptor")).unwrap_or_else(|| panic!("{page}"));
    assert!(line.contains("ulimit -n"), "{line}");
}
