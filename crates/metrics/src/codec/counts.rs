//! Encoding of counter tables and failures.

use std::collections::BTreeMap;

use super::SnapshotError;
use super::custom::{put_name, read_name};
use super::number::{Reader, put, put_bytes};
use crate::outcome::CUSTOM_FIRST;
use crate::status_words::{StatusWords, shown};
use crate::{Failure, STATUS_OTHER, STATUS_WORDS_MAX};

/// Writes the non-zero numbers, each after the number of zeros before it; nothing where all are zero.
pub(super) fn put_sparse(out: &mut Vec<u8>, numbers: &[u64]) {
    let mut zeros = 0;
    for &number in numbers {
        if number == 0 {
            zeros += 1;
        } else {
            put(out, std::mem::take(&mut zeros));
            put(out, number);
        }
    }
}

/// Reads up to the end of the section.
pub(super) fn read_sparse(from: &mut Reader<'_>, numbers: &mut [u64]) -> Result<(), SnapshotError> {
    let mut place = 0;
    while !from.is_over() {
        place += from.index(numbers.len() - place)?;
        numbers[place] = from.amount()?;
        from.must(numbers[place] > 0)?;
        place += 1;
    }
    Ok(())
}

/// Whether only existing failures have counts.
pub(super) fn are_failures(counters: &[u64]) -> bool {
    counters.iter().enumerate().all(|(index, count)| *count == 0 || Failure::from_index(index).is_some())
}

/// Writes each code, as its distance from the previous one, with its count.
pub(super) fn put_closes(out: &mut Vec<u8>, closes: &BTreeMap<u16, u64>) {
    let mut next = 0;
    for (&code, &number) in closes {
        put(out, u64::from(code) - next);
        put(out, number);
        next = u64::from(code) + 1;
    }
}

pub(super) fn read_closes(from: &mut Reader<'_>) -> Result<BTreeMap<u16, u64>, SnapshotError> {
    let (mut closes, mut next) = (BTreeMap::new(), 0);
    while !from.is_over() {
        next += from.index(usize::from(u16::MAX) + 1 - next)?;
        closes.insert(next as u16, from.amount()?);
        next += 1;
    }
    Ok(closes)
}

/// Writes each word with its count; that of all others is last.
pub(super) fn put_status_words(out: &mut Vec<u8>, words: &StatusWords) {
    for (word, count) in words.all() {
        put_bytes(out, word.as_bytes());
        put(out, count);
    }
}

pub(super) fn read_status_words(from: &mut Reader<'_>) -> Result<StatusWords, SnapshotError> {
    let (mut words, mut last, mut are_over) = (StatusWords::default(), "", false);
    let mut known = 0;
    while !from.is_over() {
        let (word, count) = (from.text()?, from.amount()?);
        from.must(!are_over && count > 0 && shown(word) == word)?;
        are_over = word == STATUS_OTHER;
        if !are_over {
            from.must(last < word && known < STATUS_WORDS_MAX)?;
            (last, known) = (word, known + 1);
        }
        words.count(word, count);
    }
    Ok(words)
}

/// Writes a failure with its number: several may share one counter. That of a custom protocol is written by its name,
/// after the first of their numbers.
pub(super) fn put_failure(out: &mut Vec<u8>, failure: Failure) {
    if let Failure::Custom(_) = failure {
        put(out, CUSTOM_FIRST as u64);
        return put_name(out, failure);
    }
    put(out, failure.index() as u64);
    let number = match failure {
        Failure::StreamReset(number) | Failure::GrpcStatus(number) | Failure::CallHttp(number) => u64::from(number),
        Failure::WebSocketClose(number) | Failure::Os(number) => u64::from(number),
        _ => return,
    };
    put(out, number);
}

pub(super) fn read_failure(from: &mut Reader<'_>) -> Result<Failure, SnapshotError> {
    let index = from.index(CUSTOM_FIRST + 1)?;
    if index == CUSTOM_FIRST {
        return read_name(from);
    }
    let known = Failure::from_index(index).ok_or_else(|| from.damaged())?;
    let mut short = || from.up_to(u8::MAX.into()).map(|number| number as u8);
    let failure = match known {
        Failure::StreamReset(_) => Failure::StreamReset(short()?),
        Failure::GrpcStatus(_) => Failure::GrpcStatus(short()?),
        Failure::CallHttp(_) => Failure::CallHttp(short()?),
        Failure::WebSocketClose(_) => Failure::WebSocketClose(from.up_to(u16::MAX.into())? as u16),
        Failure::Os(_) => Failure::Os(from.up_to(u16::MAX.into())? as u16),
        plain => plain,
    };
    from.must(failure.index() == index)?;
    Ok(failure)
}
