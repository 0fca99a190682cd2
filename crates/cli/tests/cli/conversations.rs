//! WebSocket against the `ws` package of Node: closing, and the negotiation of compression.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use wire::websocket::{self, Role, Scratch, Session, SessionEvent, Terms};

use crate::binary::{onrush, output, report, text};
use crate::raw::opening_of;
use crate::{ChildGuard, line_with, next_of, side_by_side, signal};

/// A server on ws, and its output lines.
struct Node {
    _child: ChildGuard,
    said: Receiver<String>,
    url: String,
}

impl Node {
    fn start(options: &Value) -> Self {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        let modules = root.join("../../target/tools/node/node_modules");
        assert!(modules.join("ws").exists(), "ws is missing; `cargo xtask test` installs it with npm");
        let mut child = Command::new("node")
            .arg(root.join("tests/peers/node/ws.js"))
            .arg(options.to_string())
            .env("NODE_PATH", modules)
            .stdout(Stdio::piped())
            .spawn()
            .expect("node is installed: `cargo xtask test` installs it, or: apt-get install nodejs");
        let (say, said) = channel();
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| say.send(line)));
        let first: String = next_of(&said, "the server says where it listens");
        let port = first.strip_prefix("listening ").expect("the port");
        Self { _child: ChildGuard(child), url: format!("ws://127.0.0.1:{port}/"), said }
    }

    /// The next lines that begin with a word, without it.
    fn lines(&self, word: &str, count: usize) -> Vec<String> {
        let mut lines = Vec::new();
        while lines.len() < count {
            let line = next_of(&self.said, &format!("{count} x {word}, and there are: {lines:?}"));
            // No assertion: the number of lines depends on the scheduling of users.
            if line.starts_with("error") {
                panic!("{line}");
            }
            lines.extend(line.strip_prefix(word).map(|rest| rest.trim().to_owned()));
        }
        lines
    }
}

fn on_both(mut check: impl FnMut(&str)) {
    ["uring", "poll"].into_iter().for_each(&mut check);
}

/// Whatever ends a load, each of its connections is closed properly, and that is no failure.
#[test]
fn every_end_of_a_load_is_said() {
    let node = Node::start(&json!({}));
    let ends: [&[&str]; 10] = [
        &["-n", "200", "-c", "8"],
        &["-z", "1s", "-c", "8"],
        &["-z", "1s", "-c", "8", "--threads", "3"],
        &["-q", "400/s", "-z", "200ms", "-c", "8"],
        &["-n", "8", "-c", "8", "--ws-type", "ping"],
        &["-n", "80", "-c", "8", "--no-response"],
        &["--user-stages", "8:500ms,2:50ms,2:450ms"],
        &["-n", "40", "-c", "8", "--no-keepalive"],
        &["-z", "1s", "--warmup", "100ms", "-c", "8"],
        &["-n", "1", "-c", "1"],
    ];
    on_both(|driver| {
        for words in ends {
            let common = ["--driver", driver, "-d", "hello", "--output", "json", &node.url];
            let common =
                if words.contains(&"--ws-type") { [&common[..2], &common[4..]].concat() } else { common.to_vec() };
            let done = output(&[words, &common].concat());
            assert_eq!(done.status.code(), Some(0), "{driver} {words:?}: {done:?}");
            let seen = report(&done);
            assert_eq!(seen["requests"]["failed"], 0, "{driver} {words:?}: {seen:#}");
            assert_eq!(seen["closes"], json!([]), "we closed, not the server: {driver} {words:?}");
            let established = seen["connections"]["established"].as_u64().expect("a count") as usize;
            assert_eq!(node.lines("closed", established), vec!["1000"; established], "{driver} {words:?}");
        }
    });
}

#[test]
fn a_signal_ends_conversations_in_order_too() {
    let node = Node::start(&json!({}));
    on_both(|driver| {
        // The first one waits for what is in flight, the second ends at once.
        for signals in [1, 2] {
            let args = ["-z", "1h", "-c", "8", "-d", "x", "--driver", driver, "--output", "json", &node.url];
            let mut command = onrush(&args);
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
            node.lines("agreed", 8);
            let mut said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
            for number in 0..signals {
                signal(&child, "-INT");
                // Two simultaneous signals are merged into one.
                if number + 1 < signals {
                    line_with(&mut said, "Ctrl-C again");
                }
            }
            let done = child.wait_with_output().expect("it ends");
            assert_eq!(report(&done)["stopped"], true);
            assert_eq!(node.lines("closed", 8), ["1000"; 8], "{driver} {signals}");
        }
    });
}

