//! The steps of a scenario, each with its own figures.

use metrics::{Class, Measure, SERIES_MAX, SeriesKey, Timings};
use serde_json::{Value, json};

use crate::Language;
use crate::figures::Run;
use crate::format::{Align, count, pad, time};

const NAME_WIDTH: usize = 44;
const CELL_WIDTH: usize = 11;

/// What was seen of one step.
struct StepFigures {
    name: String,
    finished: u64,
    failed: u64,
    succeeded: Timings,
}

fn figures(run: &Run<'_>) -> Vec<StepFigures> {
    let steps = run.plan.scenarios.first().map_or(&[][..], |scenario| &scenario.steps);
    let shown = steps.len().min(SERIES_MAX as usize);
    (0..shown)
        .map(|index| {
            let of = |class| run.seen().timings(SeriesKey { step: index as u32, class });
            let number = |class| of(class).map_or(0, |timings: &Timings| timings.of(Measure::Response).count());
            let finished: u64 = Class::ALL.iter().map(|class| number(*class)).sum();
            let name = if index + 1 == SERIES_MAX as usize && steps.len() > shown {
                format!("{} ...", steps[index].name)
            } else {
                steps[index].name.clone()
            };
            StepFigures {
                name,
                finished,
                failed: finished - number(Class::Succeeded),
                succeeded: of(Class::Succeeded).cloned().unwrap_or_default(),
            }
        })
        .collect()
}

/// A line for each step; empty when there is only one.
pub(crate) fn table(run: &Run<'_>, language: Language) -> String {
    let figures = figures(run);
    if figures.len() < 2 {
        return String::new();
    }
    let words = language.words();
    let cells = [words.requests, words.failed, "p50", "p99", words.max];
    let head: String = cells.map(|name| pad(name, CELL_WIDTH, Align::Right)).concat();
    let mut text = format!("\n{}{head}\n", pad(language.pick("steps", "步骤"), NAME_WIDTH, Align::Left));
    for step in figures {
        let times = step.succeeded.of(Measure::Response);
        let at = |quantile| times.quantile(quantile).map_or("-".to_owned(), |ns| time(ns as f64));
        let most = times.max().map_or("-".to_owned(), |ns| time(ns as f64));
        let cells = [count(step.finished), count(step.failed), at(0.5), at(0.99), most];
        let row: String = cells.iter().map(|cell| pad(cell, CELL_WIDTH, Align::Right)).collect();
        let name: String = step.name.chars().take(NAME_WIDTH - 1).collect();
        text.push_str(&format!("{}{row}\n", pad(&name, NAME_WIDTH, Align::Left)));
    }
    text
}

/// The same for the report.
pub(crate) fn values(run: &Run<'_>) -> Value {
    let one = |step: StepFigures| {
        let times = step.succeeded.of(Measure::Response);
        json!({
            "name": step.name,
            "finished": step.finished,
            "failed": step.failed,
            "response_time": {
                "mean_ns": times.mean(),
                "p50_ns": times.quantile(0.5),
                "p90_ns": times.quantile(0.9),
                "p99_ns": times.quantile(0.99),
                "max_ns": times.max(),
            },
        })
    };
    figures(run).into_iter().map(one).collect()
}
