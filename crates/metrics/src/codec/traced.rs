//! Encoding of single exchanges with their instants.

use super::SnapshotError;
use super::counts::{put_failure, read_failure};
use super::number::{Reader, put, put_option};
use crate::{RequestRecord, RequestRecordEnd, SLOWEST_MAX, Slowest};

/// Writes the limit, then each exchange, the slowest first; nothing without any.
pub(super) fn put_slowest(out: &mut Vec<u8>, slowest: &Slowest) {
    if !slowest.is_empty() {
        put(out, slowest.most() as u64);
        slowest.sorted().iter().for_each(|traced| put_traced(out, traced));
    }
}

/// Reads up to the end of the section.
pub(super) fn read_slowest(from: &mut Reader<'_>) -> Result<Slowest, SnapshotError> {
    let (most, mut sorted) = (from.up_to(SLOWEST_MAX as u64)? as usize, Vec::new());
    while !from.is_over() {
        from.must(sorted.len() < most)?;
        sorted.push(read_traced(from)?);
    }
    Slowest::from_sorted(sorted, most).ok_or_else(|| from.damaged())
}

/// Writes the traces of the exchanges, the slowest first; nothing where none has one.
pub(super) fn put_traces(out: &mut Vec<u8>, slowest: &Slowest) {
    let sorted = slowest.sorted();
    if sorted.iter().any(|traced| traced.trace != 0) {
        sorted.iter().for_each(|traced| out.extend_from_slice(&traced.trace.to_be_bytes()));
    }
}

/// Reads up to the end of the section, for the exchanges that were read before.
pub(super) fn read_traces(slowest: &Slowest, from: &mut Reader<'_>) -> Result<Slowest, SnapshotError> {
    let mut traces = Vec::new();
    while !from.is_over() {
        from.must(traces.len() < SLOWEST_MAX)?;
        let bytes: [u8; 16] = from.take(16)?.try_into().map_err(|_| from.damaged())?;
        traces.push(u128::from_be_bytes(bytes));
    }
    from.must(traces.iter().any(|trace| *trace != 0))?;
    slowest.with_traces(&traces).ok_or_else(|| from.damaged())
}

fn put_traced(out: &mut Vec<u8>, traced: &RequestRecord) {
    [traced.intended_ns, traced.response_ns, traced.lateness_ns].into_iter().for_each(|time| put(out, time));
    [traced.wait_ns, traced.service_ns, traced.first_byte_ns].into_iter().for_each(|time| put_option(out, time));
    [traced.body_bytes, traced.step, traced.shard].into_iter().for_each(|number| put(out, number.into()));
    put(out, traced.status.into());
    put_end(out, traced.end);
    out.push(u8::from(traced.is_connection_new));
}

fn read_traced(from: &mut Reader<'_>) -> Result<RequestRecord, SnapshotError> {
    let short = |from: &mut Reader<'_>| from.up_to(u32::MAX.into()).map(|number| number as u32);
    Ok(RequestRecord {
        intended_ns: from.number()?,
        response_ns: from.number()?,
        lateness_ns: from.number()?,
        wait_ns: from.option()?,
        service_ns: from.option()?,
        first_byte_ns: from.option()?,
        body_bytes: short(from)?,
        step: short(from)?,
        shard: short(from)?,
        status: from.up_to(u16::MAX.into())? as u16,
        end: read_end(from)?,
        is_connection_new: from.flag()?,
        trace: 0,
    })
}

/// Writes an end; the numbers of the ends never change.
fn put_end(out: &mut Vec<u8>, end: RequestRecordEnd) {
    match end {
        RequestRecordEnd::Succeeded => out.push(0),
        RequestRecordEnd::Failed(failure) => {
            out.push(1);
            put_failure(out, failure);
        }
        RequestRecordEnd::Unfinished => out.push(2),
        RequestRecordEnd::Dropped => out.push(3),
    }
}

fn read_end(from: &mut Reader<'_>) -> Result<RequestRecordEnd, SnapshotError> {
    match from.byte()? {
        0 => Ok(RequestRecordEnd::Succeeded),
        1 => read_failure(from).map(RequestRecordEnd::Failed),
        2 => Ok(RequestRecordEnd::Unfinished),
        3 => Ok(RequestRecordEnd::Dropped),
        _ => Err(from.damaged()),
    }
}
