//! The steps of a scenario, each with its own figures.

use figures::{Quantile, Run, StepPart};
use serde_json::{Value, json};

use crate::Language;
use crate::format::{Align, count, pad};
use crate::page::percentile;

const NAME_WIDTH: usize = 44;
const CELL_WIDTH: usize = 11;

/// The steps of the scenario.
fn all(run: &Run) -> &[StepPart] {
    run.scenarios.first().map_or(&[], |scenario| &scenario.steps)
}

/// A line for each step; empty when there is only one.
pub(crate) fn table(run: &Run, language: Language) -> String {
    let steps = all(run);
    if steps.len() < 2 {
        return String::new();
    }
    let words = language.words();
    let cells = [words.requests, words.failed, "p50", "p99", words.max];
    let head: String = cells.map(|name| pad(name, CELL_WIDTH, Align::Right)).concat();
    let mut text = format!("\n{}{head}\n", pad(language.pick("steps", "步骤"), NAME_WIDTH, Align::Left));
    for step in steps {
        let at = |quantile| percentile(&step.response, quantile);
        let cells = [count(step.finished), count(step.failed), at(Quantile::P50), at(Quantile::P99), at(Quantile::Max)];
        let row: String = cells.iter().map(|cell| pad(cell, CELL_WIDTH, Align::Right)).collect();
        let name: String = step.name.chars().take(NAME_WIDTH - 1).collect();
        text.push_str(&format!("{}{row}\n", pad(&name, NAME_WIDTH, Align::Left)));
    }
    text
}

/// The same for the report.
pub(crate) fn values(run: &Run) -> Value {
    let one = |step: &StepPart| {
        let times = &step.response;
        let shown = [Quantile::P50, Quantile::P90, Quantile::P99, Quantile::Max];
        let at = |quantile| times.at(quantile).map(|known| known.ns);
        let is_bound = |quantile: &Quantile| times.at(*quantile).is_some_and(|known| known.at_least);
        let at_least: Vec<&str> = shown.into_iter().filter(is_bound).map(Quantile::name).collect();
        json!({
            "name": step.name,
            "finished": step.finished,
            "failed": step.failed,
            "response_time": {
                "mean_ns": times.mean_ns,
                "p50_ns": at(Quantile::P50),
                "p90_ns": at(Quantile::P90),
                "p99_ns": at(Quantile::P99),
                "max_ns": at(Quantile::Max),
                "at_least": at_least,
            },
        })
    };
    all(run).iter().map(one).collect()
}
