//! The JSON report of a sweep; the text and the page are made from it. `docs/sweep.schema.json` describes it.

mod html;
mod text;

use core::time::Duration;

use search::Grid;
use search::sweep_result::{BestBy, CellFigures, Spread, SweptRun, best, cells, is_clear, left_out, plateau};
use serde_json::{Map, Value, json};

use crate::About;

pub use html::sweep_html;
pub(crate) use html::sweep_part;
pub use text::{sweep_head, sweep_row, sweep_text};

/// The schema version; it grows with every change that could confuse a reader.
const SCHEMA: u32 = 2;

/// The error of an invalid grid.
pub fn grid_error(error: &search::GridError, language: crate::Language) -> String {
    use search::{CELLS_MAX, GridError};
    let chinese = match error {
        GridError::NoValues { text } => {
            format!("'{text}' 没有要改变的参数；请写参数及其取值，如 connections=10,100,1000")
        }
        GridError::Twice { name, value } => {
            format!("'{name}' 的取值 '{value}' 重复；请只写一次，要重复压测请用 --repeat")
        }
        GridError::Again { name } => format!("'{name}' 出现了两次；请在一个 --vary 中写出全部取值"),
        GridError::Nothing => "没有指定要改变的内容；请用 --vary 指定，如 --vary connections=10,100,1000".to_owned(),
        GridError::TooMany { cells } => format!("{cells} 次压测超过上限 {CELLS_MAX}；请减少取值或 --repeat"),
    };
    language.pick(format!("--vary: {error}"), format!("--vary：{chinese}"))
}

/// The input for the report of a sweep.
#[derive(Clone, Debug)]
pub struct SweepInput<'a> {
    /// The varied options.
    pub grid: &'a Grid,
    /// The runs so far, in order.
    pub runs: &'a [SweptRun],
    /// Whether the runs are holds.
    pub is_hold: bool,
    /// The criterion of the best cell.
    pub best_by: BestBy,
    /// The target.
    pub target: &'a str,
    /// What all runs of a file draw by; `None` without a file, or where it is varied.
    pub seed: Option<u64>,
    /// When it began, since the epoch of Unix.
    pub began_unix: Duration,
    /// The duration; `None` while it goes on.
    pub took: Option<Duration>,
    /// Whether the user stopped it.
    pub was_stopped: bool,
    /// The environment of the sweep.
    pub about: &'a About,
    /// The name under which it is stored.
    pub kept_as: Option<&'a str>,
}

/// The report of a sweep.
pub fn sweep_value(input: &SweepInput<'_>) -> Value {
    let grid = input.grid;
    let values = |place: usize| -> Map<String, Value> {
        let names = grid.vary.iter().map(|vary| vary.name.clone());
        names.zip(grid.values(place)).map(|(name, value)| (name, value.into())).collect()
    };
    let figures = cells(grid, input.runs);
    let best = best(&figures, input.best_by);
    let out = left_out(&figures, best, input.best_by);
    let out: Vec<Value> = out.into_iter().map(|place| json!({"place": place, "values": values(place)})).collect();
    let plateau = plateau(grid, &figures)
        .filter(|_| !input.is_hold && grid.vary[0].name != "rate")
        .map(|plateau| json!({"from": values(plateau.from), "least": plateau.least, "most": plateau.most}));
    let made = figures.iter().enumerate().map(|(place, figures)| cell(place, &values(place), figures));
    let mut cells: Vec<Value> = made.collect();
    if let Some(place) = best {
        cells[place]["is_best"] = true.into();
    }
    let runs = input.runs.iter().enumerate().map(|(at, run)| {
        json!({
            "number": at + 1,
            "place": run.place,
            "round": run.round,
            "values": values(run.place),
            "rate": run.rate,
            "p50_s": run.p50_ns.map(|ns| ns as f64 / 1e9),
            "p99_s": run.p99_ns.map(|ns| ns as f64 / 1e9),
            "affected": affected(run.is_affected),
            "failed_share": run.failed_share,
            "limit": run.limit,
            "is_unreliable": run.is_unreliable,
            "run": run.kept_as,
        })
    });
    json!({
        "schema": SCHEMA,
        "kind": "sweep",
        "target": input.target,
        "seed": input.seed,
        "is_hold": input.is_hold,
        "vary": grid.vary.iter().map(|vary| json!({"name": vary.name, "values": vary.values})).collect::<Vec<_>>(),
        "repeat": grid.repeat,
        "best_by": input.best_by.name(),
        "best": best.map(values),
        "is_best_clear": best.is_some_and(|best| is_clear(&figures, best, input.best_by)),
        "left_out": out,
        "plateau": plateau,
        "cells": cells,
        "runs": runs.collect::<Vec<_>>(),
        "runs_planned": grid.cells() as u64 * grid.repeat,
        "took_s": input.took.map(|took| took.as_secs_f64()),
        "was_stopped": input.was_stopped,
        "kept_as": input.kept_as,
        "about": input.about.many_value(input.began_unix),
    })
}

/// The names of percentiles that stalls of the generator may have caused.
fn affected(which: [bool; 2]) -> Vec<&'static str> {
    ["p50", "p99"].into_iter().zip(which).filter(|(_, is_it)| *is_it).map(|(name, _)| name).collect()
}

fn cell(place: usize, values: &Map<String, Value>, figures: &CellFigures) -> Value {
    let spread = |spread: Option<Spread>| {
        spread.map(|Spread { median, least, most }| json!({"median": median, "least": least, "most": most}))
    };
    json!({
        "place": place,
        "values": values,
        "runs": figures.runs,
        "rate": spread(figures.rate),
        "p50_s": spread(figures.p50_s),
        "p99_s": spread(figures.p99_s),
        "failed_share": spread(figures.failed_share),
        "affected": affected(figures.affected.map(|runs| runs > 0)),
        "unreliable_runs": figures.unreliable,
        "limit": figures.limit,
        "is_best": false,
    })
}

#[cfg(test)]
mod tests;
