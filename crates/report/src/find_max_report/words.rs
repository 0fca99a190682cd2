//! The sentences of a search, in both languages, from its JSON.

use serde_json::Value;

use crate::Language;
use crate::format::{count, counted, span, time};

/// The meanings of the words in the table of trials.
pub(super) const LOST: (&str, &str) = (
    "lost: requests that missed a goal (too slow, or no answer; failures have a goal of their own)",
    "不达标：太慢或没有响应的请求（失败另有条件）",
);
pub(super) const OPEN: (&str, &str) = (
    "open: too few requests, or too uneven ones, to be sure whether the goals are met",
    "未定：请求太少或波动太大，还不能确定是否达标",
);

/// The meaning without the word itself, for JSON.
pub(super) fn meaning((text, _): (&'static str, &str)) -> &'static str {
    text.split_once(": ").map_or(text, |(_, meaning)| meaning)
}

/// Both in one line, where the table has them.
pub(super) fn explained(report: &Value, language: Language) -> String {
    let has_open = report["trials"].as_array().into_iter().flatten().any(|trial| trial["class"] == "undecided");
    let says = |(en, zh): (&'static str, &'static str)| language.pick(en, zh);
    if has_open { format!("{}{}{}", says(LOST), language.pick("; ", "；"), says(OPEN)) } else { says(LOST).to_owned() }
}

/// A load with its unit: `12,400/s`, `50 users`.
pub(super) fn load(at: f64, report: &Value, language: Language) -> String {
    let unit = report["unit"].as_str().unwrap_or_default();
    let number = figure(at);
    match unit {
        "users" => language.pick(counted(at.round() as u64, "user"), format!("{number} 个用户")),
        "connections" => language.pick(counted(at.round() as u64, "connection"), format!("{number} 个连接")),
        "iterations_per_s" => language.pick(format!("{number} iterations/s"), format!("每秒 {number} 次迭代")),
        _ => format!("{number}/s"),
    }
}

/// The significant digits of a load.
pub(crate) fn figure(at: f64) -> String {
    if at >= 100.0 || at.fract() == 0.0 {
        count(at.round() as u64)
    } else if at >= 10.0 {
        format!("{at:.1}")
    } else {
        format!("{at:.2}")
    }
}

/// The purpose of a trial.
pub(super) fn purpose(trial: &Value, language: Language) -> &'static str {
    match trial["purpose"].as_str().unwrap_or_default() {
        "look" => language.pick("look", "粗测"),
        "full" => language.pick("full", "完整"),
        _ => language.pick("confirm", "确认"),
    }
}

/// The class of a trial.
pub(super) fn class(trial: &Value, language: Language) -> &'static str {
    match trial["class"].as_str().unwrap_or_default() {
        "met" => language.pick("met", "达标"),
        "missed" if trial["is_piling_up"] == true => language.pick("missed, requests pile up", "未达标，请求不断积压"),
        "missed" => language.pick("missed", "未达标"),
        "discarded" if trial["fault"] == "stalls" => language.pick("unknown", "未知"),
        "discarded" => language.pick("discarded", "作废"),
        _ if trial["is_above"] == true => language.pick("open, too much lost", "未定，已不达标"),
        _ => language.pick("open", "未定"),
    }
}

/// The reason why a trial does not count.
pub(super) fn fault(name: &str, language: Language) -> &'static str {
    match name {
        "stalls" => language.pick("onrush itself stood still", "onrush 自身卡顿"),
        _ => limit(name, language),
    }
}

/// The name of a bottleneck.
pub(crate) fn limit(name: &str, language: Language) -> &'static str {
    match name {
        "target" => language.pick("the target", "被测服务"),
        "generator" => language.pick("onrush on this machine", "本机上的 onrush"),
        "ports_or_descriptors" => language.pick("local ports or descriptors of this machine", "本机的端口或文件描述符"),
        "machine" => language.pick("this machine, shared with the target", "与被测服务共用的本机"),
        "link" => language.pick("the network link", "网络带宽"),
        // The first is that of a trial in which starts waited for connections.
        "users" | "connections" => language.pick("the users of the load", "负载的用户数"),
        "below" => language.pick("not reached", "尚未达到上限"),
        "plan_kept" => language.pick("nobody", "无"),
        _ => language.pick("unknown", "未知"),
    }
}

