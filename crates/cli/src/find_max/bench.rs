//! Trials of a load: a rate, or users.

use std::time::Duration;

use engine::{Control, RunError, StopHandle};
use figures::Run;
use history::Runs;
use metrics::{Class, Measure, Snapshot};
use pacing::change::What;
use plan::{
    Arrivals, ConnectionCount, Load as Amount, OPEN_CONNECTIONS_MAX, Plan, RATE_UNIT, RateStage, Scenario, UserShape,
};
use report::{Language, Varied};
use search::{Bin, Fault, Go, Judge, Moments, Order, Outcome, Tally};

use super::Trials;
use super::goals::Goals;
use crate::exit::Exit;
use crate::load::{Load, Prepared};
use crate::quiet::Quiet;
use crate::{keeping, masking, output};

/// What is tried to find out what the target does when it has nothing else to do.
const LOOK_REQUESTS: u64 = 5;
const LOOK_MAX: Duration = Duration::from_secs(5);
/// A target that is this many times slower than at first is not as it was.
const RESTED: f64 = 2.0;
/// Below this, times are as they were.
const RESTED_MIN: f64 = 0.002;
/// What is in flight at the end of a trial has this many times as long as a goal allows.
const GRACE: u32 = 2;

/// A load and how it is tried.
pub(super) struct Bench {
    prepared: Prepared,
    goals: Goals,
    varied: Varied,
    /// What part of the load is of each scenario.
    parts: Vec<f64>,
    quiet: Quiet<'static>,
    /// Mean response time of a target that has nothing else to do, in seconds.
    alone_s: f64,
}

/// All loads are of users.
pub(super) fn is_closed(plan: &Plan) -> bool {
    plan.scenarios.iter().all(|scenario| matches!(scenario.load, Amount::Closed { .. }))
}

