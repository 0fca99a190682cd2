//! The verdict in words, with its figures: the bottleneck, what the times hide, and the thresholds.

mod known;
mod tone;

use core::time::Duration;

use engine::{Basis, Limit, ThreadUsage, Verdict};
use figures::{Note, Quantile, QueueingDelay, Run, ScenarioRun};
use metrics::{Judgement, Measure, Unit};

use crate::failed::{nothing_succeeded, some_failed};
use crate::format::{count, counted, is_of, rate, time};
use crate::own_figures::own_value;
use crate::rows;
use crate::{Language, addresses};
pub(crate) use tone::{Tone, title, tone};

/// A thread that needs less of a core, and waits for one less, was late for another reason.
const NEEDED_SHARE_MIN: f64 = 0.5;
const DELAYED_SHARE_MIN: f64 = 0.1;
/// The share of the users' time from which on it is reported.
const UNANSWERED_SHARE_MIN: f64 = 0.01;
/// A thread that stalled for this share of its time is reported.
const STALLED_SHARE_MIN: f64 = 0.01;
/// A rate at which a target still keeps up, as a share of its rate under constant load.
const BEARABLE_SHARE: f64 = 0.7;
/// The share of all requests that were refused, from which on the target was gone: its rate says nothing of its
/// capacity.
const REFUSED_SHARE_MIN: f64 = 0.1;
/// A wait that is longer than this shows that the target did not keep up.
const WAIT_MIN_NS: u64 = 10_000_000;

/// The verdict in one line.
pub(crate) fn verdict(run: &Run, language: Language) -> String {
    let verdict = match nothing_succeeded(run, language) {
        // The bottleneck of a failing load means nothing, unless it caused the failures.
        Some(said) if !is_of_this_machine(run.verdict.limit) => said,
        Some(said) => language.pick(format!("{said}; "), format!("{said}；")) + &verdict_in_words(run, language),
        None => match some_failed(run, language) {
            Some(said) => language.pick(format!("{said}; "), format!("{said}；")) + &verdict_in_words(run, language),
            None => verdict_in_words(run, language),
        },
    };
    let verdict = verdict + &addresses::outlier(run, language);
    if let Some(reason) = &run.stop_reason {
        return language.pick(
            format!("The scenario stopped the run: {reason}; until then {verdict}"),
            format!("场景停止了压测：{reason}；在此之前{verdict}"),
        );
    }
    if run.was_stopped && is_without_time(run) {
        return language
            .pick("nothing was measured: stopped in the warm-up", "没有数据：在预热阶段就被停止")
            .to_owned();
    }
    if run.was_stopped {
        return language.pick(
            format!("stopped before the end of the plan; until then {verdict}"),
            format!("压测提前停止；在此之前{verdict}"),
        );
    }
    match rows::that_ended_it(run) {
        Some(file) if run.verdict.limit == Limit::PlanKept => language.pick(
            format!("the rows of {file} were used up before the end of the plan; until then {verdict}"),
            format!("{file} 的数据行在计划结束之前已用完；在此之前{verdict}"),
        ),
        _ => verdict,
    }
}

/// Whether the run was stopped in the warm-up.
pub(crate) fn is_without_time(run: &Run) -> bool {
    run.started_for.0 == 0 && !run.plan.warmup.is_zero()
}

/// Whether this machine, or its path to the target, may be why nothing succeeded.
fn is_of_this_machine(limit: Limit) -> bool {
    matches!(limit, Limit::Generator | Limit::PortsOrDescriptors | Limit::Link | Limit::Workers)
}

fn verdict_in_words(run: &Run, language: Language) -> String {
    let verdict = &run.verdict;
    // A reached target load was reached by all.
    let is_of_all = verdict.limit == Limit::PlanKept && verdict.known == Basis::Counts;
    let of = if is_of_all { run.whole() } else { run.limited() };
    let pick = |en: String, zh: String| language.pick(en, zh);
    if let Some(said) = known::said(run, language) {
        return in_scenario(said + &known::held_by(verdict, &of, language), run, language);
    }
    match verdict.limit {
        Limit::PlanKept => plan_kept(run, &of, language),
        Limit::Target => match went_away(run) {
            Some(refused) => target_gone(run, refused, &of, language),
            None => in_scenario(target(run, &of, language), run, language),
        },
        Limit::Generator => generator(run, language),
        Limit::PortsOrDescriptors => pick(
            "ports or descriptors of this machine were the limit: see the failures above".to_owned(),
            "瓶颈在本机的端口或文件描述符：详见上面的失败原因".to_owned(),
        ),
        Limit::Link => verdict.link.as_ref().map_or(String::new(), |link| {
            let (name, share, speed) = (&link.name, link.share * 100.0, link.bits_per_s as f64 / 1e9);
            pick(
                format!("the link was the limit: {name} at {share:.0}% of its {speed} Gbit/s"),
                format!("瓶颈在网络：{name} 已用到其 {speed} Gbit/s 的 {share:.0}%"),
            )
        }),
        Limit::Workers => {
            let started = count(of.tally.started());
            pick(
                format!("workers were lost, so this is not the load that was planned: {started} started"),
                format!("有工作进程失联，因此这不是计划的负载：共发起 {started}"),
            )
        }
        Limit::Unknown | Limit::Below | Limit::Connections | Limit::Machine => {
            pick("too little was measured to tell the bottleneck".to_owned(), "数据太少，无法判断瓶颈所在".to_owned())
        }
    }
}

