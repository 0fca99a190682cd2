//! The plan that a seed determines, and its changes.

use std::sync::Arc;
use std::time::Duration;

use super::variables::OnlyVariables;
use pacing::change::ChangeKind;
use pacing::open::{self, Rate};
use pacing::{LevelStage, Nanos, Random};
use plan::{
    Choice, DynamicParts, Flags, Load, Node, OnFailure, Pattern, Plan, Program, Rendering, Retry, Schema, Step,
    TextContext, Think, Transaction, UserShape,
};

/// Paths that are answered well and soon.
const CALM_PATHS: [&str; 7] = ["/", "/", "/bytes/5000", "/chunked/700", "/delay/3", "/close", "/echo"];
const PATHS: [&str; 10] =
    ["/", "/", "/bytes/3000", "/chunked/900", "/delay/20", "/close", "/echo", "/drop", "/status/503", "/bytes/0"];

/// Changes for a load, each pause with its end.
pub(super) fn changes(random: &mut Random, load: &Load) -> Vec<(Nanos, ChangeKind)> {
    let mut changes = Vec::new();
    let mut at = Nanos(random.below(400_000_000));
    for _ in 0..random.between(1, 4) {
        let span = Nanos(random.between(1_000_000, 600_000_000));
        match random.below(3) {
            0 => changes.extend([(at, ChangeKind::Pause), (at + span, ChangeKind::Resume)]),
            _ if matches!(load, Load::Open { .. }) => {
                let rates = [random.below(3_000), random.below(3_000)];
                let [from, to] = rates.map(|rate| Rate::per_hour_thousandths(rate * 3_600_000));
                let span = if random.chance(500_000) { span } else { Nanos::ZERO };
                changes.push((at, ChangeKind::Rate(vec![open::Stage { from, to, span }])));
            }
            _ => {
                let [from, to] = [random.below(25), random.below(25)];
                changes.push((at, ChangeKind::Users(vec![LevelStage { from, to, span: Nanos::ZERO }])));
            }
        }
        at = changes.last().map_or(at, |(at, _)| *at) + Nanos(random.below(500_000_000));
    }
    changes
}

pub(super) fn plan_of(random: &mut Random, is_calm: bool) -> Plan {
    let mut pick = |choices: &[&str]| choices[random.below(choices.len() as u64) as usize].to_owned();
    let path = if is_calm { pick(&CALM_PATHS) } else { pick(&PATHS) };
    let duration = pick(&["", "", "300ms", "2s"]);
    let rate = pick(&["", "", "40", "700", "9000/m", "2500", "200000"]);
    let stages = pick(&["", "", "", "300:500ms,0:0s,0:300ms,50:1s", "0:100ms,900:700ms"]);
    let arrivals = pick(&["even", "even", "poisson"]);
    // A random load has no bound but its time.
    let rate = if arrivals == "poisson" && rate == "200000" { "2500".to_owned() } else { rate };
    let (rate, stages) = if stages.is_empty() { (rate, stages) } else { (String::new(), stages) };
    let is_open = !rate.is_empty() || !stages.is_empty();
    let is_random = is_open && arrivals == "poisson";
    // A rate without a duration would make a long run of many exchanges.
    let duration = match (stages.is_empty(), is_open) {
        (false, _) => String::new(),
        (true, true) if duration.is_empty() => "250ms".to_owned(),
        (true, true) => "700ms".to_owned(),
        (true, false) => duration,
    };
    let lateness = pick(&["", "30ms", "400ms", "3s"]);
    let shape = if is_open { String::new() } else { pick(&["", "", "ramp", "stages", "rendezvous"]) };
    let user_stages = pick(&["20:0s,20:200ms,3:500ms", "0:50ms,9:300ms,9:100ms,0:0s,0:200ms,12:400ms", "5:0s,5:1s"]);
    let warmup = pick(&["", "", "", "40ms", "150ms"]);
    let is_cold = rate == "200000" || (shape == "stages" && user_stages.starts_with("0:")) || !stages.is_empty();
    let (stages, duration) = if shape == "stages" { (user_stages, String::new()) } else { (stages, duration) };
    let timeout = if is_calm { "30s".to_owned() } else { pick(&["20ms", "300ms", "2s", "5s"]) };
    let flags = Flags {
        url: Some(format!("http://10.0.0.1{path}")),
        connections: (shape != "stages" && (!is_open || random.chance(600_000)))
            .then(|| random.between(1, 30).to_string()),
        requests: (!is_random).then(|| random.between(1, 400).to_string()),
        duration: (!duration.is_empty()).then_some(duration),
        rate: (!rate.is_empty()).then_some(rate),
        stages: (shape != "stages" && !stages.is_empty()).then(|| stages.clone()),
        user_stages: (shape == "stages").then_some(stages),
        ramp: (shape == "ramp").then(|| "60".to_owned()),
        rendezvous: shape == "rendezvous",
        warmup: (!is_cold && !warmup.is_empty()).then_some(warmup),
        arrivals: is_open.then_some(arrivals),
        max_lateness: (is_open && !lateness.is_empty()).then_some(lateness),
        data: (path == "/echo").then(|| "x".repeat(random.between(0, 2_000) as usize)),
        timeout: Some(timeout.clone()),
        connect_timeout: Some(if is_calm { "10s".to_owned() } else { timeout }),
        grace: Some(format!("{}ms", random.below(3_000))),
        no_keepalive: random.chance(250_000),
        http10: random.chance(150_000),
        expect_body: (path == "/bytes/3000" && random.chance(300_000))
            .then(|| "no such text".to_owned())
            .into_iter()
            .collect(),
        interval: Some(format!("{}ms", random.between(100, 700))),
        user_agent: "swarm".to_owned(),
        ..Flags::default()
    };
    // Drawn last, so that a seed keeps its meaning from before there were streams.
    let (http2, streams) = (random.chance(400_000), random.between(1, 6));
    let flags = Flags {
        http2,
        http10: flags.http10 && !http2,
        no_keepalive: flags.no_keepalive && !(http2 && streams > 1),
        streams: http2.then(|| streams.to_string()),
        ..flags
    };
    let flags = match (http2, random.chance(500_000)) {
        (true, true) => calls(random, is_calm, flags),
        (false, true) if random.chance(500_000) => messaging(random, flags),
        (false, true) if random.chance(600_000) => rounds(random, flags),
        _ => flags,
    };
    let flags = with_limits(random, flags);
    let described = Schema::from_files(&target::descriptors()).expect("the target describes itself");
    flags.plan_with(Some(&described)).expect("the flags are good")
}

