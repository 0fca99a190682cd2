//! The JSON report. Its schema is `docs/report.schema.json`; it contains every figure of the text.

pub(crate) mod counts;
pub(crate) mod distribution;
pub(crate) mod intervals;
mod known;
pub(crate) mod packed;
pub(crate) mod plan;

use engine::ThreadUsage;
use export::Delivery;
use figures::{FailureCount, Interval, Run, Tally, ThresholdResult, per_second};
use metrics::{Measure, Unit, View};
use serde_json::{Map, Value, json};

use crate::{
    About, Language, addresses, barriers, budget, changes, messages, notes, request_records, rows, steps, verdict,
    workers,
};
use counts::with;
use distribution::distribution;
use intervals::Intervals;
use plan::plan_of;

/// The schema version; it grows with every change that could confuse a reader.
pub(crate) const SCHEMA: u32 = 1;

/// Collects intervals and writes the report.
#[derive(Debug, Default)]
pub struct Json {
    pub(crate) intervals: Intervals,
    pub(crate) about: About,
    pub(crate) exports: Vec<Delivery>,
}

impl Json {
    /// An empty collector with the environment of the run.
    pub fn about(about: About) -> Self {
        Self { about, ..Self::default() }
    }

    /// Adds an interval.
    pub fn interval(&mut self, interval: &Interval) {
        let seen = &interval.seen;
        self.intervals.put(interval.number, interval.is_update, || {
            let whole = [interval.from, interval.to].map(|at| at.as_secs_f64());
            let row = json!({"from_s": whole[0], "to_s": whole[1], "users": seen.users});
            let row = with(row, "", counts::view(View::Intervals, seen));
            let more = json!({"failed": seen.failed, "requests_per_s": interval.requests_per_s});
            let more_of_all = json!({
                "bytes_received_per_s": interval.bytes_received_per_s,
                "statuses": statuses(seen),
                "grpc_statuses": grpc_statuses(&seen.grpc_statuses),
                "late_shards": interval.late_shards,
                "response_time": distribution(&interval.response),
            });
            with(with(row, "unfinished", more), "", more_of_all)
        });
    }

    /// Sets the delivery results of exports.
    pub fn exports(&mut self, exports: Vec<Delivery>) {
        self.exports = exports;
    }

    /// The whole report, with a line end.
    pub fn report(&mut self, run: &Run) -> String {
        format!("{:#}\n", self.value(run))
    }

    /// The report as a value.
    pub fn value(&mut self, run: &Run) -> Value {
        let mut report = facts(run);
        report["about"] = self.about.run_value(run);
        report["times"] = all_times(run);
        report["statuses"] = statuses(&run.tally);
        report["grpc_statuses"] = grpc_statuses(&run.tally.grpc_statuses);
        report["closes"] = closes(run);
        report["failures"] = failures(run);
        report["addresses"] = addresses::values(&run.addresses);
        report["names"] = addresses::names(&run.names);
        report["steps"] = steps::values(run);
        report["scenarios"] = steps::scenarios(run);
        report["slowest"] = request_records::values(run);
        report["thresholds"] = thresholds(run);
        report["verdict"] = verdict_of(run);
        report["changes"] = changes::value(run);
        let note = |note| {
            json!({
                "kind": figures::Note::kind(note),
                "text": notes::note_text(note, Language::En),
                "text_zh": notes::note_text(note, Language::Zh),
            })
        };
        report["notes"] = run.notes.iter().map(note).collect();
        report["generator"] = generator(run);
        report["workers"] = workers::value(run.workers_summary.as_ref());
        report["exports"] = self.exports.iter().map(export_value).collect();
        report["intervals"] = self.intervals.take();
        report["intervals_left_out"] = self.intervals.left_out().into();
        report
    }
}

/// The delivery result of an export.
pub(crate) fn export_value(delivery: &Delivery) -> Value {
    json!({
        "kind": delivery.kind,
        "where": delivery.place,
        "delivered": delivery.delivered,
        "left_out": delivery.left_out,
        "error": delivery.fault.as_ref().map(|fault| messages::export_fault(fault, Language::En)),
    })
}