/// A verdict behind the name of its scenario, where there are several.
fn in_scenario(said: String, run: &Run, language: Language) -> String {
    match run.plan.scenarios.get(run.verdict.scenario) {
        Some(scenario) if run.plan.scenarios.len() > 1 => {
            language.pick(format!("in '{}' {said}", scenario.name), format!("场景“{}”：{said}", scenario.name))
        }
        _ => said,
    }
}

/// The target load was reached.
fn plan_kept(run: &Run, of: &ScenarioRun, language: Language) -> String {
    let pick = |en: String, zh: String| language.pick(en, zh);
    let (started, redirects) = (of.tally.planned_starts(), of.tally.redirects());
    let redirects = match redirects {
        0 => String::new(),
        some => pick(format!(" and {}", counted(some, "redirect")), format!("，另有 {} 次重定向", count(some))),
    };
    let delays = delays(&run.verdict, language);
    if let Some(said) = kept_iterations(run, language) {
        return format!("{said}{redirects}{delays}");
    }
    let (at, by) = match of.requested_per_s.map(rate) {
        Some(requested) => (format!(" at {requested}/s"), format!("按 {requested}/s ")),
        None => (String::new(), String::new()),
    };
    pick(
        format!("the plan was kept: {}{at}{redirects}{delays}", counted(started, "start")),
        format!("计划已达成：{by}发起 {} 个请求{redirects}{delays}", count(started)),
    )
}

/// The target stopped taking connections.
fn target_gone(run: &Run, refused: u64, of: &ScenarioRun, language: Language) -> String {
    let started = of.tally.all_started();
    let (ones, said) = (is_of(refused, "one was", "ones were"), counted(started, "request"));
    let (refused, started) = (count(refused), count(started));
    let signs = signs(run, language).into_iter().map(|sign| language.pick("; ", "；").to_owned() + &sign);
    let signs = signs.collect::<String>();
    language.pick(
        format!(
            "the target stopped taking connections: {refused} new {ones} refused after it had answered ({said}){signs}; see whether it still runs, and its log"
        ),
        format!(
            "被测服务停止接受连接：有过响应之后又拒绝了 {refused} 个新连接（共 {started} 个请求）{signs}；请检查服务是否仍在运行，并查看其日志"
        ),
    )
}

/// The target was the limit.
fn target(run: &Run, of: &ScenarioRun, language: Language) -> String {
    let pick = |en: String, zh: String| language.pick(en, zh);
    let achieved = rate(of.rate);
    let signs = signs(run, language).join(language.pick(", ", "，"));
    let requested = of.requested_per_s.map_or(String::new(), |requested| match of.achieved_per_s.map(rate) {
        // A plan requests starts; redirects come on top.
        Some(started) if of.tally.redirects() > 0 => pick(
            format!(" with redirects; {started}/s of {}/s requested were started", rate(requested)),
            format!("（含重定向）；实际发起 {started}/s，计划 {}/s", rate(requested)),
        ),
        _ => pick(format!(" of {}/s requested", rate(requested)), format!("，计划 {}/s", rate(requested))),
    });
    let own = run.verdict.lateness_p99_ns.map_or(String::new(), |lateness| {
        let lateness = time(lateness as f64);
        pick(
            format!("; our lateness p99 of all requests was {lateness}"),
            format!("；全部请求的调度延迟 p99 仅 {lateness}"),
        )
    });
    let held = known::held_by(&run.verdict, of, language);
    pick(
        format!("the target was the limit: {achieved}/s{requested}; {signs}{own}{held}"),
        format!("瓶颈在被测服务：实际 {achieved}/s{requested}；{signs}{own}{held}"),
    )
}

