//! Messages rendered for each exchange, and values extracted from their responses: gRPC calls, WebSocket and TCP.

#[macro_use]
extern crate claims;

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use driver::{DriverSelection, Kind};
use engine::{DataSources, RunOptions, RunResult, Running, StopHandle};
use metrics::{Failure, SeriesId};
use plan::{
    DynamicParts, Expression, Extract, ExtractFrom, Extraction, Flags, Meaning, Memory, Names, Node, OnFailure,
    Pattern, Plan, Program, Rendering, Schema, TextContext, Value, Which,
};
use target::{ServeOptions, Server};
use wire::tls::ClientConfig;

const VARIABLES: [&str; 3] = ["first", "second", "third"];

struct Known<'a>(&'a [&'a str]);

impl Names for Known<'_> {
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

    fn expression(&mut self, text: &str) -> Option<u32> {
        self.0.iter().position(|known| *known == text).map(|place| place as u32)
    }
}

fn rendering(parts: &[(&str, TextContext)], expressions: &[&str]) -> Rendering {
    let one = |(text, ground): &(&str, TextContext)| {
        let pattern = Pattern::parse(text, *ground).expect("a pattern");
        Rendering::new(&pattern, &mut Known(expressions)).expect("known names")
    };
    parts.iter().map(one).reduce(Rendering::then).expect("a part")
}

/// A step: its target, its messages, and the extractions from its responses.
struct Saying<'a> {
    flags: Flags,
    messages: Vec<Vec<(&'a str, TextContext)>>,
    takes: Vec<(u32, ExtractFrom)>,
}

fn json(path: &str) -> ExtractFrom {
    ExtractFrom::Json(path.to_owned())
}

