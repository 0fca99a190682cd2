//! A run on a page: `--web` and `onrush web`, with a browser, with programs, and with whoever should not be there.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Folder, Served, onrush, text};

pub(super) const TOKEN: &str = "a-token-of-the-tests";

/// A process with a page; it ends with the value.
pub(super) struct Paged {
    pub(super) child: Child,
    /// Host and port.
    pub(super) host: String,
    pub(super) link: String,
}

impl Paged {
    pub(super) fn start(args: &[&str]) -> Self {
        Self::started(&mut onrush(args))
    }

    pub(super) fn started(command: &mut Command) -> Self {
        let command = command.args(["--web-listen", "127.0.0.1:0"]).env("ONRUSH_WEB_TOKEN", TOKEN);
        let mut child = command.stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the binary starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        while !line.contains("#token=") {
            line.clear();
            assert!(lines.read_line(&mut line).expect("a line") > 0, "the page is told");
        }
        // What is said later must not block.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        let link = line.trim().rsplit(' ').next().expect("a link").to_owned();
        let host = link.trim_start_matches("http://").split('/').next().expect("a host").to_owned();
        Self { child, host, link }
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        stream
    }

    /// The status, the head and the body of what a request is answered with.
    fn raw(&self, request: &[u8]) -> (u16, String, String) {
        let mut stream = self.connect();
        stream.write_all(request).expect("it is taken");
        let mut all = Vec::new();
        // A server that closes early has said what it says.
        let _ = stream.read_to_end(&mut all);
        let all = String::from_utf8_lossy(&all).into_owned();
        let (head, body) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        (status, head.to_lowercase(), body.to_owned())
    }

