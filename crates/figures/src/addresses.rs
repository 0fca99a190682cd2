//! The results of each address, where a name has several.

use std::net::SocketAddr;

use metrics::{ADDRESS_RESPONSES_MIN, AddressTally, Class, Counter, Distribution, Snapshot};

use crate::Times;

/// Which requests a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressOf {
    /// Those to this address.
    Address(SocketAddr),
    /// Those to all addresses that have no row of their own.
    Others,
    /// Those that were not counted by address: to other names, or before this one had a second address.
    Rest,
}

/// The results of one address.
#[derive(Clone, Debug)]
pub struct AddressFigures {
    /// The address.
    pub of: AddressOf,
    /// Connections that were tried.
    pub tried: u64,
    /// Connections that were established.
    pub established: u64,
    /// Requests that were sent.
    pub sent: u64,
    /// Complete responses.
    pub answered: u64,
    /// Requests that failed, answered or not.
    pub failed: u64,
    /// Response times of everything that completed; `None` where they are not known by address.
    pub response: Option<Times>,
}

impl AddressFigures {
    /// The results of all addresses of a run; empty where there is one.
    pub(crate) fn all(total: &Snapshot) -> Vec<Self> {
        let mut rows: Vec<Self> = total
            .by_address
            .all()
            .into_iter()
            .map(|(address, tally)| Self {
                of: address.map_or(AddressOf::Others, AddressOf::Address),
                tried: tally.tried,
                established: tally.established,
                sent: tally.sent,
                answered: tally.answered,
                failed: tally.failed,
                response: Some(Times::known(&tally.response)),
            })
            .collect();
        if rows.is_empty() {
            return rows;
        }
        let rest = |all: u64, of: fn(&Self) -> u64| all.saturating_sub(rows.iter().map(of).sum());
        let counts = &total.counts;
        let answered = Class::ALL.into_iter().filter(|class| matches!(class, Class::Succeeded | Class::FailedAnswered));
        let answered = answered.map(|class| total.class(class).by_measure(metrics::Measure::Response).count()).sum();
        let unassigned = Self {
            of: AddressOf::Rest,
            tried: rest(counts.connections_tried(), |row| row.tried),
            established: rest(counts.connections_established(), |row| row.established),
            sent: rest(counts[Counter::Sent], |row| row.sent),
            answered: rest(answered, |row| row.answered),
            failed: 0,
            response: None,
        };
        if unassigned.sent > 0 {
            // Failures without a connection belong to no address.
            rows.push(unassigned);
        }
        rows
    }
}

/// An address is slow when its median is this many times that of all others.
const SLOW_TIMES: f64 = 3.0;
/// An address fails when this share of its requests does, and no other one.
const FAILING_SHARE: f64 = 0.01;

/// One address that is unlike all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AddressOutlier {
    /// Its responses take much longer.
    Slow {
        /// The address.
        address: SocketAddr,
        /// Its median.
        p50_ns: u64,
        /// The median of all others.
        others_p50_ns: u64,
    },
    /// It alone fails.
    Failing {
        /// The address.
        address: SocketAddr,
        /// Its failures.
        failed: u64,
        /// Its requests.
        of: u64,
    },
}

impl AddressOutlier {
    /// The address that fails alone, or the slow one with the highest ratio.
    pub(crate) fn of(total: &Snapshot) -> Option<Self> {
        let all = total.by_address.all();
        let others =
            |own: SocketAddr| all.iter().filter(move |(address, _)| *address != Some(own)).map(|(_, tally)| *tally);
        let each = || all.iter().filter_map(|(address, tally)| address.map(|address| (address, *tally)));
        let failing = each().find_map(|(address, tally)| failing(address, tally, others(address)));
        let slow = || {
            let slow = each().filter_map(|(address, tally)| slow(address, tally, others(address)));
            slow.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, slow)| slow)
        };
        failing.or_else(slow)
    }
}

