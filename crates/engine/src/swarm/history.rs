//! One run in a simulated world, from a seed to what can be checked.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use driver::sim::{Faults, Host, Network, SimDriver};
use metrics::{Counts, Snapshot};
use pacing::change::{Course, Timeline, What};
use pacing::open::{self, Rate};
use pacing::{LevelStage, Nanos, Random};
use plan::{Arrivals, Flags, Load, Plan, Schema};
use target::SteppedServer;

use crate::{Interval, ShardUse, SteppedRun, StopHandle};

/// A world that takes more turns than this hangs.
const TURNS_MAX: u64 = 3_000_000;
/// A run that takes longer than this, in virtual time, hangs.
const WALL_MAX: Nanos = Nanos::from_millis(3_600_000);
/// The network is quiet when so much time has passed after the run: longer than the kernel tries to connect, and than the
/// target waits for a peer to close.
const QUIET_AFTER: Nanos = Nanos::from_millis(400_000);

/// Whose program does not run for a while.
pub(super) const TARGET: usize = 0;
pub(super) const FIRST_SHARD: usize = 1;
pub(super) const ALL_SHARDS: usize = 2;

/// What a seed makes up.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) seed: u64,
    pub(crate) plan: Plan,
    pub(crate) threads: usize,
    pub(crate) faults: Faults,
    /// The target's program, that of the first shard, or those of all shards do not run for a while.
    pub(crate) freezes: Vec<(usize, Nanos, Nanos)>,
    /// Somebody stops the run, gently or at once.
    pub(crate) stop_at: Option<(Nanos, bool)>,
    /// The load is changed, in this order; no earlier than these instants.
    pub(crate) changes: Vec<(Nanos, What)>,
    /// This completion of the network is lost.
    pub(crate) lost_completion: Option<u64>,
}

impl Setting {
    /// The setting of a seed. One in four has no fault, so that what fails there is the program's own.
    pub(crate) fn of(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let is_calm = random.chance(250_000);
        let faults = if is_calm { Faults::none() } else { Faults::draw(&mut random) };
        let mut setting = Self {
            seed,
            plan: plan_of(&mut random, is_calm),
            threads: random.between(1, 3) as usize,
            faults,
            freezes: Vec::new(),
            stop_at: None,
            changes: Vec::new(),
            lost_completion: None,
        };
        if !is_calm {
            for _ in 0..random.below(3) {
                let from = Nanos(random.below(2_000_000_000));
                let span = Nanos(random.between(1_000_000, 1_500_000_000));
                setting.freezes.push((random.below(3) as usize, from, from + span));
            }
            if random.chance(200_000) {
                setting.stop_at = Some((Nanos(random.below(3_000_000_000)), random.chance(500_000)));
            }
        }
        if random.chance(250_000) {
            setting.changes = changes(&mut random, &setting.plan.scenarios[0].load);
        }
        setting
    }

    /// A plain network with one shard, and a plan that is to be replaced.
    pub(crate) fn calm(seed: u64) -> Self {
        Self {
            seed,
            plan: plan_of(&mut Random::new(seed), true),
            threads: 1,
            faults: Faults::none(),
            freezes: Vec::new(),
            stop_at: None,
            changes: Vec::new(),
            lost_completion: None,
        }
    }

    /// No fault, no freeze, no stop: everything must go as planned.
    pub(crate) fn is_calm(&self) -> bool {
        self.faults == Faults::none() && self.freezes.is_empty() && self.stop_at.is_none()
    }
}

/// Changes for a load, each pause with its end.
fn changes(random: &mut Random, load: &Load) -> Vec<(Nanos, What)> {
    let mut changes = Vec::new();
    let mut at = Nanos(random.below(400_000_000));
    for _ in 0..random.between(1, 4) {
        let span = Nanos(random.between(1_000_000, 600_000_000));
        match random.below(3) {
            0 => changes.extend([(at, What::Pause), (at + span, What::Resume)]),
            _ if matches!(load, Load::Open { .. }) => {
                let rates = [random.below(3_000), random.below(3_000)];
                let [from, to] = rates.map(|rate| Rate::per_hour_thousandths(rate * 3_600_000));
                let span = if random.chance(500_000) { span } else { Nanos::ZERO };
                changes.push((at, What::Rate(vec![open::Stage { from, to, span }])));
            }
            _ => {
                let [from, to] = [random.below(25), random.below(25)];
                changes.push((at, What::Users(vec![LevelStage { from, to, span: Nanos::ZERO }])));
            }
        }
        at = changes.last().map_or(at, |(at, _)| *at) + Nanos(random.below(500_000_000));
    }
    changes
}

