//! The comparison of two sides of runs: their plans, the differences, the noise, and the conditions that fail it.

use history::{Comparison, Difference, FIGURES, FailIf, Figure, Ruling, Side};
use serde_json::{Value, json};

use crate::Language;
use crate::format::{Align, pad, rate, time};
use crate::history::{in_percent, plain_text};

/// The version of the JSON; it grows with every change that could confuse a reader.
const VERSION: u32 = 2;
/// Columns of a comparison.
const FIGURE_WIDTH: usize = 22;
const VALUE_WIDTH: usize = 12;

fn value_of(difference: &Difference, value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(ns) if difference.figure.is_time() => time(ns),
        Some(share) if difference.figure == Figure::Failed => format!("{:.2}%", share * 100.0),
        Some(value) => rate(value),
    }
}

/// Differences of shares are percentage points.
fn change_of(difference: &Difference) -> String {
    match (difference.change, difference.figure) {
        (None, _) => "-".to_owned(),
        (Some(change), Figure::Failed) => format!("{:+.2}", change * 100.0),
        (Some(change), _) => in_percent(change),
    }
}

fn judged(difference: &Difference, language: Language) -> String {
    let text = match (difference.is_clear, difference.visible, difference.change) {
        (_, None, _) | (_, _, None) => language.pick("too little to tell", "数据不足，无法判断"),
        (false, Some(visible), _) => {
            let points =
                if difference.figure == Figure::Failed { language.pick(" points", " 个百分点") } else { "%" };
            // Rounded up: a difference of the printed size would have been visible.
            let least = format!("{}{points}", (visible * 1_000.0).ceil() / 10.0);
            return language.pick(
                format!("within the noise; differences below {least} could not be seen"),
                format!("在波动范围内；小于 {least} 的差异看不出来"),
            );
        }
        (true, _, Some(change)) if (change > 0.0) == difference.figure.is_worse_up() => {
            language.pick("clearly worse", "明显变差")
        }
        (true, ..) => language.pick("clearly better", "明显变好"),
    };
    text.to_owned()
}

/// The name as in thresholds, except for figures that mean something else in a hold.
fn name_of(figure: Figure, is_hold: bool, language: Language) -> &'static str {
    match (figure, is_hold) {
        (Figure::Rate, true) => language.pick("messages/s", "消息/s"),
        (Figure::Failed, true) => language.pick("failed or lost", "失败或断开"),
        _ => figure.name(),
    }
}

/// The description of a side: its runs, then each target and plan.
fn side_in_words(letter: &str, side: &Side, names: &[String], language: Language) -> String {
    let mut text = format!("{letter}  {}\n", plain_text(&names.join(", ")));
    let targets = side.targets.iter().filter(|target| !target.is_empty());
    let plans = side.plans.iter().map(|[english, chinese]| language.pick(english, chinese));
    for line in targets.chain(plans.filter(|plan| !plan.is_empty())) {
        text.push_str(&format!("   {}\n", plain_text(line)));
    }
    text
}

/// The comparison as a table. `names`: the names of the runs of each side.
pub fn comparison_table(comparison: &Comparison, names: [&[String]; 2], language: Language) -> String {
    let row = |cells: [String; 4], end: &str| {
        let [figure, others @ ..] = cells;
        let others: String = others.iter().map(|cell| pad(cell, VALUE_WIDTH, Align::Right)).collect();
        format!("{}{others}  {end}\n", pad(&figure, FIGURE_WIDTH, Align::Left))
    };
    let sides = ["A", "B"].iter().zip(&comparison.sides).zip(names);
    let mut text: String = sides.map(|((letter, side), names)| side_in_words(letter, side, names, language)).collect();
    if !comparison.is_same_target() {
        text.push_str(language.pick(
            "! the targets differ: this compares them, and not one with itself\n",
            "! 压测目标不同：比较的是不同的目标，而不是同一目标的变化\n",
        ));
    }
    if !comparison.is_same_plan() {
        text.push_str(language.pick(
            "! the plans differ: what changed may be of the load, and not of the target\n",
            "! 压测计划不同：差异可能来自负载，而不是被测服务\n",
        ));
    }
    let heads = ["", "A", "B", language.pick("change", "变化")].map(str::to_owned);
    text.push_str(&row(heads, ""));
    for one in &comparison.differences {
        let [before, after] = one.values.map(|value| value_of(one, value));
        let name = name_of(one.figure, comparison.is_hold, language).to_owned();
        text.push_str(&row([name, before, after, change_of(one)], &judged(one, language)));
    }
    for (names, _) in names.iter().zip(comparison.is_unreliable).filter(|(_, is_unreliable)| *is_unreliable) {
        let name = plain_text(&names.join(", "));
        text.push_str(&language.pick(
            format!(
                "! {name} is UNRELIABLE: its figures reflect the machine that made the load as much as the target\n"
            ),
            format!("! {name} 的结果不可靠：既反映被测服务，也反映压测机自身\n"),
        ));
    }
    if comparison.is_uneven {
        text.push_str(language.pick(
            "! their intervals are not equally long (--interval): percentiles are not judged\n",
            "! 各次压测的周期（--interval）长度不同：不对百分位作判断\n",
        ));
    }
    text
}

