//! What a load came to, as its exit code says it.

use figures::Run;
use plan::Plan;

use crate::exit::Exit;
use crate::output::Wrote;
use crate::wishes::Wishes;

/// How a load ended, beside its figures.
#[derive(Clone, Copy)]
pub(crate) struct Outcome {
    pub(crate) wrote: Wrote,
    /// Somebody pressed Ctrl-C.
    pub(crate) was_asked: bool,
    /// A threshold ended it.
    pub(crate) was_aborted: bool,
    /// It differs from the baseline as it may not.
    pub(crate) is_worse: bool,
}

/// The exit code. `wants_file`: somebody wants the report in one.
pub(crate) fn exit(plan: &Plan, run: &Run, wishes: &Wishes, outcome: Outcome, wants_file: bool) -> Exit {
    let counts = &run.tally;
    // What was never answered met no expectation.
    let is_unexpected = plan.has_expectations()
        && (counts.failed + counts.dropped() + counts.lost() + (counts.unfinished() - counts.cut()) > 0
            || counts.succeeded() == 0);
    let is_crossed = run.judged.iter().any(|judged| !judged.judgement.holds);
    let is_spoiled = wishes.is_strict && run.is_unreliable();
    // All users failed before their first iteration.
    let never_began = run.iterations.is_none() && counts.failed > 0;
    // What ran is not what was planned.
    let is_short = run.muster.as_ref().is_some_and(engine::Muster::has_losses);
    let is_unmet = is_short || is_unexpected || is_crossed || is_spoiled || outcome.was_aborted || outcome.is_worse;
    if outcome.wrote == Wrote::Failed {
        Exit::System
    } else if outcome.was_asked {
        Exit::Stopped
    } else if outcome.wrote == Wrote::PipeClosed
        && !wants_file
        && wishes.hdr_file.is_none()
        && !wishes.keep.wants_any()
        && !wishes.tracing.is_logged()
        && wishes.exports.kinds.is_empty()
    {
        Exit::Done
    } else if counts.connections_established() == 0 {
        Exit::NothingMeasured
    } else if is_unmet || counts.succeeded() == 0 || run.iterations.all_failed() || never_began {
        Exit::Unmet
    } else {
        Exit::Done
    }
}
