//! The probe: when a closed load is over, half of its users go on alone for a moment. At its limit a target gives them the whole
//! rate, and else their share of it: so is known what no figure of the load itself says.
//!
//! It is a run of its own, with nothing of it in any figure of the load. Its users are new, and counted from when each has had an
//! answer on average.

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
use crate::halving::{Responses, Steady};
use crate::lookout::Lookout;
use crate::probed::{NotTried, Probe, ProbeWish};
use crate::run::{Interval, RunOptions, RunResult, Running, Told};
use crate::slices::Slice;
use counting::{Counting, SLICE};

/// Methods that change nothing of what a target keeps (RFC 9110, 9.2.1).
const SAFE: [&str; 3] = ["GET", "HEAD", "OPTIONS"];
/// Users that change in this last part of a load are not the same to its end.
const STEADY_PART: u64 = 8;

/// A probe that goes on: what it does, and what it has seen.
pub struct Probing {
    plan: Arc<Plan>,
    probe: Probe,
    counting: Counting,
}

impl Probing {
    /// Half of the users of a load that is over.
    ///
    /// # Errors
    /// It is not asked of such a load.
    pub fn of(plan: &Plan, result: &RunResult, wish: ProbeWish) -> Result<Self, NotTried> {
        let [scenario] = &plan.scenarios[..] else { return Err(NotTried::Several) };
        let Load::Closed { users, shape, requests, duration } = &scenario.load else { return Err(NotTried::Counted) };
        let is_counted = requests.is_some() || scenario.iterations_each.is_some() || plan.budget != Budget::default();
        let (false, Some(duration)) = (is_counted, duration) else { return Err(NotTried::Counted) };
        if wish == ProbeWish::Never {
            return Err(NotTried::Unwanted);
        }
        if result.was_stopped || result.spent.is_some() {
            return Err(NotTried::Stopped);
        }
        if wish == ProbeWish::Asked {
            return Err(NotTried::Unasked);
        }
        if wish == ProbeWish::Safe && !scenario.steps.iter().all(|step| is_safe(&step.request) && step.talk.is_none()) {
            return Err(NotTried::Changing);
        }
        let does_once = scenario.program.has_apart() || !scenario.program.meetings().is_empty();
        if does_once || !result.used_up.is_empty() || *shape == UserShape::Rendezvous {
            return Err(NotTried::Once);
        }
        if scenario.shared_connections.is_some_and(|shared| shared < scenario.users()) {
            return Err(NotTried::Shared);
        }
        let end = Nanos::from(scenario.begin + *duration);
        let instants = [end.0.saturating_sub(1), end.0 - end.0 / STEADY_PART];
        let [last, before] = instants.map(|at| result.users_at(Nanos(at)));
        let was_changed = result.timelines.iter().any(|timeline| timeline.revision() > 0);
        let connections = last.unwrap_or(*users);
        if last != before || was_changed {
            return Err(NotTried::UsersChanged);
        }
        let streams = u64::from(scenario.target().streams);
        let half = half_of(connections, streams).ok_or(NotTried::OneUser)?;
        let response = result.total.all();
        let response = response.of(Measure::Response);
        let response_ns = response.mean().unwrap_or(0.0);
        let spread = response.stdev().unwrap_or(0.0) / response_ns.max(1.0);
        let responses = Responses { mean_s: response_ns / 1e9, spread };
        let before = result.slices.first().and_then(|slices| Steady::before_the_end(slices, response_ns / 1e9));
        let (users, of) = (half.0 * half.1, connections * streams);
        let counting = Counting::new(before, (users, of), responses, end);
        Ok(Self {
            plan: Arc::new(plan_of(scenario, half, counting.longest())),
            probe: Probe { users, of, started: 0, span: Nanos::ZERO, before, seen: None, time: None },
            counting,
        })
    }

    /// What half of the users do. It is not worth a request where the rate before did not stay the same.
    pub fn plan(&self) -> Option<&Arc<Plan>> {
        self.probe.before.is_some().then_some(&self.plan)
    }

    /// Takes what was seen in an interval. True when enough was seen.
    pub fn take(&mut self, interval: &Interval<'_>) -> bool {
        let index = (interval.to.0.div_ceil(SLICE.0) as usize).saturating_sub(1);
        self.counting.add(index, &Slice::of(interval.added));
        // Who was late may have to tell of what is over.
        interval.late_shards == 0 && !interval.is_again && self.counting.look()
    }

    /// What it came to.
    pub fn finish(mut self, result: Option<&RunResult>) -> Probe {
        self.probe.seen = self.counting.seen();
        if let Some(result) = result {
            let mean = result.total.all().of(Measure::Response).mean();
            let before_s = self.counting.responses().mean_s;
            self.probe.time = mean.filter(|_| before_s > 0.0).map(|mean| mean / 1e9 / before_s);
            (self.probe.started, self.probe.span) = (result.total.counts.started(), result.wall);
        }
        self.probe
    }
}

/// Nothing that a target keeps is changed by it.
fn is_safe(request: &Request) -> bool {
    SAFE.contains(&request.method.as_str())
}

/// Half of the connections, or where there is one, half of its streams.
fn half_of(connections: u64, streams: u64) -> Option<(u64, u64)> {
    match (connections, streams) {
        (2.., _) => Some((connections / 2, streams)),
        (1, 2..) => Some((1, streams / 2)),
        _ => None,
    }
}

fn plan_of(scenario: &Scenario, (users, streams): (u64, u64), span: Nanos) -> Plan {
    let mut scenario = scenario.clone();
    let duration = Some(span.as_duration());
    scenario.load = Load::Closed { users, shape: UserShape::AtOnce, requests: None, duration };
    scenario.begin = Duration::ZERO;
    scenario.targets.iter_mut().for_each(|target| target.streams = target.streams.min(streams as u32));
    Plan {
        scenarios: vec![scenario],
        grace: Duration::ZERO,
        warmup: Duration::ZERO,
        interval: SLICE.as_duration(),
        meetings: Vec::new(),
        keeps: plan::Keeps { persists: true, ..plan::Keeps::default() },
        budget: Budget::default(),
        seed: None,
    }
}

/// Lets half of the users of a load that is over go on, where that tells something, and says who was the limit then.
pub fn probe(plan: &Plan, options: &RunOptions, result: &mut RunResult, wish: ProbeWish, stop: &StopHandle) {
    if !result.verdict.wants_probe() {
        return;
    }
    let probing = if options.team.is_some() { Err(NotTried::Elsewhere) } else { Probing::of(plan, result, wish) };
    let probed = match probing {
        // What was measured is told, whatever becomes of the rest.
        Ok(probing) => carried_out(probing, options, stop).map_err(|_| NotTried::Failed),
        Err(why) => Err(why),
    };
    // Who ends it has not seen it.
    let probed = if stop.is_stopped() && !result.was_stopped { probed.and(Err(NotTried::Stopped)) } else { probed };
    result.learn(probed);
}

fn carried_out(mut probing: Probing, options: &RunOptions, stop: &StopHandle) -> Result<Probe, RunError> {
    let Some(plan) = probing.plan().cloned() else { return Ok(probing.finish(None)) };
    let options = RunOptions { lookout: Lookout::default(), ..options.clone() };
    let own = StopHandle::default();
    let mut running = Running::start(plan, options, &own)?;
    while let Some(told) = running.wait() {
        if let Told::Interval(interval) = told
            && (probing.take(&interval) || stop.is_stopped())
        {
            own.abort();
        }
    }
    let result = running.finish()?;
    Ok(probing.finish(Some(&result)))
}
