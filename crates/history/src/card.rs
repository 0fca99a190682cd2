//! A summary of one run in a few figures.

use serde_json::{Value, json};

use crate::compare::{is_hold, is_unreliable};

/// The version of the card format; it grows with every change that could confuse a reader.
pub const CARD_VERSION: u64 = 1;

/// The summary of one run, as a list of runs shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Card {
    /// The name of the run's folder.
    pub id: String,
    /// The start of the run, in UTC.
    pub began: String,
    /// The target.
    pub target: String,
    /// The plan in words, in English and Chinese.
    pub plan: [String; 2],
    /// The command line, without secrets.
    pub command: String,
    /// The duration of the run.
    pub wall_s: f64,
    /// The bottleneck, by a stable name.
    pub limit: String,
    /// Whether the figures describe the generator as much as the target.
    pub is_unreliable: bool,
    /// Whether all thresholds were met, or all connections were held; `None` without thresholds.
    pub is_met: Option<bool>,
    /// Whether the run was stopped early.
    pub was_stopped: bool,
    /// The most connections that were open at one time in a hold; `None` for loads.
    pub held: Option<u64>,
    /// Requests a second.
    pub requests_per_s: Option<f64>,
    /// Requests that succeeded; in a hold, connections that were established.
    pub succeeded: u64,
    /// Requests that failed; in a hold, connections that failed or were lost.
    pub failed: u64,
    /// The median of the response times of successes, in nanoseconds.
    pub p50_ns: Option<f64>,
    /// The 99th percentile of the response times of successes, in nanoseconds.
    pub p99_ns: Option<f64>,
}

impl Card {
    /// The card of a JSON report.
    pub fn from_report(id: &str, report: &Value) -> Self {
        let text = |path: &str| report.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
        let number = |path: &str| report.pointer(path).and_then(Value::as_f64);
        let whole = |path: &str| report.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        let common = Self {
            id: id.to_owned(),
            began: text("/about/began"),
            target: text("/target/url"),
            was_stopped: report["stopped"] == true,
            plan: [text("/about/plan"), text("/about/plan_zh")],
            command: text("/about/command"),
            wall_s: number("/wall_s").unwrap_or(0.0),
            is_unreliable: is_unreliable(report),
            ..Self::default()
        };
        if is_hold(report) {
            return Self {
                is_met: report.pointer("/verdict/is_kept").and_then(Value::as_bool),
                held: Some(whole("/connections/most_open")),
                succeeded: whole("/connections/established"),
                failed: whole("/connections/failed").saturating_add(whole("/connections/lost")),
                p50_ns: number("/times/response_time/p50_ns"),
                p99_ns: number("/times/response_time/p99_ns"),
                ..common
            };
        }
        let judged = report.pointer("/thresholds").and_then(Value::as_array).filter(|all| !all.is_empty());
        Self {
            // The name of this key in earlier versions.
            limit: text(if report.pointer("/verdict/kind").is_some() { "/verdict/kind" } else { "/verdict/limit" }),
            is_met: judged.map(|all| all.iter().all(|one| one["holds"] == true)),
            requests_per_s: number("/requests_per_s"),
            succeeded: whole("/requests/succeeded"),
            failed: whole("/requests/failed"),
            p50_ns: number("/times/succeeded/response_time/p50_ns"),
            p99_ns: number("/times/succeeded/response_time/p99_ns"),
            ..common
        }
    }

    /// The card as the JSON of its file.
    pub fn value(&self) -> Value {
        json!({
            "version": CARD_VERSION,
            "id": self.id,
            "began": self.began,
            "target": self.target,
            "plan": self.plan[0],
            "plan_zh": self.plan[1],
            "command": self.command,
            "wall_s": self.wall_s,
            "limit": self.limit,
            "is_unreliable": self.is_unreliable,
            "thresholds_met": self.is_met,
            "was_stopped": self.was_stopped,
            "held": self.held,
            "requests_per_s": self.requests_per_s,
            "succeeded": self.succeeded,
            "failed": self.failed,
            "p50_ns": self.p50_ns,
            "p99_ns": self.p99_ns,
        })
    }

    /// Reads a card from JSON; `None` when it is no card, or of an unknown version.
    pub fn from_value(value: &Value) -> Option<Self> {
        if value["version"].as_u64()? != CARD_VERSION {
            return None;
        }
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        Some(Self {
            id: text("id")?,
            began: text("began")?,
            target: text("target")?,
            plan: [text("plan")?, text("plan_zh")?],
            command: text("command")?,
            wall_s: value["wall_s"].as_f64()?,
            limit: text("limit")?,
            is_unreliable: value["is_unreliable"].as_bool()?,
            is_met: value["thresholds_met"].as_bool(),
            was_stopped: value["was_stopped"].as_bool().unwrap_or(false),
            held: value["held"].as_u64(),
            requests_per_s: value["requests_per_s"].as_f64(),
            succeeded: value["succeeded"].as_u64()?,
            failed: value["failed"].as_u64()?,
            p50_ns: value["p50_ns"].as_f64(),
            p99_ns: value["p99_ns"].as_f64(),
        })
    }
}
