//! Figures of the user's own.

use metrics::OwnKind;
use plan::OwnFigure;

use super::File;
use crate::source::Span;

/// A figure that the steps of scenarios record.
#[derive(Clone, Debug, PartialEq)]
pub struct FileFigure {
    /// The position of its name.
    pub at: Span,
    /// Its name, kind, unit and step.
    pub own: OwnFigure,
}

impl File {
    /// The figures as thresholds know them.
    pub fn own_figures(&self) -> Vec<metrics::OwnFigure> {
        let figure = |FileFigure { own, .. }: &FileFigure| metrics::OwnFigure {
            name: own.name.clone(),
            kind: match own.kind {
                plan::OwnKind::Counter => OwnKind::Counter,
                plan::OwnKind::Trend => OwnKind::Trend,
                plan::OwnKind::Share => OwnKind::Share,
                plan::OwnKind::Gauge => OwnKind::Gauge,
            },
            unit: own.unit.clone(),
            step: own.step,
        };
        self.figures.iter().map(figure).collect()
    }
}
