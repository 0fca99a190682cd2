//! The plan, in words.

use plan::{
    Arrivals, Call, ConnectionCount, Load, MessageKind, Messaging, OneOf, Plan, Protocol, RATE_UNIT, RateStage,
    Scenario, Step, UserShape,
};

use crate::Language;
use crate::format::{count, counted, is_of, rate, span};

/// The users of a closed load.
fn users_in_words(users: u64, shape: &UserShape, language: Language) -> String {
    let number = count(users);
    match shape {
        UserShape::AtOnce => {
            language.pick(format!("closed model, {}", counted(users, "user")), format!("固定并发 {number} 个用户"))
        }
        UserShape::Rendezvous => language.pick(
            format!(
                "closed model, {} who {} together every round",
                counted(users, "user"),
                is_of(users, "starts", "start")
            ),
            format!("固定并发 {number} 个用户，每次迭代在集合点同时发起"),
        ),
        UserShape::Ramp(ramp) => {
            let ramp = span(*ramp);
            language.pick(
                format!("closed model, {} started over {ramp}", counted(users, "user")),
                format!("固定并发 {number} 个用户，梯度加压（{ramp} 内全部加入）"),
            )
        }
        UserShape::Stages(stages) => {
            let mut levels = vec![count(stages.first().map_or(0, |stage| stage.from))];
            levels.extend(stages.iter().map(|stage| {
                let (users, span) = (count(stage.to), span(stage.span));
                language.pick(format!("{users} ({span})"), format!("{users}（{span}）"))
            }));
            let levels = levels.join(language.pick(" -> ", " → "));
            language.pick(format!("closed model, users {levels}"), format!("固定并发，用户数 {levels}"))
        }
    }
}

/// The rates of an open load: one when it never changes, else from stage to stage.
fn stages_in_words(stages: &[RateStage], language: Language) -> String {
    // In the largest unit in which it is a whole number, or else as a decimal of the most suitable one.
    let named = |thousandths_per_hour: u64| match thousandths_per_hour {
        0 => "0/s".to_owned(),
        exact if exact % RATE_UNIT == 0 => format!("{}/s", count(exact / RATE_UNIT)),
        exact if exact % 60_000 == 0 => format!("{}/m", count(exact / 60_000)),
        some if some >= RATE_UNIT => format!("{}/s", rate(some as f64 / RATE_UNIT as f64)),
        few => format!("{}/h", few as f64 / 1e3),
    };
    let is_constant = stages.iter().all(|stage| stage.from == stage.to && stage.to == stages[0].to);
    let rates = match stages.first() {
        Some(stage) if is_constant => named(stage.to),
        _ => {
            let mut rates = vec![named(stages.first().map_or(0, |stage| stage.from))];
            rates.extend(stages.iter().map(|stage| {
                let (rate, span) = (named(stage.to), span(stage.span));
                language.pick(format!("{rate} ({span})"), format!("{rate}（{span}）"))
            }));
            rates.join(language.pick(" -> ", " → "))
        }
    };
    language.pick(format!("open model, {rates}"), format!("固定速率 {rates}"))
}

/// The messages of a call, when that is not just one.
fn messages_in_words(call: &Call, language: Language) -> Option<String> {
    let number = call.messages.len() as u64;
    if number == 1 {
        return None;
    }
    let messages = language.pick(counted(number, "message"), format!("每次 {} 条消息", count(number)));
    if call.interval.is_zero() {
        return Some(messages);
    }
    let interval = span(call.interval);
    Some(language.pick(format!("{messages} {interval} apart"), format!("{messages}，间隔 {interval}")))
}

fn messaging_in_words(messaging: &Messaging, path: &str, language: Language) -> String {
    let Some(message) = &messaging.message else { return path.to_owned() };
    let bytes = message.bytes.len() as u64;
    let size = language.pick(counted(bytes, "byte"), format!("{} 字节", count(bytes)));
    match message.kind {
        MessageKind::Ping => language.pick(format!("WebSocket pings on {path}"), format!("WebSocket ping {path}")),
        MessageKind::Plain => language.pick(format!("TCP messages of {size}"), format!("TCP 消息（{size}）")),
        MessageKind::Text | MessageKind::Binary => language
            .pick(format!("WebSocket messages of {size} on {path}"), format!("WebSocket 消息（{size}），路径 {path}")),
    }
}

/// Several steps, and their order.
fn steps_in_words(scenario: &Scenario, language: Language) -> String {
    let steps = count(scenario.steps.len() as u64);
    let (en, zh) = match (scenario.program.asks_one(), scenario.program.is_shuffled()) {
        (Some(OneOf::InTurn), _) => ("URLs in turn", "个 URL 轮流请求"),
        (Some(OneOf::Drawn), _) => ("URLs at random", "个 URL 随机请求"),
        (None, true) => ("steps, reshuffled every round", "个步骤，每次迭代随机排列"),
        (None, false) => ("steps in order", "个步骤依次执行"),
    };
    language.pick(format!("{steps} {en}"), format!("{steps} {zh}"))
}

