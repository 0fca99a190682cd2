//! The JSON report of a search for the highest load; the text and the page are made from it.
//! `docs/find-max.schema.json` describes it.

mod chart;
mod html;
mod text;
mod words;

use core::time::Duration;

use search::{SearchResult, Trial};
use serde_json::{Value, json};

use crate::About;

pub use html::search_html;
pub(crate) use html::search_part;
pub use text::{search_head, search_row, search_text};
pub(crate) use words::{figure, limit, took};

/// The schema version; it grows with every change that could confuse a reader.
const SCHEMA: u32 = 1;

/// The varied quantity of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Varied {
    /// Starts per second. Each is one request, or an iteration of several.
    Rate {
        /// Whether a start is one request.
        is_request: bool,
    },
    /// Users of a closed load.
    Users,
    /// Held connections.
    Connections,
}

impl Varied {
    fn name(self) -> &'static str {
        match self {
            Self::Rate { .. } => "rate",
            Self::Users => "users",
            Self::Connections => "connections",
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::Rate { is_request: true } => "requests_per_s",
            Self::Rate { is_request: false } => "iterations_per_s",
            Self::Users => "users",
            Self::Connections => "connections",
        }
    }
}

/// The input for the report of a search.
#[derive(Clone, Debug)]
pub struct SearchInput<'a> {
    /// The result so far.
    pub found: &'a SearchResult,
    /// The trials, in order.
    pub trials: &'a [Trial],
    /// The goals, as written.
    pub goals: &'a [String],
    /// The varied quantity.
    pub varied: Varied,
    /// The target.
    pub target: &'a str,
    /// The time limit.
    pub budget: Duration,
    /// The start, since the Unix epoch.
    pub began_unix: Duration,
    /// The environment of the search.
    pub about: &'a About,
    /// The name under which it is stored.
    pub kept_as: Option<&'a str>,
    /// Whether it still goes on.
    pub is_running: bool,
}

/// A search or a sweep as a part of a page, depending on the kind of its report.
pub fn part_of_page(report: &Value, language: crate::Language) -> String {
    match report["kind"].as_str() {
        Some("sweep") => crate::sweep_report::sweep_part(report, language),
        _ => search_part(report, language),
    }
}

/// The report of a search.
pub fn search_value(input: &SearchInput<'_>) -> Value {
    let SearchInput { found, varied, .. } = input;
    let is_rate = matches!(varied, Varied::Rate { .. });
    let per_s = |load: Option<f64>| load.filter(|_| is_rate);
    let middle = found.middle();
    let both = |noise: search::Noise| json!({"missed_at": noise.missed_at, "met_at": noise.met_at});
    let stalls = |stalls: search::Stalls| json!({"at": stalls.at, "pieces": stalls.pieces, "of": stalls.of, "piece_s": stalls.bin.as_secs_f64()});
    let slower = |slower: search::Slower| json!({"at": slower.at, "first_s": slower.first_s, "last_s": slower.last_s});
    json!({
        "schema": SCHEMA,
        "kind": "find-max",
        "lower_per_s": per_s(found.lower),
        "upper_per_s": per_s(found.upper),
        "goal": input.goals,
        "limit": found.limit,
        "vary": varied.name(),
        "unit": varied.unit(),
        "lower": found.lower,
        "upper": found.upper,
        "middle": middle.map(|(middle, _)| middle),
        "half_width": middle.map(|(_, half)| half),
        "is_confirmed": found.is_confirmed,
        "not_confirmed": found.not_confirmed,
        "met": found.met,
        "answer": found.response(),
        "ran": found.ran.map(ran),
        "unknown": found.unknown.map(|one| json!({"at": one.at, "trials": one.trials, "stall_s": one.stall.as_secs_f64()})),
        "own_limit": found.own_limit.map(|(at, fault)| json!({"at": at, "limit": fault.name()})),
        "ended": if input.is_running { "running" } else { found.ended.name() },
        "noise": found.noise.map(both),
        "is_worse": found.is_worse,
        "stalls": found.stalls.map(stalls),
        "slower": found.slower.map(slower),
        "recovered_s": found.recovered.map(|span| span.as_secs_f64()),
        "not_recovered_s": found.not_recovered.map(|span| span.as_secs_f64()),
        "law": found.law.map(law),
        "words": {"open": words::meaning(words::OPEN), "lost": words::meaning(words::LOST)},
        "budget_s": input.budget.as_secs_f64(),
        "took_s": found.took.as_secs_f64(),
        "target": input.target,
        "kept_as": input.kept_as,
        "trials": input.trials.iter().map(|trial| trial_value(trial, input.goals)).collect::<Vec<_>>(),
        "about": input.about.many_value(input.began_unix),
    })
}

fn ran(ran: search::Ran) -> Value {
    json!({"at": ran.at, "span_s": ran.span.as_secs_f64(), "trials": ran.trials, "of": ran.of, "is_met": ran.is_met})
}

fn law(law: search::Usl) -> Value {
    let peak = law.peak().map(|(at, per_s)| json!({"in_system": at, "per_s": per_s}));
    json!({
        "alone_per_s": law.alone_per_s,
        "contention": law.contention,
        "coherence": law.coherence,
        "from": law.range.0,
        "to": law.range.1,
        "worst_difference": law.worst,
        "peak": peak,
    })
}

fn trial_value(trial: &Trial, goals: &[String]) -> Value {
    let outcome = &trial.outcome;
    let seconds = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e9);
    let lost: Vec<Value> = trial
        .lost
        .iter()
        .zip(goals)
        .map(|(lost, goal)| json!({"goal": goal, "lost": lost.lost, "of": lost.of, "share": lost.share()}))
        .collect();
    json!({
        "number": trial.order.number,
        "at": trial.order.at,
        "purpose": trial.order.purpose.name(),
        "class": if outcome.fault.is_some() { "discarded" } else { trial.class.name() },
        "is_above": trial.is_above,
        "is_piling_up": trial.is_piling_up,
        "began_s": trial.began.as_secs_f64(),
        "measured_s": outcome.measured.as_secs_f64(),
        "done_per_s": outcome.done_per_s,
        "p50_s": seconds(outcome.p50_ns),
        "p99_s": seconds(outcome.p99_ns),
        "lost": lost,
        "limit": outcome.limit,
        "fault": outcome.fault.map(search::Disturbance::name),
        "stall_s": outcome.stall.as_secs_f64(),
        "was_stopped": outcome.was_stopped,
        "recovered_s": trial.recovered.map(|span| span.as_secs_f64()),
        "not_recovered_s": trial.not_recovered.map(|span| span.as_secs_f64()),
        "run": outcome.kept_as,
    })
}

#[cfg(test)]
mod tests;
