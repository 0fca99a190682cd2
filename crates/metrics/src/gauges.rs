//! How things stand at one instant: merged over shards of that instant, and replaced by a later one.

use crate::{Distribution, Measure};

/// How things stand at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Users that are at work.
    pub users: u64,
    /// Connections that have carried an answer and are open.
    pub connections_open: u64,
    /// What is in flight.
    pub in_flight: InFlightAges,
}

impl Gauges {
    /// Adds how things stand elsewhere at the same instant.
    pub fn merge(&mut self, other: &Self) {
        self.users += other.users;
        self.connections_open += other.connections_open;
        self.in_flight.merge(&other.in_flight);
    }

    /// Those of a later instant take the place of these; the memory stays.
    pub fn replace(&mut self, later: &Self) {
        self.clear();
        self.merge(later);
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        (self.users, self.connections_open) = (0, 0);
        self.in_flight.clear();
    }
}

/// How long exchanges have waited that are in flight at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InFlightAges {
    /// Since they were intended.
    pub response: Distribution,
    /// Since they were sent; of those that were.
    pub service: Distribution,
}

impl InFlightAges {
    /// Those of a measure that grows with an exchange; `None` of another.
    pub fn of(&self, measure: Measure) -> Option<&Distribution> {
        match measure {
            Measure::Response => Some(&self.response),
            Measure::Service => Some(&self.service),
            Measure::Wait | Measure::Lateness | Measure::FirstByte => None,
        }
    }

    /// Adds what is in flight elsewhere at the same instant.
    pub fn merge(&mut self, other: &Self) {
        self.response.merge(&other.response);
        self.service.merge(&other.service);
    }

    /// Forgets everything and keeps the memory.
    pub fn clear(&mut self) {
        self.response.clear();
        self.service.clear();
    }
}
