//! Trials of a load: a rate, or users.

use std::time::Duration;

use engine::{Control, Limit, RunError, StopHandle};
use figures::Run;
use history::Runs;
use metrics::Measure;
use pacing::Nanos;
use pacing::change::ChangeKind;
use plan::{
    Arrivals, ConnectionCount, Load as Amount, OPEN_CONNECTIONS_MAX, Plan, RATE_UNIT, RateStage, Scenario, UserShape,
};
use report::{Language, Varied};
use search::{
    Bin, Disturbance, Go, Judge, Moments, OwnEffects, Tally, TimePiece, TrialEnding, TrialOrder, TrialOutcome,
};

use super::Trials;
use super::goals::Goals;
use crate::commands::headless::HeadlessRun;
use crate::commands::run::{Load, Prepared};
use crate::exit::Exit;
use crate::output;
use crate::session::artifacts;
use crate::session::redaction;

/// The number of requests that measure an unloaded target.
const UNLOADED_REQUESTS: u64 = 5;
const UNLOADED_MAX: Duration = Duration::from_secs(5);
/// A target that is this many times slower than at first has not recovered.
const RESTED: f64 = 2.0;
/// Below this time, the target has recovered in any case.
const RESTED_MIN: f64 = 0.002;
/// A thread that was saturated, or waited for a core, for this share of its time had no headroom.
const FULL_SHARE: f64 = 0.2;
/// The grace of exchanges in flight at the end of a trial, as a multiple of the longest goal.
const GRACE: u32 = 2;

/// A load, and its trials.
pub(super) struct TrialRunner {
    prepared: Prepared,
    goals: Goals,
    varied: Varied,
    /// The share of each scenario in the load.
    parts: Vec<f64>,
    quiet: HeadlessRun<'static>,
    /// The target, redacted.
    target: String,
    /// Mean response time of an unloaded target, in seconds.
    alone_s: f64,
}

/// Whether all loads are of users.
pub(super) fn is_closed(plan: &Plan) -> bool {
    plan.scenarios.iter().all(|scenario| matches!(scenario.load, Amount::Closed { .. }))
}

impl TrialRunner {
    /// A runner; or the error message.
    pub(super) fn new(load: &Load, prepared: Prepared, goals: &Goals, wants_users: bool) -> Result<Self, String> {
        let language = load.view.language;
        if let Some(text) = crate::session::validate_args::wrong_parts(&prepared.plan, &goals.all, language) {
            return Err(text.replace("--threshold", "--goal"));
        }
        let plan = &prepared.plan;
        let is_mixed = plan.scenarios.iter().any(|one| is_open(one) != is_open(&plan.scenarios[0]));
        if is_mixed {
            return Err(language
                .pick(
                    "some scenarios of this file have a rate and others users, so there is no one load to vary; choose scenarios with --only",
                    "该文件的场景有的按速率、有的按用户数，没有统一的负载可以改变；请用 --only 选择场景",
                )
                .to_owned());
        }
        if wants_users && is_open(&plan.scenarios[0]) {
            return Err(language
                .pick(
                    "this load has a rate; find-max --vary rate varies it, or give the scenarios users",
                    "该负载是按速率的；请用 --vary rate，或在场景中改用 users",
                )
                .to_owned());
        }
        let whole: f64 = plan.scenarios.iter().map(weight).sum();
        let parts = plan.scenarios.iter().map(|scenario| weight(scenario) / whole).collect();
        let is_request = plan.scenarios.len() == 1 && plan.scenarios[0].steps.len() == 1;
        let varied = if wants_users { Varied::Users } else { Varied::Rate { is_request } };
        let about = artifacts::about(redaction::command(plan, false));
        let quiet = HeadlessRun { screen: load.view.screen, thresholds: goals.all.clone().leak(), about, runs: None };
        let target = redaction::shown_plan(plan, false).scenarios[0].target().url.clone();
        Ok(Self { prepared, goals: goals.clone(), varied, parts, quiet, target, alone_s: 0.0 })
    }

    pub(super) fn command(&self) -> Vec<String> {
        redaction::command(&self.prepared.plan, false)
    }

    pub(super) fn target(&self) -> &str {
        &self.target
    }

