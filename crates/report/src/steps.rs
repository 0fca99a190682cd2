//! The steps of a scenario, each with its own figures.

use figures::{Quantile, Run, ScenarioPart, StepPart};
use plan::Scenario;
use serde_json::{Value, json};

use crate::format::{Align, count, pad};
use crate::json::distribution::distribution;
use crate::json::plan::plan_of;
use crate::page::percentile;
use crate::screen::Screen;
use crate::wrap::cut;

const NAME_WIDTH: usize = 44;
const NAME_WIDTH_MIN: usize = 12;
const CELL_WIDTH: usize = 11;

/// The steps of the first scenario.
fn all(run: &Run) -> &[StepPart] {
    run.scenarios.first().map_or(&[], |scenario| &scenario.steps)
}

/// A line for each step, and for each transaction; empty for a single step. With several scenarios each has its tables.
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
    }
    text
}

fn rows(title: &str, counted: &str, parts: &[StepPart], screen: &Screen, text: &mut String) {
    let words = screen.language.words();
    let cells = [counted, words.failed, "p50", "p99", words.max];
    let rest = CELL_WIDTH * cells.len();
    let name_width =
        screen.columns().map_or(NAME_WIDTH, |columns| columns.saturating_sub(rest).clamp(NAME_WIDTH_MIN, NAME_WIDTH));
    let head: String = cells.map(|name| pad(name, CELL_WIDTH, Align::Right)).concat();
    text.push_str(&format!("\n{}{head}\n", pad(&cut(title, name_width - 1), name_width, Align::Left)));
    for part in parts {
        let at = |quantile| percentile(&part.response, quantile);
        let cells = [count(part.finished), count(part.failed), at(Quantile::P50), at(Quantile::P99), at(Quantile::Max)];
        let row: String = cells.iter().map(|cell| pad(cell, CELL_WIDTH, Align::Right)).collect();
        text.push_str(&format!("{}{row}\n", pad(&cut(&part.name, name_width - 1), name_width, Align::Left)));
    }
}

/// The steps as JSON, for the report.
pub(crate) fn values(run: &Run) -> Value {
    parts(all(run))
}

/// Each scenario with its steps and transactions.
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
            "response_time": distribution(&step.response),
        })
    };
    parts.iter().map(one).collect()
}