fn facts(run: &Run) -> Value {
    let scenario = run.plan.scenarios.first().expect("a plan has a scenario");
    let counts = &run.tally;
    let seconds = run.wall.as_secs_f64();
    let received = json!({"received_per_s": per_second(counts.bytes_received(), seconds)});
    let sent = json!({"sent_per_s": per_second(counts.bytes_sent(), seconds)});
    let facts = json!({
        "schema": SCHEMA,
        "target": {
            "url": scenario.target().url,
            "address": messages::place(run),
            "proxy": scenario.target().proxy.as_ref().map(|proxy| proxy.place()),
            "lookup_s": run.lookup.map(|span| span.as_secs_f64()),
        },
        "plan": plan_of(&run.plan, scenario),
        "stopped": run.was_stopped,
        "stop_reason": run.stop_reason,
        "on_stop_skipped": counts.users_without_stop(),
        "budget": budget::value(run),
        "rows": rows::value(run),
        "barriers": barriers::value(run),
        "requests": requests(run),
        "wall_s": seconds,
        "planned_s": run.started_for.as_secs_f64(),
        "requests_per_s": run.rate,
        "achieved_per_s": run.achieved_per_s,
        "goodput_per_s": run.goodput_per_s,
        "requested_per_s": run.requested_per_s,
        "bytes": with(with(counts::section("bytes", counts), "received", received), "sent", sent),
        "messages": counts::section("messages", counts),
        "connections": with(counts::section("connections", counts), "unsolicited", json!({"tls_handshakes": run.tls.count})),
    });
    match run.has_datagrams() {
        true => with(facts, "messages", json!({"datagrams": counts::section("datagrams", counts)})),
        false => facts,
    }
}

fn requests(run: &Run) -> Value {
    let counts = &run.tally;
    let ratios = json!({
        "success_ratio": counts.success_ratio(),
        "success_ratio_of_completed": ratio(counts.succeeded(), counts.finished()),
        "iterations": {
            "completed": run.iterations.completed,
            "failed": run.iterations.failed,
            "aborted": run.iterations.cut,
        },
    });
    let all = with(counts::section("requests", counts), "succeeded", json!({"failed": counts.failed}));
    with(all, "aborted", ratios)
}

/// The times of each non-empty class: each measure.
fn all_times(run: &Run) -> Value {
    let mut by_class = Map::new();
    for class in &run.classes {
        let measures = Measure::ALL
            .iter()
            .map(|&measure| (measure.name().to_owned(), distribution(class.times.by_measure(measure))));
        by_class.insert(class.name().to_owned(), Value::Object(measures.collect()));
    }
    let others = [
        ("connect", &run.connect),
        ("proxy_tunnel", &run.proxy_tunnel),
        ("tls_handshake", &run.tls),
        ("message", &run.message),
        ("message_gap", &run.message_gap),
    ];
    for (name, of) in others {
        by_class.insert(name.to_owned(), distribution(of));
    }
    let bars: Vec<Value> =
        run.bars.iter().map(|bar| json!({"from_ns": bar.from_ns, "to_ns": bar.to_ns, "count": bar.count})).collect();
    by_class.insert("response_time_histogram".to_owned(), bars.into());
    Value::Object(by_class)
}

/// Responses by status: those of HTTP, and those of custom protocols. A word may be a number, too.
pub(crate) fn statuses(of: &Tally) -> Value {
    let numbers = of.statuses.iter().map(|(status, count)| (status.to_string(), *count));
    let words = of.status_words.iter().map(|(word, count)| (word.to_string(), *count));
    let mut all = Map::new();
    for (status, count) in numbers.chain(words) {
        let known = all.get(&status).and_then(Value::as_u64).unwrap_or(0);
        all.insert(status, (known + count).into());
    }
    Value::Object(all)
}

