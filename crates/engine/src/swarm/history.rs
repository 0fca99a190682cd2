//! One run in a simulated world, from a seed to a history that can be checked.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::sync::Arc;

use driver::sim::{Faults, Host, Network, SimDriver};
use metrics::{Counts, Snapshot};
use pacing::change::{ChangeKind, LoadProfile, Timeline};

use pacing::{Nanos, Random};
use plan::{Load, Node, Plan, Program, Scenario, Step};
use target::{Behavior, SteppedServer};

use super::plans::{changes, make_anew, plan_of, program_of, vary};
use crate::{
    BarrierStats, DataSources, Interval, Partition, ScenarioInterval, SteppedRun, StopHandle, ThreadUsage, UsedUp,
};

/// A world that takes more turns than this hangs.
const TURNS_MAX: u64 = 3_000_000;
/// A run that takes longer than this, in virtual time, hangs.
const WALL_MAX: Nanos = Nanos::from_millis(3_600_000);
/// Time after the run when the network is quiet: longer than the kernel tries to connect, and than the target waits for
/// a peer to close.
const QUIET_AFTER: Nanos = Nanos::from_millis(400_000);

/// Hang limit of a run, in virtual time.
pub(super) const TARGET: usize = 0;
pub(super) const FIRST_SHARD: usize = 1;
pub(super) const ALL_SHARDS: usize = 2;

/// The setup that a seed determines.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) seed: u64,
    pub(crate) plan: Plan,
    pub(crate) threads: usize,
    pub(crate) faults: Faults,
    /// The program of the target, of the first shard, or of all shards is frozen for a while.
    pub(crate) freezes: Vec<(usize, Nanos, Nanos)>,
    /// The run is stopped, gently or at once.
    pub(crate) stop_at: Option<(Nanos, bool)>,
    /// The program that a freeze stops: the target's, that of the first shard, or those of all shards.
    pub(crate) changes: Vec<(Nanos, usize, ChangeKind)>,
    /// This completion of the network is lost.
    pub(crate) lost_completion: Option<u64>,
    /// Data that its users read and evaluate.
    pub(crate) data_sources: DataSources,
    /// The custom protocol that its server speaks instead of HTTP.
    pub(crate) protocol: Option<&'static str>,
}

impl Setup {
    /// The setup of a seed. One in four has no fault, so that a failure there is the program's own.
    pub(crate) fn from_seed(seed: u64) -> Self {
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
            data_sources: DataSources::default(),
            protocol: None,
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
            let first = changes(&mut random, &setting.plan.scenarios[0].load);
            setting.changes = first.into_iter().map(|(at, what)| (at, 0, what)).collect();
        }
        // Drawn from a stream of its own, so that a seed keeps its meaning from before there were several.
        let mut random = Random::for_stream(seed, 1);
        if random.chance(250_000) {
            setting.add_scenarios(&mut random, is_calm);
        }
        if random.chance(150_000) {
            setting.add_steps(&mut random, is_calm);
        }
        let mut random = Random::for_stream(seed, 2);
        if random.chance(200_000) {
            let scenarios = setting.plan.scenarios.iter_mut();
            scenarios.for_each(|scenario| scenario.program = program_of(&mut random, scenario.steps.len()));
        }
        let mut random = Random::for_stream(seed, 3);
        if random.chance(150_000) {
            // Whatever the protocol: each iteration is a conversation of its own.
            for scenario in &mut setting.plan.scenarios {
                let nodes = std::mem::take(&mut scenario.program.nodes);
                scenario.program.nodes = vec![Node::Messaging { target: 0, nodes }];
            }
        }
        let mut random = Random::for_stream(seed, 7);
        if random.chance(200_000) {
            setting.plan.scenarios.iter_mut().flat_map(|scenario| &mut scenario.steps).for_each(make_anew);
        }
        vary(seed, &mut setting.plan);
        setting
    }

    /// Adds steps with different protocols for the users of the first scenario, where these are kept busy.
    fn add_steps(&mut self, random: &mut Random, is_calm: bool) {
        let first = &mut self.plan.scenarios[0];
        if !matches!(first.load, Load::Closed { .. }) {
            return;
        }
        for _ in 0..random.between(1, 3) {
            for other in plan_of(random, is_calm).scenarios {
                let before = first.targets.len();
                first.steps.extend(other.steps.into_iter().map(|step| Step { target: step.target + before, ..step }));
                first.targets.extend(other.targets);
            }
        }
        first.program = Program::in_turn(first.steps.len());
        first.targets.iter_mut().for_each(|target| target.streams = 1);
    }

    /// Adds one or two scenarios, each with a load and a protocol of its own, in parallel with the first.
    fn add_scenarios(&mut self, random: &mut Random, is_calm: bool) {
        for number in 1..=random.between(1, 2) as usize {
            let mut other = plan_of(random, is_calm);
            if other.warmup.is_zero() {
                // Its load may begin with nothing.
                self.plan.warmup = other.warmup;
            }
            if random.chance(250_000) {
                let more = changes(random, &other.scenarios[0].load);
                self.changes.extend(more.into_iter().map(|(at, what)| (at, number, what)));
            }
            self.plan.scenarios.append(&mut other.scenarios);
        }
        self.changes.sort_by_key(|(at, ..)| *at);
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
            data_sources: DataSources::default(),
            protocol: None,
        }
    }

    /// No fault, no freeze, no stop: everything must go as planned.
    pub(crate) fn is_calm(&self) -> bool {
        self.faults == Faults::none() && self.freezes.is_empty() && self.stop_at.is_none()
    }
}

