//! Custom protocols in simulated worlds: lines with a login, and the server of them.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use metrics::Failure;
use pacing::Random;
use plan::{Flags, Plan};
use protocol::{
    ALONE, About, Connection, ConnectionEvent, Endpoint, Fault, Handled, IdleState, Key, KeyKind, Mask, Mistake,
    OwnFailure, Phrase, Protocol, ProtocolConnection, Replies, Request, Scheme, Scratch, Service, StepFields,
    TextHandle, Texts, Units, push_json_text,
};

use super::datagrams::Grams;
use super::history::{self, History, Setup};
use super::{checked, digest};

/// Seeds of worlds with lines, and the number of their parts.
const LINES_SEEDS: u64 = 400;
const LINES_PARTS: u64 = 10;
const LINE_BYTES_MAX: usize = 64 * 1024;
/// The positions of the failures.
const LOGIN: u8 = 0;
const TOO_LONG: u8 = 1;

const NOWHERE: Phrase = Phrase::new("see the test", "参见测试");

static ABOUT: About = About {
    name: "lines",
    title: "Lines",
    help: Phrase::new("Send a line", "发送一行"),
    schemes: &[Scheme::stream("lines", "lines://", 7)],
    keys: &[Key::new("line", KeyKind::Text, "The line", "一行文本").needed()],
    main_key: "line",
    failures: &[
        OwnFailure::connecting("lines-login", Phrase::new("the login was refused", "登录被拒绝"), NOWHERE),
        OwnFailure::exchanging("lines-length", Phrase::new("a line is too long", "一行过长"), NOWHERE),
    ],
};

struct Lines;

impl Protocol for Lines {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prepare(&self, endpoint: &Endpoint, fields: &StepFields<'_>) -> Result<Box<dyn Request>, Mistake> {
        Ok(Box::new(Line { password: endpoint.password.clone(), line: fields.text("line") }))
    }

    fn serve(&self) -> Option<Box<dyn Service>> {
        Some(Box::<Server>::default())
    }
}

struct Line {
    password: Option<String>,
    line: Option<TextHandle>,
}

impl Request for Line {
    fn connect(&self, _number: u64) -> Connection {
        Box::new(Client { password: self.password.clone(), is_ready: false, units: Units::default() })
    }

    fn resume(&self, _idle: IdleState) -> Connection {
        Box::new(Client { password: None, is_ready: true, units: Units::default() })
    }

    fn write(&self, texts: &Texts<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(self.line.map_or(b"", |line| texts.get(line)));
        out.push(b'\n');
    }

    fn view(&self, response: &[u8], json: &mut Vec<u8>) {
        push_json_text(response, json);
    }
}

struct Client {
    password: Option<String>,
    is_ready: bool,
    units: Units,
}

impl ProtocolConnection for Client {
    fn start(&mut self, out: &mut Vec<u8>) {
        match &self.password {
            Some(password) => out.extend_from_slice(format!("login {password}\n").as_bytes()),
            None => self.is_ready = true,
        }
    }

    fn room(&self) -> usize {
        usize::from(self.is_ready)
    }

    fn handle<'a>(&mut self, input: &'a mut [u8], scratch: &'a mut Scratch, _: Mask, _: &mut Vec<u8>) -> Handled<'a> {
        let (taken, line) = self.units.next(input, &mut scratch.custom, length)?;
        let Some(bytes) = line.map(|line| &line[..line.len() - 1]) else {
            return Ok((taken, ConnectionEvent::NeedMore));
        };
        if !self.is_ready {
            self.is_ready = true;
            return if bytes == b"welcome" { Ok((taken, ConnectionEvent::Ready)) } else { Err(Fault::Custom(LOGIN)) };
        }
        let is_success = bytes != b"no";
        let status = if is_success { "OK" } else { "NO" };
        Ok((taken, ConnectionEvent::Response { tag: ALONE, bytes, status, is_success }))
    }

    fn is_idle(&self) -> bool {
        self.units.begun().is_empty()
    }

    fn park(&self) -> Option<IdleState> {
        (self.is_ready && self.is_idle()).then(IdleState::default)
    }
}

fn length(bytes: &[u8]) -> Result<Option<usize>, Fault> {
    match memchr::memchr(b'\n', bytes) {
        None if bytes.len() > LINE_BYTES_MAX => Err(Fault::Custom(TOO_LONG)),
        at => Ok(at.map(|at| at + 1)),
    }
}

/// Each line is sent back in capitals; `long` gets a line that is too long, `refuse` a `no`.
#[derive(Default)]
struct Server(BTreeMap<u64, Units>);

impl Service for Server {
    fn handle(&mut self, connection: u64, mut bytes: &[u8], replies: &mut Replies) {
        let (units, mut lent) = (self.0.entry(connection).or_default(), Vec::new());
        while let Ok((taken, Some(line))) = units.next(bytes, &mut lent, length) {
            replies.requests += u64::from(!line.starts_with(b"login "));
            let out = replies.buffer(connection);
            match line {
                b"login secret\n" => out.extend_from_slice(b"welcome\n"),
                b"long\n" => out.extend_from_slice(&vec![b'x'; LINE_BYTES_MAX * 2]),
                b"refuse\n" => out.extend_from_slice(b"no\n"),
                line if line.starts_with(b"login ") => out.extend_from_slice(b"go away\n"),
                line => out.extend_from_slice(&line.to_ascii_uppercase()),
            }
            bytes = &bytes[taken..];
        }
    }

