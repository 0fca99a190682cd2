//! The intended meaning is understood, or refused before anything is sent: no flag is accepted and ignored, and no
//! other cause is named.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::usage::check;
use crate::{ChildGuard, Served, closed_port, line_with, onrush, output, report, side_by_side, signal, text};

/// Refused in both languages, with these words.
fn refused(words: &[&str], en: &str, zh: &str) {
    for (language, says) in [("en", en), ("zh", zh)] {
        check(&output(&[words, &["--lang", language]].concat()), 2, says);
    }
}

#[test]
fn debug_makes_no_report() {
    let served = Served::start();
    let url = served.url("/");
    let file = std::env::temp_dir().join(format!("onrush-meant-{}", std::process::id()));
    let file = file.to_str().expect("UTF-8");
    let yaml = format!("{file}.yaml");
    let plan = format!("scenarios: {{one: {{load: {{users: 1, iterations: 1}}, steps: [{{get: '{url}'}}]}}}}");
    std::fs::write(&yaml, plan).expect("a place for it");
    for (report, named) in [
        (["--json", file], "--json"),
        (["--output", "json"], "--output json"),
        (["-o", "json"], "--output json"),
        (["--hdr", file], "--hdr"),
        (["--log", file], "--log"),
        (["--slowest", "5"], "--slowest"),
    ] {
        for load in [&[url.as_str()][..], &["run", &yaml]] {
            let words = [load, &["--debug"], &report].concat();
            refused(&words, &format!("--debug and {named} cannot"), &format!("--debug 和 {named} 不能同时使用"));
            assert!(!std::path::Path::new(file).exists(), "{words:?}");
        }
    }
    for load in [&[url.as_str()][..], &["run", &yaml]] {
        let shown = output(&[load, &["--debug"]].concat());
        assert_eq!(shown.status.code(), Some(0), "{shown:?}");
    }
    std::fs::remove_file(&yaml).expect("it is there");
}

#[test]
fn what_is_offered_is_what_is_spoken() {
    let url = "https://127.0.0.1:1/";
    for (words, one) in [
        (&["--alpn", "http/1.1", "--http2", url][..], "--http2"),
        (&["--alpn", "x", "--http2", url], "--http2"),
        (&["--alpn", "h2", "--http1.1", url], "--http1.1"),
        (&["--alpn", "h2", "--http1.0", url], "--http1.0"),
        (&["--alpn", "h2,http/1.1", "--http1.1", url], "--http1.1"),
        (&["--alpn", "http/1.1", "--streams", "5", url], "--streams"),
        (&["--alpn", "http/1.1", "grpcs://127.0.0.1:1/hello.Greeter/SayHello"], "grpcs://"),
        (&["--alpn", "h2", "-d", "x", "wss://127.0.0.1:1/"], "wss://"),
    ] {
        let words = [&["-k", "-n", "1"], words].concat();
        refused(&words, &format!("{one} and --alpn cannot"), &format!("{one} 和 --alpn 不能同时使用"));
    }
    let served = Served::with(&["--tls"]);
    let url = served.url("/");
    for words in [
        &["--alpn", "h2", "--http2"][..],
        &["--alpn", "h2,http/1.1", "--http2"],
        &["--alpn", "http/1.1", "--http1.1"],
        &["--alpn", "http/1.1"],
        &["--alpn", "h2"],
    ] {
        let done = output(&[&["-k", "-n", "2", "-c", "1", "--output", "json", &url][..], words].concat());
        assert_eq!(report(&done)["requests"]["succeeded"], 2, "{words:?}: {done:?}");
    }
}

