//! The shop of the target over sockets: one user byte by byte, and many users of the engine, over every protocol and
//! driver. The actions of the users match the counts of the server, by path, by status and by session. `XTASK_LONG`
//! runs nine thousand users through a hundred thousand iterations: a million requests.

#[macro_use]
extern crate claims;

#[macro_use]
mod each_driver;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use driver::{DriverSelection, Kind};
use engine::{RunOptions, RunResult, Running, StopHandle};
use metrics::SeriesId;
use plan::{
    DynamicParts, Extract, ExtractFrom, Extraction, Filling, Flags, Memory, Names, Node, OnFailure, Pattern, Plan,
    Program, Rendering, TextContext, Value, Which,
};
use serde_json::{Value as Json, json};
use target::{Behavior, Certificate, ServeOptions, Server};

/// Limit for a response that never arrives, so that the test does not hang; it asserts nothing.
const PATIENCE: Duration = Duration::from_secs(120);

fn server(kind: Kind, is_tls: bool, threads: usize) -> Server {
    let listen: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    let tls = is_tls.then(|| {
        let certificate = Certificate::self_signed(listen.ip()).expect("a certificate");
        certificate.config().expect("settings")
    });
    let behavior = Behavior::default();
    Server::start(&ServeOptions { behavior, tls, ..ServeOptions::plain(listen, threads, kind) }).expect("a server")
}

fn stats(server: &Server) -> Json {
    serde_json::from_str(&server.stats_json()).expect("JSON")
}

/// One user with a connection of its own, who sends pieces of this size.
struct Browser {
    stream: TcpStream,
    cookie: Option<String>,
    piece_bytes: usize,
}

struct Response {
    status: u16,
    head: String,
    body: String,
}