/// The result of a run, and what the world around it saw.
#[derive(Debug)]
pub(crate) struct History {
    pub(crate) setting: Setup,
    /// Index of its scenario.
    pub(crate) number: usize,
    /// The histories of the parallel scenarios; only the first history has any.
    pub(crate) others: Vec<History>,
    /// Counts of all scenarios.
    pub(crate) whole: Counts,
    pub(crate) total: Snapshot,
    pub(crate) wall: Nanos,
    /// What was reported while it ran.
    pub(crate) reported: Reported,
    /// From the start to the instant from which nothing was started any more.
    pub(crate) started_for: Nanos,
    /// Usage of its shards.
    pub(crate) uses: Vec<ThreadUsage>,
    /// The load over time, with its changes.
    pub(crate) timeline: Arc<Timeline>,
    pub(crate) was_stopped: bool,
    /// Why the load itself stopped the run.
    pub(crate) stop_reason: Option<String>,
    pub(crate) most_in_flight: usize,
    pub(crate) most_sockets: usize,
    /// The longest time for which a shard left data unread.
    pub(crate) most_coalesced: Nanos,
    pub(crate) shards: usize,
    /// Sockets that the engine's hosts still have.
    pub(crate) sockets_left: usize,
    /// Requests that the target read.
    pub(crate) requests_served: u64,
    /// Open connections that the target reports once all is quiet.
    pub(crate) server_open: u64,
    /// Sockets that it has.
    pub(crate) server_sockets: usize,
    /// Connections that were dropped between the hosts, in runs before this one too.
    pub(crate) connections_lost: usize,
    pub(crate) fault_count: u64,
    /// Datagrams that its shards sent and received.
    pub(crate) datagrams: (u64, u64),
    /// The budget part that ended it.
    pub(crate) spent: Option<plan::BudgetPart>,
    /// Files whose rows were used up.
    pub(crate) used_up: Vec<UsedUp>,
    /// Statistics of the barriers of users.
    pub(crate) met: Vec<BarrierStats>,
}

impl History {
    pub(crate) fn load(&self) -> &Load {
        &self.scenario().load
    }

    pub(crate) fn scenario(&self) -> &Scenario {
        &self.setting.plan.scenarios[self.number]
    }

    /// Users of a closed load, connections of an open one.
    pub(crate) fn users_max(&self) -> u64 {
        let planned = self.scenario().users();
        match self.timeline.course() {
            LoadProfile::Rate(_) => planned,
            LoadProfile::Users(levels, _) => planned.max(levels.most() * u64::from(self.scenario().target().streams)),
        }
    }

    /// The most concurrent exchanges of a user.
    pub(crate) fn exchanges_of_user(&self) -> u64 {
        self.code().most
    }
}

/// A network with a target in it, which outlives the runs against it.
pub(crate) struct SimulatedNetwork {
    network: Network,
    server: SteppedServer<SimDriver>,
    server_host: Host,
}

struct LoadStage<'a> {
    world: &'a mut SimulatedNetwork,
    run: SteppedRun<SimDriver>,
    /// The hosts of the shards, in their order.
    hosts: Vec<Host>,
    /// Reports, scenario by scenario.
    reported: Vec<Reported>,
}

/// Runs a setup to its end, and until the network is quiet.
///
/// # Errors
/// The findings of the checkers that look at each turn.
pub(crate) fn run(setting: Setup, is_traced: bool) -> Result<History, String> {
    SimulatedNetwork::new(&setting, is_traced)?.run(setting)
}

