//! Encoding of the data that only some views use, except for the slowest exchanges, which have a section of their own.

use super::SnapshotError;
use super::number::{Reader, put, put_bytes};
use super::times;
use crate::{ROWS_MAX, Row, ToolDetails};

/// Writes nothing where it is empty.
pub(super) fn put_all(out: &mut Vec<u8>, tool_details: &ToolDetails) {
    if !tool_details.has_more_than_slowest() {
        return;
    }
    put(out, tool_details.first_length);
    put(out, tool_details.lengths_differ);
    times::put_times(out, &tool_details.reading);
    times::put_times(out, &tool_details.before);
    put(out, tool_details.rows_left_out);
    put_bytes(out, tool_details.head());
    tool_details.rows().iter().for_each(|row| put_row(out, row));
}

/// Reads up to the end of the section.
pub(super) fn read_all(from: &mut Reader<'_>) -> Result<ToolDetails, SnapshotError> {
    let mut tool_details = ToolDetails::default();
    (tool_details.first_length, tool_details.lengths_differ) = (from.number()?, from.amount()?);
    (tool_details.reading, tool_details.before) = (times::read(from)?, times::read(from)?);
    tool_details.rows_left_out = from.amount()?;
    tool_details.read_head(from.bytes()?);
    while !from.is_over() {
        from.must(tool_details.rows().len() < ROWS_MAX)?;
        tool_details.keep_row(read_row(from)?);
    }
    from.must(tool_details.has_more_than_slowest())?;
    Ok(tool_details)
}

fn put_row(out: &mut Vec<u8>, row: &Row) {
    let times = [row.start_ns, row.wait_ns, row.first_byte_ns, row.service_ns, row.response_ns];
    times.into_iter().for_each(|time| put(out, time));
    put(out, row.bytes);
    put(out, row.status.into());
    out.push(u8::from(row.is_answered));
}

fn read_row(from: &mut Reader<'_>) -> Result<Row, SnapshotError> {
    Ok(Row {
        start_ns: from.number()?,
        wait_ns: from.number()?,
        first_byte_ns: from.number()?,
        service_ns: from.number()?,
        response_ns: from.number()?,
        bytes: from.number()?,
        status: from.up_to(u16::MAX.into())? as u16,
        is_answered: from.flag()?,
    })
}
