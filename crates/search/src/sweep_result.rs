//! The result of a sweep: the runs of each cell together, and the best cell.

use crate::Grid;

/// The result of one run of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct SweptRun {
    /// The index of its cell.
    pub place: usize,
    /// The number of the repetition; the first is 1.
    pub round: u64,
    /// Requests per second, or connections that were held to the end.
    pub rate: f64,
    /// The median of response times, in nanoseconds.
    pub p50_ns: Option<u64>,
    /// The 99th percentile, in nanoseconds.
    pub p99_ns: Option<u64>,
    /// Whether generator stalls may affect the one, and the other.
    pub is_affected: [bool; 2],
    /// The failed share of all starts.
    pub failed_share: f64,
    /// The bottleneck, by its stable name.
    pub limit: &'static str,
    /// Whether the result is unreliable: as much the generator's as the target's.
    pub is_unreliable: bool,
    /// The path of its folder.
    pub kept_as: Option<String>,
}

/// The criterion for the best cell.
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
    /// The stable name for reports.
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
    /// The median: the middle one, or between the two in the middle.
    pub median: f64,
    /// The minimum.
    pub least: f64,
    /// The maximum.
    pub most: f64,
}

/// All runs of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellFigures {
    /// The number of runs.
    pub runs: usize,
    /// Requests per second, or connections; `None` without a run, here and below.
    pub rate: Option<Spread>,
    /// The median of response times, in seconds.
    pub p50_s: Option<Spread>,
    /// The 99th percentile, in seconds.
    pub p99_s: Option<Spread>,
    /// The failed share of all starts.
    pub failed_share: Option<Spread>,
    /// Runs in which the generator or its machine was the bottleneck.
    pub unreliable: usize,
    /// Runs in which generator stalls may affect p50, and p99.
    pub affected: [usize; 2],
    /// The bottleneck of most of them.
    pub limit: Option<&'static str>,
}

impl CellFigures {
    /// Whether the compared figure is the target's in each run.
    fn is_comparable(&self, by: BestBy) -> bool {
        self.unreliable == 0
            && match by {
                BestBy::Rate => true,
                BestBy::P50 => self.affected[0] == 0,
                BestBy::P99 => self.affected[1] == 0,
            }
    }

    /// Whether not everything failed.
    fn has_succeeded(&self) -> bool {
        median(self.failed_share) < Some(1.0)
    }

    /// The value for comparison: more is better.
    fn worth(&self, by: BestBy) -> Option<f64> {
        match by {
            // Fast failures are not good.
            BestBy::Rate => median(self.rate).map(|rate| rate * (1.0 - median(self.failed_share).unwrap_or(0.0))),
            BestBy::P50 => median(self.p50_s).map(|seconds| -seconds),
            BestBy::P99 => median(self.p99_s).map(|seconds| -seconds),
        }
    }
}

fn median(spread: Option<Spread>) -> Option<f64> {
    spread.map(|spread| spread.median)
}

/// The figures of all cells, in the order of their indexes.
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
        unreliable: own.iter().filter(|run| run.is_unreliable).count(),
        affected: [0, 1].map(|at| own.iter().filter(|run| run.is_affected[at]).count()),
        limit: own.iter().map(|run| run.limit).max_by_key(|limit| times(limit)),
    }
}

/// The median, minimum and maximum of some figures; `None` if empty.
fn spread(mut all: Vec<f64>) -> Option<Spread> {
    all.sort_by(f64::total_cmp);
    let (least, most) = (*all.first()?, *all.last()?);
    let half = all.len() / 2;
    let median = if all.len() % 2 == 1 { all[half] } else { f64::midpoint(all[half - 1], all[half]) };
    Some(Spread { median, least, most })
}

