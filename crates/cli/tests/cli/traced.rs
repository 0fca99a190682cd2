//! Single exchanges: the slowest of a run, and the lines of its log, compared with the counts of the run and of the
//! server.

use std::process::Output;

use serde_json::Value;

use crate::nginx::Nginx;
use crate::recorder::Recorder;
use crate::usage::check;
use crate::{Served, onrush, output, report, text};

/// A file of a test, removed with it.
struct Log(String);

impl Log {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("onrush-log-{}-{name}", std::process::id()));
        Self(path.to_str().expect("UTF-8").to_owned())
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.0).expect("it was written")
    }

    fn lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // It may never have been written; then there is nothing to remove.
        let _ = std::fs::remove_file(&self.0);
    }
}

fn load(words: &[&str]) -> (Output, Value) {
    let said = output(&[&["--output", "json", "--quiet"], words].concat());
    let seen = report(&said);
    (said, seen)
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value}"))
}

/// Every exchange that has begun has its line, whatever its outcome, and the lines have the times of the histograms.
#[test]
fn a_log_has_a_line_for_each_exchange() {
    let served = Served::start();
    let secure = Served::with(&["--tls"]);
    let (url, hang, redirect) = (served.url("/"), served.url("/delay/60000"), served.url("/redirect/2"));
    let (tls, bad) = (secure.url("/bytes/100"), served.url("/status/503"));
    let ws = url.replace("http://", "ws://");
    let cases: Vec<(&str, Vec<&str>)> = vec![
        ("closed", vec!["-c", "4", "-n", "3000", "--threads", "2", &url]),
        ("open", vec!["-q", "2000", "-n", "400", "--threads", "3", &url]),
        ("status", vec!["-c", "2", "-n", "50", &bad]),
        ("timeout", vec!["-c", "3", "-n", "6", "--timeout", "50ms", &hang]),
        ("unfinished", vec!["-c", "3", "-z", "100ms", "--grace", "50ms", &hang]),
        ("dropped", vec!["-q", "200", "-c", "2", "-z", "300ms", "--max-lateness", "50ms", "--grace", "50ms", &hang]),
        ("redirects", vec!["-L", "-c", "2", "-n", "40", &redirect]),
        ("streams", vec!["-k", "--http2", "-c", "2", "--streams", "5", "-n", "500", &tls]),
        ("short", vec!["--no-keepalive", "-c", "2", "-n", "60", &url]),
        ("messages", vec!["-d", "hi", "-c", "2", "-n", "60", &ws]),
        ("warm", vec!["-q", "500", "--warmup", "100ms", "-z", "200ms", &url]),
    ];
    for (name, words) in cases {
        let log = Log::new(&format!("{name}.jsonl"));
        let (said, seen) = load(&[&["--log", &log.0], &words[..]].concat());
        let lines = log.lines();
        let counts = &seen["requests"];
        let of = |outcome: &str| lines.iter().filter(|line| line["outcome"] == outcome).count() as u64;
        for outcome in ["succeeded", "failed", "dropped", "unfinished"] {
            assert_eq!(of(outcome), number(&counts[outcome]), "{name} {outcome}: {said:?}");
        }
        assert_eq!(lines.len() as u64, number(&counts["started"]) + number(&counts["carried"]), "{name}");
        let opened = lines.iter().filter(|line| line["connection"] == "new" && line["wait_ns"].is_u64()).count() as u64;
        if name == "short" {
            assert_eq!(opened, 60);
        } else if ["closed", "redirects", "streams"].contains(&name) {
            assert_eq!(opened, number(&seen["connections"]["established"]), "{name}");
        }
        let of_times = lines.iter().filter(|line| line["outcome"] == "succeeded");
        let times: Vec<u64> = of_times.map(|line| number(&line["response_ns"])).collect();
        let known = &seen["times"]["succeeded"]["response_time"];
        claims::as_one(|| {
            if times.len() as u64 == number(&counts["started"]) {
                assert_eq!(times.iter().max().copied(), known["max_ns"].as_u64(), "{name}");
                assert_eq!(times.iter().min().copied(), known["min_ns"].as_u64(), "{name}");
            }
        });
        claims::as_one(|| {
            for line in &lines {
                let parts = ["lateness_ns", "wait_ns", "service_ns"].map(|part| line[part].as_u64());
                if let [Some(lateness), Some(wait), Some(service)] = parts {
                    assert_eq!(lateness + wait + service, number(&line["response_ns"]), "{name}: {line}");
                }
                assert!(line["at_s"].as_f64().is_some_and(|at| at >= 0.0), "{line}");
            }
        });
    }
}

