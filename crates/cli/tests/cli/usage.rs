//! Wrong input: one clear line, the documented exit code, no backtrace; in both languages.

use std::process::Output;

use crate::{closed_port, onrush, output, text};

pub(crate) fn check(output: &Output, code: i32, says: &str) {
    let complaint = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{says}: {complaint}");
    assert_eq!(text(&output.stdout), "", "{says}");
    assert_eq!(complaint.lines().count(), 1, "{says}: {complaint}");
    assert!(complaint.starts_with("onrush: ") && complaint.contains(says), "{says}: {complaint}");
    assert!(!complaint.contains("panicked") && !complaint.contains("RUST_BACKTRACE"), "{complaint}");
}

/// Wrong command lines, `REFUSED` being a URL that nobody serves; the exit code, and what is said in English and Chinese.
const MISTAKES: &[(&[&str], i32, &str, &str)] = &[
    (&[], 2, "no URL given", "没有给出 URL"),
    (&["run"], 2, "no URL given", "没有给出 URL"),
    (&["htp://x"], 2, "unknown scheme 'htp'", "协议 'htp' 无法识别"),
    (&["tcp://x"], 2, "'tcp://x' is not a TCP address", "不是 TCP 地址"),
    (&["--alpn", "h2", "a"], 2, "--alpn needs an https://, wss:// or grpcs:// URL", "--alpn 需要 https://"),
    // Disabled verification is allowed for a target without a certificate.
    (&["-k", "-n", "1", "REFUSED"], 3, "connect-refused", "connect-refused"),
    (&["--streams", "5", "a"], 2, "--streams needs --http2", "--streams 需要同时给出 --http2"),
    (&["--http2", "--http1.1", "a"], 2, "--http1.1 and --http2 cannot", "--http1.1 和 --http2 不能"),
    (&["--http2", "--streams", "5", "--no-keepalive", "a"], 2, "share a connection that stays", "共用一个长连接"),
    (&["--http2", "--streams", "10000", "-c", "10000", "a"], 2, "more than 10000000 users", "超过 10000000 个用户"),
    (&["--tls-min", "1.1", "https://x"], 2, "one of 1.2, 1.3", "可选：1.2、1.3"),
    (&["--key", "k", "https://x"], 2, "--key needs --cert", "--key 需要同时用 --cert"),
    (&["serve", "--cert", "x"], 2, "--cert needs --tls", "--cert 需要同时给出 --tls"),
    (&["-c", "0", "a"], 2, "-c wants a whole number from 1", "-c 的值 '0' 无效：应为 1 到"),
    (&["-n", "-5", "a"], 2, "not '-5'", "的值 '-5' 无效"),
    (&["-n", "many", "a"], 2, "not 'many'", "的值 'many' 无效"),
    (&["-n", "1\n2\u{1b}[31m", "a"], 2, "not '1\\n2\\u{1b}[31m'", "的值 '1\\n2\\u{1b}[31m' 无效"),
    (&["-z", "soon", "a"], 2, "-z wants a time", "-z 的值"),
    (&["--threads", "0", "a"], 2, "--threads wants", "--threads 的值"),
    (&["-H", "nocolon", "a"], 2, "'nocolon' has no colon", "'nocolon' 缺少冒号"),
    (&["-d", "@/no/such/file", "a"], 2, "cannot read the file '/no/such/file'", "无法读取"),
    (&["--expect-status", "2xx", "a"], 2, "200,300-399", "200,300-399"),
    (&["--json", "/no/such/folder/x", "127.0.0.1:9"], 2, "cannot write to /no/such/folder/x", "无法写入"),
    (&["--foo", "a"], 2, "unknown flag '--foo'", "未知参数 '--foo'"),
    (&["--conections", "5", "a"], 2, "did you mean '--connections'", "是否想写 '--connections'"),
    (&["-c"], 2, "needs a value", "缺少值"),
    (&["a", "b"], 2, "there is no command 'a'", "没有 'a' 这个命令"),
    (&["a.b", "c.d"], 2, "one is loaded at a time", "一次只压测一个"),
    (&["--conections", "5", "a"], 2, "'--connections'? see onrush", "'--connections'？详见 onrush"),
    (&["\u{2014}c", "5", "a"], 2, "write -c with a hyphen", "请改用连字符写成 -c"),
    (&["a", "\u{2014}c", "5"], 2, "write -c with a hyphen", "请改用连字符写成 -c"),
    (&["\u{2013}n", "5", "a"], 2, "write -n with a hyphen", "请改用连字符写成 -n"),
    (&["\u{2014}\u{2014}requests", "5", "a"], 2, "write --requests with", "请改用连字符写成 --requests"),
    (&["-n", "5", "\u{2013}insecure", "a"], 2, "write --insecure with", "请改用连字符写成 --insecure"),
    (&["-n", "5", "\u{ff0d}z", "1s", "a"], 2, "write -z with", "请改用连字符写成 -z"),
    (&["a", "\u{2212}k"], 2, "write -k with", "请改用连字符写成 -k"),
    (&["selftest", "extra"], 2, "unexpected argument 'extra'; see", "多出了参数 'extra'；详见"),
    (&["-c", "5", "demo"], 2, "'demo' is a command", "'demo' 是命令"),
    (&["-n", "1", "-n", "2", "a"], 2, "given twice; give it once", "请只写一次"),
    (&["--json", "/tmp", "127.0.0.1:9"], 2, "cannot write to /tmp", "无法写入 /tmp"),
    (&["--output", "xml", "a"], 2, "it takes text, json", "可选：text、json"),
    (&["completions", "tcsh"], 2, "it takes bash", "可选：bash"),
    (&["completions"], 2, "is missing", "缺少"),
    (&["serve", "--listen", "nowhere"], 2, "--listen wants", "--listen 的值"),
    (&["-q", "fast", "a"], 2, "-q wants a rate like 5000", "-q 的值 'fast' 无效：应为 5000"),
    (&["-q", "0", "a"], 2, "not '0'", "的值 '0' 无效"),
    (&["--stages", "5:1s,7", "a"], 2, "stage 2, '7', is none: it has no colon", "第 2 个阶段 '7' 不对：缺少冒号"),
    (&["-q", "5", "--stages", "5:1s", "a"], 2, "-q and --stages cannot", "-q 和 --stages 不能"),
    (&["-z", "5s", "--stages", "5:1s", "a"], 2, "-z and --stages cannot", "-z 和 --stages 不能"),
    (&["-q", "5", "-n", "9", "--arrivals", "poisson", "a"], 2, "ends with a time", "请用 -z"),
    (&["--stages", "0:2s", "a"], 2, "--stages makes no start", "按 --stages 的速率"),
    (&["-q", "0.1/s", "-z", "1s", "a"], 2, "-q makes no start", "按 -q 的速率"),
    (&["-q", "5", "--arrivals", "odd", "a"], 2, "one of even, poisson", "可选：even、poisson"),
    (&["--max-lateness", "5s", "a"], 2, "--max-lateness needs a rate", "--max-lateness 需要同时给出速率"),
    (&["http://no-such-host.invalid/"], 3, "no-such-host.invalid", "no-such-host.invalid"),
    (&["REFUSED"], 3, "nobody listens on 127.0.0.1", "没有服务在监听"),
];