fn plan(sayings: &[Saying<'_>], expressions: &[&str], users: u64, iterations: u64) -> Plan {
    let described = Schema::from_files(&target::descriptors()).expect("the target describes itself");
    let mut plans = sayings.iter().map(|saying| {
        let (connections, requests) = (Some(users.to_string()), Some(iterations.to_string()));
        let mut plan =
            Flags { connections, requests, ..saying.flags.clone() }.plan_with(Some(&described)).expect("a plan");
        let takes = saying.takes.iter().map(|(variable, from)| Extraction {
            variable: *variable,
            name: VARIABLES[*variable as usize].to_owned(),
            take: Extract::new(from, Which::First).expect("a take"),
            of: None,
            default: None,
            is_number: false,
            from_failed: false,
        });
        plan.scenarios[0].steps[0].dynamic_parts = Some(Arc::new(DynamicParts {
            messages: saying.messages.iter().map(|parts| rendering(parts, expressions)).collect(),
            takes: takes.collect(),
            ..DynamicParts::default()
        }));
        plan
    });
    let mut plan = plans.next().expect("a step");
    let scenario = &mut plan.scenarios[0];
    for mut other in plans {
        scenario.steps.push(other.scenarios[0].steps.remove(0));
    }
    let names = VARIABLES.iter().enumerate().map(|(at, name)| ((*name).to_owned(), Meaning::Variable(at as u32)));
    let names: Vec<_> = names.collect();
    let expression = |text: &&str| Expression { text: (*text).to_owned(), names: names.clone() };
    scenario.memory = Memory {
        variables: vec![Value::Null; VARIABLES.len()],
        counters: 1,
        expressions: expressions.iter().map(expression).collect(),
        ..Memory::default()
    };
    let ask = |step| Node::Ask { step, on_failure: OnFailure::Next };
    scenario.program = Program { seed: 5, nodes: (0..sayings.len()).map(ask).collect(), ..Program::default() };
    plan.capture_options.failures = true;
    plan.capture_options.values = true;
    plan
}

fn run(plan: Plan, address: SocketAddr, kind: Kind) -> RunResult {
    run_to(plan, address, Vec::new(), kind)
}

fn run_to(plan: Plan, address: SocketAddr, others: Vec<(SocketAddr, Option<ClientConfig>)>, kind: Kind) -> RunResult {
    let options = RunOptions {
        address,
        tls: None,
        others,
        names: Vec::new(),
        threads: 2,
        pins_threads: false,
        driver: DriverSelection { kind, was_requested: true, refusal: None },
        log_config: engine::RequestLogConfig::default(),
        data_sources: DataSources { feeds: Arc::new([]), interpreters: Some(Arc::new(script::JavaScript)) },
        backend: None,
    };
    Running::start(Arc::new(plan), options, &StopHandle::default()).expect("a run").finish().expect("a result")
}

fn reasons(result: &RunResult) -> Vec<String> {
    result.total.samples().iter().map(|sample| format!("{:?}: {}", sample.outcome, sample.reason)).collect()
}

fn call(server: &Server, method: &str, is_gzipped: bool) -> Flags {
    Flags {
        url: Some(format!("grpc://{}/hello.Greeter/{method}", server.address())),
        data: Some(if matches!(method, "GreetAll" | "Chat") { "[]" } else { "{}" }.to_owned()),
        grpc_encoding: is_gzipped.then(|| "gzip".to_owned()),
        ..Flags::default()
    }
}

fn server(kind: Kind) -> Server {
    let free: SocketAddr = "127.0.0.1:0".parse().expect("an address");
    Server::start(&ServeOptions { tcp: Some(free), ..ServeOptions::plain(free, 2, kind) }).expect("a server")
}

const KINDS: [Kind; 2] = [Kind::Poll, Kind::Uring];

/// A counter in a JSON string.
fn counted() -> Vec<(&'static str, TextContext)> {
    vec![("{\"name\":\"", TextContext::Text), ("u\\\"${counter()}", TextContext::Json), ("\"}", TextContext::Text)]
}

fn name(slot: &str) -> Vec<(&str, TextContext)> {
    vec![("{\"name\":", TextContext::Text), (slot, TextContext::Json), ("}", TextContext::Text)]
}

fn values(result: &RunResult) -> Vec<String> {
    result.values.iter().map(Value::to_string).collect()
}

/// The response of one call is used by the next one of the same user, and by no other user's.
#[test]
fn calls_are_made_of_what_calls_answered() {
    let check = ["second === `Hello ${first}` ? 'ok' : nobody.at"];
    for kind in KINDS {
        for is_gzipped in [false, true] {
            let server = server(kind);
            let sayings = || {
                let saying = |message, variable| Saying {
                    flags: call(&server, "SayHello", is_gzipped),
                    messages: vec![message],
                    takes: vec![(variable, json("$.message"))],
                };
                [saying(counted(), 0), saying(name("${first}"), 1), saying(name(CHECKED), 2)]
            };
            let one = run(plan(&sayings(), &check, 1, 5), server.address(), kind);
            assert_eq!(one.total.counts.succeeded(), 15, "{:?}", reasons(&one));
            assert_eq!(values(&one), ["Hello u\"5", "Hello Hello u\"5", "Hello ok"]);
            let many = run(plan(&sayings(), &check, 30, 1_000), server.address(), kind);
            let counts = &many.total.counts;
            assert_eq!(
                (counts.succeeded(), counts.failed(), counts.iterations()),
                (3_000, 0, 1_000),
                "{:?}",
                reasons(&many)
            );
        }
    }
}

const CHECKED: &str = "${second === `Hello ${first}` ? 'ok' : nobody.at}";

/// Each message of a stream is rendered, also those that are sent later; responses of a stream are a list.
#[test]
fn streams_are_made_of_messages_that_are_rendered() {
    for kind in KINDS {
        for interval in ["0s", "2ms"] {
            let server = server(kind);
            let stream = |method, messages, takes| Saying {
                flags: Flags { message_interval: Some(interval.to_owned()), ..call(&server, method, false) },
                messages,
                takes,
            };
            let sayings = [
                stream(
                    "Chat",
                    vec![counted(), counted(), name("${first}")],
                    vec![(0, json("$[1].message")), (1, json("$[2].number"))],
                ),
                stream(
                    "GreetAll",
                    vec![
                        name("${first}"),
                        vec![
                            ("{\"name\":\"n", TextContext::Text),
                            ("${second}", TextContext::Text),
                            ("\"}", TextContext::Text),
                        ],
                    ],
                    vec![(2, json("$.message"))],
                ),
            ];
            let result = run(plan(&sayings, &[], 1, 4), server.address(), kind);
            assert_eq!(result.total.counts.succeeded(), 8, "{:?}", reasons(&result));
            let values = values(&result);
            assert_eq!(values[..2], ["Hello u\"8", "3"], "{interval}");
            assert_eq!(values[2], "Hello Hello u\"8, n3");
        }
        let server = server(kind);
        let hellos = vec![vec![
            ("{\"name\":\"a\",\"replies\":", TextContext::Text),
            ("${random(4,4)}", TextContext::Json),
            ("}", TextContext::Text),
        ]];
        let takes = vec![(0, json("$[3].number"))];
        let hellos = [Saying { flags: call(&server, "SayHellos", true), messages: hellos, takes }];
        let result = run(plan(&hellos, &[], 1, 1), server.address(), kind);
        assert_eq!(values(&result)[0], "4", "{:?}", reasons(&result));
    }
}

#[test]
fn what_is_no_message_is_not_sent() {
    let server = server(Kind::Poll);
    for (parts, reason) in [
        (vec![("{", TextContext::Text)], "it is no message of the method: EOF"),
        (
            vec![("{\"nobody\":1}", TextContext::Text)],
            "it is no message of the method: unrecognized field name 'nobody'",
        ),
        (name("${random(1,9)}"), "it is no message of the method: invalid type: "),
    ] {
        let sayings = [Saying { flags: call(&server, "SayHello", false), messages: vec![parts], takes: vec![] }];
        let result = run(plan(&sayings, &[], 2, 6), server.address(), Kind::Poll);
        let failures: Vec<_> = result.total.failures_of(SeriesId::step(0)).collect();
        assert_eq!(failures, [(Failure::NotFilled, 6)], "{reason}");
        let seen = reasons(&result);
        assert!(seen.iter().all(|seen| seen.contains(reason)), "{reason} {seen:?}");
    }
    let takes = vec![(0, json("$.nobody"))];
    let sayings = [Saying { flags: call(&server, "SayHello", false), messages: vec![], takes }];
    let result = run(plan(&sayings, &[], 2, 6), server.address(), Kind::Poll);
    assert_eq!(result.total.failures_of(SeriesId::step(0)).collect::<Vec<_>>(), [(Failure::NotTaken, 6)]);
}

/// The target echoes what it receives.
#[test]
fn messages_are_made_of_messages() {
    let check = ["second === `${first} again` ? 'ok' : nobody.at"];
    for kind in KINDS {
        let server = server(kind);
        let websocket = |ws_deflate, ws_type: &str| Flags {
            url: Some(format!("ws://{}/", server.address())),
            data: Some("x".to_owned()),
            ws_deflate,
            ws_type: Some(ws_type.to_owned()),
            ..Flags::default()
        };
        let tcp = |until: &str| Flags {
            url: Some(format!("tcp://{}", server.tcp_address().expect("it listens"))),
            data: Some("x".to_owned()),
            until: Some(until.to_owned()),
            ..Flags::default()
        };
        for (flags, end, address) in [
            (websocket(false, "text"), "", server.address()),
            (websocket(true, "text"), "", server.address()),
            (websocket(false, "binary"), "", server.address()),
            (tcp(";"), ";", server.tcp_address().expect("it listens")),
        ] {
            let saying = |text: &'static str, variable| Saying {
                flags: flags.clone(),
                messages: vec![vec![(text, TextContext::Text), (end, TextContext::Text)]],
                takes: vec![(
                    variable,
                    if end.is_empty() { ExtractFrom::Body } else { ExtractFrom::Regex("([^;]*);".to_owned()) },
                )],
            };
            let sayings = || {
                let third = "${second === `${first} again` ? 'ok' : nobody.at}";
                [
                    saying("say ${counter()} with more than a few bytes of text", 0),
                    saying("${first} again", 1),
                    saying(third, 2),
                ]
            };
            let one = run(plan(&sayings(), &check, 1, 5), address, kind);
            assert_eq!(one.total.counts.succeeded(), 15, "{flags:?} {:?}", reasons(&one));
            let first = "say 5 with more than a few bytes of text";
            assert_eq!(values(&one), [first, &format!("{first} again"), "ok"]);
            let many = run(plan(&sayings(), &check, 30, 600), address, kind);
            let counts = &many.total.counts;
            assert_eq!(
                (counts.succeeded(), counts.failed(), counts.iterations()),
                (1_800, 0, 600),
                "{flags:?} {:?}",
                reasons(&many)
            );
            assert_eq!((counts.messages_sent(), counts.messages_received()), (1_800, 1_800), "{flags:?}");
        }
    }
}

