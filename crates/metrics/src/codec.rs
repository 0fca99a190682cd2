//! The encoding of a snapshot as bytes, for other processes and for files.
//!
//! The format is a magic number, a version, then sections: a number, a length, and the content. Sections are in the
//! order of their numbers, and empty ones are left out, so that equal snapshots are equal bytes; a zero is the end.
//! Numbers take seven bits per byte, the lowest first. The input may come from anywhere: every value is validated.
//!
//! Counters and failures are written by the numbers of their rows. Each new row raises [`SNAPSHOT_VERSION`]; written
//! numbers keep their meaning for ever, so new rows take free ones. Failures of custom protocols, whose numbers are
//! those of one process, are written by their names.

mod addresses;
mod counts;
mod custom;
mod held;
mod number;
mod own_figures;
mod samples;
mod series;
mod times;
mod tool_details;
mod traced;

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use number::{Reader, put};

use crate::outcome::CUSTOM_FIRST;
use crate::{Counter, Failure, Snapshot};

/// The version of the format itself, beside the rows that it had then.
const FORMAT_VERSION: u64 = 7;
const FORMAT_ROWS: usize = 127;
/// The version that is written, and the highest that is read: each row of counters and failures that is new raises it.
pub const SNAPSHOT_VERSION: u64 = FORMAT_VERSION + (Counter::ALL.len() + Failure::ROWS - FORMAT_ROWS) as u64;
/// The most bytes that are read as one snapshot: enough for the maximum number of single exchanges.
pub const SNAPSHOT_BYTES_MAX: usize = 1 << 30;
/// The most heap that each byte of a snapshot may cause when it is read, in addition to [`DECODED_BYTES_FIXED`]. The
/// worst case is times of which each begins a page, or a series, of its own.
pub const DECODED_BYTES_PER_BYTE: usize = 512;
/// The heap of an empty snapshot.
pub const DECODED_BYTES_FIXED: usize = 128 * 1024;
/// The magic number at the start of every snapshot.
const MARK: &[u8; 8] = b"onrush/s";
/// The end mark, in the place of a section number: a snapshot cut between two sections is not a valid smaller one.
const END: u8 = 0;

/// The reason why bytes are no snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// They do not begin with the magic number.
    #[error("this is not a snapshot of onrush; use a file or a connection of onrush itself")]
    Mark,
    /// They were written by a later onrush.
    #[error(
        "this snapshot is of version {found}, this onrush reads up to {SNAPSHOT_VERSION}; use the later onrush here too"
    )]
    Version {
        /// The version of the bytes.
        found: u64,
    },
    /// There are more of them than [`SNAPSHOT_BYTES_MAX`].
    #[error("this snapshot has {bytes} bytes, at most {SNAPSHOT_BYTES_MAX} are read; keep fewer single requests")]
    TooLong {
        /// The number of bytes.
        bytes: usize,
    },
    /// They are truncated.
    #[error("this snapshot is cut short; write it or send it again")]
    Cut,
    /// It has a failure of a custom protocol that is not registered.
    #[error(
        "this snapshot has a failure of a protocol that this onrush does not have: {failure}; use an onrush with that protocol"
    )]
    Protocol {
        /// The name of the failure.
        failure: String,
    },
    /// A value is invalid.
    #[error("this snapshot is damaged, {left} bytes before its end; write it or send it again")]
    Damaged {
        /// The position, as the number of bytes left.
        left: usize,
    },
}

/// A section of a snapshot. The numbers never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Section {
    Counters = 1,
    Statuses = 2,
    GrpcStatuses = 3,
    Closes = 4,
    Failures = 5,
    Connect = 6,
    Tls = 7,
    Message = 8,
    MessageGivenUp = 9,
    MessageGap = 10,
    DroppedAfter = 11,
    Lag = 12,
    Chains = 13,
    StallAffected = 14,
    Thread = 15,
    Gauges = 16,
    ServerTexts = 17,
    FailuresByHost = 18,
    Samples = 19,
    ToolDetails = 20,
    Series = 21,
    SeriesFailures = 22,
    Slowest = 23,
    Traces = 24,
    LostAfter = 25,
    ByAddress = 26,
    ProxyTunnel = 27,
    CustomFailures = 28,
    StatusWords = 29,
    Checks = 30,
    MissedDeadlines = 31,
    OwnFigures = 32,
    Retried = 33,
}

