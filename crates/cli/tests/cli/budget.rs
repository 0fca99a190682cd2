//! A budget ends any load: requests exactly, as the server counts them; time at its instant; bytes up to what is in
//! flight.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::{Served, onrush, output, report, text};

/// Requests that the server has counted, except for those of these counts.
pub(crate) fn answered(served: &Served) -> u64 {
    let address = served.url.trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.write_all(b"GET /stats HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("it answers");
    let (_, body) = response.split_once("\r\n\r\n").expect("a head and a body");
    let stats: Value = serde_json::from_str(body).expect("JSON");
    let by_path = stats["requests_by_path"].as_object().expect("counts").iter();
    by_path.filter(|(path, _)| *path != "/stats").filter_map(|(_, count)| count.as_u64()).sum()
}

fn load(words: &[&str]) -> Value {
    let said = output(&[&["--output", "json", "--quiet"], words].concat());
    assert_eq!(said.status.code(), Some(0), "{words:?}: {said:?}");
    report(&said)
}

#[test]
fn requests_end_any_load_at_exactly_as_many() {
    let (served, secure) = (Served::start(), Served::with(&["--tls"]));
    let (url, redirect) = (served.url("/"), served.url("/redirect/3"));
    let (tls, ws) = (secure.url("/"), url.replace("http://", "ws://"));
    let steps = ["curl", &url, "--next", &redirect];
    let cases: Vec<(&str, Vec<&str>)> = vec![
        ("1000", vec!["-c", "8", "-z", "1h", &url]),
        ("1", vec!["-c", "8", "-z", "1h", &url]),
        ("3", vec!["-c", "8", "--threads", "4", "-z", "1h", &url]),
        ("5k", vec!["-c", "64", "--threads", "4", &url]),
        ("777", vec!["-c", "5", "--threads", "4", "-n", "1M", &url]),
        ("777", vec!["-c", "9", "--threads", "3", "--ramp", "100ms", "-z", "1h", &url]),
        ("500", vec!["-q", "1000", "-c", "4", "--threads", "2", "--warmup", "100ms", "-z", "1h", &url]),
        ("300", vec!["-c", "6", "--threads", "2", "--rendezvous", "-z", "1h", &url]),
        ("600", vec!["-q", "3000", "--threads", "4", "-z", "1h", &url]),
        ("600", vec!["-q", "3000", "--threads", "3", "--arrivals", "poisson", "-z", "1h", &url]),
        ("600", vec!["-q", "3000", "-c", "4", "--threads", "4", "-z", "1h", &url]),
        ("1001", vec!["-c", "3", "--threads", "3", "-L", "-z", "1h", &redirect]),
        ("601", vec!["-q", "500", "--threads", "2", "-L", "-z", "1h", &redirect]),
        ("503", [&["-c", "4", "--threads", "4", "-L", "-z", "1h"][..], &steps].concat()),
        ("503", [&["-q", "400", "--threads", "2", "-L", "-z", "1h"][..], &steps].concat()),
        ("900", vec!["-k", "--http2", "-c", "3", "--streams", "7", "--threads", "3", "-z", "1h", &tls]),
        ("400", vec!["-k", "--no-keepalive", "-c", "4", "--threads", "4", "-z", "1h", &tls]),
        ("400", vec!["-d", "hi", "-c", "4", "--threads", "4", "-z", "1h", &ws]),
    ];
    for (requests, words) in cases {
        let budget = format!("requests={requests}");
        for driver in ["poll", "auto"] {
            let own = if words.contains(&tls.as_str()) { &secure } else { &served };
            let before = answered_by(own, &words);
            let seen = load(&[&["--driver", driver, "--budget", &budget], &words[..]].concat());
            let requested = requests.replace('k', "000").parse::<u64>().expect("a number");
            let (ended, counts) = (&seen["budget"]["ended_by"], &seen["requests"]);
            assert_eq!(ended, "requests", "{words:?}: {seen:#}");
            assert_eq!(seen["stopped"], false, "{words:?}");
            if !words.contains(&"--warmup") {
                assert_eq!(counts["started"].as_u64(), Some(requested), "{words:?}: {seen:#}");
                assert_eq!(counts["succeeded"].as_u64(), Some(requested), "{words:?}: {seen:#}");
            }
            if let Some(before) = before {
                assert_eq!(answered(own) - before, requested, "{driver} {words:?}: {seen:#}");
            }
        }
    }
}

/// A budget of exactly the load: all requests are made, and the load was over before the budget.
#[test]
fn a_load_that_the_budget_just_covers_is_whole() {
    let served = Served::start();
    let url = served.url("/");
    for (count, more) in [("3", 0), ("100", 0), ("100", 1), ("1001", 0), ("1001", 1), ("5000", 0), ("5000", 7)] {
        let number = count.parse::<u64>().expect("a number");
        let budget = format!("requests={}", number + more);
        for (driver, users, threads) in [("poll", "2", "2"), ("auto", "9", "4"), ("poll", "3", "3")] {
            let before = answered(&served);
            let words = ["--driver", driver, "-c", users, "--threads", threads, "-n", count, "--budget", &budget, &url];
            let seen = load(&words);
            assert_eq!(seen["requests"]["succeeded"].as_u64(), Some(number), "{words:?}: {seen:#}");
            assert_eq!(seen["budget"]["ended_by"], Value::Null, "{words:?}: {seen:#}");
            assert_eq!(answered(&served) - before, number, "{words:?}");
        }
    }
}

/// The same for plain HTTP.
fn answered_by(served: &Served, words: &[&str]) -> Option<u64> {
    let is_plain = words.iter().any(|word| word.starts_with("http://"));
    is_plain.then(|| answered(served))
}

#[test]
fn time_ends_any_load_and_nothing_is_planned_behind_it() {
    let served = Served::start();
    let url = served.url("/");
    // The k-th start of a rate is due at k / rate: those that are due after the time are not started.
    let seen = load(&["--budget", "time=400ms", "-q", "1000", "--threads", "3", "-z", "1h", &url]);
    assert_eq!(seen["budget"], serde_json::json!({"requests": null, "bytes": null, "time_s": 0.4, "ended_by": "time"}));
    let started = seen["requests"]["started"].as_u64().expect("a count");
    assert_eq!(started, 400, "{seen:#}");
    assert_eq!(seen["stopped"], false);
    // A warm-up uses some of it.
    let seen = load(&["--budget", "time=500ms", "--warmup", "300ms", "-q", "1000", "-z", "1h", &url]);
    let started = seen["requests"]["started"].as_u64().expect("a count");
    assert_eq!(started, 200, "{seen:#}");
    let seen = load(&["--budget", "time=1s", "-c", "3", "-z", "1h", &url]);
    assert_eq!((&seen["budget"]["ended_by"], &seen["stopped"]), (&"time".into(), &false.into()));
    // A shorter load was not ended by it.
    let seen = load(&["--budget", "time=1h,requests=1M,bytes=1TiB", "-c", "3", "-n", "30", &url]);
    assert_eq!((&seen["budget"]["ended_by"], &seen["requests"]["started"]), (&Value::Null, &30.into()));
    assert!(load(&["-n", "3", &url])["budget"].is_null());
}

/// In addition: what is in flight, and what a shard did until its next check: it checks 20 times a second.
#[test]
fn bytes_end_a_load() {
    let served = Served::start();
    let url = served.url("/bytes/10000");
    let seen = load(&["--budget", "bytes=1MB", "-q", "500", "--threads", "2", "-z", "1h", &url]);
    assert_eq!(seen["budget"]["ended_by"], "bytes", "{seen:#}");
    let bytes = ["sent", "received"].map(|name| seen["bytes"][name].as_u64().expect("a count"));
    assert!(bytes.iter().sum::<u64>() >= 1_000_000, "{seen:#}");
    let started = seen["requests"]["started"].as_u64().expect("a count");
    assert_eq!(seen["requests"]["succeeded"].as_u64(), Some(started), "what was in flight came to its end");
}

#[test]
fn the_summary_says_so_in_both_languages() {
    let served = Served::start();
    let url = served.url("/");
    let words = ["--budget", "requests=1,000", "-c", "2", "-z", "1h", "--quiet", &url];
    assert!(text(&output(&words).stdout).contains("Budget        used up: 1,000 requests; nothing more"));
    let chinese = onrush(&words).env("LANG", "zh_CN.UTF-8").output().expect("it starts");
    assert!(text(&chinese.stdout).contains("已用完（1,000 个请求），之后不再发起请求"), "{chinese:?}");
    let said = output(&["--budget", "hits=5", &url]);
    crate::usage::check(&said, 2, "--budget takes requests=N, bytes=SIZE and time=TIME");
    let said = onrush(&["--budget", "hits=5", &url]).env("LANG", "zh_CN.UTF-8").output().expect("it starts");
    crate::usage::check(&said, 2, "--budget 的值 'hits=5' 无效：应由 requests=数量");
}

/// A redirect for which no budget was left does not count as followed, and its round was aborted.
#[test]
fn redirects_that_the_budget_forbids_are_not_counted() {
    let served = Served::start();
    let url = served.url("/redirect/2");
    for (load_words, name) in
        [(&["-c", "7", "-z", "1h"][..], "closed"), (&["-c", "7", "-q", "200", "-z", "1h"], "open")]
    {
        let before = answered(&served);
        let seen = load(&[load_words, &["--budget", "requests=77", "-L", &url]].concat());
        assert_eq!(answered(&served) - before, 77, "{name}");
        let count = |key: &str| seen["requests"][key].as_u64().expect("a count");
        let rounds = |key: &str| seen["requests"]["iterations"][key].as_u64().expect("a count");
        assert_eq!((count("started"), count("succeeded")), (77, 77), "{name}: {seen}");
        // Each round is a request and two redirects after it; aborted rounds lack one or both.
        let begun = rounds("completed") + rounds("failed") + rounds("aborted");
        assert_eq!(begun + count("redirects"), 77, "{name}: {seen}");
        // Starts of a rate take their part of the budget when they are due, however many rounds are complete by then.
        let least = if name == "closed" { 77 / 3 - 7 } else { 0 };
        assert!((least..=77 / 3).contains(&rounds("completed")), "{name}: {seen}");
    }
}
