//! Table, summary, pipes, files, full disks.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::examples::by_path;
use crate::seen::{stats, wait_for};
use crate::{Served, line_with, onrush, output, report, signal, text};

#[test]
fn the_demo_shows_table_and_summary() {
    for (lang, words) in
        [("en", ["succeeded", "Requests/s", "p99.9", "Generator"]), ("zh", ["成功数", "QPS", "p99.9", "压测机"])]
    {
        let output = output(&["demo", "-z", "1200ms", "--lang", lang]);
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(text(&output.stderr), "", "a pipe gets no word for people");
        let page = text(&output.stdout);
        for word in words {
            assert!(page.contains(word), "{word} in {page}");
        }
        // One for the first second, and one for the rest; more where responses came after the end.
        let rows: Vec<&str> = page.lines().filter(|line| line.contains("200:")).collect();
        assert!(rows.len() >= 2 && rows[0].contains(" 1.0s│"), "{page}");
        assert!(!page.contains('\u{1b}'), "no colors in a pipe");
    }
}

#[test]
fn quiet_shows_the_summary_only() {
    let served = Served::start();
    let output = output(&["-n", "1000", "--quiet", &served.url("/")]);
    let page = text(&output.stdout);
    assert!(!page.contains("│") && page.contains("1,000 started = 1,000 succeeded + 0 failed"), "{page}");
}

#[test]
fn failures_are_named_with_a_remedy() {
    let served = Served::start();
    let page = text(&output(&["-n", "100", &served.url("/drop")]).stdout);
    assert!(page.contains("100 closed-early - the server closed"), "{page}");
    let page = text(&output(&["-n", "100", "--lang", "zh", &served.url("/status/503")]).stdout);
    assert!(page.contains("503: 100") && page.contains("100 个 HTTP 503：状态码不在成功范围内"), "{page}");
}

#[test]
fn a_pipe_that_closes_is_quiet() {
    let served = Served::start();
    // It ends with its reader, and not after an hour.
    let line = format!(
        "{} -z 1h --interval 100ms {} | head -1; echo ${{PIPESTATUS[0]}}",
        env!("CARGO_BIN_EXE_onrush"),
        served.url("/")
    );
    let output = Command::new("bash").args(["-c", &line]).stdin(Stdio::null()).output().expect("bash starts");
    assert_eq!(text(&output.stderr), "");
    let page = text(&output.stdout);
    assert_eq!(page.lines().last(), Some("0"), "{page}");
}

#[test]
fn a_file_gets_the_report_also_when_the_pipe_closes() {
    let served = Served::start();
    let path = std::env::temp_dir().join(format!("onrush-report-{}.json", std::process::id()));
    let older = format!("{{\"schema\": 1, \"more\": \"{}\"}}", "x".repeat(1 << 20));
    std::fs::write(&path, older).expect("a longer report that is there already");
    // The reader is gone when the first line is there; most rows are still to come.
    let line = format!(
        "{} -q 500 -n 250 --interval 100ms --json {} {} | head -1",
        env!("CARGO_BIN_EXE_onrush"),
        path.display(),
        served.url("/")
    );
    let output = Command::new("bash").args(["-c", &line]).stdin(Stdio::null()).output().expect("bash starts");
    assert_eq!(text(&output.stderr), "");
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
    assert_eq!((&report["requests"]["succeeded"], &report["stopped"]), (&250.into(), &false.into()), "the run went on");
    std::fs::remove_file(&path).expect("the file goes");
}

#[test]
fn a_full_disk_is_said() {
    let served = Served::start();
    let full = output(&["-n", "10", "--json", "/dev/full", &served.url("/")]);
    assert_eq!(full.status.code(), Some(4));
    assert!(text(&full.stdout).contains("10 started"), "the summary is there all the same");
    assert!(text(&full.stderr).contains("cannot write to /dev/full"));
    let dev_full = std::fs::File::options().write(true).open("/dev/full").expect("a device");
    let full = onrush(&["-n", "10", &served.url("/")]).stdout(dev_full).output().expect("the binary starts");
    assert_eq!(full.status.code(), Some(4));
    let complaint = text(&full.stderr);
    assert!(complaint.contains("cannot write to stdout") && !complaint.contains("panicked"), "{complaint}");
}

#[test]
fn a_second_signal_ends_at_once() {
    let served = Served::start();
    let url = served.url("/delay/3600000");
    let mut child = onrush(&["-c", "5", "-z", "1h", "-t", "1h", "--grace", "1h", "--output", "json", &url])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    wait_for("all five wait for their answers", || by_path(&stats(&served)).get("/delay") == Some(&5));
    let mut said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    signal(&child, "-INT");
    line_with(&mut said, "Ctrl-C again");
    // The grace is an hour: without the second signal it would go on.
    assert!(child.try_wait().expect("a child").is_none(), "one signal is not enough");
    signal(&child, "-INT");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let report = report(&output);
    assert_eq!((&report["requests"]["started"], &report["requests"]["unfinished"]), (&5.into(), &5.into()));
}

#[test]
fn an_expectation_that_nothing_answered_is_not_met() {
    let served = Served::start();
    let args = ["-c", "4", "-z", "1s", "--grace", "0", "--expect-status", "200"];
    let args: Vec<&str> = args.iter().copied().chain(["--output", "json"]).collect();
    let url = served.url("/delay/5000");
    let output = output(&args.iter().copied().chain([url.as_str()]).collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(report(&output)["requests"]["unfinished"], 4);
}

#[test]
fn serve_ends_with_a_signal() {
    let mut child = onrush(&["serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("it listens");
    signal(&child, "-INT");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stderr).contains("\"accepted\":0"));
}

/// However short a run is, it has a row.
#[test]
fn the_shortest_run_has_a_row() {
    let served = Served::start();
    for count in ["1", "2", "3", "1", "2", "3"] {
        let page = text(&output(&["-n", count, "--threads", "1", &served.url("/")]).stdout);
        assert!(page.contains(&format!("200:{count}\n")), "{page}");
    }
}