/// A plan of iterations of several requests whose target load was reached: the rate is that of iterations.
fn kept_iterations(run: &Run, language: Language) -> Option<String> {
    let requested = iterations_requested(run)?;
    let (begun, requested) = (run.iterations.completed + run.iterations.failed + run.iterations.cut, rate(requested));
    Some(language.pick(
        format!("the plan was kept: {} at {requested}/s", counted(begun, "iteration")),
        format!("计划已达成：按每秒 {requested} 次开始 {} 次迭代", count(begun)),
    ))
}

/// Requested iterations per second, where each is more than one request; `None` where that is unknown, or they are
/// requests.
pub(crate) fn iterations_requested(run: &Run) -> Option<f64> {
    let [scenario] = &run.plan.scenarios[..] else { return None };
    let each = scenario.program.asks_each().filter(|each| *each > 1)?;
    run.requested_per_s.map(|requested| requested / each as f64)
}

/// New connections refused by a target that had responded, where they are a large share of all requests.
fn went_away(run: &Run) -> Option<u64> {
    // With several, the one that refuses need not be the one that responded.
    let refused = run.notes.iter().find_map(|note| match note {
        Note::Refused { count, places, .. } if places.is_empty() => Some(*count),
        _ => None,
    })?;
    let is_large = refused as f64 >= REFUSED_SHARE_MIN * run.tally.all_started() as f64;
    (is_large && run.tally.succeeded() > 0).then_some(refused)
}

/// Lateness and wait of all that was taken up, successful or not: the rows of the table are those of successes.
fn delays(verdict: &Verdict, language: Language) -> String {
    let Some((lateness, wait)) = verdict.lateness_p99_ns.zip(verdict.wait_p99_ns) else { return String::new() };
    let [lateness, wait] = [lateness, wait].map(|ns| time(ns as f64));
    language.pick(
        format!("; of all requests lateness p99 {lateness}, wait p99 {wait}"),
        format!("；全部请求的调度延迟 p99 {lateness}，等待 p99 {wait}"),
    )
}

/// The longest timeout, if nothing was answered and no request had reached its timeout before the load was over.
fn waits_longer(run: &Run) -> Option<Duration> {
    let scenario = run.plan.scenarios.get(run.verdict.scenario)?;
    let longest = scenario.steps.iter().map(|step| step.timeout).max()?;
    let is_all = run.tally.finished() == 0 && run.tally.unfinished() > 0;
    (is_all && longest > run.wall.as_duration()).then_some(longest)
}

/// The evidence that the target did not keep up.
fn signs(run: &Run, language: Language) -> Vec<String> {
    let (verdict, of) = (&run.verdict, run.limited());
    let counts = &of.tally;
    let pick = |en: String, zh: String| language.pick(en, zh);
    let mut signs = Vec::new();
    if verdict.unanswered > 0 {
        let number = count(verdict.unanswered);
        signs.push(pick(
            format!("{} got no answer", counted(verdict.unanswered, "request")),
            format!("{number} 个请求没有收到响应"),
        ));
    }
    let share = verdict.unanswered_time_share;
    if share >= UNANSWERED_SHARE_MIN && of.requested_per_s.is_none() {
        let share = format!("{:.0}%", share * 100.0);
        signs.push(pick(
            format!("users spent {share} of their time on requests that got none"),
            format!("用户有 {share} 的时间耗在没有响应的请求上"),
        ));
    }
    if let Some(limit) = waits_longer(run) {
        let limit = crate::format::span(limit);
        signs.push(pick(
            format!("each request is given {limit}, longer than the load: a shorter -t tells what the target does not answer"),
            format!("每个请求的超时是 {limit}，比压测时长还长；把 -t 调短，才能看出哪些请求没有响应"),
        ));
    }
    let dropped = counts.dropped() - counts.dropped_by_generator();
    if dropped > 0 {
        let number = count(dropped);
        signs.push(pick(
            format!("{} {} dropped", counted(dropped, "start"), is_of(dropped, "was", "were")),
            format!("{number} 个请求被丢弃"),
        ));
    }
    if counts.unfinished() > counts.cut() {
        let unfinished = counts.unfinished() - counts.cut();
        let (number, were) = (count(unfinished), is_of(unfinished, "was", "were"));
        signs.push(pick(format!("{number} {were} unfinished at the end"), format!("结束时 {number} 个未完成")));
    }
    if let Some(growth) = verdict.growth {
        let number = count(growth.at_end);
        let [halfway, end] = [growth.halfway_s, growth.at_end_s].map(|seconds| time(seconds * 1e9));
        signs.push(pick(
            format!(
                "requests piled up: {number} in flight at the end, for about {end} each, against {halfway} halfway"
            ),
            format!("请求堆积：结束时 {number} 个在途，响应时间约 {end}（压测中途约 {halfway}）"),
        ));
    }
    if let Some(wait) = verdict.wait_p99_ns.filter(|wait| *wait > WAIT_MIN_NS) {
        let wait = time(wait as f64);
        signs.push(pick(format!("starts waited (p99 {wait})"), format!("请求排队等待（p99 {wait}）")));
    }
    signs
}

