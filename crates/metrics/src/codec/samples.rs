//! Encoding of recorded exchanges, and of other texts.

use std::sync::Arc;

use super::SnapshotError;
use super::counts::{put_failure, read_failure};
use super::number::{Reader, put, put_bytes, put_option};
use crate::snapshot::SERVER_TEXTS_MAX;
use crate::{FailuresByHost, Outcome, Part, PartKind, SHOWN_MAX, Sample};

/// Writes each status or code, as its distance from the previous one, with its text.
pub(super) fn put_server_texts(out: &mut Vec<u8>, texts: &[(u16, Box<str>)]) {
    let mut next = 0;
    for (number, text) in texts {
        put(out, u64::from(*number) - next);
        put_bytes(out, text.as_bytes());
        next = u64::from(*number) + 1;
    }
}

pub(super) fn read_server_texts(from: &mut Reader<'_>) -> Result<Vec<(u16, Box<str>)>, SnapshotError> {
    let (mut texts, mut next) = (Vec::new(), 0);
    while !from.is_over() {
        next += from.index(usize::from(u16::MAX) + 1 - next)?;
        texts.push((next as u16, from.text()?.into()));
        from.must(texts.len() <= SERVER_TEXTS_MAX)?;
        next += 1;
    }
    Ok(texts)
}

/// Writes in the order of first occurrence, since later ones may have found no room.
pub(super) fn put_failures_by_host(out: &mut Vec<u8>, failures_by_host: &FailuresByHost) {
    for (failure, place, count) in failures_by_host.all() {
        put_failure(out, *failure);
        put_bytes(out, place.as_bytes());
        put(out, *count);
    }
}

pub(super) fn read_failures_by_host(from: &mut Reader<'_>) -> Result<FailuresByHost, SnapshotError> {
    let mut failures_by_host = FailuresByHost::default();
    while !from.is_over() {
        let (failure, place) = (read_failure(from)?, Arc::<str>::from(from.text()?));
        let (known, count) = (failures_by_host.all().len(), from.amount()?);
        failures_by_host.add(failure, &place, count);
        // Each pair occurs once, and there is room for it.
        from.must(failures_by_host.all().len() == known + 1)?;
    }
    Ok(failures_by_host)
}

pub(super) fn put_all(out: &mut Vec<u8>, samples: &[Sample]) {
    for sample in samples {
        put(out, sample.at_ns);
        put(out, sample.step.into());
        put_outcome(out, sample.outcome);
        put(out, sample.status.into());
        put_bytes(out, sample.reason.as_bytes());
        put_bytes(out, sample.place.as_bytes());
        put(out, sample.way.len() as u64);
        sample.way.iter().for_each(|line| put_bytes(out, line.as_bytes()));
        put(out, sample.parts.len() as u64);
        for part in &sample.parts {
            out.push(kind_number(part.kind) << 1 | u8::from(part.is_ours));
            put_bytes(out, &part.bytes);
        }
        put(out, sample.left_out);
        [sample.wait_ns, sample.first_byte_ns, sample.service_ns].into_iter().for_each(|time| put_option(out, time));
        out.push(u8::from(sample.is_shown));
    }
}

/// Reads up to the end of the section, in the order of their instants.
pub(super) fn read_all(from: &mut Reader<'_>) -> Result<Vec<Sample>, SnapshotError> {
    let (mut samples, mut last) = (Vec::new(), 0);
    while !from.is_over() {
        let sample = read_sample(from)?;
        from.must(sample.at_ns >= last && samples.len() < SHOWN_MAX)?;
        last = sample.at_ns;
        samples.push(sample);
    }
    Ok(samples)
}

fn read_sample(from: &mut Reader<'_>) -> Result<Sample, SnapshotError> {
    Ok(Sample {
        at_ns: from.number()?,
        step: from.up_to(u32::MAX.into())? as u32,
        outcome: read_outcome(from)?,
        status: from.up_to(u16::MAX.into())? as u16,
        reason: from.text()?.to_owned(),
        place: from.text()?.to_owned(),
        way: read_list(from, |from| from.text().map(str::to_owned))?,
        parts: read_list(from, read_part)?,
        left_out: from.number()?,
        wait_ns: from.option()?,
        first_byte_ns: from.option()?,
        service_ns: from.option()?,
        is_shown: from.flag()?,
    })
}

fn read_list<T>(
    from: &mut Reader<'_>,
    mut read: impl FnMut(&mut Reader<'_>) -> Result<T, SnapshotError>,
) -> Result<Vec<T>, SnapshotError> {
    let (count, mut items) = (from.length(usize::MAX)?, Vec::new());
    for _ in 0..count {
        items.push(read(from)?);
    }
    Ok(items)
}

fn read_part(from: &mut Reader<'_>) -> Result<Part, SnapshotError> {
    let byte = from.byte()?;
    let kind = KINDS.into_iter().find(|kind| kind_number(*kind) == byte >> 1).ok_or_else(|| from.damaged())?;
    Ok(Part { is_ours: byte & 1 == 1, kind, bytes: from.bytes()?.to_vec() })
}

const KINDS: [PartKind; 7] = [
    PartKind::Head,
    PartKind::Body,
    PartKind::Trailers,
    PartKind::Message,
    PartKind::Control,
    PartKind::Raw,
    PartKind::Taken,
];

/// The number of a kind; the numbers never change.
fn kind_number(kind: PartKind) -> u8 {
    match kind {
        PartKind::Head => 0,
        PartKind::Body => 1,
        PartKind::Trailers => 2,
        PartKind::Message => 3,
        PartKind::Control => 4,
        PartKind::Raw => 5,
        PartKind::Taken => 6,
    }
}

fn put_outcome(out: &mut Vec<u8>, outcome: Outcome) {
    match outcome {
        Outcome::Succeeded => out.push(0),
        Outcome::Failed(failure) => {
            out.push(1);
            put_failure(out, failure);
        }
    }
}

fn read_outcome(from: &mut Reader<'_>) -> Result<Outcome, SnapshotError> {
    if from.flag()? { read_failure(from).map(Outcome::Failed) } else { Ok(Outcome::Succeeded) }
}
