//! What exports there are, and how many.

/// The exports that there are.
pub const KINDS: [&str; 9] =
    ["prometheus", "remote-write", "otlp", "influx", "statsd", "dogstatsd", "csv", "junit", "github"];
/// The longest text of an export.
pub const EXPORT_BYTES_MAX: usize = 8 * 1024;
/// Exports of one run.
pub const EXPORTS_MAX: usize = 16;
