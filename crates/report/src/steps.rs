//! The steps of a scenario, each with its own figures.

use metrics::{Censored, Class, Measure, SERIES_MAX, SeriesKey, Timings};
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
    censored: Censored,
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
                censored: Censored::of_step(run.seen(), index as u32, Measure::Response),
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
        let at = |quantile| match step.censored.percentile(times, quantile) {
            Some(known) => format!("{}{}", if known.at_least { ">=" } else { "" }, time(known.ns as f64)),
            None => "-".to_owned(),
        };
        let cells = [count(step.finished), count(step.failed), at(0.5), at(0.99), at(1.0)];
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
        let known = |quantile| step.censored.percentile(times, quantile);
        let at = |quantile| known(quantile).map(|known| known.ns);
        let names = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("max", 1.0)];
        let at_least: Vec<&str> = names
            .into_iter()
            .filter(|(_, quantile)| known(*quantile).is_some_and(|known| known.at_least))
            .map(|(name, _)| name)
            .collect();
        json!({
            "name": step.name,
            "finished": step.finished,
            "failed": step.failed,
            "response_time": {
                "mean_ns": times.mean(),
                "p50_ns": at(0.5),
                "p90_ns": at(0.9),
                "p99_ns": at(0.99),
                "max_ns": at(1.0),
                "at_least": at_least,
            },
        })
    };
    figures(run).into_iter().map(one).collect()
}
