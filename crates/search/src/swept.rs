//! What a sweep has come to: the runs of each cell together, and the best cell.

use crate::Grid;

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
    /// A stable name for reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::P50 => "p50",
            Self::P99 => "p99",
        }
    }
}

/// A figure of several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The middle one, or between the two in the middle.
    pub median: f64,
    /// The least.
    pub least: f64,
    /// The most.
    pub most: f64,
}

/// All runs of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellFigures {
    /// How many there were.
    pub runs: usize,
    /// Requests a second, or connections; `None` without a run, here and below.
    pub rate: Option<Spread>,
    /// Seconds.
    pub p50_s: Option<Spread>,
    /// Seconds.
    pub p99_s: Option<Spread>,
    /// Of all that was started.
    pub failed_share: Option<Spread>,
    /// Runs in which the generator or its machine was the limit.
    pub spoiled: usize,
    /// The limit of most of them.
    pub limit: Option<&'static str>,
}

/// The figures of all cells, in the order of their places.
pub fn cells(grid: &Grid, runs: &[SweptRun]) -> Vec<CellFigures> {
    (0..grid.cells()).map(|place| cell(&runs.iter().filter(|run| run.place == place).collect::<Vec<_>>())).collect()
}

fn cell(own: &[&SweptRun]) -> CellFigures {
    let of = |figure: &dyn Fn(&SweptRun) -> Option<f64>| spread(own.iter().filter_map(|run| figure(run)).collect());
    let seconds = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e9);
    let times = |limit: &str| own.iter().filter(|run| run.limit == limit).count();
    CellFigures {
        runs: own.len(),
        rate: of(&|run| Some(run.rate)),
        p50_s: of(&|run| seconds(run.p50_ns)),
        p99_s: of(&|run| seconds(run.p99_ns)),
        failed_share: of(&|run| Some(run.failed_share)),
        spoiled: own.iter().filter(|run| run.is_spoiled).count(),
        limit: own.iter().map(|run| run.limit).max_by_key(|limit| times(limit)),
    }
}

/// The median of some figures, with the least and the most; `None` of none.
fn spread(mut all: Vec<f64>) -> Option<Spread> {
    all.sort_by(f64::total_cmp);
    let (least, most) = (*all.first()?, *all.last()?);
    let half = all.len() / 2;
    let median = if all.len() % 2 == 1 { all[half] } else { f64::midpoint(all[half - 1], all[half]) };
    Some(Spread { median, least, most })
}

/// The best cell of those in which the generator was never the limit, and not everything failed.
pub fn best(cells: &[CellFigures], by: BestBy) -> Option<usize> {
    let median = |spread: Option<Spread>| spread.map(|spread| spread.median);
    let figure = |cell: &CellFigures| match by {
        // What fails quickly is not good.
        BestBy::Rate => median(cell.rate).map(|rate| rate * (1.0 - median(cell.failed_share).unwrap_or(0.0))),
        BestBy::P50 => median(cell.p50_s).map(|seconds| -seconds),
        BestBy::P99 => median(cell.p99_s).map(|seconds| -seconds),
    };
    let is_good = |cell: &&CellFigures| cell.spoiled == 0 && median(cell.failed_share) < Some(1.0);
    // Of those that are as good, the quickest.
    let quick = |cell: &CellFigures| -median(cell.p99_s).unwrap_or(f64::INFINITY);
    // Of what was not run nobody knows.
    if cells.iter().any(|cell| cell.runs == 0) {
        return None;
    }
    let all = cells.iter().enumerate().filter(|(_, cell)| is_good(cell));
    let all = all.filter_map(|(place, cell)| Some((place, figure(cell)?, quick(cell))));
    all.max_by(|one, other| one.1.total_cmp(&other.1).then(one.2.total_cmp(&other.2))).map(|best| best.0)
}

/// Each run of the best cell was better than each run of any other, there are at least two of each, and none was spoiled.
pub fn is_clear(cells: &[CellFigures], best: usize, by: BestBy) -> bool {
    let ends = |cell: &CellFigures| match by {
        BestBy::Rate => cell.rate.map(|rate| (-rate.most, -rate.least)),
        BestBy::P50 => cell.p50_s.map(|spread| (spread.least, spread.most)),
        BestBy::P99 => cell.p99_s.map(|spread| (spread.least, spread.most)),
    };
    let Some((_, worst)) = ends(&cells[best]) else { return false };
    let others = cells.iter().enumerate().filter(|(place, _)| *place != best);
    cells.iter().all(|cell| cell.runs > 1 && cell.spoiled == 0)
        && others.map(|(_, cell)| ends(cell)).all(|other| other.is_none_or(|(least, _)| worst < least))
}