/// The requests or iterations of a load: those of each user, and those of all.
fn amounts_in_words(scenario: &Scenario, requests: Option<u64>, language: Language) -> Vec<String> {
    let mut parts = Vec::new();
    let is_one = scenario.program.asks_one().is_some() || scenario.program.asks_each() == Some(1);
    if let Some(each) = scenario.iterations_per_user {
        parts.push(match is_one {
            true => {
                language.pick(format!("{} each", counted(each, "request")), format!("每个用户 {} 个请求", count(each)))
            }
            false => language
                .pick(format!("{} each", counted(each, "iteration")), format!("每个用户 {} 次迭代", count(each))),
        });
    }
    if let Some(requests) = requests {
        parts.push(match is_one {
            true => language.pick(counted(requests, "request"), format!("共 {} 个请求", count(requests))),
            false => language.pick(counted(requests, "iteration"), format!("共 {} 次迭代", count(requests))),
        });
    }
    parts
}

/// What is sent: the first step of a scenario, or all of them.
fn exchange_in_words(scenario: &Scenario, step: &Step, language: Language) -> String {
    let (method, path) = (&step.request.method, &step.request.path);
    match (&step.call, &step.messaging) {
        (Some(_), _) => format!("gRPC {path}"),
        (None, Some(messaging)) if messaging.custom.is_some() && scenario.steps.len() > 1 => {
            steps_in_words(scenario, language)
        }
        (None, Some(messaging)) if messaging.custom.is_some() => step.name.clone(),
        (None, Some(messaging)) => messaging_in_words(messaging, path, language),
        (None, None) if scenario.steps.len() > 1 => steps_in_words(scenario, language),
        (None, None) => format!("{method} {path}"),
    }
}

/// The plan of one scenario, in one line.
pub(crate) fn scenario_in_words(plan: &Plan, scenario: &Scenario, language: Language) -> String {
    let step = scenario.steps.first().expect("a scenario has a step");
    let mut parts = vec![exchange_in_words(scenario, step, language)];
    if let Some(call) = &step.call {
        parts.extend(messages_in_words(call, language));
    }
    let (requests, duration) = match &scenario.load {
        Load::Closed { users, shape, requests, duration } => {
            parts.push(users_in_words(*users, shape, language));
            parts.extend(scenario.shared_connections.map(|shared| {
                language.pick(
                    format!("sharing {}", counted(shared, "connection")),
                    format!("共用 {} 个连接", count(shared)),
                )
            }));
            (*requests, *duration)
        }
        Load::Open { stages, arrivals, requests, connections, .. } => {
            parts.push(stages_in_words(stages, language));
            if let Arrivals::Poisson { .. } = arrivals {
                parts.push(language.pick("at random (Poisson)", "随机间隔（泊松）").to_owned());
            }
            parts.push(match connections {
                ConnectionCount::Exactly(most) => {
                    language.pick(counted(*most, "connection"), format!("{} 个连接", count(*most)))
                }
                ConnectionCount::UpTo(most) => language
                    .pick(format!("up to {}", counted(*most, "connection")), format!("最多 {} 个连接", count(*most))),
            });
            (*requests, Some(stages.iter().map(|stage| stage.span).sum()))
        }
    };
    if !plan.warmup.is_zero() {
        let warmup = span(plan.warmup);
        parts.push(language.pick(format!("after a warm-up of {warmup}"), format!("预热 {warmup}（不计入结果）")));
    }
    parts.extend(amounts_in_words(scenario, requests, language));
    if let Some(duration) = duration {
        parts.push(language.pick(format!("for {}", span(duration)), format!("持续 {}", span(duration))));
    }
    if !scenario.begin.is_zero() {
        let begin = span(scenario.begin);
        parts.push(language.pick(format!("beginning after {begin}"), format!("{begin} 后开始")));
    }
    let streams = scenario.target().streams;
    if streams > 1 {
        let streams = count(u64::from(streams));
        parts.push(language.pick(format!("{streams} streams each"), format!("每个连接 {streams} 个流")));
    }
    if scenario.target().protocol == Protocol::Http2 && step.call.is_none() {
        parts.push("HTTP/2".to_owned());
    }
    if !step.keep_alive {
        parts.push(language.pick("a new connection for each request", "每个请求新建连接").to_owned());
    }
    if !step.retries {
        parts.push(language.pick("no request is sent again", "不重发请求").to_owned());
    }
    let is_first = plan.scenarios.first().is_some_and(|first| first.name == scenario.name);
    if let Some(seed) = plan.seed.filter(|_| is_first) {
        parts.push(language.pick(format!("--seed {seed} draws the same"), format!("--seed {seed} 抽取结果相同")));
    }
    parts.join(language.pick(", ", "，"))
}