    pub(super) fn varied(&self) -> Varied {
        self.varied
    }

    pub(super) fn goals(&self) -> &[String] {
        self.goals.texts()
    }

    /// Keeps the runs of trials there.
    pub(super) fn keep_in(&mut self, runs: Option<Runs>) {
        self.quiet.runs = runs;
    }

    /// Measures the unloaded target; the exit code if it does not work at all.
    pub(super) fn measure_unloaded(&mut self, stop: &StopHandle, language: Language) -> Option<Exit> {
        let run = match self.few(stop) {
            Ok(run) => run,
            Err(error) => {
                output::complain(&report::run_error(&error, language));
                return Some(Exit::System);
            }
        };
        if run.tally.connections_established() == 0 {
            output::complain(&report::nothing_measured(&run, language));
            return Some(Exit::NothingMeasured);
        }
        if run.tally.succeeded() == 0 && run.tally.failed == 0 {
            let waited = run.wall.as_secs_f64().round();
            output::complain(&language.pick(
                format!("one request alone was not answered within {waited}s, so there is no load that could meet a goal; a goal of a longer time waits longer"),
                format!("单独一个请求在 {waited}s 内没有得到响应，因此没有达标的负载；把达标条件中的时间放宽，就会等得更久"),
            ));
            return Some(Exit::Unmet);
        }
        if run.tally.succeeded() == 0 {
            let failed = run.tally.failed;
            output::complain(&language.pick(
                format!("{failed} requests, one after the other, all failed, so there is no load that could meet a goal; 'onrush --debug' shows one in full"),
                format!("逐个发送的 {failed} 个请求全部失败，因此没有达标的负载；用 'onrush --debug' 查看完整的一次"),
            ));
            return Some(Exit::Unmet);
        }
        self.alone_s = mean_s(&run);
        None
    }

    /// A few requests, one after the other.
    fn few(&self, stop: &StopHandle) -> Result<Run, RunError> {
        let mut plan = self.prepared.plan.clone();
        plan.scenarios.truncate(1);
        plan.barriers.clear();
        plan.warmup = Duration::ZERO;
        let scenario = &mut plan.scenarios[0];
        let longest = self.goals.longest().unwrap_or_default() * GRACE;
        closed(scenario, 1, Some(UNLOADED_REQUESTS), UNLOADED_MAX.max(longest));
        plan.grace = plan.grace.max(longest);
        let quiet = HeadlessRun { about: self.quiet.about.clone(), runs: None, ..self.quiet };
        Ok(quiet.measure(plan, (&self.prepared, ""), stop, |_, _| ())?.run)
    }

    /// The plan of a trial.
    fn plan_of(&self, order: &TrialOrder) -> Plan {
        let mut plan = self.prepared.plan.clone();
        (plan.interval, plan.warmup) = (order.bin, order.warmup);
        // A goal on times is decided within this grace; without one every exchange is awaited.
        let timeouts = plan.scenarios.iter().flat_map(|scenario| &scenario.steps).map(|step| step.timeout);
        let longest = self.goals.longest().map(|longest| longest * GRACE).or_else(|| timeouts.max());
        plan.grace = plan.grace.max(longest.unwrap_or_default());
        let users = self.users(order.at);
        for ((scenario, part), users) in plan.scenarios.iter_mut().zip(&self.parts).zip(users) {
            match self.varied {
                Varied::Users | Varied::Connections => closed(scenario, users, None, order.span_max),
                Varied::Rate { .. } => open(scenario, order.at * part, order),
            }
        }
        plan
    }

    /// The users of each scenario: one each, and the others by their shares, largest remainders first.
    fn users(&self, at: f64) -> Vec<u64> {
        let scenarios = self.parts.len() as u64;
        let rest = (at.round() as u64).saturating_sub(scenarios) as f64;
        let mut users: Vec<u64> = self.parts.iter().map(|part| 1 + (rest * part) as u64).collect();
        let mut order: Vec<usize> = (0..users.len()).collect();
        let remainder = |place: &usize| (rest * self.parts[*place]).fract();
        order.sort_by(|one, other| remainder(other).total_cmp(&remainder(one)));
        let missing = (rest as u64 + scenarios).saturating_sub(users.iter().sum());
        order.into_iter().take(missing as usize).for_each(|place| users[place] += 1);
        users
    }

