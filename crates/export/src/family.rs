//! Series of one name, for formats with counters, gauges and histograms.

use metrics::Failure;

use crate::histogram::Histogram;

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A value that only grows.
    Counter,
    /// A current value.
    Gauge,
    /// A distribution of times.
    Histogram,
}

/// A value of one series.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Count(u64),
    Number(f64),
    Times(&'a Histogram),
}

/// The labels that tell a series from the others of its name, in the order of the label names.
pub(crate) type Labels<'a> = Vec<(&'static str, &'a str)>;

/// All series of one name.
#[derive(Debug)]
pub(crate) struct Family<'a> {
    /// The name in Prometheus, without `_total`.
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    /// The unit in UCUM, for OpenTelemetry.
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
