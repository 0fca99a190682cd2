//! Curl commands and their features: errors, other routes to a target, redirects, rounds, checks.

use crate::recorder::Recorder;
use crate::{Served, output, text};

/// Wrong files of curl commands, and what is said in English and Chinese.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("", "no curl command", "没有 curl 命令"),
    ("# nothing\n\n", "no curl command", "没有 curl 命令"),
    ("curl http://h/\ncurl 'http://h/", "line 2: the quote ' does not end", "第 2 行：引号 ' 没有结束"),
    (
        "curl http://h/ -d @/no/such/file",
        "line 1: cannot read the file '/no/such/file' given to -d",
        "第 1 行：无法读取",
    ),
    (
        "\ncurl http://h/ -F a=@/no/such/file",
        "line 2: cannot read the file '/no/such/file' given to -F",
        "第 2 行：无法读取",
    ),
    ("curl http://h/ --no-such-flag", "line 1: the flag --no-such-flag of curl is not known", "不认识 curl 的参数"),
    ("curl http://h/ -sW", "the flag -W of curl is not known", "不认识 curl 的参数 -W"),
    (
        "curl http://h/ --socks4 p:1",
        "--socks4: a load goes through proxies of HTTP",
        "压测只支持 HTTP、HTTPS 和 SOCKS5 代理",
    ),
    ("curl http://h/ -c jar", "--cookie-jar: cookies of answers are not kept", "暂不保存响应中的 Cookie"),
    ("curl http://h/ --digest -u a:b", "--digest: this way of authentication", "不支持这种认证方式"),
    ("curl http://h/ -u name", "-u wants name:password", "-u 需要"),
    ("curl -s", "the curl command has no URL", "没有 URL"),
    ("curl ftp://h/", "unknown scheme 'ftp'", "'ftp' 无法识别"),
    ("curl 'http://h/{a,b'", "braces or brackets", "花括号或方括号"),
    ("curl 'http://h/[1-2000]'", "more than 1000 commands and URLs", "超过 1000 条"),
    ("curl ws://h/", "for ws:// leave out the word curl: onrush ws://h/", "ws:// 请去掉 curl 一词"),
    ("curl grpcs://h/a.B/C", "for grpcs:// leave out the word curl", "grpcs:// 请去掉 curl 一词"),
    ("curl tcp://h:1", "for tcp:// leave out the word curl", "tcp:// 请去掉 curl 一词"),
    ("curl http://h/ -C 3 -d abc", "-C 3 leaves nothing of the 3 bytes", "-C 3 之后没有内容可发"),
    ("curl http://h/ --proto-default ftp", "--proto-default of curl wants http or https", "应为 http 或 https"),
    ("curl http://h/ -h", "--help of curl has no counterpart", "--help 在压测中没有对应的含义"),
    ("curl http://h/ -d a -F b=c", "cannot both be there", "不能同时使用"),
    ("curl http://h/ -I -d a", "-I and -d, -F or -T cannot both", "不能同时使用"),
    ("curl http://h/ -d", "the flag -d of curl wants a value", "后面需要一个值"),
    ("curl http://h/ -m abc", "--max-time of curl wants seconds", "--max-time 的值 'abc' 无效：应为秒数"),
    ("curl http://h/ -F novalue", "-F of curl wants name=content", "-F 的值 'novalue' 无效：应为名称=内容"),
    ("wget http://h/", "'wget' is not curl", "'wget' 不是 curl"),
    ("curl http://$HOST/", "'$HOST' needs a running shell", "需要由 shell 执行"),
    ("curl http://h/ -G -d 'a b'", "it holds a space or a control character", "不是有效的 URL"),
    ("curl http://h/ --request-target $'a\\r\\nX: y'", "it holds a space or a control character", "不是有效的 URL"),
    ("curl http://h/ -0 -T -", "HTTP/1.0 knows no chunks", "HTTP/1.0 不支持分块传输"),
    ("curl http://h/ -0 -d a -H 'Transfer-Encoding: chunked'", "HTTP/1.0 knows no chunks", "HTTP/1.0 不支持分块传输"),
    ("curl http://h/ -T a -d b", "-T and -d or -F cannot both", "不能同时使用"),
    ("curl http://h/ -F 'a=b;type=c'", "-F of curl wants a type like", "形如 ;type=text/plain 的类型"),
    ("curl http://h/ -F 'a=b;encoder=quoted-printable'", "the encoder base64", "base64、8bit"),
    ("curl http://h/ -C x", "--continue-at of curl wants a number of bytes", "字节数"),
    ("curl http://h/ --no-alpn", "--no-alpn of curl has no counterpart", "--no-alpn 在压测中没有对应的含义"),
    ("curl http://h/ --no-data x", "the flag --no-data of curl is not known", "不认识 curl 的参数 --no-data"),
    ("curl 'http://h/?ids[1]=a'", "braces or brackets", "花括号或方括号"),
    ("fetch(\"http://h/\", {});", "this is fetch, not curl; choose \"Copy as cURL (bash)\"", "复制为 cURL (bash)"),
    ("\n$session = New-Object X\nInvoke-WebRequest", "line 2: this is PowerShell", "第 2 行：这是 PowerShell"),
    ("c\0u\0r\0l\0 \0h\0", "the file is UTF-16; save it as UTF-8", "文件是 UTF-16 编码"),
    ("curl http://h/ -H 'No colon'", "has no colon", "缺少冒号"),
    ("curl http://h/ --resolve h:80", "--resolve wants host:port:address", "--resolve 的值"),
    ("curl http://h/ --connect-to a:b", "--connect-to wants", "--connect-to 的值"),
    ("curl http://h/ --dat x", "may be --data or --data-ascii", "可能是 --data 或 --data-ascii"),
];

