//! The JSON report. Its schema is `docs/report.schema.json`; it holds every figure that the text has.

use std::time::Duration;

use engine::{Interval, ShardUse};
use metrics::{
    CLOSE_WITHOUT_CODE, Censored, Class, Distribution, Failure, Judgement, Measure, Snapshot, Threshold, Unit,
};
use plan::{Arrivals, Load, Protocol, RateStage, Scenario, Step, UserShape, UserStage};
use serde_json::{Map, Value, json};

use crate::figures::{QUANTILES, Run, Spoiled, histogram, per_second};
use crate::{Language, say, steps, verdict};

/// Grows with every change that a reader could stumble over.
const SCHEMA: u32 = 1;
/// Intervals that are kept: a day of seconds. Later ones are only counted.
const INTERVALS_MAX: usize = 86_400;

/// Collects intervals and writes the report.
#[derive(Debug, Default)]
pub struct Json {
    intervals: Vec<Value>,
    intervals_left_out: u64,
}

impl Json {
    /// Keeps an interval.
    pub fn interval(&mut self, interval: &Interval<'_>) {
        let index = (interval.number - 1) as usize;
        if index >= INTERVALS_MAX {
            self.intervals_left_out += u64::from(!interval.is_again);
            return;
        }
        let seen = interval.seen;
        let seconds = (interval.to - interval.from).as_secs_f64();
        let succeeded = seen.class(Class::Succeeded);
        let censored = Censored::of(seen, Measure::Response);
        let mut value = json!({
            "from_s": interval.from.as_secs_f64(),
            "to_s": interval.to.as_secs_f64(),
            "users": seen.users,
            "started": seen.counts.started,
            "succeeded": seen.counts.succeeded,
            "dropped": seen.counts.dropped,
            "unfinished": seen.counts.unfinished,
            "failed": seen.counts.failed(),
            "requests_per_s": per_second(seen.counts.finished(), seconds),
            "bytes_received": seen.counts.bytes_received,
            "bytes_received_per_s": per_second(seen.counts.bytes_received, seconds),
            "statuses": statuses(seen),
        });
        value["grpc_statuses"] = grpc_statuses(seen);
        value["late_shards"] = interval.late_shards.into();
        value["response_time"] = times(succeeded.of(Measure::Response), censored, Spoiled::default());
        // What came late makes an earlier interval whole.
        match self.intervals.get_mut(index) {
            Some(told) => *told = value,
            None => self.intervals.push(value),
        }
    }

    /// The whole report, with a line end.
    pub fn report(&mut self, run: &Run<'_>) -> String {
        let mut report = facts(run);
        report["times"] = all_times(run);
        report["statuses"] = statuses(run.seen());
        report["grpc_statuses"] = grpc_statuses(run.seen());
        report["closes"] = closes(run.seen());
        report["failures"] = failures(run);
        report["steps"] = steps::values(run);
        report["thresholds"] = thresholds(run);
        report["verdict"] = verdict_of(run);
        report["notes"] = run.notes.iter().map(|note| json!({ "kind": note.kind, "text": note.en })).collect();
        report["generator"] = generator(run);
        report["intervals"] = Value::Array(std::mem::take(&mut self.intervals));
        report["intervals_left_out"] = self.intervals_left_out.into();
        format!("{report:#}\n")
    }
}