fn failing<'a>(
    address: SocketAddr,
    tally: &AddressTally,
    others: impl Iterator<Item = &'a AddressTally>,
) -> Option<AddressOutlier> {
    let of = tally.response.count();
    let (failed_elsewhere, ended) =
        others.fold((0, 0), |(failed, ended), one| (failed + one.failed, ended + one.response.count()));
    let is_so = of >= ADDRESS_RESPONSES_MIN && ended >= ADDRESS_RESPONSES_MIN && failed_elsewhere == 0;
    let is_failing = is_so && tally.failed as f64 >= FAILING_SHARE * of as f64;
    is_failing.then_some(AddressOutlier::Failing { address, failed: tally.failed, of })
}

/// With the factor by which it is slower.
fn slow<'a>(
    address: SocketAddr,
    tally: &AddressTally,
    others: impl Iterator<Item = &'a AddressTally>,
) -> Option<(f64, AddressOutlier)> {
    let mut rest = Distribution::default();
    others.for_each(|one| rest.merge(&one.response));
    if tally.response.count() < ADDRESS_RESPONSES_MIN || rest.count() < ADDRESS_RESPONSES_MIN {
        return None;
    }
    let (p50_ns, others_p50_ns) = (tally.response.quantile(0.5)?, rest.quantile(0.5)?);
    let times = p50_ns as f64 / others_p50_ns.max(1) as f64;
    (times >= SLOW_TIMES).then_some((times, AddressOutlier::Slow { address, p50_ns, others_p50_ns }))
}

#[cfg(test)]
mod tests {
    use metrics::AddressSlots;

    use super::*;

    /// Addresses with their response time, requests, and failures.
    fn seen(all: &[(u64, u64, u64)]) -> Snapshot {
        let (mut total, mut slots) = (Snapshot::default(), AddressSlots::default());
        for (number, (ns, count, failed)) in (0..).zip(all) {
            let slot = slots.slot(at(number));
            let tally = total.by_address.at(slot, &slots);
            (tally.tried, tally.sent, tally.failed) = (1, *count, *failed);
            tally.response.record_many(*ns, *count);
        }
        total
    }

    fn at(number: u8) -> SocketAddr {
        ([10, 0, 0, number], 80).into()
    }

    #[test]
    fn an_address_unlike_the_others_is_named() {
        let slow = |number| matches!(number, Some(AddressOutlier::Slow { address, .. }) if address == at(1));
        let of = |all: &[(u64, u64, u64)]| AddressOutlier::of(&seen(all));
        assert!(slow(of(&[(1_000, 100, 0), (3_100, 100, 0)])));
        assert!(slow(of(&[(1_000, 500, 0), (9_000, 100, 0), (4_000, 100, 0)])), "the slowest one");
        assert_eq!(of(&[(1_000, 100, 0), (2_900, 100, 0)]), None);
        assert_eq!(of(&[(1_000, 99, 0), (9_000, 100, 0)]), None);
        assert_eq!(of(&[(1_000, 100, 0), (9_000, 99, 0)]), None);
        assert_eq!(of(&[(1_000, 1_000, 0)]), None);
        let failing = Some(AddressOutlier::Failing { address: at(1), failed: 2, of: 200 });
        assert_eq!(of(&[(1_000, 100, 0), (1_000, 200, 2)]), failing);
        assert_eq!(of(&[(1_000, 100, 0), (9_000, 200, 2)]), failing, "failures come first");
        assert_eq!(of(&[(1_000, 100, 1), (1_000, 200, 2)]), None, "it does not fail alone");
        assert_eq!(of(&[(1_000, 100, 0), (1_000, 201, 2)]), None);
    }

    #[test]
    fn what_is_not_counted_by_address_has_a_row() {
        let mut total = seen(&[(1_000, 60, 0), (1_000, 40, 0)]);
        total.counts[Counter::Sent] = 150;
        let rows = AddressFigures::all(&total);
        let sums: Vec<_> = rows.iter().map(|row| (row.of, row.sent)).collect();
        let expected = [(AddressOf::Address(at(0)), 60), (AddressOf::Address(at(1)), 40), (AddressOf::Rest, 50)];
        assert_eq!(sums, expected);
        assert!(AddressFigures::all(&Snapshot::default()).is_empty());
    }
}
