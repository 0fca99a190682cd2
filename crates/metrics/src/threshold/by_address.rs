//! Thresholds by address: of one, `p99(response_time, address=10.0.0.4:8080) < 300ms`, or of the one with the worst
//! value, `worst_address(failed / done) < 1%`.
//!
//! How long incomplete exchanges of an address waited is unknown: each may have ended at once, or never.

use std::net::SocketAddr;

use super::{Comparison, Counted, Figure, Judgement, Statistic, Subject, Threshold, Timed, ratio, sum};
use crate::by_address::{ADDRESS_RESPONSES_MIN, ADDRESSES_MAX, AddressTally};
use crate::{Censored, Distribution, Measure, Snapshot};

/// The word before an address.
pub(super) const ADDRESS: &str = "address";
/// The word before the figure of the worst address.
pub(super) const WORST: &str = "worst_address";

/// The exchanges that a threshold is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Those to all addresses.
    All,
    /// Those to this address.
    Address(SocketAddr),
    /// Those to the address with the worst value.
    WorstAddress,
}

/// What is missing to judge by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressLack {
    /// No name had a second address.
    #[error("there is one address, and nothing is counted by address")]
    OneAddress,
    /// No request went to the address.
    #[error("no request went to this address")]
    Unused,
    /// An address has too few responses to be compared.
    #[error(
        "{address} has {answered} responses, and the worst one is known from {ADDRESS_RESPONSES_MIN} of each address"
    )]
    FewResponses {
        /// The address with the fewest.
        address: SocketAddr,
        /// Its responses.
        answered: u64,
    },
    /// There are more addresses than have figures of their own.
    #[error("there are more than {ADDRESSES_MAX} addresses, and the others are counted together")]
    TooMany,
}

/// Whether this is an address within parentheses, not the name of a part.
pub(super) fn is_address(name: &str) -> bool {
    name.strip_prefix(ADDRESS).is_some_and(|rest| rest.trim_start().starts_with('='))
}

/// Whether the text is about the worst address.
pub(super) fn is_of_worst(text: &str) -> bool {
    text.trim_start().starts_with(WORST)
}

impl Threshold {
    pub(super) fn judge_address(&self, address: SocketAddr, seen: &Snapshot) -> Judgement {
        let all = seen.by_address.all();
        let own = all.iter().find(|(known, _)| *known == Some(address)).map(|(_, tally)| *tally);
        match own.filter(|tally| done(tally) + open(tally, seen) > 0) {
            Some(tally) => self.judge_figure(self.subject.of_tally(tally, seen), seen),
            None if all.is_empty() => self.undecided(AddressLack::OneAddress, seen),
            None if all.iter().any(|(known, _)| known.is_none()) => self.undecided(AddressLack::TooMany, seen),
            None => self.undecided(AddressLack::Unused, seen),
        }
    }

    pub(super) fn judge_worst_address(&self, seen: &Snapshot) -> Judgement {
        let all = seen.by_address.all();
        let mut each = Vec::with_capacity(all.len());
        for (address, tally) in all {
            match address {
                Some(address) => each.push((address, tally)),
                None => return self.undecided(AddressLack::TooMany, seen),
            }
        }
        match each.iter().min_by_key(|(_, tally)| tally.answered) {
            None => return self.undecided(AddressLack::OneAddress, seen),
            Some((address, tally)) if tally.answered < ADDRESS_RESPONSES_MIN => {
                let lack = AddressLack::FewResponses { address: *address, answered: tally.answered };
                return self.undecided(lack, seen);
            }
            Some(_) => {}
        }
        let figures = each.into_iter().map(|(address, tally)| (address, self.subject.of_tally(tally, seen)));
        let worst = figures.reduce(|one, other| self.worse(one, other));
        let figure = worst.map_or((None, 0.0, 0.0), |(_, figure)| figure);
        Judgement { address: worst.map(|(address, _)| address), ..self.judge_figure(figure, seen) }
    }

    /// The worse one of two figures, each with its address; the bounds are those of the worst that both can be.
    fn worse(&self, one: (SocketAddr, Figure), other: (SocketAddr, Figure)) -> (SocketAddr, Figure) {
        let is_upper = matches!(self.comparison, Comparison::Below | Comparison::AtMost);
        let worst = |one: f64, other: f64| if is_upper { one.max(other) } else { one.min(other) };
        let ((at, (value, least, most)), (other_at, (other_value, other_least, other_most))) = (one, other);
        let is_other = match (value, other_value) {
            (Some(value), Some(other)) => (is_upper && other > value) || (!is_upper && other < value),
            (value, other) => value.is_none() && other.is_some(),
        };
        let (address, value) = if is_other { (other_at, other_value) } else { (at, value) };
        (address, (value, worst(least, other_least), worst(most, other_most)))
    }

    fn undecided(&self, lack: AddressLack, seen: &Snapshot) -> Judgement {
        Judgement { lack: Some(lack), ..self.judge_figure((None, 0.0, 0.0), seen) }
    }
}

impl Subject {
    /// Whether it is known by address.
    pub(super) fn is_of_address(self) -> bool {
        match self {
            Self::Time(statistic, timed) => statistic != Statistic::Stdev && timed == Timed::Of(Measure::Response),
            Self::Count(counter) => counter.is_of_address(),
            Self::Ratio(part, whole) => part.is_of_address() && matches!(whole, Counted::Done | Counted::Responses),
            Self::Rate(_) | Self::Own(_) => false,
        }
    }

    fn of_tally(self, tally: &AddressTally, seen: &Snapshot) -> Figure {
        let open = open(tally, seen);
        match self {
            Self::Time(statistic, _) => {
                let mut incomplete = Distribution::default();
                incomplete.record_many(0, open);
                statistic.of(&tally.response, &Censored::from_times(&incomplete, &tally.response))
            }
            Self::Count(counter) => sum(counter.of_tally(tally, open)),
            Self::Ratio(part, whole) => ratio(part.of_tally(tally, open), whole.of_tally(tally, open)),
            Self::Rate(_) | Self::Own(_) => (None, 0.0, 0.0),
        }
    }
}

impl Counted {
    fn is_of_address(self) -> bool {
        matches!(self, Self::Done | Self::Succeeded | Self::Failed | Self::Responses)
    }

    /// The count of an address, and incomplete exchanges that may still be counted there.
    fn of_tally(self, tally: &AddressTally, open: u64) -> (u64, u64) {
        match self {
            Self::Done => (done(tally), open),
            Self::Succeeded => (succeeded(tally), open),
            Self::Failed => (tally.failed, open),
            Self::Responses => (tally.answered, 0),
            _ => (0, 0),
        }
    }
}

fn done(tally: &AddressTally) -> u64 {
    tally.response.count()
}

fn succeeded(tally: &AddressTally) -> u64 {
    done(tally).saturating_sub(tally.failed)
}

/// The most incomplete exchanges that may have been on connections to an address.
fn open(tally: &AddressTally, seen: &Snapshot) -> u64 {
    // Failures may have been sent, or not.
    let sent = tally.sent.saturating_sub(succeeded(tally));
    sent.min(seen.counts.unfinished()) + seen.counts.lost() + seen.gauges.in_flight.response.count()
}