/// The result, in one sentence.
pub(super) fn result(report: &Value, language: Language) -> String {
    let number = |name: &str| report[name].as_f64();
    let shown = |at: f64| load(at, report, language);
    let percent = |share: f64| format!("{:.1}{}%", share * 100.0, language.pick(" ", ""));
    match (number("lower"), number("upper"), number("middle").zip(number("half_width"))) {
        (Some(lower), Some(upper), Some((middle, half))) => language.pick(
            format!("{} ± {}: {} was held, {} was not", shown(middle), percent(half), shown(lower), shown(upper)),
            format!("{} ± {}：{} 可以承受，{} 不能", shown(middle), percent(half), shown(lower), shown(upper)),
        ),
        (Some(lower), ..) => language.pick(
            format!("at least {}, which was held; nothing higher was shown to be too much", shown(lower)),
            format!("至少 {}（可以承受）；没有更高的负载被证明不达标", shown(lower)),
        ),
        (None, Some(upper), _) if report["ran"].is_object() => language.pick(
            format!("{}; {} was too much", ran(report, language), shown(upper)),
            format!("{}；{} 不达标", ran(report, language), shown(upper)),
        ),
        (None, Some(upper), _) => language.pick(
            format!("below {}, which was too much; no load was shown to be held", shown(upper)),
            format!("低于 {}（不达标）；时间内未能确认任何达标的负载，请增大 --budget", shown(upper)),
        ),
        _ if report["ran"].is_object() => ran(report, language),
        _ => match number("met") {
            Some(met) => language.pick(
                format!("no bound was found; {} met the goals in a single trial, and three are wanted", shown(met)),
                format!("没有得到上下界；{} 在一次试压中达标，但需要三次", shown(met)),
            ),
            None => language.pick("nothing was found".to_owned(), "没有得到结果".to_owned()),
        },
    }
}

/// The highest load that ran without a loss, and the evidence for it.
fn ran(report: &Value, language: Language) -> String {
    let ran = &report["ran"];
    let load = load(ran["at"].as_f64().unwrap_or(0.0), report, language);
    let tenths = (ran["span_s"].as_f64().unwrap_or(0.0) * 10.0).round() as u64;
    let span = span(core::time::Duration::from_millis(tenths * 100));
    let (good, of) = (ran["trials"].as_u64().unwrap_or(0), ran["of"].as_u64().unwrap_or(0));
    let trials = counted(of, "trial");
    match ran["is_met"] == true {
        true => language.pick(
            format!("{load} ran {span} without a loss and met the goals; not confirmed: {good} of {trials}"),
            format!("{load} 压测了 {span}，没有不达标的请求，达标；尚未确认：{of} 次试压中有 {good} 次"),
        ),
        false => language.pick(
            format!("{load} ran {span} without a loss; not confirmed: {good} of {trials}"),
            format!("{load} 压测了 {span}，没有不达标的请求；尚未确认：{of} 次试压中有 {good} 次"),
        ),
    }
}

/// The duration of a search or a sweep.
pub(crate) fn took(report: &Value) -> String {
    span(core::time::Duration::from_secs(report["took_s"].as_f64().unwrap_or(0.0).round() as u64))
}

