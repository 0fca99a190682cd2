//! Gauges of one instant: merged over the shards, and replaced by those of a later instant.

use crate::{Distribution, Measure};

/// Gauges of one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gauges {
    /// Active users.
    pub users: u64,
    /// Connections that have carried a response and are open.
    pub connections_open: u64,
    /// The ages of exchanges in flight.
    pub in_flight: InFlightAges,
    /// Starts that were due by the end of the interval, and are in no count yet. It is in no encoded snapshot: what
    /// reports a part of a load has it beside them.
    pub behind: u64,
}

impl Gauges {
    /// Adds the gauges of another shard at the same instant.
    pub fn merge(&mut self, other: &Self) {
        self.users += other.users;
        self.connections_open += other.connections_open;
        self.in_flight.merge(&other.in_flight);
        self.behind += other.behind;
    }

    /// Replaces the gauges by those of a later instant; the memory stays.
    pub fn replace(&mut self, later: &Self) {
        self.clear();
        self.merge(later);
    }

    /// Resets everything and keeps the memory.
    pub fn clear(&mut self) {
        (self.users, self.connections_open, self.behind) = (0, 0, 0);
        self.in_flight.clear();
    }
}

/// The ages of the exchanges in flight at one instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InFlightAges {
    /// Ages since the intended instant.
    pub response: Distribution,
    /// Ages of sent exchanges, since the sending.
    pub service: Distribution,
}

impl InFlightAges {
    /// The ages that belong to a measure; `None` for a measure that does not grow with an exchange.
    pub fn by_measure(&self, measure: Measure) -> Option<&Distribution> {
        match measure {
            Measure::Response => Some(&self.response),
            Measure::Service => Some(&self.service),
            Measure::Wait | Measure::Lateness | Measure::FirstByte => None,
        }
    }

    /// Adds the exchanges in flight of another shard at the same instant.
    pub fn merge(&mut self, other: &Self) {
        self.response.merge(&other.response);
        self.service.merge(&other.service);
    }

    /// Removes everything and keeps the memory.
    pub fn clear(&mut self) {
        self.response.clear();
        self.service.clear();
    }
}
