//! A sweep: its JSON, of which the text and the page are made. `docs/sweep.schema.json` describes it.

mod html;
mod text;

use std::time::Duration;

use search::Grid;
use serde_json::{Map, Value, json};

use crate::About;
use crate::traced::utc;

pub use html::sweep_html;
pub(crate) use html::sweep_part;
pub use text::{sweep_head, sweep_row, sweep_text};

/// Grows with every change that a reader could stumble over.
const SCHEMA: u32 = 1;

/// Why something is no sweep.
pub fn grid_error(error: &search::GridError, language: crate::Language) -> String {
    use search::{CELLS_MAX, GridError};
    let chinese = match error {
        GridError::NoValues { text } => {
            format!("'{text}' 没有可变的内容；请写参数及其取值，如 connections=10,100,1000")
        }
        GridError::Twice { name, value } => {
            format!("'{name}' 的取值 '{value}' 重复；请只写一次，多次运行请用 --repeat")
        }
        GridError::Again { name } => format!("'{name}' 出现了两次；请在一个 --vary 中写出全部取值"),
        GridError::Nothing => "没有指定要改变的内容；请用 --vary 指定，如 --vary connections=10,100,1000".to_owned(),
        GridError::TooMany { cells } => format!("{cells} 次运行超过上限 {CELLS_MAX}；请减少取值或 --repeat"),
    };
    language.pick(format!("--vary: {error}"), format!("--vary：{chinese}"))
}

/// What is told of one run of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweptRun {
    /// Which cell it is of.
    pub place: usize,
    /// The first time is 1.
    pub round: u64,
    /// Requests a second, or connections that were held to the end.
    pub rate: f64,
    /// Response times, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// The same.
    pub p99_ns: Option<u64>,
    /// Of all that was started.
    pub failed_share: f64,
    /// Who was the limit, by its stable name.
    pub limit: &'static str,
    /// The figures are the generator's as much as the target's.
    pub is_spoiled: bool,
    /// Where it is kept.
    pub kept_as: Option<String>,
}

/// By what the best cell is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BestBy {
    /// The highest rate, or the most connections.
    Rate,
    /// The lowest median.
    P50,
    /// The lowest 99th percentile.
    P99,
}

impl BestBy {
    fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::P50 => "p50",
            Self::P99 => "p99",
        }
    }
}

/// What the report of a sweep is made of.
#[derive(Clone, Debug)]
pub struct SweepInput<'a> {
    /// What was varied.
    pub grid: &'a Grid,
    /// The runs so far, in order.
    pub runs: &'a [SweptRun],
    /// Connections were held.
    pub is_hold: bool,
    /// By what the best cell is found.
    pub best_by: BestBy,
    /// What was loaded.
    pub target: &'a str,
    /// When it began, since the epoch of Unix.
    pub began_unix: Duration,
    /// How long it took; `None` while it goes on.
    pub took: Option<Duration>,
    /// Somebody stopped it.
    pub was_stopped: bool,
    /// Of what it was made.
    pub about: &'a About,
    /// Where it is kept.
    pub kept_as: Option<&'a str>,
}

/// The report of a sweep.
pub fn sweep_value(input: &SweepInput<'_>) -> Value {
    let grid = input.grid;
    let values = |place: usize| -> Map<String, Value> {
        let names = grid.vary.iter().map(|vary| vary.name.clone());
        names.zip(grid.values(place)).map(|(name, value)| (name, value.into())).collect()
    };
    let mut cells: Vec<Value> = (0..grid.cells()).map(|place| cell(place, &values(place), input.runs)).collect();
    let best = best(&cells, input.best_by);
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
            "failed_share": run.failed_share,
            "limit": run.limit,
            "is_spoiled": run.is_spoiled,
            "run": run.kept_as,
        })
    });
    json!({
        "schema": SCHEMA,
        "kind": "sweep",
        "target": input.target,
        "is_hold": input.is_hold,
        "vary": grid.vary.iter().map(|vary| json!({"name": vary.name, "values": vary.values})).collect::<Vec<_>>(),
        "repeat": grid.repeat,
        "best_by": input.best_by.name(),
        "best": best.map(values),
        "cells": cells,
        "runs": runs.collect::<Vec<_>>(),
        "runs_planned": grid.cells() as u64 * grid.repeat,
        "took_s": input.took.map(|took| took.as_secs_f64()),
        "was_stopped": input.was_stopped,
        "kept_as": input.kept_as,
        "about": {
            "version": input.about.version,
            "command": input.about.command,
            "began": utc(input.began_unix),
            "kernel": input.about.kernel,
            "cpu": input.about.cpu,
            "cores": input.about.cores,
        },
    })
}

fn cell(place: usize, values: &Map<String, Value>, runs: &[SweptRun]) -> Value {
    let own: Vec<&SweptRun> = runs.iter().filter(|run| run.place == place).collect();
    let of = |figure: &dyn Fn(&SweptRun) -> Option<f64>| spread(own.iter().filter_map(|run| figure(run)).collect());
    let spoiled = own.iter().filter(|run| run.is_spoiled).count();
    // The limit of most of its runs.
    let limit =
        own.iter().map(|run| run.limit).max_by_key(|limit| own.iter().filter(|run| run.limit == *limit).count());
    json!({
        "place": place,
        "values": values,
        "runs": own.len(),
        "rate": of(&|run| Some(run.rate)),
        "p50_s": of(&|run| run.p50_ns.map(|ns| ns as f64 / 1e9)),
        "p99_s": of(&|run| run.p99_ns.map(|ns| ns as f64 / 1e9)),
        "failed_share": of(&|run| Some(run.failed_share)),
        "spoiled_runs": spoiled,
        "limit": limit,
        "is_best": false,
    })
}

/// The median of some figures, with the least and the most.
fn spread(mut all: Vec<f64>) -> Value {
    if all.is_empty() {
        return Value::Null;
    }
    all.sort_by(f64::total_cmp);
    let half = all.len() / 2;
    let median = if all.len() % 2 == 1 { all[half] } else { f64::midpoint(all[half - 1], all[half]) };
    json!({"median": median, "least": all[0], "most": all[all.len() - 1]})
}

/// The best cell of those in which the generator was not the limit, and not everything failed.
fn best(cells: &[Value], by: BestBy) -> Option<usize> {
    let median = |cell: &Value, name: &str| cell[name]["median"].as_f64();
    let figure = |cell: &Value| match by {
        BestBy::Rate => median(cell, "rate"),
        BestBy::P50 => median(cell, "p50_s").map(|seconds| -seconds),
        BestBy::P99 => median(cell, "p99_s").map(|seconds| -seconds),
    };
    let is_good = |cell: &&Value| cell["spoiled_runs"] == 0 && median(cell, "failed_share") < Some(1.0);
    let all = cells.iter().enumerate().filter(|(_, cell)| is_good(cell));
    // Of those that are as good, the quickest.
    let quick = |cell: &Value| -median(cell, "p99_s").unwrap_or(f64::INFINITY);
    let all = all.filter_map(|(place, cell)| Some((place, figure(cell)?, quick(cell))));
    let is_better =
        |one: &(usize, f64, f64), other: &(usize, f64, f64)| one.1.total_cmp(&other.1).then(one.2.total_cmp(&other.2));
    all.max_by(is_better).map(|best| best.0)
}

#[cfg(test)]
mod tests;