#[test]
fn a_log_in_csv_has_a_head_and_what_was_there_before_goes() {
    let served = Served::start();
    let log = Log::new("some.csv");
    std::fs::write(&log.0, "an older file\n".repeat(10_000)).expect("a place for it");
    load(&["--log", &log.0, "-c", "2", "-n", "30", &served.url("/a,b")]);
    let text = log.text();
    let mut lines = text.lines();
    assert_eq!(
        lines.next().map(|head| head.split(',').take(3).collect::<Vec<_>>()),
        Some(vec!["at_s", "time", "step"])
    );
    assert_eq!(lines.clone().count(), 30);
    assert!(lines.all(|line| line.contains(",\"GET /a,b\",")), "{text}");
}

#[test]
fn only_failed_ones_and_a_share_of_all() {
    let served = Served::start();
    let (url, mixed) = (served.url("/"), served.url("/status/500"));
    let log = Log::new("only.jsonl");
    let steps = ["curl", &url, "--next", &mixed];
    load(&[&["--log", &log.0, "--log-only", "failed", "-c", "2", "-n", "40"][..], &steps].concat());
    let lines = log.lines();
    assert_eq!(lines.len(), 40);
    assert!(lines.iter().all(|line| line["status"] == 500 && line["step"] == "GET /status/500"));
    // One thread and one user: the same seed samples the same lines.
    let share = |seed: &str| {
        load(&["--log", &log.0, "--log-share", "10%", "--seed", seed, "-c", "1", "-n", "5000", &url]);
        log.lines().len()
    };
    let drawn = [share("1"), share("1"), share("2")];
    assert_eq!(drawn[0], drawn[1]);
    // Ten sigma around 500.
    assert!(drawn.iter().all(|count| count.abs_diff(500) < 212), "{drawn:?}");
}

/// A failing log does not lose the results.
#[test]
fn a_full_disk_is_reported_at_the_end() {
    let served = Served::start();
    let url = served.url("/");
    for (lang, says) in [("C.UTF-8", "cannot write to /dev/full"), ("zh_CN.UTF-8", "无法写入 /dev/full")] {
        let words = ["--log", "/dev/full", "-c", "2", "-n", "5000", "--output", "json", &url];
        let said = onrush(&words).env("LANG", lang).output().expect("it starts");
        assert_eq!(said.status.code(), Some(4), "{said:?}");
        assert!(text(&said.stderr).contains(says), "{said:?}");
        assert_eq!(report(&said)["requests"]["succeeded"], 5_000);
    }
    check(&output(&["--log", "/no/such/place/log", "-n", "1", &url]), 2, "cannot write to /no/such/place/log");
}