fn plan_of(scenario: &Scenario, step: &Step) -> Value {
    let mut plan = json!({
        "model": "closed",
        "users": null,
        "ramp_s": null,
        "user_stages": null,
        "rendezvous": false,
        "connections": null,
        "requests": null,
        "duration_s": null,
        "stages": null,
        "arrivals": null,
        "max_lateness_s": null,
        "method": step.request.method,
        "path": step.request.path,
        "protocol": protocol_of(scenario),
        "streams": scenario.target().streams,
        "call": step.call.as_ref().map(|call| json!({
            "messages": call.messages.len(),
            "interval_s": call.interval.as_secs_f64(),
            "sends_stream": call.sends_stream,
            "answers_stream": call.answers_stream,
            "encoding": if call.is_gzipped { "gzip" } else { "identity" },
        })),
        "keep_alive": step.keep_alive,
        "timeout_s": step.timeout.as_secs_f64(),
        "connect_timeout_s": step.connect_timeout.as_secs_f64(),
    });
    match &scenario.load {
        Load::Closed { users, shape, requests, duration } => {
            plan["users"] = (*users).into();
            let stage = |stage: &UserStage| json!({ "from": stage.from, "to": stage.to, "duration_s": stage.span.as_secs_f64() });
            match shape {
                UserShape::AtOnce => {}
                UserShape::Rendezvous => plan["rendezvous"] = true.into(),
                UserShape::Ramp(span) => plan["ramp_s"] = span.as_secs_f64().into(),
                UserShape::Stages(stages) => plan["user_stages"] = stages.iter().map(stage).collect(),
            }
            plan["requests"] = (*requests).into();
            plan["duration_s"] = duration.map(|span| span.as_secs_f64()).into();
        }
        Load::Open { stages, arrivals, requests, connections, max_lateness } => {
            plan["model"] = "open".into();
            plan["connections"] = connections.most().into();
            plan["requests"] = (*requests).into();
            let rate = |thousandths_per_hour: u64| thousandths_per_hour as f64 / 3.6e6;
            let stage = |stage: &RateStage| json!({ "from_per_s": rate(stage.from), "to_per_s": rate(stage.to), "duration_s": stage.span.as_secs_f64() });
            plan["stages"] = stages.iter().map(stage).collect();
            plan["duration_s"] = stages.iter().map(|stage| stage.span).sum::<Duration>().as_secs_f64().into();
            plan["arrivals"] = if *arrivals == Arrivals::Even { "even" } else { "poisson" }.into();
            plan["max_lateness_s"] = max_lateness.as_secs_f64().into();
        }
    }
    plan
}

fn protocol_of(scenario: &Scenario) -> &'static str {
    match scenario.target().protocol {
        Protocol::Http1 => "http/1",
        Protocol::Http2 => "http/2",
        Protocol::Negotiated => "negotiated",
        Protocol::WebSocket => "websocket",
        Protocol::Tcp => "tcp",
    }
}

fn facts(run: &Run<'_>) -> Value {
    let scenario = run.plan.scenarios.first().expect("a plan has a scenario");
    let step = scenario.steps.first().expect("a scenario has a step");
    let counts = &run.seen().counts;
    let seconds = run.result.wall.as_secs_f64();
    let mut plan = plan_of(scenario, step);
    plan["warmup_s"] = run.plan.warmup.as_secs_f64().into();
    json!({
        "schema": SCHEMA,
        "target": {
            "url": scenario.target().url,
            "address": run.place(),
            "lookup_s": run.lookup.map(|span| span.as_secs_f64()),
        },
        "plan": plan,
        "stopped": run.result.was_stopped,
        "requests": {
            "started": counts.started,
            "succeeded": counts.succeeded,
            "failed": counts.failed(),
            "dropped": counts.dropped,
            "dropped_by_generator": counts.dropped_by_generator,
            "unfinished": counts.unfinished,
            "cut": counts.cut,
            "success_ratio": counts.success_ratio(),
            "answered_ratio": ratio(counts.succeeded, counts.finished()),
            "iterations": { "completed": run.iterations().0, "cut": run.iterations().1 },
            "covered": counts.covered_responses,
            "attempts": counts.attempts,
            "sent": counts.sent,
            "answers": counts.answers,
            "reconnects": counts.reconnects,
            "redirects": counts.redirects,
        },
        "wall_s": seconds,
        "planned_s": run.result.started_for.as_secs_f64(),
        "requests_per_s": run.rate(),
        "achieved_per_s": run.achieved(),
        "asked_per_s": run.result.asked_per_s,
        "bytes": {
            "received": counts.bytes_received,
            "received_per_s": per_second(counts.bytes_received, seconds),
            "bodies": counts.body_bytes,
            "sent": counts.bytes_sent(),
            "sent_per_s": per_second(counts.bytes_sent(), seconds),
        },
        "messages": { "sent": counts.messages_left(), "received": counts.messages_received, "unasked": counts.unasked },
        "connections": {
            "tried": counts.connections_tried,
            "established": counts.connections_established,
            "unsolicited": counts.unsolicited,
            "tls_handshakes": run.seen().tls.count(),
            "tls_resumed": counts.tls_resumed,
        },
    })
}