/// The comparison as JSON, with the results of the conditions. `docs/compare.schema.json` describes it.
pub fn comparison_json(comparison: &Comparison, names: [&[String]; 2], fail_if: &[FailIf]) -> String {
    let one = |difference: &Difference| {
        json!({
            "figure": difference.figure.name(),
            "a": difference.values[0],
            "b": difference.values[1],
            "change": difference.change,
            "change_of_intervals": difference.change_of_intervals,
            "chance": difference.chance,
            "visible": difference.visible,
            "is_clear": difference.is_clear,
            "is_stalled": difference.is_stalled,
        })
    };
    let ruled = |one: &FailIf| {
        let ruling = match one.judge(comparison) {
            Ruling::Struck => "struck",
            Ruling::Passed => "passed",
            Ruling::TooLittle => "too_little",
            Ruling::BaselineStalled => "baseline_stalled",
        };
        json!({"text": one.text, "ruling": ruling})
    };
    let side = |side: &Side, names: &[String]| -> Value {
        let plans = |at: usize| side.plans.iter().map(|plan| plan[at].clone()).collect::<Vec<_>>();
        json!({"runs": names, "targets": side.targets, "plans": plans(0), "plans_zh": plans(1)})
    };
    let value = json!({
        "version": VERSION,
        "a": side(&comparison.sides[0], names[0]),
        "b": side(&comparison.sides[1], names[1]),
        "is_same_target": comparison.is_same_target(),
        "is_same_plan": comparison.is_same_plan(),
        "intervals": comparison.intervals,
        "is_unreliable": comparison.is_unreliable,
        "is_uneven": comparison.is_uneven,
        "differences": comparison.differences.iter().map(one).collect::<Vec<_>>(),
        "fail_if": fail_if.iter().map(ruled).collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}

/// A line for a condition that failed or could not be decided; `None` where it passed.
pub fn ruling_line(fail_if: &FailIf, comparison: &Comparison, language: Language) -> Option<String> {
    let text = &fail_if.text;
    match (fail_if.judge(comparison), fail_if.difference(comparison)) {
        (Ruling::Struck, Some(one)) => {
            let ([before, after], change) = (one.values.map(|value| value_of(one, value)), change_of(one));
            let stalled = match one.is_stalled[1] {
                true => language.pick("; onrush itself stalled in B, which may have caused it", "；B 中 onrush 自身有卡顿，可能是其原因"),
                false => "",
            };
            Some(language.pick(
                format!("--fail-if '{text}' struck: {before} -> {after} ({change}){stalled}"),
                format!("未通过 --fail-if '{text}'：{before} → {after}（{change}）{stalled}"),
            ))
        }
        (Ruling::BaselineStalled, _) => Some(language.pick(
            format!("--fail-if '{text}' is not judged: onrush stalled in A, or was its limit, which may hide what became worse; run A again"),
            format!("--fail-if '{text}' 未作判断：A 中 onrush 自身有卡顿或是瓶颈，可能掩盖变差；请重新压测 A"),
        )),
        (Ruling::TooLittle, _) => Some(language.pick(
            format!("--fail-if '{text}' is not judged: too little was measured; let all runs last longer, with the same --interval"),
            format!("--fail-if '{text}' 未作判断：数据不足；请让各次压测持续更久，并使用相同的 --interval"),
        )),
        _ => None,
    }
}

/// The error that a compared run is of another kind.
pub fn other_kind(name: &str, language: Language) -> String {
    language.pick(
        format!("{name} is of another kind: a load cannot be compared with connections that were held"),
        format!("{name} 属于另一类压测：请求压测与长连接压测（hold）不能互相比较"),
    )
}

/// The error in a text of `--fail-if`.
pub fn fail_if_error(error: &history::FailIfError, language: Language) -> String {
    match (error, language) {
        (error, Language::En) => error.to_string(),
        (history::FailIfError::Figure { name }, Language::Zh) => {
            let known = FIGURES.map(Figure::name).join("、");
            format!("没有名为 '{name}' 的可比较指标；可用：{known}")
        }
        (history::FailIfError::Form { text }, Language::Zh) => {
            format!("--fail-if 不能是 '{text}'；写法如：p99(response_time) > +10%，或：rate < -5%")
        }
    }
}

#[cfg(test)]
mod tests;
