//! Loads that are ended from outside: the results until then are reported all the same.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::seen::wait_for;
use crate::{ChildGuard, Folder, Served, onrush, output, signal, text};

/// The program with SIGHUP as in a terminal: the test runner may have it ignored, which is inherited.
fn in_terminal(words: &[&str]) -> Command {
    let own = onrush(words);
    let mut command = Command::new("env");
    command.arg("--default-signal=HUP").arg(own.get_program()).args(own.get_args()).stdin(Stdio::null());
    own.get_envs().for_each(|(name, value)| match value {
        Some(value) => drop(command.env(name, value)),
        None => drop(command.env_remove(name)),
    });
    command
}

/// Runs until the table has such a row, then sends signals, each after the last one was reported.
fn signalled(mut command: Command, signals: &[&str], has_begun: fn(&str) -> bool) -> (String, Output) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let begun = lines.find(|line| line.as_ref().is_ok_and(|line| has_begun(line)));
    assert!(begun.is_some(), "{command:?}");
    signals.iter().for_each(|name| signal(&child, name));
    let page: Vec<String> = lines.map(|line| line.expect("UTF-8")).collect();
    (page.join("\n"), child.wait_with_output().expect("it ends"))
}

fn has_time(row: &str) -> bool {
    row.contains("0.")
}

/// A row has the time and then the open connections.
fn all_are_open(row: &str) -> bool {
    row.split('│').nth(1).is_some_and(|open| open.trim() == "5")
}

fn json(path: &str) -> Value {
    let text = std::fs::read_to_string(path).expect("it was written");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {path}: {} bytes", text.len()))
}

#[test]
fn a_terminal_that_goes_away_loses_nothing() {
    let (served, folder) = (Served::start(), Folder::new("hangup"));
    let (file, plan) = (folder.path("report.json"), folder.path("plan.yaml"));
    let (url, slow) = (served.url("/"), served.url("/delay/300"));
    let ws = url.replace("http://", "ws://");
    let scenario = format!("scenarios: {{one: {{load: {{rate: 50/s, for: 1h}}, steps: [{{get: '{url}'}}]}}}}");
    std::fs::write(&plan, scenario).expect("a place for it");
    let open = ["-q", "50", "-z", "1h"];
    for (words, signals) in [
        ([&open[..], &[url.as_str()]].concat(), vec!["-HUP"]),
        ([&open[..], &["--driver", "poll", &url]].concat(), vec!["-HUP"]),
        ([&open[..], &["--no-keepalive", &url]].concat(), vec!["-HUP"]),
        (vec!["-c", "5", "-z", "1h", &url], vec!["-HUP"]),
        // The shell sends it, and then the kernel; exchanges in flight may finish all the same.
        ([&open[..], &[slow.as_str()]].concat(), vec!["-HUP", "-HUP", "-HUP"]),
        ([&open[..], &[slow.as_str()]].concat(), vec!["-TERM", "-HUP"]),
        (vec!["-c", "2", "-z", "1h", "-d", "x", &ws], vec!["-HUP"]),
        (vec!["run", &plan], vec!["-HUP"]),
    ] {
        let all = [&words[..], &["--interval", "100ms", "--json", &file]].concat();
        let (page, ended) = signalled(in_terminal(&all), &signals, has_time);
        assert_eq!(ended.status.code(), Some(130), "{words:?}: {ended:?}");
        assert!(page.contains("stopped before the end of the plan"), "{words:?}: {page}");
        let seen = json(&file);
        assert_eq!(seen["stopped"], true, "{words:?}");
        assert!(seen["requests"]["succeeded"].as_u64() > Some(0), "{words:?}: {seen:#}");
        assert_eq!(seen["requests"]["unfinished"], 0, "{words:?}: {seen:#}");
        std::fs::remove_file(&file).expect("it is there");
    }
    let words = ["hold", "-c", "5", "--hold", "1h", "--every", "100ms", "--interval", "100ms", "--json", &file, &ws];
    let (page, ended) = signalled(in_terminal(&words), &["-HUP"], all_are_open);
    assert_eq!(ended.status.code(), Some(130), "{ended:?}");
    assert!(page.contains("stopped before the end of the plan"), "{page}");
    let held = json(&file);
    assert_eq!((&held["verdict"]["is_kept"], &held["connections"]["closed"]), (&false.into(), &5.into()), "{held:#}");
}