fn plan_of(random: &mut Random, is_calm: bool) -> Plan {
    let mut pick = |choices: &[&str]| choices[random.below(choices.len() as u64) as usize].to_owned();
    let path = if is_calm {
        pick(&["/", "/", "/bytes/5000", "/chunked/700", "/delay/3", "/close", "/echo"])
    } else {
        pick(&[
            "/",
            "/",
            "/bytes/3000",
            "/chunked/900",
            "/delay/20",
            "/close",
            "/echo",
            "/drop",
            "/status/503",
            "/bytes/0",
        ])
    };
    let duration = pick(&["", "", "300ms", "2s"]);
    let rate = pick(&["", "", "40", "700", "9000/m", "2500", "200000"]);
    let stages = pick(&["", "", "", "300:500ms,0:0s,0:300ms,50:1s", "0:100ms,900:700ms"]);
    let arrivals = pick(&["even", "even", "poisson"]);
    // A random load has no bound but its time.
    let rate = if arrivals == "poisson" && rate == "200000" { "2500".to_owned() } else { rate };
    let (rate, stages) = if stages.is_empty() { (rate, stages) } else { (String::new(), stages) };
    let is_open = !rate.is_empty() || !stages.is_empty();
    let is_random = is_open && arrivals == "poisson";
    // A rate alone would make a long run of many exchanges.
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
        stages: (!stages.is_empty()).then_some(stages),
        stages_of: (shape == "stages").then(|| "users".to_owned()),
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
    // Drawn last, so that a seed keeps what it meant before there were streams.
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
        (false, true) if random.chance(500_000) => talks(random, flags),
        (false, true) if random.chance(600_000) => rounds(random, flags),
        _ => flags,
    };
    let described = Schema::of_files(&target::descriptors()).expect("the target describes itself");
    flags.plan_with(Some(&described)).expect("the flags are good")
}