/// The reason why it ended.
pub(super) fn ended(report: &Value, language: Language) -> String {
    let budget = span(core::time::Duration::from_secs_f64(report["budget_s"].as_f64().unwrap_or(0.0)));
    match report["ended"].as_str().unwrap_or_default() {
        "width" => language.pick("the bounds are close".to_owned(), "上下界已足够接近".to_owned()),
        "noise" => language.pick(
            "noise leaves the loads between the bounds open".to_owned(),
            "波动使上下界之间的负载无法判定".to_owned(),
        ),
        "budget" => language.pick(
            format!("what was left of its time ({budget}) was too short for more; --budget gives it more, and closer bounds"),
            format!("剩余时间（共 {budget}）已不够再试压一次；可用 --budget 延长以缩小范围"),
        ),
        "trials" => language.pick(
            "it made as many trials as it may; more --trials give closer bounds".to_owned(),
            "已用完允许的试压次数；增大 --trials 可缩小范围".to_owned(),
        ),
        "stopped" => language.pick("it was stopped".to_owned(), "被中止".to_owned()),
        "most" => language.pick(
            "the largest load that may be tried was held; --max sets it".to_owned(),
            "允许的最大负载也可以承受；可用 --max 调整".to_owned(),
        ),
        "least" => language.pick(
            "no lower load is tried; --goal may ask too much".to_owned(),
            "没有更低的负载可试；达标条件（--goal）可能过于严格".to_owned(),
        ),
        "gone" => language.pick(
            "no connection could be made any more: the target is gone".to_owned(),
            "无法再建立连接：被测服务已不在".to_owned(),
        ),
        "too_few" => language.pick(
            "nothing was lost, but there were too few requests to be sure; give it more --budget, or a lower percentile".to_owned(),
            "没有不达标的请求，但请求太少，无法确定；请用 --budget 延长，或使用较低的百分位".to_owned(),
        ),
        "stalls" => language.pick(
            "onrush itself stood still too often to tell more; take other work off this machine, or give it more cores".to_owned(),
            "onrush 自身卡顿太多，无法得出更多结论；请减少本机上的其他工作，或增加 CPU 核".to_owned(),
        ),
        "own_limit" => language.pick(
            "this machine can do no more: more cores, or onrush on several machines".to_owned(),
            "本机已到上限：请增加 CPU 核，或在多台机器上运行 onrush".to_owned(),
        ),
        _ => language.pick("it goes on".to_owned(), "进行中".to_owned()),
    }
}

/// Warnings that a reader must not overlook.
pub(super) fn warnings(report: &Value, language: Language) -> Vec<String> {
    let all: [fn(&Value, Language) -> Option<String>; 10] =
        [own_limit, unknown, ran_higher, not_confirmed, not_held, not_recovered, slower, noise, worse, stalls];
    all.into_iter().filter_map(|warning| warning(report, language)).collect()
}

/// A load of the report, with its unit.
fn load_at(at: &Value, report: &Value, language: Language) -> String {
    load(at.as_f64().unwrap_or(0.0), report, language)
}

/// A load that onrush, its machine or the network could not make.
fn own_limit(report: &Value, language: Language) -> Option<String> {
    let own = report["own_limit"].as_object()?;
    let (at, who) = (load_at(&own["at"], report, language), limit(own["limit"].as_str().unwrap_or_default(), language));
    Some(language.pick(
        format!("{at} could not be tried: the limit was {who}, so this says nothing of the target"),
        format!("{at} 无法试压：瓶颈是{who}，因此不能说明被测服务的上限"),
    ))
}

/// A load whose losses may be those of onrush.
fn unknown(report: &Value, language: Language) -> Option<String> {
    let unknown = report["unknown"].as_object()?;
    let (at, trials) = (load_at(&unknown["at"], report, language), unknown["trials"].as_u64().unwrap_or(0));
    let stall = time(unknown["stall_s"].as_f64().unwrap_or(0.0) * 1e9);
    Some(language.pick(
        format!(
            "whether {at} is held is not known: what was lost in {} may be our own doing, for onrush stood still for up to {stall}",
            counted(trials, "trial")
        ),
        format!("{at} 是否可以承受尚不清楚：{trials} 次试压中不达标的请求可能由 onrush 自己造成，它卡顿过（最长 {stall}）"),
    ))
}

