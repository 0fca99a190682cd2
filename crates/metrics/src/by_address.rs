//! Measurements by address, where a name has several.

use std::net::SocketAddr;

use crate::Distribution;

/// The most addresses that are counted separately; the others count together.
pub const ADDRESSES_MAX: usize = 64;
/// The fewest responses of an address that is compared with others.
pub const ADDRESS_RESPONSES_MIN: u64 = 100;

/// The measurements of one address.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddressTally {
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
    /// Response times of everything that completed.
    pub response: Distribution,
}

impl AddressTally {
    fn merge(&mut self, other: &Self) {
        self.tried += other.tried;
        self.established += other.established;
        self.sent += other.sent;
        self.answered += other.answered;
        self.failed += other.failed;
        self.response.merge(&other.response);
    }

    fn clear(&mut self) {
        (self.tried, self.established, self.sent, self.answered, self.failed) = (0, 0, 0, 0, 0);
        self.response.clear();
    }

    /// Nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.counts() == [0; 5]
    }

    pub(crate) fn counts(&self) -> [u64; 5] {
        [self.tried, self.established, self.sent, self.answered, self.failed]
    }
}

/// The addresses of a shard in the order in which they were first used, each with its slot.
#[derive(Clone, Debug, Default)]
pub struct AddressSlots(Vec<SocketAddr>);

impl AddressSlots {
    /// The slot of an address; that of all others when there are too many.
    pub fn slot(&mut self, address: SocketAddr) -> u8 {
        let known = self.0.iter().position(|known| *known == address);
        let slot = known.unwrap_or_else(|| {
            if self.0.len() < ADDRESSES_MAX {
                self.0.push(address);
                self.0.len() - 1
            } else {
                ADDRESSES_MAX
            }
        });
        slot as u8
    }
}

/// The tallies of addresses; `None`: that of all others.
#[derive(Clone, Debug, Default)]
pub struct ByAddress(Vec<(Option<SocketAddr>, AddressTally)>);

impl ByAddress {
    /// The tally of a slot.
    #[inline]
    pub fn at(&mut self, slot: u8, slots: &AddressSlots) -> &mut AddressTally {
        if usize::from(slot) >= self.0.len() {
            self.fill(slot, slots);
        }
        &mut self.0[usize::from(slot)].1
    }

    #[cold]
    fn fill(&mut self, slot: u8, slots: &AddressSlots) {
        for place in self.0.len()..=usize::from(slot) {
            self.0.push((slots.0.get(place).copied(), AddressTally::default()));
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (address, tally) in other.0.iter().filter(|(_, tally)| !tally.is_empty()) {
            match self.0.iter().position(|(known, _)| known == address) {
                Some(place) => self.0[place].1.merge(tally),
                None if address.is_some() && self.0.len() >= ADDRESSES_MAX => self.others().merge(tally),
                None => self.0.push((*address, tally.clone())),
            }
        }
    }

    fn others(&mut self) -> &mut AddressTally {
        let place = self.0.iter().position(|(address, _)| address.is_none()).unwrap_or_else(|| {
            self.0.push((None, AddressTally::default()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }

    /// Resets all tallies and keeps the memory, and the slots of a shard.
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(|(_, tally)| tally.clear());
    }

    /// The same slots with the connections alone.
    #[must_use]
    pub fn connections(&self) -> Self {
        let alone = |tally: &AddressTally| AddressTally {
            tried: tally.tried,
            established: tally.established,
            ..AddressTally::default()
        };
        Self(self.0.iter().map(|(address, tally)| (*address, alone(tally))).collect())
    }

    /// The tallies that are not empty: by address, those of all others last.
    pub fn all(&self) -> Vec<(Option<SocketAddr>, &AddressTally)> {
        let used = self.0.iter().filter(|(_, tally)| !tally.is_empty());
        let mut all: Vec<_> = used.map(|(address, tally)| (*address, tally)).collect();
        all.sort_by_key(|(address, _)| (address.is_none(), *address));
        all
    }

    pub(crate) fn push(&mut self, address: Option<SocketAddr>, tally: AddressTally) {
        self.0.push((address, tally));
    }
}

impl PartialEq for ByAddress {
    /// In any order, and whatever slots are empty.
    fn eq(&self, other: &Self) -> bool {
        self.all() == other.all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u16) -> SocketAddr {
        ([10, 0, (number >> 8) as u8, number as u8], 80).into()
    }

    /// Shards that meet the addresses in different orders.
    #[test]
    fn tallies_add_by_address() {
        let mut shards = Vec::new();
        for order in [[1, 2, 3], [3, 1, 2]] {
            let (mut slots, mut seen) = (AddressSlots::default(), ByAddress::default());
            for number in order {
                let slot = slots.slot(address(number));
                let tally = seen.at(slot, &slots);
                (tally.sent, tally.failed) = (number.into(), 1);
                tally.response.record(1_000);
            }
            shards.push(seen);
        }
        let [mut one, other] = <[ByAddress; 2]>::try_from(shards).expect("two");
        assert_eq!(one, other);
        one.merge(&other);
        let sums: Vec<_> = one.all().iter().map(|(at, tally)| (*at, tally.sent, tally.response.count())).collect();
        assert_eq!(sums, [(Some(address(1)), 2, 2), (Some(address(2)), 4, 2), (Some(address(3)), 6, 2)]);
        one.clear();
        assert_eq!((one.all().len(), one), (0, ByAddress::default()));
    }

    #[test]
    fn more_addresses_than_have_a_tally_count_together() {
        let mut sum = ByAddress::default();
        for shard in 0..2u16 {
            let (mut slots, mut seen) = (AddressSlots::default(), ByAddress::default());
            for number in 0..200 {
                let slot = slots.slot(address(number + 40 * shard));
                seen.at(slot, &slots).sent += 1;
            }
            assert_eq!(seen.all().len(), ADDRESSES_MAX + 1);
            sum.merge(&seen);
        }
        let all = sum.all();
        assert_eq!(all.iter().map(|(_, tally)| tally.sent).sum::<u64>(), 400, "nothing is lost");
        assert_eq!((all.len(), all[all.len() - 1].0), (ADDRESSES_MAX + 1, None));
    }
}
