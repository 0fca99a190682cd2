//! What half of the users say of the target.

use super::Limit;
use super::known::{Known, Part, Unknown};
use crate::halving::{Answer, Seen};
use crate::probed::Probe;

/// Half of the users that get so much more than all of them met another target: one that has warmed up meanwhile.
const SHARE_MAX: f64 = 1.3;

/// Who was the limit, and how that is known.
pub(crate) fn concluded(probe: &Probe) -> (Limit, Known) {
    let unknown = |why| (Limit::Unknown, Known::Nothing(why));
    if probe.before.is_none() {
        return unknown(Unknown::Unsteady);
    }
    let Some(Seen { answer, share }) = probe.seen else { return unknown(Unknown::TooFewAnswers) };
    let kept = probe.users as f64 / probe.of.max(1) as f64;
    let part = Part { kept, rate: share, time: probe.time, is_refused: answer == Answer::Refuses };
    if share > SHARE_MAX {
        return unknown(Unknown::Unsteady);
    }
    match answer {
        Answer::AtLimit | Answer::Refuses => (Limit::Target, Known::Probe(part)),
        Answer::Below => (Limit::Below, Known::Probe(part)),
        Answer::Differing => unknown(Unknown::Differing),
        Answer::Unsure => unknown(Unknown::Unsure(part)),
    }
}