impl Section {
    const ALL: [Self; 33] = [
        Self::Counters,
        Self::Statuses,
        Self::GrpcStatuses,
        Self::Closes,
        Self::Failures,
        Self::Connect,
        Self::Tls,
        Self::Message,
        Self::MessageGivenUp,
        Self::MessageGap,
        Self::DroppedAfter,
        Self::Lag,
        Self::Chains,
        Self::StallAffected,
        Self::Thread,
        Self::Gauges,
        Self::ServerTexts,
        Self::FailuresByHost,
        Self::Samples,
        Self::ToolDetails,
        Self::Series,
        Self::SeriesFailures,
        Self::Slowest,
        Self::Traces,
        Self::LostAfter,
        Self::ByAddress,
        Self::ProxyTunnel,
        Self::CustomFailures,
        Self::StatusWords,
        Self::Checks,
        Self::MissedDeadlines,
        Self::OwnFigures,
        Self::Retried,
    ];

    fn put(self, seen: &Snapshot, out: &mut Vec<u8>) {
        let counts = &seen.counts;
        match self {
            Self::Counters => counts::put_sparse(out, counts.counters.values()),
            Self::Statuses => counts::put_sparse(out, &counts.statuses[..]),
            Self::GrpcStatuses => counts::put_sparse(out, &counts.grpc_statuses),
            Self::Closes => counts::put_closes(out, &counts.closes),
            Self::Failures => counts::put_sparse(out, &counts.failures[..CUSTOM_FIRST]),
            Self::Connect => times::put_section(out, &seen.connect),
            Self::Tls => times::put_section(out, &seen.tls),
            Self::Message => times::put_section(out, &seen.message),
            Self::MessageGivenUp => times::put_section(out, &seen.message_incomplete),
            Self::MessageGap => times::put_section(out, &seen.message_gap),
            Self::DroppedAfter => times::put_section(out, &seen.dropped_after),
            Self::Lag => times::put_section(out, &seen.lag),
            Self::Chains => times::put_section(out, &seen.chains),
            Self::StallAffected => {
                seen.stall_affected().into_iter().for_each(|stall_affected| times::put_section(out, stall_affected))
            }
            Self::Thread => counts::put_sparse(out, &[seen.stalled_ns, seen.cpu_ns, seen.run_delay_ns]),
            Self::Gauges => times::put_gauges(out, &seen.gauges),
            Self::ServerTexts => samples::put_server_texts(out, &seen.server_texts),
            Self::FailuresByHost => samples::put_failures_by_host(out, &seen.failures_by_host),
            Self::Samples => samples::put_all(out, &seen.samples),
            Self::ToolDetails => tool_details::put_all(out, &seen.tool_details),
            Self::Series => series::put_timings(out, &seen.table),
            Self::SeriesFailures => series::put_failures(out, &seen.table),
            Self::Slowest => traced::put_slowest(out, &seen.tool_details.slowest),
            Self::Traces => traced::put_traces(out, &seen.tool_details.slowest),
            Self::LostAfter => times::put_ages(out, &seen.lost_after),
            Self::ByAddress => addresses::put_all(out, &seen.by_address),
            Self::ProxyTunnel => times::put_section(out, &seen.proxy_tunnel),
            Self::CustomFailures => custom::put_failures(out, &counts.failures[..], &seen.table),
            Self::StatusWords => counts::put_status_words(out, &counts.status_words),
            Self::Checks => series::put_checks(out, &seen.table),
            Self::MissedDeadlines => series::put_counts(out, &seen.table.missed),
            Self::OwnFigures => own_figures::put_all(out, &seen.own),
            Self::Retried => series::put_counts(out, &seen.table.retried),
        }
    }

