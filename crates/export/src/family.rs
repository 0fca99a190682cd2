//! Series of one name, as formats with counters, gauges and histograms have them.

use metrics::Failure;

use crate::histogram::Histogram;

/// What a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It only grows.
    Counter,
    /// How things stand.
    Gauge,
    /// Times.
    Histogram,
}

/// A value of one series.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Count(u64),
    Number(f64),
    Times(&'a Histogram),
}

/// What tells a series from the others of its name, in the order of the names of its labels.
pub(crate) type Labels<'a> = Vec<(&'static str, &'a str)>;

/// All series of one name.
#[derive(Debug)]
pub(crate) struct Family<'a> {
    /// As Prometheus has it, without `_total`.
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    /// As UCUM writes it, for OpenTelemetry.
    pub(crate) unit: &'static str,
    pub(crate) kind: Kind,
    pub(crate) series: Vec<(Labels<'a>, Value<'a>)>,
}

/// The label of a failure.
pub(crate) fn reason_of(failure: Failure) -> String {
    match failure.detail() {
        Some(detail) => format!("{} ({detail})", failure.name()),
        None => failure.name().to_owned(),
    }
}

/// A family of one series.
pub(crate) fn one<'a>(
    name: &'static str,
    help: &'static str,
    unit: &'static str,
    kind: Kind,
    value: Value<'a>,
) -> Family<'a> {
    Family { name, help, unit, kind, series: vec![(Labels::new(), value)] }
}