/// An exchange without a response at the end of the grace is unfinished, and its connection is closed properly all the
/// same; so is one whose response is too late.
#[test]
fn what_is_not_answered_is_left_in_order() {
    let node = Node::start(&json!({ "mute": true }));
    on_both(|driver| {
        let common = ["-c", "4", "-d", "x", "--driver", driver, "--output", "json", &node.url];
        let mut command = onrush(&[&["-z", "1h", "--grace", "100ms"][..], &common].concat());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary starts");
        node.lines("heard", 4);
        signal(&child, "-INT");
        let seen = report(&child.wait_with_output().expect("it ends"));
        let counts = (&seen["connections"]["established"], &seen["requests"]["unfinished"]);
        assert_eq!(counts, (&4.into(), &4.into()), "{seen:#}");
        assert_eq!(node.lines("closed", 4), ["1000"; 4], "{driver}");
        let seen = report(&output(&[&["-n", "8", "-t", "100ms"][..], &common].concat()));
        assert_eq!(seen["failures"][0]["reason"], "timeout", "{seen:#}");
        assert_eq!(node.lines("closed", 8), ["1000"; 8], "{driver}");
    });
}

/// An echo that neither confirms a close nor ends: reports the code of each close when its connection ends.
fn stubborn() -> (String, Receiver<Option<u16>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("ws://{}/", listener.local_addr().expect("an address"));
    let (say, said) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let say = say.clone();
            std::thread::spawn(move || echo_without_end(stream).map(|ended| say.send(ended)));
        }
    });
    (url, said)
}

fn echo_without_end(mut stream: TcpStream) -> Option<Option<u16>> {
    let requested = opening_of(&mut stream)?;
    let mut bytes = [0; 4096];
    let mut out = Vec::new();
    websocket::render_response(&requested.key, None, None, &mut out);
    let terms = Terms { role: Role::Server, deflate: None, message_bytes_max: 1 << 20, kept_bytes_max: 1 << 20 };
    let (mut session, mut scratch) = (Session::new(terms), Scratch::default());
    let mut closed = None;
    loop {
        stream.write_all(&std::mem::take(&mut out)).ok()?;
        let count = stream.read(&mut bytes).unwrap_or(0);
        if count == 0 {
            return closed;
        }
        let mut rest = &mut bytes[..count];
        while closed.is_none() {
            // A required protocol reply is not sent.
            match session.handle(rest, &mut scratch, None, &mut Vec::new()).ok()? {
                (_, SessionEvent::NeedMore) => break,
                (taken, received) => {
                    match received {
                        SessionEvent::Message { kind, bytes, .. } => {
                            websocket::push_message(kind, false, None, bytes, &mut out);
                        }
                        SessionEvent::Close { code, .. } => closed = Some(code),
                        _ => {}
                    }
                    rest = &mut rest[taken..];
                }
            }
        }
    }
}

/// A peer that does not confirm a close is waited for, and then left.
#[test]
fn who_does_not_agree_is_left_in_time() {
    let (url, said) = stubborn();
    on_both(|driver| {
        let done = output(&["-n", "30", "-c", "3", "-d", "x", "--driver", driver, "--output", "json", &url]);
        let seen = report(&done);
        assert_eq!((&seen["requests"]["succeeded"], &seen["requests"]["failed"]), (&30.into(), &0.into()), "{seen:#}");
        for _ in 0..3 {
            assert_eq!(next_of(&said, "the end of a connection"), Some(1_000), "{driver}");
        }
    });
}

