//! The figures of a completed run.

use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use engine::{NameReport, RunResult};
use metrics::{
    CLOSE_WITHOUT_CODE, Censored, Class, Distribution, Failure, GRPC_STATUSES, Measure, RequestRecord, Row, Sample,
    Snapshot, Threshold, Timings,
};
use pacing::Nanos;
use plan::Plan;

use crate::acks;
use crate::addresses::{AddressFigures, AddressOutlier};
use crate::each::{ScenarioRun, rated_for_all};
use crate::iterations::{Iterations, rounds};
use crate::requested::{RequestedRate, asks_each};
use crate::stalls::{CoordinatedOmission, StallImpact};
use crate::times::{Quantile, UnreliableMarks, histogram};
use crate::{Bar, Changed, ClassTimes, MeasureTimes, Note, ScenarioPart, Tally, ThresholdResult, Times, per_second};

/// The smallest difference that is worth reporting.
const DIFFERENCE_MIN_NS: u64 = 1_000_000;
/// Its parts explain a difference when their sum is at least this share of it.
const EXPLAINED_SHARE_MIN: f64 = 0.8;

/// Facts of the machine when a run is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostFacts {
    /// The time of day, in nanoseconds since the Unix epoch.
    pub now_unix_ns: u64,
    /// Resident memory of this process.
    pub resident_bytes: Option<u64>,
    /// The first and the last local port that connections come from.
    pub local_ports: Option<(u16, u16)>,
    /// Cores that this process may use.
    pub cores: Option<usize>,
}

/// The input for the figures of a run.
#[derive(Debug)]
pub struct RunInput<'a> {
    /// The plan.
    pub plan: Arc<Plan>,
    /// The target, resolved.
    pub address: SocketAddr,
    /// The time of the name lookup, when there was one.
    pub lookup: Option<Duration>,
    /// The result of the run.
    pub result: RunResult,
    /// The thresholds on its figures.
    pub thresholds: &'a [Threshold],
    /// Notes taken while it ran.
    pub notes: Vec<Note>,
    /// Changes of its load while it ran.
    pub changes: Vec<Changed>,
    /// Facts of the machine.
    pub host: HostFacts,
}

/// WebSocket sessions that the server closed with one code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close {
    /// The code; `None` without one.
    pub code: Option<u16>,
    /// The reason text, when there was one.
    pub reason: Option<String>,
    /// The count.
    pub count: u64,
}

/// The delay by which response times exceed service times, when it is large enough to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueingDelay {
    /// The difference of the 99th percentiles.
    pub behind_ns: u64,
    /// 99th percentile of the wait.
    pub wait_ns: u64,
    /// 99th percentile of the lateness.
    pub lateness_ns: u64,
}

/// Histograms, for views that need more than the percentiles of everything.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Exchanges that succeeded.
    pub succeeded: Timings,
    /// Exchanges that got a response, whatever the response was.
    pub answered: Timings,
    /// Exchanges that completed in any way.
    pub every: Timings,
    /// Times from the first request to the last response, where redirects are followed.
    pub chains: Distribution,
    /// Times of connections.
    pub connect: Distribution,
    /// Times from intended to sent, where recorded.
    pub before: Distribution,
    /// Times from the first byte of a response to its last, where recorded.
    pub reading: Distribution,
}

