//! Conclusions from the probe with half of the users.

use super::Limit;
use super::known::{Basis, Unknown, UsersPart};
use crate::probe_arithmetic::{PartSample, ProbeFinding};
use crate::probed::Probe;

/// Half of the users that get this many times the rate of all of them met a different target: one that has warmed up
/// meanwhile.
const SHARE_MAX: f64 = 1.3;

/// The bottleneck, and the basis of that.
pub(crate) fn concluded(probe: &Probe) -> (Limit, Basis) {
    let unknown = |why| (Limit::Unknown, Basis::Nothing(why));
    if probe.before.is_none() {
        return unknown(Unknown::Unsteady);
    }
    let Some(PartSample { response, share }) = probe.seen else { return unknown(Unknown::TooFewAnswers) };
    let kept = probe.users as f64 / probe.of.max(1) as f64;
    let part = UsersPart { kept, rate: share, time: probe.time, is_refused: response == ProbeFinding::Refuses };
    if share > SHARE_MAX {
        return unknown(Unknown::Unsteady);
    }
    match response {
        ProbeFinding::AtLimit | ProbeFinding::Refuses => (Limit::Target, Basis::Probe(part)),
        ProbeFinding::Below => (Limit::Below, Basis::Probe(part)),
        ProbeFinding::Differing => unknown(Unknown::Differing),
        ProbeFinding::Unsure => unknown(Unknown::Unsure(part)),
    }
}
