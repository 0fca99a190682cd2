//! What is shown or kept of a load, without what nobody should see. `with_secrets`: all of it may be seen.

use std::sync::Arc;

use engine::RunResult;
use plan::{Known, Plan};

/// The plan as views may show it.
pub(crate) fn shown_plan(plan: &Plan, with_secrets: bool) -> Arc<Plan> {
    Arc::new(if with_secrets { plan.clone() } else { plan.without_secrets() })
}

/// A scenario file, of which what is secret by its name is gone already.
pub(crate) fn file(plan: &Plan, text: &str, with_secrets: bool) -> String {
    if with_secrets { text.to_owned() } else { Known::of_plan(plan).hide(text) }
}

/// A word of the command line.
pub(crate) fn word(plan: &Plan, word: &str, with_secrets: bool) -> String {
    if with_secrets {
        word.to_owned()
    } else {
        Known::of_plan(plan).hide(&plan::masked_header(&plan::masked_url(word)))
    }
}

/// What servers said.
pub(crate) fn heard(plan: &Plan, mut result: RunResult, with_secrets: bool) -> RunResult {
    if !with_secrets {
        let known = Known::of_plan(plan);
        let all = result.apart.iter_mut().chain([&mut result.total]);
        all.for_each(|seen| seen.change_heard(|said| known.hide(&plan::masked(said))));
    }
    result
}