/// The figures of a completed run. Those of the engine are available through `Deref`.
#[derive(Clone, Debug)]
pub struct Run {
    /// The result of the engine, without its snapshots: what they hold is in the figures.
    result: RunResult,
    /// The plan.
    pub plan: Arc<Plan>,
    /// The target, resolved.
    pub address: SocketAddr,
    /// The time of the name lookup, when there was one.
    pub lookup: Option<Duration>,
    /// The counts.
    pub tally: Tally,
    /// Completed exchanges per second of the time in which exchanges were started; what completed later is left out.
    pub rate: f64,
    /// Of an open load: starts per second of the same time, without dropped ones, and without redirects and retries,
    /// which no plan starts.
    pub achieved_per_s: Option<f64>,
    /// Goodput: successes within their deadline per second of the same time; `None` where nothing has a deadline.
    pub goodput_per_s: Option<f64>,
    /// Iterations.
    pub iterations: Iterations,
    /// Times of successes, with the incomplete ones.
    pub succeeded: MeasureTimes,
    /// Times by class, without empty classes, and of all classes together.
    pub classes: Vec<ClassTimes>,
    /// Times of connections.
    pub connect: Times,
    /// Times in which proxies opened tunnels.
    pub proxy_tunnel: Times,
    /// Times of TLS handshakes.
    pub tls: Times,
    /// Times of messages.
    pub message: Times,
    /// Times between unsolicited messages.
    pub message_gap: Times,
    /// Response times of successful requests, as a histogram of few bars.
    pub bars: Vec<Bar>,
    /// Each scenario and its steps.
    pub scenarios: Vec<ScenarioPart>,
    /// The results of each scenario alone.
    pub each: Vec<ScenarioRun>,
    /// The results of each address, where a name has several.
    pub addresses: Vec<AddressFigures>,
    /// An address that is unlike all others.
    pub outlier: Option<AddressOutlier>,
    /// WebSocket sessions that the server closed.
    pub closes: Vec<Close>,
    /// Texts that servers sent with a gRPC status or a close code.
    pub server_texts: Vec<(u16, String)>,
    /// The result of each threshold.
    pub judged: Vec<ThresholdResult>,
    /// The delay by which response times exceed service times.
    pub behind: Option<QueueingDelay>,
    /// Coordinated omission: what a stall of the target hides.
    pub hidden: Option<CoordinatedOmission>,
    /// The impact of stalls of the generator.
    pub stalled: Option<StallImpact>,
    /// Notes taken while it ran.
    pub notes: Vec<Note>,
    /// Changes of its load while it ran, in order.
    pub changes: Vec<Changed>,
    /// CPU time of the shards.
    pub cpu_ns: u64,
    /// CPU time of the shards per completed exchange, in microseconds; `None` when none completed.
    pub cpu_us_per_request: Option<f64>,
    /// CPU time of the shards as a share of the available thread time.
    pub cpu_share: f64,
    /// Facts of the machine.
    pub host: HostFacts,
    /// The head of one response.
    pub head: Vec<u8>,
    /// The recorded exchanges in full, where enabled: the first ones.
    pub samples: Vec<Sample>,
    /// A row for each exchange, where enabled.
    pub rows: Vec<Row>,
    /// Exchanges for which there was no room in the rows.
    pub rows_left_out: u64,
    /// The slowest exchanges, the slowest first.
    pub slowest: Vec<RequestRecord>,
    /// Histograms.
    pub recorded: Recorded,
}

impl Deref for Run {
    type Target = RunResult;

    fn deref(&self) -> &RunResult {
        &self.result
    }
}

/// The rates of all scenarios together.
fn rates(plan: &Plan, result: &RunResult, tally: &Tally, again: u64) -> (f64, Option<f64>) {
    let seconds = rated_for_all(plan, result.started_for).as_secs_f64();
    let last = per_second(asks_each(plan), seconds);
    RequestedRate { per_s: result.requested_per_s, last, was_stopped: result.was_stopped }.rates(tally, again, seconds)
}

/// Successes within their deadline per second, where there are deadlines.
fn goodput(plan: &Plan, result: &RunResult, tally: &Tally) -> Option<f64> {
    let in_time = tally.in_deadline().saturating_sub(tally.drained_succeeded() - tally.drained_missed());
    let seconds = rated_for_all(plan, result.started_for).as_secs_f64();
    plan.has_deadlines().then(|| per_second(in_time, seconds))
}

/// CPU time as a share of the available thread time. A run that was stopped in its warm-up has no meaningful time.
fn cpu_share(cpu_ns: u64, wall: Nanos, threads: usize) -> f64 {
    let available = wall.0 as f64 * threads as f64;
    if wall >= Nanos::from_millis(1) && threads > 0 { cpu_ns as f64 / available } else { 0.0 }
}

/// The fewest times for a 99th percentile. With fewer it is the maximum, which one stall of the generator can cause.
const P99_MIN: u64 = 100;

impl Run {
    /// Whether the rate, or the percentile that users look at, is caused by this machine as much as by the target.
    pub fn is_unreliable(&self) -> bool {
        let response = self.succeeded.by_measure(Measure::Response);
        let last = if response.count < P99_MIN { Quantile::P95 } else { Quantile::P99 };
        self.verdict.is_unreliable() || response.at(last).is_some_and(|at| at.is_unreliable)
    }