impl Bench {
    /// Or what is wrong, in words.
    pub(super) fn new(load: &Load, prepared: Prepared, goals: &Goals, wants_users: bool) -> Result<Self, String> {
        let language = load.view.language;
        if let Some(text) = crate::judging::wrong_parts(&prepared.plan, &goals.all, language) {
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
                    "this load has a rate; find-max --on rate varies it, or give the scenarios users",
                    "该负载是按速率的；请用 --on rate，或在场景中改用 users",
                )
                .to_owned());
        }
        let whole: f64 = plan.scenarios.iter().map(weight).sum();
        let parts = plan.scenarios.iter().map(|scenario| weight(scenario) / whole).collect();
        let is_request = plan.scenarios.len() == 1 && plan.scenarios[0].steps.len() == 1;
        let varied = if wants_users { Varied::Users } else { Varied::Rate { is_request } };
        let about = keeping::about(masking::command(plan, false));
        let quiet = Quiet { screen: load.view.screen, thresholds: goals.all.clone().leak(), about, runs: None };
        Ok(Self { prepared, goals: goals.clone(), varied, parts, quiet, alone_s: 0.0 })
    }

    pub(super) fn command(&self) -> Vec<String> {
        masking::command(&self.prepared.plan, false)
    }

    pub(super) fn target(&self) -> &str {
        &self.prepared.plan.scenarios[0].target().url
    }

    pub(super) fn varied(&self) -> Varied {
        self.varied
    }

    pub(super) fn goals(&self) -> &[String] {
        self.goals.texts()
    }

    /// Every trial is kept there.
    pub(super) fn keep_in(&mut self, runs: Option<Runs>) {
        self.quiet.runs = runs;
    }

    /// What the target does when it has nothing else to do; how it ended, where it does nothing at all.
    pub(super) fn look(&mut self, language: Language) -> Option<Exit> {
        let stop = StopHandle::default();
        let run = match self.few(&stop) {
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
        if run.tally.succeeded() == 0 {
            let failed = run.tally.failed;
            output::complain(&language.pick(
                format!("{failed} requests, one after the other, all failed, so there is no load that could meet a goal; 'onrush --debug' shows one in full"),
                format!("逐个发送的 {failed} 个请求全部失败，因此没有负载能达到目标；用 'onrush --debug' 查看完整的一次"),
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
        plan.meetings.clear();
        plan.warmup = Duration::ZERO;
        let scenario = &mut plan.scenarios[0];
        closed(scenario, 1, Some(LOOK_REQUESTS), LOOK_MAX);
        let quiet = Quiet { about: self.quiet.about.clone(), runs: None, ..self.quiet };
        Ok(quiet.measure(plan, (&self.prepared, ""), stop, |_, _| ())?.run)
    }

    /// The load of a trial.
    fn plan_of(&self, order: &Order) -> Plan {
        let mut plan = self.prepared.plan.clone();
        (plan.interval, plan.warmup) = (order.bin, order.warmup);
        plan.grace = plan.grace.max(self.goals.longest() * GRACE);
        for (scenario, part) in plan.scenarios.iter_mut().zip(&self.parts) {
            let at = order.at * part;
            match self.varied {
                Varied::Users | Varied::Connections => {
                    closed(scenario, (at.round() as u64).max(1), None, order.span_max);
                }
                Varied::Rate { .. } => open(scenario, at, order),
            }
        }
        plan
    }
}

fn is_open(scenario: &Scenario) -> bool {
    matches!(scenario.load, Amount::Open { .. })
}

/// How much of a load a scenario is: its mean rate, or its users.
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

/// Users that are busy.
fn closed(scenario: &mut Scenario, users: u64, requests: Option<u64>, span: Duration) {
    scenario.load = Amount::Closed { users, shape: UserShape::AtOnce, requests, duration: Some(span) };
    scenario.begin = Duration::ZERO;
}

/// Starts at a rate.
fn open(scenario: &mut Scenario, at: f64, order: &Order) {
    let rate = ((at * RATE_UNIT as f64).round() as u64).max(1);
    let stages = vec![RateStage { from: rate, to: rate, span: order.span_max }];
    let longest = scenario.steps.iter().map(|step| step.timeout).max().unwrap_or(LOOK_MAX);
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
    // These are of users that are kept busy.
    (scenario.begin, scenario.every, scenario.iterations_each, scenario.shared_connections) =
        (Duration::ZERO, None, None, None);
}

fn mean_s(run: &Run) -> f64 {
    run.recorded.succeeded.of(Measure::Response).mean().unwrap_or(0.0) / 1e9
}

fn moments(seen: &Snapshot) -> Moments {
    let succeeded = seen.class(Class::Succeeded);
    let times = succeeded.of(Measure::Response);
    let (count, mean) = (times.count() as f64, times.mean().unwrap_or(0.0) / 1e9);
    let spread = times.stdev().unwrap_or(0.0) / 1e9;
    let squares = count * (spread * spread + mean * mean);
    Moments { count, sum: times.sum() as f64 / 1e9, squares, most: times.max().unwrap_or(0) as f64 / 1e9 }
}

impl Trials for Bench {
    fn trial(&mut self, order: &Order, mut judge: Judge, stop: &StopHandle) -> Result<Outcome, RunError> {
        let plan = self.plan_of(order);
        let (mut tally, mut is_ended) = (Tally::default(), false);
        let name = format!("{:02}", order.number);
        let scenarios = plan.scenarios.len();
        let shown = plan.clone();
        let measured = self.quiet.measure(plan, (&self.prepared, &name), stop, |told, control| {
            let lost = self.goals.lost(&shown, told.added, |scenario| told.scenarios[scenario].added);
            let bin = Bin { lost, times: moments(told.added) };
            if told.is_again {
                return tally.mend(bin);
            }
            tally.push(bin.clone());
            let in_flight = self.goals.lost_in_flight(told.total);
            if judge.piece(bin, &in_flight) == Go::Stop && !is_ended {
                is_ended = true;
                end(control, scenarios);
            }
        })?;
        let run = &measured.run;
        let response = run.recorded.succeeded.of(Measure::Response);
        let limit = run.verdict.limit;
        let fault = match limit {
            engine::Limit::Generator => Some(Fault::Generator),
            engine::Limit::PortsOrDescriptors => Some(Fault::PortsOrDescriptors),
            engine::Limit::Link => Some(Fault::Link),
            engine::Limit::Users if self.varied != Varied::Users => Some(Fault::Users),
            _ => None,
        };
        let span = run.started_for.as_secs_f64();
        Ok(Outcome {
            tally,
            fault,
            measured: run.started_for.as_duration(),
            done_per_s: if span > 0.0 { run.tally.finished() as f64 / span } else { 0.0 },
            p50_ns: response.quantile(0.5),
            p99_ns: response.quantile(0.99),
            limit: limit.name(),
            kept_as: measured.kept_as,
            was_stopped: false,
            is_held: None,
        })
    }

    fn is_rested(&mut self, stop: &StopHandle) -> Result<bool, RunError> {
        let run = self.few(stop)?;
        let is_well = run.tally.succeeded() > 0 && run.tally.failed == 0;
        Ok(is_well && mean_s(&run) <= (self.alone_s * RESTED).max(RESTED_MIN))
    }
}

/// Nothing more is started: what the trial shows is sure.
fn end(control: &Control, scenarios: usize) {
    for scenario in 0..scenarios {
        // It may be over by itself.
        let _ = control.change(scenario, What::End);
    }
}