    /// The number of scenarios: a load of users has one in each.
    pub(super) fn scenarios(&self) -> usize {
        self.parts.len()
    }
}

/// Why a trial says nothing of the target, from its bottleneck.
fn fault_of(limit: Limit, varied: Varied) -> Option<Disturbance> {
    match limit {
        Limit::Generator | Limit::Workers => Some(Disturbance::Generator),
        Limit::PortsOrDescriptors => Some(Disturbance::PortsOrDescriptors),
        Limit::Link => Some(Disturbance::Link),
        // In a search for users, they are what is varied.
        Limit::Connections if varied != Varied::Users => Some(Disturbance::Users),
        Limit::Connections | Limit::Below | Limit::Machine | Limit::Target | Limit::PlanKept | Limit::Unknown => None,
    }
}

fn is_open(scenario: &Scenario) -> bool {
    matches!(scenario.load, Amount::Open { .. })
}

/// The weight of a scenario in a load: its mean rate, or its users.
fn weight(scenario: &Scenario) -> f64 {
    match &scenario.load {
        Amount::Closed { users, .. } => *users as f64,
        Amount::Open { stages, .. } => {
            let span: f64 = stages.iter().map(|stage| stage.span.as_secs_f64()).sum();
            let area = |stage: &RateStage| (stage.from + stage.to) as f64 / 2.0 * stage.span.as_secs_f64();
            stages.iter().map(area).sum::<f64>() / span.max(1e-9)
        }
    }
}

/// Makes a scenario a load of users.
fn closed(scenario: &mut Scenario, users: u64, requests: Option<u64>, span: Duration) {
    scenario.load = Amount::Closed { users, shape: UserShape::AtOnce, requests, duration: Some(span) };
    // Users stay as long as the trial.
    (scenario.begin, scenario.iterations_per_user) = (Duration::ZERO, None);
}

/// Makes a scenario a load at a rate.
fn open(scenario: &mut Scenario, at: f64, order: &TrialOrder) {
    let rate = ((at * RATE_UNIT as f64).round() as u64).max(1);
    let stages = vec![RateStage { from: rate, to: rate, span: order.span_max }];
    let longest = scenario.steps.iter().map(|step| step.timeout).max().unwrap_or(UNLOADED_MAX);
    scenario.load = match &scenario.load {
        Amount::Open { arrivals, connections, max_lateness, .. } => {
            // Trials are independent of each other.
            let arrivals = match arrivals {
                Arrivals::Poisson { seed } => Arrivals::Poisson { seed: seed.wrapping_add(order.number as u64) },
                Arrivals::Even => Arrivals::Even,
            };
            let (connections, max_lateness) = (*connections, *max_lateness);
            Amount::Open { stages, arrivals, requests: None, connections, max_lateness }
        }
        Amount::Closed { .. } => Amount::Open {
            stages,
            arrivals: Arrivals::Even,
            requests: None,
            connections: ConnectionCount::UpTo(OPEN_CONNECTIONS_MAX),
            max_lateness: longest,
        },
    };
    // These settings belong to loads of users.
    (scenario.begin, scenario.every, scenario.iterations_per_user, scenario.shared_connections) =
        (Duration::ZERO, None, None, None);
}

fn mean_s(run: &Run) -> f64 {
    run.recorded.succeeded.by_measure(Measure::Response).mean().unwrap_or(0.0) / 1e9
}

