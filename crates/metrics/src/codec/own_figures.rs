//! Encoding of figures of the user's own: the number of each, its kind, and what was recorded.

use super::SnapshotError;
use super::number::{Reader, put, put_wide};
use super::series::Growing;
use super::times;
use crate::own_figures::{FarExact, OwnTotals};
use crate::{OWN_FIGURES_MAX, OwnGauge, OwnKind, OwnTotal, Trend};

/// Writes each figure of which something was recorded.
pub(super) fn put_all(out: &mut Vec<u8>, own: &OwnTotals) {
    let mut numbers = Growing::default();
    for (number, total) in own.recorded() {
        numbers.put(out, number as u64);
        out.push(total.kind() as u8);
        match total {
            OwnTotal::Counter { count, sum } => {
                put(out, *count);
                put_wide(out, *sum);
            }
            OwnTotal::Trend(trend) => put_trend(out, trend),
            OwnTotal::Share { passed, failed } => {
                put(out, *passed);
                put(out, *failed);
            }
            OwnTotal::Gauge(OwnGauge { count, least, greatest, last, last_at_ns }) => {
                put(out, *count);
                [least, greatest, last].into_iter().for_each(|value| out.extend_from_slice(&value.to_le_bytes()));
                put(out, *last_at_ns);
            }
        }
    }
}

/// Reads up to the end of the section.
pub(super) fn read_all(from: &mut Reader<'_>, own: &mut OwnTotals) -> Result<(), SnapshotError> {
    let mut numbers = Growing::default();
    while !from.is_over() {
        let number = numbers.read(from)?;
        from.must(number < OWN_FIGURES_MAX as u64)?;
        let kind = OwnKind::ALL[from.index(OwnKind::ALL.len())?];
        let total = match kind {
            OwnKind::Counter => OwnTotal::Counter { count: from.amount()?, sum: from.wide()? },
            OwnKind::Trend => OwnTotal::Trend(Box::new(read_trend(from)?)),
            OwnKind::Share => OwnTotal::Share { passed: from.amount()?, failed: from.amount()? },
            OwnKind::Gauge => OwnTotal::Gauge(read_gauge(from)?),
        };
        from.must(total.count() > 0)?;
        own.set(number as usize, total);
    }
    Ok(())
}

fn put_trend(out: &mut Vec<u8>, trend: &Trend) {
    let (near, far, exact) = trend.parts();
    times::put_times(out, near);
    times::put_times(out, far);
    if far.count() > 0 {
        put(out, exact.min);
        put(out, exact.max);
        put_wide(out, exact.sum);
    }
}

fn read_trend(from: &mut Reader<'_>) -> Result<Trend, SnapshotError> {
    let (near, far) = (times::read(from)?, times::read(from)?);
    let exact = match far.count() {
        0 => FarExact::default(),
        _ => FarExact { min: from.number()?, max: from.number()?, sum: from.wide()? },
    };
    Trend::from_parts(near, far, exact).ok_or_else(|| from.damaged())
}

fn read_gauge(from: &mut Reader<'_>) -> Result<OwnGauge, SnapshotError> {
    let count = from.amount()?;
    let (least, greatest, last) = (read_value(from)?, read_value(from)?, read_value(from)?);
    let gauge = OwnGauge { count, least, greatest, last, last_at_ns: from.number()? };
    from.must(least <= last && last <= greatest)?;
    Ok(gauge)
}

/// A finite number; a negative zero is never written.
fn read_value(from: &mut Reader<'_>) -> Result<f64, SnapshotError> {
    const BYTES: usize = size_of::<f64>();
    let bytes = from.take(BYTES)?.first_chunk::<BYTES>().copied().unwrap_or_default();
    let value = f64::from_le_bytes(bytes);
    from.must(value.is_finite() && (value != 0.0 || value.is_sign_positive()))?;
    Ok(value)
}