/// For each class that has any: each measure.
fn all_times(run: &Run<'_>) -> Value {
    let seen = run.seen();
    let mut by_class = Map::new();
    let classes = Class::ALL.iter().map(|&class| (class.name(), seen.class(class))).chain([("all", seen.all())]);
    for (name, timings) in classes {
        if timings.of(Measure::Response).count() == 0 && !["all", Class::Succeeded.name()].contains(&name) {
            continue;
        }
        let measures = Measure::ALL.iter().map(|&measure| {
            let is_headline =
                name == Class::Succeeded.name() && matches!(measure, Measure::Response | Measure::Service);
            let censored = if is_headline { Censored::of(seen, measure) } else { Censored::default() };
            let is_of_success = name == Class::Succeeded.name();
            let spoiled = if is_of_success { run.spoiled(measure) } else { Spoiled::default() };
            (measure.name().to_owned(), times(timings.of(measure), censored, spoiled))
        });
        by_class.insert(name.to_owned(), Value::Object(measures.collect()));
    }
    by_class.insert("connect".to_owned(), times(&seen.connect, Censored::default(), Spoiled::default()));
    by_class.insert("tls_handshake".to_owned(), times(&seen.tls, Censored::default(), Spoiled::default()));
    by_class.insert("message".to_owned(), times(&seen.message, Censored::of_messages(seen), Spoiled::default()));
    by_class.insert("message_gap".to_owned(), times(&seen.message_gap, Censored::default(), Spoiled::default()));
    let bars: Vec<Value> = histogram(run.succeeded().of(Measure::Response))
        .iter()
        .map(|bar| json!({"from_ns": bar.from_ns, "to_ns": bar.to_ns, "count": bar.count}))
        .collect();
    by_class.insert("response_time_histogram".to_owned(), bars.into());
    Value::Object(by_class)
}

/// A distribution. Percentiles that are only lower bounds are named in `at_least`, those that our own stalls may have made in
/// `spoiled`.
fn times(times: &Distribution, censored: Censored, spoiled: Spoiled) -> Value {
    let mut value = Map::new();
    value.insert("count".to_owned(), times.count().into());
    value.insert("min_ns".to_owned(), censored.min(times).into());
    value.insert("mean_ns".to_owned(), times.mean().into());
    value.insert("stdev_ns".to_owned(), times.stdev().into());
    let (mut at_least, mut by_us) = (Vec::new(), Vec::new());
    for (name, quantile) in QUANTILES.iter().copied().chain([("max", 1.0)]) {
        let known = censored.percentile(times, quantile);
        value.insert(format!("{}_ns", name.replace('.', "_")), known.map(|known| known.ns).into());
        if known.is_some_and(|known| known.at_least) {
            at_least.push(Value::from(name.replace('.', "_")));
        }
        if known.is_some() && spoiled.is(quantile) {
            by_us.push(Value::from(name.replace('.', "_")));
        }
    }
    value.insert("at_least".to_owned(), at_least.into());
    value.insert("spoiled".to_owned(), by_us.into());
    Value::Object(value)
}

