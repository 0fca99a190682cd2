//! The state of an active run as values for dashboards: a page in a browser, a program. In no language, except for
//! texts that are given in both.

mod csv;

use std::net::SocketAddr;

use figures::{Charts, FailureCount, Interval, LiveTotals, ScenarioPart, ThresholdResult, per_second};
use metrics::View;
use plan::{Hold, Load, Plan};
use serde_json::{Value, json};

use crate::charts::{Moment, last_point};
use crate::json::counts::{self, with};
use crate::json::distribution::distribution;
use crate::summary::scenario_in_words;
use crate::{Aim, Language, addresses, html, json, messages, own_figures, steps};
pub use csv::{failures_csv, intervals_csv, steps_csv};

/// The style of pages with charts, and the module that draws them.
pub const STYLE: &str = html::STYLE;
/// See [`STYLE`].
pub const CHARTS_MODULE: &str = html::CHARTS;
/// The texts of the charts in Chinese; in English they are the module's own.
pub const CHART_WORDS_ZH: &str = html::WORDS_ZH;

/// The description of a load before it begins. `plan`: without secrets.
pub fn live_plan(plan: &Plan, address: SocketAddr) -> Value {
    let scenario = |scenario: &plan::Scenario| {
        let (kind, rate, users) = match &scenario.load {
            Load::Open { stages, .. } => ("rate", Some(plan::highest(stages) as f64 / plan::RATE_UNIT as f64), None),
            Load::Closed { .. } => ("users", None, Some(scenario.users())),
        };
        json!({
            "name": scenario.name,
            "kind": kind,
            "rate_per_s": rate,
            "users": users,
            "target": scenario.target().url,
            "text": scenario_in_words(plan, scenario, Language::En),
            "text_zh": scenario_in_words(plan, scenario, Language::Zh),
        })
    };
    let first = plan.scenarios.first().expect("a plan has a scenario");
    json!({
        "kind": "load",
        "target": first.target().url,
        "address": address.to_string(),
        "warmup_s": plan.warmup.as_secs_f64(),
        "interval_s": plan.interval.as_secs_f64(),
        "requests": Aim::for_load(plan).requests(),
        "scenarios": plan.scenarios.iter().map(scenario).collect::<Vec<_>>(),
    })
}

/// The same for a hold.
pub fn live_hold_plan(plan: &Hold, address: SocketAddr) -> Value {
    json!({
        "kind": "hold",
        "target": plan::masked_url(&plan.target.url),
        "address": address.to_string(),
        "warmup_s": 0.0,
        "interval_s": plan.interval.as_secs_f64(),
        "connections": plan.connections,
        "duration_s": Aim::for_hold(plan).duration().map(|span| span.as_secs_f64()),
        "scenarios": [],
        "text": crate::held::plan_in_words(plan, Language::En),
        "text_zh": crate::held::plan_in_words(plan, Language::Zh),
    })
}

/// The state of a load at the end of an interval. `judged`: the results of its thresholds so far.
pub fn live_value(interval: &Interval, standing: &LiveTotals, judged: &[ThresholdResult]) -> Value {
    let (seen, total) = (&interval.seen, &interval.total);
    let working_s = interval.working_s();
    let now = json!({
        "requests_per_s": interval.requests_per_s,
        "failed_per_s": per_second(seen.failed, working_s),
        "dropped_per_s": per_second(seen.dropped(), working_s),
        "bytes_received_per_s": interval.bytes_received_per_s,
        "bytes_sent_per_s": per_second(seen.bytes_sent(), working_s),
    });
    let times = json!({
        "response_time": distribution(&interval.response),
        "lateness_p99_ns": interval.added.lateness.quantile(0.99),
    });
    let counts = with(counts::view(View::Live, total), "carried", json!({"finished": total.finished()}));
    let counts = with(counts, "succeeded", json!({"failed": total.failed}));
    json!({
        "number": interval.number,
        "from_s": interval.from.as_secs_f64(),
        "to_s": interval.to.as_secs_f64(),
        "late_shards": interval.late_shards,
        "now": with(with(now, "", counts::gauges(interval)), "", times),
        "total": with(counts, "", json!({"response_time": distribution(&standing.response)})),
        "statuses": json::statuses(total),
        "grpc_statuses": json::grpc_statuses(&total.grpc_statuses),
        "failures": total.failures.iter().map(failure).collect::<Vec<_>>(),
        "scenarios": scenarios(&standing.scenarios),
        "addresses": addresses::values(&interval.addresses),
        "thresholds": judged.iter().map(json::threshold).collect::<Vec<_>>(),
    })
}

fn failure(each: &FailureCount) -> Value {
    json!({"reason": messages::failure_name(each.failure), "count": each.count, "places": each.places})
}

fn scenarios(all: &[ScenarioPart]) -> Value {
    let one = |scenario: &ScenarioPart| {
        json!({
            "name": scenario.name,
            "finished": scenario.finished,
            "failed": scenario.failed,
            "steps": steps::parts(&scenario.steps),
            "transactions": steps::parts(&scenario.transactions),
            "checks": steps::checks(&scenario.checks),
            "figures": own_figures::values(&scenario.figures),
        })
    };
    all.iter().map(one).collect()
}

/// The last point of all series, and its index: for a reader that has the others.
pub fn live_point(charts: &Charts, moment: &Moment<'_>) -> Value {
    let mut value = html::data::page_data(&Value::Null, &last_point(charts, moment), Language::En);
    value["index"] = charts.points.len().saturating_sub(1).into();
    value["from_s"] = charts.points.last().map(|point| point.from.as_secs_f64()).into();
    value["marks"] = charts.marks.iter().filter(|mark| mark.at <= moment.now).count().into();
    value
}

/// The input of the chart module. `thresholds`: as in a report.
pub fn page_charts(charts: &Value, thresholds: &Value, language: Language) -> Value {
    html::data::page_data(&json!({"thresholds": thresholds}), charts, language)
}

/// The input of the chart module for a hold. `rows`: from [`crate::live_hold_row`].
pub fn hold_charts(rows: &Value, now_s: f64, language: Language) -> Value {
    html::held::data(&json!({"intervals": rows, "wall_s": now_s}), language)
}
