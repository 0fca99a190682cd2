//! The named cause is the real cause, and the remedy works: in both languages.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use crate::seen::wait_for;
use crate::{Folder, Served, output, report, side_by_side, text};

const LANGUAGES: [&str; 2] = ["en", "zh"];
/// A target that is late with its response is not late with its connection.
const CONNECTS: [&str; 2] = ["--connect-timeout", "1h"];

/// Runs in both languages; each output must have its texts, and not the others.
fn said(words: &[&str], code: i32, says: [&str; 2], not: [&str; 2]) {
    (0..LANGUAGES.len()).for_each(|number| said_in(number, words, code, says, not));
}

/// The same in one language.
fn said_in(number: usize, words: &[&str], code: i32, says: [&str; 2], not: [&str; 2]) {
    let done = output(&[words, &["--lang", LANGUAGES[number]]].concat());
    let page = format!("{}{}", text(&done.stdout), text(&done.stderr));
    assert_eq!(done.status.code(), Some(code), "{words:?}: {page}");
    assert!(page.contains(says[number]), "{words:?} does not say {:?}: {page}", says[number]);
    assert!(not[number].is_empty() || !page.contains(not[number]), "{words:?}: {page}");
}

/// A peer that accepts, keeps all that comes, and responds with the same bytes to everything; with none, it never
/// responds.
struct Peer {
    address: String,
    received: Arc<Mutex<Vec<Vec<u8>>>>,
    /// Open connections.
    open: Arc<AtomicUsize>,
}