#[test]
fn slashes_that_are_missing_or_too_many_are_named() {
    let slashes = ("exactly two slashes stand behind the scheme", "协议后应为两个斜杠");
    let path = ("it is a path and names no host", "这是路径，没有主机");
    for (word, (en, zh)) in [
        ("http:/127.0.0.1:1/", slashes),
        ("http:127.0.0.1:1/", slashes),
        ("http:///127.0.0.1:1/", slashes),
        ("https:/host/", slashes),
        ("HTTP:/host/", slashes),
        ("http:\\\\host", slashes),
        ("ws:/host/", slashes),
        ("tcp:/host:1", slashes),
        ("grpc:/host/a.B/C", slashes),
        ("/nowhere/x", path),
        ("./x", path),
        ("../x", path),
        ("//host/x", path),
    ] {
        refused(&["-n", "1", word], en, zh);
    }
    // A host may have the name of a scheme.
    for (word, place) in [("http:1", "http:1:127.0.0.1"), ("http:1/x", "http:1:127.0.0.1"), ("ws:1", "ws:1:127.0.0.1")]
    {
        let said = output(&["-n", "1", "--resolve", place, word]);
        assert_eq!(said.status.code(), Some(3), "{word}: {said:?}");
    }
}

#[test]
fn a_form_is_no_command_of_curl() {
    let url = "http://127.0.0.1:1/";
    for (form, en, zh) in [
        ("a=@/no-such-file", "cannot read the file '/no-such-file' given to -F", "/no-such-file"),
        ("a=</no-such-file", "cannot read the file '/no-such-file' given to -F", "/no-such-file"),
        ("a", "-F wants name=content or name=@file, not 'a'", "-F 的值 'a' 无效：应为名称=内容 或 名称=@文件"),
        ("a=x;type=", "-F wants", "-F 的值"),
        ("=(", "-F wants", "-F 的值"),
    ] {
        refused(&["-n", "1", "-F", form, url], en, zh);
        for language in ["en", "zh"] {
            let said = text(&output(&["-n", "1", "-F", form, url, "--lang", language]).stderr);
            assert!(!said.contains("curl"), "{said}");
        }
    }
    // An explicitly named file appears in the error.
    check(&output(&["curl", "-F", "a=@/no-such-file", url]), 2, "curl: cannot read the file '/no-such-file'");
}

#[test]
fn a_server_that_closes_behind_each_response_is_named_by_hold() {
    let served = Served::start();
    for driver in ["uring", "poll"] {
        for more in [&[][..], &["--every", "100ms"]] {
            for (path, says) in [
                ("/close", ["answered and closed the connection", "响应后就关闭了连接"]),
                ("/drop", ["idle connections", "空闲连接"]),
            ] {
                for (language, says) in ["en", "zh"].into_iter().zip(says) {
                    let url = served.url(path);
                    let words = ["hold", "-c", "5", "--hold", "200ms", "--driver", driver, "--lang", language, &url];
                    let done = output(&[&words[..], more].concat());
                    assert_eq!(done.status.code(), Some(3), "{done:?}");
                    assert!(text(&done.stderr).contains(says), "{path} {more:?}: {done:?}");
                }
            }
        }
    }
}

