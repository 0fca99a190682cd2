//! The verdicts of a hold.

use figures::{Held, MessageShortfall, ShortfallReason};

use crate::Language;
use crate::format::{bytes, count, counted, is_of, rate, time};
use crate::workers;

/// All verdicts.
pub(crate) fn verdicts(held: &Held, language: Language) -> Vec<String> {
    let (counts, plan) = (&held.tally, &held.plan);
    let mut all = Vec::new();
    let (most, requested) = (count(held.most_open), count(plan.connections));
    all.extend(opening_stopped(held, language));
    all.extend(target_limit(held, language));
    if held.most_open < plan.connections {
        all.push(language.pick(
            format!("not all connections were open at one time: {most} of {requested}"),
            format!("未能同时保持全部连接：{most} / {requested}"),
        ));
    }
    all.extend(workers::missed_held(held.workers_summary.as_ref(), language));
    let lost = counts.lost;
    if lost > 0 {
        let (said, were) =
            (counted(lost, "connection"), is_of(lost, "was lost while it was", "were lost while they were"));
        let lost = count(lost);
        all.push(language.pick(format!("{said} {were} held"), format!("保持期间断开了 {lost} 个连接")));
    }
    if !held.is_rate_kept {
        all.push(rate_missed(held, language));
    }
    if !held.owed.is_empty() {
        all.push(messages_owed(held, language));
    }
    if held.is_unreliable() {
        all.push(lateness(held, language));
    }
    let is_good = all.is_empty();
    if is_good {
        all.push(good(held, language));
    }
    let Some(first) = all.first_mut() else { return all };
    *first = match (held.was_stopped, is_good) {
        (true, _) => language.pick(
            format!("stopped before the end of the plan; until then {first}"),
            format!("压测提前停止；在此之前，{first}"),
        ),
        (false, true) => language.pick(format!("kept: {first}"), format!("达标：{first}")),
        (false, false) => std::mem::take(first),
    };
    all
}

/// Memory became short while connections were opened.
fn opening_stopped(held: &Held, language: Language) -> Option<String> {
    let stopped = held.stopped_opening?;
    let (available, tried) = (bytes(stopped.available as f64), count(stopped.tried));
    let said = counted(stopped.tried, "connection");
    Some(language.pick(
        format!("opening stopped at {said}: only {available} of memory was left on this machine; use another machine, or free memory here"),
        format!("在 {tried} 个连接时停止新建：本机只剩 {available} 内存；请换一台机器，或减少其他内存占用"),
    ))
}

/// The target took no more connections, near a common limit of files.
fn target_limit(held: &Held, language: Language) -> Option<String> {
    let (open, limit) = held.target_limit?;
    let (said, open, limit) = (counted(open, "connection"), count(open), count(limit));
    Some(language.pick(
        format!("the target accepted {said} and no more: that is about {limit}, a common limit of open files; raise it for the server (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile= of docker)"),
        format!("服务端接受了 {open} 个连接后不再接受：接近常见的打开文件数上限 {limit}；请为服务端调大（ulimit -n、systemd 的 LimitNOFILE=、docker 的 --ulimit nofile=）"),
    ))
}

/// Fewer messages were sent than planned, and why.
fn rate_missed(held: &Held, language: Language) -> String {
    let who = match held.is_generator_busy {
        true => language.pick(
            "the generator was fully busy: give it more cores (--threads), or another machine",
            "压测机已无余力：请增加核数（--threads）或更换机器",
        ),
        false => language.pick("the target did not answer in time", "服务端未能及时响应"),
    };
    let (requested, achieved) = held.requested_and_achieved.unwrap_or((0.0, 0.0));
    let (requested, achieved) = (rate(requested), rate(achieved));
    language.pick(
        format!("the message rate was not kept ({achieved} of {requested} per second): {who}"),
        format!("消息速率未达到计划（每秒 {achieved} / {requested}）：{who}"),
    )
}

/// The messages that do not count as done, by their reasons.
fn messages_owed(held: &Held, language: Language) -> String {
    let planned = count(held.tally.due() + held.tally.missed());
    let part = |owed: &MessageShortfall| {
        let (number, (en, zh)) = (count(owed.count), owed_by(owed.by));
        language.pick(format!("{number} {en}"), format!("{number} 条{zh}"))
    };
    let parts = held.owed.iter().map(part).collect::<Vec<_>>().join(language.pick(", ", "，"));
    let (en, zh) = match held.has_responses {
        true => ("was answered correctly", "得到正确响应"),
        false => ("was sent", "发出"),
    };
    language.pick(
        format!("not every message {en}: of {planned} due, {parts}"),
        format!("并非每条消息都{zh}：应发 {planned} 条，其中 {parts}"),
    )
}

/// The verdict when everything was held.
fn good(held: &Held, language: Language) -> String {
    let requested = count(held.plan.connections);
    let whole = match held.plan.connections {
        1 => "the connection was".to_owned(),
        _ => format!("all {requested} connections were"),
    };
    let (en, zh) = match (held.tally.due(), held.has_responses) {
        (0, _) => (" and none was lost", "，无一断开"),
        (_, true) => (", none was lost, and every message was answered", "，无一断开，消息全部得到响应"),
        (_, false) => (", none was lost, and every message was sent", "，无一断开，消息全部发出"),
    };
    language.pick(format!("{whole} open{en}"), format!("{requested} 个连接全部建立{zh}"))
}

/// The generator's own loops were late: the measurements include their lateness.
fn lateness(held: &Held, language: Language) -> String {
    let thread = held.late_thread().map(|late| {
        let (thread, share) = (late.thread, format!("{:.1}%", late.late_share * 100.0));
        let [p99, max] = [late.lag_p99_ns, late.lag_max_ns].map(|ns| time(ns as f64));
        language.pick(
            format!("the loop of thread {thread} was more than 20 ms late for {share} of its time (p99 {p99}, at most {max})"),
            format!("线程 {thread} 有 {share} 的时间滞后超过 20 ms（p99 {p99}，最长 {max}）"),
        )
    });
    let (late, due) = (count(held.tally.late()), count(held.tally.due()));
    let messages = (held.tally.late() > 0).then(|| {
        language.pick(format!("{late} of {due} messages were sent late"), format!("{due} 条消息中有 {late} 条发送过晚"))
    });
    let what = [thread, messages].into_iter().flatten().collect::<Vec<_>>().join(language.pick(", and ", "，"));
    language.pick(
        format!("the generator was late: {what}; give it more cores (--threads), or take other work off this machine"),
        format!("压测机滞后：{what}；请增加核数（--threads），或移走本机的其他程序"),
    )
}

/// The text for a kind of messages that do not count as done.
fn owed_by(by: ShortfallReason) -> (&'static str, &'static str) {
    match by {
        ShortfallReason::Unsent => ("never sent", "未能发出"),
        ShortfallReason::Unanswered => ("not answered", "未得到响应"),
        ShortfallReason::Unknown => {
            ("of lost workers: nobody knows whether they were answered", "属于失联的工作进程，是否响应未知")
        }
        ShortfallReason::Missed => ("due on lost connections", "因连接断开未发"),
        ShortfallReason::Refused => ("refused by the check", "断言失败"),
    }
}
