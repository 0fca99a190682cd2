//! The output of `--debug` and `--show-failures`: each protocol in its form, as far as it came, on both drivers.

mod redirects;
mod server;
mod streams;

use std::process::Output;

use server::{Script, pieces};

use crate::{Served, output, text};

const DRIVERS: [&str; 2] = ["uring", "poll"];
/// A timeout that no test waits for.
const TIMEOUT: [&str; 2] = ["-t", "20s"];

fn debug(driver: &str, language: &str, words: &[&str]) -> String {
    let ended = output(&[&["--debug", "--driver", driver, "--lang", language], &TIMEOUT[..], words].concat());
    said(&ended, words)
}

/// One failure of a load.
fn failure(driver: &str, language: &str, words: &[&str]) -> String {
    let usual = ["--show-failures", "-c", "1", "-n", "1", "--quiet", "--driver", driver, "--lang", language];
    let ended = output(&[&usual, &TIMEOUT[..], words].concat());
    let all = said(&ended, words);
    let title = if language == "en" {
        "failed answers, the first 1 of 1\n"
    } else {
        "失败的响应（1 个中的前 1 个）\n"
    };
    all.split_once(title).unwrap_or_else(|| panic!("{words:?}: {all}")).1.to_owned()
}

fn said(ended: &Output, words: &[&str]) -> String {
    assert_eq!(text(&ended.stderr), "", "{words:?}");
    text(&ended.stdout)
}

/// All parts are in the text, in this order.
fn in_order(said: &str, parts: &[&str]) {
    let mut from = 0;
    for part in parts {
        let at = said[from..].find(part);
        let Some(at) = at else { panic!("{part:?} is not there, or not in its place:\n{said}") };
        from += at + part.len();
    }
}