    fn read(self, seen: &mut Snapshot, from: &mut Reader<'_>) -> Result<(), SnapshotError> {
        let counts = &mut seen.counts;
        match self {
            Self::Counters => counts::read_sparse(from, counts.counters.values_mut())?,
            Self::Statuses => counts::read_sparse(from, &mut counts.statuses[..])?,
            Self::GrpcStatuses => counts::read_sparse(from, &mut counts.grpc_statuses)?,
            Self::Closes => counts.closes = counts::read_closes(from)?,
            Self::Failures => {
                counts::read_sparse(from, &mut counts.failures[..CUSTOM_FIRST])?;
                from.must(counts::are_failures(&counts.failures[..]))?;
            }
            Self::Connect => seen.connect = times::read_section(from)?,
            Self::Tls => seen.tls = times::read_section(from)?,
            Self::Message => seen.message = times::read_section(from)?,
            Self::MessageGivenUp => seen.message_incomplete = times::read_section(from)?,
            Self::MessageGap => seen.message_gap = times::read_section(from)?,
            Self::DroppedAfter => seen.dropped_after = times::read_section(from)?,
            Self::Lag => seen.lag = times::read_section(from)?,
            Self::Chains => seen.chains = times::read_section(from)?,
            Self::StallAffected => seen.stall_affected = Some(Box::new(times::read_section(from)?)),
            Self::Thread => {
                let mut values = [0; 3];
                counts::read_sparse(from, &mut values)?;
                [seen.stalled_ns, seen.cpu_ns, seen.run_delay_ns] = values;
            }
            Self::Gauges => seen.gauges = times::read_gauges(from)?,
            Self::ServerTexts => seen.server_texts = samples::read_server_texts(from)?,
            Self::FailuresByHost => seen.failures_by_host = samples::read_failures_by_host(from)?,
            Self::Samples => seen.samples = samples::read_all(from)?,
            Self::ToolDetails => seen.tool_details = tool_details::read_all(from)?,
            Self::Series => series::read_timings(from, &mut seen.table)?,
            Self::SeriesFailures => series::read_failures(from, &mut seen.table)?,
            Self::Slowest => seen.tool_details.slowest = traced::read_slowest(from)?,
            Self::Traces => {
                seen.tool_details.slowest = traced::read_traces(&seen.tool_details.slowest, from)?;
            }
            Self::LostAfter => seen.lost_after = times::read_ages(from)?,
            Self::ByAddress => seen.by_address = addresses::read_all(from)?,
            Self::ProxyTunnel => seen.proxy_tunnel = times::read_section(from)?,
            Self::CustomFailures => custom::read_failures(from, &mut counts.failures[..], &mut seen.table)?,
            Self::StatusWords => counts.status_words = counts::read_status_words(from)?,
            Self::Checks => series::read_checks(from, &mut seen.table)?,
            Self::MissedDeadlines => series::read_counts(from, &mut seen.table.missed)?,
            Self::OwnFigures => own_figures::read_all(from, &mut seen.own)?,
            Self::Retried => series::read_counts(from, &mut seen.table.retried)?,
        }
        Ok(())
    }
}

impl Snapshot {
    /// Appends the snapshot to `out`. Equal snapshots give equal bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let of = |number: u8| Section::ALL[usize::from(number) - 1];
        write_sections(MARK, 1..=Section::ALL.len() as u8, out, |number, out| of(number).put(self, out));
    }

    /// Decodes what [`Snapshot::encode`] wrote, all of `bytes`.
    ///
    /// # Errors
    /// The bytes are no snapshot, or one of a later version.
    pub fn decode(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let mut seen = Self::default();
        read_sections(MARK, bytes, |number, from| {
            let section = Section::ALL.into_iter().find(|section| *section as u8 == number);
            section.ok_or_else(|| from.damaged())?.read(&mut seen, from)
        })?;
        Ok(seen)
    }
}

/// Writes a magic number, a version and the sections of these numbers; empty ones are left out.
fn write_sections(mark: &[u8; 8], numbers: RangeInclusive<u8>, out: &mut Vec<u8>, put_one: impl Fn(u8, &mut Vec<u8>)) {
    out.extend_from_slice(mark);
    put(out, SNAPSHOT_VERSION);
    let mut content = Vec::new();
    for number in numbers {
        content.clear();
        put_one(number, &mut content);
        if !content.is_empty() {
            out.push(number);
            put(out, content.len() as u64);
            out.extend_from_slice(&content);
        }
    }
    out.push(END);
}

/// Reads the sections, in the order of their numbers, up to the end of all bytes.
fn read_sections(
    mark: &[u8; 8],
    bytes: &[u8],
    mut read: impl FnMut(u8, &mut Reader<'_>) -> Result<(), SnapshotError>,
) -> Result<(), SnapshotError> {
    if bytes.len() > SNAPSHOT_BYTES_MAX {
        return Err(SnapshotError::TooLong { bytes: bytes.len() });
    }
    let mut from = Reader::new(bytes);
    let known = mark.len().min(bytes.len());
    if bytes[..known] != mark[..known] {
        return Err(SnapshotError::Mark);
    }
    from.take(mark.len())?;
    let version = from.number()?;
    if version > SNAPSHOT_VERSION {
        return Err(SnapshotError::Version { found: version });
    }
    from.must(version > 0)?;
    let mut last = 0;
    loop {
        let number = from.byte()?;
        if number == END {
            return from.must(from.is_over());
        }
        from.must(number > last)?;
        let length = from.length(usize::MAX)?;
        let mut content = from.part(length)?;
        read(number, &mut content)?;
        // The encoding is unique: a present section is not empty, and has no trailing bytes.
        content.must(length > 0 && content.is_over())?;
        last = number;
    }
}