/// The same load on connections that are used a limited number of times, or for a limited time. Drawn from a copy, so
/// that a seed keeps its meaning from before there were limits.
fn with_limits(random: &Random, flags: Flags) -> Flags {
    let mut random = random.clone();
    let is_kept = !flags.no_keepalive && !flags.url.as_deref().is_some_and(|url| url.starts_with("ws"));
    Flags {
        connection_requests: (is_kept && random.chance(200_000)).then(|| random.between(1, 30).to_string()),
        connection_age: (is_kept && random.chance(200_000)).then(|| format!("{}ms", random.between(10, 400))),
        keepalive_idle: (is_kept && random.chance(200_000)).then(|| format!("{}ms", random.between(10, 200))),
        ..flags
    }
}

/// The same load as a round of requests, some of which are redirected.
fn rounds(random: &mut Random, flags: Flags) -> Flags {
    if flags.rate.is_some() || flags.stages.is_some() {
        return flags;
    }
    let paths = ["/", "/bytes/3000", "/redirect/1", "/redirect/3", "/bytes/0"];
    let count = random.between(1, 4);
    let mut words: Vec<Vec<u8>> = vec![b"-L".to_vec()];
    words.extend((0..count).map(|_| format!("http://10.0.0.1{}", paths[random.below(5) as usize]).into_bytes()));
    Flags {
        url: None,
        curl: Some(words),
        shuffle: random.chance(500_000),
        data: None,
        expect_body: Vec::new(),
        ..flags
    }
}

/// The same load as WebSocket messages.
fn messaging(random: &mut Random, flags: Flags) -> Flags {
    Flags {
        url: Some("ws://10.0.0.1/".to_owned()),
        data: None,
        data_bytes: Some(random.between(1, 6_000).to_string()),
        ws_deflate: random.chance(300_000),
        http10: false,
        expect_body: Vec::new(),
        ..flags
    }
}