/// A response, its display, and whether it is a failure. A protocol violation is detected as soon as it is there.
type Case = (&'static [u8], &'static [&'static str], bool);

const CASES: [Case; 16] = [
    (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", &["< HTTP/1.1 200 OK\n", "< Content-Length: 2\n", "\nhi\n"], false),
    (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        &["< HTTP/1.1 100 Continue\n", "< HTTP/1.1 103 Early Hints\n< Link: </a>\n", "< HTTP/1.1 200 OK\n", "\nhi\n"],
        false,
    ),
    (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\nX-Sum: 7\r\nX-More: 8\r\n\r\n",
        &["< HTTP/1.1 200 OK\n", "\nhello world\n", "< X-Sum: 7\n< X-More: 8\n"],
        false,
    ),
    (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        &["< HTTP/1.1 200 OK\n", "< Transfer-Encoding: chunked\n"],
        false,
    ),
    (
        b"HTTP/1.1 500 Oh\r\nContent-Length: 4\r\n\r\nsad\n",
        &["status 500", "< HTTP/1.1 500 Oh\n", "\nsad\n"],
        true,
    ),
    (b"HTTP/1.1 200 OK\r\nX-A: 1\r\nno colon\r\n\r\n", &["protocol (header)", "< X-A: 1\n< no"], true),
    (b"SSH-2.0-OpenSSH_9.9\r\nmore\r\n", &["protocol (start-line)", "< S"], true),
    (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\nrest",
        &["protocol (chunk-size)", "\nhello\n", ", not understood", "z"],
        true,
    ),
    (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX",
        &["protocol (chunk-end)", "\nhello\n", ", not understood", "X"],
        true,
    ),
    (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nhi",
        &["protocol (content-length)", "< HTTP/1.1 200 OK\n", "< Content-Length: 2, 3\n"],
        true,
    ),
    (b"HTTP/1.1 200 OK\r\nX-A: 1\r\nX-B", &["closed-early", "< HTTP/1.1 200 OK\n< X-A: 1\n< X-B\n"], true),
    (
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nas far as it ca",
        &["closed-early", "< Content-Length: 100\n", "\nas far as it ca\n"],
        true,
    ),
    (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n50\r\nas far as it ca",
        &["closed-early", "\nas far as it ca\n"],
        true,
    ),
    (
        b"HTTP/1.1 103 Early\r\nX: y\r\n\r\nHTTP/1.1 2",
        &["closed-early", "< HTTP/1.1 103 Early\n< X: y\n", "< HTTP/1.1 2\n"],
        true,
    ),
    (b"", &["closed-early"], true),
    (
        b"HTTP/1.1 404 No\r\nContent-Type: text/plain; charset=gbk\r\nContent-Length: 4\r\n\r\n\xd6\xd0\xce\xc4",
        &["status 404", "\n\u{4e2d}\u{6587}\n"],
        true,
    ),
];

#[test]
fn an_response_is_shown_as_far_as_it_came() {
    // Each path is a case; in pieces of one byte, or in one.
    let script = Script::start(|path, stream| {
        let (number, size) = path.trim_start_matches('/').split_once('/').expect("two numbers");
        pieces(stream, CASES[number.parse::<usize>().expect("a case")].0, size.parse().expect("a size"));
    });
    for driver in DRIVERS {
        for (number, (response, parts, is_failure)) in CASES.iter().enumerate() {
            for size in [1, 7, 100_000] {
                let url = script.url(&format!("/{number}/{size}"));
                // The failure comes after the received data.
                let (kind, parts) = if *is_failure { (Some(parts[0]), &parts[1..]) } else { (None, *parts) };
                let all = debug(driver, "en", &[&url]);
                in_order(&all, &[&[&*format!("> GET /{number}/{size} HTTP/1.1\n")], parts, &["* planned +0"]].concat());
                let end = kind.map_or("* succeeded".to_owned(), |kind| format!("* failed: {kind}"));
                assert!(all.contains(&end), "{response:?}: {all}");
                if let Some(kind) = kind {
                    in_order(&failure(driver, "en", &[&url]), &[&[kind], parts].concat());
                }
            }
        }
    }
}

#[test]
fn what_is_shown_is_bounded() {
    let script = Script::start(|path, stream| {
        let status = if path == "/bad" { "500 Oh" } else { "200 OK" };
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: 10000000\r\n\r\n");
        pieces(stream, &[head.as_bytes(), &vec![b'x'; 10_000_000]].concat(), 1_000_000);
    });
    for driver in DRIVERS {
        let all = debug(driver, "en", &[&script.url("/")]);
        assert!(all.len() < 70_000 && all.matches('x').count() >= 65_536, "{} bytes", all.len());
        assert!(all.contains("* 9,934,464 bytes more are not shown\n"), "{}", &all[all.len() - 300..]);
        let all = failure(driver, "zh", &[&script.url("/bad")]);
        assert!(all.len() < 2_000 && all.contains("* 另有 9,998,976 字节未显示\n"), "{all}");
    }
}

#[test]
fn what_is_no_text_is_shown_as_numbers() {
    let script = Script::start(|_, stream| {
        let head = b"HTTP/1.1 500 Oh\r\nX-Tab: a\tb\r\nX-Bell: \x1b[31m\r\nContent-Length: 4\r\n\r\n\xff\x00\x80\x7f";
        pieces(stream, head, 1_000);
    });
    for driver in DRIVERS {
        let all = failure(driver, "en", &[&script.url("/")]);
        assert!(!all.contains('\u{1b}'), "{all:?}");
        let said = debug(driver, "zh", &["-d", "\u{1}x", &script.url("/")]);
        assert!(!said.contains(['\u{1b}', '\u{1}']), "{said:?}");
    }
    let script = Script::start(|_, stream| {
        pieces(stream, b"HTTP/1.1 500 Oh\r\nContent-Length: 4\r\n\r\n\xff\x00\x80\x7f", 1_000);
    });
    for driver in DRIVERS {
        in_order(&failure(driver, "en", &[&script.url("/")]), &["[4 bytes, not text]\n  ff 00 80 7f\n"]);
        in_order(
            &debug(driver, "zh", &[&script.url("/")]),
            &["[4 字节的非文本内容]\n  ff 00 80 7f\n", "状态", ""][..1],
        );
    }
}

/// Bodies are checked as decoded text.
#[test]
fn checks_read_each_charset() {
    let json = "{\"名\": \"中文\", \"n\": 7}";
    let utf16 = |mark: &[u8], swap: bool| {
        let units = json.encode_utf16().flat_map(|unit| if swap { unit.to_be_bytes() } else { unit.to_le_bytes() });
        mark.iter().copied().chain(units).collect::<Vec<u8>>()
    };
    let gbk: Vec<u8> = [b"{\"", &[0xc3, 0xfb][..], b"\": \"", &[0xd6, 0xd0, 0xce, 0xc4], b"\", \"n\": 7}"].concat();
    let mark = [&[0xef, 0xbb, 0xbf][..], json.as_bytes()].concat();
    let bodies: [(&str, &str, Vec<u8>, bool); 12] = [
        ("gbk", "application/json; charset=gbk", gbk.clone(), true),
        ("gb18030", "application/json;charset=\"GB18030\"", gbk.clone(), true),
        ("utf16le", "application/json; charset=utf-16le", utf16(&[], false), true),
        ("utf16be", "application/json; charset=UTF-16BE", utf16(&[], true), true),
        ("utf16", "application/json; charset=utf-16", utf16(&[0xff, 0xfe], false), true),
        ("utf16mark", "application/json; charset=utf-16", utf16(&[0xfe, 0xff], true), true),
        ("onlymark", "application/json", utf16(&[0xff, 0xfe], false), true),
        ("lie", "application/json; charset=gbk", mark.clone(), true),
        ("mark", "application/json", mark, true),
        ("plain", "application/json", json.as_bytes().to_vec(), true),
        ("silent", "application/json", gbk.clone(), false),
        ("wrong", "application/json; charset=utf-16", gbk, false),
    ];
    let known = bodies.clone();
    let script = Script::start(move |path, stream| {
        let (_, kind, body, _) = known.iter().find(|(name, ..)| path == format!("/{name}")).expect("a body");
        let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", body.len());
        pieces(stream, &[head.as_bytes(), body].concat(), 5);
    });
    for driver in DRIVERS {
        for (name, _, _, is_met) in &bodies {
            for check in [
                ["--expect-body", "中文"],
                ["--expect-body", "/^\\{\"名\": \"中.\"/"],
                ["--expect-json", "$.名 == '中文'"],
                ["--expect-json", "$['名'] == '中文'"],
            ] {
                let url = script.url(&format!("/{name}"));
                let ended =
                    output(&[&["-c", "1", "-n", "1", "--quiet", "--driver", driver], &check[..], &[&url]].concat());
                assert_eq!(ended.status.code(), Some(i32::from(!is_met)), "{name} {check:?}: {}", text(&ended.stdout));
            }
        }
        // The displayed text is readable, too.
        let url = script.url("/gbk");
        in_order(&debug(driver, "en", &[&url]), &["\n{\"名\": \"中文\", \"n\": 7}\n"]);
        in_order(&failure(driver, "zh", &["--expect-body", "no", &url]), &["\n{\"名\": \"中文\", \"n\": 7}\n"]);
    }
}

#[test]
fn streams_are_shown_as_streams() {
    let served = Served::start();
    let grpc = served.url.replace("http://", "grpc://");
    for driver in DRIVERS {
        let all = debug(driver, "en", &["--http2", "-d", "hello", "-H", "X-Own: 1", &served.url("/echo")]);
        in_order(
            &all,
            &[
                "> POST /echo HTTP/2\n> :scheme: http\n> :authority: 127.0.0.1:",
                "> x-own: 1\n",
                "\nhello\n",
                "< HTTP/2 200\n",
                "\nhello\n",
                "* succeeded",
            ],
        );
        assert!(!all.contains("HTTP/1.1"), "{all}");
        let call = format!("{grpc}/hello.Greeter/SayHello");
        let all = debug(driver, "en", &["-H", "x-own: 1", &call, "-d", "{\"name\":\"world\"}"]);
        in_order(
            &all,
            &[
                "> POST /hello.Greeter/SayHello HTTP/2\n",
                "> te: trailers\n",
                "> x-own: 1\n",
                "> [message 1, 7 bytes]\n{\"name\":\"world\"}\n",
                "< HTTP/2 200\n< content-type: application/grpc\n",
                "< [message 1, ",
                "\"message\":\"Hello world\"",
                "< grpc-status: 0\n",
                "* gRPC status OK\n",
            ],
        );
        assert!(!all.contains("HTTP/1.1"), "{all}");
    }
}