/// The same load as a round of requests, some of which are sent on.
fn rounds(random: &mut Random, flags: Flags) -> Flags {
    if flags.rate.is_some() || (flags.stages.is_some() && flags.stages_of.is_none()) {
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

/// The same load as messages of WebSocket.
fn talks(random: &mut Random, flags: Flags) -> Flags {
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

/// The same load as calls of gRPC.
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
    // In a calm world all succeeds.
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

/// What a run came to, and what the world around it saw.
#[derive(Debug)]
pub(crate) struct History {
    pub(crate) setting: Setting,
    pub(crate) total: Snapshot,
    pub(crate) wall: Nanos,
    /// What was told while it ran.
    pub(crate) told: Told,
    /// From the start to the instant from which nothing was started any more.
    pub(crate) started_for: Nanos,
    /// What its shards spent.
    pub(crate) uses: Vec<ShardUse>,
    /// The load over time, as it was changed.
    pub(crate) timeline: Arc<Timeline>,
    pub(crate) was_stopped: bool,
    pub(crate) most_in_flight: usize,
    pub(crate) most_sockets: usize,
    pub(crate) shards: usize,
    /// Sockets that the engine's hosts still have.
    pub(crate) sockets_left: usize,
    /// Requests that the target read.
    pub(crate) requests_served: u64,
    /// Connections that the target says it has, once all is quiet.
    pub(crate) server_open: u64,
    /// Connections that it has.
    pub(crate) server_sockets: usize,
    /// Connections that somebody between the hosts gave up.
    pub(crate) connections_lost: usize,
    pub(crate) fault_count: u64,
}

impl History {
    pub(crate) fn load(&self) -> &Load {
        &self.setting.plan.scenarios[0].load
    }

    /// Users of a closed load, connections of an open one.
    pub(crate) fn users_max(&self) -> u64 {
        let planned = self.setting.plan.scenarios[0].users();
        match self.timeline.course() {
            Course::Rate(_) => planned,
            Course::Users(levels, _) => {
                planned.max(levels.most() * u64::from(self.setting.plan.scenarios[0].target().streams))
            }
        }
    }

    /// The target takes requests on streams, and says goodbye in the middle of them.
    pub(crate) fn is_sent_away(&self) -> bool {
        let scenario = &self.setting.plan.scenarios[0];
        scenario.target().protocol == plan::Protocol::Http2 && scenario.steps[0].request.path == "/close"
    }

    /// Messages of WebSocket are exchanged.
    pub(crate) fn is_talk(&self) -> bool {
        self.setting.plan.scenarios[0].steps[0].talk.is_some()
    }

    /// The call of gRPC that is made again and again, if that is what is done.
    pub(crate) fn call(&self) -> Option<&plan::Call> {
        self.setting.plan.scenarios[0].steps[0].call.as_ref()
    }

    /// How long starts come; none when no time ends the run, but a number of iterations.
    pub(crate) fn duration(&self) -> Option<Duration> {
        if self.is_changed() && self.starts_planned().is_none_or(|planned| Some(planned) != self.limit()) {
            return self.timeline.end().map(Nanos::as_duration);
        }
        match self.load() {
            Load::Closed { duration, .. } => *duration,
            Load::Open { requests: Some(requests), .. } if self.starts_planned() == Some(*requests) => None,
            Load::Open { stages, .. } => Some(stages.iter().map(|stage| stage.span).sum()),
        }
    }

    /// Part of what happened is left out.
    pub(crate) fn has_warmup(&self) -> bool {
        !self.setting.plan.warmup.is_zero()
    }

    /// Steps that may be measured though their iteration began in the warm-up.
    pub(crate) fn warm_steps(&self) -> u64 {
        let steps = self.setting.plan.scenarios[0].steps.len() as u64;
        if self.has_warmup() { self.users_max() * steps } else { 0 }
    }

    /// Somebody changed the load.
    pub(crate) fn is_changed(&self) -> bool {
        self.timeline.revision() > 0
    }

    /// The most starts of an open load that the plan allows.
    fn limit(&self) -> Option<u64> {
        match self.load() {
            Load::Open { requests, .. } => *requests,
            Load::Closed { .. } => None,
        }
    }

    /// How many starts the plan has, reckoned by hand; none when nobody knows beforehand.
    pub(crate) fn starts_planned(&self) -> Option<u64> {
        match self.load() {
            // Each redirect that was followed is one start more.
            Load::Closed { requests, duration: None, .. } => {
                let steps = self.setting.plan.scenarios[0].steps.len() as u64;
                requests.map(|requests| requests * steps + self.total.counts.redirects)
            }
            Load::Closed { .. } | Load::Open { arrivals: Arrivals::Poisson { .. }, .. } => None,
            Load::Open { .. } if self.is_changed() => match self.timeline.course() {
                Course::Rate(schedule) => Some(schedule.count()),
                Course::Users(..) => None,
            },
            Load::Open { stages, requests, .. } => {
                let doubled: u128 =
                    stages.iter().map(|stage| u128::from(stage.from + stage.to) * stage.span.as_nanos()).sum();
                let hour_ns = 3_600_000_000_000;
                let integral = (doubled / (2 * 1_000 * hour_ns)) as u64;
                Some(requests.map_or(integral, |requests| integral.min(requests)))
            }
        }
    }
}

struct Stage {
    network: Network,
    server: SteppedServer<SimDriver>,
    server_host: Host,
    run: SteppedRun<SimDriver>,
    /// The hosts of the shards, in their order.
    hosts: Vec<Host>,
    told: Told,
}

/// Runs a setting to its end, and until the network is quiet.
///
/// # Errors
/// What the checkers that look at each turn find.
pub(crate) fn run(setting: Setting, is_traced: bool) -> Result<History, String> {
    let network = Network::new(setting.seed ^ 0x5eed, setting.faults.clone());
    if is_traced {
        network.trace();
    }
    if let Some(nth) = setting.lost_completion {
        network.lose_completion(nth);
    }
    let server_driver = network.add_host();
    let server_host = server_driver.host();
    let address: SocketAddr = "10.0.0.1:80".parse().expect("an address");
    let server = SteppedServer::start(server_driver, address).map_err(|error| error.to_string())?;
    let stop = StopHandle::default();
    let mut hosts = Vec::new();
    let run = SteppedRun::start(&setting.plan, address, setting.threads, &stop, || {
        let driver = network.add_host();
        hosts.push(driver.host());
        driver
    });
    for &(who, from, to) in &setting.freezes {
        match who {
            TARGET => network.freeze(server_host, from, to),
            FIRST_SHARD => network.freeze(hosts[0], from, to),
            _ => hosts.iter().for_each(|host| network.freeze(*host, from, to)),
        }
    }
    let told = Told::default();
    let mut stage = Stage { network: network.clone(), server, server_host, run, hosts, told };
    let mut changes = setting.changes.clone().into_iter().peekable();
    let (mut turns, mut most_in_flight, mut stop_at) = (0, 0, setting.stop_at);
    while stage.run.is_waiting() {
        turns += 1;
        if turns > TURNS_MAX || network.now() > WALL_MAX {
            return Err(format!("no end after {turns} turns and {:?}", network.now().as_duration()));
        }
        if let Some((_, is_abort)) = stop_at.take_if(|(at, _)| *at <= network.now()) {
            if is_abort { stop.abort() } else { stop.stop() }
        }
        while let Some((_, what)) = changes.next_if(|(at, _)| *at <= network.now()) {
            // It may be refused: the load may be over, or none that has such a thing.
            let _ = stage.run.change(what, network.now());
        }
        let Some(host) = network.next() else { return Err("nothing will ever happen again".to_owned()) };
        stage.step(host)?;
        most_in_flight = most_in_flight.max(stage.run.in_flight());
    }
    let sockets_left = stage.hosts.iter().map(|&host| network.open_sockets(host)).sum();
    let most_sockets = stage.hosts.iter().map(|&host| network.most_open_sockets(host)).sum();
    stage.quieten()?;
    let (requests_served, server_open) = (stage.server.requests(), stage.server.open_connections());
    let shards = stage.hosts.len();
    let mut told = stage.told;
    let timeline = stage.run.timeline();
    let finished = stage.run.finish(|interval| told.note(interval)).map_err(|error| error.to_string())?;
    let (mut total, wall, started_for) = (finished.total, finished.wall, finished.stopped_at);
    // The one figure that is not virtual.
    total.cpu_ns = 0;
    Ok(History {
        total,
        wall,
        told,
        started_for,
        // Nor are these.
        uses: finished
            .shards
            .into_iter()
            .map(|spent| ShardUse { cpu_ns: 0, run_delay_ns: 0, saturated_ns: 0, ..spent })
            .collect(),
        timeline,
        was_stopped: stop.is_stopped(),
        most_in_flight,
        most_sockets,
        shards,
        sockets_left,
        requests_served,
        server_open,
        server_sockets: network.open_sockets(server_host) - 1,
        connections_lost: network.lost_connections(),
        fault_count: network.faults_so_far(),
        setting,
    })
}

/// An interval as it was told last.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) from: Nanos,
    pub(crate) to: Nanos,
    pub(crate) users: u64,
    pub(crate) in_flight: u64,
    pub(crate) started: u64,
    pub(crate) finished: u64,
    /// Shards that had not told of it.
    pub(crate) late_shards: usize,
    /// It was told more than once.
    pub(crate) is_corrected: bool,
}

/// What was told while a run went on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// The sums of all that was new.
    pub(crate) sum: Counts,
    pub(crate) rows: Vec<Row>,
}

impl Told {
    fn note(&mut self, interval: &Interval<'_>) -> ControlFlow<()> {
        self.sum.merge(&interval.added.counts);
        let row = Row {
            from: interval.from,
            to: interval.to,
            users: interval.seen.users,
            in_flight: interval.seen.in_flight.response.count(),
            started: interval.seen.counts.started,
            finished: interval.seen.counts.finished(),
            late_shards: interval.late_shards,
            is_corrected: interval.is_again,
        };
        let index = interval.number as usize - 1;
        if interval.is_again {
            self.rows[index] = row;
        } else {
            assert_eq!(self.rows.len(), index, "intervals are told in their order");
            self.rows.push(row);
        }
        ControlFlow::Continue(())
    }
}

impl Stage {
    /// One turn of a host.
    fn step(&mut self, host: Host) -> Result<(), String> {
        if host == self.server_host {
            return self.server.step().map_err(|error| error.to_string());
        }
        let Some(number) = self.hosts.iter().position(|of| *of == host) else { return Ok(()) };
        let told = &mut self.told;
        let is_on = self.run.step(number, |interval| told.note(interval)).map_err(|error| error.to_string())?;
        let Some(shard) = self.run.shard(number).filter(|_| is_on) else {
            self.network.park(host);
            return Ok(());
        };
        shard.world.audit()?;
        let (known, open) = (shard.world.known_connections(), self.network.open_sockets(host));
        if known != open {
            return Err(format!("{open} sockets are open and {known} are known"));
        }
        Ok(())
    }

    /// Goes on until nothing is on its way any more.
    fn quieten(&mut self) -> Result<(), String> {
        let end = self.network.now() + QUIET_AFTER;
        while let Some(host) = self.network.next() {
            if self.network.now() > end {
                break;
            }
            self.step(host)?;
        }
        Ok(())
    }
}