fn generator(run: &Run, language: Language) -> String {
    let verdict = &run.verdict;
    // With all cores in use, more threads are no remedy.
    let more = if run.host.cores.is_some_and(|cores| cores > run.threads) {
        language.pick("give it more cores (--threads), or take", "请增加核数（--threads），或移走")
    } else {
        language.pick("take", "请移走")
    };
    let lag = time(verdict.lag_p99_ns as f64);
    let lateness = verdict.lateness_p99_ns.map(|ns| time(ns as f64)).map_or(String::new(), |lateness| {
        language.pick(format!("lateness p99 {lateness}, "), format!("调度延迟 p99 {lateness}，"))
    });
    let stalled = verdict.stalled.as_ref().filter(|(_, spent)| is_idle_stall(spent));
    if let Some((shard, spent)) = stalled {
        let (stalled, span) = (time(spent.stalled_ns as f64), time(spent.span_ns as f64));
        return language.pick(
            format!("the generator was the limit: thread {shard} stood still for {stalled} of {span} (another program had its core, or it was stopped), {lateness}loop lag p99 {lag}; {more} other work off this machine"),
            format!("瓶颈在压测机：线程 {shard} 在 {span} 中卡顿了 {stalled}（核被其他程序占用，或进程被暂停）；{lateness}事件循环延迟 p99 {lag}；{more}本机的其他负载"),
        );
    }
    let (shard, spent) = verdict.busiest.clone().unwrap_or_default();
    if spent.wanted_share() < NEEDED_SHARE_MIN && spent.run_delay_share() < DELAYED_SHARE_MIN {
        return language.pick(
            format!("the generator was the limit: it was late although it had little to do, {lateness}loop lag p99 {lag}; check what else runs on this machine, and how it is shared (a virtual machine may be paused)"),
            format!("瓶颈在压测机：负载不高却未能按时运行，{lateness}事件循环延迟 p99 {lag}；请查看本机还有哪些程序在运行，或本机如何与他人共享（虚拟机可能被暂停）"),
        );
    }
    let share = |value: f64| format!("{:.0}%", value * 100.0);
    let (cpu, wanted) = (share(spent.cpu_share()), share(spent.wanted_share()));
    language.pick(
        format!("the generator was the limit: thread {shard} needed {wanted} of a core and got {cpu}, {lateness}loop lag p99 {lag}; {more} other work off this machine"),
        format!("瓶颈在压测机：线程 {shard} 需要单核 CPU 的 {wanted}，实际只分到 {cpu}；{lateness}事件循环延迟 p99 {lag}；{more}本机的其他负载"),
    )
}

/// Whether the thread stalled, and not because it was busy or waited for a core: those cases are reported by the CPU
/// time needed and received.
fn is_idle_stall(spent: &ThreadUsage) -> bool {
    spent.stalled_share() >= STALLED_SHARE_MIN && spent.stalled_share() + spent.wanted_share() <= 1.05
}

/// The effect of the generator's stalls on the times: the percentiles that contain them, and those that do not.
pub(crate) fn stalls(run: &Run, language: Language) -> Option<(String, bool)> {
    let stalled = time(run.stalled?.stalled_ns as f64);
    let response = run.succeeded.by_measure(Measure::Response);
    let is_marked = |quantile: &Quantile| response.at(*quantile).is_some_and(|at| at.is_unreliable);
    let (marked, clean): (Vec<Quantile>, Vec<Quantile>) = Quantile::ALL.into_iter().partition(is_marked);
    let (first, last) = (marked.first()?.name(), marked.last()?.name());
    let verb = if first == last { "includes" } else { "include" };
    let marks = if first == last {
        first.to_owned()
    } else {
        language.pick(format!("{first} to {last}"), format!("{first} 至 {last}"))
    };
    let clean = clean.last().map_or(String::new(), |last| {
        let name = last.name();
        language.pick(format!("; up to {name} they do not"), format!("；{name} 及以下不包含"))
    });
    let is_grave = run.is_unreliable();
    // The verdict of an unreliable result says so already.
    let grave = match is_grave && !run.verdict.is_unreliable() {
        true => language.pick("; so this result is unreliable", "；因此本次结果不可靠"),
        false => "",
    };
    Some((
        language.pick(
            format!("! {marks} {verb} stalls of this machine ({stalled} in all){clean}{grave}"),
            format!("! {marks} 包含本机的卡顿（共 {stalled}）{clean}{grave}"),
        ),
        is_grave,
    ))
}

