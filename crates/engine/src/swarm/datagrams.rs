//! Datagrams in simulated worlds: a protocol with few IDs, its server, and networks that lose, double and delay.

use std::collections::VecDeque;

use driver::sim::Faults;
use pacing::Random;
use plan::{Flags, Plan};
use protocol::{
    ALONE, About, Connection, ConnectionEvent, Endpoint, ExchangeStart, Handled, Key, KeyKind, Mask, Mistake, Payload,
    Phrase, Protocol, ProtocolConnection, Replies, Request, Resend, Scheme, Scratch, Service, StepFields, Stray, Tag,
    TextHandle, Texts, Units, push_json_text,
};
use std::time::Duration;
use wire::connection::Abandoned;

use super::custom::{drawn_flags, register};
use super::history::{self, History, Setup};
use super::{checked, digest};

/// Seeds of worlds with datagrams, and the number of their parts.
const GRAMS_SEEDS: u64 = 500;
const GRAMS_PARTS: u64 = 10;
/// IDs of a connection: so few that they are used up.
const IDS: u8 = 4;
/// Exchanges of a connection, if all of them have a response.
const EXCHANGES_MAX: u32 = 40;
/// Exchanges with a response that a connection remembers.
const ANSWERED_MAX: usize = 3;
/// The sequence number, the ID and the kind of a message.
const HEAD_BYTES: usize = 6;
// The kinds of responses.
const OK: u8 = 0;
const NO: u8 = 1;
const TRUNCATED: u8 = 2;

static ABOUT: About = About {
    name: "grams",
    title: "Grams",
    help: Phrase::new("Send a datagram", "发送一个数据报"),
    schemes: &[Scheme::datagram("grams", "grams://", 7), Scheme::stream("grams+tcp", "grams+tcp://", 7)],
    keys: &[
        Key::new("text", KeyKind::Text, "The text", "一段文本").needed(),
        Key::new("again", KeyKind::Number { min: 0, max: 9 }, "Times that it is sent again", "重发次数"),
    ],
    main_key: "text",
    failures: &[],
};

pub(super) struct Grams;

impl Protocol for Grams {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn prepare(&self, endpoint: &Endpoint, fields: &StepFields<'_>) -> Result<Box<dyn Request>, Mistake> {
        let most = fields.number("again").unwrap_or(0) as u32;
        Ok(Box::new(Gram { text: fields.text("text"), most, is_datagram: endpoint.is_datagram }))
    }

    fn serve(&self) -> Option<Box<dyn Service>> {
        Some(Box::<Server>::default())
    }
}

struct Gram {
    text: Option<TextHandle>,
    most: u32,
    is_datagram: bool,
}

impl Request for Gram {
    fn connect(&self, number: u64) -> Connection {
        match self.is_datagram {
            // Sockets of one port may follow each other: their numbers differ.
            true => Box::new(Client { seq: (number as u32) << 16, ..Client::default() }),
            false => Box::<Stream>::default(),
        }
    }

    fn connect_stream(&self, _number: u64) -> Connection {
        Box::<Stream>::default()
    }

    fn resend(&self) -> Option<Resend> {
        (self.most > 0).then_some(Resend {
            after: Duration::from_millis(80),
            factor: 2,
            longest: Duration::from_millis(300),
            jitter_percent: 10,
            most: self.most,
        })
    }

    fn write(&self, texts: &Texts<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(self.text.map_or(b"", |text| texts.get(text)));
    }

    fn view(&self, response: &[u8], json: &mut Vec<u8>) {
        push_json_text(response, json);
    }
}

#[derive(Default)]
struct Client {
    seq: u32,
    begun: u32,
    /// The IDs of exchanges without a response, with their sequence numbers: none of them is used again.
    abandoned: Vec<(u32, u8)>,
    answered: VecDeque<(u32, u8)>,
    pending: Option<(u32, u8)>,
    sent: Vec<u8>,
}

impl ProtocolConnection for Client {
    fn room(&self) -> usize {
        usize::from(!self.is_used_up())
    }

    fn begin(&mut self, _: Tag, start: ExchangeStart<'_>, _: Mask, out: &mut Vec<u8>) -> u32 {
        assert!(self.pending.is_none() && !self.is_used_up(), "one exchange at a time, while there are IDs");
        self.seq += 1;
        self.begun += 1;
        let mut ids = (0..IDS).map(|more| ((self.seq % u32::from(IDS)) as u8 + more) % IDS);
        let id = ids.find(|id| self.abandoned.iter().all(|(_, used)| used != id)).expect("an ID is free");
        self.pending = Some((self.seq, id));
        self.sent.clear();
        push_head((self.seq, id), OK, &mut self.sent);
        if let Payload::Rendered(text) = start.what {
            self.sent.extend_from_slice(text);
        }
        out.extend_from_slice(&self.sent);
        self.seq
    }

