//! Mistakes of users who know another tool: each has its cause and a remedy, in both languages.

use crate::usage::check;
use crate::{Served, onrush, output, report, text};

/// Words, and the message in both languages.
type Case = (&'static [&'static str], &'static str, &'static str);

const URL: &str = "http://127.0.0.1:1/";

/// Other names: the flag, and the equivalent that is named, in any language.
const FLAGS: [(&str, &str); 63] = [
    ("--concurrency", "-c N"),
    ("--vus", "-c N"),
    ("--users", "-c N"),
    ("--clients=5", "-c N"),
    ("--rps", "-q RATE"),
    ("--qps", "-q RATE"),
    ("-R", "-q RATE"),
    ("-r", "-q RATE"),
    ("--throughput", "-q RATE"),
    ("--iterations", "-n N"),
    ("--count", "-n N"),
    ("--loops", "--requests-each N"),
    ("--time", "-z TIME"),
    ("--run-time", "-z TIME"),
    ("--max-time", "-t TIME"),
    ("--request-timeout", "-t TIME"),
    ("-s", "-t TIME"),
    ("-T", "-z"),
    ("--body", "-d DATA"),
    ("--payload", "-d DATA"),
    ("--data-raw", "-d DATA"),
    ("--data-binary", "-d DATA"),
    ("--body-file", "-d @FILE"),
    ("--headers", "-H 'Name: value'"),
    ("--request", "-X METHOD"),
    ("-m", "-X METHOD"),
    ("-C", "-b 'name=value'"),
    ("--cookies", "-b 'name=value'"),
    ("--auth", "-u NAME:PASSWORD"),
    ("-a", "-u NAME:PASSWORD"),
    ("-U", "-A NAME"),
    ("--form-string", "-F name=value"),
    ("--no-tls-verify", "--insecure"),
    ("--skip-tls-verify", "--insecure"),
    ("--no-check-certificate", "--insecure"),
    ("--cafile", "--cacert FILE"),
    ("--follow-redirects", "--location"),
    ("--max-redirects", "--max-redirs N"),
    ("--disable-keepalive", "--no-keepalive"),
    ("-K", "--no-keepalive"),
    ("--h2", "--http2"),
    ("--http3", "--http2"),
    ("-0", "--http1.0"),
    ("--ramp-up", "--ramp RATE"),
    ("--hatch-rate", "--ramp RATE"),
    ("--warm-up", "--warmup TIME"),
    ("--proxy", "代理|proxy"),
    ("-x", "代理|proxy"),
    ("--script", "--curl FILE"),
    ("--verbose", "--debug"),
    ("-v", "--debug"),
    ("--out", "--json FILE"),
    ("--cpus", "--threads N"),
    ("--think-time", "-q"),
    ("--fail-on", "--threshold 'p99(response_time) < 200ms'"),
    ("--success-codes", "--expect-status 200,300-399"),
    ("--bind", "--source-ip ADDRESSES"),
    ("--url", "onrush http://"),
    ("--plaintext", "grpc://"),
    ("--tls", "https://"),
    ("--compressed", "-H 'Accept-Encoding: gzip'"),
    ("--token", "-H 'Authorization: Bearer TOKEN'"),
    ("--latency", "百分位|percentiles"),
];

#[test]
fn flags_of_other_tools_are_translated() {
    for (flag, meant) in FLAGS {
        for language in ["en", "zh"] {
            let said = output(&["--lang", language, flag, URL]);
            let complaint = text(&said.stderr);
            assert_eq!(said.status.code(), Some(2), "{flag}: {complaint}");
            assert!(meant.split('|').any(|meant| complaint.contains(meant)), "{flag}: {complaint}");
        }
    }
}