/// The code and the reason of a server's close are reported, each code by itself.
#[test]
fn why_a_server_closes_is_reported() {
    let cases: [(Value, Option<u16>, &str, &str); 12] = [
        (json!({"code": 1000, "reason": "enough"}), Some(1_000), "1000 'enough': it is done", "正常结束"),
        (json!({"code": 1001}), Some(1_001), "1001: it is going away", "服务端即将下线"),
        (json!({"code": 1002}), Some(1_002), "1002: it says that we violated the protocol", "违反了协议"),
        (json!({"code": 1003}), Some(1_003), "1003: it does not take messages of this kind", "不接受这类消息"),
        (
            json!({"code": 1008, "reason": "no"}),
            Some(1_008),
            "1008 'no': the request violates its policy",
            "违反了服务端的策略",
        ),
        (json!({"code": 1009}), Some(1_009), "1009: the message is too large", "消息超过服务端上限"),
        (json!({"code": 1011}), Some(1_011), "1011: it had an internal error", "服务端内部出错"),
        (json!({"code": 1012}), Some(1_012), "1012: it is restarting", "正在重启"),
        (
            json!({"code": 1013, "reason": "try again later"}),
            Some(1_013),
            "1013 'try again later': it is overloaded",
            "1013 'try again later'",
        ),
        (json!({"code": 3000}), Some(3_000), "3000: it needs other credentials", "其他凭证"),
        (
            json!({"code": 4999, "reason": "明天再来"}),
            Some(4_999),
            "4999 '明天再来': the application defines",
            "由应用定义",
        ),
        (json!({}), None, "no code: it gave no code", "无代码"),
    ];
    side_by_side(&cases, |(close, code, en, zh)| {
        let (mut close, code) = (close.clone(), *code);
        let reason = close["reason"].clone();
        close["after"] = 2.into();
        let node = Node::start(&json!({ "close": close }));
        on_both(|driver| {
            let args = ["-n", "12", "-c", "2", "-d", "x", "--driver", driver, "--show-failures", &node.url];
            let seen = report(&output(&[&args[..], &["--output", "json"]].concat()));
            // Each third message of a connection gets a close; the number of closes depends on the scheduling of users.
            let closes = seen["requests"]["failed"].as_u64().expect("a count");
            assert!((3..=4).contains(&closes), "{seen:#}");
            assert_eq!(seen["closes"], json!([{ "code": code, "reason": reason, "count": closes }]), "{seen:#}");
            let failure = &seen["failures"][0];
            assert_eq!(failure["reason"], "websocket-close", "{failure}");
            assert_eq!(failure["detail"], code.unwrap_or(1_005).to_string(), "{failure}");
            assert_eq!(failure["count"], closes);
            for (language, says) in [("en_US.UTF-8", *en), ("zh_CN.UTF-8", *zh)] {
                let done = onrush(&args).env("LANG", language).output().expect("the binary starts");
                let page = text(&done.stdout);
                assert!(page.contains(says), "{language}: {says}: {page}");
                let colon = if language.starts_with("zh") { "）：" } else { ": " };
                let sample =
                    format!("websocket-close ({}){colon}{}", code.unwrap_or(1_005), reason.as_str().unwrap_or("-"));
                assert!(reason.is_null() || page.contains(&sample), "{sample}: {page}");
            }
        });
    });
}

/// A close between messages is reported, and the next message has a connection of its own. If that message is due at
/// once it may cross with the close, and is lost then.
#[test]
fn a_close_between_messages_is_no_failure() {
    // A start that is late by the whole interval would be sent before the close is read.
    let cases = [(json!({ "together": true }), "1/s", 3_u64, false), (json!({ "later": true }), "20/s", 5, true)];
    for (when, rate, count, may_cross) in cases {
        let mut close = json!({ "code": 4001, "reason": "idle" });
        close.as_object_mut().expect("an object").append(&mut when.as_object().expect("an object").clone());
        let node = Node::start(&json!({ "close": close }));
        on_both(|driver| {
            let number = count.to_string();
            let load = ["-q", rate, "-n", &number, "-c", "1", "-d", "x"];
            let seen = report(&output(&[&load[..], &["--driver", driver, "--output", "json", &node.url]].concat()));
            let [succeeded, failed] =
                ["succeeded", "failed"].map(|name| seen["requests"][name].as_u64().expect("a count"));
            assert!(succeeded + failed == count && succeeded > 0 && (may_cross || failed == 0), "{seen:#}");
            assert!(failed == 0 || seen["failures"][0]["reason"] == "websocket-close", "{seen:#}");
            assert!(seen["connections"]["established"].as_u64() >= Some(2), "{seen:#}");
            assert_eq!(seen["closes"][0]["code"], 4001, "{seen:#}");
            assert_eq!(seen["closes"][0]["reason"], "idle", "{seen:#}");
            node.lines("closed", seen["connections"]["established"].as_u64().expect("a count") as usize);
        });
    }
}