impl SimulatedNetwork {
    /// The world for a setup.
    pub(crate) fn new(setting: &Setup, is_traced: bool) -> Result<Self, String> {
        let network = Network::new(setting.seed ^ 0x5eed, setting.faults.clone());
        if is_traced {
            network.trace();
        }
        if let Some(nth) = setting.lost_completion {
            network.lose_completion(nth);
        }
        let server_driver = network.add_host();
        let server_host = server_driver.host();
        let behavior = Behavior { is_proxy: true, ..Behavior::default() };
        let server = match setting.protocol {
            Some(name) => SteppedServer::start_protocol(server_driver, address(), behavior, name),
            None => SteppedServer::start_as(server_driver, address(), behavior),
        };
        let server = server.map_err(|error| error.to_string())?;
        Ok(Self { network, server, server_host })
    }

    /// Runs a setup, whose faults are those of this world, to its end, and until the network is quiet.
    pub(crate) fn run(&mut self, setting: Setup) -> Result<History, String> {
        let (network, server_host, began) = (self.network.clone(), self.server_host, self.network.now());
        let (served_before, faults_before) = (self.server.requests(), network.faults_so_far());
        let stop = StopHandle::default();
        let (run, hosts) = start_on(&network, &setting, &stop);
        for &(who, from, to) in &setting.freezes {
            match who {
                TARGET => network.freeze(server_host, began + from, began + to),
                FIRST_SHARD => network.freeze(hosts[0], began + from, began + to),
                _ => hosts.iter().for_each(|host| network.freeze(*host, began + from, began + to)),
            }
        }
        let reported = vec![Reported::default(); setting.plan.scenarios.len()];
        let mut stage = LoadStage { world: self, run, hosts, reported };
        let most_in_flight = stage.play(&setting, &stop, began)?;
        let sockets_left = stage.hosts.iter().map(|&host| network.open_sockets(host)).sum();
        let most_sockets = stage.hosts.iter().map(|&host| network.most_open_sockets(host)).sum();
        let gathered = stage.hosts.iter().map(|&host| network.most_coalesced(host));
        let most_coalesced = gathered.max().unwrap_or_default();
        stage.quieten()?;
        let (requests_served, server_open) =
            (stage.world.server.requests() - served_before, stage.world.server.open_connections());
        let shards = stage.hosts.len();
        let datagrams = stage.hosts.iter().map(|&host| network.datagrams(host));
        let datagrams = datagrams.fold((0, 0), |sum, (sent, received)| (sum.0 + sent, sum.1 + received));
        let mut reported = stage.reported;
        let timelines: Vec<_> = (0..reported.len()).map(|scenario| stage.run.timeline(scenario)).collect();
        let (used_up, met) = (stage.run.used_up(), stage.run.met());
        let finished = stage.run.finish(|interval| note(&mut reported, interval)).map_err(|error| error.to_string())?;
        // These figures are not virtual.
        let real = |spent: &ThreadUsage| ThreadUsage { cpu_ns: 0, run_delay_ns: 0, saturated_ns: 0, ..spent.clone() };
        let mut histories =
            reported.into_iter().zip(timelines).enumerate().map(|(number, (reported, timeline))| History {
                number,
                others: Vec::new(),
                whole: finished.total.counts.clone(),
                // Nor is this figure.
                total: without_cpu(finished.total_of(number)),
                wall: finished.wall,
                reported,
                started_for: finished.ends[number].stopped_at,
                uses: finished.shards.iter().map(real).collect(),
                timeline,
                was_stopped: stop.is_stopped(),
                stop_reason: stop.reason(),
                most_in_flight,
                most_sockets,
                most_coalesced,
                shards,
                sockets_left,
                requests_served,
                server_open,
                server_sockets: network.open_sockets(server_host) - 1,
                connections_lost: network.lost_connections(),
                datagrams,
                fault_count: network.faults_so_far() - faults_before,
                spent: finished.ends[number].spent,
                used_up: used_up.clone(),
                met: met.clone(),
                setting: setting.clone(),
            });
        let mut first = histories.next().ok_or("a plan has a scenario")?;
        first.others = histories.collect();
        Ok(first)
    }
}

/// Address of the target.
fn address() -> SocketAddr {
    "10.0.0.1:80".parse().expect("an address")
}

fn without_cpu(total: &Snapshot) -> Snapshot {
    let mut total = total.clone();
    total.cpu_ns = 0;
    total
}

/// Each scenario has its own rows.
fn note(reported: &mut [Reported], interval: &Interval<'_>) -> ControlFlow<()> {
    for (reported, part) in reported.iter_mut().zip(&interval.scenarios) {
        reported.note(interval, part);
    }
    ControlFlow::Continue(())
}