const WORDS: &[Case] = &[
    (&["-t2", "-c100", "-d30s", URL], "2 threads, or a timeout of 2 s", "2 个线程"),
    (&["-c", "100", "-d", "30s", URL], "-d is the body, and '30s' is a time", "-d 是请求体，而 '30s' 是时间"),
    (&["-d", "2m", URL], "-z 2m", "-z 2m"),
    (&["-d", "500ms", URL], "-z 500ms", "-z 500ms"),
    (&["-d30", URL], "-z 30", "-z 30"),
    (&["-d", "10s", "ws://127.0.0.1:1/"], "-d is the message", "-d 是消息"),
    (&["hold", "-d", "10s", "ws://127.0.0.1:1/"], "--hold 10s", "--hold 10s"),
    (&["-H", "Host: a", "--host", "b", URL], "each gives the header", "两者都给出了该请求头"),
    (
        &["--no-response", "-d", "x", "--expect-body", "y", "tcp://127.0.0.1:1"],
        "no answer is looked at",
        "没有响应可供断言",
    ),
    (&["--expect-body", "y", "ws://127.0.0.1:1/"], "a message that is answered", "需要有响应的消息"),
    (&["hold", "--every", "1s", "--expect-body", "y", URL], "a message that is answered", "需要有响应的消息"),
    (
        &["hold", "--receive-only", "--expect-json", "$.a", "ws://127.0.0.1:1/"],
        "a message that is answered",
        "需要有响应的消息",
    ),
    (&["18080"], "a port of this machine is :18080", "本机端口请写 :18080"),
    (&["srve"], "did you mean 'serve'", "是否想写 'serve'"),
    (&["holdd", "ws://127.0.0.1:1/"], "did you mean 'hold'", "是否想写 'hold'"),
    (&["docter"], "did you mean 'doctor'", "是否想写 'doctor'"),
    (&["versoin"], "did you mean 'version'", "是否想写 'version'"),
    (&["server"], "did you mean 'serve'", "是否想写 'serve'"),
    (&["myhost"], "write http://myhost/", "请写 http://myhost/"),
    (&["-c", "5", "myhost"], "write http://myhost/", "请写 http://myhost/"),
    (&["--json", URL], "--json took 'http://127.0.0.1:1/'", "--json 把 'http://127.0.0.1:1/'"),
    (&["-c", URL], "--connections took", "--connections 把"),
    (&["hold", "-c", "ws://127.0.0.1:1/"], "--connections took", "--connections 把"),
    (&["-c", "10000001", URL], "from 1 to 10,000,000, not '10000001'", "1 到 10,000,000 之间"),
    (&["-c", "5x", URL], "not '5x'", "的值 '5x' 无效"),
    (&["-c", "1.5", URL], "not '1.5'", "的值 '1.5' 无效"),
    (&["-c", "1,00", URL], "not '1,00'", "的值 '1,00' 无效"),
    (&["-n", "0", URL], "a whole number from 1 up, not '0'", "不小于 1 的整数"),
    (&["-q", "5 apples", URL], "at most 100,000,000 a second", "每秒最多 100,000,000"),
    (&["-z", "1m30", URL], "-z wants a time", "-z 的值"),
    (&["-z", "ten", URL], "-z wants a time", "-z 的值"),
    (&["-u", "me", URL], "-u wants name:password", "-u 需要 用户名:密码"),
    (&["-F", "a=b", "-d", "x", URL], "-d and --form cannot", "-d 和 --form 不能"),
    (&["-F", "a=b", "ws://127.0.0.1:1/"], "--form needs", "--form 需要"),
    (&["hold", "--vus", "5", "ws://127.0.0.1:1/"], "see onrush hold --help", "详见 onrush hold --help"),
    (&["serve", "--prot", "80"], "see onrush serve --help", "详见 onrush serve --help"),
    (&["serve", "--port", "80"], "here it is --listen ADDRESS:PORT", "在这里是 --listen"),
    (&["--port", "80", URL], "the port stands in the URL", "端口写在 URL 里"),
    (&["-c", "10", "-n", "5", "-u", URL], "onrush as go-stress-testing", "onrush as go-stress-testing"),
    (&["stress", URL], "there is no command 'stress'; a load has none", "没有 'stress' 这个命令"),
    (&["get", URL], "write -X GET http://127.0.0.1:1/", "请写 -X GET http://127.0.0.1:1/"),
    (&["-n", "1", URL, "http://b/"], "two URLs, 'http://127.0.0.1:1/' and 'http://b/'", "有两个 URL"),
    (&["-n", "1", "http://127.0.0.1:1/?q=a", "&b=c"], "'&b=c' stands behind the URL", "后面多出了 '&b=c'"),
    (&["--threshold", "p99", "<", "50ms", URL], "'<' stands alone", "'<' 单独成了一个词"),
    (&["--no-keepalive=false", URL], "'--no-keepalive' is a switch and takes no value", "'--no-keepalive' 是开关"),
    (&["-o", "report.html", URL], "a file is --html report.html", "写入文件请用 --html report.html"),
    (&["-o", "report.json", URL], "a file is --json report.json", "写入文件请用 --json report.json"),
    (&["Cargo.toml"], "'Cargo.toml' is a file, not a URL", "'Cargo.toml' 是文件，不是 URL"),
    (&["--stages", "100:1s，200:1s", URL], "'，' is a full-width character, write ','", "请改为半角的 ','"),
    (&["“http://127.0.0.1:1/”"], "begins with a quotation mark of printed text", "开头是中文引号"),
    (&["sweep", "--vary", "c=0,2", URL], "-c wants", "-c 的值"),
    (&["-z", "x", "--lang", "en_US.UTF-8", URL], "-z wants a time", "-z wants a time"),
    (&["-z", "x", "--lang", "zh_CN.UTF-8", URL], "-z 的值", "-z 的值"),
    (&["-z", "x", "--lang=cn", URL], "-z 的值", "-z 的值"),
];