/// The same load as gRPC calls.
fn calls(random: &mut Random, is_calm: bool, flags: Flags) -> Flags {
    let cases = [
        ("SayHello", r#"{"name":"a"}"#),
        ("SayHello", r#"{"name":"a","delayMs":15}"#),
        ("SayHellos", r#"{"name":"a","replies":7}"#),
        ("SayHellos", r#"{"name":"a","replies":3,"gapMs":9}"#),
        ("GreetAll", r#"[{"name":"a"},{"name":"b"},{"name":"c"}]"#),
        ("Chat", "[]"),
        ("Chat", r#"[{"name":"a"},{"name":"b","delayMs":4},{"name":"c"}]"#),
        ("SayHello", r#"{"name":"a","status":14}"#),
        ("Chat", r#"[{"name":"a"},{"name":"b","status":3},{"name":"c"}]"#),
    ];
    // In a calm world all calls succeed.
    let (method, data) = cases[random.below(if is_calm { 7 } else { 9 }) as usize];
    let interval = ["0s", "2ms", "30ms"][random.below(3) as usize];
    let takes_many = matches!(method, "GreetAll" | "Chat");
    Flags {
        url: Some(format!("grpc://10.0.0.1/hello.Greeter/{method}")),
        data: Some(data.to_owned()),
        message_interval: takes_many.then(|| interval.to_owned()),
        grpc_encoding: random.chance(250_000).then(|| "gzip".to_owned()),
        expect_body: Vec::new(),
        ..flags
    }
}

/// Makes the request of a step dynamic, with as many bytes as before.
pub(super) fn make_anew(step: &mut Step) {
    if step.messaging.is_some() || step.call.is_some() {
        return;
    }
    let path =
        Pattern::parse(&format!("{}?n=${{random(100,999)}}", step.request.path), TextContext::Url).expect("a pattern");
    step.request.path.push_str("?n=100");
    let path = Some(Rendering::new(&path, &mut OnlyVariables(&[])).expect("no names"));
    step.dynamic_parts = Some(Arc::new(DynamicParts { path, ..DynamicParts::default() }));
}

/// A program that requests some of the steps, with any kind of node.
pub(super) fn program_of(random: &mut Random, steps: usize) -> Program {
    let mut nodes = nodes_of(random, steps, 3);
    // Every path through it requests something, or a user would loop for nothing.
    nodes.push(ask(random, steps));
    let transactions = vec![transaction("one"), transaction("other")];
    Program { seed: random.next_u64(), nodes, transactions, ..Program::default() }
}

/// Adds later features: each is drawn from a stream of its own, so that a seed keeps its earlier meaning.
pub(super) fn vary(seed: u64, plan: &mut Plan) {
    let drawn = |stream, chance| {
        let mut random = Random::for_stream(seed, stream);
        random.chance(chance).then_some(random)
    };
    if let Some(mut random) = drawn(8, 200_000) {
        meet(&mut random, plan);
    }
    if let Some(mut random) = drawn(9, 150_000) {
        do_apart(&mut random, plan);
    }
    if let Some(mut random) = drawn(10, 150_000) {
        share(&mut random, plan);
    }
    if let Some(mut random) = drawn(11, 150_000) {
        pass_through(&mut random, plan);
    }
    if let Some(mut random) = drawn(12, 150_000) {
        try_again(&mut random, plan);
    }
}

/// Tries parts of programs again together.
fn try_again(random: &mut Random, plan: &mut Plan) {
    for scenario in &mut plan.scenarios {
        let program = &mut scenario.program;
        let then = [OnFailure::Next, OnFailure::GoOn, OnFailure::Stop][random.below(3) as usize];
        program.retries.push(Retry {
            most: random.between(1, 3) as u16,
            after: Duration::from_millis(random.below(2) * 30),
            backoff: 2.0,
            max_wait: Duration::from_millis(50),
            jitter: 0.0,
            retry_after: false,
            condition: None,
            then,
        });
        let retry = program.retries.len() as u16 - 1;
        for _ in 0..random.between(1, 2) {
            let from = random.below(program.nodes.len() as u64) as usize;
            let inner = program.nodes.split_off(from);
            program.nodes.push(Node::Retried { retry, is_whole: false, nodes: inner });
        }
    }
}

/// Leads scenarios through the target as a proxy, or begins their connections with a header.
fn pass_through(random: &mut Random, plan: &mut Plan) {
    for scenario in &mut plan.scenarios {
        let host = scenario.targets.first().map_or(String::new(), |target| target.host.clone());
        let scheme = ["http", "socks5", "socks5h"][random.below(3) as usize];
        let proxy = random.chance(750_000).then(|| format!("{scheme}://{host}:{PROXY_PORT}"));
        let header = random.chance(400_000).then(|| ["v1", "v2"][random.below(2) as usize].to_owned());
        let from = random.chance(500_000).then(|| "10.9.8.0/29".to_owned());
        let flags = Flags {
            url: Some(format!("http://{host}/")),
            proxy_tunnel: proxy.is_some() && (header.is_some() || random.chance(500_000)),
            proxy,
            proxy_protocol_from: from.filter(|_| header.is_some()),
            proxy_protocol: header,
            ..Flags::default()
        };
        let connection = flags.draft().expect("good flags").connection;
        let route = connection.route_overrides().expect("a good route");
        for target in scenario.targets.iter_mut().filter(|target| target.port == PROXY_PORT) {
            *target = target.clone().by_route(&route).expect("a target that fits");
        }
    }
}

/// The port of the simulated target.
const PROXY_PORT: u16 = 80;

/// Adds barriers to the programs of some scenarios.
fn meet(random: &mut Random, plan: &mut Plan) {
    let most = plan.scenarios.iter().map(plan::Scenario::users).max().unwrap_or(1).min(100);
    for number in 0..random.between(1, 2) as u32 {
        let within = random.chance(500_000).then(|| Duration::from_millis(random.below(2_000)));
        let users = random.between(1, most + 2);
        plan.barriers.push(plan::Barrier { name: number.to_string(), users, within });
        for scenario in &mut plan.scenarios {
            let is_rendezvous = matches!(scenario.load, Load::Closed { shape: UserShape::Rendezvous, .. });
            if !is_rendezvous && random.chance(700_000) {
                let place = random.below(scenario.program.nodes.len() as u64 + 1) as usize;
                scenario.program.nodes.insert(place, Node::Barrier(number));
            }
        }
    }
}

/// Adds `on_start` or `on_stop` to some scenarios.
fn do_apart(random: &mut Random, plan: &mut Plan) {
    for scenario in &mut plan.scenarios {
        let steps = scenario.steps.len();
        let program = &mut scenario.program;
        if program.transactions.is_empty() {
            program.transactions = vec![transaction("one"), transaction("other")];
        }
        // A start that always fails is retried forever, where only a number of iterations ends the load.
        let has_end = !matches!(scenario.load, Load::Closed { duration: None, .. });
        for (nodes, may_fail) in [(&mut program.start, has_end), (&mut program.stop, true)] {
            if random.chance(600_000) && may_fail {
                *nodes = nodes_of(random, steps, 2);
            }
        }
    }
}

/// Whether the target closes the connection with its response, also when the request is dynamic.
pub(super) fn says_goodbye(step: &Step) -> bool {
    step.request.path.split('?').next() == Some("/close")
}

/// Lets users of some closed loads share connections.
fn share(random: &mut Random, plan: &mut Plan) {
    for scenario in &mut plan.scenarios {
        let most = scenario.load.connections().max(1);
        // A server that keeps sending GOAWAY to all of them makes some of them retry too often.
        let is_sent_away =
            |step: &Step| scenario.targets[step.target].protocol == plan::Protocol::Http2 && says_goodbye(step);
        if scenario.steps.iter().any(is_sent_away) {
            continue;
        }
        if matches!(scenario.load, Load::Closed { .. }) && random.chance(800_000) {
            scenario.shared_connections = Some(random.between(1, most + 1));
        }
    }
}

fn transaction(name: &str) -> Transaction {
    Transaction { name: name.to_owned(), has_pauses: name == "one", deadline: None }
}

fn ask(random: &mut Random, steps: usize) -> Node {
    Node::Ask { step: random.below(steps as u64) as usize, on_failure: on_failure(random) }
}

fn on_failure(random: &mut Random) -> OnFailure {
    match random.below(8) {
        0 => OnFailure::Retry(random.between(1, 3) as u16),
        1 => OnFailure::Stop,
        2 | 3 => OnFailure::Next,
        _ => OnFailure::GoOn,
    }
}

fn nodes_of(random: &mut Random, steps: usize, depth: usize) -> Vec<Node> {
    (0..random.below(4)).map(|_| node_of(random, steps, depth)).collect()
}

fn node_of(random: &mut Random, steps: usize, depth: usize) -> Node {
    if depth == 0 {
        return ask(random, steps);
    }
    let inner = |random: &mut Random| nodes_of(random, steps, depth - 1);
    match random.below(8) {
        0 => Node::Think(Think::Exponential(Duration::from_millis(random.below(50)))),
        1 => Node::Think(Think::Fixed(Duration::from_millis(random.below(50)))),
        2 => Node::Transaction { number: random.below(2) as usize, nodes: inner(random) },
        3 => {
            let least = random.below(3) as u32;
            Node::Repeat { least, most: least + random.below(3) as u32, nodes: inner(random) }
        }
        4 => Node::Choose(
            (0..random.between(1, 3))
                .map(|weight| Choice { weight: weight as u32 + 1, nodes: inner(random) })
                .collect(),
        ),
        5 => match inner(random) {
            nodes if nodes.len().is_multiple_of(2) && !nodes.is_empty() => Node::InTurn(nodes),
            nodes => Node::Shuffle(nodes),
        },
        6 => {
            let most = random.between(1, 4) as u16;
            let steps: Vec<usize> = (0..random.between(1, 6)).map(|_| random.below(steps as u64) as usize).collect();
            let optional = steps.iter().copied().filter(|step| step.is_multiple_of(3)).collect();
            Node::Parallel { most, steps, optional, on_failure: on_failure(random) }
        }
        _ => ask(random, steps),
    }
}
