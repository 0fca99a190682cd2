//! The plan, as JSON.

use core::time::Duration;

use ::plan::{Arrivals, ConnectionCount, Load, Plan, Protocol, RateStage, Scenario, Step, UserShape, UserStage};
use serde_json::{Value, json};

/// The plan of one scenario.
pub(crate) fn plan_of(plan: &Plan, scenario: &Scenario) -> Value {
    let mut value = load_of(scenario, scenario.steps.first().expect("a scenario has a step"));
    value["warmup_s"] = plan.warmup.as_secs_f64().into();
    value["seed"] = plan.seed.into();
    value
}

fn load_of(scenario: &Scenario, step: &Step) -> Value {
    let is_http = step.messaging.as_ref().is_none_or(|messaging| messaging.custom.is_none());
    let mut plan = json!({
        "model": "closed",
        "users": null,
        "ramp_s": null,
        "user_stages": null,
        "rendezvous": false,
        "connections": null,
        "requests": null,
        "requests_each": scenario.iterations_per_user,
        "duration_s": null,
        "stages": null,
        "arrivals": null,
        "max_lateness_s": null,
        "preconnect": false,
        "method": is_http.then_some(&step.request.method),
        "path": is_http.then_some(&step.request.path),
        "protocol": protocol_of(scenario),
        "streams": scenario.target().streams,
        "call": step.call.as_ref().map(|call| json!({
            "messages": call.messages.len(),
            "interval_s": call.interval.as_secs_f64(),
            "sends_stream": call.sends_stream,
            "responses_stream": call.responses_stream,
            "encoding": if call.is_gzipped { "gzip" } else { "identity" },
        })),
        "keep_alive": step.keep_alive,
        "retries": step.retries,
        "deadline_s": step.deadline.map(|span| span.as_secs_f64()),
        "timeout_s": step.timeout.as_secs_f64(),
        "connect_timeout_s": step.connect_timeout.as_secs_f64(),
    });
    match &scenario.load {
        Load::Closed { users, shape, requests, duration } => {
            plan["users"] = (*users).into();
            plan["connections"] = scenario.shared_connections.into();
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
            plan["preconnect"] = matches!(connections, ConnectionCount::Exactly(_)).into();
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

fn protocol_of(scenario: &Scenario) -> &str {
    match scenario.target().protocol {
        Protocol::Http1 => "http/1",
        Protocol::Http2 => "http/2",
        Protocol::Negotiated => "negotiated",
        Protocol::WebSocket => "websocket",
        Protocol::Tcp => "tcp",
        Protocol::Custom => scenario.target().custom.as_ref().map_or("", |custom| &custom.protocol),
    }
}
