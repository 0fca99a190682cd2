//! Trials of held connections.

use engine::{RunError, StopHandle};
use figures::Held;
use history::Runs;
use metrics::{Failure, GoalMisses, Threshold};
use report::{Language, Screen};
use search::{Bin, Disturbance, Judge, Tally, TrialOrder, TrialOutcome};

use super::Trials;
use crate::commands::headless::HeadlessHold;
use crate::commands::hold::PreparedHold;

/// The goals: all connections are held, and messages on them take no longer than this.
pub(super) struct Goals {
    of_times: Vec<Threshold>,
}

impl Goals {
    /// Goals on percentiles of response times; everything else is always required.
    pub(super) fn read(given: &[String], language: Language) -> Result<Self, String> {
        let mut of_times = Vec::new();
        for text in given {
            let goal = super::goals::read(text, language)?;
            if goal.limit_of_time(metrics::Measure::Response).is_none() {
                return Err(language.pick(
                    format!("--goal '{text}': of held connections a goal is a percentile of response_time; that all are held is always wanted"),
                    format!("--goal '{text}'：长连接的达标条件只能是 response_time 的百分位；所有连接都不断开始终是要求"),
                ));
            }
            of_times.push(goal);
        }
        Ok(Self { of_times })
    }

    pub(super) fn texts(&self, language: Language) -> Vec<String> {
        let held = language.pick("all connections are held", "所有连接都不断开").to_owned();
        std::iter::once(held).chain(self.of_times.iter().map(|goal| goal.text.clone())).collect()
    }

    pub(super) fn allowed(&self) -> Vec<(f64, Option<f64>)> {
        let of_times = self.of_times.iter().map(|goal| (goal.lost_share_max().unwrap_or(0.0), None));
        std::iter::once((0.0, None)).chain(of_times).collect()
    }
}

/// Trials of held connections.
pub(super) struct HoldTrialRunner {
    ready: PreparedHold,
    goals: Goals,
    runs: Option<Runs>,
    screen: Screen,
}

impl HoldTrialRunner {
    pub(super) fn new(ready: PreparedHold, goals: Goals, runs: Option<Runs>, screen: Screen) -> Self {
        Self { ready, goals, runs, screen }
    }

    fn outcome(&self, held: &Held, order: &TrialOrder) -> TrialOutcome {
        let requested = order.at as u64;
        let missing = requested.saturating_sub(held.most_open) + held.tally.lost;
        let mut lost = vec![GoalMisses { lost: if held.is_kept { 0 } else { missing.max(1) }, of: requested }];
        for goal in &self.goals.of_times {
            let limit = goal.limit_ns().unwrap_or(u64::MAX);
            let never = held.response.incomplete;
            let known = GoalMisses { lost: held.answered.count_between(limit, u64::MAX), of: held.answered.count() };
            lost.push(known.with(GoalMisses { lost: never, of: never }));
        }
        let allowed = self.goals.allowed();
        let is_held = lost.iter().zip(&allowed).all(|(lost, (share, _))| lost.share() <= *share);
        let is_own = |failure: Failure| matches!(failure, Failure::NoLocalPort | Failure::NoDescriptor);
        let own = held.tally.failed_by.iter().any(|each| is_own(each.failure));
        let fault = if own || held.stopped_opening.is_some() {
            Some(Disturbance::PortsOrDescriptors)
        } else {
            held.is_generator_busy.then_some(Disturbance::Generator)
        };
        let mut tally = Tally::default();
        tally.push(Bin { lost, ..Bin::default() });
        let open = held.when_closing.open;
        TrialOutcome {
            tally,
            // Held connections count as held, however busy the generator was.
            fault: fault.filter(|_| !is_held),
            stall: std::time::Duration::ZERO,
            measured: held.wall.as_duration(),
            done_per_s: open as f64,
            p50_ns: held.answered.quantile(0.5),
            p99_ns: held.answered.quantile(0.99),
            limit: match fault {
                Some(fault) if !is_held => fault.limit(),
                _ if is_held => "plan_kept",
                _ => "target",
            },
            kept_as: None,
            was_stopped: held.was_stopped,
            is_gone: held.tally.established() == 0 && held.tally.failed > 0,
            is_held: Some(is_held),
        }
    }
}

impl Trials for HoldTrialRunner {
    fn trial(&mut self, order: &TrialOrder, _: Judge, stop: &StopHandle) -> Result<TrialOutcome, RunError> {
        let mut plan = self.ready.plan.clone();
        (plan.connections, plan.duration) = (order.at as u64, order.span);
        let name = format!("{:02}", order.number);
        let quiet = HeadlessHold { ready: &self.ready, runs: self.runs.as_ref(), screen: self.screen };
        let (held, kept_as) = quiet.hold(plan, &name, stop)?;
        Ok(TrialOutcome { kept_as, ..self.outcome(&held, order) })
    }

    fn is_rested(&mut self, _: &StopHandle) -> Result<bool, RunError> {
        // Closed connections leave nothing behind that could be checked.
        Ok(true)
    }
}
