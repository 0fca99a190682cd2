//! The row of an iteration: computed from its number, the same on one shard and on seven.

use crate::{AtEnd, Pick, Share, Spec};

/// The turn to take a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowTurn {
    /// An iteration of an open load.
    Open {
        /// Its number in the scenario, from 0.
        iteration: u64,
        /// The number of the user that carries it, from 0.
        user: u64,
    },
    /// An iteration of a user of a closed load.
    Closed {
        /// The user's number in the scenario, from 0; below `users`.
        user: u64,
        /// The maximum number of users in the run.
        users: u64,
        /// Number of earlier iterations of this user.
        iteration: u64,
    },
}

impl RowTurn {
    /// Its number among the turns of all users.
    fn number(self) -> u64 {
        match self {
            Self::Open { iteration, .. } => iteration,
            Self::Closed { user, users, iteration } => user.saturating_add(iteration.saturating_mul(users)),
        }
    }
}

/// The row of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPosition {
    /// A row.
    Row {
        /// Its number in the file, from 0.
        number: u64,
        /// Number of times that all rows were used up before this one was taken again; always 0 where draws are from
        /// all rows.
        round: u64,
    },
    /// No row: all are used up.
    End,
}

impl RowPosition {
    /// The row of `turn` out of `rows` rows, of which there is at least one. `seed` is derived from the run, the
    /// scenario and the file.
    pub fn new(spec: &Spec, rows: u64, turn: RowTurn, seed: u64) -> Self {
        if !spec.has_end() {
            return Self::Row { number: drawn(mixed(seed ^ mixed(turn.number())), rows), round: 0 };
        }
        let (number, seed) = match (spec.share, turn) {
            (_, RowTurn::Closed { user, .. } | RowTurn::Open { user, .. }) if spec.pick == Pick::ByUser => (user, seed),
            (Share::Copy, RowTurn::Closed { user, iteration, .. }) => (iteration, seed ^ mixed(user)),
            _ => (turn.number(), seed),
        };
        let (round, number) = (number / rows, number % rows);
        match (spec.at_end, spec.pick) {
            (AtEnd::Stop, _) if round > 0 => Self::End,
            (_, Pick::Next | Pick::ByUser) => Self::Row { number, round },
            (_, Pick::Random) => Self::Row { number: shuffled(number, rows, mixed(seed).wrapping_add(round)), round },
        }
    }
}

/// A hash in which every bit depends on all 64 bits of the number (the finalizer of SplitMix64).
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A number below `end` from 64 random bits; biased by less than `end` in 2^64.
fn drawn(chance: u64, end: u64) -> u64 {
    ((u128::from(chance) * u128::from(end)) >> 64) as u64
}

/// Rounds of the shuffling cipher. Four make a permutation that is indistinguishable from a random one (Luby and
/// Rackoff); two more are for small files, whose halves have few bits.
const SHUFFLE_ROUNDS: u64 = 6;

/// The position of `number` after the numbers below `end` were shuffled: a cipher of as many bits as needed, applied
/// until its result is below `end`, which on average takes less than four rounds of it. So an order of any length needs
/// no memory.
fn shuffled(number: u64, end: u64, key: u64) -> u64 {
    let half_bits = (u64::BITS - (end - 1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1_u64 << half_bits) - 1;
    let mut at = number;
    loop {
        let (mut left, mut right) = (at >> half_bits, at & mask);
        for round in 0..SHUFFLE_ROUNDS {
            let turned = left ^ (mixed(mixed(key ^ (round << 56)) ^ right) >> 32 & mask);
            (left, right) = (right, turned);
        }
        at = left << half_bits | right;
        if at < end {
            return at;
        }
    }
}

#[cfg(test)]
mod tests;
