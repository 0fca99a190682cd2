//! Configuration of a shard for a scenario.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use metrics::SeriesId;
use pacing::open::Starts;
use pacing::{Nanos, Segment, UserProfile};
use plan::{CaptureOptions, Memory, Program};

use crate::barriers::Barriers;
use crate::budget_lease::SharedBudget;
use crate::data_sources::SharedData;
use crate::request_log::RequestLogConfig;
use crate::scenario_runtime::connections::origins::Origin;
use crate::scenario_runtime::exchanges::step::PreparedStep;

/// The configuration of a scenario; the same for all shards except for the share.
#[derive(Clone)]
pub(crate) struct ScenarioConfig {
    /// Index of the scenario in the plan.
    pub(crate) scenario: usize,
    /// The name of the scenario.
    pub(crate) name: Arc<str>,
    /// The series of its first step.
    pub(crate) first_series: SeriesId,
    /// Index of its first transaction among those of all scenarios.
    pub(crate) first_transaction: u32,
    /// Index of its first check, likewise.
    pub(crate) first_check: u32,
    /// Other scenarios have other endpoints: a failure is reported with its endpoint.
    pub(crate) names_places: bool,
    /// Origins of exchanges; the first step goes to the first.
    pub(crate) origins: Arc<[Origin]>,
    /// Its share of the connections.
    pub(crate) segment: Segment,
    pub(crate) steps: Arc<[PreparedStep]>,
    /// Options for additional captures.
    pub(crate) capture_options: CaptureOptions,
    /// The program of its users.
    pub(crate) program: Arc<Program>,
    /// The seed of the run, if it has one.
    pub(crate) seed: Option<u64>,
    /// Pacing: minimum time between iteration starts of one user; and the iterations of each user.
    pub(crate) every: Option<Nanos>,
    pub(crate) iterations_per_user: Option<u64>,
    /// Users for each connection that they share.
    pub(crate) streams: u32,
    /// Shared connections to each origin; none where each user has its own.
    pub(crate) shared: Option<u64>,
    /// Its users; in an open load, the most that it may have.
    pub(crate) share: pacing::closed::Share,
    /// Its part of a closed load.
    pub(crate) closed: ClosedWork,
    /// Its part of an open load; none for a closed one.
    pub(crate) open: Option<OpenWork>,
    /// What is intended earlier, counted from the start of the run, is not counted.
    pub(crate) warmup: Nanos,
    /// Secrets to be removed from texts of servers.
    pub(crate) secrets: plan::SecretValues,
    /// The shared budget; none without a bound.
    pub(crate) budget: Option<Arc<SharedBudget>>,
    /// The barriers of its users, and its participant there; none without barriers.
    pub(crate) barriers: Option<(Arc<Barriers>, usize)>,
    /// Memory of users: variables and the like.
    pub(crate) memory: Arc<Memory>,
    /// Counters that their requests use.
    pub(crate) counters: Counters,
    /// Data that they read and evaluate.
    pub(crate) shared_data: SharedData,
    /// Exchanges that are shown one by one.
    pub(crate) log_config: RequestLogConfig,
    /// The number of its first iteration, for an open load, and those after it; lower numbers belong to others.
    pub(crate) first_number: u64,
    /// The thread that has this share.
    pub(crate) shard: u32,
    /// All users begin at once, each with one exchange after the other: the first of each are compared with the others.
    pub(crate) has_first_round: bool,
}

/// The part of a closed load on a shard.
#[derive(Clone)]
pub(crate) struct ClosedWork {
    /// The total number of users over time.
    pub(crate) levels: Arc<UserProfile>,
    pub(crate) segment: Segment,
    pub(crate) is_rendezvous: bool,
    /// When its users begin, counted from the start of the run.
    pub(crate) from: Nanos,
}

/// The part of an open load on a shard.
#[derive(Clone)]
pub(crate) struct OpenWork {
    /// Starts before the measured load.
    pub(crate) warmup: Option<Starts>,
    pub(crate) starts: Starts,
    pub(crate) max_lateness: Nanos,
    /// The time from its planned start after which an iteration does not begin any more, if that is less: the deadline
    /// of its first step, and that step.
    pub(crate) first_deadline: Option<(Nanos, u32)>,
    /// All connections are opened at the beginning.
    pub(crate) opens_all: bool,
    /// The load is over with its last start; else with the end of its schedule.
    pub(crate) ends_with_last: bool,
    /// Its number of starts is reached before its time is over: so all that began comes to its end.
    pub(crate) ends_by_count: bool,
}

impl OpenWork {
    /// The time from its planned start within which an iteration begins.
    #[inline]
    pub(super) fn start_within(&self) -> Nanos {
        self.first_deadline.map_or(self.max_lateness, |(deadline, _)| deadline)
    }
}

/// Counters that all shards of a run share. Those of a partition of a load have the numbers of its slots: no other
/// partition has them.
#[derive(Clone, Debug)]
pub(crate) struct Counters {
    all: Arc<[AtomicU64]>,
    segment: Segment,
}

impl Counters {
    /// Counters of a partition of the load.
    pub(crate) fn new(count: u32, segment: Segment) -> Self {
        Self { all: (0..count).map(|_| AtomicU64::new(0)).collect(), segment }
    }

    /// The next number of one of them; the first of a whole load is 1.
    pub(crate) fn next(&self, counter: u32) -> u64 {
        self.segment.nth(self.all[counter as usize].fetch_add(1, Ordering::Relaxed)) + 1
    }
}

impl ScenarioConfig {
    /// Users count their iterations, or have a pacing.
    pub(super) fn is_paced(&self) -> bool {
        self.every.is_some() || self.iterations_per_user.is_some()
    }
}
