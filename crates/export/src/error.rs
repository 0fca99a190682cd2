//! What can be wrong: with what was typed, and with a far end.

use crate::bounds::{EXPORT_BYTES_MAX, EXPORTS_MAX, KINDS};

/// Why an export cannot begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// No export is called so.
    #[error("there is no export '{kind}'; there are: {known}", known = KINDS.join(", "))]
    Kind {
        /// As typed, up to the `=`.
        kind: String,
    },
    /// What stands behind the `=` is missing.
    #[error("{kind} needs a place: {kind}={example}")]
    NoPlace {
        /// Which export.
        kind: &'static str,
        /// How it is written.
        example: &'static str,
    },
    /// Something stands behind an export that has no place.
    #[error("{kind} takes no place: write {kind}")]
    NeedlessPlace {
        /// Which export.
        kind: &'static str,
    },
    /// No address and port.
    #[error("{kind} needs an address with a port, like {kind}={example}, not '{text}'")]
    Address {
        /// Which export.
        kind: &'static str,
        /// As typed.
        text: String,
        /// How it is written.
        example: &'static str,
    },
    /// No URL of HTTP.
    #[error("{kind} needs a URL of http or https, like {kind}={example}, not '{text}'")]
    Url {
        /// Which export.
        kind: &'static str,
        /// As typed, without its secrets.
        text: String,
        /// How it is written.
        example: &'static str,
    },
    /// The URL does not say into what InfluxDB should write.
    #[error("influx needs a database or a bucket: influx={text}/write?db=NAME, or /api/v2/write?org=ORG&bucket=NAME")]
    NoDatabase {
        /// The server, without secrets.
        text: String,
    },
    /// The text is longer than any place.
    #[error("the export is longer than {max} bytes", max = EXPORT_BYTES_MAX)]
    TooLong,
    /// Two exports would have one place.
    #[error("two exports would go to {place}")]
    Twice {
        /// The place, without secrets.
        place: String,
    },
    /// More exports than one run may have.
    #[error("one run has at most {max} exports", max = EXPORTS_MAX)]
    TooMany,
    /// A file or an address could not be opened before the load.
    #[error("{kind} cannot begin at {place}: {reason}")]
    Begin {
        /// Which export.
        kind: &'static str,
        /// The place, without secrets.
        place: String,
        /// What the system says.
        reason: String,
    },
    /// The page of a step of GitHub Actions is not known.
    #[error("github needs the environment of a GitHub Actions step: GITHUB_STEP_SUMMARY is not set")]
    NoStepSummary,
}

/// Why something did not arrive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeliveryFault {
    /// No complete answer in time.
    TimedOut,
    /// It could not be reached, or the connection broke.
    Unreachable(String),
    /// It answered with this status of HTTP, and said this.
    Status(u16, String),
    /// It took the message, but refused so many points, and said this.
    Rejected(u64, String),
    /// A file could not be written.
    File(String),
    /// Nobody has read the final figures.
    NotRead,
    /// More intervals waited than there is room for.
    Full,
}
