//! The JSON report of a hold.

use engine::{LateThread, MemoryUse};
use figures::{FailureCount, Held, HeldInterval, HeldTally};
use plan::HoldWork;
use serde_json::{Value, json};

use super::planned::plan_in_words;
use super::verdict::verdicts;
use crate::json::distribution::distribution;
use crate::json::{Json, SCHEMA, export_value, failure};
use crate::messages::{self, FailureContext};
use crate::{Language, addresses, workers};

/// One interval, in the form of the report.
pub fn live_hold_row(interval: &HeldInterval) -> Value {
    let (seen, now) = (&interval.seen, interval.now);
    json!({
        "from_s": interval.from.as_secs_f64(),
        "to_s": interval.to.as_secs_f64(),
        "open": now.open,
        "connecting": now.connecting,
        "waiting": now.waiting,
        "established": seen.established(),
        "failed": seen.failed,
        "lost": seen.lost,
        "messages": messages_of(seen),
        "bytes_sent": seen.bytes_sent(),
        "bytes_received": seen.bytes_received(),
        "memory": memory(interval.memory),
        "response_time": distribution(&interval.response),
    })
}

impl Json {
    /// Adds an interval of held connections.
    pub fn hold_interval(&mut self, interval: &HeldInterval) {
        self.intervals.put(interval.number, interval.is_update, || live_hold_row(interval));
    }

    /// The report of held connections as a value.
    pub fn hold_value(&mut self, held: &Held) -> Value {
        let (counts, plan) = (&held.tally, &held.plan);
        let began = held.host.now_unix_ns.saturating_sub(held.wall.0);
        json!({
            "schema": SCHEMA,
            "kind": "hold",
            "about": self.about.value(began, |language| plan_in_words(plan, language)),
            "target": {
                "url": plan::masked_url(&plan.target.url),
                "address": held.address.to_string(),
                "lookup_s": held.lookup.map(|span| span.as_secs_f64()),
                "source_addresses": held.places.0,
                "endpoints": held.places.1,
            },
            "plan": {
                "connections": plan.connections,
                "ramp_per_s": plan.ramp.map(|rate| rate as f64 / plan::RATE_UNIT as f64),
                "hold_s": plan.duration.as_secs_f64(),
                "every_s": match plan.work { HoldWork::Every(every) => Some(every.as_secs_f64()), _ => None },
                "reconnects": plan.reconnects,
            },
            "wall_s": held.wall.as_secs_f64(),
            "opened_after_s": held.opened_after.map(|at| at.as_secs_f64()),
            "closing_after_s": held.closing_after.map(|at| at.as_secs_f64()),
            "stopped": held.was_stopped,
            "connections": connections(held),
            "failures": failures(held, &counts.failed_by),
            "losses": failures(held, &counts.lost_by),
            "names": addresses::names(&held.names),
            "messages": messages_of(counts),
            "requested_per_s": held.requested_and_achieved.map(|(requested, _)| requested),
            "achieved_per_s": held.requested_and_achieved.map(|(_, achieved)| achieved),
            "bytes": {
                "received": counts.bytes_received(),
                "received_per_s": held.bytes_per_s.0,
                "sent": counts.bytes_sent(),
                "sent_per_s": held.bytes_per_s.1,
            },
            "times": {
                "connect": distribution(&held.connect),
                "response_time": distribution(&held.response),
                "service_time": distribution(&held.service),
                "message_gap": distribution(&held.gap),
                "loop_lag": distribution(&held.lag),
            },
            "memory": memory(held.memory),
            "stopped_opening": held.stopped_opening.map(|stopped| json!({
                "tried": stopped.tried, "available_bytes": stopped.available, "reserve_bytes": stopped.reserve
            })),
            "generator": {
                "threads": held.threads,
                "driver": held.driver.kind.name(),
                "driver_reason": messages::driver_reason(&held.driver, Language::En),
                "cpu_s": counts.cpu_ns() as f64 / 1e9,
                "loops": held.loops().iter().map(loop_of).collect::<Vec<_>>(),
                "late_thread": held.late_thread().map(|late| late.thread),
            },
            "workers": workers::held_value(held.workers_summary.as_ref()),
            "verdict": verdict(held),
            "exports": self.exports.iter().map(export_value).collect::<Vec<_>>(),
            "intervals": self.intervals.take(),
            "intervals_left_out": self.intervals.left_out(),
        })
    }
}

fn connections(held: &Held) -> Value {
    let counts = &held.tally;
    json!({
        "tried": counts.tried(),
        "established": counts.established(),
        "retries": counts.retries(),
        "failed": counts.failed,
        "lost": counts.lost,
        "closed": counts.closed(),
        "closed_without_answer": counts.close_timed_out(),
        "abandoned": counts.abandoned(),
        "most_open": held.most_open,
        "open_when_opened": held.when_opened.open,
        "open_when_closing": held.when_closing.open,
        "tls_resumed": counts.tls_resumed(),
    })
}

fn failures(held: &Held, of: &[FailureCount]) -> Value {
    let scene = FailureContext::for_hold(held);
    let remedy = |each: &FailureCount, language| messages::remedy_in(each.failure, &scene, language);
    of.iter().map(|each| failure(each, None, remedy)).collect()
}

fn verdict(held: &Held) -> Value {
    let (tone, title, title_zh) = match (held.is_unreliable(), held.is_kept) {
        (true, _) => ("bad", "Unreliable figures", "结果不可靠"),
        (false, true) => ("good", "Kept", "达标"),
        (false, false) => ("bad", "Not kept", "未达标"),
    };
    json!({
        "tone": tone,
        "title": title,
        "title_zh": title_zh,
        "is_kept": held.is_kept,
        "is_unreliable": held.is_unreliable(),
        "text": verdicts(held, Language::En).join("\n"),
        "text_zh": verdicts(held, Language::Zh).join("\n"),
    })
}

fn messages_of(counts: &HeldTally) -> Value {
    json!({
        "due": counts.due(),
        "late": counts.late(),
        "missed": counts.missed(),
        "unsent": counts.unsent(),
        "sent": counts.messages_left(),
        "answered": counts.answered(),
        "unanswered": counts.unanswered(),
        "refused": counts.refused(),
        "pushed": counts.pushed(),
    })
}

fn loop_of(one: &LateThread) -> Value {
    json!({
        "thread": one.thread,
        "late_share": one.late_share,
        "lag_p99_ns": one.lag_p99_ns,
        "lag_max_ns": one.lag_max_ns,
    })
}

fn memory(memory: MemoryUse) -> Value {
    json!({
        "resident_bytes": memory.resident,
        "resident_bytes_before": memory.resident_before,
        "kernel_bytes": memory.kernel,
        "available_bytes": memory.available,
    })
}