/// Whatever compression a ws server requests, it gets: nothing is refused, all is compressed, and every echo is
/// complete.
#[test]
fn compression_is_agreed_on_with_every_setting_of_ws() {
    let settings = [
        json!({}),
        json!({ "serverNoContextTakeover": false }),
        json!({ "serverNoContextTakeover": true }),
        json!({ "clientNoContextTakeover": true }),
        json!({ "serverNoContextTakeover": false, "clientNoContextTakeover": false }),
        json!({ "serverMaxWindowBits": 9 }),
        json!({ "clientMaxWindowBits": 8 }),
        json!({ "clientMaxWindowBits": 9, "serverMaxWindowBits": 10 }),
        json!({ "clientMaxWindowBits": false, "serverMaxWindowBits": false }),
        json!({ "clientMaxWindowBits": 15, "serverNoContextTakeover": false, "serverMaxWindowBits": 15 }),
        json!({ "clientMaxWindowBits": 12, "serverNoContextTakeover": false, "clientNoContextTakeover": true }),
        json!({ "zlibDeflateOptions": { "level": 9, "memLevel": 9 }, "serverNoContextTakeover": false }),
    ];
    let folder = std::env::temp_dir().join(format!("onrush-ws-deflate-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    // Text with near and far repetitions, and an end that only a complete message has.
    let line: String = (0..400).map(|number| format!("{} ", number * number % 1_009)).collect();
    let (file, end) = (folder.join("message"), "the very end");
    std::fs::write(&file, line.repeat(30) + end).expect("a file");
    let message = format!("@{}", file.display());
    side_by_side(&settings, |setting| {
        let mut setting = setting.clone();
        setting["threshold"] = 0.into();
        let node = Node::start(&json!({ "perMessageDeflate": setting }));
        on_both(|driver| {
            let args = ["--ws-deflate", "-n", "60", "-c", "3", "-d", &message, "--expect-body", end];
            let seen = report(&output(&[&args[..], &["--driver", driver, "--output", "json", &node.url]].concat()));
            assert_eq!(seen["requests"]["succeeded"], 60, "{setting} {driver}: {seen:#}");
            let agreed = node.lines("agreed", 3);
            assert!(agreed.iter().all(|one| one == "permessage-deflate"), "{setting}: {agreed:?}");
            let whole = 60 * std::fs::metadata(&file).expect("a file").len();
            assert_eq!(seen["bytes"]["bodies"], whole, "{setting} {driver}");
            for side in ["received", "sent"] {
                let bytes = seen["bytes"][side].as_u64().expect("a count");
                assert!(bytes * 4 < whole * 3, "{setting} {driver}: {bytes} {side} of {whole}");
            }
            assert_eq!(node.lines("closed", 3), ["1000"; 3], "{setting} {driver}");
            let held = output(&[
                "hold",
                "-c",
                "3",
                "--hold",
                "100ms",
                "--once",
                "--grace",
                "120s",
                "--ws-deflate",
                "-d",
                &message,
                "--expect-body",
                end,
                "--driver",
                driver,
                "--output",
                "json",
                &node.url,
            ]);
            let held = report(&held);
            let (connections, messages) = (&held["connections"], &held["messages"]);
            assert_eq!((&connections["lost"], &messages["refused"]), (&0.into(), &0.into()), "{setting}: {held:#}");
            assert_eq!(messages["answered"], 3, "{setting} {driver}: {held:#}");
            assert_eq!(node.lines("closed", 3), ["1000"; 3], "{setting} {driver}");
        });
    });
    let _ = std::fs::remove_dir_all(&folder);
}
