//! Messaging sessions that end with their steps, and awaited messages, over sockets: as the peer sees them.

#[macro_use]
extern crate claims;

#[macro_use]
mod each_driver;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use claims::wait_for;
use driver::{DriverSelection, Kind};
use engine::{DataSources, RunOptions, RunResult, Running, StopHandle};
use metrics::{Class, Failure, Measure, SeriesId};
use plan::{Flags, Node, OnFailure, Plan, Program, Transaction};
use target::{ServeOptions, Server};
use wire::websocket::{
    Kind as MessageKind, Role, Scratch, Session, SessionEvent, Terms, push_message, read_request, render_response,
};

/// Gap between a message that is not awaited and the next action: a response is never earlier.
const GAP: Duration = Duration::from_millis(30);

/// A session as its server saw it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    messages: u64,
    /// Whether it ended with a close frame, and not just with the connection.
    in_order: bool,
}

/// Responds to "ask N" with N unrelated messages and the awaited one; with a gap in each message for "slow".
fn serve() -> (SocketAddr, Receiver<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (notify, reported) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let notify = notify.clone();
            std::thread::spawn(move || converse(stream, &notify));
        }
    });
    (address, reported)
}

fn converse(mut stream: TcpStream, notify: &Sender<Seen>) {
    let (mut input, mut chunk) = (Vec::new(), [0; 4096]);
    let requested = loop {
        match stream.read(&mut chunk) {
            Ok(count) if count > 0 => input.extend_from_slice(&chunk[..count]),
            _ => return,
        }
        if let Some(requested) = read_request(&input).expect("a good handshake") {
            break requested;
        }
    };
    let mut out = Vec::new();
    render_response(&requested.key, None, None, &mut out);
    let mut input = input.split_off(requested.length);
    let terms = Terms { role: Role::Server, deflate: None, message_bytes_max: 1 << 20, kept_bytes_max: 1 << 20 };
    let (mut session, mut scratch) = (Session::new(terms), Scratch::default());
    let mut seen = Seen { messages: 0, in_order: false };
    loop {
        let mut from = 0;
        while !seen.in_order {
            let (taken, received) =
                session.handle(&mut input[from..], &mut scratch, None, &mut out).expect("good frames");
            from += taken;
            match received {
                SessionEvent::Message { bytes, .. } => {
                    seen.messages += 1;
                    let text = String::from_utf8_lossy(bytes).into_owned();
                    response(&text, &mut stream, &mut out);
                }
                SessionEvent::Close { .. } => seen.in_order = true,
                SessionEvent::NeedMore => break,
                _ => {}
            }
        }
        let is_sent = stream.write_all(&std::mem::take(&mut out)).is_ok();
        if seen.in_order || !is_sent {
            break;
        }
        input.clear();
        match stream.read(&mut chunk) {
            Ok(count) if count > 0 => input.extend_from_slice(&chunk[..count]),
            _ => break,
        }
    }
    // A test that has ended no longer receives.
    let _ = notify.send(seen);
}

fn response(text: &str, stream: &mut TcpStream, out: &mut Vec<u8>) {
    let count = text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    for _ in 0..count {
        push_message(MessageKind::Text, false, None, b"noise", out);
    }
    if text.contains("slow") {
        // The first part of the message arrives before the last is there.
        let _ = stream.write_all(&std::mem::take(out));
        std::thread::sleep(GAP);
    }
    if !text.contains("never") {
        push_message(MessageKind::Text, false, None, b"the answer", out);
    }
}

fn flags(address: SocketAddr, message: &str, users: u64, iterations: u64) -> Flags {
    Flags {
        url: Some(format!("ws://{address}/")),
        data: Some(message.to_owned()),
        connections: Some(users.to_string()),
        requests: Some(iterations.to_string()),
        grace: Some("1h".to_owned()),
        ..Flags::default()
    }
}

fn plan(flags: Flags, nodes: Vec<Node>) -> Plan {
    let mut plan = flags.plan().expect("a good plan");
    let transactions = vec![Transaction { name: "all".to_owned(), has_pauses: true, deadline: None }];
    plan.scenarios[0].program = Program { seed: 3, nodes, transactions, ..Program::default() };
    plan
}

/// Adds a second step, at another target.
fn with(mut plan: Plan, other: Flags) -> Plan {
    let other = other.plan().expect("a good plan").scenarios.remove(0);
    let first = &mut plan.scenarios[0];
    let before = first.targets.len();
    first.steps.extend(other.steps.into_iter().map(|step| plan::Step { target: step.target + before, ..step }));
    first.targets.extend(other.targets);
    plan
}