/// An interval as it was last reported.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) from: Nanos,
    pub(crate) to: Nanos,
    pub(crate) users: u64,
    pub(crate) in_flight: u64,
    pub(crate) started: u64,
    /// Starts that were due by its end, and in no count.
    pub(crate) behind: u64,
    pub(crate) finished: u64,
    /// Shards that had not reported it.
    pub(crate) late_shards: usize,
    /// It was reported more than once.
    pub(crate) is_corrected: bool,
}

/// Reports during a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reported {
    /// The sums of everything that was new.
    pub(crate) sum: Counts,
    pub(crate) rows: Vec<Row>,
}

impl Reported {
    fn note(&mut self, interval: &Interval<'_>, part: &ScenarioInterval<'_>) {
        self.sum.merge(&part.added.counts);
        let row = Row {
            from: interval.from,
            to: interval.to,
            users: part.seen.gauges.users,
            in_flight: part.seen.gauges.in_flight.response.count(),
            started: part.seen.counts.started(),
            behind: part.seen.gauges.behind,
            finished: part.seen.counts.finished(),
            late_shards: interval.late_shards,
            is_corrected: interval.is_update,
        };
        let index = interval.number as usize - 1;
        if interval.is_update {
            self.rows[index] = row;
        } else {
            assert_eq!(self.rows.len(), index, "intervals are told in their order");
            self.rows.push(row);
        }
    }
}

/// Starts a run, each of whose shards is a host. Returns them in their order.
fn start_on(network: &Network, setting: &Setup, stop: &StopHandle) -> (SteppedRun<SimDriver>, Vec<Host>) {
    let mut hosts = Vec::new();
    let data = (setting.data_sources.clone(), Partition::default());
    let run = SteppedRun::start_with(&setting.plan, data, address(), setting.threads, stop, || {
        let driver = network.add_host();
        hosts.push(driver.host());
        driver
    });
    (run, hosts)
}

impl LoadStage<'_> {
    /// Runs the load to its end, changed and stopped as the setting says. Returns the most exchanges in flight.
    fn play(&mut self, setting: &Setup, stop: &StopHandle, began: Nanos) -> Result<usize, String> {
        let network = self.world.network.clone();
        let mut changes = setting.changes.clone().into_iter().peekable();
        let (mut turns, mut most_in_flight, mut stop_at) = (0, 0, setting.stop_at);
        while self.run.is_waiting() {
            turns += 1;
            if turns > TURNS_MAX || network.now() > began + WALL_MAX {
                return Err(format!("no end after {turns} turns and {:?}", network.now().as_duration()));
            }
            if let Some((_, is_abort)) = stop_at.take_if(|(at, _)| began + *at <= network.now()) {
                if is_abort { stop.abort() } else { stop.stop() }
            }
            while let Some((_, scenario, what)) = changes.next_if(|(at, ..)| began + *at <= network.now()) {
                // It may be refused: the load may be over, or of a kind without such a change.
                let _ = self.run.change(scenario, what, network.now());
            }
            let Some(host) = network.next() else { return Err("nothing will ever happen again".to_owned()) };
            self.step(host)?;
            most_in_flight = most_in_flight.max(self.run.in_flight());
        }
        Ok(most_in_flight)
    }

    /// One turn of a host.
    fn step(&mut self, host: Host) -> Result<(), String> {
        if host == self.world.server_host {
            return self.world.server.step().map_err(|error| error.to_string());
        }
        let Some(number) = self.hosts.iter().position(|of| *of == host) else { return Ok(()) };
        let reported = &mut self.reported;
        let is_on = self.run.step(number, |interval| note(reported, interval)).map_err(|error| error.to_string())?;
        let Some(shard) = self.run.shard(number).filter(|_| is_on) else {
            self.world.network.park(host);
            return Ok(());
        };
        let mut known = 0;
        for lifecycle in &mut shard.lifecycles {
            lifecycle.runtime.audit()?;
            known += lifecycle.runtime.known_connections();
        }
        let open = self.world.network.open_sockets(host);
        if known != open {
            return Err(format!("{open} sockets are open and {known} are known"));
        }
        Ok(())
    }

    /// Runs the world until nothing is on its way any more.
    fn quieten(&mut self) -> Result<(), String> {
        let end = self.world.network.now() + QUIET_AFTER;
        while let Some(host) = self.world.network.next() {
            if self.world.network.now() > end {
                break;
            }
            self.step(host)?;
        }
        Ok(())
    }
}
