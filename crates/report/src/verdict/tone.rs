//! The severity of the first statement about a run, and its heading.

use engine::{Basis, Limit};
use figures::Run;

use super::unreliable_mark;
use crate::Language;
use crate::failed::nothing_succeeded;
use crate::rows;

/// The severity, which determines the colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing failed, and all that was requested was done.
    Good,
    /// The cause is unknown, or not all that was requested was done.
    Unsure,
    /// Something failed, a threshold was missed, or the figures are unreliable.
    Bad,
}

impl Tone {
    /// A stable name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Unsure => "unsure",
            Self::Bad => "bad",
        }
    }
}

/// The tone of a run and its heading: failures first, then thresholds, then unreliability, then the bottleneck.
pub(crate) fn tone(run: &Run) -> Tone {
    heading(run, Language::En).0
}

/// The heading.
pub(crate) fn title(run: &Run, language: Language) -> String {
    heading(run, language).1.to_owned()
}

fn heading(run: &Run, language: Language) -> (Tone, &'static str) {
    let pick = |english, chinese| language.pick(english, chinese);
    let (verdict, tally) = (&run.verdict, &run.tally);
    if nothing_succeeded(run, language).is_some() || tally.succeeded() == 0 && tally.failed > 0 {
        return (Tone::Bad, pick("Nothing succeeded", "没有一个请求成功"));
    }
    if run.stop_reason.is_some() {
        return (Tone::Bad, pick("The scenario stopped the run", "场景停止了压测"));
    }
    match verdict.known {
        Basis::Refusals { .. } => return (Tone::Bad, pick("The target refuses requests", "被测服务拒绝请求")),
        Basis::Outage(_) => return (Tone::Bad, pick("The target refused connections", "被测服务拒绝连接")),
        Basis::StoodStill(_) => return (Tone::Bad, pick("The target stalled", "被测服务卡顿")),
        Basis::LostSyns { .. } => return (Tone::Bad, pick("Connections waited for seconds", "建立连接用了数秒")),
        Basis::Starved { .. } => return (Tone::Bad, pick("Users without a response", "有用户没有得到响应")),
        _ => {}
    }
    if tally.failed > 0 {
        return (Tone::Bad, pick("Requests failed", "有请求失败"));
    }
    if run.judged.iter().any(|one| !one.judgement.holds) {
        return (Tone::Bad, pick("Thresholds not met", "阈值未达标"));
    }
    if verdict.is_unreliable() {
        return (Tone::Bad, pick("Unreliable figures", "结果不可靠"));
    }
    if run.is_unreliable() {
        return (Tone::Unsure, pick("Times include stalls of this machine", "耗时包含本机的卡顿"));
    }
    if rows::that_ended_it(run).is_some() && verdict.limit == Limit::PlanKept {
        return (Tone::Unsure, pick("Rows used up", "数据行已用完"));
    }
    match verdict.limit {
        Limit::PlanKept => (Tone::Good, pick("Plan kept", "计划已达成")),
        Limit::Target if run.requested_per_s.is_some() => {
            (Tone::Unsure, pick("The target was the limit", "瓶颈在被测服务"))
        }
        Limit::Target if verdict.known == Basis::Counts => {
            (Tone::Bad, pick("Requests without a response", "有请求没有得到响应"))
        }
        Limit::Target => (Tone::Good, pick("The target is at its limit", "被测服务已达上限")),
        Limit::Below => (Tone::Good, pick("Fewer users give less", "用户更少，吞吐就更低")),
        Limit::Connections => (Tone::Unsure, pick("Too few connections", "连接太少")),
        Limit::Machine => (Tone::Unsure, pick("This machine was full", "本机的核已占满")),
        Limit::Link => (Tone::Unsure, pick("The network was the limit", "瓶颈在网络")),
        Limit::Generator | Limit::PortsOrDescriptors | Limit::Workers => (Tone::Bad, unreliable_mark(language)),
        Limit::Unknown => (Tone::Unsure, pick("Limit not known", "瓶颈尚不清楚")),
    }
}
