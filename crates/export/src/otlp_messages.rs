//! The messages of OTLP for metrics (`opentelemetry.proto.collector.metrics.v1`), with the fields that are used.

use prost::{Message, Oneof};

/// `ExportMetricsServiceRequest`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ExportRequest {
    #[prost(message, repeated, tag = "1")]
    pub(crate) resource_metrics: Vec<ResourceMetrics>,
}

/// `ExportMetricsServiceResponse`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ExportResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) partial_success: Option<PartialSuccess>,
}

/// `ExportMetricsPartialSuccess`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct PartialSuccess {
    #[prost(int64, tag = "1")]
    pub(crate) rejected_data_points: i64,
    #[prost(string, tag = "2")]
    pub(crate) error_message: String,
}

/// `ResourceMetrics`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ResourceMetrics {
    #[prost(message, optional, tag = "1")]
    pub(crate) resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) scope_metrics: Vec<ScopeMetrics>,
}

/// `Resource`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Resource {
    #[prost(message, repeated, tag = "1")]
    pub(crate) attributes: Vec<Attribute>,
}

/// `KeyValue`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Attribute {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) value: Option<AnyValue>,
}

/// `AnyValue`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct AnyValue {
    #[prost(oneof = "Text", tags = "1")]
    pub(crate) value: Option<Text>,
}

/// The only used kind of value.
#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum Text {
    #[prost(string, tag = "1")]
    String(String),
}

/// `ScopeMetrics`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ScopeMetrics {
    #[prost(message, optional, tag = "1")]
    pub(crate) scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) metrics: Vec<Metric>,
}

/// `InstrumentationScope`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Scope {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) version: String,
}

/// `Metric`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Metric {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) description: String,
    #[prost(string, tag = "3")]
    pub(crate) unit: String,
    #[prost(oneof = "Data", tags = "5, 7, 10")]
    pub(crate) data: Option<Data>,
}

/// The data of a metric.
#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum Data {
    #[prost(message, tag = "5")]
    Gauge(Gauge),
    #[prost(message, tag = "7")]
    Sum(Sum),
    #[prost(message, tag = "10")]
    Exponential(Histogram),
}

/// `Gauge`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Gauge {
    #[prost(message, repeated, tag = "1")]
    pub(crate) points: Vec<NumberPoint>,
}

/// `Sum`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Sum {
    #[prost(message, repeated, tag = "1")]
    pub(crate) points: Vec<NumberPoint>,
    #[prost(int32, tag = "2")]
    pub(crate) temporality: i32,
    #[prost(bool, tag = "3")]
    pub(crate) is_monotonic: bool,
}

/// `NumberDataPoint`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct NumberPoint {
    #[prost(fixed64, tag = "2")]
    pub(crate) start: u64,
    #[prost(fixed64, tag = "3")]
    pub(crate) at: u64,
    #[prost(oneof = "PointValue", tags = "4, 6")]
    pub(crate) value: Option<PointValue>,
    #[prost(message, repeated, tag = "7")]
    pub(crate) attributes: Vec<Attribute>,
}

/// A number.
#[derive(Clone, Copy, PartialEq, Oneof)]
pub(crate) enum PointValue {
    #[prost(double, tag = "4")]
    Double(f64),
    #[prost(sfixed64, tag = "6")]
    Int(i64),
}

/// `ExponentialHistogram`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Histogram {
    #[prost(message, repeated, tag = "1")]
    pub(crate) points: Vec<HistogramPoint>,
    #[prost(int32, tag = "2")]
    pub(crate) temporality: i32,
}

/// `ExponentialHistogramDataPoint`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct HistogramPoint {
    #[prost(message, repeated, tag = "1")]
    pub(crate) attributes: Vec<Attribute>,
    #[prost(fixed64, tag = "2")]
    pub(crate) start: u64,
    #[prost(fixed64, tag = "3")]
    pub(crate) at: u64,
    #[prost(fixed64, tag = "4")]
    pub(crate) count: u64,
    #[prost(double, optional, tag = "5")]
    pub(crate) sum: Option<f64>,
    #[prost(sint32, tag = "6")]
    pub(crate) scale: i32,
    #[prost(fixed64, tag = "7")]
    pub(crate) zeros: u64,
    #[prost(message, optional, tag = "8")]
    pub(crate) positive: Option<Buckets>,
    #[prost(double, optional, tag = "12")]
    pub(crate) min: Option<f64>,
    #[prost(double, optional, tag = "13")]
    pub(crate) max: Option<f64>,
}

/// `ExponentialHistogramDataPoint.Buckets`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Buckets {
    #[prost(sint32, tag = "1")]
    pub(crate) offset: i32,
    #[prost(uint64, repeated, tag = "2")]
    pub(crate) counts: Vec<u64>,
}
