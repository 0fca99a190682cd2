//! The probe: when a closed load is over, half of the users of each scenario go on alone for a moment. A target at
//! its limit gives them the whole rate, any other only their share of it: the figures of the load itself do not show
//! that.
//!
//! It is a run of its own, on the same workers, and no figure of the load contains it. Its users are new, and counted
//! from when each has had one response on average. Workers send their stretches and the first round with the end of
//! their parts.

mod counting;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use metrics::Measure;
use pacing::Nanos;
use plan::{Budget, Load, Plan, Request, Scenario, UserShape};

use crate::control::StopHandle;
use crate::error::RunError;
use crate::probe_arithmetic::{Responses, Steady};
use crate::probed::{NotTried, Probe, ProbeOption};
use crate::request_log::RequestLogConfig;
use crate::run::{Interval, RunOptions, RunResult, RunUpdate, Running};
use crate::slices::Slice;
use counting::Counting;

/// Methods that do not change state of a target (RFC 9110, 9.2.1).
const SAFE: [&str; 3] = ["GET", "HEAD", "OPTIONS"];
/// Width of the slices in which finished exchanges are counted; with remote workers they are wider.
const SLICE: Nanos = Nanos::from_millis(10);
const SLICE_REMOTE: Nanos = Nanos::from_millis(50);
/// Users must not change in this last fraction of a load.
const STEADY_PART: u64 = 8;

/// A probe in progress: what it does, and what it has seen.
pub struct Probing {
    plan: Arc<Plan>,
    /// Width of the slices in which finished exchanges are counted.
    slice: Nanos,
    each: Vec<OfScenario>,
}

/// The probe of one scenario.
struct OfScenario {
    probe: Probe,
    counting: Counting,
    /// Enough was seen of it.
    is_over: bool,
}

impl Probing {
    /// A probe with half of the users of a load that is over, for each of its scenarios.
    ///
    /// # Errors
    /// Such a load is not probed.
    pub fn new(plan: &Plan, result: &RunResult, stop_level: ProbeOption) -> Result<Self, NotTried> {
        let ends = plan.scenarios.iter().map(end_of).collect::<Option<Vec<Nanos>>>();
        let is_counted = plan.budget != Budget::default();
        if is_counted {
            return Err(NotTried::Counted);
        }
        let ends = ends.ok_or(if plan.scenarios.len() == 1 { NotTried::Counted } else { NotTried::Several })?;
        if stop_level == ProbeOption::Never {
            return Err(NotTried::Unwanted);
        }
        if result.was_stopped || result.spent.is_some() {
            return Err(NotTried::Stopped);
        }
        if stop_level == ProbeOption::IfRequested {
            return Err(NotTried::NotRequested);
        }
        // Who is gone by the end has no half there.
        let Some(&end) = ends.first().filter(|first| ends.iter().all(|end| end == *first)) else {
            return Err(NotTried::Several);
        };
        if !result.used_up.is_empty() {
            return Err(NotTried::Once);
        }
        let workers = result.workers_summary.as_ref().map_or(0, |workers_summary| workers_summary.workers.len() as u64);
        let slice = if workers > 0 { SLICE_REMOTE } else { SLICE };
        let all = plan.scenarios.iter().enumerate();
        let each = all
            .map(|(number, scenario)| OfScenario::new((number, scenario), result, stop_level, (end, slice, workers)));
        let each = each.collect::<Result<Vec<_>, _>>()?;
        let longest = each.iter().map(|of| of.counting.longest()).max().unwrap_or_default();
        let halves = plan.scenarios.iter().zip(&each).map(|(scenario, of)| half_as_load(scenario, &of.probe, longest));
        Ok(Self { plan: Arc::new(plan_of(halves.collect(), slice)), slice, each })
    }

    /// The plan of the probe. It is not worth a request where the rate before was not steady.
    pub fn plan(&self) -> Option<&Arc<Plan>> {
        self.each.iter().any(|of| of.probe.before.is_some()).then_some(&self.plan)
    }

    /// Takes an interval. True when enough was seen.
    pub fn take(&mut self, interval: &Interval<'_>) -> bool {
        let index = (interval.to.0.div_ceil(self.slice.0) as usize).saturating_sub(1);
        for (of, seen) in self.each.iter_mut().zip(&interval.scenarios) {
            of.counting.add(index, &Slice::from_snapshot(seen.added));
        }
        // A late shard may still have to report on what is over.
        if interval.late_shards > 0 || interval.is_update {
            return false;
        }
        self.each.iter_mut().for_each(|of| of.is_over = of.is_over || of.counting.is_enough());
        self.each.iter().all(|of| of.is_over)
    }

    /// The result, scenario by scenario.
    pub fn finish(self, result: Option<&RunResult>) -> Vec<Probe> {
        self.each.into_iter().enumerate().map(|(number, of)| of.finish(number, result)).collect()
    }
}

