//! Prometheus remote write, version 1.0: Protobuf, compressed with Snappy.

use prost::Message;

use crate::families::families;
use crate::family::{Kind, Labels, Value};
use crate::prometheus::bound_text;
use crate::totals::Totals;

/// `prometheus.WriteRequest`, with the fields that are used.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    pub(crate) timeseries: Vec<TimeSeries>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) metadata: Vec<Metadata>,
}

/// One series and its samples.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    pub(crate) labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) samples: Vec<RemoteSample>,
}

/// A label.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Label {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

/// A value at an instant, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct RemoteSample {
    #[prost(double, tag = "1")]
    pub(crate) value: f64,
    #[prost(int64, tag = "2")]
    pub(crate) timestamp: i64,
}

/// The metadata of a metric name.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Metadata {
    /// Counter 1, gauge 2, histogram 3.
    #[prost(int32, tag = "1")]
    pub(crate) kind: i32,
    #[prost(string, tag = "2")]
    pub(crate) family: String,
    #[prost(string, tag = "4")]
    pub(crate) help: String,
    #[prost(string, tag = "5")]
    pub(crate) unit: String,
}

/// Totals at instants, the oldest first, as one request. The instants are in milliseconds since the Unix epoch, and no
/// two are the same.
pub(crate) fn request(points: &[(i64, &Totals)]) -> WriteRequest {
    let mut request = WriteRequest::default();
    for (at, totals) in points {
        for family in families(totals) {
            let end = if family.kind == Kind::Counter { "_total" } else { "" };
            for (labels, value) in &family.series {
                let mut put = |end: &str, bound: Option<&str>, value: f64| {
                    let labels = sorted(&format!("{}{end}", family.name), labels, bound);
                    request
                        .timeseries
                        .push(TimeSeries { labels, samples: vec![RemoteSample { value, timestamp: *at }] });
                };
                match value {
                    Value::Count(count) => put(end, None, *count as f64),
                    Value::Number(number) => put(end, None, *number),
                    Value::Times(times) => {
                        times
                            .cumulative()
                            .for_each(|(bound, count)| put("_bucket", Some(&bound_text(bound)), count as f64));
                        put("_sum", None, times.sum_s());
                        put("_count", None, times.count() as f64);
                    }
                }
            }
        }
    }
    if let Some((_, totals)) = points.last() {
        request.metadata = families(totals)
            .iter()
            .map(|family| Metadata {
                kind: match family.kind {
                    Kind::Counter => 1,
                    Kind::Gauge => 2,
                    Kind::Histogram => 3,
                },
                family: format!("{}{}", family.name, if family.kind == Kind::Counter { "_total" } else { "" }),
                help: family.help.to_owned(),
                unit: if family.unit == "s" { "seconds".to_owned() } else { String::new() },
            })
            .collect();
    }
    request
}

/// The body of a request.
pub(crate) fn body(points: &[(i64, &Totals)]) -> Vec<u8> {
    let plain = request(points).encode_to_vec();
    snap::raw::Encoder::new().compress_vec(&plain).expect("a request is below the 4 GiB that Snappy takes")
}

/// The labels sorted by name, as the specification requires.
fn sorted(name: &str, labels: &Labels<'_>, bound: Option<&str>) -> Vec<Label> {
    let label = |name: &str, value: &str| Label { name: name.to_owned(), value: value.to_owned() };
    // An empty value stands for an absent label.
    let own = labels.iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| label(name, value));
    let bound = bound.map(|bound| label("le", bound));
    let mut all: Vec<Label> = [label("__name__", name)].into_iter().chain(own).chain(bound).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

#[cfg(test)]
mod tests;
