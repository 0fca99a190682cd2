//! The exit code of a load.

use figures::Run;
use plan::Plan;

use crate::exit::Exit;
use crate::output::Wrote;
use crate::session::run_settings::RunSettings;

/// How a load ended, in addition to its results.
#[derive(Clone, Copy)]
pub(crate) struct LoadOutcome {
    pub(crate) wrote: Wrote,
    /// Whether the user pressed Ctrl-C.
    pub(crate) was_requested: bool,
    /// Whether a threshold ended it.
    pub(crate) was_aborted: bool,
    /// Whether it is worse than the baseline allows.
    pub(crate) is_worse: bool,
}

/// The exit code. `wants_file`: the report also goes to a file.
pub(crate) fn exit(plan: &Plan, run: &Run, settings: &RunSettings, outcome: LoadOutcome, wants_file: bool) -> Exit {
    let counts = &run.tally;
    // Exchanges without a response met no expectation.
    let is_unexpected = plan.has_expectations()
        && (counts.failed + counts.dropped() + counts.lost() + (counts.unfinished() - counts.cut()) > 0
            || counts.succeeded() == 0);
    let is_crossed = run.judged.iter().any(|judged| !judged.judgement.holds);
    let is_unreliable = settings.is_strict && run.is_unreliable();
    // All users failed before their first iteration.
    let never_began = run.iterations.is_none() && counts.failed > 0;
    // The load was not carried out as planned.
    let is_short = run.workers_summary.as_ref().is_some_and(engine::WorkersSummary::has_losses);
    let is_unmet = is_short || is_unexpected || is_crossed || is_unreliable || outcome.was_aborted || outcome.is_worse;
    if outcome.wrote == Wrote::Failed {
        Exit::System
    } else if outcome.was_requested {
        Exit::Stopped
    } else if run.names.iter().any(|name| name.has_none) {
        Exit::Usage
    } else if outcome.wrote == Wrote::PipeClosed
        && !wants_file
        && settings.hdr_file.is_none()
        && !settings.keep.wants_any()
        && !settings.tracing.is_logged()
        && settings.exports.kinds.is_empty()
    {
        Exit::Done
    } else if run.stop_reason.is_some() {
        // The scenario itself says that the run is no good, whatever was measured.
        Exit::Unmet
    } else if counts.connections_established() == 0 {
        Exit::NothingMeasured
    } else if is_unmet || counts.succeeded() == 0 || run.iterations.all_failed() || never_began {
        Exit::Unmet
    } else {
        Exit::Done
    }
}