    fn resend(&mut self, number: u32, out: &mut Vec<u8>) -> bool {
        assert_eq!(self.pending.map(|(seq, _)| seq), Some(number), "only what is in flight is sent again");
        out.extend_from_slice(&self.sent);
        true
    }

    fn handle<'a>(&mut self, input: &'a mut [u8], _: &'a mut Scratch, _: Mask, _: &mut Vec<u8>) -> Handled<'a> {
        if input.is_empty() {
            return Ok((0, ConnectionEvent::NeedMore));
        }
        let taken = input.len();
        let Some((key, kind)) = head_of(input) else { return Ok((taken, ConnectionEvent::Stray(Stray::Unmatched))) };
        if self.pending != Some(key) {
            let stray = match key {
                _ if self.abandoned.contains(&key) => Stray::Late,
                _ if self.answered.contains(&key) => Stray::Duplicate,
                _ => Stray::Unmatched,
            };
            return Ok((taken, ConnectionEvent::Stray(stray)));
        }
        self.pending = None;
        self.answered.push_back(key);
        if self.answered.len() > ANSWERED_MAX {
            self.answered.pop_front();
        }
        Ok((taken, event_of(kind, &input[HEAD_BYTES..])))
    }

    fn abandon(&mut self, number: u32, _: &mut Vec<u8>) -> Abandoned {
        let pending = self.pending.take().expect("only what is in flight is abandoned");
        assert_eq!(pending.0, number);
        self.abandoned.push(pending);
        Abandoned::Kept
    }

    fn is_idle(&self) -> bool {
        self.pending.is_none()
    }

    fn is_used_up(&self) -> bool {
        self.abandoned.len() >= usize::from(IDS) || self.begun >= EXCHANGES_MAX
    }
}

/// A connection over a stream: each message has its length in front.
#[derive(Default)]
struct Stream {
    units: Units,
    is_pending: bool,
}

impl ProtocolConnection for Stream {
    fn begin(&mut self, _: Tag, start: ExchangeStart<'_>, _: Mask, out: &mut Vec<u8>) -> u32 {
        let mut message = Vec::new();
        push_head((1, 1), OK, &mut message);
        if let Payload::Rendered(text) = start.what {
            message.extend_from_slice(text);
        }
        push_framed(&message, out);
        self.is_pending = true;
        1
    }

    fn handle<'a>(&mut self, input: &'a mut [u8], scratch: &'a mut Scratch, _: Mask, _: &mut Vec<u8>) -> Handled<'a> {
        let (taken, unit) = self.units.next(input, &mut scratch.custom, |bytes| Ok(framed_length(bytes)))?;
        let Some(unit) = unit else { return Ok((taken, ConnectionEvent::NeedMore)) };
        self.is_pending = false;
        let (_, kind) = head_of(&unit[2..]).expect("the server is ours");
        Ok((taken, event_of(kind, &unit[2 + HEAD_BYTES..])))
    }

    fn is_idle(&self) -> bool {
        !self.is_pending && self.units.begun().is_empty()
    }
}

fn event_of(kind: u8, bytes: &[u8]) -> ConnectionEvent<'_> {
    match kind {
        TRUNCATED => ConnectionEvent::OverStream { tag: ALONE },
        OK => ConnectionEvent::Response { tag: ALONE, bytes, status: "OK", is_success: true },
        _ => ConnectionEvent::Response { tag: ALONE, bytes, status: "NO", is_success: false },
    }
}

fn push_head((seq, id): (u32, u8), kind: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&seq.to_be_bytes());
    out.extend_from_slice(&[id, kind]);
}

fn head_of(bytes: &[u8]) -> Option<((u32, u8), u8)> {
    let [a, b, c, d, id, kind, ..] = *bytes else { return None };
    Some(((u32::from_be_bytes([a, b, c, d]), id), kind))
}

fn push_framed(message: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(message.len() as u16).to_be_bytes());
    out.extend_from_slice(message);
}

fn framed_length(bytes: &[u8]) -> Option<usize> {
    let [high, low, ..] = *bytes else { return None };
    Some(2 + usize::from(u16::from_be_bytes([high, low])))
}

/// Each text is sent back in capitals; `big` does not fit into a datagram, `refuse` gets a no, `drop` nothing, `twice`
/// two replies, and before the reply to `forge` comes a forged one.
#[derive(Default)]
struct Server(std::collections::BTreeMap<u64, Units>);

fn reply_to(message: &[u8], is_datagram: bool, out: &mut Vec<u8>) {
    let Some((key, _)) = head_of(message) else { return };
    let text = &message[HEAD_BYTES..];
    let kind = match text {
        b"big" if is_datagram => TRUNCATED,
        b"refuse" => NO,
        _ => OK,
    };
    push_head(key, kind, out);
    if kind != TRUNCATED {
        out.extend_from_slice(&text.to_ascii_uppercase());
    }
}

