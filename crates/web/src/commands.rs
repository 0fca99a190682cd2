//! Requested changes of a run, and their conversion for the engine.

use axum::http::StatusCode;
use engine::Refused;
use pacing::LevelStage;
use pacing::Nanos;
use pacing::change::{ChangeKind, LoadProfile, Timeline};
use pacing::open::{Rate, Stage};
use report::Language;
use serde_json::Value;

use crate::error::ApiError;
use crate::run::Run;

/// A requested change.
pub(crate) struct RequestedChange {
    /// The last revision that the client has seen.
    pub(crate) seen: u32,
    /// The change of each scenario.
    pub(crate) changes: Vec<(usize, ChangeKind)>,
}

impl RequestedChange {
    /// Parses `{"revision": 0, "change": "rate", "to": "2000/s", "over": "10s", "scenario": "buy"}`.
    pub(crate) fn read(body: &Value, run: &Run) -> Result<Self, ApiError> {
        let known = ["revision", "change", "to", "over", "scenario"];
        let all = body.as_object().ok_or_else(|| {
            ApiError::wrong(
                "a change is an object like {\"revision\": 0, \"change\": \"pause\"}",
                "调整应为对象，如 {\"revision\": 0, \"change\": \"pause\"}",
            )
        })?;
        if let Some(other) = all.keys().find(|key| !known.contains(&key.as_str())) {
            let known = known.join(", ");
            return Err(ApiError::wrong(
                &format!("a change has no '{other}'; it has {known}"),
                &format!("调整中没有 '{other}' 这个字段；可用：{}", known.replace(", ", "、")),
            ));
        }
        let seen = body["revision"].as_u64().and_then(|seen| u32::try_from(seen).ok()).ok_or_else(|| {
            ApiError::wrong(
                "'revision' wants the number that the run says of itself",
                "'revision' 应为压测当前的修订号",
            )
        })?;
        let (control, places) = (&run.control, places(body, run)?);
        let at = control.next_instant();
        let over = span(body)?;
        let change = body["change"].as_str().unwrap_or_default();
        let is_plain = matches!(change, "pause" | "resume" | "end");
        if is_plain && (!body["to"].is_null() || !body["over"].is_null()) {
            return Err(ApiError::wrong(
                &format!("'{change}' takes no 'to' and no 'over'"),
                &format!("'{change}' 不需要 'to' 和 'over'"),
            ));
        }
        let mut changes = Vec::new();
        let is_one = places.len() == 1;
        for place in places {
            let timeline = control.timeline(place);
            let is_over = timeline.end().is_some_and(|end| end <= at);
            let what = match change {
                // Of several, those already in the wanted state stay as they are.
                "pause" if !is_one && (timeline.is_paused() || is_over) => continue,
                "resume" if !is_one && !timeline.is_paused() => continue,
                "pause" => ChangeKind::Pause,
                "resume" => ChangeKind::Resume,
                "end" if !is_one && is_over => continue,
                "end" => ChangeKind::End,
                "rate" | "users" if !is_one => {
                    return Err(ApiError::wrong(
                        "there are several scenarios; name one in 'scenario'",
                        "有多个场景；请用 'scenario' 指定一个",
                    ));
                }
                "rate" => rate(body, &timeline, at, over)?,
                "users" => users(body, &timeline, at, over)?,
                _ => {
                    return Err(ApiError::wrong(
                        "'change' is one of rate, users, pause, resume and end",
                        "'change' 只能是 rate、users、pause、resume 或 end",
                    ));
                }
            };
            changes.push((place, what));
        }
        if changes.is_empty() {
            let refused = if change == "resume" { Refused::NotPaused } else { Refused::IsPaused };
            return Err(refusal(refused));
        }
        Ok(Self { seen, changes })
    }
}

fn places(body: &Value, run: &Run) -> Result<Vec<usize>, ApiError> {
    let names: Vec<&str> = run.names().collect();
    if !run.control.is_load() {
        return Err(refusal(Refused::Held));
    }
    match &body["scenario"] {
        Value::Null => Ok((0..names.len()).collect()),
        Value::String(name) => match names.iter().position(|known| known == name) {
            Some(place) => Ok(vec![place]),
            None => {
                let known = names.join(", ");
                Err(ApiError::wrong(
                    &format!("there is no scenario '{name}'; there are {known}"),
                    &format!("没有场景 '{name}'；可用：{}", known.replace(", ", "、")),
                ))
            }
        },
        _ => Err(ApiError::wrong("'scenario' wants a name", "'scenario' 应为场景名称")),
    }
}