#[test]
fn the_slowest_are_shown_with_their_instants() {
    let served = Served::start();
    let (slow, quick) = (served.url("/delay/60"), served.url("/"));
    let log = Log::new("slowest.jsonl");
    let steps = ["curl", &quick, "--next", &slow];
    let begin = ["--slowest", "7", "--log", &log.0, "-c", "3", "-n", "12", "--threads", "3", "--interval", "100ms"];
    let (_, seen) = load(&[&begin[..], &steps].concat());
    // The same as sorting all lines.
    let mut lines = log.lines();
    lines.sort_by_key(|line| std::cmp::Reverse(number(&line["response_ns"])));
    let times = |lines: &[Value]| lines.iter().map(|line| number(&line["response_ns"])).collect::<Vec<_>>();
    let slowest = seen["slowest"].as_array().expect("a list");
    assert_eq!(times(slowest), times(&lines[..7]), "{seen:#}");
    for one in slowest {
        let same = lines.iter().find(|line| line["response_ns"] == one["response_ns"] && line["time"] == one["time"]);
        assert_eq!(same.map(|line| (&line["step"], &line["connection"])), Some((&one["step"], &one["connection"])));
        // A busy machine may make a fast one slow.
        let held_ns = if one["step"] == "GET /delay/60" { 60_000_000 } else { 0 };
        assert!(one["status"] == 200 && number(&one["first_byte_ns"]) >= held_ns, "{one}");
    }
    // No seven are slower than these, and each of twelve was held that long.
    assert!(times(slowest)[6] >= 60_000_000, "{seen:#}");
    // Without a log most exchanges are not recorded; the display is the same.
    let (_, seen) = load(&[&["--slowest", "7", "-c", "3", "-n", "12", "--interval", "100ms"][..], &steps].concat());
    let alone = seen["slowest"].as_array().expect("a list");
    assert_eq!(alone.len(), 7);
    assert!(alone.iter().all(|one| number(&one["response_ns"]) >= 60_000_000), "{alone:?}");
    assert_eq!(alone[0]["response_ns"], seen["times"]["succeeded"]["response_time"]["max_ns"]);
    assert!(times(alone).is_sorted_by(|one, other| one >= other), "{alone:?}");
    assert_eq!(load(&["-n", "3", &quick]).1["slowest"], serde_json::json!([]));
    let words = ["--slowest", "2", "-c", "1", "-n", "5", "--quiet", &slow];
    let page = text(&output(&words).stdout);
    let head = page.lines().position(|line| line.contains("Slowest") && line.contains("first byte"));
    let rows: Vec<&str> = page.lines().skip(head.expect("a table") + 1).take(2).collect();
    assert!(rows.iter().all(|row| row.contains(" 200 ") && row.contains("ms")), "{page}");
    let chinese = onrush(&words).env("LANG", "zh_CN.UTF-8").output().expect("it starts");
    assert!(text(&chinese.stdout).contains("最慢请求"), "{chinese:?}");
}

#[test]
fn mistakes_are_named() {
    for (words, english, chinese) in [
        (
            vec!["--slowest", "0"],
            "--slowest wants a whole number from 1 to 1,000",
            "--slowest 的值 '0' 无效：应为 1 到 1,000",
        ),
        (vec!["--slowest", "1001"], "--slowest wants a whole number", "--slowest 的值"),
        (vec!["--log-only", "failed"], "--log-only needs --log FILE", "--log-only 需要同时给出 --log"),
        (vec!["--log-share", "1%"], "--log-share needs --log FILE", "--log-share 需要同时给出 --log"),
        (vec!["--log", "x", "--log-share", "0"], "--log-share wants a share like 1%", "--log-share 的值"),
        (vec!["--log", "x", "--log-share", "101%"], "--log-share wants a share like 1%", "--log-share 的值"),
        (vec!["--log", "x", "--log-share", "some"], "not 'some'", "的值 'some' 无效"),
        (vec!["--log", "x", "--log-only", "good"], "it takes failed", "可选：failed"),
        (vec!["--seed", "5"], "--seed needs --data-bytes", "--seed 需要同时给出 --data-bytes"),
    ] {
        let words = [&words[..], &[":9"]].concat();
        check(&output(&words), 2, english);
        check(&onrush(&words).env("LANG", "zh_CN.UTF-8").output().expect("it starts"), 2, chinese);
    }
}

/// The traces of some lines, each once and none missing.
fn traces(lines: &[Value]) -> Vec<String> {
    let of = |line: &Value| line["trace_id"].as_str().unwrap_or_else(|| panic!("{line}")).to_owned();
    let mut all: Vec<String> = lines.iter().map(of).collect();
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count, "two have the same");
    all
}