impl Peer {
    fn start(response: &'static [u8]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let (received, open) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicUsize::new(0)));
        let (all, now_open) = (received.clone(), open.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let (all, now_open) = (all.clone(), now_open.clone());
                now_open.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || {
                    let mut bytes = [0; 4096];
                    while let Ok(count @ 1..) = stream.read(&mut bytes) {
                        all.lock().expect("nobody panics with it").push(bytes[..count].to_vec());
                        if stream.write_all(response).is_err() {
                            break;
                        }
                    }
                    now_open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Self { address, received, open }
    }

    /// The number of connections that began with TLS, of all before.
    fn hellos(&self) -> usize {
        // Connections are accepted in their order: with this one, all before it are known.
        let mut last = TcpStream::connect(&self.address).expect("it listens");
        last.write_all(b"the last").expect("it reads");
        let is_last = |bytes: &Vec<u8>| bytes == b"the last";
        wait_for("the last connection is heard", || {
            self.received.lock().expect("nobody panics with it").iter().any(is_last)
        });
        wait_for("all others are gone", || self.open.load(Ordering::SeqCst) == 1);
        self.received
            .lock()
            .expect("nobody panics with it")
            .iter()
            .filter(|bytes| bytes.starts_with(&[0x16, 3]))
            .count()
    }
}

#[test]
fn a_check_that_failed_is_the_cause_and_not_the_status() {
    let served = Served::start();
    let (url, ws) = (served.url("/"), served.url("/").replace("http://", "ws://"));
    let wrong_status = ["every answer was", "所有响应都是"];
    let json =
        ["the answers do not meet --expect-json; see them with --show-failures", "响应不符合 --expect-json 的要求"];
    let body = ["the answers do not meet --expect-body; see", "响应不符合 --expect-body 的要求"];
    let header = ["the answers do not meet --expect-header; see", "响应不符合 --expect-header 的要求"];
    let both = ["do not meet --expect-body and --expect-json; see", "不符合 --expect-body 和 --expect-json 的要求"];
    for (more, says) in [
        (&["--expect-json", "$.a == 1"][..], json),
        (&["--expect-json", "$.a == 1", "--http2"], json),
        (&["--expect-json", "$.a == 1", "--expect-status", "200"], json),
        (&["--expect-body", "never said"], body),
        (&["--expect-body", "/^never$/"], body),
        (&["--expect-header", "never: said"], header),
        (&["--expect-body", "never said", "--expect-json", "$.a"], both),
    ] {
        said(&[&["-n", "5", "-c", "1", &url], more].concat(), 1, says, wrong_status);
    }
    said(&["-n", "5", "-c", "1", "-d", "x", "--expect-body", "never", &ws], 1, body, wrong_status);
    // Where the status is the cause, it is named.
    let status = ["every answer was 404; check the path", "所有响应都是 404；请检查路径"];
    said(&["-n", "5", "-c", "1", &served.url("/status/404")], 1, status, ["", ""]);
    said(
        &["-n", "5", "-c", "1", "--expect-body", "x", &served.url("/status/404")],
        1,
        status,
        ["do not meet", "不符合"],
    );
    let teapot = ["every answer was 418; if it is a success here", "所有响应都是 418；如果这就是预期的结果"];
    said(&["-n", "5", "-c", "1", &served.url("/status/418")], 1, teapot, ["", ""]);
    // The responses come with a good status, and too late.
    let (late, url) = (["mostly timeout", "主要是 timeout"], served.url("/delay/3600000"));
    said(&[&CONNECTS[..], &["-n", "2", "-c", "1", "-t", "50ms", &url]].concat(), 1, late, wrong_status);
}

#[test]
fn files_with_mistakes_are_reported_line_by_line() {
    let folder = std::env::temp_dir().join(format!("onrush-causes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a place for it");
    let path = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    let (missing, bad, odd) = (path("missing.yaml"), path("bad.yaml"), path("\u{1b}[31m\n.yaml"));
    std::fs::write(&bad, "a: 1\nb: [\n").expect("a place for it");
    for (words, lines) in [
        (vec!["check", &missing], 1),
        (vec!["check", folder.to_str().expect("UTF-8")], 1),
        (vec!["run", &missing], 1),
        (vec!["run", &bad], 11),
        (vec!["check", &missing, &missing], 2),
    ] {
        for language in LANGUAGES {
            let done = output(&[&words[..], &["--lang", language][..usize::from(words[0] == "run") * 2]].concat());
            let complaint = text(&done.stderr);
            assert_eq!(done.status.code(), Some(2), "{words:?}: {complaint}");
            assert_eq!(complaint.lines().count(), lines, "{words:?}: {complaint}");
            assert!(!complaint.contains("\\n"), "{words:?}: {complaint}");
        }
    }
    let complaint = text(&output(&["run", &bad]).stderr);
    assert!(complaint.starts_with(&format!("{bad}:1:1: ")) && complaint.ends_with(": 3 mistakes\n"), "{complaint}");
    // Special characters in a name stay harmless.
    let complaint = text(&output(&["check", &odd]).stderr);
    assert!(complaint.contains("\\u{1b}[31m") && !complaint.contains('\u{1b}'), "{complaint}");
    std::fs::remove_dir_all(&folder).expect("it is there");
}

/// The words that a message names can be typed as they are.
#[test]
fn fields_of_a_message_are_shown_by_the_command_that_is_named() {
    let served = Served::start();
    let own = served.url.replace("http://", "grpc://");
    let proto = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/proto/hello.proto");
    let url = format!("{own}/hello.Greeter/SayHello");
    let secured = Served::with(&["--tls"]);
    let over_tls = format!("{}/hello.Greeter/SayHello", secured.url.replace("https://", "grpcs://"));
    for words in [
        vec!["-d", r#"{"nme":"x"}"#, &url],
        vec!["-d", r#"{"name":1}"#, &url],
        vec!["-d", "{", &url],
        vec!["-d", r#"{"nme":"x"}"#, "--proto", proto, &url],
        vec!["-d", r#"{"nme":"x"}"#, "-k", &over_tls],
    ] {
        for language in LANGUAGES {
            let done = output(&[&["-n", "1", "--lang", language][..], &words].concat());
            let complaint = text(&done.stderr);
            assert_eq!(done.status.code(), Some(2), "{complaint}");
            let (_, rest) = complaint.split_once("onrush grpc describe ").unwrap_or_else(|| panic!("{complaint}"));
            let rest = rest.trim_end().trim_end_matches(" 查看其字段");
            let command: Vec<&str> = ["grpc", "describe"].into_iter().chain(rest.split_whitespace()).collect();
            let described = output(&command);
            assert_eq!(described.status.code(), Some(0), "{command:?}: {described:?}");
            assert!(text(&described.stdout).contains("name"), "{described:?}");
        }
    }
}

#[test]
fn a_socket_of_this_machine_is_named_by_its_path() {
    let folder = std::env::temp_dir().join(format!("onrush-sockets-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a place for it");
    let path = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    let (missing, dead) = (path("missing"), path("dead"));
    drop(std::os::unix::net::UnixListener::bind(&dead).expect("a socket"));
    let tcp = ["127.0.0.1:80", "127.0.0.1:80"];
    for driver in ["uring", "poll"] {
        for load in [vec!["-n", "5", "-c", "1"], vec!["hold", "-c", "2", "--hold", "100ms"]] {
            let words = |path: &'static str| [&load[..], &["--driver", driver, "--unix-socket", path]].concat();
            let url = "http://x.localhost/";
            let no_socket = [
                format!("to unix:{missing} was established; there is no socket unix:{missing}"),
                format!("连接 unix:{missing} 均未成功；没有套接字 unix:{missing}"),
            ];
            let path: &'static str = missing.clone().leak();
            said(&[words(path), vec![url]].concat(), 3, [&no_socket[0], &no_socket[1]], tcp);
            said(&[words(path), vec![url]].concat(), 3, [&no_socket[0], &no_socket[1]], ["os (2)", "os (2)"]);
            let nobody = [format!("nobody listens on unix:{dead}"), format!("unix:{dead} 上没有服务在监听")];
            let path: &'static str = dead.clone().leak();
            said(&[words(path), vec![url]].concat(), 3, [&nobody[0], &nobody[1]], tcp);
        }
    }
    std::fs::remove_dir_all(&folder).expect("it is there");
}

#[test]
fn an_response_without_its_end_is_reported_from_one_that_never_came() {
    let talks = Peer::start(b"hello");
    let (tcp, mute) = (format!("tcp://{}", talks.address), Peer::start(b""));
    let (mute_tcp, mute_http) = (format!("tcp://{}", mute.address), format!("http://{}/", mute.address));
    let slow = ["too slow for this load", "对该负载来说太慢"];
    // A peer that never responds is never in time; one that does has more time than a busy machine needs for five
    // bytes.
    let (load, [mute_time, time]) = ([&["-n", "2", "-c", "2"][..], &CONNECTS].concat(), ["1s", "5s"]);
    let cases = [
        (
            vec!["-d", "x", "--until", "y", &tcp],
            [
                "10 bytes came within 5s, but not the end that --until names",
                "收到 10 字节，但没有出现 --until 指定的结尾",
            ],
        ),
        (
            vec!["-d", "x", "--until", "\\r\\n", &tcp],
            ["but not the end that --until names; check --until", "请检查 --until"],
        ),
        (
            vec!["-d", "x", "--read-bytes", "7", &tcp],
            [
                "no answer had its 7 bytes within 5s; check --read-bytes",
                "没有响应在 5s 内达到 7 字节；请检查 --read-bytes",
            ],
        ),
        (vec!["-d", "x", "--length-prefix", "4", &tcp], ["check --length-prefix", "请检查 --length-prefix"]),
        (
            vec!["-d", "x", "--until", "y", &mute_tcp],
            [
                "not one byte came back within 1s; check what the server waits for",
                "1s 内没有收到任何字节；请检查服务端在等待什么",
            ],
        ),
        (vec!["-d", "x", "--read-bytes", "1", &mute_tcp], ["not one byte came back", "没有收到任何字节"]),
        (
            vec![&mute_http],
            [
                "not one byte came back within 1s; check that the port speaks the protocol of the URL",
                "请检查该端口的协议是否与 URL 一致",
            ],
        ),
    ];
    let in_all =
        |case| ["uring", "poll"].into_iter().flat_map(move |driver| [0, 1].map(|language| (case, driver, language)));
    let cases: Vec<_> = cases.iter().flat_map(in_all).collect();
    side_by_side(&cases, |((words, says), driver, language)| {
        let is_mute = words.iter().any(|word| [mute_tcp.as_str(), &mute_http].contains(word));
        let time = if is_mute { mute_time } else { time };
        said_in(*language, &[&load[..], &["-t", time, "--driver", driver], words].concat(), 1, *says, slow);
    });
    // A target that responds to some requests and is late with others is slow.
    let (served, folder) = (Served::start(), Folder::new("causes-slow"));
    let file = folder.path("urls");
    std::fs::write(&file, format!("{}\n{}\n", served.url("/"), served.url("/gate/never"))).expect("a file");
    let words = ["--urls", &file, "-n", "8", "-c", "8", "--threads", "1", "-t", time, "--output", "json"];
    let seen = report(&output(&[&words[..], &CONNECTS].concat()));
    let [answered, late] = [&seen["requests"]["succeeded"], &seen["failures"][0]["count"]].map(Value::as_u64);
    assert!(answered > Some(0) && late > Some(0), "{seen:#}");
    assert_eq!(answered.zip(late).map(|(answered, late)| answered + late), Some(8), "{seen:#}");
    let remedy = &seen["failures"][0]["remedy"];
    assert!(remedy.as_str().is_some_and(|remedy| remedy.contains(slow[0])), "{remedy}");
}

/// One more connection probes a mute port for TLS; any other port is not probed, whatever it sent.
#[test]
fn only_a_port_that_answered_nothing_is_requested_for_tls() {
    let ok = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let bad = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    let gone = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    let (alert, strange): (&[u8], &[u8]) = (b"\x15\x03\x01\x00\x02\x02\x0a", b"SSH-2.0-OpenSSH_9.2\r\n");
    let cases: [(&'static [u8], &str, usize); 6] = [
        (b"", "100ms", 1),
        (bad, "60s", 0),
        (gone, "60s", 0),
        (ok, "60s", 0),
        // The received data shows it already.
        (alert, "60s", 0),
        (strange, "60s", 0),
    ];
    for (response, timeout, requested) in cases {
        let peer = Peer::start(response);
        let url = format!("http://{}/", peer.address);
        let words = ["-n", "3", "-c", "1", "-t", timeout, "--output", "json", &url];
        let seen = report(&output(&[&words[..], &CONNECTS].concat()));
        assert_eq!(seen["requests"]["started"], 3, "{seen:#}");
        assert_eq!(peer.hellos(), requested, "{}", String::from_utf8_lossy(response));
    }
}