    /// Computes all figures of a run.
    pub fn new(input: RunInput<'_>) -> Self {
        let RunInput { plan, address, lookup, mut result, thresholds, notes, changes, host } = input;
        let each = ScenarioRun::all(&plan, &result);
        let scenarios = ScenarioPart::all(&plan, (0..plan.scenarios.len()).map(|scenario| result.total_of(scenario)));
        let judged = ThresholdResult::for_run(thresholds, &plan, &result);
        let (iterations, again) = rounds(&plan, &result);
        let tally = Tally::new(&result.total);
        let (rate, achieved_per_s) = rates(&plan, &result, &tally, again);
        let mut total = std::mem::take(&mut result.total);
        result.per_scenario.clear();
        let recorded = Recorded::new(&total);
        let succeeded = succeeded(&total, &recorded.succeeded);
        Self {
            address,
            lookup,
            rate,
            achieved_per_s,
            goodput_per_s: goodput(&plan, &result, &tally),
            iterations,
            classes: classes(&total, &succeeded, &recorded),
            connect: Times::known(&total.connect),
            proxy_tunnel: Times::known(&total.proxy_tunnel),
            tls: Times::known(&total.tls),
            message: Times::new(&total.message, &Censored::for_messages(&total), UnreliableMarks::default()),
            message_gap: Times::known(&total.message_gap),
            bars: histogram(recorded.succeeded.by_measure(Measure::Response)),
            scenarios,
            each,
            addresses: AddressFigures::all(&total),
            outlier: AddressOutlier::of(&total),
            closes: closes(&total),
            server_texts: server_texts(&total, &tally),
            judged,
            behind: QueueingDelay::new(&recorded.succeeded),
            hidden: result
                .requested_per_s
                .is_none()
                .then(|| CoordinatedOmission::new(&total, &recorded.succeeded, &plan))
                .flatten(),
            stalled: StallImpact::new(&total, &result.shards),
            notes: with_more(notes, &plan, &tally, name_notes(&result.names, &total), &recorded.succeeded),
            changes,
            cpu_ns: total.cpu_ns,
            cpu_us_per_request: (tally.finished() > 0).then(|| total.cpu_ns as f64 / 1e3 / tally.finished() as f64),
            cpu_share: cpu_share(total.cpu_ns, result.wall, result.threads),
            host,
            head: total.tool_details.head().to_vec(),
            samples: total.samples().to_vec(),
            slowest: total.tool_details.slowest.sorted(),
            rows_left_out: total.tool_details.rows_left_out,
            rows: total.tool_details.take_rows(),
            succeeded,
            tally,
            recorded,
            plan,
            result,
        }
    }

    /// The results of the scenario that the verdict is about.
    pub fn limited(&self) -> ScenarioRun {
        self.each.get(self.verdict.scenario).cloned().unwrap_or_else(|| self.whole())
    }

    /// The result of the probe with half of the users, of all scenarios together; `None` without a probe. The rate
    /// before is that of the scenario that the verdict is about.
    pub fn probe(&self) -> Option<engine::Probe> {
        let mut sum = self.probe_of_limited()?.clone();
        let all = |of: fn(&engine::Probe) -> u64| self.probes.iter().map(of).sum();
        (sum.users, sum.of, sum.started) = (all(|one| one.users), all(|one| one.of), all(|one| one.started));
        Some(sum)
    }

    /// The probe of the scenario that the verdict is about.
    pub fn probe_of_limited(&self) -> Option<&engine::Probe> {
        self.probes.get(self.verdict.scenario)
    }

    /// The results of all scenarios as if they were one.
    pub fn whole(&self) -> ScenarioRun {
        let (tally, rate, held_by) = (self.tally.clone(), self.rate, None);
        ScenarioRun { tally, rate, achieved_per_s: self.achieved_per_s, requested_per_s: self.requested_per_s, held_by }
    }

    /// The users of a closed load, or the most connections of an open one.
    pub fn users(&self) -> u64 {
        self.plan.scenarios.iter().map(plan::Scenario::users).sum()
    }