    pub(super) fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.host,
            body.len()
        );
        let (status, _, body) = self.raw(head.as_bytes());
        (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
    }

    pub(super) fn get(&self, path: &str) -> Value {
        let (status, value) = self.ask("GET", path, "");
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    /// What is no JSON.
    pub(super) fn text(&self, path: &str) -> (u16, String) {
        let (status, _, body) = self.raw(
            format!(
                "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\r\n",
                self.host
            )
            .as_bytes(),
        );
        (status, body)
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.ask("POST", path, &body.to_string())
    }

    pub(super) fn until(&self, state: &str) -> Value {
        let begun = Instant::now();
        loop {
            let run = self.get("/api/run");
            if run["state"] == state {
                return run;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{state}: {run}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Paged {
    fn drop(&mut self) {
        // It may be over.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the target has counted of a path.
pub(super) fn counted(served: &Served, path: &str) -> u64 {
    let host = served.url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).expect("it listens");
    stream.write_all(b"GET /stats HTTP/1.0\r\n\r\n").expect("it is taken");
    let mut all = String::new();
    stream.read_to_string(&mut all).expect("an answer");
    let stats: Value = serde_json::from_str(all.split_once("\r\n\r\n").expect("a body").1).expect("JSON");
    stats["requests_by_path"][path].as_u64().unwrap_or(0)
}

/// Starts that a schedule of rates asks for: instants, and the rate from each on.
fn starts(rates: &[(f64, f64)], until: f64) -> f64 {
    let ends = rates.iter().skip(1).map(|(at, _)| *at).chain([until]);
    rates.iter().zip(ends).map(|((from, rate), to)| (to.min(until) - from).max(0.0) * rate).sum()
}

#[test]
fn a_browser_starts_changes_and_stops_a_load() {
    let (served, folder) = (Served::start(), Folder::new("watched-browser"));
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/browser");
    assert!(tools.join("node_modules/axe-core").exists(), "`cargo xtask test` installs the browser and what drives it");
    let script = tools.join("steer.mjs");
    std::fs::write(&script, include_str!("../browser/steer.mjs")).expect("a script");
    let paged = Paged::start(&["web"]);
    let done = Command::new("node").arg(script).args([&paged.link, &served.url("/"), &folder.path("out")]).output();
    let done = done.expect("node starts");
    assert!(done.status.success(), "{}\n{}", text(&done.stdout), text(&done.stderr));
    let told: Value = serde_json::from_str(text(&done.stdout).trim()).expect("what the page showed");
    let (report, changes) = (&told["report"], told["changes"].as_array().expect("changes"));
    let started = report["started"].as_u64().expect("a number");
    assert_eq!(counted(&served, "/"), started, "{told}");
    assert_eq!(told["shown"].as_str().expect("a tile").replace(',', ""), started.to_string());
    // What was asked for, until it was stopped: the wall is the end of the last answer.
    let at = |place: usize| changes[place]["at_s"].as_f64().expect("an instant");
    let wall = report["wall_s"].as_f64().expect("a time");
    let rates = [(0.0, 500.0), (at(0), 2_000.0), (at(1), 0.0), (at(2), 2_000.0)];
    let most = starts(&rates, wall);
    assert!(started as f64 <= most + 1.0 && started as f64 >= most - 200.0, "{started} of {most}: {told}");
}

#[test]
fn changes_hold_to_the_start() {
    let served = Served::start();
    let paged = Paged::start(&["web"]);
    let words = json!(["-q", "200", "-z", "6s", "--interval", "200ms", served.url("/")]);
    assert_eq!(paged.post("/api/runs", &json!({"words": words})), (200, json!({"run": 1})));
    assert_eq!(paged.post("/api/runs", &json!({"words": words})).1["error"], "runs_already");
    let first = json!({"revision": 0, "change": "rate", "to": "400/s", "over": "1s"});
    let (status, done) = paged.post("/api/run/changes", &first);
    assert_eq!((status, &done["revision"]), (200, &json!(1)), "{done}");
    // Said twice it does nothing; said by another who has not seen it, it is refused.
    assert_eq!(paged.post("/api/run/changes", &first), (200, done.clone()));
    let (status, behind) = paged.post("/api/run/changes", &json!({"revision": 0, "change": "rate", "to": 50}));
    assert_eq!((status, &behind["error"]), (409, &json!("behind")));
    let wrong = [
        json!({"revision": 1, "change": "users", "to": 5}),
        json!({"revision": 1, "change": "rate", "to": "0"}),
        json!({"revision": 1, "change": "rate", "to": "5/s", "over": "1h"}),
        json!({"revision": 1, "change": "resume"}),
        json!({"revision": 1, "change": "pause", "to": 3}),
        json!({"revision": 1, "change": "pause", "scenario": "nobody"}),
        json!({"revision": 1, "change": "faster"}),
        json!({"revision": 1, "change": "pause", "whatever": 1}),
        json!({"change": "pause"}),
        json!([1]),
    ];
    for body in wrong {
        let (status, said) = paged.post("/api/run/changes", &body);
        assert!(
            (400..500).contains(&status) && said["text"].is_string() && said["text_zh"].is_string(),
            "{body}: {said}"
        );
    }
    assert_eq!(paged.post("/api/run/marks", &json!({"text": "a mark of ours"})).0, 200);
    let (_, paused) = paged.post("/api/run/changes", &json!({"revision": 1, "change": "pause"}));
    let (_, resumed) = paged.post("/api/run/changes", &json!({"revision": 2, "change": "resume"}));
    assert_eq!((&paused["revision"], &resumed["revision"]), (&json!(2), &json!(3)));
    paged.until("over");
    let report = paged.get("/api/run/report.json");
    let started = report["requests"]["started"].as_u64().expect("a number");
    assert_eq!(started, counted(&served, "/"));
    // The area of the ramp, and what is before and behind it; the pause moves the end.
    let at = done["effective_at_s"].as_f64().expect("an instant");
    let asked = at * 200.0 + 300.0 + (6.0 - at - 1.0) * 400.0;
    assert!((started as f64 - asked).abs() <= 2.0, "{started} of {asked}: {}", report["changes"]);
    let kinds: Vec<&Value> = report["changes"].as_array().expect("changes").iter().map(|one| &one["change"]).collect();
    assert_eq!(kinds, ["rate", "pause", "resume"]);
    let charts = paged.get("/api/run/charts");
    let marks: Vec<&str> =
        charts["marks"].as_array().expect("marks").iter().filter_map(|mark| mark["text"].as_str()).collect();
    assert!(marks.len() == 4 && marks.contains(&"a mark of ours"), "{marks:?}");
    assert_eq!(paged.post("/api/run/changes", &json!({"revision": 3, "change": "pause"})).1["error"], "nothing_runs");
}

#[test]
fn strangers_are_refused() {
    let served = Served::start();
    let url = served.url("/");
    let mut paged = Paged::start(&["-q", "200", "-z", "5m", "--web", "-o", "json", &url]);
    let host = paged.host.clone();
    let asks =
        |extra: &str, host: &str| format!("GET /api/run HTTP/1.1\r\nHost: {host}\r\n{extra}Connection: close\r\n\r\n");
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    let cases = [
        (asks("", &host), 401),
        (asks("Authorization: Bearer wrong\r\n", &host), 401),
        (asks(&format!("Authorization: Bearer {TOKEN}x\r\n"), &host), 401),
        (asks(&token, "evil.example"), 421),
        (asks(&token, "evil.example:80"), 421),
        (asks(&format!("{token}Host: {host}\r\n"), &host), 421),
        (asks(&format!("{token}Origin: http://evil.example\r\n"), &host), 403),
        (asks(&format!("{token}Origin: null\r\n"), &host), 403),
        (asks(&format!("{token}Sec-Fetch-Site: cross-site\r\n"), &host), 403),
        (asks(&token, &host), 200),
        (asks(&format!("{token}Origin: http://{host}\r\n"), &host), 200),
    ];
    for (request, wanted) in cases {
        let (status, head, _) = paged.raw(request.as_bytes());
        assert_eq!(status, wanted, "{request}");
        assert!(head.contains("content-security-policy: default-src 'none'") && head.contains("nosniff"), "{head}");
    }
    let post = |kind: &str, length: u64| {
        format!(
            "POST /api/run/stop HTTP/1.1\r\nHost: {host}\r\n{token}Content-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
        )
    };
    assert_eq!(paged.raw(post("text/plain", 0).as_bytes()).0, 415);
    assert_eq!(paged.ask("GET", "/../../etc/passwd", "").0, 404);
    assert_eq!(paged.ask("POST", "/api/run/changes", "{\"revision\": ").0, 400);
    // A body without end is cut off, long before it is there.
    let mut stream = paged.connect();
    stream.write_all(post("application/json", 1 << 30).as_bytes()).expect("it is taken");
    let (block, mut sent) = (vec![b'x'; 1 << 16], 0u64);
    while stream.write_all(&block).is_ok() {
        sent += block.len() as u64;
        assert!(sent < 1 << 28, "it takes everything");
    }
    // Whoever says nothing, and whoever reads nothing, holds up nobody: not even very many of them.
    let idle: Vec<TcpStream> = (0..10_000).filter_map(|_| TcpStream::connect(&paged.host).ok()).collect();
    assert_eq!(idle.len(), 10_000);
    let mut deaf = paged.connect();
    let events = format!("GET /api/events HTTP/1.1\r\nHost: {host}\r\n{token}\r\n");
    deaf.write_all(events.as_bytes()).expect("it is taken");
    assert_eq!(paged.get("/api/run")["state"], "running");
    let rss = std::fs::read_to_string(format!("/proc/{}/status", paged.child.id())).expect("its status");
    let rss = rss.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("memory").trim();
    let kib: u64 = rss.trim_end_matches(" kB").trim().parse().expect("a number");
    assert!(kib < 120 << 10, "{rss}");
    drop(idle);
    assert_eq!(paged.post("/api/run/stop", &json!({})).0, 200);
    let mut out = String::new();
    paged.child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("UTF-8");
    assert!(paged.child.wait().expect("it ends").success());
    let report: Value = serde_json::from_str(&out).expect("a report");
    let started = report["requests"]["started"].as_u64().expect("a number");
    assert_eq!((&report["requests"]["succeeded"], counted(&served, "/")), (&json!(started), started));
    // All that were due until it was stopped; a shard hears of that within a moment.
    let asked = report["planned_s"].as_f64().expect("a time") * 200.0;
    assert!((started as f64 - asked).abs() < 20.0, "{started} of {asked}");
}

#[test]
fn a_page_starts_nothing_that_is_not_for_it() {
    let (served, folder) = (Served::start(), Folder::new("watched-words"));
    folder.plan("shop", &served, "scenarios:\n  see:\n    load: {users: 2, for: 30s}\n    steps: [{get: /delay/5}]\n  pay:\n    load: {rate: 20, for: 30s}\n    steps: [{get: /delay/5}]\n");
    let paged = Paged::started(onrush(&["web"]).current_dir(folder.path("")));
    let url = served.url("/");
    let refused = [
        (json!(["-q", "10", "-z", "1s", "--json", "/tmp/x", url]), "--json"),
        (json!(["-d", "@/etc/passwd", url]), "/etc/passwd"),
        (json!(["/etc/other.yaml"]), "other.yaml"),
        (json!(["--no-such-flag", url]), "no-such-flag"),
        (json!(["-q", "many", url]), "many"),
        (json!(["--help"]), "run"),
        (json!(["-q", "1", "-z", "1s", "http://93.184.216.34/"]), "--i-may-load"),
        (json!([]), "words"),
        (json!([5]), "words"),
    ];
    for (words, part) in refused {
        let (status, said) = paged.post("/api/runs", &json!({"words": words}));
        assert!((400..500).contains(&status), "{words}: {said}");
        assert!(said["text"].as_str().is_some_and(|text| text.contains(part)), "{words}: {said}");
    }
    assert_eq!(paged.get("/api/run")["files"], json!(["shop.yaml"]));
    // Scenarios are changed one by one, and paused together.
    assert_eq!(paged.post("/api/runs", &json!({"words": ["shop.yaml"]})).0, 200);
    let run = paged.until("running");
    let names: Vec<&Value> = run["scenarios"].as_array().expect("scenarios").iter().map(|one| &one["kind"]).collect();
    assert_eq!(names, ["users", "rate"]);
    assert_eq!(paged.post("/api/run/changes", &json!({"revision": 0, "change": "rate", "to": 5})).0, 400);
    let users = json!({"revision": 0, "change": "users", "to": 6, "scenario": "see"});
    assert_eq!(paged.post("/api/run/changes", &users).0, 200);
    // Each of the two counts.
    let (_, paused) = paged.post("/api/run/changes", &json!({"revision": 1, "change": "pause"}));
    assert_eq!(paused["revision"], 3, "{paused}");
    paged.until("paused");
    assert_eq!(paged.post("/api/run/stop", &json!({})).0, 200);
    let over = paged.until("over");
    assert_eq!(over["report"]["changes"].as_array().map(Vec::len), Some(3), "{}", over["report"]["changes"]);
    // And the next one begins.
    assert_eq!(paged.post("/api/runs", &json!({"words": ["-n", "10", "-c", "1", url]})), (200, json!({"run": 2})));
    paged.until("over");
    assert_eq!(paged.get("/api/run/report.json")["requests"]["started"], 10);
}

#[test]
fn held_connections_have_a_page_too() {
    let served = Served::start();
    let ws = served.url("/ws").replace("http://", "ws://");
    let mut paged =
        Paged::start(&["hold", "-c", "20", "--hold", "30s", "--every", "100ms", "--interval", "200ms", "--web", &ws]);
    let begun = Instant::now();
    while paged.get("/api/run")["live"]["hold"]["open"] != 20 {
        assert!(begun.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(paged.post("/api/run/changes", &json!({"revision": 0, "change": "pause"})).1["error"], "held");
    let charts = paged.get("/api/run/charts?lang=zh");
    assert!(charts["charts"].as_array().is_some_and(|charts| !charts.is_empty()), "{charts}");
    assert_eq!(paged.post("/api/run/stop", &json!({})).0, 200);
    let mut out = String::new();
    paged.child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("UTF-8");
    assert!(paged.child.wait().expect("it ends").code().is_some_and(|code| code < 3), "{out}");
}
