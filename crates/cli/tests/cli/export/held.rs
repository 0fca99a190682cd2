//! Held connections: exports have what their report has.

use std::net::UdpSocket;

use serde_json::Value;

use super::exported;
use super::servers::Program;
use super::udp::sums;
use crate::{Folder, Served, onrush, report};

#[test]
fn what_is_held_is_known_elsewhere() {
    let (served, folder) = (Served::start(), Folder::new("export held"));
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let page = crate::closed_port();
    let prometheus = Program::prometheus(Some(page), &[]);
    let (csv, junit, step) = (folder.path("all.csv"), folder.path("junit.xml"), folder.path("step.md"));
    let exports = [
        format!("csv={csv}"),
        format!("junit={junit}"),
        format!("prometheus=127.0.0.1:{page}"),
        format!("statsd={}", socket.local_addr().expect("an address")),
        "github".to_owned(),
    ];
    let url = served.url("/").replace("http://", "ws://");
    let mut words =
        vec!["hold", &url, "-c", "20", "--hold", "400ms", "--every", "50ms", "--interval", "100ms", "-o", "json"];
    words.extend(["--export-wait", "1h"]);
    exports.iter().for_each(|export| words.extend(["--export", export]));
    let ran = onrush(&words).env("GITHUB_STEP_SUMMARY", &step).output().expect("it starts");
    let seen = report(&ran);
    crate::hold::is_kept(&seen);
    assert_eq!(ran.status.success(), seen["verdict"]["is_kept"] == true, "{ran:?}");
    let of = |path: &str| seen.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path}: {seen}"));
    let (answered, sent) = (of("/messages/answered"), of("/messages/sent"));
    assert!(answered > 0 && of("/connections/established") == 20);
    for kind in ["csv", "statsd", "prometheus"] {
        assert_eq!(exported(&seen, kind)["left_out"], 0, "{kind}");
    }
    // Lines add up.
    let text = std::fs::read_to_string(&csv).expect("lines");
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let place = |name: &str| columns.iter().position(|column| *column == name).unwrap_or_else(|| panic!("{name}"));
    let cell = |line: &str, name: &str| line.split(',').nth(place(name)).map(str::to_owned).expect("a cell");
    let lines: Vec<&str> = lines.collect();
    let sum = |name: &str| lines.iter().map(|line| cell(line, name).parse::<u64>().expect("a count")).sum::<u64>();
    assert_eq!((sum("messages_answered"), sum("messages_sent"), sum("established")), (answered, sent, 20), "{text}");
    assert!(lines.iter().any(|line| cell(line, "open") == "20"), "{text}");
    let sums = sums(&socket);
    assert_eq!(sums.get("onrush.held.messages_answered"), Some(&answered), "{sums:?}");
    // The last scrape of the page is of the end.
    for (query, value) in [
        ("onrush_held_messages_answered_total", answered),
        ("onrush_held_established_total", 20),
        ("onrush_held_response_time_seconds_count", answered),
    ] {
        assert_eq!(prometheus.number(&format!("last_over_time({query}[1m])")), value as f64, "{query}");
    }
    let cases = std::fs::read_to_string(&junit).expect("cases");
    let failures = format!("failures=\"{}\"", i32::from(seen["verdict"]["is_kept"] != true));
    assert!(cases.contains("name=\"20 connections are held\"") && cases.contains(&failures), "{cases}");
    let summary = std::fs::read_to_string(&step).expect("a page");
    assert!(summary.contains("| Most open at a time | 20 |"), "{summary}");
}