    fn close(&mut self, connection: u64) {
        self.0.remove(&connection);
    }
}

/// Registers the protocols of these worlds, and those of the program.
pub(super) fn register() {
    static TABLE: OnceLock<Vec<&dyn Protocol>> = OnceLock::new();
    protocol::register(TABLE.get_or_init(|| {
        let own: [&dyn Protocol; 2] = [&Lines, &Grams];
        own.into_iter().chain(protocols::ROOMS.iter().copied()).collect()
    }));
}

fn plan(url: &str, line: &str, flags: Flags) -> Plan {
    register();
    let custom = plan::CustomFlags(vec![("lines-line", vec![line.to_owned()])]);
    Flags { url: Some(url.to_owned()), custom, ..flags }.plan().expect("a good plan")
}

/// A load on a custom protocol, whose responses may be checked by this condition.
pub(super) fn drawn_flags(random: &mut Random, check: &str) -> Flags {
    let (is_open, is_timed) = (random.chance(400_000), random.chance(500_000));
    Flags {
        connections: Some(random.between(1, 12).to_string()),
        rate: is_open.then(|| format!("{}/s", random.between(20, 400))),
        duration: (is_open || is_timed).then(|| format!("{}ms", random.between(200, 3_000))),
        requests: (!is_open && !is_timed).then(|| random.between(1, 300).to_string()),
        timeout: Some(format!("{}ms", random.between(50, 2_000))),
        connect_timeout: Some(format!("{}ms", random.between(50, 2_000))),
        no_keepalive: random.chance(250_000),
        warmup: random.chance(200_000).then(|| "300ms".to_owned()),
        expect_json: random.chance(300_000).then(|| check.to_owned()).into_iter().collect(),
        interval: Some(format!("{}ms", random.between(100, 700))),
        ..Flags::default()
    }
}

fn drawn(random: &mut Random) -> Plan {
    let flags = drawn_flags(random, "$ == \"HELLO\"");
    let login = if random.chance(600_000) { "user:secret@" } else { "" };
    plan(&format!("lines://{login}10.0.0.1"), "hello", flags)
}

fn setup(seed: u64) -> Setup {
    let drawn_plan = drawn(&mut Random::for_stream(seed, 12));
    let setup = Setup::from_seed(seed);
    Setup { plan: drawn_plan, protocol: Some(ABOUT.name), changes: Vec::new(), ..setup }
}

#[test]
fn many_seeds_of_lines_hold() {
    for seed in claims::seeds::for_this_run(LINES_SEEDS, LINES_PARTS) {
        let history = checked(setup(seed), false).unwrap_or_else(|found| panic!("{found}"));
        if seed % 4 == 0 {
            let again = checked(setup(seed), false).unwrap_or_else(|found| panic!("{found}"));
            assert_eq!(digest(&history), digest(&again), "seed {seed}");
        }
    }
}

fn calm(plan: Plan) -> History {
    let setup = Setup { plan, protocol: Some(ABOUT.name), ..Setup::calm(5) };
    history::run(setup, false).unwrap_or_else(|found| panic!("{found}"))
}

fn requests(count: &str) -> Flags {
    Flags { connections: Some("3".to_owned()), requests: Some(count.to_owned()), ..Flags::default() }
}

#[test]
fn statuses_and_messages_are_counted() {
    let history = calm(plan("lines://user:secret@10.0.0.1", "hello", requests("90")));
    let counts = &history.total.counts;
    assert_eq!((counts.succeeded(), counts.messages_sent(), counts.messages_received()), (90, 90, 90));
    assert_eq!(counts.status_words().collect::<Vec<_>>(), [("OK", 90)]);
    let history = calm(plan("lines://10.0.0.1", "refuse", requests("30")));
    let counts = &history.total.counts;
    assert_eq!(counts.failures().collect::<Vec<_>>(), [(Failure::Status, 30)]);
    assert_eq!(counts.status_words().collect::<Vec<_>>(), [("NO", 30)]);
    let wanted = Flags { expect_status: Some("NO".to_owned()), ..requests("30") };
    assert_eq!(calm(plan("lines://10.0.0.1", "refuse", wanted)).total.counts.succeeded(), 30);
}

#[test]
fn what_the_peer_breaks_has_a_name() {
    let history = calm(plan("lines://user:wrong@10.0.0.1", "hello", requests("20")));
    let names = |history: &History| -> Vec<(&'static str, u64)> {
        history.total.counts.failures().map(|(failure, count)| (failure.name(), count)).collect()
    };
    assert_eq!(names(&history)[0].0, "lines-login");
    let history = calm(plan("lines://10.0.0.1", "long", requests("20")));
    assert_eq!(names(&history), [("lines-length", 20)]);
    let checked = Flags { expect_json: vec!["$ == \"other\"".to_owned()], ..requests("20") };
    assert_eq!(names(&calm(plan("lines://10.0.0.1", "hello", checked))), [("check", 20)]);
}

#[test]
fn idle_connections_cost_no_memory_of_their_own() {
    register();
    let protocol = protocol::by_name(ABOUT.name).expect("it is registered");
    let request = plan::CustomRequest { only_connects: true, ..plan::CustomRequest::default() };
    let prepared = protocol.prepare(&Endpoint::default(), &StepFields::new(&request)).expect("nothing is sent");
    let mut line = prepared.connect(1);
    line.start(&mut Vec::new());
    assert!(line.park().is_some() && prepared.resume(IdleState::default()).room() == 1);
}
