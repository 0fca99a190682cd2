//! Figures of the user's own in thresholds: `p95(basket) < 100`, `sum(orders) >= 5`, `share(in_stock) > 95%`.

use super::{Figure, Statistic, Subject, ThresholdFault, Unit};
use crate::own_figures::in_step;
use crate::{OwnFigure, OwnKind, OwnTotal, Snapshot};

/// A figure of the user's own, as a subject.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct OwnSubject {
    /// Its number.
    number: usize,
    kind: OwnKind,
    step: f64,
    of: OwnStatistic,
}

/// The part of a figure that is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OwnStatistic {
    Sum,
    Share,
    Last,
    Least,
    Greatest,
    /// A statistic of a trend.
    Of(Statistic),
}

impl OwnStatistic {
    /// The statistic of a word that stands before figures of users alone.
    pub(super) fn named(word: &str) -> Option<Self> {
        Some(match word {
            "sum" => Self::Sum,
            "share" => Self::Share,
            "last" => Self::Last,
            "least" => Self::Least,
            "greatest" => Self::Greatest,
            _ => return None,
        })
    }

    fn is_of(self, kind: OwnKind) -> bool {
        match self {
            Self::Sum => matches!(kind, OwnKind::Counter | OwnKind::Trend),
            Self::Share => kind == OwnKind::Share,
            Self::Last | Self::Least | Self::Greatest => kind == OwnKind::Gauge,
            Self::Of(_) => kind == OwnKind::Trend,
        }
    }
}

impl OwnSubject {
    /// A figure by its name; `None` where there is none of this name.
    pub(super) fn subject(of: OwnStatistic, name: &str, own: &[OwnFigure]) -> Option<Result<Subject, ThresholdFault>> {
        let number = own.iter().position(|figure| figure.name == name)?;
        let OwnFigure { kind, step, .. } = own[number];
        Some(match of.is_of(kind) {
            true => Ok(Subject::Own(Self { number, kind, step, of })),
            false => Err(ThresholdFault::NotOfFigure(kind)),
        })
    }

    pub(super) fn unit(self) -> Unit {
        if self.is_share() { Unit::Ratio } else { Unit::Own }
    }

    pub(super) fn is_share(self) -> bool {
        self.kind == OwnKind::Share
    }

    /// Whether it may be below zero.
    pub(super) fn may_be_negative(self) -> bool {
        self.kind == OwnKind::Gauge
    }

    /// Whether it can be compared with one value: a sum of a counter is exact.
    pub(super) fn is_exact(self) -> bool {
        self.kind == OwnKind::Counter
    }

    /// Its value, which is known exactly. A counter that nothing was added to is zero.
    pub(super) fn figure(self, seen: &Snapshot) -> Figure {
        let nothing = self.is_exact().then_some(0.0);
        let value = seen.own(self.number).map_or(nothing, |total| self.value(total));
        let known = value.unwrap_or(0.0);
        (value, known, known)
    }

    fn value(self, total: &OwnTotal) -> Option<f64> {
        let units = |units: Option<f64>| units.map(|units| in_step(units, self.step));
        match (self.of, total) {
            (OwnStatistic::Sum, total) => total.sum(self.step),
            (OwnStatistic::Share, OwnTotal::Share { passed, .. }) => Some(*passed as f64 / total.count() as f64),
            (OwnStatistic::Last, OwnTotal::Gauge(gauge)) => Some(gauge.last),
            (OwnStatistic::Least, OwnTotal::Gauge(gauge)) => Some(gauge.least),
            (OwnStatistic::Greatest, OwnTotal::Gauge(gauge)) => Some(gauge.greatest),
            (OwnStatistic::Of(statistic), OwnTotal::Trend(trend)) => match statistic {
                Statistic::Min => units(trend.min().map(|least| least as f64)),
                Statistic::Mean => units(trend.mean()),
                Statistic::Stdev => units(trend.stdev()),
                Statistic::Quantile(quantile) => units(trend.quantile(quantile).map(|units| units as f64)),
            },
            _ => None,
        }
    }
}