/// The `traceparent` values that servers received: `00-TRACE-SPAN-01` each.
fn reported(parents: impl Iterator<Item = String>) -> Vec<String> {
    let trace = |parent: String| {
        let parts: Vec<&str> = parent.split('-').collect();
        assert_eq!((parts[0], parts[1].len(), parts[2].len(), parts[3]), ("00", 32, 16, "01"), "{parent}");
        parts[1].to_owned()
    };
    let mut all: Vec<String> = parents.map(trace).collect();
    all.sort();
    all
}

#[test]
fn each_request_names_a_trace_that_the_log_knows() {
    let recorder = Recorder::start("traces");
    let url = format!("http://127.0.0.1:{}/x", recorder.port);
    let log = Log::new("traces.jsonl");
    let mut known = Vec::new();
    for words in
        [vec!["-c", "3", "-n", "60"], vec!["-q", "200", "-n", "60", "--threads", "2"], vec!["-c", "3", "-n", "60"]]
    {
        load(&[&["--trace", "--log", &log.0][..], &words, &[&url]].concat());
        let came = recorder.take();
        let parents = came.iter().map(|came| came.value("traceparent").expect("a trace").to_owned());
        let traces = traces(&log.lines());
        assert_eq!((reported(parents), traces.len()), (traces.clone(), 60));
        known.extend(traces);
    }
    // Another run, with the same seed or not, has other traces.
    known.sort();
    known.dedup();
    assert_eq!(known.len(), 180);
    // A trace of the user's own is kept, and without the flag there is none.
    let own = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    load(&["--trace", "-n", "3", "-H", &format!("traceparent: {own}"), &url]);
    assert!(recorder.take().iter().all(|came| came.value("traceparent") == Some(own)));
    load(&["--log", &log.0, "-n", "3", &url]);
    assert!(recorder.take().iter().all(|came| came.value("traceparent").is_none()));
    assert!(log.lines().iter().all(|line| line["trace_id"].is_null()));
    // A redirect stays within the trace of its request.
    load(&["--trace", "-L", "-n", "1", &format!("http://127.0.0.1:{}/redirect/302/absolute", recorder.port)]);
    let came = recorder.take();
    let parents = came.iter().map(|came| came.value("traceparent").expect("a trace").to_owned());
    let hops = reported(parents);
    assert_eq!((hops.len(), &hops[0]), (2, &hops[1]));
}

#[test]
fn traces_go_over_streams_and_with_calls() {
    let nginx = Nginx::with("http2", "", |_| {});
    let log = Log::new("stream-traces.csv");
    load(&["--trace", "--log", &log.0, "--http2", "-c", "2", "--streams", "5", "-n", "200", &nginx.url]);
    let text = log.text();
    let mut kept: Vec<String> =
        text.lines().skip(1).filter_map(|line| line.rsplit(',').next()).map(str::to_owned).collect();
    kept.sort();
    let parents = nginx.stop().traces.into_iter();
    assert_eq!((reported(parents), kept.len()), (kept.clone(), 200));
    let served = Served::start();
    let call = served.url("/hello.Greeter/SayHello").replace("http://", "grpc://");
    let (_, seen) = load(&["--trace", "--slowest", "20", "-n", "100", "-d", "{}", &call]);
    assert_eq!(
        (&seen["requests"]["succeeded"], traces(seen["slowest"].as_array().expect("a list")).len()),
        (&100.into(), 20)
    );
    // The trace ids in the summary can be found.
    let said = output(&["--trace", "--slowest", "2", "-n", "5", "--quiet", &served.url("/")]);
    let page = text_of(&said);
    assert_eq!(page.lines().filter(|line| line.trim_start().starts_with("trace  ")).count(), 2, "{page}");
    let talk = served.url("/").replace("http://", "ws://");
    check(&output(&["--trace", "-d", "x", "-n", "1", &talk]), 2, "--trace needs requests of HTTP or calls of gRPC");
}

fn text_of(said: &Output) -> String {
    text(&said.stdout)
}
