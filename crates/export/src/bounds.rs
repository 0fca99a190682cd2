//! The kinds of exports, and their limits.

/// The kinds of exports.
pub const KINDS: [&str; 9] =
    ["prometheus", "remote-write", "otlp", "influx", "statsd", "dogstatsd", "csv", "junit", "github"];
/// The longest text of an export, in bytes.
pub const EXPORT_BYTES_MAX: usize = 8 * 1024;
/// The most exports of one run.
pub const EXPORTS_MAX: usize = 16;