fn run(plan: Plan, kind: Kind, threads: usize) -> RunResult {
    let addresses: Vec<SocketAddr> =
        plan.scenarios[0].targets.iter().map(|target| target.place().parse().expect("an address")).collect();
    let options = RunOptions {
        address: addresses[0],
        tls: None,
        others: addresses[1..].iter().map(|address| (*address, None)).collect(),
        names: Vec::new(),
        threads,
        pins_threads: false,
        driver: DriverSelection { kind, was_requested: true, refusal: None },
        log_config: engine::RequestLogConfig::default(),
        data_sources: DataSources::default(),
        backend: None,
    };
    Running::start(Arc::new(plan), options, &StopHandle::default()).expect("a run").finish().expect("a result")
}

fn ask(step: usize) -> Node {
    Node::Ask { step, on_failure: OnFailure::Next }
}

fn messaging(nodes: Vec<Node>) -> Node {
    Node::Messaging { target: 0, nodes }
}

/// `count` sessions as they ended, in any order.
fn ended(reported: &Receiver<Seen>, count: usize) -> Vec<Seen> {
    let mut seen = Vec::new();
    wait_for("the end of all conversations", || {
        seen.extend(reported.try_iter());
        seen.len() >= count
    });
    seen.sort();
    seen
}

fn all_of(messages: u64, count: usize) -> Vec<Seen> {
    std::iter::repeat_with(|| Seen { messages, in_order: true }).take(count).collect()
}

/// One message after the other, each once, on a connection that ends with them.
fn a_talk_has_a_connection_of_its_own(kind: Kind) {
    let transaction = |nodes| Node::Transaction { number: 0, nodes };
    let repeat = |nodes| Node::Repeat { least: 2, most: 2, nodes };
    let three = || vec![ask(0), ask(0), ask(0)];
    for (threads, users, nodes, conversations, messages) in [
        (1, 3, vec![messaging(three())], 60, 3),
        (3, 3, vec![messaging(three())], 60, 3),
        (1, 1, vec![messaging(vec![ask(0)])], 60, 1),
        (2, 7, vec![messaging(vec![ask(0)]), messaging(vec![ask(0)])], 120, 1),
        (2, 3, vec![repeat(vec![messaging(three())])], 120, 3),
        (1, 3, vec![transaction(vec![messaging(three())])], 60, 3),
        (1, 3, vec![messaging(vec![transaction(vec![repeat(vec![ask(0)])])])], 60, 2),
        (1, 3, vec![Node::Shuffle(vec![messaging(vec![ask(0)]), messaging(vec![ask(0)])])], 120, 1),
        // A user with a connection outside the session has another one inside.
        (1, 3, vec![ask(0), messaging(vec![ask(0)])], 120, 1),
        // Without sessions, one connection for each user.
        (1, 3, vec![ask(0)], 3, 20),
    ] {
        let (address, reported) = serve();
        let result = run(plan(flags(address, "ask 0", users, 60), nodes.clone()), kind, threads);
        let counts = &result.total.counts;
        let responses = conversations as u64 * messages;
        assert_eq!((counts.succeeded(), counts.failed()), (responses, 0), "{nodes:?}");
        assert_eq!(counts.connections_established(), conversations as u64, "{nodes:?}");
        if users == 3 && messages == 20 {
            let all: Vec<_> = ended(&reported, conversations);
            assert_eq!(all.iter().map(|seen| seen.messages).sum::<u64>(), 60);
            continue;
        }
        assert_eq!(ended(&reported, conversations), all_of(messages, conversations), "{nodes:?}");
    }
}

/// A failure ends the iteration within a session: the peer receives a close, and the next iteration has a new session.
fn a_talk_that_fails_ends_in_order(kind: Kind) {
    for (on_failure, messages, failed) in
        [(OnFailure::Next, 1, 60), (OnFailure::Retry(2), 3, 180), (OnFailure::GoOn, 2, 120)]
    {
        let (address, reported) = serve();
        let expect_body = vec!["something else".to_owned()];
        let node = Node::Ask { step: 0, on_failure };
        let nodes = vec![messaging(vec![node.clone(), node])];
        let result = run(plan(Flags { expect_body, ..flags(address, "ask 0", 3, 60) }, nodes), kind, 2);
        let counts = &result.total.counts;
        assert_eq!((counts.failed(), counts.connections_established()), (failed, 60), "{on_failure:?}");
        assert_eq!(ended(&reported, 60), all_of(messages, 60), "{on_failure:?}");
    }
}

/// At a rate, users only run iterations: each iteration has its own session all the same.
fn a_talk_at_a_rate(kind: Kind) {
    let (address, reported) = serve();
    let rated =
        Flags { rate: Some("200".to_owned()), max_lateness: Some("1h".to_owned()), ..flags(address, "ask 0", 5, 100) };
    let result = run(plan(rated, vec![messaging(vec![ask(0), ask(0)])]), kind, 2);
    let opened = result.total.counts.connections_established();
    assert_eq!(result.total.counts.succeeded(), 200);
    // All five open one beforehand, and some of them may have nothing to do.
    let mut all = ended(&reported, opened as usize);
    all.retain(|seen| seen.messages > 0);
    assert_eq!(all, all_of(2, 100));
    assert!((100..105).contains(&opened), "{opened}");
}

