//! The output for GitHub Actions: the step summary in Markdown, and annotations.

use figures::{Held, Quantile, Run, Times};

use crate::format::{count, percent, rate, time};
use crate::held::verdicts;
use crate::verdict::{threshold_line, verdict};
use crate::{Language, messages};

/// The most failures that the page names.
const FAILURES_MAX: usize = 10;

/// The step summary, with a line end.
pub fn github_page(run: &Run, language: Language) -> String {
    let counts = &run.tally;
    let target = &run.plan.scenarios[0].target().url;
    let mut out = format!("### onrush: {}\n\n{}\n\n", code(target), text(&verdict(run, language)));
    let (succeeded, finished) = (counts.succeeded(), counts.finished());
    let (share, [succeeded, finished]) = (percent(succeeded, finished), [succeeded, finished].map(count));
    let ended =
        language.pick(format!("{succeeded} / {finished} ({share})"), format!("{succeeded} / {finished}（{share}）"));
    let mut rows = vec![
        (language.pick("Requests a second", "QPS"), rate(run.rate)),
        (language.pick("Succeeded", "成功率"), ended),
    ];
    if let Some(times) = run.classes.first().map(|class| class.times.by_measure(metrics::Measure::Response)) {
        rows.extend(percentiles(times, language));
    }
    if counts.dropped() > 0 {
        rows.push((language.pick("Dropped", "丢弃"), count(counts.dropped())));
    }
    out.push_str(&table(&rows));
    if !run.judged.is_empty() {
        out.push_str(&format!("\n| | {} |\n|---|---|\n", language.pick("Threshold", "阈值")));
        for judged in &run.judged {
            let mark = if judged.judgement.holds { "✅" } else { "❌" };
            out.push_str(&format!(
                "| {mark} | {} |\n",
                text(&threshold_line(&judged.threshold, &judged.judgement, language))
            ));
        }
    }
    if !counts.failures.is_empty() {
        out.push_str(&format!("\n| {} | |\n|---|---:|\n", language.pick("Failure", "失败原因")));
        for failure in counts.failures.iter().take(FAILURES_MAX) {
            out.push_str(&format!(
                "| {} | {} |\n",
                text(&messages::failure_called(failure.failure, language)),
                count(failure.count)
            ));
        }
    }
    out.push('\n');
    out
}

/// Workflow commands in the output of the step: the verdict, and each crossed threshold.
pub fn github_annotations(run: &Run, language: Language) -> String {
    let crossed = run.judged.iter().filter(|judged| !judged.judgement.holds);
    let lines = crossed.map(|judged| {
        let line = threshold_line(&judged.threshold, &judged.judgement, language);
        format!("::error title=onrush::{}\n", escaped(&line))
    });
    lines.chain([format!("::notice title=onrush::{}\n", escaped(&verdict(run, language)))]).collect()
}

/// The step summary of a hold, with a line end.
pub fn github_hold_page(held: &Held, language: Language) -> String {
    let (tally, times) = (&held.tally, &held.response);
    let lines = verdicts(held, language);
    let verdict = lines.iter().map(|line| text(line)).collect::<Vec<_>>().join("<br>");
    let mut out = format!("### onrush: {}\n\n{verdict}\n\n", code(&held.plan.target.url));
    let mut rows = vec![
        (language.pick("Connections", "连接数"), count(held.plan.connections)),
        (language.pick("Most open at a time", "同时连接数峰值"), count(held.most_open)),
        (language.pick("Failed", "失败"), count(tally.failed)),
        (language.pick("Lost", "断开"), count(tally.lost)),
    ];
    rows.extend(percentiles(times, language));
    out.push_str(&table(&rows));
    out.push('\n');
    out
}

/// Workflow commands in the output of the step: whether all connections were held.
pub fn github_hold_annotations(held: &Held, language: Language) -> String {
    let kind = if held.is_kept { "notice" } else { "error" };
    let line = |line: &String| format!("::{kind} title=onrush::{}\n", escaped(line));
    verdicts(held, language).iter().map(line).collect()
}

/// Rows of percentiles.
fn percentiles(times: &Times, language: Language) -> impl Iterator<Item = (&'static str, String)> {
    times.named().filter_map(move |(quantile, at)| {
        let at = at?;
        let at_least = if at.at_least { ">= " } else { "" };
        let name = if quantile == Quantile::Max { language.pick("max", "最大") } else { quantile.name() };
        Some((name, format!("{at_least}{}", time(at.ns as f64))))
    })
}

/// A table of names with their values.
fn table(rows: &[(&str, String)]) -> String {
    let rows: String = rows.iter().map(|(name, value)| format!("| {name} | {value} |\n")).collect();
    format!("| | |\n|---|---:|\n{rows}")
}

/// A text escaped for a workflow command.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A text escaped for a Markdown cell.
fn text(text: &str) -> String {
    let mut out = String::new();
    for each in text.chars() {
        match each {
            '\n' | '\r' => out.push(' '),
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '!' | '~' => out.extend(['\\', each]),
            each => out.push(each),
        }
    }
    out
}

/// A text as code in a line.
fn code(text: &str) -> String {
    format!("`{}`", text.replace(['`', '\n', '\r'], " "))
}