impl Trials for TrialRunner {
    fn trial(&mut self, order: &TrialOrder, mut judge: Judge, stop: &StopHandle) -> Result<TrialOutcome, RunError> {
        let plan = self.plan_of(order);
        let (mut tally, mut is_ended, mut own) = (Tally::default(), false, OwnEffects::default());
        let mut beyond = Vec::new();
        // No start comes after that.
        let mut ends_at = Nanos::from(order.span_max);
        let name = format!("{:02}", order.number);
        let scenarios = plan.scenarios.len();
        let shown = plan.clone();
        let measured = self.quiet.measure(plan, (&self.prepared, &name), stop, |reported, control| {
            let lost = self.goals.lost(&shown, reported.added, |scenario| reported.scenarios[scenario].added);
            let mut bin = Bin { lost, times: Moments::new(reported.added), ..Bin::default() };
            let in_flight = reported.total.gauges.in_flight.response.count();
            let piece = TimePiece::new(reported.added, in_flight, order.bin);
            // Exchanges that complete after the end belong to its last piece.
            let is_behind = reported.is_update || reported.from >= ends_at;
            if is_behind {
                own.mend(&piece);
            } else {
                own.piece(&piece).mark(&mut bin);
            }
            let longer = self.goals.longer_by(own.longest());
            beyond = longer.lost(&shown, reported.total, |scenario| reported.scenarios[scenario].total);
            if is_behind {
                return tally.mend(bin);
            }
            tally.push(bin.clone());
            let in_flight = self.goals.lost_in_flight(reported.total);
            if judge.piece(bin, &in_flight) == Go::Stop && !is_ended {
                is_ended = true;
                ends_at = end(control, scenarios).map_or(ends_at, |at| at.min(ends_at));
            }
        })?;
        let run = &measured.run;
        let response = run.recorded.succeeded.by_measure(Measure::Response);
        let limit = run.verdict.limit;
        let fault = own.fault(&TrialEnding {
            goals: &self.goals.allowed(),
            tally: &tally,
            beyond: &beyond,
            is_open: matches!(self.varied, Varied::Rate { .. }),
            threads: run.threads,
            is_full: is_full(run),
            limit: fault_of(limit, self.varied),
        });
        // A run with lost workers is no trial.
        let fault = fault.or_else(|| (limit == Limit::Workers).then_some(Disturbance::Generator));
        Ok(TrialOutcome {
            tally,
            fault,
            measured: run.started_for.as_duration(),
            done_per_s: run.rate,
            p50_ns: response.quantile(0.5),
            p99_ns: response.quantile(0.99),
            stall: own.stall_max(),
            limit: fault.map_or(limit.name(), Disturbance::limit),
            kept_as: measured.kept_as,
            was_stopped: false,
            is_gone: run.tally.connections_established() == 0 && run.tally.failed > 0,
            is_held: None,
        })
    }

    fn is_rested(&mut self, stop: &StopHandle) -> Result<bool, RunError> {
        let run = self.few(stop)?;
        Ok(run.tally.succeeded() > 0 && mean_s(&run) <= (self.alone_s * RESTED).max(RESTED_MIN))
    }
}

/// Whether a generator thread had no headroom.
fn is_full(run: &Run) -> bool {
    let is_it =
        |spent: &engine::ThreadUsage| spent.saturated_share() >= FULL_SHARE || spent.run_delay_share() >= FULL_SHARE;
    run.shards.iter().any(is_it)
}

/// Stops all starts: the result of the trial is certain. Returns the instant; `None` if it is over by itself.
fn end(control: &Control, scenarios: usize) -> Option<Nanos> {
    let ended = (0..scenarios).filter_map(|scenario| control.change(scenario, ChangeKind::End).ok());
    ended.map(|change| change.effective_at).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A trial in which this machine was the bottleneck is no trial of the target.
    #[test]
    fn only_the_target_bounds_a_search() {
        let rate = Varied::Rate { is_request: true };
        let cases = [
            (Limit::Target, None, None),
            (Limit::PlanKept, None, None),
            (Limit::Unknown, None, None),
            (Limit::Below, None, None),
            // With both on one machine, the search is for what the full machine sustains.
            (Limit::Machine, None, None),
            (Limit::Connections, Some(Disturbance::Users), None),
            (Limit::Generator, Some(Disturbance::Generator), Some(Disturbance::Generator)),
            (Limit::Workers, Some(Disturbance::Generator), Some(Disturbance::Generator)),
            (Limit::PortsOrDescriptors, Some(Disturbance::PortsOrDescriptors), Some(Disturbance::PortsOrDescriptors)),
            (Limit::Link, Some(Disturbance::Link), Some(Disturbance::Link)),
        ];
        for (limit, of_rate, of_users) in cases {
            assert_eq!((fault_of(limit, rate), fault_of(limit, Varied::Users)), (of_rate, of_users), "{limit:?}");
        }
    }
}
