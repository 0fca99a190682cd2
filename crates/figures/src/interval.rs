//! One interval of a run.

use metrics::{Censored, Class, Distribution, Measure};
use pacing::Nanos;
use plan::Plan;

use crate::parts::{self, ScenarioPart};
use crate::times::{Spread, UnreliableMarks};
use crate::{FailureCount, Tally, Times, per_second};

/// A connection that takes longer than this was asked for twice: the kernel sends a SYN that was not answered again after it.
const SYN_AGAIN_NS: u64 = 1_000_000_000;
/// The most that a connection can take.
const CONNECT_NS_MAX: u64 = 600_000_000_000;

/// What all shards saw in one interval.
#[derive(Clone, Debug)]
pub struct Interval {
    /// The first is 1.
    pub number: u64,
    /// Since the start of the run.
    pub from: Nanos,
    /// Since the start of the run.
    pub to: Nanos,
    /// How long of it the load was paused; that is in no rate.
    pub paused: Nanos,
    /// Shards that had not told of it when it was told first. It is told again when they have.
    pub late_shards: usize,
    /// It was told before, and is more complete now.
    pub is_again: bool,
    /// What happened in it, as far as it is known.
    pub seen: Tally,
    /// What happened since the start.
    pub total: Tally,
    /// Finished exchanges a second.
    pub requests_per_s: f64,
    /// Bytes that came a second.
    pub bytes_received_per_s: f64,
    /// Response times of successful requests in it.
    pub response: Times,
    /// Response times of whatever else ended in it, by how it ended; without those of which there are none.
    pub others: Vec<(Class, Times)>,
    /// Exchanges that were in flight at its end.
    pub in_flight: u64,
    /// Each scenario and its steps.
    pub scenarios: Vec<ScenarioPart>,
    /// From the start of the run: response times of all that ended, or the times of whole chains where redirects are followed.
    pub whole: Spread,
    /// What of it was not told before.
    pub added: Added,
}

/// What an interval says that was not said before.
#[derive(Clone, Debug)]
pub struct Added {
    /// It says nothing new.
    pub is_empty: bool,
    /// Connections that were cut off when they were new, and those that were open then.
    pub cut_off: u64,
    /// Connections that were open.
    pub connections_open: u64,
    /// New connections for which the kernel had to ask twice.
    pub slow_connects: u64,
    /// What happened.
    pub tally: Tally,
    /// Failures.
    pub failures: Vec<FailureCount>,
    /// CPU time of the shards.
    pub cpu_ns: u64,
    /// How late we were with what ended.
    pub lateness: Distribution,
    /// Response times of successful requests.
    pub response: Distribution,
    /// Service times of what succeeded.
    pub service: Distribution,
    /// Each scenario and its steps; `None` where all of the interval is new.
    scenarios: Option<Vec<ScenarioPart>>,
}

impl Interval {
    /// What the engine says of an interval.
    pub fn of(interval: &engine::Interval<'_>, plan: &Plan) -> Self {
        let &engine::Interval { number, from, to, paused, late_shards, is_again, seen, total, .. } = interval;
        let seconds = (to - from).since(paused).as_secs_f64();
        let tally = Tally::of(seen);
        let response = parts::of_class(seen, Class::Succeeded, Measure::Response);
        let censored = Censored::of_times(&parts::incomplete(seen), &response);
        let of_class = |class| (class, Times::known(&parts::of_class(seen, class, Measure::Response)));
        let others = Class::ALL.into_iter().filter(|class| *class != Class::Succeeded).map(of_class);
        Self {
            number,
            from,
            to,
            paused,
            late_shards,
            is_again,
            requests_per_s: per_second(tally.finished(), seconds),
            bytes_received_per_s: per_second(tally.bytes_received(), seconds),
            seen: tally,
            total: Tally::of(total),
            response: Times::of(&response, &censored, UnreliableMarks::default()),
            others: others.filter(|(_, times)| times.count > 0).collect(),
            in_flight: seen.gauges.in_flight.response.count(),
            scenarios: ScenarioPart::all(plan, interval.scenarios.iter().map(|part| part.seen)),
            whole: match total.chains.count() {
                0 => parts::spread_of_all(total, Measure::Response),
                _ => Spread::of(&total.chains),
            },
            added: Added::of(interval, plan, response),
        }
    }

    /// Each scenario and its steps: what of them was not told before.
    pub fn added_scenarios(&self) -> &[ScenarioPart] {
        self.added.scenarios.as_deref().unwrap_or(&self.scenarios)
    }

    /// Seconds in which the load was not paused.
    pub fn working_s(&self) -> f64 {
        (self.to - self.from).since(self.paused).as_secs_f64()
    }
}

impl Added {
    fn of(interval: &engine::Interval<'_>, plan: &Plan, response: Distribution) -> Self {
        let added = interval.added;
        // All of an interval is new when it is told first.
        let response =
            if interval.is_again { parts::of_class(added, Class::Succeeded, Measure::Response) } else { response };
        let scenarios =
            interval.is_again.then(|| ScenarioPart::all(plan, interval.scenarios.iter().map(|part| part.added)));
        Self {
            scenarios,
            is_empty: added.counts.is_empty(),
            cut_off: added.counts.cut_off(),
            connections_open: added.gauges.connections_open,
            slow_connects: added.connect.count_between(SYN_AGAIN_NS, CONNECT_NS_MAX),
            tally: Tally::of(added),
            failures: FailureCount::all(&added.counts, &added.blamed),
            cpu_ns: added.cpu_ns,
            lateness: parts::of_every_class(added, Measure::Lateness),
            response,
            service: parts::of_class(added, Class::Succeeded, Measure::Service),
        }
    }

    /// How often a failure was met.
    pub fn failures_of(&self, failure: metrics::Failure) -> u64 {
        self.failures.iter().find(|each| each.failure == failure).map_or(0, |each| each.count)
    }
}