pub(crate) fn grpc_statuses(of: &[(&'static str, u64)]) -> Value {
    Value::Object(of.iter().map(|(name, count)| ((*name).to_owned(), (*count).into())).collect())
}

/// WebSocket sessions that the server closed.
fn closes(run: &Run) -> Value {
    let one = |close: &figures::Close| json!({"code": close.code, "reason": close.reason, "count": close.count});
    run.closes.iter().map(one).collect()
}

fn failures(run: &Run) -> Value {
    let remedy = |each: &FailureCount, language| messages::failure_remedy(each.failure, run, language);
    let one = |each| failure(each, messages::call_status_name(each.failure, run), remedy);
    run.tally.failures.iter().map(one).collect()
}

/// A failure, of a load or of held connections.
pub(crate) fn failure(
    each: &FailureCount,
    grpc_status: Option<&str>,
    remedy: impl Fn(&FailureCount, Language) -> String,
) -> Value {
    json!({
        "reason": each.failure.name(),
        "detail": each.failure.detail(),
        "grpc_status": grpc_status,
        "count": each.count,
        "places": each.places,
        "remedy": remedy(each, Language::En),
        "remedy_zh": remedy(each, Language::Zh),
    })
}

fn thresholds(run: &Run) -> Value {
    run.judged.iter().map(threshold).collect()
}

/// A threshold with its result.
pub(crate) fn threshold(judged: &ThresholdResult) -> Value {
    let judgement = &judged.judgement;
    let unit = match judgement.unit {
        Unit::Time => "ns",
        Unit::Count => "count",
        Unit::Ratio => "ratio",
        Unit::PerSecond => "per_s",
        Unit::Own => "own",
    };
    json!({
        "threshold": judged.threshold,
        "holds": judgement.holds,
        "value": judgement.value,
        "at_least": judgement.at_least,
        "most": judgement.range.map(|(_, most)| most).filter(|most| most.is_finite()),
        "unit": unit,
        "address": judgement.address.map(|address| address.to_string()),
        "reason": judgement.lack.map(|lack| addresses::lack(lack, Language::En)),
        "reason_zh": judgement.lack.map(|lack| addresses::lack(lack, Language::Zh)),
    })
}

fn verdict_of(run: &Run) -> Value {
    let verdict = &run.verdict;
    json!({
        "kind": verdict.limit.name(),
        "evidence": verdict.known.name(),
        "figures": known::figures(verdict),
        "probe": run.probe().as_ref().map(known::probe),
        "tone": verdict::tone(run).name(),
        "title": verdict::title(run, Language::En),
        "title_zh": verdict::title(run, Language::Zh),
        "is_unreliable": run.is_unreliable(),
        "text": verdict::verdict(run, Language::En),
        "text_zh": verdict::verdict(run, Language::Zh),
        "lateness_p99_ns": verdict.lateness_p99_ns,
        "wait_p99_ns": verdict.wait_p99_ns,
        "loop_lag_p99_ns": verdict.lag_p99_ns,
        "service_mean_ns": verdict.service_mean_ns,
        "unanswered": verdict.unanswered,
        "backlog": verdict.growth.map(|growth| json!({
            "at_end": growth.at_end,
            "halfway_s": growth.halfway_s,
            "at_end_s": growth.at_end_s,
        })),
        "unanswered_time_share": verdict.unanswered_time_share,
        "busiest_shard": verdict.busiest.as_ref().map(|(shard, _)| shard),
        "machine": verdict.machine.map(|machine| json!({
            "cores": machine.cores,
            "busy": machine.busy,
            "own": machine.own,
        })),
        "link": verdict.link.as_ref().map(|link| json!({
            "interface": link.name,
            "bits_per_s": link.bits_per_s,
            "share": link.share,
        })),
    })
}

fn shard_use(spent: &ThreadUsage) -> Value {
    json!({
        "cpu_s": spent.cpu_ns as f64 / 1e9,
        "cpu_share": spent.cpu_share(),
        "wanted_share": spent.wanted_share(),
        "saturated_share": spent.saturated_share(),
        "run_delay_share": spent.run_delay_share(),
        "stalled_s": spent.stalled_ns as f64 / 1e9,
        "loop_lag_p99_ns": spent.lag.quantile(0.99),
    })
}

fn generator(run: &Run) -> Value {
    let cpu = run.cpu;
    json!({
        "driver": run.driver.kind.name(),
        "driver_reason": messages::driver_reason(&run.driver, Language::En),
        "threads": run.threads,
        "users": run.users(),
        "cpu_s": run.cpu_ns as f64 / 1e9,
        "process_cpu_user_s": cpu.user_ns as f64 / 1e9,
        "process_cpu_system_s": cpu.system_ns as f64 / 1e9,
        "cpu_us_per_request": run.cpu_us_per_request,
        "cpu_share": run.cpu_share,
        "shards": run.shards.iter().map(shard_use).collect::<Vec<_>>(),
        "resident_bytes": run.host.resident_bytes,
    })
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