impl Service for Server {
    fn handle_datagram(&mut self, peer: u64, bytes: &[u8], replies: &mut Replies) {
        replies.requests += 1;
        let Some((key, _)) = head_of(bytes) else { return };
        match &bytes[HEAD_BYTES..] {
            b"drop" => return,
            b"twice" => reply_to(bytes, true, replies.datagram(peer)),
            b"forge" => push_head((!key.0, key.1), OK, replies.datagram(peer)),
            _ => {}
        }
        reply_to(bytes, true, replies.datagram(peer));
    }

    fn handle(&mut self, connection: u64, mut bytes: &[u8], replies: &mut Replies) {
        let (units, mut lent) = (self.0.entry(connection).or_default(), Vec::new());
        while let Ok((taken, Some(unit))) = units.next(bytes, &mut lent, |bytes| Ok(framed_length(bytes))) {
            replies.requests += 1;
            let mut reply = Vec::new();
            reply_to(&unit[2..], false, &mut reply);
            push_framed(&reply, replies.buffer(connection));
            bytes = &bytes[taken..];
        }
    }

    fn close(&mut self, connection: u64) {
        self.0.remove(&connection);
    }
}

fn plan(text: &str, again: u64, flags: Flags) -> Plan {
    register();
    let custom = vec![("grams-text", vec![text.to_owned()]), ("grams-again", vec![again.to_string()])];
    let custom = plan::CustomFlags(custom);
    Flags { url: Some("grams://10.0.0.1".to_owned()), custom, ..flags }.plan().expect("a good plan")
}

fn drawn(random: &mut Random) -> Plan {
    let texts = ["hello", "hello", "hello", "big", "twice", "forge"];
    let text = texts[random.below(texts.len() as u64) as usize];
    let check = format!("$ == \"{}\"", text.to_uppercase());
    let flags = drawn_flags(random, &check);
    let timeout = Some(format!("{}ms", random.between(20, 2_000)));
    // Every response is checked.
    plan(text, random.below(5), Flags { timeout, expect_json: vec![check], ..flags })
}