/// Responds to `GET /` with a cookie and a body that contain the number of the connection; collects the heads of all
/// other requests.
fn serve_handshakes() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let (address, heads) = (listener.local_addr().expect("an address"), Arc::<Mutex<Vec<String>>>::default());
    let all = heads.clone();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let heads = all.clone();
            std::thread::spawn(move || response_all(stream, number, &heads));
        }
    });
    (address, heads)
}

fn response_all(mut stream: TcpStream, number: usize, heads: &Mutex<Vec<String>>) -> Option<()> {
    let mut input = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if input.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        let response = if head.starts_with("GET / ") {
            let body = format!("{{\"number\":\"n/{number}\"}}");
            let length = body.len();
            format!("HTTP/1.1 200 OK\r\nSet-Cookie: sid=c{number}; Path=/\r\nContent-Length: {length}\r\n\r\n{body}")
        } else {
            heads.lock().expect("no panic").push(head);
            "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned()
        };
        stream.write_all(response.as_bytes()).ok()?;
    }
}

/// The handshake of a WebSocket connection is rendered for its user, with that user's cookies.
#[test]
fn handshakes_are_made_for_their_users() {
    for kind in KINDS {
        let (address, heads) = serve_handshakes();
        let get = Saying {
            flags: Flags { url: Some(format!("http://{address}/")), ..Flags::default() },
            messages: vec![],
            takes: vec![(0, json("$.number"))],
        };
        let mut plan = plan(&[get], &[], 7, 70);
        let flags = Flags { url: Some(format!("ws://{address}/x")), data: Some("x".to_owned()), ..Flags::default() };
        let mut other = flags.plan().expect("a plan").scenarios.remove(0);
        let scenario = &mut plan.scenarios[0];
        let mut step = other.steps.remove(0);
        step.target = 1;
        step.request.headers.push(("X-Number".to_owned(), Vec::new()));
        let at = step.request.headers.len() - 1;
        step.dynamic_parts = Some(Arc::new(DynamicParts {
            path: Some(rendering(&[("/feed/${first}?a=b", TextContext::Url)], &[])),
            headers: vec![(at, rendering(&[("${first}", TextContext::Header)], &[]))],
            ..DynamicParts::default()
        }));
        scenario.steps.push(step);
        scenario.targets.push(other.targets.remove(0));
        scenario.memory.cookies = true;
        let ask = |step| Node::Ask { step, on_failure: OnFailure::GoOn };
        scenario.program.nodes = vec![ask(0), ask(1)];
        let result = run_to(plan, address, vec![(address, None)], kind);
        assert_eq!(result.total.counts.succeeded(), 70, "{:?}", reasons(&result));
        let heads = heads.lock().expect("no panic");
        assert_eq!(heads.len(), 70);
        for head in &*heads {
            let (_, number) = head.split_once("X-Number: n/").expect("the header");
            let (number, _) = number.split_once("\r\n").expect("a line");
            for part in [format!("GET /feed/n%2F{number}?a=b HTTP/1.1\r\n"), format!("\r\nCookie: sid=c{number}\r\n")] {
                assert!(head.contains(&part), "{part} {head}");
            }
            assert!(head.contains("\r\nUpgrade: websocket\r\n") && head.matches("\r\nHost: ").count() == 1, "{head}");
        }
    }
}
