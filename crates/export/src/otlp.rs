//! OTLP, the protocol of OpenTelemetry: cumulative sums, gauges, and exponential histograms, as Protobuf.

use prost::Message;

use crate::families::families;
use crate::family::{Family, Kind, Value};
use crate::otlp_messages::{
    AnyValue, Attribute, Buckets, Data, ExportRequest, ExportResponse, Gauge, Histogram, HistogramPoint, Metric,
    NumberPoint, PointValue, Resource, ResourceMetrics, Scope, ScopeMetrics, Sum, Text,
};
use crate::totals::Totals;

/// The temporality of sums since the start.
const CUMULATIVE: i32 = 2;

/// A request with totals at instants, the oldest first. Instants are nanoseconds since the Unix epoch; all sums are
/// from `start` on.
pub(crate) fn request(start: u64, points: &[(u64, &Totals)]) -> ExportRequest {
    let attributes = vec![attribute("service.name", "onrush")];
    let of_point = |(at, totals): &(u64, &Totals)| ResourceMetrics {
        resource: Some(Resource { attributes: attributes.clone() }),
        scope_metrics: vec![ScopeMetrics {
            scope: Some(Scope { name: "onrush".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }),
            metrics: families(totals).iter().map(|family| metric(family, start, *at)).collect(),
        }],
    };
    ExportRequest { resource_metrics: points.iter().map(of_point).collect() }
}

/// The body of a request.
pub(crate) fn body(start: u64, points: &[(u64, &Totals)]) -> Vec<u8> {
    request(start, points).encode_to_vec()
}

/// The number of rejected points in an otherwise accepted request, and the reason.
pub(crate) fn rejected(response: &[u8]) -> Option<(u64, String)> {
    let partial = ExportResponse::decode(response).ok()?.partial_success?;
    let count = u64::try_from(partial.rejected_data_points).unwrap_or(0);
    (count > 0).then_some((count, partial.error_message))
}

/// The OpenTelemetry name: without the unit, which is a field of its own.
fn name_of(family: &Family<'_>) -> String {
    let name = family.name.strip_suffix("_seconds").unwrap_or(family.name);
    name.replacen('_', ".", 1)
}

fn metric(family: &Family<'_>, start: u64, at: u64) -> Metric {
    let number = |(labels, value): &(crate::family::Labels<'_>, Value<'_>)| {
        let value = match value {
            Value::Count(count) => PointValue::Int(i64::try_from(*count).unwrap_or(i64::MAX)),
            Value::Number(number) => PointValue::Double(*number),
            Value::Times(times) => PointValue::Double(times.sum_s()),
        };
        // A gauge has no start.
        let start = if family.kind == Kind::Gauge { 0 } else { start };
        NumberPoint { attributes: attributes(labels), start, at, value: Some(value) }
    };
    let times = |(labels, value): &(crate::family::Labels<'_>, Value<'_>)| match value {
        Value::Times(times) => Some(point(times, attributes(labels), start, at)),
        _ => None,
    };
    let data = match family.kind {
        Kind::Counter => Data::Sum(Sum {
            points: family.series.iter().map(number).collect(),
            temporality: CUMULATIVE,
            is_monotonic: true,
        }),
        Kind::Gauge => Data::Gauge(Gauge { points: family.series.iter().map(number).collect() }),
        Kind::Histogram => Data::Exponential(Histogram {
            points: family.series.iter().filter_map(times).collect(),
            temporality: CUMULATIVE,
        }),
    };
    let (description, unit) = (family.help.to_owned(), family.unit.to_owned());
    Metric { name: name_of(family), description, unit, data: Some(data) }
}

fn point(times: &crate::histogram::Histogram, attributes: Vec<Attribute>, start: u64, at: u64) -> HistogramPoint {
    let exponential = times.exponential();
    let first = exponential.buckets.first().map_or(0, |(number, _)| *number);
    let last = exponential.buckets.last().map_or(first - 1, |(number, _)| *number);
    let mut counts = vec![0; (last - first + 1) as usize];
    exponential.buckets.iter().for_each(|(number, count)| counts[(number - first) as usize] = *count);
    HistogramPoint {
        attributes,
        start,
        at,
        count: times.count(),
        sum: Some(times.sum_s()),
        scale: exponential.scale,
        zeros: exponential.zeros,
        positive: Some(Buckets { offset: first, counts }),
        min: times.min_s(),
        max: times.max_s(),
    }
}

fn attributes(labels: &crate::family::Labels<'_>) -> Vec<Attribute> {
    labels.iter().map(|(name, value)| attribute(name, value)).collect()
}

fn attribute(name: &str, value: &str) -> Attribute {
    Attribute { key: name.to_owned(), value: Some(AnyValue { value: Some(Text::String(value.to_owned())) }) }
}

#[cfg(test)]
mod tests;