impl OfScenario {
    fn new(
        (number, scenario): (usize, &Scenario),
        result: &RunResult,
        stop_level: ProbeOption,
        (end, slice, workers): (Nanos, Nanos, u64),
    ) -> Result<Self, NotTried> {
        let Load::Closed { users, shape, .. } = &scenario.load else { return Err(NotTried::Several) };
        if stop_level == ProbeOption::Safe
            && !scenario.steps.iter().all(|step| is_safe(&step.request) && step.messaging.is_none())
        {
            return Err(NotTried::Changing);
        }
        let does_once = scenario.program.has_setup_or_teardown() || !scenario.program.barriers().is_empty();
        if does_once || *shape == UserShape::Rendezvous {
            return Err(NotTried::Once);
        }
        if scenario.shared_connections.is_some_and(|shared| shared < scenario.users()) {
            return Err(NotTried::Shared);
        }
        let instants = [end.0.saturating_sub(1), end.0 - end.0 / STEADY_PART];
        let [last, before] = instants.map(|at| result.users_at(number, Nanos(at)));
        let was_changed = result.timelines.iter().any(|timeline| timeline.revision() > 0);
        let connections = last.unwrap_or(*users);
        if last != before || was_changed {
            return Err(NotTried::UsersChanged);
        }
        let streams = u64::from(scenario.target().streams);
        let half = half_of(connections, streams).ok_or(NotTried::OneUser)?;
        // Half of the users run on as many machines as all of them did.
        if connections < 2 * workers {
            return Err(NotTried::FewInWorkers);
        }
        let response = result.total_of(number).all();
        let response = response.by_measure(Measure::Response);
        let response_ns = response.mean().unwrap_or(0.0);
        let spread = response.stdev().unwrap_or(0.0) / response_ns.max(1.0);
        let responses = Responses { mean_s: response_ns / 1e9, spread };
        let before = result.ends.get(number).and_then(|end| Steady::before_the_end(&end.slices, responses.mean_s));
        let (users, of) = (half.0 * half.1, connections * streams);
        Ok(Self {
            counting: Counting::new(before, (users, of), responses, (end, slice)),
            probe: Probe { users, of, half, started: 0, span: Nanos::ZERO, before, seen: None, time: None },
            is_over: false,
        })
    }

    fn finish(mut self, number: usize, result: Option<&RunResult>) -> Probe {
        self.probe.seen = self.counting.seen();
        if let Some(result) = result {
            let total = result.total_of(number);
            let mean = total.all().by_measure(Measure::Response).mean();
            let before_s = self.counting.responses().mean_s;
            self.probe.time = mean.filter(|_| before_s > 0.0).map(|mean| mean / 1e9 / before_s);
            (self.probe.started, self.probe.span) = (total.counts.started(), result.wall);
        }
        self.probe
    }
}

/// End of a load of users that only time ends; `None` for another load.
fn end_of(scenario: &Scenario) -> Option<Nanos> {
    match scenario.load {
        Load::Closed { requests: None, duration: Some(duration), .. } if scenario.iterations_per_user.is_none() => {
            Some(Nanos::from(scenario.begin + duration))
        }
        _ => None,
    }
}

/// The request does not change state of the target.
fn is_safe(request: &Request) -> bool {
    SAFE.contains(&request.method.as_str())
}

/// Half of the connections, or with one connection, half of its streams.
fn half_of(connections: u64, streams: u64) -> Option<(u64, u64)> {
    match (connections, streams) {
        (2.., _) => Some((connections / 2, streams)),
        (1, 2..) => Some((1, streams / 2)),
        _ => None,
    }
}

fn half_as_load(scenario: &Scenario, probe: &Probe, span: Nanos) -> Scenario {
    let mut scenario = scenario.clone();
    let ((users, streams), duration) = (probe.half, Some(span.as_duration()));
    scenario.load = Load::Closed { users, shape: UserShape::AtOnce, requests: None, duration };
    scenario.begin = Duration::ZERO;
    scenario.targets.iter_mut().for_each(|target| target.streams = target.streams.min(streams as u32));
    scenario
}

fn plan_of(scenarios: Vec<Scenario>, slice: Nanos) -> Plan {
    Plan {
        scenarios,
        grace: Duration::ZERO,
        stop_within: plan::STOP_WITHIN,
        warmup: Duration::ZERO,
        interval: slice.as_duration(),
        barriers: Vec::new(),
        capture_options: plan::CaptureOptions { ignores_failures: true, ..plan::CaptureOptions::default() },
        budget: Budget::default(),
        seed: None,
    }
}

/// Lets half of the users of a finished load go on, where that tells something, and names the bottleneck then.
pub fn probe(plan: &Plan, options: &RunOptions, result: &mut RunResult, stop_level: ProbeOption, stop: &StopHandle) {
    if !result.wants_probe() {
        return;
    }
    let can_go_on = options.backend.as_ref().is_none_or(|backend| backend.goes_on_alone());
    let probing = if can_go_on { Probing::new(plan, result, stop_level) } else { Err(NotTried::Elsewhere) };
    let probed = match probing {
        // The measurements are reported, whatever happens to the probe.
        Ok(probing) => carried_out(probing, options, stop).map_err(|_| NotTried::Failed),
        Err(why) => Err(why),
    };
    // A stopped probe has no conclusion, but the requests that it made are reported.
    if let (Ok(probes), true) = (&probed, stop.is_stopped() && !result.was_stopped) {
        let probes = probes.clone();
        result.learn(Err(NotTried::Stopped));
        result.probes = probes;
    } else {
        result.learn(probed);
    }
}

fn carried_out(mut probing: Probing, options: &RunOptions, stop: &StopHandle) -> Result<Vec<Probe>, RunError> {
    let Some(plan) = probing.plan().cloned() else { return Ok(probing.finish(None)) };
    let options = RunOptions { log_config: RequestLogConfig::default(), ..options.clone() };
    let own = StopHandle::default();
    let mut running = Running::start(plan, options, &own)?;
    while let Some(reported) = running.wait() {
        if let RunUpdate::Interval(interval) = reported
            && (probing.take(&interval) || stop.is_stopped())
        {
            own.abort();
        }
    }
    let result = running.finish()?;
    Ok(probing.finish(Some(&result)))
}
