//! Measurements: outcomes, distributions, counters, snapshots that merge exactly.
//!
//! A shard records into its own [`Snapshot`] and hands it over whole; nothing here is shared between threads. Nothing
//! here reads a clock, owns a socket or takes a lock. Counters and failures keep their index in encoded snapshots for
//! ever.
//!
//! - `outcome`: how an exchange ended, and all failures; `counter`: the counters of a snapshot
//! - `distribution`: histograms; no percentile is above the maximum; sum, minimum and maximum are exact
//! - `percentiles`: percentiles with requests that did not complete (right-censored observations)
//! - `threshold`: limits of figures, and whether they hold for every value that a figure may have
//! - `catalog`: the series of a run (steps, transactions and custom values), each with an id; `table` holds their
//!   times
//! - `own_figures`: figures that users define: counters, trends, shares and gauges
//! - `codec`: a snapshot as bytes, with a version; `golden/` has one of each version, and all of them stay readable
//! - `status_words`: responses by a status that is a word
//! - `failures_by_host`: failures by host; `by_address`: measurements by address; `held`: counters of held connections

#[cfg(test)]
#[macro_use]
extern crate claims;

mod by_address;
mod catalog;
mod codec;
mod counter;
mod counts;
mod distribution;
mod failures_by_host;
mod gauges;
mod held;
mod outcome;
mod own_figures;
mod percentiles;
mod request_record;
mod sample;
mod series_counts;
mod snapshot;
mod status_words;
mod table;
mod threshold;
mod timings;
mod tool_details;

pub use by_address::{ADDRESS_RESPONSES_MIN, ADDRESSES_MAX, AddressSlots, AddressTally, ByAddress};
pub use catalog::{Catalog, Named, SERIES_MAX, Series, SeriesId, SeriesKind};
pub use codec::{DECODED_BYTES_FIXED, DECODED_BYTES_PER_BYTE, SNAPSHOT_BYTES_MAX, SNAPSHOT_VERSION, SnapshotError};
pub use counter::{CountRow, Counter, Counters, HeldCounter, HeldCounters, Metric, View};
pub use counts::{Counts, STATUS_COUNT};
pub use distribution::{Bucket, Distribution, VALUE_NS_MAX};
pub use failures_by_host::FailuresByHost;
pub use gauges::{Gauges, InFlightAges};
pub use held::{Held, HeldCounts, HeldNow};
pub use outcome::{
    CLOSE_WITHOUT_CODE, CUSTOM_FAILURES_EACH, Class, CustomFailure, FAILURE_COUNT, Failure, GRPC_STATUSES, Outcome,
    ProtocolFault, Stage, TlsFault, register_failures,
};
pub use own_figures::{OWN_FIGURES_MAX, OwnFigure, OwnGauge, OwnInput, OwnKind, OwnTotal, OwnValue, Trend};
pub use percentiles::{Censored, Percentile};
pub use sample::{Part, PartKind, ROWS_MAX, Row, SAMPLE_BODY_BYTES_MAX, SAMPLES_MAX, SHOWN_MAX, Sample};
pub use snapshot::Snapshot;
pub use status_words::{STATUS_OTHER, STATUS_WORD_BYTES_MAX, STATUS_WORDS_MAX};
pub use table::CheckCounts;
pub use threshold::{
    AddressLack, GoalMisses, Judgement, NamedPart, THRESHOLD_BYTES_MAX, Threshold, ThresholdError, ThresholdFault,
    Unit, is_known_figure,
};
pub use timings::{Measure, Timings};
pub use tool_details::ToolDetails;

#[cfg(test)]
mod tests;
pub use request_record::{RequestRecord, RequestRecordEnd, SLOWEST_MAX, Slowest};
