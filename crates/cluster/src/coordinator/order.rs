//! What of a load can be divided, and what the leader needs to know of it.

use engine::{BackendFault, DataSources};
use feed::{AtEnd, Feed, Share};
use pacing::Nanos;
use plan::{Arrivals, Hold, Load, Plan, Scenario, UserShape};

use crate::bus::Bytes;
use crate::encoding::name_of;
use crate::leader::RunOrder;

/// The first feature of a load that cannot be divided, if any. `is_logged`: single requests are logged.
pub fn undivided(plan: &Plan, is_logged: bool) -> Option<BackendFault> {
    if is_logged {
        return Some(BackendFault::Undivided { what: "--log" });
    }
    if plan.capture_options.values {
        return Some(BackendFault::Undivided { what: "a load whose values are wanted at its end" });
    }
    None
}

/// What the leader needs to know of a run.
pub(super) fn run_order(plan: &Plan, data_sources: &DataSources, packet: Bytes) -> RunOrder {
    let is_counted = |load: &Load| match load {
        Load::Closed { shape: UserShape::Rendezvous, .. } => true,
        Load::Closed { requests, .. } | Load::Open { requests, .. } => requests.is_some(),
    };
    let counts =
        plan.scenarios.iter().any(|scenario| is_counted(&scenario.load) || scenario.iterations_per_user.is_some());
    let is_unique = data_sources.feeds.iter().any(|feed| feed.spec().share == Share::Unique);
    // Members that get a part of a load with a warm-up, or at random, skip rows that other members may have had.
    let jumps = |one: &Scenario| match one.load {
        Load::Open { arrivals, .. } => arrivals != Arrivals::Even || !plan.warmup.is_zero(),
        Load::Closed { .. } => true,
    };
    let ends = |feed: &Feed| feed.spec().at_end == AtEnd::Stop && feed.spec().has_end();
    let is_unique = is_unique || data_sources.feeds.iter().any(ends) && plan.scenarios.iter().any(jumps);
    // Numbers that are given out once stay with their member.
    let counters = plan.scenarios.iter().any(|scenario| scenario.memory.counters > 0);
    let spends = plan.budget.requests.is_some() || plan.budget.bytes.is_some();
    // Each part needs at least one connection.
    let connections =
        |load: &Load| if let Load::Open { connections, .. } = load { connections.most() } else { u64::MAX };
    let users = |load: &Load| if let Load::Closed { users, .. } = load { *users } else { u64::MAX };
    let least = plan.scenarios.iter().map(|one| connections(&one.load)).min().unwrap_or(u64::MAX);
    let most = plan.scenarios.iter().map(|one| users(&one.load)).max().unwrap_or(u64::MAX);
    RunOrder {
        plan: name_of(&packet),
        packet,
        scenarios: plan.scenarios.len(),
        warmup: plan.warmup.into(),
        ends_at: engine::end_of_plan(plan),
        can_move: !counts && !is_unique && !spends && !counters && plan.barriers.is_empty(),
        workers_max: usize::try_from(least.min(most.max(1)).min(4_096)).unwrap_or(4_096),
    }
}

/// The same for held connections, which stay with their member.
pub(super) fn hold_order(plan: &Hold, packet: Bytes) -> RunOrder {
    RunOrder {
        plan: name_of(&packet),
        packet,
        // Its one round sets the end of all.
        scenarios: 1,
        warmup: Nanos::ZERO,
        ends_at: None,
        can_move: false,
        workers_max: usize::try_from(plan.connections.min(4_096)).unwrap_or(4_096),
    }
}