#[test]
fn mistakes_are_named() {
    let refused = format!("http://127.0.0.1:{}/", closed_port());
    for (line, code, en, zh) in MISTAKES {
        let args: Vec<&str> =
            line.iter().map(|word| if *word == "REFUSED" { refused.as_str() } else { word }).collect();
        check(&output(&args), *code, en);
        let chinese = onrush(&args).env("LANG", "zh_CN.UTF-8").output().expect("the binary starts");
        check(&chinese, *code, zh);
    }
}

#[test]
fn a_taken_address_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    check(
        &output(&["serve", "--listen", &address]),
        4,
        "ss -ltnp shows which; end it, or choose another port (--listen)",
    );
}

#[test]
fn language_by_flag_and_environment() {
    check(&output(&["--lang", "zh", "htp://x"]), 2, "无法识别");
    check(
        &onrush(&["--lang=en", "htp://x"]).env("LANG", "zh_CN.UTF-8").output().expect("it starts"),
        2,
        "unknown scheme",
    );
    check(&onrush(&["htp://x"]).env("LC_ALL", "zh_TW").output().expect("it starts"), 2, "无法识别");
    check(&output(&["--lang", "fr", "a"]), 2, "zh, en");
}

#[test]
fn help_and_version_are_data() {
    for (args, says) in [
        (vec!["--help"], "Examples:"),
        (vec!["-h"], "--connections"),
        (vec!["--help"], "--no-keepalive"),
        (vec!["man", "hold"], ".TH ONRUSH-HOLD"),
        (vec!["hold", "--help"], "--receive-only"),
        (vec!["grpc", "list", "--help"], "--protoset"),
        (vec!["run", "--help"], "--expect-status"),
        (vec!["serve", "--help"], "--listen"),
        (vec!["demo", "-h"], "5 seconds"),
        (vec!["--lang", "zh", "--help"], "示例："),
        (vec!["--version"], "onrush 0."),
        (vec!["man"], ".TH"),
        (vec!["completions", "bash"], "--connect-timeout"),
        (vec!["completions", "zsh"], "--connect-timeout"),
        (vec!["completions", "fish"], "connect-timeout"),
    ] {
        let output = output(&args);
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""), "{args:?}");
        assert!(text(&output.stdout).contains(says), "{args:?} does not say {says}");
    }
}

