//! Encoding of the failures of custom protocols: by their names.

use std::collections::BTreeMap;

use super::SnapshotError;
use super::number::{Reader, put, put_bytes};
use super::series::{Growing, number_of, series_of};
use crate::catalog::SeriesId;
use crate::outcome::{CUSTOM_FIRST, is_custom_name};
use crate::table::Table;
use crate::{FAILURE_COUNT, Failure};

/// Writes the name of a failure.
pub(super) fn put_name(out: &mut Vec<u8>, failure: Failure) {
    put_bytes(out, failure.name().as_bytes());
}

/// Reads the name of a failure. What cannot be a name is not repeated in an error.
pub(super) fn read_name(from: &mut Reader<'_>) -> Result<Failure, SnapshotError> {
    let name = from.text()?;
    from.must(is_custom_name(name))?;
    Failure::custom_named(name).ok_or_else(|| SnapshotError::Protocol { failure: name.to_owned() })
}

/// The failures of custom protocols that one of these counters has, in the order of their names.
fn counted<const N: usize>(counters: [&[u64]; N]) -> BTreeMap<&'static str, (Failure, [u64; N])> {
    let counts = |index: usize| counters.map(|counters| counters[index]);
    (CUSTOM_FIRST..FAILURE_COUNT)
        .filter(|index| counts(*index) != [0; N])
        .filter_map(|index| Failure::from_index(index).map(|failure| (failure.name(), (failure, counts(index)))))
        .collect()
}

/// The counts of one failure.
#[derive(Default)]
struct Occurrences {
    count: u64,
    by_series: Vec<(SeriesId, u64)>,
}

/// Writes each failure: its name, its count, and the number of series that have it; then each of those with its count.
pub(super) fn put_failures(out: &mut Vec<u8>, counters: &[u64], table: &Table) {
    let mut all: BTreeMap<&str, Occurrences> = BTreeMap::new();
    for (name, (_, [count])) in counted([counters]) {
        all.entry(name).or_default().count = count;
    }
    for (series, failure, count) in table.failures() {
        if let Failure::Custom(_) = failure {
            all.entry(failure.name()).or_default().by_series.push((series, count));
        }
    }
    for (name, occurrences) in all {
        put_bytes(out, name.as_bytes());
        put(out, occurrences.count);
        put(out, occurrences.by_series.len() as u64);
        let mut numbers = Growing::default();
        for (series, count) in occurrences.by_series {
            numbers.put(out, number_of(series));
            put(out, count);
        }
    }
}

/// Reads up to the end of the section.
pub(super) fn read_failures(
    from: &mut Reader<'_>,
    counters: &mut [u64],
    table: &mut Table,
) -> Result<(), SnapshotError> {
    let (mut names, mut all) = (FailureNames::default(), Vec::new());
    while !from.is_over() {
        let failure = names.read(from)?;
        let (count, series_count) = (from.amount()?, from.length(SeriesId::COUNT)?);
        from.must(count > 0 || series_count > 0)?;
        counters[failure.index()] = count;
        let mut numbers = Growing::default();
        for _ in 0..series_count {
            let series = series_of(numbers.read(from)?).ok_or_else(|| from.damaged())?;
            let count = from.amount()?;
            from.must(count > 0)?;
            all.push((series, failure, count));
        }
    }
    table.extend_failures(all);
    Ok(())
}

/// Writes each failure that one of two tables has: its name, and both counts.
pub(super) fn put_pairs(out: &mut Vec<u8>, one: &[u64], other: &[u64]) {
    for (failure, counts) in counted([one, other]).into_values() {
        put_name(out, failure);
        counts.into_iter().for_each(|count| put(out, count));
    }
}

/// Reads up to the end of the section.
pub(super) fn read_pairs(from: &mut Reader<'_>, one: &mut [u64], other: &mut [u64]) -> Result<(), SnapshotError> {
    let mut names = FailureNames::default();
    while !from.is_over() {
        let index = names.read(from)?.index();
        (one[index], other[index]) = (from.amount()?, from.amount()?);
        from.must(one[index] > 0 || other[index] > 0)?;
    }
    Ok(())
}

/// Names in alphabetical order, each of them once.
#[derive(Default)]
struct FailureNames {
    last: Option<&'static str>,
}

impl FailureNames {
    fn read(&mut self, from: &mut Reader<'_>) -> Result<Failure, SnapshotError> {
        let failure = read_name(from)?;
        from.must(self.last.is_none_or(|last| last < failure.name()))?;
        self.last = Some(failure.name());
        Ok(failure)
    }
}
