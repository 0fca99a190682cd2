//! The results of each address, where a name has several.

use std::net::SocketAddr;

use metrics::{Class, Counter, Snapshot};

use crate::Times;

/// Which requests a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressOf {
    /// Those to this address.
    Address(SocketAddr),
    /// Those to all addresses that have no row of their own.
    Others,
    /// Those before the name had a second address.
    Earlier,
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
        let answered = answered.map(|class| total.class(class).of(metrics::Measure::Response).count()).sum();
        let earlier = Self {
            of: AddressOf::Earlier,
            tried: rest(counts.connections_tried(), |row| row.tried),
            established: rest(counts.connections_established(), |row| row.established),
            sent: rest(counts[Counter::Sent], |row| row.sent),
            answered: rest(answered, |row| row.answered),
            failed: 0,
            response: None,
        };
        if earlier.sent > 0 {
            // Failures without a connection belong to no address.
            rows.insert(0, earlier);
        }
        rows
    }
}
