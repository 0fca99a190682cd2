//! The private protocol in everything that the program does with it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

/// The program, with a plain environment.
fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_own-protocol"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ONRUSH_")) {
        command.env_remove(name);
    }
    command.env_remove("HOME").env_remove("XDG_DATA_HOME").env_remove("LC_ALL").env_remove("LC_MESSAGES");
    command.env("LANG", "C.UTF-8").stdin(Stdio::null()).args(args);
    command
}

/// The exit code, stdout and stderr.
fn seen(args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = program(args).output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code().expect("an exit code"), text(stdout), text(stderr))
}

/// The JSON report of a run with these arguments.
fn report(args: &[&str]) -> Value {
    let (code, stdout, stderr) = seen(&[args, &["-o", "json"]].concat());
    serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: exit code {code}, {stderr}"))
}

/// A server that ends with the value.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
        let line = line.trim().trim_start_matches("listening on own://").trim_end_matches('/');
        let address = if line.contains(':') { line.to_owned() } else { format!("127.0.0.1:{line}") };
        Self { child, address }
    }

    /// The server of the program itself.
    fn own() -> Self {
        Self::start(program(&["serve", "--protocol", "own", "--listen", "127.0.0.1:0"]).stderr(Stdio::null()))
    }

    /// A server in Python, which misbehaves in this way.
    fn python(how: &str) -> Self {
        Self::start(Command::new("python3").arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server.py")).arg(how))
    }

    fn url(&self) -> String {
        format!("own://user:secret@{}", self.address)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A file that is removed with the value.
struct File(String);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let path = std::env::temp_dir().join(format!("own-protocol-{}-{name}", std::process::id()));
        std::fs::write(&path, text).expect("a folder for temporary files");
        Self(path.to_str().expect("UTF-8").to_owned())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A scenario file of these steps: four iterations of two users.
fn scenario(name: &str, url: &str, steps: &str) -> File {
    let head = format!("target: {url}\nscenarios:\n  calls:\n    load: {{users: 2, iterations: 4}}\n    steps:\n");
    File::new(name, &format!("{head}{steps}"))
}

#[test]
fn help_has_its_flags_in_both_languages() {
    let (_, en, _) = seen(&["--help"]);
    assert!(en.contains("\nOwn protocol:\n      --own-call TEXT       The text\n"), "{en}");
    let (_, zh, _) = seen(&["--lang", "zh", "--help"]);
    assert!(zh.contains("\nOwn protocol：\n      --own-call TEXT       文本\n"), "{zh}");
    assert!(seen(&["man"]).1.contains(r"\fB\-\-own\-call TEXT\fR"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(seen(&["completions", shell]).1.contains("own-call"), "{shell}");
    }
}

#[test]
fn a_load_is_counted_by_its_statuses() {
    let server = Served::own();
    let url = server.url();
    let run = report(&[&url, "--own-call", "hello", "-n", "20", "-c", "4", "--expect-json", r#"$ == "HELLO""#]);
    assert_eq!(run["plan"]["protocol"], "own");
    assert_eq!(run["statuses"], json!({"OK": 20}));
    assert_eq!((&run["requests"]["succeeded"], &run["failures"]), (&json!(20), &json!([])));
    // A reply for each, and a welcome for each connection.
    let connections = run["connections"]["established"].as_u64().expect("a count");
    assert!((1..=4).contains(&connections), "{connections}");
    assert_eq!(run["bytes"]["received"], 20 * (9 + 5) + connections * 9);
    assert!(!run.to_string().contains("secret"), "{run}");

    let run = report(&[&url, "--own-call", "refuse", "-n", "5", "-c", "1"]);
    assert_eq!(run["statuses"], json!({"REFUSED": 5}));
    assert_eq!((&run["failures"][0]["reason"], &run["failures"][0]["count"]), (&json!("status"), &json!(5)));
    let run = report(&[&url, "--own-call", "refuse", "-n", "5", "-c", "1", "--expect-status", "REFUSED"]);
    assert_eq!(run["requests"]["succeeded"], 5);
    let run = report(&[&url, "--own-call", "hello", "-n", "5", "-c", "1", "--expect-json", r#"$ == "hello""#]);
    assert_eq!((&run["requests"]["succeeded"], &run["statuses"]), (&json!(0), &json!({"OK": 5})));
}

#[test]
fn thresholds_take_its_statuses() {
    let server = Served::own();
    let url = server.url();
    let run =
        |call: &str| seen(&[&url, "--own-call", call, "-n", "5", "-c", "1", "--threshold", "status(REFUSED) < 1"]);
    let (code, stdout, _) = run("hello");
    assert_eq!(code, 0, "{stdout}");
    assert!(stdout.contains("status(REFUSED) < 1: 0, met"), "{stdout}");
    let (code, stdout, _) = run("refuse");
    assert_eq!(code, 1, "{stdout}");
    assert!(stdout.contains("status(REFUSED) < 1: 5, NOT MET"), "{stdout}");
    assert!(stdout.contains("5 x REFUSED"), "{stdout}");
}

#[test]
fn a_scenario_extracts_from_a_reply_and_checks_it() {
    let server = Served::own();
    let steps = "      - own: hello\n        expect: {json: '$ == \"HELLO\"'}\n        extract: {word: json $}\n      \
                 - name: second\n        own: {call: \"${word}-again\"}\n        expect: {json: '$ == \"HELLO-AGAIN\"'}\n";
    let file = scenario("good.yaml", &server.url(), steps);
    let (code, stdout, _) = seen(&["check", &file.0]);
    assert_eq!(code, 0, "{stdout}");
    assert!(stdout.contains("no mistakes; 1 scenario (calls), 2 steps"), "{stdout}");

    let run = report(&["run", &file.0, "--no-save"]);
    assert_eq!((&run["statuses"], &run["failures"]), (&json!({"OK": 8}), &json!([])));
    let steps = run["steps"].as_array().expect("a list").iter();
    let finished: Vec<_> = steps.map(|step| (step["name"].clone(), step["finished"].clone())).collect();
    assert_eq!(finished, [(json!("own"), json!(4)), (json!("second"), json!(4))]);

    let (code, shown, _) = seen(&["run", &file.0, "--debug"]);
    assert_eq!(code, 0, "{shown}");
    for part in ["\"HELLO\"\n* took word = \"HELLO\"\n", "\"HELLO-AGAIN\"\n", "43 48 45 4c 4c 4f 2d 61 67 61 69 6e"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert!(!shown.contains("secret"), "{shown}");

    // The server has the text in capitals.
    let wrong = scenario("wrong.yaml", &server.url(), "      - own: hello\n        expect: {json: '$ == \"hello\"'}\n");
    let run = report(&["run", &wrong.0, "--no-save"]);
    assert_eq!((&run["statuses"], &run["requests"]["failed"]), (&json!({"OK": 4}), &json!(4)));
}

#[test]
fn mistakes_in_a_file_have_positions_in_both_languages() {
    let steps =
        "      - own: {cal: hello}\n      - own: {call: [a, b]}\n      - own: {}\n      - own: {call: 1, cal: 2}\n";
    let file = scenario("bad.yaml", "own://127.0.0.1:1", steps);
    let (code, en, _) = seen(&["check", &file.0]);
    assert_eq!(code, 1, "{en}");
    for part in [
        ":6:15: 'cal' is no key of a request of Own protocol; did you mean 'call'?",
        ":7:21: text belongs here, not a list",
        ":8:14: a request of Own protocol needs 'call'; add it",
        ":9:24: 'cal' is no key of a request of Own protocol",
    ] {
        assert!(en.contains(part), "{part}: {en}");
    }
    let (code, zh, _) = seen(&["check", &file.0, "--lang", "zh"]);
    assert_eq!(code, 1, "{zh}");
    for part in [
        ":6:15: Own protocol 请求中没有 'cal' 这个字段；是否想写 'call'？",
        ":7:21: 此处应为文本，而不是列表",
        ":8:14: Own protocol 请求中缺少 'call'；请补上",
        ":9:24: Own protocol 请求中没有 'cal' 这个字段",
    ] {
        assert!(zh.contains(part), "{part}: {zh}");
    }

    let elsewhere = scenario("elsewhere.yaml", "http://127.0.0.1:1", "      - own: hello\n");
    let (code, shown, _) = seen(&["check", &elsewhere.0]);
    assert_eq!(code, 1, "{shown}");
    assert!(shown.contains(":6:14: 'http://127.0.0.1:1' is not for a 'own' step; it takes own://"), "{shown}");
}

#[test]
fn mistakes_in_flags_have_remedies_in_both_languages() {
    let refused = |args: &[&str]| {
        let (code, _, stderr) = seen(args);
        assert_eq!(code, 2, "{stderr}");
        stderr
    };
    let url = "own://127.0.0.1:1";
    assert!(refused(&[url, "-n", "1"]).contains("a request of own needs call: give --own-call"));
    assert!(refused(&[url, "-n", "1", "--lang", "zh"]).contains("own 请求需要 call：请给出 --own-call"));
    let elsewhere = ["http://127.0.0.1:1/", "-n", "1", "--own-call", "x"];
    assert!(refused(&elsewhere).contains("--own-call needs a URL that begins with own://"));
    assert!(refused(&[&elsewhere[..], &["--lang", "zh"]].concat()).contains("--own-call 需要以 own:// 开头的 URL"));
    assert!(refused(&[url, "--own-cal", "x"]).contains("did you mean '--own-call'?"));
    assert!(refused(&["serve", "--protocol", "nothing"]).contains("choose one of: redis, dns, radius, own"));
}

/// Each way in which a server breaks the protocol: the failure, its cause and remedy in English, and in Chinese.
const BROKEN: [(&str, &str, &str, &str); 5] = [
    (
        "checksum",
        "own-checksum",
        "a frame has a wrong checksum; see the log of the server",
        "帧的校验和错误；请查看服务端日志",
    ),
    (
        "length",
        "own-length",
        "a frame has no valid length; see the log of the server",
        "帧的长度不合法；请查看服务端日志",
    ),
    ("frame", "own-frame", "a frame makes no sense here; see the log of the server", "收到意外的帧；请查看服务端日志"),
    ("cut", "closed-early", "the server closed before the answer was complete", "服务端在响应完成前关闭了连接"),
    ("silent", "timeout", "no complete answer within 200ms", "200ms 内没有收到完整响应"),
];

#[test]
fn a_server_that_breaks_the_protocol_is_named() {
    let good = Served::python("good");
    let run = report(&[&good.url(), "--own-call", "hello", "-n", "6", "-c", "2"]);
    assert_eq!((&run["statuses"], &run["failures"]), (&json!({"OK": 6}), &json!([])));
    for (how, failure, en, zh) in BROKEN {
        let server = Served::python(how);
        let url = server.url();
        let args = [url.as_str(), "--own-call", "hello", "-n", "3", "-c", "1"];
        // A busy machine delays the other responses: they have the default.
        let timeout: &[&str] = if how == "silent" { &["-t", "200ms"] } else { &[] };
        let args = [&args[..], timeout].concat();
        let run = report(&args);
        let failures = run["failures"].as_array().expect("a list");
        assert_eq!(failures.len(), 1, "{how}: {failures:?}");
        assert_eq!((&failures[0]["reason"], &failures[0]["count"]), (&json!(failure), &json!(3)), "{how}");
        assert_eq!((&run["requests"]["succeeded"], &run["statuses"]), (&json!(0), &json!({})), "{how}");
        for (language, text) in [("en", en), ("zh", zh)] {
            let (code, stdout, _) = seen(&[&args[..], &["--lang", language, "--quiet"]].concat());
            assert_eq!(code, 1, "{how}: {stdout}");
            assert!(stdout.contains(failure) && stdout.contains(text), "{how}: {stdout}");
        }
    }
}

#[test]
fn a_refused_login_is_named() {
    let (own, python) = (Served::own(), Served::python("login"));
    for url in [format!("own://user:wrong@{}", own.address), python.url()] {
        let args = [url.as_str(), "--own-call", "hello", "-n", "3", "-c", "1"];
        let (code, _, stderr) = seen(&args);
        assert_eq!(code, 3, "{stderr}");
        assert!(stderr.contains("(own-login); the login was refused; see the log of the server"), "{stderr}");
        let (code, _, stderr) = seen(&[&args[..], &["--lang", "zh"]].concat());
        assert_eq!(code, 3, "{stderr}");
        assert!(stderr.contains("（own-login）；登录被拒绝；请查看服务端日志"), "{stderr}");
    }
}

#[test]
fn the_page_of_a_run_has_its_statuses_and_failures() {
    let (own, python) = (Served::own(), Served::python("checksum"));
    for (url, word) in [(own.url(), "REFUSED"), (python.url(), "own-checksum")] {
        let page = File::new(&format!("{word}.html"), "");
        let (code, stdout, _) = seen(&[&url, "--own-call", "refuse", "-n", "3", "-c", "1", "--html", &page.0]);
        assert_eq!(code, 1, "{stdout}");
        let text = std::fs::read_to_string(&page.0).expect("a page");
        assert!(text.contains(word) && text.contains("own://127.0.0.1"), "{word}");
        assert!(!text.contains(":secret@"), "a password");
    }
}

#[test]
fn an_exchange_is_shown() {
    let server = Served::own();
    let (code, shown, _) = seen(&[&server.url(), "--own-call", "hello", "--debug"]);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("< [message 1, 7 bytes]\n\"HELLO\"\n"), "{shown}");
    assert!(shown.contains("00 00 00 0e b7 a3 bf 3a 43 68 65 6c 6c 6f"), "{shown}");
    assert!(shown.contains("* succeeded") && !shown.contains("secret"), "{shown}");
}

#[test]
fn connections_are_held() {
    let server = Served::own();
    let url = server.url();
    let held = report(&["hold", &url, "-c", "20", "--hold", "10ms", "--own-call", "hello", "--once", "--no-save"]);
    let connections = &held["connections"];
    assert_eq!((&connections["established"], &connections["closed"]), (&json!(20), &json!(20)));
    assert_eq!((&held["messages"]["sent"], &held["messages"]["answered"]), (&json!(20), &json!(20)));
    assert_eq!(held["failures"], json!([]));
    // Nothing is sent, so a text is not needed.
    let held = report(&["hold", &url, "-c", "5", "--hold", "10ms", "--no-save"]);
    assert_eq!((&held["connections"]["established"], &held["messages"]["sent"]), (&json!(5), &json!(0)));
}

#[test]
fn workers_have_it_too() {
    let server = Served::own();
    let run = report(&[&server.url(), "--own-call", "hello", "-n", "30", "-c", "3", "--workers", "3"]);
    assert_eq!((&run["statuses"], &run["failures"]), (&json!({"OK": 30}), &json!([])));
    let workers = run["workers"]["list"].as_array().expect("a list");
    assert_eq!(workers.len(), 3, "{workers:?}");
    assert_eq!(workers.iter().filter_map(|worker| worker["started"].as_u64()).sum::<u64>(), 30);

    // The failures of a protocol come from workers by their names.
    let broken = Served::python("checksum");
    let run = report(&[&broken.url(), "--own-call", "hello", "-n", "6", "-c", "3", "--workers", "3"]);
    let failure = &run["failures"][0];
    assert_eq!((&failure["reason"], &failure["count"]), (&json!("own-checksum"), &json!(6)));
}

#[test]
fn loads_are_compared() {
    let server = Served::own();
    let url = server.url();
    let vary = ["--vary", "connections=1,2", "--repeat", "1", "--no-save"];
    let sweep = report(&[&["sweep"], &vary[..], &[&url, "--own-call", "hello", "-n", "10"]].concat());
    assert_eq!(sweep["kind"], "sweep");
    let cells = sweep["cells"].as_array().expect("a list");
    let failed: Vec<_> = cells.iter().map(|cell| &cell["failed_share"]["most"]).collect();
    assert_eq!(failed, [&json!(0.0), &json!(0.0)]);
}