fn statuses(seen: &Snapshot) -> Value {
    Value::Object(seen.counts.statuses().map(|(status, count)| (status.to_string(), count.into())).collect())
}

fn grpc_statuses(seen: &Snapshot) -> Value {
    Value::Object(seen.counts.grpc_statuses().map(|(name, count)| (name.to_owned(), count.into())).collect())
}

/// Conversations of WebSocket that the server ended.
fn closes(seen: &Snapshot) -> Value {
    let one = |(code, count): (&u16, &u64)| {
        json!({
            "code": (*code != CLOSE_WITHOUT_CODE).then_some(code),
            "reason": seen.heard(usize::from(*code)).filter(|reason| !reason.is_empty()),
            "count": count,
        })
    };
    seen.counts.closes.iter().map(one).collect()
}

fn failures(run: &Run<'_>) -> Value {
    let one = |(failure, count): (Failure, u64)| {
        json!({
            "reason": failure.name(),
            "detail": failure.detail(),
            "grpc_status": say::call_status_name(failure, run),
            "count": count,
            "places": run.seen().blamed.places(failure).into_iter().map(|(place, _)| place).collect::<Vec<_>>(),
            "remedy": say::failure_remedy(failure, run, Language::En),
        })
    };
    run.seen().counts.failures().map(one).collect()
}

fn thresholds(run: &Run<'_>) -> Value {
    let one = |(threshold, judgement): (&Threshold, Judgement)| {
        let unit = match judgement.unit {
            Unit::Time => "ns",
            Unit::Count => "count",
            Unit::Ratio => "ratio",
            Unit::PerSecond => "per_s",
        };
        json!({
            "threshold": threshold.text,
            "holds": judgement.holds,
            "value": judgement.value,
            "at_least": judgement.at_least,
            "most": judgement.range.map(|(_, most)| most).filter(|most| most.is_finite()),
            "unit": unit,
        })
    };
    run.judgements().map(one).collect()
}

fn verdict_of(run: &Run<'_>) -> Value {
    let verdict = &run.result.verdict;
    json!({
        "limit": verdict.limit.name(),
        "is_spoiled": verdict.is_spoiled(),
        "text": verdict::verdict(run, Language::En),
        "lateness_p99_ns": verdict.lateness_p99_ns,
        "wait_p99_ns": verdict.wait_p99_ns,
        "loop_lag_p99_ns": verdict.lag_p99_ns,
        "service_mean_ns": verdict.service_mean_ns,
        "users_can_per_s": verdict.users_can_per_s,
        "unanswered": verdict.unanswered,
        "backlog": verdict.growth.map(|growth| json!({
            "at_end": growth.at_end,
            "halfway_s": growth.halfway_s,
            "at_end_s": growth.at_end_s,
        })),
        "unanswered_time_share": verdict.unanswered_time_share,
        "busiest_shard": verdict.busiest.as_ref().map(|(shard, _)| shard),
        "link": verdict.link.as_ref().map(|link| json!({
            "interface": link.name,
            "bits_per_s": link.bits_per_s,
            "share": link.share,
        })),
    })
}

fn shard_use(spent: &ShardUse) -> Value {
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

fn generator(run: &Run<'_>) -> Value {
    let cpu = run.result.cpu;
    json!({
        "driver": run.result.driver.kind.name(),
        "driver_reason": say::driver_reason(&run.result.driver, Language::En),
        "threads": run.result.threads,
        "users": run.users(),
        "cpu_s": run.seen().cpu_ns as f64 / 1e9,
        "process_cpu_user_s": cpu.user_ns as f64 / 1e9,
        "process_cpu_system_s": cpu.system_ns as f64 / 1e9,
        "cpu_us_per_request": run.cpu_us_per_request(),
        "cpu_share": run.cpu_share(),
        "shards": run.result.shards.iter().map(shard_use).collect::<Vec<_>>(),
        "resident_bytes": host::resident_bytes(),
    })
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