/// Steps of a user outside the session keep their connection.
fn a_talk_beside_requests(kind: Kind) {
    let server = Server::start(&ServeOptions::plain("127.0.0.1:0".parse().expect("an address"), 1, kind));
    let server = server.expect("a server");
    let (address, reported) = serve();
    let nodes = vec![ask(1), messaging(vec![ask(0), ask(0)]), ask(1)];
    let web = Flags { url: Some(format!("http://{}/", server.address())), ..Flags::default() };
    let result = run(with(plan(flags(address, "ask 0", 3, 60), nodes), web), kind, 1);
    assert_eq!([0, 1].map(|step| result.total.count_of(SeriesId::step(step), Class::Succeeded)), [120, 120]);
    assert_eq!(result.total.counts.connections_established(), 60 + 3);
    assert_eq!(ended(&reported, 60), all_of(2, 60));
    server.stop();
}

fn awaiting(flags: Flags, awaits: bool) -> Plan {
    let mut plan = plan(flags, vec![Node::Ask { step: 0, on_failure: OnFailure::GoOn }]);
    plan.scenarios[0].steps[0].messaging.as_mut().expect("messaging").awaits = awaits;
    plan
}

/// Messages that are not the awaited one are counted and skipped.
fn what_is_awaited_is_the_response(kind: Kind) {
    for (message, noise) in [("ask 0", 0), ("ask 1", 1), ("ask 5", 5), ("ask 300", 300), ("ask 2 slow", 2)] {
        for awaits in [true, false] {
            let (address, _reported) = serve();
            let expect_body = vec!["answer".to_owned()];
            let users = Flags { expect_body, ..flags(address, message, 2, 30) };
            let result = run(awaiting(users, awaits), kind, 1);
            let (counts, reported) = (&result.total.counts, format!("{message}, {awaits}"));
            if !awaits {
                assert!(noise == 0 || counts.failed() > 0, "{reported}");
                continue;
            }
            assert_eq!((counts.succeeded(), counts.failed()), (30, 0), "{reported}");
            assert_eq!(
                (counts.messages_received(), counts.unsolicited_messages()),
                (30 * (noise + 1), 0),
                "{reported}"
            );
            if message.contains("slow") {
                let timings = result.total.class(Class::Succeeded);
                let least = [Measure::FirstByte, Measure::Service].map(|measure| timings.by_measure(measure).min());
                let gap = GAP.as_nanos() as u64;
                assert!(least.iter().all(|least| *least >= Some(gap - gap / 50)), "{least:?}");
            }
        }
    }
}

/// It never arrives: the timeout of the exchange ends the waiting. `simulated` tests when.
fn what_never_comes_is_a_timeout(kind: Kind) {
    let (address, _reported) = serve();
    let (expect_body, timeout) = (vec!["answer".to_owned()], Some("200ms".to_owned()));
    let users = Flags { expect_body, timeout, ..flags(address, "ask 3 never", 2, 6) };
    let result = run(awaiting(users, true), kind, 1);
    assert_eq!(result.total.failures_of(SeriesId::step(0)).collect::<Vec<_>>(), [(Failure::Timeout, 6)]);
    // Three each, unless the time was over before they could be read.
    let received = result.total.counts.messages_received();
    assert!(received <= 18, "{received} messages were received");
}

/// The same on a plain stream of bytes, whose responses end as the step defines.
fn what_is_awaited_on_a_plain_connection(kind: Kind) {
    for (message, messages, slow) in [("yes", 1, false), ("no|yes", 2, false), ("no|no|no|no|yes", 5, true)] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || echo_in_pieces(stream, slow));
            }
        });
        let mut users = flags(address, &format!("{message}|;"), 2, 30);
        users.url = Some(format!("tcp://{address}"));
        (users.until, users.expect_body) = (Some("|".to_owned()), vec!["yes".to_owned()]);
        let result = run(awaiting(users, true), kind, 1);
        let counts = &result.total.counts;
        assert_eq!((counts.succeeded(), counts.failed(), counts.unsolicited()), (30, 0, 0), "{message}");
        assert_eq!(counts.messages_received(), 30 * messages, "{message}");
    }
}

/// Echoes input up to a semicolon, at once or byte by byte.
fn echo_in_pieces(stream: TcpStream, slow: bool) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let (mut input, mut output) = (BufReader::new(stream.try_clone().ok()?), stream);
    loop {
        let mut said = Vec::new();
        if input.read_until(b';', &mut said).ok()? == 0 {
            return None;
        }
        said.pop();
        for piece in said.chunks(if slow { 1 } else { said.len() }) {
            output.write_all(piece).ok()?;
        }
    }
}

on_each_driver! {
    a_talk_has_a_connection_of_its_own
    a_talk_that_fails_ends_in_order
    a_talk_at_a_rate
    a_talk_beside_requests
    what_is_awaited_is_the_response
    what_never_comes_is_a_timeout
    what_is_awaited_on_a_plain_connection
}