#[test]
fn mistakes_are_named_with_their_place() {
    let folder = std::env::temp_dir().join(format!("onrush-mistakes-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("commands.txt");
    let path = file.to_string_lossy().into_owned();
    for (content, en, zh) in MISTAKES {
        std::fs::write(&file, content).expect("a file");
        for (language, wanted) in [("en", en), ("zh", zh)] {
            let ended = output(&["--lang", language, "-p", &path]);
            let said = text(&ended.stderr);
            assert!(said.contains(wanted) && said.contains("commands.txt"), "{content:?}: {said}");
            assert_eq!((ended.status.code(), said.lines().count()), (Some(2), 1), "{content:?}: {said}");
        }
    }
    let missing = output(&["-p", "/no/such/commands"]);
    assert!(text(&missing.stderr).contains("cannot read the file '/no/such/commands' given to --curl"), "{missing:?}");
    let _ = std::fs::remove_dir_all(&folder);
}

fn count(recorder: &Recorder, words: &[&str]) -> (serde_json::Value, usize) {
    let ended = output(&[&["--output", "json", "-c", "7", "-n", "200"], words].concat());
    assert!(ended.status.success(), "{words:?}: {ended:?}");
    (crate::report(&ended), recorder.take().len())
}

#[test]
fn other_ways_to_a_target_carry_a_load() {
    let recorder = Recorder::start("ways");
    let (socket, port) = (recorder.folder.join("socket").to_string_lossy().into_owned(), recorder.port);
    let somewhere = format!("http://somewhere.test:{port}/");
    let resolve = format!("somewhere.test:{port}:127.0.0.1");
    let connect = format!("other.test:80:localhost:{port}");
    for driver in ["uring", "poll"] {
        for words in [
            vec!["--unix-socket", &socket, "http://localhost/"],
            vec!["--unix-socket", &socket, "--no-keepalive", "http://localhost/"],
            vec!["--resolve", &resolve, &somewhere],
            vec!["--connect-to", &connect, "http://other.test/"],
            vec!["--unix-socket", &socket, "-q", "2000", "http://localhost/"],
        ] {
            let (report, came) = count(&recorder, &[&["--driver", driver], &words[..]].concat());
            assert_eq!((report["requests"]["succeeded"].as_u64(), came), (Some(200), 200), "{words:?}: {report:#}");
        }
        let (report, _) = count(&recorder, &["--driver", driver, "--unix-socket", &socket, "http://localhost/"]);
        assert_eq!(report["target"]["address"].as_str(), Some(format!("unix:{socket}").as_str()));
    }
    let missing = output(&["-n", "5", "--unix-socket", "/no/such/socket", "http://localhost/"]);
    assert_eq!(missing.status.code(), Some(3), "{missing:?}");
}

#[test]
fn redirects_are_requests_of_their_own() {
    let served = Served::start();
    let secured = Served::with(&["--tls"]);
    for more in [
        vec!["--driver", "uring"],
        vec!["--driver", "poll"],
        vec!["--http2"],
        vec!["--http2", "--streams", "5"],
        vec!["--no-keepalive"],
    ] {
        let url = served.url("/redirect/3");
        let ended = output(&[&["--output", "json", "-c", "7", "-n", "200", "-L"], &more[..], &[&url]].concat());
        let report = crate::report(&ended);
        let of = |pointer: &str| report.pointer(pointer).and_then(serde_json::Value::as_u64);
        assert_eq!((of("/requests/started"), of("/requests/succeeded")), (Some(800), Some(800)), "{more:?} {report:#}");
        assert_eq!(
            (of("/requests/redirects"), of("/statuses/302"), of("/statuses/200")),
            (Some(600), Some(600), Some(200))
        );
        assert_eq!(of("/steps/0/finished"), Some(800));
    }
    // To another port, by a name that was unknown before, and from plain to TLS.
    let recorder = Recorder::start("redirects");
    let port_of = |served: &Served| served.url.rsplit(':').next().expect("a port").to_owned();
    for (scheme, port) in [("http", port_of(&served)), ("https", port_of(&secured))] {
        for driver in ["uring", "poll"] {
            let url = format!("http://127.0.0.1:{}/away/{scheme}/{port}", recorder.port);
            let (report, came) = count(&recorder, &["--driver", driver, "-L", "-k", &url]);
            let of = |pointer: &str| report.pointer(pointer).and_then(serde_json::Value::as_u64);
            assert_eq!(
                (of("/requests/started"), of("/requests/succeeded"), came),
                (Some(400), Some(400), 200),
                "{scheme} {report:#}"
            );
            assert_eq!((of("/statuses/302"), of("/statuses/200")), (Some(200), Some(200)));
        }
    }
    let elsewhere = Recorder::start("elsewhere");
    check_secrets(&recorder, &elsewhere);
    // Host overrides also hold for redirects.
    let url = format!("http://127.0.0.1:{}/away/http/{}", recorder.port, elsewhere.port);
    let (resolve, connect) = (
        format!("localhost:{}:127.0.0.1", elsewhere.port),
        format!("localhost:{}:127.0.0.1:{}", elsewhere.port, recorder.port),
    );
    for (words, ours, theirs) in [(["--resolve", &resolve], 1, 1), (["--connect-to", &connect], 2, 0)] {
        let words = [&["--quiet", "-c", "1", "-n", "1", "-L"], &words[..], &[url.as_str()]].concat();
        assert!(output(&words).status.success(), "{words:?}");
        assert_eq!((recorder.take().len(), elsewhere.take().len()), (ours, theirs), "{words:?}");
    }
    // The end of the time does not abort a chain of redirects.
    let url = served.url("/redirect/2");
    let ended = output(&["--output", "json", "-c", "20", "-z", "1s", "-L", "--expect-status", "200", &url]);
    let report = crate::report(&ended);
    assert_eq!((ended.status.code(), report["requests"]["failed"].as_u64()), (Some(0), Some(0)), "{report:#}");
    let status = |name: &str| report["statuses"][name].as_u64().unwrap_or(0);
    assert_eq!(status("302"), 2 * status("200"), "{report:#}");
    check_ends(&recorder);
}

/// Secrets are not sent to other hosts.
fn check_secrets(recorder: &Recorder, elsewhere: &Recorder) {
    let url = format!("http://127.0.0.1:{}/away/http/{}", recorder.port, elsewhere.port);
    let words =
        ["--quiet", "-c", "1", "-n", "1", "curl", "-L", "-u", "a:b", "-H", "Cookie: c=d", "-H", "X-Own: 1", &url];
    assert!(output(&words).status.success());
    let (first, second) = (recorder.take(), elsewhere.take());
    assert!(first[0].value("authorization").is_some() && first[0].value("cookie").is_some());
    assert!(second[0].value("authorization").is_none() && second[0].value("cookie").is_none(), "{second:?}");
    assert_eq!(second[0].value("host"), Some(format!("localhost:{}", elsewhere.port).as_str()));
    assert!(second[0].value("x-own").is_some());
}

/// A redirect loop ends, and so does a redirect to a port on which nobody listens.
fn check_ends(recorder: &Recorder) {
    let url = format!("http://127.0.0.1:{}/redirect/302/loop", recorder.port);
    let ended = output(&["--output", "json", "-c", "2", "-n", "10", "-L", "--max-redirs", "3", &url]);
    let report = crate::report(&ended);
    assert_eq!(
        (report["requests"]["failed"].as_u64(), report["failures"][0]["reason"].as_str()),
        (Some(10), Some("redirect")),
        "{report:#}"
    );
    let url = format!("http://127.0.0.1:{}/away/http/1", recorder.port);
    let ended = output(&["--output", "json", "-c", "2", "-n", "10", "-L", &url]);
    assert_eq!(crate::report(&ended)["requests"]["failed"].as_u64(), Some(10));
}

#[test]
fn several_commands_are_a_round() {
    let (one, other) = (Recorder::start("round-one"), Recorder::start("round-other"));
    let file = one.folder.join("commands.txt");
    let text: String = (0..5)
        .map(|number| {
            let port = if number % 2 == 0 { one.port } else { other.port };
            format!("curl http://127.0.0.1:{port}/{number} -H 'X: {number}'\n")
        })
        .collect();
    std::fs::write(&file, text).expect("a file");
    let file = file.to_string_lossy().into_owned();
    for more in [vec![], vec!["--shuffle"], vec!["-q", "1000"], vec!["--shuffle", "--no-keepalive"]] {
        // Twenty rounds of five, whatever the load.
        let words = [&["--output", "json", "-c", "1", "-n", "20", "-p", &file][..], &more[..]].concat();
        let report = crate::report(&output(&words));
        assert_eq!(report["requests"]["succeeded"].as_u64(), Some(100), "{more:?} {report:#}");
        let steps: Vec<_> =
            report["steps"].as_array().expect("a list").iter().map(|step| step["finished"].as_u64()).collect();
        assert_eq!(steps, [Some(20); 5], "{more:?}");
        let of = |recorder: &Recorder| {
            let came = recorder.take();
            came.iter().map(|one| one.start.split(['/', ' ']).nth(2).expect("a path").to_owned()).collect::<Vec<_>>()
        };
        let (first, second) = (of(&one), of(&other));
        assert_eq!((first.len(), second.len()), (60, 40), "{more:?}");
        let in_turn =
            first.chunks(3).all(|round| round == ["0", "2", "4"]) && second.chunks(2).all(|round| round == ["1", "3"]);
        assert_eq!(in_turn, !more.contains(&"--shuffle"), "{more:?} {first:?} {second:?}");
        let connections = report["connections"]["established"].as_u64();
        assert_eq!(connections, Some(if more.contains(&"--no-keepalive") { 100 } else { 2 }), "{more:?} {report:#}");
    }
}

#[test]
fn checks_look_at_what_came() {
    let recorder = Recorder::start("checks");
    let secured = Served::with(&["--tls"]);
    let url = format!("http://127.0.0.1:{}/gzip", recorder.port);
    let run = |words: &[&str], url: &str| {
        let ended = output(
            &[&["-k", "-c", "3", "-n", "30", "--lang", "en", "--quiet", "--show-failures"][..], words, &[url]].concat(),
        );
        (ended.status.code(), text(&ended.stdout))
    };
    let plain = |words: &[&str]| {
        let ended = output(
            &[&["-c", "3", "-n", "30", "--lang", "en", "--quiet", "--show-failures"][..], words, &[&url]].concat(),
        );
        (ended.status.code(), text(&ended.stdout))
    };
    for good in [
        vec!["--expect-json", "$.code == 200"],
        vec!["--expect-json", "$.data.id >= 17", "--expect-json", "$..id"],
        vec!["--expect-header", "x-id: 17", "--expect-header", "Content-Encoding"],
        vec!["--expect-body", "/\"id\": 1[0-9]/", "--expect-body", "code"],
    ] {
        let (code, said) = plain(&good);
        assert_eq!(code, Some(0), "{good:?} {said}");
        assert!(!said.contains("failed answers"), "{said}");
    }
    for (bad, reason) in [
        (vec!["--expect-json", "$.code == 201"], "--expect-json $.code == 201"),
        (vec!["--expect-header", "x-id: 18"], "--expect-header x-id: 18"),
        (vec!["--expect-body", "/^nothing$/"], "--expect-body /^nothing$/"),
        (vec!["--expect-status", "204"], "status 200"),
    ] {
        let (code, said) = plain(&bad);
        assert_eq!(code, Some(1), "{bad:?} {said}");
        assert!(said.contains("failed answers, the first 10 of 30") && said.contains(reason), "{said}");
        assert!(said.contains("< HTTP/1.1 200 OK\n") && said.contains("{\"code\": 200"), "{said}");
        assert!(said.contains("< Set-Cookie: ***\n") && !said.contains("secretsecret"), "{said}");
    }
    // Over HTTP/2 too.
    let (code, said) =
        run(&["--expect-header", "content-type: text/plain", "--expect-body", "/^Hello/"], &secured.url("/"));
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = run(&["--expect-body", "nothing"], &secured.url("/"));
    assert_eq!(code, Some(1), "{said}");
    assert!(
        said.contains("< HTTP/2 200\n< content-type: text/plain\n") && said.contains("Hello from the onrush demo"),
        "{said}"
    );
}

#[test]
fn secrets_are_shown_to_nobody_unasked() {
    let recorder = Recorder::start("unsolicited_messages");
    let file = recorder.folder.join("commands.txt");
    let url = format!("http://user:secretone@127.0.0.1:{}/gzip", recorder.port);
    let command = format!(
        "curl '{url}' -H 'Cookie: a=secrettwo' -H 'Authorization: Bearer secretthree' -b b=secretfour\ncurl '{url}' -u me:secretfive\n"
    );
    std::fs::write(&file, command).expect("a file");
    let path = file.to_string_lossy().into_owned();
    let encoded = ["bWU6c2VjcmV0Zml2ZQ", "dXNlcjpzZWNyZXRvbmU"];
    for words in [
        vec!["--debug"],
        vec!["--show-failures", "--expect-status", "204"],
        vec!["--output", "json"],
        vec!["--output", "json", "--expect-json", "$.x == 1"],
        vec!["-d", "x"],
    ] {
        let ended = output(&[&["-c", "1", "-n", "4", "-p", &path][..], &words[..]].concat());
        let said = text(&ended.stdout) + &text(&ended.stderr);
        assert!(!said.contains("secret") && encoded.iter().all(|secret| !said.contains(secret)), "{words:?}: {said}");
    }
    for line in [
        "curl http://h/ -H 'Authorization Bearer secretsix'",
        "curl 'http://me:secretsix@h:0/'",
        "curl http://h/ -u secretsix",
        "curl 'http://me:secretsix@h/{a}'",
        "curl 'http://me:secret/secretsix@h/'",
        "curl http://h/ -H 'Coo kie: secretsix'",
        "curl http://h/ -H 'Cookie: secretsix=\u{1}'",
        "curl 'ftp://me:secretsix@h/'",
    ] {
        std::fs::write(&file, line).expect("a file");
        let said = text(&output(&["-p", &path]).stderr);
        assert!(!said.is_empty() && !said.contains("secretsix"), "{line}: {said}");
    }
    std::fs::write(&file, format!("curl 'http://127.0.0.1:{}/' -u me:secretfive\n", recorder.port)).expect("a file");
    let shown = output(&["--debug", "--show-secrets", "-p", &path]);
    assert!(text(&shown.stdout).contains("> Authorization: Basic bWU6c2VjcmV0Zml2ZQ==\n"), "{shown:?}");
}

#[test]
fn debug_shows_one_exchange_and_ends() {
    let served = Served::start();
    let ended = output(&[
        "--debug",
        "-c",
        "500",
        "-z",
        "1h",
        "--lang",
        "en",
        "-X",
        "POST",
        "-d",
        "hello",
        &served.url("/echo"),
    ]);
    let said = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(0));
    for part in [
        "* connected to 127.0.0.1:",
        "> POST /echo HTTP/1.1\n",
        "> Content-Length: 5\n",
        "\nhello\n",
        "< HTTP/1.1 200 OK\n",
        "* planned +0; sent +",
        "* succeeded\n",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(said.matches("> POST").count(), 1, "{said}");
    let dead = format!("http://127.0.0.1:{}/", crate::closed_port());
    let ended = output(&["--debug", "--lang", "en", &dead]);
    assert!(text(&ended.stdout).contains("failed: connect-refused"), "{ended:?}");
    assert_eq!(ended.status.code(), Some(3));
}