/// What the system said is Chinese, and has the remedy of what was being done.
#[test]
fn reasons_of_the_system_are_chinese_with_their_remedy() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let page = format!("http://127.0.0.1:{}/", closed_port());
    let prometheus = format!("prometheus={address}");
    let cases: Vec<(Vec<&str>, i32, &[&str])> = vec![
        (vec!["serve", "--listen", &address], 4, &["无法监听", "地址已被占用", "ss -ltnp", "--listen"]),
        (vec!["serve", "--listen", "192.0.2.1:80"], 4, &["无法使用该地址", "ip addr"]),
        (vec!["web", "--web-listen", &address], 2, &["地址已被占用（os error 98）", "ss -ltnp", "--web-listen"]),
        (vec!["ctl", "run", "--page", &page], 3, &["连接被拒绝（os error 111）", "请用 --web 启动压测"]),
        (vec!["-n", "1", "--export", &prometheus, "127.0.0.1:1"], 2, &["地址已被占用", "ss -ltnp"]),
        (vec!["-n", "1", "--export", "csv=/no/such/x.csv", "127.0.0.1:1"], 2, &["没有该文件或目录", "mkdir -p"]),
        (vec!["-n", "1", "--json", "/no/such/x.json", "127.0.0.1:1"], 2, &["没有该文件或目录", "mkdir -p"]),
        (vec!["-n", "1", "--json", "/etc/hostname/x", "127.0.0.1:1"], 2, &["不是目录", "检查路径"]),
        (vec!["-n", "1", "-d", "@/no/such/file", "127.0.0.1:1"], 2, &["没有该文件或目录", "相对路径从当前目录开始"]),
        (vec!["-n", "1", "-d", "@/etc/hostname/x", "127.0.0.1:1"], 2, &["不是目录", "路径中有一段是文件"]),
        (vec!["-n", "1", "-p", "/no/such/file"], 2, &["没有该文件或目录", "检查路径"]),
        (vec!["-n", "1", "--config", "/no/such/file", "127.0.0.1:1"], 2, &["没有该文件或目录", "检查路径"]),
        (vec!["serve", "--tls", "--cert", "/no/such/file"], 2, &["没有该文件或目录", "检查路径"]),
        (vec!["capacity", "--from", "/no/such/file"], 2, &["没有该文件或目录", "检查路径"]),
        (vec!["check", "/no/such/file.yaml"], 2, &["没有该文件或目录", "检查路径"]),
        (vec!["init", "http://127.0.0.1:1/", "-o", "/dev/full", "--force"], 4, &["磁盘空间不足", "df -h"]),
    ];
    for (words, code, wanted) in cases {
        let token = "0123456789abcdef0123456789abcdef";
        let mut command = onrush(&words);
        let ended = command.env("LANG", "zh_CN.UTF-8").env("ONRUSH_WEB_TOKEN", token).output().expect("it starts");
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "{words:?}: {said}");
        assert!(wanted.iter().all(|part| said.contains(part)), "{words:?}: {said}");
        for english in ["No such", "in use", "refused", "assign", "directory", "denied", "No space", "Not a"] {
            assert!(!said.contains(english), "{words:?}: {said}");
        }
    }
}