    /// The start of the run, in nanoseconds since the Unix epoch.
    pub fn began_unix_ns(&self) -> u64 {
        u64::try_from(self.began_unix.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Whether all connections go to one address.
    pub fn is_one_place(&self) -> bool {
        self.plan.scenarios.iter().all(|scenario| {
            scenario.targets.len() == 1
                && (self.tally.redirects() == 0 || scenario.steps.iter().all(|step| step.follow.is_none()))
        })
    }

    /// Whether messages are counted: those of gRPC, WebSocket and TCP.
    pub fn has_messages(&self) -> bool {
        let mut steps = self.plan.scenarios.iter().flat_map(|scenario| &scenario.steps);
        steps.any(|step| step.call.is_some() || step.messaging.is_some())
    }

    /// Whether requests are datagrams.
    pub fn has_datagrams(&self) -> bool {
        self.plan.scenarios.iter().flat_map(|scenario| &scenario.targets).any(plan::Target::is_datagram)
    }

    /// Whether nothing was sent over streams.
    pub fn has_only_datagrams(&self) -> bool {
        let mut targets = self.plan.scenarios.iter().flat_map(|scenario| &scenario.targets);
        targets.all(plan::Target::is_datagram) && self.tally.over_stream() == 0
    }

    /// Whether gRPC calls are made.
    pub fn is_grpc(&self) -> bool {
        self.plan.scenarios.iter().flat_map(|scenario| &scenario.steps).any(|step| step.call.is_some())
    }

    /// The text that servers sent with a gRPC status or a close code.
    pub fn server_text(&self, number: u16) -> Option<&str> {
        self.server_texts.iter().find(|(known, _)| *known == number).map(|(_, text)| &**text)
    }
}

/// The notes, with those that follow from the figures alone.
fn with_more(mut notes: Vec<Note>, plan: &Plan, tally: &Tally, of_names: Vec<Note>, succeeded: &Timings) -> Vec<Note> {
    let (left, users) = (tally.users_left(), tally.users_without_stop());
    let has_rate = plan.scenarios.iter().any(|scenario| matches!(scenario.load, plan::Load::Open { .. }));
    let all = || plan.scenarios.iter().map(plan::Scenario::users).sum();
    notes.extend((left > 0).then(|| Note::UsersLeft { left, of: (!has_rate).then(all) }));
    notes.extend((users > 0).then(|| Note::UsersWithoutStop { users, of: (!has_rate).then(all) }));
    notes.extend(of_names);
    let service = succeeded.by_measure(Measure::Service);
    notes.extend(acks::waited(service).map(|waited| Note::DelayedAcks { waited, of: service.count() }));
    notes
}

/// The notes about names.
fn name_notes(names: &[NameReport], total: &Snapshot) -> Vec<Note> {
    names.iter().flat_map(|name| Note::of_name(name, total)).collect()
}

/// Times of successes; response and service times include the incomplete ones.
fn succeeded(total: &Snapshot, times: &Timings) -> MeasureTimes {
    MeasureTimes::from_fn(|measure| {
        let is_open_ended = matches!(measure, Measure::Response | Measure::Service);
        let all = Censored::new(total, measure);
        let unreliable = UnreliableMarks::new(total, times, all.count(), measure);
        let censored = if is_open_ended { all } else { Censored::default() };
        Times::new(times.by_measure(measure), &censored, unreliable)
    })
}

fn classes(total: &Snapshot, succeeded: &MeasureTimes, recorded: &Recorded) -> Vec<ClassTimes> {
    let known = |timings: &Timings| MeasureTimes::from_fn(|measure| Times::known(timings.by_measure(measure)));
    let of = |class| match class {
        Class::Succeeded => succeeded.clone(),
        class => known(&total.class(class)),
    };
    let mut all: Vec<ClassTimes> = Class::ALL
        .into_iter()
        .map(|class| ClassTimes { class: Some(class), times: of(class) })
        .filter(|one| one.class == Some(Class::Succeeded) || one.times.by_measure(Measure::Response).count > 0)
        .collect();
    all.push(ClassTimes { class: None, times: known(&recorded.every) });
    all
}

fn closes(total: &Snapshot) -> Vec<Close> {
    let one = |(&code, &count): (&u16, &u64)| Close {
        code: (code != CLOSE_WITHOUT_CODE).then_some(code),
        reason: total.server_text(usize::from(code)).filter(|reason| !reason.is_empty()).map(str::to_owned),
        count,
    };
    total.counts.closes.iter().map(one).collect()
}

/// Texts of servers: for each gRPC status, and for each close code.
fn server_texts(total: &Snapshot, tally: &Tally) -> Vec<(u16, String)> {
    let statuses = 0..GRPC_STATUSES.len() as u16;
    let codes = total.counts.closes.keys().copied();
    let failed = tally.failures.iter().filter_map(|each| match each.failure {
        Failure::WebSocketClose(code) => Some(code),
        _ => None,
    });
    let mut numbers: Vec<u16> = statuses.chain(codes).chain(failed).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let said = |number: u16| Some((number, total.server_text(usize::from(number))?.to_owned()));
    numbers.into_iter().filter_map(said).collect()
}

impl Recorded {
    fn new(total: &Snapshot) -> Self {
        let succeeded = total.class(Class::Succeeded);
        let mut answered = succeeded.clone();
        answered.merge(&total.class(Class::FailedAnswered));
        Self {
            succeeded,
            answered,
            every: total.all(),
            chains: total.chains.clone(),
            connect: total.connect.clone(),
            before: total.tool_details.before.clone(),
            reading: total.tool_details.reading.clone(),
        }
    }
}

impl QueueingDelay {
    fn new(succeeded: &Timings) -> Option<Self> {
        let p99 = |measure| succeeded.by_measure(measure).quantile(0.99).unwrap_or(0);
        let (response, service) = (p99(Measure::Response), p99(Measure::Service));
        let behind_ns = response.saturating_sub(service);
        let (wait_ns, lateness_ns) = (p99(Measure::Wait), p99(Measure::Lateness));
        let is_news = behind_ns > DIFFERENCE_MIN_NS && behind_ns > service / 10;
        // Percentiles do not add: the exchange with the slowest connection need not have the slowest response.
        let is_explained = (wait_ns + lateness_ns) as f64 >= behind_ns as f64 * EXPLAINED_SHARE_MIN;
        (is_news && is_explained).then_some(Self { behind_ns, wait_ns, lateness_ns })
    }
}

#[cfg(test)]
mod tests;
