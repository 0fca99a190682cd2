//! Which row an iteration takes: arithmetic of its number, the same on one shard and on seven.

use crate::{AtEnd, Pick, Share, Spec};

/// Whose turn it is to take a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowTurn {
    /// An iteration of an open load.
    Open {
        /// Its number in the scenario, from 0.
        iteration: u64,
    },
    /// An iteration of a user of a closed load.
    Closed {
        /// Its number in the scenario, from 0; below `users`.
        user: u64,
        /// The most users that there will be.
        users: u64,
        /// How many iterations this user began before.
        iteration: u64,
    },
}

impl RowTurn {
    /// Its place among the turns of all users.
    fn number(self) -> u64 {
        match self {
            Self::Open { iteration } => iteration,
            Self::Closed { user, users, iteration } => user.saturating_add(iteration.saturating_mul(users)),
        }
    }
}

/// What a turn takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowPosition {
    /// A row.
    Row {
        /// Its number in the file, from 0.
        number: u64,
        /// How often all rows were used up before this one was taken again; always 0 where draws are from all rows.
        round: u64,
    },
    /// Nothing: all rows are used up.
    End,
}

impl RowPosition {
    /// What `turn` takes of `rows` rows, of which there is at least one. `seed` is that of the run, the scenario and the file.
    pub fn of(spec: &Spec, rows: u64, turn: RowTurn, seed: u64) -> Self {
        if !spec.has_end() {
            return Self::Row { number: drawn(mixed(seed ^ mixed(turn.number())), rows), round: 0 };
        }
        let (number, seed) = match (spec.share, turn) {
            (Share::Copy, RowTurn::Closed { user, iteration, .. }) => (iteration, seed ^ mixed(user)),
            _ => (turn.number(), seed),
        };
        let (round, number) = (number / rows, number % rows);
        match (spec.at_end, spec.pick) {
            (AtEnd::Stop, _) if round > 0 => Self::End,
            (_, Pick::Next) => Self::Row { number, round },
            (_, Pick::Random) => Self::Row { number: shuffled(number, rows, mixed(seed).wrapping_add(round)), round },
        }
    }
}

/// All 64 bits of a number in each bit of another (the finalizer of SplitMix64).
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// A number below `end` from 64 bits by chance; uneven by less than `end` in 2^64.
fn drawn(chance: u64, end: u64) -> u64 {
    ((u128::from(chance) * u128::from(end)) >> 64) as u64
}

/// Rounds of the cipher that shuffles. Four make a permutation that cannot be told from chance (Luby and Rackoff); two more are
/// for small files, whose halves have few bits.
const SHUFFLE_ROUNDS: u64 = 6;

/// Where `number` is after the numbers below `end` were shuffled: a cipher of as many bits as needed, applied until its result is
/// below `end`, which on average takes less than four times. So an order of any length needs no memory.
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
