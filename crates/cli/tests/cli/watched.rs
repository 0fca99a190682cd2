//! A run on a page: `--web` and `onrush web`, with programs, and with unauthorized clients. `tests/browser` has the
//! same with a browser.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

pub(super) use super::paged::{Paged, TOKEN};
use super::seen::{stats, wait_for};
use super::{Folder, Served, onrush};

/// The timeout for events that never come: a guard of the harness, and no assertion.
const FAR: Duration = Duration::from_secs(120);

impl Paged {
    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).expect("it listens");
        stream.set_read_timeout(Some(FAR)).expect("a socket");
        stream
    }

    /// The status, the head and the body of the response to a request.
    fn raw(&self, request: &[u8]) -> (u16, String, String) {
        let mut stream = self.connect();
        stream.write_all(request).expect("it is taken");
        let mut all = Vec::new();
        // A server that closes early has sent its response.
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

    /// A response that is no JSON.
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
        let mut run = Value::Null;
        wait_for(state, || {
            run = self.get("/api/run");
            run["state"] == state
        });
        run
    }
}

/// The target's count of a path.
pub(super) fn counted(served: &Served, path: &str) -> u64 {
    stats(served)["requests_by_path"][path].as_u64().unwrap_or(0)
}

/// A load of an hour that is ended by a change: each start until then was requested, whenever the changes come.
#[test]
fn changes_hold_to_the_start() {
    let served = Served::start();
    let paged = Paged::start(&["web"]);
    let words = json!(["-q", "200", "-z", "1h", "--interval", "200ms", served.url("/")]);
    assert_eq!(paged.post("/api/runs", &json!({"words": words})), (200, json!({"run": 1})));
    assert_eq!(paged.post("/api/runs", &json!({"words": words})).1["error"], "runs_already");
    let change = |what: Value| {
        let (status, done) = paged.post("/api/run/changes", &what);
        assert_eq!(
            (status, done["revision"].as_u64()),
            (200, what["revision"].as_u64().map(|seen| seen + 1)),
            "{done}"
        );
        done["effective_at_s"].as_f64().expect("an instant")
    };
    let first = json!({"revision": 0, "change": "rate", "to": "400/s", "over": "1s"});
    let at = change(first.clone());
    // A repeated change does nothing; one from a client that has not seen the last change is refused.
    assert_eq!(change(first), at);
    let (status, behind) = paged.post("/api/run/changes", &json!({"revision": 0, "change": "rate", "to": 50}));
    assert_eq!((status, &behind["error"]), (409, &json!("stale_revision")));
    let wrong = [
        json!({"revision": 1, "change": "users", "to": 5}),
        json!({"revision": 1, "change": "rate", "to": "0"}),
        json!({"revision": 1, "change": "rate", "to": "5/s", "over": "2h"}),
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
    let paused_at = change(json!({"revision": 1, "change": "pause"}));
    let resumed_at = change(json!({"revision": 2, "change": "resume"}));
    wait_for("the ramp is over", || paged.get("/api/run")["scenarios"][0]["now"] == 400.0);
    let ended_at = change(json!({"revision": 3, "change": "end"}));
    paged.until("over");
    let report = paged.get("/api/run/report.json");
    let started = report["requests"]["started"].as_u64().expect("a number");
    assert_eq!(started, counted(&served, "/"));
    // The area of the ramp, and what is before and after it; the pause moves all that comes after it.
    let planned_s = ended_at - (resumed_at - paused_at);
    let requested = at * 200.0 + 300.0 + (planned_s - at - 1.0) * 400.0;
    assert!((started as f64 - requested).abs() <= 2.0, "{started} of {requested}: {}", report["changes"]);
    let kinds: Vec<&Value> = report["changes"].as_array().expect("changes").iter().map(|one| &one["change"]).collect();
    assert_eq!(kinds, ["rate", "pause", "resume", "end"]);
    let charts = paged.get("/api/run/charts");
    let marks: Vec<&str> =
        charts["marks"].as_array().expect("marks").iter().filter_map(|mark| mark["text"].as_str()).collect();
    assert!(marks.len() == 5 && marks.contains(&"a mark of ours"), "{marks:?}");
    assert_eq!(paged.post("/api/run/changes", &json!({"revision": 4, "change": "pause"})).1["error"], "nothing_runs");
}

#[test]
fn strangers_are_refused() {
    let served = Served::start();
    let url = served.url("/");
    let mut paged = Paged::start(&["-q", "200", "-z", "1h", "--threads", "1", "--web", "-o", "json", &url]);
    paged.until("running");
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
    // An endless body is cut off, long before its end.
    let mut stream = paged.connect();
    stream.write_all(post("application/json", 1 << 30).as_bytes()).expect("it is taken");
    let (block, mut sent) = (vec![b'x'; 1 << 16], 0u64);
    claims::as_one(|| {
        while stream.write_all(&block).is_ok() {
            sent += block.len() as u64;
            assert!(sent < 1 << 28, "it takes everything");
        }
    });
    // Clients that send nothing, or read nothing, hold up no other client: not even very many of them. Fewer at a time
    // than the backlog of the system: a response comes when those before it have been accepted.
    let mut idle = Vec::new();
    while idle.len() < 10_000 {
        idle.extend((0..100).map(|_| TcpStream::connect(&paged.host).expect("it listens")));
        assert_eq!(paged.get("/api/run")["state"], "running");
    }
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
    // All that were due until the thread learned of its end, by its own clock.
    let requested = report["planned_s"].as_f64().expect("a time") * 200.0;
    assert!((started as f64 - requested).abs() <= 1.0, "{started} of {requested}");
}

#[test]
fn a_page_starts_nothing_that_is_not_for_it() {
    let (served, folder) = (Served::start(), Folder::new("watched-words"));
    folder.plan("shop", &served, "scenarios:\n  see:\n    load: {users: 2, for: 1h}\n    steps: [{get: /delay/5}]\n  pay:\n    load: {rate: 20, for: 1h}\n    steps: [{get: /delay/5}]\n");
    let paged = Paged::started(onrush(&["web"]).current_dir(folder.path("")));
    let url = served.url("/");
    let refused = [
        (json!(["-q", "10", "-z", "1s", "--json", "/tmp/x", url]), "--json"),
        (json!(["-d", "@/etc/passwd", url]), "/etc/passwd"),
        (json!(["/etc/other.yaml"]), "other.yaml"),
        (json!(["--no-such-flag", url]), "no-such-flag"),
        (json!(["-q", "many", url]), "many"),
        (json!(["--help"]), "run"),
        (json!(["-q", "1", "-z", "1s", "http://93.184.216.34/"]), "--allow-host"),
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
    // And the next one begins, when all of this one is written.
    wait_for("a run can begin", || paged.get("/api/run")["can_start"] == true);
    assert_eq!(paged.post("/api/runs", &json!({"words": ["-n", "10", "-c", "1", url]})), (200, json!({"run": 2})));
    paged.until("over");
    assert_eq!(paged.get("/api/run/report.json")["requests"]["started"], 10);
}

#[test]
fn held_connections_have_a_page_too() {
    let served = Served::start();
    let ws = served.url("/ws").replace("http://", "ws://");
    let mut paged =
        Paged::start(&["hold", "-c", "20", "--hold", "1h", "--every", "100ms", "--interval", "200ms", "--web", &ws]);
    wait_for("all are open", || paged.get("/api/run")["live"]["hold"]["open"] == 20);
    assert_eq!(paged.post("/api/run/changes", &json!({"revision": 0, "change": "pause"})).1["error"], "held");
    let charts = paged.get("/api/run/charts?lang=zh");
    assert!(charts["charts"].as_array().is_some_and(|charts| !charts.is_empty()), "{charts}");
    assert_eq!(paged.post("/api/run/stop", &json!({})).0, 200);
    let mut out = String::new();
    paged.child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("UTF-8");
    assert!(paged.child.wait().expect("it ends").code().is_some_and(|code| code < 3), "{out}");
}
