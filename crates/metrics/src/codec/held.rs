//! The encoding of a hold's snapshot as bytes.

use super::number::Reader;
use super::{SnapshotError, counts, custom, read_sections, times, write_sections};
use crate::outcome::CUSTOM_FIRST;
use crate::{Distribution, Held, HeldNow};

/// The magic number at its start.
const MARK: &[u8; 8] = b"onrush/h";
/// Sections, by their numbers from 1: counters, failed attempts, lost connections, gauges, times, and both kinds of
/// failures of custom protocols.
const COUNTERS: u8 = 1;
const FAILED: u8 = 2;
const LOST: u8 = 3;
const NOW: u8 = 4;
const FIRST_TIMES: u8 = 5;
const LAST_TIMES: u8 = 10;
const CUSTOM: u8 = 11;

impl Held {
    fn times(&self) -> [&Distribution; 6] {
        [&self.connect, &self.response, &self.service, &self.incomplete, &self.gap, &self.lag]
    }

    fn times_mut(&mut self) -> [&mut Distribution; 6] {
        [&mut self.connect, &mut self.response, &mut self.service, &mut self.incomplete, &mut self.gap, &mut self.lag]
    }

    /// Appends it to `out`. Equal snapshots give equal bytes.
    pub fn encode(&self, out: &mut Vec<u8>) {
        write_sections(MARK, 1..=CUSTOM, out, |number, out| match number {
            COUNTERS => counts::put_sparse(out, self.counts.counters.values()),
            FAILED => counts::put_sparse(out, &self.counts.failed[..CUSTOM_FIRST]),
            LOST => counts::put_sparse(out, &self.counts.lost[..CUSTOM_FIRST]),
            NOW => {
                let HeldNow { connecting, open, waiting, owed } = self.now;
                counts::put_sparse(out, &[connecting, open, waiting, owed]);
            }
            CUSTOM => custom::put_pairs(out, &self.counts.failed, &self.counts.lost),
            number => times::put_section(out, self.times()[usize::from(number - FIRST_TIMES)]),
        });
    }

    /// Decodes what [`Held::encode`] wrote, all of `bytes`.
    ///
    /// # Errors
    /// The bytes are no snapshot of a hold, or one of a later version.
    pub fn decode(bytes: &[u8]) -> Result<Self, SnapshotError> {
        let mut seen = Self::default();
        read_sections(MARK, bytes, |number, from| seen.read_section(number, from))?;
        Ok(seen)
    }

    fn read_section(&mut self, number: u8, from: &mut Reader<'_>) -> Result<(), SnapshotError> {
        match number {
            COUNTERS => counts::read_sparse(from, self.counts.counters.values_mut()),
            FAILED => read_failures(from, &mut self.counts.failed[..CUSTOM_FIRST]),
            LOST => read_failures(from, &mut self.counts.lost[..CUSTOM_FIRST]),
            NOW => {
                let mut values = [0; 4];
                counts::read_sparse(from, &mut values)?;
                let [connecting, open, waiting, owed] = values;
                self.now = HeldNow { connecting, open, waiting, owed };
                Ok(())
            }
            CUSTOM => custom::read_pairs(from, &mut self.counts.failed, &mut self.counts.lost),
            FIRST_TIMES..=LAST_TIMES => {
                *self.times_mut()[usize::from(number - FIRST_TIMES)] = times::read_section(from)?;
                Ok(())
            }
            _ => Err(from.damaged()),
        }
    }
}

fn read_failures(from: &mut Reader<'_>, counters: &mut [u64]) -> Result<(), SnapshotError> {
    counts::read_sparse(from, counters)?;
    from.must(counts::are_failures(counters))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::custom_failures;
    use crate::{Failure, HeldCounter};

    fn some() -> Held {
        let mut held = Held::default();
        (held.counts[HeldCounter::Tried], held.counts[HeldCounter::CpuNs]) = (3, 1 << 40);
        let [reply, login, _] = custom_failures();
        (held.counts.failed[reply.index()], held.counts.failed[login.index()]) = (4, 5);
        held.counts.lost[login.index()] = 6;
        (held.counts.failed[Failure::ConnectRefused.index()], held.counts.lost[Failure::Reset.index()]) = (1, 2);
        held.now = HeldNow { connecting: 1, open: 250_000, waiting: 0, owed: 7 };
        (1..900).for_each(|value| held.connect.record(value * value));
        held.lag.record(0);
        held.gap.record(60_000_000_000);
        held
    }

    fn bytes_of(held: &Held) -> Vec<u8> {
        let mut out = Vec::new();
        held.encode(&mut out);
        out
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        for held in [Held::default(), some()] {
            let bytes = bytes_of(&held);
            let again = Held::decode(&bytes).expect("what was written is read");
            assert_eq!((&again.counts, again.now), (&held.counts, held.now));
            assert_eq!(again.times().map(Distribution::count), held.times().map(Distribution::count));
            assert_eq!(bytes_of(&again), bytes);
            for cut in 0..bytes.len() {
                assert!(Held::decode(&bytes[..cut]).is_err(), "cut at {cut}");
                let mut other = bytes.clone();
                other[cut] ^= 0x41;
                // What decodes is encoded to the same bytes.
                if let Ok(held) = Held::decode(&other) {
                    assert_eq!(bytes_of(&held)[9..], other[9..], "{cut}");
                }
            }
            assert_eq!(Held::decode(&[&bytes[..], &[0]].concat()).map(|_| ()), Err(SnapshotError::Damaged { left: 1 }));
        }
        assert!(matches!(Held::decode(&[b"onrush/s", &[1, 0][..]].concat()), Err(SnapshotError::Mark)));
    }
}