/// A load above the lower bound that ran without a loss; where nothing was sustained the result says it already.
fn ran_higher(report: &Value, language: Language) -> Option<String> {
    let (ran_at, lower) = (report["ran"]["at"].as_f64(), report["lower"].as_f64());
    lower.zip(ran_at).is_some_and(|(lower, ran)| ran > lower).then(|| ran(report, language))
}

/// A load that was met in short trials only.
fn not_confirmed(report: &Value, language: Language) -> Option<String> {
    report["not_confirmed"].as_f64()?;
    let at = load_at(&report["not_confirmed"], report, language);
    Some(language.pick(
        format!("{at} was met in short trials, but was not when it was held for long"),
        format!("{at} 在短时间内达标，但长时间保持时未达标"),
    ))
}

/// The reason why the lower bound is not confirmed.
fn not_held(report: &Value, language: Language) -> Option<String> {
    if report["vary"] == "connections" || !report["lower"].is_number() || report["is_confirmed"] != false {
        return None;
    }
    let held = report["trials"].as_array().into_iter().flatten();
    let is_unreliable = held.filter(|trial| trial["purpose"] == "confirm").any(|trial| trial["class"] == "discarded");
    let said = if is_unreliable {
        language.pick(
            "it was held for long, but onrush could not follow, so that says nothing",
            "长时间保持时 onrush 自身未能跟上，因此无法确认该负载",
        )
    } else if report["ended"] == "trials" {
        language.pick("no trial was left to hold the load for long", "没有剩余的试压次数来长时间保持该负载")
    } else {
        language.pick(
            "there was no time to hold the load for long; --budget gives it more",
            "没有时间长时间保持该负载；可用 --budget 延长",
        )
    };
    Some(said.to_owned())
}

/// A target that needed longer to recover than the search waited.
fn not_recovered(report: &Value, language: Language) -> Option<String> {
    let waited = time(report["not_recovered_s"].as_f64()? * 1e9);
    Some(language.pick(
        format!("after a trial that was too much, response times were not as before within {waited}; the next trial may have suffered from it"),
        format!("一次不达标的试压之后，{waited} 内响应时间没有恢复；下一次试压可能受到影响"),
    ))
}

/// A target that became slower under the same load.
fn slower(report: &Value, language: Language) -> Option<String> {
    let slower = report["slower"].as_object()?;
    let at = load_at(&slower["at"], report, language);
    let [first, last] = ["first_s", "last_s"].map(|name| time(slower[name].as_f64().unwrap_or(0.0) * 1e9));
    Some(language.pick(
        format!("the target became slower while its load stayed at {at}: mean response time {first} at first, {last} at last"),
        format!("负载保持在 {at} 时被测服务逐渐变慢：平均响应时间从 {first} 变为 {last}"),
    ))
}

/// A load that was too much, below one that was met.
fn noise(report: &Value, language: Language) -> Option<String> {
    let noise = report["noise"].as_object()?;
    let [missed, met] = ["missed_at", "met_at"].map(|name| load_at(&noise[name], report, language));
    Some(language.pick(
        format!("the target is noisy: {missed} was too much in a trial, though {met} was met in another; failures are believed"),
        format!("被测服务不稳定：{missed} 在一次试压中不达标，而更高的 {met} 却达标；以不达标为准"),
    ))
}

/// A noise that begins late in the search.
fn worse(report: &Value, language: Language) -> Option<String> {
    (report["noise"].is_object() && report["is_worse"] == true).then(|| {
        language.pick(
            "what was too much came later, with longer usual times: the target may have become slower".to_owned(),
            "不达标的试压都在后面，且多数请求的响应时间也更长：被测服务可能变慢了".to_owned(),
        )
    })
}

/// Losses in a few moments, when the target stood still.
fn stalls(report: &Value, language: Language) -> Option<String> {
    let stalls = report["stalls"].as_object()?;
    let (pieces, of) = (&stalls["pieces"], &stalls["of"]);
    let piece = time(stalls["piece_s"].as_f64().unwrap_or(0.0) * 1e9);
    Some(language.pick(
        format!("nearly all that was lost there was lost in {pieces} of {of} pieces of {piece}: the target stands still now and then"),
        format!("不达标的请求几乎都集中在 {of} 段（每段 {piece}）中的 {pieces} 段：被测服务会偶尔卡顿"),
    ))
}

