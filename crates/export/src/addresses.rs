//! The totals of each address, where a name has several.

use figures::{AddressFigures, AddressOf};
use metrics::ADDRESSES_MAX;

use crate::family::{Family, Kind, Value};

/// The label of all addresses without totals of their own.
const OTHERS: &str = "other";

/// The counts of one address since the start.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AddressTotals {
    /// The address and its port, or the word for all others.
    pub(crate) address: String,
    connections: u64,
    sent: u64,
    answered: u64,
    pub(crate) failed: u64,
    pub(crate) succeeded: u64,
}

/// A count of an address in other systems.
pub(crate) struct AddressCount {
    /// The name in Prometheus, without `_total`.
    pub(crate) name: &'static str,
    help: &'static str,
    unit: &'static str,
    pub(crate) of: fn(&AddressTotals) -> u64,
}

/// The counts that exports have by address.
pub(crate) const ADDRESS_COUNTS: [AddressCount; 4] = [
    AddressCount {
        name: "onrush_address_connections",
        help: "Connections that were established, by address.",
        unit: "{connection}",
        of: |totals| totals.connections,
    },
    AddressCount {
        name: "onrush_address_requests",
        help: "Requests that were sent, by address, repeated ones each time.",
        unit: "{request}",
        of: |totals| totals.sent,
    },
    AddressCount {
        name: "onrush_address_responses",
        help: "Complete responses, by address.",
        unit: "{response}",
        of: |totals| totals.answered,
    },
    AddressCount {
        name: "onrush_address_failures",
        help: "Requests that failed, answered or not, by address.",
        unit: "{request}",
        of: |totals| totals.failed,
    },
];

/// The families of counts by address.
pub(crate) fn address_families(all: &[AddressTotals]) -> impl Iterator<Item = Family<'_>> {
    ADDRESS_COUNTS.into_iter().map(move |AddressCount { name, help, unit, of }| {
        let series = all.iter().map(|totals| (vec![("address", &*totals.address)], Value::Count(of(totals))));
        Family { name, help, unit, kind: Kind::Counter, series: series.collect() }
    })
}

impl AddressTotals {
    /// Puts the counts since the start into the totals; a counter must not fall.
    pub(crate) fn update(all: &mut Vec<Self>, rows: &[AddressFigures]) {
        for row in rows {
            let address = match row.of {
                AddressOf::Address(address) => address.to_string(),
                AddressOf::Others => OTHERS.to_owned(),
                // A difference of counts, which may fall.
                AddressOf::Rest => continue,
            };
            let place = match all.iter().position(|known| known.address == address) {
                Some(place) => place,
                // Of too many addresses, others may have rows of their own at the end.
                None if all.len() > ADDRESSES_MAX => continue,
                None => {
                    all.push(Self { address, ..Self::default() });
                    all.len() - 1
                }
            };
            let known = &mut all[place];
            let done = row.response.as_ref().map_or(0, |times| times.count);
            known.connections = known.connections.max(row.established);
            known.sent = known.sent.max(row.sent);
            known.answered = known.answered.max(row.answered);
            known.failed = known.failed.max(row.failed);
            known.succeeded = known.succeeded.max(done.saturating_sub(row.failed));
        }
    }
}

#[cfg(test)]
mod tests;
