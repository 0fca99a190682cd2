//! `--screen` in a real terminal, `tmux`: its display, its keys, and the restored terminal.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use super::seen::wait_for;
use super::watched::counted;
use super::{Served, onrush, text};

/// A terminal of its own; it ends with the value.
struct Tmux(String);

impl Tmux {
    /// Runs a shell command line in it, with `$O` for the binary, and prints its exit code.
    fn run(command: &str, (columns, rows): (u32, u32)) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let tmux = Self(format!("onrush-cli-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
        let binary = env!("CARGO_BIN_EXE_onrush");
        let line = format!("O={binary}; echo stood-before; {command}; echo code=$?; stty -a; read -r _");
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let words = ["-f", "/dev/null", "new-session", "-d", "-x", &columns, "-y", &rows, &line];
        tmux.ask(&words);
        tmux
    }

    fn ask(&self, words: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.args(["-L", &self.0]).args(words).env("LC_ALL", "C.UTF-8").env("LANG", "C.UTF-8").env_remove("TMUX");
        let out = command.stdin(Stdio::null()).output().expect("`cargo xtask test` installs tmux");
        text(&out.stdout).to_owned()
    }

    fn keys(&self, keys: &[&str]) {
        self.ask(&[&["send-keys"], keys].concat());
    }

    fn until(&self, parts: &[&str]) -> String {
        self.until_all(parts, |_| true)
    }

    /// Waits until all of these parts are shown and the condition holds: the screen may be drawn in pieces.
    fn until_all(&self, parts: &[&str], is_right: impl Fn(&str) -> bool) -> String {
        let mut shown = String::new();
        wait_for(&format!("the terminal shows {parts:?}"), || {
            // With the lines that scrolled off the top.
            shown = self.ask(&["capture-pane", "-p", "-S", "-200"]);
            parts.iter().all(|part| shown.contains(part)) && is_right(&shown)
        });
        shown
    }

    /// Whether the alternate screen is active.
    fn is_taken(&self) -> bool {
        self.ask(&["display-message", "-p", "#{alternate_on}"]).trim() == "1"
    }

    /// The program ended with this code, and the terminal is restored.
    fn ended(&self, code: i32) -> String {
        let shown = self.until(&[&format!("code={code}"), "icanon"]);
        assert!(!self.is_taken() && shown.contains("stood-before") && shown.contains("isig icanon"), "{shown}");
        shown
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        self.ask(&["kill-server"]);
    }
}

#[test]
fn a_load_in_the_whole_terminal() {
    let served = Served::start();
    let url = served.url("/");
    let line = format!("$O -q 200 -z 5m --interval 200ms --screen --threshold 'p99(response_time) < 9s' {url}");
    let tmux = Tmux::run(&line, (80, 24));
    let is_filled = |rows: usize, columns: usize| {
        move |shown: &str| {
            let lines: Vec<&str> = shown.trim_end().lines().collect();
            let widest = lines.iter().map(|line| line.chars().count()).max();
            (lines.len(), widest) == (rows, Some(columns))
        }
    };
    let parts = ["running", "200 / 200", "HTTP 200", "met so far", "q stop"];
    let shown = tmux.until_all(&parts, is_filled(24, 80));
    assert!(tmux.is_taken() && !shown.contains("stood-before"), "{shown}");
    tmux.ask(&["resize-window", "-x", "200", "-y", "60"]);
    let corner = format!("{}┐┌", "─".repeat(50));
    tmux.until_all(&[&corner], is_filled(60, 200));
    tmux.ask(&["resize-window", "-x", "30", "-y", "8"]);
    tmux.until(&["too small"]);
    tmux.ask(&["resize-window", "-x", "80", "-y", "24"]);
    tmux.keys(&["+"]);
    tmux.until(&["rate 220/s", "220 / 220"]);
    tmux.keys(&["p"]);
    tmux.until(&["paused", "rate 220/s"]);
    tmux.keys(&["p", "s"]);
    tmux.until(&["running", "GET /  ", "max"]);
    tmux.keys(&["C-c"]);
    let shown = tmux.ended(130);
    for part in ["rate 220/s", "resumed", "Verdict", "met"] {
        assert!(shown.contains(part), "{part}:\n{shown}");
    }
    let started =
        shown.lines().find(|line| line.starts_with("Requests  ")).and_then(|line| line.split_whitespace().nth(1));
    let started: u64 = started.expect("the summary").replace(',', "").parse().expect("a number");
    // Exchanges in flight have completed.
    assert_eq!(counted(&served, "/"), started);
}

#[test]
fn tools_files_and_held_connections_in_the_whole_terminal() {
    let served = Served::start();
    let host = served.url.trim_start_matches("http://").to_owned();
    let tmux = Tmux::run(&format!("$O as wrk --screen -t1 -c2 -d60s {}", served.url("/")), (100, 30));
    tmux.until(&["running", "GET /", "HTTP 200"]);
    tmux.keys(&["q"]);
    // It prints what wrk prints.
    assert!(tmux.ended(0).contains("Requests/sec:"));
    let tmux = Tmux::run(&format!("$O hold -c 30 --hold 5m --interval 200ms --screen ws://{host}/ws"), (80, 24));
    tmux.until(&["30 / 30", "connections", "running"]);
    tmux.keys(&["q"]);
    tmux.ended(130);
    let plan = format!(
        "target: http://{host}\\nscenarios:\\n  see: {{load: {{users: 2, for: 5m}}, steps: [get: /delay/5]}}\\n  pay: {{load: {{rate: 50, for: 5m}}, steps: [get: /delay/5]}}\\n"
    );
    let file = format!("{}/onrush-screen-{}.yaml", std::env::temp_dir().display(), std::process::id());
    let tmux = Tmux::run(&format!("printf '{plan}' > {file}; $O run {file} --no-save --lang zh --screen"), (100, 30));
    tmux.until(&[">see 2 用户", "pay 50.00/s", "运行中"]);
    tmux.keys(&["Tab", "+"]);
    tmux.until(&[">pay 55.00/s"]);
    tmux.keys(&["q", "q"]);
    tmux.ended(130);
    std::fs::remove_file(file).expect("it is there");
}

#[test]
fn without_a_terminal_there_is_no_screen() {
    let done = onrush(&["--screen", "-z", "1s", "http://127.0.0.1:9/"]).output().expect("the binary starts");
    assert_eq!(done.status.code(), Some(2));
    assert!(text(&done.stderr).contains("--screen wants a terminal"), "{}", text(&done.stderr));
}

/// A closing terminal ends the run, and the results are written.
#[test]
fn a_terminal_that_goes_away() {
    let served = Served::start();
    let folder = super::Folder::new("terminal-gone");
    let file = folder.path("report.json");
    let tmux = Tmux::run(&format!("$O -q 100 -z 5m --screen --json {file} {}", served.url("/")), (80, 24));
    tmux.until(&["running", "100 / 100"]);
    drop(tmux);
    let mut report = serde_json::Value::Null;
    wait_for("the report is written", || {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        serde_json::from_str(&text).map(|written| report = written).is_ok()
    });
    assert_eq!(report["requests"]["started"], counted(&served, "/"));
}
