//! Curl commands: real curl and onrush send to one server, which records the requests.

mod chains;
mod proxies;

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::onrush;
use crate::recorder::{Came, Recorder};

const COMMANDS: [&str; 2] = [include_str!("curl/commands.txt"), include_str!("curl/more.txt")];
/// Commands that are compared at the same time.
const WORKERS: usize = 4;
/// The minimum number of commands.
const COMMANDS_MIN: usize = 528;

/// The compared parts: all but the boundary of forms, what curl expects of servers or requests of plain ones (an
/// upgrade to HTTP/2), and our own name. Fields have their order, and their names are in curl's notation.
fn comparable(mut came: Came) -> Came {
    let is_left_out = |name: &str, value: &str| match name.to_ascii_lowercase().as_str() {
        "expect" | "http2-settings" => true,
        "upgrade" => value == "h2c",
        "connection" => value == "Upgrade, HTTP2-Settings",
        _ => false,
    };
    came.fields.retain(|(name, value)| !is_left_out(name, value));
    for (name, value) in &mut came.fields {
        if name.eq_ignore_ascii_case("user-agent") && (value.starts_with("curl/") || value.starts_with("onrush/")) {
            *value = "AGENT".to_owned();
        }
    }
    let kind = came.fields.iter_mut().rev().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let boundary =
        kind.as_ref().and_then(|(_, value)| value.rsplit_once("boundary=--")).map(|(_, text)| format!("--{text}"));
    if let (Some(boundary), Some((_, value))) = (boundary, kind) {
        *value = value.replace(&boundary, "BOUNDARY");
        came.body = replaced(&came.body, boundary.as_bytes(), b"BOUNDARY");
        // The boundary of files within a part has a name of its own.
        let text = String::from_utf8_lossy(&came.body).into_owned();
        let inner = text.split_once("multipart/mixed; boundary=").and_then(|(_, rest)| rest.split("\r\n").next());
        if let Some(inner) = inner {
            came.body = replaced(&came.body, inner.as_bytes(), b"INNER");
        }
    }
    came
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let (mut out, mut place) = (Vec::new(), 0);
    while place < bytes.len() {
        if bytes[place..].starts_with(from) {
            out.extend_from_slice(to);
            place += from.len();
        } else {
            out.push(bytes[place]);
            place += 1;
        }
    }
    out
}

/// The commands of the files, each with its lines.
fn commands() -> Vec<String> {
    let (mut all, mut command) = (Vec::new(), String::new());
    for line in COMMANDS.iter().flat_map(|text| text.lines()) {
        if command.is_empty() && (line.starts_with('#') || line.is_empty()) {
            continue;
        }
        command.push_str(line);
        let quotes = command.matches('\'').count() - command.matches("\\'").count();
        if line.ends_with('\\') || quotes % 2 == 1 {
            command.push('\n');
            continue;
        }
        all.push(std::mem::take(&mut command));
    }
    all
}

/// Runs a shell command, and returns its output.
fn bash(command: &str, folder: &Path) -> String {
    let mut shell = Command::new("bash");
    shell.arg("-c").arg(command).current_dir(folder).env("LC_ALL", "C.UTF-8").stdin(std::process::Stdio::null());
    for name in ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"] {
        shell.env_remove(name);
    }
    let ended = shell.env("ONRUSH", env!("CARGO_BIN_EXE_onrush")).output().expect("bash starts");
    String::from_utf8_lossy(&ended.stderr).into_owned()
}

/// Runs our own binary on the same command: as words after our name, or by a file.
fn ours(filled: &str, by_words: bool, folder: &Path) -> String {
    if by_words {
        return bash(&filled.replacen("curl", "\"$ONRUSH\" -c 1 -n 1 --quiet curl", 1), folder);
    }
    let file = folder.join("command.txt");
    std::fs::write(&file, filled).expect("a file");
    let mut ours = onrush(&["-c", "1", "-n", "1", "--quiet", "-p"]);
    let ended = ours.arg(&file).current_dir(folder).output().expect("the binary starts");
    String::from_utf8_lossy(&ended.stderr).into_owned()
}

/// Commands that one run of ours takes from one file.
const BATCH: usize = 10;
/// One in this many commands is given as words, by itself.
const BY_WORDS: usize = 6;

/// The differences when these commands run, one after the other; `None` if there are none.
fn difference(commands: &[&String], by_words: bool, recorder: &Recorder) -> Option<String> {
    let filled: Vec<String> = commands.iter().map(|command| recorder.fill(command)).collect();
    let filled = filled.join("\n");
    let said = bash(&filled, &recorder.folder);
    let of_curl = recorder.take();
    if of_curl.is_empty() {
        return Some(format!("curl sent nothing: {said}"));
    }
    let said = ours(&filled, by_words, &recorder.folder);
    let came = recorder.take();
    let [of_curl, ours] = [of_curl, came].map(|all| all.into_iter().map(comparable).collect::<Vec<_>>());
    (of_curl != ours).then(|| format!("curl: {of_curl:?}\n  ours: {ours:?}\n  {said}"))
}

#[test]
fn what_curl_sends_is_what_we_send() {
    let commands = commands();
    let (by_words, by_file): (Vec<_>, Vec<_>) =
        commands.iter().enumerate().partition(|(number, _)| number % BY_WORDS == 0);
    let only = |numbered: Vec<(usize, _)>| numbered.into_iter().map(|(_, command)| command).collect::<Vec<&String>>();
    let (by_words, by_file) = (only(by_words), only(by_file));
    let jobs: Vec<(&[&String], bool)> =
        by_words.chunks(1).map(|one| (one, true)).chain(by_file.chunks(BATCH).map(|batch| (batch, false))).collect();
    let (next, differences) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = |worker: usize| {
        let recorder = Recorder::start(&format!("curl{worker}"));
        while let Some((batch, by_words)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let Some(of_all) = difference(batch, *by_words, &recorder) else { continue };
            // Run one by one, to find the one that differs; this also finds a command that sends nothing.
            let each = batch.iter().filter_map(|command| {
                difference(&[*command], *by_words, &recorder).map(|what| format!("{command}\n  {what}"))
            });
            let mut each: Vec<String> = each.collect();
            if each.is_empty() {
                each.push(format!("only together: {batch:?}\n  {of_all}"));
            }
            differences.lock().expect("nobody panics with it").extend(each);
        }
    };
    std::thread::scope(|scope| (0..WORKERS).for_each(|worker| drop(scope.spawn(move || work(worker)))));
    let (differences, count) = (differences.into_inner().expect("nobody panics with it"), commands.len());
    assert!(differences.is_empty(), "{} of {count} differ:\n{}", differences.len(), differences.join("\n"));
    assert!(count >= COMMANDS_MIN, "{count} commands");
}