/// While the load runs, counts are those so far; at its end there is one figure, and the verdict describes what
/// happened.
#[test]
fn a_server_that_goes_away_is_reported_with_one_figure() {
    /// More than a hundred requests a second of 10 ms need.
    const CONNECTIONS: u64 = 64;
    side_by_side(&["en", "zh"], |&language| {
        // No other server gets its port when it is gone.
        let mut served = Served::at(&format!("127.0.0.1:{}", closed_port()), &[]);
        let url = served.url("/delay/10");
        let file = std::env::temp_dir().join(format!("onrush-gone-{language}-{}", std::process::id()));
        let path = file.to_str().expect("UTF-8");
        let connections = CONNECTIONS.to_string();
        let load = ["-q", "100", "-z", "1h", "-c", &connections, "--no-abort-on-failures", "--interval", "100ms"];
        let words = [&load[..], &["--full", "--lang", language, "--json", path, &url]].concat();
        let mut command = onrush(&words);
        let mut child = ChildGuard::start(command.stdout(Stdio::piped()).stderr(Stdio::piped()));
        let mut lines = BufReader::new(child.0.stdout.take().expect("a pipe")).lines();
        let mut said = BufReader::new(child.0.stderr.take().expect("a pipe")).lines();
        let rows = lines.by_ref().filter(|line| line.as_ref().is_ok_and(|line| line.contains("s│")));
        assert_eq!(rows.take(6).count(), 6, "it began");
        served.child.kill().expect("it runs");
        served.child.wait().expect("it ends");
        line_with(&mut said, if language == "en" { "so far: " } else { "截至目前：" });
        // Requests that the server took with it fail too, one for each connection at most: most of all are refused by
        // then.
        let are_most_refused = lines.by_ref().map_while(Result::ok).any(|line| {
            succeeded_and_failed(&line).is_some_and(|[succeeded, failed]| failed > succeeded + CONNECTIONS)
        });
        assert!(are_most_refused, "the load goes on");
        signal(&child.0, "-INT");
        let page: Vec<String> = lines.map(|line| line.expect("UTF-8")).collect();
        let page = page.join("\n");
        said.for_each(drop);
        assert_eq!(child.0.wait().expect("it ends").code(), Some(130), "{page}");
        let seen: serde_json::Value =
            serde_json::from_slice(&std::fs::read(&file).expect("it was written")).expect("JSON");
        std::fs::remove_file(&file).expect("it is there");
        let refused =
            seen["failures"].as_array().expect("a list").iter().find(|each| each["reason"] == "connect-refused");
        let refused = refused.and_then(|each| each["count"].as_u64()).expect("a number");
        assert!(refused > 0, "{seen:#}");
        // The verdict on such a target is tested with given figures.
        assert!(!page.contains("of 100/s requested") && !page.contains("计划 100/s"), "{page}");
    });
}

/// The counts of a row of the table, after the time and the users.
fn succeeded_and_failed(row: &str) -> Option<[u64; 2]> {
    let cell = |column: usize| row.split('│').nth(column)?.trim().replace(',', "").parse().ok();
    Some([cell(2)?, cell(3)?])
}

#[test]
fn full_width_characters_are_named() {
    let url = "http://127.0.0.1:1/";
    for (words, wide, plain) in [
        (&["-c", "１０", url][..], '１', '1'),
        (&["-n", "5０", url], '０', '0'),
        (&["-z", "１s", url], '１', '1'),
        (&["-z", "1ｓ", url], 'ｓ', 's'),
        (&["-q", "1０/s", url], '０', '0'),
        (&["http：//127.0.0.1:1/"], '：', ':'),
        (&["http://127.0.0.1：1/"], '：', ':'),
        (&["http:／／127.0.0.1:1/"], '／', '/'),
        (&["-t", "1．5s", url], '．', '.'),
        (&["--expect-status", "２００", url], '２', '2'),
        (&["--expect-json", "$．a", url], '．', '.'),
    ] {
        refused(
            words,
            &format!("'{wide}' is a full-width character, write '{plain}'"),
            &format!("'{wide}' 是全角字符，请改为半角的 '{plain}'"),
        );
    }
    // Chinese text is not taken for a typing error.
    for words in [&["-H", "名，称", url][..], &["-c", "很多！", url], &["--expect-body", "/（(/", url]] {
        let said = text(&output(words).stderr);
        assert!(!said.contains("full-width"), "{said}");
    }
}

#[test]
fn reasons_of_libraries_are_chinese_too() {
    for (words, says) in [
        (["--expect-json", "$.a = 1"], "位置 3，语法错误"),
        (["--expect-json", "a == 1"], "位置 0，语法错误"),
        (["--expect-body", "/(/"], "不是有效的模式：括号没有闭合"),
        (["--expect-header", "a: /(/"], "不是有效的模式：括号没有闭合"),
    ] {
        let said = output(&[&words[..], &["--lang", "zh", "-n", "1", "http://127.0.0.1:1/"]].concat());
        let complaint = text(&said.stderr);
        assert!(complaint.contains(says) && !complaint.contains("error"), "{complaint}");
    }
}
