//! One interval of a run.

use metrics::{Censored, Class, Distribution, Measure};
use pacing::Nanos;
use plan::Plan;

use crate::addresses::AddressFigures;
use crate::parts::{self, ScenarioPart};
use crate::times::{Spread, UnreliableMarks};
use crate::{FailureCount, Tally, Times, per_second};

/// A connection that took longer than this was requested twice: the kernel resends an unanswered SYN after this time.
const SYN_AGAIN_NS: u64 = 1_000_000_000;
/// The longest time that a connection can take.
const CONNECT_NS_MAX: u64 = 600_000_000_000;

/// The data of all shards for one interval.
#[derive(Clone, Debug)]
pub struct Interval {
    /// The number of the interval; the first is 1.
    pub number: u64,
    /// Start of the interval, since the start of the run.
    pub from: Nanos,
    /// End of the interval, since the start of the run.
    pub to: Nanos,
    /// The time in it during which the load was paused; rates exclude it.
    pub paused: Nanos,
    /// Shards that had not reported when the interval was first emitted. An update follows when they have.
    pub late_shards: usize,
    /// Whether it is an update: it was emitted before, and is more complete now.
    pub is_update: bool,
    /// Counts of the interval, as far as known.
    pub seen: Tally,
    /// Counts since the start.
    pub total: Tally,
    /// Completed exchanges per second.
    pub requests_per_s: f64,
    /// Bytes received per second.
    pub bytes_received_per_s: f64,
    /// Response times of successful requests in it.
    pub response: Times,
    /// Response times of everything else that completed in it, by class; classes without any are left out.
    pub others: Vec<(Class, Times)>,
    /// Exchanges in flight at its end.
    pub in_flight: u64,
    /// Each scenario and its steps.
    pub scenarios: Vec<ScenarioPart>,
    /// The results of each address since the start; empty where there is one.
    pub addresses: Vec<AddressFigures>,
    /// Response times of everything that completed since the start of the run, or the times of whole chains where
    /// redirects are followed.
    pub whole: Spread,
    /// The delta: what was not reported before.
    pub added: Added,
}

/// The delta of an interval: what was not reported before.
#[derive(Clone, Debug)]
pub struct Added {
    /// Whether there is nothing new.
    pub is_empty: bool,
    /// New connections that were cut off.
    pub cut_off: u64,
    /// Connections that were open.
    pub connections_open: u64,
    /// New connections for which the kernel had to resend the SYN.
    pub slow_connects: u64,
    /// The counts.
    pub tally: Tally,
    /// Failures.
    pub failures: Vec<FailureCount>,
    /// CPU time of the shards.
    pub cpu_ns: u64,
    /// Lateness of what completed.
    pub lateness: Distribution,
    /// Response times of successful requests.
    pub response: Distribution,
    /// Service times of successes.
    pub service: Distribution,
    /// Each scenario and its steps; `None` where all of the interval is new.
    scenarios: Option<Vec<ScenarioPart>>,
}

impl Interval {
    /// The figures of an interval that the engine reports.
    pub fn new(interval: &engine::Interval<'_>, plan: &Plan) -> Self {
        let &engine::Interval { number, from, to, paused, late_shards, is_update, seen, total, .. } = interval;
        let seconds = (to - from).since(paused).as_secs_f64();
        let tally = Tally::new(seen);
        let response = parts::class_times(seen, Class::Succeeded, Measure::Response);
        let censored = Censored::from_times(&parts::incomplete(seen), &response);
        let of_class = |class| (class, Times::known(&parts::class_times(seen, class, Measure::Response)));
        let others = Class::ALL.into_iter().filter(|class| *class != Class::Succeeded).map(of_class);
        Self {
            number,
            from,
            to,
            paused,
            late_shards,
            is_update,
            requests_per_s: per_second(tally.finished(), seconds),
            bytes_received_per_s: per_second(tally.bytes_received(), seconds),
            seen: tally,
            total: Tally::new(total),
            response: Times::new(&response, &censored, UnreliableMarks::default()),
            others: others.filter(|(_, times)| times.count > 0).collect(),
            in_flight: seen.gauges.in_flight.response.count(),
            scenarios: ScenarioPart::all(plan, interval.scenarios.iter().map(|part| part.seen)),
            addresses: AddressFigures::all(total),
            whole: match total.chains.count() {
                0 => parts::spread_of_all(total, Measure::Response),
                _ => Spread::new(&total.chains),
            },
            added: Added::new(interval, plan, response),
        }
    }

    /// The delta of each scenario and its steps.
    pub fn added_scenarios(&self) -> &[ScenarioPart] {
        self.added.scenarios.as_deref().unwrap_or(&self.scenarios)
    }

    /// Seconds in which the load was not paused.
    pub fn working_s(&self) -> f64 {
        (self.to - self.from).since(self.paused).as_secs_f64()
    }
}

impl Added {
    fn new(interval: &engine::Interval<'_>, plan: &Plan, response: Distribution) -> Self {
        let added = interval.added;
        // All of an interval is new when it is first emitted.
        let response =
            if interval.is_update { parts::class_times(added, Class::Succeeded, Measure::Response) } else { response };
        let scenarios =
            interval.is_update.then(|| ScenarioPart::all(plan, interval.scenarios.iter().map(|part| part.added)));
        Self {
            scenarios,
            is_empty: added.counts.is_empty(),
            cut_off: added.counts.cut_off(),
            connections_open: added.gauges.connections_open,
            slow_connects: added.connect.count_between(SYN_AGAIN_NS, CONNECT_NS_MAX),
            tally: Tally::new(added),
            failures: FailureCount::all(&added.counts, &added.failures_by_host),
            cpu_ns: added.cpu_ns,
            lateness: parts::class_independent(added, Measure::Lateness),
            response,
            service: parts::class_times(added, Class::Succeeded, Measure::Service),
        }
    }

    /// The count of one failure.
    pub fn failures_of(&self, failure: metrics::Failure) -> u64 {
        self.failures.iter().find(|each| each.failure == failure).map_or(0, |each| each.count)
    }
}
