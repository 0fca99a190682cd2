//! How a snapshot is written as bytes, for other processes and for files, and read again.
//!
//! A mark, a version, then sections: a number, a length, and what is in it. Sections stand in the order of their numbers, and what is
//! empty is left out, so that equal snapshots are equal bytes; a zero is the end. Numbers take seven bits a byte, the lowest first. What is read may come
//! from anywhere: nothing is believed that cannot be.
//!
//! Counters and failures are written by their place in their tables. When one is added, [`SNAPSHOT_VERSION`] is raised; places that
//! were written once keep their meaning for ever, so what is new goes behind what is there.

mod counts;
mod held;
mod number;
mod particulars;
mod samples;
mod series;
mod times;
mod traced;

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use number::{Reader, put};

use crate::Snapshot;

/// The version that is written, and the highest that is read.
pub const SNAPSHOT_VERSION: u64 = 4;
/// The most bytes that are read as one snapshot: enough for as many exchanges by themselves as are kept.
pub const SNAPSHOT_BYTES_MAX: usize = 1 << 30;
/// The most heap that each byte of a snapshot may lead to when it is read, beside [`DECODED_BYTES_FIXED`]. Worst are times of which each
/// begins a page, or a series, of its own.
pub const DECODED_BYTES_PER_BYTE: usize = 512;
/// The heap of a snapshot in which nothing happened.
pub const DECODED_BYTES_FIXED: usize = 128 * 1024;
/// What every snapshot begins with.
const MARK: &[u8; 8] = b"onrush/s";
/// What stands where a section would begin, and ends a snapshot: one that was cut between two sections is no smaller one.
const END: u8 = 0;

/// Why bytes are no snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    /// They begin with something else.
    #[error("this is not a snapshot of onrush; use a file or a connection of onrush itself")]
    Mark,
    /// They were written by a later onrush.
    #[error(
        "this snapshot is of version {found}, this onrush reads up to {SNAPSHOT_VERSION}; use the later onrush here too"
    )]
    Version {
        /// Theirs.
        found: u64,
    },
    /// There are more of them than [`SNAPSHOT_BYTES_MAX`].
    #[error("this snapshot has {bytes} bytes, at most {SNAPSHOT_BYTES_MAX} are read; keep fewer single requests")]
    TooLong {
        /// How many.
        bytes: usize,
    },
    /// They end before the snapshot does.
    #[error("this snapshot is cut short; write it or send it again")]
    Cut,
    /// They say what cannot be.
    #[error("this snapshot is damaged, {left} bytes before its end; write it or send it again")]
    Damaged {
        /// Where it was seen.
        left: usize,
    },
}

/// A part of a snapshot that is written by itself. The numbers stay as they are.
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
    Covered = 14,
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
}

impl Section {
    const ALL: [Self; 25] = [
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
        Self::Covered,
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
    ];

    fn put(self, seen: &Snapshot, out: &mut Vec<u8>) {
        let counts = &seen.counts;
        match self {
            Self::Counters => counts::put_sparse(out, counts.counters.values()),
            Self::Statuses => counts::put_sparse(out, &counts.statuses[..]),
            Self::GrpcStatuses => counts::put_sparse(out, &counts.grpc_statuses),
            Self::Closes => counts::put_closes(out, &counts.closes),
            Self::Failures => counts::put_sparse(out, &counts.failures[..]),
            Self::Connect => times::put_section(out, &seen.connect),
            Self::Tls => times::put_section(out, &seen.tls),
            Self::Message => times::put_section(out, &seen.message),
            Self::MessageGivenUp => times::put_section(out, &seen.message_incomplete),
            Self::MessageGap => times::put_section(out, &seen.message_gap),
            Self::DroppedAfter => times::put_section(out, &seen.dropped_after),
            Self::Lag => times::put_section(out, &seen.lag),
            Self::Chains => times::put_section(out, &seen.chains),
            Self::Covered => seen.covered().into_iter().for_each(|covered| times::put_section(out, covered)),
            Self::Thread => counts::put_sparse(out, &[seen.stalled_ns, seen.cpu_ns, seen.run_delay_ns]),
            Self::Gauges => times::put_gauges(out, &seen.gauges),
            Self::ServerTexts => samples::put_server_texts(out, &seen.server_texts),
            Self::FailuresByHost => samples::put_blamed(out, &seen.blamed),
            Self::Samples => samples::put_all(out, &seen.samples),
            Self::ToolDetails => particulars::put_all(out, &seen.particulars),
            Self::Series => series::put_timings(out, &seen.table),
            Self::SeriesFailures => series::put_failures(out, &seen.table),
            Self::Slowest => traced::put_slowest(out, &seen.particulars.slowest),
            Self::Traces => traced::put_traces(out, &seen.particulars.slowest),
            Self::LostAfter => times::put_ages(out, &seen.lost_after),
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
                counts::read_sparse(from, &mut counts.failures[..])?;
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
            Self::Covered => seen.covered = Some(Box::new(times::read_section(from)?)),
            Self::Thread => {
                let mut values = [0; 3];
                counts::read_sparse(from, &mut values)?;
                [seen.stalled_ns, seen.cpu_ns, seen.run_delay_ns] = values;
            }
            Self::Gauges => seen.gauges = times::read_gauges(from)?,
            Self::ServerTexts => seen.server_texts = samples::read_server_texts(from)?,
            Self::FailuresByHost => seen.blamed = samples::read_blamed(from)?,
            Self::Samples => seen.samples = samples::read_all(from)?,
            Self::ToolDetails => seen.particulars = particulars::read_all(from)?,
            Self::Series => series::read_timings(from, &mut seen.table)?,
            Self::SeriesFailures => series::read_failures(from, &mut seen.table)?,
            Self::Slowest => seen.particulars.slowest = traced::read_slowest(from)?,
            Self::Traces => {
                seen.particulars.slowest = traced::read_traces(&seen.particulars.slowest, from)?;
            }
            Self::LostAfter => seen.lost_after = times::read_ages(from)?,
        }
        Ok(())
    }
}

impl Snapshot {
    /// Writes it behind `out`. Equal snapshots give equal bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let of = |number: u8| Section::ALL[usize::from(number) - 1];
        write_sections(MARK, 1..=Section::ALL.len() as u8, out, |number, out| of(number).put(self, out));
    }

    /// Reads what [`Snapshot::encode`] wrote, all of `bytes`.
    ///
    /// # Errors
    /// When they are no snapshot, or one of a later version.
    pub fn decode(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let mut seen = Self::default();
        read_sections(MARK, bytes, |number, from| {
            let section = Section::ALL.into_iter().find(|section| *section as u8 == number);
            section.ok_or_else(|| from.damaged())?.read(&mut seen, from)
        })?;
        Ok(seen)
    }
}

/// Behind a mark and a version, the sections of these numbers; one that is empty is left out.
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

/// The sections, in the order of their numbers, up to the end of all bytes.
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
        // One way to write each: a section that is there is not empty, and nothing lies behind what it says.
        content.must(length > 0 && content.is_over())?;
        last = number;
    }
}