impl Response {
    fn field(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    fn json(&self) -> Json {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl Browser {
    fn new(server: &Server, piece_bytes: usize) -> Self {
        let stream = TcpStream::connect(server.address()).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a flag");
        stream.set_nodelay(true).expect("a flag");
        Self { stream, cookie: None, piece_bytes }
    }

    fn ask(&mut self, line: &str, fields: &str, body: &str) -> Response {
        let cookie = self.cookie.as_ref().map_or(String::new(), |cookie| format!("Cookie: a=b; {cookie}\r\n"));
        let length = body.len();
        let request = format!("{line} HTTP/1.1\r\nHost: a\r\n{cookie}{fields}Content-Length: {length}\r\n\r\n{body}");
        for piece in request.as_bytes().chunks(self.piece_bytes) {
            self.stream.write_all(piece).expect("it goes out");
        }
        let response = self.read(line.starts_with("HEAD "));
        if let Some(cookie) = response.field("Set-Cookie") {
            let pair = cookie.split(';').next().expect("a pair");
            self.cookie = (!cookie.contains("Max-Age=0")).then(|| pair.to_owned());
        }
        response
    }

    fn read(&mut self, is_head: bool) -> Response {
        let (mut head, mut byte) = (Vec::new(), [0]);
        while !head.ends_with(b"\r\n\r\n") {
            self.stream.read_exact(&mut byte).expect("a head");
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).expect("text");
        let status = head[9..12].parse().expect("a status");
        let mut response = Response { status, head, body: String::new() };
        let length = response.field("Content-Length").map_or(0, |length| length.parse().expect("a number"));
        let mut body = vec![0; if is_head { 0 } else { length }];
        self.stream.read_exact(&mut body).expect("a body");
        response.body = String::from_utf8(body).expect("text");
        response
    }

    fn log_in(&mut self, user: &str) {
        let page = self.ask("GET /login", "", "").body;
        let (_, csrf) = page.split_once("name=\"csrf\" value=\"").expect("a form with a token");
        let form = format!("user={user}&csrf={}", &csrf[..16]);
        assert_eq!(self.ask("POST /login", "", &form).status, 302);
    }
}

on_each_driver! {
    a_user_in_pieces
    users_that_are_mixed_up
    every_iteration_is_a_session_of_its_own
    pages_that_nobody_may_see
}

/// However the bytes are cut, and with any number of threads and connections.
fn a_user_in_pieces(kind: Kind) {
    for (piece_bytes, threads) in [(usize::MAX, 3), (1, 1), (7, 2)] {
        let server = server(kind, false, threads);
        let mut ann = Browser::new(&server, piece_bytes);
        ann.log_in("ann");
        assert!(ann.cookie.is_some());
        // The threads of a server share their sessions.
        for _ in 0..5 {
            let mut elsewhere = Browser { cookie: ann.cookie.clone(), ..Browser::new(&server, piece_bytes) };
            assert_eq!(elsewhere.ask("GET /account?user=ann", "", "").json()["user"], "ann");
        }
        let token = ann.ask("POST /api/token", "Content-Type: application/json\r\n", "{\"user\":\"ann\"}");
        assert_eq!((token.status, token.field("Set-Cookie")), (201, None), "{}", token.head);
        let token = format!("Authorization: Bearer {}\r\n", token.json()["token"].as_str().expect("a token"));
        let item = ann.ask("GET /items/7", &token, "");
        let tag = item.field("ETag").expect("a tag").to_owned();
        let again = ann.ask("GET /items/7", &format!("If-None-Match: {tag}\r\n"), "");
        assert_eq!((again.status, again.field("ETag"), again.body.as_str()), (304, Some(tag.as_str()), ""));
        let next = item.json()["next"].as_str().expect("a path").to_owned();
        assert_eq!(ann.ask(&format!("GET {next}"), &format!("If-None-Match: {tag}\r\n"), "").status, 200);
        let cart = ann.ask("POST /cart", &token, &format!("sku={next}&count=2")).json();
        assert_eq!(cart["items"][0], json!({"sku": 8, "count": 2, "price": cart["items"][0]["price"]}));
        assert_eq!(ann.ask("HEAD /cart", "", "").body, "");
        assert_eq!(ann.ask("POST /pay?looks=3", "", "").status, 202);
        let states: Vec<Json> = (0..4).map(|_| ann.ask("GET /order", "", "").json()["state"].clone()).collect();
        assert_eq!(states, ["pending", "pending", "paid", "paid"]);
        let all = ann.ask("GET /stats/sessions", "", "").json();
        // Two of the login, five from elsewhere, the token, three items, two of the cart, one payment, four polls.
        assert_eq!(
            (&all["sessions"][0]["user"], &all["sessions"][0]["requests"]),
            (&json!("ann"), &json!(18)),
            "{all}"
        );
        assert_eq!(ann.ask("POST /logout", "", "").field("Location"), Some("/login"));
        assert_eq!((ann.cookie.is_none(), ann.ask("GET /cart", "", "").status), (true, 401));
        let seen = stats(&server);
        let expect = json!({"made": 1, "open": 0, "ended": 1, "displaced": 0, "requests": 19,
            "requests_least": 0, "requests_most": 0, "mixed": 0, "unknown": 0});
        assert_eq!(seen["sessions"], expect);
        assert_eq!(seen["answers_by_status"], json!({"200": 15, "201": 1, "202": 1, "302": 2, "304": 1, "401": 1}));
        let by_path = json!({"/login": 2, "/logout": 1, "/account": 5, "/api/token": 1, "/items": 3, "/cart": 3,
            "/pay": 1, "/order": 4, "/stats/sessions": 1});
        assert_eq!(seen["requests_by_path"], by_path);
    }
}

fn users_that_are_mixed_up(kind: Kind) {
    let server = server(kind, false, 2);
    let (mut ann, mut bob) = (Browser::new(&server, usize::MAX), Browser::new(&server, usize::MAX));
    ann.log_in("ann");
    bob.log_in("bob");
    let token = |browser: &mut Browser, user: &str| {
        let given = browser.ask("POST /api/token", "", &format!("user={user}")).json();
        let text = |name: &str| given[name].as_str().expect("a text").to_owned();
        (format!("Authorization: Bearer {}\r\n", text("token")), text("session"))
    };
    let ((of_ann, ann_is), (of_bob, bob_is)) = (token(&mut ann, "ann"), token(&mut bob, "bob"));
    assert_ne!(ann_is, bob_is);
    let (of_a, of_b) = (ann.cookie.clone(), bob.cookie.clone());
    for (cookie, path, fields, status, mixed) in [
        (&of_a, "/account?user=ann", "", 200, 0),
        (&of_b, "/account?user=ann", "", 403, 1),
        (&of_a, "/cart", of_ann.as_str(), 200, 1),
        (&of_a, "/cart", of_bob.as_str(), 403, 2),
        (&of_b, "/items/1", of_ann.as_str(), 403, 3),
        (&of_b, &format!("/api/sessions/{bob_is}"), of_bob.as_str(), 200, 3),
        (&of_b, &format!("/api/sessions/{ann_is}"), of_bob.as_str(), 403, 4),
        (&None, &format!("/api/sessions/{ann_is}"), of_ann.as_str(), 200, 4),
        (&None, &format!("/api/sessions/{bob_is}"), of_ann.as_str(), 403, 5),
    ] {
        let mut browser = Browser { cookie: cookie.clone(), ..Browser::new(&server, usize::MAX) };
        assert_eq!(browser.ask(&format!("GET {path}"), fields, "").status, status, "{path} {fields}");
        assert_eq!(stats(&server)["sessions"]["mixed"], mixed, "{path} {fields}");
    }
}

fn pages_that_nobody_may_see(kind: Kind) {
    let server = server(kind, false, 1);
    let mut nobody = Browser::new(&server, usize::MAX);
    let refused = nobody.ask("GET /cart", "", "");
    assert_eq!((refused.status, refused.field("WWW-Authenticate")), (401, Some("Bearer")));
    assert_eq!(nobody.ask("GET /api/sessions/zz", "", "").status, 400);
    let wrong = nobody.ask("DELETE /items/7", "", "");
    assert_eq!((wrong.status, wrong.field("Allow")), (405, Some("GET, HEAD")));
    let large = "x".repeat(16 * 1024 + 1);
    nobody.log_in("eve");
    assert_eq!(nobody.ask("POST /cart", "", &large).status, 413);
    assert_eq!(nobody.ask("POST /cart", "", &large[1..]).status, 400);
    let other = nobody.ask("POST /cart", "Content-Type: multipart/form-data; boundary=x\r\n", "--x--");
    assert_eq!(other.status, 415);
    assert_eq!(nobody.ask("GET /account", "", "").status, 200, "the connection goes on");
    // Without a session there are no session counters.
    let elsewhere = self::server(kind, false, 1);
    assert_eq!(stats(&elsewhere).get("sessions"), None);
    // Another server knows none of these cookies.
    let mut late = Browser { cookie: nobody.cookie.clone(), ..Browser::new(&elsewhere, usize::MAX) };
    assert_eq!(late.ask("GET /account", "", "").status, 401);
    assert_eq!(stats(&elsewhere)["sessions"]["unknown"], 1);
}

/// Variables of an iteration, by number.
const VARIABLES: [&str; 5] = ["csrf", "token", "session", "sku", "state"];

struct Known;

impl Names for Known {
    fn variable(&mut self, name: &str) -> Option<u32> {
        VARIABLES.iter().position(|known| *known == name).map(|place| place as u32)
    }

    fn column(&mut self, _: &str, _: &str) -> Option<u32> {
        None
    }

    fn environment(&mut self, _: &str) -> Option<String> {
        None
    }

    fn counter(&mut self, _: &str) -> u32 {
        0
    }

    fn expression(&mut self, _: &str) -> Option<u32> {
        None
    }
}

fn rendering(text: &str, ground: TextContext) -> Rendering {
    let pattern = Pattern::parse(text, ground).expect("a pattern");
    assert!(pattern.slots().all(|slot| slot.filling != Filling::Expression), "{text}");
    Rendering::new(&pattern, &mut Known).expect("known names")
}

/// A request of every iteration.
struct Ask {
    path: &'static str,
    /// A form, for POST.
    form: Option<&'static str>,
    shows_token: bool,
    status: &'static str,
    /// Names of variables, and where their values are found.
    takes: &'static [(&'static str, Where)],
}

type Where = fn() -> ExtractFrom;

const fn get(path: &'static str) -> Ask {
    Ask { path, form: None, shows_token: true, status: "200", takes: &[] }
}

fn json_at(path: &str) -> ExtractFrom {
    ExtractFrom::Json(path.to_owned())
}

/// The actions of a user: every value that it received goes back to the server.
const ITERATION: [Ask; 10] = [
    Ask {
        shows_token: false,
        takes: &[("csrf", || ExtractFrom::Regex("name=\"csrf\" value=\"([0-9a-f]+)\"".to_owned()))],
        ..get("/login")
    },
    Ask { form: Some("user=u${csrf}&csrf=${csrf}"), shows_token: false, status: "302", ..get("/login") },
    Ask {
        form: Some("user=u${csrf}"),
        shows_token: false,
        status: "201",
        takes: &[("token", || json_at("$.token")), ("session", || json_at("$.session"))],
        ..get("/api/token")
    },
    Ask { takes: &[("sku", || json_at("$.sku"))], ..get("/items/${random(1,1000)}") },
    Ask { form: Some("sku=${sku}&count=2"), ..get("/cart") },
    Ask { form: Some("looks=2"), status: "202", ..get("/pay") },
    get("/order"),
    Ask { takes: &[("state", || json_at("$[?@=='paid']"))], ..get("/order") },
    get("/api/sessions/${session}"),
    get("/account?user=u${csrf}"),
];

fn plan(server: &Server, way: Way, users: u64, iterations: u64) -> Plan {
    let scheme = if way.is_tls { "https" } else { "http" };
    let parts = ITERATION.iter().map(|ask| {
        let path = ask.path.split('$').next().expect("a beginning");
        let flags = Flags {
            url: Some(format!("{scheme}://{}{path}", server.address())),
            connections: Some(users.to_string()),
            requests: Some(iterations.to_string()),
            data: ask.form.map(|_| "x".to_owned()),
            headers: if ask.shows_token { vec!["Authorization: Bearer x".to_owned()] } else { Vec::new() },
            expect_status: Some(ask.status.to_owned()),
            // Thousands of users wait for two threads, on a machine that may be busy: what counts is what they get.
            timeout: Some("30m".to_owned()),
            connect_timeout: Some("30m".to_owned()),
            http2: way.http2,
            insecure: way.is_tls,
            ..Flags::default()
        };
        let mut plan = flags.plan().expect("a plan");
        let step = &mut plan.scenarios[0].steps[0];
        let takes = ask.takes.iter().map(|(name, from)| Extraction {
            variable: Known.variable(name).expect("a name"),
            name: (*name).to_owned(),
            take: Extract::new(&from(), Which::First).expect("a take"),
            of: None,
            default: None,
            is_number: false,
            from_failed: false,
        });
        let authorization = step.request.headers.iter().position(|(name, _)| name == "Authorization");
        step.dynamic_parts = Some(Arc::new(DynamicParts {
            path: ask.path.contains('$').then(|| rendering(ask.path, TextContext::Url)),
            headers: authorization
                .map(|at| (at, rendering("Bearer ${token}", TextContext::Header)))
                .into_iter()
                .collect(),
            body: ask.form.map(|form| rendering(form, TextContext::Form)),
            takes: takes.collect(),
            ..DynamicParts::default()
        }));
        plan
    });
    let mut parts: Vec<Plan> = parts.collect();
    let mut others: Vec<_> = parts.drain(1..).collect();
    let mut plan = parts.remove(0);
    let scenario = &mut plan.scenarios[0];
    scenario.steps.extend(others.iter_mut().map(|other| other.scenarios[0].steps.remove(0)));
    scenario.memory = Memory { variables: vec![Value::Null; VARIABLES.len()], cookies: true, ..Memory::default() };
    let nodes = (0..ITERATION.len()).map(|step| Node::Ask { step, on_failure: OnFailure::Next });
    scenario.program = Program { seed: 5, nodes: nodes.collect(), ..Program::default() };
    plan
}

/// Protocol options of the users.
#[derive(Clone, Copy, Debug)]
struct Way {
    is_tls: bool,
    http2: bool,
}

fn run(plan: Plan, server: &Server, kind: Kind) -> RunResult {
    let tls = engine::client_tls(plan.scenarios[0].target()).expect("settings");
    let options = RunOptions {
        address: server.address(),
        tls,
        others: Vec::new(),
        names: Vec::new(),
        threads: 2,
        pins_threads: false,
        driver: DriverSelection { kind, was_requested: true, refusal: None },
        log_config: engine::RequestLogConfig::default(),
        data_sources: engine::DataSources::default(),
        backend: None,
    };
    Running::start(Arc::new(plan), options, &StopHandle::default()).expect("a run").finish().expect("a result")
}

/// Both ends of their connections fit into the 20,000 descriptors that systems often allow.
const USERS_LONG: u64 = 9_000;

fn every_iteration_is_a_session_of_its_own(kind: Kind) {
    let (users, iterations) = if claims::seeds::is_long() { (USERS_LONG, 100_000) } else { (40, 400) };
    // Both ends of every connection are in this process.
    host::raise_descriptor_limit();
    for (is_tls, http2) in [(false, false), (false, true), (true, false), (true, true)] {
        let way = Way { is_tls, http2 };
        let server = server(kind, is_tls, 2);
        // A TLS handshake is expensive.
        let users = if is_tls { users / 10 } else { users };
        let result = run(plan(&server, way, users, iterations), &server, kind);
        let (counts, seen) = (&result.total.counts, stats(&server));
        let failed = |step: usize| result.total.failures_of(SeriesId::step(step as u32));
        let failures: Vec<_> = (0..ITERATION.len()).map(|step| failed(step).collect::<Vec<_>>()).collect();
        assert!(failures.iter().all(Vec::is_empty), "{way:?} {failures:?} {seen}");
        let requests = iterations * ITERATION.len() as u64;
        assert_eq!(
            (counts.iterations(), counts.succeeded(), counts.failed()),
            (iterations, requests, 0),
            "{way:?} {seen}"
        );
        let expect = json!({"made": iterations, "open": iterations, "ended": 0, "displaced": 0, "requests": requests,
            "requests_least": ITERATION.len(), "requests_most": ITERATION.len(), "mixed": 0, "unknown": 0});
        assert_eq!(seen["sessions"], expect, "{way:?}");
        let times = |times: u64| times * iterations;
        let by_path = json!({"/login": times(2), "/account": times(1), "/api/token": times(1), "/api/sessions": times(1),
            "/items": times(1), "/cart": times(1), "/pay": times(1), "/order": times(2)});
        assert_eq!(seen["requests_by_path"], by_path, "{way:?}");
        let of_server = seen["answers_by_status"].as_object().expect("counts");
        for (status, count) in counts.statuses() {
            assert_eq!(of_server[&status.to_string()], count, "{way:?} {status}");
        }
        assert_eq!(of_server.len(), counts.statuses().count(), "{way:?} {of_server:?}");
    }
}
