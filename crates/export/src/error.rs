//! Errors of what was typed, and of delivery.

use crate::bounds::{EXPORT_BYTES_MAX, EXPORTS_MAX, KINDS};

/// The reason why an export cannot begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// No export has this name.
    #[error("there is no export '{kind}'; there are: {known}", known = KINDS.join(", "))]
    Kind {
        /// The name as typed, up to the `=`.
        kind: String,
    },
    /// The destination after the `=` is missing.
    #[error("{kind} needs a place: {kind}={example}")]
    NoPlace {
        /// The kind of the export.
        kind: &'static str,
        /// An example of the right form.
        example: &'static str,
    },
    /// A destination is given for an export that has none.
    #[error("{kind} takes no place: write {kind}")]
    NeedlessPlace {
        /// The kind of the export.
        kind: &'static str,
    },
    /// The destination is not an address and port.
    #[error("{kind} needs an address with a port, like {kind}={example}, not '{text}'")]
    Address {
        /// The kind of the export.
        kind: &'static str,
        /// The text as typed.
        text: String,
        /// An example of the right form.
        example: &'static str,
    },
    /// The destination is not an HTTP URL.
    #[error("{kind} needs a URL of http or https, like {kind}={example}, not '{text}'")]
    Url {
        /// The kind of the export.
        kind: &'static str,
        /// The text as typed, without its secrets.
        text: String,
        /// An example of the right form.
        example: &'static str,
    },
    /// The URL names no database or bucket for InfluxDB to write into.
    #[error("influx needs a database or a bucket: influx={text}/write?db=NAME, or /api/v2/write?org=ORG&bucket=NAME")]
    NoDatabase {
        /// The server, without secrets.
        text: String,
    },
    /// The text is longer than any destination.
    #[error("the export is longer than {max} bytes", max = EXPORT_BYTES_MAX)]
    TooLong,
    /// Two exports have one destination.
    #[error("two exports would go to {place}")]
    Twice {
        /// The destination, without secrets.
        place: String,
    },
    /// More exports than one run may have.
    #[error("one run has at most {max} exports", max = EXPORTS_MAX)]
    TooMany,
    /// A file or an address could not be opened before the load.
    #[error("{kind} cannot begin at {place}: {reason}")]
    Begin {
        /// The kind of the export.
        kind: &'static str,
        /// The destination, without secrets.
        place: String,
        /// The error of the system.
        reason: String,
    },
    /// The summary file of the GitHub Actions step is unknown.
    #[error("github needs the environment of a GitHub Actions step: GITHUB_STEP_SUMMARY is not set")]
    NoStepSummary,
}

/// The reason why something was not delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryFault {
    /// No complete response in time.
    TimedOut,
    /// The server could not be reached, or the connection broke.
    Unreachable(String),
    /// The server responded with this HTTP status and this text.
    Status(u16, String),
    /// The server accepted the message, but rejected this number of points, with this text.
    Rejected(u64, String),
    /// A file could not be written.
    File(String),
    /// No scraper has read the final figures.
    NotRead,
    /// The queue was full.
    Full,
}
