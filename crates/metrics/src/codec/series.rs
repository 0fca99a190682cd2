//! Encoding of the series of a snapshot.
//!
//! A series has a number of its own here, which stays the same if there is room for more series one day: its kind, then
//! its index.

use super::SnapshotError;
use super::number::{Reader, put};
use super::times;
use crate::catalog::{SERIES_MAX, SeriesId, SeriesKind};
use crate::outcome::CUSTOM_FIRST;
use crate::series_counts::SeriesCounts;
use crate::table::{CheckCounts, SeriesClass, Table};
use crate::{Class, Distribution, Failure, Measure, Timings};

/// The numbers reserved for the series of one kind.
const NUMBERS_OF_KIND: u64 = 1 << 16;
/// The numbers reserved for the classes of a series; the last is that of incomplete exchanges.
const NUMBERS_OF_ENDS: u64 = 16;
const NOT_ENDED: u64 = NUMBERS_OF_ENDS - 1;
/// The numbers reserved for failures.
const NUMBERS_OF_FAILURES: u64 = 1 << 16;

pub(super) fn number_of(series: SeriesId) -> u64 {
    series.kind() as u64 * NUMBERS_OF_KIND + u64::from(series.place())
}

pub(super) fn series_of(number: u64) -> Option<SeriesId> {
    let kind = *SeriesKind::ALL.get((number / NUMBERS_OF_KIND) as usize)?;
    let place = (number % NUMBERS_OF_KIND) as u32;
    (place < SERIES_MAX).then(|| SeriesId::new(kind, place))
}

fn ended_of(number: u64) -> Option<SeriesClass> {
    if number == NOT_ENDED {
        Some(SeriesClass::Not)
    } else {
        Class::ALL.get(number as usize).copied().map(SeriesClass::As)
    }
}

/// Increasing numbers, each written as its distance from the successor of the last.
#[derive(Default)]
pub(super) struct Growing(u64);

impl Growing {
    pub(super) fn put(&mut self, out: &mut Vec<u8>, number: u64) {
        put(out, number - self.0);
        self.0 = number + 1;
    }

    pub(super) fn read(&mut self, from: &mut Reader<'_>) -> Result<u64, SnapshotError> {
        let number = self.0.checked_add(from.number()?).filter(|number| *number < u64::MAX);
        let number = number.ok_or_else(|| from.damaged())?;
        self.0 = number + 1;
        Ok(number)
    }
}

/// Writes each non-empty part of a series: its number, its measures, and their times.
pub(super) fn put_timings(out: &mut Vec<u8>, table: &Table) {
    let mut numbers = Growing::default();
    for (series, ended, timings) in table.recorded() {
        let end = match ended {
            SeriesClass::As(class) => class as u64,
            SeriesClass::Not => NOT_ENDED,
        };
        numbers.put(out, number_of(series) * NUMBERS_OF_ENDS + end);
        let has_times = |measure: &Measure| timings.by_measure(*measure).count() > 0;
        let bit = |measure: Measure| 1u8 << measure as u8;
        out.push(Measure::ALL.into_iter().filter(has_times).map(bit).sum());
        let own = Measure::ALL.into_iter().filter(has_times);
        own.for_each(|measure| times::put_times(out, timings.by_measure(measure)));
    }
}

/// Reads up to the end of the section.
pub(super) fn read_timings(from: &mut Reader<'_>, table: &mut Table) -> Result<(), SnapshotError> {
    let mut numbers = Growing::default();
    while !from.is_over() {
        let number = numbers.read(from)?;
        let series = series_of(number / NUMBERS_OF_ENDS).ok_or_else(|| from.damaged())?;
        from.must(series.kind() != SeriesKind::Check)?;
        let ended = ended_of(number % NUMBERS_OF_ENDS).ok_or_else(|| from.damaged())?;
        let measures = from.byte()?;
        from.must(measures > 0 && measures >> Measure::ALL.len() == 0)?;
        let mut timings: [Distribution; Measure::ALL.len()] = Default::default();
        for measure in Measure::ALL.into_iter().filter(|measure| measures >> *measure as u8 & 1 == 1) {
            timings[measure as usize] = times::read_section(from)?;
        }
        *table.timings_mut(series, ended) = Timings::from(timings);
    }
    Ok(())
}

/// Writes each failure of a series with its count, but those of custom protocols.
pub(super) fn put_failures(out: &mut Vec<u8>, table: &Table) {
    let mut numbers = Growing::default();
    let is_custom = |failure: Failure| matches!(failure, Failure::Custom(_));
    for (series, failure, count) in table.failures().filter(|(_, failure, _)| !is_custom(*failure)) {
        numbers.put(out, number_of(series) * NUMBERS_OF_FAILURES + failure.index() as u64);
        put(out, count);
    }
}

/// Reads up to the end of the section.
pub(super) fn read_failures(from: &mut Reader<'_>, table: &mut Table) -> Result<(), SnapshotError> {
    let mut numbers = Growing::default();
    while !from.is_over() {
        let number = numbers.read(from)?;
        let series = series_of(number / NUMBERS_OF_FAILURES).ok_or_else(|| from.damaged())?;
        let index = (number % NUMBERS_OF_FAILURES) as usize;
        from.must(index < CUSTOM_FIRST)?;
        let failure = Failure::from_index(index).ok_or_else(|| from.damaged())?;
        let count = from.amount()?;
        from.must(count > 0)?;
        table.fail(series, failure, count);
    }
    Ok(())
}

/// Writes each check that was evaluated: its index, and both counts.
pub(super) fn put_checks(out: &mut Vec<u8>, table: &Table) {
    let mut numbers = Growing::default();
    for (series, counts) in table.evaluated() {
        numbers.put(out, u64::from(series.place()));
        put(out, counts.passed);
        put(out, counts.failed);
    }
}

/// Reads up to the end of the section.
pub(super) fn read_checks(from: &mut Reader<'_>, table: &mut Table) -> Result<(), SnapshotError> {
    let mut numbers = Growing::default();
    while !from.is_over() {
        let number = numbers.read(from)?;
        from.must(number < u64::from(SERIES_MAX))?;
        let counts = CheckCounts { passed: from.amount()?, failed: from.amount()? };
        from.must(counts != CheckCounts::default())?;
        table.count_check(SeriesId::check(number as u32), counts);
    }
    Ok(())
}

/// Writes each series with its count.
pub(super) fn put_counts(out: &mut Vec<u8>, counts: &SeriesCounts) {
    let mut numbers = Growing::default();
    for (series, count) in counts.all() {
        numbers.put(out, number_of(series));
        put(out, count);
    }
}

/// Reads up to the end of the section.
pub(super) fn read_counts(from: &mut Reader<'_>, counts: &mut SeriesCounts) -> Result<(), SnapshotError> {
    let mut numbers = Growing::default();
    while !from.is_over() {
        let series = series_of(numbers.read(from)?).ok_or_else(|| from.damaged())?;
        let count = from.amount()?;
        from.must(count > 0)?;
        counts.add(series, count);
    }
    Ok(())
}
