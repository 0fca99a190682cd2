//! Encoding of distributions: their buckets, and the exact values next to them.

use super::SnapshotError;
use super::number::{Reader, put, put_wide};
use crate::{Distribution, Gauges, InFlightAges};

/// Writes nothing for an empty distribution.
pub(super) fn put_section(out: &mut Vec<u8>, times: &Distribution) {
    if times.count() > 0 {
        put_times(out, times);
    }
}

/// Writes the number of buckets; each as its distance from the previous one, with its count; the minimum, the maximum
/// and the sum.
pub(super) fn put_times(out: &mut Vec<u8>, times: &Distribution) {
    put(out, times.counted().count() as u64);
    let mut next = 0;
    for (bucket, count) in times.counted() {
        put(out, (bucket - next) as u64);
        put(out, count);
        next = bucket + 1;
    }
    if let (Some(min), Some(max)) = (times.min(), times.max()) {
        put(out, min);
        put(out, max - min);
        put_wide(out, times.sum());
    }
}

/// A section that exists has times.
pub(super) fn read_section(from: &mut Reader<'_>) -> Result<Distribution, SnapshotError> {
    let times = read(from)?;
    from.must(times.count() > 0)?;
    Ok(times)
}

pub(super) fn read(from: &mut Reader<'_>) -> Result<Distribution, SnapshotError> {
    let mut times = Distribution::default();
    let (buckets, mut next) = (from.length(Distribution::BUCKETS)?, 0);
    let mut whole = 0u64;
    for _ in 0..buckets {
        next += from.index(Distribution::BUCKETS - next)?;
        let count = from.amount()?;
        whole = whole.saturating_add(count);
        from.must(count > 0 && whole <= AMOUNT_OF_ALL_MAX)?;
        times.add_bucket(next, count);
        next += 1;
    }
    if buckets > 0 {
        let min = from.number()?;
        let max = min.checked_add(from.number()?).ok_or_else(|| from.damaged())?;
        let sum = from.wide()?;
        from.must(times.set_exact(min, max, sum))?;
    }
    Ok(times)
}

/// The most times of one distribution, so that their number and their sum do not overflow, also after merging.
const AMOUNT_OF_ALL_MAX: u64 = 1 << 56;

/// Writes nothing where all gauges are zero.
pub(super) fn put_gauges(out: &mut Vec<u8>, gauges: &Gauges) {
    let Gauges { users, connections_open, in_flight: InFlightAges { response, service }, behind: _ } = gauges;
    if *users > 0 || *connections_open > 0 || response.count() > 0 || service.count() > 0 {
        put(out, *users);
        put(out, *connections_open);
        put_times(out, response);
        put_times(out, service);
    }
}

pub(super) fn put_ages(out: &mut Vec<u8>, InFlightAges { response, service }: &InFlightAges) {
    if response.count() > 0 || service.count() > 0 {
        put_times(out, response);
        put_times(out, service);
    }
}

pub(super) fn read_ages(from: &mut Reader<'_>) -> Result<InFlightAges, SnapshotError> {
    let ages = InFlightAges { response: read(from)?, service: read(from)? };
    from.must(ages != InFlightAges::default())?;
    Ok(ages)
}

pub(super) fn read_gauges(from: &mut Reader<'_>) -> Result<Gauges, SnapshotError> {
    let (users, connections_open) = (from.amount()?, from.amount()?);
    let gauges = Gauges {
        users,
        connections_open,
        in_flight: InFlightAges { response: read(from)?, service: read(from)? },
        behind: 0,
    };
    from.must(gauges != Gauges::default())?;
    Ok(gauges)
}