/// The scalability law, as a hint.
pub(super) fn law(report: &Value, language: Language) -> Option<String> {
    let law = report["law"].as_object()?;
    let of = |name: &str| law[name].as_f64().unwrap_or(0.0);
    let peak = match law["peak"].as_object() {
        Some(peak) => {
            let (at, most) = (peak["in_system"].as_f64()?, peak["per_s"].as_f64()?);
            language.pick(
                format!("; most is done with {} in the system: {}/s", figure(at), figure(most)),
                format!("；同时处理 {} 个请求时最高：{}/s", figure(at), figure(most)),
            )
        }
        None => String::new(),
    };
    Some(language.pick(
        format!(
            "hint (Universal Scalability Law, {} to {} in the system, at most {:.0} % off): contention {:.2} %, coherence {:.4} %{peak}",
            figure(of("from")), figure(of("to")), of("worst_difference") * 100.0, of("contention") * 100.0, of("coherence") * 100.0
        ),
        format!(
            "参考（通用可扩展性定律，同时处理 {} 到 {} 个请求，偏差至多 {:.0}%）：争用 {:.2}%，一致性开销 {:.4}%{peak}",
            figure(of("from")), figure(of("to")), of("worst_difference") * 100.0, of("contention") * 100.0, of("coherence") * 100.0
        ),
    ))
}

/// The trials at one load: how many lost more than allowed, how many there were, and the minimum and maximum of their
/// p99.
pub(super) struct AtLoad {
    pub(super) above: usize,
    pub(super) trials: usize,
    pub(super) p99_s: Option<(f64, f64)>,
    pub(super) longest_s: f64,
}

pub(super) fn at_load(report: &Value, at: f64) -> AtLoad {
    let all = report["trials"].as_array().map_or(&[][..], Vec::as_slice);
    let there = || all.iter().filter(|trial| trial["at"].as_f64() == Some(at) && trial["class"] != "discarded");
    let times = there().filter_map(|trial| trial["p99_s"].as_f64());
    let p99_s = times.fold(None, |range: Option<(f64, f64)>, p99| {
        Some(range.map_or((p99, p99), |(least, most)| (least.min(p99), most.max(p99))))
    });
    AtLoad {
        above: there().filter(|trial| trial["is_above"] == true).count(),
        trials: there().count(),
        p99_s,
        longest_s: there().filter_map(|trial| trial["measured_s"].as_f64()).fold(0.0, f64::max),
    }
}

/// The range of some times, or a single one.
pub(super) fn range((least, most): (f64, f64), language: Language) -> String {
    let (low, high) = (time(least * 1e9), time(most * 1e9));
    if low == high { low } else { language.pick(format!("{low} to {high}"), format!("{low} 到 {high}")) }
}

/// The trials that support a bound.
pub(super) fn shown_by(report: &Value, name: &str, language: Language) -> Option<String> {
    let at = report[name].as_f64()?;
    let AtLoad { above, trials, p99_s, longest_s } = at_load(report, at);
    let p99 = p99_s.map_or(String::new(), |both| {
        language.pick(format!("; p99 {}", range(both, language)), format!("；p99 {}", range(both, language)))
    });
    let longest = span(core::time::Duration::from_millis((longest_s * 1e3).round() as u64));
    let load = load(at, report, language);
    Some(match name {
        "lower" => language.pick(
            format!(
                "{load}: met in {} of {}, the longest {longest}{p99}",
                trials - above,
                counted(trials as u64, "trial")
            ),
            format!("{load}：{trials} 次试压中 {} 次达标，最长 {longest}{p99}", trials - above),
        ),
        _ => language.pick(
            format!("{load}: too much in {above} of {}{p99}", counted(trials as u64, "trial")),
            format!("{load}：{trials} 次试压中 {above} 次不达标{p99}"),
        ),
    })
}