#[test]
fn words_in_the_wrong_place_are_requested_back() {
    for (words, english, chinese) in WORDS {
        check(&output(words), 2, english);
        check(&onrush(words).env("LANG", "zh_CN.UTF-8").output().expect("it starts"), 2, chinese);
    }
}

/// Full-width characters from an input method, and missing characters, marked below the text.
#[test]
fn full_width_signs_in_thresholds_are_named() {
    for (flag, text_of, english, chinese) in [
        ("--threshold", "p99 ＜ 1s", "'＜' is a full-width character, write '<'", "'＜' 是全角字符，请改为半角的 '<'"),
        ("--threshold", "failed / done < 1％", "'％' is a full-width", "'％' 是全角字符"),
        ("--threshold", "p99 < 1s，abort", "'，' is a full-width", "'，' 是全角字符"),
        ("--threshold", "p99（wait） < 1s", "'（' is a full-width", "'（' 是全角字符"),
        ("--threshold", "“p99 < 1s”", "“ is a quotation mark", "“ 是中文引号"),
        ("--goal", "p99", "as in p99 < 200ms", "例如 p99 < 200ms"),
    ] {
        let command: &[&str] = if flag == "--goal" { &["find-max"] } else { &[] };
        let words = [command, &[flag, text_of, URL]].concat();
        for (language, said) in [("C", english), ("zh_CN.UTF-8", chinese)] {
            let ended = onrush(&words).env("LANG", language).output().expect("it starts");
            let complaint = text(&ended.stderr);
            assert!(ended.status.code() == Some(2) && complaint.contains(said), "{words:?}: {complaint}");
        }
    }
}

/// The message marks a position in the text, so it takes three lines.
#[test]
fn a_share_of_a_count_is_written_out() {
    for (threshold, english, chinese) in [
        ("failed < 1%", "failed / done < 1%", "failed / done < 1%"),
        ("errors < 1%", "failed / done < 1%", "failed / done < 1%"),
        ("success > 99%", "succeeded / done", "succeeded / done"),
        ("latency < 5ms", "no such figure", "没有这个指标"),
        ("failed / done < 1", "1% or 1.0 of 1.0?", "是 1% 还是全部"),
        ("failed / done <= 100%", "every run meets this", "任何结果都满足"),
        ("failed / done < 0", "no run can meet this", "不可能满足"),
        ("failed / done < 5", "a share is at most 100%", "比例最多为 100%"),
    ] {
        for (language, says) in [("en", english), ("zh", chinese)] {
            let said = output(&["--lang", language, "--threshold", threshold, URL]);
            assert_eq!(said.status.code(), Some(2));
            assert!(text(&said.stderr).contains(says), "{threshold}: {said:?}");
        }
    }
}

