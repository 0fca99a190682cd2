//! One run in a simulated world, from a seed to what can be checked.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use driver::sim::{Faults, Host, Network, SimDriver};
use metrics::{Counts, Snapshot};
use pacing::change::{Course, Timeline, What};

use pacing::{Nanos, Random};
use plan::{Arrivals, Load, Plan};
use target::SteppedServer;

use super::plans::{changes, plan_of};
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
