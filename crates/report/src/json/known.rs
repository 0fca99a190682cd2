//! The evidence of a verdict, and the result of the probe with half of the users: as JSON.

use engine::{Basis, Gaps, Probe, Unknown, UsersPart, Verdict};
use serde_json::{Value, json};

/// The figures behind a conclusion, depending on its evidence.
pub(super) fn figures(verdict: &Verdict) -> Value {
    match &verdict.known {
        Basis::Counts => Value::Null,
        Basis::PaceHeld(held) => json!({
            "users": held.users,
            "iterations_per_s": held.iterations_per_s,
            "iteration_ns": held.iteration_ns,
            "target_ns": held.target_ns,
        }),
        Basis::Probe(part) | Basis::Curve(part) => part_value(part),
        Basis::FirstRound(share) => json!({ "time_share": share }),
        Basis::StoodStill(gaps) | Basis::Outage(gaps) => gaps_value(gaps),
        Basis::LostSyns { lost, of } => json!({ "connections": lost, "of": of }),
        Basis::Starved { requests, of } => json!({ "requests": requests, "users": of }),
        Basis::Refusals { status, refused, served_per_s } => {
            json!({ "status": status, "refused": refused, "served_per_s": served_per_s })
        }
        Basis::Waits { connections, share } => json!({ "connections": connections, "share": share }),
        Basis::Nothing(why) => json!({
            "reason": why.name(),
            "part": match why {
                Unknown::Unsure(part) => part_value(part),
                _ => Value::Null,
            },
        }),
    }
}

fn part_value(part: &UsersPart) -> Value {
    json!({ "users_share": part.kept, "rate_share": part.rate, "time_share": part.time, "is_refused": part.is_refused })
}

fn gaps_value(gaps: &Gaps) -> Value {
    json!({
        "from_s": gaps.from.as_secs_f64(),
        "to_s": gaps.to.as_secs_f64(),
        "count": gaps.count,
        "sum_s": gaps.sum.as_secs_f64(),
        "refused": gaps.refused,
        "came_back": gaps.came_back,
    })
}

/// The probe; its requests are in no other figure.
pub(super) fn probe(probe: &Probe) -> Value {
    json!({
        "users": probe.users,
        "of": probe.of,
        "requests": probe.started,
        "took_s": probe.span.as_secs_f64(),
        "steady_s": probe.before.map(|before| before.span.as_secs_f64()),
    })
}
