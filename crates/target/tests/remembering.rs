//! Values that users extract from responses are used in their later requests, and by no other user: against a server
//! that checks it.

#[macro_use]
extern crate claims;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use driver::{DriverSelection, Kind};
use engine::{RunOptions, RunResult, Running, StopHandle};
use metrics::{Failure, SeriesId};
use plan::{
    DynamicParts, Extract, ExtractFrom, Extraction, Filling, Flags, Memory, Names, Node, OnFailure, Pattern, Plan,
    Program, Rendering, TextContext, Value, ValuePattern, Which,
};

/// Observations of the server.
#[derive(Default)]
struct Seen {
    given: AtomicU64,
    used: AtomicU64,
    mixed: AtomicU64,
    /// Use count of each token: each is used once.
    tokens: Mutex<HashMap<String, u64>>,
}

fn serve() -> (SocketAddr, Arc<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (address, seen) = (listener.local_addr().expect("an address"), Arc::new(Seen::default()));
    let all = seen.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let seen = all.clone();
            std::thread::spawn(move || while_open(stream, &seen));
        }
    });
    (address, seen)
}

/// Responds on one connection until it ends.
fn while_open(stream: TcpStream, seen: &Seen) -> Option<()> {
    let mut input = BufReader::new(stream.try_clone().ok()?);
    let mut output = stream;
    loop {
        let mut line = String::new();
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let path = line.split(' ').nth(1)?.to_owned();
        let mut fields = HashMap::new();
        loop {
            let mut line = String::new();
            input.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim().split_once(':') else { break };
            fields.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let length = fields.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        input.read_exact(&mut body).ok()?;
        let response = response(&path, &fields, &String::from_utf8_lossy(&body), seen);
        output.write_all(response.as_bytes()).ok()?;
    }
}

fn response(path: &str, fields: &HashMap<String, String>, body: &str, seen: &Seen) -> String {
    let plain = |status: &str, more: &str, body: &str| {
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{more}\r\n{body}", body.len())
    };
    if path.starts_with("/token?u=") {
        let number = seen.given.fetch_add(1, Ordering::Relaxed);
        // A byte that must be escaped in every context.
        let token = format!("t{number}\"&/");
        seen.tokens.lock().expect("no panic").insert(token.clone(), number);
        let json = serde_json::json!({"token": token, "number": number});
        let cookie = format!("Set-Cookie: sid=c{number}; Path=/\r\nSet-Cookie: elsewhere=1; Path=/other\r\n");
        return plain("200 OK", &cookie, &json.to_string());
    }
    let is_moved = path.starts_with("/moved/");
    if is_moved {
        // A redirect to the same page, with the same method and body.
        let rest = path.trim_start_matches("/moved");
        return plain("307 Temporary Redirect", &format!("Location: {rest}\r\n"), "");
    }
    seen.used.fetch_add(1, Ordering::Relaxed);
    let said: serde_json::Value = serde_json::from_str(body).unwrap_or_default();
    let token = said["token"].as_str().unwrap_or_default();
    let number = seen.tokens.lock().expect("no panic").remove(token);
    let fits = number.is_some_and(|number| {
        said["number"] == number
            && fields.get("cookie").map(String::as_str) == Some(&format!("sid=c{number}"))
            && fields.get("authorization").map(String::as_str) == Some(&format!("Bearer {number}"))
            && path == format!("/use/t{number}%22%26%2F?n={number}")
    });
    seen.mixed.fetch_add(u64::from(!fits), Ordering::Relaxed);
    plain(if fits { "200 OK" } else { "400 Bad Request" }, "", "")
}

struct Known;

impl Names for Known {
    fn variable(&mut self, name: &str) -> Option<u32> {
        ["token", "number", "lines"].iter().position(|known| *known == name).map(|place| place as u32)
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

/// An extraction of a value from JSON; without `default` it is required.
fn taking(variable: u32, path: &str, default: Option<Value>) -> Extraction {
    let take = Extract::new(&ExtractFrom::Json(path.to_owned()), Which::First).expect("a path");
    let default = default.map(ValuePattern::Constant);
    Extraction { variable, name: path.to_owned(), take, of: None, default, is_number: false, from_failed: false }
}

/// Two steps: a token is issued, and used; `way` leads to its use.
fn plan(address: SocketAddr, load: &Flags, way: &str, on_failure: OnFailure) -> Plan {
    let flags = |path: &str| Flags { url: Some(format!("http://{address}{path}")), ..load.clone() };
    let mut plan = flags("/token?u=1").plan().expect("a plan");
    let with_body = Flags {
        data: Some("{}".to_owned()),
        headers: vec!["Authorization: Bearer".to_owned(), "Content-Type: application/json".to_owned()],
        location: true,
        ..flags(way)
    };
    let mut using = with_body.plan().expect("a plan").scenarios.remove(0).steps.remove(0);
    let authorization =
        using.request.headers.iter().position(|(name, _)| name == "Authorization").expect("it is there");
    let json = r#"{"token":"#.to_owned();
    let mut body = rendering(&json, TextContext::Text);
    for (text, ground) in [
        ("${token}", TextContext::Json),
        (r#","number":"#, TextContext::Text),
        ("${number}", TextContext::Json),
        ("}", TextContext::Text),
    ] {
        // A JSON string that is a single slot keeps the type of its value, and its quotes.
        body = body.then(rendering(text, ground));
    }
    using.dynamic_parts = Some(Arc::new(DynamicParts {
        path: Some(rendering(&format!("{way}/${{token}}?n=${{number}}"), TextContext::Url)),
        headers: vec![(authorization, rendering("Bearer ${number}${lines}", TextContext::Header))],
        body: Some(body),
        ..DynamicParts::default()
    }));
    let scenario = &mut plan.scenarios[0];
    scenario.steps[0].dynamic_parts = Some(Arc::new(DynamicParts {
        path: Some(rendering("/token?u=${random(1,1000)}", TextContext::Url)),
        takes: vec![
            taking(0, "$.token", None),
            taking(1, "$.number", None),
            taking(2, "$.lines", Some(Value::text(""))),
        ],
        ..DynamicParts::default()
    }));
    scenario.steps.push(using);
    scenario.memory = Memory { variables: vec![Value::Null; 3], cookies: true, ..Memory::default() };
    let ask = |step| Node::Ask { step, on_failure };
    scenario.program = Program { seed: 5, nodes: vec![ask(0), ask(1)], ..Program::default() };
    plan
}

fn run(plan: Plan, address: SocketAddr, kind: Kind, threads: usize) -> RunResult {
    let options = RunOptions {
        address,
        tls: None,
        others: Vec::new(),
        names: Vec::new(),
        threads,
        pins_threads: false,
        driver: DriverSelection { kind, was_requested: true, refusal: None },
        log_config: engine::RequestLogConfig::default(),
        data_sources: engine::DataSources::default(),
        backend: None,
    };
    Running::start(Arc::new(plan), options, &StopHandle::default()).expect("a run").finish().expect("a result")
}

fn closed(users: u64, iterations: u64) -> Flags {
    Flags { connections: Some(users.to_string()), requests: Some(iterations.to_string()), ..Flags::default() }
}

fn open(rate: u64, iterations: u64) -> Flags {
    Flags { rate: Some(rate.to_string()), requests: Some(iterations.to_string()), ..Flags::default() }
}

#[test]
fn what_one_user_takes_no_other_sends() {
    for kind in [Kind::Poll, Kind::Uring] {
        for (load, iterations, threads, way, redirects) in [
            (closed(20, 2_000), 2_000, 1, "/use", 0),
            (closed(30, 2_000), 2_000, 3, "/use", 0),
            (closed(7, 500), 500, 2, "/moved/use", 500),
            (open(2_000, 1_000), 1_000, 2, "/use", 0),
        ] {
            let (address, seen) = serve();
            let result = run(plan(address, &load, way, OnFailure::Next), address, kind, threads);
            let counts = &result.total.counts;
            let (given, used) = (seen.given.load(Ordering::Relaxed), seen.used.load(Ordering::Relaxed));
            assert_eq!(
                (given, used, seen.mixed.load(Ordering::Relaxed)),
                (iterations, iterations, 0),
                "{kind:?} {way}"
            );
            assert!(seen.tokens.lock().expect("no panic").is_empty(), "each token was used");
            assert_eq!(
                (counts.iterations(), counts.failed(), counts.redirects()),
                (iterations, 0, redirects),
                "{kind:?}"
            );
            assert_eq!(counts.succeeded(), 2 * iterations + redirects, "{kind:?} {way}");
        }
    }
}

/// A response without a required value fails its step, and then the `on_failure` of the program applies.
#[test]
fn what_is_not_there_fails_the_step() {
    let (address, seen) = serve();
    for on_failure in [OnFailure::Next, OnFailure::GoOn] {
        let mut plan = plan(address, &closed(5, 200), "/use", on_failure);
        let dynamic_parts = plan.scenarios[0].steps[0].dynamic_parts.as_deref().cloned().expect("it is made");
        let takes = vec![taking(0, "$.nobody", None)];
        plan.scenarios[0].steps[0].dynamic_parts = Some(Arc::new(DynamicParts { takes, ..dynamic_parts }));
        let before = seen.used.load(Ordering::Relaxed);
        let result = run(plan, address, Kind::Poll, 2);
        let total = &result.total;
        assert_eq!(total.failures_of(SeriesId::step(0)).collect::<Vec<_>>(), [(Failure::NotTaken, 200)]);
        let goes_on = on_failure == OnFailure::GoOn;
        assert_eq!(seen.used.load(Ordering::Relaxed) - before, if goes_on { 200 } else { 0 }, "{on_failure:?}");
        assert_eq!(total.counts.iterations(), if goes_on { 200 } else { 0 }, "{on_failure:?}");
    }
}

/// A value that would inject a second header is not sent.
#[test]
fn what_cannot_stand_in_a_header_is_not_sent() {
    let (address, seen) = serve();
    let mut plan = plan(address, &closed(3, 20), "/use", OnFailure::Next);
    plan.scenarios[0].memory.variables[2] = Value::text("\r\nX: y");
    let dynamic_parts = plan.scenarios[0].steps[0].dynamic_parts.as_deref().cloned().expect("it is made");
    let takes = dynamic_parts.takes[..2].to_vec();
    plan.scenarios[0].steps[0].dynamic_parts = Some(Arc::new(DynamicParts { takes, ..dynamic_parts }));
    plan.capture_options.failures = true;
    let result = run(plan, address, Kind::Poll, 1);
    assert_eq!(result.total.failures_of(SeriesId::step(1)).collect::<Vec<_>>(), [(Failure::NotFilled, 20)]);
    assert_eq!((seen.given.load(Ordering::Relaxed), seen.used.load(Ordering::Relaxed)), (20, 0));
    let reasons: Vec<&str> = result.total.samples().iter().map(|sample| sample.reason.as_str()).collect();
    assert!(reasons.iter().all(|reason| reason.contains("line end")) && !reasons.is_empty(), "{reasons:?}");
}