/// The reader goes away with the terminal: the file is written.
#[test]
fn a_report_is_written_when_its_reader_has_gone_with_the_terminal() {
    let (served, folder) = (Served::start(), Folder::new("reader"));
    let (url, file) = (served.url("/"), folder.path("report.json"));
    let words = ["-q", "50", "-z", "1h", "--interval", "100ms", "--json", &file, &url];
    let mut child = in_terminal(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(lines.any(|line| line.is_ok_and(|line| line.contains("0."))));
    drop((lines, child.stderr.take()));
    signal(&child, "-HUP");
    child.wait().expect("it ends");
    let seen = json(&file);
    assert!(seen["requests"]["succeeded"].as_u64() > Some(0), "{seen:#}");
}

#[test]
fn nohup_outlives_the_terminal() {
    let served = Served::start();
    let own = onrush(&[]);
    let words =
        ["-q", "50", "-n", "60", "--max-lateness", "60s", "--interval", "100ms", &served.url("/")].map(str::to_owned);
    let mut command = Command::new("nohup");
    command.arg(own.get_program()).args(words).env("LANG", "C.UTF-8").stdin(Stdio::null());
    let (page, ended) = signalled(command, &["-HUP", "-HUP"], has_time);
    assert_eq!(ended.status.code(), Some(0), "{ended:?} {page}");
    assert!(page.contains("60 started = 60 succeeded"), "{page}");
}

/// A command that should be refused; it is ended if it was not.
fn refused(words: &[&str]) -> Output {
    let child = onrush(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut child = ChildGuard(child);
    wait_for("it is refused", || child.0.try_wait().expect("it can be asked").is_some());
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    child.0.stdout.take().expect("a pipe").read_to_end(&mut stdout).expect("what it said");
    child.0.stderr.take().expect("a pipe").read_to_end(&mut stderr).expect("what it said");
    Output { status: child.0.wait().expect("it ended"), stdout, stderr }
}

#[test]
fn a_stop_file_has_a_folder_to_appear_in() {
    let (served, folder) = (Served::start(), Folder::new("stop"));
    let (url, file) = (served.url("/"), folder.path("file"));
    let ws = url.replace("http://", "ws://");
    std::fs::write(&file, "").expect("a place for it");
    let load = ["-q", "5", "-z", "1h", &url];
    let hold = ["hold", "-c", "1", "--hold", "1h", &ws];
    let below_file = format!("{file}/stop");
    let missing = [folder.path("missing/stop"), folder.path("missing/deeper/stop"), below_file];
    for path in missing.iter().map(String::as_str).chain(["no-such-folder/stop", "/no-such-folder/stop"]) {
        let parent = Path::new(path).parent().expect("it has one").display().to_string();
        for (language, says) in [("en", "can never appear"), ("zh", "不可能出现")] {
            for load in [&load[..], &hold[..]] {
                let said = refused(&[load, &["--lang", language, "--stop-file", path]].concat());
                let complaint = text(&said.stderr);
                assert_eq!(said.status.code(), Some(2), "{path}: {said:?}");
                assert!(complaint.contains(says) && complaint.contains(&format!("'{parent}'")), "{complaint}");
                assert!(said.stdout.is_empty(), "{said:?}");
            }
        }
    }
    // A name alone is in the working directory.
    for path in ["onrush-stop-that-never-comes", "./onrush-stop-that-never-comes", &folder.path("stop")] {
        let said = output(&["-n", "1", "--stop-file", path, &url]);
        assert_eq!(said.status.code(), Some(0), "{path}: {said:?}");
    }
}