/// The best cell of those with reliable results, and in which not everything failed.
pub fn best(cells: &[CellFigures], by: BestBy) -> Option<usize> {
    // Of equally good cells, the fastest.
    let quick = |cell: &CellFigures| -median(cell.p99_s).unwrap_or(f64::INFINITY);
    // There is no best cell while some have no run.
    if cells.iter().any(|cell| cell.runs == 0) {
        return None;
    }
    let all = cells.iter().enumerate().filter(|(_, cell)| cell.is_comparable(by) && cell.has_succeeded());
    let all = all.filter_map(|(place, cell)| Some((place, cell.worth(by)?, quick(cell))));
    all.max_by(|one, other| one.1.total_cmp(&other.1).then(one.2.total_cmp(&other.2))).map(|best| best.0)
}

/// Cells that look better than the best one, but are excluded because their results may be the generator's.
pub fn left_out(cells: &[CellFigures], best: Option<usize>, by: BestBy) -> Vec<usize> {
    let least = best.and_then(|best| cells[best].worth(by)).unwrap_or(f64::NEG_INFINITY);
    let is_out = |cell: &CellFigures| {
        !cell.is_comparable(by) && cell.has_succeeded() && cell.worth(by).is_some_and(|worth| worth > least)
    };
    (0..cells.len()).filter(|place| is_out(&cells[*place])).collect()
}

/// Rates that differ by less count as equal.
const SAME_SHARE: f64 = 0.05;

/// A plateau: from some value on, more of what is varied gives no higher and no lower rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// The cell with which it begins.
    pub from: usize,
    /// The lowest median on it.
    pub least: f64,
    /// The highest.
    pub most: f64,
}

/// The plateau of a sweep over one number; `None` if the rate still changes with the last value, or is not the
/// target's.
pub fn plateau(grid: &Grid, cells: &[CellFigures]) -> Option<Plateau> {
    let [vary] = &grid.vary[..] else { return None };
    let numbers = vary.values.iter().map(|value| value.parse::<f64>().ok().filter(|number| number.is_finite()));
    let mut order: Vec<(f64, usize)> =
        numbers.zip(0..).map(|(number, place)| Some((number?, place))).collect::<Option<_>>()?;
    order.sort_by(|one, other| one.0.total_cmp(&other.0));
    let rates = order.iter().map(|(_, place)| {
        let cell = cells.get(*place)?;
        let is_known = cell.unreliable == 0 && median(cell.failed_share) <= Some(SAME_SHARE);
        cell.rate.filter(|_| is_known).map(|rate| (*place, rate))
    });
    // From the largest number down, as far as all are alike.
    let mut all: Vec<(usize, Spread)> = Vec::new();
    for rate in rates.rev() {
        let Some((place, rate)) = rate else { break };
        let is_same = |other: &Spread| {
            let overlap = rate.least <= other.most && other.least <= rate.most;
            overlap || (rate.median - other.median).abs() <= SAME_SHARE * other.median
        };
        if !all.iter().all(|(_, other)| is_same(other)) {
            break;
        }
        all.push((place, rate));
    }
    let medians = || all.iter().map(|(_, rate)| rate.median);
    let (from, _) = *all.last().filter(|_| all.len() > 1)?;
    Some(Plateau { from, least: medians().fold(f64::INFINITY, f64::min), most: medians().fold(0.0, f64::max) })
}

/// Whether each run of the best cell was better than each run of any other, there are at least two of each, and all are
/// the target's.
pub fn is_clear(cells: &[CellFigures], best: usize, by: BestBy) -> bool {
    let ends = |cell: &CellFigures| match by {
        BestBy::Rate => cell.rate.map(|rate| (-rate.most, -rate.least)),
        BestBy::P50 => cell.p50_s.map(|spread| (spread.least, spread.most)),
        BestBy::P99 => cell.p99_s.map(|spread| (spread.least, spread.most)),
    };
    let Some((_, worst)) = ends(&cells[best]) else { return false };
    let others = cells.iter().enumerate().filter(|(place, _)| *place != best);
    cells.iter().all(|cell| cell.runs > 1 && cell.is_comparable(by))
        && others.map(|(_, cell)| ends(cell)).all(|other| other.is_none_or(|(least, _)| worst < least))
}

#[cfg(test)]
mod tests;
