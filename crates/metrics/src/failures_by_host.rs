//! Failures by host, where a load goes to more than one.

use std::sync::Arc;

use crate::Failure;

/// The most pairs of a failure and a host that are counted separately; later ones are not distinguished.
const PAIRS_MAX: usize = 64;

/// The count of each failure at each host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailuresByHost(Vec<(Failure, Arc<str>, u64)>);

impl FailuresByHost {
    /// Counts a failure at a place: a host and a port.
    pub fn add(&mut self, failure: Failure, place: &Arc<str>, count: u64) {
        match self.0.iter().position(|(known, at, _)| *known == failure && at == place) {
            Some(index) => self.0[index].2 += count,
            None if self.0.len() < PAIRS_MAX => self.0.push((failure, place.clone(), count)),
            None => {}
        }
    }

    /// Adds all of `other`.
    pub fn merge(&mut self, other: &Self) {
        for (failure, place, count) in &other.0 {
            self.add(*failure, place, *count);
        }
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// All counts, in the order of first occurrence.
    pub(crate) fn all(&self) -> &[(Failure, Arc<str>, u64)] {
        &self.0
    }

    /// The hosts of a failure with their counts: the most frequent first, then by name.
    pub fn places(&self, failure: Failure) -> Vec<(&str, u64)> {
        let mut places: Vec<(&str, u64)> = self
            .0
            .iter()
            .filter(|(known, _, _)| *known == failure)
            .map(|(_, place, count)| (&**place, *count))
            .collect();
        places.sort_unstable_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_apart_and_bounded() {
        let (mut one, mut other) = (FailuresByHost::default(), FailuresByHost::default());
        let place = |number: usize| Arc::<str>::from(format!("host-{number:03}:80"));
        one.add(Failure::ConnectRefused, &place(1), 2);
        other.add(Failure::ConnectRefused, &place(2), 3);
        other.add(Failure::ConnectRefused, &place(1), 4);
        other.add(Failure::Timeout, &place(1), 1);
        one.merge(&other);
        assert_eq!(one.places(Failure::ConnectRefused), [("host-001:80", 6), ("host-002:80", 3)]);
        assert_eq!(one.places(Failure::Timeout), [("host-001:80", 1)]);
        assert_eq!(one.places(Failure::Dns), []);
        (0..1_000).for_each(|number| one.add(Failure::Dns, &place(number), 1));
        assert_eq!(one.0.len(), PAIRS_MAX);
        one.clear();
        assert_eq!(one, FailuresByHost::default());
    }
}
