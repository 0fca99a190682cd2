//! What happened: outcomes, distributions, counters, snapshots that merge exactly.
//!
//! A shard records into a [`Snapshot`] of its own and hands it over whole; nothing here is shared between threads.

mod blamed;
mod censored;
mod counts;
mod distribution;
mod held;
mod outcome;
mod sample;
mod snapshot;
mod threshold;

pub use blamed::Blamed;
pub use censored::{Censored, Percentile};
pub use counts::{Counts, STATUS_COUNT};
pub use distribution::{Bucket, Distribution, VALUE_NS_MAX};
pub use held::{Held, HeldCounts, HeldNow};
pub use outcome::{CLOSE_WITHOUT_CODE, Class, FAILURE_COUNT, Failure, GRPC_STATUSES, Outcome, ProtocolFault, TlsFault};
pub use sample::{Part, PartKind, ROWS_MAX, Row, SAMPLE_BODY_BYTES_MAX, SAMPLES_MAX, SHOWN_MAX, Sample};
pub use snapshot::{Ages, Measure, SERIES_MAX, SeriesKey, Snapshot, Timings};
pub use threshold::{Judgement, THRESHOLD_BYTES_MAX, Threshold, ThresholdError, ThresholdFault, Unit};

#[cfg(test)]
mod tests;
