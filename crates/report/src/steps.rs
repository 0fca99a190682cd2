//! The steps of a scenario, each with its own figures.

use figures::{CheckPart, Quantile, Run, ScenarioPart, StepPart};
use plan::Scenario;
use serde_json::{Value, json};

use crate::format::{count, percent};
use crate::json::distribution::distribution;
use crate::json::plan::plan_of;
use crate::named_rows::named_rows;
use crate::own_figures;
use crate::page::percentile;
use crate::screen::Screen;

/// The steps of the first scenario.
fn all(run: &Run) -> &[StepPart] {
    run.scenarios.first().map_or(&[], |scenario| &scenario.steps)
}

/// A line for each step, transaction, check and own figure; empty for a single step. With several scenarios each
/// has its tables.
pub(crate) fn table(run: &Run, screen: &Screen) -> String {
    let (language, mut text) = (screen.language, String::new());
    let are_several = run.scenarios.len() > 1;
    for scenario in &run.scenarios {
        let named = |title: &str| match are_several {
            true => language.pick(format!("{title}: {}", scenario.name), format!("{title}（{}）", scenario.name)),
            false => title.to_owned(),
        };
        if are_several || scenario.steps.len() > 1 {
            rows(
                &named(language.pick("Steps", "步骤")),
                screen.language.words().requests_column,
                &scenario.steps,
                screen,
                &mut text,
            );
        }
        if !scenario.transactions.is_empty() {
            let counted = language.pick("ended", "完成");
            rows(&named(language.pick("Transactions", "事务")), counted, &scenario.transactions, screen, &mut text);
        }
        if !scenario.checks.is_empty() {
            text.push_str(&check_rows(&named(language.pick("Checks", "检查")), &scenario.checks, screen));
        }
        text.push_str(&own_figures::rows(&named(language.pick("Figures", "自定义指标")), &scenario.figures, screen));
    }
    text
}

fn rows(title: &str, counted: &str, parts: &[StepPart], screen: &Screen, text: &mut String) {
    let words = screen.language.words();
    let heads = [counted, words.failed, "p50", "p99", words.max];
    let row = |part: &StepPart| {
        let at = |quantile| percentile(&part.response, quantile);
        let cells = [count(part.finished), count(part.failed), at(Quantile::P50), at(Quantile::P99), at(Quantile::Max)];
        (part.name.clone(), cells)
    };
    text.push_str(&named_rows(title, &heads, parts.iter().map(row), screen));
}

/// A line for each check: how often it passed and failed, and the share that failed.
fn check_rows(title: &str, checks: &[CheckPart], screen: &Screen) -> String {
    let language = screen.language;
    let heads = [language.pick("passed", "通过"), language.words().failed, language.pick("failed share", "失败占比")];
    let row = |check: &CheckPart| {
        let done = check.passed + check.failed;
        let share = if done > 0 { percent(check.failed, done) } else { "-".to_owned() };
        (check.name.clone(), [count(check.passed), count(check.failed), share])
    };
    named_rows(title, &heads, checks.iter().map(row), screen)
}

/// The steps as JSON, for the report.
pub(crate) fn values(run: &Run) -> Value {
    parts(all(run))
}

/// Each scenario with its steps, transactions, checks and own figures.
pub(crate) fn scenarios(run: &Run) -> Value {
    let one = |(number, (scenario, planned)): (usize, (&ScenarioPart, &Scenario))| {
        let of = run.each.get(number);
        let held_by = of.and_then(|of| of.held_by.as_ref());
        json!({
            "name": scenario.name,
            "url": planned.target().url,
            "plan": plan_of(&run.plan, planned),
            "finished": scenario.finished,
            "failed": scenario.failed,
            "requests_per_s": of.map(|of| of.rate),
            "requested_per_s": of.and_then(|of| of.requested_per_s),
            "held_by": held_by.map(|held| json!({
                "step": held.step,
                "step_ns": held.step_ns,
                "iteration_ns": held.iteration_ns,
                "of_users": held.is_of_users,
            })),
            "steps": parts(&scenario.steps),
            "transactions": parts(&scenario.transactions),
            "checks": checks(&scenario.checks),
            "figures": own_figures::values(&scenario.figures),
        })
    };
    run.scenarios.iter().zip(&run.plan.scenarios).enumerate().map(one).collect()
}

pub(crate) fn parts(parts: &[StepPart]) -> Value {
    let one = |step: &StepPart| {
        json!({
            "name": step.name,
            "finished": step.finished,
            "failed": step.failed,
            "retried": step.retried,
            "missed_deadline": step.missed_deadline,
            "response_time": distribution(&step.response),
        })
    };
    parts.iter().map(one).collect()
}

/// Checks as JSON.
pub(crate) fn checks(all: &[CheckPart]) -> Value {
    all.iter().map(|check| json!({"name": check.name, "passed": check.passed, "failed": check.failed})).collect()
}
