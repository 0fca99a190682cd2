//! The Prometheus page in Protobuf: each histogram with its classic buckets and with native ones.

use prost::Message;

use crate::families::families;
use crate::family::{Family, Kind, Value};
use crate::histogram::{Exponential, Histogram};
use crate::totals::Totals;

/// `io.prometheus.client.MetricFamily`, with the fields that are used.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct MetricFamily {
    #[prost(string, optional, tag = "1")]
    pub(crate) name: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(crate) help: Option<String>,
    /// Counter 0, gauge 1, histogram 4.
    #[prost(int32, optional, tag = "3")]
    pub(crate) kind: Option<i32>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) metric: Vec<Metric>,
}

/// One series.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Metric {
    #[prost(message, repeated, tag = "1")]
    pub(crate) label: Vec<LabelPair>,
    #[prost(message, optional, tag = "2")]
    pub(crate) gauge: Option<Number>,
    #[prost(message, optional, tag = "3")]
    pub(crate) counter: Option<Number>,
    #[prost(message, optional, tag = "7")]
    pub(crate) histogram: Option<Native>,
}

/// A label.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct LabelPair {
    #[prost(string, optional, tag = "1")]
    pub(crate) name: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub(crate) value: Option<String>,
}

/// The value of a counter or of a gauge.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Number {
    #[prost(double, optional, tag = "1")]
    pub(crate) value: Option<f64>,
}

/// A histogram, classic and native.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Native {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) sample_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    pub(crate) sample_sum: Option<f64>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) bucket: Vec<Classic>,
    #[prost(sint32, optional, tag = "5")]
    pub(crate) schema: Option<i32>,
    #[prost(double, optional, tag = "6")]
    pub(crate) zero_threshold: Option<f64>,
    #[prost(uint64, optional, tag = "7")]
    pub(crate) zero_count: Option<u64>,
    #[prost(message, repeated, tag = "12")]
    pub(crate) positive_span: Vec<Span>,
    #[prost(sint64, repeated, tag = "13")]
    pub(crate) positive_delta: Vec<i64>,
}

/// A classic bucket.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Classic {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) cumulative_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    pub(crate) upper_bound: Option<f64>,
}

/// Consecutive native buckets.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Span {
    /// The offset from the end of the previous span; for the first, its bucket number.
    #[prost(sint32, optional, tag = "1")]
    pub(crate) offset: Option<i32>,
    #[prost(uint32, optional, tag = "2")]
    pub(crate) length: Option<u32>,
}

/// Messages, each after its length.
pub(crate) fn page(totals: &Totals) -> Vec<u8> {
    families(totals).iter().flat_map(|family| message(family).encode_length_delimited_to_vec()).collect()
}

fn message(family: &Family<'_>) -> MetricFamily {
    let (end, kind) = match family.kind {
        Kind::Counter => ("_total", 0),
        Kind::Gauge => ("", 1),
        Kind::Histogram => ("", 4),
    };
    let one = |(labels, value): &(crate::family::Labels<'_>, Value<'_>)| {
        let label = labels
            .iter()
            .map(|(name, value)| LabelPair { name: Some((*name).to_owned()), value: Some((*value).to_owned()) });
        let metric = Metric { label: label.collect(), ..Metric::default() };
        let number = match value {
            Value::Count(count) => *count as f64,
            Value::Number(number) => *number,
            Value::Times(times) => return Metric { histogram: Some(native(times)), ..metric },
        };
        let number = Some(Number { value: Some(number) });
        if family.kind == Kind::Counter {
            Metric { counter: number, ..metric }
        } else {
            Metric { gauge: number, ..metric }
        }
    };
    MetricFamily {
        name: Some(format!("{}{end}", family.name)),
        help: Some(family.help.to_owned()),
        kind: Some(kind),
        metric: family.series.iter().map(one).collect(),
    }
}

fn native(times: &Histogram) -> Native {
    let exponential = times.exponential();
    let (mut positive_span, positive_delta) = spans(&exponential);
    if positive_span.is_empty() {
        // An empty span marks a native histogram that is still empty.
        positive_span.push(Span { offset: Some(0), length: Some(0) });
    }
    let classic = |(bound, count)| Classic { cumulative_count: Some(count), upper_bound: Some(bound) };
    Native {
        sample_count: Some(times.count()),
        sample_sum: Some(times.sum_s()),
        bucket: times.cumulative().map(classic).collect(),
        schema: Some(exponential.scale),
        // Times below a nanosecond are zero.
        zero_threshold: Some(1e-10),
        zero_count: Some(exponential.zeros),
        positive_span,
        positive_delta,
    }
}

/// Buckets as Prometheus numbers them, one above the numbers of OpenTelemetry: spans, and each count as its difference
/// to the previous one.
fn spans(exponential: &Exponential) -> (Vec<Span>, Vec<i64>) {
    let (mut spans, mut deltas): (Vec<Span>, Vec<i64>) = Default::default();
    let (mut next, mut last) = (0, 0);
    for (number, count) in &exponential.buckets {
        let number = number + 1;
        match spans.last_mut().filter(|_| number == next) {
            Some(span) => span.length = span.length.map(|length| length + 1),
            None => spans.push(Span { offset: Some(number - next), length: Some(1) }),
        }
        deltas.push(*count as i64 - last);
        (next, last) = (number + 1, *count as i64);
    }
    (spans, deltas)
}

#[cfg(test)]
mod tests;
