//! The tasks of a worker: a load, or held connections.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use engine::{HoldOptions, RunOptions};
use pacing::{Nanos, Segment};
use plan::{EncodedPlan, Hold, Plan};

use super::WorkerEnvironment;
use crate::encoding::{PacketError, unpack};
use crate::protocol::Refusal;

/// A task.
#[derive(Clone)]
pub(super) enum WorkerTask {
    /// A load, and the number of our intervals per interval of the plan.
    Load(Arc<Plan>, Box<RunOptions>, u64),
    /// Held connections.
    Hold(Arc<Hold>, Box<HoldOptions>),
}

/// The task of a packet, as this machine can carry it out, and its warm-up.
pub(super) fn prepare(
    place: &dyn WorkerEnvironment,
    name: &str,
    packet: &[u8],
    folder: &Path,
) -> Result<(WorkerTask, Nanos), Refusal> {
    let unusable = |error: PacketError| match error {
        PacketError::Damaged => Refusal::Damaged,
        error => Refusal::Plan { reason: error.to_string() },
    };
    let (carried, feeds, slowest) = unpack(name, packet, folder).map_err(unusable)?;
    match carried {
        EncodedPlan::Load(plan) => {
            let (mut plan, options) = place.prepare(*plan, feeds, slowest)?;
            let (warmup, pieces) = (plan.warmup.into(), pieces_of(plan.interval));
            plan.interval /= pieces as u32;
            Ok((WorkerTask::Load(Arc::new(plan), Box::new(options), pieces), warmup))
        }
        EncodedPlan::Hold(hold) => {
            let (hold, options) = place.prepare_to_hold(*hold)?;
            Ok((WorkerTask::Hold(Arc::new(hold), Box::new(options)), Nanos::ZERO))
        }
    }
}

/// The longest interval between rows.
const ROW_MAX: Duration = Duration::from_secs(1);

/// The number of equal pieces in which an interval is reported.
fn pieces_of(interval: Duration) -> u64 {
    interval.as_nanos().div_ceil(ROW_MAX.as_nanos()).max(1) as u64
}

/// The plan with a part's share of the budget.
pub(super) fn share_of_budget(plan: &Arc<Plan>, segment: &Segment) -> Arc<Plan> {
    if plan.budget.requests.is_none() && plan.budget.bytes.is_none() {
        return plan.clone();
    }
    let mut own = Plan::clone(plan);
    own.budget.requests = own.budget.requests.map(|requests| segment.count_of_first(requests));
    own.budget.bytes = own.budget.bytes.map(|bytes| bytes / 4_096 * u64::from(segment.slot_count()));
    Arc::new(own)
}
