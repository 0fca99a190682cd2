//! What a shard has to do of a scenario.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use metrics::SeriesId;
use pacing::open::Starts;
use pacing::{Nanos, Segment, UserProfile};
use plan::{CaptureOptions, Memory, Program};

use super::origins::Origin;
use super::step::PreparedStep;
use crate::barriers::Barriers;
use crate::budget_lease::SharedBudget;
use crate::data_sources::SharedData;
use crate::request_log::RequestLogConfig;

/// What a shard has to do; the same for all shards but for the share.
#[derive(Clone)]
pub(crate) struct ScenarioConfig {
    /// Which scenario of the plan.
    pub(crate) scenario: usize,
    /// The series of its first step.
    pub(crate) first_series: SeriesId,
    /// What its first transaction is among those of all scenarios.
    pub(crate) first_transaction: u32,
    /// Other scenarios go elsewhere: a failure is told with its place.
    pub(crate) names_places: bool,
    /// Where exchanges go; the first step to the first.
    pub(crate) origins: Arc<[Origin]>,
    /// Which share of the connections this is.
    pub(crate) segment: Segment,
    pub(crate) steps: Arc<[PreparedStep]>,
    /// What is kept beside the usual.
    pub(crate) keeps: CaptureOptions,
    /// What users do with them.
    pub(crate) program: Arc<Program>,
    /// An iteration of a user starts so often at most, and each user goes through so many.
    pub(crate) every: Option<Nanos>,
    pub(crate) iterations_per_user: Option<u64>,
    /// Users that share a connection.
    pub(crate) streams: u32,
    /// Users share so many connections to each origin; none where each has its own.
    pub(crate) shared: Option<u64>,
    /// Its users; in an open load, the most that it may have.
    pub(crate) share: pacing::closed::Share,
    /// What it has of a closed load.
    pub(crate) closed: ClosedWork,
    /// What it has of an open load; none of a closed one.
    pub(crate) open: Option<OpenWork>,
    /// What is intended earlier, counted from the start of the run, does not count.
    pub(crate) warmup: Nanos,
    /// What texts of servers must not say again.
    pub(crate) secrets: plan::SecretValues,
    /// What all shards may spend; none without a bound.
    pub(crate) budget: Option<Arc<SharedBudget>>,
    /// Where its users wait for others, and which party of that this is; none without meetings.
    pub(crate) barriers: Option<(Arc<Barriers>, usize)>,
    /// What users remember.
    pub(crate) memory: Arc<Memory>,
    /// What their requests count on.
    pub(crate) counters: Counters,
    /// What they read and reckon with.
    pub(crate) shared_data: SharedData,
    /// Exchanges that are shown one by one.
    pub(crate) log_config: RequestLogConfig,
    /// The number of its first iteration, of an open load, and those behind it; what is lower is of others.
    pub(crate) first_number: u64,
    /// The thread that has this share.
    pub(crate) shard: u32,
    /// All users begin at once, each with one exchange after the other: the first of each are held against the others.
    pub(crate) has_first_round: bool,
}

/// What a shard has of a closed load.
#[derive(Clone)]
pub(crate) struct ClosedWork {
    /// How many users there are in all, over time.
    pub(crate) levels: Arc<UserProfile>,
    pub(crate) segment: Segment,
    pub(crate) is_rendezvous: bool,
    /// Its users are there from then on, counted from the start of the run.
    pub(crate) from: Nanos,
}

/// What a shard has of an open load.
#[derive(Clone)]
pub(crate) struct OpenWork {
    /// What comes before the measured load.
    pub(crate) warmup: Option<Starts>,
    pub(crate) starts: Starts,
    pub(crate) max_lateness: Nanos,
    /// All connections are opened at the beginning.
    pub(crate) opens_all: bool,
    /// The load is over with its last start; else with the end of its schedule.
    pub(crate) ends_with_last: bool,
    /// Its number of starts is reached before its time is over: so all that began comes to its end.
    pub(crate) ends_by_count: bool,
}

/// Counters that all shards of a run count on. Those of a part of a load have the numbers of its slots: no other part has them.
#[derive(Clone, Debug)]
pub(crate) struct Counters {
    all: Arc<[AtomicU64]>,
    segment: Segment,
}

impl Counters {
    /// So many, of a part of the load.
    pub(crate) fn new(count: u32, segment: Segment) -> Self {
        Self { all: (0..count).map(|_| AtomicU64::new(0)).collect(), segment }
    }

    /// The next number of one of them; the first of a whole load is 1.
    pub(crate) fn next(&self, counter: u32) -> u64 {
        self.segment.nth(self.all[counter as usize].fetch_add(1, Ordering::Relaxed)) + 1
    }
}

impl ScenarioConfig {
    /// Users count their iterations, or keep a pace.
    pub(super) fn is_paced(&self) -> bool {
        self.every.is_some() || self.iterations_per_user.is_some()
    }
}