/// The mark of a result that the generator made unreliable.
pub(crate) fn unreliable(run: &Run, language: Language) -> Option<&'static str> {
    run.verdict.is_unreliable().then(|| unreliable_mark(language))
}

pub(crate) fn unreliable_mark(language: Language) -> &'static str {
    language.pick(
        "UNRELIABLE: these figures reflect this machine as much as the target",
        "结果不可靠：以上数据既反映被测服务，也反映压测机自身",
    )
}

/// The meaning of the difference between response and service time, when there is one.
pub(crate) fn difference(run: &Run, language: Language) -> Option<String> {
    // The requests that a stall hides matter more than the delay of a moment.
    if let Some(hidden) = hidden_by_users(run, language) {
        return Some(hidden);
    }
    let QueueingDelay { behind_ns, wait_ns, lateness_ns } = run.behind?;
    let [behind, wait, lateness] = [behind_ns, wait_ns, lateness_ns].map(|value| time(value as f64));
    let (cause, cause_zh) = match run.has_only_datagrams() {
        true => ("no free socket", "没有空闲的套接字"),
        false => ("connecting, or no free connection", "建立连接或没有空闲连接"),
    };
    Some(language.pick(
            format!("response time counts from the planned start, as a user waits; service time from sending. Their p99 differ by {behind}: wait p99 {wait} ({cause}), lateness p99 {lateness} (of the generator)"),
            format!("响应时间从计划发起的时刻算起，即用户的实际等待；服务时间从发出请求算起。两者 p99 相差 {behind}：等待 p99 {wait}（{cause_zh}），调度延迟 p99 {lateness}（压测机自身）"),
        ))
}

/// The requests that a stall hides: a closed load starts nothing while it waits.
fn hidden_by_users(run: &Run, language: Language) -> Option<String> {
    let hidden = run.hidden?;
    let (hidden, max) = (count(hidden.requests), hidden.slowest_ns);
    // The rate in a form that the flag accepts.
    let (max, own) = (time(max as f64), format!("{:.0}", (run.rate * BEARABLE_SHARE).max(1.0)));
    Some(language.pick(
        format!("a closed load starts nothing while its users wait: the slowest answer took {max}, and up to {hidden} requests that would have met it were never started. To see how long users would wait, load at a rate: -q {own}"),
        format!("固定并发的用户在等待时不会发起新请求：最慢的响应用了 {max}，期间最多有 {hidden} 个请求根本没有发起。要看到用户的真实等待，请改用固定速率：-q {own}"),
    ))
}

/// A share in percent, to four places, without zeros at the end.
fn share(value: f64) -> String {
    let text = format!("{:.4}", value * 100.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

/// One line for a threshold.
pub fn threshold_line(text: &str, judgement: &Judgement, language: Language) -> String {
    let holds = if judgement.holds { language.pick("met", "达标") } else { language.pick("NOT MET", "未达标") };
    if let Some(lack) = judgement.lack {
        let lack = addresses::lack(lack, language);
        return language.pick(format!("{text}: {lack}, {holds}"), format!("{text}：{lack}，{holds}"));
    }
    let value = match (judgement.value, judgement.unit) {
        (None, _) => language.pick("nothing was measured", "没有数据").to_owned(),
        (Some(value), Unit::Time) => time(value),
        (Some(value), Unit::Count) => count(value as u64),
        (Some(value), Unit::Ratio) => share(value),
        (Some(value), Unit::PerSecond) => format!("{value:.2}/s"),
        (Some(value), Unit::Own) => own_value(value),
    };
    let bound = if judgement.at_least { ">=" } else { "" };
    // Incomplete exchanges might have ended in any way.
    let value = match (judgement.range, judgement.unit) {
        (Some((least, most)), Unit::Count) => format!("{} - {}", count(least as u64), count(most as u64)),
        (Some((least, most)), Unit::Ratio) => format!("{} - {}", share(least), share(most)),
        _ => value,
    };
    let [en, zh] =
        judgement.address.map_or_else(<[String; 2]>::default, |at| [format!(" at {at}"), format!("（{at}）")]);
    language.pick(format!("{text}: {bound}{value}{en}, {holds}"), format!("{text}：实际 {bound}{value}{zh}，{holds}"))
}
