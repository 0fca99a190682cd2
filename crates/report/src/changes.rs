//! Changes of a load while it ran: a line for each.

use figures::{Changed, ChangedTo, Run};
use pacing::Nanos;
use serde_json::{Value, json};

use crate::Language;
use crate::Screen;
use crate::format::{count, counted, rate, span};
use crate::wrap::wrap;

/// The load after a change, in words.
pub fn change_text(changed: &Changed, language: Language) -> String {
    let over = |by: Nanos| match by {
        Nanos::ZERO => String::new(),
        by => {
            language.pick(format!(" over {}", span(by.as_duration())), format!("（用时 {}）", span(by.as_duration())))
        }
    };
    let to = match changed.to {
        ChangedTo::Rate(per_s, by) => {
            let per_s = rate(per_s);
            language.pick(format!("rate {per_s}/s{}", over(by)), format!("速率改为 {per_s}/s{}", over(by)))
        }
        ChangedTo::Users(users, by) => {
            let (said, users) = (counted(users, "user"), count(users));
            language.pick(format!("{said}{}", over(by)), format!("用户数改为 {users}{}", over(by)))
        }
        ChangedTo::Paused => language.pick("paused", "暂停").to_owned(),
        ChangedTo::Resumed => language.pick("resumed", "恢复").to_owned(),
        ChangedTo::Ended => language.pick("ended", "结束").to_owned(),
    };
    match &changed.scenario {
        Some(scenario) => language.pick(format!("{scenario}: {to}"), format!("{scenario}：{to}")),
        None => to,
    }
}

/// The same with its instant.
pub fn change_line(changed: &Changed, language: Language) -> String {
    let (at, text) = (span(changed.at.as_duration()), change_text(changed, language));
    language.pick(format!("changed at {at}: {text}"), format!("{at} 时调整：{text}"))
}

/// Lines of the summary.
pub(crate) fn lines(run: &Run, screen: &Screen) -> String {
    let one = |changed| {
        let line = change_line(changed, screen.language);
        let lines = screen.columns().map_or_else(|| vec![line.clone()], |columns| wrap(&line, columns));
        lines.into_iter().map(|line| line + "\n").collect::<String>()
    };
    run.changes.iter().map(one).collect()
}

/// All changes as JSON, for the report.
pub(crate) fn value(run: &Run) -> Value {
    run.changes.iter().map(change_value).collect()
}

/// A change as JSON.
pub fn change_value(changed: &Changed) -> Value {
    let (change, to, by) = match changed.to {
        ChangedTo::Rate(per_s, by) => ("rate", Some(json!(per_s)), by),
        ChangedTo::Users(users, by) => ("users", Some(json!(users)), by),
        ChangedTo::Paused => ("pause", None, Nanos::ZERO),
        ChangedTo::Resumed => ("resume", None, Nanos::ZERO),
        ChangedTo::Ended => ("end", None, Nanos::ZERO),
    };
    json!({
        "revision": changed.revision,
        "at_s": changed.at.as_secs_f64(),
        "scenario": changed.scenario,
        "change": change,
        "to": to,
        "over_s": by.as_secs_f64(),
        "text": change_text(changed, Language::En),
        "text_zh": change_text(changed, Language::Zh),
    })
}
