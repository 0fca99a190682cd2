//! Figures of the user's own: totals since the start of a run, and their families.

use figures::FigurePart;
use metrics::{OwnFigure, OwnKind, OwnTotal};

use crate::family::{Family, Kind, Labels, Value};

/// The totals of one figure in one scenario.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OwnTotals {
    pub(crate) scenario: String,
    pub(crate) figure: OwnFigure,
    total: Option<OwnTotal>,
}

impl OwnTotals {
    /// Adds what a scenario recorded in an interval.
    pub(crate) fn add(all: &mut Vec<Self>, scenario: &str, part: &FigurePart) {
        let is_it = |one: &Self| one.figure.name == part.figure.name && one.scenario == scenario;
        let place = all.iter().position(is_it).unwrap_or_else(|| {
            all.push(Self { scenario: scenario.to_owned(), figure: part.figure.clone(), total: None });
            all.len() - 1
        });
        match (&mut all[place].total, &part.total) {
            (Some(total), Some(more)) => total.merge(more),
            (none, more) => *none = more.clone().or(none.take()),
        }
    }

    /// The number of recorded values.
    pub(crate) fn count(&self) -> u64 {
        self.total.as_ref().map_or(0, OwnTotal::count)
    }

    /// The sum, of a figure that has one: it only grows.
    pub(crate) fn sum(&self) -> Option<f64> {
        let nothing = (self.figure.kind == OwnKind::Counter).then_some(0.0);
        self.total.as_ref().map_or(nothing, |total| total.sum(self.figure.step))
    }

    /// The other statistics.
    pub(crate) fn statistics(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.figure.statistics(self.total.as_ref()).into_iter().filter(|(name, _)| *name != "sum")
    }

    pub(crate) fn tags(&self) -> [(&'static str, &str); 2] {
        [("scenario", &self.scenario), ("figure", &self.figure.name)]
    }

    fn labels(&self) -> Labels<'_> {
        self.tags().to_vec()
    }
}

/// The number of values, sums, and the other statistics with the name of each.
pub(crate) fn own_families(all: &[OwnTotals]) -> [Family<'_>; 3] {
    let family = |name, help, kind, series| Family { name, help, unit: "1", kind, series };
    let counts = all.iter().map(|one| (one.labels(), Value::Count(one.count())));
    let sums = all.iter().filter_map(|one| Some((one.labels(), Value::Number(one.sum()?))));
    let statistics = all.iter().flat_map(|one| {
        let labels = one.labels();
        one.statistics()
            .map(move |(name, value)| ([&labels[..], &[("statistic", name)]].concat(), Value::Number(value)))
    });
    [
        family("onrush_figure_values", "Values of figures of the file.", Kind::Counter, counts.collect()),
        family("onrush_figure_sum", "Sums of figures of the file.", Kind::Counter, sums.collect()),
        family(
            "onrush_figure",
            "Statistics of figures of the file since the start.",
            Kind::Gauge,
            statistics.collect(),
        ),
    ]
}

/// The cells of an interval in CSV: the number of values, and those of the statistics that have columns.
pub(crate) fn csv_cells(part: &FigurePart) -> String {
    let known = part.statistics();
    let cell = |name: &&str| known.iter().find(|(one, _)| one == name).map_or(String::new(), |(_, at)| at.to_string());
    let cells: Vec<String> = CSV_STATISTICS.iter().map(cell).collect();
    format!("{},{}", part.count(), cells.join(","))
}

/// The names of those columns.
pub(crate) fn csv_columns() -> String {
    let columns: Vec<String> = CSV_STATISTICS.iter().map(|name| format!("figure_{name}")).collect();
    format!("figure_count,{}", columns.join(","))
}

/// The cells of lines without a figure.
pub(crate) fn no_csv_cells() -> String {
    ",".repeat(CSV_STATISTICS.len())
}

/// All statistics of all kinds.
const CSV_STATISTICS: [&str; 12] =
    ["sum", "share", "least", "greatest", "last", "min", "mean", "p50", "p90", "p95", "p99", "max"];