/// A plan for one of the rooms of the program.
fn drawn_of_room(random: &mut Random) -> Plan {
    let Plan { mut scenarios, .. } = drawn(random);
    let load = scenarios.remove(0).load;
    let is_radius = random.chance(500_000);
    let mut pick = |all: &[&'static str]| all[random.below(all.len() as u64) as usize].to_owned();
    let resend = vec![pick(&["off", "60ms", "200ms"])];
    let timeout = Some(pick(&["40ms", "500ms", "2s"]));
    let (url, custom) = if is_radius {
        let users = ["anna", "anna", "reject1", "drop", "twice", "forge"];
        let custom = vec![
            ("radius-user", vec![pick(&users)]),
            ("radius-password", vec!["secret".to_owned()]),
            ("radius-secret", vec!["testing123".to_owned()]),
            ("radius-method", vec![pick(&["pap", "chap"])]),
            ("radius-resend", resend),
        ];
        ("radius://10.0.0.1:80", custom)
    } else {
        let names = ["www.example.org", "www.example.org", "big.example.org", "drop.x", "twice.x", "flip.x", "nx.x"];
        let custom = vec![
            ("dns-name", vec![pick(&names)]),
            ("dns-type", vec![pick(&["A", "TXT", "SOA"])]),
            ("dns-resend", resend),
        ];
        ("dns://10.0.0.1:80", custom)
    };
    let custom = plan::CustomFlags(custom);
    let flags =
        Flags { url: Some(url.to_owned()), custom, timeout, requests: Some("1".to_owned()), ..Flags::default() };
    let mut plan = flags.plan().expect("a good plan");
    plan.scenarios[0].load = load;
    plan
}

fn setup(seed: u64) -> Setup {
    let drawn_plan = drawn(&mut Random::for_stream(seed, 13));
    let setup = Setup::from_seed(seed);
    Setup { plan: drawn_plan, protocol: Some(ABOUT.name), changes: Vec::new(), ..setup }
}

#[test]
fn many_seeds_of_datagrams_hold() {
    for seed in claims::seeds::for_this_run(GRAMS_SEEDS, GRAMS_PARTS) {
        let history = checked(setup(seed), false).unwrap_or_else(|found| panic!("{found}"));
        // A response that is matched wrongly has the text of another kind of request, or none.
        let checks = history.total.counts.failures().filter(|(failure, _)| *failure == metrics::Failure::Check).count();
        assert_eq!(checks, 0, "seed {seed}");
        if seed % 4 == 0 {
            let again = checked(setup(seed), false).unwrap_or_else(|found| panic!("{found}"));
            assert_eq!(digest(&history), digest(&again), "seed {seed}");
        }
    }
}

#[test]
fn many_seeds_of_rooms_hold() {
    register();
    for seed in claims::seeds::for_this_run(GRAMS_SEEDS, GRAMS_PARTS) {
        let plan = drawn_of_room(&mut Random::for_stream(seed, 14));
        let protocol = plan.scenarios[0].target().custom.as_ref().map(|endpoint| endpoint.protocol.as_str());
        let protocol = ["dns", "radius"].into_iter().find(|name| protocol == Some(name));
        // The server refuses some, and drops some, whatever the network does.
        let Setup { faults, freezes, stop_at, threads, .. } = Setup::from_seed(seed);
        let faults = Faults { early_wake: faults.early_wake.max(1), ..faults };
        let setup = Setup { plan, protocol, faults, freezes, stop_at, threads, ..Setup::calm(seed) };
        let history = checked(setup, false).unwrap_or_else(|found| panic!("{found}"));
        let counts = &history.total.counts;
        // Where the one behind a forged response is lost, that the forged one came is all that is known.
        let is_forged = format!("{:?}", history.scenario().steps[0].messaging).contains("102, 111, 114, 103, 101");
        let failures: Vec<_> = counts.failures().collect();
        let is_broken = failures.iter().any(|(failure, _)| matches!(failure, metrics::Failure::Custom(_)));
        assert!(is_forged || !is_broken, "seed {seed}: the responses of our servers are valid: {failures:?}");
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
fn what_comes_beside_responses_is_counted_and_never_taken() {
    let counts = |text: &str| calm(plan(text, 0, requests("90"))).total.counts;
    let of = |counts: &metrics::Counts| {
        [counts.succeeded(), counts.late_responses(), counts.duplicate_responses(), counts.unmatched_datagrams()]
    };
    assert_eq!(of(&counts("hello")), [90, 0, 0, 0]);
    // The second of the last request of each connection may come after the end.
    let [succeeded, late, twice, unmatched] = of(&counts("twice"));
    assert!(matches!((succeeded, late, twice, unmatched), (90, 0, 87..=90, 0)), "{twice} came twice");
    let [succeeded, late, twice, unmatched] = of(&counts("forge"));
    assert!(matches!((succeeded, late, twice, unmatched), (90, 0, 0, 87..=90)), "{unmatched} match nothing");
}

#[test]
fn what_does_not_fit_goes_on_over_a_stream() {
    let history = calm(plan("big", 0, requests("60")));
    let counts = &history.total.counts;
    assert_eq!((counts.succeeded(), counts.over_stream(), counts.sent()), (60, 60, 60));
    // A socket for each user, and a connection for each response.
    assert_eq!(counts.connections_established(), 3 + 60);
    assert_eq!(history.requests_served, 120);
}

#[test]
fn a_socket_whose_responses_never_fit_is_replaced() {
    let counts = calm(plan("big", 0, requests("300"))).total.counts;
    assert_eq!((counts.succeeded(), counts.over_stream(), counts.sent()), (300, 300, 300));
    // Some hundred requests of each of three users, forty on each socket.
    assert!((9..=12).contains(&(counts.connections_established() - 300)), "{}", counts.connections_established());
}

#[test]
fn a_request_without_a_response_is_sent_again_and_times_out() {
    let flags = Flags { timeout: Some("1s".to_owned()), ..requests("12") };
    let history = calm(plan("drop", 3, flags.clone()));
    let counts = &history.total.counts;
    assert_eq!(counts.failures().collect::<Vec<_>>(), [(metrics::Failure::Timeout, 12)]);
    assert_eq!((counts.sent(), counts.resent(), history.requests_served), (12, 36, 48));
    // Four requests of each of three users: their IDs are used up.
    assert_eq!(counts.connections_established(), 3);
    let more = calm(plan("drop", 0, Flags { requests: Some("27".to_owned()), ..flags }));
    assert_eq!(more.total.counts.connections_established(), 9, "nine of each user, four on each socket");
}

#[test]
fn where_nothing_listens_a_run_ends_early() {
    register();
    let flags = Flags { duration: Some("1h".to_owned()), requests: None, ..requests("1") };
    let mut plan = plan("hello", 0, flags);
    plan.scenarios[0].targets[0].port = 81;
    let setup = Setup { plan, protocol: None, ..Setup::calm(5) };
    let history = history::run(setup, false).unwrap_or_else(|found| panic!("{found}"));
    let counts = &history.total.counts;
    assert_eq!(counts.failures().collect::<Vec<_>>(), [(metrics::Failure::ConnectRefused, 3)]);
    assert_eq!(counts.refused_datagrams(), 3);
}