/// A number, or a text in command line notation.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn span(body: &Value) -> Result<Nanos, ApiError> {
    match &body["over"] {
        Value::Null => Ok(Nanos::ZERO),
        value => plan::parse_duration("over", &text_of(value)).map(Nanos::from).map_err(|error| plan_refusal(&error)),
    }
}

fn plan_refusal(error: &plan::PlanError) -> ApiError {
    ApiError::wrong(&report::plan_error(error, Language::En), &report::plan_error(error, Language::Zh))
}

/// Checks that a ramp ends before the load does.
fn check_end(timeline: &Timeline, at: Nanos, over: Nanos) -> Result<(), ApiError> {
    match timeline.left(at) {
        Some(left) if over > left => {
            let left = left.as_secs_f64();
            Err(ApiError::wrong(
                &format!("this load goes on for {left:.1}s; make 'over' shorter"),
                &format!("压测还会进行 {left:.1}s；请缩短 'over'"),
            ))
        }
        _ => Ok(()),
    }
}

fn rate(body: &Value, timeline: &Timeline, at: Nanos, over: Nanos) -> Result<ChangeKind, ApiError> {
    let LoadProfile::Rate(_) = timeline.course() else { return Err(refusal(Refused::NoRate)) };
    let to = plan::parse_rate("to", &text_of(&body["to"])).map_err(|error| plan_refusal(&error))?;
    check_end(timeline, at, over)?;
    // Thousandths of a start per hour.
    let now = Rate::per_hour_thousandths((timeline.rate_at(at) * 3_600_000.0).round() as u64);
    let to = Rate::per_hour_thousandths(to);
    let ramp = Stage { from: now, to, span: over };
    let hold = Stage { from: to, to, span: Nanos::ZERO };
    Ok(ChangeKind::Rate(if over > Nanos::ZERO { vec![ramp, hold] } else { vec![hold] }))
}

fn users(body: &Value, timeline: &Timeline, at: Nanos, over: Nanos) -> Result<ChangeKind, ApiError> {
    let LoadProfile::Users(..) = timeline.course() else { return Err(refusal(Refused::NoUsers)) };
    let to =
        plan::parse_count("to", &text_of(&body["to"]), 1, plan::USERS_MAX).map_err(|error| plan_refusal(&error))?;
    check_end(timeline, at, over)?;
    let ramp = LevelStage { from: timeline.users_at(at), to, span: over };
    let hold = LevelStage { from: to, to, span: Nanos::ZERO };
    Ok(ChangeKind::Users(if over > Nanos::ZERO { vec![ramp, hold] } else { vec![hold] }))
}

/// The error for a change that the engine refuses.
pub(crate) fn refusal(refused: Refused) -> ApiError {
    let (code, zh) = match refused {
        Refused::NoScenario => ("no_scenario", "没有这个场景".to_owned()),
        Refused::NoRate => ("no_rate", "该压测按用户数进行，没有速率；请改为调整用户数".to_owned()),
        Refused::NoUsers => ("no_users", "该压测按速率进行，没有用户数；请改为调整速率".to_owned()),
        Refused::Rendezvous => ("rendezvous", "该压测的用户互相等待，不能调整用户数".to_owned()),
        Refused::Counted => ("counted", "该压测把固定的请求数分给各用户；改用时长后才能调整用户数".to_owned()),
        Refused::IsPaused => ("is_paused", "压测已经暂停".to_owned()),
        Refused::NotPaused => ("not_paused", "压测没有暂停".to_owned()),
        Refused::WarmingUp => ("warming_up", "压测正在预热，现在结束将没有任何测量结果；请直接停止".to_owned()),
        Refused::Over => ("over", "压测已结束；请重新启动".to_owned()),
        Refused::StaleRevision { now } => {
            ("stale_revision", format!("压测刚被其他人调整过（修订号 {now}）；请查看后再调整"))
        }
        Refused::Held => ("held", "长连接压测（hold）没有可暂停或调整的负载；可以停止".to_owned()),
    };
    let mut fault = ApiError::new(StatusCode::CONFLICT, code, &refused.to_string(), "");
    fault.text_zh = zh;
    fault
}