#[test]
fn help_is_a_word_too() {
    for (words, says) in [
        (&["help"][..], "Examples:"),
        (&["help", "hold"], "--receive-only"),
        (&["help", "serve"], "--listen"),
        (&["help", "nothing"], "Examples:"),
        (&["help", "as"], "Usage: onrush as TOOL"),
        (&["--lang", "zh", "help", "hold"], "用法："),
        (&["version"], "onrush 0."),
        (&["--lang=zh", "version"], "onrush 0."),
    ] {
        let said = output(words);
        assert_eq!((said.status.code(), text(&said.stderr).as_str()), (Some(0), ""), "{words:?}");
        assert!(text(&said.stdout).contains(says), "{words:?}: {said:?}");
    }
}

/// Numbers and times in users' notation, and what is sent for the flags of curl.
#[test]
fn what_people_write_is_understood() {
    let served = Served::start();
    let port = served.url.rsplit(':').next().expect("a port").to_owned();
    let local = format!(":{port}/");
    for (words, started) in [
        (&["-n", "1e2", "-c", "2"][..], 100),
        (&["-n", "1,000", "-c", "2"], 1_000),
        (&["-n", "1_000", "-c", "2"], 1_000),
        (&["-n", "1.5k", "-c", "2"], 1_500),
        (&["-q", "500rps", "-n", "50"], 50),
        (&["-q", "30k/min", "-z", "200 ms"], 100),
        (&["-q", "1k", "-z", "0.1sec"], 100),
        (&["-q", "500/sec", "-z", "100msec"], 50),
    ] {
        let seen = report(&output(&[words, &["--output", "json", &local]].concat()));
        assert_eq!(seen["requests"]["started"], started, "{words:?}");
    }
    let sent = output(&[
        "--debug",
        "-o",
        "text",
        "-u",
        "me:secret",
        "--show-secrets",
        "-A",
        "mine/1",
        "-b",
        "a=1",
        "-b",
        "b=2",
        "--host",
        "shop.example",
        &served.url("/echo"),
    ]);
    let shown = text(&sent.stdout);
    for part in ["Authorization: Basic bWU6c2VjcmV0", "User-Agent: mine/1", "Cookie: a=1; b=2", "Host: shop.example"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let form = output(&["--debug", "-F", "name=value", "-b", "a=1", &served.url("/echo")]);
    let shown = text(&form.stdout);
    for part in ["POST /echo", "multipart/form-data", "name=\"name\"", "Cookie:"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let nameless = text(&output(&["--debug", "-A", "", &served.url("/")]).stdout);
    assert!(!nameless.contains("User-Agent"), "{nameless}");
}

/// Figures of failures alone are no success.
#[test]
fn a_run_in_which_nothing_succeeds_says_why_and_is_no_success() {
    let (plain, secured) = (Served::start(), Served::with(&["--tls"]));
    let to_tls = secured.url("/").replace("https://", "http://");
    for (url, english, chinese) in [
        (plain.url("/status/404"), "every answer was 404; check the path", "所有响应都是 404；请检查路径"),
        (plain.url("/status/401"), "-u NAME:PASSWORD", "-u 用户名:密码"),
        (plain.url("/status/429"), "ask for less with -q", "请用 -q 降低速率"),
        (plain.url("/status/503"), "log of the server", "服务端日志"),
        (
            to_tls,
            "nothing succeeded: the port speaks TLS; write https://",
            "没有一个请求成功：该端口使用 TLS；请把 URL 改为 https:// 开头",
        ),
    ] {
        for (language, says) in [("en", english), ("zh", chinese)] {
            let said = output(&["--lang", language, "-n", "20", "-c", "2", "--quiet", &url]);
            assert_eq!(said.status.code(), Some(1), "{url}: {said:?}");
            let shown = text(&said.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(shown.contains(says), "{url}: {shown}");
            // With failures alone no bottleneck is named.
            for limit in ["the users were", "the target was", "too little", "瓶颈在并发", "瓶颈在被测", "数据太少"]
            {
                assert!(!shown.contains(limit), "{url}: {shown}");
            }
        }
    }
    let good = output(&["-n", "20", "--quiet", &plain.url("/fail/50")]);
    assert_eq!(good.status.code(), Some(0), "{good:?}");
    assert!(!text(&good.stdout).contains("nothing succeeded"), "{good:?}");
}
